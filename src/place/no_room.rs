//! Why nothing fits: the report of a failed run. // P9

use std::cmp::Reverse;
use std::fmt;

use super::bound::lower_bound;
use super::infeasible::Conflict;
use super::prepared::Windows;
use super::{PAGE, Problem};
use crate::ir::{FlatIndex, Segment, Usage, overlap};
use crate::sorting::CompactSort as _;
use dramalloc_engine::Request;

/// How many holders a report names; the rest become a total.
pub const NAMED_HOLDERS: usize = 10;

/// A location for which no address was left, and what was in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// The location's name.
    pub location: String,
    /// Its position: `MemLocId` of a function, or the row of a raw problem.
    pub id: u32,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The instruction at which the live bytes leave it the least room; in a raw problem, the time.
    pub index: i64,
    /// The bytes that the space may use, floor included.
    pub capacity: u64,
    /// The lower bound of the space.
    pub bound: u64,
    /// How many bytes it missed: its size less the largest hole.
    pub deficit: u64,
    /// The largest run of bytes free over its whole life.
    pub largest_hole: u64,
    /// The ten largest holders of bytes at `index`, largest first.
    pub holders: Vec<Holder>,
    /// How many holders are not named.
    pub others: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// The proof that no placement exists; `None`: whether one does is not known. // S3
    pub infeasible: Option<Infeasible>,
}

/// Locations that cannot all be placed, whatever else is. // S3
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The locations, the largest first.
    pub set: Vec<Member>,
    /// The instruction at which the most of their bytes are live; in a raw problem, the time.
    pub index: i64,
    /// At least so many bytes are missing.
    pub deficit: u64,
    /// Without any one of them, the others can be placed; `false`: not known.
    pub minimal: bool,
}

/// One of the locations of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The location's name.
    pub location: String,
    /// Its position: `MemLocId` of a function, or the row of a raw problem.
    pub id: u32,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The run of its life that contains the instruction, else its first, `(first, last)`, closed.
    pub life: (i64, i64),
}

/// Something that has bytes at the instruction in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The location's name.
    pub location: String,
    /// Its position: `MemLocId` of a function, or the row of a raw problem.
    pub id: u32,
    /// Its first byte.
    pub start: u64,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The run of its life that contains the instruction, `(first, last)`, closed.
    pub life: (i64, i64),
}

/// What a report names: an item or a pin of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// By dense id.
    Item(u32),
    /// By position.
    Pin(usize),
}

/// Why `item` found no room beside what was placed, `offsets`.
///
/// `name` tells what the host calls an item or a pin: its name and its own position.
pub(crate) fn no_room(
    problem: &Problem,
    offsets: &[Option<u64>],
    item: u32,
    proof: Option<&Conflict>,
    name: impl Fn(Named) -> (String, u32),
) -> NoRoom {
    let of = &problem.items[item as usize];
    let life = problem.lives.of(item as usize);
    let taken = taken(problem, offsets);
    let index = fullest(&taken, life);
    let largest_hole = largest_hole(problem, &taken, item);
    let mut at_index: Vec<(&Taken<'_>, Segment)> = taken
        .iter()
        .filter_map(|t| Some((t, *t.life.iter().find(|s| s.contains(index))?)))
        .collect();
    at_index.sort_compact_by_key(|(t, _)| (Reverse(t.end - t.start), t.start));
    let bytes_of = |(t, _): &(&Taken<'_>, Segment)| t.end - t.start;
    let unnamed = at_index.get(NAMED_HOLDERS..).unwrap_or(&[]);
    let (others, other_bytes) = (unnamed.len() as u64, unnamed.iter().map(bytes_of).sum());
    let holders = at_index.iter().take(NAMED_HOLDERS).map(|&(t, life)| {
        let (location, id) = name(t.what);
        Holder {
            location,
            id,
            start: t.start,
            bytes: t.end - t.start,
            life: (life.first().0.into(), life.last().0.into()),
        }
    });
    let bound = lower_bound(problem);
    let (location, id) = name(Named::Item(item));
    NoRoom {
        location,
        id,
        bytes: of.size,
        index: index.0.into(),
        capacity: problem.ceiling,
        bound,
        deficit: of.size.saturating_sub(largest_hole),
        largest_hole,
        holders: holders.collect(),
        others,
        other_bytes,
        infeasible: proof.map(|proof| infeasible(problem, proof, name)),
    }
}

/// A proof in the host's words.
fn infeasible(
    problem: &Problem,
    proof: &Conflict,
    name: impl Fn(Named) -> (String, u32),
) -> Infeasible {
    let mut items = proof.items.clone();
    items.sort_compact_by_key(|&i| Reverse(problem.items[i as usize].size));
    let set = items.iter().map(|&i| {
        let life = problem.lives.of(i as usize);
        let there = life.iter().find(|s| s.contains(proof.index));
        let there = there.unwrap_or(&life[0]);
        let (location, id) = name(Named::Item(i));
        Member {
            location,
            id,
            bytes: problem.items[i as usize].size,
            life: (there.first().0.into(), there.last().0.into()),
        }
    });
    Infeasible {
        set: set.collect(),
        index: proof.index.0.into(),
        deficit: proof.deficit,
        minimal: proof.minimal,
    }
}

/// Bytes that something has while it lives.
struct Taken<'p> {
    what: Named,
    start: u64,
    end: u64,
    life: &'p [Segment],
}

/// Everything placed and every pin above the floor.
fn taken<'p>(problem: &'p Problem, offsets: &[Option<u64>]) -> Vec<Taken<'p>> {
    let items = offsets.iter().enumerate().filter_map(|(i, offset)| {
        let start = (*offset)?;
        Some(Taken {
            what: Named::Item(i as u32),
            start,
            end: start + problem.items[i].size, // It was placed, so its end is an address.
            life: problem.lives.of(i),
        })
    });
    let pins = problem.pins.iter().enumerate().map(|(i, pin)| Taken {
        what: Named::Pin(i),
        start: pin.start.max(problem.floor),
        end: pin.end,
        life: problem.pin_lives.of(i),
    });
    items.chain(pins).filter(|t| t.start < t.end).collect()
}

