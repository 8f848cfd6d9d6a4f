//! Exact search: finds a placement below a target, or proves that there is none.
//!
//! Good for problems of up to a few thousand items, where it reaches the load in milliseconds that
//! no order of first fit reaches at all. The search branches on what covers a spot (`choose`),
//! draws conclusions at every node (`bound`), remembers refuted states (`nogoods`), and starts
//! again and again with what it has learned (`ladder`). Items may have holes, alignments of any
//! value and regions, and pins may be anywhere; in-place pairs and the collective region are
//! honoured, but not exploited.
//!
//! The branching on a spot replaces the canonical orders of MiniMalloc (Moffitt, *MiniMalloc: A
//! Lightweight Memory Allocator for Hardware-Accelerated Machine Learning*, 2023), whose sections
//! and decomposition in time it shares.

mod bound;
mod choose;
mod decide;
mod ladder;
mod model;
mod nogoods;
#[cfg(test)]
pub(crate) mod oracle;
mod random;
mod search;
mod sections;
mod state;
mod through;

pub(crate) use decide::decide;
pub(crate) use ladder::{Finding, Ladder, luby};
pub(crate) use random::Random;

use model::Model;
use search::{Search, Settings, Verdict};
use through::{Bottom, put_back, take_through};

use crate::place::prepared::Prepared;
use crate::place::steps::Steps;
use dramalloc_engine::Height;

/// What an attempt at a target found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A placement whose peak is at most the target: the first byte of each item.
    Placed(Vec<u64>),
    /// Proved: no placement that the model knows has a peak of at most the target. Those are all
    /// there are, if the model is faithful.
    Refuted,
    /// Neither, within the nodes and steps given.
    Unknown,
}

/// The search over one problem, with what it has learned so far.
pub(crate) struct Exact {
    model: Model,
    /// What the model does not know.
    bottom: Bottom,
    search: Search,
}

impl Exact {
    /// Prepares to search for peaks of at most `highest`, an address. `None` if they exceed what is
    /// exact in a height, which takes addresses from 2^52 on.
    pub(crate) fn new(prepared: &Prepared<'_>, highest: u64, nogood_bits: u32) -> Option<Exact> {
        let mut model = Model::new(prepared);
        let bottom = take_through(&mut model);
        let highest = highest.saturating_sub(model.origin) / model.unit;
        if highest > Height::MAX_UNITS {
            return None;
        }
        let search = Search::new(&model, nogood_bits);
        Some(Exact {
            model,
            bottom,
            search,
        })
    }

    /// Whether a refutation is one of the problem itself.
    fn is_faithful(&self) -> bool {
        self.model.faithful
    }

    /// The bytes by which peaks differ at least.
    fn unit(&self) -> u64 {
        self.model.unit
    }

    /// The height of an address, rounded down.
    fn height(&self, address: u64) -> u64 {
        address.saturating_sub(self.model.origin) / self.model.unit
    }

    /// The address of a height; the highest there is, if it lies beyond.
    fn address(&self, height: u64) -> u64 {
        let bytes = height.saturating_mul(self.model.unit);
        self.model.origin.saturating_add(bytes)
    }

    /// Looks for a placement whose peak is at most `target`, an address.
    fn attempt(
        &mut self,
        target: u64,
        settings: Settings,
        random: &mut Random,
        nodes: u64,
        steps: &mut Steps<'_, '_>,
    ) -> Outcome {
        let height = self.height(target);
        let search = &mut self.search;
        let verdict = search.run(&self.model, height, settings, random, nodes, steps);
        match verdict {
            Verdict::Placed(starts) => {
                let starts = starts.into_iter().map(|at| self.address(at));
                Outcome::Placed(put_back(&self.bottom, starts))
            }
            Verdict::Refuted => Outcome::Refuted,
            Verdict::Unknown => Outcome::Unknown,
        }
    }
}
