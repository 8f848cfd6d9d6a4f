//! Plans of random programs, held against the verifier; and the rules that a run alone decides.

use super::*;
use crate::ir::{Extent, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Operand, Usage};
use crate::options::{Floor, Geometry, Strategy};
use crate::testing::{self, Shape};
use crate::verify::verify;

fn options(u: &mut testing::Unstructured<'_>) -> testing::Result<Options> {
    let strategies = [Strategy::Reference, Strategy::Fast, Strategy::Best];
    Ok(Options {
        strategy: *u.choose(&strategies)?,
        budget_steps: Some(2_000),
        floor: if u.ratio(1, 3)? {
            Floor::Holes
        } else {
            Floor::Hwm
        },
        packed: u.ratio(1, 4)?,
        reuse_io: u.ratio(1, 4)?,
        cc_limit: *u.choose(&[500, -1, 0, 1])?,
        trim_cc: u.arbitrary()?,
        align: *u.choose(&[None, None, Some(8192)])?,
        separate_functions: u.ratio(1, 4)?,
        geometry: *u.choose(&[Geometry::Split, Geometry::Unified])?,
        ..Options::default()
    })
}

fn plans_are_right(shape: &Shape, seeds: std::ops::Range<u64>) {
    let mut planned = 0;
    testing::for_each_seed(seeds, |u| {
        let options = options(u)?; // First, for a long program leaves nothing to draw from.
        let program = testing::program(u, shape)?;
        let plan = plan(&program, &options, &mut Control::default())
            .unwrap_or_else(|e| panic!("{e}\n{options:?}\n{program:?}"));
        let wrong = verify(&program, &plan);
        assert!(wrong.is_empty(), "{wrong:#?}\n{plan:#?}\n{program:#?}");
        planned += 1;
        Ok(())
    });
    assert!(planned > 0, "some program was planned");
}

#[test]
fn plans_of_random_single_core_programs_are_right() {
    plans_are_right(
        &Shape {
            calls: false,
            ..Shape::single_core()
        },
        0..1500,
    );
}

#[test]
fn a_plan_with_its_own_addresses_given_is_that_plan() {
    let shape = Shape {
        cores: 1,
        collectives: false,
        shared: false,
        ..Shape::single_core()
    };
    let mut moved = 0;
    testing::for_each_seed(0..150, |u| {
        let options = Options {
            geometry: Geometry::Split,
            ..options(u)?
        };
        let program = testing::program(u, &shape)?;
        let control = &mut Control::default();
        let plan = plan(&program, &options, control).expect("there is no limit");
        let given = |by: u64| {
            let functions = &plan.modules[0].functions;
            move |f: usize, id: MemLocId| {
                let address = functions[f].memlocs[id.index()].address;
                address.map(|address| address + by)
            }
        };
        let same = plan_with_addresses(&program, &options, &given(0), control);
        let mut same = same.expect("they are known to fit");
        assert_eq!(
            same.strategy,
            Strategy::Reference,
            "it has not been searched for"
        );
        same.strategy = plan.strategy;
        assert_eq!(same, plan);
        // Everything that holds bytes goes up together, so does the peak, and nothing else changes.
        let by = 1 << 30; // Above every pin.
        let above = plan_with_addresses(&program, &options, &given(by), control).expect("it fits");
        for (above, plan) in above.spaces.iter().zip(&plan.spaces) {
            let placed = plan.peak > plan.floor;
            assert_eq!(above.peak, plan.peak + if placed { by } else { 0 });
            moved += usize::from(placed);
        }
        let wrong = verify(&program, &above);
        assert!(wrong.is_empty(), "{wrong:#?}\n{above:#?}\n{program:#?}");
        Ok(())
    });
    assert!(moved > 50, "most programs have something to place");
}

