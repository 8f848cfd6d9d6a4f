//! The life of one root, walked backwards from what wants its bytes. // L3-L6
//!
//! Per block and root a few marks suffice. They are stamped with the number of the walk, so that
//! nothing is cleared between roots and a walk costs what it visits.
//!
//! The order of a walk: `summarise` the touched blocks; find out whether some use may see an entry
//! (`backward` stopping at any def, or at full ones where values stand at the entry); find the
//! blocks where the bytes are wanted (`backward` stopping at full defs); find which of these a def
//! reaches (`forward`); cut them into pieces. Where every def is full the two backward walks are
//! one, and everything wanted is reached: a path from an entry to a wanted point without a def would
//! be one to a use without a def.

use super::accesses::Touch;
use super::graph::{Graph, Rank};
use super::storage::AtEntry;
use crate::control::Stop;
use crate::ir::{BlockId, Function};
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A run of instructions at which a root is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub first: u32,
    pub last: u32,
    /// The value flows in before `first`.
    pub open_start: bool,
    /// The value flows on after `last`.
    pub open_end: bool,
}

impl Piece {
    /// Whether `next`, which does not begin earlier, is part of the same run.
    fn is_continued_by(&self, next: &Piece) -> bool {
        let flows = next.first == self.last + 1 && self.open_end && next.open_start;
        next.first <= self.last || flows
    }

    fn absorb(&mut self, next: &Piece) {
        self.open_start |= next.first == self.first && next.open_start;
        match next.last.cmp(&self.last) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => self.open_end |= next.open_end,
            std::cmp::Ordering::Greater => {
                (self.last, self.open_end) = (next.last, next.open_end);
            }
        }
    }
}

/// What a walk found.
pub(super) struct Life<'a> {
    descending: &'a [Piece],
    /// The first use in layout order that may see bytes no def has written. // L5
    pub unwritten_use: Option<u32>,
}

impl Life<'_> {
    /// The pieces in layout order.
    pub fn ascending(&self) -> impl Iterator<Item = Piece> {
        self.descending.iter().rev().copied()
    }
}

type Marks = u16;

/// A use comes before every full def of the block.
const WANTED_FIRST: Marks = 1;
/// A use comes before every def of the block.
const UNWRITTEN_FIRST: Marks = 1 << 1;
const DEF: Marks = 1 << 2;
const FULL: Marks = 1 << 3;
/// Wanted at the top, at the end of the block.
const IN: Marks = 1 << 4;
const OUT: Marks = 1 << 5;
/// Some use can be reached from the top without any def.
const BARE: Marks = 1 << 6;
/// Some def can run before the block.
const REACHED: Marks = 1 << 7;
/// Control can come here from an entry without any def.
const UNWRITTEN: Marks = 1 << 8;

/// The touches of one block: `touches[start..end]` of the root.
struct Group {
    block: u32,
    start: usize,
    end: usize,
}

/// Scratch memory for all the walks over a function.
pub(super) struct Walker<'a> {
    function: &'a Function,
    graph: &'a Graph,
    stamp: u32,
    marks: Vec<(u32, Marks)>, // Stamp and marks of each block.
    visited: Vec<u32>,
    groups: Vec<Group>,
    stack: Vec<u32>,
    entries: Vec<u32>,
    pieces: Vec<Piece>,
}

