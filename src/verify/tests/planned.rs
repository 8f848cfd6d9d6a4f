//! What the allocator makes is accepted: two readings of the rules that share nothing agree.

use crate::control::Control;
use crate::ir::Program;
use crate::options::Options;
use crate::plan::Plan;
use crate::testing::properties::options;
use crate::testing::{self, Shape};
use crate::verify::{Violation, verify};

fn accepted(program: &Program, options: &Options) {
    let Ok(plan) = crate::planner::plan(program, options, &mut Control::default()) else {
        return; // Refused; that is not this test's business.
    };
    let found = verify(program, &plan);
    assert_eq!(found, [], "{}", show(program, &plan, &found));
}

pub(in crate::verify) fn show(program: &Program, plan: &Plan, found: &[Violation]) -> String {
    let list: Vec<String> = found.iter().map(Violation::to_string).collect();
    let mut rows = Vec::new();
    for module in &plan.modules {
        for function in &module.functions {
            for row in &function.memlocs {
                rows.push(format!(
                    "  {} {}/{}: {} {:?} {:?}",
                    module.core, function.name, row.name, row.space, row.address, row.segments
                ));
            }
        }
    }
    format!(
        "{}\n{:?}\n{}\n{}\n{:?}",
        list.join("\n"),
        plan.options,
        super::programs::text(program),
        rows.join("\n"),
        plan.spaces
    )
}

#[test]
fn plans_of_one_core_are_accepted() {
    testing::for_each_seed(0..1500, |u| {
        let options = options(u)?;
        accepted(&testing::program(u, &Shape::single_core())?, &options);
        Ok(())
    });
}

#[test]
fn plans_of_many_cores_are_accepted() {
    testing::for_each_seed(0..1500, |u| {
        let options = options(u)?;
        accepted(&testing::program(u, &Shape::many_cores())?, &options);
        Ok(())
    });
}
