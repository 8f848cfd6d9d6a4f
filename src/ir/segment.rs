//! When something lives: closed segments of time, and the lists of them.
//!
//! This is the only file that decides what "overlap in time" means. // L2

use super::ids::FlatIndex;

/// A run of instructions during which a location's bytes must not be overwritten.
///
/// Closed: live at `first` and at `last`. A location last read by an instruction and another one
/// written by the same instruction do overlap. // L2
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    first: FlatIndex,
    last: FlatIndex,
}

impl Segment {
    /// The segment `[first, last]`, or `None` if it is inverted.
    pub fn new(first: FlatIndex, last: FlatIndex) -> Option<Segment> {
        (first <= last).then_some(Segment { first, last })
    }

    /// The first instruction at which the bytes are taken.
    pub fn first(self) -> FlatIndex {
        self.first
    }

    /// The last instruction at which the bytes are taken.
    pub fn last(self) -> FlatIndex {
        self.last
    }

    /// Whether some instruction lies in both.
    pub fn overlaps(self, other: Segment) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether `index` lies in the segment.
    pub fn contains(self, index: FlatIndex) -> bool {
        self.first <= index && index <= self.last
    }
}

/// The segments of many owners, one sorted and disjoint run of them each.
///
/// Compressed rows: owner `i` holds `segments[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lives {
    starts: Vec<u32>,
    segments: Vec<Segment>,
}

impl Default for Lives {
    fn default() -> Lives {
        Lives {
            starts: vec![0],
            segments: Vec::new(),
        }
    }
}

impl Lives {
    /// No owners yet.
    pub fn new() -> Lives {
        Lives::default()
    }

    /// No owners yet, with room for `owners` of them and `segments` in all.
    pub fn with_capacity(owners: usize, segments: usize) -> Lives {
        let mut starts = Vec::with_capacity(owners + 1);
        starts.push(0);
        Lives {
            starts,
            segments: Vec::with_capacity(segments),
        }
    }

    /// Appends the next owner with its segments.
    ///
    /// # Panics
    ///
    /// If they are not sorted and disjoint, or if there are 2^32 segments.
    pub fn push(&mut self, segments: impl IntoIterator<Item = Segment>) {
        let start = self.segments.len();
        self.segments.extend(segments);
        let added = &self.segments[start..];
        assert!(
            added.len() < 2 || added.windows(2).all(|w| w[0].last() < w[1].first()),
            "segments of one owner are sorted and disjoint"
        );
        self.starts
            .push(u32::try_from(self.segments.len()).expect("fewer than 2^32 segments"));
    }

    /// How many owners there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no owner.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The segments of owner `i`, ascending.
    pub fn of(&self, i: usize) -> &[Segment] {
        &self.segments[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Where the segments of each owner start in `all`; one entry more than owners.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The segments of every owner, owner by owner.
    pub fn all(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether owners `i` and `j` are live at one instruction.
    pub fn overlap(&self, i: usize, j: usize) -> bool {
        overlap(self.of(i), self.of(j))
    }
}

/// Whether two sorted lists of segments have an instruction in common.
pub fn overlap(a: &[Segment], b: &[Segment]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].overlaps(b[j]) {
            return true;
        }
        if a[i].last() < b[j].last() {
            i += 1
        } else {
            j += 1
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u32, last: u32) -> Segment {
        Segment::new(FlatIndex(first), FlatIndex(last)).expect("not inverted")
    }

    #[test]
    fn a_use_and_a_def_of_one_instruction_overlap() {
        assert!(segment(0, 4).overlaps(segment(4, 9)));
        assert!(!segment(0, 4).overlaps(segment(5, 9)));
    }

    #[test]
    fn an_inverted_interval_is_no_segment() {
        assert_eq!(Segment::new(FlatIndex(2), FlatIndex(1)), None);
    }

    #[test]
    fn lists_overlap_iff_some_pair_of_segments_does() {
        arbtest::arbtest(|u| {
            let mut lists = [Vec::new(), Vec::new()];
            for list in &mut lists {
                let mut at = 0;
                for _ in 0..u.int_in_range(0..=4)? {
                    let first = at + u.int_in_range(1..=4)?;
                    let last = first + u.int_in_range(0..=3)?;
                    list.push(segment(first, last));
                    at = last;
                }
            }
            let [a, b] = &lists;
            let naive = a.iter().any(|x| b.iter().any(|y| x.overlaps(*y)));
            assert_eq!(overlap(a, b), naive, "{a:?} {b:?}");
            Ok(())
        });
    }
}
