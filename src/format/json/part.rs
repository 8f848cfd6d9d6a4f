//! Reading JSON documents strictly and in pieces, with errors that say where.
//!
//! A document is read in two steps. The first parses its outline; the long lists (locations,
//! instructions) stay slices of the text. The second parses such a list element by element and
//! hands each to its consumer, so that no tree of the whole document ever exists and the order of
//! keys in a file does not matter. Names borrow from the text unless they hold escapes.
//!
//! Errors carry the path of the value (`modules[0].functions[2].memlocs[7].bytes`) and its line
//! and column in the whole document, which are counted when there is an error.

use super::reader::{Mistake, join};
use super::{Reader, Value};
use crate::error::{Error, Fault};

/// The text of a document; a byte order mark in front is no part of it.
pub(crate) fn text(bytes: &[u8]) -> crate::Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
        document_error(format!("the text is not UTF-8 at byte {at}, line {line}"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// An error of a document, without a place in the program.
pub(crate) fn document_error(message: impl Into<String>) -> Error {
    Fault::Document(message.into()).into()
}

/// The error for a key that has no default.
pub(crate) fn missing(path: &str, key: &str) -> Error {
    let dot = if path.is_empty() { "" } else { "." };
    document_error(format!("{path}{dot}{key}: missing; it has no default"))
}

/// An error at a path; what the program model objected to keeps its place there.
pub(crate) fn error_at(path: &str, error: impl Into<Error>) -> Error {
    let Error { fault, place } = error.into();
    let message = match fault {
        // The model's parameters are the format's keys.
        Fault::InvalidArgument { parameter, reason } if path.is_empty() => {
            format!("{parameter}: {reason}")
        }
        Fault::InvalidArgument { parameter, reason } => format!("{path}.{parameter}: {reason}"),
        fault => format!("{path}: {fault}"),
    };
    Error {
        fault: Fault::Document(message),
        place,
    }
}

/// A value inside a document that is parsed by itself.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a, 'p> {
    /// The text of the whole document.
    pub(crate) document: &'a str,
    /// The text of the value, a slice of `document`.
    pub(crate) text: &'a str,
    /// The path of the value; empty for the whole.
    pub(crate) path: &'p str,
}

impl<'a> Part<'a, '_> {
    /// A whole document.
    pub(crate) fn whole(text: &'a str) -> Part<'a, 'static> {
        Part {
            document: text,
            text,
            path: "",
        }
    }

    /// Parses the value.
    pub(crate) fn parse<T: Value<'a>>(self) -> crate::Result<T> {
        let mut json = Reader::new(self.text);
        let value = T::read(&mut json).and_then(|value| json.end().map(|()| value));
        value.map_err(|mistake| self.error(&mistake))
    }

    /// Parses a list, handing over each element with its position.
    pub(crate) fn each<T: Value<'a>>(
        self,
        mut take: impl FnMut(usize, T) -> crate::Result<()>,
    ) -> crate::Result<()> {
        let mut refused = None;
        let read = Reader::new(self.text).list(&"a list", &mut |json, position| {
            let element = T::read(json)?;
            take(position, element).map_err(|error| {
                refused = Some(error);
                json.mistake("refused")
            })
        });
        match (refused, read) {
            (Some(error), _) => Err(error),
            (None, read) => read.map_err(|mistake| self.error(&mistake)),
        }
    }

    /// What the reader said, with the path and the line in the document.
    fn error(self, mistake: &Mistake) -> Error {
        let path = join(self.path, &mistake.path);
        let colon = if path.is_empty() { "" } else { ": " };
        // Both are slices of one text, so the difference of their addresses is the offset.
        let offset = self.text.as_ptr().addr() - self.document.as_ptr().addr();
        let before = &self.document.as_bytes()[..offset + mistake.at];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count();
        let message = &mistake.message;
        document_error(format!(
            "{path}{colon}{message} at line {line} column {column}"
        ))
    }
}
