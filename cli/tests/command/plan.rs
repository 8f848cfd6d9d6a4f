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
