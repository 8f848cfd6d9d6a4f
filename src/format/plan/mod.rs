//! Plan files: where everything lies. // F

pub(super) mod document;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read_plan;
pub use write::write_plan;
pub(super) use write::{write_segment, write_segments, write_straddler};
