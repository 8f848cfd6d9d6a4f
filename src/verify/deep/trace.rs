//! What each core runs, instruction by instruction: walks through its functions, calls entered.
//!
//! Walks are asked for until no edge of any function is missing, then some more that go anywhere.
//! A trace is bounded: a walk is, and once a run has grown beyond its share of the effort, calls
//! are no longer entered, but passed as if they had written something unknown.

use std::collections::BTreeMap;

use super::super::calls::Calls;
use super::super::groups::Groups;
use super::super::scope::Scope;
use super::flow::{Beat, Flow};
use super::paths::{Dice, Paths};
use crate::ir::Kind;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;

/// One thing that a core does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub what: What,
    pub scope: u32,
    /// The instruction; of no meaning for `Enter` and `Leave`.
    pub index: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Runs an instruction.
    Run,
    /// Passes a barrier, the same moment as the other cores. // M4
    Barrier,
    /// Reads what a call reads and gives up what it overwrites.
    Call,
    /// Writes what a call writes and its callee cannot name.
    Return,
    /// Enters a function.
    Enter,
    /// Leaves a function, or will never leave it.
    Leave,
}

/// How walks are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Over missing edges.
    Cover,
    /// Anywhere.
    Wander,
}

/// All functions, with what walks have covered of them.
pub(super) struct Tracer<'a> {
    scopes: &'a [Scope<'a>],
    flows: Vec<Flow>,
    /// By scope: the callee of each call.
    callees: Vec<OrderedMap<u32, u32>>,
    callers_first: Vec<u32>,
    paths: BTreeMap<(u32, Option<Vec<Beat>>), Option<Paths>>,
    /// By scope: the barriers of its shortest walk, which all walks of a callee pass.
    scores: Vec<Vec<Beat>>,
    wants: Vec<bool>,
    dice: Dice,
    /// States that may be visited in search of walks.
    search: u64,
    /// Calls that were not entered.
    pub passed: u64,
}

