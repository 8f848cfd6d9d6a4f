//! Who holds memory, at any instruction, on a core and on the device. // G2, M8

use super::boundary::{Call, boundary};
use super::error::{DRAM_UNKNOWN, dram_error};
use super::function::{check_count, dram_function};
use super::options::{self, dram_control};
use super::plan::dram_plan;
use super::program::{dram_program, module_of};
use super::status::dram_status;
use super::structs::{OutStruct, Versioned};
use super::text::slice_mut;
use crate::error::{Error, Fault, Result};
use crate::plan::{ModulePlan, Plan};
use crate::report::{self, Category, LiveSize};

/// Bytes by what they are for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_live_size {
    /// Inputs and outputs, pinned or the caller's.
    pub input_output: u64,
    /// Weights and constants, pinned or the caller's.
    pub weights: u64,
    /// Placed for one core alone.
    pub private_bytes: u64,
    /// Placed once for several cores.
    pub shared: u64,
    /// Placed for the collective layer of one core.
    pub collective: u64,
    /// What the host has added.
    pub extra: u64,
    /// Copies of what straddles a page of the runtime.
    pub copies: u64,
}

/// The worst moment of a core, or of the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_pressure {
    /// Set by the caller: `sizeof(dram_pressure)`.
    pub struct_size: usize,
    /// What is held there.
    pub live: dram_live_size,
    /// The core; `DRAM_UNKNOWN` for the device.
    pub core: u32,
    /// The position of the entry function of that moment; `DRAM_UNKNOWN` for the device, and where
    /// there is no instruction.
    pub function: u32,
    /// The flat index there, also when the worst moment lies in a callee.
    pub instruction: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_pressure {
    const FIRST_SIZE: usize = 80;
}

const NOTHING: dram_live_size = dram_live_size {
    input_output: 0,
    weights: 0,
    private_bytes: 0,
    shared: 0,
    collective: 0,
    extra: 0,
    copies: 0,
};

fn live_size(live: &LiveSize) -> dram_live_size {
    dram_live_size {
        input_output: live.of(Category::InputOutput),
        weights: live.of(Category::Weights),
        private_bytes: live.of(Category::Private),
        shared: live.of(Category::Shared),
        collective: live.of(Category::Collective),
        extra: live.of(Category::Extra),
        copies: live.of(Category::Copies),
    }
}

/// What a core holds at its worst instruction under a plan; of the device the sum over the cores,
/// with shared bytes once. `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not of the program as it
/// is, `DRAM_STATUS_NOT_FOUND` if the program has no module for the core.
///
/// `core`: a core; `DRAM_UNKNOWN` for the device. `extra`: bytes per core that only the host knows
/// of. `pressure_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_pressure(
    program: *const dram_program,
    plan: *const dram_plan,
    core: u32,
    extra: u64,
    pressure_out: *mut dram_pressure,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let pressure_out = unsafe { OutStruct::new(pressure_out, "pressure_out")? };
        let program = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        let module = match core {
            DRAM_UNKNOWN => None,
            core => Some(&program.modules()[module_of(&program, core)?]),
        };
        plan.plan.check_is_of(&program)?;
        let pressure = report::pressure(&program, &plan.plan, extra);
        let (live, function, instruction) = match module {
            None => (pressure.device, None, DRAM_UNKNOWN),
            Some(module) => {
                let of_core = pressure.cores.into_iter().find(|c| c.core == core);
                let of_core = of_core.expect("there is one for each module");
                let function = module.find_function(&of_core.function);
                (of_core.peak, function, of_core.index)
            }
        };
        pressure_out.set(dram_pressure {
            struct_size: 0,
            live: live_size(&live),
            core,
            function: function.map_or(DRAM_UNKNOWN, |position| position as u32),
            instruction,
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a core holds at each instruction of a function under a plan: what its module always holds,
/// the function's own frame, and under a call whatever the callee holds at its worst. Of a function
/// that others call, without what these hold. `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not
/// of the function's module as it is.
///
/// `extra`: as for `dram_program_pressure`. `sizes`, `count`: the array to fill, one element per
/// instruction: `count` must be how many there are, else `DRAM_STATUS_INVALID_ARGUMENT`. On failure
/// every element is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_live(
    plan: *const dram_plan,
    function: *const dram_function,
    extra: u64,
    sizes: *mut dram_live_size,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let sizes = unsafe { slice_mut(sizes, count, "sizes")? };
        sizes.fill(NOTHING);
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let program = function.module.program.snapshot();
        let module = &program.modules()[function.module.position];
        let f = function.position;
        check_count(count, module.functions()[f].instructions().len())?;
        let planned = module_plan(&plan.plan, module.core())?;
        planned.check_is_of(module)?;
        fill(
            sizes,
            &report::core_profile(
                module,
                planned,
                f,
                (extra, report::private_copies(&plan.plan, module.core())),
            ),
        );
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What the whole device holds while a core is at each instruction of an entry function: that core,
/// the others at the worst that they may be at between the same barriers, and shared bytes once.
/// `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not of the function's program as it is, or the
/// function is one that others call.
///
/// `control`: null, or says what else is shared, as when the plan was made. The others as for
/// `dram_plan_live`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_device_live(
    plan: *const dram_plan,
    function: *const dram_function,
    extra: u64,
    control: *const dram_control,
    sizes: *mut dram_live_size,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let sizes = unsafe { slice_mut(sizes, count, "sizes")? };
        sizes.fill(NOTHING);
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(std::ptr::null(), control, call)? };
        let program = function.module.program.snapshot();
        let at = (function.module.position, function.position);
        let instructions = program.modules()[at.0].functions()[at.1].instructions();
        check_count(count, instructions.len())?;
        plan.plan.check_is_of(&program)?;
        let profile = watch.run(&options, |control| {
            report::device_profile(&program, &plan.plan, at, extra, control.shared)
        })?;
        fill(sizes, &profile);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

fn fill(sizes: &mut [dram_live_size], profile: &[LiveSize]) {
    for (out, live) in sizes.iter_mut().zip(profile) {
        *out = live_size(live);
    }
}

fn module_plan(plan: &Plan, core: u32) -> Result<&ModulePlan> {
    let found = plan.modules.iter().find(|m| m.core == core);
    found.ok_or_else(|| {
        let fault = Fault::UnknownName {
            what: "module for core",
            name: core.to_string(),
        };
        Error::from(fault)
    })
}
