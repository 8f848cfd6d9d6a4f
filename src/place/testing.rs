//! Random problems, small enough to collide, and a first fit too simple to be wrong.

use arbitrary::{Result, Unstructured};

use super::improve::{Neighbours, ordered_summit, quick_orders};
use super::meter::Meter;
use super::prepared::Prepared;
use super::{InPlacePair, Item, PAGE, Pin, Placement, Problem, Region};
use crate::control::Control;
use crate::ir::{FlatIndex, Lives, Segment, Usage, UsageMask, overlap};
use crate::pace::Pace;

/// Instructions of the random problems.
const HORIZON: u32 = 30;

fn segment(first: u32, last: u32) -> Segment {
    Segment::new(FlatIndex(first), FlatIndex(last)).expect("not inverted")
}

fn life(u: &mut Unstructured<'_>) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut at = u.int_in_range(0..=HORIZON - 8)?;
    for _ in 0..*u.choose(&[1, 1, 1, 2, 3])? {
        let long = if u.ratio(1, 6)? { HORIZON } else { 6 };
        let last = u.int_in_range(at..=HORIZON.min(at + long))?;
        segments.push(segment(at, last));
        // Segments may touch: [0, 3] and [4, 7].
        at = last + 1 + u.int_in_range(0..=4)?;
        if at > HORIZON {
            break;
        }
    }
    Ok(segments)
}

/// Appends an item of this size and life.
pub(crate) fn add_item(problem: &mut Problem, size: u64, life: &[(u32, u32)]) {
    problem.items.push(Item { size, align: 1 });
    problem
        .lives
        .push(life.iter().map(|&(first, last)| segment(first, last)));
}

/// A problem of a few bytes, exact, with pins and pairs, without regions.
pub(crate) fn small_problem(u: &mut Unstructured<'_>) -> Result<Problem> {
    let mut problem = Problem {
        ceiling: u64::MAX,
        granule: 1,
        floor: u.int_in_range(0..=9)?,
        ..Problem::default()
    };
    for _ in 0..u.int_in_range(0..=16)? {
        problem.items.push(Item {
            size: u.int_in_range(1..=20)?,
            align: *u.choose(&[1, 1, 1, 2, 3, 8, 12])?,
        });
        problem.lives.push(life(u)?);
    }
    add_pins(u, &mut problem, 60, 12)?;
    add_pairs(u, &mut problem)?;
    Ok(problem)
}

/// A problem in one of the modes, with all that a problem can have.
pub(crate) fn problem(u: &mut Unstructured<'_>) -> Result<Problem> {
    let mut problem = small_problem(u)?;
    let paged = u.ratio(1, 2)?;
    // Common factors make the engine count in units.
    let unit = if paged {
        PAGE
    } else {
        *u.choose(&[1, 1, 2, 16, 300])?
    };
    problem.granule = if paged { PAGE } else { 1 };
    problem.no_straddle = !paged && u.ratio(1, 2)?;
    problem.floor *= if u.ratio(1, 4)? { 1 } else { unit };
    for i in 0..problem.items.len() {
        let item = &mut problem.items[i];
        item.size *= unit;
        if paged {
            item.align = PAGE * *u.choose(&[1, 1, 1, 2, 8])?;
        } else if u.ratio(1, 4)? {
            item.align = unit;
        }
        if u.ratio(1, 5)? {
            problem.set_usage(i as u32, Usage::Collective);
        }
    }
    if u.ratio(1, 2)? {
        for pin in &mut problem.pins {
            (pin.start, pin.end) = (pin.start * unit, pin.end * unit);
        }
    }
    let room = 80 * unit;
    if u.ratio(1, 3)? {
        problem.collective_limit = Some(u.int_in_range(0..=room)?);
        problem.trim_collective = u.arbitrary()?;
    }
    if u.ratio(1, 3)? {
        problem.ceiling = problem.floor + u.int_in_range(1..=3 * room)?;
    }
    if u.ratio(1, 4)? {
        let grain = if problem.no_straddle { PAGE } else { unit };
        problem.runtime_page = grain * u.int_in_range(1..=25)?;
    }
    if u.ratio(1, 4)? {
        let mut base = 0;
        for _ in 0..u.int_in_range(1..=3)? {
            base += u.int_in_range(0..=room / 4)?;
            let size = u.int_in_range(1..=2 * room)?;
            let usages = *u.choose(&[UsageMask::ALL, UsageMask(1), UsageMask(2)])?;
            problem.regions.push(Region { base, size, usages });
            base += size;
        }
    }
    Ok(problem)
}

