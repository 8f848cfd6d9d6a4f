//! Raw problems against a naive reading, and broken ones.

use super::programs;
use crate::ir::UsageMask;
use crate::options::{Floor, Options, Strategy};
use crate::place::Region;
use crate::plan::Status;
use crate::raw::{RawPlan, RawProblem};
use crate::verify::{verify_raw, verify_raw_plan};

fn options_of(floor: Floor) -> Options {
    Options {
        floor,
        ..Options::default()
    }
}

fn problem(rows: &[(&[(i64, i64)], u64)]) -> RawProblem {
    let mut problem = RawProblem {
        starts: vec![0],
        ..RawProblem::default()
    };
    for (segments, size) in rows {
        problem.segments.extend_from_slice(segments);
        problem.starts.push(problem.segments.len() as u32);
        problem.sizes.push(*size);
    }
    problem
}

#[test]
fn exactly_the_rows_that_share_a_time_and_a_byte_are_found() {
    programs::cases(2000, |u| {
        let mut problem = RawProblem {
            starts: vec![0],
            ..RawProblem::default()
        };
        let mut offsets = Vec::new();
        for _ in 0..u.int_in_range(0..=6)? {
            for _ in 0..u.int_in_range(0..=2)? {
                let lower = u.int_in_range(-4i64..=4)?;
                problem
                    .segments
                    .push((lower, lower + u.int_in_range(0..=4)?));
            }
            problem.starts.push(problem.segments.len() as u32);
            problem.sizes.push(u.int_in_range(0..=3)?);
            problem.alignments.push(u.int_in_range(1..=3)?);
            let offset = u.int_in_range(0..=6)?;
            problem
                .pins
                .push(if u.ratio(1, 4)? { Some(offset) } else { None });
            offsets.push(offset);
        }
        let segments = |i: usize| {
            &problem.segments[problem.starts[i] as usize..problem.starts[i + 1] as usize]
        };
        let live = |i: usize, t: i64| segments(i).iter().any(|s| s.0 <= t && t < s.1);
        let mut want = Vec::new();
        for i in 0..offsets.len() {
            let lives = (-4..8).any(|t| live(i, t)) && problem.sizes[i] > 0;
            if problem.pins[i].is_none() {
                if !lives && offsets[i] > 0 {
                    want.push(("zero_bytes", vec![i]));
                }
                if lives && offsets[i] % problem.alignments[i] != 0 {
                    want.push(("misaligned", vec![i]));
                }
            }
            for j in i + 1..offsets.len() {
                let bytes = |i: usize| offsets[i]..offsets[i] + problem.sizes[i];
                let space = bytes(i).any(|x| bytes(j).contains(&x));
                if space && (-4..8).any(|t| live(i, t) && live(j, t)) {
                    let pins = problem.pins[i].is_some() && problem.pins[j].is_some();
                    want.push((if pins { "pins_overlap" } else { "overlap" }, vec![i, j]));
                }
            }
        }
        want.sort();
        let mut got: Vec<(&str, Vec<usize>)> =
            (verify_raw(&problem, &options_of(Floor::Holes), &offsets).iter())
                .map(|v| {
                    let rows = v.locations.iter().map(|n| n[1..].parse().expect("#row"));
                    let mut rows: Vec<usize> = rows.collect();
                    rows.sort_unstable();
                    (v.kind, rows)
                })
                .collect();
        got.sort();
        got.dedup();
        assert_eq!(got, want, "{problem:?} {offsets:?}");
        Ok(())
    });
}

