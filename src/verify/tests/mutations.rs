//! One valid plan, broken in every way there is a word for. // V4

use super::planner::Facts;
use crate::ir::{
    Extent, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, MemoryType, Module, Operand,
    Program, Skipped, Space, Usage, UsageMask,
};
use crate::options::{Floor, Options, SpaceRegion, Strategy};
use crate::place::Region;
use crate::plan::{MemLocPlan, Owner, Plan, Status};
use crate::verify::verify;

const PAGE: u64 = 4096;

pub(super) fn loc(name: &str, bytes: u64) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(bytes)),
        ..Default::default()
    }
}

pub(super) fn run(f: &mut Function, kind: Kind, uses: &[&str], defs: &[&str]) {
    let operands = |names: &[&str]| -> Vec<Operand> {
        names
            .iter()
            .map(|n| f.find_memloc(n).expect("declared").into())
            .collect()
    };
    let (uses, defs) = (operands(uses), operands(defs));
    let spec = InstructionSpec {
        op: "op",
        kind,
        uses: &uses,
        defs: &defs,
        ..Default::default()
    };
    f.add_instruction(&spec).expect("valid");
}

/// Two cores with something of everything.
pub(super) fn program() -> Program {
    let mut program = Program::new("everything");
    for core in 0..2u32 {
        let mut f = Function::new("main");
        let follow = |name| (core == 1).then_some((0, name));
        let view = Some((MemLocId(1), 1000)); // Of `a`.
        let specs = [
            MemLocSpec {
                usage: Usage::Input,
                address: Some(0),
                ..loc("x", 5000)
            },
            loc("a", 2 * PAGE),
            loc("b", PAGE),
            loc("c", 3 * PAGE),
            MemLocSpec {
                view,
                ..loc("v", 50)
            },
            MemLocSpec {
                usage: Usage::Collective,
                ..loc("cc", PAGE)
            },
            MemLocSpec {
                usage: Usage::Weight,
                ..loc("w", PAGE)
            },
            MemLocSpec {
                memory: MemoryType::Sbuf,
                ..loc("chip", PAGE)
            },
            loc("unused", PAGE),
            loc("zero", 0),
            MemLocSpec {
                space: Space::Shared,
                remote: follow("s"),
                ..loc("s", PAGE)
            },
            MemLocSpec {
                space: Space::Shared,
                ..loc("s2", 2 * PAGE)
            },
            MemLocSpec {
                space: Space::Shared,
                ..loc("mine", PAGE)
            },
            MemLocSpec {
                space: Space::Debug,
                ..loc("dbg", PAGE)
            },
        ];
        f.add_memlocs(&specs).expect("valid");
        run(&mut f, Kind::Compute, &["x", "w"], &["a", "cc"]); // 0
        run(&mut f, Kind::Compute, &["v"], &["b", "zero"]); // 1
        run(&mut f, Kind::Compute, &["a", "b", "zero"], &["c"]); // 2
        run(&mut f, Kind::Compute, &["c"], &["s", "s2", "dbg"]); // 3
        run(&mut f, Kind::Barrier, &[], &[]); // 4
        run(&mut f, Kind::Collective, &["s", "cc", "s2"], &["cc"]); // 5
        let mine: &[&str] = if core == 0 {
            &["cc", "dbg", "mine"]
        } else {
            &["cc", "dbg"]
        };
        run(&mut f, Kind::Compute, mine, &["chip"]); // 6
        let mut module = Module::new(&format!("m{core}"), core);
        module.add_function(f).expect("one function");
        program.add_module(module).expect("cores differ");
    }
    program
}

pub(super) fn options() -> Options {
    Options {
        capacity: Some(1 << 30),
        ..Options::default()
    }
}

fn planned(program: &Program, options: &Options) -> Plan {
    let facts = Facts::of(program, options);
    let plan = facts.plan(&facts.addresses());
    assert_eq!(
        verify(program, &plan),
        [],
        "the plan is valid before it is broken"
    );
    plan
}

