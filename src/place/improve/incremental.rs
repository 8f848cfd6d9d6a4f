//! Promotion, where few items overlap: only what a repair changes is placed again.
//!
//! Items that do not meet in time do not see each other, whatever their order. So when an item
//! moves in the order, what first fit makes of the new order differs only in that item, in those
//! later neighbours that its old or its new place disturbs, in those that they disturb, and so on.
//! Taken by ascending key, each of them is placed at most once. On a long program with short lives
//! this is a handful of a million, and every trouble spot is repaired by itself.
//!
//! # Invariant
//!
//! With an empty queue every placed item lies at the lowest start that the neighbours with lower
//! keys leave below the cap, and every failed one has none: what a pass of first fit in the order
//! of the keys would have found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::neighbours::{Neighbours, VISITS_PER_STEP};
use super::orders::StackOrder;
use super::promote::Patience;
use super::turns::{Turn, Turns};
use crate::pace::Pace;
use crate::place::around::lowest_beside;
use crate::place::exact::Random;
use crate::place::meter::{Meter, Stop};
use crate::place::packing::NOT_PLACED;
use crate::place::prepared::{Prepared, Windows};
use crate::sorting::CompactSort as _;

/// What has more neighbours than this keeps its turn: to find it a better one would take too long.
const MOST_AROUND: usize = 1 << 16;

/// A placement under repair.
pub(super) struct Incremental<'a> {
    prepared: &'a Prepared<'a>,
    windows: Windows,
    stack: Vec<u32>,
    in_stack: Vec<bool>,
    turns: Turns,
    start: Vec<u64>,
    queue: BinaryHeap<Reverse<Turn>>,
    queued: Vec<bool>,
    failures: Vec<u16>,
    random: Random,
}

/// What has been placed around an item: start, end and key.
type Around = Vec<(u64, u64, u64)>;

impl<'a> Incremental<'a> {
    /// Whether the rules of a problem are all known here.
    pub(super) fn serves(prepared: &Prepared<'_>) -> bool {
        let problem = prepared.problem;
        problem.pairs.is_empty()
            && !problem.has_region_of_collectives()
            && problem.items.len() <= Turns::MOST
    }

    /// Goes on from a pass under `cap`: `starts` by item, `NOT_PLACED` for what did not fit.
    pub(super) fn new(
        prepared: &'a Prepared<'a>,
        order: StackOrder,
        starts: Vec<u64>,
        cap: u64,
        seed: u64,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Incremental<'a>, Stop> {
        let items = order.items.len();
        let mut in_stack = vec![false; items];
        let stack = order.items[..order.stack].to_vec();
        for &member in &stack {
            in_stack[member as usize] = true;
        }
        Ok(Incremental {
            prepared,
            windows: prepared.windows(prepared.problem.floor, cap),
            stack,
            in_stack,
            turns: Turns::new(&order.items, pace)?,
            start: starts,
            queue: BinaryHeap::new(),
            queued: vec![false; items],
            failures: vec![0; items],
            random: Random::new(seed),
        })
    }

