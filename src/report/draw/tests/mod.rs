//! Pictures against the plans that they show.

mod formats;
mod scenes;

use super::*;
use crate::ir::{Extent, Function, InstructionSpec, MemLocId, MemLocSpec, Module, Operand};
use crate::{Control, plan};

/// A program of one function whose instruction `i` reads and writes what row `i` says.
fn program(name: &str, locs: &[(&str, u64)], code: &[(&[u32], &[u32])]) -> Program {
    let mut function = Function::new("main");
    for &(name, bytes) in locs {
        let spec = MemLocSpec {
            name,
            extent: Some(Extent::Bytes(bytes)),
            ..Default::default()
        };
        function.add_memloc(&spec).unwrap();
    }
    for (uses, defs) in code {
        let operands =
            |ids: &[u32]| -> Vec<Operand> { ids.iter().map(|&id| MemLocId(id).into()).collect() };
        let spec = InstructionSpec {
            op: "op",
            uses: &operands(uses),
            defs: &operands(defs),
            ..Default::default()
        };
        function.add_instruction(&spec).unwrap();
    }
    let mut module = Module::new("m", 0);
    module.add_function(function).unwrap();
    let mut program = Program::new(name);
    program.add_module(module).unwrap();
    program
}

fn planned(program: &Program) -> Plan {
    plan(program, &crate::Options::default(), &mut Control::default()).unwrap()
}

fn picture<'a>(program: &'a Program, plan: &'a Plan) -> Picture<'a> {
    Picture {
        title: "",
        program,
        plan,
    }
}

/// Three locations in a row: the first and the last share bytes.
fn chain() -> Program {
    let locs = [("first", 8192), ("second", 4096), ("third", 8192)];
    program(
        "chain",
        &locs,
        &[(&[], &[0]), (&[0], &[1]), (&[1], &[2]), (&[2], &[])],
    )
}

fn text(format: Format, pictures: &[Picture<'_>], options: &Options) -> String {
    let mut out = Vec::new();
    draw(format, pictures, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
