//! Program and plan files, and CSV. // F
//!
//! A program is what a compiler tells the allocator, a plan what it is told back; both are JSON.
//! CSV is the exchange format of solvers: buffers with a life and a size, and nothing else.
//!
//! ```text
//! json       reading: typed values, paths, lines, the `object!` tables
//! json_out   writing: one record per line
//! program_*  program files        <-> ir::Program
//! plan_*     plan files           <-> plan::Plan
//! csv        CSV in two dialects   -> raw::RawProblem, and out again with offsets
//! convert    function <-> CSV
//! ```
//!
//! Reading is strict, so that a misspelt key or a lost unit never becomes a plan for another
//! program: unknown keys, unknown words, repeated keys and fractions are errors of one line that
//! say where. Compression is the caller's business.

mod convert;
#[cfg(test)]
mod convert_tests;
mod csv;
#[cfg(test)]
mod csv_tests;
mod json;
mod json_out;
mod plan_read;
#[cfg(test)]
mod plan_tests;
mod plan_write;
mod program_read;
#[cfg(test)]
mod program_tests;
mod program_write;

pub use convert::{Projection, csv_to_program, function_to_csv, program_to_csv};
pub use csv::CsvFile;
pub use plan_read::read_plan;
pub use plan_write::write_plan;
pub use program_read::read_program;
pub use program_write::write_program;
