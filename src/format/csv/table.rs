//! The rows of a table, as spans of its text.
//!
//! Most tables have no quotes, so that every comma separates two fields and every line is a row:
//! one walk over the bytes finds them, and nothing is copied. With a quote anywhere in it, a table
//! is read, and written again, by the `csv` crate. Both cut a table in the same rows and fields.

use std::io::{self, Write};
use std::ops::Range;

use crate::Result;
use crate::digits::Digits;
use crate::format::json::document_error;

/// A field of a row.
#[derive(Clone, Debug)]
struct Field {
    /// Where it lies.
    at: Range<usize>,
    /// What it says if that is a few digits and nothing else.
    number: Option<u64>,
}

impl Field {
    /// A field of digits that make a number, and so many other characters.
    #[inline]
    fn new(at: Range<usize>, number: u64, others: usize) -> Field {
        let is_number = others == 0 && (1..=DIGITS).contains(&at.len());
        let number = is_number.then_some(number);
        Field { at, number }
    }
}

/// Digits that are a number of 63 bits, whatever they are.
const DIGITS: usize = 18;

/// One row, cut in fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    text: &'r str,
    fields: &'r [Field],
    /// Where it starts in the table.
    pub start: usize,
    /// `text` is the whole table.
    is_table: bool,
}

impl<'r> Record<'r> {
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field as it stands there.
    pub fn get(&self, column: usize) -> Option<&'r str> {
        self.fields.get(column).map(|of| &self.text[of.at.clone()])
    }

    /// What a field says if that is a number of at most 63 bits, written in digits alone, and has
    /// been read already.
    pub fn number(&self, column: usize) -> Option<u64> {
        self.fields.get(column)?.number
    }

    /// Where a field lies in the table, if it stands there as it is.
    pub fn place(&self, column: usize) -> Option<Range<usize>> {
        let field = self.fields.get(column).filter(|_| self.is_table);
        field.map(|of| of.at.clone())
    }

    pub fn iter(self) -> impl Iterator<Item = &'r str> {
        self.fields.iter().map(move |of| &self.text[of.at.clone()])
    }
}

/// Goes through the rows of a table; the first is the header.
pub(super) struct Records<'t> {
    table: &'t str,
    at: usize,
    fields: Vec<Field>,
    /// For a table with quotes.
    quoted: Option<(csv::Reader<&'t [u8]>, csv::StringRecord)>,
}

impl<'t> Records<'t> {
    pub fn of(table: &'t str) -> Records<'t> {
        let quoted = table.as_bytes().contains(&b'"').then(|| {
            let mut builder = csv::ReaderBuilder::new();
            // Uneven rows are reported with their line by whoever reads them.
            builder.has_headers(false).flexible(true);
            let reader = builder.from_reader(table.as_bytes());
            (reader, csv::StringRecord::new())
        });
        Records {
            table,
            at: 0,
            fields: Vec::new(),
            quoted,
        }
    }

    /// Whether the table has no quotes, so that its fields are parts of it.
    pub fn are_plain(&self) -> bool {
        self.quoted.is_none()
    }

    /// The next row. Blank lines are none.
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        if self.quoted.is_none() {
            return Ok(self.next_line());
        }
        self.fields.clear();
        let (reader, record) = self.quoted.as_mut().expect("it is not none");
        let more = reader.read_record(record);
        if !more.map_err(|e| document_error(e.to_string()))? {
            return Ok(None);
        }
        let start = record.position().map_or(0, |at| at.byte() as usize);
        let start = start + blank(&self.table.as_bytes()[start..]);
        let ranges = (0..record.len()).filter_map(|i| record.range(i));
        self.fields
            .extend(ranges.map(|at| Field { at, number: None }));
        Ok(Some(Record {
            text: record.as_slice(),
            fields: &self.fields,
            start,
            is_table: false,
        }))
    }

