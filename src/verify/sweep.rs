//! Which boxes overlap in time and space?
//!
//! A sweep over time. The boxes alive at the moment stand in a tree over all boxes sorted by
//! start address, each node of which knows the greatest end below it; whatever a new box meets
//! has a start below its end and an end above its start. `n` boxes with `k` overlaps cost
//! `O((n + k) log n)`, and an overlap is told once. In a plan that is right there is none, and
//! `wall` knows that sooner.

use super::wall::any_overlap;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// Bytes `[start, end)` during the closed time `[first, last]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub first: u64,
    pub last: u64,
    pub start: u64,
    pub end: u64,
    /// What it belongs to; boxes of one owner do not meet.
    pub owner: u32,
}

/// Tells every pair of boxes of different owners that share an instant and a byte, as positions,
/// the one that starts later second; stops early when told to.
pub(crate) fn overlaps(
    boxes: &[Rect],
    pace: &mut Pace<'_, '_>,
    mut tell: impl FnMut(usize, usize) -> Next,
) {
    if !any_overlap(boxes, pace) {
        return;
    }
    let mut by_start: Vec<u32> = (0..boxes.len() as u32).collect();
    by_start.sort_compact_by_key(|&i| (boxes[i as usize].start, i));
    let mut place = vec![0; boxes.len()];
    for (at, &i) in by_start.iter().enumerate() {
        place[i as usize] = at;
    }
    let mut by_first: Vec<u32> = (0..boxes.len() as u32).collect();
    by_first.sort_compact_by_key(|&i| (boxes[i as usize].first, i));
    let mut by_last = by_first.clone();
    by_last.sort_compact_by_key(|&i| (boxes[i as usize].last, i));
    let mut alive = MaxTree::new(boxes.len());
    let mut gone = 0;
    for &new in &by_first {
        let now = &boxes[new as usize];
        // The tree is changed twice.
        if pace.over(10) {
            break;
        }
        if now.start >= now.end || now.first > now.last {
            continue;
        }
        while gone < by_last.len() && boxes[by_last[gone] as usize].last < now.first {
            alive.set(place[by_last[gone] as usize], 0);
            gone += 1;
        }
        let below = by_start.partition_point(|&i| boxes[i as usize].start < now.end);
        let mut stop = false;
        alive.above(below, now.start, &mut |at| {
            let old = by_start[at] as usize;
            if boxes[old].owner != now.owner {
                stop = tell(old, new as usize) == Next::Stop;
            }
            !stop
        });
        if stop {
            break;
        }
        alive.set(place[new as usize], now.end);
    }
}

/// Whether a search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Continue,
    Stop,
}

/// A list of numbers that finds those above a limit; 0 is an empty place.
struct MaxTree {
    leaves: usize,
    max: Vec<u64>,
    /// Room to work in: nodes to look at, with their first place and width.
    stack: Vec<(usize, usize, usize)>,
}

impl MaxTree {
    fn new(len: usize) -> MaxTree {
        let leaves = len.next_power_of_two().max(1);
        MaxTree {
            leaves,
            max: vec![0; 2 * leaves],
            stack: Vec::new(),
        }
    }

    fn set(&mut self, at: usize, value: u64) {
        let mut node = self.leaves + at;
        self.max[node] = value;
        while node > 1 {
            node /= 2;
            let max = self.max[2 * node].max(self.max[2 * node + 1]);
            if self.max[node] == max {
                break;
            }
            self.max[node] = max;
        }
    }

    /// Tells the places before `end` that hold more than `limit`, ascending, while it returns true.
    fn above(&mut self, end: usize, limit: u64, tell: &mut impl FnMut(usize) -> bool) {
        let stack = &mut self.stack;
        stack.clear();
        stack.push((1, 0, self.leaves));
        while let Some((node, first, width)) = stack.pop() {
            if first >= end || self.max[node] <= limit {
                continue;
            }
            if width == 1 {
                if !tell(first) {
                    return;
                }
                continue;
            }
            let half = width / 2;
            stack.push((2 * node + 1, first + half, half));
            stack.push((2 * node, first, half));
        }
    }
}

/// Byte ranges that are taken all the time, asked by range.
#[derive(Default)]
pub(super) struct Taken {
    /// `(start, end, tag)`, sorted.
    ranges: Vec<(u64, u64, u32)>,
    /// The greatest end among the ranges up to here.
    reach: Vec<u64>,
}

