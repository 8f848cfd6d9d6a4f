//! Between which barriers an access lies. // M4
//!
//! The k-th core barrier is the same moment on all cores, so barriers cut the run of an entry
//! function into epochs, and an access belongs to the epochs in which it may run. Calls are
//! followed: a callee's barriers and accesses count where it is called.
//!
//! A function is condensed into its strongly connected components (Tarjan, *Depth-First Search
//! and Linear Graph Algorithms*, 1972); in topological order every component knows how many
//! barriers came before it. A cycle that contains barriers is one range of epochs.

use crate::error::{Error, Result};
use crate::ir::{BlockId, FlatIndex, Function, Kind, MemLocId, Module};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::planner::CallGraph;
use crate::sorting::CompactSort as _;

/// A closed range of epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochRange {
    /// The first epoch.
    pub first: u32,
    /// The last epoch.
    pub last: u32,
}

impl EpochRange {
    pub(super) fn hull(self, other: EpochRange) -> EpochRange {
        EpochRange {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    fn at_most(self, last: u32) -> EpochRange {
        EpochRange {
            first: self.first.min(last),
            last: self.last.min(last),
        }
    }

    fn shifted(self, by: u32) -> EpochRange {
        EpochRange {
            first: self.first + by,
            last: self.last + by,
        }
    }

    /// Whether some epoch lies in both.
    pub fn meets(self, other: EpochRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The epochs of one function, from its own entry, callees included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Epochs {
    /// By instruction: the epochs in which it may run. A barrier ends the epoch before it and
    /// counts as part of the next.
    pub of_instruction: Vec<EpochRange>,
    /// By instruction: it stands in a cycle with barriers, so what it calls may run in any epoch
    /// of its range.
    pub in_cycle: Vec<bool>,
    /// The ids of the barriers passed, in order; a cycle's by id.
    pub barriers: Vec<BarrierPass>,
    /// By (function position, root), for members of groups: the hull of the epochs of its
    /// accesses, callees included.
    pub(crate) of_root: OrderedMap<(usize, MemLocId), EpochRange>,
}

/// A barrier on the way through a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierPass {
    /// The id the program gives it.
    pub id: Option<u64>,
    /// The function it stands in, by position.
    pub function: usize,
    /// Its flat index there.
    pub index: FlatIndex,
}

/// The epochs of every function of a module, by position.
///
/// # Errors
///
/// Two ways to one block that pass different numbers of barriers, or barriers of different ids
/// at one position.
pub(crate) fn epochs(
    module: &Module,
    calls: &CallGraph,
    is_grouped: &dyn Fn(usize, MemLocId) -> bool,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<Epochs>> {
    let mut all = vec![Epochs::default(); module.functions().len()];
    for &f in calls.callers_first.iter().rev() {
        let function = &module.functions()[f];
        all[f] = of_function(module, f, calls, &all, is_grouped, pace)
            .map_err(|e| e.in_function(function.name()).on_core(module.core()))?;
    }
    Ok(all)
}

/// What a walk over one function gathers; positions are relative to the component's entry.
fn of_function(
    module: &Module,
    f: usize,
    calls: &CallGraph,
    done: &[Epochs],
    is_grouped: &dyn Fn(usize, MemLocId) -> bool,
    pace: &mut Pace<'_, '_>,
) -> Result<Epochs> {
    let function = &module.functions()[f];
    let components = components(function);
    let reachable = reachable(function);
    let sites: OrderedMap<FlatIndex, usize> = calls
        .calls_of(f)
        .iter()
        .map(|s| (s.index, s.callee))
        .collect();
    let mut epochs = Epochs {
        of_instruction: vec![EpochRange::default(); function.instructions().len()],
        in_cycle: vec![false; function.instructions().len()],
        ..Epochs::default()
    };
    // How many barriers were passed on entering a component; `None` where control never gets.
    let mut entered: Vec<Option<(u32, BlockId)>> = vec![None; components.blocks.len()];
    entered[components.of_block[0]] = Some((0, BlockId(0)));
    let mut exit: Option<(u32, BlockId)> = None;
    for component in components.topological() {
        let base = entered[component].map_or(0, |(base, _)| base);
        let blocks = &components.blocks[component];
        // What control never reaches runs in no epoch, but its accesses count as if it did; it
        // neither adds barriers nor has a say in how many there are.
        let runs = reachable[blocks[0].index()];
        let mut passes: Vec<BarrierPass> = Vec::new();
        for &block in blocks {
            pace.work(1 + function.block_range(block).len())?;
            passes.extend(passes_of_block(function, f, block, &sites, done));
        }
        let cyclic = components.is_cyclic(function, component);
        if cyclic {
            passes.sort_compact_by_key(|pass| pass.id); // Which comes first, layout does not tell.
        }
        if runs {
            merge_passes(&mut epochs.barriers, base, &passes)?;
        }
        let end = base + passes.len() as u32;
        let whole = (cyclic && !passes.is_empty()).then_some(EpochRange {
            first: base,
            last: end,
        });
        for &block in blocks {
            let mut at = base;
            for t in function.block_range(block).map(FlatIndex) {
                pace.work(1 + function.uses(t).len() + function.defs(t).len())?;
                let callee = sites.get(&t).copied();
                if function.instructions()[t.index()].kind == Kind::Barrier {
                    at += 1;
                }
                let inside = callee.map_or(0, |c| done[c].barriers.len() as u32);
                let range = whole.unwrap_or(EpochRange {
                    first: at,
                    last: at + inside,
                });
                epochs.of_instruction[t.index()] = range;
                epochs.in_cycle[t.index()] = whole.is_some();
                for root in touched_roots(function, t).filter(|&root| is_grouped(f, root)) {
                    touch(&mut epochs.of_root, (f, root), range);
                }
                if let Some(callee) = callee {
                    for (&root, &within) in &done[callee].of_root {
                        pace.work(1)?;
                        touch(
                            &mut epochs.of_root,
                            root,
                            whole.unwrap_or(within.shifted(at)),
                        );
                    }
                }
                at += inside;
            }
        }
        for &block in blocks {
            if function.successors(block).is_empty() && runs {
                let (other, from) = *exit.get_or_insert((end, block));
                if other != end {
                    let reason = format!(
                        "{other} on the way out through block {from}, {end} through block {block}"
                    );
                    return Err(Error::invalid("barriers", reason));
                }
            }
            for &next in function.successors(block) {
                let into = components.of_block[next.index()];
                if into == component || (reachable[next.index()] && !runs) {
                    continue;
                }
                match entered[into] {
                    None => entered[into] = Some((end, block)),
                    Some((other, from)) if other != end && runs => {
                        let reason = format!(
                            "{other} on the way from block {from} to block {next}, {end} from block {block}"
                        );
                        return Err(Error::invalid("barriers", reason));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    let last = epochs.barriers.len() as u32;
    pace.work(epochs.of_instruction.len() / 4)?;
    let ranges = epochs
        .of_instruction
        .iter_mut()
        .chain(epochs.of_root.values_mut());
    ranges.for_each(|range| *range = range.at_most(last));
    Ok(epochs)
}

/// The blocks that control can reach from the entry.
fn reachable(function: &Function) -> Vec<bool> {
    let mut reachable = vec![false; function.blocks().len()];
    let mut open = vec![BlockId(0)];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reachable[block.index()], true) {
            open.extend(function.successors(block));
        }
    }
    reachable
}

fn touch(
    of_root: &mut OrderedMap<(usize, MemLocId), EpochRange>,
    key: (usize, MemLocId),
    range: EpochRange,
) {
    of_root
        .entry(key)
        .and_modify(|r| *r = r.hull(range))
        .or_insert(range);
}

fn touched_roots(function: &Function, t: FlatIndex) -> impl Iterator<Item = MemLocId> {
    let accesses = function
        .uses(t)
        .iter()
        .chain(function.defs(t))
        .map(|a| a.loc);
    accesses
        .chain(function.args(t).iter().map(|a| a.caller))
        .map(|loc| function.root(loc).0)
}

fn passes_of_block<'a>(
    function: &'a Function,
    f: usize,
    block: BlockId,
    sites: &'a OrderedMap<FlatIndex, usize>,
    done: &'a [Epochs],
) -> impl Iterator<Item = BarrierPass> + 'a {
    function
        .block_range(block)
        .map(FlatIndex)
        .flat_map(move |t| {
            let instruction = &function.instructions()[t.index()];
            let own = (instruction.kind == Kind::Barrier).then_some(BarrierPass {
                id: function.barrier_id(t),
                function: f,
                index: t,
            });
            let called = sites
                .get(&t)
                .map_or(&[][..], |&callee| &done[callee].barriers);
            own.into_iter().chain(called.iter().copied())
        })
}

/// Appends the passes of a component that starts at `base`, or compares them with those of
/// another arm that covers the same positions.
fn merge_passes(barriers: &mut Vec<BarrierPass>, base: u32, passes: &[BarrierPass]) -> Result<()> {
    for (i, pass) in passes.iter().enumerate() {
        let position = base as usize + i;
        match barriers.get(position) {
            Some(other) if other.id != pass.id => {
                let reason = format!(
                    "barrier {position} has {} at instruction {} and {} at instruction {}",
                    show(other.id),
                    other.index,
                    show(pass.id),
                    pass.index
                );
                return Err(Error::invalid("barriers", reason));
            }
            Some(_) => {}
            None => barriers.push(*pass),
        }
    }
    Ok(())
}

pub(super) fn show(id: Option<u64>) -> String {
    id.map_or("no id".to_owned(), |id| format!("id {id}"))
}

/// The strongly connected components of a function's blocks, numbered in reverse topological
/// order.
struct Components {
    of_block: Vec<usize>,
    /// By component, ascending in layout order.
    blocks: Vec<Vec<BlockId>>,
}

impl Components {
    fn topological(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.blocks.len()).rev()
    }

    fn is_cyclic(&self, function: &Function, component: usize) -> bool {
        let blocks = &self.blocks[component];
        blocks.len() > 1 || function.successors(blocks[0]).contains(&blocks[0])
    }
}

fn components(function: &Function) -> Components {
    const NEW: u32 = u32::MAX;
    let count = function.blocks().len();
    let mut index = vec![NEW; count];
    let mut low = vec![0u32; count];
    let mut of_block = vec![usize::MAX; count];
    let mut blocks: Vec<Vec<BlockId>> = Vec::new();
    let (mut next, mut stack) = (0u32, Vec::new());
    for start in (0..count).map(BlockId::new) {
        let mut walk = Vec::new();
        if index[start.index()] == NEW {
            walk.push((start, 0));
        }
        while let Some(&mut (block, ref mut succ)) = walk.last_mut() {
            let b = block.index();
            if *succ == 0 && index[b] == NEW {
                (index[b], low[b]) = (next, next);
                next += 1;
                stack.push(block);
            }
            if let Some(&to) = function.successors(block).get(*succ) {
                *succ += 1;
                if index[to.index()] == NEW {
                    walk.push((to, 0));
                } else if of_block[to.index()] == usize::MAX {
                    low[b] = low[b].min(index[to.index()]);
                }
                continue;
            }
            walk.pop();
            if let Some(&(parent, _)) = walk.last() {
                low[parent.index()] = low[parent.index()].min(low[b]);
            }
            if low[b] == index[b] {
                let at = stack
                    .iter()
                    .rposition(|&x| x == block)
                    .expect("on the stack");
                let mut members = stack.split_off(at);
                members.sort_compact_by_key(|&block| block);
                members
                    .iter()
                    .for_each(|m| of_block[m.index()] = blocks.len());
                blocks.push(members);
            }
        }
    }
    Components { of_block, blocks }
}
