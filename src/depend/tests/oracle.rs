//! The rules of D1, played out: walks through small functions, every pair compared.
//!
//! Shares nothing with the analysis but the program model and the layout's addresses.

use std::collections::BTreeSet;

use crate::ir::{Access, Accesses, BlockId, FlatIndex, Function, Kind, Space};
use crate::plan::DependenceKind;

use crate::depend::Edge;

/// Where the roots lie; by `MemLocId`.
pub(super) type Places = Vec<Option<(Space, u64)>>;

/// Bytes `[start, end)` of an address space, or of a root without an address.
type Bytes = (u32, u64, u64);

/// The instructions of a function, with the bytes that they touch.
pub(super) struct Oracle<'a> {
    function: &'a Function,
    reads: Vec<Vec<Bytes>>,
    writes: Vec<Vec<Bytes>>,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(function: &'a Function, places: &Places) -> Oracle<'a> {
        let bytes = |access: Access| {
            let (root, base) = function.root(access.loc);
            let (area, first) = match places[root.index()] {
                Some((space, address)) => (space as u32, address),
                None => (100 + root.0, 0),
            };
            let start = first + base + access.offset;
            (area, start, start + access.bytes)
        };
        let touched = |accesses: Accesses<'_>| accesses.iter().map(bytes).collect();
        let all = || (0..function.instructions().len()).map(FlatIndex::new);
        Oracle {
            function,
            reads: all().map(|i| touched(function.uses(i))).collect(),
            writes: all().map(|i| touched(function.defs(i))).collect(),
        }
    }

    fn fence(&self, i: u32) -> bool {
        let kind = self.function.instructions()[i as usize].kind;
        matches!(kind, Kind::Barrier | Kind::Call)
    }

    fn engine(&self, i: u32) -> u32 {
        self.function.instructions()[i as usize].engine
    }

    /// Why `j` has to stay behind `i`, if it has to.
    pub(super) fn conflict(&self, i: u32, j: u32) -> Option<DependenceKind> {
        let (i, j) = (i as usize, j as usize);
        if meet(&self.writes[i], &self.reads[j]) {
            Some(DependenceKind::Flow)
        } else if meet(&self.writes[i], &self.writes[j]) {
            Some(DependenceKind::Output)
        } else if meet(&self.reads[i], &self.writes[j]) {
            Some(DependenceKind::Anti)
        } else {
            None
        }
    }

    /// What the machine orders by itself.
    fn hardware(&self, i: u32, j: u32) -> bool {
        self.fence(i) || self.fence(j) || self.engine(i) == self.engine(j)
    }

    /// Walks from any block in which no block occurs more than `times`, at most `limit` of them;
    /// `None` if there are more.
    pub(super) fn walks(&self, times: usize, limit: usize) -> Option<Vec<Vec<BlockId>>> {
        let mut walks = Vec::new();
        let blocks = self.function.blocks().len();
        let mut open: Vec<Vec<BlockId>> = (0..blocks).map(|b| vec![BlockId::new(b)]).collect();
        while let Some(walk) = open.pop() {
            let mut ends = true;
            for &succ in self.function.successors(walk[walk.len() - 1]) {
                if walk.iter().filter(|&&b| b == succ).count() < times {
                    ends = false;
                    open.push(walk.iter().copied().chain([succ]).collect());
                }
            }
            if ends {
                walks.push(walk);
            }
            if walks.len() + open.len() > limit {
                return None;
            }
        }
        Some(walks)
    }

    /// The instructions along a walk.
    pub(super) fn trace(&self, walk: &[BlockId]) -> Vec<u32> {
        let ranges = walk.iter().map(|&block| self.function.block_range(block));
        ranges.flatten().collect()
    }

    /// The positions that have to stay in order, all of them.
    fn order(&self, trace: &[u32]) -> Vec<Vec<bool>> {
        close(trace.len(), |p, q| {
            self.hardware(trace[p], trace[q]) || self.conflict(trace[p], trace[q]).is_some()
        })
    }

    /// The edges that a walk cannot do without: the pair, why, and where the back edges between
    /// the two executions arrive.
    pub(super) fn needed(
        &self,
        walk: &[BlockId],
        back: &BTreeSet<(BlockId, BlockId)>,
    ) -> Vec<((u32, u32), DependenceKind, Vec<BlockId>)> {
        let trace = self.trace(walk);
        let ranges = walk.iter().enumerate();
        let step: Vec<usize> = ranges // Of the walk, by position of the trace.
            .flat_map(|(step, &block)| self.function.block_range(block).map(move |_| step))
            .collect();
        let order = self.order(&trace);
        let mut needed = Vec::new();
        for q in 0..trace.len() {
            for p in 0..q {
                let (i, j) = (trace[p], trace[q]);
                let direct = order[p][q] && !(p + 1..q).any(|k| order[p][k] && order[k][q]);
                if direct && !self.hardware(i, j) {
                    let kind = self.conflict(i, j).expect("nothing else orders them");
                    let steps = walk[step[p]..=step[q]].windows(2);
                    let arrivals = steps.filter(|w| back.contains(&(w[0], w[1])));
                    needed.push(((i, j), kind, arrivals.map(|w| w[1]).collect()));
                }
            }
        }
        needed
    }

    /// The first two positions of a trace that have to stay in order and do not.
    pub(super) fn unordered(&self, trace: &[u32], edges: &[Edge]) -> Option<(usize, usize)> {
        let waits: BTreeSet<(u32, u32)> = edges.iter().map(|e| (e.from.0, e.to.0)).collect();
        let ordered = close(trace.len(), |p, q| {
            let (i, j) = (trace[p], trace[q]);
            self.hardware(i, j) || waits.contains(&(i, j)) && !trace[p + 1..q].contains(&i)
        });
        let pairs = (0..trace.len()).flat_map(|q| (0..q).map(move |p| (p, q)));
        pairs
            .filter(|&(p, q)| self.conflict(trace[p], trace[q]).is_some())
            .find(|&(p, q)| !ordered[p][q])
    }

    /// Pairs of instructions on different engines that touch a common byte which nothing between
    /// them hides; `strictly` also counts what a read hides from a later write.
    pub(super) fn met(&self, trace: &[u32], strictly: bool) -> BTreeSet<(u32, u32)> {
        let mut cuts: Vec<(u32, u64)> = Vec::new(); // One byte stands for all up to the next cut.
        for list in self.reads.iter().chain(&self.writes) {
            cuts.extend(list.iter().flat_map(|b| [(b.0, b.1), (b.0, b.2)]));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut met = BTreeSet::new();
        for (area, byte) in cuts {
            let over = |b: &Bytes| b.0 == area && b.1 <= byte && byte < b.2;
            let reads = |i: u32| self.reads[i as usize].iter().any(over);
            let writes = |i: u32| self.writes[i as usize].iter().any(over);
            for q in 0..trace.len() {
                for p in (0..q).rev() {
                    let (i, j) = (trace[p], trace[q]);
                    if self.fence(i) || self.fence(j) {
                        break;
                    }
                    let mut readers = trace[p + 1..q].iter().filter(|&&k| reads(k));
                    let (read, read_by_same) = match strictly {
                        true => (
                            readers.clone().next().is_some(),
                            readers.any(|&k| self.engine(k) == self.engine(i)),
                        ),
                        false => (false, false),
                    };
                    let flow = writes(i) && reads(j);
                    let output = writes(i) && writes(j) && !read;
                    let anti = reads(i) && writes(j) && !read_by_same;
                    if (flow || output || anti) && self.engine(i) != self.engine(j) {
                        met.insert((i, j));
                    }
                    if writes(i) {
                        break; // It hides what came before it.
                    }
                }
            }
        }
        met
    }

    /// The back edges of a depth-first walk over blocks. // D1
    pub(super) fn back_edges(&self) -> BTreeSet<(BlockId, BlockId)> {
        fn visit(
            function: &Function,
            at: BlockId,
            open: &mut Vec<BlockId>,
            done: &mut BTreeSet<BlockId>,
            back: &mut BTreeSet<(BlockId, BlockId)>,
        ) {
            open.push(at);
            for &succ in function.successors(at) {
                if open.contains(&succ) {
                    back.insert((at, succ));
                } else if !done.contains(&succ) {
                    visit(function, succ, open, done, back);
                }
            }
            open.pop();
            done.insert(at);
        }
        let (mut done, mut back) = (BTreeSet::new(), BTreeSet::new());
        for block in (0..self.function.blocks().len()).map(BlockId::new) {
            if !done.contains(&block) {
                visit(self.function, block, &mut Vec::new(), &mut done, &mut back);
            }
        }
        back
    }
}

fn meet(some: &[Bytes], others: &[Bytes]) -> bool {
    let meets = |a: &Bytes, b: &Bytes| a.0 == b.0 && a.1.max(b.1) < a.2.min(b.2);
    some.iter().any(|a| others.iter().any(|b| meets(a, b)))
}

/// The transitive closure of a relation from earlier to later positions.
fn close(n: usize, related: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut order = vec![vec![false; n]; n];
    for p in (0..n).rev() {
        for q in p + 1..n {
            if related(p, q) {
                order[p][q] = true;
                let after = order[q].clone();
                order[p]
                    .iter_mut()
                    .zip(after)
                    .for_each(|(known, more)| *known |= more);
            }
        }
    }
    order
}
