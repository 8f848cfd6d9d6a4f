//! `dram_function`: blocks, and what concerns a function as a whole.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::at;
use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::handle::{Handle, Object, Registry};
use super::memloc::DRAM_NO_ADDRESS;
use super::module::ModuleObject;
use super::status::dram_status;
use super::structs::{Out, OutStruct, Versioned};
use super::text::{dram_str, slice, slice_mut};
use crate::error::{Error, Fault, Result};
use crate::ir::{self, BlockId, MemLocId};

/// One function of a module: memory locations, blocks, instructions, each known by a number that
/// counts from 0 in the order in which they were added. Lives and dies with its program.
///
/// Threads: as its program.
pub struct dram_function {
    _opaque: (),
}

static FUNCTIONS: Registry<dram_function> = Registry::new();

impl Handle for dram_function {
    type Object = FunctionObject;
    const NAME: &'static str = "dram_function";
    const TAG: u8 = 0x86;
    fn registry() -> &'static Registry<dram_function> {
        &FUNCTIONS
    }
}

/// What a `dram_function` handle stands for.
pub(super) struct FunctionObject {
    pub(super) module: Arc<ModuleObject>,
    pub(super) position: usize,
    pub(super) name: Box<str>,
}

impl Object for FunctionObject {
    fn poison(&self) -> Option<&AtomicBool> {
        Some(&self.module.program.poison)
    }
}

impl FunctionObject {
    /// Looks at the function as it is.
    pub(super) fn read<T>(&self, body: impl FnOnce(&ir::Function) -> T) -> T {
        let module = self.module.position;
        let program = &self.module.program;
        program.read(|program| body(&program.modules()[module].functions()[self.position]))
    }

    /// Changes the function in place; an error gains the core.
    pub(super) fn change<T>(&self, body: impl FnOnce(&mut ir::Function) -> Result<T>) -> Result<T> {
        let ModuleObject {
            program, position, ..
        } = &*self.module;
        program.change(*position, |module| {
            let core = module.core();
            body(module.function_mut(self.position)).map_err(|e| e.on_core(core))
        })
    }
}

/// What a function is. Text is borrowed until its program is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_function_info {
    /// Set by the caller: `sizeof(dram_function_info)`.
    pub struct_size: usize,
    /// Its name.
    pub name: dram_str,
    /// How many memory locations it has.
    pub memloc_count: u32,
    /// How many blocks.
    pub block_count: u32,
    /// How many instructions.
    pub instruction_count: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_function_info {
    const FIRST_SIZE: usize = 40;
}

/// What a function is.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_get(
    function: *const dram_function,
    info_out: *mut dram_function_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let function = call.get(function, "function")?;
        let name = dram_str::of(&function.name);
        info_out.set(function.read(|f| dram_function_info {
            struct_size: 0,
            name,
            memloc_count: f.memlocs().len() as u32,
            block_count: f.blocks().len() as u32,
            instruction_count: f.instructions().len() as u32,
            reserved: 0,
        }));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Makes room for this many more memory locations and instructions; never needed, saves time.
