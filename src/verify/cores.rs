//! `lnc_verifier`: whether cores agree, by what their modules have stored. // M2, M5
//!
//! No plan is read: after the copying of addresses, also between separately compiled modules, the
//! modules alone must say the same. Every copy of a group lies where its owner lies, in the same
//! partition and bank, and is marked; nothing else is marked; every candidate that is used has an
//! address. // P10

use super::calls::Calls;
use super::findings::{Findings, Violation};
use super::groups::{Fate, Group, Groups, Member, Predicate};
use super::scope::Scope;
use crate::control::Control;
use crate::error::Result;
use crate::ir::{Module, UsageMask};
use crate::pace::Pace;

/// What is wrong with what modules, one per core, have stored; empty if the cores agree.
///
/// `candidates`, `shared`: what the allocation was asked for.
pub fn lnc_verify(
    modules: &[&Module],
    candidates: UsageMask,
    shared: Option<Predicate<'_>>,
) -> Vec<Violation> {
    let control = Control {
        shared,
        ..Control::default()
    };
    lnc_verify_with(modules, candidates, &control).expect("nothing stops it")
}

/// As [`lnc_verify`], for a host that may cancel and has its own word on what is shared. // S2
///
/// # Errors
///
/// The host has cancelled. A deadline ends nothing here.
pub fn lnc_verify_with(
    modules: &[&Module],
    candidates: UsageMask,
    control: &Control<'_>,
) -> Result<Vec<Violation>> {
    let pace = &mut Pace::until_cancelled(control);
    let mut findings = Findings::default();
    let scopes = Scope::unplanned(modules, &mut findings, pace);
    let calls = Calls::of(&scopes, &mut findings, pace);
    let groups = Groups::of(&scopes, &calls, control.shared, &mut findings, pace);
    for group in &groups.list {
        if pace.over(10 * group.members.len()) {
            break;
        }
        let is_candidate = group.pin.is_some() || candidates.contains(group.usage);
        match group.fate {
            Fate::Shared if is_candidate => copies(&scopes, group, &mut findings),
            _ => group
                .members
                .iter()
                .for_each(|&member| unmarked(&scopes, member, &mut findings)),
        }
    }
    for (s, scope) in scopes.iter().enumerate() {
        for id in scope.roots() {
            let member = (s as u32, id);
            if pace.over(1) {
                break;
            }
            let group = groups.of_member(s, id);
            if group.is_none() {
                unmarked(&scopes, member, &mut findings);
            }
            let own = match group.map(|g| g.fate) {
                None => true,
                Some(Fate::Local(user)) => user == member,
                Some(Fate::Untouched | Fate::Shared) => false, // Nowhere, or looked at above.
            };
            let used = !scope.accesses.of_root(id).is_empty();
            let loc = scope.loc(id);
            if own && used && loc.is_candidate(candidates) && loc.address().is_none() {
                findings.add("unplaced", scope.at(), || {
                    let message = "it is used, yet it has no address".to_owned();
                    (vec![scope.label(id)], message)
                });
            }
        }
    }
    pace.end()?;
    Ok(findings.finish())
}

/// Every copy of a group is marked and lies where its owner lies. // M5
fn copies(scopes: &[Scope<'_>], group: &Group, findings: &mut Findings) {
    let loc = |m: Member| scopes[m.0 as usize].loc(m.1);
    let bank = |m: Member| scopes[m.0 as usize].function.bank(m.1);
    let site = |m: Member| scopes[m.0 as usize].site(m.1);
    let owner = group.owner;
    let agreed = group.pin.or_else(|| loc(owner).address());
    for &member in &group.members {
        let scope = &scopes[member.0 as usize];
        let mut say = |kind, what: String| {
            findings.add(kind, scope.at(), || {
                let mut names = vec![scope.label(member.1)];
                if member != owner {
                    names.push(site(owner));
                }
                (names, what)
            });
        };
        let own = loc(member).address();
        match (own, agreed) {
            (None, _) => say("unplaced", "it is shared, yet it has no address".to_owned()),
            (Some(own), Some(agreed)) if own != agreed => say(
                "copies_disagree",
                format!("it lies at {own}, the copy of its owner at {agreed}"),
            ),
            _ => {}
        }
        let placed = loc(member).placed();
        if own.is_some() && !placed.is_some_and(|p| p.is_shared_post_dram_alloc) {
            say("unmarked", "it is shared and not marked as such".to_owned());
        }
        if bank(member) != bank(owner) {
            let (here, there) = (bank(member), bank(owner));
            say(
                "banks_disagree",
                format!(
                    "it lies in partition {}, bank {}, the copy of its owner in partition {}, bank {}",
                    here.partition, here.bank, there.partition, there.bank
                ),
            );
        }
    }
}

/// What is no core's but one's is not marked as shared. // M2
fn unmarked(scopes: &[Scope<'_>], (s, id): Member, findings: &mut Findings) {
    let scope = &scopes[s as usize];
    let placed = scope.loc(id).placed();
    if placed.is_some_and(|p| p.is_shared_post_dram_alloc) {
        findings.add("wrongly_marked", scope.at(), || {
            let message = "it is marked as shared, which it is not".to_owned();
            (vec![scope.label(id)], message)
        });
    }
}
