//! Runs through the table: plans, allocations, proofs, raw problems, files.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use super::super::error::{dram_error, dram_holder, dram_no_room};
use super::super::memloc::DRAM_NO_ADDRESS;
use super::super::options::{dram_control, dram_options, dram_progress};
use super::super::plan::{
    dram_dependence, dram_hbm_usage, dram_plan, dram_plan_info, dram_plan_memloc, dram_segment,
    dram_space_info, dram_straddler,
};
use super::super::problem::{dram_interval, dram_problem, dram_problem_result};
use super::super::report::{dram_verify_options, dram_violation};
use super::super::status::dram_status;
use super::super::text::dram_str;
use super::{Host, api, fails, ok, sized};

/// Three pages in a chain: the first and the last may share bytes.
///
/// ```text
/// 0  op      -> a      engine 0
/// 1  op  a   -> b
/// 2  op  b   -> c
/// 3  op  c
/// ```
fn chain() -> (Host, [u32; 3]) {
    let host = Host::new();
    let ids = ["a", "b", "c"].map(|name| host.memloc(name, 4096));
    let [a, b, c] = ids;
    host.instruction(&[], &[a]);
    host.instruction(&[a], &[b]);
    host.instruction(&[b], &[c]);
    host.instruction(&[c], &[]);
    (host, ids)
}

fn plan(host: &Host) -> *mut dram_plan {
    let mut plan = null_mut();
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().program_plan)(host.program, null(), null(), &mut plan, e) });
    plan
}

fn addresses(host: &Host) -> [u64; 3] {
    let mut addresses = [0; 3];
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().function_addresses)(host.function, addresses.as_mut_ptr(), 3, e) });
    addresses
}

#[test]
fn a_plan_has_addresses_that_the_program_gets_by_applying_it() {
    let (host, [a, ..]) = chain();
    let plan = plan(&host);
    let mut info: dram_plan_info = sized();
    let mut space: dram_space_info = sized();
    let mut memloc: dram_plan_memloc = sized();
    let mut segments = [dram_segment { first: 9, last: 9 }; 2];
    let (mut planned, mut load, mut count) = ([0; 3], [0; 4], 0);
    // SAFETY: outputs are locals; text is read before the plan is freed.
    unsafe {
        ok(|e| (api().plan_get)(plan, &mut info, e));
        assert_eq!((info.peak, info.lower_bound, info.status), (8192, 8192, 0));
        ok(|e| (api().plan_space)(plan, 0, &mut space, e));
        assert_eq!(
            (space.peak, space.capacity, space.core),
            (8192, u64::MAX, 0)
        );
        ok(|e| (api().plan_memloc_get)(plan, host.function, a, &mut memloc, e));
        assert_eq!(memloc.name.read("").unwrap(), "a");
        let get = api().plan_segments;
        let lives = segments.as_mut_ptr();
        ok(|e| get(plan, host.function, a, lives, 2, &mut count, e));
        assert_eq!((count, segments[0].first, segments[0].last), (1, 0, 1));
        let out = planned.as_mut_ptr();
        ok(|e| (api().plan_addresses)(plan, host.function, out, 3, e));
        assert_eq!(planned[0], memloc.address);
        let loads = load.as_mut_ptr();
        ok(|e| (api().plan_load)(plan, host.function, loads, 4, e));
        assert_eq!(load, [4096, 8192, 8192, 4096]);
        assert_eq!(
            addresses(&host),
            [DRAM_NO_ADDRESS; 3],
            "planning changes nothing"
        );
        ok(|e| (api().program_apply)(host.program, plan, e));
        assert_eq!(addresses(&host), planned);
        (api().plan_free)(plan);
    }
}

#[test]
fn a_plan_is_refused_by_a_program_that_has_changed() {
    let (host, _) = chain();
    let plan = plan(&host);
    host.memloc("d", 8);
    let mut usage: dram_hbm_usage = sized();
    let mut load = [7; 4];
    // SAFETY: outputs are locals.
    unsafe {
        let wrong = dram_status::FailedPrecondition;
        fails(wrong, |e| (api().program_apply)(host.program, plan, e));
        fails(wrong, |e| {
            (api().program_hbm_usage)(host.program, plan, 0, 0, &mut usage, e)
        });
        let loads = load.as_mut_ptr();
        fails(wrong, |e| {
            (api().plan_load)(plan, host.function, loads, 4, e)
        });
        (api().plan_free)(plan);
    }
    assert_eq!(load, [0; 4]);
}

