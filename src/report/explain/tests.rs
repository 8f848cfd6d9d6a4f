//! Every figure again: by adding up, from the plan alone, and from scratch on changed programs.

use super::need::{Change, Needs};
use super::*;
use crate::ir::{Extent, Function, InstructionSpec, MemLocSpec, Module, Operand, Segment, Usage};
use crate::options::{Floor, Geometry, Options};
use crate::place::{self, Problem};
use crate::planner::{Holder, Line, Rule};
use crate::testing::{self, Shape, Unstructured, for_each_seed};
use crate::{Control, Error, format};
use serde_json::Value;

/// A random program with a plan of it, if there is one.
fn planned(u: &mut Unstructured<'_>, shape: &Shape) -> testing::Result<Option<(Program, Plan)>> {
    let options = testing::properties::options(u)?;
    let options = Options {
        runtime_page: u.int_in_range(0..=1)?,
        ..options
    };
    let program = testing::program(u, shape)?;
    let plan = crate::plan(&program, &options, &mut Control::default());
    Ok(plan.ok().map(|plan| (program, plan)))
}

fn shapes(u: &mut Unstructured<'_>) -> testing::Result<Shape> {
    Ok(match u.arbitrary()? {
        true => Shape::single_core(),
        false => Shape::many_cores(),
    })
}

#[test]
fn the_parts_of_a_peak_add_up_and_the_bound_is_the_plan_s() {
    let mut seen = [0u64; 8];
    for_each_seed(0..600, |u| {
        let shape = shapes(u)?;
        let Some((program, plan)) = planned(u, &shape)? else {
            return Ok(());
        };
        let explained = explain(&program, &plan, 4).expect("its own plan");
        assert_eq!(explained.spaces.len(), plan.spaces.len());
        assert_eq!(explained.peak, plan.peak);
        let page = explained.runtime_page.as_ref();
        assert_eq!(page.is_some(), plan.options.runtime_page > 0);
        if let Some(page) = page {
            let told = page.straddlers.len() as u64 + page.others;
            let metric = |name: &str| plan.metrics[name];
            assert_eq!(page.pages, Some(metric("runtime_pages")));
            assert_eq!(page.private_bytes, metric("runtime_private_bytes"));
            assert_eq!(page.unavoidable_bytes, metric("runtime_unavoidable_bytes"));
            assert_eq!(told, metric("runtime_straddlers"));
        }
        for space in &explained.spaces {
            let told = plan.spaces.iter();
            let mut told = told.filter(|t| (t.space, t.core) == (space.space, space.core));
            let told = told.next().expect("the same spaces");
            assert_eq!(
                (space.floor, space.peak, space.load_bound, space.lower_bound),
                (told.floor, told.peak, told.lower_bound, told.lower_bound),
                "{:?} {program:?} {plan:?}",
                space.space
            );
            assert_eq!(space.gap.total(), space.peak, "{:?}", space.gap);
            let above = space.gap.regions + space.gap.agreement + space.gap.callers;
            assert!(
                above + space.gap.fragmentation + space.gap.proved
                    >= space.peak - space.lower_bound
            );
            for (sum, (_, bytes)) in seen.iter_mut().zip(space.gap.parts()) {
                *sum += u64::from(bytes > 0);
            }
            for moment in space.at_peak.iter().chain(&space.at_bound) {
                let usages: u64 = moment.usages.iter().map(|u| u.bytes).sum();
                let listed: u64 = moment.occupants.iter().map(|o| o.bytes).sum();
                assert_eq!(usages, moment.live + moment.in_place + moment.pinned);
                assert_eq!(usages, listed + moment.other_bytes);
                assert!(moment.occupants.len() <= 4);
                assert!(moment.occupants.is_sorted_by(|a, b| a.bytes >= b.bytes));
            }
        }
        Ok(())
    });
    // Every part but the one that takes a search has been met.
    let [
        declared,
        rounding,
        callers,
        agreement,
        pins,
        regions,
        _,
        fragmentation,
    ] = seen;
    for part in [
        declared,
        rounding,
        callers,
        agreement,
        pins,
        regions,
        fragmentation,
    ] {
        assert!(part > 0, "{seen:?}");
    }
}

