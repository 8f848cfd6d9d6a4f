//! The version of the C ABI. The build script compiles this file too, for the SONAME. // C2

/// The ABI's major version: raised when something that callers rely on goes away. The SONAME
/// carries it. While it is 0, a new minor version may do so too.
pub const DRAM_ABI_MAJOR: u32 = 0;

/// The ABI's minor version: raised when functions or fields are appended.
pub const DRAM_ABI_MINOR: u32 = 4;
