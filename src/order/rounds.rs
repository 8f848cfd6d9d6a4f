//! The reference order: whom the others constrain least is set aside first, and placed last. // O1
//!
//! A variant of the simplify stage of graph colouring (Briggs, Cooper and Torczon, *Improvements to
//! Graph Coloring Register Allocation*, TOPLAS 1994) for sizes instead of colours. The constraint
//! of an item is
//!
//! ```text
//! size(i) + sum over its segments a, over remaining segments b of others that meet a:
//!           size(j) + size(i) - granule
//! ```
//!
//! which bounds the bytes that its neighbours can deny it. The graph is never built: what meets a
//! segment is all there is, less what ended before it and what begins after it, so that two prefix
//! sums over time give every constraint exactly. The work goes in rounds: compute all constraints,
//! set the lowest eighth aside in order of (constraint, dense id), repeat with the rest. A round is
//! linear, and the rest shrinks geometrically, so that the whole takes `O(n log n)`. Time is cut
//! down to points again whenever half of the items are gone.

use std::ops::{Add, Mul, Sub};

use crate::control::Stop;
use crate::pace::Pace;
use crate::place::{Problem, Run, Timeline};

/// A round sets one in so many aside, rounded up.
const SHARE: usize = 8;

/// The reference order, unless the host stops it.
pub(crate) fn reference_unless(
    problem: &Problem,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<u32>, Stop> {
    if fits_in_64_bits(problem) {
        rounds::<i64>(problem, pace)
    } else {
        rounds::<i128>(problem, pace)
    }
}

/// Whether no sum or product of the rounds leaves an `i64`. 128 bits always suffice: fewer than
/// 2^31 segments of an item can meet fewer than 2^31 of others, at fewer than 2^65 bytes each time.
fn fits_in_64_bits(problem: &Problem) -> bool {
    let sizes = || problem.items.iter().map(|item| item.size);
    let largest = u128::from(sizes().max().unwrap_or(0).max(problem.granule));
    let segments = problem.lives.all().len() as u128;
    let most = (0..problem.items.len()).map(|i| problem.lives.of(i).len());
    let most = most.max().unwrap_or(0) as u128;
    segments
        .checked_mul(2 * largest)
        .and_then(|all| all.checked_mul(most.max(1)))
        .and_then(|all| all.checked_add(largest))
        .is_some_and(|all| all < 1 << 62)
}

/// A sum of sizes.
trait Sum:
    Copy + Ord + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + TryFrom<u64>
{
}
impl Sum for i64 {}
impl Sum for i128 {}

fn sum<W: Sum>(value: u64) -> W {
    W::try_from(value)
        .ok()
        .expect("`fits_in_64_bits` has said so")
}

/// What begins at or ends before a point.
#[derive(Clone, Copy, Default)]
struct Passed<W> {
    bytes: W,
    segments: u32,
}

/// The items that are left, in ascending id, each with a compressed row of runs.
struct Rest<W> {
    ids: Vec<u32>,
    sizes: Vec<W>,
    /// Where each item's runs end.
    ends: Vec<u32>,
    runs: Vec<Run>,
    points: usize,
    /// How many items there were when the points were last counted.
    counted: usize,
}

fn rounds<W: Sum>(problem: &Problem, pace: &mut Pace<'_, '_>) -> Result<Vec<u32>, Stop> {
    let count = problem.items.len();
    let mut rest = Rest::<W>::all(problem, pace)?;
    let granule = sum::<W>(problem.granule);
    let mut aside = Vec::with_capacity(count);
    let mut keys: Vec<(W, u32)> = Vec::with_capacity(count);
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    let mut gone = vec![false; count];
    while !rest.ids.is_empty() {
        rest.recount_points(pace)?;
        rest.prefix_sums(&mut begun, &mut ended, pace)?;
        keys.clear();
        let mut start = 0;
        for (k, &id) in rest.ids.iter().enumerate() {
            pace.work(1)?;
            let size = rest.sizes[k];
            let end = rest.ends[k] as usize;
            let mut constraint = size;
            for run in &rest.runs[start..end] {
                let (begun, ended) = (begun[run.last as usize], ended[run.first as usize]);
                // All that has begun by its end and not ended before it begins, itself aside: an
                // item's own segments do not meet.
                let bytes = begun.bytes - ended.bytes - size;
                let segments = sum::<W>(u64::from(begun.segments - ended.segments - 1));
                constraint = constraint + bytes + segments * (size - granule);
            }
            keys.push((constraint, id));
            start = end;
        }
        let leave = keys.len().div_ceil(SHARE);
        for &(_, id) in lowest(&mut keys, leave, pace)? {
            gone[id as usize] = true;
            aside.push(id);
        }
        rest.drop_gone(&gone, pace)?;
    }
    aside.reverse(); // `select` pops the stack. // O1
    Ok(aside)
}

/// Keys from which it is guessed where the lowest end.
const SAMPLE: usize = 1 << 10;

/// The lowest of the keys, so many of them, in order. The others go into any.
///
/// A selection cannot be stopped, so it is for those only that a guess has left over.
fn lowest<'k, K: Copy + Ord>(
    keys: &'k mut [K],
    count: usize,
    pace: &mut Pace<'_, '_>,
) -> Result<&'k [K], Stop> {
    let mut candidates = keys.len();
    if keys.len() > 4 * SAMPLE {
        let each = keys.len() / SAMPLE;
        let mut sample: Vec<K> = keys.iter().copied().step_by(each).collect();
        sample.sort_unstable();
        let most = sample[(count / each + SAMPLE / 16).min(sample.len() - 1)];
        let mut low = 0;
        for at in 0..keys.len() {
            pace.work(1)?;
            if keys[at] <= most {
                keys.swap(at, low);
                low += 1;
            }
        }
        if low >= count {
            candidates = low;
        }
    }
    let keys = &mut keys[..candidates];
    pace.work(keys.len())?;
    if count < keys.len() {
        keys.select_nth_unstable(count);
    }
    pace.work(4 * count)?;
    let lowest = &mut keys[..count];
    lowest.sort_unstable();
    Ok(lowest)
}

