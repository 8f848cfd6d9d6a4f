//! Who is placed first. // O
//!
//! First fit is only as good as its order, and no order is best everywhere, so that there are
//! several: the reference order is here, those that begin with the peak in `place::improve`. // O2
//! Every order is total: ties are broken by dense id, so that none depends on how the host listed
//! its locations. // S4

mod ranking;
mod rounds;

pub(crate) use ranking::{Key, sort_descending};
pub(crate) use rounds::reference_unless;

use crate::pace::Pace;
use crate::place::Problem;

/// The reference order: Briggs worklist in rounds, hardest first. // O1
pub fn reference(problem: &Problem) -> Vec<u32> {
    reference_unless(problem, &mut Pace::free()).expect("nothing stops it")
}
