//! `sync_shared_allocations`: every member of a group gets its owner's address. // M5
//!
//! In two steps: [`agree`] looks at all modules and says what has to be written, [`Agreement::write`]
//! writes what concerns one module and cannot fail. So modules that belong to different programs
//! can be brought to agreement too, all or none of them.

use super::digest::{Agreed, digest};
use super::groups::{Group, Groups, Member, Predicate, home};
use crate::error::{Error, Fault, Place, Result};
use crate::ir::{Bank, Function, MemLocId, Module, Placed, Space, UsageMask};
use crate::pace::Pace;
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

/// What modules agree on, and what has to be written for that.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// What writing it does.
    pub report: SyncReport,
    /// By module.
    writes: Vec<Vec<Write>>,
}

/// What one member is told.
#[derive(Clone, Copy, Debug)]
struct Write {
    function: u32,
    loc: MemLocId,
    placed: Placed,
    bank: Bank,
}

/// Gives every member of every group the address, partition and bank of the member that was
/// placed: the owner's, or where only a follower was placed, that one's.
///
/// All or nothing, and idempotent; with one core there is nothing to do.
///
/// # Errors
///
/// As for [`agree`].
pub fn sync_shared_allocations(
    modules: &mut [Module],
    candidates: UsageMask,
    predicate: Option<Predicate<'_>>,
) -> Result<SyncReport> {
    let seen: Vec<&Module> = modules.iter().collect();
    let agreement = agree(&seen, candidates, predicate)?;
    for (m, module) in modules.iter_mut().enumerate() {
        agreement.write(m, module);
    }
    Ok(agreement.report)
}

/// What modules, one per core, must be told so that they agree.
///
/// # Errors
///
/// Two modules of one core, a link that leads nowhere, unequal bytes, different pins, a group no
/// member of which was placed; each names both sides.
pub fn agree(
    modules: &[&Module],
    candidates: UsageMask,
    predicate: Option<Predicate<'_>>,
) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    if modules.len() < 2 {
        agreement.report.digest = digest([]);
        return Ok(agreement);
    }
    let groups = Groups::among(modules, candidates, predicate, &mut Pace::free())?;
    agreement.writes.resize(modules.len(), Vec::new());
    let mut agreed = Vec::new();
    for group in groups.placed() {
        let (source, address) =
            agreed_address(modules, group).ok_or_else(|| nothing_placed(modules, group))?;
        let bank = home(modules, source).1.bank(source.loc);
        let placed = Placed {
            address: Some(address),
            space: Space::Shared,
            skipped: None,
            is_shared_post_dram_alloc: true,
        };
        agreed.push((group, address));
        for &member in &group.members {
            let function = home(modules, member).1;
            let knows = function.memloc(member.loc).placed() == Some(placed);
            if !knows || function.bank(member.loc) != bank {
                agreement.writes[member.module as usize].push(Write {
                    function: member.function,
                    loc: member.loc,
                    placed,
                    bank,
                });
            }
        }
    }
    agreement.report = SyncReport {
        groups: agreed.len() as u64,
        assigned: agreement.writes.iter().map(|w| w.len() as u64).sum(),
        digest: digest(
            agreed
                .iter()
                .map(|&(g, address)| named(modules, g, address)),
        ),
        notes: groups.notes,
    };
    Ok(agreement)
}

impl Agreement {
    /// Writes what concerns the module at a position of the list that was looked at.
    ///
    /// # Panics
    ///
    /// If it is not the module that was looked at.
    pub fn write(&self, position: usize, module: &mut Module) {
        let writes = self.writes.get(position).map_or(&[][..], Vec::as_slice);
        let mut written = vec![false; module.functions().len()];
        for write in writes {
            let function = module.function_mut(write.function as usize);
            function.assign_one(write.loc, write.placed);
            function.set_bank(write.loc, write.bank);
            written[write.function as usize] = true;
        }
        let written = written.iter().enumerate().filter(|(_, written)| **written);
        for (f, _) in written {
            assign_views(module.function_mut(f));
        }
    }
}

/// Views of what was agreed on lie in it.
fn assign_views(function: &mut Function) {
    for id in function.memloc_ids() {
        let (root, offset) = function.root(id);
        let placed = function.memloc(root).placed();
        if let Some(placed) = placed.filter(|p| root != id && p.is_shared_post_dram_alloc) {
            let address = placed.address.map(|address| address + offset); // Inside the root.
            function.assign_one(id, Placed { address, ..placed });
        }
    }
}

