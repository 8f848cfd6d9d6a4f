//! The rules of the format, and what a trace says compared with its plan.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use crate::control::Control;
use crate::ir::{InstructionSpec, MemLocSpec, Space};
use crate::options::Options;
use crate::planner::plan;
use crate::testing::{self, Shape, for_each_seed};

fn trace(program: &Program, plan: &Plan) -> Value {
    let bytes = chrome_trace(program, plan).expect("the plan is of the program");
    serde_json::from_slice(&bytes).expect("a trace is JSON")
}

fn events(trace: &Value) -> &Vec<Value> {
    trace["traceEvents"].as_array().expect("there are events")
}

fn number(event: &Value, key: &str) -> u64 {
    let number = event[key].as_u64();
    number.unwrap_or_else(|| panic!("{key} of {event} is a number"))
}

fn text<'v>(event: &'v Value, key: &str) -> &'v str {
    let text = event[key].as_str();
    text.unwrap_or_else(|| panic!("{key} of {event} is text"))
}

/// A slice: first time, one past its last, and the event.
type Slice<'v> = (u64, u64, &'v Value);

/// The slices of each thread, by (process, thread) and time; the longer of two that begin together
/// comes first.
fn threads(trace: &Value) -> BTreeMap<(u64, u64), Vec<Slice<'_>>> {
    let mut threads: BTreeMap<_, Vec<Slice<'_>>> = BTreeMap::new();
    for event in events(trace).iter().filter(|e| e["ph"] == "X") {
        let (start, duration) = (number(event, "ts"), number(event, "dur"));
        let thread = (number(event, "pid"), number(event, "tid"));
        threads
            .entry(thread)
            .or_default()
            .push((start, start + duration, event));
    }
    for slices in threads.values_mut() {
        slices.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
    }
    threads
}

/// What the description of the format asks for, as far as a viewer would drop or misplace an event.
fn check_format(trace: &Value) {
    let mut named = Vec::new();
    let mut counters: BTreeMap<(u64, &str), u64> = BTreeMap::new();
    for event in events(trace) {
        assert!(
            number(event, "pid") > 0,
            "process 0 is the idle one: {event}"
        );
        assert!(!text(event, "name").is_empty() || event["ph"] == "X");
        match text(event, "ph") {
            "M" => {
                let what = text(event, "name");
                match what {
                    "process_name" | "thread_name" => assert!(event["args"]["name"].is_string()),
                    "thread_sort_index" => assert!(event["args"]["sort_index"].is_u64()),
                    other => panic!("{other} is no metadata of the format"),
                }
                named.push((what, number(event, "pid"), number(event, "tid")));
            }
            "X" => {
                assert!(event["args"].is_object() && !text(event, "cat").is_empty());
                assert!(number(event, "dur") >= 1, "{event}");
            }
            "C" => {
                let series = event["args"].as_object().expect("a counter has series");
                assert!(series.values().all(Value::is_u64), "{event}");
                let at = counters.insert(
                    (number(event, "pid"), text(event, "name")),
                    number(event, "ts"),
                );
                assert!(at.is_none_or(|at| at < number(event, "ts")), "{event}");
            }
            other => panic!("{other} is no phase that is written"),
        }
    }
    let mut once = named.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), named.len(), "nothing is named twice");
    for (&(pid, tid), slices) in &threads(trace) {
        assert!(once.contains(&("process_name", pid, 0)));
        assert!(once.contains(&("thread_name", pid, tid)));
        // Slices of a thread nest, and those of a row not even that.
        let mut open: Vec<u64> = Vec::new();
        for &(start, end, event) in slices {
            while open.last().is_some_and(|&until| until <= start) {
                open.pop();
            }
            assert!(
                open.last().is_none_or(|&until| end <= until),
                "{event} reaches out"
            );
            assert!(open.is_empty() || tid == INSTRUCTIONS, "{event} nests");
            assert!(open.len() < 2, "{event} is too deep");
            open.push(end);
        }
    }
}

/// The slices of lives.
fn lives(trace: &Value) -> impl Iterator<Item = &Value> {
    let slices = events(trace).iter().filter(|e| e["ph"] == "X");
    slices.filter(|e| number(e, "tid") != INSTRUCTIONS)
}

