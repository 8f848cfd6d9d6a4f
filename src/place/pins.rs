//! Whether two pins claim the same bytes at the same time.
//!
//! A sweep over time: pins enter at the first index of a segment and leave after its last; the
//! bytes held at any moment lie in a map by start, where a newcomer can only collide with its two
//! neighbours. `O(n log n)` in the number of segments.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Pin;
use crate::ir::Lives;
use crate::sorting::CompactSort as _;

/// Two pins that share bytes while both are live, if there are any; the earliest in time.
pub(crate) fn overlapping_pins(pins: &[Pin], lives: &Lives) -> Option<(usize, usize)> {
    let mut runs: Vec<(u32, u32, usize)> = Vec::with_capacity(lives.all().len());
    for (i, pin) in pins.iter().enumerate() {
        if pin.start < pin.end {
            runs.extend(lives.of(i).iter().map(|s| (s.first().0, s.last().0, i)));
        }
    }
    runs.sort_compact();
    let mut held: BTreeMap<u64, (u64, usize)> = BTreeMap::new(); // start -> (end, pin)
    let mut leaving = BinaryHeap::new();
    for (first, last, i) in runs {
        while let Some(&Reverse((last, start))) = leaving.peek()
            && last < first
        {
            leaving.pop();
            held.remove(&start);
        }
        let Pin { start, end } = pins[i];
        let below = held
            .range(..=start)
            .next_back()
            .filter(|(_, (e, _))| *e > start);
        let above = held.range(start..).next().filter(|(s, _)| **s < end);
        if let Some((_, &(_, other))) = below.or(above) {
            return Some((other, i));
        }
        held.insert(start, (end, i));
        leaving.push(Reverse((last, start)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{FlatIndex, Segment};

    #[test]
    fn a_collision_is_found_iff_all_pairs_have_one() {
        arbtest::arbtest(|u| {
            let mut pins = Vec::new();
            let mut lives = Lives::new();
            for _ in 0..u.int_in_range(0..=6)? {
                let start = u.int_in_range(0..=30)?;
                pins.push(Pin {
                    start,
                    end: start + u.int_in_range(0..=5)?,
                });
                let mut at = 0;
                let mut segments = Vec::new();
                for _ in 0..u.int_in_range(1..=3)? {
                    let first = at + u.int_in_range(1..=3)?;
                    let last = first + u.int_in_range(0..=3)?;
                    segments.extend(Segment::new(FlatIndex(first), FlatIndex(last)));
                    at = last;
                }
                lives.push(segments);
            }
            let collide = |i: usize, j: usize| {
                pins[i].start < pins[j].end
                    && pins[j].start < pins[i].end
                    && pins[i].start < pins[i].end
                    && pins[j].start < pins[j].end
                    && lives.overlap(i, j)
            };
            let naive = (0..pins.len()).any(|i| (0..i).any(|j| collide(i, j)));
            let got = overlapping_pins(&pins, &lives);
            assert_eq!(got.is_some(), naive, "{pins:?} {lives:?}");
            if let Some((i, j)) = got {
                assert!(collide(i, j));
            }
            Ok(())
        });
    }
}
