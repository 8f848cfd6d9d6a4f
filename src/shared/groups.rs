//! Which locations of different cores are one buffer. // M1, M5
//!
//! Links run from follower to owner within same-named functions and are closed transitively;
//! unlinked locations of the `shared` space with one function and name belong together as well.
//! A group lives or dies as a whole: touched by no core it is skipped, by one it becomes that
//! core's own, by more it is one buffer with one address.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::ir::{
    FlatIndex, Function, MemLoc, MemLocId, MemoryType, Module, Space, Usage, UsageMask,
};
use crate::ordered_map::OrderedMap;
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
    of_member: OrderedMap<Member, usize>,
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
        let members = shared_roots(modules, predicate);
        let mut sets = Sets::new(&members);
        link(modules, &members, predicate, &mut sets)?;
        let mut groups = Groups::default();
        let facts = facts(modules, &members);
        for set in sets.into_sets() {
            let (group, note) = group(modules, candidates, &facts, set)?;
            groups.notes.extend(note);
            groups.all.push(group);
        }
        let key = |g: &Group| {
            let (module, function) = home(modules, g.owner);
            let name = function.memloc_name(g.owner.loc);
            (module.core(), function.name(), name)
        };
        groups.all.sort_compact_by(|a, b| key(a).cmp(&key(b)));
        for (i, group) in groups.all.iter().enumerate() {
            groups
                .of_member
                .extend(group.members.iter().map(|&member| (member, i)));
        }
        Ok(groups)
    }

    /// The position in `all` of a root's group, if it has one.
    pub fn position(&self, member: Member) -> Option<usize> {
        self.of_member.get(&member).copied()
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

/// The module and the function of a member.
pub(crate) fn home(modules: &[Module], member: Member) -> (&Module, &Function) {
    let module = &modules[member.module as usize];
    (module, &module.functions()[member.function as usize])
}

fn loc_of(modules: &[Module], member: Member) -> &MemLoc {
    home(modules, member).1.memloc(member.loc)
}

/// Every root that is shared, linked, or the target of a link; ascending.
fn shared_roots(modules: &[Module], predicate: Option<Predicate<'_>>) -> Vec<Member> {
    let mut members = Vec::new();
    for (m, module) in modules.iter().enumerate() {
        for (f, function) in module.functions().iter().enumerate() {
            for loc in function.memloc_ids() {
                let declared = function.memloc(loc);
                if declared.is_view() || declared.memory != MemoryType::Dram {
                    continue;
                }
                let shared = declared.space == Space::Shared
                    || function.remote(loc).is_some()
                    || predicate.is_some_and(|wants| wants(module, function, loc));
                if shared {
                    members.push(Member {
                        module: m as u32,
                        function: f as u32,
                        loc,
                    });
                    if let Some(target) = target(modules, function, loc) {
                        members.push(target);
                    }
                }
            }
        }
    }
    members.sort_compact_by_key(|m| (m.module, m.function, m.loc));
    members.dedup();
    members
}

/// What a link points at, if it exists.
fn target(modules: &[Module], function: &Function, loc: MemLocId) -> Option<Member> {
    let remote = function.remote(loc)?;
    let m = modules
        .iter()
        .position(|module| module.core() == remote.core)?;
    let f = modules[m].find_function(function.name())?;
    let loc = modules[m].functions()[f].find_memloc(&remote.name)?;
    Some(Member {
        module: m as u32,
        function: f as u32,
        loc,
    })
}

/// Joins what the links and the names join.
fn link(
    modules: &[Module],
    members: &[Member],
    predicate: Option<Predicate<'_>>,
    sets: &mut Sets,
) -> Result<()> {
    let mut named: BTreeMap<(&str, &str), Member> = BTreeMap::new();
    for &member in members {
        let function = home(modules, member).1;
        let Some(remote) = function.remote(member.loc) else {
            let name = function.memloc_name(member.loc);
            let module = home(modules, member).0;
            let shared = function.memloc(member.loc).space == Space::Shared
                || predicate.is_some_and(|wants| wants(module, function, member.loc));
            if shared && !name.is_empty() {
                let first = *named.entry((function.name(), name)).or_insert(member);
                sets.join(first, member);
            }
            continue;
        };
        let other = target(modules, function, member.loc).ok_or_else(|| {
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
            named_error(modules, member, Error::invalid("remote", reason))
        })?;
        let root = home(modules, other).1.memloc(other.loc);
        if root.is_view() || root.memory != MemoryType::Dram {
            let reason = format!("its target {} is not a DRAM root", describe(modules, other));
            return Err(named_error(
                modules,
                member,
                Error::invalid("remote", reason),
            ));
        }
        sets.join(member, other);
    }
    Ok(())
}

/// A set of members as a group, once it is certain that they agree.
fn group(
    modules: &[Module],
    candidates: UsageMask,
    facts: &OrderedMap<(u32, u32), Facts>,
    mut members: Vec<Member>,
) -> Result<(Group, Option<String>)> {
    members.sort_compact_by_key(|&m| (home(modules, m).0.core(), m.module, m.function, m.loc));
    let pinned = agree(modules, &members)?;
    let first = members[0];
    let is_follower = |&m: &Member| home(modules, m).1.remote(m.loc).is_some();
    let sink = members.iter().copied().find(|m| !is_follower(m));
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
fn agree(modules: &[Module], members: &[Member]) -> Result<Option<Member>> {
    let first = members[0];
    let mismatch = |a: Member, b: Member, what: &str| {
        let reason = format!(
            "{what} of {} and {} differ",
            describe(modules, a),
            describe(modules, b)
        );
        named_error(modules, b, Error::invalid("remote", reason))
    };
    for pair in members.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if a.module == b.module {
            let reason = format!(
                "{} and {} are two members of one group on one core",
                describe(modules, a),
                describe(modules, b)
            );
            return Err(named_error(modules, b, Error::invalid("remote", reason)));
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
    fn of(function: &Function) -> Facts {
        let mut touched = vec![false; function.memlocs().len()];
        let mut escapes = touched.clone();
        for t in (0..function.instructions().len()).map(FlatIndex::new) {
            let accesses = function
                .uses(t)
                .iter()
                .chain(function.defs(t))
                .map(|a| a.loc);
            for loc in accesses.chain(function.args(t).iter().map(|a| a.caller)) {
                touched[function.root(loc).0.index()] = true;
            }
        }
        for id in function.memloc_ids() {
            let loc = function.memloc(id);
            escapes[function.root(id).0.index()] |= loc.escapes() || loc.usage == Usage::Output;
        }
        Facts { touched, escapes }
    }
}

/// The facts of the functions that hold a member, by (module, function).
fn facts(modules: &[Module], members: &[Member]) -> OrderedMap<(u32, u32), Facts> {
    let mut facts = OrderedMap::new();
    for &member in members {
        facts
            .entry((member.module, member.function))
            .or_insert_with(|| Facts::of(home(modules, member).1));
    }
    facts
}

/// Disjoint sets of members, joined by union with path halving (Tarjan and van Leeuwen, *Worst-Case
/// Analysis of Set Union Algorithms*, 1984).
struct Sets<'a> {
    members: &'a [Member], // Sorted.
    parent: Vec<usize>,
}

impl Sets<'_> {
    fn new(members: &[Member]) -> Sets<'_> {
        Sets {
            members,
            parent: (0..members.len()).collect(),
        }
    }

    fn find(&mut self, member: Member) -> usize {
        let mut at = self
            .members
            .binary_search(&member)
            .expect("links join members only");
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: Member, b: Member) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn into_sets(mut self) -> Vec<Vec<Member>> {
        let mut sets: OrderedMap<usize, Vec<Member>> = OrderedMap::new();
        for &member in self.members.iter() {
            sets.entry(self.find(member)).or_default().push(member);
        }
        sets.into_values().collect()
    }
}

fn describe(modules: &[Module], member: Member) -> String {
    let (module, function) = home(modules, member);
    format!(
        "core {} {}/{}",
        module.core(),
        function.name(),
        function.label(member.loc)
    )
}

fn named_error(modules: &[Module], member: Member, error: Error) -> Error {
    let (module, function) = home(modules, member);
    let label = function.label(member.loc);
    error
        .on_core(module.core())
        .in_function(function.name())
        .at_location(&label)
}
