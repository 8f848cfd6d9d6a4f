//! The tables of options in the README and in the guide, made from the one list of the library.

use std::fs;
use std::path::Path;

use dramalloc::described::{DESCRIBED, Described};

const BEGIN: &str = "<!-- made by `cargo run -p xtask -- options`: begin -->\n";
const END: &str = "<!-- made by `cargo run -p xtask -- options`: end -->\n";

/// Writes the tables.
pub fn write(root: &Path) -> Result<(), String> {
    for (path, table) in tables() {
        let path = root.join(path);
        let text = read(&path)?;
        let text = with_table(&text, &table).map_err(|e| format!("{}: {e}", path.display()))?;
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Whether the committed tables are what the list says.
pub fn check(root: &Path) -> Result<(), String> {
    for (path, table) in tables() {
        let text = read(&root.join(path))?;
        if with_table(&text, &table).map_err(|e| format!("{path}: {e}"))? != text {
            return Err(format!(
                "the table of options in {path} is stale; run `cargo run -p xtask -- options`"
            ));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn tables() -> [(&'static str, String); 2] {
    [("README.md", of_plan()), ("docs/options.md", of_all())]
}

/// A text with another table between its markers.
fn with_table(text: &str, table: &str) -> Result<String, String> {
    let missing = || "the markers of the table are missing".to_owned();
    let (before, rest) = text.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// What can be typed behind `plan`.
fn of_plan() -> String {
    let mut table = "| option of `plan` | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for option in DESCRIBED.iter().filter(|o| o.commands.contains(&"plan")) {
        let Described {
            default, meaning, ..
        } = option;
        table += &format!("| `{}` | {default} | {meaning} |\n", option.flag());
    }
    table
}

/// Every option with all its names.
fn of_all() -> String {
    let mut table = "| option | command | JSON | C | default | meaning |\n".to_owned();
    table += "| --- | --- | --- | --- | --- | --- |\n";
    for option in DESCRIBED {
        let flag = option.flag();
        let of_command = |command: &&str| format!("`{command} {flag}`");
        let commands = listed(option.commands.iter().map(of_command));
        let structs = listed(option.structs.iter().map(|name| format!("`{name}`")));
        let key = if option.is_key { "yes" } else { "-" };
        let Described {
            name,
            default,
            meaning,
            ..
        } = option;
        table +=
            &format!("| `{name}` | {commands} | {key} | {structs} | {default} | {meaning} |\n");
    }
    table
}

/// The entries of a cell.
fn listed(entries: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = entries.collect();
    match all.is_empty() {
        true => "-".to_owned(),
        false => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_what_is_between_the_markers_and_nothing_else() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = with_table(&text, "| new |\n").expect("both markers are there");
        assert_eq!(new, format!("before\n{BEGIN}\n| new |\n\n{END}after\n"));
        assert_eq!(with_table(&new, "| new |\n").as_deref(), Ok(new.as_str()));
        assert!(with_table("nothing", "").is_err());
    }
}
