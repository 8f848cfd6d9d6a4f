//! Which storage a name means, and where the plan puts it.
//!
//! A *storage* is bytes that are one by the program: a root of one function, a shared group of
//! several cores, a pin that functions have in common. A *memory* is one address space of one core,
//! or the shared one. An *area* is the memories in which a storage has its bytes, at one address in
//! all of them: one, but for the shared groups of a unified geometry, which take their bytes in the
//! local memory of each core that they reach. A *place* says storage and area of a root; the formals
//! of a call have the places of what is bound to them, for as long as the call lasts. // L7, M7

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::findings::Findings;
use super::super::groups::{Fate, Group, Groups};
use super::super::locations::{Hold, hold};
use super::super::scope::Scope;
use super::batch::Touch;
use crate::ir::{FlatIndex, MemLocId, MemoryType, Space, UsageMask};
use crate::options::{Geometry, Options};
use crate::ordered_map::OrderedMap;
use crate::pace::{Pace, SOME};

/// Of an access: no memory has its bytes.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The memories of each area; the areas that are one memory have its number.
#[derive(Clone, Debug)]
pub(super) struct Areas(Rc<[Vec<u32>]>);

impl Areas {
    /// The memories of an area, ascending; none for [`NOWHERE`].
    pub fn memories(&self, area: u32) -> &[u32] {
        self.0.get(area as usize).map_or(&[], Vec::as_slice)
    }

    /// A touch in each memory that has its bytes.
    pub fn lanes<'t>(&'t self, touch: &'t Touch) -> impl Iterator<Item = (u32, &'t Touch)> {
        let memories = self.memories(touch.area).iter();
        memories.map(move |&memory| (memory, touch))
    }
}

/// What the bytes of a root are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub storage: u32,
    /// Where the root starts in the storage.
    pub offset: u64,
    /// The memories, or [`NOWHERE`].
    pub area: u32,
    /// Where the root starts in each of them.
    pub address: u64,
    /// The host gives it a value before the function is entered. // L6b
    pub given: bool,
}

/// A pin that holds its bytes all the time. // L6b
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasting {
    /// The cores on which it does, by number; `None`: all.
    pub core: Option<u32>,
    pub place: Place,
    pub bytes: u64,
    /// Who declares it.
    pub site: (u32, MemLocId),
}

/// What is known of a storage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storage {
    /// Several cores may touch it.
    pub shared: bool,
    /// Who declares it.
    pub site: (u32, MemLocId),
}

/// The places of all roots.
pub(super) struct Places {
    /// By scope and id; views are asked through their roots.
    of: Vec<Vec<Place>>,
    pub storages: Vec<Storage>,
    pub lasting: Vec<Lasting>,
    /// By scope: the storages whose bytes mean nothing when the function is entered.
    fresh: Vec<Vec<u32>>,
    /// By scope: where the formals lie outside of calls, which is nowhere.
    formals: Vec<Vec<(MemLocId, Place)>>,
    /// How many memories there are.
    pub memories: u32,
    areas: Vec<Vec<u32>>,
    /// The areas of several memories.
    spread: BTreeMap<Vec<u32>, u32>,
    geometry: Geometry,
    pub cores: Vec<u32>,
}

/// The memory that all cores have in common, in a split geometry.
const SHARED: u32 = 0;

/// The memory of a core's own, by the core's number.
fn local(number: u32) -> u32 {
    1 + 2 * number
}

/// The memory of a core's debug space, by the core's number.
fn debug(number: u32) -> u32 {
    2 + 2 * number
}

/// Pins with one key are one storage.
type Key<'a> = (Space, u32, &'a str, u64, u64);

