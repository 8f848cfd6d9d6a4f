//! A naive allocator: lives by the oracle, first fit by trying every end. It exists so that the
//! verifier has valid plans to accept, and shares nothing with it.

use std::collections::{BTreeMap, BTreeSet};

use super::oracle::{Naive, handovers, runs};
use crate::ir::{Function, Kind, MemLocId, MemoryType, Program, Skipped, Space, Usage};
use crate::options::{Floor, Options};
use crate::plan::{
    CollectivePlan, FunctionPlan, FunctionSpace, MemLocPlan, ModulePlan, Owner, Plan, SpacePlan,
    Status,
};

/// `(module, function, location)` by position.
pub(super) type Id = (usize, usize, MemLocId);

/// A root with everything the rules say of it.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub id: Id,
    pub core: u32,
    /// The final space.
    pub space: Space,
    pub candidate: bool,
    pub pin: Option<u64>,
    /// As placed; exact for a pin.
    pub size: u64,
    pub align: u64,
    pub skipped: Option<Skipped>,
    /// Flat indices of its own function; epochs in the shared space.
    pub instants: Vec<u32>,
    /// A pin that takes its bytes in every function.
    pub always: bool,
    /// Members of its group, itself included; the first is the owner.
    pub group: Vec<Id>,
}

/// `(used, def, instruction)`.
type Handovers = BTreeSet<(MemLocId, MemLocId, u32)>;

pub(super) struct Facts<'a> {
    pub program: &'a Program,
    pub options: &'a Options,
    pub roots: Vec<Fact>,
    handovers: BTreeMap<(usize, usize), Handovers>,
}

fn up(bytes: u64, unit: u64) -> u64 {
    bytes.div_ceil(unit) * unit
}

