//! Each location against its own rules: placed or skipped, where, how big, which flags.

use std::collections::{BTreeSet, HashSet};

use super::findings::Findings;
use super::groups::{Fate, Group, Groups};
use super::lives::{Run, join};
use super::scope::Scope;
use super::{PAGE, as_placed, page_up};
use crate::ir::{FlatIndex, Kind, MemLocId, MemoryType, Skipped, Space, Usage};
use crate::options::{Floor, Geometry, Options};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::{MemLocPlan, Plan};

/// When bytes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// A candidate that the plan placed: its life, or its group's.
    Placed,
    /// A pin with its exact life. // L6b
    Pinned,
    /// A pin that takes its bytes in every function. // L6b
    Always,
}

/// Where a root lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Put {
    pub space: Space,
    pub start: u64,
    /// One past the last byte as placed; exact for a pin.
    pub end: u64,
    pub hold: Hold,
}

/// What the host has pinned, per space and core.
pub(super) struct Floors {
    pin_ends: OrderedMap<(Space, Option<u32>), u64>,
    mode: Floor,
    /// In unified geometry, the cores that some placed group reaches. // M7
    reached: Option<BTreeSet<u32>>,
}

impl Floors {
    /// Reads the pins of a program. // P4
    pub fn of(
        scopes: &[Scope<'_>],
        groups: &Groups,
        options: &Options,
        pace: &mut Pace<'_, '_>,
    ) -> Floors {
        let mut pin_ends = OrderedMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.roots() {
                if pace.over(1) {
                    break;
                }
                let loc = scope.loc(id);
                let Some(pin) = loc.pin().filter(|_| loc.bytes > 0) else {
                    continue;
                };
                let space = match groups.position(s, id) {
                    Some(_) => Space::Shared,
                    None => loc.space,
                };
                let core = (space == Space::Local).then_some(scope.core);
                let end = pin_ends.entry((space, core)).or_insert(0);
                *end = (*end).max(pin.saturating_add(loc.bytes));
            }
        }
        let placed = groups.list.iter().filter(|g| {
            let bytes = scopes[g.owner.0 as usize].loc(g.owner.1).bytes;
            let candidate = options.usage_mask.contains(g.usage);
            g.fate == Fate::Shared && g.pin.is_none() && candidate && bytes > 0
        });
        let unified = options.geometry == Geometry::Unified;
        Floors {
            pin_ends,
            mode: options.floor,
            reached: unified.then(|| placed.flat_map(|g| g.reach.iter().copied()).collect()),
        }
    }

    /// One past the last pinned byte of a space of a core; 0 if nothing is pinned.
    pub fn pin_end(&self, space: Space, core: u32) -> u64 {
        let core = (space == Space::Local).then_some(core);
        self.pin_ends.get(&(space, core)).copied().unwrap_or(0)
    }

    /// Nothing may be placed below. // P4, M7
    pub fn floor(&self, space: Space, core: u32) -> u64 {
        if self.mode == Floor::Holes {
            return 0;
        }
        let above =
            |space, core| u64::try_from(page_up(self.pin_end(space, core))).unwrap_or(u64::MAX);
        let shared = above(Space::Shared, core);
        match (&self.reached, space) {
            (Some(_), Space::Local) => above(Space::Local, core).max(shared),
            (Some(reached), Space::Shared) => {
                let local = reached.iter().map(|&core| above(Space::Local, core));
                local.fold(shared, u64::max)
            }
            _ => above(space, core),
        }
    }
}

/// Where every root of every scope lies, as far as the plan says something possible.
pub(super) struct Layout {
    puts: Vec<Vec<Option<Put>>>,
}

impl Layout {
    /// Where a root lies.
    pub fn put(&self, scope: usize, root: MemLocId) -> Option<Put> {
        self.puts[scope].get(root.index()).copied().flatten()
    }

