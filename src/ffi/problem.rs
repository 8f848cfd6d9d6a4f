//! Raw problems: buffers without a program, in one call. // C9

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::memloc::DRAM_NO_ADDRESS;
use super::options::{self, dram_control, dram_options, dram_region};
use super::status::dram_status;
use super::structs::{self, OutStruct, Versioned};
use super::text::{dram_str, slice, slice_mut};
use crate::error::{Error, Result};
use crate::ir::Space;
use crate::options::Options;
use crate::raw::{RawPlan, RawProblem, solve_raw};

/// A half-open run of time, `[lower, upper)`; one that is empty counts for nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_interval {
    /// The first point.
    pub lower: i64,
    /// One past the last point; at least `lower`.
    pub upper: i64,
}

/// Buffers in rows. What it points at is read during the call only.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_problem {
    /// Set by the caller: `sizeof(dram_problem)`.
    pub struct_size: usize,
    /// How many buffers: the length of every column.
    pub count: usize,
    /// Buffer `i` is live over the intervals `[starts[i], starts[i + 1])`: `count + 1` entries,
    /// ascending from 0. Null: over interval `i`, and there are `count` intervals.
    pub starts: *const u32,
    /// The intervals; those of one buffer ascend and are disjoint.
    pub intervals: *const dram_interval,
    /// Bytes.
    pub sizes: *const u64,
    /// What each offset is a multiple of, at least 1. Null: 1.
    pub alignments: *const u64,
    /// The host's own offsets; `DRAM_NO_ADDRESS` where it has none. Null: none.
    pub pins: *const u64,
    /// How messages call the buffers. Null: by their rows.
    pub labels: *const dram_str,
    /// Windows of the address space. Null: one without bounds.
    pub regions: *const dram_region,
    /// How many windows.
    pub region_count: usize,
    /// Where the buffers lay before: a warm start, which is not trusted; `DRAM_NO_ADDRESS` where
    /// that is not known. Null: it is not known of any.
    pub hints: *const u64,
}

// SAFETY: pointers and lengths, without padding (asserted in `layout`).
unsafe impl Versioned for dram_problem {
    const FIRST_SIZE: usize = 80;
}

/// How well a raw problem was solved.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_problem_result {
    /// Set by the caller: `sizeof(dram_problem_result)`.
    pub struct_size: usize,
    /// One past the highest byte placed, pins excluded; the floor if nothing was.
    pub peak: u64,
    /// No placement has a lower peak; with a runtime page: none with as few private bytes.
    pub bound: u64,
    /// Nothing was placed below this byte.
    pub floor: u64,
    /// A `dram_plan_status`.
    pub status: u32,
    /// How many buffers straddle a page of the runtime; 0 if `runtime_page` is off.
    pub straddler_count: u32,
    /// Pages of the runtime that the buffers reach into, pinned ones included.
    pub runtime_pages: u64,
    /// Bytes of the copies that straddling costs: a buffer straddles a page of `p` bytes if
    /// `offset % p + size > p`, and then costs its size once more.
    pub private_bytes: u64,
    /// Hinted buffers that lie where the hint says.
    pub kept: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Hinted buffers that lie elsewhere.
    pub moved: u64,
    /// Their bytes.
    pub moved_bytes: u64,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_problem_result {
    const FIRST_SIZE: usize = 40;
}

/// Places buffers that are live over half-open intervals, exact sizes: above the page-rounded end of the
/// pins or, with the option `floor` at `DRAM_FLOOR_HOLES`, around them while they live.
///
/// `options`, `control`: null for the defaults; what concerns programs only is ignored. `offsets`:
/// an array of `problem->count` elements to fill, each the first byte of a buffer;
/// `DRAM_NO_ADDRESS` on failure. `result_out`: null, or set its `struct_size` and the call fills
/// the rest.
///
/// No placement: `DRAM_STATUS_RESOURCE_EXHAUSTED`, and the error has a `dram_no_room`; the budget
/// over with none found: `DRAM_STATUS_DEADLINE_EXCEEDED`; cancelled with none found:
/// `DRAM_STATUS_CANCELLED`. Threads: independent of every other call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_problem_solve(
    problem: *const dram_problem,
    options: *const dram_options,
    control: *const dram_control,
    offsets: *mut u64,
    result_out: *mut dram_problem_result,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let result_out = unsafe { OutStruct::optional(result_out, "result_out")? };
        // SAFETY: as this function's parameter says.
        let given = unsafe { structs::read(problem, "problem")? };
        // SAFETY: as this function's parameter says: one element per buffer.
        let offsets = unsafe { slice_mut(offsets, given.count, "offsets")? };
        offsets.fill(DRAM_NO_ADDRESS);
        // SAFETY: as above, for what the struct points at.
        let problem = unsafe { convert(&given)? };
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let solved = watch.run(&options, |control| solve_raw(&problem, &options, control))?;
        answer(&solved, offsets, result_out);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The simplest form of `dram_problem_solve`: buffer `i` has `size[i]` bytes and is live over
