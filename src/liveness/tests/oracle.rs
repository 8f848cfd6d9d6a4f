//! The rules once more, too simple to be wrong: fixpoints over single instructions, per root.
//!
//! Shares nothing with the walks but the program model: no accesses by root, no block summaries, no
//! ranks; each block has a point of its own above its first instruction, so empty blocks are like
//! any other.

use crate::ir::{
    BlockId, FlatIndex, Function, Kind, Lives, MemLocId, MemoryType, Segment, Space, Usage,
};
use crate::liveness::{LivePair, Liveness, LivenessWarning};

/// The points of a function: per block its top, then its instructions.
struct Points {
    instruction: Vec<Option<FlatIndex>>,
    succs: Vec<Vec<usize>>,
    /// The tops of the blocks where control starts.
    entries: Vec<usize>,
    /// Ends of exit blocks.
    exits: Vec<usize>,
    /// No exit can be reached from here.
    endless: Vec<bool>,
    unreachable: Vec<BlockId>,
}

impl Points {
    fn new(f: &Function) -> Points {
        let mut instruction = Vec::new();
        let (mut tops, mut ends) = (Vec::new(), Vec::new());
        for b in 0..f.blocks().len() {
            tops.push(instruction.len());
            instruction.push(None);
            instruction.extend(f.block_range(BlockId::new(b)).map(|i| Some(FlatIndex(i))));
            ends.push(instruction.len() - 1);
        }
        let mut succs: Vec<Vec<usize>> = (0..instruction.len()).map(|p| vec![p + 1]).collect();
        for (b, &end) in ends.iter().enumerate() {
            let next = f.successors(BlockId::new(b));
            succs[end] = next.iter().map(|s| tops[s.index()]).collect();
        }
        let exits: Vec<usize> = (0..succs.len()).filter(|&p| succs[p].is_empty()).collect();
        let reachable = fixpoint(succs.len(), |p, now| {
            p == 0 || (0..succs.len()).any(|q| now[q] && succs[q].contains(&p))
        });
        let can_exit = fixpoint(succs.len(), |p, now| {
            succs[p].is_empty() || succs[p].iter().any(|&q| now[q])
        });
        let unreachable: Vec<usize> = (0..tops.len()).filter(|&b| !reachable[tops[b]]).collect();
        Points {
            instruction,
            entries: std::iter::once(0)
                .chain(unreachable.iter().map(|&b| tops[b]))
                .collect(),
            succs,
            exits,
            endless: can_exit.into_iter().map(|can| !can).collect(),
            unreachable: unreachable.into_iter().map(BlockId::new).collect(),
        }
    }
}

/// The least solution of `now[i] = rule(i, now)`, for a rule that only ever adds.
fn fixpoint(len: usize, rule: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
    let mut now = vec![false; len];
    loop {
        let next: Vec<bool> = (0..len).map(|i| now[i] || rule(i, &now)).collect();
        if next == now {
            return now;
        }
        now = next;
    }
}

struct RootLife {
    segments: Vec<Segment>,
    live_in: Vec<bool>, // By flat index.
    live_out: Vec<bool>,
    unwritten_use: Option<FlatIndex>,
}

fn is_use(f: &Function, root: MemLocId, i: FlatIndex) -> bool {
    f.uses(i).iter().any(|a| f.root(a.loc).0 == root)
}

fn is_def(f: &Function, root: MemLocId, i: FlatIndex) -> bool {
    f.defs(i).iter().any(|a| f.root(a.loc).0 == root)
}

fn is_full(f: &Function, root: MemLocId, i: FlatIndex) -> bool {
    f.defs(i).iter().any(|a| {
        let (r, offset) = f.root(a.loc);
        r == root && offset + a.offset == 0 && a.bytes == f.memloc(root).bytes
    })
}

/// Whether the host or a caller puts values there.
fn is_filled(f: &Function, root: MemLocId) -> bool {
    f.memloc_ids().any(|id| {
        let usage = f.memloc(id).usage;
        f.root(id).0 == root && matches!(usage, Usage::Input | Usage::Weight | Usage::Constant)
    })
}

