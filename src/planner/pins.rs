//! What the host has pinned, seen from one function: the floor, and who holds which bytes when.
//!
//! Pinned weights, constants, inputs and outputs occupy their bytes in every function of their
//! module, a pin in `shared` or `debug` in every function of every module; a pinned candidate
//! lives its own life in its own function. // L6b

use std::collections::BTreeSet;

use super::calls::CallGraph;
use super::ranges::Ranges;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Lives, MemLocId, MemoryType, Module, Segment, Space, Usage};
use crate::liveness::Liveness;
use crate::options::Options;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::place::{PAGE, Pin, overlapping_pins};
use crate::shared::{Groups, Member};

/// A pinned root, by position of its module and function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PinnedRoot {
    pub module: usize,
    pub function: usize,
    pub loc: MemLocId,
    pub space: Space,
    pub pin: Pin,
    /// Holds its bytes wherever its space is visible, whatever the lives say.
    owned: bool,
}

impl PinnedRoot {
    /// Whether it holds its bytes wherever its space is visible.
    pub(super) fn is_owned(&self) -> bool {
        self.owned
    }
}

/// The pins of a whole program.
pub(super) struct Pins {
    all: Vec<PinnedRoot>,
}

/// The pins that one function sees in one space, with their lives there.
#[derive(Default)]
pub(super) struct VisiblePins {
    /// The roots of the first pins; what follows is held by callees.
    pub roots: Vec<PinnedRoot>,
    pub pins: Vec<Pin>,
    pub lives: Lives,
}

