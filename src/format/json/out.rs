//! Writing JSON for people and for `diff`: one record per line, no tree in memory.

use std::io::{self, Write};

use super::Reader;
use super::reader::quoted;

/// Writes values one after the other and puts the commas between them.
pub(crate) struct JsonOut<W: Write> {
    out: io::BufWriter<W>,
    first: bool, // Nothing stands in the innermost bracket yet, or a key waits for its value.
    lines: usize, // How many open lists have one element per line.
}

impl<W: Write> JsonOut<W> {
    pub(crate) fn new(out: W) -> JsonOut<W> {
        JsonOut {
            out: io::BufWriter::new(out),
            first: true,
            lines: 0,
        }
    }

    /// Ends the document with a line feed and hands everything on.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    fn separate(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.first, false) {
            Ok(())
        } else {
            self.out.write_all(b",")
        }
    }

    /// Starts a pair; the value comes next.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<()> {
        self.string(key)?;
        self.out.write_all(b":")?;
        self.first = true;
        Ok(())
    }

    /// An object: what `body` writes, pairs by [`JsonOut::key`].
    pub(crate) fn object(
        &mut self,
        body: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.bracket(b"{", body, b"}")
    }

    /// A list in one line: what `body` writes.
    pub(crate) fn list(
        &mut self,
        body: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.bracket(b"[", body, b"]")
    }

    fn bracket(
        &mut self,
        open: &[u8],
        body: impl FnOnce(&mut Self) -> io::Result<()>,
        close: &[u8],
    ) -> io::Result<()> {
        self.separate()?;
        self.out.write_all(open)?;
        self.first = true;
        body(self)?;
        self.first = false;
        self.out.write_all(close)
    }

    /// A list with one element per line.
    pub(crate) fn lines<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.list(|out| {
            out.lines += 1;
            for item in items {
                out.separate()?;
                out.new_line()?;
                out.first = true;
                each(out, item)?;
            }
            out.lines -= 1;
            if out.first { Ok(()) } else { out.new_line() }
        })
    }

    /// One more element of a list of lines, from within the body of another that writes several.
    pub(crate) fn element(
        &mut self,
        body: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.first {
            self.separate()?;
            self.new_line()?;
            self.first = true;
        }
        body(self)
    }

    fn new_line(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")?;
        (0..self.lines).try_for_each(|_| self.out.write_all(b"  "))
    }

    pub(crate) fn string(&mut self, text: &str) -> io::Result<()> {
        self.separate()?;
        self.out.write_all(quoted(text).as_bytes())
    }

    pub(crate) fn number(&mut self, number: impl Into<i128>) -> io::Result<()> {
        self.separate()?;
        write!(self.out, "{}", number.into())
    }

    pub(crate) fn bool(&mut self, value: bool) -> io::Result<()> {
        self.separate()?;
        self.out.write_all(if value { b"true" } else { b"false" })
    }

    pub(crate) fn null(&mut self) -> io::Result<()> {
        self.separate()?;
        self.out.write_all(b"null")
    }

    /// A value that is JSON already; refused if it is not.
    pub(crate) fn json(&mut self, json: &str) -> io::Result<()> {
        let mut reader = Reader::new(json);
        let value = reader.raw();
        let value = value.and_then(|value| reader.end().map(|()| value));
        let value = value.map_err(|mistake| io::Error::other(mistake.message))?;
        self.separate()?;
        self.out.write_all(value.as_bytes())
    }

    // ---- pairs ----

    pub(crate) fn string_pair(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.key(key)?;
        self.string(text)
    }

    pub(crate) fn number_pair(&mut self, key: &str, number: impl Into<i128>) -> io::Result<()> {
        self.key(key)?;
        self.number(number)
    }

    pub(crate) fn bool_pair(&mut self, key: &str, value: bool) -> io::Result<()> {
        self.key(key)?;
        self.bool(value)
    }

    /// `null` for nothing.
    pub(crate) fn number_or_null(
        &mut self,
        key: &str,
        number: Option<impl Into<i128>>,
    ) -> io::Result<()> {
        self.key(key)?;
        match number {
            Some(number) => self.number(number),
            None => self.null(),
        }
    }
}
