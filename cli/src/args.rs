//! What can be typed, and the `Options` it becomes.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Parser, Subcommand};
use dramalloc::described::described;
use dramalloc::ir::Space;
use dramalloc::report::draw::Format;
use dramalloc::{Floor, Geometry, Options, Preset, Strategy};

/// The DRAM allocator of an accelerator compiler's back end.
///
/// Exit status: 0 the plan was written or verified; 1 no placement was found, or the plan is wrong;
/// 2 bad input, usage or I/O.
#[derive(Parser)]
#[command(name = "dramalloc", version, max_term_width = 100)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Give every memory location of a program an address.
    Plan(PlanArgs),
    /// Prove that a plan is right for its program.
    Verify(VerifyArgs),
    /// Add to a plan the order that its re-used bytes need.
    Deps(DepsArgs),
    /// Turn a program file into another format, or into normal form.
    Convert(ConvertArgs),
    /// Say why a plan needs the bytes that it needs, and what would lower its peak.
    Explain(ExplainArgs),
    /// Say what is different between two plans, and who is responsible.
    Diff(DiffArgs),
    /// Draw a plan, or two beside each other.
    Draw(DrawArgs),
}

/// `dramalloc plan`.
#[derive(clap::Args)]
pub struct PlanArgs {
    /// A program (JSON) or a raw problem (CSV), gzip or not; - is stdin.
    pub file: PathBuf,
    /// Where the plan goes (.gz compresses); without it, or with -, to stdout.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Also write the order that re-used bytes need (programs only).
    #[arg(long, help = said("deps"))]
    pub deps: bool,
    /// An earlier plan to start from.
    #[arg(long, help = said("hint"), value_name = "PLAN")]
    pub hint: Option<PathBuf>,
    /// What is asked for.
    #[command(flatten)]
    pub options: OptionArgs,
    /// How much is said.
    #[command(flatten)]
    pub talk: Talk,
}

/// `dramalloc deps`.
#[derive(clap::Args)]
pub struct DepsArgs {
    /// The program (JSON); - is stdin.
    pub program: PathBuf,
    /// Its plan; - is stdin.
    pub plan: PathBuf,
    /// Write the dependences alone, as a graph in DOT for Graphviz; for small programs.
    #[arg(long, help = said("dot"))]
    pub dot: bool,
    /// Where the plan with its dependences goes (.gz compresses); without it, or with -, to stdout.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How much is said.
    #[command(flatten)]
    pub talk: Talk,
}

/// `dramalloc verify`.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Also run the program.
    #[arg(long, help = said("deep"))]
    pub deep: bool,
    /// The program (JSON) or raw problem (CSV); - is stdin.
    pub program: PathBuf,
    /// Its plan; - is stdin.
    pub plan: PathBuf,
    /// For a CSV alone, which carries no options: what `plan` was run with.
    #[command(
        flatten,
        next_help_heading = "For a CSV, which carries no options: what plan was run with"
    )]
    pub options: OptionArgs,
    /// How much is said.
    #[command(flatten)]
    pub talk: Talk,
}

/// `dramalloc convert`.
#[derive(clap::Args)]
pub struct ConvertArgs {
    /// A program (JSON), a raw problem (CSV) or XLA's buffer assignment (text), gzip or not; - is
    /// stdin.
    pub file: PathBuf,
    /// Where the result goes (.gz compresses); without it, or with -, to stdout.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The format to write; without it by the ending of OUT, or the format of FILE. A Chrome trace
    /// opens in Perfetto, a memory snapshot in PyTorch's memory_viz; both show a plan.
    #[arg(long, help = said("to"), value_name = "FORMAT", value_parser = words(&["json", "csv", "chrome-trace", "memory-snapshot"]))]
    pub to: Option<String>,
    /// The plan of FILE, for a Chrome trace or a memory snapshot; - is stdin.
    #[arg(long, help = said("plan"), value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// For XLA's buffer assignment: where XLA's own plan goes (.gz compresses), as JSON or CSV like
    /// the result.
    #[arg(long, help = said("plan_out"), value_name = "OUT")]
    pub plan_out: Option<PathBuf>,
    /// For CSV: the function whose buffers are written, if there are several.
    #[arg(long, help = said("function"), value_name = "NAME")]
    pub function: Option<String>,
    /// For CSV: the core of that function.
    #[arg(long, help = said("core"), value_name = "N")]
    pub core: Option<u32>,
    /// How much is said.
    #[command(flatten)]
    pub talk: Talk,
}

