//! The edges of straight-line code.
//!
//! A *trace* is a list of instructions that run one after the other. Every two of them that touch
//! a common byte, one of them writing it, have to stay in order, and so have those of one engine
//! and what a fence parts. The edges are the transitive reduction of that order, which is unique
//! because the order has no cycles (Aho, Garey and Ullman, *The Transitive Reduction of a
//! Directed Graph*, 1972), without what engines and fences do anyway.
//!
//! Per instruction and engine, only the latest instruction of that engine with which it meets can
//! be an edge, for the engine orders the earlier ones before it: at most one edge per engine and
//! instruction. Each instruction has a vector clock (Mattern 1988; Fidge 1988): per engine, the
//! latest instruction known to come before it. Candidates are taken from the latest to the
//! earliest; one that the clock covers already is implied, another one is an edge, whose own
//! clock is joined in. Since whatever could imply a candidate is later than it, this finds the
//! reduction exactly.
//!
//! The cost is `O(engines * (log cells + engines))` per access in time, and `engines` clock
//! entries per instruction in memory.

use std::cmp::Reverse;

use crate::pace::Pace;
use crate::plan::DependenceKind;
use crate::sorting::CompactSort as _;

use super::code::Code;
use super::latest::{self, Latest, Time};

/// An edge of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The position of what runs first.
    pub from: usize,
    /// Its flat index.
    pub from_index: u32,
    /// The flat index of what waits: the instruction appended last.
    pub to_index: u32,
    /// Why it waits.
    pub kind: DependenceKind,
}

/// A trace to come back to.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    latest: latest::Checkpoint,
    floor: Time,
    positions: usize,
    last: Vec<Time>,
}

/// Which edges are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The transitive reduction of the whole order.
    Reduced,
    /// The flow edges, per instruction and engine the latest one; implied ones too.
    Flow,
    /// The anti and output edges, likewise.
    Reuse,
}

impl Wanted {
    pub(super) fn admits(self, kind: DependenceKind) -> bool {
        match self {
            Wanted::Reduced => true,
            Wanted::Flow => kind == DependenceKind::Flow,
            Wanted::Reuse => kind != DependenceKind::Flow,
        }
    }
}

/// Scans traces of one function; keeps its memory from one to the next.
pub(super) struct Scan<'a> {
    code: &'a Code,
    wanted: Wanted,
    latest: Latest,
    origin: Time, // The time of the trace's first position; earlier times are other traces.
    floor: Time,  // What is earlier lies behind a fence or in another trace.
    trace: Vec<u32>,
    clocks: Vec<Time>, // By position and engine.
    last: Vec<Time>,   // By engine: the latest instruction, or 0.
    row: Row,
}

