//! The verifier's own lower bound: the load at every instant. // T
//!
//! What is live at an instant needs its bytes, but for the defs that may take over the bytes of
//! a use: a maximum-weight matching of the eligible pairs. Weights are those of the defs alone,
//! so sets of defs that can be matched are a matroid and the greedy choice is exact (Edmonds,
//! *Matroids and the greedy algorithm*, 1971).
//!
//! Beside pins that come and go the bound is the least `P` with enough free bytes below it: a
//! tree over the ends of the pins counts covered bytes (Bentley, *Algorithms for Klee's
//! rectangle problems*, 1977) and finds that `P` by descending.

use super::instants::Instants;
use super::sweep::Rect;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A pair that may share its start at an instant, by the owners of the loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub at: u64,
    pub used: u32,
    pub def: u32,
    /// Bytes of the def as placed.
    pub bytes: u64,
}

/// The bytes of candidates over time; the sizes are `end - start` of the rectangles.
pub(super) struct Loads<'a> {
    pub candidates: &'a [Rect],
    /// Sorted.
    pub pairs: &'a [Pair],
    /// Obstacles; empty when the floor is above them.
    pub pins: &'a [Rect],
}

impl Loads<'_> {
    /// The greatest end that some instant forces, counted from 0, and no less than 0.
    pub fn bound(&self, pace: &mut Pace<'_, '_>) -> u128 {
        let mut all = Some(0_u64);
        for c in self.candidates {
            if pace.over(1) {
                return 0;
            }
            all = all.and_then(|all| all.checked_add(c.end - c.start));
        }
        // Sums that may be wide take twice the room.
        match all {
            Some(_) => self.bound_in::<u64>(pace),
            None => self.bound_in::<u128>(pace),
        }
    }

    fn bound_in<S: Sum>(&self, pace: &mut Pace<'_, '_>) -> u128 {
        let of = |r: &Rect| (r.first, r.last);
        let boxes = self.candidates.iter().chain(self.pins).map(of);
        let boxes = boxes.chain(self.pairs.iter().map(|p| (p.at, p.at)));
        let instants = Instants::of(boxes, pace);
        if pace.is_stopped() {
            return 0;
        }
        // Differences wrap below zero; their sums do not.
        let mut change = vec![S::default(); instants.len() + 1];
        for c in self.candidates {
            if pace.over(1) {
                break;
            }
            let (first, past) = instants.span(of(c));
            change[first] = change[first].plus(c.end - c.start);
            change[past] = change[past].minus(c.end - c.start);
        }
        if self.pins.is_empty() && self.pairs.is_empty() {
            let mut load = S::default();
            let loads = change.iter().map(|&change| {
                pace.over(1);
                load = load.sum(change);
                load.into()
            });
            return loads.max().unwrap_or(0);
        }
        // (instant, whether it begins, which)
        let mut pins: Vec<(usize, bool, usize)> = Vec::with_capacity(2 * self.pins.len());
        for (i, pin) in self.pins.iter().enumerate() {
            let (first, past) = instants.span(of(pin));
            pins.extend([(first, true, i), (past, false, i)]);
        }
        pins.sort_compact_by(Ord::cmp);
        let mut pins = pins.into_iter().peekable();
        let mut pairs = self.pairs.chunk_by(|a, b| a.at == b.at).peekable();
        let mut cover = Cover::of(self.pins);
        let (mut load, mut bound) = (S::default(), 0u128);
        for (now, &change) in change[..instants.len()].iter().enumerate() {
            if pace.over(1) {
                break;
            }
            load = load.sum(change);
            while let Some((_, begins, i)) = pins.next_if(|pin| pin.0 == now) {
                // The tree of covered bytes is changed.
                if pace.over(20) {
                    break;
                }
                cover.change(&self.pins[i], if begins { 1 } else { -1 });
            }
            let here = |pairs: &&[Pair]| instants.span((pairs[0].at, pairs[0].at)).0 == now;
            let shared = pairs.next_if(here).map_or(0, matched);
            let load: u128 = load.into();
            bound = bound.max(cover.least_end(load - shared.min(load)));
        }
        bound
    }
}

/// Sums of bytes that wrap.
trait Sum: Copy + Default + Into<u128> {
    fn sum(self, other: Self) -> Self;
    fn plus(self, bytes: u64) -> Self;
    fn minus(self, bytes: u64) -> Self;
}

