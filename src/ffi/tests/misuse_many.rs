//! The functions of the table that concern many cores and passes, with every handle and pointer
//! that a host may get wrong. // C3, C4

use std::ptr::{null, null_mut};

use super::super::api::dram_api;
use super::super::error::DRAM_UNKNOWN;
use super::super::handle::Handle;
use super::super::module::dram_module;
use super::super::modules::{dram_digest, dram_sync_info};
use super::super::options::dram_options;
use super::super::pipeline::{dram_pipeline_options, hand_out_empty_run};
use super::super::plan::{PlanObject, dram_plan};
use super::super::pressure::dram_live_size;
use super::super::status::dram_status::{self, InvalidArgument};
use super::super::text::dram_str;
use super::misuse::{bad_handles, frees_null_only, refuses, zeroed};
use super::{Host, api, fails, ok, sized};

const LIVE: dram_live_size = dram_live_size {
    input_output: 7,
    weights: 7,
    private_bytes: 7,
    shared: 7,
    collective: 7,
    extra: 7,
    copies: 7,
};

const DIGEST: dram_digest = dram_digest {
    core: 7,
    text: [7; 36],
};

fn refused(what: &str, status: dram_status) {
    assert_eq!(status, InvalidArgument, "{what}");
}

#[test]
fn every_function_refuses_what_means_nothing() {
    let host = Host::new();
    host.memloc("a", 8);
    host.instruction(&[], &[0]);
    let empty = crate::Plan::default();
    let plan = dram_plan::registry().insert(std::sync::Arc::new(PlanObject::new(empty)));
    let e = null_mut();
    let Host {
        program,
        module,
        function,
        ..
    } = host;
    let dram_api {
        module_lnc_split,
        function_elided,
        plan_edge_count,
        plan_edge,
        program_races,
        program_pressure,
        plan_live,
        plan_device_live,
        ..
    } = *api();
    let (mut index, mut size) = (7u32, 7usize);
    let mut report = null_mut();

    // SAFETY: outputs are locals or null, other pointers are null or locals; any handle may be
    // given.
    unsafe {
        refuses("module_lnc_split", |h| module_lnc_split(h, 2, e));
        refused("module_lnc_split", module_lnc_split(module, 0, e));
        refuses("function_elided", |h| {
            function_elided(h, &mut index, 1, &mut size, e)
        });
        assert_eq!((index, size), (7, 0), "an array of results is not touched");
        let elided = function_elided;
        refused("elided", elided(function, null_mut(), 1, &mut size, e));
        refused("elided", elided(function, &mut index, 1, null_mut(), e));
        refuses("plan_edge_count", |h| plan_edge_count(h, &mut size, e));
        refused("plan_edge_count", plan_edge_count(plan, null_mut(), e));
        fails(dram_status::FailedPrecondition, |e| {
            plan_edge_count(plan, &mut size, e)
        });
        refuses("plan_edge", |h| plan_edge(h, 0, &mut sized(), e));
        refused("plan_edge", plan_edge(plan, 0, null_mut(), e));
        zeroed("plan_edge", |out| plan_edge(plan, 0, out, e));
        let races = program_races;
        refuses("races", |h| races(h, plan, null(), &mut report, e));
        refuses("races", |h| races(program, h, null(), &mut report, e));
        refused("races", races(program, plan, null(), null_mut(), e));
        fails(dram_status::FailedPrecondition, |e| {
            races(program, plan, null(), &mut report, e)
        });
        assert!(report.is_null());
        let pressure = program_pressure;
        refuses("pressure", |h| pressure(h, plan, 0, 0, &mut sized(), e));
        refuses("pressure", |h| pressure(program, h, 0, 0, &mut sized(), e));
        refused("pressure", pressure(program, plan, 0, 0, null_mut(), e));
        zeroed("pressure", |out| {
            pressure(program, plan, DRAM_UNKNOWN, 0, out, e)
        });
        fails(dram_status::NotFound, |e| {
            pressure(program, plan, 9, 0, &mut sized(), e)
        });
        let mut live = [LIVE];
        let at = live.as_mut_ptr();
        refuses("plan_live", |h| plan_live(h, function, 0, at, 1, e));
        refuses("plan_live", |h| plan_live(plan, h, 0, at, 1, e));
        assert_eq!((*at).extra, 0, "zeroed on failure");
        refused("live", plan_live(plan, function, 0, null_mut(), 1, e));
        refused("live", plan_live(plan, function, 0, null_mut(), 0, e));
        fails(dram_status::NotFound, |e| {
            plan_live(plan, function, 0, at, 1, e)
        });
        *at = LIVE;
        let device = plan_device_live;
        refuses("device", |h| device(h, function, 0, null(), at, 1, e));
        refuses("device", |h| device(plan, h, 0, null(), at, 1, e));
        assert_eq!((*at).shared, 0, "zeroed on failure");
        refused(
            "device",
            device(plan, function, 0, null(), null_mut(), 1, e),
        );
        refused(
            "device",
            device(plan, function, 0, null(), null_mut(), 0, e),
        );
        fails(dram_status::FailedPrecondition, |e| {
            device(plan, function, 0, null(), at, 1, e)
        });
        assert_eq!((api().plan_free)(plan), dram_status::Ok);
    }
}

