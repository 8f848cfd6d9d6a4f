//! When bytes are taken: the verifier's own dataflow. // L
//!
//! Root by root. A root's touches are summed up per block; a worklist walks backwards from the
//! blocks that read it before they overwrite it, through the blocks in which it stays alive; a
//! second one walks forwards from its defs over the same blocks, to find where any def has been
//! seen at all. Both touch only blocks in which the root is live, so the cost of a root is that
//! of its touches and its live blocks. // L3

use super::accesses::{Accesses, Touch};
use super::graph::Graph;
use crate::ir::{FlatIndex, Function, Kind, MemLocId, Usage, UsageMask};
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A closed run of flat indices.
pub(super) type Run = (u32, u32);

/// An in-place pair that the dataflow allows; whether sizes and spaces do is not known here. // L8
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handover {
    /// The instruction.
    pub index: u32,
    /// The root that dies there.
    pub used: MemLocId,
    /// The root that is born there.
    pub def: MemLocId,
}

/// The lives of a function's roots.
pub(super) struct Lives {
    starts: Vec<usize>,
    runs: Vec<Run>,
    /// By instruction, then list order.
    pub handovers: Vec<Handover>,
}

impl Lives {
    /// Runs the dataflow.
    pub fn of(function: &Function, accesses: &Accesses, pace: &mut Pace<'_, '_>) -> Lives {
        let graph = Graph::of(function, pace);
        let mut walk = Walk::new(&graph);
        let mut lives = Lives {
            starts: vec![0],
            runs: Vec::new(),
            handovers: Vec::new(),
        };
        let mut events = Events {
            dies: vec![false; accesses.len()],
            born: vec![false; accesses.len()],
        };
        // A view that escapes, or is an output, makes its root do so. // F, L6
        let mut kept = vec![false; function.memlocs().len()];
        let mut given = vec![false; function.memlocs().len()];
        for id in function.memloc_ids() {
            let loc = function.memloc(id);
            let root = function.root(id).0.index();
            kept[root] |= loc.escapes() || loc.usage == Usage::Output;
            given[root] |= UsageMask::FILLED.contains(loc.usage);
        }
        for root in function.memloc_ids() {
            let touches = accesses.of_root(root);
            if pace.over(1 + touches.len()) {
                break;
            }
            if !touches.is_empty() {
                let first = accesses.first_number(root);
                let (kept, given) = (kept[root.index()], given[root.index()]);
                let mut runs = walk.runs(touches, kept, given, pace, |number, dies, born| {
                    events.dies[first + number] = dies;
                    events.born[first + number] = born;
                });
                runs.sort_compact();
                join(&mut runs);
                lives.runs.append(&mut runs);
            }
            lives.starts.push(lives.runs.len());
        }
        // Stopped or not, each root has a row.
        lives
            .starts
            .resize(function.memlocs().len() + 1, lives.runs.len());
        lives.handovers = handovers(function, accesses, &events, pace);
        lives
    }

    /// How many runs there are of all roots.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The runs of a root, ascending, with an instruction between one and the next.
    pub fn of_root(&self, root: MemLocId) -> &[Run] {
        &self.runs[self.starts[root.index()]..self.starts[root.index() + 1]]
    }
}

/// Joins runs with no instruction between them, in place: the same instants, written in one way
/// only. A life through a thousand blocks is one run.
pub(super) fn join(runs: &mut Vec<Run>) {
    runs.dedup_by(|next, kept| {
        let goes_on = next.0 >= kept.0 && u64::from(next.0) <= u64::from(kept.1) + 1;
        if goes_on {
            kept.1 = kept.1.max(next.1);
        }
        goes_on
    });
}

/// What the dataflow says of each touch.
struct Events {
    /// The root is used there and not live-out of it.
    dies: Vec<bool>,
    /// The root is defined whole there and not live-in.
    born: Vec<bool>,
}

