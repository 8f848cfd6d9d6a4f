//! `dramalloc convert`: another format, or the normal form of the same.
//!
//! ```text
//! reads    a program (JSON), rows (CSV), XLA's buffer assignment (text): by content
//! writes   a program, rows; with a plan, what viewers open
//! ```

use std::path::{Path, PathBuf};

use dramalloc::format::{self, CsvFile, Projection, XlaImport};
use dramalloc::ir::{Function, MemLoc, MemLocId, Program};
use dramalloc::liveness::liveness;
use dramalloc::{Control, Options, PAGE, plan_with_addresses};

use crate::args::ConvertArgs;
use crate::failure::{Failure, say_notes};
use crate::input::{self, Input};
use crate::output;
use crate::pair::{self, Pair};

/// Runs the subcommand.
pub fn run(args: &ConvertArgs) -> Result<(), Failure> {
    let typed = args.to.as_deref();
    let word = typed.or_else(|| ending(args.output.as_deref()?));
    if let Some(viewer) = word.filter(|word| VIEWERS.contains(word)) {
        return view(viewer, args);
    }
    if args.plan.is_some() {
        let line = format!("--plan goes with --to {}", VIEWERS.join(" or --to "));
        return Err(Failure::Bad(line));
    }
    let input = input::read(&args.file)?;
    if format::is_xla_dump(&input.bytes) {
        return xla(&input, word != Some("csv"), args);
    }
    if args.plan_out.is_some() {
        let line = "it has no plan of its own for --plan-out; XLA's buffer assignment has";
        return Err(Failure::file(&input.name, line));
    }
    let program = program(&input)?;
    let result = if word.map_or(input.is_json(), |word| word == "json") {
        document(&program)
    } else {
        let Projection { csv, notes } = rows(&program, args, &input.name)?;
        say(&notes, args);
        csv.into_bytes()
    };
    output::write(args.output.as_deref(), &result)
}

/// Formats that show a plan.
const VIEWERS: [&str; 2] = ["chrome-trace", "memory-snapshot"];

/// A program and its plan for a viewer.
fn view(viewer: &str, args: &ConvertArgs) -> Result<(), Failure> {
    let Some(plan) = &args.plan else {
        let line = format!("--to {viewer} shows a plan; --plan says which");
        return Err(Failure::Bad(line));
    };
    let Pair { program, plan } = pair::read(&args.file, plan)?;
    let show = match viewer {
        "chrome-trace" => format::chrome_trace,
        _ => format::memory_snapshot,
    };
    let bytes = show(&program, &plan);
    let bytes = bytes.map_err(|e| Failure::library(&args.file.display().to_string(), &e))?;
    output::write(args.output.as_deref(), &bytes)
}

/// A program as JSON.
fn document(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    format::write_program(program, &mut bytes).expect("memory takes every write");
    bytes
}

fn say(notes: &[String], args: &ConvertArgs) {
    if !args.talk.quiet {
        say_notes(notes);
    }
}

/// What the file says, as a program.
fn program(input: &Input) -> Result<Program, Failure> {
    let program = if input.is_json() {
        format::read_program(&input.bytes)
    } else {
        CsvFile::read(input.bytes.as_slice())
            .and_then(|file| format::csv_to_program(&file, &stem(&input.name)))
    };
    program.map_err(|e| Failure::library(&input.name, &e))
}

/// A file's name without folders and endings.
fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem();
    stem.map_or("rows".into(), |s| s.to_string_lossy().into_owned())
}

/// XLA's ending of the file that says what lies where, and of those that XLA writes beside it.
const ASSIGNMENT: &str = "-buffer-assignment.txt";
const BESIDE: [&str; 2] = ["-live-range.txt", "-buffer-assignment-values.txt"];

/// The files that XLA has written beside a buffer assignment without live ranges. The last of them
/// may be missing; the first is missed when the texts are read.
fn beside(input: &Input, path: &Path) -> Result<Vec<Input>, Failure> {
    if format::has_xla_live_ranges(&input.bytes) {
        return Ok(Vec::new());
    }
    let Some(name) = path.to_str().filter(|_| !input::is_standard(path)) else {
        return Ok(Vec::new());
    };
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let Some(stem) = plain.strip_suffix(ASSIGNMENT) else {
        return Ok(Vec::new());
    };
    let files = BESIDE.iter().filter_map(|ending| {
        let files = ["", ".gz"].map(|gz| PathBuf::from(format!("{stem}{ending}{gz}")));
        files.into_iter().find(|file| file.exists())
    });
    files.map(|file| input::read(&file)).collect()
}

