//! How long the edges of large functions take, and how many there are. // D2
//!
//! `cargo bench --bench depend`; prints one row per case. Nothing here fails: figures depend on
//! the machine.

mod clock;

use clock::processor_time;
use dramalloc::depend::{Layout, dependences};
use dramalloc::ir::{
    BlockId, Extent, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Operand, Space,
};

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

struct Case {
    function: Function,
    places: Vec<Option<(Space, u64)>>,
    random: Random,
}

impl Case {
    fn new() -> Case {
        Case {
            function: Function::new("main"),
            places: Vec::new(),
            random: Random(0x9e37_79b9_7f4a_7c15),
        }
    }

    fn location(&mut self, address: u64, bytes: u64) -> MemLocId {
        self.places.push(Some((Space::Local, address)));
        self.function
            .add_memloc(&MemLocSpec {
                extent: Some(Extent::Bytes(bytes)),
                ..Default::default()
            })
            .expect("valid")
    }

    fn instruction(&mut self, engine: u32, uses: &[Operand], defs: &[Operand]) {
        self.function
            .add_instruction(&InstructionSpec {
                op: "x",
                kind: Kind::Compute,
                engine,
                uses,
                defs,
                ..Default::default()
            })
            .expect("valid");
    }

    /// Locations that live for a while in memory that fits `window` of them: each is defined once
    /// from two others and used twice on average.
    fn churn(&mut self, instructions: usize, window: usize, engines: u64) {
        let mut alive: Vec<MemLocId> = Vec::new();
        for n in 0..instructions {
            let bytes = 4096 << self.random.below(4);
            let address = 4096 * self.random.below(window as u64 * 8);
            let new = self.location(address, bytes);
            let uses: Vec<Operand> = (0..2.min(alive.len()))
                .map(|_| alive[self.random.below(alive.len() as u64) as usize].into())
                .collect();
            let engine = self.random.below(engines) as u32;
            self.instruction(engine, &uses, &[new.into()]);
            if alive.len() < window {
                alive.push(new);
            } else {
                alive[n % window] = new;
            }
        }
    }

    fn block(&mut self) -> BlockId {
        self.function.add_block("")
    }

    fn go(&mut self, from: u32, to: &[u32]) {
        let to: Vec<BlockId> = to.iter().map(|&b| BlockId(b)).collect();
        self.function
            .set_successors(BlockId(from), &to)
            .expect("valid");
    }

    fn run(self, name: &str) {
        let f = &self.function;
        let layout = Layout::new(f, |id| self.places[id.index()]).expect("small addresses");
        let accesses: usize = (0..f.instructions().len())
            .map(dramalloc::ir::FlatIndex::new)
            .map(|i| f.uses(i).len() + f.defs(i).len())
            .sum();
        let start = processor_time();
        let edges = dependences(f, &layout);
        let seconds = (processor_time() - start).as_secs_f64();
        let carried = edges.iter().filter(|e| e.distance() == 1).count();
        println!(
            "{name:<44} {:>8} {accesses:>8} {:>8} {:>9} {carried:>8} {seconds:>8.3}",
            f.instructions().len(),
            f.blocks().len(),
            edges.len(),
        );
    }
}

fn readers(engines: u32) -> Case {
    let mut case = Case::new();
    let x = case.location(0, 4096);
    for n in 0..262_145 {
        case.instruction(n % engines, &[x.into()], &[]);
    }
    case.instruction(engines, &[], &[x.into()]);
    case
}

fn straight(instructions: usize, window: usize, engines: u64) -> Case {
    let mut case = Case::new();
    case.churn(instructions, window, engines);
    case
}

/// Slices written one by one, and readers of everything in between.
fn cache(steps: u64) -> Case {
    let mut case = Case::new();
    let x = case.location(0, steps * 64);
    for n in 0..steps {
        let slice = Operand {
            loc: x,
            offset: n * 64,
            bytes: Some(64),
        };
        case.instruction((n % 3) as u32, &[], &[slice]);
        case.instruction(3 + (n % 3) as u32, &[x.into()], &[]);
    }
    case
}

/// Loops one after the other, each of one block.
fn loops(count: u32, instructions: usize) -> Case {
    let mut case = Case::new();
    for n in 0..count {
        case.block();
        case.churn(instructions, 100, 6);
        if n > 0 {
            case.go(n - 1, &[n - 1, n]);
        }
    }
    case.go(count - 1, &[count - 1]);
    case
}

/// Branches of two arms one after the other, all in one loop.
fn diamonds(count: u32, instructions: usize) -> Case {
    let mut case = Case::new();
    for n in 0..count {
        for _ in 0..3 {
            case.block();
            case.churn(instructions, 100, 6);
        }
        let at = 3 * n;
        let next = if n + 1 < count { at + 3 } else { 0 };
        case.block_edges(at, next);
    }
    case
}

impl Case {
    fn block_edges(&mut self, at: u32, next: u32) {
        self.go(at, &[at + 1, at + 2]);
        let last = self.function.blocks().len() as u32 - 1;
        for arm in [at + 1, at + 2] {
            if next <= last {
                self.go(arm, &[next]);
            }
        }
        if at >= 3 {
            for arm in [at - 2, at - 1] {
                self.go(arm, &[at]);
            }
        }
    }
}

/// The same, and an engine that reads at the end what was written before: no walk from there ends
/// early, and the paths are too many to try.
fn tangle(count: u32, instructions: usize) -> Case {
    let mut case = Case::new();
    let far: Vec<MemLocId> = (0..4)
        .map(|n| case.location((1 << 40) + 4096 * n, 4096))
        .collect();
    for n in 0..count {
        for arm in 0..3 {
            case.block();
            if arm == 0 && n < 4 {
                case.instruction(0, &[], &[far[n as usize].into()]);
            }
            case.churn(instructions, 100, 6);
        }
        if n + 1 < count {
            case.block_edges(3 * n, 3 * n + 3);
        }
    }
    let far: Vec<Operand> = far.into_iter().map(Operand::from).collect();
    case.instruction(6, &far, &[]);
    case
}

/// One loop with a body of one block and a header of its own.
fn body(instructions: usize) -> Case {
    let mut case = Case::new();
    case.block();
    case.churn(instructions / 100, 100, 6);
    case.block();
    case.churn(instructions, 1000, 6);
    case.block();
    case.churn(instructions / 100, 100, 6);
    case.go(0, &[1, 2]);
    case.go(1, &[0]);
    case
}

fn main() {
    println!(
        "{:<44} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "case", "instrs", "accesses", "blocks", "edges", "carried", "s"
    );
    let only = std::env::args().nth(1).filter(|a| !a.starts_with("--"));
    let wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    };
    let run = |name: &str, case: fn() -> Case| {
        if wanted(name) {
            case().run(name);
        }
    };
    run("262145 readers on 6 engines, 1 writer", || readers(6));
    run("straight, 6 engines", || straight(333_334, 1000, 6));
    run("straight, 6 engines, wide", || {
        straight(333_334, 100_000, 6)
    });
    run("straight, 64 engines", || straight(333_334, 1000, 64));
    run("slices and readers of all of them", || cache(500_000));
    run("one loop", || body(333_334));
    run("100 loops", || loops(100, 3333));
    run("1000 loops", || loops(1000, 333));
    run("1000 small loops", || loops(1000, 33));
    run("10 diamonds in a loop", || diamonds(10, 100));
    run("1000 diamonds in a loop", || diamonds(1000, 100));
    run("1000 diamonds, 4 sources far away", || tangle(1000, 100));
}
