//! Buffers as files of allocation solvers: half-open lives, exact sizes.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dramalloc::RawProblem;
use dramalloc::format::CsvFile;

use super::Buffer;

/// The bytes of a file, unpacked if its name ends in `.gz`.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes)?;
    } else {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The buffers of a file, sorted.
pub fn read(path: &Path) -> Result<Vec<Buffer>, String> {
    let bytes = bytes(path).map_err(|e| e.to_string())?;
    let file = CsvFile::read(bytes).map_err(|e| e.to_string())?;
    plain(file.problem())
}

/// The rows as buffers with ranked times, sorted; a reason if there is more to a row than one life
/// and a size. What needs no bytes is left out.
pub fn plain(problem: &RawProblem) -> Result<Vec<Buffer>, String> {
    let mut times: Vec<i64> = problem.segments.iter().flat_map(|&(l, u)| [l, u]).collect();
    times.sort_unstable();
    times.dedup();
    let rank = |time: i64| times.partition_point(|&t| t < time) as u32;
    let mut buffers = Vec::with_capacity(problem.len());
    for row in 0..problem.len() {
        let &[(lower, upper)] = problem.segments_of(row) else {
            return Err(format!("row {row} has not one life"));
        };
        if problem.pin(row).is_some() || problem.alignments.get(row).is_some_and(|&a| a > 1) {
            return Err(format!("row {row} has a pin or an alignment"));
        }
        if lower < upper && problem.sizes[row] > 0 {
            buffers.push(Buffer {
                lower: rank(lower),
                upper: rank(upper),
                size: problem.sizes[row],
            });
        }
    }
    buffers.sort_unstable();
    Ok(buffers)
}

/// A file of these buffers.
pub fn write(buffers: &[Buffer]) -> String {
    let mut text = String::from("id,lower,upper,size\n");
    for (i, b) in buffers.iter().enumerate() {
        writeln!(text, "{i},{},{},{}", b.lower, b.upper, b.size).expect("a String takes all");
    }
    text
}
