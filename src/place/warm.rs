//! A warm start: an earlier placement as a hint. // S2
//!
//! A compiler plans again after a small change and wants two things: that what has not changed
//! stays where it was, and that it takes much less time than a plan from nothing. An item is
//! *hinted* if the hint has a start for it, and *kept* if it ends up there.
//!
//! # What is looked for
//!
//! The least *cost*: the peak, plus `keep` bytes for each MiB of hinted items that moved; among
//! equal costs, the fewest bytes moved. With `keep` 0 that is the lowest peak first, and then the
//! fewest bytes moved among the placements found.
//!
//! # How
//!
//! 1. The hint is *fitted*: hinted items take their starts, the most bytes first, each checked like
//!    any placement; then everything else, and what could not stay, by first fit. If that ends
//!    above the goal, it is tried below it, where what finds no room pushes others out; see
//!    `eject`.
//! 2. If it ends at the goal or below, that is the result. It is too if no search can pay for moving
//!    everything: its cost is at most that of the bound with every hinted item moved.
//! 3. Else the strategy runs, for peaks below. The lowest that it finds is a ceiling below which
//!    the hint is fitted again, so that a lower peak moves no more than it has to.
//!
//! # The goal
//!
//! The whole search for each small change would make a hint cost more than it saves wherever the
//! bound is out of reach. So what a change costs is measured by what is known to be good enough:
//! the result may end as far above its bound as the earlier placement did above its own, if a
//! search as good as this one made that, but by no more than a quarter of the bound; and, but for
//! `best`, by a 128th of the bound whoever made it. Where a host gives a budget, the goal is the
//! bound itself: a budget is there to be used.
//!
//! # Guarantee
//!
//! The peak, less `keep` bytes for each MiB kept, is at most the goal or that of the same strategy
//! without a hint, whichever is higher, for `reference` and `fast`. `best` begins its search from
//! the hint and takes another way from there: with `keep` 0 it is never above the hint as fitted,
//! nor above `fast` with the same hint.
//!
//! # What it costs
//!
//! At most one first fit, an index over the lives, and three ejections of [`LOOKS_PER_ITEM`] looks
//! for each item; the one at the goal is left out where too many items end above. None of that is
//! counted in steps, but the host's flag and clock are looked at. A search that has to follow costs
//! what it costs without a hint, or less, since it starts below the hint's peak: a hint that misses
//! the goal makes a run longer, not shorter, and so does one where the first order of a search is
//! the last one anyway.
//!
//! Hinted items come the most bytes first, so that where several defs may take over one use another
//! one may get it than did before, and what got it before moves. // L8
//!
//! With a runtime page the hint is not looked at: straddling comes before everything else. // P7

use std::fmt;

use super::eject::Ejection;
use super::improve::Neighbours;
use super::meter::{Meter, Stop};
use super::packing::Packing;
use super::prepared::{Prepared, Windows};
use super::{PAGE, Placement, Problem};
use crate::ir::Usage;
use crate::options::Strategy;
use crate::order::sort_descending;

/// Looks at neighbours that one ejection may take, and how many more for each item of the problem:
/// a fraction of what a first fit costs.
const LOOKS: u64 = 1 << 16;
const LOOKS_PER_ITEM: u64 = 4;

/// Ejection is worth a try if no more than one item in so many, and a few, ends above its ceiling.
const EJECTED_OF: usize = 8;
const FEW: usize = 8;

/// A result that is above the bound by one in so many of its bytes is good enough.
const SLACK: u64 = 128;

/// An earlier placement that was above its bound by more than one in so many of its bytes is not.
const MOST_WASTE: u64 = 4;

/// Rounds in which a def waits for its use to be placed; longer chains of equal sizes, listed the
/// wrong way round, lose their places.
const PAIR_ROUNDS: usize = 8;

/// Placements between two looks at the host's flag and clock.
const POLL: usize = 128;

/// `Hint::keep` counts by these bytes.
const MIB: u32 = 20;

/// How much of a hint has been kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Hinted items that lie where the hint says.
    pub kept: u64,
    /// Their bytes as placed.
    pub kept_bytes: u64,
    /// Hinted items that lie elsewhere.
    pub moved: u64,
    /// Their bytes as placed.
    pub moved_bytes: u64,
}

