//! One case per clause of the rules, then random functions against the oracle.
//!
//! A function is a list of blocks, `instruction; instruction -> successors`. An instruction is a
//! list of operands, or `.`: `a` reads a, `=a` writes all of it, `~a` and `^a` write its lower and upper
//! half, `a>b` lists the in-place pair. Every location has 8 bytes; a capital letter escapes.

mod oracle;
mod pairs;
mod random;

use super::*;
use crate::ir::{Extent, InstructionSpec, Kind, MemLocSpec, MemoryType, Operand, Space, Usage};

const HALF: u64 = 4;

fn parse(blocks: &[&str]) -> Function {
    let mut names: Vec<char> = blocks
        .iter()
        .flat_map(|b| b.chars())
        .filter(|c| c.is_ascii_alphabetic())
        .collect();
    names.sort_unstable_by_key(|c| (c.to_ascii_lowercase(), *c));
    names.dedup();
    let named = |c: char| MemLocId::new(names.iter().position(|&n| n == c).unwrap());
    let mut f = Function::new("f");
    for name in &names {
        f.add_memloc(&MemLocSpec {
            name: &name.to_string(),
            extent: Some(Extent::Bytes(2 * HALF)),
            escapes: name.is_ascii_uppercase(),
            ..Default::default()
        })
        .unwrap();
    }
    let parts = |block: &&str| match block.split_once("->") {
        Some((code, succs)) => (code.trim().to_owned(), succs.to_owned()),
        None => (block.trim().to_owned(), String::new()),
    };
    let parts: Vec<(String, String)> = blocks.iter().map(parts).collect();
    for (code, _) in &parts {
        f.add_block("");
        for instruction in code.split(';').filter(|_| !code.is_empty()) {
            let (mut uses, mut defs, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
            for word in instruction.split_whitespace() {
                let letters: Vec<char> = word.chars().collect();
                match letters[..] {
                    ['.'] => {}
                    [a] => uses.push(Operand::from(named(a))),
                    ['=', a] => defs.push(Operand::from(named(a))),
                    ['~', a] => defs.push(slice(named(a), 0)),
                    ['^', a] => defs.push(slice(named(a), HALF)),
                    [a, '>', b] => pairs.push((named(a), named(b))),
                    _ => panic!("{word}"),
                }
            }
            f.add_instruction(&InstructionSpec {
                op: "x",
                uses: &uses,
                defs: &defs,
                in_place: &pairs,
                ..Default::default()
            })
            .unwrap();
        }
    }
    for (i, (_, succs)) in parts.iter().enumerate() {
        let succs: Vec<BlockId> = succs
            .split_whitespace()
            .map(|s| BlockId(s.parse().unwrap()))
            .collect();
        f.set_successors(BlockId::new(i), &succs).unwrap();
    }
    f
}

fn slice(loc: MemLocId, offset: u64) -> Operand {
    Operand {
        loc,
        offset,
        bytes: Some(HALF),
    }
}

/// The lives in the order of the names: `a 0-3 5-5, b -`.
fn show(f: &Function, liveness: &Liveness) -> String {
    let one = |id: MemLocId| {
        let segments = liveness.lives.of(id.index()).iter();
        let text: String = segments
            .map(|s| format!(" {}-{}", s.first(), s.last()))
            .collect();
        format!(
            "{}{}",
            f.memloc_name(id),
            if text.is_empty() { " -" } else { &text }
        )
    };
    f.memloc_ids().map(one).collect::<Vec<_>>().join(", ")
}

struct Case {
    name: &'static str,
    blocks: &'static [&'static str],
    lives: &'static str,
    /// The locations with a warning, and where.
    unwritten: &'static [(u32, u32)],
}

