//! From a path to the bytes of a text: `-` is stdin, gzip is recognised by its first bytes.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::failure::Failure;

/// The first two bytes of every gzip member (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes looked at together.
const STRETCH: usize = 4096;

/// A file that was read whole.
#[derive(Debug)]
pub struct Input {
    /// How messages call it.
    pub name: String,
    /// What it says, unpacked; text, as far as a look at it tells.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Whether it is JSON: no other format that we read begins with a brace.
    pub fn is_json(&self) -> bool {
        let text = self
            .bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.bytes);
        text.trim_ascii_start().first() == Some(&b'{')
    }
}

/// Whether a path stands for stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a file; every refusal is one line that names it.
pub fn read(path: &Path) -> Result<Input, Failure> {
    let name = if is_standard(path) {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    };
    let bytes = bytes(path).map_err(|e| Failure::file(&name, reason(&e)))?;
    let bytes = if bytes.starts_with(&GZIP) {
        unpack(&bytes).map_err(|e| Failure::file(&name, format!("its gzip data is broken: {e}")))?
    } else {
        bytes
    };
    if bytes.trim_ascii().is_empty() {
        return Err(Failure::file(&name, "is empty"));
    }
    // A control character that no text has; binary files have one soon.
    let odd = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\x0c' | b'\r');
    // A stretch at a time, which needs no branch per byte.
    let some_odd = |stretch: &[u8]| stretch.iter().fold(false, |some, b| some | odd(b));
    if let Some(stretch) = bytes.chunks(STRETCH).position(some_odd) {
        let from = stretch * STRETCH;
        let at = from
            + bytes[from..]
                .iter()
                .position(odd)
                .expect("it has been seen");
        return Err(Failure::file(
            &name,
            format!("byte {at} is {:#04x}; this is no text file", bytes[at]),
        ));
    }
    Ok(Input { name, bytes })
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if is_standard(path) {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// The system's reason in our words, without its error number.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "is a directory".to_owned(),
        _ => {
            let text = error.to_string();
            match text.find(" (os error ") {
                Some(at) => text[..at].to_lowercase(),
                None => text,
            }
        }
    }
}
