//! What the runs decided, as a plan.

use std::collections::BTreeMap;

use super::Planning;
use super::engines::reuse_across_engines;
use super::frame::rounded;
use super::joint::JointRun;
use super::private::SpaceRun;
use super::runtime_page::add_cost;
use crate::digits::Digits;
use crate::ir::{Function, MemLocId, MemoryType, Module, Skipped, Space, Usage};
use crate::pace::Pace;
use crate::plan::{
    FunctionPlan, FunctionSpace, MemLocPlan, ModulePlan, Owner, Plan, SpacePlan, Status,
};
use crate::shared::{Agreed, Fate, Group, Member, digest, home};
use crate::sorting::CompactSort as _;

/// The plan of a program from what was placed so far.
pub(super) fn assemble(planning: &Planning<'_>, pace: &mut Pace<'_, '_>) -> Plan {
    let scene = &planning.scene;
    let mut plan = Plan {
        options: scene.options.clone(),
        strategy: scene.options.strategy,
        ..Plan::default()
    };
    let mut raw_bytes = 0u64;
    for (m, module) in scene.modules.iter().enumerate() {
        let mut functions = Vec::new();
        for (f, function) in module.functions().iter().enumerate() {
            let at = Place { planning, m, f };
            let mut memlocs = Vec::with_capacity(function.memlocs().len());
            for id in function.memloc_ids() {
                let (planned, loc) = (at.memloc(id), function.memloc(id));
                // A name and a list of segments of their own.
                if pace.over(5 + planned.segments.len()) {
                    return plan; // Nobody will look at it.
                }
                let owner = planned.owner.as_ref();
                let follows = owner.is_some_and(|owner| owner.core != module.core());
                let placed = planned.address.is_some() && !follows;
                if placed && loc.is_candidate(scene.options.usage_mask) {
                    raw_bytes = raw_bytes.saturating_add(loc.bytes);
                }
                memlocs.push(planned);
            }
            let engines = &scene.function(m, f).engines;
            plan.needs_dependences |=
                reuse_across_engines(engines, &|i| root_range(function, &memlocs, i));
            let name = function.name().to_owned();
            functions.push(FunctionPlan {
                name,
                spaces: at.spaces(),
                memlocs,
            });
            plan.notes.extend(at.outside_notes());
        }
        plan.notes.extend(scene.notes(m));
        let name = module.name().to_owned();
        plan.modules.push(ModulePlan {
            name,
            core: module.core(),
            functions,
        });
    }
    plan.notes.extend(joint_notes(planning));
    plan.spaces = spaces(planning);
    take_figures(&mut plan, raw_bytes);
    plan.digest = shared_digest(planning);
    plan.metrics.extend(kept(planning));
    let agreements = agreements(planning);
    plan.notes
        .extend(agreements.iter().filter_map(Agreement::note));
    plan.metrics
        .extend(agreements.iter().flat_map(Agreement::metrics));
    if let Some(cost) = agreements.iter().map(Agreement::cost).max() {
        plan.metrics.insert("agreement_cost".to_owned(), cost);
    }
    if scene.options.runtime_page > 0 {
        add_cost(&mut plan, scene);
    }
    plan
}

/// The figures of a whole plan, from those of its spaces and functions.
pub(super) fn take_figures(plan: &mut Plan, raw_bytes: u64) {
    let highest = plan.spaces.iter().max_by_key(|s| (s.peak, s.lower_bound));
    (plan.peak, plan.lower_bound) = highest.map_or((0, 0), |s| (s.peak, s.lower_bound));
    let proven = plan.spaces.iter().all(|s| s.peak == s.lower_bound);
    plan.status = if proven {
        Status::Optimal
    } else {
        Status::Feasible
    };
    plan.metrics = metrics(plan, |_, _| true, raw_bytes);
}

/// What one address for all members of a group costs a core. // M7
struct Agreement {
    core: u32,
    /// One past the highest byte of the core's groups and locations.
    agreed: u64,
    /// The least that the core could have reached, had it placed both alone.
    alone: u64,
}

impl Agreement {
    fn cost(&self) -> u64 {
        self.agreed.saturating_sub(self.alone)
    }

    fn metrics(&self) -> [(String, u64); 2] {
        let name = |what: &str| format!("core_{}_{what}", self.core);
        [(name("agreed"), self.agreed), (name("alone"), self.alone)]
    }

    fn note(&self) -> Option<String> {
        let Agreement {
            core,
            agreed,
            alone,
        } = *self;
        let cost = Some(self.cost()).filter(|&cost| cost > 0)?;
        Some(format!(
            "core {core} ends at {agreed} as agreed with the others; alone it could not end below \
             {alone}, {cost} less"
        ))
    }
}