/// The first instruction of a life at which the most bytes are taken.
fn fullest(taken: &[Taken<'_>], life: &[Segment]) -> FlatIndex {
    // Bytes are most where a holder or the life itself begins.
    let mut changes: Vec<(u32, bool, u128)> = Vec::new();
    for t in taken {
        for segment in t.life {
            let bytes = u128::from(t.end - t.start);
            changes.push((segment.first().0, false, bytes));
            // Closed: the bytes are taken at `last` too. // L2
            if let Some(past) = segment.last().0.checked_add(1) {
                changes.push((past, true, bytes));
            }
        }
    }
    changes.extend(life.iter().map(|s| (s.first().0, false, 0)));
    changes.sort_compact_by_key(|&(at, ends, _)| (at, ends));
    let mut fullest = life[0].first();
    let (mut most, mut begun, mut ended) = (None, 0u128, 0u128);
    for at_one_index in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, ends, bytes) in at_one_index {
            if ends {
                ended += bytes;
            } else {
                begun += bytes;
            }
        }
        let index = FlatIndex(at_one_index[0].0);
        if life.iter().any(|s| s.contains(index)) && most.is_none_or(|m| begun - ended > m) {
            (most, fullest) = (Some(begun - ended), index);
        }
    }
    fullest
}

/// The windows in which the item was tried: if there is a collective region, a hole that lies
/// across its end was of no use to it. // P5, P6
fn windows(problem: &Problem, taken: &[Taken<'_>], usage: Usage) -> Vec<(u64, u64)> {
    let (floor, ceiling) = (problem.floor, problem.ceiling);
    let Some(limit) = problem.collective_limit else {
        return Windows::new(problem, floor, ceiling).of(usage).to_vec();
    };
    let region_end = floor.saturating_add(limit);
    let mut above = region_end;
    if problem.trim_collective {
        let in_region = |t: &&Taken<'_>| match t.what {
            Named::Item(i) => problem.usage(i) == Usage::Collective && t.end <= region_end,
            Named::Pin(_) => false,
        };
        let ends = taken.iter().filter(in_region).map(|t| t.end);
        above = ends.max().map_or(floor, |end| {
            end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
        });
    }
    [(floor, region_end.min(ceiling)), (above, ceiling)]
        .into_iter()
        .flat_map(|(low, high)| Windows::new(problem, low, high).of(usage).to_vec())
        .collect()
}

