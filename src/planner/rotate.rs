//! `address_rotation_dram`: bytes are re-used as late as the window allows. // X4
//!
//! First fit re-uses the lowest free bytes, often those of a location that has just died, and
//! every such re-use on another engine is an edge that makes the engines wait. The rotation moves
//! the locations of a function, in the order in which they are born, to the next free bytes
//! after the one before (next fit; Knuth, *The Art of Computer Programming*, vol. 1, 2.5), round
//! the window. A function keeps its new addresses only if it then needs fewer re-use edges.
//!
//! Untouched: the collective region, what is live at a call (callees lie beside it), and whatever
//! finds no room in the window.

use super::Planning;
use super::frame::Frame;
use super::inherit::live_at;
use super::private::{FrameRun, SpaceRun};
use super::scene::Scene;
use crate::depend::{self, Layout};
use crate::error::Result;
use crate::interval_tree::{Interval, IntervalTree};
use crate::ir::{Space, Usage};
use crate::pace::Pace;
use crate::place::admitted;
use crate::sorting::CompactSort as _;

/// The effect of the rotation over all functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Anti and output edges of the private spaces before, not reduced.
    pub edges_before: u64,
    /// The same after.
    pub edges_after: u64,
    /// Bytes by which the peaks of the modules rose.
    pub bytes_spent: u64,
    /// How many locations moved.
    pub moved: u64,
}

impl Rotation {
    /// Re-use edges removed per MiB spent, rounded down; `u64::MAX` if some were removed for
    /// nothing.
    pub fn edges_removed_per_mib(&self) -> u64 {
        let removed = self.edges_before.saturating_sub(self.edges_after);
        let scaled = u128::from(removed) << 20;
        match (removed, self.bytes_spent) {
            (0, _) => 0,
            (_, 0) => u64::MAX,
            (_, bytes) => u64::try_from(scaled / u128::from(bytes)).unwrap_or(u64::MAX),
        }
    }
}

impl Planning<'_> {
    /// Rotates every function's local space within `gib` GiB above its floor; -1: within what was
    /// used before.
    pub(crate) fn rotate(&mut self, gib: i64, pace: &mut Pace<'_, '_>) -> Result<Rotation> {
        let mut effect = Rotation::default();
        for m in 0..self.scene.modules.len() {
            let Some(mut run) = self.local[m].take() else {
                continue;
            };
            let before = run.peak;
            for f in 0..run.frames.len() {
                rotate_function(&self.scene, (m, f), &mut run, gib, &mut effect, pace)?;
            }
            let highest = run.frames.iter().map(|frame| frame.hwm).max();
            run.peak = highest.unwrap_or(run.floor).max(run.floor);
            effect.bytes_spent += run.peak.saturating_sub(before);
            self.local[m] = Some(run);
        }
        Ok(effect)
    }
}

fn rotate_function(
    scene: &Scene<'_>,
    (m, f): (usize, usize),
    run: &mut SpaceRun,
    gib: i64,
    effect: &mut Rotation,
    pace: &mut Pace<'_, '_>,
) -> Result<()> {
    let window_end = match gib {
        -1 => run.frames[f].hwm,
        gib => run.floor.saturating_add((gib as u64) << 30), // At most 8 GiB, checked.
    };
    let frame = &run.frames[f];
    let low = frame
        .collective
        .map_or(run.floor, |cc| run.floor.saturating_add(cc.limit));
    let ceiling = window_end.min(run.capacity.unwrap_or(u64::MAX));
    let before = edges(scene, (m, f), frame, &frame.offsets, pace)?;
    effect.edges_before += before;
    let fixed = fixed(scene, (m, f), frame);
    let mut offsets = frame.offsets.clone();
    let moved = next_fit(&frame.frame, &fixed, &mut offsets, (low, ceiling), pace);
    let after = edges(scene, (m, f), frame, &offsets, pace)?;
    pace.end()?;
    if moved == 0 || after >= before {
        effect.edges_after += before;
        return Ok(());
    }
    effect.edges_after += after;
    effect.moved += moved;
    let frame = &mut run.frames[f];
    let items = frame.frame.problem.items.iter().zip(&offsets);
    frame.hwm = items
        .map(|(item, start)| start + item.size)
        .max()
        .unwrap_or(run.floor);
    frame.offsets = offsets;
    Ok(())
}

