//! What is every option called, what does it mean, and what holds if nobody says anything?
//!
//! The one list that tables for people are made from: the help of the command, the table of the README
//! and that of the guide. An option has one name; the key in a plan's `options` and the field of a C
//! struct are that name, the flag is it with hyphens. Tests hold the list against all three, so that an
//! option which is missing here, or is here and nowhere else, does not get far.

/// An option, for people.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its name.
    pub name: &'static str,
    /// The subcommands that have it as a flag. What `plan` takes, `verify` takes too for a CSV.
    pub commands: &'static [&'static str],
    /// Whether it is a key of a plan's `options` object.
    pub is_key: bool,
    /// The C structs that have it as a field.
    pub structs: &'static [&'static str],
    /// What holds without it.
    pub default: &'static str,
    /// What it means, in Markdown.
    pub meaning: &'static str,
}

impl Described {
    /// Its flag, for the options that have one.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }
}

/// On the command line, in a plan's `options` object, in `dram_options`.
const fn everywhere(name: &'static str, default: &'static str, meaning: &'static str) -> Described {
    let (commands, structs) = (&["plan"], &["dram_options"]);
    Described {
        name,
        commands,
        is_key: true,
        structs,
        default,
        meaning,
    }
}

/// In a plan's `options` object and in `dram_options`.
const fn library(name: &'static str, default: &'static str, meaning: &'static str) -> Described {
    let commands: &[&str] = &[];
    Described {
        commands,
        ..everywhere(name, default, meaning)
    }
}

/// In `dram_pipeline_options`.
const fn pipeline(name: &'static str, default: &'static str, meaning: &'static str) -> Described {
    Described {
        is_key: false,
        structs: &["dram_pipeline_options"],
        ..library(name, default, meaning)
    }
}

/// A flag of some subcommands, and perhaps a field of other structs than `dram_options`.
const fn flag(
    commands: &'static [&'static str],
    structs: &'static [&'static str],
    name: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Described {
    Described {
        commands,
        structs,
        ..pipeline(name, default, meaning)
    }
}

