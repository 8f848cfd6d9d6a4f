//! What a callee must leave alone: the bytes that its callers have live at the calls. // L7
//!
//! Every context counts: a callee's frame has one set of addresses, whoever calls it, so it lies
//! beside the union over its call sites.

use super::frame::Frame;
use super::pins::VisiblePins;
use crate::ir::{FlatIndex, Lives};
use crate::place::Pin;

/// The bytes of a caller's own frame that are live at a call, closed at its index; `at` is the
/// caller's module and function.
pub(super) fn held_at(
    index: FlatIndex,
    caller: &Frame,
    offsets: &[u64],
    visible: &VisiblePins,
    at: (usize, usize),
) -> Vec<Pin> {
    let items = live_at(&caller.problem.lives, index).map(|i| Pin {
        start: offsets[i],
        end: offsets[i] + caller.problem.items[i].size,
    });
    // Pins that are held everywhere are obstacles of every function anyway, and those of callees
    // are not the caller's to pass on.
    let passed = |i: &usize| {
        let root = visible.roots.get(*i);
        root.is_some_and(|root| (root.module, root.function) == at && !root.is_owned())
    };
    let pins = live_at(&visible.lives, index)
        .filter(passed)
        .map(|i| visible.pins[i]);
    items.chain(pins).collect()
}

/// The owners that are live at an index.
pub(super) fn live_at(lives: &Lives, index: FlatIndex) -> impl Iterator<Item = usize> {
    (0..lives.len()).filter(move |&i| {
        let segments = lives.of(i);
        let next = segments.partition_point(|s| s.last() < index);
        segments.get(next).is_some_and(|s| s.contains(index))
    })
}
