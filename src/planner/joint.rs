//! Shared mode: one joint run over all modules. // M3, M4, M6
//!
//! Time is the axis of epochs. Groups of different entry functions interfere whenever they are
//! live at all, unless the host says that a device-wide barrier separates the functions: without
//! that word, one function's groups are placed beside everything that the functions before it
//! hold. With slabs, each core's groups have a window of their own. In unified geometry a group
//! meets only what some core that it reaches holds as well (see `lanes`). // M7

use std::collections::BTreeMap;

use super::Capacity;
use super::attempts::Attempt;
use super::frame::{alignment, rounded};
use super::hint::Hints;
use super::lanes::Lanes;
use super::occupied::group_label;
use super::ranges::Ranges;
use super::scene::{Scene, is_owned_pin};
use super::shares;
use crate::control::Control;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Kind, Segment, Space, Usage};
use crate::options::Floor;
use crate::ordered_map::OrderedMap;
use crate::place::{self, Item, Kept, Named, PAGE, Pin, Problem, Unsolved};
use crate::plan::CollectivePlan;
use crate::shared::{Fate, Group, home};
use crate::sorting::CompactSort as _;

/// The shared space, placed.
#[derive(Clone)]
pub(super) struct JointRun {
    /// Bytes that it may use; `None`: no limit.
    pub capacity: Option<u64>,
    pub floor: u64,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    /// One past the last byte that the host pinned.
    pub pins_end: u64,
    /// No placement has a lower peak.
    pub bound: u64,
    /// How much of the hint was kept, if there was one.
    pub kept: Option<Kept>,
    /// The first byte of each group by position; `None` for those that have no address.
    pub addresses: Vec<Option<u64>>,
    /// By name, those that hold a group.
    pub functions: BTreeMap<String, JointFunction>,
    /// Groups that did not fit in their collective region, by position.
    pub outside_region: Vec<usize>,
    /// By module: one past the highest byte placed on its core; 0 if nothing was. // M7
    pub ends: Vec<u64>,
}

/// The groups of one function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JointFunction {
    /// One past the highest byte placed; the floor if nothing was.
    pub hwm: u64,
    pub collective: Option<CollectivePlan>,
}

impl JointRun {
    /// How far the space reaches on every core. // G1
    pub(super) fn extent(&self) -> u64 {
        let placed = if self.has_items() { self.peak } else { 0 };
        placed.max(self.pins_end)
    }

    /// The same, however the space is placed.
    pub(super) fn least_extent(&self) -> u64 {
        let placed = if self.has_items() { self.bound } else { 0 };
        placed.max(self.pins_end)
    }

    fn has_items(&self) -> bool {
        self.addresses.iter().any(Option::is_some)
    }

    /// Whether the space holds anything.
    pub(super) fn is_visible(&self) -> bool {
        self.has_items() || self.pins_end > 0
    }
}

/// Groups that are placed together, and the window that they have.
struct Batch {
    /// The first entry function whose groups they are, by position along the axis.
    stretch: usize,
    /// Groups by dense id. // T
    groups: Vec<usize>,
    floor: u64,
    ceiling: u64,
    /// The same, whatever the earlier spaces take.
    firm_ceiling: u64,
}

/// Bytes that the host has pinned, as the joint run sees them.
struct Obstacle {
    pin: Pin,
    lanes: Vec<u32>,
    /// On the axis of epochs.
    life: Vec<Segment>,
    name: String,
}

/// A batch as a problem, and what its pins are.
struct Posed {
    problem: Problem,
    /// By pin: an obstacle by position; `None`: the groups of other functions.
    obstacles: Vec<Option<usize>>,
}