/// `dramalloc explain`.
#[derive(clap::Args)]
pub struct ExplainArgs {
    /// The program (JSON) or raw problem (CSV); - is stdin.
    pub program: PathBuf,
    /// Its plan; - is stdin.
    pub plan: PathBuf,
    /// How it is told.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `dramalloc diff`.
#[derive(clap::Args)]
#[command(
    override_usage = "dramalloc diff [OPTIONS] PROGRAM PLAN_A PLAN_B\n       \
                            dramalloc diff [OPTIONS] PROGRAM_A PLAN_A PROGRAM_B PLAN_B"
)]
pub struct DiffArgs {
    /// A program and two plans of it, or two programs with a plan each; - is stdin.
    #[arg(num_args = 3..=4, required = true, value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Also draw the two plans beside each other: .html is a page for a browser, .svg a picture,
    /// .txt a map.
    #[arg(long, help = said("draw"), value_name = "FILE")]
    pub draw: Option<PathBuf>,
    /// How it is told.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// How a report is told.
#[derive(clap::Args)]
pub struct ReportArgs {
    /// Write a JSON document for machines instead of text for people.
    #[arg(long, help = said("json"))]
    pub json: bool,
    /// The entries of each list; what is left out is told as a total.
    #[arg(long, help = said("top"), value_name = "N", default_value_t = 10, hide_default_value = true)]
    pub top: usize,
    /// The spaces that the text tells in full, the highest first.
    #[arg(long, help = said("spaces"), value_name = "N", default_value_t = 1, hide_default_value = true)]
    pub spaces: usize,
    /// Where the report goes (.gz compresses); without it, or with -, to stdout.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// `dramalloc draw`.
#[derive(clap::Args)]
pub struct DrawArgs {
    /// The program (JSON) or raw problem (CSV); - is stdin.
    pub program: PathBuf,
    /// Its plan; - is stdin.
    pub plan: PathBuf,
    /// A second plan of the program, or another program and its plan, drawn beside the first.
    #[arg(long, help = said("beside"), value_names = ["PROGRAM", "PLAN"], num_args = 1..=2)]
    pub beside: Vec<PathBuf>,
    /// Where the picture goes (.gz compresses); without it, or with -, to stdout.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to draw: a page for a browser, a picture for documents, a map for terminals; without it
    /// by the ending of OUT (.html, .svg, .txt), and a map to stdout.
    #[arg(long, help = said("format"), value_name = "FORMAT", value_parser = named(Format::ALL, Format::name, Format::from_name))]
    pub format: Option<Format>,
    /// Pixels or columns across [default: 1280; a map: 80].
    #[arg(long, help = said("width"), value_name = "N")]
    pub width: Option<u32>,
    /// Pixels down, or rows of each lane [default: as lanes need; a map: 24].
    #[arg(long, help = said("height"), value_name = "N")]
    pub height: Option<u32>,
    /// Draw this core only.
    #[arg(long, help = said("core"), value_name = "N")]
    pub core: Option<u32>,
    /// Draw this space only.
    #[arg(long, help = said("space"), value_name = "SPACE", value_parser = named(Space::ALL, Space::name, Space::from_name))]
    pub space: Option<Space>,
}

/// How much is said on stderr.
#[derive(clap::Args)]
pub struct Talk {
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also say how long each stage took and what each space came to.
    #[arg(short, long)]
    pub verbose: bool,
}

/// The options of a plan; the names are those of the library and of a plan's `options` object.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub struct OptionArgs {
    #[arg(long, help = said("strategy"), value_name = "NAME", value_parser = named(Strategy::ALL, Strategy::name, Strategy::from_name))]
    strategy: Option<Strategy>,
    #[arg(long, help = said("capacity"), value_name = "BYTES")]
    capacity: Option<u64>,
    #[arg(long, help = said("preset"), value_name = "NAME", value_parser = named(Preset::ALL, Preset::name, Preset::from_name))]
    preset: Option<Preset>,
    #[arg(long, help = said("budget_ms"), value_name = "MS")]
    budget_ms: Option<u64>,
    #[arg(long, help = said("budget_steps"), value_name = "N")]
    budget_steps: Option<u64>,
    #[arg(long, help = said("floor"), value_name = "NAME", value_parser = named(Floor::ALL, Floor::name, Floor::from_name))]
    floor: Option<Floor>,
    #[arg(long, help = said("align"), value_name = "N")]
    align: Option<u64>,
    #[arg(long, help = said("packed"), action = ArgAction::SetTrue)]
    packed: bool,
    #[arg(long, help = said("reuse_io"), action = ArgAction::SetTrue)]
    reuse_io: bool,
    #[arg(long, help = said("strict"), action = ArgAction::SetTrue)]
    strict: bool,
    #[arg(long, help = said("cc_limit"), value_name = "MIB", allow_hyphen_values = true)]
    cc_limit: Option<i64>,
    #[arg(long, help = said("trim_cc"), action = ArgAction::SetTrue)]
    trim_cc: bool,
    #[arg(long, help = said("runtime_page"), value_name = "MIB")]
    runtime_page: Option<u64>,
    #[arg(long, help = said("geometry"), value_name = "NAME", value_parser = named(Geometry::ALL, Geometry::name, Geometry::from_name))]
    geometry: Option<Geometry>,
    #[arg(long, help = said("shared_mib_per_core"), value_name = "MIB")]
    shared_mib_per_core: Option<u64>,
    #[arg(long, help = said("separate_functions"), action = ArgAction::SetTrue)]
    separate_functions: bool,
    #[arg(long, help = said("keep"), value_name = "BYTES")]
    keep: Option<u64>,
}

impl OptionArgs {
    /// The options, where `floor` stands if none was typed.
    pub fn options(&self, floor: Floor) -> Options {
        let default = Options::default();
        Options {
            strategy: self.strategy.unwrap_or(default.strategy),
            capacity: self.capacity,
            preset: self.preset.unwrap_or(default.preset),
            budget_ms: self.budget_ms,
            budget_steps: self.budget_steps,
            floor: self.floor.unwrap_or(floor),
            align: self.align,
            packed: self.packed,
            reuse_io: self.reuse_io,
            strict: self.strict,
            cc_limit: self.cc_limit.unwrap_or(default.cc_limit),
            trim_cc: self.trim_cc,
            runtime_page: self.runtime_page.unwrap_or(default.runtime_page),
            geometry: self.geometry.unwrap_or(default.geometry),
            separate_functions: self.separate_functions,
            keep: self.keep.unwrap_or(default.keep),
            shared_mib_per_core: self
                .shared_mib_per_core
                .unwrap_or(default.shared_mib_per_core),
            ..default
        }
    }

