//! The deep verifier against an execution byte by byte, against plans broken on purpose, and
//! against plans that are right.

mod bytes;
mod corpus;
mod examples;
mod mutations;
mod right;
