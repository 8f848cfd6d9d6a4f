//! The search itself: depth first over the branches of `choose`, on an explicit stack.
//!
//! A component in which no unplaced item spans some border falls apart, and its pieces are solved
//! one after the other. They are independent: when one of them has no solution, whatever was done
//! in the others does not matter, and the search goes back to the frame that split them.
//!
//! # What is complete about it
//!
//! Only placements in which every item rests are looked for (see `model`). At a spot each
//! candidate is tried, then nothing at all; the last branch raises the heads of the items that are
//! now known not to start there. Two candidates that are interchangeable need one try. And if an
//! item that fills its valley from side to side was refuted at the floor, it cannot come anywhere
//! else below the walls: there it could change places with what is under it. This holds for plain
//! models only, where everything may start anywhere.
//!
//! A state refuted to its end goes into the nogoods. All that raised its heads follows from the
//! floors or from refuted siblings, so the refutation holds wherever the floors return.

use std::ops::Range;

use super::bound::Sweep;
use super::choose::{Charges, Chooser, Damping, Spot};
use super::model::Model;
use super::nogoods::{Key, Nogoods, Words};
use super::random::Random;
use super::state::{Mark, State};
use crate::place::steps::Steps;
use crate::sorting::CompactSort as _;
use dramalloc_engine::Height;

/// How a run chooses; what fails once may succeed with another choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) damping: Damping,
    /// Candidates wide in sections come first, else those that live long.
    pub(super) by_sections: bool,
    /// The width of each item is taken up to this share wrong.
    pub(super) noise: f32,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The start of each movable item, in units.
    Placed(Vec<u64>),
    /// There is no placement below the target.
    Refuted,
    /// The nodes or the steps ran out.
    Unknown,
}

struct Frame {
    component: usize,
    /// The frame that fails when this one has no branch left.
    parent: Option<usize>,
    spot: Spot,
    /// Its candidates in the common list, the one to try next, and whether one was tried.
    candidates: Range<usize>,
    next: usize,
    /// Whether the empty branch is still to come.
    empty: bool,
    /// Where its raised heads begin and end in the common list.
    raised: Range<usize>,
    mark: Mark,
    key: Key,
}

/// A node to look at.
struct Node {
    component: usize,
    parent: Option<usize>,
    hull: Range<usize>,
}

pub(super) struct Search {
    state: State,
    sweep: Sweep,
    chooser: Chooser,
    charges: Charges,
    nogoods: Nogoods,
    words: Words,
    /// How early each item is tried.
    rank: Vec<f32>,
    frames: Vec<Frame>,
    candidates: Vec<u32>,
    raised: Vec<(u32, Height)>,
    plain: bool,
}

impl Search {
    pub(super) fn new(model: &Model, nogood_bits: u32) -> Search {
        Search {
            state: State::new(model),
            sweep: Sweep::new(model.sections),
            chooser: Chooser::new(model.sections),
            charges: Charges::new(model.sections),
            nogoods: Nogoods::new(nogood_bits),
            words: Words::new(model.items(), model.sections),
            rank: vec![0.0; model.items()],
            frames: Vec::new(),
            candidates: Vec::new(),
            raised: Vec::new(),
            plain: model.is_plain(),
        }
    }

    /// Looks for a placement in which nothing is above `target`, over at most `nodes` nodes.
    pub(super) fn run(
        &mut self,
        model: &Model,
        target: u64,
        settings: Settings,
        random: &mut Random,
        mut nodes: u64,
        steps: &mut Steps<'_, '_>,
    ) -> Verdict {
        assert!(
            target <= Height::MAX_UNITS,
            "heights are exact up to the target"
        );
        self.charges.restart(settings.damping);
        self.set_ranks(model, settings, random);
        self.frames.clear();
        self.candidates.clear();
        self.raised.clear();
        // Setting up costs something even if the first look refutes it.
        let setting_up = (model.items() + model.sections) as u64;
        if !steps.spend(setting_up) {
            return Verdict::Unknown;
        }
        let Some(first) = self.state.reset(model, target) else {
            return Verdict::Refuted;
        };
        let mut next = first.map(|component| self.whole(component));
        while let Some(node) = next {
            let mut work = 0;
            let solved = self.state.components[node.component].live == 0;
            let alive = solved || self.enter(model, &node, target, &mut work);
            if nodes == 0 || !steps.spend(work + 1) {
                return Verdict::Unknown;
            }
            nodes -= 1;
            next = if solved {
                match self.state.components[node.component].next {
                    Some(component) => Some(self.whole(component)),
                    None => break,
                }
            } else {
                let from = if alive {
                    Some(self.frames.len() - 1)
                } else {
                    node.parent
                };
                match self.next_node(model, from, &mut nodes) {
                    Some(node) => Some(node),
                    None => return Verdict::Refuted,
                }
            };
        }
        let starts = &self.state.start[..model.movable];
        Verdict::Placed(starts.iter().map(|start| start.units()).collect())
    }

