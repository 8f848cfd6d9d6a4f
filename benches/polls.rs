//! How long a run goes without looking at the host's flag and clock. // S2
//!
//! `cargo bench --bench polls`; with `-- 100000` for these numbers of buffers, with `-- mix` for this
//! workload. A cancel flag is obeyed at the next look, so that the longest gap, in processor time, is
//! the longest a host waits on an idle machine. The last row of a program is what follows the last
//! look: the plan is written down, whatever the flag says.

#![allow(
    clippy::print_stdout,
    reason = "a table on stdout is what a benchmark is for"
)]

mod clock;
#[allow(dead_code, reason = "only its functions are of use here")]
mod programs;
#[allow(dead_code, reason = "only its buffers are of use here")]
mod workloads;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use clock::processor_time;

use dramalloc::ir::{Module, Program};
use dramalloc::pipeline::{Pipeline, PipelineOptions};
use dramalloc::verify::{verify_deep_with, verify_with};
use dramalloc::{Control, Options, RawProblem, Strategy};
use workloads::{Buffer, WORKLOADS};

/// How many of the longest gaps of a phase are shown.
const SHOWN: usize = 4;

fn main() {
    let typed = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let (numbers, names): (Vec<String>, Vec<String>) =
        typed.partition(|word| word.parse::<usize>().is_ok());
    let numbers: Vec<usize> = numbers.iter().flat_map(|word| word.parse()).collect();
    let sizes = if numbers.is_empty() {
        vec![1_000_000]
    } else {
        numbers
    };
    for &n in &sizes {
        for workload in WORKLOADS {
            if !names.is_empty() && names.iter().all(|name| name != workload.name) {
                continue;
            }
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
            // A rotation looks at all that is live for each location.
            passes(&format!("{} {n}", workload.name), &program, n <= 100_000);
        }
    }
}

/// What comes after a plan: all passes of a pipeline, and proofs by themselves.
fn passes(what: &str, program: &Program, dram_rotation: bool) {
    let options = Options::default();
    let choices = PipelineOptions {
        dram_rotation,
        verify_each: true,
        verify_deep: true,
        disable_hbm_usage_check: true,
        ..PipelineOptions::default()
    };
    let pipeline = Pipeline::new(&choices).expect("valid choices");
    let mut plan = dramalloc::Plan::default();
    watch(&format!("{what} pipeline"), |control| {
        let outcome = pipeline.decide(program, &options, control)?;
        plan = outcome.report.plan;
        Ok(())
    });
    watch(&format!("{what} verify"), |control| {
        assert_eq!(verify_with(program, &plan, control)?, []);
        Ok(())
    });
    watch(&format!("{what} verify_deep"), |control| {
        assert_eq!(verify_deep_with(program, &plan, control)?.violations, []);
        Ok(())
    });
    watch(&format!("{what} explain"), |_| {
        dramalloc::report::explain::explain(program, &plan, 10).map(drop)
    });
    watch(&format!("{what} diff"), |_| {
        dramalloc::report::diff::diff((program, &plan), (program, &plan), 10).map(drop)
    });
    let mut text = Vec::new();
    watch(&format!("{what} write_program"), |_| {
        dramalloc::format::write_program(program, &mut text).expect("memory");
        Ok(())
    });
    watch(&format!("{what} read_program"), |_| {
        dramalloc::format::read_program(&text).map(drop)
    });
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

/// A phase of a run: its name, its looks and its longest gaps, with when they ended.
struct Phase {
    name: &'static str,
    looks: u64,
    gaps: Vec<(Duration, Duration)>,
}

/// Phases in the order in which they were first entered.
struct Phases(Vec<Phase>);

impl Phases {
    fn add(&mut self, name: &'static str, gap: Duration, end: Duration) {
        let at = self.0.iter().position(|phase| phase.name == name);
        let at = at.unwrap_or_else(|| {
            let (looks, gaps) = (0, Vec::new());
            self.0.push(Phase { name, looks, gaps });
            self.0.len() - 1
        });
        let Phase { looks, gaps, .. } = &mut self.0[at];
        *looks += 1;
        gaps.push((gap, end));
        gaps.sort_unstable_by(|a, b| b.cmp(a));
        gaps.truncate(SHOWN);
    }
}

/// Runs something that asks for the time at every look, and says when it did not for long.
fn watch(what: &str, run: impl FnOnce(&mut Control<'_>) -> dramalloc::Result<()>) {
    let start = processor_time();
    let last = Cell::new(Duration::ZERO);
    let phase = Cell::new("start");
    let phases = RefCell::new(Phases(Vec::new()));
    let look = || {
        let now = processor_time() - start;
        let gap = now - last.replace(now);
        phases.borrow_mut().add(phase.get(), gap, now);
        now
    };
    let mut enter = |progress: &dramalloc::Progress| {
        phase.set(progress.phase);
    };
    let mut control = Control {
        elapsed: Some(&look),
        deadline: Some(Duration::MAX),
        progress: Some(&mut enter),
        ..Control::default()
    };
    let done = run(&mut control);
    phase.set("after");
    look();
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    println!(
        "{what}: {} ms{}; by phase: looks, the longest gaps in ms, and when they ended:",
        ms(last.get()),
        if done.is_ok() { "" } else { ", failed" }
    );
    for Phase { name, looks, gaps } in phases.into_inner().0 {
        let gaps = gaps
            .iter()
            .map(|&(gap, end)| format!("{} ({})", ms(gap), ms(end)));
        let gaps: Vec<String> = gaps.collect();
        println!("  {name:<10} {looks:>8}  {}", gaps.join(", "));
    }
}
