//! `dram_pipeline`: the named passes, built from switches, run all or nothing. // X
//! `dram_run`: what a run of it did.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::at;
use super::boundary::{Call, boundary};
use super::context::dram_log_level;
use super::error::dram_error;
use super::handle::{Handle, Object, Registry};
use super::options::{self, dram_control, dram_options, flag};
use super::plan::{PlanObject, dram_plan};
use super::program::{dram_program, log_plan};
use super::status::dram_status;
use super::structs::{self, Out, OutStruct, Versioned};
use super::text::dram_str;
use crate::Rotation;
use crate::error::{Error, Result};
use crate::ir::Space;
use crate::pipeline::{PassReport, Pipeline, PipelineOptions};
use crate::planner::space_metrics;

/// A list of passes, ready to run over any program, any number of times. Free it with
/// `dram_pipeline_free`.
///
/// Threads: immutable; any number of threads may run one, nobody may be using it while it is freed.
pub struct dram_pipeline {
    _opaque: (),
}

/// What a run of a pipeline did, owned by whoever received it: free it with `dram_run_free`. It
/// needs neither the pipeline nor the program any more.
///
/// Threads: immutable; any number of threads may read one, nobody may be reading it while it is
/// freed.
pub struct dram_run {
    _opaque: (),
}

static PIPELINES: Registry<dram_pipeline> = Registry::new();
static RUNS: Registry<dram_run> = Registry::new();

impl Handle for dram_pipeline {
    type Object = PipelineObject;
    const NAME: &'static str = "dram_pipeline";
    const TAG: u8 = 0x8a;
    fn registry() -> &'static Registry<dram_pipeline> {
        &PIPELINES
    }
}

impl Handle for dram_run {
    type Object = RunObject;
    const NAME: &'static str = "dram_run";
    const TAG: u8 = 0x8b;
    fn registry() -> &'static Registry<dram_run> {
        &RUNS
    }
}

/// What a `dram_pipeline` handle stands for.
pub(super) struct PipelineObject(Pipeline);

impl Object for PipelineObject {
    fn poison(&self) -> Option<&AtomicBool> {
        None // A run does not change it.
    }
}

/// What a `dram_run` handle stands for.
pub(super) struct RunObject {
    passes: Vec<PassReport>,
    copies_elided: u64,
    rotation: Option<Rotation>,
    plan: Arc<PlanObject>,
}

impl Object for RunObject {
    fn poison(&self) -> Option<&AtomicBool> {
        None
    }
}

/// Registers what a run of no pass did, for tests.
#[cfg(test)]
pub(super) fn hand_out_empty_run() -> *mut dram_run {
    RUNS.insert(Arc::new(RunObject {
        passes: Vec::new(),
        copies_elided: 0,
        rotation: None,
        plan: Arc::new(PlanObject::new(crate::Plan::default())),
    }))
}

/// Which passes a pipeline has, and what they may do. All 0 but `struct_size`: every pass but the
/// splitter and the rotation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_pipeline_options {
    /// Set by the caller: `sizeof(dram_pipeline_options)`.
    pub struct_size: usize,
    /// Bytes per core that only the host knows of, such as descriptors; they count as needed.
    pub extra_bytes: u64,
    /// How far above the floor the rotation may spread locations, in GiB, at most 8. 0: 8; -1: as
    /// far as was used before.
    pub dram_rotation_size: i64,
    /// Split the only module over this many cores first (`lnc_splitter`). 0 or 1: do not.
    pub cores: u32,
    /// 1: the modules are linked: place again, keep nothing but the host's pins. Else 0.
    pub post_link: u32,
    /// 1: without `coloring_allocator_dram` and what only makes sense after it. Else 0.
    pub disable_dram_allocation: u32,
    /// 1: with `address_rotation_dram`. Else 0.
    pub dram_rotation: u32,
    /// 1: without `address_rotation_dram`, whatever `dram_rotation` says. Else 0.
    pub disable_dram_rotation: u32,
    /// 1: a core that needs too much is a note of `hbm_usage`. 0: it is an error.
    pub disable_hbm_usage_check: u32,
    /// 1: the plan is verified after every pass. Else 0.
    pub verify_each: u32,
    /// Must be 0.
    pub reserved: u32,
    /// 1: after the last pass the program is run on its plan, to see whether every read finds what
    /// it should and every two accesses to common bytes are ordered. Else 0.
    pub verify_deep: u32,
    /// Must be 0.
    pub reserved_2: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_pipeline_options {
    const FIRST_SIZE: usize = 56;
}