    fn set_ranks(&mut self, model: &Model, settings: Settings, random: &mut Random) {
        let tallest = model.size.iter().copied().max().unwrap_or(1) as f32;
        for (item, rank) in self.rank.iter_mut().enumerate() {
            let width = if settings.by_sections {
                (model.hull[item].end - model.hull[item].start) as f32
            } else {
                model.duration[item] as f32
            };
            // The size decides between equal widths.
            let size = model.size[item] as f32 / tallest;
            *rank = (width + 1e-3 * size) * (1.0 + settings.noise * random.signed_unit());
        }
    }

    /// A component in which everything is still to be looked at.
    fn whole(&self, component: usize) -> Node {
        let c = &self.state.components[component];
        Node {
            component,
            parent: c.parent,
            hull: c.lo..c.hi,
        }
    }

    /// Draws the conclusions at a node and opens a frame on it, unless it is refuted.
    fn enter(&mut self, model: &Model, node: &Node, target: u64, work: &mut u64) -> bool {
        let state = &mut self.state;
        let c = state.components[node.component];
        if !self.sweep.infer(
            model,
            state,
            &mut self.charges,
            node.component,
            node.hull.clone(),
            work,
        ) {
            return false;
        }
        let mut key = Key::default();
        for &item in state.unplaced(node.component) {
            self.words.add_item(&mut key, item as usize);
        }
        for section in c.lo..c.hi {
            self.words
                .add_floor(&mut key, section, state.floor[section].units());
        }
        let key = key.at_target(target);
        if self.nogoods.contains(key) {
            return false;
        }
        *work += (c.live + c.hi - c.lo) as u64;
        let spot = self
            .chooser
            .choose(model, state, &mut self.charges, node.component);
        let Some(spot) = spot else {
            self.nogoods.insert(key);
            return false;
        };
        let first = self.candidates.len();
        match spot.pin {
            Some(pin) => self.candidates.push(pin as u32),
            None => {
                let rank = &self.rank;
                self.candidates
                    .extend(candidates(state, node.component, &spot));
                self.candidates[first..].sort_compact_by(|&a, &b| {
                    rank[b as usize]
                        .total_cmp(&rank[a as usize])
                        .then(a.cmp(&b))
                });
            }
        }
        self.frames.push(Frame {
            component: node.component,
            parent: node.parent,
            empty: spot.may_stay_empty,
            spot,
            candidates: first..self.candidates.len(),
            next: first,
            raised: self.raised.len()..self.raised.len(),
            mark: state.mark(),
            key,
        });
        true
    }

    /// The next branch of frame `from`, or of the nearest one below it that has any; `None` if
    /// there is none left at all.
    fn next_node(
        &mut self,
        model: &Model,
        mut from: Option<usize>,
        nodes: &mut u64,
    ) -> Option<Node> {
        loop {
            let top = from?;
            self.frames.truncate(top + 1);
            let frame = &self.frames[top];
            self.state.undo(frame.mark);
            self.candidates.truncate(frame.candidates.end);
            self.raised.truncate(frame.raised.end);
            let node = match self.next_candidate(model, top) {
                Some(item) => Some(self.place(model, top, item)),
                None => self.leave_empty(model, top),
            };
            if node.is_some() {
                return node;
            }
            let frame = &self.frames[top];
            self.nogoods.insert(frame.key);
            from = frame.parent;
            *nodes = nodes.saturating_sub(1);
        }
    }

    /// The next candidate worth a try. What its forerunner's failure tells is noted.
    fn next_candidate(&mut self, model: &Model, top: usize) -> Option<usize> {
        let frame = &mut self.frames[top];
        let tried = &self.candidates[frame.candidates.start..frame.next];
        if let (Some(&failed), true) = (tried.last(), self.plain) {
            let failed = failed as usize;
            let (lo, hi) = (self.state.lo[failed], self.state.hi[failed]);
            if lo as usize == frame.spot.valley.start && hi as usize == frame.spot.valley.end {
                if frame.spot.wall >= Height::INFINITE {
                    // It fits nowhere in its component.
                    frame.empty = false;
                    return None;
                }
                let above = frame.spot.wall + Height::from_units(1);
                self.raised.push((failed as u32, above));
                frame.raised.end += 1;
            }
        }
        while frame.next < frame.candidates.end {
            let item = self.candidates[frame.next] as usize;
            let tried = &self.candidates[frame.candidates.start..frame.next];
            frame.next += 1;
            let again = |&other: &u32| model.interchangeable(item, other as usize);
            if !tried.iter().any(again) {
                return Some(item);
            }
        }
        None
    }

