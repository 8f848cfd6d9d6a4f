//! One range of addresses per core: who may lie where, and what agreeing costs. // M7

use std::collections::BTreeMap;

use super::lanes::Lanes;
use super::scene::Scene;
use super::*;
use crate::error::Fault;
use crate::ir::{
    BlockId, Extent, FlatIndex, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Operand,
    Segment, Usage, overlap,
};
use crate::options::Strategy;
use crate::options::{Floor, Geometry, Options};
use crate::pace::Pace;
use crate::plan::MemLocPlan;
use crate::testing::{self, Shape};
use crate::verify::verify;

const PAGE: u64 = 4096;

fn unified() -> Options {
    Options {
        geometry: Geometry::Unified,
        ..Options::default()
    }
}

/// A location of some pages; `of` and `reach` make it shared.
#[derive(Clone, Default)]
struct Loc {
    name: &'static str,
    pages: u64,
    shared: bool,
    reach: Vec<u32>,
    pin: Option<u64>,
    usage: Usage,
}

fn loc(name: &'static str, pages: u64) -> Loc {
    Loc {
        name,
        pages,
        ..Loc::default()
    }
}

fn shared(name: &'static str, pages: u64) -> Loc {
    Loc {
        shared: true,
        ..loc(name, pages)
    }
}

/// A module of one function; every line of the code is an instruction that defines the words before
/// `<` and uses those after, a barrier is `|`.
fn core(core: u32, locs: &[Loc], code: &[&str]) -> Module {
    let mut function = Function::new("main");
    for loc in locs {
        let spec = MemLocSpec {
            name: loc.name,
            extent: Some(Extent::Bytes(loc.pages * PAGE)),
            space: if loc.shared {
                Space::Shared
            } else {
                Space::Local
            },
            reach: &loc.reach,
            address: loc.pin,
            usage: loc.usage,
            ..Default::default()
        };
        function.add_memloc(&spec).expect("valid");
    }
    add_code(&mut function, code);
    let mut module = Module::new(&format!("m{core}"), core);
    module.add_function(function).expect("the only one");
    module
}

fn add_code(function: &mut Function, code: &[&str]) {
    for line in code {
        let (defs, uses) = line.split_once('<').unwrap_or((line, ""));
        let operands = |words: &str| -> Vec<Operand> {
            let known = |name| function.find_memloc(name).expect("declared").into();
            words.split_whitespace().map(known).collect()
        };
        let kind = if *line == "|" {
            Kind::Barrier
        } else {
            Kind::Compute
        };
        let (defs, uses) = match kind {
            Kind::Barrier => Default::default(),
            _ => (operands(defs), operands(uses)),
        };
        let spec = InstructionSpec {
            op: "op",
            kind,
            defs: &defs,
            uses: &uses,
            ..Default::default()
        };
        function.add_instruction(&spec).expect("valid");
    }
}

fn program(modules: impl IntoIterator<Item = Module>) -> Program {
    let mut program = Program::new("p");
    for module in modules {
        program.add_module(module).expect("one per core");
    }
    program
}

/// Plans and verifies.
fn planned(program: &Program, options: &Options) -> Plan {
    let plan = plan(program, options, &mut Control::default()).expect("it fits");
    assert_eq!(verify(program, &plan), [], "{plan:#?}");
    plan
}

fn row<'p>(plan: &'p Plan, core: usize, name: &str) -> &'p MemLocPlan {
    let rows = &plan.modules[core].functions[0].memlocs;
    rows.iter().find(|row| row.name == name).expect("planned")
}

fn at(plan: &Plan, core: usize, name: &str) -> u64 {
    row(plan, core, name).address.expect("placed")
}

