//! The built command, run as a person or a build system runs it.

mod bad_input;
mod convert;
mod deps;
mod diff;
mod draw;
mod explain;
mod harness;
mod output;
mod plan;
mod verify;
