//! What every first fit of one problem needs, worked out once.
//!
//! Lives as runs of points, and what in-place pairs need: a def that lies in its use's bytes takes
//! them everywhere except at the pair's own instruction, where they are the use's. So for each
//! pair the def's life *without* that instruction is kept, and the timeline is built from these
//! shortened lives too, which makes them as exact as whole ones. // L8

use std::borrow::Cow;

use super::timeline::{Run, Timeline};
use super::unit::unit;
use super::{InPlacePair, Problem};
use crate::control::Stop;
use crate::ir::{Lives, Usage, row};
use crate::pace::{Pace, SOME};
use crate::sorting::CompactSort as _;
use dramalloc_engine::Request;

/// Compressed rows of runs.
#[derive(Debug)]
struct Rows<'p> {
    /// One entry more than rows; none if each has one run.
    starts: Cow<'p, [u32]>,
    runs: Vec<Run>,
}

impl<'p> Rows<'p> {
    fn none() -> Rows<'p> {
        Rows {
            starts: Cow::Owned(vec![0]),
            runs: Vec::new(),
        }
    }

    #[inline]
    fn row(&self, i: usize) -> &[Run] {
        row(&self.starts, &self.runs, i)
    }

    fn of(lives: &'p Lives, pace: &mut Pace<'_, '_>) -> Result<Rows<'p>, Stop> {
        let mut runs = Vec::with_capacity(lives.all().len());
        for some in lives.all().chunks(SOME) {
            pace.work(some.len())?;
            runs.extend(some.iter().map(|&segment| Run::from(segment)));
        }
        Ok(Rows {
            starts: Cow::Borrowed(lives.starts()),
            runs,
        })
    }

    fn push(&mut self, row: impl IntoIterator<Item = Run>) {
        self.runs.extend(row);
        self.starts.to_mut().push(self.runs.len() as u32);
    }
}

/// Which items may straddle a page of the runtime, of those that fit in one. // P7
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Straddling {
    /// Any, as if the runtime had no pages.
    Free,
    /// None.
    Refused,
    /// Those that find no room otherwise.
    LastResort,
    /// Those that are marked, by item.
    Marked(Vec<bool>),
}

/// A problem with its lives in points.
#[derive(Debug)]
pub(crate) struct Prepared<'p> {
    /// The problem itself.
    pub problem: &'p Problem,
    /// What a search does about the runtime's pages; `Free` until it says so.
    pub straddling: Straddling,
    points: u32,
    unit: u32,
    items: Rows<'p>,
    pins: Rows<'p>,
    /// By pair: the def's life without the instructions at which it may share the use's bytes.
    shortened: Rows<'p>,
    /// By pair: the claims that it makes, which no other def may have made.
    claims: Vec<u32>,
    claim_ends: Vec<u32>,
    claim_count: u32,
}

/// A pair with what placing its def in its use's bytes takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace<'a> {
    /// The item whose bytes are shared.
    pub used: u32,
    /// Where else the def lives.
    pub shortened: &'a [Run],
    /// One number per use and instruction; whoever takes one has those bytes then.
    pub claims: &'a [u32],
}

/// How many points runs cover, each by itself.
#[inline]
fn covered(runs: &[Run]) -> u64 {
    let points = runs.iter().map(|run| u64::from(run.last - run.first) + 1);
    points.sum()
}

