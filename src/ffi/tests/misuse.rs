//! Every function of the table with every handle and pointer that a host may get wrong. // C3, C4
//!
//! The destructuring below names each field of the table, so a function that is appended and not
//! tried here does not compile.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};

use super::super::api::{dram_abi_version, dram_api, dram_get_api};
use super::super::cancel::dram_cancel;
use super::super::handle::Handle;
use super::super::options::{dram_control, dram_options, dram_region};
use super::super::plan::{PlanObject, dram_dependence, dram_segment};
use super::super::problem::{dram_interval, dram_problem};
use super::super::report::dram_verify_options;
use super::super::status::dram_status::{self, InvalidArgument};
use super::super::structs::Versioned;
use super::super::text::dram_str;
use super::{Host, api, fails, ok, sized};

/// Handles of one kind that mean nothing: null, small numbers, plausible addresses, a stale
/// handle, one of another kind, one whose slot does not exist.
pub(super) fn bad_handles<H: Handle>() -> Vec<*mut H> {
    let mut stale = null_mut();
    let mut other = null_mut();
    // SAFETY: the outputs are locals; any handle may be given.
    unsafe {
        ok(|e| (api().cancel_new)(&mut stale, e));
        ok(|e| (api().context_new)(&mut other, e));
        assert_eq!((api().cancel_free)(stale), dram_status::Ok);
        assert_eq!((api().context_free)(other), dram_status::Ok);
    }
    let of_kind = |rest: usize| usize::from(H::TAG) << 56 | rest;
    [
        0,
        1,
        8,
        0x7fff_dead_beef,
        usize::MAX,
        stale.addr(),
        other.addr(),
        of_kind(0),
        of_kind(0xffff_ffff),
        of_kind(0xff_ffff << 32),
        of_kind(1 << 32 | 0xffff_fff0),
    ]
    .map(without_provenance_mut)
    .to_vec()
}

/// The call must refuse every bad handle, and say so without crashing.
pub(super) fn refuses<H: Handle>(name: &str, mut call: impl FnMut(*mut H) -> dram_status) {
    for (i, bad) in bad_handles::<H>().into_iter().enumerate() {
        assert_eq!(call(bad), InvalidArgument, "{name}: bad handle {i}");
    }
}

/// Frees nothing but null.
pub(super) fn frees_null_only<H: Handle>(
    name: &str,
    free: unsafe extern "C" fn(*mut H) -> dram_status,
) {
    for (i, bad) in bad_handles::<H>().into_iter().enumerate() {
        let want = if bad.is_null() {
            dram_status::Ok
        } else {
            InvalidArgument
        };
        // SAFETY: any handle may be given.
        assert_eq!(unsafe { free(bad) }, want, "{name}: bad handle {i}");
    }
}

/// A struct output that must be all 0 after the call but for its size.
pub(super) fn zeroed<T: Versioned>(name: &str, call: impl FnOnce(*mut T) -> dram_status) {
    let mut value: T = sized();
    let (bytes, head) = (size_of::<T>(), size_of::<usize>());
    let start = (&raw mut value).cast::<u8>();
    // SAFETY: inside the value.
    unsafe { start.add(head).write_bytes(0xaa, bytes - head) };
    assert_ne!(call(&mut value), dram_status::Ok, "{name}");
    // SAFETY: as above.
    let tail = unsafe { std::slice::from_raw_parts(start.add(head), bytes - head) };
    assert!(
        tail.iter().all(|&byte| byte == 0),
        "{name}: output not zeroed"
    );
}

unsafe extern "C" fn swallow(_: *mut c_void, _: *const c_char, _: usize) -> i32 {
    0
}

unsafe extern "C" fn take(_: *mut c_void, _: *const dram_dependence, _: usize) {}