/// What a run did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_run_info {
    /// Set by the caller: `sizeof(dram_run_info)`.
    pub struct_size: usize,
    /// How many copies were marked as moving bytes onto themselves; `dram_function_elided` lists
    /// them.
    pub copies_elided: u64,
    /// Edges that re-used bytes of the private spaces needed before the rotation, not reduced.
    pub edges_before: u64,
    /// The same after it.
    pub edges_after: u64,
    /// Bytes by which the rotation raised the peaks.
    pub bytes_spent: u64,
    /// How many locations it moved.
    pub moved: u64,
    /// Re-use edges removed per MiB spent, rounded down; `UINT64_MAX` if some were removed for
    /// nothing.
    pub edges_removed_per_mib: u64,
    /// How many passes ran: `dram_run_pass` lists them.
    pub pass_count: u32,
    /// 1 if the rotation was one of them; else 0, and its figures are 0.
    pub rotated: u32,
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_run_info {
    const FIRST_SIZE: usize = 64;
}

/// What one pass of a run did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_pass_info {
    /// Set by the caller: `sizeof(dram_pass_info)`.
    pub struct_size: usize,
    /// Its name, valid for ever.
    pub name: dram_str,
    /// How long it took in nanoseconds, verification excluded.
    pub took_ns: u64,
    /// 1 if the plan so far was verified after it, and nothing was wrong; else 0.
    pub verified: u32,
    /// How many notes `dram_run_note` lists.
    pub note_count: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_pass_info {
    const FIRST_SIZE: usize = 40;
}

/// Builds the list of passes. Free it with `dram_pipeline_free`.
///
/// `options`: null for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_pipeline_new(
    options: *const dram_pipeline_options,
    pipeline_out: *mut *mut dram_pipeline,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameter says.
        let pipeline_out = unsafe { Out::new(pipeline_out, ptr::null_mut(), "pipeline_out")? };
        let choices = match options.is_null() {
            true => PipelineOptions::default(),
            // SAFETY: as this function's parameter says.
            false => choices(&unsafe { structs::read(options, "options")? })?,
        };
        let pipeline = PipelineObject(Pipeline::new(&choices)?);
        pipeline_out.set(PIPELINES.insert(Arc::new(pipeline)));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

fn choices(given: &dram_pipeline_options) -> Result<PipelineOptions> {
    if given.reserved != 0 {
        return Err(Error::invalid("options.reserved", "is not 0"));
    }
    if given.reserved_2 != 0 {
        return Err(Error::invalid("options.reserved_2", "is not 0"));
    }
    Ok(PipelineOptions {
        cores: given.cores,
        post_link: flag("options.post_link", given.post_link)?,
        disable_dram_allocation: flag(
            "options.disable_dram_allocation",
            given.disable_dram_allocation,
        )?,
        dram_rotation: flag("options.dram_rotation", given.dram_rotation)?,
        disable_dram_rotation: flag("options.disable_dram_rotation", given.disable_dram_rotation)?,
        dram_rotation_size: match given.dram_rotation_size {
            0 => PipelineOptions::default().dram_rotation_size,
            gib => gib,
        },
        disable_hbm_usage_check: flag(
            "options.disable_hbm_usage_check",
            given.disable_hbm_usage_check,
        )?,
        extra_bytes: given.extra_bytes,
        verify_each: flag("options.verify_each", given.verify_each)?,
        verify_deep: flag("options.verify_deep", given.verify_deep)?,
    })
}

/// Frees a pipeline; null is fine. What its runs handed out stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_pipeline_free(pipeline: *mut dram_pipeline) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(ptr::null_mut(), |_| super::free(pipeline, "pipeline")) }
}

/// How many passes it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_pipeline_pass_count(
    pipeline: *const dram_pipeline,
    count_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        count_out.set(call.get(pipeline, "pipeline")?.0.passes().len() as u32);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The name of a pass, in the order in which they run; valid for ever. Past the last one
