//! `dram_options` and `dram_control`: what is asked for, and who may watch and stop it. // C5, S2

use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::boundary::Call;
use super::cancel::{Cancel, dram_cancel};
use super::plan::{PlanObject, dram_plan};
use super::structs::{self, Versioned};
use super::text::{dram_str, slice};
use crate::control::{Control, Progress};
use crate::error::{Error, Result};
use crate::ir::{Function, MemLocId, Module, Space, UsageMask};
use crate::options::{Floor, Geometry, Options, Preset, SpaceRegion, Strategy};
use crate::place::Region;

/// How to search for a placement.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_strategy {
    /// The best of a few near-linear orders.
    Fast = 0,
    /// The Briggs-like order and first fit, nothing else.
    Reference = 1,
    /// Anytime search within the budget.
    Best = 2,
}

/// Where placement starts beside the host's pins.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_floor {
    /// Above the end of every pin.
    Hwm = 0,
    /// At 0; pins are obstacles while they live.
    Holes = 1,
}

/// How a core's spaces share its memory.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_geometry {
    /// Each space has addresses of its own.
    Split = 0,
    /// One address range per core for its local and its shared locations; shared ones come first,
    /// each free on the cores that it reaches. Debug locations stay apart.
    Unified = 1,
}

/// A device whose memory per core is known.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_preset {
    /// No capacity unless `capacity` says one.
    Custom = 0,
    /// 16 GiB per core.
    Inferentia = 1,
    /// 16 GiB per core.
    Trn1 = 2,
    /// 16 GiB per core.
    Inf2 = 3,
    /// 24 GiB per core.
    Trn2 = 4,
    /// 36 GiB per core.
    Trn3 = 5,
}

/// `dram_options.cc_limit`: what is no number of MiB.
#[repr(i64)]
#[derive(Clone, Copy)]
pub enum dram_cc_limit {
    /// 500 MiB.
    Default = 0,
    /// As much as the operands of collective instructions add up to.
    Computed = -1,
    /// No collective region.
    None = -2,
}

/// A window of one space for certain usages. Windows of one space do not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_region {
    /// The first byte.
    pub base: u64,
    /// How many bytes.
    pub size: u64,
    /// A `dram_space`. A raw problem has one space only: 0.
    pub space: u32,
    /// What may be placed there: bit `u` admits usage `u` of `dram_usage`. 0: everything.
    pub usage_mask: u32,
}

/// What is asked of a run. All 0 but `struct_size` is what the command line does without flags;
/// the fields have the names of its flags.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_options {
    /// Set by the caller: `sizeof(dram_options)`.
    pub struct_size: usize,
    /// Bytes per core that gate a plan; wins over `preset`. 0: no limit but the preset's.
    pub capacity: u64,
    /// Milliseconds to search for. 0: no limit. What is found then depends on the host's speed.
    pub budget_ms: u64,
    /// Steps to search for, repeatable on any host. 0: the strategy's own number.
    pub budget_steps: u64,
    /// The alignment of locations that declare none, a power of two. 0: a page, packed 1.
    pub align: u64,
    /// MiB of the collective region (`allreduce_buffer_size`), or a `dram_cc_limit`; 0 is 500.
    pub cc_limit: i64,
    /// The page in which the runtime hands out memory, in MiB. A location that reaches from one
    /// page into the next costs a copy of its size on top, which is avoided first, the height
    /// second. 0: off.
    pub runtime_page: u64,
    /// The slab of each core in shared mode, in MiB. 0: off.
    pub shared_mib_per_core: u64,
    /// Windows of the address space; none: one without bounds. Read during the call only.
    pub regions: *const dram_region,
    /// How many regions.
    pub region_count: usize,
    /// A `dram_strategy`.
    pub strategy: u32,
    /// A `dram_preset`.
    pub preset: u32,
    /// A `dram_floor`.
    pub floor: u32,
    /// A `dram_geometry`.
    pub geometry: u32,
    /// 1: exact bytes instead of pages. Else 0.
    pub packed: u32,
    /// 1: inputs end at their last use, outputs begin at their first def. Else 0.
    pub reuse_io: u32,
    /// 1: uses that may read unwritten bytes are errors. Else 0.
    pub strict: u32,
    /// 1: the others start at the real end of the collective region. Else 0.
    pub trim_cc: u32,
    /// The usages that are given addresses, as in `dram_region`. 0: internal and collective.
    pub usage_mask: u32,
    /// 1: a device-wide barrier separates the entry functions, so that their shared locations may
    /// share bytes. Else 0.
    pub separate_functions: u32,
    /// With a hint: how many bytes of peak each MiB that keeps its address may cost, compared with a
    /// plan without a hint.
    pub keep: u64,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_options {
    const FIRST_SIZE: usize = 120;
}

