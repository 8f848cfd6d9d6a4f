//! `dramalloc deps`, and `plan --deps`.

use crate::harness::{CSV, Folder, PROGRAM};

/// The same program with its second location on another engine, so that re-use needs an order.
fn two_engines() -> String {
    PROGRAM.replace("{\"op\":\"peek\"", "{\"op\":\"peek\",\"engine\":1")
}

#[test]
fn a_plan_that_re_uses_bytes_across_engines_says_so_until_it_has_the_order() {
    let folder = Folder::new("deps");
    folder.file("p.json", two_engines());
    let plain = folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    assert!(
        plain
            .stderr
            .contains("note: bytes are re-used across engines"),
        "{}",
        plain.stderr
    );
    let plan = folder.json("plan.json");
    assert_eq!(
        (&plan["needs_dependences"], &plan["dependences"]),
        (&true.into(), &().into())
    );

    let with = folder.run(["plan", "p.json", "--deps"]).expect(0);
    assert!(!with.stderr.contains("re-used"), "{}", with.stderr);
    let plan = with.json();
    assert_eq!(plan["needs_dependences"], false);
    // b is written on engine 0 and read on engine 1; c takes a's bytes, which engine 0 has read;
    // c is read on engine 0.
    let edges: Vec<(u64, u64)> = plan["dependences"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|e| {
            (
                e["from"]["index"].as_u64().unwrap(),
                e["to"]["index"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(edges, [(1, 2), (2, 3)]);
    // The same as one step after the other.
    let later = folder.run(["deps", "p.json", "plan.json"]).expect(0);
    assert_eq!(later.stdout, with.stdout);
}

#[test]
fn a_wrong_plan_gets_no_order() {
    let folder = Folder::new("deps_wrong");
    folder.file("p.json", two_engines());
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    let mut plan = folder.json("plan.json");
    plan["modules"][0]["functions"][0]["memlocs"][2]["address"] = 0.into();
    folder.file("wrong.json", plan.to_string());
    let got = folder.run(["deps", "p.json", "wrong.json"]).expect(1);
    assert!(
        got.stderr
            .starts_with("dramalloc: error: wrong.json: it is no plan of p.json"),
        "{}",
        got.stderr
    );
    assert_eq!(got.stderr.lines().count(), 1, "{}", got.stderr);
    assert_eq!(got.text(), "");
}

#[test]
fn rows_have_no_order() {
    let folder = Folder::new("deps_rows");
    folder.file("p.csv", CSV);
    let got = folder.run(["plan", "p.csv", "--deps"]).expect(2);
    assert!(got.stderr.contains("needs a program"), "{}", got.stderr);
}
