//! What the search knows at a node, and how it gets back to an earlier one.
//!
//! For every unplaced item the *base*, the lowest start that what is placed under it leaves, and
//! the *head*, the lowest start that is possible at all: at least the base, and raised further by
//! inference. For every section the *floor*, the least head of the unplaced items there, and the
//! *rest*, the sum of their sizes. Changes are logged and undone last in, first out.
//!
//! # Invariants
//!
//! * **heads**: `base[i] <= head[i]`, both admitted by the rules of `i`;
//! * **rest**: `rest[s]` is the sum of the sizes of the unplaced parts over `s`;
//! * **cuts**: `cuts[s]` counts the unplaced items whose hull spans the border of `s - 1` and `s`;
//! * **lists**: the first `live` entries of a component's list are its unplaced items, what
//!   follows are the placed ones, last placed first.

use std::ops::Range;

use super::model::{Model, NOWHERE};
use crate::sorting::CompactSort as _;
use dramalloc_engine::Height;

/// A part, as the search has it.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) lo: u32,
    pub(super) hi: u32,
    pub(super) size: Height,
}

/// A run of sections that no unplaced item joins to another one.
#[derive(Clone, Copy)]
pub(super) struct Component {
    /// Its sections.
    pub(super) lo: usize,
    pub(super) hi: usize,
    /// Where its items begin in the lists, and how many are unplaced.
    pub(super) list: usize,
    pub(super) live: usize,
    /// The frame that fails if the component has no solution; none: the whole search.
    pub(super) parent: Option<usize>,
    /// The component to solve after this one.
    pub(super) next: Option<usize>,
}

/// Lengths of the logs at some node.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    heads: usize,
    floors: usize,
    placed: usize,
    components: usize,
    lists: usize,
}

pub(super) struct State {
    pub(super) target: Height,
    // Of each item.
    pub(super) first: Vec<u32>,
    pub(super) spans: Vec<Span>,
    pub(super) lo: Vec<u32>,
    pub(super) hi: Vec<u32>,
    pub(super) head: Vec<Height>,
    pub(super) base: Vec<Height>,
    pub(super) start: Vec<Height>,
    // Of each section.
    pub(super) floor: Vec<Height>,
    pub(super) rest: Vec<Height>,
    cuts: Vec<u32>,
    // Of the search.
    pub(super) components: Vec<Component>,
    pub(super) lists: Vec<u32>,
    head_log: Vec<(u32, Height, Height)>,
    floor_log: Vec<(u32, u32)>,
    old_floors: Vec<Height>,
    placed_log: Vec<(u32, u32)>,
    reach: Vec<u32>,
    plain: bool,
}

impl State {
    pub(super) fn new(model: &Model) -> State {
        let (items, sections) = (model.items(), model.sections);
        let span = |part: &super::model::Part| Span {
            lo: part.sections.start,
            hi: part.sections.end,
            size: Height::from_units(part.size),
        };
        State {
            target: Height::default(),
            first: model.first_part.clone(),
            spans: model.parts.iter().map(span).collect(),
            lo: model.hull.iter().map(|hull| hull.start).collect(),
            hi: model.hull.iter().map(|hull| hull.end).collect(),
            head: vec![Height::default(); items],
            base: vec![Height::default(); items],
            start: vec![Height::INFINITE; items],
            floor: vec![Height::default(); sections],
            rest: vec![Height::default(); sections],
            cuts: vec![0; sections + 1],
            components: Vec::new(),
            lists: Vec::new(),
            head_log: Vec::new(),
            floor_log: Vec::new(),
            old_floors: Vec::new(),
            placed_log: Vec::new(),
            reach: vec![0; sections],
            plain: model.is_plain(),
        }
    }

