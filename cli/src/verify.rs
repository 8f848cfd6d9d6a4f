//! `dramalloc verify`: what is wrong with a plan, one violation a line on stdout.

use dramalloc::format;
use dramalloc::verify::{Violation, verify, verify_deep, verify_raw};
use dramalloc::{Error, Floor};

use crate::args::VerifyArgs;
use crate::failure::{Failure, counted, tell};
use crate::input::Input;
use crate::output;
use crate::pair;

/// Runs the subcommand.
pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let (subject, plan) = pair::inputs(&args.program, &args.plan)?;
    let (violations, verified) = if subject.is_json() {
        if args.options.any() {
            let line = "a program's plan carries its own options; they are typed for a CSV alone";
            return Err(Failure::Bad(line.to_owned()));
        }
        program(&subject, &plan, args)?
    } else {
        if args.deep {
            let line = "--deep runs instructions, and a CSV has none";
            return Err(Failure::Bad(line.to_owned()));
        }
        raw(&subject, &plan, args)?
    };
    let mut lines = String::new();
    for violation in &violations {
        lines += &format!("{violation}\n");
    }
    if violations.is_empty() {
        lines = format!("verified: {verified}\n");
    }
    output::write(None, lines.as_bytes())?;
    if violations.is_empty() {
        return Ok(());
    }
    if !args.talk.quiet {
        tell(
            "verify",
            &format!("{}: {}", plan.name, counted(violations.len(), "violation")),
        );
    }
    Err(Failure::Violations)
}

/// The violations, and what was looked at.
type Verdict = (Vec<Violation>, String);

fn program(subject: &Input, plan: &Input, args: &VerifyArgs) -> Result<Verdict, Failure> {
    let failed = |file: &Input| {
        let name = file.name.clone();
        move |e: Error| Failure::library(&name, &e)
    };
    let program = format::read_program(&subject.bytes).map_err(failed(subject))?;
    let plan = format::read_plan(&plan.bytes).map_err(failed(plan))?;
    let functions = || program.modules().iter().flat_map(|m| m.functions());
    let mut verified = format!(
        "{} in {} on {}",
        counted(functions().map(|f| f.memlocs().len()).sum(), "location"),
        counted(functions().count(), "function"),
        counted(program.modules().len(), "core"),
    );
    let mut violations = verify(&program, &plan);
    if args.deep {
        let deep = verify_deep(&program, &plan, None);
        violations.extend(deep.violations);
        verified += &format!(", {} run", counted(deep.executed as usize, "instruction"));
        if !args.talk.quiet {
            let warnings = deep.warnings.iter().map(Violation::to_string);
            warnings
                .chain(deep.notes)
                .for_each(|line| tell("verify", &line));
        }
    }
    Ok((violations, verified))
}

fn raw(subject: &Input, plan: &Input, args: &VerifyArgs) -> Result<Verdict, Failure> {
    let options = args.options.options(Floor::Holes);
    let (problem, placed) = (pair::table(subject)?, pair::table(plan)?);
    let offsets = pair::offsets(&problem, &placed, &plan.name)?;
    let verified = counted(offsets.len(), "buffer");
    Ok((verify_raw(problem.problem(), &options, &offsets), verified))
}
