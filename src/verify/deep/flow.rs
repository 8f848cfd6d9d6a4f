//! A function's control flow with what walks have covered of it, and its barriers.

use super::super::epochs::Epochs;
use super::super::graph::Graph;
use crate::ir::{FlatIndex, Function, Kind};
use crate::pace::Pace;
use std::collections::BTreeSet;

/// A barrier on the way through a function: where it stands among the epochs, and its id. The same
/// moment looks the same on every core. // M4
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Beat {
    pub epochs: (u32, u32),
    pub id: Option<u64>,
}

/// The graph of one function, with distinct successors.
pub(super) struct Flow {
    pub graph: Graph,
    /// By block: where its edges start; an edge is a number.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// By edge: how often walks have yet to take it.
    missing: Vec<u8>,
    /// How many edges are missing at all.
    left: usize,
    /// By block: the barriers that every way through it passes, callees' included.
    beats: Vec<Vec<Beat>>,
    /// Some block has several successors.
    pub branches: bool,
}

impl Flow {
    /// Reads a function; `called` are the barriers that the call at an index passes.
    pub fn of(
        function: &Function,
        epochs: &Epochs,
        called: impl Fn(u32) -> Vec<Beat>,
        pace: &mut Pace<'_, '_>,
    ) -> Flow {
        let graph = Graph::of(function, pace);
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for block in 0..graph.len() as u32 {
            // They are sorted, and counted below.
            if pace.over(4 * (1 + graph.succs(block).len())) {
                break;
            }
            let mut succs = graph.succs(block).to_vec();
            let mut seen = BTreeSet::new();
            succs.retain(|&succ| seen.insert(succ));
            targets.extend(succs);
            starts.push(targets.len() as u32);
        }
        starts.resize(graph.len() + 1, targets.len() as u32); // If the host has stopped it.
        let mut beats = vec![Vec::new(); graph.len()];
        for (block, beats) in (0..).zip(&mut beats) {
            if pace.over(1 + graph.range(block).len()) {
                break;
            }
            for i in graph.range(block) {
                let instruction = &function.instructions()[i as usize];
                let epochs = epochs.at(i);
                if instruction.kind == Kind::Barrier {
                    let id = function.barrier_id(FlatIndex(i));
                    beats.push(Beat { epochs, id });
                }
                let inside = called(i).into_iter();
                beats.extend(inside.map(|beat| Beat { epochs, ..beat }));
            }
        }
        let mut flow = Flow {
            branches: (0..graph.len()).any(|b| starts[b + 1] - starts[b] > 1),
            missing: vec![0; targets.len()],
            left: 0,
            graph,
            starts,
            targets,
            beats,
        };
        flow.count();
        flow
    }

    /// Every edge that control can take is missing once, back edges twice.
    fn count(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut mark = vec![Mark::New; self.graph.len()];
        let mut path = vec![(0u32, self.starts[0])];
        mark[0] = Mark::Open;
        while let Some((block, edge)) = path.last_mut() {
            if *edge == self.starts[*block as usize + 1] {
                mark[*block as usize] = Mark::Done;
                path.pop();
                continue;
            }
            let at = *edge as usize;
            *edge += 1;
            let to = self.targets[at];
            self.missing[at] = if mark[to as usize] == Mark::Open {
                2
            } else {
                1
            };
            if mark[to as usize] == Mark::New {
                mark[to as usize] = Mark::Open;
                path.push((to, self.starts[to as usize]));
            }
        }
        self.left = self.missing.iter().filter(|&&m| m > 0).count();
    }

    /// The edges that leave a block, by number.
    pub fn edges(&self, block: u32) -> std::ops::Range<u32> {
        self.starts[block as usize]..self.starts[block as usize + 1]
    }

    /// Where an edge leads.
    pub fn target(&self, edge: u32) -> u32 {
        self.targets[edge as usize]
    }

    /// Whether walks have yet to take an edge.
    pub fn misses(&self, edge: u32) -> bool {
        self.missing[edge as usize] > 0
    }

    /// A walk takes an edge.
    pub fn take(&mut self, edge: u32) {
        let missing = &mut self.missing[edge as usize];
        if *missing > 0 {
            *missing -= 1;
            self.left -= usize::from(*missing == 0);
        }
    }

    /// How many edges walks have yet to take.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Whether a walk may end after a block: the function is left there, or never. // L6
    pub fn ends(&self, block: u32) -> bool {
        self.edges(block).is_empty() || self.graph.endless(block)
    }

    /// The barriers that a block passes.
    pub fn beats(&self, block: u32) -> &[Beat] {
        &self.beats[block as usize]
    }
}
