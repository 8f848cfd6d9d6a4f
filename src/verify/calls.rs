//! Who calls whom, and what a callee's frame must leave alone. // L7
//!
//! What a function has live at a call is taken while the callee runs, and so is all that its own
//! callers hold. A callee has one frame, whoever calls it, so it keeps clear of every context.

use crate::ir::FlatIndex;
use crate::ordered_map::OrderedMap;
use crate::pace::{Pace, SOME};
use std::collections::{BTreeMap, BTreeSet};

use super::findings::Findings;
use super::scope::Scope;

/// The calls of a program, between scopes.
pub(super) struct Calls {
    /// Of each scope: the callees, each with the indices of the calls, ascending.
    pub of: Vec<OrderedMap<u32, Vec<u32>>>,
    /// Every scope after all of its callers.
    pub callers_first: Vec<u32>,
    /// Whether something calls the scope.
    called: Vec<bool>,
}

impl Calls {
    /// Reads the calls of every function; what is unknown or recursive is said and left out.
    pub fn of(scopes: &[Scope<'_>], findings: &mut Findings, pace: &mut Pace<'_, '_>) -> Calls {
        let mut at: BTreeMap<(u32, &str), u32> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            at.insert((scope.core, scope.function.name()), s as u32);
        }
        let mut of: Vec<OrderedMap<u32, Vec<u32>>> = vec![OrderedMap::new(); scopes.len()];
        for (s, scope) in scopes.iter().enumerate() {
            for i in 0..scope.function.instructions().len() {
                if i % SOME == 0 && pace.over(SOME) {
                    break;
                }
                let Some(symbol) = scope.function.callee(FlatIndex::new(i)) else {
                    continue;
                };
                let name = scope.function.symbol(symbol);
                match at.get(&(scope.core, name)) {
                    Some(&callee) => of[s].entry(callee).or_default().push(i as u32),
                    None => findings.say("bad_call", scope.at(), || {
                        format!("instruction {i} calls {name:?}, which its core does not have")
                    }),
                }
            }
        }
        let callers_first = order(scopes, &mut of, findings);
        let mut called = vec![false; scopes.len()];
        for callees in &of {
            callees.keys().for_each(|&c| called[c as usize] = true);
        }
        Calls {
            of,
            callers_first,
            called,
        }
    }

    /// Whether nothing calls a scope.
    pub fn is_entry(&self, scope: usize) -> bool {
        !self.called[scope]
    }
}

/// Callers before callees (Kahn, *Topological sorting of large networks*, 1962).
fn order(
    scopes: &[Scope<'_>],
    of: &mut [OrderedMap<u32, Vec<u32>>],
    findings: &mut Findings,
) -> Vec<u32> {
    let mut callers = vec![0u32; of.len()];
    for callees in of.iter() {
        callees.keys().for_each(|&c| callers[c as usize] += 1);
    }
    let mut ready: BTreeSet<u32> = (0..of.len() as u32)
        .filter(|&s| callers[s as usize] == 0)
        .collect();
    let mut order = Vec::with_capacity(of.len());
    while let Some(s) = ready.pop_first() {
        order.push(s);
        for &callee in of[s as usize].keys() {
            callers[callee as usize] -= 1;
            if callers[callee as usize] == 0 {
                ready.insert(callee);
            }
        }
    }
    // Whatever is left stands in a cycle, or below one.
    for s in 0..of.len() as u32 {
        if callers[s as usize] > 0 {
            let scope = &scopes[s as usize];
            findings.say("bad_call", scope.at(), || {
                "it calls itself through others, or something that does calls it".to_owned()
            });
            of[s as usize].retain(|&callee, _| callers[callee as usize] == 0);
            order.push(s);
        }
    }
    order
}

/// The root and the scope of what an ancestor holds.
pub(super) type Holder = (u32, u32);

/// What each scope must leave alone while it runs: roots of its callers, transitively.
///
/// `live(scope, root index)` gives the runs of whatever may be held.
pub(super) fn held_above<'r>(
    calls: &Calls,
    scopes: &[Scope<'_>],
    runs: impl Fn(usize, u32) -> Option<&'r [(u32, u32)]>,
    pace: &mut Pace<'_, '_>,
) -> Vec<BTreeSet<Holder>> {
    let mut above: Vec<BTreeSet<Holder>> = vec![BTreeSet::new(); scopes.len()];
    for &s in &calls.callers_first {
        let caller = s as usize;
        if calls.of[caller].is_empty() {
            continue;
        }
        let inherited = above[caller].clone();
        for (&callee, indices) in &calls.of[caller] {
            let held = &mut above[callee as usize];
            if pace.over(inherited.len()) {
                break;
            }
            held.extend(inherited.iter().copied());
            for root in 0..scopes[caller].function.memlocs().len() as u32 {
                if pace.over(1) {
                    break;
                }
                let Some(runs) = runs(caller, root) else {
                    continue;
                };
                let live = runs.iter().any(|&(lo, hi)| {
                    let next = indices.partition_point(|&i| i < lo);
                    indices.get(next).is_some_and(|&i| i <= hi)
                });
                if live {
                    held.insert((s, root));
                }
            }
        }
    }
    above
}
