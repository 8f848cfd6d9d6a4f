//! `dramalloc convert`.

use crate::harness::{CSV, Folder, PROGRAM};

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
