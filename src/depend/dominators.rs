//! The strands that every path from a source to a target runs through.
//!
//! These are the target's dominators in the graph as seen from the source (Cooper, Harvey and
//! Kennedy, *A Simple, Fast Dominance Algorithm*, 2001). A strand with a fence ends every path;
//! so does the source when control comes back to it.

use super::across::spend;
use super::strands::{Step, Strands};
use crate::pace::Pace;

const NONE: u32 = u32::MAX;

/// The dominator tree of one source, cut down to what leads to its targets.
pub(super) struct Dominators<'a> {
    strands: &'a Strands,
    useful: Vec<bool>,        // By strand: whether a target can be reached from it.
    children: Vec<Vec<Step>>, // By strand; the source as a child is its next execution.
}

impl<'a> Dominators<'a> {
    pub(super) fn new(strands: &'a Strands) -> Dominators<'a> {
        Dominators {
            strands,
            useful: vec![false; strands.len()],
            children: vec![Vec::new(); strands.len()],
        }
    }

    /// The strands below one in the tree. A step's `back` means nothing here.
    pub(super) fn steps(&self, strand: u32) -> &[Step] {
        &self.children[strand as usize]
    }

    /// Builds the tree of `source`; whether the effort was enough.
    pub(super) fn find(
        &mut self,
        source: u32,
        targets: impl Iterator<Item = u32>,
        left: &mut u64,
        pace: &mut Pace<'_, '_>,
    ) -> bool {
        // All strands are met a few times here.
        if pace.over(5 * self.strands.len()) {
            return false;
        }
        self.children.iter_mut().for_each(Vec::clear);
        if !spend(left, self.strands.len() as u32) || !self.aim(source, targets, left) {
            return false;
        }
        // The source is met again as a node of its own, which comes after all strands.
        let again = self.strands.len() as u32;
        let Some(order) = self.postorder(source, again, left) else {
            return false;
        };
        let Some(above) = self.above(source, again, &order, left) else {
            return false;
        };
        for (n, &node) in order.iter().enumerate().rev().skip(1) {
            let to = if node == again { source } else { node };
            let parent = order[above[n] as usize];
            self.children[parent as usize].push(Step { to, back: false });
        }
        true
    }

    /// Finds the strands between the source and its targets.
    fn aim(&mut self, source: u32, targets: impl Iterator<Item = u32>, left: &mut u64) -> bool {
        self.useful.fill(false);
        let mut open = Vec::new();
        for target in targets {
            if !std::mem::replace(&mut self.useful[target as usize], true) {
                open.push(target);
            }
        }
        while let Some(strand) = open.pop() {
            for &pred in self.strands.preds(strand) {
                if !spend(left, 1) {
                    return false;
                }
                let passes = pred != source && !self.strands.fenced(pred);
                if passes && !std::mem::replace(&mut self.useful[pred as usize], true) {
                    open.push(pred);
                }
            }
        }
        true
    }

    /// The useful nodes that the source leads to, in postorder; the source is the last.
    fn postorder(&self, source: u32, again: u32, left: &mut u64) -> Option<Vec<u32>> {
        let mut seen = vec![false; again as usize + 1];
        seen[source as usize] = true;
        let mut path = vec![(source, 0)];
        let mut order = Vec::new();
        while let Some((at, step)) = path.last_mut() {
            let at = *at;
            let ended = at == again || (self.strands.fenced(at) && at != source);
            let steps = if ended { &[] } else { self.strands.succs(at) };
            let Some(next) = steps.get(*step) else {
                order.push(at);
                path.pop();
                continue;
            };
            *step += 1;
            if !spend(left, 1) {
                return None;
            }
            let to = if next.to == source { again } else { next.to };
            if self.useful[next.to as usize] && !seen[to as usize] {
                seen[to as usize] = true;
                path.push((to, 0));
            }
        }
        Some(order)
    }

    /// The immediate dominator of each node, both by postorder number.
    fn above(&self, source: u32, again: u32, order: &[u32], left: &mut u64) -> Option<Vec<u32>> {
        let mut number = vec![NONE; again as usize + 1];
        for (n, &node) in (0..).zip(order) {
            number[node as usize] = n;
        }
        let root = order.len() as u32 - 1;
        let mut above = vec![NONE; order.len()];
        above[root as usize] = root;
        let mut changed = true;
        while changed {
            changed = false;
            for n in (0..root).rev() {
                let node = order[n as usize];
                let strand = if node == again { source } else { node };
                let mut new = NONE;
                for &pred in self.strands.preds(strand) {
                    if !spend(left, 1) {
                        return None;
                    }
                    let passes = pred == source || !self.strands.fenced(pred);
                    let mut other = number[pred as usize];
                    if !passes || other == NONE || above[other as usize] == NONE {
                        continue;
                    }
                    while new != NONE && new != other {
                        if new < other {
                            new = above[new as usize];
                        } else {
                            other = above[other as usize];
                        }
                    }
                    new = other;
                }
                changed |= above[n as usize] != new;
                above[n as usize] = new;
            }
        }
        Some(above)
    }
}