#[test]
fn local_locations_lie_around_groups_while_these_live() {
    // s lives in epoch 0 on both cores; core 1 does not touch it after the first instruction.
    let first = core(
        0,
        &[shared("s", 2), loc("a", 1), loc("b", 1)],
        &["s a", "< s a", "|", "b", "< b"],
    );
    let second = core(
        1,
        &[shared("s", 2), loc("c", 1), loc("d", 1)],
        &["< s", "c", "< c", "|", "d", "< d"],
    );
    let p = program([first, second]);
    let plan = planned(&p, &unified());
    assert_eq!((at(&plan, 0, "s"), at(&plan, 1, "s")), (0, 0));
    assert_eq!(at(&plan, 0, "a"), 2 * PAGE);
    assert_eq!(at(&plan, 1, "c"), 2 * PAGE, "s is there, touched or not");
    assert_eq!(at(&plan, 0, "b"), 0, "after the barrier s is gone");
    assert_eq!(at(&plan, 1, "d"), 0);
    assert_eq!(plan.status, crate::Status::Optimal);
    assert_eq!(
        (plan.metrics["core_0_agreed"], plan.peak),
        (3 * PAGE, 3 * PAGE)
    );
    assert_eq!(plan.metrics["agreement_cost"], 0);
    let split = planned(&p, &Options::default());
    assert_eq!(
        at(&split, 0, "a"),
        0,
        "in split geometry each space has its own"
    );
    assert!(!split.metrics.contains_key("agreement_cost"));
}

#[test]
fn groups_that_no_core_has_both_of_share_bytes() {
    let pair = |name, number| core(number, &[shared(name, 2)], &[name, "<"]);
    let p = program([pair("s", 0), pair("s", 1), pair("t", 2), pair("t", 3)]);
    let plan = planned(&p, &unified());
    assert_eq!((at(&plan, 0, "s"), at(&plan, 3, "t")), (0, 0));
    assert_eq!(plan.spaces[0].peak, 2 * PAGE);
    let split = planned(&p, &Options::default());
    assert_ne!(at(&split, 0, "s"), at(&split, 3, "t"));
}

#[test]
fn an_explicit_reach_widens_where_a_group_must_be_free() {
    let modules = |reach: Vec<u32>| {
        let s = Loc {
            reach,
            ..shared("s", 2)
        };
        let user = |number| core(number, std::slice::from_ref(&s), &["s", "< s"]);
        [user(0), user(1), core(2, &[loc("a", 1)], &["a", "< a"])]
    };
    let plan = planned(&program(modules(vec![])), &unified());
    assert_eq!(at(&plan, 2, "a"), 0);
    let p = program(modules(vec![0, 2]));
    let plan = planned(&p, &unified());
    assert_eq!(at(&plan, 2, "a"), 2 * PAGE);
    assert_eq!(plan.metrics["core_2_agreed"], 3 * PAGE);
    let split = planned(&p, &Options::default());
    assert_eq!(at(&split, 2, "a"), 0, "one shared space is everybody's");
    let p = program(modules(vec![7]));
    let error = plan_of(&p, &unified()).unwrap_err().to_string();
    assert!(
        error.contains("no core 7") && error.contains("s"),
        "{error}"
    );
    assert!(plan_of(&p, &Options::default()).is_ok());
}

fn plan_of(program: &Program, options: &Options) -> Result<Plan> {
    plan(program, options, &mut Control::default())
}

#[test]
fn a_group_that_says_whom_it_reaches_is_never_demoted() {
    let s = Loc {
        reach: vec![1],
        ..shared("s", 1)
    };
    let p = program([
        core(0, &[s], &["s", "< s"]),
        core(1, &[loc("a", 1)], &["a", "< a"]),
    ]);
    for geometry in [Geometry::Split, Geometry::Unified] {
        let options = Options {
            geometry,
            ..Options::default()
        };
        let plan = planned(&p, &options);
        assert_eq!(row(&plan, 0, "s").space, Space::Shared);
        let beside = if geometry == Geometry::Unified {
            PAGE
        } else {
            0
        };
        assert_eq!(at(&plan, 1, "a"), beside);
    }
}

