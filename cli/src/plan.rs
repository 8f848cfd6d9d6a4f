//! `dramalloc plan`: a program or a raw problem in, addresses out.
//!
//! What is written has been verified: a plan that the verifier objects to is a mistake of ours, and
//! nobody gets to run it.

use std::time::{Duration, Instant};

use dramalloc::format::{self, CsvFile};
use dramalloc::verify::{Violation, verify, verify_raw_plan};
use dramalloc::{Control, Floor, Options, Plan, Progress, RawPlan, RawProblem, Status};

use crate::args::{PlanArgs, Talk};
use crate::deps;
use crate::failure::{Failure, MOST_LINES, say_notes, tell};
use crate::input::{self, Input, is_standard};
use crate::output;
use crate::progress::Bar;

/// Runs the subcommand.
pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let mut clock = Stages::new(&args.talk);
    output::check(args.output.as_deref())?;
    let input = input::read(&args.file)?;
    if input.is_json() {
        plan_program(&input, args, &mut clock)?;
    } else if args.deps {
        return Err(Failure::file(
            &input.name,
            "rows have no order to add, --deps needs a program",
        ));
    } else if args.hint.is_some() {
        return Err(Failure::file(
            &input.name,
            "rows have a column for hints, --hint needs a program",
        ));
    } else {
        plan_raw(input, args, &mut clock)?;
    }
    clock.stage("write");
    Ok(())
}

fn plan_program(input: &Input, args: &PlanArgs, clock: &mut Stages) -> Result<(), Failure> {
    let failed = |e: dramalloc::Error| Failure::library(&input.name, &e);
    let program = format::read_program(&input.bytes).map_err(failed)?;
    clock.stage("read");
    let options = args.options.options(Floor::Hwm);
    let hint = hint(args)?;
    let mut plan = supervised(&options, &args.talk, hint.as_ref(), |control| {
        dramalloc::plan(&program, &options, control)
    })
    .map_err(failed)?;
    clock.stage("plan");
    proven(&input.name, &verify(&program, &plan))?;
    clock.stage("verify");
    if args.deps {
        dramalloc::depend::order(&program, &mut plan).map_err(failed)?;
        clock.stage("deps");
    }
    if !args.talk.quiet {
        summarise(&plan, args.talk.verbose);
    }
    let mut bytes = Vec::new();
    format::write_plan(&plan, &mut bytes).expect("memory takes every write");
    output::write(args.output.as_deref(), &bytes)
}

/// The plan to start from.
fn hint(args: &PlanArgs) -> Result<Option<Plan>, Failure> {
    let Some(path) = &args.hint else {
        return Ok(None);
    };
    if is_standard(path) && is_standard(&args.file) {
        let line = "only one of the two files can be stdin";
        return Err(Failure::Bad(line.to_owned()));
    }
    let input = input::read(path)?;
    let plan = format::read_plan(&input.bytes);
    plan.map(Some)
        .map_err(|e| Failure::library(&input.name, &e))
}

/// One sentence on what came of it, then what a person should know.
fn summarise(plan: &Plan, verbose: bool) {
    // The figures of a plan are those of its highest space; so is the floor that goes with them.
    let floor = plan
        .spaces
        .iter()
        .find(|s| s.peak == plan.peak)
        .map_or(0, |s| s.floor);
    tell(
        "plan",
        &verdict(plan.peak, plan.lower_bound, floor, plan.status),
    );
    if let Some(pages) = plan.metrics.get("runtime_pages") {
        let private = plan.metrics.get("runtime_private_bytes").unwrap_or(&0);
        let line = format!("{pages} runtime pages and {private} private bytes");
        tell("plan", &line);
    }
    if verbose {
        for s in &plan.spaces {
            let whose = s
                .core
                .map_or_else(String::new, |core| format!(" of core {core}"));
            let capacity = s
                .capacity
                .map_or_else(String::new, |c| format!(", capacity {c}"));
            let line = format!(
                "{}{whose}: floor {}, peak {}, lower bound {}{capacity}",
                s.space, s.floor, s.peak, s.lower_bound
            );
            tell("space", &line);
        }
    }
    if let Some(kept) = plan.kept() {
        tell("hint", &kept.to_string());
    }
    deps::say(plan);
    say_notes(&plan.notes);
    if plan.needs_dependences {
        let line = "bytes are re-used across engines; add --deps for the order that they need";
        tell("note", line);
    }
}

