//! Plans broken on purpose. // V4

use std::collections::BTreeMap;

use super::right::{planned, with_edges};
use crate::ir::{
    BlockId, FlatIndex, Function, InstructionSpec, Kind, MemLocId, Module, Operand, Program,
    Skipped, Space,
};
use crate::liveness::LivenessWarning;
use crate::options::{Geometry, Options};
use crate::plan::{MemLocPlan, Plan};
use crate::testing::{self, Result, Shape, Unstructured};
use crate::verify::deep::{Deep, verify_deep};
use crate::verify::tests::planned::show;
use crate::verify::verify;

const PAGE: u64 = 4096;

/// A way to break a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    /// An address moved onto that of another location.
    Onto,
    /// An address moved by a page.
    Page,
    /// A dependence dropped.
    Edge,
    /// Two shared copies swapped on one core.
    Swap,
    /// A candidate skipped.
    Skip,
}

const BREAKS: [Break; 5] = [
    Break::Onto,
    Break::Page,
    Break::Edge,
    Break::Swap,
    Break::Skip,
];

/// How breaks of one kind went.
#[derive(Debug, Default)]
struct Tally {
    broken: u32,
    /// Geometry says that two locations hold common bytes at one time.
    overlaps: u32,
    caught: u32,
    overlaps_caught: u32,
}

/// The rows of the placed candidates of some function of some core.
fn rows<'p>(u: &mut Unstructured<'_>, plan: &'p mut Plan) -> Result<Vec<&'p mut MemLocPlan>> {
    let module = u.choose_index(plan.modules.len())?;
    let functions = &mut plan.modules[module].functions;
    let function = u.choose_index(functions.len())?;
    let rows = functions[function].memlocs.iter_mut();
    Ok(rows
        .filter(|r| r.address.is_some() && !r.pinned && r.bytes > 0)
        .collect())
}

/// Breaks a plan; whether there was anything to break.
fn broken(u: &mut Unstructured<'_>, how: Break, plan: &mut Plan) -> Result<bool> {
    let unified = plan.options.geometry == Geometry::Unified;
    match how {
        Break::Onto => {
            let mut rows = rows(u, plan)?;
            if rows.len() < 2 {
                return Ok(false);
            }
            let (a, b) = (u.choose_index(rows.len())?, u.choose_index(rows.len())?);
            let (space, address) = (rows[a].space, rows[a].address);
            // In one range of addresses a local location may be moved onto a shared one. // M7
            let one_range = unified && rows[b].space == Space::Local && space == Space::Shared;
            let moves = (rows[b].space == space || one_range) && rows[b].address != address;
            rows[b].address = address;
            Ok(moves)
        }
        Break::Page => {
            let mut rows = rows(u, plan)?;
            if rows.is_empty() {
                return Ok(false);
            }
            let at = u.choose_index(rows.len())?;
            let address = rows[at].address.expect("filtered");
            let up = u.arbitrary()?;
            rows[at].address = if up {
                address.checked_add(PAGE)
            } else {
                address.checked_sub(PAGE)
            };
            Ok(rows[at].address.is_some())
        }
        Break::Edge => {
            let edges = plan.dependences.as_mut().expect("they were added");
            if edges.is_empty() {
                return Ok(false);
            }
            edges.remove(u.choose_index(edges.len())?);
            Ok(true)
        }
        Break::Swap => {
            let mut rows = rows(u, plan)?;
            rows.retain(|r| r.shared);
            if rows.len() < 2 {
                return Ok(false);
            }
            let (first, rest) = rows.split_first_mut().expect("two");
            let other = &mut rest[0];
            let moves = first.address != other.address;
            std::mem::swap(&mut first.address, &mut other.address);
            Ok(moves)
        }
        Break::Skip => {
            let mut rows = rows(u, plan)?;
            if rows.is_empty() {
                return Ok(false);
            }
            let at = u.choose_index(rows.len())?;
            rows[at].address = None;
            rows[at].skipped = Some(Skipped::Unreferenced);
            Ok(true)
        }
    }
}

/// The program without one barrier of a function, on every core; `None` if some core has fewer.
fn without_barrier(program: &Program, name: &str, which: usize) -> Option<Program> {
    let mut less = Program::new(&program.name);
    for module in program.modules() {
        let mut copy = Module::new(module.name(), module.core());
        for function in module.functions() {
            let mut skip = None;
            if function.name() == name {
                let barriers = function.instructions().iter().enumerate();
                let mut barriers = barriers.filter(|(_, i)| i.kind == Kind::Barrier);
                skip = Some(barriers.nth(which)?.0);
            }
            copy.add_function(copied(function, skip))
                .expect("as before");
        }
        less.add_module(copy).expect("as before");
    }
    Some(less)
}