/// Places every group of a program; `later` problems come after.
pub(super) fn run(
    scene: &Scene<'_>,
    attempt: Attempt,
    capacity: Capacity,
    later: usize,
    control: &mut Control<'_>,
) -> Result<JointRun> {
    let floor = scene.floor(0, Space::Shared)?;
    let mut run = JointRun {
        capacity: capacity.left,
        floor,
        peak: floor,
        pins_end: scene.pins.end(0, Space::Shared),
        bound: floor,
        kept: control.hint.map(|_| Kept::default()),
        addresses: scene
            .groups
            .all
            .iter()
            .map(|g| g.pin.filter(|_| g.fate == Fate::Shared))
            .collect(),
        functions: BTreeMap::new(),
        outside_region: Vec::new(),
        ends: vec![0; scene.modules.len()],
    };
    // Above a floor there are no pins.
    let holes = scene.options.floor == Floor::Holes;
    let lanes = lanes(scene)?;
    let obstacles = if holes {
        obstacles(scene, &lanes)
    } else {
        Vec::new()
    };
    // What earlier functions hold, at every moment, by lane.
    let mut below = vec![Ranges::default(); lanes.count() as usize];
    let mut limit = None;
    let mut hints = Hints::of(control.hint, scene.options.keep, attempt.strategy);
    // By lane: the sum of the bounds of functions that all interfere.
    let mut stacked = vec![floor; lanes.count() as usize];
    let mut batches = batches(scene, floor, capacity)?.into_iter();
    while let Some(batch) = batches.next() {
        let Posed {
            mut problem,
            obstacles: pins,
        } = pose(scene, &lanes, &batch, &obstacles, &below)?;
        problem.runtime_page = attempt.runtime_page; // P7
        if !hints.is_empty() {
            let items = problem.items.iter().zip(&batch.groups).map(|(item, &i)| {
                let owner = scene.groups.all[i].owner;
                let (module, function) = home(scene.modules, owner);
                (item, module.core(), function, owner.loc)
            });
            problem.hint = hints.hint(Space::Shared, None, items);
        }
        let solved = shares::solve(
            &problem,
            attempt.strategy,
            scene.options.budget_steps,
            later + batches.len(),
            control,
        )
        .map_err(|unsolved| {
            let name = |pin: usize| pins[pin].map(|i| obstacles[i].name.clone());
            // Where earlier batches and spaces lie was decided by runs, not by the program; their
            // obstacles come last.
            let firm_pins = pins.iter().take_while(|pin| pin.is_some()).count();
            let decided = firm_pins < pins.len();
            let firm = (decided || batch.firm_ceiling != problem.ceiling)
                .then(|| problem.beside_pins(firm_pins, batch.firm_ceiling));
            let what = (&problem, firm.as_ref(), name);
            explain(scene, &lanes, &batch, what, unsolved, control)
        })?;
        let placement = &solved.placement;
        if let Some(kept) = &mut run.kept {
            kept.add(Kept::of(&problem, &placement.offsets));
        }
        let placed = batch
            .groups
            .iter()
            .zip(&problem.items)
            .zip(&placement.offsets);
        let mut taken = vec![Vec::new(); below.len()];
        for ((&group, item), &start) in placed {
            let bytes = Pin {
                start,
                end: start + item.size,
            };
            run.addresses[group] = Some(start);
            for &m in &scene.reach[group] {
                run.ends[m] = run.ends[m].max(bytes.end);
            }
            for lane in lanes.of_modules(&scene.reach[group]) {
                taken[lane as usize].push(bytes);
            }
        }
        for (lane, bound) in bounds(scene, &lanes, &batch, &problem) {
            let stacked = &mut stacked[lane];
            *stacked = match scene.options.shared_mib_per_core {
                0 if !scene.options.separate_functions => {
                    stacked.saturating_add(bound - batch.floor)
                }
                _ => bound.max(*stacked),
            };
        }
        if !scene.options.separate_functions {
            for (below, taken) in below.iter_mut().zip(taken) {
                below.add(taken.into_iter());
            }
        }
        limit = limit.max(problem.collective_limit);
        run.outside_region.extend(
            placement
                .outside_region
                .iter()
                .map(|&i| batch.groups[i as usize]),
        );
        run.peak = run.peak.max(placement.peak);
    }
    run.bound = stacked.into_iter().max().unwrap_or(floor);
    run.functions = functions(scene, &run, limit);
    Ok(run)
}

