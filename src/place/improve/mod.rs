//! Orders and repairs of them: what the strategies `fast` and `best` are made of. // S1, O2
//!
//! `fast` is the first order, repaired where that costs next to nothing, some attempts from the
//! summit, and a handful of other orders, each given up where it becomes no better; where items are
//! very few, a short exact search of the whole comes last.
//! `best` goes on until the bound or the budget with four methods, each the only one that succeeds
//! on some kind of problem:
//!
//! * **orders and promotion** (`orders`, `promote`): first fit from the peak, and repairs of the
//!   order, the most crowded items first (`crowds`); where few items overlap, repairs of the
//!   placement that the order has made (`incremental`). Costs a few passes; for problems of any
//!   size;
//! * **the summit** (`summit`, `from_summit`): the exact search places the few items on which the
//!   peak depends, and promotion the others around them; for problems of any size;
//! * **the exact search** (`crate::place::exact`) of the whole, for a few thousand items, which
//!   also proves better bounds;
//! * **guided ejection** (`guided`), where few items live together and hardly any bytes may be
//!   wasted.
//!
//! After a fixed opening, in which each method has its best try, they take turns; the turns of the
//! exact search grow as long as nothing succeeds, those of guided ejection as long as it does. All
//! of it is counted in steps, the meter's placements, so that a run is repeatable. // S4

mod crowds;
mod from_summit;
mod guided;
mod incremental;
mod neighbours;
mod orders;
mod profile;
mod promote;
mod stack;
mod summit;
mod turns;

use super::exact::{Finding, Ladder, Outcome, Random, decide, luby};
use super::first_fit::{Others, first_fit_in_tiles};
use super::meter::{Meter, Stop};
use super::packing::NOT_PLACED;
use super::prepared::Prepared;
use super::steps::Steps;
use super::{Placement, Problem};
use crowds::Crowds;
use from_summit::Effort;
use guided::Guided;
use incremental::Incremental;
pub(super) use neighbours::Neighbours;
use orders::{BaseRule, StackOrder, StackRule, order};
pub(super) use profile::Profile;
use promote::{Head, Patience, Promotion};
#[cfg(test)]
pub(super) use summit::ordered_summit;

/// Elementary acts of the other methods that cost as much as one placement.
const ACTS_PER_STEP: u64 = 64;

/// The exact search serves up to so many items: a node costs as many acts.
const EXACT_ITEMS: usize = 4000;

/// Strategy `fast` ends with an exact search of up to so many items. One descent takes a number of
/// acts that grows with their square; so many for each pair are enough for a few.
const FEW_ITEMS: usize = 256;
const ACTS_PER_PAIR: u64 = 4;

/// Up to so many items it reaches the bound more often than not.
const EXACT_IN_REACH: usize = 512;

/// Up to so many items a pass costs next to nothing.
const SMALL: usize = 4000;

/// With fewer live items a repair costs little.
const SPARSE: u64 = 200;

/// With more live items guided ejection gets nowhere.
const FEW_LIVE: u64 = 1000;

/// How many orders `fast` tries on problems that are not small.
const QUICK: usize = 3;

/// After so many of them without a gain the next one has none either, measured on workloads of ten
/// thousand items and more.
const IDLE: usize = 2;

/// Acts of the exact searches of strategy `fast`, some ten milliseconds.
const QUICK_ACTS: u64 = 1 << 20;

/// Steps for each item, without a gain, after which the shortest promotions give up.
const SHORTEST: u64 = 3;

/// How many items of the first summit of an attempt are not live all through it, at most; the best
/// numbers first.
const SUMMITS: [usize; 3] = [256, 512, 128];

/// The order that does best most often.
const FIRST: (StackRule, BaseRule) = (StackRule::Vee, BaseRule::SizeLoad);