#[test]
fn every_way_to_break_a_raw_plan_is_found() {
    // The second starts when the first ends: half-open times do not meet.
    let mut good = problem(&[
        (&[(0, 2)], 8),
        (&[(2, 4)], 8),
        (&[(0, 4)], 4),
        (&[(0, 4)], 2),
    ]);
    good.pins = vec![None, None, None, Some(100)];
    good.alignments = vec![4; 4];
    let plan = RawPlan {
        offsets: vec![0, 0, 8, 100],
        peak: 12,
        bound: 12,
        floor: 0,
        status: Status::Optimal,
    };
    let options = Options {
        capacity: Some(102),
        ..options_of(Floor::Holes)
    };
    let kinds = |problem: &RawProblem, options: &Options, plan: &RawPlan| -> Vec<&str> {
        verify_raw_plan(problem, options, plan)
            .iter()
            .map(|v| v.kind)
            .collect()
    };
    assert_eq!(kinds(&good, &options, &plan), [""; 0]);
    let with = |offsets: [u64; 4]| RawPlan {
        offsets: offsets.to_vec(),
        ..plan.clone()
    };
    assert_eq!(
        kinds(&good, &options, &with([0, 0, 4, 100])),
        ["overlap", "overlap", "wrong_bound", "wrong_peak"]
    );
    assert!(kinds(&good, &options, &with([0, 2, 8, 100])).contains(&"misaligned"));
    assert!(kinds(&good, &options, &with([0, 0, 8, 96])).contains(&"moved_pin"));
    assert!(kinds(&good, &options, &with([u64::MAX - 3, 0, 8, 100])).contains(&"out_of_range"));
    assert!(
        kinds(
            &good,
            &options,
            &RawPlan {
                offsets: vec![0],
                ..plan.clone()
            }
        )
        .contains(&"missing")
    );
    assert_eq!(
        kinds(
            &good,
            &options,
            &RawPlan {
                peak: 13,
                ..plan.clone()
            }
        ),
        ["wrong_peak", "wrong_status"]
    );
    assert_eq!(
        kinds(
            &good,
            &options,
            &RawPlan {
                bound: 11,
                ..plan.clone()
            }
        ),
        ["wrong_bound", "wrong_status"]
    );
    assert_eq!(
        kinds(
            &good,
            &options,
            &RawPlan {
                status: Status::Unknown,
                ..plan.clone()
            }
        ),
        ["wrong_status"]
    );
    let small = Options {
        capacity: Some(101),
        ..options.clone()
    };
    assert_eq!(kinds(&good, &small, &plan), ["over_capacity"]);
    let region = |base, size| Region {
        base,
        size,
        usages: UsageMask::ALL,
    };
    let regions = RawProblem {
        regions: vec![region(0, 8), region(8, 8)],
        ..good.clone()
    };
    assert_eq!(kinds(&regions, &options, &plan), [""; 0]);
    let regions = RawProblem {
        regions: vec![region(0, 10), region(10, 8)],
        ..good.clone()
    };
    assert_eq!(kinds(&regions, &options, &plan), ["outside_region"]);
    let torn = RawProblem {
        starts: vec![0, 1],
        ..good.clone()
    };
    assert_eq!(kinds(&torn, &options, &plan), ["bad_problem"]);
    let apart = problem(&[(&[(0, 1)], 4), (&[(0, 1)], 4)]);
    let loose = RawPlan {
        offsets: vec![0, 8],
        peak: 12,
        bound: 12,
        floor: 0,
        status: Status::Optimal,
    };
    assert_eq!(kinds(&apart, &options, &loose), ["unproven_bound"]);
    let best = Options {
        strategy: Strategy::Best,
        ..options
    };
    assert_eq!(kinds(&apart, &best, &loose), [""; 0]);
    let above = RawPlan {
        offsets: vec![4096, 4096, 4104, 100],
        peak: 4108,
        bound: 4108,
        floor: 4096,
        status: Status::Optimal,
    };
    let hwm = options_of(Floor::Hwm);
    assert_eq!(kinds(&good, &hwm, &above), [""; 0]);
    assert_eq!(
        kinds(&good, &hwm, &RawPlan { floor: 0, ..above }),
        ["wrong_floor"]
    );
    assert!(kinds(&good, &hwm, &plan).contains(&"below_floor"));
}
