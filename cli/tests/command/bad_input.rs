//! Whatever comes in, what comes out is one clear line, and never a plan.

use std::fs;

use crate::harness::{CSV, Folder, PROGRAM, gzip};

/// A file that is refused, and a word of the refusal.
struct Case {
    name: &'static str,
    content: Vec<u8>,
    says: &'static str,
}

fn case(name: &'static str, content: impl Into<Vec<u8>>, says: &'static str) -> Case {
    Case {
        name,
        content: content.into(),
        says,
    }
}

fn changed(from: &str, to: &str) -> String {
    assert!(PROGRAM.contains(from), "{from}");
    PROGRAM.replace(from, to)
}

fn cases() -> Vec<Case> {
    let nested = |depth: usize| {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        PROGRAM.replacen("{\"format\"", &format!("{{\"deep\":{deep},\"format\""), 1)
    };
    let zipped = gzip(PROGRAM.as_bytes());
    vec![
        case("nothing", "", "is empty"),
        case("blanks", " \n\t\n", "is empty"),
        case("a compressed nothing", gzip(b""), "is empty"),
        case("half a program", &PROGRAM[..PROGRAM.len() / 2], "line"),
        case("a program and more", format!("{PROGRAM}}}"), "line"),
        case("nested 100 deep", nested(100), "deep"),
        case("nested 100000 deep", nested(100_000), ""),
        case(
            "binary",
            [0x7f, b'E', b'L', b'F', 0, 1, 2, 0xff],
            "no text file",
        ),
        case(
            "not UTF-8",
            PROGRAM
                .replace("load", "l@d")
                .replace('@', "\u{e9}")
                .chars()
                .map(|c| c as u8)
                .collect::<Vec<u8>>(),
            "UTF-8",
        ),
        case("half a gzip file", &zipped[..zipped.len() / 2], "gzip"),
        case(
            "a broken gzip file",
            [&zipped[..20], &[0xff; 20], &zipped[40..]].concat(),
            "gzip",
        ),
        case(
            "another format",
            changed("dramalloc-program", "dramalloc-plan"),
            "dramalloc-plan",
        ),
        case(
            "a later version",
            changed("\"version\":1", "\"version\":2"),
            "version",
        ),
        case("an unknown key", changed("\"usage\"", "\"use\""), "use"),
        case(
            "an unknown word",
            changed("\"input\"", "\"inptu\""),
            "inptu",
        ),
        case(
            "an unknown location",
            changed("\"uses\":[\"c\"]", "\"uses\":[\"d\"]"),
            "d",
        ),
        case(
            "an unknown size",
            changed("\"bytes\":4096", "\"bytes\":null"),
            "a",
        ),
        case(
            "a size that wraps",
            changed("\"elem_count\":1024", "\"elem_count\":18446744073709551615"),
            "c",
        ),
        case(
            "a view past its root",
            changed("\"offset\":4096", "\"offset\":8001"),
            "v",
        ),
        case("a list", "[1,2,3]", ""),
        case("prose", "It was a dark and stormy night.\n", ""),
        case("a CSV without sizes", "id,lower,upper\n1,2,3\n", "size"),
        case(
            "a CSV life that ends first",
            CSV.replace("1,4,8", "5,4,8"),
            "line 3",
        ),
        case(
            "a CSV number that is none",
            CSV.replace("2,4,4", "2,4,4 kB"),
            "line 4",
        ),
        case(
            "a CSV id that comes twice",
            CSV.replace("last", "first"),
            "first",
        ),
    ]
}

