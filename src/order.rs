//! Who is placed first. // O

use crate::place::Problem;

/// The reference order: Briggs worklist in rounds, hardest first. // O1
pub fn reference(_problem: &Problem) -> Vec<u32> {
    todo!("rounds")
}