fn add_pins(u: &mut Unstructured<'_>, problem: &mut Problem, room: u64, size: u64) -> Result<()> {
    for _ in 0..*u.choose(&[0, 0, 1, 3, 6])? {
        let start = u.int_in_range(0..=room)?;
        let end = start + u.int_in_range(0..=size)?;
        let life = life(u)?;
        let free = (0..problem.pins.len()).all(|i| {
            let pin = problem.pins[i];
            end <= pin.start || pin.end <= start || !overlap(&life, problem.pin_lives.of(i))
        });
        if free {
            problem.pins.push(Pin { start, end });
            problem.pin_lives.push(life);
        }
    }
    Ok(())
}

fn add_pairs(u: &mut Unstructured<'_>, problem: &mut Problem) -> Result<()> {
    let count = problem.items.len() as u32;
    let mut pairs: Vec<InPlacePair> = Vec::new();
    for def in 0..count {
        for used in 0..count {
            let of = |i: u32| problem.items[i as usize].size;
            if used == def || of(def) > of(used) {
                continue;
            }
            for u_segment in problem.lives.of(used as usize) {
                let index = u_segment.last();
                let born = problem
                    .lives
                    .of(def as usize)
                    .iter()
                    .any(|s| s.first() == index);
                // Nothing is a def and a use of one instruction. // L8
                let mixed = |p: &InPlacePair| p.index == index && (p.def == used || p.used == def);
                if born && !pairs.iter().any(mixed) && u.ratio(2, 3)? {
                    pairs.push(InPlacePair { index, used, def });
                }
            }
        }
    }
    // List order within one def is the host's.
    for group in pairs.chunk_by_mut(|a, b| a.def == b.def) {
        if u.arbitrary()? {
            group.reverse();
        }
    }
    problem.pairs = pairs;
    Ok(())
}

/// The problem with every instruction `factor` apart.
pub(crate) fn stretched(problem: &Problem, factor: u32) -> Problem {
    let stretch = |lives: &Lives| {
        let mut wide = Lives::new();
        for i in 0..lives.len() {
            let of = lives.of(i).iter();
            wide.push(of.map(|s| segment(s.first().0 * factor, s.last().0 * factor)));
        }
        wide
    };
    let mut wide = Problem {
        lives: stretch(&problem.lives),
        pin_lives: stretch(&problem.pin_lives),
        ..problem.clone()
    };
    for pair in &mut wide.pairs {
        pair.index.0 *= factor;
    }
    wide
}

/// A permutation of the items.
pub(crate) fn order(u: &mut Unstructured<'_>, problem: &Problem) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = (0..problem.items.len() as u32).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, u.int_in_range(0..=i)?);
    }
    Ok(order)
}

/// Appends a pin with this life.
pub(crate) fn add_pin(problem: &mut Problem, start: u64, end: u64, life: &[(u32, u32)]) {
    problem.pins.push(Pin { start, end });
    let life = life.iter().map(|&(first, last)| segment(first, last));
    problem.pin_lives.push(life);
}

