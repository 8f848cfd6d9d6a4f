//! The lines of XLA's text dumps, and nothing of what they mean.
//!
//! Three sections, each known by its first line, in any order and in one text or in several that were
//! put together; other lines between them do not count.
//!
//! ```text
//! BufferAssignment:                          HloLiveRange (max 62):       Used values:
//! allocation 24: size 368840, <kind>:          InstructionSequence:       <120 copy.12 @0>
//!  value: <120 copy.12 @0>                       0:ws_0_.1                 positions:
//!     (size=4,offset=368640): s32[]            BufferLiveRange:             copy.12
//!                                                copy.12{}:29-56            tuple.6 {0}
//!                                                                          uses:
//!                                                                           wrapped_add, operand 0
//! ```
//!
//! A value is a name and a place in a tuple, `while.6{0}`; a plain one is `copy.12` in some sections
//! and `copy.12{}` in others, and always the latter here.

use std::borrow::Cow;
use std::fmt;

use crate::Result;
use crate::format::json::{document_error, text as text_of};

/// A line of one of the texts; the first text has no name of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    pub(super) file: &'t str,
    pub(super) number: u64,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}: ", self.file)?;
        }
        write!(f, "line {}", self.number)
    }
}

/// What the sections say.
#[derive(Debug, Default)]
pub(super) struct Dump<'t> {
    pub(super) allocations: Vec<Allocation>,
    pub(super) values: Vec<Value<'t>>,
    /// Names of instructions, in the order in which they run; bodies of loops stand before them.
    pub(super) sequence: Vec<&'t str>,
    /// One past the last time, as the section's first line says.
    pub(super) end: Option<u64>,
    pub(super) ranges: Vec<Range<'t>>,
    pub(super) used: Vec<Used<'t>>,
}

/// One allocation: bytes that lie together.
#[derive(Debug)]
pub(super) struct Allocation {
    pub(super) number: u64,
    pub(super) size: u64,
    pub(super) kind: Kind,
    /// The memory space; 0 is the device's main memory.
    pub(super) color: u64,
}

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The caller's; it may be given back as an output.
    Parameter,
    Constant,
    /// Handed back to the caller.
    Output,
    /// Of a computation that is called once per element; it has no time.
    ThreadLocal,
    /// The heap: many values, each at an offset.
    Temporary,
}

/// A value in an allocation.
#[derive(Debug)]
pub(super) struct Value<'t> {
    pub(super) line: Line<'t>,
    pub(super) name: Cow<'t, str>,
    /// Where several values meet: in a loop, or after branches.
    pub(super) phi: bool,
    /// A position in `allocations`.
    pub(super) allocation: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// When a value's bytes are taken.
#[derive(Debug)]
pub(super) struct Range<'t> {
    pub(super) line: Line<'t>,
    pub(super) name: Cow<'t, str>,
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Where a value is, and who reads it.
#[derive(Debug)]
pub(super) struct Used<'t> {
    pub(super) name: Cow<'t, str>,
    /// Each with its place in a tuple.
    pub(super) positions: Vec<Cow<'t, str>>,
    /// Names of instructions.
    pub(super) uses: Vec<&'t str>,
}

/// The section that a line stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Assignment,
    Sequence,
    Ranges,
    Used,
    Positions,
    Uses,
}

/// The first lines of the sections.
const ASSIGNMENT: &str = "BufferAssignment:";
const LIVE_RANGE: &str = "HloLiveRange (max ";
const USED: &str = "Used values:";

/// What may stand above the last of them.
const TOTAL: &str = "Total bytes used: ";

/// Whether a text is one of XLA's: its first line that says anything is the first of a section, or
/// stands above one.
pub(super) fn is_dump(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let starts = [LIVE_RANGE, TOTAL];
    first.is_some_and(|line| {
        line == ASSIGNMENT || line == USED || starts.iter().any(|start| line.starts_with(start))
    })
}

/// Whether a line of a text is the first of the section of live ranges.
pub(super) fn has_live_ranges(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(LIVE_RANGE))
}

