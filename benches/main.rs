//! Time and quality of planning, beside baselines of our own, in one run.
//!
//! `cargo bench --bench planning` for everything; with `-- 1000 100000` for these numbers of
//! buffers, with `-- training` for this workload, with `-- FILE.csv` for the buffers of a file, with
//! `-- --perturbed` for how often changed workloads end at the bound. See README.md beside this file.

#![allow(
    clippy::print_stdout,
    reason = "a table on stdout is what a benchmark is for"
)]

mod baselines;
mod check;
mod perturbed;
mod programs;
mod workloads;

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use dramalloc::interval_tree::{Interval, IntervalTree};
use dramalloc::ir::{Module, Program};
use dramalloc::{Control, Options, Strategy};
use workloads::{Buffer, Load, WORKLOADS};

/// Buffers, unless the command line says otherwise.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// What would look at more pairs of buffers than this is skipped, with a note.
const MOST_PAIRS: u64 = 300_000_000;

/// Larger workloads are not changed: they would take hours.
const MOST_PERTURBED: usize = 100_000;

/// Changed workloads of one kind.
const SEEDS: u64 = 4;

fn main() {
    let typed: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let (files, words): (Vec<&String>, Vec<&String>) =
        typed.iter().partition(|word| word.ends_with(".csv"));
    let (numbers, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.parse::<usize>().is_ok());
    let mut sizes: Vec<usize> = numbers
        .iter()
        .map(|n| n.parse().expect("partitioned"))
        .collect();
    if sizes.is_empty() {
        sizes.extend(SIZES);
    }
    let is_perturbed = std::env::args().any(|arg| arg == "--perturbed");
    if is_perturbed {
        sizes.retain(|&n| n <= MOST_PERTURBED);
        print!("best, by change:{:>24}", "buffers");
        perturbed::CHANGES
            .iter()
            .for_each(|change| print!(" {change:>15}"));
        println!();
    }
    let all = |name: &str, buffers: &[Buffer]| {
        if is_perturbed {
            perturbed::count(name, buffers, SEEDS, Strategy::Best);
        } else {
            measure(name, buffers);
        }
    };
    for file in &files {
        match workloads::from_csv(file) {
            Ok(buffers) => all(file.rsplit('/').next().unwrap_or(file), &buffers),
            Err(message) => println!("{file}: skipped: {message}"),
        }
    }
    for workload in WORKLOADS {
        let named = names.iter().any(|name| *name == workload.name);
        if named || names.is_empty() && files.is_empty() {
            for &n in &sizes {
                all(workload.name, &(workload.make)(n));
            }
        }
    }
}

/// Every measurement of one workload at one size.
fn measure(name: &str, buffers: &[Buffer]) {
    let load = workloads::load(buffers);
    println!(
        "\n{name}: {} buffers, at most {} live, lower bound {:.1} MiB, {:.1} million pairs live together",
        buffers.len(),
        load.live,
        load.bytes as f64 / 1_048_576.0,
        load.pairs as f64 / 1e6,
    );
    println!(
        "  {:<44} {:>12} {:>10} {:>10} {:>9}",
        "", "ms", "ns/buffer", "peak/bound", "time/fast"
    );
    let problem = programs::problem(buffers);
    let (fast_time, fast) = best_of(|| solve(&problem, Strategy::Fast));
    let table = Table {
        buffers,
        load,
        fast: fast_time,
    };

    let function = programs::function(buffers);
    let (time, _) = best_of(|| dramalloc::liveness::liveness(&function));
    table.time("liveness of a function with these buffers", time);
    table.interval_tree();
    let (time, offsets) = best_of(|| solve(&problem, Strategy::Reference));
    table.placement("reference: Briggs order, first fit", time, &offsets);
    table.placement("fast", fast_time, &fast);
    let (time, best) = best_of(|| solve(&problem, Strategy::Best));
    table.placement("best", time, &best);
    table.silence(&problem);
    let program = program(function);
    let (time, _) = best_of(|| {
        dramalloc::plan(&program, &Options::default(), &mut Control::default())
            .expect("no capacity")
    });
    table.time("a whole plan: liveness to addresses", time);

    let n = buffers.len() as u64;
    table.baseline(
        "baseline: first fit, all pairs",
        n * n / 2,
        baselines::first_fit_all_pairs,
    );
    table.baseline(
        "baseline: by size, best fit, neighbours",
        load.pairs,
        baselines::neighbour_best_fit,
    );
    table.baseline(
        "baseline: best of six, neighbours",
        6 * load.pairs,
        baselines::neighbour_best_of_six,
    );
    table.baseline("baseline: free list over time", n, baselines::free_list);
}