impl Kept {
    /// How a placement compares to the hint of its problem.
    pub fn of(problem: &Problem, offsets: &[u64]) -> Kept {
        let mut kept = Kept::default();
        let hinted = problem.hint.starts.iter().zip(&problem.items).zip(offsets);
        for ((hint, item), offset) in hinted {
            let Some(hint) = hint else { continue };
            let (count, bytes) = if hint == offset {
                (&mut kept.kept, &mut kept.kept_bytes)
            } else {
                (&mut kept.moved, &mut kept.moved_bytes)
            };
            *count += 1;
            *bytes = bytes.saturating_add(item.size);
        }
        kept
    }

    /// Adds what was kept elsewhere.
    pub fn add(&mut self, other: Kept) {
        self.kept += other.kept;
        self.kept_bytes = self.kept_bytes.saturating_add(other.kept_bytes);
        self.moved += other.moved;
        self.moved_bytes = self.moved_bytes.saturating_add(other.moved_bytes);
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kept {
            kept,
            kept_bytes,
            moved,
            moved_bytes,
        } = self;
        write!(f, "{kept} locations with {kept_bytes} bytes kept, ")?;
        write!(f, "{moved} with {moved_bytes} bytes moved")
    }
}

/// The peak at which a hint as fitted is good enough; see the module.
pub(super) fn goal(problem: &Problem, bound: u64, strategy: Strategy) -> u64 {
    let bytes = bound.saturating_sub(problem.floor);
    let slack = match strategy {
        Strategy::Reference | Strategy::Fast => bytes / SLACK,
        Strategy::Best => 0,
    };
    let waste = problem.hint.waste.min(bytes / MOST_WASTE);
    bound.saturating_add(waste.max(slack))
}

/// Cost, then bytes moved: less is better.
type Cost = (u128, u64);

fn cost(peak: u64, moved: u64, keep: u64) -> Cost {
    let moving = u128::from(moved) * u128::from(keep);
    ((u128::from(peak) << MIB).saturating_add(moving), moved)
}

/// A hint at work.
pub(super) struct Warm {
    /// The hinted items, the most bytes first.
    hinted: Vec<u32>,
    /// All items, the most bytes first.
    by_size: Vec<u32>,
    hinted_bytes: u64,
    /// By item: the hinted starts that break no rule together, once the hint has been fitted.
    kept: Vec<Option<u64>>,
    neighbours: Option<Neighbours>,
    /// The highest ceiling below which ejection has failed.
    failed_below: u64,
    /// The peak of the hint as fitted.
    fitted_peak: u64,
    /// The placement of the least cost so far.
    best: Option<(Cost, Placement)>,
}

impl Warm {
    /// Whether a problem has a hint.
    pub(super) fn serves(problem: &Problem) -> bool {
        problem.hint.starts.iter().any(Option::is_some)
    }

    pub(super) fn new(problem: &Problem, meter: &Meter<'_, '_>) -> Result<Warm, Stop> {
        let size = |i: u32| problem.items[i as usize].size;
        let mut by_size: Vec<u32> = (0..problem.items.len() as u32).collect();
        sort_descending(&mut by_size, &|i| [size(i), 0, 0, 0], &mut meter.pace())?;
        let starts = &problem.hint.starts;
        let is_hinted = |i: &u32| starts.get(*i as usize).is_some_and(Option::is_some);
        let hinted: Vec<u32> = by_size.iter().copied().filter(is_hinted).collect();
        Ok(Warm {
            hinted_bytes: hinted.iter().fold(0, |sum, &i| sum.saturating_add(size(i))),
            hinted,
            by_size,
            kept: Vec::new(),
            neighbours: None,
            failed_below: 0,
            fitted_peak: u64::MAX,
            best: None,
        })
    }

