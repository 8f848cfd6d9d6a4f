//! Buffers in rows: the CSV files of allocation solvers. // F
//!
//! One row per buffer: a name, a life, a size. The columns are those of MiniMalloc in both its
//! dialects; what else stands in a file is kept for the output and does not count.
//!
//! | column | meaning |
//! | --- | --- |
//! | `id`, `buffer` or `buffer_id` | the buffer's name, unique |
//! | `lower` or `begin`, with `upper` | the life `[lower, upper)` |
//! | `start`, with `end` | the life `[start, end]`, the last time included |
//! | `size` | bytes |
//! | `alignment` | the start is a multiple of it; empty: 1 |
//! | `offset` | empty: to be placed; else the address, which is kept |
//! | `gaps` | `l-u` separated by blanks: parts of the life without content, ends as in the life |
//! | `hint` | where the buffer lay before, if it did: a warm start, which is not trusted |
//!
//! Column names are compared without regard to case and to blanks around them; blanks around
//! numbers do not count, those around an id do. Times are any
//! 64-bit integers. Comments (`#`) may stand above the header.
//!
//! Two things that other tools write would change the problem and are refused: times that are
//! vector clocks (`1:2`), and gaps with windows (`l-u@wl:wu`), in which part of the bytes stays in
//! use. A pool's own start (`# pool_offset=`) changes nothing, since offsets count from it: it is kept
//! and noted, and so is a column `kind`.

mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::format::json::{document_error, text};
use crate::labels::Labels;
use crate::raw::RawProblem;
use crate::sorting::CompactSort as _;
use table::{Record, Records};

/// A file of buffers: the problem that it poses, and its text, so that the answer is the same
/// file with one column more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvFile {
    problem: RawProblem,
    notes: Vec<String>,
    /// Without a byte order mark. The names of the rows are parts of it.
    text: Arc<String>,
    /// Where the header starts, after comments and blank lines.
    table: usize,
    offset_column: Option<usize>,
}

impl CsvFile {
    /// Reads a file. Every error is one line that names the line of the file.
    pub fn read(bytes: impl Into<Vec<u8>>) -> Result<CsvFile> {
        CsvFile::of(bytes.into())
    }

    fn of(mut bytes: Vec<u8>) -> Result<CsvFile> {
        let mark = bytes.len() - text(&bytes)?.len();
        bytes.drain(..mark);
        let text = String::from_utf8(bytes).expect("it has just been read as text");
        let text = Arc::new(text);
        let (start, pool) = preamble(&text)?;
        let mut records = Records::of(&text[start..]);
        let header = records.next()?;
        let line = text[..start].lines().count() as u64 + 1;
        let Some(header) = header else {
            return Err(document_error(format!("line {line}: there is no header")));
        };
        let columns = Columns::find(header, line)?;
        let mut rows = Rows::new(&columns, &text, start);
        while let Some(record) = records.next()? {
            let row = Row {
                columns: &columns,
                record,
            };
            if let Err(message) = rows.add(row) {
                let line = line_of(&text, start + record.start);
                return Err(row.place(message, line));
            }
        }
        let mut notes = rows.notes();
        let problem = rows.finish(&text)?;
        if let Some(pool) = pool.filter(|&pool| pool > 0) {
            notes.push(format!(
                "offsets count from the start of the pool, which lies at {pool}"
            ));
        }
        Ok(CsvFile {
            problem,
            notes,
            table: start,
            text,
            offset_column: columns.offset,
        })
    }

    /// The problem; its rows are those of the file, in that order.
    pub fn problem(&self) -> &RawProblem {
        &self.problem
    }

    /// What a person should know: columns that do not count.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the file with the address of each row in the column `offset`, which is filled if the
    /// file has it and appended if not. Fails if `out` does.
    ///
    /// # Panics
    ///
    /// If there is not one offset per row.
    pub fn write(&self, offsets: &[u64], mut out: impl Write) -> io::Result<()> {
        assert_eq!(offsets.len(), self.problem.len(), "one offset per row");
        let (preamble, table) = self.text.split_at(self.table);
        out.write_all(preamble.as_bytes())?;
        table::write(table, self.offset_column, offsets, out)
    }
}

