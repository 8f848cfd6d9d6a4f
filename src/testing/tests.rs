use super::*;
use crate::ir::{BlockId, FlatIndex, Kind, MemLocId, MemoryType, Space, Usage};
use crate::liveness::{LivenessWarning, liveness};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn an_empty_input_gives_a_program_all_the_same() {
    let p = program(&mut Unstructured::new(&[]), &Shape::many_cores()).unwrap();
    assert_eq!(p.modules().len(), 1);
    assert_eq!(p.modules()[0].functions()[0].instructions().len(), 0);
}

#[test]
fn one_seed_gives_one_program() {
    for seed in 0..20 {
        let bytes = random_bytes(seed);
        let make = || program(&mut Unstructured::new(&bytes), &Shape::many_cores()).unwrap();
        assert_eq!(make(), make());
    }
}

#[test]
fn pins_never_overlap() {
    for_each_seed(0..300, |u| {
        let p = program(u, &Shape::many_cores())?;
        let mut pins = BTreeSet::new();
        for f in p.modules().iter().flat_map(|m| m.functions()) {
            for (id, loc) in f.memloc_ids().zip(f.memlocs()) {
                // Members of a pinned group are at one place and have one name, or one of a kind.
                let name = f.memloc_name(id).split('_').next().unwrap_or("").to_owned();
                let name = if name.starts_with('s') {
                    name
                } else {
                    format!("{id}")
                };
                if let Some(pin) = loc.pin().filter(|_| loc.bytes > 0) {
                    pins.insert((pin, pin + loc.bytes, name));
                }
            }
        }
        let pins: Vec<_> = pins.into_iter().collect();
        assert!(pins.windows(2).all(|w| w[0].1 <= w[1].0), "{pins:?}");
        Ok(())
    });
}

/// The numbers of barriers with their ids on every path from a block to an exit; `None` inside
/// cycles without barriers is cut by walking each block once per path.
fn barrier_paths(f: &Function) -> BTreeSet<Vec<Option<u64>>> {
    let mut paths = BTreeSet::new();
    let mut todo = vec![(BlockId(0), Vec::new(), vec![false; f.blocks().len()])];
    let mut steps = 0;
    while let Some((block, mut ids, mut seen)) = todo.pop() {
        steps += 1;
        if std::mem::replace(&mut seen[block.index()], true) || steps > 20_000 {
            continue; // Simple paths are enough: loops with barriers run at least once.
        }
        for i in f.block_range(block) {
            let instruction = &f.instructions()[i as usize];
            if instruction.kind == Kind::Barrier {
                ids.push(f.barrier_id(FlatIndex(i)));
            }
        }
        if f.successors(block).is_empty() {
            paths.insert(ids);
            continue;
        }
        for &next in f.successors(block) {
            todo.push((next, ids.clone(), seen.clone()));
        }
    }
    paths
}

#[test]
fn every_path_passes_the_same_barriers_on_every_core() {
    let mut passed = 0;
    for_each_seed(0..400, |u| {
        let p = program(u, &Shape::many_cores())?;
        let mut by_name: BTreeMap<&str, BTreeSet<Vec<Option<u64>>>> = BTreeMap::new();
        for f in p.modules().iter().flat_map(|m| m.functions()) {
            by_name
                .entry(f.name())
                .or_default()
                .extend(barrier_paths(f));
        }
        for (name, paths) in by_name {
            assert!(paths.len() <= 1, "{name}: {paths:?}");
            passed += paths.iter().filter(|path| !path.is_empty()).count();
        }
        Ok(())
    });
    assert!(passed > 50, "only {passed} functions had barriers");
}

#[test]
fn calls_have_no_cycle_and_bind_every_formal_once() {
    let (mut calls, mut pairs) = (0, 0);
    for_each_seed(0..400, |u| {
        let p = program(
            u,
            &Shape {
                functions: 3,
                ..Shape::many_cores()
            },
        )?;
        for m in p.modules() {
            for (caller, f) in m.functions().iter().enumerate() {
                for i in (0..f.instructions().len()).map(FlatIndex::new) {
                    let Some(callee) = f.callee(i) else {
                        continue;
                    };
                    calls += 1;
                    pairs += f.in_place(i).len();
                    let callee = m.find_function(f.symbol(callee)).expect("it exists");
                    assert!(
                        callee > caller,
                        "calls go from earlier functions to later ones"
                    );
                    let callee = &m.functions()[callee];
                    let mut unbound: BTreeMap<&str, u64> = (callee.memloc_ids())
                        .filter(|&id| {
                            let loc = callee.memloc(id);
                            let formal = matches!(loc.usage, Usage::Input | Usage::Output);
                            formal && loc.pin().is_none()
                        })
                        .map(|id| (callee.memloc_name(id), callee.memloc(id).bytes))
                        .collect();
                    let mut roots = BTreeSet::new();
                    for arg in f.args(i) {
                        let name = f.symbol(arg.callee);
                        let bytes = unbound.remove(name).expect("bound once, and a formal");
                        assert_eq!(f.memloc(arg.caller).bytes, bytes);
                        assert!(roots.insert(f.root(arg.caller).0), "one root, one formal");
                    }
                    assert_eq!(unbound, BTreeMap::new());
                }
            }
        }
        Ok(())
    });
    assert!(calls > 100, "only {calls} calls");
    assert!(pairs > 20, "only {pairs} pairs of what calls bind");
}

