//! The plan's own figures, recomputed: floors, peaks, bounds, collective regions, capacity.

use std::collections::BTreeMap;

use super::bound::{Loads, Pair};
use super::findings::{At, Findings};
use super::groups::{Fate, Groups};
use super::locations::{Floors, Hold, Layout, collective_limits};
use super::overlap::group_put;
use super::page_up;
use super::scope::Scope;
use super::sweep::Rect;
use crate::ir::{MemLocId, Space, Usage};
use crate::options::{Floor, Strategy};
use crate::plan::{FunctionSpace, Plan, SpacePlan, Status};

/// What is true of one space of one core.
#[derive(Clone, Copy, Debug, Default)]
struct Truth {
    floor: u64,
    /// One past the highest byte placed; `None` if nothing was.
    end: Option<u64>,
    /// What the load proves, and the least that may be given for it.
    bound: (u128, u128),
}

type Key = (Space, Option<u32>);

/// Recomputes every figure of the plan.
pub(super) fn check(
    scopes: &[Scope<'_>],
    groups: &Groups,
    floors: &Floors,
    layout: &Layout,
    plan: &Plan,
    findings: &mut Findings,
) {
    let mut truths: BTreeMap<Key, Truth> = BTreeMap::new();
    for (s, scope) in scopes.iter().enumerate() {
        for space in [Space::Local, Space::Debug] {
            let truth = truths.entry((space, Some(scope.core))).or_default();
            truth.floor = floors.floor(space, scope.core);
            let (end, (proven, least)) = private(scopes, s, space, layout, plan);
            truth.end = truth.end.max(end);
            truth.bound.0 = truth.bound.0.max(proven + u128::from(truth.floor));
            truth.bound.1 = truth.bound.1.max(least + u128::from(truth.floor));
        }
        function(scopes, s, groups, floors, layout, plan, findings);
    }
    let truth = truths.entry((Space::Shared, None)).or_default();
    *truth = shared(scopes, groups, floors, layout, plan);
    spaces(&truths, plan, findings);
    capacity(scopes, floors, &truths, plan, findings);
    top(&truths, plan, findings);
}

/// The end of a private space of one function, and its bounds as in [`Truth`].
fn private(
    scopes: &[Scope<'_>],
    s: usize,
    space: Space,
    layout: &Layout,
    plan: &Plan,
) -> (Option<u64>, (u128, u128)) {
    let scope = &scopes[s];
    let mut end = None;
    let mut candidates = Vec::new();
    let mut pins = Vec::new();
    for id in scope.roots() {
        let Some(put) = layout.put(s, id).filter(|put| put.space == space) else {
            continue;
        };
        let rect = |lo: u32, hi: u32, start: u64, end: u64| Rect {
            first: lo.into(),
            last: hi.into(),
            start,
            end,
            owner: id.0,
        };
        let runs = scope.lives.of_root(id);
        match put.hold {
            Hold::Placed => {
                end = end.max(Some(put.end));
                let size = put.end - put.start;
                candidates.extend(runs.iter().map(|r| rect(r.0, r.1, 0, size)));
            }
            Hold::Pinned => pins.extend(runs.iter().map(|r| rect(r.0, r.1, put.start, put.end))),
            Hold::Always => {} // Below, for those of other functions count too.
        }
    }
    if plan.options.floor == Floor::Hwm {
        pins.clear(); // All of them lie below the floor.
    } else {
        let last = scope.function.instructions().len().saturating_sub(1) as u64;
        for (other, from) in scopes.iter().enumerate() {
            if space == Space::Local && from.core != scope.core {
                continue;
            }
            let always = from.roots().filter_map(|id| layout.put(other, id));
            let always = always.filter(|p| p.space == space && p.hold == Hold::Always);
            pins.extend(always.map(|p| Rect {
                first: 0,
                last,
                start: p.start,
                end: p.end,
                owner: u32::MAX,
            }));
        }
    }
    let size = |id: MemLocId| {
        let put = layout
            .put(s, id)
            .filter(|p| p.space == space && p.hold == Hold::Placed);
        put.map(|p| p.end - p.start)
    };
    let mut pairs: Vec<Pair> = (scope.lives.handovers.iter())
        .filter_map(|h| {
            let (used, def) = (size(h.used)?, size(h.def)?);
            (def <= used).then_some(Pair {
                at: h.index.into(),
                used: h.used.0,
                def: h.def.0,
                bytes: def,
            })
        })
        .collect();
    pairs.sort_unstable();
    let bound = |pins: &[Rect]| {
        let loads = Loads {
            candidates: &candidates,
            pairs: &pairs,
            pins,
        };
        loads.bound()
    };
    let proven = bound(&pins);
    // A use may end on a pin that is born there; whoever counts on it finds the pin absent at
    // that instant. // L8
    let mut births: Vec<(u32, u64)> = (scope.lives.handovers.iter())
        .map(|h| (h.def.0, h.index.into()))
        .collect();
    births.sort_unstable();
    let born_on = |pin: &Rect| births.binary_search(&(pin.owner, pin.first)).is_ok();
    if !pins.iter().any(born_on) {
        return (end, (proven, proven));
    }
    let later: Vec<Rect> = (pins.iter())
        .map(|pin| match born_on(pin) {
            true => Rect {
                first: pin.first + 1,
                ..*pin
            },
            false => *pin,
        })
        .filter(|pin| pin.first <= pin.last)
        .collect();
    (end, (proven, bound(&later)))
}

/// The shared space of all cores.
fn shared(
    scopes: &[Scope<'_>],
    groups: &Groups,
    floors: &Floors,
    layout: &Layout,
    plan: &Plan,
) -> Truth {
    let floor = floors.floor(Space::Shared, 0);
    let mut by_function: BTreeMap<&str, Vec<Rect>> = BTreeMap::new();
    let mut end = None;
    for (g, group) in groups.list.iter().enumerate() {
        let put = group_put(layout, group).filter(|put| put.hold == Hold::Placed);
        let (Fate::Shared, Some(put), Some(life)) = (group.fate, put, group.life) else {
            continue;
        };
        for &(s, id) in &group.members {
            let placed = layout
                .put(s as usize, id)
                .filter(|p| p.space == Space::Shared);
            end = end.max(placed.map(|p| p.end));
        }
        let name = scopes[group.owner.0 as usize].function.name();
        by_function.entry(name).or_default().push(Rect {
            first: life.0.into(),
            last: life.1.into(),
            start: 0,
            end: put.end - put.start,
            owner: g as u32,
        });
    }
    let load = |rects: &Vec<Rect>| {
        let loads = Loads {
            candidates: rects,
            pairs: &[],
            pins: &[],
        };
        loads.bound()
    };
    // Groups of different functions exclude each other always, so their loads add up; a planner
    // may know the largest of them only. // M4
    let (mut sum, mut most) = (0, 0);
    for rects in by_function.values() {
        sum += load(rects);
        most = most.max(load(rects));
    }
    if plan.options.floor == Floor::Holes {
        let pins: Vec<Rect> = (scopes.iter().enumerate())
            .flat_map(|(s, scope)| scope.roots().filter_map(move |id| layout.put(s, id)))
            .filter(|p| p.space == Space::Shared && p.hold == Hold::Always)
            .map(|p| Rect {
                first: 0,
                last: 0,
                start: p.start,
                end: p.end,
                owner: 0,
            })
            .collect();
        let beside = |bytes: u128| {
            let rect = Rect {
                first: 0,
                last: 0,
                start: 0,
                end: u64::try_from(bytes).unwrap_or(u64::MAX),
                owner: 0,
            };
            let loads = Loads {
                candidates: &[rect],
                pairs: &[],
                pins: &pins,
            };
            loads.bound()
        };
        (sum, most) = (beside(sum), beside(most));
    }
    let floor_wide = u128::from(floor);
    Truth {
        floor,
        end,
        bound: (floor_wide + sum, floor_wide + most),
    }
}

/// The figures of one function.
fn function(
    scopes: &[Scope<'_>],
    s: usize,
    groups: &Groups,
    floors: &Floors,
    layout: &Layout,
    plan: &Plan,
    findings: &mut Findings,
) {
    let scope = &scopes[s];
    let Some(function) = scope.plan else {
        return;
    };
    let limits = collective_limits(scope, s, groups, &plan.options);
    let mut ends: BTreeMap<Space, u64> = BTreeMap::new();
    let mut collective: BTreeMap<Space, u64> = BTreeMap::new();
    for id in scope.roots() {
        let Some(put) = layout.put(s, id).filter(|put| put.hold == Hold::Placed) else {
            continue;
        };
        let end = ends.entry(put.space).or_default();
        *end = put.end.max(*end);
        let floor = floors.floor(put.space, scope.core);
        let limit = limits.get(&put.space).copied().unwrap_or(0);
        let inside = u128::from(put.end) <= u128::from(floor) + u128::from(limit);
        if scope.loc(id).usage == Usage::Collective && inside {
            let end = collective.entry(put.space).or_default();
            *end = put.end.max(*end);
        }
    }
    let mut seen: Vec<Space> = Vec::new();
    for figures in &function.spaces {
        let (space, at) = (figures.space, scope.at());
        if seen.contains(&space) {
            findings.say("duplicate", at, || {
                format!("the plan has two figures of {space}")
            });
            continue;
        }
        seen.push(space);
        let floor = floors.floor(space, scope.core);
        if figures.floor != floor {
            let said = figures.floor;
            findings.say("wrong_floor", at, || {
                format!("{space}: the plan says {said}, it is {floor}")
            });
        }
        let hwm = ends.get(&space).copied().unwrap_or(floor);
        if figures.hwm != hwm {
            let said = figures.hwm;
            findings.say("wrong_hwm", at, || {
                format!("{space}: the plan says {said}, it is {hwm}")
            });
        }
        let end = collective.get(&space).copied();
        let real = end.map_or(0, |end| page_up(end.saturating_sub(floor)));
        region(
            scope,
            figures,
            limits.get(&space).copied(),
            floor,
            real,
            findings,
        );
    }
    for space in ends.keys().filter(|space| !seen.contains(space)) {
        findings.say("missing", scope.at(), || {
            format!("the plan has no figures of {space}")
        });
    }
}

/// The figures of a collective region. // P5
fn region(
    scope: &Scope<'_>,
    figures: &FunctionSpace,
    limit: Option<u64>,
    floor: u64,
    real: u128,
    findings: &mut Findings,
) {
    let space = figures.space;
    let mut say = |message: String| findings.say("wrong_collective", scope.at(), || message);
    match (limit, figures.cc) {
        (None, None) => {}
        // A region of no bytes is none.
        (None, Some(cc)) if cc.limit == 0 && cc.real == 0 && cc.hwm == floor => {}
        (None, Some(_)) => say(format!("{space}: there is no collective region")),
        (Some(_), None) => say(format!(
            "{space}: the plan has no figures of the collective region"
        )),
        (Some(limit), Some(cc)) => {
            let hwm = u128::from(floor) + real;
            let told = (cc.limit, u128::from(cc.real), u128::from(cc.hwm));
            if told != (limit, real, hwm) {
                say(format!(
                    "{space}: the plan says limit, real and hwm {told:?}, they are {:?}",
                    (limit, real, hwm)
                ));
            }
        }
    }
}

/// The figures of the spaces.
fn spaces(truths: &BTreeMap<Key, Truth>, plan: &Plan, findings: &mut Findings) {
    let mut seen: Vec<Key> = Vec::new();
    for told in &plan.spaces {
        let at = At {
            core: told.core,
            function: None,
        };
        let key = (told.space, told.core);
        let Some(truth) = truths.get(&key) else {
            findings.say("foreign", at, || {
                format!("the program has no such {}", told.space)
            });
            continue;
        };
        if seen.contains(&key) {
            findings.say("duplicate", at, || {
                format!("the plan has two figures of {}", told.space)
            });
            continue;
        }
        seen.push(key);
        space(told, truth, plan, at, findings);
    }
    for (key, _) in truths
        .iter()
        .filter(|(key, t)| t.end.is_some() && !seen.contains(key))
    {
        let at = At {
            core: key.1,
            function: None,
        };
        findings.say("missing", at, || {
            format!("the plan has no figures of {}", key.0)
        });
    }
}

fn space(told: &SpacePlan, truth: &Truth, plan: &Plan, at: At<'_>, findings: &mut Findings) {
    let name = told.space;
    let mut wrong = |kind: &'static str, said: u64, is: u128| {
        findings.say(kind, at, || {
            format!("{name}: the plan says {said}, it is {is}")
        });
    };
    if told.floor != truth.floor {
        wrong("wrong_floor", told.floor, truth.floor.into());
    }
    let peak = truth.end.unwrap_or(truth.floor);
    if told.peak != peak {
        wrong("wrong_peak", told.peak, peak.into());
    }
    // Nothing placed: the bound is the floor. // T
    let (proven, least) = match truth.end {
        None => (truth.floor.into(), truth.floor.into()),
        Some(_) => truth.bound,
    };
    // A search may have proved more than the load does; geometry cannot repeat a search, but
    // knows that no bound exceeds a placement. // S3
    let searched = plan.strategy == Strategy::Best && told.lower_bound <= peak;
    let bound = u128::from(told.lower_bound);
    if bound < least || bound > u128::from(peak) {
        wrong("wrong_bound", told.lower_bound, proven);
    } else if bound > proven && !searched {
        findings.say("unproven_bound", at, || {
            format!("{name}: the plan says {bound}, the load proves {proven}")
        });
    }
    let window = plan.options.core_capacity();
    let told_window = told.capacity;
    let beyond = told_window
        .zip(window)
        .is_some_and(|(told, window)| told > window);
    if beyond || told_window.is_some() != window.is_some() {
        findings.say("wrong_capacity", at, || {
            format!("{name}: the plan says {told_window:?}, the options {window:?}")
        });
    }
    if truth
        .end
        .is_some_and(|end| told_window.is_some_and(|window| end > window))
    {
        findings.say("over_capacity", at, || {
            format!("{name}: {peak} bytes of {told_window:?}")
        });
    }
}

/// The spaces of a core fit side by side. // G1
fn capacity(
    scopes: &[Scope<'_>],
    floors: &Floors,
    truths: &BTreeMap<Key, Truth>,
    plan: &Plan,
    findings: &mut Findings,
) {
    let Some(window) = plan.options.core_capacity() else {
        return;
    };
    let mut cores: Vec<u32> = scopes.iter().map(|s| s.core).collect();
    cores.dedup();
    for core in cores {
        let extent = |space: Space| {
            let key = (space, (space != Space::Shared).then_some(core));
            let end = truths.get(&key).and_then(|t| t.end).unwrap_or(0);
            u128::from(end.max(floors.pin_end(space, core)))
        };
        let parts = [Space::Local, Space::Shared, Space::Debug].map(extent);
        let sum: u128 = parts.iter().sum();
        if sum > window.into() {
            let at = At {
                core: Some(core),
                function: None,
            };
            let [local, shared, debug] = parts;
            findings.say("over_capacity", at, || {
                format!("{local} local + {shared} shared + {debug} debug = {sum} bytes of {window}")
            });
        }
    }
}

/// The figures of the whole plan.
fn top(truths: &BTreeMap<Key, Truth>, plan: &Plan, findings: &mut Findings) {
    let at = At::default();
    let highest = plan.spaces.iter().map(|s| s.peak).max().unwrap_or(0);
    if plan.peak != highest {
        let said = plan.peak;
        findings.say("wrong_peak", at, || {
            format!("the plan says {said}, its highest space {highest}")
        });
    }
    let mut of_highest = plan.spaces.iter().filter(|s| s.peak == highest);
    let right = of_highest.any(|s| s.lower_bound == plan.lower_bound);
    let empty = plan.spaces.is_empty() && plan.lower_bound == 0;
    if !right && !empty {
        let said = plan.lower_bound;
        findings.say("wrong_bound", at, || {
            format!("the plan says {said}, which is no bound of its highest space")
        });
    }
    let placed = truths.values().any(|t| t.end.is_some());
    let wrong = match plan.status {
        Status::Optimal => plan.peak != plan.lower_bound,
        Status::Feasible => false,
        Status::Infeasible | Status::Unknown => placed,
    };
    if wrong {
        let (status, peak, bound) = (plan.status, plan.peak, plan.lower_bound);
        findings.say("wrong_status", at, || {
            format!("the plan says {status}, with peak {peak} and lower bound {bound}")
        });
    }
}
