//! `dram_error`: what went wrong, where, and for a plan without room what was in the way. // C4, P9

use std::ffi::{CStr, c_char};

use std::sync::atomic::AtomicBool;

use super::boundary::{Call, boundary};
use super::handle::{Handle, Object, Registry};
use super::memloc::DRAM_NO_ADDRESS;
use super::status::dram_status;
use super::structs::{OutStruct, Versioned};
use super::text::dram_str;
use crate::error::{Error, Fault, Place};
use crate::place::NoRoom;

/// An error, owned by whoever received it: free it with `dram_error_free`.
///
/// Threads: immutable; any number of threads may read one, nobody may be reading it while it is
/// freed.
pub struct dram_error {
    _opaque: (),
}

static ERRORS: Registry<dram_error> = Registry::new();

impl Handle for dram_error {
    type Object = Failure;
    const NAME: &'static str = "dram_error";
    const TAG: u8 = 0x81;
    fn registry() -> &'static Registry<dram_error> {
        &ERRORS
    }
}

/// What a `dram_error` handle stands for.
pub(super) struct Failure {
    status: dram_status,
    message: Box<[u8]>, // Ends with a NUL that `dram_str` does not count.
    place: Place,
    no_room: Option<Box<NoRoom>>,
}

impl Object for Failure {
    fn poison(&self) -> Option<&AtomicBool> {
        None
    }
}

impl Failure {
    pub(super) fn of(error: Error) -> Failure {
        Failure {
            status: dram_status::from(&error),
            message: terminated(error.to_string()),
            place: *error.place,
            no_room: match error.fault {
                Fault::NoRoom(no_room) => Some(no_room),
                _ => None,
            },
        }
    }

    pub(super) fn internal(message: String) -> Failure {
        Failure {
            status: dram_status::Internal,
            message: terminated(message),
            place: Place::default(),
            no_room: None,
        }
    }

    fn no_room(&self) -> Result<&NoRoom, Error> {
        self.no_room
            .as_deref()
            .ok_or_else(|| Fault::FailedPrecondition("the error is not about room".into()).into())
    }
}

/// A NUL within would cut a C caller's view of it short, so it becomes a visible stand-in.
fn terminated(text: String) -> Box<[u8]> {
    let mut bytes = text.replace('\0', "\u{2400}").into_bytes();
    bytes.push(0);
    bytes.into()
}

/// `dram_error_info` fields `core` and `instruction`: not known.
pub const DRAM_UNKNOWN: u32 = 0xffff_ffff;

/// What an error says. Text is borrowed until the error is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_error_info {
    /// Set by the caller: `sizeof(dram_error_info)`.
    pub struct_size: usize,
    /// The sentence, with its numbers.
    pub message: dram_str,
    /// The function's name; empty if not known.
    pub function: dram_str,
    /// The memory location's name, `#id` for one without; empty if not known.
    pub location: dram_str,
    /// The status that the failed call returned.
    pub status: i32,
    /// The core; `DRAM_UNKNOWN` if not known.
    pub core: u32,
    /// The instruction's flat index; `DRAM_UNKNOWN` if not known.
    pub instruction: u32,
    /// 1 if `dram_error_no_room` has something to say, else 0.
    pub has_no_room: u32,
    /// The pass of the pipeline that failed; empty if it was no pass.
    pub pass: dram_str,
    /// Where two locations do not agree, the other side: its function; else empty.
    pub other_function: dram_str,
    /// The other side's memory location, as `location`; else empty.
    pub other_location: dram_str,
    /// The other side's core; `DRAM_UNKNOWN` if there is none.
    pub other_core: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_error_info {
    const FIRST_SIZE: usize = 72;
}

/// Why a location found no room. Text is borrowed until the error is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_no_room {
    /// Set by the caller: `sizeof(dram_no_room)`.
    pub struct_size: usize,
    /// The location's name.
    pub location: dram_str,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The bytes that the space may use, floor included.
    pub capacity: u64,
    /// The lower bound of the space, in bytes.
    pub bound: u64,
    /// The largest run of bytes free over the location's whole life.
    pub largest_hole: u64,
    /// How many bytes that hole is too small.
    pub deficit: u64,
    /// The bytes of the holders that are not listed.
    pub other_bytes: u64,
    /// How many holders are not listed.
    pub others: u64,
    /// The flat index of the instruction in question; in a raw problem, the time.
    pub instruction: i64,
    /// How many holders `dram_error_holder` lists, largest first.
    pub holder_count: u32,
    /// The location's number: its id in its function, or its row in a raw problem.
    pub id: u32,
    /// 1 if it is proved that no placement exists at all; else 0, and that is not known.
    pub proved: u32,
    /// How many locations `dram_error_conflict` lists: those that cannot all be placed, whatever
    /// else is. 0 unless it is proved.
    pub conflict_count: u32,
    /// The flat index at which the most of their bytes are live; in a raw problem, the time.
    pub conflict_instruction: i64,
    /// At least so many bytes are missing for them.
    pub conflict_deficit: u64,
    /// 1 if without any one of them the others can be placed; else 0, and that is not known.
    pub conflict_minimal: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_no_room {
    const FIRST_SIZE: usize = 104;
}

/// Something that held bytes at the instruction where room was short.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_holder {
    /// Set by the caller: `sizeof(dram_holder)`.
    pub struct_size: usize,
    /// Its name, borrowed until the error is freed.
    pub location: dram_str,
    /// Its first byte.
    pub start: u64,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The first flat index, or time, of the run of its life that contains the instruction.
    pub first: i64,
    /// The last flat index, or time, of that run; closed.
    pub last: i64,
    /// Its id in its function, or its row in a raw problem.
    pub id: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_holder {
    const FIRST_SIZE: usize = 64;
}