#[test]
fn every_function_refuses_what_means_nothing() {
    let host = Host::new();
    host.memloc("a", 8);
    let plan = super::super::plan::dram_plan::registry()
        .insert(std::sync::Arc::new(PlanObject::new(crate::Plan::default())));
    let (none, name) = (dram_str::EMPTY, dram_str::of("x"));
    let no_text = dram_str {
        data: null(),
        len: 1,
    };
    let e = null_mut();
    let Host {
        context,
        program,
        module,
        function,
        ..
    } = host;
    let dram_api {
        struct_size,
        abi_major: _,
        abi_minor: _,
        version,
        error_code,
        error_message,
        error_get,
        error_no_room,
        error_holder,
        error_free,
        context_new,
        context_free,
        context_set_log,
        cancel_new,
        cancel_free,
        cancel_set,
        cancel_is_set,
        program_new,
        program_from_json,
        program_to_json,
        program_free,
        program_add_module,
        program_module_count,
        program_module,
        program_find_module,
        program_plan,
        program_apply,
        program_verify,
        program_hbm_usage,
        module_get,
        module_add_function,
        module_function,
        module_find_function,
        module_allocate,
        module_clear_placement,
        module_attribute,
        module_metric,
        module_metric_named,
        function_get,
        function_reserve,
        function_add_block,
        function_set_successors,
        function_address,
        function_addresses,
        function_cookies,
        function_add_memloc,
        function_add_memlocs,
        function_find_memloc,
        function_memloc,
        function_memloc_name,
        function_add_instruction,
        function_add_instructions,
        plan_from_json,
        plan_to_json,
        plan_free,
        plan_get,
        plan_space,
        plan_note,
        plan_metric,
        plan_addresses,
        plan_memloc_get,
        plan_segments,
        plan_load,
        plan_dependences,
        report_count,
        report_violation,
        report_location,
        report_free,
        problem_solve,
        problem_solve_simple,
        interval_tree_new,
        interval_tree_overlaps,
        interval_tree_overlaps_with_interval,
        interval_tree_free,
        plan_straddler,
        program_verify_with,
        report_note,
        // In `misuse_many`.
        module_lnc_split: _,
        function_elided: _,
        plan_edge_count: _,
        plan_edge: _,
        program_races: _,
        program_pressure: _,
        plan_live: _,
        plan_device_live: _,
        modules_allocate: _,
        modules_sync_shared_allocations: _,
        modules_digests: _,
        digests_check: _,
        modules_lnc_verify: _,
        pipeline_new: _,
        pipeline_free: _,
        pipeline_pass_count: _,
        pipeline_pass_name: _,
        pipeline_run: _,
        run_get: _,
        run_pass: _,
        run_note: _,
        run_plan: _,
        run_free: _,
        error_conflict,
        // In `reports`.
        plan_explain: _,
        plan_diff: _,
        plan_draw,
    } = *api();
    let mut number = 0u32;
    let mut long = 0u64;
    let mut size = 0usize;
    let mut text = name;
    let refused = |what: &str, status: dram_status| assert_eq!(status, InvalidArgument, "{what}");

    // SAFETY: outputs are locals or null, other pointers are null, locals or static; any handle
    // may be given.
    unsafe {
        // Versions.
        assert_eq!(struct_size, size_of::<dram_api>());
        assert_eq!(
            CStr::from_ptr(version()).to_str(),
            Ok(env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(dram_abi_version(), api().abi_major << 16 | api().abi_minor);
        assert!(dram_get_api(api().abi_major + 1).is_null());
        assert!(dram_get_api(u32::MAX).is_null());

        // Errors.
        refuses("error_code", |h| error_code(h));
        refuses("error_get", |h| error_get(h, &mut sized()));
        refuses("error_no_room", |h| error_no_room(h, &mut sized()));
        refuses("error_holder", |h| error_holder(h, 0, &mut sized()));
        refuses("error_conflict", |h| error_conflict(h, 0, &mut sized()));
        frees_null_only("error_free", error_free);
        for bad in bad_handles() {
            assert!(
                CStr::from_ptr(error_message(bad))
                    .to_str()
                    .unwrap()
                    .contains("not a")
            );
        }
        zeroed("error_get", |out| error_get(null(), out));
        zeroed("error_no_room", |out| error_no_room(null(), out));
        zeroed("error_holder", |out| error_holder(null(), 0, out));
        zeroed("error_conflict", |out| error_conflict(null(), 0, out));
        refused("error_get", error_get(null(), null_mut()));
        refused("error_no_room", error_no_room(null(), null_mut()));
        refused("error_holder", error_holder(null(), 0, null_mut()));
        refused("error_conflict", error_conflict(null(), 0, null_mut()));

        // Contexts.
        refused("context_new", context_new(null_mut(), e));
        frees_null_only("context_free", context_free);
        refuses("context_set_log", |h| {
            context_set_log(h, None, null_mut(), 0, e)
        });
        refused(
            "context_set_log",
            context_set_log(context, None, null_mut(), 3, e),
        );

        // Cancel flags.
        refused("cancel_new", cancel_new(null_mut(), e));
        frees_null_only("cancel_free", cancel_free);
        refuses("cancel_set", |h| cancel_set(h, e));
        refuses("cancel_is_set", |h| cancel_is_set(h, &mut number, e));
        refused("cancel_is_set", cancel_is_set(null(), null_mut(), e));

        // Programs.
        let mut made = null_mut();
        refuses("program_new", |h| program_new(h, name, &mut made, e));
        refused("program_new", program_new(context, no_text, &mut made, e));
        refused("program_new", program_new(context, name, null_mut(), e));
        refuses("program_from_json", |h| {
            program_from_json(h, null(), 0, &mut made, e)
        });
        refused(
            "program_from_json",
            program_from_json(context, null(), 1, &mut made, e),
        );
        refused(
            "program_from_json",
            program_from_json(context, null(), 0, null_mut(), e),
        );
        refuses("program_to_json", |h| {
            program_to_json(h, Some(swallow), null_mut(), e)
        });
        refused(
            "program_to_json",
            program_to_json(program, None, null_mut(), e),
        );
        frees_null_only("program_free", program_free);
        let mut child = null_mut();
        refuses("program_add_module", |h| {
            program_add_module(h, name, 5, &mut child, e)
        });
        refused(
            "program_add_module",
            program_add_module(program, no_text, 5, &mut child, e),
        );
        refused(
            "program_add_module",
            program_add_module(program, name, 5, null_mut(), e),
        );
        refuses("program_module_count", |h| {
            program_module_count(h, &mut number, e)
        });
        refused(
            "program_module_count",
            program_module_count(program, null_mut(), e),
        );
        refuses("program_module", |h| program_module(h, 0, &mut child, e));
        refused("program_module", program_module(program, 0, null_mut(), e));
        fails(dram_status::OutOfRange, |e| {
            program_module(program, 1, &mut child, e)
        });
        refuses("program_find_module", |h| {
            program_find_module(h, 0, &mut child, e)
        });
        refused(
            "program_find_module",
            program_find_module(program, 0, null_mut(), e),
        );
        let mut planned = null_mut();
        refuses("program_plan", |h| {
            program_plan(h, null(), null(), &mut planned, e)
        });
        refused(
            "program_plan",
            program_plan(program, null(), null(), null_mut(), e),
        );
        let mut report = null_mut();
        refuses("program_apply", |h| program_apply(h, plan, e));
        refuses("program_apply", |h| program_apply(program, h, e));
        fails(dram_status::FailedPrecondition, |e| {
            program_apply(program, plan, e)
        });
        let usage = program_hbm_usage;
        refuses("program_hbm_usage", |h| {
            usage(h, plan, 0, 0, &mut sized(), e)
        });
        refuses("program_hbm_usage", |h| {
            usage(program, h, 0, 0, &mut sized(), e)
        });
        refused(
            "program_hbm_usage",
            usage(program, plan, 0, 0, null_mut(), e),
        );
        zeroed("program_hbm_usage", |out| {
            usage(program, plan, 0, 0, out, e)
        });
        fails(dram_status::NotFound, |e| {
            usage(program, plan, 1, 0, &mut sized(), e)
        });
        refuses("program_verify", |h| {
            program_verify(h, plan, &mut report, e)
        });
        refuses("program_verify", |h| {
            program_verify(program, h, &mut report, e)
        });
        refused(
            "program_verify",
            program_verify(program, plan, null_mut(), e),
        );
        let deeply: dram_verify_options = sized();
        refuses("program_verify_with", |h| {
            program_verify_with(h, plan, &deeply, &mut report, e)
        });
        refuses("program_verify_with", |h| {
            program_verify_with(program, h, null(), &mut report, e)
        });
        refused(
            "program_verify_with",
            program_verify_with(program, plan, null(), null_mut(), e),
        );
        let short = dram_verify_options {
            struct_size: 1,
            ..deeply
        };
        refused(
            "program_verify_with",
            program_verify_with(program, plan, &short, &mut report, e),
        );
        refuses("report_note", |h| report_note(h, 0, &mut text, e));
        assert!(made.is_null() && child.is_null() && planned.is_null() && report.is_null());

        // Modules.
        let mut made = null_mut();
        refuses("module_get", |h| module_get(h, &mut sized(), e));
        zeroed("module_get", |out| module_get(null(), out, e));
        refused("module_get", module_get(module, null_mut(), e));
        refuses("module_add_function", |h| {
            module_add_function(h, name, &mut made, e)
        });
        refused(
            "module_add_function",
            module_add_function(module, no_text, &mut made, e),
        );
        refused(
            "module_add_function",
            module_add_function(module, name, null_mut(), e),
        );
        refuses("module_function", |h| module_function(h, 0, &mut made, e));
        refused("module_function", module_function(module, 0, null_mut(), e));
        fails(dram_status::OutOfRange, |e| {
            module_function(module, 1, &mut made, e)
        });
        refuses("module_find_function", |h| {
            module_find_function(h, name, &mut made, e)
        });
        refused(
            "module_find_function",
            module_find_function(module, no_text, &mut made, e),
        );
        refused(
            "module_find_function",
            module_find_function(module, name, null_mut(), e),
        );
        fails(dram_status::NotFound, |e| {
            module_find_function(module, name, &mut made, e)
        });
        refuses("module_allocate", |h| {
            module_allocate(h, null(), null(), null_mut(), e)
        });
        refuses("module_clear_placement", |h| module_clear_placement(h, e));
        refuses("module_attribute", |h| {
            module_attribute(h, 11, &mut long, e)
        });
        refused(
            "module_attribute",
            module_attribute(module, 11, null_mut(), e),
        );
        fails(dram_status::NotFound, |e| {
            module_attribute(module, 12, &mut long, e)
        });
        fails(dram_status::FailedPrecondition, |e| {
            module_attribute(module, 13, &mut long, e)
        });
        refuses("module_metric", |h| module_metric(h, 31, &mut long, e));
        refused("module_metric", module_metric(module, 31, null_mut(), e));
        fails(dram_status::NotFound, |e| {
            module_metric(module, 13, &mut long, e)
        });
        fails(dram_status::FailedPrecondition, |e| {
            module_metric(module, 31, &mut long, e)
        });
        refuses("module_metric_named", |h| {
            module_metric_named(h, name, &mut long, e)
        });
        refused(
            "module_metric_named",
            module_metric_named(module, no_text, &mut long, e),
        );
        refused(
            "module_metric_named",
            module_metric_named(module, name, null_mut(), e),
        );
        assert!(made.is_null());

        // Functions.
        refuses("function_get", |h| function_get(h, &mut sized(), e));
        zeroed("function_get", |out| function_get(null(), out, e));
        refused("function_get", function_get(function, null_mut(), e));
        refuses("function_reserve", |h| function_reserve(h, 1, 1, e));
        refused(
            "function_reserve",
            function_reserve(function, usize::MAX, 1, e),
        );
        refused(
            "function_reserve",
            function_reserve(function, 1, usize::MAX, e),
        );
        refuses("function_add_block", |h| {
            function_add_block(h, none, &mut number, e)
        });
        refused(
            "function_add_block",
            function_add_block(function, no_text, &mut number, e),
        );
        refused(
            "function_add_block",
            function_add_block(function, none, null_mut(), e),
        );
        refuses("function_set_successors", |h| {
            function_set_successors(h, 0, null(), 0, e)
        });
        refused(
            "function_set_successors",
            function_set_successors(function, 0, null(), 1, e),
        );
        refuses("function_address", |h| function_address(h, 0, &mut long, e));
        assert_eq!(long, u64::MAX, "the failure value of an address");
        refused(
            "function_address",
            function_address(function, 0, null_mut(), e),
        );
        fails(dram_status::OutOfRange, |e| {
            function_address(function, 1, &mut long, e)
        });
        fails(dram_status::FailedPrecondition, |e| {
            function_address(function, 0, &mut long, e)
        });
        refuses("function_addresses", |h| {
            function_addresses(h, &mut long, 1, e)
        });
        refused(
            "function_addresses",
            function_addresses(function, null_mut(), 1, e),
        );
        refused(
            "function_addresses",
            function_addresses(function, null_mut(), 0, e),
        );
        refuses("function_cookies", |h| function_cookies(h, &mut long, 1, e));
        assert_eq!(long, 0, "the failure value of a cookie");
        refused(
            "function_cookies",
            function_cookies(function, null_mut(), 1, e),
        );
        refused(
            "function_cookies",
            function_cookies(function, null_mut(), 0, e),
        );

        // Locations.
        refuses("function_add_memloc", |h| {
            function_add_memloc(h, &sized(), &mut number, e)
        });
        refused(
            "function_add_memloc",
            function_add_memloc(function, null(), &mut number, e),
        );
        refused(
            "function_add_memloc",
            function_add_memloc(function, &sized(), null_mut(), e),
        );
        refuses("function_add_memlocs", |h| {
            function_add_memlocs(h, null(), 0, &mut number, e)
        });
        refused(
            "function_add_memlocs",
            function_add_memlocs(function, null(), 1, &mut number, e),
        );
        let most = usize::MAX;
        let all = function_add_memlocs(function, &sized(), most, &mut number, e);
        refused("function_add_memlocs", all);
        refused(
            "function_add_memlocs",
            function_add_memlocs(function, null(), 0, null_mut(), e),
        );
        refuses("function_find_memloc", |h| {
            function_find_memloc(h, name, &mut number, e)
        });
        refused(
            "function_find_memloc",
            function_find_memloc(function, no_text, &mut number, e),
        );
        refused(
            "function_find_memloc",
            function_find_memloc(function, name, null_mut(), e),
        );
        fails(dram_status::NotFound, |e| {
            function_find_memloc(function, name, &mut number, e)
        });
        refuses("function_memloc", |h| {
            function_memloc(h, 0, &mut sized(), e)
        });
        zeroed("function_memloc", |out| {
            function_memloc(function, 1, out, e)
        });
        refused(
            "function_memloc",
            function_memloc(function, 0, null_mut(), e),
        );
        refuses("function_memloc_name", |h| {
            function_memloc_name(h, 0, Some(swallow), null_mut(), e)
        });
        refused(
            "function_memloc_name",
            function_memloc_name(function, 0, None, null_mut(), e),
        );
        fails(dram_status::OutOfRange, |e| {
            function_memloc_name(function, 1, Some(swallow), null_mut(), e)
        });

        // Instructions.
        let add = function_add_instruction;
        refuses("function_add_instruction", |h| {
            add(h, &sized(), &mut number, e)
        });
        refused(
            "function_add_instruction",
            add(function, null(), &mut number, e),
        );
        refused(
            "function_add_instruction",
            add(function, &sized(), null_mut(), e),
        );
        let add = function_add_instructions;
        refuses("function_add_instructions", |h| {
            add(h, &sized(), &mut number, e)
        });
        refused(
            "function_add_instructions",
            add(function, null(), &mut number, e),
        );
        refused(
            "function_add_instructions",
            add(function, &sized(), null_mut(), e),
        );

        // Plans.
        let mut made = null_mut();
        refused("plan_from_json", plan_from_json(null(), 1, &mut made, e));
        refused("plan_from_json", plan_from_json(null(), 0, null_mut(), e));
        assert!(made.is_null());
        refuses("plan_to_json", |h| {
            plan_to_json(h, Some(swallow), null_mut(), e)
        });
        refused("plan_to_json", plan_to_json(plan, None, null_mut(), e));
        refuses("plan_draw", |h| {
            plan_draw(h, plan, null(), Some(swallow), null_mut(), e)
        });
        refuses("plan_draw", |h| {
            plan_draw(program, h, null(), Some(swallow), null_mut(), e)
        });
        frees_null_only("plan_free", plan_free);
        refuses("plan_get", |h| plan_get(h, &mut sized(), e));
        zeroed("plan_get", |out| plan_get(null(), out, e));
        refused("plan_get", plan_get(plan, null_mut(), e));
        refuses("plan_space", |h| plan_space(h, 0, &mut sized(), e));
        zeroed("plan_space", |out| plan_space(plan, 0, out, e));
        refused("plan_space", plan_space(plan, 0, null_mut(), e));
        refuses("plan_note", |h| plan_note(h, 0, &mut text, e));
        assert!(text.data.is_null() && text.len == 0);
        refused("plan_note", plan_note(plan, 0, null_mut(), e));
        refuses("plan_straddler", |h| plan_straddler(h, 0, &mut sized(), e));
        zeroed("plan_straddler", |out| plan_straddler(plan, 0, out, e));
        refused("plan_straddler", plan_straddler(plan, 0, null_mut(), e));
        refuses("plan_metric", |h| plan_metric(h, name, &mut long, e));
        refused("plan_metric", plan_metric(plan, no_text, &mut long, e));
        refused("plan_metric", plan_metric(plan, name, null_mut(), e));
        fails(dram_status::NotFound, |e| {
            plan_metric(plan, name, &mut long, e)
        });
        refuses("plan_addresses", |h| {
            plan_addresses(h, function, &mut long, 1, e)
        });
        refuses("plan_addresses", |h| {
            plan_addresses(plan, h, &mut long, 1, e)
        });
        assert_eq!(long, u64::MAX);
        refused(
            "plan_addresses",
            plan_addresses(plan, function, null_mut(), 1, e),
        );
        fails(dram_status::NotFound, |e| {
            plan_addresses(plan, function, &mut long, 1, e)
        });
        refuses("plan_memloc_get", |h| {
            plan_memloc_get(h, function, 0, &mut sized(), e)
        });
        refuses("plan_memloc_get", |h| {
            plan_memloc_get(plan, h, 0, &mut sized(), e)
        });
        zeroed("plan_memloc_get", |out| {
            plan_memloc_get(plan, function, 0, out, e)
        });
        refused(
            "plan_memloc_get",
            plan_memloc_get(plan, function, 0, null_mut(), e),
        );
        let mut segment = dram_segment { first: 0, last: 0 };
        refuses("plan_segments", |h| {
            plan_segments(h, function, 0, &mut segment, 1, &mut size, e)
        });
        refuses("plan_segments", |h| {
            plan_segments(plan, h, 0, &mut segment, 1, &mut size, e)
        });
        refused(
            "plan_segments",
            plan_segments(plan, function, 0, null_mut(), 1, &mut size, e),
        );
        refused(
            "plan_segments",
            plan_segments(plan, function, 0, null_mut(), 0, null_mut(), e),
        );

        refuses("plan_load", |h| plan_load(h, function, &mut long, 1, e));
        refuses("plan_load", |h| plan_load(plan, h, &mut long, 1, e));
        assert_eq!(long, 0);
        refused("plan_load", plan_load(plan, function, null_mut(), 1, e));
        let edges = plan_dependences;
        refuses("plan_dependences", |h| {
            edges(h, function, Some(take), null_mut(), e)
        });
        refuses("plan_dependences", |h| {
            edges(plan, h, Some(take), null_mut(), e)
        });
        refused(
            "plan_dependences",
            edges(plan, function, None, null_mut(), e),
        );

        // Reports.
        let report = super::super::report::hand_out(Vec::new(), Vec::new());
        refuses("report_count", |h| report_count(h, &mut number, e));
        refused("report_count", report_count(report, null_mut(), e));
        refuses("report_violation", |h| {
            report_violation(h, 0, &mut sized(), e)
        });
        zeroed("report_violation", |out| {
            report_violation(report, 0, out, e)
        });
        refused(
            "report_violation",
            report_violation(report, 0, null_mut(), e),
        );
        refuses("report_location", |h| {
            report_location(h, 0, 0, &mut text, e)
        });
        refused(
            "report_location",
            report_location(report, 0, 0, null_mut(), e),
        );
        fails(dram_status::OutOfRange, |e| {
            report_location(report, 0, 0, &mut text, e)
        });
        frees_null_only("report_free", report_free);
        assert_eq!(report_free(report), dram_status::Ok);
        assert_eq!(report_free(report), InvalidArgument);

        // Problems.
        let (solve, simple) = (problem_solve, problem_solve_simple);
        refused(
            "problem_solve",
            solve(null(), null(), null(), null_mut(), null_mut(), e),
        );
        for (name, problem) in odd_problems() {
            let mut offset = 0;
            let status = solve(&problem, null(), null(), &mut offset, null_mut(), e);
            refused(name, status);
        }
        refused(
            "simple",
            simple(null(), null(), null(), 1, 0, &mut long, null_mut(), e),
        );
        refused(
            "simple",
            simple(&0, &1, &1, 1, 0, null_mut(), null_mut(), e),
        );
        refused(
            "simple",
            simple(&0, &1, &1, most, 0, &mut long, null_mut(), e),
        );
        zeroed("simple", |out| {
            simple(&0, null(), &1, 1, 0, &mut long, out, e)
        });
        assert_eq!(long, u64::MAX);

        // Interval trees.
        let mut tree = null_mut();
        refused(
            "interval_tree_new",
            interval_tree_new(null(), null(), 1, &mut tree, e),
        );
        refused(
            "interval_tree_new",
            interval_tree_new(&1, &0, 1, &mut tree, e),
        );
        refused(
            "interval_tree_new",
            interval_tree_new(null(), null(), 0, null_mut(), e),
        );
        let query = interval_tree_overlaps;
        refuses("interval_tree_overlaps", |h| {
            query(h, 0, null_mut(), 0, &mut size, e)
        });
        ok(|e| interval_tree_new(&0, &0, 1, &mut tree, e));
        refused(
            "interval_tree_overlaps",
            query(tree, 0, null_mut(), 1, &mut size, e),
        );
        refused(
            "interval_tree_overlaps",
            query(tree, 0, null_mut(), 0, null_mut(), e),
        );
        fails(dram_status::OutOfRange, |e| {
            query(tree, 1, null_mut(), 0, &mut size, e)
        });
        let query = interval_tree_overlaps_with_interval;
        refuses("overlaps_with_interval", |h| {
            query(h, 0, 0, null_mut(), 0, &mut size, e)
        });
        refused(
            "overlaps_with_interval",
            query(tree, 0, 0, null_mut(), 1, &mut size, e),
        );
        refused(
            "overlaps_with_interval",
            query(tree, 0, 0, null_mut(), 0, null_mut(), e),
        );
        frees_null_only("interval_tree_free", interval_tree_free);
        assert_eq!(interval_tree_free(tree), dram_status::Ok);
        assert_eq!(interval_tree_free(tree), InvalidArgument);

        assert_eq!(plan_free(plan), dram_status::Ok);
        assert_eq!(plan_free(plan), InvalidArgument);
    }
}

/// Problems of one buffer that are refused before anything that is not there is read.
fn odd_problems() -> Vec<(&'static str, dram_problem)> {
    const ONE: [u64; 1] = [1];
    const LIFE: [dram_interval; 1] = [dram_interval { lower: 0, upper: 1 }];
    const SHARED: [dram_region; 1] = [dram_region {
        base: 0,
        size: 8,
        space: 1,
        usage_mask: 0,
    }];
    let base = || dram_problem {
        count: 1,
        intervals: const { &LIFE }.as_ptr(),
        sizes: const { &ONE }.as_ptr(),
        ..sized()
    };
    let label = const {
        &[dram_str {
            data: null(),
            len: 1,
        }]
    };
    #[rustfmt::skip]
    let problems = vec![
        ("no sizes", dram_problem { sizes: null(), ..base() }),
        ("no lives", dram_problem { intervals: null(), ..base() }),
        ("falling", dram_problem { starts: const { &[1u32, 0] }.as_ptr(), ..base() }),
        ("late", dram_problem { starts: const { &[1u32, 1] }.as_ptr(), ..base() }),
        ("regions", dram_problem { region_count: 1, ..base() }),
        ("space", dram_problem { regions: const { &SHARED }.as_ptr(), region_count: 1, ..base() }),
        ("labels", dram_problem { labels: label.as_ptr(), ..base() }),
        ("count", dram_problem { count: usize::MAX, ..base() }),
        ("struct_size", dram_problem { struct_size: 0, ..base() }),
    ];
    problems
}

#[test]
fn odd_options_are_refused() {
    let host = Host::new();
    #[rustfmt::skip]
    let options: Vec<(&str, dram_options)> = vec![
        ("struct_size", dram_options { struct_size: 8, ..sized() }),
        ("strategy", dram_options { strategy: 3, ..sized() }),
        ("preset", dram_options { preset: 6, ..sized() }),
        ("floor", dram_options { floor: 2, ..sized() }),
        ("geometry", dram_options { geometry: 2, ..sized() }),
        ("packed", dram_options { packed: 2, ..sized() }),
        ("reuse_io", dram_options { reuse_io: 2, ..sized() }),
        ("strict", dram_options { strict: 2, ..sized() }),
        ("trim_cc", dram_options { trim_cc: 2, ..sized() }),
        ("align", dram_options { align: 3, ..sized() }),
        ("cc_limit", dram_options { cc_limit: -3, ..sized() }),
        ("usage_mask", dram_options { usage_mask: 64, ..sized() }),
        ("separate_functions", dram_options { separate_functions: 2, ..sized() }),
        ("regions", dram_options { region_count: 1, ..sized() }),
    ];
    for (name, options) in options {
        let mut plan = null_mut();
        // SAFETY: refused before anything that is not there is read.
        let said = fails(InvalidArgument, |e| unsafe {
            (api().program_plan)(host.program, &options, null(), &mut plan, e)
        });
        assert!(plan.is_null(), "{name}: {said}");
    }
    for cancel in bad_handles::<dram_cancel>() {
        let control = dram_control { cancel, ..sized() };
        if cancel.is_null() {
            continue; // Nothing to stop it with, which is fine.
        }
        // SAFETY: the structs are locals.
        fails(InvalidArgument, |e| unsafe {
            (api().module_allocate)(host.module, null(), &control, null_mut(), e)
        });
    }
}

#[test]
fn a_misaligned_output_is_refused_and_not_written() {
    let host = Host::new();
    let mut words = [7u64; 2];
    let odd = words.as_mut_ptr().cast::<u8>().wrapping_add(1);
    // SAFETY: refused before it is written.
    unsafe {
        let count = api().program_module_count;
        fails(InvalidArgument, |e| count(host.program, odd.cast(), e));
        let get = api().function_get;
        fails(InvalidArgument, |e| get(host.function, odd.cast(), e));
    }
    assert_eq!(words, [7; 2]);
}
