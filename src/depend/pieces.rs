//! What a strand shows the rest of its function.
//!
//! Per cell, only the first reads (one per engine) and the first write of a strand can meet what
//! has run before it, and only the last write and the last reads after it (one per engine) what
//! runs later; the others are ordered through these. A strand with a fence shows only what comes
//! before its first and what comes after its last one. Interval sets find these *pieces*, so that
//! their number is in proportion to the accesses.

use std::collections::BTreeSet;

use super::code::Code;
use super::cover::Cover;
use super::strands::Strands;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// What a strand shows of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    FirstRead,
    FirstWrite,
    LastWrite,
    LastRead,
}

impl Role {
    /// Whether it concerns what has run before the strand.
    pub(super) fn is_first(self) -> bool {
        self <= Role::FirstWrite
    }
}

/// A run of cells in which an access is the first or the last one of its strand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The first cell.
    pub first: u32,
    /// One past the last cell.
    pub end: u32,
    /// The strand.
    pub strand: u32,
    /// What it is to the strand.
    pub role: Role,
    /// The flat index of the instruction.
    pub index: u32,
    /// Its position in the strand.
    pub position: u32,
    /// Its engine.
    pub engine: u32,
}

/// The pieces of every strand, by strand and role.
pub(super) fn pieces(code: &Code, strands: &Strands, pace: &mut Pace<'_, '_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for strand in 0..strands.len() as u32 {
        if !strands.preds(strand).is_empty() {
            first_accesses(code, strands, strand, &mut pieces, pace);
        }
        if !strands.succs(strand).is_empty() {
            last_accesses(code, strands, strand, &mut pieces, pace);
        }
    }
    pieces.sort_paced_by_key(|p| (p.strand, p.role as u8, p.index, p.first), pace);
    pieces
}

fn first_accesses(
    code: &Code,
    strands: &Strands,
    strand: u32,
    pieces: &mut Vec<Piece>,
    pace: &mut Pace<'_, '_>,
) {
    let mut written = Cover::default();
    let mut read = vec![Cover::default(); code.engines()];
    for (position, index) in (0..).zip(strands.instructions(strand)) {
        let Some(engine) = code.engine(index) else {
            return; // What follows waits for the fence.
        };
        let mut add = |role, first, end| {
            pieces.push(Piece {
                first,
                end,
                strand,
                role,
                index,
                position,
                engine: engine as u32,
            });
        };
        let touches = code.touches(index);
        if pace.over(1 + 5 * touches.len()) {
            break;
        }
        for touch in touches.iter().filter(|t| !t.writes) {
            read[engine].claim(touch.first, touch.end, |first, end| {
                written.missing(first, end, |first, end| add(Role::FirstRead, first, end));
            });
        }
        for touch in touches.iter().filter(|t| t.writes) {
            written.claim(touch.first, touch.end, |first, end| {
                add(Role::FirstWrite, first, end);
            });
        }
    }
}

fn last_accesses(
    code: &Code,
    strands: &Strands,
    strand: u32,
    pieces: &mut Vec<Piece>,
    pace: &mut Pace<'_, '_>,
) {
    let mut written = Cover::default();
    let mut read = vec![Cover::default(); code.engines()];
    let mut position = strands.size(strand);
    for index in strands.instructions(strand).rev() {
        position -= 1;
        let Some(engine) = code.engine(index) else {
            return; // The fence has waited for what precedes it.
        };
        let mut add = |role, first, end| {
            pieces.push(Piece {
                first,
                end,
                strand,
                role,
                index,
                position,
                engine: engine as u32,
            });
        };
        let touches = code.touches(index);
        if pace.over(1 + 5 * touches.len()) {
            break;
        }
        for touch in touches.iter().filter(|t| t.writes) {
            written.claim(touch.first, touch.end, |first, end| {
                add(Role::LastWrite, first, end);
            });
        }
        for touch in touches.iter().filter(|t| !t.writes) {
            read[engine].claim(touch.first, touch.end, |first, end| {
                written.missing(first, end, |first, end| add(Role::LastRead, first, end));
            });
        }
    }
}

/// Visits each run of cells over which the same pieces lie, with these pieces in their order.
pub(super) fn sweep(
    pieces: &[Piece],
    pace: &mut Pace<'_, '_>,
    mut visit: impl FnMut(&[Piece], &mut Pace<'_, '_>),
) {
    let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(2 * pieces.len());
    for (number, piece) in pieces.iter().enumerate() {
        if pace.over(1) {
            break;
        }
        events.push((piece.first, true, number as u32));
        events.push((piece.end, false, number as u32));
    }
    events.sort_paced_by_key(|&event| event, pace);
    let mut active = BTreeSet::new();
    let mut over = Vec::new();
    let mut first_ones = 0; // How many of the active are first accesses.
    let mut events = events.into_iter().peekable();
    while let Some((cell, begins, number)) = events.next() {
        if pace.over(5) {
            break;
        }
        let piece = &pieces[number as usize];
        let is_first = usize::from(piece.role.is_first());
        if begins {
            active.insert(number);
            first_ones += is_first;
        } else {
            active.remove(&number);
            first_ones -= is_first;
        }
        let more = events.peek().is_some_and(|next| next.0 == cell);
        if !more && first_ones > 0 && first_ones < active.len() {
            over.clear();
            over.extend(active.iter().map(|&number| pieces[number as usize]));
            if pace.over(over.len()) {
                break;
            }
            visit(&over, pace);
        }
    }
}
