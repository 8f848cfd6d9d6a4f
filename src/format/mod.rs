//! Program and plan files, and CSV. // F
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
//! explanation, difference      what reports tell machines; written only
//! ```
//!
//! Reading is strict, so that a misspelt key or a lost unit never becomes a plan for another
//! program: unknown keys, unknown words, repeated keys and fractions are errors of one line that
//! say where. Compression is the caller's business.

mod convert;
mod csv;
mod difference;
mod explanation;
mod json;
mod plan;
mod program;
#[cfg(test)]
mod schema_tests;

pub use convert::{Projection, csv_to_program, function_to_csv, program_to_csv};
pub use csv::CsvFile;
pub use difference::write_difference;
pub use explanation::write_explanation;
pub use plan::{read_plan, write_plan};
pub use program::{read_program, write_program};