/// The status of the call that made the error; `DRAM_STATUS_INVALID_ARGUMENT` for a handle that is
/// null or stale.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_code(error: *const dram_error) -> dram_status {
    let mut code = dram_status::InvalidArgument;
    let body = |call: &mut Call| {
        code = call.get(error, "error")?.status;
        Ok(())
    };
    // SAFETY: null is allowed.
    let status = unsafe { boundary(std::ptr::null_mut(), body) };
    if status == dram_status::Ok {
        code
    } else {
        status
    }
}

/// The error's sentence, NUL-terminated, borrowed until the error is freed; never null. A handle
/// that is null or stale has a sentence too, which says that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_message(error: *const dram_error) -> *const c_char {
    const NO_ERROR: &CStr = c"(not a dram_error handle)";
    let mut message = NO_ERROR.as_ptr();
    let body = |call: &mut Call| {
        message = call.get(error, "error")?.message.as_ptr().cast();
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) };
    message
}

/// Everything that an error says, in one struct.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_get(
    error: *const dram_error,
    info_out: *mut dram_error_info,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let failure = call.get(error, "error")?;
        let Place {
            core,
            function,
            location,
            instruction,
            pass,
            other,
        } = &failure.place;
        let other = other.as_deref();
        let text = |text: &Option<String>| text.as_deref().map_or(dram_str::EMPTY, dram_str::of);
        info_out.set(dram_error_info {
            struct_size: 0,
            message: dram_str {
                data: failure.message.as_ptr().cast(),
                len: failure.message.len() - 1,
            },
            function: text(function),
            location: text(location),
            status: failure.status as i32,
            core: core.unwrap_or(DRAM_UNKNOWN),
            instruction: instruction.unwrap_or(DRAM_UNKNOWN),
            has_no_room: failure.no_room.is_some().into(),
            pass: pass.map_or(dram_str::EMPTY, |pass| dram_str::of(pass.name())),
            other_function: other.map_or(dram_str::EMPTY, |other| text(&other.function)),
            other_location: other.map_or(dram_str::EMPTY, |other| text(&other.location)),
            other_core: other.and_then(|other| other.core).unwrap_or(DRAM_UNKNOWN),
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) }
}

/// What was in the way, for an error whose status is `DRAM_STATUS_RESOURCE_EXHAUSTED` (and whose
/// `has_no_room` is 1); else `DRAM_STATUS_FAILED_PRECONDITION`.
///
/// `no_room_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_no_room(
    error: *const dram_error,
    no_room_out: *mut dram_no_room,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let no_room_out = unsafe { OutStruct::new(no_room_out, "no_room_out")? };
        let failure = call.get(error, "error")?;
        let no_room = failure.no_room()?;
        let proof = no_room.infeasible.as_ref();
        no_room_out.set(dram_no_room {
            struct_size: 0,
            location: dram_str::of(&no_room.location),
            bytes: no_room.bytes,
            capacity: no_room.capacity,
            bound: no_room.bound,
            largest_hole: no_room.largest_hole,
            deficit: no_room.deficit,
            other_bytes: no_room.other_bytes,
            others: no_room.others,
            holder_count: no_room.holders.len() as u32, // At most NAMED_HOLDERS.
            id: no_room.id,
            instruction: no_room.index,
            proved: proof.is_some().into(),
            conflict_count: proof.map_or(0, |proof| proof.set.len() as u32),
            conflict_instruction: proof.map_or(0, |proof| proof.index),
            conflict_deficit: proof.map_or(0, |proof| proof.deficit),
            conflict_minimal: proof.is_some_and(|proof| proof.minimal).into(),
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) }
}

/// Holder number `position` of a failure, largest first; past the last one
/// `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `holder_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_holder(
    error: *const dram_error,
    position: u32,
    holder_out: *mut dram_holder,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let holder_out = unsafe { OutStruct::new(holder_out, "holder_out")? };
        let failure = call.get(error, "error")?;
        let holders = &failure.no_room()?.holders;
        let holder = super::at(holders, position.into(), "holder")?;
        holder_out.set(dram_holder {
            struct_size: 0,
            location: dram_str::of(&holder.location),
            start: holder.start,
            bytes: holder.bytes,
            first: holder.life.0,
            last: holder.life.1,
            id: holder.id,
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) }
}

/// Location number `position` of those that cannot all be placed, largest first; past the last one,
/// or if nothing is proved, `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `holder_out`: set its `struct_size`, the call fills the rest; its `start` is `DRAM_NO_ADDRESS`.
/// All 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_conflict(
    error: *const dram_error,
    position: u32,
    holder_out: *mut dram_holder,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let holder_out = unsafe { OutStruct::new(holder_out, "holder_out")? };
        let failure = call.get(error, "error")?;
        let proof = failure.no_room()?.infeasible.as_ref();
        let set = proof.map_or(&[][..], |proof| &proof.set);
        let member = super::at(set, position.into(), "location")?;
        holder_out.set(dram_holder {
            struct_size: 0,
            location: dram_str::of(&member.location),
            start: DRAM_NO_ADDRESS,
            bytes: member.bytes,
            first: member.life.0,
            last: member.life.1,
            id: member.id,
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) }
}

/// Frees an error; null is fine. The text borrowed from it goes with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_error_free(error: *mut dram_error) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), |_| super::free(error, "error")) }
}