/// By core, in unified geometry, those that are placed.
fn agreements(planning: &Planning<'_>) -> Vec<Agreement> {
    let scene = &planning.scene;
    let Some(shared) = planning.shared.as_ref().filter(|_| scene.is_unified()) else {
        return Vec::new();
    };
    let cores = scene.modules.iter().zip(&planning.local).zip(&shared.ends);
    let placed = cores.filter_map(|((module, local), &groups)| {
        let local = local.as_ref()?;
        Some(Agreement {
            core: module.core(),
            agreed: local.peak.max(groups),
            alone: local.alone,
        })
    });
    let mut placed: Vec<Agreement> = placed.collect();
    placed.sort_compact_by(|a, b| a.core.cmp(&b.core));
    placed
}

/// The figures of one space of one module of a plan, by name. // X5
pub(crate) fn space_metrics(
    plan: &Plan,
    position: usize,
    module: &Module,
    space: Space,
) -> BTreeMap<String, u64> {
    let planned = &plan.modules[position];
    let functions = planned.functions.iter().zip(module.functions());
    let locs = functions.flat_map(|(planned, f)| planned.memlocs.iter().zip(f.memlocs()));
    let placed = locs.filter(|(planned, loc)| {
        let follows = (planned.owner.as_ref()).is_some_and(|o| o.core != module.core());
        let here = planned.space == space && planned.address.is_some() && !follows;
        here && loc.is_candidate(plan.options.usage_mask)
    });
    let raw_bytes = placed.fold(0u64, |sum, (_, loc)| sum.saturating_add(loc.bytes));
    let core = Some(module.core());
    let here = |of: Space, owner: Option<u32>| of == space && (owner.is_none() || owner == core);
    metrics(plan, here, raw_bytes)
}

/// The metrics by name, of the spaces and cores that `of` picks; the first two are 31 and 32 of
/// the numbered ones. // X5
fn metrics(
    plan: &Plan,
    of: impl Fn(Space, Option<u32>) -> bool,
    raw_bytes: u64,
) -> BTreeMap<String, u64> {
    let spaces = || plan.spaces.iter().filter(|s| of(s.space, s.core));
    let frames = || {
        let functions = plan.modules.iter().flat_map(|m| {
            let core = Some(m.core);
            m.functions.iter().map(move |f| (core, f))
        });
        functions
            .flat_map(|(core, f)| f.spaces.iter().map(move |s| (core, s)))
            .filter(|&(core, s)| of(s.space, core))
            .map(|(_, s)| s)
    };
    let regions = || frames().filter_map(|s| s.cc);
    BTreeMap::from([
        ("reserved_space".to_owned(), spaces().map(|s| s.floor).sum()),
        ("raw_bytes_placed".to_owned(), raw_bytes),
        (
            "hwm".to_owned(),
            spaces().map(|s| s.peak).max().unwrap_or(0),
        ),
        (
            "real_cc_buffer_size".to_owned(),
            regions().map(|cc| cc.real).max().unwrap_or(0),
        ),
        (
            "allreduce_dram_hwm".to_owned(),
            regions().map(|cc| cc.hwm).max().unwrap_or(0),
        ),
    ])
}

/// What became of the locations that a hint has an address for; nothing without a hint. // S2
fn kept(planning: &Planning<'_>) -> Vec<(String, u64)> {
    let private = planning.local.iter().chain(&planning.debug).flatten();
    let private = private.filter_map(|run| run.kept);
    let shared = planning.shared.iter().filter_map(|run| run.kept);
    let sum = private.chain(shared).reduce(|mut sum, kept| {
        sum.add(kept);
        sum
    });
    let figures = sum.map(|kept| [kept.kept, kept.kept_bytes, kept.moved, kept.moved_bytes]);
    let figures = Plan::KEPT_METRICS.iter().zip(figures.into_iter().flatten());
    figures.map(|(&name, n)| (name.to_owned(), n)).collect()
}

/// Every space that holds anything: local by core, shared once, debug by core.
fn spaces(planning: &Planning<'_>) -> Vec<SpacePlan> {
    let private = |runs: &[Option<SpaceRun>]| -> Vec<SpacePlan> {
        let runs = planning.scene.modules.iter().zip(runs).enumerate();
        let runs = runs.filter_map(|(m, (module, run))| Some((m, module, run.as_ref()?)));
        runs.filter(|(_, _, run)| run.is_visible())
            .map(|(m, module, run)| SpacePlan {
                space: run.space,
                core: Some(module.core()),
                capacity: run.capacity,
                floor: run.floor,
                peak: run.peak,
                lower_bound: run.bound_beside(planning.groups_beside(m, run.space)),
            })
            .collect()
    };
    let shared = planning
        .shared
        .iter()
        .filter(|run| run.is_visible())
        .map(|run| SpacePlan {
            space: Space::Shared,
            core: None,
            capacity: run.capacity,
            floor: run.floor,
            peak: run.peak,
            lower_bound: run.bound,
        });
    private(&planning.local)
        .into_iter()
        .chain(shared)
        .chain(private(&planning.debug))
        .collect()
}

