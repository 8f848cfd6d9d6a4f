//! Sorting by one piece of machine code.
//!
//! The sort of the standard library is compiled anew for every type and every key, some ten
//! kilobytes each time, and this crate sorts in a hundred places; that was a fifth of the library.
//! Here a sort packs each element's key into one integer, together with the element's position,
//! sorts the integers, and moves the elements once. The integers' sort exists once, whatever the
//! elements are; as the positions break ties, every sort is stable. Where they are many, integers
//! are sorted digit by digit, which takes a fixed number of passes and can be stopped between them.
//!
//! Keys of more than 128 bits, and text, are compared through a function pointer instead, which is
//! slower and also exists once. Vectors of plain integers need none of this: the crate has three
//! types of them, and `sort_unstable` says all there is to say. A B-tree that is collected is sorted
//! by a sort of its own; one that is extended is not.
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

    /// The same for what may be many: where the host stops the sort, they are left in any order.
    fn sort_paced_by_key<K: Key>(&mut self, key: impl Fn(&T) -> K, pace: &mut Pace<'_, '_>)
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
        if self.len() <= FEW {
            return insertion_sort(self, |a, b| key(a).packed() < key(b).packed());
        }
        let order = Packed::of(self, 0, &key).order();
        // To gather waits less for memory than to move in place.
        let sorted: Vec<T> = order.iter().map(|&i| self[i as usize]).collect();
        self.copy_from_slice(&sorted);
    }

    fn sort_paced_by_key<K: Key>(&mut self, key: impl Fn(&T) -> K, pace: &mut Pace<'_, '_>)
    where
        T: Copy,
    {
        let mut keys = Packed::of(&self[..0], 0, &key);
        for (some, from) in self.chunks(SOME).zip((0..).step_by(SOME)) {
            if pace.over(some.len() / 4) {
                return;
            }
            keys.append(Packed::of(some, from, &key));
        }
        let order = keys.order_paced(pace);
        let mut sorted = Vec::with_capacity(self.len());
        for some in order.chunks(SOME) {
            if pace.over(some.len()) {
                return;
            }
            sorted.extend(some.iter().map(|&i| self[i as usize]));
        }
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

/// Keys as integers, in the order of their elements.
enum Packed {
    /// With their position in the low 32 bits.
    Narrow(Vec<u128>),
    /// Beside their position.
    Wide(Vec<(u128, u32)>),
}

impl Packed {
    /// The keys of elements that begin at this position.
    fn of<T, K: Key>(elements: &[T], from: usize, key: &impl Fn(&T) -> K) -> Packed {
        const {
            assert!(K::BITS <= 128, "such a key is compared, not packed");
        }
        let keys = elements.iter().map(|element| key(element).packed());
        let keys = keys.zip(from..);
        if K::BITS <= 96 {
            Packed::Narrow(
                keys.map(|(key, i)| key << 32 | u128::from(position(i)))
                    .collect(),
            )
        } else {
            Packed::Wide(keys.map(|(key, i)| (key, position(i))).collect())
        }
    }

    /// Appends the keys of what comes next.
    #[inline(never)]
    fn append(&mut self, next: Packed) {
        match (self, next) {
            (Packed::Narrow(keys), Packed::Narrow(next)) => keys.extend(next),
            (Packed::Wide(keys), Packed::Wide(next)) => keys.extend(next),
            _ => unreachable!("keys of one type are all as wide"),
        }
    }

    /// The positions in the order of the keys.
    #[inline(never)]
    fn order(self) -> Vec<u32> {
        self.order_paced(&mut Pace::free())
    }

    /// The same; in any order where the host stops it, which the pace remembers.
    #[inline(never)]
    fn order_paced(self, pace: &mut Pace<'_, '_>) -> Vec<u32> {
        match self {
            Packed::Narrow(mut keys) => {
                let _ = sort_words(&mut keys, 32, pace);
                keys.into_iter().map(|key| key as u32).collect()
            }
            Packed::Wide(keys) if keys.len() < MANY => by_comparison(keys.len(), &|a, b| {
                keys[a as usize].0.cmp(&keys[b as usize].0)
            }),
            Packed::Wide(mut keys) => {
                let _ = sort_digits(&mut keys, 0, pace);
                keys.into_iter().map(|(_, position)| position).collect()
            }
        }
    }
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

/// An integer that is sorted digit by digit, with whatever stands beside it.
pub(crate) trait Word: Copy + Default + Ord {
    /// The integer.
    fn bits(self) -> u128;

    /// The digit whose lowest bit is this one.
    fn digit(self, lowest: u32) -> usize {
        (self.bits() >> lowest) as usize & (MANY - 1)
    }
}

impl Word for u64 {
    fn bits(self) -> u128 {
        self.into()
    }

    // Half as wide as the other.
    fn digit(self, lowest: u32) -> usize {
        (self >> lowest) as usize & (MANY - 1)
    }
}

impl Word for u128 {
    fn bits(self) -> u128 {
        self
    }
}

impl Word for (u128, u32) {
    fn bits(self) -> u128 {
        self.0
    }
}

/// Sorts words whose low `ordered` bits ascend already: a number and its position, mostly. Where
/// the host stops it, leaves them in any order.
pub(crate) fn sort_words<W: Word>(
    words: &mut Vec<W>,
    ordered: u32,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stop> {
    if words.len() < MANY {
        words.sort_unstable();
        return pace.work(words.len());
    }
    sort_digits(words, ordered, pace)
}

/// Passes from the lowest digit to the highest, each of which keeps the order of the ones before,
/// over the bits in which the words differ at all.
fn sort_digits<W: Word>(
    words: &mut Vec<W>,
    ordered: u32,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stop> {
    let first = words.first().map_or(0, |word| word.bits());
    let mut differing = 0;
    let mut sorted = Vec::with_capacity(words.len());
    for some in words.chunks(SOME) {
        pace.work(some.len())?; // Room that is new is written for the first time.
        let of = |all, word: &W| all | (word.bits() ^ first);
        differing = some.iter().fold(differing, of);
        sorted.resize(sorted.len() + some.len(), W::default());
    }
    // What is left of the bits, and the lowest of them.
    let mut left = differing & u128::MAX << ordered;
    while left > 0 {
        let lowest = left.trailing_zeros();
        left &= u128::MAX.checked_shl(lowest + DIGIT).unwrap_or(0);
        let digit = |word: W| word.digit(lowest);
        let mut starts = [0_u32; MANY];
        for some in words.chunks(SOME) {
            pace.work(some.len() / 2)?;
            for &word in some {
                starts[digit(word)] += 1;
            }
        }
        let mut start = 0;
        for count in &mut starts {
            start += std::mem::replace(count, start);
        }
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
    fn many_elements_are_sorted_as_few_are_and_a_stop_loses_none() {
        use std::cell::Cell;
        for (i, spread) in [1, 7, 1_000, 1 << 33, u64::MAX].into_iter().enumerate() {
            let element = |i: u64| {
                let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % spread;
                (mixed << 12, i as u32 % 5, mixed as u8)
            };
            let rows: Vec<(u64, u32, u8)> = (0..50_000).map(element).collect();
            let mut want = rows.clone();
            want.sort_by_key(|&(a, b, _)| (b, a));
            let mut got = rows.clone();
            got.sort_compact_by_key(|&(a, b, _)| (b, a));
            assert!(got == want, "narrow {spread}");
            let mut got = rows.clone();
            got.sort_paced_by_key(|&(a, b, c)| (b, a, c), &mut Pace::free());
            assert!(got == want, "wide {spread}"); // The last number goes with the first.

            let looks = Cell::new(0);
            let clock = || {
                looks.set(looks.get() + 1);
                std::time::Duration::from_secs(looks.get())
            };
            let control = crate::Control {
                elapsed: Some(&clock),
                deadline: Some(std::time::Duration::from_secs(4 + i as u64)),
                ..crate::Control::default()
            };
            let mut pace = Pace::of(&control);
            let mut got = rows.clone();
            got.sort_paced_by_key(|&(a, b, c)| (b, a, c), &mut pace);
            assert!(pace.is_stopped());
            got.sort_by_key(|&(a, b, _)| (b, a));
            let count =
                |list: &[(u64, u32, u8)]| list.iter().map(|r| u128::from(r.0)).sum::<u128>();
            assert_eq!(count(&got), count(&rows), "{spread}");
        }
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
