//! `dramalloc plan`.

use crate::harness::{CSV, Folder, PROGRAM};
use serde_json::Value;

fn address(plan: &Value, name: &str) -> Option<u64> {
    let memlocs = plan["modules"][0]["functions"][0]["memlocs"]
        .as_array()
        .unwrap();
    memlocs
        .iter()
        .find(|m| m["name"] == name)
        .expect("every location is in the plan")["address"]
        .as_u64()
}

#[test]
fn a_program_gets_its_addresses() {
    let folder = Folder::new("addresses");
    folder.file("p.json", PROGRAM);
    let plan = folder.run(["plan", "p.json"]).expect(0).json();
    assert_eq!(address(&plan, "x"), Some(0), "a pin stays");
    assert_eq!(
        address(&plan, "a"),
        address(&plan, "c"),
        "they never live together"
    );
    assert_eq!(
        address(&plan, "v").unwrap(),
        address(&plan, "b").unwrap() + 4096,
        "a view follows its root"
    );
    assert_eq!(
        (&plan["peak"], &plan["status"]),
        (&20480.into(), &"optimal".into())
    );
}

#[test]
fn options_change_the_plan() {
    let folder = Folder::new("options");
    folder.file("p.json", PROGRAM);
    for (name, args, peak) in [
        ("nothing", "", 20480),
        ("the reference", "--strategy reference", 20480),
        ("the best", "--strategy best", 20480),
        (
            "exact bytes",
            "--packed --strategy best",
            8192 + 4096 + 8000,
        ),
        (
            "bytes of an input that is done with",
            "--reuse-io --floor holes",
            12288,
        ),
        ("enough room", "--capacity 20480", 20480),
        ("a device", "--preset trn2", 20480),
        ("a budget", "--budget-steps 1000 --strategy best", 20480),
        ("a deadline", "--budget-ms 60000", 20480),
    ] {
        let words = ["plan", "p.json"]
            .into_iter()
            .chain(args.split_whitespace());
        let plan = folder.run(words).expect(0).json();
        assert_eq!(plan["peak"].as_u64(), Some(peak), "{name}");
    }
}

#[test]
fn too_little_room_has_status_1_and_says_what_is_missing() {
    let folder = Folder::new("little_room");
    folder.file("p.json", PROGRAM);
    folder.file("p.csv", CSV);
    for (args, says) in [
        ("plan p.json --capacity 20479", "within 20479"),
        ("plan p.csv --capacity 11", "within 11"),
    ] {
        let got = folder.run(args.split_whitespace()).expect(1);
        assert!(got.stderr.contains(says), "{}", got.stderr);
        assert!(got.stderr.contains("no placement exists"), "{}", got.stderr);
        assert_eq!(got.stderr.lines().count(), 1, "{}", got.stderr);
        assert_eq!(got.text(), "");
    }
}

#[test]
fn a_csv_comes_back_with_offsets() {
    let folder = Folder::new("csv");
    folder.file("p.csv", CSV);
    let got = folder.run(["plan", "p.csv"]).expect(0);
    assert_eq!(
        got.text(),
        "id,lower,upper,size,offset\nfirst,0,2,4,8\nsecond,1,4,8,0\nlast,2,4,4,8\n"
    );
    assert!(
        got.stderr
            .contains("peak 12 bytes, equal to the lower bound (optimal)"),
        "{}",
        got.stderr
    );
}

#[test]
fn offsets_of_a_csv_are_pins() {
    let folder = Folder::new("csv_pins");
    folder.file(
        "p.csv",
        "id,lower,upper,size,offset\nfirst,0,2,4,\nsecond,1,4,8,2\nlast,2,4,4,\n",
    );
    let text = folder.run(["plan", "p.csv"]).expect(0).text().to_owned();
    assert_eq!(
        text,
        "id,lower,upper,size,offset\nfirst,0,2,4,10\nsecond,1,4,8,2\nlast,2,4,4,10\n"
    );
    // Above every pin, if that is asked for.
    let text = folder
        .run(["plan", "p.csv", "--floor", "hwm"])
        .expect(0)
        .text()
        .to_owned();
    assert!(text.contains("second,1,4,8,2\n"), "{text}");
}

#[test]
fn equal_runs_write_equal_bytes() {
    let folder = Folder::new("equal_runs");
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/decoder_layers.program.json"
    );
    let first = folder.run(["plan", example]).expect(0).stdout;
    for _ in 0..2 {
        assert_eq!(folder.run(["plan", example]).expect(0).stdout, first);
    }
}