/// The declared bytes live at each instruction, from the plan's own segments: no pairs, no calls.
#[test]
fn without_calls_and_pairs_the_parts_are_sums_over_the_plan_s_segments() {
    let mut counted = 0;
    for_each_seed(0..300, |u| {
        let shape = Shape {
            in_place: false,
            calls: false,
            shared: false,
            ..Shape::default()
        };
        let Some((program, plan)) = planned(u, &shape)? else {
            return Ok(());
        };
        let explained = explain(&program, &plan, 3).expect("its own plan");
        for space in &explained.spaces {
            let function = &program.modules()[0].functions()[0];
            let rows = function
                .memloc_ids()
                .zip(&plan.modules[0].functions[0].memlocs);
            let rows: Vec<_> = rows
                .filter(|(id, row)| {
                    let loc = function.memloc(*id);
                    let placed = row.address.is_some() && !row.pinned && !loc.is_view();
                    placed && row.space == space.space
                })
                .map(|(_, row)| row)
                .collect();
            let at = |t: u32| {
                let live = rows
                    .iter()
                    .filter(move |row| row.segments.iter().any(|&(a, b)| a <= t && t <= b));
                live.fold((0, 0), |(d, p), row| (d + row.bytes, p + row.aligned))
            };
            let loads = (0..function.instructions().len() as u32).map(at);
            let most = loads.map(|(_, placed)| placed).max().unwrap_or(0);
            if most == 0 {
                assert_eq!(space.gap.pins, space.peak);
                continue;
            }
            let bound = space.at_bound.as_ref().expect("something is live");
            let here = bound.steps.last().expect("an instruction");
            let (declared, placed) = at(here.index);
            assert_eq!((bound.live, space.gap.declared), (placed, declared));
            assert_eq!(space.gap.rounding, placed - declared);
            assert_eq!((space.gap.callers, space.gap.agreement), (0, 0));
            if plan.options.floor == Floor::Hwm {
                assert_eq!((placed, space.gap.pins), (most, space.floor));
            }
            let peak = space.at_peak.as_ref().expect("something was placed");
            let here = peak.steps.last().expect("an instruction");
            let top = rows.iter().filter(|row| {
                let there = row
                    .segments
                    .iter()
                    .any(|&(a, b)| a <= here.index && here.index <= b);
                there && row.address.map(|a| a + row.aligned) == Some(space.peak)
            });
            assert!(top.count() > 0, "the highest byte is in use there");
            assert_eq!(peak.live, at(here.index).1);
            counted += 1;
        }
        Ok(())
    });
    assert!(counted > 100, "{counted}");
}

/// A line's problem with one holder changed, built anew.
fn rebuilt(
    line: &Line,
    holder: &Holder,
    change: Change,
    earlier: &[Segment],
    with_groups: bool,
) -> Problem {
    let granule = line.problem.granule.max(1);
    let size_of = |h: &Holder| match (h == holder, change) {
        (true, Change::Gone) => 0,
        (true, Change::Half) => h.declared.div_ceil(2).next_multiple_of(granule),
        _ => h.size,
    };
    let life_of = |h: &Holder, old: &[Segment]| match (h == holder, change) {
        (true, Change::Earlier) => earlier.to_vec(),
        _ => old.to_vec(),
    };
    let mut problem = line.problem.clone();
    problem.lives = Default::default();
    for (i, h) in line.holders.iter().enumerate() {
        problem.items[i].size = size_of(h);
        problem.lives.push(life_of(h, line.problem.lives.of(i)));
    }
    problem.pairs = line.pairs.clone();
    let (sizes, lives) = (problem.items.clone(), problem.lives.clone());
    problem.pairs.retain(|p| {
        let lives = |i: u32| {
            let there = lives.of(i as usize).iter().any(|s| s.contains(p.index));
            sizes[i as usize].size > 0 && there
        };
        let fits = sizes[p.def as usize].size <= sizes[p.used as usize].size;
        fits && lives(p.used) && lives(p.def)
    });
    for (h, life) in line.groups.iter().filter(|_| with_groups) {
        problem.set_usage(problem.items.len() as u32, h.usage);
        problem.items.push(place::Item {
            size: size_of(h),
            align: 1,
        });
        problem.lives.push(life_of(h, life));
    }
    problem
}