/// More than 2^32 of either is `DRAM_STATUS_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_reserve(
    function: *mut dram_function,
    memlocs: usize,
    instructions: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let function = call.get(function, "function")?;
        if memlocs.max(instructions) > u32::MAX as usize {
            return Err(Error::invalid(
                "reserve",
                "a function holds fewer than 2^32",
            ));
        }
        function.change(|f| {
            f.reserve(memlocs, instructions);
            Ok(())
        })
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Opens the next block in layout order; instructions added later go there.
///
/// The first call names the entry, unless instructions have come before it. `name`: any text,
/// copied. `block_out`: receives the block's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_add_block(
    function: *mut dram_function,
    name: dram_str,
    block_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let block_out = unsafe { Out::new(block_out, 0, "block_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        block_out.set(function.change(|f| Ok(f.add_block(name)))?.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Says where control may go after a block; replaces what was said before.
///
/// `successors`, `count`: numbers of blocks that exist; none for a block that returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_set_successors(
    function: *mut dram_function,
    block: u32,
    successors: *const u32,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameters say.
        let successors = unsafe { slice(successors, count, "successors")? };
        let successors: Vec<BlockId> = successors.iter().map(|&id| BlockId(id)).collect();
        function.change(|f| f.set_successors(BlockId(block), &successors))
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The address of one memory location, in bytes: the host's pin, or what the last allocation gave
/// it; a view's lies in its root. Without one `DRAM_STATUS_FAILED_PRECONDITION`, and
/// `DRAM_NO_ADDRESS` is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_address(
    function: *const dram_function,
    memloc: u32,
    address_out: *mut u64,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let address_out = unsafe { Out::new(address_out, DRAM_NO_ADDRESS, "address_out")? };
        let function = call.get(function, "function")?;
        let address = function.read(|f| {
            at(f.memlocs(), memloc.into(), "location")?;
            address(f, MemLocId(memloc)).ok_or_else(|| {
                let fault = Fault::FailedPrecondition("it has no address".into());
                let label = f.label(MemLocId(memloc));
                Error::from(fault).in_function(f.name()).at_location(&label)
            })
        })?;
        address_out.set(address);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The address of every memory location, in bytes, in one call; `DRAM_NO_ADDRESS` where there is
/// none.
///
/// `addresses`, `count`: the array to fill, one element per location: `count` must be how many
/// locations there are, else `DRAM_STATUS_INVALID_ARGUMENT`. On failure every element is
/// `DRAM_NO_ADDRESS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_addresses(
    function: *const dram_function,
    addresses: *mut u64,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let addresses = unsafe { slice_mut(addresses, count, "addresses")? };
        addresses.fill(DRAM_NO_ADDRESS);
        let function = call.get(function, "function")?;
        function.read(|f| {
            check_count(count, f.memlocs().len())?;
            for (out, id) in addresses.iter_mut().zip(f.memloc_ids()) {
                *out = address(f, id).unwrap_or(DRAM_NO_ADDRESS);
            }
            Ok(())
        })
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The host's cookie of every memory location, in one call; 0 where there is none.
///
/// `cookies`, `count`: as for `dram_function_addresses`; on failure every element is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_cookies(
    function: *const dram_function,
    cookies: *mut u64,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let cookies = unsafe { slice_mut(cookies, count, "cookies")? };
        cookies.fill(0);
        let function = call.get(function, "function")?;
        function.read(|f| {
            check_count(count, f.memlocs().len())?;
            for (out, loc) in cookies.iter_mut().zip(f.memlocs()) {
                *out = loc.cookie().unwrap_or(0);
            }
            Ok(())
        })
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The copies that a pipeline has marked as moving bytes onto themselves: flat indices, ascending.
/// The host may leave them out.
///
/// `indices`, `capacity`: the array to fill, as far as it goes. `count_out`: receives how many
/// there are, which may be more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_elided(
    function: *const dram_function,
    indices: *mut u32,
    capacity: usize,
    count_out: *mut usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        // SAFETY: as this function's parameters say.
        let indices = unsafe { slice_mut(indices, capacity, "indices")? };
        let function = call.get(function, "function")?;
        count_out.set(function.read(|f| {
            for (out, index) in indices.iter_mut().zip(f.elided()) {
                *out = index.0;
            }
            f.elided().len()
        }));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Where a location's first byte lies.
pub(super) fn address(function: &ir::Function, id: MemLocId) -> Option<u64> {
    let (root, offset) = function.root(id);
    let start = function.memloc(root).address();
    start.map(|start| start + offset) // Inside the root.
}

/// An output array has one element for each of what it is filled with.
pub(super) fn check_count(count: usize, wanted: usize) -> Result<()> {
    if count == wanted {
        return Ok(());
    }
    let reason = format!("is {count}, but there are {wanted}");
    Err(Error::invalid("count", reason))
}
