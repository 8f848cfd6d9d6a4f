//! What is in a picture: lanes of boxes on one axis of time.
//!
//! Functions stand one after the other along time; a function has one slot, as long as the longest
//! of its name on any core of any picture, so that equal times are above each other. Of two pictures
//! each location is looked up in the other by core, function and name, and the box says what became
//! of it.
//!
//! # Invariants
//!
//! * **order**: the boxes of a lane are neighbours, sorted by the start of their lives, then by
//!   address;
//! * **partners**: `boxes[boxes[i].partner].partner == i`.

use std::collections::BTreeMap;

use super::super::counterpart::counterpart;
use super::{Options, Picture};
use crate::ir::{FlatIndex, Function, MemLocId, MemoryType, Module, Space, Usage};
use crate::options::Geometry;
use crate::pace::Pace;
use crate::plan::{FunctionPlan, MemLocPlan, Plan};
use crate::sorting::CompactSort as _;
use crate::verify::sweep::{Next, Rect, overlaps};

/// No box, no lane.
pub(super) const NONE: u32 = u32::MAX;

/// Everything that is drawn.
pub(super) struct Scene<'a> {
    pub titles: Vec<&'a str>,
    pub slots: Vec<Slot<'a>>,
    /// Instructions of all slots; at least 1.
    pub length: u32,
    pub lanes: Vec<Lane<'a>>,
    pub boxes: Vec<Block<'a>>,
    /// Closed lives in the time of all slots; each box has a range of them.
    pub lives: Vec<(u32, u32)>,
    /// Of each picture: how many locations are not drawn, by reason.
    pub missing: Vec<Missing>,
    /// The slot of a function's name.
    slot_of: BTreeMap<&'a str, u32>,
}

/// Where a function stands in time.
pub(super) struct Slot<'a> {
    pub name: &'a str,
    pub start: u32,
    pub length: u32,
    /// The blocks of the first function of that name: name, first, one past the last, whether it
    /// ends a loop.
    pub blocks: Vec<(&'a str, u32, u32, bool)>,
}

/// One space of one core in one picture.
pub(super) struct Lane<'a> {
    pub picture: usize,
    pub core: u32,
    pub space: Space,
    /// Local and shared in one range of addresses. // M7
    pub unified: bool,
    pub floor: u64,
    pub peak: u64,
    pub bound: u64,
    pub capacity: Option<u64>,
    pub boxes: std::ops::Range<usize>,
    /// Bytes that two boxes share at an instant because one takes over the other's. // L8
    pub handed: Vec<(u32, u64)>,
    /// Windows of the options: base, size, what may lie there. // P6
    pub regions: Vec<(u64, u64, String)>,
    /// By slot: the floor, the limit and the bytes used of a collective region. // P5
    pub collective: Vec<(u32, u64, u64, u64)>,
    plan: &'a Plan,
}

/// A location that has an address.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub planned: &'a MemLocPlan,
    pub slot: u32,
    pub usage: Usage,
    pub address: u64,
    /// Bytes that it takes: as placed, exact for a pin.
    pub taken: u64,
    pub lives: (u32, u32),
    /// Bytes of it are another's at the same time, and nobody allowed it.
    pub collides: bool,
    pub change: Change,
    pub partner: u32,
    loc: MemLocId,
}

/// What became of a location from the first picture to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Same,
    Moved,
    Grown,
    Shrunk,
    New,
    Gone,
}

/// Locations that have no box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    pub views: u32,
    pub other_memory: u32,
    /// The callers', without an address.
    pub callers: u32,
    /// Without an address for another reason, or without a life.
    pub unused: u32,
}

impl Block<'_> {
    /// One past its last byte; a plan that was not verified may say anything.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.taken)
    }
}