#[test]
fn an_allocation_writes_addresses_and_figures_and_can_be_cleared() {
    let (host, _) = chain();
    let mut value = 9;
    // SAFETY: outputs are locals, text is static.
    unsafe {
        ok(|e| (api().module_attribute)(host.module, 11, &mut value, e));
        assert_eq!(value, 0);
        ok(|e| (api().module_allocate)(host.module, null(), null(), null_mut(), e));
        let [a, b, c] = addresses(&host);
        assert!(a != b && b != c && a.max(b).max(c) == 4096);
        ok(|e| (api().module_attribute)(host.module, 11, &mut value, e));
        assert_eq!(value, 1);
        ok(|e| (api().module_attribute)(host.module, 13, &mut value, e));
        assert_eq!(value, 0);
        for (number, name, want) in [
            (31, "reserved_space", 0),
            (32, "raw_bytes_placed", 3 * 4096),
        ] {
            ok(|e| (api().module_metric)(host.module, number, &mut value, e));
            assert_eq!(value, want, "{name}");
            let name = dram_str::of(name);
            ok(|e| (api().module_metric_named)(host.module, name, &mut value, e));
            assert_eq!(value, want);
        }
        for name in ["real_cc_buffer_size", "allreduce_dram_hwm", "hwm"] {
            let text = dram_str::of(name);
            ok(|e| (api().module_metric_named)(host.module, text, &mut value, e));
        }
        assert_eq!(value, 8192, "hwm");
        ok(|e| (api().module_clear_placement)(host.module, e));
        assert_eq!(addresses(&host), [DRAM_NO_ADDRESS; 3]);
    }
}

#[test]
fn what_finds_no_room_says_so_as_data_and_changes_nothing() {
    let (host, _) = chain();
    let options = dram_options {
        capacity: 4096,
        ..sized()
    };
    let mut error: *mut dram_error = null_mut();
    let mut no_room: dram_no_room = sized();
    let mut holder: dram_holder = sized();
    // SAFETY: structs and outputs are locals; text is read before the error is freed.
    unsafe {
        let allocate = api().module_allocate;
        let status = allocate(host.module, &options, null(), null_mut(), &mut error);
        assert_eq!(status, dram_status::ResourceExhausted);
        assert_eq!((api().error_no_room)(error, &mut no_room), dram_status::Ok);
        assert_eq!(
            (no_room.bytes, no_room.capacity, no_room.bound),
            (4096, 4096, 8192)
        );
        assert_eq!((no_room.proved, no_room.holder_count), (1, 1));
        assert_eq!((api().error_holder)(error, 0, &mut holder), dram_status::Ok);
        assert_eq!((holder.start, holder.bytes), (0, 4096));
        assert_ne!(
            holder.location.read("").unwrap(),
            no_room.location.read("").unwrap()
        );
        let past = (api().error_holder)(error, 1, &mut holder);
        assert_eq!(past, dram_status::OutOfRange);
        // Two locations of a page each are live at once.
        assert_eq!((no_room.conflict_count, no_room.conflict_minimal), (2, 1));
        assert_eq!(no_room.conflict_deficit, 4096);
        for position in 0..2 {
            let conflict = (api().error_conflict)(error, position, &mut holder);
            assert_eq!(conflict, dram_status::Ok);
            let (first, last) = (holder.first, holder.last);
            assert!((first..=last).contains(&no_room.conflict_instruction));
            assert_eq!((holder.start, holder.bytes), (DRAM_NO_ADDRESS, 4096));
        }
        let past = (api().error_conflict)(error, 2, &mut holder);
        assert_eq!(past, dram_status::OutOfRange);
        (api().error_free)(error);
    }
    assert_eq!(addresses(&host), [DRAM_NO_ADDRESS; 3]);
}

