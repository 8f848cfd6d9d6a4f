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
//! 1. Of the items that need a new place the largest are looked at, each by itself, and those that
//!    live long, one beside the other: is there room below the goal beside what is hinted? If
//!    several find none, a repair would have to move half of everything, and step 3 comes first;
//!    then the hint is fitted only if the search ends above the goal. Not for `best`, with `keep` or with a budget: there the fit always comes first.
//! 2. The hint is *fitted*: hinted items take their starts, the most bytes first, each checked like
//!    any placement; then everything else, and what could not stay, by first fit. What ends above
//!    the goal is then put below it, where it may push others out; see `eject`. If all of it ends
//!    at the goal or below, that is the result. It is too if no search can pay for moving
//!    everything: its cost is at most that of the bound with every hinted item moved.
//! 3. Else the strategy runs, for peaks below, until it is at the goal. The lowest that it finds is
//!    a ceiling below which what ends above it in the hint as fitted is put, so that a lower peak
//!    moves no more than it has to.
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
//! nor above what `fast` finds in its search with the same hint.
//!
//! # What it costs
//!
//! A look at a few items and, unless that says that it is of no use, at most one first fit, an index
//! over the lives and a few ejections, each of a fraction of a first fit in looks at neighbours; those
//! that could not even look once around each item are left out. None of that is counted in steps,
//! but the host's flag and clock are looked at. A search that has to follow costs what it costs
//! without a hint, or less: it ends at the goal, and most of its orders are given up where they
//! reach the hint's peak. So a small change costs a first fit where a plan from nothing may take
//! several. Where the first order of a search is the last one anyway, nothing can be saved, and the
//! looks come on top, a tenth; where a repair looks likely and fails, the fit does.
//!
//! Hinted items come the most bytes first, so that where several defs may take over one use another
//! one may get it than did before, and what got it before moves. // L8
//!
//! With a runtime page the hint is not looked at: straddling comes before everything else. // P7

use super::eject::Ejection;
use super::first_fit::WARM;
use super::improve::Neighbours;
use super::kept::Kept;
use super::meter::{Meter, Stop};
use super::packing::Packing;
use super::places::Places;
use super::prepared::Prepared;
use super::promising::{all_find_room, find_room};
use super::{PAGE, Placement, Problem};
use crate::ir::Usage;
use crate::options::Strategy;
use crate::order::sort_descending;

/// Looks at neighbours that one ejection may take, and for how many items one more: a fraction of
/// what a first fit costs. Measured: those that succeed take a third of that, or ten times as much.
const LOOKS: u64 = 1 << 14;
const ITEMS_PER_LOOK: u64 = 2;

fn looks(problem: &Problem) -> u64 {
    LOOKS + problem.items.len() as u64 / ITEMS_PER_LOOK
}

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

/// The peak at which a hint as fitted is good enough, for a search as short as any and for this one;
/// see the module.
pub(super) fn goals(problem: &Problem, bound: u64, strategy: Strategy) -> [u64; 2] {
    let bytes = bound.saturating_sub(problem.floor);
    let waste = problem.hint.waste.min(bytes / MOST_WASTE);
    let slack = waste.max(bytes / SLACK);
    let own = match strategy {
        Strategy::Reference | Strategy::Fast => slack,
        Strategy::Best => waste,
    };
    [slack, own].map(|above| bound.saturating_add(above).min(problem.ceiling))
}

/// Cost, then bytes moved: less is better.
type Cost = (u128, u64);

fn cost(peak: u64, moved: u64, keep: u64) -> Cost {
    let moving = u128::from(moved) * u128::from(keep);
    ((u128::from(peak) << MIB).saturating_add(moving), moved)
}

/// A hint at work.
pub(super) struct Warm {
    hinted_bytes: u64,
    /// By item: where it lies in the hint as fitted, if there was room.
    fitted: Vec<Option<u64>>,
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

    pub(super) fn new(problem: &Problem) -> Warm {
        let hinted = problem.hint.starts.iter().zip(&problem.items);
        let hinted = hinted.filter(|(start, _)| start.is_some());
        Warm {
            hinted_bytes: hinted.fold(0, |sum, (_, item)| sum.saturating_add(item.size)),
            fitted: Vec::new(),
            neighbours: None,
            failed_below: 0,
            fitted_peak: u64::MAX,
            best: None,
        }
    }

