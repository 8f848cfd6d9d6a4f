//! Which targets the exact search tries, and for how long.
//!
//! One run of a depth-first search is a gamble: most end soon, some never. So runs are cut off and
//! started again, with other noise and with what was learned, after the numbers of nodes of the
//! universal sequence (Luby, Sinclair, Zuckerman, *Optimal speedup of Las Vegas algorithms*, 1993).
//!
//! Every other run aims straight at the lower bound, the others part of the way down from the best
//! peak so far: further after a success, less far after a failure. Small steps alone would creep,
//! the bound alone may be out of reach.

use super::choose::Damping;
use super::random::Random;
use super::search::Settings;
use super::{Exact, Outcome};
use crate::place::prepared::Prepared;
use crate::place::steps::Steps;

/// The states remembered as refuted: 2^14 of them, 256 KiB.
pub(super) const NOGOOD_BITS: u32 = 14;

/// News from the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// A better placement: the first byte of each item, and the peak.
    Better(Vec<u64>, u64),
    /// No placement has a lower peak than this, which is above the bound known before.
    Bound(u64),
    /// The budget is spent.
    Nothing,
}

/// An exact search that goes on where it stopped.
pub(crate) struct Ladder {
    pub(super) exact: Exact,
    sizes: Vec<u64>,
    random: Random,
    /// The search finds nothing lower than the one; one is as high as the other.
    bound: u64,
    peak: u64,
    /// How far down from the peak to the bound the next aim is.
    share: f64,
    pub(super) runs: u64,
    unit_nodes: u64,
}

impl Ladder {
    /// A search between `bound` and `peak`, the addresses that are proved and found so far. `None`
    /// if the addresses are too large for it.
    pub(crate) fn new(prepared: &Prepared<'_>, bound: u64, peak: u64) -> Option<Ladder> {
        let exact = Exact::new(prepared, peak, NOGOOD_BITS)?;
        let unit_nodes = 2 * exact.model.items() as u64;
        Some(Ladder {
            exact,
            sizes: prepared
                .problem
                .items
                .iter()
                .map(|item| item.size)
                .collect(),
            random: Random::new(1),
            bound,
            peak,
            share: 0.5,
            runs: 0,
            unit_nodes,
        })
    }

    /// Tells the search of a better placement found elsewhere.
    pub(crate) fn lower_peak(&mut self, peak: u64) {
        self.peak = self.peak.min(peak);
    }

    /// Works until something is found or the steps are spent.
    pub(crate) fn work(&mut self, steps: &mut Steps<'_, '_>) -> Finding {
        while self.bound < self.peak && steps.left() > 0 {
            // Both aims get the same numbers of nodes.
            let nodes = self.unit_nodes * luby(self.runs / 2 + 1);
            let at_bound = self.runs.is_multiple_of(2);
            let target = if at_bound { self.bound } else { self.aim() };
            let settings = settings(self.runs, &mut self.random);
            self.runs += 1;
            let outcome = self
                .exact
                .attempt(target, settings, &mut self.random, nodes, steps);
            match outcome {
                Outcome::Placed(offsets) => {
                    let tops = offsets.iter().zip(&self.sizes).map(|(at, size)| at + size);
                    let peak = tops.max().unwrap_or(self.bound);
                    assert!(peak <= target, "the search keeps to its target");
                    self.peak = peak;
                    if !at_bound {
                        self.share = (self.share * 1.5).min(0.9);
                    }
                    return Finding::Better(offsets, peak);
                }
                Outcome::Refuted => {
                    let height = self.exact.height(target);
                    self.bound = self.exact.address(height + 1).min(self.peak);
                    if self.exact.is_faithful() {
                        return Finding::Bound(self.bound);
                    }
                }
                Outcome::Unknown if !at_bound => self.share = (self.share * 0.7).max(0.1),
                Outcome::Unknown => (),
            }
        }
        Finding::Nothing
    }

    fn aim(&self) -> u64 {
        let way = (self.peak - self.bound) as f64 * self.share;
        let unit = self.exact.unit();
        self.peak - (way as u64).clamp(unit.min(self.peak - self.bound), self.peak - self.bound)
    }
}

/// The number of the first run with noise.
pub(super) const DICED: u64 = 2;

/// The first runs without noise, then whatever the dice say. They must not depend on the number
/// of the run: the long runs are always the ones numbered 2^k - 1.
pub(super) fn settings(run: u64, random: &mut Random) -> Settings {
    if run < DICED {
        return Settings {
            damping: Damping::None,
            by_sections: true,
            noise: 0.0,
        };
    }
    Settings {
        damping: match random.below(3) {
            0 => Damping::None,
            1 => Damping::Root,
            _ => Damping::FourthRoot,
        },
        by_sections: random.below(2) == 0,
        noise: if random.below(2) == 0 { 0.05 } else { 0.15 },
    }
}

/// The `i`th number, from 1, of the universal restart sequence 1 1 2 1 1 2 4 1 1 2 ...
pub(crate) fn luby(mut i: u64) -> u64 {
    loop {
        let power = (i + 1).next_power_of_two();
        if power == i + 1 {
            return power / 2;
        }
        i -= power / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_restart_sequence_is_the_universal_one() {
        let sequence: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(sequence, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