#[test]
fn usage_splits_what_a_core_needs() {
    let (host, _) = chain();
    let plan = plan(&host);
    let mut usage: dram_hbm_usage = sized();
    // SAFETY: outputs are locals.
    unsafe {
        ok(|e| (api().program_hbm_usage)(host.program, plan, 0, 100, &mut usage, e));
        (api().plan_free)(plan);
    }
    assert_eq!(
        (usage.private_bytes, usage.extra, usage.unused),
        (8192, 100, 0)
    );
    assert_eq!(
        (usage.needed, usage.capacity, usage.verdict),
        (8292, u64::MAX, 0)
    );
    assert_eq!((usage.function, usage.instruction), (0, 1));
}

unsafe extern "C" fn keep_edges(user: *mut c_void, edges: *const dram_dependence, count: usize) {
    // SAFETY: the test hands over a list; the edges are readable.
    let (kept, edges) = unsafe {
        let kept = &mut *user.cast::<Vec<(u32, u32, u32)>>();
        (
            kept,
            super::super::text::slice(edges, count, "edges").unwrap(),
        )
    };
    kept.extend(edges.iter().map(|e| (e.from, e.to, e.kind)));
}

#[test]
fn dependences_order_engines_that_share_bytes() {
    let host = Host::new();
    let (a, b) = (host.memloc("a", 4096), host.memloc("b", 4096));
    host.instruction_on(0, &[], &[a]);
    host.instruction_on(1, &[a], &[]);
    host.instruction_on(0, &[], &[b]);
    host.instruction_on(0, &[b], &[]);
    let plan = plan(&host);
    let mut kept: Vec<(u32, u32, u32)> = Vec::new();
    let user = (&raw mut kept).cast::<c_void>();
    // SAFETY: the callback's data is a local.
    unsafe {
        ok(|e| (api().plan_dependences)(plan, host.function, Some(keep_edges), user, e));
        (api().plan_free)(plan);
    }
    assert_eq!(
        kept,
        [(0, 1, 0), (1, 2, 2)],
        "the value flows, then b takes its bytes"
    );
}

/// Text that a call wrote.
unsafe extern "C" fn append(user: *mut c_void, data: *const c_char, len: usize) -> i32 {
    // SAFETY: the test hands over a buffer; the data is readable.
    unsafe {
        let data = super::super::text::slice(data.cast::<u8>(), len, "data").unwrap();
        (*user.cast::<Vec<u8>>()).extend_from_slice(data);
    }
    0
}

#[test]
fn programs_and_plans_survive_their_files_and_a_right_plan_is_proven() {
    let (host, _) = chain();
    let plan = plan(&host);
    let (mut program_again, mut plan_again, mut report) = (null_mut(), null_mut(), null_mut());
    let mut text: [Vec<u8>; 4] = Default::default();
    let mut count = 9;
    // SAFETY: buffers and outputs are locals.
    unsafe {
        let [a, b, c, d] = &mut text;
        let user = |buffer: *mut Vec<u8>| buffer.cast::<c_void>();
        ok(|e| (api().program_to_json)(host.program, Some(append), user(a), e));
        ok(|e| (api().plan_to_json)(plan, Some(append), user(b), e));
        let read = api().program_from_json;
        ok(|e| read(host.context, a.as_ptr(), a.len(), &mut program_again, e));
        ok(|e| (api().plan_from_json)(b.as_ptr(), b.len(), &mut plan_again, e));
        ok(|e| (api().program_to_json)(program_again, Some(append), user(c), e));
        ok(|e| (api().plan_to_json)(plan_again, Some(append), user(d), e));
        ok(|e| (api().program_verify)(program_again, plan_again, &mut report, e));
        ok(|e| (api().report_count)(report, &mut count, e));
        (api().report_free)(report);
        let mut deeply: dram_verify_options = sized();
        deeply.deep = 1;
        let verify = api().program_verify_with;
        ok(|e| verify(program_again, plan_again, &deeply, &mut report, e));
        let mut more = 9;
        ok(|e| (api().report_count)(report, &mut more, e));
        assert_eq!(more, 0, "no violations");
        let mut note = dram_str::EMPTY;
        fails(dram_status::OutOfRange, |e| {
            (api().report_note)(report, 0, &mut note, e)
        });
        (api().report_free)(report);
        (api().plan_free)(plan);
        (api().plan_free)(plan_again);
        let said = fails(dram_status::InvalidArgument, |e| {
            read(host.context, a.as_ptr(), a.len() - 5, &mut program_again, e)
        });
        assert!(program_again.is_null(), "{said}");
    }
    assert_eq!(count, 0, "no violations");
    let [a, b, c, d] = text.map(|text| String::from_utf8(text).unwrap());
    assert_eq!((a, b), (c, d));
}

