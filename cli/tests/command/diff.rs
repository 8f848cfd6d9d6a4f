//! `dramalloc diff`.

use crate::harness::{CSV, Folder, golden};

const LAYERS: &str = include_str!("../../../tests/data/report.program.json");

/// A program, another with a larger and a renamed location, and plans of both.
fn planned(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("a.json", LAYERS);
    let changed = LAYERS.replace("\"bytes\": 90000", "\"bytes\": 190000");
    folder.file("b.json", changed.replace("\"own\"", "\"mine\""));
    for side in ["a", "b"] {
        let (program, plan) = (format!("{side}.json"), format!("{side}.plan.json"));
        folder.run(["plan", &program, "-o", &plan]).expect(0);
    }
    folder
}

#[test]
fn the_text_for_people_is_as_it_was() {
    let folder = planned("diff_text");
    let got = folder.run(["diff", "a.json", "a.plan.json", "b.json", "b.plan.json"]);
    golden("report.diff.txt", got.expect(0).text());
}

#[test]
fn both_plans_are_drawn_beside_each_other() {
    let folder = planned("diff_draw");
    let plans = ["diff", "a.json", "a.plan.json", "b.json", "b.plan.json"];
    let text = folder.run(plans).expect(0);
    let drawn = folder
        .run(plans.into_iter().chain(["--draw", "both.svg"]))
        .expect(0);
    assert_eq!(drawn.text(), text.text(), "the text is the same");
    let compared = [
        "draw",
        "a.json",
        "a.plan.json",
        "--beside",
        "b.json",
        "b.plan.json",
    ];
    let picture = folder
        .run(compared.into_iter().chain(["--format", "svg"]))
        .expect(0);
    assert_eq!(
        folder.read("both.svg"),
        picture.stdout,
        "it is the picture that `draw` makes"
    );
    let refused = folder
        .run(plans.into_iter().chain(["--draw", "both.pdf"]))
        .expect(2);
    assert!(refused.stderr.contains("both.pdf"), "{}", refused.stderr);
    assert!(
        refused.stdout.is_empty(),
        "nothing is told if nothing can be drawn"
    );
}

#[test]
fn json_says_what_the_text_says() {
    let folder = planned("diff_json");
    let args = [
        "diff",
        "a.json",
        "a.plan.json",
        "b.json",
        "b.plan.json",
        "--json",
    ];
    let json = folder.run(args).expect(0).json();
    assert_eq!(json["format"], "dramalloc-difference");
    assert_eq!(json["before"]["peak"], folder.json("a.plan.json")["peak"]);
    assert_eq!(json["after"]["peak"], folder.json("b.plan.json")["peak"]);
    let kind = |name: &str| {
        let kinds = json["kinds"].as_array().expect("a list");
        let kind = kinds.iter().find(|kind| kind["kind"] == name);
        kind.expect("every kind is there")["largest"].clone()
    };
    assert_eq!(kind("new")[0]["name"], "mine");
    assert_eq!(kind("gone")[0]["name"], "own");
    assert_eq!(kind("grown")[0]["name"], "narrow");
}

#[test]
fn two_plans_of_one_program_need_it_once() {
    let folder = planned("diff_three");
    let args = [
        "plan",
        "a.json",
        "-o",
        "other.json",
        "--strategy",
        "reference",
    ];
    folder.run(args).expect(0);
    let got = folder
        .run(["diff", "a.json", "a.plan.json", "other.json"])
        .expect(0);
    assert!(got.text().contains("two layers (fast"), "{}", got.text());
    let same = folder
        .run(["diff", "a.json", "a.plan.json", "a.plan.json"])
        .expect(0);
    assert!(!same.text().contains("moved"), "{}", same.text());
    let plan = folder.read("a.plan.json");
    let piped = folder
        .run_with(["diff", "a.json", "a.plan.json", "-"], &plan)
        .expect(0);
    assert_eq!(piped.stdout, same.stdout);
}

#[test]
fn tables_are_compared_too() {
    let folder = Folder::new("diff_csv");
    folder.file("p.csv", CSV);
    folder.file("q.csv", CSV.replace("first,0,2,4", "first,0,2,6"));
    for (problem, plan) in [("p.csv", "p.plan.csv"), ("q.csv", "q.plan.csv")] {
        folder.run(["plan", problem, "-o", plan]).expect(0);
    }
    let got = folder
        .run(["diff", "p.csv", "p.plan.csv", "q.csv", "q.plan.csv"])
        .expect(0);
    assert!(got.text().contains("grown: 1 location,"), "{}", got.text());
}

#[test]
fn bad_files_and_numbers_of_files_have_status_2() {
    let folder = planned("diff_bad");
    for (args, says) in [
        (&["diff", "a.json", "a.plan.json"][..], "a.plan.json"),
        (
            &["diff", "a.json", "a.plan.json", "b.plan.json"][..],
            "another function",
        ),
        (
            &["diff", "-", "a.plan.json", "b.plan.json"][..],
            "stdin is read once",
        ),
        (
            &["diff", "a.json", "-", "b.json", "-"][..],
            "stdin is read once",
        ),
        (
            &["diff", "a.json", "a.plan.json", "b.json", "none"][..],
            "none",
        ),
    ] {
        let got = folder.run(args).expect(2);
        assert!(
            got.stderr.contains(says) || says == "a.plan.json",
            "{args:?}: {}",
            got.stderr
        );
        assert!(got.stdout.is_empty());
    }
}
