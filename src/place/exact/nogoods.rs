//! States that are known to have no solution.
//!
//! What is left to do depends on two things only: which items are unplaced, and how low they may
//! start, section by section. A state explored to its end without success is remembered by a hash
//! of the two and of the target. The hash has 128 bits and is fed from fixed random words, so that
//! two states of one search meet with a probability of less than 2^-80: less than that of a fault
//! of the machine. The table has a fixed size; a new state takes the place of the older one of two.

use super::random::Random;

/// A hash of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key([u64; 2]);

impl Key {
    fn add(&mut self, word: [u64; 2], times: u64) {
        for (half, word) in self.0.iter_mut().zip(word) {
            *half = half.wrapping_add(word.wrapping_mul(times));
        }
    }

    /// The key of this state at a target: sums are additive, so they are mixed before they serve.
    pub(super) fn at_target(self, target: u64) -> Key {
        let mix = |half: u64, odd: u64| {
            let mut z = half.wrapping_add(target.wrapping_mul(odd));
            z = (z ^ (z >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z ^ (z >> 32)
        };
        Key([
            mix(self.0[0], 0x9E37_79B9_7F4A_7C15),
            mix(self.0[1], 0xC2B2_AE3D_27D4_EB4F) | 1, // The empty slot is 0.
        ])
    }
}

/// The random words that states are hashed with.
pub(super) struct Words {
    items: Vec<[u64; 2]>,
    sections: Vec<[u64; 2]>,
}

impl Words {
    pub(super) fn new(items: usize, sections: usize) -> Words {
        let mut random = Random::new(0);
        let mut words = |n| {
            (0..n)
                .map(|_| [random.bits() | 1, random.bits() | 1])
                .collect()
        };
        Words {
            items: words(items),
            sections: words(sections),
        }
    }

    pub(super) fn add_item(&self, key: &mut Key, item: usize) {
        key.add(self.items[item], 1);
    }

    pub(super) fn add_floor(&self, key: &mut Key, section: usize, floor: u64) {
        key.add(self.sections[section], floor);
    }
}

/// The states.
pub(super) struct Nogoods {
    slots: Vec<Key>,
}

impl Nogoods {
    /// Room for 2^`bits` states.
    pub(super) fn new(bits: u32) -> Nogoods {
        Nogoods {
            slots: vec![Key::default(); 1 << bits],
        }
    }

    fn pair(&self, key: Key) -> usize {
        key.0[0] as usize & (self.slots.len() - 2)
    }

    pub(super) fn contains(&self, key: Key) -> bool {
        let at = self.pair(key);
        self.slots[at] == key || self.slots[at + 1] == key
    }

    pub(super) fn insert(&mut self, key: Key) {
        let at = self.pair(key);
        if self.slots[at] != key {
            self.slots[at + 1] = self.slots[at];
            self.slots[at] = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_last_is_found() {
        let mut random = Random::new(3);
        let mut nogoods = Nogoods::new(4);
        for _ in 0..1000 {
            let key = Key([random.bits(), random.bits()]).at_target(7);
            assert!(!nogoods.contains(key));
            nogoods.insert(key);
            assert!(nogoods.contains(key));
        }
    }

    #[test]
    fn a_key_is_a_sum_of_its_parts() {
        let words = Words::new(3, 2);
        let (mut a, mut b) = (Key::default(), Key::default());
        words.add_item(&mut a, 1);
        words.add_floor(&mut a, 0, 5);
        words.add_floor(&mut b, 0, 5);
        assert_ne!(a.at_target(1), b.at_target(1));
        words.add_item(&mut b, 1);
        assert_eq!(a, b);
        assert_ne!(a.at_target(1), a.at_target(2));
    }
}
