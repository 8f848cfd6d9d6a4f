//! `dram_plan`: where everything lies, and how good that is. // S3, F

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use super::at;
use super::boundary::{Call, boundary};
use super::error::{DRAM_UNKNOWN, dram_error};
use super::function::{check_count, dram_function};
use super::handle::{Handle, Object, Registry};
use super::memloc::{DRAM_NO_ADDRESS, skipped};
use super::status::dram_status;
use super::structs::{Out, OutStruct, Versioned};
use super::text::{Writer, dram_str, dram_write_fn, slice, slice_mut};
use crate::Plan;
use crate::depend;
use crate::error::{Error, Fault, Result};
use crate::format;
use crate::plan::{Dependence, FunctionPlan, MemLocPlan};
use crate::report::frame_profile;

/// A plan, owned by whoever received it: free it with `dram_plan_free`. It needs neither the
/// program nor the context that it came from.
///
/// Threads: immutable; any number of threads may read one, nobody may be reading it while it is
/// freed.
pub struct dram_plan {
    _opaque: (),
}

static PLANS: Registry<dram_plan> = Registry::new();

impl Handle for dram_plan {
    type Object = PlanObject;
    const NAME: &'static str = "dram_plan";
    const TAG: u8 = 0x87;
    fn registry() -> &'static Registry<dram_plan> {
        &PLANS
    }
}

/// Positions of dependences by core and function.
type EdgesOf = BTreeMap<(u32, Arc<str>), Vec<usize>>;

/// What a `dram_plan` handle stands for.
pub(super) struct PlanObject {
    pub(super) plan: Plan,
    /// Where in the plan the dependences of each function are; made when first asked for.
    edges_of: OnceLock<EdgesOf>,
    poison: AtomicBool,
}

impl Object for PlanObject {
    fn poison(&self) -> Option<&AtomicBool> {
        Some(&self.poison)
    }
}

impl PlanObject {
    pub(super) fn new(plan: Plan) -> PlanObject {
        PlanObject {
            plan,
            edges_of: OnceLock::new(),
            poison: AtomicBool::new(false),
        }
    }

    /// The dependences that it carries.
    fn edges(&self) -> Result<&[Dependence]> {
        let edges = self.plan.dependences.as_deref();
        edges.ok_or_else(|| Fault::FailedPrecondition("the plan has no dependences".into()).into())
    }

    /// The dependences of one function that it carries; `None` if it carries none at all.
    fn edges_of(&self, core: u32, name: &str) -> Option<impl Iterator<Item = &Dependence>> {
        let edges = self.plan.dependences.as_deref()?;
        let index = self.edges_of.get_or_init(|| {
            let mut index = EdgesOf::new();
            for (i, edge) in edges.iter().enumerate() {
                let key = (edge.to.core, Arc::clone(&edge.to.function));
                index.entry(key).or_default().push(i);
            }
            index
        });
        let found = index.get(&(core, name.into())).into_iter().flatten();
        Some(found.map(|&i| &edges[i]))
    }

    /// The plan of a function that a handle names.
    pub(super) fn function(&self, core: u32, name: &str) -> Result<&FunctionPlan> {
        let modules = self.plan.modules.iter().filter(|m| m.core == core);
        let found = modules.flat_map(|m| &m.functions).find(|f| f.name == name);
        found.ok_or_else(|| {
            let fault = Fault::UnknownName {
                what: "function",
                name: name.to_owned(),
            };
            Error::from(fault).on_core(core)
        })
    }
}

/// What is known about a peak.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_plan_status {
    /// The peak is a proven bound.
    Optimal = 0,
    /// A placement, perhaps not the lowest.
    Feasible = 1,
    /// Proved: no placement fits.
    Infeasible = 2,
    /// Nothing found, nothing proved.
    Unknown = 3,
}

