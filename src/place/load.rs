//! How many bytes are live at each instruction. // T
//!
//! The load at an instruction is the bytes of everything live there, less what in-place pairs
//! save: each def of a pair may lie inside its use, and no use takes two defs, for both are live
//! there. So the saving is the weight of a matching between uses and defs, and the load counts the
//! greatest one. Only defs have weights, so the sets of defs that can be matched together form a
//! matroid (Edmonds and Fulkerson, *Transversals and Matroid Partition*, 1965), and trying the
//! defs by descending size, keeping each that some augmenting path admits, is exact.
//!
//! Time is cut into *pieces* over which the load does not change. Cost: linear in instructions if
//! times are dense, one sort of the segments otherwise, and the matchings: defs times pairs of one
//! instruction at worst.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::{InPlacePair, Problem};
use crate::control::Stop;
use crate::ir::{FlatIndex, Segment};
use crate::pace::{Pace, SOME};
use crate::sorting::CompactSort as _;

/// The loads of a problem, piece by piece.
pub(super) struct Loads {
    /// Where each piece begins; `None`: each instruction is a piece.
    starts: Option<Vec<u32>>,
    /// Bytes live in each piece; wide, for they need not fit in memory.
    pub bytes: Vec<u128>,
}

/// Dense tables may take this many instructions per segment.
const DENSE_INSTRUCTIONS_PER_SEGMENT: usize = 16;

impl Loads {
    /// The loads of the items; pieces also break where a pin's life does.
    pub fn of(problem: &Problem) -> Loads {
        Loads::unless(problem, &mut Pace::free()).expect("nothing stops it")
    }

    /// The same, unless the host stops it.
    pub fn unless(problem: &Problem, pace: &mut Pace<'_, '_>) -> Result<Loads, Stop> {
        let segments = || problem.lives.all().iter().chain(problem.pin_lives.all());
        let mut end = 0;
        for segment in segments() {
            pace.work(1)?;
            end = end.max(segment.last().index() + 1);
        }
        let count = problem.lives.all().len() + problem.pin_lives.all().len();
        let mut loads = Loads {
            starts: None,
            bytes: Vec::new(),
        };
        let mut pieces = end;
        if end > DENSE_INSTRUCTIONS_PER_SEGMENT * count {
            let ends = |s: &Segment| [Some(s.first().0), s.last().0.checked_add(1)];
            let mut starts: Vec<u32> = segments().flat_map(ends).flatten().collect();
            // A pair counts at its own instruction only.
            let of_pair = |p: &InPlacePair| [Some(p.index.0), p.index.0.checked_add(1)];
            starts.extend(problem.pairs.iter().flat_map(of_pair).flatten());
            starts.sort_unstable();
            starts.dedup();
            pieces = starts.len();
            loads.starts = Some(starts);
        }
        // Differences wrap below zero; their sums do not.
        let mut bytes = vec![0u128; pieces];
        for (i, item) in problem.items.iter().enumerate() {
            pace.work(1)?;
            let size = u128::from(item.size);
            for segment in problem.lives.of(i) {
                let (first, past) = loads.pieces(*segment);
                bytes[first] = bytes[first].wrapping_add(size);
                if let Some(past) = bytes.get_mut(past) {
                    *past = past.wrapping_sub(size);
                }
            }
        }
        let mut sum = 0u128;
        for some in bytes.chunks_mut(SOME) {
            pace.work(some.len())?;
            for load in some {
                sum = sum.wrapping_add(*load);
                *load = sum;
            }
        }
        for (index, saved) in savings(problem) {
            let (piece, _) = loads.pieces(Segment::new(index, index).expect("one instruction"));
            bytes[piece] -= saved;
        }
        loads.bytes = bytes;
        Ok(loads)
    }

    /// Loads that are known already, one for each instruction.
    pub fn known(loads: &[u64]) -> Loads {
        Loads {
            starts: None,
            bytes: loads.iter().map(|&load| load.into()).collect(),
        }
    }

