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

/// Multiples of an alignment from which `size` does not cross into the next page. // P3
#[derive(Clone, Copy, Debug)]
pub(super) struct WithinPage {
    pub size: u64,
    pub align: u64,
    pub page: u64,
}

impl WithinPage {
    /// The lowest admitted start at or above `start`, if there is one.
    pub fn next(self, start: u64) -> Option<u64> {
        let mut start = start.checked_next_multiple_of(self.align)?;
        // Multiples of the alignment come by a page start within `page` turns.
        while start % self.page + self.size > self.page {
            start = start.checked_next_multiple_of(self.page)?;
            start = start.checked_next_multiple_of(self.align)?;
        }
        Some(start)
    }
}

impl<A: Address> Starts<A> for WithinPage {
    fn admitted(self, address: A) -> A {
        self.next(address.get()).and_then(A::new).unwrap_or(A::END)
    }
}
