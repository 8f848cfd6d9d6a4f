//! Memory locations: how a host describes them, and what it can ask. // T, L9, L10

use std::ffi::c_void;

use super::at;
use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::function::{address, dram_function};
use super::options::{code, nonzero};
use super::status::dram_status;
use super::structs::{self, Out, OutStruct, Versioned};
use super::text::{Writer, dram_str, dram_write_fn, slice};
use crate::error::{Error, Fault, Result};
use crate::ir::{Bank, Extent, MemLocId, MemLocSpec, MemoryType, Skipped, Space, Usage};

/// The address of what has none.
pub const DRAM_NO_ADDRESS: u64 = 0xffff_ffff_ffff_ffff;

/// The kind of memory a location lives in. Only device memory is placed.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_memory {
    /// Device memory.
    Dram = 0,
    /// The on-chip state buffer.
    Sbuf = 1,
    /// The on-chip accumulation buffer.
    Psum = 2,
    /// Registers.
    Reg = 3,
}

/// Which address space of device memory.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_space {
    /// Private to a core.
    Local = 0,
    /// One copy for all cores.
    Shared = 1,
    /// Debug output.
    Debug = 2,
}

/// What the bytes are for.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_usage {
    /// A temporary; given an address.
    Internal = 0,
    /// Staging for a collective operation; given an address, in the collective region if it fits.
    Collective = 1,
    /// Handed in by the caller.
    Input = 2,
    /// Handed back to the caller; live to every exit.
    Output = 3,
    /// Parameters of the model.
    Weight = 4,
    /// Constants of the program.
    Constant = 5,
}

/// Bits of `dram_memloc_desc.flags`: which of its fields say something.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_memloc_flag {
    /// `address` is the host's own address for it, a pin; it is never moved.
    Pinned = 1,
    /// It is a view: bytes of `alias_of`, from `offset` on. Memory, space, alignment, address and
    /// links are its root's.
    View = 2,
    /// Its bytes are needed after the function returns.
    Escapes = 4,
    /// It follows `remote_name` of core `remote_core`, in the function of the same name.
    Remote = 8,
    /// Its size is not known, which is an error that names it.
    UnknownSize = 16,
}

/// What a host says of a new memory location. All 0 but `struct_size` and the size is a private
/// temporary in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_memloc_desc {
    /// Set by the caller: `sizeof(dram_memloc_desc)`.
    pub struct_size: usize,
    /// Unique in its function; empty for none: it is then known by its number and `cookie` only.
    pub name: dram_str,
    /// Its bytes. A view of 0 bytes reaches to the end of what it names.
    pub bytes: u64,
    /// With `element_size` not 0: its bytes are the product, and `bytes` must be 0.
    pub element_count: u64,
    /// Bytes of one element; 0: `bytes` says the size.
    pub element_size: u32,
    /// A `dram_memory`.
    pub memory: u32,
    /// A `dram_space`.
    pub space: u32,
    /// A `dram_usage`.
    pub usage: u32,
    /// A power of two; 0: a page, packed 1.
    pub align: u64,
    /// With the flag `DRAM_MEMLOC_FLAG_PINNED`: its address in bytes. Else 0.
    pub address: u64,
    /// With the flag `DRAM_MEMLOC_FLAG_VIEW`: bytes from the start of `alias_of`. Else 0.
    pub offset: u64,
    /// With the flag `DRAM_MEMLOC_FLAG_VIEW`: a location of the function, or of the same bulk
    /// call. Else 0.
    pub alias_of: u32,
    /// Bits of `dram_memloc_flag`.
    pub flags: u32,
    /// Anything the host wants to find again; 0 for nothing.
    pub cookie: u64,
    /// With the flag `DRAM_MEMLOC_FLAG_REMOTE`: the name of the location it follows. Else empty.
    pub remote_name: dram_str,
    /// The cores that reach it, beside those that are linked; none: not said. A shared location
    /// that says so stays shared whoever uses it, and in unified geometry its bytes are free on
    /// all of these cores. Read during the call only.
    pub reach: *const u32,
    /// How many cores reach it.
    pub reach_count: usize,
    /// With the flag `DRAM_MEMLOC_FLAG_REMOTE`: that location's core. Else 0.
    pub remote_core: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The first partition that it takes; carried along, and given to its followers.
    pub partition: u32,
    /// The bank that it lies in; carried along, and given to its followers.
    pub bank: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_memloc_desc {
    const FIRST_SIZE: usize = 136;
}

/// Why a memory location has no address.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_skipped {
    /// It is not skipped: it has an address, or is a view, or no allocation has run.
    No = 0,
    /// It has no def and no use.
    Unreferenced = 1,
    /// It is the caller's and not pinned.
    CallerOwned = 2,
    /// It lives in another memory.
    NotDram = 3,
    /// The only user of its group is another core.
    FollowerUnused = 4,
}