/// The figures of a plan. Text is borrowed until the plan is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_plan_info {
    /// Set by the caller: `sizeof(dram_plan_info)`.
    pub struct_size: usize,
    /// The highest peak of any space, in bytes.
    pub peak: u64,
    /// The lower bound of that space, in bytes.
    pub lower_bound: u64,
    /// The digest of what the cores share, 32 hexadecimal digits; empty for one core.
    pub digest: dram_str,
    /// A `dram_plan_status`.
    pub status: u32,
    /// A `dram_strategy`: what was run.
    pub strategy: u32,
    /// 1 if bytes are re-used across engines and the plan carries no dependences; else 0.
    pub needs_dependences: u32,
    /// How many spaces `dram_plan_space` lists.
    pub space_count: u32,
    /// How many modules it has.
    pub module_count: u32,
    /// How many notes `dram_plan_note` lists.
    pub note_count: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_plan_info {
    const FIRST_SIZE: usize = 64;
}

/// One space of one core.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_space_info {
    /// Set by the caller: `sizeof(dram_space_info)`.
    pub struct_size: usize,
    /// Bytes that it may use; `UINT64_MAX`: no limit.
    pub capacity: u64,
    /// Nothing was placed below this byte.
    pub floor: u64,
    /// One past the highest byte placed, pins excluded; the floor if nothing was placed.
    pub peak: u64,
    /// No placement has a lower peak.
    pub lower_bound: u64,
    /// A `dram_space`.
    pub space: u32,
    /// Its core; `DRAM_UNKNOWN` for the shared one, which all have.
    pub core: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_space_info {
    const FIRST_SIZE: usize = 48;
}

/// What became of one memory location. Text is borrowed until the plan is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_plan_memloc {
    /// Set by the caller: `sizeof(dram_plan_memloc)`.
    pub struct_size: usize,
    /// Its name; `#` and its number for one without.
    pub name: dram_str,
    /// Its address in bytes; `DRAM_NO_ADDRESS` if it has none.
    pub address: u64,
    /// Its declared bytes.
    pub bytes: u64,
    /// Its bytes as placed.
    pub aligned: u64,
    /// How many segments `dram_plan_segments` lists.
    pub segment_count: usize,
    /// The member of its group that was placed: its name; empty if there is no group.
    pub owner_name: dram_str,
    /// That member's core; `DRAM_UNKNOWN` if there is no group.
    pub owner_core: u32,
    /// A `dram_space`: the final one.
    pub space: u32,
    /// A `dram_skipped`.
    pub skipped: u32,
    /// 1 if the host gave the address; else 0.
    pub pinned: u32,
    /// 1 if the shared run or the copying of its addresses has placed it; else 0.
    pub is_shared_post_dram_alloc: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_plan_memloc {
    const FIRST_SIZE: usize = 96;
}

/// A memory location that straddles a page of the runtime, so that the device holds a copy of its
/// bytes on top. Text is borrowed until the plan is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_straddler {
    /// Set by the caller: `sizeof(dram_straddler)`.
    pub struct_size: usize,
    /// The function's name.
    pub function: dram_str,
    /// The location's name there; `#` and its number for one without.
    pub name: dram_str,
    /// Its address in bytes.
    pub address: u64,
    /// The bytes of the copy.
    pub bytes: u64,
    /// Its core; a shared location is listed once, where its owner is.
    pub core: u32,
    /// A `dram_space`: the final one.
    pub space: u32,
    /// 1 if the host gave the address; else 0.
    pub pinned: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_straddler {
    const FIRST_SIZE: usize = 72;
}

/// Why one instruction waits for another; the first is the strongest.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_dependence_kind {
    /// It reads what the other has written.
    Flow = 0,
    /// It writes bytes that the other has written.
    Output = 1,
    /// It writes bytes that the other has read.
    Anti = 2,
}

