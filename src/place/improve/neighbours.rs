//! Who lives when an item does: pins among them.

use crate::interval_tree::{Interval, IntervalTree};
use crate::place::prepared::Prepared;

/// An index over the lives of a problem.
#[derive(Debug)]
pub(crate) struct Neighbours {
    tree: IntervalTree,
    found: Vec<u32>,
}

impl Neighbours {
    /// Builds the index. Pins count from the number of items on.
    pub(crate) fn new(prepared: &Prepared<'_>) -> Neighbours {
        let items = prepared.problem.items.len();
        let pins = prepared.problem.pins.len();
        let mut intervals = Vec::with_capacity(items + pins);
        for i in 0..items + pins {
            let life = if i < items {
                prepared.life(i as u32)
            } else {
                prepared.pin_life(i - items)
            };
            intervals.extend(life.iter().map(|run| Interval {
                lo: run.first,
                hi: run.last,
                payload: i as u32,
            }));
        }
        Neighbours {
            tree: IntervalTree::new(&intervals).expect("runs are no inverted intervals"),
            found: Vec::new(),
        }
    }

    /// Calls `visit` with every other item and every pin that is live when `item` is; with those
    /// that meet several of its runs several times. Returns how many calls those were.
    pub(crate) fn visit(
        &mut self,
        prepared: &Prepared<'_>,
        item: u32,
        mut visit: impl FnMut(u32),
    ) -> u64 {
        let mut visits = 0;
        for run in prepared.life(item) {
            self.tree
                .all_overlaps_with_interval(run.first, run.last, &mut self.found);
            visits += self.found.len() as u64;
            let others = self.found.iter().filter(|&&other| other != item);
            others.for_each(|&other| visit(other));
        }
        visits
    }
}