    /// The piece at which a segment begins, and the one after its last; a segment begins and ends
    /// with pieces.
    pub fn pieces(&self, segment: Segment) -> (usize, usize) {
        let (first, last) = (segment.first().0, segment.last().0);
        match &self.starts {
            None => (first as usize, last as usize + 1),
            Some(starts) => (
                starts.partition_point(|&s| s < first),
                starts.partition_point(|&s| s <= last),
            ),
        }
    }

    /// The first piece of the greatest load; `None` if nothing lives.
    pub fn peak(&self) -> Option<usize> {
        (0..self.bytes.len()).max_by_key(|&piece| (self.bytes[piece], Reverse(piece)))
    }

    /// The first instruction of a piece.
    pub fn index(&self, piece: usize) -> FlatIndex {
        FlatIndex(match &self.starts {
            Some(starts) => starts.get(piece).copied().unwrap_or(0),
            None => piece as u32,
        })
    }
}

/// The first instruction of the greatest load.
pub(crate) fn peak_index(problem: &Problem) -> FlatIndex {
    let loads = Loads::of(problem);
    loads.index(loads.peak().unwrap_or(0))
}

/// The load at each of the instructions `0..instructions`, in bytes; `u64::MAX` if it is more.
///
/// Lives that reach beyond `instructions` are cut off.
pub fn load_profile(problem: &Problem, instructions: u32) -> Vec<u64> {
    let loads = Loads::of(problem);
    let clamped = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    let mut profile = vec![0; instructions as usize];
    for (piece, &bytes) in loads.bytes.iter().enumerate() {
        let (start, end) = match &loads.starts {
            None => (piece, piece + 1),
            Some(starts) => {
                let end = starts.get(piece + 1);
                let end = end.map_or(profile.len(), |&end| end as usize);
                (starts[piece] as usize, end)
            }
        };
        let end = end.min(profile.len());
        if let Some(piece) = profile.get_mut(start..end) {
            piece.fill(clamped(bytes));
        }
    }
    profile
}

/// The bytes that pairs save at each instruction that has some. // L8
fn savings(problem: &Problem) -> Vec<(FlatIndex, u128)> {
    let mut pairs = problem.pairs.clone();
    pairs.sort_compact_by_key(|p| (p.index, p.def, p.used));
    pairs.dedup();
    let at_one_index = pairs.chunk_by(|a, b| a.index == b.index);
    at_one_index
        .map(|pairs| {
            let size = |def: u32| problem.items[def as usize].size;
            (pairs[0].index, heaviest_matching(pairs, size))
        })
        .collect()
}

