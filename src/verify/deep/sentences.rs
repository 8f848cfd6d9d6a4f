//! What runs have found, as violations: each once per place in the program, however often it runs.

use super::batch::{FOREIGN, Role, Value, Want};
use super::clocks::{Conflict, Stamp};
use super::machine::{Machine, Writer};
use super::world::Mismatch;
use crate::ir::MemLocId;

impl Machine<'_> {
    fn writer(&self, value: Value) -> String {
        let Writer { index, scope, root } = self.writers[value.token as usize];
        let site = self.scopes[scope as usize].site(MemLocId(root));
        match index {
            Some(index) => format!("what instruction {index} has written to {site}"),
            None => format!("what the host has put into {site}"),
        }
    }

    /// A read of addresses has found something else than a read of locations.
    pub fn mismatch(&mut self, mismatch: &Mismatch<'_>) {
        let Mismatch {
            instance,
            touch,
            piece,
            at,
            found,
        } = *mismatch;
        let exit = instance.role == Role::Exit;
        let kind = if exit { "lost_value" } else { "wrong_value" };
        let site = match touch.root {
            FOREIGN => self.places.storages[touch.storage as usize].site,
            root => (instance.scope, MemLocId(root)),
        };
        let index = if exit { site.0 } else { instance.index };
        if !self.said.insert((kind, instance.scope, index, site.1.0)) {
            return;
        }
        let scope = &self.scopes[instance.scope as usize];
        let own = &self.scopes[site.0 as usize];
        let found = found.map_or("bytes that nothing has written".to_owned(), |found| {
            self.writer(found)
        });
        let want = match piece.want {
            Want::Value(value) => self.writer(value),
            Want::Before(_) => "what was there when the function was entered".to_owned(),
        };
        let name = match site.0 == instance.scope {
            true => own.label(site.1),
            false => own.site(site.1),
        };
        let does = match exit {
            true => format!("when the function is left, byte {at} holds"),
            false => format!("instruction {} reads at byte {at}", instance.index),
        };
        self.findings.add(kind, scope.at(), || {
            (vec![name], format!("{does} {found}, not {want}"))
        });
    }

    /// Two accesses to common bytes are in no order.
    pub fn conflict(&mut self, conflict: &Conflict) {
        let Conflict { first, second, .. } = *conflict;
        let one_core = first.core == second.core;
        let one_storage = first.storage == second.storage;
        let kind = match (one_core, one_storage) {
            (true, _) => "unordered",
            (false, true) => "race",
            (false, false) => "cores_collide",
        };
        let key = (first.scope.min(second.scope), first.scope.max(second.scope));
        let pair = match one_core {
            true => (kind, first.scope, first.index, second.index),
            false => (kind, key.0, key.1, first.storage.min(second.storage)),
        };
        if !self.said.insert(pair) {
            return;
        }
        let sites = [
            (first, conflict.first_writes),
            (second, conflict.second_writes),
        ];
        let name = |(stamp, _): &(Stamp, bool)| {
            let scope = &self.scopes[stamp.scope as usize];
            match one_core && first.scope == second.scope {
                true => scope.label(MemLocId(stamp.root)),
                false => scope.site(MemLocId(stamp.root)),
            }
        };
        let does = |(stamp, writes): &(Stamp, bool)| {
            let verb = if *writes { "writes" } else { "reads" };
            format!("instruction {} {verb}", stamp.index)
        };
        let mut names: Vec<String> = sites.iter().map(name).collect();
        names.dedup();
        let why = match one_core {
            true => "no dependence, engine or fence orders them",
            false => "no barrier orders them",
        };
        let sentence = format!(
            "{} and {} bytes {} to {}; {why}",
            does(&sites[0]),
            does(&sites[1]),
            conflict.start,
            conflict.end
        );
        let at = self.scopes[second.scope as usize].at();
        let into = match kind {
            "race" => &mut self.warnings,
            _ => &mut self.findings,
        };
        into.add(kind, at, || (names, sentence));
    }
}
