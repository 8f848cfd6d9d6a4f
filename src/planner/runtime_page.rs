//! What a plan costs a runtime that hands out memory in pages. // P7
//!
//! A space's addresses become variables in pages; one that reaches from a page into the next gets
//! memory of its own beside them. A storage counts once: a shared location where its owner is, a
//! pin that several functions name in the first of them.

use std::collections::{BTreeMap, BTreeSet};

use super::scene::Scene;
use crate::ir::{MemLocId, MemoryType, Module, Space};
use crate::place::straddles;
use crate::plan::{MemLocPlan, ModulePlan, Plan, Status, Straddler};
use crate::shared::{Fate, Member, home};

/// The bytes of private copies that a plan with the option causes.
pub(super) fn private_bytes(plan: &Plan) -> u64 {
    plan.metrics.get(PRIVATE_BYTES).copied().unwrap_or(0)
}

/// Whether no plan causes fewer.
pub(super) fn is_least(plan: &Plan) -> bool {
    plan.metrics.get(PRIVATE_BYTES) == plan.metrics.get(UNAVOIDABLE_BYTES)
}

/// Adds what the plan costs a runtime with the pages of its options. Only with the least copies is
/// a peak the best.
pub(super) fn add_cost(plan: &mut Plan, scene: &Scene<'_>) {
    let cost = Cost::of(scene, &plan.modules, plan.options.runtime_page_bytes());
    if !cost.is_least() {
        plan.status = Status::Feasible;
    }
    plan.metrics.extend(cost.metrics());
    let capacity = plan.options.core_capacity();
    plan.notes.extend(cost.notes(scene.modules, capacity));
    plan.straddlers = Some(cost.straddlers);
}

const PAGES: &str = "runtime_pages";
const PRIVATE_BYTES: &str = "runtime_private_bytes";
const UNAVOIDABLE_BYTES: &str = "runtime_unavoidable_bytes";
const STRADDLERS: &str = "runtime_straddlers";

/// A space of a core, the shared one of all; in unified geometry a core's local space stands for
/// the range that it and the shared groups have in common. // G1, M7
type Range = (Space, Option<u32>);

/// What the runtime makes of a plan.
#[derive(Default)]
struct Cost {
    page: u64,
    straddlers: Vec<Straddler>,
    /// By range of addresses: one past the highest byte that has one.
    ends: BTreeMap<Range, u64>,
    /// Pins that are counted already.
    seen: BTreeSet<(Space, Option<u32>, String, u64, u64)>,
}

impl Cost {
    /// Of a program that is planned so far, with pages of so many bytes.
    fn of(scene: &Scene<'_>, planned: &[ModulePlan], page: u64) -> Cost {
        let mut cost = Cost {
            page,
            ..Cost::default()
        };
        for (m, (module, planned)) in scene.modules.iter().zip(planned).enumerate() {
            for (f, function) in module.functions().iter().enumerate() {
                let planned = &planned.functions[f];
                for (id, memloc) in function.memloc_ids().zip(&planned.memlocs) {
                    if is_counted(scene, (m, f), id) {
                        let is_named = !function.memloc_name(id).is_empty();
                        cost.add(module.core(), &planned.name, memloc, is_named);
                        let ranges = ranges(scene, (m, f), id, memloc.space);
                        cost.reach(memloc, &ranges);
                    }
                }
            }
        }
        cost
    }

    fn reach(&mut self, memloc: &MemLocPlan, ranges: &[Range]) {
        // No bytes meet nothing, wherever they lie. // L10
        let bytes = Some(bytes_of(memloc)).filter(|&bytes| bytes > 0);
        if let (Some(address), Some(bytes)) = (memloc.address, bytes) {
            for &range in ranges {
                let end = self.ends.entry(range).or_default();
                *end = (*end).max(address.saturating_add(bytes));
            }
        }
    }