/// `[lower[i], upper[i])`; alignment 1, default options.
///
/// `capacity`: bytes; 0 for no limit. `offsets`: an array of `count` elements to fill;
/// `DRAM_NO_ADDRESS` on failure. `result_out`: null, or set its `struct_size` and the call fills
/// the rest. Fails like `dram_problem_solve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_problem_solve_simple(
    lower: *const i64,
    upper: *const i64,
    size: *const u64,
    count: usize,
    capacity: u64,
    offsets: *mut u64,
    result_out: *mut dram_problem_result,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let result_out = unsafe { OutStruct::optional(result_out, "result_out")? };
        // SAFETY: as this function's parameters say.
        let offsets = unsafe { slice_mut(offsets, count, "offsets")? };
        offsets.fill(DRAM_NO_ADDRESS);
        // SAFETY: as this function's parameters say.
        let (lower, upper, size) = unsafe {
            (
                slice(lower, count, "lower")?,
                slice(upper, count, "upper")?,
                slice(size, count, "size")?,
            )
        };
        let problem = RawProblem {
            starts: one_each(count)?,
            segments: lower.iter().copied().zip(upper.iter().copied()).collect(),
            sizes: size.to_vec(),
            ..RawProblem::default()
        };
        let wanted = Options {
            capacity: options::nonzero(capacity),
            ..Options::default()
        };
        // SAFETY: null stands for the defaults.
        let (_, watch) = unsafe { options::read(std::ptr::null(), std::ptr::null(), call)? };
        let solved = watch.run(&wanted, |control| solve_raw(&problem, &wanted, control))?;
        answer(&solved, offsets, result_out);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

fn one_each(count: usize) -> Result<Vec<u32>> {
    let last = u32::try_from(count);
    let last = last.map_err(|_| Error::invalid("count", "fewer than 2^32 buffers fit"))?;
    Ok((0..=last).collect())
}

fn answer(
    solved: &RawPlan,
    offsets: &mut [u64],
    result_out: Option<OutStruct<dram_problem_result>>,
) {
    offsets.copy_from_slice(&solved.offsets);
    if let Some(result_out) = result_out {
        result_out.set(dram_problem_result {
            struct_size: 0,
            peak: solved.peak,
            bound: solved.bound,
            floor: solved.floor,
            status: solved.status as u32,
            straddler_count: solved.straddlers.len() as u32,
            runtime_pages: solved.runtime_pages,
            private_bytes: solved.private_bytes,
            kept: solved.kept.kept,
            kept_bytes: solved.kept.kept_bytes,
            moved: solved.kept.moved,
            moved_bytes: solved.kept.moved_bytes,
        });
    }
}

/// # Safety
///
/// What the struct points at is as `dram_problem` says.
unsafe fn convert(given: &dram_problem) -> Result<RawProblem> {
    let count = given.count;
    let starts = if given.starts.is_null() {
        one_each(count)?
    } else {
        let entries = count.saturating_add(1);
        // SAFETY: this function's contract.
        unsafe { slice(given.starts, entries, "problem.starts")?.to_vec() }
    };
    if starts[0] != 0 || !starts.is_sorted() {
        return Err(Error::invalid("problem.starts", "does not ascend from 0"));
    }
    let intervals = starts[count] as usize;
    let columns = |len: usize, null: bool| if null { 0 } else { len };
    // SAFETY: this function's contract; a null column has no elements.
    let (intervals, sizes, alignments, pins, hints, labels, regions) = unsafe {
        (
            slice(given.intervals, intervals, "problem.intervals")?,
            slice(given.sizes, count, "problem.sizes")?,
            slice(
                given.alignments,
                columns(count, given.alignments.is_null()),
                "problem.alignments",
            )?,
            slice(
                given.pins,
                columns(count, given.pins.is_null()),
                "problem.pins",
            )?,
            slice(
                given.hints,
                columns(count, given.hints.is_null()),
                "problem.hints",
            )?,
            slice(
                given.labels,
                columns(count, given.labels.is_null()),
                "problem.labels",
            )?,
            slice(given.regions, given.region_count, "problem.regions")?,
        )
    };
    let region = |given: &dram_region| match options::region(given)? {
        region if region.space == Space::Local => Ok(region.region),
        _ => Err(Error::invalid(
            "problem.regions",
            "a raw problem has one space",
        )),
    };
    let known = |&offset: &u64| (offset != DRAM_NO_ADDRESS).then_some(offset);
    // SAFETY: this function's contract.
    let label = |text: &dram_str| unsafe { text.read("problem.labels").map(str::to_owned) };
    Ok(RawProblem {
        starts,
        segments: intervals.iter().map(|i| (i.lower, i.upper)).collect(),
        sizes: sizes.to_vec(),
        alignments: alignments.to_vec(),
        pins: pins.iter().map(known).collect(),
        hints: hints.iter().map(known).collect(),
        labels: labels.iter().map(label).collect::<Result<_>>()?,
        regions: regions.iter().map(region).collect::<Result<_>>()?,
    })
}
