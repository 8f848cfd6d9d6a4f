//! The operands of one instruction against each other.

use super::super::as_placed;
use super::batch::{Does, Instance, Touch};
use super::machine::Machine;
use crate::ir::MemLocId;
use crate::sorting::CompactSort as _;

impl Machine<'_> {
    /// No def of an instruction lies on what the instruction also reads or writes, but for bytes of
    /// the root itself and eligible pairs. // L2, L8
    pub fn operands(&mut self, instance: &Instance, touches: &[Touch]) {
        let areas = self.areas.clone();
        let lanes = |touch| areas.lanes(touch);
        let mut writes: Vec<(u32, &Touch)> = (touches.iter())
            .filter(|t| t.writes())
            .flat_map(lanes)
            .collect();
        if writes.is_empty() {
            return;
        }
        writes.sort_compact_by_key(|(memory, t)| (*memory, t.address));
        let touches: Vec<(u32, &Touch)> = touches.iter().flat_map(lanes).collect();
        // The greatest end up to here.
        let mut reach: Vec<(u32, u64)> = Vec::with_capacity(writes.len());
        for (memory, write) in &writes {
            let end = (*memory, write.end());
            reach.push(reach.last().map_or(end, |&r| r.max(end)));
        }
        for (memory, touch) in touches {
            let below = writes.partition_point(|(m, w)| (*m, w.address) < (memory, touch.end()));
            for at in (0..below).rev() {
                if reach[at] <= (memory, touch.address) {
                    break;
                }
                let (other, write) = writes[at];
                let apart = other != memory || write.end() <= touch.address;
                if apart || write.storage == touch.storage || self.in_place(instance, touch, write)
                {
                    continue;
                }
                let kind = match touch.does {
                    Does::Read => "overwritten_operand",
                    _ => "colliding_defs",
                };
                let (a, b) = (touch.root.min(write.root), touch.root.max(write.root));
                if !self.said.insert((kind, instance.scope, instance.index, a)) {
                    continue;
                }
                let scope = &self.scopes[instance.scope as usize];
                self.findings.add(kind, scope.at(), || {
                    let names = vec![scope.label(MemLocId(a)), scope.label(MemLocId(b))];
                    let does = match touch.does {
                        Does::Read => "reads",
                        _ => "writes",
                    };
                    let sentence = format!(
                        "instruction {} {does} [{}, {}) and writes [{}, {}), and may do so first",
                        instance.index,
                        touch.address,
                        touch.end(),
                        write.address,
                        write.end()
                    );
                    (names, sentence)
                });
            }
        }
    }

    /// Whether a def may lie where the instruction reads. // L8
    fn in_place(&self, instance: &Instance, used: &Touch, def: &Touch) -> bool {
        let scope = &self.scopes[instance.scope as usize];
        let (u, d) = (MemLocId(used.root), MemLocId(def.root));
        let pairs = &scope.lives.handovers;
        let first = pairs.partition_point(|h| h.index < instance.index);
        let here = pairs[first..]
            .iter()
            .take_while(|h| h.index == instance.index);
        let bytes = |id: MemLocId| as_placed(scope.loc(id).bytes, self.options);
        let formal = |id: MemLocId| self.places.is_formal(instance.scope, id);
        used.does == Does::Read
            && here.into_iter().any(|h| (h.used, h.def) == (u, d))
            && used.base() == def.base()
            && bytes(d) <= bytes(u)
            && scope.loc(u).pin().is_none()
            && !formal(u)
            && !formal(d)
    }
}