fn copied(function: &Function, skip: Option<usize>) -> Function {
    let mut copy = Function::new(function.name());
    let specs: Vec<crate::ir::MemLocSpec<'_>> = (function.memloc_ids())
        .map(|id| {
            let loc = function.memloc(id);
            let view = loc.view().map(|v| (v.parent, v.offset));
            crate::ir::MemLocSpec {
                bank: crate::ir::Bank::default(),
                name: function.memloc_name(id),
                extent: Some(function.extent(id)),
                memory: if view.is_none() {
                    loc.memory
                } else {
                    Default::default()
                },
                space: if view.is_none() {
                    loc.space
                } else {
                    Default::default()
                },
                usage: loc.usage,
                align: loc.align(),
                address: if view.is_none() { loc.pin() } else { None },
                view,
                escapes: loc.escapes(),
                remote: function.remote(id).map(|r| (r.core, r.name.as_str())),
                reach: function.reach(id),
                cookie: loc.cookie(),
            }
        })
        .collect();
    copy.add_memlocs(&specs).expect("as before");
    for block in (0..function.blocks().len()).map(BlockId::new) {
        copy.add_block(&function.blocks()[block.index()].name);
        for i in function.block_range(block) {
            if skip == Some(i as usize) {
                continue;
            }
            let index = crate::ir::FlatIndex(i);
            let old = &function.instructions()[i as usize];
            let operands = |list: crate::ir::Accesses<'_>| -> Vec<Operand> {
                list.iter().map(Operand::from).collect()
            };
            let args: Vec<(crate::ir::MemLocId, &str)> = (function.args(index).iter())
                .map(|a| (a.caller, function.symbol(a.callee)))
                .collect();
            let spec = InstructionSpec {
                op: function.symbol(old.op),
                kind: old.kind,
                engine: old.engine,
                uses: &operands(function.uses(index)),
                defs: &operands(function.defs(index)),
                in_place: function.in_place(index),
                callee: function.callee(index).map(|c| function.symbol(c)),
                args: &args,
                id: function.barrier_id(index),
                ..InstructionSpec::default()
            };
            copy.add_instruction(&spec).expect("as before");
        }
    }
    for block in (0..function.blocks().len()).map(BlockId::new) {
        copy.set_successors(block, function.successors(block))
            .expect("as before");
    }
    copy
}

/// Whether some use may read bytes that nothing has written, which no run compares. // L5
fn reads_unwritten(program: &Program) -> bool {
    let functions = program.modules().iter().flat_map(|m| m.functions());
    functions.into_iter().any(|f| {
        let warnings = crate::liveness::liveness(f).warnings;
        let unwritten = |w: &LivenessWarning| matches!(w, LivenessWarning::UninitializedUse { .. });
        // Of shared locations nothing is said, for another core may write them; in straight code
        // those that one core touches alone are read before they are written.
        let mut shared = f
            .memloc_ids()
            .filter(|&id| f.memloc(id).space == Space::Shared);
        let indices = (0..f.instructions().len()).map(FlatIndex::new);
        let read_first = |id| {
            let names = |list: crate::ir::Accesses<'_>| list.iter().any(|a| f.root(a.loc).0 == id);
            let first = (indices.clone()).find(|&i| names(f.uses(i)) || names(f.defs(i)));
            first.is_some_and(|i| names(f.uses(i)))
        };
        warnings.iter().any(unwritten) || shared.any(read_first)
    })
}

/// Breaks the plans of random programs in some ways; `judge` sees each that was broken, whether
/// geometry finds an overlap, and what the runs find.
fn break_all(
    seeds: std::ops::Range<u64>,
    shape: &Shape,
    geometry: Geometry,
    ways: &[Break],
    mut judge: impl FnMut(Break, &Program, &Plan, bool, &Deep),
) -> BTreeMap<Break, Tally> {
    let mut tallies: BTreeMap<Break, Tally> = BTreeMap::new();
    let options = Options {
        geometry,
        ..Options::default()
    };
    testing::for_each_seed(seeds, |u| {
        let how = *u.choose(ways)?;
        let parallel = how == Break::Edge || u.arbitrary()?;
        let program = testing::program(u, shape)?;
        let Some(mut plan) = planned(&program, &options) else {
            return Ok(());
        };
        if parallel {
            with_edges(&program, &mut plan);
        }
        if !broken(u, how, &mut plan)? {
            return Ok(());
        }
        let overlap = verify(&program, &plan).iter().any(|v| v.kind == "overlap");
        let deep = verify_deep(&program, &plan, None);
        let tally = tallies.entry(how).or_default();
        tally.broken += 1;
        tally.overlaps += u32::from(overlap);
        tally.caught += u32::from(!deep.violations.is_empty());
        tally.overlaps_caught += u32::from(overlap && !deep.violations.is_empty());
        judge(how, &program, &plan, overlap, &deep);
        Ok(())
    });
    tallies
}

