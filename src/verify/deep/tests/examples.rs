//! Each way to go wrong, once.

use super::right::{planned, with_edges};
use crate::format::read_program;
use crate::ir::Program;
use crate::options::{Floor, Options};
use crate::plan::{Dependence, Plan};
use crate::verify::deep::{Deep, verify_deep};
use crate::verify::verify;

/// A program of one core: functions as JSON.
fn program(functions: &str) -> Program {
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"p","modules":[
            {{"name":"m","core":0,"functions":[{functions}]}}]}}"#
    );
    read_program(text.as_bytes()).expect("a valid program")
}

/// A function of straight code with locations of one page each.
fn main_of(names: &[&str], code: &str) -> Program {
    let named = |name: &&str| format!(r#"{{"name":"{name}","bytes":4096}}"#);
    let memlocs: Vec<String> = names.iter().map(named).collect();
    let memlocs = memlocs.join(",");
    program(&format!(
        r#"{{"name":"main","memlocs":[{memlocs}],"instructions":[{code}]}}"#
    ))
}

fn plan(program: &Program) -> Plan {
    let plan = planned(program, &Options::default()).expect("it fits");
    let deep = verify_deep(program, &plan, None);
    assert_eq!(deep.violations, [], "right before it is broken");
    plan
}

/// Moves a location of the first core's function onto another.
fn onto(plan: &mut Plan, function: usize, moved: usize, onto: (usize, usize)) {
    let functions = &mut plan.modules[0].functions;
    let address = functions[onto.0].memlocs[onto.1].address;
    functions[function].memlocs[moved].address = address;
}

fn kinds(deep: &Deep) -> Vec<&'static str> {
    deep.violations.iter().map(|v| v.kind).collect()
}

const WORK: &str = r#"{"op":"a","defs":["a"]},{"op":"b","defs":["b"]},{"op":"use","uses":["a"]},
    {"op":"use","uses":["b"]}"#;

#[test]
fn a_value_that_is_overwritten_before_it_is_read_is_named_with_its_writer() {
    let program = main_of(&["a", "b"], WORK);
    let mut plan = plan(&program);
    onto(&mut plan, 0, 1, (0, 0));
    let deep = verify_deep(&program, &plan, None);
    assert_eq!(kinds(&deep), ["wrong_value"]);
    let at = plan.modules[0].functions[0].memlocs[0]
        .address
        .expect("placed");
    assert_eq!(
        deep.violations[0].to_string(),
        format!(
            "wrong_value: core 0, function main, a, instruction 2 reads at byte {at} what \
             instruction 1 has written to core 0/main/b, not what instruction 0 has written to \
             core 0/main/a"
        )
    );
}

#[test]
fn a_use_without_an_address_is_found() {
    let program = main_of(&["a", "b"], WORK);
    let mut plan = plan(&program);
    plan.modules[0].functions[0].memlocs[1].address = None;
    assert_eq!(kinds(&verify_deep(&program, &plan, None)), ["no_address"]);
}

#[test]
fn operands_of_one_instruction_keep_apart_but_for_eligible_pairs() {
    let code = |pairs: &str| {
        format!(
            r#"{{"op":"a","defs":["a"]}},{{"op":"b","uses":["a"],"defs":["b","c"]{pairs}}},
            {{"op":"use","uses":["b"]}}"#
        )
    };
    let plain = main_of(&["a", "b", "c"], &code(""));
    let mut over = plan(&plain);
    onto(&mut over, 0, 1, (0, 0));
    assert_eq!(
        kinds(&verify_deep(&plain, &over, None)),
        ["overwritten_operand"]
    );
    let paired = main_of(&["a", "b", "c"], &code(r#","in_place":[["a","b"]]"#));
    assert_eq!(kinds(&verify_deep(&paired, &over, None)), [""; 0]);
    onto(&mut over, 0, 2, (0, 1));
    let both = kinds(&verify_deep(&paired, &over, None));
    assert!(both.contains(&"colliding_defs"), "{both:?}");
    assert!(both.contains(&"overwritten_operand"), "{both:?}");
}

#[test]
fn what_escapes_and_what_the_host_has_pinned_is_there_at_the_end() {
    let program = program(
        r#"{"name":"main","memlocs":[{"name":"w","bytes":4096,"usage":"weight","address":0},
            {"name":"o","bytes":4096,"escapes":true},{"name":"a","bytes":4096},
            {"name":"given","bytes":4096,"address":8192}],
          "instructions":[{"op":"o","defs":["o"]},{"op":"g","defs":["given"]},
            {"op":"use","uses":["given"]},{"op":"a","defs":["a"]},{"op":"use","uses":["a"]}]}"#,
    );
    let good = plan(&program);
    for lost in [0, 1] {
        let mut bad = good.clone();
        onto(&mut bad, 0, 2, (0, lost));
        let deep = verify_deep(&program, &bad, None);
        assert_eq!(kinds(&deep), ["lost_value"], "{deep:?}");
        assert_eq!(deep.violations[0].locations, [["w", "o"][lost]]);
    }
    // A pinned candidate has its exact life.
    let mut reused = good;
    onto(&mut reused, 0, 2, (0, 3));
    assert_eq!(kinds(&verify_deep(&program, &reused, None)), [""; 0]);
}

