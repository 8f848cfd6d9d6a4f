//! The header as cffi reads it: declarations alone, without comments and preprocessor.
//!
//! The Python package declares nothing by hand. maturin looks for `header.h` in the target folder
//! and makes cffi's tables of it; what is written there comes from the committed header at every
//! build, so the two cannot drift apart.

use std::path::Path;

/// The declarations that a C compiler before C23 sees in the header, and its integer constants.
pub(crate) fn of_header(header: &str) -> String {
    let mut declarations = String::with_capacity(header.len() / 2);
    let mut taken = Vec::new(); // Of each open `#if`: whether its lines count.
    let mut rest = header;
    while let Some((line, after)) = logical_line(rest) {
        rest = after;
        let directive = line.trim_start();
        if let Some(condition) = directive.strip_prefix("#if") {
            // Neither C++ nor C23; the include guard is open, the macros behind it are not C.
            let condition = condition.trim();
            taken.push(["ndef __cplusplus", "ndef DRAMALLOC_H"].contains(&condition));
        } else if directive.starts_with("#else") {
            let last = taken.last_mut().expect("an #else follows its #if");
            *last = !*last;
        } else if directive.starts_with("#endif") {
            taken.pop();
        } else if taken.iter().all(|&taken| taken) && !taken.is_empty() {
            let is_kept = match directive.strip_prefix("#define ") {
                Some(macro_) => is_integer(macro_),
                None => !directive.starts_with('#') && !directive.is_empty(),
            };
            if is_kept {
                declarations.push_str(line.trim_end());
                declarations.push('\n');
            }
        }
    }
    declarations
}

/// The next line outside comments, and what follows it.
fn logical_line(text: &str) -> Option<(String, &str)> {
    if text.is_empty() {
        return None;
    }
    let mut line = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('\n').unwrap_or(rest.len());
        let block = rest.find("/*").filter(|&at| at < end);
        let to_end = rest.find("//").filter(|&at| at < end);
        match (block, to_end) {
            (Some(at), other) if other.is_none_or(|other| at < other) => {
                line.push_str(&rest[..at]);
                let length = rest[at..].find("*/").expect("a comment ends");
                rest = &rest[at + length + 2..];
            }
            (_, comment) => {
                line.push_str(&rest[..comment.unwrap_or(end)]);
                return Some((line, rest.get(end + 1..).unwrap_or("")));
            }
        }
    }
}

/// Whether a macro, name and value, stands for an integer.
fn is_integer(macro_: &str) -> bool {
    let value = macro_.split_once(' ').map_or("", |(_, value)| value.trim());
    let digits = value.trim_end_matches("ull");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes the declarations of `header` to `header.h` in the target folder above `out`, if they are
/// not there yet. Whoever builds no Python package needs no such file, so nothing here fails a build.
pub(crate) fn write(header: &Path, out: &Path) {
    let text = std::fs::read_to_string(header)
        .unwrap_or_else(|error| panic!("{}: {error}", header.display()));
    println!("cargo::rerun-if-changed={}", header.display());
    // Of `target/release/build/...`, or of `target/TRIPLE/release/build/...`.
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    let Some(mut target) = build.and_then(|build| build.parent()?.parent()) else {
        println!("cargo::warning={} is below no target folder", out.display());
        return;
    };
    if std::env::var_os("TARGET").is_some_and(|triple| target.ends_with(triple)) {
        target = target.parent().unwrap_or(target);
    }
    let path = target.join("header.h");
    println!("cargo::rerun-if-changed={}", path.display());
    let declarations = of_header(&text);
    if std::fs::read_to_string(&path).is_ok_and(|there| there == declarations) {
        return;
    }
    // As old as the header: cargo takes what is younger than this run for a reason to run again.
    let written = std::fs::write(&path, declarations)
        .and_then(|()| std::fs::metadata(header)?.modified())
        .and_then(|time| {
            std::fs::File::options()
                .append(true)
                .open(&path)?
                .set_modified(time)
        });
    if let Err(error) = written {
        println!("cargo::warning={}: {error}", path.display());
    }
}