    /// Whether anything was typed.
    pub fn any(&self) -> bool {
        *self != OptionArgs::default()
    }
}

/// What an option means and what holds without it, in plain text: terminals know no Markdown.
fn said(name: &str) -> String {
    let option = described(name);
    format!("{} [default: {}]", option.meaning, option.default).replace('`', "")
}

/// A parser for one of a closed set; its refusal lists the others.
fn named<T: Clone + Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    from_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value)))
        .map(move |typed| from_name(&typed).expect("only names of the set get here"))
}

fn words(all: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use dramalloc::described::{DESCRIBED, Described};

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn nothing_typed_is_the_default() {
        let typed = OptionArgs::default();
        assert!(!typed.any());
        assert_eq!(typed.options(Floor::Hwm), Options::default());
        assert_eq!(typed.options(Floor::Holes).floor, Floor::Holes);
    }

    #[test]
    fn every_option_reaches_the_library() {
        let line = "dramalloc plan x --strategy best --capacity 7 --preset trn2 --budget-ms 8 \
                    --budget-steps 9 --floor hwm --align 16 --packed --reuse-io --strict \
                    --cc-limit -1 --trim-cc --runtime-page 512 --geometry unified \
                    --shared-mib-per-core 64 --separate-functions --keep 10";
        let args = Args::try_parse_from(line.split_whitespace()).map_err(|e| e.to_string());
        let Command::Plan(plan) = args.unwrap().command else {
            panic!("not a plan")
        };
        let want = Options {
            strategy: Strategy::Best,
            capacity: Some(7),
            preset: Preset::Trn2,
            budget_ms: Some(8),
            budget_steps: Some(9),
            floor: Floor::Hwm,
            align: Some(16),
            packed: true,
            reuse_io: true,
            strict: true,
            cc_limit: -1,
            trim_cc: true,
            runtime_page: 512,
            geometry: Geometry::Unified,
            shared_mib_per_core: 64,
            separate_functions: true,
            keep: 10,
            usage_mask: Options::default().usage_mask, // A host's choice, not a flag.
            regions: Vec::new(),                       // Likewise.
        };
        assert!(plan.options.any());
        assert_eq!(plan.options.options(Floor::Holes), want);
    }

    /// The flags of a subcommand, but for those that say where to and how much.
    fn flags(command: &clap::Command) -> Vec<String> {
        let flags = command
            .get_arguments()
            .filter_map(|arg| arg.get_long().map(|long| format!("--{long}")))
            .filter(|flag| {
                !["--output", "--quiet", "--verbose", "--help", "--version"]
                    .contains(&flag.as_str())
            });
        let mut flags: Vec<String> = flags.collect();
        flags.sort();
        flags
    }

    #[test]
    fn the_flags_of_every_subcommand_are_those_of_the_list() {
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            let of = |option: &&Described| {
                option.commands.contains(&name)
                    || name == "verify" && option.is_key && option.commands == ["plan"]
            };
            let mut listed: Vec<String> =
                DESCRIBED.iter().filter(of).map(Described::flag).collect();
            listed.sort();
            assert_eq!(listed, flags(command), "{name}");
        }
    }

    #[test]
    fn the_readme_lists_every_option_and_no_other() {
        let command = Args::command();
        let plan = command.find_subcommand("plan").expect("there is a plan");
        let mut listed: Vec<String> = include_str!("../../README.md")
            .lines()
            .filter_map(|line| line.strip_prefix("| `--")?.split_once('`'))
            .map(|(name, _)| format!("--{name}"))
            .collect();
        listed.sort();
        assert_eq!(listed, flags(plan));
    }
}
