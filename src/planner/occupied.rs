//! What shared groups hold on one core: obstacles of its private locations. // M7
//!
//! In unified geometry a core has one range of addresses. The groups that reach it are placed
//! first, and each takes its bytes at all instructions that may run within its epochs, whether
//! anything touches it there or not. Groups with one life are one obstacle to the search, for
//! there may be thousands; a report names them one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::frame::rounded;
use super::joint::JointRun;
use super::pins::VisiblePins;
use super::ranges::Ranges;
use super::scene::Scene;
use crate::error::{Error, Fault, Result};
use crate::ir::Segment;
use crate::place::{Item, Pin, overlapping_pins};
use crate::shared::home;

/// The groups on one core.
pub(super) struct Occupied {
    /// By when others must see them, on the axis of epochs.
    by_life: BTreeMap<Vec<Segment>, Vec<Held>>,
}

/// The bytes of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Its position.
    pub group: usize,
    pub bytes: Pin,
    /// By the host.
    pub pinned: bool,
}

impl Occupied {
    /// The groups that reach a module's core, where the joint run has put them.
    pub(super) fn of(scene: &Scene<'_>, run: &JointRun, module: usize) -> Occupied {
        let mut by_life: BTreeMap<Vec<Segment>, Vec<Held>> = BTreeMap::new();
        for (i, group) in scene.groups.all.iter().enumerate() {
            let Some(start) = run.addresses[i].filter(|_| scene.reaches(i, module)) else {
                continue;
            };
            // A pin counts with its exact bytes. // P2
            let bytes = match group.pin {
                Some(_) => group.bytes,
                None => rounded(group.bytes, scene.options).unwrap_or(group.bytes),
            };
            let held = Held {
                group: i,
                bytes: Pin {
                    start,
                    end: start + bytes, // Checked when it was placed, or pinned.
                },
                pinned: group.pin.is_some(),
            };
            by_life.entry(scene.held_life(i)).or_default().push(held);
        }
        Occupied { by_life }
    }

    /// The groups as one function of the core sees them, by the instructions at which they are
    /// there.
    pub(super) fn in_function(
        &self,
        scene: &Scene<'_>,
        (module, function): (usize, usize),
    ) -> InFunction {
        let mut by_life: BTreeMap<Vec<Segment>, Vec<Held>> = BTreeMap::new();
        for (life, held) in &self.by_life {
            let indices = scene.epochs.indices(module, function, life);
            if !indices.is_empty() {
                by_life.entry(indices).or_default().extend(held);
            }
        }
        InFunction { by_life }
    }
}

/// The groups on one core while one function runs.
#[derive(Default)]
pub(super) struct InFunction {
    by_life: BTreeMap<Vec<Segment>, Vec<Held>>,
}

impl InFunction {
    /// Every group with its life.
    pub(super) fn all(&self) -> impl Iterator<Item = (Held, &[Segment])> {
        let lives = self.by_life.iter();
        lives.flat_map(|(life, held)| held.iter().map(|&held| (held, life.as_slice())))
    }

    /// The bytes of the groups that the joint run has placed, those of one life merged.
    pub(super) fn merged(&self) -> impl Iterator<Item = (Pin, &[Segment])> {
        self.by_life.iter().flat_map(|(life, held)| {
            let mut ranges = Ranges::default();
            ranges.add(held.iter().filter(|h| !h.pinned).map(|h| h.bytes));
            let ranges = ranges.all().to_vec();
            ranges.into_iter().map(|range| (range, life.as_slice()))
        })
    }

    /// What they would add to the load if they could lie anywhere: an item for each life.
    pub(super) fn loads(&self) -> impl Iterator<Item = (Item, &[Segment])> {
        self.by_life.iter().filter_map(|(life, held)| {
            let placed = held.iter().filter(|h| !h.pinned);
            let bytes = |h: &Held| h.bytes.end - h.bytes.start;
            let size = placed.fold(0u64, |sum, h| sum.saturating_add(bytes(h)));
            let item = Item { size, align: 1 };
            (size > 0).then_some((item, life.as_slice()))
        })
    }

    /// Refuses pins of this core and of the shared space that hold the same bytes at one time.
    pub(super) fn check_pins(
        &self,
        scene: &Scene<'_>,
        at: (usize, usize),
        visible: &VisiblePins,
    ) -> Result<()> {
        let mut pins = visible.pins.clone();
        let mut lives = visible.lives.clone();
        let mut groups = Vec::new();
        let mut storages = BTreeSet::new();
        for (held, life) in self.all().filter(|(held, _)| held.pinned) {
            // One name at one address is one storage.
            let owner = scene.groups.all[held.group].owner;
            let name = home(scene.modules, owner).1.memloc_name(owner.loc);
            if storages.insert((name, held.bytes.start, held.bytes.end)) {
                pins.push(held.bytes);
                lives.push(life.iter().copied());
                groups.push(held.group);
            }
        }
        let Some((a, b)) = overlapping_pins(&pins, &lives) else {
            return Ok(());
        };
        let label = |i: usize| match i.checked_sub(visible.pins.len()) {
            Some(group) => group_label(scene, groups[group]),
            None => visible.label(scene.modules, at, i),
        };
        let fault = Fault::PinsOverlap {
            start: pins[b].start,
            end: pins[b].end,
            other: label(a),
            other_start: pins[a].start,
            other_end: pins[a].end,
        };
        Err(Error::from(fault).at_location(&label(b)))
    }
}

/// How reports call a group: its owner's location, and whose it is.
pub(super) fn group_label(scene: &Scene<'_>, group: usize) -> String {
    let owner = scene.groups.all[group].owner;
    let (module, function) = home(scene.modules, owner);
    let name = function.label(owner.loc);
    format!("{name} (shared, owner core {})", module.core())
}