/// The fingerprint of what the cores agreed on; empty where one core agrees with itself. // M10
fn shared_digest(planning: &Planning<'_>) -> String {
    let scene = &planning.scene;
    let Some(run) = planning.shared.as_ref().filter(|_| scene.modules.len() > 1) else {
        return String::new();
    };
    digest(
        scene
            .groups
            .all
            .iter()
            .enumerate()
            .filter(|(_, g)| g.fate == Fate::Shared)
            .map(|(i, g)| {
                let (module, function) = home(scene.modules, g.owner);
                Agreed {
                    core: module.core(),
                    function: function.name(),
                    name: function.memloc_name(g.owner.loc),
                    address: run.addresses[i].unwrap_or(run.floor),
                    bytes: g.bytes,
                }
            }),
    )
}

fn joint_notes(planning: &Planning<'_>) -> Vec<String> {
    let scene = &planning.scene;
    let outside = planning.shared.iter().flat_map(|run| &run.outside_region);
    let members = outside.flat_map(|&i| &scene.groups.all[i].members);
    let outside = members.map(|&member| outside_note(home(scene.modules, member).1, member.loc));
    scene.groups.notes.iter().cloned().chain(outside).collect()
}

fn outside_note(function: &Function, id: MemLocId) -> String {
    let (name, label) = (function.name(), function.label(id));
    format!("{name}: {label} did not fit in the collective region")
}

/// The bytes of a root that has an address.
pub(super) fn root_range(
    function: &Function,
    memlocs: &[MemLocPlan],
    i: usize,
) -> Option<(u64, u64)> {
    let planned = &memlocs[i];
    let start = planned
        .address
        .filter(|_| !function.memlocs()[i].is_view())?;
    Some((start, start + planned.aligned))
}

/// What a location without a name is called. Made for each of them, so without the formatter.
fn number_label(id: MemLocId) -> String {
    let mut digits = Digits::default();
    let number = std::str::from_utf8(digits.of(id.0.into()));
    ["#", number.expect("digits are text")].concat()
}

/// One function of a plan in the making.
struct Place<'p, 'a> {
    planning: &'p Planning<'a>,
    m: usize,
    f: usize,
}