/// The pairs that L8 allows as far as dataflow goes.
fn handovers(
    function: &Function,
    accesses: &Accesses,
    events: &Events,
    pace: &mut Pace<'_, '_>,
) -> Vec<Handover> {
    let mut list = Vec::new();
    for (i, instruction) in function.instructions().iter().enumerate() {
        if pace.over(1) {
            break;
        }
        // Nobody knows in what order a callee reads and writes.
        if instruction.kind == Kind::Call {
            continue;
        }
        for &(used, def) in function.in_place(FlatIndex::new(i)) {
            let (from, to) = (function.memloc(used), function.memloc(def));
            let roots = !from.is_view() && !to.is_view();
            // Declared spaces: whether a pair is eligible is said by the program, not by a plan.
            if !roots || used == def || from.space != to.space {
                continue;
            }
            let index = i as u32;
            let (Some(u), Some(d)) = (accesses.find(used, index), accesses.find(def, index)) else {
                continue;
            };
            let once = accesses.touch(u).used && !accesses.touch(u).repeated;
            if once && events.dies[u] && events.born[d] {
                list.push(Handover { index, used, def });
            }
        }
    }
    list
}

/// A block's touches of the root at hand.
#[derive(Clone, Copy)]
struct Summary {
    block: u32,
    first: usize,
    end: usize,
    /// It reads the root before any def that covers it all.
    exposed: bool,
    /// It reads the root before any def.
    exposed_to_entry: bool,
    full: bool,
    first_def: Option<u32>,
}

/// What ends a walk backwards, and where it starts beside the uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    /// Which uses and exits see older bytes: stopped by whole defs.
    Values,
    /// Which uses and exits see the entry: stopped by any def. // L5
    Entry,
    /// Where a kept root must stay because no exit can be reached. // L6
    Endless,
}

/// Marks per block that are forgotten all at once.
struct Marks {
    stamp: u32,
    marks: Vec<u32>,
}

impl Marks {
    fn new(len: usize) -> Marks {
        Marks {
            stamp: 1,
            marks: vec![0; len],
        }
    }

    fn clear(&mut self) {
        self.stamp += 1;
    }

    fn has(&self, block: u32) -> bool {
        self.marks[block as usize] == self.stamp
    }

    /// Marks a block; whether it was new.
    fn set(&mut self, block: u32) -> bool {
        let new = !self.has(block);
        self.marks[block as usize] = self.stamp;
        new
    }
}

/// The scratch memory of the walks of one function.
struct Walk<'g> {
    graph: &'g Graph,
    summaries: Vec<Summary>,
    summary_at: Vec<u32>, // Position + 1 in `summaries`, by block; 0 for none.
    live_in: Marks,
    live_out: Marks,
    seen_def: Marks, // A def may have come before the block.
    visited: Vec<u32>,
    work: Vec<u32>,
}

