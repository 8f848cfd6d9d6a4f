//! Program files: what a compiler tells the allocator. // F

pub(super) mod document;
mod memlocs;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read_program;
pub(super) use write::name_in_file;
pub use write::write_program;
