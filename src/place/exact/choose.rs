//! Where the search branches, and on what.
//!
//! The profile of the floors has *valleys*: maximal runs of sections of one floor between higher
//! ones. An unplaced item over a section of a valley whose head is the floor there lies wholly
//! inside the valley, so nothing can come under it any more, and placing it at its head is final.
//! Thus for any section of any valley exactly one of these holds: one of those items covers the
//! spot just above the floor, or nothing does. The cases are disjoint and complete, in whatever
//! valley; so the search is free to branch where the trouble is.
//!
//! Where that is, it learns: every refutation is charged to the sections that it found too high,
//! and the choice is the section with the fewest branches for its charge, as the dom/wdeg rule of
//! constraint solvers does (Boussemart, Hemery, Lecoutre, Sais, *Boosting systematic search by
//! weighting constraints*, 2004).
//!
//! An item with holes can have its head at the floor of one valley and above a floor elsewhere.
//! It is not final there; sections under such an item are left alone until it is. The lowest
//! valley of a component is never affected.

use std::ops::Range;

use super::model::Model;
use super::state::State;
use dramalloc_engine::Height;

/// How strongly charges count in the choice of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damping {
    /// In full, ties to the lower floor.
    None,
    /// Their square root.
    Root,
    /// Their fourth root.
    FourthRoot,
}

/// How many refutations each section has caused, old ones counting less.
pub(super) struct Charges {
    charge: Vec<f32>,
    /// `1 / (1 + damped charge)`.
    scale: Vec<f32>,
    damping: Damping,
}

impl Charges {
    pub(super) fn new(sections: usize) -> Charges {
        Charges {
            charge: vec![0.0; sections],
            scale: vec![1.0; sections],
            damping: Damping::None,
        }
    }

    /// Charges a section with a refutation.
    pub(super) fn add(&mut self, section: usize) {
        self.charge[section] += 1.0;
        self.scale[section] = scale(self.charge[section], self.damping);
    }

    /// Ages the charges by a tenth, and from now on damps them so.
    pub(super) fn restart(&mut self, damping: Damping) {
        self.damping = damping;
        for (charge, to) in self.charge.iter_mut().zip(&mut self.scale) {
            *charge *= 0.9;
            *to = scale(*charge, damping);
        }
    }
}

fn scale(charge: f32, damping: Damping) -> f32 {
    // Square roots are exact on every host, logarithms are not. // S4
    let damped = match damping {
        Damping::None => charge,
        Damping::Root => charge.sqrt(),
        Damping::FourthRoot => charge.sqrt().sqrt(),
    };
    1.0 / (1.0 + damped)
}

/// A spot to branch on.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) section: usize,
    pub(super) floor: Height,
    /// The sections of the valley.
    pub(super) valley: Range<usize>,
    /// The lower one of the floors beside it; infinite if the valley is the whole component.
    pub(super) wall: Height,
    /// Whether the spot may stay empty, as far as one sees at a glance.
    pub(super) may_stay_empty: bool,
    /// Nothing but this pin can cover the spot.
    pub(super) pin: Option<usize>,
}

/// A maximal run of sections of one floor, lower than what is beside it.
struct Valley {
    run: Range<usize>,
    floor: Height,
    wall: Height,
    /// No floor in the valley can become higher than its present one and lower than this.
    next_floor: Height,
}

/// No valley.
const NONE: u32 = u32::MAX;

/// Scratch arrays of the choice.
pub(super) struct Chooser {
    valleys: Vec<Valley>,
    valley_of: Vec<u32>,
    /// Differences along the sections: how many items may cover the spot, how many forbid it.
    candidates: Vec<i32>,
    forbidders: Vec<i32>,
}

impl Chooser {
    pub(super) fn new(sections: usize) -> Chooser {
        Chooser {
            valleys: Vec::new(),
            valley_of: vec![NONE; sections],
            candidates: vec![0; sections + 1],
            forbidders: vec![0; sections + 1],
        }
    }