/// The line in which a byte of a text stands.
fn line_of(text: &str, byte: usize) -> u64 {
    let before = &text.as_bytes()[..byte];
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// How long the comments and blank lines above the header are, and where the pool starts, if they
/// say so.
fn preamble(text: &str) -> Result<(usize, Option<u64>)> {
    let (mut start, mut pool) = (0, None);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim();
        let comment = content.strip_prefix('#');
        if comment.is_none() && !content.is_empty() {
            break;
        }
        let said = comment.and_then(|comment| comment.trim().strip_prefix("pool_offset"));
        if let Some(value) = said.and_then(|rest| rest.trim_start().strip_prefix('=')) {
            let value = value.trim();
            let number = value.parse().map_err(|_| {
                let line = i + 1;
                document_error(format!(
                    "line {line}: pool_offset {value:?} is no whole number from 0 to 2^64 - 1"
                ))
            })?;
            pool = Some(number);
        }
        start += line.len();
    }
    Ok((start, pool))
}

/// Which field of a row holds what.
struct Columns {
    count: usize,
    id: usize,
    lower: usize,
    upper: usize,
    inclusive: bool, // `upper` is the last time of the life.
    size: usize,
    alignment: Option<usize>,
    offset: Option<usize>,
    gaps: Option<usize>,
    hint: Option<usize>,
    unused: Vec<String>,
}

impl Columns {
    fn find(header: Record<'_>, line: u64) -> Result<Columns> {
        const KNOWN: [&[&str]; 10] = [
            &["id", "buffer", "buffer_id"],
            &["lower", "begin"],
            &["upper"],
            &["start"],
            &["end"],
            &["size"],
            &["alignment"],
            &["offset"],
            &["gaps"],
            &["hint"],
        ];
        let refuse = |message: String| Err(document_error(format!("line {line}: {message}")));
        if header.iter().all(|name| name.trim().is_empty()) {
            return refuse("there is no header".to_owned());
        }
        let name_of = |column: usize| header.get(column).unwrap_or("");
        let mut found = [None; KNOWN.len()];
        let mut unused = Vec::new();
        for (i, name) in header.iter().enumerate() {
            let name = name.trim().to_ascii_lowercase();
            let Some(k) = KNOWN
                .iter()
                .position(|names| names.contains(&name.as_str()))
            else {
                unused.push(name_of(i).trim().to_owned());
                continue;
            };
            if let Some(first) = found[k].replace(i) {
                let (first, second) = (name_of(first), name_of(i));
                return refuse(format!("columns {first} and {second} say the same thing"));
            }
        }
        let [
            id,
            lower,
            upper,
            start,
            end,
            size,
            alignment,
            offset,
            gaps,
            hint,
        ] = found;
        let all = || header.iter().collect::<Vec<_>>().join(", ");
        let (lower, upper, inclusive) = match (lower, upper, start, end) {
            (Some(lower), Some(upper), None, None) => (lower, upper, false),
            (None, None, Some(start), Some(end)) => (start, end, true),
            (None, None, None, None) => {
                return refuse(format!(
                    "there is neither a column lower (or begin) with upper, nor start with end; \
                     the columns are {}",
                    all()
                ));
            }
            _ => {
                return refuse(format!(
                    "a life needs two columns: lower (or begin) and upper, which is not part of \
                     it, or start and end, which is; the columns are {}",
                    all()
                ));
            }
        };
        let need = |column: Option<usize>, name: &str| {
            let missing = || {
                format!(
                    "line {line}: there is no column {name}; the columns are {}",
                    all()
                )
            };
            column.ok_or_else(|| document_error(missing()))
        };
        Ok(Columns {
            count: header.len(),
            id: need(id, "id (or buffer, or buffer_id)")?,
            lower,
            upper,
            inclusive,
            size: need(size, "size")?,
            alignment,
            offset,
            gaps,
            hint,
            unused,
        })
    }
}

/// One row of the file.
#[derive(Clone, Copy)]
struct Row<'a> {
    columns: &'a Columns,
    record: Record<'a>,
}

