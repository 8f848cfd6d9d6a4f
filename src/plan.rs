//! A plan: where every location of a program lies, and the figures that say how good it is.
//!
//! Plain data, named rather than numbered, so that it can be written to a file, read back and
//! verified against its program without the allocator. // F

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Fault, Result};
use crate::ir::{Function, MemLocId, Module, Program, Skipped, Space, closed_set};
use crate::options::{Options, Strategy};
use crate::place::Kept;

closed_set! {
    /// What is known about the peak. // S3
    Status {
        /// The peak is a proven bound.
        Optimal = 0 "optimal",
        /// A placement, perhaps not the lowest.
        Feasible = 1 "feasible",
        /// Proved: no placement fits.
        Infeasible = 2 "infeasible",
        /// Nothing found, nothing proved.
        #[default]
        Unknown = 3 "unknown",
    }
}

/// A whole plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What was asked for.
    pub options: Options,
    /// What was run.
    pub strategy: Strategy,
    /// What is known about the peak.
    pub status: Status,
    /// The digest of what the cores share; empty for one core. // M10
    pub digest: String,
    /// The highest peak of any space, in bytes.
    pub peak: u64,
    /// The lower bound of that space, in bytes.
    pub lower_bound: u64,
    /// Bytes are re-used across engines and the plan carries no dependences.
    pub needs_dependences: bool,
    /// Each space of each core that holds anything; shared ones once.
    pub spaces: Vec<SpacePlan>,
    /// In the program's order.
    pub modules: Vec<ModulePlan>,
    /// The ordering that re-used bytes and values need; `None` if it was not asked for. // D1
    pub dependences: Option<Vec<Dependence>>,
    /// What straddles a page of the runtime; `None` if the option is off. // P7
    pub straddlers: Option<Vec<Straddler>>,
    /// Figures by name.
    pub metrics: BTreeMap<String, u64>,
    /// What a person should know: ineligible pairs, collective locations outside the region, ...
    pub notes: Vec<String>,
}

/// One space of one core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpacePlan {
    /// Which space.
    pub space: Space,
    /// Whose; `None` for the shared one.
    pub core: Option<u32>,
    /// Bytes that it may use; `None`: no limit.
    pub capacity: Option<u64>,
    /// Nothing was placed below.
    pub floor: u64,
    /// One past the highest byte placed, pins excluded; the floor if nothing was placed.
    pub peak: u64,
    /// No placement has a lower peak.
    pub lower_bound: u64,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePlan {
    /// Its name.
    pub name: String,
    /// Its core.
    pub core: u32,
    /// In the module's order.
    pub functions: Vec<FunctionPlan>,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPlan {
    /// Its name.
    pub name: String,
    /// Each space in which it holds anything.
    pub spaces: Vec<FunctionSpace>,
    /// Every location once, in the function's order.
    pub memlocs: Vec<MemLocPlan>,
}

/// One space of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSpace {
    /// Which space.
    pub space: Space,
    /// Nothing was placed below.
    pub floor: u64,
    /// One past the highest byte placed; the floor if nothing was.
    pub hwm: u64,
    /// The collective region, if the space has one. // P5
    pub cc: Option<CollectivePlan>,
}

/// What became of a collective region. // P5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectivePlan {
    /// Its limit in bytes.
    pub limit: u64,
    /// The page-rounded bytes that its locations took (`real_cc_buffer_size`).
    pub real: u64,
    /// `allreduce_dram_hwm`: floor + real.
    pub hwm: u64,
}

/// One location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemLocPlan {
    /// Its name; `#id` for one without.
    pub name: String,
    /// Its final space. // M1
    pub space: Space,
    /// Its address in bytes.
    pub address: Option<u64>,
    /// Its declared bytes.
    pub bytes: u64,
    /// Its bytes as placed.
    pub aligned: u64,
    /// The host gave the address.
    pub pinned: bool,
    /// `is_shared_post_dram_alloc`. // M2
    pub shared: bool,
    /// The member of its group that was placed.
    pub owner: Option<Owner>,
    /// Why there is no address.
    pub skipped: Option<Skipped>,
    /// When its bytes are taken, closed; a view's are its root's.
    pub segments: Vec<(u32, u32)>,
}

/// A location of another core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The core.
    pub core: u32,
    /// The location's name there.
    pub name: String,
}

/// A location that reaches from one page of the runtime into the next, so that the device holds a
/// copy of its bytes on top. // P7
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Straddler {
    /// Its core; a shared location counts once, where its owner is.
    pub core: u32,
    /// The function's name.
    pub function: String,
    /// The location's name there.
    pub name: String,
    /// Its final space.
    pub space: Space,
    /// Its address in bytes.
    pub address: u64,
    /// The bytes of the copy: as placed, exact for a pin.
    pub bytes: u64,
    /// The host gave the address.
    pub pinned: bool,
}

