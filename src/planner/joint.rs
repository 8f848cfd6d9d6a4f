//! Shared mode: one joint run over all modules. // M3, M4, M6
//!
//! Time is the axis of epochs. Groups of different entry functions interfere whenever they are
//! live at all, unless the host says that a device-wide barrier separates the functions: without
//! that word, one function's groups are placed beside everything that the functions before it
//! hold. With slabs, each core's groups have a window of their own.

use std::collections::BTreeMap;

use super::frame::{alignment, rounded};
use super::ranges::Ranges;
use super::scene::Scene;
use crate::control::Control;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Kind, Segment, Space, Usage};
use crate::options::Floor;
use crate::place::{self, Item, Named, PAGE, Pin, Problem, Unsolved};
use crate::plan::CollectivePlan;
use crate::shared::{Fate, Group, home};

/// The shared space, placed.
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
    /// The first byte of each group by position; `None` for those that have no address.
    pub addresses: Vec<Option<u64>>,
    /// By name, those that hold a group.
    pub functions: BTreeMap<String, JointFunction>,
    /// Groups that did not fit in their collective region, by position.
    pub outside_region: Vec<usize>,
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
}

/// Places every group of a program.
pub(super) fn run(
    scene: &Scene<'_>,
    capacity: Option<u64>,
    control: &mut Control<'_>,
) -> Result<JointRun> {
    let floor = match scene.options.floor {
        Floor::Hwm => scene.pins.floor(0, Space::Shared)?,
        Floor::Holes => 0,
    };
    let mut run = JointRun {
        capacity,
        floor,
        peak: floor,
        pins_end: scene.pins.end(0, Space::Shared),
        bound: floor,
        addresses: scene
            .groups
            .all
            .iter()
            .map(|g| g.pin.filter(|_| g.fate == Fate::Shared))
            .collect(),
        functions: BTreeMap::new(),
        outside_region: Vec::new(),
    };
    let pinned = pinned(scene);
    let mut below = Ranges::default(); // What earlier functions hold, at every moment.
    let mut limit = None;
    let mut stacked = floor; // The sum of the bounds of functions that all interfere.
    for batch in batches(scene, floor, capacity)? {
        let problem = problem(scene, &batch, &pinned, &below)?;
        let solved = place::solve(
            &problem,
            scene.options.strategy,
            scene.options.budget_steps,
            control,
        )
        .map_err(|unsolved| explain(scene, &batch, &problem, unsolved))?;
        let placement = &solved.placement;
        for (&group, &start) in batch.groups.iter().zip(&placement.offsets) {
            run.addresses[group] = Some(start);
        }
        if !scene.options.separate_functions {
            below.add(
                problem
                    .items
                    .iter()
                    .zip(&placement.offsets)
                    .map(|(item, &start)| Pin {
                        start,
                        end: start + item.size,
                    }),
            );
        }
        let own = Problem {
            pins: Vec::new(),
            pin_lives: Default::default(),
            ..problem
        };
        let bound = place::lower_bound(&own);
        stacked = match scene.options.shared_mib_per_core {
            0 if !scene.options.separate_functions => stacked + (bound - batch.floor),
            _ => stacked.max(bound),
        };
        limit = limit.max(own.collective_limit);
        run.outside_region.extend(
            placement
                .outside_region
                .iter()
                .map(|&i| batch.groups[i as usize]),
        );
        run.peak = run.peak.max(placement.peak);
    }
    run.bound = stacked;
    run.functions = functions(scene, &run, limit);
    Ok(run)
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

/// The groups that the host has pinned, with their lives; below the floor they meet nothing. What
/// callers own is there at every moment, a pinned candidate in its epochs. // L6b
fn pinned(scene: &Scene<'_>) -> Vec<(Pin, Vec<Segment>)> {
    let whole = Segment::new(
        FlatIndex(0),
        FlatIndex(scene.epochs.len().saturating_sub(1)),
    );
    let groups = scene.groups.all.iter().zip(&scene.group_lives);
    let shared = groups.filter(|(g, _)| g.fate == Fate::Shared && g.bytes > 0);
    let pinned = shared.filter_map(|(group, life)| {
        let start = group.pin?;
        let pin = Pin {
            start,
            end: start + group.bytes,
        };
        let own_life = matches!(group.usage, Usage::Internal | Usage::Collective);
        Some((
            pin,
            if own_life {
                life.clone()
            } else {
                whole.into_iter().collect()
            },
        ))
    });
    pinned.collect()
}

/// What is placed together, in which order: by slab, then by entry function along the axis.
fn batches(scene: &Scene<'_>, floor: u64, capacity: Option<u64>) -> Result<Vec<Batch>> {
    let slab = scene.options.shared_mib_per_core << 20; // `Options::validate` bounds it.
    let mut keyed: BTreeMap<(u64, usize), Vec<usize>> = BTreeMap::new();
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
    let limit = capacity.unwrap_or(u64::MAX);
    let mut batches = Vec::new();
    for ((window, function), mut groups) in keyed {
        groups.sort_by_key(|&i| ranks[i]);
        let (start, end) = match slab {
            0 => (Some(floor), Some(limit)),
            _ => {
                let start = window
                    .checked_mul(slab)
                    .and_then(|at| at.checked_add(floor));
                (
                    start,
                    start
                        .and_then(|at| at.checked_add(slab))
                        .map(|end| end.min(limit)),
                )
            }
        };
        let (Some(floor), Some(ceiling)) = (start, end) else {
            let what = format!("the slab of core {window}");
            return Err(Fault::Overflow { what }.into());
        };
        batches.push(Batch {
            stretch: function,
            groups,
            floor,
            ceiling,
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
    let mut of_function: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
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
    order.sort_by_key(|&i| {
        let owner = scene.groups.all[i].owner;
        let rank = of_function[&(owner.module, owner.function)][owner.loc.index()];
        let core = home(scene.modules, owner).0.core();
        (&scene.group_lives[i], core, owner.function, rank, owner.loc)
    });
    let mut ranks = vec![0; order.len()];
    order
        .into_iter()
        .enumerate()
        .for_each(|(rank, i)| ranks[i] = rank);
    ranks
}

/// A batch as a problem.
fn problem(
    scene: &Scene<'_>,
    batch: &Batch,
    pinned: &[(Pin, Vec<Segment>)],
    below: &Ranges,
) -> Result<Problem> {
    let options = scene.options;
    let last = scene.epochs.len().saturating_sub(1);
    let mut problem = Problem {
        floor: batch.floor,
        ceiling: batch.ceiling,
        no_straddle: options.packed,
        runtime_page: options.runtime_page_bytes(),
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
        problem.items.push(Item {
            size: rounded(group.bytes, options).map_err(here)?,
            align: alignment(group.align, options),
            usage: group.usage,
        });
        let mut life = scene.group_lives[i].clone();
        if life.len() > 1 && !options.separate_functions {
            life = whole.into_iter().collect();
        }
        problem.lives.push(life);
    }
    // What other functions hold is in the way at every moment. // M4
    let mut everywhere = below.clone();
    let meets_batch = |life: &[Segment]| {
        let stretch = &scene.epochs.stretches()[batch.stretch];
        options.separate_functions || life.iter().all(|s| stretch.contains(s.first()))
    };
    everywhere.add(
        pinned
            .iter()
            .filter(|(_, life)| !meets_batch(life))
            .map(|(pin, _)| *pin),
    );
    for (pin, life) in pinned.iter().filter(|(_, life)| meets_batch(life)) {
        for range in everywhere.outside(*pin) {
            problem.pins.push(range);
            problem.pin_lives.push(life.iter().copied());
        }
    }
    for &range in everywhere.all() {
        problem.pins.push(range);
        problem.pin_lives.push(whole);
    }
    problem.regions = options
        .regions
        .iter()
        .filter(|r| r.space == Space::Shared)
        .map(|r| r.region)
        .collect();
    problem.regions.sort_by_key(|r| r.base);
    problem.collective_limit = collective_limit(scene, &problem.items)?;
    Ok(problem)
}

/// The byte limit of the collective region, if the batch has one: as in private mode; computed,
/// it is the greatest that any core's operands need. // P5
fn collective_limit(scene: &Scene<'_>, items: &[Item]) -> Result<Option<u64>> {
    let limit = scene.options.cc_limit;
    if limit == 0 || items.iter().all(|item| item.usage != Usage::Collective) {
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

fn explain(scene: &Scene<'_>, batch: &Batch, problem: &Problem, unsolved: Unsolved) -> Error {
    let label = |group: &Group| {
        let (module, function) = home(scene.modules, group.owner);
        let name = function.label(group.owner.loc);
        (
            format!("{name} (shared, owner core {})", module.core()),
            group.owner.loc.0,
        )
    };
    unsolved
        .explain(problem, |named| match named {
            Named::Item(item) => label(&scene.groups.all[batch.groups[item as usize]]),
            Named::Pin(_) => ("what other functions' groups hold".to_owned(), u32::MAX),
        })
        .in_function(&scene.epochs.stretches()[batch.stretch].name)
}
