//! Why nothing fits: the report of a failed run. // P9

use std::fmt;

use crate::ir::Segment;

/// How many holders a report names; the rest become a total.
pub const NAMED_HOLDERS: usize = 10;

/// A location for which no address was left, and what was in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// The location's name.
    pub location: String,
    /// Its position: `MemLocId` of a function, or the row of a raw problem.
    pub id: u32,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The instruction at which the live bytes leave it the least room.
    pub index: u32,
    /// The bytes that the space may use, floor included.
    pub capacity: u64,
    /// The lower bound of the space.
    pub bound: u64,
    /// How many bytes it missed: its size less the largest hole.
    pub deficit: u64,
    /// The largest run of bytes free over its whole life.
    pub largest_hole: u64,
    /// The ten largest holders of bytes at `index`, largest first.
    pub holders: Vec<Holder>,
    /// How many holders are not named.
    pub others: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// The bound alone exceeds the capacity: no placement exists. // S3
    pub proved: bool,
}

/// Something that has bytes at the instruction in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The location's name.
    pub location: String,
    /// Its position: `MemLocId` of a function, or the row of a raw problem.
    pub id: u32,
    /// Its first byte.
    pub start: u64,
    /// Its bytes as placed.
    pub bytes: u64,
    /// The run of its life that contains the instruction.
    pub life: Segment,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoRoom {
            location,
            bytes,
            capacity,
            bound,
            index,
            ..
        } = self;
        write!(
            f,
            "no room for {location} of {bytes} bytes within {capacity}: "
        )?;
        write!(
            f,
            "at instruction {index} the largest hole is {} bytes, ",
            self.largest_hole
        )?;
        write!(
            f,
            "{} too few; the lower bound is {bound} bytes",
            self.deficit
        )?;
        f.write_str(if self.proved {
            ", so no placement exists"
        } else {
            ", so whether one exists is not known"
        })?;
        for (i, h) in self.holders.iter().enumerate() {
            f.write_str(if i == 0 { "; held by " } else { ", " })?;
            let (first, last) = (h.life.first(), h.life.last());
            write!(
                f,
                "{} [{first}, {last}] {} bytes at {}",
                h.location, h.bytes, h.start
            )?;
        }
        if self.others > 0 {
            write!(
                f,
                ", and {} more with {} bytes",
                self.others, self.other_bytes
            )?;
        }
        Ok(())
    }
}
