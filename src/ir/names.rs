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
    index: HashTable<u32>,
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new(); // SipHash with fixed keys.
    hasher.write(name.as_bytes());
    hasher.finish()
}

impl Names {
    /// Makes room for `additional` names.
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.ends.reserve(additional);
        let Self { text, ends, index } = self;
        index.reserve(additional, |&i| hash(at(text, ends, i)));
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of number `i`.
    pub(crate) fn get(&self, i: u32) -> &str {
        at(&self.text, &self.ends, i)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.index
            .find(hash(name), |&i| self.get(i) == name)
            .copied()
    }

    /// The number of `name`, and whether it is new.
    pub(crate) fn intern(&mut self, name: &str) -> (u32, bool) {
        let Self { text, ends, index } = self;
        let hashed = hash(name);
        if let Some(&i) = index.find(hashed, |&i| at(text, ends, i) == name) {
            return (i, false);
        }
        let new = u32::try_from(ends.len()).expect("fewer than 2^32 names");
        text.push_str(name);
        ends.push(text.len());
        index.insert_unique(hashed, new, |&i| hash(at(text, ends, i)));
        (new, true)
    }

    /// Forgets every name from number `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for i in (len..self.ends.len()).rev() {
            let hashed = hash(at(&self.text, &self.ends, i as u32));
            if let Ok(entry) = self.index.find_entry(hashed, |&j| j as usize == i) {
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