#[test]
fn an_input_of_which_a_part_is_written_keeps_the_rest() {
    let program = program(
        r#"{"name":"main","memlocs":[
            {"name":"x","bytes":8192,"usage":"input","address":0},
            {"name":"a","bytes":4096}],
        "instructions":[{"op":"f","defs":["a"]},
            {"op":"part","defs":[{"loc":"x","offset":4096,"bytes":4096}]},
            {"op":"read","uses":["x"]}]}"#,
    );
    let options = Options {
        reuse_io: true,
        floor: Floor::Holes,
        ..Options::default()
    };
    let mut plan = planned(&program, &options).expect("there is no capacity");
    assert_eq!(kinds(&verify_deep(&program, &plan, None)), [""; 0]);
    assert_eq!(verify(&program, &plan), []);
    // Geometry sees it, too, when something lies there.
    let rows = &mut plan.modules[0].functions[0].memlocs;
    rows[1].address = Some(0);
    let found = verify(&program, &plan);
    assert!(found.iter().any(|v| v.kind == "overlap"), "{found:?}");
}

#[test]
fn a_dependence_less_is_found_and_one_of_nothing_too() {
    let code = r#"{"op":"a","engine":1,"defs":["a"]},{"op":"b","engine":2,"uses":["a"]},
        {"op":"c","engine":3,"defs":["a"]},{"op":"d","uses":["a"]}"#;
    let program = main_of(&["a"], code);
    let mut plan = plan(&program);
    with_edges(&program, &mut plan);
    let edges = plan.dependences.clone().expect("just added");
    assert_eq!(edges.len(), 3);
    for dropped in 0..edges.len() {
        let mut less = edges.clone();
        let edge = less.remove(dropped);
        plan.dependences = Some(less);
        let deep = verify_deep(&program, &plan, None);
        assert!(kinds(&deep).contains(&"unordered"), "{edge:?}: {deep:?}");
    }
    let bad = |change: &dyn Fn(&mut Vec<Dependence>)| {
        let mut edges = edges.clone();
        change(&mut edges);
        let dependences = Some(edges);
        let plan = Plan {
            dependences,
            ..plan.clone()
        };
        let deep = verify_deep(&program, &plan, None);
        deep.violations.iter().any(|v| v.kind == "bad_dependence")
    };
    assert!(!bad(&|_| ()));
    assert!(bad(&|edges| edges[0].from.index = 9));
    assert!(bad(&|edges| edges.push(edges[1].clone())));
    assert!(bad(&|edges| edges[2].distance = 1)); // And no header.
    assert!(bad(&|edges| edges[2].header = Some(0)));
    let around = |edges: &mut Vec<Dependence>, header| {
        (edges[2].distance, edges[2].header) = (1, Some(header));
    };
    assert!(!bad(&|edges| around(edges, 0)));
    assert!(bad(&|edges| around(edges, 1))); // There is one block.
}

