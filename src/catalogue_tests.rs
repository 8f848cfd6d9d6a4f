//! The guide's catalogue of errors is what the code can say: no kind is missing, none is made up, and
//! every message has the shape that stands there.

use std::collections::BTreeSet;

use crate::control::Control;
use crate::error::{Error, Fault};
use crate::ffi::status_number;
use crate::format::read_program;
use crate::options::Options;
use crate::planner::plan;
use crate::report::hbm_usage;
use crate::testing::{self, Shape, properties};
use crate::verify::{KINDS, verify_deep};

const CATALOGUE: &str = include_str!("../docs/errors.md");
const TWO_CORES: &[u8] = include_bytes!("../tests/data/two_cores.program.json");

/// The rows of the table under a heading, as cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let section = CATALOGUE
        .split(&format!("\n## {heading}\n"))
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .unwrap_or_else(|| panic!("the catalogue has no {heading}"));
    let rows = section.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(cells.split(" | ").map(str::to_owned).collect())
    });
    rows.skip(2).collect() // The head, and the line under it.
}

fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'))
        .unwrap_or_else(|| panic!("not quoted: {cell}"))
}

/// The literal parts of a shape, between its `<...>`.
fn parts(shape: &str) -> Vec<&str> {
    let mut parts = vec![];
    let mut rest = shape;
    while let Some((before, behind)) = rest.split_once('<') {
        parts.push(before);
        rest = behind.split_once('>').expect("a placeholder ends").1;
    }
    parts.push(rest);
    parts
}

/// Whether a message has a shape: its parts, in order, from the start to the end.
fn has_shape(message: &str, shape: &str) -> bool {
    let parts = parts(shape);
    let (first, middle) = parts.split_first().expect("there is a part");
    let Some(mut rest) = message.strip_prefix(first) else {
        return false;
    };
    let Some((last, middle)) = middle.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The word of a fault. A new variant has to be named here, and then in the samples and the catalogue.
fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::InvalidArgument { .. } => "InvalidArgument",
        Fault::UnknownName { .. } => "UnknownName",
        Fault::UnknownIndex { .. } => "UnknownIndex",
        Fault::DuplicateCore { .. } => "DuplicateCore",
        Fault::DuplicateName { .. } => "DuplicateName",
        Fault::UnknownSize => "UnknownSize",
        Fault::Overflow { .. } => "Overflow",
        Fault::PastTheEnd { .. } => "PastTheEnd",
        Fault::PinsOverlap { .. } => "PinsOverlap",
        Fault::Inverted { .. } => "Inverted",
        Fault::UninitializedUse => "UninitializedUse",
        Fault::Document(_) => "Document",
        Fault::NoRoom(_) => "NoRoom",
        Fault::OverBudget(_) => "OverBudget",
        Fault::Violation(_) => "Violation",
        Fault::Unimplemented(_) => "Unimplemented",
        Fault::FailedPrecondition(_) => "FailedPrecondition",
        Fault::Cancelled => "Cancelled",
        Fault::DeadlineExceeded => "DeadlineExceeded",
    }
}

/// One fault of each kind, in the order of the catalogue.
fn samples() -> Vec<Fault> {
    let program = read_program(TWO_CORES).expect("the file is right");
    let tight = Options {
        capacity: Some(65536),
        ..Options::default()
    };
    let roomy = Options {
        capacity: Some(1 << 30),
        ..Options::default()
    };
    let mut control = Control::default();
    let no_room = plan(&program, &tight, &mut control).expect_err("64 KiB are too few");
    let plan = plan(&program, &roomy, &mut control).expect("a GiB is enough");
    let usage = hbm_usage(&program, &plan, 1 << 30).remove(0);
    let what = "location";
    let name = || "x".to_owned();
    vec![
        Error::invalid("align", "is no power of two").fault,
        Fault::UnknownName { what, name: name() },
        Fault::UnknownIndex {
            what,
            index: 3,
            count: 2,
        },
        Fault::DuplicateCore {
            core: 0,
            module: name(),
        },
        Fault::DuplicateName { what, name: name() },
        Fault::UnknownSize,
        Fault::Overflow {
            what: "2^63 * 4".to_owned(),
        },
        Fault::PastTheEnd {
            offset: 1,
            end: 5,
            of: name(),
            bytes: 4,
        },
        Fault::PinsOverlap {
            start: 0,
            end: 8,
            other: name(),
            other_start: 4,
            other_end: 12,
        },
        Fault::Inverted { lower: 4, upper: 2 },
        Fault::UninitializedUse,
        Fault::Document("line 1: it ends too early".to_owned()),
        no_room.fault,
        Fault::OverBudget(Box::new(usage)),
        Fault::Violation("overlap: it lies there".to_owned()),
        Fault::Unimplemented("a window"),
        Fault::FailedPrecondition("it has no address".to_owned()),
        Fault::Cancelled,
        Fault::DeadlineExceeded,
    ]
}

#[test]
fn every_kind_of_error_is_listed_with_its_message_and_status() {
    let rows = table("Errors");
    let samples = samples();
    let listed: Vec<_> = rows.iter().map(|row| unquoted(&row[0])).collect();
    let kinds: Vec<_> = samples.iter().map(kind).collect();
    assert_eq!(listed, kinds);
    for (row, fault) in rows.iter().zip(samples) {
        let message = fault.to_string();
        let shape = unquoted(&row[1]);
        assert!(has_shape(&message, shape), "{message}: is not {shape}");
        let status = status_number(&Error::from(fault));
        assert_eq!(row[2], status.to_string(), "{}", row[0]);
    }
}

