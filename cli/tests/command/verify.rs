//! `dramalloc verify`.

use crate::harness::{CSV, Folder, PROGRAM};

fn planned(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("p.json", PROGRAM);
    folder.file("p.csv", CSV);
    folder.run(["plan", "p.json", "-o", "plan.json"]).expect(0);
    folder.run(["plan", "p.csv", "-o", "plan.csv"]).expect(0);
    folder
}

#[test]
fn a_right_plan_is_verified() {
    let folder = planned("right_plan");
    let got = folder.run(["verify", "p.json", "plan.json"]).expect(0);
    assert_eq!(
        got.text(),
        "verified: 5 locations in 1 function on 1 core\n"
    );
    let got = folder.run(["verify", "p.csv", "plan.csv"]).expect(0);
    assert_eq!(got.text(), "verified: 3 buffers\n");
    let plan = folder.read("plan.json");
    folder.run_with(["verify", "p.json", "-"], &plan).expect(0);
}

#[test]
fn a_wrong_plan_has_status_1_and_a_line_per_violation_on_stdout() {
    let folder = planned("wrong_plan");
    let mut plan = folder.json("plan.json");
    let memlocs = &mut plan["modules"][0]["functions"][0]["memlocs"];
    memlocs[1]["address"] = memlocs[2]["address"].clone();
    folder.file("wrong.json", plan.to_string());
    let text = String::from_utf8(folder.read("plan.csv")).unwrap();
    folder.file(
        "wrong.csv",
        text.replace("4,4,8\n", "4,4,7\n")
            .replace("first,0,2,4,8", "first,0,2,4,6"),
    );
    for (program, plan, names) in [
        ("p.json", "wrong.json", "core 0, function main, a, b, "),
        ("p.csv", "wrong.csv", "first, second, "),
    ] {
        let got = folder.run(["verify", program, plan]).expect(1);
        let overlap = format!("overlap: {names}");
        assert!(got.text().contains(&overlap), "{plan}: {}", got.text());
        assert!(got.stderr.contains(" violation"), "{plan}: {}", got.stderr);
    }
}

#[test]
fn a_csv_is_verified_against_the_options_that_are_typed() {
    let folder = planned("csv_options");
    folder
        .run(["verify", "p.csv", "plan.csv", "--capacity", "12"])
        .expect(0);
    folder
        .run(["verify", "p.csv", "plan.csv", "--capacity", "11"])
        .expect(1);
    let got = folder
        .run(["verify", "p.json", "plan.json", "--capacity", "11"])
        .expect(2);
    assert!(got.stderr.contains("its own options"), "{}", got.stderr);
}

#[test]
fn what_is_no_plan_is_bad_input() {
    let folder = planned("no_plan");
    folder.file("half.json", &folder.read("plan.json")[..100]);
    folder.file("other.csv", "id,lower,upper,size,offset\nother,0,2,4,8\n");
    for (args, says) in [
        ("p.json p.json", "dramalloc-program"),
        ("plan.json plan.json", "dramalloc-plan"),
        ("p.json half.json", "half.json"),
        ("p.json missing.json", "no such file"),
        ("p.csv other.csv", "other.csv"),
        ("- -", "stdin"),
    ] {
        let words = ["verify"].into_iter().chain(args.split_whitespace());
        let got = folder.run(words).expect(2);
        assert!(got.stderr.contains(says), "{args}: {}", got.stderr);
        assert_eq!(got.text(), "", "{args}");
        assert_eq!(got.stderr.lines().count(), 1, "{args}: {}", got.stderr);
    }
}

#[test]
fn a_plan_of_other_rows_is_none_of_these() {
    let folder = Folder::new("other_rows");
    let rows = "a,0,2,8,0\nb,1,3,4,8\n";
    let write = |name, rows: &str| {
        folder.file(name, format!("id,lower,upper,size,offset\n{rows}"));
    };
    folder.file("p.csv", "id,lower,upper,size\nb,1,3,4\na,0,2,8\n");
    write("plan.csv", rows);
    folder.run(["verify", "p.csv", "plan.csv"]).expect(0);
    for (other, says) in [
        (rows.replace("1,3,4", "1,3,3"), "b has another size or life"),
        (rows.replace("0,2,8", "0,1,8"), "a has another size or life"),
        (format!("{rows}c,5,6,1,0\n"), "it has 3 rows, the problem 2"),
        ("a,0,2,8,0\n".to_owned(), "it has no offset for b"),
        (rows.replace("4,8", "4,"), "it has no offset for b"),
    ] {
        write("other.csv", &other);
        for command in ["verify", "explain"] {
            let got = folder.run([command, "p.csv", "other.csv"]).expect(2);
            assert!(got.stderr.contains(says), "{says}: {}", got.stderr);
        }
    }
}

#[test]
fn deep_runs_the_program_and_names_values_that_are_lost() {
    let folder = planned("deep");
    folder
        .run(["plan", "p.json", "--deps", "-o", "plan.json"])
        .expect(0);
    let got = folder
        .run(["verify", "--deep", "p.json", "plan.json"])
        .expect(0);
    assert!(got.text().contains(" instructions run\n"), "{}", got.text());
    assert_eq!(got.stderr, "");
    let mut plan = folder.json("plan.json");
    let memlocs = &mut plan["modules"][0]["functions"][0]["memlocs"];
    memlocs[1]["address"] = memlocs[2]["address"].clone();
    folder.file("wrong.json", plan.to_string());
    let got = folder
        .run(["verify", "--deep", "p.json", "wrong.json"])
        .expect(1);
    assert!(
        got.text().contains("overwritten_operand: "),
        "{}",
        got.text()
    );
    let got = folder
        .run(["verify", "--deep", "p.csv", "plan.csv"])
        .expect(2);
    assert!(got.stderr.contains("--deep"), "{}", got.stderr);
}
