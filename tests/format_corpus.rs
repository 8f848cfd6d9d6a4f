//! Real files survive a round trip. They lie outside this repository; without them this skips.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use dramalloc::RawProblem;
use dramalloc::format::{CsvFile, csv_to_program, program_to_csv, read_program, write_program};
use dramalloc::liveness::liveness;

/// The files of the corpus whose names contain `kind`, or none with a message.
fn corpus(kind: &str) -> Vec<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    let mut roots = above.map(|dir| dir.join("shared/corpus"));
    let Some(root) = roots.find(|root| root.is_dir()) else {
        eprintln!("skipped: there is no folder shared/corpus beside this repository");
        return Vec::new();
    };
    let mut files = Vec::new();
    for dir in [root.clone(), root.join("peers")] {
        let Ok(entries) = dir.read_dir() else {
            continue;
        };
        files.extend(entries.map(|entry| entry.expect("a readable folder").path()));
    }
    files.retain(|path| path.to_string_lossy().contains(kind));
    files.sort();
    assert!(!files.is_empty(), "no {kind} in {}", root.display());
    files
}

fn bytes(path: &Path) -> Vec<u8> {
    let mut file = File::open(path).expect("a readable file");
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(file)
            .read_to_end(&mut bytes)
            .expect("gzip");
    } else {
        file.read_to_end(&mut bytes).expect("a readable file");
    }
    bytes
}

#[test]
fn programs_survive_a_round_trip() {
    for path in corpus(".program.json") {
        let name = path.display();
        let program = read_program(&bytes(&path)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!program.modules().is_empty(), "{name}");
        let mut text = Vec::new();
        write_program(&program, &mut text).expect("a Vec takes everything");
        assert_eq!(read_program(&text).as_ref(), Ok(&program), "{name}");
    }
}

/// A name with its lives and its size.
type Row<'a> = (&'a str, &'a [(i64, i64)], u64);

/// The rows by name.
fn rows(problem: &RawProblem) -> Vec<Row<'_>> {
    let mut rows: Vec<_> = (0..problem.len())
        .map(|i| {
            let lives = problem.starts[i] as usize..problem.starts[i + 1] as usize;
            (
                &problem.labels[i],
                &problem.segments[lives],
                problem.sizes[i],
            )
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn rows_survive_a_round_trip() {
    for path in corpus(".csv") {
        let name = path.display();
        let file = CsvFile::read(bytes(&path)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!file.problem().is_empty(), "{name}");
        let offsets: Vec<u64> = (0..file.problem().len() as u64).collect();
        let mut text = Vec::new();
        file.write(&offsets, &mut text)
            .expect("a Vec takes everything");
        let again = CsvFile::read(text.as_slice()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(rows(again.problem()), rows(file.problem()), "{name}");
        assert!(
            again
                .problem()
                .pins
                .iter()
                .copied()
                .eq(offsets.into_iter().map(Some)),
            "{name}"
        );

        let program = csv_to_program(&file, "rows").unwrap_or_else(|e| panic!("{name}: {e}"));
        let back = program_to_csv(&program, |f| liveness(f).lives).expect("one function");
        let back = CsvFile::read(back.csv.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let sizes = |file: &CsvFile| file.problem().sizes.clone();
        assert_eq!(sizes(&back), sizes(&file), "{name}");
    }
}

#[test]
fn programs_become_the_rows_that_others_made_of_them() {
    for path in corpus(".program.json") {
        let stem = path.to_string_lossy().replace(".program.json.gz", ".csv");
        let Some(csv) = [stem.clone(), stem + ".gz"]
            .into_iter()
            .find(|p| Path::new(p).exists())
        else {
            continue; // Several cores have no rows.
        };
        let name = path.display();
        let program = read_program(&bytes(&path)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ours = program_to_csv(&program, |f| liveness(f).lives);
        let ours = ours.unwrap_or_else(|e| panic!("{name}: {e}"));
        let ours = CsvFile::read(ours.csv.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let theirs = CsvFile::read(bytes(Path::new(&csv))).unwrap_or_else(|e| panic!("{csv}: {e}"));
        let (mut ours, mut theirs) = (rows(ours.problem()), rows(theirs.problem()));
        // What takes no bytes at no time may be left out.
        ours.retain(|(_, lives, size)| !lives.is_empty() && *size > 0);
        theirs.retain(|(_, lives, size)| !lives.is_empty() && *size > 0);
        assert_eq!(ours.len(), theirs.len(), "{name}");
        // Theirs have no holes, and XLA keeps a loop's condition for one step longer.
        let hull = |lives: &[(i64, i64)]| (lives[0].0, lives[lives.len() - 1].1);
        let generous = csv.contains("xla_");
        let same = |a: &Row, b: &Row| {
            let (a_life, b_life) = (hull(a.1), hull(b.1));
            let within = b_life.0 <= a_life.0 && a_life.1 <= b_life.1;
            (a.0, a.2) == (b.0, b.2) && within && (generous || a_life == b_life)
        };
        let other = ours.iter().zip(&theirs).find(|(a, b)| !same(a, b));
        assert_eq!(other, None, "{name}: ours and theirs");
    }
}
