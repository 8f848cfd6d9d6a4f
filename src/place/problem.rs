//! What is to be placed: the allocator's input, free of names and functions.
//!
//! A problem is one address space of one function, or a raw problem that a host hands in. Item
//! numbers are *dense ids*: the builder has ranked the items by the rule of its source, so that
//! a tie broken by item number never depends on listing order. // T, S4

use crate::ir::{FlatIndex, Lives, Usage, UsageMask};

/// How many bytes a page has. Sizes and starts are rounded to it in page mode. // P2
pub const PAGE: u64 = 4096;

/// Something that wants an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Bytes as placed: already rounded in page mode, exact otherwise. Never zero.
    pub size: u64,
    /// The start is a multiple of this; at least 1, already at least a page in page mode.
    pub align: u64,
    /// Which regions admit it; `collective` ones go into the collective region. // P5, P6
    pub usage: Usage,
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
    /// The granule of the reference order: a page in page mode, else 1. // O1
    pub granule: u64,
}

impl Problem {
    /// Whether some items go into a region before all others do. // P5
    pub(crate) fn has_region_of_collectives(&self) -> bool {
        let collective = |item: &Item| item.usage == Usage::Collective;
        self.collective_limit.is_some() && self.items.iter().any(collective)
    }
}
