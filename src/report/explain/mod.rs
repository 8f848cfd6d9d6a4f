//! Why a plan needs the bytes that it needs: the peak, what lies under it, and what would lower it.
//!
//! Every space is explained by two moments. The *peak's* is an instruction at which the highest byte
//! is in use; of several that at which the most is live, of those the first. The *bound's* is the
//! first instruction whose load no placement can stay below. Between the two lies the gap.
//!
//! # The gap
//!
//! `peak` is a sum of parts, each computed by itself, in this order. With *load* for the bytes as
//! placed that are live at the bound's instruction, in-place pairs counted once:
//!
//! * `declared`: the load of the innermost function, or of the entry function with the most groups,
//!   in declared bytes, pairs weighed by those; groups count only if the program itself needs
//!   their bytes then, by the dataflow of a member on a core in question;
//! * `rounding`: the same locations as placed, less `declared`;
//! * `callers`: what callers have live at the calls that lead there; where pins are obstacles and
//!   the bound does not add callers, what they hold at the peak instead, as far as it explains; // L7
//! * `agreement`: groups in the load that are there for their epochs alone, and in the shared space
//!   the loads of the other entry functions; in unified geometry, where groups end higher than the
//!   local space, those that lie below its peak at the peak's instruction, as far as it explains; // M4, M7
//! * `pins`: the bound less its load and less the start of its slab: the floor, or the bytes of
//!   pins that are in the way; // P4
//! * `regions`: the start of the slab above the floor, and the free bytes below the peak, at its
//!   instruction, in which the highest location may not lie, as far as they explain; // P5, P6, M6
//! * `proved`: what the plan's lower bound exceeds that of the load by: a search has proved it;
//! * `fragmentation`: the rest.
//!
//! "As far as it explains" means: no more than is left of the peak above the bounds. So no part
//! is below zero. In `fast` and `best` any location may lie in a collective region, whose free bytes
//! are then fragmentation like any others; only `reference` keeps them free.
//!
//! Cost: the analysis of a plan's run without its placement, then linear, and one pass over the
//! loads for each question what would lower the peak.

mod chains;
mod gap;
mod moment;
mod need;
#[cfg(test)]
mod tests;
mod text;

use crate::error::{Error, Fault, Result};
use crate::ir::{Program, Space};
use crate::options::Strategy;
use crate::ordered_map::OrderedMap;
use crate::plan::{Plan, Status, Straddler};
use crate::planner::{Ground, Grounds};
use crate::shared::Member;
use crate::sorting::CompactSort as _;
use moment::Moments;
use need::{Change, Needs};
use std::cmp::Reverse;

pub use chains::{Chain, Link};
pub use gap::Gap;
pub use moment::{Moment, Occupant, Role, Step, UsageBytes};
pub use text::explanation_text;
pub(super) use text::{locations, space_name};

/// How many of a kind are told unless the host says.
pub const TOLD: usize = 10;

/// Everything that is explained of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The program's name.
    pub program: String,
    /// What was run.
    pub strategy: Strategy,
    /// What is known about the peak.
    pub status: Status,
    /// The highest peak of any space, in bytes.
    pub peak: u64,
    /// The lower bound of that space, in bytes.
    pub lower_bound: u64,
    /// The space with the highest peak first.
    pub spaces: Vec<SpaceExplanation>,
    /// What straddling a page of the runtime costs; `None` if the option is off. // P7
    pub runtime_page: Option<RuntimePage>,
}

/// One space of one core, or the shared one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceExplanation {
    /// Which space.
    pub space: Space,
    /// Whose; `None` for the shared one.
    pub core: Option<u32>,
    /// Bytes that it may use; `None`: no limit.
    pub capacity: Option<u64>,
    /// Nothing was placed below.
    pub floor: u64,
    /// One past the highest byte placed; the floor if nothing was.
    pub peak: u64,
    /// No placement has a lower peak: what the load proves, or a search.
    pub lower_bound: u64,
    /// What the load alone proves.
    pub load_bound: u64,
    /// Where the highest byte is in use; `None` if nothing was placed.
    pub at_peak: Option<Moment>,
    /// Where the load needs the most; `None` if nothing was placed.
    pub at_bound: Option<Moment>,
    /// What the peak is made of.
    pub gap: Gap,
    /// What would lower the bound, what pays most first.
    pub savings: Vec<Saving>,
    /// Who follows whom in the highest bytes.
    pub highest_chain: Option<Chain>,
    /// The bytes that the most follow each other in.
    pub longest_chains: Vec<Chain>,
}

/// What one location costs: the bounds that the load proved if it were different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The location.
    pub occupant: Occupant,
    /// It were not there.
    pub if_gone: u64,
    /// It had half its bytes.
    pub if_half: u64,
    /// Its last segment ended at the access before.
    pub if_earlier: u64,
}

/// What a plan costs a runtime that hands out memory in pages. // P7
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimePage {
    /// Bytes of a page.
    pub page: u64,
    /// Pages that hold anything; `None` if the plan does not say.
    pub pages: Option<u64>,
    /// Bytes of the copies.
    pub private_bytes: u64,
    /// Of these, bytes of pins and of what no page holds.
    pub unavoidable_bytes: u64,
    /// The largest of what straddles.
    pub straddlers: Vec<Straddler>,
    /// How many more.
    pub others: u64,
    /// Their bytes.
    pub other_bytes: u64,
}