/// What is wrong with a placement, found by comparing all pairs.
pub(crate) fn violations(problem: &Problem, placement: &Placement) -> Vec<String> {
    let mut found = Vec::new();
    let range = |i: usize| {
        let start = placement.offsets[i];
        (start, start + problem.items[i].size)
    };
    let meet = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
    let mut highest = problem.floor;
    for (i, item) in problem.items.iter().enumerate() {
        let (start, end) = range(i);
        highest = highest.max(end);
        if !start.is_multiple_of(item.align) || start < problem.floor || end > problem.ceiling {
            found.push(format!("{i} at {start}: alignment or range"));
        }
        if problem.no_straddle && item.size <= PAGE && start / PAGE != (end - 1) / PAGE {
            found.push(format!("{i} at {start} straddles a page"));
        }
        let usage = problem.usage(i as u32);
        let within =
            |r: &Region| r.usages.contains(usage) && r.base <= start && end <= r.base + r.size;
        if !problem.regions.is_empty() && !problem.regions.iter().any(within) {
            found.push(format!("{i} at {start} lies in no region"));
        }
        let outside = placement.outside_region.contains(&(i as u32));
        if let (Some(limit), Usage::Collective, false) = (problem.collective_limit, usage, outside)
            && end > problem.floor + limit
        {
            found.push(format!("{i} at {start} lies beyond the collective region"));
        }
        for (p, pin) in problem.pins.iter().enumerate() {
            if pin.start < pin.end
                && meet((start, end), (pin.start, pin.end))
                && overlap(problem.lives.of(i), problem.pin_lives.of(p))
            {
                found.push(format!("{i} at {start} lies on pin {p}"));
            }
        }
        for j in 0..i {
            if meet((start, end), range(j)) && !may_share(problem, i, j, range(i).0 == range(j).0) {
                found.push(format!("{i} and {j} share bytes"));
            }
        }
    }
    if placement.peak != highest {
        found.push(format!("peak {} is {highest}", placement.peak));
    }
    found
}

/// Whether two items that share bytes never do so at one instruction, or only as pairs do.
fn may_share(problem: &Problem, i: usize, j: usize, same_start: bool) -> bool {
    let live = |i: usize, t: u32| problem.lives.of(i).iter().any(|s| s.contains(FlatIndex(t)));
    let paired = |t: u32| {
        let (i, j) = (i as u32, j as u32);
        let pair = |p: &InPlacePair| {
            p.index.0 == t && ((p.used, p.def) == (i, j) || (p.used, p.def) == (j, i))
        };
        same_start && problem.pairs.iter().any(pair)
    };
    (0..=HORIZON).all(|t| !live(i, t) || !live(j, t) || paired(t))
}

/// So many items, each beginning while the one before lives.
pub(crate) fn alternating(items: usize) -> Problem {
    let mut problem = Problem {
        ceiling: u64::MAX,
        granule: 1,
        ..Problem::default()
    };
    for i in 0..items as u32 {
        add_item(&mut problem, 64 + u64::from(i % 7), &[(i, i + 1)]);
    }
    problem
}

/// A part of a search, which looks at the host while it works.
pub(crate) type Part = fn(&Problem, &mut Control<'_>);

/// The parts that go through all items without taking steps.
pub(crate) const PARTS: [(&str, Part); 4] = [
    ("prepared", |problem, control| {
        let prepared = Prepared::unless(problem, &mut Pace::of(control));
        assert!(prepared.is_ok());
    }),
    ("orders", |problem, control| {
        let prepared = Prepared::new(problem);
        let orders = quick_orders(&prepared, &mut Meter::new(control, None));
        assert!(orders.is_ok());
    }),
    ("neighbours", |problem, control| {
        let prepared = Prepared::new(problem);
        let neighbours = Neighbours::new(&prepared, &mut Meter::new(control, None));
        assert!(neighbours.is_ok());
    }),
    ("summits", |problem, control| {
        // The later ones are larger, so that few are as crowded as the last.
        let mut rising = problem.clone();
        for (i, item) in (0..).zip(&mut rising.items) {
            item.size += i;
        }
        let prepared = Prepared::new(&rising);
        let order = ordered_summit(&prepared, 256, &mut Meter::new(control, None));
        assert!(order.is_ok_and(|order| order.is_some()));
    }),
];
