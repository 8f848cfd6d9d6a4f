//! Which locations of different cores are one buffer. // M1, M5
//!
//! Links run from follower to owner within same-named functions and are closed transitively;
//! unlinked locations of the `shared` space with one function and name belong together as well.
//! A group lives or dies as a whole: touched by no core it is skipped, by one it becomes that
//! core's own, by more it is one buffer with one address.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use crate::error::{Error, Place, Result};
use crate::ir::{
    FlatIndex, Function, MemLoc, MemLocId, MemoryType, Module, Space, Usage, UsageMask,
};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

/// A location by position: module, function, id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The module's position.
    pub module: u32,
    /// The function's position in it.
    pub function: u32,
    /// The root.
    pub loc: MemLocId,
}

impl Member {
    /// A root of a function of a module, by positions.
    pub(crate) fn new(module: usize, function: usize, loc: MemLocId) -> Member {
        Member {
            module: module as u32,
            function: function as u32,
            loc,
        }
    }
}

/// What becomes of a group. // M1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No core touches it: skipped everywhere.
    Unreferenced,
    /// One member alone touches it and keeps it in its own space.
    Local(Member),
    /// Not a candidate and without an address: never placed.
    CallerOwned,
    /// One address for every member.
    Shared,
}

/// Locations that are one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The member that is placed.
    pub owner: Member,
    /// Every member, ascending by core.
    pub members: Vec<Member>,
    /// The cores that must agree on the address, ascending. // M7
    pub reach: Vec<u32>,
    /// Bytes of each member.
    pub bytes: u64,
    /// The strictest alignment that a member declares.
    pub align: Option<u64>,
    /// The host's address, if a member has one.
    pub pin: Option<u64>,
    /// `collective` if any member is.
    pub usage: Usage,
    /// Whether some member escapes or is an output.
    pub escapes: bool,
    /// What becomes of it.
    pub fate: Fate,
}

/// The groups of a program, by owner's (core, function, location).
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Every group, also those that are not placed.
    pub all: Vec<Group>,
    /// Choices that a person should know of.
    pub notes: Vec<String>,
    of_member: Numbers,
}

/// Says of a root whether the host wants it shared although it does not say so itself. // M1
pub type Predicate<'a> = &'a dyn Fn(&Module, &Function, MemLocId) -> bool;

impl Groups {
    /// The groups of a program.
    ///
    /// # Errors
    ///
    /// A link that leads nowhere, two members on one core, unequal bytes, different pins; each
    /// names both sides.
    pub fn of(
        modules: &[Module],
        candidates: UsageMask,
        predicate: Option<Predicate<'_>>,
    ) -> Result<Groups> {
        Groups::unless(modules, candidates, predicate, &mut Pace::free())
    }

    /// The same, unless the host stops it. // S2
    pub(crate) fn unless(
        modules: &[Module],
        candidates: UsageMask,
        predicate: Option<Predicate<'_>>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Groups> {
        let modules: Vec<&Module> = modules.iter().collect();
        Groups::among(&modules, candidates, predicate, pace)
    }

    /// The groups of modules that may belong to different programs, as for [`Groups::of`].
    pub(crate) fn among(
        modules: &[&Module],
        candidates: UsageMask,
        predicate: Option<Predicate<'_>>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Groups> {
        one_module_per_core(modules)?;
        let roots = SharedRoots::of(modules, predicate, pace)?;
        let sets = roots.join(modules, pace)?;
        let mut groups = Groups::default();
        let facts = facts(modules, &roots.members, pace)?;
        for set in sets {
            pace.work(1 + set.len())?;
            let (group, note) = group(modules, candidates, &roots, &facts, set)?;
            groups.notes.extend(note);
            groups.all.push(group);
        }
        let key = |g: &Group| {
            let (module, function) = home(modules, g.owner);
            let name = function.memloc_name(g.owner.loc);
            (module.core(), function.name(), name)
        };
        groups.all.sort_compact_by(|a, b| key(a).cmp(&key(b)));
        groups.of_member = roots.numbers;
        for (i, group) in groups.all.iter().enumerate() {
            for &member in &group.members {
                groups.of_member.set(member, i as u32);
            }
        }
        Ok(groups)
    }

