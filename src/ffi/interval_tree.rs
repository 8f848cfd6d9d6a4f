//! `dram_interval_tree`: which of these intervals overlap a given one? // I2

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::at;
use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::handle::{Handle, Object, Registry};
use super::status::dram_status;
use super::structs::Out;
use super::text::{slice, slice_mut};
use crate::interval_tree::{Interval, IntervalTree};

/// A static tree over closed intervals, owned by whoever made it: free it with
/// `dram_interval_tree_free`. It stands for itself and needs no program.
///
/// Threads: immutable; any number of threads may query one, nobody may be querying it while it is
/// freed.
pub struct dram_interval_tree {
    _opaque: (),
}

static TREES: Registry<dram_interval_tree> = Registry::new();

impl Handle for dram_interval_tree {
    type Object = Tree;
    const NAME: &'static str = "dram_interval_tree";
    const TAG: u8 = 0x89;
    fn registry() -> &'static Registry<dram_interval_tree> {
        &TREES
    }
}

/// What a `dram_interval_tree` handle stands for.
pub(super) struct Tree {
    tree: IntervalTree,
    /// Which node holds interval `i` of the host's list.
    nodes: Vec<u32>,
}

impl Object for Tree {
    fn poison(&self) -> Option<&AtomicBool> {
        None
    }
}

/// Makes the tree of the closed intervals `[lo[i], hi[i]]`, whose payload is `i`.
///
/// `lo`, `hi`, `count`: copied; `hi[i] < lo[i]` is `DRAM_STATUS_INVALID_ARGUMENT`. Takes
/// `O(count log count)` time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_interval_tree_new(
    lo: *const u32,
    hi: *const u32,
    count: usize,
    tree_out: *mut *mut dram_interval_tree,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameter says.
        let tree_out = unsafe { Out::new(tree_out, ptr::null_mut(), "tree_out")? };
        // SAFETY: as this function's parameters say.
        let (lo, hi) = unsafe { (slice(lo, count, "lo")?, slice(hi, count, "hi")?) };
        let interval = |(payload, (&lo, &hi)): (u32, (&u32, &u32))| Interval { lo, hi, payload };
        let intervals: Vec<Interval> = (0..).zip(lo.iter().zip(hi)).map(interval).collect();
        let tree = IntervalTree::new(&intervals)?;
        let mut nodes = vec![0; count];
        for (number, node) in (0..).zip(tree.nodes()) {
            nodes[node.payload as usize] = number;
        }
        tree_out.set(TREES.insert(Arc::new(Tree { tree, nodes })));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The intervals that overlap interval `i`, ascending, without itself. Past the last interval
/// `DRAM_STATUS_OUT_OF_RANGE`.
///
/// `payloads`, `capacity`: the array to fill, as far as it goes; may be null with 0. `count_out`:
/// receives how many there are, which may be more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_interval_tree_overlaps(
    tree: *const dram_interval_tree,
    i: u32,
    payloads: *mut u32,
    capacity: usize,
    count_out: *mut usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        // SAFETY: as this function's parameters say.
        let payloads = unsafe { slice_mut(payloads, capacity, "payloads")? };
        let tree = call.get(tree, "tree")?;
        let node = *at(&tree.nodes, i.into(), "interval")?;
        let mut found = Vec::new();
        tree.tree.all_overlaps(node, &mut found);
        count_out.set(hand_over(&found, payloads));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The intervals that overlap the closed interval `[lo, hi]`, ascending; none if it is inverted.
///
/// `payloads`, `capacity`, `count_out`: as for `dram_interval_tree_overlaps`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_interval_tree_overlaps_with_interval(
    tree: *const dram_interval_tree,
    lo: u32,
    hi: u32,
    payloads: *mut u32,
    capacity: usize,
    count_out: *mut usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        // SAFETY: as this function's parameters say.
        let payloads = unsafe { slice_mut(payloads, capacity, "payloads")? };
        let tree = call.get(tree, "tree")?;
        let mut found = Vec::new();
        tree.tree.all_overlaps_with_interval(lo, hi, &mut found);
        count_out.set(hand_over(&found, payloads));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Copies what fits and says how many there are.
fn hand_over(found: &[u32], payloads: &mut [u32]) -> usize {
    let fits = found.len().min(payloads.len());
    payloads[..fits].copy_from_slice(&found[..fits]);
    found.len()
}

/// Frees a tree; null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_interval_tree_free(tree: *mut dram_interval_tree) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(ptr::null_mut(), |_| super::free(tree, "tree")) }
}
