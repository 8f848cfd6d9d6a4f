//! Private mode: one space of one module, function by function, callers first. // M3, L7
//!
//! In unified geometry the local space lies around the groups that reach the core. // M7

use super::Capacity;
use super::attempts::Attempt;
use super::frame::{Frame, frame};
use super::hint::Hints;
use super::inherit::{held_at, live_at};
use super::occupied::{InFunction, Occupied, group_label};
use super::pins::VisiblePins;
use super::ranges::Ranges;
use super::scene::Scene;
use super::shares;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ir::{FlatIndex, MemLocId, Segment, Space};
use crate::options::Floor;
use crate::pace::Pace;
use crate::place::{self, Kept, Named, Pin, Problem, Unsolved};
use crate::plan::CollectivePlan;

/// One space of one module, placed.
pub(super) struct SpaceRun {
    pub space: Space,
    /// Bytes that it may use; `None`: no limit.
    pub capacity: Option<u64>,
    pub floor: u64,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    /// One past the last byte that the host pinned.
    pub pins_end: u64,
    /// No placement of the whole module has a lower peak.
    pub bound: u64,
    /// How much of the hint was kept, if there was one.
    pub kept: Option<Kept>,
    /// Where this core's groups and locations end at the lowest if no other core has a say; the
    /// bound, if no group shares the space's addresses. // M7
    pub alone: u64,
    /// By function.
    pub frames: Vec<FrameRun>,
}

impl SpaceRun {
    /// How far the space reaches on its core. // G1
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
        self.frames
            .iter()
            .any(|frame| !frame.frame.items.is_empty())
    }

    /// Whether the space holds anything.
    pub(super) fn is_visible(&self) -> bool {
        self.has_items() || self.pins_end > 0
    }

    /// What no plan can stay below beside groups that end at `groups`: where the locations of the
    /// space end higher, they are what ends the core's range, and its whole load counts. // M7
    pub(super) fn bound_beside(&self, groups: u64) -> u64 {
        match self.has_items() && self.peak >= groups {
            true => self.alone,
            false => self.bound,
        }
    }
}

/// What a pin of a frame's problem is.
#[derive(Clone, Copy)]
enum Obstacle {
    /// A pin that the function sees, by position.
    Visible(usize),
    /// A group, by position. // M7
    Group(usize),
    /// What callers hold, and groups that are not told apart.
    Others,
}

/// One function of it.
#[derive(Default)]
pub(super) struct FrameRun {
    /// What was placed, beside what; the rotation goes on from here.
    pub frame: Frame,
    /// The first byte of each item.
    pub offsets: Vec<u64>,
    /// One past the highest byte placed; the floor if nothing was.
    pub hwm: u64,
    pub collective: Option<CollectivePlan>,
    /// Collective locations that did not fit in the region.
    pub outside_region: Vec<MemLocId>,
}

impl FrameRun {
    /// Where a root was put, if it is an item.
    pub(super) fn address(&self, root: MemLocId) -> Option<u64> {
        let item = self.frame.item(root)?;
        Some(self.offsets[item as usize])
    }
}

/// Where a space may lie.
pub(super) struct Room<'r> {
    pub capacity: Capacity,
    /// The groups that have their bytes in the same range of addresses. // M7
    pub around: Option<&'r Occupied>,
}

