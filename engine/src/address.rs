//! Addresses in one of two widths. Half as wide, twice as many in a cache line and a register.

/// An address in units of the engine.
pub(super) trait Address: Copy + Ord + Default + Into<u64> + std::fmt::Debug {
    /// Where the last interval of every table ends: past everything that can be placed.
    const END: Self;

    /// The address, if it lies before `END`.
    fn new(address: u64) -> Option<Self>;

    /// The address.
    fn get(self) -> u64;

    /// How far it is from `other` on, which does not lie behind it.
    fn minus(self, other: Self) -> Self;

    /// How far it is from `other` on; 0 if it lies before.
    fn beyond(self, other: Self) -> Self;
}

impl Address for u32 {
    const END: u32 = u32::MAX;

    fn new(address: u64) -> Option<u32> {
        u32::try_from(address).ok().filter(|&a| a < u32::END)
    }

    fn get(self) -> u64 {
        self.into()
    }

    fn minus(self, other: u32) -> u32 {
        self - other
    }

    fn beyond(self, other: u32) -> u32 {
        self.saturating_sub(other)
    }
}

impl Address for u64 {
    const END: u64 = u64::MAX;

    fn new(address: u64) -> Option<u64> {
        Some(address).filter(|&a| a < u64::END)
    }

    fn get(self) -> u64 {
        self
    }

    fn minus(self, other: u64) -> u64 {
        self - other
    }

    fn beyond(self, other: u64) -> u64 {
        self.saturating_sub(other)
    }
}
