//! What a panic inside the library leaves behind. // C8

use std::ptr::null_mut;

use super::super::boundary::boundary;
use super::super::status::dram_status;
use super::{Host, api, fails, message, ok};

/// A call of the library that panics while it works on the function of a host.
fn panic_inside(host: &Host) -> String {
    fails(dram_status::Internal, |error| {
        let body = |call: &mut super::super::boundary::Call| {
            call.get(host.function, "function")?;
            panic!("the number is {}", 42)
        };
        // SAFETY: `error` is writable.
        unsafe { boundary(error, body) }
    })
}

#[test]
fn a_panic_becomes_an_error_that_says_what_and_where() {
    let said = panic_inside(&Host::new());
    assert!(said.contains("the number is 42"), "{said}");
    assert!(said.contains("poison.rs:"), "{said}");
}

#[test]
fn a_poisoned_handle_can_only_be_freed() {
    let host = Host::new();
    panic_inside(&host);
    let mut count = 7;
    // SAFETY: outputs are locals; any handle may be given.
    unsafe {
        // The function, its module and its program are one value.
        let said = fails(dram_status::FailedPrecondition, |e| {
            (api().program_module_count)(host.program, &mut count, e)
        });
        assert!(said.contains("poisoned"), "{said}");
        assert_eq!(count, 0, "outputs are written all the same");
        fails(dram_status::FailedPrecondition, |e| {
            (api().module_clear_placement)(host.module, e)
        });
        // Its context is not.
        let mut other = null_mut();
        let name = super::super::text::dram_str::EMPTY;
        ok(|e| (api().program_new)(host.context, name, &mut other, e));
        assert_eq!((api().program_free)(host.program), dram_status::Ok);
        assert_eq!(
            (api().program_free)(host.program),
            dram_status::InvalidArgument
        );
    }
}

#[test]
fn a_panic_without_an_error_pointer_is_a_status_all_the_same() {
    // SAFETY: null is allowed.
    let status = unsafe { boundary(null_mut(), |_| panic!("unheard")) };
    assert_eq!(status, dram_status::Internal);
    assert_eq!(message(null_mut()), "(not a dram_error handle)");
}
