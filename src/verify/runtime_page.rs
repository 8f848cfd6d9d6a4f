//! What a plan costs a runtime that hands out memory in pages, recomputed. // P7
//!
//! Bytes that are not all in one page, counted from address 0, cost as many again. This looks at
//! the first and the last page of each storage, and at each storage once.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::Facts;
use super::findings::{At, Findings};
use super::groups::Fate;
use super::locations::{Hold, Put};
use super::scope::Scope;
use crate::ir::{MemLocId, Space};
use crate::options::Geometry;
use crate::pace::Pace;
use crate::plan::{Plan, Straddler};
use crate::sorting::CompactSort as _;

/// A space and its core; no core for one that is everywhere.
type Range = (Space, Option<u32>);

/// Holds the list of straddlers and the figures against the addresses. Returns whether nothing
/// straddles but pins and what no page holds.
pub(super) fn check(
    facts: &Facts<'_, '_>,
    findings: &mut Findings,
    pace: &mut Pace<'_, '_>,
) -> bool {
    let plan = facts.plan;
    let page = plan.options.runtime_page_bytes();
    if page == 0 {
        if plan.straddlers.is_some() {
            findings.say("wrong_straddlers", At::default(), || {
                "the plan lists straddlers of a runtime page that is off".to_owned()
            });
        }
        return true;
    }
    let mut found = Vec::new();
    let mut reach: BTreeMap<Range, u64> = BTreeMap::new();
    let mut named: BTreeSet<(Option<u32>, Space, &str, u64, u64)> = BTreeSet::new();
    for (s, scope) in facts.scopes.iter().enumerate() {
        for id in scope.roots() {
            if pace.over(10) {
                break;
            }
            let put = facts.layout.put(s, id).filter(|put| put.start < put.end);
            let Some(put) = put.filter(|_| stands(facts, s, id)) else {
                continue;
            };
            let core = (put.space != Space::Shared).then_some(scope.core);
            let last_page = (put.end - 1) / page;
            for range in ranges(facts, s, id, &put) {
                let pages = reach.entry(range).or_default();
                *pages = (*pages).max(last_page + 1);
            }
            if put.start / page == last_page {
                continue;
            }
            let pinned = put.hold != Hold::Placed;
            let name = scope.function.memloc_name(id);
            let storage = (core, put.space, name, put.start, put.end);
            if pinned && !name.is_empty() && !named.insert(storage) {
                continue; // Several functions name one storage.
            }
            found.push(straddler(scope, id, &put, pinned));
        }
    }
    let sum = |wanted: &dyn Fn(&Straddler) -> bool| {
        let of = found.iter().filter(|s| wanted(s)).map(|s| s.bytes);
        of.fold(0u64, u64::saturating_add)
    };
    let unavoidable = |s: &Straddler| s.pinned || s.bytes > page;
    let figures = [
        (
            "runtime_pages",
            reach.values().fold(0u64, |sum, &n| sum.saturating_add(n)),
        ),
        ("runtime_private_bytes", sum(&|_| true)),
        ("runtime_unavoidable_bytes", sum(&unavoidable)),
        ("runtime_straddlers", found.len() as u64),
    ];
    compare(plan, &figures, &found, findings);
    found.iter().all(unavoidable)
}

fn compare(plan: &Plan, figures: &[(&str, u64)], found: &[Straddler], findings: &mut Findings) {
    for &(name, is) in figures {
        let told = plan.metrics.get(name).copied();
        if told != Some(is) {
            findings.say("wrong_metric", At::default(), || {
                format!("{name}: the plan says {told:?}, it is {is}")
            });
        }
    }
    let mut told: Vec<&Straddler> = plan.straddlers.iter().flatten().collect();
    let mut is: Vec<&Straddler> = found.iter().collect();
    told.sort_compact_by(Ord::cmp);
    is.sort_compact_by(Ord::cmp);
    let missing = is.iter().filter(|s| told.binary_search(s).is_err());
    let foreign = told.iter().filter(|s| is.binary_search(s).is_err());
    let both = [
        (missing.collect::<Vec<_>>(), "is not listed"),
        (foreign.collect(), "is none"),
    ];
    for (list, what) in both {
        for s in list {
            let at = At {
                core: Some(s.core),
                function: Some(&s.function),
            };
            findings.add("wrong_straddlers", at, || {
                let message = format!("{} bytes at {}: this straddler {what}", s.bytes, s.address);
                (vec![s.name.clone()], message)
            });
        }
    }
    if plan.straddlers.is_none() || told.len() != is.len() {
        let (told, is) = (plan.straddlers.as_ref().map(Vec::len), is.len());
        findings.say("wrong_straddlers", At::default(), || {
            format!("the plan lists {told:?}, there are {is}")
        });
    }
}

