//! Is a hint likely to lead to the goal?
//!
//! A change is felt where something large has grown: it needs a hole that was not there before. To
//! give room to one or two such items, a few small ones move. With more of them, or where what lies
//! around them lives for long, half of everything would have to move. So the largest items that need
//! a new place are looked at, each by itself, as if all that is hinted lay there: is there room
//! below the goal? That takes a fraction of a first fit.

use super::around::Around;
use super::improve::Neighbours;
use super::meter::{Meter, Stop};
use super::places::Places;
use super::prepared::Prepared;

/// So many of the largest items that need a new place are looked at, of four times as many those for
/// which there are no more than so many rows to visit.
const SAMPLE: usize = 32;
const FEW_ROWS: u64 = 1 << 11;

/// If more than so many of them find none, a repair is seldom possible. Measured: 0 to 2 where it is,
/// and 5 to 19 where it is not.
const MOST_HOMELESS: usize = 4;

/// Whether most of the largest of the `new` items, which come the largest first, find room beside
/// `starts` where they belong.
pub(super) fn find_room(
    prepared: &Prepared<'_>,
    neighbours: &Neighbours,
    places: &Places,
    starts: &[Option<u64>],
    new: &[u32],
    meter: &Meter<'_, '_>,
) -> Result<bool, Stop> {
    let problem = prepared.problem;
    let (mut around, mut homeless) = (Around::default(), 0);
    let new = new.iter().copied().take(4 * SAMPLE);
    let new = new.filter(|&item| neighbours.rows_to_visit(prepared, item) <= FEW_ROWS);
    for item in new.take(SAMPLE) {
        meter.poll()?;
        let start_of = |other: u32| starts[other as usize];
        around.look(prepared, neighbours, item, start_of);
        let windows = places.of(problem, item);
        let mut windows = windows.of(problem.items[item as usize].usage).iter();
        let room = windows.find_map(|&window| around.lowest(prepared.request(item, window)));
        homeless += usize::from(room.is_none());
    }
    Ok(homeless <= MOST_HOMELESS)
}

/// Whether the fit of a hint comes before the search.
#[cfg(test)]
pub(super) fn is_promising(problem: &super::Problem, goal: u64) -> bool {
    let prepared = Prepared::new(problem);
    let mut control = crate::control::Control::default();
    let mut meter = Meter::new(&mut control, None);
    let mut warm = super::warm::Warm::new(problem);
    let promising = warm.is_promising(&prepared, goal, &mut meter);
    promising.expect("nothing stops it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{Problem, testing};

    /// Eight stacks of three, one after the other, with gaps, and a new item beside each of the first.
    fn stacks(gap: u64, new: u32, size: u64) -> Problem {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for i in 0..24 {
            let at = 10 * (i / 3);
            testing::add_item(&mut problem, 10, &[(at, at + 5)]);
            let start = (10 + gap) * u64::from(i % 3);
            problem.hint.starts.push(Some(start));
        }
        for i in 0..new {
            testing::add_item(&mut problem, size, &[(10 * i, 10 * i + 5)]);
            problem.hint.starts.push(None);
        }
        problem
    }

    #[test]
    fn a_hint_promises_nothing_if_several_items_find_no_room_below_the_goal() {
        let most = MOST_HOMELESS as u32;
        for (gap, new, size, goal, want) in [
            (10, 0, 0, 50, true),
            (10, 8, 10, 50, true),
            (10, 8, 11, 61, true),
            (10, 8, 11, 60, false),
            (10, most + 1, 11, 60, false),
            (10, most, 11, 60, true),
            // What is hinted above the goal has to move as well.
            (10, 0, 0, 49, true),
            (0, 0, 0, 30, true),
            (0, 0, 0, 29, false),
        ] {
            let promising = is_promising(&stacks(gap, new, size), goal);
            assert_eq!(promising, want, "{gap} {new} {size} {goal}");
        }
        let mut wrong = stacks(10, 8, 11);
        wrong.hint.starts.fill(Some(u64::MAX - 5));
        assert!(is_promising(&wrong, 60), "nothing is in anyone's way");
    }
}
