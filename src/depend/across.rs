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
use super::pieces::Piece;
use super::reach::{self, Carrier, Meeting};
use super::scan::{Link, Scan, Wanted};
use super::sources::{Source, sources};
use super::strands::{Step, Strands};
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// How much work may be spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Instructions scanned along simple paths.
    pub exact: u64,
    /// Instructions scanned along dominators.
    pub safe: u64,
    /// Strands visited to find dominators.
    pub visits: u64,
}

impl Effort {
    /// A few times the work of scanning the function once, and enough for any small function.
    pub(super) fn of(instructions: usize) -> Effort {
        let instructions = instructions as u64;
        Effort {
            exact: 4 * instructions + (1 << 17),
            safe: 4 * instructions + (1 << 17),
            visits: 4 * instructions + (1 << 22),
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
    pace: &mut Pace<'_, '_>,
) -> Vec<Meeting> {
    let mut walk = Walk {
        code,
        strands,
        scan,
        on_path: vec![false; strands.len()],
    };
    let mut pending = sources(code, strands, pieces, pace);
    let mut needed = Vec::new();
    // A first limit that most walks in real programs stay below.
    let mut limit = 1 << 12;
    while !pending.is_empty() {
        pending.retain(|source| {
            let most = effort.exact.min(limit);
            let mut left = most;
            // What a walk finds before it gives up is needed all the same.
            let done = walk.simple_paths(source, &mut left, &mut needed, pace);
            effort.exact -= most - left;
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
    let from = |strand: u32| is_pending[strand as usize];
    let mut met = reach::meetings(pieces, strands, Wanted::Reduced, from, pace);
    met.sort_compact_by_key(|m| (strands.of(m.from), m.from, m.to));
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
        let done = dominators.find(source.strand, targets, &mut effort.visits, pace)
            && walk.dominators(source, &dominators, &mut effort.safe, &mut found, pace);
        if !done {
            needed.extend_from_slice(own);
            continue;
        }
        found.sort_compact();
        let kept = |m: &&Meeting| found.binary_search(&(m.from, m.to)).is_ok();
        needed.extend(own.iter().filter(kept));
    }
    reach::merge(&mut needed);
    needed
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
    fn simple_paths(
        &mut self,
        source: &Source,
        left: &mut u64,
        found: &mut Vec<Meeting>,
        pace: &mut Pace<'_, '_>,
    ) -> bool {
        let strands = self.strands;
        let steps = |strand| strands.succs(strand);
        self.run(source, steps, left, pace, |link, carried| {
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
        pace: &mut Pace<'_, '_>,
    ) -> bool {
        let steps = |strand| tree.steps(strand);
        self.run(source, steps, left, pace, |link, _| {
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
        pace: &mut Pace<'_, '_>,
        mut found: impl FnMut(&Link, Option<Carrier>),
    ) -> bool {
        let (code, strands) = (self.code, self.strands);
        if pace.over(10) {
            return true;
        }
        if !spend(left, strands.size(source.strand)) {
            return false;
        }
        self.scan.begin(2 * code.instructions());
        // Only what follows the last fence is shown; positions keep counting from the start.
        self.scan
            .extend(strands.instructions(source.strand), pace, |_| {});
        let own = self.scan.positions();
        if self.nothing_waits(source) {
            return true;
        }
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
            if pace.over(1 + source.waits.len()) {
                break;
            }
            if self.on_path[step.to as usize] || strands.stage(step.to) > source.last_stage {
                continue;
            }
            if !spend(left, strands.size(step.to).saturating_add(1)) {
                path.iter()
                    .for_each(|f| self.on_path[f.strand as usize] = false);
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
            self.scan.extend(before_fence, pace, |link| {
                if link.from < own {
                    found(&link, carried);
                }
            });
            let ended = step.to == source.strand || strands.fenced(step.to);
            if ended || self.nothing_waits(source) {
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

    /// Whether all that the source shows is ordered before whatever comes next.
    fn nothing_waits(&self, source: &Source) -> bool {
        let mut waits = source.waits.iter();
        waits.all(|wait| self.scan.covers(wait.waiting, wait.other, wait.position))
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