#[test]
fn a_hint_keeps_what_has_not_changed() {
    let folder = Folder::new("hint");
    folder.file("p.json", PROGRAM);
    folder
        .run(["plan", "p.json", "-o", "before.json"])
        .expect(0);
    let again = folder
        .run(["plan", "p.json", "--hint", "before.json"])
        .expect(0);
    assert!(
        again
            .stderr
            .contains("3 locations with 16384 bytes kept, 0 with 0 bytes moved")
    );
    assert_eq!(again.json()["metrics"]["hint_kept"], 3);
    // b shrinks to a page; where it does not hinder, nothing else moves.
    folder.file(
        "q.json",
        PROGRAM
            .replace(r#""bytes":8000"#, r#""bytes":8"#)
            .replace("\"offset\":4096", "\"offset\":4"),
    );
    let changed = folder.run([
        "plan",
        "q.json",
        "--hint",
        "before.json",
        "--keep",
        "1048576",
    ]);
    let changed = changed.expect(0).json();
    assert_eq!(changed["metrics"]["hint_kept"], 2);
    assert_eq!(changed["options"]["keep"], 1_048_576);
    // Not a plan, and not for rows.
    let bad = folder.run(["plan", "p.json", "--hint", "p.json"]).expect(2);
    assert!(bad.stderr.contains("p.json"), "{}", bad.stderr);
    folder.file("r.csv", CSV);
    folder
        .run(["plan", "r.csv", "--hint", "before.json"])
        .expect(2);
}

#[test]
fn the_hints_of_rows_are_a_warm_start() {
    let folder = Folder::new("hint_rows");
    // Either order of the stack is as low; the hint decides.
    folder.file("r.csv", "id,lower,upper,size,hint\na,0,4,8,4\nb,0,4,4,0\n");
    let out = folder.run(["plan", "r.csv"]).expect(0);
    assert!(
        out.text().contains("a,0,4,8,4,4\nb,0,4,4,0,0\n"),
        "{}",
        out.text()
    );
    assert!(
        out.stderr.contains("2 locations with 12 bytes kept"),
        "{}",
        out.stderr
    );
    // A hint that cannot be is none.
    folder.file("s.csv", "id,lower,upper,size,hint\na,0,4,8,3\nb,0,4,4,0\n");
    let out = folder.run(["plan", "s.csv"]).expect(0);
    assert!(out.stderr.contains("peak 12 bytes"), "{}", out.stderr);
}

#[test]
fn what_cannot_be_placed_is_named() {
    let folder = Folder::new("infeasible");
    folder.file("p.json", PROGRAM);
    let out = folder
        .run(["plan", "p.json", "--capacity", "20479"])
        .expect(1);
    for said in [
        "no placement exists",
        "cannot all be placed",
        "they need at least 1 more",
    ] {
        assert!(out.stderr.contains(said), "{}", out.stderr);
    }
    assert!(out.stdout.is_empty());
}

#[test]
fn straddling_a_runtime_page_is_avoided_and_else_said() {
    let folder = Folder::new("runtime_page");
    let program = PROGRAM
        .replace("\"bytes\":4096", "\"bytes\":786432")
        .replace("\"bytes\":8000", "\"bytes\":786432");
    folder.file("p.json", program);
    let got = folder.run("plan p.json --runtime-page 1 --floor holes --reuse-io".split(' '));
    let got = got.expect(0);
    let plan = got.json();
    assert_eq!(plan["options"]["runtime_page"], 1);
    assert_eq!(plan["metrics"]["runtime_private_bytes"], 0);
    assert_eq!(plan["straddlers"], Value::Array(vec![]));
    assert!(got.stderr.contains("2 runtime pages and 0 private bytes"));
    let tight = "plan p.json --runtime-page 1 --floor holes --reuse-io --capacity 1572864 -o plan";
    let got = folder.run(tight.split(' ')).expect(0);
    let plan = folder.json("plan");
    assert_eq!(plan["metrics"]["runtime_private_bytes"], 786432);
    assert_eq!(plan["straddlers"].as_array().unwrap().len(), 1);
    assert!(
        got.stderr.contains("1 locations straddle"),
        "{}",
        got.stderr
    );
    folder.run(["verify", "p.json", "plan"]).expect(0);
}

#[test]
fn rows_are_kept_within_runtime_pages_too() {
    let folder = Folder::new("runtime_page_rows");
    folder.file(
        "rows.csv",
        "id,lower,upper,size\nx,0,2,786432\ny,0,2,786432\n",
    );
    let offsets = |args: &str| {
        let got = folder.run(args.split(' ')).expect(0);
        let rows = got.text().lines().skip(1);
        let mut offsets: Vec<u64> = rows
            .map(|row| row.rsplit(',').next().unwrap().parse().unwrap())
            .collect();
        offsets.sort_unstable();
        (offsets, got.stderr)
    };
    assert_eq!(offsets("plan rows.csv").0, [0, 786432]);
    let (apart, said) = offsets("plan rows.csv --runtime-page 1");
    assert_eq!(apart, [0, 1 << 20]);
    assert!(
        said.contains("2 runtime pages and 0 private bytes"),
        "{said}"
    );
    let (tight, said) = offsets("plan rows.csv --runtime-page 1 --capacity 1572864");
    assert_eq!(tight, [0, 786432]);
    assert!(said.contains("786432 private bytes"), "{said}");
    assert!(said.contains("straddles a runtime page"), "{said}");
}