impl<'a> Tracer<'a> {
    /// Reads the control flow of all functions.
    pub fn new(
        scopes: &'a [Scope<'a>],
        calls: &Calls,
        groups: &Groups,
        pace: &mut Pace<'_, '_>,
    ) -> Tracer<'a> {
        let mut callees = vec![OrderedMap::new(); scopes.len()];
        for (of, callees) in calls.of.iter().zip(&mut callees) {
            for (&callee, indices) in of {
                callees.extend(indices.iter().map(|&i| (i, callee)));
            }
        }
        let instructions: usize = scopes.iter().map(|s| s.function.instructions().len()).sum();
        let mut flows: Vec<Option<Flow>> = scopes.iter().map(|_| None).collect();
        let mut scores: Vec<Vec<Beat>> = vec![Vec::new(); scopes.len()];
        for &s in calls.callers_first.iter().rev() {
            let callees: &OrderedMap<u32, u32> = &callees[s as usize];
            let inside = |i: u32| {
                let callee = callees.get(&i).copied();
                callee.map_or_else(Vec::new, |c| scores[c as usize].clone())
            };
            let epochs = &groups.timing.epochs[s as usize];
            let flow = Flow::of(scopes[s as usize].function, epochs, inside, pace);
            scores[s as usize] = shortest(&flow, pace);
            flows[s as usize] = Some(flow);
        }
        Tracer {
            scopes,
            flows: flows
                .into_iter()
                .map(|f| f.expect("all are in the order"))
                .collect(),
            callees,
            callers_first: calls.callers_first.clone(),
            paths: BTreeMap::new(),
            scores,
            wants: vec![true; scopes.len()],
            dice: Dice(0x5eed),
            search: 64 * instructions as u64 + (1 << 22),
            passed: 0,
        }
    }

    /// The barriers that the shortest walk of a function passes.
    pub fn score(&self, scope: u32) -> &[Beat] {
        &self.scores[scope as usize]
    }

    /// How many edges are missing in a function and all that it calls.
    pub fn missing(&self, scope: u32) -> usize {
        let reached = self.below(scope);
        let left = |(s, _): (usize, &bool)| self.flows[s].left();
        reached
            .iter()
            .enumerate()
            .filter(|(_, r)| **r)
            .map(left)
            .sum()
    }

    /// Whether some function that runs below has several ways to go.
    pub fn branches(&self, scope: u32) -> bool {
        let reached = self.below(scope);
        (reached.iter().zip(&self.flows)).any(|(&r, flow)| r && flow.branches)
    }

    /// How many edges of one function no walk has taken.
    pub fn left(&self, scope: u32) -> usize {
        self.flows[scope as usize].left()
    }

    /// Which scopes run when one does.
    pub fn below(&self, scope: u32) -> Vec<bool> {
        let mut reached = vec![false; self.scopes.len()];
        let mut work = vec![scope];
        while let Some(s) = work.pop() {
            if !std::mem::replace(&mut reached[s as usize], true) {
                work.extend(self.callees[s as usize].values());
            }
        }
        reached
    }

    /// A walk through an entry function under a score, any barriers if there is none.
    pub fn walk(
        &mut self,
        scope: u32,
        score: Option<&[Beat]>,
        style: Style,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Vec<u32>> {
        self.note_wants();
        let s = scope as usize;
        let limit = 4 * self.flows[s].graph.len() + (1 << 18);
        let key = (scope, score.map(<[Beat]>::to_vec));
        let flow = &self.flows[s];
        let paths = self
            .paths
            .entry(key)
            .or_insert_with(|| Paths::new(flow, score, limit, pace));
        let paths = paths.as_ref()?;
        let (graph, callees, wants) = (&self.flows[s].graph, &self.callees[s], &self.wants);
        let mut wanted = vec![false; graph.len()];
        for (&i, &callee) in callees {
            wanted[graph.block_of(i) as usize] |= wants[callee as usize];
        }
        let length = 2 * graph.len() + 16;
        let flow = &mut self.flows[s];
        let covering = match style {
            Style::Cover => paths.cover(flow, |b| wanted[b as usize], &mut self.search, pace),
            Style::Wander => None,
        };
        pace.over(2 * length); // As long as a walk may be.
        covering.or_else(|| paths.wander(flow, &mut self.dice, length))
    }

    /// Finds which functions have edges missing, or call one that has.
    fn note_wants(&mut self) {
        for &s in self.callers_first.iter().rev() {
            let s = s as usize;
            let below = self.callees[s].values().any(|&c| self.wants[c as usize]);
            self.wants[s] = below || self.flows[s].left() > 0;
        }
    }

    /// The barriers that a walk passes.
    pub fn beats(&self, scope: u32, walk: &[u32]) -> Vec<Beat> {
        let flow = &self.flows[scope as usize];
        walk.iter().flat_map(|&b| flow.beats(b)).copied().collect()
    }

    /// All that a core does along a walk of an entry function; beyond `limit` steps no more calls
    /// are entered.
    pub fn trace(
        &mut self,
        scope: u32,
        walk: Vec<u32>,
        limit: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut frames = vec![Frame::new(scope, walk)];
        steps.push(step(What::Enter, scope, 0));
        while let Some(frame) = frames.last_mut() {
            if pace.over(1) {
                break;
            }
            let scope = frame.scope;
            let Some(&block) = frame.walk.get(frame.at) else {
                steps.push(step(What::Leave, scope, 0));
                frames.pop();
                if let Some(caller) = frames.last() {
                    steps.push(step(What::Return, caller.scope, caller.calling));
                }
                continue;
            };
            let range = self.flows[scope as usize].graph.range(block);
            let index = frame.next.unwrap_or(range.start);
            if index == range.end {
                frame.at += 1;
                frame.next = None;
                continue;
            }
            frame.next = Some(index + 1);
            let kind = self.scopes[scope as usize].function.instructions()[index as usize].kind;
            match kind {
                Kind::Barrier => steps.push(step(What::Barrier, scope, index)),
                Kind::Call => {
                    frame.calling = index;
                    steps.push(step(What::Call, scope, index));
                    match self.enter(scope, index, steps.len() < limit, pace) {
                        Some(inner) => {
                            steps.push(step(What::Enter, inner.scope, 0));
                            frames.push(inner);
                        }
                        None => steps.push(step(What::Return, scope, index)),
                    }
                }
                _ => steps.push(step(What::Run, scope, index)),
            }
        }
        steps
    }

    /// The frame of a callee, if it is known, and is to be entered.
    fn enter(
        &mut self,
        caller: u32,
        index: u32,
        enter: bool,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Frame> {
        let callee = *self.callees[caller as usize].get(&index)?;
        // Barriers have to be passed, whatever the effort.
        let score = self.scores[callee as usize].clone();
        if !enter && score.is_empty() {
            self.passed += 1;
            return None;
        }
        // Loops with barriers go round as often as on the other cores.
        let score = self.has_beats(callee).then_some(score);
        let walk = self.walk(callee, score.as_deref(), Style::Cover, pace)?;
        Some(Frame::new(callee, walk))
    }

    fn has_beats(&self, scope: u32) -> bool {
        let flow = &self.flows[scope as usize];
        (0..flow.graph.len() as u32).any(|b| !flow.beats(b).is_empty())
    }
}

/// The barriers of a function's shortest walk.
fn shortest(flow: &Flow, pace: &mut Pace<'_, '_>) -> Vec<Beat> {
    let Some(paths) = Paths::new(flow, None, usize::MAX, pace) else {
        return Vec::new();
    };
    let walk = paths.shortest();
    walk.iter().flat_map(|&b| flow.beats(b)).copied().collect()
}

fn step(what: What, scope: u32, index: u32) -> Step {
    Step { what, scope, index }
}

/// A function being walked.
struct Frame {
    scope: u32,
    walk: Vec<u32>,
    at: usize,
    next: Option<u32>,
    calling: u32,
}

impl Frame {
    fn new(scope: u32, walk: Vec<u32>) -> Frame {
        Frame {
            scope,
            walk,
            at: 0,
            next: None,
            calling: 0,
        }
    }
}