/// Which items must stay: collective ones, those live at a call, and all where the host has laid
/// out regions.
fn fixed(scene: &Scene<'_>, (m, f): (usize, usize), run: &FrameRun) -> Vec<bool> {
    let problem = &run.frame.problem;
    let everything = !problem.regions.is_empty();
    let mut fixed: Vec<bool> = (0..problem.items.len() as u32)
        .map(|item| everything || problem.usage(item) == Usage::Collective)
        .collect();
    for site in scene.calls(m).calls_of(f) {
        live_at(&problem.lives, site.index).for_each(|i| fixed[i] = true);
    }
    fixed
}

/// The anti and output edges that a function's addresses need.
fn edges(
    scene: &Scene<'_>,
    (m, f): (usize, usize),
    run: &FrameRun,
    offsets: &[u64],
    pace: &mut Pace<'_, '_>,
) -> Result<u64> {
    let function = &scene.functions(m)[f];
    let mut places = vec![None; function.memlocs().len()];
    for (id, &start) in run.frame.items.iter().zip(offsets) {
        places[id.index()] = Some((Space::Local, start));
    }
    let layout = Layout::new(function, |id| places[id.index()])?;
    Ok(depend::reuse_unless(function, &layout, pace).len() as u64)
}

/// Moves items, by birth, to the next bytes that are free over their lives; returns how many
/// moved.
fn next_fit(
    frame: &Frame,
    fixed: &[bool],
    offsets: &mut [u64],
    (low, high): (u64, u64),
    pace: &mut Pace<'_, '_>,
) -> u64 {
    let problem = &frame.problem;
    let count = problem.items.len();
    let mut intervals = Vec::new();
    let lives = (0..count).map(|i| problem.lives.of(i));
    let pins = (0..problem.pins.len()).map(|i| problem.pin_lives.of(i));
    for (payload, life) in lives.chain(pins).enumerate() {
        if pace.over(1 + life.len()) {
            break;
        }
        intervals.extend(life.iter().map(|s| Interval {
            lo: s.first().0,
            hi: s.last().0,
            payload: payload as u32,
        }));
    }
    let Ok(tree) = IntervalTree::new(&intervals) else {
        return 0;
    };
    let mut order: Vec<usize> = (0..count).filter(|&i| !fixed[i]).collect();
    order.sort_compact_by_key(|&i| (problem.lives.of(i)[0], i));
    let (mut cursor, mut moved) = (low, 0);
    let (mut found, mut taken) = (Vec::new(), Vec::new());
    for i in order {
        taken.clear();
        for segment in problem.lives.of(i) {
            tree.all_overlaps_with_interval(segment.first().0, segment.last().0, &mut found);
            // They are sorted twice.
            if pace.over(10 + 5 * found.len()) {
                break;
            }
            taken.extend(
                found
                    .iter()
                    .map(|&other| other as usize)
                    .filter(|&o| o != i)
                    .map(|o| match o.checked_sub(count) {
                        Some(pin) => (problem.pins[pin].start, problem.pins[pin].end),
                        None => (offsets[o], offsets[o] + problem.items[o].size),
                    }),
            );
        }
        taken.sort_compact();
        let item = &problem.items[i];
        let fit = |from: u64| {
            let mut at = admitted(problem, i as u32, from)?;
            for &(start, end) in &taken {
                if start < at.checked_add(item.size)? && at < end {
                    at = admitted(problem, i as u32, end)?;
                }
            }
            (at.checked_add(item.size)? <= high).then_some(at)
        };
        let Some(start) = fit(cursor).or_else(|| fit(low)) else {
            continue;
        };
        if start != offsets[i] {
            offsets[i] = start;
            moved += 1;
        }
        cursor = start + item.size;
    }
    moved
}
