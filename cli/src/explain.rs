//! `dramalloc explain`: why a plan needs the bytes that it needs.

use dramalloc::format;
use dramalloc::report::explain::{explain, explanation_text};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::output;
use crate::pair::{self, Pair};

/// Runs the subcommand.
pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let Pair { program, plan } = pair::read(&args.program, &args.plan)?;
    let name = args.plan.display().to_string();
    let explanation = explain(&program, &plan, args.report.top);
    let explanation = explanation.map_err(|e| Failure::library(&name, &e))?;
    let bytes = if args.report.json {
        let mut bytes = Vec::new();
        format::write_explanation(&explanation, &mut bytes).expect("memory takes every write");
        bytes
    } else {
        explanation_text(&explanation, args.report.spaces).into_bytes()
    };
    output::write(args.report.output.as_deref(), &bytes)
}
