//! The plan's dependences, by function: who waits for whom. // D1

use std::collections::BTreeMap;

use super::super::findings::{At, Findings};
use super::super::scope::Scope;
use crate::ir::FlatIndex;
use crate::pace::Pace;
use crate::plan::{Dependence, Plan};
use crate::sorting::sort_words;

/// The edges of all functions.
pub(super) struct Edges {
    /// By scope: where the sources of each instruction start; empty without edges.
    starts: Vec<Vec<u32>>,
    sources: Vec<Vec<u32>>,
    /// By scope: whether some edge begins at an instruction.
    awaited: Vec<Vec<bool>>,
}

impl Edges {
    /// Reads the edges; what is no edge of the program is said and left out.
    pub fn of(
        scopes: &[Scope<'_>],
        plan: &Plan,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Edges> {
        let list = plan.dependences.as_ref()?;
        let mut at: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            at.insert((scope.core, scope.function.name()), s);
        }
        // The instruction that waits above the one that it waits for.
        let mut pairs: Vec<Vec<u64>> = vec![Vec::new(); scopes.len()];
        for edge in list {
            if pace.over(3) {
                break;
            }
            let Dependence { from, to, .. } = edge;
            let scope = at.get(&(from.core, &*from.function)).copied();
            let scope = scope.filter(|&s| {
                let len = scopes[s].function.instructions().len() as u32;
                let one = (from.core, &from.function) == (to.core, &to.function);
                one && from.index < len && to.index < len
            });
            let at = At {
                core: Some(to.core),
                function: Some(&to.function),
            };
            let mut wrong = |why| wrong_edge(findings, at, (from.index, to.index), why);
            let Some(scope) = scope else {
                wrong("and not both are there");
                continue;
            };
            // One back edge, with its header, or none.
            let blocks = scopes[scope].function.blocks().len() as u32;
            let is_right = match edge.header {
                None => edge.distance == 0,
                Some(header) => edge.distance == 1 && header < blocks,
            };
            if !is_right {
                wrong("and its distance is not that of its header");
            }
            // What never runs is waited for by nobody. // X3
            let elided = |index: u32| scopes[scope].function.is_elided(FlatIndex(index));
            if !elided(from.index) && !elided(to.index) {
                pairs[scope].push(u64::from(to.index) << 32 | u64::from(from.index));
            }
        }
        let mut edges = Edges {
            starts: Vec::with_capacity(scopes.len()),
            sources: Vec::with_capacity(scopes.len()),
            awaited: Vec::with_capacity(scopes.len()),
        };
        for (mut pairs, scope) in pairs.into_iter().zip(scopes) {
            if sort_words(&mut pairs, 0, pace).is_err() {
                pairs.clear();
            }
            let mut last = None;
            pairs.retain(|&pair| {
                let again = last.replace(pair) == Some(pair);
                if again {
                    let ends = (pair as u32, (pair >> 32) as u32);
                    wrong_edge(findings, scope.at(), ends, "and says so twice");
                }
                !again
            });
            let len = scope.function.instructions().len();
            let mut awaited = vec![false; if pairs.is_empty() { 0 } else { len }];
            let mut starts = vec![0u32; if pairs.is_empty() { 0 } else { len + 1 }];
            for &pair in &pairs {
                if pace.over(1) {
                    break;
                }
                awaited[pair as u32 as usize] = true;
                starts[(pair >> 32) as usize + 1] += 1;
            }
            for i in 1..starts.len() {
                starts[i] += starts[i - 1];
            }
            edges.starts.push(starts);
            let sources = pairs.into_iter().map(|pair| pair as u32);
            edges.sources.push(sources.collect());
            edges.awaited.push(awaited);
        }
        Some(edges)
    }

    /// The instructions that one waits for.
    pub fn sources(&self, scope: u32, index: u32) -> &[u32] {
        let (s, i) = (scope as usize, index as usize);
        match self.starts[s].get(i..i + 2) {
            Some(&[from, to]) => &self.sources[s][from as usize..to as usize],
            _ => &[],
        }
    }

    /// Whether something waits for an instruction.
    pub fn awaited(&self, scope: u32, index: u32) -> bool {
        self.awaited[scope as usize].get(index as usize) == Some(&true)
    }
}

/// Says what is wrong with an edge between two instructions of a function.
fn wrong_edge(findings: &mut Findings, at: At<'_>, (from, to): (u32, u32), why: &str) {
    findings.say("bad_dependence", at, || {
        format!("instruction {to} waits for instruction {from}, {why}")
    });
}