    /// Nothing is placed; everything is to fit below `target`. `None` if it obviously cannot, else
    /// the first component.
    pub(super) fn reset(&mut self, model: &Model, target: u64) -> Option<Option<usize>> {
        self.target = Height::from_units(target);
        self.components.clear();
        self.lists.clear();
        self.head_log.clear();
        self.floor_log.clear();
        self.old_floors.clear();
        self.placed_log.clear();
        self.cuts.fill(0);
        self.start.fill(Height::INFINITE);
        let mut load = vec![0_u64; model.sections];
        for item in 0..model.items() {
            let head = if model.is_pin(item) {
                model.pinned[item - model.movable]
            } else {
                model.admit(item, 0)
            };
            let size = if model.is_pin(item) {
                // What a pin takes above the target is nobody's concern.
                let size = (head + model.size[item]).min(target).saturating_sub(head);
                self.spans[self.first[item] as usize].size = Height::from_units(size);
                size
            } else {
                model.size[item]
            };
            if size == 0 {
                continue;
            }
            if head > target || size > target - head {
                return None;
            }
            self.head[item] = Height::from_units(head);
            self.base[item] = self.head[item];
            self.lists.push(item as u32);
            for boundary in self.lo[item] + 1..self.hi[item] {
                self.cuts[boundary as usize] += 1;
            }
            for part in model.parts_of(item) {
                let size = if model.is_pin(item) { size } else { part.size };
                for section in part.run() {
                    load[section] += size;
                }
            }
        }
        if load.iter().any(|&load| load > target) {
            return None;
        }
        for (rest, load) in self.rest.iter_mut().zip(load) {
            *rest = Height::from_units(load);
        }
        let whole = Component {
            lo: 0,
            hi: model.sections,
            list: 0,
            live: self.lists.len(),
            parent: None,
            next: None,
        };
        self.components.push(whole);
        Some(self.split(0, None))
    }

    /// The unplaced items of a component.
    pub(super) fn unplaced(&self, component: usize) -> &[u32] {
        let c = &self.components[component];
        &self.lists[c.list..c.list + c.live]
    }

