//! Random programs survive, and damaged text is refused without a crash.

use arbitrary::Unstructured;

use super::{TWO_CORES, read_program, written};
use crate::ir::{
    BlockId, Extension, ExtensionSite, Extent, Function, InstructionSpec, Kind, MemLocId,
    MemLocSpec, MemoryType, Module, Operand, Program, Space, Usage,
};
use crate::testing::for_each_seed;

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

const REACHES: [&[u32]; 3] = [&[], &[0], &[2, u32::MAX, 1]];

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
            remote: some(u, |u| Ok((u.arbitrary()?, pick(u, &NAMES)?)))?,
            reach: pick(u, &REACHES)?,
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
