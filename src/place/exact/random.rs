//! Repeatable random numbers. // S4

/// A xorshift64* generator (Marsaglia, *Xorshift RNGs*, 2003; Vigna's multiplier).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of `seed`; every seed gives another sequence.
    pub(crate) fn new(seed: u64) -> Random {
        // One round of splitmix64, so that small seeds do not start alike; the state is never 0.
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Random((z ^ (z >> 31)) | 1)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // The high half of the product is uniform enough for choosing; the bias is below 2^-32
        // for every limit in use.
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `[-1, 1)`; exactly the same on every host.
    pub(crate) fn signed_unit(&mut self) -> f32 {
        let bits = (self.bits() >> 40) as i32 - (1 << 23);
        bits as f32 / (1 << 23) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_ranges_and_repeat() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        for _ in 0..1000 {
            assert_eq!(a.bits(), b.bits());
            assert!(a.below(3) < 3);
            b.bits();
            let x = a.signed_unit();
            b.bits();
            assert!((-1.0..1.0).contains(&x));
        }
        assert_ne!(Random::new(0).bits(), Random::new(1).bits());
    }
}
