//! Each thing that a program file must not say, and what is said of it.

use super::{TWO_CORES, message, one_function};

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
