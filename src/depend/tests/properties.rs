//! The edges against the rules played out.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Result, Unstructured};

use super::cases::{function, instruction, layout, show};
use super::oracle::{Oracle, Places};
use crate::depend::across::Effort;
use crate::depend::scan::Wanted;
use crate::depend::{Edge, Layout, dependences, edges, flow, reuse};
use crate::ir::{BlockId, FlatIndex, Function, MemLocId, Space};
use crate::options::Options;
use crate::pace::Pace;
use crate::plan::DependenceKind;
use crate::testing::{Shape, for_each_seed, program};

/// What a pair of instructions needs, as the walks have it.
#[derive(Debug)]
struct Need {
    kind: DependenceKind,
    /// The fewest back edges on a way on which it is needed.
    back_edges: usize,
    /// Where these arrive, on any such way.
    headers: BTreeSet<BlockId>,
}

/// A small function with its layout, the walks through it and what they need.
struct Case {
    function: Function,
    places: Places,
    walks: Vec<Vec<BlockId>>,
    needed: BTreeMap<(u32, u32), Need>,
}

/// `None` if there are too many walks to play out.
fn case(u: &mut Unstructured<'_>) -> Result<Option<Case>> {
    // Many short blocks or few long ones.
    let (blocks, instructions) = *u.choose(&[(5, 3), (5, 3), (3, 8), (2, 12)])?;
    let blocks = u.int_in_range(1..=blocks)?;
    let (function, places) = function(u, blocks, instructions)?;
    Ok(play(function, places))
}

fn play(function: Function, places: Places) -> Option<Case> {
    let oracle = Oracle::new(&function, &places);
    let walks = oracle.walks(2, 300)?;
    let back = oracle.back_edges();
    let mut needed: BTreeMap<(u32, u32), Need> = BTreeMap::new();
    for walk in &walks {
        for (pair, kind, headers) in oracle.needed(walk, &back) {
            let need = needed.entry(pair).or_insert(Need {
                kind,
                back_edges: usize::MAX,
                headers: BTreeSet::new(),
            });
            if headers.len() < need.back_edges {
                need.back_edges = headers.len();
                need.headers.clear();
            }
            if headers.len() == need.back_edges {
                need.headers.extend(headers);
            }
        }
    }
    Some(Case {
        walks,
        needed,
        function,
        places,
    })
}

fn pairs(edges: &[Edge]) -> BTreeMap<(u32, u32), DependenceKind> {
    edges.iter().map(|e| ((e.from.0, e.to.0), e.kind)).collect()
}

impl Case {
    fn layout(&self) -> Layout {
        layout(&self.function, &self.places)
    }

    fn edges(&self, wanted: Wanted, effort: Effort) -> Vec<Edge> {
        let pace = &mut Pace::free();
        edges(&self.function, &self.layout(), wanted, effort, pace)
    }

    fn needed(&self) -> BTreeMap<(u32, u32), DependenceKind> {
        let needed = self.needed.iter();
        needed.map(|(&pair, need)| (pair, need.kind)).collect()
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
    for_each_seed(0..2000, |u| {
        let (mut f, places) = function(u, 1, 3)?;
        let engines = u.int_in_range(1..=4)?;
        for _ in 0..u.int_in_range(0..=9)? {
            instruction(u, &mut f, engines)?;
        }
        f.set_successors(BlockId(0), &[]).expect("valid");
        let edges = dependences(&f, &layout(&f, &places));
        let oracle = Oracle::new(&f, &places);
        let needed = oracle.needed(&[BlockId(0)], &BTreeSet::new());
        let needed = needed.into_iter().map(|(pair, kind, _)| (pair, kind));
        assert_eq!(pairs(&edges), needed.collect(), "{}", show(&f, &places));
        assert!(edges.iter().all(|e| e.distance() == 0));
        Ok(())
    });
}

#[test]
fn any_graph_gets_what_some_path_needs_and_nothing_else() {
    for_each_seed(0..3000, |u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let edges = dependences(&case.function, &case.layout());
        assert_eq!(pairs(&edges), case.needed(), "{case}");
        assert_eq!(edges.len(), case.needed.len(), "one edge per pair: {case}");
        assert!(!case.goes_wrong(&edges), "{case}");
        Ok(())
    });
}