/// What a counter says at a time.
fn counter(trace: &Value, pid: u64, name: &str, time: u64) -> u64 {
    let events = events(trace).iter().filter(|e| e["ph"] == "C");
    let own = events.filter(|e| e["pid"] == pid && e["name"] == name);
    let before = own.take_while(|e| number(e, "ts") <= time).last();
    before.map_or(0, |e| e["args"]["bytes"].as_u64().expect("bytes"))
}

/// Bytes in at least one of the ranges, and the highest end: a naive sweep.
fn union(mut ranges: Vec<(u64, u64)>) -> (u64, u64) {
    ranges.sort_unstable();
    let (mut bytes, mut at) = (0, 0);
    for (start, end) in ranges {
        bytes += end.saturating_sub(start.max(at));
        at = at.max(end);
    }
    (bytes, at)
}

fn check_random(shape: &Shape, seeds: std::ops::Range<u64>) {
    let mut checked = 0;
    for_each_seed(seeds, |u| {
        let program = testing::program(u, shape)?;
        let options = Options {
            packed: u.arbitrary()?,
            ..Options::default()
        };
        let Ok(plan) = plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let trace = trace(&program, &plan);
        check_format(&trace);
        check_lives(&program, &plan, &trace);
        check_counters(&trace);
        checked += lives(&trace).count();
        Ok(())
    });
    assert!(checked > 100, "{checked} lives were seen");
}

/// The slices of a placed root are as long as its segments, and there are no others. Segments are cut
/// where something happens in place.
fn check_lives(program: &Program, plan: &Plan, trace: &Value) {
    let mut want = BTreeMap::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        for (function, planned) in module.functions().iter().zip(&planned.functions) {
            for (id, loc) in function.memloc_ids().zip(&planned.memlocs) {
                let Some(address) = loc.address else { continue };
                if function.memloc(id).is_view() || loc.aligned == 0 || loc.segments.is_empty() {
                    continue;
                }
                let pid = u64::from(module.core()) + 1;
                let place = (loc.name.clone(), function.name().to_owned());
                let key = (pid, loc.space.name(), place, address, loc.aligned);
                let durations = loc
                    .segments
                    .iter()
                    .map(|&(first, last)| u64::from(last - first) + 1);
                want.insert(key, durations.sum());
            }
        }
    }
    let mut got: BTreeMap<_, u64> = BTreeMap::new();
    for event in lives(trace) {
        let args = &event["args"];
        let space = Space::from_name(text(args, "space"))
            .expect("a space")
            .name();
        let place = (
            text(event, "name").to_owned(),
            text(args, "function").to_owned(),
        );
        let (address, bytes) = (number(args, "address"), number(args, "bytes_as_placed"));
        let key = (number(event, "pid"), space, place, address, bytes);
        *got.entry(key).or_default() += number(event, "dur");
    }
    assert_eq!(got, want);
}

/// Both counters, at every time, against all slices that are there then.
fn check_counters(trace: &Value) {
    let spaces = lives(trace).map(|e| (number(e, "pid"), text(&e["args"], "space")));
    let mut spaces: Vec<_> = spaces.collect();
    spaces.sort();
    spaces.dedup();
    let end = lives(trace)
        .map(|e| number(e, "ts") + number(e, "dur"))
        .max();
    for (pid, space) in spaces {
        let own = || lives(trace).filter(|e| e["pid"] == pid && e["args"]["space"] == space);
        for time in 0..=end.unwrap_or(0) {
            let there = own()
                .filter(|e| (number(e, "ts")..number(e, "ts") + number(e, "dur")).contains(&time));
            let range = |e: &Value| {
                let start = number(&e["args"], "address");
                (start, start + number(&e["args"], "bytes_as_placed"))
            };
            let want = union(there.map(range).collect());
            let load = counter(trace, pid, &format!("{space} load"), time);
            let highest = counter(trace, pid, &format!("{space} highest address"), time);
            assert_eq!((load, highest), want, "{space} of process {pid} at {time}");
        }
    }
}

#[test]
fn traces_of_random_plans_follow_the_format_and_the_plan() {
    check_random(&Shape::many_cores(), 0..120);
    check_random(&Shape::single_core(), 1000..1120);
}

