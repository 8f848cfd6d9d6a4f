//! The control-flow graph, with straight-line code joined.
//!
//! A *strand* is a maximal chain of blocks that control always runs through from first to last.
//! Inside one there is nothing to merge, so that code which a compiler has cut into many blocks
//! is treated as the one block that it is.
//!
//! # Invariants
//!
//! * **cover**: each block lies in exactly one strand;
//! * **head**: control enters a strand at its first block only, and leaves it after its last;
//! * **stages**: an edge never leads to a lower stage;
//! * **acyclic**: without the back edges, the graph has no cycle, and `rank` grows along edges.

use crate::ir::{BlockId, Function};
use crate::pace::Pace;

use super::code::Code;

/// The strands of one function, numbered from 0 by their first block in layout order.
#[derive(Debug)]
pub(super) struct Strands {
    strands: Vec<Strand>,
    rank: Vec<u32>,
    stage: Vec<u32>,
    cyclic: Vec<bool>, // By stage.
    of_instruction: Vec<u32>,
}

#[derive(Debug, Default)]
struct Strand {
    blocks: Vec<BlockId>,
    succs: Vec<Step>,
    preds: Vec<u32>,
    instructions: Vec<std::ops::Range<u32>>,
    fenced: bool,
}

/// An edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Where control goes.
    pub to: u32,
    /// Whether it goes back to where it has come from. // D1
    pub back: bool,
}

impl Strands {
    pub(super) fn new(function: &Function, code: &Code, pace: &mut Pace<'_, '_>) -> Strands {
        let blocks = function.blocks().len();
        let next = chains(function);
        let mut has_previous = vec![false; blocks];
        next.iter()
            .flatten()
            .for_each(|b| has_previous[b.index()] = true);

        let mut of_block = vec![0; blocks];
        let mut strands: Vec<Strand> = Vec::new();
        for head in (0..blocks).map(BlockId::new) {
            if has_previous[head.index()] {
                continue;
            }
            let mut strand = Strand::default();
            let mut at = Some(head);
            while let Some(block) = at {
                of_block[block.index()] = strands.len() as u32;
                strand.blocks.push(block);
                let range = function.block_range(block);
                // Its edges are walked over a few times before and after this.
                if pace.over(range.len() + 10 * (1 + function.successors(block).len())) {
                    break;
                }
                strand.fenced |= range.clone().any(|i| code.is_fence(i));
                strand.instructions.push(range);
                at = next[block.index()];
            }
            strands.push(strand);
        }
        for s in 0..strands.len() {
            let last = *strands[s].blocks.last().expect("a strand has blocks");
            for succ in function.successors(last) {
                let to = of_block[succ.index()];
                let preds = &mut strands[to as usize].preds;
                if preds.last() != Some(&(s as u32)) {
                    preds.push(s as u32);
                    strands[s].succs.push(Step { to, back: false });
                }
            }
        }
        let rank = rank(&mut strands);
        let (stage, cyclic) = stages(&strands, &rank);
        let mut of_instruction = Vec::with_capacity(function.instructions().len());
        for instruction in function.instructions() {
            if pace.over(1) {
                break;
            }
            of_instruction.push(of_block[instruction.block.index()]);
        }
        of_instruction.resize(function.instructions().len(), 0); // If the host has stopped it.
        Strands {
            strands,
            rank,
            stage,
            cyclic,
            of_instruction,
        }
    }

    /// The strand of an instruction.
    pub(super) fn of(&self, index: u32) -> u32 {
        self.of_instruction[index as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.strands.len()
    }

    /// Where control may go after a strand.
    pub(super) fn succs(&self, strand: u32) -> &[Step] {
        &self.strands[strand as usize].succs
    }

    /// Where control may come from.
    pub(super) fn preds(&self, strand: u32) -> &[u32] {
        &self.strands[strand as usize].preds
    }

    /// Whether some instruction of a strand is a fence.
    pub(super) fn fenced(&self, strand: u32) -> bool {
        self.strands[strand as usize].fenced
    }

    /// The first block, where control enters.
    pub(super) fn head(&self, strand: u32) -> BlockId {
        self.strands[strand as usize].blocks[0]
    }

    /// The position in an order that only back edges go against.
    pub(super) fn rank(&self, strand: u32) -> u32 {
        self.rank[strand as usize]
    }

    /// The position of a strand's cycles in an order that no edge goes against. Control comes from
    /// one strand to another only if the stage grows, or if both are of one [`cyclic`] stage.
    ///
    /// [`cyclic`]: Strands::cyclic
    pub(super) fn stage(&self, strand: u32) -> u32 {
        self.stage[strand as usize]
    }

    /// Whether control can come back to the strands of a stage.
    pub(super) fn cyclic(&self, stage: u32) -> bool {
        self.cyclic[stage as usize]
    }

    /// Whether control may come from a stage to one before `end` that is not before it.
    pub(super) fn leads_to(&self, stage: u32, end: u32) -> bool {
        end > stage + 1 || (end == stage + 1 && self.cyclic(stage))
    }

    /// The flat indices of a strand's instructions, in the order in which they run.
    pub(super) fn instructions(
        &self,
        strand: u32,
    ) -> impl DoubleEndedIterator<Item = u32> + use<'_> {
        let ranges = &self.strands[strand as usize].instructions;
        ranges.iter().flat_map(|range| range.clone())
    }

