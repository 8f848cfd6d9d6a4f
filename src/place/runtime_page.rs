//! The runtime's page: no straddling first, height second. // P7
//!
//! Where memory is handed out in pages, an item that reaches from one page into the next costs the
//! device a copy of its own size. So placements are compared by the bytes of those copies, and only
//! then by their peaks.
//!
//! An item larger than a page straddles wherever it lies; the sum of these is what every placement
//! costs. As long as nothing else straddles, the rule is one on starts, like that of packed mode:
//! an item lies within a page. First fit under this rule needs more room, so where there is a
//! ceiling it may fail; then it lets an item straddle as a last resort, and if not even that helps,
//! for the gaps before the borders are lost, it forgets the rule. Where no order finds room at all,
//! what `fast` does without a page comes last. Thus whatever fits without a runtime's page fits with
//! one.
//!
//! Strategy `best` goes on with searches that know nothing of costs: each is told which items may
//! straddle, and looks for any placement, or for one with a lower peak. First none may; then only
//! smaller ones than those that do, then all but one of these; then sets of items, the cheapest
//! first, which finds the least where the searches are exact.
//!
//! These goals share the steps. Where only the time is limited, they do so in rounds, each of twice
//! as many steps as the one before; the first is as long as a run without a budget. So no goal that
//! is out of reach keeps the others waiting for ever, and what a round does again is at most half
//! of it. A goal that is the last one left has no rounds: it gets all the time there is.

use super::first_fit::{Others, failure, first_fit_in_tiles};
use super::improve::{Knowledge, improve, quick_orders};
use super::meter::{Meter, Stop};
use super::prepared::{Prepared, Straddling};
use super::search::{self, choices};
use super::subsets::Subsets;
use super::{Placement, Problem, Solved, Unsolved};
use crate::options::Strategy;
use crate::order::reference_unless;
use crate::plan::Status;
use crate::sorting::CompactSort as _;

/// Sets of items of one cost that may straddle: so many are looked at for the lowest peak, out of
/// so many sets in all.
const SETS_OF_ONE_COST: usize = 16;
const SETS: usize = 1 << 12;

/// Runs a strategy on a problem with a runtime's page; `bound` is one of the peak. Where the meter
/// has no end, `first_round` says after how many steps the first round ends.
pub(super) fn solve(
    whole: &Problem,
    strategy: Strategy,
    bound: u64,
    first_round: u64,
    meter: Meter<'_, '_>,
) -> Result<Solved, Unsolved> {
    // Above the last region there is nothing; the searches want to know where the end is.
    let regions = whole.regions.iter();
    let end = regions.map(|r| r.base.saturating_add(r.size)).max();
    let clipped = end.filter(|&end| end < whole.ceiling).map(|end| Problem {
        ceiling: end,
        ..whole.clone()
    });
    let problem = clipped.as_ref().unwrap_or(whole);
    let prepared = Prepared::unless(problem, &mut meter.pace())?;
    let mut search = Search {
        whole,
        least: problem.least_private_bytes(),
        prepared,
        bound,
        meter,
        round: first_round,
        end: 0,
        best: None,
        is_least: false,
        failed: None,
    };
    search.report();
    let stopped = search.run(strategy).err();
    search.finish(stopped)
}

/// A placement and what its copies cost.
struct Scored {
    private: u128,
    placement: Placement,
}

/// What a search of `best` looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// Any placement.
    Any,
    /// One with a lower peak than the best.
    Lower,
}

/// A search under way.
struct Search<'p, 'c, 'h> {
    /// The problem as it was given.
    whole: &'p Problem,
    /// With nothing above its last region.
    prepared: Prepared<'p>,
    /// No placement with as few private bytes as the best has a lower peak.
    bound: u64,
    /// The private bytes of every placement.
    least: u128,
    meter: Meter<'c, 'h>,
    /// The steps of the round, if the meter has no end.
    round: u64,
    /// What the meter has counted when the round is over.
    end: u64,
    best: Option<Scored>,
    /// Whether no placement has fewer private bytes than the best.
    is_least: bool,
    /// How the first order failed, if it did.
    failed: Option<Unsolved>,
}

