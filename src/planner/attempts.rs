//! A strategy is never above a simpler one, over a whole plan too. // S1
//!
//! Each problem's search contains the simpler searches. But where one problem lies around another
//! (callees beside their callers, functions' groups beside each other, in unified geometry all
//! locations of a core beside its groups, with pages a later space in what the earlier ones
//! leave), a better placement of the first may leave the second less room. So unless a plan is
//! proven, the simpler strategies have their turn, and the best stays; and what fits only without
//! a thought of the runtime's pages is placed without. // P7

use super::joint::JointRun;
use super::private::SpaceRun;
use super::{Planning, runtime_page};
use crate::control::Control;
use crate::error::{Fault, Result};
use crate::ir::Space;
use crate::options::{Options, Strategy};

/// How problems are solved in one pass over the spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// How to search.
    pub strategy: Strategy,
    /// The runtime page that locations shall not straddle, in bytes; 0: none.
    pub runtime_page: u64,
}

impl Attempt {
    /// What the host asks for.
    pub(super) fn asked(options: &Options) -> Attempt {
        Attempt {
            strategy: options.strategy,
            runtime_page: options.runtime_page_bytes(),
        }
    }
}

/// What was placed.
struct Runs {
    local: Vec<Option<SpaceRun>>,
    shared: Option<JointRun>,
    debug: Vec<Option<SpaceRun>>,
}

impl Planning<'_> {
    /// Places every space of every module.
    ///
    /// # Errors
    ///
    /// That of the strategy itself, if a simpler one finds no placement either.
    pub(super) fn place_all(&mut self, control: &mut Control<'_>) -> Result<()> {
        self.place_well(control, Self::place_stages)
    }

    /// Does what `place` does by the strategy asked for, or by a simpler one if that is better.
    ///
    /// # Errors
    ///
    /// That of the strategy itself, if no other attempt finds a placement either.
    pub(super) fn place_well(
        &mut self,
        control: &mut Control<'_>,
        place: impl Fn(&mut Self, &mut Control<'_>) -> Result<()>,
    ) -> Result<()> {
        let asked = self.attempt;
        let first = self.place_by(asked, control, &place);
        let is_final = match &first {
            Ok(()) => self.is_proven(),
            Err(error) => match &error.fault {
                Fault::Cancelled => true,
                Fault::NoRoom(report) => report.infeasible.is_some(),
                _ => false,
            },
        };
        if is_final || !self.is_coupled() {
            return first;
        }
        let mut best = first.map(|()| (self.value(), self.take()));
        for &strategy in simpler(asked.strategy) {
            let attempt = Attempt { strategy, ..asked };
            // An attempt that fails, or is cancelled, takes nothing away.
            let placed = self.place_by(attempt, control, &place).is_ok();
            if placed && best.as_ref().map_or(true, |best| self.value() < best.0) {
                best = Ok((self.value(), self.take()));
            }
        }
        let heedless = Attempt {
            runtime_page: 0,
            ..asked
        };
        if best.is_err()
            && asked.runtime_page > 0
            && self.place_by(heedless, control, &place).is_ok()
        {
            return Ok(());
        }
        let (_, runs) = best?;
        (self.local, self.shared, self.debug) = (runs.local, runs.shared, runs.debug);
        Ok(())
    }

    fn place_by(
        &mut self,
        attempt: Attempt,
        control: &mut Control<'_>,
        place: impl Fn(&mut Self, &mut Control<'_>) -> Result<()>,
    ) -> Result<()> {
        self.take();
        let asked = std::mem::replace(&mut self.attempt, attempt);
        let placed = place(self, control);
        self.attempt = asked;
        placed
    }

    /// What was placed, which leaves nothing placed.
    fn take(&mut self) -> Runs {
        let none = || self.scene.modules.iter().map(|_| None).collect();
        let (local, debug) = (none(), none());
        Runs {
            local: std::mem::replace(&mut self.local, local),
            shared: self.shared.take(),
            debug: std::mem::replace(&mut self.debug, debug),
        }
    }

    fn private(&self) -> impl Iterator<Item = &SpaceRun> {
        self.local.iter().chain(&self.debug).flatten()
    }

    /// The highest peak.
    fn peak(&self) -> u64 {
        let private = self.private().map(|run| run.peak);
        let shared = self.shared.iter().map(|run| run.peak);
        private.chain(shared).max().unwrap_or(0)
    }

    /// What plans are compared by: bytes of private copies, then the highest peak. // P7
    fn value(&self) -> (u64, u64) {
        let copies = match self.scene.options.runtime_page {
            0 => 0,
            _ => runtime_page::private_bytes(&self.assemble()),
        };
        (copies, self.peak())
    }

    /// Whether no plan is better.
    fn is_proven(&self) -> bool {
        if self.scene.options.runtime_page > 0 && !runtime_page::is_least(&self.assemble()) {
            return false;
        }
        let highest = self.peak();
        let shared = self.shared.iter();
        let mut proven = shared.map(|run| (run.peak, run.bound));
        let mut private = self
            .local
            .iter()
            .chain(&self.debug)
            .zip((0..self.local.len()).cycle())
            .filter_map(|(run, m)| run.as_ref().map(|run| (run, m)))
            .map(|(run, m)| (run.peak, run.bound_beside(self.groups_beside(m, run.space))));
        let at_bound = |(peak, bound): (u64, u64)| peak < highest || peak == bound;
        proven.all(at_bound) && private.all(at_bound)
    }

    /// One past the groups that have their bytes in the range of a space. // M7
    pub(super) fn groups_beside(&self, m: usize, space: Space) -> u64 {
        match &self.shared {
            Some(run) if self.scene.is_unified() && space == Space::Local => run.ends[m],
            _ => 0,
        }
    }

    /// Whether one problem lies around another.
    fn is_coupled(&self) -> bool {
        let options = self.scene.options;
        let modules = 0..self.scene.modules.len();
        let calls = modules.map(|m| self.scene.calls(m));
        let groups = self.scene.groups.placed().next().is_some();
        let functions = self.scene.epochs.stretches().len() > 1;
        let apart = options.separate_functions;
        calls.into_iter().any(|calls| !calls.sites.is_empty())
            || options.runtime_page > 0 && options.core_capacity().is_some()
            || groups && (self.scene.is_unified() || functions && !apart)
    }
}

/// The strategies that one contains.
pub(super) fn simpler(strategy: Strategy) -> &'static [Strategy] {
    match strategy {
        Strategy::Reference => &[],
        Strategy::Fast => &[Strategy::Reference],
        Strategy::Best => &[Strategy::Fast, Strategy::Reference],
    }
}