/// Whether a location without an address is touched by its own core; one that only others touch is
/// missed by nobody.
fn leaves_out_what_is_touched(program: &Program, plan: &Plan) -> bool {
    let functions = program.modules().iter().flat_map(|m| m.functions());
    let planned = plan.modules.iter().flat_map(|m| &m.functions);
    functions.zip(planned).any(|(function, planned)| {
        let left_out = |id: MemLocId| planned.memlocs[id.index()].skipped.is_some();
        let indices = (0..function.instructions().len()).map(FlatIndex::new);
        let touched = |i| function.uses(i).iter().chain(function.defs(i));
        indices
            .flat_map(touched)
            .any(|a| left_out(function.root(a.loc).0))
    })
}

/// Straight code, whole locations, several cores: whatever is wrong here, a run meets.
fn plain() -> Shape {
    Shape {
        cores: 2,
        roots: 5,
        instructions: 12,
        barriers: true,
        shared: true,
        reach: true,
        ..Shape::plain()
    }
}

#[test]
fn whatever_overlaps_or_is_skipped_or_unordered_in_plain_code_goes_wrong() {
    for (geometry, seeds) in [(Geometry::Split, 0..1500), (Geometry::Unified, 1500..3000)] {
        let judge = |how, program: &Program, plan: &Plan, overlap, deep: &Deep| {
            let sure = match how {
                // Copies that lie apart do no harm where nobody reads what another core wrote.
                Break::Swap => false,
                Break::Edge => true,
                Break::Skip => leaves_out_what_is_touched(program, plan),
                // A group holds its bytes on a core that it reaches also while they mean nothing.
                Break::Onto | Break::Page if geometry == Geometry::Unified => false,
                Break::Onto | Break::Page => overlap && !reads_unwritten(program),
            };
            assert!(
                !sure || !deep.violations.is_empty(),
                "{how:?}\n{}",
                show(program, plan, &verify(program, plan))
            );
        };
        let tallies = break_all(seeds, &plain(), geometry, &BREAKS, judge);
        for how in BREAKS {
            assert!(tallies[&how].caught >= 10, "{how:?} of {tallies:#?}");
        }
    }
}

#[test]
fn most_of_what_is_broken_in_any_code_goes_wrong() {
    for (shape, geometry) in [
        (Shape::single_core(), Geometry::Split),
        (Shape::many_cores(), Geometry::Split),
        (Shape::many_cores(), Geometry::Unified),
    ] {
        let tallies = break_all(0..500, &shape, geometry, &BREAKS, |_, _, _, _, _| {});
        println!("{tallies:#?}");
        for how in [Break::Onto, Break::Page, Break::Edge] {
            let tally = &tallies[&how];
            let (of, caught) = match how {
                Break::Edge => (tally.broken, tally.caught),
                _ => (tally.overlaps, tally.overlaps_caught),
            };
            // What is live by the rules may never be read: dead stores, bytes that nothing has
            // written, slices. What waits may wait on a way that no walk has taken.
            assert!(caught * 5 >= of * 3 && of > 5, "{how:?} of {tallies:#?}");
        }
    }
}

/// By instruction: whether any way from the entry leads there.
fn reachable(function: &Function) -> Vec<bool> {
    let mut reachable = vec![false; function.instructions().len()];
    let mut seen = vec![false; function.blocks().len()];
    let mut work = vec![BlockId::new(0)];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            work.extend(function.successors(block));
            function
                .block_range(block)
                .for_each(|i| reachable[i as usize] = true);
        }
    }
    reachable
}

/// A small program has many ways through it, and few of them show that an edge is missing.
#[test]
fn no_dependence_of_a_small_program_can_be_spared() {
    let one_function = Shape {
        functions: 1,
        ..Shape::single_core()
    };
    let mut dropped = 0;
    testing::for_each_seed(0..200, |u| {
        let program = testing::program(u, &one_function)?;
        let Some(mut plan) = planned(&program, &Options::default()) else {
            return Ok(());
        };
        with_edges(&program, &mut plan);
        let function = &program.modules()[0].functions()[0];
        let reachable = reachable(function);
        let edges = plan.dependences.clone().expect("just added");
        for (which, edge) in edges.iter().enumerate() {
            let ends = [&edge.from, &edge.to];
            if ends.iter().any(|site| !reachable[site.index as usize]) {
                continue;
            }
            let mut less = edges.clone();
            less.remove(which);
            plan.dependences = Some(less);
            let deep = verify_deep(&program, &plan, None);
            assert_ne!(
                deep.violations,
                [],
                "{}\n{edge:?}",
                show(&program, &plan, &[])
            );
            dropped += 1;
        }
        Ok(())
    });
    assert!(dropped > 100, "{dropped}");
}

