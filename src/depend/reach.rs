//! Which accesses of one strand meet which accesses of another, along some path?
//!
//! A sweep over the cells takes the pieces that lie over each run of cells and follows every last
//! access forward through the graph until something hides it:
//!
//! * a write hides everything before it, and so does a fence;
//! * a read hides a write from later writes, which wait for the read;
//! * a read hides earlier reads of its engine, for the engine keeps the two in order.
//!
//! What is hidden is ordered along that path through the access that hides it. So the result has
//! every edge that some path needs, and perhaps some that other edges imply.
//!
//! The cost, after sorting, is that of the walks: runs of cells times strands in the worst case.

use std::cmp::Reverse;

use crate::pace::Pace;
use crate::plan::DependenceKind;
use crate::sorting::CompactSort as _;

use super::pieces::{Piece, Role, sweep};
use super::scan::Wanted;
use super::strands::Strands;

/// An edge between strands, or from one iteration of a strand to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting {
    /// The flat index of what runs first.
    pub from: u32,
    /// The flat index of what waits.
    pub to: u32,
    /// Why it waits.
    pub kind: DependenceKind,
    /// The loop that carries it, unless there is a path without back edges.
    pub carried: Option<Carrier>,
}

/// The back edges on a path: fewer come first, and among as many the innermost loop.
///
/// A path that goes over several is carried by the outermost of its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Carrier {
    count: u32,
    rank: Reverse<u32>,
    /// The strand at which the back edge arrives.
    pub strand: u32,
}

impl Carrier {
    /// What carries a path that `carried` carries and that goes on over a back edge to `strand`.
    pub(super) fn over(carried: Option<Carrier>, strands: &Strands, strand: u32) -> Carrier {
        let header = Carrier {
            count: 1,
            rank: Reverse(strands.rank(strand)),
            strand,
        };
        let Some(before) = carried else {
            return header;
        };
        let outermost = if before.rank > header.rank {
            before
        } else {
            header
        };
        Carrier {
            count: before.count + 1,
            ..outermost
        }
    }
}

/// Leaves one meeting per ordered pair, of the strongest kind and over the fewest back edges, and
/// sorts them.
pub(super) fn merge(meetings: &mut Vec<Meeting>) {
    meetings.sort_compact_by(Ord::cmp);
    meetings.dedup_by(|next, kept| {
        let same = (next.from, next.to) == (kept.from, kept.to);
        if same {
            kept.carried = kept.carried.min(next.carried);
        }
        same
    });
}

/// The meetings that begin in strands that `from` admits, merged.
pub(super) fn meetings(
    pieces: &[Piece],
    strands: &Strands,
    wanted: Wanted,
    from: impl Fn(u32) -> bool,
    pace: &mut Pace<'_, '_>,
) -> Vec<Meeting> {
    let mut walks = Walks::new(strands, wanted);
    sweep(pieces, pace, |over, pace| walks.cell(over, &from, pace));
    merge(&mut walks.found);
    walks.found
}

/// Follows last accesses to the first ones that they meet.
struct Walks<'a> {
    strands: &'a Strands,
    wanted: Wanted,
    found: Vec<Meeting>,
    merged: usize,          // How many of `found` are merged already.
    group: Vec<(u32, u32)>, // By strand: its pieces in the cell at hand.
    // One more than the last stage that reads or writes the cells first; 0 if none does.
    reads_end: u32,
    writes_end: u32,
    flood: Flood,
}

