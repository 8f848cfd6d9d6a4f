//! `dramalloc deps`, and `plan --deps`: the order that re-used bytes need.

use dramalloc::depend::{self, Layout};
use dramalloc::format;
use dramalloc::ir::Program;
use dramalloc::verify::verify;
use dramalloc::{Error, Plan};

use crate::args::DepsArgs;
use crate::failure::{Failure, tell};
use crate::input::{self, is_standard};
use crate::output;

/// Runs the subcommand: a plan goes in and comes out with its dependences.
pub fn run(args: &DepsArgs) -> Result<(), Failure> {
    if is_standard(&args.program) && is_standard(&args.plan) {
        return Err(Failure::Bad(
            "only one of the two files can be stdin".to_owned(),
        ));
    }
    let (subject, planned) = (input::read(&args.program)?, input::read(&args.plan)?);
    let program =
        format::read_program(&subject.bytes).map_err(|e| Failure::library(&subject.name, &e))?;
    let mut plan =
        format::read_plan(&planned.bytes).map_err(|e| Failure::library(&planned.name, &e))?;
    // Edges of a wrong plan, or of another program's, would order the wrong bytes.
    if let Some(first) = verify(&program, &plan).first() {
        let line = format!("it is no plan of {}: {}", subject.name, first.message);
        return Err(Failure::NotPlaced(format!("{}: {line}", planned.name)));
    }
    add(&program, &mut plan).map_err(|e| Failure::library(&planned.name, &e))?;
    if !args.talk.quiet {
        say(&plan);
    }
    let mut bytes = Vec::new();
    format::write_plan(&plan, &mut bytes).expect("memory takes every write");
    output::write(args.output.as_deref(), &bytes)
}

/// Gives a plan the dependences of all its functions.
pub fn add(program: &Program, plan: &mut Plan) -> Result<(), Error> {
    let mut all = Vec::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            let layout =
                Layout::of_plan(function, planned).map_err(|e| e.on_core(module.core()))?;
            let layout = layout.in_geometry(plan.options.geometry);
            let edges = depend::dependences(function, &layout);
            all.extend(depend::named(&edges, module.core(), function));
        }
    }
    plan.dependences = Some(all);
    plan.needs_dependences = false;
    Ok(())
}

/// One sentence on what came of it.
pub fn say(plan: &Plan) {
    if let Some(dependences) = &plan.dependences {
        tell("deps", &format!("{} dependences", dependences.len()));
    }
}