    /// The position in `all` of a root's group, if it has one.
    pub fn position(&self, member: Member) -> Option<usize> {
        self.of_member.get(member)
    }

    /// The group of a root, if it has one.
    pub fn find(&self, member: Member) -> Option<&Group> {
        self.position(member).map(|i| &self.all[i])
    }

    /// The groups that get one address, in owner order. // M10
    pub fn placed(&self) -> impl Iterator<Item = &Group> {
        self.all.iter().filter(|group| group.fate == Fate::Shared)
    }

    /// Where a location ends up. // M1
    pub fn final_space(&self, member: Member, loc: &MemLoc) -> Space {
        match self.find(member) {
            Some(Group {
                fate: Fate::Local(user),
                ..
            }) if *user == member => Space::Local,
            Some(_) if loc.space != Space::Debug => Space::Shared,
            _ => loc.space,
        }
    }
}

/// Modules of different programs may claim one core; within a program they cannot. // M5
fn one_module_per_core(modules: &[&Module]) -> Result<()> {
    let mut by_core: Vec<&Module> = modules.to_vec();
    by_core.sort_compact_by_key(|module| module.core());
    for pair in by_core.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if a.core() == b.core() {
            let reason = format!("{:?} and {:?} are of one core", a.name(), b.name());
            return Err(Error::invalid("modules", reason).on_core(b.core()));
        }
    }
    Ok(())
}

/// The module and the function of a member.
pub(crate) fn home<M: Borrow<Module>>(modules: &[M], member: Member) -> (&Module, &Function) {
    let module = modules[member.module as usize].borrow();
    (module, &module.functions()[member.function as usize])
}

fn loc_of<'a>(modules: &'a [&Module], member: Member) -> &'a MemLoc {
    home(modules, member).1.memloc(member.loc)
}

/// A number for each root of the functions that hold a member: found in one step, for there may be
/// very many members.
#[derive(Clone, Debug, Default)]
struct Numbers(Vec<Vec<Vec<u32>>>);

impl Numbers {
    const NONE: u32 = u32::MAX;

    fn get(&self, member: Member) -> Option<usize> {
        let of_function = self.0.get(member.module as usize)?;
        let of_loc = of_function.get(member.function as usize)?;
        let number = of_loc.get(member.loc.index()).copied()?;
        (number != Numbers::NONE).then_some(number as usize)
    }

    fn set(&mut self, member: Member, number: u32) {
        self.0[member.module as usize][member.function as usize][member.loc.index()] = number;
    }

    /// Numbers a root, if it has none, in a function of so many locations.
    fn mark(&mut self, member: Member, locs: usize) {
        let of_loc = &mut self.0[member.module as usize][member.function as usize];
        if of_loc.is_empty() {
            of_loc.resize(locs, Numbers::NONE);
        }
        of_loc[member.loc.index()] = 0;
    }
}

/// Every root that is shared, linked, or the target of a link.
struct SharedRoots {
    /// Ascending; a position is a member's number.
    members: Vec<Member>,
    numbers: Numbers,
    /// By number: whether it follows another one, by link.
    follows: Vec<bool>,
    /// Those that are shared by their own word or the host's, and not linked.
    unlinked: Vec<Member>,
    /// Ascending by follower; `None`: the target does not exist.
    links: Vec<(Member, Option<Member>)>,
}

