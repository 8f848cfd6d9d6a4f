//! A function's control flow, turned around and classified once.

use crate::ir::{BlockId, Function};
use crate::pace::Pace;

/// Blocks with both directions of their edges.
pub(super) struct Graph {
    succs: Rows,
    preds: Rows,
    ranges: Vec<std::ops::Range<u32>>,
    block_of: Vec<u32>,
    reachable: Vec<bool>,
    endless: Vec<bool>,
    has_endless: bool,
    exits: Vec<u32>,
}

/// Lists of blocks, one per block, in compressed rows.
struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    fn new(len: usize, pairs: &[(u32, u32)]) -> Rows {
        let mut starts = vec![0; len + 1];
        for &(from, _) in pairs {
            starts[from as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut cursor = starts.clone();
        let mut items = vec![0; pairs.len()];
        for &(from, to) in pairs {
            items[cursor[from as usize] as usize] = to;
            cursor[from as usize] += 1;
        }
        Rows { starts, items }
    }

    fn of(&self, i: u32) -> &[u32] {
        &self.items[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize]
    }
}

impl Graph {
    /// Reads a function.
    pub fn of(function: &Function, pace: &mut Pace<'_, '_>) -> Graph {
        let len = function.blocks().len();
        let mut edges = Vec::new();
        let mut ranges = Vec::with_capacity(len);
        let mut block_of = Vec::with_capacity(function.instructions().len());
        for block in (0..len).map(BlockId::new) {
            edges.extend(function.successors(block).iter().map(|s| (block.0, s.0)));
            let range = function.block_range(block);
            block_of.extend(range.clone().map(|_| block.0));
            ranges.push(range);
        }
        let turned: Vec<_> = edges.iter().map(|&(from, to)| (to, from)).collect();
        let (succs, preds) = (Rows::new(len, &edges), Rows::new(len, &turned));
        let exits: Vec<u32> = (0..len as u32)
            .filter(|&b| succs.of(b).is_empty())
            .collect();
        let reachable = closure(len, &[0], |b| succs.of(b));
        let ends = closure(len, &exits, |b| preds.of(b));
        let endless: Vec<bool> = ends.iter().map(|&e| !e).collect();
        // Each edge was sorted twice and walked over twice.
        pace.over(4 * (len + edges.len()));
        Graph {
            has_endless: endless.contains(&true),
            succs,
            preds,
            ranges,
            block_of,
            reachable,
            endless,
            exits,
        }
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Where control may go after a block.
    pub fn succs(&self, block: u32) -> &[u32] {
        self.succs.of(block)
    }

    /// Where control may come from.
    pub fn preds(&self, block: u32) -> &[u32] {
        self.preds.of(block)
    }

    /// The instructions of a block.
    pub fn range(&self, block: u32) -> std::ops::Range<u32> {
        self.ranges[block as usize].clone()
    }

    /// The block of an instruction.
    pub fn block_of(&self, index: u32) -> u32 {
        self.block_of[index as usize]
    }

    /// Whether control can get there from the entry.
    pub fn reachable(&self, block: u32) -> bool {
        self.reachable[block as usize]
    }

    /// Whether no exit can be reached from there. // L6
    pub fn endless(&self, block: u32) -> bool {
        self.endless[block as usize]
    }

    /// Whether there is a block from which no exit can be reached.
    pub fn has_endless(&self) -> bool {
        self.has_endless
    }

    /// The blocks from which no exit can be reached.
    pub fn endless_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).filter(|&b| self.endless(b))
    }

    /// The blocks without successors.
    pub fn exits(&self) -> &[u32] {
        &self.exits
    }

    /// Strongly connected components in topological order, each with its blocks ascending, and
    /// whether it contains a cycle (Tarjan, *Depth-first search and linear graph algorithms*,
    /// 1972, without recursion).
    pub fn components(&self) -> Vec<(Vec<u32>, bool)> {
        const UNSEEN: u32 = u32::MAX;
        let len = self.len();
        let (mut number, mut low) = (vec![UNSEEN; len], vec![0; len]);
        let (mut stack, mut on_stack) = (Vec::new(), vec![false; len]);
        let mut next = 0;
        let mut found = Vec::new();
        for start in 0..len as u32 {
            if number[start as usize] != UNSEEN {
                continue;
            }
            let mut path: Vec<(u32, usize)> = vec![(start, 0)];
            while let Some(&mut (block, ref mut at)) = path.last_mut() {
                let b = block as usize;
                if *at == 0 && number[b] == UNSEEN {
                    (number[b], low[b]) = (next, next);
                    next += 1;
                    stack.push(block);
                    on_stack[b] = true;
                }
                if let Some(&succ) = self.succs(block).get(*at) {
                    *at += 1;
                    let s = succ as usize;
                    if number[s] == UNSEEN {
                        path.push((succ, 0));
                    } else if on_stack[s] {
                        low[b] = low[b].min(number[s]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[b]);
                }
                if low[b] == number[b] {
                    let at = stack
                        .iter()
                        .rposition(|&x| x == block)
                        .expect("it is on the stack");
                    let mut members = stack.split_off(at);
                    members.iter().for_each(|&m| on_stack[m as usize] = false);
                    members.sort_unstable();
                    let cyclic = members.len() > 1 || self.succs(block).contains(&block);
                    found.push((members, cyclic));
                }
            }
        }
        found.reverse();
        found
    }
}

fn closure<'a>(len: usize, from: &[u32], next: impl Fn(u32) -> &'a [u32]) -> Vec<bool> {
    let mut seen = vec![false; len];
    let mut work = from.to_vec();
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut seen[block as usize], true) {
            work.extend(next(block).iter().filter(|&&b| !seen[b as usize]));
        }
    }
    seen
}
