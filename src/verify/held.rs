//! What shared groups hold on a core whose local locations have the same range of addresses. // M7
//!
//! A group takes its bytes on every core that it reaches, at every instruction that may run within
//! its epochs, in callees too. Entry functions run at times of their own on each core, so a group
//! of one is there whenever another runs, unless a barrier of the whole device separates them.

use std::collections::BTreeMap;

use super::calls::Calls;
use super::epochs::EpochRange;
use super::findings::Findings;
use super::groups::{Fate, Group, Groups};
use super::locations::{Hold, Layout, Put};
use super::overlap::{clash, group_put};
use super::scope::Scope;
use super::sweep::{Next, Rect, overlaps};
use crate::ir::{MemLocId, Space};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;

/// Runs of instructions, closed and ascending.
pub(super) type Runs = Vec<(u32, u32)>;

/// The groups on one core, while one of its functions runs.
pub(super) struct Held {
    /// The group's position, where it lies, and when.
    pub groups: Vec<(usize, Put, Runs)>,
}

impl Held {
    /// Where the groups lie while a scope runs.
    pub fn of(
        scopes: &[Scope<'_>],
        groups: &Groups,
        layout: &Layout,
        s: usize,
        apart: bool,
        pace: &mut Pace<'_, '_>,
    ) -> Held {
        let core = scopes[s].core;
        let mut known: BTreeMap<Vec<(u32, EpochRange)>, Runs> = BTreeMap::new();
        let mut held = Held { groups: Vec::new() };
        let count = scopes[s].function.instructions().len() as u32;
        for (g, group) in groups.list.iter().enumerate() {
            if pace.over(10 + group.members.len()) {
                break;
            }
            let put = group_put(layout, group).filter(|put| put.space == Space::Shared);
            let (Fate::Shared, Some(put)) = (group.fate, put) else {
                continue;
            };
            let always = put.hold == Hold::Always;
            if !always && !group.reach.contains(&core) || put.start >= put.end {
                continue;
            }
            let runs = match always {
                true => (0..count.min(1)).map(|_| (0, count - 1)).collect(),
                false => known
                    .entry(group.life.clone())
                    .or_insert_with(|| runs(groups, s, group, apart))
                    .clone(),
            };
            if !runs.is_empty() {
                held.groups.push((g, put, runs));
            }
        }
        held
    }
}

/// The instructions of a scope at which a group is there.
fn runs(groups: &Groups, s: usize, group: &Group, apart: bool) -> Runs {
    let meets = |stretch: u32, (lo, hi): (u32, u32)| {
        let own = group.life.iter().find(|l| l.0 == stretch);
        let anywhere = !apart && (group.life.len() > 1 || own.is_none());
        !group.life.is_empty() && anywhere
            || own.is_some_and(|&(_, (from, to))| lo <= to && from <= hi)
    };
    groups.timing.when(s, meets)
}

/// Local locations against the groups that reach their core.
pub(super) fn check(
    scopes: &[Scope<'_>],
    groups: &Groups,
    layout: &Layout,
    apart: bool,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    let mut pinned: OrderedMap<u32, Vec<(usize, MemLocId, Put)>> = OrderedMap::new();
    for (s, scope) in scopes.iter().enumerate() {
        let puts = scope
            .roots()
            .filter_map(|id| Some((id, layout.put(s, id)?)));
        let always = puts.filter(|(_, p)| p.space == Space::Local && p.hold == Hold::Always);
        let always = always.map(|(id, put)| (s, id, put));
        pinned.entry(scope.core).or_default().extend(always);
    }
    for (s, scope) in scopes.iter().enumerate() {
        let held = Held::of(scopes, groups, layout, s, apart, pace);
        if held.groups.is_empty() {
            continue;
        }
        let mut sites: Vec<(String, Put)> = Vec::new();
        let mut rects: Vec<Rect> = Vec::new();
        let mut add = |rects: &mut Vec<Rect>, name: String, put: Put, runs: &[(u32, u32)]| {
            rects.extend(runs.iter().map(|&(lo, hi)| Rect {
                first: lo.into(),
                last: hi.into(),
                start: put.start,
                end: put.end,
                owner: sites.len() as u32,
            }));
            sites.push((name, put));
        };
        let whole = [(0, (scope.function.instructions().len() as u32).max(1) - 1)];
        for &(other, id, put) in &pinned[&scope.core] {
            add(&mut rects, scopes[other].site(id), put, &whole);
        }
        for id in scope.roots() {
            // A name of its own.
            if pace.over(10) {
                break;
            }
            let put = layout.put(s, id).filter(|p| p.space == Space::Local);
            if let Some(put) = put.filter(|p| p.hold != Hold::Always) {
                add(&mut rects, scope.site(id), put, scope.lives.of_root(id));
            }
        }
        let local = rects.len();
        for (g, put, runs) in &held.groups {
            let (owner, id) = groups.list[*g].owner;
            add(&mut rects, scopes[owner as usize].site(id), *put, runs);
        }
        overlaps(&rects, pace, |a, b| {
            if (a < local) != (b < local) {
                let (a, b) = (&rects[a.min(b)], &rects[a.max(b)]);
                let ((x, p), (y, q)) = (&sites[a.owner as usize], &sites[b.owner as usize]);
                let pins = p.hold != Hold::Placed && q.hold != Hold::Placed;
                let kind = if pins { "pins_overlap" } else { "overlap" };
                findings.add(kind, scope.at(), || {
                    let why = format!(
                        "the first is live in [{}, {}], the second, shared, in [{}, {}]",
                        a.first, a.last, b.first, b.last
                    );
                    (vec![x.clone(), y.clone()], clash(*p, *q, &why))
                });
            }
            match findings.enough("overlap") {
                true => Next::Stop,
                false => Next::Continue,
            }
        });
    }
}

/// Epochs of an entry function, by its number.
type Window = (u32, EpochRange);

/// When the instructions of each scope may run: where its callers call it.
pub(super) struct Contexts {
    /// By scope: the entry function's number and the epochs in which it may begin; with `true`,
    /// all of it may run in any of them.
    windows: Vec<OrderedMap<Window, bool>>,
}

impl Contexts {
    /// Follows the calls from the entry functions; `at` and `cycles` tell an instruction's epochs
    /// from its function's entry and whether they are those of a cycle.
    pub fn of(
        calls: &Calls,
        stretch: impl Fn(usize) -> Option<u32>,
        at: impl Fn(usize, u32) -> (u32, u32),
        cycles: impl Fn(usize, u32) -> bool,
    ) -> Contexts {
        let scopes = calls.of.len();
        let mut windows: Vec<OrderedMap<Window, bool>> = vec![OrderedMap::new(); scopes];
        for &s in &calls.callers_first {
            let s = s as usize;
            if let Some(stretch) = stretch(s) {
                windows[s].insert((stretch, (0, 0)), false);
            }
            let mine = windows[s].clone();
            for (&callee, indices) in &calls.of[s] {
                let theirs = &mut windows[callee as usize];
                for (&(stretch, (from, to)), &ranged) in &mine {
                    for &i in indices {
                        let (lo, hi) = at(s, i);
                        let (window, ranged) = match (ranged, cycles(s, i)) {
                            (true, _) => ((from, to), true),
                            (false, true) => ((from + lo, from + hi), true),
                            (false, false) => ((from + lo, from + lo), false),
                        };
                        *theirs.entry((stretch, window)).or_default() |= ranged;
                    }
                }
            }
        }
        Contexts { windows }
    }

    /// Whether an instruction with these epochs from its scope's entry may run at a time for
    /// which `meets` holds.
    pub fn any(
        &self,
        scope: usize,
        (lo, hi): (u32, u32),
        meets: impl Fn(u32, (u32, u32)) -> bool,
    ) -> bool {
        let mut windows = self.windows[scope].iter();
        windows.any(|(&(stretch, (from, to)), &ranged)| match ranged {
            true => meets(stretch, (from, to)),
            false => meets(stretch, (from + lo, to + hi)),
        })
    }
}
