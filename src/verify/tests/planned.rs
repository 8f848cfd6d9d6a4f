//! What the allocator makes is accepted: two readings of the rules that share nothing agree.

use crate::control::Control;
use crate::ir::{Program, UsageMask};
use crate::options::{Floor, Options, Strategy};
use crate::plan::Plan;
use crate::testing::{self, Result, Shape, Unstructured};
use crate::verify::{Violation, verify};

pub(in crate::verify) fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let chance = |u: &mut Unstructured<'_>| u.ratio(1, 4);
    Ok(Options {
        strategy: *u.choose(&[Strategy::Fast, Strategy::Reference])?,
        packed: chance(u)?,
        floor: if u.arbitrary()? {
            Floor::Hwm
        } else {
            Floor::Holes
        },
        reuse_io: chance(u)?,
        cc_limit: *u.choose(&[500, 0, -1, -1])?,
        trim_cc: chance(u)?,
        align: if chance(u)? { Some(8192) } else { None },
        capacity: if chance(u)? { Some(1 << 32) } else { None },
        shared_mib_per_core: if chance(u)? { 64 } else { 0 },
        separate_functions: chance(u)?,
        usage_mask: if chance(u)? {
            UsageMask::ALL
        } else {
            UsageMask::CANDIDATES
        },
        ..Options::default()
    })
}

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
