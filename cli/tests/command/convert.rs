//! `dramalloc convert`.

use std::fs;
use std::path::Path;

use crate::harness::{CSV, Folder, PROGRAM, gunzip, gzip};

#[test]
fn a_program_has_one_normal_form() {
    let folder = Folder::new("normal_form");
    folder.file("p.json", PROGRAM);
    let once = folder.run(["convert", "p.json"]).expect(0).stdout;
    assert_eq!(
        folder.run_with(["convert", "-"], &once).expect(0).stdout,
        once
    );
    // The plan is that of the program as it was.
    let plan = folder.run(["plan", "p.json"]).expect(0).stdout;
    assert_eq!(folder.run_with(["plan", "-"], &once).expect(0).stdout, plan);
}

#[test]
fn csv_and_program_need_the_same_bytes() {
    let folder = Folder::new("both_ways");
    folder.file("p.csv", CSV);
    folder.run(["convert", "p.csv", "-o", "p.json"]).expect(0);
    let plan = folder.run(["plan", "p.json", "--packed"]).expect(0).json();
    assert_eq!(plan["peak"], 12);
    folder
        .run(["convert", "p.json", "-o", "again.csv.gz"])
        .expect(0);
    let got = folder.run(["plan", "again.csv.gz"]).expect(0);
    assert!(got.stderr.contains("peak 12 bytes"), "{}", got.stderr);
}

#[test]
fn the_format_comes_from_the_option_or_the_ending_or_the_input() {
    let folder = Folder::new("which_format");
    folder.file("p.json", PROGRAM);
    folder.file("p.csv", CSV);
    for (args, json) in [
        ("p.json", true),
        ("p.csv", false),
        ("p.json --to csv", false),
        ("p.csv --to json", true),
        ("p.json -o out.csv", false),
        ("p.csv -o out.json", true),
        ("p.csv -o out.csv --to json", true),
        ("p.json -o out.txt", true),
    ] {
        let words = ["convert"].into_iter().chain(args.split_whitespace());
        let got = folder.run(words).expect(0);
        let bytes = match args.split_once("-o ") {
            Some((_, rest)) => folder.read(rest.split(' ').next().unwrap()),
            None => got.stdout,
        };
        assert_eq!(bytes[0] == b'{', json, "{args}");
    }
}

/// XLA's files of one program, under XLA's endings.
const XLA: [(&str, &str); 3] = [
    (
        "m-buffer-assignment.txt",
        include_str!("../../../tests/data/xla/mlp_train_step-buffer-assignment.txt"),
    ),
    (
        "m-live-range.txt",
        include_str!("../../../tests/data/xla/mlp_train_step-live-range.txt"),
    ),
    (
        "m-buffer-assignment-values.txt",
        include_str!("../../../tests/data/xla/mlp_train_step-buffer-assignment-values.txt"),
    ),
];

/// A folder with XLA's files in it, and the program and plan that come of them.
fn xla(test: &str) -> Folder {
    let folder = Folder::new(test);
    for (name, content) in XLA {
        folder.file(name, content);
    }
    let line = "convert m-buffer-assignment.txt -o m.json --plan-out m.plan.json";
    let got = folder.run(line.split(' ')).expect(0);
    for note in ["15 thread-local", "147456 bytes, aligned to 256"] {
        assert!(got.stderr.contains(note), "{}", got.stderr);
    }
    folder
}

#[test]
fn a_plan_of_xlas_is_verified_and_compared() {
    let folder = xla("xla");
    folder.run(["verify", "m.json", "m.plan.json"]).expect(0);
    folder
        .run(["verify", "--deep", "m.json", "m.plan.json"])
        .expect(0);
    assert_eq!(folder.json("m.plan.json")["peak"], 147_456);
    let ours = folder.run(["plan", "m.json", "--packed"]).expect(0).json();
    assert!(
        ours["peak"].as_u64().unwrap() <= 147_456,
        "{}",
        ours["peak"]
    );
    assert_eq!(folder.json("m.json")["name"], "m");
    // As rows, the same.
    let line = "convert m-buffer-assignment.txt -o m.csv --plan-out m.plan.csv -q";
    let quiet = folder.run(line.split(' ')).expect(0);
    assert_eq!(quiet.stderr, "");
    folder.run(["verify", "m.csv", "m.plan.csv"]).expect(0);
    let ours = folder.run(["plan", "m.csv", "-o", "ours.csv"]).expect(0);
    assert!(ours.stderr.contains("peak 147456 bytes"), "{}", ours.stderr);
    // The program does not depend on where its text comes from: one file, compressed ones, stdin.
    let alone = Folder::new("xla_alone");
    let whole: String = XLA.iter().map(|(_, text)| *text).collect();
    alone.file("m.txt", &whole);
    for (name, content) in XLA {
        alone.file(&format!("{name}.gz"), gzip(content.as_bytes()));
    }
    let want = folder.read("m.json");
    for name in ["m.txt", "m-buffer-assignment.txt.gz"] {
        let got = alone.run(["convert", name, "--to", "json"]).expect(0);
        assert_eq!(got.stdout, want, "{name}");
    }
    let got = alone.run_with(["convert", "-"], whole.as_bytes()).expect(0);
    assert_eq!(got.stdout.len() - "stdin".len(), want.len() - "m".len());
}