const CASES: &[Case] = &[
    Case {
        name: "L2: a use and a def of one instruction meet",
        blocks: &["=a; a =b; b"],
        lives: "a 0-1, b 1-2",
        unwritten: &[],
    },
    Case {
        name: "L3: branch arms may share",
        blocks: &["-> 1 2", "=a; a -> 3", "=b; b -> 3", ""],
        lives: "a 0-1, b 2-3",
        unwritten: &[],
    },
    Case {
        name: "L3: what is used after the join lives through its arm alone",
        blocks: &[". -> 1 2", "=a; . -> 3", ". -> 3", ".; a"],
        // The other arm brings bytes that nobody wrote: from the entry, for the flag of L5.
        lives: "a 0-0 1-5",
        unwritten: &[(0, 5)],
    },
    Case {
        name: "L3: loop-local locations may share",
        blocks: &[". -> 1", "=a; a; =b; b -> 1 2", ""],
        lives: "a 1-2, b 3-4",
        unwritten: &[],
    },
    Case {
        name: "L3: a loop that only reads keeps the bytes throughout",
        blocks: &["=a -> 1", ".; a; . -> 1 2", ""],
        lives: "a 0-3",
        unwritten: &[],
    },
    Case {
        name: "L3: a loop that redefines before using leaves a hole",
        blocks: &["=a -> 1", "a; .; =a -> 1 2", ""],
        lives: "a 0-1 3-3",
        unwritten: &[],
    },
    Case {
        name: "L3: an irreducible loop with two ways in",
        blocks: &["=a -> 1 2", ". -> 2", "a; . -> 1 3", ""],
        lives: "a 0-3",
        unwritten: &[],
    },
    Case {
        name: "L3: an unreachable block is an entry",
        blocks: &["=a; . -> 2", "a -> 2", "."],
        lives: "a 0-0 2-2",
        unwritten: &[(0, 2)],
    },
    Case {
        name: "L3: layout order need not be control order",
        blocks: &["=a -> 2", "a", ". -> 1"],
        lives: "a 0-1 2-2",
        unwritten: &[],
    },
    Case {
        name: "L3: empty blocks take no time and carry values",
        blocks: &["=a -> 1 2", "-> 3", "-> 3", "-> 4", "a"],
        lives: "a 0-1",
        unwritten: &[],
    },
    Case {
        name: "runs: a death and a birth stay apart, a value that flows on does not",
        blocks: &["=a; a; =a -> 1", "a; =a; a"],
        lives: "a 0-1 2-3 4-5",
        unwritten: &[],
    },
    Case {
        name: "L4: several slices together are not a full def",
        blocks: &["=a; a; ~a ^a; a"],
        lives: "a 0-3",
        unwritten: &[],
    },
    Case {
        name: "L4: a partial def does not end the old value",
        blocks: &["=a; .; ~a; .; a"],
        lives: "a 0-4",
        unwritten: &[],
    },
    Case {
        name: "L4: a def nobody uses takes its instruction, full or partial",
        blocks: &["=a; .; ~a; .; =b"],
        lives: "a 0-0 2-2, b 4-4",
        unwritten: &[],
    },
    Case {
        name: "L4: a full def that also reads keeps the old value until then",
        blocks: &["=a; .; a =a; .; a"],
        lives: "a 0-4",
        unwritten: &[],
    },
    Case {
        name: "L4: partial defs alone do not reach back to the entry",
        blocks: &[".; .; ~a; ^a; a"],
        lives: "a 2-4",
        unwritten: &[],
    },
    Case {
        name: "L4: nor do partial defs in both arms",
        blocks: &[". -> 1 2", ".; ~a -> 3", ".; ^a -> 3", "a"],
        lives: "a 2-2 4-5",
        unwritten: &[],
    },
    Case {
        name: "L4: a use is live back to every def that reaches it",
        blocks: &[".; =a; . -> 1", ".; ~a; a -> 1 2", ""],
        lives: "a 1-5",
        unwritten: &[],
    },
    Case {
        name: "L4: a partial def in a loop reaches around the loop, not out of it",
        blocks: &[". -> 1", ".; ~a; a -> 1 2", ""],
        lives: "a 1-3",
        unwritten: &[],
    },
    Case {
        name: "L4: a full def in the block before is what a partial def adds to",
        blocks: &[".; =a; =a -> 1", ".; ~a; a"],
        lives: "a 1-1 2-5",
        unwritten: &[],
    },
    Case {
        name: "L5: a use before any def is live from the entry",
        blocks: &[".; .; a; =a; a"],
        lives: "a 0-2 3-4",
        unwritten: &[(0, 2)],
    },
    Case {
        name: "L5: a path around the def is enough",
        blocks: &[". -> 1 2", "=a -> 2", "a"],
        lives: "a 0-0 1-2",
        unwritten: &[(0, 2)],
    },
    Case {
        name: "L5: a partial def on the way is a def",
        blocks: &[". -> 1 2", ".; ~a -> 3", ".; =a -> 3", "a"],
        lives: "a 2-2 4-5",
        unwritten: &[],
    },
    Case {
        name: "L5: one flag per root, so partial defs reach back as well",
        // The use at 1 sees the entry; the partial def at 5 stands on another path.
        blocks: &[". -> 1 2", ".; a", ".; ~a; a"],
        lives: "a 0-2 3-5",
        unwritten: &[(0, 2)],
    },
    Case {
        name: "L5: the first unwritten use, not the first use",
        blocks: &[". -> 1 2", "=a; a -> 3", ". -> 3", "a; a"],
        lives: "a 0-0 1-5",
        unwritten: &[(0, 4)],
    },
    Case {
        name: "L6: what escapes lives to every exit",
        blocks: &["=A; . -> 1 2", ".; .", "."],
        lives: "A 0-4",
        unwritten: &[],
    },
    Case {
        name: "L6: but only from the last full def",
        blocks: &["=A; .; =A; ."],
        lives: "A 0-0 2-3",
        unwritten: &[],
    },
    Case {
        name: "L6: an exit without a def is like a use, without a warning",
        blocks: &[". -> 1 2", ".; =A", "."],
        lives: "A 0-0 2-3",
        unwritten: &[],
    },
    Case {
        name: "L6: where no exit can be reached, live from the defs on",
        blocks: &[".; =A; . -> 1", ". -> 1"],
        lives: "A 1-3",
        unwritten: &[],
    },
    Case {
        name: "L6: a full def in an endless loop ends nothing",
        blocks: &[". -> 1", ".; =A; . -> 1"],
        lives: "A 1-3",
        unwritten: &[],
    },
    Case {
        name: "L6: a branch into an endless loop wants the bytes too",
        blocks: &[".; =A; . -> 1 2", ". -> 1", ".; =A; ."],
        lives: "A 1-3 5-6",
        unwritten: &[],
    },
    Case {
        name: "L6: an endless loop does not reach back to the entry",
        blocks: &[". -> 1 2", ". -> 1", ".; =A -> 3", "."],
        lives: "A 3-4",
        unwritten: &[],
    },
    Case {
        name: "L4: what escapes untouched is skipped",
        blocks: &["=a A>a; a"],
        lives: "A -, a 0-1",
        unwritten: &[],
    },
];