#[test]
fn what_a_loop_carries_around_is_compared_the_second_time() {
    // `b` is written at the end of the body and read at the start of the next round, where `a` is
    // dead; `a` in the bytes of `b` goes wrong only after the back edge.
    let program = program(
        r#"{"name":"main","memlocs":[{"name":"a","bytes":4096},{"name":"b","bytes":4096}],
          "blocks":[{"name":"in","succs":[1],"instructions":[{"op":"b","defs":["b"]}]},
            {"name":"body","succs":[1,2],"instructions":[{"op":"use","uses":["b"]},
              {"op":"a","defs":["a"]},{"op":"use","uses":["a"]}]},
            {"name":"out","succs":[],"instructions":[]}]}"#,
    );
    let mut bad = plan(&program);
    onto(&mut bad, 0, 0, (0, 1));
    let deep = verify_deep(&program, &bad, None);
    assert_eq!(kinds(&deep), ["wrong_value"], "{deep:?}");
}

#[test]
fn an_endless_loop_ends_and_what_escapes_from_it_is_there() {
    let program = program(
        r#"{"name":"main","memlocs":[{"name":"a","bytes":4096,"escapes":true},
            {"name":"b","bytes":4096}],
          "blocks":[{"name":"in","succs":[1],"instructions":[{"op":"a","defs":["a"]}]},
            {"name":"on","succs":[1],"instructions":[{"op":"b","defs":["b"]}]}]}"#,
    );
    let mut bad = plan(&program);
    onto(&mut bad, 0, 1, (0, 0));
    assert_eq!(kinds(&verify_deep(&program, &bad, None)), ["lost_value"]);
}

#[test]
fn a_plan_that_knows_nothing_of_a_recursive_program_is_no_panic() {
    let program = program(
        r#"{"name":"f","memlocs":[{"name":"a","bytes":4096}],"instructions":[
            {"op":"a","defs":["a"]},{"op":"x","kind":"call","callee":"g"}]},
          {"name":"g","memlocs":[],"instructions":[{"op":"x","kind":"call","callee":"f"}]}"#,
    );
    let deep = verify_deep(&program, &Plan::default(), None);
    assert_eq!(kinds(&deep), ["no_address"]);
}

/// `main` calls `f`, which doubles what it is handed, through a location of its own.
const CALLING: &str = r#"{"name":"main","memlocs":[{"name":"a","bytes":8192},
      {"name":"half","alias_of":"a","offset":4096},{"name":"b","bytes":4096},{"name":"k","bytes":4096}],
    "instructions":[{"op":"a","defs":["a"]},{"op":"k","defs":["k"]},
      {"op":"call","kind":"call","callee":"f","args":[["half","in"],["b","out"]]},
      {"op":"use","uses":["b","k"]},
      {"op":"call","kind":"call","callee":"f","args":[["k","in"],["b","out"]]},
      {"op":"use","uses":["b"]}]},
  {"name":"f","memlocs":[{"name":"in","bytes":4096,"usage":"input"},
      {"name":"out","bytes":4096,"usage":"output"},{"name":"t","bytes":4096}],
    "instructions":[{"op":"t","defs":["t"]},{"op":"w","uses":["in","t"],"defs":["out"]},
      {"op":"r","uses":["out","t"]}]}"#;

#[test]
fn a_callee_reads_and_writes_its_callers_bytes() {
    let program = program(CALLING);
    let good = plan(&program);
    for (onto_root, name) in [(0, "in"), (3, "k"), (2, "out")] {
        let mut bad = good.clone();
        onto(&mut bad, 1, 2, (0, onto_root));
        if onto_root == 0 {
            // The half that is handed over.
            let address = &mut bad.modules[0].functions[1].memlocs[2].address;
            *address = address.map(|a| a + 4096);
        }
        let deep = verify_deep(&program, &bad, None);
        assert!(!deep.violations.is_empty(), "{name}");
        assert!(
            verify(&program, &bad).iter().any(|v| v.kind == "overlap"),
            "{name}"
        );
    }
}

/// Two cores with one shared page `s` and another `t`.
fn two_cores(codes: [&str; 2]) -> Program {
    let module = |core: usize| {
        format!(
            r#"{{"name":"m{core}","core":{core},"functions":[{{"name":"main","memlocs":[
                {{"name":"s","bytes":4096,"space":"shared"}},
                {{"name":"t","bytes":4096,"space":"shared"}}],"instructions":[{}]}}]}}"#,
            codes[core]
        )
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"two","cores":2,"modules":[{},{}]}}"#,
        module(0),
        module(1)
    );
    read_program(text.as_bytes()).expect("a valid program")
}

