//! One deadline for many problems: each searches in its share of the time that is left. // S2
//!
//! `best` goes on as long as it may. Without shares the first of several functions would use up the
//! whole time, and the others would be left without any placement. A problem that ends early leaves
//! its time to those after it; one that finds nothing in its share is placed by `fast`, by the deadline
//! itself.

use super::Planning;
use super::scene::Scene;
use crate::control::Control;
use crate::ir::Space;
use crate::options::Strategy;
use crate::place::{self, Problem, Solved, Unsolved};

/// Solves a problem after which `later` others come.
pub(super) fn solve(
    problem: &Problem,
    strategy: Strategy,
    budget_steps: Option<u64>,
    later: usize,
    control: &mut Control<'_>,
) -> Result<Solved, Unsolved> {
    let whole = control.deadline;
    let share = match (whole, control.elapsed) {
        (Some(whole), Some(elapsed)) if strategy == Strategy::Best && later > 0 => {
            let now = elapsed();
            let problems = u32::try_from(later).unwrap_or(u32::MAX).saturating_add(1);
            now + whole.saturating_sub(now) / problems
        }
        _ => return place::solve(problem, strategy, budget_steps, control),
    };
    control.deadline = Some(share);
    let solved = place::solve(problem, strategy, budget_steps, control);
    control.deadline = whole;
    match solved {
        Err(Unsolved::DeadlineExceeded) => {
            place::solve(problem, Strategy::Fast, budget_steps, control)
        }
        solved => solved,
    }
}

/// One space of the module at a position; the shared one is module 0's.
pub(super) type Stage = (Space, usize);

/// Every space of every module, in the order in which they are placed. // M3, M7
pub(super) fn all_stages(scene: &Scene<'_>) -> Vec<Stage> {
    let each = |space| (0..scene.modules.len()).map(move |m| (space, m));
    let shared = Some((Space::Shared, 0));
    let (before, after) = match scene.is_unified() {
        true => (shared, None),
        false => (None, shared),
    };
    let local = before.into_iter().chain(each(Space::Local));
    local.chain(after).chain(each(Space::Debug)).collect()
}

impl Planning<'_> {
    /// How many problems there are after those of a stage; 0 where nobody shares time with them.
    pub(super) fn later(&self, stage: Stage, control: &Control<'_>) -> usize {
        if control.deadline.is_none() || self.attempt.strategy != Strategy::Best {
            return 0;
        }
        let Some(at) = self.stages.iter().position(|&other| other == stage) else {
            return 0;
        };
        let problems = |&(space, m): &Stage| match space {
            Space::Shared => usize::from(self.scene.groups.placed().next().is_some()),
            Space::Local | Space::Debug => private_problems(&self.scene, m, space),
        };
        self.stages[at + 1..].iter().map(problems).sum()
    }
}

/// The functions of a module that have something to place in a private space.
fn private_problems(scene: &Scene<'_>, m: usize, space: Space) -> usize {
    let functions = 0..scene.functions(m).len();
    functions
        .filter(|&f| is_posed(scene, (m, f), space))
        .count()
}

/// Whether a function has something to place in a private space.
pub(super) fn is_posed(scene: &Scene<'_>, (m, f): (usize, usize), space: Space) -> bool {
    let (function, spaces) = (&scene.functions(m)[f], &scene.function(m, f).spaces);
    (function.memlocs().iter().zip(spaces)).any(|(loc, &at)| {
        at == space && !loc.is_view() && loc.is_candidate(scene.options.usage_mask)
    })
}
