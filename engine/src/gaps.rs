//! Which addresses are free over the whole of a span of time: sorted gaps.
//!
//! What is taken is taken over the whole span, so there are no masks, only the gaps between. A
//! location that lives through the span and seeks a place looks at gaps alone, and each in one
//! comparison, independent of the one before.
//!
//! # Invariants
//!
//! * **order**: gaps ascend, are not empty and do not touch, and the last ends at `Address::END`.
//!
//! A list without gaps stands for one that is free everywhere.

use super::address::Address;
use super::arena::Arena;
use super::arrangement::first_above;
use super::starts::Starts;

/// Gap lists, by number: starts and ends.
pub(super) type GapLists<A> = Arena<A, A>;

/// The lowest position at or above `position` from which `size` addresses are free. `None`: not
/// below the end.
///
/// `cursor` is where the search left off; positions of later searches must not be lower.
pub(super) fn climb<A: Address>(
    (froms, ends): (&[A], &[A]),
    cursor: &mut u32,
    position: A,
    size: A,
    starts: impl Starts<A>,
) -> Option<A> {
    let first = first_above(ends, *cursor as usize, position);
    let ahead = froms[first..].iter().zip(&ends[first..]);
    for (i, (&from, &end)) in ahead.enumerate() {
        let start = if from > position {
            starts.above(position, from)
        } else {
            position
        };
        if starts.fits(start, size, end) {
            *cursor = (first + i) as u32;
            return Some(start);
        }
    }
    None
}

/// Takes the addresses `start..end`, free or not.
pub(super) fn take<A: Address>(lists: &mut GapLists<A>, number: u32, (start, end): (A, A)) {
    debug_assert!(start < end && end < A::END);
    if lists.is_empty(number) {
        lists.splice(number, 0, 0, &[(A::default(), A::END)]);
    }
    let (starts, ends) = lists.rows_mut(number);
    let first = first_above(ends, 0, start);
    let (from, to) = (starts[first], ends[first]); // The last gap ends above everything.
    if from < start && end <= to {
        // The common case: one gap, cut short or in two.
        ends[first] = start;
        if end < to {
            lists.splice(number, first + 1, first + 1, &[(end, to)]);
        }
        return;
    }
    if from == start && end < to {
        starts[first] = end;
        return;
    }
    let past = first + starts[first..].iter().take_while(|&&s| s < end).count();
    let mut left = [(A::default(), A::default()); 2];
    let mut count = 0;
    if past > first {
        for gap in [(from, start), (end, ends[past - 1])] {
            if gap.0 < gap.1 {
                left[count] = gap;
                count += 1;
            }
        }
    }
    lists.splice(number, first, past, &left[..count]);
}

#[cfg(test)]
pub(super) fn check_invariants<A: Address>(lists: &GapLists<A>, number: u32) {
    let (starts, ends) = lists.rows(number);
    assert!(starts.iter().zip(ends).all(|(s, e)| s < e), "order");
    assert!(
        ends.iter().zip(starts.iter().skip(1)).all(|(e, s)| e < s),
        "order"
    );
    assert!(ends.last().is_none_or(|&e| e == A::END), "order");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starts::Multiples;

    #[test]
    fn gaps_are_what_one_flag_per_address_leaves() {
        arbtest::arbtest(|u| {
            const ADDRESSES: usize = 80;
            let mut taken = [false; ADDRESSES];
            let mut lists = GapLists::<u64>::new();
            lists.add_tables(1);
            for _ in 0..u.int_in_range(1..=14)? {
                let start = u.int_in_range(0..=ADDRESSES - 2)?;
                let end = u.int_in_range(start + 1..=(ADDRESSES - 1).min(start + 20))?;
                take(&mut lists, 0, (start as u64, end as u64));
                taken[start..end].fill(true);
                check_invariants(&lists, 0);
            }
            let (starts, ends) = lists.rows(0);
            for (address, &taken) in taken.iter().enumerate() {
                let gap = first_above(ends, 0, address as u64);
                assert_eq!(starts[gap] > address as u64, taken, "{address}");
            }
            let align = u.int_in_range(1..=5)?;
            let (mut cursor, mut low) = (0, 0);
            for _ in 0..3 {
                low = u
                    .int_in_range(low..=low.max(ADDRESSES as u64))?
                    .next_multiple_of(align);
                let size = u.int_in_range(1..=12)?;
                let multiples = Multiples(align);
                let got = climb((starts, ends), &mut cursor, low, size, multiples);
                let free = |a: u64| taken.get(a as usize) != Some(&true);
                let fits = |&start: &u64| start % align == 0 && (start..start + size).all(free);
                low = (low..).find(fits).expect("the top is free");
                assert_eq!(got, Some(low));
            }
            Ok(())
        });
    }
}
