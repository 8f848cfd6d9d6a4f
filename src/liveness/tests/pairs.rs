//! Which in-place pairs are eligible, one case per condition. // L8

use super::*;

/// Asserts that a pair is refused for one reason, or not at all.
fn judge(name: &str, f: &Function, want: Option<&str>) {
    let got = liveness(f);
    let reasons: Vec<&str> = (got.warnings.iter())
        .filter_map(|warning| match warning {
            LivenessWarning::IneligiblePair { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, Vec::from_iter(want), "{name}");
    assert_eq!(got.pairs.len(), usize::from(want.is_none()), "{name}");
    oracle::compare(f, &got);
}

#[test]
fn pairs_are_eligible_iff_the_use_dies_where_the_def_is_born() {
    let cases: [(&str, &[&str], Option<&str>); 13] = [
        ("plain", &["=a; a =b a>b; b"], None),
        (
            "the use is redefined later",
            &["=a; a =b a>b; b =a; a"],
            None,
        ),
        (
            "at the end of a block",
            &["=a; a =b a>b -> 1 2", "b =a; a", "b"],
            None,
        ),
        (
            "in a loop",
            &["=a -> 1", "a =b a>b; b -> 1 2", ""],
            Some("still live"),
        ),
        (
            "not read",
            &["=a; =b a>b; b"],
            Some("does not read the use"),
        ),
        (
            "not written",
            &["=a =b; a a>b; b"],
            Some("does not write the whole def"),
        ),
        (
            "written in part",
            &["=a; a ~b ^b a>b; b"],
            Some("does not write the whole def"),
        ),
        ("read again", &["=a; a =b a>b; a b"], Some("still live")),
        (
            "read on another path",
            &["=a; a =b a>b -> 1 2", "a", "b"],
            Some("still live"),
        ),
        ("read twice", &["=a; a a =b a>b; b"], Some("more than once")),
        (
            "read and written",
            &["=a; a ~a =b a>b; b"],
            Some("more than once"),
        ),
        (
            "read by it too",
            &["=a =b; a b =b a>b; b"],
            Some("also reads the def"),
        ),
        (
            "to itself",
            &["=a; a =a a>a; a"],
            Some("also reads the def"),
        ),
    ];
    for (name, blocks, reason) in cases {
        let f = parse(blocks);
        let got = liveness(&f);
        let found = got.warnings.iter().find_map(|warning| match warning {
            LivenessWarning::IneligiblePair { reason, .. } => Some(*reason),
            _ => None,
        });
        match reason {
            None => assert_eq!(found, None, "{name}"),
            Some(part) => assert!(found.is_some_and(|r| r.contains(part)), "{name}: {found:?}"),
        }
        oracle::compare(&f, &got);
    }
}

#[test]
fn a_loop_carried_pair_is_eligible_one_way() {
    //                    0         1         2
    let f = parse(&["=a -> 1", "a =b a>b; b =a b>a -> 1 2", ""]);
    let pair = |index, used, def| LivePair {
        index: FlatIndex(index),
        used: MemLocId(used),
        def: MemLocId(def),
    };
    assert_eq!(liveness(&f).pairs, [pair(1, 0, 1), pair(2, 1, 0)]);
}

#[test]
fn what_escapes_from_an_endless_loop_takes_nobodys_place() {
    // Before each def the bytes of the last round may still be looked at. // L6
    let f = parse(&["-> 1", "=a; a =B a>B -> 1"]);
    judge(
        "endless",
        &f,
        Some("the def is already live before the instruction"),
    );
}

#[test]
fn pairs_name_unpinned_roots_of_one_space() {
    let whole = |name| view(name, 0, 0);
    let cases = [
        ("roots", bytes("u"), bytes("d"), None),
        (
            "pinned def",
            bytes("u"),
            MemLocSpec {
                address: Some(0),
                ..bytes("d")
            },
            None,
        ),
        (
            "pinned use",
            MemLocSpec {
                address: Some(0),
                ..bytes("u")
            },
            bytes("d"),
            Some("the use is pinned"),
        ),
        (
            "spaces",
            bytes("u"),
            MemLocSpec {
                space: Space::Debug,
                ..bytes("d")
            },
            Some("the two are in different memories or spaces"),
        ),
        (
            "memories",
            MemLocSpec {
                memory: MemoryType::Sbuf,
                ..bytes("u")
            },
            bytes("d"),
            Some("the two are in different memories or spaces"),
        ),
        (
            "use a view",
            whole("u"),
            bytes("d"),
            Some("the use is a view, not a root"),
        ),
        (
            "def a view",
            bytes("u"),
            whole("d"),
            Some("the def is a view, not a root"),
        ),
    ];
    for (name, used, def, want) in cases {
        let mut f = Function::new("f");
        f.add_memlocs(&[bytes("root"), used, def]).unwrap();
        let (u, d) = (MemLocId(1), MemLocId(2));
        run(&mut f, &[], &[u.into()]);
        f.add_instruction(&InstructionSpec {
            op: "x",
            uses: &[u.into()],
            defs: &[d.into()],
            in_place: &[(u, d)],
            ..Default::default()
        })
        .unwrap();
        judge(name, &f, want);
    }
}

#[test]
fn a_call_takes_nobodys_place() {
    for kind in [Kind::Compute, Kind::Collective, Kind::Call] {
        let mut f = Function::new("f");
        f.add_memlocs(&[bytes("u"), bytes("d")]).unwrap();
        let [u, d] = [0, 1].map(MemLocId);
        run(&mut f, &[], &[u.into()]);
        let spec = InstructionSpec {
            op: "x",
            kind,
            uses: &[u.into()],
            defs: &[d.into()],
            in_place: &[(u, d)],
            ..Default::default()
        };
        let call = InstructionSpec {
            callee: Some("g"),
            args: &[(u, "in"), (d, "out")],
            ..spec
        };
        let calls = kind == Kind::Call;
        f.add_instruction(if calls { &call } else { &spec })
            .unwrap();
        let why = "a callee may write the def before it reads the use";
        judge("call", &f, calls.then_some(why));
    }
}

#[test]
fn a_second_access_through_a_view_counts() {
    let mut f = Function::new("f");
    f.add_memlocs(&[bytes("u"), bytes("d"), view("v", 0, HALF)])
        .unwrap();
    let [u, d, v] = [0, 1, 2].map(MemLocId);
    run(&mut f, &[], &[u.into()]);
    f.add_instruction(&InstructionSpec {
        op: "x",
        uses: &[u.into(), v.into()],
        defs: &[d.into()],
        in_place: &[(u, d)],
        ..Default::default()
    })
    .unwrap();
    judge(
        "view",
        &f,
        Some("the instruction accesses the use more than once"),
    );
}
