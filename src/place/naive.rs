//! The oracle of first fit: every rule as it is written, by enumeration. Tests only.

use super::first_fit::Others;
use super::prepared::Straddling;
use super::{InPlacePair, PAGE, Placement, Problem};
use crate::ir::{Usage, overlap};

/// How a first fit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every item is placed.
    Placed(Placement),
    /// An item found no room; what was placed when it failed.
    NoRoom {
        /// The item.
        item: u32,
        /// By item.
        offsets: Vec<Option<u64>>,
    },
}

struct Naive<'p> {
    problem: &'p Problem,
    /// Whether the item at hand may straddle a page of the runtime. // P7
    may_straddle: bool,
    offsets: Vec<Option<u64>>,
}

/// First fit in the given order.
pub(crate) fn first_fit(
    problem: &Problem,
    order: &[u32],
    others: Others,
    ceiling: u64,
    straddling: &Straddling,
) -> Outcome {
    let mut naive = Naive {
        problem,
        may_straddle: false,
        offsets: vec![None; problem.items.len()],
    };
    let floor = problem.floor;
    let mut outside = Vec::new();
    let mut real = None;
    let mut above = floor;
    let mut region_end = floor;
    if let Some(limit) = problem.collective_limit {
        region_end = floor.saturating_add(limit).min(ceiling);
        let mut end = floor;
        for &i in order {
            if problem.usage(i) == Usage::Collective {
                match naive.place(i, &[(floor, region_end)], straddling) {
                    Some(start) => end = end.max(start + problem.items[i as usize].size),
                    None => outside.push(i),
                }
            }
        }
        let real_end = end.div_ceil(PAGE) * PAGE;
        let real_end = if end == floor { floor } else { real_end };
        real = Some(real_end - floor);
        above = if problem.trim_collective {
            real_end
        } else {
            floor.saturating_add(limit)
        };
    }
    for &i in order {
        if naive.offsets[i as usize].is_some() {
            continue;
        }
        let placed = match others {
            Others::Above if problem.collective_limit.is_some() => {
                naive.place(i, &[(above, ceiling), (floor, region_end)], straddling)
            }
            _ => naive.place(i, &[(floor, ceiling)], straddling),
        };
        if placed.is_none() {
            return Outcome::NoRoom {
                item: i,
                offsets: naive.offsets,
            };
        }
    }
    let offsets: Vec<u64> = naive
        .offsets
        .iter()
        .map(|o| o.expect("all placed"))
        .collect();
    let ends = offsets
        .iter()
        .zip(&problem.items)
        .map(|(o, item)| o + item.size);
    outside.sort();
    Outcome::Placed(Placement {
        peak: ends.max().unwrap_or(floor),
        offsets,
        collective_real: real,
        outside_region: outside,
    })
}