impl<'g> Walk<'g> {
    fn new(graph: &'g Graph) -> Walk<'g> {
        let blocks = graph.len();
        Walk {
            graph,
            summaries: Vec::new(),
            summary_at: vec![0; blocks],
            live_in: Marks::new(blocks),
            live_out: Marks::new(blocks),
            seen_def: Marks::new(blocks),
            visited: Vec::new(),
            work: Vec::new(),
        }
    }

    /// The runs of one root, unsorted; `tell(touch, dies, born)` for each of its touches.
    fn runs(
        &mut self,
        touches: &[Touch],
        kept: bool,
        given: bool,
        pace: &mut Pace<'_, '_>,
        mut tell: impl FnMut(usize, bool, bool),
    ) -> Vec<Run> {
        self.summarize(touches);
        // What the host has put there is seen beside whatever a def writes of it.
        let entry = match given {
            true => Question::Values,
            false => Question::Entry,
        };
        self.backward(entry, kept, pace);
        let graph = self.graph;
        // An unreachable block is an entry of its own. // L3
        let from_entry = self.live_in.has(0)
            || (self.visited.iter()).any(|&b| !graph.reachable(b) && self.live_in.has(b));
        let mut runs = Vec::new();
        let mut events = vec![(false, false); touches.len()];
        self.backward(Question::Values, kept, pace);
        self.forward();
        self.collect(
            touches,
            Question::Values,
            from_entry,
            &mut runs,
            |i, dies, born| {
                events[i] = (dies, born);
            },
        );
        if kept && graph.has_endless() {
            self.backward(Question::Endless, kept, pace);
            self.forward();
            self.collect(
                touches,
                Question::Endless,
                false,
                &mut runs,
                |i, dies, born| {
                    events[i].0 &= dies;
                    events[i].1 &= born;
                },
            );
        }
        for (i, (dies, born)) in events.into_iter().enumerate() {
            tell(i, dies, born);
        }
        for summary in &self.summaries {
            self.summary_at[summary.block as usize] = 0;
        }
        runs
    }

    fn summarize(&mut self, touches: &[Touch]) {
        self.summaries.clear();
        let mut first = 0;
        while first < touches.len() {
            let block = self.graph.block_of(touches[first].index);
            let last = self.graph.range(block).end;
            let end = first + touches[first..].partition_point(|t| t.index < last);
            let mut summary = Summary {
                block,
                first,
                end,
                exposed: false,
                exposed_to_entry: false,
                full: false,
                first_def: None,
            };
            for touch in &touches[first..end] {
                // An instruction reads before it writes.
                summary.exposed |= touch.used && !summary.full;
                summary.exposed_to_entry |= touch.used && summary.first_def.is_none();
                summary.full |= touch.full;
                if touch.defined {
                    summary.first_def.get_or_insert(touch.index);
                }
            }
            self.summary_at[block as usize] = self.summaries.len() as u32 + 1;
            self.summaries.push(summary);
            first = end;
        }
    }

    fn summary(&self, block: u32) -> Option<&Summary> {
        let position = self.summary_at[block as usize];
        (position > 0).then(|| &self.summaries[position as usize - 1])
    }

    fn stops(&self, question: Question, block: u32) -> bool {
        match question {
            Question::Entry => self.summary(block).is_some_and(|s| s.first_def.is_some()),
            Question::Values => self.summary(block).is_some_and(|s| s.full),
            Question::Endless => {
                !self.graph.endless(block) && self.summary(block).is_some_and(|s| s.full)
            }
        }
    }

    /// Marks `live_in` and `live_out`, and lists the marked blocks in `visited`.
    fn backward(&mut self, question: Question, kept: bool, pace: &mut Pace<'_, '_>) {
        self.live_in.clear();
        self.live_out.clear();
        self.visited.clear();
        self.work.clear();
        let graph = self.graph;
        if question == Question::Endless {
            for block in graph.endless_blocks() {
                self.leave(question, block);
                self.enter(block);
            }
        } else {
            for i in 0..self.summaries.len() {
                let s = self.summaries[i];
                self.visited.push(s.block);
                let exposed = match question {
                    Question::Entry => s.exposed_to_entry,
                    _ => s.exposed,
                };
                if exposed {
                    self.enter(s.block);
                }
            }
            if kept {
                for &block in graph.exits() {
                    self.leave(question, block); // L6
                }
            }
        }
        while let Some(block) = self.work.pop() {
            // The block is walked over forwards, and turned into runs.
            if pace.over(3) {
                break;
            }
            for &pred in graph.preds(block) {
                self.leave(question, pred);
            }
        }
    }

    fn enter(&mut self, block: u32) {
        if self.live_in.set(block) {
            self.visited.push(block);
            self.work.push(block);
        }
    }

    fn leave(&mut self, question: Question, block: u32) {
        if self.live_out.set(block) {
            self.visited.push(block);
            if !self.stops(question, block) {
                self.enter(block);
            }
        }
    }

    /// Marks the live blocks that some def may come before. // L4
    fn forward(&mut self) {
        self.seen_def.clear();
        self.work.clear();
        let graph = self.graph;
        let defining = self.summaries.iter().filter(|s| s.first_def.is_some());
        self.work.extend(defining.map(|s| s.block));
        while let Some(block) = self.work.pop() {
            for &succ in graph.succs(block) {
                if self.live_in.has(succ) && self.seen_def.set(succ) {
                    self.work.push(succ);
                }
            }
        }
    }

    /// Turns the marks into runs of instructions.
    fn collect(
        &mut self,
        touches: &[Touch],
        question: Question,
        from_entry: bool,
        runs: &mut Vec<Run>,
        mut tell: impl FnMut(usize, bool, bool),
    ) {
        self.visited.extend(self.summaries.iter().map(|s| s.block));
        self.visited.sort_unstable();
        self.visited.dedup();
        let graph = self.graph;
        for &block in &self.visited {
            let range = graph.range(block);
            if range.is_empty() {
                continue;
            }
            let (first, last) = (range.start, range.end - 1);
            let summary = self.summary(block).copied();
            let first_def = summary.and_then(|s| s.first_def);
            let seen_def = self.seen_def.has(block);
            let mut push = |lo: u32, hi: u32| {
                let lo = match (from_entry || seen_def, first_def) {
                    (true, _) => lo,
                    (false, Some(def)) => lo.max(def),
                    (false, None) => return,
                };
                if lo <= hi {
                    runs.push((lo, hi));
                }
            };
            let through = question == Question::Endless && graph.endless(block);
            // `end` is set exactly while older bytes are wanted after the touch at hand.
            let mut end = self.live_out.has(block).then_some(last);
            for i in summary.map_or(0..0, |s| s.first..s.end).rev() {
                let touch = touches[i];
                let known = |def: u32| from_entry || seen_def || first_def.is_some_and(|d| d < def);
                let before = known(touch.index);
                let live_out = end.is_some() && known(touch.index + 1);
                let born = touch.full && !touch.used && !(through && before);
                tell(i, touch.used && !live_out, born);
                if question == Question::Endless {
                    if touch.full
                        && !through
                        && let Some(hi) = end.take()
                    {
                        push(touch.index, hi);
                    }
                    continue;
                }
                if touch.full && !touch.used {
                    push(touch.index, end.take().unwrap_or(touch.index));
                } else if touch.defined && end.is_none() && !touch.used {
                    push(touch.index, touch.index); // L4: nobody reads it.
                }
                if touch.used {
                    end.get_or_insert(touch.index);
                }
            }
            if let Some(hi) = end {
                push(first, hi);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BlockId, Extent, InstructionSpec, MemLocSpec, Module, Operand};

    #[test]
    fn a_life_through_many_blocks_is_one_run() {
        const BLOCKS: usize = 9;
        let mut function = Function::new("main");
        let spec = MemLocSpec {
            extent: Some(Extent::Bytes(64)),
            ..MemLocSpec::default()
        };
        function.add_memlocs(&[spec]).expect("a size and no name");
        let touch = [Operand::from(MemLocId(0))];
        for block in 0..BLOCKS {
            function.add_block("");
            let spec = InstructionSpec {
                op: "op",
                uses: if block + 1 == BLOCKS { &touch } else { &[] },
                defs: if block == 0 { &touch } else { &[] },
                ..InstructionSpec::default()
            };
            function.add_instruction(&spec).expect("its operand exists");
        }
        for block in 1..BLOCKS {
            let succs = [BlockId::new(block)];
            (function.set_successors(BlockId::new(block - 1), &succs)).expect("both exist");
        }
        let pace = &mut Pace::free();
        let accesses = Accesses::of(&function, &Module::new("core0", 0), pace);
        let lives = Lives::of(&function, &accesses, pace);
        assert_eq!(lives.of_root(MemLocId(0)), [(0, BLOCKS as u32 - 1)]);
    }
}
