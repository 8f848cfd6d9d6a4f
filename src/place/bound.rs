//! The lower bound: a peak below which no placement can stay. // T
//!
//! At every instruction the load must find room above the floor, beside the pins that are live
//! there. Without such pins that is the floor and the greatest load. With them, it is the least
//! address below which enough bytes are free, and that at the worst instruction: a sweep through
//! time keeps what the live pins cover in a tree by address, which answers each instruction in
//! logarithmic time.

use std::cmp::Reverse;

use super::load::Loads;
use super::{Pin, Problem};
use crate::control::Stop;
use crate::ir::FlatIndex;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// The least peak that any placement can have, in bytes; `u64::MAX` if it does not fit in 64 bits.
///
/// Regions and alignment are not taken into account. Bytes that several pins hold count once.
pub fn lower_bound(problem: &Problem) -> u64 {
    lower_bound_unless(problem, &mut Pace::free()).expect("nothing stops it")
}

/// The same, unless the host stops it.
pub(crate) fn lower_bound_unless(problem: &Problem, pace: &mut Pace<'_, '_>) -> Result<u64, Stop> {
    let loads = Loads::unless(problem, pace)?;
    let floor = u128::from(problem.floor);
    let bound = if pins_matter(problem) {
        beside_pins(problem, &loads, pace)?.0
    } else {
        floor + loads.bytes.iter().max().copied().unwrap_or(0)
    };
    Ok(u64::try_from(bound).unwrap_or(u64::MAX))
}

/// The same from the loads at the points, where they say it: no bytes are saved by pairs, no pins
/// are beside the items, and no sum has wrapped.
pub(crate) fn lower_bound_of_points(problem: &Problem, loads: &[u64]) -> Option<u64> {
    let mut sizes = problem.items.iter().map(|item| item.size);
    let all = sizes.try_fold(0_u64, |all, size| all.checked_add(size));
    all.filter(|_| problem.pairs.is_empty() && !pins_matter(problem))?;
    let most = loads.iter().max().copied().unwrap_or(0);
    Some(problem.floor.saturating_add(most))
}

/// The first instruction at which no placement can stay below the lower bound.
pub(crate) fn worst_index(problem: &Problem) -> FlatIndex {
    let loads = Loads::of(problem);
    let piece = if pins_matter(problem) {
        beside_pins_to_the_end(problem, &loads).1
    } else {
        loads.peak()
    };
    loads.index(piece.unwrap_or(0))
}

/// The lower bound of other loads than the items have, one for each instruction, beside the
/// problem's pins; and the first instruction that has it.
pub(crate) fn bound_of_loads(problem: &Problem, loads: &[u64]) -> (u64, FlatIndex) {
    let floor = u128::from(problem.floor);
    let (bound, index) = if pins_matter(problem) {
        beside_pins_to_the_end(problem, &Loads::known(loads))
    } else {
        let first = (0..loads.len()).max_by_key(|&t| (loads[t], Reverse(t)));
        (floor + first.map_or(0, |t| u128::from(loads[t])), first)
    };
    let bound = u64::try_from(bound).unwrap_or(u64::MAX);
    (bound, FlatIndex::new(index.unwrap_or(0)))
}

fn pins_matter(problem: &Problem) -> bool {
    let above_floor = |pin: &Pin| pin.end > problem.floor && pin.start < pin.end;
    problem.pins.iter().any(above_floor)
}

/// The bound, and the first piece that has it; `None` if no load rises above the floor.
fn beside_pins(
    problem: &Problem,
    loads: &Loads,
    pace: &mut Pace<'_, '_>,
) -> Result<(u128, Option<usize>), Stop> {
    // A pin of no bytes meets nothing, wherever it lies. // L10
    let holds = |i: &usize| problem.pins[*i].start < problem.pins[*i].end;
    let above = |address: u64| address.max(problem.floor);
    let mut covered = Covered::new(
        problem.floor,
        problem
            .pins
            .iter()
            .map(|pin| (above(pin.start), above(pin.end))),
    );
    // (piece, pin, whether it begins)
    let mut changes: Vec<(usize, usize, bool)> = Vec::new();
    for i in (0..problem.pins.len()).filter(holds) {
        pace.work(1)?;
        for &segment in problem.pin_lives.of(i) {
            let (first, past) = loads.pieces(segment);
            changes.extend([(first, i, true), (past, i, false)]);
        }
    }
    changes.sort_compact_by(Ord::cmp);
    let mut changes = changes.into_iter().peekable();
    let floor = u128::from(problem.floor);
    let (mut bound, mut worst) = (floor, None);
    for (piece, &load) in loads.bytes.iter().enumerate() {
        pace.work(1)?;
        while let Some((_, i, begins)) = changes.next_if(|change| change.0 <= piece) {
            let pin = &problem.pins[i];
            covered.set((above(pin.start), above(pin.end)), begins);
        }
        // The bound only rises, so that most pieces need no walk.
        if load > 0 && floor + load + covered.bytes() > bound {
            let room = covered.room_for(load);
            if room > bound {
                (bound, worst) = (room, Some(piece));
            }
        }
    }
    Ok((bound, worst))
}

/// The same, whatever the host wants.
fn beside_pins_to_the_end(problem: &Problem, loads: &Loads) -> (u128, Option<usize>) {
    beside_pins(problem, loads, &mut Pace::free()).expect("nothing stops it")
}

/// Which bytes the pins cover that are live at the instruction of a sweep: a segment tree over the
/// ranges between their ends (Bentley, *Algorithms for Klee's rectangle problems*, 1977), so that
/// bytes that several pins cover count once.
struct Covered {
    /// The floor and the ends of all pins, ascending; what follows the last is never covered.
    cuts: Vec<u64>,
    /// Heap order, root at 1: how many live pins cover all of the node but not of its parent.
    pins: Vec<u32>,
    /// The bytes that are covered below the node.
    bytes: Vec<u128>,
    leaves: usize,
}

