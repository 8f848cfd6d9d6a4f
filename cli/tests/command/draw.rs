//! `dramalloc draw`.

use crate::harness::{CSV, Folder, PROGRAM, gunzip};

/// A folder with a program and its plan.
fn planned(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.file("p.json", PROGRAM);
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    folder
}

#[test]
fn stdout_gets_a_map() {
    let folder = planned("draw_map");
    let map = folder.run(["draw", "p.json", "plan.json"]).expect(0);
    assert!(
        map.text()
            .starts_with("small: core 0 - local: peak 12 KiB above the floor, ")
    );
    assert!(map.text().contains("\na a: internal, 4 KiB at "));
    let narrow = [
        "draw",
        "p.json",
        "plan.json",
        "--width",
        "50",
        "--height",
        "5",
    ];
    let map = folder.run(narrow).expect(0);
    let rows = map.text().lines().filter(|line| line.contains('|'));
    assert!(rows.map(|row| row.chars().count()).eq([50; 6]));
}

#[test]
fn the_ending_of_the_file_says_what_is_drawn() {
    let folder = planned("draw_endings");
    for (name, begins) in [
        ("out.html", "<!doctype html>"),
        ("out.HTM", "<!doctype html>"),
        ("out.svg", "<svg "),
        ("out.txt", "small: core 0"),
    ] {
        folder
            .run(["draw", "p.json", "plan.json", "-o", name])
            .expect(0);
        let text = String::from_utf8(folder.read(name)).unwrap();
        assert!(text.starts_with(begins), "{name}: {}", &text[..40]);
    }
    folder
        .run(["draw", "p.json", "plan.json", "-o", "out.svg.gz"])
        .expect(0);
    assert_eq!(gunzip(&folder.read("out.svg.gz")), folder.read("out.svg"));
    let other = folder
        .run(["draw", "p.json", "plan.json", "-o", "out.png"])
        .expect(2);
    assert!(
        other.stderr.contains("none of .html, .svg and .txt"),
        "{}",
        other.stderr
    );
    let named = [
        "draw",
        "p.json",
        "plan.json",
        "-o",
        "out.png",
        "--format",
        "svg",
    ];
    folder.run(named).expect(0);
    assert_eq!(folder.read("out.png"), folder.read("out.svg"));
    let shown = folder
        .run(["draw", "p.json", "plan.json", "--format", "svg"])
        .expect(0);
    assert_eq!(shown.stdout, folder.read("out.svg"));
}

#[test]
fn a_second_plan_stands_beside_the_first() {
    let folder = planned("draw_beside");
    folder
        .run(["plan", "p.json", "-o", "packed.json", "--packed"])
        .expect(0);
    let map = folder
        .run(["draw", "p.json", "plan.json", "--beside", "packed.json"])
        .expect(0);
    for said in ["plan.json: core 0", "packed.json: core 0", ", shrunk\n"] {
        assert!(map.text().contains(said), "{said}: {}", map.text());
    }
    folder.file("q.json", PROGRAM.replace("\"c\"", "\"d\""));
    folder
        .run(["plan", "q.json", "-o", "q.plan.json"])
        .expect(0);
    let other = [
        "draw",
        "p.json",
        "plan.json",
        "--beside",
        "q.json",
        "q.plan.json",
    ];
    let map = folder.run(other).expect(0);
    assert!(
        map.text().contains(", gone\n") && map.text().contains(", new\n"),
        "{}",
        map.text()
    );
    let wrong = ["draw", "p.json", "plan.json", "--beside", "q.plan.json"];
    let refused = folder.run(wrong).expect(2);
    assert!(refused.stderr.contains("q.plan.json"), "{}", refused.stderr);
}

#[test]
fn raw_problems_are_drawn_too() {
    let folder = Folder::new("draw_csv");
    folder.file("p.csv", CSV);
    folder.run(["plan", "p.csv", "-o", "plan.csv"]).expect(0);
    let map = folder.run(["draw", "p.csv", "plan.csv"]).expect(0);
    for name in ["first", "second", "last"] {
        assert!(
            map.text().contains(&format!(" {name}: internal, ")),
            "{}",
            map.text()
        );
    }
}

#[test]
fn what_cannot_be_drawn_is_bad_input() {
    let folder = planned("draw_refused");
    for (args, said) in [
        (["draw", "-", "-", "--width", "9"], "only one of the"),
        (
            ["draw", "-", "plan.json", "--beside", "plan.json"],
            "only one of the",
        ),
        (
            ["draw", "p.json", "plan.json", "--width", "20001"],
            "at most 20000",
        ),
        (["draw", "p.json", "p.json", "--width", "9"], "p.json: "),
    ] {
        let refused = folder.run(args).expect(2);
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
        assert!(refused.stdout.is_empty());
    }
    let none = folder
        .run(["draw", "p.json", "plan.json", "--core", "7"])
        .expect(0);
    assert_eq!(none.text(), "nothing here has an address\n");
}
