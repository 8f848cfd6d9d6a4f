//! Epochs: the time between two core barriers, which is all the time that cores share. // M4
//!
//! A callee's barriers count where it is called.

use super::graph::Graph;
use crate::ir::{FlatIndex, Function, Kind};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A closed range of epochs.
pub(super) type EpochRange = (u32, u32);

/// The epochs of one function.
pub(super) struct Epochs {
    /// The epochs in which each instruction may run; a barrier belongs to the one after it.
    of: Vec<EpochRange>,
    /// Whether an instruction stands in a cycle with barriers, which is one range.
    cycling: Vec<bool>,
    /// The last epoch: the number of barriers on the way to an exit.
    pub last: u32,
    /// The ids seen at each position; `None` is a barrier without one.
    pub ids: OrderedMap<u32, Vec<Option<u64>>>,
    /// The first block that can be entered after different numbers of barriers, or at which the
    /// function can be left after a number that another exit does not have.
    pub uneven: Option<u32>,
}

impl Epochs {
    /// Numbers the barriers of a function; `callee` knows the epochs of what a call runs.
    pub fn of<'e>(
        function: &Function,
        callee: impl Fn(u32) -> Option<&'e Epochs>,
        pace: &mut Pace<'_, '_>,
    ) -> Epochs {
        let graph = Graph::of(function, pace);
        let is_barrier = |i: u32| function.instructions()[i as usize].kind == Kind::Barrier;
        let components = graph.components();
        let mut component_of = vec![0; graph.len()];
        for (c, (members, _)) in components.iter().enumerate() {
            members.iter().for_each(|&b| component_of[b as usize] = c);
        }
        let mut entered: Vec<Option<u32>> = vec![None; components.len()];
        entered[component_of[0]] = Some(0);
        let mut epochs = Epochs {
            of: vec![(0, 0); function.instructions().len()],
            cycling: vec![false; function.instructions().len()],
            last: 0,
            ids: OrderedMap::new(),
            uneven: None,
        };
        let mut left: Option<u32> = None;
        for (c, (members, cyclic)) in components.iter().enumerate() {
            let base = entered[c].unwrap_or(0);
            let reachable = members.iter().any(|&b| graph.reachable(b));
            let mut here = base;
            let mut passed: Vec<(u32, Option<u64>)> = Vec::new();
            for &block in members {
                if pace.over(1 + graph.range(block).len()) {
                    break;
                }
                for i in graph.range(block) {
                    if is_barrier(i) {
                        let id = function.barrier_id(FlatIndex(i));
                        passed.push((here, id));
                        here += 1;
                    }
                    let first = here;
                    if let Some(called) = callee(i) {
                        for (at, ids) in &called.ids {
                            passed.extend(ids.iter().map(|&id| (here + at, id)));
                        }
                        here += called.last;
                        if called.uneven.is_some() {
                            epochs.uneven.get_or_insert(block);
                        }
                    }
                    epochs.of[i as usize] = (first, here);
                }
            }
            if *cyclic && here > base {
                let instructions = members.iter().flat_map(|&b| graph.range(b));
                for i in instructions {
                    epochs.of[i as usize] = (base, here);
                    epochs.cycling[i as usize] = true;
                }
            }
            if *cyclic {
                // Which comes first, layout does not tell: by id.
                let mut ids: Vec<_> = passed.iter().map(|p| p.1).collect();
                ids.sort_compact_by_key(|&id| id);
                passed.sort_compact_by_key(|p| p.0);
                passed.iter_mut().zip(ids).for_each(|(p, id)| p.1 = id);
            }
            for (at, id) in passed.into_iter().filter(|_| reachable) {
                epochs.ids.entry(at).or_default().push(id);
            }
            epochs.last = epochs.last.max(here);
            for &block in members {
                for &succ in graph.succs(block) {
                    let to = component_of[succ as usize];
                    // What control never does says nothing about where it does go.
                    if to == c || !reachable && graph.reachable(succ) {
                        continue;
                    }
                    let known = &mut entered[to];
                    if reachable && known.is_some_and(|k| k != here) {
                        epochs.uneven.get_or_insert(succ);
                    }
                    *known = Some(known.map_or(here, |k| k.max(here)));
                }
                if graph.succs(block).is_empty() && reachable {
                    if left.is_some_and(|l| l != here) {
                        epochs.uneven.get_or_insert(block);
                    }
                    left = Some(left.map_or(here, |l| l.max(here)));
                }
            }
        }
        epochs
    }

    /// Whether an instruction stands in a cycle with barriers.
    pub fn cycles(&self, index: u32) -> bool {
        self.cycling[index as usize]
    }

    /// The epochs in which an instruction may run.
    pub fn at(&self, index: u32) -> EpochRange {
        self.of[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BlockId, InstructionSpec};

    fn function(blocks: &[(&str, &[u32])]) -> Function {
        let mut f = Function::new("f");
        for (kinds, _) in blocks {
            f.add_block("");
            for kind in kinds.chars() {
                let kind = if kind == '|' {
                    Kind::Barrier
                } else {
                    Kind::Compute
                };
                f.add_instruction(&InstructionSpec {
                    op: "x",
                    kind,
                    ..Default::default()
                })
                .unwrap();
            }
        }
        for (i, (_, succs)) in blocks.iter().enumerate() {
            let succs: Vec<BlockId> = succs.iter().map(|&s| BlockId(s)).collect();
            f.set_successors(BlockId::new(i), &succs).unwrap();
        }
        f
    }

    fn epochs(f: &Function) -> Epochs {
        Epochs::of(f, |_| None, &mut Pace::free())
    }

    fn ranges(f: &Function) -> Vec<EpochRange> {
        let epochs = epochs(f);
        (0..f.instructions().len() as u32)
            .map(|i| epochs.at(i))
            .collect()
    }

    #[test]
    fn epochs_are_what_lies_between_barriers() {
        assert_eq!(
            ranges(&function(&[("x|x|x", &[])])),
            [(0, 0), (1, 1), (1, 1), (2, 2), (2, 2)]
        );
    }

    #[test]
    fn a_cycle_with_barriers_is_one_range() {
        let f = function(&[("x|", &[1]), ("x|x", &[1, 2]), ("x", &[])]);
        assert_eq!(ranges(&f), [(0, 0), (1, 1), (1, 2), (1, 2), (1, 2), (2, 2)]);
        assert_eq!(epochs(&f).uneven, None);
    }

    #[test]
    fn arms_that_pass_different_numbers_of_barriers_are_uneven() {
        let even = function(&[("x", &[1, 2]), ("|", &[3]), ("|", &[3]), ("x", &[])]);
        assert_eq!(epochs(&even).uneven, None);
        assert_eq!(epochs(&even).last, 1);
        let arms = function(&[("x", &[1, 2]), ("|", &[3]), ("", &[3]), ("x", &[])]);
        assert_eq!(epochs(&arms).uneven, Some(3));
        let exits = function(&[("x", &[1, 2]), ("|", &[]), ("", &[])]);
        assert!(epochs(&exits).uneven.is_some());
    }
}