/// A location's row of a core.
pub(super) fn row<'p>(plan: &'p mut Plan, core: usize, name: &str) -> &'p mut MemLocPlan {
    let rows = &mut plan.modules[core].functions[0].memlocs;
    rows.iter_mut().find(|r| r.name == name).expect("planned")
}

pub(super) fn moved(plan: &mut Plan, core: usize, name: &str, by: i64) {
    let row = row(plan, core, name);
    row.address = Some(
        row.address
            .expect("placed")
            .checked_add_signed(by)
            .expect("in range"),
    );
}

pub(super) type Break = fn(&mut Plan);

#[rustfmt::skip]
pub(super) const BREAKS: &[(&str, &str, Break)] = &[
    ("a root moved by a page, its view not", "moved_view", |p| moved(p, 0, "a", 4096)),
    ("a view moved", "moved_view", |p| moved(p, 0, "v", 1)),
    ("a view without an address", "moved_view", |p| row(p, 0, "v").address = None),
    ("two live locations at one address", "overlap", |p| {
        let at = row(p, 0, "a").address;
        row(p, 0, "b").address = at;
    }),
    ("one moved by a page into another", "overlap", |p| {
        let end = row(p, 0, "a").address.unwrap() + 4096;
        row(p, 0, "b").address = Some(end);
    }),
    ("a pin moved", "moved_pin", |p| moved(p, 0, "x", 4096)),
    ("a pin forgotten", "moved_pin", |p| row(p, 1, "x").address = None),
    ("half a page off", "misaligned", |p| moved(p, 0, "c", 2048)),
    ("below the floor", "below_floor", |p| row(p, 0, "c").address = Some(4096)),
    ("over the capacity", "over_capacity", |p| row(p, 0, "c").address = Some((1 << 30) - 4096)),
    ("past 64 bits", "out_of_range", |p| row(p, 0, "c").address = Some(u64::MAX - 4095)),
    ("a candidate without an address", "unplaced", |p| row(p, 0, "b").address = None),
    ("a candidate skipped", "wrong_skip", |p| {
        row(p, 0, "b").address = None;
        row(p, 0, "b").skipped = Some(Skipped::Unreferenced);
    }),
    ("skipped for the wrong reason", "wrong_skip", |p| row(p, 0, "unused").skipped = Some(Skipped::NotDram)),
    ("skipped without a reason", "wrong_skip", |p| row(p, 0, "w").skipped = None),
    ("placed, and a reason to skip it", "wrong_skip", |p| row(p, 0, "c").skipped = Some(Skipped::Unreferenced)),
    ("unused, yet placed", "unexpected_address", |p| row(p, 0, "unused").address = Some(1 << 20)),
    ("the caller's own, yet placed", "unexpected_address", |p| row(p, 0, "w").address = Some(1 << 20)),
    ("no bytes, and not at the floor", "zero_bytes", |p| row(p, 0, "zero").address = Some(1 << 20)),
    ("other bytes", "wrong_size", |p| row(p, 0, "c").bytes += 1),
    ("other bytes as placed", "wrong_size", |p| row(p, 0, "c").aligned += 4096),
    ("pinned, and not called so", "wrong_flag", |p| row(p, 0, "x").pinned = false),
    ("called pinned", "wrong_flag", |p| row(p, 0, "c").pinned = true),
    ("shared, and not called so", "wrong_flag", |p| row(p, 0, "s").shared = false),
    ("called shared", "wrong_flag", |p| row(p, 0, "c").shared = true),
    ("a view with a flag of its own", "wrong_flag", |p| row(p, 0, "v").shared = true),
    ("another space", "wrong_space", |p| row(p, 0, "c").space = Space::Debug),
    ("a used shared location made local", "wrong_space", |p| row(p, 1, "s").space = Space::Local),
    ("a view in another space", "wrong_space", |p| row(p, 0, "v").space = Space::Debug),
    ("a follower without an owner", "wrong_owner", |p| row(p, 1, "s").owner = None),
    ("a follower of another", "wrong_owner", |p| row(p, 1, "s").owner = Some(Owner { core: 0, name: "s2".to_owned() })),
    ("an owner of what nobody shares", "wrong_owner", |p| row(p, 0, "c").owner = Some(Owner { core: 1, name: "c".to_owned() })),
    ("a follower's copy elsewhere", "copies_disagree", |p| moved(p, 1, "s", 4096 * 8)),
    ("two shared copies swapped on one core", "copies_disagree", |p| {
        let (s, s2) = (row(p, 1, "s").address, row(p, 1, "s2").address);
        row(p, 1, "s").address = s2;
        row(p, 1, "s2").address = s;
    }),
    ("two groups of one epoch at one address", "overlap", |p| {
        for core in 0..2 {
            let s = row(p, core, "s").address;
            row(p, core, "s2").address = s;
        }
    }),
    ("a life shortened", "wrong_segments", |p| row(p, 0, "a").segments = vec![(0, 1)]),
    ("a life lengthened", "wrong_segments", |p| row(p, 0, "a").segments = vec![(0, 5)]),
    ("a life written twice over", "wrong_segments", |p| row(p, 0, "a").segments = vec![(0, 2), (1, 2)]),
    ("no life", "wrong_segments", |p| row(p, 0, "a").segments.clear()),
    ("a view's life written twice over", "wrong_segments", |p| {
        let life = row(p, 0, "v").segments.clone();
        row(p, 0, "v").segments.extend(life);
    }),
    ("a view with a life of its own", "wrong_segments", |p| row(p, 0, "v").segments = vec![(0, 1)]),
    ("a location missing", "missing", |p| p.modules[0].functions[0].memlocs.truncate(3)),
    ("a function missing", "missing", |p| p.modules[1].functions.clear()),
    ("a module missing", "missing", |p| p.modules.truncate(1)),
    ("a space missing", "missing", |p| p.spaces.truncate(p.spaces.len() - 1)),
    ("a function's space missing", "missing", |p| p.modules[0].functions[0].spaces.clear()),
    ("a location twice", "duplicate", |p| {
        let again = row(p, 0, "c").clone();
        p.modules[0].functions[0].memlocs.push(again);
    }),
    ("a function twice", "duplicate", |p| {
        let again = p.modules[0].functions[0].clone();
        p.modules[0].functions.push(again);
    }),
    ("a module twice", "duplicate", |p| {
        let again = p.modules[0].clone();
        p.modules.push(again);
    }),
    ("a space twice", "duplicate", |p| {
        let again = p.spaces[0].clone();
        p.spaces.push(again);
    }),
    ("a foreign location", "foreign", |p| row(p, 0, "c").name = "nobody".to_owned()),
    ("a foreign function", "foreign", |p| p.modules[0].functions[0].name = "nobody".to_owned()),
    ("a foreign module", "foreign", |p| p.modules[0].name = "nobody".to_owned()),
    ("a foreign core", "foreign", |p| p.modules[0].core = 7),
    ("a foreign space", "foreign", |p| p.spaces[0].core = Some(7)),
    ("another peak", "wrong_peak", |p| p.spaces[0].peak += 4096),
    ("another peak on top", "wrong_peak", |p| p.peak += 4096),
    ("a bound above the peak", "wrong_bound", |p| p.spaces[0].lower_bound = p.spaces[0].peak + 1),
    ("a bound below the load", "wrong_bound", |p| p.spaces[0].lower_bound = 0),
    ("another bound on top", "wrong_bound", |p| p.lower_bound += 1),
    ("another floor", "wrong_floor", |p| p.spaces[0].floor = 0),
    ("another floor of a function", "wrong_floor", |p| p.modules[0].functions[0].spaces[0].floor = 0),
    ("another hwm", "wrong_hwm", |p| p.modules[0].functions[0].spaces[0].hwm += 1),
    ("another real collective size", "wrong_collective", |p| cc(p, |c| c.real += 4096)),
    ("another collective hwm", "wrong_collective", |p| cc(p, |c| c.hwm += 4096)),
    ("another collective limit", "wrong_collective", |p| cc(p, |c| c.limit -= 1)),
    ("no collective figures", "wrong_collective", |p| p.modules[0].functions[0].spaces[0].cc = None),
    ("collective figures of no region", "wrong_collective", |p| {
        let cc = p.modules[0].functions[0].spaces[0].cc;
        p.modules[0].functions[0].spaces[1].cc = cc;
    }),
    ("outside the collective region", "outside_collective_region", |p| row(p, 0, "cc").address = Some(600 << 20)),
    ("nothing known", "wrong_status", |p| p.status = Status::Unknown),
    ("no capacity", "wrong_capacity", |p| p.spaces[0].capacity = None),
    ("more capacity", "wrong_capacity", |p| p.spaces[0].capacity = Some(2 << 30)),
    ("options that no run honours", "bad_options", |p| p.options.align = Some(3)),
];

