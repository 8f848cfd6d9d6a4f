//! The types of values: what is accepted, and what is said of anything else.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Text, borrowed from the document where it has no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

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
pub(crate) struct Number(pub(crate) u64);

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
pub(crate) struct Small(pub(crate) u32);

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
pub(crate) struct Signed(pub(crate) i64);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signed, D::Error> {
        i64::deserialize(deserializer).map(Signed)
    }
}

/// A closed set of words: the enums of the model.
pub(crate) trait Words: Copy + 'static {
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
pub(crate) use words;

/// One word of a closed set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word<T>(pub(crate) T);

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

/// A format's own word, which must be the first thing that is right.
pub(crate) trait Format {
    /// The value of the key `format`.
    const WORD: &'static str;
}

/// The value of the key `format`; any other word is refused at once, before later keys are.
pub(crate) struct Tag<F>(PhantomData<F>);

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
pub(crate) struct Version1;

impl<'de> Deserialize<'de> for Version1 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Version1, D::Error> {
        match Small::deserialize(deserializer)?.0 {
            1 => Ok(Version1),
            other => {
                let message = format!("this is version {other}; only version 1 can be read");
                Err(de::Error::custom(message))
            }
        }
    }
}
