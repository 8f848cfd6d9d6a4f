//! The number types that heights come in: narrow ones let the bound of a node, which is most of
//! the work, find more sections in a cache line.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A height or a size in units.
pub(super) trait Height:
    Copy + Debug + Default + Ord + Add<Output = Self> + AddAssign + Sub<Output = Self> + SubAssign
{
    /// Above every height. A sum of it and a target does not overflow.
    const INFINITE: Self;

    /// The greatest target that this type can serve: starts and sizes stay within it, sums of two
    /// of them below [`Height::INFINITE`].
    const MAX_TARGET: u64;

    /// The height of so many units; infinite if they exceed [`Height::MAX_TARGET`].
    fn from_units(units: u64) -> Self;

    /// How many units.
    fn units(self) -> u64;
}

macro_rules! height {
    ($($type:ty),*) => {$(
        impl Height for $type {
            const INFINITE: Self = <$type>::MAX / 2;
            const MAX_TARGET: u64 = (<$type>::MAX / 4) as u64;

            fn from_units(units: u64) -> Self {
                if units > Self::MAX_TARGET { Self::INFINITE } else { units as $type }
            }

            fn units(self) -> u64 {
                debug_assert!(self >= 0, "heights count from 0");
                self as u64
            }
        }
    )*};
}

height!(i32, i64);
