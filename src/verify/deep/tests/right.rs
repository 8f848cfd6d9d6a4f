//! Right plans are found right.

use crate::control::Control;
use crate::ir::Program;
use crate::options::{Floor, Options};
use crate::plan::Plan;
use crate::testing::properties::options;
use crate::testing::{self, Shape};
use crate::verify::deep::verify_deep;
use crate::verify::tests::planned::show;

/// Gives a plan the edges that it needs.
pub(super) fn with_edges(program: &Program, plan: &mut Plan) {
    crate::depend::order(program, plan).expect("in range");
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
fn what_gives_up_its_bytes_keeps_its_values_until_then() {
    let options = Options {
        reuse_io: true,
        floor: Floor::Holes,
        ..Options::default()
    };
    testing::for_each_seed(0..1000, |u| {
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
