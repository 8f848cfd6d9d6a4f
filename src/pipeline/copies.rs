//! `dynamic_dma_cleanup`: copies that move bytes onto themselves. // X3

use crate::ir::{Access, FlatIndex, Function, Kind, MemoryType, Space};
use crate::pace::Pace;
use crate::plan::FunctionPlan;

/// The copies of a function whose source and destination are the same bytes.
pub(super) fn elidable(
    function: &Function,
    planned: &FunctionPlan,
    pace: &mut Pace<'_, '_>,
) -> Vec<FlatIndex> {
    let mut elidable = Vec::new();
    for (t, instruction) in function.instructions().iter().enumerate() {
        if pace.over(1) {
            break;
        }
        if instruction.kind != Kind::DmaCopy {
            continue;
        }
        let t = FlatIndex::new(t);
        let (mut uses, mut defs) = (function.uses(t).iter(), function.defs(t).iter());
        let (Some(from), None, Some(to), None) =
            (uses.next(), uses.next(), defs.next(), defs.next())
        else {
            continue;
        };
        let source = bytes(function, planned, from);
        if source.is_some() && source == bytes(function, planned, to) {
            elidable.push(t);
        }
    }
    elidable
}

/// The space, the first address and the length of an access, if it has an address.
fn bytes(function: &Function, planned: &FunctionPlan, access: Access) -> Option<(Space, u64, u64)> {
    let placed = &planned.memlocs[access.loc.index()];
    let in_dram = function.memloc(access.loc).memory == MemoryType::Dram;
    let address = placed.address.filter(|_| in_dram)?;
    Some((placed.space, address + access.offset, access.bytes))
}
