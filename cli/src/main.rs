//! The `dramalloc` command: plans, verifies and converts program files.
//!
//! A thin shell around the library: it reads bytes, hands the library a clock, and writes what
//! comes back. What is a rule of allocation is in the library, not here.
//!
//! ```text
//! args      what was typed, and the library's options
//! input     a path, stdin, gzip: bytes
//! pair      a program with its plan
//! plan, verify, deps, convert, explain, diff, draw: one file per subcommand
//! output    bytes to stdout, or to a file that is there whole or not at all
//! progress  a bar, if someone is watching
//! memory    what is freed is kept
//! failure   what went wrong: a line on stderr, an exit status
//! ```

mod args;
mod convert;
mod deps;
mod diff;
mod dot;
mod draw;
mod explain;
mod failure;
mod input;
mod memory;
mod output;
mod pair;
mod plan;
mod progress;
mod verify;

use std::panic::catch_unwind;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    memory::keep_what_is_freed();
    let args = Args::parse(); // Leaves with status 2 and a usage message, or 0 after --help.
    // A mistake of ours must not look like "no placement": the hook prints it, the status is 2.
    let outcome = catch_unwind(|| match &args.command {
        Command::Plan(args) => plan::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Deps(args) => deps::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Draw(args) => draw::run(args),
    })
    .unwrap_or_else(|_| {
        let sentence = "this is a mistake in dramalloc, please report it with the input file";
        Err(Failure::Bad(sentence.to_owned()))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(line) = failure.line() {
                failure::tell("error", line);
            }
            failure.exit_code()
        }
    }
}
