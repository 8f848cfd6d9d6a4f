//! Chores of the project that its users never pay for.
//!
//! `cargo run -p xtask -- header` writes `include/dramalloc.h` from the sources of the C ABI;
//! `options` writes the tables of options in `README.md` and `docs/options.md`. With `--check`
//! either only says whether what is committed is up to date.

mod header;
mod options;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().expect("xtask lies in the project");
    let done = match args[..] {
        ["header"] => header::write(),
        ["header", "--check"] => header::check(),
        ["options"] => options::write(root),
        ["options", "--check"] => options::check(root),
        _ => Err("usage: cargo run -p xtask -- header|options [--check]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