impl Row<'_> {
    /// What a column says; every row has as many fields as the header.
    fn field(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or("").trim()
    }

    /// The field of a column that need not be there or filled.
    fn optional(&self, column: Option<usize>) -> Option<&str> {
        column
            .map(|column| self.field(column))
            .filter(|text| !text.is_empty())
    }

    /// Puts the line, and the name of the row, in front of what is wrong with it.
    fn place(&self, message: String, line: u64) -> crate::Error {
        let error = document_error(format!("line {line}: {message}"));
        let id = self.record.get(self.columns.id).unwrap_or("");
        if id.is_empty() {
            error
        } else {
            error.at_location(id)
        }
    }

    fn time(&self, text: &str, column: &str) -> std::result::Result<i64, String> {
        if text.contains(':') {
            return Err(format!(
                "{column} is a vector clock ({text}), which is not supported"
            ));
        }
        text.parse()
            .map_err(|_| format!("{column} {text:?} is no whole number of 64 bits"))
    }

    /// One past the last time, from a column that holds that or the last time itself.
    fn end(&self, end: i64, column: &str) -> std::result::Result<i64, String> {
        if !self.columns.inclusive {
            return Ok(end);
        }
        end.checked_add(1)
            .ok_or_else(|| format!("{column} {end} is the last of all times"))
    }

    /// The life as `[lower, upper)`.
    fn life(&self) -> std::result::Result<(i64, i64), String> {
        let (from, to) = if self.columns.inclusive {
            ("start", "end")
        } else {
            ("lower", "upper")
        };
        let time = |column: usize, name: &str| match self.record.number(column) {
            Some(time) => Ok(time as i64),
            None => self.time(self.field(column), name),
        };
        let first = time(self.columns.lower, from)?;
        let end = self.end(time(self.columns.upper, to)?, to)?;
        if first > end {
            let (lower, upper) = (
                self.field(self.columns.lower),
                self.field(self.columns.upper),
            );
            return Err(format!("{from} {lower} lies after {to} {upper}"));
        }
        Ok((first, end))
    }

    /// The gaps, sorted.
    fn gaps(&self) -> std::result::Result<Vec<(i64, i64)>, String> {
        let mut gaps = Vec::new();
        for gap in self
            .optional(self.columns.gaps)
            .unwrap_or("")
            .split_whitespace()
        {
            if gap.contains('@') {
                return Err(format!("gap {gap} has a window, which is not supported"));
            }
            // The first character may be a sign.
            let dash = gap
                .char_indices()
                .skip(1)
                .find(|&(_, c)| c == '-')
                .map(|(i, _)| i);
            let Some(dash) = dash else {
                return Err(format!("gap {gap:?} is not of the form lower-upper"));
            };
            let (lower, upper) = (&gap[..dash], &gap[dash + 1..]);
            let (first, last) = (self.time(lower, "gap")?, self.time(upper, "gap")?);
            let end = self.end(last, "gap")?;
            if first > end {
                return Err(format!("gap {gap} ends before it starts"));
            }
            gaps.push((first, end));
        }
        gaps.sort_compact();
        Ok(gaps)
    }

    fn number(&self, column: usize, name: &str) -> std::result::Result<u64, String> {
        if let Some(number) = self.record.number(column) {
            return Ok(number);
        }
        let text = self.field(column);
        text.parse()
            .map_err(|_| format!("{name} {text:?} is no whole number from 0 to 2^64 - 1"))
    }

    /// The number in a column that need not be there or filled.
    fn optional_number(
        &self,
        column: Option<usize>,
        name: &str,
    ) -> std::result::Result<Option<u64>, String> {
        let filled = column.filter(|_| self.optional(column).is_some());
        filled.map(|column| self.number(column, name)).transpose()
    }
}

/// 32 bits of a text (Fowler, Noll and Vo, FNV-1a).
fn hash(text: &str) -> u64 {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ hash >> 32) & u64::from(u32::MAX)
}

/// The problem as it grows.
struct Rows<'c> {
    columns: &'c Columns,
    text: &'c str,
    /// Where the table starts in the text.
    table: usize,
    problem: RawProblem,
    /// Where the names start in the text, as long as they all stand there as they are.
    names: Option<Vec<u32>>,
    /// Where the last name lies in the text, as long as they ascend: shorter ones first.
    last: Option<Range<usize>>,
}

