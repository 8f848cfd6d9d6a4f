//! Where the items of a problem belong, below a ceiling.

use super::Problem;
use super::prepared::{Prepared, Windows};
use crate::ir::Usage;

/// Where items belong, below a ceiling.
pub(super) struct Places {
    pub(super) everywhere: Windows,
    /// The end of the collective region and its windows, if there is one.
    region: Option<(u64, Windows)>,
}

impl Places {
    pub(super) fn new(prepared: &Prepared<'_>, ceiling: u64) -> Places {
        let problem = prepared.problem;
        let end = |limit| problem.floor.saturating_add(limit).min(ceiling);
        let region = problem.collective_limit.map(end);
        Places {
            everywhere: prepared.windows(problem.floor, ceiling),
            region: region.map(|end| (end, prepared.windows(problem.floor, end))),
        }
    }

    /// A collective item belongs in the region if that is long enough for it. // P5
    pub(super) fn of(&self, problem: &Problem, item: u32) -> &Windows {
        let size = problem.items[item as usize].size;
        match &self.region {
            Some((end, region))
                if problem.usage(item) == Usage::Collective
                    && size <= end.saturating_sub(problem.floor) =>
            {
                region
            }
            _ => &self.everywhere,
        }
    }

    /// The starts of those that lie where they belong.
    pub(super) fn of_those_within(
        &self,
        problem: &Problem,
        starts: &[Option<u64>],
    ) -> Vec<Option<u64>> {
        let is_within = |item: u32, start: u64| {
            let windows = self.of(problem, item).of(problem.usage(item));
            let end = start.checked_add(problem.items[item as usize].size);
            end.is_some_and(|end| windows.iter().any(|w| w.0 <= start && end <= w.1))
        };
        let items = 0..problem.items.len() as u32;
        let start = |item: u32| starts.get(item as usize).copied().flatten();
        let within = |item| start(item).filter(|&start| is_within(item, start));
        items.map(within).collect()
    }
}