#[test]
fn the_cost_of_agreeing_is_told_by_core() {
    // Three groups, any two of which meet on one core; alone, a core could do with two pages.
    let names = [["r", "s"], ["s", "t"], ["t", "r"]];
    let modules = names.iter().zip(0..).map(|([a, b], number)| {
        let define = format!("{a} {b}");
        let locs = [shared(a, 1), shared(b, 1)];
        core(number, &locs, &[&define, &format!("< {define}")])
    });
    let plan = planned(&program(modules), &unified());
    let figure = |what: &str, core: u32| plan.metrics[&format!("core_{core}_{what}")] / PAGE;
    let mut agreed: Vec<u64> = (0..3).map(|core| figure("agreed", core)).collect();
    agreed.sort_unstable();
    assert_eq!(agreed, [2, 3, 3]);
    assert!((0..3).all(|core| figure("alone", core) == 2));
    assert_eq!(plan.metrics["agreement_cost"], PAGE);
    let notes = plan.notes.iter().filter(|note| note.contains("4096 less"));
    assert_eq!(notes.count(), 2, "{:?}", plan.notes);
    // What no core proves alone is not called proven.
    assert_eq!(plan.status, crate::Status::Feasible);
    assert_eq!((plan.peak, plan.lower_bound), (3 * PAGE, 2 * PAGE));
}

#[test]
fn a_failure_names_the_core_and_the_group_in_the_way() {
    let p = program([
        core(0, &[shared("s", 2)], &["s", "< s"]),
        core(1, &[shared("s", 2), loc("big", 3)], &["big", "< s big"]),
    ]);
    let options = Options {
        capacity: Some(4 * PAGE),
        ..unified()
    };
    let error = plan_of(&p, &options).unwrap_err();
    assert_eq!(error.place.core, Some(1));
    let Fault::NoRoom(report) = &error.fault else {
        panic!("{error}")
    };
    assert_eq!((report.location.as_str(), report.deficit), ("big", PAGE));
    assert_eq!(report.holders[0].location, "s (shared, owner core 0)");
    assert_eq!(report.holders[0].bytes, 2 * PAGE);
    assert!(planned_within(&p, 5));
    assert!(!planned_within(&p, 4));
}

#[test]
fn a_group_that_finds_no_room_names_the_pin_in_the_way_and_its_core() {
    let w = Loc {
        pin: Some(PAGE),
        usage: Usage::Weight,
        ..loc("w", 2)
    };
    let p = program([
        core(0, &[shared("s", 2)], &["s", "< s"]),
        core(1, &[shared("s", 2), w], &["< s w"]),
    ]);
    let options = |pages| Options {
        floor: Floor::Holes,
        capacity: Some(pages * PAGE),
        ..unified()
    };
    let error = plan_of(&p, &options(4)).unwrap_err();
    assert_eq!(error.place.core, Some(1), "{error}");
    let Fault::NoRoom(report) = &error.fault else {
        panic!("{error}")
    };
    assert_eq!(report.holders[0].location, "w of core 1");
    let plan = planned(&p, &options(5));
    assert_eq!(at(&plan, 0, "s"), 3 * PAGE);
}

fn planned_within(program: &Program, pages: u64) -> bool {
    let options = Options {
        capacity: Some(pages * PAGE),
        ..unified()
    };
    let plan = plan_of(program, &options);
    plan.is_ok_and(|plan| verify(program, &plan).is_empty())
}

#[test]
fn the_floor_of_groups_is_that_of_the_cores_they_reach() {
    let w = |pages| Loc {
        pin: Some(0),
        usage: Usage::Weight,
        ..loc("w", pages)
    };
    let p = program([
        core(0, &[shared("s", 1), w(2), loc("a", 1)], &["s a", "< s w a"]),
        core(1, &[shared("s", 1), w(1), loc("b", 1)], &["s b", "< s w b"]),
        core(2, &[w(9), loc("c", 1)], &["c", "< w c"]),
    ]);
    let plan = planned(&p, &unified());
    assert_eq!(
        at(&plan, 0, "s"),
        2 * PAGE,
        "above core 0's weights, not core 2's"
    );
    assert_eq!(at(&plan, 0, "a"), 3 * PAGE);
    assert_eq!(at(&plan, 1, "b"), PAGE, "core 1 begins above its own");
    assert_eq!(at(&plan, 2, "c"), 9 * PAGE);
}

