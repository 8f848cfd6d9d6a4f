//! Whether any two boxes overlap: a wall built from the bottom.
//!
//! Boxes are laid by ascending start address over the instants of their lives. Each must find the
//! wall no higher than its own start, over its whole life, and then it is the top of the wall
//! there. If one finds it higher, the box that it meets began below and reaches above: those two
//! overlap. If none does, no two do.
//!
//! The height of the wall is kept by instant, and by 64 instants, and by 64 of those, and so on: a
//! life covers at most 126 entries of a level, those that it covers whole, and only then goes up
//! one level. So a box costs `O(log n)` with a factor of 64 over a base of 64, and a short one
//! reads a few neighbouring numbers.
//!
//! Boxes by start address lie anywhere in time. So where they are many, time is cut into slabs, and
//! each has a wall of its own, of the parts of boxes in it, that fits in a cache: two boxes overlap iff
//! they do in some slab.
//!
//! # Invariant
//!
//! * **height**: the wall over an instant is as high as the greatest `whole` among the entries
//!   above it; `inside` is the greatest of those below an entry.

use super::instants::Instants;
use super::sweep::Rect;
use crate::pace::{Pace, SOME};
use crate::sorting::{CompactSort as _, sort_words};

/// Boxes whose data are fetched together.
const TOGETHER: usize = 16;

/// Entries below one entry of the next level.
const FAN_OUT: usize = 64;

struct Level {
    /// By entry: the height of boxes that cover all of it.
    whole: Vec<u64>,
    /// By entry: the greatest height of what covers a part of it only.
    inside: Vec<u64>,
}

struct Wall(Vec<Level>);

impl Wall {
    fn new(instants: usize) -> Wall {
        let mut levels = Vec::new();
        let mut entries = instants;
        loop {
            levels.push(Level {
                whole: vec![0; entries],
                // Nothing is below an instant.
                inside: vec![0; if levels.is_empty() { 0 } else { entries }],
            });
            if entries <= FAN_OUT {
                return Wall(levels);
            }
            entries = entries.div_ceil(FAN_OUT);
        }
    }

    /// Builds the wall over the instants `from..to` up to `height`, and returns how high it was: if
    /// that was higher, this is a wall no more.
    fn raise(&mut self, (from, to): (usize, usize), height: u64) -> u64 {
        let (mut highest, mut first, mut last) = (0, from, to - 1);
        let mut rest = (from, to);
        let levels = self.0.len();
        for (depth, Level { whole, inside }) in self.0.iter_mut().enumerate() {
            if depth > 0 {
                (first, last) = (first / FAN_OUT, last / FAN_OUT);
                highest = highest.max(whole[first]).max(whole[last]);
            }
            if rest.0 < rest.1 {
                for (a, b) in covered(&mut rest, depth + 1 == levels) {
                    for h in &mut whole[a..b] {
                        highest = highest.max(*h);
                        *h = height;
                    }
                    if depth > 0 {
                        for &h in &inside[a..b] {
                            highest = highest.max(h);
                        }
                    }
                }
            }
            if depth > 0 {
                inside[first] = inside[first].max(height);
                inside[last] = inside[last].max(height);
            }
        }
        highest
    }
}

/// The entries of a level that the rest of a range covers whole, but that no entry of the next level
/// covers which the range covers whole; those of the next level are left as the rest.
#[inline(always)]
fn covered(rest: &mut (usize, usize), is_last: bool) -> [(usize, usize); 2] {
    let (a, b) = *rest;
    let (up_a, up_b) = (a.div_ceil(FAN_OUT), b / FAN_OUT);
    if up_a > up_b || is_last {
        *rest = (0, 0);
        [(a, b), (b, b)]
    } else {
        *rest = (up_a, up_b);
        [(a, up_a * FAN_OUT), (up_b * FAN_OUT, b)]
    }
}

/// Boxes of a slab, on average.
const BOXES: usize = 4096;

/// Parts of boxes in slabs, for each box and on average, and not more: slabs are made longer instead.
const PARTS: usize = 2;

