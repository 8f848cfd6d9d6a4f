//! `dramalloc convert`: the other format, or the normal form of the same.

use std::path::Path;

use dramalloc::format::{self, CsvFile, Projection};
use dramalloc::ir::{Function, Program};
use dramalloc::liveness::liveness;

use crate::args::ConvertArgs;
use crate::failure::{Failure, say_notes};
use crate::input::{self, Input};
use crate::output;

/// Runs the subcommand.
pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let input = input::read(&args.file)?;
    let to_json = match args
        .to
        .as_deref()
        .or_else(|| ending(args.output.as_deref()?))
    {
        Some(word) => word == "json",
        None => input.is_json(),
    };
    let program = program(&input)?;
    let result = if to_json {
        let mut bytes = Vec::new();
        format::write_program(&program, &mut bytes).expect("memory takes every write");
        bytes
    } else {
        let Projection { csv, notes } = rows(&program, args, &input.name)?;
        if !args.talk.quiet {
            say_notes(&notes);
        }
        csv.into_bytes()
    };
    output::write(args.output.as_deref(), &result)
}

/// What the file says, as a program.
fn program(input: &Input) -> Result<Program, Failure> {
    let program = if input.is_json() {
        format::read_program(&input.bytes)
    } else {
        let name = Path::new(&input.name)
            .file_stem()
            .map_or("rows".into(), |s| s.to_string_lossy());
        CsvFile::read(input.bytes.as_slice()).and_then(|file| format::csv_to_program(&file, &name))
    };
    program.map_err(|e| Failure::library(&input.name, &e))
}

/// The rows of the function that was asked for, or of the only one.
fn rows(program: &Program, args: &ConvertArgs, name: &str) -> Result<Projection, Failure> {
    let lives = |function: &Function| liveness(function).lives;
    if args.function.is_none() && args.core.is_none() {
        return format::program_to_csv(program, lives).map_err(|e| {
            let hint = "; --function and --core choose one";
            Failure::file(name, format!("{e}{hint}"))
        });
    }
    let mut chosen = Vec::new();
    for module in program.modules() {
        for function in module.functions() {
            let named = args
                .function
                .as_ref()
                .is_none_or(|wanted| wanted == function.name());
            if named && args.core.is_none_or(|core| core == module.core()) {
                chosen.push(function);
            }
        }
    }
    match chosen[..] {
        [function] => Ok(format::function_to_csv(function, &lives(function))),
        [] => Err(Failure::file(name, "it has no such function")),
        _ => {
            let line = format!(
                "{} functions fit; --function and --core choose one",
                chosen.len()
            );
            Err(Failure::file(name, line))
        }
    }
}

/// The format that a name asks for, if it does: what stands before `.gz`, or at the end.
fn ending(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    ["json", "csv"]
        .into_iter()
        .find(|word| name.ends_with(&format!(".{word}")))
}
