//! Which locations of different cores are one: shared groups, their owners and their lives. // M
//!
//! A group is what links join, transitively, or what has one name in the same-named function and
//! no links. It is placed once; every member gets the address. // M5

use std::collections::BTreeMap;

use super::epochs::{EpochRange, Epochs};
use super::findings::Findings;
use super::scope::Scope;
use crate::ir::{MemLocId, Space, Usage};

/// A location of a scope: position in the list of scopes, id.
pub(super) type Member = (u32, MemLocId);

/// Where a group belongs in the end. // M1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// No core touches it: skipped everywhere.
    Untouched,
    /// One core touches it: local there, skipped elsewhere.
    Local(Member),
    /// Every member gets the address.
    Shared,
}

/// Locations of several cores with one storage.
pub(super) struct Group {
    /// By core, ascending.
    pub members: Vec<Member>,
    /// The member that is placed; the others follow it.
    pub owner: Member,
    pub fate: Fate,
    /// The host's address, if a member has one.
    pub pin: Option<u64>,
    /// From the first epoch to the last in which a core touches it; `None` if none does. // M4
    pub life: Option<EpochRange>,
}

/// All groups of a program.
pub(super) struct Groups {
    pub list: Vec<Group>,
    of: Vec<Vec<u32>>, // By scope, then id: position + 1 in `list`; 0 for none.
}

impl Groups {
    /// Finds the groups and says what is wrong with them.
    pub fn of(scopes: &[Scope<'_>], findings: &mut Findings) -> Groups {
        let mut join = Join::new(scopes);
        let linked = join.links(scopes, findings);
        join.names(scopes);
        let mut by_root: BTreeMap<usize, Vec<Member>> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                let loc = scope.function.memloc(id);
                let member = (s as u32, id);
                let shared = loc.space == Space::Shared || linked.contains_key(&member);
                if loc.view.is_none() && shared && loc.space != Space::Debug {
                    let root = join.find(join.number(member));
                    by_root.entry(root).or_default().push(member);
                }
            }
        }
        let mut groups = Groups {
            list: Vec::new(),
            of: scopes
                .iter()
                .map(|s| vec![0; s.function.memlocs().len()])
                .collect(),
        };
        let mut timing = Timing::default();
        for (_, mut members) in by_root {
            members.sort_unstable_by_key(|&(s, id)| (scopes[s as usize].core, s, id));
            for &(s, id) in &members {
                groups.of[s as usize][id.index()] = groups.list.len() as u32 + 1;
            }
            let group = group(scopes, members, &linked, &mut timing, findings);
            groups.list.push(group);
        }
        timing.check(scopes, findings);
        groups
    }

    /// The group of a location, if it is in one.
    pub fn of_member(&self, scope: usize, id: MemLocId) -> Option<&Group> {
        self.position(scope, id).map(|g| &self.list[g])
    }

    /// The position of the group of a location.
    pub fn position(&self, scope: usize, id: MemLocId) -> Option<usize> {
        (self.of[scope][id.index()] as usize).checked_sub(1)
    }
}

/// Whether a member follows another one, by link.
type Linked = BTreeMap<Member, bool>;