/// Every option, in the order in which people are told of them.
pub const DESCRIBED: &[Described] = &[
    everywhere(
        "strategy",
        "`fast`",
        "`reference`: one order by interference, first fit; `fast`: near-linear, never above it; `best`: \
         searches on, never above `fast`",
    ),
    everywhere(
        "capacity",
        "none",
        "bytes that one core may use; less is status 1",
    ),
    everywhere(
        "preset",
        "none",
        "a device, for its capacity: `inferentia`, `trn1`, `inf2` 16 GiB per core; `trn2` 24; `trn3` 36",
    ),
    everywhere(
        "budget_steps",
        "by strategy",
        "stop searching after so many steps: the same plan on every machine",
    ),
    everywhere(
        "budget_ms",
        "none",
        "stop searching after so many milliseconds",
    ),
    everywhere(
        "floor",
        "`hwm` (CSV: `holes`)",
        "start above everything pinned (`hwm`), or use the holes between pins while they are free (`holes`)",
    ),
    everywhere(
        "align",
        "4096 (packed, CSV: 1)",
        "alignment of locations that declare none",
    ),
    everywhere("packed", "off", "exact bytes instead of whole pages"),
    everywhere(
        "reuse_io",
        "off",
        "inputs give up their bytes after their last use, outputs take them at their first write",
    ),
    everywhere(
        "strict",
        "off",
        "a read that may come before any write is an error, not a warning",
    ),
    everywhere(
        "cc_limit",
        "500",
        "MiB of the region for collectives; `-1`: what they need; `0`: no region",
    ),
    everywhere(
        "trim_cc",
        "off",
        "the others start where the collectives really end",
    ),
    everywhere(
        "runtime_page",
        "0 (off)",
        "MiB of the page in which the runtime hands out memory: a location that straddles one costs a copy \
         of its size, which is avoided first, the height second",
    ),
    everywhere(
        "geometry",
        "`split`",
        "each space has addresses of its own (`split`), or local and shared have one range per core \
         (`unified`): shared groups come first, free on the cores that they reach, the rest lies around them",
    ),
    everywhere(
        "shared_mib_per_core",
        "0 (off)",
        "MiB of each core's slab of the shared space",
    ),
    flag(
        &["plan"],
        &[],
        "deps",
        "off",
        "also write the order that re-used bytes need when engines run in parallel (programs only)",
    ),
    flag(
        &["plan"],
        &["dram_control"],
        "hint",
        "none",
        "an earlier plan of this program, or of one like it: what has not changed keeps its address, as far \
         as that costs nothing: the plan ends no further above its bound than the earlier one, or (not with \
         `best`) by less than a 128th; else a search runs to get there, and with a budget the whole one (a CSV has a column `hint`); `-` is stdin",
    ),
    everywhere(
        "keep",
        "0",
        "with a hint: bytes of peak that each MiB which keeps its address may cost on top, compared with a \
         plan without a hint",
    ),
    everywhere(
        "separate_functions",
        "off",
        "a device-wide barrier separates the entry functions, so their shared locations may share bytes",
    ),
    library(
        "usage_mask",
        "`internal`, `collective`",
        "the usages that are given addresses; the others are pinned or stay the caller's",
    ),
    library(
        "regions",
        "none",
        "windows of a space, each with a base, a size and the usages that it takes; nothing straddles two",
    ),
    flag(
        &["verify"],
        &["dram_verify_options"],
        "deep",
        "off",
        "also run the program by location and by address, compare every value, and ask what orders every \
         two accesses to common bytes",
    ),
    flag(
        &["deps"],
        &[],
        "dot",
        "off",
        "write the dependences alone, as a graph in DOT for Graphviz; for small programs",
    ),
    flag(
        &["convert"],
        &[],
        "to",
        "by the ending of OUT, else that of FILE",
        "the format to write",
    ),
    flag(
        &["convert"],
        &[],
        "function",
        "the only one",
        "for CSV: the function whose buffers are written",
    ),
    flag(
        &["convert"],
        &[],
        "plan",
        "none",
        "the plan of FILE, for a Chrome trace or a memory snapshot; `-` is stdin",
    ),
    flag(
        &["convert"],
        &[],
        "plan_out",
        "none",
        "for XLA's buffer assignment: where XLA's own plan goes, as JSON or CSV like the result",
    ),
    flag(
        &["convert", "draw"],
        &["dram_draw_options"],
        "core",
        "all; CSV: the only one",
        "this core only; for CSV: the core of the function",
    ),
    flag(
        &["draw"],
        &["dram_draw_options"],
        "space",
        "all",
        "draw this space only",
    ),
    flag(
        &["draw"],
        &["dram_draw_options"],
        "width",
        "1280; a map: 80",
        "pixels or columns across",
    ),
    flag(
        &["draw"],
        &["dram_draw_options"],
        "height",
        "as lanes need; a map: 24",
        "pixels down, or rows of each lane",
    ),
    flag(
        &["draw"],
        &[],
        "beside",
        "none",
        "a second plan of the program, or another program and its plan, drawn beside the first",
    ),
    flag(
        &[],
        &["dram_draw_options"],
        "beside_plan",
        "none",
        "the same in C: the second plan",
    ),
    flag(
        &[],
        &["dram_draw_options"],
        "beside_program",
        "the same",
        "the program of the second plan",
    ),
    flag(
        &[],
        &["dram_draw_options"],
        "title",
        "the program's name",
        "what stands above the picture",
    ),
    flag(
        &[],
        &["dram_draw_options"],
        "beside_title",
        "the program's name",
        "what stands above the second picture",
    ),
    flag(
        &["diff"],
        &[],
        "draw",
        "off",
        "also draw the two plans beside each other: `.html` is a page for a browser, `.svg` a picture, \
         `.txt` a map",
    ),
    flag(
        &["draw"],
        &[
            "dram_draw_options",
            "dram_explain_options",
            "dram_diff_options",
        ],
        "format",
        "by the ending of OUT, to stdout a map; a report: text",
        "what to draw: a page for a browser (`html`), a picture for documents (`svg`), a map for terminals \
         (`ascii`); in C also what a report is: text for people, JSON for machines",
    ),
    flag(
        &["explain", "diff"],
        &[],
        "json",
        "off",
        "a JSON document for machines instead of text for people",
    ),
    flag(
        &["explain", "diff"],
        &["dram_explain_options", "dram_diff_options"],
        "top",
        "10",
        "the entries of each list; what is left out is told as a total",
    ),
    flag(
        &["explain", "diff"],
        &["dram_explain_options", "dram_diff_options"],
        "spaces",
        "1",
        "the spaces that the text tells in full, the highest first",
    ),
    pipeline(
        "cores",
        "0",
        "split the only module over so many cores first",
    ),
    pipeline(
        "post_link",
        "off",
        "the modules are linked: place again, keep nothing but the host's pins",
    ),
    pipeline(
        "disable_dram_allocation",
        "off",
        "without `coloring_allocator_dram` and what only makes sense after it",
    ),
    pipeline("dram_rotation", "off", "with `address_rotation_dram`"),
    pipeline(
        "disable_dram_rotation",
        "off",
        "without `address_rotation_dram`, whatever `dram_rotation` says",
    ),
    pipeline(
        "dram_rotation_size",
        "8",
        "GiB above the floor over which the rotation may spread locations, at most 8; `-1`: as far as was \
         used before",
    ),
    pipeline(
        "disable_hbm_usage_check",
        "off",
        "a core that needs too much is a note of `hbm_usage`, not an error",
    ),
    pipeline(
        "extra_bytes",
        "0",
        "bytes per core that only the host knows of, such as descriptors; they count as needed",
    ),
    pipeline(
        "verify_each",
        "off",
        "verify after every pass; a failure names the pass",
    ),
    pipeline(
        "verify_deep",
        "off",
        "after the last pass run the program on its plan",
    ),
];

