//! ```text
//! oracle      the rules played out on small functions
//! cases       random functions
//! properties  the edges against the oracle
//! examples    the cases that people think of
//! idle        copies that never run
//! shared      races and overlaps between cores
//! ```

mod cases;
mod examples;
mod idle;
mod oracle;
mod properties;
mod shared;