    /// Places a candidate of frame `top`; the node after it.
    fn place(&mut self, model: &Model, top: usize, item: usize) -> Node {
        let frame = &self.frames[top];
        let component = frame.component;
        let raised = frame.raised.clone();
        let (apart, mut hull) = self.state.place(model, component, item);
        for i in raised {
            let (other, head) = self.raised[i];
            if other as usize != item {
                self.raise(other as usize, head, &mut hull);
            }
        }
        if apart {
            match self.state.split(component, Some(top)) {
                Some(first) => return self.whole(first),
                None => hull = 0..0, // Nothing is left here nor anywhere.
            }
        }
        Node {
            component,
            parent: Some(top),
            hull,
        }
    }

    /// Leaves the spot of frame `top` empty, once; `None` if that is impossible.
    fn leave_empty(&mut self, model: &Model, top: usize) -> Option<Node> {
        let frame = &mut self.frames[top];
        if !std::mem::take(&mut frame.empty) {
            return None;
        }
        let (component, section, floor) = (frame.component, frame.spot.section, frame.spot.floor);
        let raised = frame.raised.clone();
        let state = &mut self.state;
        // What could have started here must rest on something unplaced.
        let own_raises = self.raised.len();
        let mut next_floor = Height::INFINITE;
        for &item in state.unplaced(component) {
            let item = item as usize;
            if !over(state, item, section) {
                continue;
            }
            let rise = if state.head[item] == floor {
                let rise = least_support(state, component, item);
                self.raised.push((item as u32, rise));
                rise
            } else {
                state.head[item]
            };
            next_floor = next_floor.min(rise);
        }
        if next_floor >= Height::INFINITE || next_floor + state.rest[section] > state.target {
            self.charges.add(section);
            return None;
        }
        let mut hull = section..section + 1;
        for i in raised.start..self.raised.len() {
            let (item, head) = self.raised[i];
            let item = item as usize;
            let head = if i < own_raises {
                head
            } else {
                head.max(next_floor)
            };
            let head = self.state.admit(model, item, head);
            self.raise(item, head, &mut hull);
        }
        Some(Node {
            component,
            parent: Some(top),
            hull,
        })
    }

    fn raise(&mut self, item: usize, head: Height, hull: &mut Range<usize>) {
        if head > self.state.head[item] {
            self.state.raise_head(item, head);
            hull.start = hull.start.min(self.state.lo[item] as usize);
            hull.end = hull.end.max(self.state.hi[item] as usize);
        }
    }
}

/// Whether `item` lives in `section`.
fn over(state: &State, item: usize, section: usize) -> bool {
    let covers = |lo: u32, hi: u32| lo as usize <= section && section < hi as usize;
    covers(state.lo[item], state.hi[item])
        && state
            .spans_of(item)
            .iter()
            .any(|span| covers(span.lo, span.hi))
}

/// The items that may cover the spot.
fn candidates(state: &State, component: usize, spot: &Spot) -> impl Iterator<Item = u32> {
    // Sorted by head: those at the floor come before all that could start only higher.
    let list = state.unplaced(component).iter().copied();
    let low = list.take_while(|&item| state.head[item as usize] <= spot.floor);
    low.filter(|&item| {
        let item = item as usize;
        state.head[item] == spot.floor
            && state.base[item] == spot.floor
            && over(state, item, spot.section)
    })
}

/// The least top of an unplaced item that `item` could rest on.
fn least_support(state: &State, component: usize, item: usize) -> Height {
    let mut least = Height::INFINITE;
    for &other in state.unplaced(component) {
        let other = other as usize;
        if state.head[other] >= least
            || other == item
            || state.lo[other] >= state.hi[item]
            || state.lo[item] >= state.hi[other]
        {
            continue;
        }
        let size = state.size_under(other, item);
        if size > Height::default() {
            // A part elsewhere may be all that it rests on, and be smaller.
            let spans = state.spans_of(other).iter();
            let meeting = spans.filter(|a| {
                let mut spans = state.spans_of(item).iter();
                spans.any(|b| a.lo < b.hi && b.lo < a.hi)
            });
            let size = meeting
                .map(|span| span.size)
                .reduce(Height::min)
                .unwrap_or(size);
            least = least.min(state.head[other] + size);
        }
    }
    least
}
