//! Ejection: items that lack a place push others out of theirs, below a ceiling.
//!
//! Starts from a placement of some of the items and changes as little of it as it can. An item that
//! finds free bytes takes the lowest. One that finds none takes the bytes from the neighbours that
//! are cheapest to move, and those look for a place next, those hardest to place first. What has
//! pushed others out costs more from then on, so that two items do not chase each other for ever.
//!
//! Only neighbours are looked at: with few of them this is much less work than a first fit. Work is
//! counted in looks at a neighbour. Weighed by bytes and length, not by bytes alone, what is pushed
//! out are items that have few neighbours themselves: measured, a twentieth of the looks.
//!
//! # Invariant
//!
//! What is placed meets every rule and shares no bytes with what else is placed, but for in-place
//! pairs of the placement that it started from: what is placed here keeps clear of all neighbours.

use std::collections::BinaryHeap;

use super::Problem;
use super::around::{Around, IMMOVABLE, weights};
use super::improve::Neighbours;
use super::meter::{Meter, Stop};
use super::prepared::{Prepared, Windows};
use dramalloc_engine::Request;

/// A placement in which some items have no place.
pub(super) struct Ejection<'a, 'p> {
    prepared: &'a Prepared<'p>,
    neighbours: &'a Neighbours,
    /// By item.
    starts: Vec<Option<u64>>,
    /// The windows of each item's usage that it may be put in; see [`Ejection::new`].
    windows: &'a dyn Fn(u32) -> &'a Windows,
    /// By item: what pushing it out costs as long as it has pushed out no others.
    weights: Vec<u32>,
    /// By item: how many others it has pushed out.
    pushed: Vec<u16>,
    /// What has no place, the weightiest first.
    queue: BinaryHeap<(u32, std::cmp::Reverse<u32>)>,
    /// The neighbours of the item in question.
    around: Around,
}

impl<'a, 'p> Ejection<'a, 'p> {
    /// Goes on from `starts`, all of which end within their windows: `windows` tells in which ones
    /// an item may be put.
    pub(super) fn new(
        prepared: &'a Prepared<'p>,
        neighbours: &'a Neighbours,
        starts: Vec<Option<u64>>,
        windows: &'a dyn Fn(u32) -> &'a Windows,
    ) -> Ejection<'a, 'p> {
        let mut ejection = Ejection {
            prepared,
            neighbours,
            weights: weights(prepared),
            pushed: vec![0; starts.len()],
            starts,
            windows,
            queue: BinaryHeap::new(),
            around: Around::default(),
        };
        for item in 0..ejection.starts.len() as u32 {
            if ejection.starts[item as usize].is_none() {
                ejection.enqueue(item);
            }
        }
        ejection
    }

    /// Works until everything has a place; `None` if that takes more than so many looks, or if some
    /// item cannot be placed beside the pins.
    pub(super) fn run(
        mut self,
        looks: u64,
        meter: &Meter<'_, '_>,
    ) -> Result<Option<Vec<u64>>, Stop> {
        let (mut left, mut until_poll) = (looks, 0u64);
        while let Some((_, std::cmp::Reverse(item))) = self.queue.pop() {
            let seen = self.look_around(item);
            if until_poll < seen {
                meter.poll()?;
                until_poll = LOOKS_PER_POLL;
            }
            until_poll = until_poll.saturating_sub(seen);
            if left < seen {
                return Ok(None);
            }
            left -= seen;
            let start = match self.lowest(item) {
                Some(start) => start,
                None => match self.cheapest(item) {
                    Some(start) => start,
                    None => return Ok(None),
                },
            };
            self.put(item, start);
        }
        Ok(self.starts.into_iter().collect())
    }

