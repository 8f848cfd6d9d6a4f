//! An outcome without a placement, as an error that a host can read.

use super::no_room::{Named, no_room};
use super::{Problem, Unsolved};
use crate::error::{Error, Fault};

impl Unsolved {
    /// The error that a host gets; `name` tells what it calls an item or a pin, and its position.
    pub fn explain(self, problem: &Problem, name: impl Fn(Named) -> (String, u32)) -> Error {
        match self {
            Unsolved::NoRoom { item, offsets } => {
                let report = no_room(problem, &offsets, item, name);
                let location = report.location.clone();
                Error::from(Fault::NoRoom(Box::new(report))).at_location(&location)
            }
            Unsolved::Cancelled => Fault::Cancelled.into(),
            Unsolved::DeadlineExceeded => Fault::DeadlineExceeded.into(),
        }
    }
}
