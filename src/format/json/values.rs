//! The types of values: what is accepted, and what is said of anything else.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use super::{Read, Reader, Token, Value};

/// Text, borrowed from the document where it has no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> Value<'a> for Text<'a> {
    fn read(json: &mut Reader<'a>) -> Read<Text<'a>> {
        match json.token()? {
            Token::Text(text) => Ok(Text(text)),
            other => Err(json.not_of_type(&other, &"text")),
        }
    }
}

/// A value as it is written, to be read later or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw<'a>(pub(super) &'a str);

impl<'a> Raw<'a> {
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

impl<'a> Value<'a> for Raw<'a> {
    fn read(json: &mut Reader<'a>) -> Read<Raw<'a>> {
        json.raw().map(Raw)
    }
}

impl<'a> Value<'a> for bool {
    fn read(json: &mut Reader<'a>) -> Read<bool> {
        match json.token()? {
            Token::Bool(value) => Ok(value),
            other => Err(json.not_of_type(&other, &"a boolean")),
        }
    }
}

/// A whole number of 64 bits, exact; also as decimal text, for producers without such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl<'a> Value<'a> for Number {
    fn read(json: &mut Reader<'a>) -> Read<Number> {
        let wanted = &"a whole number from 0 to 2^64 - 1";
        let token = json.token()?;
        let digits = match &token {
            Token::Number(digits) => digits,
            Token::Text(digits) => &**digits,
            other => return Err(json.not_of_type(other, wanted)),
        };
        let number = match digits.starts_with('+') {
            true => None, // Rust takes a sign, the format does not.
            false => digits.parse().ok(),
        };
        number
            .map(Number)
            .ok_or_else(|| json.not_a_value(&token, wanted))
    }
}

/// A small whole number: a core, an engine, a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Small(pub(crate) u32);

impl<'a> Value<'a> for Small {
    fn read(json: &mut Reader<'a>) -> Read<Small> {
        number(json, &"a whole number from 0 to 2^32 - 1").map(Small)
    }
}

/// Small whole numbers, as the program model takes them.
pub(crate) struct Smalls(pub(crate) Vec<u32>);

impl<'a> Value<'a> for Smalls {
    fn read(json: &mut Reader<'a>) -> Read<Smalls> {
        let all = Vec::<Small>::read(json)?;
        Ok(Smalls(all.into_iter().map(|number| number.0).collect()))
    }
}

/// A whole number that may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signed(pub(crate) i64);

impl<'a> Value<'a> for Signed {
    fn read(json: &mut Reader<'a>) -> Read<Signed> {
        number(json, &"a whole number from -2^63 to 2^63 - 1").map(Signed)
    }
}

fn number<T: std::str::FromStr>(json: &mut Reader<'_>, wanted: &dyn fmt::Display) -> Read<T> {
    let token = json.token()?;
    let Token::Number(number) = token else {
        return Err(json.not_of_type(&token, wanted));
    };
    number.parse().map_err(|_| json.not_a_value(&token, wanted))
}

impl<'a, T: Value<'a>> Value<'a> for Vec<T> {
    fn read(json: &mut Reader<'a>) -> Read<Vec<T>> {
        let mut all = Vec::new();
        json.list(&"a list", &mut |json, _| {
            all.push(T::read(json)?);
            Ok(())
        })?;
        Ok(all)
    }
}

impl<'a, T: Value<'a>> Value<'a> for Box<T> {
    fn read(json: &mut Reader<'a>) -> Read<Box<T>> {
        T::read(json).map(Box::new)
    }
}

impl<'a, A: Value<'a>, B: Value<'a>> Value<'a> for (A, B) {
    fn read(json: &mut Reader<'a>) -> Read<(A, B)> {
        let (mut first, mut second, mut len) = (None, None, 0);
        json.list(&"a tuple of size 2", &mut |json, position| {
            len = position + 1;
            match position {
                0 => first = Some(A::read(json)?),
                1 => second = Some(B::read(json)?),
                _ => drop(json.raw()?),
            }
            Ok(())
        })?;
        match (first, second) {
            (Some(first), Some(second)) if len == 2 => Ok((first, second)),
            _ => Err(json.mistake(format!("invalid length {len}, expected a tuple of size 2"))),
        }
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

impl<'a, T: Words> Value<'a> for Word<T> {
    fn read(json: &mut Reader<'a>) -> Read<Word<T>> {
        let words = || T::ALL.iter().map(|value| value.word());
        let number = one_of(json, &mut words())?;
        match number {
            Ok(number) => Ok(Word(T::ALL[number])),
            Err(token) => {
                let wanted = words().collect::<Vec<_>>().join(", ");
                let wanted = format_args!("one of {wanted}");
                Err(match token {
                    Token::Text(_) => json.not_a_value(&token, &wanted),
                    _ => json.not_of_type(&token, &wanted),
                })
            }
        }
    }
}

/// The position of the next value among these words, or what stands there instead.
fn one_of<'a>(
    json: &mut Reader<'a>,
    mut words: &mut dyn Iterator<Item = &'static str>,
) -> Read<Result<usize, Token<'a>>> {
    let token = json.token()?;
    let Token::Text(text) = &token else {
        return Ok(Err(token));
    };
    let found = Iterator::position(&mut words, |word| word == text);
    Ok(found.ok_or(token))
}

/// A format's own word, which must be the first thing that is right.
pub(crate) trait Format {
    /// The value of the key `format`.
    const WORD: &'static str;
}

/// The value of the key `format`; any other word is refused at once, before later keys are.
pub(crate) struct Tag<F>(PhantomData<F>);

impl<'a, F: Format> Value<'a> for Tag<F> {
    fn read(json: &mut Reader<'a>) -> Read<Tag<F>> {
        let word = Text::read(json)?;
        if *word != *F::WORD {
            return Err(json.mistake(format!("this is {:?}, not {:?}", &*word, F::WORD)));
        }
        Ok(Tag(PhantomData))
    }
}

/// The value of the key `version`; there is only 1 so far.
pub(crate) struct Version1;

impl<'a> Value<'a> for Version1 {
    fn read(json: &mut Reader<'a>) -> Read<Version1> {
        match Small::read(json)?.0 {
            1 => Ok(Version1),
            other => Err(json.mistake(format!(
                "this is version {other}; only version 1 can be read"
            ))),
        }
    }
}
