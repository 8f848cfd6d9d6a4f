//! The instructions of a function, stored for millions of them.
//!
//! An operand that is a whole location is stored as its number alone, and what few instructions have
//! (a name, a callee, pairs, bindings) lies aside: what a program costs is above all the memory that
//! it touches.

use super::ids::{BlockId, FlatIndex, MemLocId, Symbol};
use super::instruction::{Access, Argument, Instruction, InstructionSpec, Operand};
use super::memloc::MemLoc;
use super::names::Names;

/// An operand as stored: a location, and which bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    loc: MemLocId,
    part: u32, // A position in `Code::parts`, or `WHOLE`.
}

const WHOLE: u32 = u32::MAX;

/// What an operand touches that is not the whole of its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    offset: u64,
    bytes: u64,
}

/// What few instructions have. Its lists end where those of the next one begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extra {
    name: Option<Symbol>,
    callee: Option<Symbol>,
    id: Option<u64>,
    pairs: u32, // Start in `Code::pairs`.
    args: u32,  // Start in `Code::args`.
}

/// The instructions of a function in layout order, with their operands and texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Code {
    instructions: Vec<Instruction>,
    touches: Vec<Touch>, // Of one instruction after the other: its uses, then its defs.
    parts: Vec<Part>,
    extras: Vec<Extra>,
    pairs: Vec<(MemLocId, MemLocId)>,
    args: Vec<Argument>,
    symbols: Names,
}

/// How long the parts of a `Code` are, to cut it back to.
pub(super) struct Lengths {
    instructions: usize,
    touches: usize,
    parts: usize,
    extras: usize,
    pairs: usize,
    args: usize,
    symbols: usize,
}

/// The operands of one side of an instruction, in list order.
#[derive(Clone, Copy)]
pub struct Accesses<'a> {
    memlocs: &'a [MemLoc],
    parts: &'a [Part],
    touches: &'a [Touch],
}

/// Each of [`Accesses`] in turn.
#[derive(Clone)]
pub struct AccessIter<'a>(Accesses<'a>);

impl<'a> Accesses<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.touches.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.touches.is_empty()
    }

    /// The operand at a position of the list.
    pub fn get(&self, at: usize) -> Option<Access> {
        self.touches.get(at).map(|&touch| self.access(touch))
    }

    /// Each in turn.
    pub fn iter(&self) -> AccessIter<'a> {
        AccessIter(*self)
    }

    #[inline]
    fn access(&self, Touch { loc, part }: Touch) -> Access {
        let Part { offset, bytes } = match part {
            WHOLE => Part {
                offset: 0,
                bytes: self.memlocs[loc.index()].bytes,
            },
            part => self.parts[part as usize],
        };
        Access { loc, offset, bytes }
    }
}

impl<'a> IntoIterator for Accesses<'a> {
    type Item = Access;
    type IntoIter = AccessIter<'a>;

    fn into_iter(self) -> AccessIter<'a> {
        AccessIter(self)
    }
}

