//! One first fit under a cap that does not stop at what does not fit.

use crate::ir::Usage;
use crate::place::meter::{Meter, Stop};
use crate::place::packing::Packing;
use crate::place::prepared::Prepared;
use crate::place::{PAGE, Placement};

/// What a pass has placed.
pub(super) struct Pass<'a> {
    pub(super) packing: Packing<'a>,
    /// The ranks of what found no room.
    pub(super) failed: Vec<usize>,
    collective_end: Option<u64>,
    outside_region: Vec<u32>,
}

impl Pass<'_> {
    /// The placement, if everything found room.
    pub(super) fn placement(self) -> Option<Placement> {
        if !self.failed.is_empty() {
            return None;
        }
        Some(Placement {
            peak: self.packing.peak(),
            collective_real: self.collective_end,
            outside_region: self.outside_region,
            offsets: self.packing.into_offsets(),
        })
    }
}

/// Places the items in the given order below `cap`, and goes on after failures until there are
/// more than `patience`. Collective items go first, into their region; those that do not fit join
/// the others. // P5
pub(super) fn pass<'a>(
    prepared: &'a Prepared<'a>,
    order: &[u32],
    cap: u64,
    patience: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Pass<'a>, Stop> {
    let problem = prepared.problem;
    let floor = problem.floor;
    let mut packing = Packing::new(prepared);
    let mut failed = Vec::new();
    let (mut collective_end, mut outside_region) = (None, Vec::new());
    if let Some(limit) = problem.collective_limit {
        let region = prepared.windows(floor, floor.saturating_add(limit).min(cap));
        for &item in order {
            if problem.items[item as usize].usage == Usage::Collective {
                meter.step()?;
                if packing.place(item, &region).is_none() {
                    outside_region.push(item);
                }
            }
        }
        // Nothing but collective items is placed yet; with none of them the region is empty.
        let taken = packing.peak() - floor;
        let end = packing.peak().checked_next_multiple_of(PAGE);
        collective_end = Some(if taken == 0 {
            0
        } else {
            end.unwrap_or(u64::MAX) - floor
        });
        outside_region.sort_unstable();
    }
    let everywhere = prepared.windows(floor, cap);
    for (rank, &item) in order.iter().enumerate() {
        if packing.offset(item).is_some() {
            continue;
        }
        meter.step()?;
        if packing.place(item, &everywhere).is_none() {
            failed.push(rank);
            if failed.len() > patience {
                break;
            }
        }
    }
    Ok(Pass {
        packing,
        failed,
        collective_end,
        outside_region,
    })
}
