//! The C ABI. // C
