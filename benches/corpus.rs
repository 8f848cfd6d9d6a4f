//! Files of others: a line each, and what they say together.
//!
//! CSV files of buffers and program files, gzip or not, anywhere below a folder. Rows with gaps,
//! pins or alignments of their own are for dramalloc alone: the baselines know none of these.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dramalloc::format::{CsvFile, read_program};
use dramalloc::{Control, Floor, Options, Progress, RawProblem, Strategy, plan, solve_raw};
use serde_json::{Value, json};

use crate::baselines;
use crate::check;
use crate::measure::{Effort, best_of};
use crate::workloads::{self, Buffer};

/// A method on a file.
struct Cell {
    method: &'static str,
    peak: u64,
    time: Duration,
    steps: Option<u64>,
}

/// Methods in the order of columns.
const METHODS: [&str; 5] = ["reference", "fast", "best", "best fit", "of six"];

/// Measures every file below `root`; `record` receives lines of JSON.
pub fn corpus(root: &Path, effort: &Effort, record: &mut dyn FnMut(&Value)) -> io::Result<()> {
    let mut files = Vec::new();
    find(root, &mut files)?;
    files.sort();
    println!(
        "\ncorpus: {} files; waste in % of the bound, then milliseconds",
        files.len()
    );
    let heads = METHODS.map(|m| format!("{m:>11}")).concat();
    println!(
        "  {:<58} {:>8} {:>12}{heads}  |{heads}",
        "", "buffers", "bound MiB"
    );
    let mut totals = Totals::default();
    for path in &files {
        let name = path
            .strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string();
        let (buffers, bound, cells) = match measure(path, effort) {
            Ok(measured) => measured,
            Err(reason) => {
                println!("  {name:<58} left out: {reason}");
                continue;
            }
        };
        let column = |show: &dyn Fn(&Cell) -> String| {
            let cell = |m: &&str| {
                cells
                    .iter()
                    .find(|c| c.method == *m)
                    .map_or("-".into(), show)
            };
            METHODS.map(|m| format!("{:>11}", cell(&m))).concat()
        };
        println!(
            "  {name:<58} {buffers:>8} {:>12.3}{}  |{}",
            bound as f64 / 1_048_576.0,
            column(&|c| format!("{:.3}", waste(c.peak, bound))),
            column(&|c| format!("{:.2}", c.time.as_secs_f64() * 1e3)),
        );
        for cell in &cells {
            record(&json!({
                "instance": name, "buffers": buffers, "bound": bound, "method": cell.method,
                "seconds": cell.time.as_secs_f64(), "peak": cell.peak, "steps": cell.steps,
            }));
        }
        totals.add(&cells, bound);
    }
    totals.print();
    Ok(())
}

fn waste(peak: u64, bound: u64) -> f64 {
    (peak as f64 / bound.max(1) as f64 - 1.0) * 100.0
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        if path.is_dir() {
            find(&path, files)?;
        } else if plain.ends_with(".csv") || plain.ends_with(".program.json") {
            files.push(path);
        }
    }
    Ok(())
}

/// How many buffers, the bound, and what each method does.
fn measure(path: &Path, effort: &Effort) -> Result<(usize, u64, Vec<Cell>), String> {
    let bytes = workloads::csv::bytes(path).map_err(|e| e.to_string())?;
    if path.to_string_lossy().contains(".csv") {
        let file = CsvFile::read(bytes).map_err(|e| e.to_string())?;
        rows(file.problem(), effort)
    } else {
        let program = read_program(&bytes).map_err(|e| e.to_string())?;
        let functions = program.modules().iter().flat_map(|m| m.functions());
        let buffers = functions.map(|f| f.memlocs().len()).sum();
        let (bound, cells) = strategies(effort.steps(buffers), |options, control| {
            let plan = plan(&program, options, control)?;
            let floor = plan
                .spaces
                .iter()
                .find(|s| s.peak == plan.peak)
                .map_or(0, |s| s.floor);
            Ok((plan.peak - floor, plan.lower_bound - floor))
        })?;
        Ok((buffers, bound, cells))
    }
}

fn rows(problem: &RawProblem, effort: &Effort) -> Result<(usize, u64, Vec<Cell>), String> {
    let (bound, mut cells) = strategies(effort.steps(problem.len()), |options, control| {
        let options = Options {
            floor: Floor::Holes,
            ..options.clone()
        };
        let solved = solve_raw(problem, &options, control)?;
        Ok((solved.peak, solved.bound))
    })?;
    if let Ok(buffers) = workloads::csv::plain(problem) {
        let pairs = workloads::load(&buffers).pairs;
        for (method, cost, plan) in [
            (
                "best fit",
                pairs,
                baselines::by_size_best_fit as fn(&[Buffer]) -> Vec<u64>,
            ),
            ("of six", 6 * pairs, baselines::best_of_six),
        ] {
            if cost <= effort.pairs {
                let (time, offsets) = best_of(|| plan(&buffers));
                let peak = check::peak(&buffers, &offsets).map_err(|e| format!("{method}: {e}"))?;
                cells.push(Cell {
                    method,
                    peak,
                    time,
                    steps: None,
                });
            }
        }
    }
    Ok((problem.len(), bound, cells))
}

/// Runs each strategy; the budget is that of `best`, the others end by themselves.
fn strategies(
    budget: u64,
    run: impl Fn(&Options, &mut Control<'_>) -> dramalloc::Result<(u64, u64)>,
) -> Result<(u64, Vec<Cell>), String> {
    let (mut bound, mut cells) = (0, Vec::new());
    for (method, strategy) in
        METHODS
            .into_iter()
            .zip([Strategy::Reference, Strategy::Fast, Strategy::Best])
    {
        let options = Options {
            strategy,
            budget_steps: (strategy == Strategy::Best).then_some(budget),
            ..Options::default()
        };
        let mut steps = 0;
        let (time, result) = best_of(|| {
            let mut progress = |p: &Progress| steps = p.done;
            let mut control = Control {
                progress: Some(&mut progress),
                ..Control::default()
            };
            run(&options, &mut control)
        });
        let (peak, low) = result.map_err(|e| e.to_string())?;
        bound = bound.max(low); // A search may prove a better one.
        cells.push(Cell {
            method,
            peak,
            time,
            steps: Some(steps),
        });
    }
    Ok((bound, cells))
}

/// What all files say of a method.
#[derive(Default)]
struct Totals {
    /// By method: files, files at the bound, sum of logarithms of peak/bound, seconds.
    sums: [(u32, u32, f64, f64); METHODS.len()],
}

impl Totals {
    fn add(&mut self, cells: &[Cell], bound: u64) {
        for cell in cells {
            let at = METHODS.iter().position(|m| *m == cell.method);
            let sum = &mut self.sums[at.expect("a method has a column")];
            sum.0 += 1;
            sum.1 += u32::from(cell.peak == bound);
            sum.2 += (cell.peak.max(1) as f64 / bound.max(1) as f64).ln();
            sum.3 += cell.time.as_secs_f64();
        }
    }

    fn print(&self) {
        for (method, (files, at_bound, logs, seconds)) in METHODS.iter().zip(self.sums) {
            let mean = ((logs / f64::from(files.max(1))).exp() - 1.0) * 100.0;
            println!(
                "  {method}: {files} files, {at_bound} at the bound, mean waste {mean:.3} % (geometric), {seconds:.2} s in all",
            );
        }
    }
}