/// Places every function of a module in one space; `later` problems come after.
pub(super) fn run(
    scene: &Scene<'_>,
    module: usize,
    space: Space,
    attempt: Attempt,
    Room { capacity, around }: Room<'_>,
    later: usize,
    control: &mut Control<'_>,
) -> Result<SpaceRun> {
    let (capacity, firm_ceiling) = (capacity.left, capacity.firm.unwrap_or(u64::MAX));
    let options = scene.options;
    let holes = options.floor == Floor::Holes;
    let calls = scene.calls(module);
    let functions = scene.functions(module);
    let floor = scene.floor(module, space)?;
    let mut inherited = vec![Ranges::default(); functions.len()];
    let mut runs: Vec<FrameRun> = functions.iter().map(|_| FrameRun::default()).collect();
    let mut loads = Loads::new(functions.len(), floor);
    let mut hints = Hints::of(control.hint, options.keep, attempt.strategy);
    let mut kept = control.hint.map(|_| Kept::default());
    for (done, &f) in calls.callers_first.iter().enumerate() {
        let later = later + calls.callers_first.len() - done - 1;
        let here = |e: Error| e.in_function(functions[f].name());
        let analysed = scene.function(module, f);
        let visible =
            scene
                .pins
                .visible(scene.modules, (module, f), space, &analysed.liveness, calls)?;
        let groups = around.map(|around| around.in_function(scene, (module, f)));
        let groups = groups.unwrap_or_default();
        groups
            .check_pins(scene, (module, f), &visible)
            .map_err(here)?;
        // What has nothing to place is stopped by nobody: the rest may have its place. // C4
        let pace = &mut match shares::is_posed(scene, (module, f), space) {
            true => Pace::of(control),
            false => Pace::free(),
        };
        let mut frame = frame(&functions[f], analysed, space, options, pace).map_err(here)?;
        frame.problem.runtime_page = attempt.runtime_page; // P7
        frame.problem.floor = floor;
        frame.problem.ceiling = capacity.unwrap_or(u64::MAX);
        let mut obstacles = Vec::new();
        let mut block = |problem: &mut Problem, what, pin: Pin, life: &[Segment]| {
            problem.pins.push(pin);
            problem.pin_lives.push(life.iter().copied());
            obstacles.push(what);
        };
        // What callees hold is no part of the function's own bound.
        let own = visible.roots.len();
        if holes {
            for i in 0..own {
                let life = visible.lives.of(i);
                block(
                    &mut frame.problem,
                    Obstacle::Visible(i),
                    visible.pins[i],
                    life,
                );
            }
            for (held, life) in groups.all().filter(|(held, _)| held.pinned) {
                block(
                    &mut frame.problem,
                    Obstacle::Group(held.group),
                    held.bytes,
                    life,
                );
            }
        }
        loads.record(
            f,
            &frame,
            &groups,
            if holes { &[] } else { calls.calls_of(f) },
            pace,
        )?;
        if holes {
            for i in own..visible.pins.len() {
                let life = visible.lives.of(i);
                block(
                    &mut frame.problem,
                    Obstacle::Visible(i),
                    visible.pins[i],
                    life,
                );
            }
        }
        let firm_pins = frame.problem.pins.len();
        let last = FlatIndex((functions[f].instructions().len() as u32).saturating_sub(1));
        let whole = Segment::new(FlatIndex(0), last);
        for &range in inherited[f].all() {
            block(
                &mut frame.problem,
                Obstacle::Others,
                range,
                whole.as_slice(),
            );
        }
        for (range, life) in groups.merged() {
            block(&mut frame.problem, Obstacle::Others, range, life);
        }
        if !hints.is_empty() {
            let core = scene.modules[module].core();
            let items = frame.problem.items.iter().zip(&frame.items);
            let items = items.map(|(item, &id)| (item, core, &functions[f], id));
            frame.problem.hint = hints.hint(space, Some(core), items);
        }
        let solved = shares::solve(
            &frame.problem,
            attempt.strategy,
            options.budget_steps,
            later,
            control,
        )
        .map_err(|unsolved| {
            // Where callers, groups and earlier spaces lie was decided by runs, not the program.
            let decided = frame.problem.pins.len() > firm_pins;
            let firm = (decided || firm_ceiling != frame.problem.ceiling)
                .then(|| frame.problem.beside_pins(firm_pins, firm_ceiling));
            let frame = (&frame, firm.as_ref());
            let beside = (&visible, &groups, obstacles.as_slice());
            here(explain(
                scene,
                (module, f),
                frame,
                beside,
                unsolved,
                control,
            ))
        })?;
        let offsets = solved.placement.offsets;
        if let Some(kept) = &mut kept {
            kept.add(Kept::of(&frame.problem, &offsets));
        }
        for site in calls.calls_of(f) {
            let above = inherited[f].all().to_vec();
            let held = held_at(site.index, &frame, &offsets, &visible, (module, f));
            inherited[site.callee].add(held.into_iter().chain(above));
        }
        runs[f] = FrameRun {
            hwm: solved.placement.peak,
            collective: frame.problem.collective_limit.map(|limit| {
                let real = solved.placement.collective_real.unwrap_or(0);
                CollectivePlan {
                    limit,
                    real,
                    hwm: floor + real,
                }
            }),
            outside_region: solved
                .placement
                .outside_region
                .iter()
                .map(|&item| frame.items[item as usize])
                .collect(),
            offsets,
            frame,
        };
    }
    let peak = runs
        .iter()
        .map(|run| run.hwm)
        .max()
        .unwrap_or(floor)
        .max(floor);
    let bound = loads.bound(&calls.callers_first, floor);
    let alone = loads.alone.max(bound);
    let pins_end = scene.pins.end(module, space);
    Ok(SpaceRun {
        space,
        capacity,
        floor,
        peak,
        pins_end,
        bound,
        kept,
        alone,
        frames: runs,
    })
}