#[test]
fn pins_of_both_spaces_on_one_core_must_not_meet() {
    let s = Loc {
        pin: Some(PAGE),
        usage: Usage::Input,
        ..shared("s", 2)
    };
    let w = Loc {
        pin: Some(0),
        usage: Usage::Weight,
        ..loc("w", 2)
    };
    let p = program([
        core(0, std::slice::from_ref(&s), &["< s"]),
        core(1, &[s, w], &["< s w"]),
    ]);
    let error = plan_of(&p, &unified()).unwrap_err().to_string();
    assert!(
        error.contains("w") && error.contains("s (shared"),
        "{error}"
    );
    assert!(plan_of(&p, &Options::default()).is_ok());
}

#[test]
fn one_module_alone_is_planned_as_in_the_whole() {
    testing::for_each_seed(0..200, |u| {
        let options = Options {
            strategy: *u.choose(&[Strategy::Reference, Strategy::Fast])?,
            ..unified()
        };
        let program = testing::program(u, &Shape::many_cores())?;
        let mut groups = None;
        for m in 0..program.modules().len() {
            let control = &mut Control::default();
            let mut whole = Planning::new(program.modules(), &options, control).expect("valid");
            for other in (0..program.modules().len()).rev() {
                whole.place_local(other, control).expect("it fits");
            }
            let whole = whole.assemble();
            let alone = plan_module(&program, m, &options, control).expect("it fits");
            assert_eq!(groups.get_or_insert(alone.digest.clone()), &alone.digest);
            let rows = alone.modules[m]
                .functions
                .iter()
                .zip(&whole.modules[m].functions);
            for (alone, whole) in rows.flat_map(|(a, b)| a.memlocs.iter().zip(&b.memlocs)) {
                // A simpler strategy may have its turn on what is the module's own.
                if options.strategy == Strategy::Reference || alone.space == Space::Shared {
                    assert_eq!(alone.address, whole.address);
                }
            }
            let mut around = whole;
            around.modules[m] = alone.modules[m].clone();
            let overlaps = verify(&program, &around).into_iter();
            let overlaps: Vec<_> = overlaps.filter(|v| v.kind == "overlap").collect();
            assert_eq!(overlaps, [], "{program:?}");
        }
        Ok(())
    });
}

#[test]
fn the_debug_space_gets_what_the_one_range_leaves() {
    let mut first = core(0, &[shared("s", 2), loc("a", 1)], &["s a", "< s a"]);
    let debug = MemLocSpec {
        name: "dbg",
        extent: Some(Extent::Bytes(PAGE)),
        space: Space::Debug,
        ..Default::default()
    };
    first.function_mut(0).add_memloc(&debug).expect("valid");
    add_code(first.function_mut(0), &["dbg", "< dbg"]);
    let p = program([first, core(1, &[shared("s", 2)], &["s", "< s"])]);
    assert!(planned_within(&p, 4), "three pages in one range, and debug");
    assert!(!planned_within(&p, 3));
}

/// Lanes say exactly what all pairs of groups say: they interfere iff some core is reached by both
/// and their lives meet.
#[test]
fn lives_on_lanes_overlap_iff_some_core_has_both_at_one_time() {
    let mut met = [0, 0];
    testing::for_each_seed(0..400, |u| {
        let options = unified();
        let shape = Shape {
            cores: u.int_in_range(1..=5)?,
            functions: 3,
            ..Shape::many_cores()
        };
        let program = testing::program(u, &shape)?;
        let scene = Scene::of(program.modules(), &options, &Control::default()).expect("valid");
        let lanes = Lanes::of(&scene, |_| false).expect("short");
        let on_lanes =
            |i: usize| lanes.spread(&lanes.of_modules(&scene.reach[i]), &scene.group_lives[i]);
        let groups = 0..scene.groups.all.len();
        for (i, j) in groups.clone().flat_map(|i| (0..i).map(move |j| (i, j))) {
            let both = (0..program.modules().len())
                .any(|m| scene.reach[i].contains(&m) && scene.reach[j].contains(&m));
            let want = both && overlap(&scene.group_lives[i], &scene.group_lives[j]);
            assert_eq!(overlap(&on_lanes(i), &on_lanes(j)), want, "{program:?}");
            met[usize::from(want)] += 1;
        }
        Ok(())
    });
    assert!(met[0] > 0 && met[1] > 0, "{met:?}");
}

