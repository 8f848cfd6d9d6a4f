//! The edges against the rules played out, and the cases that people think of.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Result, Unstructured};

use super::across::Effort;
use super::oracle::{Oracle, Places};
use super::*;
use crate::ir::{Extent, InstructionSpec, Kind, MemLocId, MemLocSpec, Operand, Space};

/// A small function that collides a lot, and where its roots lie.
fn function(u: &mut Unstructured<'_>, blocks: u32) -> Result<(Function, Places)> {
    let mut f = Function::new("main");
    let mut places = Places::new();
    for number in 0..u.int_in_range(1..=4)? {
        let bytes = u.int_in_range(0..=4)?;
        let mut spec = MemLocSpec {
            extent: Some(Extent::Bytes(bytes)),
            ..Default::default()
        };
        let mut place = None;
        if number > 0 && u.ratio(1, 4)? {
            let parent = MemLocId(u.int_in_range(0..=number - 1)?);
            let room = f.memloc(parent).bytes;
            if room > 0 {
                let offset = u.int_in_range(0..=room - 1)?;
                spec.view = Some((parent, offset));
                spec.extent = None;
            }
        }
        if spec.view.is_none() && u.ratio(3, 4)? {
            let space = if u.ratio(1, 6)? {
                Space::Shared
            } else {
                Space::Local
            };
            place = Some((space, u.int_in_range(0..=6)?));
        }
        f.add_memloc(&spec).expect("valid");
        places.push(place);
    }
    let engines = u.int_in_range(1..=3)?;
    for _ in 0..blocks {
        f.add_block("");
        for _ in 0..u.int_in_range(0..=3)? {
            instruction(u, &mut f, engines)?;
        }
    }
    for block in (0..blocks).map(BlockId) {
        let mut succs = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            succs.push(BlockId(u.int_in_range(0..=blocks - 1)?));
        }
        f.set_successors(block, &succs).expect("valid");
    }
    Ok((f, places))
}

fn instruction(u: &mut Unstructured<'_>, f: &mut Function, engines: u32) -> Result<()> {
    let fence = u.ratio(1, 12)?;
    let mut operands = |most: usize| -> Result<Vec<Operand>> {
        let mut list = Vec::new();
        for _ in 0..u.int_in_range(0..=most)? {
            let loc = MemLocId(u.choose_index(f.memlocs().len())? as u32);
            let size = f.memloc(loc).bytes;
            let mut operand = Operand::from(loc);
            if u.ratio(1, 3)? {
                operand.offset = u.int_in_range(0..=size)?;
                operand.bytes = Some(u.int_in_range(0..=size - operand.offset)?);
            }
            list.push(operand);
        }
        Ok(list)
    };
    let (uses, defs) = (operands(2)?, operands(1)?);
    let spec = InstructionSpec {
        op: "x",
        kind: if fence { Kind::Barrier } else { Kind::Compute },
        engine: u.int_in_range(0..=engines - 1)?,
        uses: &uses,
        defs: &defs,
        ..Default::default()
    };
    f.add_instruction(&spec).expect("valid");
    Ok(())
}

fn layout(f: &Function, places: &Places) -> Layout {
    Layout::new(f, |id| places[id.index()]).expect("small addresses")
}

fn show(f: &Function, places: &Places) -> String {
    let mut text = format!("{places:?}\n");
    for block in (0..f.blocks().len()).map(BlockId::new) {
        text += &format!("{block}: -> {:?}\n", f.successors(block));
        for i in f.block_range(block) {
            let index = FlatIndex(i);
            let instruction = &f.instructions()[i as usize];
            let bytes = |accesses: &[crate::ir::Access]| -> Vec<String> {
                let each = |a: &crate::ir::Access| {
                    let (root, base) = f.root(a.loc);
                    let first = base + a.offset;
                    format!("{root}[{first}..{}]", first + a.bytes)
                };
                accesses.iter().map(each).collect()
            };
            text += &format!(
                "  {i}: {} e{} uses {:?} defs {:?}\n",
                instruction.kind,
                instruction.engine,
                bytes(f.uses(index)),
                bytes(f.defs(index)),
            );
        }
    }
    text
}

fn pairs(edges: &[Edge]) -> BTreeMap<(u32, u32), DependenceKind> {
    edges.iter().map(|e| ((e.from.0, e.to.0), e.kind)).collect()
}

/// A small function with its layout, the walks through it and what they need.
struct Case {
    function: Function,
    places: Places,
    walks: Vec<Vec<BlockId>>,
    needed: BTreeMap<(u32, u32), DependenceKind>,
}

/// `None` if there are too many walks to play out.
fn case(u: &mut Unstructured<'_>) -> Result<Option<Case>> {
    let blocks = u.int_in_range(1..=5)?;
    let (function, places) = function(u, blocks)?;
    let oracle = Oracle::new(&function, &places);
    let Some(walks) = oracle.walks(2, 300) else {
        return Ok(None);
    };
    let mut needed = BTreeMap::new();
    for walk in &walks {
        needed.extend(oracle.reduction(&oracle.trace(walk)));
    }
    Ok(Some(Case {
        walks,
        needed,
        function,
        places,
    }))
}

impl Case {
    fn edges(&self, wanted: Wanted, effort: Effort) -> Vec<Edge> {
        let layout = layout(&self.function, &self.places);
        let code = Code::new(&self.function, &layout);
        edges(&self.function, &code, wanted, effort)
    }

