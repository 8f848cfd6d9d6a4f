//! When each location's bytes are taken. // L

use crate::ir::{BlockId, FlatIndex, Function, Lives, MemLocId};

/// What dataflow says of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Liveness {
    /// The segments of each location by `MemLocId`; empty for views and for what is never touched.
    pub lives: Lives,
    /// The listed in-place pairs that the dataflow allows, by instruction, then list order. // L8
    pub pairs: Vec<LivePair>,
    /// What a person should know.
    pub warnings: Vec<LivenessWarning>,
}

/// An in-place pair whose use dies where its def is born. // L8
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivePair {
    /// The instruction.
    pub index: FlatIndex,
    /// The root that dies.
    pub used: MemLocId,
    /// The root that is born.
    pub def: MemLocId,
}

/// Something odd about a function that does not stop a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LivenessWarning {
    /// Control never gets there; it was analysed as if it did. // L3
    UnreachableBlock {
        /// The block.
        block: BlockId,
    },
    /// A use may read bytes of an unpinned candidate that no def has written. // L5
    UninitializedUse {
        /// The root.
        loc: MemLocId,
        /// The first such use in layout order.
        index: FlatIndex,
    },
    /// A listed pair was ignored. // L8
    IneligiblePair {
        /// The instruction.
        index: FlatIndex,
        /// The use as listed.
        used: MemLocId,
        /// The def as listed.
        def: MemLocId,
        /// What it fails.
        reason: &'static str,
    },
}

/// The lives of a function's locations.
pub fn liveness(_function: &Function) -> Liveness {
    todo!("exact dataflow")
}

/// Dense ids.
pub fn dense_order(_function: &Function) -> Vec<MemLocId> {
    todo!()
}
