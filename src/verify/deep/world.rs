//! Memory by address, in one of the orders that the machine may choose.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::batch::{Batch, Does, FENCE, Instance, Piece, Role, Touch, Value, Want};
use super::paths::Dice;
use super::places::Areas;
use super::ranges::Ranges;
use crate::pace::{Pace, SOME};

/// Which of the instructions that may run next does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The earliest of the program; cores take turns.
    Program,
    /// The latest, as far ahead of the others as they let it.
    Ahead,
    /// Any.
    Random,
}

/// All bytes of all memories.
pub(super) struct World {
    order: Order,
    dice: Dice,
    areas: Areas,
    memories: Vec<Ranges<Value>>,
}

/// A read that found something else.
pub(super) struct Mismatch<'b> {
    pub instance: &'b Instance,
    pub touch: &'b Touch,
    pub piece: Piece,
    /// Where the wrong bytes begin, and what is there.
    pub at: u64,
    pub found: Option<Value>,
}

impl World {
    pub fn new(order: Order, areas: Areas, memories: u32, seed: u64) -> World {
        World {
            order,
            dice: Dice(seed),
            areas,
            memories: vec![Ranges::default(); memories as usize],
        }
    }

    /// Puts a value on bytes before anything runs.
    pub fn give(&mut self, area: u32, start: u64, end: u64, value: Value) {
        for &memory in self.areas.memories(area) {
            self.memories[memory as usize].set(start, end, Some(value));
        }
    }

    /// Runs the batches of all cores, telling every read that goes wrong.
    pub fn run(
        &mut self,
        batches: &[Batch],
        pace: &mut Pace<'_, '_>,
        mut tell: impl FnMut(&Mismatch<'_>),
    ) {
        if let [batch] = batches
            && self.order == Order::Program
        {
            for instance in &batch.instances {
                self.execute(batch, instance, pace, &mut tell);
            }
            return;
        }
        let mut waiting: Vec<Vec<u32>> = Vec::with_capacity(batches.len());
        let mut followers: Vec<Followers> = Vec::with_capacity(batches.len());
        let mut ready = BinaryHeap::new();
        for (core, batch) in batches.iter().enumerate() {
            let count = |i: &Instance| i.waits.1 - i.waits.0;
            waiting.push(batch.instances.iter().map(count).collect());
            followers.push(Followers::of(batch, pace));
            for (position, _) in waiting[core].iter().enumerate().filter(|w| *w.1 == 0) {
                if pace.over(5) {
                    break;
                }
                let position = position as u32;
                ready.push(Reverse((
                    self.key(core, position, batches.len()),
                    core,
                    position,
                )));
            }
        }
        while let Some(Reverse((_, core, position))) = ready.pop() {
            let batch = &batches[core];
            self.execute(batch, &batch.instances[position as usize], pace, &mut tell);
            for &next in followers[core].of_position(position) {
                let left = &mut waiting[core][next as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse((self.key(core, next, batches.len()), core, next)));
                }
            }
        }
    }

    /// Whatever has the least key runs first.
    fn key(&mut self, core: usize, position: u32, cores: usize) -> u64 {
        match self.order {
            Order::Program => u64::from(position) * cores as u64 + core as u64,
            Order::Ahead => (((cores - core) as u64) << 32) + u64::from(u32::MAX - position),
            Order::Random => self.dice.roll(),
        }
    }

