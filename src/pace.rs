//! Looks at the host's flag and clock, paced by the work that is done. // S2
//!
//! Whoever goes through many things is handed a [`Pace`] and counts what it does: once in so many
//! units the host is asked. So no loop has an interval of its own, short loops one after the other
//! are one long one, and what asks too seldom is seen by counting looks, without a clock.

use crate::control::{Control, Stop};

/// Units between two looks. A unit is one turn of a loop that waits for memory now and then, some
/// 10 to 100 nanoseconds.
pub(crate) const UNITS: usize = 1 << 13;

/// Turns of a short loop that are counted at once: to count each would take as long as the turn.
pub(crate) const SOME: usize = 1 << 10;

#[cfg(test)]
thread_local! {
    /// Fewer units in a test, so that small programs are stopped anywhere.
    pub(crate) static INTERVAL: std::cell::Cell<usize> = const { std::cell::Cell::new(UNITS) };
}

#[cfg(test)]
fn interval() -> usize {
    INTERVAL.get()
}

#[cfg(not(test))]
const fn interval() -> usize {
    UNITS
}

/// Counts units of work and asks the host now and then.
pub(crate) struct Pace<'c, 'h> {
    /// `None`: nobody watches.
    control: Option<&'c Control<'h>>,
    left: usize,
    /// The deadline ends the work too.
    in_time: bool,
    /// What the host has said, once it has said that this is the end.
    stopped: Option<Stop>,
}

impl<'c, 'h> Pace<'c, 'h> {
    /// A pace whose first look is so many units away.
    pub(crate) fn of(control: &'c Control<'h>) -> Pace<'c, 'h> {
        Pace {
            control: Some(control),
            left: interval(),
            in_time: true,
            stopped: None,
        }
    }

    /// A pace that begins with a look.
    pub(crate) fn at_once(control: &'c Control<'h>) -> Pace<'c, 'h> {
        Pace {
            left: 0,
            ..Pace::of(control)
        }
    }

    /// A pace that begins with a look and that no deadline ends, for what is done with a placement:
    /// half of it is of no use, and to do without it is not what the host has asked for. // C4
    #[inline(never)]
    pub(crate) fn until_cancelled(control: &'c Control<'h>) -> Pace<'c, 'h> {
        Pace {
            in_time: false,
            ..Pace::at_once(control)
        }
    }

    /// A pace that nothing stops.
    pub(crate) fn free() -> Pace<'c, 'h> {
        Pace {
            control: None,
            left: usize::MAX,
            in_time: false,
            stopped: None,
        }
    }

