//! A function as this analysis sees it: engines, fences, and the bytes that instructions touch.
//!
//! Bytes are cut into *cells* at every point where some access begins or ends. An access is then
//! a run of cells, two accesses meet iff their runs do, and nothing else has to know about
//! addresses, spaces, roots and views.

use std::collections::BTreeSet;

use crate::ir::{FlatIndex, Function, Kind};
use crate::pace::{Pace, SOME};
use crate::sorting::CompactSort as _;

use super::layout::Layout;

/// A run of cells that an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    /// The first cell.
    pub first: u32,
    /// One past the last cell.
    pub end: u32,
    /// Whether it writes them.
    pub writes: bool,
}

/// The instructions of one function.
#[derive(Debug)]
pub(super) struct Code {
    engines: usize,
    engine: Vec<u32>, // By flat index; `FENCE` for what all engines wait for.
    starts: Vec<u32>, // Of an instruction's touches; one entry more than instructions.
    touches: Vec<Touch>,
    cells: u32,
}

const FENCE: u32 = u32::MAX;

impl Code {
    pub(super) fn new(function: &Function, layout: &Layout, pace: &mut Pace<'_, '_>) -> Code {
        let instructions = function.instructions();
        let fences = |kind| matches!(kind, Kind::Barrier | Kind::Call); // L7, M4
        let mut numbers = BTreeSet::new();
        for some in instructions.chunks(SOME) {
            if pace.over(some.len()) {
                break;
            }
            let some = some.iter().filter(|i| !fences(i.kind));
            numbers.extend(some.map(|i| i.engine));
        }
        let numbers: Vec<u32> = numbers.into_iter().collect();

        let mut engine = Vec::with_capacity(instructions.len());
        let mut starts = Vec::with_capacity(instructions.len() + 1);
        let mut ranges = Vec::new(); // (area, first byte, end, writes)
        starts.push(0);
        for (index, instruction) in instructions.iter().enumerate() {
            if pace.over(1) {
                break;
            }
            if fences(instruction.kind) {
                // Everything before comes before it and everything after comes after it, whatever
                // it touches.
                engine.push(FENCE);
            } else {
                let number = numbers.binary_search(&instruction.engine);
                engine.push(number.expect("collected above") as u32);
                let index = FlatIndex::new(index);
                if pace.over(function.uses(index).len() + function.defs(index).len()) {
                    break;
                }
                let runs = layout.runs(index);
                let uses = function.uses(index).iter().map(|a| (a, false));
                let defs = function.defs(index).iter().map(|a| (a, true));
                for (access, writes) in uses.chain(defs) {
                    if runs && access.bytes > 0 {
                        let (root, base) = function.root(access.loc);
                        let (area, first, end) =
                            layout.range(root, base + access.offset, access.bytes);
                        ranges.push((area, first, end, writes));
                    }
                }
            }
            starts.push(u32::try_from(ranges.len()).expect("fewer than 2^32 operands"));
        }

        let mut cuts: Vec<(u32, u64)> = Vec::new();
        for some in ranges.chunks(SOME) {
            if pace.over(some.len()) {
                break;
            }
            for &(area, first, end, _) in some {
                cuts.extend([(area, first), (area, end)]);
            }
        }
        cuts.sort_paced_by_key(|&cut| cut, pace);
        cuts.dedup();
        let cell = |cut: (u32, u64)| cuts.binary_search(&cut).expect("a cut") as u32;
        let mut touches = Vec::with_capacity(ranges.len());
        for (area, first, end, writes) in ranges {
            // Two searches.
            if pace.over(10) {
                break;
            }
            touches.push(Touch {
                first: cell((area, first)),
                end: cell((area, end)),
                writes,
            });
        }
        if pace.is_stopped() {
            // Nothing but fences: whatever goes on with it finds nothing.
            engine.resize(instructions.len(), FENCE);
            starts.clear();
            starts.resize(instructions.len() + 1, 0);
        }
        Code {
            engines: numbers.len(),
            engine,
            starts,
            touches,
            cells: u32::try_from(cuts.len()).expect("fewer than 2^32 cuts"),
        }
    }

    /// How many instructions there are.
    pub(super) fn instructions(&self) -> u64 {
        self.engine.len() as u64
    }

    /// How many engines run anything; they are numbered from 0.
    pub(super) fn engines(&self) -> usize {
        self.engines
    }

    /// How many cells there are.
    pub(super) fn cells(&self) -> u32 {
        self.cells
    }

    /// The engine of an instruction; `None` for a fence.
    pub(super) fn engine(&self, index: u32) -> Option<usize> {
        let engine = self.engine[index as usize];
        (engine != FENCE).then_some(engine as usize)
    }

    /// Whether all engines wait for an instruction, and it for them.
    pub(super) fn is_fence(&self, index: u32) -> bool {
        self.engine[index as usize] == FENCE
    }

    /// What an instruction touches; nothing for a fence.
    pub(super) fn touches(&self, index: u32) -> &[Touch] {
        let i = index as usize;
        &self.touches[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}
