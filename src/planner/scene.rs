//! Everything a run needs to know of a program before it places a byte.

use super::calls::CallGraph;
use super::engines::{Engines, engines_of_roots};
use super::pins::Pins;
use crate::control::Control;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Function, MemLocId, Module, Segment, Space, Usage};
use crate::liveness::{Binding, Liveness, LivenessWarning, dense_order_unless, liveness_unless};
use crate::options::{Floor, Geometry, Options};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::shared::{Fate, Group, Groups, Member, Timeline, home};

/// A program with its lives, its calls, its pins and the final space of each location.
pub(super) struct Scene<'a> {
    pub modules: &'a [Module],
    pub options: &'a Options,
    pub pins: Pins,
    pub groups: Groups,
    pub epochs: Timeline,
    /// When each group lives, by position, on the axis of epochs.
    pub group_lives: Vec<Vec<Segment>>,
    /// By group: the modules on whose cores its bytes must be free, ascending. // M7
    pub reach: Vec<Vec<usize>>,
    analysed: Vec<ModuleScene>,
}

struct ModuleScene {
    calls: CallGraph,
    functions: Vec<FunctionScene>,
}

/// One function, analysed.
pub(super) struct FunctionScene {
    pub liveness: Liveness,
    /// The touched roots by dense id. // T
    pub dense: Vec<MemLocId>,
    /// The final space of each location. // M1
    pub spaces: Vec<Space>,
    /// The engines of each root.
    pub engines: Vec<Option<Engines>>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(
        modules: &'a [Module],
        options: &'a Options,
        control: &Control<'_>,
    ) -> Result<Scene<'a>> {
        control.look()?;
        let pace = &mut Pace::of(control);
        let calls = modules.iter().map(|module| CallGraph::of(module, pace));
        let calls = calls.collect::<Result<Vec<_>>>()?;
        let groups = Groups::unless(modules, options.usage_mask, control.shared, pace)?;
        let epochs = Timeline::of(modules, &calls, &groups, pace)?;
        let mut analysed = Vec::new();
        for ((m, module), calls) in modules.iter().enumerate().zip(calls) {
            let here = |e: Error| e.on_core(module.core());
            let functions = module.functions().iter().enumerate();
            let functions = functions.map(|(f, function)| {
                let bindings = calls.bindings(module, f)?;
                analyse(function, &bindings, (m, f), &groups, options, pace)
            });
            let functions = functions.collect::<Result<Vec<_>>>().map_err(here)?;
            analysed.push(ModuleScene { calls, functions });
        }
        let pins = Pins::of(modules, &groups, options, pace)?;
        let mut group_lives = Vec::with_capacity(groups.all.len());
        for group in &groups.all {
            pace.work(1 + group.members.len())?;
            group_lives.push(epochs.life(group));
        }
        let positions = modules.iter().zip(0..).map(|(m, at)| (m.core(), at));
        let positions: OrderedMap<u32, usize> = positions.collect();
        let reach = groups.all.iter();
        let reach = reach.map(|group| reached(modules, &positions, options, group));
        let reach = reach.collect::<Result<_>>()?;
        Ok(Scene {
            modules,
            options,
            pins,
            groups,
            epochs,
            group_lives,
            reach,
            analysed,
        })
    }

    pub(super) fn functions(&self, module: usize) -> &'a [Function] {
        self.modules[module].functions()
    }

    pub(super) fn function(&self, module: usize, function: usize) -> &FunctionScene {
        &self.analysed[module].functions[function]
    }

    pub(super) fn calls(&self, module: usize) -> &CallGraph {
        &self.analysed[module].calls
    }

    /// The group of a root, if it has one.
    pub(super) fn group_of(&self, (m, f): (usize, usize), root: MemLocId) -> Option<&Group> {
        self.groups.find(Member {
            module: m as u32,
            function: f as u32,
            loc: root,
        })
    }

    /// Whether a group takes its bytes on the core of a module. // M7
    pub(super) fn reaches(&self, group: usize, module: usize) -> bool {
        self.reach[group].binary_search(&module).is_ok()
    }

    /// When others must see a group on the cores that it reaches, on the axis of epochs. // L6b, M7
    pub(super) fn held_life(&self, group: usize) -> Vec<Segment> {
        if is_owned_pin(&self.groups.all[group]) {
            let last = FlatIndex(self.epochs.len().saturating_sub(1));
            return Segment::new(FlatIndex(0), last).into_iter().collect();
        }
        let apart = self.options.separate_functions;
        self.epochs.held(&self.group_lives[group], apart)
    }

    /// Whether a core's local and shared locations have one range of addresses. // M7
    pub(super) fn is_unified(&self) -> bool {
        self.options.geometry == Geometry::Unified
    }

    /// Nothing of a space is placed below. // P4
    ///
    /// In unified geometry a core's range begins above the host's pins in both of its spaces, and
    /// what cores share begins above them on every core that some group reaches: one floor for all
    /// groups, so that regions and slabs begin at one address. // M7
    pub(super) fn floor(&self, module: usize, space: Space) -> Result<u64> {
        if self.options.floor == Floor::Holes {
            return Ok(0);
        }
        let range = |m: usize| -> Result<u64> {
            let local = self.pins.floor(m, Space::Local)?;
            Ok(local.max(self.pins.floor(m, Space::Shared)?))
        };
        match space {
            Space::Local if self.is_unified() => range(module),
            Space::Shared if self.is_unified() => {
                let placed = |i: &usize| {
                    let group = &self.groups.all[*i];
                    group.fate == Fate::Shared && group.pin.is_none() && group.bytes > 0
                };
                let mut floor = self.pins.floor(module, Space::Shared)?;
                let mut seen = vec![false; self.modules.len()];
                let groups = (0..self.groups.all.len()).filter(placed);
                for &m in groups.flat_map(|i| &self.reach[i]) {
                    if !std::mem::replace(&mut seen[m], true) {
                        floor = floor.max(range(m)?);
                    }
                }
                Ok(floor)
            }
            Space::Local | Space::Shared | Space::Debug => self.pins.floor(module, space),
        }
    }

    /// What a person should know about the lives of a module, in words.
    pub(super) fn notes(&self, module: usize) -> Vec<String> {
        let mut notes = Vec::new();
        for (function, scene) in self
            .functions(module)
            .iter()
            .zip(&self.analysed[module].functions)
        {
            let name = function.name();
            notes.extend(scene.liveness.warnings.iter().map(|warning| match *warning {
                LivenessWarning::UnreachableBlock { block } => format!(
                    "{name}: block {block} is unreachable; analysed as if control could start there"
                ),
                LivenessWarning::UninitializedUse { loc, index } => format!(
                    "{name}: instruction {index} may read {} before any def has written it \
                     (uninitialized_use)",
                    function.label(loc)
                ),
                LivenessWarning::IneligiblePair { index, used, def, reason } => format!(
                    "{name}: instruction {index}: in-place pair ({}, {}) is ignored: {reason}",
                    function.label(used),
                    function.label(def)
                ),
            }));
        }
        notes
    }
}

