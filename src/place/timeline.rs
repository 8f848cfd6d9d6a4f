//! Time, cut down to the points that matter.
//!
//! Two lives overlap iff they share an instruction; almost all instructions are the same to that
//! question. Walking through time, a *point* is completed where a life ends after another has begun
//! since the last point: it stands for the largest set of lives that are pairwise live around there
//! (a maximal clique of the interval graph). A life then covers a run of points, and two lives
//! share a point iff they share an instruction:
//!
//! * if they share one, then between the later first and the earlier last, both included, a life
//!   ends after one has begun, so a point is completed there, and both cover it;
//! * if one ends before the other begins, every point of the first is completed by its last
//!   instruction, and every point of the second after that.
//!
//! This holds for the segments that the timeline was built from, and for no others. There are at
//! most as many points as segments, half as many in programs. Cost: linear if times are dense, one
//! sort otherwise.

use crate::control::Stop;
use crate::ir::Segment;
use crate::pace::Pace;
use crate::sorting::sort_words;
pub(crate) use dramalloc_engine::Run;

impl From<Segment> for Run {
    fn from(segment: Segment) -> Run {
        Run {
            first: segment.first().0,
            last: segment.last().0,
        }
    }
}

/// From time to points.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    points: u32,
    closings: Closings,
}

/// The times at which a point is completed.
#[derive(Clone, Debug)]
enum Closings {
    /// One bit per time, and how many bits are set before each word.
    Dense { bits: Vec<u64>, before: Vec<u32> },
    /// Ascending.
    Sparse(Vec<u32>),
}

/// Dense tables may take this many times per segment: eight bytes.
const DENSE_TIMES_PER_SEGMENT: usize = 64;

impl Timeline {
    /// The timeline of these segments, unless the host stops it.
    pub fn unless(
        segments: impl Iterator<Item = Run> + Clone,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Timeline, Stop> {
        let (mut count, mut end) = (0, 0);
        for segment in segments.clone() {
            pace.work(1)?;
            count += 1;
            end = end.max(segment.last as usize + 1);
        }
        if end <= DENSE_TIMES_PER_SEGMENT * (count + 1) {
            Timeline::dense(segments, end, pace)
        } else {
            Timeline::sparse(segments, pace)
        }
    }

    fn dense(
        segments: impl Iterator<Item = Run>,
        end: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Timeline, Stop> {
        let words = end.div_ceil(64);
        let (mut firsts, mut lasts) = (vec![0u64; words], vec![0u64; words]);
        for Run { first, last } in segments {
            pace.work(1)?;
            firsts[first as usize / 64] |= 1 << (first % 64);
            lasts[last as usize / 64] |= 1 << (last % 64);
        }
        let (mut begun, mut points) = (false, 0);
        let mut before = Vec::with_capacity(words);
        let mut bits = lasts;
        for (closing, &firsts) in bits.iter_mut().zip(&firsts) {
            pace.work(1)?;
            before.push(points);
            let mut kept = 0;
            let mut left = *closing;
            let mut seen = 0u64; // The times of this word that have been passed.
            while left != 0 {
                let bit = left & left.wrapping_neg();
                // At one time lives begin before lives end: they are closed. // L2
                let up_to = bit | (bit - 1);
                if begun || firsts & up_to & !seen != 0 {
                    kept |= bit;
                    points += 1;
                    begun = false;
                }
                seen = up_to;
                left &= left - 1;
            }
            begun |= firsts & !seen != 0;
            *closing = kept;
        }
        Ok(Timeline {
            points,
            closings: Closings::Dense { bits, before },
        })
    }

    fn sparse(
        segments: impl Iterator<Item = Run> + Clone,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Timeline, Stop> {
        let firsts = sorted(segments.clone().map(|s| s.first), pace)?;
        let lasts = sorted(segments.map(|s| s.last), pace)?;
        let mut closings = Vec::new();
        let mut passed = 0; // How many have begun before the last point was completed.
        for last in lasts {
            pace.work(1)?;
            if firsts.get(passed).is_some_and(|&first| first <= last) {
                closings.push(last as u32);
                passed += firsts[passed..].partition_point(|&first| first <= last);
            }
        }
        Ok(Timeline {
            points: closings.len() as u32,
            closings: Closings::Sparse(closings),
        })
    }

    /// How many points there are.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// The points of a segment that the timeline was built from.
    pub fn run(&self, segment: Run) -> Run {
        Run {
            first: self.completed_before(segment.first),
            last: self.completed_before(segment.last) + self.completed_at(segment.last) - 1,
        }
    }

    /// How many points are completed before `time`.
    fn completed_before(&self, time: u32) -> u32 {
        match &self.closings {
            Closings::Dense { bits, before } => {
                let word = time as usize / 64;
                let below = (1u64 << (time % 64)) - 1;
                before[word] + (bits[word] & below).count_ones()
            }
            Closings::Sparse(closings) => closings.partition_point(|&c| c < time) as u32,
        }
    }

    /// How many points are completed at `time`: one or none.
    fn completed_at(&self, time: u32) -> u32 {
        match &self.closings {
            Closings::Dense { bits, .. } => (bits[time as usize / 64] >> (time % 64) & 1) as u32,
            Closings::Sparse(closings) => u32::from(closings.binary_search(&time).is_ok()),
        }
    }
}

/// Times, ascending.
fn sorted(times: impl Iterator<Item = u32>, pace: &mut Pace<'_, '_>) -> Result<Vec<u64>, Stop> {
    let mut times: Vec<u64> = times.map(u64::from).collect();
    sort_words(&mut times, 0, pace)?;
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(segments: impl Iterator<Item = Run> + Clone) -> Timeline {
        Timeline::unless(segments, &mut Pace::free()).expect("nothing stops it")
    }

    fn meet(a: Run, b: Run) -> bool {
        a.first <= b.last && b.first <= a.last
    }

    #[test]
    fn runs_share_a_point_iff_segments_share_an_instruction() {
        arbtest::arbtest(|u| {
            // Wide horizons make the table sparse.
            let scale = *u.choose(&[1, 1, 70, u32::MAX / 150])?;
            let mut segments = Vec::new();
            for _ in 0..u.int_in_range(0..=20)? {
                let first = u.int_in_range(0..=140)?;
                let last = u.int_in_range(first..=150.min(first + 40))?;
                let last = if last == 150 { u32::MAX / scale } else { last };
                let (first, last) = (first * scale, last * scale);
                segments.push(Run { first, last });
            }
            if scale == 1 {
                segments.retain(|s| s.last < u32::MAX);
            }
            let timeline = timeline(segments.iter().copied());
            for &a in &segments {
                let run = timeline.run(a);
                assert!(run.first <= run.last && run.last < timeline.points());
                for &b in &segments {
                    assert_eq!(meet(run, timeline.run(b)), meet(a, b), "{a:?} {b:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn a_run_of_begins_makes_one_point() {
        let segments =
            [(0, 9), (1, 9), (2, 3), (4, 4), (5, 5)].map(|(first, last)| Run { first, last });
        let timeline = timeline(segments.into_iter());
        assert_eq!(timeline.points(), 3);
        assert_eq!(timeline.run(segments[0]), Run { first: 0, last: 2 });
        assert_eq!(timeline.run(segments[3]), Run { first: 1, last: 1 });
    }

    #[test]
    fn the_last_time_of_all_is_a_time() {
        let whole = Run {
            first: 0,
            last: u32::MAX,
        };
        let timeline = timeline([whole].into_iter());
        assert_eq!(timeline.run(whole), Run { first: 0, last: 0 });
    }
}
