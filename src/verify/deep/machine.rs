//! The program run by location and by address, in step. // V2
//!
//! From one meeting of the cores to the next, each core's instructions are first read with the
//! places that their operands have just then, then run by location in program order, which says
//! what every read has to find, and then run by address in several orders that the machine may
//! choose. What cores write to common bytes between two barriers is a race of the program: those
//! bytes are compared by nobody but their writer. // D3

use std::collections::BTreeSet;

use super::super::accesses::bindings;
use super::super::findings::Findings;
use super::super::scope::Scope;
use super::apart::Apart;
use super::batch::{Batch, Does, FENCE, FOREIGN, Instance, Piece, Role, Touch, Value, Want};
use super::clocks::{Clocks, Conflict};
use super::edges::Edges;
use super::places::{Areas, NOWHERE, Place, Places};
use super::ranges::Ranges;
use super::trace::{Step, What};
use super::world::{Order, Waits, World};
use crate::ir::{FlatIndex, Function, MemLocId, Usage};
use crate::options::Options;
use crate::ordered_map::OrderedMap;
use crate::pace::{Pace, SOME};

/// A core that has run this many instructions without meeting others may let the memories follow.
const ENOUGH: usize = 1 << 12;

/// Who wrote a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// `None`: the host.
    pub(super) index: Option<u32>,
    pub(super) scope: u32,
    pub(super) root: u32,
}

/// One core's part of a run.
struct Core {
    number: u32,
    steps: Vec<Step>,
    at: usize,
    /// The functions that are entered, each with the call it stands at.
    frames: Vec<(u32, u32)>,
    waits: Waits,
    /// By scope: the latest execution of each instruction, as the segment and the position.
    latest: OrderedMap<u32, Vec<(u32, u32)>>,
    segment: u32,
}

/// What all runs have in common.
pub(super) struct Machine<'a> {
    pub(super) scopes: &'a [Scope<'a>],
    pub places: Places,
    pub(super) areas: Areas,
    pub(super) edges: Option<Edges>,
    pub(super) options: &'a Options,
    /// By core number: its engines, ascending.
    pub(super) engines: Vec<Vec<u32>>,
    /// By storage.
    pub(super) location: Vec<Ranges<Value>>,
    pub(super) written: BTreeSet<u32>,
    pub(super) writers: Vec<Writer>,
    /// By scope: how many values there were when it was last entered.
    pub(super) entered: Vec<u32>,
    /// By shared storage: which core has written each byte since the last barrier.
    pub(super) marks: OrderedMap<u32, Ranges<u32>>,
    pub(super) said: BTreeSet<(&'static str, u32, u32, u32)>,
    pub findings: Findings,
    /// Races of the program. // D3
    pub warnings: Findings,
    pub executed: u64,
    pub touched: u64,
    /// What was touched of the shared memory, and when, if functions are held against each other.
    pub apart: Option<Apart>,
}

/// Of a mark: several cores have written the byte.
const SEVERAL: u32 = u32::MAX;

