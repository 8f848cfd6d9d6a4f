//! Who calls whom, callers before callees. // L7

use std::collections::BTreeSet;

use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Module, Usage};
use crate::liveness::Binding;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;

/// A call of one function of a module by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSite {
    /// The caller's position.
    pub caller: usize,
    /// When.
    pub index: FlatIndex,
    /// The callee's position.
    pub callee: usize,
}

/// The calls of a module.
#[derive(Debug, Default)]
pub(crate) struct CallGraph {
    /// By caller, then index.
    pub sites: Vec<CallSite>,
    /// Every function, each after all of its callers.
    pub callers_first: Vec<usize>,
}

impl CallGraph {
    /// The calls of a module.
    ///
    /// # Errors
    ///
    /// A callee that does not exist, or recursion, with its cycle; the host stops it.
    pub(crate) fn of(module: &Module, pace: &mut Pace<'_, '_>) -> Result<CallGraph> {
        let functions = module.functions();
        let mut sites = Vec::new();
        for (caller, function) in functions.iter().enumerate() {
            for t in 0..function.instructions().len() {
                pace.work(1)?;
                let Some(callee) = function.callee(FlatIndex::new(t)) else {
                    continue;
                };
                let name = function.symbol(callee);
                let callee = module.find_function(name).ok_or_else(|| {
                    let fault = Fault::UnknownName {
                        what: "function",
                        name: name.to_owned(),
                    };
                    let error = Error::from(fault).in_function(function.name());
                    error.at_instruction(t as u32).on_core(module.core())
                })?;
                sites.push(CallSite {
                    caller,
                    index: FlatIndex::new(t),
                    callee,
                });
            }
        }
        let callers_first = callers_first(module, &sites)?;
        Ok(CallGraph {
            sites,
            callers_first,
        })
    }

    /// The calls of one function.
    pub(crate) fn calls_of(&self, caller: usize) -> &[CallSite] {
        let start = self.sites.partition_point(|s| s.caller < caller);
        let end = self.sites.partition_point(|s| s.caller <= caller);
        &self.sites[start..end]
    }

    /// What the calls of one function reach through the formals of their callees, by index.
    ///
    /// # Errors
    ///
    /// A formal that the callee does not have, or that is neither an input nor an output.
    pub(crate) fn bindings(&self, module: &Module, caller: usize) -> Result<Vec<Binding>> {
        let function = &module.functions()[caller];
        let mut bindings = Vec::new();
        for site in self.calls_of(caller) {
            let callee = &module.functions()[site.callee];
            for argument in function.args(site.index) {
                let name = function.symbol(argument.callee);
                let here = |e: Error| e.at_instruction(site.index.0).in_function(function.name());
                let formal = callee.find_memloc(name).ok_or_else(|| {
                    let what = "input or output of the callee";
                    here(
                        Fault::UnknownName {
                            what,
                            name: name.to_owned(),
                        }
                        .into(),
                    )
                })?;
                let is_def = match callee.memloc(formal).usage {
                    Usage::Output => true,
                    Usage::Input => false,
                    usage => {
                        let reason =
                            format!("{name} of {} is {usage}, not bound by calls", callee.name());
                        return Err(here(Error::invalid("args", reason)));
                    }
                };
                bindings.push(Binding {
                    index: site.index,
                    loc: argument.caller,
                    is_def,
                });
            }
        }
        Ok(bindings)
    }

    /// Every function that runs below a caller, ascending, with the caller's indices at which it
    /// does.
    pub(crate) fn below(&self, caller: usize) -> OrderedMap<usize, Vec<FlatIndex>> {
        let mut below: OrderedMap<usize, Vec<FlatIndex>> = OrderedMap::new();
        for site in self.calls_of(caller) {
            let mut reached = BTreeSet::from([site.callee]);
            let mut open = vec![site.callee];
            while let Some(f) = open.pop() {
                open.extend(
                    self.calls_of(f)
                        .iter()
                        .map(|s| s.callee)
                        .filter(|&g| reached.insert(g)),
                );
            }
            for callee in reached {
                below.entry(callee).or_default().push(site.index);
            }
        }
        below
    }

    /// Whether nothing calls a function.
    pub(crate) fn is_entry(&self, function: usize) -> bool {
        self.sites.iter().all(|s| s.callee != function)
    }
}

/// A topological order; functions that no call orders stay in the module's order.
fn callers_first(module: &Module, sites: &[CallSite]) -> Result<Vec<usize>> {
    let count = module.functions().len();
    let mut callers = vec![0usize; count];
    let mut callees = vec![Vec::new(); count];
    for site in sites {
        callers[site.callee] += 1;
        callees[site.caller].push(site.callee);
    }
    let mut ready = BTreeSet::new();
    ready.extend((0..count).filter(|&f| callers[f] == 0));
    let mut order = Vec::with_capacity(count);
    while let Some(f) = ready.pop_first() {
        order.push(f);
        for &callee in &callees[f] {
            callers[callee] -= 1;
            if callers[callee] == 0 {
                ready.insert(callee);
            }
        }
    }
    if order.len() == count {
        return Ok(order);
    }
    // What is left has a caller that is left: walking back through callers meets a cycle.
    let start = (0..count)
        .find(|&f| callers[f] > 0)
        .expect("some function was not ordered");
    let mut path = vec![start];
    let cycle = loop {
        let at = path[path.len() - 1];
        let caller = (0..count)
            .find(|&f| callers[f] > 0 && callees[f].contains(&at))
            .expect("a function that is left has a caller that is left");
        if let Some(from) = path.iter().position(|&f| f == caller) {
            path.push(caller);
            break path.split_off(from);
        }
        path.push(caller);
    };
    let names: Vec<&str> = cycle
        .iter()
        .rev()
        .map(|&f| module.functions()[f].name())
        .collect();
    let reason = format!("recursion: {}", names.join(" calls "));
    Err(Error::invalid("callee", reason).on_core(module.core()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Function, InstructionSpec, Kind};

    fn module(calls: &[(&str, &[&str])]) -> Module {
        let mut module = Module::new("m", 0);
        for (name, callees) in calls {
            let mut f = Function::new(name);
            for callee in *callees {
                let call = InstructionSpec {
                    kind: Kind::Call,
                    callee: Some(callee),
                    ..Default::default()
                };
                f.add_instruction(&call).unwrap();
            }
            module.add_function(f).unwrap();
        }
        module
    }

    #[test]
    fn callers_come_before_callees() {
        let m = module(&[
            ("leaf", &[]),
            ("mid", &["leaf"]),
            ("main", &["leaf", "mid", "leaf"]),
        ]);
        let graph = CallGraph::of(&m, &mut Pace::free()).unwrap();
        assert_eq!(graph.callers_first, [2, 1, 0]);
        assert_eq!(graph.calls_of(2).len(), 3);
        assert!(graph.is_entry(2) && !graph.is_entry(0));
    }

    #[test]
    fn recursion_is_reported_with_its_cycle_and_an_unknown_callee_by_name() {
        let m = module(&[("main", &["a"]), ("a", &["b"]), ("b", &["a"])]);
        let error = CallGraph::of(&m, &mut Pace::free())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a calls b calls a") || error.contains("b calls a calls b"),
            "{error}"
        );
        let error =
            CallGraph::of(&module(&[("main", &["nowhere"])]), &mut Pace::free()).unwrap_err();
        assert!(error.to_string().contains("\"nowhere\""), "{error}");
        assert_eq!(error.place.instruction, Some(0));
    }
}
