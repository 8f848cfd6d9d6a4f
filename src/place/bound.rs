//! The lower bound: a peak below which no placement can stay. // T
//!
//! At every instruction the load must find room above the floor, beside the pins that are live
//! there. Without such pins that is the floor and the greatest load. With them, it is the least
//! address below which enough bytes are free, and that at the worst instruction: a sweep through
//! time keeps the live pins in a tree by start, which answers each instruction in logarithmic time.

use super::load::Loads;
use super::{Pin, Problem};
use crate::order::Stop;

/// The least peak that any placement can have, in bytes; `u64::MAX` if it does not fit in 64 bits.
///
/// Regions and alignment are not taken into account. Pins that share bytes while both live count
/// once each, so the caller must have refused them.
pub fn lower_bound(problem: &Problem) -> u64 {
    lower_bound_unless(problem, &mut || false).expect("nothing stops it")
}

/// The same; `None` once `stop` says so.
pub(crate) fn lower_bound_unless(problem: &Problem, stop: &mut Stop<'_>) -> Option<u64> {
    let loads = Loads::unless(problem, stop)?;
    let floor = u128::from(problem.floor);
    let above_floor = |pin: &Pin| pin.end > problem.floor && pin.start < pin.end;
    let bound = if problem.pins.iter().any(above_floor) {
        beside_pins(problem, &loads)
    } else {
        floor + loads.bytes.iter().max().copied().unwrap_or(0)
    };
    Some(u64::try_from(bound).unwrap_or(u64::MAX))
}

fn beside_pins(problem: &Problem, loads: &Loads) -> u128 {
    // A pin of no bytes meets nothing, wherever it lies. // L10
    let holds = |i: &usize| problem.pins[*i].start < problem.pins[*i].end;
    let mut by_start: Vec<usize> = (0..problem.pins.len()).filter(holds).collect();
    by_start.sort_by_key(|&i| problem.pins[i].start);
    // (piece, pin's rank by start, whether it begins)
    let mut changes: Vec<(usize, usize, bool)> = Vec::new();
    let mut ranges = Vec::new();
    for (rank, &i) in by_start.iter().enumerate() {
        let pin = &problem.pins[i];
        let start = pin.start.max(problem.floor);
        ranges.push((u128::from(start), u128::from(pin.end.max(start) - start)));
        for &segment in problem.pin_lives.of(i) {
            let (first, past) = loads.pieces(segment);
            changes.extend([(first, rank, true), (past, rank, false)]);
        }
    }
    changes.sort_unstable();
    let mut live = LivePins::new(ranges);
    let mut changes = changes.into_iter().peekable();
    let floor = u128::from(problem.floor);
    let mut bound = floor;
    for (piece, &load) in loads.bytes.iter().enumerate() {
        while let Some((_, rank, begins)) = changes.next_if(|change| change.0 <= piece) {
            live.set(rank, begins);
        }
        // The bound only rises, so that most pieces need no walk.
        if load > 0 && floor + load + live.bytes() > bound {
            bound = bound.max(live.room_for(load, floor));
        }
    }
    bound
}

/// The pins that are live at the instruction of a sweep: a complete binary tree by start.
struct LivePins {
    /// By rank: start and bytes.
    ranges: Vec<(u128, u128)>,
    /// Heap order, root at 1. Start of the first live pin below, and the bytes of all of them.
    nodes: Vec<(u128, u128)>,
    leaves: usize,
}

/// The start of a pin that is not there.
const NOWHERE: u128 = u128::MAX;

impl LivePins {
    fn new(ranges: Vec<(u128, u128)>) -> LivePins {
        let leaves = ranges.len().next_power_of_two();
        LivePins {
            ranges,
            nodes: vec![(NOWHERE, 0); 2 * leaves],
            leaves,
        }
    }

    /// Bytes of the live pins.
    fn bytes(&self) -> u128 {
        self.nodes[1].1
    }

    fn set(&mut self, rank: usize, live: bool) {
        let mut at = self.leaves + rank;
        self.nodes[at] = if live {
            self.ranges[rank]
        } else {
            (NOWHERE, 0)
        };
        while at > 1 {
            at /= 2;
            let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
            self.nodes[at] = (left.0.min(right.0), left.1 + right.1);
        }
    }

    /// The least address below which `load` bytes from `floor` on are free.
    fn room_for(&self, load: u128, floor: u128) -> u128 {
        // Whether the bytes before a pin are too few, given the pinned ones before it.
        let too_few = |start: u128, pinned: u128| start != NOWHERE && start - pinned - floor < load;
        let (mut at, mut pinned) = (1, 0);
        while at < self.leaves {
            let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
            // Live pins do not meet, so the free bytes before them ascend with their starts.
            if too_few(right.0, pinned + left.1) {
                pinned += left.1;
                at = 2 * at + 1;
            } else {
                at *= 2;
            }
        }
        if too_few(self.nodes[at].0, pinned) {
            pinned += self.nodes[at].1;
        }
        floor + load + pinned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::FlatIndex;
    use crate::place::load::load_profile;
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
            let problem = testing::small_problem(u)?;
            assert_eq!(lower_bound(&problem), naive(&problem), "{problem:?}");
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
