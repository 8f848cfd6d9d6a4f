//! What the walks need to know of the control-flow graph, computed once per function.
//!
//! The ranks answer "can control get from `a` to `b`?" with *no* or *perhaps*: each of the two is
//! a topological order of the strongly connected components, so a path from `a` to `b` needs a
//! rank of `a` not above that of `b` in both. The first takes successors in the order listed, the
//! second backwards, so that of two parallel arms each comes first once; for planar graphs, which
//! structured programs are, two such orders decide nearly everything (T. Kameda, *On the vector
//! representation of the reachability in planar directed graphs*, 1975).

use crate::control::Stop;
use crate::ir::{BlockId, Function};
use crate::pace::Pace;

/// Two topological numbers of a block.
pub(super) type Rank = [u32; 2];

pub(super) struct Graph {
    pred_starts: Vec<u32>,
    preds: Vec<u32>,
    ranks: Vec<Rank>,
    entries: Vec<bool>,
    unreachable: Vec<u32>,
    exits: Vec<u32>,
    endless: Vec<u32>,
    is_endless: Vec<bool>,
}

impl Graph {
    pub fn unless(function: &Function, pace: &mut Pace<'_, '_>) -> Result<Graph, Stop> {
        let blocks = function.blocks().len();
        let successors = |block: u32| function.successors(BlockId(block));

        let mut pred_starts = vec![0_u32; blocks + 1];
        let ids = 0..blocks as u32; // Block ids are 32 bits.
        let edges = || {
            ids.clone()
                .flat_map(|b| successors(b).iter().map(move |s| (b, s.index())))
        };
        for (_, to) in edges() {
            pace.work(1)?;
            pred_starts[to] += 1;
        }
        let mut total = 0;
        for start in &mut pred_starts {
            total += *start;
            *start = total;
        }
        let mut preds = vec![0; total as usize];
        for (from, to) in edges() {
            pace.work(1)?;
            pred_starts[to] -= 1; // Ends come down to starts as the rows fill.
            preds[pred_starts[to] as usize] = from;
        }

        let mut graph = Graph {
            pred_starts,
            preds,
            ranks: ranks(function, pace)?,
            entries: vec![true; blocks],
            unreachable: Vec::new(),
            exits: Vec::new(),
            endless: Vec::new(),
            is_endless: vec![true; blocks],
        };
        let mut todo = vec![0];
        graph.entries[0] = false;
        while let Some(block) = todo.pop() {
            pace.work(1 + successors(block).len())?;
            for next in successors(block) {
                if std::mem::replace(&mut graph.entries[next.index()], false) {
                    todo.push(next.0);
                }
            }
        }
        graph
            .unreachable
            .extend(ids.clone().filter(|&b| graph.entries[b as usize]));
        graph.entries[0] = true;

        graph
            .exits
            .extend(ids.clone().filter(|&b| successors(b).is_empty()));
        todo.clone_from(&graph.exits);
        for &exit in &graph.exits {
            graph.is_endless[exit as usize] = false;
        }
        while let Some(block) = todo.pop() {
            let range = graph.pred_range(block);
            pace.work(1 + range.len())?;
            for &previous in &graph.preds[range] {
                if std::mem::replace(&mut graph.is_endless[previous as usize], false) {
                    todo.push(previous);
                }
            }
        }
        graph
            .endless
            .extend(ids.filter(|&b| graph.is_endless[b as usize]));
        Ok(graph)
    }

    fn pred_range(&self, block: u32) -> std::ops::Range<usize> {
        let i = block as usize;
        self.pred_starts[i] as usize..self.pred_starts[i + 1] as usize
    }

    /// Where control may come from, once per edge.
    pub fn preds(&self, block: u32) -> &[u32] {
        &self.preds[self.pred_range(block)]
    }

    /// Two topological numbers; equal within a cycle.
    pub fn rank(&self, block: u32) -> Rank {
        self.ranks[block as usize]
    }

    /// Whether control starts here: block 0, and what it cannot reach. // L3
    pub fn is_entry(&self, block: u32) -> bool {
        self.entries[block as usize]
    }

    /// The blocks that control cannot get to, ascending.
    pub fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }

    /// The blocks without successors, ascending.
    pub fn exits(&self) -> &[u32] {
        &self.exits
    }

    /// The blocks from which no exit can be reached, ascending. // L6
    pub fn endless(&self) -> &[u32] {
        &self.endless
    }

    /// Whether no exit can be reached from a block.
    pub fn is_endless(&self, block: u32) -> bool {
        self.is_endless[block as usize]
    }
}

fn ranks(function: &Function, pace: &mut Pace<'_, '_>) -> Result<Vec<Rank>, Stop> {
    let forwards = components(function, |succs, i| succs[i], pace)?;
    let backwards = components(function, |succs, i| succs[succs.len() - 1 - i], pace)?;
    let both = forwards.into_iter().zip(backwards);
    Ok(both.map(|(a, b)| [a, b]).collect())
}

