//! The parts of a peak; `explain` says what each is.

use super::moment::{Live, Moments, Present, Role, sum};
use super::need::Need;
use crate::ir::Usage;
use crate::options::Strategy;
use crate::place::{PAGE, Problem, Windows};
use crate::planner::{Line, Rule};
use crate::sorting::CompactSort as _;

/// What a peak is made of: the parts add up to it, to the byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Declared bytes live at the bound's instruction.
    pub declared: u64,
    /// What rounding up to pages adds to them. // P2
    pub rounding: u64,
    /// What callers hold across the calls. // L7
    pub callers: u64,
    /// What is there because cores must agree. // M4, M7
    pub agreement: u64,
    /// The floor, or pins in the way. // P4
    pub pins: u64,
    /// Reserved for others. // P5, P6, M6
    pub regions: u64,
    /// A search has proved that no placement does without.
    pub proved: u64,
    /// The rest.
    pub fragmentation: u64,
}

impl Gap {
    /// The parts by name, in the order of reports.
    pub fn parts(&self) -> [(&'static str, u64); 8] {
        [
            ("declared", self.declared),
            ("rounding", self.rounding),
            ("callers", self.callers),
            ("agreement", self.agreement),
            ("pins", self.pins),
            ("regions", self.regions),
            ("proved", self.proved),
            ("fragmentation", self.fragmentation),
        ]
    }

    /// The sum of the parts: the peak.
    pub fn total(&self) -> u64 {
        self.parts().iter().map(|&(_, bytes)| bytes).sum()
    }
}

pub(super) fn gap(
    moments: &Moments<'_, '_>,
    (need, bound): (&Need, &Live),
    peak: &Live,
    strategy: Strategy,
) -> Gap {
    let ground = moments.ground;
    let mut gap = Gap::default();
    let mut slab = 0;
    if let Some(here) = bound.here() {
        let frame = bound.frames[here];
        let line = &ground.lines[frame.line];
        slab = line.problem.floor - ground.floor;
        let needed = |g: usize| moments.grounds.needs(ground, line, frame.t, g);
        let (mut own, mut idle, mut declared) = (0u64, 0u64, 0u64);
        for live in bound.holders.iter().filter(|l| !l.holder.pinned) {
            let holder = &live.holder;
            if live.frame != here {
                continue;
            }
            if holder.group.is_some_and(|g| !needed(g)) {
                idle += holder.size;
            } else {
                own += holder.size;
                declared += holder.declared;
            }
        }
        // A matching of fewer bytes saves no more than that of the bytes as placed does of these.
        own -= moments.saved(frame, false);
        declared -= moments.saved(frame, true);
        let elsewhere = bound.frames.iter().enumerate().filter(|(f, _)| *f != here);
        let elsewhere = elsewhere.map(|(_, frame)| moments.needs.own(frame.line, frame.t));
        let elsewhere: u64 = elsewhere.sum();
        gap.declared = declared;
        gap.rounding = own - declared;
        gap.agreement = idle;
        match ground.rule {
            Rule::Frames { .. } => gap.callers = elsewhere,
            Rule::Groups { .. } => gap.agreement += elsewhere,
        }
        gap.pins = need.bytes - own - idle - elsewhere - slab;
    } else {
        gap.pins = need.bytes;
    }
    let told = ground.told.lower_bound.min(ground.peak);
    gap.proved = told.saturating_sub(need.bytes);
    let mut rest = ground.peak - need.bytes - gap.proved;
    let mut take = |bytes: u64| {
        let taken = bytes.min(rest);
        rest -= taken;
        taken
    };
    gap.regions = slab + take(reserved(moments, peak, strategy));
    if let Rule::Frames { calls_add, beside } = ground.rule {
        if !beside {
            let below =
                |l: &&Present| l.beside && l.holder.address.is_some_and(|a| a < ground.peak);
            gap.agreement += take(sum(peak.holders.iter().filter(below)));
        }
        if !calls_add {
            let callers = peak.frames.iter().filter(|f| f.role == Role::Caller);
            let held = callers.map(|f| moments.needs.own(f.line, f.t));
            gap.callers += take(held.fold(0, u64::saturating_add));
        }
    }
    gap.fragmentation = rest;
    gap
}

/// The free bytes below the peak, at its instruction, in which what ends there may not lie.
fn reserved(moments: &Moments<'_, '_>, peak: &Live, strategy: Strategy) -> u64 {
    let ground = moments.ground;
    let highest =
        |l: &&Present| !l.holder.pinned && !l.beside && l.holder.end() == Some(ground.peak);
    let Some(highest) = peak.holders.iter().find(highest) else {
        return 0;
    };
    let line = &ground.lines[peak.frames[highest.frame].line];
    let problem = &line.problem;
    let usage = highest.holder.usage;
    let base = problem.floor;
    let mut from = base;
    if let Some(limit) = problem.collective_limit
        && usage != Usage::Collective
        && strategy == Strategy::Reference
    {
        let limit_end = base.saturating_add(limit);
        let inside = highest.holder.address.is_some_and(|a| a < limit_end);
        from = match problem.trim_collective {
            true => collective_end(line, limit_end),
            false if inside => base, // Nothing above had room.
            false => limit_end,
        };
    }
    let windows = Windows::new(problem, from, ground.peak);
    let mut taken: Vec<(u64, u64)> = windows.of(usage).to_vec();
    let held = peak.holders.iter();
    taken.extend(held.filter_map(|l| Some((l.holder.address?, l.holder.end()?))));
    taken.sort_compact_by_key(|&range| range);
    let (mut free, mut at) = (0, base);
    for (start, end) in taken {
        free += start.min(ground.peak).saturating_sub(at);
        at = at.max(end);
    }
    free + ground.peak.saturating_sub(at)
}

/// The page-rounded end of what lies in a collective region.
fn collective_end(line: &Line, limit_end: u64) -> u64 {
    let problem: &Problem = &line.problem;
    let inside = line.holders.iter().filter(|h| h.usage == Usage::Collective);
    let ends = inside
        .filter_map(|h| h.end())
        .filter(|&end| end <= limit_end);
    let end = ends.fold(problem.floor, u64::max);
    match end == problem.floor {
        true => end,
        false => end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX),
    }
}
