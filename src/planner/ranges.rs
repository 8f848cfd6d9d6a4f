//! Bytes that are taken at every moment: disjoint, ascending ranges.

use crate::place::Pin;

/// A set of bytes as merged ranges, so that thousands of holders become a few obstacles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Pin>);

impl Ranges {
    /// The ranges, ascending; no two touch.
    pub(super) fn all(&self) -> &[Pin] {
        &self.0
    }

    /// Adds bytes that may overlap what is there.
    pub(super) fn add(&mut self, ranges: impl Iterator<Item = Pin>) {
        self.0
            .extend(ranges.filter(|range| range.start < range.end));
        self.0
            .sort_unstable_by_key(|range| (range.start, range.end));
        self.0.dedup_by(|next, kept| {
            let joins = next.start <= kept.end;
            if joins {
                kept.end = kept.end.max(next.end);
            }
            joins
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_and_nested_ranges_become_one() {
        let range = |start, end| Pin { start, end };
        let mut all = Ranges::default();
        all.add([range(8, 9), range(0, 4), range(7, 7)].into_iter());
        all.add([range(4, 6), range(1, 2)].into_iter());
        assert_eq!(all.all(), [range(0, 6), range(8, 9)]);
    }
}