#[test]
fn an_edge_goes_over_the_fewest_back_edges_that_need_it() {
    for_each_seed(0..2000, |u| {
        let Some(case) = case(u)? else { return Ok(()) };
        for edge in dependences(&case.function, &case.layout()) {
            let need = &case.needed[&(edge.from.0, edge.to.0)];
            match edge.header {
                None => assert_eq!(need.back_edges, 0, "{edge:?} of\n{case}"),
                Some(header) => {
                    assert!(need.headers.contains(&header), "{edge:?} of\n{case}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn an_edge_less_and_some_walk_goes_wrong() {
    for_each_seed(0..1000, |u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let mut edges = dependences(&case.function, &case.layout());
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
    let little = |exact, safe| Effort {
        exact,
        safe,
        visits: u64::MAX,
    };
    for_each_seed(0..1000, |u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let none = pairs(&case.edges(Wanted::Reduced, little(0, 0)));
        let safe = pairs(&case.edges(Wanted::Reduced, little(0, u64::MAX)));
        let exact = pairs(&case.edges(Wanted::Reduced, little(u64::MAX, 0)));
        let contains = |more: &BTreeMap<_, _>, less: &BTreeMap<_, _>| {
            less.iter().all(|(pair, kind)| more.get(pair) == Some(kind))
        };
        assert!(contains(&none, &safe), "{case}");
        assert!(contains(&safe, &case.needed()), "{case}");
        assert_eq!(exact, case.needed(), "{case}");
        let some = Effort {
            visits: u.int_in_range(0..=40)?,
            ..little(u.int_in_range(0..=40)?, u.int_in_range(0..=40)?)
        };
        let some = pairs(&case.edges(Wanted::Reduced, some));
        assert!(contains(&some, &case.needed()), "{case}");
        Ok(())
    });
}

#[test]
fn without_effort_an_edge_still_joins_what_meets() {
    let none = Effort {
        exact: 0,
        safe: 0,
        visits: 0,
    };
    for_each_seed(0..1500, |u| {
        let Some(case) = case(u)? else { return Ok(()) };
        let oracle = Oracle::new(&case.function, &case.places);
        let met = |strictly| -> BTreeSet<(u32, u32)> {
            let traces = case.walks.iter().map(|walk| oracle.trace(walk));
            traces.flat_map(|t| oracle.met(&t, strictly)).collect()
        };
        let (met, met_strictly) = (met(false), met(true));
        for edge in case.edges(Wanted::Reduced, none) {
            let pair = (edge.from.0, edge.to.0);
            assert!(met_strictly.contains(&pair), "{edge:?} of\n{case}");
        }
        for wanted in [Wanted::Flow, Wanted::Reuse] {
            for edge in case.edges(wanted, none) {
                let pair = (edge.from.0, edge.to.0);
                assert!(met.contains(&pair), "{edge:?} of\n{case}");
            }
        }
        Ok(())
    });
}

#[test]
fn flow_and_reuse_together_order_everything() {
    for_each_seed(0..1000, |u| {
        let Some(mut case) = case(u)? else {
            return Ok(());
        };
        // Without addresses, flow by location and reuse are about the same bytes.
        case.places.iter_mut().for_each(|place| *place = None);
        let mut edges = flow(&case.function, &Layout::unplaced(&case.function));
        assert!(edges.iter().all(|e| e.kind == DependenceKind::Flow));
        let reuse = reuse(&case.function, &Layout::unplaced(&case.function));
        assert!(reuse.iter().all(|e| e.kind != DependenceKind::Flow));
        edges.extend(reuse);
        assert!(!case.goes_wrong(&edges), "{case}");
        Ok(())
    });
}

#[test]
fn a_planned_program_gets_the_edges_that_its_addresses_need() {
    let shape = Shape {
        blocks: 5,
        instructions: 8,
        ..Shape::many_cores()
    };
    let mut played = 0;
    for_each_seed(0..150, |u| {
        let program = program(u, &shape)?;
        let Ok(plan) = crate::plan(&program, &Options::default(), &mut Default::default()) else {
            return Ok(());
        };
        for (module, planned) in program.modules().iter().zip(&plan.modules) {
            for (f, planned) in module.functions().iter().zip(&planned.functions) {
                let layout = Layout::of_plan(f, planned).expect("the plan is of this program");
                let place = |id: MemLocId| -> Option<(Space, u64)> {
                    let loc = &planned.memlocs[id.index()];
                    loc.address.map(|address| (loc.space, address))
                };
                let places = f.memloc_ids().map(place).collect();
                if let Some(case) = play(f.clone(), places) {
                    let edges = dependences(f, &layout);
                    assert_eq!(pairs(&edges), case.needed(), "{case}");
                    played += 1;
                }
            }
        }
        Ok(())
    });
    assert!(played > 50, "only {played} functions were small enough");
}

#[test]
fn equal_functions_get_equal_edges() {
    for_each_seed(0..200, |u| {
        let blocks = u.int_in_range(1..=6)?;
        let (f, places) = function(u, blocks, 3)?;
        let layout = layout(&f, &places);
        let edges = dependences(&f, &layout);
        assert_eq!(edges, dependences(&f.clone(), &layout.clone()));
        let sites: Vec<(FlatIndex, FlatIndex)> = edges.iter().map(|e| (e.from, e.to)).collect();
        assert!(sites.is_sorted(), "{}", show(&f, &places));
        Ok(())
    });
}
