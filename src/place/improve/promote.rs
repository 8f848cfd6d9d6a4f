//! Promotion: repairs an order until first fit stays below a cap.
//!
//! A pass under the cap shows what does not fit. Each such item would have fitted had it come
//! earlier: going back in the order, what overlaps it in time goes away, and some day a hole is
//! large enough. There it is put, and the next pass sees. An item that fails again goes further
//! ahead each time, by a random amount, so that no cycle lasts.
//!
//! The peak stack (see `orders`) is not to be broken: it stays in front, where it is as high as
//! the bound and has no gaps. An item that does not even fit right after it asks for another order
//! of the stack: in the row of the stack, by address, those members that are dead over the item's
//! life make room. The shortest way is to take a run of neighbours whose dead bytes suffice and
//! whose live bytes are least, and move the live ones out of the run.
//!
//! All failures of a pass are repaired at once: a pass costs little, and the late failures, small
//! ones mostly, do not depend on each other.

use crate::place::Placement;
use crate::place::exact::Random;
use crate::place::first_fit::{Others, Pass, first_fit};
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;
use crate::sorting::CompactSort as _;

use super::neighbours::{Neighbours, VISITS_PER_STEP};
use super::orders::StackOrder;

/// An order under repair.
pub(super) struct Promotion {
    pub(super) order: StackOrder,
    cap: u64,
    /// By item: how often it has failed.
    failures: Vec<u16>,
    /// The fewest failures of a pass, and the passes since.
    fewest: usize,
    stalled: u32,
    random: Random,
}

/// What a round of repairs led to.
pub(super) enum Round {
    /// A placement below the cap.
    Placed(Placement),
    /// Not yet.
    Failed,
    /// No progress for long.
    Stuck,
}

/// Rounds without fewer failures after which an order is given up.
const PATIENCE: u32 = 12;

impl Promotion {
    pub(super) fn new(order: StackOrder, cap: u64, seed: u64) -> Promotion {
        Promotion {
            failures: vec![0; order.items.len()],
            order,
            cap,
            fewest: usize::MAX,
            stalled: 0,
            random: Random::new(seed),
        }
    }

    /// One pass, and the repairs that it asks for.
    pub(super) fn round(
        &mut self,
        prepared: &Prepared<'_>,
        neighbours: &Neighbours,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Round, Stop> {
        let count = self.order.items.len();
        let patience = (count / 8).max(64);
        let order = &self.order.items;
        let pass = first_fit(prepared, order, Others::Anywhere, self.cap, patience, meter)?;
        if pass.failed.is_empty() {
            return Ok(Round::Placed(pass.placement().expect("nothing has failed")));
        }
        if pass.failed.len() < self.fewest {
            self.fewest = pass.failed.len();
            self.stalled = 0;
        } else {
            self.stalled += 1;
            if self.stalled > PATIENCE {
                return Ok(Round::Stuck);
            }
        }
        self.repair(prepared, neighbours, &pass, meter)?;
        Ok(Round::Failed)
    }

    fn repair(
        &mut self,
        prepared: &Prepared<'_>,
        neighbours: &Neighbours,
        pass: &Pass<'_>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let mut rank_of = vec![0_u32; self.order.items.len()];
        for (rank, &item) in self.order.items.iter().enumerate() {
            rank_of[item as usize] = rank as u32;
        }
        let stack = self.order.stack;
        let mut moves: Vec<(usize, u32)> = Vec::with_capacity(pass.failed.len());
        let mut repairs = 0;
        for &item in &pass.failed {
            let rank = rank_of[item as usize] as usize;
            let failures = &mut self.failures[item as usize];
            *failures = failures.saturating_add(1);
            let failures = usize::from(*failures);
            if rank < stack {
                moves.push((0, item)); // The stack itself does not fit: alignment, pins.
                continue;
            }
            let (fits_at, visits) = self.rank_with_room(prepared, neighbours, pass, &rank_of, rank);
            meter.charge(visits / VISITS_PER_STEP)?;
            let mut to = fits_at.unwrap_or(stack).max(stack);
            if stack > 0 && (fits_at.is_none() || failures.is_multiple_of(4)) && repairs < 8 {
                repairs += 1;
                let members = &mut self.order.items[..stack];
                super::stack::open(prepared, members, item, failures, &mut self.random);
                to = stack;
            } else if failures > 1 {
                let further = (rank - to + 1) * failures.min(8);
                to = to.saturating_sub(self.random.below(further as u64 + 1) as usize);
                if self.random.below(8) == 0 {
                    to -= self.random.below(to as u64 / 4 + 1) as usize;
                }
                to = to.max(stack);
            }
            moves.push((to, item));
        }
        moves.sort_compact_by_key(|&(to, _)| to);
        let mut failed = vec![false; self.order.items.len()];
        for &(_, item) in &moves {
            failed[item as usize] = true;
        }
        let mut items = Vec::with_capacity(self.order.items.len());
        let mut moves = moves.into_iter().peekable();
        for (rank, &item) in self.order.items.iter().enumerate() {
            while let Some((_, moved)) = moves.next_if(|&(to, _)| to <= rank) {
                items.push(moved);
            }
            if !failed[item as usize] {
                items.push(item);
            }
        }
        items.extend(moves.map(|(_, item)| item));
        self.order.items = items;
        Ok(())
    }

    /// The last rank at which the item would have found room in this pass; `None` if it would not
    /// even have right after the stack. And how many neighbours it took to know.
    fn rank_with_room(
        &self,
        prepared: &Prepared<'_>,
        neighbours: &Neighbours,
        pass: &Pass<'_>,
        rank_of: &[u32],
        rank: usize,
    ) -> (Option<usize>, u64) {
        let item = self.order.items[rank];
        let items = &prepared.problem.items;
        let mut taken: Vec<(u64, u64, u32)> = Vec::new();
        let visits = neighbours.visit(prepared, item, |other| {
            let Some(of) = items.get(other as usize) else {
                let pin = prepared.problem.pins[other as usize - items.len()];
                taken.push((pin.start, pin.end, 0));
                return;
            };
            if let Some(start) = pass.packing.offset(other)
                && (rank_of[other as usize] as usize) < rank
            {
                let end = start + of.size;
                taken.push((start, end, rank_of[other as usize]));
            }
        });
        taken.sort_compact_by_key(|&(start, end, _)| (start, end));
        let size = items[item as usize].size;
        let room_at = |rank: usize| {
            let mut at = prepared.problem.floor;
            for &(start, end, of) in &taken {
                if (of as usize) < rank {
                    if start >= at + size {
                        return true;
                    }
                    at = at.max(end);
                }
            }
            at + size <= self.cap
        };
        // Room only shrinks with the rank.
        let (mut yes, mut no) = (self.order.stack, rank);
        if !room_at(yes) {
            return (None, visits);
        }
        while no - yes > 1 {
            let middle = yes + (no - yes) / 2;
            if room_at(middle) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        (Some(yes), visits)
    }
}
