//! What an earlier plan says about the items of a problem: the warm start of a program. // S2
//!
//! A location is *unchanged* if the hint has one of the same name in the function of the same name
//! on the same core, in the same space, with as many bytes as placed. Only unchanged ones are
//! hinted. Whether they can still lie there is the placement's business, so that a plan of another
//! program, or one full of mistakes, does no harm.

use std::collections::BTreeMap;

use super::attempts::simpler;
use crate::ir::{Function, MemLocId, Space};
use crate::options::{Geometry, Strategy};
use crate::place::{Hint, Item};
use crate::plan::{FunctionPlan, MemLocPlan, Plan, SpacePlan, is_label};
use crate::sorting::CompactSort as _;

/// The functions of an earlier plan.
pub(super) struct Hints<'p> {
    /// By core, then by name.
    cores: BTreeMap<u32, BTreeMap<&'p str, HintOfFunction<'p>>>,
    keep: u64,
    /// The spaces, if a search as good as the one that is asked for has placed them.
    spaces: &'p [SpacePlan],
}

/// One function of an earlier plan.
struct HintOfFunction<'p> {
    plan: &'p FunctionPlan,
    /// Its locations by name; made when one does not stand where it stood.
    by_name: Option<Vec<u32>>,
}

impl<'p> Hints<'p> {
    /// The functions of `plan`; `keep` as in the options, `strategy` as it is asked for.
    pub(super) fn of(plan: Option<&'p Plan>, keep: u64, strategy: Strategy) -> Hints<'p> {
        let mut cores: BTreeMap<u32, BTreeMap<_, _>> = BTreeMap::new();
        for module in plan.into_iter().flat_map(|plan| &plan.modules) {
            let functions = cores.entry(module.core).or_default();
            functions.extend(module.functions.iter().map(|plan| {
                let by_name = None;
                (plan.name.as_str(), HintOfFunction { plan, by_name })
            }));
        }
        let is_measure = |plan: &&Plan| {
            let as_good = plan.strategy == strategy || simpler(plan.strategy).contains(&strategy);
            // A space's figures are those of its problems only where it has its addresses to itself.
            as_good && plan.options.geometry == Geometry::Split
        };
        let spaces = plan.filter(is_measure).map_or(&[][..], |plan| &plan.spaces);
        Hints {
            cores,
            keep,
            spaces,
        }
    }

    /// Whether there is nothing to go by.
    pub(super) fn is_empty(&self) -> bool {
        self.cores.is_empty()
    }

    /// The hint for items, each a location of some core's function, in one space of one core, or in
    /// the shared one.
    pub(super) fn hint<'i>(
        &mut self,
        space: Space,
        core: Option<u32>,
        items: impl Iterator<Item = (&'i Item, u32, &'i Function, MemLocId)>,
    ) -> Hint {
        let mut spaces = self.spaces.iter();
        let waste = spaces.find(|told| told.space == space && told.core == core);
        let starts = items.map(|(item, core, function, id)| {
            let functions = self.cores.get_mut(&core)?;
            let before = functions.get_mut(function.name())?.find(function, id)?;
            let unchanged = before.space == space && before.aligned == item.size;
            before.address.filter(|_| unchanged)
        });
        Hint {
            starts: starts.collect(),
            keep: self.keep,
            waste: waste.map_or(0, |told| told.peak.saturating_sub(told.lower_bound)),
        }
    }
}

impl<'p> HintOfFunction<'p> {
    /// What the plan has for a location of a function of its name.
    fn find(&mut self, function: &Function, id: MemLocId) -> Option<&'p MemLocPlan> {
        let memlocs = &self.plan.memlocs;
        let position = memlocs.get(id.index());
        if let Some(there) = position.filter(|there| is_label(&there.name, function, id)) {
            return Some(there);
        }
        let name_of = |&i: &u32| memlocs[i as usize].name.as_str();
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut all: Vec<u32> = (0..memlocs.len() as u32).collect();
            all.sort_compact_by(|a, b| name_of(a).cmp(name_of(b)));
            all
        });
        let name = match function.memloc_name(id) {
            "" => return None, // Known by its position alone.
            name => name,
        };
        let found = by_name.binary_search_by_key(&name, name_of).ok()?;
        Some(&memlocs[by_name[found] as usize])
    }
}
