//! `dramalloc draw`: a picture of a plan, or of two beside each other.

use dramalloc::report::draw::{Format, Options, Picture, draw};

use crate::args::DrawArgs;
use crate::failure::Failure;
use crate::input::is_standard;
use crate::output;
use crate::pair;

/// Runs the subcommand.
pub fn run(args: &DrawArgs) -> Result<(), Failure> {
    let format = format(args)?;
    check_stdin(args)?;
    let options = Options {
        width: args.width.unwrap_or(0),
        height: args.height.unwrap_or(0),
        core: args.core,
        space: args.space,
    };
    let bad = |e: dramalloc::Error| Failure::Bad(e.to_string());
    options.validate().map_err(bad)?;
    let first = pair::read(&args.program, &args.plan)?;
    let second = match args.beside.as_slice() {
        [] => None,
        [plan] => Some(pair::read(&args.program, plan)?),
        [program, plan, ..] => Some(pair::read(program, plan)?),
    };
    let titles = titles(args);
    let pairs = [Some(&first), second.as_ref()];
    let pictures: Vec<Picture<'_>> = pairs
        .iter()
        .flatten()
        .zip(&titles)
        .map(|(pair, title)| Picture {
            title,
            program: &pair.program,
            plan: &pair.plan,
        })
        .collect();
    let mut bytes = Vec::new();
    draw(format, &pictures, &options, &mut bytes).expect("memory takes every write");
    output::write(args.output.as_deref(), &bytes)
}

/// As asked for, or by the ending of the file; stdout gets a map.
fn format(args: &DrawArgs) -> Result<Format, Failure> {
    let file = args.output.as_deref().filter(|path| !is_standard(path));
    let Some(path) = file.filter(|_| args.format.is_none()) else {
        return Ok(args.format.unwrap_or(Format::Ascii));
    };
    let stem = match output::is_gzip(path) {
        true => path.with_extension(""),
        false => path.to_owned(),
    };
    let ending = stem.extension().map(|e| e.to_ascii_lowercase());
    match ending.as_deref().and_then(|e| e.to_str()) {
        Some("html" | "htm") => Ok(Format::Html),
        Some("svg") => Ok(Format::Svg),
        Some("txt") => Ok(Format::Ascii),
        _ => {
            let line = "its ending is none of .html, .svg and .txt; --format says what to draw";
            Err(Failure::file(&path.display().to_string(), line))
        }
    }
}

/// The program's name stands above one picture; two are told apart by the files of their plans, with
/// their folders where the names are the same.
fn titles(args: &DrawArgs) -> [String; 2] {
    let [.., beside] = args.beside.as_slice() else {
        return Default::default();
    };
    let plans = [&args.plan, beside];
    let names = plans.map(|path| path.file_name());
    match names[0] == names[1] {
        true => plans.map(|path| path.display().to_string()),
        false => names.map(|name| name.unwrap_or_default().to_string_lossy().into_owned()),
    }
}

/// Stdin can be read once.
fn check_stdin(args: &DrawArgs) -> Result<(), Failure> {
    let again = args.beside.len() == 1; // The program is read once more.
    let mut paths = vec![&args.program, &args.plan];
    paths.extend(&args.beside);
    paths.extend(Some(&args.program).filter(|_| again));
    if paths.iter().filter(|path| is_standard(path)).count() > 1 {
        let line = "only one of the files can be stdin, and it is read once";
        return Err(Failure::Bad(line.to_owned()));
    }
    Ok(())
}
