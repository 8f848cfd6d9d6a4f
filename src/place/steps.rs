//! How much work a search may still do, counted in steps.
//!
//! A step is one elementary act of a search: an item looked at, a section updated. Counting acts
//! instead of time makes a budget repeatable on any host. The host's cancel flag and deadline are
//! looked at every [`POLL`] steps, one or two milliseconds apart. // S2, S4

use crate::control::Control;

/// Steps between two looks at the host's flag and clock.
const POLL: u64 = 1 << 16;

/// A budget in steps, with the host's hands on it.
pub(crate) struct Steps<'a, 'h> {
    left: u64,
    until_poll: u64,
    stopped: bool,
    control: &'a mut Control<'h>,
}

impl<'a, 'h> Steps<'a, 'h> {
    /// `steps` of work under `control`.
    pub(crate) fn new(steps: u64, control: &'a mut Control<'h>) -> Steps<'a, 'h> {
        let stopped = control.look().is_err();
        Steps {
            left: steps,
            until_poll: POLL,
            stopped,
            control,
        }
    }

    /// Steps left; 0 once the host has stopped the run.
    pub(crate) fn left(&self) -> u64 {
        if self.stopped { 0 } else { self.left }
    }

    /// Takes `steps` off the budget; whether the work may go on.
    #[must_use]
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        self.left = self.left.saturating_sub(steps);
        self.until_poll = self.until_poll.saturating_sub(steps);
        if self.until_poll == 0 {
            self.until_poll = POLL;
            self.stopped |= self.control.look().is_err();
        }
        self.left > 0 && !self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn work_ends_with_the_budget() {
        let mut control = Control::default();
        let mut steps = Steps::new(10, &mut control);
        assert!(steps.spend(9));
        assert_eq!(steps.left(), 1);
        assert!(!steps.spend(1));
        assert_eq!(steps.left(), 0);
    }

    #[test]
    fn a_cancel_is_seen_at_the_next_poll() {
        let flag = AtomicBool::new(false);
        let mut control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        let mut steps = Steps::new(u64::MAX, &mut control);
        assert!(steps.spend(1));
        flag.store(true, Ordering::Relaxed);
        assert!(!steps.spend(POLL));
        assert_eq!(steps.left(), 0);
    }
}