fn solve(problem: &dramalloc::Problem, strategy: Strategy) -> Vec<u64> {
    let solved = dramalloc::solve(problem, strategy, None, &mut Control::default());
    solved.expect("there is no ceiling").placement.offsets
}

fn program(function: dramalloc::ir::Function) -> Program {
    let mut module = Module::new("core0", 0);
    module.add_function(function).expect("the only function");
    let mut program = Program::new("bench");
    program.add_module(module).expect("the only module");
    program
}

/// The shortest of a few runs, fewer of what takes long; with the last result.
fn best_of<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let (mut best, mut spent) = (Duration::MAX, Duration::ZERO);
    let mut runs = 0;
    loop {
        let start = Instant::now();
        let result = black_box(run());
        let time = start.elapsed();
        (best, spent, runs) = (best.min(time), spent + time, runs + 1);
        if runs == 20 || spent > Duration::from_millis(500) {
            return (best, result);
        }
    }
}

/// The lines of one workload at one size.
struct Table<'a> {
    buffers: &'a [Buffer],
    load: Load,
    fast: Duration,
}

impl Table<'_> {
    fn time(&self, what: &str, time: Duration) {
        self.line(what, time, "");
    }

    fn placement(&self, what: &str, time: Duration, offsets: &[u64]) {
        let peak = check::peak(self.buffers, offsets).unwrap_or_else(|e| panic!("{what}: {e}"));
        let ratio = peak as f64 / self.load.bytes.max(1) as f64;
        self.line(what, time, &format!("{ratio:.4}"));
    }

    fn line(&self, what: &str, time: Duration, quality: &str) {
        let seconds = time.as_secs_f64();
        println!(
            "  {what:<44} {:>12.3} {:>10.1} {quality:>10} {:>9.2}",
            seconds * 1e3,
            seconds * 1e9 / self.buffers.len().max(1) as f64,
            seconds / self.fast.as_secs_f64(),
        );
    }

    /// Building the tree, then asking every interval for its overlaps, as simplify would.
    fn interval_tree(&self) {
        let interval = |(payload, b): (u32, &Buffer)| Interval {
            lo: b.lower,
            hi: b.upper - 1,
            payload,
        };
        let intervals: Vec<Interval> = (0..).zip(self.buffers).map(interval).collect();
        let (time, tree) =
            best_of(|| IntervalTree::new(&intervals).expect("lives are not inverted"));
        self.time("interval tree: build", time);
        let what = "interval tree: the overlaps of each";
        if self.too_many(what, self.load.pairs) {
            return;
        }
        let (time, found) = best_of(|| {
            let mut overlaps = Vec::new();
            let query = |node: u32| {
                tree.all_overlaps(node, &mut overlaps);
                overlaps.len() as u64
            };
            (0..intervals.len() as u32).map(query).sum::<u64>()
        });
        assert_eq!(
            found,
            2 * self.load.pairs,
            "each pair is found from both sides"
        );
        self.time(what, time);
    }

    /// The longest time in which strategy `fast` does not look at the host's clock.
    fn silence(&self, problem: &dramalloc::Problem) {
        let start = Instant::now();
        let (last, longest) = (Cell::new(Duration::ZERO), Cell::new(Duration::ZERO));
        let elapsed = || {
            let now = start.elapsed();
            longest.set(longest.get().max(now - last.replace(now)));
            now
        };
        let mut control = Control {
            elapsed: Some(&elapsed),
            deadline: Some(Duration::MAX),
            ..Control::default()
        };
        let solved = dramalloc::solve(problem, Strategy::Fast, None, &mut control);
        black_box(solved.is_ok());
        self.time("fast: longest time between two polls", longest.get());
    }

    /// Says that a measurement is left out if it would look at more pairs than is sensible.
    fn too_many(&self, what: &str, pairs: u64) -> bool {
        if pairs > MOST_PAIRS {
            println!(
                "  {what:<44} skipped: {:.1} million pairs to look at",
                pairs as f64 / 1e6
            );
        }
        pairs > MOST_PAIRS
    }

    fn baseline(&self, what: &str, pairs: u64, plan: fn(&[Buffer]) -> Vec<u64>) {
        if self.too_many(what, pairs) {
            return;
        }
        let (time, offsets) = best_of(|| plan(self.buffers));
        self.placement(what, time, &offsets);
    }
}
