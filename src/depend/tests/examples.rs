//! The cases that people think of.

use DependenceKind::{Anti, Flow, Output};

use crate::depend::{Layout, dependences, flow, reuse};
use crate::ir::{
    BlockId, Extent, FlatIndex, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Operand,
    Space,
};
use crate::options::Geometry;
use crate::plan::DependenceKind;

/// A function written down in a few letters.
///
/// Blocks are parted by `/`, instructions by blanks: an engine, what is read, `>`, what is
/// written. `1a>b` reads a and writes b on engine 1; `|` is a barrier and `!` a call. Every letter
/// is a location of 8 bytes; `a.` and `a'` are its first and its second half.
fn function(code: &str, succs: &[&[u32]]) -> Function {
    let mut f = Function::new("main");
    for letter in 'a'..='f' {
        let name = letter.to_string();
        let spec = MemLocSpec {
            name: &name,
            extent: Some(Extent::Bytes(8)),
            ..Default::default()
        };
        f.add_memloc(&spec).expect("valid");
    }
    for block in code.split('/') {
        f.add_block("");
        for text in block.split_whitespace() {
            let fence = match text {
                "|" => Kind::Barrier,
                "!" => Kind::Call,
                _ => Kind::Compute,
            };
            let mut spec = InstructionSpec {
                op: "x",
                kind: fence,
                callee: (fence == Kind::Call).then_some("g"),
                ..Default::default()
            };
            let (mut uses, mut defs) = (Vec::new(), Vec::new());
            if fence == Kind::Compute {
                let (engine, rest) = text.split_at(1);
                let (reads, writes) = rest.split_once('>').expect("an arrow");
                spec.engine = engine.parse().expect("an engine");
                uses = operands(&f, reads);
                defs = operands(&f, writes);
            }
            spec.uses = &uses;
            spec.defs = &defs;
            f.add_instruction(&spec).expect("valid");
        }
    }
    for (block, succs) in (0..).zip(succs) {
        let succs: Vec<BlockId> = succs.iter().map(|&b| BlockId(b)).collect();
        f.set_successors(BlockId(block), &succs).expect("valid");
    }
    f
}

fn operands(f: &Function, text: &str) -> Vec<Operand> {
    let mut list: Vec<Operand> = Vec::new();
    for letter in text.chars() {
        match (letter, list.last_mut()) {
            ('.' | '\'', Some(last)) => {
                last.offset = if letter == '.' { 0 } else { 4 };
                last.bytes = Some(4);
            }
            _ => {
                let loc = f.find_memloc(&letter.to_string()).expect("a letter");
                list.push(loc.into());
            }
        }
    }
    list
}

/// Places the letters at these addresses.
fn layout(f: &Function, addresses: &[(char, u64)]) -> Layout {
    Layout::new(f, |id: MemLocId| {
        let at = |&&(letter, _): &&(char, u64)| f.memloc_name(id) == letter.to_string();
        let place = addresses.iter().find(at);
        place.map(|&(_, address)| (Space::Local, address))
    })
    .expect("small addresses")
}

/// An edge in short: from, to, why, the header if it is carried.
type Short = (u32, u32, DependenceKind, Option<u32>);

struct Example {
    name: &'static str,
    code: &'static str,
    succs: &'static [&'static [u32]],
    addresses: &'static [(char, u64)],
    want: &'static [Short],
}

