//! Sorting by one piece of machine code.
//!
//! The sort of the standard library is compiled anew for every type and every key, some ten
//! kilobytes each time, and this crate sorts in a hundred places; that was a fifth of the library.
//! Here a sort packs each element's key into one integer, together with the element's position,
//! sorts the integers, and moves the elements once. The integers' sort exists once, whatever the
//! elements are; it compares without branches, and as the positions break ties, every sort is
//! stable.
//!
//! Keys of more than 128 bits, and text, are compared through a function pointer instead, which is
//! slower and also exists once. Vectors of plain integers need none of this: the crate has three
//! types of them, and `sort_unstable` says all there is to say.
//!
//! # Invariants
//!
//! * **order**: `a < b` exactly if `a.packed() < b.packed()`, and `packed` needs `BITS` bits.

use std::cmp::{Ordering, Reverse};

use crate::control::Stop;
use crate::ir::{BlockId, FlatIndex, MemLocId, Segment, Space};
use crate::pace::{Pace, SOME};
use crate::shared::Member;

/// Up to this many elements are sorted where they lie.
const FEW: usize = 12;

/// What fits in an integer that compares as it does.
pub(crate) trait Key {
    /// How many of the low bits of `packed` are used.
    const BITS: u32;

    /// The integer; see the invariant **order**.
    fn packed(self) -> u128;
}

/// Sorts that cost little code: all of them stable.
pub(crate) trait CompactSort<T> {
    /// Sorts by a key, which is asked for often and should be cheap.
    fn sort_compact_by_key<K: Key>(&mut self, key: impl Fn(&T) -> K)
    where
        T: Copy;

    /// Sorts by a comparison, through a function pointer.
    fn sort_compact_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);

    /// Sorts by the elements themselves.
    fn sort_compact(&mut self)
    where
        T: Key + Copy,
    {
        self.sort_compact_by_key(|&element| element);
    }
}

impl<T> CompactSort<T> for [T] {
    fn sort_compact_by_key<K: Key>(&mut self, key: impl Fn(&T) -> K)
    where
        T: Copy,
    {
        const {
            assert!(K::BITS <= 128, "such a key is compared, not packed");
        }
        if self.len() <= FEW {
            return insertion_sort(self, |a, b| key(a).packed() < key(b).packed());
        }
        let keys = self.iter().map(|element| key(element).packed());
        let order = if K::BITS <= 96 {
            narrow(
                keys.zip(0..)
                    .map(|(key, i)| key << 32 | u128::from(position(i)))
                    .collect(),
            )
        } else {
            wide(keys.zip(0..).map(|(key, i)| (key, position(i))).collect())
        };
        // To gather waits less for memory than to move in place.
        let sorted: Vec<T> = order.iter().map(|&i| self[i as usize]).collect();
        self.copy_from_slice(&sorted);
    }

    fn sort_compact_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        if self.len() <= FEW {
            return insertion_sort(self, |a, b| compare(a, b).is_lt());
        }
        let order = by_comparison(self.len(), &|a, b| {
            compare(&self[a as usize], &self[b as usize])
        });
        arrange(self, order);
    }
}

fn position(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^32 elements")
}

/// The positions in the order of keys that carry their position in the low 32 bits.
#[inline(never)]
fn narrow(mut keys: Vec<u128>) -> Vec<u32> {
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

#[inline(never)]
fn wide(mut keys: Vec<(u128, u32)>) -> Vec<u32> {
    keys.sort_unstable();
    keys.into_iter().map(|(_, position)| position).collect()
}

#[inline(never)]
fn by_comparison(len: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len).map(position).collect();
    order.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    order
}

