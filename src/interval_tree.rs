//! A static interval tree over closed intervals.
//!
//! Answers one question: which of the intervals overlap a given one? Built once, never changed. It
//! knows nothing of memory locations; a payload is a number of the caller's. // I1, I2
//!
//! The nodes are one array sorted by first point; the tree is that array read by midpoints, so
//! there is nothing to balance. Each node carries the greatest last point of its subtree (Cormen
//! et al., *Introduction to Algorithms*, 14.3). A query that finds `k` of `n` intervals visits
//! `O(min(n, k log n))` nodes, and sorts what it found.
//!
//! # Invariants
//!
//! * **order**: nodes ascend by `(lo, hi, payload)`, and a subtree is a contiguous run of them with
//!   its root in the middle;
//! * **augmentation**: `max` is the greatest `hi` in the subtree.
//!
//! `check_invariants` walks the tree and asserts both.

use crate::error::{Error, Result};
use crate::sorting::CompactSort as _;

/// No child.
pub const NO_NODE: u32 = u32::MAX;

/// A closed interval `[lo, hi]` with what the caller knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The first point.
    pub lo: u32,
    /// The last point.
    pub hi: u32,
    /// The caller's number; several intervals may carry one.
    pub payload: u32,
}

/// One node; its position in the array is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The first point.
    pub lo: u32,
    /// The last point.
    pub hi: u32,
    /// The greatest last point of the subtree.
    pub max: u32,
    /// The caller's number.
    pub payload: u32,
    /// The root of what sorts before, or `NO_NODE`.
    pub left: u32,
    /// The root of what sorts after, or `NO_NODE`.
    pub right: u32,
}

/// The tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalTree {
    nodes: Vec<Node>,
}

impl IntervalTree {
    /// The tree of these intervals, in any order.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if an interval is inverted or if there are 2^32 - 1 or more.
    pub fn new(intervals: &[Interval]) -> Result<IntervalTree> {
        if intervals.len() >= NO_NODE as usize {
            return Err(Error::invalid("intervals", "fewer than 2^32 - 1 fit"));
        }
        if let Some(i) = intervals.iter().find(|i| i.lo > i.hi) {
            let reason = format!("[{}, {}] ends before it starts", i.lo, i.hi);
            return Err(Error::invalid("intervals", reason));
        }
        let mut sorted = intervals.to_vec();
        sorted.sort_compact_by_key(|i| (i.lo, i.hi, i.payload));
        let leaf = |i: Interval| Node {
            lo: i.lo,
            hi: i.hi,
            max: i.hi,
            payload: i.payload,
            left: NO_NODE,
            right: NO_NODE,
        };
        let mut nodes: Vec<Node> = sorted.into_iter().map(leaf).collect();
        let end = nodes.len() as u32;
        make_tree(&mut nodes, 0, end);
        make_max(&mut nodes, 0, end);
        Ok(IntervalTree { nodes })
    }

