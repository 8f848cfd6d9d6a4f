//! How long a run goes without looking at the host's flag and clock. // S2
//!
//! `cargo bench --bench polls`; with `-- 100000` for these numbers of buffers. A cancel flag is
//! obeyed at the next look, so that the longest gap, on an idle machine, is the longest a host waits.

#![allow(
    clippy::print_stdout,
    reason = "a table on stdout is what a benchmark is for"
)]

#[allow(dead_code, reason = "only its functions are of use here")]
mod programs;
#[allow(dead_code, reason = "only its buffers are of use here")]
mod workloads;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use dramalloc::ir::{Module, Program};
use dramalloc::{Control, Options, RawProblem, Strategy};
use workloads::{Buffer, WORKLOADS};

/// How many of the longest gaps are shown.
const SHOWN: usize = 8;

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if numbers.is_empty() {
        vec![1_000_000]
    } else {
        numbers
    };
    for &n in &sizes {
        for workload in WORKLOADS {
            let buffers = (workload.make)(n);
            let raw = raw(&buffers);
            for strategy in [Strategy::Fast, Strategy::Best] {
                let options = Options {
                    strategy,
                    budget_steps: Some(6 * n as u64),
                    ..Options::default()
                };
                watch(
                    &format!("{} {n} raw {strategy}", workload.name),
                    |control| dramalloc::solve_raw(&raw, &options, control).map(drop),
                );
            }
            let mut module = Module::new("core0", 0);
            let function = programs::function(&buffers);
            module.add_function(function).expect("the only function");
            let mut program = Program::new("bench");
            program.add_module(module).expect("the only module");
            watch(&format!("{} {n} program", workload.name), |control| {
                dramalloc::plan(&program, &Options::default(), control).map(drop)
            });
        }
    }
}

fn raw(buffers: &[Buffer]) -> RawProblem {
    RawProblem {
        starts: (0..=buffers.len() as u32).collect(),
        segments: buffers
            .iter()
            .map(|b| (b.lower.into(), b.upper.into()))
            .collect(),
        sizes: buffers.iter().map(|b| b.size).collect(),
        ..RawProblem::default()
    }
}

/// Runs something that asks for the time at every look, and says when it did not for long.
fn watch(what: &str, run: impl FnOnce(&mut Control<'_>) -> dramalloc::Result<()>) {
    let start = Instant::now();
    let last = Cell::new(Duration::ZERO);
    let gaps: RefCell<Vec<(Duration, Duration)>> = RefCell::default();
    let looks = Cell::new(0u64);
    let look = || {
        let now = start.elapsed();
        looks.set(looks.get() + 1);
        let gap = now - last.replace(now);
        let mut gaps = gaps.borrow_mut();
        gaps.push((gap, now));
        if gaps.len() > 1000 {
            gaps.sort_unstable_by(|a, b| b.cmp(a));
            gaps.truncate(SHOWN);
        }
        now
    };
    let mut control = Control {
        elapsed: Some(&look),
        deadline: Some(Duration::MAX),
        ..Control::default()
    };
    let done = run(&mut control);
    look();
    let mut gaps = gaps.take();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    println!(
        "{what}: {} ms, {} looks{}; the longest gaps in ms, and when they ended:",
        ms(last.get()),
        looks.get(),
        if done.is_ok() { "" } else { ", failed" }
    );
    for &(gap, end) in gaps.iter().take(SHOWN) {
        println!("  {:>8} {:>10}", ms(gap), ms(end));
    }
}