#[test]
fn lives_are_what_each_rule_says() {
    for case in CASES {
        let f = parse(case.blocks);
        let got = liveness(&f);
        assert_eq!(show(&f, &got), case.lives, "{}", case.name);
        let unwritten: Vec<(u32, u32)> = (got.warnings.iter())
            .filter_map(|warning| match warning {
                LivenessWarning::UninitializedUse { loc, index } => Some((loc.0, index.0)),
                _ => None,
            })
            .collect();
        assert_eq!(unwritten, case.unwritten, "{}", case.name);
        oracle::compare(&f, &got);
    }
}

#[test]
fn unreachable_blocks_are_named() {
    let f = parse(&["-> 2", "-> 1", "", "-> 2"]);
    let blocks = [1, 3].map(|b| LivenessWarning::UnreachableBlock { block: BlockId(b) });
    assert_eq!(liveness(&f).warnings, blocks);
}

fn bytes(name: &str) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(2 * HALF)),
        ..Default::default()
    }
}

fn view(name: &str, of: u32, offset: u64) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        view: Some((MemLocId(of), offset)),
        ..Default::default()
    }
}

fn run(f: &mut Function, uses: &[Operand], defs: &[Operand]) {
    f.add_instruction(&InstructionSpec {
        op: "x",
        uses,
        defs,
        ..Default::default()
    })
    .unwrap();
}