/// Groups that one core writes before a barrier and another one reads after it, one after the
/// other, so that every second one may have the same bytes.
fn relay(u: &mut Unstructured<'_>) -> Result<Program> {
    let groups = u.int_in_range(4..=8)?;
    let mut names = Vec::new();
    let mut code: [Vec<String>; 2] = Default::default();
    for g in 0..groups {
        let pages: u64 = u.int_in_range(1..=2)?;
        let bytes = pages * PAGE;
        names.push(format!(
            r#"{{"name":"s{g}","bytes":{bytes},"space":"shared"}}"#
        ));
        let writer: usize = u.int_in_range(0..=1)?;
        code[writer].push(format!(r#"{{"op":"write","defs":["s{g}"]}}"#));
        for core in &mut code {
            core.push(format!(r#"{{"op":"sync","kind":"barrier","id":{g}}}"#));
        }
        code[1 - writer].push(format!(r#"{{"op":"read","uses":["s{g}"]}}"#));
    }
    let module = |core: usize| {
        let (names, code) = (names.join(","), code[core].join(","));
        format!(
            r#"{{"name":"m{core}","core":{core},"functions":[
                {{"name":"main","memlocs":[{names}],"instructions":[{code}]}}]}}"#
        )
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"relay","cores":2,
            "modules":[{},{}]}}"#,
        module(0),
        module(1)
    );
    Ok(crate::format::read_program(text.as_bytes()).expect("a valid program"))
}

/// Whether two cores touch common bytes of two groups in one epoch, and one of them writes.
fn collide(program: &Program, plan: &Plan) -> bool {
    let mut touched = Vec::new();
    for (core, module) in program.modules().iter().enumerate() {
        let function = &module.functions()[0];
        let mut epoch = 0;
        for (i, instruction) in function.instructions().iter().enumerate() {
            epoch += u32::from(instruction.kind == Kind::Barrier);
            let index = FlatIndex::new(i);
            let uses = function.uses(index).iter().map(|a| (a.loc, false));
            for (loc, writes) in uses.chain(function.defs(index).iter().map(|a| (a.loc, true))) {
                let start = plan.modules[core].functions[0].memlocs[loc.index()].address;
                let start = start.expect("placed");
                let end = start + function.memloc(loc).bytes;
                touched.push((core, epoch, loc, writes, start, end));
            }
        }
    }
    let collide = |a: &(usize, u32, _, bool, u64, u64), b: &(usize, u32, _, bool, u64, u64)| {
        let parted = a.0 == b.0 || a.1 != b.1 || a.2 == b.2;
        !parted && (a.3 || b.3) && a.4.max(b.4) < a.5.min(b.5)
    };
    touched
        .iter()
        .any(|a| touched.iter().any(|b| collide(a, b)))
}

#[test]
fn a_barrier_less_is_found_where_it_parted_two_groups() {
    let (mut dropped, mut overlaps) = (0, 0);
    testing::for_each_seed(0..100, |u| {
        let program = relay(u)?;
        let plan = planned(&program, &Options::default()).expect("it fits");
        assert_eq!(verify_deep(&program, &plan, None), {
            let executed = verify_deep(&program, &plan, None).executed;
            Deep {
                executed,
                ..Deep::default()
            }
        });
        for which in 0.. {
            let Some(less) = without_barrier(&program, "main", which) else {
                return Ok(());
            };
            let overlap = collide(&less, &plan);
            let deep = verify_deep(&less, &plan, None);
            let found = deep.violations.iter().any(|v| v.kind == "cores_collide");
            assert_eq!(found, overlap, "barrier {which}: {deep:#?}");
            let overlaps_too = verify(&less, &plan).iter().any(|v| v.kind == "overlap");
            assert!(overlaps_too || !overlap, "barrier {which}");
            // What was handed over at this barrier is a race now.
            assert!(!deep.warnings.is_empty(), "barrier {which}: {deep:#?}");
            dropped += 1;
            overlaps += u32::from(overlap);
        }
        Ok(())
    });
    assert!(overlaps > 30, "{overlaps} of {dropped}");
}
