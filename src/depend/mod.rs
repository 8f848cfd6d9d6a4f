//! What has to wait for what. // D
//!
//! Engines run in parallel, each of them in order. Two instructions of one core that touch a
//! common byte, one of them writing it, have to stay in order all the same: because of the value
//! that flows from one to the other, or because an allocator has put two locations on the same
//! bytes. This module finds the edges that see to it, and no more than are needed.
//!
//! An edge (i, j) means: each execution of j waits for the latest earlier execution of i, if
//! there is one. Nothing is said about earlier executions of i, for i's engine orders them, and
//! an edge holds on every path on which j follows i, whatever its distance. Barriers and calls
//! fence all engines of their core, so no edge ever begins, ends or is needed across one; and
//! because a barrier is the same moment on all cores, and nothing else orders two cores, there
//! are no edges between cores either: [`across_cores`] says where one would be missing. // M4, D3
//!
//! The files, in the order in which data flows:
//!
//! ```text
//! layout     where the roots lie
//! code       a function as engines, fences and runs of cells
//! strands    the control-flow graph, straight-line code joined
//! scan       the edges of straight-line code               (on `latest`)
//! pieces     what a strand shows the others                (on `cover`)
//! sources    which strands show something to whom
//! across     what some path across strands needs           (on `scan`)
//! reach      what meets across strands, needed or not
//! dominators what every path runs through
//!
//! races      the same bytes on several cores in one epoch
//! cores      the accesses of all cores, for `races`
//! ```
//!
//! Of the passes of X1, `build_fdeps` is [`flow`], `anti_dependency_analyzer_post_dram` and
//! `anti_dependency_analyzer_post_shared_dram` are [`reuse`] once the addresses of the private
//! and of the shared locations are known; [`dependences`] is all of them in one, reduced.

mod across;
mod code;
mod cores;
mod cover;
mod dominators;
mod latest;
mod layout;
mod pieces;
mod races;
mod reach;
mod scan;
mod sources;
mod strands;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::error::Result;
use crate::ir::{BlockId, FlatIndex, Function, Program};
use crate::pace::Pace;
use crate::plan::{Dependence, DependenceKind, Plan, Site};
use crate::sorting::CompactSort as _;

use across::Effort;
use code::Code;
pub use cores::across_cores;
pub(crate) use cores::across_cores_unless;
pub use layout::Layout;
use pieces::pieces;
pub use races::{PlacedGroup, Race, SharedAccess, groups_that_meet, races};
use scan::{Scan, Wanted};
use strands::Strands;

/// Each execution of `to` waits for the latest earlier execution of `from`, if any. // D1
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// What runs first.
    pub from: FlatIndex,
    /// What waits, on another engine.
    pub to: FlatIndex,
    /// Why it waits: the strongest reason.
    pub kind: DependenceKind,
    /// `None` if some path on which it is needed has no back edge (distance 0). Otherwise where
    /// the back edge arrives (distance 1): of several on one path the outermost, of several paths
    /// with as few back edges the innermost.
    pub header: Option<BlockId>,
}

impl Edge {
    /// 1 if a back edge lies between the two executions, else 0.
    pub fn distance(&self) -> u32 {
        u32::from(self.header.is_some())
    }
}

/// Where a value flows from its def to a use on another engine.
///
/// By location for an unplaced `layout`, which is what the values alone need; a copy that never
/// runs hands its value on by address, so a layout without some copies has to know where they
/// would have run. Views count as their roots, partial defs hide only their own bytes. Per use and engine only
/// the latest def is named; other edges may imply an edge. Sorted by `(from, to)`.
pub fn flow(function: &Function, layout: &Layout) -> Vec<Edge> {
    flow_unless(function, layout, &mut Pace::free())
}

/// As [`flow`], unless the host stops it. // S2
pub(crate) fn flow_unless(
    function: &Function,
    layout: &Layout,
    pace: &mut Pace<'_, '_>,
) -> Vec<Edge> {
    edges(function, layout, Wanted::Flow, Effort::of(0), pace)
}

