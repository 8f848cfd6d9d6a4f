//! Raw problems against a naive reading, and broken ones.

use super::programs;
use crate::control::Control;
use crate::ir::UsageMask;
use crate::options::{Floor, Options, Strategy};
use crate::place::Region;
use crate::plan::Status;
use crate::raw::{RawPlan, RawProblem, solve_raw};
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
        ..RawPlan::default()
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
        ..RawPlan::default()
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
        ..RawPlan::default()
    };
    let hwm = options_of(Floor::Hwm);
    assert_eq!(kinds(&good, &hwm, &above), [""; 0]);
    assert_eq!(
        kinds(&good, &hwm, &RawPlan { floor: 0, ..above }),
        ["wrong_floor"]
    );
    assert!(kinds(&good, &hwm, &plan).contains(&"below_floor"));
}

#[test]
fn every_false_cost_of_a_runtime_page_is_found() {
    const MIB: u64 = 1 << 20;
    // A: 512 MiB and 1 GiB, B after it: 100 MiB and 1.5 GiB, in pages of 512 MiB.
    let (a, b) = (&[(0, 1)], &[(1, 2)]);
    let sizes = [512, 1024, 100, 1536].map(|mib| mib * MIB);
    let mut given = problem(&[(a, sizes[0]), (a, sizes[1]), (b, sizes[2]), (b, sizes[3])]);
    given.pins = [0, 512, 0, 100].map(|mib| Some(mib * MIB)).to_vec();
    let options = |runtime_page| Options {
        runtime_page,
        ..options_of(Floor::Holes)
    };
    let solve = |mib| {
        let plan = solve_raw(&given, &options(mib), &mut Control::default()).expect("all pinned");
        assert_eq!(verify_raw_plan(&given, &options(mib), &plan), []);
        plan
    };
    let (two, one, off) = (solve(512), solve(2048), solve(0));
    assert_eq!((two.runtime_pages, two.private_bytes), (4, 2560 * MIB));
    assert_eq!(two.straddlers, [1, 3]);
    assert_eq!((one.runtime_pages, one.private_bytes), (1, 0));
    assert_eq!((off.runtime_pages, off.straddlers.len()), (0, 0));
    let kinds = |plan: &RawPlan, mib| -> Vec<&str> {
        let found = verify_raw_plan(&given, &options(mib), plan);
        found.iter().map(|v| v.kind).collect()
    };
    let broken = |change: &dyn Fn(&mut RawPlan)| {
        let mut plan = two.clone();
        change(&mut plan);
        kinds(&plan, 512)
    };
    assert_eq!(broken(&|p| p.runtime_pages = 3), ["wrong_metric"]);
    assert_eq!(broken(&|p| p.private_bytes -= 1), ["wrong_metric"]);
    assert_eq!(broken(&|p| p.straddlers = vec![1]), ["wrong_straddlers"]);
    assert_eq!(broken(&|p| p.straddlers.push(2)), ["wrong_straddlers"]);
    assert_eq!(kinds(&two, 0), ["wrong_metric", "wrong_straddlers"]);
    // An optimum is one of the copies first.
    given.pins.clear();
    let narrow = Options {
        capacity: Some(1636 * MIB),
        ..options(1600)
    };
    let plan = solve_raw(&given, &narrow, &mut Control::default()).expect("it fits");
    assert_eq!(
        (plan.private_bytes, plan.status),
        (100 * MIB, Status::Feasible)
    );
    let optimal = RawPlan {
        status: Status::Optimal,
        ..plan
    };
    let found = verify_raw_plan(&given, &narrow, &optimal);
    assert_eq!(
        found.iter().map(|v| v.kind).collect::<Vec<_>>(),
        ["wrong_status"]
    );
}

#[test]
fn raw_plans_with_runtime_pages_are_right() {
    const MIB: u64 = 1 << 20;
    let mut straddling = 0;
    arbtest::arbtest(|u| {
        let mut rows = Vec::new();
        for _ in 0..u.int_in_range(1..=8)? {
            let lower = u.int_in_range(0..=9)?;
            let upper = lower + u.int_in_range(0..=5)?;
            rows.push(([(lower, upper)], u.int_in_range(0..=5)? * MIB / 2));
        }
        let rows: Vec<(&[(i64, i64)], u64)> = rows.iter().map(|r| (&r.0[..], r.1)).collect();
        let mut raw = problem(&rows);
        raw.pins = vec![None; raw.len()];
        raw.pins[0] = Some(u.int_in_range(0..=7)? * MIB / 2); // Within every capacity.
        raw.alignments = vec![*u.choose(&[1, 3, 4096])?; raw.len()];
        let options = Options {
            runtime_page: u.int_in_range(1..=3)?,
            capacity: *u.choose(&[None, Some(6 * MIB), Some(8 * MIB)])?,
            strategy: *u.choose(Strategy::ALL)?,
            budget_steps: Some(2_000),
            ..options_of(*u.choose(&[Floor::Holes, Floor::Hwm])?)
        };
        if let Ok(plan) = solve_raw(&raw, &options, &mut Control::default()) {
            let wrong = verify_raw_plan(&raw, &options, &plan);
            assert_eq!(wrong, [], "{raw:?} {options:?} {plan:?}");
            straddling += u32::from(!plan.straddlers.is_empty());
        }
        Ok(())
    })
    .budget_ms(1_000);
    assert!(straddling > 0);
}
