//! `dram_module`: one core's copy of the program, and the allocation of its addresses. // X5

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use super::at;
use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::function::dram_function;
use super::handle::{Handle, Object, Registry};
use super::options::{self, dram_control, dram_options};
use super::plan::{PlanObject, dram_plan};
use super::program::{ProgramObject, log_plan};
use super::status::dram_status;
use super::structs::{Out, OutStruct, Versioned};
use super::text::dram_str;
use crate::error::{Error, Fault, Result};
use crate::ir;

/// One core's copy of the program: functions. Lives and dies with its program.
///
/// Threads: as its program.
pub struct dram_module {
    _opaque: (),
}

static MODULES: Registry<dram_module> = Registry::new();

impl Handle for dram_module {
    type Object = ModuleObject;
    const NAME: &'static str = "dram_module";
    const TAG: u8 = 0x85;
    fn registry() -> &'static Registry<dram_module> {
        &MODULES
    }
}

/// What a `dram_module` handle stands for.
pub(super) struct ModuleObject {
    pub(super) program: Arc<ProgramObject>,
    pub(super) position: usize,
    name: Box<str>,
    pub(super) core: u32,
    /// The metrics of the last allocation; empty before the first.
    metrics: Mutex<BTreeMap<String, u64>>,
}

impl Object for ModuleObject {
    fn poison(&self) -> Option<&AtomicBool> {
        Some(&self.program.poison)
    }
}

impl ModuleObject {
    pub(super) fn new(
        program: Arc<ProgramObject>,
        position: usize,
        name: Box<str>,
        core: u32,
    ) -> ModuleObject {
        ModuleObject {
            program,
            position,
            name,
            core,
            metrics: Mutex::default(),
        }
    }

    /// Looks at the module as it is.
    fn read<T>(&self, body: impl FnOnce(&ir::Module) -> T) -> T {
        self.program
            .read(|program| body(&program.modules()[self.position]))
    }

    /// Keeps the figures of an allocation.
    pub(super) fn set_metrics(&self, metrics: BTreeMap<String, u64>) {
        *self.metrics.lock() = metrics;
    }

    /// A figure of the last allocation.
    fn metric(&self, name: &str) -> Result<u64> {
        let metrics = self.metrics.lock();
        if metrics.is_empty() {
            let sentence = "the module has no allocation to have figures of";
            return Err(Error::from(Fault::FailedPrecondition(sentence.into())).on_core(self.core));
        }
        metrics.get(name).copied().ok_or_else(|| {
            let fault = Fault::UnknownName {
                what: "metric",
                name: name.to_owned(),
            };
            Error::from(fault).on_core(self.core)
        })
    }
}

/// What a module is. Text is borrowed until its program is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_module_info {
    /// Set by the caller: `sizeof(dram_module_info)`.
    pub struct_size: usize,
    /// Its name.
    pub name: dram_str,
    /// Its core.
    pub core: u32,
    /// How many functions it has.
    pub function_count: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_module_info {
    const FIRST_SIZE: usize = 32;
}

/// The numbers of a module's attributes.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_attribute {
    /// 1 once an allocation has succeeded.
    Allocated = 11,
    /// Bytes of the collective region that are really used; metric `real_cc_buffer_size`.
    RealCcBufferSize = 13,
}

/// The numbers of a module's metrics; every metric also has a name.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_metric {
    /// Bytes below the first address placed, the floor; metric `reserved_space`.
    ReservedSpace = 31,
    /// Declared bytes of everything placed; metric `raw_bytes_placed`.
    RawBytes = 32,
}

