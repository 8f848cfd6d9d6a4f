//! The accesses of all cores to what they share, and when they run. // D3, M4

use std::collections::BTreeSet;

use crate::error::{Error, Fault, Result};
use crate::ir::{BlockId, FlatIndex, Function, Module, Program, Segment};
use crate::options::{Geometry, Options};
use crate::pace::Pace;
use crate::plan::{Plan, Site};
use crate::planner::CallGraph;
use crate::shared::{Fate, Groups, Member, Predicate, Timeline, home};

use super::races::{PlacedGroup, Race, SharedAccess, groups_that_meet_unless, races_unless};

/// The races of a program, as warnings with the group's name; see [`Race`]. // D3
///
/// `shared` is the predicate that the plan was made with. Groups without an address take part.
///
/// # Errors
///
/// Two groups that the plan puts on the same bytes in one epoch, and what is wrong with the
/// program's calls, links and barriers.
pub fn across_cores(
    program: &Program,
    plan: &Plan,
    options: &Options,
    shared: Option<Predicate<'_>>,
) -> Result<Vec<(String, Race)>> {
    across_cores_unless(program, plan, options, shared, &mut Pace::free())
}

/// As [`across_cores`], unless the host stops it. // S2
pub(crate) fn across_cores_unless(
    program: &Program,
    plan: &Plan,
    options: &Options,
    shared: Option<Predicate<'_>>,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<(String, Race)>> {
    let modules = program.modules();
    let groups = Groups::unless(modules, options.usage_mask, shared, pace)?;
    let calls = modules.iter().map(|module| CallGraph::of(module, pace));
    let calls: Vec<CallGraph> = calls.collect::<Result<_>>()?;
    let timeline = Timeline::of(modules, &calls, &groups, pace)?;

    let placed: Vec<PlacedGroup> = groups
        .placed()
        .filter_map(|group| {
            let Member {
                module,
                function,
                loc,
            } = group.owner;
            let functions = &plan.modules.get(module as usize)?.functions;
            let locs = &functions.get(function as usize)?.memlocs;
            let start = locs.get(loc.index())?.address?;
            Some(PlacedGroup {
                name: name(modules, group.owner),
                start,
                end: start.saturating_add(group.bytes),
                life: timeline.life(group),
                cores: match options.geometry {
                    Geometry::Split => Vec::new(), // One space for all cores.
                    Geometry::Unified => group.reach.clone(),
                },
            })
        })
        .collect();
    let meeting = groups_that_meet_unless(&placed, pace);
    pace.end()?;
    if let Some(&(a, b)) = meeting.first() {
        let (a, b) = (&placed[a], &placed[b]);
        let message = format!(
            "{} at {} to {} and {} at {} to {} share bytes in one epoch",
            a.name, a.start, a.end, b.name, b.start, b.end
        );
        return Err(Error::from(Fault::Violation(message)).at_location(&a.name));
    }

    let mut accesses = Vec::new();
    for (m, module) in modules.iter().enumerate() {
        let mut tour = Tour {
            m,
            module,
            calls: &calls[m],
            timeline: &timeline,
            groups: &groups,
            seen: BTreeSet::new(),
            accesses: &mut accesses,
        };
        for f in 0..module.functions().len() {
            if let Some(start) = timeline.start(m, f) {
                tour.function(f, When::From(start), pace);
            }
        }
    }
    let named = |race: Race| {
        let owner = groups.all[race.group as usize].owner;
        (name(modules, owner), race)
    };
    let found = races_unless(&accesses, pace);
    pace.end()?;
    Ok(found.into_iter().map(named).collect())
}

fn name(modules: &[Module], owner: Member) -> String {
    home(modules, owner).1.label(owner.loc)
}

/// When a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// Its first epoch is this one.
    From(u32),
    /// At some time in these: it is called in a cycle with barriers.
    Within(Segment),
}

/// Gathers the accesses of one module, callees where they are called.
struct Tour<'a> {
    m: usize,
    module: &'a Module,
    calls: &'a CallGraph,
    timeline: &'a Timeline,
    groups: &'a Groups,
    seen: BTreeSet<(usize, When)>,
    accesses: &'a mut Vec<SharedAccess>,
}

impl Tour<'_> {
    fn function(&mut self, f: usize, when: When, pace: &mut Pace<'_, '_>) {
        if !self.seen.insert((f, when)) {
            return;
        }
        let function = &self.module.functions()[f];
        let epochs = self.timeline.epochs(self.m, f);
        let runs = |t: FlatIndex| match when {
            When::Within(segment) => segment,
            When::From(start) => {
                let range = epochs.of_instruction[t.index()];
                let at = |epoch: u32| FlatIndex(start + epoch);
                Segment::new(at(range.first), at(range.last)).expect("a range")
            }
        };
        for t in (0..function.instructions().len()).map(FlatIndex::new) {
            if pace.over(1 + function.uses(t).len() + function.defs(t).len()) {
                return;
            }
            self.instruction(f, function, t, runs(t));
        }
        for site in self.calls.calls_of(f) {
            let inner = runs(site.index);
            let block = function.instructions()[site.index.index()].block;
            // The callee's own barriers count one after the other, unless a cycle makes one range
            // of all of them.
            let counts = inner.first() == inner.last()
                || matches!(when, When::From(_)) && !comes_back(function, block);
            let when = match counts {
                true => When::From(inner.first().0),
                false => When::Within(inner),
            };
            self.function(site.callee, when, pace);
        }
    }

    fn instruction(&mut self, f: usize, function: &Function, t: FlatIndex, epochs: Segment) {
        let uses = function.uses(t).iter().map(|a| (a, false));
        let defs = function.defs(t).iter().map(|a| (a, true));
        for (access, writes) in uses.chain(defs) {
            let (loc, base) = function.root(access.loc);
            let member = Member {
                module: self.m as u32,
                function: f as u32,
                loc,
            };
            let Some(group) = self.groups.position(member) else {
                continue;
            };
            if matches!(
                self.groups.all[group].fate,
                Fate::Shared | Fate::CallerOwned
            ) {
                let start = base + access.offset; // Inside the root.
                self.accesses.push(SharedAccess {
                    site: Site {
                        core: self.module.core(),
                        function: function.name().into(),
                        index: t.0,
                    },
                    group: group as u32,
                    start,
                    end: start + access.bytes,
                    writes,
                    epochs,
                });
            }
        }
    }
}

/// Whether control can come back to a block.
fn comes_back(function: &Function, block: BlockId) -> bool {
    let mut seen = vec![false; function.blocks().len()];
    let mut open = vec![block];
    while let Some(at) = open.pop() {
        for &succ in function.successors(at) {
            if succ == block {
                return true;
            }
            if !std::mem::replace(&mut seen[succ.index()], true) {
                open.push(succ);
            }
        }
    }
    false
}