impl SharedRoots {
    fn of(
        modules: &[&Module],
        predicate: Option<Predicate<'_>>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<SharedRoots> {
        let by_core: OrderedMap<u32, usize> = (modules.iter().enumerate())
            .map(|(m, module)| (module.core(), m))
            .collect();
        let empty = |module: &&Module| vec![Vec::new(); module.functions().len()];
        let mut roots = SharedRoots {
            members: Vec::new(),
            numbers: Numbers(modules.iter().map(empty).collect()),
            follows: Vec::new(),
            unlinked: Vec::new(),
            links: Vec::new(),
        };
        for (m, module) in modules.iter().enumerate() {
            for (f, function) in module.functions().iter().enumerate() {
                // Of the core that the last link named: the function there.
                let mut there: Option<(u32, Option<(usize, usize)>)> = None;
                for loc in function.memloc_ids() {
                    pace.work(1)?;
                    let declared = function.memloc(loc);
                    if declared.is_view() || declared.memory != MemoryType::Dram {
                        continue;
                    }
                    let member = Member {
                        module: m as u32,
                        function: f as u32,
                        loc,
                    };
                    let remote = function.remote(loc);
                    if let Some(remote) = remote {
                        let at = match there {
                            Some((core, at)) if core == remote.core => at,
                            _ => by_core.get(&remote.core).and_then(|&m| {
                                Some((m, modules[m].find_function(function.name())?))
                            }),
                        };
                        there = Some((remote.core, at));
                        let target = at.and_then(|(m, f)| {
                            let function = &modules[m].functions()[f];
                            let target = Member {
                                module: m as u32,
                                function: f as u32,
                                loc: function.find_memloc(&remote.name)?,
                            };
                            roots.numbers.mark(target, function.memlocs().len());
                            Some(target)
                        });
                        roots.links.push((member, target));
                    } else if declared.space == Space::Shared
                        || predicate.is_some_and(|wants| wants(module, function, loc))
                    {
                        roots.unlinked.push(member);
                    } else {
                        continue;
                    }
                    roots.numbers.mark(member, function.memlocs().len());
                }
            }
        }
        roots.number();
        Ok(roots)
    }

    /// Numbers the marked roots in their order.
    fn number(&mut self) {
        for (m, functions) in self.numbers.0.iter_mut().enumerate() {
            for (f, locs) in functions.iter_mut().enumerate() {
                let marked = locs.iter_mut().enumerate();
                for (loc, number) in marked.filter(|(_, n)| **n != Numbers::NONE) {
                    *number = self.members.len() as u32;
                    self.members.push(Member {
                        module: m as u32,
                        function: f as u32,
                        loc: MemLocId::new(loc),
                    });
                }
            }
        }
        self.follows.resize(self.members.len(), false);
        for &(member, _) in &self.links {
            self.follows[self.numbers.get(member).expect("marked")] = true;
        }
    }

    fn follows(&self, member: Member) -> bool {
        self.numbers.get(member).is_some_and(|n| self.follows[n])
    }

    /// The sets that the links and the names join; each ascending, by their first members.
    fn join(&self, modules: &[&Module], pace: &mut Pace<'_, '_>) -> Result<Vec<Vec<Member>>> {
        let mut sets = Sets::new(self.members.len());
        let number = |member: Member| self.numbers.get(member).expect("marked");
        let mut named: BTreeMap<(&str, &str), Member> = BTreeMap::new();
        for &member in &self.unlinked {
            pace.work(1)?;
            let function = home(modules, member).1;
            let name = function.memloc_name(member.loc);
            if !name.is_empty() {
                let first = *named.entry((function.name(), name)).or_insert(member);
                sets.join(number(first), number(member));
            }
        }
        for &(member, target) in &self.links {
            pace.work(1)?;
            let other = target.ok_or_else(|| no_target(modules, member))?;
            let root = home(modules, other).1.memloc(other.loc);
            if root.is_view() || root.memory != MemoryType::Dram {
                let reason = format!("its target {} is not a DRAM root", describe(modules, other));
                return Err(both_sides(modules, other, member, reason));
            }
            sets.join(number(member), number(other));
        }
        Ok(sets.into_sets(&self.members))
    }
}

