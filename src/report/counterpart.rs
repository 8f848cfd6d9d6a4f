//! Which location of another program is the same one: what `diff` tells and what `draw` links.

use crate::ir::{Function, MemLocId, Program};

/// The positions of module and function in `other`, and the id there, of a location of a core's
/// function: that of its core, function and name. One without a name is known by its number.
pub(super) fn counterpart(
    (core, function, id): (u32, &Function, MemLocId),
    other: &Program,
) -> Option<((usize, usize), MemLocId)> {
    let modules = other.modules();
    let m = modules.iter().position(|m| m.core() == core)?;
    let f = modules[m].find_function(function.name())?;
    let there = &modules[m].functions()[f];
    let id = match function.memloc_name(id) {
        "" => Some(id)
            .filter(|id| id.index() < there.memlocs().len() && there.memloc_name(*id).is_empty()),
        name => there.find_memloc(name),
    };
    Some(((m, f), id?))
}
