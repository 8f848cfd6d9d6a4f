//! Plans with a hint are accepted, whatever the hint is. // S2

use super::planned::{options, show};
use crate::control::Control;
use crate::error::Result as Planned;
use crate::ir::Program;
use crate::options::Options;
use crate::plan::Plan;
use crate::planner::plan;
use crate::testing::{self, Result, Shape, Unstructured};
use crate::verify::verify;

fn hinted(program: &Program, options: &Options, hint: &Plan) -> Planned<Plan> {
    let mut control = Control {
        hint: Some(hint),
        ..Control::default()
    };
    plan(program, options, &mut control)
}

/// What a plan of an earlier state of the program would look like, and worse: locations that were
/// not there, or had other sizes; addresses that nobody would have given.
fn mutated(u: &mut Unstructured<'_>, plan: &Plan) -> Result<Plan> {
    let mut hint = plan.clone();
    for function in hint.modules.iter_mut().flat_map(|m| &mut m.functions) {
        let mut memlocs = Vec::new();
        for mut loc in std::mem::take(&mut function.memlocs) {
            match u.int_in_range(0..=15)? {
                0 => continue,
                1 => loc.aligned += 4096,
                2 => loc.address = loc.address.map(|at| at + 4096),
                3 => loc.address = loc.address.map(|at| at ^ 8),
                4 => loc.address = Some(u.arbitrary()?),
                5 => loc.address = Some(0),
                6 => loc.name = "another".to_owned(),
                _ => (),
            }
            memlocs.push(loc);
        }
        function.memlocs = memlocs;
    }
    Ok(hint)
}

fn every_hint_is_harmless(u: &mut Unstructured<'_>, shape: &Shape) -> Result<(u64, u64)> {
    let mut options = options(u)?;
    let program = testing::program(u, shape)?;
    let Ok(cold) = plan(&program, &options, &mut Control::default()) else {
        return Ok((0, 0)); // Refused; that is not this test's business.
    };
    // Its own plan, if staying is worth everything, comes again byte by byte.
    options.keep = u64::MAX;
    let again = hinted(&program, &options, &cold).expect("it has room");
    let kept = again.kept().expect("there was a hint");
    assert_eq!(
        (kept.moved, kept.moved_bytes),
        (0, 0),
        "{}",
        show(&program, &again, &[])
    );
    assert_eq!(
        again.modules,
        cold.modules,
        "{}",
        show(&program, &again, &[])
    );

    options.keep = *u.choose(&[0, 0, 1 << 10, 1 << 20])?;
    let hint = mutated(u, &cold)?;
    let warm = match hinted(&program, &options, &hint) {
        Ok(warm) => warm,
        Err(e) => panic!("{e}: {}", show(&program, &cold, &[])),
    };
    let found = verify(&program, &warm);
    assert_eq!(found, [], "{}", show(&program, &warm, &found));
    assert_eq!(hinted(&program, &options, &hint), Ok(warm.clone()));
    let one_function = program.modules().iter().all(|m| m.functions().len() == 1);
    if options.keep == 0 && one_function {
        for (with, without) in warm.spaces.iter().zip(&cold.spaces) {
            let slack = (without.peak - without.floor) / 128; // Good enough; see `place::warm`.
            let most = without.peak + slack;
            assert!(with.peak <= most, "{}", show(&program, &cold, &[]));
        }
    }
    let kept = warm.kept().expect("there was a hint");
    Ok((kept.kept, kept.moved))
}

#[test]
fn plans_with_a_hint_are_accepted_and_keep_what_they_can() {
    let (mut kept, mut moved) = (0, 0);
    for shape in [Shape::single_core(), Shape::many_cores()] {
        testing::for_each_seed(0..200, |u| {
            let (k, m) = every_hint_is_harmless(u, &shape)?;
            (kept, moved) = (kept + k, moved + m);
            Ok(())
        });
    }
    assert!(kept > 2 * moved && moved > 0, "{kept} kept, {moved} moved");
}

#[test]
fn the_plan_of_another_program_is_harmless() {
    testing::for_each_seed(0..100, |u| {
        let options = options(u)?;
        let other = testing::program(u, &Shape::many_cores())?;
        let program = testing::program(u, &Shape::many_cores())?;
        let Ok(hint) = plan(&other, &options, &mut Control::default()) else {
            return Ok(());
        };
        let cold = plan(&program, &options, &mut Control::default());
        let warm = hinted(&program, &options, &hint);
        assert_eq!(warm.is_ok(), cold.is_ok());
        if let Ok(warm) = warm {
            let found = verify(&program, &warm);
            assert_eq!(found, [], "{}", show(&program, &warm, &found));
        }
        Ok(())
    });
}
