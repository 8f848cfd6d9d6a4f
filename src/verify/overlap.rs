//! No two locations take one byte at one time, but for a true in-place pair. // L8, M4

use std::collections::BTreeMap;

use super::calls::{Calls, held_above};
use super::findings::{At, Findings};
use super::groups::{Fate, Group, Groups};
use super::held;
use super::lives::Handover;
use super::locations::{Hold, Layout, Put};
use super::scope::Scope;
use super::sweep::{Next, Rect, Taken, overlaps};
use crate::ir::{MemLocId, Space};
use crate::options::Geometry;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::sorting::CompactSort as _;

/// Holds every two locations against each other.
pub(super) fn check(
    scopes: &[Scope<'_>],
    calls: &Calls,
    groups: &Groups,
    layout: &Layout,
    plan: &Plan,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    let always = Always::of(scopes, groups, layout, pace);
    always.check(scopes, groups, findings);
    for s in 0..scopes.len() {
        for space in [Space::Local, Space::Debug] {
            private(scopes, s, space, layout, &always, findings, pace);
        }
    }
    for space in [Space::Local, Space::Debug] {
        frames(scopes, calls, space, layout, findings, pace);
    }
    let apart = plan.options.separate_functions;
    match plan.options.geometry {
        Geometry::Split => shared(scopes, groups, layout, &always, apart, None, findings, pace),
        Geometry::Unified => {
            // Groups that no core has both of may share bytes. // M7
            for core in looks(scopes, groups) {
                let core = Some(core);
                shared(scopes, groups, layout, &always, apart, core, findings, pace);
            }
            held::check(scopes, groups, layout, apart, findings, pace)
        }
    }
}

/// One core of each kind, by the groups that reach it.
pub(super) fn looks(scopes: &[Scope<'_>], groups: &Groups) -> Vec<u32> {
    let mut looks: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
    let mut on: OrderedMap<u32, Vec<usize>> = scopes.iter().map(|s| (s.core, Vec::new())).collect();
    for (g, group) in groups.list.iter().enumerate() {
        for core in &group.reach {
            on.entry(*core).or_default().push(g);
        }
    }
    for (core, reaching) in on {
        looks.entry(reaching).or_insert(core);
    }
    looks.into_values().collect()
}

/// One location of a scope.
type Site = (usize, MemLocId);

/// The pins that take their bytes in every function, per space and core. // L6b
struct Always {
    sites: Vec<Site>,
    taken: OrderedMap<(Space, Option<u32>), Taken>,
}

impl Always {
    fn of(
        scopes: &[Scope<'_>],
        groups: &Groups,
        layout: &Layout,
        pace: &mut Pace<'_, '_>,
    ) -> Always {
        let mut sites = Vec::new();
        let mut ranges: OrderedMap<_, Vec<_>> = OrderedMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.roots() {
                if pace.over(1) {
                    break;
                }
                let Some(put) = layout.put(s, id).filter(|put| put.hold == Hold::Always) else {
                    continue;
                };
                let copy = groups.of_member(s, id).is_some_and(|g| {
                    let pinned =
                        |m: &&(u32, MemLocId)| scopes[m.0 as usize].loc(m.1).pin().is_some();
                    g.members
                        .iter()
                        .find(pinned)
                        .is_some_and(|&m| m != (s as u32, id))
                });
                if copy {
                    continue; // Another member stands for the group.
                }
                let core = (put.space == Space::Local).then_some(scope.core);
                let list = ranges.entry((put.space, core)).or_default();
                list.push((put.start, put.end, sites.len() as u32));
                sites.push((s, id));
            }
        }
        let taken = ranges
            .into_iter()
            .map(|(key, list)| (key, Taken::new(list)))
            .collect();
        Always { sites, taken }
    }

    fn in_space(&self, space: Space, core: u32) -> Option<&Taken> {
        let core = (space == Space::Local).then_some(core);
        self.taken.get(&(space, core))
    }

    /// The pins against each other.
    fn check(&self, scopes: &[Scope<'_>], groups: &Groups, findings: &mut Findings) {
        for taken in self.taken.values() {
            taken.overlaps(|a, b| {
                let (a, b) = (self.sites[a as usize], self.sites[b as usize]);
                let group = |site: Site| groups.position(site.0, site.1);
                let one_group = group(a).is_some() && group(a) == group(b);
                if !one_group && !one_storage(scopes, a, b) {
                    findings.add("pins_overlap", scopes[b.0].at(), || {
                        let names = vec![scopes[a.0].site(a.1), scopes[b.0].site(b.1)];
                        (
                            names,
                            "both are pinned to the same bytes at the same time".to_owned(),
                        )
                    });
                }
                if findings.enough("pins_overlap") {
                    Next::Stop
                } else {
                    Next::Continue
                }
            });
        }
    }
}

/// Whether two pins of different functions are one storage: one name, one place.
fn one_storage(scopes: &[Scope<'_>], a: Site, b: Site) -> bool {
    let (f, g) = (scopes[a.0].function, scopes[b.0].function);
    let (p, q) = (f.memloc(a.1), g.memloc(b.1));
    let name = f.memloc_name(a.1);
    a.0 != b.0
        && !name.is_empty()
        && name == g.memloc_name(b.1)
        && (p.pin(), p.bytes) == (q.pin(), q.bytes)
}

/// The locations of one function in a space of its core.
fn private(
    scopes: &[Scope<'_>],
    s: usize,
    space: Space,
    layout: &Layout,
    always: &Always,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    let scope = &scopes[s];
    let mut rects = Vec::with_capacity(scope.lives.len());
    let taken = always.in_space(space, scope.core);
    for id in scope.roots() {
        if pace.over(1) {
            break;
        }
        let Some(put) = layout.put(s, id).filter(|put| put.space == space) else {
            continue;
        };
        let runs = scope.lives.of_root(id);
        if pace.over(runs.len()) {
            break;
        }
        if put.hold == Hold::Always || runs.is_empty() {
            continue;
        }
        if let Some(taken) = taken {
            taken.meeting(put.start, put.end, |tag| {
                let (other, pin) = always.sites[tag as usize];
                let kind = match put.hold {
                    Hold::Placed => "overlap",
                    _ => "pins_overlap",
                };
                findings.add(kind, scope.at(), || {
                    let names = vec![scope.label(id), scopes[other].site(pin)];
                    let pinned = layout.put(other, pin).expect("it was put there");
                    (
                        names,
                        clash(put, pinned, "the second is pinned there all the time"),
                    )
                });
            });
        }
        rects.extend(runs.iter().map(|&(lo, hi)| Rect {
            first: lo.into(),
            last: hi.into(),
            start: put.start,
            end: put.end,
            owner: id.0,
        }));
    }
    let mut pairs = scope.lives.handovers.clone();
    pairs.sort_compact_by_key(|h| (h.used, h.def, h.index));
    overlaps(&rects, pace, |a, b| {
        let (a, b) = (&rects[a], &rects[b]);
        let put = |owner: u32| {
            layout
                .put(s, MemLocId(owner))
                .expect("rects are of what is put")
        };
        let (x, y) = (put(a.owner), put(b.owner));
        let (lo, hi) = (a.first.max(b.first), a.last.min(b.last));
        let handed = |t: u64| {
            let t = t as u32; // It came from a flat index.
            in_place(&pairs, (a.owner, x), (b.owner, y), t)
                || in_place(&pairs, (b.owner, y), (a.owner, x), t)
        };
        if !(lo..=hi).all(handed) {
            let both_pins = x.hold != Hold::Placed && y.hold != Hold::Placed;
            let kind = if both_pins { "pins_overlap" } else { "overlap" };
            findings.add(kind, scope.at(), || {
                let names = vec![
                    scope.label(MemLocId(a.owner)),
                    scope.label(MemLocId(b.owner)),
                ];
                let lives = format!(
                    "the first is live in [{}, {}], the second in [{}, {}]",
                    a.first, a.last, b.first, b.last
                );
                (names, clash(x, y, &lives))
            });
        }
        if findings.enough("overlap") {
            Next::Stop
        } else {
            Next::Continue
        }
    })
}

/// Whether `def` may lie on `used` at this instant. // L8
fn in_place(pairs: &[Handover], used: (u32, Put), def: (u32, Put), index: u32) -> bool {
    let (u, d) = (used.1, def.1);
    u.hold == Hold::Placed
        && u.start == d.start
        && d.end <= u.end
        && pairs
            .binary_search_by_key(&(used.0, def.0, index), |h| (h.used.0, h.def.0, h.index))
            .is_ok()
}

pub(super) fn clash(a: Put, b: Put, why: &str) -> String {
    format!(
        "they lie in [{}, {}) and [{}, {}): {why}",
        a.start, a.end, b.start, b.end
    )
}

/// Where a shared group lies, by the member that says so first.
pub(super) fn group_put(layout: &Layout, group: &Group) -> Option<Put> {
    let of = |&(s, id): &(u32, MemLocId)| layout.put(s as usize, id);
    let pinned = group
        .members
        .iter()
        .filter_map(of)
        .find(|put| put.hold != Hold::Placed);
    pinned
        .or_else(|| of(&group.owner))
        .or_else(|| group.members.iter().find_map(of))
}

/// No frame lies on what its callers hold while it runs. // L7
fn frames(
    scopes: &[Scope<'_>],
    calls: &Calls,
    space: Space,
    layout: &Layout,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    let own = |s: usize, root: u32| {
        let put = layout.put(s, MemLocId(root));
        // What has no bytes meets nothing. // L10
        let there = |put: &Put| put.space == space && put.start < put.end;
        put.filter(|put| there(put) && put.hold != Hold::Always)
    };
    let runs = |s: usize, root: u32| own(s, root).map(|_| scopes[s].lives.of_root(MemLocId(root)));
    for (s, above) in held_above(calls, scopes, runs, pace)
        .into_iter()
        .enumerate()
    {
        if above.is_empty() {
            continue;
        }
        let holders: Vec<(u32, u32)> = above.into_iter().collect();
        let ranges = holders.iter().zip(0..).map(|(&(h, root), tag)| {
            let put = own(h as usize, root).expect("only such are held");
            (put.start, put.end, tag)
        });
        let taken = Taken::new(ranges.collect());
        for id in scopes[s].roots() {
            if pace.over(1) {
                break;
            }
            let Some(put) = own(s, id.0).filter(|_| !scopes[s].lives.of_root(id).is_empty()) else {
                continue;
            };
            taken.meeting(put.start, put.end, |tag| {
                let (h, root) = holders[tag as usize];
                let held = own(h as usize, root).expect("only such are held");
                let pins = put.hold != Hold::Placed && held.hold != Hold::Placed;
                let kind = if pins { "pins_overlap" } else { "overlap" };
                findings.add(kind, scopes[s].at(), || {
                    let names = vec![scopes[s].label(id), scopes[h as usize].site(MemLocId(root))];
                    (
                        names,
                        clash(put, held, "the second is live at a call that leads here"),
                    )
                });
            });
        }
    }
}

/// The groups of all cores, or those that reach one.
#[expect(clippy::too_many_arguments, reason = "the tables that one sweep reads")]
fn shared(
    scopes: &[Scope<'_>],
    groups: &Groups,
    layout: &Layout,
    always: &Always,
    apart: bool,
    core: Option<u32>,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    let mut by_function: OrderedMap<u32, Vec<Rect>> = OrderedMap::new();
    let site = |g: u32| {
        let owner = groups.list[g as usize].owner;
        scopes[owner.0 as usize].site(owner.1)
    };
    let here = |group: &&Group| core.is_none_or(|core| group.reach.contains(&core));
    let listed = groups.list.iter().enumerate();
    for (g, group) in listed.filter(|(_, group)| here(group)) {
        if pace.over(1 + group.members.len()) {
            break;
        }
        let put = group_put(layout, group).filter(|put| put.hold != Hold::Always);
        let (Fate::Shared, Some(put)) = (group.fate, put) else {
            continue;
        };
        if let Some(taken) = always
            .in_space(Space::Shared, 0)
            .filter(|_| !group.life.is_empty())
        {
            taken.meeting(put.start, put.end, |tag| {
                let (other, pin) = always.sites[tag as usize];
                findings.add("overlap", At::default(), || {
                    let names = vec![site(g as u32), scopes[other].site(pin)];
                    let pinned = layout.put(other, pin).expect("it was put there");
                    (
                        names,
                        clash(put, pinned, "the second is pinned there all the time"),
                    )
                });
            });
        }
        for &(function, (lo, hi)) in &group.life {
            by_function.entry(function).or_default().push(Rect {
                first: lo.into(),
                last: hi.into(),
                start: put.start,
                end: put.end,
                owner: g as u32,
            });
        }
    }
    for (&function, rects) in &by_function {
        let at = At {
            core: None,
            function: Some(&groups.timing.names[function as usize]),
        };
        overlaps(rects, pace, |a, b| {
            let (a, b) = (&rects[a], &rects[b]);
            findings.add("overlap", at, || {
                let message = format!(
                    "two shared groups lie in [{}, {}) and [{}, {}), in epochs [{}, {}] and [{}, {}]",
                    a.start, a.end, b.start, b.end, a.first, a.last, b.first, b.last
                );
                (vec![site(a.owner), site(b.owner)], message)
            });
            if findings.enough("overlap") {
                Next::Stop
            } else {
                Next::Continue
            }
        });
    }
    if apart {
        return;
    }
    let put = |g: u32| group_put(layout, &groups.list[g as usize]).expect("it has a rectangle");
    across(&by_function, site, put, findings, pace)
}

/// Groups of different functions meet whatever their epochs are. // M4
fn across(
    by_function: &OrderedMap<u32, Vec<Rect>>,
    site: impl Fn(u32) -> String,
    put: impl Fn(u32) -> Put,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    // Each function's bytes as disjoint runs, so that its own re-use is no overlap here.
    let mut runs: Vec<Rect> = Vec::new();
    for (f, rects) in by_function.values().enumerate() {
        let mut ranges: Vec<(u64, u64)> = rects.iter().map(|r| (r.start, r.end)).collect();
        ranges.sort_compact();
        let first = runs.len();
        for (start, end) in ranges {
            match runs[first..].last_mut() {
                Some(Rect { end: last, .. }) if start <= *last => *last = end.max(*last),
                _ => runs.push(Rect {
                    first: 0,
                    last: 0,
                    start,
                    end,
                    owner: f as u32,
                }),
            }
        }
    }
    let holders: Vec<Taken> = (by_function.values())
        .map(|rects| Taken::new(rects.iter().map(|r| (r.start, r.end, r.owner)).collect()))
        .collect();
    overlaps(&runs, pace, |a, b| {
        let (a, b) = (&runs[a], &runs[b]);
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        holders[a.owner as usize].meeting(start, end, |g| ours.push(g));
        holders[b.owner as usize].meeting(start, end, |g| theirs.push(g));
        for &x in &ours {
            for &y in &theirs {
                let (p, q) = (put(x), put(y));
                if x != y && p.start < q.end && q.start < p.end && !findings.enough("overlap") {
                    findings.add("overlap", At::default(), || {
                        let why = "they belong to different functions, which nothing separates";
                        (vec![site(x), site(y)], clash(p, q, why))
                    });
                }
            }
        }
        if findings.enough("overlap") {
            Next::Stop
        } else {
            Next::Continue
        }
    })
}