#[test]
fn what_a_change_saves_is_the_bound_from_scratch() {
    let mut changes = 0;
    for_each_seed(0..400, |u| {
        let shape = shapes(u)?;
        let Some((program, plan)) = planned(u, &shape)? else {
            return Ok(());
        };
        let grounds = Grounds::of(&program, &plan).expect("its own plan");
        for ground in &grounds.list {
            let needs = Needs::of(&grounds, ground);
            let groups = ground
                .lines
                .iter()
                .flat_map(|l| l.groups.iter().map(|g| g.0));
            let all: Vec<Holder> = (ground.lines.iter())
                .flat_map(|l| l.holders.iter().copied())
                .chain(groups)
                .collect();
            for holder in &all {
                for change in [Change::Gone, Change::Half, Change::Earlier] {
                    let bounds = |with_groups: bool| -> Vec<u64> {
                        let lines = ground.lines.iter();
                        let bound = |line: &Line| {
                            let life = grounds.one_access_earlier(holder);
                            let life = match holder.group {
                                Some(_) => grounds.group_life(ground, line, &life),
                                None => life,
                            };
                            let problem = rebuilt(line, holder, change, &life, with_groups);
                            place::lower_bound(&problem)
                        };
                        lines.map(bound).collect()
                    };
                    let want = from_scratch(&grounds, ground, holder, change, &bounds);
                    let got = needs.if_changed(&grounds, holder, change);
                    assert_eq!(got, want, "{holder:?} {change:?} {:?}", ground.rule);
                    changes += 1;
                }
            }
        }
        Ok(())
    });
    assert!(changes > 2000, "{changes}");
}

