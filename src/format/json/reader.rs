//! Values read off a text of JSON, one after the other, as RFC 8259 has them and nothing more.
//!
//! The reader knows the grammar, a [`Value`] what it wants; no tree of the document exists. What
//! is wrong is told with the path of the value, which is put together on the way out, so that it
//! costs nothing while all is well.
//!
//! Whatever does not depend on the type of a value is compiled once: lists and objects hand their
//! elements to a `dyn FnMut`.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::object::{Extensions, Foreign};
use super::values::{Raw, Text};

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// The path of the value from the one that was read, as in `functions[2].name`.
    pub(crate) path: String,
    pub(crate) message: String,
    /// How many bytes of the text were read.
    pub(crate) at: usize,
}

impl Mistake {
    fn in_element(mut self: Box<Self>, position: usize) -> Box<Mistake> {
        let dot = if matches!(self.path.bytes().next(), None | Some(b'[')) {
            ""
        } else {
            "."
        };
        self.path = format!("[{position}]{dot}{}", self.path);
        self
    }

    fn in_member(mut self: Box<Self>, key: &str) -> Box<Mistake> {
        self.path = join(key, &self.path);
        self
    }
}

/// The path `inner` below the path `outer`.
pub(crate) fn join(outer: &str, inner: &str) -> String {
    let dot = !outer.is_empty() && !inner.is_empty() && !inner.starts_with('[');
    format!("{outer}{}{inner}", if dot { "." } else { "" })
}

/// The result of reading; the mistake is boxed, for it is rare.
pub(crate) type Read<T> = Result<T, Box<Mistake>>;

/// What can be read.
pub(crate) trait Value<'a>: Sized {
    /// Reads the value that comes next.
    fn read(json: &mut Reader<'a>) -> Read<Self>;
}

/// A value as far as it is read without knowing what is wanted.
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(&'a str),
    Text(Cow<'a, str>),
    /// The bracket is the next byte.
    List,
    /// The brace is the next byte.
    Object,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Null => f.write_str("null"),
            Token::Bool(value) => write!(f, "boolean `{value}`"),
            Token::Number(number) if number.contains(['.', 'e', 'E']) => {
                write!(f, "floating point `{number}`")
            }
            Token::Number(number) => write!(f, "integer `{number}`"),
            Token::Text(text) => write!(f, "string {text:?}"),
            Token::List => f.write_str("sequence"),
            Token::Object => f.write_str("map"),
        }
    }
}

/// Which keys an object has.
pub(crate) struct Shape {
    /// What it is, for messages: `a memloc`.
    pub(crate) what: &'static str,
    pub(crate) keys: &'static [&'static str],
    pub(crate) foreign: Foreign,
}

