//! What program files have to keep, and what they have to refuse.

use arbitrary::Unstructured;

use super::{read_program, write_program};
use crate::ir::{
    BlockId, Extension, ExtensionSite, Extent, FlatIndex, Function, InstructionSpec, Kind,
    MemLocId, MemLocSpec, MemoryType, Module, Operand, Program, Remote, Space, Usage,
};
use crate::testing::for_each_seed;

const TWO_CORES: &str = include_str!("../../../tests/data/two_cores.program.json");

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

    assert_eq!((loc("in").pin, loc("in").usage), (Some(8192), Usage::Input));
    assert_eq!((loc("w").pin, loc("w").bytes), (Some(16384), 18000));
    assert_eq!((loc("half").bytes, loc("half").align), (3000, Some(512)));
    assert_eq!(
        (loc("tail").bytes, main.root(find("tail"))),
        (2048, (find("sum"), 2048))
    );
    assert_eq!(main.root(find("tail_end")), (find("sum"), 2096));
    assert_eq!(
        (loc("tail").usage, loc("tail_end").escapes),
        (Usage::Output, true)
    );
    assert_eq!(
        (loc("both").space, main.reach(find("both"))),
        (Space::Shared, &[0, 1][..])
    );
    assert_eq!(
        (loc("trace").space, loc("trace").cookie),
        (Space::Debug, Some(99))
    );
    assert_eq!(loc("tile").memory, MemoryType::Sbuf);
    assert_eq!((loc("sum").align, loc("nothing").bytes), (None, 0));

    let names: Vec<&str> = main.blocks().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["entry", "loop", ""]);
    assert_eq!(main.successors(BlockId(1)), [BlockId(1), BlockId(2)]);
    assert_eq!(main.block_range(BlockId(2)), 4..8);
    let put = main.uses(FlatIndex(4))[0];
    assert_eq!((put.loc, put.offset, put.bytes), (find("sum"), 96, 4000));
    assert_eq!(main.defs(FlatIndex(7))[0].bytes, 32);
    let at = |i: usize| &main.instructions()[i];
    assert_eq!(
        (at(0).engine, at(0).name.map(|n| main.symbol(n))),
        (2, Some("l0"))
    );
    assert_eq!((at(5).kind, at(5).id), (Kind::Barrier, Some(u64::MAX)));
    assert_eq!(at(3).callee.map(|c| main.symbol(c)), Some("helper"));
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

/// A program around the inside of its first function.
fn function(inside: &str) -> String {
    format!(
        r#"{{"format":"dramalloc-program","version":1,"modules":[{{"functions":[{{{inside}}}]}}]}}"#
    )
}

