//! What is different between two plans, and who is responsible for the change of a peak.
//!
//! The plans may be of one program or of two. Locations are the same if core, function and name are;
//! only roots with an address count, so a location that nothing touches any more is gone.
//!
//! # The change of a peak
//!
//! Each peak is looked at where the most is live under its highest byte, as `explain` does. There,
//! `peak = floor + live + rest`: what was placed and is live, in-place pairs once, and what
//! remains, which is fragmentation, regions, and pins between which placement started. So the change
//! is the sum of
//!
//! * the changes of the locations that are live at one of the two instructions: came, went, grew,
//!   shrank; and of the bytes that pairs save: together the change of the load;
//! * the change of the floor;
//! * the change of the rest, which is called fragmentation.
//!
//! Cost: that of explaining both plans without asking what would lower their peaks; one look-up for
//! each location.

mod causes;
#[cfg(test)]
mod tests;
mod text;

use super::counterpart::counterpart;
use crate::error::Result;
use crate::ir::{Function, MemLocId, MemoryType, Module, Program, Space};
use crate::options::Strategy;
use crate::plan::{MemLocPlan, Plan, Status};
use crate::sorting::CompactSort as _;

pub use causes::{Cause, CauseKind, PeakSite, SpaceDifference};
pub use text::difference_text;

/// Everything that is different between two plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first plan.
    pub before: Side,
    /// The second.
    pub after: Side,
    /// What became of the locations, by kind, every kind once.
    pub kinds: Vec<KindDifference>,
    /// How many locations are as they were.
    pub same: u64,
    /// Their bytes as placed.
    pub same_bytes: u64,
    /// The spaces of either plan, in the first one's order; the space whose peak changed most first.
    pub spaces: Vec<SpaceDifference>,
}

/// One of two plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The program's name.
    pub program: String,
    /// What was run.
    pub strategy: Strategy,
    /// What is known about the peak.
    pub status: Status,
    /// The highest peak of any space, in bytes.
    pub peak: u64,
    /// The lower bound of that space, in bytes.
    pub lower_bound: u64,
}

/// How a location differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only the second plan has it.
    New,
    /// Only the first plan has it.
    Gone,
    /// It has more bytes.
    Grown,
    /// It has fewer bytes.
    Shrunk,
    /// It has another address.
    Moved,
    /// It lives at other instructions.
    Lives,
    /// It is in another space.
    Space,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Kind; 7] = [
        Kind::New,
        Kind::Gone,
        Kind::Grown,
        Kind::Shrunk,
        Kind::Moved,
        Kind::Lives,
        Kind::Space,
    ];

    /// The word of reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::New => "new",
            Kind::Gone => "gone",
            Kind::Grown => "grown",
            Kind::Shrunk => "shrunk",
            Kind::Moved => "moved",
            Kind::Lives => "lives",
            Kind::Space => "space",
        }
    }
}

/// The locations that differ in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindDifference {
    /// Which way.
    pub kind: Kind,
    /// How many there are.
    pub locations: u64,
    /// Their bytes as placed, in the second plan if it has them.
    pub bytes: u64,
    /// The largest.
    pub largest: Vec<LocationDifference>,
}

/// A location in both plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationDifference {
    /// Its core.
    pub core: u32,
    /// The function's name.
    pub function: String,
    /// Its name.
    pub name: String,
    /// In the first plan.
    pub before: Option<Spot>,
    /// In the second.
    pub after: Option<Spot>,
}

/// Where and when a location is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its final space.
    pub space: Space,
    /// Its address.
    pub address: u64,
    /// Its bytes as placed; exact for a pin.
    pub bytes: u64,
    /// Its declared bytes.
    pub declared: u64,
    /// When its bytes are taken, closed.
    pub segments: Vec<(u32, u32)>,
}

impl LocationDifference {
    /// Its bytes as placed, in the second plan if it has it.
    pub fn bytes(&self) -> u64 {
        let spot = self.after.as_ref().or(self.before.as_ref());
        spot.map_or(0, |spot| spot.bytes)
    }
}

/// A plan and its program.
#[derive(Clone, Copy)]
struct Planned<'p> {
    program: &'p Program,
    plan: &'p Plan,
}

/// A location of a plan: the positions of its module and function, its id, what the plan says.
#[derive(Clone, Copy)]
struct Row<'p> {
    at: (usize, usize),
    id: MemLocId,
    row: &'p MemLocPlan,
}

impl<'p> Planned<'p> {
    fn function(&self, (m, f): (usize, usize)) -> (&'p Module, &'p Function) {
        let module = &self.program.modules()[m];
        (module, &module.functions()[f])
    }