#[test]
fn a_race_is_the_programs_and_a_collision_the_plans() {
    let write = r#"{"op":"s","defs":["s"]},{"op":"use","uses":["s"]}"#;
    let racing = two_cores([write, r#"{"op":"use","uses":["s"]}"#]);
    let deep = verify_deep(&racing, &plan(&racing), None);
    let races: Vec<&str> = deep.warnings.iter().map(|v| v.kind).collect();
    assert_eq!((kinds(&deep), races), (vec![], vec!["race"]));

    let sync = r#"{"op":"sync","kind":"barrier"}"#;
    let of = |x: &str, y: &str| {
        format!(r#"{{"op":"w","defs":["{x}"]}},{sync},{{"op":"r","uses":["{y}"]}}"#)
    };
    let crossing = two_cores([&of("s", "t"), &of("t", "s")]);
    let mut bad = plan(&crossing);
    for module in &mut bad.modules {
        let rows = &mut module.functions[0].memlocs;
        rows[1].address = rows[0].address;
    }
    let deep = verify_deep(&crossing, &bad, None);
    assert!(kinds(&deep).contains(&"cores_collide"), "{deep:?}");
    assert!(kinds(&deep).contains(&"wrong_value"), "{deep:?}");
    assert_eq!(deep.warnings, []);
}

#[test]
fn a_copy_elsewhere_is_found() {
    let sync = r#"{"op":"sync","kind":"barrier"}"#;
    let program = two_cores([
        &format!(r#"{{"op":"w","defs":["s"]}},{sync},{{"op":"r","uses":["t"]}}"#),
        &format!(r#"{{"op":"w","defs":["t"]}},{sync},{{"op":"r","uses":["s"]}}"#),
    ]);
    let mut bad = plan(&program);
    let rows = &mut bad.modules[1].functions[0].memlocs;
    (rows[0].address, rows[1].address) = (rows[1].address, rows[0].address);
    let deep = verify_deep(&program, &bad, None);
    assert!(kinds(&deep).contains(&"wrong_value"), "{deep:?}");
}

#[test]
fn loops_with_barriers_go_round_as_often_on_all_cores() {
    let code = |uses: &str, defs: &str| {
        format!(
            r#"[{{"name":"in","succs":[1],"instructions":[{{"op":"x","defs":["s","t"]}},
                {{"op":"sync","kind":"barrier"}}]}},
              {{"name":"loop","succs":[1,2],"instructions":[{{"op":"r","uses":["{uses}"]}},
                {{"op":"sync","kind":"barrier"}},{{"op":"w","defs":["{defs}"]}},
                {{"op":"sync","kind":"barrier"}}]}},
              {{"name":"out","succs":[],"instructions":[]}}]"#
        )
    };
    let module = |core: usize, code: &str| {
        format!(
            r#"{{"name":"m{core}","core":{core},"functions":[{{"name":"main","memlocs":[
                {{"name":"s","bytes":4096,"space":"shared"}},
                {{"name":"t","bytes":4096,"space":"shared"}}],"blocks":{code}}}]}}"#
        )
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"two","cores":2,"modules":[{},{}]}}"#,
        module(0, &code("s", "t")),
        module(1, &code("t", "s"))
    );
    let program = read_program(text.as_bytes()).expect("a valid program");
    let deep = verify_deep(&program, &plan(&program), None);
    assert_eq!(deep.notes, [""; 0]);
}

#[test]
fn functions_that_may_run_at_once_keep_their_groups_apart() {
    let module = |core: u32| {
        let function = |name: &str| {
            format!(
                r#"{{"name":"{name}","memlocs":[{{"name":"s","bytes":4096,"space":"shared"}}],
                    "instructions":[{{"op":"w","defs":["s"]}},{{"op":"r","uses":["s"]}}]}}"#
            )
        };
        let (f, g) = (function("f"), function("g"));
        format!(r#"{{"name":"m{core}","core":{core},"functions":[{f},{g}]}}"#)
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"two","cores":2,"modules":[{},{}]}}"#,
        module(0),
        module(1)
    );
    let program = read_program(text.as_bytes()).expect("a valid program");
    let mut bad = plan(&program);
    for module in &mut bad.modules {
        module.functions[1].memlocs[0].address = module.functions[0].memlocs[0].address;
    }
    assert!(kinds(&verify_deep(&program, &bad, None)).contains(&"cores_collide"));
    bad.options.separate_functions = true;
    assert_eq!(kinds(&verify_deep(&program, &bad, None)), [""; 0]);
}