/// `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_pipeline_pass_name(
    pipeline: *const dram_pipeline,
    position: u32,
    name_out: *mut dram_str,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let name_out = unsafe { Out::new(name_out, dram_str::EMPTY, "name_out")? };
        let pipeline = call.get(pipeline, "pipeline")?;
        let pass = at(pipeline.0.passes(), position.into(), "pass")?;
        name_out.set(dram_str::of(pass.name()));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Runs the passes over a program and writes what they decided into it, all or nothing: modules (if
/// it is split), addresses, marks of elided copies. What earlier runs placed is forgotten.
///
/// `options`, `control`: null for the defaults; the passes' names are the phases of the progress.
/// `run_out`: null, or receives what the run did; free it with `dram_run_free`. The run works on
/// the program as it was when the call began; a change of it meanwhile makes the call fail with
/// `DRAM_STATUS_FAILED_PRECONDITION`.
///
/// Once the cancel flag is set the run ends within 10 ms (an eighth of a second with a million
/// locations, to free what it had) with `DRAM_STATUS_CANCELLED`, in whatever pass it is, and also
/// if everything has a place already; who wants the best placement in a given time sets
/// `budget_ms`, which ends what places and nothing that comes after.
///
/// A failure names the pass, in the sentence and in `dram_error_info`, and changes nothing. No
/// placement: as for `dram_program_plan`; a core that needs more than it has:
/// `DRAM_STATUS_RESOURCE_EXHAUSTED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_pipeline_run(
    pipeline: *const dram_pipeline,
    program: *mut dram_program,
    options: *const dram_options,
    control: *const dram_control,
    run_out: *mut *mut dram_run,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let run_out = unsafe { Out::optional(run_out, ptr::null_mut(), "run_out")? };
        let pipeline = call.get(pipeline, "pipeline")?;
        let program = call.get(program, "program")?;
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let seen = program.seen();
        let outcome = watch.run(&options, |control| {
            pipeline.0.decide(&seen.value, &options, control)
        })?;
        let mut report = None;
        let mut figures = Vec::new();
        seen.change(|program| {
            let stored = outcome.store(program);
            let modules = program.modules().iter().enumerate();
            let of = |(m, module)| space_metrics(&stored.plan, m, module, Space::Local);
            figures = modules.map(of).collect();
            report = Some(stored);
        })?;
        let report = report.expect("it was stored");
        for (m, metrics) in figures.into_iter().enumerate() {
            program.set_module_metrics(m, metrics);
        }
        for note in report.notes() {
            let note = || note.to_owned();
            program.context.log(dram_log_level::Warning, note);
        }
        log_plan(
            &program.context,
            &program.read(|p| p.name.clone()),
            &report.plan,
        );
        if let Some(run_out) = run_out {
            run_out.set(RUNS.insert(Arc::new(RunObject {
                passes: report.passes,
                copies_elided: report.copies_elided,
                rotation: report.rotation,
                plan: Arc::new(PlanObject::new(report.plan)),
            })));
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a run did.
///
/// `info_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_run_get(
    run: *const dram_run,
    info_out: *mut dram_run_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::new(info_out, "info_out")? };
        let run = call.get(run, "run")?;
        let rotation = run.rotation.unwrap_or_default();
        info_out.set(dram_run_info {
            struct_size: 0,
            copies_elided: run.copies_elided,
            edges_before: rotation.edges_before,
            edges_after: rotation.edges_after,
            bytes_spent: rotation.bytes_spent,
            moved: rotation.moved,
            edges_removed_per_mib: rotation.edges_removed_per_mib(),
            pass_count: run.passes.len() as u32,
            rotated: run.rotation.is_some().into(),
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a pass did, in the order in which they ran. Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `pass_out`: set its `struct_size`, the call fills the rest; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_run_pass(
    run: *const dram_run,
    position: u32,
    pass_out: *mut dram_pass_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let pass_out = unsafe { OutStruct::new(pass_out, "pass_out")? };
        let run = call.get(run, "run")?;
        let pass = at(&run.passes, position.into(), "pass")?;
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        pass_out.set(dram_pass_info {
            struct_size: 0,
            name: dram_str::of(pass.pass.name()),
            took_ns: nanos(pass.took),
            verified: pass.verified.into(),
            note_count: pass.notes.len() as u32,
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a person should know of a pass: candidates that nothing has placed, conflicts between cores,
/// a core that needs too much. Borrowed until the run is freed. Past the last pass or note
/// `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_run_note(
    run: *const dram_run,
    pass: u32,
    position: u32,
    note_out: *mut dram_str,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let note_out = unsafe { Out::new(note_out, dram_str::EMPTY, "note_out")? };
        let run = call.get(run, "run")?;
        let pass = at(&run.passes, pass.into(), "pass")?;
        note_out.set(dram_str::of(at(&pass.notes, position.into(), "note")?));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The plan that the run has written into the program, with the dependences of all functions. Each
/// call makes a handle of its own, which stays when the run is freed: free it with
/// `dram_plan_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_run_plan(
    run: *const dram_run,
    plan_out: *mut *mut dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let plan_out = unsafe { Out::new(plan_out, ptr::null_mut(), "plan_out")? };
        let run = call.get(run, "run")?;
        plan_out.set(dram_plan::registry().insert(Arc::clone(&run.plan)));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees what a run did; null is fine. The text borrowed from it goes with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_run_free(run: *mut dram_run) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(ptr::null_mut(), |_| super::free(run, "run")) }
}
