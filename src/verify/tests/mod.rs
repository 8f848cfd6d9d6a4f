//! The verifier against a naive reading of the rules, and against plans broken on purpose.

mod claims;
mod hinted;
mod mutations;
mod oracle;
mod planned;
mod planner;
mod programs;
mod raw;
mod unified;
