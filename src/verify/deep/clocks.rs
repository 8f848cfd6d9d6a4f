//! Is every pair of accesses that shares bytes, and writes, in order? // V3
//!
//! Vector clocks over the engines of each core (Mattern, *Virtual time and global states of
//! distributed systems*, 1989), with the last write and the reads since then noted per range of
//! bytes (Flanagan and Freund, *FastTrack*, 2009). A fence orders all engines of a core, so clocks
//! count from the last fence on, and a barrier orders all cores, so that two accesses of different
//! cores are in order iff a barrier lies between them. // L7, M4, D1

use super::batch::{Batch, FENCE, Instance, Role, Touch};
use super::places::{Areas, NOWHERE};
use super::ranges::Ranges;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;

/// An access that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub core: u32,
    pub scope: u32,
    pub index: u32,
    pub root: u32,
    pub storage: u32,
    epoch: u32,
    engine: u32,
    segment: u32,
    clock: u32,
}

/// What has happened to some bytes: the last write, and the reads since then that no other one
/// comes after.
#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<Stamp>,
    reads: Vec<Stamp>,
}

/// Two accesses that nothing orders, the one found first in front; one of them writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub first: Stamp,
    pub first_writes: bool,
    pub second: Stamp,
    pub second_writes: bool,
    /// Bytes that both touch, as addresses; as bytes of the storage if it has none.
    pub start: u64,
    pub end: u64,
}

/// The clocks of one core.
#[derive(Default)]
struct Core {
    segment: u32,
    /// By engine: what it knows of each engine; empty if it has not run since the fence.
    known: Vec<Vec<u32>>,
    running: Vec<u32>,
    /// By position in the batch: where the clock of an awaited execution is kept.
    kept: OrderedMap<u32, usize>,
    clocks: Vec<u32>,
}

/// The clocks of all cores, and what has happened to all bytes.
pub(super) struct Clocks {
    engines: Vec<usize>,
    cores: Vec<Core>,
    areas: Areas,
    memories: Vec<Ranges<Cell>>,
    unplaced: OrderedMap<u32, Ranges<Cell>>,
}

impl Clocks {
    /// Nothing has happened; `engines` are how many each core has.
    pub fn new(engines: Vec<usize>, areas: Areas, memories: u32) -> Clocks {
        Clocks {
            cores: engines.iter().map(|_| Core::default()).collect(),
            engines,
            areas,
            memories: vec![Ranges::default(); memories as usize],
            unplaced: OrderedMap::new(),
        }
    }

    /// Goes through what a core runs in one epoch, in program order.
    pub fn run(
        &mut self,
        (core, number): (usize, u32),
        epoch: u32,
        batch: &Batch,
        pace: &mut Pace<'_, '_>,
        mut tell: impl FnMut(&Conflict),
    ) {
        let state = &mut self.cores[core];
        state.kept.clear();
        state.clocks.clear();
        for (position, instance) in (0..).zip(&batch.instances) {
            let touches = batch.touches_of(instance).len();
            if pace.over(10 + 20 * touches + batch.waits_of(instance).len()) {
                break;
            }
            let state = &mut self.cores[core];
            let clock = state.advance(batch, instance, self.engines[core]);
            let segment = state.segment;
            if instance.role == Role::Instruction {
                for touch in batch.touches_of(instance).iter().filter(|t| t.from < t.to) {
                    let stamp = Stamp {
                        core: number,
                        scope: instance.scope,
                        index: instance.index,
                        root: touch.root,
                        storage: touch.storage,
                        epoch,
                        engine: instance.engine,
                        segment,
                        clock,
                    };
                    self.access(core, stamp, touch, &mut tell);
                }
            }
            let state = &mut self.cores[core];
            if instance.engine == FENCE {
                state.segment += 1;
            } else if instance.awaited {
                state.kept.insert(position, state.clocks.len());
                let known = &state.known[instance.engine as usize];
                state.clocks.extend_from_slice(known);
            }
        }
    }

    fn access(
        &mut self,
        core: usize,
        stamp: Stamp,
        touch: &Touch,
        tell: &mut impl FnMut(&Conflict),
    ) {
        let state = &self.cores[core];
        let mut found: Vec<Conflict> = Vec::new();
        if touch.area == NOWHERE {
            let bytes = self.unplaced.entry(touch.storage).or_default();
            state.note(bytes, touch.from, touch.to, stamp, touch, &mut found);
        }
        for &memory in self.areas.memories(touch.area) {
            let bytes = &mut self.memories[memory as usize];
            state.note(bytes, touch.address, touch.end(), stamp, touch, &mut found);
        }
        found.iter().for_each(tell);
    }
}

impl Core {
    /// Moves the clock of the engine that runs next, and says what it shows.
    fn advance(&mut self, batch: &Batch, instance: &Instance, engines: usize) -> u32 {
        if instance.engine == FENCE {
            self.segment += 1;
            for engine in self.running.drain(..) {
                self.known[engine as usize].clear();
            }
            self.kept.clear();
            self.clocks.clear();
            return 0;
        }
        let engine = instance.engine as usize;
        if self.known.is_empty() {
            self.known = vec![Vec::new(); engines];
        }
        let mut known = std::mem::take(&mut self.known[engine]);
        if known.is_empty() {
            known.resize(engines, 0);
            self.running.push(instance.engine);
        }
        for wait in batch.waits_of(instance) {
            // What is not kept is the engine's own latest, or the fence.
            if let Some(&at) = self.kept.get(wait) {
                let theirs = &self.clocks[at..at + engines];
                for (mine, &theirs) in known.iter_mut().zip(theirs) {
                    *mine = theirs.max(*mine);
                }
            }
        }
        known[engine] += 1;
        let clock = known[engine];
        self.known[engine] = known;
        clock
    }

    /// Notes an access to some bytes of one memory, and finds those that it is in no order with.
    fn note(
        &self,
        bytes: &mut Ranges<Cell>,
        start: u64,
        end: u64,
        stamp: Stamp,
        touch: &Touch,
        found: &mut Vec<Conflict>,
    ) {
        let before = |old: &Stamp| self.is_before(old, &stamp);
        let mut conflict = |first: &Stamp, first_writes, start, end| {
            found.push(Conflict {
                first: *first,
                first_writes,
                second: stamp,
                second_writes: touch.writes(),
                start,
                end,
            });
        };
        bytes.visit(start, end, |lo, hi, cell| {
            let Some(cell) = cell else { return };
            if let Some(write) = cell.write.as_ref().filter(|w| !before(w)) {
                conflict(write, true, lo, hi);
            }
            if touch.writes() {
                let reads = cell.reads.iter().filter(|r| !before(r));
                reads.for_each(|read| conflict(read, false, lo, hi));
            }
        });
        if touch.writes() {
            let write = Some(stamp);
            let reads = Vec::new();
            bytes.set(start, end, Some(Cell { write, reads }));
        } else {
            bytes.change(start, end, |cell| {
                let mut cell = cell.cloned().unwrap_or_default();
                // What a later write has to wait for, it waits for through this one. // D2
                cell.reads.retain(|read| !before(read));
                cell.reads.push(stamp);
                cell
            });
        }
    }

    /// Whether an access comes before one that is made now.
    fn is_before(&self, old: &Stamp, now: &Stamp) -> bool {
        if old.core != now.core {
            return old.epoch < now.epoch;
        }
        old.segment < now.segment
            || old.engine == now.engine
            || now.engine != FENCE
                && self.known[now.engine as usize][old.engine as usize] >= old.clock
    }
}