impl<W: Sum> Rest<W> {
    fn all(problem: &Problem, pace: &mut Pace<'_, '_>) -> Result<Rest<W>, Stop> {
        let (lives, items) = (&problem.lives, &problem.items);
        let mut rest = Rest {
            ids: Vec::with_capacity(items.len()),
            sizes: Vec::with_capacity(items.len()),
            ends: Vec::with_capacity(items.len()),
            runs: Vec::with_capacity(lives.all().len()),
            points: 0,
            counted: usize::MAX,
        };
        for (id, item) in (0..).zip(items) {
            pace.work(1)?;
            rest.ids.push(id);
            rest.sizes.push(sum(item.size));
            let life = lives.of(id as usize).iter();
            rest.runs.extend(life.map(|&segment| Run::from(segment)));
            rest.ends.push(rest.runs.len() as u32);
        }
        Ok(rest)
    }

    /// Cuts time down to the points of what is left, if that has halved since.
    fn recount_points(&mut self, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        if self.ids.len() <= self.counted / 2 {
            let timeline = Timeline::unless(self.runs.iter().copied(), pace)?;
            for run in &mut self.runs {
                pace.work(1)?;
                *run = timeline.run(*run);
            }
            self.points = timeline.points() as usize;
            self.counted = self.ids.len();
        }
        Ok(())
    }

