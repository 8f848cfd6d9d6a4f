//! At which addresses a location may start.
//!
//! A type for each rule, so that the search for the most common one, none, is compiled without any.

use super::address::Address;

/// A rule for starts, in units. It must be monotone: what is admitted above a lower address is not
/// above what is admitted above a higher one.
pub(super) trait Starts<A: Address>: Copy {
    /// The lowest admitted start at or above `address`; `END` if there is none.
    fn admitted(self, address: A) -> A;

    /// The lowest admitted start at or above `end`, not below the admitted start `position`.
    ///
    /// `end` is above `position`, unless the rule itself has skipped it.
    fn above(self, position: A, end: A) -> A {
        position.max(self.admitted(end))
    }

    /// Whether `size` fits between a position and an end; it does not if the rule has skipped that.
    fn fits(self, position: A, size: A, end: A) -> bool {
        end.beyond(position) >= size
    }
}

/// Any start.
#[derive(Clone, Copy, Debug)]
pub(super) struct All;

impl<A: Address> Starts<A> for All {
    fn admitted(self, address: A) -> A {
        address
    }

    fn above(self, _position: A, end: A) -> A {
        end // Nothing is skipped.
    }

    fn fits(self, position: A, size: A, end: A) -> bool {
        end.minus(position) >= size
    }
}

/// Multiples of an alignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Multiples(pub u64);

impl<A: Address> Starts<A> for Multiples {
    fn admitted(self, address: A) -> A {
        let start = address.get().checked_next_multiple_of(self.0);
        start.and_then(A::new).unwrap_or(A::END)
    }
}

/// Multiples of an alignment from which `size`, at most a page, does not cross into the next
/// page. // P3, P7
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithinPage {
    pub size: u64,
    pub align: u64,
    pub page: u64,
}

impl WithinPage {
    /// The lowest admitted start at or above `start`, if there is one.
    pub fn next(self, start: u64) -> Option<u64> {
        let WithinPage { size, align, page } = self;
        debug_assert!(size <= page);
        let last = page - size; // The last start within a page.
        let start = start.checked_next_multiple_of(align)?;
        if start % page <= last {
            return Some(start);
        }
        if page.is_multiple_of(align) {
            return start.checked_next_multiple_of(page);
        }
        // Hosts may ask for alignments that have nothing to do with pages.
        let to_page = page - start % page;
        let turns = first_multiple_within((align % page, page), (to_page, to_page + last))?;
        start.checked_add(turns.checked_mul(align)?)
    }
}

/// The least `k` for which `low <= step * k mod modulus <= high < modulus`, in as many steps as
/// Euclid's algorithm takes.
fn first_multiple_within((step, modulus): (u64, u64), (low, high): (u64, u64)) -> Option<u64> {
    if low == 0 {
        return Some(0);
    }
    if step == 0 {
        return None;
    }
    let at_once = low.div_ceil(step);
    if u128::from(at_once) * u128::from(step) <= high.into() {
        return Some(at_once);
    }
    // No multiple lies in the range as it is; after `wraps` times round one does.
    let below = |n: u64| (step - n % step) % step;
    let wraps = first_multiple_within((modulus % step, step), (below(high), below(low)))?;
    let reach = u128::from(modulus) * u128::from(wraps) + u128::from(low);
    u64::try_from(reach.div_ceil(step.into())).ok()
}

impl<A: Address> Starts<A> for WithinPage {
    fn admitted(self, address: A) -> A {
        self.next(address.get()).and_then(A::new).unwrap_or(A::END)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_start_within_a_page_is_the_first_of_all_that_are() {
        arbtest::arbtest(|u| {
            let page = u.int_in_range(1..=60)?;
            let size = u.int_in_range(1..=page)?;
            let align = u.int_in_range(1..=150)?;
            let rule = WithinPage { size, align, page };
            let from = u.int_in_range(0..=200)?;
            // What starts and pages have in common comes round after so many bytes.
            let starts = from..from + page * align + align;
            let admitted = |&at: &u64| at.is_multiple_of(align) && at % page + size <= page;
            let want = starts.into_iter().find(admitted);
            assert_eq!(rule.next(from), want, "{rule:?} from {from}");
            Ok(())
        });
    }

    #[test]
    fn an_alignment_beside_a_large_page_costs_no_walk() {
        let page = 512 << 20;
        let rule = WithinPage {
            size: page,
            align: page + 1,
            page,
        };
        assert_eq!(rule.next(1), Some(page * (page + 1)));
        let never = WithinPage {
            align: 3 << 62,
            ..rule
        };
        assert_eq!(never.next((3 << 62) + 1), None);
    }
}