fn cc(plan: &mut Plan, change: impl FnOnce(&mut crate::plan::CollectivePlan)) {
    change(
        plan.modules[0].functions[0].spaces[0]
            .cc
            .as_mut()
            .expect("a region"),
    );
}

#[test]
fn every_way_to_break_a_plan_is_found() {
    let program = program();
    let good = planned(&program, &options());
    for (name, kind, break_it) in BREAKS {
        let mut plan = good.clone();
        break_it(&mut plan);
        assert_ne!(plan, good, "{name}: it breaks something");
        let found = verify(&program, &plan);
        let kinds: Vec<&str> = found.iter().map(|v| v.kind).collect();
        assert!(
            kinds.contains(kind),
            "{name}: expected {kind}, found {found:#?}"
        );
    }
}

#[test]
fn a_life_may_be_written_in_pieces() {
    let program = program();
    let good = planned(&program, &options());
    // Everything, views alone, and all but views.
    let choices: [fn(&str) -> bool; 3] = [|_| true, |name| name == "v", |name| name != "v"];
    for is_cut in choices {
        let mut plan = good.clone();
        let functions = plan.modules.iter_mut().flat_map(|m| &mut m.functions);
        let rows = functions.flat_map(|f| &mut f.memlocs);
        for row in rows.filter(|row| is_cut(&row.name)) {
            let pieces = row.segments.iter().flat_map(|&(first, last)| {
                let rest = (first < last).then_some((first + 1, last));
                [Some((first, first)), rest].into_iter().flatten()
            });
            row.segments = pieces.collect();
        }
        assert_eq!(verify(&program, &plan), []);
    }
}

