//! Snapshots read back by a small unpickler, and replayed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::*;
use crate::control::Control;
use crate::ir::{Extent, InstructionSpec, MemLocSpec};
use crate::options::Options;
use crate::planner::plan;
use crate::testing::{self, Shape, for_each_seed};

/// Reads the instructions that the writer knows, as strictly as a stack machine allows.
fn unpickle(bytes: &[u8]) -> Value {
    let mut at = 0;
    let mut take = |count: usize| {
        at += count;
        &bytes[at - count..at]
    };
    let little = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0u128, |n, &b| n << 8 | u128::from(b))
    };
    assert_eq!(take(2), [0x80, 2], "protocol 2");
    let (mut stack, mut marks, mut memo) = (Vec::<Value>::new(), Vec::new(), BTreeMap::new());
    let number = |n: u128| Value::from(u64::try_from(n).expect("no more than 64 bits"));
    loop {
        match take(1)[0] {
            b'}' => stack.push(Value::Object(Map::new())),
            b']' => stack.push(Value::Array(Vec::new())),
            b'(' => marks.push(stack.len()),
            b'u' => {
                let items = stack.split_off(marks.pop().expect("a mark"));
                let dict = stack
                    .last_mut()
                    .and_then(Value::as_object_mut)
                    .expect("a dict");
                for pair in items.chunks(2) {
                    let [key, value] = pair else {
                        panic!("a key without a value")
                    };
                    let old = dict.insert(key.as_str().expect("a text").to_owned(), value.clone());
                    assert_eq!(old, None, "{key} stands twice");
                }
            }
            b'e' => {
                let items = stack.split_off(marks.pop().expect("a mark"));
                assert!((1..=1000).contains(&items.len()));
                let list = stack
                    .last_mut()
                    .and_then(Value::as_array_mut)
                    .expect("a list");
                list.extend(items);
            }
            b'K' => stack.push(number(little(take(1)))),
            b'M' => stack.push(number(little(take(2)))),
            b'J' => {
                let n = i32::from_le_bytes(take(4).try_into().unwrap());
                stack.push(number(n.try_into().expect("no number is negative")));
            }
            0x8a => {
                let length = take(1)[0].into();
                let bytes = take(length);
                assert!(
                    bytes.last().is_some_and(|&b| b < 0x80),
                    "no number is negative"
                );
                stack.push(number(little(bytes)));
            }
            b'X' => {
                let length = little(take(4)) as usize;
                stack.push(
                    String::from_utf8(take(length).to_vec())
                        .expect("UTF-8")
                        .into(),
                );
            }
            0x86 => {
                let pair = stack.split_off(stack.len() - 2);
                stack.push(Value::Array(pair));
            }
            0x88 => stack.push(true.into()),
            0x89 => stack.push(false.into()),
            b'q' => {
                let place = little(take(1));
                memo.insert(place, stack.last().expect("a value").clone());
            }
            b'r' => {
                let place = little(take(4));
                memo.insert(place, stack.last().expect("a value").clone());
            }
            b'h' => stack.push(memo[&little(take(1))].clone()),
            b'j' => stack.push(memo[&little(take(4))].clone()),
            b'.' => break,
            other => panic!("{other:#x} is no instruction of the writer"),
        }
    }
    assert_eq!(at, bytes.len(), "nothing follows the end");
    assert!(marks.is_empty() && stack.len() == 1);
    stack.pop().expect("one value")
}