macro_rules! sum {
    ($($type:ty),+) => {
        $(impl Sum for $type {
            fn sum(self, other: $type) -> $type {
                self.wrapping_add(other)
            }

            fn plus(self, bytes: u64) -> $type {
                self.wrapping_add(bytes.into())
            }

            fn minus(self, bytes: u64) -> $type {
                self.wrapping_sub(bytes.into())
            }
        })+
    };
}
sum!(u64, u128);

/// The most bytes of defs that can each lie on a use of their own.
fn matched(pairs: &[Pair]) -> u128 {
    let mut defs: Vec<(u64, u32)> = pairs.iter().map(|p| (p.bytes, p.def)).collect();
    defs.sort_compact_by(|a, b| b.cmp(a));
    defs.dedup();
    let mut taken: Vec<(u32, u32)> = Vec::new(); // (use, def)
    let mut total = 0;
    for &(bytes, def) in &defs {
        let mut seen = Vec::new();
        if augment(pairs, def, &mut taken, &mut seen) {
            total += u128::from(bytes);
        }
    }
    total
}

/// Finds a use for `def`, moving earlier ones if need be (Kuhn, *The Hungarian method*, 1955).
fn augment(pairs: &[Pair], def: u32, taken: &mut Vec<(u32, u32)>, seen: &mut Vec<u32>) -> bool {
    for pair in pairs.iter().filter(|p| p.def == def) {
        if seen.contains(&pair.used) {
            continue;
        }
        seen.push(pair.used);
        let holder = taken.iter().position(|t| t.0 == pair.used);
        let free = match holder {
            None => {
                taken.push((pair.used, def));
                return true;
            }
            Some(at) => augment(pairs, taken[at].1, taken, seen),
        };
        if free {
            // The holder has another use now; this one's entry still stands.
            let at = taken
                .iter()
                .position(|t| t.0 == pair.used)
                .expect("it was there");
            taken[at].1 = def;
            return true;
        }
    }
    false
}

/// How many bytes below an address are covered by pins.
struct Cover {
    /// Ends of the elementary ranges, the first of which starts at 0.
    cuts: Vec<u64>,
    leaves: usize,
    count: Vec<u32>,
    covered: Vec<u128>,
    width: Vec<u128>,
}