/// The option of this name.
///
/// # Panics
///
/// If there is none.
pub fn described(name: &str) -> &'static Described {
    let found = DESCRIBED.iter().find(|option| option.name == name);
    found.unwrap_or_else(|| panic!("{name} is no option"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::format::{read_program, write_plan};
    use crate::{Control, Options, plan};

    /// The fields of a C struct, but for its size, counts of arrays and what is reserved.
    fn fields(structure: &str) -> Vec<&'static str> {
        let header = include_str!("../include/dramalloc.h");
        let body = header
            .split(&format!("typedef struct {structure} {{"))
            .nth(1)
            .and_then(|rest| rest.split(&format!("}} {structure};")).next());
        let lines = body.expect("the header has the struct").lines();
        lines
            .map(str::trim)
            .filter(|line| line.ends_with(';') && !line.starts_with('*'))
            .filter_map(|line| line.trim_end_matches(';').rsplit([' ', '*']).next())
            .filter(|field| *field != "struct_size" && !field.ends_with("_count"))
            .filter(|field| !field.starts_with("reserved"))
            .collect()
    }

    fn names(of: impl Fn(&Described) -> bool) -> Vec<&'static str> {
        let mut names: Vec<_> = DESCRIBED
            .iter()
            .filter(|option| of(option))
            .map(|o| o.name)
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_c_structs_have_these_fields_and_no_others() {
        let all = DESCRIBED.iter().flat_map(|option| option.structs);
        let structs: BTreeSet<_> = all.filter(|name| **name != "dram_control").collect();
        assert!(structs.len() >= 6);
        for structure in structs {
            let mut fields = fields(structure);
            fields.retain(|field| *field != "control"); // A host is no choice.
            fields.sort_unstable();
            let listed = names(|option| option.structs.contains(structure));
            assert_eq!(fields, listed, "{structure}");
        }
        assert!(fields("dram_control").contains(&"hint"));
    }

    #[test]
    fn the_options_of_a_plan_file_have_these_keys_and_defaults() {
        let text = include_bytes!("../tests/data/two_cores.program.json");
        let program = read_program(text).expect("the file is right");
        let plan = plan(&program, &Options::default(), &mut Control::default()).expect("fits");
        let mut out = Vec::new();
        write_plan(&plan, &mut out).expect("memory takes every write");
        let text = String::from_utf8(out).expect("JSON is UTF-8");
        let object = text.split("\"options\":").nth(1);
        let object = object.and_then(|rest| rest.split('}').next());
        let object = object.expect("a plan has options, without objects in them by default");
        let mut keys = Vec::new();
        for option in DESCRIBED.iter().filter(|option| option.is_key) {
            let key = format!("\"{}\":", option.name);
            let value = object.split(&key).nth(1).map(|rest| {
                let value = rest.trim_start();
                let end = value.find(|c| ",}\n".contains(c)).unwrap_or(value.len());
                value[..end].trim().trim_matches('"')
            });
            let value = value.unwrap_or_else(|| panic!("{} is no key of {object}", option.name));
            keys.push(option.name);
            let says = option.default.trim_start_matches('`');
            let agrees = match value {
                "null" => matches!(says, "none" | "by strategy" | "4096 (packed, CSV: 1)"),
                "custom" => says == "none",
                "false" => says == "off",
                // Lists, of which the first entry shows.
                value if value.starts_with('[') => {
                    says == "none" || value.contains(says.split('`').next().unwrap_or_default())
                }
                value => says.starts_with(value),
            };
            assert!(
                agrees,
                "{}: the file says {value}, the list {says}",
                option.name
            );
        }
        // No key of the object is missing in the list.
        assert_eq!(object.matches("\":").count(), keys.len(), "{object}");
    }
}