#[test]
fn a_wrong_plan_is_reported_with_names() {
    let (host, _) = chain();
    let plan = plan(&host);
    let mut text: Vec<u8> = Vec::new();
    let (mut wrong, mut report, mut count) = (null_mut(), null_mut(), 0);
    let mut violation: dram_violation = sized();
    let mut name = dram_str::EMPTY;
    // SAFETY: buffers and outputs are locals; text is read before its owner is freed.
    unsafe {
        ok(|e| (api().plan_to_json)(plan, Some(append), (&raw mut text).cast(), e));
        // b moves onto its neighbours.
        let json = String::from_utf8(text).unwrap();
        let json = json.replace("\"address\":4096", "\"address\":0");
        let json = json.replace("\"address\": 4096", "\"address\": 0");
        ok(|e| (api().plan_from_json)(json.as_ptr(), json.len(), &mut wrong, e));
        ok(|e| (api().program_verify)(host.program, wrong, &mut report, e));
        ok(|e| (api().report_count)(report, &mut count, e));
        assert!(count > 0);
        let mut deeply: dram_verify_options = sized();
        deeply.deep = 1;
        let (mut deep, mut more) = (null_mut(), 0);
        let verify = api().program_verify_with;
        ok(|e| verify(host.program, wrong, &deeply, &mut deep, e));
        ok(|e| (api().report_count)(deep, &mut more, e));
        assert!(more > count, "values go wrong as well");
        (api().report_free)(deep);
        let mut names = Vec::new();
        for position in 0..count {
            ok(|e| (api().report_violation)(report, position, &mut violation, e));
            assert!(violation.message.len > 0);
            if violation.kind.read("").unwrap() == "overlap" {
                ok(|e| (api().report_location)(report, position, 0, &mut name, e));
                names.push(name.read("").unwrap().to_owned());
            }
        }
        assert!(
            names.iter().any(|name| name == "a" || name == "b"),
            "{names:?}"
        );
        (api().report_free)(report);
        (api().plan_free)(plan);
        (api().plan_free)(wrong);
    }
}

#[test]
fn raw_problems_are_solved_in_both_forms() {
    let (lower, upper, size) = ([0i64, 1, 2], [2i64, 3, 4], [8u64, 8, 8]);
    let mut offsets = [0; 3];
    let mut result: dram_problem_result = sized();
    let intervals = [
        dram_interval { lower: 0, upper: 2 },
        dram_interval { lower: 1, upper: 3 },
        dram_interval { lower: 2, upper: 4 },
    ];
    let pins = [DRAM_NO_ADDRESS, 64, DRAM_NO_ADDRESS];
    let problem = dram_problem {
        count: 3,
        intervals: intervals.as_ptr(),
        sizes: size.as_ptr(),
        pins: pins.as_ptr(),
        ..sized()
    };
    // SAFETY: arrays, structs and outputs are locals.
    unsafe {
        let (l, u, s, out) = (
            lower.as_ptr(),
            upper.as_ptr(),
            size.as_ptr(),
            offsets.as_mut_ptr(),
        );
        ok(|e| (api().problem_solve_simple)(l, u, s, 3, 0, out, &mut result, e));
        assert_eq!((result.peak, result.bound, result.status), (16, 16, 0));
        let out = offsets.as_mut_ptr();
        fails(dram_status::ResourceExhausted, |e| {
            (api().problem_solve_simple)(l, u, s, 3, 15, out, &mut result, e)
        });
        assert_eq!((offsets, result.peak), ([DRAM_NO_ADDRESS; 3], 0));
        let out = offsets.as_mut_ptr();
        let holes = dram_options {
            floor: 1,
            ..sized()
        };
        ok(|e| (api().problem_solve)(&problem, &holes, null(), out, &mut result, e));
        assert_eq!(offsets, [0, 64, 0]);
        ok(|e| {
            (api().problem_solve_simple)(null(), null(), null(), 0, 0, null_mut(), null_mut(), e)
        });
    }
}

