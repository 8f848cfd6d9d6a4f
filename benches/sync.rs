//! How long many cores take to agree, and a program of eight cores through the whole pipeline.
//!
//! `cargo bench --bench sync`; prints one row per case, the shortest of a few runs in milliseconds
//! of processor time. Nothing here fails: figures depend on the machine.

use std::hint::black_box;

use dramalloc::ir::{
    Extent, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Module, Operand, Program, Space,
    UsageMask,
};
use dramalloc::pipeline::{Pipeline, PipelineOptions};
use dramalloc::shared::{agree, core_digests, sync_shared_allocations};
use dramalloc::verify::lnc_verify;
use dramalloc::{Control, Options, apply_space, plan_space};

const MASK: UsageMask = UsageMask::CANDIDATES;

/// Seconds of processor time that this process has taken, so that other work on the machine does
/// not count; wall time where the system does not tell.
fn seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    let stat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = stat.and_then(|s| s.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// The shortest of three runs, in milliseconds; making the input and dropping it does not count.
fn shortest<T>(make: impl Fn() -> T, mut run: impl FnMut(&mut T)) -> f64 {
    let once = |_| {
        let mut input = make();
        let start = seconds();
        run(&mut input);
        (seconds() - start) * 1e3
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

/// Deterministic numbers (xorshift64, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// How followers find their owner.
#[derive(Clone, Copy)]
enum Links {
    /// By a link to core 0.
    Star,
    /// By name alone.
    Names,
}

/// Modules that share `count` locations, each written once and read after a barrier.
fn sharing(cores: u32, count: u32, links: Links) -> Vec<Module> {
    let module = |core: u32| {
        let mut function = Function::new("main");
        for i in 0..count {
            let name = match links {
                Links::Star => format!("s{i}.{core}"),
                Links::Names => format!("s{i}"),
            };
            let owner = format!("s{i}.0");
            let follows = matches!(links, Links::Star) && core > 0;
            let spec = MemLocSpec {
                name: &name,
                extent: Some(Extent::Bytes(4096)),
                space: Space::Shared,
                remote: follows.then_some((0, &owner)),
                ..Default::default()
            };
            function.add_memloc(&spec).expect("valid");
        }
        touch(&mut function, &[], (core..count).step_by(cores as usize));
        barrier(&mut function);
        touch(&mut function, &[], 0..0);
        let read: Vec<u32> = (0..count).collect();
        touch(&mut function, &read, 0..0);
        let mut module = Module::new(&format!("m{core}"), core);
        module.add_function(function).expect("the only one");
        module
    };
    (0..cores).map(module).collect()
}

fn touch(function: &mut Function, uses: &[u32], defs: impl Iterator<Item = u32>) {
    let operand = |id: u32| Operand::from(MemLocId(id));
    let uses: Vec<Operand> = uses.iter().copied().map(operand).collect();
    let defs: Vec<Operand> = defs.map(operand).collect();
    let spec = InstructionSpec {
        op: "x",
        uses: &uses,
        defs: &defs,
        ..Default::default()
    };
    function.add_instruction(&spec).expect("valid");
}

fn barrier(function: &mut Function) {
    let spec = InstructionSpec {
        op: "barrier",
        kind: Kind::Barrier,
        ..Default::default()
    };
    function.add_instruction(&spec).expect("valid");
}

/// `buffers` temporaries on one core, one in eight of them shared, on four engines, with a barrier
/// every fifty instructions.
fn training(buffers: u32) -> Program {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut function = Function::new("main");
    let mut alive: Vec<MemLocId> = Vec::new();
    for i in 0..buffers {
        let shared = i % 8 == 0;
        let name = format!("b{i}");
        let spec = MemLocSpec {
            name: &name,
            extent: Some(Extent::Bytes(4096 * (1 + random.below(64)))),
            space: if shared { Space::Shared } else { Space::Local },
            ..Default::default()
        };
        let new = function.add_memloc(&spec).expect("valid");
        let uses: Vec<Operand> = (0..2.min(alive.len()))
            .map(|_| alive[random.below(alive.len() as u64) as usize].into())
            .collect();
        let spec = InstructionSpec {
            op: "x",
            engine: random.below(4) as u32,
            uses: &uses,
            defs: &[new.into()],
            ..Default::default()
        };
        function.add_instruction(&spec).expect("valid");
        match alive.len() < 48 {
            true => alive.push(new),
            false => alive[random.below(48) as usize] = new,
        }
        if i % 50 == 49 {
            barrier(&mut function);
        }
    }
    let mut module = Module::new("m0", 0);
    module.add_function(function).expect("the only one");
    let mut program = Program::new("training");
    program.add_module(module).expect("the only one");
    program
}

fn sync_cases() {
    println!(
        "{:<34} {:>10} {:>10} {:>10} {:>10}",
        "case", "sync ms", "again ms", "digests", "verify"
    );
    for (name, links) in [("links", Links::Star), ("names", Links::Names)] {
        for (cores, count) in [(2, 10_000), (64, 1_000), (64, 10_000)] {
            let mut modules = sharing(cores, count, links);
            let placed = plan_space(
                &modules,
                Space::Shared,
                &Options::default(),
                &mut Control::default(),
            );
            let placed = placed.expect("there is room");
            for (m, module) in modules.iter_mut().enumerate() {
                apply_space(&placed, m, module, Space::Shared);
            }
            let sync = shortest(
                || modules.clone(),
                |modules| {
                    let report = sync_shared_allocations(modules, MASK, None);
                    assert_eq!(report.expect("they agree").groups, u64::from(count));
                },
            );
            sync_shared_allocations(&mut modules, MASK, None).expect("they agree");
            let each: Vec<&Module> = modules.iter().collect();
            let again = shortest(
                || (),
                |_| {
                    let agreement = agree(&each, MASK, None).expect("they agree");
                    assert_eq!(agreement.report.assigned, 0);
                },
            );
            let digests = shortest(
                || (),
                |_| {
                    black_box(core_digests(&each, MASK, None).expect("they agree"));
                },
            );
            let verify = shortest(|| (), |_| assert_eq!(lnc_verify(&each, MASK, None), []));
            let case = format!("{cores} cores, {count} {name}");
            println!("{case:<34} {sync:>10.1} {again:>10.1} {digests:>10.1} {verify:>10.1}");
        }
    }
}

fn pipeline_cases() {
    println!(
        "\n{:<34} {:>10} {:>10} {:>14}",
        "case", "ms", "passes", "peak"
    );
    for (cores, buffers, verify_each) in [(8, 1_000, false), (8, 1_000, true), (8, 10_000, true)] {
        let choices = PipelineOptions {
            cores,
            verify_each,
            ..PipelineOptions::default()
        };
        let pipeline = Pipeline::new(&choices).expect("valid");
        let program = training(buffers);
        let mut last = None;
        let time = shortest(
            || program.clone(),
            |program| {
                let report = pipeline.run(program, &Options::default(), &mut Control::default());
                last = Some(report.expect("there is room"));
            },
        );
        let report = last.expect("it ran");
        let case = format!(
            "{cores} cores, {buffers} buffers{}",
            if verify_each { ", verified" } else { "" }
        );
        println!(
            "{case:<34} {time:>10.1} {:>10} {:>14}",
            report.passes.len(),
            report.plan.peak
        );
    }
}

fn main() {
    sync_cases();
    pipeline_cases();
}