#[test]
fn an_error_says_where_and_what() {
    let a = r#"{"name":"a","bytes":8}"#;
    let loc = |keys: &str| one_function(&format!(r#"{a},{{{keys}}}"#), "");
    let op = |keys: &str| one_function(a, &format!(r#"{{"op":"nop"}},{{{keys}}}"#));
    let f = "modules[0].functions[0]";
    let cases: Vec<(&str, String, Vec<String>)> = vec![
        (
            "empty",
            String::new(),
            vec!["EOF".into(), "line 1 column 0".into()],
        ),
        (
            "a list",
            "[]".into(),
            vec!["a program, which is an object".into()],
        ),
        ("junk", "\u{1}\u{2}".into(), vec!["line 1 column 1".into()]),
        (
            "two documents",
            format!("{}{{}}", one_function("", "")),
            vec!["trailing".into()],
        ),
        (
            "cut",
            TWO_CORES[..1500].into(),
            vec![
                "EOF".into(),
                format!("line {}", TWO_CORES[..1500].lines().count()),
            ],
        ),
        (
            "format",
            r#"{"format":"dramalloc-plan","version":1,"spaces":[]}"#.into(),
            vec!["format: this is \"dramalloc-plan\", not \"dramalloc-program\"".into()],
        ),
        (
            "no format",
            r#"{"version":1,"modules":[]}"#.into(),
            vec!["format: missing".into()],
        ),
        (
            "version",
            r#"{"format":"dramalloc-program","version":2}"#.into(),
            vec!["version: this is version 2".into()],
        ),
        (
            "unknown key",
            r#"{"format":"dramalloc-program","modles":[]}"#.into(),
            vec!["modles: unknown key; a program has format, version, name".into()],
        ),
        (
            "key twice",
            r#"{"format":"dramalloc-program","version":1,"name":"a","name":"b"}"#.into(),
            vec!["name: the key stands twice".into()],
        ),
        (
            "foreign key twice",
            loc(r#""name":"b","bytes":1,"x_a":1,"x_b":2,"x_a":1"#),
            vec![format!("{f}.memlocs[1].x_a: the key stands twice")],
        ),
        (
            "cores",
            TWO_CORES.replace(r#""cores": 2"#, r#""cores": 3"#),
            vec!["cores: it says 3, the modules are 2".into()],
        ),
        (
            "core past the cores",
            TWO_CORES.replace(r#""core": 1,"#, r#""core": 2,"#),
            vec!["modules[1].core".into(), "right".into(), "core 2".into()],
        ),
        (
            "core twice",
            TWO_CORES.replace(r#""core": 1,"#, r#""core": 0,"#),
            vec!["modules[1].core".into(), "left".into()],
        ),
        (
            "negative core",
            r#"{"format":"dramalloc-program","version":1,"modules":[{"core":-1}]}"#.into(),
            vec![
                "modules[0].core: ".into(),
                "-1".into(),
                "from 0 to 2^32 - 1".into(),
            ],
        ),
        (
            "function twice",
            TWO_CORES.replace(r#""name": "helper","#, r#""name": "main","#),
            vec![
                "modules[0].functions[1].name".into(),
                "main".into(),
                "core 0".into(),
            ],
        ),
        (
            "no function name",
            function(""),
            vec![format!("{f}.name: missing")],
        ),
        (
            "blocks and instructions",
            function(r#""name":"g","blocks":[],"instructions":[]"#),
            vec![
                format!("{f}.instructions"),
                "function g".into(),
                "not both".into(),
            ],
        ),
        (
            "successor",
            function(r#""name":"g","blocks":[{"succs":[0]},{"succs":[1,2]}]"#),
            vec![format!(
                "{f}.blocks[1].succs[1]: there is no successor block 2, only 2"
            )],
        ),
        (
            "an instruction of a block",
            function(r#""name":"g","blocks":[{},{"instructions":[{"op":"o"},{"op":7}]}]"#),
            vec![format!(
                "{f}.blocks[1].instructions[1].op: invalid type: integer `7`"
            )],
        ),
        // Locations.
        (
            "no name",
            loc(r#""bytes":1"#),
            vec![format!("{f}.memlocs[1].name: missing")],
        ),
        (
            "no letters",
            loc(r#""name":"","bytes":1"#),
            vec![format!("{f}.memlocs[1].name")],
        ),
        (
            "name twice",
            loc(r#""name":"a","bytes":1"#),
            vec![format!(
                "{f}.memlocs[1].name: there already is a location named \"a\""
            )],
        ),
        (
            "unknown size",
            loc(r#""name":"b","bytes":null"#),
            vec![
                format!("{f}.memlocs[1].bytes: its size is unknown"),
                "location b".into(),
            ],
        ),
        (
            "no size",
            loc(r#""name":"b""#),
            vec![
                format!("{f}.memlocs[1].bytes: missing"),
                "location b".into(),
            ],
        ),
        (
            "two sizes",
            loc(r#""name":"b","bytes":8,"elem_count":2,"elem_size":4"#),
            vec![
                format!("{f}.memlocs[1].bytes"),
                "not both".into(),
                "location b".into(),
            ],
        ),
        (
            "half a size",
            loc(r#""name":"b","elem_count":2"#),
            vec![format!("{f}.memlocs[1].elem_size: missing")],
        ),
        (
            "other half",
            loc(r#""name":"b","elem_size":2"#),
            vec![format!("{f}.memlocs[1].elem_count: missing")],
        ),
        (
            "a fraction",
            loc(r#""name":"b","bytes":1.5"#),
            vec![
                format!("{f}.memlocs[1].bytes: "),
                "`1.5`".into(),
                "line 2 column".into(),
            ],
        ),
        (
            "a negative size",
            loc(r#""name":"b","bytes":-1"#),
            vec![format!("{f}.memlocs[1].bytes: "), "`-1`".into()],
        ),
        (
            "2^64",
            loc(r#""name":"b","bytes":18446744073709551616"#),
            vec![
                format!("{f}.memlocs[1].bytes: "),
                "a whole number from 0 to 2^64 - 1".into(),
            ],
        ),
        (
            "2^64 as text",
            loc(r#""name":"b","bytes":"18446744073709551616""#),
            vec![format!("{f}.memlocs[1].bytes: ")],
        ),
        (
            "a sign",
            loc(r#""name":"b","bytes":"+1""#),
            vec![format!("{f}.memlocs[1].bytes: "), "\"+1\"".into()],
        ),
        (
            "a product",
            loc(r#""name":"b","elem_count":18446744073709551615,"elem_size":2"#),
            vec![
                format!("{f}.memlocs[1].elem_count: 18446744073709551615 elements of 2 bytes"),
                "location b".into(),
            ],
        ),
        (
            "a pin",
            loc(r#""name":"b","bytes":2,"address":18446744073709551614"#),
            vec![format!("{f}.memlocs[1].address: "), "overflows".into()],
        ),
        (
            "an alignment",
            loc(r#""name":"b","bytes":2,"align":24"#),
            vec![format!("{f}.memlocs[1].align: 24 is not a power of two")],
        ),
        (
            "a word",
            loc(r#""name":"b","bytes":2,"space":"locale""#),
            vec![
                format!("{f}.memlocs[1].space: invalid value: string \"locale\""),
                "expected one of local, shared, debug".into(),
            ],
        ),
        (
            "an unknown key",
            loc(r#""name":"b","byte":2"#),
            vec![format!(
                "{f}.memlocs[1].byte: unknown key; a memloc has name, bytes"
            )],
        ),
        (
            "no root",
            loc(r#""name":"v","alias_of":"z""#),
            vec![
                format!("{f}.memlocs[1].alias_of: there is no location named \"z\""),
                "location v".into(),
            ],
        ),
        (
            "a cycle",
            loc(r#""name":"v","alias_of":"v""#),
            vec![format!("{f}.memlocs[1].alias_of: "), "cycle".into()],
        ),
        (
            "past the root",
            loc(r#""name":"v","alias_of":"a","offset":4,"bytes":5"#),
            vec![format!(
                "{f}.memlocs[1].bytes: bytes 4 to 9 lie past the end of a"
            )],
        ),
        (
            "starts past the root",
            loc(r#""name":"v","alias_of":"a","offset":9"#),
            vec![format!("{f}.memlocs[1].offset: ")],
        ),
        (
            "a view with an address",
            loc(r#""name":"v","alias_of":"a","address":0"#),
            vec![format!("{f}.memlocs[1].address: a view")],
        ),
        (
            "a view of unknown size",
            loc(r#""name":"v","alias_of":"a","bytes":null"#),
            vec![format!("{f}.memlocs[1].bytes: its size is unknown")],
        ),
        (
            "an offset without a root",
            loc(r#""name":"b","bytes":8,"offset":4"#),
            vec![format!("{f}.memlocs[1].offset: only a view")],
        ),
        (
            "half a remote",
            loc(r#""name":"b","bytes":8,"remote":{"core":1}"#),
            vec![format!("{f}.memlocs[1].remote: name: missing")],
        ),
        (
            "a foreign key in a remote",
            loc(r#""name":"b","bytes":8,"remote":{"core":1,"name":"b","x_a":1}"#),
            vec![format!(
                "{f}.memlocs[1].remote.x_a: unknown key; a remote has core, name"
            )],
        ),
        (
            "a core that is none",
            loc(r#""name":"b","bytes":8,"reach":[0,"1"]"#),
            vec![format!("{f}.memlocs[1].reach[1]: ")],
        ),
        // Instructions.
        (
            "no op",
            op(r#""uses":[]"#),
            vec![format!("{f}.instructions[1].op: missing")],
        ),
        (
            "an unknown operand",
            op(r#""op":"o","uses":["a","b"]"#),
            vec![
                format!("{f}.instructions[1].uses[1]: there is no location named \"b\""),
                "core 0, function main, instruction 1".into(),
            ],
        ),
        (
            "an unknown slice",
            op(r#""op":"o","defs":[{"loc":"b"}]"#),
            vec![format!(
                "{f}.instructions[1].defs[0]: there is no location named \"b\""
            )],
        ),
        (
            "a slice of nothing",
            op(r#""op":"o","defs":[{"bytes":8}]"#),
            vec![format!("{f}.instructions[1].defs[0]: loc: missing")],
        ),
        (
            "a slice past the end",
            op(r#""op":"o","uses":["a"],"defs":["a",{"loc":"a","offset":4,"bytes":5}]"#),
            vec![
                format!("{f}.instructions[1].defs[1]: bytes 4 to 9 lie past the end of a"),
                "location a".into(),
            ],
        ),
        (
            "an operand of another type",
            op(r#""op":"o","uses":[7]"#),
            vec![
                format!("{f}.instructions[1].uses[0]: "),
                "a location's name or an object".into(),
            ],
        ),
        (
            "an unknown pair",
            op(r#""op":"o","uses":["a"],"in_place":[["a","z"]]"#),
            vec![
                format!("{f}.instructions[1].in_place[0][1]: "),
                "\"z\"".into(),
            ],
        ),
        (
            "half a pair",
            op(r#""op":"o","in_place":[["a"]]"#),
            vec![
                format!("{f}.instructions[1].in_place[0]"),
                "a tuple of size 2".into(),
            ],
        ),
        (
            "an unknown argument",
            op(r#""op":"o","kind":"call","callee":"g","args":[["z","x"]]"#),
            vec![format!("{f}.instructions[1].args[0][0]: "), "\"z\"".into()],
        ),
        (
            "no callee",
            op(r#""op":"o","kind":"call""#),
            vec![format!("{f}.instructions[1].callee: ")],
        ),
        (
            "arguments of no call",
            op(r#""op":"o","args":[["a","x"]]"#),
            vec![format!("{f}.instructions[1].args: ")],
        ),
        (
            "an id",
            op(r#""op":"o","id":1"#),
            vec![format!("{f}.instructions[1].id: ")],
        ),
        (
            "a kind",
            op(r#""op":"o","kind":"dma""#),
            vec![
                format!("{f}.instructions[1].kind: "),
                "one of compute, dma_copy, collective, call, barrier".into(),
            ],
        ),
    ];
    for (name, text, wanted) in cases {
        let error = message(&text);
        assert!(!error.contains('\n'), "{name}: {error}");
        for part in wanted {
            assert!(
                error.contains(&part),
                "{name}: {part:?} is not in {error:?}"
            );
        }
    }
}

#[test]
fn the_line_of_an_error_is_that_of_the_whole_text() {
    let text = TWO_CORES.replace(r#""bytes": 9000"#, r#""bytes": []"#);
    let line = 1 + text
        .lines()
        .position(|l| l.contains(r#""bytes": []"#))
        .unwrap();
    let error = message(&text);
    assert!(error.contains("functions[1].memlocs[2].bytes"), "{error}");
    assert!(
        error.contains(&format!("at line {line} column ")),
        "{error}, not {line}"
    );
    let column = text.lines().nth(line - 1).unwrap().find("[]").unwrap() + 1;
    let got: usize = error.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(got.abs_diff(column) <= 2, "{got} is not {column}");
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
    assert_eq!(function.memloc(MemLocId(2)).cookie, Some(7));
    assert_eq!(function.uses(FlatIndex(0))[0].loc, MemLocId(1));
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

// ---- random programs ----

const NAMES: [&str; 8] = [
    "a",
    "b",
    "ä",
    "quo\"te",
    "back\\slash",
    "line\nfeed",
    "#1",
    "x_y",
];

fn pick<T: Copy>(u: &mut Unstructured<'_>, from: &[T]) -> arbitrary::Result<T> {
    u.choose(from).copied()
}

fn some<'u, T>(
    u: &mut Unstructured<'u>,
    make: impl FnOnce(&mut Unstructured<'u>) -> arbitrary::Result<T>,
) -> arbitrary::Result<Option<T>> {
    if u.ratio(1, 4)? {
        make(u).map(Some)
    } else {
        Ok(None)
    }
}

fn random_memlocs(u: &mut Unstructured<'_>, f: &mut Function) -> arbitrary::Result<()> {
    let count = u.int_in_range(0..=NAMES.len())?;
    let mut specs: Vec<MemLocSpec<'_>> = Vec::new();
    for &name in &NAMES[..count] {
        let extent = if u.arbitrary()? {
            Extent::Bytes(u.int_in_range(0..=1 << 40)?)
        } else {
            Extent::Elements {
                count: u.int_in_range(0..=1 << 20)?,
                size: u.arbitrary()?,
            }
        };
        let memory = pick(u, MemoryType::ALL)?;
        let mut spec = MemLocSpec {
            name,
            extent: Some(extent),
            memory,
            space: pick(u, Space::ALL)?,
            usage: pick(u, Usage::ALL)?,
            align: some(u, |u| Ok(1 << u.int_in_range(0..=63)?))?,
            address: some(u, |u| u.int_in_range(0..=1 << 62))?
                .filter(|_| memory == MemoryType::Dram),
            escapes: u.arbitrary()?,
            remote: some(u, |u| {
                Ok(Remote {
                    core: u.arbitrary()?,
                    name: pick(u, &NAMES)?.into(),
                })
            })?,
            reach: some(u, |u| u.arbitrary())?.unwrap_or_default(),
            cookie: some(u, |u| u.arbitrary())?,
            ..Default::default()
        };
        if let Some(parent) = some(u, |u| u.int_in_range(0..=count as u32 - 1))? {
            spec = MemLocSpec {
                name,
                extent: some(u, |u| Ok(Extent::Bytes(u.int_in_range(0..=1 << 8)?)))?,
                view: Some((MemLocId(parent), u.int_in_range(0..=1 << 8)?)),
                usage: pick(u, &[Usage::Internal, Usage::Input, Usage::Output])?,
                escapes: spec.escapes,
                cookie: spec.cookie,
                ..Default::default()
            };
        }
        specs.push(spec);
    }
    let _ = f.add_memlocs(&specs); // Cycles and views past their roots leave it empty.
    Ok(())
}

fn random_operand(u: &mut Unstructured<'_>, f: &Function) -> arbitrary::Result<Operand> {
    let loc = MemLocId(u.int_in_range(0..=f.memlocs().len() as u32 - 1)?);
    let size = f.memloc(loc).bytes;
    if u.arbitrary()? {
        return Ok(loc.into());
    }
    let offset = u.int_in_range(0..=size)?;
    let bytes = some(u, |u| u.int_in_range(0..=size - offset))?;
    Ok(Operand { loc, offset, bytes })
}

fn random_instruction(u: &mut Unstructured<'_>, f: &mut Function) -> arbitrary::Result<()> {
    let (mut uses, mut defs, mut pairs, mut args) = (vec![], vec![], vec![], vec![]);
    let kind = pick(u, Kind::ALL)?;
    if !f.memlocs().is_empty() {
        for _ in 0..u.int_in_range(0..=2)? {
            uses.push(random_operand(u, f)?);
            defs.push(random_operand(u, f)?);
            pairs.push((uses[0].loc, defs[0].loc));
            args.push((uses[0].loc, pick(u, &NAMES)?));
        }
    }
    let callee = pick(u, &NAMES)?;
    let spec = InstructionSpec {
        op: pick(u, &["", "add", "a\tb"])?,
        name: pick(u, &["", "i", "add"])?,
        kind,
        engine: pick(u, &[0, 1, 2, u32::MAX])?,
        uses: &uses,
        defs: &defs,
        in_place: &pairs,
        callee: (kind == Kind::Call).then_some(callee),
        args: if kind == Kind::Call { &args } else { &[] },
        id: if kind == Kind::Barrier {
            some(u, |u| u.arbitrary())?
        } else {
            None
        },
    };
    f.add_instruction(&spec).expect("valid by construction");
    Ok(())
}

fn random_function(u: &mut Unstructured<'_>, name: &str) -> arbitrary::Result<Function> {
    let mut f = Function::new(name);
    random_memlocs(u, &mut f)?;
    let blocks = u.int_in_range(1..=3)?;
    for _ in 0..blocks {
        f.add_block(pick(u, &["", "loop", "exit"])?);
        for _ in 0..u.int_in_range(0..=3)? {
            random_instruction(u, &mut f)?;
        }
    }
    for block in 0..blocks {
        let count = u.int_in_range(0..=2)?;
        let succs: Result<Vec<BlockId>, _> = (0..count)
            .map(|_| Ok(BlockId(u.int_in_range(0..=blocks - 1)?)))
            .collect();
        f.set_successors(BlockId(block), &succs?).unwrap();
    }
    Ok(f)
}

fn random_program(u: &mut Unstructured<'_>) -> arbitrary::Result<Program> {
    let mut program = Program::new(pick(u, &NAMES)?);
    let cores = pick(u, &[&[0][..], &[0, 1], &[1, 0], &[5], &[2, 7]])?;
    for (m, &core) in (0..).zip(cores) {
        let mut module = Module::new(pick(u, &NAMES)?, core);
        for (f, &name) in (0..).zip(&NAMES[..u.int_in_range(0..=2)?]) {
            module.add_function(random_function(u, name)?).unwrap();
            let sites = [ExtensionSite::Function(m, f), ExtensionSite::Block(m, f, 0)];
            for site in sites {
                let value = some(u, |u| pick(u, &["null", "[1,2.50]", "{\"a\": {}}"]))?;
                let extension = |key: &str| Extension {
                    site,
                    key: key.to_owned(),
                    json: value.unwrap_or("true").to_owned(),
                };
                if value.is_some() {
                    program
                        .extensions
                        .extend(["x_b", "x_a", "x_"].map(extension));
                }
            }
        }
        program.add_module(module).unwrap();
    }
    program.extensions.sort_by_key(|extension| extension.site);
    Ok(program)
}

#[test]
fn any_program_survives_a_round_trip() {
    for_each_seed(0..300, |u| {
        let program = random_program(u)?;
        let text = written(&program);
        let read = read_program(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read, program, "{text}");
        Ok(())
    });
}

#[test]
fn damaged_text_is_read_or_refused_but_never_a_crash() {
    for_each_seed(0..300, |u| {
        let mut bytes = TWO_CORES.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.choose_index(bytes.len())?;
            let end = (at + u.int_in_range(0..=20)?).min(bytes.len());
            match u.int_in_range(0..=4)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => bytes[at] = pick(u, b"{}[]\",:0-9.eEtfn\\ ")?,
                2 => drop(bytes.drain(at..end)),
                3 => bytes.truncate(at + 1),
                _ => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        match read_program(&bytes) {
            Ok(program) => {
                let text = written(&program);
                assert_eq!(
                    read_program(text.as_bytes()).as_ref(),
                    Ok(&program),
                    "{text}"
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        Ok(())
    });
}
