//! Everything a run needs to know of a program before it places a byte.

use super::calls::CallGraph;
use super::pins::Pins;
use crate::error::{Error, Fault, Result};
use crate::ir::{Function, MemLocId, Module, Segment, Space};
use crate::liveness::{Binding, Liveness, LivenessWarning, dense_order, liveness_with};
use crate::options::Options;
use crate::shared::{Group, Groups, Member, Predicate, Timeline};

/// A program with its lives, its calls, its pins and the final space of each location.
pub(super) struct Scene<'a> {
    pub modules: &'a [Module],
    pub options: &'a Options,
    pub pins: Pins,
    pub groups: Groups,
    pub epochs: Timeline,
    /// When each group lives, by position, on the axis of epochs.
    pub group_lives: Vec<Vec<Segment>>,
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
}

impl<'a> Scene<'a> {
    pub(super) fn of(
        modules: &'a [Module],
        options: &'a Options,
        shared: Option<Predicate<'_>>,
    ) -> Result<Scene<'a>> {
        let calls = modules
            .iter()
            .map(CallGraph::of)
            .collect::<Result<Vec<_>>>()?;
        let groups = Groups::of(modules, options.usage_mask, shared)?;
        let epochs = Timeline::of(modules, &calls)?;
        let mut analysed = Vec::new();
        for ((m, module), calls) in modules.iter().enumerate().zip(calls) {
            let here = |e: Error| e.on_core(module.core());
            let functions = module.functions().iter().enumerate();
            let functions = functions.map(|(f, function)| {
                let bindings = calls.bindings(module, f)?;
                analyse(function, &bindings, (m, f), &groups, options)
            });
            let functions = functions.collect::<Result<Vec<_>>>().map_err(here)?;
            analysed.push(ModuleScene { calls, functions });
        }
        let pins = Pins::of(modules, &groups, options);
        let group_lives = groups.all.iter().map(|group| epochs.life(group)).collect();
        Ok(Scene {
            modules,
            options,
            pins,
            groups,
            epochs,
            group_lives,
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

fn analyse(
    function: &Function,
    bindings: &[Binding],
    (module, position): (usize, usize),
    groups: &Groups,
    options: &Options,
) -> Result<FunctionScene> {
    let liveness = liveness_with(function, bindings);
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
    let spaces = function.memloc_ids().map(|id| {
        let root = function.root(id).0;
        let member = Member {
            module: module as u32,
            function: position as u32,
            loc: root,
        };
        groups.final_space(member, function.memloc(root))
    });
    let spaces = spaces.collect();
    Ok(FunctionScene {
        spaces,
        dense: dense_order(function, bindings),
        liveness,
    })
}
