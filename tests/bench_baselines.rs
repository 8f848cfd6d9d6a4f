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
#[path = "../benches/workloads/mod.rs"]
mod workloads;

use baselines::{Fit, Order};
use workloads::{Buffer, Random, WORKLOADS};

type Planner = fn(&[Buffer]) -> Vec<u64>;
const PLANNERS: [(&str, Planner); 6] = [
    ("first fit", baselines::first_fit_all_pairs),
    ("best fit", baselines::by_size_best_fit),
    ("best of six", baselines::best_of_six),
    ("on top", baselines::by_size_on_top),
    ("free list", baselines::free_list),
    ("exact search", |buffers| {
        baselines::canonical_search(buffers, 100).offsets
    }),
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

/// The gap that a method takes, by trying every start.
fn gap(taken: &[(u64, u64)], size: u64, fit: Fit) -> u64 {
    let top = taken.iter().map(|t| t.1).max().unwrap_or(0);
    // Left-justified gaps only: at 0 or at the end of something, up to what comes next.
    let gaps = (0..top).filter_map(|start| {
        let left = start == 0 || taken.iter().any(|t| t.1 == start);
        let covered = taken.iter().any(|t| t.0 <= start && start < t.1);
        let next = taken.iter().map(|t| t.0).filter(|&s| s >= start).min()?;
        (left && !covered && next - start >= size).then_some((next - start, start))
    });
    let best = match fit {
        Fit::Smallest => gaps.min().map(|(_, start)| start),
        Fit::Lowest => gaps.map(|(_, start)| start).min(),
        Fit::OnTop => None,
    };
    best.unwrap_or(top)
}

#[test]
fn neighbour_enumeration_finds_what_looking_at_all_pairs_finds() {
    for seed in 0..1000 {
        let buffers = crowd(seed);
        for order in Order::ALL {
            let key = |b: &Buffer| {
                let life = u128::from(b.upper - b.lower);
                let size = u128::from(b.size);
                match order {
                    Order::Size => (size, life),
                    Order::Life => (life, size),
                    Order::Area => (size * life, 0),
                }
            };
            let mut by_key: Vec<u32> = (0..buffers.len() as u32).collect();
            by_key.sort_by_key(|&i| (std::cmp::Reverse(key(&buffers[i as usize])), i));
            assert_eq!(order.of(&buffers), by_key, "{order:?}, seed {seed}");
            for fit in [Fit::Smallest, Fit::Lowest, Fit::OnTop] {
                let mut want = vec![0; buffers.len()];
                for (k, &i) in by_key.iter().enumerate() {
                    let buffer = &buffers[i as usize];
                    let mut taken: Vec<(u64, u64)> = by_key[..k]
                        .iter()
                        .map(|&j| j as usize)
                        .filter(|&j| buffers[j].meets(buffer))
                        .map(|j| (want[j], want[j] + buffers[j].size))
                        .collect();
                    taken.sort_unstable();
                    want[i as usize] = gap(&taken, buffer.size, fit);
                }
                let got = baselines::place(&buffers, &by_key, fit);
                assert_eq!(got, want, "{order:?}, {fit:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn the_best_of_six_is_never_above_one_of_them() {
    for seed in 0..500 {
        let buffers = crowd(seed);
        let peak = |offsets: &[u64]| check::peak(&buffers, offsets).expect("no overlap");
        let six = peak(&baselines::best_of_six(&buffers));
        assert!(six <= peak(&baselines::by_size_best_fit(&buffers)));
        for order in Order::ALL {
            let order = order.of(&buffers);
            assert!(six <= peak(&baselines::place(&buffers, &order, Fit::Lowest)));
        }
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
    let offsets = baselines::best_of_six(buffers);
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
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "csv"))
        .collect();
    paths.sort();
    let mut compared = 0;
    for path in paths {
        // Many neighbours take the baselines minutes without optimisation; the benchmark has them.
        match workloads::csv::read(&path) {
            Ok(buffers) if workloads::load(&buffers).pairs <= 300_000 => {
                let (ours, theirs) = (fast(&buffers), best_of_six(&buffers));
                assert!(ours <= theirs, "{}: {ours}, {theirs}", path.display());
                compared += 1;
            }
            Ok(_) => (),
            Err(message) => eprintln!("{}: skipped: {message}", path.display()),
        }
    }
    eprintln!("{compared} programs compared");
}

/// Whether some placement stays below a capacity, by trying every offset of every buffer.
fn fits(buffers: &[Buffer], capacity: u64, placed: &mut Vec<u64>) -> bool {
    let Some(buffer) = buffers.get(placed.len()) else {
        return true;
    };
    (0..=capacity.saturating_sub(buffer.size)).any(|offset| {
        let apart = |(other, &at): (&Buffer, &u64)| {
            !other.meets(buffer) || at + other.size <= offset || offset + buffer.size <= at
        };
        if !buffers.iter().zip(placed.iter()).all(apart) {
            return false;
        }
        placed.push(offset);
        let found = fits(buffers, capacity, placed);
        placed.pop();
        found
    })
}

/// As much as can be live at once without exceeding a load: few placements reach the bound, and
/// sometimes none does.
fn saturated(seed: u64) -> Vec<Buffer> {
    let mut random = Random::new(seed);
    let mut buffers = Vec::new();
    for _ in 0..60 {
        let lower = random.below(9) as u32;
        let life = 1 + random.below(5) as u32;
        buffers.push(buffer(lower, lower + life, 1 + random.below(4) as u64));
        if workloads::load(&buffers).bytes > 8 {
            buffers.pop();
        }
    }
    buffers
}

#[test]
fn the_exact_search_is_exact() {
    let mut proofs = 0;
    for seed in 0..2000 {
        let buffers = saturated(seed);
        let searched = baselines::canonical_search(&buffers, 100_000_000);
        let peak = check::peak(&buffers, &searched.offsets).expect("no overlap");
        assert!(searched.proven, "seed {seed}");
        // At the bound there is nothing left to prove.
        if peak > workloads::load(&buffers).bytes {
            let less = fits(&buffers, peak - 1, &mut Vec::new());
            assert!(!less, "seed {seed}: {peak} is not the least");
            proofs += 1;
        }
    }
    assert!(proofs > 3, "{proofs} needed a proof");
}

#[test]
fn the_exact_search_keeps_to_its_nodes() {
    let buffers = (WORKLOADS[4].make)(300);
    let few = baselines::canonical_search(&buffers, 5_000);
    // The first descent has no limit; it visits each buffer once where nothing is given up.
    assert!(few.nodes <= 5_000 + 1_000, "{}", few.nodes);
    assert!(!few.proven);
    check::peak(&buffers, &few.offsets).expect("no overlap");
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
    let cases: [(&str, Planner, [u64; 7]); 4] = [
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
            baselines::by_size_best_fit,
            [5, 9, 11, 13, 11, 5, 0],
        ),
        (
            "on top: by size, no hole",
            baselines::by_size_on_top,
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
            (26148864, 10, 5814),
            (127909888, 185, 117801),
            (3174400, 54, 27719)
        ]
    );
}

#[test]
fn tight_buffers_fill_their_rectangle() {
    for n in [1, 2, 7, 100, 5000] {
        let buffers = (WORKLOADS[4].make)(n);
        assert_eq!((WORKLOADS[4].name, buffers.len()), ("tight", n));
        let end = buffers.iter().map(|b| b.upper).max().expect("one at least");
        let area: u64 = buffers
            .iter()
            .map(|b| u64::from(b.upper - b.lower) * b.size)
            .sum();
        // The load is the same at every time, so that no byte is ever to spare.
        assert_eq!(area, workloads::load(&buffers).bytes * u64::from(end));
    }
}

#[test]
fn workloads_are_written_as_solvers_read_them() {
    let buffers = (WORKLOADS[1].make)(200);
    let file = dramalloc::format::CsvFile::read(workloads::csv::write(&buffers).as_bytes());
    let file = file.expect("our own dialect");
    let problem = file.problem();
    assert_eq!(problem.len(), buffers.len());
    for (i, b) in buffers.iter().enumerate() {
        let life = (i64::from(b.lower), i64::from(b.upper));
        assert_eq!(problem.segments_of(i), [life]);
        assert_eq!(problem.sizes[i], b.size);
    }
    assert_eq!(workloads::instance_name("mix", 100_000), "mix_1e5");
    assert_eq!(workloads::instance_name("mix", 2500), "mix_2500");
}
