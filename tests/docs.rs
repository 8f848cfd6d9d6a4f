//! What the documents say is still so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every Rust file below `folder`, as (path from the root, content).
fn sources(folder: &str) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("the folder exists") {
            let path = folder.join(entry.expect("the folder can be listed").file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.to_str().expect("our names are plain").to_owned();
                found.push((name.clone(), read(&name)));
            }
        }
    }
    found.sort();
    found
}

/// The rules that a file cites: what follows the last `//` of a line, or stands in a doc comment,
/// as in `// L4, P2`.
fn cited(source: &str) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    for line in source.lines() {
        let Some(at) = line.rfind("// ") else {
            continue;
        };
        let tail = &line[at + 3..];
        for word in tail.split([',', ' ', '.', ';', ':', '(', ')', '`']) {
            let (letter, number) = word.split_at(word.len().min(1));
            let digits = number.strip_suffix('b').unwrap_or(number);
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if "LIOPGMDVXSC".contains(letter) && is_number && digits.len() <= 2 {
                rules.insert(word.to_owned());
            }
        }
    }
    rules
}

/// The table of rules: rule -> the files that answer for it.
fn rules() -> BTreeMap<String, Vec<String>> {
    let text = read("ARCHITECTURE.md");
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [rule, _, files] = cells[..] else {
            return None;
        };
        let files = files
            .split(',')
            .map(|f| f.trim().trim_matches('`').to_owned());
        Some((rule.to_owned(), files.filter(|f| f != "-").collect()))
    });
    rows.filter(|(rule, _): &(String, Vec<String>)| rule.len() <= 3 && rule != "---")
        .collect()
}

#[test]
fn the_files_that_answer_for_a_rule_cite_it() {
    let rules = rules();
    assert!(rules.len() > 50, "the table was found");
    for (rule, files) in &rules {
        for file in files {
            let source = read(file);
            // A file may answer for all rules of its letter, `// C`.
            let letter = format!("// {}", &rule[..1]);
            let whole = source.lines().any(|line| line.ends_with(&letter));
            let answers = whole || cited(&source).contains(rule);
            assert!(answers, "{file} does not cite {rule}");
        }
    }
}

#[test]
fn every_rule_that_code_cites_is_in_the_table() {
    let rules = rules();
    for (path, source) in sources("src") {
        for rule in cited(&source) {
            assert!(
                rules.contains_key(&rule),
                "{path} cites {rule}, ARCHITECTURE.md lacks it"
            );
        }
    }
}

/// The rows of the table of other people's names, as cells.
fn names() -> Vec<Vec<String>> {
    let text = read("ARCHITECTURE.md");
    let table = text.split("## Names that others use").nth(1);
    let rows = table.expect("the table is there").lines().skip(1);
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = rows.filter(|line| line.starts_with('|')).map(cells);
    rows.skip(2).collect() // The head and the rule under it.
}

/// What stands between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether a word stands in a text by itself.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

#[test]
fn what_others_call_by_name_is_where_the_table_says() {
    let names = names();
    assert!(names.len() > 40, "the table was found");
    for row in &names {
        let [kind, name, what, places, tests] = &row[..] else {
            panic!("a row has five cells: {row:?}");
        };
        let kinds = ["pass", "function", "attribute", "metric", "option"];
        assert!(
            kinds.contains(&kind.as_str()) && !what.is_empty(),
            "{row:?}"
        );
        for (cell, is_test) in [(places, false), (tests, true)] {
            let mut file: Option<(&str, String)> = None;
            let mut named = 0;
            for word in quoted(cell) {
                if word.contains('/') {
                    file = Some((word, read(word)));
                    continue;
                }
                let (path, text) = file.as_ref().expect("a file comes before what it has");
                let found = match is_test {
                    false => has_word(text, word),
                    true if path.ends_with(".rs") => text.contains(&format!("fn {word}() {{")),
                    true => text.contains(&format!(", {word}) {{")),
                };
                assert!(found, "{name}: {path} has no {word}");
                named += 1;
            }
            assert!(named > 0 || cell == "-", "{name}: names nothing: {cell}");
        }
    }
    // Every pass of the pipeline has a row.
    for pass in dramalloc::pipeline::Pass::ALL {
        let of_pass =
            |row: &Vec<String>| row[0] == "pass" && quoted(&row[1]).any(|n| n == pass.name());
        assert!(names.iter().any(of_pass), "{pass} has no row");
    }
}

#[test]
fn paths_in_the_documents_exist() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "benches/README.md",
        "benches/RESULTS.md",
    ] {
        let text = read(document);
        // Inline code with a slash in it, outside of blocks, and the targets of links.
        let prose: String = text.split("```").step_by(2).collect();
        let code = prose.split('`').skip(1).step_by(2);
        let links = prose
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for path in code.chain(links) {
            let plain = path
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
            let folder = root().join(document);
            let folder = folder.parent().expect("a document is in a folder");
            if plain && path.contains('/') && !path.starts_with("target/") {
                assert!(folder.join(path).exists(), "{document}: there is no {path}");
            }
        }
    }
}

#[test]
fn the_readme_shows_the_example_that_is_compiled() {
    let readme = read("README.md");
    let block = readme
        .split("```cpp\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    assert_eq!(block, Some(read("examples/cpp/plan.cpp").as_str()));
}
