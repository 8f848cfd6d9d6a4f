//! Dumps that XLA has written, and some that it would not.

use super::*;
use crate::control::Control;
use crate::format::{CsvFile, function_to_csv};
use crate::ir::Space;
use crate::liveness::liveness;
use crate::options::{Floor, Options};
use crate::plan::Plan;
use crate::planner::{plan, plan_with_addresses};
use crate::raw::solve_raw;
use crate::verify::{verify, verify_raw};

macro_rules! dump {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!(
                "../../../tests/data/xla/",
                $name,
                "-buffer-assignment.txt"
            )),
            include_str!(concat!(
                "../../../tests/data/xla/",
                $name,
                "-live-range.txt"
            )),
            include_str!(concat!(
                "../../../tests/data/xla/",
                $name,
                "-buffer-assignment-values.txt"
            )),
        )
    };
}

/// Name, assignment, live ranges, values.
const DUMPS: [(&str, &str, &str, &str); 4] = [
    dump!("mlp_train_step"),
    dump!("attention_scan"),
    dump!("attention_grad"),
    dump!("convnet"),
];

fn read(text: &str) -> XlaImport {
    read_xla(&[("", text.as_bytes())], "p").unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> String {
    let error = read_xla(&[("", text.as_bytes())], "p")
        .expect_err(text)
        .to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

fn options(import: &XlaImport) -> Options {
    Options {
        packed: true,
        align: Some(import.align),
        ..Options::default()
    }
}

/// XLA's plan.
fn theirs(import: &XlaImport) -> Plan {
    let address = |_: usize, id: MemLocId| import.addresses[id.index()];
    plan_with_addresses(
        &import.program,
        &options(import),
        &address,
        &mut Control::default(),
    )
    .unwrap_or_else(|e| panic!("{e}"))
}

/// Ranges of bytes, joined where they touch.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

#[test]
fn the_parts_of_a_dump_come_in_any_order() {
    for (name, assignment, ranges, values) in DUMPS {
        let parts = [assignment, ranges, values];
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let imports = orders.map(|order| {
            let text: String = order.iter().map(|&part: &usize| parts[part]).collect();
            assert!(
                is_xla_dump(text.as_bytes()),
                "{name} in the order {order:?}"
            );
            let import = read_xla(&[("", text.as_bytes())], name).expect("nothing is missing");
            (
                import.program.modules()[0].functions()[0].memlocs().len(),
                import.addresses,
            )
        });
        assert!(imports.iter().all(|import| *import == imports[0]), "{name}");
    }
}

#[test]
fn the_heap_of_every_dump_is_reproduced_to_the_byte() {
    for (name, assignment, ranges, values) in DUMPS {
        // The size, without our own reader.
        let line = assignment
            .lines()
            .find(|line| line.ends_with(", preallocated-temp:"));
        let line = line
            .and_then(|line| line.split_once(": size "))
            .expect("there is a heap");
        let heap: u64 = line.1.split(',').next().unwrap().parse().unwrap();
        let import = read(&[assignment, ranges, values].concat());
        let plan = theirs(&import);
        assert_eq!((import.heap, plan.peak), (heap, heap), "{name}");
        // Exact bytes in a program keep small locations off page ends, which XLA does not.
        let wrong = verify(&import.program, &plan)
            .into_iter()
            .filter(|v| v.kind != "straddles_page");
        assert_eq!(wrong.collect::<Vec<_>>(), [], "{name}");
        // Without who reads what, a loop's state may become several locations at one address.
        let without = read(&[assignment, ranges].concat());
        assert_eq!(theirs(&without).peak, heap, "{name}");
    }
}

#[test]
fn at_every_time_the_bytes_taken_are_those_of_xlas_values() {
    for (name, assignment, ranges, values) in DUMPS {
        let text = [values, ranges, assignment].concat(); // In another order.
        let dump = Dump::read(&[("", text.as_bytes())]).unwrap();
        let plan = theirs(&read(&text));
        for time in 0..=dump.sequence.len() as u64 {
            let alive = |name: &str| {
                dump.ranges
                    .iter()
                    .any(|r| r.name == name && r.first <= time && time <= r.last)
            };
            let heap =
                |v: &&text::Value<'_>| dump.allocations[v.allocation].kind == Kind::Temporary;
            let want = dump.values.iter().filter(heap).filter(|v| alive(&v.name));
            let want = joined(want.map(|v| (v.offset, v.offset + v.size)).collect());
            let live = |l: &&crate::plan::MemLocPlan| {
                l.segments
                    .iter()
                    .any(|&(a, b)| (u64::from(a)..=u64::from(b)).contains(&time))
            };
            let got = plan.modules[0].functions[0].memlocs.iter().filter(live);
            let got = got.filter_map(|l| l.address.map(|at| (at, at + l.bytes)));
            assert_eq!(joined(got.collect()), want, "{name} at {time}");
        }
    }
}

#[test]
fn rows_of_every_dump_verify_with_xlas_offsets_and_need_no_more_with_ours() {
    for (name, assignment, ranges, values) in DUMPS {
        let import = read(&[assignment, ranges, values].concat());
        let function = &import.program.modules()[0].functions()[0];
        let rows = function_to_csv(function, &liveness(function).lives);
        let file = CsvFile::read(rows.csv.as_bytes()).unwrap();
        let theirs: Vec<u64> = import.addresses.iter().copied().flatten().collect();
        let options = Options {
            floor: Floor::Holes,
            ..Options::default()
        };
        assert_eq!(verify_raw(file.problem(), &options, &theirs), [], "{name}");
        let ours = solve_raw(file.problem(), &options, &mut Control::default()).unwrap();
        assert!(
            ours.peak <= import.heap,
            "{name}: {} and {}",
            ours.peak,
            import.heap
        );
        // As a program, too.
        let ours = plan(
            &import.program,
            &self::options(&import),
            &mut Control::default(),
        )
        .unwrap();
        assert!(
            ours.peak <= import.heap,
            "{name}: {} and {}",
            ours.peak,
            import.heap
        );
        assert_eq!(verify(&import.program, &ours), [], "{name}");
    }
}

/// A loop whose state `s` is one buffer with a hole, an update in place, and two heaps.
const SMALL: &str = "\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16], constant| at ShapeIndex {}:
 value: <0 p @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 8, output shape is |f32[2]|, maybe-live-out:
 value: <9 out @0> (size=8,offset=0): f32[2]{0}
allocation 2: size 4, thread-local:
 value: <8 add.1 @0> (size=4,offset=0): f32[]
allocation 3: size 192, preallocated-temp:
 value: <1 init{0} @0> (size=64,offset=128): f32[16]{0}
 value: <2 body{0} (phi) @0> (size=64,offset=128): f32[16]{0}
 value: <3 next @0> (size=64,offset=128): f32[16]{0}
 value: <4 while{0} (phi) @0> (size=64,offset=128): f32[16]{0}
 value: <5 mul @0> (size=64,offset=64): f32[16]{0}
 value: <6 neg @0> (size=64,offset=64): f32[16]{0}
allocation 4: size 100, preallocated-temp:
 value: <7 sum @0> (size=100,offset=0): f32[25]{0}
allocation 5: size 32, color 1, preallocated-temp:
 value: <10 fast @1> (size=32,offset=0): f32[8]{0}
HloLiveRange (max 9):
  InstructionSequence:
    0:p
    1:init
    2:body
    3:mul
    4:neg
    5:next
    6:while
    7:sum
    8:out
  BufferLiveRange:
    p{}:0-9
    init{0}:1-2
    body{0}:2-3
    mul{}:3-4
    neg{}:4-5
    next{}:5-6
    while{0}:6-7
    sum{}:7-8
    fast{}:7-8
    out{}:8-9
  Live ranges at 5 (peak):
    next: 64 bytes
Used values:
<3 next @0>
 positions:
  next
  tuple.1 {0}
 uses:
  tuple.1, operand 0
 from instruction: %next = f32[16]{0} negate(%neg)
<5 mul @0>
 positions:
  mul
 uses:
  neg, operand 0
 from instruction: %mul = f32[16]{0} multiply(%x, %x)
";

#[test]
fn loops_and_updates_in_place_are_one_buffer() {
    let import = read(SMALL);
    let function = &import.program.modules()[0].functions()[0];
    let names: Vec<&str> = function
        .memloc_ids()
        .map(|id| function.memloc_name(id))
        .collect();
    assert_eq!(names, ["p", "out", "mul", "init{0}", "sum"]);
    assert_eq!(
        import.addresses,
        [None, None, Some(64), Some(128), Some(192)]
    );
    assert_eq!((import.align, import.heap), (64, 292)); // One heap above the other.
    let plan = theirs(&import);
    let segments = |i: usize| plan.modules[0].functions[0].memlocs[i].segments.clone();
    assert_eq!(segments(2), [(3, 5)]);
    assert_eq!(segments(3), [(1, 3), (5, 7)]); // The state is not needed while the next is made.
    assert_eq!(segments(4), [(7, 8)]);
    assert_eq!((plan.peak, verify(&import.program, &plan)), (292, vec![]));
    assert!(plan.spaces.iter().all(|s| s.space == Space::Local));
    let notes = import.notes.join("; ");
    for part in ["1 thread-local", "1 allocations of other", "2 heaps"] {
        assert!(notes.contains(part), "{part} is not in {notes}");
    }
    // The last instruction is not XLA's; what XLA's are called is kept.
    let last = &function.instructions()[9];
    assert_eq!(function.symbol(last.op), "end");
    assert_eq!(opcode("copy.12"), "copy");
    assert_eq!(opcode("wrapped_add"), "wrapped_add");
}

#[test]
fn a_mistake_of_xlas_is_found() {
    // `neg` begins before `mul` ends: the verifier has to see two locations on common bytes.
    let text = SMALL.replace("    mul{}:3-4\n", "    mul{}:3-5\n");
    let import = read(&text);
    let found = verify(&import.program, &theirs(&import));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, "overlap", "{found:?}");
}

#[test]
fn what_is_cut_short_or_foreign_is_refused_with_its_line() {
    for (what, with, wanted) in [
        (
            "allocation 0: size 64, parameter 0",
            "allocation 0: size 64, guessed",
            "line 2: this is no allocation",
        ),
        (
            "size=64,offset=128): f32[16]{0}\n value: <3",
            "size=64,offset=\n value: <3",
            "line 10: this is no value",
        ),
        ("(max 9)", "(max x)", "this is no end of time"),
        (
            "(max 9)",
            "(max 10)",
            "ends at 10, and its sequence has 9 instructions",
        ),
        ("    3:mul\n", "", "this is not the next instruction"),
        ("mul{}:3-4", "mul{}:4-3", "this is no live range"),
        ("mul{}:3-4", "mul{}:3-40", "mul{} lives past the end, 9"),
        ("mul{}:3-4", "mul{}:3", "this is no live range"),
        (
            "    mul{}:3-4\n    neg{}:4-5\n",
            "",
            "mul has no live range",
        ),
        (
            " value: <5 mul @0> (size=64,offset=64): f32[16]{0}\n",
            "",
            "no allocation holds mul{}",
        ),
        (
            "offset=128): f32[16]{0}\n value: <2",
            "offset=256): f32[16]{0}\n value: <2",
            "ends past the 192 bytes of allocation 3",
        ),
        (
            "HloLiveRange (max 9):",
            "HloLiveRange:",
            "line 19: this is no value",
        ),
        (
            "  tuple.1, operand 0\n",
            "  tuple.1\n",
            "this is no use of a value",
        ),
    ] {
        assert!(SMALL.contains(what), "{what}");
        let error = refused(&SMALL.replace(what, with));
        assert!(error.contains(wanted), "{wanted:?} is not in {error:?}");
    }
    assert!(refused("HloLiveRange (max 0):\n").contains("there is no allocation"));
    for text in ["", "{}", "id,lower,upper,size\n", "HloModule jit_f\n"] {
        assert!(!is_xla_dump(text.as_bytes()), "{text}");
    }
    for (_, assignment, ranges, _) in DUMPS {
        assert!(
            [assignment, ranges]
                .iter()
                .all(|text| is_xla_dump(text.as_bytes()))
        );
        assert!(
            !has_xla_live_ranges(assignment.as_bytes()) && has_xla_live_ranges(ranges.as_bytes())
        );
        assert!(refused(assignment).contains("-live-range.txt"));
        // Of several texts, a line is one of its own text.
        let broken = ranges.replace("BufferLiveRange:\n", "BufferLiveRange:\n    x\n");
        let texts: [(&str, &[u8]); 2] = [("", assignment.as_bytes()), ("b", broken.as_bytes())];
        let line = 2 + ranges
            .lines()
            .take_while(|l| !l.contains("BufferLiveRange"))
            .count();
        let error = read_xla(&texts, "p").unwrap_err().to_string();
        assert!(
            error.contains(&format!("b: line {line}: this is no live range")),
            "{error}"
        );
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    crate::testing::for_each_seed(0..300, |u| {
        let mut text = SMALL.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.int_in_range(0..=text.len())?;
            let end = (at + u.int_in_range(0..=12)?).min(text.len());
            let parts: [&[u8]; 8] = [
                b"",
                b"\n",
                b"{",
                b"18446744073709551615",
                b"> (size=",
                b":",
                b"-",
                b"<1 x @0>",
            ];
            text.splice(at..end, u.choose(&parts)?.iter().copied());
        }
        if let Ok(import) = read_xla(&[("", &text)], "p") {
            let address = |_: usize, id: MemLocId| import.addresses[id.index()];
            let plan = plan_with_addresses(
                &import.program,
                &options(&import),
                &address,
                &mut Control::default(),
            );
            let _found = plan.map(|plan| verify(&import.program, &plan));
        }
        Ok(())
    });
}
