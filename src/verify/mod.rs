//! Proof that a plan is right. Shares only `ir` and `plan` with the allocator. // V4

use crate::ir::Program;
use crate::plan::Plan;

/// Something wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kind, a stable word: `overlap`, `moved_pin`, `misaligned`, ...
    pub kind: &'static str,
    /// The core, if it concerns one.
    pub core: Option<u32>,
    /// The function, if it concerns one.
    pub function: Option<String>,
    /// The locations involved.
    pub locations: Vec<String>,
    /// The sentence.
    pub message: String,
}

/// Everything wrong with a plan; empty if it is proven right. // V1
pub fn verify(_program: &Program, _plan: &Plan) -> Vec<Violation> {
    todo!("geometry")
}
