//! The shared library and the static archive: every `dram_*` function of the crate `dramalloc`, and
//! nothing of its own. // C1
//!
//! What is exported is defined in `src/ffi`; linking that crate is enough to export it.

extern crate dramalloc_core as _;