    /// Counts units of work that are done next.
    #[inline]
    pub(crate) fn work(&mut self, units: usize) -> Result<(), Stop> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.look(),
        }
    }

    /// Counts units of work that are done next; whether the host has stopped them, now or before.
    ///
    /// For loops that are left early: what they were to find is incomplete, as is what others make
    /// of it, and whoever began it all throws it away for what [`Pace::end`] says. That is less code
    /// than a way out of every function, as is a call in each loop.
    #[inline(never)]
    pub(crate) fn over(&mut self, units: usize) -> bool {
        self.work(units).is_err()
    }

    /// Whether the host has stopped it; asks nobody.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Whether everything was done.
    pub(crate) fn end(&self) -> Result<(), Stop> {
        self.stopped.map_or(Ok(()), Err)
    }

    /// Asks the host.
    #[cold]
    fn look(&mut self) -> Result<(), Stop> {
        let seen = self.control.map_or(Ok(()), Control::look);
        let late = seen == Err(Stop::OutOfBudget) && !self.in_time;
        self.stopped = self.stopped.or(seen.err().filter(|_| !late));
        // Who is stopped is told so each time.
        self.left = if self.stopped.is_some() {
            0
        } else {
            interval()
        };
        self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{
        BlockId, Extent, Function, InstructionSpec, MemLocId, MemLocSpec, Module, Operand, Program,
    };
    use crate::options::Options;
    use crate::order::reference_unless;
    use crate::pipeline::{Pipeline, PipelineOptions};
    use crate::place;
    use crate::raw::{RawProblem, solve_raw};
    use crate::verify::{verify_deep_with, verify_with};
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn a_flag_is_seen_after_so_many_units() {
        let flag = AtomicBool::new(false);
        let control = Control {
            cancel: Some(&flag),
            ..Control::default()
        };
        let mut pace = Pace::of(&control);
        assert_eq!(pace.work(UNITS), Ok(()));
        assert_eq!(pace.work(1), Ok(()));
        flag.store(true, Ordering::Relaxed);
        for _ in 0..UNITS {
            assert_eq!(pace.work(1), Ok(()));
        }
        assert_eq!(pace.work(1), Err(Stop::Cancelled));
        assert_eq!(Pace::free().work(usize::MAX), Ok(()));
    }

    const MEMORY_ANALYSIS: &str = "memory_analysis_after_coloring_allocator_dram_shared";

    /// All passes but the splitter. What each counts besides is counted by itself, for a run that
    /// verifies after each pass does not say which of the two is at work.
    fn all_passes() -> PipelineOptions {
        PipelineOptions {
            dram_rotation: true,
            ..PipelineOptions::default()
        }
    }

    /// Locations of the runs that are watched.
    const LOCATIONS: usize = 1 << 15;

    /// Each location is defined by one instruction and dies at the next, in the bytes of which the
    /// next one lies.
    fn program() -> Program {
        let mut function = Function::new("main");
        let spec = MemLocSpec {
            extent: Some(Extent::Bytes(4096)),
            ..MemLocSpec::default()
        };
        function.add_memlocs(&vec![spec; LOCATIONS]).expect("valid");
        let blocks = LOCATIONS / 64;
        for i in 0..LOCATIONS {
            if i % 64 == 0 {
                function.add_block("");
            }
            let (before, now) = (MemLocId::new(i.saturating_sub(1)), MemLocId::new(i));
            let uses = [Operand::from(before)];
            let spec = InstructionSpec {
                op: "op",
                engine: i as u32 % 2,
                uses: &uses[..uses.len().min(i)],
                defs: &[Operand::from(now)],
                in_place: &[(before, now)][..uses.len().min(i)],
                ..InstructionSpec::default()
            };
            function.add_instruction(&spec).expect("valid");
        }
        for block in 1..blocks {
            let (from, to) = (BlockId::new(block - 1), BlockId::new(block));
            function.set_successors(from, &[to]).expect("valid");
        }
        let mut module = Module::new("core0", 0);
        module.add_function(function).expect("the only one");
        let mut program = Program::new("long");
        program.add_module(module).expect("the only one");
        program
    }

    /// The looks at the host of each phase of a run; what comes before the first is `start`.
    fn looks(run: impl FnOnce(&mut Control<'_>)) -> BTreeMap<&'static str, usize> {
        let phase = Cell::new("start");
        let looks = RefCell::new(BTreeMap::new());
        let elapsed = || {
            *looks.borrow_mut().entry(phase.get()).or_insert(0) += 1;
            Duration::ZERO
        };
        let mut enter = |progress: &crate::control::Progress| phase.set(progress.phase);
        run(&mut Control {
            elapsed: Some(&elapsed),
            deadline: Some(Duration::MAX),
            progress: Some(&mut enter),
            ..Control::default()
        });
        looks.into_inner()
    }

    /// Nothing here takes the time: a loop that stops counting its turns is one look less for each
    /// [`UNITS`] locations. The figures are what the phases count for one location.
    #[test]
    fn every_phase_looks_at_the_host_as_often_as_it_is_long() {
        let program = program();
        let seen = looks(|control| {
            let plan = crate::plan(&program, &Options::default(), control);
            assert_eq!(plan.map(|plan| plan.peak), Ok(4096));
        });
        let segments = (0..LOCATIONS as i64).map(|i| (i, i + 2));
        let raw = RawProblem {
            starts: (0..=LOCATIONS as u32).collect(),
            segments: segments.collect(),
            sizes: vec![64; LOCATIONS],
            ..RawProblem::default()
        };
        let seen_raw = looks(|control| {
            let plan = solve_raw(&raw, &Options::default(), control);
            assert_eq!(plan.map(|plan| plan.peak), Ok(128));
        });
        let all = Pipeline::new(&all_passes()).expect("valid choices");
        let mut proven = crate::Plan::default();
        let passes = looks(|control| {
            let outcome = all.decide(&program, &Options::default(), control);
            proven = outcome.expect("there is room").report.plan;
        });
        let proofs = looks(|control| {
            control.enter("verify");
            assert_eq!(verify_with(&program, &proven, control), Ok(Vec::new()));
            control.enter("verify_deep");
            let deep = verify_deep_with(&program, &proven, control);
            assert_eq!(deep.map(|deep| deep.violations), Ok(Vec::new()));
        });
        let problem = place::testing::alternating(LOCATIONS);
        let mut parts = BTreeMap::new();
        for (name, part) in place::testing::PARTS {
            parts.extend(looks(|control| {
                control.enter(name);
                part(&problem, control);
            }));
        }
        parts.extend(looks(|control| {
            control.enter("reference");
            let order = reference_unless(&problem, &mut Pace::of(control));
            assert_eq!(order.map(|order| order.len()), Ok(LOCATIONS));
        }));
        let least = [
            (&seen, "liveness", 34),
            (&seen, "bound", 10),
            (&seen, "search", 73),
            (&seen_raw, "start", 5),
            (&seen_raw, "bound", 5),
            (&seen_raw, "search", 72),
            (&passes, "address_rotation_dram", 198),
            (&passes, "dynamic_dma_cleanup", 7),
            (&passes, "build_fdeps", 101),
            (&passes, "anti_dependency_analyzer_post_dram", 97),
            (&passes, MEMORY_ANALYSIS, 17),
            (&passes, "anti_dependency_analyzer_post_shared_dram", 112),
            (&passes, "lnc_verifier", 65),
            (&passes, "hbm_usage", 21),
            (&proofs, "verify", 58),
            (&proofs, "verify_deep", 220),
            (&parts, "prepared", 3),
            (&parts, "orders", 15),
            (&parts, "neighbours", 2),
            (&parts, "summits", 25),
            (&parts, "reference", 39),
        ];
        let counted =
            |(seen, name, units): &(&BTreeMap<&'static str, usize>, &'static str, usize)| {
                let counted = seen[name] * UNITS / LOCATIONS;
                (counted < *units).then_some((*name, counted, *units))
            };
        let too_few: Vec<_> = least.iter().filter_map(counted).collect();
        assert_eq!(too_few, [], "units that are counted for one location");
    }
}
