//! Time and quality of planning, beside baselines of our own, in one run.
//!
//! `cargo bench --bench planning` takes about a minute; `-- --help` says what else there is. See
//! README.md beside this file.

#![allow(
    clippy::print_stdout,
    reason = "a table on stdout is what a benchmark is for"
)]

mod baselines;
mod check;
mod clock;
mod corpus;
mod measure;
mod perturbed;
mod programs;
mod table;
mod workloads;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use measure::Effort;
use serde_json::Value;
use table::Instance;
use workloads::{Buffer, WORKLOADS, instance_name};

const HELP: &str = "\
cargo bench --bench planning -- [SIZE...] [WORKLOAD...] [FILE.csv[.gz]...] [OPTION...]

  SIZE          numbers of buffers, as 1000 or 1e3; without any 1e3, 1e4 and 1e5
  WORKLOAD      short, mix, layers, decode, tight; without any all of them
  FILE.csv      the buffers of a file, if they have one life each and neither pin nor alignment;
                workloads then only by name
  --full        sizes to 1e6, and baselines that take minutes
  --steps N     the budget of each strategy, in steps (2^17, and 8 per buffer)
  --corpus DIR  also measure the .csv and .program.json files below DIR, .gz or not;
                the variable DRAM_CORPUS says the same
  --json FILE   also write every measurement as a line of JSON
  --perturbed   instead: how often `best` reaches the bound on workloads changed at random
  --write DIR   measure nothing: write the workloads as CSV files
";

#[derive(Default)]
struct Args {
    sizes: Vec<usize>,
    names: Vec<String>,
    files: Vec<PathBuf>,
    full: bool,
    perturbed: bool,
    steps: Option<u64>,
    corpus: Option<PathBuf>,
    json: Option<PathBuf>,
    write: Option<PathBuf>,
}

impl Args {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Args>, String> {
        let mut args = Args {
            corpus: std::env::var_os("DRAM_CORPUS").map(PathBuf::from),
            ..Args::default()
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--bench" => {} // Cargo says so.
                "--help" => return Ok(None),
                "--full" => args.full = true,
                "--perturbed" => args.perturbed = true,
                "--steps" => {
                    let steps = value()?.parse();
                    args.steps = Some(steps.map_err(|e| format!("--steps: {e}"))?);
                }
                "--corpus" => args.corpus = Some(value()?.into()),
                "--json" => args.json = Some(value()?.into()),
                "--write" => args.write = Some(value()?.into()),
                _ if WORKLOADS.iter().any(|w| w.name == word) => args.names.push(word),
                _ if word.ends_with(".csv") || word.ends_with(".csv.gz") => {
                    args.files.push(word.into());
                }
                _ => match size(&word) {
                    Some(n) => args.sizes.push(n),
                    None => return Err(format!("{word} is no size, workload or option")),
                },
            }
        }
        if args.sizes.is_empty() {
            args.sizes = vec![1_000, 10_000, 100_000];
            args.sizes.extend(args.full.then_some(1_000_000));
        }
        Ok(Some(args))
    }

    fn wants(&self, name: &str) -> bool {
        let all = self.names.is_empty() && self.files.is_empty();
        all || self.names.iter().any(|n| n == name)
    }

    /// Gives every file and every workload at every size, with its name.
    fn each(&self, mut give: impl FnMut(String, &[Buffer])) {
        for path in &self.files {
            match workloads::csv::read(path) {
                Ok(buffers) => give(path.display().to_string(), &buffers),
                Err(reason) => println!("\n{}: left out: {reason}", path.display()),
            }
        }
        self.each_workload(give);
    }

    fn each_workload(&self, mut give: impl FnMut(String, &[Buffer])) {
        for workload in WORKLOADS.iter().filter(|w| self.wants(w.name)) {
            for &n in &self.sizes {
                give(instance_name(workload.name, n), &(workload.make)(n));
            }
        }
    }
}

/// `1000` or `1e3`; a buffer at least.
fn size(word: &str) -> Option<usize> {
    let n = match word.split_once('e') {
        Some((digits, zeros)) => {
            let power = 10_usize.checked_pow(zeros.parse().ok()?)?;
            power.checked_mul(digits.parse().ok()?)?
        }
        None => word.parse().ok()?,
    };
    (n > 0).then_some(n)
}

fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(Some(args)) => args,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(reason) => {
            eprint!("error: {reason}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let done = match &args.write {
        Some(folder) => write(folder, &args),
        None if args.perturbed => {
            perturbed::head();
            args.each(|name, buffers| perturbed::count(&name, buffers));
            Ok(())
        }
        None => run(&args),
    };
    if let Err(e) = done {
        eprintln!("error: {e}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn run(args: &Args) -> std::io::Result<()> {
    let effort = Effort {
        pairs: if args.full {
            6_000_000_000
        } else {
            150_000_000
        },
        steps: args.steps,
    };
    let mut file = args
        .json
        .as_ref()
        .map(File::create)
        .transpose()?
        .map(BufWriter::new);
    let mut record = |line: &Value| {
        if let Some(file) = &mut file {
            writeln!(file, "{line}").expect("the file takes what is written");
        }
    };
    args.each(|name, buffers| {
        let instance = Instance {
            name,
            buffers: buffers.len(),
            load: workloads::load(buffers),
        };
        let (rows, notes) = measure::measure(&instance, buffers, &effort);
        table::print(&instance, &rows, &notes);
        for row in &rows {
            record(&table::json(&instance, row));
        }
    });
    match &args.corpus {
        Some(folder) => corpus::corpus(folder, &effort, &mut record),
        None => {
            println!(
                "\ncorpus: none; --corpus DIR or DRAM_CORPUS=DIR measures the files below DIR"
            );
            Ok(())
        }
    }
}

fn write(folder: &PathBuf, args: &Args) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut done = Ok(());
    args.each_workload(|name, buffers| {
        let path = folder.join(name + ".csv");
        if done.is_ok() {
            done = fs::write(&path, workloads::csv::write(buffers));
            println!("{}", path.display());
        }
    });
    done
}