    /// The next row, not cut; empty after the last.
    fn skip_line(&mut self) -> &'t [u8] {
        let bytes = self.table.as_bytes();
        let start = self.at + blank(&bytes[self.at..]);
        let row = line(bytes, start);
        self.at = start + row.len();
        row
    }

    fn next_line(&mut self) -> Option<Record<'_>> {
        let bytes = self.table.as_bytes();
        let start = self.at + blank(&bytes[self.at..]);
        if start == bytes.len() {
            return None;
        }
        self.fields.clear();
        let rest = &bytes[start..];
        let mut at = 0;
        loop {
            // Most fields are numbers, which are read on the way to their ends.
            let (from, mut number) = (at, 0_u64);
            while at < rest.len() && rest[at].is_ascii_digit() {
                let digit = rest[at] - b'0';
                number = number.wrapping_mul(10).wrapping_add(digit.into());
                at += 1;
            }
            let digits = at - from;
            while at < rest.len() && !matches!(rest[at], b',' | b'\n' | b'\r') {
                at += 1;
            }
            let others = at - from - digits;
            let field = start + from..start + at;
            self.fields.push(Field::new(field, number, others));
            if rest.get(at) != Some(&b',') {
                break;
            }
            at += 1;
        }
        self.at = start + at;
        Some(Record {
            text: self.table,
            fields: &self.fields,
            start,
            is_table: true,
        })
    }
}

/// The line that starts there, without its end.
fn line(bytes: &[u8], start: usize) -> &[u8] {
    // Eight bytes at a time: a byte is zero where its high bit is lost below but was not set.
    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = LOW << 7;
    let has = |word: u64, byte: u8| {
        let word = word ^ (LOW * u64::from(byte));
        word.wrapping_sub(LOW) & !word & HIGH != 0
    };
    let rest = &bytes[start..];
    let mut end = 0;
    for word in rest.as_chunks::<8>().0 {
        let word = u64::from_ne_bytes(*word);
        if has(word, b'\n') || has(word, b'\r') {
            break;
        }
        end += 8;
    }
    while end < rest.len() && !matches!(rest[end], b'\n' | b'\r') {
        end += 1;
    }
    &rest[..end]
}

/// How many bytes of line ends stand in front.
fn blank(bytes: &[u8]) -> usize {
    let end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    bytes.iter().take_while(end).count()
}

/// Writes a table again with the values, one per row, in the place of field `column`, or after the
/// last one under the name `offset`.
pub(super) fn write(
    table: &str,
    column: Option<usize>,
    values: &[u64],
    out: impl Write,
) -> io::Result<()> {
    let crlf = table.contains("\r\n");
    let records = Records::of(table);
    if records.are_plain() {
        let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
        write_plain(records, column, values, end, out)
    } else {
        let end = if crlf {
            csv::Terminator::CRLF
        } else {
            csv::Terminator::Any(b'\n')
        };
        let mut builder = csv::WriterBuilder::new();
        write_quoted(
            records,
            column,
            values,
            builder.terminator(end).from_writer(out),
        )
    }
}

/// Bytes that are handed on together.
const TOGETHER: usize = 1 << 16;

/// Writes a table in which nothing needs quotes: what is not replaced is copied.
fn write_plain(
    mut records: Records<'_>,
    column: Option<usize>,
    values: &[u64],
    end: &[u8],
    mut out: impl Write,
) -> io::Result<()> {
    let table = records.table.as_bytes();
    let mut rows: Vec<u8> = Vec::with_capacity(TOGETHER + TOGETHER / 4);
    let mut digits = Digits::default();
    let mut value: Option<&[u8]> = column.is_none().then_some(b"offset");
    let mut values = values.iter();
    loop {
        match column {
            None => {
                let row = records.skip_line();
                if row.is_empty() {
                    break;
                }
                rows.extend_from_slice(row);
                rows.push(b',');
                rows.extend_from_slice(value.unwrap_or(b""));
            }
            Some(column) => {
                let Some(record) = records.next_line() else {
                    break;
                };
                let (first, last) = (record.start, record.fields[record.len() - 1].at.end);
                match value {
                    None => rows.extend_from_slice(&table[first..last]), // The header.
                    Some(value) => {
                        let field = &record.fields[column].at;
                        rows.extend_from_slice(&table[first..field.start]);
                        rows.extend_from_slice(value);
                        rows.extend_from_slice(&table[field.end..last]);
                    }
                }
            }
        }
        rows.extend_from_slice(end);
        value = values.next().map(|&value| digits.of(value));
        if rows.len() >= TOGETHER {
            out.write_all(&rows)?;
            rows.clear();
        }
    }
    out.write_all(&rows)?;
    out.flush()
}

