//! The verifier against a naive reading of the rules, and against plans broken on purpose.

mod claims;
mod hinted;
mod mutations;
mod oracle;
pub(super) mod planned;
mod planner;
pub(super) mod programs;
mod raw;
mod unified;
