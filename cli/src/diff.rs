//! `dramalloc diff`: what is different between two plans.

use std::path::Path;

use dramalloc::format;
use dramalloc::report::diff::{diff, difference_text};

use crate::args::DiffArgs;
use crate::draw;
use crate::failure::Failure;
use crate::input::is_standard;
use crate::output;
use crate::pair;

/// Runs the subcommand.
pub fn run(args: &DiffArgs) -> Result<(), Failure> {
    let files: Vec<&Path> = args.files.iter().map(AsRef::as_ref).collect();
    let [(p, a), (q, b)] = match files[..] {
        [program, a, b] => [(program, a), (program, b)],
        [p, a, q, b] => [(p, a), (q, b)],
        _ => unreachable!("the parser takes three files or four"),
    };
    if [p, a, q, b].iter().filter(|file| is_standard(file)).count() > 1 {
        let line = "stdin is read once: it can be one plan, or one of two programs";
        return Err(Failure::Bad(line.to_owned()));
    }
    let (before, after) = (pair::read(p, a)?, pair::read(q, b)?);
    let difference = diff(
        (&before.program, &before.plan),
        (&after.program, &after.plan),
        args.report.top,
    );
    let name = format!("{} and {}", a.display(), b.display());
    let difference = difference.map_err(|e| Failure::library(&name, &e))?;
    let bytes = if args.report.json {
        let mut bytes = Vec::new();
        format::write_difference(&difference, &mut bytes).expect("memory takes every write");
        bytes
    } else {
        difference_text(&difference, args.report.spaces).into_bytes()
    };
    if let Some(file) = &args.draw {
        draw::beside([(a, &before), (b, &after)], file)?;
    }
    output::write(args.report.output.as_deref(), &bytes)
}
