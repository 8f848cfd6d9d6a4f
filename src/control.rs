//! How a host watches and stops a run: cancel flag, progress, time.
//!
//! Core code has no clock of its own; what reads one is handed in at the edge. // S2

use crate::error::{Error, Fault};
use crate::plan::Plan;
use crate::shared::Predicate;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Why a run has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The host's flag is set.
    Cancelled,
    /// The steps or the time are used up.
    OutOfBudget,
}

impl From<Stop> for Error {
    #[cold]
    #[inline(never)] // Or every loop that may stop would carry the making of an error.
    fn from(stop: Stop) -> Error {
        match stop {
            Stop::Cancelled => Fault::Cancelled.into(),
            Stop::OutOfBudget => Fault::DeadlineExceeded.into(),
        }
    }
}

/// What a run reports while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `liveness`, `bound` or `search`, in a pipeline also a pass's name.
    pub phase: &'static str,
    /// Steps done in this phase: of a search, so far for this space and function.
    pub done: u64,
    /// Steps that the phase has in all, unless it reaches the bound before; 0 if not known.
    pub total: u64,
    /// The lower bound in bytes; 0 if not known yet.
    pub bound: u64,
    /// The best peak so far in bytes; `u64::MAX` if there is none yet.
    pub incumbent: u64,
    /// Time since the start, by the host's clock; zero without one.
    pub elapsed: Duration,
}

/// The host's hands on a run. `Control::default()` lets it run to its end unseen.
///
/// The flag and the clock are looked at while a run works, some half a millisecond apart, however
/// large the program. What they say ends the run with an error, and nothing has changed, until
/// everything has a place; from then on they only end the search for better ones. What follows the
/// last search is to write the plan down: it asks nobody, for the plan would be lost, and takes part
/// of a microsecond for each location. // C4, S2
///
/// What is made of a placement, by the passes of a pipeline and by a verification, looks at the flag
/// alone, as often, and ends with an error and nothing changed: a placement without its dependences
/// or its proof is not what was asked for. No deadline ends it.
#[derive(Default)]
pub struct Control<'a> {
    /// Sticky; may be set from any thread.
    pub cancel: Option<&'a AtomicBool>,
    /// Called when a phase begins, when something better is known, and else some times a second
    /// while a search goes on, if there is a clock.
    pub progress: Option<&'a mut dyn FnMut(&Progress)>,
    /// Time since the start.
    pub elapsed: Option<&'a dyn Fn() -> Duration>,
    /// When to stop, by `elapsed`.
    pub deadline: Option<Duration>,
    /// Says of a location whether the cores share it although it does not say so itself. // M1
    pub shared: Option<Predicate<'a>>,
    /// An earlier plan, of this program or one like it: a warm start. Nothing in it is trusted.
    pub hint: Option<&'a Plan>,
}

impl Control<'_> {
    /// Whether the host has cancelled.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Whether the time is up.
    pub fn out_of_time(&self) -> bool {
        match (self.deadline, self.elapsed) {
            (Some(deadline), Some(elapsed)) => elapsed() >= deadline,
            _ => false,
        }
    }

    /// Whether the run may go on.
    pub(crate) fn look(&self) -> Result<(), Stop> {
        if self.cancelled() {
            Err(Stop::Cancelled)
        } else if self.out_of_time() {
            Err(Stop::OutOfBudget)
        } else {
            Ok(())
        }
    }

    /// Tells the host that a phase begins.
    pub(crate) fn enter(&mut self, phase: &'static str) {
        self.report(Progress {
            phase,
            done: 0,
            total: 0,
            bound: 0,
            incumbent: u64::MAX,
            elapsed: Duration::ZERO,
        });
    }

    /// Tells the host, filling in the time.
    pub fn report(&mut self, mut progress: Progress) {
        progress.elapsed = self.elapsed.map_or(Duration::ZERO, |elapsed| elapsed());
        if let Some(tell) = &mut self.progress {
            tell(&progress);
        }
    }
}
