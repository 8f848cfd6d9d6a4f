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

    /// The parts of `range` that are not in the set, ascending.
    pub(super) fn outside(&self, range: Pin) -> Vec<Pin> {
        let mut parts = Vec::new();
        let mut at = range.start;
        for taken in &self.0 {
            if taken.start >= range.end {
                break;
            }
            if taken.start > at {
                parts.push(Pin {
                    start: at,
                    end: taken.start,
                });
            }
            at = at.max(taken.end);
        }
        if at < range.end {
            parts.push(Pin {
                start: at,
                end: range.end,
            });
        }
        parts
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
        assert_eq!(all.outside(range(2, 12)), [range(6, 8), range(9, 12)]);
        assert_eq!(all.outside(range(1, 5)), []);
        assert_eq!(all.outside(range(20, 25)), [range(20, 25)]);
    }
}