    fn add(&mut self, core: u32, function: &str, memloc: &MemLocPlan, is_named: bool) {
        let Some(address) = memloc.address else {
            return;
        };
        let bytes = bytes_of(memloc);
        let space = memloc.space;
        let whose = (space != Space::Shared).then_some(core);
        if !straddles(address, bytes, self.page) {
            return;
        }
        let storage = (space, whose, memloc.name.clone(), address, bytes);
        if memloc.pinned && is_named && !self.seen.insert(storage) {
            return;
        }
        self.straddlers.push(Straddler {
            core,
            function: function.to_owned(),
            name: memloc.name.clone(),
            space,
            address,
            bytes,
            pinned: memloc.pinned,
        });
    }

    /// Pages that the ranges reach into, each with its own.
    fn pages(&self) -> u64 {
        let pages = self.ends.values().map(|end| end.div_ceil(self.page));
        pages.fold(0, u64::saturating_add)
    }

    fn sum(&self, wanted: impl Fn(&Straddler) -> bool) -> u64 {
        let straddlers = self.straddlers.iter().filter(|s| wanted(s));
        straddlers.fold(0, |sum, s| sum.saturating_add(s.bytes))
    }

    /// Whether nothing straddles that the allocator could have kept from it.
    fn is_least(&self) -> bool {
        self.straddlers.iter().all(|s| self.is_unavoidable(s))
    }

    fn is_unavoidable(&self, straddler: &Straddler) -> bool {
        straddler.pinned || straddler.bytes > self.page
    }

    /// The figures by name.
    fn metrics(&self) -> [(String, u64); 4] {
        let count = self.straddlers.len() as u64;
        [
            (PAGES.to_owned(), self.pages()),
            (PRIVATE_BYTES.to_owned(), self.sum(|_| true)),
            (
                UNAVOIDABLE_BYTES.to_owned(),
                self.sum(|s| self.is_unavoidable(s)),
            ),
            (STRADDLERS.to_owned(), count),
        ]
    }

    /// What a person should know: what straddles, and cores on which the copies leave no room.
    ///
    /// Copies have no addresses in a space, so the gate of G1 does not see them; `hbm_usage` does.
    fn notes(&self, modules: &[Module], capacity: Option<u64>) -> Vec<String> {
        let mut notes = Vec::new();
        let (count, private) = (self.straddlers.len(), self.sum(|_| true));
        if count > 0 {
            let (page, least) = (self.page >> 20, self.sum(|s| self.is_unavoidable(s)));
            notes.push(format!(
                "runtime pages of {page} MiB: {count} locations straddle one and cost {private} \
                 private bytes, {least} of them wherever the allocator places"
            ));
        }
        for module in modules {
            let core = module.core();
            let of_core = |whose: &Option<u32>| whose.is_none_or(|whose| whose == core);
            let ends = self.ends.iter().filter(|((_, whose), _)| of_core(whose));
            let reach = ends.fold(0u64, |sum, (_, &end)| sum.saturating_add(end));
            let copies = self.sum(|s| s.core == core);
            let over = capacity.is_some_and(|capacity| reach.saturating_add(copies) > capacity);
            if copies > 0 && over {
                notes.push(format!(
                    "core {core}: {copies} private bytes beside {reach} bytes of spaces are more \
                     than its capacity"
                ));
            }
        }
        notes
    }
}

/// A pin has its exact bytes, whatever candidates are rounded to. // P2
fn bytes_of(memloc: &MemLocPlan) -> u64 {
    if memloc.pinned {
        memloc.bytes
    } else {
        memloc.aligned
    }
}