    /// Whether some walk through the function runs two instructions in the wrong order.
    fn goes_wrong(&self, edges: &[Edge]) -> bool {
        let oracle = Oracle::new(&self.function, &self.places);
        let wrong = |walk: &Vec<BlockId>| oracle.unordered(&oracle.trace(walk), edges).is_some();
        self.walks.iter().any(wrong)
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&show(&self.function, &self.places))
    }
}

#[test]
fn straight_line_code_gets_its_transitive_reduction() {
    arbtest::arbtest(|u| {
        let (mut f, places) = function(u, 1)?;
        let engines = u.int_in_range(1..=4)?;
        for _ in 0..u.int_in_range(0..=9)? {
            instruction(u, &mut f, engines)?;
        }
        f.set_successors(BlockId(0), &[]).expect("valid");
        let edges = dependences(&f, &layout(&f, &places));
        let oracle = Oracle::new(&f, &places);
        let trace: Vec<u32> = (0..f.instructions().len() as u32).collect();
        assert_eq!(
            pairs(&edges),
            oracle.reduction(&trace),
            "{}",
            show(&f, &places)
        );
        assert!(edges.iter().all(|e| e.distance() == 0));
        Ok(())
    });
}

#[test]
fn any_graph_gets_what_some_path_needs_and_nothing_else() {
    arbtest::arbtest(|u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let edges = dependences(&case.function, &layout(&case.function, &case.places));
        assert_eq!(pairs(&edges), case.needed, "{case}");
        assert_eq!(edges.len(), case.needed.len(), "one edge per pair: {case}");
        assert!(!case.goes_wrong(&edges), "{case}");
        Ok(())
    });
}

#[test]
fn an_edge_less_and_some_walk_goes_wrong() {
    arbtest::arbtest(|u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let mut edges = dependences(&case.function, &layout(&case.function, &case.places));
        if edges.is_empty() {
            return Ok(());
        }
        let dropped = edges.remove(u.choose_index(edges.len())?);
        assert!(case.goes_wrong(&edges), "{dropped:?} of\n{case}");
        Ok(())
    });
}

#[test]
fn little_effort_keeps_edges_and_never_drops_one() {
    let little = |exact, safe| Effort { exact, safe };
    arbtest::arbtest(|u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let none = pairs(&case.edges(Wanted::Reduced, little(0, 0)));
        let safe = pairs(&case.edges(Wanted::Reduced, little(0, u64::MAX)));
        let both = pairs(&case.edges(Wanted::Reduced, little(u64::MAX, 0)));
        let contains = |more: &BTreeMap<_, _>, less: &BTreeMap<_, _>| {
            less.iter().all(|(pair, kind)| more.get(pair) == Some(kind))
        };
        assert!(contains(&none, &safe), "{case}");
        assert!(contains(&safe, &case.needed), "{case}");
        assert_eq!(both, case.needed, "{case}");
        let some = little(u.int_in_range(0..=40)?, u.int_in_range(0..=40)?);
        let some = pairs(&case.edges(Wanted::Reduced, some));
        assert!(contains(&some, &case.needed), "{case}");
        Ok(())
    });
}

#[test]
fn flow_and_reuse_together_order_everything() {
    arbtest::arbtest(|u| {
        let Some(mut case) = case(u)? else {
            return Ok(());
        };
        // By location alone, flow by location and reuse are about the same bytes.
        case.places.iter_mut().for_each(|place| *place = None);
        let mut edges = flow(&case.function);
        assert!(edges.iter().all(|e| e.kind == DependenceKind::Flow));
        let reuse = reuse(&case.function, &Layout::unplaced(&case.function));
        assert!(reuse.iter().all(|e| e.kind != DependenceKind::Flow));
        edges.extend(reuse);
        assert!(!case.goes_wrong(&edges), "{case}");
        Ok(())
    });
}

#[test]
fn the_distance_counts_back_edges() {
    arbtest::arbtest(|u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let oracle = Oracle::new(&case.function, &case.places);
        let back = oracle.back_edges();
        for edge in dependences(&case.function, &layout(&case.function, &case.places)) {
            match edge.header {
                // The other way round need not hold: what is implied on the paths without back
                // edges may be needed on one with.
                Some(header) => {
                    assert!(
                        !oracle.forward(&back, edge.from.0, edge.to.0),
                        "{edge:?}\n{case}"
                    );
                    assert!(back.iter().any(|&(_, to)| to == header), "{edge:?}\n{case}");
                }
                None => assert!(
                    forward_reach(&case.function, &back, edge),
                    "{edge:?}\n{case}"
                ),
            }
        }
        Ok(())
    });
}

/// Whether control gets from one end of an edge to the other without a back edge.
fn forward_reach(f: &Function, back: &BTreeSet<(BlockId, BlockId)>, edge: Edge) -> bool {
    let block = |i: FlatIndex| f.instructions()[i.index()].block;
    let (from, to) = (block(edge.from), block(edge.to));
    let mut open = vec![from];
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop() {
        for &succ in f.successors(at) {
            if !back.contains(&(at, succ)) && seen.insert(succ) {
                open.push(succ);
            }
        }
    }
    seen.contains(&to) || from == to && edge.from < edge.to
}
