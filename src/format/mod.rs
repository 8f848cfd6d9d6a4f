//! Program and plan files, CSV, and what other people's tools read and write. // F
//!
//! A program is what a compiler tells the allocator, a plan what it is told back; both are JSON.
//! CSV is the exchange format of solvers: buffers with a life and a size, and nothing else.
//!
//! ```text
//! json       strict reading in pieces, with paths and lines; writing
//! program    program files  <-> ir::Program
//! plan       plan files     <-> plan::Plan
//! csv        CSV files       -> raw::RawProblem, and out again with offsets
//! convert    a function     <-> rows
//! xla        XLA's text      -> ir::Program, and XLA's own addresses
//! timeline   when the bytes of a plan are taken, on one axis
//!   chrome_trace, memory_snapshot   what viewers of it open
//! explanation, difference      what reports tell machines; written only
//! ```
//!
//! Reading is strict, so that a misspelt key or a lost unit never becomes a plan for another
//! program: unknown keys, unknown words, repeated keys and fractions are errors of one line that
//! say where. Compression is the caller's business.

mod chrome_trace;
mod convert;
mod csv;
mod difference;
mod explanation;
pub(crate) mod json;
mod memory_snapshot;
mod plan;
mod program;
#[cfg(test)]
mod schema_tests;
mod timeline;
mod xla;

pub use chrome_trace::chrome_trace;
pub use convert::{Projection, csv_to_program, function_to_csv, program_to_csv};
pub use csv::CsvFile;
pub use difference::write_difference;
pub use explanation::write_explanation;
pub use memory_snapshot::memory_snapshot;
pub use plan::{read_plan, write_plan};
pub use program::{read_program, write_program};
pub use xla::{XlaImport, has_xla_live_ranges, is_xla_dump, read_xla};
