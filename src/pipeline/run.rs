//! A run of the pipeline: what each pass does, and the one step that stores it. // X5, X6
//!
//! A run looks at the program and changes nothing; what it decides is a value. Storing that value
//! cannot fail, so a host that keeps its program behind a lock holds the lock for the storing only.

use std::borrow::Cow;
use std::time::Duration;

use super::copies::elidable;
use super::{Pass, PipelineOptions};
use crate::control::{Control, Progress};
use crate::depend::{self, Edge, Layout};
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Function, Program};
use crate::options::Options;
use crate::pace::{Pace, SOME};
use crate::plan::{Dependence, Plan};
use crate::planner::{Planning, Rotation};
use crate::report::{self, HbmUsage, Pressure, Verdict};
use crate::shared::{Predicate, lnc_split_unless};
use crate::verify::{Violation, verify_deep_with, verify_with};

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassReport {
    /// Which pass.
    pub pass: Pass,
    /// How long it took by the host's clock, verification excluded; zero without a clock.
    pub took: Duration,
    /// The plan so far was verified after it, and nothing was wrong. Before the first allocator
    /// there is nothing to verify.
    pub verified: bool,
    /// What a person should know: candidates that nothing has placed, conflicts between cores, a
    /// budget that is exceeded while its check is off.
    pub notes: Vec<String>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    /// By pass, in the order in which they ran.
    pub passes: Vec<PassReport>,
    /// Where everything lies, with the dependences of all functions.
    pub plan: Plan,
    /// Who holds memory at the worst moment of each core; `None` if the pass did not run.
    pub pressure: Option<Pressure>,
    /// What each core needs; empty if the pass did not run.
    pub usage: Vec<HbmUsage>,
    /// How many copies were marked as moving bytes onto themselves.
    pub copies_elided: u64,
    /// What the rotation did, if it ran: re-use edges before and after, bytes spent.
    pub rotation: Option<Rotation>,
}

impl PipelineReport {
    /// The notes of all passes, in the order in which they ran.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let notes = self.passes.iter().flat_map(|pass| &pass.notes);
        notes.map(String::as_str)
    }
}

/// What a run has decided and not stored yet.
#[derive(Debug)]
pub struct Outcome {
    /// What the passes did.
    pub report: PipelineReport,
    /// The program that the first pass made of it. // M9
    split: Option<Program>,
    /// By module and function.
    elided: Vec<Vec<Vec<FlatIndex>>>,
}

impl Outcome {
    /// Writes addresses and elided copies into the program that was looked at; what earlier runs
    /// placed is forgotten. Cannot fail.
    ///
    /// # Panics
    ///
    /// If it is not the program that was looked at.
    pub fn store(self, program: &mut Program) -> PipelineReport {
        if let Some(split) = self.split {
            *program = split;
        }
        for m in 0..program.modules().len() {
            for f in 0..program.modules()[m].functions().len() {
                program.module_mut(m).function_mut(f).clear_placement();
            }
        }
        crate::planner::apply(&self.report.plan, program);
        mark(program, &self.elided);
        self.report
    }
}

