//! The JSON Schemas in `schema/` say what the readers do.
//!
//! Keys and words are compared with the tables in the code. Documents are held against the
//! schemas by a small validator, which knows the parts of JSON Schema that these two use and
//! panics at any other.

use serde_json::{Map, Value};

use super::json::Words;
use super::plan::document as plan;
use super::program::document as program;
use super::{
    read_plan, read_program, write_difference, write_explanation, write_plan, write_program,
};
use crate::control::Control;
use crate::ir::{Kind, MemoryType, Skipped, Space, Usage};
use crate::options::{Floor, Geometry, Options, Preset, Strategy};
use crate::plan::{DependenceKind, Status};
use crate::report::diff::diff;
use crate::report::explain::explain;
use crate::testing::{self, Shape, for_each_seed};

const PROGRAM: &str = include_str!("../../schema/program.schema.json");
const PLAN: &str = include_str!("../../schema/plan.schema.json");
const EXPLANATION: &str = include_str!("../../schema/explanation.schema.json");
const DIFFERENCE: &str = include_str!("../../schema/difference.schema.json");
const TWO_CORES: &str = include_str!("../../tests/data/two_cores.program.json");
const SMALL_PLAN: &str = include_str!("../../tests/data/small.plan.json");

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn the_schemas_have_the_keys_that_are_read() {
    let (program_schema, plan_schema) = (parse(PROGRAM), parse(PLAN));
    let tables: [(&Value, &str, &[&str]); 21] = [
        (&program_schema, "program", program::ProgramDoc::KEYS),
        (&program_schema, "module", program::ModuleDoc::KEYS),
        (&program_schema, "function", program::FunctionDoc::KEYS),
        (&program_schema, "memloc", program::MemLocDoc::KEYS),
        (&program_schema, "remote", program::RemoteDoc::KEYS),
        (&program_schema, "block", program::BlockDoc::KEYS),
        (
            &program_schema,
            "instruction",
            program::InstructionDoc::KEYS,
        ),
        (&program_schema, "slice", program::SliceDoc::KEYS),
        (&plan_schema, "plan", plan::PlanDoc::KEYS),
        (&plan_schema, "options", plan::OptionsDoc::KEYS),
        (&plan_schema, "region", plan::RegionDoc::KEYS),
        (&plan_schema, "space", plan::SpaceDoc::KEYS),
        (&plan_schema, "module", plan::ModuleDoc::KEYS),
        (&plan_schema, "function", plan::FunctionDoc::KEYS),
        (&plan_schema, "function_space", plan::FunctionSpaceDoc::KEYS),
        (&plan_schema, "collective", plan::CollectiveDoc::KEYS),
        (&plan_schema, "memloc", plan::MemLocDoc::KEYS),
        (&plan_schema, "owner", plan::OwnerDoc::KEYS),
        (&plan_schema, "straddler", plan::StraddlerDoc::KEYS),
        (&plan_schema, "dependence", plan::DependenceDoc::KEYS),
        (&plan_schema, "site", plan::SiteDoc::KEYS),
    ];
    for (schema, object, keys) in tables {
        let properties = schema["$defs"][object]["properties"]
            .as_object()
            .expect(object);
        let mut got: Vec<&str> = properties.keys().map(String::as_str).collect();
        got.retain(|key| *key != "x_cookie"); // Known, but no key of the table.
        let mut want = keys.to_vec();
        want.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, want, "{object}");
    }
}

#[test]
fn the_schemas_have_the_words_that_are_read() {
    fn words<T: Words>() -> Vec<&'static str> {
        T::ALL.iter().map(|value| value.word()).collect()
    }
    let (program_schema, plan_schema) = (parse(PROGRAM), parse(PLAN));
    let (memloc, of) = (
        &program_schema["$defs"]["memloc"]["properties"],
        &plan_schema["$defs"],
    );
    let options = &of["options"]["properties"];
    for (what, place, want) in [
        ("usage", &memloc["usage"], words::<Usage>()),
        ("space", &memloc["space"], words::<Space>()),
        ("memory", &memloc["memory"], words::<MemoryType>()),
        (
            "kind",
            &program_schema["$defs"]["instruction"]["properties"]["kind"],
            words::<Kind>(),
        ),
        (
            "usages",
            &of["usages"]["anyOf"][0]["items"],
            words::<Usage>(),
        ),
        ("space of a plan", &of["space_word"], words::<Space>()),
        (
            "space of a region",
            &of["region"]["properties"]["space"],
            words::<Space>(),
        ),
        (
            "space of a location",
            &of["memloc"]["properties"]["space"],
            words::<Space>(),
        ),
        ("strategy", &of["strategy_word"], words::<Strategy>()),
        (
            "status",
            &of["plan"]["properties"]["status"],
            words::<Status>(),
        ),
        ("preset", &options["preset"], words::<Preset>()),
        ("floor", &options["floor"], words::<Floor>()),
        ("geometry", &options["geometry"], words::<Geometry>()),
        (
            "skipped",
            &of["memloc"]["properties"]["skipped"],
            words::<Skipped>(),
        ),
        (
            "dependence",
            &of["dependence"]["properties"]["kind"],
            words::<DependenceKind>(),
        ),
    ] {
        let all = place["enum"].as_array().expect(what);
        let got: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
        assert_eq!(got, want, "{what}");
    }
}

