//! Room within the peak stack.
//!
//! An item that does not fit even right after the stack asks for another order of it. Members that
//! are dead over the item's life leave room, if they are neighbours. The cheapest way to bring
//! enough of them together is to take a run of neighbours whose dead bytes suffice and whose live
//! bytes are least, and to move the live ones out of the run.

use crate::place::Run;
use crate::place::exact::Random;
use crate::place::prepared::Prepared;

/// Opens room for `item` in `stack`, which is in the order of addresses. The more often the item
/// has failed the more room it is given; if there is no room to give, nothing changes.
pub(super) fn open(
    prepared: &Prepared<'_>,
    stack: &mut [u32],
    item: u32,
    failures: usize,
    random: &mut Random,
) {
    let items = &prepared.problem.items;
    let life = prepared.life(item);
    let size = |member: u32| items[member as usize].size;
    let alive: Vec<bool> = stack
        .iter()
        .map(|&member| overlap(prepared.life(member), life))
        .collect();
    let more = (size(item) / 4).saturating_mul(random.below(failures as u64 + 1));
    let wanted = size(item).saturating_add(more);
    let Some((from, to)) = cheapest_run(stack, &alive, size, wanted, random) else {
        return;
    };
    // All live ones go to one side, or each to its own.
    let side = random.below(3);
    let (mut below, mut kept, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for at in from..=to {
        if !alive[at] {
            kept.push(stack[at]);
        } else if side == 0 || side == 2 && random.below(2) == 0 {
            below.push(stack[at]);
        } else {
            above.push(stack[at]);
        }
    }
    let new = below.into_iter().chain(kept).chain(above);
    for (member, new) in stack[from..=to].iter_mut().zip(new) {
        *member = new;
    }
}

/// The ends of a run with at least `wanted` dead bytes and the least live ones, ties at random.
fn cheapest_run(
    stack: &[u32],
    alive: &[bool],
    size: impl Fn(u32) -> u64,
    wanted: u64,
    random: &mut Random,
) -> Option<(usize, usize)> {
    let size = |member| u128::from(size(member)); // Sums may be wider than a size.
    let wanted = u128::from(wanted);
    let mut best: Option<(u128, usize, usize)> = None;
    let mut ties = 0;
    let (mut from, mut dead_bytes, mut live_bytes) = (0, 0, 0);
    for to in 0..stack.len() {
        if alive[to] {
            live_bytes += size(stack[to]);
        } else {
            dead_bytes += size(stack[to]);
        }
        // The shortest run that ends here.
        while from < to && (alive[from] || dead_bytes - size(stack[from]) >= wanted) {
            if alive[from] {
                live_bytes -= size(stack[from]);
            } else {
                dead_bytes -= size(stack[from]);
            }
            from += 1;
        }
        if dead_bytes < wanted {
            continue;
        }
        let least = best.map_or(u128::MAX, |(least, ..)| least);
        if live_bytes < least {
            ties = 0;
        } else if live_bytes == least {
            ties += 1;
        }
        if live_bytes < least || live_bytes == least && random.below(ties + 1) == 0 {
            best = Some((live_bytes, from, to));
        }
    }
    best.map(|(_, from, to)| (from, to))
}

/// Whether two lives have a point in common.
fn overlap(a: &[Run], b: &[Run]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].first <= b[j].last && b[j].first <= a[i].last {
            return true;
        }
        if a[i].last < b[j].last {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}
