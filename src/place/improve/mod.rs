//! Strategy `best`: what goes on after the orders of `fast`, until the bound or the budget. // S1
//!
//! Three methods, each the only one that succeeds on some kind of problem:
//!
//! * **orders and promotion** (`orders`, `promote`): first fit from the peak, and repairs of the
//!   order. Costs a few passes; for problems of any size;
//! * **the exact search** (`crate::place::exact`), for a few thousand items, which also proves
//!   better bounds;
//! * **ejection** (`eject`): repairs of the placement, where few items overlap.
//!
//! After a fixed opening, in which each method has its best try, they take turns. A turn grows with
//! time, and the share of a method with its success. All of it is counted in steps, the meter's
//! placements, so that a run is repeatable. // S4

mod incremental;
mod neighbours;
mod orders;
mod pass;
mod profile;
mod promote;
mod stack;

use std::time::Duration;

use super::exact::{Finding, Ladder, Random};
use super::meter::{Meter, Stop};
use super::prepared::Prepared;
use super::steps::Steps;
use super::{Placement, Problem};
use crate::control::Progress;
use incremental::Incremental;
pub(super) use neighbours::Neighbours;
use orders::{BaseRule, StackRule, order};
use pass::pass;
use profile::Profile;
use promote::{Promotion, Round};

/// Elementary acts of the other methods that cost as much as one placement.
const ACTS_PER_STEP: u64 = 64;

/// The exact search serves up to so many items: a node costs as many acts.
const EXACT_ITEMS: usize = 4000;

/// Up to so many items a pass costs next to nothing.
const SMALL: usize = 4000;

/// Orders that reach the bound, or nearly, now and then.
const PASSES: [(StackRule, BaseRule); 9] = [
    (StackRule::Vee, BaseRule::SizeLoad),
    (StackRule::Long, BaseRule::SizeLoad),
    (StackRule::Left, BaseRule::SizeLoad),
    (StackRule::Right, BaseRule::SizeLoad),
    (StackRule::Vee, BaseRule::LoadSize),
    (StackRule::None, BaseRule::SizeClass),
    (StackRule::None, BaseRule::SizeLife),
    (StackRule::Shorter, BaseRule::SizeLoad),
    (StackRule::Long, BaseRule::SizeLate),
];

/// Orders that are worth many repairs.
const PROMOTIONS: [(StackRule, BaseRule); 4] = [
    (StackRule::Vee, BaseRule::SizeLoad),
    (StackRule::MirroredVee, BaseRule::SizeLoad),
    (StackRule::None, BaseRule::SizeLife),
    (StackRule::None, BaseRule::LoadSize),
];

/// The orders that the opening tries first.
pub(crate) fn first_orders(prepared: &Prepared<'_>) -> Vec<Vec<u32>> {
    let profile = Profile::new(prepared);
    let orders = PASSES
        .iter()
        .map(|&(stack, base)| order(&profile, stack, base));
    orders.map(|order| order.items).collect()
}

/// What is known of a problem: it gets better.
pub(crate) struct Knowledge {
    /// No placement has a lower peak.
    pub(crate) bound: u64,
    /// The best placement so far.
    pub(crate) best: Option<Placement>,
}

/// Improves what is known until the bound is reached.
pub(crate) fn improve(
    prepared: &Prepared<'_>,
    knowledge: &mut Knowledge,
    meter: &mut Meter<'_, '_>,
) -> Result<(), Stop> {
    let mut improver = Improver {
        profile: Profile::new(prepared),
        neighbours: Neighbours::new(prepared),
        prepared,
        knowledge,
        meter,
        ladder: None,
        turn: 0,
    };
    improver.opening()?;
    improver.turns()
}

struct Improver<'a, 'p, 'c, 'h> {
    prepared: &'a Prepared<'p>,
    profile: Profile,
    neighbours: Neighbours,
    knowledge: &'a mut Knowledge,
    meter: &'a mut Meter<'c, 'h>,
    ladder: Option<Ladder>,
    /// How many promotions there have been: the seed of the next one.
    turn: u64,
}

impl Improver<'_, '_, '_, '_> {
    fn problem(&self) -> &Problem {
        self.prepared.problem
    }

    /// One more than the highest peak that is still of use.
    fn limit(&self) -> u64 {
        let best = self.knowledge.best.as_ref();
        best.map_or(self.problem().ceiling.saturating_add(1), |best| best.peak)
    }

    /// Whether nothing better can come.
    fn done(&self) -> bool {
        self.limit() <= self.knowledge.bound
    }

    /// Whether a repair that places again only what it disturbs costs less than a pass.
    fn sparse(&self) -> bool {
        let covered: u64 = self.profile.length.iter().map(|&l| u64::from(l)).sum();
        let live = covered / u64::from(self.prepared.points().max(1));
        live < 200 || live * 400 < u64::from(self.profile.items())
    }

    fn keep(&mut self, placement: Placement) {
        if placement.peak < self.limit() {
            self.knowledge.best = Some(placement);
        }
        self.report();
    }

    /// Tells the host.
    fn report(&mut self) {
        let best = self.knowledge.best.as_ref();
        let progress = Progress {
            phase: "search",
            done: self.meter.done(),
            total: 0,
            bound: self.knowledge.bound,
            incumbent: best.map_or(u64::MAX, |best| best.peak),
            elapsed: Duration::ZERO,
        };
        self.meter.control().report(progress);
    }