impl Naive<'_> {
    /// In the first of these places that has room; without straddling, if that can be. // P7
    fn place(&mut self, i: u32, places: &[(u64, u64)], straddling: &Straddling) -> Option<u64> {
        let tries: &[bool] = match straddling {
            Straddling::Free => &[true],
            Straddling::Refused => &[false],
            Straddling::LastResort => &[false, true],
            Straddling::Marked(marked) => &[marked[i as usize]],
        };
        for &may_straddle in tries {
            self.may_straddle = may_straddle;
            for &(low, high) in places {
                let start = self.in_place(i, low, high);
                let start = start.or_else(|| self.lowest(i, low, high));
                if start.is_some() {
                    self.offsets[i as usize] = start;
                    return start;
                }
            }
        }
        None
    }

    fn in_place(&self, i: u32, low: u64, high: u64) -> Option<u64> {
        let pairs = self.problem.pairs.iter().filter(|p| p.def == i);
        pairs
            .filter_map(|p| Some((p.used, self.offsets[p.used as usize]?)))
            .find(|&(used, start)| {
                let windows = self.windows(i, low, high);
                windows.iter().any(|&w| self.valid(i, start, w)) && self.free(i, start, Some(used))
            })
            .map(|(_, start)| start)
    }

    fn lowest(&self, i: u32, low: u64, high: u64) -> Option<u64> {
        let problem = self.problem;
        for window in self.windows(i, low, high) {
            let mut candidates = vec![window.0];
            candidates.extend(problem.pins.iter().map(|p| p.end));
            for (offset, item) in self.offsets.iter().zip(&problem.items) {
                candidates.extend(offset.map(|o| o + item.size));
            }
            candidates.retain(|&c| c >= window.0);
            for candidate in &mut candidates {
                let align = problem.items[i as usize].align;
                *candidate = candidate.next_multiple_of(align);
                while !self.valid(i, *candidate, (0, u64::MAX)) {
                    *candidate += align;
                }
            }
            candidates.sort();
            let fits = |&&c: &&u64| self.valid(i, c, window) && self.free(i, c, None);
            if let Some(&start) = candidates.iter().find(fits) {
                return Some(start);
            }
        }
        None
    }

    fn windows(&self, i: u32, low: u64, high: u64) -> Vec<(u64, u64)> {
        let usage = self.problem.usage(i);
        if self.problem.regions.is_empty() {
            return vec![(low, high)];
        }
        let admits = self
            .problem
            .regions
            .iter()
            .filter(|r| r.usages.contains(usage));
        admits
            .map(|r| (r.base.max(low), (r.base + r.size).min(high)))
            .collect()
    }

    /// Alignment, straddling and the window.
    fn valid(&self, i: u32, start: u64, window: (u64, u64)) -> bool {
        let item = &self.problem.items[i as usize];
        let Some(end) = start.checked_add(item.size) else {
            return false;
        };
        let straddles = start / PAGE != (end - 1) / PAGE;
        let page = self.problem.runtime_page;
        if !self.may_straddle && page > 0 && item.size <= page && start % page + item.size > page {
            return false; // P7
        }
        start.is_multiple_of(item.align)
            && start >= window.0
            && end <= window.1
            && !(self.problem.no_straddle && item.size <= PAGE && straddles)
    }

    /// Whether the bytes are free over the whole life, except for those of `used` where the life
    /// of `i` may meet it.
    fn free(&self, i: u32, start: u64, used: Option<u32>) -> bool {
        let problem = self.problem;
        let life = problem.lives.of(i as usize);
        let end = start + problem.items[i as usize].size;
        let meets = |from: u64, to: u64| from < end && start < to;
        let pin_free = |p: usize| {
            let pin = problem.pins[p];
            !meets(pin.start, pin.end)
                || pin.start == pin.end
                || !overlap(problem.pin_lives.of(p), life)
        };
        let item_free = |j: u32| {
            let Some(offset) = self.offsets[j as usize] else {
                return true;
            };
            if Some(j) == used && self.meet_at_pairs_only(i, j) {
                return true;
            }
            !meets(offset, offset + problem.items[j as usize].size)
                || !problem.lives.overlap(i as usize, j as usize)
        };
        (0..problem.pins.len()).all(pin_free) && (0..problem.items.len() as u32).all(item_free)
    }

    /// Whether every instruction at which both live is one of a pair of the two.
    fn meet_at_pairs_only(&self, def: u32, used: u32) -> bool {
        let live = |i: u32, t: u32| {
            let life = self.problem.lives.of(i as usize);
            life.iter().any(|s| s.contains(crate::ir::FlatIndex(t)))
        };
        let paired = |t: u32| {
            let pair = |p: &InPlacePair| p.used == used && p.def == def && p.index.0 == t;
            self.problem.pairs.iter().any(pair)
        };
        let last = self.problem.lives.all().iter().map(|s| s.last().0).max();
        (0..=last.unwrap_or(0)).all(|t| !live(def, t) || !live(used, t) || paired(t))
    }
}
