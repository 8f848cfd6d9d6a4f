//! From a problem to the best placement its strategy finds. // S

use super::Problem;
use crate::control::Control;
use crate::options::Strategy;
use crate::plan::Status;

/// Where every item lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The first byte of each item, by dense id.
    pub offsets: Vec<u64>,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    /// The end of the collective items' bytes less the floor, rounded up to a page, if the space
    /// has a collective region. // P5
    pub collective_real: Option<u64>,
    /// Collective items that did not fit in the region. // P5
    pub outside_region: Vec<u32>,
}

/// A placement with what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solved {
    /// Where everything lies.
    pub placement: Placement,
    /// No placement has a lower peak.
    pub bound: u64,
    /// Whether the peak is proven.
    pub status: Status,
}

/// Why there is no placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// An item found no room below the ceiling; the partial placement at that moment.
    NoRoom {
        /// The item.
        item: u32,
        /// What was placed when it failed, by dense id.
        offsets: Vec<Option<u64>>,
    },
    /// The host cancelled before any placement was found.
    Cancelled,
    /// The budget ran out before any placement was found.
    DeadlineExceeded,
}

/// Runs a strategy.
pub fn solve(
    _problem: &Problem,
    _strategy: Strategy,
    _budget_steps: Option<u64>,
    _control: &mut Control<'_>,
) -> Result<Solved, Unsolved> {
    todo!("orders and first fit")
}
