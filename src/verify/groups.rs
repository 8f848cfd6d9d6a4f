//! Which locations of different cores are one: shared groups, their owners and their lives. // M
//!
//! A group is what links join, transitively, or what has one name in the same-named function and
//! no links. It is placed once; every member gets the address. // M5

use std::collections::BTreeMap;

use super::calls::Calls;
use super::epochs::{EpochRange, Epochs};
use super::findings::Findings;
use super::held::{Contexts, Runs};
use super::scope::Scope;
use crate::ir::{Function, MemLocId, MemoryType, Module, Space, Usage};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::sorting::CompactSort as _;

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
    /// The cores on which its bytes must be free, ascending. // M7
    pub reach: Vec<u32>,
    /// The host's address, if a member has one.
    pub pin: Option<u64>,
    /// `collective` if a member is, else the owner's.
    pub usage: Usage,
    /// By entry function: from the first epoch to the last in which a core touches it. // M4
    pub life: Vec<(u32, EpochRange)>,
}

/// All groups of a program.
pub(super) struct Groups {
    pub list: Vec<Group>,
    pub timing: Timing,
    of: Vec<Vec<u32>>, // By scope, then id: position + 1 in `list`; 0 for none.
}

/// Says of a root whether the host wants it shared although it does not say so itself. // M1
pub type Predicate<'p> = &'p dyn Fn(&Module, &Function, MemLocId) -> bool;

impl Groups {
    /// Finds the groups and says what is wrong with them.
    pub fn of(
        scopes: &[Scope<'_>],
        calls: &Calls,
        wanted: Option<Predicate<'_>>,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Groups {
        let shared = |scope: &Scope<'_>, id: MemLocId| {
            let loc = scope.loc(id);
            let wants = |w: Predicate<'_>| w(scope.module, scope.function, id);
            let said = loc.space == Space::Shared || wanted.is_some_and(wants);
            said && !loc.is_view() && loc.memory == MemoryType::Dram
        };
        let mut join = Join::new(scopes);
        let linked = join.links(scopes, findings, pace);
        join.names(scopes, &shared, pace);
        let mut by_root: OrderedMap<usize, Vec<Member>> = OrderedMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                let member = (s as u32, id);
                if pace.over(1) {
                    break;
                }
                let shared = shared(scope, id) || linked.contains_key(&member);
                if shared && scope.loc(id).space != Space::Debug {
                    let root = join.find(join.number(member));
                    by_root.entry(root).or_default().push(member);
                }
            }
        }
        let mut groups = Groups {
            list: Vec::new(),
            timing: Timing::of(scopes, calls, pace),
            of: scopes
                .iter()
                .map(|s| vec![0; s.function.memlocs().len()])
                .collect(),
        };
        for (_, mut members) in by_root {
            // Members are sorted, held against each other, listed.
            if pace.over(10 * members.len()) {
                break;
            }
            members.sort_compact_by_key(|&(s, id)| (scopes[s as usize].core, s, id));
            for &(s, id) in &members {
                groups.of[s as usize][id.index()] = groups.list.len() as u32 + 1;
            }
            groups.list.push(group(scopes, members, &linked, findings));
        }
        groups.live(scopes, calls, pace);
        groups.timing.check(scopes, &groups.list, findings);
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
type Linked = OrderedMap<Member, bool>;

