//! Random programs through the whole pipeline, and what each pass is for.

use super::*;
use crate::error::Fault;
use crate::ir::{
    Extent, FlatIndex, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Module, Operand,
    Space,
};
use crate::options::Geometry;
use crate::pace::INTERVAL;
use crate::testing::{self, Shape};
use crate::verify::{verify, verify_deep};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn run(program: &mut Program, choices: &PipelineOptions, options: &Options) -> PipelineReport {
    let pipeline = Pipeline::new(choices).expect("valid choices");
    pipeline
        .run(program, options, &mut Control::default())
        .unwrap_or_else(|e| panic!("{e}\n{program:#?}"))
}

#[test]
fn random_programs_pass_with_every_pass_verified() {
    let choices = PipelineOptions {
        verify_each: true,
        verify_deep: true,
        ..PipelineOptions::default()
    };
    let mut copies = 0;
    for (shape, seeds) in [
        (Shape::single_core(), 0..200),
        (Shape::many_cores(), 0..200),
    ] {
        testing::for_each_seed(seeds, |u| {
            let options = Options {
                geometry: *u.choose(&[Geometry::Split, Geometry::Unified])?,
                ..Options::default()
            };
            let choices = PipelineOptions {
                dram_rotation: u.arbitrary()?,
                ..choices.clone()
            };
            let mut program = testing::program(u, &shape)?;
            let report = run(&mut program, &choices, &options);
            copies += report.copies_elided;
            assert_eq!(verify(&program, &report.plan), [], "{program:#?}");
            // What waits for what is enough, whatever never runs. // V3
            let deep = verify_deep(&program, &report.plan, None);
            assert_eq!(deep.violations, [], "{options:?} {choices:?} {program:#?}");
            for (module, planned) in program.modules().iter().zip(&report.plan.modules) {
                for (function, planned) in module.functions().iter().zip(&planned.functions) {
                    for (loc, planned) in function.memlocs().iter().zip(&planned.memlocs) {
                        let stored = loc.placed().expect("every location was decided");
                        assert_eq!(stored.address, planned.address);
                        assert_eq!(stored.is_shared_post_dram_alloc, planned.shared);
                    }
                }
            }
            Ok(())
        });
    }
    assert!(copies > 10, "only {copies} copies were elided");
}

fn bytes(name: &str, bytes: u64) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(bytes)),
        ..Default::default()
    }
}

fn one_function(build: impl FnOnce(&mut Function)) -> Program {
    let mut function = Function::new("main");
    build(&mut function);
    let mut module = Module::new("m", 0);
    module.add_function(function).expect("the only one");
    let mut program = Program::new("p");
    program.add_module(module).expect("the only one");
    program
}

/// A value that one engine makes, another copies and a third one reads, in turn.
fn relay() -> Program {
    one_function(|f| {
        f.add_memlocs(&[bytes("a", 4096), bytes("b", 4096)])
            .unwrap();
        let (a, b) = ([Operand::from(MemLocId(0))], [Operand::from(MemLocId(1))]);
        let on = |engine| InstructionSpec {
            op: "x",
            engine,
            ..Default::default()
        };
        let copy = InstructionSpec {
            kind: Kind::DmaCopy,
            uses: &a,
            defs: &b,
            in_place: &[(MemLocId(0), MemLocId(1))],
            ..on(1)
        };
        let (make, read) = (
            InstructionSpec { defs: &a, ..on(0) },
            InstructionSpec { uses: &b, ..on(2) },
        );
        for spec in [make, copy, read] {
            f.add_instruction(&spec).unwrap();
        }
    })
}

#[test]
fn a_copy_onto_itself_is_elided_and_orders_nothing() {
    let mut program = relay();
    let report = run(
        &mut program,
        &PipelineOptions::default(),
        &Options::default(),
    );
    let function = &program.modules()[0].functions()[0];
    assert_eq!(report.copies_elided, 1);
    let elided: Vec<_> = function.elided().collect();
    assert_eq!(elided, [FlatIndex(1)]);
    let edges = report.plan.dependences.expect("the pass ran");
    let pairs: Vec<_> = edges.iter().map(|e| (e.from.index, e.to.index)).collect();
    assert_eq!(
        pairs,
        [(0, 2)],
        "the reader waits for whoever made the value"
    );
}