/// The strongly connected component of each block, numbered in a topological order: an edge never
/// goes from a higher number to a lower one (R. Tarjan, *Depth-first search and linear graph
/// algorithms*, 1972; with a stack of its own, since graphs are deeper than threads are).
fn components(
    function: &Function,
    pick: impl Fn(&[BlockId], usize) -> BlockId,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<u32>, Stop> {
    const UNSEEN: u32 = u32::MAX;
    let blocks = function.blocks().len();
    let mut low = vec![UNSEEN; blocks]; // The lowest visit number known to be in its component.
    let mut component = vec![UNSEEN; blocks];
    let mut unassigned = Vec::new();
    let mut path: Vec<(usize, usize, u32)> = Vec::new(); // Block, next successor, visit number.
    let (mut visits, mut found) = (0, 0);
    for start in 0..blocks {
        if low[start] != UNSEEN {
            continue;
        }
        let mut entered = Some(start);
        loop {
            pace.work(1)?;
            if let Some(block) = entered.take() {
                low[block] = visits;
                path.push((block, 0, visits));
                unassigned.push(block);
                visits += 1;
            }
            let Some((block, next, visit)) = path.last_mut() else {
                break;
            };
            let succs = function.successors(BlockId::new(*block));
            if *next < succs.len() {
                let to = pick(succs, *next).index();
                *next += 1;
                if low[to] == UNSEEN {
                    entered = Some(to);
                } else if component[to] == UNSEEN {
                    low[*block] = low[*block].min(low[to]);
                }
                continue;
            }
            let (block, visit) = (*block, *visit);
            path.pop();
            if let Some(&(parent, _, _)) = path.last() {
                low[parent] = low[parent].min(low[block]);
            }
            if low[block] == visit {
                while let Some(member) = unassigned.pop() {
                    component[member] = found;
                    if member == block {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    // Components are found from the exits up.
    Ok(component.into_iter().map(|c| found - 1 - c).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(succs: &[&[u32]]) -> (Function, Graph) {
        let mut f = Function::new("f");
        for _ in succs {
            f.add_block("");
        }
        for (i, to) in succs.iter().enumerate() {
            let to: Vec<BlockId> = to.iter().map(|&b| BlockId(b)).collect();
            f.set_successors(BlockId::new(i), &to).unwrap();
        }
        let graph = Graph::unless(&f, &mut Pace::free()).expect("nothing stops it");
        (f, graph)
    }

    #[test]
    fn blocks_know_whether_they_are_entries_exits_or_endless() {
        // 0 -> 1 -> 3 -> 3 (for ever), 1 -> 2 (exit); 4 -> 2 and 5 <-> 5 are never reached.
        let (_, g) = graph(&[&[1], &[3, 2], &[], &[3], &[2], &[5]]);
        assert_eq!(g.unreachable(), [4, 5]);
        assert_eq!(g.exits(), [2]);
        assert_eq!(g.endless(), [3, 5]);
        let entries: Vec<u32> = (0..6).filter(|&b| g.is_entry(b)).collect();
        assert_eq!(entries, [0, 4, 5]);
        let mut preds = g.preds(2).to_vec();
        preds.sort_unstable();
        assert_eq!(preds, [1, 4]);
    }

    #[test]
    fn parallel_arms_are_told_apart_and_cycles_share_a_rank() {
        //      0 -> 1 -> 2 -> 5, 0 -> 3 <-> 4, 4 -> 5
        let (_, g) = graph(&[&[1, 3], &[2], &[5], &[4], &[3, 5], &[]]);
        let before = |a, b| g.rank(a)[0] <= g.rank(b)[0] && g.rank(a)[1] <= g.rank(b)[1];
        assert!(before(0, 5) && before(1, 2) && before(4, 5));
        assert!(
            !before(1, 3) && !before(4, 2),
            "arms do not reach each other"
        );
        assert_eq!(g.rank(3), g.rank(4));
    }

    #[test]
    fn no_path_leads_to_a_lower_rank() {
        arbtest::arbtest(|u| {
            let blocks = u.int_in_range(1..=8)?;
            let mut succs = vec![Vec::new(); blocks];
            for list in &mut succs {
                for _ in 0..u.int_in_range(0..=3)? {
                    list.push(u.int_in_range(0..=blocks as u32 - 1)?);
                }
            }
            let (_, g) = graph(&succs.iter().map(Vec::as_slice).collect::<Vec<_>>());
            for from in 0..blocks {
                let mut reached = vec![false; blocks];
                let mut todo = vec![from];
                while let Some(at) = todo.pop() {
                    for &to in &succs[at] {
                        if !std::mem::replace(&mut reached[to as usize], true) {
                            todo.push(to as usize);
                        }
                    }
                }
                for to in (0..blocks).filter(|&to| reached[to]) {
                    let (a, b) = (g.rank(from as u32), g.rank(to as u32));
                    assert!(a[0] <= b[0] && a[1] <= b[1], "{succs:?}: {from} to {to}");
                }
            }
            Ok(())
        });
    }
}