const EXAMPLES: &[Example] = &[
    Example {
        name: "a value flows to each engine once",
        code: "0>a 1a> 1a> 2a>",
        succs: &[],
        addresses: &[],
        want: &[(0, 1, Flow, None), (0, 3, Flow, None)],
    },
    Example {
        name: "one engine needs no edges",
        code: "0>a 0a>b 0b>a",
        succs: &[],
        addresses: &[],
        want: &[],
    },
    Example {
        name: "a writer waits for the last reader of each engine",
        code: "0>a 1a> 1a> 2a> 2a> 3>a",
        succs: &[],
        addresses: &[],
        want: &[
            (0, 1, Flow, None),
            (0, 3, Flow, None),
            (2, 5, Anti, None),
            (4, 5, Anti, None),
        ],
    },
    Example {
        name: "a writer waits for the writer if nobody reads",
        code: "0>a 1>a",
        succs: &[],
        addresses: &[],
        want: &[(0, 1, Output, None)],
    },
    Example {
        name: "the strongest reason counts",
        code: "0a>a 1a>a",
        succs: &[],
        addresses: &[],
        want: &[(0, 1, Flow, None)],
    },
    Example {
        name: "slices of one location that do not overlap need no edge",
        code: "0>a. 1>a' 2a.> 3a'>",
        succs: &[],
        addresses: &[],
        want: &[(0, 2, Flow, None), (1, 3, Flow, None)],
    },
    Example {
        name: "different locations on common bytes do",
        code: "0>a 1a> 0>b",
        succs: &[],
        addresses: &[('a', 0), ('b', 4)],
        want: &[(0, 1, Flow, None), (1, 2, Anti, None)],
    },
    Example {
        name: "different locations side by side do not",
        code: "0>a 1a> 0>b",
        succs: &[],
        addresses: &[('a', 0), ('b', 8)],
        want: &[(0, 1, Flow, None)],
    },
    Example {
        name: "in place, the next reader waits for the instruction once",
        code: "0>a 1a>b 2b>",
        succs: &[],
        addresses: &[('a', 0), ('b', 0)],
        want: &[(0, 1, Flow, None), (1, 2, Flow, None)],
    },
    Example {
        name: "what other edges imply is dropped",
        code: "0>a 1a>b 2ab>",
        succs: &[],
        addresses: &[],
        want: &[(0, 1, Flow, None), (1, 2, Flow, None)],
    },
    Example {
        name: "a barrier fences all engines",
        code: "0>a | 1a> 2>a",
        succs: &[],
        addresses: &[],
        want: &[(2, 3, Anti, None)],
    },
    Example {
        name: "so does a call",
        code: "0>a ! 1a>",
        succs: &[],
        addresses: &[],
        want: &[],
    },
    Example {
        name: "a loop carries from its end to its start",
        code: "0>b / 0>a 1a> / 0b>",
        succs: &[&[1], &[1, 2], &[]],
        addresses: &[],
        want: &[(1, 2, Flow, None), (2, 1, Anti, Some(1))],
    },
    Example {
        name: "a barrier in the loop fences that too",
        code: "0>b / 0>a 1a> | / 0b>",
        succs: &[&[1], &[1, 2], &[]],
        addresses: &[],
        want: &[(1, 2, Flow, None)],
    },
    Example {
        name: "an arm that writes does not hide the writer before the branch",
        code: "0>a / 1>a / 2> / 3a>",
        succs: &[&[1, 2], &[3], &[3], &[]],
        addresses: &[],
        want: &[(0, 1, Output, None), (0, 3, Flow, None), (1, 3, Flow, None)],
    },
    Example {
        name: "two arms that write do",
        code: "0>a / 1>a / 2>a / 3a>",
        succs: &[&[1, 2], &[3], &[3], &[]],
        addresses: &[],
        want: &[
            (0, 1, Output, None),
            (0, 2, Output, None),
            (1, 3, Flow, None),
            (2, 3, Flow, None),
        ],
    },
    Example {
        name: "one arm orders by its engine, the other by a value: nothing is left to do",
        code: "0>ab / 1a>c / 2b> / 2c> 3ac>",
        succs: &[&[1, 2], &[3], &[3], &[]],
        addresses: &[('d', 100)],
        want: &[
            (0, 1, Flow, None),
            (0, 2, Flow, None),
            (0, 4, Flow, None),
            (1, 3, Flow, None),
            (1, 4, Flow, None),
        ],
    },
    Example {
        name: "an iteration may have taken the other arm",
        code: "0> / 0>a / 1a> / 0>",
        succs: &[&[1, 2], &[3], &[3], &[0]],
        addresses: &[],
        want: &[(1, 2, Flow, Some(0)), (2, 1, Anti, Some(0))],
    },
    Example {
        name: "two loops with one entry each: the outer one carries from the inner to its start",
        code: "0>a / 2> / 1a> / 3>",
        succs: &[&[1], &[2, 3], &[1], &[0]],
        addresses: &[],
        want: &[(0, 2, Flow, None), (2, 0, Anti, Some(0))],
    },
    Example {
        name: "of two loops that carry an edge the inner one is named",
        code: "2> / 0>a / 1a> / 2>",
        succs: &[&[1], &[2], &[1, 3], &[0]],
        addresses: &[],
        want: &[(1, 2, Flow, None), (2, 1, Anti, Some(1))],
    },
    Example {
        name: "one back edge comes before two",
        code: "2> / 0>a / 2> / 1a> / 3>",
        succs: &[&[1], &[2], &[3, 4], &[2, 0], &[1]],
        addresses: &[],
        want: &[(1, 3, Flow, None), (3, 1, Anti, Some(0))],
    },
];