#[test]
fn the_fullest_moment_has_the_highest_address_of_the_peak() {
    let shape = Shape {
        pins: false,
        ..Shape::single_core()
    };
    for_each_seed(0..60, |u| {
        let program = testing::program(u, &shape)?;
        let Ok(plan) = plan(&program, &Options::default(), &mut Control::default()) else {
            return Ok(());
        };
        let trace = trace(&program, &plan);
        for space in &plan.spaces {
            let name = format!("{} highest address", space.space.name());
            let counters = events(&trace)
                .iter()
                .filter(|e| e["ph"] == "C" && e["name"] == *name);
            let own = counters.filter(|e| space.core.is_none_or(|core| e["pid"] == core + 1));
            let highest = own.map(|e| e["args"]["bytes"].as_u64().unwrap()).max();
            assert_eq!(highest.unwrap_or(space.floor).max(space.floor), space.peak);
        }
        Ok(())
    });
}

#[test]
fn a_small_trace_reads_so() {
    let mut function = Function::new("main");
    function.add_block("");
    let bytes = |bytes| Some(crate::ir::Extent::Bytes(bytes));
    let spec = |name, size| MemLocSpec {
        name,
        extent: bytes(size),
        ..MemLocSpec::default()
    };
    let a = function.add_memloc(&spec("a", 4096)).unwrap();
    let b = function.add_memloc(&spec("b \"é\"", 100)).unwrap();
    for (op, uses, defs) in [("load", vec![], vec![a]), ("work", vec![a], vec![b])] {
        let uses: Vec<_> = uses.into_iter().map(Into::into).collect();
        let defs: Vec<_> = defs.into_iter().map(Into::into).collect();
        function
            .add_instruction(&InstructionSpec {
                op,
                uses: &uses,
                defs: &defs,
                ..InstructionSpec::default()
            })
            .unwrap();
    }
    let mut module = Module::new("m0", 0);
    module.add_function(function).unwrap();
    let mut program = Program::new("p");
    program.add_module(module).unwrap();
    let plan = plan(&program, &Options::default(), &mut Control::default()).unwrap();
    let bytes = chrome_trace(&program, &plan).unwrap();
    let want = r#"{"displayTimeUnit":"ns","otherData":{"program":"p","time":"one microsecond is one instruction","strategy":"fast","status":"optimal","peak":8192,"lower_bound":8192},"traceEvents":[
  {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"core 0 (m0)"}},
  {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"instructions"}},
  {"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":1}},
  {"ph":"X","name":"main","pid":1,"cat":"function","tid":1,"ts":0,"dur":2,"args":{"instructions":2,"locations":2}},
  {"ph":"X","name":"load","pid":1,"cat":"instruction","tid":1,"ts":0,"dur":1,"args":{"index":0,"op":"load","kind":"compute","engine":0}},
  {"ph":"X","name":"work","pid":1,"cat":"instruction","tid":1,"ts":1,"dur":1,"args":{"index":1,"op":"work","kind":"compute","engine":0}},
  {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"local 1"}},
  {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":2}},
  {"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"local 2"}},
  {"ph":"M","name":"thread_sort_index","pid":1,"tid":3,"args":{"sort_index":3}},
"#;
    let got = String::from_utf8(bytes).unwrap();
    assert!(got.starts_with(want), "{got}");
    let trace = trace(&program, &plan);
    check_format(&trace);
    let b = lives(&trace)
        .find(|e| e["name"] == "b \"é\"")
        .expect("b is there");
    assert_eq!((number(b, "ts"), number(b, "dur")), (1, 1));
    assert_eq!(
        (
            number(&b["args"], "bytes"),
            number(&b["args"], "bytes_as_placed")
        ),
        (100, 4096)
    );
}

#[test]
fn a_plan_of_another_program_is_refused() {
    let plan = Plan::default();
    let mut program = Program::new("p");
    program.add_module(Module::new("m0", 0)).unwrap();
    let refused = chrome_trace(&program, &plan).unwrap_err();
    assert!(
        refused.to_string().contains("not of this program"),
        "{refused}"
    );
}