impl<'p> Prepared<'p> {
    /// Works everything out.
    #[cfg(test)]
    pub fn new(problem: &'p Problem) -> Prepared<'p> {
        Prepared::unless(problem, &mut Pace::free()).expect("nothing stops it")
    }

    /// Works everything out, unless the host stops it.
    pub fn unless(problem: &'p Problem, pace: &mut Pace<'_, '_>) -> Result<Prepared<'p>, Stop> {
        let mut prepared = Prepared {
            problem,
            straddling: Straddling::Free,
            points: 0,
            unit: unit(problem),
            items: Rows::of(&problem.lives, pace)?,
            pins: Rows::of(&problem.pin_lives, pace)?,
            shortened: Rows::none(),
            claims: Vec::new(),
            claim_ends: Vec::new(),
            claim_count: 0,
        };
        prepared.add_pairs(pace)?;
        let Prepared {
            items,
            pins,
            shortened,
            ..
        } = &mut prepared;
        let segments = items.runs.iter().chain(&pins.runs).chain(&shortened.runs);
        let timeline = Timeline::unless(segments.copied(), pace)?;
        for rows in [items, pins, shortened] {
            for runs in rows.runs.chunks_mut(SOME) {
                pace.work(runs.len())?;
                for run in runs {
                    *run = timeline.run(*run);
                }
            }
        }
        prepared.points = timeline.points();
        Ok(prepared)
    }

    /// The bytes of the items that are live at each point, wrapped to 64 bits.
    ///
    /// Every load of the problem but that beside a pair is one of a point, or less: a point stands
    /// for the largest set of lives that meet around there.
    pub fn loads(&self, pace: &mut Pace<'_, '_>) -> Result<Vec<u64>, Stop> {
        self.loads_of(0..self.problem.items.len() as u32, pace)
    }

    /// The bytes of some items that are live at each point.
    pub fn loads_of(
        &self,
        items: impl Iterator<Item = u32>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Vec<u64>, Stop> {
        let mut loads = vec![0_u64; self.points as usize + 1];
        for item in items {
            pace.work(1)?;
            let size = self.problem.items[item as usize].size;
            for run in self.life(item) {
                let (first, past) = (run.first as usize, run.last as usize + 1);
                // Differences wrap below zero; their sums do not.
                loads[first] = loads[first].wrapping_add(size);
                loads[past] = loads[past].wrapping_sub(size);
            }
        }
        loads.pop();
        let mut sum = 0_u64;
        for load in &mut loads {
            sum = sum.wrapping_add(*load);
            *load = sum;
        }
        Ok(loads)
    }

    /// How many points the items cover, all in all.
    pub fn covered(&self) -> u64 {
        covered(&self.items.runs)
    }

    fn add_pairs(&mut self, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        let pairs = &self.problem.pairs;
        let mut places: Vec<(u32, u32)> = pairs.iter().map(|p| (p.used, p.index.0)).collect();
        places.sort_compact();
        places.dedup();
        self.claim_count = places.len() as u32;
        for pair in pairs {
            pace.work(1)?;
            // Two items may be a pair at several instructions.
            let same = |p: &&InPlacePair| p.used == pair.used;
            let mut shared: Vec<u32> = self
                .pairs_of_def(pair.def)
                .iter()
                .filter(same)
                .map(|p| p.index.0)
                .collect();
            shared.sort_unstable();
            shared.dedup();
            for &index in &shared {
                let claim = places.partition_point(|&place| place < (pair.used, index));
                self.claims.push(claim as u32);
            }
            self.claim_ends.push(self.claims.len() as u32);
            let life = self.items.row(pair.def as usize);
            self.shortened.push(without(life, &shared));
        }
        Ok(())
    }

    fn pairs_of_def(&self, def: u32) -> &'p [InPlacePair] {
        let pairs = &self.problem.pairs;
        let start = pairs.partition_point(|p| p.def < def);
        let count = pairs[start..].partition_point(|p| p.def == def);
        &pairs[start..start + count]
    }

    /// The page within which an item has to lie; 0 if it may cross whatever it likes. // P3, P7
    pub fn page_of(&self, item: u32) -> u64 {
        if matches!(self.straddling, Straddling::Free) && !self.problem.no_straddle {
            return 0; // So it is with most problems.
        }
        let may_straddle = match &self.straddling {
            Straddling::Free => true,
            Straddling::Refused | Straddling::LastResort => false,
            Straddling::Marked(marked) => marked[item as usize],
        };
        self.problem.page_of(item, may_straddle)
    }

    /// How many points time has.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// The binary logarithm of the unit of addresses.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// How many claims there are.
    pub fn claim_count(&self) -> u32 {
        self.claim_count
    }

    /// The life of an item.
    #[inline]
    pub fn life(&self, item: u32) -> &[Run] {
        self.items.row(item as usize)
    }

    /// How many points an item covers.
    #[inline]
    pub fn length(&self, item: u32) -> u64 {
        covered(self.life(item))
    }

    /// What an item asks of a window.
    pub fn request(&self, item: u32, (low, high): (u64, u64)) -> Request {
        let of = &self.problem.items[item as usize];
        Request {
            size: of.size,
            align: of.align,
            page: self.page_of(item),
            low,
            high,
        }
    }

    /// The life of a pin.
    pub fn pin_life(&self, pin: usize) -> &[Run] {
        self.pins.row(pin)
    }

    /// The pairs in which `item` is the def, in list order.
    pub fn in_place(&self, item: u32) -> impl Iterator<Item = InPlace<'_>> {
        let start = self.problem.pairs.partition_point(|p| p.def < item);
        (start..start + self.pairs_of_def(item).len()).map(|i| {
            let claims = if i == 0 { 0 } else { self.claim_ends[i - 1] };
            InPlace {
                used: self.problem.pairs[i].used,
                shortened: self.shortened.row(i),
                claims: &self.claims[claims as usize..self.claim_ends[i] as usize],
            }
        })
    }

    /// The windows of `low..high` in which items of each usage may lie. // P6
    pub fn windows(&self, low: u64, high: u64) -> Windows {
        Windows::new(self.problem, low, high)
    }
}

/// By usage: the address windows, ascending, that may hold an item.
#[derive(Clone, Debug)]
pub(crate) struct Windows([Vec<(u64, u64)>; Usage::ALL.len()]);

impl Windows {
    /// The windows of `low..high`. // P6
    pub fn new(problem: &Problem, low: u64, high: u64) -> Windows {
        let regions = &problem.regions;
        Windows(std::array::from_fn(|usage| {
            let whole = [(low, high)];
            let admitted = regions
                .iter()
                .filter(|r| r.usages.contains(Usage::ALL[usage]))
                .map(|r| {
                    let end = r.base.saturating_add(r.size);
                    (r.base.max(low), end.min(high))
                })
                .filter(|&(low, high)| low < high);
            if regions.is_empty() {
                whole.to_vec()
            } else {
                admitted.collect()
            }
        }))
    }

