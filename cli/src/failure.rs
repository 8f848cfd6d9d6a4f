//! What ends a run early, and the exit status it becomes.

use std::io::Write;
use std::process::ExitCode;

/// Why the command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// No placement was found, or a plan is wrong: status 1.
    NotPlaced(String),
    /// Bad input, usage, or I/O: status 2.
    Bad(String),
    /// Violations, already on stdout: status 1.
    Violations,
    /// Whoever read our stdout has closed it. They know; status 2 and no message.
    Closed,
}

impl Failure {
    /// A bad input or output file.
    pub fn file(name: &str, reason: impl std::fmt::Display) -> Failure {
        Failure::Bad(format!("{name}: {reason}"))
    }

    /// What the library refused to do with the file `name`.
    pub fn library(name: &str, error: &dramalloc::Error) -> Failure {
        use dramalloc::Fault;
        let line = format!("{name}: {error}");
        match error.fault {
            Fault::NoRoom(_) | Fault::Cancelled | Fault::DeadlineExceeded => {
                Failure::NotPlaced(line)
            }
            _ => Failure::Bad(line), // A new fault is bad input until someone says otherwise.
        }
    }

    /// The message, if there is something to say.
    pub fn line(&self) -> Option<&str> {
        match self {
            Failure::NotPlaced(line) | Failure::Bad(line) => Some(line),
            Failure::Violations | Failure::Closed => None,
        }
    }

    /// The exit status.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::NotPlaced(_) | Failure::Violations => ExitCode::from(1),
            Failure::Bad(_) | Failure::Closed => ExitCode::from(2),
        }
    }
}

/// So many lines of one kind are said on stderr.
pub const MOST_LINES: usize = 20;

/// What a person should know, within reason; a plan holds all of it.
pub fn say_notes(notes: &[String]) {
    for note in notes.iter().take(MOST_LINES) {
        tell("note", note);
    }
    if notes.len() > MOST_LINES {
        tell("note", &format!("and {} more", notes.len() - MOST_LINES));
    }
}

/// So many characters of a line are said on stderr: more come from names in files, and from files that
/// are not what they should be.
const LONGEST_LINE: usize = 1000;

/// How many there are of what `noun` calls one of.
pub fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// One line on stderr. A stderr that is gone is nobody's problem.
pub fn tell(what: &str, line: &str) {
    // Control characters come from names in files; a terminal must not act on them.
    let seen = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let length = line.chars().count();
    let line: String = if length <= LONGEST_LINE {
        line.chars().map(seen).collect()
    } else {
        // What is wrong stands at the end as often as at the beginning.
        let half = LONGEST_LINE / 2;
        let (start, end) = (line.chars().take(half), line.chars().skip(length - half));
        let cut = format!(" [... {} characters ...] ", length - 2 * half);
        start
            .map(seen)
            .chain(cut.chars())
            .chain(end.map(seen))
            .collect()
    };
    let _ = writeln!(std::io::stderr(), "dramalloc: {what}: {line}");
}
