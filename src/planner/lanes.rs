//! The axis of epochs once for each kind of core, end to end. // M7
//!
//! In unified geometry two groups may share bytes if no core is reached by both. The joint run
//! stays one problem for all that: time is the axis of epochs repeated, one *lane* for the cores
//! that look the same, and a group lives on the lanes of the cores that it reaches. If every group
//! reaches every core, or in split geometry, there is one lane, and nothing is repeated.

use super::scene::Scene;
use crate::error::{Fault, Result};
use crate::ir::{FlatIndex, Segment};
use crate::options::Geometry;
use crate::ordered_map::OrderedMap;
use crate::sorting::CompactSort as _;

/// The lanes of a program.
pub(super) struct Lanes {
    /// By module position.
    of_module: Vec<u32>,
    count: u32,
    /// The length of each.
    epochs: u32,
}

impl Lanes {
    /// The lanes of a program; `differs` says of a module that its core looks like no other.
    ///
    /// # Errors
    ///
    /// More time than there are numbers for.
    pub(super) fn of(scene: &Scene<'_>, differs: impl Fn(usize) -> bool) -> Result<Lanes> {
        let modules = scene.modules.len();
        let epochs = scene.epochs.len();
        let mut lanes = Lanes {
            of_module: vec![0; modules],
            count: 1,
            epochs,
        };
        if scene.options.geometry == Geometry::Split {
            return Ok(lanes);
        }
        // Numbered by core, so that the order of modules does not matter. // S4
        let mut by_core: Vec<usize> = (0..modules).collect();
        by_core.sort_compact_by_key(|&m| scene.modules[m].core());
        let mut refine = |differs: &dyn Fn(usize) -> usize| {
            let mut numbers: OrderedMap<(u32, usize), u32> = OrderedMap::new();
            for &m in &by_core {
                let next = numbers.len() as u32;
                let key = (lanes.of_module[m], differs(m));
                lanes.of_module[m] = *numbers.entry(key).or_insert(next);
            }
            lanes.count = numbers.len() as u32;
        };
        refine(&|m| if differs(m) { m + 1 } else { 0 });
        let mut seen: Vec<&[usize]> = scene.reach.iter().map(Vec::as_slice).collect();
        seen.sort_compact_by(Ord::cmp);
        seen.dedup();
        for reached in seen {
            refine(&|m| usize::from(reached.contains(&m)));
        }
        match lanes.count.checked_mul(epochs) {
            Some(_) => Ok(lanes),
            None => {
                let what = format!("the time of {epochs} epochs on {} cores", lanes.count);
                Err(Fault::Overflow { what }.into())
            }
        }
    }

    /// How many there are; none without a core.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The lane of a module.
    pub(super) fn of_module(&self, module: usize) -> u32 {
        self.of_module[module]
    }

    /// The lanes of some modules, ascending.
    pub(super) fn of_modules(&self, modules: &[usize]) -> Vec<u32> {
        let mut lanes: Vec<u32> = modules.iter().map(|&m| self.of_module[m]).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }

    /// A life on the axis of epochs, on each of some lanes.
    pub(super) fn spread(&self, lanes: &[u32], life: &[Segment]) -> Vec<Segment> {
        let on = |lane: u32, s: &Segment| {
            let at = |t: FlatIndex| FlatIndex(lane * self.epochs + t.0); // Checked by `of`.
            Segment::new(at(s.first()), at(s.last())).expect("it only moves")
        };
        let lanes = lanes.iter();
        lanes
            .flat_map(|&lane| life.iter().map(move |s| on(lane, s)))
            .collect()
    }

    /// The lane and the epoch of a moment.
    pub(super) fn split(&self, time: u32) -> (u32, u32) {
        let epochs = self.epochs.max(1);
        (time / epochs, time % epochs)
    }
}