fn group(
    scopes: &[Scope<'_>],
    members: Vec<Member>,
    linked: &Linked,
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
    let usage = match members.iter().any(|&m| loc(m).usage == Usage::Collective) {
        true => Usage::Collective,
        false => loc(owner).usage,
    };
    let pin = members.iter().find_map(|&m| loc(m).pin());
    let explicit = (members.iter()).flat_map(|&(s, id)| scopes[s as usize].function.reach(id));
    let mut reach: Vec<u32> = explicit.copied().collect();
    let stays = usage == Usage::Collective || !reach.is_empty();
    reach.extend(members.iter().map(|m| scopes[m.0 as usize].core));
    reach.sort_unstable();
    reach.dedup();
    let fate = match touching[..] {
        _ if pin.is_some() => Fate::Shared,
        [] => Fate::Untouched,
        [only] if !stays => Fate::Local(only),
        _ => Fate::Shared,
    };
    Group {
        members,
        owner,
        fate,
        reach,
        pin,
        usage,
        life: Vec::new(),
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
        if let (Some(a), Some(b)) = (loc(owner).pin(), loc(member).pin())
            && a != b
        {
            say(findings, owner, member, "are pinned at different addresses");
        }
    }
}

/// The epochs of every function, and the stretches of time that cores have in common.
pub(super) struct Timing {
    /// By scope; callees' barriers included.
    pub epochs: Vec<Epochs>,
    /// Of an entry function: its number among the names of entry functions.
    stretch: Vec<Option<u32>>,
    /// The entry functions' names.
    pub names: Vec<String>,
    contexts: Contexts,
    /// By scope: instructions in a row that may run in the same epochs.
    steps: Vec<Vec<((u32, u32), EpochRange)>>,
}

impl Timing {
    fn of(scopes: &[Scope<'_>], calls: &Calls, pace: &mut Pace<'_, '_>) -> Timing {
        let mut epochs: Vec<Option<Epochs>> = scopes.iter().map(|_| None).collect();
        for &s in calls.callers_first.iter().rev() {
            let mut at: OrderedMap<u32, u32> = OrderedMap::new(); // Call to callee.
            for (&callee, indices) in &calls.of[s as usize] {
                at.extend(indices.iter().map(|&i| (i, callee)));
            }
            let callee = |i: u32| at.get(&i).and_then(|&c| epochs[c as usize].as_ref());
            let function = scopes[s as usize].function;
            epochs[s as usize] = Some(Epochs::of(function, callee, pace));
        }
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            if calls.is_entry(s) {
                let next = numbers.len() as u32;
                numbers.entry(scope.function.name()).or_insert(next);
            }
        }
        let mut names = vec![String::new(); numbers.len()];
        numbers
            .iter()
            .for_each(|(name, &n)| names[n as usize] = (*name).to_owned());
        let stretch = |s: usize| {
            calls
                .is_entry(s)
                .then(|| numbers[scopes[s].function.name()])
        };
        let epochs: Vec<Epochs> = epochs
            .into_iter()
            .map(|e| e.expect("every scope is in the order"))
            .collect();
        let contexts = Contexts::of(
            calls,
            stretch,
            |s, i| epochs[s].at(i),
            |s, i| epochs[s].cycles(i),
        );
        let mut steps_of = Vec::with_capacity(scopes.len());
        for (scope, epochs) in scopes.iter().zip(&epochs) {
            let mut steps: Vec<((u32, u32), EpochRange)> = Vec::new();
            for i in 0..scope.function.instructions().len() as u32 {
                if pace.over(1) {
                    break;
                }
                match steps.last_mut() {
                    Some((run, range)) if *range == epochs.at(i) => run.1 = i,
                    _ => steps.push(((i, i), epochs.at(i))),
                }
            }
            steps_of.push(steps);
        }
        Timing {
            steps: steps_of,
            stretch: (0..scopes.len()).map(stretch).collect(),
            epochs,
            names,
            contexts,
        }
    }

    /// The instructions of a scope that may run at a time for which `meets` holds, given an entry
    /// function and some epochs of it.
    pub fn when(&self, scope: usize, meets: impl Fn(u32, EpochRange) -> bool) -> Runs {
        let mut runs: Runs = Vec::new();
        for &((first, last), range) in &self.steps[scope] {
            if !self.contexts.any(scope, range, &meets) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.1 + 1 == first => run.1 = last,
                _ => runs.push((first, last)),
            }
        }
        runs
    }

    /// The number of an entry function.
    pub fn stretch(&self, scope: usize) -> Option<u32> {
        self.stretch[scope]
    }

    /// All cores pass the same barriers, or their epochs mean different things. // M4
    fn check(&self, scopes: &[Scope<'_>], groups: &[Group], findings: &mut Findings) {
        let mut crossed = vec![false; self.names.len()];
        for group in groups.iter().filter(|g| g.members.len() > 1) {
            group.life.iter().for_each(|l| crossed[l.0 as usize] = true);
        }
        let mut first: OrderedMap<u32, usize> = OrderedMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            let stretch = self.stretch[s].filter(|&n| crossed[n as usize]);
            let Some(stretch) = stretch else { continue };
            let lead = *first.entry(stretch).or_insert(s);
            let (ours, theirs) = (&self.epochs[s], &self.epochs[lead]);
            if let Some(block) = ours.uneven {
                findings.say("bad_barriers", scope.at(), || {
                    format!(
                        "block {block} is reached, or left, after different numbers of barriers"
                    )
                });
            }
            if ours.last != theirs.last {
                let core = scopes[lead].core;
                findings.say("bad_barriers", scope.at(), || {
                    format!(
                        "it passes {} barriers, and {} on core {core}",
                        ours.last, theirs.last
                    )
                });
            }
            let differs = ours.ids.iter().find(|(at, ids)| {
                let others = theirs.ids.get(at).into_iter().flatten();
                let mut all = ids.iter().chain(others);
                let one = all.next();
                all.any(|id| Some(id) != one)
            });
            if let Some((&at, _)) = differs {
                findings.say("bad_barriers", scope.at(), || {
                    format!("barrier {at} has different ids on different paths or cores")
                });
            }
        }
    }
}

