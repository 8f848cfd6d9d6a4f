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
//!
//! The most crowded items go through this by themselves first (see `crowds`): they are few, a pass
//! of them costs little, and once they lie below the cap the others mostly do at once. A crowd that
//! comes goes on with the pass of those before it, which is as good as a pass of all of them.

use crate::place::Placement;
use crate::place::exact::Random;
use crate::place::first_fit::{Others, Pass, first_fit};
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;
use crate::sorting::CompactSort as _;

use super::neighbours::{Neighbours, VISITS_PER_STEP};

/// How many steps repairs may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Without fewer failures than before; of promotion by crowds: since the last one came.
    pub(super) without_gain: u64,
    pub(super) in_all: u64,
}

/// Steps that a round costs beside its placements: a pass with few of so many items costs something
/// for each of the others, too.
pub(super) fn cost_of_round(items: usize) -> u64 {
    items as u64 / VISITS_PER_STEP
}

/// What comes first in an order.
#[derive(Debug)]
pub(super) enum Head {
    /// The stack of the peak, from the bottom up: nothing comes before it, but it may be sorted
    /// anew.
    Stack(Vec<u32>),
    /// The summit, which mostly lies below the cap as it is: only what finds no room after it comes
    /// before some of it.
    Summit(Vec<u32>),
}

/// An order under repair.
pub(super) struct Promotion<'a> {
    prepared: &'a Prepared<'a>,
    neighbours: &'a Neighbours,
    /// The head, and the crowds that have come.
    items: Vec<u32>,
    /// How many of them nothing comes before, and how many nothing comes before without need.
    stack: usize,
    head: usize,
    /// Crowds to come, the next one last.
    waiting: Vec<Vec<u32>>,
    cap: u64,
    /// By item: how often it has failed since the last crowd came.
    failures: Vec<u16>,
    random: Random,
}