impl<'a> Walker<'a> {
    pub fn new(function: &'a Function, graph: &'a Graph) -> Walker<'a> {
        Walker {
            function,
            graph,
            stamp: 0,
            marks: vec![(0, 0); function.blocks().len()],
            visited: Vec::new(),
            groups: Vec::new(),
            stack: Vec::new(),
            entries: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Walks a root with these touches. A walk that the host stops leaves the walker of no use.
    pub fn walk(
        &mut self,
        touches: &[Touch],
        escapes: bool,
        at_entry: AtEntry,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Life<'_>, Stop> {
        pace.work(1 + touches.len())?;
        self.pieces.clear();
        let mut unwritten_use = None;
        if !touches.is_empty() {
            let whole_defs = self.summarise(touches);
            let endless = escapes && !self.graph.endless().is_empty();
            let one_walk = whole_defs && !endless;

            let bare = if one_walk { IN } else { BARE };
            if !one_walk {
                let (first, stop) = match at_entry {
                    AtEntry::Values => (WANTED_FIRST, FULL), // A part of them is still there.
                    AtEntry::Nothing | AtEntry::Unknown => (UNWRITTEN_FIRST, DEF),
                };
                self.seed(first, escapes, BARE, stop);
                self.backward(BARE, stop, [0, 0], pace)?;
            }
            // With one walk, this is known only after it; but then it decides nothing before.
            let mut from_entry = !one_walk && !self.entries.is_empty();
            let floor = if one_walk || from_entry {
                [0, 0]
            } else {
                self.lowest_def()
            };
            let bare_entries = std::mem::take(&mut self.entries);
            // What sees an entry is live from there; where control never leaves, only from the
            // defs on. The two are walks of their own, or the one would lend its reach to the
            // other. // L5, L6
            let apart = endless && from_entry;
            self.seed(WANTED_FIRST, escapes, IN, FULL);
            if endless && !apart {
                self.seed_endless(floor);
            }
            self.backward(IN, FULL, floor, pace)?;
            if one_walk {
                from_entry = !self.entries.is_empty();
            } else {
                self.entries = bare_entries;
            }
            if from_entry && at_entry == AtEntry::Nothing {
                unwritten_use = self.first_unwritten_use(touches, bare);
            }
            let all_reached = one_walk || from_entry;
            if !all_reached {
                self.forward(pace)?;
            }
            self.cut(touches, all_reached, endless && !apart, pace)?;
            if apart {
                let seen_from_entry = std::mem::take(&mut self.pieces);
                self.summarise(touches);
                let floor = self.lowest_def();
                self.seed_endless(floor);
                self.backward(IN, FULL, floor, pace)?;
                self.forward(pace)?;
                self.cut(touches, false, true, pace)?;
                self.unite(seen_from_entry);
            }
        }
        Ok(Life {
            descending: &self.pieces,
            unwritten_use,
        })
    }

    fn marks(&self, block: u32) -> Marks {
        let (stamp, marks) = self.marks[block as usize];
        if stamp == self.stamp { marks } else { 0 }
    }

    /// Sets marks; says whether one of them is new.
    fn mark(&mut self, block: u32, new: Marks) -> bool {
        let (stamp, marks) = &mut self.marks[block as usize];
        if *stamp != self.stamp {
            (*stamp, *marks) = (self.stamp, 0);
            self.visited.push(block);
        }
        let added = new & !*marks != 0;
        *marks |= new;
        added
    }

    /// Starts a new root and marks its touched blocks; says whether every def is full.
    fn summarise(&mut self, touches: &[Touch]) -> bool {
        // A function holds fewer than 2^32 locations, so a stamp never comes back.
        self.stamp += 1;
        self.visited.clear();
        self.groups.clear();
        self.entries.clear();
        let mut whole_defs = true;
        let mut start = 0;
        while start < touches.len() {
            let (block, range) = self.block_of(touches[start]);
            let mut marks = 0;
            let mut end = start;
            while end < touches.len() && touches[end].index < range.end {
                let touch = touches[end];
                if touch.is_use() {
                    marks |= if marks & FULL == 0 { WANTED_FIRST } else { 0 };
                    marks |= if marks & DEF == 0 { UNWRITTEN_FIRST } else { 0 };
                }
                if touch.is_full() {
                    marks |= FULL;
                }
                if touch.is_def() {
                    marks |= DEF;
                    whole_defs &= touch.is_full();
                }
                end += 1;
            }
            self.mark(block, marks);
            self.groups.push(Group { block, start, end });
            start = end;
        }
        whole_defs
    }

    fn block_of(&self, touch: Touch) -> (u32, std::ops::Range<u32>) {
        let block = match self.marks.len() {
            1 => BlockId(0), // Spares a visit to the instruction.
            _ => self.function.instructions()[touch.index as usize].block,
        };
        (block.0, self.function.block_range(block))
    }

    /// No block below this in either order is reached by a def.
    fn lowest_def(&self) -> Rank {
        let mut lowest = [u32::MAX; 2];
        for group in &self.groups {
            if self.marks(group.block) & DEF != 0 {
                let rank = self.graph.rank(group.block);
                lowest = [lowest[0].min(rank[0]), lowest[1].min(rank[1])];
            }
        }
        lowest
    }

    /// Sets `top` where a block wants the bytes by itself, or an exit does and no `stop` prevents.
    fn seed(&mut self, wants: Marks, escapes: bool, top: Marks, stop: Marks) {
        for i in 0..self.groups.len() {
            let block = self.groups[i].block;
            if self.marks(block) & wants != 0 {
                self.enter(block, top);
            }
        }
        if escapes {
            for &exit in self.graph.exits() {
                if top == IN {
                    self.mark(exit, OUT);
                }
                if self.marks(exit) & stop == 0 {
                    self.enter(exit, top);
                }
            }
        }
    }

    /// Where control never leaves, an escaping root is wanted throughout. // L6
    fn seed_endless(&mut self, floor: Rank) {
        for &block in self.graph.endless() {
            if !below(self.graph.rank(block), floor) {
                self.mark(block, OUT);
                self.enter(block, IN);
            }
        }
    }

    fn enter(&mut self, block: u32, top: Marks) {
        if self.mark(block, top) {
            self.stack.push(block);
            if self.graph.is_entry(block) {
                self.entries.push(block);
            }
        }
    }

    /// Carries `top` to every block from which control comes without a `stop`.
    fn backward(
        &mut self,
        top: Marks,
        stop: Marks,
        floor: Rank,
        pace: &mut Pace<'_, '_>,
    ) -> Result<(), Stop> {
        let graph = self.graph;
        while let Some(block) = self.stack.pop() {
            pace.work(1)?;
            for &previous in graph.preds(block) {
                if below(graph.rank(previous), floor) {
                    continue;
                }
                if top == IN {
                    self.mark(previous, OUT);
                }
                if self.marks(previous) & stop == 0 {
                    self.enter(previous, top);
                }
            }
        }
        Ok(())
    }

    /// Marks the wanted blocks that some def can run before.
    ///
    /// Staying within wanted blocks misses none: on a path from a def to a wanted top, everything
    /// after the last def is wanted.
    fn forward(&mut self, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        for i in 0..self.groups.len() {
            let block = self.groups[i].block;
            if self.marks(block) & DEF != 0 {
                self.stack.push(block);
            }
        }
        while let Some(block) = self.stack.pop() {
            pace.work(1)?;
            for next in self.function.successors(BlockId(block)) {
                if self.marks(next.0) & IN != 0 && self.mark(next.0, REACHED) {
                    self.stack.push(next.0);
                }
            }
        }
        Ok(())
    }

    /// The first use in layout order that an entry reaches without any def. // L5
    fn first_unwritten_use(&mut self, touches: &[Touch], bare: Marks) -> Option<u32> {
        self.stack.append(&mut self.entries);
        for i in 0..self.stack.len() {
            self.mark(self.stack[i], UNWRITTEN);
        }
        while let Some(block) = self.stack.pop() {
            if self.marks(block) & DEF != 0 {
                continue;
            }
            for next in self.function.successors(BlockId(block)) {
                if self.marks(next.0) & bare != 0 && self.mark(next.0, UNWRITTEN) {
                    self.stack.push(next.0);
                }
            }
        }
        let both = UNWRITTEN | UNWRITTEN_FIRST;
        let group = self
            .groups
            .iter()
            .find(|group| self.marks(group.block) & both == both)?;
        let first = &touches[group.start..group.end];
        first
            .iter()
            .find(|touch| touch.is_use())
            .map(|touch| touch.index)
    }

    /// Cuts the visited blocks into pieces, from the last instruction up.
    fn cut(
        &mut self,
        touches: &[Touch],
        all_reached: bool,
        endless: bool,
        pace: &mut Pace<'_, '_>,
    ) -> Result<(), Stop> {
        let mut visited = std::mem::take(&mut self.visited);
        pace.work(visited.len())?;
        visited.sort_unstable();
        // What flows in at the top of the block above which we are: its first index, and the
        // piece to be continued.
        let mut below: Option<(u32, Open)> = None;
        for &block in visited.iter().rev() {
            pace.work(1)?;
            let marks = self.marks(block);
            let group = self.groups.pop_if(|group| group.block == block);
            let reached = all_reached || marks & REACHED != 0;
            if !reached && marks & DEF == 0 {
                continue; // Wanted, perhaps, but no def can have run.
            }
            let range = self.function.block_range(BlockId(block));
            if range.is_empty() {
                continue; // No time passes here; neighbours meet across it.
            }
            let mut open = None;
            if marks & OUT != 0 {
                let last = range.end - 1;
                open = Some(match below.take_if(|(first, _)| *first == range.end) {
                    Some((_, continued)) => continued, // Runs: the value flows on.
                    None => Open {
                        last,
                        open_end: true,
                    },
                });
            }
            self.close(&mut below);
            let always = endless && self.graph.is_endless(block);
            let touched = group.map_or(&[][..], |group| &touches[group.start..group.end]);
            // No touch comes before it: a use there would see an entry.
            let first_def = match reached {
                true => None,
                false => touched
                    .iter()
                    .find(|touch| touch.is_def())
                    .map(|def| def.index),
            };
            for touch in touched.iter().rev() {
                let wanted = open.is_some();
                let here = open.get_or_insert(Open {
                    last: touch.index,
                    open_end: false,
                });
                let born = if first_def == Some(touch.index) {
                    true // Nothing was there before. // L4
                } else if always || touch.is_use() {
                    false
                } else {
                    touch.is_full() || !wanted
                };
                if born {
                    let piece = here.piece(touch.index, false);
                    self.pieces.push(piece);
                    open = None;
                }
            }
            below = open.map(|open| (range.start, open));
        }
        self.close(&mut below);
        self.visited = visited;
        Ok(())
    }

    /// Adds pieces of another walk over the same root; what overlaps, or flows on, is one piece.
    fn unite(&mut self, mut others: Vec<Piece>) {
        others.append(&mut self.pieces);
        // Of pieces that begin together, one that is open comes first: it may join what is before.
        others.sort_compact_by_key(|piece| (piece.first, !piece.open_start, piece.last));
        for piece in others {
            match self.pieces.last_mut() {
                Some(kept) if kept.is_continued_by(&piece) => kept.absorb(&piece),
                _ => self.pieces.push(piece),
            }
        }
        self.pieces.reverse(); // Descending, as `cut` leaves them.
    }

    fn close(&mut self, below: &mut Option<(u32, Open)>) {
        if let Some((first, open)) = below.take() {
            self.pieces.push(open.piece(first, true));
        }
    }
}

/// The end of a piece whose start is not known yet.
struct Open {
    last: u32,
    open_end: bool,
}

impl Open {
    fn piece(&self, first: u32, open_start: bool) -> Piece {
        Piece {
            first,
            last: self.last,
            open_start,
            open_end: self.open_end,
        }
    }
}

fn below(rank: Rank, floor: Rank) -> bool {
    rank[0] < floor[0] || rank[1] < floor[1]
}
