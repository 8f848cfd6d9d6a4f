//! How long a search may go on: steps, the host's flag, the host's clock; and the host is told what
//! the search knows. // S2

use std::time::Duration;

use super::search::Unsolved;
pub(crate) use crate::control::Stop;
use crate::control::{Control, Progress};
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

/// Time between two reports while nothing new is known.
const SILENCE: Duration = Duration::from_millis(100);

/// Counts steps, one per placement, and asks and tells the host now and then.
pub(crate) struct Meter<'c, 'h> {
    control: &'c mut Control<'h>,
    budget: Option<u64>,
    done: u64,
    told: Told,
}

/// The last report.
#[derive(Clone, Copy)]
struct Told {
    /// The budget of the whole search; 0: none.
    total: u64,
    bound: u64,
    incumbent: u64,
    /// When.
    at: Duration,
}

impl<'c, 'h> Meter<'c, 'h> {
    /// A meter with this many steps, or without end.
    pub fn new(control: &'c mut Control<'h>, budget: Option<u64>) -> Meter<'c, 'h> {
        Meter {
            control,
            budget,
            done: 0,
            told: Told {
                total: budget.unwrap_or(0),
                bound: 0,
                incumbent: u64::MAX,
                at: Duration::ZERO,
            },
        }
    }

    /// Tells the host the lower bound and the best peak so far; `None` if there is none yet.
    pub fn tell(&mut self, bound: u64, incumbent: Option<u64>) {
        self.told.bound = bound;
        self.told.incumbent = incumbent.unwrap_or(u64::MAX);
        self.report();
    }

    fn report(&mut self) {
        let Told {
            total,
            bound,
            incumbent,
            ..
        } = self.told;
        self.told.at = self.now();
        let progress = Progress {
            phase: "search",
            done: self.done,
            total,
            bound,
            incumbent,
            elapsed: Duration::ZERO,
        };
        self.control.report(progress);
    }

    /// Says the same again if nothing has been said for a while: the search goes on.
    fn report_now_and_then(&mut self) {
        if self.control.progress.is_some() && self.now() >= self.told.at + SILENCE {
            self.report();
        }
    }

    /// Time since the start, if there is a clock.
    fn now(&self) -> Duration {
        self.control.elapsed.map_or(Duration::ZERO, |now| now())
    }

    /// Counts a step that is about to be taken.
    pub fn step(&mut self) -> Result<(), Stop> {
        if self.budget.is_some_and(|budget| self.done >= budget) {
            return Err(Stop::OutOfBudget);
        }
        if self.done.is_multiple_of(POLL) {
            self.poll()?;
            self.report_now_and_then();
        }
        self.done += 1;
        Ok(())
    }

    /// Counts steps that have been taken.
    pub fn charge(&mut self, steps: u64) -> Result<(), Stop> {
        self.done = self.done.saturating_add(steps);
        self.poll()?;
        self.report_now_and_then();
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
            told: self.told,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_search_without_news_is_heard_of_every_tenth_of_a_second() {
        let now = Cell::new(Duration::ZERO);
        let elapsed = || now.get();
        let mut told = Vec::new();
        let mut tell = |progress: &Progress| told.push(*progress);
        let mut control = Control {
            elapsed: Some(&elapsed),
            progress: Some(&mut tell),
            ..Control::default()
        };
        let mut meter = Meter::new(&mut control, Some(1_000_000));
        now.set(SILENCE);
        meter.tell(7, None);
        meter.tell(7, Some(9));
        for _ in 0..10 {
            now.set(now.get() + SILENCE / 4);
            for _ in 0..POLL {
                meter.step().expect("the budget is not used up");
            }
        }
        // A part is of the same search.
        now.set(now.get() + SILENCE);
        assert_eq!(meter.part(1000).charge(5), Ok(()));
        let times: Vec<Duration> = told.iter().map(|p| p.elapsed).collect();
        assert_eq!(
            times,
            [4, 4, 8, 12, 18].map(|quarters| quarters * SILENCE / 4)
        );
        let known = |p: &Progress| (p.phase, p.total, p.bound, p.incumbent);
        assert_eq!(known(&told[0]), ("search", 1_000_000, 7, u64::MAX));
        assert!(
            told[1..]
                .iter()
                .all(|p| known(p) == ("search", 1_000_000, 7, 9))
        );
        assert!(told.is_sorted_by_key(|p| p.done) && told[3].done > 0);
    }
}
