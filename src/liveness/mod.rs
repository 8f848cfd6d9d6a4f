//! When each location's bytes are taken: exact dataflow over the control-flow graph. // L1-L6, L8
//!
//! A root is live at an instruction if the instruction accesses it, or if control can pass there
//! after some def and before something that still wants the bytes. Three questions decide, each a
//! property of points between instructions:
//!
//! * **wanted**: a use, or an exit if the root escapes, can be reached without a full def on the
//!   way; where control can never leave the function, an escaping root is always wanted; // L4, L6
//! * **reached**: some def, full or partial, can run before; // L4
//! * **from entry**: one flag per root. Some use, or an exit if the root escapes, can be reached
//!   from an entry without any def. Then the bytes found at the entries matter, as if each
//!   entry were a partial def, and every point counts as reached. // L5
//!
//! A point is live iff it is wanted and reached. Entries are block 0 and every block that control
//! cannot get to, so that dead code is analysed as if it ran. // L3
//!
//! Each root is walked by itself, backwards from what wants it, so the cost is that of its own
//! accesses and of the blocks in which it lives (Appel and Palsberg, *Modern Compiler
//! Implementation in Java*, 2002, chapter 10.1, "one variable at a time"), never blocks times
//! roots. The one exception is a root with partial defs: the blocks above its first ones are
//! wanted, yet perhaps not reached. Two topological orders bound that search (see `graph`).
//!
//! # Invariants
//!
//! * **runs**: two neighbouring instructions stand in one segment iff the value flows from one to
//!   the next in layout order: live after the first and before the second. So `[0, 3], [4, 5]` is
//!   a death and a birth, and a segment that ends inside a block ends with a death.
//!
//! Calls count with the operands they list; bindings, pins that hold their bytes throughout and
//! the epochs of shared locations are laid over these lives elsewhere. // L6b, L7, M4

mod accesses;
mod graph;
mod pairs;
mod storage;
mod walk;

#[cfg(test)]
mod tests;

use crate::control::Stop;
use crate::ir::{Access, BlockId, FlatIndex, Function, Lives, MemLocId, Segment};
use crate::pace::Pace;
use crate::sorting::sort_words;
use accesses::Accesses;
use graph::Graph;
use storage::Storage;
use walk::Walker;

/// What dataflow says of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Liveness {
    /// The segments of each location by `MemLocId`; empty for views and for what is never touched.
    pub lives: Lives,
    /// The listed in-place pairs that the dataflow allows, by instruction, then list order. // L8
    pub pairs: Vec<LivePair>,
    /// What a person should know: unreachable blocks, then uses, then pairs, in layout order each.
    pub warnings: Vec<LivenessWarning>,
    /// The segments whose value flows in before their first instruction, ascending.
    open_starts: Vec<(MemLocId, FlatIndex)>,
    /// The segments whose value flows on after their last instruction, ascending.
    open_ends: Vec<(MemLocId, FlatIndex)>,
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
    ///
    /// Only uses are reported, not exits that an unwritten root escapes to. Locations in the shared
    /// space or with a remote link are left out, since another core may write them; whoever knows
    /// the groups drops the warnings of their other members. // M4
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

impl Liveness {
    /// Whether the bytes of a root still matter after the instruction at `index`. A view has no
    /// life of its own: ask for its root. // L3
    pub fn is_live_out(&self, root: MemLocId, index: FlatIndex) -> bool {
        self.segment_at(root, index).is_some_and(|segment| {
            index < segment.last() || self.open_ends.binary_search(&(root, index)).is_ok()
        })
    }

    /// Whether the bytes of a root already matter before the instruction at `index`.
    pub fn is_live_in(&self, root: MemLocId, index: FlatIndex) -> bool {
        self.segment_at(root, index).is_some_and(|segment| {
            segment.first() < index || self.open_starts.binary_search(&(root, index)).is_ok()
        })
    }

    /// Whether some instruction accesses the root, itself or through a view.
    pub fn is_touched(&self, root: MemLocId) -> bool {
        !self.lives.of(root.index()).is_empty()
    }

    fn segment_at(&self, root: MemLocId, index: FlatIndex) -> Option<Segment> {
        let segments = self.lives.of(root.index());
        let after = segments.partition_point(|s| s.first() <= index);
        let segment = *segments.get(after.checked_sub(1)?)?;
        segment.contains(index).then_some(segment)
    }
}

