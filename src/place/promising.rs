//! Is a hint likely to lead to the goal?
//!
//! A change is felt where something large has grown: it needs a hole that was not there before. To
//! give room to one or two such items, a few small ones move. With more of them, or where what lies
//! around them lives for long, half of everything would have to move. So the largest items that need
//! a new place are looked at, each by itself, as if all that is hinted lay there: is there room
//! below the goal? That takes a fraction of a first fit.
//!
//! One that lives so long that it meets thousands is a case of its own. If such a one finds no
//! room, whatever it pushes out lives everywhere, too, and the looks around it alone are more than a
//! repair may take. So these are looked at as well, by a map of the bytes that are held somewhere in
//! their lives: exact to a bucket, for which nothing has to be sorted. They compete for room with
//! what else is new, so that is given a place first as far as it is larger, at a few moments at
//! which much of it lives.

use super::around::Around;
use super::improve::Neighbours;
use super::meter::{Meter, Stop};
use super::places::Places;
use super::prepared::Prepared;
use crate::pace::Pace;

/// So many of the largest items that need a new place are looked at, of four times as many those for
/// which there are no more than so many rows to visit.
const SAMPLE: usize = 32;
const FEW_ROWS: u64 = 1 << 11;

/// If more than so many of them find none, a repair is seldom possible. Measured: 0 to 2 where it is,
/// and 5 to 19 where it is not.
const MOST_HOMELESS: usize = 4;

/// If those that find none meet more than one in so many of what a repair may look at, none is
/// possible. Measured: up to 0.43 of that where it is, and from 0.8 where it is not.
const MOST_OF_LOOKS: u64 = 2;

/// As many looks as a repair may take, so many times, go into that.
const LOOKS_OF_REPAIR: u64 = 4;

/// How many moments.
const MOMENTS: usize = 16;

/// Buckets of a map, at most.
const BUCKETS: usize = 1 << 15;

/// Which bytes below a ceiling are held at any time in a life.
struct Map {
    floor: u64,
    /// The binary logarithm of the bytes of a bucket.
    shift: u32,
    /// By bucket: how many more ranges begin there than end before it.
    changes: Vec<i32>,
}

impl Map {
    fn new(floor: u64, ceiling: u64) -> Map {
        let bits = u64::BITS - ceiling.saturating_sub(floor).leading_zeros();
        Map {
            floor,
            shift: bits.saturating_sub(BUCKETS.ilog2()),
            changes: vec![0; BUCKETS + 1],
        }
    }

    fn take(&mut self, start: u64, end: u64) {
        if end <= start.max(self.floor) {
            return;
        }
        let bucket = |at: u64| (at.saturating_sub(self.floor) >> self.shift) as usize;
        let past = bucket(end - 1) + 1;
        let (first, past) = (bucket(start).min(BUCKETS), past.min(BUCKETS));
        self.changes[first] += 1;
        self.changes[past] -= 1;
    }

    /// Where so many bytes may find room below the ceiling, give or take what is held of a bucket.
    /// Forgets what is held.
    fn room(&mut self, size: u64, ceiling: u64) -> Option<u64> {
        let end = (ceiling.saturating_sub(self.floor) >> self.shift) as usize;
        let (mut held, mut free, mut found) = (0, 0, None);
        for (bucket, change) in self.changes.iter_mut().enumerate() {
            held += std::mem::take(change);
            free = if held > 0 || bucket >= end {
                0
            } else {
                free + 1
            };
            if found.is_none() && free > 0 && size >> self.shift <= free + 1 {
                found = Some(self.floor + ((bucket as u64 + 1 - free) << self.shift));
            }
        }
        found.filter(|start| start.checked_add(size).is_some())
    }
}

/// The points at which most bytes of the `items` live, one in each of equally long stretches of
/// time.
fn moments(
    prepared: &Prepared<'_>,
    items: &[u32],
    pace: &mut Pace<'_, '_>,
) -> Result<[u32; MOMENTS], Stop> {
    let loads = prepared.loads_of(items.iter().copied(), pace)?;
    let stretch = (loads.len() + 1).div_ceil(MOMENTS);
    let mut best = [(0, 0); MOMENTS];
    for (point, load) in loads.into_iter().enumerate() {
        pace.work(1)?;
        let best = &mut best[point / stretch];
        *best = (load, point as u32).max(*best);
    }
    Ok(best.map(|(_, point)| point))
}