impl<'a> Scene<'a> {
    /// # Panics
    ///
    /// If there is no picture or more than two, or a plan is not of its program.
    pub fn new(pictures: &[Picture<'a>], options: &Options) -> Scene<'a> {
        assert!(matches!(pictures.len(), 1 | 2), "one picture or two");
        for picture in pictures {
            let check = picture.plan.check_is_of(picture.program);
            check.expect("a plan of the program");
        }
        let title = |p: &Picture<'a>| match p.title {
            "" => p.program.name.as_str(),
            title => title,
        };
        let mut scene = Scene {
            titles: pictures.iter().map(title).collect(),
            slots: Vec::new(),
            length: 1,
            lanes: Vec::new(),
            boxes: Vec::new(),
            lives: Vec::new(),
            missing: pictures.iter().map(missing).collect(),
            slot_of: BTreeMap::new(),
        };
        scene.add_slots(pictures);
        scene.add_lanes(pictures, options);
        if let [first, second] = pictures {
            scene.match_boxes([first, second]);
        }
        scene
    }

    fn add_slots(&mut self, pictures: &[Picture<'a>]) {
        let modules = pictures.iter().flat_map(|p| p.program.modules());
        for function in modules.flat_map(Module::functions) {
            let length = function.instructions().len() as u32;
            let new = self.slots.len() as u32;
            let slot = *self.slot_of.entry(function.name()).or_insert(new);
            if slot == new {
                self.slots.push(Slot {
                    name: function.name(),
                    start: 0,
                    length: 0,
                    blocks: blocks(function),
                });
            }
            let slot = &mut self.slots[slot as usize];
            slot.length = slot.length.max(length);
        }
        let mut start = 0u32;
        for slot in &mut self.slots {
            slot.start = start;
            let end = start.checked_add(slot.length);
            start = end.expect("instructions of all functions are counted in 32 bits");
        }
        self.length = start.max(1);
    }

    fn add_lanes(&mut self, pictures: &[Picture<'a>], options: &Options) {
        let mut lanes = Vec::new();
        for (number, picture) in pictures.iter().enumerate() {
            for (m, module) in picture.program.modules().iter().enumerate() {
                let wanted = options.core.is_none_or(|core| core == module.core());
                for &space in Space::ALL.iter().filter(|_| wanted) {
                    lanes.push((module.core(), space as u32, number, m));
                }
            }
        }
        lanes.sort_compact_by_key(|&(core, space, number, _)| (core, space, number));
        for (_, space, number, m) in lanes {
            let space = Space::ALL[space as usize];
            if options.space.is_none_or(|wanted| wanted == space) {
                self.add_lane(pictures[number], number, m, space);
            }
        }
    }

    /// A lane, if anything lies in it.
    fn add_lane(&mut self, picture: Picture<'a>, number: usize, m: usize, space: Space) {
        let (program, plan) = (picture.program, picture.plan);
        let (module, planned) = (&program.modules()[m], &plan.modules[m]);
        let unified = plan.options.geometry == Geometry::Unified && space != Space::Debug;
        if unified && space == Space::Shared {
            return; // The lane of the local space has it all.
        }
        let here = |s: Space| s == space || (unified && s == Space::Shared);
        let core = Some(module.core());
        let mut figures = plan
            .spaces
            .iter()
            .filter(|s| here(s.space) && (s.core.is_none() || s.core == core));
        let first = figures.next();
        let (mut floor, mut peak, mut bound, mut capacity) = first.map_or((0, 0, 0, None), |s| {
            (s.floor, s.peak, s.lower_bound, s.capacity)
        });
        for other in figures {
            floor = floor.min(other.floor);
            peak = peak.max(other.peak);
            bound = bound.max(other.lower_bound);
            capacity = capacity.or(other.capacity);
        }
        let begin = self.boxes.len();
        let mut handed = Vec::new();
        let mut collective = Vec::new();
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            let slot = self.slot_of[function.name()];
            self.add_boxes(function, planned, slot, here);
            let spaces = planned.spaces.iter().filter(|s| here(s.space));
            collective
                .extend(spaces.filter_map(|s| s.cc.map(|cc| (slot, s.floor, cc.limit, cc.real))));
        }
        if self.boxes.len() == begin {
            return;
        }
        let lives = &self.lives;
        self.boxes[begin..].sort_compact_by_key(|b| (lives[b.lives.0 as usize].0, b.address));
        self.mark_collisions(begin, module, &mut handed);
        let regions = plan.options.regions.iter().filter(|r| here(r.space));
        let words = |usages: crate::ir::UsageMask| {
            let all = Usage::ALL.iter().filter(|&&u| usages.contains(u));
            all.map(|u| u.name()).collect::<Vec<_>>().join(", ")
        };
        self.lanes.push(Lane {
            picture: number,
            core: module.core(),
            space,
            unified,
            floor,
            peak,
            bound,
            capacity,
            boxes: begin..self.boxes.len(),
            handed,
            regions: regions
                .map(|r| (r.region.base, r.region.size, words(r.region.usages)))
                .collect(),
            collective,
            plan,
        });
    }

    fn add_boxes(
        &mut self,
        function: &'a Function,
        planned: &'a FunctionPlan,
        slot: u32,
        here: impl Fn(Space) -> bool,
    ) {
        let start = self.slots[slot as usize].start;
        for (id, planned) in function.memloc_ids().zip(&planned.memlocs) {
            if !is_drawn(function, id, planned) || !here(planned.space) {
                continue;
            }
            let begin = self.lives.len() as u32;
            let lives = planned.segments.iter();
            self.lives
                .extend(lives.map(|&(first, last)| (start + first, start + last)));
            self.boxes.push(Block {
                planned,
                slot,
                usage: function.memloc(id).usage,
                address: planned.address.unwrap_or(0),
                taken: if planned.pinned {
                    planned.bytes
                } else {
                    planned.aligned
                },
                lives: (begin, self.lives.len() as u32),
                collides: false,
                change: Change::Same,
                partner: NONE,
                loc: id,
            });
        }
    }

    /// Marks boxes that share bytes at an instant, but for those of which one takes over the
    /// other's bytes there; these become `handed`. // L8
    fn mark_collisions(&mut self, begin: usize, module: &Module, handed: &mut Vec<(u32, u64)>) {
        let mut rects = Vec::new();
        for (i, block) in self.boxes.iter().enumerate().skip(begin) {
            rects.extend(self.lives_of(block).iter().map(|&(first, last)| Rect {
                first: first.into(),
                last: last.into(),
                start: block.address,
                end: block.end(),
                owner: i as u32,
            }));
        }
        let mut colliding = Vec::new();
        overlaps(&rects, &mut Pace::free(), |a, b| {
            let (x, y) = (&rects[a], &rects[b]);
            let (one, two) = (&self.boxes[x.owner as usize], &self.boxes[y.owner as usize]);
            let (first, last) = (x.first.max(y.first), x.last.min(y.last));
            let slot = &self.slots[one.slot as usize];
            let function = module
                .find_function(slot.name)
                .map(|f| &module.functions()[f]);
            let takes_over = first == last
                && one.address == two.address
                && function.is_some_and(|f| {
                    let pairs = f.in_place(FlatIndex(first as u32 - slot.start));
                    pairs.contains(&(one.loc, two.loc)) || pairs.contains(&(two.loc, one.loc))
                });
            if takes_over {
                handed.push((first as u32, one.taken.min(two.taken)));
            } else {
                colliding.extend([x.owner, y.owner]);
            }
            if colliding.len() > MOST_COLLISIONS {
                Next::Stop
            } else {
                Next::Continue
            }
        });
        for i in colliding {
            self.boxes[i as usize].collides = true;
        }
        handed.sort_compact();
    }

    fn match_boxes(&mut self, pictures: [&Picture<'a>; 2]) {
        let key = |core: u32, block: &Block<'a>| (u64::from(core), block.slot, block.loc.0);
        let mut firsts = crate::ordered_map::OrderedMap::new();
        let picture_of = |scene: &Scene<'a>, number: usize| -> Vec<(u32, u32)> {
            let lanes = scene.lanes.iter().filter(|l| l.picture == number);
            lanes
                .flat_map(|l| l.boxes.clone().map(|i| (l.core, i as u32)))
                .collect()
        };
        for (core, i) in picture_of(self, 0) {
            let block = &mut self.boxes[i as usize];
            block.change = Change::Gone;
            firsts.insert(key(core, block), i);
        }
        for (core, i) in picture_of(self, 1) {
            let block = self.boxes[i as usize];
            self.boxes[i as usize].change = Change::New;
            let name = self.slots[block.slot as usize].name;
            let modules = pictures[1].program.modules().iter();
            let module = modules.into_iter().find(|m| m.core() == core);
            let here = module.and_then(|m| Some(&m.functions()[m.find_function(name)?]));
            let old = here.and_then(|here| {
                let (_, loc) = counterpart((core, here, block.loc), pictures[0].program)?;
                firsts.get(&(u64::from(core), block.slot, loc.0)).copied()
            });
            let Some(old) = old else { continue };
            let before = self.boxes[old as usize];
            let change = match block.taken.cmp(&before.taken) {
                std::cmp::Ordering::Greater => Change::Grown,
                std::cmp::Ordering::Less => Change::Shrunk,
                _ if block.address != before.address => Change::Moved,
                _ if block.planned.space != before.planned.space => Change::Moved,
                _ => Change::Same,
            };
            for (from, to) in [(old, i), (i, old)] {
                self.boxes[from as usize].change = change;
                self.boxes[from as usize].partner = to;
            }
        }
    }

    /// The boxes of a lane.
    pub fn boxes(&self, lane: &Lane<'_>) -> &[Block<'a>] {
        &self.boxes[lane.boxes.clone()]
    }

    /// When a box takes its bytes.
    pub fn lives_of(&self, block: &Block<'_>) -> &[(u32, u32)] {
        &self.lives[block.lives.0 as usize..block.lives.1 as usize]
    }

    /// The bytes live at each instant, of what lies at the floor or above it.
    pub fn load(&self, lane: &Lane<'_>) -> Vec<u64> {
        // Begins and ends apart, both closed: no sum goes below 0. // L2
        let length = self.length as usize;
        let (mut begins, mut ends) = (vec![0u64; length], vec![0u64; length + 1]);
        for block in self.boxes(lane).iter().filter(|b| b.address >= lane.floor) {
            for &(first, last) in self.lives_of(block) {
                let begin = &mut begins[first as usize];
                *begin = begin.saturating_add(block.taken);
                let end = &mut ends[last as usize + 1];
                *end = end.saturating_add(block.taken);
            }
        }
        let mut live = 0u64;
        for (begin, end) in begins.iter_mut().zip(ends) {
            live = live.saturating_add(*begin).saturating_sub(end);
            *begin = live;
        }
        for &(at, bytes) in &lane.handed {
            let live = &mut begins[at as usize];
            *live = live.saturating_sub(bytes);
        }
        begins
    }

    /// The lowest and the highest address of the boxes that lie in lanes of a space, whichever core
    /// and picture: what is compared has one scale.
    pub fn reach(&self, space: Space) -> (u64, u64) {
        let lanes = || self.lanes.iter().filter(|l| l.space == space);
        let boxes = || lanes().flat_map(|l| self.boxes(l));
        let low = boxes().map(|b| b.address).min().unwrap_or(0);
        let ends = boxes().map(Block::end);
        let high = ends.chain(lanes().map(|l| l.peak)).max().unwrap_or(0);
        (low, high.max(low.saturating_add(1)))
    }

    /// From the lowest floor of the space's lanes to the highest peak.
    pub fn placed_range(&self, space: Space) -> (u64, u64) {
        let lanes = || self.lanes.iter().filter(|l| l.space == space);
        let floor = lanes().map(|l| l.floor).min().unwrap_or(0);
        let peak = lanes().map(|l| l.peak).max().unwrap_or(0);
        if peak <= floor {
            self.reach(space)
        } else {
            (floor, peak)
        }
    }
}

impl Lane<'_> {
    /// What stands above it.
    pub fn label(&self) -> String {
        match self.unified {
            true => format!("core {} \u{b7} local and shared", self.core),
            false => format!("core {} \u{b7} {}", self.core, self.space),
        }
    }

    /// What is known about the whole plan.
    pub fn plan(&self) -> &Plan {
        self.plan
    }
}

/// So many ends of collisions are enough to see that a plan is wrong.
const MOST_COLLISIONS: usize = 100_000;

/// Whether a location has a rectangle.
fn is_drawn(function: &Function, id: MemLocId, planned: &MemLocPlan) -> bool {
    let declared = function.memloc(id);
    !declared.is_view()
        && declared.memory == MemoryType::Dram
        && planned.address.is_some()
        && !planned.segments.is_empty()
}

fn missing(picture: &Picture<'_>) -> Missing {
    let mut missing = Missing::default();
    for (module, planned) in picture.program.modules().iter().zip(&picture.plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            for (id, planned) in function.memloc_ids().zip(&planned.memlocs) {
                if is_drawn(function, id, planned) {
                    continue;
                }
                let declared = function.memloc(id);
                let count = if declared.is_view() {
                    &mut missing.views
                } else if declared.memory != MemoryType::Dram {
                    &mut missing.other_memory
                } else if planned.skipped == Some(crate::ir::Skipped::CallerOwned) {
                    &mut missing.callers
                } else {
                    &mut missing.unused
                };
                *count += 1;
            }
        }
    }
    missing
}

fn blocks(function: &Function) -> Vec<(&str, u32, u32, bool)> {
    let ids = (0..function.blocks().len()).map(crate::ir::BlockId::new);
    let found = ids.map(|id| {
        let range = function.block_range(id);
        let loops = function
            .successors(id)
            .iter()
            .any(|&to| to.index() <= id.index());
        let name = function.blocks()[id.index()].name.as_str();
        (name, range.start, range.end, loops)
    });
    found.filter(|&(_, first, end, _)| first < end).collect()
}
