//! What plan files have to keep, and what they have to refuse.

use std::sync::Arc;

use arbitrary::Unstructured;

use super::{read_plan, write_plan};
use crate::ir::{Skipped, Space, Usage, UsageMask};
use crate::options::{Floor, Geometry, Options, Preset, SpaceRegion, Strategy};
use crate::place::Region;
use crate::plan::{
    CollectivePlan, Dependence, DependenceKind, FunctionPlan, FunctionSpace, MemLocPlan,
    ModulePlan, Owner, Plan, Site, SpacePlan, Status, Straddler,
};
use crate::testing::for_each_seed;

fn written(plan: &Plan) -> String {
    let mut text = Vec::new();
    write_plan(plan, &mut text).expect("a Vec takes everything");
    String::from_utf8(text).expect("JSON is text")
}

#[test]
fn a_plan_from_elsewhere_may_say_little() {
    let text = r#"{"format":"dramalloc-plan","version":1,"x_tool":"other","modules":[
        {"functions":[{"name":"main","memlocs":[
          {"name":"a","address":4096,"bytes":100},{"name":"b","address":null}]}]}],
        "metrics":{"waste":0.25,"moved":3}}"#;
    let plan = read_plan(text.as_bytes()).unwrap();
    assert_eq!(plan.options, Options::default());
    assert_eq!(
        (plan.status, plan.strategy),
        (Status::Unknown, Strategy::Fast)
    );
    assert_eq!(plan.modules[0].core, 0);
    let [a, b] = &plan.modules[0].functions[0].memlocs[..] else {
        panic!("two locations")
    };
    assert_eq!((a.address, a.bytes, a.aligned), (Some(4096), 100, 100));
    assert_eq!((b.address, b.space, b.skipped), (None, Space::Local, None));
    assert_eq!(plan.dependences, None);
    assert_eq!(plan.metrics.get("moved"), Some(&3));
    assert_eq!(
        plan.notes,
        ["metric \"waste\" is no whole number and was left out"]
    );
}

#[test]
fn options_are_read_by_their_names() {
    let text = r#"{"format":"dramalloc-plan","version":1,"modules":[],"options":{"strategy":"best",
        "capacity":"17179869184","preset":"trn2","budget_ms":10,"budget_steps":null,"floor":"holes",
        "align":64,"packed":true,"reuse_io":true,"strict":true,"cc_limit":-1,"trim_cc":true,
        "runtime_page":64,"geometry":"unified","shared_mib_per_core":8,"separate_functions":true,"keep":512,
        "usage_mask":["internal","weight"],
        "regions":[{"space":"shared","base":4096,"size":8192,"usages":18},{"size":1}]}}"#;
    let want = Options {
        strategy: Strategy::Best,
        capacity: Some(16 << 30),
        preset: Preset::Trn2,
        budget_ms: Some(10),
        budget_steps: None,
        floor: Floor::Holes,
        align: Some(64),
        packed: true,
        reuse_io: true,
        strict: true,
        cc_limit: -1,
        trim_cc: true,
        runtime_page: 64,
        geometry: Geometry::Unified,
        shared_mib_per_core: 8,
        separate_functions: true,
        keep: 512,
        usage_mask: UsageMask(1 << Usage::Internal as u32 | 1 << Usage::Weight as u32),
        regions: vec![
            SpaceRegion {
                space: Space::Shared,
                region: Region {
                    base: 4096,
                    size: 8192,
                    usages: UsageMask(18),
                },
            },
            SpaceRegion {
                space: Space::Local,
                region: Region {
                    base: 0,
                    size: 1,
                    usages: UsageMask::ALL,
                },
            },
        ],
    };
    let plan = read_plan(text.as_bytes()).unwrap();
    assert_eq!(plan.options, want);
    assert_eq!(
        plan.strategy,
        Strategy::Best,
        "what was asked for was run, if nothing else is said"
    );
    let again = read_plan(written(&plan).as_bytes()).unwrap();
    assert_eq!(again.options, want);
}

