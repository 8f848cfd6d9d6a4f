//! Pictures through the table: every format, two beside each other, and what is refused.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use super::{Host, api, fails, ok, sized};
use crate::ffi::draw::{dram_draw_format, dram_draw_options};
use crate::ffi::options::dram_options;
use crate::ffi::plan::dram_plan;
use crate::ffi::program::dram_program;
use crate::ffi::status::dram_status;
use crate::ffi::text::dram_str;

unsafe extern "C" fn collect(user: *mut c_void, data: *const c_char, len: usize) -> i32 {
    // SAFETY: `user` is the list of `drawn`, and the text is readable.
    unsafe {
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), len);
        (*user.cast::<Vec<u8>>()).extend_from_slice(bytes);
    }
    0
}

unsafe extern "C" fn stop(_: *mut c_void, _: *const c_char, _: usize) -> i32 {
    1
}

fn host() -> Host {
    let host = Host::new();
    let (a, b) = (host.memloc("a", 4096), host.memloc("b", 8192));
    host.instruction(&[], &[a]);
    host.instruction(&[a], &[b]);
    host.instruction(&[b], &[]);
    host
}

fn planned(host: &Host) -> *mut dram_plan {
    let mut plan = null_mut();
    let options: dram_options = sized();
    // SAFETY: the struct and the output are locals; no control.
    ok(|e| unsafe { (api().program_plan)(host.program, &options, null(), &mut plan, e) });
    plan
}

fn drawn(host: &Host, plan: *const dram_plan, options: *const dram_draw_options) -> String {
    let mut text: Vec<u8> = Vec::new();
    let user = (&raw mut text).cast();
    // SAFETY: `options` is null or a local of the caller; `user` is what `collect` expects.
    ok(|e| unsafe { (api().plan_draw)(host.program, plan, options, Some(collect), user, e) });
    String::from_utf8(text).expect("pictures are UTF-8")
}

#[test]
fn a_plan_is_drawn_in_every_format() {
    let host = host();
    let plan = planned(&host);
    let page = drawn(&host, plan, null());
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>p</title>"));
    let mut options = dram_draw_options {
        title: dram_str::of("tea & cake"),
        format: dram_draw_format::Svg as u32,
        ..sized()
    };
    let picture = drawn(&host, plan, &options);
    assert!(picture.starts_with("<svg") && picture.contains("tea &amp; cake"));
    options.format = dram_draw_format::Ascii as u32;
    (options.width, options.height, options.core, options.space) = (60, 5, 1, 1);
    let map = drawn(&host, plan, &options);
    assert!(
        map.starts_with("tea & cake: core 0 - local: peak 12 KiB"),
        "{map}"
    );
    options.core = 8;
    assert_eq!(
        drawn(&host, plan, &options),
        "nothing here has an address\n"
    );
    // SAFETY: any handle may be given.
    unsafe { (api().plan_free)(plan) };
}

#[test]
fn two_plans_are_drawn_beside_each_other() {
    let (host, other) = (host(), host());
    let (plan, beside) = (planned(&host), planned(&other));
    let mut options = dram_draw_options {
        title: dram_str::of("left"),
        beside_plan: beside,
        beside_title: dram_str::of("right"),
        format: dram_draw_format::Ascii as u32,
        ..sized()
    };
    // The second plan is of an equal program, so it is a plan of this one too.
    for program in [null(), other.program.cast_const()] {
        options.beside_program = program;
        let map = drawn(&host, plan, &options);
        assert!(
            map.contains("left: core 0") && map.contains("right: core 0"),
            "{map}"
        );
        assert!(map.contains("a: internal, 4 KiB at"), "{map}");
        assert!(map.contains(", same\n"), "{map}");
    }
    // SAFETY: any handles may be given.
    unsafe {
        (api().plan_free)(plan);
        (api().plan_free)(beside);
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let (host, other) = (host(), host());
    let (plan, beside) = (planned(&host), planned(&other));
    let refused = |program: *const dram_program, plan, options: &dram_draw_options, status| {
        let mut text: Vec<u8> = Vec::new();
        let user = (&raw mut text).cast();
        // SAFETY: the struct is readable; `user` is what `collect` expects.
        let said = fails(status, |e| unsafe {
            (api().plan_draw)(program, plan, options, Some(collect), user, e)
        });
        assert!(text.is_empty(), "nothing is written before a refusal");
        said
    };
    let invalid = dram_status::InvalidArgument;
    let good: dram_draw_options = sized();
    let with = |change: &dyn Fn(&mut dram_draw_options)| {
        let mut options = good;
        change(&mut options);
        refused(host.program, plan, &options, invalid)
    };
    assert!(with(&|o| o.format = 3).contains("options.format"));
    assert!(with(&|o| o.width = 20_001).contains("width"));
    assert!(with(&|o| o.space = 4).contains("options.space"));
    assert!(with(&|o| o.reserved = 1).contains("options.reserved"));
    assert!(with(&|o| o.struct_size = 12).contains("struct_size"));
    assert!(with(&|o| o.beside_program = other.program).contains("beside_program"));
    assert!(
        with(&|o| o.beside_plan = null_mut::<u8>().wrapping_add(64).cast()).contains("beside_plan")
    );
    refused(null(), plan, &good, invalid);
    refused(host.program, null(), &good, invalid);
    // SAFETY: no callback is what is tested; the others are handles.
    let said = fails(invalid, |e| unsafe {
        (api().plan_draw)(host.program, plan, null(), None, null_mut(), e)
    });
    assert!(said.contains("write"), "{said}");
    // SAFETY: `stop` reads nothing.
    fails(dram_status::Cancelled, |e| unsafe {
        (api().plan_draw)(host.program, plan, null(), Some(stop), null_mut(), e)
    });
    // The program has changed since.
    host.memloc("later", 4096);
    refused(host.program, plan, &good, dram_status::FailedPrecondition);
    refused(
        other.program,
        plan,
        &dram_draw_options {
            beside_plan: beside,
            beside_program: host.program,
            ..good
        },
        dram_status::FailedPrecondition,
    );
    // SAFETY: any handles may be given.
    unsafe {
        (api().plan_free)(plan);
        (api().plan_free)(beside);
    }
}
