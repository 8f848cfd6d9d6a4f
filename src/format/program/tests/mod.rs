//! What program files keep.

mod random;
mod refused;

use super::{read_program, write_program};
use crate::ir::{
    BlockId, Extension, ExtensionSite, Extent, FlatIndex, Function, InstructionSpec, Kind,
    MemLocId, MemLocSpec, MemoryType, Module, Operand, Program, Remote, Space, Usage,
};

const TWO_CORES: &str = include_str!("../../../../tests/data/two_cores.program.json");

fn written(program: &Program) -> String {
    let mut text = Vec::new();
    write_program(program, &mut text).expect("a Vec takes everything");
    String::from_utf8(text).expect("JSON is text")
}

fn message(text: &str) -> String {
    read_program(text.as_bytes()).expect_err(text).to_string()
}

#[test]
fn the_example_says_what_it_says() {
    let program = read_program(TWO_CORES.as_bytes()).unwrap();
    assert_eq!(
        (program.name.as_str(), program.modules().len()),
        ("halves", 2)
    );
    let [main, helper] = program.modules()[0].functions() else {
        panic!("two functions")
    };
    assert_eq!((main.name(), helper.name()), ("main", "helper"));
    let find = |name| main.find_memloc(name).unwrap();
    let loc = |name| main.memloc(find(name));

    assert_eq!(
        (loc("in").pin(), loc("in").usage),
        (Some(8192), Usage::Input)
    );
    assert_eq!((loc("w").pin(), loc("w").bytes), (Some(16384), 18000));
    assert_eq!((loc("half").bytes, loc("half").align()), (3000, Some(512)));
    assert_eq!(
        (loc("tail").bytes, main.root(find("tail"))),
        (2048, (find("sum"), 2048))
    );
    assert_eq!(main.root(find("tail_end")), (find("sum"), 2096));
    assert_eq!(
        (loc("tail").usage, loc("tail_end").escapes()),
        (Usage::Output, true)
    );
    assert_eq!(
        (loc("both").space, main.reach(find("both"))),
        (Space::Shared, &[0, 1][..])
    );
    assert_eq!(
        (loc("trace").space, loc("trace").cookie()),
        (Space::Debug, Some(99))
    );
    assert_eq!(loc("tile").memory, MemoryType::Sbuf);
    assert_eq!((loc("sum").align(), loc("nothing").bytes), (None, 0));

    let names: Vec<&str> = main.blocks().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["entry", "loop", ""]);
    assert_eq!(main.successors(BlockId(1)), [BlockId(1), BlockId(2)]);
    assert_eq!(main.block_range(BlockId(2)), 4..8);
    let put = main.uses(FlatIndex(4)).get(0).expect("one");
    assert_eq!((put.loc, put.offset, put.bytes), (find("sum"), 96, 4000));
    assert_eq!(main.defs(FlatIndex(7)).get(0).map(|a| a.bytes), Some(32));
    let at = |i: usize| &main.instructions()[i];
    assert_eq!(
        (
            at(0).engine,
            main.instruction_name(FlatIndex(0)).map(|n| main.symbol(n))
        ),
        (2, Some("l0"))
    );
    assert_eq!(
        (at(5).kind, main.barrier_id(FlatIndex(5))),
        (Kind::Barrier, Some(u64::MAX))
    );
    assert_eq!(
        main.callee(FlatIndex(3)).map(|c| main.symbol(c)),
        Some("helper")
    );
    let bound = main.args(FlatIndex(3))[1];
    assert_eq!(
        (bound.caller, main.symbol(bound.callee)),
        (find("sum"), "y")
    );
    assert_eq!(main.in_place(FlatIndex(2)), [(find("half"), find("half"))]);

    let right = &program.modules()[1].functions()[0];
    let theirs = Remote {
        core: 0,
        name: "both".to_owned(),
    };
    assert_eq!(right.remote(MemLocId(0)), Some(&theirs));

    let kept: Vec<(ExtensionSite, &str)> = program
        .extensions
        .iter()
        .map(|e| (e.site, e.key.as_str()))
        .collect();
    assert_eq!(
        kept,
        [
            (ExtensionSite::Program, "x_compiler"),
            (ExtensionSite::MemLoc(0, 0, 2), "x_layer"),
            (ExtensionSite::Block(0, 0, 1), "x_trip"),
            (ExtensionSite::Instruction(0, 0, 1), "x_line"),
        ]
    );
}

#[test]
fn the_example_survives_a_round_trip() {
    let program = read_program(TWO_CORES.as_bytes()).unwrap();
    let text = written(&program);
    let again = read_program(text.as_bytes()).unwrap();
    assert_eq!(again, program);
    assert_eq!(written(&again), text);
    let layers = "\"x_compiler\":{\"name\": \"by hand\", \"flags\": [\"-O2\", null, 1.5]}";
    assert!(text.contains(layers), "{text}");
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let forward = r#"{"format":"dramalloc-program","version":1,"x_a":1,"modules":[{"core":0,
        "functions":[{"name":"f","memlocs":[{"name":"a","bytes":8,"x_b":2}],
        "instructions":[{"op":"o","defs":["a"],"x_c":3}]}]}]}"#;
    let backward = r#"{"modules":[{"functions":[{"instructions":[{"x_c":3,"defs":["a"],"op":"o"}],
        "memlocs":[{"x_b":2,"bytes":8,"name":"a"}],"name":"f"}],"core":0}],
        "x_a":1,"version":1,"format":"dramalloc-program"}"#;
    let read = |text: &str| read_program(text.as_bytes()).unwrap();
    assert_eq!(read(forward), read(backward));
}