/// The ranges of addresses in which a storage is: that of its space, or in unified geometry those of
/// the cores that have a member, that a member reaches, or, for a pin, all. // M7
fn ranges(facts: &Facts<'_, '_>, s: usize, id: MemLocId, put: &Put) -> Vec<Range> {
    let own = facts.scopes[s].core;
    if put.space != Space::Shared {
        return vec![(put.space, Some(own))];
    }
    if facts.plan.options.geometry == Geometry::Split {
        return vec![(put.space, None)];
    }
    let group = facts.groups.of_member(s, id);
    let members = || group.iter().flat_map(|group| &group.members);
    let mut cores: Vec<u32> = facts.scopes.iter().map(|scope| scope.core).collect();
    cores.retain(|&core| {
        put.hold != Hold::Placed
            || members().any(|&(s, id)| {
                let scope = &facts.scopes[s as usize];
                scope.core == core || scope.function.reach(id).contains(&core)
            })
    });
    cores
        .iter()
        .map(|&core| (Space::Local, Some(core)))
        .collect()
}

/// Whether a root stands for its storage: of a shared group only the owner does, or the first
/// member with a pin.
fn stands(facts: &Facts<'_, '_>, s: usize, id: MemLocId) -> bool {
    let group = facts.groups.of_member(s, id);
    let Some(group) = group.filter(|group| group.fate == Fate::Shared) else {
        return true;
    };
    let mut members = group.members.iter();
    let pinned = members.find(|m| facts.scopes[m.0 as usize].loc(m.1).pin().is_some());
    *pinned.unwrap_or(&group.owner) == (s as u32, id)
}

fn straddler(scope: &Scope<'_>, id: MemLocId, put: &Put, pinned: bool) -> Straddler {
    Straddler {
        core: scope.core,
        function: scope.function.name().to_owned(),
        name: match scope.function.memloc_name(id) {
            "" => format!("#{id}"),
            name => name.to_owned(),
        },
        space: put.space,
        address: put.start,
        bytes: put.end - put.start,
        pinned,
    }
}

#[cfg(test)]
mod tests {
    use crate::control::Control;
    use crate::ir::{
        Extent, Function, InstructionSpec, MemLocSpec, Module, Operand, Program, Space, Usage,
    };
    use crate::options::Options;
    use crate::plan::{Plan, Status};
    use crate::verify::verify;

    const MIB: u64 = 1 << 20;

    /// Two cores, pages of a MiB: a pin that both functions of core 0 name, a location that no page
    /// holds, one that a page does, and a large one that the cores share.
    fn program() -> Program {
        let mut program = Program::new("pages");
        for core in 0..2 {
            let mut module = Module::new(&format!("m{core}"), core);
            for name in ["main", "other"] {
                let mut f = Function::new(name);
                let spec = |name, bytes| MemLocSpec {
                    name,
                    extent: Some(Extent::Bytes(bytes)),
                    ..MemLocSpec::default()
                };
                f.add_memlocs(&[
                    MemLocSpec {
                        usage: Usage::Weight,
                        address: Some(MIB / 2),
                        ..spec("w", MIB - 5)
                    },
                    spec("large", 3 * MIB / 2),
                    spec("small", MIB / 4),
                    MemLocSpec {
                        space: Space::Shared,
                        remote: (core == 1).then_some((0, "s")),
                        ..spec("s", 2 * MIB)
                    },
                ])
                .expect("valid");
                let all: Vec<Operand> = f.memloc_ids().map(Operand::from).collect();
                let uses = InstructionSpec {
                    op: "op",
                    uses: &all,
                    ..InstructionSpec::default()
                };
                let defs = InstructionSpec {
                    op: "op",
                    defs: &all[1..],
                    ..InstructionSpec::default()
                };
                f.add_instruction(&defs).expect("valid");
                f.add_instruction(&uses).expect("valid");
                module.add_function(f).expect("another name");
            }
            program.add_module(module).expect("another core");
        }
        program
    }

    type Change<'c> = &'c dyn Fn(&mut Plan);

