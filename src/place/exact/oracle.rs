//! Tests of the exact search against something too simple to be wrong.

use arbtest::arbitrary::{Result, Unstructured};

use super::choose::Damping;
use super::*;
use crate::control::Control;
use crate::ir::{FlatIndex, Lives, Segment, Usage, UsageMask};
use crate::place::{Item, PAGE, Pin, Problem, Region, testing};

/// What the rules forbid about starts, naively. Pairs and the collective region are not looked at:
/// ignoring the first and keeping to the second is always allowed.
pub(crate) fn broken_rule(problem: &Problem, starts: &[u64], ceiling: u64) -> Option<String> {
    (0..starts.len()).find_map(|i| broken_by_last(problem, &starts[..=i], ceiling))
}

/// What the rules forbid about the last start, given those before it.
fn broken_by_last(problem: &Problem, starts: &[u64], ceiling: u64) -> Option<String> {
    let i = starts.len() - 1;
    let item = problem.items[i];
    let (start, end) = (starts[i], starts[i] + item.size);
    if start < problem.floor || end > ceiling {
        return Some(format!("item {i} leaves the space"));
    }
    if start % item.align != 0 {
        return Some(format!("item {i} is not aligned"));
    }
    if problem.no_straddle && item.size <= PAGE && start / PAGE != (end - 1) / PAGE {
        return Some(format!("item {i} straddles a page"));
    }
    let inside = |region: &Region| {
        let admits = region.usages.contains(problem.usage(i as u32));
        admits && region.base <= start && end <= region.base + region.size
    };
    if !problem.regions.is_empty() && !problem.regions.iter().any(inside) {
        return Some(format!("item {i} is in no region"));
    }
    for (j, &other) in starts[..i].iter().enumerate() {
        let meet = start < other + problem.items[j].size && other < end;
        if meet && problem.lives.overlap(i, j) {
            return Some(format!("items {i} and {j} overlap"));
        }
    }
    for (j, pin) in problem.pins.iter().enumerate() {
        let meet = start < pin.end && pin.start < end;
        if meet && crate::ir::overlap(problem.lives.of(i), problem.pin_lives.of(j)) {
            return Some(format!("item {i} and pin {j} overlap"));
        }
    }
    None
}

/// Whether any starts, multiples of `grain`, keep every rule below `target`.
pub(crate) fn some_placement(
    problem: &Problem,
    starts: &mut Vec<u64>,
    target: u64,
    grain: u64,
) -> bool {
    let next = starts.len();
    if next == problem.items.len() {
        return true;
    }
    let mut at = problem.floor.next_multiple_of(grain);
    while at + problem.items[next].size <= target {
        starts.push(at);
        if broken_by_last(problem, starts, target).is_none()
            && some_placement(problem, starts, target, grain)
        {
            return true;
        }
        starts.pop();
        at += grain;
    }
    false
}

/// Which of a problem's rules a test wants.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rules {
    pub(crate) holes: bool,
    pub(crate) alignment: bool,
    pub(crate) pins: bool,
    pub(crate) floor: bool,
    pub(crate) regions: bool,
    pub(crate) pages: bool,
    /// Items that are live all through.
    pub(crate) through: bool,
}

const EVERYTHING: Rules = Rules {
    holes: true,
    alignment: true,
    pins: true,
    floor: true,
    regions: true,
    pages: true,
    through: true,
};

fn segments(u: &mut Unstructured<'_>, holes: bool) -> Result<Vec<Segment>> {
    let first: u32 = u.int_in_range(0..=6)?;
    let last = first + u.int_in_range(0..=4)?;
    let whole = |a, b| Segment::new(FlatIndex(a), FlatIndex(b)).expect("ordered");
    let mut segments = vec![whole(first, last)];
    if holes && u.ratio(1, 2)? {
        let again = last + 1 + u.int_in_range(1..=3)?;
        segments.push(whole(again, again + u.int_in_range(0..=2)?));
    }
    Ok(segments)
}

/// A problem of a few items, tight enough to be hard; and the bytes of its grain.
pub(crate) fn tiny(u: &mut Unstructured<'_>, rules: Rules, most: usize) -> Result<(Problem, u64)> {
    let pages = rules.pages && u.ratio(1, 3)?;
    let grain = if pages { 1024 } else { 1 };
    let mut problem = Problem {
        ceiling: u64::MAX,
        granule: 1,
        no_straddle: pages,
        ..Problem::default()
    };
    if rules.floor {
        problem.floor = grain * u.int_in_range(0..=3)?;
    }
    let mut lives = Lives::new();
    for i in 0..u.int_in_range(1..=most)? {
        problem.items.push(Item {
            size: grain * u.int_in_range(1..=5)?,
            align: if rules.alignment {
                grain * u.int_in_range(1..=4)?
            } else {
                1
            },
        });
        let usage = *u.choose(&[Usage::Internal, Usage::Internal, Usage::Output])?;
        problem.set_usage(i as u32, usage);
        lives.push(if rules.through && u.ratio(1, 3)? {
            vec![Segment::new(FlatIndex(0), FlatIndex(20)).expect("ordered")]
        } else {
            segments(u, rules.holes)?
        });
    }
    problem.lives = lives;
    if rules.pins {
        for _ in 0..u.int_in_range(0..=3)? {
            let start = u.int_in_range(0..=12)? * grain;
            let end = start + u.int_in_range(1..=4)? * grain;
            problem.pins.push(Pin { start, end });
            problem.pin_lives.push(segments(u, rules.holes)?);
        }
    }
    if rules.regions && u.ratio(1, 3)? {
        let base = grain * u.int_in_range(0..=2)?;
        let size = grain * u.int_in_range(4..=9)?;
        let internal = UsageMask(1 << Usage::Internal as u32);
        problem.regions = vec![
            Region {
                base,
                size,
                usages: internal,
            },
            Region {
                base: base + size,
                size: 1 << 40,
                usages: UsageMask::ALL,
            },
        ];
    }
    Ok((problem, grain))
}

