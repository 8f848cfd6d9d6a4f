//! A function of a core beside what the plan says of it.

use super::accesses::Accesses;
use super::findings::{At, Findings};
use super::lives::Lives;
use crate::ir::{Function, MemLoc, MemLocId, Module, Program, Usage};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::{FunctionPlan, MemLocPlan, ModulePlan, Plan};
use std::collections::HashMap;

/// One function of one core.
pub(super) struct Scope<'a> {
    pub core: u32,
    pub module: &'a Module,
    pub function: &'a Function,
    /// What the plan says; `None` if it forgot the function, which has been said.
    pub plan: Option<&'a FunctionPlan>,
    rows: Vec<Option<&'a MemLocPlan>>,
    kept: Vec<bool>,
    pub accesses: Accesses,
    pub lives: Lives,
}

impl<'a> Scope<'a> {
    /// Every function of the program, module by module, and whether the plan has the same ones.
    pub fn all(
        program: &'a Program,
        plan: &'a Plan,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Vec<Scope<'a>> {
        let mut planned: OrderedMap<u32, &ModulePlan> = OrderedMap::new();
        for module in &plan.modules {
            let at = At {
                core: Some(module.core),
                function: None,
            };
            let known = program.modules().iter().find(|m| m.core() == module.core);
            if known.is_none_or(|m| m.name() != module.name) {
                let name = &module.name;
                findings.say("foreign", at, || {
                    format!("the program has no such module {name:?}")
                });
            }
            if known.is_some() && planned.insert(module.core, module).is_some() {
                findings.say("duplicate", at, || {
                    "the plan has two modules for it".to_owned()
                });
            }
        }
        let mut scopes = Vec::new();
        for module in program.modules() {
            let core = module.core();
            let at = At {
                core: Some(core),
                function: None,
            };
            let plan = planned.get(&core).copied();
            if plan.is_none() {
                findings.say("missing", at, || {
                    format!("module {:?} is not in the plan", module.name())
                });
            }
            let functions = functions(module, plan, findings);
            for (function, found) in module.functions().iter().zip(functions) {
                if plan.is_some() && found.is_none() {
                    let at = At {
                        function: Some(function.name()),
                        ..at
                    };
                    findings.say("missing", at, || {
                        "the function is not in the plan".to_owned()
                    });
                }
                scopes.push(Scope::of(module, function, found, findings, pace));
            }
        }
        scopes
    }

    /// Every function of modules that no plan stands beside.
    pub fn unplanned(
        modules: &[&'a Module],
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Vec<Scope<'a>> {
        let mut scopes = Vec::new();
        for module in modules {
            for function in module.functions() {
                scopes.push(Scope::of(module, function, None, findings, pace));
            }
        }
        scopes
    }

    fn of(
        module: &'a Module,
        function: &'a Function,
        plan: Option<&'a FunctionPlan>,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Scope<'a> {
        let core = module.core();
        let accesses = Accesses::of(function, module, pace);
        let lives = Lives::of(function, &accesses, pace);
        let mut kept = vec![false; function.memlocs().len()];
        for id in function.memloc_ids() {
            if pace.over(1) {
                break;
            }
            let loc = function.memloc(id);
            kept[function.root(id).0.index()] |= loc.escapes() || loc.usage == Usage::Output;
        }
        let at = At {
            core: Some(core),
            function: Some(function.name()),
        };
        let rows = match plan {
            Some(plan) => rows(function, plan, at, findings, pace),
            None => Vec::new(),
        };
        Scope {
            core,
            module,
            function,
            plan,
            rows,
            kept,
            accesses,
            lives,
        }
    }

    /// Where violations of this function are.
    pub fn at(&self) -> At<'a> {
        At {
            core: Some(self.core),
            function: Some(self.function.name()),
        }
    }

    /// What the plan says of a location; `None` if it forgot it, which has been said.
    pub fn row(&self, id: MemLocId) -> Option<&'a MemLocPlan> {
        self.rows.get(id.index()).copied().flatten()
    }

    /// A location as declared.
    pub fn loc(&self, id: MemLocId) -> &'a MemLoc {
        self.function.memloc(id)
    }

    /// Whether a root, or a view of it, escapes or is an output. // L6
    pub fn kept(&self, root: MemLocId) -> bool {
        self.kept[root.index()]
    }

    /// How messages call a location of this function.
    pub fn label(&self, id: MemLocId) -> String {
        self.function.label(id)
    }

    /// How messages call a location from afar.
    pub fn site(&self, id: MemLocId) -> String {
        format!(
            "core {}/{}/{}",
            self.core,
            self.function.name(),
            self.label(id)
        )
    }

    /// The roots, ascending.
    pub fn roots(&self) -> impl Iterator<Item = MemLocId> + use<'a> {
        let function = self.function;
        function
            .memloc_ids()
            .filter(|&id| !function.memloc(id).is_view())
    }
}

/// The plans of a module's functions, in the module's order.
fn functions<'a>(
    module: &Module,
    plan: Option<&'a ModulePlan>,
    findings: &mut Findings,
) -> Vec<Option<&'a FunctionPlan>> {
    let mut found = vec![None; module.functions().len()];
    for function in plan.map_or(&[][..], |plan| &plan.functions) {
        let at = At {
            core: Some(module.core()),
            function: Some(&function.name),
        };
        match module.find_function(&function.name) {
            None => findings.say("foreign", at, || {
                "the program has no such function".to_owned()
            }),
            Some(i) if found[i].is_some() => {
                findings.say("duplicate", at, || {
                    "the plan has two of this function".to_owned()
                });
            }
            Some(i) => found[i] = Some(function),
        }
    }
    found
}

/// Whether a plan's name means this location.
fn named(function: &Function, id: MemLocId, name: &str) -> bool {
    match function.memloc_name(id) {
        "" => name
            .strip_prefix('#')
            .is_some_and(|n| n == id.0.to_string()),
        own => own == name,
    }
}

/// The plan's rows by `MemLocId`.
fn rows<'a>(
    function: &Function,
    plan: &'a FunctionPlan,
    at: At<'_>,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) -> Vec<Option<&'a MemLocPlan>> {
    let len = function.memlocs().len();
    let mut in_order = plan.memlocs.len() == len;
    for (id, row) in function.memloc_ids().zip(&plan.memlocs) {
        if pace.over(1) {
            break;
        }
        in_order &= named(function, id, &row.name);
        if !in_order {
            break;
        }
    }
    if in_order {
        return plan.memlocs.iter().map(Some).collect();
    }
    let mut ids: HashMap<String, MemLocId> = HashMap::with_capacity(len); // Asked, never iterated.
    for id in function.memloc_ids() {
        // A name of its own, and a hash of it.
        if pace.over(10) {
            break;
        }
        let name = match function.memloc_name(id) {
            "" => format!("#{id}"),
            name => name.to_owned(),
        };
        ids.entry(name).or_insert(id);
    }
    let mut rows = vec![None; len];
    for row in &plan.memlocs {
        if pace.over(10) {
            break;
        }
        let name = || vec![row.name.clone()];
        match ids.get(&row.name) {
            None => findings.add("foreign", at, || {
                (name(), "the program has no such location".to_owned())
            }),
            Some(id) if rows[id.index()].is_some() => {
                findings.add("duplicate", at, || {
                    (name(), "it stands in the plan twice".to_owned())
                });
            }
            Some(id) => rows[id.index()] = Some(row),
        }
    }
    for id in function.memloc_ids() {
        if rows[id.index()].is_none() {
            findings.add("missing", at, || {
                (vec![function.label(id)], "it is not in the plan".to_owned())
            });
        }
    }
    rows
}
