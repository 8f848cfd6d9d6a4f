//! Entry functions that several cores may run at once, each its own. // M4
//!
//! While one core runs one of them, another core may run another, and nothing orders the two. So
//! what any two of them touch of one memory has to be apart, unless it is one storage.

use std::collections::BTreeMap;

use super::super::sweep::{Next, Rect, overlaps};
use super::batch::{Batch, Role};
use super::machine::Machine;
use super::places::{Areas, Places};
use crate::ir::MemLocId;
use crate::pace::Pace;

/// Bytes that other cores may reach, and that a core has touched in a run of an entry function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Touched {
    stretch: u32,
    core: u32,
    memory: u32,
    storage: u32,
    start: u64,
    end: u64,
    writes: bool,
}

/// All that was touched, and by what first: scope, instruction, root.
#[derive(Default)]
pub(super) struct Apart {
    /// The entry function that runs now.
    pub stretch: u32,
    touched: BTreeMap<Touched, (u32, u32, u32)>,
}

impl Apart {
    /// Adds what a core has run.
    pub fn note(
        &mut self,
        core: u32,
        batch: &Batch,
        places: &Places,
        areas: &Areas,
        pace: &mut Pace<'_, '_>,
    ) {
        for instance in batch
            .instances
            .iter()
            .filter(|i| i.role == Role::Instruction)
        {
            let touches = batch.touches_of(instance).iter();
            if pace.over(10 * touches.len()) {
                break;
            }
            for (memory, touch) in touches.flat_map(|t| areas.lanes(t)) {
                if !places.is_common(memory) {
                    continue;
                }
                let touched = Touched {
                    stretch: self.stretch,
                    core,
                    memory,
                    storage: touch.storage,
                    start: touch.address,
                    end: touch.end(),
                    writes: touch.writes(),
                };
                let by = (instance.scope, instance.index, touch.root);
                self.touched.entry(touched).or_insert(by);
            }
        }
    }
}

impl Machine<'_> {
    /// Holds the entry functions against each other.
    pub fn compare_functions(&mut self, pace: &mut Pace<'_, '_>) {
        let Some(apart) = self.apart.take() else {
            return;
        };
        let list: Vec<(Touched, (u32, u32, u32))> = apart.touched.into_iter().collect();
        let rects: Vec<Rect> = (list.iter())
            .map(|(t, _)| Rect {
                first: t.memory.into(),
                last: t.memory.into(),
                start: t.start,
                end: t.end,
                owner: t.stretch,
            })
            .collect();
        overlaps(&rects, pace, |a, b| {
            let ((a, by_a), (b, by_b)) = (&list[a], &list[b]);
            let harm = a.core != b.core && a.storage != b.storage && (a.writes || b.writes);
            let pair = ("cores_collide", by_a.0, by_b.0, a.storage.min(b.storage));
            if harm && self.said.insert(pair) {
                let site = |by: &(u32, u32, u32)| self.scopes[by.0 as usize].site(MemLocId(by.2));
                let names = vec![site(by_a), site(by_b)];
                let sentence = format!(
                    "instructions {} and {} touch common bytes in [{}, {}) and [{}, {}), and \
                     nothing keeps the two functions from running at once",
                    by_a.1, by_b.1, a.start, a.end, b.start, b.end
                );
                let at = self.scopes[by_b.0 as usize].at();
                self.findings.add("cores_collide", at, || (names, sentence));
            }
            match self.findings.enough("cores_collide") {
                true => Next::Stop,
                false => Next::Continue,
            }
        })
    }
}
