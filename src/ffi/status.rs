//! Which status each error becomes. // C4

use crate::error::{Error, Fault};

/// What a call says of its outcome. The numbers never change.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum dram_status {
    /// It was done.
    Ok = 0,
    /// The host cancelled before there was any result, or its write callback asked to stop.
    Cancelled = 1,
    /// An argument is outside its documented domain, or a handle is null, stale or no handle.
    InvalidArgument = 3,
    /// The budget ran out before there was any result.
    DeadlineExceeded = 4,
    /// Nothing has this name or number.
    NotFound = 5,
    /// Something has this name already.
    AlreadyExists = 6,
    /// No address exists within the capacity; `dram_error_no_room` says more.
    ResourceExhausted = 8,
    /// The order of calls is wrong, or the handle was poisoned by an internal error.
    FailedPrecondition = 9,
    /// A position, byte range or sum is out of range.
    OutOfRange = 11,
    /// Not in this version.
    Unimplemented = 12,
    /// A mistake of the library. A panic poisons the handles involved: from then on they give
    /// `DRAM_STATUS_FAILED_PRECONDITION` and can only be freed. A result that the library's own
    /// verifier refuses changes nothing, and poisons nothing.
    Internal = 13,
}

impl From<&Error> for dram_status {
    fn from(error: &Error) -> dram_status {
        // No wildcard arm: a new fault must choose its status here.
        match &error.fault {
            Fault::InvalidArgument { .. }
            | Fault::UnknownSize
            | Fault::PinsOverlap { .. }
            | Fault::Inverted { .. }
            | Fault::UninitializedUse
            | Fault::Document(_) => dram_status::InvalidArgument,
            Fault::UnknownName { .. } => dram_status::NotFound,
            Fault::DuplicateCore { .. } | Fault::DuplicateName { .. } => dram_status::AlreadyExists,
            Fault::UnknownIndex { .. } | Fault::Overflow { .. } | Fault::PastTheEnd { .. } => {
                dram_status::OutOfRange
            }
            Fault::NoRoom(_) | Fault::OverBudget(_) => dram_status::ResourceExhausted,
            Fault::Violation(_) => dram_status::Internal,
            Fault::Unimplemented(_) => dram_status::Unimplemented,
            Fault::FailedPrecondition(_) => dram_status::FailedPrecondition,
            Fault::Cancelled => dram_status::Cancelled,
            Fault::DeadlineExceeded => dram_status::DeadlineExceeded,
        }
    }
}
