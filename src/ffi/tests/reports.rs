//! Explaining and comparing through the table, with right and with wrong arguments.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use super::{Host, api, fails, ok, sized};
use crate::ffi::explain::{dram_diff_options, dram_explain_options, dram_report_format};
use crate::ffi::plan::dram_plan;
use crate::ffi::program::dram_program;
use crate::ffi::status::dram_status;

/// Collects the pieces.
unsafe extern "C" fn collect(user: *mut c_void, data: *const c_char, len: usize) -> i32 {
    // SAFETY: `user` is the vector that the test passes, `data` readable for `len` bytes.
    unsafe {
        let piece = std::slice::from_raw_parts(data.cast::<u8>(), len);
        (*user.cast::<Vec<u8>>()).extend_from_slice(piece);
    }
    0
}

/// Wants nothing.
unsafe extern "C" fn stop(_: *mut c_void, _: *const c_char, _: usize) -> i32 {
    1
}

/// Two locations that live one after the other and one beside them, planned.
fn planned(bytes: u64) -> (Host, *mut dram_plan) {
    let host = Host::new();
    let [a, b, c] = [("a", bytes), ("b", 8192), ("c", 100)].map(|(n, b)| host.memloc(n, b));
    host.instruction(&[], &[a, c]);
    host.instruction(&[a], &[]);
    host.instruction(&[c], &[b]);
    host.instruction(&[b], &[]);
    let mut plan = null_mut();
    // SAFETY: the output is a local, the rest may be null.
    ok(|e| unsafe { (api().program_plan)(host.program, null(), null(), &mut plan, e) });
    (host, plan)
}

fn explain(
    program: *const dram_program,
    plan: *const dram_plan,
    options: *const dram_explain_options,
) -> String {
    let mut text: Vec<u8> = Vec::new();
    let user = (&raw mut text).cast();
    // SAFETY: handles may be anything, the options are null or a local, `user` is what `collect` wants.
    ok(|e| unsafe { (api().plan_explain)(program, plan, options, Some(collect), user, e) });
    String::from_utf8(text).expect("text is UTF-8")
}

#[test]
fn a_plan_is_explained_as_text_and_as_json() {
    let (host, plan) = planned(5000);
    let text = explain(host.program, plan, null());
    assert!(
        text.contains("fragmentation") || text.contains("lower bound"),
        "{text}"
    );
    assert!(text.contains("local, core 0"), "{text}");
    let json = dram_explain_options {
        format: dram_report_format::Json as u32,
        top: 1,
        ..sized()
    };
    let json: serde_json::Value =
        serde_json::from_str(&explain(host.program, plan, &json)).expect("JSON");
    assert_eq!(json["format"], "dramalloc-explanation");
    let space = &json["spaces"][0];
    assert_eq!(space["peak"], 12288);
    assert_eq!(space["parts"]["declared"], 5100);
    assert_eq!(
        space["at_peak"]["occupants"].as_array().map(Vec::len),
        Some(1)
    );
    // SAFETY: any handle may be given.
    unsafe { (api().plan_free)(plan) };
}

#[test]
fn two_plans_are_compared_as_text_and_as_json() {
    let ((host, plan), (other, larger)) = (planned(5000), planned(20_000));
    for format in [dram_report_format::Text, dram_report_format::Json] {
        let options = dram_diff_options {
            format: format as u32,
            ..sized()
        };
        let mut text: Vec<u8> = Vec::new();
        let user = (&raw mut text).cast();
        let diff = api().plan_diff;
        let (p, q) = (host.program, other.program);
        // SAFETY: as in `explain`.
        ok(|e| unsafe { diff(p, plan, q, larger, &options, Some(collect), user, e) });
        let text = String::from_utf8(text).expect("text is UTF-8");
        assert!(text.contains("grown"), "{text}");
        if format == dram_report_format::Json {
            let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(json["spaces"][0]["peak_change"], 12288);
            assert_eq!(json["spaces"][0]["causes"][0]["name"], "a");
        }
    }
    // SAFETY: any handle may be given.
    unsafe {
        (api().plan_free)(plan);
        (api().plan_free)(larger);
    }
}

#[test]
fn wrong_arguments_of_reports_are_statuses() {
    let ((host, plan), (other, foreign)) = (planned(5000), planned(9000));
    let (explain, diff) = (api().plan_explain, api().plan_diff);
    let (p, user) = (host.program, null_mut());
    let (null_program, null_plan) = (null::<dram_program>(), null::<dram_plan>());
    let invalid = dram_status::InvalidArgument;
    let wrong = [
        dram_explain_options {
            format: 2,
            ..sized()
        },
        dram_explain_options {
            reserved: 1,
            ..sized()
        },
        dram_explain_options {
            struct_size: 8,
            ..sized()
        },
    ];
    // SAFETY: handles may be anything; options are locals; no callback touches `user`.
    unsafe {
        for wrong in &wrong {
            fails(invalid, |e| explain(p, plan, wrong, Some(stop), user, e));
        }
        let wrong = dram_diff_options {
            format: 7,
            ..sized()
        };
        fails(invalid, |e| {
            diff(p, plan, p, plan, &wrong, Some(stop), user, e)
        });
        fails(invalid, |e| {
            explain(null_program, plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| {
            explain(p, null_plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| explain(p, plan, null(), None, user, e));
        fails(invalid, |e| {
            diff(null_program, plan, p, plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| {
            diff(p, null_plan, p, plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| {
            diff(p, plan, null_program, plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| {
            diff(p, plan, p, null_plan, null(), Some(stop), user, e)
        });
        fails(invalid, |e| diff(p, plan, p, plan, null(), None, user, e));
        let cancelled = dram_status::Cancelled;
        fails(cancelled, |e| explain(p, plan, null(), Some(stop), user, e));
        fails(cancelled, |e| {
            diff(p, plan, p, plan, null(), Some(stop), user, e)
        });
        // Of another program: its sizes differ.
        let failed = dram_status::FailedPrecondition;
        fails(failed, |e| explain(p, foreign, null(), Some(stop), user, e));
        fails(failed, |e| {
            diff(p, plan, p, foreign, null(), Some(stop), user, e)
        });
        (api().plan_free)(plan);
        fails(invalid, |e| explain(p, plan, null(), Some(stop), user, e));
        (api().plan_free)(foreign);
    }
    drop(other);
}