impl<'a> Promotion<'a> {
    /// Goes from a head, and crowds that come one after the other.
    pub(super) fn new(
        prepared: &'a Prepared<'a>,
        neighbours: &'a Neighbours,
        head: Head,
        mut crowds: Vec<Vec<u32>>,
        cap: u64,
        seed: u64,
    ) -> Promotion<'a> {
        crowds.reverse();
        let (stack, items) = match head {
            Head::Stack(items) => (items.len(), items),
            Head::Summit(items) => (0, items),
        };
        Promotion {
            prepared,
            neighbours,
            stack,
            head: items.len(),
            items,
            waiting: crowds,
            cap,
            failures: vec![0; prepared.problem.items.len()],
            random: Random::new(seed),
        }
    }

    /// Repairs until everything lies below the cap; `None` once `patience` is used up.
    pub(super) fn run(
        mut self,
        patience: Patience,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Placement>, Stop> {
        self.admit();
        let begun = meter.done();
        let (mut fewest, mut since) = (usize::MAX, begun);
        let mut pass = self.pass(meter)?;
        loop {
            if pass.failed.is_empty() {
                if self.waiting.is_empty() {
                    return Ok(pass.placement());
                }
                let placed = self.items.len();
                self.admit();
                (fewest, since) = (usize::MAX, meter.done());
                if self.prepared.problem.has_region_of_collectives() {
                    pass = self.pass(meter)?; // Some of the crowd come before all others. // P5
                } else {
                    let most = self.most_failures();
                    pass.place_on(&self.items[placed..], self.cap, most, meter)?;
                }
                continue;
            }
            if pass.failed.len() < fewest {
                (fewest, since) = (pass.failed.len(), meter.done());
            }
            let until = since.saturating_add(patience.without_gain);
            let until = until.min(begun.saturating_add(patience.in_all));
            if !self.repair(&pass, until, meter)? {
                return Ok(None);
            }
            drop(pass); // The engines of two passes are large.
            pass = self.pass(meter)?;
        }
    }

    /// A pass of the head and the crowds that have come.
    fn pass(&self, meter: &mut Meter<'_, '_>) -> Result<Pass<'a>, Stop> {
        meter.charge(cost_of_round(self.failures.len()))?;
        let (order, most) = (&self.items, self.most_failures());
        let anywhere = Others::Anywhere;
        first_fit(self.prepared, order, anywhere, self.cap, most, meter)
    }

    /// With more failures a pass is given up.
    fn most_failures(&self) -> usize {
        (self.items.len() / 8).max(64)
    }

    /// Lets the next crowd come.
    fn admit(&mut self) {
        self.items.extend(self.waiting.pop().unwrap_or_default());
        self.failures.fill(0);
    }

    /// Changes the order where something has failed, unless that takes longer than `until`, in steps
    /// of the meter. Whether it has.
    fn repair(
        &mut self,
        pass: &Pass<'_>,
        until: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<bool, Stop> {
        let mut rank_of = vec![u32::MAX; self.failures.len()];
        let mut pace = meter.pace();
        for (rank, &item) in self.items.iter().enumerate() {
            pace.work(1)?;
            rank_of[item as usize] = rank as u32;
        }
        let stack = self.stack;
        let mut moves: Vec<(usize, u32)> = Vec::with_capacity(pass.failed.len());
        let mut repairs = 0;
        for &item in &pass.failed {
            if meter.done() > until {
                return Ok(false);
            }
            let rank = rank_of[item as usize] as usize;
            let failures = &mut self.failures[item as usize];
            *failures = failures.saturating_add(1);
            let failures = usize::from(*failures);
            if rank < stack {
                moves.push((0, item)); // The stack itself does not fit: alignment, pins.
                continue;
            }
            let (fits_at, visits) = self.rank_with_room(pass, &rank_of, rank);
            meter.charge(visits / VISITS_PER_STEP)?;
            let mut to = fits_at.unwrap_or(stack).max(stack);
            let first = if to < self.head { stack } else { self.head };
            if stack > 0 && (fits_at.is_none() || failures.is_multiple_of(4)) && repairs < 8 {
                repairs += 1;
                let members = &mut self.items[..stack];
                super::stack::open(self.prepared, members, item, failures, &mut self.random);
                to = stack;
            } else if failures > 1 {
                let further = (rank - to + 1) * failures.min(8);
                to = to.saturating_sub(self.random.below(further as u64 + 1) as usize);
                if self.random.below(8) == 0 {
                    to -= self.random.below(to as u64 / 4 + 1) as usize;
                }
                to = to.max(first);
            }
            moves.push((to, item));
        }
        let before_head = |&&(to, item): &&(usize, u32)| {
            to < self.head && rank_of[item as usize] as usize >= self.head
        };
        self.head += moves.iter().filter(before_head).count();
        moves.sort_compact_by_key(|&(to, _)| to);
        let mut failed = vec![false; self.failures.len()];
        for &(_, item) in &moves {
            failed[item as usize] = true;
        }
        let mut items = Vec::with_capacity(self.items.len());
        let mut moves = moves.into_iter().peekable();
        let mut pace = meter.pace();
        for (rank, &item) in self.items.iter().enumerate() {
            pace.work(1)?;
            while let Some((_, moved)) = moves.next_if(|&(to, _)| to <= rank) {
                items.push(moved);
            }
            if !failed[item as usize] {
                items.push(item);
            }
        }
        items.extend(moves.map(|(_, item)| item));
        self.items = items;
        Ok(true)
    }

    /// The last rank at which the item would have found room in this pass; `None` if it would not
    /// even have right after the stack. And how many neighbours it took to know.
    fn rank_with_room(
        &self,
        pass: &Pass<'_>,
        rank_of: &[u32],
        rank: usize,
    ) -> (Option<usize>, u64) {
        let item = self.items[rank];
        let problem = self.prepared.problem;
        let items = &problem.items;
        let mut taken: Vec<(u64, u64, u32)> = Vec::new();
        let visits = self.neighbours.visit(self.prepared, item, |other| {
            let Some(of) = items.get(other as usize) else {
                let pin = problem.pins[other as usize - items.len()];
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
            let mut at = problem.floor;
            for &(start, end, of) in &taken {
                if (of as usize) < rank {
                    if start.min(self.cap) >= at.saturating_add(size) {
                        return true;
                    }
                    at = at.max(end);
                }
            }
            at.checked_add(size).is_some_and(|end| end <= self.cap)
        };
        // Room only shrinks with the rank.
        let (mut yes, mut no) = (self.stack, rank);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::{Problem, lower_bound, testing};

    #[test]
    fn what_it_finds_keeps_every_rule_and_the_cap() {
        let mut found = [0; 2];
        crate::testing::for_each_seed(0..1_000, |u| {
            let problem = Problem {
                collective_limit: None,
                runtime_page: 0,
                ..testing::problem(u)?
            };
            let mut items = testing::order(u, &problem)?;
            if items.is_empty() {
                return Ok(());
            }
            let bound = lower_bound(&problem);
            let slack = u.int_in_range(0..=bound.saturating_sub(problem.floor) / 8)?;
            let cap = bound.saturating_add(slack).min(problem.ceiling);
            let prepared = Prepared::new(&problem);
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
            // Any items may come first, and any crowds follow.
            let rest = items.split_off(u.int_in_range(0..=items.len())?);
            let crowds = rest.chunks(u.int_in_range(1..=5)?);
            let crowds = crowds.map(<[u32]>::to_vec).collect();
            let is_summit: bool = u.arbitrary()?;
            let head = match is_summit {
                true => Head::Summit(items),
                false => Head::Stack(items),
            };
            let promotion = Promotion::new(&prepared, &neighbours, head, crowds, cap, 1);
            let placement = promotion
                .run(PATIENCE, &mut meter)
                .expect("nothing stops it");
            if let Some(placement) = placement {
                let violations = testing::violations(&problem, &placement);
                assert_eq!(violations, Vec::<String>::new(), "{problem:?}");
                assert!(placement.peak <= cap);
                found[usize::from(is_summit)] += 1;
            }
            Ok(())
        });
        assert!(found.iter().all(|&found| found > 50), "{found:?}");
    }

    const PATIENCE: Patience = Patience {
        without_gain: 1_000,
        in_all: 5_000,
    };

    /// Goes through crowds, below `cap`; with the steps that it took.
    fn promote(
        problem: &Problem,
        head: Head,
        crowds: &[&[u32]],
        cap: u64,
        patience: Patience,
    ) -> (Option<Placement>, u64) {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
        let crowds = crowds.iter().map(|crowd| crowd.to_vec()).collect();
        let promotion = Promotion::new(&prepared, &neighbours, head, crowds, cap, 1);
        let placement = promotion.run(patience, &mut meter);
        (placement.expect("nothing stops it"), meter.done())
    }

    fn problem_of(pieces: &[(u64, (u32, u32))]) -> Problem {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for &(size, life) in pieces {
            testing::add_item(&mut problem, size, &[life]);
        }
        problem
    }

    /// The pieces of a pinwheel of six bytes.
    const PINWHEEL: [(u64, (u32, u32)); 5] = [
        (2, (0, 2)),
        (4, (3, 5)),
        (2, (2, 5)),
        (4, (0, 1)),
        (2, (2, 2)),
    ];

    #[test]
    fn an_order_that_goes_wrong_is_mended_crowd_by_crowd() {
        let mut pieces = PINWHEEL.to_vec();
        pieces.extend([(3, (5, 9)), (3, (7, 9))]); // One of them beside the first ones.
        pieces[1].0 = 1;
        let problem = problem_of(&pieces);
        let crowds: [&[u32]; 2] = [&[4, 3, 2, 1, 0], &[6, 5]];
        let head = Head::Stack(Vec::new());
        let (placement, _) = promote(&problem, head, &crowds, 6, PATIENCE);
        let placement = placement.expect("the pieces fit");
        assert_eq!(testing::violations(&problem, &placement), [""; 0]);
        assert_eq!(placement.peak, 6);
    }

    #[test]
    fn crowds_that_fit_at_once_cost_a_step_for_each_item() {
        let pieces: Vec<(u64, (u32, u32))> = (0..8).map(|at| (1, (at, at))).collect();
        let problem = problem_of(&pieces);
        let all: [u32; 8] = std::array::from_fn(|item| item as u32);
        let crowds: Vec<&[u32]> = all.chunks(1).collect();
        let head = Head::Stack(Vec::new());
        let (placement, steps) = promote(&problem, head, &crowds, 1, PATIENCE);
        assert_eq!(placement.map(|p| p.peak), Some(1));
        assert_eq!(steps, 8);
    }

    #[test]
    fn it_gives_up_once_patience_is_used_up() {
        let pieces = [(4, (0, 3)), (4, (2, 5)), (4, (3, 6))];
        let problem = problem_of(&pieces);
        for patience in [
            Patience {
                without_gain: 50,
                in_all: u64::MAX,
            },
            Patience {
                without_gain: u64::MAX,
                in_all: 50,
            },
        ] {
            let head = Head::Summit(vec![0, 1]);
            let (placement, steps) = promote(&problem, head, &[&[2]], 8, patience);
            assert_eq!(placement, None);
            assert!((50..60).contains(&steps), "{steps}");
        }
    }

    #[test]
    fn below_a_pin_above_the_cap_is_no_room() {
        // 6 |    d
        //   |    c     and b, of two bytes, which fits after a, but not after c
        //   |    a
        let mut problem = problem_of(&[(4, (0, 9)), (1, (0, 9)), (1, (0, 9)), (2, (0, 9))]);
        testing::add_pin(&mut problem, 1_000, u64::MAX, &[(0, 9)]);
        let prepared = Prepared::new(&problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
        let (order, anywhere) = (vec![0, 1, 2, 3], Others::Anywhere);
        let pass = first_fit(&prepared, &order, anywhere, 6, 1, &mut meter);
        let pass = pass.expect("nothing stops it");
        assert_eq!(pass.failed, [3]);
        let head = Head::Summit(order);
        let promotion = Promotion::new(&prepared, &neighbours, head, Vec::new(), 6, 1);
        let (rank, _) = promotion.rank_with_room(&pass, &[0, 1, 2, 3], 3);
        assert_eq!(rank, Some(1));
    }
}
