//! Why a plan is as high as it is, and what is different between two: text, or JSON.

use std::ffi::c_void;

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::plan::dram_plan;
use super::program::dram_program;
use super::status::dram_status;
use super::structs::{self, Versioned};
use super::text::{Writer, dram_write_fn};
use crate::error::{Error, Result};
use crate::format;
use crate::report::diff::{diff, difference_text};
use crate::report::explain::{TOLD, explain, explanation_text};

/// How a report is written.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum dram_report_format {
    /// Text for people.
    Text = 0,
    /// A JSON document for machines.
    Json = 1,
}

/// How a plan is explained. Zero is text with 10 entries in each list, the highest space in full.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_explain_options {
    /// `sizeof(dram_explain_options)`.
    pub struct_size: usize,
    /// One of `dram_report_format`.
    pub format: u32,
    /// The entries of each list; what is left out is told as a total. 0: 10.
    pub top: u32,
    /// The spaces that text tells in full, the highest first. 0: one.
    pub spaces: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_explain_options {
    const FIRST_SIZE: usize = 24;
}

/// How two plans are compared. Zero is text with 10 entries in each list, the causes of the space
/// whose peak changed most.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_diff_options {
    /// `sizeof(dram_diff_options)`.
    pub struct_size: usize,
    /// One of `dram_report_format`.
    pub format: u32,
    /// The entries of each list; what is left out is told as a total. 0: 10.
    pub top: u32,
    /// The spaces whose causes text tells. 0: one.
    pub spaces: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_diff_options {
    const FIRST_SIZE: usize = 24;
}

/// How a report is told.
struct Told {
    json: bool,
    top: usize,
    spaces: usize,
}

impl Told {
    fn of(format: u32, top: u32, spaces: u32, reserved: u32) -> Result<Told> {
        if reserved != 0 {
            return Err(Error::invalid("options.reserved", "is not 0"));
        }
        let given = |number: u32, default: usize| match number {
            0 => default,
            number => number as usize,
        };
        let json = match format {
            f if f == dram_report_format::Text as u32 => false,
            f if f == dram_report_format::Json as u32 => true,
            f => {
                return Err(Error::invalid(
                    "options.format",
                    format!("{f} is no format"),
                ));
            }
        };
        Ok(Told {
            json,
            top: given(top, TOLD),
            spaces: given(spaces, 1),
        })
    }

    fn explanation(options: Option<dram_explain_options>) -> Result<Told> {
        options.map_or_else(
            || Told::of(0, 0, 0, 0),
            |o| Told::of(o.format, o.top, o.spaces, o.reserved),
        )
    }

    fn difference(options: Option<dram_diff_options>) -> Result<Told> {
        options.map_or_else(
            || Told::of(0, 0, 0, 0),
            |o| Told::of(o.format, o.top, o.spaces, o.reserved),
        )
    }
}

/// Explains a plan: the peak of each space and what lies under it, the lower bound, what lies
/// between the two, what would lower it, who follows whom in the same bytes, what pages of the
/// runtime cost. `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not of the program as it is, or
/// ends below what is live at one instruction; other than that it is not verified.
///
/// `options`: may be null. `write`: called with pieces of UTF-8 text until it returns something
/// other than 0, which makes the status `DRAM_STATUS_CANCELLED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_explain(
    program: *const dram_program,
    plan: *const dram_plan,
    options: *const dram_explain_options,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let given = match options.is_null() {
            true => None,
            // SAFETY: as this function's parameter says.
            false => Some(unsafe { structs::read(options, "options")? }),
        };
        let told = Told::explanation(given)?;
        let program = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        let explanation = explain(&program, &plan.plan, told.top)?;
        match told.json {
            true => writer.document(|sink| format::write_explanation(&explanation, sink)),
            false => writer.text(&explanation_text(&explanation, told.spaces)),
        }
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Compares two plans, of one program or of two: what moved, grew, shrank, is new or gone, lives
/// at other instructions or in another space, and who is responsible for the change of each peak.
/// Locations are the same if core, function and name are. Statuses as for `dram_plan_explain`.
///
/// `options`: may be null. `write`: called with pieces of UTF-8 text until it returns something
/// other than 0, which makes the status `DRAM_STATUS_CANCELLED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_diff(
    program_a: *const dram_program,
    plan_a: *const dram_plan,
    program_b: *const dram_program,
    plan_b: *const dram_plan,
    options: *const dram_diff_options,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let given = match options.is_null() {
            true => None,
            // SAFETY: as this function's parameter says.
            false => Some(unsafe { structs::read(options, "options")? }),
        };
        let told = Told::difference(given)?;
        let first = call.get(program_a, "program_a")?.snapshot();
        let second = call.get(program_b, "program_b")?.snapshot();
        let before = call.get(plan_a, "plan_a")?;
        let after = call.get(plan_b, "plan_b")?;
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        let difference = diff((&first, &before.plan), (&second, &after.plan), told.top)?;
        match told.json {
            true => writer.document(|sink| format::write_difference(&difference, sink)),
            false => writer.text(&difference_text(&difference, told.spaces)),
        }
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