#[test]
fn what_is_read_and_written_obeys_the_schemas() {
    let program = read_program(TWO_CORES.as_bytes()).expect("valid");
    let mut text = Vec::new();
    write_program(&program, &mut text).expect("a Vec takes everything");
    let schema = parse(PROGRAM);
    for text in [TWO_CORES, std::str::from_utf8(&text).expect("text")] {
        assert_eq!(check(&schema, &schema, &parse(text)), Ok(()));
    }

    let plan = read_plan(SMALL_PLAN.as_bytes()).expect("valid");
    let mut text = Vec::new();
    write_plan(&plan, &mut text).expect("a Vec takes everything");
    let schema = parse(PLAN);
    for text in [SMALL_PLAN, std::str::from_utf8(&text).expect("text")] {
        assert_eq!(check(&schema, &schema, &parse(text)), Ok(()));
    }
}

#[test]
fn generated_programs_and_their_plans_obey_the_schemas_and_survive() {
    let (program_schema, plan_schema) = (parse(PROGRAM), parse(PLAN));
    for_each_seed(0..40, |u| {
        let program = testing::program(u, &Shape::many_cores())?;
        let mut text = Vec::new();
        write_program(&program, &mut text).expect("a Vec takes everything");
        let json = parse(std::str::from_utf8(&text).expect("text"));
        assert_eq!(check(&program_schema, &program_schema, &json), Ok(()));
        let read = read_program(&text).expect("our own output");
        let mut again = Vec::new();
        write_program(&read, &mut again).expect("a Vec takes everything");
        assert_eq!(text, again);

        let planned = crate::plan(&read, &Options::default(), &mut Control::default());
        let Ok(plan) = planned else { return Ok(()) };
        let mut text = Vec::new();
        write_plan(&plan, &mut text).expect("a Vec takes everything");
        let json = parse(std::str::from_utf8(&text).expect("text"));
        assert_eq!(check(&plan_schema, &plan_schema, &json), Ok(()));
        assert_eq!(read_plan(&text), Ok(plan));
        Ok(())
    });
}

/// The schemas require every key and admit no other, so what is written has exactly theirs.
#[test]
fn what_reports_write_obeys_the_schemas() {
    let (explanation, difference) = (parse(EXPLANATION), parse(DIFFERENCE));
    let mut written = 0;
    for_each_seed(0..60, |u| {
        let mut sides = Vec::new();
        for _ in 0..2 {
            let program = testing::program(u, &Shape::many_cores())?;
            let options = Options {
                runtime_page: u.int_in_range(0..=1)?,
                ..testing::properties::options(u)?
            };
            if let Ok(plan) = crate::plan(&program, &options, &mut Control::default()) {
                sides.push((program, plan));
            }
        }
        for (program, plan) in &sides {
            let told = explain(program, plan, 3).expect("its own plan");
            let mut text = Vec::new();
            write_explanation(&told, &mut text).expect("a Vec takes everything");
            let mut json = parse(std::str::from_utf8(&text).expect("text"));
            assert_eq!(check(&explanation, &explanation, &json), Ok(()));
            json["spaces"] = Value::Null;
            assert!(check(&explanation, &explanation, &json).is_err());
            written += 1;
        }
        if let [(p, a), (q, b)] = sides.as_slice() {
            let told = diff((p, a), (q, b), 3).expect("their own plans");
            let mut text = Vec::new();
            write_difference(&told, &mut text).expect("a Vec takes everything");
            let mut json = parse(std::str::from_utf8(&text).expect("text"));
            assert_eq!(check(&difference, &difference, &json), Ok(()));
            json["kinds"][0]["kind"] = "other".into();
            assert!(check(&difference, &difference, &json).is_err());
        }
        Ok(())
    });
    assert!(written > 60, "{written}");
}