/// A text and how far it is read.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0 }
    }

    /// Fails unless nothing follows but white space.
    pub(crate) fn end(mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong_byte("trailing characters")),
        }
    }

    // ---- what is wrong ----

    /// A mistake in what was read last.
    pub(crate) fn mistake(&self, message: impl Into<String>) -> Box<Mistake> {
        Box::new(Mistake {
            path: String::new(),
            message: message.into(),
            at: self.at,
        })
    }

    /// Another type of value than the one that is wanted.
    pub(crate) fn not_of_type(&self, found: &Token<'_>, wanted: &dyn fmt::Display) -> Box<Mistake> {
        let mistake = self.mistake(format!("invalid type: {found}, expected {wanted}"));
        match found {
            Token::List | Token::Object => Box::new(Mistake {
                at: self.at + 1,
                ..*mistake
            }),
            _ => mistake,
        }
    }

    /// A value of the right type that is not one of those that are wanted.
    pub(crate) fn not_a_value(&self, found: &Token<'_>, wanted: &dyn fmt::Display) -> Box<Mistake> {
        self.mistake(format!("invalid value: {found}, expected {wanted}"))
    }

    /// A mistake at the next byte, or that there is none.
    fn wrong_byte(&mut self, message: &str) -> Box<Mistake> {
        match self.next_byte() {
            None => self.mistake(format!("EOF; {message}")),
            Some(_) => {
                self.at += 1;
                self.mistake(message)
            }
        }
    }

    // ---- bytes ----

    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The first byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.next_byte() {
            self.at += 1;
        }
        self.next_byte()
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn skip_digits(&mut self) -> Read<()> {
        let start = self.at;
        while self.next_byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.wrong_byte("a number goes on with a digit"));
        }
        Ok(())
    }

    // ---- values ----

    /// The next value, or its bracket.
    pub(crate) fn token(&mut self) -> Read<Token<'a>> {
        match self.peek() {
            Some(b'"') => Ok(Token::Text(self.string()?)),
            Some(b'[') => Ok(Token::List),
            Some(b'{') => Ok(Token::Object),
            Some(b'-' | b'0'..=b'9') => Ok(Token::Number(self.number()?)),
            _ if self.skip_word("null") => Ok(Token::Null),
            _ if self.skip_word("true") => Ok(Token::Bool(true)),
            _ if self.skip_word("false") => Ok(Token::Bool(false)),
            _ => Err(self.wrong_byte("a value should stand here")),
        }
    }

    /// Reads `null`, if that comes next.
    pub(crate) fn null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.skip_word("null")
    }

    /// A value as text, unread but well-formed.
    pub(crate) fn raw(&mut self) -> Read<&'a str> {
        self.peek();
        let start = self.at;
        let mut open = Vec::new(); // The brackets that wait.
        loop {
            let opened = match self.token()? {
                Token::List => self.opens(b']'),
                Token::Object => self.opens(b'}'),
                _ => None,
            };
            open.extend(opened);
            let mut ended = opened.is_none();
            while ended && let Some(&close) = open.last() {
                ended = !self.goes_on(close)?;
                if ended {
                    open.pop();
                }
            }
            match open.last() {
                None => return Ok(&self.text[start..self.at]),
                Some(b'}') => drop(self.key()?),
                Some(_) => {}
            }
        }
    }

    /// Reads a list element by element.
    pub(crate) fn list(
        &mut self,
        wanted: &dyn fmt::Display,
        each: &mut dyn FnMut(&mut Reader<'a>, usize) -> Read<()>,
    ) -> Read<()> {
        match self.token()? {
            Token::List => {}
            other => return Err(self.not_of_type(&other, wanted)),
        }
        let mut more = self.opens(b']').is_some();
        let mut position = 0;
        while more {
            each(self, position).map_err(|e| e.in_element(position))?;
            position += 1;
            more = self.goes_on(b']')?;
        }
        Ok(())
    }

    /// Reads an object member by member.
    pub(crate) fn object(
        &mut self,
        wanted: &dyn fmt::Display,
        each: &mut dyn FnMut(&mut Reader<'a>, &Text<'a>) -> Read<()>,
    ) -> Read<()> {
        match self.token()? {
            Token::Object => {}
            other => return Err(self.not_of_type(&other, wanted)),
        }
        let mut more = self.opens(b'}').is_some();
        while more {
            let key = Text(self.key()?);
            each(self, &key).map_err(|e| e.in_member(&key))?;
            more = self.goes_on(b'}')?;
        }
        Ok(())
    }

    /// Reads an object of this shape; `each` gets the number of a key and reads its value.
    pub(crate) fn members(
        &mut self,
        shape: &Shape,
        extensions: &mut Extensions<'a>,
        each: &mut dyn FnMut(&mut Reader<'a>, usize) -> Read<()>,
    ) -> Read<()> {
        let mut seen = 0_u64;
        let wanted = format_args!("{}, which is an object", shape.what);
        self.object(&wanted, &mut |json, key| {
            if let Some(number) = shape.keys.iter().position(|known| **known == **key) {
                if seen >> number & 1 != 0 {
                    return Err(json.mistake("the key stands twice"));
                }
                seen |= 1 << number;
                return each(json, number);
            }
            if key.starts_with("x_") && shape.foreign != Foreign::Refused {
                let value = Raw(json.raw()?);
                if shape.foreign == Foreign::Kept {
                    extensions.push((key.clone(), value));
                }
                return Ok(());
            }
            let keys = shape.keys.join(", ");
            Err(json.mistake(format!("unknown key; {} has {keys}", shape.what)))
        })
    }

    /// Steps over an opening bracket; over the closing one, too, if that follows.
    fn opens(&mut self, close: u8) -> Option<u8> {
        self.at += 1;
        if self.peek() == Some(close) {
            self.at += 1;
            return None;
        }
        Some(close)
    }

    /// Steps over the comma, or over the closing bracket.
    fn goes_on(&mut self, close: u8) -> Read<bool> {
        match self.peek() {
            Some(b',') => {}
            Some(byte) if byte == close => {}
            _ => {
                let close = char::from(close);
                return Err(self.wrong_byte(&format!("`,` or `{close}` should stand here")));
            }
        }
        self.at += 1;
        Ok(self.text.as_bytes()[self.at - 1] == b',')
    }

    fn key(&mut self) -> Read<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong_byte("a key in quotes should stand here"));
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.wrong_byte("`:` should stand here"));
        }
        self.at += 1;
        Ok(key)
    }

    fn number(&mut self) -> Read<&'a str> {
        let start = self.at;
        self.skip_word("-");
        if !self.skip_word("0") {
            self.skip_digits()?;
        }
        if self.skip_word(".") {
            self.skip_digits()?;
        }
        if self.skip_word("e") || self.skip_word("E") {
            let _signed = self.skip_word("+") || self.skip_word("-");
            self.skip_digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.at += 1;
        let mut run = self.at;
        self.at += plain(&self.text.as_bytes()[run..]);
        if self.next_byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[run..self.at - 1]));
        }
        let mut unescaped = String::new();
        loop {
            unescaped.push_str(&self.text[run..self.at]);
            match self.next_byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(unescaped));
                }
                Some(b'\\') => {
                    self.at += 1;
                    unescaped.push(self.escape()?);
                }
                _ => {
                    return Err(self
                        .wrong_byte("a string ends with a quote and holds no control character"));
                }
            }
            run = self.at;
            self.at += plain(&self.text.as_bytes()[run..]);
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Read<char> {
        let character = match self.next_byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.wrong_byte("there is no such escape")),
        };
        self.at += 1;
        Ok(character)
    }

    /// What `\u` stands for, with the second half of a pair.
    fn code_point(&mut self) -> Read<char> {
        let mut units = [self.four_digits()?, 0];
        let mut count = 1;
        if (0xd800..0xdc00).contains(&units[0]) && self.skip_word("\\u") {
            units[1] = self.four_digits()?;
            count = 2;
        }
        let mut decoded = char::decode_utf16(units.into_iter().take(count));
        match (decoded.next(), decoded.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.mistake("half of a surrogate pair")),
        }
    }

    fn four_digits(&mut self) -> Read<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let number = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let Some(number) = number else {
            return Err(self.wrong_byte("`\\u` has four hexadecimal digits"));
        };
        self.at += 4;
        Ok(number)
    }
}

