//! Instructions: what reads and writes what, in pairs, collectives, calls and barriers.

use super::memlocs::{Formal, Loc, Locs, part};
use super::{Result, Shape, Unstructured, chance};
use crate::ir::{Function, InstructionSpec, Kind, MemLocId, MemoryType, Operand, Space, Usage};

/// A function that this one calls.
pub(super) struct Callee<'a> {
    pub name: &'a str,
    pub formals: &'a [Formal],
}

/// Writes the instructions of a function, block by block in layout order.
pub(super) struct Code<'a> {
    shape: &'a Shape,
    locs: &'a [Loc],
    /// The roots that hold something by now, as far as layout order tells.
    filled: Vec<bool>,
}

#[derive(Default)]
struct Operands {
    uses: Vec<Operand>,
    defs: Vec<Operand>,
    pairs: Vec<(MemLocId, MemLocId)>,
}

impl<'a> Code<'a> {
    pub fn new(shape: &'a Shape, locs: &'a Locs) -> Code<'a> {
        let filled = locs.all.iter().map(|loc| !loc.is_written()).collect();
        Code {
            shape,
            locs: &locs.all,
            filled,
        }
    }

    /// Appends up to `limit` instructions, and among them the barriers in order, and the calls.
    pub fn fill_block(
        &mut self,
        u: &mut Unstructured<'_>,
        function: &mut Function,
        limit: u32,
        barriers: &[Option<u64>],
        calls: &[&Callee<'_>],
    ) -> Result<()> {
        let (mut barriers, mut calls) = (barriers.iter(), calls.iter());
        for _ in 0..u.int_in_range(0..=limit)? {
            if chance(u, 3)?
                && let Some(&id) = barriers.next()
            {
                add(function, barrier(id));
            }
            if chance(u, 3)?
                && let Some(callee) = calls.next()
            {
                self.call(u, function, callee)?;
            }
            self.instruction(u, function)?;
        }
        barriers.for_each(|&id| add(function, barrier(id)));
        calls.try_for_each(|callee| self.call(u, function, callee))
    }

    fn instruction(&mut self, u: &mut Unstructured<'_>, function: &mut Function) -> Result<()> {
        let mut operands = Operands::default();
        let mut kind = Kind::Compute;
        match u.int_in_range(0..=7)? {
            0..=3 => self.compute(u, &mut operands)?,
            4 | 5 if self.shape.in_place => self.in_place(u, &mut operands)?,
            6 if self.shape.collectives => {
                kind = Kind::Collective;
                self.collective(u, &mut operands)?;
            }
            7 => {
                kind = Kind::DmaCopy;
                self.copy(u, &mut operands)?;
            }
            _ => self.compute(u, &mut operands)?,
        }
        let name = *u.choose(&["", "", "", "named"])?;
        let spec = InstructionSpec {
            op: u.choose(&["add", "mul", "norm"])?,
            name,
            kind,
            engine: u.int_in_range(0..=self.shape.engines.max(1) - 1)?,
            uses: &operands.uses,
            defs: &operands.defs,
            in_place: &operands.pairs,
            ..InstructionSpec::default()
        };
        add(function, spec);
        Ok(())
    }

    /// Any operands; a pair now and then, most of them ineligible.
    fn compute(&mut self, u: &mut Unstructured<'_>, to: &mut Operands) -> Result<()> {
        for _ in 0..u.int_in_range(0..=2)? {
            let at = self.pick_use(u)?;
            to.uses.push(self.operand(u, at)?);
        }
        for _ in 0..u.int_in_range(0..=2)? {
            let at = self.pick_def(u)?;
            to.defs.push(self.operand(u, at)?);
            self.fill(at);
        }
        if self.shape.in_place && chance(u, 6)? {
            let used = u.choose_index(self.locs.len())?;
            let def = u.choose_index(self.locs.len())?;
            to.pairs.push((MemLocId::new(used), MemLocId::new(def)));
        }
        Ok(())
    }

    /// A use that is likely to die and a def, sometimes two, that may take its place. // L8
    fn in_place(&mut self, u: &mut Unstructured<'_>, to: &mut Operands) -> Result<()> {
        let used = self.locs[self.pick_use(u)?].root;
        to.uses.push(MemLocId::new(used).into());
        let of = &self.locs[used];
        let fits: Vec<usize> = (0..self.locs.len())
            .filter(|&i| {
                let loc = &self.locs[i];
                let place = (loc.space, loc.memory) == (of.space, of.memory);
                loc.root == i && i != used && loc.is_written() && place && loc.bytes <= of.bytes
            })
            .collect();
        for _ in 0..if chance(u, 4)? { 2 } else { 1 } {
            let any = fits.is_empty() || chance(u, 8)?;
            let def = if any {
                self.locs[self.pick_def(u)?].root
            } else {
                *u.choose(&fits)?
            };
            to.defs.push(MemLocId::new(def).into());
            to.pairs.push((MemLocId::new(used), MemLocId::new(def)));
            self.fill(def);
        }
        if self.locs[used].is_written() {
            self.filled[used] = false;
        }
        if chance(u, 4)? {
            let other = self.pick_use(u)?;
            to.uses.push(self.operand(u, other)?);
        }
        Ok(())
    }

    fn collective(&mut self, u: &mut Unstructured<'_>, to: &mut Operands) -> Result<()> {
        let staged: Vec<usize> = (0..self.locs.len())
            .filter(|&i| self.locs[i].usage == Usage::Collective)
            .collect();
        for _ in 0..u.int_in_range(1..=2)? {
            let any = staged.is_empty() || chance(u, 3)?;
            let at = if any {
                self.pick_use(u)?
            } else {
                *u.choose(&staged)?
            };
            to.uses.push(MemLocId::new(at).into());
        }
        let any = staged.is_empty() || chance(u, 3)?;
        let at = if any {
            self.pick_def(u)?
        } else {
            *u.choose(&staged)?
        };
        to.defs.push(MemLocId::new(at).into());
        self.fill(at);
        Ok(())
    }

    /// One whole location, or a part of it, into another. // X3
    fn copy(&mut self, u: &mut Unstructured<'_>, to: &mut Operands) -> Result<()> {
        let (from, into) = (self.pick_use(u)?, self.pick_def(u)?);
        to.uses.push(self.operand(u, from)?);
        to.defs.push(self.operand(u, into)?);
        self.fill(into);
        Ok(())
    }

    /// Binds every formal to a location of its size, each root once. // L7
    fn call(
        &mut self,
        u: &mut Unstructured<'_>,
        function: &mut Function,
        callee: &Callee<'_>,
    ) -> Result<()> {
        let mut operands = Operands::default();
        let mut args: Vec<(MemLocId, &str)> = Vec::new();
        let mut bound = vec![false; self.locs.len()];
        for formal in callee.formals {
            let input = formal.name.starts_with("in");
            let fits: Vec<usize> = (0..self.locs.len())
                .filter(|&i| self.may_bind(i, formal, input) && !bound[self.locs[i].root])
                .collect();
            // Each formal has a root of its size reserved, so there always is one.
            let at = *u.choose(&fits)?;
            bound[self.locs[at].root] = true;
            args.push((MemLocId::new(at), &formal.name));
            if chance(u, 2)? {
                let list = if input {
                    &mut operands.uses
                } else {
                    &mut operands.defs
                };
                list.push(MemLocId::new(at).into());
            }
            if !input {
                self.fill(at);
            }
        }
        if self.shape.in_place && chance(u, 2)? {
            self.bound_pair(u, &args, &mut operands)?;
        }
        add(
            function,
            InstructionSpec {
                op: "call",
                kind: Kind::Call,
                uses: &operands.uses,
                defs: &operands.defs,
                in_place: &operands.pairs,
                callee: Some(callee.name),
                args: &args,
                ..InstructionSpec::default()
            },
        );
        Ok(())
    }

    /// An input and an output of one call as a pair that a callee could not honour. // L8
    fn bound_pair(
        &mut self,
        u: &mut Unstructured<'_>,
        args: &[(MemLocId, &str)],
        to: &mut Operands,
    ) -> Result<()> {
        let roots = |prefix: &str| -> Vec<usize> {
            let bound = args.iter().filter(|arg| arg.1.starts_with(prefix));
            let ids = bound.map(|arg| arg.0.index());
            ids.filter(|&i| self.locs[i].root == i).collect()
        };
        let (inputs, outputs) = (roots("in"), roots("out"));
        if inputs.is_empty() || outputs.is_empty() {
            return Ok(());
        }
        let (used, def) = (*u.choose(&inputs)?, *u.choose(&outputs)?);
        to.pairs.push((MemLocId::new(used), MemLocId::new(def)));
        if self.locs[used].is_written() {
            self.filled[used] = false;
        }
        Ok(())
    }

    fn may_bind(&self, at: usize, formal: &Formal, input: bool) -> bool {
        let (loc, root) = (&self.locs[at], self.locs[at].root);
        loc.bytes == formal.bytes
            && (loc.memory, loc.space) == (MemoryType::Dram, Space::Local)
            && loc.remote.is_none()
            && (input || loc.is_written())
            && (at == root || !self.locs[root].reserved)
    }

    /// Something to read; mostly something that has been written.
    fn pick_use(&self, u: &mut Unstructured<'_>) -> Result<usize> {
        let filled: Vec<usize> = (0..self.locs.len())
            .filter(|&i| self.filled[self.locs[i].root])
            .collect();
        if filled.is_empty() || chance(u, 12)? {
            return u.choose_index(self.locs.len());
        }
        u.choose(&filled).copied()
    }

    /// Something to write.
    fn pick_def(&self, u: &mut Unstructured<'_>) -> Result<usize> {
        let written: Vec<usize> = (0..self.locs.len())
            .filter(|&i| self.locs[i].is_written())
            .collect();
        if written.is_empty() {
            return u.choose_index(self.locs.len());
        }
        u.choose(&written).copied()
    }

    fn operand(&self, u: &mut Unstructured<'_>, at: usize) -> Result<Operand> {
        let loc = MemLocId::new(at);
        let bytes = self.locs[at].bytes;
        if !self.shape.slices || bytes == 0 || !chance(u, 3)? {
            return Ok(loc.into());
        }
        let (offset, bytes) = part(u, bytes)?;
        Ok(Operand { loc, offset, bytes })
    }

    fn fill(&mut self, at: usize) {
        self.filled[self.locs[at].root] = true;
    }
}

fn barrier(id: Option<u64>) -> InstructionSpec<'static> {
    InstructionSpec {
        op: "barrier",
        kind: Kind::Barrier,
        id,
        ..InstructionSpec::default()
    }
}

fn add(function: &mut Function, spec: InstructionSpec<'_>) {
    function
        .add_instruction(&spec)
        .expect("the generator writes valid instructions");
}