#[test]
fn accesses_through_views_are_accesses_of_the_root() {
    let mut f = Function::new("f");
    f.add_memlocs(&[bytes("r"), view("all", 0, 0), view("half", 1, HALF)])
        .unwrap();
    let [r, all, half] = [0, 1, 2].map(|i| Operand::from(MemLocId(i)));
    run(&mut f, &[], &[r]);
    run(&mut f, &[half], &[]);
    run(&mut f, &[], &[all]); // Full, so the old value ended at 1.
    run(&mut f, &[], &[half]); // Partial, so the value of 2 is still there.
    run(&mut f, &[all], &[]);
    let got = liveness(&f);
    assert_eq!(show(&f, &got), "r 0-1 2-4, all -, half -");
    assert!(got.is_touched(MemLocId(0)) && !got.is_touched(MemLocId(1)));
}

#[test]
fn a_view_that_escapes_or_is_an_output_counts_for_its_root() {
    for spec in [
        MemLocSpec {
            escapes: true,
            ..view("v", 0, HALF)
        },
        MemLocSpec {
            usage: Usage::Output,
            ..view("v", 0, HALF)
        },
    ] {
        let mut f = Function::new("f");
        f.add_memlocs(&[bytes("r"), spec]).unwrap();
        run(&mut f, &[], &[MemLocId(0).into()]);
        run(&mut f, &[], &[]);
        assert_eq!(show(&f, &liveness(&f)), "r 0-1, v -");
    }
}

#[test]
fn zero_bytes_are_written_whole() {
    let mut f = Function::new("f");
    f.add_memloc(&MemLocSpec {
        extent: Some(Extent::Bytes(0)),
        ..bytes("z")
    })
    .unwrap();
    let z = Operand::from(MemLocId(0));
    run(&mut f, &[], &[z]);
    run(&mut f, &[z], &[]);
    run(&mut f, &[], &[]);
    run(&mut f, &[], &[z]);
    assert_eq!(show(&f, &liveness(&f)), "z 0-1 3-3");
}

#[test]
fn only_unpinned_candidates_of_this_core_should_be_written_first() {
    for (name, spec, warned) in [
        ("internal", bytes("a"), true),
        (
            "collective",
            MemLocSpec {
                usage: Usage::Collective,
                ..bytes("a")
            },
            true,
        ),
        (
            "debug",
            MemLocSpec {
                space: Space::Debug,
                ..bytes("a")
            },
            true,
        ),
        (
            "pinned",
            MemLocSpec {
                address: Some(0),
                ..bytes("a")
            },
            false,
        ),
        (
            "input",
            MemLocSpec {
                usage: Usage::Input,
                ..bytes("a")
            },
            false,
        ),
        (
            "weight",
            MemLocSpec {
                usage: Usage::Weight,
                ..bytes("a")
            },
            false,
        ),
        (
            "on chip",
            MemLocSpec {
                memory: MemoryType::Sbuf,
                ..bytes("a")
            },
            false,
        ),
        (
            "shared",
            MemLocSpec {
                space: Space::Shared,
                ..bytes("a")
            },
            false,
        ),
        (
            "linked",
            MemLocSpec {
                remote: Some((1, "a")),
                ..bytes("a")
            },
            false,
        ),
    ] {
        let mut f = Function::new("f");
        f.add_memloc(&spec).unwrap();
        run(&mut f, &[], &[]);
        run(&mut f, &[MemLocId(0).into()], &[]);
        run(&mut f, &[MemLocId(0).into()], &[]);
        let (loc, index) = (MemLocId(0), FlatIndex(1));
        let want =
            Vec::from_iter(warned.then_some(LivenessWarning::UninitializedUse { loc, index }));
        let got = liveness(&f);
        assert_eq!(got.warnings, want, "{name}");
        assert_eq!(
            show(&f, &got),
            "a 0-2",
            "{name}: live from the entry all the same"
        );
    }
    let mut f = Function::new("f");
    f.add_memlocs(&[
        bytes("a"),
        MemLocSpec {
            usage: Usage::Input,
            ..view("v", 0, 0)
        },
    ])
    .unwrap();
    run(&mut f, &[MemLocId(0).into()], &[]);
    assert_eq!(
        liveness(&f).warnings,
        [],
        "the caller fills it through the view"
    );
}

