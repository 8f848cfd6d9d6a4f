//! Who is placed first. // O
//!
//! First fit is only as good as its order, and no order is best everywhere, so that there are
//! several; a strategy tries some of them. Every order is total: ties are broken by dense id, so
//! that none depends on how the host listed its locations. // S4

mod rounds;

pub(crate) use rounds::reference_unless;

use std::cmp::Reverse;

use crate::place::{Problem, peak_index};
use crate::sorting::sort_unless;

/// The reference order: Briggs worklist in rounds, hardest first. // O1
pub fn reference(problem: &Problem) -> Vec<u32> {
    reference_unless(problem, &mut || false).expect("nothing stops it")
}

/// The orders that a strategy may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Hardest first by interference. // O1
    Reference,
    /// Most bytes first, then longest life.
    Size,
    /// Most bytes times instructions first.
    Area,
    /// Longest life first, then most bytes.
    Length,
    /// What is live at the instruction of greatest load first, then the rest; both by size.
    PeakSize,
    /// The same, but what is live at the peak goes by length.
    PeakLength,
    /// Earliest first, then most bytes.
    Start,
}

impl Order {
    /// Every order, the ones that most often do best first.
    pub const ALL: &[Order] = &[
        Order::Reference,
        Order::Size,
        Order::PeakLength,
        Order::PeakSize,
        Order::Area,
        Order::Length,
        Order::Start,
    ];

    /// The items of `problem` in this order; `None` once `stop` says so, which it is asked often.
    pub fn of(self, problem: &Problem, stop: &mut dyn FnMut() -> bool) -> Option<Vec<u32>> {
        let size = |i: u32| problem.items[i as usize].size;
        let length = |i: u32| length(problem, i);
        let by_size = |i: u32| (Reverse(size(i)), Reverse(length(i)));
        match self {
            Order::Reference => reference_unless(problem, stop),
            Order::Size => sorted(problem, by_size, stop),
            Order::Area => {
                let area = |i: u32| u128::from(size(i)) * u128::from(length(i));
                sorted(problem, |i| Reverse(area(i)), stop)
            }
            Order::Length => {
                let by_length = |i: u32| (Reverse(length(i)), Reverse(size(i)));
                sorted(problem, by_length, stop)
            }
            Order::PeakSize | Order::PeakLength => {
                let peak = peak_index(problem);
                let at_peak = |i: u32| {
                    let life = problem.lives.of(i as usize);
                    life.iter().any(|s| s.contains(peak))
                };
                let long_first = self == Order::PeakLength;
                let key = |i: u32| {
                    let at_peak = at_peak(i);
                    let first = if at_peak && long_first { length(i) } else { 0 };
                    (Reverse(at_peak), Reverse(first), by_size(i))
                };
                sorted(problem, key, stop)
            }
            Order::Start => {
                let first = |i: u32| problem.lives.of(i as usize)[0].first();
                sorted(problem, |i| (first(i), Reverse(size(i))), stop)
            }
        }
    }
}

/// How many instructions an item is live at.
fn length(problem: &Problem, item: u32) -> u64 {
    let life = problem.lives.of(item as usize);
    life.iter()
        .map(|s| u64::from(s.last().0 - s.first().0) + 1)
        .sum()
}

/// All items by ascending key; ties by dense id. `None` once `stop` says so.
fn sorted<K: Ord + Copy>(
    problem: &Problem,
    key: impl Fn(u32) -> K,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Vec<u32>> {
    let mut keyed: Vec<(K, u32)> = (0..problem.items.len() as u32)
        .map(|i| (key(i), i))
        .collect();
    sort_unless(&mut keyed, stop)?;
    Some(keyed.into_iter().map(|(_, i)| i).collect())
}
