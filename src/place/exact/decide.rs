//! Whether anything fits below an address: the exact search with one aim.

use super::ladder::{DICED, NOGOOD_BITS, luby, settings};
use super::{Exact, Outcome, Random};
use crate::place::prepared::Prepared;
use crate::place::steps::Steps;

/// Looks for a placement whose peak is at most `target` until it is found, refuted for the problem
/// itself, or the steps are spent. Another seed may find another one.
pub(crate) fn decide(
    prepared: &Prepared<'_>,
    target: u64,
    seed: u64,
    steps: &mut Steps<'_, '_>,
) -> Outcome {
    let Some(mut exact) = Exact::new(prepared, target, NOGOOD_BITS) else {
        return Outcome::Unknown;
    };
    let unit_nodes = 2 * exact.model.items() as u64;
    let mut random = Random::new(1 + seed);
    let mut runs = if seed == 0 { 0 } else { DICED };
    while steps.left() > 0 {
        let settings = settings(runs, &mut random);
        runs += 1;
        let nodes = unit_nodes * luby(runs);
        match exact.attempt(target, settings, &mut random, nodes, steps) {
            Outcome::Unknown => (),
            Outcome::Refuted if !exact.is_faithful() => return Outcome::Unknown,
            decided => return decided,
        }
    }
    Outcome::Unknown
}