/// What no placement of a batch can stay below, by lane, as far as something lives there; the
/// groups of other lanes and what is in the way do not count.
fn bounds(scene: &Scene<'_>, lanes: &Lanes, batch: &Batch, problem: &Problem) -> Vec<(usize, u64)> {
    let own = by_lane(scene, lanes, batch, problem).into_iter();
    own.map(|(lane, own)| (lane, place::lower_bound(&own.problem)))
        .collect()
}

/// A batch on each lane where something of it lives, without what is in the way.
fn by_lane(
    scene: &Scene<'_>,
    lanes: &Lanes,
    batch: &Batch,
    problem: &Problem,
) -> Vec<(usize, LaneLoad)> {
    let none = || LaneLoad {
        lane: 0,
        stretch: batch.stretch,
        groups: Vec::new(),
        problem: Problem {
            floor: batch.floor,
            regions: problem.regions.clone(),
            collective_limit: problem.collective_limit,
            trim_collective: problem.trim_collective,
            granule: problem.granule,
            ..Problem::default()
        },
    };
    let mut own: Vec<LaneLoad> = (0..lanes.count()).map(|_| none()).collect();
    for (i, &group) in batch.groups.iter().enumerate() {
        for lane in lanes.of_modules(&scene.reach[group]) {
            let life = problem.lives.of(i).iter();
            let on_lane = life.filter(|s| lanes.split(s.first().0).0 == lane);
            let own = &mut own[lane as usize];
            own.lane = lane;
            own.groups.push(group);
            own.problem.items.push(problem.items[i]);
            own.problem.lives.push(on_lane.copied());
        }
    }
    let own = own.into_iter().enumerate();
    own.filter(|(_, own)| !own.groups.is_empty()).collect()
}

/// The groups of some entry functions, or of a slab, on one kind of core, as a load.
pub(super) struct LaneLoad {
    pub lane: u32,
    /// The first of the entry functions, by position along the axis.
    pub stretch: usize,
    /// By item.
    pub groups: Vec<usize>,
    /// On the axis of the lane; its floor is that of the slab.
    pub problem: Problem,
}

/// The shared space as loads, in the order in which it is placed.
pub(super) fn lane_loads(scene: &Scene<'_>, lanes: &Lanes) -> Result<Vec<LaneLoad>> {
    let unlimited = Capacity {
        left: None,
        firm: None,
    };
    let below = vec![Ranges::default(); lanes.count() as usize];
    let mut loads = Vec::new();
    for batch in batches(scene, scene.floor(0, Space::Shared)?, unlimited)? {
        let Posed { problem, .. } = pose(scene, lanes, &batch, &[], &below)?;
        let own = by_lane(scene, lanes, &batch, &problem);
        loads.extend(own.into_iter().map(|(_, load)| load));
    }
    Ok(loads)
}

/// The figures of each function: of the groups whose members are in it, on whatever core. With
/// slabs, a region begins where its core's slab does, and `real` is the longest.
fn functions(
    scene: &Scene<'_>,
    run: &JointRun,
    limit: Option<u64>,
) -> BTreeMap<String, JointFunction> {
    let slab = scene.options.shared_mib_per_core << 20;
    let mut functions: BTreeMap<String, JointFunction> = BTreeMap::new();
    for (i, group) in scene.groups.all.iter().enumerate() {
        let placed = run.addresses[i].filter(|_| group.pin.is_none() && group.bytes > 0);
        let Some(start) = placed else { continue };
        let (module, function) = home(scene.modules, group.owner);
        let figures = functions
            .entry(function.name().to_owned())
            .or_insert(JointFunction {
                hwm: run.floor,
                collective: None,
            });
        // Rounded once already, when it was placed.
        let end = start + rounded(group.bytes, scene.options).unwrap_or(group.bytes);
        figures.hwm = figures.hwm.max(end);
        if let Some(limit) = limit.filter(|_| group.usage == Usage::Collective) {
            let base = run.floor + slab * u64::from(module.core()); // A window's start, checked.
            let outside = run.outside_region.contains(&i);
            let none = CollectivePlan {
                limit,
                real: 0,
                hwm: run.floor,
            };
            let region = figures.collective.get_or_insert(none);
            if !outside {
                let real = (end - base).next_multiple_of(PAGE);
                region.real = region.real.max(real);
                region.hwm = region.hwm.max(base + real);
            }
        }
    }
    functions
}

