//! Time, cut into the fewest pieces that still tell who meets whom.
//!
//! Between a birth that follows a death and the next death that follows a birth, the live set only
//! grows and then only shrinks, so its largest state stands for all of it. One *section* stands
//! for each such stretch: two segments share a section iff they overlap, and every segment covers
//! a contiguous run of sections. There are at most as many sections as segments. The sections are
//! the maximal cliques of the interval graph, in order of time.

use std::ops::Range;

use crate::ir::Segment;
use crate::sorting::CompactSort as _;

/// The run of sections of each segment, in the order given, and how many sections there are.
pub(super) fn sections(segments: &[Segment]) -> (Vec<Range<u32>>, u32) {
    // Deaths sort before births at one moment: lives are closed, so a death is one past `last`.
    let mut events = Vec::with_capacity(2 * segments.len());
    for (i, segment) in segments.iter().enumerate() {
        events.push((u64::from(segment.first().0), true, i));
        events.push((u64::from(segment.last().0) + 1, false, i));
    }
    events.sort_compact_by(Ord::cmp);
    let mut runs = vec![0..0; segments.len()];
    let mut section = 0;
    let mut born = false;
    for (_, birth, i) in events {
        if birth {
            runs[i].start = section;
        } else {
            if born {
                section += 1;
            }
            runs[i].end = section;
        }
        born = birth;
    }
    (runs, section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::FlatIndex;

    #[test]
    fn segments_share_a_section_iff_they_overlap() {
        arbtest::arbtest(|u| {
            let mut segments = Vec::new();
            for _ in 0..u.int_in_range(0..=8)? {
                let first = u.int_in_range(0..=9)?;
                let last = u.int_in_range(first..=10)?;
                segments.push(Segment::new(FlatIndex(first), FlatIndex(last)).expect("ordered"));
            }
            let (runs, count) = sections(&segments);
            assert!(count as usize <= segments.len());
            for (a, x) in segments.iter().zip(&runs) {
                assert!(x.start < x.end && x.end <= count, "{segments:?} {runs:?}");
                for (b, y) in segments.iter().zip(&runs) {
                    let shared = x.start < y.end && y.start < x.end;
                    assert_eq!(shared, a.overlaps(*b), "{segments:?} {runs:?}");
                }
            }
            // Maximal: no section's live set contains its neighbour's.
            for s in 1..count {
                let dies = runs.iter().any(|r| r.end == s);
                let starts = runs.iter().any(|r| r.start == s);
                assert!(dies && starts, "{segments:?} {runs:?}");
            }
            Ok(())
        });
    }
}
