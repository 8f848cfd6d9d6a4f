//! From a problem to the best placement its strategy finds. // S

use super::Problem;
use super::bound::{lower_bound_of_points, lower_bound_unless};
use super::first_fit::{Others, failure, first_fit_in_tiles};
use super::improve::{Improver, Knowledge, Profile};
use super::meter::{Meter, Stop};
use super::prepared::Prepared;
use super::runtime_page;
use super::warm::{self, Warm};
use crate::control::Control;
use crate::options::Strategy;
use crate::order::reference_unless;
use crate::plan::Status;

/// Where every item lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The first byte of each item, by dense id.
    pub offsets: Vec<u64>,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    /// The end of the collective items' bytes less the floor, rounded up to a page, if the space
    /// has a collective region. // P5
    pub collective_real: Option<u64>,
    /// Collective items that did not fit in the region. // P5
    pub outside_region: Vec<u32>,
}

/// A placement with what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solved {
    /// Where everything lies.
    pub placement: Placement,
    /// No placement has a lower peak; with a runtime page: none with as few private bytes. // P7
    pub bound: u64,
    /// Whether the peak is proven; with a runtime page also that nothing can straddle less. // P7
    pub status: Status,
}

/// Why there is no placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// An item found no room below the ceiling; the partial placement at that moment.
    NoRoom {
        /// The item.
        item: u32,
        /// What was placed when it failed, by dense id.
        offsets: Vec<Option<u64>>,
        /// No placement has a lower peak: above the ceiling, it proves that there is none. // S3
        bound: u64,
    },
    /// The host cancelled before any placement was found.
    Cancelled,
    /// The budget ran out before any placement was found.
    DeadlineExceeded,
}

/// Steps that `best` takes unless the host says how many or how long, on top of what `fast` takes.
const BEST_STEPS: u64 = 1 << 22;

/// Runs a strategy.
///
/// `reference` is one order and first fit. `fast` tries a handful of other orders, some of them from
/// a short exact search of what is most crowded or of everything, and the reference order too
/// unless the bound is reached before. `best` does the same and goes on with whatever may still
/// help (see `improve`). So each is never above the one before it; under a budget of steps as well,
/// for then the reference order comes first. With a runtime page all of them look at straddling
/// first (see `runtime_page`). All stop at the bound. // S1, S2
///
/// A problem with a hint begins with that. Without a budget, a result as good as the earlier one was
/// is enough; else the result is the one of the least cost. See `warm`.
///
/// A step is one placement. A host that cancels or whose budget is used up gets the best placement
/// found so far.
pub fn solve(
    problem: &Problem,
    strategy: Strategy,
    budget_steps: Option<u64>,
    control: &mut Control<'_>,
) -> Result<Solved, Unsolved> {
    if problem.items.is_empty() {
        // Nothing is without a place, so there is nothing to stop. // C4
        return Ok(Solved {
            placement: Placement {
                peak: problem.floor,
                collective_real: problem.collective_limit.map(|_| 0),
                ..Placement::default()
            },
            bound: problem.floor,
            status: Status::Optimal,
        });
    }
    let budget = budget_steps.or_else(|| own_budget(problem, strategy, control));
    let mut meter = Meter::new(control, budget);
    meter.poll()?;
    meter.control().enter("bound");
    if problem.runtime_page > 0 {
        let bound = lower_bound_unless(problem, &mut meter.pace())?;
        return runtime_page::solve(problem, strategy, bound, own_steps(problem), meter);
    }
    for_peak(problem, strategy, budget_steps.is_some(), &mut meter)
}

/// The steps of a strategy whose host does not say how many. One that says how long gets all of
/// that.
fn own_budget(problem: &Problem, strategy: Strategy, control: &Control<'_>) -> Option<u64> {
    let is_bounded = strategy == Strategy::Best && control.deadline.is_none();
    is_bounded.then(|| own_steps(problem))
}

fn own_steps(problem: &Problem) -> u64 {
    BEST_STEPS + problem.items.len() as u64 * 64
}

