//! A file that was right before some bytes were changed is read or refused.

#![no_main]

use dramalloc::testing::{Unstructured, properties};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    match properties::files_are_read_or_refused(&mut Unstructured::new(data)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject, // The bytes ran out.
    }
});