/// Runs passes over a program; stores nothing.
///
/// Whatever a pass does, it looks at the host's flag. The deadline ends what places and what comes
/// before it: a run that has a placement is worth its dependences and its proof. // C4, S2
pub(super) fn run(
    passes: &[Pass],
    choices: &PipelineOptions,
    program: &Program,
    options: &Options,
    control: &mut Control<'_>,
) -> Result<Outcome> {
    let mut split = None;
    if passes.contains(&Pass::LncSplitter) {
        let clones = lnc_split_unless(program, choices.cores, &mut Pace::at_once(control));
        split = Some(clones.map_err(|e| e.in_pass(Pass::LncSplitter))?);
    }
    let source = split.as_ref().unwrap_or(program);
    let mut run = Run {
        source,
        choices,
        planning: Planning::new(source.modules(), options, control)?,
        edges: Edges::none(source),
        elided: Vec::new(),
        report: PipelineReport::default(),
        notes: Vec::new(),
    };
    for (done, &pass) in passes.iter().enumerate() {
        control.report(Progress {
            phase: pass.name(),
            done: done as u64,
            total: passes.len() as u64,
            bound: 0,
            incumbent: u64::MAX,
            elapsed: Duration::ZERO,
        });
        let clock = |control: &Control<'_>| control.elapsed.map_or(Duration::ZERO, |now| now());
        let start = clock(control);
        run.pass(pass, control).map_err(|e| e.in_pass(pass))?;
        let took = clock(control).saturating_sub(start);
        let placed = passes[..=done].iter().any(|pass| pass.places());
        let verified = (choices.verify_each && placed) || pass == Pass::LncVerifier;
        if verified && pass != Pass::LncVerifier {
            let found = run.violations(control);
            let proven = found.and_then(|(_, wrong)| refuse(&wrong));
            proven.map_err(|e| e.in_pass(pass))?;
        }
        let notes = std::mem::take(&mut run.notes);
        run.report.passes.push(PassReport {
            pass,
            took,
            verified,
            notes,
        });
    }
    let last = passes.last().copied();
    let in_last = |e: Error| match last {
        Some(pass) => e.in_pass(pass),
        None => e,
    };
    run.end(control).map_err(in_last)?;
    let Run { report, elided, .. } = run;
    Ok(Outcome {
        report,
        split,
        elided,
    })
}

/// Runs the program on its plan, the elided copies left out; answers what could not be run. What
/// has no address has been said by the verifier of the cores. // V2, V3
fn run_deep(
    source: &Program,
    elided: &[Vec<Vec<FlatIndex>>],
    plan: &Plan,
    control: &Control<'_>,
) -> Result<Vec<String>> {
    let mut program = Cow::Borrowed(source);
    if elided.iter().flatten().any(|copies| !copies.is_empty()) {
        mark(program.to_mut(), elided);
    }
    let deep = verify_deep_with(&program, plan, control)?;
    let mut wrong = deep.violations;
    wrong.retain(|v| v.kind != "no_address");
    refuse(&wrong)?;
    Ok(deep.notes)
}

/// Marks copies in a program, by module and function. // X3
fn mark(program: &mut Program, elided: &[Vec<Vec<FlatIndex>>]) {
    for (m, functions) in elided.iter().enumerate() {
        for (f, copies) in functions.iter().enumerate() {
            let function = program.module_mut(m).function_mut(f);
            function.set_elided(copies.iter().copied());
        }
    }
}

/// The edges of every function, by module and function.
struct Edges(Vec<Vec<Vec<Edge>>>);

impl Edges {
    fn none(program: &Program) -> Edges {
        let functions = program.modules().iter().map(|m| m.functions().len());
        Edges(functions.map(|count| vec![Vec::new(); count]).collect())
    }

    /// The edges that `find` sees in each function.
    fn of(
        program: &Program,
        mut find: impl FnMut(usize, usize, &Function) -> Result<Vec<Edge>>,
    ) -> Result<Edges> {
        let mut all = Vec::new();
        for (m, module) in program.modules().iter().enumerate() {
            let functions = module.functions().iter().enumerate();
            let edges = functions.map(|(f, function)| find(m, f, function));
            all.push(
                edges
                    .collect::<Result<_>>()
                    .map_err(|e| e.on_core(module.core()))?,
            );
        }
        Ok(Edges(all))
    }

    fn named(&self, program: &Program, pace: &mut Pace<'_, '_>) -> Result<Vec<Dependence>> {
        let mut all = Vec::new();
        for (module, functions) in program.modules().iter().zip(&self.0) {
            for (function, edges) in module.functions().iter().zip(functions) {
                for some in edges.chunks(SOME) {
                    pace.work(some.len())?;
                    all.extend(depend::named(some, module.core(), function));
                }
            }
        }
        Ok(all)
    }
}