#[test]
fn every_kind_of_violation_is_listed_and_no_other() {
    let rows = table("Violations");
    let listed: Vec<_> = rows.iter().map(|row| unquoted(&row[0])).collect();
    assert_eq!(listed, KINDS);
    assert!(KINDS.is_sorted());
    // `Findings` asserts that nothing else is found; this, that each can be.
    let sources = sources();
    for kind in KINDS {
        let quoted = format!("\"{kind}\"");
        assert!(sources.contains(&quoted), "the code never finds {kind}");
    }
}

#[test]
fn every_status_is_listed_with_its_number() {
    let header = include_str!("../include/dramalloc.h");
    let values: BTreeSet<(String, String)> = header
        .lines()
        .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "))
        .filter(|(name, _)| name.starts_with("DRAM_STATUS_"))
        .map(|(name, value)| (value.to_owned(), name.to_owned()))
        .collect();
    let rows = table("Status of a call");
    let listed = rows
        .iter()
        .map(|row| (row[0].clone(), unquoted(&row[1]).to_owned()));
    assert_eq!(listed.collect::<BTreeSet<_>>(), values);
}

#[test]
fn notes_of_random_programs_have_a_shape_that_is_listed() {
    let rows = table("Notes");
    let shapes: Vec<_> = rows.iter().map(|row| unquoted(&row[0])).collect();
    let mut met = BTreeSet::new();
    testing::for_each_seed(0..300, |u| {
        let options = Options {
            runtime_page: *u.choose(&[0, 0, 1])?,
            shared_mib_per_core: 0,
            cc_limit: *u.choose(&[-1, 0, 1])?,
            ..properties::options(u)?
        };
        let shape = match u.arbitrary()? {
            true => Shape::single_core(),
            false => Shape::many_cores(),
        };
        let program = testing::program(u, &shape)?;
        let Ok(plan) = plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let deep = verify_deep(&program, &plan, None);
        for note in plan.notes.iter().chain(&deep.notes) {
            let fit = shapes.iter().copied().filter(|s| has_shape(note, s));
            let fit: Vec<_> = fit.collect();
            assert!(!fit.is_empty(), "no shape of the catalogue fits: {note}");
            met.extend(fit);
        }
        Ok(())
    });
    assert!(met.len() >= 6, "few kinds of notes were met: {met:?}");
}

fn entry_name(path: &std::path::Path) -> String {
    let name = path.file_name().expect("an entry has a name");
    name.to_str().expect("our names are plain").to_owned()
}

/// The text of every source file of the library and the command but tests and the list of kinds, its
/// continued strings joined.
fn sources() -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("cli/src")];
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("it can be listed").path();
            let name = entry_name(&path);
            if path.is_dir() {
                folders.extend((name != "tests").then_some(path));
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "kinds.rs" {
                all += &std::fs::read_to_string(&path).expect("sources are text");
            }
        }
    }
    let mut joined = String::with_capacity(all.len());
    let mut lines = all.split("\\\n");
    joined += lines.next().unwrap_or_default();
    lines.for_each(|line| joined += line.trim_start());
    joined
}

#[test]
fn no_note_and_no_message_is_made_up() {
    let sources = sources();
    for heading in ["Notes", "Mistakes on the command line"] {
        for row in table(heading) {
            let shape = unquoted(&row[0]);
            for part in parts(shape).into_iter().filter(|part| part.len() > 9) {
                // Sentences are put together from pieces at ": " and "; ".
                for piece in part.split([':', ';', ',']).filter(|piece| piece.len() > 9) {
                    let piece = piece.trim();
                    assert!(
                        sources.contains(piece),
                        "{heading}: the code never says {piece:?}"
                    );
                }
            }
        }
    }
}

/// The string that stands first in a piece of source, if one does before the statement ends.
fn first_string(source: &str) -> Option<&str> {
    let statement = source.split(';').next()?;
    let start = statement.find('"')? + 1;
    let rest = &source[start..];
    Some(&rest[..rest.find('"')?])
}

/// A format string as a shape: `{...}` becomes `<...>`.
fn as_message(format: &str) -> String {
    format.replace('{', "<").replace('}', ">")
}

#[test]
fn every_sentence_that_is_pushed_to_notes_or_refuses_a_command_line_is_listed() {
    let sources = sources();
    let mut shapes: Vec<String> = vec![];
    for heading in ["Notes", "Mistakes on the command line"] {
        shapes.extend(
            table(heading)
                .iter()
                .map(|row| unquoted(&row[0]).to_owned()),
        );
    }
    let mut seen = 0;
    for marker in [
        "notes.push(format!(",
        "notes\n                    .push(format!(",
        "let line = \"",
    ] {
        for (at, _) in sources.match_indices(marker) {
            let behind = &sources[at + marker.len() - usize::from(marker.ends_with('"'))..];
            let Some(sentence) = first_string(behind) else {
                continue;
            };
            let message = as_message(sentence);
            let last = parts(&message)
                .into_iter()
                .map(str::trim)
                .max_by_key(|p| p.len());
            let part = last.expect("there is a part");
            // What a line is built from piece by piece is no sentence.
            if part.len() > 9 && !part.contains("dramalloc ") {
                let known = shapes.iter().any(|shape| shape.contains(part));
                assert!(known, "docs/errors.md lacks a row for {sentence:?}");
                seen += 1;
            }
        }
    }
    assert!(
        seen > 12,
        "the places where notes are made were found: {seen}"
    );
}