#[test]
fn a_call_hands_no_bytes_on() {
    // `f` writes its output before it reads its input, so `b` may not lie on `a`, pair or not.
    let program = program(
        r#"{"name":"main","memlocs":[{"name":"a","bytes":4096},{"name":"b","bytes":4096}],
            "instructions":[{"op":"a","defs":["a"]},
              {"op":"call","kind":"call","callee":"f","uses":["a"],"defs":["b"],
               "args":[["a","in"],["b","out"]],"in_place":[["a","b"]]},
              {"op":"use","uses":["b"]}]},
          {"name":"f","memlocs":[{"name":"in","bytes":4096,"usage":"input"},
              {"name":"out","bytes":4096,"usage":"output"}],
            "instructions":[{"op":"w","defs":["out"]},{"op":"r","uses":["in"]}]}"#,
    );
    let mut bad = plan(&program);
    assert!(
        bad.notes.iter().any(|n| n.contains("a callee may write")),
        "{:?}",
        bad.notes
    );
    assert_eq!(verify(&program, &bad), []);
    onto(&mut bad, 0, 1, (0, 0));
    let deep = kinds(&verify_deep(&program, &bad, None));
    assert!(deep.contains(&"wrong_value"), "{deep:?}");
    assert!(deep.contains(&"overwritten_operand"), "{deep:?}");
    assert!(verify(&program, &bad).iter().any(|v| v.kind == "overlap"));
}

/// A copy of `a` to `b`, elided, after which another engine reads `b`.
fn copying() -> Program {
    let code = r#"{"op":"a","engine":1,"defs":["a"]},
        {"op":"copy","engine":2,"kind":"dma_copy","uses":["a"],"defs":["b"],"in_place":[["a","b"]]},
        {"op":"use","engine":3,"uses":["b"]},{"op":"c","engine":4,"defs":["c"]},
        {"op":"use","engine":4,"uses":["c"]}"#;
    let mut program = main_of(&["a", "b", "c"], code);
    let function = program.module_mut(0).function_mut(0);
    function.set_elided([crate::ir::FlatIndex(1)]);
    program
}

#[test]
fn an_elided_copy_hands_its_value_on_and_moves_nothing() {
    let program = copying();
    let mut good = plan(&program);
    let [a, b] = [0, 1].map(|i| good.modules[0].functions[0].memlocs[i].address);
    assert_eq!(a, b, "the pair is taken");
    let edge = |from: u32, to: u32| {
        let site = |index: u32| crate::plan::Site {
            core: 0,
            function: "main".into(),
            index,
        };
        crate::plan::Dependence {
            from: site(from),
            to: site(to),
            kind: crate::plan::DependenceKind::Flow,
            distance: 0,
            header: None,
        }
    };
    let mut with = |edges: &[(u32, u32)]| {
        let edges = edges.iter().map(|&(from, to)| edge(from, to));
        good.dependences = Some(edges.collect());
        kinds(&verify_deep(&program, &good, None))
    };
    // `c` takes the bytes of `b` again.
    assert_eq!(with(&[(0, 2), (2, 3)]), [""; 0]);
    // Nobody waits for what never runs, nor does it wait.
    let through = with(&[(0, 1), (1, 2), (2, 3)]);
    assert!(through.contains(&"unordered"), "{through:?}");
    assert!(with(&[(0, 2)]).contains(&"unordered"));

    // Elsewhere the copy would have been needed.
    good.dependences = None;
    good.modules[0].functions[0].memlocs[1].address = Some(1 << 20);
    let deep = verify_deep(&program, &good, None);
    assert_eq!(kinds(&deep), ["wrong_value"]);
    let sentence = deep.violations[0].to_string();
    assert!(
        sentence.contains("not what instruction 0 has written"),
        "{sentence}"
    );
}

