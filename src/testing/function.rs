//! One function of one core: control flow, locations, instructions.

use super::code::{Callee, Code};
use super::flow::{Barriers, Flow};
use super::memlocs::{Formal, Locs, Pins};
use super::program::Group;
use super::{Result, Shape, Unstructured, chance};
use crate::ir::{BlockId, Function};

/// What all cores have in common in a function of one name.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionPlan {
    pub name: String,
    /// Some other function calls it.
    pub called: bool,
    /// The functions it calls, by position.
    pub callees: Vec<usize>,
    pub barriers: Barriers,
    pub groups: Vec<Group>,
}

/// Builds the function on one core; returns it with its formals.
pub(super) fn build(
    u: &mut Unstructured<'_>,
    shape: &Shape,
    plan: &FunctionPlan,
    core: u32,
    callees: &[(&str, &[Formal])],
    pins: &mut Pins,
) -> Result<(Function, Vec<Formal>)> {
    let flow = Flow::new(u, shape, &plan.barriers)?;
    let mut locs = Locs::default();
    locs.add_roots(u, shape, pins, plan.called)?;
    let formals = if plan.called {
        locs.add_formals(u, shape)?
    } else {
        Vec::new()
    };
    for group in &plan.groups {
        group.add_member(&mut locs, core);
    }
    let callees: Vec<Callee<'_>> = callees
        .iter()
        .map(|&(name, formals)| {
            // A location to bind to each formal, should no other have its size.
            for formal in formals {
                let at = locs.add(format!("{name}_{}", formal.name), formal.bytes);
                locs.all[at].reserved = true;
            }
            Callee { name, formals }
        })
        .collect();
    locs.add_views(u, shape)?;

    let mut function = Function::new(&plan.name);
    locs.declare(&mut function);
    let mut calls = vec![Vec::new(); flow.blocks.len()];
    for callee in &callees {
        for _ in 0..if chance(u, 4)? { 2 } else { 1 } {
            calls[u.choose_index(flow.blocks.len())?].push(callee);
        }
    }
    let limit = (2 * shape.instructions / flow.blocks.len() as u32).max(1);
    let mut code = Code::new(shape, &locs);
    for (i, block) in flow.blocks.iter().enumerate() {
        function.add_block(&format!("b{i}"));
        code.fill_block(u, &mut function, limit, &block.barriers, &calls[i])?;
    }
    for (i, block) in flow.blocks.iter().enumerate() {
        let succs: Vec<BlockId> = block.succs.iter().map(|&s| BlockId::new(s)).collect();
        function
            .set_successors(BlockId::new(i), &succs)
            .expect("the generator makes edges between its blocks");
    }
    Ok((function, formals))
}