    /// `begun[p]`: what begins at `p` or before; `ended[p]`: what ends before `p`.
    fn prefix_sums(
        &self,
        begun: &mut Vec<Passed<W>>,
        ended: &mut Vec<Passed<W>>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<(), Stop> {
        for table in [&mut *begun, &mut *ended] {
            table.clear();
            table.resize(self.points + 1, Passed::default());
        }
        let add = |passed: &mut Passed<W>, size| {
            passed.bytes = passed.bytes + size;
            passed.segments += 1;
        };
        let mut start = 0;
        for (&end, &size) in self.ends.iter().zip(&self.sizes) {
            pace.work(1)?;
            for run in &self.runs[start..end as usize] {
                add(&mut begun[run.first as usize], size);
                add(&mut ended[run.last as usize + 1], size);
            }
            start = end as usize;
        }
        for table in [begun, ended] {
            pace.work(table.len() / 4)?;
            let mut total = Passed::<W>::default();
            for passed in table {
                total.bytes = total.bytes + passed.bytes;
                total.segments += passed.segments;
                *passed = total;
            }
        }
        Ok(())
    }

    fn drop_gone(&mut self, gone: &[bool], pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        let (mut kept, mut kept_runs, mut start) = (0, 0, 0);
        for k in 0..self.ids.len() {
            pace.work(1)?;
            let end = self.ends[k] as usize;
            if !gone[self.ids[k] as usize] {
                self.runs.copy_within(start..end, kept_runs);
                kept_runs += end - start;
                self.ids[kept] = self.ids[k];
                self.sizes[kept] = self.sizes[k];
                self.ends[kept] = kept_runs as u32;
                kept += 1;
            }
            start = end;
        }
        self.ids.truncate(kept);
        self.sizes.truncate(kept);
        self.ends.truncate(kept);
        self.runs.truncate(kept_runs);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::testing;

    /// O1 as it is written: constraints by enumeration, recomputed in every round.
    fn naive(problem: &Problem) -> Vec<u32> {
        let mut rest: Vec<usize> = (0..problem.items.len()).collect();
        let mut stack = Vec::new();
        while !rest.is_empty() {
            let constraint = |&i: &usize| {
                let size = |i: usize| i128::from(problem.items[i].size);
                let mut sum = size(i);
                for &j in rest.iter().filter(|&&j| j != i) {
                    for a in problem.lives.of(i) {
                        for b in problem.lives.of(j) {
                            if a.overlaps(*b) {
                                sum += size(j) + size(i) - i128::from(problem.granule);
                            }
                        }
                    }
                }
                (sum, i)
            };
            let mut keys: Vec<(i128, usize)> = rest.iter().map(constraint).collect();
            keys.sort();
            keys.truncate(rest.len().div_ceil(8));
            stack.extend(keys.iter().map(|&(_, i)| i as u32));
            rest.retain(|&i| keys.iter().all(|&(_, j)| i != j));
        }
        stack.reverse();
        stack
    }

    #[test]
    fn the_rounds_are_those_of_enumeration_in_both_widths() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let want = naive(&problem);
            assert_eq!(crate::order::reference(&problem), want);
            assert_eq!(rounds::<i128>(&problem, &mut Pace::free()), Ok(want));
            Ok(())
        });
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        arbtest::arbtest(|u| {
            let mut problem = testing::problem(u)?;
            for item in &mut problem.items {
                item.size = u64::MAX - u.int_in_range(0..=3)?;
            }
            assert_eq!(crate::order::reference(&problem), naive(&problem));
            Ok(())
        });
    }

    #[test]
    fn the_lowest_keys_are_those_of_a_sort() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        // All alike, nearly all alike, all different, in order, and with a sample that is wrong.
        for (len, most) in [
            (5_000, 1),
            (20_000, 3),
            (9_001, 1 << 30),
            (30_000, 0),
            (20_000, 2),
        ] {
            let key = |i: u32| match most {
                0 => u64::from(i),
                2 => u64::from(!i.is_multiple_of(len / SAMPLE as u32)),
                _ => random(most),
            };
            let keys: Vec<u64> = (0..len).map(key).collect();
            for count in [1, len as usize / 8, len as usize / 2, len as usize] {
                let mut keys: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
                let mut want = keys.clone();
                want.sort_unstable();
                let got = lowest(&mut keys, count, &mut Pace::free());
                assert_eq!(got, Ok(&want[..count]), "{len} {most} {count}");
            }
        }
    }

    #[test]
    fn a_stopped_order_says_so() {
        let problem = testing::alternating(crate::pace::UNITS);
        let flag = std::sync::atomic::AtomicBool::new(true);
        let control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        let stopped = reference_unless(&problem, &mut Pace::of(&control));
        assert_eq!(stopped, Err(Stop::Cancelled));
    }
}