#[test]
fn lists_of_modules_refuse_what_means_nothing() {
    let host = Host::new();
    let e = null_mut();
    let dram_api {
        modules_allocate,
        modules_sync_shared_allocations: sync,
        modules_digests,
        digests_check,
        modules_lnc_verify,
        ..
    } = *api();
    let module = host.module;
    let (mut plan, mut report, mut digests) = (null_mut(), null_mut(), [DIGEST; 2]);
    let out = digests.as_mut_ptr();
    // SAFETY: as above.
    unsafe {
        // A bad handle anywhere in the list, a null list, the same module twice.
        refuses("allocate", |h| {
            modules_allocate([module, h].as_ptr(), 2, 0, null(), null(), &mut plan, e)
        });
        refuses("sync", |h| {
            sync([module, h].as_ptr(), 2, null(), null(), null_mut(), e)
        });
        refuses("digests", |h| {
            modules_digests([module, h].as_ptr(), 2, null(), null(), out, e)
        });
        assert_eq!((*out).core, 0, "zeroed on failure");
        refuses("lnc_verify", |h| {
            modules_lnc_verify([h].as_ptr(), 1, null(), null(), &mut report, e)
        });
        for count in [1, usize::MAX] {
            let none: *const *mut dram_module = null();
            refused(
                "allocate",
                modules_allocate(none, count, 0, null(), null(), null_mut(), e),
            );
            refused("sync", sync(none, count, null(), null(), null_mut(), e));
            refused(
                "digests",
                modules_digests(none, count, null(), null(), out, e),
            );
            refused(
                "lnc_verify",
                modules_lnc_verify(none, count, null(), null(), &mut report, e),
            );
            refused("check", digests_check(null(), count, e));
        }
        let one = [module];
        let twice = [module, module];
        let (list, both) = (one.as_ptr(), twice.as_ptr());
        refused(
            "twice",
            modules_allocate(both, 2, 0, null(), null(), null_mut(), e),
        );
        refused("twice", sync(both, 2, null(), null(), null_mut(), e));
        refused("twice", modules_digests(both, 2, null(), null(), out, e));
        refused(
            "space",
            modules_allocate(list, 1, 3, null(), null(), null_mut(), e),
        );
        let odd = dram_options {
            struct_size: 8,
            ..sized()
        };
        refused(
            "options",
            modules_allocate(list, 1, 0, &odd, null(), null_mut(), e),
        );
        refused("options", sync(list, 1, &odd, null(), null_mut(), e));
        zeroed::<dram_sync_info>("sync", |out| sync(list, 1, &odd, null(), out, e));
        refused(
            "digests",
            modules_digests(list, 1, null(), null(), null_mut(), e),
        );
        refused(
            "lnc_verify",
            modules_lnc_verify(list, 1, null(), null(), null_mut(), e),
        );
        refused("check", digests_check(&DIGEST, 1, e));
        assert!(plan.is_null() && report.is_null());
        // No modules agree with each other.
        ok(|e| modules_allocate(null(), 0, 0, null(), null(), null_mut(), e));
        ok(|e| sync(null(), 0, null(), null(), null_mut(), e));
        ok(|e| modules_digests(null(), 0, null(), null(), null_mut(), e));
        ok(|e| digests_check(null(), 0, e));
        ok(|e| modules_lnc_verify(null(), 0, null(), null(), &mut report, e));
        assert_eq!((api().report_free)(report), dram_status::Ok);
    }
}