/// How many bytes come before a quote, a backslash or a control character; eight at a time.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    // The top bit of each byte that is zero; above the first such byte it may be wrong.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let controls = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let special = controls
            | zeros(word ^ (ONES * u64::from(b'"')))
            | zeros(word ^ (ONES * u64::from(b'\\')));
        if special != 0 {
            return 8 * i + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |&b: &u8| b < 0x20 || b == b'"' || b == b'\\';
    8 * words.len() + rest.iter().position(special).unwrap_or(rest.len())
}

/// A text in quotes, with the escapes that JSON asks for.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut rest = text;
    loop {
        let run = plain(rest.as_bytes());
        quoted.push_str(&rest[..run]);
        let Some(&byte) = rest.as_bytes().get(run) else {
            break;
        };
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            b'\t' => quoted.push_str("\\t"),
            8 => quoted.push_str("\\b"),
            12 => quoted.push_str("\\f"),
            control => {
                let _infallible = write!(quoted, "\\u{control:04x}");
            }
        }
        rest = &rest[run + 1..];
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `serde_json` makes of a text, written by it.
    fn oracle(text: &str) -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(value.to_string())
    }

    #[test]
    fn what_is_json_is_what_serde_json_takes() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "1", "0", "-", "-3", "2.5", "1e3",
            ".", "e", "null", "true", "false", "nul", " ", "\n", "\"", "\\", "\\u0041", "é", "\t",
        ];
        let mut right = 0;
        crate::testing::for_each_seed(0..3000, |u| {
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=12)? {
                // Now and then a whole value, so that some texts are right.
                text.push_str(match u.int_in_range(0..=9)? {
                    0 => "[1,{\"a\":[],\"b\":{}}]",
                    1 => "{\"k\":\"v\"}",
                    _ => u.choose(&pieces)?,
                });
            }
            let mut json = Reader::new(&text);
            let got = json.raw().map(str::to_owned);
            let got = got.and_then(|raw| json.end().map(|()| raw));
            let want: Result<&serde_json::value::RawValue, _> = serde_json::from_str(&text);
            assert_eq!(got.is_ok(), want.is_ok(), "{text:?}: {got:?}");
            if let (Ok(got), Ok(want)) = (got, want) {
                right += 1;
                assert_eq!(got, want.get());
            }
            Ok(())
        });
        assert!(right > 0);
    }

    #[test]
    fn strings_come_back_and_are_those_of_serde_json() {
        let pieces = [
            "a",
            "\"",
            "\\",
            "/",
            "\n",
            "\u{1}",
            "\u{1f}",
            "\u{7f}",
            "é",
            "𝄞",
            "\u{2028}",
            "longer than eight",
        ];
        arbtest::arbtest(|u| {
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=9)? {
                text.push_str(u.choose(&pieces)?);
            }
            let written = quoted(&text);
            assert_eq!(Some(written.clone()), oracle(&written));
            let mut json = Reader::new(&written);
            assert_eq!(json.string().unwrap(), text);
            json.end().unwrap();
            Ok(())
        });
        for (text, want) in [
            (r#""\u00e9\ud834\udd1e\/\b\f""#, Some("é𝄞/\u{8}\u{c}")),
            (r#""\ud834""#, None),
            (r#""\ud834\u0041""#, None),
            (r#""\udd1e""#, None),
            (r#""\u+0e9""#, None),
            (r#""\u00e""#, None),
            (r#""\x""#, None),
            ("\"\n\"", None),
            ("\"a", None),
        ] {
            let got = Reader::new(text).string();
            assert_eq!(got.ok().as_deref(), want, "{text}");
            assert_eq!(oracle(text).is_some(), want.is_some(), "{text}");
        }
    }
}
