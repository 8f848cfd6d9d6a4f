//! The C ABI as a host sees it: through the table, with right and with wrong arguments.

mod building;
mod callbacks;
mod drawing;
mod many;
mod misuse;
mod misuse_many;
mod pipeline;
mod poison;
mod reports;
mod runs;

use std::ffi::CStr;
use std::ptr::null_mut;

use super::api::{dram_api, dram_get_api};
use super::context::dram_context;
use super::error::dram_error;
use super::function::dram_function;
use super::instruction::dram_instruction_desc;
use super::memloc::dram_memloc_desc;
use super::module::dram_module;
use super::program::dram_program;
use super::status::dram_status;
use super::text::dram_str;

/// The table, as a loader gets it.
pub(super) fn api() -> &'static dram_api {
    // SAFETY: null or a static.
    unsafe { dram_get_api(super::abi::DRAM_ABI_MAJOR).as_ref() }.expect("this major is served")
}

/// A struct of which the caller says only how large it is.
pub(super) fn sized<T: super::structs::Versioned>() -> T {
    // SAFETY: zeros are a valid value, and the first field is the size, by the trait's contract.
    unsafe {
        let mut value: T = std::mem::zeroed();
        (&raw mut value).cast::<usize>().write(size_of::<T>());
        value
    }
}

/// A program with one module and one function, freed at the end.
pub(super) struct Host {
    pub(super) context: *mut dram_context,
    pub(super) program: *mut dram_program,
    pub(super) module: *mut dram_module,
    pub(super) function: *mut dram_function,
}

impl Host {
    pub(super) fn new() -> Host {
        let api = api();
        let mut host = Host {
            context: null_mut(),
            program: null_mut(),
            module: null_mut(),
            function: null_mut(),
        };
        // SAFETY: outputs are locals, text is static.
        unsafe {
            ok(|e| (api.context_new)(&mut host.context, e));
            let name = dram_str::of("p");
            ok(|e| (api.program_new)(host.context, name, &mut host.program, e));
            let name = dram_str::of("m");
            ok(|e| (api.program_add_module)(host.program, name, 0, &mut host.module, e));
            let name = dram_str::of("main");
            ok(|e| (api.module_add_function)(host.module, name, &mut host.function, e));
        }
        host
    }

    /// Adds a location of so many bytes.
    pub(super) fn memloc(&self, name: &str, bytes: u64) -> u32 {
        let desc = dram_memloc_desc {
            name: dram_str::of(name),
            bytes,
            ..sized()
        };
        let mut id = 0;
        // SAFETY: the struct and the output are locals.
        ok(|e| unsafe { (api().function_add_memloc)(self.function, &desc, &mut id, e) });
        id
    }

    /// Adds an instruction on engine 0 that touches whole locations.
    pub(super) fn instruction(&self, uses: &[u32], defs: &[u32]) -> u32 {
        self.instruction_on(0, uses, defs)
    }

    /// Adds an instruction that touches whole locations.
    pub(super) fn instruction_on(&self, engine: u32, uses: &[u32], defs: &[u32]) -> u32 {
        let whole = |&memloc: &u32| super::instruction::dram_operand {
            memloc,
            reserved: 0,
            offset: 0,
            bytes: 0,
        };
        let uses: Vec<_> = uses.iter().map(whole).collect();
        let defs: Vec<_> = defs.iter().map(whole).collect();
        let desc = dram_instruction_desc {
            op: dram_str::of("op"),
            engine,
            uses: uses.as_ptr(),
            use_count: uses.len(),
            defs: defs.as_ptr(),
            def_count: defs.len(),
            ..sized()
        };
        let mut index = 0;
        // SAFETY: the struct, its lists and the output are locals.
        ok(|e| unsafe { (api().function_add_instruction)(self.function, &desc, &mut index, e) });
        index
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: any handle may be given.
        unsafe { (api().context_free)(self.context) };
    }
}

/// Makes a call that must succeed.
pub(super) fn ok(call: impl FnOnce(*mut *mut dram_error) -> dram_status) {
    let mut error = null_mut();
    let status = call(&mut error);
    assert_eq!(status, dram_status::Ok, "{}", message(error));
    assert!(error.is_null(), "no error object with success");
}

/// Makes a call that must fail and returns what it says.
pub(super) fn fails(
    want: dram_status,
    call: impl FnOnce(*mut *mut dram_error) -> dram_status,
) -> String {
    let mut error = null_mut();
    let status = call(&mut error);
    let said = message(error);
    assert_eq!(status, want, "{said}");
    // SAFETY: any handle may be given.
    unsafe {
        assert_eq!((api().error_code)(error), want);
        assert_eq!((api().error_free)(error), dram_status::Ok);
    }
    said
}

fn message(error: *const dram_error) -> String {
    // SAFETY: never null, NUL-terminated, and read before the error is freed.
    let text = unsafe { CStr::from_ptr((api().error_message)(error)) };
    text.to_str().expect("messages are UTF-8").to_owned()
}