/// What a memory location is, as declared and as placed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_memloc_info {
    /// Set by the caller: `sizeof(dram_memloc_info)`.
    pub struct_size: usize,
    /// Its size in bytes; a view's own.
    pub bytes: u64,
    /// Its declared alignment; 0 for none.
    pub align: u64,
    /// Its address in bytes, `DRAM_NO_ADDRESS` if it has none; a view's lies in its root.
    pub address: u64,
    /// The host's cookie; 0 for none.
    pub cookie: u64,
    /// A view's bytes from the start of its root; else 0.
    pub root_offset: u64,
    /// A view's root; any other location's own number.
    pub root: u32,
    /// A `dram_memory`.
    pub memory: u32,
    /// A `dram_space`: the declared one, after an allocation the final one.
    pub space: u32,
    /// A `dram_usage`.
    pub usage: u32,
    /// A `dram_skipped`.
    pub skipped: u32,
    /// Bits of `dram_memloc_flag`, as declared.
    pub flags: u32,
    /// 1 once the shared run or the copying of its addresses has placed it; else 0.
    pub is_shared_post_dram_alloc: u32,
    /// Always 0.
    pub reserved: u32,
    /// Its first partition: the declared one, of a follower its owner's after the copying.
    pub partition: u32,
    /// Its bank, likewise.
    pub bank: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_memloc_info {
    const FIRST_SIZE: usize = 80;
}

