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

impl From<Access> for Operand {
    fn from(Access { loc, offset, bytes }: Access) -> Operand {
        Operand {
            loc,
            offset,
            bytes: Some(bytes),
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

/// An instruction as stored; its operands, pairs and bindings lie in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The opcode.
    pub op: Symbol,
    /// The engine that runs it.
    pub engine: u32,
    /// The block it stands in.
    pub block: BlockId,
    pub(super) touches: u32, // Start of its operands: uses first, then defs.
    pub(super) uses: u32,    // How many of them are uses.
    pub(super) extra: u32,   // Counts if `has_extra` says so.
    /// What it is to the allocator.
    pub kind: Kind,
    pub(super) has_extra: bool,
}