/// A link that leads nowhere; names both ends. // M5
fn no_target(modules: &[&Module], member: Member) -> Error {
    let function = home(modules, member).1;
    let remote = function.remote(member.loc).expect("it is a link");
    let there = modules.iter().find(|m| m.core() == remote.core);
    let what = match there {
        None => format!("core {} does not exist", remote.core),
        Some(m) if m.find_function(function.name()).is_none() => {
            format!("core {} has no function {}", remote.core, function.name())
        }
        Some(_) => format!("core {} has no location {:?}", remote.core, remote.name),
    };
    let reason = format!(
        "its target {:?} on core {}: {what}",
        remote.name, remote.core
    );
    let there = Place {
        core: Some(remote.core),
        function: Some(function.name().to_owned()),
        location: Some(remote.name.clone()),
        ..Place::default()
    };
    named_error(modules, member, Error::invalid("remote", reason)).beside(there)
}

/// A set of members as a group, once it is certain that they agree.
fn group(
    modules: &[&Module],
    candidates: UsageMask,
    roots: &SharedRoots,
    facts: &OrderedMap<(u32, u32), Facts>,
    mut members: Vec<Member>,
) -> Result<(Group, Option<String>)> {
    members.sort_compact_by_key(|&m| (home(modules, m).0.core(), m));
    let pinned = agree(modules, &members)?;
    let first = members[0];
    let sink = members.iter().copied().find(|&m| !roots.follows(m));
    let owner = sink.unwrap_or(first);
    let note = sink.is_none().then(|| {
        format!(
            "{}: its links form a cycle; the lowest core owns it",
            describe(modules, owner)
        )
    });
    let explicit: Vec<u32> = members
        .iter()
        .flat_map(|&m| home(modules, m).1.reach(m.loc).iter().copied())
        .collect();
    let mut reach: Vec<u32> = members.iter().map(|&m| home(modules, m).0.core()).collect();
    reach.extend(&explicit);
    reach.sort_unstable();
    reach.dedup();
    let usage = members
        .iter()
        .map(|&m| loc_of(modules, m).usage)
        .find(|&u| u == Usage::Collective)
        .unwrap_or(loc_of(modules, owner).usage);
    let facts_of = |m: &Member| &facts[&(m.module, m.function)];
    let touching: Vec<Member> = members
        .iter()
        .copied()
        .filter(|m| facts_of(m).touched[m.loc.index()])
        .collect();
    let must_share = usage == Usage::Collective || !explicit.is_empty();
    let fate = match touching[..] {
        _ if pinned.is_none() && !candidates.contains(usage) => Fate::CallerOwned,
        [] if pinned.is_none() => Fate::Unreferenced,
        [only] if !must_share && pinned.is_none() => Fate::Local(only),
        _ => Fate::Shared,
    };
    let group = Group {
        owner,
        reach,
        bytes: loc_of(modules, owner).bytes,
        align: members
            .iter()
            .filter_map(|&m| loc_of(modules, m).align())
            .max(),
        pin: pinned.and_then(|m| loc_of(modules, m).pin()),
        usage,
        escapes: members.iter().any(|m| facts_of(m).escapes[m.loc.index()]),
        fate,
        members,
    };
    Ok((group, note))
}

/// Whether members agree on bytes and pins, one per core; returns one that is pinned, if any. // M5
fn agree(modules: &[&Module], members: &[Member]) -> Result<Option<Member>> {
    let first = members[0];
    let mismatch = |a: Member, b: Member, what: &str| {
        let reason = format!(
            "{what} of {} and {} differ",
            describe(modules, a),
            describe(modules, b)
        );
        both_sides(modules, a, b, reason)
    };
    for pair in members.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if a.module == b.module {
            let reason = format!(
                "{} and {} are two members of one group on one core",
                describe(modules, a),
                describe(modules, b)
            );
            return Err(both_sides(modules, a, b, reason));
        }
    }
    let pinned = members
        .iter()
        .copied()
        .find(|&m| loc_of(modules, m).pin().is_some());
    for &member in &members[1..] {
        let (a, b) = (loc_of(modules, first), loc_of(modules, member));
        if a.bytes != b.bytes {
            let what = format!("the bytes ({} and {})", a.bytes, b.bytes);
            return Err(mismatch(first, member, &what));
        }
    }
    for &member in members {
        if let (Some(pinned), Some(pin)) = (pinned, loc_of(modules, member).pin())
            && loc_of(modules, pinned).pin() != Some(pin)
        {
            return Err(mismatch(pinned, member, "the pinned addresses"));
        }
    }
    Ok(pinned)
}