impl Places {
    /// Reads where the plan puts everything; a used candidate without an address is said.
    pub fn of(
        scopes: &[Scope<'_>],
        groups: &Groups,
        options: &Options,
        findings: &mut Findings,
        pace: &mut Pace<'_, '_>,
    ) -> Places {
        let mut cores: Vec<u32> = scopes.iter().map(|s| s.core).collect();
        cores.sort_unstable();
        cores.dedup();
        let memories = 1 + 2 * cores.len() as u32;
        let mut places = Places {
            of: Vec::new(),
            storages: Vec::new(),
            lasting: Vec::new(),
            fresh: vec![Vec::new(); scopes.len()],
            formals: formals(scopes, pace),
            memories,
            areas: (0..memories).map(|memory| vec![memory]).collect(),
            spread: BTreeMap::new(),
            geometry: options.geometry,
            cores,
        };
        let mut pins: BTreeMap<Key<'_>, u32> = BTreeMap::new();
        let mut of_group: Vec<Option<u32>> = vec![None; groups.list.len()];
        for (s, scope) in scopes.iter().enumerate() {
            let blank = Place {
                storage: 0,
                offset: 0,
                area: NOWHERE,
                address: 0,
                given: false,
            };
            let mut of = vec![blank; scope.function.memlocs().len()];
            for id in scope.roots() {
                if pace.over(5) {
                    break;
                }
                of[id.index()] =
                    places.root(scopes, groups, s, id, options, &mut pins, &mut of_group);
                let touched = !scope.accesses.of_root(id).is_empty();
                let bound = places.is_formal(s as u32, id);
                let candidate = scope.loc(id).is_candidate(options.usage_mask);
                if candidate && touched && !bound && of[id.index()].area == NOWHERE {
                    findings.add("no_address", scope.at(), || {
                        let sentence = "it is used, and no byte of it lies anywhere";
                        (vec![scope.label(id)], sentence.to_owned())
                    });
                }
            }
            for (id, place) in &mut places.formals[s] {
                *place = Place {
                    area: NOWHERE,
                    ..of[id.index()]
                };
                of[id.index()] = *place;
            }
            places.of.push(of);
        }
        places
    }

    #[expect(clippy::too_many_arguments, reason = "the tables that one loop fills")]
    fn root<'a>(
        &mut self,
        scopes: &[Scope<'a>],
        groups: &Groups,
        s: usize,
        id: MemLocId,
        options: &Options,
        pins: &mut BTreeMap<Key<'a>, u32>,
        of_group: &mut [Option<u32>],
    ) -> Place {
        let scope = &scopes[s];
        let loc = scope.loc(id);
        let row = scope.row(id);
        let number = self.core_number(scope.core);
        let group = groups
            .position(s, id)
            .filter(|&g| groups.list[g].fate == Fate::Shared);
        let space = match group {
            Some(_) => Space::Shared,
            None => loc.space,
        };
        let always = loc.pin().is_some() && hold(scope, id, space, options) == Hold::Always;
        let site = (s as u32, id);
        // A shared pin is known by its first pinned member, whatever the others are called.
        let named = group.map_or(site, |g| {
            let pinned = |m: &&(u32, MemLocId)| scopes[m.0 as usize].loc(m.1).pin().is_some();
            groups.list[g]
                .members
                .iter()
                .find(pinned)
                .copied()
                .unwrap_or(site)
        });
        let name = scopes[named.0 as usize].function.memloc_name(named.1);
        let memory = if group.is_some() { u32::MAX } else { number };
        let key = (space, memory, name, loc.pin().unwrap_or(0), loc.bytes);
        let one_name = always && !name.is_empty();
        let known = group.and_then(|g| of_group[g]);
        let known = known.or_else(|| pins.get(&key).copied().filter(|_| one_name));
        let storage = known.unwrap_or(self.storages.len() as u32);
        if known.is_none() {
            let shared = group.is_some();
            self.storages.push(Storage { shared, site });
        }
        if let Some(g) = group {
            of_group[g] = Some(storage);
        }
        if one_name {
            pins.insert(key, storage);
        }
        if group.is_none() && !always {
            self.fresh[s].push(storage);
        }
        let input = UsageMask::FILLED.contains(loc.usage);
        let mut place = Place {
            storage,
            offset: 0,
            area: NOWHERE,
            address: 0,
            given: input && !always && group.is_none(),
        };
        let reaching = group.map(|g| &groups.list[g]).filter(|_| !always);
        let mut area = |space: Space| match space {
            Space::Shared => self.shared_area(reaching),
            Space::Local => local(number),
            Space::Debug => debug(number),
        };
        if loc.memory != MemoryType::Dram {
            return place;
        }
        if let Some(row) = row
            && let Some(address) = row.address
            && address.checked_add(loc.bytes).is_some()
        {
            place.area = area(row.space);
            place.address = address;
        }
        if let Some(pin) = loc.pin().filter(|_| always && known.is_none()) {
            let place = Place {
                area: area(space),
                address: pin,
                ..place
            };
            self.lasts(site, place, key, pins);
        }
        place
    }

    /// Where shared bytes lie; those of a pin that lasts, on every core. // M7
    fn shared_area(&mut self, reaching: Option<&Group>) -> u32 {
        if self.geometry == Geometry::Split {
            return SHARED;
        }
        let all = 0..self.cores.len() as u32;
        let reached = |&n: &u32| reaching.is_none_or(|g| g.reach.contains(&self.cores[n as usize]));
        let memories: Vec<u32> = all.filter(reached).map(local).collect();
        let next = self.areas.len() as u32;
        *self.spread.entry(memories).or_insert_with_key(|memories| {
            self.areas.push(memories.clone());
            next
        })
    }

    /// The memories of all areas.
    pub fn areas(&self) -> Areas {
        Areas(self.areas.as_slice().into())
    }

    /// Whether a core may touch bytes of a memory that another core touches too.
    pub fn is_common(&self, memory: u32) -> bool {
        match self.geometry {
            Geometry::Split => memory == SHARED,
            Geometry::Unified => (0..self.cores.len() as u32).any(|n| local(n) == memory),
        }
    }

    /// Adds a pin that holds its bytes all the time, in debug memory on every core. // L6b
    fn lasts<'a>(
        &mut self,
        site: (u32, MemLocId),
        place: Place,
        key: Key<'a>,
        pins: &mut BTreeMap<Key<'a>, u32>,
    ) {
        let (space, own, name, _, bytes) = key;
        let mut add = |core: Option<u32>, place: Place| {
            self.lasting.push(Lasting {
                core,
                place,
                bytes,
                site,
            });
        };
        if space != Space::Debug {
            add((space == Space::Local).then_some(own), place);
            return;
        }
        add(Some(own), place);
        // The other cores keep a copy; if they name it too, it is theirs.
        for core in (0..self.cores.len() as u32).filter(|&c| c != own) {
            let storage = self.storages.len() as u32;
            let theirs = (key.0, core, name, key.3, bytes);
            if !name.is_empty() && pins.insert(theirs, storage).is_some() {
                continue; // Met before, under this name.
            }
            self.storages.push(Storage {
                shared: false,
                site,
            });
            let place = Place {
                storage,
                area: debug(core),
                ..place
            };
            self.lasting.push(Lasting {
                core: Some(core),
                place,
                bytes,
                site,
            });
        }
    }