impl Taken {
    /// Sorts the ranges; empty ones count for nothing.
    pub fn new(mut ranges: Vec<(u64, u64, u32)>) -> Taken {
        ranges.retain(|r| r.0 < r.1);
        ranges.sort_compact_by(Ord::cmp);
        let mut reach = Vec::with_capacity(ranges.len());
        for &(_, end, _) in &ranges {
            reach.push(reach.last().map_or(end, |&r: &u64| r.max(end)));
        }
        Taken { ranges, reach }
    }

    /// Tells the tags of the ranges that share a byte with `[start, end)`.
    pub fn meeting(&self, start: u64, end: u64, mut tell: impl FnMut(u32)) {
        let below = self.ranges.partition_point(|r| r.0 < end);
        for at in (0..below).rev() {
            // Nothing before this one reaches the range.
            if self.reach[at] <= start {
                break;
            }
            if self.ranges[at].1 > start {
                tell(self.ranges[at].2);
            }
        }
    }

    /// Tells the tags of each two ranges that share a byte, while it returns `Continue`.
    pub fn overlaps(&self, mut tell: impl FnMut(u32, u32) -> Next) {
        let mut open: Vec<(u64, u32)> = Vec::new();
        for &(start, end, tag) in &self.ranges {
            open.retain(|o| o.0 > start);
            for &(_, other) in &open {
                if tell(other, tag) == Next::Stop {
                    return;
                }
            }
            open.push((end, tag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_overlap_is_told_once_and_nothing_else_is() {
        arbtest::arbtest(|u| {
            let mut boxes = Vec::new();
            for owner in 0..u.int_in_range(0..=12)? {
                let first = u.int_in_range(0..=9)?;
                let start = u.int_in_range(0..=9)?;
                boxes.push(Rect {
                    first,
                    last: first + u.int_in_range(0..=4)?,
                    start,
                    end: start + u.int_in_range(0..=4)?, // Some are empty.
                    owner: owner / u.int_in_range(1..=2)?,
                });
            }
            let mut got = Vec::new();
            overlaps(&boxes, &mut Pace::free(), |a, b| {
                got.push((a.min(b), a.max(b)));
                Next::Continue
            });
            got.sort_unstable();
            let mut want = Vec::new();
            for (i, a) in boxes.iter().enumerate() {
                for (j, b) in boxes.iter().enumerate().skip(i + 1) {
                    let time = (a.first..=a.last).any(|t| (b.first..=b.last).contains(&t));
                    let space = (a.start..a.end).any(|x| (b.start..b.end).contains(&x));
                    if time && space && a.owner != b.owner {
                        want.push((i, j));
                    }
                }
            }
            assert_eq!(got, want, "{boxes:?}");
            Ok(())
        });
    }

    #[test]
    fn ranges_taken_all_the_time_are_found_by_range() {
        arbtest::arbtest(|u| {
            let mut ranges = Vec::new();
            for tag in 0..u.int_in_range(0..=8)? {
                let start = u.int_in_range(0..=20)?;
                ranges.push((start, start + u.int_in_range(0..=6)?, tag));
            }
            let a = u.int_in_range(0..=20)?;
            let z = a + u.int_in_range(1..=6)?;
            let taken = Taken::new(ranges.clone());
            let mut got = Vec::new();
            taken.meeting(a, z, |tag| got.push(tag));
            got.sort_unstable();
            let meets = |r: &(u64, u64, u32), a, z| (r.0..r.1).any(|x| (a..z).contains(&x));
            let want: Vec<u32> = ranges
                .iter()
                .filter(|r| meets(r, a, z))
                .map(|r| r.2)
                .collect();
            assert_eq!(got, want);
            let mut got = Vec::new();
            taken.overlaps(|a, b| {
                got.push((a.min(b), a.max(b)));
                Next::Continue
            });
            got.sort_unstable();
            let mut want = Vec::new();
            for (i, a) in ranges.iter().enumerate() {
                let later = ranges[i + 1..].iter().filter(|b| meets(a, b.0, b.1));
                want.extend(later.map(|b| (a.2, b.2)));
            }
            assert_eq!(got, want, "{ranges:?}");
            Ok(())
        });
    }
}
