//! Proofs that nothing fits: a few items that cannot all be placed, whatever else is. // S3
//!
//! Three kinds of proof, the cheapest first:
//!
//! * **alone**: the item that failed finds no room even if nothing else is placed;
//! * **load**: at one instruction the load exceeds what the ceiling leaves beside the pins. Of what
//!   is live there, the largest items that are still too many;
//! * **search**: the exact search has refuted the ceiling.
//!
//! The set is then shrunk by deletion (Chinneck, *Feasibility and Infeasibility in Optimization*,
//! 2008): an item without which the rest still cannot be placed goes. A set that cannot be placed
//! stays so when items are added, so one round over the items makes it *minimal*: without any one
//! of them the others can be placed. That takes an answer for every item; where the budget of
//! steps does not suffice for one, the set is still a proof, but not claimed to be minimal.
//!
//! Pins and the floor are part of the problem, not of the set. The collective region is no reason:
//! what does not fit in it may lie outside. // P5

use std::cmp::Reverse;

use super::bound::{lower_bound, worst_index};
use super::exact::{self, decide};
use super::first_fit::{Others, first_fit_in_tiles};
use super::improve::quick_orders;
use super::meter::Meter;
use super::prepared::Prepared;
use super::steps::Steps;
use super::{Hint, InPlacePair, Problem, load};
use crate::control::Control;
use crate::ir::FlatIndex;
use crate::order::reference_unless;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// Steps that shrinking may take in all: some seconds at most.
const SHRINK_STEPS: u64 = 1 << 26;

/// Steps that one answer of the exact search may take.
const ANSWER_STEPS: u64 = 1 << 22;

/// Steps that placing one item of a subset counts for.
const STEPS_PER_PLACEMENT: u64 = 64;

/// At most so many orders are tried on a subset.
const ORDERS: u64 = 12;

/// A set of items that cannot all be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// By dense id, ascending.
    pub items: Vec<u32>,
    /// The first instruction at which the most of their bytes are live.
    pub index: FlatIndex,
    /// At least so many bytes are missing.
    pub deficit: u64,
    /// Without any one of them, the others can be placed.
    pub minimal: bool,
}

/// A set that cannot be placed below the ceiling, if there is a proof. `failed` is an item that
/// found no room; `refuted` says that the search has proved that not all items can be placed.
pub(crate) fn conflict(
    problem: &Problem,
    failed: u32,
    refuted: bool,
    control: &mut Control<'_>,
) -> Option<Conflict> {
    let too_many = |items: &[u32]| lower_bound(&restricted(problem, items)) > problem.ceiling;
    let mut minimal = true;
    let mut items = if !fits_by_an_order(&restricted(problem, &[failed]), control)? {
        vec![failed]
    } else if lower_bound(problem) > problem.ceiling {
        let at = worst_index(problem);
        let live = |i: &u32| problem.lives.of(*i as usize).iter().any(|s| s.contains(at));
        let mut live: Vec<u32> = (0..problem.items.len() as u32).filter(live).collect();
        live.sort_compact_by_key(|&i| Reverse(problem.items[i as usize].size));
        // The bound rises with the set.
        let counts: Vec<usize> = (1..=live.len()).collect();
        let count = counts.partition_point(|&count| !too_many(&live[..count])) + 1;
        live.truncate(count.min(live.len()));
        if !stacks(problem, &live) {
            minimal = shrink(problem, &mut live, control);
        }
        live
    } else if refuted {
        let mut items: Vec<u32> = (0..problem.items.len() as u32).collect();
        items.sort_compact_by_key(|&i| Reverse(problem.items[i as usize].size));
        minimal = shrink(problem, &mut items, control);
        items
    } else {
        return None;
    };
    items.sort_unstable();
    let set = restricted(problem, &items);
    Some(Conflict {
        index: load::peak_index(&set),
        deficit: lower_bound(&set).saturating_sub(problem.ceiling).max(1),
        items,
        minimal,
    })
}