    /// How many instructions a strand has.
    pub(super) fn size(&self, strand: u32) -> u32 {
        let ranges = &self.strands[strand as usize].instructions;
        ranges.iter().map(|range| range.len() as u32).sum()
    }
}

/// Per block the one that it always and alone leads to, if there is one.
fn chains(function: &Function) -> Vec<Option<BlockId>> {
    let blocks = function.blocks().len();
    let only = |block: BlockId| {
        let (first, rest) = function.successors(block).split_first()?;
        rest.iter().all(|b| b == first).then_some(*first)
    };
    let mut first_pred = vec![None; blocks];
    // Whether a strand begins: control joins there, or a walk over the graph starts there. The
    // latter breaks up cycles that nothing enters.
    let mut joins = roots(function);
    for block in (0..blocks).map(BlockId::new) {
        for succ in function.successors(block) {
            let seen = first_pred[succ.index()].get_or_insert(block);
            joins[succ.index()] |= *seen != block;
        }
    }
    (0..blocks)
        .map(BlockId::new)
        .map(|b| only(b).filter(|&succ| succ != b && !joins[succ.index()]))
        .collect()
}

/// Per block whether a walk in layout order over all blocks starts there: the entry, and then
/// what no earlier start has reached. // L3
fn roots(function: &Function) -> Vec<bool> {
    let blocks = function.blocks().len();
    let mut roots = vec![false; blocks];
    let mut seen = vec![false; blocks];
    let mut open = Vec::new();
    for root in (0..blocks).map(BlockId::new) {
        if seen[root.index()] {
            continue;
        }
        roots[root.index()] = true;
        seen[root.index()] = true;
        open.push(root);
        while let Some(block) = open.pop() {
            for succ in function.successors(block) {
                if !std::mem::replace(&mut seen[succ.index()], true) {
                    open.push(*succ);
                }
            }
        }
    }
    roots
}

/// Marks the back edges of a depth-first walk from the entry, then from what it does not reach,
/// and returns the position of each strand in reverse postorder.
fn rank(strands: &mut [Strand]) -> Vec<u32> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut mark = vec![Mark::New; strands.len()];
    let mut rank = vec![0; strands.len()];
    let mut left = strands.len() as u32;
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..strands.len() {
        if mark[root] != Mark::New {
            continue;
        }
        mark[root] = Mark::Open;
        path.push((root, 0));
        while let Some((at, step)) = path.last_mut() {
            let at = *at;
            if let Some(succ) = strands[at].succs.get_mut(*step) {
                *step += 1;
                let to = succ.to as usize;
                match mark[to] {
                    Mark::New => {
                        mark[to] = Mark::Open;
                        path.push((to, 0));
                    }
                    Mark::Open => succ.back = true,
                    Mark::Done => {}
                }
            } else {
                mark[at] = Mark::Done;
                left -= 1;
                rank[at] = left;
                path.pop();
            }
        }
    }
    rank
}

/// The strongly connected components in topological order, and which of them have cycles (the
/// second pass of Kosaraju's algorithm; the first one has left the ranks).
fn stages(strands: &[Strand], rank: &[u32]) -> (Vec<u32>, Vec<bool>) {
    let mut by_rank = vec![0; strands.len()];
    for (strand, &rank) in (0..).zip(rank) {
        by_rank[rank as usize] = strand;
    }
    let mut stage = vec![u32::MAX; strands.len()];
    let mut cyclic = Vec::new();
    let mut open = Vec::new();
    for root in by_rank {
        if stage[root as usize] != u32::MAX {
            continue;
        }
        let this = cyclic.len() as u32;
        cyclic.push(false);
        stage[root as usize] = this;
        open.push(root);
        while let Some(strand) = open.pop() {
            for &pred in &strands[strand as usize].preds {
                if stage[pred as usize] == u32::MAX {
                    stage[pred as usize] = this;
                    open.push(pred);
                }
                // An edge inside a component lies on a cycle.
                cyclic[this as usize] |= stage[pred as usize] == this;
            }
        }
    }
    (stage, cyclic)
}
