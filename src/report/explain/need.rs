//! What a space needs at the least, at which instruction, and what it would need if one location
//! were different. // T
//!
//! The load of every line of time is kept as one number for each instruction. A change to a
//! location is a change to the loads of the lines on which it lives, and the new need is found
//! by one pass over those and over the calls: linear, and exact.

use crate::ir::{FlatIndex, Segment};
use crate::place::{InPlacePair, Problem, bound_of_loads, heaviest_matching, load_profile};
use crate::planner::{Ground, Grounds, Holder, Line, Rule};
use crate::sorting::CompactSort as _;

/// What if a location were different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It were not there.
    Gone,
    /// It had half its bytes, rounded up.
    Half,
    /// Its last segment ended one access earlier.
    Earlier,
}

/// The least bytes of a space, and the moment that needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// One past the last byte.
    pub bytes: u64,
    /// Lines and their moments: a caller before its callee, or groups of several entry functions;
    /// empty if nothing is live.
    pub path: Vec<(usize, u32)>,
    /// Groups are part of the load. // M7
    pub beside: bool,
}

/// The loads of one space.
pub(super) struct Needs<'g> {
    ground: &'g Ground,
    callers_first: Vec<usize>,
    /// By line, then moment: what its own holders load.
    own: Vec<Vec<u64>>,
    /// The same with the groups in the same range of addresses; empty where there is none. // M7
    with_groups: Vec<Vec<u64>>,
    /// By line: the bound of either load, and its first moment.
    bounds: Vec<[(u64, u32); 2]>,
}

/// One line with other loads.
struct Changed {
    line: usize,
    own: Vec<u64>,
    with_groups: Vec<u64>,
    bounds: [(u64, u32); 2],
}

