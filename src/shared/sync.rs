//! `sync_shared_allocations`: every member of a group gets its owner's address. // M5

use super::digest::{Agreed, digest};
use super::groups::{Group, Groups, Member, Predicate, home};
use crate::error::{Error, Result};
use crate::ir::{Module, Placed, Space, UsageMask};
use crate::sorting::CompactSort as _;

/// What a sync did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// How many groups have an address.
    pub groups: u64,
    /// How many members were given it; 0 when everything agreed already.
    pub assigned: u64,
    /// The fingerprint of what was agreed. // M10
    pub digest: String,
    /// Choices that a person should know of.
    pub notes: Vec<String>,
}

/// Gives every member of every group the address of the member that was placed: the owner's, or
/// where only a follower was placed, that one's.
///
/// All or nothing, and idempotent; with one core there is nothing to do.
///
/// # Errors
///
/// A link that leads nowhere, unequal bytes, different pins, a group no member of which was
/// placed; each names both sides.
pub fn sync_shared_allocations(
    modules: &mut [Module],
    candidates: UsageMask,
    predicate: Option<Predicate<'_>>,
) -> Result<SyncReport> {
    if modules.len() < 2 {
        return Ok(SyncReport {
            digest: digest([]),
            ..SyncReport::default()
        });
    }
    let groups = Groups::of(modules, candidates, predicate)?;
    let mut report = SyncReport {
        notes: groups.notes.clone(),
        ..SyncReport::default()
    };
    let mut writes: Vec<(Member, Placed)> = Vec::new();
    let mut agreed = Vec::new();
    for group in groups.placed() {
        let address = agreed_address(modules, group)?;
        let placed = Placed {
            address: Some(address),
            space: Space::Shared,
            skipped: None,
            is_shared_post_dram_alloc: true,
        };
        report.groups += 1;
        agreed.push((group.owner, address, group.bytes));
        let differing = |m: &&Member| home(modules, **m).1.memloc(m.loc).placed() != Some(placed);
        writes.extend(group.members.iter().filter(differing).map(|&m| (m, placed)));
    }
    report.digest = digest(agreed.iter().map(|&(owner, address, bytes)| {
        let (module, function) = home(modules, owner);
        let name = function.memloc_name(owner.loc);
        Agreed {
            core: module.core(),
            function: function.name(),
            name,
            address,
            bytes,
        }
    }));
    report.assigned = writes.len() as u64;
    for (member, placed) in writes {
        let function = modules[member.module as usize].function_mut(member.function as usize);
        function.assign_one(member.loc, placed);
    }
    Ok(report)
}

/// The address that a group's members take.
fn agreed_address(modules: &[Module], group: &Group) -> Result<u64> {
    let address = |m: &Member| {
        let loc = home(modules, *m).1.memloc(m.loc);
        let placed = loc.placed().filter(|p| p.is_shared_post_dram_alloc);
        loc.pin().or(placed.and_then(|p| p.address))
    };
    let owner_first = std::iter::once(&group.owner).chain(&group.members);
    owner_first
        .filter_map(address)
        .next()
        .or(group.pin)
        .ok_or_else(|| nothing_placed(modules, group))
}

/// No member of a group has an address; names them all. // M5
pub(crate) fn nothing_placed(modules: &[Module], group: &Group) -> Error {
    let label = |m: &Member| {
        let (module, function) = home(modules, *m);
        format!(
            "core {} {}/{}",
            module.core(),
            function.name(),
            function.label(m.loc)
        )
    };
    let members: Vec<String> = group.members.iter().map(label).collect();
    let (module, function) = home(modules, group.owner);
    let reason = format!("no member of its group was placed: {}", members.join(", "));
    Error::invalid("remote", reason)
        .on_core(module.core())
        .in_function(function.name())
        .at_location(&function.label(group.owner.loc))
}

/// Checks that every core has agreed on the same addresses: compares digests by core. // M10
///
/// # Errors
///
/// Two that differ; names the first core that disagrees with the lowest one.
pub fn check_digests<'a>(digests: impl IntoIterator<Item = (u32, &'a str)>) -> Result<()> {
    let mut digests: Vec<(u32, &str)> = digests.into_iter().collect();
    digests.sort_compact_by(Ord::cmp);
    let Some(&(first, want)) = digests.first() else {
        return Ok(());
    };
    match digests.iter().find(|(_, got)| *got != want) {
        None => Ok(()),
        Some((core, got)) => {
            let reason = format!("core {core} has {got}, core {first} has {want}");
            Err(Error::invalid("digest", reason).on_core(*core))
        }
    }
}