    pub(super) fn spans_of(&self, item: usize) -> &[Span] {
        &self.spans[self.first[item] as usize..self.first[item + 1] as usize]
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            heads: self.head_log.len(),
            floors: self.floor_log.len(),
            placed: self.placed_log.len(),
            components: self.components.len(),
            lists: self.lists.len(),
        }
    }

    /// Back to what was true at `mark`.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.placed_log.len() > mark.placed {
            let (item, component) = self.placed_log.pop().expect("longer than the mark");
            let item = item as usize;
            self.start[item] = Height::INFINITE;
            self.components[component as usize].live += 1;
            for i in self.first[item]..self.first[item + 1] {
                let span = self.spans[i as usize];
                for rest in &mut self.rest[span.lo as usize..span.hi as usize] {
                    *rest += span.size;
                }
            }
            for boundary in &mut self.cuts[self.lo[item] as usize + 1..self.hi[item] as usize] {
                *boundary += 1;
            }
        }
        while self.head_log.len() > mark.heads {
            let (item, base, head) = self.head_log.pop().expect("longer than the mark");
            self.base[item as usize] = base;
            self.head[item as usize] = head;
        }
        while self.floor_log.len() > mark.floors {
            let (lo, hi) = self.floor_log.pop().expect("longer than the mark");
            let old = self.old_floors.len() - (hi - lo) as usize;
            self.floor[lo as usize..hi as usize].copy_from_slice(&self.old_floors[old..]);
            self.old_floors.truncate(old);
        }
        self.components.truncate(mark.components);
        self.lists.truncate(mark.lists);
    }

    /// Remembers the floors of `run`, which are about to change.
    pub(super) fn log_floors(&mut self, run: Range<usize>) {
        self.floor_log.push((run.start as u32, run.end as u32));
        self.old_floors.extend_from_slice(&self.floor[run]);
    }

    /// The least start of `item` at or above `height` that its rules admit.
    pub(super) fn admit(&self, model: &Model, item: usize, height: Height) -> Height {
        if self.plain || height >= Height::INFINITE {
            return height;
        }
        match model.admit(item, height.units()) {
            NOWHERE => Height::INFINITE,
            units => Height::from_units(units),
        }
    }

    /// Raises the head of `item` to `height`, which its rules admit.
    pub(super) fn raise_head(&mut self, item: usize, height: Height) {
        self.head_log
            .push((item as u32, self.base[item], self.head[item]));
        self.head[item] = height;
    }

    /// Puts `item` of `component` at its head; whether the component may have come apart, and the
    /// sections in which something changed.
    pub(super) fn place(
        &mut self,
        model: &Model,
        component: usize,
        item: usize,
    ) -> (bool, Range<usize>) {
        let height = self.head[item];
        self.start[item] = height;
        self.placed_log.push((item as u32, component as u32));
        let c = &mut self.components[component];
        let list = &mut self.lists[c.list..c.list + c.live];
        c.live -= 1;
        let at = list
            .iter()
            .position(|&other| other as usize == item)
            .expect("an unplaced item is on its component's list");
        // Lists: the placed one becomes the first of the tail.
        list[at..].rotate_left(1);
        let list = c.list..c.list + c.live;

        let (lo, hi) = (self.lo[item], self.hi[item]);
        let mut hull = lo..hi;
        let spans = self.first[item] as usize..self.first[item + 1] as usize;
        let single = spans.len() == 1;
        for i in spans.clone() {
            let span = self.spans[i];
            for rest in &mut self.rest[span.lo as usize..span.hi as usize] {
                *rest -= span.size;
            }
        }
        let mut apart = false;
        for border in &mut self.cuts[lo as usize + 1..hi as usize] {
            *border -= 1;
            apart |= *border == 0;
        }
        for i in list {
            let other = self.lists[i] as usize;
            let (other_lo, other_hi) = (self.lo[other], self.hi[other]);
            if other_lo >= hi || lo >= other_hi {
                continue;
            }
            let size = if single && self.first[other + 1] - self.first[other] == 1 {
                self.spans[spans.start].size
            } else {
                self.size_under(item, other)
            };
            if size == Height::default() {
                continue;
            }
            let base = self.admit(model, other, height + size);
            if base > self.base[other] {
                self.head_log
                    .push((other as u32, self.base[other], self.head[other]));
                self.base[other] = base;
                if base > self.head[other] {
                    self.head[other] = base;
                    hull.start = hull.start.min(other_lo);
                    hull.end = hull.end.max(other_hi);
                }
            }
        }
        (apart, hull.start as usize..hull.end as usize)
    }

    /// The greatest height that `item` takes in a section of `other`; zero if they never meet.
    pub(super) fn size_under(&self, item: usize, other: usize) -> Height {
        let mut greatest = Height::default();
        for a in self.spans_of(item) {
            for b in self.spans_of(other) {
                if a.lo < b.hi && b.lo < a.hi {
                    greatest = greatest.max(a.size);
                }
            }
        }
        greatest
    }

    /// Cuts `component` where no unplaced item spans a border. The pieces are queued before what
    /// follows the component, the shortest first, since it fails soonest; returns the first thing
    /// to solve. If a piece has no solution, `parent` fails.
    pub(super) fn split(&mut self, component: usize, parent: Option<usize>) -> Option<usize> {
        let c = self.components[component];
        self.reach[c.lo..c.hi].fill(0);
        for i in c.list..c.list + c.live {
            let item = self.lists[i] as usize;
            let reach = &mut self.reach[self.lo[item] as usize];
            *reach = (*reach).max(self.hi[item]);
        }
        let first_piece = self.components.len();
        let mut section = c.lo;
        while section < c.hi {
            let (lo, mut hi) = (section, self.reach[section] as usize);
            section += 1;
            while section < hi {
                hi = hi.max(self.reach[section] as usize);
                section += 1;
            }
            if hi > lo {
                self.components.push(Component {
                    lo,
                    hi,
                    list: 0,
                    live: 0,
                    parent,
                    next: None,
                });
            }
        }
        self.components[first_piece..].sort_compact_by_key(|piece| (piece.hi - piece.lo, piece.lo));
        let mut next = c.next;
        for piece in (first_piece..self.components.len()).rev() {
            let Component { lo, hi, .. } = self.components[piece];
            let list = self.lists.len();
            for i in c.list..c.list + c.live {
                let item = self.lists[i];
                let at = self.lo[item as usize] as usize;
                if lo <= at && at < hi {
                    self.lists.push(item);
                }
            }
            let piece_of = &mut self.components[piece];
            piece_of.list = list;
            piece_of.live = self.lists.len() - list;
            piece_of.next = next;
            next = Some(piece);
        }
        next
    }
}
