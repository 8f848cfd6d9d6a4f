//! What every space of a plan holds, and when: the ground on which a report explains a peak.
//!
//! The lives, pairs, calls and groups are those of the program, as for a run; the addresses are the
//! plan's, whoever made it. A space is a few *lines* of time: the functions of a core, or, for
//! what the cores share, the epochs of the entry functions, once for each kind of core. What a
//! line holds is a [`Problem`], so that its load and its bound are what placement knows of them.
//!
//! Cost: that of the analysis of a run, without placing anything.

use std::collections::BTreeMap;

use super::calls::CallSite;
use super::frame::{frame, rounded};
use super::joint::{self, LaneLoad};
use super::lanes::Lanes;
use super::scene::{Scene, is_owned_pin};
use crate::control::Control;
use crate::error::Result;
use crate::ir::{FlatIndex, Function, MemLocId, Module, Program, Segment, Space, Usage};
use crate::options::{Floor, Geometry};
use crate::pace::Pace;
use crate::place::{InPlacePair, Pin, Problem};
use crate::plan::{MemLocPlan, Plan, SpacePlan};
use crate::shared::{Fate, Member, home};
use crate::sorting::CompactSort as _;

/// Every space of a plan, with the program that it is of.
pub(crate) struct Grounds<'a> {
    scene: Scene<'a>,
    plan: &'a Plan,
    lanes: Lanes,
    /// In the plan's order.
    pub list: Vec<Ground>,
}

/// One space of one core, or the shared one.
pub(crate) struct Ground {
    /// What the plan says of it.
    pub told: SpacePlan,
    /// Nothing is placed below.
    pub floor: u64,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    pub lines: Vec<Line>,
    /// How the needs of the lines make that of the space.
    pub rule: Rule,
}

/// How lines add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Functions of one core: the greatest need. With `calls_add`, what a caller holds at a call
    /// comes on top of what the callee needs; with `beside`, groups are part of the load. // L7, M7
    Frames { calls_add: bool, beside: bool },
    /// Groups: on each lane the sum of the lines, or, where nothing of two is there at a time, the
    /// greatest need. // M4
    Groups { add: bool },
}

/// A stretch of time: a function's instructions, or epochs.
pub(crate) struct Line {
    /// The position of the function in its module; of groups, that of the entry function along the
    /// axis.
    pub function: usize,
    /// Which kind of core; 0 for functions.
    pub lane: u32,
    /// What wants a place, without what the callers hold. Its pairs are those that sizes allow.
    pub problem: Problem,
    /// By item.
    pub holders: Vec<Holder>,
    /// The pairs that lives allow, whatever the sizes, by index. // L8
    pub pairs: Vec<InPlacePair>,
    /// Groups that have their bytes in the same range of addresses, while they have. // M7
    pub groups: Vec<(Holder, Vec<Segment>)>,
    /// The calls with the callees' lines, by index.
    pub calls: Vec<(u32, usize)>,
    /// How many instructions, or epochs.
    pub count: usize,
}

/// Something that was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The location; of a group its owner.
    pub member: Member,
    /// The group, by position.
    pub group: Option<usize>,
    /// Bytes as declared.
    pub declared: u64,
    /// Bytes as placed.
    pub size: u64,
    /// The plan's address.
    pub address: Option<u64>,
    pub usage: Usage,
    /// The host gave the address.
    pub pinned: bool,
}

impl Holder {
    /// One past its last byte, if it has an address.
    pub fn end(&self) -> Option<u64> {
        self.address?.checked_add(self.size)
    }
}