impl<'g> Needs<'g> {
    pub fn of(grounds: &Grounds<'_>, ground: &'g Ground) -> Needs<'g> {
        let mut needs = Needs {
            ground,
            callers_first: grounds.callers_first(ground),
            own: Vec::new(),
            with_groups: Vec::new(),
            bounds: Vec::new(),
        };
        for line in &ground.lines {
            let own = load_profile(&line.problem, line.count as u32);
            let mut all = Vec::new();
            if !line.groups.is_empty() {
                all = with_groups(line, &own);
            }
            needs.bounds.push(bounds(&line.problem, &own, &all));
            needs.own.push(own);
            needs.with_groups.push(all);
        }
        needs
    }

    /// The load of a line's own holders at a moment.
    pub fn own(&self, line: usize, t: u32) -> u64 {
        self.own[line].get(t as usize).copied().unwrap_or(0)
    }

    /// The load of a line at a moment, with the groups in its range of addresses.
    pub fn all(&self, line: usize, t: u32) -> u64 {
        match self.with_groups[line].get(t as usize) {
            Some(&load) => load,
            None => self.own(line, t),
        }
    }

    /// The most that a line and what it calls hold at a time, by line, and when. Groups count on
    /// the line alone that is asked about, for they are there in all of them.
    pub fn most(&self) -> Vec<(u64, u32)> {
        let mut most = vec![(0, 0); self.ground.lines.len()];
        for &l in self.callers_first.iter().rev() {
            let line = &self.ground.lines[l];
            let own = self.own[l].iter().copied().zip(0u32..);
            most[l] = own.fold((0, 0), |best, at| if at.0 > best.0 { at } else { best });
            for &(t, callee) in &line.calls {
                let at_call = self.own(l, t).saturating_add(most[callee].0);
                if at_call > most[l].0 {
                    most[l] = (at_call, t);
                }
            }
        }
        most
    }

    /// The most that the callers of each line hold while it runs: how much, and the call.
    pub fn above(&self) -> Vec<(u64, Option<(usize, u32)>)> {
        let mut above: Vec<(u64, Option<(usize, u32)>)> = vec![(0, None); self.ground.lines.len()];
        for &l in &self.callers_first {
            for &(t, callee) in &self.ground.lines[l].calls {
                let held = above[l].0.saturating_add(self.own(l, t));
                if above[callee].1.is_none() || held > above[callee].0 {
                    above[callee] = (held, Some((l, t)));
                }
            }
        }
        above
    }

    /// The need as things are.
    pub fn now(&self) -> Need {
        self.with(&[])
    }

    /// The need if a holder were different.
    pub fn if_changed(&self, grounds: &Grounds<'_>, holder: &Holder, change: Change) -> u64 {
        let mut changed = Vec::new();
        let earlier = match change {
            Change::Earlier => grounds.one_access_earlier(holder),
            Change::Gone | Change::Half => Vec::new(),
        };
        for (l, line) in self.ground.lines.iter().enumerate() {
            let granule = line.problem.granule.max(1);
            let size = match change {
                Change::Gone => 0,
                Change::Half => holder.declared.div_ceil(2).next_multiple_of(granule),
                Change::Earlier => holder.size,
            };
            let life = |old: &[Segment]| match (change, holder.group) {
                (Change::Gone | Change::Half, _) => old.to_vec(),
                (Change::Earlier, None) => earlier.clone(),
                (Change::Earlier, Some(_)) => grounds.group_life(self.ground, line, &earlier),
            };
            let item = item_of(line, holder);
            let group = line
                .groups
                .iter()
                .find(|(g, _)| holder.group.is_some() && g.group == holder.group);
            if item.is_none() && group.is_none() {
                continue;
            }
            let (mut own, mut all) = (self.own[l].clone(), self.with_groups[l].clone());
            if let Some(item) = item {
                let old = line.problem.lives.of(item as usize);
                let new = life(old);
                for loads in [&mut own, &mut all] {
                    move_load(line, item, (holder.size, old), (size, &new), loads);
                }
            }
            if let Some((_, old)) = group {
                subtract(&mut all, old, holder.size);
                add(&mut all, &life(old), size);
            }
            changed.push(Changed {
                line: l,
                bounds: bounds(&line.problem, &own, &all),
                own,
                with_groups: all,
            });
        }
        self.with(&changed).bytes
    }

    fn with(&self, changed: &[Changed]) -> Need {
        let ground = self.ground;
        let find = |l: usize| changed.iter().find(|c| c.line == l);
        let own_at = |l: usize, t: u32| match find(l) {
            Some(changed) => changed.own[t as usize],
            None => self.own(l, t),
        };
        let bounds = |l: usize| find(l).map_or(self.bounds[l], |changed| changed.bounds);
        let load = |l: usize, t: u32| match find(l) {
            Some(c) if !c.with_groups.is_empty() => c.with_groups[t as usize],
            Some(c) => c.own.get(t as usize).copied().unwrap_or(0),
            None => self.all(l, t),
        };
        match ground.rule {
            Rule::Frames { calls_add, beside } => {
                let mut need: Vec<u64> = (0..ground.lines.len()).map(|l| bounds(l)[0].0).collect();
                let mut via: Vec<Option<(u32, usize)>> = vec![None; need.len()];
                for &l in self.callers_first.iter().rev().filter(|_| calls_add) {
                    for &(t, callee) in &ground.lines[l].calls {
                        let at_call = own_at(l, t).saturating_add(need[callee]);
                        if at_call > need[l] {
                            (need[l], via[l]) = (at_call, Some((t, callee)));
                        }
                    }
                }
                let mut best = Need {
                    bytes: ground.floor,
                    path: Vec::new(),
                    beside: false,
                };
                for &l in &self.callers_first {
                    if need[l] > best.bytes {
                        best.bytes = need[l];
                        best.path = vec![(l, 0)];
                    }
                }
                while let Some(last) = best.path.last_mut() {
                    match via[last.0] {
                        Some((t, callee)) => {
                            last.1 = t;
                            best.path.push((callee, 0));
                        }
                        None => {
                            last.1 = bounds(last.0)[0].1;
                            break;
                        }
                    }
                }
                for &l in self.callers_first.iter().filter(|_| beside) {
                    let (bytes, t) = bounds(l)[1];
                    if bytes > best.bytes {
                        best = Need {
                            bytes,
                            path: vec![(l, t)],
                            beside: true,
                        };
                    }
                }
                best
            }
            Rule::Groups { add } => {
                let mut best = Need {
                    bytes: ground.floor,
                    path: Vec::new(),
                    beside: false,
                };
                let lanes = ground.lines.iter().map(|line| line.lane + 1).max();
                for lane in 0..lanes.unwrap_or(0) {
                    let on_lane =
                        || (0..ground.lines.len()).filter(|&l| ground.lines[l].lane == lane);
                    if add {
                        let mut path: Vec<(usize, u32)> =
                            on_lane().map(|l| (l, bounds(l)[0].1)).collect();
                        path.retain(|&(l, t)| load(l, t) > 0);
                        let sum = path.iter().map(|&(l, t)| load(l, t));
                        let bytes = sum.fold(ground.floor, u64::saturating_add);
                        if bytes > best.bytes {
                            // The largest comes last, as the innermost of calls does.
                            path.sort_compact_by_key(|&(l, t)| load(l, t));
                            (best.bytes, best.path) = (bytes, path);
                        }
                        continue;
                    }
                    for l in on_lane() {
                        let (bytes, t) = bounds(l)[0];
                        if bytes > best.bytes && load(l, t) > 0 {
                            (best.bytes, best.path) = (bytes, vec![(l, t)]);
                        }
                    }
                }
                best
            }
        }
    }
}