/// Orders that reach the bound, or nearly, now and then.
const PASSES: [(StackRule, BaseRule); 14] = [
    (StackRule::Long, BaseRule::SizeLoad),
    (StackRule::None, BaseRule::SizeLoad),
    (StackRule::Left, BaseRule::SizeLoad),
    (StackRule::Right, BaseRule::SizeLoad),
    (StackRule::Vee, BaseRule::LoadSize),
    (StackRule::None, BaseRule::SizeClass),
    (StackRule::None, BaseRule::SizeLife),
    (StackRule::None, BaseRule::Long),
    (StackRule::Shorter, BaseRule::SizeLoad),
    (StackRule::Long, BaseRule::SizeLate),
    (StackRule::None, BaseRule::SizeLong),
    (StackRule::Long, BaseRule::SizeLong),
    (StackRule::Large, BaseRule::SizeLong),
    (StackRule::None, BaseRule::Area),
];

/// Orders that are worth many repairs.
const PROMOTIONS: [(StackRule, BaseRule); 4] = [
    (StackRule::Vee, BaseRule::SizeLoad),
    (StackRule::MirroredVee, BaseRule::SizeLoad),
    (StackRule::None, BaseRule::SizeLife),
    (StackRule::None, BaseRule::LoadSize),
];

/// The orders of strategy `fast`, but for the reference order.
pub(crate) fn quick_orders(
    prepared: &Prepared<'_>,
    meter: &mut Meter<'_, '_>,
) -> Result<Vec<Vec<u32>>, Stop> {
    let profile = Profile::of(prepared, meter)?;
    let rules = std::iter::once(&FIRST).chain(quick_passes(prepared.problem));
    let orders = rules.map(|&(stack, base)| Ok(order(&profile, stack, base, meter)?.items));
    orders.collect()
}

/// The passes of strategy `fast` after the first order.
fn quick_passes(problem: &Problem) -> &'static [(StackRule, BaseRule)] {
    let small = problem.items.len() <= SMALL;
    if small { &PASSES } else { &PASSES[..QUICK] }
}

/// Improves what is known until the bound is reached or the budget is used up.
pub(crate) fn improve(
    prepared: &Prepared<'_>,
    knowledge: &mut Knowledge,
    meter: &mut Meter<'_, '_>,
) -> Result<(), Stop> {
    let profile = Profile::of(prepared, meter)?;
    let mut improver = Improver::new(prepared, &profile, knowledge, meter);
    improver.quick()?;
    improver.go_on()
}

/// What is known of a problem: it gets better.
#[derive(Debug)]
pub(crate) struct Knowledge {
    /// No placement has a lower peak.
    pub(crate) bound: u64,
    /// A peak that is good enough, though it may be above the bound; with a hint. See `warm`.
    pub(crate) goal: Option<u64>,
    /// The best placement so far.
    pub(crate) best: Option<Placement>,
}

impl Knowledge {
    /// Whether nothing better can come, or need come.
    pub(crate) fn done(&self, problem: &Problem) -> bool {
        let enough = self.goal.map_or(self.bound, |goal| goal.max(self.bound));
        let best = self.best.as_ref();
        best.map_or(problem.ceiling < self.bound, |best| best.peak <= enough)
    }

    /// The highest peak that is still of use.
    pub(crate) fn cap(&self, problem: &Problem) -> u64 {
        let best = self.best.as_ref();
        best.map_or(problem.ceiling, |best| best.peak - 1)
    }

    /// Keeps a placement that is better, and tells the host.
    pub(crate) fn keep(
        &mut self,
        placement: Placement,
        problem: &Problem,
        meter: &mut Meter<'_, '_>,
    ) {
        if placement.peak <= self.cap(problem) {
            self.best = Some(placement);
        }
        self.report(meter);
    }

    /// Tells the host.
    pub(crate) fn report(&self, meter: &mut Meter<'_, '_>) {
        meter.tell(self.bound, self.best.as_ref().map(|best| best.peak));
    }
}

/// What is in `slot`, made when it is first needed.
fn once<T>(slot: &mut Option<T>, make: impl FnOnce() -> Result<T, Stop>) -> Result<&T, Stop> {
    let value = match slot.take() {
        Some(value) => value,
        None => make()?,
    };
    Ok(slot.insert(value))
}

