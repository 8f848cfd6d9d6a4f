//! From buffers to what dramalloc takes: a problem, or a function of a program.

use dramalloc::ir::{
    BlockId, Extent, FlatIndex, Function, InstructionSpec, Lives, MemLocId, MemLocSpec, Operand,
    Segment,
};
use dramalloc::{Item, PAGE, Problem};

use crate::workloads::Buffer;

/// Instructions of one block of a generated function.
const BLOCK: usize = 200;

/// The buffers as one address space without pins.
pub fn problem(buffers: &[Buffer]) -> Problem {
    let mut lives = Lives::with_capacity(buffers.len(), buffers.len());
    for b in buffers {
        lives.push(Segment::new(FlatIndex(b.lower), FlatIndex(b.upper - 1)));
    }
    let item = |b: &Buffer| Item {
        size: b.size,
        align: 1, // Sizes of the workloads are whole pages, those of files are what they are.
    };
    Problem {
        items: buffers.iter().map(item).collect(),
        lives,
        ceiling: u64::MAX,
        granule: PAGE,
        ..Problem::default()
    }
}

/// A function with an instruction per time: a buffer is defined at its first and used at its last.
///
/// Blocks follow each other; every eighth one is the body of a loop, and every eighth may be
/// jumped over, so that lives run round back edges and along branches.
pub fn function(buffers: &[Buffer]) -> Function {
    let mut function = Function::new("main");
    let spec = |b: &Buffer| MemLocSpec {
        extent: Some(Extent::Bytes(b.size)),
        ..MemLocSpec::default()
    };
    let specs: Vec<_> = buffers.iter().map(spec).collect();
    function
        .add_memlocs(&specs)
        .expect("sizes are small and names are empty");

    let times = buffers.iter().map(|b| b.upper).max().unwrap_or(0) as usize;
    let (mut defs, mut uses) = (vec![Vec::new(); times], vec![Vec::new(); times]);
    for (i, b) in buffers.iter().enumerate() {
        let operand = Operand::from(MemLocId::new(i));
        defs[b.lower as usize].push(operand);
        if b.upper - 1 > b.lower {
            uses[b.upper as usize - 1].push(operand);
        }
    }
    let blocks = times.div_ceil(BLOCK);
    for block in 0..blocks {
        function.add_block("");
        for time in block * BLOCK..times.min((block + 1) * BLOCK) {
            let spec = InstructionSpec {
                op: "op",
                engine: time as u32 % 4,
                uses: &uses[time],
                defs: &defs[time],
                ..InstructionSpec::default()
            };
            function.add_instruction(&spec).expect("its operands exist");
        }
    }
    for block in 0..blocks {
        let mut succs = vec![block + 1];
        match block % 8 {
            3 => succs.push(block),
            6 => succs.push(block + 2),
            _ => {}
        }
        let succs: Vec<BlockId> = succs
            .into_iter()
            .filter(|&s| s < blocks)
            .map(BlockId::new)
            .collect();
        function
            .set_successors(BlockId::new(block), &succs)
            .expect("these blocks exist");
    }
    function
}
