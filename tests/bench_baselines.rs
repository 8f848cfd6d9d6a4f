//! The baselines that benchmarks are read against are right, and the workloads are what they say.

#![allow(
    dead_code,
    reason = "these files belong to the benchmark, which uses all of them"
)]

#[path = "../benches/baselines/mod.rs"]
mod baselines;
#[path = "../benches/check.rs"]
mod check;
#[path = "../benches/programs.rs"]
mod programs;
#[path = "../benches/workloads.rs"]
mod workloads;

use workloads::{Buffer, Random, WORKLOADS};

type Planner = fn(&[Buffer]) -> Vec<u64>;
const PLANNERS: [(&str, Planner); 4] = [
    ("first fit", baselines::first_fit_all_pairs),
    ("best fit", baselines::neighbour_best_fit),
    ("best of six", baselines::neighbour_best_of_six),
    ("free list", baselines::free_list),
];

fn buffer(lower: u32, upper: u32, size: u64) -> Buffer {
    Buffer { lower, upper, size }
}

/// Small and crowded, so that gaps of every size appear.
fn crowd(seed: u64) -> Vec<Buffer> {
    let mut random = Random::new(seed);
    let n = 1 + random.below(30);
    (0..n)
        .map(|_| {
            let lower = random.below(12) as u32;
            buffer(
                lower,
                lower + 1 + random.below(6) as u32,
                1 + random.below(9) as u64,
            )
        })
        .collect()
}

#[test]
fn every_baseline_places_without_overlap() {
    for seed in 0..2000 {
        let buffers = crowd(seed);
        for (name, plan) in PLANNERS {
            let peak = check::peak(&buffers, &plan(&buffers))
                .unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}"));
            assert!(
                peak >= workloads::load(&buffers).bytes,
                "{name}, seed {seed}"
            );
        }
    }
}

#[test]
fn neighbour_enumeration_finds_what_looking_at_all_pairs_finds() {
    for seed in 0..2000 {
        let buffers = crowd(seed);
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_key(|&i| {
            (
                u64::MAX - buffers[i].size,
                u32::MAX - (buffers[i].upper - buffers[i].lower),
                i,
            )
        });
        let mut want = vec![0; buffers.len()];
        for (k, &i) in order.iter().enumerate() {
            let mut taken: Vec<(u64, u64)> = order[..k]
                .iter()
                .filter(|&&j| buffers[j].meets(&buffers[i]))
                .map(|&j| (want[j], want[j] + buffers[j].size))
                .collect();
            taken.sort_unstable();
            let top = taken.iter().map(|t| t.1).max().unwrap_or(0);
            let gaps = (0..top).filter_map(|start| {
                // Left-justified gaps only: at 0 or at the end of something, up to what comes next.
                let left = start == 0 || taken.iter().any(|t| t.1 == start);
                let covered = taken.iter().any(|t| t.0 <= start && start < t.1);
                let next = taken.iter().map(|t| t.0).filter(|&s| s >= start).min()?;
                (left && !covered && next - start >= buffers[i].size)
                    .then_some((next - start, start))
            });
            want[i] = gaps.min().map_or(top, |(_, start)| start);
        }
        assert_eq!(baselines::neighbour_best_fit(&buffers), want, "seed {seed}");
    }
}

/// The peak of strategy `fast`, which is checked.
fn fast(buffers: &[Buffer]) -> u64 {
    let solved = dramalloc::solve(
        &programs::problem(buffers),
        dramalloc::Strategy::Fast,
        None,
        &mut dramalloc::Control::default(),
    );
    let offsets = solved.expect("there is no ceiling").placement.offsets;
    check::peak(buffers, &offsets).expect("a right placement")
}

fn best_of_six(buffers: &[Buffer]) -> u64 {
    let offsets = baselines::neighbour_best_of_six(buffers);
    check::peak(buffers, &offsets).expect("a right placement")
}