/// The program without any access to a location, or with half of its bytes, as JSON says it.
fn edited(program: &Program, name: &str, change: Change) -> Program {
    let mut text = Vec::new();
    format::write_program(program, &mut text).expect("a Vec takes everything");
    let mut json: Value = serde_json::from_slice(&text).expect("JSON");
    let function = &mut json["modules"][0]["functions"][0];
    if change == Change::Half {
        for loc in function["memlocs"].as_array_mut().expect("a list") {
            if loc["name"] == name {
                let declared = match loc["elem_count"].as_u64() {
                    Some(count) => count * loc["elem_size"].as_u64().expect("it has both"),
                    None => loc["bytes"].as_u64().expect("it has either"),
                };
                let loc = loc.as_object_mut().expect("an object");
                loc.retain(|key, _| !key.starts_with("elem_"));
                loc.insert("bytes".to_owned(), declared.div_ceil(2).into());
            }
        }
    } else {
        for block in function["blocks"].as_array_mut().expect("a list") {
            for instruction in block["instructions"].as_array_mut().expect("a list") {
                for operands in ["uses", "defs"] {
                    if let Some(list) = instruction[operands].as_array_mut() {
                        list.retain(|operand| operand != name && operand["loc"] != name);
                    }
                }
                if let Some(pairs) = instruction["in_place"].as_array_mut() {
                    pairs.retain(|pair| pair[0] != name && pair[1] != name);
                }
            }
        }
    }
    let text = json.to_string();
    format::read_program(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn what_a_change_saves_is_the_bound_of_the_changed_program() {
    let mut changes = 0;
    for_each_seed(0..150, |u| {
        let shape = Shape {
            slices: false,
            views: false,
            calls: false,
            shared: false,
            ..Shape::default()
        };
        let Some((program, plan)) = planned(u, &shape)? else {
            return Ok(());
        };
        let explained = explain(&program, &plan, 1000).expect("its own plan");
        for space in &explained.spaces {
            for saving in &space.savings {
                for (change, got) in [
                    (Change::Gone, saving.if_gone),
                    (Change::Half, saving.if_half),
                ] {
                    let changed = edited(&program, &saving.occupant.name, change);
                    let options = Options {
                        capacity: None,
                        ..plan.options.clone()
                    };
                    let plan = crate::plan(&changed, &options, &mut Control::default());
                    let plan = plan.expect("there is room without a limit");
                    let mut spaces = plan.spaces.iter();
                    let new = spaces.find(|s| (s.space, s.core) == (space.space, space.core));
                    let want = new.map_or(space.floor, |s| s.lower_bound);
                    assert_eq!(got, want, "{} {change:?} {program:?}", saving.occupant.name);
                    changes += 1;
                }
            }
        }
        Ok(())
    });
    assert!(changes > 300, "{changes}");
}

/// The need of a space from the bounds of its lines.
fn from_scratch(
    grounds: &Grounds<'_>,
    ground: &Ground,
    holder: &Holder,
    change: Change,
    bounds: &dyn Fn(bool) -> Vec<u64>,
) -> u64 {
    let mut own = bounds(false);
    match ground.rule {
        Rule::Frames { calls_add, beside } => {
            for &l in grounds.callers_first(ground).iter().rev() {
                for &(t, callee) in ground.lines[l].calls.iter().filter(|_| calls_add) {
                    let life = grounds.one_access_earlier(holder);
                    let line = &ground.lines[l];
                    let problem = rebuilt(line, holder, change, &life, false);
                    let load = place::load_profile(&problem, line.count as u32)[t as usize];
                    own[l] = own[l].max(load + own[callee]);
                }
            }
            let with_groups = if beside { bounds(true) } else { Vec::new() };
            own.into_iter()
                .chain(with_groups)
                .fold(ground.floor, u64::max)
        }
        Rule::Groups { add: false } => {
            // A slab that holds nothing ends nowhere.
            let lines = ground.lines.iter().zip(own);
            let held = lines.filter(|(line, bound)| *bound > line.problem.floor);
            held.map(|(_, bound)| bound).fold(ground.floor, u64::max)
        }
        Rule::Groups { add: true } => {
            let lanes = ground.lines.iter().map(|l| l.lane + 1).max().unwrap_or(0);
            let of_lane = |lane: u32| -> u64 {
                let lines = ground.lines.iter().zip(&own);
                let lines = lines.filter(|(line, _)| line.lane == lane);
                let loads = lines.map(|(_, bound)| bound - ground.floor);
                ground.floor + loads.sum::<u64>()
            };
            (0..lanes).map(of_lane).fold(ground.floor, u64::max)
        }
    }
}

#[test]
fn chains_are_those_that_hold_the_bytes_one_after_the_other() {
    let mut longest = 0;
    for_each_seed(0..200, |u| {
        let shape = Shape {
            calls: false,
            ..Shape::default()
        };
        let Some((program, plan)) = planned(u, &shape)? else {
            return Ok(());
        };
        let explained = explain(&program, &plan, 100).expect("its own plan");
        for space in explained.spaces.iter().filter(|s| s.space == Space::Local) {
            let rows = &plan.modules[0].functions[0].memlocs;
            let function = &program.modules()[0].functions()[0];
            let of_byte = |byte: u64| {
                let holds = |(id, row): &(crate::ir::MemLocId, &crate::MemLocPlan)| {
                    let start = row.address.unwrap_or(u64::MAX);
                    let own =
                        !function.memloc(*id).is_view() && !row.pinned && row.space == Space::Local;
                    own && start <= byte && byte - start < row.aligned
                };
                let rows = function.memloc_ids().zip(rows).filter(holds);
                let mut runs: Vec<(u32, u32, String)> = rows
                    .flat_map(|(_, row)| row.segments.iter().map(|s| (s.0, s.1, row.name.clone())))
                    .collect();
                runs.sort();
                runs
            };
            let chains = space.highest_chain.iter().chain(&space.longest_chains);
            for chain in chains {
                for byte in [chain.start, chain.end - 1] {
                    let mut links: Vec<_> = (chain.links.iter())
                        .map(|l| (l.life.0, l.life.1, l.name.clone()))
                        .collect();
                    links.sort();
                    assert_eq!(links, of_byte(byte));
                }
                assert_eq!(chain.others, 0);
                longest = longest.max(chain.links.len());
            }
            if let Some(first) = space.longest_chains.first() {
                let cuts = rows.iter().filter_map(|row| row.address);
                let most = cuts.map(|byte| of_byte(byte).len()).max();
                assert_eq!(Some(first.links.len()), most);
            }
            let highest = space.highest_chain.as_ref().map(|c| c.end);
            assert_eq!(highest, space.at_peak.as_ref().map(|_| space.peak));
        }
        Ok(())
    });
    assert!(longest >= 4, "{longest}");
}

#[test]
fn a_plan_that_ends_below_what_is_live_is_refused() {
    let mut refused = 0;
    for_each_seed(0..40, |u| {
        let Some((program, mut plan)) = planned(u, &Shape::plain())? else {
            return Ok(());
        };
        let rows = &mut plan.modules[0].functions[0].memlocs;
        let floor = plan.spaces.first().map_or(0, |s| s.floor);
        rows.iter_mut()
            .for_each(|row| row.address = row.address.map(|_| floor));
        let explained = explain(&program, &plan, 4);
        if let Err(Error { fault, .. }) = explained {
            assert!(matches!(fault, Fault::FailedPrecondition(_)));
            refused += 1;
        }
        Ok(())
    });
    assert!(refused > 5, "{refused}");
}

#[test]
fn the_free_bytes_of_a_region_are_reserved_only_where_others_keep_out() {
    let mut f = Function::new("main");
    let mut loc = |name, usage, bytes| {
        let spec = MemLocSpec {
            name,
            usage,
            extent: Some(Extent::Bytes(bytes)),
            ..Default::default()
        };
        f.add_memloc(&spec).expect("valid")
    };
    let ids = [
        loc("gathered", Usage::Collective, 4096),
        loc("large", Usage::Internal, 3 << 19),
    ];
    let all = ids.map(Operand::from);
    let write = InstructionSpec {
        op: "write",
        defs: &all,
        ..Default::default()
    };
    let read = InstructionSpec {
        op: "read",
        uses: &all,
        ..Default::default()
    };
    f.add_instructions([write, read]).expect("valid");
    let mut module = Module::new("m", 0);
    module.add_function(f).expect("the only one");
    let mut program = Program::new("p");
    program.add_module(module).expect("the only one");
    // A region of a MiB; the other location straddles a page of the runtime wherever it lies.
    for (strategy, trim_cc, reserved) in [
        (Strategy::Reference, false, (1 << 20) - 4096),
        (Strategy::Reference, true, 0),
        (Strategy::Fast, false, 0),
    ] {
        let options = Options {
            strategy,
            trim_cc,
            cc_limit: 1,
            runtime_page: 1,
            ..Options::default()
        };
        let plan = crate::plan(&program, &options, &mut Control::default()).expect("it fits");
        let explained = explain(&program, &plan, 4).expect("its own plan");
        let gap = explained.spaces[0].gap;
        assert_eq!(gap.declared, 4096 + (3 << 19));
        assert_eq!(
            (gap.regions, gap.total()),
            (reserved, plan.peak),
            "{strategy}"
        );
        let page = explained.runtime_page.expect("the option is on");
        assert_eq!(
            (page.private_bytes, page.unavoidable_bytes),
            (3 << 19, 3 << 19)
        );
        assert_eq!(page.straddlers[0].name, "large");
    }
}

#[test]
fn the_geometry_changes_what_agreement_is() {
    // In unified geometry some core waits for the others' groups.
    let mut agreed = [0u64; 2];
    for_each_seed(0..300, |u| {
        let options = Options {
            geometry: *u.choose(&[Geometry::Split, Geometry::Unified])?,
            ..Options::default()
        };
        let program = testing::program(u, &Shape::many_cores())?;
        let Ok(plan) = crate::plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let explained = explain(&program, &plan, 4).expect("its own plan");
        let local = explained.spaces.iter().filter(|s| s.space == Space::Local);
        let unified = usize::from(options.geometry == Geometry::Unified);
        agreed[unified] += local.map(|s| s.gap.agreement).sum::<u64>();
        Ok(())
    });
    assert_eq!(agreed[0], 0);
    assert!(agreed[1] > 0);
}
