//! Random programs and options: small, so that everything collides.

use arbtest::arbitrary::{Result, Unstructured};

use crate::ir::{
    BlockId, Extent, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, MemoryType, Module,
    Operand, Program, Space, Usage,
};
use crate::options::{Floor, Options};

/// Runs a property on `count` inputs, the same ones every time, growing.
pub(super) fn cases(count: u64, property: impl Fn(&mut Unstructured<'_>) -> Result<()>) {
    for seed in 0..count {
        let mut state = seed;
        let mut next = || {
            // SplitMix64 (Steele, Lea, Flood, 2014).
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = state;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        let words = 10 + seed % 90;
        let bytes: Vec<u8> = (0..words).flat_map(|_| next().to_le_bytes()).collect();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // Bytes that run out read as zeros, so no input is refused.
            property(&mut Unstructured::new(&bytes)).expect("every input is usable");
        }));
        if let Err(panic) = result {
            eprintln!("case {seed} of {count}");
            std::panic::resume_unwind(panic);
        }
    }
}

pub(super) fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    Ok(Options {
        packed: u.ratio(1, 3)?,
        floor: if u.arbitrary()? {
            Floor::Hwm
        } else {
            Floor::Holes
        },
        reuse_io: u.ratio(1, 3)?,
        cc_limit: *u.choose(&[500, 0, -1, -1])?,
        align: if u.ratio(1, 6)? { Some(8192) } else { None },
        ..Options::default()
    })
}

/// A valid program of one or two cores.
pub(super) fn program(u: &mut Unstructured<'_>) -> Result<Program> {
    let cores = u.int_in_range(1..=2)?;
    let functions = u.int_in_range(1..=2)?;
    // The same barriers on all cores, in the entry block.
    let barriers: Vec<u32> = (0..functions)
        .map(|_| u.int_in_range(0..=2))
        .collect::<Result<_>>()?;
    let mut pins = Pins::default();
    let mut program = Program::new("random");
    // What the second core shares with the first is known before either is built.
    let mut shared: Vec<Vec<u64>> = Vec::new();
    for _ in 0..functions {
        let count = if cores > 1 {
            u.int_in_range(0..=3)?
        } else {
            u.int_in_range(0..=1)?
        };
        shared.push((0..count).map(|_| size(u)).collect::<Result<_>>()?);
    }
    for core in 0..cores {
        let mut module = Module::new(&format!("m{core}"), core);
        for (f, &barriers) in barriers.iter().enumerate() {
            let mut function = Function::new(["main", "other"][f]);
            memlocs(u, &mut function, core, &shared[f], &mut pins)?;
            body(u, &mut function, barriers)?;
            module.add_function(function).expect("names differ");
        }
        program.add_module(module).expect("cores differ");
    }
    Ok(program)
}

fn size(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(*u.choose(&[4096, 8192, 100, 5000, 2048, 0, 12288])?)
}

/// Where the next pin goes, so that no two meet.
#[derive(Default)]
struct Pins {
    next: u64,
}

impl Pins {
    fn take(&mut self, u: &mut Unstructured<'_>, bytes: u64) -> Result<u64> {
        let start = self.next + u.int_in_range(0..=2)? * 4096;
        self.next = start + bytes;
        Ok(start)
    }
}

fn memlocs(
    u: &mut Unstructured<'_>,
    function: &mut Function,
    core: u32,
    shared: &[u64],
    pins: &mut Pins,
) -> Result<()> {
    let mut count = 0;
    for i in 0..u.int_in_range(2..=6)? {
        let name = format!("x{i}");
        let bytes = size(u)?;
        let usage = *u.choose(&[
            Usage::Internal,
            Usage::Internal,
            Usage::Internal,
            Usage::Collective,
            Usage::Input,
            Usage::Output,
            Usage::Weight,
        ])?;
        let space = if u.ratio(1, 5)? {
            Space::Debug
        } else {
            Space::Local
        };
        let candidate = matches!(usage, Usage::Internal | Usage::Collective);
        let pinned = u.ratio(if candidate { 1 } else { 3 }, 6)?;
        let memory = if u.ratio(1, 10)? {
            MemoryType::Sbuf
        } else {
            MemoryType::Dram
        };
        let dram = memory == MemoryType::Dram;
        let address = if pinned && dram {
            Some(pins.take(u, bytes)?)
        } else {
            None
        };
        let spec = MemLocSpec {
            name: if u.ratio(1, 10)? { "" } else { &name },
            extent: Some(Extent::Bytes(bytes)),
            memory,
            space,
            usage,
            align: if u.ratio(1, 8)? { Some(8192) } else { None },
            address,
            escapes: u.ratio(1, 8)?,
            ..Default::default()
        };
        function.add_memloc(&spec).expect("a valid location");
        count += 1;
    }
    for (i, &bytes) in shared.iter().enumerate() {
        // By name, or by a link from the second core to the first.
        let (own, owners) = (format!("t{i}"), format!("s{i}"));
        let link = core > 0 && i % 2 == 1;
        let spec = MemLocSpec {
            name: if link { &own } else { &owners },
            extent: Some(Extent::Bytes(bytes)),
            space: if link && i % 4 == 3 {
                Space::Local
            } else {
                Space::Shared
            },
            usage: if i == 2 {
                Usage::Collective
            } else {
                Usage::Internal
            },
            remote: link.then_some((0, owners.as_str())),
            escapes: u.ratio(1, 10)?,
            ..Default::default()
        };
        function.add_memloc(&spec).expect("a valid location");
        count += 1;
    }
    for i in 0..u.int_in_range(0..=2)? {
        let parent = MemLocId(u.int_in_range(0..=count - 1)?);
        let bytes = function.memloc(parent).bytes;
        if bytes > 0 {
            let offset = u.int_in_range(0..=bytes - 1)?;
            let name = format!("v{i}");
            let spec = MemLocSpec {
                name: &name,
                view: Some((parent, if u.arbitrary()? { offset } else { 0 })),
                ..Default::default()
            };
            function.add_memloc(&spec).expect("inside its root");
        }
    }
    Ok(())
}