impl Groups {
    /// Finds when each group is touched, callees' accesses counting at the calls. // M4
    fn live(&mut self, scopes: &[Scope<'_>], calls: &Calls, pace: &mut Pace<'_, '_>) {
        // Of each scope: the epochs, from its own entry, in which it or a callee touches a group.
        let mut within: Vec<OrderedMap<u32, EpochRange>> = vec![OrderedMap::new(); scopes.len()];
        let hull = |map: &mut OrderedMap<u32, EpochRange>, g: u32, (lo, hi): EpochRange| {
            let range = map.entry(g).or_insert((lo, hi));
            *range = (range.0.min(lo), range.1.max(hi));
        };
        for &s in calls.callers_first.iter().rev() {
            let (scope, epochs) = (&scopes[s as usize], &self.timing.epochs[s as usize]);
            let mut own = OrderedMap::new();
            for id in scope.roots() {
                if pace.over(1) {
                    break;
                }
                let Some(g) = self.position(s as usize, id) else {
                    continue;
                };
                if pace.over(10 * scope.accesses.of_root(id).len()) {
                    break;
                }
                for touch in scope.accesses.of_root(id) {
                    hull(&mut own, g as u32, epochs.at(touch.index));
                }
            }
            for (&callee, indices) in &calls.of[s as usize] {
                for &i in indices {
                    let (lo, hi) = epochs.at(i);
                    if pace.over(10 * within[callee as usize].len()) {
                        break;
                    }
                    for (&g, &(from, to)) in &within[callee as usize] {
                        let range = match epochs.cycles(i) {
                            true => (lo, hi),
                            false => (lo + from, lo + to),
                        };
                        hull(&mut own, g, range);
                    }
                }
            }
            within[s as usize] = own;
        }
        let mut lives: Vec<OrderedMap<u32, EpochRange>> = vec![OrderedMap::new(); self.list.len()];
        let mut lasts = vec![0; self.timing.names.len()];
        for (s, touched) in within.iter().enumerate() {
            let Some(stretch) = self.timing.stretch(s) else {
                continue;
            };
            let last = &mut lasts[stretch as usize];
            *last = self.timing.epochs[s].last.max(*last);
            for (&g, &range) in touched {
                hull(&mut lives[g as usize], stretch, range);
            }
        }
        for (group, life) in self.list.iter_mut().zip(lives) {
            let kept = group
                .members
                .iter()
                .any(|&(s, id)| scopes[s as usize].kept(id));
            group.life = life.into_iter().collect();
            if kept {
                group
                    .life
                    .iter_mut()
                    .for_each(|(n, range)| *range = (0, lasts[*n as usize]));
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
    fn links(
        &mut self,
        scopes: &[Scope<'_>],
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Linked {
        let mut linked = Linked::new();
        let mut at: BTreeMap<(u32, &str), u32> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            at.insert((scope.core, scope.function.name()), s as u32);
        }
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                if pace.over(1) {
                    break;
                }
                let Some(remote) = scope.function.remote(id) else {
                    continue;
                };
                if pace.over(10) {
                    break;
                }
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
    fn names(
        &mut self,
        scopes: &[Scope<'_>],
        shared: &impl Fn(&Scope<'_>, MemLocId) -> bool,
        pace: &mut Pace<'_, '_>,
    ) {
        let mut first: BTreeMap<(&str, &str), Member> = BTreeMap::new();
        for (s, scope) in scopes.iter().enumerate() {
            for id in scope.function.memloc_ids() {
                let f = scope.function;
                if pace.over(1) {
                    break;
                }
                let name = f.memloc_name(id);
                if !shared(scope, id) || f.remote(id).is_some() || name.is_empty() {
                    continue;
                }
                let member = (s as u32, id);
                if pace.over(10) {
                    break;
                }
                let other = *first.entry((f.name(), name)).or_insert(member);
                self.join(other, member);
            }
        }
    }
}
