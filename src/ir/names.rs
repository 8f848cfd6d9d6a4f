//! Interned strings: each text stored once, found again in constant time.
//!
//! The table is only ever asked, never iterated in hash order, so results cannot depend on it. // S4

use std::hash::{DefaultHasher, Hasher};

use hashbrown::HashTable;

/// A list of distinct strings, numbered in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Names {
    text: String,
    ends: Vec<usize>,
    index: HashTable<Entry>,
    /// What was asked for last: the same opcode often comes many times in a row.
    last: u32,
}

/// A name's number, and enough of its hash to tell it from almost all others and to move it when
/// the table grows: neither reads the text, which lies elsewhere.
#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    number: u32,
}

fn hash(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new(); // SipHash with fixed keys.
    hasher.write(name.as_bytes());
    hasher.finish() as u32
}

/// The table looks at the highest and the lowest bits of 64; Fibonacci hashing fills them all.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Names {
    /// Makes room for `additional` names.
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.ends.reserve(additional);
        self.index.reserve(additional, |entry| spread(entry.hash));
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of number `i`.
    pub(crate) fn get(&self, i: u32) -> &str {
        at(&self.text, &self.ends, i)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let hash = hash(name);
        let same = |entry: &Entry| entry.hash == hash && self.get(entry.number) == name;
        self.index.find(spread(hash), same).map(|e| e.number)
    }

    /// The number of `name`, and whether it is new.
    pub(crate) fn intern(&mut self, name: &str) -> (u32, bool) {
        let Self {
            text,
            ends,
            index,
            last,
        } = self;
        if (*last as usize) < ends.len() && at(text, ends, *last) == name {
            return (*last, false);
        }
        let hash = hash(name);
        let same = |entry: &Entry| entry.hash == hash && at(text, ends, entry.number) == name;
        if let Some(entry) = index.find(spread(hash), same) {
            *last = entry.number;
            return (entry.number, false);
        }
        let number = u32::try_from(ends.len()).expect("fewer than 2^32 names");
        text.push_str(name);
        ends.push(text.len());
        let entry = Entry { hash, number };
        index.insert_unique(spread(hash), entry, |entry| spread(entry.hash));
        *last = number;
        (number, true)
    }

    /// Forgets every name from number `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for i in (len..self.ends.len()).rev() {
            let hash = hash(at(&self.text, &self.ends, i as u32));
            let same = |entry: &Entry| entry.number as usize == i;
            if let Ok(entry) = self.index.find_entry(spread(hash), same) {
                entry.remove();
            }
        }
        self.ends.truncate(len);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

fn at<'a>(text: &'a str, ends: &[usize], i: u32) -> &'a str {
    let i = i as usize;
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &text[start..ends[i]]
}

impl PartialEq for Names {
    fn eq(&self, other: &Names) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries((0..self.len() as u32).map(|i| self.get(i)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number_and_a_forgotten_one_is_free_again() {
        let mut names = Names::default();
        assert_eq!(names.intern("a"), (0, true));
        assert_eq!(names.intern(""), (1, true));
        assert_eq!(names.intern("bc"), (2, true));
        assert_eq!(names.intern("a"), (0, false));
        assert_eq!((names.get(0), names.get(1), names.get(2)), ("a", "", "bc"));
        names.truncate(1);
        assert_eq!(names.find("bc"), None);
        assert_eq!(names.find("a"), Some(0));
        assert_eq!(names.intern("bc"), (1, true));
    }
}