    /// Fits the hint as it is; returns a placement below which the search has to find one, and
    /// whether it need not even try: no search can do better, or the goal is reached.
    pub(super) fn start(
        &mut self,
        prepared: &Prepared<'_>,
        (bound, goal): (u64, u64),
        meter: &mut Meter<'_, '_>,
    ) -> Result<(Option<Placement>, bool), Stop> {
        let problem = prepared.problem;
        if bound > problem.ceiling {
            return Ok((None, false)); // Nothing fits.
        }
        let mut above = 0;
        if let Some(placement) = self.fit(prepared, meter)? {
            let ends = placement.offsets.iter().zip(&problem.items);
            above = ends.filter(|(at, item)| *at + item.size > goal).count();
            self.offer(problem, placement);
        }
        let least = cost(bound, self.hinted_bytes, problem.hint.keep).0;
        let is_enough =
            |(cost, placement): &(Cost, Placement)| cost.0 <= least || placement.peak <= goal;
        if !self.best.as_ref().is_some_and(is_enough)
            && above <= problem.items.len() / EJECTED_OF + FEW
            && let Some(placement) = self.fit_below(prepared, goal, meter)?
        {
            self.offer(problem, placement);
        }
        if self.best.is_none()
            && let Some(placement) = self.fit_below(prepared, problem.ceiling, meter)?
        {
            self.offer(problem, placement);
        }
        let enough = self.best.as_ref().is_some_and(is_enough);
        let best = self.best.as_ref().map(|(_, placement)| placement.clone());
        self.fitted_peak = best.as_ref().map_or(u64::MAX, |best| best.peak);
        Ok((best, enough))
    }

    /// The placement of the least cost, given the lowest that the search has found, after the hint
    /// has been fitted below that, if the host still has time.
    pub(super) fn into_best(
        mut self,
        prepared: &Prepared<'_>,
        found: Option<Placement>,
        meter: &mut Meter<'_, '_>,
    ) -> Option<Placement> {
        if let Some(found) = found.filter(|found| found.peak < self.fitted_peak) {
            let peak = found.peak;
            self.offer(prepared.problem, found);
            if let Ok(Some(placement)) = self.fit_below(prepared, peak, meter) {
                self.offer(prepared.problem, placement);
            }
        }
        self.best.map(|(_, placement)| placement)
    }

    fn cost(&self) -> Option<Cost> {
        self.best.as_ref().map(|&(cost, _)| cost)
    }

    fn offer(&mut self, problem: &Problem, placement: Placement) {
        let moved = Kept::of(problem, &placement.offsets).moved_bytes;
        let cost = cost(placement.peak, moved, problem.hint.keep);
        if self.cost().is_none_or(|best| cost < best) {
            self.best = Some((cost, placement));
        }
    }

    /// Fits the hint below a ceiling at which the engine alone did not succeed.
    fn fit_below(
        &mut self,
        prepared: &Prepared<'_>,
        ceiling: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Placement>, Stop> {
        let problem = prepared.problem;
        if ceiling <= self.failed_below {
            return Ok(None);
        }
        let places = Places::new(prepared, ceiling);
        let below = |(item, start): (usize, &Option<u64>)| {
            let end = start.map(|start| start + problem.items[item].size);
            start.filter(|_| end.is_some_and(|end| end <= ceiling))
        };
        let starts = self.kept.iter().enumerate().map(below).collect();
        let neighbours = match self.neighbours.take() {
            Some(neighbours) => neighbours,
            None => Neighbours::new(prepared, meter)?,
        };
        let neighbours = self.neighbours.insert(neighbours);
        let windows = |item| places.of(problem, item);
        let ejection = Ejection::new(prepared, neighbours, starts, &windows);
        let looks = LOOKS + LOOKS_PER_ITEM * problem.items.len() as u64;
        let starts = ejection.run(looks, meter)?;
        if starts.is_none() {
            self.failed_below = ceiling;
        }
        Ok(starts.map(|starts| Placement::of(problem, starts)))
    }

    /// Fits the hint as it is: what is hinted takes its start if that is free, then the rest goes
    /// to the lowest free bytes. `None` if something finds none.
    fn fit(
        &mut self,
        prepared: &Prepared<'_>,
        meter: &Meter<'_, '_>,
    ) -> Result<Option<Placement>, Stop> {
        let problem = prepared.problem;
        let places = Places::new(prepared, problem.ceiling);
        let hint = |item: u32| problem.hint.starts.get(item as usize).copied().flatten();
        let mut packing = Packing::unless(prepared, &mut meter.pace())?;
        let mut seen = vec![false; problem.items.len()];
        let mut waiting = Vec::new();
        for round in 0..=PAIR_ROUNDS {
            let items = if round == 0 {
                &self.hinted
            } else {
                &std::mem::take(&mut waiting)
            };
            for (k, &item) in items.iter().enumerate() {
                if k % POLL == 0 {
                    meter.poll()?;
                }
                let start = hint(item);
                // The def of a pair lies in its use's bytes only if those are taken. // L8
                let mut pairs = prepared.in_place(item);
                if round < PAIR_ROUNDS
                    && pairs.any(|pair| !seen[pair.used as usize] && hint(pair.used) == start)
                {
                    waiting.push(item);
                    continue;
                }
                seen[item as usize] = true;
                if let Some(start) = start {
                    packing.place_at(item, start, places.of(problem, item));
                }
            }
        }
        self.kept = packing.offsets();
        let mut polled = POLL;
        for &item in &self.by_size {
            if packing.offset(item).is_some() {
                continue;
            }
            polled += 1;
            if polled > POLL {
                meter.poll()?;
                polled = 0;
            }
            let own = places.of(problem, item);
            let everywhere = &places.everywhere;
            let placed = packing.place(item, own).is_some()
                || (!std::ptr::eq(own, everywhere)
                    && (hint(item).is_some_and(|at| packing.place_at(item, at, everywhere))
                        || packing.place(item, everywhere).is_some()));
            if !placed {
                return Ok(None);
            }
        }
        Ok(Some(Placement::of(problem, packing.into_offsets())))
    }
}

/// Where items belong, below a ceiling.
struct Places {
    everywhere: Windows,
    /// The end of the collective region and its windows, if there is one.
    region: Option<(u64, Windows)>,
}

impl Places {
    fn new(prepared: &Prepared<'_>, ceiling: u64) -> Places {
        let problem = prepared.problem;
        let end = |limit| problem.floor.saturating_add(limit).min(ceiling);
        let region = problem.collective_limit.map(end);
        Places {
            everywhere: prepared.windows(problem.floor, ceiling),
            region: region.map(|end| (end, prepared.windows(problem.floor, end))),
        }
    }

