//! Reading JSON documents strictly and in pieces, with errors that say where.
//!
//! A document is read in two steps. The first parses its outline; the long lists (locations,
//! instructions) stay slices of the text. The second parses such a list element by element and
//! hands each to its consumer, so that no tree of the whole document ever exists and the order of
//! keys in a file does not matter. Names borrow from the text unless they hold escapes.
//!
//! Errors carry the path of the value (`modules[0].functions[2].memlocs[7].bytes`) and its line
//! and column. A list in the middle of a text is parsed by itself, so its lines are counted anew
//! from the list's place in the whole; that costs a scan, on error only.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

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
    pub(crate) fn parse<T: Deserialize<'a>>(self) -> crate::Result<T> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        let value = serde_path_to_error::deserialize(&mut json)
            .map_err(|e| self.error(&e.path().to_string(), e.inner()))?;
        json.end().map_err(|e| self.error("", &e))?;
        Ok(value)
    }

    /// Parses a list, handing over each element with its position.
    ///
    /// Paths cost time, so they are not followed until something is wrong with the text; then the
    /// list is parsed once more to the same error.
    pub(crate) fn each<T: Deserialize<'a>>(
        self,
        take: impl FnMut(usize, T) -> crate::Result<()>,
    ) -> crate::Result<()> {
        let mut refused = None;
        let list = List {
            take,
            refused: &mut refused,
            of: PhantomData,
        };
        let read = list.deserialize(&mut serde_json::Deserializer::from_str(self.text));
        match (refused, read) {
            (Some(error), _) => Err(error),
            (None, Err(_)) => {
                let deaf = |_, _: T| Ok(());
                let list = List {
                    take: deaf,
                    refused: &mut None,
                    of: PhantomData,
                };
                let mut json = serde_json::Deserializer::from_str(self.text);
                let mut track = serde_path_to_error::Track::new();
                let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
                let error = list
                    .deserialize(tracked)
                    .expect_err("parsing is repeatable");
                Err(self.error(&track.path().to_string(), &error))
            }
            (None, Ok(())) => Ok(()),
        }
    }

    /// What the parser said, with the path and the line in the document.
    fn error(self, inner: &str, error: &serde_json::Error) -> Error {
        let mut message = error.to_string();
        let (line, column) = (error.line(), error.column());
        if let Some(at) = message.rfind(" at line ")
            && line > 0
        {
            message.truncate(at);
        }
        let mut path = self.path.to_owned();
        if inner != "." {
            if !path.is_empty() && !inner.is_empty() && !inner.starts_with('[') {
                path.push('.');
            }
            path.push_str(inner);
        }
        if !path.is_empty() {
            path.push_str(": ");
        }
        if line == 0 {
            return document_error(format!("{path}{message}"));
        }
        // Both are slices of one text, so the difference of their addresses is the offset.
        let offset = self.text.as_ptr().addr() - self.document.as_ptr().addr();
        let before = &self.document[..offset];
        let column = match (line, before.rfind('\n')) {
            (1, Some(start)) => offset - start - 1 + column,
            (1, None) => offset + column,
            _ => column,
        };
        let line = line + before.bytes().filter(|&b| b == b'\n').count();
        document_error(format!("{path}{message} at line {line} column {column}"))
    }
}

/// The visitor of [`Part::each`].
struct List<'r, T, F> {
    take: F,
    refused: &'r mut Option<Error>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(usize, T) -> crate::Result<()>> DeserializeSeed<'de>
    for List<'_, T, F>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(usize, T) -> crate::Result<()>> Visitor<'de>
    for List<'_, T, F>
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let mut position = 0;
        while let Some(element) = list.next_element()? {
            if let Err(error) = (self.take)(position, element) {
                *self.refused = Some(error);
                return Err(de::Error::custom("refused"));
            }
            position += 1;
        }
        Ok(())
    }
}
