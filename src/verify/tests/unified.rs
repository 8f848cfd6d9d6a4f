//! Plans with one range of addresses per core, broken on purpose. // M7, V4

use super::mutations::{BREAKS, loc, moved, options, program, row, run};
use crate::control::Control;
use crate::ir::{Function, Kind, MemLocSpec, Module, Program, Space};
use crate::options::{Floor, Geometry, Options};
use crate::plan::{Plan, Status};
use crate::verify::verify;

const PAGE: u64 = 4096;

fn planned(program: &Program, options: &Options) -> Plan {
    let options = Options {
        geometry: Geometry::Unified,
        ..options.clone()
    };
    let plan = crate::plan(program, &options, &mut Control::default()).expect("it fits");
    assert_eq!(verify(program, &plan), [], "valid before it is broken");
    plan
}

fn finds(program: &Program, good: &Plan, kind: &str, name: &str, break_it: impl Fn(&mut Plan)) {
    let mut plan = good.clone();
    break_it(&mut plan);
    assert_ne!(&plan, good, "{name}: it breaks something");
    let found = verify(program, &plan);
    let kinds: Vec<&str> = found.iter().map(|v| v.kind).collect();
    assert!(
        kinds.contains(&kind),
        "{name}: expected {kind}, found {found:#?}"
    );
}

#[test]
fn what_breaks_a_split_plan_breaks_a_unified_one() {
    let program = program();
    let good = planned(&program, &options());
    for (name, kind, break_it) in BREAKS {
        finds(&program, &good, kind, name, break_it);
    }
}

/// Cores 0 and 1 share s in epoch 0 and t in epoch 1; t says that it reaches core 2. Each core has
/// a local location in each epoch.
fn three_cores() -> Program {
    let mut program = Program::new("three");
    for core in 0..3u32 {
        let mut f = Function::new("main");
        let shared = |name| MemLocSpec {
            space: Space::Shared,
            ..loc(name, 2 * PAGE)
        };
        let t = MemLocSpec {
            reach: &[2],
            ..shared("t")
        };
        f.add_memlocs(&[loc("a", PAGE), loc("b", PAGE)])
            .expect("valid");
        if core < 2 {
            f.add_memlocs(&[shared("s"), t]).expect("valid");
        }
        let with = |local: &'static str, group: &'static str| -> Vec<&'static str> {
            if core < 2 {
                vec![local, group]
            } else {
                vec![local]
            }
        };
        run(&mut f, Kind::Compute, &[], &with("a", "s")); // 0
        run(&mut f, Kind::Compute, &with("a", "s"), &[]); // 1
        run(&mut f, Kind::Barrier, &[], &[]); // 2
        run(&mut f, Kind::Compute, &[], &with("b", "t")); // 3
        run(&mut f, Kind::Compute, &with("b", "t"), &[]); // 4
        let mut module = Module::new(&format!("m{core}"), core);
        module.add_function(f).expect("one function");
        program.add_module(module).expect("cores differ");
    }
    program
}

#[test]
fn a_local_location_and_a_group_must_not_share_bytes_on_a_core_that_it_reaches() {
    let program = three_cores();
    let good = planned(&program, &Options::default());
    let s = good.modules[0].functions[0].memlocs[2].address;
    let t = good.modules[0].functions[0].memlocs[3].address;
    assert_eq!((s, t), (Some(0), Some(0)), "one after the other");
    let onto = |core: usize, name: &'static str| {
        move |plan: &mut Plan| row(plan, core, name).address = Some(PAGE)
    };
    finds(&program, &good, "overlap", "a on s", onto(0, "a"));
    finds(
        &program,
        &good,
        "overlap",
        "a on s, elsewhere",
        onto(1, "a"),
    );
    finds(&program, &good, "overlap", "b on t", onto(1, "b"));
    finds(
        &program,
        &good,
        "overlap",
        "b on t where it is only reached",
        onto(2, "b"),
    );
    finds(
        &program,
        &good,
        "overlap",
        "a group on local locations",
        |plan| {
            for core in 0..2 {
                row(plan, core, "s").address = Some(2 * PAGE);
            }
        },
    );
    // On core 2, s is not there, nor anything before the barrier.
    let free = row(&mut good.clone(), 2, "a").address;
    assert_eq!(free, Some(0));
    let mut moved_up = good.clone();
    moved(&mut moved_up, 2, "a", PAGE as i64);
    let found = verify(&program, &moved_up);
    assert!(found.iter().all(|v| v.kind != "overlap"), "{found:#?}");
}