/// The lower bounds of a module's functions, with what they call.
///
/// Above a floor, a call holds what its caller has live at it plus whatever the callee needs: the
/// bound of a function is the greatest of its own and of these sums. With pins as obstacles the
/// sums are not additive, and the functions' own bounds are all that is claimed.
struct Loads {
    /// Each function's own bound, callers aside.
    own: Vec<u64>,
    /// By caller: the callee, and a lower bound of the bytes live at the call.
    at_calls: Vec<Vec<(usize, u64)>>,
    /// The greatest of the functions' own bounds if the groups could lie anywhere. What a group
    /// meets in a callee need not meet what the caller holds, so that calls add nothing. // M7
    alone: u64,
}

impl Loads {
    fn new(functions: usize, floor: u64) -> Loads {
        Loads {
            own: vec![0; functions],
            at_calls: vec![Vec::new(); functions],
            alone: floor,
        }
    }

    /// Takes a frame before its inherited obstacles are added.
    fn record(
        &mut self,
        f: usize,
        frame: &Frame,
        groups: &InFunction,
        calls: &[super::calls::CallSite],
        pace: &mut Pace<'_, '_>,
    ) -> Result<()> {
        let problem = &frame.problem;
        self.own[f] = place::lower_bound_unless(problem, pace)?;
        let mut with_groups: Option<Problem> = None;
        for (item, life) in groups.loads() {
            let problem = with_groups.get_or_insert_with(|| problem.clone());
            problem.items.push(item);
            problem.lives.push(life.iter().copied());
        }
        let alone = match with_groups {
            Some(problem) => place::lower_bound_unless(&problem, pace)?,
            None => self.own[f],
        };
        self.alone = self.alone.max(alone);
        for site in calls {
            let live: u64 = live_at(&problem.lives, site.index)
                .map(|i| problem.items[i].size)
                .sum();
            let shared = problem.pairs.iter().filter(|pair| pair.index == site.index);
            let shared: u64 = shared
                .map(|pair| problem.items[pair.def as usize].size)
                .sum();
            self.at_calls[f].push((site.callee, live.saturating_sub(shared)));
        }
        Ok(())
    }

    fn bound(&self, callers_first: &[usize], floor: u64) -> u64 {
        let mut bounds = self.own.clone();
        for &f in callers_first.iter().rev() {
            for &(callee, live) in &self.at_calls[f] {
                bounds[f] = bounds[f].max(live.saturating_add(bounds[callee]));
            }
        }
        bounds.into_iter().max().unwrap_or(floor).max(floor)
    }
}

/// Why a frame found no room; groups, merged for the search, are told one by one. // P9, M7
fn explain(
    scene: &Scene<'_>,
    (module, f): (usize, usize),
    (frame, firm): (&Frame, Option<&Problem>),
    (visible, groups, obstacles): (&VisiblePins, &InFunction, &[Obstacle]),
    unsolved: Unsolved,
    control: &mut Control<'_>,
) -> Error {
    let function = &scene.functions(module)[f];
    let mut problem = frame.problem.clone();
    let mut obstacles = obstacles.to_vec();
    let merged = groups.merged().count();
    let kept = obstacles.len() - merged; // They were added last.
    obstacles.truncate(kept);
    problem.pins.truncate(kept);
    problem.pin_lives = Default::default();
    for i in 0..kept {
        problem
            .pin_lives
            .push(frame.problem.pin_lives.of(i).iter().copied());
    }
    for (held, life) in groups.all().filter(|(held, _)| !held.pinned) {
        problem.pins.push(held.bytes);
        problem.pin_lives.push(life.iter().copied());
        obstacles.push(Obstacle::Group(held.group));
    }
    unsolved.explain(&problem, firm, control, |named| match named {
        Named::Item(item) => {
            let id = frame.items[item as usize];
            (function.label(id), id.0)
        }
        Named::Pin(pin) => match obstacles[pin] {
            Obstacle::Visible(i) if i < visible.roots.len() => {
                let root = visible.roots[i];
                let home = &scene.functions(root.module)[root.function];
                (home.label(root.loc), root.loc.0)
            }
            Obstacle::Group(group) => {
                let owner = scene.groups.all[group].owner;
                (group_label(scene, group), owner.loc.0)
            }
            Obstacle::Visible(_) | Obstacle::Others => {
                ("what the callers hold".to_owned(), u32::MAX)
            }
        },
    })
}
