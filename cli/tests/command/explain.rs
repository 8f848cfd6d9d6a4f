//! `dramalloc explain`.

use crate::harness::{CSV, Folder, PROGRAM, golden};

const LAYERS: &str = include_str!("../../../tests/data/report.program.json");

#[test]
fn the_text_for_people_is_as_it_was() {
    let folder = Folder::new("explain_text");
    folder.file("p.json", LAYERS);
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    let got = folder.run(["explain", "p.json", "plan.json", "--spaces", "2"]);
    golden("report.explain.txt", got.expect(0).text());
}

#[test]
fn json_says_what_the_text_says() {
    let folder = Folder::new("explain_json");
    folder.file("p.json", LAYERS);
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    let got = folder
        .run(["explain", "p.json", "plan.json", "--json", "--top", "2"])
        .expect(0);
    let json = got.json();
    assert_eq!(json["format"], "dramalloc-explanation");
    assert_eq!(json["peak"], folder.json("plan.json")["peak"]);
    for space in json["spaces"].as_array().expect("a list") {
        let parts = space["parts"].as_object().expect("an object").values();
        let sum: u64 = parts.map(|part| part.as_u64().expect("bytes")).sum();
        assert_eq!(space["peak"], sum);
        assert!(
            space["at_peak"]["occupants"]
                .as_array()
                .expect("a list")
                .len()
                <= 2
        );
    }
    // To a file, packed.
    let args = [
        "explain",
        "p.json",
        "plan.json",
        "--json",
        "--top",
        "2",
        "-o",
        "e.json.gz",
    ];
    folder.run(args).expect(0);
    let unpacked = crate::harness::gunzip(&folder.read("e.json.gz"));
    assert_eq!(unpacked, got.stdout);
}

#[test]
fn a_csv_is_explained_like_a_program() {
    let folder = Folder::new("explain_csv");
    folder.file("p.csv", CSV);
    folder.run(["plan", "p.csv", "-o", "plan.csv"]).expect(0);
    let got = folder
        .run(["explain", "p.csv", "plan.csv", "--json"])
        .expect(0);
    let space = &got.json()["spaces"][0];
    assert_eq!(
        (&space["peak"], &space["load_bound"]),
        (&12.into(), &12.into())
    );
    assert_eq!(space["parts"]["declared"], 12);
    let plan = folder.read("plan.csv");
    let got = folder.run_with(["explain", "p.csv", "-"], &plan).expect(0);
    assert!(got.text().contains("peak 12 bytes"), "{}", got.text());
}

#[test]
fn what_cannot_be_explained_has_status_2_and_nothing_on_stdout() {
    let folder = Folder::new("explain_bad");
    folder.file("p.json", PROGRAM);
    folder.file("other.json", LAYERS);
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    let mut low = folder.json("plan.json");
    for row in low["modules"][0]["functions"][0]["memlocs"]
        .as_array_mut()
        .expect("a list")
    {
        if row["pinned"] == false {
            row["address"] = 8192.into();
        }
    }
    folder.file("low.json", low.to_string());
    for (args, says) in [
        (
            ["explain", "other.json", "plan.json"],
            "not of this program",
        ),
        (["explain", "p.json", "p.json"], "dramalloc-plan"),
        (["explain", "p.json", "none.json"], "none.json"),
        (
            ["explain", "-", "-"],
            "only one of the two files can be stdin",
        ),
        (["explain", "p.json", "low.json"], "verify it"),
    ] {
        let got = folder.run(args).expect(2);
        assert!(got.stderr.contains(says), "{args:?}: {}", got.stderr);
        assert!(got.stdout.is_empty());
    }
}