impl<'a> Machine<'a> {
    pub fn new(
        scopes: &'a [Scope<'a>],
        places: Places,
        edges: Option<Edges>,
        options: &'a Options,
        findings: Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Machine<'a> {
        let mut engines = vec![BTreeSet::new(); places.cores.len()];
        for scope in scopes {
            let engines = &mut engines[places.core_number(scope.core) as usize];
            for some in scope.function.instructions().chunks(SOME) {
                if pace.over(some.len()) {
                    break;
                }
                engines.extend(some.iter().map(|i| i.engine));
            }
        }
        Machine {
            location: vec![Ranges::default(); places.storages.len()],
            areas: places.areas(),
            scopes,
            places,
            edges,
            options,
            engines: engines
                .into_iter()
                .map(|e| e.into_iter().collect())
                .collect(),
            written: BTreeSet::new(),
            writers: Vec::new(),
            entered: vec![0; scopes.len()],
            marks: OrderedMap::new(),
            said: BTreeSet::new(),
            findings,
            warnings: Findings::default(),
            executed: 0,
            touched: 0,
            apart: None,
        }
    }

    /// Whether engines run in parallel: the plan says what they wait for.
    pub fn is_parallel(&self) -> bool {
        self.edges.is_some()
    }

    /// How many engines a core has.
    pub fn engines(&self, core: usize) -> usize {
        self.engines[core].len()
    }

    /// Runs the traces of some cores, by number, from the start; whether all came to their end.
    pub fn run(
        &mut self,
        traces: Vec<(u32, Vec<Step>)>,
        seed: u64,
        pace: &mut Pace<'_, '_>,
    ) -> bool {
        let alone = traces.len() == 1;
        let mut orders = vec![Order::Program];
        if !alone || self.is_parallel() {
            orders.extend([Order::Ahead, Order::Random]);
        }
        let memories = self.places.memories;
        let mut worlds: Vec<World> = (orders.into_iter())
            .map(|order| World::new(order, self.areas.clone(), memories, seed))
            .collect();
        self.begin(&traces, &mut worlds, pace);
        let engines = traces.iter().map(|t| match self.is_parallel() {
            true => self.engines(t.0 as usize).max(1),
            false => 1,
        });
        let mut clocks = Clocks::new(engines.collect(), self.areas.clone(), memories);
        let mut cores: Vec<Core> = (traces.into_iter())
            .map(|(number, steps)| Core {
                number,
                steps,
                at: 0,
                frames: Vec::new(),
                waits: Waits::default(),
                latest: OrderedMap::new(),
                segment: 0,
            })
            .collect();
        let mut batches: Vec<Batch> = cores.iter().map(|_| Batch::default()).collect();
        for epoch in 0.. {
            for (core, batch) in cores.iter_mut().zip(&mut batches) {
                batch.clear();
                self.read(core, batch, alone, pace);
            }
            if !alone {
                self.mark(&cores, &batches, pace);
            }
            for (core, batch) in cores.iter().zip(&mut batches) {
                self.locate(core.number, batch, pace);
            }
            self.settle(pace);
            if let Some(apart) = &mut self.apart {
                for (core, batch) in cores.iter().zip(&batches) {
                    apart.note(core.number, batch, &self.places, &self.areas, pace);
                }
            }
            for world in &mut worlds {
                world.run(&batches, pace, |mismatch| self.mismatch(mismatch));
            }
            if !alone || self.is_parallel() {
                for (c, (core, batch)) in cores.iter().zip(&batches).enumerate() {
                    let tell = |conflict: &Conflict| self.conflict(conflict);
                    clocks.run((c, core.number), epoch, batch, pace, tell);
                }
            }
            if pace.is_stopped() {
                return true;
            }
            let ended = |core: &Core| core.at == core.steps.len();
            if cores.iter().all(ended) {
                return true;
            }
            if !alone && cores.iter().any(ended) {
                return false; // Somebody waits at a barrier for one who will never come.
            }
        }
        unreachable!("every epoch runs at least one step of each core")
    }

    /// Forgets the last run and lets the host put its data where it has pinned it. // L6b
    fn begin(
        &mut self,
        traces: &[(u32, Vec<Step>)],
        worlds: &mut [World],
        pace: &mut Pace<'_, '_>,
    ) {
        for storage in std::mem::take(&mut self.written) {
            if pace.over(3) {
                break;
            }
            self.location[storage as usize].clear();
        }
        self.writers.clear();
        self.marks.clear();
        let runs = |core: u32| traces.iter().any(|t| t.0 == core);
        for i in 0..self.places.lasting.len() {
            if pace.over(10 * (1 + worlds.len())) {
                break;
            }
            let lasting = self.places.lasting[i];
            let Place {
                storage,
                area,
                address,
                ..
            } = lasting.place;
            if lasting.core.is_some_and(|core| !runs(core)) {
                continue;
            }
            let token = self.token(Writer {
                index: None,
                scope: lasting.site.0,
                root: lasting.site.1.0,
            });
            let value = |origin| Value { token, origin };
            self.location[storage as usize].set(0, lasting.bytes, Some(value(0)));
            self.written.insert(storage);
            for world in &mut *worlds {
                world.give(area, address, address + lasting.bytes, value(address));
            }
        }
    }

    fn token(&mut self, writer: Writer) -> u32 {
        self.writers.push(writer);
        self.writers.len() as u32 - 1
    }

    // ---- what runs ----

    /// Reads a core's next steps as executions, up to the next barrier unless it is alone.
    fn read(&mut self, core: &mut Core, batch: &mut Batch, alone: bool, pace: &mut Pace<'_, '_>) {
        let waits = !alone || self.is_parallel();
        core.waits.begin();
        while let Some(&step) = core.steps.get(core.at) {
            let started = !batch.instances.is_empty();
            if started && !alone && step.what == What::Barrier {
                return;
            }
            let free = !self.is_parallel()
                || batch
                    .instances
                    .last()
                    .is_none_or(|last| last.engine == FENCE);
            if alone && free && batch.instances.len() >= ENOUGH {
                return;
            }
            core.at += 1;
            let first = batch.touches.len();
            let role = self.touches(core, step, batch);
            let engine = match step.what {
                What::Run if self.is_parallel() => self.engine(core.number, step),
                What::Run => 0,
                _ => FENCE,
            };
            let first_wait = batch.waits.len();
            let mut awaited = false;
            if waits {
                let (edges, latest) = (&self.edges, &core.latest);
                let sources = edges.iter().flat_map(|e| e.sources(step.scope, step.index));
                let sources = sources.filter_map(|&source| {
                    let &(segment, position) = latest.get(&step.scope)?.get(source as usize)?;
                    (segment == core.segment + 1).then_some(position)
                });
                core.waits.add(batch, engine, sources);
                awaited = engine != FENCE
                    && edges
                        .as_ref()
                        .is_some_and(|e| e.awaited(step.scope, step.index));
            }
            if engine == FENCE {
                core.segment += 1;
            } else if awaited {
                let len = self.function(step.scope).instructions().len();
                let latest = core.latest.entry(step.scope).or_default();
                latest.resize(len, (0, 0));
                latest[step.index as usize] = (core.segment + 1, batch.instances.len() as u32);
            }
            self.executed += u64::from(role == Role::Instruction);
            self.touched += (batch.touches.len() - first) as u64;
            if pace.over(2 * (1 + batch.touches.len() - first)) {
                break;
            }
            batch.instances.push(Instance {
                scope: step.scope,
                index: step.index,
                engine,
                touches: (first as u32, batch.touches.len() as u32),
                waits: (first_wait as u32, batch.waits.len() as u32),
                awaited,
                role,
            });
        }
    }

    fn engine(&self, core: u32, step: Step) -> u32 {
        let engine = self.function(step.scope).instructions()[step.index as usize].engine;
        let engines = &self.engines[core as usize];
        engines.binary_search(&engine).expect("collected before") as u32
    }

    fn function(&self, scope: u32) -> &'a Function {
        self.scopes[scope as usize].function
    }

    /// Adds what a step touches.
    fn touches(&mut self, core: &mut Core, step: Step, batch: &mut Batch) -> Role {
        let function = self.function(step.scope);
        let index = FlatIndex(step.index);
        let out = &mut batch.touches;
        match step.what {
            What::Run | What::Barrier => {
                let uses = function.uses(index).iter();
                out.extend(uses.filter_map(|a| self.access(step.scope, a, Does::Read)));
                let defs = function.defs(index).iter();
                out.extend(defs.filter_map(|a| self.access(step.scope, a, Does::Write)));
                if function.is_elided(index) {
                    return Role::Elided;
                }
            }
            What::Call => {
                core.frames
                    .last_mut()
                    .expect("a call stands in a function")
                    .1 = step.index;
                self.call(step, out);
            }
            What::Return => {
                let bound: Vec<MemLocId> = (function.args(index).iter())
                    .map(|a| function.root(a.caller).0)
                    .collect();
                // What is bound, the callee has written by reference. // L7
                let defs = function.defs(index).iter();
                let own = defs.filter(|a| !bound.contains(&function.root(a.loc).0));
                out.extend(own.filter_map(|a| self.access(step.scope, a, Does::Write)));
            }
            What::Enter => {
                if let Some(&(caller, call)) = core.frames.last() {
                    self.places.bind(self.scopes, caller, call, step.scope);
                }
                core.frames.push((step.scope, 0));
                return Role::Enter;
            }
            What::Leave => {
                core.frames.pop();
                self.exit(core, step.scope, out);
                return Role::Exit;
            }
        }
        Role::Instruction
    }

    fn access(&self, scope: u32, access: crate::ir::Access, does: Does) -> Option<Touch> {
        let (root, base) = self.function(scope).root(access.loc);
        self.touch(scope, root, base + access.offset, access.bytes, does)
    }

    /// Bytes of a root; `None` if there are none.
    fn touch(
        &self,
        scope: u32,
        root: MemLocId,
        offset: u64,
        bytes: u64,
        does: Does,
    ) -> Option<Touch> {
        let place = self.places.root_place(scope, root);
        let from = place.offset.saturating_add(offset);
        (bytes > 0).then_some(Touch {
            does,
            root: root.0,
            storage: place.storage,
            from,
            to: from.saturating_add(bytes),
            area: place.area,
            address: place.address.saturating_add(offset),
            given: place.given,
            pieces: (0, 0),
        })
    }

    /// What a call reads, and what it overwrites without reading it. // L7
    fn call(&self, step: Step, out: &mut Vec<Touch>) {
        let scope = &self.scopes[step.scope as usize];
        let function = scope.function;
        let index = FlatIndex(step.index);
        let first = out.len();
        let uses = function.uses(index).iter();
        out.extend(uses.filter_map(|a| self.access(step.scope, a, Does::Read)));
        let whole = |loc: MemLocId, does| {
            let (root, offset) = function.root(loc);
            self.touch(step.scope, root, offset, function.memloc(loc).bytes, does)
        };
        let bound: Vec<(MemLocId, Usage)> = bindings(function, scope.module, index).collect();
        let of = |usage: Usage| bound.iter().filter(move |b| b.1 == usage).map(|b| b.0);
        out.extend(of(Usage::Input).filter_map(|loc| whole(loc, Does::Read)));
        let mut read = BTreeSet::new();
        read.extend(out[first..].iter().map(|t| t.storage));
        let written = of(Usage::Output).filter_map(|loc| whole(loc, Does::Kill));
        let defs = function.defs(index).iter();
        let written = written.chain(defs.filter_map(|a| self.access(step.scope, a, Does::Kill)));
        let killed: Vec<Touch> = written.filter(|t| !read.contains(&t.storage)).collect();
        out.extend(killed);
    }

    /// What has to be there when a function is left. // L6, L6b
    fn exit(&self, core: &Core, scope: u32, out: &mut Vec<Touch>) {
        let of = &self.scopes[scope as usize];
        for root in of.roots().filter(|&root| of.kept(root)) {
            let touch = self.touch(scope, root, 0, of.loc(root).bytes, Does::Read);
            // Where no exit can be reached it has to stay from its defs on, not from the entry.
            out.extend(touch.map(|touch| Touch {
                given: false,
                ..touch
            }));
        }
        if !core.frames.is_empty() {
            return;
        }
        for lasting in &self.places.lasting {
            let here = lasting.core.is_none_or(|c| c == core.number);
            if here && lasting.bytes > 0 {
                out.push(Touch {
                    does: Does::Read,
                    root: FOREIGN,
                    storage: lasting.place.storage,
                    from: 0,
                    to: lasting.bytes,
                    area: lasting.place.area,
                    address: lasting.place.address,
                    given: false,
                    pieces: (0, 0),
                });
            }
        }
    }

    // ---- by location ----

    /// Notes who writes what of the shared storages until the next barrier.
    fn mark(&mut self, cores: &[Core], batches: &[Batch], pace: &mut Pace<'_, '_>) {
        for (core, batch) in cores.iter().zip(batches) {
            for touch in batch.touches.iter().filter(|t| t.writes()) {
                if pace.over(1) {
                    break;
                }
                if self.places.storages[touch.storage as usize].shared {
                    if pace.over(10) {
                        break;
                    }
                    let marks = self.marks.entry(touch.storage).or_default();
                    marks.change(touch.from, touch.to, |old| match old {
                        Some(&other) if other != core.number => SEVERAL,
                        _ => core.number,
                    });
                }
            }
        }
    }

    /// Runs a batch by location: what each read has to find.
    fn locate(&mut self, core: u32, batch: &mut Batch, pace: &mut Pace<'_, '_>) {
        for i in 0..batch.instances.len() {
            let instance = batch.instances[i];
            if instance.role == Role::Enter {
                for &storage in self.places.fresh(instance.scope) {
                    if pace.over(1) {
                        break;
                    }
                    self.location[storage as usize].clear();
                }
                self.entered[instance.scope as usize] = self.writers.len() as u32;
            }
            // Maps of bytes are read and written for each touch.
            if pace.over(10 * (1 + batch.touches_of(&instance).len())) {
                break;
            }
            if instance.role == Role::Instruction {
                self.operands(&instance, batch.touches_of(&instance));
            }
            if instance.role == Role::Elided {
                self.hand_on(core, batch.touches_of(&instance));
                continue;
            }
            for t in instance.touches.0..instance.touches.1 {
                let touch = batch.touches[t as usize];
                batch.touches[t as usize].pieces = if touch.writes() {
                    let token = self.token(Writer {
                        index: Some(instance.index),
                        scope: instance.scope,
                        root: touch.root,
                    });
                    let origin = touch.from;
                    let value = (touch.does == Does::Write).then_some(Value { token, origin });
                    self.location[touch.storage as usize].set(touch.from, touch.to, value);
                    self.written.insert(touch.storage);
                    (token, token)
                } else {
                    let first = batch.pieces.len() as u32;
                    if touch.area != NOWHERE {
                        self.expect(core, instance.scope, &touch, &mut batch.pieces);
                    }
                    (first, batch.pieces.len() as u32)
                };
            }
        }
    }

    /// A copy that never runs: the destination means what the source does. // X3
    ///
    /// What another core writes to the source before the next barrier is nobody's value, and bytes
    /// that only the host has written stay unknown.
    fn hand_on(&mut self, core: u32, touches: &[Touch]) {
        let &[from, to] = touches else {
            return; // No bytes.
        };
        let shift = to.from.wrapping_sub(from.from);
        let mut pieces: Vec<(u64, u64, Option<Value>)> = Vec::new();
        let marks = self.marks.get(&from.storage);
        self.location[from.storage as usize].visit(from.from, from.to, |lo, hi, value| {
            let value = value.map(|value| Value {
                origin: value.origin.wrapping_add(shift),
                ..*value
            });
            match marks {
                None => pieces.push((lo, hi, value)),
                Some(marks) => marks.visit(lo, hi, |lo, hi, by| {
                    let known = by.is_none_or(|&by| by == core);
                    pieces.push((lo, hi, value.filter(|_| known)));
                }),
            }
        });
        let location = &mut self.location[to.storage as usize];
        location.set(to.from, to.to, None);
        for (lo, hi, value) in pieces {
            let (lo, hi) = (lo.wrapping_add(shift), hi.wrapping_add(shift));
            location.set(lo, hi.min(to.to), value);
        }
        self.written.insert(to.storage);
    }

    /// What a read of addresses has to find, where location memory knows it.
    fn expect(&self, core: u32, scope: u32, touch: &Touch, out: &mut Vec<Piece>) {
        let base = touch.base();
        let mut push = |lo: u64, hi: u64, want: Want| {
            out.push(Piece {
                start: base.wrapping_add(lo),
                end: base.wrapping_add(hi),
                want,
            });
        };
        let marks = self.marks.get(&touch.storage);
        let bytes = &self.location[touch.storage as usize];
        bytes.visit(touch.from, touch.to, |lo, hi, value| {
            let want = match value {
                Some(value) => Want::Value(Value {
                    token: value.token,
                    origin: base.wrapping_add(value.origin),
                }),
                None if touch.given => Want::Before(self.entered[scope as usize]),
                None => return,
            };
            match marks {
                None => push(lo, hi, want),
                Some(marks) => marks.visit(lo, hi, |lo, hi, by| {
                    if by.is_none_or(|&by| by == core) {
                        push(lo, hi, want);
                    }
                }),
            }
        });
    }

    /// At a barrier: what several cores have written is nobody's value.
    fn settle(&mut self, pace: &mut Pace<'_, '_>) {
        for (storage, marks) in std::mem::take(&mut self.marks) {
            if pace.over(10) {
                break;
            }
            marks.visit(0, u64::MAX, |lo, hi, by| {
                if by == Some(&SEVERAL) {
                    self.location[storage as usize].set(lo, hi, None);
                }
            });
        }
    }
}
