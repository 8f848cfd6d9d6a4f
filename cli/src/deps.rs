//! `dramalloc deps`, and `plan --deps`: the order that re-used bytes need.

use dramalloc::Plan;
use dramalloc::depend;
use dramalloc::format;
use dramalloc::verify::verify;

use crate::args::DepsArgs;
use crate::dot::{MOST_EDGES, dot};
use crate::failure::{Failure, tell};
use crate::output;
use crate::pair;

/// Runs the subcommand: a plan goes in and comes out with its dependences.
pub fn run(args: &DepsArgs) -> Result<(), Failure> {
    let (subject, planned) = pair::inputs(&args.program, &args.plan)?;
    let program =
        format::read_program(&subject.bytes).map_err(|e| Failure::library(&subject.name, &e))?;
    let mut plan =
        format::read_plan(&planned.bytes).map_err(|e| Failure::library(&planned.name, &e))?;
    // Edges of a wrong plan, or of another program's, would order the wrong bytes.
    if let Some(first) = verify(&program, &plan).first() {
        let line = format!("it is no plan of {}: {}", subject.name, first.message);
        return Err(Failure::NotPlaced(format!("{}: {line}", planned.name)));
    }
    depend::order(&program, &mut plan).map_err(|e| Failure::library(&planned.name, &e))?;
    if !args.talk.quiet {
        say(&plan);
    }
    if args.dot {
        let edges = plan.dependences.as_ref().map_or(0, Vec::len);
        if edges > MOST_EDGES {
            let limit = format!("a graph of {edges} dependences is no picture; up to {MOST_EDGES}");
            return Err(Failure::Bad(format!("{}: {limit} are", planned.name)));
        }
        return output::write(args.output.as_deref(), dot(&program, &plan).as_bytes());
    }
    let mut bytes = Vec::new();
    format::write_plan(&plan, &mut bytes).expect("memory takes every write");
    output::write(args.output.as_deref(), &bytes)
}

/// One sentence on what came of it.
pub fn say(plan: &Plan) {
    if let Some(dependences) = &plan.dependences {
        tell("deps", &format!("{} dependences", dependences.len()));
    }
}
