//! Right plans are found right.

use crate::control::Control;
use crate::ir::Program;
use crate::options::Options;
use crate::plan::Plan;
use crate::testing::{self, Shape};
use crate::verify::deep::verify_deep;
use crate::verify::tests::planned::{options, show};

/// Gives a plan the edges that it needs.
pub(super) fn with_edges(program: &Program, plan: &mut Plan) {
    let mut all = Vec::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            let layout = crate::depend::Layout::of_plan(function, planned).expect("in range");
            let edges = crate::depend::dependences(function, &layout);
            all.extend(crate::depend::named(&edges, module.core(), function));
        }
    }
    plan.dependences = Some(all);
}

/// The plan of our planner, if it makes one.
pub(super) fn planned(program: &Program, options: &Options) -> Option<Plan> {
    crate::planner::plan(program, options, &mut Control::default()).ok()
}

fn accepted(program: &Program, options: &Options) {
    let Some(mut plan) = planned(program, options) else {
        return;
    };
    for parallel in [false, true] {
        if parallel {
            with_edges(program, &mut plan);
        }
        let deep = verify_deep(program, &plan, None);
        assert_eq!(
            deep.violations,
            [],
            "parallel: {parallel}\n{}",
            show(program, &plan, &deep.violations)
        );
    }
}

#[test]
fn plans_of_one_core_run_right() {
    testing::for_each_seed(0..500, |u| {
        let options = options(u)?;
        accepted(&testing::program(u, &Shape::single_core())?, &options);
        Ok(())
    });
}

#[test]
fn plans_of_many_cores_run_right() {
    testing::for_each_seed(0..500, |u| {
        let options = options(u)?;
        accepted(&testing::program(u, &Shape::many_cores())?, &options);
        Ok(())
    });
}