/// A line's load with the groups beside it.
fn with_groups(line: &Line, own: &[u64]) -> Vec<u64> {
    // Differences wrap below zero; their sums do not.
    let mut change = vec![0u64; own.len() + 1];
    for (group, life) in &line.groups {
        for segment in life {
            let (first, past) = (segment.first().index(), segment.last().index() + 1);
            change[first] = change[first].wrapping_add(group.size);
            change[past] = change[past].wrapping_sub(group.size);
        }
    }
    let mut held = 0u64;
    let loads = own.iter().zip(&change).map(|(&own, &change)| {
        held = held.wrapping_add(change);
        own.saturating_add(held)
    });
    loads.collect()
}

/// The bound of a line's own load, and with groups.
fn bounds(problem: &Problem, own: &[u64], all: &[u64]) -> [(u64, u32); 2] {
    let bound = |loads: &[u64]| {
        let (bytes, index) = bound_of_loads(problem, loads);
        (bytes, index.0)
    };
    let own = bound(own);
    [own, if all.is_empty() { own } else { bound(all) }]
}

/// The item of a line that a holder is.
fn item_of(line: &Line, holder: &Holder) -> Option<u32> {
    let same = |h: &Holder| (h.member, h.group) == (holder.member, holder.group);
    line.holders.iter().position(same).map(|i| i as u32)
}

/// The pairs of one moment that sizes allow, ascending by def.
pub(super) fn pairs_at(line: &Line, t: u32, size: impl Fn(u32) -> u64) -> Vec<InPlacePair> {
    let first = line.pairs.partition_point(|p| p.index.0 < t);
    let here = line.pairs[first..].iter().take_while(|p| p.index.0 == t);
    here.filter(|p| size(p.def) <= size(p.used))
        .copied()
        .collect()
}

/// Takes an item's old bytes and life off some loads and puts the new ones there.
fn move_load(
    line: &Line,
    item: u32,
    (old_size, old): (u64, &[Segment]),
    (new_size, new): (u64, &[Segment]),
    loads: &mut [u64],
) {
    if loads.is_empty() {
        return;
    }
    let sizes = |i: u32| line.problem.items[i as usize].size;
    let touched = line
        .pairs
        .iter()
        .filter(|p| p.used == item || p.def == item);
    let mut moments: Vec<u32> = touched.map(|p| p.index.0).collect();
    moments.dedup(); // They ascend.
    for &t in &moments {
        let saved = heaviest_matching(&pairs_at(line, t, sizes), sizes);
        loads[t as usize] = loads[t as usize].wrapping_add(saved as u64);
    }
    subtract(loads, old, old_size);
    add(loads, new, new_size);
    for &t in &moments {
        let size = |i: u32| if i == item { new_size } else { sizes(i) };
        let lives = new_size > 0 && new.iter().any(|s| s.contains(FlatIndex(t)));
        let mut pairs = pairs_at(line, t, size);
        pairs.retain(|p| lives || p.used != item && p.def != item);
        loads[t as usize] = loads[t as usize].wrapping_sub(heaviest_matching(&pairs, size) as u64);
    }
}

fn add(loads: &mut [u64], life: &[Segment], size: u64) {
    for load in life.iter().flat_map(range).filter_map(clipped(loads.len())) {
        loads[load] = loads[load].wrapping_add(size);
    }
}

fn subtract(loads: &mut [u64], life: &[Segment], size: u64) {
    for load in life.iter().flat_map(range).filter_map(clipped(loads.len())) {
        loads[load] = loads[load].wrapping_sub(size);
    }
}

fn range(segment: &Segment) -> std::ops::RangeInclusive<usize> {
    segment.first().index()..=segment.last().index()
}

/// Lives that reach beyond the line are cut off.
fn clipped(len: usize) -> impl Fn(usize) -> Option<usize> {
    move |t| (t < len).then_some(t)
}
