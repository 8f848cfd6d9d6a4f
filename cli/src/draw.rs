//! `dramalloc draw`: a picture of a plan, or of two beside each other.

use std::path::Path;

use dramalloc::report::draw::{Format, Options, Picture, draw};

use crate::args::DrawArgs;
use crate::failure::Failure;
use crate::input::is_standard;
use crate::output;
use crate::pair::{self, Pair};

/// Runs the subcommand.
pub fn run(args: &DrawArgs) -> Result<(), Failure> {
    let format = format(args.output.as_deref(), args.format)?;
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
    let bytes = match (&second, args.beside.last()) {
        (Some(second), Some(beside)) => {
            let [one, two] = titles([&args.plan, beside]);
            paint(format, &options, &[(&one, &first), (&two, second)])
        }
        _ => paint(format, &options, &[("", &first)]), // The program's own name.
    };
    output::write(args.output.as_deref(), &bytes)
}

/// Draws two plans beside each other into a file, in the format of its ending.
pub fn beside(plans: [(&Path, &Pair); 2], file: &Path) -> Result<(), Failure> {
    let format = format(Some(file), None)?;
    let [(a, before), (b, after)] = plans;
    let [one, two] = titles([a, b]);
    let pictures = [(one.as_str(), before), (two.as_str(), after)];
    output::write(Some(file), &paint(format, &Options::default(), &pictures))
}

/// The pictures of one pair or of two, each with its title.
fn paint(format: Format, options: &Options, pairs: &[(&str, &Pair)]) -> Vec<u8> {
    let pictures: Vec<Picture<'_>> = pairs
        .iter()
        .map(|&(title, pair)| Picture {
            title,
            program: &pair.program,
            plan: &pair.plan,
        })
        .collect();
    let mut bytes = Vec::new();
    draw(format, &pictures, options, &mut bytes).expect("memory takes every write");
    bytes
}

/// As asked for, or by the ending of the file; stdout gets a map.
fn format(file: Option<&Path>, asked: Option<Format>) -> Result<Format, Failure> {
    let file = file.filter(|path| !is_standard(path));
    let Some(path) = file.filter(|_| asked.is_none()) else {
        return Ok(asked.unwrap_or(Format::Ascii));
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

/// Two pictures are told apart by the files of their plans, with their folders where the names are
/// the same.
fn titles(plans: [&Path; 2]) -> [String; 2] {
    let names = plans.map(Path::file_name);
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