#[test]
fn null_is_the_default_of_every_key_but_a_size() {
    let with = format!(
        r#"{{"format":"dramalloc-program","version":1,"name":null,"cores":null,"modules":[
        {{"name":null,"core":null,"functions":[{{"name":"f","blocks":null,"memlocs":[
        {{"name":"a","bytes":8,{}}}],"instructions":[{{"op":"o","name":null,"kind":null,
        "engine":null,"uses":null,"defs":null,"in_place":null,"callee":null,"args":null,"id":null}}]
        }}]}}]}}"#,
        r#""elem_count":null,"elem_size":null,"usage":null,"space":null,"memory":null,"align":null,
        "address":null,"alias_of":null,"offset":null,"escapes":null,"remote":null,"reach":null"#
    );
    let without = r#"{"format":"dramalloc-program","version":1,"modules":[{"functions":[
        {"name":"f","memlocs":[{"name":"a","bytes":8}],"instructions":[{"op":"o"}]}]}]}"#;
    let read = |text: &str| read_program(text.as_bytes()).unwrap();
    assert_eq!(read(&with), read(without));
}

#[test]
fn views_may_stand_far_before_their_roots() {
    // More than a batch of roots, so that the views do not start the first one.
    let mut locs: Vec<String> = (0..1500)
        .map(|i| format!(r#"{{"name":"p{i}","bytes":1}}"#))
        .collect();
    locs.extend((0..3000).map(|i| format!(r#"{{"name":"v{i}","alias_of":"r{i}","offset":{i}}}"#)));
    locs.extend((0..3000).map(|i| format!(r#"{{"name":"r{i}","bytes":4000}}"#)));
    let program = read_program(one_function(&locs.join(","), "").as_bytes()).unwrap();
    let f = &program.modules()[0].functions()[0];
    for i in [0, 1, 1023, 1024, 2999] {
        assert_eq!(f.root(MemLocId(1500 + i)), (MemLocId(4500 + i), i.into()));
    }
    locs[3000] = r#"{"name":"v1500","alias_of":"nobody"}"#.to_owned();
    let error = message(&one_function(&locs.join(","), ""));
    assert!(error.contains("memlocs[3000].alias_of: there is no location named \"nobody\""));
}

/// A program of one function of one block, from the inside of its two lists.
fn one_function(memlocs: &str, instructions: &str) -> String {
    format!(
        r#"{{"format":"dramalloc-program","version":1,"modules":[{{"core":0,"functions":[
        {{"name":"main","memlocs":[{memlocs}],"instructions":[{instructions}]}}]}}]}}"#
    )
}

#[test]
fn deep_nesting_is_an_error_or_kept_but_never_a_crash() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for value in [deep("[", "]"), deep("{\"a\":", "1}").replace("1}1", "1")] {
        assert!(read_program(value.as_bytes()).is_err());
        message(&one_function(
            &format!(r#"{{"name":{value},"bytes":1}}"#),
            "",
        ));
        message(&one_function(&value, ""));
    }
    let kept = format!(r#"{{"name":"a","bytes":1,"x_deep":{}}}"#, deep("[", "]"));
    let program = read_program(one_function(&kept, "").as_bytes()).unwrap();
    assert_eq!(read_program(written(&program).as_bytes()).unwrap(), program);
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_refused() {
    let program = read_program(TWO_CORES.as_bytes()).unwrap();
    let marked = format!("\u{feff}{TWO_CORES}");
    assert_eq!(read_program(marked.as_bytes()).unwrap(), program);
    let utf16: Vec<u8> = TWO_CORES
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(read_program(&utf16).is_err());
    let error = read_program(b"{\n\"name\": \"\xff\"}")
        .unwrap_err()
        .to_string();
    assert!(error.contains("not UTF-8 at byte 11, line 2"), "{error}");
}

#[test]
fn a_location_without_a_name_is_written_with_one_of_its_own() {
    let mut function = Function::new("main");
    let spec = |name| MemLocSpec {
        name,
        extent: Some(Extent::Bytes(8)),
        ..Default::default()
    };
    let view = MemLocSpec {
        view: Some((MemLocId(1), 4)),
        cookie: Some(7),
        ..Default::default()
    };
    function.add_memlocs(&[spec("#1"), spec(""), view]).unwrap();
    let operand = Operand::from(MemLocId(1));
    let spec = InstructionSpec {
        op: "o",
        uses: &[operand],
        ..Default::default()
    };
    function.add_instruction(&spec).unwrap();
    let program = one_module(3, function);
    let read = read_program(written(&program).as_bytes()).unwrap();
    let module = &read.modules()[0];
    let function = &module.functions()[0];
    assert_eq!(module.core(), 3, "a part of a program may be written");
    let names: Vec<&str> = function
        .memloc_ids()
        .map(|id| function.memloc_name(id))
        .collect();
    assert_eq!(names, ["#1", "#1_", "#2"]);
    assert_eq!(function.root(MemLocId(2)), (MemLocId(1), 4));
    assert_eq!(function.memloc(MemLocId(2)).cookie(), Some(7));
    assert_eq!(
        function.uses(FlatIndex(0)).get(0).map(|a| a.loc),
        Some(MemLocId(1))
    );
}

fn one_module(core: u32, function: Function) -> Program {
    let mut module = Module::new("m", core);
    module.add_function(function).unwrap();
    let mut program = Program::new("p");
    program.add_module(module).unwrap();
    program
}

#[test]
fn an_extension_that_is_no_json_is_not_written() {
    let mut program = one_module(0, Function::new("main"));
    program.extensions.push(Extension {
        site: ExtensionSite::Program,
        key: "x_a".to_owned(),
        json: "1, \"name\": 2".to_owned(),
    });
    assert!(write_program(&program, Vec::new()).is_err());
}