/// The epochs of each instruction as a walk through straight-line code with its calls meets them.
fn walk(
    modules: &Module,
    f: usize,
    epoch: &mut u32,
    seen: &mut BTreeMap<(usize, u32), Vec<(u32, u32)>>,
) {
    let function = &modules.functions()[f];
    for (t, instruction) in function.instructions().iter().enumerate() {
        *epoch += u32::from(instruction.kind == Kind::Barrier);
        let first = *epoch;
        if let Some(callee) = function.callee(FlatIndex::new(t)) {
            let name = function.symbol(callee);
            let callee = modules.functions().iter().position(|f| f.name() == name);
            walk(modules, callee.expect("it exists"), epoch, seen);
        }
        let range = (first, *epoch);
        seen.entry((f, t as u32)).or_default().push(range);
    }
}

#[test]
fn the_moments_of_straight_code_are_those_of_a_walk_through_it() {
    let mut occupied = 0;
    testing::for_each_seed(0..500, |u| {
        // Barriers in callees too.
        let count = u.int_in_range(1..=4)?;
        let mut module = Module::new("m", 0);
        for f in 0..count {
            let mut function = Function::new(&format!("f{f}"));
            for _ in 0..u.int_in_range(1..=5)? {
                let callee = format!("f{}", u.int_in_range(f..=count)?.max(f + 1));
                let (kind, callee) = match u.int_in_range(0..=3)? {
                    0 => (Kind::Barrier, None),
                    1 if f + 1 < count && callee != format!("f{count}") => {
                        (Kind::Call, Some(callee.as_str()))
                    }
                    _ => (Kind::Compute, None),
                };
                let spec = InstructionSpec {
                    op: "op",
                    kind,
                    callee,
                    ..Default::default()
                };
                function.add_instruction(&spec).expect("valid");
            }
            module.add_function(function).expect("named apart");
        }
        let modules = [module];
        let calls = [CallGraph::of(&modules[0], &mut Pace::free()).expect("no recursion")];
        let groups = crate::shared::Groups::default();
        let timeline = crate::shared::Timeline::of(&modules, &calls, &groups, &mut Pace::free());
        let timeline = timeline.expect("one core agrees");
        let mut seen = BTreeMap::new();
        let mut start = 0;
        for f in (0..count as usize).filter(|&f| calls[0].is_entry(f)) {
            let mut epoch = start;
            walk(&modules[0], f, &mut epoch, &mut seen);
            start = epoch + 1;
        }
        assert_eq!(timeline.len(), start);
        let from = u.int_in_range(0..=start - 1)?;
        let to = u.int_in_range(from..=start - 1)?;
        let life = Segment::new(FlatIndex(from), FlatIndex(to)).expect("ascending");
        for f in 0..count as usize {
            let got = timeline.indices(0, f, &[life]);
            for t in 0..modules[0].functions()[f].instructions().len() as u32 {
                let runs = &seen[&(f, t)];
                let want = runs.iter().any(|&(lo, hi)| lo <= to && from <= hi);
                let is = got.iter().any(|s| s.contains(FlatIndex(t)));
                assert_eq!(is, want, "{t} of f{f} in {life:?}: {modules:?}");
                occupied += u32::from(want);
                let at = Segment::new(FlatIndex(t), FlatIndex(t)).expect("one instruction");
                let epochs = timeline.epochs_of(0, f, &[at]);
                for epoch in 0..start {
                    let want = runs.iter().any(|&(lo, hi)| lo <= epoch && epoch <= hi);
                    let is = epochs.iter().any(|s| s.contains(FlatIndex(epoch)));
                    assert_eq!(is, want, "{t} of f{f} in epoch {epoch}: {modules:?}");
                }
            }
        }
        Ok(())
    });
    assert!(occupied > 0);
}

