//! How long a search may go on: steps, the host's flag, the host's clock. // S2

use super::search::Unsolved;
use crate::control::Control;
pub(crate) use crate::control::Stop;
use crate::pace::Pace;

impl From<Stop> for Unsolved {
    fn from(stop: Stop) -> Unsolved {
        match stop {
            Stop::Cancelled => Unsolved::Cancelled,
            Stop::OutOfBudget => Unsolved::DeadlineExceeded,
        }
    }
}

/// Steps between two looks at the host's flag and clock.
const POLL: u64 = 128;

/// Counts steps, one per placement, and asks the host now and then.
pub(crate) struct Meter<'c, 'h> {
    control: &'c mut Control<'h>,
    budget: Option<u64>,
    done: u64,
}

impl<'c, 'h> Meter<'c, 'h> {
    /// A meter with this many steps, or without end.
    pub fn new(control: &'c mut Control<'h>, budget: Option<u64>) -> Meter<'c, 'h> {
        Meter {
            control,
            budget,
            done: 0,
        }
    }

    /// Counts a step that is about to be taken.
    pub fn step(&mut self) -> Result<(), Stop> {
        if self.budget.is_some_and(|budget| self.done >= budget) {
            return Err(Stop::OutOfBudget);
        }
        if self.done.is_multiple_of(POLL) {
            self.poll()?;
        }
        self.done += 1;
        Ok(())
    }

    /// Counts steps that have been taken.
    pub fn charge(&mut self, steps: u64) -> Result<(), Stop> {
        self.done = self.done.saturating_add(steps);
        self.poll()?;
        match self.budget {
            Some(budget) if self.done >= budget => Err(Stop::OutOfBudget),
            _ => Ok(()),
        }
    }

    /// Steps that are left; `None`: no end.
    pub fn left(&self) -> Option<u64> {
        Some(self.budget?.saturating_sub(self.done))
    }

    /// A meter for at most so many of the steps that are left, counting on from here. What it has
    /// counted is to be charged to this one.
    pub fn part(&mut self, steps: u64) -> Meter<'_, 'h> {
        let end = self.done.saturating_add(steps);
        Meter {
            control: self.control,
            budget: Some(self.budget.map_or(end, |budget| budget.min(end))),
            done: self.done,
        }
    }

    /// Asks the host.
    pub fn poll(&self) -> Result<(), Stop> {
        self.control.look()
    }

    /// Asks the host now and then, for work that is not counted in steps.
    pub fn pace(&self) -> Pace<'_, 'h> {
        Pace::at_once(self.control)
    }

    /// Steps taken.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// The host's hands, for reports.
    pub fn control(&mut self) -> &mut Control<'h> {
        self.control
    }
}