    /// The spot to branch on in `component`, or `None` if some spot has no branch left.
    pub(super) fn choose(
        &mut self,
        model: &Model,
        state: &State,
        charges: &mut Charges,
        component: usize,
    ) -> Option<Spot> {
        let c = state.components[component];
        self.find_valleys(&state.floor, c.lo..c.hi);
        for &item in state.unplaced(component) {
            let item = item as usize;
            let (lo, hi) = (state.first[item] as usize, state.first[item + 1] as usize);
            if hi - lo > 1 {
                self.count_with_holes(state, item);
                continue;
            }
            let span = state.spans[lo];
            let valley = self.valley_of[span.lo as usize];
            if valley == NONE {
                continue;
            }
            let valley = &mut self.valleys[valley as usize];
            if span.hi as usize > valley.run.end {
                continue;
            }
            let head = state.head[item];
            let resting = state.base[item] == head;
            // An item that does not rest on anything placed waits for one that does.
            let next = if head > valley.floor && resting {
                head
            } else {
                valley.floor + span.size
            };
            valley.next_floor = valley.next_floor.min(next);
            if head > valley.floor {
                continue;
            }
            if model.is_pin(item) {
                return Some(valley.spot(
                    valley.run.start.max(span.lo as usize),
                    false,
                    Some(item),
                ));
            }
            if resting {
                self.candidates[span.lo as usize] += 1;
                self.candidates[span.hi as usize] -= 1;
            }
        }
        self.fewest_branches(state, charges)
    }

    fn find_valleys(&mut self, floor: &[Height], run: Range<usize>) {
        self.valleys.clear();
        self.candidates[run.start..=run.end].fill(0);
        self.forbidders[run.start..=run.end].fill(0);
        self.valley_of[run.clone()].fill(NONE);
        let mut section = run.start;
        let mut before = Height::INFINITE;
        while section < run.end {
            let start = section;
            let level = floor[start];
            while section < run.end && floor[section] == level {
                section += 1;
            }
            let after = floor[section..run.end]
                .first()
                .copied()
                .unwrap_or(Height::INFINITE);
            if before > level && after > level {
                self.valley_of[start..section].fill(self.valleys.len() as u32);
                let wall = before.min(after);
                self.valleys.push(Valley {
                    run: start..section,
                    floor: level,
                    wall,
                    next_floor: wall,
                });
            }
            before = level;
        }
    }

    /// Counts an item of several parts in the valleys that hold them.
    fn count_with_holes(&mut self, state: &State, item: usize) {
        let head = state.head[item];
        let spans = state.spans_of(item);
        let final_here = spans.iter().all(|span| {
            let floors = &state.floor[span.lo as usize..span.hi as usize];
            floors.iter().all(|&floor| floor == head)
        });
        let resting = state.base[item] == head;
        for span in spans {
            let (lo, hi) = (span.lo as usize, span.hi as usize);
            for valley in &mut self.valleys {
                if lo >= valley.run.end || valley.run.start >= hi {
                    continue;
                }
                let next = if head > valley.floor && resting {
                    head
                } else {
                    valley.floor + span.size
                };
                valley.next_floor = valley.next_floor.min(next);
                if head > valley.floor {
                    continue;
                }
                // What it rests on later may be in another valley, of any size.
                valley.next_floor = valley.next_floor.min(valley.floor + Height::from_units(1));
                if !final_here {
                    self.forbidders[lo.max(valley.run.start)] += 1;
                    self.forbidders[hi.min(valley.run.end)] -= 1;
                } else if resting {
                    self.candidates[lo] += 1;
                    self.candidates[hi] -= 1;
                }
            }
        }
    }

    fn fewest_branches(&self, state: &State, charges: &mut Charges) -> Option<Spot> {
        // One unit of height is worth less than any difference in branches.
        let per_unit = match charges.damping {
            Damping::None => 1e-3 / state.target.units().max(1) as f32,
            Damping::Root | Damping::FourthRoot => 0.0,
        };
        let mut best = None;
        let mut least = f32::INFINITY;
        for valley in &self.valleys {
            let tie = valley.floor.units() as f32 * per_unit;
            let (mut candidates, mut forbidders) = (0, 0);
            for section in valley.run.clone() {
                candidates += self.candidates[section];
                forbidders += self.forbidders[section];
                if forbidders > 0 {
                    continue;
                }
                let empty = valley.next_floor + state.rest[section] <= state.target;
                let branches = candidates + i32::from(empty);
                match branches {
                    0 => {
                        charges.add(section);
                        return None;
                    }
                    1 => return Some(valley.spot(section, empty, None)),
                    _ => (),
                }
                let cost = branches as f32 * charges.scale[section] + tie;
                if cost < least {
                    least = cost;
                    best = Some((valley, section, empty));
                }
            }
        }
        let (valley, section, empty) = best.expect("the lowest valley has no forbidders");
        Some(valley.spot(section, empty, None))
    }
}

impl Valley {
    fn spot(&self, section: usize, may_stay_empty: bool, pin: Option<usize>) -> Spot {
        Spot {
            section,
            floor: self.floor,
            valley: self.run.clone(),
            wall: self.wall,
            may_stay_empty,
            pin,
        }
    }
}