/// What a run reports while it works.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_progress {
    /// Set by the library: the size of what it knows.
    pub struct_size: usize,
    /// What is being done: `liveness`, `bound`, `search`; in a pipeline, the pass.
    pub phase: dram_str,
    /// Steps done in this phase: of a search, so far for this space and function.
    pub done: u64,
    /// Steps that the phase has in all, unless it reaches the bound before; 0 if not known.
    pub total: u64,
    /// The lower bound in bytes; 0 if not known yet.
    pub bound: u64,
    /// The best peak so far in bytes; `UINT64_MAX` if there is none yet.
    pub incumbent: u64,
    /// Microseconds since the call began.
    pub elapsed_us: u64,
}

/// Receives progress. `progress` is valid during the call only. Must not throw; runs on the
/// thread that runs the plan; may call the library.
pub type dram_progress_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, progress: *const dram_progress)>;

/// Says of a memory location whether the cores share it although its description does not say so:
/// 1, else 0. `function` is valid during the call only; `memloc` is its number in the function,
/// `cookie` the host's, 0 for none. The answer must depend on nothing else. Must not throw; may
/// call the library.
pub type dram_shared_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        core: u32,
        function: dram_str,
        memloc: u32,
        cookie: u64,
    ) -> i32,
>;

/// How a host watches, stops and steers a run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_control {
    /// Set by the caller: `sizeof(dram_control)`.
    pub struct_size: usize,
    /// Stops the run when set; may be null.
    pub cancel: *const dram_cancel,
    /// Called when a phase begins, when something better is known, and else some times a second
    /// while a search goes on; may be null.
    pub progress: dram_progress_fn,
    /// Handed to `progress`.
    pub progress_user: *mut c_void,
    /// Asked for every location of a program that is not shared or linked; may be null.
    pub shared: dram_shared_fn,
    /// Handed to `shared`.
    pub shared_user: *mut c_void,
    /// An earlier plan of a program, of this one or of one like it; may be null. Locations of the
    /// same function and name that have as many bytes keep its addresses where that costs nothing,
    /// or no more than `dram_options.keep`. Without a budget the new plan is a result if it ends no
    /// further above its bound than this one or, but for strategy `best`, by less than a 128th; else
    /// a search runs to get there. Nothing in it is trusted; it may be freed meanwhile.
    pub hint: *const dram_plan,
}

// SAFETY: pointers and integers without padding; a null function pointer is `None`, and others
// are the host's to vouch for.
unsafe impl Versioned for dram_control {
    const FIRST_SIZE: usize = 48;
}

/// The host's hands on one run, kept alive while it lasts.
pub(super) struct Watch {
    cancel: Option<Arc<Cancel>>,
    hint: Option<Arc<PlanObject>>,
    given: dram_control,
}

