//! When the bytes of a plan are taken, on one axis of time that all cores share.
//!
//! Viewers want one axis, and a program has one per function. So the functions stand one after
//! another, each in a window as long as the longest function of that name on any core, and those of
//! one name start together on all cores. One step of the axis is one instruction: the axis time of an
//! instruction is its flat index from the start of its window. // L1
//!
//! What was placed becomes tracks, one per core and final space, since addresses of different spaces
//! have nothing to do with each other. A track is a list of lives: a run of axis times, both ends
//! included (L2), with the bytes as placed. Views are bytes of their roots and have no life of their
//! own; what has no address or no bytes takes none.
//!
//! An instruction that works in place hands an operand's bytes over to its result (L8): at its time,
//! both have them. Nothing else in a right plan meets in time and space. The order of layout is not
//! that of control, so either may have the bytes at the time beside it, too, where something else
//! runs; lives are cut there, so that the operand's always ends at that time and the result's begins.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ir::{FlatIndex, Function, MemLocId, MemoryType, Module, Program, Space};
use crate::plan::{FunctionPlan, MemLocPlan, Plan};
use crate::sorting::CompactSort as _;

/// Lives of a plan, and the axis that they lie on.
pub(super) struct Timeline {
    /// In the order of the modules; local, shared, debug. None is empty.
    pub(super) tracks: Vec<Track>,
    /// The axis time of each function's first instruction, by module and function.
    pub(super) starts: Vec<Vec<u64>>,
}

/// The lives of one space of one core.
pub(super) struct Track {
    /// A position in the program's modules.
    pub(super) module: usize,
    pub(super) space: Space,
    /// By first time, then by address.
    pub(super) lives: Vec<Life>,
}

/// One run of times in which bytes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) function: u32,
    pub(super) loc: MemLocId,
    /// The first axis time, and the last; closed.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) address: u64,
    /// Bytes as placed, at least one.
    pub(super) size: u64,
    /// Of them, what another life takes over at `last`, which begins then.
    pub(super) given: u64,
}

impl Life {
    /// One past its highest byte; a plan from elsewhere may say anything.
    pub(super) fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }
}

impl Timeline {
    /// The timeline of a plan; an error if it is not of this program.
    pub(super) fn of(program: &Program, plan: &Plan) -> Result<Timeline> {
        plan.check_is_of(program)?;
        let starts = starts(program.modules());
        let mut tracks = Vec::new();
        for (m, module) in program.modules().iter().enumerate() {
            for &space in Space::ALL {
                let mut lives = Vec::new();
                for (f, function) in module.functions().iter().enumerate() {
                    let planned = &plan.modules[m].functions[f];
                    let cuts = cuts(function, planned);
                    for (id, loc) in function.memloc_ids().zip(&planned.memlocs) {
                        let Some(address) = loc.address.filter(|_| loc.space == space) else {
                            continue;
                        };
                        if !is_dram_root(function, id) || loc.aligned == 0 {
                            continue;
                        }
                        let at = cuts.partition_point(|cut| cut.loc < id);
                        let own = cuts[at..].iter().take_while(|cut| cut.loc == id);
                        let pieces = pieces(&loc.segments, own);
                        lives.extend(pieces.map(|(first, last, given)| Life {
                            function: f as u32,
                            loc: id,
                            first: starts[m][f] + u64::from(first),
                            last: starts[m][f] + u64::from(last),
                            address,
                            size: loc.aligned,
                            given,
                        }));
                    }
                }
                if lives.is_empty() {
                    continue;
                }
                lives.sort_compact_by(|a, b| {
                    let key = |life: &Life| (life.first, life.address, life.function, life.loc);
                    key(a).cmp(&key(b))
                });
                tracks.push(Track {
                    module: m,
                    space,
                    lives,
                });
            }
        }
        Ok(Timeline { tracks, starts })
    }
}

fn is_dram_root(function: &Function, id: MemLocId) -> bool {
    let loc = function.memloc(id);
    loc.memory == MemoryType::Dram && !loc.is_view()
}

/// A time after which a life ends, though its bytes may be taken on.
struct Cut {
    loc: MemLocId,
    last: u32,
    /// What another life takes over.
    given: u64,
}

/// Where instructions work in place, by location and time: the operand's lives end there, the
/// result's before. // L8
fn cuts(function: &Function, planned: &FunctionPlan) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for time in 0..function.instructions().len() as u32 {
        for &(operand, result) in function.in_place(FlatIndex(time)) {
            let [from, to] = [operand, result].map(|id| &planned.memlocs[id.index()]);
            let roots = is_dram_root(function, operand) && is_dram_root(function, result);
            let live = |loc: &MemLocPlan| loc.segments.iter().any(|s| s.0 <= time && time <= s.1);
            let same = from.address.is_some() && from.address == to.address;
            if !same || !roots || operand == result || from.space != to.space {
                continue;
            }
            if !live(from) || !live(to) {
                continue;
            }
            let cut = |loc, last, given| Cut { loc, last, given };
            cuts.push(cut(operand, time, from.aligned.min(to.aligned)));
            cuts.extend(time.checked_sub(1).map(|last| cut(result, last, 0)));
        }
    }
    cuts.sort_compact_by(|a, b| (a.loc, a.last, b.given).cmp(&(b.loc, b.last, a.given)));
    cuts
}

