//! A strategy is never above a simpler one, over a whole plan too. // S1
//!
//! Each problem's search contains the simpler searches. But where one problem lies around another
//! (callees beside their callers, functions' groups beside each other, in unified geometry all
//! locations of a core beside its groups), a lower peak of the first may leave the second less
//! room. So unless a plan is proven, the simpler strategies have their turn, and the lowest stays.

use super::Planning;
use super::joint::JointRun;
use super::private::SpaceRun;
use crate::control::Control;
use crate::error::{Fault, Result};
use crate::ir::Space;
use crate::options::Strategy;

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
        let first = self.place_by(self.strategy, control);
        let is_final = match &first {
            Ok(()) => self.is_proven(),
            Err(error) => !matches!(error.fault, Fault::NoRoom(_)),
        };
        if is_final || !self.is_coupled() {
            return first;
        }
        let mut best = first.map(|()| (self.peak(), self.take()));
        for &simpler in simpler(self.strategy) {
            // A simpler attempt that fails, or is cancelled, takes nothing away.
            let lower = self.place_by(simpler, control).is_ok()
                && best.as_ref().is_ok_and(|best| self.peak() < best.0);
            let only = best.is_err() && self.is_complete();
            if lower || only {
                best = Ok((self.peak(), self.take()));
            }
        }
        let (_, runs) = best?;
        (self.local, self.shared, self.debug) = (runs.local, runs.shared, runs.debug);
        Ok(())
    }

    fn place_by(&mut self, strategy: Strategy, control: &mut Control<'_>) -> Result<()> {
        self.take();
        let asked = std::mem::replace(&mut self.strategy, strategy);
        let modules = 0..self.scene.modules.len();
        let mut place = || -> Result<()> {
            for m in modules.clone() {
                self.place_local(m, control)?;
            }
            self.place_shared(control)?;
            for m in modules.clone() {
                self.place_debug(m, control)?;
            }
            Ok(())
        };
        let placed = place();
        self.strategy = asked;
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

    fn is_complete(&self) -> bool {
        let modules = self.local.iter().chain(&self.debug);
        self.shared.is_some() && modules.into_iter().all(Option::is_some)
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

    /// Whether no plan has a lower peak.
    fn is_proven(&self) -> bool {
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
        let modules = 0..self.scene.modules.len();
        let calls = modules.map(|m| self.scene.calls(m));
        let groups = self.scene.groups.placed().next().is_some();
        let functions = self.scene.epochs.stretches().len() > 1;
        let apart = self.scene.options.separate_functions;
        calls.into_iter().any(|calls| !calls.sites.is_empty())
            || groups && (self.scene.is_unified() || functions && !apart)
    }
}

/// The strategies that one contains.
fn simpler(strategy: Strategy) -> &'static [Strategy] {
    match strategy {
        Strategy::Reference => &[],
        Strategy::Fast => &[Strategy::Reference],
        Strategy::Best => &[Strategy::Fast, Strategy::Reference],
    }
}
