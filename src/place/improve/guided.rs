//! Guided ejection search: items push each other out until all of them lie below a target.
//!
//! An item without a place takes the bytes that cost least, and whoever held them looks for a place
//! next. Who has pushed others out costs more from then on, so that room is taken from those that
//! find another one easily (Nagata, Bräysy, *A powerful route minimization heuristic for the
//! vehicle routing problem with time windows*, 2009). Which item comes next, and which of the
//! cheapest places it takes, is left to the dice.
//!
//! Only neighbours are looked at, so an act costs what few items meet, whatever the size of the
//! problem. Where hardly any bytes may be wasted this finds what no order of first fit does; where
//! thousands live together, orders get further for the same work.
//!
//! Targets lie part of the way down from the best peak to the bound: further after a success, less
//! far after a failure.
//!
//! # Invariant
//!
//! What has a place meets every rule below the target and shares no bytes with what else has one,
//! but for in-place pairs of the placement that the search started from.

use super::neighbours::{Neighbours, VISITS_PER_STEP};
use crate::place::around::{Around, IMMOVABLE, weights};
use crate::place::exact::Random;
use crate::place::meter::{Meter, Stop};
use crate::place::packing::NOT_PLACED;
use crate::place::prepared::{Prepared, Windows};

/// A search that goes on with what it has learned.
pub(super) struct Guided {
    /// By item: what pushing it out costs as long as it has pushed out no others.
    weight: Vec<u32>,
    /// By item: one more than how often it has pushed others out.
    penalty: Vec<u32>,
    random: Random,
    around: Around,
    /// How far down from the peak to the bound the next target is.
    share: f64,
    failures: u32,
    /// Steps without progress that end an attempt.
    patience: u64,
}

impl Guided {
    /// Whether the rules of a problem are all known here.
    pub(super) fn serves(prepared: &Prepared<'_>) -> bool {
        !prepared.problem.has_region_of_collectives()
    }

    pub(super) fn new(prepared: &Prepared<'_>) -> Guided {
        Guided {
            weight: weights(prepared),
            penalty: vec![1; prepared.problem.items.len()],
            random: Random::new(0),
            around: Around::default(),
            share: FIRST_SHARE,
            failures: 0,
            patience: PATIENCE + prepared.problem.items.len() as u64 / 2,
        }
    }

    /// The next target between two addresses.
    pub(super) fn target(&self, bound: u64, peak: u64) -> u64 {
        let way = (peak - bound) as f64 * self.share;
        peak - (way as u64).clamp(1, peak - bound)
    }

    /// Draws conclusions from how an attempt has ended.
    pub(super) fn learn(&mut self, success: bool) {
        if success {
            self.failures = 0;
            self.share = (self.share * 1.3).min(0.5);
            return;
        }
        self.failures += 1;
        self.share *= 0.5;
        if self.failures == FAILURES {
            self.failures = 0;
            self.share = FIRST_SHARE;
            self.penalty.fill(1);
            self.patience = (self.patience * 2).min(8 * (PATIENCE + self.weight.len() as u64 / 2));
        }
    }