impl<'c> Rows<'c> {
    fn new(columns: &'c Columns, text: &'c str, table: usize) -> Rows<'c> {
        // Lists that grow are copied again and again; room that nothing touches takes no memory.
        let rows = about_rows(&text.as_bytes()[table..]);
        let mut problem = RawProblem {
            starts: Vec::with_capacity(rows + 1),
            segments: Vec::with_capacity(rows),
            sizes: Vec::with_capacity(rows),
            ..RawProblem::default()
        };
        problem.starts.push(0);
        let is_short = u32::try_from(text.len()).is_ok();
        Rows {
            columns,
            text,
            table,
            problem,
            names: is_short.then(|| Vec::with_capacity(rows)),
            last: Some(0..0),
        }
    }

    fn add(&mut self, row: Row<'_>) -> std::result::Result<(), String> {
        let (columns, problem) = (self.columns, &mut self.problem);
        if row.record.len() != columns.count {
            let (got, want) = (row.record.len(), columns.count);
            return Err(format!("there are {got} fields, but {want} columns"));
        }
        let id = row.record.get(columns.id).unwrap_or("");
        if id.is_empty() {
            return Err("the id is empty".to_owned());
        }
        let (lower, upper) = row.life()?;
        let size = row.number(columns.size, "size")?;
        if columns.alignment.is_some() {
            let given = row.optional_number(columns.alignment, "alignment")?;
            let alignment = given.unwrap_or(1);
            if alignment == 0 {
                return Err("the alignment is 0".to_owned());
            }
            problem.alignments.push(alignment);
        }
        if columns.offset.is_some() {
            let given = row.optional_number(columns.offset, "offset")?;
            problem.pins.push(given);
        }
        if columns.hint.is_some() {
            let given = row.optional_number(columns.hint, "hint")?;
            problem.hints.push(given);
        }
        if columns.gaps.is_some() {
            let gaps = row.gaps()?;
            problem.segments.extend(without(lower, upper, &gaps));
        } else if lower < upper {
            problem.segments.push((lower, upper));
        }
        let segments = u32::try_from(problem.segments.len());
        problem
            .starts
            .push(segments.map_err(|_| "there are more than 2^32 lives".to_owned())?);
        problem.sizes.push(size);
        let place = row.record.place(columns.id);
        let place = place.map(|at| self.table + at.start..self.table + at.end);
        match (&mut self.names, &place) {
            (Some(names), Some(at)) => names.push(at.start as u32),
            (names, _) => {
                *names = None;
                problem.labels.push(id);
            }
        }
        // Numbers that ascend, as most tools write them, are all different.
        self.last = match (&self.last, place) {
            (Some(last), Some(at))
                if last.len() < at.len()
                    || last.len() == at.len() && self.text[last.clone()] < *id =>
            {
                Some(at)
            }
            _ => None,
        };
        Ok(())
    }

    /// The problem, if no two names are the same.
    fn finish(mut self, text: &Arc<String>) -> Result<RawProblem> {
        if let Some(names) = self.names.take() {
            self.problem.labels = Labels::fields(Arc::clone(text), names);
        }
        if self.last.is_none() {
            self.refuse_duplicates()?;
        }
        Ok(self.problem)
    }

    /// Names are compared where their hashes are equal, so that a million rows need no table.
    fn refuse_duplicates(&self) -> Result<()> {
        let (text, table) = (self.text, self.table);
        let labels = &self.problem.labels;
        let mut keys: Vec<u64> = (0..)
            .zip(labels.iter())
            .map(|(row, label)| hash(label) << 32 | row)
            .collect();
        keys.sort_unstable();
        let mut second: Option<(u32, u32)> = None;
        for same in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            if same.len() == 1 {
                continue;
            }
            let mut rows: Vec<u32> = same.iter().map(|&key| key as u32).collect();
            rows.sort_compact_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
            for pair in rows.windows(2) {
                let again = labels[pair[0] as usize] == labels[pair[1] as usize];
                if again && second.is_none_or(|(_, row)| pair[1] < row) {
                    second = Some((pair[0], pair[1]));
                }
            }
        }
        let Some((first, second)) = second else {
            return Ok(());
        };
        let mut lines = [0; 2];
        let mut records = Records::of(&text[table..]);
        let mut row = 0;
        records.next()?;
        while let Some(record) = records.next()? {
            for (line, wanted) in lines.iter_mut().zip([first, second]) {
                if row == wanted {
                    *line = line_of(text, table + record.start);
                }
            }
            row += 1;
        }
        let [before, line] = lines;
        let message = format!("line {line}: the id stands on line {before} already");
        Err(document_error(message).at_location(&labels[second as usize]))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.columns.unused.is_empty() {
            let names = self.columns.unused.join(", ");
            notes.push(format!(
                "these columns are kept but mean nothing here: {names}"
            ));
        }
        notes
    }
}

/// Bytes of a table from whose lines the others are guessed.
const SAMPLE: usize = 1 << 16;

/// About as many as there are rows: a few more than that if all are as long as the first ones.
fn about_rows(table: &[u8]) -> usize {
    let sample = &table[..table.len().min(SAMPLE)];
    let lines = sample.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let rows = table.len() as u64 * lines as u64 / (sample.len() as u64).max(1);
    rows as usize
}

/// What is left of `[lower, upper)` without the gaps, which are sorted.
fn without(lower: i64, upper: i64, gaps: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut left = Vec::with_capacity(gaps.len() + 1);
    let mut at = lower;
    for &(first, end) in gaps {
        if end <= at || first >= end {
            continue;
        }
        if first >= upper {
            break;
        }
        if first > at {
            left.push((at, first));
        }
        at = end;
    }
    if at < upper {
        left.push((at, upper));
    }
    left
}