impl Cover {
    fn of(pins: &[Rect]) -> Cover {
        let mut cuts: Vec<u64> = pins.iter().flat_map(|p| [p.start, p.end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.first() == Some(&0) {
            cuts.remove(0);
        }
        let leaves = cuts.len().next_power_of_two();
        let mut width = vec![0; 2 * leaves];
        let mut from = 0;
        for (i, &to) in cuts.iter().enumerate() {
            width[leaves + i] = u128::from(to - from);
            from = to;
        }
        for node in (1..leaves).rev() {
            width[node] = width[2 * node] + width[2 * node + 1];
        }
        Cover {
            cuts,
            leaves,
            count: vec![0; 2 * leaves],
            covered: vec![0; 2 * leaves],
            width,
        }
    }

    fn change(&mut self, pin: &Rect, by: i32) {
        let leaf = |address: u64| match address {
            0 => 0,
            _ => self.cuts.partition_point(|&c| c < address) + 1,
        };
        let (from, to) = (leaf(pin.start), leaf(pin.end));
        if pin.start < pin.end {
            self.change_range(1, 0, self.leaves, from, to, by);
        }
    }

    fn change_range(
        &mut self,
        node: usize,
        at: usize,
        len: usize,
        from: usize,
        to: usize,
        by: i32,
    ) {
        if to <= at || at + len <= from {
            return;
        }
        if from <= at && at + len <= to {
            self.count[node] = self.count[node]
                .checked_add_signed(by)
                .expect("ends after it begins");
        } else {
            let half = len / 2;
            self.change_range(2 * node, at, half, from, to, by);
            self.change_range(2 * node + 1, at + half, half, from, to, by);
        }
        self.covered[node] = match self.count[node] {
            0 if len == 1 => 0,
            0 => self.covered[2 * node] + self.covered[2 * node + 1],
            _ => self.width[node],
        };
    }

    /// The least `P` with `bytes` free bytes below it.
    fn least_end(&self, bytes: u128) -> u128 {
        if bytes == 0 {
            return 0;
        }
        let free = |node: usize| self.width[node] - self.covered[node];
        if free(1) < bytes {
            let end = self.cuts.last().copied().unwrap_or(0);
            return u128::from(end) + (bytes - free(1));
        }
        let (mut node, mut left) = (1, bytes);
        while node < self.leaves {
            node *= 2;
            if free(node) < left {
                left -= free(node);
                node += 1;
            }
        }
        let leaf = node - self.leaves;
        let start = if leaf == 0 { 0 } else { self.cuts[leaf - 1] };
        u128::from(start) + left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rect: &Rect) -> u128 {
        u128::from(rect.end - rect.start)
    }

    fn rect(first: u64, last: u64, start: u64, end: u64, owner: u32) -> Rect {
        Rect {
            first,
            last,
            start,
            end,
            owner,
        }
    }

    /// Every instant, every subset of the pairs, every end.
    fn naive(loads: &Loads<'_>) -> u128 {
        let mut bound = 0;
        for now in 0..20 {
            let alive = |r: &&Rect| r.first <= now && now <= r.last;
            let load: u128 = loads.candidates.iter().filter(alive).map(size).sum();
            let pairs: Vec<&Pair> = loads.pairs.iter().filter(|p| p.at == now).collect();
            let mut most = 0;
            for subset in 0..1u32 << pairs.len() {
                let chosen: Vec<&&Pair> = (pairs.iter().enumerate())
                    .filter(|(i, _)| subset & (1 << i) != 0)
                    .map(|(_, p)| p)
                    .collect();
                let clash = |a: &Pair, b: &Pair| a.used == b.used || a.def == b.def;
                let valid = (0..chosen.len()).all(|i| (0..i).all(|j| !clash(chosen[i], chosen[j])));
                if valid {
                    most = most.max(chosen.iter().map(|p| u128::from(p.bytes)).sum());
                }
            }
            let need = load.saturating_sub(most);
            let covered = |x: u64| {
                loads
                    .pins
                    .iter()
                    .filter(alive)
                    .any(|p| (p.start..p.end).contains(&x))
            };
            let (mut end, mut free) = (0u64, 0u128);
            while free < need {
                free += u128::from(!covered(end));
                end += 1;
            }
            bound = bound.max(u128::from(end));
        }
        bound
    }

    #[test]
    fn the_bound_is_that_of_every_instant() {
        arbtest::arbtest(|u| {
            let mut rects = |pins: bool| -> arbtest::arbitrary::Result<Vec<Rect>> {
                let mut list = Vec::new();
                for owner in 0..u.int_in_range(0..=5)? {
                    let first = u.int_in_range(0..=8)?;
                    let last = first + u.int_in_range(0..=5)?;
                    let start = if pins { u.int_in_range(0..=12)? } else { 0 };
                    list.push(rect(
                        first,
                        last,
                        start,
                        start + u.int_in_range(0..=6)?,
                        owner,
                    ));
                }
                Ok(list)
            };
            let (candidates, pins) = (rects(false)?, rects(true)?);
            let mut pairs = Vec::new();
            for _ in 0..u.int_in_range(0..=4)? {
                if candidates.len() < 2 {
                    break;
                }
                let used = u.int_in_range(0..=candidates.len() - 1)?;
                let def = u.int_in_range(0..=candidates.len() - 1)?;
                let (x, y) = (&candidates[used], &candidates[def]);
                if used != def && x.last == y.first && size(y) <= size(x) {
                    pairs.push(Pair {
                        at: x.last,
                        used: x.owner,
                        def: y.owner,
                        bytes: y.end,
                    });
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            let loads = Loads {
                candidates: &candidates,
                pairs: &pairs,
                pins: &pins,
            };
            assert_eq!(
                loads.bound(&mut Pace::free()),
                naive(&loads),
                "{candidates:?} {pairs:?} {pins:?}"
            );
            Ok(())
        });
    }

    #[test]
    fn a_small_def_makes_way_for_a_large_one_that_has_no_other_use() {
        let pair = |used, def, bytes| Pair {
            at: 3,
            used,
            def,
            bytes,
        };
        // 10 could go on either use, 7 only on the first.
        assert_eq!(
            matched(&[pair(0, 5, 10), pair(0, 6, 7), pair(1, 5, 10)]),
            17
        );
        assert_eq!(matched(&[pair(0, 5, 10), pair(0, 6, 7)]), 10);
    }
}