/// What the predicate was asked: core, function, number, cookie.
type Questions = Vec<(u32, String, u32, u64)>;

unsafe extern "C" fn ask(
    user: *mut c_void,
    core: u32,
    function: dram_str,
    memloc: u32,
    cookie: u64,
) -> i32 {
    // SAFETY: the test hands over the list; the text is readable.
    let (questions, function) = unsafe {
        let questions = &mut *user.cast::<Questions>();
        (questions, function.read("").unwrap().to_owned())
    };
    questions.push((core, function, memloc, cookie));
    0
}

#[test]
fn the_predicate_is_asked_about_each_location_that_does_not_say_it_is_shared() {
    let host = Host::new();
    let desc = super::super::memloc::dram_memloc_desc {
        bytes: 8,
        cookie: 7,
        ..sized()
    };
    let shared = super::super::memloc::dram_memloc_desc { space: 1, ..desc };
    let mut questions = Questions::new();
    let control = dram_control {
        shared: Some(ask),
        shared_user: (&raw mut questions).cast(),
        ..sized()
    };
    let (mut id, mut plan) = (0, null_mut());
    // SAFETY: structs and outputs are locals.
    unsafe {
        ok(|e| (api().function_add_memloc)(host.function, &shared, &mut id, e));
        ok(|e| (api().function_add_memloc)(host.function, &desc, &mut id, e));
        ok(|e| (api().program_plan)(host.program, null(), &control, &mut plan, e));
        (api().plan_free)(plan);
    }
    questions.dedup();
    assert_eq!(questions, [(0, "main".to_owned(), 1, 7)]);
}

/// Frees everything in the middle of a run that uses it.
unsafe extern "C" fn free_all(user: *mut c_void, progress: *const dram_progress) {
    // SAFETY: the test hands over a `Host`; the struct is readable.
    let (host, progress) = unsafe { (&*user.cast::<Host>(), &*progress) };
    assert_eq!(progress.struct_size, size_of::<dram_progress>());
    // SAFETY: any handle may be given.
    unsafe { (api().context_free)(host.context) };
}

#[test]
fn a_callback_may_even_free_what_the_call_works_on() {
    let host = Host::new();
    let (a, b) = (host.memloc("a", 4096), host.memloc("b", 4096));
    host.instruction(&[], &[a]);
    host.instruction(&[a], &[b]);
    let control = dram_control {
        progress: Some(free_all),
        progress_user: (&raw const host).cast_mut().cast(),
        ..sized()
    };
    let mut plan = null_mut();
    // SAFETY: the structs and the output are locals.
    ok(|e| unsafe { (api().program_plan)(host.program, null(), &control, &mut plan, e) });
    // SAFETY: any handle may be given.
    unsafe { assert_eq!((api().plan_free)(plan), dram_status::Ok) };
}

#[test]
fn a_hint_is_a_plan_and_any_other_handle_is_refused() {
    let host = Host::new();
    let (a, b) = (host.memloc("a", 4096), host.memloc("b", 4096));
    host.instruction(&[], &[a]);
    host.instruction(&[a], &[b]);
    let hint = plan(&host);
    let mut control = dram_control { hint, ..sized() };
    let (mut again, mut moved, mut kept) = (null_mut(), 7, 0);
    // SAFETY: the structs and the outputs are locals.
    unsafe {
        ok(|e| (api().program_plan)(host.program, null(), &control, &mut again, e));
        ok(|e| (api().plan_metric)(again, dram_str::of("hint_kept"), &mut kept, e));
        ok(|e| (api().plan_metric)(again, dram_str::of("hint_moved"), &mut moved, e));
        assert_eq!((kept, moved), (2, 0));
        (api().plan_free)(again);
        (api().plan_free)(hint);
        for bad in [hint.cast_const(), host.program.cast_const().cast()] {
            control.hint = bad;
            let status =
                (api().program_plan)(host.program, null(), &control, &mut again, null_mut());
            assert_eq!(status, dram_status::InvalidArgument);
        }
    }
}

/// The messages that a context has logged.
type Messages = Vec<(u32, String)>;