    fn problem(&self) -> &'p Problem {
        self.prepared.problem
    }

    fn enqueue(&mut self, item: u32) {
        let weight = self.weights[item as usize];
        self.queue.push((weight, std::cmp::Reverse(item)));
    }

    fn look_around(&mut self, item: u32) -> u64 {
        let starts = &self.starts;
        let start_of = |other| starts[other as usize];
        let (prepared, neighbours) = (self.prepared, self.neighbours);
        self.around.look(prepared, neighbours, item, start_of)
    }

    fn requests(&self, item: u32) -> impl Iterator<Item = Request> + use<'a> {
        let prepared = self.prepared;
        let windows: &'a Windows = (self.windows)(item);
        let windows = windows.of(prepared.problem.usage(item));
        (windows.iter()).map(move |&window| prepared.request(item, window))
    }

    /// The lowest free start.
    fn lowest(&self, item: u32) -> Option<u64> {
        self.requests(item)
            .find_map(|request| self.around.lowest(request))
    }

    /// The start at which it costs least to push away what is there; of several the lowest. `None`
    /// if pins leave no room.
    fn cheapest(&mut self, item: u32) -> Option<u64> {
        let (weights, pushed) = (&self.weights, &self.pushed);
        self.around.weigh(|other| {
            let other = other as usize;
            u128::from(weights[other]) * (u128::from(pushed[other]) + 1)
        });
        let mut best: Option<(u128, u64)> = None;
        for request in self.requests(item) {
            self.around.each_start(request, |cost, start| {
                let this = (cost, start);
                if cost < IMMOVABLE && best.is_none_or(|best| this < best) {
                    best = Some(this);
                }
            });
        }
        best.map(|(_, start)| start)
    }

    /// Places an item and pushes out what is in its way.
    fn put(&mut self, item: u32, start: u64) {
        let end = start + self.problem().items[item as usize].size;
        let around = std::mem::take(&mut self.around);
        for other in around.between(start, end) {
            if self.starts[other as usize].take().is_some() {
                let pushed = &mut self.pushed[item as usize];
                *pushed = pushed.saturating_add(1);
                self.enqueue(other);
            }
        }
        self.around = around;
        self.starts[item as usize] = Some(start);
    }
}

/// Looks between two looks at the host's flag and clock.
const LOOKS_PER_POLL: u64 = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::place::{Placement, solve, testing};

    /// Goes on from `starts` below `cap`.
    fn eject(problem: &Problem, starts: Vec<Option<u64>>, cap: u64) -> Option<Vec<u64>> {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
        let windows = prepared.windows(problem.floor, cap);
        let windows = |_| &windows;
        let ejection = Ejection::new(&prepared, &neighbours, starts, &windows);
        ejection.run(2_000, &meter).expect("nothing stops it")
    }

    #[test]
    fn what_is_found_keeps_every_rule_and_the_cap() {
        let (mut found_all, mut moved) = (0, 0);
        crate::testing::for_each_seed(0..400, |u| {
            let problem = Problem {
                collective_limit: None,
                runtime_page: 0,
                ..testing::problem(u)?
            };
            let strategy = Strategy::Reference;
            let Ok(before) = solve(&problem, strategy, None, &mut Control::default()) else {
                return Ok(());
            };
            let starts = before.placement.offsets.iter().zip(&problem.items);
            let cap = (before.bound + (before.bound - problem.floor) / 8).min(problem.ceiling);
            let start = |(&start, of): (&u64, &crate::place::Item)| {
                let stays = start + of.size <= cap && !u.ratio(1, 8)?;
                Ok(stays.then_some(start))
            };
            let starts: Vec<Option<u64>> = starts.map(start).collect::<arbitrary::Result<_>>()?;
            let found = eject(&problem, starts.clone(), cap);
            assert_eq!(eject(&problem, starts.clone(), cap), found, "repeatable");
            if let Some(found) = found {
                let stayed =
                    |(start, found): (&Option<u64>, &u64)| start.is_none_or(|s| s == *found);
                moved += usize::from(!starts.iter().zip(&found).all(stayed));
                let placement = Placement::of(&problem, found);
                let violations = testing::violations(&problem, &placement);
                assert_eq!(violations, Vec::<String>::new(), "{problem:?}");
                assert!(placement.peak <= cap);
                found_all += 1;
            }
            Ok(())
        });
        assert!(found_all > 0 && moved > 0, "{found_all} {moved}");
    }

    #[test]
    fn what_is_pushed_out_is_what_lives_short() {
        // 9 |    +---+                   |    |s  |
        //   |    |s  |                   |    +---+
        //   |    +---+ +---+ +---+ +---+ |    |new| +---+ +---+ +---+
        // 3 |--------+-+---+-+---+-+---+ |----+---+-+---+-+---+-+---+
        //   |    long                    |    long
        // 0 +--------------------------- +---------------------------> time
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for life in [(0, 29), (5, 6), (10, 11), (15, 16), (20, 21), (5, 6)] {
            testing::add_item(&mut problem, 3, &[life]);
        }
        let starts = [0, 4, 3, 3, 3].map(Some).into_iter().chain([None]);
        let found = eject(&problem, starts.collect(), 9);
        assert_eq!(found, Some(vec![0, 6, 3, 3, 3, 3]));
    }
}