/// Adds one memory location.
///
/// `memloc_out`: receives its number. A size or address that overflows 64 bits and a view past the
/// end of what it names are `DRAM_STATUS_OUT_OF_RANGE`, a name that exists
/// `DRAM_STATUS_ALREADY_EXISTS`; nothing is added then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_add_memloc(
    function: *mut dram_function,
    memloc: *const dram_memloc_desc,
    memloc_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let memloc_out = unsafe { Out::new(memloc_out, 0, "memloc_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameter says.
        let desc = unsafe { structs::read(memloc, "memloc")? };
        // SAFETY: as above, for what the struct points at.
        let spec = unsafe { spec(&desc)? };
        memloc_out.set(function.change(|f| f.add_memloc(&spec))?.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Adds memory locations, all or none.
///
/// `memlocs`, `count`: an array whose elements all say the same `struct_size`, which is also their
/// distance. A view may name any location of the array, by the number that it will have.
/// `first_out`: receives the number of the first; the others follow. A refused array adds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_add_memlocs(
    function: *mut dram_function,
    memlocs: *const dram_memloc_desc,
    count: usize,
    first_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let first_out = unsafe { Out::new(first_out, 0, "first_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameters say.
        let descs = unsafe { structs::array(memlocs, count, "memlocs")? };
        let first = function.change(|f| {
            f.all_or_no_memlocs(count, |add| {
                // SAFETY: as above, for what the structs point at.
                descs.each(|desc| add(&unsafe { spec(desc)? }))
            })
        })?;
        first_out.set(first.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// # Safety
///
/// What the struct points at is readable during `'a`.
unsafe fn spec<'a>(desc: &dram_memloc_desc) -> Result<MemLocSpec<'a>> {
    const FLAGS: u32 = 31;
    let has = |flag: dram_memloc_flag| desc.flags & flag as u32 != 0;
    if desc.flags & !FLAGS != 0 || desc.reserved != 0 {
        return Err(Error::invalid(
            "memloc",
            "has unknown flags or reserved bits",
        ));
    }
    if desc.address != 0 && !has(dram_memloc_flag::Pinned) {
        return Err(without_flag("memloc.address"));
    }
    if (desc.alias_of != 0 || desc.offset != 0) && !has(dram_memloc_flag::View) {
        return Err(without_flag("memloc.alias_of"));
    }
    if (desc.remote_core != 0 || desc.remote_name.len != 0) && !has(dram_memloc_flag::Remote) {
        return Err(without_flag("memloc.remote_name"));
    }
    // SAFETY: this function's contract.
    let (name, reach, remote_name) = unsafe {
        (
            desc.name.read("memloc.name")?,
            slice(desc.reach, desc.reach_count, "memloc.reach")?,
            desc.remote_name.read("memloc.remote_name")?,
        )
    };
    let view = has(dram_memloc_flag::View).then_some((MemLocId(desc.alias_of), desc.offset));
    Ok(MemLocSpec {
        name,
        extent: extent(desc, view.is_some())?,
        memory: code("memloc.memory", desc.memory, MemoryType::from_code)?,
        space: code("memloc.space", desc.space, Space::from_code)?,
        usage: code("memloc.usage", desc.usage, Usage::from_code)?,
        align: nonzero(desc.align),
        address: has(dram_memloc_flag::Pinned).then_some(desc.address),
        view,
        escapes: has(dram_memloc_flag::Escapes),
        remote: has(dram_memloc_flag::Remote).then_some((desc.remote_core, remote_name)),
        reach,
        cookie: nonzero(desc.cookie),
        bank: Bank {
            partition: desc.partition,
            bank: desc.bank,
        },
    })
}

/// A value without its flag is a flag forgotten, not a value meant to be ignored.
#[cold]
fn without_flag(parameter: &'static str) -> Error {
    Error::invalid(parameter, "is given without its flag")
}

fn extent(desc: &dram_memloc_desc, view: bool) -> Result<Option<Extent>> {
    let dram_memloc_desc {
        bytes,
        element_count: count,
        element_size: size,
        ..
    } = *desc;
    if desc.flags & dram_memloc_flag::UnknownSize as u32 != 0 {
        return Ok(None);
    }
    match (size, count, bytes) {
        (0, 0, 0) if view => Ok(Some(Extent::Rest)),
        (0, 0, bytes) => Ok(Some(Extent::Bytes(bytes))),
        (0, ..) => Err(Error::invalid(
            "memloc.element_count",
            "has no element_size",
        )),
        (size, count, 0) => Ok(Some(Extent::Elements { count, size })),
        _ => Err(Error::invalid(
            "memloc.bytes",
            "is given beside element_size",
        )),
    }
}

/// The memory location with a name: its number. `DRAM_STATUS_NOT_FOUND` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_find_memloc(
    function: *const dram_function,
    name: dram_str,
    memloc_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let memloc_out = unsafe { Out::new(memloc_out, 0, "memloc_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        let found = function.read(|f| f.find_memloc(name)).ok_or_else(|| {
            let fault = Fault::UnknownName {
                what: "location",
                name: name.to_owned(),
            };
            Error::from(fault).in_function(&function.name)
        })?;
        memloc_out.set(found.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a memory location is. Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_memloc(
    function: *const dram_function,
    memloc: u32,
    info_out: *mut dram_memloc_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let function = call.get(function, "function")?;
        info_out.set(function.read(|f| {
            let loc = at(f.memlocs(), memloc.into(), "location")?;
            let (root, root_offset) = f.root(MemLocId(memloc));
            let placed = loc.placed();
            let flag = |set: bool, flag: dram_memloc_flag| if set { flag as u32 } else { 0 };
            Ok::<_, Error>(dram_memloc_info {
                struct_size: 0,
                bytes: loc.bytes,
                align: loc.align().unwrap_or(0),
                address: address(f, MemLocId(memloc)).unwrap_or(DRAM_NO_ADDRESS),
                cookie: loc.cookie().unwrap_or(0),
                root_offset,
                root: root.0,
                memory: loc.memory as u32,
                space: placed.map_or(loc.space, |placed| placed.space) as u32,
                usage: loc.usage as u32,
                skipped: skipped(placed.and_then(|placed| placed.skipped)) as u32,
                flags: flag(loc.pin().is_some(), dram_memloc_flag::Pinned)
                    | flag(loc.is_view(), dram_memloc_flag::View)
                    | flag(loc.escapes(), dram_memloc_flag::Escapes)
                    | flag(
                        f.remote(MemLocId(memloc)).is_some(),
                        dram_memloc_flag::Remote,
                    ),
                is_shared_post_dram_alloc: placed
                    .is_some_and(|placed| placed.is_shared_post_dram_alloc)
                    .into(),
                reserved: 0,
                partition: f.bank(MemLocId(memloc)).partition,
                bank: f.bank(MemLocId(memloc)).bank,
            })
        })?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The reason as the ABI numbers it.
pub(super) fn skipped(reason: Option<Skipped>) -> dram_skipped {
    match reason {
        None => dram_skipped::No,
        Some(Skipped::Unreferenced) => dram_skipped::Unreferenced,
        Some(Skipped::CallerOwned) => dram_skipped::CallerOwned,
        Some(Skipped::NotDram) => dram_skipped::NotDram,
        Some(Skipped::FollowerUnused) => dram_skipped::FollowerUnused,
    }
}

/// The name of a memory location, handed to `write` in one piece; nothing is written if it has
/// none. Past the last location `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_memloc_name(
    function: *const dram_function,
    memloc: u32,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        let name = function.read(|f| {
            let known = at(f.memlocs(), memloc.into(), "location");
            known.map(|_| f.memloc_name(MemLocId(memloc)).to_owned())
        })?;
        writer.text(&name)
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