fn group(
    scopes: &[Scope<'_>],
    members: Vec<Member>,
    linked: &Linked,
    timing: &mut Timing,
    findings: &mut Findings,
) -> Group {
    let loc = |m: Member| scopes[m.0 as usize].function.memloc(m.1);
    let follows = |m: &Member| linked.get(m).copied().unwrap_or(false);
    let owner = members
        .iter()
        .find(|m| !follows(m))
        .copied()
        .unwrap_or(members[0]);
    check_members(scopes, &members, owner, findings);
    let touched = |m: &Member| !scopes[m.0 as usize].accesses.of_root(m.1).is_empty();
    let touching: Vec<Member> = members.iter().copied().filter(touched).collect();
    let stays = members.iter().any(|&m| {
        loc(m).usage == Usage::Collective
            || !scopes[m.0 as usize].function.reach(m.1).is_empty()
            || loc(m).pin.is_some()
    });
    let fate = match touching[..] {
        [] => Fate::Untouched,
        [only] if !stays => Fate::Local(only),
        _ => Fate::Shared,
    };
    let life = (fate == Fate::Shared).then(|| timing.life(scopes, &members));
    Group {
        pin: members.iter().find_map(|&m| loc(m).pin),
        members,
        owner,
        fate,
        life,
    }
}

/// What M5 calls errors of the program; a plan for one proves nothing.
fn check_members(scopes: &[Scope<'_>], members: &[Member], owner: Member, findings: &mut Findings) {
    let loc = |m: Member| scopes[m.0 as usize].function.memloc(m.1);
    let say = |findings: &mut Findings, a: Member, b: Member, what: &str| {
        let scope = &scopes[a.0 as usize];
        findings.add("bad_group", scope.at(), || {
            let names = vec![
                scopes[a.0 as usize].site(a.1),
                scopes[b.0 as usize].site(b.1),
            ];
            (names, format!("members of one shared group {what}"))
        });
    };
    for pair in members.windows(2) {
        if scopes[pair[0].0 as usize].core == scopes[pair[1].0 as usize].core {
            say(findings, pair[0], pair[1], "lie on one core");
        }
    }
    for &member in members {
        if loc(member).bytes != loc(owner).bytes {
            say(findings, owner, member, "have different sizes");
        }
        if let (Some(a), Some(b)) = (loc(owner).pin, loc(member).pin)
            && a != b
        {
            say(findings, owner, member, "are pinned at different addresses");
        }
    }
}

/// The epochs of the functions that hold groups, computed when first asked.
#[derive(Default)]
struct Timing {
    epochs: BTreeMap<u32, Epochs>,
    crossing: BTreeMap<u32, bool>, // Whether a group of the scope has members on other cores.
}

impl Timing {
    fn of(&mut self, scopes: &[Scope<'_>], scope: u32) -> &Epochs {
        let function = scopes[scope as usize].function;
        self.epochs
            .entry(scope)
            .or_insert_with(|| Epochs::of(function))
    }

    fn life(&mut self, scopes: &[Scope<'_>], members: &[Member]) -> EpochRange {
        let mut life: Option<EpochRange> = None;
        let mut kept = false;
        for &(s, id) in members {
            self.crossing.insert(s, members.len() > 1);
            let scope = &scopes[s as usize];
            kept |= scope.kept(id);
            let epochs = self.of(scopes, s);
            for touch in scope.accesses.of_root(id) {
                let (lo, hi) = epochs.at(touch.index);
                life = Some(life.map_or((lo, hi), |(a, z)| (a.min(lo), z.max(hi))));
            }
        }
        let last = members
            .iter()
            .map(|&(s, _)| self.of(scopes, s).last)
            .max()
            .unwrap_or(0);
        if kept {
            (0, last)
        } else {
            life.unwrap_or((0, last))
        }
    }

    /// All cores pass the same barriers, or their epochs mean different things. // M4
    fn check(&self, scopes: &[Scope<'_>], findings: &mut Findings) {
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (&s, &crossing) in &self.crossing {
            if crossing {
                by_name
                    .entry(scopes[s as usize].function.name())
                    .or_default()
                    .push(s);
            }
        }
        for list in by_name.values() {
            let first = &self.epochs[&list[0]];
            for &s in list {
                let (scope, epochs) = (&scopes[s as usize], &self.epochs[&s]);
                if let Some(block) = epochs.uneven {
                    findings.say("bad_barriers", scope.at(), || {
                        format!("block {block} is reached through different numbers of barriers")
                    });
                }
                if epochs.last != first.last {
                    let core = scopes[list[0] as usize].core;
                    let (here, there) = (epochs.last, first.last);
                    findings.say("bad_barriers", scope.at(), || {
                        format!("it passes {here} barriers, and {there} on core {core}")
                    });
                }
                let mut mine = epochs.ids.iter();
                let differs = mine.find(|(at, ids)| {
                    let theirs = first.ids.get(at).into_iter().flatten().flatten();
                    let all = ids.iter().flatten().chain(theirs);
                    all.clone().min() != all.max()
                });
                if let Some((&at, _)) = differs {
                    findings.say("bad_barriers", scope.at(), || {
                        format!("barrier {at} has different ids on different paths or cores")
                    });
                }
            }
        }
    }
}

/// Union by link and by name (Tarjan, *Efficiency of a good but not linear set union algorithm*,
/// 1975, with path halving).
struct Join {
    parent: Vec<usize>,
    base: Vec<usize>, // First number of each scope.
}

impl Join {
    fn new(scopes: &[Scope<'_>]) -> Join {
        let mut base = Vec::with_capacity(scopes.len());
        let mut total = 0;
        for scope in scopes {
            base.push(total);
            total += scope.function.memlocs().len();
        }
        Join {
            parent: (0..total).collect(),
            base,
        }
    }

    fn number(&self, member: Member) -> usize {
        self.base[member.0 as usize] + member.1.index()
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: Member, b: Member) {
        let (a, b) = (self.number(a), self.number(b));
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Follows the links; whoever takes part is in the answer, with whether it follows.
    fn links(&mut self, scopes: &[Scope<'_>], findings: &mut Findings) -> Linked {
        let mut linked = Linked::new();
        let mut at: BTreeMap<(u32, &str), u32> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            at.insert((scope.core, scope.function.name()), s as u32);
        }
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                let Some(remote) = scope.function.remote(id) else {
                    continue;
                };
                let owner = at
                    .get(&(remote.core, scope.function.name()))
                    .and_then(|&o| {
                        Some((o, scopes[o as usize].function.find_memloc(&remote.name)?))
                    });
                let Some(owner) = owner else {
                    findings.add("bad_group", scope.at(), || {
                        let (core, name) = (remote.core, &remote.name);
                        let message =
                            format!("it follows {name} of core {core}, which is not there");
                        (vec![scope.label(id)], message)
                    });
                    continue;
                };
                let owner = (owner.0, scopes[owner.0 as usize].function.root(owner.1).0);
                self.join((s as u32, id), owner);
                linked.insert((s as u32, id), true);
                linked.entry(owner).or_insert(false);
            }
        }
        linked
    }

    /// Joins shared locations without a link that have one name in one function. // M5
    fn names(&mut self, scopes: &[Scope<'_>]) {
        let mut first: BTreeMap<(&str, &str), Member> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                let (f, loc) = (scope.function, scope.function.memloc(id));
                let name = f.memloc_name(id);
                let plain = loc.space == Space::Shared && loc.view.is_none();
                if !plain || f.remote(id).is_some() || name.is_empty() {
                    continue;
                }
                let member = (s as u32, id);
                let other = *first.entry((f.name(), name)).or_insert(member);
                self.join(other, member);
            }
        }
    }
}