#[test]
fn fast_is_not_above_the_best_of_six_on_workloads() {
    for workload in WORKLOADS {
        for n in [100, 1000, 3000] {
            let buffers = (workload.make)(n);
            let (ours, theirs) = (fast(&buffers), best_of_six(&buffers));
            assert!(ours <= theirs, "{} {n}: {ours}, {theirs}", workload.name);
        }
    }
}

#[test]
fn fast_is_not_above_the_best_of_six_on_real_programs() {
    let above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut roots = above.skip(1).map(|dir| dir.join("shared/corpus"));
    let Some(entries) = roots.find_map(|root| root.read_dir().ok()) else {
        eprintln!("skipped: there is no folder shared/corpus beside this repository");
        return;
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().to_str()?.to_owned()));
    let mut paths: Vec<String> = paths.filter(|path| path.ends_with(".csv")).collect();
    paths.sort();
    let mut compared = 0;
    for path in paths {
        // Many neighbours take the baselines minutes without optimisation; the benchmark has them.
        match workloads::from_csv(&path) {
            Ok(buffers) if workloads::load(&buffers).pairs <= 300_000 => {
                let (ours, theirs) = (fast(&buffers), best_of_six(&buffers));
                assert!(ours <= theirs, "{path}: {ours}, {theirs}");
                compared += 1;
            }
            Ok(_) => (),
            Err(message) => eprintln!("{path}: skipped: {message}"),
        }
    }
    eprintln!("{compared} programs compared");
}

#[test]
fn each_baseline_follows_its_description() {
    // Two short ones leave holes of 4 at 0 and of 2 at 6; then one of 2 and one of 3 come.
    let buffers = [
        buffer(0, 1, 4),
        buffer(0, 9, 2),
        buffer(0, 1, 2),
        buffer(0, 9, 1),
        buffer(1, 9, 2),
        buffer(1, 9, 3),
        buffer(0, 9, 5),
    ];
    let cases: [(&str, Planner, [u64; 7]); 3] = [
        (
            "first fit: the lowest hole",
            baselines::first_fit_all_pairs,
            [0, 4, 6, 8, 0, 9, 12],
        ),
        (
            "free list: the smallest hole, by time",
            baselines::free_list,
            [0, 4, 6, 8, 6, 0, 9],
        ),
        (
            "best fit: by size",
            baselines::neighbour_best_fit,
            [5, 9, 11, 13, 11, 5, 0],
        ),
    ];
    for (name, plan, want) in cases {
        let got = plan(&buffers);
        check::peak(&buffers, &got).expect(name);
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let buffers = [buffer(0, 2, 4), buffer(1, 3, 4), buffer(2, 4, 4)];
    assert_eq!(check::peak(&buffers, &[0, 4, 0]), Ok(8));
    for (name, bad) in [
        ("first with second", vec![0, 3, 8]),
        ("second with third", vec![0, 4, 1]),
        ("one inside the other", vec![0, 0, 8]),
        ("an offset is missing", vec![0, 4]),
    ] {
        assert!(check::peak(&buffers, &bad).is_err(), "{name}");
    }
}

#[test]
fn workloads_have_their_size_and_never_change() {
    for workload in WORKLOADS {
        for n in [1000, 4321] {
            let buffers = (workload.make)(n);
            assert_eq!(buffers.len(), n, "{}", workload.name);
            assert!(
                buffers.iter().all(|b| b.lower < b.upper && b.size > 0),
                "{}",
                workload.name
            );
            assert_eq!(buffers, (workload.make)(n), "{}", workload.name);
        }
    }
    // A figure of each, so that a change of a generator is noticed: old tables no longer compare.
    let loads = WORKLOADS.iter().map(|w| workloads::load(&(w.make)(1000)));
    let loads: Vec<_> = loads.map(|l| (l.bytes, l.live, l.pairs)).collect();
    assert_eq!(
        loads,
        [
            (122630144, 37, 22586),
            (145043456, 63, 37647),
            (26148864, 10, 5814)
        ]
    );
}