#[test]
fn a_false_optimum_is_found() {
    // Two that the load lets share a peak, but a hole keeps apart.
    let program = program();
    let mut plan = planned(&program, &options());
    plan.status = Status::Optimal;
    for space in &mut plan.spaces {
        space.lower_bound = space.peak;
    }
    plan.lower_bound = plan.peak;
    let before = verify(&program, &plan);
    assert_eq!(before, [], "first fit is optimal here");
    let mut worse = plan.clone();
    for core in 0..2 {
        moved(&mut worse, core, "dbg", 4096); // Valid, but higher than it need be.
        let of_core = worse
            .spaces
            .iter_mut()
            .find(|s| s.space == Space::Debug && s.core == Some(core as u32));
        let figures = of_core.expect("debug has figures");
        figures.peak += 4096;
        figures.lower_bound += 4096;
        let spaces = &mut worse.modules[core].functions[0].spaces;
        spaces
            .iter_mut()
            .find(|s| s.space == Space::Debug)
            .expect("planned")
            .hwm += 4096;
    }
    let kinds =
        |plan: &Plan| -> Vec<&str> { verify(&program, plan).iter().map(|v| v.kind).collect() };
    assert_eq!(kinds(&worse), ["unproven_bound", "unproven_bound"]);
    worse.strategy = Strategy::Best; // A search may prove what the load does not.
    assert_eq!(kinds(&worse), [""; 0]);
    worse.spaces[0].lower_bound += 1;
    assert!(kinds(&worse).contains(&"wrong_bound"));
    let mut status = plan.clone();
    status
        .spaces
        .iter_mut()
        .for_each(|s| s.lower_bound = s.floor);
    status.lower_bound = 0;
    assert!(kinds(&status).contains(&"wrong_status"));
}

