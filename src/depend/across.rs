//! The edges across strands that some path needs.
//!
//! An edge (i, j) is needed iff on some path from i to j nothing in between orders the two:
//! neither another edge, nor an engine, nor a fence. Whether two instructions touch common bytes
//! does not depend on the path, so the answer does not depend on which other edges were dropped,
//! and the set of needed edges is unique. A detour can only add instructions in between, so the
//! *simple* paths decide: those that run through no strand twice, but for the strand of both i
//! and j. So every strand is a source once: from it, a walk scans the simple paths, going back by
//! taking back what it has scanned.
//!
//! A path ends where it can need nothing more: at a fence, or when every engine has run something
//! that comes after all that the source shows. The engines of real programs wait for each other
//! all the time, so most walks end after a few strands.
//!
//! In general, however, the question is NP-hard: with one diamond per variable and one three-armed
//! branch per clause, whose arms meet the complement of a literal and j, a path that orders
//! nothing spells out a satisfying assignment. So walks have a limit, which grows from round to
//! round until all are done or the effort is spent. What is left then is answered *safely*: its
//! edges are those of `reach`, less what is ordered by the strands that every path runs through.
//! That may keep an edge that is implied, but never drops one that is needed. // D1

use super::code::Code;
use super::dominators::Dominators;
use super::pieces::{Piece, Role, sweep};
use super::reach::{self, Carrier, Meeting};
use super::scan::{Link, Scan, Wanted};
use super::strands::{Step, Strands};

/// How much work may be spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Instructions scanned along simple paths.
    pub exact: u64,
    /// Instructions scanned along dominators, and strands visited to find these.
    pub safe: u64,
}

impl Effort {
    /// A few times the work of scanning the function once, and enough for any small function.
    pub(super) fn of(instructions: usize) -> Effort {
        let instructions = instructions as u64;
        Effort {
            exact: 8 * instructions + (1 << 17),
            safe: 4 * instructions + (1 << 17),
        }
    }
}

/// The needed edges, merged.
pub(super) fn needed(
    code: &Code,
    strands: &Strands,
    pieces: &[Piece],
    scan: &mut Scan<'_>,
    mut effort: Effort,
) -> Vec<Meeting> {
    let mut walk = Walk {
        code,
        strands,
        scan,
        on_path: vec![false; strands.len()],
    };
    let mut pending = sources(code, strands, pieces);
    let mut needed = Vec::new();
    // A first limit that most walks in real programs stay below.
    let mut limit = 1 << 12;
    while !pending.is_empty() {
        pending.retain(|source| {
            let most = effort.exact.min(limit);
            let (mut left, before) = (most, needed.len());
            let done = walk.simple_paths(source, &mut left, &mut needed);
            effort.exact -= most - left;
            if !done {
                needed.truncate(before);
            }
            !done
        });
        if limit >= effort.exact {
            break;
        }
        limit *= 8;
    }
    if pending.is_empty() {
        reach::merge(&mut needed);
        return needed;
    }

    let mut is_pending = vec![false; strands.len()];
    pending
        .iter()
        .for_each(|s| is_pending[s.strand as usize] = true);
    let mut met = reach::meetings(pieces, strands, Wanted::Reduced, |s| is_pending[s as usize]);
    met.sort_unstable_by_key(|m| (strands.of(m.from), m.from, m.to));
    let mut dominators = Dominators::new(strands);
    let mut rest: &[Meeting] = &met;
    for source in &pending {
        let before = rest.partition_point(|m| strands.of(m.from) < source.strand);
        rest = &rest[before..];
        let count = rest.partition_point(|m| strands.of(m.from) == source.strand);
        let (own, others) = rest.split_at(count);
        rest = others;
        let mut found = Vec::new();
        let targets = own.iter().map(|m| strands.of(m.to));
        let done = dominators.find(source.strand, targets, &mut effort.safe)
            && walk.dominators(source, &dominators, &mut effort.safe, &mut found);
        if !done {
            needed.extend_from_slice(own);
            continue;
        }
        found.sort_unstable();
        let kept = |m: &&Meeting| found.binary_search(&(m.from, m.to)).is_ok();
        needed.extend(own.iter().filter(kept));
    }
    reach::merge(&mut needed);
    needed
}

/// A strand that shows something to others that come later.
struct Source {
    strand: u32,
    /// Per engine that may have to wait, and engine that it waits for: the position in the strand
    /// of the last instruction of the latter that it may have to wait for.
    waits: Vec<(u32, u32, u32)>,
    /// No later stage has anything to do with the strand.
    last_stage: u32,
}

