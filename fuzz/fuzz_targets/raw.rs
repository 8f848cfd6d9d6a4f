//! A random raw problem is refused, or its plan is right.

#![no_main]

use dramalloc::testing::{Unstructured, properties};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match properties::raw_plans_are_right(&mut Unstructured::new(data)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // The bytes ran out.
    }
});
