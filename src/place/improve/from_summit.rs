//! Attempts that begin with the summit, and with ever larger ones.
//!
//! Where promotion gets stuck it does so early, over one or two items of the next crowd that need
//! bytes which the summit has spread elsewhere. So the next summit holds these as well: a search
//! twice as large takes four times as long, and still costs less than many rounds of repairs.

use super::crowds::Crowds;
use super::orders::{BaseRule, StackRule};
use super::promote::{Head, Patience, cost_of_round};
use super::summit::Summit;
use super::{ACTS_PER_STEP, EXACT_IN_REACH, FIRST, Improver, QUICK_ACTS, SUMMITS, once};
use crate::place::meter::Stop;

/// Acts of the exact search for the summits of an attempt. It succeeds with a small part of them, or
/// not at all.
const ACTS: u64 = 1 << 22;

/// Rounds of promotion without a gain, each as long as the first, after which a summit is given up:
/// in strategy `best`, and in `fast`.
const ROUNDS: u64 = 16;
const QUICK_ROUNDS: u64 = 3;

/// What an attempt may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// What the dice of the exact search begin with.
    seed: u64,
    /// Acts of the exact search.
    acts: u64,
    /// Rounds of promotion without a gain that a summit is given.
    rounds: u64,
    /// Steps of promotion.
    steps: u64,
}

impl Effort {
    /// What an attempt of strategy `best` may cost.
    pub(super) fn of_best(seed: u64) -> Effort {
        Effort {
            seed,
            acts: ACTS,
            rounds: ROUNDS,
            steps: u64::MAX,
        }
    }

    /// Little more than some passes over so many items, or some milliseconds.
    fn quick(items: u64) -> Effort {
        Effort {
            seed: 0,
            acts: (QUICK_ACTS + items * ACTS_PER_STEP).min(ACTS),
            rounds: QUICK_ROUNDS,
            steps: 2 * items,
        }
    }
}

/// A search that has placed a summit.
#[derive(Clone, Copy, Debug)]
struct Searched {
    /// Items of the summit that are not live all through it.
    others: u64,
    /// What acts are about proportional to.
    work: u64,
    /// Acts of the search.
    spent: u64,
}

impl Searched {
    /// The acts that a search with so much work needs, if it goes as well, or a little better; with
    /// fewer it is given up in the middle.
    fn would_need(self, work: u64) -> u64 {
        // More than that is spent only where a search has begun anew.
        let once = self.spent.min(2 * self.work);
        let needed = once * work / self.work;
        needed - needed / 16
    }
}

impl Improver<'_, '_, '_, '_> {
    /// The attempt of strategy `fast`, at the bound.
    pub(super) fn quick_summit(&mut self) -> Result<(), Stop> {
        let items = self.profile.items();
        // If the whole is within reach, the whole.
        let most = match items as usize <= EXACT_IN_REACH {
            true => EXACT_IN_REACH,
            false => SUMMITS[0],
        };
        let effort = Effort::quick(items.into());
        self.promote_summit(self.knowledge.bound, FIRST.1, most, effort)
    }

    /// An attempt of strategy `best`, at the bound.
    pub(super) fn summit(&mut self, most: usize, seed: u64) -> Result<(), Stop> {
        let effort = Effort::of_best(seed);
        self.promote_summit(self.knowledge.bound, FIRST.1, most, effort)
    }