    /// The number of a core among those that have functions.
    pub fn core_number(&self, core: u32) -> u32 {
        self.cores.binary_search(&core).expect("it has functions") as u32
    }

    /// Where a root lies now.
    pub fn root_place(&self, scope: u32, root: MemLocId) -> Place {
        self.of[scope as usize][root.index()]
    }

    /// Binds what the callee of a call names, or unbinds it where the call does not name it. // L7
    pub fn bind(&mut self, scopes: &[Scope<'_>], caller: u32, index: u32, callee: u32) {
        for i in 0..self.formals[callee as usize].len() {
            let (id, place) = self.formals[callee as usize][i];
            self.of[callee as usize][id.index()] = place;
        }
        let (outer, inner) = (
            scopes[caller as usize].function,
            scopes[callee as usize].function,
        );
        for argument in outer.args(FlatIndex(index)) {
            let formal = inner.find_memloc(outer.symbol(argument.callee));
            let Some(formal) = formal.filter(|&f| inner.memloc(f).view().is_none()) else {
                continue;
            };
            let (root, offset) = outer.root(argument.caller);
            let place = self.root_place(caller, root);
            self.of[callee as usize][formal.index()] = Place {
                offset: place.offset.saturating_add(offset),
                address: place.address.saturating_add(offset),
                given: false,
                ..place
            };
        }
    }

    /// The storages that mean nothing yet when a function is entered.
    pub fn fresh(&self, scope: u32) -> &[u32] {
        &self.fresh[scope as usize]
    }

    /// Whether some call binds a root of a scope.
    pub fn is_formal(&self, scope: u32, root: MemLocId) -> bool {
        let formals = &self.formals[scope as usize];
        formals.binary_search_by_key(&root, |f| f.0).is_ok()
    }
}

/// The roots of each scope that some call binds.
fn formals(scopes: &[Scope<'_>], pace: &mut Pace<'_, '_>) -> Vec<Vec<(MemLocId, Place)>> {
    let mut at: BTreeMap<(u32, &str), usize> = BTreeMap::new();
    for (s, scope) in scopes.iter().enumerate() {
        at.insert((scope.core, scope.function.name()), s);
    }
    let blank = Place {
        storage: 0,
        offset: 0,
        area: NOWHERE,
        address: 0,
        given: false,
    };
    let mut formals: Vec<OrderedMap<MemLocId, Place>> = vec![OrderedMap::new(); scopes.len()];
    for scope in scopes {
        let function = scope.function;
        for t in (0..function.instructions().len()).map(FlatIndex::new) {
            if t.index() % SOME == 0 && pace.over(SOME) {
                break;
            }
            let callee = function.callee(t).map(|callee| function.symbol(callee));
            let callee = callee.and_then(|name| at.get(&(scope.core, name)));
            let Some(&callee) = callee else { continue };
            let inner = scopes[callee].function;
            for argument in function.args(t) {
                let formal = inner.find_memloc(function.symbol(argument.callee));
                if let Some(formal) = formal.filter(|&f| inner.memloc(f).view().is_none()) {
                    formals[callee].insert(formal, blank);
                }
            }
        }
    }
    formals
        .into_iter()
        .map(|f| f.into_iter().collect())
        .collect()
}