#[test]
fn examples() {
    for example in EXAMPLES {
        let f = function(example.code, example.succs);
        let edges = dependences(&f, &layout(&f, example.addresses));
        let short = |e: &crate::depend::Edge| (e.from.0, e.to.0, e.kind, e.header.map(|b| b.0));
        let got: Vec<Short> = edges.iter().map(short).collect();
        assert_eq!(got, example.want, "{}", example.name);
    }
}

#[test]
fn flow_is_by_location_and_reuse_by_address() {
    let f = function("0>a 1a> 0>b 1b>", &[]);
    let layout = layout(&f, &[('a', 0), ('b', 0)]);
    let sites = |edges: Vec<crate::depend::Edge>| -> Vec<(u32, u32)> {
        edges.iter().map(|e| (e.from.0, e.to.0)).collect()
    };
    assert_eq!(sites(flow(&f, &Layout::unplaced(&f))), [(0, 1), (2, 3)]);
    assert_eq!(sites(reuse(&f, &layout)), [(1, 2)]);
    assert_eq!(sites(reuse(&f, &Layout::unplaced(&f))), []);
}

#[test]
fn spaces_have_addresses_of_their_own_unless_they_are_one() {
    let f = function("0>a 1>b", &[]);
    let layout = Layout::new(&f, |id| {
        let space = [Space::Local, Space::Shared][id.index().min(1)];
        Some((space, 0))
    })
    .expect("small addresses");
    assert_eq!(dependences(&f, &layout), []);
    let edges = |geometry| dependences(&f, &layout.clone().in_geometry(geometry)).len();
    assert_eq!((edges(Geometry::Split), edges(Geometry::Unified)), (0, 1));
    let debug = Layout::new(&f, |id| {
        let space = [Space::Local, Space::Debug][id.index().min(1)];
        Some((space, 0))
    })
    .expect("small addresses");
    let debug = debug.in_geometry(Geometry::Unified);
    assert_eq!(dependences(&f, &debug), [], "debug stays apart");
}

#[test]
fn a_quarter_of_a_million_readers_cost_one_edge_per_engine() {
    let mut f = Function::new("main");
    let a = f
        .add_memloc(&MemLocSpec {
            extent: Some(Extent::Bytes(4096)),
            ..Default::default()
        })
        .expect("valid");
    const READERS: u32 = 262_145;
    for n in 0..READERS {
        let spec = InstructionSpec {
            op: "read",
            engine: n % 6,
            uses: &[a.into()],
            ..Default::default()
        };
        f.add_instruction(&spec).expect("valid");
    }
    let spec = InstructionSpec {
        op: "write",
        engine: 6,
        defs: &[a.into()],
        ..Default::default()
    };
    f.add_instruction(&spec).expect("valid");
    let edges = dependences(&f, &Layout::unplaced(&f));
    assert_eq!(edges.len(), 6);
    let last = FlatIndex(READERS - 6);
    assert!(edges.iter().all(|e| e.from >= last && e.to.0 == READERS));
}

#[test]
fn bytes_past_the_last_address_are_refused_by_name() {
    let f = function("0>a", &[]);
    let layout = Layout::new(&f, |_| Some((Space::Local, u64::MAX - 3)));
    let message = layout.expect_err("8 bytes do not fit").to_string();
    assert!(message.contains("location a"), "{message}");
}
