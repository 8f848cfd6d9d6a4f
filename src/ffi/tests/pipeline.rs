//! The pipeline through the table: its passes, a run, what it says, how it fails. // X

use std::ptr::{null, null_mut};

use super::super::error::dram_error_info;
use super::super::instruction::{dram_in_place, dram_instruction_desc, dram_kind, dram_operand};
use super::super::memloc::DRAM_NO_ADDRESS;
use super::super::options::{dram_control, dram_options, dram_progress};
use super::super::pipeline::{
    dram_pass_info, dram_pipeline, dram_pipeline_options, dram_run, dram_run_info,
};
use super::super::plan::{dram_dependence, dram_edge, dram_plan_info};
use super::super::program::dram_program;
use super::super::status::dram_status;
use super::super::text::dram_str;
use super::many::{Cores, OWN, SHARED};
use super::{Host, api, fails, ok, sized};

fn pipeline(options: dram_pipeline_options) -> *mut dram_pipeline {
    let mut pipeline = null_mut();
    // SAFETY: the struct and the output are locals.
    ok(|e| unsafe { (api().pipeline_new)(&options, &mut pipeline, e) });
    pipeline
}

fn passes(pipeline: *mut dram_pipeline) -> Vec<String> {
    let mut count = 0;
    // SAFETY: outputs are locals.
    unsafe {
        ok(|e| (api().pipeline_pass_count)(pipeline, &mut count, e));
        let name = |i| {
            let mut name = dram_str::EMPTY;
            ok(|e| (api().pipeline_pass_name)(pipeline, i, &mut name, e));
            name.read("").unwrap().to_owned()
        };
        (0..count).map(name).collect()
    }
}

fn run(pipeline: *mut dram_pipeline, program: *mut dram_program) -> *mut dram_run {
    let mut run = null_mut();
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().pipeline_run)(pipeline, program, null(), null(), &mut run, e) });
    run
}

fn info(run: *mut dram_run) -> dram_run_info {
    let mut info = sized();
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().run_get)(run, &mut info, e) });
    info
}

#[test]
fn a_run_agrees_on_addresses_and_says_what_each_pass_did() {
    let cores = Cores::new(false);
    let pipeline = pipeline(dram_pipeline_options {
        verify_each: 1,
        ..sized()
    });
    let names = passes(pipeline);
    assert_eq!(names[0], "coloring_allocator_dram");
    let run = run(pipeline, cores.program);
    assert_eq!(cores.address(0, SHARED), cores.address(1, SHARED));
    assert_ne!(cores.address(0, OWN), DRAM_NO_ADDRESS);
    let said = info(run);
    assert_eq!(said.pass_count as usize, names.len());
    assert_eq!((said.rotated, said.copies_elided), (0, 0));
    for (i, name) in names.iter().enumerate() {
        let mut pass: dram_pass_info = sized();
        // SAFETY: the output is a local; names live for ever.
        unsafe {
            ok(|e| (api().run_pass)(run, i as u32, &mut pass, e));
            assert_eq!(pass.name.read("").unwrap(), name);
        }
        assert_eq!(pass.verified, 1, "{name}");
        assert_eq!(pass.note_count, 0, "{name}");
    }
    let (mut metric, mut plan) = (9, null_mut());
    let mut planned: dram_plan_info = sized();
    let mut report = null_mut();
    // SAFETY: outputs are locals; any handle may be given.
    unsafe {
        ok(|e| (api().module_attribute)(cores.modules[1], 11, &mut metric, e));
        assert_eq!(metric, 1);
        ok(|e| (api().module_metric)(cores.modules[1], 32, &mut metric, e));
        assert_eq!(metric, 4096, "what was placed in its own space");
        ok(|e| (api().run_plan)(run, &mut plan, e));
        (api().run_free)(run);
        (api().pipeline_free)(pipeline);
        ok(|e| (api().plan_get)(plan, &mut planned, e));
        assert_eq!(planned.needs_dependences, 0, "it carries them");
        ok(|e| (api().program_verify)(cores.program, plan, &mut report, e));
        let mut count = 9;
        ok(|e| (api().report_count)(report, &mut count, e));
        assert_eq!(count, 0);
        (api().report_free)(report);
        (api().plan_free)(plan);
    }
}