impl Pins {
    pub(super) fn of(
        modules: &[Module],
        groups: &Groups,
        options: &Options,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Pins> {
        let mut all = Vec::new();
        for (m, module) in modules.iter().enumerate() {
            for (f, function) in module.functions().iter().enumerate() {
                for (i, loc) in function.memlocs().iter().enumerate() {
                    pace.work(1)?;
                    let Some(start) = loc.pin().filter(|_| loc.memory == MemoryType::Dram) else {
                        continue;
                    };
                    let member = Member {
                        module: m as u32,
                        function: f as u32,
                        loc: MemLocId::new(i),
                    };
                    let space = groups.final_space(member, loc);
                    let owned = match loc.usage {
                        Usage::Weight | Usage::Constant => true,
                        Usage::Input | Usage::Output => !options.reuse_io || space == Space::Shared,
                        Usage::Internal | Usage::Collective => false,
                    };
                    all.push(PinnedRoot {
                        module: m,
                        function: f,
                        loc: MemLocId::new(i),
                        space,
                        pin: Pin {
                            start,
                            end: start + loc.bytes,
                        }, // Checked when it was added.
                        owned,
                    });
                }
            }
        }
        Ok(Pins { all })
    }

    /// Whether a pinned root of this function holds its bytes from entry to exit.
    pub(super) fn is_owned(&self, (module, function): (usize, usize), loc: MemLocId) -> bool {
        let key = (module, function, loc);
        let found = self
            .all
            .binary_search_by_key(&key, |p| (p.module, p.function, p.loc));
        found.is_ok_and(|i| self.all[i].owned)
    }

    fn seen_from(&self, module: usize, space: Space) -> impl Iterator<Item = &PinnedRoot> {
        self.all
            .iter()
            .filter(move |p| p.space == space && (space != Space::Local || p.module == module))
    }

    /// What is pinned in the local space of one module, each with whether it is held always.
    pub(super) fn local(&self, module: usize) -> impl Iterator<Item = &PinnedRoot> {
        self.seen_from(module, Space::Local)
            .filter(|p| p.pin.start < p.pin.end)
    }

    /// One past the last pinned byte of a space, unrounded; 0 if nothing is pinned.
    pub(super) fn end(&self, module: usize, space: Space) -> u64 {
        let bytes = self
            .seen_from(module, space)
            .filter(|p| p.pin.start < p.pin.end);
        bytes.map(|p| p.pin.end).max().unwrap_or(0)
    }

    /// `find_start_addr`: the page-rounded end of what the host pinned in the space. // P4
    pub(super) fn floor(&self, module: usize, space: Space) -> Result<u64> {
        let end = self.end(module, space);
        end.checked_next_multiple_of(PAGE).ok_or_else(|| {
            Fault::Overflow {
                what: format!("the end of the pins, {end}, rounded up to a page,"),
            }
            .into()
        })
    }

    /// By call of a function: the bytes that pins hold somewhere below it, and nowhere else. Within
    /// the callees they may take turns, so they are merged.
    fn held_below(
        &self,
        (module, function): (usize, usize),
        space: Space,
        calls: &CallGraph,
    ) -> OrderedMap<FlatIndex, Ranges> {
        let mut held: OrderedMap<FlatIndex, Ranges> = OrderedMap::new();
        for (callee, indices) in calls.below(function) {
            let called = |p: &&PinnedRoot| (p.module, p.function) == (module, callee) && !p.owned;
            let pins: Vec<Pin> = self
                .seen_from(module, space)
                .filter(called)
                .map(|p| p.pin)
                .collect();
            for t in indices {
                held.entry(t).or_default().add(pins.iter().copied());
            }
        }
        held
    }

    /// The pins that a function sees in a space, each with its life there: its own, those that
    /// are held everywhere, and at a call those that live somewhere below it. // L6b, L7
    ///
    /// # Errors
    ///
    /// Two of them hold the same bytes at the same time. Two functions that pin one name at one
    /// address mean one storage, which counts once.
    pub(super) fn visible(
        &self,
        modules: &[Module],
        (module, function): (usize, usize),
        space: Space,
        liveness: &Liveness,
        calls: &CallGraph,
    ) -> Result<VisiblePins> {
        let mut visible = VisiblePins::default();
        let seen = &modules[module].functions()[function];
        let whole = FlatIndex((seen.instructions().len() as u32).saturating_sub(1));
        let whole = Segment::new(FlatIndex(0), whole);
        let mut storages = BTreeSet::new();
        // The function's own pins first, so that a storage it shares keeps its own name here.
        let own = |p: &&PinnedRoot| (p.module, p.function) == (module, function);
        let others = self.seen_from(module, space).filter(|p| !own(p) && p.owned);
        for root in self.seen_from(module, space).filter(own).chain(others) {
            let home = &modules[root.module].functions()[root.function];
            let storage = (home.memloc_name(root.loc), root.pin.start, root.pin.end);
            if root.owned && !storage.0.is_empty() && !storages.insert(storage) {
                continue;
            }
            if root.owned {
                visible.lives.push(whole);
            } else {
                visible
                    .lives
                    .push(liveness.lives.of(root.loc.index()).iter().copied());
            }
            visible.roots.push(*root);
            visible.pins.push(root.pin);
        }
        for (t, ranges) in self.held_below((module, function), space, calls) {
            for &range in ranges.all() {
                visible.lives.push(Segment::new(t, t));
                visible.pins.push(range);
            }
        }
        if let Some((a, b)) = overlapping_pins(&visible.pins, &visible.lives) {
            return Err(overlap(modules, (module, function), &visible, (a, b)));
        }
        Ok(visible)
    }
}

impl VisiblePins {
    /// How messages call a pin, from a function given by position.
    pub(super) fn label(
        &self,
        modules: &[Module],
        (module, function): (usize, usize),
        pin: usize,
    ) -> String {
        let Some(root) = self.roots.get(pin) else {
            return "what a callee has pinned".to_owned();
        };
        let home = &modules[root.module].functions()[root.function];
        let name = home.label(root.loc);
        if (root.module, root.function) == (module, function) {
            name
        } else {
            format!("{name} of {}", home.name())
        }
    }
}

/// Two pins of a view that share bytes while both live.
fn overlap(
    modules: &[Module],
    at: (usize, usize),
    visible: &VisiblePins,
    (a, b): (usize, usize),
) -> Error {
    let fault = Fault::PinsOverlap {
        start: visible.pins[b].start,
        end: visible.pins[b].end,
        other: visible.label(modules, at, a),
        other_start: visible.pins[a].start,
        other_end: visible.pins[a].end,
    };
    Error::from(fault)
        .at_location(&visible.label(modules, at, b))
        .in_function(modules[at.0].functions()[at.1].name())
}