/// Looks for the lowest peak, whatever the runtime's page. Under a limit on its steps the reference
/// order comes first.
pub(super) fn for_peak(
    problem: &Problem,
    strategy: Strategy,
    limited: bool,
    meter: &mut Meter<'_, '_>,
) -> Result<Solved, Unsolved> {
    let prepared = Prepared::unless(problem, &mut meter.pace())?;
    let loads = prepared.loads(&mut meter.pace())?;
    let bound = match lower_bound_of_points(problem, &loads) {
        Some(bound) => bound,
        None => lower_bound_unless(problem, &mut meter.pace())?,
    };
    meter.tell(bound, None);
    meter.poll()?;
    let mut search = Search {
        prepared: &prepared,
        loads,
        knowledge: Knowledge {
            bound,
            goal: None,
            best: None,
        },
        meter,
        warm: None,
        failed: None,
    };
    let mut stopped = search.run(strategy, limited).err();
    // Who has set no budget is told what there is no room for, not that one is used up. // P9
    let is_own = !limited && search.meter.control().deadline.is_none();
    if is_own && stopped == Some(Stop::OutOfBudget) && search.failed.is_some() {
        stopped = None;
    }
    search.finish(stopped)
}

/// Where the items that are no collective ones may lie in the reference order: what beats the
/// reference need not keep its rule of the collective region. // P5
pub(super) fn choices(problem: &Problem, strategy: Strategy) -> &'static [Others] {
    match problem.collective_limit {
        None => &[Others::Anywhere],
        Some(_) if strategy == Strategy::Reference => &[Others::Above],
        Some(_) => &[Others::Above, Others::Anywhere],
    }
}

/// A search under way.
struct Search<'p, 'm, 'c, 'h> {
    prepared: &'p Prepared<'p>,
    /// The bytes that are live at each point.
    loads: Vec<u64>,
    knowledge: Knowledge,
    meter: &'m mut Meter<'c, 'h>,
    /// What is made of the hint, if there is one.
    warm: Option<Warm>,
    /// How the reference order failed, if it did.
    failed: Option<Failed>,
}

impl Search<'_, '_, '_, '_> {
    fn run(&mut self, strategy: Strategy, limited: bool) -> Result<(), Stop> {
        // Below the bound there is no room, whatever the order.
        let hopeless = self.prepared.problem.ceiling < self.knowledge.bound;
        let alone = strategy == Strategy::Reference || hopeless;
        if !hopeless && self.hinted(strategy, limited)? {
            return Ok(());
        }
        if alone || limited {
            let (knowledge, meter) = (&mut self.knowledge, &mut *self.meter);
            self.failed = reference(self.prepared, strategy, knowledge, meter)?;
        }
        if alone {
            return Ok(());
        }
        let loads = std::mem::take(&mut self.loads);
        let profile = Profile::new(self.prepared, loads, self.meter)?;
        let (knowledge, meter) = (&mut self.knowledge, &mut *self.meter);
        let mut improver = Improver::new(self.prepared, &profile, knowledge, meter);
        improver.quick()?;
        if !limited && !improver.done() {
            let (knowledge, meter) = (&mut *improver.knowledge, &mut *improver.meter);
            let failed = reference(self.prepared, strategy, knowledge, meter)?;
            self.failed = self.failed.take().or(failed);
        }
        improver.short_exact()?;
        match strategy {
            Strategy::Best if !improver.done() => improver.go_on(),
            _ => Ok(()),
        }
    }