/// Where the storage that a counted location stands for takes addresses.
fn ranges(scene: &Scene<'_>, (m, f): (usize, usize), id: MemLocId, space: Space) -> Vec<Range> {
    if space != Space::Shared {
        return vec![(space, Some(scene.modules[m].core()))];
    }
    if !scene.is_unified() {
        return vec![(space, None)];
    }
    // A group is on the cores that it reaches, a pin on all.
    let group = scene.group_of((m, f), id).filter(|g| g.pin.is_none());
    let all = || scene.modules.iter().map(Module::core).collect();
    let cores: Vec<u32> = group.map_or_else(all, |group| group.reach.clone());
    let known = |core: &u32| scene.modules.iter().any(|m| m.core() == *core);
    let cores = cores.into_iter().filter(known);
    cores.map(|core| (Space::Local, Some(core))).collect()
}

/// Whether a location stands for a storage of device memory: a root, and of a shared group the
/// owner, or the first member that the host has pinned.
fn is_counted(scene: &Scene<'_>, (m, f): (usize, usize), id: MemLocId) -> bool {
    let loc = scene.functions(m)[f].memloc(id);
    if loc.view().is_some() || loc.memory != MemoryType::Dram {
        return false;
    }
    let group = scene.group_of((m, f), id);
    let Some(group) = group.filter(|group| group.fate == Fate::Shared) else {
        return true;
    };
    let has_pin = |member: &&Member| {
        let (_, function) = home(scene.modules, **member);
        function.memloc(member.loc).pin().is_some()
    };
    let pinned = group.members.iter().find(has_pin);
    let counted = *pinned.unwrap_or(&group.owner);
    (
        counted.module as usize,
        counted.function as usize,
        counted.loc,
    ) == (m, f, id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::ir::{Extent, Function, InstructionSpec, MemLocSpec, Operand, Program};
    use crate::options::{Floor, Geometry, Options, Strategy};
    use crate::planner::Planning;
    use crate::report::{Category, hbm_usage};
    use crate::testing::{self, Shape};
    use crate::verify::verify;

    const MIB: u64 = 1 << 20;

    /// A function of locations of so many MiB, all live at once, pinned where a place is given.
    fn function(name: &str, locations: &[(&str, u64, Option<u64>)]) -> Function {
        let mut function = Function::new(name);
        for &(name, mib, at) in locations {
            let spec = MemLocSpec {
                name,
                extent: Some(Extent::Bytes(mib * MIB)),
                address: at.map(|at| at * MIB),
                ..MemLocSpec::default()
            };
            function.add_memloc(&spec).expect("valid");
        }
        let all: Vec<Operand> = function.memloc_ids().map(Operand::from).collect();
        let [define, read] =
            [(&all[..], &[][..]), (&[], &all)].map(|(defs, uses)| InstructionSpec {
                op: "op",
                defs,
                uses,
                ..InstructionSpec::default()
            });
        function.add_instruction(&define).expect("valid");
        function.add_instruction(&read).expect("valid");
        function
    }

    fn program(functions: Vec<Function>) -> Program {
        let mut module = Module::new("m0", 0);
        for function in functions {
            module.add_function(function).expect("other names");
        }
        let mut program = Program::new("p");
        program.add_module(module).expect("the only one");
        program
    }

    fn planned(program: &Program, options: &Options) -> Plan {
        let plan = super::super::plan(program, options, &mut Control::default());
        let plan = plan.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(verify(program, &plan), []);
        plan
    }

    fn figures(plan: &Plan) -> (u64, u64, u64) {
        let of = |name| plan.metrics[name];
        (
            of(PAGES),
            of(PRIVATE_BYTES) / MIB,
            of(UNAVOIDABLE_BYTES) / MIB,
        )
    }

    fn names(plan: &Plan) -> Vec<&str> {
        let straddlers = plan.straddlers.iter().flatten();
        straddlers.map(|s| s.name.as_str()).collect()
    }

    /// Two models in one scratchpad, A with 512 MiB and 1 GiB, B with 100 MiB and 1.5 GiB. Pages of
    /// 512 MiB: 2 GiB of them, and 2.5 GiB of copies; of 2 GiB: one, and no copy.
    #[test]
    fn the_cost_of_given_addresses_is_what_the_runtime_documents() {
        let program = program(vec![
            function("A", &[("a0", 512, Some(0)), ("a1", 1024, Some(512))]),
            function("B", &[("b0", 100, Some(0)), ("b1", 1536, Some(100))]),
        ]);
        let options = |runtime_page| Options {
            runtime_page,
            ..Options::default()
        };
        let plan = planned(&program, &options(512));
        assert_eq!(figures(&plan), (4, 2560, 2560));
        assert_eq!(names(&plan), ["a1", "b1"]);
        let plan = planned(&program, &options(2048));
        assert_eq!(figures(&plan), (1, 0, 0));
        let plan = planned(&program, &options(0));
        assert_eq!((plan.straddlers, plan.metrics.get(PAGES)), (None, None));
    }

    #[test]
    fn a_location_goes_to_the_next_page_and_straddles_only_for_want_of_room() {
        let program = program(vec![function("f", &[("a", 300, None), ("b", 300, None)])]);
        for &strategy in Strategy::ALL {
            let options = |mib: u64| Options {
                strategy,
                runtime_page: 512,
                capacity: Some(mib * MIB),
                ..Options::default()
            };
            let plan = planned(&program, &options(812));
            assert_eq!((plan.peak / MIB, figures(&plan)), (812, (2, 0, 0)));
            let plan = planned(&program, &options(811));
            assert_eq!((plan.peak / MIB, figures(&plan)), (600, (2, 300, 0)));
            assert_eq!((names(&plan).len(), plan.status), (1, Status::Feasible));
            // The copy has no address, so it passes the gate; the budget sees it.
            assert!(plan.notes.iter().any(|note| note.contains("more than its")));
            let usage = &hbm_usage(&program, &plan, 7)[0];
            assert_eq!(usage.needed, 900 * MIB + 7);
            assert_eq!(usage.peak.of(Category::Copies), 300 * MIB);
            assert_eq!(usage.peak.total() + usage.unused, usage.needed);
        }
    }

    #[test]
    fn what_no_page_holds_is_unavoidable_and_may_be_optimal() {
        let program = program(vec![function("f", &[("a", 700, None), ("b", 300, None)])]);
        let options = Options {
            runtime_page: 512,
            ..Options::default()
        };
        let plan = planned(&program, &options);
        assert_eq!((plan.peak / MIB, figures(&plan)), (1000, (2, 700, 700)));
        assert_eq!((names(&plan), plan.status), (vec!["a"], Status::Optimal));
    }

    /// A MiB of its own on each of two cores, and one that they share.
    #[test]
    fn pages_are_those_of_each_range_of_addresses() {
        let mut program = Program::new("two");
        for core in 0..2 {
            let mut function = function("main", &[("own", 1, None)]);
            let shared = MemLocSpec {
                name: "s",
                extent: Some(Extent::Bytes(MIB)),
                space: Space::Shared,
                ..MemLocSpec::default()
            };
            let s = function.add_memloc(&shared).expect("valid");
            let whole = [MemLocId(0), s].map(Operand::from);
            let op = InstructionSpec {
                op: "op",
                defs: &whole,
                ..InstructionSpec::default()
            };
            function.add_instruction(&op).expect("valid");
            let mut module = Module::new("m", core);
            module.add_function(function).expect("the only one");
            program.add_module(module).expect("another core");
        }
        for (geometry, pages) in [(Geometry::Split, 3), (Geometry::Unified, 4)] {
            let options = Options {
                runtime_page: 1,
                geometry,
                ..Options::default()
            };
            assert_eq!(
                figures(&planned(&program, &options)),
                (pages, 0, 0),
                "{geometry:?}"
            );
        }
    }

    /// Programs with locations of up to a page and a little more, under all sorts of capacities.
    fn check_programs(shape: &Shape, seeds: std::ops::Range<u64>) {
        let (mut planned, mut straddling, mut avoidable) = (0, 0, 0);
        testing::for_each_seed(seeds, |u| {
            let mut options = Options {
                runtime_page: *u.choose(&[1, 1, 2, 3])?,
                budget_steps: Some(1_000),
                floor: *u.choose(&[Floor::Hwm, Floor::Hwm, Floor::Holes])?,
                packed: u.ratio(1, 4)?,
                reuse_io: u.ratio(1, 4)?,
                cc_limit: *u.choose(&[500, -1, 0, 1])?,
                trim_cc: u.arbitrary()?,
                align: *u.choose(&[None, None, Some(8192)])?,
                separate_functions: u.ratio(1, 4)?,
                geometry: *u.choose(&[Geometry::Split, Geometry::Split, Geometry::Unified])?,
                ..Options::default()
            };
            let tenths = u.int_in_range(0..=30)?; // Above 20: no capacity.
            let program = testing::program(u, shape)?;
            let plain = Options {
                runtime_page: 0,
                strategy: Strategy::Reference,
                ..options.clone()
            };
            let control = &mut Control::default();
            let plain = super::super::plan(&program, &plain, control).expect("there is no limit");
            let reach: u64 = plain.spaces.iter().map(|s| s.peak).sum();
            options.capacity = (tenths <= 20).then(|| reach / 10 * (10 + tenths / 4));
            let mut last = (u64::MAX, u64::MAX);
            for strategy in [Strategy::Reference, Strategy::Fast, Strategy::Best] {
                options.strategy = strategy;
                let run = |runtime_page, control: &mut Control<'_>| {
                    let options = Options {
                        runtime_page,
                        ..options.clone()
                    };
                    super::super::plan(&program, &options, control)
                };
                let Ok(plan) = run(options.runtime_page, control) else {
                    assert!(run(0, control).is_err(), "{options:?}");
                    assert_eq!(last.0, u64::MAX, "{strategy} finds nothing");
                    continue;
                };
                assert_eq!(verify(&program, &plan), [], "{options:?}");
                let value = (private_bytes(&plan), plan.peak);
                assert!(value <= last, "{options:?}");
                last = value;
                planned += 1;
                straddling += u32::from(plan.metrics[STRADDLERS] > 0);
                let least = plan.metrics[PRIVATE_BYTES] == plan.metrics[UNAVOIDABLE_BYTES];
                avoidable += u32::from(!least);
                assert!(plan.status != Status::Optimal || least);
            }
            Ok(())
        });
        assert!(
            planned > 0 && straddling * 8 > planned,
            "{straddling} of {planned}"
        );
        assert!(avoidable > 0, "{avoidable} of {planned}");
    }

    #[test]
    fn a_rotation_makes_nothing_straddle() {
        let shape = Shape {
            pages: 300,
            ..Shape::single_core()
        };
        let mut moved = 0;
        testing::for_each_seed(0..200, |u| {
            let options = Options {
                runtime_page: 1,
                packed: u.ratio(1, 4)?,
                ..Options::default()
            };
            let program = testing::program(u, &shape)?;
            let control = &mut Control::default();
            let mut planning = Planning::new(program.modules(), &options, control).expect("valid");
            planning.place_local(0, control).expect("there is no limit");
            let before = planning.assemble().metrics[PRIVATE_BYTES];
            moved += planning
                .rotate(8, &mut crate::pace::Pace::free())
                .expect("valid")
                .moved;
            assert!(planning.assemble().metrics[PRIVATE_BYTES] <= before);
            Ok(())
        });
        assert!(moved > 0);
    }

    #[test]
    fn no_strategy_is_above_the_ones_before_it_on_one_core() {
        let shape = Shape {
            pages: 300,
            functions: 3,
            ..Shape::single_core()
        };
        check_programs(&shape, 0..120);
    }

    #[test]
    fn no_strategy_is_above_the_ones_before_it_on_many_cores() {
        let shape = Shape {
            pages: 300,
            ..Shape::many_cores()
        };
        check_programs(&shape, 0..120);
    }
}
