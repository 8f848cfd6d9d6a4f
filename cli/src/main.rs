//! The `dramalloc` command.
fn main() {}