impl<'a> Facts<'a> {
    pub fn function(&self, id: Id) -> &'a Function {
        &self.program.modules()[id.0].functions()[id.1]
    }

    pub fn name(&self, id: Id) -> String {
        match self.function(id).memloc_name(id.2) {
            "" => format!("#{}", id.2),
            name => name.to_owned(),
        }
    }

    pub fn of(program: &'a Program, options: &'a Options) -> Facts<'a> {
        let mut facts = Facts {
            program,
            options,
            roots: Vec::new(),
            handovers: BTreeMap::new(),
        };
        let mut ids = Vec::new();
        for (m, module) in program.modules().iter().enumerate() {
            for (f, function) in module.functions().iter().enumerate() {
                let roots = function
                    .memloc_ids()
                    .filter(|&id| function.memloc(id).view().is_none());
                ids.extend(roots.map(|id| (m, f, id)));
                facts.handovers.insert((m, f), handovers(function));
            }
        }
        for &id in &ids {
            let fact = facts.fact(id, &ids);
            facts.roots.push(fact);
        }
        facts
    }

    fn handover(&self, used: &Fact, def: &Fact, t: u32) -> bool {
        let function = (used.id.0, used.id.1);
        self.handovers[&function].contains(&(used.id.2, def.id.2, t))
    }

    fn group(&self, id: Id, ids: &[Id]) -> Vec<Id> {
        let core = |id: Id| self.program.modules()[id.0].core();
        let tied = |a: Id, b: Id| {
            let (f, g) = (self.function(a), self.function(b));
            let link = |x: Id, y: Id| {
                let remote = self.function(x).remote(x.2);
                remote.is_some_and(|r| r.core == core(y) && r.name == self.name(y))
            };
            let plain = |x: Id| {
                let f = self.function(x);
                let shared = f.memloc(x.2).space == Space::Shared;
                shared && f.remote(x.2).is_none() && !f.memloc_name(x.2).is_empty()
            };
            let named = plain(a) && plain(b) && self.name(a) == self.name(b);
            f.name() == g.name() && (a == b || link(a, b) || link(b, a) || named)
        };
        let shared = |x: Id| {
            let linked = ids.iter().any(|&y| y != x && tied(x, y));
            self.function(x).memloc(x.2).space == Space::Shared || linked
        };
        if !shared(id) {
            return Vec::new();
        }
        let mut group = vec![id];
        while let Some(&more) = ids
            .iter()
            .find(|&&y| !group.contains(&y) && group.iter().any(|&x| tied(x, y)))
        {
            group.push(more);
        }
        // The owner follows nobody; among several, the lowest core.
        group.sort_by_key(|&x| (self.function(x).remote(x.2).is_some(), core(x)));
        group
    }

    fn fact(&self, id: Id, ids: &[Id]) -> Fact {
        let function = self.function(id);
        let loc = function.memloc(id.2);
        let options = self.options;
        let naive = Naive::of(function, id.2);
        let group = self.group(id, ids);
        let touched = |&x: &Id| Naive::of(self.function(x), x.2).touched();
        let touching: Vec<Id> = group.iter().copied().filter(touched).collect();
        let stays = group.iter().any(|&x| {
            let loc = self.function(x).memloc(x.2);
            loc.usage == Usage::Collective || loc.pin().is_some()
        });
        let local = touching.len() == 1 && !stays;
        let space = match (group.is_empty(), local) {
            (true, _) => loc.space,
            (false, true) if touching[0] == id => Space::Local,
            (false, _) => Space::Shared,
        };
        let candidate = loc.memory == MemoryType::Dram
            && matches!(loc.usage, Usage::Internal | Usage::Collective)
            && loc.pin().is_none();
        let skipped = if loc.memory != MemoryType::Dram {
            Some(Skipped::NotDram)
        } else if loc.pin().is_some() {
            None
        } else if !candidate {
            Some(Skipped::CallerOwned)
        } else if group.is_empty() && !naive.touched() || !group.is_empty() && touching.is_empty() {
            Some(Skipped::Unreferenced)
        } else if local && touching[0] != id {
            Some(Skipped::FollowerUnused)
        } else {
            None
        };
        let unit = if options.packed { 1 } else { 4096 };
        let io = matches!(loc.usage, Usage::Input | Usage::Output);
        let own_life = matches!(loc.usage, Usage::Internal | Usage::Collective)
            || io && options.reuse_io && space != Space::Shared;
        let instants = if space == Space::Shared {
            self.group_instants(&group)
        } else {
            naive.instants()
        };
        Fact {
            id,
            core: self.program.modules()[id.0].core(),
            space,
            candidate,
            pin: loc.pin(),
            size: if loc.pin().is_some() {
                loc.bytes
            } else {
                up(loc.bytes, unit)
            },
            align: loc.align().or(options.align).unwrap_or(unit).max(unit),
            skipped,
            instants,
            always: loc.pin().is_some() && !own_life,
            group: if local { Vec::new() } else { group },
        }
    }

    fn group_instants(&self, group: &[Id]) -> Vec<u32> {
        let mut range: Option<(u32, u32)> = None;
        let mut last = 0;
        let mut kept = false;
        for &x in group {
            let function = self.function(x);
            let naive = Naive::of(function, x.2);
            last = Naive::last_epoch(function).max(last);
            kept |= function.memloc_ids().any(|v| {
                let loc = function.memloc(v);
                function.root(v).0 == x.2 && (loc.escapes() || loc.usage == Usage::Output)
            });
            for i in 0..function.instructions().len() as u32 {
                if naive.used(i) || naive.defined(i) {
                    let (lo, hi) = Naive::epochs(function, i);
                    range = Some(range.map_or((lo, hi), |r| (r.0.min(lo), r.1.max(hi))));
                }
            }
        }
        match range {
            None => Vec::new(),
            Some(_) if kept => (0..=last).collect(),
            Some((lo, hi)) => (lo..=hi).collect(),
        }
    }

    /// Whether two roots need different bytes at some time, but for a pair that `same` allows.
    pub fn meet(&self, a: &Fact, b: &Fact, same_start: bool) -> bool {
        let space = a.space == b.space;
        let one_core = a.core == b.core || a.space == Space::Shared;
        let one_group = !a.group.is_empty() && a.group == b.group;
        if !space || one_group || a.size == 0 || b.size == 0 {
            return false;
        }
        if a.always || b.always {
            let copies = a.space == Space::Debug && a.core != b.core;
            let alive = |x: &Fact| x.always || !x.instants.is_empty();
            let everywhere = a.space != Space::Local;
            return (one_core || everywhere) && !copies && alive(a) && alive(b)
                || copies
                    && (a.always && !b.always || b.always && !a.always)
                    && alive(a)
                    && alive(b)
                || copies && a.always && b.always;
        }
        if a.space == Space::Shared {
            let (f, g) = (self.function(a.id), self.function(b.id));
            if f.name() != g.name() {
                return !a.instants.is_empty() && !b.instants.is_empty();
            }
            return a.instants.iter().any(|t| b.instants.contains(t));
        }
        if !one_core || a.id.1 != b.id.1 {
            return false;
        }
        let handed = |u: &Fact, d: &Fact, t: u32| {
            same_start && u.pin.is_none() && d.size <= u.size && self.handover(u, d, t)
        };
        let both = a.instants.iter().filter(|t| b.instants.contains(t));
        both.into_iter()
            .any(|&t| !handed(a, b, t) && !handed(b, a, t))
    }

    pub fn floor(&self, space: Space, core: u32) -> u64 {
        if self.options.floor == Floor::Holes {
            return 0;
        }
        let pins = self.roots.iter().filter(|r| {
            r.space == space && (space != Space::Local || r.core == core) && r.size > 0
        });
        pins.filter_map(|r| Some(up(r.pin? + r.size, 4096)))
            .max()
            .unwrap_or(0)
    }

    /// Whether this root is placed, and not by following an owner.
    fn is_placed_itself(&self, fact: &Fact) -> bool {
        let owner = fact.group.first().is_none_or(|&owner| owner == fact.id);
        fact.candidate && fact.skipped.is_none() && owner && fact.size > 0
    }

    /// First fit in order of ids.
    pub fn addresses(&self) -> BTreeMap<Id, u64> {
        let mut at = BTreeMap::new();
        for fact in &self.roots {
            if let Some(pin) = fact.pin {
                at.insert(fact.id, pin);
            }
        }
        for fact in self.roots.iter().filter(|f| self.is_placed_itself(f)) {
            let floor = self.floor(fact.space, fact.core);
            let mut starts = BTreeSet::from([floor]);
            for other in &self.roots {
                if let Some(&a) = at.get(&other.id) {
                    starts.extend([a, a + other.size, up(a + other.size, 4096)]);
                }
            }
            let fits = |start: u64| {
                let clear = |other: &Fact| {
                    let Some(&a) = at.get(&other.id) else {
                        return true;
                    };
                    let bytes = start < a + other.size && a < start + fact.size;
                    !bytes || !self.meet(fact, other, start == a)
                };
                self.roots.iter().all(clear)
            };
            let straddles = |s: u64| {
                self.options.packed && fact.size <= 4096 && s / 4096 != (s + fact.size - 1) / 4096
            };
            let start = (starts.into_iter().map(|s| up(s, fact.align)))
                .flat_map(|s| {
                    if straddles(s) {
                        [up(s, fact.align.max(4096)); 2]
                    } else {
                        [s; 2]
                    }
                })
                .filter(|&s| s >= floor)
                .collect::<BTreeSet<u64>>()
                .into_iter()
                .find(|&s| fits(s))
                .expect("above everything there is room");
            at.insert(fact.id, start);
        }
        self.follow(&mut at);
        at
    }

    /// Followers go where their owners are, locations without bytes to the floor.
    pub fn follow(&self, at: &mut BTreeMap<Id, u64>) {
        for fact in &self.roots {
            if !fact.candidate || fact.skipped.is_some() {
                continue;
            }
            if fact.size == 0 {
                at.insert(fact.id, self.floor(fact.space, fact.core));
            } else if let Some(&owner) = fact.group.first() {
                at.insert(fact.id, at[&owner]);
            }
        }
    }

    fn limit(&self, module: usize, f: usize, space: Space) -> Option<u64> {
        let collective = |r: &&Fact| {
            let loc = self.function(r.id).memloc(r.id.2);
            (r.id.0, r.id.1) == (module, f) && r.space == space && loc.usage == Usage::Collective
        };
        let own: Vec<&Fact> = self.roots.iter().filter(collective).collect();
        if !own.iter().any(|r| r.candidate) {
            return None;
        }
        let limit = if self.options.cc_limit >= 0 {
            (self.options.cc_limit as u64) << 20
        } else {
            let function = &self.program.modules()[module].functions()[f];
            let mut sum = 0;
            for i in 0..function.instructions().len() as u32 {
                if function.instructions()[i as usize].kind == Kind::Collective {
                    for r in &own {
                        let loc = function.memloc(r.id.2);
                        let unit = if self.options.packed { 1 } else { 4096 };
                        let times = Naive::of(function, r.id.2).count(i) as u64;
                        sum += if r.candidate {
                            times * up(loc.bytes, unit)
                        } else {
                            0
                        };
                    }
                }
            }
            up(sum, 4096)
        };
        (limit > 0).then_some(limit)
    }

    /// The least end that the load at some instant forces.
    fn bound(&self, space: Space, core: u32) -> u64 {
        let floor = self.floor(space, core);
        let mut bound = floor;
        let functions = self
            .program
            .modules()
            .iter()
            .flat_map(|m| 0..m.functions().len());
        let of = |f: usize, t: u32, r: &&Fact| {
            r.id.1 == f
                && r.space == space
                && (space == Space::Shared || r.core == core)
                && self.is_placed_itself(r)
                && r.instants.contains(&t)
        };
        let mut sum = 0;
        for f in functions.collect::<BTreeSet<usize>>() {
            let mut most = 0;
            for t in 0..64 {
                let live: Vec<&Fact> = self.roots.iter().filter(|r| of(f, t, r)).collect();
                let mut need: u64 = live.iter().map(|r| r.size).sum();
                if space != Space::Shared {
                    need -= self.handed_over(&live, t);
                }
                most = most.max(need);
                let pins: Vec<(u64, u64)> = (self.roots.iter())
                    .filter(|r| r.pin.is_some() && r.space == space && r.size > 0)
                    .filter(|r| space != Space::Local || r.core == core)
                    .filter(|r| {
                        let here = r.core == core && r.id.1 == f && r.instants.contains(&t);
                        let born = |u: &&Fact| r.size <= u.size && self.handover(u, r, t);
                        r.always || here && space != Space::Shared && !live.iter().any(born)
                    })
                    .map(|r| (r.pin.unwrap(), r.pin.unwrap() + r.size))
                    .collect();
                if space != Space::Shared {
                    bound = bound.max(self.above(floor, need, pins));
                }
            }
            sum += most;
        }
        if space == Space::Shared {
            let pins = self
                .roots
                .iter()
                .filter(|r| r.always && r.space == space && r.size > 0);
            let pins = pins
                .map(|r| (r.pin.unwrap(), r.pin.unwrap() + r.size))
                .collect();
            bound = self.above(floor, sum, pins);
        }
        bound
    }

    fn above(&self, floor: u64, need: u64, mut pins: Vec<(u64, u64)>) -> u64 {
        if need == 0 || self.options.floor == Floor::Hwm {
            return floor + need;
        }
        pins.sort_unstable();
        let (mut end, mut left) = (0, need);
        for (start, to) in pins {
            if start > end {
                let free = start - end;
                if free >= left {
                    return end + left;
                }
                left -= free;
            }
            end = end.max(to);
        }
        end + left
    }

    /// The most bytes that in-place pairs save at an instant, by trying all subsets.
    fn handed_over(&self, live: &[&Fact], t: u32) -> u64 {
        let mut pairs = Vec::new();
        for u in live {
            for d in live {
                if d.size <= u.size && self.handover(u, d, t) {
                    pairs.push((u.id, d.id, d.size));
                }
            }
        }
        let mut most = 0;
        for subset in 0..1u32 << pairs.len() {
            let chosen: Vec<_> = (0..pairs.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| pairs[i])
                .collect();
            let uses: BTreeSet<Id> = chosen.iter().map(|p| p.0).collect();
            let defs: BTreeSet<Id> = chosen.iter().map(|p| p.1).collect();
            if uses.len() == chosen.len() && defs.len() == chosen.len() {
                most = most.max(chosen.iter().map(|p| p.2).sum());
            }
        }
        most
    }

    /// A plan with these addresses and true figures about them.
    pub fn plan(&self, at: &BTreeMap<Id, u64>) -> Plan {
        let mut plan = Plan {
            options: self.options.clone(),
            strategy: self.options.strategy,
            status: Status::Feasible,
            ..Plan::default()
        };
        for (m, module) in self.program.modules().iter().enumerate() {
            let functions = (0..module.functions().len())
                .map(|f| self.function_plan(m, f, at, &mut plan.notes));
            plan.modules.push(ModulePlan {
                name: module.name().to_owned(),
                core: module.core(),
                functions: functions.collect(),
            });
        }
        self.figures(&mut plan, at);
        plan
    }

    /// The figures of the spaces and of the whole plan.
    pub fn figures(&self, plan: &mut Plan, at: &BTreeMap<Id, u64>) {
        plan.spaces.clear();
        let mut cores: Vec<Option<u32>> = self
            .program
            .modules()
            .iter()
            .map(|m| Some(m.core()))
            .collect();
        cores.push(None);
        for core in cores {
            for space in [Space::Local, Space::Shared, Space::Debug] {
                if (space == Space::Shared) != core.is_none() {
                    continue;
                }
                let own = |r: &&Fact| {
                    r.space == space
                        && (core.is_none() || core == Some(r.core))
                        && self.is_placed_itself(r)
                };
                let ends = self
                    .roots
                    .iter()
                    .filter(own)
                    .map(|r| at[&r.id].saturating_add(r.size));
                let floor = self.floor(space, core.unwrap_or(0));
                if let Some(peak) = ends.max() {
                    plan.spaces.push(SpacePlan {
                        space,
                        core,
                        capacity: self.options.core_capacity(),
                        floor,
                        peak,
                        lower_bound: self.bound(space, core.unwrap_or(0)),
                    });
                }
            }
        }
        let highest = plan.spaces.iter().max_by_key(|s| s.peak);
        (plan.peak, plan.lower_bound) = highest.map_or((0, 0), |s| (s.peak, s.lower_bound));
        plan.status = if plan.peak == plan.lower_bound {
            Status::Optimal
        } else {
            Status::Feasible
        };
    }

    fn function_plan(
        &self,
        m: usize,
        f: usize,
        at: &BTreeMap<Id, u64>,
        notes: &mut Vec<String>,
    ) -> FunctionPlan {
        let function = &self.program.modules()[m].functions()[f];
        let core = self.program.modules()[m].core();
        let fact = |id: MemLocId| {
            self.roots
                .iter()
                .find(|r| r.id == (m, f, id))
                .expect("a root")
        };
        let mut spaces = Vec::new();
        for space in [Space::Local, Space::Shared, Space::Debug] {
            let own: Vec<&Fact> = (self.roots.iter())
                .filter(|r| (r.id.0, r.id.1) == (m, f) && r.space == space && r.candidate)
                .filter(|r| r.skipped.is_none() && r.size > 0)
                .collect();
            let floor = self.floor(space, core);
            let end = |r: &&&Fact| at[&r.id].saturating_add(r.size);
            let Some(hwm) = own.iter().map(|r| end(&r)).max() else {
                continue;
            };
            let cc = self.limit(m, f, space).map(|limit| {
                let collective = |r: &&&Fact| function.memloc(r.id.2).usage == Usage::Collective;
                let inside = own
                    .iter()
                    .filter(collective)
                    .filter(|r| end(r) <= floor + limit);
                let real = up(
                    inside
                        .map(|r| end(&r))
                        .max()
                        .unwrap_or(floor)
                        .saturating_sub(floor),
                    4096,
                );
                for r in own
                    .iter()
                    .filter(collective)
                    .filter(|r| end(r) > floor + limit)
                {
                    notes.push(format!(
                        "{} lies outside the collective region",
                        self.name(r.id)
                    ));
                }
                CollectivePlan {
                    limit,
                    real,
                    hwm: floor + real,
                }
            });
            spaces.push(FunctionSpace {
                space,
                floor,
                hwm,
                cc,
            });
        }
        let row = |id: MemLocId| {
            let (root, offset) = function.root(id);
            let r = fact(root);
            let loc = function.memloc(id);
            let is_root = id == root;
            let address = at.get(&r.id).map(|a| a + offset);
            let shared = is_root && r.space == Space::Shared && r.candidate && address.is_some();
            let owner = r.group.first().filter(|&&o| shared && o != r.id);
            let unit = if self.options.packed || loc.pin().is_some() {
                1
            } else {
                4096
            };
            MemLocPlan {
                name: self.name((m, f, id)),
                space: r.space,
                address,
                bytes: loc.bytes,
                aligned: up(loc.bytes, unit),
                pinned: loc.pin().is_some(),
                shared,
                owner: owner.map(|&o| Owner {
                    core: self.program.modules()[o.0].core(),
                    name: self.name(o),
                }),
                skipped: r.skipped,
                segments: runs(&Naive::of(function, root).instants()),
            }
        };
        FunctionPlan {
            name: function.name().to_owned(),
            spaces,
            memlocs: function.memloc_ids().map(row).collect(),
        }
    }
}
