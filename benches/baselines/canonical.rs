//! Exact search over canonical placements, and bisection for the least capacity.
//!
//! After Moffitt, "MiniMalloc: a lightweight memory allocator for hardware-accelerated machine
//! learning", 2023. A placement is canonical if its buffers, in order of offset and then of a
//! static rank, each lie at the lowest offset that the ones before allow; the search extends such
//! a sequence buffer by buffer. It gives up
//!
//! * where a *section*, a span of time in which the live buffers are the same, cannot hold what is
//!   still to come (section inference), and
//! * a buffer that would lie at or above the lowest top another one can have: that one fits below
//!   it (dominance).
//!
//! Three static ranks take turns, each with twice the nodes of the round before. One capacity is
//! tried at a time, halfway between the bound and the best peak; there is no time limit but a
//! number of nodes, a node costs as much as there are buffers and sections they span.

use std::cmp::Reverse;
use std::ops::Range;

use crate::workloads::Buffer;

/// What a search came to.
pub struct Searched {
    /// By number of buffer.
    pub offsets: Vec<u64>,
    /// Nodes of the search tree that were visited.
    pub nodes: u64,
    /// Whether no placement has a lower peak.
    pub proven: bool,
}

/// Capacities that are tried before the nodes are used up, if none is decided early.
const PROBES: u64 = 12;

/// Searches with at most about `most_nodes` nodes, but for one descent without any limit, whose
/// result is the first best.
pub fn canonical_search(buffers: &[Buffer], most_nodes: u64) -> Searched {
    let mut search = Search::new(buffers);
    let found = search.probe(u64::MAX, u64::MAX);
    let Probe::Found(mut offsets) = found else {
        unreachable!("without a capacity nothing is given up");
    };
    let mut peak = search.peak(&offsets);
    let (mut low, mut proven_low) = (search.bound(), search.bound());
    while low < peak && search.nodes < most_nodes {
        let capacity = low + (peak - 1 - low) / 2;
        let share = (most_nodes / PROBES).max(1).min(most_nodes - search.nodes);
        match search.probe(capacity, share) {
            Probe::Found(better) => {
                peak = search.peak(&better);
                offsets = better;
            }
            Probe::Impossible => {
                proven_low = proven_low.max(capacity + 1);
                low = capacity + 1;
            }
            Probe::OutOfNodes => low = capacity + 1,
        }
    }
    Searched {
        offsets,
        nodes: search.nodes,
        proven: proven_low == peak,
    }
}

enum Probe {
    Found(Vec<u64>),
    Impossible,
    OutOfNodes,
}

/// How a subtree ended.
enum End {
    Found,
    Exhausted,
    OutOfNodes,
}

struct Search<'a> {
    buffers: &'a [Buffer],
    /// By buffer: its sections.
    spans: Vec<Range<usize>>,
    /// By section: bytes of the buffers that are not placed yet.
    rest: Vec<u64>,
    /// By section: one past the highest byte placed.
    floors: Vec<u64>,
    /// By buffer.
    offsets: Vec<Option<u64>>,
    /// Three ranks: numbers of buffers, most difficult first.
    ranks: [Vec<u32>; 3],
    nodes: u64,
}