/// The kinds of cores; where pins are in the way, each core that has some is one of its own.
pub(super) fn lanes(scene: &Scene<'_>) -> Result<Lanes> {
    let holes = scene.options.floor == Floor::Holes;
    Lanes::of(scene, |m| holes && scene.pins.local(m).next().is_some())
}

/// What the host has pinned where groups may lie, with lives: the pinned groups, and in unified
/// geometry what is pinned in the local space of each core. What callers own is there at every
/// moment, a pinned candidate in its epochs. // L6b, M7
fn obstacles(scene: &Scene<'_>, lanes: &Lanes) -> Vec<Obstacle> {
    let whole = Segment::new(
        FlatIndex(0),
        FlatIndex(scene.epochs.len().saturating_sub(1)),
    );
    let whole = || whole.into_iter().collect::<Vec<Segment>>();
    let mut obstacles = Vec::new();
    for (i, group) in scene.groups.all.iter().enumerate() {
        let pin = group
            .pin
            .filter(|_| group.fate == Fate::Shared && group.bytes > 0);
        let Some(start) = pin else { continue };
        obstacles.push(Obstacle {
            pin: Pin {
                start,
                end: start + group.bytes,
            },
            lanes: lanes.of_modules(&scene.reach[i]),
            life: match is_owned_pin(group) {
                true => whole(),
                false => scene.group_lives[i].clone(),
            },
            name: group_label(scene, i),
        });
    }
    if !scene.is_unified() {
        return obstacles;
    }
    for (m, module) in scene.modules.iter().enumerate() {
        for root in scene.pins.local(m) {
            let function = &scene.functions(m)[root.function];
            let lives = &scene.function(m, root.function).liveness.lives;
            obstacles.push(Obstacle {
                pin: root.pin,
                lanes: vec![lanes.of_module(m)],
                life: match root.is_owned() {
                    true => whole(),
                    false => scene
                        .epochs
                        .epochs_of(m, root.function, lives.of(root.loc.index())),
                },
                name: format!("{} of core {}", function.label(root.loc), module.core()),
            });
        }
    }
    obstacles
}

/// What is placed together, in which order: by slab, then by entry function along the axis.
fn batches(scene: &Scene<'_>, floor: u64, capacity: Capacity) -> Result<Vec<Batch>> {
    let slab = scene.options.shared_mib_per_core << 20; // `Options::validate` bounds it.
    let mut keyed: OrderedMap<(u64, usize), Vec<usize>> = OrderedMap::new();
    for (i, group) in scene.groups.all.iter().enumerate() {
        if group.fate != Fate::Shared || group.pin.is_some() || group.bytes == 0 {
            continue;
        }
        let Some(stretch) = first_stretch(scene, i) else {
            continue;
        };
        let core = home(scene.modules, group.owner).0.core();
        let window = if slab == 0 { 0 } else { u64::from(core) };
        let function = if scene.options.separate_functions {
            0
        } else {
            stretch
        };
        keyed.entry((window, function)).or_default().push(i);
    }
    let ranks = dense_ranks(scene);
    let limit = capacity.left.unwrap_or(u64::MAX);
    let firm_limit = capacity.firm.unwrap_or(u64::MAX);
    let mut batches = Vec::new();
    for ((window, function), mut groups) in keyed {
        groups.sort_compact_by_key(|&i| ranks[i]);
        let (start, end) = match slab {
            0 => (Some(floor), Some(u64::MAX)),
            _ => {
                let start = window
                    .checked_mul(slab)
                    .and_then(|at| at.checked_add(floor));
                (start, start.and_then(|at| at.checked_add(slab)))
            }
        };
        let (Some(floor), Some(end)) = (start, end) else {
            let what = format!("the slab of core {window}");
            return Err(Fault::Overflow { what }.into());
        };
        batches.push(Batch {
            stretch: function,
            groups,
            floor,
            ceiling: end.min(limit),
            firm_ceiling: end.min(firm_limit),
        });
    }
    Ok(batches)
}

