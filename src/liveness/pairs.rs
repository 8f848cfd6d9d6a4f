//! Which listed in-place pairs the dataflow allows. // L8

use super::accesses::Accesses;
use super::{LivePair, Liveness, LivenessWarning};
use crate::control::Stop;
use crate::ir::{FlatIndex, Function, Kind, MemLocId};
use crate::pace::Pace;

/// Sorts every listed pair into `pairs` or, with a reason, into `warnings`.
pub(super) fn judge(
    function: &Function,
    accesses: &Accesses,
    liveness: &mut Liveness,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stop> {
    for index in (0..function.instructions().len()).map(FlatIndex::new) {
        let listed = function.in_place(index);
        pace.work(1 + listed.len())?;
        for &(used, def) in listed {
            match objection(function, accesses, liveness, index, used, def) {
                None => liveness.pairs.push(LivePair { index, used, def }),
                Some(reason) => {
                    let warning = LivenessWarning::IneligiblePair {
                        index,
                        used,
                        def,
                        reason,
                    };
                    liveness.warnings.push(warning);
                }
            }
        }
    }
    Ok(())
}

/// The first thing that stands against a pair; sizes and shared groups are for the planner.
fn objection(
    function: &Function,
    accesses: &Accesses,
    liveness: &Liveness,
    index: FlatIndex,
    used: MemLocId,
    def: MemLocId,
) -> Option<&'static str> {
    let (from, to) = (function.memloc(used), function.memloc(def));
    let read = accesses.at(used, index);
    let written = accesses.at(def, index);
    // A callee writes what is bound to its outputs by reference, before or after it reads. // L7
    let calls = function.instructions()[index.index()].kind == Kind::Call;
    let objections = [
        (calls, "a callee may write the def before it reads the use"),
        (from.is_view(), "the use is a view, not a root"),
        (to.is_view(), "the def is a view, not a root"),
        (
            !read.is_some_and(|t| t.is_use()),
            "the instruction does not read the use",
        ),
        (
            !written.is_some_and(|t| t.is_full()),
            "the instruction does not write the whole def",
        ),
        (
            written.is_some_and(|t| t.is_use()),
            "the instruction also reads the def",
        ),
        (
            read.is_some_and(|t| !t.is_single()),
            "the instruction accesses the use more than once",
        ),
        (from.pin().is_some(), "the use is pinned"),
        (
            (from.memory, from.space) != (to.memory, to.space),
            "the two are in different memories or spaces",
        ),
        (
            liveness.is_live_out(used, index),
            "the use is still live after the instruction",
        ),
        (
            liveness.is_live_in(def, index),
            "the def is already live before the instruction",
        ),
    ];
    objections
        .into_iter()
        .find_map(|(holds, reason)| holds.then_some(reason))
}
