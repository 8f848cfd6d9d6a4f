//! A map in the order of its keys that costs little code.
//!
//! `std::collections::BTreeMap` is compiled anew for every pair of types, some four kilobytes each
//! time. Here a key is packed into an integer, as in `sorting`; one tree of integers, compiled
//! once, says where in a vector the entry lies. It behaves as the map of the standard library does,
//! at about its speed.
//!
//! # Invariants
//!
//! * **index**: the tree holds the packed key of every entry, with its position, and nothing else.

use std::collections::{BTreeMap, btree_map};
use std::ops::Index;

use crate::sorting::{Key, arrange};

/// A map whose keys pack into integers.
#[derive(Clone, Debug)]
pub(crate) struct OrderedMap<K, V> {
    index: BTreeMap<u128, u32>,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> OrderedMap<K, V> {
        OrderedMap::new()
    }
}

/// The position of `key`; `next` if it is new, and then it is there.
#[inline(never)]
fn position(index: &mut BTreeMap<u128, u32>, key: u128, next: usize) -> usize {
    let next = u32::try_from(next).expect("fewer than 2^32 entries");
    *index.entry(key).or_insert(next) as usize
}

impl<K, V> OrderedMap<K, V> {
    /// Nothing yet.
    pub(crate) const fn new() -> OrderedMap<K, V> {
        OrderedMap {
            index: BTreeMap::new(),
            entries: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.index.clear();
        self.entries.clear();
    }

    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        Iter {
            positions: self.index.values(),
            entries: &self.entries,
        }
    }

    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&K, &mut V)> {
        self.settle();
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub(crate) fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn into_values(self) -> impl ExactSizeIterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// Brings the entries into the order of their keys.
    fn settle(&mut self) {
        let order = self.index.values().copied().collect();
        arrange(&mut self.entries, order);
        for (position, at) in (0..).zip(self.index.values_mut()) {
            *at = position;
        }
    }
}

impl<K: Key + Copy, V> OrderedMap<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let at = *self.index.get(&key.packed())?;
        Some(&self.entries[at as usize].1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let at = *self.index.get(&key.packed())?;
        Some(&mut self.entries[at as usize].1)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.index.contains_key(&key.packed())
    }

    /// The value of a key, and where to put one if there is none.
    pub(crate) fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let at = position(&mut self.index, key.packed(), self.entries.len());
        Entry {
            entries: &mut self.entries,
            at,
            key,
        }
    }

    /// Puts a value in the place of the one before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let at = position(&mut self.index, key.packed(), self.entries.len());
        match self.entries.get_mut(at) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.entries.push((key, value));
                None
            }
        }
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.index.remove(&key.packed())?;
        let (_, value) = self.entries.swap_remove(at as usize);
        if let Some((moved, _)) = self.entries.get(at as usize) {
            self.index.insert(moved.packed(), at);
        }
        Some(value)
    }

    /// Keeps the entries of which `keep` says so.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.settle();
        self.entries.retain_mut(|(key, value)| keep(key, value));
        self.index.clear();
        let keys = self.entries.iter().map(|(key, _)| key.packed());
        self.index.extend(keys.zip(0..));
    }
}

/// A place for a value. It must be filled: the index knows of it.
#[must_use]
pub(crate) struct Entry<'m, K, V> {
    entries: &'m mut Vec<(K, V)>,
    at: usize,
    key: K,
}

impl<'m, K: Copy, V> Entry<'m, K, V> {
    pub(crate) fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Some((_, value)) = self.entries.get_mut(self.at) {
            change(value);
        }
        self
    }

    pub(crate) fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        if self.at == self.entries.len() {
            self.entries.push((self.key, value()));
        }
        &mut self.entries[self.at].1
    }

    pub(crate) fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    pub(crate) fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &OrderedMap<K, V>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for OrderedMap<K, V> {}

impl<K: Key + Copy, V> Index<&K> for OrderedMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is there")
    }
}

impl<K: Key + Copy, V> Extend<(K, V)> for OrderedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Key + Copy, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> OrderedMap<K, V> {
        let mut map = OrderedMap::new();
        map.extend(entries);
        map
    }
}

/// Entries in the order of their keys.
#[derive(Clone)]
pub(crate) struct Iter<'m, K, V> {
    positions: btree_map::Values<'m, u128, u32>,
    entries: &'m [(K, V)],
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = &self.entries[*self.positions.next()? as usize];
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<'m, K, V> IntoIterator for &'m OrderedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.iter()
    }
}

impl<K, V> IntoIterator for OrderedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.settle();
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_what_the_map_of_the_standard_library_does() {
        arbtest::arbtest(|u| {
            let mut want: BTreeMap<(u32, bool), u32> = BTreeMap::new();
            let mut got: OrderedMap<(u32, bool), u32> = OrderedMap::new();
            for value in 0..u.int_in_range(0..=40)? {
                let key = (u.int_in_range(0..=5)?, u.arbitrary()?);
                match u.int_in_range(0..=7)? {
                    0 => assert_eq!(got.insert(key, value), want.insert(key, value)),
                    1 => {
                        got.retain(|&k, v| k != key && *v != value);
                        want.retain(|&k, v| k != key && *v != value);
                    }
                    2 => {
                        assert_eq!(got.get(&key), want.get(&key));
                        assert_eq!(got.get_mut(&key), want.get_mut(&key));
                    }
                    3 => {
                        got.entry(key).and_modify(|v| *v += 1).or_insert(value);
                        want.entry(key).and_modify(|v| *v += 1).or_insert(value);
                    }
                    5 => assert_eq!(got.remove(&key), want.remove(&key)),
                    6 if u.ratio(1, 4)? => {
                        got.clear();
                        want.clear();
                    }
                    4 => {
                        got.values_mut().for_each(|v| *v += value);
                        want.values_mut().for_each(|v| *v += value);
                    }
                    _ => {
                        *got.entry(key).or_default() += value;
                        *want.entry(key).or_default() += value;
                    }
                }
                assert_eq!(got.contains_key(&key), want.contains_key(&key));
                assert_eq!((got.len(), got.is_empty()), (want.len(), want.is_empty()));
                assert!(got.iter().eq(want.iter()), "{got:?} {want:?}");
                assert!(got.keys().eq(want.keys()) && got.values().eq(want.values()));
            }
            let again: OrderedMap<_, _> = want.iter().rev().map(|(&k, &v)| (k, v)).collect();
            assert_eq!(got, again);
            assert!(got.into_iter().eq(want));
            Ok(())
        });
    }
}