impl Search<'_> {
    fn new(buffers: &[Buffer]) -> Search<'_> {
        let mut times: Vec<u32> = buffers.iter().flat_map(|b| [b.lower, b.upper]).collect();
        times.sort_unstable();
        times.dedup();
        let rank = |time| times.partition_point(|&t| t < time);
        let spans: Vec<_> = buffers
            .iter()
            .map(|b| rank(b.lower)..rank(b.upper))
            .collect();
        let mut rest = vec![0; times.len().saturating_sub(1)];
        for (b, span) in buffers.iter().zip(&spans) {
            rest[span.clone()].iter_mut().for_each(|r| *r += b.size);
        }
        let total = |i: u32| {
            let span: &Range<usize> = &spans[i as usize];
            rest[span.clone()].iter().copied().max().unwrap_or(0)
        };
        let width = |i: u32| u64::from(buffers[i as usize].upper - buffers[i as usize].lower);
        let area = |i: u32| u128::from(width(i)) * u128::from(buffers[i as usize].size);
        let mut ranks = [(); 3].map(|()| (0..buffers.len() as u32).collect::<Vec<_>>());
        ranks[0].sort_by_cached_key(|&i| Reverse((u128::from(width(i)), area(i), total(i))));
        ranks[1].sort_by_cached_key(|&i| Reverse((total(i), area(i), width(i))));
        ranks[2].sort_by_cached_key(|&i| Reverse((total(i), u128::from(width(i)), area(i))));
        Search {
            buffers,
            floors: vec![0; rest.len()],
            offsets: vec![None; buffers.len()],
            spans,
            rest,
            ranks,
            nodes: 0,
        }
    }

    /// The greatest sum of live bytes: while nothing is placed, all of it is still to come.
    fn bound(&self) -> u64 {
        self.rest.iter().copied().max().unwrap_or(0)
    }

    fn peak(&self, offsets: &[u64]) -> u64 {
        let tops = offsets.iter().zip(self.buffers).map(|(o, b)| o + b.size);
        tops.max().unwrap_or(0)
    }

    /// Looks for a placement below a capacity; leaves the state as it was.
    fn probe(&mut self, capacity: u64, most_nodes: u64) -> Probe {
        let last = self.nodes.saturating_add(most_nodes);
        let mut limit = 2 * self.buffers.len() as u64 + 64;
        loop {
            for which in 0..self.ranks.len() {
                let until = self.nodes.saturating_add(limit).min(last);
                match self.extend(which, capacity, until, (0, 0), self.buffers.len()) {
                    End::Found => {
                        let offsets = self.offsets.clone().into_iter();
                        let offsets = offsets.map(|o| o.expect("all are placed")).collect();
                        for i in 0..self.buffers.len() {
                            self.rest[self.spans[i].clone()]
                                .iter_mut()
                                .for_each(|r| *r += self.buffers[i].size);
                        }
                        self.floors.fill(0);
                        self.offsets.fill(None);
                        return Probe::Found(offsets);
                    }
                    End::Exhausted => return Probe::Impossible,
                    End::OutOfNodes if self.nodes >= last => return Probe::OutOfNodes,
                    End::OutOfNodes => {}
                }
            }
            limit = limit.saturating_mul(2);
        }
    }

    /// Places what is left after the buffer of `last` (offset, rank); undoes it unless found.
    fn extend(
        &mut self,
        which: usize,
        capacity: u64,
        until: u64,
        last: (u64, usize),
        left: usize,
    ) -> End {
        if left == 0 {
            return End::Found;
        }
        self.nodes += 1;
        if self.nodes > until {
            return End::OutOfNodes;
        }
        let Some(candidates) = self.candidates(which, capacity, last) else {
            return End::Exhausted;
        };
        for (offset, rank) in candidates {
            let i = self.ranks[which][rank] as usize;
            let (span, size) = (self.spans[i].clone(), self.buffers[i].size);
            let under = self.floors[span.clone()].to_vec();
            self.floors[span.clone()].fill(offset + size);
            self.rest[span.clone()].iter_mut().for_each(|r| *r -= size);
            self.offsets[i] = Some(offset);
            let end = self.extend(which, capacity, until, (offset, rank + 1), left - 1);
            if let End::Found = end {
                return end;
            }
            self.offsets[i] = None;
            self.rest[span.clone()].iter_mut().for_each(|r| *r += size);
            self.floors[span].copy_from_slice(&under);
            if let End::OutOfNodes = end {
                return end;
            }
        }
        End::Exhausted
    }

    /// What may come next, as (offset, rank) ascending; none if some section cannot hold the rest.
    fn candidates(
        &self,
        which: usize,
        capacity: u64,
        last: (u64, usize),
    ) -> Option<Vec<(u64, usize)>> {
        let mut candidates = Vec::new();
        let mut lowest = vec![u64::MAX; self.floors.len()];
        let mut lowest_top = u64::MAX;
        for (rank, &i) in self.ranks[which].iter().enumerate() {
            let i = i as usize;
            if self.offsets[i].is_some() {
                continue;
            }
            let span = self.spans[i].clone();
            let offset = self.floors[span.clone()].iter().copied().max().unwrap_or(0);
            // Whatever comes later does not lie below what came last.
            let at_least = offset.max(last.0);
            lowest_top = lowest_top.min(at_least + self.buffers[i].size);
            for l in &mut lowest[span] {
                *l = (*l).min(at_least);
            }
            if (offset, rank) >= last {
                candidates.push((offset, rank));
            }
        }
        let sections = self.floors.iter().zip(&lowest).zip(&self.rest);
        for ((&floor, &lowest), &rest) in sections {
            if rest > 0 && floor.max(lowest) > capacity.saturating_sub(rest) {
                return None; // Section inference.
            }
        }
        candidates.retain(|c| c.0 < lowest_top); // Dominance.
        candidates.sort_unstable();
        Some(candidates)
    }
}