/// Each execution of `to` waits for the latest earlier execution of `from`, if there is one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_dependence {
    /// The flat index of what runs first.
    pub from: u32,
    /// The flat index of what waits.
    pub to: u32,
    /// A `dram_dependence_kind`.
    pub kind: u32,
    /// How many back edges lie between the two executions: 0 or 1.
    pub distance: u32,
    /// The header block of that back edge; `DRAM_UNKNOWN` for distance 0.
    pub header: u32,
    /// Always 0.
    pub reserved: u32,
}

/// A dependence that a plan carries: each execution of `to` waits for the latest earlier execution
/// of `from`, if there is one. Text is borrowed until the plan is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_edge {
    /// Set by the caller: `sizeof(dram_edge)`.
    pub struct_size: usize,
    /// The function of `from`.
    pub from_function: dram_str,
    /// The function of `to`.
    pub to_function: dram_str,
    /// The core of `from`.
    pub from_core: u32,
    /// The core of `to`; this library makes no edges between cores, which barriers order.
    pub to_core: u32,
    /// The flat index of what runs first.
    pub from: u32,
    /// The flat index of what waits.
    pub to: u32,
    /// A `dram_dependence_kind`.
    pub kind: u32,
    /// How many back edges lie between the two executions: 0 or 1.
    pub distance: u32,
    /// The header block of that back edge; `DRAM_UNKNOWN` for distance 0.
    pub header: u32,
    /// Always 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_edge {
    const FIRST_SIZE: usize = 72;
}

/// Receives all edges of a function at once, ascending by `(from, to)`; valid during the call
/// only. Must not throw; may call the library.
pub type dram_dependences_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, edges: *const dram_dependence, count: usize)>;

/// How a core's need compares with its memory.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_verdict {
    /// It fits, or there is no limit.
    Fits = 0,
    /// Over by at most a tenth.
    Slightly = 1,
    /// Over by more.
    Over = 2,
}

/// What one core needs of its memory, in bytes. The parts are values at the peak instruction:
/// they and `unused` add up to `needed`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_hbm_usage {
    /// Set by the caller: `sizeof(dram_hbm_usage)`.
    pub struct_size: usize,
    /// What has to be there.
    pub needed: u64,
    /// What there is; `UINT64_MAX`: no limit.
    pub capacity: u64,
    /// Inputs and outputs, pinned or the caller's.
    pub input_output: u64,
    /// Weights and constants, pinned or the caller's.
    pub weights: u64,
    /// Placed for this core alone.
    pub private_bytes: u64,
    /// Placed once for several cores.
    pub shared: u64,
    /// Placed for the collective layer.
    pub collective: u64,
    /// The host's own.
    pub extra: u64,
    /// Lost to fragmentation, alignment and reserved space.
    pub unused: u64,
    /// The position of the function of the peak; `DRAM_UNKNOWN` if there is none.
    pub function: u32,
    /// The flat index of the peak instruction there.
    pub instruction: u32,
    /// A `dram_verdict`.
    pub verdict: u32,
    /// Always 0.
    pub reserved: u32,
    /// The copies of what straddles a page of the runtime.
    pub copies: u64,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_hbm_usage {
    const FIRST_SIZE: usize = 96;
}

/// A run of instructions, closed: its bytes are taken at `first` and at `last`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_segment {
    /// The first flat index.
    pub first: u32,
    /// The last flat index.
    pub last: u32,
}

/// Reads a plan file (JSON text). Free the plan with `dram_plan_free`.
///
/// `data`, `len`: the text. A mistake in it is `DRAM_STATUS_INVALID_ARGUMENT`, and the message has
/// the line or the path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_from_json(
    data: *const u8,
    len: usize,
    plan_out: *mut *mut dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameter says.
        let plan_out = unsafe { Out::new(plan_out, ptr::null_mut(), "plan_out")? };
        // SAFETY: as this function's parameters say.
        let text = unsafe { slice(data, len, "data")? };
        plan_out.set(PLANS.insert(Arc::new(PlanObject::new(format::read_plan(text)?))));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Writes a plan as a file (JSON text).
