//! An outcome without a placement, as an error that a host can read.

use super::infeasible::conflict;
use super::no_room::{Named, no_room};
use super::{Problem, Unsolved};
use crate::control::Control;
use crate::error::{Error, Fault};

impl Unsolved {
    /// The error that a host gets; `name` tells what it calls an item or a pin, and its position.
    ///
    /// `firm` is the problem without what another run over the same program might have decided
    /// otherwise, if there is any such thing: only a proof about that is one about the program.
    pub(crate) fn explain(
        self,
        problem: &Problem,
        firm: Option<&Problem>,
        control: &mut Control<'_>,
        name: impl Fn(Named) -> (String, u32),
    ) -> Error {
        match self {
            Unsolved::NoRoom {
                item,
                offsets,
                bound,
            } => {
                let refuted = firm.is_none() && bound > problem.ceiling;
                let proof = conflict(firm.unwrap_or(problem), item, refuted, control);
                let report = no_room(problem, &offsets, item, proof.as_ref(), name);
                let location = report.location.clone();
                Error::from(Fault::NoRoom(Box::new(report))).at_location(&location)
            }
            Unsolved::Cancelled => Fault::Cancelled.into(),
            Unsolved::DeadlineExceeded => Fault::DeadlineExceeded.into(),
        }
    }
}