    /// Promotions below `cap` that begin with the summit, as long as the exact search finds a place
    /// for it. At most `most` items of the first one are not live all through it; where promotion
    /// gets stuck, the next one has twice as many.
    pub(super) fn promote_summit(
        &mut self,
        cap: u64,
        base: BaseRule,
        most: usize,
        effort: Effort,
    ) -> Result<(), Stop> {
        let (prepared, profile) = (self.prepared, self.profile);
        if self.done() || !Summit::serves(prepared) {
            return Ok(());
        }
        let (mut known, mut most) = (0, most);
        let Effort {
            mut acts,
            mut steps,
            ..
        } = effort;
        let mut by_rule = None;
        let mut last: Option<Searched> = None;
        while acts > 0 && steps > 0 {
            let crowds = Crowds::once(&mut self.crowds, prepared, profile, self.meter)?;
            let summit = Summit::of(prepared, profile, crowds, (known, most), self.meter)?;
            let Some(summit) = summit else { break };
            let others = summit.others() as u64;
            // Each of the others looks at all of them in its turn; to set up takes each item once.
            let work = others.pow(2) + summit.len() as u64;
            if let Some(last) = &last {
                // Hardly another one gets stuck as the last one did, unless it is the whole.
                let whole = summit.len() == profile.items() as usize;
                if others < last.others + last.others / 2 && !whole {
                    known = summit.len();
                    continue;
                }
                if last.would_need(work) > acts {
                    break;
                }
            }
            let before = self.meter.done();
            let order = summit.order(cap, acts, effort.seed, self.meter)?;
            let Some(order) = order else { break };
            let spent = (self.meter.done() - before) * ACTS_PER_STEP;
            acts = acts.saturating_sub(spent);
            last = Some(Searched {
                others,
                work,
                spent,
            });
            self.meter.pace().work(profile.items() as usize)?;
            let mut in_summit = vec![false; profile.items() as usize];
            for &item in &order {
                in_summit[item as usize] = true;
            }
            let all = once(&mut by_rule, || {
                self.order(StackRule::None, base).map(|order| order.items)
            })?;
            let rest = all.iter().filter(|&&item| !in_summit[item as usize]);
            let rest: Vec<u32> = rest.copied().collect();
            let round = summit.len() as u64 + cost_of_round(profile.items() as usize);
            let patience = Patience {
                without_gain: effort.rounds * round,
                in_all: steps,
            };
            let before = self.meter.done();
            if self.promote_crowds(cap, Head::Summit(order), &rest, patience)? {
                break;
            }
            steps = steps.saturating_sub(self.meter.done() - before);
            (known, most) = (summit.len(), 2 * others as usize);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::super::profile::Profile;
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::place::meter::Meter;
    use crate::place::prepared::Prepared;
    use crate::place::{Problem, solve, testing};

    /// Whether an attempt at the bound gets there, if the bound can be reached.
    fn reaches(problem: &Problem, rounds: u64, steps: u64) -> Option<bool> {
        let (best, budget) = (Strategy::Best, Some(4_000));
        let solved = solve(problem, best, budget, &mut Control::default());
        let solved = solved.expect("there is no ceiling");
        if solved.placement.peak > solved.bound {
            return None;
        }
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
        let mut knowledge = Knowledge {
            bound: solved.bound,
            goal: None,
            best: None,
        };
        let mut improver = Improver::new(&prepared, &profile, &mut knowledge, &mut meter);
        let effort = Effort {
            seed: 0,
            acts: 1 << 16,
            rounds,
            steps,
        };
        let done = improver.promote_summit(solved.bound, FIRST.1, 4, effort);
        done.expect("nothing stops it");
        let placement = knowledge.best;
        if let Some(placement) = &placement {
            assert_eq!(placement.peak, solved.bound);
            assert_eq!(testing::violations(problem, placement), [""; 0]);
        }
        Some(placement.is_some())
    }

    #[test]
    fn acts_grow_with_the_square_of_the_others_unless_a_search_began_anew() {
        let searched = |spent| Searched {
            others: 9,
            work: 100,
            spent,
        };
        assert_eq!(searched(160).would_need(400), 600);
        assert_eq!(
            searched(1600).would_need(400),
            searched(200).would_need(400)
        );
    }

    #[test]
    fn where_promotion_gets_stuck_a_larger_summit_gets_there() {
        let (mut asked, mut at_once) = (0, 0);
        crate::testing::for_each_seed(0..300, |u| {
            let mut problem = Problem {
                ceiling: u64::MAX,
                granule: 1,
                ..Problem::default()
            };
            for _ in 0..u.int_in_range(30..=60)? {
                let first = u.int_in_range(0..=40)?;
                let last = first + u.int_in_range(0..=12)?;
                testing::add_item(&mut problem, u.int_in_range(1..=40)?, &[(first, last)]);
            }
            // So few steps are mostly used up by the first summit.
            let alone = reaches(&problem, 4, 4 * 60);
            asked += usize::from(alone.is_some());
            at_once += usize::from(alone == Some(true));
            assert_ne!(reaches(&problem, 4, u64::MAX), Some(false), "{problem:?}");
            Ok(())
        });
        assert!(asked > 200 && at_once < asked, "{at_once} of {asked}");
    }
}