/// The search must reach the least peak of a tiny problem and refute the target below it.
fn agrees(u: &mut Unstructured<'_>, rules: Rules, most: usize) -> Result<()> {
    let (problem, grain) = tiny(u, rules, most)?;
    let settings = Settings {
        damping: *u.choose(&[Damping::None, Damping::Root, Damping::FourthRoot])?,
        by_sections: u.arbitrary()?,
        noise: 0.1,
    };
    let random = Random::new(u.arbitrary()?);
    let mut targets = (1..).map(|height| problem.floor + height * grain);
    let fits = |target: &u64| some_placement(&problem, &mut Vec::new(), *target, grain);
    let optimum = targets.find(fits).expect("no ceiling");

    is_decided(&problem, (optimum, grain), settings, random);
    Ok(())
}

/// The search must find a placement at a target that is the least one, and refute what is one step
/// below it.
fn is_decided(
    problem: &Problem,
    (least, step): (u64, u64),
    settings: Settings,
    mut random: Random,
) {
    let prepared = Prepared::new(problem);
    let mut exact = Exact::new(&prepared, least, 6).expect("not too high");
    let mut control = Control::default();
    let mut steps = Steps::new(u64::MAX, &mut control);
    let mut attempt = |target| exact.attempt(target, settings, &mut random, u64::MAX, &mut steps);
    let below = attempt(least - step);
    assert_eq!(below, Outcome::Refuted, "below {least}: {problem:?}");
    match attempt(least) {
        Outcome::Placed(starts) => {
            let broken = broken_rule(problem, &starts, least);
            assert_eq!(broken, None, "{problem:?} {starts:?}");
        }
        other => panic!("{other:?} at {least}: {problem:?}"),
    }
}

#[test]
fn plain_problems_are_placed_at_the_optimum_and_refuted_below() {
    arbtest::arbtest(|u| agrees(u, Rules::default(), 8)).budget_ms(1500);
}

#[test]
fn every_rule_alone_is_kept_and_loses_nothing() {
    let none = Rules::default();
    for rules in [
        Rules {
            holes: true,
            ..none
        },
        Rules {
            alignment: true,
            ..none
        },
        Rules { pins: true, ..none },
        Rules {
            floor: true,
            ..none
        },
        Rules {
            regions: true,
            ..none
        },
        Rules {
            pages: true,
            ..none
        },
        Rules {
            through: true,
            floor: true,
            ..none
        },
    ] {
        arbtest::arbtest(|u| agrees(u, rules, 6)).budget_ms(500);
    }
}

#[test]
fn all_rules_together_are_kept_and_lose_nothing() {
    arbtest::arbtest(|u| agrees(u, EVERYTHING, 6)).budget_ms(1500);
}

#[test]
fn heights_of_many_units_are_exact() {
    arbtest::arbtest(|u| {
        let (mut problem, _) = tiny(u, Rules::default(), 7)?;
        let mut targets = 1..;
        let fits = |target: &u64| some_placement(&problem, &mut Vec::new(), *target, 1);
        let optimum = targets.find(fits).expect("no ceiling");
        // A byte that is needed when nothing else is makes bytes the units.
        let times = u.int_in_range((1 << 32) + 1..=1 << 46)?;
        for item in &mut problem.items {
            item.size *= times;
        }
        testing::add_item(&mut problem, 1, &[(40, 40)]);
        let settings = ladder::settings(0, &mut Random::new(1));
        let random = Random::new(u.arbitrary()?);
        is_decided(&problem, (optimum * times, 1), settings, random);
        Ok(())
    });
}

#[test]
fn what_is_not_exact_in_a_height_is_refused() {
    let mut problem = Problem {
        ceiling: u64::MAX,
        granule: 1,
        ..Problem::default()
    };
    testing::add_item(&mut problem, 3, &[(0, 0)]);
    testing::add_item(&mut problem, 4, &[(0, 0)]);
    let prepared = Prepared::new(&problem);
    assert!(Exact::new(&prepared, Height::MAX_UNITS, 6).is_some());
    assert!(Exact::new(&prepared, Height::MAX_UNITS + 1, 6).is_none());
}
