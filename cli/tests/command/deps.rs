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
fn small_programs_can_be_drawn() {
    let folder = Folder::new("deps_dot");
    folder.file("p.json", two_engines());
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    let got = folder
        .run(["deps", "--dot", "p.json", "plan.json"])
        .expect(0);
    let text = got.text();
    assert!(text.starts_with("digraph dependences {"), "{text}");
    assert!(
        text.contains(" 2\" [label=\"2 peek, engine 1\"];"),
        "{text}"
    );
    assert_eq!(text.matches(" -> ").count(), 2, "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    // Too many for a picture: nothing is written.
    let (mut locs, mut code) = (Vec::new(), Vec::new());
    for i in 0..2001 {
        locs.push(format!("{{\"name\":\"l{i}\",\"bytes\":1}}"));
        code.push(format!("{{\"op\":\"a\",\"defs\":[\"l{i}\"]}}"));
        code.push(format!("{{\"op\":\"b\",\"engine\":1,\"uses\":[\"l{i}\"]}}"));
    }
    let (locs, code) = (locs.join(","), code.join(","));
    let function = format!("{{\"name\":\"main\",\"memlocs\":[{locs}],\"instructions\":[{code}]}}");
    let large = format!(
        "{{\"format\":\"dramalloc-program\",\"version\":1,\"name\":\"large\",\"cores\":1,\
         \"modules\":[{{\"name\":\"m\",\"core\":0,\"functions\":[{function}]}}]}}"
    );
    folder.file("large.json", large);
    folder
        .run(["plan", "large.json", "-o", "large.plan"])
        .expect(0);
    let got = folder
        .run([
            "deps",
            "--dot",
            "large.json",
            "large.plan",
            "-o",
            "large.dot",
        ])
        .expect(2);
    assert!(got.stderr.contains("no picture"), "{}", got.stderr);
    assert!(!folder.path("large.dot").exists());
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