#[test]
fn an_error_says_where_and_what() {
    let plan = |keys: &str| format!(r#"{{"format":"dramalloc-plan","version":1,{keys}}}"#);
    let loc = |keys: &str| {
        plan(&format!(
            r#""modules":[{{"core":3,"functions":[{{"name":"f","memlocs":[{{"name":"a"}},{{{keys}}}]}}]}}]"#
        ))
    };
    let at = "modules[0].functions[0].memlocs[1]";
    let edge = |keys: &str| plan(&format!(r#""modules":[],"dependences":[{{{keys}}}]"#));
    let cases = [
        (
            "a program",
            r#"{"format":"dramalloc-program"}"#.to_owned(),
            "not \"dramalloc-plan\"".to_owned(),
        ),
        (
            "no modules",
            plan(r#""peak":1"#),
            "modules: missing".to_owned(),
        ),
        (
            "a key",
            plan(r#""pek":1"#),
            "pek: unknown key; a plan has format".to_owned(),
        ),
        (
            "an option",
            plan(r#""options":{"algn":1}"#),
            "options.algn: unknown key".to_owned(),
        ),
        (
            "a word",
            plan(r#""options":{"floor":"top"}"#),
            "options.floor: invalid value: string \"top\", expected one of hwm, holes".to_owned(),
        ),
        (
            "an impossible option",
            plan(r#""options":{"align":3},"modules":[]"#),
            "options.align: must be a power of two".to_owned(),
        ),
        (
            "a bit",
            plan(r#""options":{"usage_mask":64},"modules":[]"#),
            "options.usage_mask: ".to_owned(),
        ),
        (
            "a usage",
            plan(r#""options":{"usage_mask":["internl"]},"modules":[]"#),
            "options.usage_mask[0]: ".to_owned(),
        ),
        (
            "a region",
            plan(r#""options":{"regions":[{"base":1}]},"modules":[]"#),
            "options.regions[0].size: missing".to_owned(),
        ),
        (
            "a status",
            plan(r#""status":"fine""#),
            "status: ".to_owned(),
        ),
        (
            "a space",
            plan(r#""spaces":[{"core":0}],"modules":[]"#),
            "spaces[0].space: missing".to_owned(),
        ),
        (
            "a metric",
            plan(r#""metrics":{"a":1,"a":2},"modules":[]"#),
            "metrics.a: the key stands twice".to_owned(),
        ),
        (
            "a name",
            loc(r#""address":0"#),
            format!("core 3, function f: {at}.name: missing"),
        ),
        (
            "an address",
            loc(r#""name":"b","address":-4096"#),
            format!("core 3, function f: {at}.address: "),
        ),
        (
            "a reason",
            loc(r#""name":"b","skipped":"unused""#),
            format!("{at}.skipped: "),
        ),
        (
            "an owner",
            loc(r#""name":"b","owner":{"core":1}"#),
            format!("{at}.owner.name: missing"),
        ),
        (
            "a segment",
            loc(r#""name":"b","segments":[[1,2],[3]]"#),
            format!("{at}.segments[1]"),
        ),
        (
            "an edge",
            edge(r#""kind":"flow""#),
            "dependences[0].from or to: missing".to_owned(),
        ),
        (
            "a kind",
            edge(
                r#""from":{"function":"f","index":0},"to":{"function":"f","index":1},"kind":"war""#,
            ),
            "dependences[0].kind: ".to_owned(),
        ),
        (
            "a site",
            edge(r#""from":{"function":"f"},"to":{"function":"f","index":1},"kind":"anti""#),
            "dependences[0].from.index: missing".to_owned(),
        ),
    ];
    for (name, text, wanted) in cases {
        let error = read_plan(text.as_bytes()).expect_err(name).to_string();
        assert!(
            error.contains(&wanted),
            "{name}: {wanted:?} is not in {error:?}"
        );
        assert!(!error.contains('\n'), "{name}: {error}");
    }
}

// ---- random plans ----

fn text(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    u.choose(&["", "a", "ä\"\\", "line\nfeed", "#1"])
        .map(|s| s.to_string())
}

fn pick<T: Copy>(u: &mut Unstructured<'_>, from: &[T]) -> arbitrary::Result<T> {
    u.choose(from).copied()
}

fn list<'u, T>(
    u: &mut Unstructured<'u>,
    mut make: impl FnMut(&mut Unstructured<'u>) -> arbitrary::Result<T>,
) -> arbitrary::Result<Vec<T>> {
    (0..u.int_in_range(0..=2)?).map(|_| make(u)).collect()
}

fn mask(u: &mut Unstructured<'_>) -> arbitrary::Result<UsageMask> {
    u.int_in_range(0..=UsageMask::ALL.0).map(UsageMask)
}

fn options(u: &mut Unstructured<'_>) -> arbitrary::Result<Options> {
    let region = |u: &mut Unstructured<'_>, base| {
        let region = Region {
            base,
            size: u.int_in_range(0..=1 << 32)?,
            usages: mask(u)?,
        };
        Ok(SpaceRegion {
            space: pick(u, Space::ALL)?,
            region,
        })
    };
    Ok(Options {
        strategy: pick(u, Strategy::ALL)?,
        capacity: u.arbitrary()?,
        preset: pick(u, Preset::ALL)?,
        budget_ms: u.arbitrary()?,
        budget_steps: u.arbitrary()?,
        floor: pick(u, Floor::ALL)?,
        align: if u.arbitrary()? {
            Some(1 << u.int_in_range(0..=63)?)
        } else {
            None
        },
        packed: u.arbitrary()?,
        reuse_io: u.arbitrary()?,
        strict: u.arbitrary()?,
        cc_limit: u.int_in_range(-1..=i64::MAX >> 20)?,
        trim_cc: u.arbitrary()?,
        runtime_page: u.int_in_range(0..=u64::MAX >> 20)?,
        geometry: pick(u, Geometry::ALL)?,
        shared_mib_per_core: u.int_in_range(0..=u64::MAX >> 20)?,
        separate_functions: u.arbitrary()?,
        keep: u.arbitrary()?,
        usage_mask: mask(u)?,
        regions: if u.arbitrary()? {
            vec![region(u, 0)?, region(u, 1 << 32)?]
        } else {
            vec![]
        },
    })
}

fn memloc(u: &mut Unstructured<'_>) -> arbitrary::Result<MemLocPlan> {
    let reasons = [
        None,
        Some(Skipped::Unreferenced),
        Some(Skipped::CallerOwned),
    ];
    let others = [Some(Skipped::NotDram), Some(Skipped::FollowerUnused)];
    Ok(MemLocPlan {
        name: text(u)?,
        space: pick(u, Space::ALL)?,
        address: u.arbitrary()?,
        bytes: u.arbitrary()?,
        aligned: u.arbitrary()?,
        pinned: u.arbitrary()?,
        shared: u.arbitrary()?,
        owner: if u.arbitrary()? {
            Some(Owner {
                core: u.arbitrary()?,
                name: text(u)?,
            })
        } else {
            None
        },
        skipped: pick(u, &[&reasons[..], &others].concat())?,
        segments: list(u, |u| u.arbitrary())?,
    })
}

fn function(u: &mut Unstructured<'_>) -> arbitrary::Result<FunctionPlan> {
    let space = |u: &mut Unstructured<'_>| {
        let cc = CollectivePlan {
            limit: u.arbitrary()?,
            real: u.arbitrary()?,
            hwm: u.arbitrary()?,
        };
        Ok(FunctionSpace {
            space: pick(u, Space::ALL)?,
            floor: u.arbitrary()?,
            hwm: u.arbitrary()?,
            cc: u.arbitrary::<bool>()?.then_some(cc),
        })
    };
    Ok(FunctionPlan {
        name: text(u)?,
        spaces: list(u, space)?,
        memlocs: list(u, memloc)?,
    })
}

fn dependence(u: &mut Unstructured<'_>) -> arbitrary::Result<Dependence> {
    let site = |u: &mut Unstructured<'_>| {
        let function: Arc<str> = text(u)?.into();
        Ok(Site {
            core: u.arbitrary()?,
            function,
            index: u.arbitrary()?,
        })
    };
    Ok(Dependence {
        from: site(u)?,
        to: site(u)?,
        kind: pick(u, DependenceKind::ALL)?,
        distance: u.arbitrary()?,
        header: u.arbitrary()?,
    })
}

fn straddler(u: &mut Unstructured<'_>) -> arbitrary::Result<Straddler> {
    Ok(Straddler {
        core: u.arbitrary()?,
        function: text(u)?,
        name: text(u)?,
        space: pick(u, Space::ALL)?,
        address: u.arbitrary()?,
        bytes: u.arbitrary()?,
        pinned: u.arbitrary()?,
    })
}

fn plan(u: &mut Unstructured<'_>) -> arbitrary::Result<Plan> {
    let space = |u: &mut Unstructured<'_>| {
        Ok(SpacePlan {
            space: pick(u, Space::ALL)?,
            core: u.arbitrary()?,
            capacity: u.arbitrary()?,
            floor: u.arbitrary()?,
            peak: u.arbitrary()?,
            lower_bound: u.arbitrary()?,
        })
    };
    let module = |u: &mut Unstructured<'_>| {
        let functions = list(u, function)?;
        Ok(ModulePlan {
            name: text(u)?,
            core: u.arbitrary()?,
            functions,
        })
    };
    Ok(Plan {
        options: options(u)?,
        strategy: pick(u, Strategy::ALL)?,
        status: pick(u, Status::ALL)?,
        digest: text(u)?,
        peak: u.arbitrary()?,
        lower_bound: u.arbitrary()?,
        needs_dependences: u.arbitrary()?,
        spaces: list(u, space)?,
        modules: list(u, module)?,
        dependences: if u.arbitrary()? {
            Some(list(u, dependence)?)
        } else {
            None
        },
        straddlers: if u.arbitrary()? {
            Some(list(u, straddler)?)
        } else {
            None
        },
        metrics: list(u, |u| Ok((text(u)?, u.arbitrary()?)))?
            .into_iter()
            .collect(),
        notes: list(u, text)?,
    })
}

#[test]
fn any_plan_survives_a_round_trip() {
    for_each_seed(0..300, |u| {
        let plan = plan(u)?;
        let text = written(&plan);
        let read = read_plan(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read, plan, "{text}");
        Ok(())
    });
}

#[test]
fn damaged_text_is_read_or_refused_but_never_a_crash() {
    for_each_seed(0..300, |u| {
        let mut bytes = written(&plan(u)?).into_bytes();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.choose_index(bytes.len())?;
            match u.int_in_range(0..=2)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => bytes[at] = pick(u, b"{}[]\",:0-9.eEtfn\\ ")?,
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        if let Ok(plan) = read_plan(&bytes) {
            assert_eq!(read_plan(written(&plan).as_bytes()), Ok(plan));
        }
        Ok(())
    });
}