/// XLA's buffer assignment: the program, and XLA's own plan if it is asked for. Nothing is written
/// before both are there.
fn xla(input: &Input, to_json: bool, args: &ConvertArgs) -> Result<(), Failure> {
    let plan_out = args.plan_out.as_deref();
    if plan_out.is_some_and(|path| input::is_standard(path) || args.output.as_deref() == Some(path))
    {
        let line = "--plan-out is a file of its own, beside the program's";
        return Err(Failure::Bad(line.to_owned()));
    }
    let failed = |e: dramalloc::Error| Failure::library(&input.name, &e);
    let name = input.name.strip_suffix(".gz").unwrap_or(&input.name);
    let name = stem(name.strip_suffix(ASSIGNMENT).unwrap_or(name));
    let beside = beside(input, &args.file)?;
    let mut texts = vec![("", input.bytes.as_slice())];
    texts.extend(
        beside
            .iter()
            .map(|file| (file.name.as_str(), file.bytes.as_slice())),
    );
    let import = format::read_xla(&texts, &name).map_err(failed)?;
    let mut notes = import.notes.clone();
    let (subject, plan) = if to_json {
        notes.extend(straddling(&import));
        let plan = plan_out.map(|path| Ok((path, xla_plan(&import)?)));
        (document(&import.program), plan)
    } else {
        let rows = rows(&import.program, args, &input.name)?;
        notes.extend(rows.notes);
        let plan = plan_out.map(|path| Ok((path, offsets(&import, rows.csv.as_bytes())?)));
        (rows.csv.into_bytes(), plan)
    };
    let plan = plan.transpose().map_err(failed)?;
    notes.push(format!(
        "XLA's heap has {} bytes, aligned to {}",
        import.heap, import.align
    ));
    say(&notes, args);
    if let Some((path, plan)) = plan {
        output::write(Some(path), &plan)?;
    }
    output::write(args.output.as_deref(), &subject)
}

/// XLA's addresses with our lives and figures: exact bytes, as XLA places them.
fn xla_plan(import: &XlaImport) -> dramalloc::Result<Vec<u8>> {
    let options = Options {
        packed: true,
        align: Some(import.align),
        ..Options::default()
    };
    let address = |_: usize, id: MemLocId| import.addresses[id.index()];
    let control = &mut Control::default();
    let plan = plan_with_addresses(&import.program, &options, &address, control)?;
    let mut bytes = Vec::new();
    format::write_plan(&plan, &mut bytes).expect("memory takes every write");
    Ok(bytes)
}

/// What the verifier will say of XLA's plan of a program: small locations lie across page ends, which
/// rows do not rule out.
fn straddling(import: &XlaImport) -> Option<String> {
    let module = import.program.modules().first()?;
    let locs = module.functions().first()?.memlocs().iter();
    let straddles = |(loc, address): &(&MemLoc, &Option<u64>)| {
        let last = |start: u64| start + loc.bytes.saturating_sub(1);
        loc.bytes <= PAGE && address.is_some_and(|start| start / PAGE != last(start) / PAGE)
    };
    let count = locs.zip(&import.addresses).filter(straddles).count();
    (count > 0).then(|| {
        format!(
            "XLA has {count} small locations across page ends, which exact bytes in a program rule \
             out (straddles_page) and rows do not (--to csv)"
        )
    })
}

/// The rows with XLA's offsets.
fn offsets(import: &XlaImport, csv: &[u8]) -> dramalloc::Result<Vec<u8>> {
    let file = CsvFile::read(csv)?;
    let placed: Vec<u64> = import.addresses.iter().copied().flatten().collect();
    let mut bytes = Vec::new();
    file.write(&placed, &mut bytes)
        .expect("memory takes every write");
    Ok(bytes)
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
