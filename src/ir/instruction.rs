//! Instructions: what reads and writes which bytes, on which engine. // T

use super::ids::{BlockId, MemLocId, Symbol};
use super::memloc::closed_set;
use std::fmt;

closed_set! {
    /// What an instruction is to the allocator.
    Kind {
        /// Anything without a rule of its own.
        #[default]
        Compute = 0 "compute",
        /// Copies its first use to its first def.
        DmaCopy = 1 "dma_copy",
        /// A collective operation; its collective operands size the region. // P5
        Collective = 2 "collective",
        /// Runs another function. // L7
        Call = 3 "call",
        /// The same moment on all cores. // M4
        Barrier = 4 "barrier",
    }
}

/// Bytes of a location that an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The location as named: a root or a view.
    pub loc: MemLocId,
    /// The first byte, from the start of `loc`.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// What a host says of an operand: a location, or bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// A root or a view.
    pub loc: MemLocId,
    /// The first byte, from the start of `loc`.
    pub offset: u64,
    /// How many bytes; `None` is to the end.
    pub bytes: Option<u64>,
}

impl From<MemLocId> for Operand {
    fn from(loc: MemLocId) -> Operand {
        Operand {
            loc,
            offset: 0,
            bytes: None,
        }
    }
}

/// A caller's location bound to a callee's input or output, by reference. // L7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// A location of the calling function.
    pub caller: MemLocId,
    /// The name of an input or output of the called one.
    pub callee: Symbol,
}

/// A binding as a host says it: the caller's location, the callee's name.
pub type ArgumentSpec<'a> = (MemLocId, &'a str);

/// What a host says of a new instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstructionSpec<'a> {
    /// The opcode; any text.
    pub op: &'a str,
    /// A name for messages; may be empty.
    pub name: &'a str,
    /// What it is to the allocator.
    pub kind: Kind,
    /// The engine that runs it.
    pub engine: u32,
    /// What it reads.
    pub uses: &'a [Operand],
    /// What it writes.
    pub defs: &'a [Operand],
    /// Pairs (use, def) that may share their start. // L8
    pub in_place: &'a [(MemLocId, MemLocId)],
    /// The called function, by name; calls only.
    pub callee: Option<&'a str>,
    /// Bindings; calls only.
    pub args: &'a [ArgumentSpec<'a>],
    /// The barrier's id; barriers only.
    pub id: Option<u64>,
}

/// An instruction as stored; its operands lie in its function.
///
/// Lists of operands, pairs and bindings end where those of the next instruction begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    payload: u64, // A call's callee, a barrier's id.
    /// The opcode.
    pub op: Symbol,
    name: u32, // A symbol, or `NO_NAME`.
    /// The engine that runs it.
    pub engine: u32,
    /// The block it stands in.
    pub block: BlockId,
    pub(super) accesses: u32, // Start in `Function::accesses`: uses first, then defs.
    pub(super) uses: u32,     // How many of them are uses.
    pub(super) pairs: u32,    // Start in `Function::in_place`.
    pub(super) args: u32,     // Start in `Function::args`.
    /// What it is to the allocator.
    pub kind: Kind,
    has_id: bool,
}

const NO_NAME: u32 = u32::MAX;

/// Texts of an instruction as its function has interned them.
pub(super) struct Symbols {
    pub op: Symbol,
    pub name: Option<Symbol>,
    pub callee: Option<Symbol>,
}

/// Where the lists of an instruction begin.
pub(super) struct Starts {
    pub accesses: u32,
    pub pairs: u32,
    pub args: u32,
}

impl Instruction {
    /// What a checked spec says.
    pub(super) fn new(
        spec: &InstructionSpec<'_>,
        symbols: Symbols,
        block: BlockId,
        starts: Starts,
    ) -> Instruction {
        Instruction {
            payload: match symbols.callee {
                Some(callee) => callee.0.into(),
                None => spec.id.unwrap_or(0),
            },
            op: symbols.op,
            name: symbols.name.map_or(NO_NAME, |name| name.0),
            engine: spec.engine,
            block,
            accesses: starts.accesses,
            uses: spec.uses.len() as u32,
            pairs: starts.pairs,
            args: starts.args,
            kind: spec.kind,
            has_id: spec.id.is_some(),
        }
    }

    /// A name for messages.
    pub fn name(&self) -> Option<Symbol> {
        (self.name != NO_NAME).then_some(Symbol(self.name))
    }

    /// The called function's name; there is one iff `kind` is `Call`.
    pub fn callee(&self) -> Option<Symbol> {
        (self.kind == Kind::Call).then_some(Symbol(self.payload as u32))
    }

    /// The barrier's id, if it has one.
    pub fn id(&self) -> Option<u64> {
        self.has_id.then_some(self.payload)
    }
}