#[test]
fn a_value_survives_any_number_of_elided_copies_of_parts() {
    // The second half of `a` becomes the first of `b`, and that becomes `c`.
    let mut program = program(
        r#"{"name":"main","memlocs":[{"name":"a","bytes":8192},
            {"name":"b","bytes":8192},
            {"name":"c","bytes":4096}],
          "instructions":[{"op":"a","defs":["a"]},
            {"op":"copy","kind":"dma_copy","uses":[{"loc":"a","offset":4096,"bytes":4096}],
             "defs":[{"loc":"b","offset":0,"bytes":4096}]},
            {"op":"copy","kind":"dma_copy","uses":[{"loc":"b","offset":0,"bytes":4096}],"defs":["c"]},
            {"op":"use","uses":["c"]}]}"#,
    );
    let mut plan = plan(&program);
    for (row, address) in plan.modules[0].functions[0]
        .memlocs
        .iter_mut()
        .zip([0, 4096, 4096])
    {
        row.address = Some(address);
    }
    let copies = [1, 2].map(crate::ir::FlatIndex);
    let wrong = |program: &Program, plan: &Plan| kinds(&verify_deep(program, plan, None));
    program.module_mut(0).function_mut(0).set_elided(copies);
    assert_eq!(wrong(&program, &plan), [""; 0]);
    // A byte beside itself is another byte.
    plan.modules[0].functions[0].memlocs[2].address = Some(4097);
    assert_eq!(wrong(&program, &plan), ["wrong_value"]);
}

/// Three cores in one range of addresses each: the first writes `s`, the second reads it, the third
/// is not reached, unless `reach` says so; each has a page of its own meanwhile.
fn unified(reach: &str) -> (Program, Plan) {
    let shared = format!(r#"{{"name":"s","bytes":4096,"space":"shared"{reach}}}"#);
    let sync = r#"{"op":"sync","kind":"barrier"}"#;
    let own = r#"{"op":"a","defs":["a"]},{"op":"use","uses":["a"]}"#;
    let of = [
        format!(r#"{{"op":"w","defs":["s"]}},{sync},{own},{sync}"#),
        format!(r#"{own},{sync},{own},{sync},{{"op":"r","uses":["s"]}}"#),
        format!(r#"{sync},{own},{sync}"#),
    ];
    let module = |core: usize| {
        let code = &of[core];
        let shared = if core < 2 {
            format!("{shared},")
        } else {
            String::new()
        };
        format!(
            r#"{{"name":"m{core}","core":{core},"functions":[{{"name":"main","memlocs":[
                {shared}{{"name":"a","bytes":4096}}],"instructions":[{code}]}}]}}"#
        )
    };
    let text = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":"three","cores":3,
            "modules":[{},{},{}]}}"#,
        module(0),
        module(1),
        module(2)
    );
    let program = read_program(text.as_bytes()).expect("a valid program");
    let options = Options {
        geometry: crate::options::Geometry::Unified,
        ..Options::default()
    };
    let plan = planned(&program, &options).expect("it fits");
    let deep = verify_deep(&program, &plan, None);
    assert_eq!((kinds(&deep), deep.notes), (vec![], vec![]));
    (program, plan)
}

#[test]
fn a_group_takes_its_bytes_on_the_cores_that_it_reaches() {
    for (reach, reached) in [
        ("", [true, true, false]),
        (r#","reach":[0,1,2]"#, [true; 3]),
    ] {
        let (program, good) = unified(reach);
        let address = good.modules[0].functions[0].memlocs[0].address;
        for (core, reached) in (0..).zip(reached) {
            let mut bad = good.clone();
            let rows = &mut bad.modules[core as usize].functions[0].memlocs;
            rows.last_mut().expect("its own page").address = address;
            let deep = verify_deep(&program, &bad, None);
            assert_eq!(
                kinds(&deep).contains(&"wrong_value"),
                reached,
                "core {core}: {deep:?}"
            );
            let overlaps = verify(&program, &bad).iter().any(|v| v.kind == "overlap");
            assert_eq!(overlaps, reached, "core {core}");
        }
    }
}

#[test]
fn what_nobody_orders_collides_on_a_core_that_is_reached() {
    // The second core uses its own page while the first one writes `s`.
    let (program, mut bad) = unified("");
    let address = bad.modules[0].functions[0].memlocs[0].address;
    bad.modules[1].functions[0].memlocs[1].address = address;
    let deep = verify_deep(&program, &bad, None);
    assert!(kinds(&deep).contains(&"cores_collide"), "{deep:?}");
}