/// What the host has pinned in the shared space and is no candidate holds its bytes everywhere.
pub(super) fn is_owned_pin(group: &Group) -> bool {
    group.pin.is_some() && !matches!(group.usage, Usage::Internal | Usage::Collective)
}

/// The modules on whose cores a group takes its bytes. // L6b, M7
///
/// # Errors
///
/// In unified geometry, a core that the program does not have.
fn reached(
    modules: &[Module],
    positions: &OrderedMap<u32, usize>,
    options: &Options,
    group: &Group,
) -> Result<Vec<usize>> {
    if is_owned_pin(group) {
        return Ok((0..modules.len()).collect());
    }
    let mut reach = Vec::with_capacity(group.reach.len());
    for &core in &group.reach {
        let module = positions.get(&core).copied();
        if module.is_none() && options.geometry == Geometry::Unified {
            let (module, function) = home(modules, group.owner);
            let error = Error::invalid("reach", format!("there is no core {core}"));
            let error = error.on_core(module.core()).in_function(function.name());
            return Err(error.at_location(&function.label(group.owner.loc)));
        }
        reach.extend(module);
    }
    reach.sort_unstable();
    Ok(reach)
}

fn analyse(
    function: &Function,
    bindings: &[Binding],
    (module, position): (usize, usize),
    groups: &Groups,
    options: &Options,
    pace: &mut Pace<'_, '_>,
) -> Result<FunctionScene> {
    let liveness = liveness_unless(function, bindings, pace)?;
    if options.strict {
        for warning in &liveness.warnings {
            if let LivenessWarning::UninitializedUse { loc, index } = *warning {
                let error = Error::from(Fault::UninitializedUse).in_function(function.name());
                return Err(error
                    .at_location(&function.label(loc))
                    .at_instruction(index.0));
            }
        }
    }
    let mut spaces = Vec::with_capacity(function.memlocs().len());
    for id in function.memloc_ids() {
        pace.work(1)?;
        let root = function.root(id).0;
        let member = Member::new(module, position, root);
        spaces.push(groups.final_space(member, function.memloc(root)));
    }
    Ok(FunctionScene {
        spaces,
        dense: dense_order_unless(function, bindings, pace)?,
        engines: engines_of_roots(function, pace)?,
        liveness,
    })
}