/// The weight of the heaviest matching between the uses and the defs of one instruction; `pairs`
/// ascend by `def`.
pub(crate) fn heaviest_matching(pairs: &[InPlacePair], size: impl Fn(u32) -> u64) -> u128 {
    if let [pair] = pairs {
        return size(pair.def).into();
    }
    let mut uses: Vec<u32> = pairs.iter().map(|p| p.used).collect();
    uses.sort_unstable();
    uses.dedup();
    let position = |used: u32| uses.partition_point(|&u| u < used);
    let mut rows: Vec<&[InPlacePair]> = pairs.chunk_by(|a, b| a.def == b.def).collect();
    rows.sort_compact_by_key(|row| Reverse(size(row[0].def)));
    // By use: the row that has it, and the row whose search saw it first in this turn.
    let mut taken_by: Vec<Option<usize>> = vec![None; uses.len()];
    let mut weight = 0;
    for start in 0..rows.len() {
        let mut seen_from: Vec<Option<usize>> = vec![None; uses.len()];
        // By row: the use that it would give up.
        let mut gives_up: Vec<Option<usize>> = vec![None; start + 1];
        let mut queue = VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(row) = queue.pop_front() {
            for pair in rows[row] {
                let used = position(pair.used);
                if seen_from[used].is_some() {
                    continue;
                }
                seen_from[used] = Some(row);
                match taken_by[used] {
                    None => {
                        end = Some(used);
                        break 'search;
                    }
                    Some(other) => {
                        gives_up[other] = Some(used);
                        queue.push_back(other);
                    }
                }
            }
        }
        if end.is_some() {
            weight += u128::from(size(rows[start][0].def));
        }
        // Each row on the path takes the use that it found, and its own goes to the one before.
        while let Some(used) = end {
            let row = seen_from[used].expect("the search came from somewhere");
            taken_by[used] = Some(row);
            end = gives_up[row];
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::testing;

    /// Every choice of pairs without a shared item, at one instruction.
    fn heaviest_by_trial(pairs: &[InPlacePair], size: &dyn Fn(u32) -> u64) -> u128 {
        let Some((pair, rest)) = pairs.split_first() else {
            return 0;
        };
        let apart = |p: &&InPlacePair| p.used != pair.used && p.def != pair.def;
        let others: Vec<InPlacePair> = rest.iter().filter(apart).copied().collect();
        let with = u128::from(size(pair.def)) + heaviest_by_trial(&others, size);
        with.max(heaviest_by_trial(rest, size))
    }

    #[test]
    fn the_heaviest_matching_is_that_of_trying_all() {
        arbtest::arbtest(|u| {
            let sizes: Vec<u64> = (0..5)
                .map(|_| u.int_in_range(1..=9))
                .collect::<Result<_, _>>()?;
            let mut pairs = Vec::new();
            for def in 0..5 {
                for used in 10..14 {
                    if u.ratio(2, 5)? {
                        let index = FlatIndex(3);
                        pairs.push(InPlacePair { index, used, def });
                    }
                }
            }
            let size = |def: u32| sizes[def as usize];
            if !pairs.is_empty() {
                let want = heaviest_by_trial(&pairs, &size);
                assert_eq!(heaviest_matching(&pairs, size), want, "{pairs:?} {sizes:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn the_profile_is_the_sum_of_what_is_live() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let profile = load_profile(&problem, 40);
            for (t, &load) in (0..).zip(&profile) {
                let live = |i: &usize| {
                    let life = problem.lives.of(*i);
                    life.iter().any(|s| s.contains(FlatIndex(t)))
                };
                let live: u64 = (0..problem.items.len())
                    .filter(live)
                    .map(|i| problem.items[i].size)
                    .sum();
                let here: Vec<InPlacePair> = problem
                    .pairs
                    .iter()
                    .copied()
                    .filter(|p| p.index.0 == t)
                    .collect();
                let saved = heaviest_by_trial(&here, &|def| problem.items[def as usize].size);
                assert_eq!(u128::from(load), u128::from(live) - saved, "at {t}");
            }
            Ok(())
        });
    }

    #[test]
    fn sparse_times_have_the_loads_of_dense_ones() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let wide = testing::stretched(&problem, 1_000_000);
            let most = |p: &Problem| Loads::of(p).bytes.into_iter().max();
            // Stretching leaves the first moment where it is.
            let lives = (0..problem.items.len()).flat_map(|i| problem.lives.of(i));
            let is_wide = lives.into_iter().any(|s| s.last() > FlatIndex(0));
            assert!(!is_wide || Loads::of(&wide).starts.is_some());
            assert_eq!(most(&problem), most(&wide));
            Ok(())
        });
    }

    #[test]
    fn a_load_beyond_64_bits_is_not_wrapped() {
        let mut problem = Problem::default();
        testing::add_item(&mut problem, u64::MAX, &[(0, 2)]);
        testing::add_item(&mut problem, 2, &[(1, 1)]);
        assert_eq!(load_profile(&problem, 3), [u64::MAX; 3]);
        assert_eq!(Loads::of(&problem).bytes[1], u128::from(u64::MAX) + 2);
    }
}