/// The first entry function that meets a group, by position along the axis.
fn first_stretch(scene: &Scene<'_>, group: usize) -> Option<usize> {
    let first = scene.group_lives[group].first()?.first().0;
    Some(
        scene
            .epochs
            .stretches()
            .partition_point(|s| s.start + s.len <= first),
    )
}

/// The rank of each group: by when it lives, then by its owner, never by listing order. // T, S4
fn dense_ranks(scene: &Scene<'_>) -> Vec<usize> {
    let mut of_function: OrderedMap<(u32, u32), Vec<u32>> = OrderedMap::new();
    for Group { owner, .. } in &scene.groups.all {
        of_function
            .entry((owner.module, owner.function))
            .or_insert_with(|| {
                let analysed = scene.function(owner.module as usize, owner.function as usize);
                let mut ranks = vec![u32::MAX; analysed.spaces.len()];
                for (rank, id) in analysed.dense.iter().enumerate() {
                    ranks[id.index()] = rank as u32;
                }
                ranks
            });
    }
    let mut order: Vec<usize> = (0..scene.groups.all.len()).collect();
    let key = |i: usize| {
        let owner = scene.groups.all[i].owner;
        let rank = of_function[&(owner.module, owner.function)][owner.loc.index()];
        let core = home(scene.modules, owner).0.core();
        (&scene.group_lives[i], core, owner.function, rank, owner.loc)
    };
    order.sort_compact_by(|&a, &b| key(a).cmp(&key(b)));
    let mut ranks = vec![0; order.len()];
    order
        .into_iter()
        .enumerate()
        .for_each(|(rank, i)| ranks[i] = rank);
    ranks
}

/// A batch as a problem.
fn pose(
    scene: &Scene<'_>,
    lanes: &Lanes,
    batch: &Batch,
    pinned: &[Obstacle],
    below: &[Ranges],
) -> Result<Posed> {
    let options = scene.options;
    let last = scene.epochs.len().saturating_sub(1);
    let mut problem = Problem {
        floor: batch.floor,
        ceiling: batch.ceiling,
        no_straddle: options.packed,
        granule: if options.packed { 1 } else { PAGE },
        trim_collective: options.trim_cc,
        ..Problem::default()
    };
    let whole = Segment::new(FlatIndex(0), FlatIndex(last));
    for &i in &batch.groups {
        let group = &scene.groups.all[i];
        let here = |e: Error| {
            let (module, function) = home(scene.modules, group.owner);
            let label = function.label(group.owner.loc);
            e.on_core(module.core())
                .in_function(function.name())
                .at_location(&label)
        };
        problem.set_usage(problem.items.len() as u32, group.usage);
        problem.items.push(Item {
            size: rounded(group.bytes, options).map_err(here)?,
            align: alignment(group.align, options),
        });
        let mut life = scene.group_lives[i].clone();
        if life.len() > 1 && !options.separate_functions {
            life = whole.into_iter().collect();
        }
        let on = lanes.of_modules(&scene.reach[i]);
        problem.lives.push(lanes.spread(&on, &life));
    }
    // What other functions hold is in the way at every moment. // M4
    let stretch = &scene.epochs.stretches()[batch.stretch];
    let meets_batch = |o: &Obstacle| {
        options.separate_functions || o.life.iter().all(|s| stretch.contains(s.first()))
    };
    let mut everywhere = below.to_vec();
    let mut elsewhere = vec![Vec::new(); below.len()];
    let mut obstacles = Vec::new();
    for (i, obstacle) in pinned.iter().enumerate() {
        if meets_batch(obstacle) {
            let life = lanes.spread(&obstacle.lanes, &obstacle.life);
            problem.pins.push(obstacle.pin);
            problem.pin_lives.push(life);
            obstacles.push(Some(i));
        } else {
            for &lane in &obstacle.lanes {
                elsewhere[lane as usize].push(obstacle.pin);
            }
        }
    }
    for (ranges, more) in everywhere.iter_mut().zip(elsewhere) {
        ranges.add(more.into_iter());
    }
    for (lane, ranges) in (0..).zip(&everywhere) {
        for &range in ranges.all() {
            problem.pins.push(range);
            problem
                .pin_lives
                .push(lanes.spread(&[lane], whole.as_slice()));
            obstacles.push(None);
        }
    }
    problem.regions = options
        .regions
        .iter()
        .filter(|r| r.space == Space::Shared)
        .map(|r| r.region)
        .collect();
    problem.regions.sort_compact_by_key(|r| r.base);
    problem.collective_limit = collective_limit(scene, &problem)?;
    Ok(Posed { problem, obstacles })
}