/// Whether any two boxes share an instant and a byte, of whatever owners.
pub(super) fn any_overlap(boxes: &[Rect], pace: &mut Pace<'_, '_>) -> bool {
    any_overlap_in(boxes, boxes.len() / BOXES, pace)
}

/// The same in about so many slabs.
fn any_overlap_in(boxes: &[Rect], slabs: usize, pace: &mut Pace<'_, '_>) -> bool {
    let Some(slabs) = Slabs::of(boxes, slabs, pace) else {
        return any_overlap_at_once(boxes, pace);
    };
    let mut parts = Vec::new();
    for slab in 0..slabs.ends.len() {
        if pace.is_stopped() {
            break;
        }
        parts.clear();
        parts.extend(slabs.parts(slab, boxes));
        if any_overlap_at_once(&parts, pace) {
            return true;
        }
    }
    false
}

/// Stretches of time of equal length, and which boxes live in each.
struct Slabs {
    /// The first time of all, and how long a slab lasts.
    start: u64,
    length: u64,
    /// The boxes of one slab after the other, and where those of each end.
    boxes: Vec<u32>,
    ends: Vec<u32>,
}

impl Slabs {
    /// So many slabs or fewer; `None` where one would hold nearly everything.
    fn of(boxes: &[Rect], mut slabs: usize, pace: &mut Pace<'_, '_>) -> Option<Slabs> {
        let living = || boxes.iter().filter(is_box);
        let (mut start, mut last) = (u64::MAX, 0);
        for b in living() {
            if pace.over(1) {
                return None;
            }
            (start, last) = (start.min(b.first), last.max(b.last));
        }
        if start > last {
            return None;
        }
        while slabs > 1 {
            let length = (last - start) / slabs as u64 + 1;
            let span = |b: &Rect| {
                let slab = |time: u64| ((time - start) / length) as usize;
                slab(b.first)..=slab(b.last)
            };
            let mut parts = 0;
            for some in boxes.chunks(SOME) {
                if pace.over(some.len()) {
                    break;
                }
                parts += some
                    .iter()
                    .filter(is_box)
                    .map(|b| span(b).count())
                    .sum::<usize>();
            }
            if parts <= PARTS * boxes.len() && u32::try_from(parts).is_ok() {
                let mut ends = vec![0_u32; slabs];
                for b in living() {
                    if pace.over(1 + span(b).count()) {
                        break;
                    }
                    ends[span(b)].iter_mut().for_each(|end| *end += 1);
                }
                let mut end = 0;
                for at in &mut ends {
                    end += std::mem::replace(at, end);
                }
                let mut sorted = vec![0; parts];
                for (i, b) in (0..).zip(boxes).filter(|(_, b)| is_box(b)) {
                    if pace.over(1 + span(b).count()) {
                        break;
                    }
                    for at in &mut ends[span(b)] {
                        sorted[*at as usize] = i;
                        *at += 1;
                    }
                }
                return Some(Slabs {
                    start,
                    length,
                    boxes: sorted,
                    ends,
                });
            }
            slabs /= 2;
        }
        None
    }

    /// The parts of boxes that lie in a slab.
    fn parts(&self, slab: usize, boxes: &[Rect]) -> impl Iterator<Item = Rect> {
        let from = slab.checked_sub(1).map_or(0, |before| self.ends[before]);
        // The last slabs may lie past all time, without a box.
        let first = (slab as u64).saturating_mul(self.length);
        let first = self.start.saturating_add(first);
        let last = first.saturating_add(self.length - 1);
        let some = &self.boxes[from as usize..self.ends[slab] as usize];
        some.iter().map(move |&i| {
            let whole = boxes[i as usize];
            Rect {
                first: whole.first.max(first),
                last: whole.last.min(last),
                ..whole
            }
        })
    }
}

#[inline]
fn is_box(b: &&Rect) -> bool {
    b.start < b.end && b.first <= b.last
}