    /// Repairs until everything is placed, and returns the starts; `None` once `patience` is used
    /// up.
    pub(super) fn repair(
        mut self,
        patience: Patience,
        neighbours: &Neighbours,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Vec<u64>>, Stop> {
        let mut failed: Vec<u32> = (0..self.start.len() as u32)
            .filter(|&item| self.start[item as usize] == NOT_PLACED)
            .collect();
        let begun = meter.done();
        let (mut fewest, mut since) = (usize::MAX, begun);
        loop {
            failed.retain(|&item| self.start[item as usize] == NOT_PLACED);
            failed.sort_compact_by_key(|&item| self.turns.of(item));
            failed.dedup();
            if failed.is_empty() {
                return Ok(Some(self.start));
            }
            if failed.len() < fewest {
                (fewest, since) = (failed.len(), meter.done());
            }
            // Each of them once: most are far from each other, and do not meet.
            let mut again = Vec::new();
            for &item in &failed {
                if self.start[item as usize] != NOT_PLACED {
                    continue;
                }
                meter.step()?;
                let visits = self.promote(item, neighbours, meter)?;
                meter.charge(visits / VISITS_PER_STEP)?;
                self.settle(neighbours, &mut again, meter)?;
                let done = meter.done();
                if done - since > patience.without_gain || done - begun > patience.in_all {
                    return Ok(None);
                }
            }
            failed.append(&mut again);
        }
    }

    /// Gives a failed item an earlier turn. Returns how many neighbours that took.
    fn promote(
        &mut self,
        item: u32,
        neighbours: &Neighbours,
        meter: &Meter<'_, '_>,
    ) -> Result<u64, Stop> {
        let i = item as usize;
        self.failures[i] = self.failures[i].saturating_add(1);
        let failures = usize::from(self.failures[i]);
        let own = self.turns.of(item);
        let mut around = Around::new();
        let mut turns: Vec<Turn> = Vec::new(); // Of neighbours that came before.
        let visits = neighbours.visit(self.prepared, item, |other| {
            let Some(range) = self.range_before(own, other) else {
                return;
            };
            around.push(range);
            if (other as usize) < self.start.len() {
                turns.push(self.turns.of(other));
            }
        });
        if around.len() > MOST_AROUND {
            return Ok(visits);
        }
        around.sort_unstable();
        turns.sort_compact();
        turns.dedup();
        let of_stack = turns
            .iter()
            .filter(|&&(_, other)| self.in_stack[other as usize])
            .count();
        // Only neighbours with keys below that of the one it goes before are in the way.
        let room_before = |turn: usize| {
            let limit = turns.get(turn).map_or(u64::MAX, |&(key, _)| key);
            let before: Vec<(u64, u64)> = around
                .iter()
                .filter(|&&(.., key)| key < limit)
                .map(|&(start, end, _)| (start, end))
                .collect();
            self.lowest(item, &before).is_some()
        };
        let (mut yes, mut no) = (of_stack, turns.len());
        let fits = room_before(yes);
        while fits && no - yes > 1 {
            let middle = yes + (no - yes) / 2;
            if room_before(middle) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        let mut to = yes;
        if failures > 1 {
            let further = (turns.len() - to + 1) * failures.min(8);
            to = to.saturating_sub(self.random.below(further as u64 + 1) as usize);
            if self.random.below(8) == 0 {
                to -= self.random.below(to as u64 / 4 + 1) as usize;
            }
            to = to.max(of_stack);
        }
        if (!fits || failures.is_multiple_of(4)) && self.repair_stack(item, failures) {
            to = of_stack;
        }
        // A turn between those of the neighbours before and after; nobody else minds.
        let before = to.checked_sub(1).map_or(0, |before| turns[before].0);
        let after = turns.get(to).map_or(own.0, |&(key, _)| key);
        if after - before < 2 {
            self.spread_keys(meter)?;
            return Ok(visits); // It gets its turn when it is tried again.
        }
        self.turns.set(item, before + (after - before) / 2);
        self.enqueue(item);
        Ok(visits)
    }

    /// Places again whatever is queued, and what that disturbs.
    fn settle(
        &mut self,
        neighbours: &Neighbours,
        failed: &mut Vec<u32>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let mut around: Vec<(u64, u64)> = Vec::new();
        let mut visits = 0;
        while let Some(Reverse((key, item))) = self.queue.pop() {
            let i = item as usize;
            self.queued[i] = false;
            around.clear();
            visits += neighbours.visit(self.prepared, item, |other| {
                if let Some((start, end, _)) = self.range_before((key, item), other) {
                    around.push((start, end));
                }
            });
            around.sort_unstable();
            let old = self.start[i];
            let new = self.lowest(item, &around).unwrap_or(NOT_PLACED);
            if new == NOT_PLACED {
                failed.push(item);
            }
            if new != old {
                self.start[i] = new;
                visits += self.disturb(neighbours, (key, item), old, new);
            }
            if visits >= VISITS_PER_STEP {
                meter.charge(visits / VISITS_PER_STEP)?;
                visits %= VISITS_PER_STEP;
            }
        }
        Ok(())
    }

    /// Queues the later neighbours that a change of place may move.
    fn disturb(&mut self, neighbours: &Neighbours, own: Turn, old: u64, new: u64) -> u64 {
        let items = &self.prepared.problem.items;
        let size = items[own.1 as usize].size;
        let mut moved = Vec::new();
        let visits = neighbours.visit(self.prepared, own.1, |other| {
            let o = other as usize;
            if o >= items.len() || self.turns.of(other) <= own || self.queued[o] {
                return;
            }
            let start = self.start[o];
            let freed_below = old < start;
            let taken = new != NOT_PLACED
                && start != NOT_PLACED
                && new < start + items[o].size
                && start < new + size;
            if freed_below || taken {
                moved.push(other);
            }
        });
        for other in moved {
            self.enqueue(other);
        }
        visits
    }

    fn enqueue(&mut self, item: u32) {
        if !std::mem::replace(&mut self.queued[item as usize], true) {
            self.queue.push(Reverse(self.turns.of(item)));
        }
    }

    /// The range of a pin, or of an item that is placed and whose turn comes before `own`.
    fn range_before(&self, own: Turn, other: u32) -> Option<(u64, u64, u64)> {
        let problem = self.prepared.problem;
        let o = other as usize;
        if o >= problem.items.len() {
            let pin = problem.pins[o - problem.items.len()];
            return Some((pin.start, pin.end, 0));
        }
        let (start, turn) = (self.start[o], self.turns.of(other));
        (turn < own && start != NOT_PLACED).then(|| (start, start + problem.items[o].size, turn.0))
    }

    /// The lowest start of an item beside these ranges, which are sorted.
    fn lowest(&self, item: u32, around: &[(u64, u64)]) -> Option<u64> {
        let usage = self.prepared.problem.usage(item);
        self.windows.of(usage).iter().find_map(|&window| {
            let request = self.prepared.request(item, window);
            lowest_beside(request, around.iter().copied())
        })
    }

    /// See `stack`; the members that moved are queued. Whether any has.
    fn repair_stack(&mut self, item: u32, failures: usize) -> bool {
        let old = self.stack.clone();
        let prepared = self.prepared;
        super::stack::open(prepared, &mut self.stack, item, failures, &mut self.random);
        // Turns stay with the places in the stack.
        let keys: Vec<u64> = old.iter().map(|&member| self.turns.of(member).0).collect();
        let mut changed = false;
        for at in 0..old.len() {
            let member = self.stack[at];
            if member != old[at] {
                changed = true;
                self.turns.set(member, keys[at]);
                self.enqueue(member);
            }
        }
        changed
    }

    /// Makes room between the keys, without a change of the order.
    fn spread_keys(&mut self, meter: &Meter<'_, '_>) -> Result<(), Stop> {
        self.turns.spread(&mut meter.pace())?;
        let queued: Vec<u32> = self.queue.drain().map(|Reverse((_, item))| item).collect();
        for item in queued {
            self.queue.push(Reverse(self.turns.of(item)));
        }
        Ok(())
    }
}
