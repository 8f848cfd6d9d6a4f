//! Where the bytes of a function's locations lie, and which instructions leave them alone, as far
//! as dependences are concerned.

use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Function, MemLocId, Space};
use crate::options::Geometry;
use crate::plan::FunctionPlan;

/// The place of every root of one function.
///
/// Two accesses meet iff they share bytes. Roots with an address share bytes by address within
/// one space; a root without one (caller-owned, on-chip, or simply not placed yet) shares bytes
/// with nobody but itself and its views.
///
/// # Invariants
///
/// * **range**: the last byte of every placed root has an address of 64 bits;
/// * **idle**: `idle` is sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    places: Vec<Option<(Space, u64)>>, // By `MemLocId`; `None` for views.
    idle: Vec<FlatIndex>,
}

impl Layout {
    /// Nothing is placed: what the values alone need.
    pub fn unplaced(function: &Function) -> Layout {
        Layout {
            places: vec![None; function.memlocs().len()],
            idle: Vec::new(),
        }
    }

    /// The host's pins and what the last run wrote into the function: addresses, elided copies.
    pub fn of(function: &Function) -> Result<Layout> {
        let layout = Layout::new(function, |id| {
            let loc = function.memloc(id);
            let space = loc.placed().map_or(loc.space, |placed| placed.space); // M1
            loc.address().map(|address| (space, address))
        })?;
        Ok(layout.without(function.elided()))
    }

    /// What a plan says of the function.
    ///
    /// # Errors
    ///
    /// If the plan does not have one entry per location, or if bytes lie past the last address.
    pub fn of_plan(function: &Function, plan: &FunctionPlan) -> Result<Layout> {
        if plan.memlocs.len() != function.memlocs().len() {
            let reason = format!(
                "it has {} locations, the function has {}",
                plan.memlocs.len(),
                function.memlocs().len()
            );
            return Err(Error::invalid("plan", reason).in_function(function.name()));
        }
        Layout::new(function, |id| {
            let loc = &plan.memlocs[id.index()];
            loc.address.map(|address| (loc.space, address))
        })
    }

    /// The layout in which `place` says the space and the address of each root.
    ///
    /// # Errors
    ///
    /// If the bytes of a root lie past the last address.
    pub fn new(
        function: &Function,
        place: impl Fn(MemLocId) -> Option<(Space, u64)>,
    ) -> Result<Layout> {
        let place = |id: MemLocId| {
            let loc = function.memloc(id);
            if loc.view.is_some() {
                return Ok(None);
            }
            let place = place(id);
            if let Some((_, address)) = place
                && address.checked_add(loc.bytes).is_none()
            {
                let what = format!("its address {address} + {} bytes", loc.bytes);
                let error = Error::from(Fault::Overflow { what });
                return Err(error
                    .at_location(&function.label(id))
                    .in_function(function.name()));
            }
            Ok(place)
        };
        let places = function
            .memloc_ids()
            .map(place)
            .collect::<Result<Vec<_>>>()?;
        Ok(Layout {
            places,
            idle: Vec::new(),
        })
    }

    /// The same, but for copies that never run, because they would move bytes onto themselves.
    ///
    /// They touch nothing, so that whoever wrote the bytes meets whoever reads them at their new
    /// name. // X3
    pub fn without(mut self, copies: impl IntoIterator<Item = FlatIndex>) -> Layout {
        self.idle = copies.into_iter().collect();
        self.idle.sort_unstable();
        self
    }

    /// Whether an instruction touches anything at all.
    pub(super) fn runs(&self, index: FlatIndex) -> bool {
        self.idle.binary_search(&index).is_err() // Idle.
    }

    /// The same where spaces have addresses as a geometry says: in a unified one, shared bytes are
    /// local bytes. // M7
    pub fn in_geometry(mut self, geometry: Geometry) -> Layout {
        for (space, _) in self.places.iter_mut().flatten() {
            if geometry == Geometry::Unified && *space == Space::Shared {
                *space = Space::Local;
            }
        }
        self
    }

    /// The bytes `[first, end)` of an area; bytes of different areas never meet.
    pub(super) fn range(&self, root: MemLocId, offset: u64, bytes: u64) -> (u32, u64, u64) {
        const SPACES: u32 = Space::ALL.len() as u32;
        let (area, base) = match self.places[root.index()] {
            Some((space, address)) => (space as u32, address),
            // A root of its own; ids leave room because no function holds 2^32 - 3 locations.
            None => (SPACES + root.0, 0),
        };
        (area, base + offset, base + offset + bytes) // Range: the sums fit.
    }
}