/// What is known of one instruction, by engine.
struct Row {
    flow: Vec<Time>,
    output: Vec<Time>,
    anti: Vec<Time>,
    clock: Vec<Time>,
    candidates: Vec<(Time, DependenceKind)>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(code: &'a Code, wanted: Wanted) -> Scan<'a> {
        let engines = code.engines();
        Scan {
            code,
            wanted,
            latest: Latest::new(code.cells(), engines),
            origin: 1,
            floor: 1,
            trace: Vec::new(),
            clocks: Vec::new(),
            last: vec![0; engines],
            row: Row {
                flow: vec![0; engines],
                output: vec![0; engines],
                anti: vec![0; engines],
                clock: vec![0; engines],
                candidates: Vec::with_capacity(engines),
            },
        }
    }

    /// Begins a new trace, of at most so many instructions at a time.
    pub(super) fn begin(&mut self, most: u64) {
        self.latest.commit();
        let next = u64::from(self.origin) + self.trace.len() as u64;
        self.origin = match Time::try_from(next + most + 1) {
            Ok(_) => next as Time,
            Err(_) => {
                self.latest.clear();
                1
            }
        };
        self.floor = self.origin;
        self.trace.clear();
        self.clocks.clear();
        self.last.fill(0);
    }

    /// Appends to the trace and reports its new edges, ascending by `to`, latest `from` first.
    pub(super) fn extend(
        &mut self,
        indices: impl IntoIterator<Item = u32>,
        pace: &mut Pace<'_, '_>,
        mut found: impl FnMut(Link),
    ) {
        let engines = self.code.engines();
        for index in indices {
            // A touch goes down a tree, and up again.
            if pace.over(5 + 20 * self.code.touches(index).len()) {
                break;
            }
            let position = self.trace.len();
            let now = self.origin + position as Time;
            self.trace.push(index);
            self.row.clock.fill(0);
            let Some(engine) = self.code.engine(index) else {
                self.floor = now + 1;
                self.clocks.extend_from_slice(&self.row.clock);
                continue;
            };
            self.collect(index, engine);
            if self.last[engine] != 0 {
                self.join(self.last[engine], engine);
            }
            for c in 0..self.row.candidates.len() {
                let (time, kind) = self.row.candidates[c];
                let at = (time - self.origin) as usize;
                if self.wanted == Wanted::Reduced {
                    let other = self.code.engine(self.trace[at]);
                    let other = other.expect("fences touch nothing");
                    if self.row.clock[other] >= time {
                        continue;
                    }
                    self.join(time, other);
                }
                found(Link {
                    from: at,
                    from_index: self.trace[at],
                    to_index: index,
                    kind,
                });
            }
            self.clocks.extend_from_slice(&self.row.clock);
            debug_assert_eq!(self.clocks.len(), self.trace.len() * engines);
            self.last[engine] = now;
            self.note(index, engine, now);
        }
    }

    /// How long the trace is.
    pub(super) fn positions(&self) -> usize {
        self.trace.len()
    }

    /// Whether every later instruction of `engine` comes after position `at`, which is an
    /// instruction of `other`, because the engine has run something that does.
    pub(super) fn covers(&self, engine: usize, other: usize, at: usize) -> bool {
        let last = self.last[engine];
        if last == 0 {
            return false;
        }
        let row = (last - self.origin) as usize * self.code.engines();
        self.clocks[row + other] >= self.origin + at as Time
    }

    /// Remembers the trace as it is now.
    pub(super) fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint {
            latest: self.latest.checkpoint(),
            floor: self.floor,
            positions: self.trace.len(),
            last: self.last.clone(),
        }
    }

    /// Takes back what was appended since a checkpoint, which stays one.
    pub(super) fn roll_back(&mut self, to: &Checkpoint) {
        self.latest.roll_back(to.latest);
        self.floor = to.floor;
        self.trace.truncate(to.positions);
        self.clocks.truncate(to.positions * self.code.engines());
        self.last.copy_from_slice(&to.last);
    }

    /// Fills in the candidates: per other engine the latest instruction that is met, latest first.
    fn collect(&mut self, index: u32, engine: usize) {
        let Row {
            flow,
            output,
            anti,
            candidates,
            ..
        } = &mut self.row;
        flow.fill(0);
        output.fill(0);
        anti.fill(0);
        for touch in self.code.touches(index) {
            if !touch.writes {
                self.latest.raise_writes(touch.first, touch.end, flow);
            } else {
                self.latest.raise(touch.first, touch.end, output, anti);
            }
        }
        if self.wanted == Wanted::Flow {
            output.fill(0);
            anti.fill(0);
        } else if self.wanted == Wanted::Reuse {
            flow.fill(0);
        }
        candidates.clear();
        for other in 0..flow.len() {
            let time = flow[other].max(output[other]).max(anti[other]);
            if other == engine || time < self.floor {
                continue;
            }
            let kind = if time == flow[other] {
                DependenceKind::Flow
            } else if time == output[other] {
                DependenceKind::Output
            } else {
                DependenceKind::Anti
            };
            candidates.push((time, kind));
        }
        candidates.sort_compact_by_key(|&(time, _)| Reverse(time));
    }

    /// Adds the instruction at `time` on `engine`, and what comes before it, to the row's clock.
    fn join(&mut self, time: Time, engine: usize) {
        let engines = self.code.engines();
        let at = (time - self.origin) as usize * engines;
        for (mine, &other) in self
            .row
            .clock
            .iter_mut()
            .zip(&self.clocks[at..at + engines])
        {
            *mine = (*mine).max(other);
        }
        self.row.clock[engine] = time; // No later one of that engine can come before this one.
    }

    fn note(&mut self, index: u32, engine: usize, now: Time) {
        let touches = self.code.touches(index);
        // Reads first: what an instruction reads and writes, it has written last.
        for touch in touches.iter().filter(|t| !t.writes) {
            self.latest.read(touch.first, touch.end, engine, now);
        }
        for touch in touches.iter().filter(|t| t.writes) {
            self.latest.write(touch.first, touch.end, engine, now);
        }
    }
}