#[test]
fn addresses_are_taken_for_private_candidates_of_one_core_alone() {
    let plan = |program: &Program, options: Options, address: Option<u64>| {
        let address = |_: usize, _: MemLocId| address;
        let plan = plan_with_addresses(program, &options, &address, &mut Control::default());
        plan.expect_err("it is refused").to_string()
    };
    let of = |spec: MemLocSpec<'_>| program(&[spec], &[(&[], &[0])]);
    let plain = of(bytes("a", 4096));
    let page = Options {
        runtime_page: 1,
        ..Options::default()
    };
    assert!(plan(&plain, Options::default(), None).contains("a has none"));
    assert!(plan(&plain, Options::default(), Some(u64::MAX)).contains("past 64 bits"));
    assert!(plan(&plain, page, Some(0)).contains("runtime page"));
    let collective = of(MemLocSpec {
        usage: Usage::Collective,
        ..bytes("c", 4096)
    });
    assert!(plan(&collective, Options::default(), Some(0)).contains("collective"));
}

#[test]
fn plans_of_random_programs_of_many_cores_are_right() {
    plans_are_right(
        &Shape {
            calls: false,
            ..Shape::many_cores()
        },
        0..1500,
    );
}

#[test]
fn plans_of_random_programs_with_calls_are_right() {
    plans_are_right(
        &Shape {
            functions: 4,
            ..Shape::single_core()
        },
        0..800,
    );
    plans_are_right(
        &Shape {
            functions: 3,
            ..Shape::many_cores()
        },
        0..800,
    );
}

#[test]
fn the_order_of_modules_and_of_locations_does_not_matter() {
    testing::for_each_seed(0..300, |u| {
        let options = options(u)?;
        let program = testing::program(u, &Shape::many_cores())?;
        let mut reversed = Program::new(&program.name);
        for module in program.modules().iter().rev() {
            reversed
                .add_module(module.clone())
                .expect("the same modules");
        }
        let control = &mut Control::default();
        let straight = plan(&program, &options, control).expect("valid programs fit");
        let turned = plan(&reversed, &options, control).expect("valid programs fit");
        for module in &straight.modules {
            let twin = turned.modules.iter().find(|m| m.core == module.core);
            assert_eq!(Some(module), twin);
        }
        assert_eq!(
            (straight.peak, straight.digest),
            (turned.peak, turned.digest)
        );
        Ok(())
    });
}

fn bytes(name: &str, bytes: u64) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(bytes)),
        ..Default::default()
    }
}