    /// Every root with an address.
    fn rows(self) -> impl Iterator<Item = Row<'p>> {
        let modules = self.plan.modules.iter().enumerate();
        let functions = modules.flat_map(|(m, module)| {
            let functions = module.functions.iter().enumerate();
            functions.map(move |(f, function)| ((m, f), function))
        });
        functions.flat_map(move |(at, function)| {
            let rows = function.memlocs.iter().zip(0..);
            rows.filter_map(move |(_, id)| self.row(at, MemLocId(id)))
        })
    }

    /// A location, if it is a root with an address.
    fn row(self, at: (usize, usize), id: MemLocId) -> Option<Row<'p>> {
        let function = self.function(at).1;
        let loc = function.memloc(id);
        let row = &self.plan.modules[at.0].functions[at.1].memlocs[id.index()];
        let counts = !loc.is_view() && loc.memory == MemoryType::Dram && row.address.is_some();
        counts.then_some(Row { at, id, row })
    }

    /// The same location in this plan, if it has an address here.
    fn counterpart(self, other: Planned<'_>, at: (usize, usize), id: MemLocId) -> Option<Row<'p>> {
        let (module, function) = other.function(at);
        let (at, id) = counterpart((module.core(), function, id), self.program)?;
        self.row(at, id)
    }
}

/// Compares two plans, with up to `top` entries in each list.
///
/// # Errors
///
/// As for [`explain`](super::explain::explain), of either plan.
pub fn diff(before: (&Program, &Plan), after: (&Program, &Plan), top: usize) -> Result<Difference> {
    let [before, after] = [before, after].map(|(program, plan)| Planned { program, plan });
    let spaces = causes::spaces(before, after, top)?;
    let (mut same, mut same_bytes) = (0, 0u64);
    let mut found: Vec<Vec<(u64, Pair<'_>)>> = vec![Vec::new(); Kind::ALL.len()];
    let mut compare = |a: Option<Row<'_>>, b: Option<Row<'_>>| {
        let kinds = kinds(a.map(|a| a.row), b.map(|b| b.row));
        let bytes = b.or(a).map_or(0, |row| row.row.aligned);
        if kinds.is_empty() {
            same += 1;
            same_bytes = same_bytes.saturating_add(bytes);
        }
        kinds
    };
    for b in after.rows() {
        let a = before.counterpart(after, b.at, b.id);
        for kind in compare(a, Some(b)) {
            found[kind as usize].push((b.row.aligned, (a, Some(b))));
        }
    }
    for a in before.rows() {
        if after.counterpart(before, a.at, a.id).is_none() {
            for kind in compare(Some(a), None) {
                found[kind as usize].push((a.row.aligned, (Some(a), None)));
            }
        }
    }
    let kinds = Kind::ALL.iter().zip(found).map(|(&kind, mut found)| {
        found.sort_compact_by(|a, b| b.0.cmp(&a.0)); // Stable: then in the plan's order.
        KindDifference {
            kind,
            locations: found.len() as u64,
            bytes: found.iter().fold(0, |sum, f| sum.saturating_add(f.0)),
            largest: (found.iter().take(top))
                .map(|&(_, pair)| describe(before, after, pair))
                .collect(),
        }
    });
    Ok(Difference {
        before: side(before),
        after: side(after),
        kinds: kinds.collect(),
        same,
        same_bytes,
        spaces,
    })
}

/// A location in either plan.
type Pair<'p> = (Option<Row<'p>>, Option<Row<'p>>);

fn side(planned: Planned<'_>) -> Side {
    let Planned { program, plan } = planned;
    Side {
        program: program.name.clone(),
        strategy: plan.strategy,
        status: plan.status,
        peak: plan.peak,
        lower_bound: plan.lower_bound,
    }
}

/// How a location differs.
fn kinds(before: Option<&MemLocPlan>, after: Option<&MemLocPlan>) -> Vec<Kind> {
    let (Some(a), Some(b)) = (before, after) else {
        let kind = if before.is_none() {
            Kind::New
        } else {
            Kind::Gone
        };
        return vec![kind];
    };
    let differs = [
        (Kind::Grown, a.bytes < b.bytes),
        (Kind::Shrunk, a.bytes > b.bytes),
        (Kind::Moved, a.address != b.address),
        (Kind::Lives, a.segments != b.segments),
        (Kind::Space, a.space != b.space),
    ];
    let differs = differs.iter().filter(|(_, differs)| *differs);
    differs.map(|&(kind, _)| kind).collect()
}

fn describe(before: Planned<'_>, after: Planned<'_>, (a, b): Pair<'_>) -> LocationDifference {
    let (planned, row) = match (a, b) {
        (_, Some(row)) => (after, row),
        (Some(row), None) => (before, row),
        (None, None) => unreachable!("a pair has a side"),
    };
    let spot = |row: Row<'_>| {
        Some(Spot {
            space: row.row.space,
            address: row.row.address?,
            bytes: row.row.aligned,
            declared: row.row.bytes,
            segments: row.row.segments.clone(),
        })
    };
    let (module, function) = planned.function(row.at);
    LocationDifference {
        core: module.core(),
        function: function.name().to_owned(),
        name: row.row.name.clone(),
        before: a.and_then(spot),
        after: b.and_then(spot),
    }
}
