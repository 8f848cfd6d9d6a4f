//! The rules read off naively: every path, every instant, every pair.

use std::collections::BTreeSet;

use crate::ir::{BlockId, FlatIndex, Function, Kind, MemLocId, Usage};

/// A point of a function: a block and how many of its instructions have run.
type Point = (u32, u32);

/// What one function does to one root, without any cleverness.
pub(super) struct Naive<'a> {
    function: &'a Function,
    root: MemLocId,
    kept: bool,
    /// The host has put values there.
    given: bool,
    touched: bool,
    from_entry: bool,
}

impl<'a> Naive<'a> {
    pub fn of(function: &'a Function, root: MemLocId) -> Naive<'a> {
        let kept = function.memloc_ids().any(|id| {
            let loc = function.memloc(id);
            function.root(id).0 == root && (loc.escapes() || loc.usage == Usage::Output)
        });
        let given = function.memloc_ids().any(|id| {
            let usage = function.memloc(id).usage;
            let by_host = [Usage::Input, Usage::Weight, Usage::Constant].contains(&usage);
            function.root(id).0 == root && by_host
        });
        let mut naive = Naive {
            function,
            root,
            kept,
            given,
            touched: false,
            from_entry: false,
        };
        naive.touched = (0..naive.len()).any(|i| naive.count(i) > 0);
        naive.from_entry = naive.sees_entry();
        naive
    }

    pub fn count(&self, i: u32) -> usize {
        let f = self.function;
        let all = f.uses(FlatIndex(i)).iter().chain(f.defs(FlatIndex(i)));
        all.filter(|a| f.root(a.loc).0 == self.root).count()
    }

    pub fn used(&self, i: u32) -> bool {
        let f = self.function;
        f.uses(FlatIndex(i))
            .iter()
            .any(|a| f.root(a.loc).0 == self.root)
    }

    pub fn defined(&self, i: u32) -> bool {
        let f = self.function;
        f.defs(FlatIndex(i))
            .iter()
            .any(|a| f.root(a.loc).0 == self.root)
    }

    pub fn full(&self, i: u32) -> bool {
        let f = self.function;
        let bytes = f.memloc(self.root).bytes;
        f.defs(FlatIndex(i)).iter().any(|a| {
            let (root, offset) = f.root(a.loc);
            root == self.root && offset + a.offset == 0 && a.bytes == bytes
        })
    }

    pub fn touched(&self) -> bool {
        self.touched
    }

    fn len(&self) -> u32 {
        self.function.instructions().len() as u32
    }

    fn point(&self, i: u32) -> Point {
        let block = self.function.instructions()[i as usize].block;
        (block.0, i - self.function.block_range(block).start)
    }

    /// Every point that a walk from `from` gets to, `from` included. `stop(i)` ends a walk at an
    /// instruction. Also whether some walk leaves the function.
    fn walk(&self, from: Point, stop: impl Fn(u32) -> bool) -> (BTreeSet<Point>, bool) {
        let (mut seen, mut work, mut left) = (BTreeSet::new(), vec![from], false);
        while let Some((b, at)) = work.pop() {
            if !seen.insert((b, at)) {
                continue;
            }
            let range = self.function.block_range(BlockId(b));
            if at < range.len() as u32 {
                if !stop(range.start + at) {
                    work.push((b, at + 1));
                }
                continue;
            }
            let succs = self.function.successors(BlockId(b));
            left |= succs.is_empty();
            work.extend(succs.iter().map(|s| (s.0, 0)));
        }
        (seen, left)
    }

    fn instruction(&self, (b, at): Point) -> Option<u32> {
        let range = self.function.block_range(BlockId(b));
        (at < range.len() as u32).then(|| range.start + at)
    }

    /// Whether some walk from here reads the root, or leaves with it, before `stop`.
    fn needed(&self, from: Point, stop: impl Fn(u32) -> bool) -> bool {
        // An instruction reads before it writes, so its use counts though it stops the walk.
        let (seen, left) = self.walk(from, stop);
        let uses = seen
            .iter()
            .filter_map(|&p| self.instruction(p))
            .any(|i| self.used(i));
        uses || left && self.kept
    }

    fn endless(&self, block: u32) -> bool {
        !self.walk((block, 0), |_| false).1
    }

    /// Whether a kept root must stay here because of a place that no exit can be reached from.
    fn needed_endlessly(&self, from: Point) -> bool {
        let whole = |i: u32| {
            let block = self.function.instructions()[i as usize].block.0;
            self.full(i) && !self.endless(block)
        };
        self.kept && self.walk(from, whole).0.iter().any(|p| self.endless(p.0))
    }

    /// Whether some use may see the entry. // L5
    fn sees_entry(&self) -> bool {
        let stop = |i: u32| match self.given {
            true => self.full(i),
            false => self.defined(i),
        };
        let reachable = self.walk((0, 0), |_| false).0;
        let blocks = self.function.blocks().len() as u32;
        let entries = (0..blocks).filter(|&b| b == 0 || !reachable.contains(&(b, 0)));
        self.touched && entries.into_iter().any(|b| self.needed((b, 0), stop))
    }

    /// Whether a def may come before this point.
    fn after_def(&self, point: Point) -> bool {
        (0..self.len()).filter(|&i| self.defined(i)).any(|i| {
            let (b, at) = self.point(i);
            self.walk((b, at + 1), |_| false).0.contains(&point)
        })
    }

    fn live_at(&self, point: Point) -> bool {
        let after_def = self.after_def(point);
        let values = (self.from_entry || after_def) && self.needed(point, |i| self.full(i));
        values || after_def && self.needed_endlessly(point)
    }

    /// Whether the root is live-in and live-out of an instruction.
    pub fn live(&self, i: u32) -> (bool, bool) {
        let (b, at) = self.point(i);
        let live = |point| self.touched && self.live_at(point);
        (live((b, at)), live((b, at + 1)))
    }

    /// Every instant at which the root's bytes are taken.
    pub fn instants(&self) -> Vec<u32> {
        let taken = |&i: &u32| {
            let (before, after) = self.live(i);
            before || after || self.defined(i)
        };
        (0..self.len()).filter(taken).collect()
    }

    /// The first and the last epoch of an instruction; barriers stand in no cycle.
    pub fn epochs(function: &Function, i: u32) -> (u32, u32) {
        let mut counts = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![(0u32, 0u32, 0u32)];
        let blocks = function.blocks().len() as u32;
        let reached = |seen: &BTreeSet<(u32, u32, u32)>, b| seen.iter().any(|s| s.0 == b);
        let reachable = Naive::of(function, MemLocId(0)).walk((0, 0), |_| false).0;
        loop {
            while let Some((b, at, mut count)) = work.pop() {
                if !seen.insert((b, at, count)) {
                    continue;
                }
                let range = function.block_range(BlockId(b));
                if at < range.len() as u32 {
                    let index = range.start + at;
                    let kind = function.instructions()[index as usize].kind;
                    count += u32::from(kind == Kind::Barrier);
                    if index == i {
                        counts.insert(count);
                    }
                    work.push((b, at + 1, count));
                } else {
                    let succs = function.successors(BlockId(b));
                    let real = |s: u32| reachable.contains(&(b, 0)) || !reachable.contains(&(s, 0));
                    let succs = succs.iter().filter(|s| real(s.0));
                    work.extend(succs.map(|s| (s.0, 0, count)));
                }
            }
            // An unreachable block is an entry of its own.
            match (0..blocks).find(|&b| !reached(&seen, b)) {
                Some(b) => work.push((b, 0, 0)),
                None => break,
            }
        }
        (
            *counts.first().expect("it runs"),
            *counts.last().expect("it runs"),
        )
    }

    pub fn last_epoch(function: &Function) -> u32 {
        let barriers = function
            .instructions()
            .iter()
            .filter(|i| i.kind == Kind::Barrier);
        barriers.count() as u32
    }
}

/// Every pair that the dataflow allows, with its instruction. // L8
pub(super) fn handovers(function: &Function) -> BTreeSet<(MemLocId, MemLocId, u32)> {
    let mut all = BTreeSet::new();
    for i in 0..function.instructions().len() as u32 {
        for &(used, def) in function.in_place(FlatIndex(i)) {
            if handover(function, used, def, i) {
                all.insert((used, def, i));
            }
        }
    }
    all
}

fn handover(function: &Function, used: MemLocId, def: MemLocId, i: u32) -> bool {
    let listed = function.in_place(FlatIndex(i)).contains(&(used, def));
    let root = |id: MemLocId| function.memloc(id).view().is_none();
    let (u, d) = (Naive::of(function, used), Naive::of(function, def));
    listed
        && function.instructions()[i as usize].kind != Kind::Call
        && root(used)
        && root(def)
        && function.memloc(used).space == function.memloc(def).space
        && u.used(i)
        && u.count(i) == 1
        && !u.live(i).1
        && d.full(i)
        && !d.used(i)
        && !d.live(i).0
}

/// Instants as closed runs.
pub(super) fn runs(instants: &[u32]) -> Vec<(u32, u32)> {
    let mut list: Vec<(u32, u32)> = Vec::new();
    for &i in instants {
        match list.last_mut() {
            Some(last) if last.1 + 1 == i => last.1 = i,
            _ => list.push((i, i)),
        }
    }
    list
}