#[test]
fn a_bad_file_is_refused_in_one_line_that_names_it() {
    let folder = Folder::new("bad_file");
    for case in cases() {
        folder.file("bad", &case.content);
        for command in ["plan", "convert"] {
            let got = folder.run([command, "bad", "-o", "out"]);
            let (name, stderr) = (case.name, &got.stderr);
            assert_eq!(got.status, Some(2), "{command} {name}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{command} {name}: {stderr}");
            assert!(
                stderr.starts_with("dramalloc: error: bad: "),
                "{command} {name}: {stderr}"
            );
            assert!(stderr.contains(case.says), "{command} {name}: {stderr}");
            assert!(stderr.len() < 400, "{command} {name}: {stderr}");
            assert_eq!(got.text(), "", "{command} {name}");
            assert_eq!(folder.names(), ["bad"], "{command} {name}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new("cannot_be_read");
    fs::create_dir(folder.path("folder")).unwrap();
    folder.file("good", PROGRAM);
    for (path, says) in [
        ("missing", "no such file"),
        ("folder", "is a directory"),
        ("good/x", "not a directory"),
    ] {
        let got = folder.run(["plan", path]).expect(2);
        assert!(
            got.stderr
                .starts_with(&format!("dramalloc: error: {path}: ")),
            "{}",
            got.stderr
        );
        assert!(got.stderr.contains(says), "{}", got.stderr);
        assert_eq!(got.stderr.lines().count(), 1, "{}", got.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("no_permission");
    let secret = folder.file("secret", PROGRAM);
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(&secret).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let got = folder.run(["plan", "secret"]).expect(2);
    assert_eq!(got.stderr, "dramalloc: error: secret: permission denied\n");
}

#[test]
fn a_wrong_command_line_has_status_2_and_help_has_0() {
    let folder = Folder::new("usage");
    folder.file("good", PROGRAM);
    for (name, args, status, says) in [
        ("nothing", "", 2, "Usage"),
        ("an unknown command", "pln good", 2, "pln"),
        ("no file", "plan", 2, "<FILE>"),
        ("an unknown option", "plan good --fast", 2, "--fast"),
        (
            "an unknown strategy",
            "plan good --strategy slow",
            2,
            "reference",
        ),
        ("a size with a unit", "plan good --capacity 16GB", 2, "16GB"),
        ("a negative size", "plan good --capacity -1", 2, "-1"),
        (
            "an alignment that is no power of two",
            "plan good --align 12",
            2,
            "power of two",
        ),
        ("a limit below -1", "plan good --cc-limit -2", 2, "cc_limit"),
        (
            "a page of more bytes than there are",
            "plan good --runtime-page 17592186044416",
            2,
            "runtime_page",
        ),
        ("both quiet and verbose", "plan good -q -v", 2, "--quiet"),
        ("help", "--help", 0, "Exit status"),
        ("help of a command", "plan --help", 0, "--strategy"),
        ("version", "--version", 0, env!("CARGO_PKG_VERSION")),
    ] {
        let got = folder.run(args.split_whitespace());
        let said = format!("{}{}", got.text(), got.stderr);
        assert_eq!(got.status, Some(status), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
        assert_eq!(got.text().is_empty(), status != 0, "{name}: {said}");
    }
}

#[test]
fn names_in_a_file_cannot_speak_to_the_terminal() {
    let folder = Folder::new("terminal");
    folder.file(
        "evil",
        changed("\"uses\":[\"c\"]", r#""uses":["\u001b[2Jc\nfake: line"]"#),
    );
    let got = folder.run(["plan", "evil"]).expect(2);
    assert_eq!(got.stderr.lines().count(), 1, "{}", got.stderr);
    assert!(!got.stderr.contains('\u{1b}'), "{}", got.stderr);
}

#[test]
fn a_line_about_a_long_name_can_be_read() {
    let folder = Folder::new("long_name");
    let long = "\u{e9}".repeat(100_000);
    folder.file(
        "bad",
        changed("\"uses\":[\"c\"]", &format!("\"uses\":[\"{long}\"]")),
    );
    let got = folder.run(["plan", "bad"]).expect(2);
    let said = got.stderr.trim_end();
    assert!(said.starts_with("dramalloc: error: bad: "), "{said}");
    assert!(said.contains(" characters ...] \u{e9}"), "{said}");
    assert!(said.chars().count() < 1100, "{said}");
    let short = changed("\"uses\":[\"c\"]", "\"uses\":[\"\u{e9}\"]");
    folder.file("bad", short);
    let whole = folder.run(["plan", "bad"]).expect(2).stderr;
    let end = whole.trim_end().rsplit('\u{e9}').next().unwrap();
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn a_plan_of_the_other_kind_of_file_is_named() {
    let folder = Folder::new("other_kind");
    folder.file("p.json", PROGRAM);
    folder.file("p.csv", CSV);
    folder
        .run(["plan", "-q", "p.json", "-o", "a.json"])
        .expect(0);
    folder.run(["plan", "-q", "p.csv", "-o", "a.csv"]).expect(0);
    for (program, plan, says) in [
        (
            "p.json",
            "a.csv",
            "a.csv: the plan of p.json is JSON, and this is not",
        ),
        (
            "p.csv",
            "a.json",
            "a.json: the plan of p.csv is a CSV, and this is JSON",
        ),
    ] {
        for command in [
            &["verify", program, plan][..],
            &["explain", program, plan],
            &["draw", program, plan],
            &["draw", "p.csv", "a.csv", "--beside", program, plan],
            &["diff", program, plan, "a.json"],
            &["diff", "p.csv", "a.csv", program, plan],
            &["convert", program, "--plan", plan, "--to", "chrome-trace"],
            &[
                "convert",
                program,
                "--plan",
                plan,
                "--to",
                "memory-snapshot",
            ],
        ] {
            let got = folder.run(command).expect(2);
            assert_eq!(
                got.stderr,
                format!("dramalloc: error: {says}\n"),
                "{command:?}"
            );
            assert_eq!(got.text(), "", "{command:?}");
        }
    }
}