#[test]
fn what_is_called_in_a_loop_with_barriers_may_run_in_any_of_its_epochs() {
    let mut main = Function::new("main");
    let call = InstructionSpec {
        kind: Kind::Call,
        callee: Some("f"),
        ..Default::default()
    };
    let barrier = InstructionSpec {
        kind: Kind::Barrier,
        ..Default::default()
    };
    for specs in [&[][..], &[call, barrier], &[call]] {
        main.add_block("");
        for spec in specs {
            main.add_instruction(spec).expect("valid");
        }
        if specs.is_empty() {
            main.add_instruction(&InstructionSpec::default())
                .expect("valid");
        }
    }
    for (block, succs) in [(0, vec![1]), (1, vec![1, 2]), (2, vec![])] {
        let succs: Vec<BlockId> = succs.into_iter().map(BlockId).collect();
        main.set_successors(BlockId(block), &succs).expect("valid");
    }
    let mut f = Function::new("f");
    f.add_instruction(&InstructionSpec::default())
        .expect("valid");
    let mut module = Module::new("m", 0);
    module.add_function(main).expect("valid");
    module.add_function(f).expect("valid");
    let modules = [module];
    let calls = [CallGraph::of(&modules[0], &mut Pace::free()).expect("no recursion")];
    let groups = crate::shared::Groups::default();
    let timeline = crate::shared::Timeline::of(&modules, &calls, &groups, &mut Pace::free());
    let timeline = timeline.expect("one core agrees");
    let all = Segment::new(FlatIndex(0), FlatIndex(0)).expect("one");
    for epoch in 0..2 {
        let life = Segment::new(FlatIndex(epoch), FlatIndex(epoch)).expect("one");
        assert_eq!(timeline.indices(0, 1, &[life]), [all], "epoch {epoch}");
    }
}

/// Bytes of a core that something takes over some instructions.
struct Box {
    core: u32,
    lives: Vec<bool>,
    start: u64,
    end: u64,
    of: (usize, MemLocId),
}