#[test]
fn pipelines_and_runs_refuse_what_means_nothing() {
    let host = Host::new();
    let e = null_mut();
    let dram_api {
        pipeline_new,
        pipeline_free,
        pipeline_pass_count,
        pipeline_pass_name,
        pipeline_run,
        run_get,
        run_pass,
        run_note,
        run_plan,
        run_free,
        ..
    } = *api();
    let (mut pipeline, mut run, mut plan) = (null_mut(), null_mut(), null_mut());
    let (mut number, mut text) = (7u32, dram_str::of("x"));
    // SAFETY: as above.
    unsafe {
        refused("pipeline_new", pipeline_new(null(), null_mut(), e));
        #[rustfmt::skip]
        let odd: Vec<(&str, dram_pipeline_options)> = vec![
            ("struct_size", dram_pipeline_options { struct_size: 8, ..sized() }),
            ("rotation size", dram_pipeline_options { dram_rotation_size: 9, ..sized() }),
            ("rotation size", dram_pipeline_options { dram_rotation_size: -2, ..sized() }),
            ("post_link", dram_pipeline_options { post_link: 2, ..sized() }),
            ("disable", dram_pipeline_options { disable_dram_allocation: 2, ..sized() }),
            ("rotation", dram_pipeline_options { dram_rotation: 2, ..sized() }),
            ("rotation", dram_pipeline_options { disable_dram_rotation: 2, ..sized() }),
            ("hbm", dram_pipeline_options { disable_hbm_usage_check: 2, ..sized() }),
            ("verify_each", dram_pipeline_options { verify_each: 2, ..sized() }),
            ("reserved", dram_pipeline_options { reserved: 1, ..sized() }),
            ("verify_deep", dram_pipeline_options { verify_deep: 2, ..sized() }),
            ("reserved", dram_pipeline_options { reserved_2: 1, ..sized() }),
        ];
        for (name, options) in odd {
            refused(name, pipeline_new(&options, &mut pipeline, e));
            assert!(pipeline.is_null(), "{name}");
        }
        ok(|e| pipeline_new(null(), &mut pipeline, e));
        refuses("pass_count", |h| pipeline_pass_count(h, &mut number, e));
        assert_eq!(number, 0);
        refused("pass_count", pipeline_pass_count(pipeline, null_mut(), e));
        refuses("pass_name", |h| pipeline_pass_name(h, 0, &mut text, e));
        assert!(text.data.is_null());
        refused("pass_name", pipeline_pass_name(pipeline, 0, null_mut(), e));
        fails(dram_status::OutOfRange, |e| {
            pipeline_pass_name(pipeline, 99, &mut text, e)
        });
        let go = pipeline_run;
        refuses("run", |h| go(h, host.program, null(), null(), &mut run, e));
        refuses("run", |h| go(pipeline, h, null(), null(), &mut run, e));
        let odd = dram_options {
            strategy: 9,
            ..sized()
        };
        refused("run", go(pipeline, host.program, &odd, null(), &mut run, e));
        assert!(run.is_null());
        frees_null_only("pipeline_free", pipeline_free);
        assert_eq!(pipeline_free(pipeline), dram_status::Ok);
        assert_eq!(pipeline_free(pipeline), InvalidArgument);
        refused(
            "stale",
            go(pipeline, host.program, null(), null(), null_mut(), e),
        );

        let run = hand_out_empty_run();
        refuses("run_get", |h| run_get(h, &mut sized(), e));
        refused("run_get", run_get(run, null_mut(), e));
        zeroed("run_get", |out| run_get(null(), out, e));
        refuses("run_pass", |h| run_pass(h, 0, &mut sized(), e));
        refused("run_pass", run_pass(run, 0, null_mut(), e));
        zeroed("run_pass", |out| run_pass(run, 0, out, e));
        fails(dram_status::OutOfRange, |e| {
            run_pass(run, 0, &mut sized(), e)
        });
        refuses("run_note", |h| run_note(h, 0, 0, &mut text, e));
        refused("run_note", run_note(run, 0, 0, null_mut(), e));
        fails(dram_status::OutOfRange, |e| {
            run_note(run, 0, 0, &mut text, e)
        });
        refuses("run_plan", |h| run_plan(h, &mut plan, e));
        refused("run_plan", run_plan(run, null_mut(), e));
        assert!(plan.is_null());
        ok(|e| run_plan(run, &mut plan, e));
        frees_null_only("run_free", run_free);
        assert_eq!(run_free(run), dram_status::Ok);
        assert_eq!(run_free(run), InvalidArgument);
        refused("stale", run_get(run, &mut sized(), e));
        assert_eq!((api().plan_free)(plan), dram_status::Ok, "it stays");
    }
    assert!(!bad_handles::<dram_module>().is_empty());
}

#[test]
fn a_panic_poisons_every_module_of_a_list() {
    use super::super::boundary::{Call, boundary};
    let hosts: Vec<Host> = (0..6).map(|_| Host::new()).collect();
    fails(dram_status::Internal, |error| {
        let body = |call: &mut Call| {
            for host in &hosts {
                call.get(host.module, "modules")?;
            }
            panic!("in the middle")
        };
        // SAFETY: `error` is writable.
        unsafe { boundary(error, body) }
    });
    for host in &hosts {
        // SAFETY: any handle may be given.
        fails(dram_status::FailedPrecondition, |e| unsafe {
            (api().module_clear_placement)(host.module, e)
        });
    }
}