/// Whether items that are all live at one instruction can be placed whenever their bytes do: one
/// on top of the other. Then the largest that are too many are minimal: without any of them, the
/// rest has no more bytes than without the smallest.
fn stacks(problem: &Problem, items: &[u32]) -> bool {
    let aligned = |&i: &u32| {
        let align = problem.items[i as usize].align;
        let whole = |&j: &u32| problem.items[j as usize].size.is_multiple_of(align);
        // Quadratic in the few alignments there are, not in the items.
        problem.floor.is_multiple_of(align) && (align == 1 || items.iter().all(whole))
    };
    let mut aligns: Vec<u32> = items.to_vec();
    aligns.sort_compact_by_key(|&i| problem.items[i as usize].align);
    aligns.dedup_by_key(|i| problem.items[*i as usize].align);
    let paired = |pair: &InPlacePair| items.contains(&pair.used) && items.contains(&pair.def);
    !problem.no_straddle
        && problem
            .pins
            .iter()
            .all(|pin| pin.end <= problem.floor || pin.start >= pin.end)
        && problem.regions.is_empty()
        && aligns.len() <= 8
        && aligns.iter().all(aligned)
        && (problem.pairs.is_empty() || !problem.pairs.iter().any(paired))
}

/// Deletes, the smallest first, what the rest does not need to be too much. Whether the set is
/// known to be minimal then.
fn shrink(problem: &Problem, items: &mut Vec<u32>, control: &mut Control<'_>) -> bool {
    let mut left = SHRINK_STEPS;
    let mut minimal = true;
    for i in (0..items.len()).rev() {
        let mut without = items.clone();
        without.remove(i);
        let set = restricted(problem, &without);
        let cost = set.items.len() as u64 * STEPS_PER_PLACEMENT * ORDERS;
        if left < cost || control.look().is_err() {
            return false;
        }
        left -= cost;
        match fits(&set, &mut left, control) {
            Some(true) => (),
            Some(false) => *items = without,
            None => minimal = false,
        }
    }
    minimal
}

/// Whether all items can be placed below the ceiling; `None`: not known.
fn fits(problem: &Problem, left: &mut u64, control: &mut Control<'_>) -> Option<bool> {
    if problem.items.is_empty() {
        return Some(true);
    }
    if lower_bound(problem) > problem.ceiling {
        return Some(false);
    }
    if fits_by_an_order(problem, control)? {
        return Some(true);
    }
    let prepared = Prepared::unless(problem, &mut Pace::of(control)).ok()?;
    let allowed = ANSWER_STEPS.min(*left);
    let mut steps = Steps::new(allowed, control);
    let answer = decide(&prepared, problem.ceiling, 0, &mut steps);
    *left -= allowed - steps.left().min(allowed);
    match answer {
        exact::Outcome::Placed(_) => Some(true),
        exact::Outcome::Refuted => Some(false),
        exact::Outcome::Unknown => None,
    }
}

