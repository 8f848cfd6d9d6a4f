//! A random program, planned, is right by geometry, by value and by order.

#![no_main]

use dramalloc::testing::{Unstructured, properties};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match properties::plans_are_right(&mut Unstructured::new(data)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // The bytes ran out.
    }
});