    /// Moves what ends above `cap`, and whatever has to make room for it. Returns the starts once
    /// everything lies below; `None` after too many steps, or `steps`, without fewer items out of place.
    pub(super) fn attempt(
        &mut self,
        prepared: &Prepared<'_>,
        neighbours: &Neighbours,
        mut starts: Vec<u64>,
        cap: u64,
        steps: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Vec<u64>>, Stop> {
        let problem = prepared.problem;
        // Whoever tries again and again without an act gets on, too.
        meter.charge(1 + problem.items.len() as u64 / VISITS_PER_STEP)?;
        let windows = prepared.windows(problem.floor, cap);
        let mut pool: Vec<u32> = Vec::new();
        for (item, start) in (0..).zip(&mut starts) {
            let size = problem.items[item as usize].size;
            if start.checked_add(size).is_none_or(|end| end > cap) {
                *start = NOT_PLACED;
                pool.push(item);
            }
        }
        let patience = self.patience.min(steps);
        let (mut fewest, mut since) = (pool.len(), meter.done());
        let mut looks = 0;
        while !pool.is_empty() {
            if pool.len() < fewest {
                (fewest, since) = (pool.len(), meter.done());
            }
            if meter.done() - since > patience {
                return Ok(None);
            }
            let next = self.random.below(pool.len() as u64) as usize;
            let item = pool.swap_remove(next);
            let start_of = |other: u32| {
                let start = starts[other as usize];
                (start != NOT_PLACED).then_some(start)
            };
            looks += self.around.look(prepared, neighbours, item, start_of);
            looks += LOOKS_PER_RANGE * self.around.len() as u64;
            if looks >= VISITS_PER_STEP {
                meter.charge(looks / VISITS_PER_STEP)?;
                looks %= VISITS_PER_STEP;
            }
            let Some((cost, start)) = self.cheapest(prepared, &windows, item) else {
                return Ok(None);
            };
            if cost > 0 {
                self.penalty[item as usize] = self.penalty[item as usize].saturating_add(1);
                let end = start + problem.items[item as usize].size;
                for other in self.around.between(start, end) {
                    starts[other as usize] = NOT_PLACED;
                    pool.push(other);
                }
            }
            starts[item as usize] = start;
        }
        Ok(Some(starts))
    }

    /// A start of least cost, with the cost; `None` if pins leave no room.
    fn cheapest(
        &mut self,
        prepared: &Prepared<'_>,
        windows: &Windows,
        item: u32,
    ) -> Option<(u128, u64)> {
        let (weight, penalty) = (&self.weight, &self.penalty);
        self.around.weigh(|other| {
            let other = other as usize;
            u128::from(weight[other]) * u128::from(penalty[other])
        });
        let usage = prepared.problem.usage(item);
        let mut best: Option<(u128, u64)> = None;
        let mut ties = 0;
        for &window in windows.of(usage) {
            let request = prepared.request(item, window);
            self.around.each_start(request, |cost, start| {
                let least = best.map_or(IMMOVABLE, |(least, _)| least);
                if cost > least || cost >= IMMOVABLE {
                    return;
                }
                ties = if cost < least { 1 } else { ties + 1 };
                if self.random.below(ties) == 0 {
                    best = Some((cost, start));
                }
            });
        }
        best
    }
}

/// The share of the way to the bound that the first target asks for.
const FIRST_SHARE: f64 = 0.08;

/// Steps without fewer items out of place that end the first attempts, and one for every two items.
/// Those that begin anew get more.
const PATIENCE: u64 = 5000;

/// After so many failures in a row the search begins anew.
const FAILURES: u32 = 8;

/// Sorting and weighing a neighbour costs as much as looking at so many.
const LOOKS_PER_RANGE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::place::{Placement, Problem, solve, testing};

    /// An attempt from the placement of strategy `reference`, or from nothing.
    fn attempt(problem: &Problem, from_nothing: bool, cap: u64) -> Option<Vec<u64>> {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
        let strategy = Strategy::Reference;
        let start = solve(problem, strategy, None, &mut Control::default());
        let starts = match start {
            Ok(solved) if !from_nothing => solved.placement.offsets,
            _ => vec![NOT_PLACED; problem.items.len()],
        };
        let mut guided = Guided::new(&prepared);
        let found = guided.attempt(&prepared, &neighbours, starts, cap, 200, &mut meter);
        found.expect("nothing stops it")
    }

    #[test]
    fn what_is_found_keeps_every_rule_and_the_target() {
        let mut found_all = 0;
        crate::testing::for_each_seed(0..400, |u| {
            let problem = Problem {
                collective_limit: None,
                runtime_page: 0,
                ..testing::problem(u)?
            };
            if problem.items.is_empty() {
                return Ok(());
            }
            let bound = crate::place::lower_bound(&problem);
            let slack = bound.saturating_sub(problem.floor) / 8;
            let slack = u.int_in_range(0..=slack)?;
            let cap = bound.saturating_add(slack).min(problem.ceiling);
            let from_nothing = u.ratio(1, 4)?;
            let found = attempt(&problem, from_nothing, cap);
            assert_eq!(attempt(&problem, from_nothing, cap), found, "repeatable");
            if let Some(starts) = found {
                let placement = Placement::of(&problem, starts);
                let violations = testing::violations(&problem, &placement);
                assert_eq!(violations, Vec::<String>::new(), "{problem:?}");
                assert!(placement.peak <= cap);
                found_all += 1;
            }
            Ok(())
        });
        assert!(found_all > 0);
    }

    #[test]
    fn it_finds_what_first_fit_by_size_does_not() {
        // +---+-----+  The pieces of a pinwheel.
        // | d |  c  |
        // |   +-+---+
        // |   |e|   |
        // +---+-+ b |
        // |  a  |   |
        // +-----+---+
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for (size, life) in [
            (2, (0, 2)),
            (4, (3, 5)),
            (2, (2, 5)),
            (4, (0, 1)),
            (2, (2, 2)),
        ] {
            testing::add_item(&mut problem, size, &[life]);
        }
        let starts = attempt(&problem, true, 6).expect("the pieces fit");
        assert_eq!(Placement::of(&problem, starts).peak, 6);
    }

    #[test]
    fn targets_lie_between_the_bound_and_the_peak() {
        let problem = {
            let mut problem = Problem::default();
            testing::add_item(&mut problem, 8, &[(0, 4)]);
            problem
        };
        let mut guided = Guided::new(&Prepared::new(&problem));
        for k in 0..200_u64 {
            for (bound, peak) in [(8, 9), (8, 10), (8, 1 << 40), (0, u64::MAX)] {
                let target = guided.target(bound, peak);
                assert!(bound <= target && target < peak);
            }
            guided.learn(k % 7 == 0);
        }
    }
}