impl Iterator for AccessIter<'_> {
    type Item = Access;

    #[inline]
    fn next(&mut self) -> Option<Access> {
        let (&touch, rest) = self.0.touches.split_first()?;
        self.0.touches = rest;
        Some(self.0.access(touch))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for AccessIter<'_> {}

impl Code {
    /// Makes room for this many more instructions, of two operands each.
    pub(super) fn reserve(&mut self, instructions: usize) {
        self.instructions.reserve(instructions);
        self.touches.reserve(instructions * 2);
    }

    pub(super) fn lengths(&self) -> Lengths {
        Lengths {
            instructions: self.instructions.len(),
            touches: self.touches.len(),
            parts: self.parts.len(),
            extras: self.extras.len(),
            pairs: self.pairs.len(),
            args: self.args.len(),
            symbols: self.symbols.len(),
        }
    }

    pub(super) fn truncate(&mut self, lengths: &Lengths) {
        self.instructions.truncate(lengths.instructions);
        self.touches.truncate(lengths.touches);
        self.parts.truncate(lengths.parts);
        self.extras.truncate(lengths.extras);
        self.pairs.truncate(lengths.pairs);
        self.args.truncate(lengths.args);
        self.symbols.truncate(lengths.symbols);
    }

    /// Whether 32 bits number everything still if this is added.
    pub(super) fn has_room(&self, spec: &InstructionSpec<'_>) -> bool {
        let operands = spec.uses.len() + spec.defs.len();
        let longest = self.instructions.len().max(self.touches.len() + operands);
        longest < u32::MAX as usize
    }

    /// Appends an instruction that is known to be valid, but for its operands: the first one that
    /// touches what does not exist is an error, and nothing is added.
    pub(super) fn push<'s>(
        &mut self,
        memlocs: &[MemLoc],
        block: BlockId,
        op: Option<Symbol>,
        spec: &InstructionSpec<'s>,
    ) -> Result<(), &'s Operand> {
        let (touches, parts) = (self.touches.len(), self.parts.len());
        let pushed = self.push_touches(memlocs, spec.uses);
        if let Err(bad) = pushed.and_then(|()| self.push_touches(memlocs, spec.defs)) {
            self.touches.truncate(touches);
            self.parts.truncate(parts);
            return Err(bad);
        }
        let op = op.unwrap_or_else(|| self.symbol_of(spec.op));
        let extra = self.extras.len() as u32;
        let has_extra = self.push_extra(spec);
        self.instructions.push(Instruction {
            op,
            engine: spec.engine,
            block,
            touches: touches as u32,
            uses: spec.uses.len() as u32,
            extra,
            kind: spec.kind,
            has_extra,
        });
        Ok(())
    }

    #[inline(always)] // Most instructions have few.
    fn push_touches<'s>(
        &mut self,
        memlocs: &[MemLoc],
        operands: &'s [Operand],
    ) -> Result<(), &'s Operand> {
        for operand in operands {
            let &Operand { loc, offset, bytes } = operand;
            let size = memlocs.get(loc.index()).ok_or(operand)?.bytes;
            let left = size.checked_sub(offset).ok_or(operand)?;
            let bytes = bytes.unwrap_or(left);
            if bytes > left {
                return Err(operand);
            }
            let part = if bytes == size {
                WHOLE
            } else {
                self.parts.push(Part { offset, bytes });
                self.parts.len() as u32 - 1
            };
            self.touches.push(Touch { loc, part });
        }
        Ok(())
    }

    /// Stores what few instructions have, if this one has any of it.
    fn push_extra(&mut self, spec: &InstructionSpec<'_>) -> bool {
        let is_plain = spec.name.is_empty()
            && spec.callee.is_none()
            && spec.id.is_none()
            && spec.in_place.is_empty()
            && spec.args.is_empty();
        if is_plain {
            return false;
        }
        let extra = Extra {
            name: (!spec.name.is_empty()).then(|| self.symbol_of(spec.name)),
            callee: spec.callee.map(|callee| self.symbol_of(callee)),
            id: spec.id,
            pairs: self.pairs.len() as u32,
            args: self.args.len() as u32,
        };
        self.extras.push(extra);
        self.pairs.extend_from_slice(spec.in_place);
        for &(caller, callee) in spec.args {
            let callee = self.symbol_of(callee);
            self.args.push(Argument { caller, callee });
        }
        true
    }

    /// The number of a text.
    pub(super) fn symbol_of(&mut self, text: &str) -> Symbol {
        Symbol(self.symbols.intern(text).0)
    }

    pub(super) fn symbol(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol.0)
    }

    pub(super) fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    pub(super) fn uses<'a>(&'a self, memlocs: &'a [MemLoc], index: FlatIndex) -> Accesses<'a> {
        let i = &self.instructions[index.index()];
        let start = i.touches as usize;
        self.accesses(memlocs, start..start + i.uses as usize)
    }

    pub(super) fn defs<'a>(&'a self, memlocs: &'a [MemLoc], index: FlatIndex) -> Accesses<'a> {
        let i = &self.instructions[index.index()];
        let next = self.instructions.get(index.index() + 1);
        let end = next.map_or(self.touches.len(), |next| next.touches as usize);
        self.accesses(memlocs, i.touches as usize + i.uses as usize..end)
    }

    fn accesses<'a>(
        &'a self,
        memlocs: &'a [MemLoc],
        range: std::ops::Range<usize>,
    ) -> Accesses<'a> {
        Accesses {
            memlocs,
            parts: &self.parts,
            touches: &self.touches[range],
        }
    }

    pub(super) fn in_place(&self, index: FlatIndex) -> &[(MemLocId, MemLocId)] {
        self.extra(index).map_or(&[], |(extra, next)| {
            let end = next.map_or(self.pairs.len(), |next| next.pairs as usize);
            &self.pairs[extra.pairs as usize..end]
        })
    }

    pub(super) fn args(&self, index: FlatIndex) -> &[Argument] {
        self.extra(index).map_or(&[], |(extra, next)| {
            let end = next.map_or(self.args.len(), |next| next.args as usize);
            &self.args[extra.args as usize..end]
        })
    }

    pub(super) fn name(&self, index: FlatIndex) -> Option<Symbol> {
        self.extra(index)?.0.name
    }

    pub(super) fn callee(&self, index: FlatIndex) -> Option<Symbol> {
        self.extra(index)?.0.callee
    }

    pub(super) fn id(&self, index: FlatIndex) -> Option<u64> {
        self.extra(index)?.0.id
    }

    /// What this instruction has aside, and the next one that has something.
    fn extra(&self, index: FlatIndex) -> Option<(&Extra, Option<&Extra>)> {
        let i = &self.instructions[index.index()];
        let at = i.extra as usize;
        (i.has_extra).then(|| (&self.extras[at], self.extras.get(at + 1)))
    }
}