/// A caller's location that a call reads or writes through a callee's input or output, listed
/// among the call's operands or not. // L7
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    /// The call.
    pub index: FlatIndex,
    /// The caller's location, a root or a view.
    pub loc: MemLocId,
    /// Bound to an output, so written whole; else bound to an input, so read.
    pub is_def: bool,
}

impl Binding {
    /// The bytes, all those of the location.
    pub(crate) fn access(&self, function: &Function) -> Access {
        let bytes = function.memloc(self.loc).bytes;
        Access {
            loc: self.loc,
            offset: 0,
            bytes,
        }
    }
}

/// The lives of the locations of a function that binds nothing to calls.
pub fn liveness(function: &Function) -> Liveness {
    liveness_with(function, &[])
}

/// The lives of a function's locations; `bindings` ascend by index.
pub fn liveness_with(function: &Function, bindings: &[Binding]) -> Liveness {
    liveness_unless(function, bindings, &mut Pace::free()).expect("nothing stops it")
}

/// The same, unless the host stops it. // S2
pub(crate) fn liveness_unless(
    function: &Function,
    bindings: &[Binding],
    pace: &mut Pace<'_, '_>,
) -> Result<Liveness, Stop> {
    let storage = Storage::unless(function, pace)?;
    let accesses = Accesses::unless(function, bindings, &storage, pace)?;
    let graph = Graph::unless(function, pace)?;

    let mut result = Liveness {
        lives: Lives::with_capacity(function.memlocs().len(), function.memlocs().len()),
        ..Liveness::default()
    };
    let unreachable = graph.unreachable().iter();
    result.warnings.extend(unreachable.map(|&block| {
        let block = BlockId(block);
        LivenessWarning::UnreachableBlock { block }
    }));

    let mut walker = Walker::new(function, &graph);
    let mut unwritten = Vec::new();
    for id in function.memloc_ids() {
        let (escapes, at_entry) = (storage.escapes(id), storage.at_entry(id));
        let life = walker.walk(accesses.of(id), escapes, at_entry, pace)?;
        if let Some(index) = life.unwritten_use {
            unwritten.push(u64::from(index) << 32 | u64::from(id.0));
        }
        for piece in life.ascending() {
            if piece.open_start {
                result.open_starts.push((id, FlatIndex(piece.first)));
            }
            if piece.open_end {
                result.open_ends.push((id, FlatIndex(piece.last)));
            }
        }
        result.lives.push(life.ascending().map(|piece| {
            let (first, last) = (FlatIndex(piece.first), FlatIndex(piece.last));
            Segment::new(first, last).expect("a piece ends where it starts or later")
        }));
    }

    sort_words(&mut unwritten, 0, pace)?;
    let unwritten = unwritten.into_iter().map(|word| {
        let (index, loc) = (FlatIndex((word >> 32) as u32), MemLocId(word as u32));
        LivenessWarning::UninitializedUse { loc, index }
    });
    result.warnings.extend(unwritten);
    pairs::judge(function, &accesses, &mut result, pace)?;
    Ok(result)
}

/// The roots that some instruction accesses, by *dense id*: ranked by the flat index of their first
/// access, then by the operand's position in its list, defs before uses. // T
///
/// What a call reaches through a binding alone comes after its operands, in the order of bindings.
pub fn dense_order(function: &Function, bindings: &[Binding]) -> Vec<MemLocId> {
    dense_order_unless(function, bindings, &mut Pace::free()).expect("nothing stops it")
}

/// The same, unless the host stops it. // S2
pub(crate) fn dense_order_unless(
    function: &Function,
    bindings: &[Binding],
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<MemLocId>, Stop> {
    let mut seen = vec![false; function.memlocs().len()];
    let mut order = Vec::new();
    let mut visit = |loc: MemLocId| {
        let (root, _) = function.root(loc);
        if !std::mem::replace(&mut seen[root.index()], true) {
            order.push(root);
        }
    };
    let mut bindings = bindings.iter().peekable();
    for index in (0..function.instructions().len()).map(FlatIndex::new) {
        let (defs, uses) = (function.defs(index), function.uses(index));
        pace.work(1 + defs.len() + uses.len())?;
        for position in 0..defs.len().max(uses.len()) {
            for list in [defs, uses] {
                if let Some(access) = list.get(position) {
                    visit(access.loc);
                }
            }
        }
        while let Some(binding) = bindings.next_if(|binding| binding.index == index) {
            visit(binding.loc);
        }
    }
    Ok(order)
}
