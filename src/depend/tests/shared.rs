//! Races and overlaps between cores, from programs and their plans. // D3, M4

use crate::depend::across_cores;
use crate::format::read_program;
use crate::ir::Program;
use crate::options::Options;
use crate::plan::Plan;
use crate::testing::{Shape, for_each_seed, program};

/// Two cores, two shared locations; the rest is each core's code.
fn two_cores(codes: [&str; 2], callees: [&str; 2]) -> Program {
    let module = |core: usize| {
        let memlocs = r#"[{"name":"s","bytes":8192,"space":"shared"},
            {"name":"t","bytes":8192,"space":"shared"}]"#;
        let function = |name: &str, code: &str| {
            format!(r#"{{"name":"{name}","memlocs":{memlocs},"instructions":[{code}]}}"#)
        };
        let mut functions = function("main", codes[core]);
        if !callees[core].is_empty() {
            functions = format!("{functions},{}", function("f", callees[core]));
        }
        format!(r#"{{"name":"m{core}","core":{core},"functions":[{functions}]}}"#)
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"two","cores":2,
            "modules":[{},{}]}}"#,
        module(0),
        module(1)
    );
    read_program(text.as_bytes()).expect("a valid program")
}

fn planned(program: &Program) -> Plan {
    crate::plan(program, &Options::default(), &mut Default::default()).expect("it fits")
}

/// The name of the group, the cores and instructions, and the epoch of a race.
type Short = (String, [(u32, u32); 2], u32);

fn races(program: &Program) -> Vec<Short> {
    let races = across_cores(program, &planned(program), &Options::default(), None);
    let races = races.expect("the plan keeps groups apart");
    let short = |(name, race): (String, crate::depend::Race)| {
        let sites = race
            .accesses
            .each_ref()
            .map(|a| (a.site.core, a.site.index));
        (name, sites, race.epoch)
    };
    races.into_iter().map(short).collect()
}

const BARRIER: &str = r#"{"op":"sync","kind":"barrier","id":0}"#;
const READ: &str = r#"{"op":"read","uses":["s"]}"#;
const WRITE: &str = r#"{"op":"write","defs":["s"]}"#;
const CALL: &str = r#"{"op":"call","kind":"call","callee":"f"}"#;

#[test]
fn cores_race_iff_no_barrier_parts_them() {
    let apart = [format!("{WRITE},{BARRIER}"), format!("{BARRIER},{READ}")];
    assert_eq!(races(&two_cores([&apart[0], &apart[1]], ["", ""])), []);
    let late = [
        format!("{WRITE},{BARRIER},{WRITE}"),
        format!("{BARRIER},{READ}"),
    ];
    let want = [("s".to_owned(), [(0, 2), (1, 1)], 1)];
    assert_eq!(races(&two_cores([&late[0], &late[1]], ["", ""])), want);
    assert_eq!(races(&two_cores([READ, READ], ["", ""])), []);
}

#[test]
fn cores_that_share_out_the_bytes_do_not_race() {
    let half = |offset: u32| {
        format!(r#"{{"op":"write","defs":[{{"loc":"s","offset":{offset},"bytes":4096}}]}}"#)
    };
    assert_eq!(races(&two_cores([&half(0), &half(4096)], ["", ""])), []);
    let want = [("s".to_owned(), [(0, 0), (1, 0)], 0)];
    assert_eq!(races(&two_cores([&half(0), &half(4095)], ["", ""])), want);
}

#[test]
fn a_callee_runs_in_the_epoch_of_each_call() {
    // Core 1's callee reads what core 0's callee writes; both are called after the barrier.
    let main = format!("{BARRIER},{CALL}");
    let want = [("s".to_owned(), [(0, 0), (1, 0)], 1)];
    assert_eq!(races(&two_cores([&main, &main], [WRITE, READ])), want);
    let before = format!("{CALL},{BARRIER}");
    assert_eq!(races(&two_cores([&before, &main], [WRITE, READ])), []);
    // Called twice, it runs in both epochs.
    let twice = format!("{CALL},{BARRIER},{CALL}");
    assert_eq!(races(&two_cores([&twice, &main], [WRITE, READ])), want);
    // The callees' own barrier parts them.
    let inside = [format!("{WRITE},{BARRIER}"), format!("{BARRIER},{READ}")];
    assert_eq!(
        races(&two_cores([CALL, CALL], [&inside[0], &inside[1]])),
        []
    );
}

#[test]
fn a_race_names_both_sides() {
    let program = two_cores([WRITE, READ], ["", ""]);
    let races = across_cores(&program, &planned(&program), &Options::default(), None);
    let (name, race) = &races.expect("no overlap")[0];
    assert_eq!(name, "s");
    assert_eq!(
        race.to_string(),
        "core 0, function main, instruction 0 writes and core 1, function main, instruction 0 \
         reads bytes 0 to 8192 in epoch 0; no barrier orders them"
    );
}

#[test]
fn two_groups_on_common_bytes_in_one_epoch_are_an_error() {
    let both = r#"{"op":"read","uses":["s","t"]}"#;
    let program = two_cores([both, both], ["", ""]);
    let mut plan = planned(&program);
    assert!(across_cores(&program, &plan, &Options::default(), None).is_ok());
    let s = plan.modules[0].functions[0].memlocs[0].address;
    for module in &mut plan.modules {
        module.functions[0].memlocs[1].address = s;
    }
    let error = across_cores(&program, &plan, &Options::default(), None);
    let message = error.expect_err("s and t share bytes").to_string();
    let s = s.expect("it is placed");
    let at = format!("at {s} to {}", s + 8192);
    assert!(
        message.contains(&format!("s {at} and t {at} share bytes")),
        "{message}"
    );
}

#[test]
fn plans_keep_groups_apart() {
    let shape = Shape::many_cores();
    for_each_seed(0..300, |u| {
        let program = program(u, &shape)?;
        let options = Options::default();
        if let Ok(plan) = crate::plan(&program, &options, &mut Default::default()) {
            across_cores(&program, &plan, &options, None).expect("groups lie apart");
        }
        Ok(())
    });
}