impl<'a> Place<'_, 'a> {
    fn function(&self) -> &'a Function {
        &self.planning.scene.functions(self.m)[self.f]
    }

    /// The private runs over this module, local first.
    fn runs(&self) -> impl Iterator<Item = &SpaceRun> {
        [&self.planning.local[self.m], &self.planning.debug[self.m]]
            .into_iter()
            .flatten()
    }

    fn spaces(&self) -> Vec<FunctionSpace> {
        let final_spaces = &self.planning.scene.function(self.m, self.f).spaces;
        let holds = |space: Space| {
            let mut memlocs = self.function().memlocs().iter().zip(final_spaces);
            memlocs.any(|(loc, &at)| loc.memory == MemoryType::Dram && at == space)
        };
        let private = self
            .runs()
            .filter(|run| holds(run.space) || !run.frames[self.f].frame.items.is_empty());
        let private = private.map(|run| FunctionSpace {
            space: run.space,
            floor: run.floor,
            hwm: run.frames[self.f].hwm,
            cc: run.frames[self.f].collective,
        });
        let shared = self
            .planning
            .shared
            .iter()
            .filter(|_| holds(Space::Shared))
            .map(|run| {
                let own = run.functions.get(self.function().name());
                FunctionSpace {
                    space: Space::Shared,
                    floor: run.floor,
                    hwm: own.map_or(run.floor, |own| own.hwm),
                    cc: own
                        .and_then(|own| own.collective)
                        .filter(|_| self.has_collective_member()),
                }
            });
        private.chain(shared).collect()
    }

    /// Whether a candidate of this very function is part of a collective group. // P5
    fn has_collective_member(&self) -> bool {
        let scene = &self.planning.scene;
        self.function().memloc_ids().any(|id| {
            let group = scene.group_of((self.m, self.f), id);
            self.function()
                .memloc(id)
                .is_candidate(scene.options.usage_mask)
                && group.is_some_and(|g| g.fate == Fate::Shared && g.usage == Usage::Collective)
        })
    }

    fn outside_notes(&self) -> Vec<String> {
        let outside = self
            .runs()
            .flat_map(|run| &run.frames[self.f].outside_region);
        outside
            .map(|&id| outside_note(self.function(), id))
            .collect()
    }

    fn memloc(&self, id: MemLocId) -> MemLocPlan {
        let (scene, function) = (&self.planning.scene, self.function());
        let loc = function.memloc(id);
        let (root, offset) = function.root(id);
        let member = Member {
            module: self.m as u32,
            function: self.f as u32,
            loc: root,
        };
        let group = scene.groups.position(member);
        let fate = group.map(|g| scene.groups.all[g].fate);
        let (address, skipped) = match fate {
            Some(Fate::Shared) => (
                self.shared_address(member, group.expect("it has a fate")),
                None,
            ),
            Some(Fate::Unreferenced) => (None, Some(Skipped::Unreferenced)),
            Some(Fate::CallerOwned) => (None, Some(Skipped::CallerOwned)),
            Some(Fate::Local(user)) if user != member => (None, Some(Skipped::FollowerUnused)),
            Some(Fate::Local(_)) | None => self.private_address(root),
        };
        let shared = fate == Some(Fate::Shared);
        let is_candidate = loc.is_candidate(scene.options.usage_mask);
        MemLocPlan {
            name: match function.memloc_name(id) {
                "" => number_label(id),
                name => name.to_owned(),
            },
            space: scene.function(self.m, self.f).spaces[root.index()],
            address: address.map(|address| address + offset), // Inside the root.
            bytes: loc.bytes,
            aligned: match is_candidate {
                true => rounded(loc.bytes, scene.options).unwrap_or(loc.bytes),
                false => loc.bytes,
            },
            pinned: loc.pin().is_some(),
            shared: shared && self.is_marked(member, group),
            owner: group
                .filter(|_| shared)
                .map(|g| self.owner(&scene.groups.all[g])),
            skipped,
            segments: match group.filter(|_| shared) {
                Some(group) => self.epoch_segments(group),
                None => self.segments(root),
            },
        }
    }

    /// The shared run marks owners, sync their copies. // M2
    fn is_marked(&self, member: Member, group: Option<usize>) -> bool {
        let owns = group.is_some_and(|g| self.planning.scene.groups.all[g].owner == member);
        self.planning.shared.is_some() && (owns || self.planning.synced)
    }

    fn owner(&self, group: &Group) -> Owner {
        let (module, function) = home(self.planning.scene.modules, group.owner);
        Owner {
            core: module.core(),
            name: function.memloc_name(group.owner.loc).to_owned(),
        }
    }

    fn shared_address(&self, member: Member, group: usize) -> Option<u64> {
        if let Some(pin) = self.function().memloc(member.loc).pin() {
            return Some(pin);
        }
        let run: &JointRun = self.planning.shared.as_ref()?;
        let owner = self.planning.scene.groups.all[group].owner;
        if owner != member && !self.planning.synced {
            return None; // A follower is a remote target until sync gives it the address. // M3
        }
        // A group of no bytes is valid, at the floor, and meets nothing. // L10
        run.addresses[group].or(Some(run.floor))
    }

    /// Where a root of a private space lies, or why it does not. // P10
    fn private_address(&self, root: MemLocId) -> (Option<u64>, Option<Skipped>) {
        let (scene, loc) = (&self.planning.scene, self.function().memloc(root));
        let analysed = scene.function(self.m, self.f);
        if loc.memory != MemoryType::Dram {
            return (None, Some(Skipped::NotDram));
        }
        if loc.pin().is_some() {
            return (loc.pin(), None);
        }
        if !loc.is_candidate(scene.options.usage_mask) {
            return (None, Some(Skipped::CallerOwned));
        }
        if analysed.liveness.lives.of(root.index()).is_empty() {
            return (None, Some(Skipped::Unreferenced));
        }
        let run = self
            .runs()
            .find(|run| run.space == analysed.spaces[root.index()]);
        let Some(run) = run else { return (None, None) }; // Its space is not placed yet.
        if loc.bytes == 0 {
            return (Some(run.floor), None); // Valid, at the floor, meets nothing. // L10
        }
        let address = run.frames[self.f].address(root);
        assert!(address.is_some(), "every candidate with bytes was placed"); // P10
        (address, None)
    }

    /// When a private root's bytes are taken: a pin that is held everywhere, always. // L6b
    fn segments(&self, root: MemLocId) -> Vec<(u32, u32)> {
        let (scene, function) = (&self.planning.scene, self.function());
        if scene.pins.is_owned((self.m, self.f), root) && !function.instructions().is_empty() {
            return vec![(0, function.instructions().len() as u32 - 1)];
        }
        let live = scene
            .function(self.m, self.f)
            .liveness
            .lives
            .of(root.index());
        live.iter().map(|s| (s.first().0, s.last().0)).collect()
    }

    /// The instructions of this function that may run within a group's epochs. // M4
    fn epoch_segments(&self, group: usize) -> Vec<(u32, u32)> {
        let scene = &self.planning.scene;
        let life = &scene.group_lives[group];
        let indices = scene.epochs.indices(self.m, self.f, life);
        indices.iter().map(|s| (s.first().0, s.last().0)).collect()
    }
}