fn operand(u: &mut Unstructured<'_>, function: &Function) -> Result<Operand> {
    let loc = MemLocId(u.int_in_range(0..=function.memlocs().len() as u32 - 1)?);
    let bytes = function.memloc(loc).bytes;
    if u.ratio(3, 4)? || bytes == 0 {
        return Ok(loc.into());
    }
    let offset = u.int_in_range(0..=bytes - 1)?;
    Ok(Operand {
        loc,
        offset,
        bytes: Some(u.int_in_range(1..=bytes - offset)?),
    })
}

fn body(u: &mut Unstructured<'_>, function: &mut Function, barriers: u32) -> Result<()> {
    let blocks = u.int_in_range(1..=4)?;
    for b in 0..blocks {
        function.add_block("");
        let mut left = if b == 0 { barriers } else { 0 };
        for _ in 0..u.int_in_range(0..=4)? {
            let uses: Vec<Operand> = (0..u.int_in_range(0..=2)?)
                .map(|_| operand(u, function))
                .collect::<Result<_>>()?;
            let defs: Vec<Operand> = (0..u.int_in_range(0..=2)?)
                .map(|_| operand(u, function))
                .collect::<Result<_>>()?;
            let mut pairs = Vec::new();
            for used in &uses {
                for def in &defs {
                    if u.ratio(2, 3)? {
                        pairs.push((used.loc, def.loc));
                    }
                }
            }
            let spec = InstructionSpec {
                op: "op",
                kind: if u.ratio(1, 5)? {
                    Kind::Collective
                } else {
                    Kind::Compute
                },
                engine: u.int_in_range(0..=1)?,
                uses: &uses,
                defs: &defs,
                in_place: &pairs,
                ..Default::default()
            };
            function.add_instruction(&spec).expect("operands exist");
            if left > 0 && u.arbitrary()? {
                left -= barrier(function);
            }
        }
        while left > 0 {
            left -= barrier(function);
        }
    }
    for b in 0..blocks {
        let mut succs = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            let first = u32::from(barriers > 0); // No way back to the barriers.
            if first < blocks {
                succs.push(BlockId(u.int_in_range(first..=blocks - 1)?));
            }
        }
        function
            .set_successors(BlockId(b), &succs)
            .expect("they exist");
    }
    Ok(())
}

fn barrier(function: &mut Function) -> u32 {
    let spec = InstructionSpec {
        op: "sync",
        kind: Kind::Barrier,
        ..Default::default()
    };
    function.add_instruction(&spec).expect("a barrier");
    1
}

/// A program as text that fits on a screen.
pub(super) fn text(program: &Program) -> String {
    let mut lines = Vec::new();
    for module in program.modules() {
        for f in module.functions() {
            lines.push(format!("core {} {}:", module.core(), f.name()));
            for id in f.memloc_ids() {
                let loc = f.memloc(id);
                let (root, offset) = f.root(id);
                let mut line = format!(
                    "  {} {} {} {}",
                    f.label(id),
                    loc.bytes,
                    loc.usage,
                    loc.space
                );
                if loc.memory != MemoryType::Dram {
                    line += &format!(" {}", loc.memory);
                }
                line += &loc.pin().map_or(String::new(), |pin| format!(" @{pin}"));
                line += &loc
                    .align()
                    .map_or(String::new(), |align| format!(" align {align}"));
                line += if loc.escapes() { " escapes" } else { "" };
                if root != id {
                    line += &format!(" = {}+{offset}", f.label(root));
                }
                line += &f.remote(id).map_or(String::new(), |r| format!(" -> {r:?}"));
                lines.push(line);
            }
            for b in 0..f.blocks().len() {
                let block = BlockId::new(b);
                lines.push(format!("  block {b} -> {:?}", f.successors(block)));
                for i in f.block_range(block) {
                    let index = crate::ir::FlatIndex(i);
                    let list = |accesses: crate::ir::Accesses<'_>| {
                        let one = |a: crate::ir::Access| {
                            format!("{}[{}+{}]", f.label(a.loc), a.offset, a.bytes)
                        };
                        accesses.iter().map(one).collect::<Vec<_>>().join(" ")
                    };
                    let pairs: Vec<String> = (f.in_place(index).iter())
                        .map(|p| format!("{}>{}", f.label(p.0), f.label(p.1)))
                        .collect();
                    let x = &f.instructions()[i as usize];
                    lines.push(format!(
                        "    {i} {} e{}: uses {} defs {} pairs {}",
                        x.kind,
                        x.engine,
                        list(f.uses(index)),
                        list(f.defs(index)),
                        pairs.join(" ")
                    ));
                }
            }
        }
    }
    lines.join("\n")
}