/// Lets a search spend up to so many acts, as far as the budget of steps goes. Returns what it has
/// found and how many it has spent, which are still to be charged.
fn with_acts<T>(
    acts: u64,
    meter: &mut Meter<'_, '_>,
    search: impl FnOnce(&mut Steps<'_, '_>) -> T,
) -> (T, u64) {
    let left = meter.left().map(|left| left.saturating_mul(ACTS_PER_STEP));
    let acts = left.map_or(acts, |left| left.min(acts));
    let mut steps = Steps::new(acts, meter.control());
    let found = search(&mut steps);
    (found, acts - steps.left().min(acts))
}

/// Improves what is known until the bound is reached.
pub(crate) struct Improver<'a, 'k, 'c, 'h> {
    prepared: &'a Prepared<'a>,
    profile: &'a Profile<'a>,
    /// Once it is needed.
    neighbours: Option<Neighbours>,
    crowds: Option<Crowds>,
    pub(crate) knowledge: &'k mut Knowledge,
    pub(crate) meter: &'k mut Meter<'c, 'h>,
    ladder: Option<Ladder>,
    /// How many of the passes there have been.
    pub(crate) tried: usize,
    /// The peak from which the ladder starts down, if not from the best.
    ladder_top: Option<u64>,
    guided: Option<Guided>,
    /// How many promotions from an order there have been: the seed of the next one.
    turn: u64,
}

impl<'a, 'k, 'c, 'h> Improver<'a, 'k, 'c, 'h> {
    pub(crate) fn new(
        prepared: &'a Prepared<'a>,
        profile: &'a Profile<'a>,
        knowledge: &'k mut Knowledge,
        meter: &'k mut Meter<'c, 'h>,
    ) -> Improver<'a, 'k, 'c, 'h> {
        Improver {
            profile,
            neighbours: None,
            crowds: None,
            prepared,
            knowledge,
            meter,
            ladder: None,
            tried: 0,
            ladder_top: None,
            guided: None,
            turn: 0,
        }
    }

    /// The index over the lives, made when it is first needed.
    fn index(&mut self) -> Result<(&Neighbours, &mut Meter<'c, 'h>), Stop> {
        let index = Neighbours::once(&mut self.neighbours, self.prepared, self.meter)?;
        Ok((index, self.meter))
    }

    fn order(&mut self, stack: StackRule, base: BaseRule) -> Result<StackOrder, Stop> {
        order(self.profile, stack, base, self.meter)
    }

    /// What strategy `fast` does.
    pub(crate) fn quick(&mut self) -> Result<(), Stop> {
        let items = self.prepared.problem.items.len() as u64;
        // Measured: repairs that succeed take up to a seventh of a step for each item where there
        // are many, and up to two where there are few; those that go on for longer seldom end.
        let patience = Patience {
            without_gain: items / 4 + 1000,
            in_all: items / 2 + 2000,
        };
        // Below a hint's peak a pass without a gain may be one that gains without a hint.
        let gains_tell = self.knowledge.goal.is_none() || self.knowledge.best.is_none();
        self.first(patience)?;
        let problem = self.problem();
        if !self.small() {
            self.quick_summit()?;
        }
        let mut idle = 0;
        for (stack, base) in quick_passes(problem) {
            if idle == IDLE && gains_tell && !self.small() {
                break;
            }
            let cap = self.knowledge.cap(problem);
            self.pass(*stack, *base)?;
            self.tried += 1;
            let gained = self.knowledge.cap(problem) < cap;
            idle = if gained { 0 } else { idle + 1 };
        }
        // There passes cost less, and where items are very few the whole is searched.
        if self.small() && items > FEW_ITEMS as u64 {
            self.quick_summit()?;
        }
        Ok(())
    }

    /// What strategy `fast` does at the end, where items are few: short exact searches at the bound
    /// and a little above it.
    ///
    /// What they find does not depend on the best peak so far, so a better start ends no higher. // S2
    pub(crate) fn short_exact(&mut self) -> Result<(), Stop> {
        let problem = self.problem();
        let count = problem.items.len();
        if count > FEW_ITEMS {
            return Ok(());
        }
        // The first aims of a ladder are easy, and teach it where the trouble is.
        self.ladder_top = Some(self.knowledge.cap(problem).saturating_add(1));
        let bound = self.knowledge.bound;
        let above = bound.saturating_add((bound - problem.floor) / 8);
        for target in [bound, above.min(problem.ceiling)] {
            if self.done() {
                return Ok(());
            }
            let acts = QUICK_ACTS + ACTS_PER_PAIR * (count * count) as u64;
            let search = |steps: &mut Steps<'_, '_>| decide(self.prepared, target, 0, steps);
            let (outcome, used) = with_acts(acts, self.meter, search);
            if let Outcome::Placed(offsets) = outcome {
                self.keep(Placement::of(problem, offsets));
            }
            self.meter.charge(used / ACTS_PER_STEP)?;
        }
        Ok(())
    }

