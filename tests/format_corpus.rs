//! Real files survive a round trip. They lie outside this repository; without them this skips.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use dramalloc::format::{read_program, write_program};

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