impl Watch {
    /// Runs `body` under the host's eyes, with the clock that core code does not have.
    pub(super) fn run<T>(
        &self,
        options: &Options,
        body: impl FnOnce(&mut Control<'_>) -> Result<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let elapsed = || start.elapsed();
        let mut tell = |progress: &Progress| self.tell(progress);
        let shared = |module: &Module, function: &Function, memloc: MemLocId| {
            self.is_shared(module, function, memloc)
        };
        let mut control = Control {
            cancel: self.cancel.as_ref().map(|cancel| &cancel.0),
            progress: self.given.progress.is_some().then_some(&mut tell),
            elapsed: Some(&elapsed),
            deadline: options.budget_ms.map(Duration::from_millis),
            shared: self.given.shared.is_some().then_some(&shared),
            hint: self.hint.as_ref().map(|hint| &hint.plan),
        };
        body(&mut control)
    }

    /// The same for what no clock ends and what tells of no progress.
    pub(super) fn prove<T>(&self, body: impl FnOnce(&Control<'_>) -> Result<T>) -> Result<T> {
        let shared = |module: &Module, function: &Function, memloc: MemLocId| {
            self.is_shared(module, function, memloc)
        };
        body(&Control {
            cancel: self.cancel.as_ref().map(|cancel| &cancel.0),
            shared: self.given.shared.is_some().then_some(&shared),
            ..Control::default()
        })
    }

    #[inline(never)]
    fn tell(&self, progress: &Progress) {
        let Some(callback) = self.given.progress else {
            return;
        };
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let progress = dram_progress {
            struct_size: size_of::<dram_progress>(),
            phase: dram_str::of(progress.phase),
            done: progress.done,
            total: progress.total,
            bound: progress.bound,
            incumbent: progress.incumbent,
            elapsed_us: micros(progress.elapsed),
        };
        // SAFETY: the host vouched for the callback and its data by `dram_control`.
        unsafe { callback(self.given.progress_user, &progress) }
    }

    #[inline(never)]
    fn is_shared(&self, module: &Module, function: &Function, memloc: MemLocId) -> bool {
        let cookie = function.memloc(memloc).cookie().unwrap_or(0);
        let (core, name) = (module.core(), dram_str::of(function.name()));
        let user = self.given.shared_user;
        // SAFETY: the host vouched for the callback and its data by `dram_control`.
        (self.given.shared).is_some_and(|f| unsafe { f(user, core, name, memloc.0, cookie) } != 0)
    }
}

/// Reads options and control; null means the defaults, and nobody watching.
///
/// # Safety
///
/// Both are null or as their types say.
pub(super) unsafe fn read(
    options: *const dram_options,
    control: *const dram_control,
    call: &mut Call,
) -> Result<(Options, Watch)> {
    let options = if options.is_null() {
        Options::default()
    } else {
        // SAFETY: this function's contract.
        unsafe { convert(&structs::read(options, "options")?)? }
    };
    let given = if control.is_null() {
        // SAFETY: zeros are a valid value: nobody watches.
        unsafe { std::mem::zeroed() }
    } else {
        // SAFETY: this function's contract.
        unsafe { structs::read(control, "control")? }
    };
    let cancel = match given.cancel.is_null() {
        true => None,
        false => Some(call.get(given.cancel, "control.cancel")?),
    };
    let hint = match given.hint.is_null() {
        true => None,
        false => Some(call.get(given.hint, "control.hint")?),
    };
    let watch = Watch {
        cancel,
        hint,
        given,
    };
    Ok((options, watch))
}

/// # Safety
///
/// The regions are as `dram_options` says.
unsafe fn convert(given: &dram_options) -> Result<Options> {
    // SAFETY: this function's contract.
    let regions = unsafe { slice(given.regions, given.region_count, "options.regions")? };
    let options = Options {
        strategy: code("options.strategy", given.strategy, Strategy::from_code)?,
        capacity: nonzero(given.capacity),
        preset: code("options.preset", given.preset, Preset::from_code)?,
        budget_ms: nonzero(given.budget_ms),
        budget_steps: nonzero(given.budget_steps),
        floor: code("options.floor", given.floor, Floor::from_code)?,
        align: nonzero(given.align),
        packed: flag("options.packed", given.packed)?,
        reuse_io: flag("options.reuse_io", given.reuse_io)?,
        strict: flag("options.strict", given.strict)?,
        cc_limit: cc_limit(given.cc_limit)?,
        trim_cc: flag("options.trim_cc", given.trim_cc)?,
        runtime_page: given.runtime_page,
        geometry: code("options.geometry", given.geometry, Geometry::from_code)?,
        shared_mib_per_core: given.shared_mib_per_core,
        separate_functions: flag("options.separate_functions", given.separate_functions)?,
        keep: given.keep,
        usage_mask: match given.usage_mask {
            0 => UsageMask::default(),
            mask => UsageMask(mask),
        },
        regions: regions.iter().map(region).collect::<Result<_>>()?,
    };
    options.validate()?;
    Ok(options)
}

fn cc_limit(given: i64) -> Result<i64> {
    const DEFAULT: i64 = dram_cc_limit::Default as i64;
    const COMPUTED: i64 = dram_cc_limit::Computed as i64;
    const NONE: i64 = dram_cc_limit::None as i64;
    match given {
        DEFAULT => Ok(Options::default().cc_limit),
        COMPUTED => Ok(-1),
        NONE => Ok(0),
        mib if mib > 0 => Ok(mib),
        _ => Err(Error::invalid(
            "options.cc_limit",
            "is negative and no dram_cc_limit",
        )),
    }
}

/// A window as the core has it.
pub(super) fn region(given: &dram_region) -> Result<SpaceRegion> {
    Ok(SpaceRegion {
        space: code("regions.space", given.space, Space::from_code)?,
        region: Region {
            base: given.base,
            size: given.size,
            usages: match given.usage_mask {
                0 => UsageMask::ALL,
                mask => UsageMask(mask),
            },
        },
    })
}

/// A number that is one of an enum's.
#[inline]
pub(super) fn code<T>(
    parameter: &'static str,
    code: u32,
    from_code: impl Fn(u32) -> Option<T>,
) -> Result<T> {
    from_code(code).ok_or_else(|| no_value(parameter, code))
}

#[cold]
fn no_value(parameter: &'static str, code: u32) -> Error {
    Error::invalid(parameter, format!("{code} is no value of it"))
}

/// A number that is 0 or 1.
pub(super) fn flag(parameter: &'static str, given: u32) -> Result<bool> {
    match given {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::invalid(parameter, format!("is {given}, not 0 or 1"))),
    }
}

/// A number of which 0 means that nothing was said.
pub(super) fn nonzero(given: u64) -> Option<u64> {
    (given != 0).then_some(given)
}