/// The strands that show something to later ones, and what they show, by strand.
fn sources(code: &Code, strands: &Strands, pieces: &[Piece]) -> Vec<Source> {
    let engines = code.engines();
    let at = |strand: u32, waiting: usize, other: u32| {
        (strand as usize * engines + waiting) * engines + other as usize
    };
    let mut shown = vec![0; strands.len() * engines * engines]; // 0, or the position + 1.
    let mut last_stage = vec![0; strands.len()];
    // By engine: one more than the last stage that reads or writes the cells at hand first.
    let (mut reads, mut writes) = (vec![0; engines], vec![0; engines]);
    sweep(pieces, |over| {
        reads.fill(0);
        writes.fill(0);
        for piece in over.iter().filter(|p| p.role.is_first()) {
            let table = if piece.role == Role::FirstRead {
                &mut reads
            } else {
                &mut writes
            };
            let stage = &mut table[piece.engine as usize];
            *stage = (strands.stage(piece.strand) + 1).max(*stage);
        }
        for piece in over.iter().filter(|p| !p.role.is_first()) {
            let own = strands.stage(piece.strand);
            for waiting in (0..engines).filter(|&e| e != piece.engine as usize) {
                let mut end = writes[waiting];
                if piece.role == Role::LastWrite {
                    end = end.max(reads[waiting]);
                }
                if end > own + 1 || (end == own + 1 && strands.cyclic(own)) {
                    let shown = &mut shown[at(piece.strand, waiting, piece.engine)];
                    *shown = piece.position.saturating_add(1).max(*shown);
                    let last = &mut last_stage[piece.strand as usize];
                    *last = (end - 1).max(*last);
                }
            }
        }
    });
    let mut sources = Vec::new();
    for strand in 0..strands.len() as u32 {
        let mut waits = Vec::new();
        for waiting in 0..engines {
            for other in 0..engines as u32 {
                let shown = shown[at(strand, waiting, other)];
                if shown > 0 {
                    waits.push((waiting as u32, other, shown - 1));
                }
            }
        }
        if !waits.is_empty() {
            sources.push(Source {
                strand,
                waits,
                last_stage: last_stage[strand as usize],
            });
        }
    }
    sources
}

/// Walks from a source, scanning as it goes.
struct Walk<'a, 'code> {
    code: &'a Code,
    strands: &'a Strands,
    scan: &'a mut Scan<'code>,
    on_path: Vec<bool>,
}

impl Walk<'_, '_> {
    /// Finds the edges that some simple path needs; whether the limit was enough.
    fn simple_paths(&mut self, source: &Source, left: &mut u64, found: &mut Vec<Meeting>) -> bool {
        let strands = self.strands;
        let steps = |strand| strands.succs(strand);
        self.run(source, steps, left, |link, carried| {
            found.push(Meeting {
                from: link.from_index,
                to: link.to_index,
                kind: link.kind,
                carried,
            });
        })
    }

    /// Finds the pairs that the strands on every path do not order; whether the limit was enough.
    fn dominators(
        &mut self,
        source: &Source,
        tree: &Dominators<'_>,
        left: &mut u64,
        found: &mut Vec<(u32, u32)>,
    ) -> bool {
        let steps = |strand| tree.steps(strand);
        self.run(source, steps, left, |link, _| {
            found.push((link.from_index, link.to_index));
        })
    }

    /// Scans the paths that `steps` spans, none of them through a strand twice, and reports the
    /// edges from the source to what follows.
    fn run<'s>(
        &mut self,
        source: &Source,
        steps: impl Fn(u32) -> &'s [Step],
        left: &mut u64,
        mut found: impl FnMut(&Link, Option<Carrier>),
    ) -> bool {
        let (code, strands) = (self.code, self.strands);
        if !spend(left, strands.size(source.strand)) {
            return false;
        }
        self.on_path.fill(false);
        self.scan.begin(2 * code.instructions());
        // Only what follows the last fence is shown; positions keep counting from the start.
        self.scan
            .extend(strands.instructions(source.strand), |_| {});
        let own = self.scan.positions();
        let mut path = vec![Frame {
            strand: source.strand,
            step: 0,
            carried: None,
            checkpoint: self.scan.checkpoint(),
        }];
        while let Some(frame) = path.last_mut() {
            let Some(&step) = steps(frame.strand).get(frame.step) else {
                self.on_path[frame.strand as usize] = false;
                path.pop();
                if let Some(above) = path.last() {
                    self.scan.roll_back(&above.checkpoint);
                }
                continue;
            };
            frame.step += 1;
            if self.on_path[step.to as usize] || strands.stage(step.to) > source.last_stage {
                continue;
            }
            if !spend(left, strands.size(step.to).saturating_add(1)) {
                return false;
            }
            let carried = if step.back {
                Some(Carrier::over(frame.carried, strands, step.to))
            } else {
                frame.carried
            };
            let before_fence = strands
                .instructions(step.to)
                .take_while(|&i| !code.is_fence(i));
            self.scan.extend(before_fence, |link| {
                if link.from < own {
                    found(&link, carried);
                }
            });
            let ended = step.to == source.strand
                || strands.fenced(step.to)
                || source.waits.iter().all(|&(waiting, other, at)| {
                    self.scan
                        .covers(waiting as usize, other as usize, at as usize)
                });
            if ended {
                self.scan.roll_back(&frame.checkpoint);
            } else {
                self.on_path[step.to as usize] = true;
                path.push(Frame {
                    strand: step.to,
                    step: 0,
                    carried,
                    checkpoint: self.scan.checkpoint(),
                });
            }
        }
        true
    }
}

/// A strand on the path.
struct Frame {
    strand: u32,
    step: usize, // The next one to take.
    carried: Option<Carrier>,
    checkpoint: super::scan::Checkpoint, // After the strand.
}

/// Takes an amount, if there is so much left.
pub(super) fn spend(left: &mut u64, amount: u32) -> bool {
    let enough = left.checked_sub(u64::from(amount));
    *left = enough.unwrap_or(*left);
    enough.is_some()
}
