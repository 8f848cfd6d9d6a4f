//! From a result to a file or stdout.
//!
//! A file is written beside its place under a name of its own and renamed when it is whole: a run
//! that fails leaves the old file, or none. What is no regular file (a pipe, a device) is written
//! straight through; renaming would replace it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

use crate::failure::Failure;
use crate::input::{is_standard, reason};

/// Writes a result; `None` and `-` are stdout. A path that ends in `.gz` is compressed.
pub fn write(path: Option<&Path>, result: &[u8]) -> Result<(), Failure> {
    write_with(path, |out| out.write_all(result))
}

/// The same for a result that is written piece by piece, so that it need not be held whole. `fill`
/// is called once, and fails only where `out` does.
pub fn write_with(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| !is_standard(path)) else {
        return standard(fill);
    };
    let name = path.display().to_string();
    let failed = |e: io::Error| match e.kind() {
        ErrorKind::NotFound => no_folder(&name),
        _ => Failure::file(&name, format!("cannot be written: {}", reason(&e))),
    };
    if is_gzip(path) {
        replace(path, |out| pack(out, fill)).map_err(failed)
    } else {
        replace(path, fill).map_err(failed)
    }
}

/// Fails if a result cannot go there because its folder does not exist, before the work is done.
pub fn check(path: Option<&Path>) -> Result<(), Failure> {
    let path = path.filter(|path| !is_standard(path));
    let folder = path.and_then(Path::parent);
    let is_missing = |folder: &Path| !folder.as_os_str().is_empty() && !folder.exists();
    match (path, folder) {
        (Some(path), Some(folder)) if is_missing(folder) => {
            Err(no_folder(&path.display().to_string()))
        }
        _ => Ok(()),
    }
}

fn no_folder(name: &str) -> Failure {
    let line = "cannot be written: its folder does not exist";
    Failure::file(name, line.to_owned())
}

/// Whether a path asks for compression.
pub fn is_gzip(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

fn standard(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match fill(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Err(Failure::Closed),
        Err(e) => Err(Failure::file(
            "stdout",
            format!("cannot be written: {}", reason(&e)),
        )),
    }
}

fn pack(
    out: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // No time and no name in the header: equal plans are equal files. // S4
    let mut packer = GzBuilder::new().mtime(0).write(out, Compression::default());
    fill(&mut packer)?;
    packer.finish()?;
    Ok(())
}

fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => {
            return fill(&mut OpenOptions::new().write(true).open(path)?);
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    // Through a link, it is the linked file that is replaced.
    let target = match existing {
        Some(_) => fs::canonicalize(path)?,
        None => path.to_owned(),
    };
    if existing.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let beside = beside(&target)?;
    let written = File::create_new(&beside).and_then(|mut file| {
        fill(&mut file)?;
        if let Some(permissions) = existing {
            file.set_permissions(permissions)?;
        }
        fs::rename(&beside, &target)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside); // Best effort; the first error is the one to report.
    }
    written
}

/// A name in the same folder that no other running command uses.
fn beside(target: &Path) -> io::Result<PathBuf> {
    let Some(name) = target.file_name() else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(target.with_file_name(hidden))
}
