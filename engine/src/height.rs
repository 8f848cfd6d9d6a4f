//! Heights as floating-point numbers.
//!
//! Whole numbers up to 2^53 are exact in them, sums and differences too, and so the same on every
//! host. Every processor of 64 bits compares several of them at once; of whole numbers of that width
//! the simplest ones do not.

use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A height or a size: a whole number of units, or infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Height(f64);

impl Height {
    /// Above every height.
    pub const INFINITE: Height = Height(f64::INFINITY);

    /// The greatest number of units: the sum of two heights is exact.
    pub const MAX_UNITS: u64 = 1 << 52;

    /// The height of so many units; infinite if they exceed [`Height::MAX_UNITS`].
    pub fn from_units(units: u64) -> Height {
        match units <= Height::MAX_UNITS {
            true => Height(units as f64),
            false => Height::INFINITE,
        }
    }

    /// How many units; of an infinite height `u64::MAX`.
    pub fn units(self) -> u64 {
        self.0 as u64
    }

    /// The higher one.
    #[inline]
    pub fn max(self, other: Height) -> Height {
        if self.0 > other.0 { self } else { other }
    }

    /// The lower one.
    #[inline]
    pub fn min(self, other: Height) -> Height {
        if self.0 < other.0 { self } else { other }
    }
}

impl Add for Height {
    type Output = Height;

    #[inline]
    fn add(self, other: Height) -> Height {
        Height(self.0 + other.0)
    }
}

impl Sub for Height {
    type Output = Height;

    #[inline]
    fn sub(self, other: Height) -> Height {
        Height(self.0 - other.0)
    }
}

impl AddAssign for Height {
    #[inline]
    fn add_assign(&mut self, other: Height) {
        *self = *self + other;
    }
}

impl SubAssign for Height {
    #[inline]
    fn sub_assign(&mut self, other: Height) {
        *self = *self - other;
    }
}