    /// Holds every location against its own rules.
    pub fn check(
        scopes: &[Scope<'_>],
        groups: &Groups,
        floors: &Floors,
        plan: &Plan,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Layout {
        let mut puts = Vec::with_capacity(scopes.len());
        let notes = Notes::of(&plan.notes);
        for s in 0..scopes.len() {
            let mut check = Check {
                scopes,
                groups,
                floors,
                options: &plan.options,
                notes: &notes,
                s,
                scope: &scopes[s],
                findings,
            };
            puts.push(check.scope(pace));
        }
        check_copies(scopes, groups, findings, pace);
        Layout { puts }
    }
}

/// Every member of a shared group has one address. // M5
fn check_copies(
    scopes: &[Scope<'_>],
    groups: &Groups,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) {
    for group in groups.list.iter().filter(|g| g.fate == Fate::Shared) {
        let address =
            |&(s, id): &(u32, MemLocId)| scopes[s as usize].row(id).and_then(|r| r.address);
        let Some(owners) = group.pin.or_else(|| address(&group.owner)) else {
            continue; // Said where the owner is unplaced.
        };
        if pace.over(1 + group.members.len()) {
            break;
        }
        for member in &group.members {
            let Some(own) = address(member).filter(|&own| own != owners) else {
                continue;
            };
            let (scope, owner) = (&scopes[member.0 as usize], group.owner);
            findings.add("copies_disagree", scope.at(), || {
                let site = scopes[owner.0 as usize].site(owner.1);
                let message = format!("it lies at {own}, the copy of its owner at {owners}");
                (vec![scope.label(member.1), site], message)
            });
        }
    }
}

/// The names that the plan's notes mention.
struct Notes<'a> {
    all: &'a [String],
    words: HashSet<&'a str>, // Asked, never iterated.
}

impl<'a> Notes<'a> {
    fn of(all: &'a [String]) -> Notes<'a> {
        let trim = |word: &'a str| word.trim_matches(|c: char| "\"'`,.:;()".contains(c));
        let words = all
            .iter()
            .flat_map(|note| note.split_whitespace().map(trim))
            .collect();
        Notes { all, words }
    }

    fn mention(&self, name: &str) -> bool {
        let odd = |c: char| c.is_whitespace() || "\"'`,.:;()".contains(c);
        self.words.contains(name)
            || name.contains(odd) && self.all.iter().any(|note| note.contains(name))
    }
}

/// The check of one scope.
struct Check<'c, 'a> {
    scopes: &'c [Scope<'a>],
    groups: &'c Groups,
    floors: &'c Floors,
    options: &'c Options,
    notes: &'c Notes<'c>,
    s: usize,
    scope: &'c Scope<'a>,
    findings: &'c mut Findings,
}

impl Check<'_, '_> {
    fn scope(&mut self, pace: &mut Pace<'_, '_>) -> Vec<Option<Put>> {
        let limit = collective_limits(self.scopes, self.s, self.groups, self.options, pace);
        let mut puts = vec![None; self.scope.function.memlocs().len()];
        for id in self.scope.function.memloc_ids() {
            let loc = self.scope.loc(id);
            let runs = self.scope.row(id).map_or(0, |row| row.segments.len());
            if pace.over(5 + runs) {
                break;
            }
            let Some(row) = self.scope.row(id) else {
                // A pin is an obstacle whether the plan knows of it or not.
                let space = match self.groups.position(self.s, id) {
                    Some(_) => Space::Shared,
                    None => loc.space,
                };
                puts[id.index()] = loc.pin().map(|pin| self.pinned(id, pin, space));
                continue;
            };
            if row.bytes != loc.bytes {
                self.say("wrong_size", id, || {
                    format!(
                        "the plan gives it {} bytes, it has {}",
                        row.bytes, loc.bytes
                    )
                });
            }
            if loc.is_view() {
                self.view(id, row);
            } else {
                let group = self.groups.of_member(self.s, id);
                let space = self.space(id, row, group);
                self.flags(id, row, group, space);
                self.segments(id, row, space);
                puts[id.index()] = self.root(id, row, group, space, limit.get(&space).copied());
            }
        }
        puts
    }

    fn say(&mut self, kind: &'static str, id: MemLocId, message: impl FnOnce() -> String) {
        let scope = self.scope;
        self.findings
            .add(kind, scope.at(), || (vec![scope.label(id)], message()));
    }

    fn candidate(&self, id: MemLocId) -> bool {
        self.scope.loc(id).is_candidate(self.options.usage_mask)
    }

    /// A view lies in its root, wherever that is. // L9
    fn view(&mut self, id: MemLocId, row: &MemLocPlan) {
        let (root, offset) = self.scope.function.root(id);
        let Some(of_root) = self.scope.row(root) else {
            return;
        };
        let want = of_root.address.map(|a| u128::from(a) + u128::from(offset));
        if row.address.map(u128::from) != want {
            self.say("moved_view", id, || {
                let of = of_root.address;
                format!(
                    "it lies at {:?}, its root at {of:?}, {offset} bytes before",
                    row.address
                )
            });
        }
        if row.space != of_root.space {
            self.say("wrong_space", id, || {
                format!(
                    "the plan puts it in {}, its root in {}",
                    row.space, of_root.space
                )
            });
        }
        if row.skipped.is_some() && row.skipped != of_root.skipped {
            self.say("wrong_skip", id, || {
                "it is skipped, its root is not, or not so".to_owned()
            });
        }
        let flags = row.pinned && !of_root.pinned || row.shared && !of_root.shared;
        let owned = row.owner.is_some() && row.owner != of_root.owner;
        if flags || owned {
            self.say("wrong_flag", id, || {
                "it has a flag or an owner that its root has not".to_owned()
            });
        }
        let same = ascend(&row.segments) && joined(&row.segments) == joined(&of_root.segments);
        if !row.segments.is_empty() && !same {
            self.say("wrong_segments", id, || {
                "its segments are not its root's".to_owned()
            });
        }
    }

    /// The final space of a root: what M1 says, and whether the plan agrees.
    fn space(&mut self, id: MemLocId, row: &MemLocPlan, group: Option<&Group>) -> Space {
        let declared = self.scope.loc(id).space;
        let me = (self.s as u32, id);
        let (want, either) = match group.map(|g| g.fate) {
            None => (declared, false),
            Some(Fate::Shared) => (Space::Shared, false),
            Some(Fate::Local(only)) if only == me => (Space::Local, false),
            Some(Fate::Local(_) | Fate::Untouched) => (row.space, true),
        };
        // What has no address lies nowhere; then either name of its space is as good.
        let free = either && row.space != Space::Debug
            || !self.candidate(id)
                && row.address.is_none()
                && (row.space == declared || group.is_some() && row.space == Space::Shared);
        if row.space != want && !free {
            self.say("wrong_space", id, || {
                format!("the plan puts it in {}, not {want}", row.space)
            });
        }
        want
    }

    fn flags(&mut self, id: MemLocId, row: &MemLocPlan, group: Option<&Group>, space: Space) {
        let pin = self.scope.loc(id).pin();
        let group = group.filter(|_| space == Space::Shared);
        let by_group = group.is_some_and(|g| g.pin.is_some());
        if row.pinned != pin.is_some() && !by_group {
            self.say("wrong_flag", id, || match row.pinned {
                true => "the plan calls it pinned; the host gave no address".to_owned(),
                false => "the host gave its address; the plan does not call it pinned".to_owned(),
            });
        }
        // M2: set by the shared run and by sync; a pin is neither's work.
        let placed = self.candidate(id) && row.address.is_some() && !by_group;
        let want = group.is_some() && placed;
        let free = group.is_some() && !placed && row.address.is_some();
        if row.shared != want && !free {
            self.say("wrong_flag", id, || {
                format!("is_shared_post_dram_alloc is {}, not {want}", row.shared)
            });
        }
        let Some(owner) = &row.owner else {
            let follower = group.is_some_and(|g| g.owner != (self.s as u32, id));
            if follower && want {
                self.say("wrong_owner", id, || {
                    "it follows another core's location; the plan names none".to_owned()
                });
            }
            return;
        };
        let right = self.groups.of_member(self.s, id).is_some_and(|g| {
            let scope = &self.scopes[g.owner.0 as usize];
            let placed = match g.fate {
                Fate::Local(only) => Some(only),
                _ => None,
            };
            let is = |s: u32, id: MemLocId| {
                let scope = &self.scopes[s as usize];
                scope.core == owner.core && scope.function.memloc_name(id) == owner.name
            };
            scope.core == owner.core && is(g.owner.0, g.owner.1)
                || placed.is_some_and(|(s, id)| is(s, id))
        });
        if !right {
            let (core, name) = (owner.core, owner.name.clone());
            self.say("wrong_owner", id, || {
                format!("{name} of core {core} is not its owner")
            });
        }
    }

    /// The plan's segments are the lives. // L
    fn segments(&mut self, id: MemLocId, row: &MemLocPlan, space: Space) {
        let loc = self.scope.loc(id);
        let runs = self.scope.lives.of_root(id);
        let said = joined(&row.segments);
        let shared = self
            .groups
            .of_member(self.s, id)
            .filter(|g| g.fate == Fate::Shared);
        if let Some(group) = shared
            && said == self.epochs_of(group)
        {
            return;
        }
        let exact = row.address.is_some() && loc.bytes > 0 && shared.is_none();
        let always = hold(self.scope, id, space, self.options) == Hold::Always;
        let whole = whole_function(self.scope);
        let right = ascend(&row.segments)
            && (said == runs || !exact && row.segments.is_empty() || always && said == [whole]);
        if !right {
            let want = if always { vec![whole] } else { runs.to_vec() };
            self.say("wrong_segments", id, || {
                format!("the plan says {:?}, the program {want:?}", row.segments)
            });
        }
    }

    /// The instructions of this function that may run while a group lives. // M4
    fn epochs_of(&self, group: &Group) -> Vec<(u32, u32)> {
        self.groups.timing.when(self.s, |stretch, (lo, hi)| {
            let own = group.life.iter().find(|l| l.0 == stretch);
            own.is_some_and(|&(_, (from, to))| lo <= to && from <= hi)
        })
    }

    /// A root: skipped for a true reason, or placed by the rules.
    fn root(
        &mut self,
        id: MemLocId,
        row: &MemLocPlan,
        group: Option<&Group>,
        space: Space,
        limit: Option<u64>,
    ) -> Option<Put> {
        let loc = self.scope.loc(id);
        let me = (self.s as u32, id);
        let shared = group.filter(|g| g.fate == Fate::Shared);
        let skip = if loc.memory != MemoryType::Dram {
            Some(Skipped::NotDram)
        } else if loc.pin().is_some() {
            None
        } else if !self.candidate(id) {
            if shared.is_some() && row.address.is_some() && row.skipped.is_none() {
                None // Sync wrote the owner's address; `check_copies` compares it.
            } else {
                Some(Skipped::CallerOwned)
            }
        } else {
            match group.map(|g| g.fate) {
                None if self.scope.accesses.of_root(id).is_empty() => Some(Skipped::Unreferenced),
                Some(Fate::Untouched) => Some(Skipped::Unreferenced),
                Some(Fate::Local(only)) if only != me => Some(Skipped::FollowerUnused),
                _ => None,
            }
        };
        if let Some(reason) = skip {
            if row.address.is_some() {
                self.say("unexpected_address", id, || {
                    format!("it has an address, though it is {}", reason.name())
                });
            }
            if row.skipped != Some(reason) {
                let said = row.skipped.map_or("nothing", Skipped::name);
                self.say("wrong_skip", id, || {
                    format!("it is {}; the plan says {said}", reason.name())
                });
            }
            return None;
        }
        if let Some(reason) = row.skipped {
            self.say("wrong_skip", id, || {
                format!("the plan skips it as {}, which it is not", reason.name())
            });
        }
        if let Some(pin) = loc.pin() {
            if row.address != Some(pin) {
                self.say("moved_pin", id, || {
                    format!("pinned at {pin}, the plan has {:?}", row.address)
                });
            }
            return Some(self.pinned(id, pin, space));
        }
        let Some(start) = row.address else {
            self.say("unplaced", id, || {
                "it is used, yet it has no address".to_owned()
            }); // P10
            return None;
        };
        if shared.is_some_and(|g| g.pin.is_some()) || !self.candidate(id) {
            return None; // The group lies where its pin is.
        }
        self.placed(id, row, start, space, limit)
    }

    fn pinned(&self, id: MemLocId, pin: u64, space: Space) -> Put {
        Put {
            space,
            start: pin,
            end: pin + self.scope.loc(id).bytes, // The model refuses a pin past 64 bits.
            hold: hold(self.scope, id, space, self.options),
        }
    }

    fn placed(
        &mut self,
        id: MemLocId,
        row: &MemLocPlan,
        start: u64,
        space: Space,
        limit: Option<u64>,
    ) -> Option<Put> {
        let (scope, options) = (self.scope, self.options);
        let loc = scope.loc(id);
        let floor = self.floors.floor(space, scope.core);
        let usage = usage_of(scope, self.s, id, self.groups);
        let size = as_placed(loc.bytes, options);
        if u128::from(row.aligned) != size {
            self.say("wrong_size", id, || {
                format!(
                    "the plan gives it {} bytes as placed, it takes {size}",
                    row.aligned
                )
            });
        }
        if loc.bytes == 0 {
            if start != floor {
                self.say("zero_bytes", id, || {
                    format!("it has no bytes and lies at {start}, not at the floor {floor}") // L10
                });
            }
            return None;
        }
        let end = u128::from(start) + size;
        let Ok(end) = u64::try_from(end) else {
            self.say("out_of_range", id, || {
                format!("it ends at {end}, past 64 bits")
            });
            return None;
        };
        let unit = if options.packed { 1 } else { PAGE };
        let align = loc.align().or(options.align).unwrap_or(unit).max(unit);
        if !start.is_multiple_of(align) {
            self.say("misaligned", id, || {
                format!("{start} is not a multiple of {align}")
            });
        }
        if options.packed && loc.bytes <= PAGE && start / PAGE != (end - 1) / PAGE {
            self.say("straddles_page", id, || {
                format!("it lies across the page end in [{start}, {end})")
            }); // P3
        }
        if start < floor {
            self.say("below_floor", id, || {
                format!("{start} is below the floor {floor}")
            });
        }
        let mut regions = options
            .regions
            .iter()
            .filter(|r| r.space == space)
            .peekable();
        let has_regions = regions.peek().is_some();
        let fits = |r: &crate::options::SpaceRegion| {
            let to = r.region.base.saturating_add(r.region.size);
            r.region.base <= start && end <= to && r.region.usages.contains(usage)
        };
        if has_regions && !regions.any(fits) {
            self.say("outside_region", id, || {
                format!("[{start}, {end}) is in no one region for {usage}") // P6
            });
        }
        if space == Space::Shared && options.shared_mib_per_core > 0 {
            self.slab(id, start, end, floor);
        }
        if usage == Usage::Collective
            && let Some(limit) = limit
        {
            let base = region_base(self.scopes, self.s, id, self.groups, floor, options);
            let to = base + u128::from(limit);
            if u128::from(end) > to && !self.notes.mention(&scope.label(id)) {
                self.say("outside_collective_region", id, || {
                    format!("it ends at {end}, the region at {to}, and no note says so") // P5
                });
            }
        }
        Some(Put {
            space,
            start,
            end,
            hold: Hold::Placed,
        })
    }

    /// A shared group lies in the slab of its owner's core. // M6
    fn slab(&mut self, id: MemLocId, start: u64, end: u64, floor: u64) {
        let size = u128::from(self.options.shared_mib_per_core) << 20;
        let group = self
            .groups
            .of_member(self.s, id)
            .expect("shared locations have groups");
        let core = self.scopes[group.owner.0 as usize].core;
        let from = u128::from(floor) + size * u128::from(core);
        if u128::from(start) < from || u128::from(end) > from + size {
            self.say("outside_slab", id, || {
                format!(
                    "[{start}, {end}) is not in core {core}'s slab [{from}, {})",
                    from + size
                )
            });
        }
    }
}

/// When a root's bytes are taken. // L6b
pub(super) fn hold(scope: &Scope<'_>, id: MemLocId, space: Space, options: &Options) -> Hold {
    let loc = scope.loc(id);
    if loc.pin().is_none() {
        return Hold::Placed;
    }
    match loc.usage {
        Usage::Internal | Usage::Collective => Hold::Pinned,
        Usage::Input | Usage::Output if options.reuse_io && space != Space::Shared => Hold::Pinned,
        _ => Hold::Always,
    }
}

/// The life of what is taken all the time.
fn whole_function(scope: &Scope<'_>) -> (u32, u32) {
    let len = scope.function.instructions().len() as u32;
    (0, len.saturating_sub(1))
}

/// Whether runs are in order, each instant in one of them.
fn ascend(runs: &[Run]) -> bool {
    runs.windows(2).all(|w| w[0].1 < w[1].0)
}

/// Runs written in the one way of the lives.
fn joined(runs: &[Run]) -> Vec<Run> {
    let mut list = runs.to_vec();
    join(&mut list);
    list
}

/// What a location is for; a group is one thing on all cores.
pub(super) fn usage_of(scope: &Scope<'_>, s: usize, id: MemLocId, groups: &Groups) -> Usage {
    let shared = groups.of_member(s, id).filter(|g| g.fate == Fate::Shared);
    shared.map_or(scope.loc(id).usage, |group| group.usage)
}

/// Where the collective region of a location starts: at the floor, or at its slab. // P5, M6
pub(super) fn region_base(
    scopes: &[Scope<'_>],
    s: usize,
    id: MemLocId,
    groups: &Groups,
    floor: u64,
    options: &Options,
) -> u128 {
    let shared = groups.of_member(s, id).filter(|g| g.fate == Fate::Shared);
    let core = shared.map_or(0, |g| scopes[g.owner.0 as usize].core);
    let slab = u128::from(options.shared_mib_per_core) << 20;
    u128::from(floor) + slab * u128::from(core)
}

/// The limit of the collective region of each space of a function that has one. // P5
///
/// Computed limits are of the operands that may lie in the region: candidates. For the shared
/// space a computed limit is that of the core that needs most; which functions of the core it
/// counts is the planner's choice, so the plan's own figure is believed up to the sum of all.
pub(super) fn collective_limits(
    scopes: &[Scope<'_>],
    s: usize,
    groups: &Groups,
    options: &Options,
    pace: &mut Pace<'_, '_>,
) -> OrderedMap<Space, u64> {
    let scope = &scopes[s];
    let mut limits = OrderedMap::new();
    for id in scope.roots() {
        if pace.over(1) {
            break;
        }
        let candidate = scope.loc(id).is_candidate(options.usage_mask);
        if candidate && usage_of(scope, s, id, groups) == Usage::Collective {
            limits.insert(space_of(scope, s, id, groups), 0);
        }
    }
    // A region of the shared space is that of all cores' same-named functions.
    let told = scope
        .plan
        .and_then(|p| p.spaces.iter().find(|f| f.space == Space::Shared)?.cc);
    let collective = |g: &Group| g.fate == Fate::Shared && g.usage == Usage::Collective;
    if told.is_some() && groups.list.iter().any(collective) {
        limits.entry(Space::Shared).or_insert(0);
    }
    if options.cc_limit >= 0 {
        limits.retain(|_, limit| {
            *limit = (options.cc_limit as u64) << 20;
            *limit > 0
        });
        return limits;
    }
    for (&space, limit) in limits.iter_mut() {
        let own = operands(scope, s, space, groups, options, pace);
        *limit = pages(own);
        if space == Space::Shared {
            let mut of_core: OrderedMap<u32, u128> = OrderedMap::new();
            for (o, other) in scopes.iter().enumerate() {
                let own = operands(other, o, space, groups, options, pace);
                *of_core.entry(other.core).or_default() += own;
            }
            let most = pages(of_core.values().copied().max().unwrap_or(0));
            let told = scope
                .plan
                .and_then(|p| p.spaces.iter().find(|f| f.space == space)?.cc);
            if let Some(told) = told.filter(|cc| (*limit..=most).contains(&cc.limit)) {
                *limit = told.limit;
            }
        }
    }
    limits.retain(|_, limit| *limit > 0);
    limits
}

fn pages(bytes: u128) -> u64 {
    u64::try_from(bytes.next_multiple_of(PAGE.into())).unwrap_or(u64::MAX)
}

fn space_of(scope: &Scope<'_>, s: usize, id: MemLocId, groups: &Groups) -> Space {
    match groups.of_member(s, id).map(|g| g.fate) {
        Some(Fate::Shared) => Space::Shared,
        Some(Fate::Local(_)) => Space::Local,
        _ => scope.loc(id).space,
    }
}

/// The bytes of the collective operands of a function's collective instructions.
fn operands(
    scope: &Scope<'_>,
    s: usize,
    space: Space,
    groups: &Groups,
    options: &Options,
    pace: &mut Pace<'_, '_>,
) -> u128 {
    let mut sum = 0;
    for (i, instruction) in scope.function.instructions().iter().enumerate() {
        if pace.over(1) {
            break;
        }
        if instruction.kind != Kind::Collective {
            continue;
        }
        let index = FlatIndex::new(i);
        for access in scope
            .function
            .uses(index)
            .iter()
            .chain(scope.function.defs(index))
        {
            let root = scope.function.root(access.loc).0;
            let loc = scope.loc(root);
            if usage_of(scope, s, root, groups) == Usage::Collective
                && loc.is_candidate(options.usage_mask)
                && space_of(scope, s, root, groups) == space
            {
                sum += as_placed(loc.bytes, options);
            }
        }
    }
    sum
}
