//! The rules of D1, played out: walks through small functions, bytes one by one, orders as sets.
//!
//! Shares nothing with the analysis but the program model and the layout's addresses.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{BlockId, FlatIndex, Function, Kind, MemLocId, Space};
use crate::plan::DependenceKind;

use super::Edge;

/// Where the roots lie; by `MemLocId`.
pub(super) type Places = Vec<Option<(Space, u64)>>;

/// A byte: of an address space, or of a root without an address.
type Byte = (u32, u64);

/// The instructions of a function, with the bytes that they touch.
pub(super) struct Oracle<'a> {
    function: &'a Function,
    reads: Vec<BTreeSet<Byte>>,
    writes: Vec<BTreeSet<Byte>>,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(function: &'a Function, places: &Places) -> Oracle<'a> {
        let bytes = |loc: MemLocId, offset: u64, bytes: u64| {
            let (root, base) = function.root(loc);
            let (area, first) = match places[root.index()] {
                Some((space, address)) => (space as u32, address),
                None => (100 + root.0, 0),
            };
            (0..bytes).map(move |byte| (area, first + base + offset + byte))
        };
        let touched = |accesses: &[crate::ir::Access]| {
            let each = accesses
                .iter()
                .flat_map(|a| bytes(a.loc, a.offset, a.bytes));
            each.collect()
        };
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
        if !self.writes[i].is_disjoint(&self.reads[j]) {
            Some(DependenceKind::Flow)
        } else if !self.writes[i].is_disjoint(&self.writes[j]) {
            Some(DependenceKind::Output)
        } else if !self.reads[i].is_disjoint(&self.writes[j]) {
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

    /// The edges that a trace cannot do without.
    pub(super) fn reduction(&self, trace: &[u32]) -> BTreeMap<(u32, u32), DependenceKind> {
        let order = self.order(trace);
        let mut edges = BTreeMap::new();
        for q in 0..trace.len() {
            for p in 0..q {
                let (i, j) = (trace[p], trace[q]);
                let direct = order[p][q] && !(p + 1..q).any(|k| order[p][k] && order[k][q]);
                if direct && !self.hardware(i, j) {
                    let kind = self.conflict(i, j).expect("nothing else orders them");
                    edges.insert((i, j), kind);
                }
            }
        }
        edges
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

    /// Whether a walk leads from one instruction to another over forward edges only, with nothing
    /// in between that has to stay between the two.
    pub(super) fn forward(&self, back: &BTreeSet<(BlockId, BlockId)>, i: u32, j: u32) -> bool {
        let walks = self.walks(1, usize::MAX).expect("no limit");
        walks.iter().any(|walk| {
            // Walks without back edges repeat nothing; cut at the first one that does.
            let forward = walk
                .windows(2)
                .take_while(|w| !back.contains(&(w[0], w[1])));
            let trace = self.trace(&walk[..=forward.count()]);
            self.reduction(&trace).contains_key(&(i, j))
        })
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

/// The transitive closure of a relation from earlier to later positions.
fn close(n: usize, related: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut order = vec![vec![false; n]; n];
    for p in (0..n).rev() {
        for q in p + 1..n {
            if related(p, q) {
                order[p][q] = true;
                for r in q + 1..n {
                    order[p][r] |= order[q][r];
                }
            }
        }
    }
    order
}
