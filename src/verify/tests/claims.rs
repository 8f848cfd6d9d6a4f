//! Random programs: valid plans are accepted, and in broken ones all is found and nothing else.

use std::collections::BTreeSet;

use super::planner::{Fact, Facts};
use super::programs;
use crate::ir::Program;
use crate::options::Options;
use crate::verify::{Violation, verify};

#[test]
fn valid_plans_are_accepted() {
    programs::cases(2000, |u| {
        let (program, options) = (programs::program(u)?, programs::options(u)?);
        let facts = Facts::of(&program, &options);
        let plan = facts.plan(&facts.addresses());
        let found = verify(&program, &plan);
        assert_eq!(found, [], "{}", show(&program, &options, &found));
        Ok(())
    });
}

/// Every clash that random addresses cause is found, by name, and no other.
#[test]
fn in_a_scrambled_plan_exactly_the_true_clashes_are_found() {
    programs::cases(800, |u| {
        let (program, options) = (programs::program(u)?, programs::options(u)?);
        let facts = Facts::of(&program, &options);
        let mut at = facts.addresses();
        let ids: Vec<_> = at.keys().copied().collect();
        for id in ids {
            let fact = facts.roots.iter().find(|r| r.id == id).expect("a root");
            if fact.pin.is_none() && u.ratio(1, 2)? {
                at.insert(id, u.int_in_range(0..=12)? * 2048);
            }
        }
        facts.follow(&mut at);
        let found = verify(&program, &facts.plan(&at));
        let mut got = BTreeSet::new();
        for v in &found {
            match v.kind {
                "overlap" => {
                    let mut names: Vec<String> = v.locations.iter().map(|n| last(n)).collect();
                    names.sort();
                    got.insert((v.kind, names));
                }
                "misaligned" | "below_floor" => {
                    got.insert((v.kind, v.locations.clone()));
                }
                _ => {}
            }
        }
        let mut want = BTreeSet::new();
        let own = |r: &&Fact| r.candidate && r.skipped.is_none() && r.size > 0;
        for (i, a) in facts.roots.iter().enumerate() {
            let name = facts.name(a.id);
            let Some(&start) = at.get(&a.id) else {
                continue;
            };
            if own(&a) && !start.is_multiple_of(a.align) {
                want.insert(("misaligned", vec![name.clone()]));
            }
            if own(&a) && start < facts.floor(a.space, a.core) {
                want.insert(("below_floor", vec![name.clone()]));
            }
            for b in &facts.roots[i + 1..] {
                let Some(&other) = at.get(&b.id) else {
                    continue;
                };
                let bytes = start < other + b.size && other < start + a.size;
                if bytes && facts.meet(a, b, start == other) {
                    let owner = |r: &Fact| facts.name(*r.group.first().unwrap_or(&r.id));
                    let mut names = vec![owner(a), owner(b)];
                    names.sort();
                    want.insert(("overlap", names));
                }
            }
        }
        assert_eq!(got, want, "{}", show(&program, &options, &found));
        Ok(())
    });
}

/// The bare name of a location that a message calls from afar.
fn last(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

fn show(program: &Program, options: &Options, found: &[Violation]) -> String {
    let list: Vec<String> = found.iter().map(Violation::to_string).collect();
    format!(
        "{}\n{options:?}\n{}",
        list.join("\n"),
        programs::text(program)
    )
}
