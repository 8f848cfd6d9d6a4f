//! What liveness asks of each location, read once and kept close together.
//!
//! The walks over all accesses ask for roots and sizes in any order; a table of few bytes a row
//! stays in the cache where the locations themselves would not.

use crate::control::Stop;
use crate::ir::{Access, Function, MemLocId, Space, Usage, UsageMask};
use crate::pace::Pace;

/// What stands in a root when a function begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEntry {
    /// Nothing: an unpinned candidate that neither a caller nor another core fills. A use before any
    /// def is worth a warning.
    Nothing,
    /// Values, which a partial def does not hide.
    Values,
    /// Nobody knows, and whoever writes a part of it first is taken at their word.
    Unknown,
}

#[derive(Clone, Copy, Default)]
struct Row {
    bytes: u64,
    root: u32,
    flags: u8,
}

/// Wanted at every exit. // L6
const ESCAPES: u8 = 1;
/// An unpinned candidate that no other core writes.
const OURS: u8 = 2;
/// The host or a caller fills a part of it before the function runs.
const FILLED: u8 = 4;

/// The storage behind each location; flags of a root count its views in.
pub(super) struct Storage<'a> {
    function: &'a Function,
    rows: Vec<Row>,
}

impl<'a> Storage<'a> {
    pub fn unless(function: &'a Function, pace: &mut Pace<'_, '_>) -> Result<Storage<'a>, Stop> {
        let mut rows = vec![Row::default(); function.memlocs().len()];
        for (id, loc) in function.memloc_ids().zip(function.memlocs()) {
            pace.work(1)?;
            let (root, _) = function.root(id);
            rows[id.index()].root = root.0;
            rows[id.index()].bytes = loc.bytes;
            let flags = &mut rows[root.index()].flags;
            if loc.escapes() || loc.usage == Usage::Output {
                *flags |= ESCAPES;
            }
            if UsageMask::FILLED.contains(loc.usage) {
                *flags |= FILLED;
            }
            // Another core may write what is shared, and L5 does not count there. // M4
            let linked = loc.space == Space::Shared || function.remote(id).is_some();
            if loc.is_candidate(UsageMask::CANDIDATES) && !linked {
                *flags |= OURS;
            }
        }
        Ok(Storage { function, rows })
    }

    /// The root of a location; a root is its own.
    pub fn root(&self, id: MemLocId) -> MemLocId {
        MemLocId(self.rows[id.index()].root)
    }

    /// Whether an access covers the whole root of its location. // L4
    pub fn covers_root(&self, access: &Access) -> bool {
        let row = &self.rows[access.loc.index()];
        match row.root == access.loc.0 {
            true => access.offset == 0 && access.bytes == row.bytes,
            false => self.function.covers_root(access),
        }
    }

    /// Whether a root is wanted at every exit, by itself or through a view. // L6
    pub fn escapes(&self, root: MemLocId) -> bool {
        self.rows[root.index()].flags & ESCAPES != 0
    }

    /// What stands in a root when the function begins. // L5
    pub fn at_entry(&self, root: MemLocId) -> AtEntry {
        match self.rows[root.index()].flags {
            flags if flags & FILLED != 0 => AtEntry::Values,
            flags if flags & OURS != 0 => AtEntry::Nothing,
            _ => AtEntry::Unknown,
        }
    }
}