    /// The best try of each method, the cheap ones first.
    fn opening(&mut self) -> Result<(), Stop> {
        let small = self.problem().items.len() <= SMALL;
        self.pass(StackRule::None, BaseRule::SizeLoad)?;
        if !small {
            self.promote(StackRule::Vee, BaseRule::SizeLoad, 60)?;
        }
        for (stack, base) in PASSES {
            self.pass(stack, base)?;
        }
        if small {
            self.climb(1 << 21)?;
        }
        for (stack, base) in PROMOTIONS {
            self.promote(stack, base, 300)?;
        }
        Ok(())
    }

    /// Turns without end: an attempt with rules drawn at random, then as much of the exact search.
    ///
    /// Every other attempt aims part of the way down from the best peak to the bound, further after
    /// a success and less far after a failure: the bound may be out of reach.
    fn turns(&mut self) -> Result<(), Stop> {
        let mut random = Random::new(0);
        let mut share = 0.5;
        let mut stale = 0_u32;
        while !self.done() {
            let pick = |count: usize, random: &mut Random| random.below(count as u64) as usize;
            let stack = match random.below(4) {
                0 => StackRule::None,
                _ => StackRule::STACKS[pick(StackRule::STACKS.len(), &mut random)],
            };
            let base = BaseRule::ALL[pick(BaseRule::ALL.len(), &mut random)];
            let (limit, begun) = (self.limit(), self.meter.done());
            let way = (limit - self.knowledge.bound) as f64 * share;
            let at_bound = self.turn.is_multiple_of(2) || limit == u64::MAX;
            let target = if at_bound {
                self.knowledge.bound
            } else {
                (limit - (way as u64).max(1)).max(self.knowledge.bound)
            };
            self.promote_to(target, stack, base, 300)?;
            let success = self.limit() < limit;
            if !at_bound {
                share = f64::clamp(if success { share * 1.5 } else { share * 0.7 }, 0.02, 0.9);
            }
            stale = if success { 0 } else { stale.saturating_add(1) };
            // The exact search gets as much, and more and more if all else fails.
            let used = self.meter.done() - begun;
            let acts = used * ACTS_PER_STEP * u64::from(1 + stale / 4);
            self.climb(acts.max(1 << 18))?;
        }
        Ok(())
    }

    /// A first fit that is given up where it becomes no better.
    fn pass(&mut self, stack: StackRule, base: BaseRule) -> Result<(), Stop> {
        if self.done() {
            return Ok(());
        }
        let order = order(&self.profile, stack, base);
        let cap = self.limit() - 1;
        let pass = pass(self.prepared, &order.items, cap, 0, self.meter)?;
        if let Some(placement) = pass.placement() {
            self.keep(placement);
        }
        Ok(())
    }

    /// A promotion at the bound, to its end.
    fn promote(&mut self, stack: StackRule, base: BaseRule, patience: u32) -> Result<(), Stop> {
        if self.done() {
            return Ok(());
        }
        self.promote_to(self.knowledge.bound, stack, base, patience)
    }

    /// A promotion below `cap`, to its end.
    fn promote_to(
        &mut self,
        cap: u64,
        stack: StackRule,
        base: BaseRule,
        patience: u32,
    ) -> Result<(), Stop> {
        self.turn += 1;
        let order = order(&self.profile, stack, base);
        if Incremental::serves(self.prepared) && self.sparse() {
            let pass = pass(
                self.prepared,
                &order.items,
                cap,
                order.items.len() / 8,
                self.meter,
            )?;
            let starts = (0..order.items.len() as u32).map(|item| pass.packing.offset(item));
            let repairs = Incremental::new(self.prepared, &order, starts, cap, self.turn);
            if let Some(starts) = repairs.repair(patience, &mut self.neighbours, self.meter)? {
                let placement = Placement::of(self.problem(), starts);
                self.keep(placement);
            }
            return Ok(());
        }
        let mut promotion = Promotion::new(order, cap, self.turn);
        loop {
            match promotion.round(self.prepared, &mut self.neighbours, self.meter)? {
                Round::Placed(placement) => {
                    self.keep(placement);
                    return Ok(());
                }
                Round::Failed => (),
                Round::Stuck => return Ok(()),
            }
        }
    }

    /// Works with the exact search for so many acts.
    fn climb(&mut self, acts: u64) -> Result<(), Stop> {
        if self.done() || self.problem().items.len() > EXACT_ITEMS {
            return Ok(());
        }
        let peak = self.limit();
        let bound = self.knowledge.bound;
        if self.ladder.is_none() {
            self.ladder = Ladder::new(self.prepared, bound, peak);
        }
        let Some(mut ladder) = self.ladder.take() else {
            return Ok(());
        };
        ladder.lower_peak(peak);
        let mut left = acts;
        while !self.done() && left > 0 {
            let mut steps = Steps::new(left, self.meter.control());
            let finding = ladder.work(&mut steps);
            let used = left - steps.left().min(left);
            left -= used;
            match finding {
                Finding::Better(offsets, _) => {
                    let placement = Placement::of(self.problem(), offsets);
                    self.keep(placement);
                }
                Finding::Bound(bound) => {
                    self.knowledge.bound = bound;
                    self.report();
                }
                Finding::Nothing => left = 0,
            }
            self.meter.charge(used / ACTS_PER_STEP)?;
        }
        self.ladder = Some(ladder);
        Ok(())
    }
}
