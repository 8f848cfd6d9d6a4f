//! `dram_report`: what verification found. // V

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::at;
use super::boundary::{Call, boundary};
use super::error::{DRAM_UNKNOWN, dram_error};
use super::handle::{Handle, Object, Registry};
use super::options::dram_control;
use super::status::dram_status;
use super::structs::{Out, OutStruct, Versioned};
use super::text::dram_str;
use crate::verify::Violation;

/// What verification found, owned by whoever received it: free it with `dram_report_free`.
///
/// Threads: immutable; any number of threads may read one, nobody may be reading it while it is
/// freed.
pub struct dram_report {
    _opaque: (),
}

static REPORTS: Registry<dram_report> = Registry::new();

impl Handle for dram_report {
    type Object = ReportObject;
    const NAME: &'static str = "dram_report";
    const TAG: u8 = 0x88;
    fn registry() -> &'static Registry<dram_report> {
        &REPORTS
    }
}

/// What a `dram_report` handle stands for.
pub(super) struct ReportObject {
    violations: Vec<Violation>,
    notes: Vec<String>,
}

impl Object for ReportObject {
    fn poison(&self) -> Option<&AtomicBool> {
        None
    }
}

/// Registers a report.
pub(super) fn hand_out(violations: Vec<Violation>, notes: Vec<String>) -> *mut dram_report {
    REPORTS.insert(Arc::new(ReportObject { violations, notes }))
}

/// What to verify. Zero is geometry alone, which costs about as much as reading the plan.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_verify_options {
    /// `sizeof(dram_verify_options)`.
    pub struct_size: usize,
    /// 1: also run the program by location and by address, compare every value, and ask what orders
    /// every two accesses to common bytes. The plan's dependences count, if it carries any.
    pub deep: u32,
    /// Zero.
    pub reserved: u32,
    /// Null, or a host that may cancel: once the flag is set, the call returns
    /// `DRAM_STATUS_CANCELLED` within 10 ms, without a report. `shared` says what else is shared, as
    /// when the plan was made; the rest counts for nothing here.
    pub control: *const dram_control,
}

// SAFETY: integers and a pointer, without padding (asserted in `layout`).
unsafe impl Versioned for dram_verify_options {
    const FIRST_SIZE: usize = 16;
}

/// Something wrong with a plan. Text is borrowed until the report is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_violation {
    /// Set by the caller: `sizeof(dram_violation)`.
    pub struct_size: usize,
    /// The kind, a word that stays: `overlap`, `moved_pin`, `misaligned`, ...
    pub kind: dram_str,
    /// The sentence.
    pub message: dram_str,
    /// The function's name; empty if it concerns none.
    pub function: dram_str,
    /// The core; `DRAM_UNKNOWN` if it concerns none.
    pub core: u32,
    /// How many names `dram_report_location` lists.
    pub location_count: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_violation {
    const FIRST_SIZE: usize = 64;
}

/// How many violations there are; 0 for a plan that is proven right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_report_count(
    report: *const dram_report,
    count_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        count_out.set(call.get(report, "report")?.violations.len() as u32);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Violation number `position`. Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `violation_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_report_violation(
    report: *const dram_report,
    position: u32,
    violation_out: *mut dram_violation,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let violation_out = unsafe { OutStruct::new(violation_out, "violation_out")? };
        let report = call.get(report, "report")?;
        let violation = at(&report.violations, position.into(), "violation")?;
        let function = violation.function.as_deref();
        violation_out.set(dram_violation {
            struct_size: 0,
            kind: dram_str::of(violation.kind),
            message: dram_str::of(&violation.message),
            function: function.map_or(dram_str::EMPTY, dram_str::of),
            core: violation.core.unwrap_or(DRAM_UNKNOWN),
            location_count: violation.locations.len() as u32,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The name of a location that a violation involves, borrowed until the report is freed. Past the
/// last violation or location `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_report_location(
    report: *const dram_report,
    violation: u32,
    position: u32,
    name_out: *mut dram_str,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let name_out = unsafe { Out::new(name_out, dram_str::EMPTY, "name_out")? };
        let report = call.get(report, "report")?;
        let violation = at(&report.violations, violation.into(), "violation")?;
        let name = at(&violation.locations, position.into(), "location")?;
        name_out.set(dram_str::of(name));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Note number `position` of a report: races of the program itself, and what verification could not
/// cover. Borrowed until the report is freed. Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_report_note(
    report: *const dram_report,
    position: u32,
    note_out: *mut dram_str,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let note_out = unsafe { Out::new(note_out, dram_str::EMPTY, "note_out")? };
        let report = call.get(report, "report")?;
        note_out.set(dram_str::of(at(&report.notes, position.into(), "note")?));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees a report; null is fine. The text borrowed from it goes with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_report_free(report: *mut dram_report) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), |_| super::free(report, "report")) }
}