#[test]
fn a_failure_names_the_pass_and_changes_nothing() {
    let cores = Cores::new(false);
    let all = pipeline(sized());
    let checked = |capacity, extra_bytes, want: &str| {
        let pipeline = pipeline(dram_pipeline_options {
            extra_bytes,
            ..sized()
        });
        let options = dram_options {
            capacity,
            ..sized()
        };
        let (mut error, mut run) = (null_mut(), null_mut());
        let mut said: dram_error_info = sized();
        // SAFETY: structs and outputs are locals; text is read before the error is freed.
        unsafe {
            let go = api().pipeline_run;
            let status = go(
                pipeline,
                cores.program,
                &options,
                null(),
                &mut run,
                &mut error,
            );
            assert_eq!(status, dram_status::ResourceExhausted, "{want}");
            assert!(run.is_null());
            assert_eq!((api().error_get)(error, &mut said), dram_status::Ok);
            assert_eq!(said.pass.read("").unwrap(), want);
            assert!(said.message.read("").unwrap().contains(want));
            (api().error_free)(error);
            (api().pipeline_free)(pipeline);
        }
        assert_eq!(cores.address(0, OWN), DRAM_NO_ADDRESS, "{want}");
    };
    checked(4095, 0, "coloring_allocator_dram");
    checked(65536, 0, "coloring_allocator_dram_shared");
    checked(4096 + 65536, 1 << 20, "hbm_usage");
    run(all, cores.program);
    assert_ne!(cores.address(0, OWN), DRAM_NO_ADDRESS);
}

#[test]
fn switches_decide_which_passes_there_are() {
    let without = passes(pipeline(dram_pipeline_options {
        disable_dram_allocation: 1,
        dram_rotation: 1,
        ..sized()
    }));
    assert_eq!(without[0], "coloring_allocator_dram_shared");
    let linked = passes(pipeline(dram_pipeline_options {
        post_link: 1,
        ..sized()
    }));
    assert_eq!(linked[0], "coloring_allocator_dram_post_lnk");
    let split = passes(pipeline(dram_pipeline_options {
        cores: 2,
        dram_rotation: 1,
        dram_rotation_size: -1,
        ..sized()
    }));
    assert_eq!(split[0], "lnc_splitter");
    assert_eq!(split[2], "address_rotation_dram");
    let default = passes(pipeline(sized()));
    assert!(!default.contains(&"address_rotation_dram".to_owned()));
}

#[test]
fn what_is_not_placed_is_a_note_of_the_verifier() {
    let cores = Cores::new(false);
    let run = run(
        pipeline(dram_pipeline_options {
            disable_dram_allocation: 1,
            ..sized()
        }),
        cores.program,
    );
    let mut notes = Vec::new();
    for position in 0..info(run).pass_count {
        let mut pass: dram_pass_info = sized();
        // SAFETY: outputs are locals; text is read before the run is freed.
        unsafe {
            ok(|e| (api().run_pass)(run, position, &mut pass, e));
            for i in 0..pass.note_count {
                let mut note = dram_str::EMPTY;
                ok(|e| (api().run_note)(run, position, i, &mut note, e));
                let (pass, note) = (pass.name.read("").unwrap(), note.read("").unwrap());
                notes.push((pass, note.to_owned()));
            }
        }
    }
    assert_eq!(notes.len(), 2, "{notes:?}");
    for (pass, note) in notes {
        assert!(pass == "lnc_verifier" && note.contains("own"), "{note}");
    }
}

#[test]
fn a_splitting_run_makes_modules_and_keeps_handles() {
    let host = Host::new();
    let a = host.memloc("a", 4096);
    host.instruction(&[], &[a]);
    host.instruction(&[a], &[]);
    let (mut count, mut address) = (0, 9);
    run(
        pipeline(dram_pipeline_options {
            cores: 4,
            ..sized()
        }),
        host.program,
    );
    // SAFETY: outputs are locals.
    unsafe {
        ok(|e| (api().program_module_count)(host.program, &mut count, e));
        ok(|e| (api().function_address)(host.function, a, &mut address, e));
    }
    assert_eq!((count, address), (4, 0));
}

/// Two engines take turns with temporaries, and one copy moves bytes onto themselves.
fn turns() -> Host {
    let host = Host::new();
    for i in 0..8u32 {
        let loc = host.memloc(&format!("t{i}"), 4096);
        host.instruction_on(i % 2, &[], &[loc]);
        host.instruction_on(i % 2, &[loc], &[]);
    }
    let (from, to) = (host.memloc("from", 4096), host.memloc("to", 4096));
    host.instruction(&[], &[from]);
    let operand = |memloc| dram_operand {
        memloc,
        reserved: 0,
        offset: 0,
        bytes: 0,
    };
    let (uses, defs) = ([operand(from)], [operand(to)]);
    let pair = [dram_in_place {
        used: from,
        def: to,
    }];
    let copy = dram_instruction_desc {
        op: dram_str::of("copy"),
        kind: dram_kind::DmaCopy as u32,
        uses: uses.as_ptr(),
        use_count: 1,
        defs: defs.as_ptr(),
        def_count: 1,
        in_place: pair.as_ptr(),
        in_place_count: 1,
        ..sized()
    };
    let mut index = 0;
    // SAFETY: structs and outputs are locals.
    ok(|e| unsafe { (api().function_add_instruction)(host.function, &copy, &mut index, e) });
    assert_eq!(index, 17);
    host.instruction(&[to], &[]);
    host
}