/// Two engines take turns: first fit re-uses the bytes that have just died, on the other engine.
fn turns(count: u32) -> Program {
    one_function(|f| {
        for i in 0..count {
            let loc = [Operand::from(
                f.add_memloc(&bytes(&format!("t{i}"), 4096)).unwrap(),
            )];
            let spec = InstructionSpec {
                op: "x",
                engine: i % 2,
                ..Default::default()
            };
            f.add_instruction(&InstructionSpec { defs: &loc, ..spec })
                .unwrap();
            f.add_instruction(&InstructionSpec { uses: &loc, ..spec })
                .unwrap();
        }
    })
}

#[test]
fn rotation_spends_bytes_to_save_edges() {
    let rotate = PipelineOptions {
        dram_rotation: true,
        ..PipelineOptions::default()
    };
    let report = run(&mut turns(64), &rotate, &Options::default());
    let rotation = report.rotation.expect("the pass ran");
    assert!(rotation.edges_after < rotation.edges_before, "{rotation:?}");
    assert_eq!(rotation.edges_after, 0, "64 pages fit in 8 GiB");
    assert_eq!(rotation.bytes_spent, 63 * 4096);
    let within = PipelineOptions {
        dram_rotation_size: -1,
        ..rotate
    };
    let report = run(&mut turns(64), &within, &Options::default());
    assert_eq!(report.rotation.expect("the pass ran").bytes_spent, 0);
}

#[test]
fn without_an_allocator_the_verifier_reports_what_has_no_address() {
    let choices = PipelineOptions {
        disable_dram_allocation: true,
        ..PipelineOptions::default()
    };
    let report = run(&mut turns(2), &choices, &Options::default());
    assert_eq!(report.notes().count(), 2, "{:?}", report.passes);
    assert!(
        report.notes().any(|n| n.contains("t0")),
        "{:?}",
        report.passes
    );
}

#[test]
fn a_failing_pass_is_named_and_changes_nothing() {
    let mut program = turns(2);
    let before = program.clone();
    let pipeline = Pipeline::new(&PipelineOptions::default()).unwrap();
    let tight = Options {
        capacity: Some(4095),
        ..Options::default()
    };
    let error = pipeline
        .run(&mut program, &tight, &mut Control::default())
        .unwrap_err();
    assert!(
        error.to_string().contains("pass coloring_allocator_dram"),
        "{error}"
    );
    assert_eq!(program, before);
    let choices = PipelineOptions {
        extra_bytes: 8192,
        ..PipelineOptions::default()
    };
    let options = Options {
        capacity: Some(8192),
        ..Options::default()
    };
    let error = Pipeline::new(&choices)
        .unwrap()
        .run(&mut program, &options, &mut Control::default())
        .unwrap_err();
    assert!(error.to_string().contains("pass hbm_usage"), "{error}");
    assert!(error.to_string().contains("8192 extra"), "{error}");
    assert_eq!(program, before);
}

#[test]
fn one_module_becomes_one_per_core_with_one_address() {
    let mut program = one_function(|f| {
        let shared = MemLocSpec {
            space: Space::Shared,
            ..bytes("s", 8192)
        };
        f.add_memlocs(&[shared, bytes("a", 4096)]).unwrap();
        let both = [Operand::from(MemLocId(0)), Operand::from(MemLocId(1))];
        let spec = InstructionSpec {
            op: "x",
            ..Default::default()
        };
        f.add_instruction(&InstructionSpec {
            defs: &both,
            ..spec
        })
        .unwrap();
        f.add_instruction(&InstructionSpec {
            uses: &both,
            ..spec
        })
        .unwrap();
    });
    let choices = PipelineOptions {
        cores: 4,
        ..PipelineOptions::default()
    };
    let report = run(&mut program, &choices, &Options::default());
    assert_eq!(program.modules().len(), 4);
    let address = |m: usize| {
        program.modules()[m].functions()[0]
            .memloc(MemLocId(0))
            .address()
    };
    assert!((1..4).all(|m| address(m) == address(0) && address(0).is_some()));
    // Every core writes the whole buffer in one epoch: the program's race.
    assert!(
        report.notes().any(|w| w.contains('s')),
        "{:?}",
        report.passes
    );
}