/// Whether those of the `new` items that live long, and others that live at some moments, find room
/// one beside the other, but for so few that a repair with so many looks may succeed.
pub(super) fn all_find_room(
    prepared: &Prepared<'_>,
    neighbours: &Neighbours,
    places: &Places,
    starts: &mut [Option<u64>],
    new: &[u32],
    (goal, looks): (u64, u64),
    meter: &Meter<'_, '_>,
) -> Result<bool, Stop> {
    let problem = prepared.problem;
    let items = &problem.items;
    let points = u64::from(prepared.points());
    let lives_long = |item| prepared.length(item) * items.len() as u64 > FEW_ROWS * points;
    let mut pace = meter.pace();
    let moments = moments(prepared, new, &mut pace)?;
    let mut map = Map::new(problem.floor, goal);
    let mut around = Around::default();
    let (mut left, mut homeless) = (LOOKS_OF_REPAIR * looks, 0);
    for &item in new {
        pace.work(1)?;
        let size = items[item as usize].size;
        let long = lives_long(item);
        let mut runs = prepared.life(item).iter();
        let skipped = match long {
            true => size >> map.shift < 2,
            false => !runs.any(|run| moments.iter().any(|&at| run.first <= at && at <= run.last)),
        };
        if skipped {
            continue;
        }
        let (rows, start) = if long {
            let rows = neighbours.visit(prepared, item, |other| match items.get(other as usize) {
                Some(of) => {
                    if let Some(start) = starts[other as usize] {
                        map.take(start, start + of.size);
                    }
                }
                None => {
                    let pin = problem.pins[other as usize - items.len()];
                    map.take(pin.start, pin.end);
                }
            });
            (rows, map.room(size, goal))
        } else {
            look(prepared, neighbours, places, starts, item, &mut around)
        };
        pace.work(rows as usize)?;
        starts[item as usize] = start;
        homeless += if start.is_none() { rows } else { 0 };
        left = left.saturating_sub(rows);
        if left == 0 || homeless > looks / MOST_OF_LOOKS {
            break;
        }
    }
    Ok(homeless <= looks / MOST_OF_LOOKS)
}

/// Looks around an item. Returns how many looks that took, and the lowest room for it.
fn look(
    prepared: &Prepared<'_>,
    neighbours: &Neighbours,
    places: &Places,
    starts: &[Option<u64>],
    item: u32,
    around: &mut Around,
) -> (u64, Option<u64>) {
    let problem = prepared.problem;
    let looks = around.look(prepared, neighbours, item, |other| starts[other as usize]);
    let windows = places.of(problem, item);
    let mut windows = windows.of(problem.usage(item)).iter();
    let room = windows.find_map(|&window| around.lowest(prepared.request(item, window)));
    (looks, room)
}

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
    let (mut around, mut homeless) = (Around::default(), 0);
    let new = new.iter().copied().take(4 * SAMPLE);
    let new = new.filter(|&item| neighbours.rows_to_visit(prepared, item) <= FEW_ROWS);
    for item in new.take(SAMPLE) {
        meter.poll()?;
        let (_, room) = look(prepared, neighbours, places, starts, item, &mut around);
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

    //  1600 |         +--+      goal
    //       |         |  |
    //  1100 | +-------|  |---------+
    //  1000 | +--+--+-+--+-+--+ ...+ x 3
    //     0 +-+--+--+-+--+-+--+-----> time
    #[test]
    fn those_that_live_long_compete_for_room_with_larger_ones_at_a_crowded_moment() {
        for (goal, beside, want) in [
            (1_100, 0, true),
            (1_098, 0, false),
            (1_600, 0, true),
            (1_600, 500, true),
            (1_598, 500, false),
        ] {
            let mut problem = Problem {
                ceiling: u64::MAX,
                granule: 1,
                ..Problem::default()
            };
            for at in 0..3_000 {
                testing::add_item(&mut problem, 1_000, &[(at, at)]);
                problem.hint.starts.push(Some(0));
            }
            if beside > 0 {
                testing::add_item(&mut problem, beside, &[(700, 700)]);
            }
            // Side by side they need more, but what one of them meets is not too much for a repair.
            for _ in 0..3 {
                testing::add_item(&mut problem, 100, &[(0, 2_999)]);
            }
            let promising = is_promising(&problem, goal);
            assert_eq!(promising, want, "{goal} {beside}");
        }
    }
}