    /// A collective item belongs in the region if that is long enough for it. // P5
    fn of(&self, problem: &Problem, item: u32) -> &Windows {
        let item = &problem.items[item as usize];
        match &self.region {
            Some((end, region))
                if item.usage == Usage::Collective
                    && item.size <= end.saturating_sub(problem.floor) =>
            {
                region
            }
            _ => &self.everywhere,
        }
    }
}

impl Placement {
    /// The placement of these starts.
    pub(super) fn of(problem: &Problem, offsets: Vec<u64>) -> Placement {
        let floor = problem.floor;
        let limit = problem.collective_limit;
        let region_end = limit.map_or(floor, |limit| floor.saturating_add(limit));
        let mut placement = Placement {
            peak: floor,
            ..Placement::default()
        };
        let mut real_end = floor;
        for (i, (item, &start)) in problem.items.iter().zip(&offsets).enumerate() {
            let end = start + item.size; // It was placed, so its end is an address.
            placement.peak = placement.peak.max(end);
            if limit.is_some() && item.usage == Usage::Collective {
                if end <= region_end {
                    real_end = real_end.max(end);
                } else {
                    placement.outside_region.push(i as u32);
                }
            }
        }
        let rounded = real_end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        let real = if real_end == floor {
            0
        } else {
            rounded - floor
        };
        placement.collective_real = limit.map(|_| real);
        placement.offsets = offsets;
        placement
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::{Hint, Solved, Unsolved, solve, testing};
    use crate::testing::for_each_seed;
    use arbitrary::{Result, Unstructured};

    fn run(problem: &Problem, strategy: Strategy) -> std::result::Result<Solved, Unsolved> {
        solve(problem, strategy, Some(3_000), &mut Control::default())
    }

    /// Starts from a placement, some of them wrong, shifted, or unknown.
    fn hint(u: &mut Unstructured<'_>, offsets: &[u64]) -> Result<Vec<Option<u64>>> {
        let wrong = u.int_in_range(0..=4)?;
        offsets
            .iter()
            .map(|&offset| {
                Ok(match u.int_in_range(0..=19)? {
                    i if i >= wrong => Some(offset),
                    0 => None,
                    1 => Some(offset ^ 1),
                    2 => Some(offset.wrapping_add(u.arbitrary()?)),
                    _ => Some(offset + 4096),
                })
            })
            .collect()
    }

    /// A problem like this one, and the hint without what has changed.
    fn mutated(
        u: &mut Unstructured<'_>,
        problem: &Problem,
        starts: &mut [Option<u64>],
    ) -> Result<Problem> {
        let mut changed = problem.clone();
        for (item, start) in changed.items.iter_mut().zip(starts) {
            // Pairs keep their rule: a def is not the larger. // L8
            if problem.pairs.is_empty() && u.ratio(1, 6)? {
                item.size *= u.int_in_range(1..=3)?;
                *start = None;
            }
        }
        if u.ratio(1, 4)? {
            testing::add_pin(&mut changed, 0, 4096, &[(3, 9)]);
            changed.pins = changed.pins.split_off(changed.pins.len() - 1);
            let last = changed.pin_lives.len() - 1;
            let mut lives = crate::ir::Lives::new();
            lives.push(changed.pin_lives.of(last).iter().copied());
            changed.pin_lives = lives;
        }
        Ok(changed)
    }

    #[test]
    fn a_hint_costs_no_peak_but_what_keep_allows_and_breaks_no_rule() {
        let (mut kept_all, mut searched, mut paid) = (0, 0, 0);
        for_each_seed(0..150, |u| {
            let problem = Problem {
                runtime_page: 0,
                ..testing::problem(u)?
            };
            let strategy = *u.choose(Strategy::ALL)?;
            let Ok(before) = run(&problem, strategy) else {
                return Ok(());
            };
            let mut starts = hint(u, &before.placement.offsets)?;
            let mut problem = mutated(u, &problem, &mut starts)?;
            let cold: Vec<_> = Strategy::ALL.iter().map(|&s| run(&problem, s)).collect();
            let keep = *u.choose(&[0, 0, 1, 1 << 10, 1 << 18, 1 << 20, u64::MAX])?;
            problem.hint = Hint {
                starts,
                keep,
                waste: u.int_in_range(0..=8)? * 4096,
            };
            let peaks = [Strategy::Reference, Strategy::Fast, Strategy::Best].map(|strategy| {
                let warm = run(&problem, strategy);
                let cold = &cold[Strategy::ALL.iter().position(|&s| s == strategy).unwrap()];
                if let Ok(warm) = &warm {
                    let broken = testing::violations(&problem, &warm.placement);
                    assert_eq!(broken, Vec::<String>::new(), "{strategy} {problem:?}");
                    assert!(warm.placement.peak >= warm.bound);
                }
                if let (Ok(cold), true) = (cold, strategy != Strategy::Best) {
                    let warm = warm
                        .as_ref()
                        .expect("what fits without a hint fits with it");
                    let kept = Kept::of(&problem, &warm.placement.offsets);
                    let allowed = u128::from(kept.kept_bytes) * u128::from(keep);
                    let allowed = (u128::from(cold.placement.peak) << MIB) + allowed;
                    let peak = u128::from(warm.placement.peak) << MIB;
                    assert!(peak <= allowed, "{strategy} {keep} {kept:?} {problem:?}");
                    kept_all += usize::from(kept.moved == 0);
                    searched += usize::from(kept.moved > 0);
                    paid += usize::from(warm.placement.peak > cold.placement.peak);
                }
                warm.map(|warm| {
                    let kept = Kept::of(&problem, &warm.placement.offsets);
                    cost(warm.placement.peak, kept.moved_bytes, keep)
                })
            });
            for (shorter, longer) in [(&peaks[0], &peaks[1]), (&peaks[1], &peaks[2])] {
                if let Ok(shorter) = shorter {
                    let longer = longer.as_ref().expect("a longer strategy finds as much");
                    assert!(keep > 0 || longer <= shorter, "{problem:?}");
                }
            }
            Ok(())
        });
        assert!(
            kept_all > 0 && searched > 0 && paid > 0,
            "{kept_all} {searched} {paid}"
        );
    }

    #[test]
    fn a_hint_that_still_holds_and_cannot_be_beaten_is_the_result() {
        arbtest::arbtest(|u| {
            let mut problem = Problem {
                runtime_page: 0,
                ..testing::problem(u)?
            };
            // Which def takes over which use depends on who comes first, and so may a place. // L8
            problem.pairs.clear();
            let Ok(before) = run(&problem, Strategy::Fast) else {
                return Ok(());
            };
            let offsets = before.placement.offsets;
            let starts = offsets.iter().copied().map(Some).collect();
            let keep = if before.placement.peak == before.bound {
                0
            } else {
                u64::MAX
            };
            problem.hint = Hint {
                starts,
                keep,
                waste: 0,
            };
            for &strategy in Strategy::ALL {
                let again = run(&problem, strategy).expect("it still fits");
                assert_eq!(again.placement.offsets, offsets, "{strategy} {problem:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn only_what_is_in_the_way_moves() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        // Two stacks of four, apart in time; the second one's lowest grows from 10 to 20.
        for i in 0..8 {
            let at = 10 * (i / 4);
            let size = if i == 4 { 20 } else { 10 };
            testing::add_item(&mut problem, size, &[(at, at + 5)]);
        }
        let starts = (0..8).map(|i| (i != 4).then_some(10 * (i % 4))).collect();
        problem.hint.starts = starts;
        let solved = run(&problem, Strategy::Fast).expect("no ceiling");
        assert_eq!(solved.placement.peak, 50);
        let kept = Kept::of(&problem, &solved.placement.offsets);
        assert_eq!((kept.kept, kept.moved), (6, 1), "{:?}", solved.placement);
    }

    #[test]
    fn without_a_budget_the_goal_is_enough_and_nothing_is_above_it_that_a_search_would_have_found()
    {
        let (mut imitated, mut searched) = (0, 0);
        for_each_seed(0..300, |u| {
            let problem = Problem {
                runtime_page: 0,
                ..testing::problem(u)?
            };
            let free = |problem: &Problem, strategy| {
                solve(problem, strategy, None, &mut Control::default())
            };
            let strategy = *u.choose(&[Strategy::Reference, Strategy::Fast])?;
            let Ok(before) = free(&problem, strategy) else {
                return Ok(());
            };
            let mut starts = hint(u, &before.placement.offsets)?;
            let mut problem = mutated(u, &problem, &mut starts)?;
            let cold = free(&problem, strategy);
            let waste = before.placement.peak - before.bound;
            let keep = 0;
            problem.hint = Hint {
                starts,
                keep,
                waste,
            };
            let Ok(warm) = free(&problem, strategy) else {
                assert!(cold.is_err(), "what fits without a hint fits with it");
                return Ok(());
            };
            let goal = goal(&problem, warm.bound, strategy);
            assert!(goal - warm.bound <= waste.max((warm.bound - problem.floor) / SLACK));
            let cold = cold.map_or(u64::MAX, |cold| cold.placement.peak);
            assert!(warm.placement.peak <= goal.max(cold), "{problem:?}");
            imitated += usize::from(warm.placement.peak > cold.min(warm.bound));
            searched += usize::from(warm.placement.peak > goal);
            Ok(())
        });
        assert!(imitated > 0 && searched > 0, "{imitated} {searched}");
    }

    #[test]
    fn a_wasteful_hint_is_not_imitated() {
        let problem = |waste| {
            let mut problem = Problem {
                ceiling: u64::MAX,
                granule: 1,
                ..Problem::default()
            };
            // One after the other could lie on the same bytes; a host has put them side by side.
            for i in 0..8 {
                testing::add_item(&mut problem, 101, &[(2 * i, 2 * i + 1)]);
            }
            problem.hint.starts = (0..8).map(|i| Some(3 * i)).collect();
            problem.hint.waste = waste;
            solve(&problem, Strategy::Fast, None, &mut Control::default())
        };
        let peak = |waste| problem(waste).map(|solved| solved.placement.peak);
        assert_eq!(peak(0), Ok(101), "nobody says that this was good");
        assert_eq!(
            peak(20),
            Ok(119),
            "less than the hint has: what ends above moves"
        );
        assert_eq!(peak(21), Ok(122), "as good as it was");
        let mut far = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for i in 0..2 {
            testing::add_item(&mut far, 100, &[(2 * i, 2 * i + 1)]);
        }
        far.hint.starts = vec![Some(0), Some(100)];
        far.hint.waste = 100;
        let solved = solve(&far, Strategy::Fast, None, &mut Control::default());
        assert_eq!(solved.map(|solved| solved.placement.peak), Ok(100));
    }

    #[test]
    fn a_cancelled_fit_says_so() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        problem.hint.starts = vec![Some(0)];
        let flag = std::sync::atomic::AtomicBool::new(true);
        let mut control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        let cancelled = solve(&problem, Strategy::Fast, None, &mut control);
        assert_eq!(cancelled, Err(Unsolved::Cancelled));
    }
}