#[test]
fn regions_slabs_and_page_ends_are_held() {
    let program = program();
    let region = |base: u64, size: u64, usages| SpaceRegion {
        space: Space::Local,
        region: Region { base, size, usages },
    };
    let kinds = |options: Options, at: &[(&str, u64)]| -> Vec<&'static str> {
        let facts = Facts::of(&program, &options);
        let mut addresses = facts.addresses();
        for &(name, address) in at {
            for (&id, a) in addresses
                .iter_mut()
                .filter(|(id, _)| facts.name(**id) == name)
            {
                assert!(id.0 < 2);
                *a = address;
            }
        }
        let plan = facts.plan(&addresses);
        let mut kinds: Vec<&str> = verify(&program, &plan).iter().map(|v| v.kind).collect();
        kinds.dedup();
        kinds
    };
    let wide = Options {
        regions: vec![region(0, 1 << 30, UsageMask::ALL)],
        ..options()
    };
    assert_eq!(kinds(wide.clone(), &[]), [""; 0]);
    let split = Options {
        regions: vec![
            region(0, 1 << 20, UsageMask::ALL),
            region(1 << 20, 1 << 20, UsageMask::ALL),
        ],
        ..options()
    };
    assert_eq!(kinds(split.clone(), &[("c", 1 << 20)]), [""; 0]);
    assert_eq!(kinds(split, &[("c", (1 << 20) - PAGE)]), ["outside_region"]);
    let closed = Options {
        regions: vec![region(0, 1 << 30, UsageMask(1 << Usage::Collective as u32))],
        ..options()
    };
    assert_eq!(kinds(closed, &[]), ["outside_region"]);
    let slabs = Options {
        shared_mib_per_core: 1,
        ..options()
    };
    assert_eq!(kinds(slabs.clone(), &[]), [""; 0]);
    assert_eq!(kinds(slabs, &[("s", 1 << 20)]), ["outside_slab"]);
    let packed = Options {
        packed: true,
        floor: Floor::Holes,
        ..options()
    };
    assert_eq!(kinds(packed.clone(), &[]), [""; 0]);
    assert_eq!(
        kinds(packed, &[("b", 100 * PAGE - 100)]),
        ["straddles_page"]
    );
}

#[test]
fn programs_that_no_plan_can_be_right_for_are_named() {
    let broken = |break_it: &dyn Fn(&mut Function)| -> Vec<&'static str> {
        let mut program = program();
        let plan = planned(&program, &options());
        break_it(program.module_mut(1).function_mut(0));
        verify(&program, &plan).iter().map(|v| v.kind).collect()
    };
    let extra = |spec: MemLocSpec<'static>| {
        broken(&move |f| {
            f.add_memloc(&spec).expect("valid by itself");
        })
    };
    let link = |core, name| Some((core, name));
    assert!(
        extra(MemLocSpec {
            remote: link(5, "s"),
            ..loc("n", 8)
        })
        .contains(&"bad_group")
    );
    assert!(
        extra(MemLocSpec {
            remote: link(0, "gone"),
            ..loc("n", 8)
        })
        .contains(&"bad_group")
    );
    assert!(
        extra(MemLocSpec {
            remote: link(0, "s"),
            ..loc("n", PAGE)
        })
        .contains(&"bad_group"),
        "two on one core"
    );
    assert!(
        extra(MemLocSpec {
            remote: link(0, "a"),
            ..loc("n", 9)
        })
        .contains(&"bad_group"),
        "unequal bytes"
    );
    let pin = MemLocSpec {
        usage: Usage::Input,
        address: Some(4096),
        ..loc("n", PAGE)
    };
    assert!(extra(pin).contains(&"pins_overlap"));
    let barrier = broken(&|f| run(f, Kind::Barrier, &[], &[]));
    assert!(barrier.contains(&"bad_barriers"));
}
