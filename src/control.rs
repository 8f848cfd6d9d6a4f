//! How a host watches and stops a run: cancel flag, progress, time.
//!
//! Core code has no clock of its own; what reads one is handed in at the edge. // S2

use crate::error::{Fault, Result};
use crate::plan::Plan;
use crate::shared::Predicate;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a run reports while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `liveness`, `order`, `place`, `search`, ...
    pub phase: &'static str,
    /// Steps done in this phase.
    pub done: u64,
    /// Steps that the phase has in all; 0 if not known.
    pub total: u64,
    /// The lower bound in bytes; 0 if not known yet.
    pub bound: u64,
    /// The best peak so far in bytes; `u64::MAX` if there is none yet.
    pub incumbent: u64,
    /// Time since the start, by the host's clock; zero without one.
    pub elapsed: Duration,
}

/// The host's hands on a run. `Control::default()` lets it run to its end unseen.
#[derive(Default)]
pub struct Control<'a> {
    /// Sticky; may be set from any thread.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then.
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

    /// An error if the host has cancelled or the time is up, for whoever has found nothing yet.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancelled() {
            Err(Fault::Cancelled.into())
        } else if self.out_of_time() {
            Err(Fault::DeadlineExceeded.into())
        } else {
            Ok(())
        }
    }

    /// What `body` makes, which asks often whether to stop; `None` from it is the host's doing.
    pub(crate) fn unless_stopped<T>(
        &self,
        body: impl FnOnce(&mut dyn FnMut() -> bool) -> Option<T>,
    ) -> Result<T> {
        let made = body(&mut || self.cancelled() || self.out_of_time());
        made.ok_or_else(|| match self.cancelled() {
            true => Fault::Cancelled.into(),
            false => Fault::DeadlineExceeded.into(),
        })
    }

    /// Tells the host, filling in the time.
    pub fn report(&mut self, mut progress: Progress) {
        progress.elapsed = self.elapsed.map_or(Duration::ZERO, |elapsed| elapsed());
        if let Some(tell) = &mut self.progress {
            tell(&progress);
        }
    }
}