fn verdict(peak: u64, bound: u64, floor: u64, status: Status) -> String {
    let quality = match (peak.saturating_sub(floor), bound.saturating_sub(floor)) {
        (0, _) => "nothing to place".to_owned(),
        _ if peak == bound => "equal to the lower bound".to_owned(),
        (_, 0) => format!("lower bound {bound}"),
        (over, least) => {
            let waste = (over as f64 / least as f64 - 1.0) * 100.0;
            format!("{waste:.3} % above the lower bound {bound}")
        }
    };
    format!("peak {peak} bytes, {quality} ({status})")
}

fn plan_raw(input: Input, args: &PlanArgs, clock: &mut Stages) -> Result<(), Failure> {
    let Input { name, bytes } = input;
    let failed = |e: dramalloc::Error| Failure::library(&name, &e);
    let file = CsvFile::read(bytes).map_err(failed)?;
    clock.stage("read");
    let options = args.options.options(Floor::Holes); // F: a CSV's pins are obstacles.
    let problem = file.problem();
    let plan = supervised(&options, &args.talk, None, |control| {
        dramalloc::solve_raw(problem, &options, control)
    })
    .map_err(failed)?;
    clock.stage("plan");
    proven(&name, &verify_raw_plan(problem, &options, &plan))?;
    clock.stage("verify");
    if !args.talk.quiet {
        tell("plan", &verdict(plan.peak, plan.bound, 0, plan.status));
        if !problem.hints.is_empty() {
            tell("hint", &plan.kept.to_string());
        }
        if options.runtime_page > 0 {
            say_straddlers(problem, &plan);
        }
        say_notes(file.notes());
    }
    output::write_with(args.output.as_deref(), |out| file.write(&plan.offsets, out))
}

/// What a plan of rows costs a runtime with pages.
fn say_straddlers(problem: &RawProblem, plan: &RawPlan) {
    let (pages, private) = (plan.runtime_pages, plan.private_bytes);
    let line = format!("{pages} runtime pages and {private} private bytes");
    tell("plan", &line);
    for &row in plan.straddlers.iter().take(MOST_LINES) {
        let label = problem.label(row as usize);
        tell("note", &format!("{label} straddles a runtime page"));
    }
    let more = plan.straddlers.len().saturating_sub(MOST_LINES);
    if more > 0 {
        tell("note", &format!("{more} more straddle a runtime page"));
    }
}

/// Runs the library with a clock, a deadline and a bar.
fn supervised<T>(
    options: &Options,
    talk: &Talk,
    hint: Option<&Plan>,
    run: impl FnOnce(&mut Control<'_>) -> dramalloc::Result<T>,
) -> dramalloc::Result<T> {
    let start = Instant::now();
    let elapsed = || start.elapsed();
    let bar = Bar::new(talk.quiet);
    let mut show = |progress: &Progress| bar.show(progress);
    let mut control = Control {
        progress: Some(&mut show),
        elapsed: Some(&elapsed),
        deadline: options.budget_ms.map(Duration::from_millis),
        hint,
        ..Control::default()
    };
    let result = run(&mut control);
    bar.finish();
    result
}

/// Nothing, or the refusal to hand out a wrong plan.
fn proven(name: &str, violations: &[Violation]) -> Result<(), Failure> {
    for violation in violations.iter().take(MOST_LINES) {
        tell("violation", &violation.to_string());
    }
    match violations.len() {
        0 => Ok(()),
        n => Err(Failure::NotPlaced(format!(
            "{name}: the plan has {n} violations and was not written; \
             this is a mistake in dramalloc, please report it with the input file"
        ))),
    }
}

/// Says how long each stage took, if asked.
struct Stages {
    since: Instant,
    verbose: bool,
}

impl Stages {
    fn new(talk: &Talk) -> Stages {
        Stages {
            since: Instant::now(),
            verbose: talk.verbose,
        }
    }

    fn stage(&mut self, name: &str) {
        if self.verbose {
            let ms = self.since.elapsed().as_secs_f64() * 1e3;
            tell("time", &format!("{name} {ms:.1} ms"));
        }
        self.since = Instant::now();
    }
}