impl Covered {
    fn new(floor: u64, ranges: impl Iterator<Item = (u64, u64)>) -> Covered {
        let mut cuts = vec![floor];
        cuts.extend(ranges.flat_map(|(start, end)| [start, end]));
        cuts.sort_unstable();
        cuts.dedup();
        let leaves = (cuts.len() - 1).next_power_of_two();
        Covered {
            cuts,
            pins: vec![0; 2 * leaves],
            bytes: vec![0; 2 * leaves],
            leaves,
        }
    }

    /// The bytes that are covered.
    fn bytes(&self) -> u128 {
        self.bytes[1]
    }

    /// The bytes of some leaves, those past the last cut being none.
    fn width(&self, first: usize, leaves: usize) -> u128 {
        let last = self.cuts.len() - 1;
        u128::from(self.cuts[(first + leaves).min(last)] - self.cuts[first.min(last)])
    }

    /// A pin begins or ends.
    fn set(&mut self, (start, end): (u64, u64), live: bool) {
        let cut = |address: u64| self.cuts.partition_point(|&cut| cut < address);
        let (from, to) = (cut(start), cut(end));
        if from < to {
            self.set_below(1, (0, self.leaves), (from, to), live);
        }
    }

    fn set_below(
        &mut self,
        node: usize,
        (first, leaves): (usize, usize),
        (from, to): (usize, usize),
        live: bool,
    ) {
        if to <= first || first + leaves <= from {
            return;
        }
        if from <= first && first + leaves <= to {
            if live {
                self.pins[node] += 1;
            } else {
                self.pins[node] -= 1; // It has begun.
            }
        } else {
            let half = leaves / 2;
            self.set_below(2 * node, (first, half), (from, to), live);
            self.set_below(2 * node + 1, (first + half, half), (from, to), live);
        }
        self.bytes[node] = match self.pins[node] {
            0 if leaves == 1 => 0,
            0 => self.bytes[2 * node] + self.bytes[2 * node + 1],
            _ => self.width(first, leaves),
        };
    }

    /// The least address below which `load` bytes from the floor on are free.
    fn room_for(&self, load: u128) -> u128 {
        let free =
            |node: usize, first: usize, leaves: usize| self.width(first, leaves) - self.bytes[node];
        let all = free(1, 0, self.leaves);
        if all < load {
            return u128::from(self.cuts[self.cuts.len() - 1]) + (load - all);
        }
        let (mut node, mut first, mut leaves, mut load) = (1, 0, self.leaves, load);
        // A node that a pin covers whole has no free bytes, so the walk never enters it.
        while leaves > 1 {
            leaves /= 2;
            node *= 2;
            let left = free(node, first, leaves);
            if left < load {
                load -= left;
                node += 1;
                first += leaves;
            }
        }
        u128::from(self.cuts[first]) + load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::load::load_profile;
    use crate::place::prepared::Prepared;
    use crate::place::testing;

    /// Byte by byte, instruction by instruction.
    fn naive(problem: &Problem) -> u64 {
        let mut bound = problem.floor;
        for (t, &load) in (0..).zip(&load_profile(problem, 40)) {
            let pinned = |byte: u64| {
                (0..problem.pins.len()).any(|i| {
                    let pin = problem.pins[i];
                    let life = problem.pin_lives.of(i);
                    (pin.start..pin.end).contains(&byte)
                        && life.iter().any(|s| s.contains(FlatIndex(t)))
                })
            };
            let (mut free, mut end) = (0, problem.floor);
            while free < load {
                free += u64::from(!pinned(end));
                end += 1;
            }
            bound = bound.max(end);
        }
        bound
    }

    #[test]
    fn the_bound_is_that_of_counting_bytes() {
        arbtest::arbtest(|u| {
            let mut problem = testing::small_problem(u)?;
            assert_eq!(lower_bound(&problem), naive(&problem), "{problem:?}");
            // Obstacles of several holders may share bytes.
            for _ in 0..u.int_in_range(0..=4)? {
                let (first, start) = (u.int_in_range(0..=12)?, u.int_in_range(0..=20)?);
                let last = u.int_in_range(first..=first + 6)?;
                let end = u.int_in_range(start..=start + 8)?;
                testing::add_pin(&mut problem, start, end, &[(first, last)]);
            }
            assert_eq!(lower_bound(&problem), naive(&problem), "{problem:?}");
            let prepared = Prepared::new(&problem);
            let loads = prepared.loads(&mut Pace::free()).expect("nothing stops it");
            if let Some(bound) = lower_bound_of_points(&problem, &loads) {
                assert_eq!(bound, lower_bound(&problem), "{problem:?}");
            }
            let loads = load_profile(&problem, 40);
            let (bound, index) = bound_of_loads(&problem, &loads);
            assert_eq!(bound, lower_bound(&problem), "{problem:?}");
            if bound > problem.floor {
                // Where nothing needs room, no instruction is worse than another.
                assert_eq!(index, worst_index(&problem), "{problem:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn nothing_to_place_has_the_floor_as_its_bound() {
        let problem = Problem {
            floor: 12288,
            ..Problem::default()
        };
        assert_eq!(lower_bound(&problem), 12288);
    }

    #[test]
    fn a_bound_beyond_64_bits_is_all_of_them() {
        let mut problem = Problem {
            floor: 4096,
            ..Problem::default()
        };
        testing::add_item(&mut problem, u64::MAX - 5, &[(0, 0)]);
        assert_eq!(lower_bound(&problem), u64::MAX);
    }
}