fn insertion_sort<T>(elements: &mut [T], less: impl Fn(&T, &T) -> bool) {
    for end in 1..elements.len() {
        let mut at = end;
        while at > 0 && less(&elements[at], &elements[at - 1]) {
            elements.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Moves to each position the element whose position stands there, cycle by cycle.
pub(crate) fn arrange<T>(elements: &mut [T], mut order: Vec<u32>) {
    for start in 0..order.len() {
        let mut to = start;
        loop {
            let from = std::mem::replace(&mut order[to], to as u32) as usize;
            if from == start {
                break; // What was displaced first has arrived.
            }
            elements.swap(to, from);
            to = from;
        }
    }
}

/// Bits by which words are told apart in one pass.
const DIGIT: u32 = 11;

/// Fewer words than this are sorted by comparison.
const MANY: usize = 1 << DIGIT;

/// Sorts words whose low `ordered` bits ascend already: a number and its position, mostly. Where
/// the host stops it, leaves them in any order.
///
/// Passes from the lowest digit to the highest, each of which keeps the order of the ones before,
/// over the bits in which the words differ at all.
pub(crate) fn sort_words(
    words: &mut Vec<u64>,
    ordered: u32,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stop> {
    if words.len() < MANY {
        words.sort_unstable();
        return pace.work(words.len());
    }
    let key = |word: u64| word >> ordered;
    let (mut least, mut most) = (u64::MAX, 0);
    for &word in &*words {
        (least, most) = (least.min(key(word)), most.max(key(word)));
    }
    let bits = u64::BITS - (most - least).leading_zeros();
    let mut sorted = Vec::new();
    for pass in 0..bits.div_ceil(DIGIT) {
        let digit = |word: u64| (((key(word) - least) >> (pass * DIGIT)) as usize) & (MANY - 1);
        let mut starts = [0_u32; MANY];
        for some in words.chunks(SOME) {
            pace.work(some.len() / 4)?;
            for &word in some {
                starts[digit(word)] += 1;
            }
        }
        let mut start = 0;
        for count in &mut starts {
            start += std::mem::replace(count, start);
        }
        sorted.resize(words.len(), 0);
        for some in words.chunks(SOME) {
            pace.work(some.len())?;
            for &word in some {
                let at = &mut starts[digit(word)];
                sorted[*at as usize] = word;
                *at += 1;
            }
        }
        std::mem::swap(words, &mut sorted);
    }
    Ok(())
}

macro_rules! unsigned {
    ($($type:ty),+) => {
        $(impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            fn packed(self) -> u128 {
                self as u128
            }
        })+
    };
}
unsigned!(u8, u32, u64, usize, u128);

impl Key for bool {
    const BITS: u32 = 1;

    fn packed(self) -> u128 {
        self.into()
    }
}

impl<K: Key> Key for Option<K> {
    const BITS: u32 = K::BITS + 1;

    fn packed(self) -> u128 {
        self.map_or(0, |key| 1 << K::BITS | key.packed())
    }
}

impl Key for i64 {
    const BITS: u32 = 64;

    fn packed(self) -> u128 {
        u128::from(self as u64 ^ 1 << 63)
    }
}

impl Key for Space {
    const BITS: u32 = 8;

    fn packed(self) -> u128 {
        self as u128
    }
}

impl Key for Member {
    const BITS: u32 = 96;

    fn packed(self) -> u128 {
        (self.module, self.function, self.loc).packed()
    }
}

impl Key for Segment {
    const BITS: u32 = 64;

    fn packed(self) -> u128 {
        (self.first(), self.last()).packed()
    }
}

macro_rules! index {
    ($($type:ty),+) => {
        $(impl Key for $type {
            const BITS: u32 = 32;

            fn packed(self) -> u128 {
                self.0.into()
            }
        })+
    };
}
index!(BlockId, FlatIndex, MemLocId);

impl<K: Key> Key for Reverse<K> {
    const BITS: u32 = K::BITS;

    fn packed(self) -> u128 {
        self.0.packed() ^ (u128::MAX >> (128 - K::BITS))
    }
}

impl<A: Key, B: Key> Key for (A, B) {
    const BITS: u32 = A::BITS + B::BITS;

    fn packed(self) -> u128 {
        self.0.packed() << B::BITS | self.1.packed()
    }
}

impl<A: Key, B: Key, C: Key> Key for (A, B, C) {
    const BITS: u32 = A::BITS + B::BITS + C::BITS;

    fn packed(self) -> u128 {
        ((self.0, self.1), self.2).packed()
    }
}

impl<A: Key, B: Key, C: Key, D: Key> Key for (A, B, C, D) {
    const BITS: u32 = A::BITS + B::BITS + C::BITS + D::BITS;

    fn packed(self) -> u128 {
        ((self.0, self.1), (self.2, self.3)).packed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (u32, i64, bool);

    #[test]
    fn every_sort_does_what_the_stable_sort_of_the_standard_library_does() {
        arbtest::arbtest(|u| {
            let mut rows: Vec<(Row, usize)> = Vec::new();
            for i in 0..u.int_in_range(0..=60)? {
                let extreme = *u.choose(&[i64::MIN, -1, 0, 1, i64::MAX])?;
                rows.push(((u.int_in_range(0..=3)?, extreme, u.arbitrary()?), i));
            }
            let mut want = rows.clone();
            want.sort_by_key(|&(row, _)| row);

            let mut got = rows.clone();
            got.sort_compact_by_key(|&(row, _)| row);
            assert_eq!(got, want, "narrow keys");
            let mut got = rows.clone();
            got.sort_compact_by_key(|&((a, b, _), _)| (u64::from(a), b));
            want.sort_by_key(|&((a, b, _), i)| (a, b, i));
            assert_eq!(got, want, "wide keys");
            let mut got = rows.clone();
            got.sort_compact_by(|(a, _), (b, _)| b.0.cmp(&a.0));
            want.sort_by_key(|&((a, ..), i)| (Reverse(a), i));
            assert_eq!(got, want, "comparisons");
            let mut got = rows.clone();
            got.sort_compact_by_key(|&((a, b, _), _)| (Reverse(b), a, Reverse(a == 1)));
            want.sort_by_key(|&((a, b, _), i)| (Reverse(b), a, i));
            assert_eq!(got, want, "reversed keys");
            Ok(())
        });
    }

    #[test]
    fn packed_keys_compare_as_the_keys_do() {
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
        let keys = || ends.iter().flat_map(|&a| [0, 1, u64::MAX].map(|b| (a, b)));
        for a in keys() {
            for b in keys() {
                assert_eq!(a.packed().cmp(&b.packed()), a.cmp(&b), "{a:?} {b:?}");
                let (a, b) = (Reverse(a), Reverse(b));
                assert_eq!(a.packed().cmp(&b.packed()), a.cmp(&b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn many_words_are_sorted_as_few_are() {
        for (spread, shift) in [(1, 0), (3, 5), (1_000_003, 0), (u64::MAX, 1), (1 << 40, 23)] {
            let word = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % spread) << shift;
            let mut words: Vec<u64> = (0..100_000).map(word).collect();
            let mut want = words.clone();
            want.sort_unstable();
            assert_eq!(sort_words(&mut words, 0, &mut Pace::free()), Ok(()));
            assert!(words == want, "{spread} {shift}");
            for ordered in [17, 32] {
                let position = |(i, &word): (u64, &u64)| word << ordered | i;
                let numbers: Vec<u64> = (0..100_000).map(word).collect();
                let mut words: Vec<u64> = (0..).zip(&numbers).map(position).collect();
                let mut want = words.clone();
                want.sort_unstable();
                assert_eq!(sort_words(&mut words, ordered, &mut Pace::free()), Ok(()));
                assert!(words == want, "{spread} {shift} {ordered}");
            }
        }
    }
}