#[test]
fn members_of_a_group_agree_and_links_lead_to_one_owner() {
    let mut links = 0;
    for_each_seed(0..400, |u| {
        let p = program(u, &Shape::many_cores())?;
        for m in p.modules() {
            for f in m.functions() {
                for id in f.memloc_ids() {
                    let (mut at, mut here) = (f, id);
                    let mut cores = BTreeSet::from([m.core()]);
                    while let Some(remote) = at.remote(here) {
                        links += 1;
                        let other = &p.modules()[remote.core as usize];
                        at = &other.functions()[other.find_function(f.name()).expect("M5")];
                        here = at.find_memloc(&remote.name).expect("the target exists");
                        assert!(cores.insert(remote.core), "two members on one core");
                        let (a, b) = (f.memloc(id), at.memloc(here));
                        assert_eq!((a.bytes, a.pin()), (b.bytes, b.pin()));
                        assert!(b.view().is_none());
                    }
                }
            }
        }
        Ok(())
    });
    assert!(links > 100, "only {links} links");
}

/// Everything that a property test may count on meeting.
#[test]
fn every_oddity_occurs() {
    let mut met: BTreeMap<&str, u32> = BTreeMap::new();
    let mut meet = |what: &'static str, count: usize| *met.entry(what).or_default() += count as u32;
    for_each_seed(0..1000, |u| {
        let f = function(u, &Shape::default())?;
        let live = liveness(&f);
        let blocks = (0..f.blocks().len()).map(BlockId::new);
        let instructions = || (0..f.instructions().len()).map(FlatIndex::new);
        meet(
            "empty block",
            blocks
                .clone()
                .filter(|&b| f.block_range(b).is_empty())
                .count(),
        );
        meet(
            "self loop",
            blocks
                .clone()
                .filter(|&b| f.successors(b).contains(&b))
                .count(),
        );
        let exits = blocks
            .clone()
            .filter(|&b| f.successors(b).is_empty())
            .count();
        meet("several exits", (exits > 1).into());
        let to_entry = |&b: &BlockId| f.successors(b).contains(&BlockId(0));
        meet("edge to the entry", blocks.clone().filter(to_entry).count());
        meet("no exit", (exits == 0).into());
        meet(
            "more than 8 instructions",
            (f.instructions().len() > 8).into(),
        );
        for warning in &live.warnings {
            match warning {
                LivenessWarning::UnreachableBlock { .. } => meet("unreachable block", 1),
                LivenessWarning::UninitializedUse { .. } => meet("unwritten use", 1),
                LivenessWarning::IneligiblePair { reason, .. } => meet(reason, 1),
            }
        }
        meet("eligible pair", live.pairs.len());
        for id in f.memloc_ids() {
            let loc = f.memloc(id);
            meet(
                "view of a view",
                loc.view().is_some_and(|v| v.parent != v.root).into(),
            );
            meet(
                "several segments",
                (live.lives.of(id.index()).len() > 1).into(),
            );
            meet("no bytes", (loc.bytes == 0).into());
            meet("odd bytes", (loc.bytes % 4096 != 0).into());
            meet(
                "pinned candidate",
                (loc.pin().is_some() && loc.usage == Usage::Internal).into(),
            );
            meet(
                "pinned input",
                (loc.pin().is_some() && loc.usage == Usage::Input).into(),
            );
            meet(
                "caller-owned",
                (loc.pin().is_none() && loc.usage == Usage::Weight).into(),
            );
            meet(
                "escaping candidate",
                (loc.escapes() && loc.usage == Usage::Internal).into(),
            );
            meet("debug space", (loc.space == Space::Debug).into());
            meet("shared space", (loc.space == Space::Shared).into());
            meet("on chip", (loc.memory != MemoryType::Dram).into());
            meet(
                "alignment",
                loc.align().is_some_and(|align| align > 4096).into(),
            );
            meet(
                "untouched",
                (loc.view().is_none() && !live.is_touched(id)).into(),
            );
        }
        for i in instructions() {
            let partial = f.defs(i).iter().filter(|a| !f.covers_root(a)).count();
            meet("partial def", partial);
            let through = f
                .defs(i)
                .iter()
                .filter(|a| f.memloc(a.loc).view().is_some());
            meet(
                "full def through a view",
                through.filter(|a| f.covers_root(a)).count(),
            );
            let instruction = &f.instructions()[i.index()];
            meet("barrier", (instruction.kind == Kind::Barrier).into());
            meet("collective", (instruction.kind == Kind::Collective).into());
            meet("copy", (instruction.kind == Kind::DmaCopy).into());
            meet("third engine", (instruction.engine == 2).into());
        }
        Ok(())
    });
    let rare: Vec<_> = met.iter().filter(|(_, count)| **count < 5).collect();
    assert_eq!(rare, [], "of {met:#?}");
}

#[test]
fn what_a_shape_leaves_out_never_occurs() {
    for_each_seed(0..200, |u| {
        let f = function(u, &Shape::plain())?;
        for id in f.memloc_ids() {
            let loc = f.memloc(id);
            assert!(loc.is_candidate(crate::ir::UsageMask::CANDIDATES));
            assert_eq!(
                (loc.bytes % 4096, loc.align(), loc.escapes()),
                (0, None, false)
            );
            assert_eq!(loc.space, Space::Local);
        }
        for i in (0..f.instructions().len()).map(FlatIndex::new) {
            assert_eq!(
                f.instructions()[i.index()].kind as u32 | 1,
                Kind::DmaCopy as u32 | 1
            );
            assert!(f.defs(i).iter().all(|a| f.covers_root(&a)));
            assert_eq!(f.in_place(i), &[] as &[(MemLocId, MemLocId)]);
        }
        for b in (0..f.blocks().len()).map(BlockId::new) {
            assert!(
                f.successors(b)
                    .iter()
                    .all(|next| next.index() == b.index() + 1)
            );
        }
        Ok(())
    });
}
