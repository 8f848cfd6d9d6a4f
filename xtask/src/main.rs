//! Chores of the project that its users never pay for.
fn main() {}