#[test]
fn a_partial_def_hides_nothing_of_what_the_host_has_put_there() {
    for (usage, first) in [
        (Usage::Internal, 1),
        (Usage::Input, 0),
        (Usage::Weight, 0),
        (Usage::Constant, 0),
        (Usage::Output, 1),
    ] {
        for through_view in [false, true] {
            let mut f = Function::new("f");
            let (own, of_view) = match through_view {
                true => (Usage::Internal, usage),
                false => (usage, Usage::Internal),
            };
            let specs = [
                MemLocSpec {
                    usage: own,
                    ..bytes("a")
                },
                MemLocSpec {
                    usage: of_view,
                    ..view("v", 0, 0)
                },
                bytes("other"),
            ];
            f.add_memlocs(&specs).unwrap();
            let half = Operand {
                bytes: Some(1),
                ..Operand::from(MemLocId(0))
            };
            run(&mut f, &[], &[MemLocId(2).into()]);
            run(&mut f, &[], &[half]);
            run(&mut f, &[MemLocId(0).into()], &[]);
            let (live, last) = (liveness(&f), FlatIndex(2));
            let want = [Segment::new(FlatIndex(first), last).unwrap()];
            assert_eq!(live.lives.of(0).to_vec(), want, "{usage:?} {through_view}");
            // A full def does.
            let mut f = Function::new("f");
            f.add_memlocs(&specs).unwrap();
            run(&mut f, &[], &[MemLocId(2).into()]);
            run(&mut f, &[], &[MemLocId(0).into()]);
            run(&mut f, &[MemLocId(0).into()], &[]);
            let live = liveness(&f);
            assert_eq!(live.lives.of(0)[0].first(), FlatIndex(1), "{usage:?}");
        }
    }
}

#[test]
fn death_is_asked_for_not_read_off_a_segment() {
    //                0   1   2        3  4    5
    let f = parse(&["=a; a; =b -> 1 2", "b; =b", ".; b"]);
    let live = liveness(&f);
    let (a, b) = (MemLocId(0), MemLocId(1));
    let out = |loc| {
        (0..7)
            .map(|i| live.is_live_out(loc, FlatIndex(i)) as u8)
            .collect::<Vec<_>>()
    };
    let into = |loc| {
        (0..7)
            .map(|i| live.is_live_in(loc, FlatIndex(i)) as u8)
            .collect::<Vec<_>>()
    };
    assert_eq!(show(&f, &live), "a 0-1, b 2-3 4-4 5-6");
    assert_eq!(out(a), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(into(a), [0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(out(b), [0, 0, 1, 0, 0, 1, 0]);
    assert_eq!(
        into(b),
        [0, 0, 0, 1, 0, 1, 1],
        "at 5 from another block than the one above"
    );
}

#[test]
fn dense_ids_follow_first_access_then_position_then_defs_before_uses() {
    let f = parse(&[".; b c =d; a =e =b", "f z"]);
    let order: Vec<&str> = dense_order(&f, &[])
        .into_iter()
        .map(|id| f.memloc_name(id))
        .collect();
    assert_eq!(order, ["d", "b", "c", "e", "a", "f", "z"]);

    let mut f = Function::new("f");
    f.add_memlocs(&[view("v", 2, 0), bytes("untouched"), bytes("r")])
        .unwrap();
    run(&mut f, &[MemLocId(0).into()], &[]);
    assert_eq!(dense_order(&f, &[]), [MemLocId(2)]);
}
