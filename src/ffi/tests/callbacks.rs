//! Callbacks: what they receive, what they may do, how they stop a call. // C7

use std::ffi::{c_char, c_void};

use super::super::status::dram_status;

use super::{Host, api, fails, ok};

/// Collects what is written, until there is enough.
struct Sink {
    text: Vec<u8>,
    enough: usize,
}

unsafe extern "C" fn collect(user: *mut c_void, data: *const c_char, len: usize) -> i32 {
    // SAFETY: the test hands over a `Sink`; the data is readable.
    let (sink, data) = unsafe {
        let data = std::slice::from_raw_parts(data.cast::<u8>(), len);
        (&mut *user.cast::<Sink>(), data)
    };
    sink.text.extend_from_slice(data);
    i32::from(sink.text.len() >= sink.enough)
}

#[test]
fn a_name_is_written_in_one_piece_and_nothing_for_none() {
    let host = Host::new();
    let (named, unnamed) = (host.memloc("\u{e4}", 8), host.memloc("", 8));
    let mut sink = Sink {
        text: Vec::new(),
        enough: usize::MAX,
    };
    let user = (&raw mut sink).cast::<c_void>();
    // SAFETY: the callback's data is a local.
    unsafe {
        let name = api().function_memloc_name;
        ok(|e| name(host.function, named, Some(collect), user, e));
        ok(|e| name(host.function, unnamed, Some(collect), user, e));
    }
    assert_eq!(sink.text, "\u{e4}".as_bytes());
}

#[test]
fn a_sink_that_refuses_ends_the_call() {
    let host = Host::new();
    let named = host.memloc("a", 8);
    let mut sink = Sink {
        text: Vec::new(),
        enough: 1,
    };
    let user = (&raw mut sink).cast::<c_void>();
    // SAFETY: the callback's data is a local.
    fails(dram_status::Cancelled, |e| unsafe {
        (api().function_memloc_name)(host.function, named, Some(collect), user, e)
    });
}
