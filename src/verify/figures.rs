//! The plan's own figures, recomputed: floors, peaks, bounds, collective regions, capacity.

use super::PAGE;
use super::bound::{Loads, Pair};
use super::calls::Calls;
use super::findings::{At, Findings};
use super::groups::{Fate, Group, Groups};
use super::held::Held;
use super::locations::{Floors, Hold, Layout, collective_limits, region_base, usage_of};
use super::overlap::{group_put, looks};
use super::runtime_page;
use super::scope::Scope;
use super::sweep::Rect;
use crate::ir::{MemLocId, Space, Usage};
use crate::options::{Floor, Geometry, Strategy};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::{FunctionSpace, Plan, SpacePlan, Status};
use crate::sorting::CompactSort as _;

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

/// What the checks before this one have found out.
pub(super) struct Facts<'f, 'a> {
    pub scopes: &'f [Scope<'a>],
    pub calls: &'f Calls,
    pub groups: &'f Groups,
    pub floors: &'f Floors,
    pub layout: &'f Layout,
    pub plan: &'f Plan,
}

/// Recomputes every figure of the plan.
pub(super) fn check(facts: &Facts<'_, '_>, findings: &mut Findings, pace: &mut Pace<'_, '_>) {
    let &Facts {
        scopes,
        calls,
        floors,
        plan,
        ..
    } = facts;
    let mut truths: OrderedMap<Key, Truth> = OrderedMap::new();
    for space in [Space::Local, Space::Debug] {
        let mut loads: Vec<Option<Load>> = scopes.iter().map(|_| None).collect();
        for &s in calls.callers_first.iter().rev() {
            let below = |callee: u32| loads[callee as usize].as_ref().map_or(0, |load| load.below);
            let load = private(facts, s as usize, space, below, pace);
            loads[s as usize] = Some(load);
        }
        for (scope, load) in scopes.iter().zip(loads.into_iter().flatten()) {
            let truth = truths.entry((space, Some(scope.core))).or_default();
            truth.floor = floors.floor(space, scope.core);
            truth.end = truth.end.max(load.end);
            truth.bound.0 = truth.bound.0.max(load.below + u128::from(truth.floor));
            truth.bound.1 = truth.bound.1.max(load.least + u128::from(truth.floor));
        }
    }
    for s in 0..scopes.len() {
        function(facts, s, findings, pace);
    }
    truths.insert((Space::Shared, None), shared(facts, pace));
    let mut unified = OrderedMap::new();
    if plan.options.geometry == Geometry::Unified {
        unified = ranges(facts, &truths, pace);
        agreements(&unified, plan, findings);
        for (&core, range) in &unified {
            // What ends a core's range answers for all that is in it. // M7
            let local = truths.get_mut(&(Space::Local, Some(core)));
            if let Some(local) = local.filter(|l| l.end.is_some() && l.end >= range.groups) {
                local.bound.0 = local.bound.0.max(range.alone);
                local.bound.1 = local.bound.1.max(range.alone_least);
            }
        }
    }
    spaces(&truths, plan, findings);
    capacity(scopes, floors, &truths, &unified, plan, findings);
    let least_copies = runtime_page::check(facts, findings, pace);
    top(&truths, plan, least_copies, findings);
}

/// What a private space of one function needs.
struct Load {
    end: Option<u64>,
    /// The least that may be claimed: its own load.
    least: u128,
    /// What is proven, above the floor: its own load, or that at a call and the callee's.
    below: u128,
}

/// Measures a private space of one function; `callee` knows what is proven of those it calls.
fn private(
    facts: &Facts<'_, '_>,
    s: usize,
    space: Space,
    callee: impl Fn(u32) -> u128,
    pace: &mut Pace<'_, '_>,
) -> Load {
    let unified = facts.plan.options.geometry == Geometry::Unified && space == Space::Local;
    let held = unified.then(|| {
        let apart = facts.plan.options.separate_functions;
        let mut held = Held::of(facts.scopes, facts.groups, facts.layout, s, apart, pace);
        held.groups.retain(|(_, put, _)| put.hold != Hold::Placed);
        held
    });
    loaded(facts, s, space, held.as_ref(), callee, pace)
}

