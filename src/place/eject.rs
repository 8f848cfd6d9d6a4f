//! Ejection: items that lack a place push others out of theirs, below a ceiling.
//!
//! Starts from a placement of some of the items and changes as little of it as it can. An item that
//! finds free bytes takes the lowest. One that finds none takes the bytes from the neighbours that
//! are cheapest to move, and those look for a place next, the largest first. What has been pushed
//! out before costs more the next time, so that two items do not chase each other for ever.
//!
//! Only neighbours are looked at: with few of them this is much less work than a first fit. Work is
//! counted in looks at a neighbour.
//!
//! # Invariant
//!
//! What is placed meets every rule and shares no bytes with what else is placed, but for in-place
//! pairs of the placement that it started from: what is placed here keeps clear of all neighbours.

use std::collections::BinaryHeap;

use super::Problem;
use super::around::{Around, IMMOVABLE};
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
    /// By item: how often it has been pushed out.
    pushed: Vec<u16>,
    /// What has no place, the largest first.
    queue: BinaryHeap<(u64, std::cmp::Reverse<u32>)>,
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
        let size = self.problem().items[item as usize].size;
        self.queue.push((size, std::cmp::Reverse(item)));
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
        let windows = windows.of(prepared.problem.items[item as usize].usage);
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
        let (items, pushed) = (&self.prepared.problem.items, &self.pushed);
        self.around.weigh(|other| {
            let size = items[other as usize].size;
            let pushed = u128::from(pushed[other as usize]) + 1;
            u128::from(size) * pushed * pushed
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
                let pushed = &mut self.pushed[other as usize];
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