    /// Fits the hint, if there is one, and if that promises more than the search. Returns whether
    /// that is enough.
    fn hinted(&mut self, strategy: Strategy, limited: bool) -> Result<bool, Stop> {
        let problem = self.prepared.problem;
        if !Warm::serves(problem) {
            return Ok(false);
        }
        let warm = self.warm.insert(Warm::new(problem));
        let bound = self.knowledge.bound;
        // A budget is there to be used.
        let told = limited || self.meter.control().deadline.is_some();
        let goals = if told {
            [bound; 2]
        } else {
            let goals = warm::goals(problem, bound, strategy);
            self.knowledge.goal = Some(goals[1]);
            // `best` takes much longer than a fit, and begins from it.
            let may_wait =
                problem.hint.keep == 0 && strategy != Strategy::Best && goals[1] < problem.ceiling;
            if may_wait && !warm.is_promising(self.prepared, goals[1], self.meter)? {
                return Ok(false);
            }
            goals
        };
        let (best, enough) = warm.start(self.prepared, bound, goals, self.meter)?;
        if let Some(best) = best {
            self.knowledge.keep(best, problem, self.meter);
        }
        Ok(enough)
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Solved, Unsolved> {
        let bound = self.knowledge.bound;
        let found = self.knowledge.best;
        let best = match self.warm {
            Some(warm) => warm.into_best(self.prepared, found, self.meter),
            None => found,
        };
        if let Some(placement) = best {
            let optimal = placement.peak == bound;
            return Ok(Solved {
                status: if optimal {
                    Status::Optimal
                } else {
                    Status::Feasible
                },
                placement,
                bound,
            });
        }
        if let Some(stop) = stopped {
            return Err(stop.into());
        }
        let (item, offsets) = self
            .failed
            .expect("the reference order was tried, and it failed");
        Err(Unsolved::NoRoom {
            item,
            offsets,
            bound,
        })
    }
}

/// How an order fails: the item, and what had been placed.
type Failed = (u32, Vec<Option<u64>>);

/// Places by the reference order, below the best peak so far. Returns how that failed, if there is
/// no placement. // O1
fn reference(
    prepared: &Prepared<'_>,
    strategy: Strategy,
    knowledge: &mut Knowledge,
    meter: &mut Meter<'_, '_>,
) -> Result<Option<Failed>, Stop> {
    let problem = prepared.problem;
    meter.poll()?;
    let order = reference_unless(problem, &mut meter.pace())?;
    let mut failed = None;
    for &others in choices(problem, strategy) {
        let cap = knowledge.cap(problem);
        let pass = first_fit_in_tiles(prepared, &order, others, cap, 0, meter)?;
        let has_failed = !pass.failed.is_empty();
        if has_failed && knowledge.best.is_none() && failed.is_none() {
            failed = Some(failure(pass, &order, others, cap, meter)?);
        } else if let Some(placement) = pass.placement() {
            knowledge.keep(placement, problem, meter);
        }
        if knowledge.done(problem) {
            break;
        }
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::naive::{self, Outcome};
    use crate::place::prepared::Straddling;
    use crate::place::testing;
    use arbitrary::Unstructured;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn run(problem: &Problem, strategy: Strategy) -> Result<Solved, Unsolved> {
        solve(problem, strategy, Some(3_000), &mut Control::default())
    }

    #[test]
    fn without_a_budget_no_strategy_says_that_one_is_used_up() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        // Their sum is past all addresses, so that no bound says that they do not fit.
        testing::add_item(&mut problem, u64::MAX, &[(0, 8)]);
        testing::add_item(&mut problem, u64::MAX, &[(0, 8)]);
        for strategy in [Strategy::Reference, Strategy::Fast, Strategy::Best] {
            let got = solve(&problem, strategy, None, &mut Control::default());
            assert!(
                matches!(got, Err(Unsolved::NoRoom { item: 1, .. })),
                "{strategy}: {got:?}"
            );
        }
    }

    #[test]
    fn the_reference_is_its_order_and_first_fit() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let order = crate::order::reference(&problem);
            let naive = |straddling| {
                naive::first_fit(&problem, &order, Others::Above, problem.ceiling, straddling)
            };
            let want = match naive(&Straddling::LastResort) {
                Outcome::NoRoom { .. } => naive(&Straddling::Free),
                placed => placed,
            };
            match (run(&problem, Strategy::Reference), want) {
                (Ok(solved), Outcome::Placed(placement)) => {
                    assert_eq!(solved.placement, placement);
                }
                (
                    Err(Unsolved::NoRoom { item, offsets, .. }),
                    Outcome::NoRoom {
                        item: want,
                        offsets: partial,
                    },
                ) => {
                    assert_eq!((item, offsets), (want, partial));
                }
                (got, want) => panic!("{got:?} {want:?}"),
            }
            Ok(())
        });
    }

    #[test]
    fn a_longer_strategy_is_never_above_a_shorter_one_and_none_below_the_bound() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let mut last = (u128::MAX, u64::MAX);
            for strategy in [Strategy::Reference, Strategy::Fast, Strategy::Best] {
                let Ok(solved) = run(&problem, strategy) else {
                    assert_eq!(
                        last.1,
                        u64::MAX,
                        "{strategy} finds nothing, a shorter one did"
                    );
                    continue;
                };
                let peak = solved.placement.peak;
                let private = problem.private_bytes(&solved.placement.offsets);
                let value = (private, peak); // P7
                assert!(value <= last, "{strategy}: {value:?} above {last:?}");
                assert!(peak >= solved.bound && peak <= problem.ceiling);
                let proven = peak == solved.bound && private == problem.least_private_bytes();
                assert_eq!(solved.status == Status::Optimal, proven);
                let violations = testing::violations(&problem, &solved.placement);
                assert_eq!(violations, Vec::<String>::new(), "{strategy}");
                last = value;
            }
            Ok(())
        });
    }

    #[test]
    fn fast_is_not_above_first_fit_by_size_or_by_area() {
        crate::testing::for_each_seed(0..4_000, |u| {
            let problem = testing::problem(u)?;
            let fast = solve(&problem, Strategy::Fast, None, &mut Control::default());
            let life = |i: u32| problem.lives.of(i as usize).iter();
            let lasts = |i: u32| -> u128 {
                let points = life(i).map(|s| u128::from(s.last().0 - s.first().0) + 1);
                points.sum()
            };
            let size = |i: u32| u128::from(problem.items[i as usize].size);
            for by_area in [false, true] {
                let mut order: Vec<u32> = (0..problem.items.len() as u32).collect();
                order.sort_by_key(|&i| match by_area {
                    false => std::cmp::Reverse((size(i), lasts(i))),
                    true => std::cmp::Reverse((size(i) * lasts(i), size(i))),
                });
                let (ceiling, free) = (problem.ceiling, Straddling::Free);
                let simple = naive::first_fit(&problem, &order, Others::Anywhere, ceiling, &free);
                let Outcome::Placed(simple) = simple else {
                    continue;
                };
                let fast = fast.as_ref().expect("a simpler method found room");
                let value = |p: &Placement| (problem.private_bytes(&p.offsets), p.peak);
                assert!(value(&fast.placement) <= value(&simple), "{problem:?}");
            }
            Ok(())
        });
    }

    /// A rectangle of time and bytes cut into `count` pieces by straight cuts.
    fn pieces(u: &mut Unstructured<'_>, count: usize) -> arbitrary::Result<Problem> {
        let mut pieces = vec![(0, 29, 100)]; // The first and the last time, bytes.
        for _ in 0..4 * count {
            if pieces.len() == count {
                break;
            }
            let i = u.choose_index(pieces.len())?;
            let (first, last, size) = pieces[i];
            if u.arbitrary()? && first < last {
                let at = u.int_in_range(first..=last - 1)?;
                pieces[i] = (first, at, size);
                pieces.push((at + 1, last, size));
            } else if size > 1 {
                let at = u.int_in_range(1..=size - 1)?;
                pieces[i] = (first, last, at);
                pieces.push((first, last, size - at));
            }
        }
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for (first, last, size) in pieces {
            testing::add_item(&mut problem, size, &[(first, last)]);
        }
        Ok(problem)
    }

    #[test]
    fn fast_lays_back_nearly_always_what_was_cut_into_few_pieces() {
        let mut wasted = 0;
        crate::testing::for_each_seed(0..200, |u| {
            let problem = pieces(u, 30)?;
            let solved = solve(&problem, Strategy::Fast, None, &mut Control::default());
            let solved = solved.expect("there is no ceiling");
            let violations = testing::violations(&problem, &solved.placement);
            assert_eq!(violations, Vec::<String>::new());
            wasted += usize::from(solved.placement.peak > 100);
            Ok(())
        });
        assert!(wasted <= 4, "{wasted} of 200");
    }

    #[test]
    fn a_ceiling_below_the_bound_is_no_room() {
        let mut problem = Problem {
            ceiling: 11,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        testing::add_item(&mut problem, 4, &[(3, 5)]);
        for strategy in Strategy::ALL {
            let Err(Unsolved::NoRoom {
                item,
                offsets,
                bound,
            }) = run(&problem, *strategy)
            else {
                panic!("{strategy} finds room");
            };
            assert_eq!(offsets[item as usize], None);
            assert_eq!(bound, 12);
            assert_eq!(offsets.iter().flatten().count(), 1);
        }
        // One step for each of the two items, and no more to tell how it failed.
        let told = solve(
            &problem,
            Strategy::Reference,
            Some(2),
            &mut Control::default(),
        );
        assert!(matches!(told, Err(Unsolved::NoRoom { .. })), "{told:?}");
    }

    #[test]
    fn cancelled_or_out_of_steps_before_a_placement_says_so() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        testing::add_item(&mut problem, 8, &[(4, 9)]);
        let flag = AtomicBool::new(true);
        let mut control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        let strategy = Strategy::Fast;
        let cancelled = solve(&problem, strategy, None, &mut control);
        assert_eq!(cancelled, Err(Unsolved::Cancelled));
        let short = solve(&problem, strategy, Some(1), &mut Control::default());
        assert_eq!(short, Err(Unsolved::DeadlineExceeded));
        let enough = solve(&problem, strategy, Some(2), &mut Control::default());
        assert!(enough.is_ok_and(|solved| solved.status == Status::Optimal));
    }

    #[test]
    fn a_run_may_be_stopped_at_any_look_at_the_clock() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let strategy = *u.choose(&[Strategy::Reference, Strategy::Fast, Strategy::Best])?;
            let last = u.int_in_range(0..=40)?;
            let looks = std::cell::Cell::new(0);
            let elapsed = || {
                looks.set(looks.get() + 1);
                Duration::from_secs(looks.get())
            };
            let mut control = Control {
                elapsed: Some(&elapsed),
                deadline: Some(Duration::from_secs(last + 1)),
                ..Control::default()
            };
            let budget = *u.choose(&[None, Some(500)])?;
            match solve(&problem, strategy, budget, &mut control) {
                Ok(solved) => {
                    let violations = testing::violations(&problem, &solved.placement);
                    assert_eq!(violations, Vec::<String>::new());
                    assert!(solved.placement.peak >= solved.bound);
                }
                Err(Unsolved::NoRoom { item, offsets, .. }) => {
                    assert_eq!(offsets[item as usize], None);
                }
                Err(stopped) => assert_eq!(stopped, Unsolved::DeadlineExceeded),
            }
            // Whoever sees it passes that on, and each on the way may look again.
            assert!(looks.get() <= last + 12, "{} looks of {last}", looks.get());
            Ok(())
        });
    }

    #[test]
    fn only_best_without_a_budget_has_a_number_of_its_own() {
        let mut problem = Problem::default();
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        let own = |problem: &Problem, strategy, deadline| {
            let control = Control {
                deadline,
                ..Control::default()
            };
            own_budget(problem, strategy, &control)
        };
        let (best, second) = (Strategy::Best, Some(Duration::from_secs(1)));
        assert_eq!(own(&problem, best, None), Some(BEST_STEPS + 64));
        assert_eq!(own(&problem, best, second), None);
        assert_eq!(own(&problem, Strategy::Fast, None), None);
        problem.runtime_page = 4096;
        assert_eq!(own(&problem, best, second), None);
    }

    #[test]
    fn nothing_to_place_is_optimal_at_the_floor() {
        let problem = Problem {
            floor: 4096,
            ceiling: u64::MAX,
            ..Problem::default()
        };
        let solved = run(&problem, Strategy::Fast).expect("nothing to fail");
        assert_eq!((solved.placement.peak, solved.bound), (4096, 4096));
        assert_eq!(solved.status, Status::Optimal);
    }
}