    /// Whether what has to find a new place is likely to find one that ends at the goal or below; see
    /// `promising`. If not, the hint is fitted when the search has ended, and only if above the goal.
    pub(super) fn is_promising(
        &mut self,
        prepared: &Prepared<'_>,
        goal: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<bool, Stop> {
        let places = Places::new(prepared, goal);
        let problem = prepared.problem;
        let mut starts = places.of_those_within(problem, &problem.hint.starts);
        let is_new = |&item: &u32| starts[item as usize].is_none();
        let mut new: Vec<u32> = (0..starts.len() as u32).filter(is_new).collect();
        if new.is_empty() {
            return Ok(true);
        }
        sort_by_size(problem, &mut new, meter)?;
        let neighbours = Neighbours::once(&mut self.neighbours, prepared, meter)?;
        let aim = (goal, looks(problem));
        let (places, all) = (&places, &mut starts);
        let promising = find_room(prepared, neighbours, places, all, &new, meter)?
            && all_find_room(prepared, neighbours, places, all, &new, aim, meter)?;
        if !promising {
            self.failed_below = goal;
        }
        Ok(promising)
    }

    /// Fits the hint; returns a placement below which the search has to find one, and whether it need
    /// not even try: no search can do better, or the last of the goals, which descend, is reached.
    pub(super) fn start(
        &mut self,
        prepared: &Prepared<'_>,
        bound: u64,
        goals: [u64; 2],
        meter: &mut Meter<'_, '_>,
    ) -> Result<(Option<Placement>, bool), Stop> {
        let problem = prepared.problem;
        self.fit(prepared, meter)?;
        let least = cost(bound, self.hinted_bytes, problem.hint.keep).0;
        let is_enough = |warm: &Warm, goal: u64| {
            let best = warm.best.as_ref();
            best.is_some_and(|(cost, placement)| cost.0 <= least || placement.peak <= goal)
        };
        for goal in goals {
            if !is_enough(self, goal) {
                self.fit_below(prepared, goal, meter)?;
            }
        }
        if self.best.is_none() {
            self.fit_below(prepared, problem.ceiling, meter)?;
        }
        let best = self.best.as_ref().map(|(_, placement)| placement.clone());
        self.fitted_peak = best.as_ref().map_or(u64::MAX, |best| best.peak);
        Ok((best, is_enough(self, goals[1])))
    }

    /// The placement of the least cost, given the lowest that the search has found, after the hint
    /// has been fitted below that, if the host still has time.
    pub(super) fn into_best(
        mut self,
        prepared: &Prepared<'_>,
        found: Option<Placement>,
        meter: &mut Meter<'_, '_>,
    ) -> Option<Placement> {
        // What has been found before it is stopped counts.
        let _ = self.fit_late(prepared, found, meter);
        self.best.map(|(_, placement)| placement)
    }

    /// Takes what the search has found, and what the hint makes of it.
    fn fit_late(
        &mut self,
        prepared: &Prepared<'_>,
        found: Option<Placement>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let problem = prepared.problem;
        let peak = found.as_ref().map(|found| found.peak);
        if let Some(found) = found.filter(|found| found.peak < self.fitted_peak) {
            self.offer(problem, found);
        }
        // Nothing is to be expected at or below a ceiling at which it has failed.
        if self.fitted.is_empty() && peak.is_none_or(|peak| peak > self.failed_below) {
            self.fitted_peak = self.fit(prepared, meter)?.unwrap_or(u64::MAX);
        }
        match peak {
            Some(peak) if peak < self.fitted_peak => self.fit_below(prepared, peak, meter),
            None if self.best.is_none() => self.fit_below(prepared, problem.ceiling, meter),
            _ => Ok(()),
        }
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

    /// Goes on from the hint as fitted: what ends above a ceiling is put below it, where it may push
    /// others out. Offers what comes of it.
    fn fit_below(
        &mut self,
        prepared: &Prepared<'_>,
        ceiling: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let problem = prepared.problem;
        if ceiling <= self.failed_below {
            return Ok(());
        }
        let places = Places::new(prepared, ceiling);
        let starts = places.of_those_within(problem, &self.fitted);
        let neighbours = Neighbours::once(&mut self.neighbours, prepared, meter)?;
        let looks = looks(problem);
        // Not even begun if there are too few for one look around each; unless there is nothing yet.
        let (mut rows, mut pace) = (0, meter.pace());
        for (item, _) in (0..).zip(&starts).filter(|(_, start)| start.is_none()) {
            pace.work(1)?;
            rows += neighbours.rows_to_visit(prepared, item);
            if rows > looks && ceiling < problem.ceiling {
                return Ok(());
            }
        }
        let windows = |item| places.of(problem, item);
        let ejection = Ejection::new(prepared, neighbours, starts, &windows);
        match ejection.run(looks, meter)? {
            Some(starts) => self.offer(problem, Placement::of(problem, starts)),
            None => self.failed_below = ceiling,
        }
        Ok(())
    }

    /// Fits the hint as it is: what is hinted takes its start if that is free, then the rest goes
    /// to the lowest free bytes. Offers that and returns its peak; `None` if something finds none.
    fn fit(&mut self, prepared: &Prepared<'_>, meter: &Meter<'_, '_>) -> Result<Option<u64>, Stop> {
        let problem = prepared.problem;
        let places = Places::new(prepared, problem.ceiling);
        let hint = |item: u32| problem.hint.starts.get(item as usize).copied().flatten();
        let mut by_size: Vec<u32> = (0..problem.items.len() as u32).collect();
        sort_by_size(problem, &mut by_size, meter)?;
        let is_hinted = |&item: &u32| hint(item).is_some();
        let hinted: Vec<u32> = by_size.iter().copied().filter(is_hinted).collect();
        let mut packing = Packing::unless(prepared, &mut meter.pace())?;
        let mut seen = vec![false; problem.items.len()];
        let mut waiting = Vec::new();
        for round in 0..=PAIR_ROUNDS {
            let items = if round == 0 {
                &hinted
            } else {
                &std::mem::take(&mut waiting)
            };
            for (k, &item) in items.iter().enumerate() {
                if k % POLL == 0 {
                    meter.poll()?;
                }
                if k % WARM == 0 {
                    packing.warm(&items[k..items.len().min(k + WARM)]);
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
        let mut complete = true;
        let mut polled = POLL;
        for item in by_size {
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
            complete &= placed;
        }
        self.fitted = packing.offsets();
        Ok(complete.then(|| {
            let placement = Placement::of(problem, packing.into_offsets());
            let peak = placement.peak;
            self.offer(problem, placement);
            peak
        }))
    }
}

/// Sorts items, which ascend, the most bytes first.
fn sort_by_size(problem: &Problem, items: &mut [u32], meter: &Meter<'_, '_>) -> Result<(), Stop> {
    let size = |item: u32| [problem.items[item as usize].size, 0, 0, 0];
    sort_descending(items, &size, &mut meter.pace())
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
        for (i, (item, &start)) in (0..).zip(problem.items.iter().zip(&offsets)) {
            let end = start + item.size; // It was placed, so its end is an address.
            placement.peak = placement.peak.max(end);
            if limit.is_some() && problem.usage(i) == Usage::Collective {
                if end <= region_end {
                    real_end = real_end.max(end);
                } else {
                    placement.outside_region.push(i);
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
    use crate::place::promising::is_promising;
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

    fn free(problem: &Problem, strategy: Strategy) -> std::result::Result<Solved, Unsolved> {
        solve(problem, strategy, None, &mut Control::default())
    }

    #[test]
    fn without_a_budget_the_goal_is_enough_and_nothing_is_above_it_that_a_search_would_have_found()
    {
        let (mut imitated, mut searched, mut waited) = (0, 0, 0);
        for_each_seed(0..600, |u| {
            let problem = Problem {
                runtime_page: 0,
                ..testing::problem(u)?
            };
            let strategy = *u.choose(&[Strategy::Reference, Strategy::Fast])?;
            let Ok(before) = free(&problem, strategy) else {
                return Ok(());
            };
            let mut starts = hint(u, &before.placement.offsets)?;
            if u.ratio(1, 4)? {
                // Most of it is new.
                starts.iter_mut().step_by(2).for_each(|start| *start = None);
            }
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
            let broken = testing::violations(&problem, &warm.placement);
            assert_eq!(broken, Vec::<String>::new(), "{strategy} {problem:?}");
            let [_, goal] = goals(&problem, warm.bound, strategy);
            assert!(goal - warm.bound <= waste.max((warm.bound - problem.floor) / SLACK));
            let cold = cold.map_or(u64::MAX, |cold| cold.placement.peak);
            assert!(warm.placement.peak <= goal.max(cold), "{problem:?}");
            imitated += usize::from(warm.placement.peak > cold.min(warm.bound));
            searched += usize::from(warm.placement.peak > goal);
            waited += usize::from(Warm::serves(&problem) && !is_promising(&problem, goal));
            Ok(())
        });
        assert!(
            imitated > 0 && searched > 0 && waited > 0,
            "{imitated} {searched} {waited}"
        );
    }

    #[test]
    fn what_promises_nothing_is_fitted_if_the_search_does_not_reach_the_goal() {
        // The pieces of a pinwheel, side by side in time: they fit in 6 bytes, first fit takes 8.
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for i in 0..8 {
            for (size, first, last, start) in [
                (2, 0, 2, 4),
                (4, 3, 5, 0),
                (2, 2, 5, 6),
                (4, 0, 1, 0),
                (2, 2, 2, 2), // First fit puts it at 0.
            ] {
                testing::add_item(&mut problem, size, &[(10 * i + first, 10 * i + last)]);
                problem.hint.starts.push(Some(start));
            }
        }
        problem.hint.waste = 2;
        let [_, goal] = goals(&problem, 6, Strategy::Reference);
        assert_eq!(goal, 7, "a quarter of the bound is the most");
        assert!(!is_promising(&problem, goal));
        let solved = free(&problem, Strategy::Reference).expect("no ceiling");
        let kept = Kept::of(&problem, &solved.placement.offsets);
        assert_eq!((solved.placement.peak, kept.moved), (8, 0));
    }

    #[test]
    fn nothing_is_searched_for_once_the_goal_is_reached() {
        let mut reached = 0;
        for_each_seed(0..300, |u| {
            let mut problem = Problem {
                runtime_page: 0,
                ..testing::problem(u)?
            };
            if problem.items.is_empty() {
                return Ok(());
            }
            let waste = u.int_in_range(0..=8)? * 4096;
            problem.hint = Hint {
                starts: vec![None; problem.items.len()],
                keep: 0,
                waste,
            };
            problem.hint.starts[0] = Some(0);
            let mut found = Vec::new();
            let mut tell = |progress: &crate::control::Progress| found.push(progress.incumbent);
            let mut control = Control {
                progress: Some(&mut tell),
                ..Control::default()
            };
            let Ok(solved) = solve(&problem, Strategy::Fast, None, &mut control) else {
                return Ok(());
            };
            let [_, goal] = goals(&problem, solved.bound, Strategy::Fast);
            let enough = found.iter().filter(|&&peak| peak <= goal).count();
            assert!(enough <= 1, "{found:?} {goal} {problem:?}");
            reached += usize::from(enough == 1 && solved.placement.peak > solved.bound);
            Ok(())
        });
        assert!(reached > 0);
    }

    #[test]
    fn a_goal_above_the_ceiling_is_the_ceiling() {
        let mut problem = Problem {
            ceiling: 18,
            granule: 1,
            ..Problem::default()
        };
        // Side by side in time, they fit in 16 bytes; the hint has the last one above the ceiling.
        for (size, life) in [(8, (0, 4)), (8, (5, 9)), (8, (2, 7))] {
            testing::add_item(&mut problem, size, &[life]);
        }
        problem.hint.starts = vec![Some(0), Some(4), Some(12)];
        problem.hint.waste = 100;
        let [_, goal] = goals(&problem, 16, Strategy::Fast);
        assert_eq!(goal, 18);
        let solved = free(&problem, Strategy::Fast).expect("it fits");
        assert!(solved.placement.peak <= 18, "{solved:?}");
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
            free(&problem, Strategy::Fast)
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
        let solved = free(&far, Strategy::Fast);
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