    #[test]
    fn every_false_cost_is_found() {
        let program = program();
        let options = Options {
            runtime_page: 1,
            ..Options::default()
        };
        let plan = crate::plan(&program, &options, &mut Control::default()).expect("it fits");
        assert_eq!(verify(&program, &plan), []);
        let list = plan.straddlers.clone().expect("the option is on");
        let sites: Vec<(u32, &str, &str, bool)> = list
            .iter()
            .map(|s| (s.core, s.function.as_str(), s.name.as_str(), s.pinned))
            .collect();
        let want = [
            (0, "main", "w", true), // `other` means the same storage.
            (0, "main", "large", false),
            (0, "main", "s", false), // Once for both cores.
            (0, "other", "large", false),
            (0, "other", "s", false),
            (1, "main", "w", true),
            (1, "main", "large", false),
            (1, "other", "large", false),
        ];
        assert_eq!(sites, want);
        assert_eq!(list[0].bytes, MIB - 5);
        let metric = |name: &str| plan.metrics[name];
        let bytes = 2 * (MIB - 5) + 4 * (3 * MIB / 2) + 2 * (2 * MIB);
        assert_eq!(metric("runtime_private_bytes"), bytes);
        assert_eq!(metric("runtime_unavoidable_bytes"), bytes);
        assert_eq!(metric("runtime_straddlers"), 8);
        // On each core 1.5 MiB of pins, then up to 1.75 MiB; shared the two functions' groups.
        assert_eq!(metric("runtime_pages"), 2 * 4 + 4);
        let changes: [(&str, Change<'_>); 9] = [
            ("wrong_metric", &|p| {
                *p.metrics.get_mut("runtime_pages").expect("there") -= 1
            }),
            ("wrong_metric", &|p| {
                *p.metrics.get_mut("runtime_private_bytes").expect("there") += 1
            }),
            ("wrong_metric", &|p| {
                p.metrics
                    .retain(|name, _| name != "runtime_unavoidable_bytes")
            }),
            ("wrong_metric", &|p| {
                *p.metrics.get_mut("runtime_straddlers").expect("there") = 0
            }),
            ("wrong_straddlers", &|p| p.straddlers = None),
            ("wrong_straddlers", &|p| {
                drop(p.straddlers.as_mut().expect("there").pop())
            }),
            ("wrong_straddlers", &|p| {
                p.straddlers.as_mut().expect("there")[1].bytes += 1
            }),
            ("wrong_straddlers", &|p| {
                p.straddlers.as_mut().expect("there")[0].pinned = false
            }),
            ("wrong_straddlers", &|p| {
                let list = p.straddlers.as_mut().expect("there");
                list.push(list[0].clone());
            }),
        ];
        for (i, (kind, change)) in changes.iter().enumerate() {
            let mut broken = plan.clone();
            change(&mut broken);
            let kinds: Vec<&str> = verify(&program, &broken).iter().map(|v| v.kind).collect();
            assert!(kinds.contains(kind), "{i}: {kinds:?}");
        }
        let mut off = plan;
        off.options.runtime_page = 0;
        let kinds: Vec<&str> = verify(&program, &off).iter().map(|v| v.kind).collect();
        assert_eq!(kinds, ["wrong_straddlers"]);
    }

    #[test]
    fn an_optimum_of_the_peak_alone_is_none() {
        let mut f = Function::new("main");
        for name in ["a", "b"] {
            let spec = MemLocSpec {
                name,
                extent: Some(Extent::Bytes(3 * MIB / 4)),
                ..MemLocSpec::default()
            };
            f.add_memloc(&spec).expect("valid");
        }
        let all: Vec<Operand> = f.memloc_ids().map(Operand::from).collect();
        let defs = InstructionSpec {
            op: "op",
            defs: &all,
            ..InstructionSpec::default()
        };
        f.add_instruction(&defs).expect("valid");
        let mut module = Module::new("m", 0);
        module.add_function(f).expect("the only one");
        let mut program = Program::new("p");
        program.add_module(module).expect("the only one");
        let options = Options {
            runtime_page: 1,
            capacity: Some(3 * MIB / 2),
            ..Options::default()
        };
        let mut plan = crate::plan(&program, &options, &mut Control::default()).expect("it fits");
        assert_eq!((plan.peak, plan.lower_bound), (3 * MIB / 2, 3 * MIB / 2));
        assert_eq!(plan.status, Status::Feasible);
        plan.status = Status::Optimal;
        let kinds: Vec<&str> = verify(&program, &plan).iter().map(|v| v.kind).collect();
        assert_eq!(kinds, ["wrong_status"]);
    }
}