#[test]
fn the_rotation_says_what_it_saved() {
    let host = turns();
    let run = run(
        pipeline(dram_pipeline_options {
            dram_rotation: 1,
            ..sized()
        }),
        host.program,
    );
    let said = info(run);
    assert_eq!(said.rotated, 1);
    assert!(said.edges_after < said.edges_before && said.moved > 0);
    let removed = said.edges_before - said.edges_after;
    let per_mib = (removed << 20) / said.bytes_spent;
    assert_eq!(said.edges_removed_per_mib, per_mib);
}

#[test]
fn copies_onto_themselves_are_listed_until_the_placement_is_cleared() {
    let host = turns();
    let run = run(pipeline(sized()), host.program);
    assert_eq!((info(run).rotated, info(run).copies_elided), (0, 1));
    let listed = || {
        let (mut indices, mut count) = ([0; 2], 0);
        // SAFETY: outputs are locals.
        ok(|e| unsafe {
            (api().function_elided)(host.function, indices.as_mut_ptr(), 2, &mut count, e)
        });
        indices[..count].to_vec()
    };
    assert_eq!(listed(), [17]);
    // SAFETY: any handle may be given.
    ok(|e| unsafe { (api().module_clear_placement)(host.module, e) });
    assert!(listed().is_empty());
}

unsafe extern "C" fn keep(
    user: *mut std::ffi::c_void,
    edges: *const dram_dependence,
    count: usize,
) {
    // SAFETY: the user's data is a list, and the edges are readable.
    unsafe {
        let all = &mut *user.cast::<Vec<dram_dependence>>();
        all.extend_from_slice(std::slice::from_raw_parts(edges, count));
    }
}

#[test]
fn edges_one_by_one_are_the_edges_in_bulk() {
    let host = turns();
    let run = run(pipeline(sized()), host.program);
    let (mut plan, mut count) = (null_mut(), 0);
    let mut bulk: Vec<dram_dependence> = Vec::new();
    // SAFETY: outputs are locals; text is read before the plan is freed.
    unsafe {
        ok(|e| (api().run_plan)(run, &mut plan, e));
        ok(|e| (api().plan_edge_count)(plan, &mut count, e));
        let user = (&raw mut bulk).cast();
        ok(|e| (api().plan_dependences)(plan, host.function, Some(keep), user, e));
        assert_eq!(count, bulk.len());
        assert!(count > 0, "bytes are re-used by the other engine");
        for (i, bulk) in bulk.iter().enumerate() {
            let mut edge: dram_edge = sized();
            ok(|e| (api().plan_edge)(plan, i, &mut edge, e));
            let of = |e: &dram_edge| (e.from, e.to, e.kind, e.distance, e.header);
            let want = (bulk.from, bulk.to, bulk.kind, bulk.distance, bulk.header);
            assert_eq!(of(&edge), want);
            assert_eq!(edge.from_function.read("").unwrap(), "main");
            assert_eq!((edge.from_core, edge.to_core), (0, 0));
            assert!(
                edge.from != 17 && edge.to != 17,
                "the marked copy never runs"
            );
        }
        (api().plan_free)(plan);
        (api().run_free)(run);
    }
}

unsafe extern "C" fn meddle(user: *mut std::ffi::c_void, _: *const dram_progress) {
    // SAFETY: the user's data is a module's handle, which any call may be given.
    unsafe { (api().module_clear_placement)(user.cast(), null_mut()) };
}

#[test]
fn a_program_that_changes_during_a_run_is_left_alone() {
    let cores = Cores::new(false);
    let control = dram_control {
        progress: Some(meddle),
        progress_user: cores.modules[1].cast(),
        ..sized()
    };
    let (pipeline, mut run) = (pipeline(sized()), null_mut());
    // SAFETY: structs and outputs are locals.
    fails(dram_status::FailedPrecondition, |e| unsafe {
        (api().pipeline_run)(pipeline, cores.program, null(), &control, &mut run, e)
    });
    assert!(run.is_null());
    for core in 0..2 {
        assert_eq!(cores.address(core, OWN), DRAM_NO_ADDRESS);
    }
    // The same for a list of modules, one of which changes.
    let list = cores.modules.as_ptr();
    // SAFETY: as above.
    fails(dram_status::FailedPrecondition, |e| unsafe {
        (api().modules_allocate)(list, 2, 0, null(), &control, null_mut(), e)
    });
    assert_eq!(
        cores.address(0, OWN),
        DRAM_NO_ADDRESS,
        "not the other one either"
    );
    // SAFETY: any handle may be given.
    assert_eq!(unsafe { (api().pipeline_free)(pipeline) }, dram_status::Ok);
}
