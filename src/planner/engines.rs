//! Whether a placement re-uses bytes across engines, and so needs dependences to be safe.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::control::Stop;
use crate::ir::{FlatIndex, Function};
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// So many locations are looked at by themselves first: where bytes are re-used at all, a few
/// neighbours in time nearly always show it.
const FEW: usize = 1 << 12;

/// Whether two locations of a function share bytes and not all of their accesses are on one
/// engine. Takes their engines and their byte ranges by location, `None` for what has no address.
pub(super) fn reuse_across_engines(
    engines: &[Option<Engines>],
    range: &dyn Fn(usize) -> Option<(u64, u64)>,
) -> bool {
    let mut all = engines.iter().flatten();
    let one = match all.next() {
        Some(&first) => first != Engines::Several && all.all(|&other| other == first),
        None => true,
    };
    let few = FEW.min(engines.len());
    !one && (meet(&engines[..few], range) || few < engines.len() && meet(engines, range))
}

/// The same for the first of its locations.
///
/// A sweep over addresses that keeps the engines of the locations under the line: a newcomer
/// that meets another engine there shares bytes across engines.
fn meet(engines: &[Option<Engines>], range: &dyn Fn(usize) -> Option<(u64, u64)>) -> bool {
    let ranges = (0..engines.len()).filter_map(|i| {
        let (start, end) = range(i)?;
        Some((start, end, engines[i].filter(|_| start < end)?))
    });
    let mut order: Vec<(u64, u64, Engines)> = ranges.collect();
    order.sort_compact_by_key(|&(start, end, _)| (start, end));
    let mut active: BTreeMap<Engines, usize> = BTreeMap::new();
    let mut leaving = BinaryHeap::new();
    for (start, end, mine) in order {
        while let Some(&Reverse((end, theirs))) = leaving.peek()
            && end <= start
        {
            leaving.pop();
            let count = active.get_mut(&theirs).expect("entered before");
            *count -= 1;
            if *count == 0 {
                active.remove(&theirs);
            }
        }
        let same = |theirs: &Engines| *theirs == mine && mine != Engines::Several;
        if !active.keys().all(same) {
            return true;
        }
        *active.entry(mine).or_default() += 1;
        leaving.push(Reverse((end, mine)));
    }
    false
}

/// The engines that touch one storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Engines {
    One(u32),
    Several,
}

/// The engines of each root; `None` for what nothing touches, and for views.
pub(super) fn engines_of_roots(
    function: &Function,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<Option<Engines>>, Stop> {
    let mut engines = vec![None; function.memlocs().len()];
    for (t, instruction) in function.instructions().iter().enumerate() {
        let t = FlatIndex::new(t);
        let (uses, defs) = (function.uses(t), function.defs(t));
        pace.work(1 + uses.len() + defs.len())?;
        for access in uses.iter().chain(defs) {
            let slot: &mut Option<Engines> = &mut engines[function.root(access.loc).0.index()];
            let mine = Engines::One(instruction.engine);
            *slot = Some(if slot.is_none_or(|seen| seen == mine) {
                mine
            } else {
                Engines::Several
            });
        }
    }
    Ok(engines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Extent, InstructionSpec, MemLocSpec, Operand};

    #[test]
    fn only_bytes_shared_by_two_engines_count() {
        let mut f = Function::new("main");
        for name in ["a", "b", "c"] {
            let extent = Some(Extent::Bytes(8));
            f.add_memloc(&MemLocSpec {
                name,
                extent,
                ..Default::default()
            })
            .unwrap();
        }
        for (engine, loc) in [(0, 0), (1, 1), (0, 2)] {
            let defs = [Operand::from(crate::ir::MemLocId(loc))];
            let spec = InstructionSpec {
                op: "x",
                engine,
                defs: &defs,
                ..Default::default()
            };
            f.add_instruction(&spec).unwrap();
        }
        let at = |start| Some((start, start + 8));
        let engines = engines_of_roots(&f, &mut Pace::free()).expect("nothing stops it");
        let reuse = |ranges: [_; 3]| reuse_across_engines(&engines, &|i| ranges[i]);
        assert!(!reuse([at(0), at(8), at(16)]));
        assert!(!reuse([at(0), at(8), at(0)]));
        assert!(reuse([at(0), at(7), None]));
        assert!(reuse([at(0), at(0), None]));
        assert!(!reuse_across_engines(&engines[..1], &|_| at(0)));
    }
}