fn root_life(f: &Function, points: &Points, root: MemLocId) -> RootLife {
    let n = points.succs.len();
    let at = |p: usize, what: fn(&Function, MemLocId, FlatIndex) -> bool| {
        points.instruction[p].is_some_and(|i| what(f, root, i))
    };
    let preds = |p: usize| (0..n).filter(move |&q| points.succs[q].contains(&p));
    let escapes = f.memloc_ids().any(|id| {
        let loc = f.memloc(id);
        f.root(id).0 == root && (loc.escapes() || loc.usage == Usage::Output)
    });
    let touched = (0..n).any(|p| at(p, is_use) || at(p, is_def));
    let escapes = escapes && touched; // L4

    // A path from an entry hides what is there with its first def; if that is a value, with a full
    // one.
    let hides = if is_filled(f, root) { is_full } else { is_def };
    // Unwritten before p: some path from an entry to p hides nothing.
    let unwritten = fixpoint(n, |p, now| {
        points.entries.contains(&p) || preds(p).any(|q| now[q] && !at(q, hides))
    });
    // Reached before p: some path to p has a def.
    let reached = fixpoint(n, |p, now| preds(p).any(|q| now[q] || at(q, is_def)));
    // Wanted before p: some path from p comes to a use or an exit without a full def.
    let wanted_after = |p: usize, now: &[bool]| {
        points.succs[p].iter().any(|&s| now[s]) || escapes && points.exits.contains(&p)
    };
    let wanted = fixpoint(n, |p, now| {
        at(p, is_use) || wanted_after(p, now) && !at(p, is_full)
    });
    // Kept: control may get where it never leaves, with the bytes that are there at p.
    let kept_after = |p: usize, now: &[bool]| {
        escapes && (points.endless[p] || points.succs[p].iter().any(|&s| now[s]))
    };
    let kept = fixpoint(n, |p, now| {
        escapes && points.endless[p] || kept_after(p, now) && !at(p, is_full)
    });

    let from_entry = (0..n).any(|p| {
        unwritten[p] && (at(p, is_use) || escapes && points.exits.contains(&p) && !at(p, hides))
    });
    let mut life = RootLife {
        segments: Vec::new(),
        live_in: Vec::new(),
        live_out: Vec::new(),
        unwritten_use: None,
    };
    for p in 0..n {
        let Some(index) = points.instruction[p] else {
            continue;
        };
        if life.unwritten_use.is_none() && at(p, is_use) && unwritten[p] {
            life.unwritten_use = Some(index);
        }
        // What is only kept is so from the defs on, whatever sees an entry.
        let live_in = wanted[p] && (reached[p] || from_entry) || kept[p] && reached[p];
        let defined = reached[p] || at(p, is_def);
        let live_out =
            wanted_after(p, &wanted) && (defined || from_entry) || kept_after(p, &kept) && defined;
        if live_in || at(p, is_use) || at(p, is_def) {
            let flows = life.live_out.last() == Some(&true) && live_in;
            let first = match life.segments.pop_if(|_| flows) {
                Some(segment) => segment.first(),
                None => index,
            };
            life.segments.push(Segment::new(first, index).unwrap());
        }
        life.live_in.push(live_in);
        life.live_out.push(live_out);
    }
    life
}

fn objects(f: &Function, lives: &[RootLife], i: FlatIndex, used: MemLocId, def: MemLocId) -> bool {
    let (u, d) = (f.memloc(used), f.memloc(def));
    let accesses = f.uses(i).iter().chain(f.defs(i));
    let eligible = f.instructions()[i.index()].kind != Kind::Call
        && u.view().is_none()
        && d.view().is_none()
        && is_use(f, used, i)
        && is_full(f, def, i)
        && !is_use(f, def, i)
        && accesses.filter(|a| f.root(a.loc).0 == used).count() == 1
        && !lives[used.index()].live_out[i.index()]
        && !lives[def.index()].live_in[i.index()]
        && u.space == d.space
        && u.memory == d.memory
        && u.pin().is_none();
    !eligible
}

/// Panics where `liveness` and the rules differ.
pub(super) fn compare(f: &Function, got: &Liveness) {
    let points = Points::new(f);
    let lives: Vec<RootLife> = f.memloc_ids().map(|id| root_life(f, &points, id)).collect();

    let mut want = Lives::new();
    for life in &lives {
        want.push(life.segments.iter().copied());
    }
    for id in f.memloc_ids() {
        assert_eq!(
            got.lives.of(id.index()),
            want.of(id.index()),
            "lives of {id} in {f:#?}"
        );
        for (i, life) in lives[id.index()].live_out.iter().enumerate() {
            assert_eq!(
                got.is_live_out(id, FlatIndex::new(i)),
                *life,
                "{id} after {i} in {f:#?}"
            );
        }
        for (i, life) in lives[id.index()].live_in.iter().enumerate() {
            assert_eq!(
                got.is_live_in(id, FlatIndex::new(i)),
                *life,
                "{id} before {i} in {f:#?}"
            );
        }
    }

    let mut warnings = Vec::new();
    for &block in &points.unreachable {
        warnings.push(LivenessWarning::UnreachableBlock { block });
    }
    let mut unwritten: Vec<(FlatIndex, MemLocId)> = Vec::new();
    for id in f.memloc_ids() {
        let loc = f.memloc(id);
        let candidate = loc.view().is_none()
            && loc.pin().is_none()
            && loc.memory == MemoryType::Dram
            && loc.space != Space::Shared
            && f.remote(id).is_none()
            && matches!(loc.usage, Usage::Internal | Usage::Collective);
        if candidate && !is_filled(f, id) {
            unwritten.extend(lives[id.index()].unwritten_use.map(|index| (index, id)));
        }
    }
    unwritten.sort();
    for (index, loc) in unwritten {
        warnings.push(LivenessWarning::UninitializedUse { loc, index });
    }
    let mut pairs = Vec::new();
    for index in (0..f.instructions().len()).map(FlatIndex::new) {
        for &(used, def) in f.in_place(index) {
            if objects(f, &lives, index, used, def) {
                let reason = "";
                warnings.push(LivenessWarning::IneligiblePair {
                    index,
                    used,
                    def,
                    reason,
                });
            } else {
                pairs.push(LivePair { index, used, def });
            }
        }
    }
    assert_eq!(got.pairs, pairs, "in {f:#?}");
    let mut said = got.warnings.clone();
    for warning in &mut said {
        if let LivenessWarning::IneligiblePair { reason, .. } = warning {
            assert!(!reason.is_empty());
            *reason = "";
        }
    }
    assert_eq!(said, warnings, "in {f:#?}");
}