    /// What strategy `best` does after that.
    pub(crate) fn go_on(&mut self) -> Result<(), Stop> {
        self.opening()?;
        self.turns()
    }

    fn problem(&self) -> &'a Problem {
        self.prepared.problem
    }

    /// Whether nothing better can come.
    pub(crate) fn done(&self) -> bool {
        self.knowledge.done(self.problem())
    }

    fn small(&self) -> bool {
        self.problem().items.len() <= SMALL
    }

    /// How many items are live at a point, on average.
    fn live(&self) -> u64 {
        self.prepared.covered() / u64::from(self.prepared.points().max(1))
    }

    /// Whether a repair that places again only what it disturbs costs less than a pass.
    fn sparse(&self) -> bool {
        let live = self.live();
        live < SPARSE || live * 400 < u64::from(self.profile.items())
    }

    /// Whether the bound is far below what is known.
    fn far(&self) -> bool {
        let bound = self.knowledge.bound;
        let gap = self.knowledge.cap(self.problem()).saturating_sub(bound);
        gap > (bound - self.problem().floor) / 16
    }

    /// Whether guided ejection is worth a try.
    fn few_live(&self) -> bool {
        Guided::serves(self.prepared) && self.live() < FEW_LIVE
    }

    fn keep(&mut self, placement: Placement) {
        let problem = self.prepared.problem;
        self.knowledge.keep(placement, problem, self.meter);
    }

    /// The best try of each method, the cheap ones first.
    fn opening(&mut self) -> Result<(), Stop> {
        let small = self.small();
        if small {
            self.climb(1 << 21)?;
        }
        // Where the bound is near, orders and promotion get to it sooner.
        if self.far() && self.few_live() {
            self.eject(8 * u64::from(self.profile.items()) + 20_000)?;
        }
        if !small {
            self.summit(SUMMITS[0], 1)?;
            self.promote(FIRST.0, FIRST.1)?;
            self.summit(SUMMITS[1], 2)?;
            for (stack, base) in &PASSES[self.tried..] {
                self.pass(*stack, *base)?;
            }
        }
        for (stack, base) in PROMOTIONS {
            self.promote(stack, base)?;
        }
        self.summit(SUMMITS[2], 3)
    }

    /// Turns without end: an attempt with rules drawn at random, then as much of the exact search
    /// and of guided ejection.
    ///
    /// Every other attempt aims part of the way down from the best peak to the bound, further after
    /// a success and less far after a failure: the bound may be out of reach.
    fn turns(&mut self) -> Result<(), Stop> {
        let mut random = Random::new(0);
        let mut share = 0.5;
        let mut stale = 0_u32;
        // How much guided ejection gets, in eighths of what promotion has used, and at most. Where the
        // exact search often gets to the bound, it is not kept from it.
        let ejects = self.few_live();
        let most = if self.problem().items.len() <= EXACT_IN_REACH {
            2
        } else {
            128
        };
        let mut worth = most.min(8);
        while !self.done() {
            let pick = |count: usize, random: &mut Random| random.below(count as u64) as usize;
            let stack = match random.below(4) {
                0 => StackRule::None,
                _ => StackRule::STACKS[pick(StackRule::STACKS.len(), &mut random)],
            };
            let base = BaseRule::ALL[pick(BaseRule::ALL.len(), &mut random)];
            let (cap, begun) = (self.knowledge.cap(self.problem()), self.meter.done());
            let way = (cap - self.knowledge.bound) as f64 * share;
            let at_bound = self.turn.is_multiple_of(2) || self.knowledge.best.is_none();
            let target = if at_bound {
                self.knowledge.bound
            } else {
                (cap - way as u64).max(self.knowledge.bound)
            };
            self.promote_to(target, stack, base)?;
            let others = SUMMITS[pick(SUMMITS.len(), &mut random)];
            let target = target.min(self.knowledge.cap(self.problem()));
            self.promote_summit(target, base, others, Effort::of_best(self.turn))?;
            let success = self.knowledge.cap(self.problem()) < cap;
            if !at_bound {
                share = f64::clamp(if success { share * 1.5 } else { share * 0.7 }, 0.02, 0.9);
            }
            stale = if success { 0 } else { stale.saturating_add(1) };
            // The exact search gets as much, and more and more if all else fails.
            let used = self.meter.done() - begun;
            let acts = used * ACTS_PER_STEP * u64::from(1 + stale / 4);
            self.climb(acts.max(1 << 18))?;
            if ejects {
                let cap = self.knowledge.cap(self.problem());
                self.eject((used * worth / 8).max(1 << 10))?;
                let success = self.knowledge.cap(self.problem()) < cap;
                worth = if success { worth * 2 } else { worth / 2 }.clamp(1, most);
            }
        }
        Ok(())
    }

    /// The order that does best most often, under the bound. What does not fit there is placed at
    /// the end, above it, so that there is a placement; then the order is repaired, if that is
    /// cheap.
    fn first(&mut self, patience: Patience) -> Result<(), Stop> {
        if self.done() {
            return Ok(());
        }
        let problem = self.problem();
        if problem.has_region_of_collectives() {
            return self.pass(FIRST.0, FIRST.1); // They do not come last. // P5
        }
        let order = self.order(FIRST.0, FIRST.1)?;
        let (bound, items) = (self.knowledge.bound, &order.items);
        let count = items.len();
        let mut pass = first_fit_in_tiles(
            self.prepared,
            items,
            Others::Anywhere,
            bound,
            count,
            self.meter,
        )?;
        self.meter.poll()?;
        let repairable = !pass.failed.is_empty()
            && pass.failed.len() <= count / 8 + 8
            && Incremental::serves(self.prepared)
            && self.sparse();
        let failed = pass.failed.clone();
        let cap = self.knowledge.cap(problem);
        self.meter.poll()?;
        pass.place_failed(cap, self.meter)?;
        let mut starts = Vec::new();
        if repairable && !pass.failed.is_empty() {
            starts = pass.packing.starts().to_vec();
        }
        // The engine goes before anything else as large comes.
        if let Some(placement) = pass.placement() {
            if repairable {
                starts.clone_from(&placement.offsets);
            }
            self.keep(placement);
        }
        if !repairable {
            return Ok(());
        }
        for item in failed {
            starts[item as usize] = NOT_PLACED;
        }
        self.repair(order, starts, bound, patience)
    }

    /// A first fit that is given up where it becomes no better.
    fn pass(&mut self, stack: StackRule, base: BaseRule) -> Result<(), Stop> {
        if self.done() {
            return Ok(());
        }
        let order = self.order(stack, base)?;
        let cap = self.knowledge.cap(self.problem());
        let pass = first_fit_in_tiles(
            self.prepared,
            &order.items,
            Others::Anywhere,
            cap,
            0,
            self.meter,
        )?;
        if let Some(placement) = pass.placement() {
            self.keep(placement);
        }
        Ok(())
    }

    /// A promotion at the bound, to its end.
    fn promote(&mut self, stack: StackRule, base: BaseRule) -> Result<(), Stop> {
        if self.done() {
            return Ok(());
        }
        self.promote_to(self.knowledge.bound, stack, base)
    }

    /// A promotion below `cap`, to its end.
    fn promote_to(&mut self, cap: u64, stack: StackRule, base: BaseRule) -> Result<(), Stop> {
        self.turn += 1;
        let order = self.order(stack, base)?;
        if Incremental::serves(self.prepared) && self.sparse() {
            let count = order.items.len();
            let (items, patience) = (&order.items, count / 8);
            let pass = first_fit_in_tiles(
                self.prepared,
                items,
                Others::Anywhere,
                cap,
                patience,
                self.meter,
            )?;
            let starts = pass.packing.starts().to_vec();
            drop(pass);
            let patience = Patience {
                without_gain: 2 * count as u64 + 10_000,
                in_all: u64::MAX,
            };
            return self.repair(order, starts, cap, patience);
        }
        let (stack, rest) = order.items.split_at(order.stack);
        // One attempt that goes on for long is worth as much as many short ones.
        let patience = Patience {
            without_gain: SHORTEST * luby(self.turn) * u64::from(self.profile.items()),
            in_all: u64::MAX,
        };
        self.promote_crowds(cap, Head::Stack(stack.to_vec()), rest, patience)?;
        Ok(())
    }

    /// A promotion below `cap`, crowd by crowd. Whether it gets there.
    fn promote_crowds(
        &mut self,
        cap: u64,
        head: Head,
        rest: &[u32],
        patience: Patience,
    ) -> Result<bool, Stop> {
        let (prepared, profile, turn) = (self.prepared, self.profile, self.turn);
        let crowds = Crowds::once(&mut self.crowds, prepared, profile, self.meter)?;
        let crowds = crowds.split(profile, rest, self.meter)?;
        let (neighbours, meter) = self.index()?;
        let promotion = Promotion::new(prepared, neighbours, head, crowds, cap, turn);
        let Some(placement) = promotion.run(patience, meter)? else {
            return Ok(false);
        };
        self.keep(placement);
        Ok(true)
    }

    /// Repairs a pass below `cap` from where everything started in it.
    fn repair(
        &mut self,
        order: StackOrder,
        starts: Vec<u64>,
        cap: u64,
        patience: Patience,
    ) -> Result<(), Stop> {
        let pace = &mut self.meter.pace();
        let repairs = Incremental::new(self.prepared, order, starts, cap, self.turn, pace)?;
        let (neighbours, meter) = self.index()?;
        if let Some(starts) = repairs.repair(patience, neighbours, meter)? {
            let placement = Placement::of(self.problem(), starts);
            self.keep(placement);
        }
        Ok(())
    }

    /// Works with guided ejection until it has gained little for so many steps.
    fn eject(&mut self, steps: u64) -> Result<(), Stop> {
        let (prepared, problem) = (self.prepared, self.problem());
        let mut guided = match self.guided.take() {
            Some(guided) => guided,
            None => Guided::new(prepared),
        };
        let count = problem.items.len();
        let mut begun = self.meter.done();
        while !self.done() && self.meter.done() - begun < steps {
            let (bound, cap) = (self.knowledge.bound, self.knowledge.cap(problem));
            let best = self.knowledge.best.as_ref();
            let starts = best.map_or(vec![NOT_PLACED; count], |best| best.offsets.clone());
            let target = match best {
                Some(best) => guided.target(bound, best.peak),
                None => cap,
            };
            let (neighbours, meter) = self.index()?;
            let found = guided.attempt(prepared, neighbours, starts, target, steps, meter)?;
            guided.learn(found.is_some());
            if let Some(starts) = found {
                self.keep(Placement::of(problem, starts));
                let gained = cap - self.knowledge.cap(problem);
                if gained > (cap - bound) / 64 {
                    begun = self.meter.done();
                }
            }
        }
        self.guided = Some(guided);
        Ok(())
    }

    /// Works with the exact search for so many acts.
    fn climb(&mut self, acts: u64) -> Result<(), Stop> {
        if self.done() || self.problem().items.len() > EXACT_ITEMS {
            return Ok(());
        }
        // One more than the highest that is still of use.
        let peak = self.knowledge.cap(self.problem()).saturating_add(1);
        let peak = self.ladder_top.take().unwrap_or(peak);
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
            let (finding, used) = with_acts(left, self.meter, |steps| ladder.work(steps));
            left -= used;
            match finding {
                Finding::Better(offsets, _) => {
                    let placement = Placement::of(self.problem(), offsets);
                    self.keep(placement);
                }
                Finding::Bound(bound) => {
                    self.knowledge.bound = bound;
                    self.knowledge.report(self.meter);
                }
                Finding::Nothing => left = 0,
            }
            self.meter.charge(used / ACTS_PER_STEP)?;
        }
        self.ladder = Some(ladder);
        Ok(())
    }
}