fn any_overlap_at_once(boxes: &[Rect], pace: &mut Pace<'_, '_>) -> bool {
    let lives = boxes.iter().filter(is_box).map(|b| (b.first, b.last));
    let instants = Instants::of(lives, pace);
    let mut wall = Wall::new(instants.len());
    for some in by_start(boxes, pace).chunks(TOGETHER) {
        // The wall may be read at several levels.
        if pace.over(4 * some.len()) {
            break;
        }
        // First what the boxes of a group read, so that the processor waits for all at once.
        let mut read = 0;
        for &i in some {
            let next = &boxes[i as usize];
            if is_box(&next) {
                let (first, past) = instants.span((next.first, next.last));
                read ^= wall.0[0].whole[first] ^ wall.0[0].whole[past - 1];
            }
        }
        std::hint::black_box(read);
        for &i in some {
            let next = &boxes[i as usize];
            if !is_box(&next) {
                continue;
            }
            let span = instants.span((next.first, next.last));
            if wall.raise(span, next.end) > next.start {
                return true;
            }
        }
    }
    false
}

/// The boxes by ascending start.
fn by_start(boxes: &[Rect], pace: &mut Pace<'_, '_>) -> Vec<u32> {
    let all = boxes.iter().fold(0, |all, b| all | b.start);
    let unit = all.trailing_zeros() % 64;
    if all >> unit > u64::from(u32::MAX) {
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        order.sort_compact_by_key(|&i| boxes[i as usize].start);
        return order;
    }
    // Start and number in one word: the sort reads nothing else.
    let keys = (0..).zip(boxes).map(|(i, b)| (b.start >> unit) << 32 | i);
    let mut keys: Vec<u64> = keys.collect();
    if sort_words(&mut keys, 32, pace).is_err() {
        keys.clear();
    }
    keys.into_iter().map(|key| key as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_is_as_high_as_one_number_per_instant() {
        arbtest::arbtest(|u| {
            let instants = *u.choose(&[1, 64, 65, 200, 4096, 9000])?;
            let (mut wall, mut naive) = (Wall::new(instants), vec![0; instants]);
            for _ in 0..u.int_in_range(1..=40)? {
                let from = u.int_in_range(0..=instants - 1)?;
                let most = *u.choose(&[1, 64, 70, instants])?;
                let to = instants.min(from + u.int_in_range(1..=most)?);
                let height = naive[from..to].iter().max().copied().unwrap_or(0);
                let higher = height + u.int_in_range(0..=3)?;
                let was = wall.raise((from, to), higher);
                assert_eq!(was, height, "{from}..{to} of {instants}");
                naive[from..to].fill(higher);
            }
            Ok(())
        });
    }

    #[test]
    fn an_overlap_is_seen_iff_two_boxes_have_one() {
        arbtest::arbtest(|u| {
            let (scale, times) = *u.choose(&[(1, 9), (1, 200), (4, 9_000), (1 << 40, 9)])?;
            let late = *u.choose(&[0, u64::MAX - 3 * times])?; // Up to the end of time.
            let mut boxes = Vec::new();
            for owner in 0..u.int_in_range(0..=14)? {
                let first = late + u.int_in_range(0..=times)?;
                let start = u.int_in_range(0..=40)? * scale;
                boxes.push(Rect {
                    first,
                    last: first + u.int_in_range(0..=times / 2)?,
                    start,
                    end: start + u.int_in_range(0..=4)? * scale,
                    owner,
                });
            }
            let meet = |a: &Rect, b: &Rect| {
                a.first.max(b.first) <= a.last.min(b.last)
                    && a.start.max(b.start) < a.end.min(b.end)
            };
            let naive = (0..boxes.len()).any(|i| (0..i).any(|j| meet(&boxes[i], &boxes[j])));
            let pace = &mut Pace::free();
            assert_eq!(any_overlap(&boxes, pace), naive, "{boxes:?}");
            for slabs in [2, 3, 7, 20] {
                let got = any_overlap_in(&boxes, slabs, pace);
                assert_eq!(got, naive, "{slabs} {boxes:?}");
            }
            Ok(())
        });
    }
}