    /// Every node, ascending by `(lo, hi, payload)`.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The payloads of what overlaps the interval of a node, ascending, each once, without the
    /// payload of the node itself. They replace the content of `found`.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn all_overlaps(&self, node: u32, found: &mut Vec<u32>) {
        let of = self.nodes[node as usize];
        self.all_overlaps_with_interval(of.lo, of.hi, found);
        if let Ok(own) = found.binary_search(&of.payload) {
            found.remove(own);
        }
    }

    /// The payloads of what overlaps `[lo, hi]`, ascending, each once; none if it is inverted. They
    /// replace the content of `found`.
    pub fn all_overlaps_with_interval(&self, lo: u32, hi: u32, found: &mut Vec<u32>) {
        found.clear();
        if lo > hi {
            return;
        }
        // Midpoints halve the run at each level, so that a path has at most 32 nodes and each
        // leaves at most one sibling behind.
        let mut pending = [NO_NODE; 40];
        let mut depth = 0;
        let mut at = middle(0, self.nodes.len() as u32);
        loop {
            if let Some(node) = self.nodes.get(at as usize)
                // Augmentation: nothing below reaches the query.
                && node.max >= lo
            {
                at = node.left;
                // Order: everything to the right starts no earlier than this node.
                if node.lo <= hi {
                    if node.hi >= lo {
                        found.push(node.payload);
                    }
                    pending[depth] = node.right;
                    depth += 1;
                }
                continue;
            }
            let Some(up) = depth.checked_sub(1) else {
                break;
            };
            depth = up;
            at = pending[depth];
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Asserts the invariants of the module's head.
    ///
    /// # Panics
    ///
    /// If one does not hold.
    pub fn check_invariants(&self) {
        let key = |n: &Node| (n.lo, n.hi, n.payload);
        assert!(
            self.nodes.windows(2).all(|w| key(&w[0]) <= key(&w[1])),
            "order"
        );
        let mut runs = vec![(0, self.nodes.len() as u32)];
        while let Some((start, end)) = runs.pop() {
            let root = middle(start, end);
            let Some(node) = self.nodes.get(root as usize) else {
                continue;
            };
            assert_eq!(node.left, middle(start, root), "order");
            assert_eq!(node.right, middle(root + 1, end), "order");
            let below = &self.nodes[start as usize..end as usize];
            assert_eq!(
                Some(node.max),
                below.iter().map(|n| n.hi).max(),
                "augmentation"
            );
            runs.extend([(start, root), (root + 1, end)]);
        }
    }
}

/// The root of the run `start..end`; `NO_NODE` if that is empty.
fn middle(start: u32, end: u32) -> u32 {
    if start == end {
        NO_NODE
    } else {
        start + (end - start) / 2
    }
}

/// Links the sorted run `start..end` by midpoints. Recursion is as deep as the tree: 32 at most.
fn make_tree(nodes: &mut [Node], start: u32, end: u32) {
    let root = middle(start, end);
    if root != NO_NODE {
        let node = &mut nodes[root as usize];
        (node.left, node.right) = (middle(start, root), middle(root + 1, end));
        make_tree(nodes, start, root);
        make_tree(nodes, root + 1, end);
    }
}

/// Fills in `max`, children first, and returns that of the run's root; 0 if it is empty.
fn make_max(nodes: &mut [Node], start: u32, end: u32) -> u32 {
    let root = middle(start, end);
    if root == NO_NODE {
        return 0;
    }
    let below = make_max(nodes, start, root).max(make_max(nodes, root + 1, end));
    let node = &mut nodes[root as usize];
    node.max = node.hi.max(below);
    node.max
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbitrary::Unstructured;

    fn interval(u: &mut Unstructured<'_>, horizon: u32) -> arbitrary::Result<Interval> {
        let lo = u.int_in_range(0..=horizon)?;
        let hi = u.int_in_range(lo..=horizon.min(lo + 6))?;
        let payload = u.int_in_range(0..=9)?;
        Ok(Interval { lo, hi, payload })
    }

    fn naive(intervals: &[Interval], lo: u32, hi: u32) -> Vec<u32> {
        let meets = |i: &&Interval| i.lo <= hi && lo <= i.hi;
        let mut found: Vec<u32> = intervals.iter().filter(meets).map(|i| i.payload).collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn queries_find_what_a_scan_finds() {
        arbtest::arbtest(|u| {
            let count = u.int_in_range(0..=24)?;
            let intervals = (0..count)
                .map(|_| interval(u, 20))
                .collect::<arbitrary::Result<Vec<_>>>()?;
            let tree = IntervalTree::new(&intervals).expect("none is inverted");
            tree.check_invariants();
            let mut found = vec![77];
            let query = interval(u, 22)?;
            tree.all_overlaps_with_interval(query.lo, query.hi, &mut found);
            assert_eq!(found, naive(&intervals, query.lo, query.hi));
            for (i, node) in tree.nodes().iter().enumerate() {
                tree.all_overlaps(i as u32, &mut found);
                let mut want = naive(&intervals, node.lo, node.hi);
                want.retain(|&payload| payload != node.payload);
                assert_eq!(found, want, "{node:?}");
            }
            Ok(())
        });
    }

    #[test]
    fn intervals_are_closed_and_the_ends_of_the_range_count() {
        let at = |lo, hi, payload| Interval { lo, hi, payload };
        let tree =
            IntervalTree::new(&[at(0, 4, 7), at(4, u32::MAX, 3), at(5, 5, 3)]).expect("valid");
        let mut found = Vec::new();
        tree.all_overlaps_with_interval(4, 4, &mut found);
        assert_eq!(found, [3, 7]);
        tree.all_overlaps_with_interval(u32::MAX, u32::MAX, &mut found);
        assert_eq!(found, [3]);
        tree.all_overlaps_with_interval(5, 4, &mut found);
        assert!(found.is_empty(), "an inverted query meets nothing");
        tree.all_overlaps(0, &mut found);
        assert_eq!(found, [3]);
    }

    #[test]
    fn an_empty_tree_finds_nothing_and_an_inverted_interval_is_refused() {
        let tree = IntervalTree::new(&[]).expect("valid");
        let mut found = vec![1];
        tree.all_overlaps_with_interval(0, u32::MAX, &mut found);
        assert!(found.is_empty());
        let inverted = Interval {
            lo: 2,
            hi: 1,
            payload: 0,
        };
        assert!(IntervalTree::new(&[inverted]).is_err());
    }

    #[test]
    fn a_long_path_does_not_overflow_the_stack_of_a_query() {
        let intervals: Vec<Interval> = (0..100_000)
            .map(|i| Interval {
                lo: i,
                hi: 100_000,
                payload: i,
            })
            .collect();
        let tree = IntervalTree::new(&intervals).expect("valid");
        let mut found = Vec::new();
        tree.all_overlaps_with_interval(99_999, 99_999, &mut found);
        assert_eq!(found.len(), 100_000);
    }
}
