//! What is to be placed: the allocator's input, free of names and functions.
//!
//! A problem is one address space of one function, or a raw problem that a host hands in. Item
//! numbers are *dense ids*: the builder has ranked the items by the rule of its source, so that
//! a tie broken by item number never depends on listing order. // T, S4

use crate::ir::{FlatIndex, Lives, Usage, UsageMask};
use dramalloc_engine::Request;

pub use dramalloc_engine::PAGE;

/// Something that wants an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Bytes as placed: already rounded in page mode, exact otherwise. Never zero.
    pub size: u64,
    /// The start is a multiple of this; at least 1, already at least a page in page mode.
    pub align: u64,
}

/// Bytes that the host has pinned; `Problem::pin_lives` says when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The first byte, as given.
    pub start: u64,
    /// One past the last byte, unrounded. // P2
    pub end: u64,
}

/// A window of addresses for certain usages. // P6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first byte.
    pub base: u64,
    /// How many bytes.
    pub size: u64,
    /// What may be placed there.
    pub usages: UsageMask,
}

/// An eligible in-place pair: `def` may start exactly where `used` starts. // L8
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlacePair {
    /// The instruction at which `used` dies and `def` is born.
    pub index: FlatIndex,
    /// The item whose last use it is.
    pub used: u32,
    /// The item that is defined whole there; at most as many bytes as `used`.
    pub def: u32,
}

/// One address space with everything that wants a place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// By dense id.
    pub items: Vec<Item>,
    /// What each item is for, which says what regions admit it; `collective` ones go into the
    /// collective region. Those past the end are internal: nearly all problems need no list of
    /// these. // P5, P6
    pub usages: Vec<Usage>,
    /// The segments of each item; at least one each. // I3
    pub lives: Lives,
    /// Obstacles, in no particular order.
    pub pins: Vec<Pin>,
    /// The segments of each pin.
    pub pin_lives: Lives,
    /// Grouped by `def` ascending, and within one def in the host's list order. // L8
    pub pairs: Vec<InPlacePair>,
    /// Nothing is placed below. // P4
    pub floor: u64,
    /// Nothing is placed at or above; `u64::MAX` if there is no capacity.
    pub ceiling: u64,
    /// Empty: one region from `floor` to `ceiling`. Otherwise ascending and disjoint. // P6
    pub regions: Vec<Region>,
    /// The byte limit of the collective region, if the space has one. // P5
    pub collective_limit: Option<u64>,
    /// The items that are no collective start at the end of the collective ones, not of the
    /// region. // P5
    pub trim_collective: bool,
    /// An item of at most a page does not straddle a page boundary (packed mode). // P3
    pub no_straddle: bool,
    /// Bytes of the runtime's page, whole pages of its own; 0: it has none. An item that straddles
    /// one costs a copy of its size, which placement avoids before it looks at the peak. // P7
    pub runtime_page: u64,
    /// The granule of the reference order: a page in page mode, else 1. // O1
    pub granule: u64,
    /// Where items lay before: a warm start. // S2
    pub hint: Hint,
}

impl Problem {
    /// The same items beside the first so many of the pins, below another ceiling.
    pub(crate) fn beside_pins(&self, pins: usize, ceiling: u64) -> Problem {
        let mut problem = Problem {
            ceiling,
            pins: self.pins[..pins].to_vec(),
            pin_lives: Lives::new(),
            ..self.clone()
        };
        for i in 0..pins {
            problem.pin_lives.push(self.pin_lives.of(i).iter().copied());
        }
        problem
    }
}

/// Where items lay before, and what it is worth to leave them there; see `warm`.
///
/// Nothing here is trusted: a start that breaks a rule is one that is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// By item; empty if nothing is known of any.
    pub starts: Vec<Option<u64>>,
    /// Bytes of peak that may be paid for each MiB that stays.
    pub keep: u64,
    /// By how many bytes the earlier placement ended above its own bound, if a search as good as the
    /// one that is asked for has made it; 0 if nothing is known of it.
    pub waste: u64,
}

impl Problem {
    /// The page within which an item has to lie; 0 if it may cross whatever it likes. Those of the
    /// runtime, in which it would fit, only count if it must not straddle them. // P3, P7
    pub(crate) fn page_of(&self, item: u32, may_straddle: bool) -> u64 {
        let size = self.items[item as usize].size;
        if self.no_straddle && size <= PAGE {
            PAGE // The runtime's pages are whole ones of these.
        } else if !may_straddle && size <= self.runtime_page {
            self.runtime_page
        } else {
            0
        }
    }

    /// Whether an item that starts there straddles a page of the runtime. // P7
    pub(crate) fn straddles(&self, item: u32, start: u64) -> bool {
        straddles(start, self.items[item as usize].size, self.runtime_page)
    }

    /// The bytes of the copies that a placement costs. // P7
    pub(crate) fn private_bytes(&self, offsets: &[u64]) -> u128 {
        let starts = (0..).zip(offsets);
        let straddlers = starts.filter(|&(item, &start)| self.straddles(item, start));
        straddlers
            .map(|(item, _)| u128::from(self.items[item as usize].size))
            .sum()
    }

    /// The bytes of the copies that every placement costs: those of items that no page holds. // P7
    pub(crate) fn least_private_bytes(&self) -> u128 {
        let sizes = self.items.iter().map(|item| item.size);
        let larger = sizes.filter(|&size| self.runtime_page > 0 && size > self.runtime_page);
        larger.map(u128::from).sum()
    }

    /// Whether some items go into a region before all others do. // P5
    pub(crate) fn has_region_of_collectives(&self) -> bool {
        self.collective_limit.is_some() && self.usages.contains(&Usage::Collective)
    }

    /// What an item is for.
    #[inline]
    pub fn usage(&self, item: u32) -> Usage {
        let usage = self.usages.get(item as usize);
        usage.copied().unwrap_or(Usage::Internal)
    }

    /// Says what an item is for.
    pub fn set_usage(&mut self, item: u32, usage: Usage) {
        let item = item as usize;
        if item >= self.usages.len() && usage != Usage::Internal {
            self.usages.resize(item + 1, Usage::Internal);
        }
        if let Some(of) = self.usages.get_mut(item) {
            *of = usage;
        }
    }

    /// Appends an item of another problem, for what it is for there, without its life.
    pub(crate) fn push_of(&mut self, other: &Problem, item: u32) {
        self.set_usage(self.items.len() as u32, other.usage(item));
        self.items.push(other.items[item as usize]);
    }
}

/// Whether bytes reach from one page of the runtime into the next; there are none if `page`
/// is 0. // P7
pub(crate) fn straddles(start: u64, size: u64, page: u64) -> bool {
    page > 0 && size > 0 && (size > page || start % page > page - size)
}

/// The lowest start of an item at or above `from` that its alignment and the pages allow; no
/// straddling of the runtime's. // P2, P3, P7
pub(crate) fn admitted(problem: &Problem, item: u32, from: u64) -> Option<u64> {
    let of = &problem.items[item as usize];
    let request = Request {
        size: of.size,
        align: of.align,
        page: problem.page_of(item, false),
        low: from,
        high: u64::MAX,
    };
    request.admitted(from)
}
