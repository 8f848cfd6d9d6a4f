//! What a compiler tells us: programs, modules, functions, memory locations, instructions.
//!
//! A tree of plain values, validated once, on entry. Everything else in the crate reads it; only
//! [`Function::assign`] writes results into it.

mod code;
mod function;
mod ids;
mod instruction;
mod memloc;
mod names;
mod program;
mod segment;

pub use code::{AccessIter, Accesses};
pub use function::{Block, Function};
pub use ids::{BlockId, FlatIndex, MemLocId, Symbol};
pub use instruction::{
    Access, Argument, ArgumentSpec, Instruction, InstructionSpec, Kind, Operand,
};
pub(crate) use memloc::closed_set;
pub use memloc::{
    Bank, Extent, MemLoc, MemLocSpec, MemoryType, Placed, Remote, Skipped, Space, Usage, UsageMask,
    View,
};
pub use program::{Extension, ExtensionSite, Module, Program};
pub(crate) use segment::row;
pub use segment::{Lives, Segment, overlap};