#[test]
fn the_figures_of_one_range_are_recomputed() {
    let program = three_cores();
    let good = planned(&program, &Options::default());
    assert_eq!((good.status, good.peak), (Status::Optimal, 3 * PAGE));
    let metric = |name: &'static str, by: i64| {
        move |plan: &mut Plan| {
            let value = plan.metrics.get_mut(name).expect("told");
            *value = value.checked_add_signed(by).expect("in range");
        }
    };
    for name in ["core_0_agreed", "core_2_agreed", "core_1_alone"] {
        finds(
            &program,
            &good,
            "wrong_metric",
            name,
            metric(name, PAGE as i64),
        );
        finds(
            &program,
            &good,
            "wrong_metric",
            name,
            metric(name, -(PAGE as i64)),
        );
    }
    // What ends a core's range answers for the groups in it.
    let bound = |by: i64| {
        move |plan: &mut Plan| {
            let bound = &mut plan.spaces[0].lower_bound;
            *bound = bound.checked_add_signed(by).expect("in range");
        }
    };
    finds(&program, &good, "wrong_bound", "too high", bound(1));
    finds(
        &program,
        &good,
        "wrong_bound",
        "too low",
        bound(-(PAGE as i64)),
    );
    let shared = |plan: &mut Plan| {
        let shared = plan.spaces.iter_mut().find(|s| s.space == Space::Shared);
        shared.expect("told").lower_bound = PAGE;
    };
    finds(&program, &good, "wrong_bound", "the groups' own", shared);
}

#[test]
fn one_range_must_fit_a_core() {
    let program = three_cores();
    let options = Options {
        capacity: Some(3 * PAGE),
        ..Options::default()
    };
    let good = planned(&program, &options);
    finds(&program, &good, "over_capacity", "less room", |plan| {
        plan.options.capacity = Some(3 * PAGE - 1);
        for space in &mut plan.spaces {
            space.capacity = Some(3 * PAGE - 1);
        }
    });
}

#[test]
fn groups_of_cores_apart_may_lie_anywhere_and_others_may_not() {
    let mut program = Program::new("pairs");
    for core in 0..4u32 {
        let name = if core < 2 { "s" } else { "t" };
        let mut f = Function::new("main");
        let spec = MemLocSpec {
            space: Space::Shared,
            ..loc(name, PAGE)
        };
        f.add_memloc(&spec).expect("valid");
        run(&mut f, Kind::Compute, &[], &[name]);
        let mut module = Module::new(&format!("m{core}"), core);
        module.add_function(f).expect("one function");
        program.add_module(module).expect("cores differ");
    }
    let unified = planned(&program, &Options::default());
    assert_eq!(unified.peak, PAGE, "both at 0");
    let mut split = unified.clone();
    split.options.geometry = Geometry::Split;
    let found = verify(&program, &split);
    assert!(found.iter().any(|v| v.kind == "overlap"), "{found:#?}");
}

#[test]
fn floors_are_those_of_the_cores_that_are_reached() {
    let program = |pages: [u64; 3]| {
        let mut program = Program::new("pinned");
        for (core, pages) in (0..).zip(pages) {
            let mut f = Function::new("main");
            let s = MemLocSpec {
                space: Space::Shared,
                ..loc("s", PAGE)
            };
            let w = MemLocSpec {
                usage: crate::ir::Usage::Weight,
                address: Some(0),
                ..loc("w", pages * PAGE)
            };
            f.add_memlocs(&[w, loc("a", PAGE)]).expect("valid");
            run(&mut f, Kind::Compute, &["w"], &["a"]);
            if core < 2 {
                f.add_memloc(&s).expect("valid");
                run(&mut f, Kind::Compute, &[], &["s"]);
            }
            let mut module = Module::new(&format!("m{core}"), core);
            module.add_function(f).expect("one function");
            program.add_module(module).expect("cores differ");
        }
        program
    };
    let program = program([1, 3, 9]);
    let good = planned(&program, &Options::default());
    finds(
        &program,
        &good,
        "below_floor",
        "on core 1's weights",
        |plan| {
            for core in 0..2 {
                row(plan, core, "s").address = Some(2 * PAGE);
            }
        },
    );
    // With pins as obstacles it lies on them, where their core holds them.
    let holes = Options {
        floor: Floor::Holes,
        ..Options::default()
    };
    let good = planned(&program, &holes);
    finds(&program, &good, "overlap", "in core 1's weights", |plan| {
        for core in 0..2 {
            row(plan, core, "s").address = Some(2 * PAGE);
        }
    });
}