#[test]
fn a_core_that_needs_too_much_is_a_note_where_the_check_is_off() {
    let tight = Options {
        capacity: Some(8192),
        ..Options::default()
    };
    for (extra_bytes, says) in [
        (4096, None),
        (4500, Some("slightly over")),
        (8192, Some("over")),
    ] {
        let choices = PipelineOptions {
            disable_hbm_usage_check: true,
            extra_bytes,
            ..PipelineOptions::default()
        };
        let report = run(&mut turns(2), &choices, &tight);
        let of_pass = |pass: &&PassReport| pass.pass == Pass::HbmUsage;
        let notes = &report.passes.iter().find(of_pass).expect("it ran").notes;
        assert_eq!(notes.len(), usize::from(says.is_some()), "{notes:?}");
        if let Some(says) = says {
            assert!(notes[0].starts_with(says), "{notes:?}");
        }
    }
}

#[test]
fn modules_in_another_order_get_the_same_addresses_and_edges() {
    let choices = PipelineOptions {
        dram_rotation: true,
        ..PipelineOptions::default()
    };
    testing::for_each_seed(0..150, |u| {
        let mut program = testing::program(u, &Shape::many_cores())?;
        let mut turned = Program::new(&program.name);
        for module in program.modules().iter().rev() {
            turned.add_module(module.clone()).expect("the same modules");
        }
        let straight = run(&mut program, &choices, &Options::default());
        let reversed = run(&mut turned, &choices, &Options::default());
        for module in program.modules() {
            let twin = turned.modules().iter().find(|m| m.core() == module.core());
            assert_eq!(Some(module), twin, "addresses, marks, elided copies");
        }
        let sorted = |report: &PipelineReport| {
            let mut edges = report
                .plan
                .dependences
                .clone()
                .expect("they were asked for");
            edges.sort();
            edges
        };
        assert_eq!(sorted(&straight), sorted(&reversed));
        assert_eq!(straight.plan.digest, reversed.plan.digest);
        assert_eq!(straight.usage, reversed.usage);
        assert_eq!(straight.pressure, reversed.pressure);
        Ok(())
    });
}

#[test]
fn passes_say_whether_they_were_verified() {
    for verify_each in [false, true] {
        let choices = PipelineOptions {
            verify_each,
            ..PipelineOptions::default()
        };
        let report = run(&mut turns(2), &choices, &Options::default());
        for pass in report.passes {
            let want = verify_each || pass.pass == Pass::LncVerifier;
            assert_eq!(pass.verified, want, "{}", pass.pass);
        }
    }
}

/// Every pass that there is, each verified.
fn everything() -> PipelineOptions {
    PipelineOptions {
        cores: 2,
        dram_rotation: true,
        verify_each: true,
        verify_deep: true,
        ..PipelineOptions::default()
    }
}

#[test]
fn a_pass_that_begins_cancelled_is_named_and_nothing_has_changed() {
    let pipeline = Pipeline::new(&everything()).expect("valid choices");
    assert_eq!(pipeline.passes().len(), 13, "all but those after linking");
    for &pass in pipeline.passes() {
        let mut program = turns(4);
        let before = program.clone();
        let flag = AtomicBool::new(false);
        let mut cancel = |progress: &crate::Progress| {
            flag.fetch_or(progress.phase == pass.name(), Ordering::Relaxed);
        };
        let mut control = Control {
            cancel: Some(&flag),
            progress: Some(&mut cancel),
            ..Control::default()
        };
        let error = pipeline.run(&mut program, &Options::default(), &mut control);
        let error = error.expect_err("it is cancelled");
        assert_eq!(error.fault, Fault::Cancelled, "{pass}");
        assert_eq!(error.place.pass, Some(pass));
        assert_eq!(program, before, "{pass}");
    }
}