closed_set! {
    /// Why one instruction waits for another; the first is the strongest. // D1
    DependenceKind {
        /// It reads what the other has written.
        #[default]
        Flow = 0 "flow",
        /// It writes bytes that the other has written.
        Output = 1 "output",
        /// It writes bytes that the other has read.
        Anti = 2 "anti",
    }
}

/// One instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The core of its module.
    pub core: u32,
    /// The function's name; shared, because plans hold very many edges of few functions.
    pub function: Arc<str>,
    /// The flat index. // L1
    pub index: u32,
}

/// Each execution of `to` waits for the latest earlier execution of `from`, if there is one. // D1
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// What runs first.
    pub from: Site,
    /// What waits.
    pub to: Site,
    /// Why it waits.
    pub kind: DependenceKind,
    /// How many back edges lie between the two executions: 0 or 1.
    pub distance: u32,
    /// The header block of that back edge; `None` for distance 0.
    pub header: Option<u32>,
}

impl Plan {
    /// The metrics of a plan that had a hint: locations and bytes that it kept and moved.
    pub(crate) const KEPT_METRICS: [&str; 4] = [
        "hint_kept",
        "hint_kept_bytes",
        "hint_moved",
        "hint_moved_bytes",
    ];

    /// What became of the locations that the hint had an address for; `None` if there was no hint.
    pub fn kept(&self) -> Option<Kept> {
        let [kept, kept_bytes, moved, moved_bytes] =
            Plan::KEPT_METRICS.map(|name| self.metrics.get(name).copied());
        Some(Kept {
            kept: kept?,
            kept_bytes: kept_bytes?,
            moved: moved?,
            moved_bytes: moved_bytes?,
        })
    }

    /// Refuses a plan that is not of this program as it is: other modules, functions, locations,
    /// sizes or pins, or lives past the last instruction.
    ///
    /// It may still be wrong; `verify` finds that out.
    pub fn check_is_of(&self, program: &Program) -> Result<()> {
        let cores = |core: u32, name: &str| format!("module {name:?} for core {core}");
        same(
            self.modules.iter().map(|m| cores(m.core, &m.name)),
            program.modules().iter().map(|m| cores(m.core(), m.name())),
        )?;
        for (planned, module) in self.modules.iter().zip(program.modules()) {
            planned.check_is_of(module)?;
        }
        Ok(())
    }
}

impl ModulePlan {
    /// Refuses a plan that is not of this module as it is; see [`Plan::check_is_of`].
    pub fn check_is_of(&self, module: &Module) -> Result<()> {
        let here = |e: Error| e.on_core(self.core);
        same(
            self.functions.iter().map(|f| f.name.as_str()),
            module.functions().iter().map(|f| f.name()),
        )
        .map_err(here)?;
        for (planned, function) in self.functions.iter().zip(module.functions()) {
            planned.check_is_of(function).map_err(here)?;
        }
        Ok(())
    }
}

impl FunctionPlan {
    /// Refuses a plan that is not of this function as it is; see [`Plan::check_is_of`].
    pub fn check_is_of(&self, function: &Function) -> Result<()> {
        let other = |location: &str| {
            let error = Error::from(Fault::FailedPrecondition(
                "the plan is of another function than this, or of an earlier state of it".into(),
            ));
            let error = error.in_function(function.name());
            match location {
                "" => error,
                location => error.at_location(location),
            }
        };
        if self.memlocs.len() != function.memlocs().len() {
            return Err(other(""));
        }
        let instructions = function.instructions().len();
        for (id, planned) in function.memloc_ids().zip(&self.memlocs) {
            let declared = function.memloc(id);
            let runs =
                |&(first, last): &(u32, u32)| first <= last && (last as usize) < instructions;
            if planned.bytes != declared.bytes
                || planned.pinned != declared.pin().is_some()
                || (planned.pinned && planned.address != declared.pin())
                || !planned.segments.iter().all(runs)
                || !is_label(&planned.name, function, id)
            {
                return Err(other(&planned.name));
            }
        }
        Ok(())
    }
}

/// Whether a plan would call a location so.
pub(crate) fn is_label(name: &str, function: &Function, id: MemLocId) -> bool {
    match function.memloc_name(id) {
        "" => name.strip_prefix('#').and_then(|n| n.parse().ok()) == Some(id.0),
        declared => name == declared,
    }
}

/// Whether two lists of names are the same.
fn same<T: PartialEq + fmt::Debug>(
    mut planned: impl Iterator<Item = T>,
    mut there: impl Iterator<Item = T>,
) -> Result<()> {
    loop {
        let (planned, there) = (planned.next(), there.next());
        if planned.is_none() && there.is_none() {
            return Ok(());
        }
        if planned != there {
            let text = |side: Option<T>| side.map_or("nothing".to_owned(), |t| format!("{t:?}"));
            let sentence = format!(
                "the plan is not of this program: it has {} where that has {}",
                text(planned),
                text(there)
            );
            return Err(Fault::FailedPrecondition(sentence).into());
        }
    }
}
