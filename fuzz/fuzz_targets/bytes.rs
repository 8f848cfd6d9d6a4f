//! No bytes at all make a parser panic, and what they read is planned right.

#![no_main]

use dramalloc::testing::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| properties::parsers_do_not_panic(data, None));
