//! What has to hold of any input: the same properties for tests and for fuzz targets. // V4
//!
//! Each draws its input from an [`Unstructured`] and panics if the property does not hold; an
//! `Err` only says that the bytes ran out.

use super::{Result, Shape, Unstructured, chance, program};
use crate::control::Control;
use crate::depend;
use crate::format::{self, CsvFile};
use crate::ir::UsageMask;
use crate::options::{Floor, Geometry, Options, Strategy};
use crate::plan::Plan;
use crate::raw::{RawProblem, solve_raw};
use crate::verify::{verify, verify_deep, verify_raw_plan};

/// Options that any program may be planned with.
pub fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    Ok(Options {
        strategy: *u.choose(&[Strategy::Fast, Strategy::Reference])?,
        packed: chance(u, 4)?,
        floor: *u.choose(&[Floor::Hwm, Floor::Holes])?,
        reuse_io: chance(u, 4)?,
        cc_limit: *u.choose(&[500, 0, -1, -1])?,
        trim_cc: chance(u, 4)?,
        align: if chance(u, 4)? { Some(8192) } else { None },
        capacity: if chance(u, 4)? { Some(1 << 32) } else { None },
        separate_functions: chance(u, 4)?,
        shared_mib_per_core: *u.choose(&[0, 0, 0, 1, 2])?,
        geometry: *u.choose(&[Geometry::Split, Geometry::Unified])?,
        usage_mask: match chance(u, 4)? {
            true => UsageMask::ALL,
            false => UsageMask::CANDIDATES,
        },
        ..Options::default()
    })
}

/// The plan of a program of one core or several, with the order that it needs, is right by
/// geometry, by value and by order. // V1, V2, V3
pub fn plans_are_right(u: &mut Unstructured<'_>) -> Result<()> {
    let options = options(u)?;
    let shape = match u.arbitrary()? {
        true => Shape::single_core(),
        false => Shape::many_cores(),
    };
    let program = program(u, &shape)?;
    let Ok(mut plan) = crate::planner::plan(&program, &options, &mut Control::default()) else {
        return Ok(()); // Refused, or too large.
    };
    assert_eq!(verify(&program, &plan), [], "{options:?} {program:?}");
    if u.arbitrary()? {
        depend::order(&program, &mut plan).expect("what is verified is in range");
    }
    let deep = verify_deep(&program, &plan, None);
    assert_eq!(deep.violations, [], "{options:?} {program:?} {plan:?}");
    Ok(())
}

/// A raw problem, as CSV or as rows, is refused or its plan is right.
pub fn raw_plans_are_right(u: &mut Unstructured<'_>) -> Result<()> {
    let mut problem = RawProblem {
        starts: vec![0],
        ..RawProblem::default()
    };
    let mut next_pin = 0;
    for _ in 0..u.int_in_range(0..=20)? {
        let mut time = u.int_in_range(-8..=8)?;
        for _ in 0..u.int_in_range(1..=2)? {
            let upper = time + u.int_in_range(0..=6)?;
            problem.segments.push((time, upper));
            time = upper + u.int_in_range(1..=3)?;
        }
        problem.starts.push(problem.segments.len() as u32);
        let size = if chance(u, 8)? {
            u.arbitrary()?
        } else {
            u.int_in_range(0..=40)?
        };
        problem.sizes.push(size);
        problem.alignments.push(u.int_in_range(1..=4)?);
        let pin = chance(u, 8)?.then_some(next_pin);
        if pin.is_some() {
            next_pin = size
                .saturating_add(next_pin)
                .saturating_add(u.int_in_range(0..=9)?);
        }
        problem.pins.push(pin);
    }
    let options = Options {
        strategy: *u.choose(&[Strategy::Fast, Strategy::Reference])?,
        floor: Floor::Holes,
        capacity: if chance(u, 4)? {
            Some(u.int_in_range(0..=400)?)
        } else {
            None
        },
        ..Options::default()
    };
    let Ok(plan) = solve_raw(&problem, &options, &mut Control::default()) else {
        return Ok(());
    };
    assert_eq!(
        verify_raw_plan(&problem, &options, &plan),
        [],
        "{options:?} {problem:?}"
    );
    Ok(())
}

/// What changes a file more often than chance would.
const TEXTS: &[&[u8]] = &[
    b"",
    b"0",
    b"-1",
    b"18446744073709551615",
    b"null",
    b"\"",
    b"{",
    b"]",
    b",",
    b"1e3",
    b"\xff",
    b"\n",
    b"a",
];

/// No file makes a parser panic, and what is read can be used.
pub fn files_are_read_or_refused(u: &mut Unstructured<'_>) -> Result<()> {
    let program = program(u, &Shape::many_cores())?;
    let plan = crate::planner::plan(&program, &Options::default(), &mut Control::default());
    let mut file = Vec::new();
    let kind = u.int_in_range(0..=3)?;
    match (kind, &plan) {
        (0, _) => format::write_program(&program, &mut file).expect("memory takes every write"),
        (1, Ok(plan)) => format::write_plan(plan, &mut file).expect("memory takes every write"),
        (2, _) => file.extend_from_slice(b"id,lower,upper,size,alignment,offset\na,0,4,8,2,\n"),
        _ => {}
    }
    for _ in 0..u.int_in_range(0..=6)? {
        let at = u.int_in_range(0..=file.len())?;
        let end = (at + u.int_in_range(0..=8)?).min(file.len());
        let text = *u.choose(TEXTS)?;
        file.splice(at..end, text.iter().copied());
    }
    if kind == 3 {
        file.extend_from_slice(u.peek_bytes(u.len()).unwrap_or_default());
    }
    parsers_do_not_panic(&file, plan.as_ref().ok());
    Ok(())
}

/// No bytes make a parser panic; what they read is planned and verified, whatever it says.
pub fn parsers_do_not_panic(file: &[u8], plan: Option<&Plan>) {
    if let Ok(program) = format::read_program(file) {
        if let Some(plan) = plan {
            verify(&program, plan);
            verify_deep(&program, plan, None);
        }
        if let Ok(plan) =
            crate::planner::plan(&program, &Options::default(), &mut Control::default())
        {
            assert_eq!(verify(&program, &plan), [], "{program:?}");
            assert_eq!(
                verify_deep(&program, &plan, None).violations,
                [],
                "{program:?}"
            );
        }
    }
    let _refused = format::read_plan(file);
    if let Ok(csv) = CsvFile::read(file) {
        let options = Options {
            floor: Floor::Holes,
            ..Options::default()
        };
        if let Ok(plan) = solve_raw(csv.problem(), &options, &mut Control::default()) {
            assert_eq!(verify_raw_plan(csv.problem(), &options, &plan), []);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::for_each_seed;

    #[test]
    fn plans_of_random_programs_are_right() {
        for_each_seed(10_000..10_600, plans_are_right);
    }

    #[test]
    fn plans_of_random_raw_problems_are_right() {
        for_each_seed(0..2000, raw_plans_are_right);
    }

    #[test]
    fn random_files_are_read_or_refused() {
        for_each_seed(0..1000, files_are_read_or_refused);
    }
}
