//! Private mode: one space of one module, function by function, callers first. // M3, L7

use super::frame::{Frame, frame};
use super::inherit::{held_at, live_at};
use super::pins::VisiblePins;
use super::ranges::Ranges;
use super::scene::Scene;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ir::{FlatIndex, MemLocId, Segment, Space};
use crate::options::Floor;
use crate::place::{self, Named, Unsolved};
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
    /// By function.
    pub frames: Vec<FrameRun>,
}

impl SpaceRun {
    /// How far the space reaches on its core. // G1
    pub(super) fn extent(&self) -> u64 {
        let placed = if self.has_items() { self.peak } else { 0 };
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
}

/// One function of it.
#[derive(Default)]
pub(super) struct FrameRun {
    /// What was placed, beside what; the rotation goes on from here.
    pub frame: Frame,
    /// The first byte of each item.
    pub offsets: Vec<u64>,
    /// The items by location, ascending.
    by_location: Vec<(MemLocId, u32)>,
    /// One past the highest byte placed; the floor if nothing was.
    pub hwm: u64,
    pub collective: Option<CollectivePlan>,
    /// Collective locations that did not fit in the region.
    pub outside_region: Vec<MemLocId>,
}

impl FrameRun {
    /// Where a root was put, if it is an item.
    pub(super) fn address(&self, root: MemLocId) -> Option<u64> {
        let at = self
            .by_location
            .binary_search_by_key(&root, |&(id, _)| id)
            .ok()?;
        Some(self.offsets[self.by_location[at].1 as usize])
    }
}

/// Places every function of a module in one space, below a ceiling.
pub(super) fn run(
    scene: &Scene<'_>,
    module: usize,
    space: Space,
    capacity: Option<u64>,
    control: &mut Control<'_>,
) -> Result<SpaceRun> {
    let options = scene.options;
    let calls = scene.calls(module);
    let functions = scene.functions(module);
    let floor = match options.floor {
        Floor::Hwm => scene.pins.floor(module, space)?,
        Floor::Holes => 0,
    };
    let mut inherited = vec![Ranges::default(); functions.len()];
    let mut runs: Vec<FrameRun> = functions.iter().map(|_| FrameRun::default()).collect();
    let mut loads = Loads::new(functions.len());
    for &f in &calls.callers_first {
        let here = |e: Error| e.in_function(functions[f].name());
        let analysed = scene.function(module, f);
        let visible =
            scene
                .pins
                .visible(scene.modules, (module, f), space, &analysed.liveness, calls)?;
        let mut frame = frame(&functions[f], analysed, space, options).map_err(here)?;
        frame.problem.floor = floor;
        frame.problem.ceiling = capacity.unwrap_or(u64::MAX);
        if options.floor == Floor::Holes {
            // What callees hold is no part of the function's own bound.
            let own = visible.roots.len();
            frame.problem.pins.extend_from_slice(&visible.pins[..own]);
            (0..own).for_each(|i| {
                frame
                    .problem
                    .pin_lives
                    .push(visible.lives.of(i).iter().copied())
            });
        }
        let additive = options.floor == Floor::Hwm;
        loads.record(f, &frame, if additive { calls.calls_of(f) } else { &[] });
        if options.floor == Floor::Holes {
            for i in visible.roots.len()..visible.pins.len() {
                frame.problem.pins.push(visible.pins[i]);
                frame
                    .problem
                    .pin_lives
                    .push(visible.lives.of(i).iter().copied());
            }
        }
        let last = FlatIndex((functions[f].instructions().len() as u32).saturating_sub(1));
        for &range in inherited[f].all() {
            frame.problem.pins.push(range);
            frame
                .problem
                .pin_lives
                .push(Segment::new(FlatIndex(0), last));
        }
        debug_assert_eq!(
            place::overlapping_pins(&frame.problem.pins, &frame.problem.pin_lives),
            None,
            "obstacles are disjoint at every moment"
        );
        let solved = place::solve(
            &frame.problem,
            options.strategy,
            options.budget_steps,
            control,
        )
        .map_err(|unsolved| here(explain(scene, module, f, &frame, &visible, unsolved)))?;
        let offsets = solved.placement.offsets;
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
            by_location: by_location(&frame.items),
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
    let pins_end = scene.pins.end(module, space);
    Ok(SpaceRun {
        space,
        capacity,
        floor,
        peak,
        pins_end,
        bound,
        frames: runs,
    })
}

fn by_location(items: &[MemLocId]) -> Vec<(MemLocId, u32)> {
    let mut items: Vec<_> = items.iter().copied().zip(0..).collect();
    items.sort_unstable();
    items
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
}

impl Loads {
    fn new(functions: usize) -> Loads {
        Loads {
            own: vec![0; functions],
            at_calls: vec![Vec::new(); functions],
        }
    }

    /// Takes a frame before its inherited obstacles are added.
    fn record(&mut self, f: usize, frame: &Frame, calls: &[super::calls::CallSite]) {
        let problem = &frame.problem;
        self.own[f] = place::lower_bound(problem);
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

fn explain(
    scene: &Scene<'_>,
    module: usize,
    f: usize,
    frame: &Frame,
    visible: &VisiblePins,
    unsolved: Unsolved,
) -> Error {
    let function = &scene.functions(module)[f];
    unsolved.explain(&frame.problem, |named| match named {
        Named::Item(item) => {
            let id = frame.items[item as usize];
            (function.label(id), id.0)
        }
        Named::Pin(pin) => match visible.roots.get(pin) {
            Some(root) if scene.options.floor == Floor::Holes => {
                let home = &scene.functions(root.module)[root.function];
                (home.label(root.loc), root.loc.0)
            }
            _ => ("what the callers hold".to_owned(), u32::MAX),
        },
    })
}
