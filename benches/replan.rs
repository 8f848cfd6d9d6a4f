//! Planning again after a small change: with the old plan as a hint, and from nothing.
//!
//! `cargo bench --bench replan`; with `-- 100000` for these numbers of buffers, with `-- mix` for
//! this workload, with `-- best` for this strategy instead of `fast`. One row per workload, size,
//! kind of change and `keep`; see README.md beside this file.

#![allow(
    clippy::print_stdout,
    reason = "a table on stdout is what a benchmark is for"
)]

mod clock;
#[allow(dead_code, reason = "only its problems are of use here")]
mod programs;
#[allow(dead_code, reason = "only its buffers are of use here")]
mod workloads;

use clock::processor_time;
use dramalloc::{Control, Hint, Kept, PAGE, Problem, Solved, Strategy};
use workloads::{Buffer, Random, WORKLOADS};

fn main() {
    let typed: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let (numbers, names): (Vec<&String>, Vec<&String>) =
        typed.iter().partition(|word| word.parse::<usize>().is_ok());
    let (best, names): (Vec<&String>, Vec<&String>) =
        names.into_iter().partition(|word| *word == "best");
    let strategy = match best.is_empty() {
        true => Strategy::Fast,
        false => Strategy::Best,
    };
    let mut sizes: Vec<usize> = numbers
        .iter()
        .map(|n| n.parse().expect("partitioned"))
        .collect();
    if sizes.is_empty() {
        sizes.extend([10_000, 100_000]);
    }
    println!(
        "{:<10} {:>9} {:<10} {:>6} {:>10} {:>10} {:>7} {:>10} {:>10} {:>8}",
        "workload",
        "buffers",
        "change",
        "keep",
        "cold ms",
        "hint ms",
        "ratio",
        "cold/bound",
        "hint/bound",
        "kept %"
    );
    for workload in WORKLOADS {
        if names.is_empty() || names.iter().any(|name| *name == workload.name) {
            for &n in &sizes {
                let buffers = (workload.make)(n);
                for change in ["none", "one", "0.1 %", "1 %", "10 %"] {
                    measure(workload.name, &buffers, change, strategy);
                }
            }
        }
    }
}

fn measure(name: &str, buffers: &[Buffer], change: &str, strategy: Strategy) {
    let before = solve(&programs::problem(buffers), strategy).0;
    let (after, starts) = changed(buffers, &before.placement.offsets, change);
    let mut problem = programs::problem(&after);
    let (cold, cold_time) = solve(&problem, strategy);
    // Nothing; 1 % and 25 % of a byte of peak per byte.
    for keep in [0, 10_486, 262_144] {
        problem.hint = Hint {
            starts: starts.clone(),
            keep,
            waste: before.placement.peak - before.bound,
        };
        let (hinted, time) = solve(&problem, strategy);
        let kept = Kept::of(&problem, &hinted.placement.offsets);
        let ratio = |peak: u64| peak as f64 / cold.bound as f64;
        println!(
            "{name:<10} {:>9} {change:<10} {keep:>6} {:>10.1} {:>10.1} {:>7.3} {:>10.4} {:>10.4} {:>8.2}",
            buffers.len(),
            cold_time * 1e3,
            time * 1e3,
            time / cold_time,
            ratio(cold.placement.peak),
            ratio(hinted.placement.peak),
            100.0 * kept.kept as f64 / (kept.kept + kept.moved).max(1) as f64,
        );
    }
}

fn solve(problem: &Problem, strategy: Strategy) -> (Solved, f64) {
    let mut shortest = f64::MAX;
    let mut last = None;
    for _ in 0..3 {
        let since = processor_time();
        let solved = dramalloc::solve(problem, strategy, None, &mut Control::default());
        shortest = shortest.min((processor_time() - since).as_secs_f64());
        last = solved.ok();
    }
    (last.expect("there is no ceiling"), shortest)
}

/// One buffer grows by a half; or one in so many grows by a half, shrinks by a half, is dropped or
/// gets a twin, all as often. What has not changed is hinted.
fn changed(buffers: &[Buffer], offsets: &[u64], change: &str) -> (Vec<Buffer>, Vec<Option<u64>>) {
    let one_in = match change {
        "none" | "one" => usize::MAX >> 32,
        "0.1 %" => 1000,
        "1 %" => 100,
        _ => 10,
    };
    let mut random = Random::new(7);
    let mut after: Vec<(Buffer, Option<u64>)> = Vec::new();
    for (i, (buffer, &offset)) in buffers.iter().zip(offsets).enumerate() {
        let what = match random.below(one_in) {
            0 => random.below(4),
            _ if change == "one" && i == buffers.len() / 2 => 0,
            _ => 4,
        };
        let pages = buffer.size / PAGE;
        let resized = |pages: u64| Buffer {
            size: pages.max(1) * PAGE,
            ..*buffer
        };
        match what {
            0 => after.push((resized(pages + pages / 2 + 1), None)),
            1 => after.push((resized(pages / 2), None)),
            2 => (),
            3 => after.extend([(*buffer, Some(offset)), (*buffer, None)]),
            _ => after.push((*buffer, Some(offset))),
        }
    }
    after.sort_unstable();
    after.into_iter().unzip()
}
