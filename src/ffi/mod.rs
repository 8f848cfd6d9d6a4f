//! The C ABI: every `unsafe` of the crate, every C name, nothing else. // C
//!
//! From a C call to the algorithm is two steps: an exported function checks and converts its
//! arguments, a core function does the work. Each exported function is written out in full,
//! because the header generator reads source text, and passes through one [`boundary::boundary`],
//! which turns errors into statuses and panics into `INTERNAL`.
//!
//! # Safety of every exported function
//!
//! Handles need no trust: their value is a checked token ([`handle`]), never an address. What a
//! caller does promise is in the header's first comment: a pointer that is not a handle is null or
//! valid for what its parameter says, for the length that its parameter says, and nobody writes to
//! it meanwhile; callbacks return normally. Each `unsafe` block relies on that and on no more.
//!
//! # Invariants
//!
//! * **outputs first**: out-parameters receive their failure value before anything can fail; // C4
//! * **no locks in callbacks**: a host's callback runs while no lock of this library is held, so
//!   it may call anything;
//! * **snapshots**: what runs long works on a snapshot of the program; changes made meanwhile do
//!   not reach it.

#![allow(
    unsafe_code,
    reason = "pointers from C are checked and converted here and nowhere else"
)]
#![allow(
    non_camel_case_types,
    reason = "a type's Rust name is its C name, which the header generator copies"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "one contract for all exported functions: above, and in the header's first comment"
)]

use crate::error::{Error, Fault, Result};
use handle::Handle;

// What every call needs.
mod abi;
mod boundary;
mod handle;
mod layout;
mod status;
mod structs;
mod text;

// One file per noun; blank lines, because this order is also the header's.
mod error;

mod context;

mod cancel;

mod options;

mod program;

mod module;

mod function;

mod memloc;

mod instruction;

mod plan;

mod draw;

mod report;

mod pressure;

mod modules;

mod pipeline;

mod problem;

mod interval_tree;

mod explain;

mod api;

/// Element `position` of a list, or the error that says how many there are.
fn at<'a, T>(list: &'a [T], position: u64, what: &'static str) -> Result<&'a T> {
    let element = usize::try_from(position).ok().and_then(|i| list.get(i));
    element.ok_or_else(|| {
        let fault = Fault::UnknownIndex {
            what,
            index: position,
            count: list.len() as u64,
        };
        Error::from(fault)
    })
}

/// Ends a handle that has no children; null is fine.
fn free<H: Handle>(handle: *const H, parameter: &'static str) -> Result<()> {
    if handle.is_null() {
        return Ok(());
    }
    H::registry().remove(handle, parameter).map(drop)
}
#[cfg(test)]
mod tests;

/// The status that a fault becomes, for tests of what is written about it.
#[cfg(test)]
pub(crate) fn status_number(error: &Error) -> i32 {
    status::dram_status::from(error) as i32
}
