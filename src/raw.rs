//! Raw problems: buffers without a program, as solvers exchange them. // C9, F
//!
//! Times are half-open here, `[lower, upper)`, as in the published instances; this file turns
//! them into the closed segments that everything else uses.

use crate::control::Control;
use crate::error::Result;
use crate::options::Options;
use crate::place::Region;
use crate::plan::Status;

/// Buffers in rows; every list but `regions` and `segments` has one entry per row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawProblem {
    /// Row `i` is live over `segments[starts[i]..starts[i + 1]]`; one entry more than rows.
    pub starts: Vec<u32>,
    /// Half-open `(lower, upper)`; empty ones count for nothing.
    pub segments: Vec<(i64, i64)>,
    /// Bytes.
    pub sizes: Vec<u64>,
    /// At least 1; not only powers of two. Empty: all 1.
    pub alignments: Vec<u64>,
    /// The host's own addresses. Empty: none.
    pub pins: Vec<Option<u64>>,
    /// How messages call the rows. Empty: by number.
    pub labels: Vec<String>,
    /// Windows of the address space. Empty: one without bounds.
    pub regions: Vec<Region>,
}

/// Where the rows of a raw problem lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawPlan {
    /// The first byte of each row.
    pub offsets: Vec<u64>,
    /// One past the highest byte placed, pins excluded.
    pub peak: u64,
    /// No placement has a lower peak.
    pub bound: u64,
    /// Whether the peak is proven.
    pub status: Status,
}

/// Places a raw problem.
pub fn solve_raw(
    _problem: &RawProblem,
    _options: &Options,
    _control: &mut Control<'_>,
) -> Result<RawPlan> {
    todo!("ranks times, orders rows, solves")
}