/// Whatever a run is doing when it is cancelled, and however little of it is done.
#[test]
fn a_run_that_is_cancelled_anywhere_fails_at_once_and_changes_nothing() {
    let mut cancelled = 0;
    for (shape, seeds) in [(Shape::single_core(), 0..60), (Shape::many_cores(), 0..100)] {
        testing::for_each_seed(seeds, |u| {
            let options = Options {
                geometry: *u.choose(&[Geometry::Split, Geometry::Unified])?,
                runtime_page: u.int_in_range(0..=1)?,
                ..Options::default()
            };
            let choices = PipelineOptions {
                cores: 0,
                ..everything()
            };
            let mut program = testing::program(u, &shape)?;
            let before = program.clone();
            let pipeline = Pipeline::new(&choices).expect("valid choices");
            INTERVAL.set(u.int_in_range(0..=9)?);
            // The looks of a run that goes through, then those of runs that are cancelled at one.
            let run = |program: &mut Program, at: usize| {
                let (flag, looks) = (AtomicBool::new(false), Cell::new(0));
                let elapsed = || {
                    looks.set(looks.get() + 1);
                    flag.fetch_or(looks.get() == at, Ordering::Relaxed);
                    Duration::ZERO
                };
                let mut control = Control {
                    cancel: Some(&flag),
                    elapsed: Some(&elapsed),
                    deadline: Some(Duration::MAX),
                    ..Control::default()
                };
                let run = pipeline.run(program, &options, &mut control);
                (run, looks.get())
            };
            let (whole, looks) = run(&mut program.clone(), 0);
            assert!(whole.is_ok(), "{whole:?}");
            for _ in 0..12 {
                let at = u.int_in_range(1..=looks)?;
                let (run, seen) = run(&mut program, at);
                let Err(error) = run else {
                    program.clone_from(&before); // After its last look.
                    continue;
                };
                assert_eq!(error.fault, Fault::Cancelled, "{error}");
                assert_eq!(program, before);
                // Who tells the progress asks for the time, too.
                assert!(seen <= at + 10, "{seen} looks, cancelled at {at}");
                cancelled += 1;
            }
            Ok(())
        });
        INTERVAL.set(crate::pace::UNITS);
    }
    assert!(cancelled > 1000, "only {cancelled} runs were cancelled");
}

/// Once everything has a place the deadline ends nothing. // C4
#[test]
fn a_deadline_that_passes_after_the_placement_is_no_failure() {
    let program = turns(4);
    let choices = PipelineOptions {
        cores: 0,
        ..everything()
    };
    let pipeline = Pipeline::new(&choices).expect("valid choices");
    let want = run(&mut program.clone(), &choices, &Options::default());
    INTERVAL.set(0);
    for (at, &pass) in pipeline.passes().iter().enumerate() {
        let late = Cell::new(false);
        let elapsed = || match late.get() {
            true => Duration::MAX,
            false => Duration::ZERO,
        };
        let mut begin = |progress: &crate::Progress| {
            late.set(late.get() || progress.phase == pass.name());
        };
        let mut control = Control {
            elapsed: Some(&elapsed),
            deadline: Some(Duration::from_secs(1)),
            progress: Some(&mut begin),
            ..Control::default()
        };
        let mut program = program.clone();
        let report = pipeline.run(&mut program, &Options::default(), &mut control);
        match at {
            0 => {
                let error = report.expect_err("nothing has a place");
                assert_eq!(error.fault, Fault::DeadlineExceeded);
            }
            _ => assert_eq!(report.map(|r| r.plan), Ok(want.plan.clone()), "{pass}"),
        }
    }
    INTERVAL.set(crate::pace::UNITS);
}