impl<'t> Dump<'t> {
    /// Reads every section of texts with names. An error is one line that names the line.
    pub(super) fn read(texts: &[(&'t str, &'t [u8])]) -> Result<Dump<'t>> {
        let mut dump = Dump::default();
        for &(file, bytes) in texts {
            let mut section = Section::None;
            for (number, text) in (1..).zip(text_of(bytes)?.lines()) {
                let line = Line { file, number };
                section = dump.line(section, text, line).map_err(|what| {
                    let shown: String = text.trim().chars().take(60).collect();
                    document_error(format!("{line}: {what}: {shown:?}"))
                })?;
            }
        }
        Ok(dump)
    }

    /// Reads one line, and says in which section the next one stands.
    fn line(
        &mut self,
        section: Section,
        line: &'t str,
        number: Line<'t>,
    ) -> std::result::Result<Section, &'static str> {
        if line == ASSIGNMENT {
            return Ok(Section::Assignment);
        }
        if line == USED {
            return Ok(Section::Used);
        }
        if let Some(rest) = line.strip_prefix(LIVE_RANGE) {
            let end = rest.strip_suffix("):").and_then(|end| end.parse().ok());
            self.end = Some(end.ok_or("this is no end of time")?);
            return Ok(Section::None);
        }
        let trimmed = line.trim();
        match trimmed {
            "InstructionSequence:" => return Ok(Section::Sequence),
            "BufferLiveRange:" => return Ok(Section::Ranges),
            _ if trimmed.starts_with("Live ranges at ") => return Ok(Section::None),
            "" => {
                return Ok(
                    if matches!(section, Section::Used | Section::Positions | Section::Uses) {
                        Section::Used
                    } else {
                        Section::None
                    },
                );
            }
            _ => {}
        }
        match section {
            Section::None => {}
            Section::Assignment if line.starts_with("allocation ") => {
                self.allocations
                    .push(allocation(trimmed).ok_or("this is no allocation")?);
            }
            Section::Assignment => {
                let allocation = self.allocations.len().checked_sub(1);
                let allocation = allocation.ok_or("this stands before any allocation")?;
                let value = value(trimmed, number, allocation);
                self.values
                    .push(value.ok_or("this is no value of an allocation")?);
            }
            Section::Sequence => {
                let next = self.sequence.len() as u64;
                let name = trimmed
                    .split_once(':')
                    .filter(|(at, _)| at.parse() == Ok(next));
                let (_, name) = name.ok_or("this is not the next instruction")?;
                self.sequence.push(name);
            }
            Section::Ranges => {
                self.ranges
                    .push(range(trimmed, number).ok_or("this is no live range")?);
            }
            Section::Used | Section::Positions | Section::Uses => {
                return self.used(section, line);
            }
        }
        Ok(section)
    }

    fn used(
        &mut self,
        section: Section,
        line: &'t str,
    ) -> std::result::Result<Section, &'static str> {
        let trimmed = line.trim();
        if line.starts_with('<') {
            let (name, _) = value_name(trimmed).ok_or("this is no value")?;
            self.used.push(Used {
                name,
                positions: Vec::new(),
                uses: Vec::new(),
            });
            return Ok(Section::Used);
        }
        match trimmed {
            "positions:" => return Ok(Section::Positions),
            "uses:" => return Ok(Section::Uses),
            _ if trimmed.starts_with("from instruction:") => return Ok(Section::Used),
            _ => {}
        }
        let Some(used) = self.used.last_mut() else {
            return Err("this stands before any value");
        };
        match section {
            Section::Positions => used.positions.push(indexed(trimmed)),
            Section::Uses if trimmed != "(none)" => {
                let name = trimmed.split_once(", operand ").map(|(name, _)| name);
                used.uses.push(name.ok_or("this is no use of a value")?);
            }
            _ => {}
        }
        Ok(section)
    }
}

/// `allocation 24: size 368840, preallocated-temp:`
fn allocation(line: &str) -> Option<Allocation> {
    let rest = line.strip_prefix("allocation ")?.strip_suffix(':')?;
    let (number, rest) = rest.split_once(": size ")?;
    let (size, said) = rest.split_once(',').unwrap_or((rest, ""));
    // A shape stands between bars, and may say anything.
    let said: String = said.split('|').step_by(2).collect();
    let words = || said.split(',').map(str::trim);
    let has = |word: &str| words().any(|said| said == word);
    let color = words().find_map(|word| word.strip_prefix("color "));
    let kind = if has("thread-local") {
        Kind::ThreadLocal
    } else if words().any(|word| word.starts_with("parameter ")) {
        Kind::Parameter
    } else if has("constant") {
        Kind::Constant
    } else if has("maybe-live-out") {
        Kind::Output
    } else if has("preallocated-temp") {
        Kind::Temporary
    } else {
        return None;
    };
    Some(Allocation {
        number: number.parse().ok()?,
        size: size.parse().ok()?,
        kind,
        color: color.map_or(Some(0), |color| color.parse().ok())?,
    })
}

/// ` value: <120 copy.12 @0> (size=4,offset=368640): s32[]`
fn value<'t>(line: &'t str, number: Line<'t>, allocation: usize) -> Option<Value<'t>> {
    let rest = line.strip_prefix("value: ")?;
    let (id, rest) = rest.split_once("> (size=")?;
    let (name, phi) = value_name(id)?;
    let (size, rest) = rest.split_once(",offset=")?;
    let (offset, _) = rest.split_once("):")?;
    Some(Value {
        line: number,
        name,
        phi,
        allocation,
        offset: offset.parse().ok()?,
        size: size.parse().ok()?,
    })
}

/// `<190 while.6{0} (phi) @0>`, the last bracket or not: the name, and whether it is a phi.
fn value_name(text: &str) -> Option<(Cow<'_, str>, bool)> {
    let text = text.strip_prefix('<')?;
    let text = text.strip_suffix('>').unwrap_or(text);
    let (id, rest) = text.split_once(' ')?;
    id.parse::<u64>().ok()?;
    let (name, color) = rest.rsplit_once(" @")?;
    color.parse::<u64>().ok()?;
    let plain = name.strip_suffix(" (phi)");
    Some((indexed(plain.unwrap_or(name)), plain.is_some()))
}

/// A value with its place in a tuple, without a blank between them.
fn indexed(text: &str) -> Cow<'_, str> {
    match text.split_once(" {") {
        Some((name, index)) => Cow::Owned(format!("{name}{{{index}")),
        None if text.ends_with('}') => Cow::Borrowed(text),
        None => Cow::Owned(format!("{text}{{}}")),
    }
}

/// `copy.12{}:29-56`
fn range<'t>(line: &'t str, number: Line<'t>) -> Option<Range<'t>> {
    let (name, times) = line.rsplit_once(':')?;
    let (first, last) = times.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && name.ends_with('}')).then_some(Range {
        line: number,
        name: Cow::Borrowed(name),
        first,
        last,
    })
}
