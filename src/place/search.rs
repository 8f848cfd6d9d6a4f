//! From a problem to the best placement its strategy finds. // S

use super::Problem;
use super::bound::lower_bound;
use super::first_fit::{Others, Outcome, first_fit};
use super::improve::{Knowledge, improve};
use super::meter::{Meter, Stop};
use super::prepared::Prepared;
use super::runtime_page;
use super::warm::Warm;
use crate::control::{Control, Progress};
use crate::options::Strategy;
use crate::order::Order;
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

/// How many orders `fast` tries, the reference order included.
const FAST_ORDERS: usize = 4;

/// Steps that `best` takes unless the host says, on top of what `fast` takes.
const BEST_STEPS: u64 = 1 << 22;

/// Runs a strategy.
///
/// `reference` is one order and first fit. `fast` goes on with a handful of orders, `best` with
/// whatever may still help (see `improve`); with a runtime page all of them look at straddling
/// first (see `runtime_page`). Each begins with all that the strategy
/// before it does, so that it is never above it. All stop at the bound. // S1, S2
///
/// A problem with a hint begins with that, and the result is the one of the least cost; see `warm`.
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
    let count = problem.items.len() as u64;
    let budget = budget_steps.or(match strategy {
        Strategy::Reference | Strategy::Fast => None,
        Strategy::Best => Some(BEST_STEPS + count * 64),
    });
    let meter = Meter::new(control, budget);
    meter.poll()?;
    let bound = lower_bound(problem);
    meter.poll()?;
    if problem.runtime_page > 0 {
        return runtime_page::solve(problem, strategy, bound, meter);
    }
    let prepared = Prepared::new(problem);
    meter.poll()?;
    let mut search = Search {
        prepared,
        bound,
        meter,
        best: None,
        warm: Warm::serves(problem).then(|| Warm::new(problem)),
        failed: None,
    };
    let stopped = search.run(strategy).err();
    search.finish(stopped)
}

/// The orders of a strategy, that of the reference first.
pub(super) fn orders(strategy: Strategy) -> &'static [Order] {
    match strategy {
        Strategy::Reference => &Order::ALL[..1],
        Strategy::Fast | Strategy::Best => &Order::ALL[..FAST_ORDERS],
    }
}

/// Where the items that are no collective ones may lie in the `i`th of the orders. // P5
pub(super) fn choices(problem: &Problem, strategy: Strategy, i: usize) -> &'static [Others] {
    // The first is the reference and keeps its rule of the collective region; what beats it need
    // not.
    match (i, problem.collective_limit) {
        (0, None) => &[Others::Anywhere],
        (0, Some(_)) if strategy == Strategy::Reference => &[Others::Above],
        (0, Some(_)) => &[Others::Above, Others::Anywhere],
        _ => &[Others::Anywhere],
    }
}

/// A search under way.
struct Search<'p, 'c, 'h> {
    prepared: Prepared<'p>,
    bound: u64,
    meter: Meter<'c, 'h>,
    /// The best placement so far.
    best: Option<Placement>,
    /// What is made of the hint, if there is one.
    warm: Option<Warm>,
    /// How the first order failed, if it did.
    failed: Option<(u32, Vec<Option<u64>>)>,
}

impl Search<'_, '_, '_> {
    fn run(&mut self, strategy: Strategy) -> Result<(), Stop> {
        if let Some(warm) = &mut self.warm {
            let (best, enough) = warm.start(&self.prepared, self.bound, &mut self.meter)?;
            self.best = best;
            self.report("hint");
            if enough {
                return Ok(());
            }
        }
        for (i, &order) in orders(strategy).iter().enumerate() {
            let stop = &mut || self.meter.poll().is_err();
            let Some(order) = order.of(self.prepared.problem, stop) else {
                self.meter.poll()?;
                return Ok(());
            };
            for &others in choices(self.prepared.problem, strategy, i) {
                if self.try_order(&order, others)? {
                    return Ok(());
                }
            }
        }
        if strategy == Strategy::Best {
            self.improve()?;
        }
        Ok(())
    }

    /// Places by an order, strictly below the best peak so far; keeps what is better. Returns
    /// whether nothing can be better still.
    fn try_order(&mut self, order: &[u32], others: Others) -> Result<bool, Stop> {
        let problem = self.prepared.problem;
        let below_best = self.best.as_ref().map_or(u64::MAX, |p| p.peak - 1);
        let ceiling = problem.ceiling.min(below_best);
        let done = first_fit(&self.prepared, order, others, ceiling, &mut self.meter)?;
        match done {
            Outcome::Placed(placement) => {
                if let Some(warm) = &mut self.warm {
                    warm.found(problem, &placement);
                }
                self.best = Some(placement);
            }
            Outcome::NoRoom { item, offsets } => {
                if self.best.is_none() && self.failed.is_none() {
                    self.failed = Some((item, offsets));
                }
            }
        }
        self.report("search");
        let incumbent = self.best.as_ref().map_or(u64::MAX, |p| p.peak);
        // Below the bound there is no room, whatever the order.
        Ok(incumbent <= self.bound || problem.ceiling < self.bound)
    }

    /// Tells the host.
    fn report(&mut self, phase: &'static str) {
        let progress = Progress {
            phase,
            done: self.meter.done(),
            total: 0,
            bound: self.bound,
            incumbent: self.best.as_ref().map_or(u64::MAX, |p| p.peak),
            elapsed: std::time::Duration::ZERO,
        };
        self.meter.control().report(progress);
    }

    /// Goes on until the bound or the end of the budget.
    fn improve(&mut self) -> Result<(), Stop> {
        let mut knowledge = Knowledge {
            bound: self.bound,
            best: self.best.take(),
        };
        let before = knowledge.best.as_ref().map(|best| best.peak);
        let stopped = improve(&self.prepared, &mut knowledge, &mut self.meter);
        Knowledge {
            bound: self.bound,
            best: self.best,
        } = knowledge;
        if let (Some(warm), Some(best)) = (&mut self.warm, &self.best)
            && before.is_none_or(|before| best.peak < before)
        {
            warm.found(self.prepared.problem, best);
        }
        stopped
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Solved, Unsolved> {
        let lowest = self.best.as_ref().map(|best| best.peak);
        let (prepared, meter) = (&self.prepared, &self.meter);
        let chosen = self
            .warm
            .and_then(|warm| warm.into_best(prepared, lowest, meter));
        if let Some(placement) = chosen.or(self.best) {
            let optimal = placement.peak == self.bound;
            return Ok(Solved {
                status: if optimal {
                    Status::Optimal
                } else {
                    Status::Feasible
                },
                placement,
                bound: self.bound,
            });
        }
        if let Some(stop) = stopped {
            return Err(stop.into());
        }
        let (item, offsets) = self.failed.expect("an order was tried, and it failed");
        let bound = self.bound;
        Err(Unsolved::NoRoom {
            item,
            offsets,
            bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::prepared::Straddling;
    use crate::place::{naive, testing};
    use std::sync::atomic::AtomicBool;

    fn run(problem: &Problem, strategy: Strategy) -> Result<Solved, Unsolved> {
        solve(problem, strategy, Some(3_000), &mut Control::default())
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
