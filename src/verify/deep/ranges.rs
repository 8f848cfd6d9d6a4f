//! What lies on which bytes: a map from disjoint byte ranges to values.
//!
//! Bytes are never listed one by one, so a location of many gigabytes costs what one of a byte
//! does. Whoever writes a range replaces what was there; what is cut stays on both sides. Each
//! write adds at most two pieces and a piece is removed once, so `n` writes and reads that meet
//! `k` pieces cost `O((n + k) log n)`.

use std::collections::BTreeMap;

/// Values on disjoint ranges of bytes; a byte without a value lies in a gap.
#[derive(Clone, Debug)]
pub(super) struct Ranges<V> {
    /// By first byte: one past the last byte, and the value. No piece is empty.
    pieces: BTreeMap<u64, (u64, V)>,
}

impl<V> Default for Ranges<V> {
    fn default() -> Self {
        Ranges {
            pieces: BTreeMap::new(),
        }
    }
}

impl<V: Clone> Ranges<V> {
    /// Puts a value on `[start, end)`, or none.
    pub fn set(&mut self, start: u64, end: u64, value: Option<V>) {
        if start >= end {
            return;
        }
        // Most writes replace what another one of the same range has left.
        if let Some((old_end, old)) = self.pieces.get_mut(&start)
            && *old_end == end
            && let Some(value) = &value
        {
            *old = value.clone();
            return;
        }
        self.cut(start);
        self.cut(end);
        while let Some((&at, _)) = self.pieces.range(start..end).next() {
            self.pieces.remove(&at);
        }
        if let Some(value) = value {
            self.pieces.insert(start, (end, value));
        }
    }

    /// Tells the pieces of `[start, end)` in order, gaps as `None`.
    pub fn visit(&self, start: u64, end: u64, mut tell: impl FnMut(u64, u64, Option<&V>)) {
        if start >= end {
            return;
        }
        let before = self.pieces.range(..=start).next_back();
        let first = before.filter(|(_, (to, _))| *to > start);
        let from = first.map_or(start, |(&at, _)| at);
        let mut at = start;
        for (&from, (to, value)) in self.pieces.range(from..end) {
            let (lo, hi) = (from.max(start), (*to).min(end));
            if at < lo {
                tell(at, lo, None);
            }
            tell(lo, hi, Some(value));
            at = hi;
        }
        if at < end {
            tell(at, end, None);
        }
    }

    /// Changes the value of every piece of `[start, end)`, gaps included.
    pub fn change(&mut self, start: u64, end: u64, mut change: impl FnMut(Option<&V>) -> V) {
        if start >= end {
            return;
        }
        self.cut(start);
        self.cut(end);
        let mut gaps = Vec::new();
        let mut at = start;
        for (&from, (to, value)) in self.pieces.range_mut(start..end) {
            if at < from {
                gaps.push((at, from));
            }
            *value = change(Some(value));
            at = *to;
        }
        if at < end {
            gaps.push((at, end));
        }
        for (from, to) in gaps {
            self.pieces.insert(from, (to, change(None)));
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Makes a piece boundary of `at`, if it lies inside a piece.
    fn cut(&mut self, at: u64) {
        let Some((_, (end, value))) = self.pieces.range_mut(..at).next_back() else {
            return;
        };
        if *end > at {
            let tail = (*end, value.clone());
            *end = at;
            self.pieces.insert(at, tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_what_was_last_put_on_it() {
        arbtest::arbtest(|u| {
            let mut ranges = Ranges::default();
            let mut bytes = [None::<u8>; 24];
            for _ in 0..u.int_in_range(0..=12)? {
                let start: usize = u.int_in_range(0..=24)?;
                let end: usize = u.int_in_range(start..=24)?;
                let value: u8 = u.int_in_range(0..=3)?;
                match u.int_in_range(0..=3)? {
                    0 => {
                        ranges.set(start as u64, end as u64, None);
                        bytes[start..end].fill(None);
                    }
                    1 => {
                        let next = |old: Option<u8>| old.map_or(value, |v| v.wrapping_add(1));
                        ranges.change(start as u64, end as u64, |old| next(old.copied()));
                        bytes[start..end]
                            .iter_mut()
                            .for_each(|b| *b = Some(next(*b)));
                    }
                    _ => {
                        ranges.set(start as u64, end as u64, Some(value));
                        bytes[start..end].fill(Some(value));
                    }
                }
                let (from, to) = (u.int_in_range(0..=24)?, u.int_in_range(0..=24)?);
                let mut got = Vec::new();
                let mut at = from as u64;
                ranges.visit(from as u64, to as u64, |lo, hi, value| {
                    assert_eq!(lo, at, "no byte is left out or told twice");
                    assert!(lo < hi);
                    at = hi;
                    got.extend((lo..hi).map(|_| value.copied()));
                });
                let want: Vec<Option<u8>> = bytes[from.min(to)..to].to_vec();
                assert_eq!(got, want);
            }
            Ok(())
        });
    }

    #[test]
    fn the_last_byte_of_the_address_space_is_one_like_any_other() {
        let mut ranges = Ranges::default();
        ranges.set(u64::MAX - 2, u64::MAX, Some('a'));
        ranges.set(0, 1, Some('b'));
        let mut got = Vec::new();
        ranges.visit(0, u64::MAX, |lo, hi, value| {
            got.push((lo, hi, value.copied()))
        });
        let want = [
            (0, 1, Some('b')),
            (1, u64::MAX - 2, None),
            (u64::MAX - 2, u64::MAX, Some('a')),
        ];
        assert_eq!(got, want);
    }
}
