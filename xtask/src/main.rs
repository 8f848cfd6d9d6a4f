//! Chores of the project that its users never pay for.
//!
//! `cargo run -p xtask -- header` writes `include/dramalloc.h` from the sources of the C ABI;
//! with `--check` it only says whether the file is up to date.

mod header;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["header"] => header::write(),
        ["header", "--check"] => header::check(),
        _ => Err("usage: cargo run -p xtask -- header [--check]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
