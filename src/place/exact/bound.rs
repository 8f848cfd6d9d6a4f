//! What follows from the heads: tighter heads, or a proof that the node has no solution.
//!
//! Two rules, applied in turn to the sections in which a head has changed:
//!
//! * **Release times.** Over one section the unplaced items stand on each other. Taken by
//!   ascending head, `top = max(top, head) + size` is the least top that they can have, as on a
//!   machine that runs jobs one at a time, none before its release (Jackson's rule; Lawler, 1973).
//!   A top above the target refutes the node. The least head becomes the floor.
//! * **Who can be first.** The lowest unplaced item of a section carries all the others: only an
//!   item with `head + rest <= target` can be it. Whatever else is over the section starts at or
//!   above the least top of those.
//!
//! A refutation is charged to the sections whose top was too high; the search goes where charges
//! are (see `choose`).

use std::ops::Range;

use super::choose::Charges;
use super::model::Model;
use super::state::State;
use dramalloc_engine::{Height, Layer, Stacks, raised};

/// How often the heads are raised and the sections swept again.
const ROUNDS: usize = 3;

/// Scratch arrays of the sweep, one entry per section.
pub(super) struct Sweep {
    top: Vec<Height>,
    least_top: Vec<Height>,
}

impl Sweep {
    pub(super) fn new(sections: usize) -> Sweep {
        Sweep {
            top: vec![Height::default(); sections],
            least_top: vec![Height::default(); sections],
        }
    }

    /// Draws the conclusions in `component` from changed heads in `hull`; whether the node may
    /// have a solution. Adds the work done to `work`.
    pub(super) fn infer(
        &mut self,
        model: &Model,
        state: &mut State,
        charges: &mut Charges,
        component: usize,
        mut hull: Range<usize>,
        work: &mut u64,
    ) -> bool {
        let c = state.components[component];
        let list = c.list..c.list + c.live;
        for round in 0.. {
            sort_by_head(&mut state.lists[list.clone()], &state.head);
            state.log_floors(hull.clone());
            *work += 2 * c.live as u64 + hull.len() as u64;
            self.sweep(state, list.clone(), hull.clone());
            let target = state.target;
            if self.top[hull.clone()].iter().any(|&top| top > target) {
                for section in hull {
                    if self.top[section] > target {
                        charges.add(section);
                    }
                }
                return false;
            }
            if round == ROUNDS {
                break;
            }
            match self.raise(model, state, charges, list.clone(), hull) {
                Some(raised) if raised.is_empty() => break,
                Some(raised) => hull = raised,
                None => return false,
            }
        }
        true
    }

    /// Computes top, floor and the least top of a possible first in every section of `hull`.
    fn sweep(&mut self, state: &mut State, list: Range<usize>, hull: Range<usize>) {
        self.top[hull.clone()].fill(Height::default());
        self.least_top[hull.clone()].fill(Height::INFINITE);
        state.floor[hull.clone()].fill(Height::INFINITE);
        for &item in &state.lists[list] {
            let item = item as usize;
            let head = state.head[item];
            let room = state.target - head;
            for span in &state.spans[state.first[item] as usize..state.first[item + 1] as usize] {
                let lo = (span.lo as usize).max(hull.start);
                let hi = (span.hi as usize).min(hull.end);
                if lo >= hi {
                    continue;
                }
                let stacks = Stacks {
                    top: &mut self.top[lo..hi],
                    least_top: &mut self.least_top[lo..hi],
                    floor: &mut state.floor[lo..hi],
                    rest: &state.rest[lo..hi],
                };
                let size = span.size;
                stacks.put(Layer { head, size, room });
            }
        }
    }

    /// Raises the head of whatever cannot be first somewhere; the hull of what was raised, or
    /// `None` if a pin would have to rise.
    fn raise(
        &self,
        model: &Model,
        state: &mut State,
        charges: &mut Charges,
        list: Range<usize>,
        hull: Range<usize>,
    ) -> Option<Range<usize>> {
        let (mut raised_lo, mut raised_hi) = (model.sections, 0);
        let rests = state.rest[hull.clone()].iter().copied();
        let most = rests.fold(Height::default(), Height::max);
        for i in list {
            let item = state.lists[i] as usize;
            let (lo, hi) = (state.lo[item] as usize, state.hi[item] as usize);
            let old = state.head[item];
            let room = state.target - old;
            if most <= room || lo >= hull.end || hull.start >= hi {
                continue;
            }
            let mut head = old;
            for span in &state.spans[state.first[item] as usize..state.first[item + 1] as usize] {
                let lo = (span.lo as usize).max(hull.start);
                let hi = (span.hi as usize).min(hull.end);
                if lo >= hi {
                    continue;
                }
                let least_top = &self.least_top[lo..hi];
                head = raised(head, least_top, &state.rest[lo..hi], room);
            }
            if head > old {
                if model.is_pin(item) {
                    for section in lo.max(hull.start)..hi.min(hull.end) {
                        charges.add(section);
                    }
                    return None;
                }
                let head = state.admit(model, item, head);
                state.raise_head(item, head);
                raised_lo = raised_lo.min(lo);
                raised_hi = raised_hi.max(hi);
            }
        }
        Some(raised_lo.min(raised_hi)..raised_hi)
    }
}

/// Insertion sort: a few heads have risen since the list was sorted last.
fn sort_by_head(list: &mut [u32], head: &[Height]) {
    let mut greatest = Height::default();
    for i in 0..list.len() {
        let item = list[i];
        let key = head[item as usize];
        if key >= greatest {
            greatest = key;
            continue;
        }
        let mut hole = i;
        while hole > 0 && head[list[hole - 1] as usize] > key {
            list[hole] = list[hole - 1];
            hole -= 1;
        }
        list[hole] = item;
    }
}
