//! When each instruction of a module may run, on the axis of epochs. // M4, M7
//!
//! An entry function starts at the first epoch of its stretch. A function that is called starts
//! wherever its calls stand, once for each context: the starts are a set of epochs, and calls in
//! cycles with barriers add ranges in which everything below them may run. Instructions in a row
//! with the same epochs are one *step*, of which there are few more than barriers.

use std::collections::BTreeSet;

use super::epochs::{EpochRange, Epochs};
use crate::ir::{FlatIndex, Segment};
use crate::planner::CallGraph;
use crate::sorting::CompactSort as _;

/// When the functions of a module run.
pub(super) struct Moments {
    functions: Vec<Function>,
}

/// When one function runs.
#[derive(Default)]
struct Function {
    /// The epochs on the axis at which it is entered.
    starts: BTreeSet<u32>,
    /// Ranges in which all of it may run.
    within: BTreeSet<Segment>,
    steps: Vec<Step>,
}

/// Instructions in a row that may run in the same epochs, counted from the function's entry.
struct Step {
    indices: Segment,
    epochs: EpochRange,
}

impl Moments {
    /// The moments of a module; `start` knows where its entry functions begin on the axis.
    pub(super) fn of(
        calls: &CallGraph,
        epochs: &[Epochs],
        start: impl Fn(usize) -> Option<u32>,
    ) -> Moments {
        let functions = epochs.iter().enumerate().map(|(f, epochs)| Function {
            starts: start(f).into_iter().collect(),
            within: BTreeSet::new(),
            steps: steps(epochs),
        });
        let mut functions: Vec<Function> = functions.collect();
        for &f in &calls.callers_first {
            for site in calls.calls_of(f) {
                let range = epochs[f].of_instruction[site.index.index()];
                // In a cycle, and where control never comes, its epochs are a range and no more.
                let inside = epochs[site.callee].barriers.len() as u32;
                let one_range =
                    epochs[f].in_cycle[site.index.index()] || range.last - range.first != inside;
                let caller = &functions[f];
                let mut within = caller.within.clone();
                let mut starts = BTreeSet::new();
                for &start in &caller.starts {
                    if one_range {
                        within.extend(on_axis(start, range));
                    } else {
                        starts.insert(start + range.first);
                    }
                }
                let callee = &mut functions[site.callee];
                callee.starts.extend(starts);
                callee.within.extend(within);
            }
        }
        Moments { functions }
    }

    /// The instructions of a function that may run within a life.
    pub(super) fn indices(&self, function: usize, life: &[Segment]) -> Vec<Segment> {
        let of = &self.functions[function];
        let everything = of
            .within
            .iter()
            .any(|w| life.iter().any(|s| s.overlaps(*w)));
        let mut indices: Vec<Segment> = Vec::new();
        for step in &of.steps {
            if everything || life.iter().any(|s| of.runs_within(step, *s)) {
                join(&mut indices, step.indices);
            }
        }
        indices
    }

    /// The epochs in which some instructions of a function may run.
    pub(super) fn epochs(&self, function: usize, indices: &[Segment]) -> Vec<Segment> {
        let of = &self.functions[function];
        let ran = |step: &&Step| indices.iter().any(|s| s.overlaps(step.indices));
        let mut all: Vec<Segment> = match indices {
            [] => Vec::new(),
            _ => of.within.iter().copied().collect(),
        };
        for step in of.steps.iter().filter(ran) {
            all.extend(
                of.starts
                    .iter()
                    .filter_map(|&start| on_axis(start, step.epochs)),
            );
        }
        all.sort_compact();
        let mut epochs = Vec::new();
        all.into_iter()
            .for_each(|segment| join(&mut epochs, segment));
        epochs
    }
}

impl Function {
    /// Whether a step may run within a run of epochs, on entry at some start.
    fn runs_within(&self, step: &Step, epochs: Segment) -> bool {
        let from = epochs.first().0.saturating_sub(step.epochs.last);
        let to = epochs.last().0.checked_sub(step.epochs.first);
        to.is_some_and(|to| from <= to && self.starts.range(from..=to).next().is_some())
    }
}

fn on_axis(start: u32, range: EpochRange) -> Option<Segment> {
    let at = |epoch: u32| FlatIndex(start + epoch);
    Segment::new(at(range.first), at(range.last))
}

fn steps(epochs: &Epochs) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (t, &epochs) in epochs.of_instruction.iter().enumerate() {
        let t = FlatIndex::new(t);
        let first = match steps.last() {
            Some(step) if step.epochs == epochs => {
                steps.pop().expect("it is there").indices.first()
            }
            _ => t,
        };
        let indices = Segment::new(first, t).expect("time ascends");
        steps.push(Step { indices, epochs });
    }
    steps
}

/// Adds a segment that begins no earlier than the last one; what touches becomes one.
fn join(segments: &mut Vec<Segment>, next: Segment) {
    match segments.last_mut() {
        Some(last) if next.first().0 <= last.last().0.saturating_add(1) => {
            let end = last.last().max(next.last());
            *last = Segment::new(last.first(), end).expect("it only grows");
        }
        _ => segments.push(next),
    }
}
