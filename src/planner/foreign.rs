//! The plan that somebody else has made: given addresses, with our own lives, bounds and figures.
//!
//! A plan is more than its addresses. What is not a decision (lives, floors, bounds, who is a
//! candidate) is taken from a run of our own over the same program; then the given addresses
//! replace those that it chose, and the figures that follow from addresses are taken again. Nothing
//! is judged here: whether the addresses are right is for the verifier to say, and whether they
//! are good for whoever compares the peaks.
//!
//! Only programs of one core, without collective candidates, whose candidates stay private: what
//! other allocators write down.

use super::Planning;
use super::assemble::{root_range, take_figures};
use super::engines::reuse_across_engines;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ir::{MemLocId, Program, Space, Usage};
use crate::options::{Geometry, Options, Strategy};
use crate::plan::Plan;

/// The plan of `program` in which each candidate lies where `address` says, by its function's
/// position and its id; what needs an address and has none there is an error.
///
/// # Errors
///
/// As for [`super::plan`]; a candidate without an address, or one that would end past 64 bits; a
/// program of several cores, or with collective or shared candidates; unified
/// geometry; a runtime page.
pub fn plan_with_addresses(
    program: &Program,
    options: &Options,
    address: &dyn Fn(usize, MemLocId) -> Option<u64>,
    control: &mut Control<'_>,
) -> Result<Plan> {
    let [module] = program.modules() else {
        return Err(Error::invalid("program", "it is not of one core"));
    };
    if options.runtime_page > 0 || options.geometry == Geometry::Unified {
        let reason = "given addresses are of spaces on their own, without a runtime page";
        return Err(Error::invalid("options", reason));
    }
    let mut planning = Planning::new(program.modules(), options, control)?;
    planning.place_all(control)?;
    let mut plan = planning.assemble();

    let mut highest = [None; Space::ALL.len()];
    let functions = plan.modules[0].functions.iter_mut().zip(module.functions());
    plan.needs_dependences = false;
    for (f, (planned, function)) in functions.enumerate() {
        let mut ends = [None; Space::ALL.len()];
        for id in function.memloc_ids() {
            let root = function.root(id).0;
            let (loc, at) = (function.memloc(root), &planned.memlocs[root.index()]);
            if at.address.is_none() || !loc.is_candidate(options.usage_mask) {
                continue; // Skipped, or not for an allocator to place.
            }
            if at.aligned == 0 {
                continue; // Meets nothing; it stays at the floor. // L10
            }
            let fault = |reason: &str| {
                let label = function.label(root);
                Error::invalid("address", format!("{}: {label} {reason}", function.name()))
            };
            if at.shared || loc.usage == Usage::Collective {
                return Err(fault("is shared or collective"));
            }
            let start = address(f, root).ok_or_else(|| fault("has none"))?;
            let end = (start.checked_add(at.aligned)).ok_or_else(|| fault("ends past 64 bits"))?;
            let highest = &mut ends[at.space as usize];
            *highest = (*highest).max(Some(end));
            planned.memlocs[id.index()].address = Some(start + function.root(id).1);
        }
        for space in &mut planned.spaces {
            let end = ends[space.space as usize];
            space.hwm = end.unwrap_or(space.floor);
            highest[space.space as usize] = highest[space.space as usize].max(end);
        }
        let engines = &planning.scene.function(0, f).engines;
        let memlocs = &planned.memlocs;
        plan.needs_dependences |=
            reuse_across_engines(engines, &|i| root_range(function, memlocs, i));
    }
    for space in &mut plan.spaces {
        space.peak = highest[space.space as usize].unwrap_or(space.floor);
    }
    // No search of ours has made it, so it is no measure for one. // S2
    plan.strategy = Strategy::Reference;
    let raw_bytes = plan.metrics["raw_bytes_placed"];
    take_figures(&mut plan, raw_bytes);
    Ok(plan)
}
