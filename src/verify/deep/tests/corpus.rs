//! Plans of real programs, with the order that they need, where the corpus is at hand.

use std::io::Read;
use std::path::Path;

use super::right::{planned, with_edges};
use crate::format::read_program;
use crate::options::Options;
use crate::verify::deep::verify_deep;

#[test]
fn plans_of_real_programs_run_right() {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    let mut folders = above.map(|dir| dir.join("shared/corpus"));
    let Some(folder) = folders.find(|folder| folder.is_dir()) else {
        eprintln!("skipped: there is no folder shared/corpus beside this repository");
        return;
    };
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let mut files: Vec<_> = entries
        .map(|e| e.expect("it can be listed").path())
        .collect();
    files.retain(|f| f.to_string_lossy().ends_with(".program.json.gz"));
    files.sort();
    for file in files {
        let packed = std::fs::read(&file).expect("it can be read");
        let mut text = Vec::new();
        let read = flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text);
        read.expect("the file is gzip");
        let program = read_program(&text).expect("a valid program");
        let mut plan = planned(&program, &Options::default()).expect("it fits");
        with_edges(&program, &mut plan);
        let deep = verify_deep(&program, &plan, None);
        assert_eq!(deep.violations, [], "{}", file.display());
        assert_eq!(deep.notes, [""; 0], "{}", file.display());
    }
}