impl<'a> Walks<'a> {
    fn new(strands: &'a Strands, wanted: Wanted) -> Walks<'a> {
        Walks {
            strands,
            wanted,
            found: Vec::new(),
            merged: 0,
            group: vec![(0, 0); strands.len()],
            reads_end: 0,
            writes_end: 0,
            flood: Flood::new(strands.len()),
        }
    }

    /// The meetings in one run of cells.
    fn cell(&mut self, over: &[Piece], from: impl Fn(u32) -> bool, pace: &mut Pace<'_, '_>) {
        let mut at = 0;
        for group in over.chunk_by(|a, b| a.strand == b.strand) {
            self.group[group[0].strand as usize] = (at, at + group.len() as u32);
            at += group.len() as u32;
        }
        let end = |role: Role| {
            let firsts = over.iter().filter(|p| p.role == role);
            let stages = firsts.map(|p| self.strands.stage(p.strand) + 1);
            stages.max().unwrap_or(0)
        };
        (self.reads_end, self.writes_end) = (end(Role::FirstRead), end(Role::FirstWrite));
        for last in over.iter().filter(|p| from(p.strand)) {
            match last.role {
                Role::LastWrite => {
                    self.flow(over, last, pace);
                    self.output(over, last, pace);
                }
                Role::LastRead => self.anti(over, last, pace),
                _ => {}
            }
        }
        for piece in over {
            self.group[piece.strand as usize] = (0, 0);
        }
        if self.found.len() > 2 * self.merged + 4096 {
            merge(&mut self.found);
            self.merged = self.found.len();
        }
    }

    /// Reads that see the write.
    fn flow(&mut self, over: &[Piece], write: &Piece, pace: &mut Pace<'_, '_>) {
        if !self.wanted.admits(DependenceKind::Flow) {
            return;
        }
        let (found, group, strands) = (&mut self.found, &self.group, self.strands);
        let of = |strand: u32| pieces_of(over, group[strand as usize]);
        self.flood.run(
            strands,
            pace,
            (write.strand, self.reads_end),
            |strand| !writes(of(strand)),
            |strand, carried| {
                for read in of(strand).iter().filter(|p| p.role == Role::FirstRead) {
                    meet(found, write, read, DependenceKind::Flow, carried);
                }
            },
        )
    }

    /// Writes that follow the write, with no read in between.
    fn output(&mut self, over: &[Piece], write: &Piece, pace: &mut Pace<'_, '_>) {
        let (found, group, strands) = (&mut self.found, &self.group, self.strands);
        let of = |strand: u32| pieces_of(over, group[strand as usize]);
        let read_later = of(write.strand).iter().any(|p| p.role == Role::LastRead);
        if read_later || !self.wanted.admits(DependenceKind::Output) {
            return;
        }
        self.flood.run(
            strands,
            pace,
            (write.strand, self.writes_end),
            |strand| of(strand).is_empty(),
            |strand, carried| {
                // The first write is the only first access iff nothing reads before it.
                let mut firsts = of(strand).iter().filter(|p| p.role.is_first());
                if let Some(next) = firsts.next().filter(|p| p.role == Role::FirstWrite) {
                    meet(found, write, next, DependenceKind::Output, carried);
                }
            },
        )
    }

    /// Writes that follow the read, with no read of the same engine in between.
    fn anti(&mut self, over: &[Piece], read: &Piece, pace: &mut Pace<'_, '_>) {
        if !self.wanted.admits(DependenceKind::Anti) {
            return;
        }
        let (found, group, strands) = (&mut self.found, &self.group, self.strands);
        let of = |strand: u32| pieces_of(over, group[strand as usize]);
        let reads = |p: &Piece| p.role == Role::FirstRead && p.engine == read.engine;
        self.flood.run(
            strands,
            pace,
            (read.strand, self.writes_end),
            |strand| !writes(of(strand)) && !of(strand).iter().any(reads),
            |strand, carried| {
                let pieces = of(strand);
                if let Some(write) = pieces.iter().find(|p| p.role == Role::FirstWrite)
                    && !pieces.iter().any(reads)
                {
                    meet(found, read, write, DependenceKind::Anti, carried);
                }
            },
        )
    }
}

fn pieces_of(over: &[Piece], (start, end): (u32, u32)) -> &[Piece] {
    &over[start as usize..end as usize]
}

fn writes(pieces: &[Piece]) -> bool {
    pieces
        .iter()
        .any(|p| matches!(p.role, Role::FirstWrite | Role::LastWrite))
}

fn meet(
    found: &mut Vec<Meeting>,
    from: &Piece,
    to: &Piece,
    kind: DependenceKind,
    carried: Option<Carrier>,
) {
    // Inside one pass through a strand the scan has the edges; and one engine needs none.
    let inside = from.strand == to.strand && from.position <= to.position;
    if !inside && from.engine != to.engine {
        found.push(Meeting {
            from: from.index,
            to: to.index,
            kind,
            carried,
        });
    }
}

/// A walk over the graph, with its memory.
struct Flood {
    seen: Vec<u32>, // By strand: the walk that came there last.
    walk: u32,
    ready: Vec<u32>,
    later: Vec<(Carrier, u32)>,
}

impl Flood {
    fn new(strands: usize) -> Flood {
        Flood {
            seen: vec![0; strands],
            walk: 0,
            ready: Vec::new(),
            later: Vec::new(),
        }
    }

    /// Calls `arrive` once for each strand that control reaches from the end of a source through
    /// strands that `passes` admits and that have no fence, as far as the end of the stages that
    /// matter.
    ///
    /// `arrive` is told the least of what carries the paths to a strand.
    fn run(
        &mut self,
        strands: &Strands,
        pace: &mut Pace<'_, '_>,
        (source, end): (u32, u32),
        passes: impl Fn(u32) -> bool,
        mut arrive: impl FnMut(u32, Option<Carrier>),
    ) {
        if !strands.leads_to(strands.stage(source), end) {
            return;
        }
        self.walk = self.walk.checked_add(1).unwrap_or_else(|| {
            self.seen.fill(0);
            1
        });
        self.ready.clear();
        self.later.clear();
        self.leave(strands, end, source, None);
        let mut carried = None;
        let mut layer = Vec::new(); // The back edges that are due, the least last.
        loop {
            while let Some(strand) = self.ready.pop() {
                if self.seen[strand as usize] == self.walk {
                    continue;
                }
                self.seen[strand as usize] = self.walk;
                if pace.over(5) {
                    break;
                }
                arrive(strand, carried);
                if !strands.fenced(strand) && passes(strand) {
                    self.leave(strands, end, strand, carried);
                }
            }
            if layer.is_empty() {
                std::mem::swap(&mut layer, &mut self.later);
                layer.sort_compact_by(|a, b| b.cmp(a));
            }
            let Some((carrier, strand)) = layer.pop() else {
                return;
            };
            carried = Some(carrier);
            self.ready.push(strand);
        }
    }

    fn leave(&mut self, strands: &Strands, end: u32, strand: u32, carried: Option<Carrier>) {
        for step in strands.succs(strand) {
            if self.seen[step.to as usize] == self.walk || strands.stage(step.to) >= end {
                continue;
            }
            if step.back {
                self.later
                    .push((Carrier::over(carried, strands, step.to), step.to));
            } else {
                self.ready.push(step.to);
            }
        }
    }
}
