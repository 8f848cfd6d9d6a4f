//! Every measurement of one instance.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use dramalloc::interval_tree::{Interval, IntervalTree};
use dramalloc::ir::{Function, Module, Program};
use dramalloc::{
    Control, Options, Problem, Progress, Solved, Strategy, order, place_in_order, plan, solve,
};

use crate::baselines::{self, Fit, Order};
use crate::clock::processor_time;
use crate::table::{Instance, Row};
use crate::workloads::Buffer;
use crate::{check, programs};

/// How much a run may do.
pub struct Effort {
    /// What would look at more pairs of buffers than this is left out, with a note.
    pub pairs: u64,
    /// Steps for strategy `best`; none: by the number of buffers.
    pub steps: Option<u64>,
}

impl Effort {
    /// The budget of strategy `best`: a few passes over all buffers, and something to search with
    /// where they are few. The other strategies end by themselves.
    pub fn steps(&self, buffers: usize) -> u64 {
        self.steps.unwrap_or((1 << 17) + 8 * buffers as u64)
    }
}

/// What all nodes of the exact search may look at, in buffers and sections.
const SEARCH_WORK: u64 = 1_000_000_000;

/// Measures everything; the rows, and notes on what was left out.
pub fn measure(
    instance: &Instance,
    buffers: &[Buffer],
    effort: &Effort,
) -> (Vec<Row>, Vec<String>) {
    let mut runs = Runs {
        instance,
        buffers,
        effort,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    let problem = programs::problem(buffers);
    runs.strategies(&problem);
    runs.same_order(&problem);
    runs.parts(&problem);
    runs.baselines();
    (runs.rows, runs.notes)
}

struct Runs<'a> {
    instance: &'a Instance,
    buffers: &'a [Buffer],
    effort: &'a Effort,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Runs<'_> {
    fn strategies(&mut self, problem: &Problem) {
        let budget = self.effort.steps(self.buffers.len());
        for (method, strategy, budget) in [
            ("reference", Strategy::Reference, None),
            ("fast", Strategy::Fast, None),
            ("best", Strategy::Best, Some(budget)),
        ] {
            let (time, (solved, steps)) = best_of(|| run(problem, strategy, budget));
            self.placement(method, time, &solved.placement.offsets, Some(steps));
        }
    }

    /// First fit by size, here and with neighbours enumerated: the same work by two methods.
    fn same_order(&mut self, problem: &Problem) {
        let order = || Order::Size.of(self.buffers);
        let (ours, offsets) = best_of(|| {
            let placed = place_in_order(problem, &order(), &mut Control::default());
            placed.expect("there is no ceiling").offsets
        });
        self.placement("first fit by size, engine", ours, &offsets, None);
        let method = "first fit by size, neighbours";
        if self.too_many(method, self.instance.load.pairs) {
            return;
        }
        let (theirs, same) = best_of(|| baselines::place(self.buffers, &order(), Fit::Lowest));
        self.placement(method, theirs, &same, None);
        assert_eq!(offsets, same, "one order has one first fit");
        self.notes.push(format!(
            "first fit by size: byte for byte the same offsets, {:.0} times faster without enumerating neighbours",
            theirs.as_secs_f64() / ours.as_secs_f64(),
        ));
    }

    /// What a whole plan consists of besides placing.
    fn parts(&mut self, problem: &Problem) {
        let (time, _) = best_of(|| order::reference(problem));
        self.time("part: the reference order", time);
        let function = programs::function(self.buffers);
        let (time, _) = best_of(|| dramalloc::liveness::liveness(&function));
        self.time("part: liveness of such a function", time);
        let program = program(function);
        let (time, _) = best_of(|| {
            let plan = plan(&program, &Options::default(), &mut Control::default());
            plan.expect("there is no capacity")
        });
        self.time("part: all, from program to plan", time);
        self.silence(problem);
        self.interval_tree();
    }

    /// The longest time in which strategy `fast` does not look at the host's clock.
    fn silence(&mut self, problem: &Problem) {
        let start = processor_time();
        let (last, longest) = (Cell::new(Duration::ZERO), Cell::new(Duration::ZERO));
        let elapsed = || {
            let now = processor_time() - start;
            longest.set(longest.get().max(now - last.replace(now)));
            now
        };
        let mut control = Control {
            elapsed: Some(&elapsed),
            deadline: Some(Duration::MAX),
            ..Control::default()
        };
        let solved = solve(problem, Strategy::Fast, None, &mut control);
        black_box(solved.is_ok());
        self.time("fast: longest between two polls", longest.get());
    }

    /// Building the tree, then asking every interval for its overlaps, as simplify would.
    fn interval_tree(&mut self) {
        let interval = |(payload, b): (u32, &Buffer)| Interval {
            lo: b.lower,
            hi: b.upper - 1,
            payload,
        };
        let intervals: Vec<Interval> = (0..).zip(self.buffers).map(interval).collect();
        let (time, tree) =
            best_of(|| IntervalTree::new(&intervals).expect("lives are not inverted"));
        self.time("interval tree: build", time);
        let method = "interval tree: the overlaps of each";
        let found = 2 * self.instance.load.pairs; // Each pair from both sides.
        if self.too_many(method, found) {
            return;
        }
        let (time, got) = best_of(|| {
            let mut overlaps = Vec::new();
            let query = |node: u32| {
                tree.all_overlaps(node, &mut overlaps);
                overlaps.len() as u64
            };
            (0..intervals.len() as u32).map(query).sum::<u64>()
        });
        assert_eq!(got, found);
        self.time(method, time);
    }

    fn baselines(&mut self) {
        let (n, pairs) = (self.buffers.len() as u64, self.instance.load.pairs);
        self.baseline(
            "first fit by time, all pairs",
            n * n / 2,
            baselines::first_fit_all_pairs,
        );
        self.baseline(
            "best fit by size, neighbours",
            pairs,
            baselines::by_size_best_fit,
        );
        self.baseline("best of six, neighbours", 6 * pairs, baselines::best_of_six);
        self.baseline(
            "on top by size, neighbours",
            pairs,
            baselines::by_size_on_top,
        );
        self.baseline("free list over time", n, baselines::free_list);
        let method = "exact search, bisection";
        // A buffer spans a section for each start and each end during its life.
        let node = n + 2 * pairs;
        if self.too_many(method, n * node / 2) {
            return; // A single descent.
        }
        let nodes = SEARCH_WORK / node;
        let start = processor_time();
        let searched = baselines::canonical_search(self.buffers, nodes);
        if searched.proven {
            self.notes
                .push(format!("{method}: proves that no peak is lower"));
        }
        self.placement(
            method,
            processor_time() - start,
            &searched.offsets,
            Some(searched.nodes),
        );
    }

    fn baseline(&mut self, method: &'static str, pairs: u64, plan: fn(&[Buffer]) -> Vec<u64>) {
        if !self.too_many(method, pairs) {
            let (time, offsets) = best_of(|| plan(self.buffers));
            self.placement(method, time, &offsets, None);
        }
    }

    /// Notes that a measurement is left out if it would look at more pairs than is sensible.
    fn too_many(&mut self, method: &str, pairs: u64) -> bool {
        let many = pairs > self.effort.pairs;
        if many {
            let millions = pairs as f64 / 1e6;
            self.notes.push(format!(
                "{method}: left out, {millions:.0} million pairs to look at"
            ));
        }
        many
    }

    fn time(&mut self, method: &'static str, time: Duration) {
        self.rows.push(Row {
            method,
            time,
            peak: None,
            steps: None,
        });
    }

    /// Every placement that is measured is also checked.
    fn placement(
        &mut self,
        method: &'static str,
        time: Duration,
        offsets: &[u64],
        steps: Option<u64>,
    ) {
        let peak = check::peak(self.buffers, offsets).unwrap_or_else(|e| panic!("{method}: {e}"));
        self.rows.push(Row {
            method,
            time,
            peak: Some(peak),
            steps,
        });
    }
}

/// Runs a strategy; with the steps it had taken when it last said so.
pub fn run(problem: &Problem, strategy: Strategy, budget: Option<u64>) -> (Solved, u64) {
    let mut steps = 0;
    let mut progress = |p: &Progress| steps = p.done;
    let mut control = Control {
        progress: Some(&mut progress),
        ..Control::default()
    };
    let solved = solve(problem, strategy, budget, &mut control);
    (
        solved.expect("no ceiling, and the budget of `best` is a pass at least"),
        steps,
    )
}

fn program(function: Function) -> Program {
    let mut module = Module::new("core0", 0);
    module.add_function(function).expect("the only function");
    let mut program = Program::new("bench");
    program.add_module(module).expect("the only module");
    program
}

/// The least processor time of a few runs, fewer of what takes long; with the last result.
pub fn best_of<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let (mut best, mut spent) = (Duration::MAX, Duration::ZERO);
    let mut runs = 0;
    loop {
        let start = processor_time();
        let result = black_box(run());
        let time = processor_time() - start;
        (best, spent, runs) = (best.min(time), spent + time, runs + 1);
        if runs == 20 || spent > Duration::from_millis(200) {
            return (best, result);
        }
    }
}