impl Search<'_, '_, '_> {
    fn run(&mut self, strategy: Strategy) -> Result<(), Stop> {
        let problem = self.prepared.problem;
        let reference = reference_unless(problem, &mut self.meter.pace())?;
        for &others in choices(problem, strategy) {
            self.try_order(&reference, others, strategy)?;
            if self.done() {
                return Ok(());
            }
        }
        if strategy == Strategy::Reference {
            return Ok(());
        }
        for order in quick_orders(&self.prepared, &mut self.meter)? {
            self.try_order(&order, Others::Anywhere, strategy)?;
            if self.done() {
                return Ok(());
            }
        }
        if self.best.is_none() {
            self.ignore_pages()?;
        }
        match strategy {
            Strategy::Reference | Strategy::Fast => Ok(()),
            Strategy::Best => self.improve(),
        }
    }

    /// What strategy `fast` does without a runtime's page: it may find room where no order does.
    fn ignore_pages(&mut self) -> Result<(), Stop> {
        let pageless = Problem {
            runtime_page: 0,
            ..self.whole.clone()
        };
        match search::for_peak(&pageless, Strategy::Fast, false, &mut self.meter) {
            Ok(solved) => self.keep(solved.placement),
            Err(Unsolved::NoRoom { .. }) => (),
            Err(Unsolved::Cancelled) => return Err(Stop::Cancelled),
            Err(Unsolved::DeadlineExceeded) => return Err(Stop::OutOfBudget),
        }
        Ok(())
    }

    fn try_order(&mut self, order: &[u32], others: Others, strategy: Strategy) -> Result<(), Stop> {
        let ceiling = self.ceiling();
        if self.settled() {
            let below_best = self
                .best
                .as_ref()
                .map_or(u64::MAX, |b| b.placement.peak - 1);
            let ceiling = ceiling.min(below_best);
            return self.place(Straddling::Refused, order, others, ceiling);
        }
        self.place(Straddling::LastResort, order, others, ceiling)?;
        let thorough = strategy != Strategy::Reference;
        // Collective items that straddle may find better room outside their region. // P5
        if thorough && !self.settled() && self.prepared.problem.collective_limit.is_some() {
            self.place(Straddling::Refused, order, others, ceiling)?;
        }
        if self.best.is_none() || thorough && !self.settled() {
            self.place(Straddling::Free, order, others, ceiling)?;
        }
        Ok(())
    }

    /// One first fit.
    fn place(
        &mut self,
        straddling: Straddling,
        order: &[u32],
        others: Others,
        ceiling: u64,
    ) -> Result<(), Stop> {
        let last = straddling == Straddling::Free;
        self.prepared.straddling = straddling;
        let (prepared, meter) = (&self.prepared, &mut self.meter);
        let pass = first_fit_in_tiles(prepared, order, others, ceiling, 0, meter)?;
        let has_failed = last && !pass.failed.is_empty();
        if has_failed && self.best.is_none() && self.failed.is_none() {
            let (item, offsets) = failure(pass, order, others, ceiling, meter)?;
            self.failed = Some(Unsolved::NoRoom {
                item,
                offsets,
                bound: self.bound, // Of the load alone; what may straddle is not in it.
            });
        } else if let Some(placement) = pass.placement() {
            self.keep(placement);
        }
        self.report();
        Ok(())
    }

    fn keep(&mut self, placement: Placement) {
        let private = self.prepared.problem.private_bytes(&placement.offsets);
        let better = self
            .best
            .as_ref()
            .is_none_or(|best| (private, placement.peak) < (best.private, best.placement.peak));
        if better {
            self.best = Some(Scored { private, placement });
        }
    }

    fn report(&mut self) {
        let peak = self.best.as_ref().map(|best| best.placement.peak);
        self.meter.tell(self.bound, peak);
    }

    /// Whether nothing straddles that need not.
    fn settled(&self) -> bool {
        self.cost() == Some(0)
    }

    /// The bytes of those that straddle and need not.
    fn cost(&self) -> Option<u128> {
        Some(self.best.as_ref()?.private - self.least)
    }

    /// Whether nothing better can come.
    fn done(&self) -> bool {
        let at_bound = |best: &Scored| best.placement.peak <= self.bound;
        self.settled() && self.best.as_ref().is_some_and(at_bound) || self.ceiling() < self.bound
    }

    /// What strategy `best` does after the orders of `fast`: one round of the steps that are left,
    /// or rounds until the time is up or nothing better can come.
    fn improve(&mut self) -> Result<(), Stop> {
        let left = self.meter.left();
        self.end = left.map_or(self.round, |left| self.meter.done() + left);
        loop {
            if !self.settled() && !self.is_least {
                self.straddle_less()?;
            }
            if self.best.is_none() && !self.done() {
                self.attempt(Straddling::Free, Goal::Any, self.left())?;
            }
            let decided = match self.best {
                Some(_) => self.lower()?,
                None => self.done(),
            };
            if decided || left.is_some() {
                return Ok(());
            }
            self.round = self.round.saturating_mul(2);
            self.end = self.meter.done().saturating_add(self.round);
        }
    }

    /// Steps that are left of the round.
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.meter.done())
    }

    /// Looks for placements with fewer private bytes, for most of the steps that are left.
    fn straddle_less(&mut self) -> Result<(), Stop> {
        let reserve = self.left() / 4;
        let bound = self.attempt(Straddling::Refused, Goal::Any, self.left() / 2)?;
        let mut decided = bound > self.ceiling();
        if self.best.is_none() {
            self.attempt(Straddling::Free, Goal::Any, self.left() / 2)?;
        }
        if self.done() {
            return Ok(());
        }
        self.shrink_straddlers(reserve)?;
        self.drop_straddlers(reserve)?;
        let items = self.confinable();
        let sizes: Vec<u64> = items.iter().map(|&item| self.size(item)).collect();
        for (cost, subset) in Subsets::new(&sizes) {
            if self.cost().is_some_and(|best| cost >= best) {
                break;
            }
            if self.left() <= reserve {
                return Ok(());
            }
            let marked = self.marked(subset.iter().map(|&at| items[at]));
            let bound = self.attempt(marked, Goal::Any, self.left() / 16)?;
            decided &= bound > self.ceiling() || self.cost() == Some(cost);
        }
        self.is_least = decided;
        Ok(())
    }

    /// Lets only items straddle that are half as large as the largest that does, and so on.
    fn shrink_straddlers(&mut self, reserve: u64) -> Result<(), Stop> {
        let mut cost = self.cost().map(|cost| cost + 1);
        while self.cost() < cost && self.left() > reserve {
            cost = self.cost();
            let Some(&largest) = self.straddlers().last() else {
                break;
            };
            let half = self.size(largest) / 2;
            let mut small = self.confinable();
            small.retain(|&item| self.size(item) <= half);
            let marked = self.marked(small.into_iter());
            self.attempt(marked, Goal::Any, self.left() / 16)?;
        }
        Ok(())
    }

    /// Takes the straddlers away one by one, the largest first.
    fn drop_straddlers(&mut self, reserve: u64) -> Result<(), Stop> {
        let mut straddlers = self.straddlers();
        let mut next = straddlers.len();
        while next > 0 && straddlers.len() > 1 && self.left() > reserve {
            next -= 1;
            let before = self.cost();
            let without = straddlers[next];
            let others = straddlers.iter().copied().filter(|&item| item != without);
            let marked = self.marked(others);
            self.attempt(marked, Goal::Any, self.left() / 16)?;
            if self.cost() < before {
                straddlers = self.straddlers();
                next = straddlers.len();
            }
        }
        Ok(())
    }

    /// Looks for lower peaks at the same private bytes. Whether nothing better can come.
    fn lower(&mut self) -> Result<bool, Stop> {
        let Some(cost) = self.cost().filter(|&cost| cost > 0) else {
            self.attempt(Straddling::Refused, Goal::Lower, u64::MAX)?;
            return Ok(true);
        };
        let items = self.confinable();
        let sizes: Vec<u64> = items.iter().map(|&item| self.size(item)).collect();
        let mut sets = vec![self.straddlers()];
        let (mut decided, mut of_cost) = (self.is_least, 0);
        for (at, (sum, subset)) in Subsets::new(&sizes).enumerate() {
            if sum > cost {
                break;
            }
            if at == SETS || of_cost == SETS_OF_ONE_COST {
                decided = false;
                break;
            }
            if sum == cost {
                of_cost += 1;
                let set: Vec<u32> = subset.iter().map(|&at| items[at]).collect();
                if set != sets[0] {
                    sets.push(set);
                }
            }
        }
        for (i, set) in sets.iter().enumerate() {
            let marked = self.marked(set.iter().copied());
            let share = self.left() / (sets.len() - i) as u64;
            let bound = self.attempt(marked, Goal::Lower, share)?;
            let best = self.best.as_ref();
            decided &= best.is_some_and(|best| bound >= best.placement.peak);
        }
        Ok(decided)
    }

    fn ceiling(&self) -> u64 {
        self.prepared.problem.ceiling
    }

    fn size(&self, item: u32) -> u64 {
        self.prepared.problem.items[item as usize].size
    }

    /// The items that need not straddle, the smallest first.
    fn confinable(&self) -> Vec<u32> {
        let problem = self.prepared.problem;
        let mut items: Vec<u32> = (0..problem.items.len() as u32)
            .filter(|&item| self.size(item) <= problem.runtime_page)
            .collect();
        items.sort_compact_by_key(|&item| (self.size(item), item));
        items
    }

    /// Those of them that straddle in the best placement.
    fn straddlers(&self) -> Vec<u32> {
        let Some(best) = &self.best else {
            return Vec::new();
        };
        let mut items = self.confinable();
        let offsets = &best.placement.offsets;
        items.retain(|&item| {
            self.prepared
                .problem
                .straddles(item, offsets[item as usize])
        });
        items
    }

    fn marked(&self, items: impl Iterator<Item = u32>) -> Straddling {
        let mut marked = vec![false; self.prepared.problem.items.len()];
        items.for_each(|item| marked[item as usize] = true);
        Straddling::Marked(marked)
    }

    /// A search for at most so many steps among the placements in which only certain items
    /// straddle. Returns a bound of their peaks; if any will do, one above the ceiling says that
    /// there are none.
    fn attempt(&mut self, straddling: Straddling, goal: Goal, steps: u64) -> Result<u64, Stop> {
        if steps == 0 {
            return Ok(0);
        }
        let of_all = straddling == Straddling::Free;
        let of_settled = goal == Goal::Lower && straddling == Straddling::Refused;
        self.prepared.straddling = straddling;
        let mut knowledge = match (goal, &self.best) {
            (Goal::Lower, Some(best)) => Knowledge {
                goal: None,
                bound: self.bound,
                best: Some(best.placement.clone()),
            },
            _ => Knowledge {
                goal: None,
                // Whatever is found is as good as can be.
                bound: self.ceiling(),
                best: None,
            },
        };
        let mut part = self.meter.part(steps);
        // Why it stopped is told by the whole meter.
        let _ = improve(&self.prepared, &mut knowledge, &mut part);
        let used = part.done() - self.meter.done();
        let bound = knowledge.bound;
        if let Some(placement) = knowledge.best {
            self.keep(placement);
        }
        if of_settled || of_all && bound > self.ceiling() {
            self.bound = bound;
        }
        self.report();
        self.meter.charge(used)?;
        Ok(bound)
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Solved, Unsolved> {
        let optimal =
            self.settled() && self.best.as_ref().map(|b| b.placement.peak) == Some(self.bound);
        if let Some(Scored { placement, .. }) = self.best {
            return Ok(Solved {
                placement,
                bound: self.bound,
                status: if optimal {
                    Status::Optimal
                } else {
                    Status::Feasible
                },
            });
        }
        if let Some(stop) = stopped {
            return Err(stop.into());
        }
        let mut failed = self.failed.expect("an order was tried, and it failed");
        if let Unsolved::NoRoom { bound, .. } = &mut failed {
            *bound = self.bound; // It may have been proven that there is none. // S3
        }
        Err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Control, Progress};
    use crate::ir::{Usage, UsageMask, overlap};
    use crate::place::{Region, solve, testing};
    use arbitrary::{Result, Unstructured};
    use std::cell::Cell;
    use std::time::Duration;

    /// Placements of a tiny problem by enumeration.
    struct Enumeration<'p> {
        problem: &'p Problem,
        grain: u64,
        starts: Vec<u64>,
        best: Option<(u128, u64)>,
    }

    impl Enumeration<'_> {
        /// The least private bytes, and the least peak at these.
        fn optimum(problem: &Problem, grain: u64) -> Option<(u128, u64)> {
            let mut all = Enumeration {
                problem,
                grain,
                starts: Vec::new(),
                best: None,
            };
            all.go_on(0, problem.floor);
            all.best
        }

        fn go_on(&mut self, private: u128, peak: u64) {
            if self.best.is_some_and(|best| best <= (private, peak)) {
                return;
            }
            let i = self.starts.len();
            let Some(&item) = self.problem.items.get(i) else {
                self.best = Some((private, peak));
                return;
            };
            let page = self.problem.runtime_page;
            let mut start = self.problem.floor.next_multiple_of(self.grain);
            while start + item.size <= self.problem.ceiling {
                if self.is_free(i, start) {
                    let copy = if start % page + item.size > page {
                        item.size
                    } else {
                        0
                    };
                    self.starts.push(start);
                    self.go_on(private + u128::from(copy), peak.max(start + item.size));
                    self.starts.pop();
                }
                start += self.grain;
            }
        }

        fn is_free(&self, i: usize, start: u64) -> bool {
            let problem = self.problem;
            let item = &problem.items[i];
            let end = start + item.size;
            let meets = |from: u64, to: u64| from < end && start < to;
            let inside = |r: &Region| {
                r.usages.contains(problem.usage(i as u32))
                    && r.base <= start
                    && end <= r.base + r.size
            };
            start.is_multiple_of(item.align)
                && (problem.regions.is_empty() || problem.regions.iter().any(inside))
                && self.starts.iter().enumerate().all(|(j, &other)| {
                    !meets(other, other + problem.items[j].size) || !problem.lives.overlap(i, j)
                })
                && problem.pins.iter().enumerate().all(|(j, pin)| {
                    !meets(pin.start, pin.end)
                        || !overlap(problem.lives.of(i), problem.pin_lives.of(j))
                })
        }
    }

    /// A few items around small pages, under a ceiling that is often too low for all of them to
    /// keep within pages; and the bytes of its grain.
    fn tiny(u: &mut Unstructured<'_>) -> Result<(Problem, u64)> {
        let grain = *u.choose(&[1, 3, 4096])?;
        let mut problem = Problem {
            granule: 1,
            runtime_page: grain * u.int_in_range(2..=5)?,
            floor: grain * *u.choose(&[0, 0, 1, 2])?,
            ..Problem::default()
        };
        problem.ceiling = problem.floor + grain * u.int_in_range(4..=11)?;
        for i in 0..u.int_in_range(1..=5)? {
            let first = u.int_in_range(0..=4)?;
            let last = first + u.int_in_range(0..=4)?;
            let mut life = vec![(first, last)];
            if u.ratio(1, 4)? {
                life.push((last + 2, last + 3));
            }
            testing::add_item(&mut problem, grain * u.int_in_range(1..=5)?, &life);
            let item = problem.items.last_mut().expect("just added");
            item.align = grain * *u.choose(&[1, 1, 1, 2, 3])?;
            let usage = *u.choose(&[Usage::Internal, Usage::Internal, Usage::Output])?;
            problem.set_usage(i, usage);
        }
        if u.ratio(1, 3)? {
            let start = problem.floor + grain * u.int_in_range(0..=6)?;
            let first = u.int_in_range(0..=4)?;
            testing::add_pin(&mut problem, start, start + grain, &[(first, first + 2)]);
        }
        if u.ratio(1, 4)? {
            let middle = problem.floor + grain * u.int_in_range(2..=6)?;
            let mask = UsageMask(1 << Usage::Internal as u32);
            problem.regions = vec![
                Region {
                    base: 0,
                    size: middle,
                    usages: mask,
                },
                Region {
                    base: middle,
                    size: grain * 9,
                    usages: UsageMask::ALL,
                },
            ];
        }
        Ok((problem, grain))
    }

    /// What a run ends with, the steps after which it says something for the last time, and how
    /// often it looks at the clock, which counts its looks.
    struct Run {
        solved: std::result::Result<Solved, Unsolved>,
        steps: u64,
        looks: u64,
    }

    /// Strategy `best` with so many steps or without end, in which case this is the first round, as
    /// long as the clock has been looked at no more often than so.
    fn timed(problem: &Problem, budget: Option<u64>, first_round: u64, looks: u64) -> Run {
        let (seen, steps) = (Cell::new(0), Cell::new(0));
        let elapsed = || {
            seen.set(seen.get() + 1);
            Duration::from_nanos(seen.get())
        };
        let mut tell = |progress: &Progress| steps.set(progress.done);
        let mut control = Control {
            elapsed: Some(&elapsed),
            deadline: Some(Duration::from_nanos(looks)),
            progress: Some(&mut tell),
            ..Control::default()
        };
        let meter = Meter::new(&mut control, budget);
        let bound = crate::place::lower_bound(problem);
        let solved = super::solve(problem, Strategy::Best, bound, first_round, meter);
        Run {
            solved,
            steps: steps.get(),
            looks: seen.get(),
        }
    }

    #[test]
    fn with_time_alone_best_goes_on_as_long_as_the_clock_says_and_never_ends_worse() {
        let (mut went_on, mut gained, mut ended) = (0, 0, 0);
        crate::testing::for_each_seed(0..150, |u| {
            let mut problem = testing::problem(u)?;
            let grain = if problem.no_straddle { 4096 } else { 1 };
            let largest = problem.items.iter().map(|item| item.size).max();
            let Some(largest) = largest else {
                return Ok(());
            };
            problem.runtime_page = (largest / u.int_in_range(1..=2)?).next_multiple_of(grain);
            if problem.ceiling == u64::MAX {
                let bound = crate::place::lower_bound(&problem);
                problem.ceiling = bound + (bound - problem.floor) / 8;
            }
            let steps = 64 * problem.items.len() as u64 + 500;
            let fixed = timed(&problem, Some(steps), steps, u64::MAX);
            for factor in [1, 8] {
                let looks = factor * fixed.looks;
                let long = timed(&problem, None, steps, looks);
                assert!(long.looks <= looks + 12, "{} of {looks}", long.looks);
                if let Ok(fixed) = &fixed.solved {
                    let solved = long.solved.as_ref().expect("what is found is kept");
                    let broken = testing::violations(&problem, &solved.placement);
                    assert_eq!(broken, Vec::<String>::new());
                    let values = (value(&problem, solved), value(&problem, fixed));
                    assert!(values.0 <= values.1, "{factor} {problem:?}");
                    gained += usize::from(values.0 < values.1);
                }
                if long.looks >= looks {
                    went_on += usize::from(long.steps > 2 * steps);
                } else {
                    ended += 1;
                }
            }
            Ok(())
        });
        let counted = (went_on > 20, gained > 0, ended > 20);
        assert_eq!(counted, (true, true, true), "{went_on} {gained} {ended}");
    }

    #[test]
    fn with_time_alone_best_ends_where_nothing_better_can_come() {
        let (mut straddling, mut none) = (0, 0);
        arbtest::arbtest(|u| {
            let (problem, grain) = tiny(u)?;
            let want = Enumeration::optimum(&problem, grain);
            let first_round = 1 << 22;
            let long = timed(&problem, None, first_round, u64::MAX);
            let got = long.solved.as_ref().ok();
            assert_eq!(
                got.map(|solved| value(&problem, solved)),
                want,
                "{problem:?}"
            );
            // All that a round has to do is done; none comes after it.
            let once = timed(&problem, Some(first_round), 0, u64::MAX);
            assert_eq!((&long.solved, long.steps), (&once.solved, once.steps));
            let least = problem.least_private_bytes();
            straddling += u32::from(want.is_some_and(|(private, _)| private > least));
            if let Err(Unsolved::NoRoom { bound, .. }) = long.solved {
                assert!(bound > problem.ceiling, "it is proven: {problem:?}");
                none += 1;
            }
            Ok(())
        })
        .budget_ms(3_000);
        assert!(straddling > 0 && none > 0, "{straddling} {none}");
    }

    fn value(problem: &Problem, solved: &Solved) -> (u128, u64) {
        let private = problem.private_bytes(&solved.placement.offsets);
        (private, solved.placement.peak)
    }

    #[test]
    fn best_finds_the_optimum_of_enumeration() {
        let (mut straddling, mut placed) = (0, 0);
        arbtest::arbtest(|u| {
            let (problem, grain) = tiny(u)?;
            let want = Enumeration::optimum(&problem, grain);
            let solved = solve(&problem, Strategy::Best, None, &mut Control::default());
            let got = solved.as_ref().ok().map(|solved| value(&problem, solved));
            assert_eq!(got, want, "{problem:?}");
            if let Ok(solved) = solved {
                let least = problem.least_private_bytes();
                let broken = testing::violations(&problem, &solved.placement);
                assert_eq!(broken, Vec::<String>::new());
                let (private, peak) = value(&problem, &solved);
                let optimal = private == least && peak == solved.bound;
                assert_eq!(solved.status == Status::Optimal, optimal);
                // With the least private bytes the peak of an exact search is always proven.
                assert_eq!(optimal, private == least, "{problem:?}");
                straddling += u32::from(private > least);
                placed += 1;
            }
            Ok(())
        })
        .budget_ms(3_000);
        assert!(straddling * 20 > placed, "{straddling} of {placed}");
    }

    #[test]
    fn what_fits_without_pages_fits_with_them() {
        arbtest::arbtest(|u| {
            let mut problem = testing::problem(u)?;
            let grain = if problem.no_straddle { 4096 } else { 1 };
            problem.runtime_page = grain * u.int_in_range(1..=30)?;
            let without = Problem {
                runtime_page: 0,
                ..problem.clone()
            };
            for strategy in [Strategy::Reference, Strategy::Fast] {
                let run = |problem| solve(problem, strategy, None, &mut Control::default());
                match (run(&problem), run(&without)) {
                    (with, Err(failed)) => {
                        // Nor does it fail in another way.
                        if let Err(with) = with {
                            assert_eq!(with, failed);
                        }
                    }
                    (Ok(with), Ok(_)) => {
                        let broken = testing::violations(&problem, &with.placement);
                        assert_eq!(broken, Vec::<String>::new());
                    }
                    (Err(with), Ok(_)) => panic!("{strategy}: {with:?} {problem:?}"),
                }
            }
            Ok(())
        });
    }

    #[test]
    fn a_page_above_everything_changes_no_first_fit() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let without = Problem {
                runtime_page: 0,
                ..problem
            };
            let with = Problem {
                runtime_page: 1 << 62,
                ..without.clone()
            };
            let run = |problem| solve(problem, Strategy::Reference, None, &mut Control::default());
            assert_eq!(run(&with), run(&without));
            Ok(())
        });
    }

    //  page 8, ceiling 12          ceiling 16
    //  12 |  +-c-+                 16 |  +---+
    //   8 |  +---+--b (astride)     8 |  +-a-+-b--+-c-+
    //     |  a                      0 |
    #[test]
    fn an_item_straddles_only_where_the_ceiling_leaves_no_other_way() {
        let mut problem = Problem {
            runtime_page: 8,
            granule: 1,
            ceiling: 12,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 6, &[(0, 3)]);
        testing::add_item(&mut problem, 4, &[(0, 3)]);
        for strategy in [Strategy::Reference, Strategy::Fast, Strategy::Best] {
            let run = |problem: &Problem| {
                let solved = solve(problem, strategy, None, &mut Control::default());
                solved.map(|solved| (value(problem, &solved), solved.status))
            };
            assert_eq!(
                run(&problem).map(|(value, _)| value),
                Ok((0, 12)),
                "{strategy}"
            );
            problem.ceiling = 11;
            let (value, status) = run(&problem).expect("4 bytes may straddle");
            assert_eq!((value.1, status), (10, Status::Feasible));
            assert!(value.0 == 4 || strategy == Strategy::Reference && value.0 == 6);
            problem.ceiling = 12;
        }
    }

    #[test]
    fn the_cheapest_set_of_straddlers_need_not_be_part_of_a_dearer_one() {
        let mut problem = Problem {
            runtime_page: 5,
            granule: 1,
            ceiling: 10,
            ..Problem::default()
        };
        for (size, align, life) in [
            (4, 3, (3, 6)),
            (3, 3, (3, 4)),
            (2, 1, (0, 4)),
            (5, 3, (0, 0)),
        ] {
            testing::add_item(&mut problem, size, &[life]);
            problem.items.last_mut().expect("just added").align = align;
        }
        assert_eq!(Enumeration::optimum(&problem, 1), Some((4, 9)));
        let solved = solve(&problem, Strategy::Best, None, &mut Control::default());
        assert_eq!(solved.map(|solved| value(&problem, &solved)), Ok((4, 9)));
    }

    //  page 8, region below 12, a pin below 4
    //  14 |  +---+
    //   8 |  +-c-+ fast: no copy, but outside
    //  10 |  +---+
    //   4 |  +-c-+ reference: inside, astride 8
    #[test]
    fn a_collective_item_straddles_before_it_leaves_its_region_unless_that_is_cheaper() {
        let mut problem = Problem {
            runtime_page: 8,
            granule: 1,
            ceiling: u64::MAX,
            collective_limit: Some(12),
            ..Problem::default()
        };
        testing::add_item(&mut problem, 6, &[(0, 1)]);
        problem.set_usage(0, Usage::Collective);
        testing::add_pin(&mut problem, 0, 4, &[(0, 1)]);
        let run = |strategy| {
            let solved = solve(&problem, strategy, None, &mut Control::default());
            let placement = solved.expect("there is no ceiling").placement;
            (placement.offsets, placement.outside_region)
        };
        assert_eq!(run(Strategy::Reference), (vec![4], vec![]));
        assert_eq!(run(Strategy::Fast), (vec![8], vec![0]));
    }

    #[test]
    fn what_no_page_holds_costs_its_copy_and_can_still_be_optimal() {
        let mut problem = Problem {
            runtime_page: 8,
            granule: 1,
            ceiling: u64::MAX,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 20, &[(0, 3)]);
        testing::add_item(&mut problem, 4, &[(0, 3)]);
        for strategy in [Strategy::Reference, Strategy::Fast, Strategy::Best] {
            let solved = solve(&problem, strategy, None, &mut Control::default());
            let solved = solved.expect("there is no ceiling");
            assert_eq!(value(&problem, &solved), (20, 24), "{strategy}");
            assert_eq!(solved.status, Status::Optimal);
        }
    }
}
