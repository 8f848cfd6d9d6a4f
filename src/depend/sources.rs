//! Which strands show something to later ones, and what. // D1

use super::code::Code;
use super::pieces::{Piece, Role, sweep};
use super::strands::Strands;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A strand that shows something to others, or to its own next execution.
pub(super) struct Source {
    /// The strand.
    pub strand: u32,
    /// For each pair of engines at most one.
    pub waits: Vec<Wait>,
    /// No later stage has anything to do with the strand.
    pub last_stage: u32,
}

/// What an engine may have to wait for.
pub(super) struct Wait {
    /// The engine that waits.
    pub waiting: usize,
    /// The engine that it waits for.
    pub other: usize,
    /// The position in the strand of the last instruction of `other` that concerns `waiting`.
    pub position: usize,
}

/// Every source, by strand.
///
/// Another strand counts if it touches the same cells first and comes in a later stage; whether
/// anything hides one from the other on the way is not looked at.
pub(super) fn sources(
    code: &Code,
    strands: &Strands,
    pieces: &[Piece],
    pace: &mut Pace<'_, '_>,
) -> Vec<Source> {
    let engines = code.engines();
    // What may have to be waited for: a row each, with one entry per engine that waits.
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for piece in pieces.iter().filter(|p| !p.role.is_first()) {
        if pace.over(1) {
            break;
        }
        rows.push((piece.strand, piece.engine));
    }
    rows.sort_paced_by_key(|&row| row, pace);
    rows.dedup();
    let mut table = vec![0; rows.len() * engines]; // 0, or the position + 1.
    let mut ends = vec![0; rows.len()]; // One more than the last stage concerned.

    // By engine: one more than the last stage that reads or writes the cells at hand first.
    let (mut reads, mut writes) = (vec![0; engines], vec![0; engines]);
    sweep(pieces, pace, |over, pace| {
        if pace.over(over.len() * engines) {
            return;
        }
        reads.fill(0);
        writes.fill(0);
        for piece in over.iter().filter(|p| p.role.is_first()) {
            let ends = match piece.role {
                Role::FirstRead => &mut reads,
                _ => &mut writes,
            };
            let end = &mut ends[piece.engine as usize];
            *end = (strands.stage(piece.strand) + 1).max(*end);
        }
        for piece in over.iter().filter(|p| !p.role.is_first()) {
            let own = strands.stage(piece.strand);
            let row = rows.binary_search(&(piece.strand, piece.engine));
            let row = row.expect("each piece has a row");
            for waiting in (0..engines).filter(|&e| e != piece.engine as usize) {
                let end = match piece.role {
                    Role::LastWrite => writes[waiting].max(reads[waiting]),
                    _ => writes[waiting],
                };
                if strands.leads_to(own, end) {
                    let shown = &mut table[row * engines + waiting];
                    *shown = piece.position.saturating_add(1).max(*shown);
                    ends[row] = end.max(ends[row]);
                }
            }
        }
    });

    let mut sources: Vec<Source> = Vec::new();
    for (row, &(strand, other)) in rows.iter().enumerate() {
        if ends[row] == 0 {
            continue;
        }
        if sources.last().is_none_or(|last| last.strand != strand) {
            sources.push(Source {
                strand,
                waits: Vec::new(),
                last_stage: 0,
            });
        }
        let source = sources.last_mut().expect("pushed if there was none");
        source.last_stage = source.last_stage.max(ends[row] - 1);
        let entries = table[row * engines..(row + 1) * engines].iter().enumerate();
        source.waits.extend(
            entries
                .filter(|(_, shown)| **shown > 0)
                .map(|(waiting, &shown)| Wait {
                    waiting,
                    other: other as usize,
                    position: shown as usize - 1,
                }),
        );
    }
    sources
}