/// What a module is.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_get(
    module: *const dram_module,
    info_out: *mut dram_module_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let module = call.get(module, "module")?;
        info_out.set(dram_module_info {
            struct_size: 0,
            name: dram_str::of(&module.name),
            core: module.core,
            function_count: module.read(|module| module.functions().len() as u32),
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Adds a function, a child of the module: freed with the program, and only so. It has one block,
/// the entry, without instructions.
///
/// `name`: copied; a second function of that name in the module is `DRAM_STATUS_ALREADY_EXISTS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_add_function(
    module: *mut dram_module,
    name: dram_str,
    function_out: *mut *mut dram_function,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let function_out = unsafe { Out::new(function_out, ptr::null_mut(), "function_out")? };
        let module = call.get(module, "module")?;
        // SAFETY: as this function's parameter says.
        let function = ir::Function::new(unsafe { name.read("name")? });
        let position = module.position;
        let added = module
            .program
            .change(position, |module| module.add_function(function))?;
        function_out.set(module.program.function(position, added)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The function at a position, in the order in which they were added; the same handle each time.
/// Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_function(
    module: *const dram_module,
    position: u32,
    function_out: *mut *mut dram_function,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let function_out = unsafe { Out::new(function_out, ptr::null_mut(), "function_out")? };
        let module = call.get(module, "module")?;
        module.read(|module| at(module.functions(), position.into(), "function").map(drop))?;
        function_out.set(
            module
                .program
                .function(module.position, position as usize)?,
        );
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The function with a name; the same handle each time. `DRAM_STATUS_NOT_FOUND` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_find_function(
    module: *const dram_module,
    name: dram_str,
    function_out: *mut *mut dram_function,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let function_out = unsafe { Out::new(function_out, ptr::null_mut(), "function_out")? };
        let module = call.get(module, "module")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        let position = module
            .read(|module| module.find_function(name))
            .ok_or_else(|| {
                let fault = Fault::UnknownName {
                    what: "function",
                    name: name.to_owned(),
                };
                Error::from(fault).on_core(module.core)
            })?;
        function_out.set(module.program.function(module.position, position)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Gives every candidate of the module's local space an address, all or none; what an earlier
/// allocation placed is placed anew, what the host pinned stays. What several cores share is left
/// alone.
///
/// `options`, `control`: null for the defaults. `plan_out`: null, or receives the plan with its
/// figures; free it with `dram_plan_free`. Calls that only read the program may run meanwhile; a
/// change of this module meanwhile makes the call fail with `DRAM_STATUS_FAILED_PRECONDITION`.
///
/// No placement: as for `dram_program_plan`. A failed call changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_allocate(
    module: *mut dram_module,
    options: *const dram_options,
    control: *const dram_control,
    plan_out: *mut *mut dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let plan_out = unsafe { Out::optional(plan_out, ptr::null_mut(), "plan_out")? };
        let module = call.get(module, "module")?;
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let (program, changes) = module.program.snapshot_for(module.position);
        let plan = watch.run(&options, |control| {
            crate::plan_module(&program, module.position, &options, control)
        })?;
        drop(program); // So that the addresses are written in place.
        module
            .program
            .apply_module(module.position, &plan, changes)?;
        module.set_metrics(plan.metrics.clone());
        log_plan(&module.program.context, &module.name, &plan);
        if let Some(plan_out) = plan_out {
            plan_out.set(dram_plan::registry().insert(Arc::new(PlanObject::new(plan))));
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Splits the program of a module, which must be its only one and core 0's, over cores: one clone
/// of the module per core. Shared locations of the clones follow core 0's, by name; everything else
/// is each core's own. What allocations have placed is forgotten.
///
/// `cores`: how many, at least 1; 1 leaves the program as it is but for its addresses. The clones
/// are found by `dram_program_find_module`; handles of the module and its functions stay and mean
/// core 0's.
///
/// More than one module, one of another core, a shared location without a name, no core:
/// `DRAM_STATUS_INVALID_ARGUMENT`. A change of the program meanwhile:
/// `DRAM_STATUS_FAILED_PRECONDITION`. A failed call changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_lnc_split(
    module: *mut dram_module,
    cores: u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let module = call.get(module, "module")?;
        let seen = module.program.seen();
        let split = crate::shared::lnc_split(&seen.value, cores)?;
        seen.change(|program| *program = split)?;
        module.metrics.lock().clear();
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Forgets what allocations have placed in the module; the host's pins stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_clear_placement(
    module: *mut dram_module,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let module = call.get(module, "module")?;
        module.program.change(module.position, |module| {
            for position in 0..module.functions().len() {
                module.function_mut(position).clear_placement();
            }
        });
        module.metrics.lock().clear();
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// An attribute of the module by its number, a `dram_attribute`; another one is
/// `DRAM_STATUS_NOT_FOUND`. Before the first allocation attribute 11 is 0, and the others are
/// `DRAM_STATUS_FAILED_PRECONDITION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_attribute(
    module: *const dram_module,
    number: u32,
    value_out: *mut u64,
    error: *mut *mut dram_error,
) -> dram_status {
    const ALLOCATED: u32 = dram_attribute::Allocated as u32;
    const REAL_CC_BUFFER_SIZE: u32 = dram_attribute::RealCcBufferSize as u32;
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let value_out = unsafe { Out::new(value_out, 0, "value_out")? };
        let module = call.get(module, "module")?;
        value_out.set(match number {
            ALLOCATED => u64::from(!module.metrics.lock().is_empty()),
            REAL_CC_BUFFER_SIZE => module.metric("real_cc_buffer_size")?,
            _ => {
                return Err(Fault::UnknownName {
                    what: "attribute",
                    name: number.to_string(),
                }
                .into());
            }
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// A metric of the module's last allocation by its number, a `dram_metric`; another one is
/// `DRAM_STATUS_NOT_FOUND`, and without an allocation `DRAM_STATUS_FAILED_PRECONDITION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_metric(
    module: *const dram_module,
    number: u32,
    value_out: *mut u64,
    error: *mut *mut dram_error,
) -> dram_status {
    const RESERVED_SPACE: u32 = dram_metric::ReservedSpace as u32;
    const RAW_BYTES: u32 = dram_metric::RawBytes as u32;
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let value_out = unsafe { Out::new(value_out, 0, "value_out")? };
        let module = call.get(module, "module")?;
        value_out.set(match number {
            RESERVED_SPACE => module.metric("reserved_space")?,
            RAW_BYTES => module.metric("raw_bytes_placed")?,
            _ => {
                return Err(Fault::UnknownName {
                    what: "metric",
                    name: number.to_string(),
                }
                .into());
            }
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// A metric of the module's last allocation by its name: `reserved_space`, `raw_bytes_placed`,
/// `real_cc_buffer_size`, `allreduce_dram_hwm`, `hwm`, all in bytes. Another one is
/// `DRAM_STATUS_NOT_FOUND`, and without an allocation `DRAM_STATUS_FAILED_PRECONDITION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_module_metric_named(
    module: *const dram_module,
    name: dram_str,
    value_out: *mut u64,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let value_out = unsafe { Out::new(value_out, 0, "value_out")? };
        let module = call.get(module, "module")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        value_out.set(module.metric(name)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