#[test]
fn plans_are_shown_by_other_peoples_viewers() {
    let folder = xla("viewers");
    for (format, ending) in [
        ("chrome-trace", "trace.json"),
        ("memory-snapshot", "snapshot.pickle"),
    ] {
        let line = format!("convert m.json --plan m.plan.json --to {format} -o m.{ending}.gz");
        folder.run(line.split(' ')).expect(0);
        let got = gunzip(&folder.read(&format!("m.{ending}.gz")));
        let name = format!("mlp_train_step.{ending}");
        let committed = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/data/xla")
            .join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&committed, &got).expect("test data can be written");
        }
        // Python's own reader loads these in tools/test_exports.py.
        assert_eq!(
            got,
            fs::read(&committed).expect("it is committed"),
            "{ending}; BLESS=1 rewrites"
        );
        // A table has a plan, too.
        folder.file("p.csv", CSV);
        folder.run(["plan", "p.csv", "-o", "p.plan.csv"]).expect(0);
        let line = format!("convert p.csv --plan p.plan.csv --to {format}");
        let got = folder.run(line.split(' ')).expect(0).stdout;
        assert!(got.len() > 100 && got.windows(6).any(|part| part == b"second"));
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    let folder = xla("together");
    folder.file("p.json", PROGRAM);
    folder.file("p.csv", CSV);
    folder.file("cut-buffer-assignment.txt", XLA[0].1);
    folder.file("cut.txt", [XLA[0].1, &XLA[1].1[..1000]].concat());
    folder
        .run(["plan", "p.json", "-o", "p.plan.json"])
        .expect(0);
    let before = folder.names();
    for (line, says) in [
        ("p.json --to chrome-trace", "--plan says which"),
        ("p.json --to memory-snapshot", "--plan says which"),
        (
            "p.json --plan p.plan.json",
            "--plan goes with --to chrome-trace",
        ),
        (
            "p.json --plan m.plan.json --to chrome-trace",
            "m.plan.json: core 0, function main: the plan is of another function",
        ),
        (
            "p.json --plan none.json --to chrome-trace",
            "none.json: there is no such file",
        ),
        ("p.json --plan p.csv --to memory-snapshot", "p.csv: "),
        (
            "- --plan - --to chrome-trace",
            "only one of the two files can be stdin",
        ),
        (
            "p.json --plan-out x.json",
            "p.json: it has no plan of its own",
        ),
        (
            "p.csv --plan-out x.json",
            "p.csv: it has no plan of its own",
        ),
        (
            "m-buffer-assignment.txt -o x.json --plan-out -",
            "--plan-out is a file of its own",
        ),
        (
            "m-buffer-assignment.txt -o x.json --plan-out x.json",
            "--plan-out is a file of its own",
        ),
        ("cut-buffer-assignment.txt -o x.json", "-live-range.txt"),
        ("cut.txt -o x.json", "cut.txt: "),
        ("m-live-range.txt -o x.json", "there is no allocation"),
    ] {
        let words = ["convert"].into_iter().chain(line.split(' '));
        let got = folder.run(words).expect(2);
        assert!(got.stderr.contains(says), "{line}: {}", got.stderr);
        assert_eq!(got.stderr.lines().count(), 1, "{line}: {}", got.stderr);
        assert_eq!(
            (got.stdout, folder.names()),
            (Vec::new(), before.clone()),
            "{line}"
        );
    }
}