/// As `private`, with the groups that have their bytes in the same range: the placed ones are
/// part of the load, the pinned ones are in its way.
fn loaded(
    facts: &Facts<'_, '_>,
    s: usize,
    space: Space,
    held: Option<&Held>,
    callee: impl Fn(u32) -> u128,
    pace: &mut Pace<'_, '_>,
) -> Load {
    let &Facts {
        scopes,
        layout,
        plan,
        ..
    } = facts;
    let scope = &scopes[s];
    let mut end = None;
    let mut candidates = Vec::with_capacity(scope.lives.len());
    let mut pins = Vec::new();
    let rect = |lo: u32, hi: u32, start: u64, end: u64| Rect {
        first: lo.into(),
        last: hi.into(),
        start,
        end,
        owner: u32::MAX,
    };
    for id in scope.roots() {
        if pace.over(1) {
            break;
        }
        let Some(put) = layout.put(s, id).filter(|put| put.space == space) else {
            continue;
        };
        let rect = |lo, hi, start, end| Rect {
            owner: id.0,
            ..rect(lo, hi, start, end)
        };
        let runs = scope.lives.of_root(id);
        if pace.over(runs.len()) {
            break;
        }
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
    for (g, put, runs) in held.iter().flat_map(|held| &held.groups) {
        let owner = u32::MAX - 1 - *g as u32; // No location of a function has such a number.
        let rect = |start, end| {
            let runs = runs.iter();
            runs.map(move |&(lo, hi)| Rect {
                first: lo.into(),
                last: hi.into(),
                start,
                end,
                owner,
            })
        };
        match put.hold {
            Hold::Placed => candidates.extend(rect(0, put.end - put.start)),
            Hold::Pinned | Hold::Always => pins.extend(rect(put.start, put.end)),
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
            if pace.over(from.function.memlocs().len()) {
                break;
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
    pairs.sort_compact_by(Ord::cmp);
    let mut bound = |candidates: &[Rect], pins: &[Rect]| {
        let loads = Loads {
            candidates,
            pairs: &pairs,
            pins,
        };
        loads.bound(pace)
    };
    let own = bound(&candidates, &pins);
    if plan.options.floor == Floor::Hwm {
        // Above the floor a callee needs its bytes beside what is live at the call. With pins
        // in between the sum would prove nothing. // L7
        let calls = &facts.calls.of[s];
        for (&called, indices) in calls {
            let bytes = u64::try_from(callee(called)).unwrap_or(u64::MAX);
            candidates.extend(indices.iter().map(|&i| Rect {
                owner: u32::MAX,
                ..rect(i, i, 0, bytes)
            }));
        }
        return Load {
            end,
            least: own,
            below: match calls.is_empty() {
                true => own,
                false => bound(&candidates, &[]),
            },
        };
    }
    // A use may end on a pin that is born there; whoever counts on it finds the pin absent at
    // that instant. // L8
    let mut births: Vec<(u32, u64)> = (scope.lives.handovers.iter())
        .map(|h| (h.def.0, h.index.into()))
        .collect();
    births.sort_compact();
    let born_on = |pin: &Rect| births.binary_search(&(pin.owner, pin.first)).is_ok();
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
    Load {
        end,
        least: if later == pins {
            own
        } else {
            bound(&candidates, &later)
        },
        below: own,
    }
}

/// One core's local locations and groups, in one range of addresses. // M7
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    /// One past the highest byte of a placed group; `None` if there is none.
    groups: Option<u64>,
    /// One past the highest byte placed; the floor if nothing was.
    agreed: u64,
    /// What the load of both proves, and the least that may be given for it.
    alone: u128,
    alone_least: u128,
}

/// The ranges by core.
fn ranges(
    facts: &Facts<'_, '_>,
    truths: &OrderedMap<Key, Truth>,
    pace: &mut Pace<'_, '_>,
) -> OrderedMap<u32, Range> {
    let &Facts {
        scopes,
        groups,
        floors,
        layout,
        plan,
        ..
    } = facts;
    let mut ranges: OrderedMap<u32, Range> = OrderedMap::new();
    let apart = plan.options.separate_functions;
    for (s, scope) in scopes.iter().enumerate() {
        let held = Held::of(scopes, groups, layout, s, apart, pace);
        let load = loaded(facts, s, Space::Local, Some(&held), |_| 0, pace);
        let floor = u128::from(floors.floor(Space::Local, scope.core));
        let range = ranges.entry(scope.core).or_default();
        range.alone = range.alone.max(floor + load.below);
        range.alone_least = range.alone_least.max(floor + load.least);
    }
    for group in groups.list.iter().filter(|g| g.fate == Fate::Shared) {
        let put = group_put(layout, group).filter(|put| put.hold == Hold::Placed);
        let Some(put) = put else { continue };
        for core in &group.reach {
            if let Some(range) = ranges.get_mut(core) {
                range.groups = range.groups.max(Some(put.end));
            }
        }
    }
    for (&core, range) in ranges.iter_mut() {
        let local = truths.get(&(Space::Local, Some(core))).copied();
        let local = local.unwrap_or_default();
        let ends = local.end.max(range.groups);
        range.agreed = ends.unwrap_or(floors.floor(Space::Local, core));
        // With calls the load of the local space alone may prove more.
        range.alone = range.alone.max(local.bound.0);
        range.alone_least = range.alone_least.max(local.bound.1);
    }
    ranges
}

/// What the plan says that agreeing cost each core. // M7
fn agreements(ranges: &OrderedMap<u32, Range>, plan: &Plan, findings: &mut Findings) {
    let told = |name: &str| plan.metrics.get(name).copied();
    for (&core, range) in ranges {
        let at = At {
            core: Some(core),
            function: None,
        };
        let (agreed, alone) = (
            told(&format!("core_{core}_agreed")),
            told(&format!("core_{core}_alone")),
        );
        if agreed.is_some_and(|agreed| agreed != range.agreed) {
            findings.say("wrong_metric", at, || {
                let is = range.agreed;
                format!("the plan says that it ends at {agreed:?} as agreed, it is {is}")
            });
        }
        let right = range.alone_least..=range.alone;
        if alone.is_some_and(|alone| !right.contains(&alone.into())) {
            findings.say("wrong_metric", at, || {
                let is = range.alone;
                format!("the plan says that alone it could end at {alone:?}, the load proves {is}")
            });
        }
    }
}

/// The shared space: of all cores, or of that core which has the most of it.
fn shared(facts: &Facts<'_, '_>, pace: &mut Pace<'_, '_>) -> Truth {
    if facts.plan.options.geometry == Geometry::Split {
        return shared_by(facts, |_| true, pace);
    }
    let mut whole = shared_by(facts, |_| false, pace);
    for core in looks(facts.scopes, facts.groups) {
        let one = shared_by(facts, |group| group.reach.contains(&core), pace);
        whole.end = whole.end.max(one.end);
        whole.bound.0 = whole.bound.0.max(one.bound.0);
        whole.bound.1 = whole.bound.1.max(one.bound.1);
    }
    whole
}

/// The groups that have their bytes in one range of addresses.
fn shared_by(
    facts: &Facts<'_, '_>,
    here: impl Fn(&Group) -> bool,
    pace: &mut Pace<'_, '_>,
) -> Truth {
    let &Facts {
        scopes,
        groups,
        floors,
        layout,
        plan,
        ..
    } = facts;
    let floor = floors.floor(Space::Shared, 0);
    let slab = u128::from(plan.options.shared_mib_per_core) << 20;
    // By slab, then by entry function.
    let mut loads: OrderedMap<u32, OrderedMap<u32, Vec<Rect>>> = OrderedMap::new();
    let mut end = None;
    for (g, group) in groups.list.iter().enumerate() {
        if pace.over(5 + group.members.len()) {
            break;
        }
        let put = group_put(layout, group).filter(|put| put.hold == Hold::Placed && here(group));
        let (Fate::Shared, Some(put)) = (group.fate, put) else {
            continue;
        };
        for &(s, id) in &group.members {
            let placed = layout
                .put(s as usize, id)
                .filter(|p| p.space == Space::Shared);
            end = end.max(placed.map(|p| p.end));
        }
        let core = if slab == 0 {
            0
        } else {
            scopes[group.owner.0 as usize].core
        };
        for &(function, (lo, hi)) in &group.life {
            let list = loads.entry(core).or_default().entry(function).or_default();
            list.push(Rect {
                first: lo.into(),
                last: hi.into(),
                start: 0,
                end: put.end - put.start,
                owner: g as u32,
            });
        }
    }
    // A group of several functions counts in the first of them, or the sum would count it twice;
    // there it meets every other group, each of which has another function to meet it in.
    let first_only = |function: u32, rects: &[Rect]| -> Vec<Rect> {
        let life = |r: &Rect| &groups.list[r.owner as usize].life;
        let always = |r: &Rect| Rect {
            first: 0,
            last: u32::MAX.into(),
            ..*r
        };
        let first = rects.iter().filter(|r| life(r)[0].0 == function);
        first
            .map(|r| if life(r).len() > 1 { always(r) } else { *r })
            .collect()
    };
    let mut load = |candidates: &[Rect], pins: &[Rect]| {
        let loads = Loads {
            candidates,
            pairs: &[],
            pins,
        };
        loads.bound(pace)
    };
    let always = |bytes: u128, owner: u32| Rect {
        first: 0,
        last: 0,
        start: 0,
        end: u64::try_from(bytes).unwrap_or(u64::MAX),
        owner,
    };
    let mut pins: Vec<Rect> = Vec::new();
    if plan.options.floor == Floor::Holes {
        for (s, scope) in scopes.iter().enumerate() {
            let puts = scope.roots().filter_map(|id| layout.put(s, id));
            let pinned = puts.filter(|p| p.space == Space::Shared && p.hold == Hold::Always);
            pins.extend(pinned.map(|p| Rect {
                start: p.start,
                end: p.end,
                ..always(0, 0)
            }));
        }
    }
    let (mut proven, mut least) = (0, 0);
    for (&core, functions) in &loads {
        let base = slab * u128::from(core);
        // Groups of different functions exclude each other, so their loads add up. // M4
        let mut sum = 0;
        for (&function, rects) in functions {
            let one = load(rects, &[]);
            least = least.max(one + if slab == 0 { 0 } else { base });
            sum = match plan.options.separate_functions {
                true => one.max(sum),
                false => sum + load(&first_only(function, rects), &[]),
            };
            sum = sum.max(one);
        }
        let beside = if slab == 0 {
            load(&[always(sum, 1)], &pins)
        } else {
            sum
        };
        proven = proven.max(base + beside);
    }
    let floor_wide = u128::from(floor);
    Truth {
        floor,
        end,
        bound: (floor_wide + proven, floor_wide + least),
    }
}

/// The figures of one function.
fn function(facts: &Facts<'_, '_>, s: usize, findings: &mut Findings, pace: &mut Pace<'_, '_>) {
    let &Facts {
        scopes,
        floors,
        plan,
        ..
    } = facts;
    let scope = &scopes[s];
    let Some(function) = scope.plan else {
        return;
    };
    let limits = collective_limits(scopes, s, facts.groups, &plan.options, pace);
    let own = Extents::of(facts, &limits, &[s], pace);
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
        let extents = if space == Space::Shared {
            joint(facts, s, &limits, pace)
        } else {
            vec![own.clone()]
        };
        let hwm = |e: &Extents| e.ends.get(&space).copied().unwrap_or(floor);
        if !extents.iter().any(|e| figures.hwm == hwm(e)) {
            let (said, is) = (figures.hwm, hwm(&extents[0]));
            findings.say("wrong_hwm", at, || {
                format!("{space}: the plan says {said}, it is {is}")
            });
        }
        let limit = limits.get(&space).copied();
        region(scope, figures, limit, floor, &extents, findings);
    }
    for space in own.ends.keys().filter(|space| !seen.contains(space)) {
        findings.say("missing", scope.at(), || {
            format!("the plan has no figures of {space}")
        });
    }
}

/// How far some functions reach.
#[derive(Clone, Debug, Default)]
struct Extents {
    /// One past the highest byte placed, by space.
    ends: OrderedMap<Space, u64>,
    /// How long the region of the collective locations is, and where it ends; of several slabs the
    /// longest and the highest.
    collective: OrderedMap<Space, (u128, u128)>,
}

impl Extents {
    fn of(
        facts: &Facts<'_, '_>,
        limits: &OrderedMap<Space, u64>,
        scopes: &[usize],
        pace: &mut Pace<'_, '_>,
    ) -> Extents {
        let mut extents = Extents::default();
        for &s in scopes {
            let scope = &facts.scopes[s];
            for id in scope.roots() {
                // The maps are asked.
                if pace.over(3) {
                    break;
                }
                let put = facts.layout.put(s, id);
                let Some(put) = put.filter(|put| put.hold == Hold::Placed) else {
                    continue;
                };
                let end = extents.ends.entry(put.space).or_default();
                *end = put.end.max(*end);
                let floor = facts.floors.floor(put.space, scope.core);
                let base = match put.space {
                    Space::Shared => region_base(
                        facts.scopes,
                        s,
                        id,
                        facts.groups,
                        floor,
                        &facts.plan.options,
                    ),
                    _ => floor.into(),
                };
                let limit = limits.get(&put.space).copied().unwrap_or(0);
                let end = u128::from(put.end);
                let inside = end <= base + u128::from(limit);
                if inside && usage_of(scope, s, id, facts.groups) == Usage::Collective {
                    let real = end.saturating_sub(base).next_multiple_of(PAGE.into());
                    let known = extents.collective.entry(put.space).or_default();
                    *known = (known.0.max(real), known.1.max(base + real));
                }
            }
        }
        extents
    }
}

/// What a function's figures of the shared space may be of: the groups of same-named functions on
/// all cores, its own members alone, or, if it is called, nothing: its groups count where it is
/// called. With a barrier between functions the groups of all of them are one.
fn joint(
    facts: &Facts<'_, '_>,
    s: usize,
    limits: &OrderedMap<Space, u64>,
    pace: &mut Pace<'_, '_>,
) -> Vec<Extents> {
    let scopes = facts.scopes;
    let name = scopes[s].function.name();
    let named: Vec<usize> = (0..scopes.len())
        .filter(|&o| scopes[o].function.name() == name)
        .collect();
    let mut all = vec![
        Extents::of(facts, limits, &named, pace),
        Extents::of(facts, limits, &[s], pace),
    ];
    let calls = scopes
        .iter()
        .enumerate()
        .any(|(o, _)| !facts.calls.of[o].is_empty());
    if calls || facts.plan.options.separate_functions {
        let every: Vec<usize> = (0..scopes.len()).collect();
        all.push(Extents::of(facts, limits, &every, pace));
        let own = &facts.groups.timing;
        let stretch = own.stretch(s);
        let mut below = vec![s];
        let mut at = 0;
        while let Some(&f) = below.get(at) {
            for &callee in facts.calls.of[f].keys() {
                if !below.contains(&(callee as usize)) {
                    below.push(callee as usize);
                }
            }
            at += 1;
        }
        all.push(Extents::of(facts, limits, &below, pace));
        if stretch.is_none() || facts.plan.options.separate_functions {
            all.push(Extents::default());
        }
    }
    all
}

/// The figures of a collective region. // P5
fn region(
    scope: &Scope<'_>,
    figures: &FunctionSpace,
    limit: Option<u64>,
    floor: u64,
    extents: &[Extents],
    findings: &mut Findings,
) {
    let space = figures.space;
    let mut say = |message: String| findings.say("wrong_collective", scope.at(), || message);
    match (limit, figures.cc) {
        (None, None) => {}
        // A region of no bytes is none.
        (None, Some(cc)) if cc.limit == 0 && cc.real == 0 && cc.hwm == floor => {}
        (None, Some(_)) => say(format!("{space}: there is no collective region")),
        // Without a collective location that is placed, the region is of no consequence.
        (Some(_), None) if extents.iter().any(|e| !e.collective.contains_key(&space)) => {}
        (Some(_), None) => say(format!(
            "{space}: the plan has no figures of the collective region"
        )),
        (Some(limit), Some(cc)) => {
            let truth = |e: &Extents| {
                let floor = u128::from(floor);
                let (real, hwm) = e.collective.get(&space).copied().unwrap_or((0, floor));
                (limit, real, hwm)
            };
            let told = (cc.limit, u128::from(cc.real), u128::from(cc.hwm));
            if !extents.iter().any(|e| told == truth(e)) {
                let is = truth(&extents[0]);
                say(format!(
                    "{space}: the plan says limit, real and hwm {told:?}, they are {is:?}"
                ));
            }
        }
    }
}

/// The figures of the spaces.
fn spaces(truths: &OrderedMap<Key, Truth>, plan: &Plan, findings: &mut Findings) {
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
    let impossible = bound < least || bound > u128::from(peak);
    if impossible || bound > proven && !searched {
        let kind = match impossible {
            true => "wrong_bound",
            false => "unproven_bound",
        };
        findings.say(kind, at, || {
            format!("{name}: the plan says {bound}, the load proves {proven}, the peak is {peak}")
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
    truths: &OrderedMap<Key, Truth>,
    ranges: &OrderedMap<u32, Range>,
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
        let mut parts = [Space::Local, Space::Shared, Space::Debug].map(extent);
        if let Some(range) = ranges.get(&core) {
            // One range; the message tells what the groups add to it. // M7
            let pins = u128::from(floors.pin_end(Space::Shared, core));
            let groups = u128::from(range.groups.unwrap_or(0)).max(pins);
            parts[1] = groups.saturating_sub(parts[0]);
        }
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
fn top(truths: &OrderedMap<Key, Truth>, plan: &Plan, least_copies: bool, findings: &mut Findings) {
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
        // With a runtime's page the copies come before the peak. // P7
        Status::Optimal => plan.peak != plan.lower_bound || !least_copies,
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