struct Run<'a> {
    source: &'a Program,
    choices: &'a PipelineOptions,
    planning: Planning<'a>,
    edges: Edges,
    elided: Vec<Vec<Vec<FlatIndex>>>,
    report: PipelineReport,
    /// Those of the pass that runs.
    notes: Vec<String>,
}

impl Run<'_> {
    fn pass(&mut self, pass: Pass, control: &mut Control<'_>) -> Result<()> {
        let modules = 0..self.source.modules().len();
        let pace = &mut Pace::until_cancelled(control);
        // Who has cancelled before a pass need not wait for it.
        pace.over(1);
        pace.end()?;
        match pass {
            Pass::LncSplitter => {} // The run began with it: all that follows sees the clones.
            Pass::ColoringAllocatorDram | Pass::ColoringAllocatorDramPostLnk => {
                for m in modules {
                    self.planning.place_local(m, control)?;
                }
            }
            Pass::AddressRotationDram => {
                let window = self.choices.dram_rotation_size;
                self.report.rotation = Some(self.planning.rotate(window, pace)?);
            }
            Pass::DynamicDmaCleanup => {
                let plan = self.planning.assemble_unless(pace)?;
                for (module, planned) in self.source.modules().iter().zip(&plan.modules) {
                    let mut copies = Vec::with_capacity(planned.functions.len());
                    for (function, planned) in module.functions().iter().zip(&planned.functions) {
                        copies.push(elidable(function, planned, pace));
                    }
                    self.elided.push(copies);
                }
                pace.end()?;
            }
            Pass::BuildFdeps => self.flow(pace)?,
            Pass::AntiDependencyAnalyzerPostDram => self.order(pace)?,
            Pass::ColoringAllocatorDramShared | Pass::ColoringAllocatorDramSharedPostLnk => {
                self.planning.place_shared(control)?;
            }
            Pass::MemoryAnalysis => {
                let plan = self.planning.assemble_unless(pace)?;
                let extra = self.choices.extra_bytes;
                let pressure = report::pressure_unless(self.source, &plan, extra, pace);
                pace.end()?;
                self.report.pressure = Some(pressure);
            }
            Pass::SyncSharedAllocations => self.planning.sync()?,
            Pass::AntiDependencyAnalyzerPostSharedDram => {
                self.order(pace)?;
                self.races(control.shared, pace)?;
            }
            Pass::LncVerifier => self.verify_cores(control)?,
            Pass::HbmUsage => self.hbm_usage(pace)?,
            Pass::ColoringAllocatorDramDebug => {
                for m in modules {
                    self.planning.place_debug(m, control)?;
                }
            }
        }
        Ok(())
    }

    /// What follows the last pass: the plan is written down, and run if the host asked for that.
    fn end(&mut self, control: &Control<'_>) -> Result<()> {
        let pace = &mut Pace::until_cancelled(control);
        self.report.plan = self.planning.assemble_unless(pace)?;
        let plan = &mut self.report.plan;
        plan.dependences = Some(self.edges.named(self.source, pace)?);
        plan.needs_dependences = false;
        if let (true, Some(last)) = (self.choices.verify_deep, self.report.passes.last_mut()) {
            let notes = run_deep(self.source, &self.elided, plan, control)?;
            last.notes.extend(notes);
        }
        let elided = self.elided.iter().flatten();
        self.report.copies_elided = elided.map(|copies| copies.len() as u64).sum();
        Ok(())
    }

    /// Edges along values; through elided copies by address.
    fn flow(&mut self, pace: &mut Pace<'_, '_>) -> Result<()> {
        let plan = self.planning.assemble_unless(pace)?;
        self.edges = Edges::of(self.source, |m, f, function| {
            let layout = match self.elided_in(m, f) {
                [] => Layout::unplaced(function),
                _ => self.layout(&plan, m, f, function)?,
            };
            Ok(depend::flow_unless(function, &layout, pace))
        })?;
        Ok(pace.end()?)
    }

    /// Edges along values and re-used bytes, as far as addresses are known.
    fn order(&mut self, pace: &mut Pace<'_, '_>) -> Result<()> {
        let plan = self.planning.assemble_unless(pace)?;
        self.edges = Edges::of(self.source, |m, f, function| {
            let layout = self.layout(&plan, m, f, function)?;
            Ok(depend::dependences_unless(function, &layout, pace))
        })?;
        Ok(pace.end()?)
    }

    /// Where a function's bytes lie; the copies that are marked never run. // X3
    fn layout(&self, plan: &Plan, m: usize, f: usize, function: &Function) -> Result<Layout> {
        let layout = Layout::of_plan(function, &plan.modules[m].functions[f])?;
        let layout = layout.in_geometry(plan.options.geometry);
        Ok(layout.without(self.elided_in(m, f).iter().copied()))
    }

    /// The copies of a function that are marked so far.
    fn elided_in(&self, m: usize, f: usize) -> &[FlatIndex] {
        self.elided.get(m).map_or(&[], |functions| &functions[f])
    }

    /// Groups of several cores on the same bytes are an error, races of the program a warning. // D3
    fn races(&mut self, shared: Option<Predicate<'_>>, pace: &mut Pace<'_, '_>) -> Result<()> {
        let plan = self.planning.assemble_unless(pace)?;
        let options = &plan.options;
        let races = depend::across_cores_unless(self.source, &plan, options, shared, pace)?;
        let sentences = races
            .into_iter()
            .map(|(name, race)| format!("{name}: {race}"));
        self.notes.extend(sentences);
        Ok(())
    }

    /// The final placement is one that all cores agree on; what nothing has placed is reported.
    fn verify_cores(&mut self, control: &Control<'_>) -> Result<()> {
        let (unplaced, wrong) = self.violations(control)?;
        let sentence = |v: Violation| format!("{}: {}", v.locations.join(", "), v.message);
        self.notes.extend(unplaced.into_iter().map(sentence));
        refuse(&wrong)
    }

    /// What the verifier says of the plan so far: first what is only not placed yet.
    fn violations(&self, control: &Control<'_>) -> Result<(Vec<Violation>, Vec<Violation>)> {
        let plan = self
            .planning
            .assemble_unless(&mut Pace::until_cancelled(control))?;
        let pending = |v: &Violation| v.kind == "unplaced";
        let found = verify_with(self.source, &plan, control)?.into_iter();
        Ok(found.partition(pending))
    }

    fn hbm_usage(&mut self, pace: &mut Pace<'_, '_>) -> Result<()> {
        let plan = self.planning.assemble_unless(pace)?;
        let extra = self.choices.extra_bytes;
        self.report.usage = report::hbm_usage_unless(self.source, &plan, extra, pace);
        pace.end()?;
        for usage in &self.report.usage {
            match usage.verdict() {
                Verdict::Fits => {}
                verdict if self.choices.disable_hbm_usage_check => {
                    let much = if verdict == Verdict::Slightly {
                        "slightly "
                    } else {
                        ""
                    };
                    self.notes.push(format!("{much}over the limit: {usage}"));
                }
                Verdict::Slightly | Verdict::Over => {
                    let error = Error::from(Fault::OverBudget(Box::new(usage.clone())));
                    return Err(error.on_core(usage.core));
                }
            }
        }
        Ok(())
    }
}

/// The first violation as an error, with how many there are.
fn refuse(violations: &[Violation]) -> Result<()> {
    let Some(first) = violations.first() else {
        return Ok(());
    };
    let more = match violations.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let mut error = Error::from(Fault::Violation(format!(
        "{}: {}{more}",
        first.kind, first.message
    )));
    error.place.core = first.core;
    error.place.function.clone_from(&first.function);
    error.place.location = first.locations.first().cloned();
    Err(error)
}