/// First fit leaves nothing that could lie lower, by all pairs and every page: the naive oracle.
#[test]
fn in_a_reference_plan_nothing_could_lie_lower() {
    let mut lifted = 0;
    testing::for_each_seed(0..500, |u| {
        let options = Options {
            strategy: Strategy::Reference,
            cc_limit: 0,
            ..unified()
        };
        let shape = Shape {
            branches: false,
            tangles: false,
            in_place: false,
            calls: false,
            pins: false,
            functions: 1,
            cores: u.int_in_range(2..=4)?,
            roots: 6,
            ..Shape::default()
        };
        let program = testing::program(u, &shape)?;
        let plan = planned(&program, &options);
        let scene = Scene::of(program.modules(), &options, &Control::default()).expect("valid");
        let mut boxes: Vec<Box> = Vec::new();
        // Candidates: where they lie, their alignment, and the boxes of the same thing.
        let mut things: Vec<(Vec<usize>, u64)> = Vec::new();
        let epochs = |m: usize| {
            let instructions = program.modules()[m].functions()[0].instructions();
            let barrier = |i: &crate::ir::Instruction| u32::from(i.kind == Kind::Barrier);
            let epochs = instructions.iter().scan(0, move |epoch, i| {
                *epoch += barrier(i);
                Some(*epoch)
            });
            epochs.collect::<Vec<u32>>()
        };
        let align = |loc: &crate::ir::MemLoc| loc.align().unwrap_or(PAGE).max(PAGE);
        for (m, module) in program.modules().iter().enumerate() {
            let function = &module.functions()[0];
            for id in function.memloc_ids() {
                let (loc, row) = (
                    function.memloc(id),
                    &plan.modules[m].functions[0].memlocs[id.index()],
                );
                let Some(start) = row
                    .address
                    .filter(|_| loc.view().is_none() && loc.bytes > 0)
                else {
                    continue;
                };
                let end = start + row.aligned;
                let of = (m, id);
                if row.space == Space::Local {
                    let mut lives = vec![false; function.instructions().len()];
                    for &(lo, hi) in &row.segments {
                        lives[lo as usize..=hi as usize].fill(true);
                    }
                    things.push((vec![boxes.len()], align(loc)));
                    boxes.push(Box {
                        core: module.core(),
                        lives,
                        start,
                        end,
                        of,
                    });
                }
            }
        }
        for group in scene.groups.placed().filter(|g| g.bytes > 0) {
            let (m, id) = (group.owner.module as usize, group.owner.loc);
            let row = &plan.modules[m].functions[0].memlocs[id.index()];
            let start = row.address.expect("placed");
            let touched = |m: &crate::shared::Member| {
                let function = &program.modules()[m.module as usize].functions()[0];
                let epochs = epochs(m.module as usize);
                let touches = move |t: &FlatIndex| {
                    let all = function.uses(*t).iter().chain(function.defs(*t));
                    all.into_iter().any(|a| function.root(a.loc).0 == m.loc)
                };
                let count = function.instructions().len() as u32;
                let touching = (0..count).map(FlatIndex).filter(touches);
                touching.map(|t| epochs[t.index()]).collect::<Vec<u32>>()
            };
            let touched: Vec<u32> = group.members.iter().flat_map(touched).collect();
            let (mut first, mut last) = (
                *touched.iter().min().expect("some core touches it"),
                *touched.iter().max().expect("some core touches it"),
            );
            if group.escapes {
                (first, last) = (0, u32::MAX);
            }
            let mut mine = Vec::new();
            for (m, module) in program.modules().iter().enumerate() {
                if group.reach.contains(&module.core()) {
                    mine.push(boxes.len());
                    let lives = epochs(m);
                    boxes.push(Box {
                        core: module.core(),
                        lives: lives.iter().map(|e| (first..=last).contains(e)).collect(),
                        start,
                        end: start + row.aligned,
                        of: (usize::MAX, id),
                    });
                }
            }
            // A core on which nothing runs in those epochs still keeps two groups apart.
            things.push((mine, group.align.unwrap_or(PAGE).max(PAGE)));
        }
        let meet = |a: &Box, b: &Box| {
            a.core == b.core && a.lives.iter().zip(&b.lives).any(|(x, y)| *x && *y)
        };
        for (mine, align) in &things {
            let (start, size) = (
                boxes[mine[0]].start,
                boxes[mine[0]].end - boxes[mine[0]].start,
            );
            let groups_only = boxes[mine[0]].of.0 == usize::MAX;
            if groups_only && mine.iter().any(|&i| !boxes[i].lives.contains(&true)) {
                continue; // Its epochs say more than its boxes do.
            }
            lifted += u32::from(start > 0);
            for lower in (0..start).step_by(*align as usize) {
                let blocked = boxes.iter().enumerate().any(|(j, other)| {
                    !mine.contains(&j)
                        && other.start < lower + size
                        && lower < other.end
                        && mine.iter().any(|&i| meet(&boxes[i], other))
                });
                let what = &boxes[mine[0]];
                assert!(
                    blocked,
                    "{:?} could lie at {lower}: {plan:#?} {program:?}",
                    what.of
                );
            }
        }
        Ok(())
    });
    assert!(lifted > 100, "{lifted}");
}

#[test]
fn linked_members_of_other_names_reach_their_cores() {
    let mut follower = core(1, &[loc("mine", 1)], &["mine", "< mine"]);
    let spec = MemLocSpec {
        name: "t",
        extent: Some(Extent::Bytes(2 * PAGE)),
        remote: Some((0, "s")),
        ..Default::default()
    };
    follower.function_mut(0).add_memloc(&spec).expect("valid");
    add_code(follower.function_mut(0), &["< t"]);
    let p = program([
        core(0, &[loc("s", 2)], &["s"]),
        follower,
        core(2, &[loc("a", 1)], &["a", "< a"]),
    ]);
    let plan = planned(&p, &unified());
    assert_eq!((at(&plan, 0, "s"), at(&plan, 1, "t")), (0, 0));
    assert_eq!((at(&plan, 1, "mine"), at(&plan, 2, "a")), (2 * PAGE, 0));
}
