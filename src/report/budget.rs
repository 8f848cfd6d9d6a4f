//! `hbm_usage`: whether a core's memory holds everything, and what fills it. // G1, G2

use std::fmt;

use super::pressure::{LiveSize, pressure_unless, private_copies};
use crate::ir::{MemoryType, Program, Space};
use crate::options::Geometry;
use crate::pace::Pace;
use crate::plan::Plan;

/// What one core needs of its memory.
///
/// `needed` is what has to be there: as far as the spaces reach, plus what callers own without an
/// address, plus the copies of what straddles a page of the runtime, plus the host's extra bytes. `peak` is what is live at the worst instruction;
/// `unused` is the rest, lost to fragmentation, alignment and reserved space, so that
/// `peak.total() + unused == needed`. In unified geometry a group that reaches a core on which it
/// has no member is reserved space there: it is needed, and nothing of that core lives in it. // M7
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HbmUsage {
    /// The core.
    pub core: u32,
    /// Bytes that it needs.
    pub needed: u64,
    /// Bytes that it has; `None`: no limit.
    pub capacity: Option<u64>,
    /// Bytes live at the peak instruction.
    pub peak: LiveSize,
    /// Bytes that are needed and not live there.
    pub unused: u64,
    /// The function of the peak instruction.
    pub function: String,
    /// Its flat index.
    pub index: u32,
}

/// How a core's need compares with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It fits, or there is no limit.
    Fits,
    /// Over by at most a tenth: a warning where the check is off.
    Slightly,
    /// Over by more.
    Over,
}

impl HbmUsage {
    /// Whether it fits.
    pub fn verdict(&self) -> Verdict {
        let Some(capacity) = self.capacity else {
            return Verdict::Fits;
        };
        let (needed, capacity) = (u128::from(self.needed), u128::from(capacity));
        if needed <= capacity {
            Verdict::Fits
        } else if needed * 10 <= capacity * 11 {
            Verdict::Slightly
        } else {
            Verdict::Over
        }
    }
}

impl fmt::Display for HbmUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {} needs {} bytes", self.core, self.needed)?;
        if let Some(capacity) = self.capacity {
            write!(f, " of {capacity}")?;
        }
        write!(f, " = {}", self.peak)?;
        if self.unused > 0 {
            write!(f, " + {} unused", self.unused)?;
        }
        if !self.function.is_empty() {
            write!(f, ", at instruction {} of {}", self.index, self.function)?;
        }
        Ok(())
    }
}

/// What every core of a program needs under a plan, ascending by core. `extra` is added to each.
///
/// # Panics
///
/// If the plan is not of this program.
pub fn hbm_usage(program: &Program, plan: &Plan, extra: u64) -> Vec<HbmUsage> {
    hbm_usage_unless(program, plan, extra, &mut Pace::free())
}

/// As [`hbm_usage`], unless the host stops it. // S2
pub(crate) fn hbm_usage_unless(
    program: &Program,
    plan: &Plan,
    extra: u64,
    pace: &mut Pace<'_, '_>,
) -> Vec<HbmUsage> {
    let capacity = plan.options.core_capacity();
    let pressure = pressure_unless(program, plan, extra, pace);
    let mut usages = Vec::with_capacity(pressure.cores.len());
    for core in pressure.cores {
        let needed = reach(program, plan, core.core, pace)
            .saturating_add(unaddressed(program, plan, core.core, pace))
            .saturating_add(private_copies(plan, core.core))
            .saturating_add(extra);
        // Pins that overlap nothing and lives that are all placed keep the peak within the need.
        let unused = needed.saturating_sub(core.peak.total());
        usages.push(HbmUsage {
            core: core.core,
            needed: needed.max(core.peak.total()),
            capacity,
            peak: core.peak,
            unused,
            function: core.function,
            index: core.index,
        });
    }
    usages
}

/// How far the spaces of a core reach: side by side, or local and shared in one range. // G1, M7
fn reach(program: &Program, plan: &Plan, core: u32, pace: &mut Pace<'_, '_>) -> u64 {
    let mut extent = |space| extent(program, plan, core, space, pace);
    let (local, shared, debug) = (
        extent(Space::Local),
        extent(Space::Shared),
        extent(Space::Debug),
    );
    let placed = match plan.options.geometry {
        Geometry::Split => local.saturating_add(shared),
        Geometry::Unified => local.max(shared),
    };
    placed.saturating_add(debug)
}

/// How far a space reaches on a core: its highest placed or pinned byte. // G1
///
/// In unified geometry the shared space is on a core as far as its groups reach it; a pin, for all
/// modules see it, is everywhere. // M7
fn extent(program: &Program, plan: &Plan, core: u32, space: Space, pace: &mut Pace<'_, '_>) -> u64 {
    let everywhere = space == Space::Shared && plan.options.geometry == Geometry::Split;
    let mut end = 0;
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        let own = everywhere || module.core() == core;
        if !own && space != Space::Shared {
            continue;
        }
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            for (id, loc) in function.memloc_ids().zip(&planned.memlocs) {
                if pace.over(1) {
                    break;
                }
                let declared = function.memloc(id);
                let reached = own || declared.pin().is_some() || function.reach(id).contains(&core);
                let here = loc.space == space && !declared.is_view() && reached;
                if let Some(address) = loc.address.filter(|_| here && loc.bytes > 0) {
                    end = end.max(address + loc.aligned);
                }
            }
        }
    }
    end
}

/// Bytes that callers own on a core without having said where; one name is one storage.
fn unaddressed(program: &Program, plan: &Plan, core: u32, pace: &mut Pace<'_, '_>) -> u64 {
    let mut seen = std::collections::BTreeSet::new();
    let mut bytes = 0u64;
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            for (loc, declared) in planned.memlocs.iter().zip(function.memlocs()) {
                if pace.over(1) {
                    break;
                }
                let owned = !declared.is_view()
                    && declared.memory == MemoryType::Dram
                    && loc.skipped == Some(crate::ir::Skipped::CallerOwned);
                if owned && module.core() == core && seen.insert((loc.name.as_str(), loc.bytes)) {
                    bytes = bytes.saturating_add(loc.bytes);
                }
            }
        }
    }
    bytes
}