    /// The windows for a usage.
    pub fn of(&self, usage: Usage) -> &[(u64, u64)] {
        &self.0[usage as usize]
    }
}

/// A life without some instructions, which ascend.
fn without(life: &[Run], instructions: &[u32]) -> Vec<Run> {
    let mut kept = Vec::new();
    for run in life {
        let mut first = Some(run.first);
        for &index in instructions {
            let Some(from) = first.filter(|&from| from <= index && index <= run.last) else {
                continue;
            };
            if from < index {
                kept.push(Run {
                    first: from,
                    last: index - 1,
                });
            }
            first = index.checked_add(1);
        }
        if let Some(first) = first.filter(|&first| first <= run.last) {
            let last = run.last;
            kept.push(Run { first, last });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_loses_exactly_the_instructions_named() {
        arbtest::arbtest(|u| {
            let mut life = Vec::new();
            let mut at = 0;
            for _ in 0..u.int_in_range(0..=3)? {
                let first = at + u.int_in_range(0..=3)?;
                let last = first + u.int_in_range(0..=4)?;
                life.push(Run { first, last });
                at = last + 1;
            }
            let mut gone: Vec<u32> = Vec::new();
            for t in 0..at + 2 {
                if u.ratio(1, 4)? {
                    gone.push(t);
                }
            }
            let live = |life: &[Run], t: u32| life.iter().any(|r| r.first <= t && t <= r.last);
            let kept = without(&life, &gone);
            for t in 0..at + 3 {
                assert_eq!(live(&kept, t), live(&life, t) && !gone.contains(&t));
            }
            Ok(())
        });
    }
}
