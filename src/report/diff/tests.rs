//! Every change counted again from the rows of the plans, and sums that add up.

use super::*;
use crate::testing::{self, Shape, Unstructured, for_each_seed};
use crate::{Control, format};
use std::collections::BTreeMap;

/// Two programs that resemble each other: one, or one with a few locations changed.
fn two(u: &mut Unstructured<'_>) -> testing::Result<Option<[(Program, Plan); 2]>> {
    let shape = match u.arbitrary()? {
        true => Shape::single_core(),
        false => Shape::many_cores(),
    };
    let options = [
        testing::properties::options(u)?,
        testing::properties::options(u)?,
    ];
    let program = testing::program(u, &shape)?;
    let mut text = Vec::new();
    format::write_program(&program, &mut text).expect("a Vec takes everything");
    let mut text = String::from_utf8(text).expect("JSON is text");
    for _ in 0..u.int_in_range(0..=3)? {
        // A size grows or a name changes wherever it stands.
        let (from, to) = *u.choose(&[
            ("\"bytes\":4096", "\"bytes\":12288"),
            ("\"bytes\":8192", "\"bytes\":100"),
            ("\"r1\"", "\"renamed1\""),
            ("\"space\":\"debug\"", "\"space\":\"local\""),
            ("\"r0\"", "\"renamed0\""),
        ])?;
        text = text.replace(from, to);
    }
    let Ok(other) = format::read_program(text.as_bytes()) else {
        return Ok(None); // A view or an operand no longer fits.
    };
    let [a, b] = [(program, &options[0]), (other, &options[1])].map(|(program, options)| {
        let plan = crate::plan(&program, options, &mut Control::default());
        Some((program, plan.ok()?))
    });
    Ok(a.zip(b).map(|(a, b)| [a, b]))
}

type Rows<'p> = BTreeMap<(u32, &'p str, &'p str), &'p MemLocPlan>;

/// The roots with addresses, by name.
fn rows<'p>(program: &'p Program, plan: &'p Plan) -> Rows<'p> {
    let mut rows = Rows::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            for (loc, row) in function.memlocs().iter().zip(&planned.memlocs) {
                let counts = !loc.is_view() && loc.memory == MemoryType::Dram;
                if counts && row.address.is_some() {
                    rows.insert((module.core(), function.name(), &row.name), row);
                }
            }
        }
    }
    rows
}

#[test]
fn every_location_is_told_by_what_changed_of_it() {
    let mut seen = [0u64; Kind::ALL.len()];
    for_each_seed(0..400, |u| {
        let Some([(p, a), (q, b)]) = two(u)? else {
            return Ok(());
        };
        let told = diff((&p, &a), (&q, &b), 1000).expect("their own plans");
        let (before, after) = (rows(&p, &a), rows(&q, &b));
        let mut same = 0;
        let mut want: Vec<Vec<_>> = vec![Vec::new(); Kind::ALL.len()];
        let keys: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for key in keys {
            let (x, y) = (before.get(key), after.get(key));
            let both =
                |of: fn(&MemLocPlan, &MemLocPlan) -> bool| x.zip(y).is_some_and(|(x, y)| of(x, y));
            let differs = [
                x.is_none(),
                y.is_none(),
                both(|x, y| y.bytes > x.bytes),
                both(|x, y| y.bytes < x.bytes),
                both(|x, y| y.address != x.address),
                both(|x, y| y.segments != x.segments),
                both(|x, y| y.space != x.space),
            ];
            same += u64::from(!differs.contains(&true));
            for (kind, _) in differs.iter().enumerate().filter(|(_, differs)| **differs) {
                want[kind].push(*key);
            }
        }
        assert_eq!(told.same, same);
        for ((kind, want), count) in told.kinds.iter().zip(&want).zip(&mut seen) {
            let mut got: Vec<_> = (kind.largest.iter())
                .map(|l| (l.core, l.function.as_str(), l.name.as_str()))
                .collect();
            assert!(kind.largest.is_sorted_by(|a, b| a.bytes() >= b.bytes()));
            got.sort_unstable();
            assert_eq!(got, *want, "{:?}", kind.kind);
            assert_eq!(kind.locations, got.len() as u64);
            let bytes: u64 = kind.largest.iter().map(LocationDifference::bytes).sum();
            assert_eq!(kind.bytes, bytes);
            *count += kind.locations;
        }
        // A shorter list has the same totals.
        let short = diff((&p, &a), (&q, &b), 2).expect("their own plans");
        for (short, long) in short.kinds.iter().zip(&told.kinds) {
            assert_eq!((short.locations, short.bytes), (long.locations, long.bytes));
            assert_eq!(short.largest, long.largest[..long.largest.len().min(2)]);
        }
        Ok(())
    });
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn the_causes_of_a_change_add_up_to_it() {
    let mut changed = 0;
    for_each_seed(0..400, |u| {
        let Some([(p, a), (q, b)]) = two(u)? else {
            return Ok(());
        };
        let told = diff((&p, &a), (&q, &b), 3).expect("their own plans");
        assert_eq!((told.before.peak, told.after.peak), (a.peak, b.peak));
        for space in &told.spaces {
            let of = |plan: &Plan| {
                let mut spaces = plan.spaces.iter();
                let found = spaces.find(|s| (s.space, s.core) == (space.space, space.core));
                found.map_or((0, 0), |s| (i128::from(s.peak), i128::from(s.floor)))
            };
            let ((was, old_floor), (is, floor)) = (of(&a), of(&b));
            assert_eq!(
                (space.peak_change, space.floor_change),
                (is - was, floor - old_floor)
            );
            let parts = space.locations_change + space.in_place_change;
            let live = |site: &Option<PeakSite>| site.as_ref().map_or(0, |s| i128::from(s.live));
            assert_eq!(parts, live(&space.after) - live(&space.before));
            let rest = space.floor_change + space.fragmentation_change;
            assert_eq!(parts + rest, space.peak_change);
            let causes: i128 = space.causes.iter().map(|c| c.change).sum();
            assert_eq!(causes + space.other_change, space.locations_change);
            assert!(space.causes.len() <= 3);
            changed += u64::from(space.locations_change != 0);
        }
        Ok(())
    });
    assert!(changed > 50, "{changed}");
}

#[test]
fn a_plan_does_not_differ_from_itself() {
    for_each_seed(0..100, |u| {
        let Some([(p, a), _]) = two(u)? else {
            return Ok(());
        };
        let told = diff((&p, &a), (&p, &a), 10).expect("its own plan");
        assert_eq!(told.same, rows(&p, &a).len() as u64);
        assert!(told.kinds.iter().all(|kind| kind.locations == 0));
        for space in &told.spaces {
            assert!(space.causes.is_empty() && space.peak_change == 0);
            assert_eq!(space.fragmentation_change, 0);
        }
        Ok(())
    });
}