/// Replaces one thing in the examples, over and over: reader and schema agree on the shape.
#[test]
fn what_the_schemas_refuse_is_not_read() {
    let program = |from: &str, to: &str| (PROGRAM, TWO_CORES.replacen(from, to, 1));
    let plan = |from: &str, to: &str| (PLAN, SMALL_PLAN.replacen(from, to, 1));
    let cases = [
        program(r#""version": 1"#, r#""version": 2"#),
        program(r#""name": "halves""#, r#""name": 1"#),
        program(r#""name": "halves""#, r#""nam": "halves""#),
        program(r#""bytes": 6000"#, r#""bytes": -1"#),
        program(r#""bytes": 6000"#, r#""bytes": 0.5"#),
        program(r#""bytes": "18000""#, r#""bytes": "18 000""#),
        program(r#""bytes": 6000, "#, ""),
        program(r#""elem_size": 2"#, r#""elem_size": 4294967296"#),
        program(r#""usage": "input""#, r#""usage": "inputs""#),
        program(r#""reach": [0, 1]"#, r#""reach": [-1]"#),
        program(
            r#""remote": {"core": 0, "name": "both"}"#,
            r#""remote": {"core": 0}"#,
        ),
        program(r#"["half", "half"]"#, r#"["half"]"#),
        program(r#""op": "load", "#, ""),
        program(r#""succs": [1]"#, r#""succs": ["loop"]"#),
        program(r#""uses": ["in", "w"]"#, r#""uses": [["in", "w"]]"#),
        program(r#"{"loc": "both", "bytes": 4000}"#, r#"{"bytes": 4000}"#),
        program(r#""escapes": true"#, r#""escapes": 1"#),
        plan(r#""modules": ["#, r#""module": ["#),
        plan(r#""status": "feasible""#, r#""status": "good""#),
        plan(r#""address": 4096"#, r#""address": "0x1000""#),
        plan(r#""segments": [[0, 3]]"#, r#""segments": [0, 3]"#),
        plan(r#""segments": [[0, 3]]"#, r#""segments": [[0, 3, 4]]"#),
        plan(
            r#""owner": {"core": 0, "name": "s"}"#,
            r#""owner": {"core": 0}"#,
        ),
        plan(r#""kind": "anti""#, r#""kind": "war""#),
        plan(r#""cc_limit": -1"#, r#""cc_limit": -2"#),
        plan(r#""usage_mask": ["internal"]"#, r#""usage_mask": 64"#),
        plan(r#""size": 8192"#, r#""bytes": 8192"#),
    ];
    for (schema, text) in &cases {
        let read = if *schema == PROGRAM {
            read_program(text.as_bytes()).map(drop)
        } else {
            read_plan(text.as_bytes()).map(drop)
        };
        let schema = parse(schema);
        let checked = check(&schema, &schema, &parse(text));
        assert!(
            read.is_err() && checked.is_err(),
            "{read:?} {checked:?}\n{text}"
        );
    }
}

/// Whether a value obeys a schema; `root` is what references start from.
fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return Ok(());
    }; // `true`
    rules.iter().try_for_each(|(rule, wanted)| {
        if obeys(root, rules, rule, wanted, value) {
            return Ok(());
        }
        // The innermost reason is the one worth knowing.
        let inner = rules
            .get("$ref")
            .map(|r| check(root, definition(root, r), value));
        inner.unwrap_or(Ok(()))?;
        let short: String = value.to_string().chars().take(80).collect();
        Err(format!("{short} fails {rule}: {wanted}"))
    })
}

fn definition<'a>(root: &'a Value, reference: &Value) -> &'a Value {
    let name = reference
        .as_str()
        .and_then(|r| r.strip_prefix("#/$defs/"))
        .expect("a definition");
    root["$defs"]
        .get(name)
        .unwrap_or_else(|| panic!("there is no definition {name}"))
}

fn obeys(
    root: &Value,
    rules: &Map<String, Value>,
    rule: &str,
    wanted: &Value,
    value: &Value,
) -> bool {
    let obeys = |schema: &Value, value: &Value| check(root, schema, value).is_ok();
    let list = || wanted.as_array().expect("a list");
    match rule {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => obeys(definition(root, wanted), value),
        "anyOf" => list().iter().any(|schema| obeys(schema, value)),
        "const" => value == wanted,
        "enum" => list().contains(value),
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|t| is_a(t, value)),
            one => is_a(one, value),
        },
        "minimum" => whole(value).is_none_or(|n| Some(n) >= whole(wanted)),
        "maximum" => whole(value).is_none_or(|n| Some(n) <= whole(wanted)),
        "minLength" => value
            .as_str()
            .is_none_or(|s| s.len() as u64 >= wanted.as_u64().unwrap()),
        "pattern" => {
            assert_eq!(wanted, "^[0-9]+$");
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            value.as_str().is_none_or(digits)
        }
        "items" => value
            .as_array()
            .is_none_or(|all| all.iter().all(|v| obeys(wanted, v))),
        "minItems" => value
            .as_array()
            .is_none_or(|a| a.len() as u64 >= wanted.as_u64().unwrap()),
        "maxItems" => value
            .as_array()
            .is_none_or(|a| a.len() as u64 <= wanted.as_u64().unwrap()),
        "required" => value.as_object().is_none_or(|object| {
            list()
                .iter()
                .all(|key| object.contains_key(key.as_str().expect("a key")))
        }),
        "properties" => value.as_object().is_none_or(|object| {
            object
                .iter()
                .all(|(k, v)| wanted.get(k).is_none_or(|schema| obeys(schema, v)))
        }),
        "patternProperties" => wanted.as_object().is_some_and(|all| all.keys().eq(["^x_"])),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            let foreign =
                |key: &str| rules.contains_key("patternProperties") && key.starts_with("x_");
            object
                .keys()
                .all(|key| rules["properties"].get(key).is_some() || foreign(key))
        }),
        other => panic!("the validator does not know {other}"),
    }
}

fn whole(value: &Value) -> Option<i128> {
    let unsigned = value.as_u64().map(i128::from);
    unsigned.or(value.as_i64().map(i128::from))
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the validator does not know the type {other}"),
    }
}