/// What a function does with its roots, by `MemLocId`.
#[derive(Default)]
struct Facts {
    /// Some instruction accesses it, also through a view or by binding it to a call.
    touched: Vec<bool>,
    /// It, or a view of it, is live at the exits. // L6
    escapes: Vec<bool>,
}

impl Facts {
    fn of(function: &Function, pace: &mut Pace<'_, '_>) -> Result<Facts> {
        let mut touched = vec![false; function.memlocs().len()];
        let mut escapes = touched.clone();
        for t in (0..function.instructions().len()).map(FlatIndex::new) {
            let (uses, defs) = (function.uses(t), function.defs(t));
            pace.work(1 + uses.len() + defs.len())?;
            let accesses = uses.iter().chain(defs).map(|a| a.loc);
            for loc in accesses.chain(function.args(t).iter().map(|a| a.caller)) {
                touched[function.root(loc).0.index()] = true;
            }
        }
        for id in function.memloc_ids() {
            pace.work(1)?;
            let loc = function.memloc(id);
            escapes[function.root(id).0.index()] |= loc.escapes() || loc.usage == Usage::Output;
        }
        Ok(Facts { touched, escapes })
    }
}

/// The facts of the functions that hold a member, by (module, function).
fn facts(
    modules: &[&Module],
    members: &[Member],
    pace: &mut Pace<'_, '_>,
) -> Result<OrderedMap<(u32, u32), Facts>> {
    let mut facts = OrderedMap::new();
    let same = |a: &Member, b: &Member| (a.module, a.function) == (b.module, b.function);
    for of_function in members.chunk_by(same) {
        let member = of_function[0];
        let of = Facts::of(home(modules, member).1, pace)?;
        facts.insert((member.module, member.function), of);
    }
    Ok(facts)
}

/// Disjoint sets of numbers, joined by union with path halving (Tarjan and van Leeuwen, *Worst-Case
/// Analysis of Set Union Algorithms*, 1984).
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn new(count: usize) -> Sets {
        Sets {
            parent: (0..count as u32).collect(),
        }
    }

    fn find(&mut self, number: usize) -> usize {
        let mut at = number;
        while self.parent[at] as usize != at {
            self.parent[at] = self.parent[self.parent[at] as usize];
            at = self.parent[at] as usize;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// The sets, each ascending, by their lowest numbers.
    fn into_sets(mut self, members: &[Member]) -> Vec<Vec<Member>> {
        let mut sets: Vec<Vec<Member>> = Vec::new();
        let mut of_root = vec![u32::MAX; members.len()];
        for (number, &member) in members.iter().enumerate() {
            let root = self.find(number); // The lowest of its set, so it has been seen.
            if root == number {
                of_root[root] = sets.len() as u32;
                sets.push(Vec::new());
            }
            sets[of_root[root] as usize].push(member);
        }
        sets
    }
}

fn describe(modules: &[&Module], member: Member) -> String {
    let (module, function) = home(modules, member);
    format!(
        "core {} {}/{}",
        module.core(),
        function.name(),
        function.label(member.loc)
    )
}

/// Two members that do not agree; the error's place is the second's. // M5
fn both_sides(modules: &[&Module], a: Member, b: Member, reason: String) -> Error {
    let (module, function) = home(modules, a);
    let there = Place {
        core: Some(module.core()),
        function: Some(function.name().to_owned()),
        location: Some(function.label(a.loc)),
        ..Place::default()
    };
    named_error(modules, b, Error::invalid("remote", reason)).beside(there)
}

fn named_error(modules: &[&Module], member: Member, error: Error) -> Error {
    let (module, function) = home(modules, member);
    let label = function.label(member.loc);
    error
        .on_core(module.core())
        .in_function(function.name())
        .at_location(&label)
}