/// Explains a plan, with up to `top` entries in each list.
///
/// # Errors
///
/// The plan is of another program, or cannot be right: it ends below what is live at one
/// instruction. What is wrong with the program's calls, links and barriers.
pub fn explain(program: &Program, plan: &Plan, top: usize) -> Result<Explanation> {
    let grounds = Grounds::of(program, plan)?;
    let spaces = grounds.list.iter();
    let spaces = spaces.map(|ground| space(&grounds, ground, plan.strategy, top));
    let mut spaces: Vec<SpaceExplanation> = spaces.collect::<Result<_>>()?;
    spaces.sort_compact_by(|a, b| b.peak.cmp(&a.peak));
    Ok(Explanation {
        program: program.name.clone(),
        strategy: plan.strategy,
        status: plan.status,
        peak: spaces.first().map_or(0, |s| s.peak),
        lower_bound: spaces.first().map_or(0, |s| s.lower_bound),
        spaces,
        runtime_page: runtime_page(plan, top),
    })
}

fn space(
    grounds: &Grounds<'_>,
    ground: &Ground,
    strategy: Strategy,
    top: usize,
) -> Result<SpaceExplanation> {
    let needs = Needs::of(grounds, ground);
    let need = needs.now();
    if need.bytes > ground.peak {
        let sentence = format!(
            "the plan ends at {} in {}, and what is live at one instruction needs {}: verify it",
            ground.peak, ground.told.space, need.bytes
        );
        let error = Error::from(Fault::FailedPrecondition(sentence));
        return Err(match ground.told.core {
            Some(core) => error.on_core(core),
            None => error,
        });
    }
    let moments = Moments {
        grounds,
        ground,
        needs: &needs,
    };
    let (peak, bound) = (moments.at_peak(), moments.at_bound(&need));
    let gap = gap::gap(&moments, (&need, &bound), &peak, strategy);
    let mut candidates = bound.occupants();
    candidates.retain(|o| !o.holder.pinned);
    candidates.truncate(top);
    let mut savings: Vec<Saving> = candidates
        .iter()
        .map(|o| {
            let bound = |change| needs.if_changed(grounds, &o.holder, change);
            Saving {
                occupant: moments.tell(o),
                if_gone: bound(Change::Gone),
                if_half: bound(Change::Half),
                if_earlier: bound(Change::Earlier),
            }
        })
        .collect();
    savings.sort_compact_by(|a, b| {
        let key = |s: &Saving| {
            (
                s.if_gone,
                s.if_half,
                s.if_earlier,
                Reverse(s.occupant.bytes),
            )
        };
        key(a).cmp(&key(b))
    });
    let (highest_chain, longest_chains) = chains::chains(grounds, ground, top);
    let some = |moment: &moment::Live| {
        let there = !moment.frames.is_empty();
        there.then(|| moments.describe(moment, top))
    };
    Ok(SpaceExplanation {
        space: ground.told.space,
        core: ground.told.core,
        capacity: ground.told.capacity,
        floor: ground.floor,
        peak: ground.peak,
        lower_bound: need.bytes + gap.proved,
        load_bound: need.bytes,
        at_peak: some(&peak),
        at_bound: some(&bound),
        gap,
        savings,
        highest_chain,
        longest_chains,
    })
}

/// What a space holds at its peak, by location.
pub(super) struct PeakLoad {
    /// Bytes as placed, in-place pairs once.
    pub live: u64,
    /// What pairs save.
    pub in_place: u64,
    /// The peak's instruction.
    pub here: Option<Step>,
    /// What was placed, by location; of groups beside a core's locations those below the peak.
    pub held: OrderedMap<Member, u64>,
}

/// What a space holds where the most is live under its highest byte.
pub(super) fn peak_load(grounds: &Grounds<'_>, ground: &Ground) -> PeakLoad {
    let needs = Needs::of(grounds, ground);
    let moments = Moments {
        grounds,
        ground,
        needs: &needs,
    };
    let peak = moments.at_peak();
    let described = moments.describe(&peak, 0);
    let mut held: OrderedMap<Member, u64> = OrderedMap::new();
    let below = |a: u64| a < ground.peak;
    for live in peak.holders.iter().filter(|l| !l.holder.pinned) {
        if live.holder.address.is_none_or(below) {
            *held.entry(live.holder.member).or_default() += live.holder.size;
        }
    }
    let placed: u64 = held.values().sum();
    PeakLoad {
        live: placed.saturating_sub(described.in_place),
        in_place: described.in_place,
        here: described.here().cloned(),
        held,
    }
}

fn runtime_page(plan: &Plan, top: usize) -> Option<RuntimePage> {
    let page = plan.options.runtime_page_bytes();
    let mut straddlers = plan.straddlers.clone().filter(|_| page > 0)?;
    straddlers.sort_compact_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.cmp(b)));
    let sum = |list: &[Straddler]| list.iter().fold(0u64, |sum, s| sum.saturating_add(s.bytes));
    let private_bytes = sum(&straddlers);
    let rest = straddlers.split_off(top.min(straddlers.len()));
    let unavoidable = straddlers.iter().chain(&rest);
    let unavoidable = unavoidable.filter(|s| s.pinned || s.bytes > page);
    Some(RuntimePage {
        page,
        pages: plan.metrics.get("runtime_pages").copied(),
        private_bytes,
        unavoidable_bytes: unavoidable.fold(0, |sum, s| sum.saturating_add(s.bytes)),
        others: rest.len() as u64,
        other_bytes: sum(&rest),
        straddlers,
    })
}