/// A program of one function whose instructions each define and use whole locations, by number.
fn program(memlocs: &[MemLocSpec<'_>], code: &[(&[u32], &[u32])]) -> Program {
    let mut function = Function::new("main");
    function.add_memlocs(memlocs).expect("valid");
    for (defs, uses) in code {
        let operands = |ids: &[u32]| -> Vec<Operand> {
            ids.iter().map(|&id| Operand::from(MemLocId(id))).collect()
        };
        let (defs, uses) = (operands(defs), operands(uses));
        let spec = InstructionSpec {
            op: "op",
            defs: &defs,
            uses: &uses,
            ..Default::default()
        };
        function.add_instruction(&spec).expect("valid");
    }
    let mut module = Module::new("m0", 0);
    module.add_function(function).expect("the only one");
    let mut program = Program::new("p");
    program.add_module(module).expect("the only one");
    program
}

fn address(plan: &Plan, function: usize, loc: usize) -> Option<u64> {
    plan.modules[0].functions[function].memlocs[loc].address
}

#[test]
fn what_is_placed_lies_above_the_page_rounded_end_of_the_pins() {
    let pinned = MemLocSpec {
        usage: Usage::Weight,
        address: Some(0),
        ..bytes("w", 4097)
    };
    let p = program(&[pinned, bytes("a", 1)], &[(&[1], &[0]), (&[], &[1])]);
    let plan = plan(&p, &Options::default(), &mut Control::default()).unwrap();
    assert_eq!(address(&plan, 0, 1), Some(8192));
    assert_eq!((plan.peak, plan.metrics["reserved_space"]), (12288, 8192));
    assert_eq!(plan.metrics["raw_bytes_placed"], 1);
    let holes = Options {
        floor: Floor::Holes,
        ..Options::default()
    };
    let plan = super::plan(&p, &holes, &mut Control::default()).unwrap();
    assert_eq!(address(&plan, 0, 1), Some(8192), "the pin lives everywhere");
}

#[test]
fn overlapping_pins_are_refused_and_name_both() {
    let pin = |name, address| MemLocSpec {
        usage: Usage::Input,
        address: Some(address),
        ..bytes(name, 8192)
    };
    let p = program(&[pin("in0", 0), pin("in1", 4096)], &[(&[], &[0, 1])]);
    let error = plan(&p, &Options::default(), &mut Control::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("in0") && error.contains("in1"), "{error}");
}

#[test]
fn an_early_exit_succeeds_and_a_capacity_too_small_says_what_is_in_the_way() {
    let p = program(
        &[bytes("a", 4096), bytes("b", 8192)],
        &[(&[0, 1], &[]), (&[], &[0, 1])],
    );
    let tight = Options {
        capacity: Some(12288),
        ..Options::default()
    };
    assert!(plan(&p, &tight, &mut Control::default()).is_ok());
    let small = Options {
        capacity: Some(12287),
        ..Options::default()
    };
    let error = plan(&p, &small, &mut Control::default()).unwrap_err();
    let crate::Fault::NoRoom(report) = &error.fault else {
        panic!("{error}")
    };
    assert!(
        report.bound == 12288 && !report.holders.is_empty(),
        "{report}"
    );
    let proof = report
        .infeasible
        .as_ref()
        .expect("three pages live at once");
    assert!(proof.minimal && proof.deficit == 1, "{report}");
    let nothing = program(&[bytes("a", 4096)], &[]);
    let plan = plan(&nothing, &Options::default(), &mut Control::default()).unwrap();
    assert_eq!((plan.peak, plan.status), (0, crate::Status::Optimal));
    assert_eq!(
        plan.modules[0].functions[0].memlocs[0].skipped,
        Some(crate::ir::Skipped::Unreferenced)
    );
}

/// `main` holds x across calls of `f`, y before and z after; `f` and `g` hold one page each.
#[test]
fn callees_lie_beside_what_is_live_across_the_call_and_share_bytes_with_each_other() {
    let mut module = Module::new("m0", 0);
    let mut main = Function::new("main");
    main.add_memlocs(&[bytes("x", 4096), bytes("y", 4096), bytes("z", 4096)])
        .unwrap();
    let op = |id: u32| [Operand::from(MemLocId(id))];
    let plain = InstructionSpec::default();
    main.add_instruction(&InstructionSpec {
        defs: &[op(0), op(1)].concat(),
        ..plain
    })
    .unwrap();
    main.add_instruction(&InstructionSpec {
        uses: &op(1),
        ..plain
    })
    .unwrap();
    for callee in ["f", "g"] {
        let call = InstructionSpec {
            kind: Kind::Call,
            callee: Some(callee),
            ..plain
        };
        main.add_instruction(&call).unwrap();
    }
    main.add_instruction(&InstructionSpec {
        defs: &op(2),
        uses: &op(0),
        ..plain
    })
    .unwrap();
    main.add_instruction(&InstructionSpec {
        uses: &op(2),
        ..plain
    })
    .unwrap();
    module.add_function(main).unwrap();
    for name in ["f", "g"] {
        let mut function = Function::new(name);
        function.add_memloc(&bytes("t", 4096)).unwrap();
        function
            .add_instruction(&InstructionSpec {
                defs: &op(0),
                ..plain
            })
            .unwrap();
        function
            .add_instruction(&InstructionSpec {
                uses: &op(0),
                ..plain
            })
            .unwrap();
        module.add_function(function).unwrap();
    }
    let mut p = Program::new("p");
    p.add_module(module).unwrap();
    let plan = plan(&p, &Options::default(), &mut Control::default()).unwrap();
    let x = address(&plan, 0, 0).unwrap();
    assert_ne!(address(&plan, 1, 0), Some(x));
    assert_eq!(
        address(&plan, 1, 0),
        address(&plan, 2, 0),
        "they never run at the same time"
    );
    assert_eq!((plan.peak, plan.lower_bound), (8192, 8192));
}

#[test]
fn what_the_host_calls_shared_is_one_group_by_name() {
    let mut both = Program::new("two");
    for core in 0..2 {
        let single = program(
            &[bytes("s", 8192), bytes("own", 4096)],
            &[(&[0, 1], &[]), (&[], &[0, 1])],
        );
        let mut module = Module::new("m", core);
        module
            .add_function(single.modules()[0].functions()[0].clone())
            .expect("the only one");
        both.add_module(module).expect("one per core");
    }
    let shared = |_: &Module, function: &Function, loc| function.memloc_name(loc) == "s";
    let mut control = Control {
        shared: Some(&shared),
        ..Control::default()
    };
    let planned = plan(&both, &Options::default(), &mut control).expect("it fits");
    let loc = |m: usize| &planned.modules[m].functions[0].memlocs[0];
    assert!(loc(0).shared && loc(1).shared);
    assert_eq!(loc(0).address, loc(1).address);
    assert_eq!(loc(1).owner.as_ref().map(|owner| owner.core), Some(0));
    let apart = plan(&both, &Options::default(), &mut Control::default()).expect("it fits");
    assert!(!apart.modules[0].functions[0].memlocs[0].shared);
}

/// S1 over whole plans, where problems lie around each other.
#[test]
fn a_strategy_is_never_above_a_simpler_one() {
    testing::for_each_seed(0..150, |u| {
        let options = options(u)?;
        let shape = Shape {
            roots: 12,
            calls: u.arbitrary()?,
            ..Shape::many_cores()
        };
        let program = testing::program(u, &shape)?;
        let peak = |strategy| {
            let options = Options {
                strategy,
                ..options.clone()
            };
            plan(&program, &options, &mut Control::default())
                .expect("valid programs fit")
                .peak
        };
        let reference = peak(Strategy::Reference);
        let fast = peak(Strategy::Fast);
        let best = peak(Strategy::Best);
        assert!(best <= fast && fast <= reference, "{options:?} {program:?}");
        Ok(())
    });
}

/// The example: two functions, and the search for the first goes on for very long.
fn decoder() -> Program {
    let file = include_bytes!("../../examples/decoder_layers.program.json");
    crate::format::read_program(file).expect("the example is a program")
}

#[test]
fn no_function_uses_up_the_time_of_the_others() {
    everyone_has_a_share(&decoder());
}

#[test]
fn no_core_uses_up_the_time_of_the_others() {
    let mut program = Program::new("two");
    for core in 0..2 {
        let mut module = Module::new(&format!("m{core}"), core);
        let hard = decoder().modules()[0].functions()[0].clone();
        module.add_function(hard).expect("valid");
        program.add_module(module).expect("valid");
    }
    everyone_has_a_share(&program);
}

/// A few times what `fast` takes is enough for `best` to place everything, and no worse.
fn everyone_has_a_share(program: &Program) {
    // Every look at this clock takes a second.
    let looks = std::cell::Cell::new(0);
    let clock = || {
        looks.set(looks.get() + 1);
        std::time::Duration::from_secs(looks.get())
    };
    let peak_within = |strategy, seconds: u64| {
        looks.set(0);
        let options = Options {
            strategy,
            ..Options::default()
        };
        let mut control = Control {
            elapsed: Some(&clock),
            deadline: Some(std::time::Duration::from_secs(seconds)),
            ..Control::default()
        };
        plan(program, &options, &mut control).map(|plan| plan.peak)
    };
    let fast = peak_within(Strategy::Fast, u64::MAX).expect("there is time");
    let quick = looks.get();
    for times in [4, 6] {
        let best = peak_within(Strategy::Best, times * quick).expect("each has its share");
        assert!(best <= fast, "{times}");
        assert!(looks.get() > 2 * quick, "the time is used");
    }
}