/// Segments cut: first time, last time, and what is given over then.
fn pieces<'c>(
    segments: &[(u32, u32)],
    cuts: impl Iterator<Item = &'c Cut> + Clone,
) -> impl Iterator<Item = (u32, u32, u64)> {
    let mut pieces = Vec::with_capacity(segments.len());
    for &(mut first, last) in segments {
        for cut in cuts.clone() {
            if first <= cut.last && cut.last <= last {
                pieces.push((first, cut.last, cut.given));
                first = cut.last + 1;
            }
        }
        if first <= last {
            pieces.push((first, last, 0));
        }
    }
    pieces.into_iter()
}

/// Where the window of each function starts.
fn starts(modules: &[Module]) -> Vec<Vec<u64>> {
    let mut windows: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lengths: Vec<u64> = Vec::new(); // By window, in order of first appearance.
    let mut window_of = Vec::with_capacity(modules.len());
    for module in modules {
        let mut of_module = Vec::new();
        for function in module.functions() {
            let window = *windows.entry(function.name()).or_insert(lengths.len());
            if window == lengths.len() {
                lengths.push(0);
            }
            lengths[window] = lengths[window].max(function.instructions().len() as u64);
            of_module.push(window);
        }
        window_of.push(of_module);
    }
    let mut at = 0;
    for length in &mut lengths {
        at += std::mem::replace(length, at);
    }
    let start = |windows: Vec<usize>| windows.into_iter().map(|w| lengths[w]).collect();
    window_of.into_iter().map(start).collect()
}

impl Track {
    /// The positions of its lives in the order in which they end.
    pub(super) fn by_end(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.lives.len() as u32).collect();
        order.sort_compact_by_key(|&i| self.lives[i as usize].last);
        order
    }

    /// The lives that begin at a time; `from` is the first that begins then or later.
    pub(super) fn beginning(&self, from: usize, time: u64) -> &[Life] {
        let rest = &self.lives[from..];
        let count = rest.iter().take_while(|life| life.first == time).count();
        &rest[..count]
    }
}

/// What a track holds from some time on, until the next such figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) time: u64,
    /// Bytes taken, as placed; those of an operation in place count once.
    pub(super) bytes: u64,
    /// One past the highest of them; 0 if there is none.
    pub(super) end: u64,
}

impl Track {
    /// What is held over time: a figure at each time at which it changes, the last one 0.
    pub(super) fn profile(&self) -> Vec<Held> {
        let by_end = self.by_end();
        let mut times: Vec<u64> = Vec::with_capacity(3 * self.lives.len());
        for life in &self.lives {
            times.extend([life.first, life.last, life.last + 1]);
        }
        times.sort_unstable();
        times.dedup();
        let mut ends: BTreeMap<u128, u32> = BTreeMap::new(); // (end, life) of what is held.
        let (mut begun, mut ended, mut bytes) = (0, 0, 0u64);
        let mut profile: Vec<Held> = Vec::new();
        let entry = |i: usize| u128::from(self.lives[i].end()) << 32 | i as u128;
        for time in times {
            while let Some(&i) = by_end.get(ended)
                && self.lives[i as usize].last < time
            {
                bytes = bytes.saturating_sub(self.lives[i as usize].size);
                ends.remove(&entry(i as usize));
                ended += 1;
            }
            let beginning = self.beginning(begun, time);
            for (i, life) in (begun..).zip(beginning) {
                bytes = bytes.saturating_add(life.size);
                ends.insert(entry(i), 0);
            }
            begun += beginning.len();
            let ending = by_end[ended..].iter().map(|&i| &self.lives[i as usize]);
            let ending = ending.take_while(|life| life.last == time);
            let twice = ending.fold(0u64, |sum, life| sum.saturating_add(life.given));
            let held = Held {
                time,
                bytes: bytes.saturating_sub(twice),
                end: ends
                    .last_key_value()
                    .map_or(0, |(key, _)| (key >> 32) as u64),
            };
            if profile
                .last()
                .is_none_or(|last| (last.bytes, last.end) != (held.bytes, held.end))
            {
                profile.push(held);
            }
        }
        profile
    }
}

/// What messages and viewers call an instruction: its name, or its opcode.
pub(super) fn instruction_label(function: &Function, index: usize) -> &str {
    let name = function.instruction_name(FlatIndex::new(index));
    function.symbol(name.unwrap_or(function.instructions()[index].op))
}