/// Whether first fit places everything in the reference order or one of strategy `fast`; `None` if
/// it was stopped. For one item that is the whole truth.
fn fits_by_an_order(problem: &Problem, control: &mut Control<'_>) -> Option<bool> {
    let mut meter = Meter::new(control, None);
    let prepared = Prepared::unless(problem, &mut meter.pace()).ok()?;
    let ceiling = problem.ceiling;
    let placed = |order: &[u32], meter: &mut Meter<'_, '_>| {
        let pass = first_fit_in_tiles(&prepared, order, Others::Anywhere, ceiling, 0, meter);
        Some(pass.ok()?.failed.is_empty())
    };
    let reference = reference_unless(problem, &mut meter.pace()).ok()?;
    if placed(&reference, &mut meter)? {
        return Some(true);
    }
    if problem.items.len() > 1 {
        for order in quick_orders(&prepared, &mut meter).ok()? {
            if placed(&order, &mut meter)? {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// The problem with these items alone, without collective region and hint.
fn restricted(problem: &Problem, items: &[u32]) -> Problem {
    let mut items = items.to_vec();
    items.sort_unstable();
    let mut set = Problem {
        items: Vec::with_capacity(items.len()),
        usages: Vec::new(),
        lives: Default::default(),
        pairs: Vec::new(),
        collective_limit: None,
        hint: Hint::default(),
        runtime_page: 0, // Straddling costs something, but is no reason. // P7
        pins: problem.pins.clone(),
        pin_lives: problem.pin_lives.clone(),
        regions: problem.regions.clone(),
        ..*problem
    };
    for &i in &items {
        set.push_of(problem, i);
        set.lives.push(problem.lives.of(i as usize).iter().copied());
    }
    let rank = |item: u32| items.binary_search(&item).ok().map(|rank| rank as u32);
    set.pairs.extend(problem.pairs.iter().filter_map(|pair| {
        Some(InPlacePair {
            index: pair.index,
            used: rank(pair.used)?,
            def: rank(pair.def)?,
        })
    }));
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Strategy;
    use crate::place::exact::oracle::{Rules, some_placement, tiny};
    use crate::place::{Unsolved, solve, testing};

    /// What the strategy says of a problem, as a proof.
    fn proof(problem: &Problem, strategy: Strategy) -> Option<Option<Conflict>> {
        let mut control = Control::default();
        match solve(problem, strategy, Some(40_000), &mut control) {
            Err(Unsolved::NoRoom { item, bound, .. }) => {
                let refuted = bound > problem.ceiling;
                Some(conflict(problem, item, refuted, &mut control))
            }
            _ => None,
        }
    }

    #[test]
    fn a_proof_names_a_set_that_enumeration_cannot_place_and_no_more_than_it_takes() {
        let (mut by_load, mut by_search) = (0, 0);
        crate::testing::for_each_seed(0..800, |u| {
            let rules = Rules {
                holes: u.arbitrary()?,
                alignment: u.arbitrary()?,
                pins: u.arbitrary()?,
                floor: u.arbitrary()?,
                regions: u.arbitrary()?,
                pages: u.ratio(1, 4)?,
                through: false,
            };
            let (mut problem, grain) = tiny(u, rules, 6)?;
            problem.ceiling = problem.floor + grain * u.int_in_range(2..=14)?;
            let strategy = *u.choose(&[Strategy::Fast, Strategy::Best, Strategy::Best])?;
            let fits = |items: &[u32]| {
                let set = restricted(&problem, items);
                some_placement(&set, &mut Vec::new(), problem.ceiling, grain)
            };
            let all: Vec<u32> = (0..problem.items.len() as u32).collect();
            match proof(&problem, strategy) {
                None => assert!(strategy == Strategy::Fast || fits(&all)),
                Some(None) => assert_eq!(strategy, Strategy::Fast, "not proved: {problem:?}"),
                Some(Some(conflict)) => {
                    let loaded = lower_bound(&problem) > problem.ceiling;
                    by_load += usize::from(loaded);
                    by_search += usize::from(!loaded && conflict.items.len() > 1);
                    assert!(!fits(&conflict.items), "{conflict:?} {problem:?}");
                    assert!(conflict.minimal, "{conflict:?} {problem:?}");
                    for i in 0..conflict.items.len() {
                        let mut without = conflict.items.clone();
                        without.remove(i);
                        assert!(fits(&without), "{conflict:?} less {i} of {problem:?}");
                    }
                    assert!(conflict.deficit > 0);
                }
            }
            Ok(())
        });
        assert!(by_load > 0 && by_search > 0, "{by_load} {by_search}");
    }

    #[test]
    fn in_place_pairs_are_no_reason() {
        arbtest::arbtest(|u| {
            let mut problem = testing::problem(u)?;
            let Ok(solved) = solve(
                &problem,
                Strategy::Best,
                Some(3_000),
                &mut Control::default(),
            ) else {
                return Ok(());
            };
            // What is placed below its peak cannot be proved to have no room there.
            problem.ceiling = solved.placement.peak;
            let item = u.int_in_range(0..=problem.items.len().max(1) as u32 - 1)?;
            if !problem.items.is_empty() {
                let proof = conflict(&problem, item, false, &mut Control::default());
                assert_eq!(proof, None, "{problem:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn the_largest_of_what_is_too_much_at_one_instruction_are_named() {
        let mut problem = Problem {
            ceiling: 100,
            granule: 1,
            ..Problem::default()
        };
        for size in [10, 60, 5, 30, 20] {
            testing::add_item(&mut problem, size, &[(size as u32 % 3, 7)]);
        }
        let found = proof(&problem, Strategy::Fast).expect("125 bytes live at once");
        let want = Conflict {
            items: vec![1, 3, 4],
            index: FlatIndex(2),
            deficit: 10,
            minimal: true,
        };
        assert_eq!(found, Some(want));
    }

    #[test]
    fn a_cancelled_proof_claims_nothing_more() {
        let mut problem = Problem {
            ceiling: 100,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 101, &[(0, 7)]);
        let flag = std::sync::atomic::AtomicBool::new(true);
        let mut control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        assert_eq!(conflict(&problem, 0, false, &mut control), None);
    }
}