/// The byte limit of the collective region, if the batch has one: as in private mode; computed,
/// it is the greatest that any core's operands need. // P5
fn collective_limit(scene: &Scene<'_>, problem: &Problem) -> Result<Option<u64>> {
    let limit = scene.options.cc_limit;
    if limit == 0 || !problem.usages.contains(&Usage::Collective) {
        return Ok(None);
    }
    if limit > 0 {
        return Ok(Some((limit as u64) << 20)); // `Options::validate` bounds it.
    }
    let mut most = 0u64;
    for (m, module) in scene.modules.iter().enumerate() {
        let mut sum = 0u64;
        for (f, function) in module.functions().iter().enumerate() {
            for (t, instruction) in function.instructions().iter().enumerate() {
                if instruction.kind != Kind::Collective {
                    continue;
                }
                let t = FlatIndex::new(t);
                for access in function.uses(t).iter().chain(function.defs(t)) {
                    let group = scene.group_of((m, f), function.root(access.loc).0);
                    let counts = |g: &&Group| {
                        g.usage == Usage::Collective && g.fate == Fate::Shared && g.pin.is_none()
                    };
                    if let Some(group) = group.filter(counts) {
                        sum = sum.saturating_add(rounded(group.bytes, scene.options)?);
                    }
                }
            }
        }
        most = most.max(sum);
    }
    let limit = most.checked_next_multiple_of(PAGE).ok_or_else(|| {
        let what = "the computed size of the collective region".to_owned();
        Error::from(Fault::Overflow { what })
    })?;
    Ok(Some(limit).filter(|&limit| limit > 0))
}

/// Why a batch found no room: the moment as a core and an epoch, and who is in the way. // P9, M7
fn explain(
    scene: &Scene<'_>,
    lanes: &Lanes,
    batch: &Batch,
    (problem, firm, pin_name): (&Problem, Option<&Problem>, impl Fn(usize) -> Option<String>),
    unsolved: Unsolved,
    control: &mut Control<'_>,
) -> Error {
    let mut error = unsolved
        .explain(problem, firm, control, |named| match named {
            Named::Item(item) => {
                let group = batch.groups[item as usize];
                let owner = scene.groups.all[group].owner;
                (group_label(scene, group), owner.loc.0)
            }
            Named::Pin(pin) => {
                let others = || "what other functions' groups hold".to_owned();
                (pin_name(pin).unwrap_or_else(others), u32::MAX)
            }
        })
        .in_function(&scene.epochs.stretches()[batch.stretch].name);
    if let Fault::NoRoom(report) = &mut error.fault
        && scene.is_unified()
    {
        let epoch = |time: i64| i64::from(lanes.split(time as u32).1); // It came from an axis.
        let (lane, at) = lanes.split(report.index as u32);
        report.index = at.into();
        for holder in &mut report.holders {
            holder.life = (epoch(holder.life.0), epoch(holder.life.1));
        }
        if let Some(proof) = &mut report.infeasible {
            proof.index = epoch(proof.index);
            for member in &mut proof.set {
                member.life = (epoch(member.life.0), epoch(member.life.1));
            }
        }
        let modules = scene.modules.iter().enumerate();
        let cores = modules.filter(|&(m, _)| lanes.of_module(m) == lane);
        if let Some(core) = cores.map(|(_, module)| module.core()).min() {
            error = error.on_core(core);
        }
    }
    error
}