/// The fingerprint of what each core holds the shared groups' addresses to be, by core as given:
/// its own copy's address where it has a copy, the agreed one elsewhere. Equal for all cores iff
/// all copies are. // M10
///
/// # Errors
///
/// What is wrong with the groups, as for [`agree`]; an address that is missing is none.
pub fn core_digests(
    modules: &[&Module],
    candidates: UsageMask,
    predicate: Option<Predicate<'_>>,
) -> Result<Vec<(u32, String)>> {
    const NO_ADDRESS: u64 = u64::MAX;
    let groups = Groups::among(modules, candidates, predicate, &mut Pace::free())?;
    let mut addresses: Vec<Vec<u64>> = vec![Vec::new(); modules.len()];
    for group in groups.placed() {
        let agreed = agreed_address(modules, group).map_or(NO_ADDRESS, |(_, address)| address);
        addresses
            .iter_mut()
            .for_each(|of_core| of_core.push(agreed));
        for &member in &group.members {
            let copy = home(modules, member).1.memloc(member.loc).address();
            let of_core = &mut addresses[member.module as usize];
            *of_core.last_mut().expect("just pushed") = copy.unwrap_or(NO_ADDRESS);
        }
    }
    let digests = modules.iter().zip(&addresses).map(|(module, addresses)| {
        let groups = groups.placed().zip(addresses);
        let text = digest(groups.map(|(group, &address)| named(modules, group, address)));
        (module.core(), text)
    });
    Ok(digests.collect())
}

/// What the digest covers of a group.
fn named<'a>(modules: &'a [&Module], group: &Group, address: u64) -> Agreed<'a> {
    let (module, function) = home(modules, group.owner);
    Agreed {
        core: module.core(),
        function: function.name(),
        name: function.memloc_name(group.owner.loc),
        address,
        bytes: group.bytes,
    }
}

/// The address that a group's members take, and whose it is.
fn agreed_address(modules: &[&Module], group: &Group) -> Option<(Member, u64)> {
    let address = |m: &Member| {
        let loc = home(modules, *m).1.memloc(m.loc);
        let placed = loc.placed().filter(|p| p.is_shared_post_dram_alloc);
        let address = loc.pin().or(placed.and_then(|p| p.address))?;
        Some((*m, address))
    };
    let owner_first = std::iter::once(&group.owner).chain(&group.members);
    owner_first.filter_map(address).next()
}

/// No member of a group has an address; names them all. // M5
pub(crate) fn nothing_placed<M: std::borrow::Borrow<Module>>(
    modules: &[M],
    group: &Group,
) -> Error {
    let place = |m: &Member| {
        let (module, function) = home(modules, *m);
        Place {
            core: Some(module.core()),
            function: Some(function.name().to_owned()),
            location: Some(function.label(m.loc)),
            ..Place::default()
        }
    };
    let members: Vec<String> = group.members.iter().map(|m| place(m).to_string()).collect();
    let reason = format!("no member of its group was placed: {}", members.join("; "));
    let other = group.members.iter().find(|&&m| m != group.owner);
    let mut error = Error::invalid("remote", reason);
    *error.place = place(&group.owner);
    match other {
        Some(other) => error.beside(place(other)),
        None => error,
    }
}

/// Checks that all cores hold the same addresses: compares their digests. // M10
///
/// # Errors
///
/// Digests that differ; names the cores that hold each.
pub fn check_digests<'a>(digests: impl IntoIterator<Item = (u32, &'a str)>) -> Result<()> {
    let mut digests: Vec<(u32, &str)> = digests.into_iter().collect();
    digests.sort_compact_by(Ord::cmp);
    let mut held: Vec<(&str, Vec<u32>)> = Vec::new();
    for (core, digest) in digests {
        match held.iter_mut().find(|(other, _)| *other == digest) {
            Some((_, cores)) => cores.push(core),
            None => held.push((digest, vec![core])),
        }
    }
    let [_, (_, others), ..] = &held[..] else {
        return Ok(());
    };
    let first = others[0];
    let camps = held.iter().map(|(digest, cores)| {
        let cores: Vec<String> = cores.iter().map(u32::to_string).collect();
        format!("{digest} on {}", cores.join(", "))
    });
    let camps: Vec<String> = camps.collect();
    let sentence = format!("the cores hold different addresses: {}", camps.join("; "));
    Err(Error::from(Fault::FailedPrecondition(sentence)).on_core(first))
}