unsafe extern "C" fn keep(user: *mut c_void, level: u32, message: dram_str) {
    // SAFETY: the test hands over `Messages`; the text is readable.
    let (messages, text) = unsafe {
        (
            &mut *user.cast::<Messages>(),
            message.read("message").expect("messages are UTF-8"),
        )
    };
    messages.push((level, text.to_owned()));
}

#[test]
fn a_plan_is_logged_at_its_level_and_nothing_below() {
    for (level, want) in [(0, 0), (1, 0), (2, 1)] {
        let host = Host::new();
        let a = host.memloc("a", 4096);
        host.instruction(&[], &[a]);
        let mut messages = Messages::new();
        let user = (&raw mut messages).cast::<c_void>();
        let mut plan = null_mut();
        // SAFETY: the callback's data outlives the host's handles.
        unsafe {
            ok(|e| (api().context_set_log)(host.context, Some(keep), user, level, e));
            ok(|e| (api().program_plan)(host.program, null(), null(), &mut plan, e));
            (api().plan_free)(plan);
        }
        assert_eq!(messages.len(), want, "{level}: {messages:?}");
    }
}

#[test]
fn a_cancelled_run_without_a_placement_says_so() {
    let mut cancel = null_mut();
    let (lower, upper, size) = ([0, 0], [1, 1], [1, 1]);
    let mut offsets = [0; 2];
    let mut result: dram_problem_result = sized();
    // SAFETY: arrays, structs and outputs are locals.
    unsafe {
        ok(|e| (api().cancel_new)(&mut cancel, e));
        ok(|e| (api().cancel_set)(cancel, e));
        let control = dram_control { cancel, ..sized() };
        let intervals: Vec<_> = lower
            .into_iter()
            .zip(upper)
            .map(|(lower, upper)| dram_interval { lower, upper })
            .collect();
        let problem = dram_problem {
            count: 2,
            intervals: intervals.as_ptr(),
            sizes: size.as_ptr(),
            ..sized()
        };
        fails(dram_status::Cancelled, |e| {
            let options = null::<dram_options>();
            let offsets = offsets.as_mut_ptr();
            (api().problem_solve)(&problem, options, &control, offsets, &mut result, e)
        });
        (api().cancel_free)(cancel);
    }
    assert_eq!(offsets, [u64::MAX; 2]);
}

/// Two locations of three quarters of a MiB that live together.
fn two_of_three_quarters() -> Host {
    const BYTES: u64 = 3 << 18;
    let host = Host::new();
    let (a, b) = (host.memloc("a", BYTES), host.memloc("b", BYTES));
    host.instruction_on(0, &[], &[a, b]);
    host.instruction_on(0, &[a, b], &[]);
    host
}

#[test]
fn what_straddles_a_runtime_page_is_listed_with_what_it_costs() {
    let host = two_of_three_quarters();
    let cost = |capacity: u64| {
        let options = dram_options {
            capacity,
            runtime_page: 1,
            ..sized()
        };
        let mut plan = null_mut();
        let mut figures = [0; 4];
        let mut list = Vec::new();
        let mut usage: dram_hbm_usage = sized();
        // SAFETY: outputs are locals; text is read before the plan is freed.
        unsafe {
            ok(|e| (api().program_plan)(host.program, &options, null(), &mut plan, e));
            let names = ["pages", "private_bytes", "unavoidable_bytes", "straddlers"];
            for (name, figure) in names.iter().zip(&mut figures) {
                let name = format!("runtime_{name}");
                ok(|e| (api().plan_metric)(plan, dram_str::of(&name), figure, e));
            }
            let get = api().plan_straddler;
            for position in 0..figures[3] as u32 {
                let mut straddler: dram_straddler = sized();
                ok(|e| get(plan, position, &mut straddler, e));
                let text = |s: dram_str| s.read("").unwrap().to_owned();
                let (function, name) = (text(straddler.function), text(straddler.name));
                list.push((function, name, straddler.bytes, straddler.pinned));
            }
            fails(dram_status::OutOfRange, |e| {
                get(plan, list.len() as u32, &mut sized(), e)
            });
            ok(|e| (api().program_hbm_usage)(host.program, plan, 0, 0, &mut usage, e));
            (api().plan_free)(plan);
        }
        (figures, list, usage.copies, usage.needed)
    };
    assert_eq!(cost(0), ([2, 0, 0, 0], vec![], 0, 7 << 18));
    let (figures, list, copies, needed) = cost(6 << 18);
    assert_eq!(figures, [2, 3 << 18, 0, 1]);
    assert_eq!((list.len(), list[0].2, list[0].3), (1, 3 << 18, 0));
    assert!(list[0].0 == "main" && ["a", "b"].contains(&list[0].1.as_str()));
    assert_eq!((copies, needed), (3 << 18, 9 << 18));
}

