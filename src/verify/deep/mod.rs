//! A plan proven by running it. // V2, V3
//!
//! Geometry says that no two locations hold one byte at one time; whether that is enough for the
//! program to compute what it should is asked here, without trusting any notion of a life. The
//! program runs twice in step: once with a storage of its own for every location, and once on the
//! addresses of the plan. What a read finds in the one, it has to find in the other, engines and
//! cores overtaking each other as the plan's dependences, fences and barriers let them. And every
//! two accesses to common bytes, one of them writing, have to be ordered by these.
//!
//! ```text
//! flow    a function's blocks and barriers, and what walks have covered
//! paths   bounded walks over every edge, back edges twice
//! trace   what a core does along a walk, calls entered
//! places  which storage a name means, and where the plan puts it
//! edges   the plan's dependences
//! machine one run of some cores: by location, then
//! world     by address, in several orders                  (on `ranges`)
//!   clocks    and its order
//!   operands  and the operands of each instruction
//! apart   functions that run at once, each on its own core
//! batch   instructions as they run, for all of these
//! sentences what was found
//! ```
//!
//! Nothing of the size of a location is ever allocated: values lie on byte ranges. Walks are
//! bounded, and what they could not cover is noted.

mod apart;
mod batch;
mod clocks;
mod edges;
mod flow;
mod machine;
mod operands;
mod paths;
mod places;
mod ranges;
mod sentences;
mod trace;
mod world;

#[cfg(test)]
mod tests;

use super::calls::Calls;
use super::findings::Findings;
use super::groups::{Fate, Groups, Predicate};
use super::scope::Scope;
use super::{Violation, findings::At};
use crate::control::Control;
use crate::error::Error;
use crate::ir::Program;
use crate::pace::Pace;
use crate::plan::Plan;
use apart::Apart;
use edges::Edges;
use machine::Machine;
use places::Places;
use trace::{Style, Tracer};

/// What running a plan has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deep {
    /// Wrong values, lost values, accesses out of order; empty for a right plan.
    pub violations: Vec<Violation>,
    /// Races of the program itself, which no plan can mend. // D3
    pub warnings: Vec<Violation>,
    /// What could not be run.
    pub notes: Vec<String>,
    /// How many instructions were run.
    pub executed: u64,
}

/// Runs a program by location and by address and says where the two differ. // V2, V3
///
/// It looks at what a plan does, not at whether it keeps the rules of geometry: [`verify`] does.
/// `shared` is the host's own word on what is shared, if the plan was made with it. // M1
///
/// [`verify`]: super::verify
pub fn verify_deep(program: &Program, plan: &Plan, shared: Option<Predicate<'_>>) -> Deep {
    let control = Control {
        shared,
        ..Control::default()
    };
    verify_deep_with(program, plan, &control).expect("nothing stops it")
}

/// As [`verify_deep`], for a host that may cancel. // S2
///
/// # Errors
///
/// The host has cancelled. A deadline ends nothing here: half a proof is none.
pub fn verify_deep_with(
    program: &Program,
    plan: &Plan,
    control: &Control<'_>,
) -> Result<Deep, Error> {
    let pace = &mut Pace::until_cancelled(control);
    let mut deep = Deep::default();
    if plan.options.validate().is_err() {
        let note = "nothing was run: the plan's options are refused";
        deep.notes.push(note.to_owned());
        return Ok(deep);
    }
    // What is wrong with the shape of the plan or of the program, geometry has said.
    let mut said = Findings::default();
    let scopes = Scope::all(program, plan, &mut said, pace);
    let calls = Calls::of(&scopes, &mut said, pace);
    let groups = Groups::of(&scopes, &calls, control.shared, &mut said, pace);
    let mut findings = Findings::default();
    let places = Places::of(&scopes, &groups, &plan.options, &mut findings, pace);
    let edges = Edges::of(&scopes, plan, &mut findings, pace);
    let mut explorer = Explorer {
        scopes: &scopes,
        tracer: Tracer::new(&scopes, &calls, &groups, pace),
        machine: Machine::new(&scopes, places, edges, &plan.options, findings, pace),
        notes: Vec::new(),
        seed: 0,
    };
    let several = groups.timing.names.len() > 1 && program.modules().len() > 1;
    if several && !plan.options.separate_functions {
        explorer.machine.apart = Some(Apart::default());
    }
    for stretch in 0..groups.timing.names.len() as u32 {
        let party: Vec<u32> = (0..scopes.len() as u32)
            .filter(|&s| groups.timing.stretch(s as usize) == Some(stretch))
            .collect();
        if let Some(apart) = &mut explorer.machine.apart {
            apart.stretch = stretch;
        }
        let meet = |g: &super::groups::Group| {
            g.fate == Fate::Shared && g.life.iter().any(|life| life.0 == stretch)
        };
        if party.len() > 1 && groups.list.iter().any(meet) {
            explorer.together(&party, pace);
        } else {
            (party.iter()).for_each(|&scope| explorer.alone(scope, pace));
        }
    }
    explorer.machine.compare_functions(pace);
    explorer.note_rest();
    deep.notes = explorer.notes;
    deep.executed = explorer.machine.executed;
    deep.violations = explorer.machine.findings.finish();
    deep.warnings = explorer.machine.warnings.finish();
    pace.end()?;
    Ok(deep)
}

/// Runs that go everywhere.
struct Explorer<'a> {
    scopes: &'a [Scope<'a>],
    tracer: Tracer<'a>,
    machine: Machine<'a>,
    notes: Vec<String>,
    seed: u64,
}

