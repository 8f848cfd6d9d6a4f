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

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, Fault};

/// The text of a document; a byte order mark in front is no part of it.
pub(super) fn text(bytes: &[u8]) -> crate::Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
        document_error(format!("the text is not UTF-8 at byte {at}, line {line}"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// An error of a document, without a place in the program.
pub(super) fn document_error(message: impl Into<String>) -> Error {
    Fault::Document(message.into()).into()
}

/// The error for a key that has no default.
pub(super) fn missing(path: &str, key: &str) -> Error {
    let dot = if path.is_empty() { "" } else { "." };
    document_error(format!("{path}{dot}{key}: missing; it has no default"))
}

/// An error at a path; what the program model objected to keeps its place there.
pub(super) fn error_at(path: &str, error: impl Into<Error>) -> Error {
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
pub(super) struct Part<'a, 'p> {
    /// The text of the whole document.
    pub document: &'a str,
    /// The text of the value, a slice of `document`.
    pub text: &'a str,
    /// The path of the value; empty for the whole.
    pub path: &'p str,
}

impl<'a> Part<'a, '_> {
    /// A whole document.
    pub fn whole(text: &'a str) -> Part<'a, 'static> {
        Part {
            document: text,
            text,
            path: "",
        }
    }

    /// Parses the value.
    pub fn parse<T: Deserialize<'a>>(self) -> crate::Result<T> {
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
    pub fn each<T: Deserialize<'a>>(
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

/// Text, borrowed from the document where it has no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

/// A whole number of 64 bits, exact; also as decimal text, for producers without such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Exact;
        impl Visitor<'_> for Exact {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 2^64 - 1")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                let number = digits.then(|| text.parse().ok()).flatten();
                let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
                number.map(Number).ok_or_else(unexpected)
            }
        }
        deserializer.deserialize_any(Exact)
    }
}

/// A small whole number: a core, an engine, a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Small(pub u32);

impl<'de> Deserialize<'de> for Small {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Small, D::Error> {
        struct Exact;
        impl Visitor<'_> for Exact {
            type Value = Small;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 2^32 - 1")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Small, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Unsigned(number), &self);
                u32::try_from(number).map(Small).map_err(|_| unexpected())
            }
        }
        deserializer.deserialize_any(Exact)
    }
}

/// A whole number that may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signed(pub i64);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signed, D::Error> {
        i64::deserialize(deserializer).map(Signed)
    }
}

/// A closed set of words: the enums of the model.
pub(super) trait Words: Copy + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// The word of a value.
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($($name:ty),+ $(,)?) => {
        $(impl $crate::format::json::Words for $name {
            const ALL: &'static [Self] = <$name>::ALL;
            fn word(self) -> &'static str {
                self.name()
            }
        })+
    };
}
pub(super) use words;

/// One word of a closed set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word<T>(pub T);

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word<T>, D::Error> {
        struct OneOf<T>(PhantomData<T>);
        impl<T: Words> Visitor<'_> for OneOf<T> {
            type Value = Word<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one of ")?;
                for (i, &value) in T::ALL.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    f.write_str(value.word())?;
                }
                Ok(())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Word<T>, E> {
                let known = T::ALL.iter().find(|value| value.word() == text);
                let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
                known.copied().map(Word).ok_or_else(unexpected)
            }
        }
        deserializer.deserialize_str(OneOf(PhantomData))
    }
}

/// What a key holds. `null` counts as the key's default wherever it has no meaning of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Field<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The key is there and says `null`.
    Null,
    /// The key's value.
    Is(T),
}

impl<T> Field<T> {
    /// The value, if there is one.
    pub fn get(self) -> Option<T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// The value, if there is one.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// Whether there is a value.
    pub fn is_given(&self) -> bool {
        matches!(self, Field::Is(_))
    }

    /// Whether the key is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    /// The value of a key that has no default.
    pub fn require(self, path: &str, key: &str) -> crate::Result<T> {
        self.get().ok_or_else(|| missing(path, key))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Field<T>, D::Error> {
        let value = Option::<T>::deserialize(deserializer)?;
        Ok(value.map_or(Field::Null, Field::Is))
    }
}

/// Keys that start with `x_`, in the order of the document.
pub(super) type Extensions<'a> = Vec<(Text<'a>, &'a RawValue)>;

/// What an object does with keys that start with `x_`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Foreign {
    /// They are handed on.
    Kept,
    /// They are read and forgotten.
    Dropped,
    /// They are unknown keys like any other.
    Refused,
}

/// Fails at the value of the key just read, so that the error's path ends in that key.
pub(super) struct Refuse(pub String);

impl<'de> DeserializeSeed<'de> for Refuse {
    type Value = std::convert::Infallible;

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<Self::Value, D::Error> {
        Err(de::Error::custom(self.0))
    }
}

/// Declares a document object as a table of keys and their types, and how it is read.
///
/// Every field is a [`Field`] named like its key; `extensions` holds the foreign keys if they
/// are `Kept`.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $what:literal, $foreign:ident { $($key:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        struct $name<'de> {
            $($key: $crate::format::json::Field<$type>,)+
            extensions: $crate::format::json::Extensions<'de>,
        }

        impl<'de> serde::Deserialize<'de> for $name<'de> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                struct Keys;
                impl<'de> serde::de::Visitor<'de> for Keys {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!($what, ", which is an object"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> std::result::Result<Self::Value, A::Error> {
                        use $crate::format::json::{Field, Foreign, Refuse, Text};
                        const FOREIGN: Foreign = Foreign::$foreign;
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<Text<'de>>()? {
                            match &*key {
                                $(stringify!($key) => {
                                    if !object.$key.is_absent() {
                                        let twice = Refuse("the key stands twice".to_owned());
                                        match map.next_value_seed(twice)? {}
                                    }
                                    object.$key = map.next_value::<Field<$type>>()?;
                                })+
                                foreign if foreign.starts_with("x_") && FOREIGN != Foreign::Refused => {
                                    if FOREIGN == Foreign::Kept {
                                        object.extensions.push((key, map.next_value()?));
                                    } else {
                                        map.next_value::<serde::de::IgnoredAny>()?;
                                    }
                                }
                                _ => {
                                    let keys = [$(stringify!($key)),+].join(", ");
                                    let unknown = format!(concat!("unknown key; ", $what, " has {}"), keys);
                                    match map.next_value_seed(Refuse(unknown))? {}
                                }
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(Keys)
            }
        }
    };
}
pub(super) use object;

/// A format's own word, which must be the first thing that is right.
pub(super) trait Format {
    /// The value of the key `format`.
    const WORD: &'static str;
}

/// The value of the key `format`; any other word is refused at once, before later keys are.
pub(super) struct Tag<F>(PhantomData<F>);

impl<'de, F: Format> Deserialize<'de> for Tag<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tag<F>, D::Error> {
        let word = Text::deserialize(deserializer)?;
        if *word != *F::WORD {
            let message = format!("this is {:?}, not {:?}", &*word, F::WORD);
            return Err(de::Error::custom(message));
        }
        Ok(Tag(PhantomData))
    }
}

/// The value of the key `version`; there is only 1 so far.
pub(super) struct Version1;

impl<'de> Deserialize<'de> for Version1 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Version1, D::Error> {
        match Number::deserialize(deserializer)?.0 {
            1 => Ok(Version1),
            other => {
                let message = format!("this is version {other}; only version 1 can be read");
                Err(de::Error::custom(message))
            }
        }
    }
}