/// The bytes from an admitted start to the next obstacle, the most there are anywhere.
fn largest_hole(problem: &Problem, taken: &[Taken<'_>], item: u32) -> u64 {
    let of = &problem.items[item as usize];
    let life = problem.lives.of(item as usize);
    let mut ranges: Vec<(u64, u64)> = taken
        .iter()
        .filter(|t| overlap(t.life, life))
        .map(|t| (t.start, t.end))
        .collect();
    ranges.sort_compact();
    let mut largest = 0;
    for (low, high) in windows(problem, taken, problem.usage(item)) {
        let request = Request {
            size: of.size,
            align: of.align,
            page: problem.page_of(item, true), // It has failed as a straddler too. // P7
            low,
            high,
        };
        let mut free_from = low;
        for (start, end) in ranges.iter().copied().chain([(high, high)]) {
            if let Some(admitted) = request.admitted(free_from) {
                largest = largest.max(start.min(high).saturating_sub(admitted));
            }
            free_from = free_from.max(end);
        }
    }
    largest
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no placement exists: ")?;
        for (i, member) in self.set.iter().take(NAMED_HOLDERS).enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            let (first, last) = member.life;
            let Member {
                location, bytes, ..
            } = member;
            write!(f, "{separator}{location} [{first}, {last}] {bytes} bytes")?;
        }
        if let Some(rest) = self
            .set
            .get(NAMED_HOLDERS..)
            .filter(|rest| !rest.is_empty())
        {
            let bytes: u128 = rest.iter().map(|m| u128::from(m.bytes)).sum();
            write!(f, " and {} more with {bytes} bytes", rest.len())?;
        }
        let Infeasible { index, deficit, .. } = self;
        let (cannot, need, bytes) = match self.set.len() {
            1 => ("cannot be placed, whatever else is", "it needs", "its"),
            _ => ("cannot all be placed", "they need", "their"),
        };
        // A search may have proved it where the bytes of no instruction alone do.
        write!(
            f,
            " {cannot}; {need} at least {deficit} more, and the most of {bytes} bytes are live at \
             instruction {index}"
        )?;
        f.write_str(match (self.minimal, self.set.len()) {
            (true, 1) => "",
            (true, _) => "; without any one of them the others fit",
            (false, _) => "; fewer of them may be too much already",
        })
    }
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoRoom {
            location,
            bytes,
            capacity,
            bound,
            index,
            ..
        } = self;
        write!(
            f,
            "no room for {location} of {bytes} bytes within {capacity}: "
        )?;
        write!(
            f,
            "at instruction {index} the largest hole is {} bytes, ",
            self.largest_hole
        )?;
        write!(
            f,
            "{} too few; the lower bound is {bound} bytes",
            self.deficit
        )?;
        match &self.infeasible {
            Some(proof) => write!(f, "; {proof}")?,
            None => f.write_str("; whether a placement exists is not known")?,
        }
        for (i, h) in self.holders.iter().enumerate() {
            f.write_str(if i == 0 { "; held by " } else { ", " })?;
            let (first, last) = h.life;
            write!(
                f,
                "{} [{first}, {last}] {} bytes at {}",
                h.location, h.bytes, h.start
            )?;
        }
        if self.others > 0 {
            write!(
                f,
                ", and {} more with {} bytes",
                self.others, self.other_bytes
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::place::infeasible::conflict;
    use crate::place::{Unsolved, solve, testing};

    fn name(named: Named) -> (String, u32) {
        match named {
            Named::Item(i) => (format!("item{i}"), 100 + i),
            Named::Pin(i) => (format!("pin{i}"), 200 + i as u32),
        }
    }

    #[test]
    fn the_report_names_the_hole_the_holders_and_what_is_missing() {
        let mut problem = Problem {
            ceiling: 100,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 30, &[(0, 4)]);
        testing::add_item(&mut problem, 40, &[(3, 9)]);
        testing::add_item(&mut problem, 50, &[(0, 9)]);
        testing::add_pin(&mut problem, 90, 95, &[(5, 5)]);
        let offsets = [Some(10), Some(40), None];
        let proof = conflict(&problem, 2, false, &mut Control::default());
        let report = no_room(&problem, &offsets, 2, proof.as_ref(), name);
        //  95 |           p
        //  80 |        b--+-----b
        //  40 |  a--+--+--------+
        //  10 |  +-----+
        //     +--0--3--4--5-----9
        assert_eq!(report.location, "item2");
        assert_eq!((report.id, report.bytes, report.index), (102, 50, 3));
        assert_eq!((report.capacity, report.bound), (100, 120));
        let proof = report.infeasible.as_ref().expect("120 bytes live at once");
        let set: Vec<(&str, u32)> = proof.set.iter().map(|m| (&*m.location, m.id)).collect();
        assert_eq!(set, [("item2", 102), ("item1", 101), ("item0", 100)]);
        assert_eq!((proof.index, proof.deficit, proof.minimal), (3, 20, true));
        assert_eq!(proof.set[1].life, (3, 9));
        // Free over the whole life: 0 to 10, 80 to 90, 95 to 100.
        assert_eq!((report.largest_hole, report.deficit), (10, 40));
        let holders: Vec<&str> = report.holders.iter().map(|h| h.location.as_str()).collect();
        assert_eq!(holders, ["item1", "item0"]);
        assert_eq!((report.others, report.other_bytes), (0, 0));
    }

    #[test]
    fn the_eleventh_holder_is_part_of_a_total() {
        let mut problem = Problem {
            ceiling: 200,
            granule: 1,
            ..Problem::default()
        };
        let mut offsets = Vec::new();
        for i in 0..13u64 {
            testing::add_item(&mut problem, i + 1, &[(i as u32, 20)]);
            offsets.push(Some(14 * i));
        }
        testing::add_item(&mut problem, 50, &[(0, 30)]);
        offsets.push(None);
        let report = no_room(&problem, &offsets, 13, None, name);
        assert_eq!(report.index, 12);
        let bytes: Vec<u64> = report.holders.iter().map(|h| h.bytes).collect();
        assert_eq!(bytes, (4..=13).rev().collect::<Vec<u64>>());
        assert_eq!((report.others, report.other_bytes), (3, 1 + 2 + 3));
    }

    #[test]
    fn an_item_that_failed_is_larger_than_the_largest_hole() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let solved = solve(&problem, Strategy::Reference, None, &mut Control::default());
            if let Err(Unsolved::NoRoom { item, offsets, .. }) = solved {
                let report = no_room(&problem, &offsets, item, None, name);
                assert!(report.bytes > report.largest_hole, "{problem:?}");
                assert!(
                    problem
                        .lives
                        .of(item as usize)
                        .iter()
                        .any(|s| s.contains(FlatIndex(report.index as u32)))
                );
            }
            Ok(())
        });
    }
}
