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
/// Compressed rows: owner `i` holds `segments[starts[i]..starts[i + 1]]`, or `segments[i]` as long as
/// every owner has exactly one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lives {
    /// Empty as long as every owner has one segment; else one entry more than owners.
    starts: Vec<u32>,
    segments: Vec<Segment>,
}

impl Lives {
    /// No owners yet.
    pub fn new() -> Lives {
        Lives::default()
    }

    /// No owners yet, with room for `owners` of them and `segments` in all.
    pub fn with_capacity(owners: usize, segments: usize) -> Lives {
        let starts = if owners == segments { 0 } else { owners + 1 };
        Lives {
            starts: Vec::with_capacity(starts),
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
        let count = added.len();
        let end = u32::try_from(self.segments.len()).expect("fewer than 2^32 segments");
        if self.starts.is_empty() {
            if count == 1 {
                return;
            }
            self.starts.extend(0..=start as u32); // So far owners and segments are the same.
        }
        self.starts.push(end);
    }

    /// How many owners there are.
    pub fn len(&self) -> usize {
        match self.starts.len() {
            0 => self.segments.len(),
            starts => starts - 1,
        }
    }

    /// Whether there is no owner.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The segments of owner `i`, ascending.
    #[inline]
    pub fn of(&self, i: usize) -> &[Segment] {
        row(&self.starts, &self.segments, i)
    }

    /// Where the segments of each owner start in `all`, one entry more than owners; empty if each
    /// has one.
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

/// Row `i` of compressed rows; without starts each has one element.
#[inline]
pub(crate) fn row<'r, T>(starts: &[u32], all: &'r [T], i: usize) -> &'r [T] {
    if starts.is_empty() {
        std::slice::from_ref(&all[i])
    } else {
        &all[starts[i] as usize..starts[i + 1] as usize]
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
    fn every_owner_has_its_segments_however_many() {
        arbtest::arbtest(|u| {
            let (mut lives, mut want) = (Lives::new(), Vec::new());
            let few = u.arbitrary::<bool>()?;
            for _ in 0..u.int_in_range(0..=6)? {
                let count = if few { 1 } else { u.int_in_range(0..=3)? };
                let segments: Vec<Segment> = (0..count).map(|at| segment(2 * at, 2 * at)).collect();
                lives.push(segments.iter().copied());
                want.push(segments);
            }
            assert_eq!(lives.len(), want.len());
            assert!((0..want.len()).all(|i| lives.of(i) == want[i]), "{lives:?}");
            assert!(lives.all().iter().eq(want.iter().flatten()));
            Ok(())
        });
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