/// Where an instruction overwrites bytes that another engine has read or written.
///
/// By address for what `layout` places, by location for the rest. Per instruction and engine only
/// the latest reader or writer is named; other edges may imply an edge. Sorted by `(from, to)`.
pub fn reuse(function: &Function, layout: &Layout) -> Vec<Edge> {
    reuse_unless(function, layout, &mut Pace::free())
}

/// As [`reuse`], unless the host stops it. // S2
pub(crate) fn reuse_unless(
    function: &Function,
    layout: &Layout,
    pace: &mut Pace<'_, '_>,
) -> Vec<Edge> {
    edges(function, layout, Wanted::Reuse, Effort::of(0), pace)
}

/// Every edge that the function needs and that neither its engines, nor its fences, nor other
/// edges imply on every path. // D1
///
/// One edge per ordered pair, of the strongest kind; sorted by `(from, to)`. Inside code that
/// runs straight through, the result is the transitive reduction of the needed order. Across
/// branches and loops it is exact for all but tangled graphs, in which some implied edges may
/// remain; see `across`.
pub fn dependences(function: &Function, layout: &Layout) -> Vec<Edge> {
    dependences_unless(function, layout, &mut Pace::free())
}

/// As [`dependences`], unless the host stops it. // S2
pub(crate) fn dependences_unless(
    function: &Function,
    layout: &Layout,
    pace: &mut Pace<'_, '_>,
) -> Vec<Edge> {
    let effort = Effort::of(function.instructions().len());
    edges(function, layout, Wanted::Reduced, effort, pace)
}

/// Edges of one function as a plan holds them.
pub fn named(edges: &[Edge], core: u32, function: &Function) -> Vec<Dependence> {
    let name: Arc<str> = function.name().into();
    let site = |index: FlatIndex| Site {
        core,
        function: name.clone(),
        index: index.0,
    };
    let edge = |edge: &Edge| Dependence {
        from: site(edge.from),
        to: site(edge.to),
        kind: edge.kind,
        distance: edge.distance(),
        header: edge.header.map(|block| block.0),
    };
    edges.iter().map(edge).collect()
}

/// Gives a plan the dependences of all its functions.
///
/// # Errors
///
/// If the plan is not of the program, or puts bytes past the last address.
pub fn order(program: &Program, plan: &mut Plan) -> Result<()> {
    let mut all = Vec::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            let layout =
                Layout::of_plan(function, planned).map_err(|e| e.on_core(module.core()))?;
            let layout = layout.in_geometry(plan.options.geometry);
            let edges = dependences(function, &layout);
            all.extend(named(&edges, module.core(), function));
        }
    }
    plan.dependences = Some(all);
    plan.needs_dependences = false;
    Ok(())
}

fn edges(
    function: &Function,
    layout: &Layout,
    wanted: Wanted,
    effort: Effort,
    pace: &mut Pace<'_, '_>,
) -> Vec<Edge> {
    let code = &Code::new(function, layout, pace);
    let strands = Strands::new(function, code, pace);
    let mut scan = Scan::new(code, wanted);
    let mut edges = Vec::new();
    for strand in 0..strands.len() as u32 {
        scan.begin(code.instructions());
        scan.extend(strands.instructions(strand), pace, |link| {
            edges.push(Edge {
                from: FlatIndex(link.from_index),
                to: FlatIndex(link.to_index),
                kind: link.kind,
                header: None,
            });
        });
    }
    let pieces = pieces(code, &strands, pace);
    let across = if wanted == Wanted::Reduced {
        across::needed(code, &strands, &pieces, &mut scan, effort, pace)
    } else {
        reach::meetings(&pieces, &strands, wanted, |_| true, pace)
    };
    edges.extend(across.iter().map(|meeting| Edge {
        from: FlatIndex(meeting.from),
        to: FlatIndex(meeting.to),
        kind: meeting.kind,
        header: meeting.carried.map(|carrier| strands.head(carrier.strand)),
    }));
    edges.sort_paced_by_key(|e| (e.from, e.to, e.kind as u8, e.header), pace);
    edges
}