/// The blocks through which some functions go.
type Walks = Vec<(u32, Vec<u32>)>;

/// How many runs go anywhere once all edges are covered: at least, and at most if they are short.
///
/// Measured on 2,706 plans of small random programs, each without one dependence that it needs: 16
/// runs of 4,096 accesses in all miss three, 64 of these one, and of 16,384 none.
const WANDERINGS: std::ops::Range<u32> = 4..64;

/// Accesses of runs that count as short.
const SHORT: u64 = 1 << 14;

impl Explorer<'_> {
    /// Runs one core's entry function, no other core taking part.
    fn alone(&mut self, scope: u32, pace: &mut Pace<'_, '_>) {
        self.explore(&[scope], pace, |explorer, _, style, pace| {
            let walk = explorer.tracer.walk(scope, None, style, pace)?;
            Some(vec![(scope, walk)])
        });
    }

    /// Runs the same-named functions of several cores, which meet at barriers. // M4
    fn together(&mut self, party: &[u32], pace: &mut Pace<'_, '_>) {
        let met = self.explore(party, pace, |explorer, lead, style, pace| {
            let tracer = &mut explorer.tracer;
            // All loops with barriers go round as often as the leader's.
            let free = tracer.walk(lead, None, style, pace)?;
            let score = tracer.beats(lead, &free);
            let mut walks = Some(vec![(lead, free)]);
            for &scope in party.iter().filter(|&&s| s != lead) {
                let walk = tracer.walk(scope, Some(&score), style, pace);
                walks = walks.zip(walk).map(|(mut walks, walk)| {
                    walks.push((scope, walk));
                    walks
                });
            }
            walks.or_else(|| {
                let score = tracer.score(lead).to_vec();
                let mut walk = |s: u32| Some((s, tracer.walk(s, Some(&score), style, pace)?));
                party.iter().map(|&s| walk(s)).collect()
            })
        });
        if !met {
            let name = self.scopes[party[0] as usize].function.name();
            self.notes.push(format!(
                "function {name}: the cores pass different barriers, so each was run by itself"
            ));
            party.iter().for_each(|&scope| self.alone(scope, pace));
        }
    }

    /// Runs walks until no edge is missing, then a few more; whether all cores came to their ends.
    fn explore(
        &mut self,
        party: &[u32],
        pace: &mut Pace<'_, '_>,
        mut walks: impl FnMut(&mut Self, u32, Style, &mut Pace<'_, '_>) -> Option<Walks>,
    ) -> bool {
        let operands: usize = (party.iter())
            .flat_map(|&s| self.tracer.below(s).into_iter().zip(self.scopes))
            .map(|(below, scope)| if below { scope.accesses.len() } else { 0 })
            .sum();
        let effort = 16 * operands as u64 + (1 << 16);
        let start = self.machine.touched;
        let branches = party.iter().any(|&s| self.tracer.branches(s));
        let overtaking = party.len() > 1 || self.machine.is_parallel();
        let mut stalled = 0;
        let mut wandered = 0;
        for round in 0.. {
            let missing: usize = party.iter().map(|&s| self.tracer.missing(s)).sum();
            let covering = missing > 0 && stalled < party.len();
            let style = if covering {
                Style::Cover
            } else {
                Style::Wander
            };
            let lead = party[round % party.len()];
            let Some(walks) = walks(self, lead, style, pace) else {
                return false;
            };
            let spent = self.machine.touched - start;
            let limit = (effort.saturating_sub(spent) / 2).min(usize::MAX as u64) as usize;
            let trace = |(scope, walk): (u32, Vec<u32>)| {
                let core = self.scopes[scope as usize].core;
                let steps = self.tracer.trace(scope, walk, limit, pace);
                (self.machine.places.core_number(core), steps)
            };
            let traces = walks.into_iter().map(trace).collect();
            self.seed += 1;
            if pace.is_stopped() {
                return true;
            }
            if !self.machine.run(traces, self.seed, pace) {
                return false;
            }
            let left: usize = party.iter().map(|&s| self.tracer.missing(s)).sum();
            stalled = if left < missing { 0 } else { stalled + 1 };
            let spent = self.machine.touched - start;
            if spent > effort {
                if covering && left > 0 {
                    let name = self.scopes[lead as usize].function.name();
                    self.notes
                        .push(format!("function {name}: the effort is spent"));
                }
                return true;
            }
            if !covering || left == 0 {
                wandered += 1;
                let short = spent < SHORT && wandered < WANDERINGS.end;
                let more = branches && (wandered < WANDERINGS.start || short);
                let again = overtaking && wandered < WANDERINGS.start && spent < SHORT;
                if !more && !again {
                    return true;
                }
            }
        }
        unreachable!("every round covers an edge, or counts as a wandering")
    }

    /// Says what no run has covered.
    fn note_rest(&mut self) {
        for (s, scope) in self.scopes.iter().enumerate() {
            let At { core, function } = scope.at();
            let site = format!(
                "core {}, function {}",
                core.unwrap_or_default(),
                function.unwrap_or_default()
            );
            let left = self.tracer.left(s as u32);
            if left > 0 {
                self.notes
                    .push(format!("{site}: no walk took {left} of its edges"));
            }
        }
        if self.tracer.passed > 0 {
            let passed = self.tracer.passed;
            self.notes
                .push(format!("{passed} calls were not entered any more"));
        }
    }
}