fn number(value: &Value, key: &str) -> u64 {
    let number = value[key].as_u64();
    number.unwrap_or_else(|| panic!("{key} of {value} is a number"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    let list = value[key].as_array();
    list.unwrap_or_else(|| panic!("{key} of {value} is a list"))
}

#[test]
fn numbers_texts_and_long_lists_come_back() {
    let numbers = [
        0,
        1,
        0xff,
        0x100,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        (1 << 39) - 1,
        1 << 39,
        (1 << 63) - 1,
        1 << 63,
        u64::MAX,
    ];
    let mut out = Pickler::new();
    out.dict(|out| {
        out.key("numbers");
        out.list(numbers, |out, n| out.number(n));
        out.key("long");
        out.list(0..2500u64, |out, n| out.number(n));
        out.key("names"); // More than one byte counts.
        out.list(0..600u64, |out, n| out.text(&format!("é{}", n % 300)));
        out.key("none");
        out.list([(); 0], |_, ()| ());
        out.key("a pair");
        out.pair(1, 2);
        out.key("again");
        out.list([0, 1], |out, i| match i {
            0 => out.bool(true),
            _ => out.text("é7"),
        });
    });
    let got = unpickle(&out.finish());
    assert_eq!(got["numbers"], Value::from(numbers.to_vec()));
    assert_eq!(got["long"], Value::from((0..2500u64).collect::<Vec<_>>()));
    let names: Vec<String> = (0..600).map(|n| format!("é{}", n % 300)).collect();
    assert_eq!(got["names"], Value::from(names));
    assert_eq!(
        (&got["none"], &got["a pair"]),
        (&serde_json::json!([]), &serde_json::json!([1, 2]))
    );
    assert_eq!(got["again"], serde_json::json!([true, "é7"]));
}

/// Replays a device's trace, as strictly as an allocator would: no two blocks overlap, what is freed
/// is there. What is left is what the segment says.
fn replay(snapshot: &Value, device: usize) -> u64 {
    let segments = list(snapshot, "segments").iter();
    let mut own = segments.filter(|s| number(s, "device") == device as u64);
    let (Some(segment), None) = (own.next(), own.next()) else {
        panic!("a device has one segment")
    };
    let (base, size) = (number(segment, "address"), number(segment, "total_size"));
    let trace = snapshot["device_traces"][device]
        .as_array()
        .expect("a trace");
    let [first, events @ ..] = &trace[..] else {
        panic!("a trace begins with its segment")
    };
    assert_eq!((number(first, "addr"), number(first, "size")), (base, size));
    assert_eq!(
        (&first["action"], &first["category"]),
        (&"segment_alloc".into(), &"unknown".into())
    );
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut highest, mut time, mut requested) = (0, 0, None);
    for event in events {
        let (start, size) = (number(event, "addr"), number(event, "size"));
        assert!(number(event, "time_us") >= time, "{event}");
        time = number(event, "time_us");
        for frame in list(event, "frames") {
            assert!(frame["name"].is_string() && frame["filename"].is_string());
            assert!(frame["line"].is_u64());
        }
        assert!(crate::ir::Usage::from_name(event["category"].as_str().unwrap()).is_some());
        // Viewers join the two events of a free that stand side by side.
        if let Some(requested) = requested.take() {
            assert_eq!(
                (&event["action"], start),
                (&"free_completed".into(), requested)
            );
        }
        match event["action"].as_str().expect("a text") {
            "alloc" => {
                let below = live.range(..start + size).next_back();
                assert!(
                    below.is_none_or(|(&at, &bytes)| at + bytes <= start),
                    "{event}"
                );
                live.insert(start, size);
                highest = highest.max(start + size);
            }
            "free_requested" => {
                assert_eq!(live.get(&start), Some(&size), "{event}");
                requested = Some(start);
            }
            "free_completed" => assert_eq!(live.remove(&start), Some(size), "{event}"),
            other => panic!("{other} is no action"),
        }
    }
    let (mut at, mut left) = (base, BTreeMap::new());
    for block in list(segment, "blocks") {
        assert_eq!(number(block, "address"), at, "blocks stand side by side");
        at += number(block, "size");
        assert!(number(block, "requested_size") <= number(block, "size"));
        if block["state"] == "active_allocated" {
            left.insert(number(block, "address"), number(block, "size"));
        } else {
            assert_eq!(block["state"], "inactive");
        }
    }
    assert_eq!((at, &left), (base + size, &live));
    assert_eq!(
        number(segment, "allocated_size"),
        live.values().sum::<u64>()
    );
    highest
}

fn snapshot(program: &Program, plan: &Plan) -> Value {
    unpickle(&memory_snapshot(program, plan).expect("the plan is of the program"))
}

fn check_random(shape: &Shape, seeds: std::ops::Range<u64>) {
    let mut allocated = 0;
    for_each_seed(seeds, |u| {
        let program = testing::program(u, shape)?;
        let options = Options {
            packed: u.arbitrary()?,
            ..Options::default()
        };
        let Ok(plan) = plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let snapshot = snapshot(&program, &plan);
        let traces = list(&snapshot, "device_traces");
        allocated += traces
            .iter()
            .map(|t| t.as_array().unwrap().len())
            .sum::<usize>();
        let ends: Vec<u64> = (0..traces.len()).map(|d| replay(&snapshot, d)).collect();
        // Without pins the highest byte is the peak, of whichever space has it.
        if !shape.pins {
            let peaks = plan
                .spaces
                .iter()
                .filter(|s| s.peak > s.floor)
                .map(|s| s.peak);
            assert_eq!(ends.iter().max().copied(), peaks.max());
        }
        Ok(())
    });
    assert!(allocated > 1000, "{allocated} events were seen");
}

#[test]
fn replayed_snapshots_of_random_plans_overlap_nowhere_and_reach_the_peak() {
    check_random(&Shape::many_cores(), 0..150);
    let no_pins = Shape {
        pins: false,
        ..Shape::many_cores()
    };
    check_random(&no_pins, 1000..1150);
}

/// `load`, then `work` in place of what it reads, then `keep`, an output at a pin.
fn in_place() -> (Program, Plan) {
    let mut function = Function::new("main");
    function.add_block("");
    let mut add = |name, usage, address| {
        let extent = Some(Extent::Bytes(8192));
        let spec = MemLocSpec {
            name,
            extent,
            usage,
            address,
            ..MemLocSpec::default()
        };
        function.add_memloc(&spec).unwrap()
    };
    let a = add("a", crate::ir::Usage::Internal, None);
    let b = add("b", crate::ir::Usage::Internal, None);
    let o = add("o", crate::ir::Usage::Output, Some(0));
    for (op, uses, defs, in_place) in [
        ("load", vec![], vec![a], vec![]),
        ("work", vec![a], vec![b], vec![(a, b)]),
        ("keep", vec![b], vec![o], vec![]),
    ] {
        let uses: Vec<_> = uses.into_iter().map(Into::into).collect();
        let defs: Vec<_> = defs.into_iter().map(Into::into).collect();
        let spec = InstructionSpec {
            op,
            uses: &uses,
            defs: &defs,
            in_place: &in_place,
            ..InstructionSpec::default()
        };
        function.add_instruction(&spec).unwrap();
    }
    let mut module = Module::new("m0", 0);
    module.add_function(function).unwrap();
    let mut program = Program::new("p");
    program.add_module(module).unwrap();
    let plan = plan(&program, &Options::default(), &mut Control::default()).unwrap();
    (program, plan)
}

#[test]
fn bytes_taken_over_in_place_are_freed_first_and_what_lives_on_stays() {
    let (program, plan) = in_place();
    let snapshot = snapshot(&program, &plan);
    assert_eq!(replay(&snapshot, 0), 16384);
    let steps = snapshot["device_traces"][0].as_array().unwrap().iter();
    let steps = steps.map(|e| {
        (
            e["action"].as_str().unwrap(),
            number(e, "addr"),
            number(e, "time_us"),
        )
    });
    let want = [
        ("segment_alloc", 0, 0),
        ("alloc", 0, 0),
        ("alloc", 8192, 0),
        ("free_requested", 8192, 1),
        ("free_completed", 8192, 1),
        ("alloc", 8192, 1),
    ];
    assert_eq!(steps.collect::<Vec<_>>(), want);
    let blocks = list(&snapshot["segments"][0], "blocks");
    let states = blocks
        .iter()
        .map(|b| (number(b, "address"), b["state"].as_str().unwrap()));
    let want = [(0, "active_allocated"), (8192, "active_allocated")];
    assert_eq!(states.collect::<Vec<_>>(), want);
    let frames = list(&snapshot["device_traces"][0][3], "frames");
    assert_eq!(
        (&frames[0]["name"], &frames[1]["name"]),
        (&"a".into(), &"work".into())
    );
}