#[test]
fn a_raw_problem_says_what_its_runtime_pages_cost() {
    let mut options = dram_options {
        runtime_page: 1,
        ..sized()
    };
    let intervals = [dram_interval { lower: 0, upper: 2 }; 2];
    let sizes = [3 << 18; 2];
    let problem = dram_problem {
        count: 2,
        intervals: intervals.as_ptr(),
        sizes: sizes.as_ptr(),
        ..sized()
    };
    let mut offsets = [0; 2];
    let mut result: dram_problem_result = sized();
    let solve = api().problem_solve;
    let out = offsets.as_mut_ptr();
    // SAFETY: columns and outputs are locals.
    ok(|e| unsafe { solve(&problem, &options, null(), out, &mut result, e) });
    assert_eq!((result.runtime_pages, result.private_bytes), (2, 0));
    assert_eq!((result.peak, result.straddler_count), (7 << 18, 0));
    options.capacity = 6 << 18;
    // SAFETY: likewise.
    ok(|e| unsafe { solve(&problem, &options, null(), out, &mut result, e) });
    assert_eq!((result.peak, result.private_bytes), (6 << 18, 3 << 18));
    assert_eq!((result.runtime_pages, result.straddler_count), (2, 1));
}

#[test]
fn a_verification_stops_when_its_host_has_cancelled() {
    let (host, _) = chain();
    let plan = plan(&host);
    let (mut cancel, mut report) = (null_mut(), null_mut());
    // SAFETY: structs and outputs are locals; any handle may be given.
    unsafe {
        ok(|e| (api().cancel_new)(&mut cancel, e));
        let verify = api().program_verify_with;
        let control = dram_control { cancel, ..sized() };
        let watched = |deep| dram_verify_options {
            deep,
            control: &control,
            ..sized()
        };
        for deep in [0, 1] {
            let watched = watched(deep);
            // The struct as it was before the field.
            let old = dram_verify_options {
                struct_size: 16,
                deep,
                ..sized()
            };
            for options in [&watched, &old] {
                ok(|e| verify(host.program, plan, options, &mut report, e));
                assert!(!report.is_null());
                (api().report_free)(report);
            }
        }
        ok(|e| (api().cancel_set)(cancel, e));
        for deep in [0, 1] {
            let watched = watched(deep);
            report = std::ptr::dangling_mut();
            fails(dram_status::Cancelled, |e| {
                verify(host.program, plan, &watched, &mut report, e)
            });
            assert!(report.is_null(), "outputs are written");
            ok(|e| verify(host.program, plan, null(), &mut report, e));
            (api().report_free)(report);
        }
        let races = api().program_races;
        fails(dram_status::Cancelled, |e| {
            races(host.program, plan, &control, &mut report, e)
        });
        assert!(report.is_null(), "outputs are written");
        // A flag that is no more, and what never was one.
        (api().cancel_free)(cancel);
        for bad in [cancel.cast_const(), host.program.cast_const().cast()] {
            let control = dram_control {
                cancel: bad,
                ..sized()
            };
            let watched = dram_verify_options {
                control: &control,
                ..sized()
            };
            fails(dram_status::InvalidArgument, |e| {
                verify(host.program, plan, &watched, &mut report, e)
            });
            assert!(report.is_null(), "outputs are written");
        }
        // The control is a struct of some version, too.
        let control = dram_control {
            struct_size: 3,
            ..sized()
        };
        let watched = dram_verify_options {
            control: &control,
            ..sized()
        };
        fails(dram_status::InvalidArgument, |e| {
            verify(host.program, plan, &watched, &mut report, e)
        });
        (api().plan_free)(plan);
    }
}