/// Writes a table with quotes around what needs them.
fn write_quoted(
    mut records: Records<'_>,
    column: Option<usize>,
    values: &[u64],
    mut out: csv::Writer<impl Write>,
) -> io::Result<()> {
    let mut digits = Digits::default();
    let mut value: Option<&[u8]> = column.is_none().then_some(b"offset");
    let mut values = values.iter();
    while let Some(record) = records.next().map_err(io::Error::other)? {
        for (i, field) in record.iter().enumerate() {
            let replaced = value.filter(|_| column == Some(i));
            out.write_field(replaced.unwrap_or(field.as_bytes()))?;
        }
        if column.is_none() {
            out.write_field(value.unwrap_or(b""))?;
        }
        out.write_record(None::<&[u8]>)?;
        value = values.next().map(|&value| digits.of(value));
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a table, as the `csv` crate cuts them.
    fn by_the_crate(table: &str) -> Vec<Vec<String>> {
        let mut builder = csv::ReaderBuilder::new();
        let mut reader = builder
            .has_headers(false)
            .flexible(true)
            .from_reader(table.as_bytes());
        let record = |record: csv::Result<csv::StringRecord>| {
            let record = record.expect("a string is text");
            record.iter().map(str::to_owned).collect()
        };
        reader.records().map(record).collect()
    }

    #[test]
    fn rows_and_starts_are_those_of_the_csv_crate() {
        arbtest::arbtest(|u| {
            let mut table = String::new();
            for _ in 0..u.int_in_range(0..=30)? {
                table.push_str(u.choose(&[
                    "a", "17", ",", ",", "\n", "\r\n", "\r", " ", "é", "\"b,\"", "\"",
                ])?);
            }
            let mut records = Records::of(&table);
            let mut got = Vec::new();
            while let Some(record) = records.next().expect("a string is text") {
                got.push(record.iter().map(str::to_owned).collect::<Vec<_>>());
                let first = table[record.start..].chars().next();
                assert!(first.is_some_and(|c| c != '\n' && c != '\r'), "{table:?}");
            }
            assert_eq!(got, by_the_crate(&table), "{table:?}");
            Ok(())
        });
    }

    #[test]
    fn without_quotes_a_table_is_written_as_the_csv_crate_would() {
        arbtest::arbtest(|u| {
            let columns = u.int_in_range(2..=4)?;
            let end = *u.choose(&["\n", "\r\n"])?;
            let rows = u.int_in_range(1..=5)?;
            let mut table = String::new();
            for _ in 0..rows {
                for column in 0..columns {
                    table.push_str(if column > 0 { "," } else { "" });
                    table.push_str(u.choose(&["", " ", "x", "-4", "é y"])?);
                }
                table.push_str(end);
            }
            if by_the_crate(&table).iter().any(|row| row.len() != columns) {
                return Ok(());
            }
            let column = u.arbitrary::<bool>()?.then_some(columns - 1);
            let values: Vec<u64> = (1..rows).map(|row| row as u64 * 977).collect();
            let mut got = Vec::new();
            write(&table, column, &values, &mut got).expect("a Vec takes everything");
            // A quote in a column more, which is then taken away again.
            let quoted = table.replacen(end, &format!(",\"q\"{end}"), rows);
            let mut want = Vec::new();
            write(&quoted, column, &values, &mut want).expect("a Vec takes everything");
            let want = String::from_utf8(want).expect("CSV is text");
            let got = String::from_utf8(got).expect("CSV is text");
            assert_eq!(got, want.replace(",q", ""), "{table:?}");
            Ok(())
        });
    }
}