impl<'a> Grounds<'a> {
    /// Reads a plan beside its program.
    ///
    /// # Errors
    ///
    /// The plan is of another program; what is wrong with the program's calls, links and barriers.
    pub fn of(program: &'a Program, plan: &'a Plan) -> Result<Grounds<'a>> {
        plan.check_is_of(program)?;
        plan.options.validate()?;
        // A host may have said what is shared; the plan tells what came of it. // M1
        let shared = |module: &Module, function: &Function, id: MemLocId| {
            let planned = plan.modules.iter().find(|m| m.core == module.core());
            let row = planned.and_then(|m| {
                let f = module.find_function(function.name())?;
                m.functions[f].memlocs.get(id.index())
            });
            row.is_some_and(|row| row.space == Space::Shared)
        };
        let control = Control {
            shared: Some(&shared),
            ..Control::default()
        };
        let scene = Scene::of(program.modules(), &plan.options, &control)?;
        let lanes = joint::lanes(&scene)?;
        let mut grounds = Grounds {
            scene,
            plan,
            lanes,
            list: Vec::new(),
        };
        for told in &plan.spaces {
            let ground = match told.space {
                Space::Shared => grounds.joint(told)?,
                Space::Local | Space::Debug => match grounds.module(told.core) {
                    Some(m) => grounds.private(told, m)?,
                    None => continue, // Of a core that the program does not have.
                },
            };
            grounds.list.push(ground);
        }
        Ok(grounds)
    }

    /// The position of a core's module.
    fn module(&self, core: Option<u32>) -> Option<usize> {
        let core = core?;
        self.scene.modules.iter().position(|m| m.core() == core)
    }

    fn joint(&self, told: &SpacePlan) -> Result<Ground> {
        let scene = &self.scene;
        let count = scene.epochs.len() as usize * self.lanes.count() as usize;
        let line = |load: LaneLoad| Line {
            function: load.stretch,
            lane: load.lane,
            holders: load.groups.iter().map(|&g| self.group(g)).collect(),
            problem: load.problem,
            pairs: Vec::new(),
            groups: Vec::new(),
            calls: Vec::new(),
            count,
        };
        let lines = joint::lane_loads(scene, &self.lanes)?;
        let lines: Vec<Line> = lines.into_iter().map(line).collect();
        let floor = scene.floor(0, Space::Shared)?;
        let options = scene.options;
        Ok(Ground {
            told: told.clone(),
            floor,
            peak: peak(&lines, floor),
            lines,
            rule: Rule::Groups {
                add: options.shared_mib_per_core == 0 && !options.separate_functions,
            },
        })
    }

    fn private(&self, told: &SpacePlan, m: usize) -> Result<Ground> {
        let scene = &self.scene;
        let space = told.space;
        let floor = scene.floor(m, space)?;
        let holes = scene.options.floor == Floor::Holes;
        let unified = scene.options.geometry == Geometry::Unified && space == Space::Local;
        let functions = scene.functions(m);
        let mut known: BTreeMap<Vec<Segment>, Vec<usize>> = BTreeMap::new();
        for g in (0..scene.groups.all.len()).filter(|&g| unified && scene.reaches(g, m)) {
            if scene.groups.all[g].fate == Fate::Shared && scene.groups.all[g].bytes > 0 {
                known.entry(scene.held_life(g)).or_default().push(g);
            }
        }
        let mut lines = Vec::with_capacity(functions.len());
        for (f, function) in functions.iter().enumerate() {
            let here = |e: crate::Error| e.in_function(function.name());
            let analysed = scene.function(m, f);
            let framed =
                frame(function, analysed, space, scene.options, &mut Pace::free()).map_err(here)?;
            let mut problem = framed.problem;
            problem.floor = floor;
            let mut groups = Vec::new();
            let mut pins: Vec<(Pin, Vec<Segment>)> = Vec::new();
            for (life, held) in &known {
                let indices = scene.epochs.indices(m, f, life);
                for &g in held.iter().filter(|_| !indices.is_empty()) {
                    let holder = self.group(g);
                    match (holder.pinned, holder.address, holder.end()) {
                        (false, ..) => groups.push((holder, indices.clone())),
                        (true, Some(start), Some(end)) => {
                            pins.push((Pin { start, end }, indices.clone()));
                        }
                        _ => {}
                    }
                }
            }
            if holes {
                let calls = scene.calls(m);
                let visible =
                    scene
                        .pins
                        .visible(scene.modules, (m, f), space, &analysed.liveness, calls)?;
                for i in 0..visible.roots.len() {
                    problem.pins.push(visible.pins[i]);
                    problem.pin_lives.push(visible.lives.of(i).iter().copied());
                }
                for (pin, life) in pins {
                    problem.pins.push(pin);
                    problem.pin_lives.push(life);
                }
            }
            let mut rank = vec![u32::MAX; function.memlocs().len()];
            for (i, id) in (0..).zip(&framed.items) {
                rank[id.index()] = i;
            }
            let pairs = analysed.liveness.pairs.iter().filter_map(|pair| {
                let (used, def) = (rank[pair.used.index()], rank[pair.def.index()]);
                let here = used != u32::MAX && def != u32::MAX;
                here.then_some(InPlacePair {
                    index: pair.index,
                    used,
                    def,
                })
            });
            let mut pairs: Vec<InPlacePair> = pairs.collect();
            pairs.sort_compact_by_key(|p| (p.index, p.def, p.used));
            pairs.dedup();
            let holders = framed.items.iter().map(|&id| self.location(m, f, id));
            let sites = scene.calls(m).calls_of(f).iter();
            lines.push(Line {
                function: f,
                lane: 0,
                holders: holders.collect(),
                problem,
                pairs,
                groups,
                calls: sites.map(|s: &CallSite| (s.index.0, s.callee)).collect(),
                count: function.instructions().len(),
            });
        }
        let peak = peak(&lines, floor);
        let placed = lines.iter().any(|line| !line.holders.is_empty());
        let of_groups = known.values().flatten().map(|&g| self.group(g));
        let of_groups = of_groups.filter(|holder| !holder.pinned);
        let groups_end = of_groups.filter_map(|holder| holder.end()).max();
        Ok(Ground {
            told: told.clone(),
            floor,
            peak,
            lines,
            rule: Rule::Frames {
                calls_add: !holes,
                beside: unified && placed && peak >= groups_end.unwrap_or(0),
            },
        })
    }

    fn row(&self, member: Member) -> &'a MemLocPlan {
        let module = &self.plan.modules[member.module as usize];
        &module.functions[member.function as usize].memlocs[member.loc.index()]
    }

    fn location(&self, m: usize, f: usize, id: MemLocId) -> Holder {
        let member = Member {
            module: m as u32,
            function: f as u32,
            loc: id,
        };
        let loc = self.scene.functions(m)[f].memloc(id);
        Holder {
            member,
            group: None,
            declared: loc.bytes,
            size: rounded(loc.bytes, self.scene.options).unwrap_or(loc.bytes),
            address: self.row(member).address,
            usage: loc.usage,
            pinned: false,
        }
    }

    fn group(&self, g: usize) -> Holder {
        let group = &self.scene.groups.all[g];
        let placed = rounded(group.bytes, self.scene.options).unwrap_or(group.bytes);
        Holder {
            member: group.owner,
            group: Some(g),
            declared: group.bytes,
            // A pin counts with its exact bytes. // P2
            size: if group.pin.is_some() {
                group.bytes
            } else {
                placed
            },
            address: group.pin.or(self.row(group.owner).address),
            usage: group.usage,
            pinned: group.pin.is_some(),
        }
    }

    /// The core, the function and the name of a holder.
    pub fn names(&self, holder: &Holder) -> (u32, &'a str, &'a str) {
        let (module, function) = home(self.scene.modules, holder.member);
        (
            module.core(),
            function.name(),
            &self.row(holder.member).name,
        )
    }

    /// The core, the function and the instruction of a moment of a line; of an epoch, an
    /// instruction of the lowest core that may run then. `None`: nothing runs then.
    pub fn site(&self, ground: &Ground, line: &Line, t: u32) -> Option<(u32, &'a Function, u32)> {
        let modules = self.scene.modules;
        if let Some(core) = ground.told.core {
            let m = self.module(Some(core))?;
            return Some((core, &modules[m].functions()[line.function], t));
        }
        let epoch = FlatIndex(self.lanes.split(t).1);
        let life = Segment::new(epoch, epoch);
        let mut by_core: Vec<usize> = (0..modules.len()).collect();
        by_core.sort_compact_by_key(|&m| modules[m].core());
        by_core.into_iter().find_map(|m| {
            let runs = |f: usize| {
                self.scene.epochs.start(m, f)?; // Only entry functions have epochs of their own.
                let indices = self.scene.epochs.indices(m, f, life.as_slice());
                indices.first().map(|s| s.first().0)
            };
            let lane = self.lanes.of_module(m) == line.lane;
            let mut functions = (0..modules[m].functions().len()).filter(|_| lane);
            let (f, index) = functions.find_map(|f| Some((f, runs(f)?)))?;
            Some((modules[m].core(), &modules[m].functions()[f], index))
        })
    }

    /// The epoch of a moment of the shared space, counted along the axis of its entry functions.
    pub fn epoch(&self, t: u32) -> u32 {
        self.lanes.split(t).1
    }

    /// Whether the program itself needs the bytes of a group then: on a core's own line, for what
    /// that core reads later; on the line of epochs, for what any core does. // M4, M7
    pub fn needs(&self, ground: &Ground, line: &Line, t: u32, g: usize) -> bool {
        let scene = &self.scene;
        let members = scene.groups.all[g].members.iter();
        let own = |m: &Member| {
            let at = (m.module as usize, m.function as usize);
            scene.function(at.0, at.1).liveness.lives.of(m.loc.index())
        };
        let Some(core) = ground.told.core else {
            let epoch = FlatIndex(self.epoch(t));
            return members.into_iter().any(|m| {
                let at = (m.module as usize, m.function as usize);
                let epochs = scene.epochs.epochs_of(at.0, at.1, own(m));
                epochs.iter().any(|s| s.contains(epoch))
            });
        };
        let here = |m: &&Member| scene.modules[m.module as usize].core() == core;
        members.filter(here).any(|m| {
            let (module, f) = (m.module as usize, m.function as usize);
            let live = |t: FlatIndex| own(m).iter().any(|s| s.contains(t));
            if f == line.function {
                return live(FlatIndex(t));
            }
            let below = scene.calls(module).below(f);
            below
                .get(&line.function)
                .is_some_and(|calls| calls.iter().any(|&t| live(t)))
        })
    }

    /// The pins that a space has at a moment of a line.
    pub fn pins(&self, ground: &Ground, line: &Line, t: u32) -> Vec<Holder> {
        let scene = &self.scene;
        if ground.told.core.is_none() {
            let epoch = FlatIndex(self.epoch(t));
            let pinned = (0..scene.groups.all.len()).filter(|&g| {
                let group = &scene.groups.all[g];
                let lives = scene.group_lives[g].iter().any(|s| s.contains(epoch));
                let there = group.fate == Fate::Shared && group.pin.is_some() && group.bytes > 0;
                there && (lives || is_owned_pin(group))
            });
            return pinned.map(|g| self.group(g)).collect();
        }
        let modules = scene.modules;
        let Some(m) = self.module(ground.told.core) else {
            return Vec::new();
        };
        let f = line.function;
        let liveness = &scene.function(m, f).liveness;
        let space = ground.told.space;
        let visible = scene
            .pins
            .visible(modules, (m, f), space, liveness, scene.calls(m));
        let Ok(visible) = visible else {
            return Vec::new(); // Pins that overlap; no plan is right then.
        };
        let roots = visible.roots.iter().enumerate();
        let live = roots.filter(|(i, _)| {
            let life = visible.lives.of(*i).iter();
            life.into_iter().any(|s| s.contains(FlatIndex(t)))
        });
        let pins = live.map(|(_, root)| {
            let member = Member {
                module: root.module as u32,
                function: root.function as u32,
                loc: root.loc,
            };
            let bytes = root.pin.end - root.pin.start;
            let loc = scene.functions(root.module)[root.function].memloc(root.loc);
            Holder {
                member,
                group: None,
                declared: bytes,
                size: bytes,
                address: Some(root.pin.start),
                usage: loc.usage,
                pinned: true,
            }
        });
        pins.filter(|pin| pin.size > 0).collect()
    }

    /// The instructions at which a location is accessed, itself, through a view, or by a call that
    /// it is bound to; ascending. // L7, L9
    fn touches(&self, member: Member) -> Vec<u32> {
        let (m, f) = (member.module as usize, member.function as usize);
        let function = &self.scene.functions(m)[f];
        let is_it = |id: MemLocId| function.root(id).0 == member.loc;
        let mut touches = Vec::new();
        for t in (0..function.instructions().len()).map(FlatIndex::new) {
            let mut accesses = function.uses(t).iter().chain(function.defs(t));
            if accesses.any(|a| is_it(a.loc)) {
                touches.push(t.0);
            }
        }
        let bound = self.scene.calls(m).bindings(&self.scene.modules[m], f);
        let bound = bound.unwrap_or_default(); // They were read once already.
        touches.extend(bound.iter().filter(|b| is_it(b.loc)).map(|b| b.index.0));
        touches.sort_unstable();
        touches.dedup();
        touches
    }

    /// The life of a holder if its last segment ended one access earlier: on its function's line,
    /// or for a group on the axis of epochs.
    pub fn one_access_earlier(&self, holder: &Holder) -> Vec<Segment> {
        let scene = &self.scene;
        let (life, touches) = match holder.group {
            None => {
                let at = holder.member;
                let (m, f) = (at.module as usize, at.function as usize);
                let lives = &scene.function(m, f).liveness.lives;
                (lives.of(at.loc.index()).to_vec(), self.touches(at))
            }
            Some(g) => {
                let mut touched = Vec::new();
                for &member in &scene.groups.all[g].members {
                    let (m, f) = (member.module as usize, member.function as usize);
                    for t in self.touches(member).into_iter().map(FlatIndex) {
                        let instant = Segment::new(t, t);
                        for s in scene.epochs.epochs_of(m, f, instant.as_slice()) {
                            touched.extend(s.first().0..=s.last().0);
                        }
                    }
                }
                touched.sort_unstable();
                touched.dedup();
                (scene.group_lives[g].clone(), touched)
            }
        };
        let Some((last, before)) = life.split_last() else {
            return life;
        };
        let earlier = touches.iter().rev().find(|&&t| t < last.last().0);
        let end = earlier.and_then(|&t| Segment::new(last.first(), FlatIndex(t)));
        before.iter().copied().chain(end).collect()
    }

    /// A life of a group on the axis of epochs, as a core's function sees it, or as a lane does.
    pub fn group_life(&self, ground: &Ground, line: &Line, life: &[Segment]) -> Vec<Segment> {
        let scene = &self.scene;
        let options = scene.options;
        match self.module(ground.told.core) {
            Some(m) => {
                let held = scene.epochs.held(life, options.separate_functions);
                scene.epochs.indices(m, line.function, &held)
            }
            None => {
                let last = FlatIndex(scene.epochs.len().saturating_sub(1));
                let whole: Vec<Segment> = Segment::new(FlatIndex(0), last).into_iter().collect();
                let everywhere = life.len() > 1 && !options.separate_functions;
                let life = if everywhere { &whole } else { life };
                self.lanes.spread(&[line.lane], life)
            }
        }
    }

    /// The functions of a space's core, callers first; groups have none.
    pub fn callers_first(&self, ground: &Ground) -> Vec<usize> {
        match self.module(ground.told.core) {
            Some(m) => self.scene.calls(m).callers_first.clone(),
            None => (0..ground.lines.len()).collect(),
        }
    }

    /// Where groups are used only by name: the entry function of a line of epochs.
    pub fn stretch(&self, line: &Line) -> &str {
        let stretch = self.scene.epochs.stretches().get(line.function);
        stretch.map_or("", |s| &s.name)
    }
}

/// One past the highest byte placed.
fn peak(lines: &[Line], floor: u64) -> u64 {
    let holders = lines.iter().flat_map(|line| &line.holders);
    holders.filter_map(Holder::end).fold(floor, u64::max)
}
