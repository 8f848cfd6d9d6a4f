//! Copies that never run leave no trace. // X3

use std::collections::BTreeSet;

use super::cases::{function, layout, show};
use crate::depend::{Edge, Layout, dependences, flow, reuse};
use crate::ir::{
    Accesses, BlockId, Extent, FlatIndex, Function, InstructionSpec, MemLocSpec, Operand,
};
use crate::testing::for_each_seed;

/// The same function, but that these instructions touch nothing.
fn without(f: &Function, idle: &BTreeSet<FlatIndex>) -> Function {
    let mut without = Function::new(f.name());
    for loc in f.memlocs() {
        let spec = MemLocSpec {
            extent: Some(Extent::Bytes(loc.bytes)),
            view: loc.view().map(|view| (view.parent, view.offset)),
            ..Default::default()
        };
        without.add_memloc(&spec).expect("valid before");
    }
    let operands =
        |accesses: Accesses<'_>| -> Vec<Operand> { accesses.iter().map(Operand::from).collect() };
    for block in (0..f.blocks().len()).map(BlockId::new) {
        without.add_block("");
        for i in f.block_range(block).map(FlatIndex) {
            let instruction = &f.instructions()[i.0 as usize];
            let (uses, defs) = match idle.contains(&i) {
                true => (Vec::new(), Vec::new()),
                false => (operands(f.uses(i)), operands(f.defs(i))),
            };
            let spec = InstructionSpec {
                kind: instruction.kind,
                engine: instruction.engine,
                uses: &uses,
                defs: &defs,
                ..Default::default()
            };
            without.add_instruction(&spec).expect("valid before");
        }
    }
    for block in (0..f.blocks().len()).map(BlockId::new) {
        let succs = f.successors(block);
        without.set_successors(block, succs).expect("valid before");
    }
    without
}

#[test]
fn what_never_runs_is_as_good_as_not_there() {
    let mut differ = 0;
    for_each_seed(0..500, |u| {
        let blocks = u.int_in_range(1..=4)?;
        let (f, places) = function(u, blocks, 5)?;
        let mut idle = BTreeSet::new();
        for i in 0..f.instructions().len() {
            if u.ratio(1, 4)? {
                idle.insert(FlatIndex::new(i));
            }
        }
        let (whole, rest) = (layout(&f, &places), without(&f, &idle));
        let partly = whole.clone().without(idle.iter().copied());
        type Analysis = fn(&Function, &Layout) -> Vec<Edge>;
        for analysis in [dependences as Analysis, flow, reuse] {
            let text = show(&f, &places);
            let edges = analysis(&f, &partly);
            assert_eq!(edges, analysis(&rest, &whole), "without {idle:?}\n{text}");
            differ += usize::from(edges != analysis(&f, &whole));
        }
        Ok(())
    });
    assert!(
        differ > 100,
        "only {differ} analyses had anything to leave out"
    );
}