///
/// `write`, `user`: receives the text in pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_to_json(
    plan: *const dram_plan,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let plan = call.get(plan, "plan")?;
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        writer.document(|sink| format::write_plan(&plan.plan, sink))
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees a plan; null is fine. The text borrowed from it goes with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_free(plan: *mut dram_plan) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(ptr::null_mut(), |_| super::free(plan, "plan")) }
}

/// The figures of a plan.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_get(
    plan: *const dram_plan,
    info_out: *mut dram_plan_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let object = call.get(plan, "plan")?;
        let plan = &object.plan;
        info_out.set(dram_plan_info {
            struct_size: 0,
            peak: plan.peak,
            lower_bound: plan.lower_bound,
            digest: dram_str::of(&plan.digest),
            status: plan.status as u32,
            strategy: plan.strategy as u32,
            needs_dependences: plan.needs_dependences.into(),
            space_count: plan.spaces.len() as u32,
            module_count: plan.modules.len() as u32,
            note_count: plan.notes.len() as u32,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Space number `position` of a plan. Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `space_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_space(
    plan: *const dram_plan,
    position: u32,
    space_out: *mut dram_space_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let space_out = unsafe { OutStruct::new(space_out, "space_out")? };
        let plan = call.get(plan, "plan")?;
        let space = at(&plan.plan.spaces, position.into(), "space")?;
        space_out.set(dram_space_info {
            struct_size: 0,
            capacity: space.capacity.unwrap_or(u64::MAX),
            floor: space.floor,
            peak: space.peak,
            lower_bound: space.lower_bound,
            space: space.space as u32,
            core: space.core.unwrap_or(DRAM_UNKNOWN),
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Note number `position` of a plan: what a person should know. Borrowed until the plan is freed.
/// Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_note(
    plan: *const dram_plan,
    position: u32,
    note_out: *mut dram_str,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let note_out = unsafe { Out::new(note_out, dram_str::EMPTY, "note_out")? };
        let plan = call.get(plan, "plan")?;
        note_out.set(dram_str::of(at(&plan.plan.notes, position.into(), "note")?));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Straddler number `position` of a plan: a location that costs a copy because it reaches from one
/// page of the runtime into the next. Past the last one `DRAM_STATUS_OUT_OF_RANGE`, and so for each
/// if `runtime_page` was off; the metric `runtime_straddlers` has their number.
///
/// `straddler_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_straddler(
    plan: *const dram_plan,
    position: u32,
    straddler_out: *mut dram_straddler,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let straddler_out = unsafe { OutStruct::new(straddler_out, "straddler_out")? };
        let plan = call.get(plan, "plan")?;
        let straddlers = plan.plan.straddlers.as_deref().unwrap_or(&[]);
        let straddler = at(straddlers, position.into(), "straddler")?;
        straddler_out.set(dram_straddler {
            struct_size: 0,
            function: dram_str::of(&straddler.function),
            name: dram_str::of(&straddler.name),
            address: straddler.address,
            bytes: straddler.bytes,
            core: straddler.core,
            space: straddler.space as u32,
            pinned: straddler.pinned.into(),
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// A metric of a plan by its name; `DRAM_STATUS_NOT_FOUND` if it has none of that name.
///
/// Always there: `reserved_space`, `raw_bytes_placed`, `hwm`, `real_cc_buffer_size`,
/// `allreduce_dram_hwm`. With a runtime page also `runtime_pages`, the pages of all spaces, pins
/// included; `runtime_private_bytes`, the copies of everything that straddles one;
/// `runtime_unavoidable_bytes`, of them those of pins and of what no page holds; and
/// `runtime_straddlers`, how many straddle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_metric(
    plan: *const dram_plan,
    name: dram_str,
    value_out: *mut u64,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let value_out = unsafe { Out::new(value_out, 0, "value_out")? };
        let plan = call.get(plan, "plan")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        let value = plan
            .plan
            .metrics
            .get(name)
            .ok_or_else(|| Fault::UnknownName {
                what: "metric",
                name: name.to_owned(),
            })?;
        value_out.set(*value);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The planned address of every memory location of a function, in bytes; `DRAM_NO_ADDRESS` where
/// there is none.
///
/// The function is looked up in the plan by its module's core and its name;
/// `DRAM_STATUS_NOT_FOUND` if the plan does not have it. `addresses`, `count`: as for
/// `dram_function_addresses`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_addresses(
    plan: *const dram_plan,
    function: *const dram_function,
    addresses: *mut u64,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let addresses = unsafe { slice_mut(addresses, count, "addresses")? };
        addresses.fill(DRAM_NO_ADDRESS);
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let memlocs = &plan.function(function.module.core, &function.name)?.memlocs;
        check_count(count, memlocs.len())?;
        for (out, memloc) in addresses.iter_mut().zip(memlocs) {
            *out = memloc.address.unwrap_or(DRAM_NO_ADDRESS);
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What became of one memory location of a function, looked up as for `dram_plan_addresses`. Past
/// the last location `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `memloc_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_memloc_get(
    plan: *const dram_plan,
    function: *const dram_function,
    memloc: u32,
    memloc_out: *mut dram_plan_memloc,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let memloc_out = unsafe { OutStruct::new(memloc_out, "memloc_out")? };
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let memlocs = &plan.function(function.module.core, &function.name)?.memlocs;
        memloc_out.set(describe(at(memlocs, memloc.into(), "location")?));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// When the bytes of a memory location are taken: closed runs of flat indices, ascending; a view's
/// are its root's. The location is looked up as for `dram_plan_memloc_get`.
///
/// `segments`, `capacity`: the array to fill, as far as it goes. `count_out`: receives how many
/// there are, which may be more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_segments(
    plan: *const dram_plan,
    function: *const dram_function,
    memloc: u32,
    segments: *mut dram_segment,
    capacity: usize,
    count_out: *mut usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        // SAFETY: as this function's parameters say.
        let segments = unsafe { slice_mut(segments, capacity, "segments")? };
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let memlocs = &plan.function(function.module.core, &function.name)?.memlocs;
        let of = &at(memlocs, memloc.into(), "location")?.segments;
        for (out, &(first, last)) in segments.iter_mut().zip(of) {
            *out = dram_segment { first, last };
        }
        count_out.set(of.len());
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The bytes that a function's own frame holds at each instruction under a plan, as placed: neither
/// what its module always holds nor what its callees hold. `DRAM_STATUS_FAILED_PRECONDITION` if the
/// plan is not of the function as it is.
///
/// `bytes`, `count`: the array to fill, one element per instruction: `count` must be how many
/// instructions there are, else `DRAM_STATUS_INVALID_ARGUMENT`. On failure every element is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_load(
    plan: *const dram_plan,
    function: *const dram_function,
    bytes: *mut u64,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let bytes = unsafe { slice_mut(bytes, count, "bytes")? };
        bytes.fill(0);
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let planned = plan.function(function.module.core, &function.name)?;
        let profile = function.read(|f| {
            check_count(count, f.instructions().len())?;
            planned.check_is_of(f)?;
            Ok::<_, Error>(frame_profile(f, planned))
        })?;
        for (out, live) in bytes.iter_mut().zip(profile) {
            *out = live.total();
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The order that the engines of a core must keep under a plan so that re-used bytes and values
/// are right, beyond what each engine, barriers and calls keep by themselves; without redundant
/// edges. Those that the plan carries, which know the copies that a pipeline has marked; if it
/// carries none they are worked out, and every copy runs. `DRAM_STATUS_FAILED_PRECONDITION` if the
/// plan is not of the function as it is.
///
/// `take`, `user`: receives the edges, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_dependences(
    plan: *const dram_plan,
    function: *const dram_function,
    take: dram_dependences_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let plan = call.get(plan, "plan")?;
        let function = call.get(function, "function")?;
        let take = take.ok_or_else(|| Error::invalid("take", "is null"))?;
        let planned = plan.function(function.module.core, &function.name)?;
        let program = function.module.program.snapshot(); // The analysis may take a while.
        let value = &program.modules()[function.module.position].functions()[function.position];
        planned.check_is_of(value)?;
        let edges: Vec<dram_dependence> = match plan.edges_of(function.module.core, &function.name)
        {
            Some(edges) => edges.map(carried).collect(),
            None => {
                let layout = depend::Layout::of_plan(value, planned)?;
                let layout = layout.in_geometry(plan.plan.options.geometry);
                let edges = depend::dependences(value, &layout);
                edges.iter().map(dependence).collect()
            }
        };
        // SAFETY: the host vouches for the callback and its data; the edges are readable.
        unsafe { take(user, edges.as_ptr(), edges.len()) };
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// How many dependences a plan carries, of all functions of all cores: those of a pipeline's run,
/// or of a file. `DRAM_STATUS_FAILED_PRECONDITION` if it carries none because nobody has asked for
/// them; `dram_plan_dependences` works them out for one function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_edge_count(
    plan: *const dram_plan,
    count_out: *mut usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        let plan = call.get(plan, "plan")?;
        count_out.set(plan.edges()?.len());
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Dependence number `position` of those that a plan carries: ascending by core and function as the
/// plan lists them, then by `from` and `to`. Past the last one `DRAM_STATUS_OUT_OF_RANGE`; else as
/// for `dram_plan_edge_count`.
///
/// `edge_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_edge(
    plan: *const dram_plan,
    position: usize,
    edge_out: *mut dram_edge,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let edge_out = unsafe { OutStruct::new(edge_out, "edge_out")? };
        let plan = call.get(plan, "plan")?;
        let edge = at(plan.edges()?, position as u64, "dependence")?;
        edge_out.set(dram_edge {
            struct_size: 0,
            from_function: dram_str::of(&edge.from.function),
            to_function: dram_str::of(&edge.to.function),
            from_core: edge.from.core,
            to_core: edge.to.core,
            from: edge.from.index,
            to: edge.to.index,
            kind: edge.kind as u32,
            distance: edge.distance,
            header: edge.header.unwrap_or(DRAM_UNKNOWN),
            reserved: 0,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

fn dependence(edge: &depend::Edge) -> dram_dependence {
    dram_dependence {
        from: edge.from.0,
        to: edge.to.0,
        kind: edge.kind as u32,
        distance: edge.distance(),
        header: edge.header.map_or(DRAM_UNKNOWN, |block| block.0),
        reserved: 0,
    }
}

fn carried(edge: &Dependence) -> dram_dependence {
    dram_dependence {
        from: edge.from.index,
        to: edge.to.index,
        kind: edge.kind as u32,
        distance: edge.distance,
        header: edge.header.unwrap_or(DRAM_UNKNOWN),
        reserved: 0,
    }
}

fn describe(memloc: &MemLocPlan) -> dram_plan_memloc {
    let owner = memloc.owner.as_ref();
    dram_plan_memloc {
        struct_size: 0,
        name: dram_str::of(&memloc.name),
        address: memloc.address.unwrap_or(DRAM_NO_ADDRESS),
        bytes: memloc.bytes,
        aligned: memloc.aligned,
        segment_count: memloc.segments.len(),
        owner_name: owner.map_or(dram_str::EMPTY, |owner| dram_str::of(&owner.name)),
        owner_core: owner.map_or(DRAM_UNKNOWN, |owner| owner.core),
        space: memloc.space as u32,
        skipped: skipped(memloc.skipped) as u32,
        pinned: memloc.pinned.into(),
        is_shared_post_dram_alloc: memloc.shared.into(),
        reserved: 0,
    }
}
