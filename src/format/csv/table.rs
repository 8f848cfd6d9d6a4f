//! The rows of a table, as spans of its text.
//!
//! Most tables have no quotes, so that every comma separates two fields and every line is a row:
//! one walk over the bytes finds them, and nothing is copied. With a quote anywhere in it, a table
//! is read, and written again, by the `csv` crate. Both cut a table in the same rows and fields.

use std::io::{self, BufWriter, Write};
use std::ops::Range;

use crate::Result;
use crate::format::json::document_error;

/// One row, cut in fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'r> {
    text: &'r str,
    fields: &'r [Range<usize>],
    /// Where it starts in the table.
    pub start: usize,
}

impl<'r> Record<'r> {
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field as it stands there.
    pub fn get(&self, column: usize) -> Option<&'r str> {
        self.fields.get(column).map(|of| &self.text[of.clone()])
    }

    pub fn iter(self) -> impl Iterator<Item = &'r str> {
        self.fields.iter().map(move |of| &self.text[of.clone()])
    }
}

/// Goes through the rows of a table; the first is the header.
pub(super) struct Records<'t> {
    table: &'t str,
    at: usize,
    fields: Vec<Range<usize>>,
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

    /// The next row. Blank lines are none.
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        self.fields.clear();
        if self.quoted.is_none() {
            return Ok(self.next_line());
        }
        let (reader, record) = self.quoted.as_mut().expect("it is not none");
        let more = reader.read_record(record);
        if !more.map_err(|e| document_error(e.to_string()))? {
            return Ok(None);
        }
        let start = record.position().map_or(0, |at| at.byte() as usize);
        let start = start + blank(&self.table.as_bytes()[start..]);
        let ranges = (0..record.len()).filter_map(|i| record.range(i));
        self.fields.extend(ranges);
        Ok(Some(Record {
            text: record.as_slice(),
            fields: &self.fields,
            start,
        }))
    }

    fn next_line(&mut self) -> Option<Record<'_>> {
        let bytes = self.table.as_bytes();
        let start = self.at + blank(&bytes[self.at..]);
        if start == bytes.len() {
            return None;
        }
        let (mut from, mut at) = (start, start);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b',' => {
                    self.fields.push(from..at);
                    from = at + 1;
                }
                b'\n' | b'\r' => break,
                _ => (),
            }
            at += 1;
        }
        self.fields.push(from..at);
        self.at = at;
        Some(Record {
            text: self.table,
            fields: &self.fields,
            start,
        })
    }
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
    let mut records = Records::of(table);
    let mut sink = if records.quoted.is_some() {
        let end = if crlf {
            csv::Terminator::CRLF
        } else {
            csv::Terminator::Any(b'\n')
        };
        Sink::Quoted(Box::new(
            csv::WriterBuilder::new().terminator(end).from_writer(out),
        ))
    } else {
        let end = if crlf { "\r\n" } else { "\n" };
        Sink::Plain(BufWriter::with_capacity(1 << 16, out), end)
    };
    let mut digits = Digits::default();
    let mut value = column.is_none().then_some("offset");
    let mut values = values.iter();
    while let Some(record) = records.next().map_err(io::Error::other)? {
        sink.row(record, column, value)?;
        value = values.next().map(|&value| digits.of(value));
    }
    match sink {
        Sink::Plain(mut out, _) => out.flush(),
        Sink::Quoted(mut out) => out.flush(),
    }
}

/// Where rows go.
enum Sink<W: Write> {
    /// Nothing needs quotes; the end of a line.
    Plain(BufWriter<W>, &'static str),
    Quoted(Box<csv::Writer<W>>),
}

impl<W: Write> Sink<W> {
    /// Writes a row with `value` in the place of field `column`, or after the last one.
    fn row(
        &mut self,
        record: Record<'_>,
        column: Option<usize>,
        value: Option<&str>,
    ) -> io::Result<()> {
        match self {
            Sink::Plain(out, end) => {
                let (first, last) = (record.start, record.fields[record.len() - 1].end);
                let row = &record.text[first..last];
                match (value, column.map(|column| &record.fields[column])) {
                    (None, _) => out.write_all(row.as_bytes())?,
                    (Some(value), None) => {
                        out.write_all(row.as_bytes())?;
                        out.write_all(b",")?;
                        out.write_all(value.as_bytes())?;
                    }
                    (Some(value), Some(field)) => {
                        out.write_all(&record.text.as_bytes()[first..field.start])?;
                        out.write_all(value.as_bytes())?;
                        out.write_all(&record.text.as_bytes()[field.end..last])?;
                    }
                }
                out.write_all(end.as_bytes())
            }
            Sink::Quoted(out) => {
                for (i, field) in record.iter().enumerate() {
                    let replaced = value.filter(|_| column == Some(i));
                    out.write_field(replaced.unwrap_or(field))?;
                }
                if column.is_none() {
                    out.write_field(value.unwrap_or(""))?;
                }
                Ok(out.write_record(None::<&[u8]>)?)
            }
        }
    }
}

/// Writes numbers, one at a time.
#[derive(Default)]
struct Digits([u8; 20]);

impl Digits {
    fn of(&mut self, mut number: u64) -> &str {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        std::str::from_utf8(&self.0[at..]).expect("digits are text")
    }
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

    #[test]
    fn digits_are_those_of_the_formatter() {
        for number in [0, 9, 10, 4096, u64::MAX] {
            assert_eq!(Digits::default().of(number), number.to_string());
        }
    }
}
