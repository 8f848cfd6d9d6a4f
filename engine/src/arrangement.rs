//! Which addresses are taken at which of 64 times.
//!
//! The address axis is cut into intervals over which the answer does not change: each has its end
//! and a mask with a bit for each time at which it is taken. A time is a point of a leaf, or a
//! child of an inner node, whose bit means: taken at some point of the child.
//!
//! # Invariants
//!
//! * **order**: ends ascend strictly, and the last is `Address::END`, with an empty mask;
//! * **merged**: neighbours have different masks.
//!
//! An arrangement without intervals stands for one that is free everywhere.

use super::address::Address;
use super::arena::Arena;
use super::starts::Starts;

/// Arrangements, by number.
pub(super) type Arrangements<A> = Arena<A, u64>;

/// Ends compared at once when what lies below a position is skipped.
const STRIDE: usize = 16;

/// The first interval from `from` on that ends above `position`.
pub(super) fn first_above<A: Address>(ends: &[A], from: usize, position: A) -> usize {
    let mut at = from;
    if ends[at] > position {
        return at; // So it is when a search comes back and nothing has moved.
    }
    while ends
        .get(at + STRIDE - 1)
        .is_some_and(|&end| end <= position)
    {
        at += STRIDE;
    }
    let rest = &ends[at..ends.len().min(at + STRIDE)];
    at + rest
        .iter()
        .map(|&end| u32::from(end <= position))
        .sum::<u32>() as usize
}

/// The lowest position at or above `position` from which `size` addresses are free at the times of
/// `mask`. `None`: not below the end.
///
/// `cursor` is where the search left off; positions of later searches must not be lower.
pub(super) fn climb<A: Address>(
    (ends, masks): (&[A], &[u64]),
    cursor: &mut u32,
    mask: u64,
    mut position: A,
    size: A,
    starts: impl Starts<A>,
) -> Option<A> {
    let from = first_above(ends, *cursor as usize, position);
    let ahead = ends[from..].iter().zip(&masks[from..]);
    for (i, (&end, &taken)) in ahead.enumerate() {
        if taken & mask != 0 {
            position = starts.above(position, end);
        }
        if starts.fits(position, size, end) {
            *cursor = (from + i) as u32;
            return Some(position);
        }
    }
    None
}

/// Takes the addresses `start..end` at the times of `mask`, free or not. Returns whether any of
/// them was free at all times before. `scratch` is room to work.
pub(super) fn take<A: Address>(
    arrangements: &mut Arrangements<A>,
    number: u32,
    mask: u64,
    (start, end): (A, A),
    scratch: &mut Vec<(A, u64)>,
) -> bool {
    debug_assert!(start < end && end < A::END && mask != 0);
    if arrangements.is_empty(number) {
        arrangements.splice(number, 0, 0, &[(A::END, 0)]);
    }
    let (ends, masks) = arrangements.rows(number);
    let first = first_above(ends, 0, start);
    scratch.clear();
    let mut at = first;
    // What lies before the first interval touched, for it may merge with it.
    if first > 0 {
        scratch.push((ends[first - 1], masks[first - 1]));
    }
    let begin = if first > 0 {
        ends[first - 1]
    } else {
        A::default()
    };
    if begin < start {
        scratch.push((start, masks[first]));
    }
    let (mut was_free, mut changed) = (false, false);
    loop {
        let (to, old) = (ends[at], masks[at]);
        was_free |= old == 0;
        changed |= old | mask != old;
        push_merged(scratch, (to.min(end), old | mask));
        at += 1;
        if to >= end {
            if to > end {
                push_merged(scratch, (to, old));
            }
            break;
        }
    }
    if !changed {
        return false;
    }
    if let (Some(&(_, last)), Some(&next)) = (scratch.last(), masks.get(at))
        && last == next
    {
        scratch.pop();
    }
    arrangements.splice(number, first.saturating_sub(1), at, scratch);
    was_free
}

/// Appends an interval, as part of the last one if that has the same mask.
fn push_merged<A: Address>(intervals: &mut Vec<(A, u64)>, (end, mask): (A, u64)) {
    match intervals.last_mut() {
        Some(last) if last.1 == mask => last.0 = end,
        _ => intervals.push((end, mask)),
    }
}

#[cfg(test)]
pub(super) fn check_invariants<A: Address>(arrangements: &Arrangements<A>, number: u32) {
    let (ends, masks) = arrangements.rows(number);
    assert!(ends.windows(2).all(|w| w[0] < w[1]), "order");
    assert!(masks.windows(2).all(|w| w[0] != w[1]), "merged");
    if !ends.is_empty() {
        assert_eq!(
            (ends.last(), masks.last()),
            (Some(&A::END), Some(&0)),
            "order"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starts::{All, Multiples};

    #[test]
    fn an_arrangement_is_what_one_mask_per_address_is() {
        arbtest::arbtest(|u| {
            const ADDRESSES: usize = 60;
            let mut naive = [0u64; ADDRESSES];
            let mut arrangements = Arrangements::<u32>::new();
            arrangements.add_tables(1);
            let mut scratch = Vec::new();
            for _ in 0..u.int_in_range(0..=20)? {
                let start = u.int_in_range(0..=ADDRESSES - 2)?;
                let end = u.int_in_range(start + 1..=ADDRESSES - 1)?;
                let mask = 1 << u.int_in_range(0..=4)? | 1 << u.int_in_range(60..=63)?;
                let range = (start as u32, end as u32);
                let was_free = take(&mut arrangements, 0, mask, range, &mut scratch);
                assert_eq!(was_free, naive[start..end].contains(&0));
                naive[start..end].iter_mut().for_each(|m| *m |= mask);
                check_invariants(&arrangements, 0);
            }
            if arrangements.is_empty(0) {
                return Ok(());
            }
            let (ends, masks) = arrangements.rows(0);
            for (address, &mask) in naive.iter().enumerate() {
                assert_eq!(masks[first_above(ends, 0, address as u32)], mask);
            }
            let mask = 1 << u.int_in_range(0..=4)?;
            let align = u.int_in_range(1..=5)?;
            let (mut cursor, mut low) = (0, 0);
            for _ in 0..3 {
                low = u
                    .int_in_range(low..=low.max(ADDRESSES as u32))?
                    .next_multiple_of(align);
                let size = u.int_in_range(1..=12)?;
                let starts = Multiples(u64::from(align));
                let got = climb((ends, masks), &mut cursor, mask, low, size, starts);
                let free = |a: usize| naive.get(a).is_none_or(|m| m & mask == 0);
                let fits = |&start: &u32| {
                    start % align == 0 && (start..start + size).all(|a| free(a as usize))
                };
                low = (low..).find(fits).expect("the top is free");
                assert_eq!(got, Some(low));
            }
            Ok(())
        });
    }

    #[test]
    fn what_does_not_fit_below_the_end_has_no_position() {
        let mut arrangements = Arrangements::<u32>::new();
        arrangements.add_tables(1);
        take(&mut arrangements, 0, 1, (0, 10), &mut Vec::new());
        let most = u32::END - 10;
        let search = |size| climb(arrangements.rows(0), &mut 0, 1, 0, size, All);
        assert_eq!(search(most), Some(10));
        assert_eq!(search(most + 1), None);
    }
}
