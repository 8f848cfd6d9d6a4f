//! Whether a placement re-uses bytes across engines, and so needs dependences to be safe.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::ir::{FlatIndex, Function};
use crate::sorting::CompactSort as _;

/// Whether two locations of a function share bytes and not all of their accesses are on one
/// engine. Takes the byte ranges by location, `None` for what has no address.
///
/// A sweep over addresses that keeps the engines of the locations under the line: a newcomer
/// that meets another engine there shares bytes across engines.
pub(super) fn reuse_across_engines(function: &Function, ranges: &[Option<(u64, u64)>]) -> bool {
    let engines = engines_of_roots(function);
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| ranges[i].is_some()).collect();
    order.sort_compact_by_key(|&i| ranges[i].expect("filtered"));
    let mut active: BTreeMap<Engines, usize> = BTreeMap::new();
    let mut leaving = BinaryHeap::new();
    for i in order {
        let (start, end) = ranges[i].expect("filtered");
        let Some(mine) = engines[i].filter(|_| start < end) else {
            continue;
        };
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
enum Engines {
    One(u32),
    Several,
}

fn engines_of_roots(function: &Function) -> Vec<Option<Engines>> {
    let mut engines = vec![None; function.memlocs().len()];
    for (t, instruction) in function.instructions().iter().enumerate() {
        let t = FlatIndex::new(t);
        for access in function.uses(t).iter().chain(function.defs(t)) {
            let slot: &mut Option<Engines> = &mut engines[function.root(access.loc).0.index()];
            let mine = Engines::One(instruction.engine);
            *slot = Some(if slot.is_none_or(|seen| seen == mine) {
                mine
            } else {
                Engines::Several
            });
        }
    }
    engines
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
        assert!(!reuse_across_engines(&f, &[at(0), at(8), at(16)]));
        assert!(!reuse_across_engines(&f, &[at(0), at(8), at(0)]));
        assert!(reuse_across_engines(&f, &[at(0), at(7), None]));
        assert!(reuse_across_engines(&f, &[at(0), at(0), None]));
    }
}