    fn execute<'b>(
        &mut self,
        batch: &'b Batch,
        instance: &'b Instance,
        pace: &mut Pace<'_, '_>,
        tell: &mut impl FnMut(&Mismatch<'b>),
    ) {
        // What waits for it comes nearer to its turn.
        if pace.over(5 + (instance.waits.1 - instance.waits.0) as usize) {
            return;
        }
        if instance.role == Role::Elided {
            return; // It never runs. // X3
        }
        for touch in batch.touches_of(instance) {
            if pace.over(10) {
                break;
            }
            for &memory in self.areas.memories(touch.area) {
                let bytes = &mut self.memories[memory as usize];
                if touch.does != Does::Read {
                    let value = Value {
                        token: touch.pieces.0,
                        origin: touch.address,
                    };
                    bytes.set(touch.address, touch.end(), Some(value));
                    continue;
                }
                for &piece in &batch.pieces[touch.pieces.0 as usize..touch.pieces.1 as usize] {
                    if let Some((at, found)) = differs(bytes, &piece) {
                        tell(&Mismatch {
                            instance,
                            touch,
                            piece,
                            at,
                            found,
                        });
                    }
                }
            }
        }
    }
}

/// The first bytes of a piece that are not what they have to be, and what they are.
fn differs(bytes: &Ranges<Value>, piece: &Piece) -> Option<(u64, Option<Value>)> {
    let mut wrong = None;
    bytes.visit(piece.start, piece.end, |at, _, found| {
        let right = match piece.want {
            Want::Value(value) => found == Some(&value),
            Want::Before(token) => found.is_none_or(|f| f.token < token),
        };
        if !right && wrong.is_none() {
            wrong = Some((at, found.copied()));
        }
    });
    wrong
}

/// Who waits for whom, turned around.
struct Followers {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Followers {
    fn of(batch: &Batch, pace: &mut Pace<'_, '_>) -> Followers {
        let mut starts = vec![0u32; batch.instances.len() + 1];
        for some in batch.waits.chunks(SOME) {
            if pace.over(some.len()) {
                break;
            }
            for &wait in some {
                starts[wait as usize + 1] += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut cursor = starts.clone();
        let mut list = vec![0; batch.waits.len()];
        for (position, instance) in (0..).zip(&batch.instances) {
            if pace.over(1 + batch.waits_of(instance).len()) {
                break;
            }
            for &wait in batch.waits_of(instance) {
                let at = &mut cursor[wait as usize];
                list[*at as usize] = position;
                *at += 1;
            }
        }
        Followers { starts, list }
    }

    fn of_position(&self, position: u32) -> &[u32] {
        let p = position as usize;
        &self.list[self.starts[p] as usize..self.starts[p + 1] as usize]
    }
}

/// Notes what each new execution of one core has to wait for: by the engines, each of which runs
/// in order, by the fences, and by the plan's edges. // D1, L7
#[derive(Default)]
pub(super) struct Waits {
    /// By engine: its latest execution since the fence.
    latest: Vec<Option<u32>>,
    /// The engines that have run since the fence.
    running: Vec<u32>,
    fence: Option<u32>,
}

impl Waits {
    /// Forgets the batch before.
    pub fn begin(&mut self) {
        for engine in self.running.drain(..) {
            self.latest[engine as usize] = None;
        }
        self.fence = None;
    }

    /// Adds the waits of the execution at the end of the batch; `sources` are executions that the
    /// plan's edges name.
    pub fn add(&mut self, batch: &mut Batch, engine: u32, sources: impl Iterator<Item = u32>) {
        let position = batch.instances.len() as u32;
        let start = batch.waits.len();
        if engine == FENCE {
            for engine in self.running.drain(..) {
                batch.waits.extend(self.latest[engine as usize].take());
            }
            if batch.waits.len() == start {
                batch.waits.extend(self.fence);
            }
            self.fence = Some(position);
            return;
        }
        if self.latest.len() <= engine as usize {
            self.latest.resize(engine as usize + 1, None);
        }
        let latest = &mut self.latest[engine as usize];
        match *latest {
            Some(before) => batch.waits.push(before),
            None => {
                batch.waits.extend(self.fence);
                self.running.push(engine);
            }
        }
        *latest = Some(position);
        for source in sources {
            // Sources are distinct; only the engine's own latest may be one of them.
            if batch.waits.get(start) != Some(&source) {
                batch.waits.push(source);
            }
        }
    }
}
