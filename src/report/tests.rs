//! Who holds memory, counted again by hand.

use std::collections::BTreeMap;

use super::*;
use crate::ir::{
    Extent, FlatIndex, Function, InstructionSpec, Kind, MemLocId, MemLocSpec, Module, Operand,
    Program, Space,
};
use crate::plan::Plan;
use crate::testing;
use crate::{Control, Options, plan};

fn loc(name: &str, pages: u64, space: Space) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(pages * 4096)),
        space,
        ..Default::default()
    }
}

fn touch(function: &mut Function, locs: &[MemLocId], writes: bool) {
    let operands: Vec<Operand> = locs.iter().map(|&id| id.into()).collect();
    let (uses, defs): (&[Operand], &[Operand]) = match writes {
        true => (&[], &operands),
        false => (&operands, &[]),
    };
    let spec = InstructionSpec {
        op: "x",
        uses,
        defs,
        ..Default::default()
    };
    function.add_instruction(&spec).unwrap();
}

fn barrier(function: &mut Function) {
    let spec = InstructionSpec {
        op: "barrier",
        kind: Kind::Barrier,
        ..Default::default()
    };
    function.add_instruction(&spec).unwrap();
}

fn program(functions: Vec<Function>) -> (Program, Plan) {
    let mut program = Program::new("p");
    for (core, function) in functions.into_iter().enumerate() {
        let mut module = Module::new(&format!("m{core}"), core as u32);
        module.add_function(function).unwrap();
        program.add_module(module).unwrap();
    }
    let plan = plan(&program, &Options::default(), &mut Control::default()).unwrap();
    (program, plan)
}

#[test]
fn a_group_that_two_pairs_of_cores_hold_apart_counts_twice_on_the_device() {
    let functions = (0..4).map(|core| {
        let mut f = Function::new("main");
        let name = if core < 2 { "a" } else { "b" };
        let shared = f.add_memloc(&loc(name, 3, Space::Shared)).unwrap();
        let own = f.add_memloc(&loc("own", 1, Space::Local)).unwrap();
        touch(&mut f, &[shared, own], true);
        touch(&mut f, &[shared, own], false);
        f
    });
    let (program, plan) = program(functions.collect());
    let pressure = pressure(&program, &plan, 10);
    for core in &pressure.cores {
        assert_eq!(core.peak.of(Category::Shared), 3 * 4096);
        assert_eq!(core.peak.of(Category::Private), 4096);
    }
    for device in [
        pressure.device,
        device_profile(&program, &plan, (1, 0), 10, None).unwrap()[1],
    ] {
        assert_eq!(device.of(Category::Shared), 2 * 3 * 4096);
        assert_eq!(device.of(Category::Private), 4 * 4096);
        assert_eq!(device.of(Category::Extra), 40);
    }
    let less = pressure.device - pressure.cores[0].peak;
    assert_eq!(less.of(Category::Private), 3 * 4096);
    assert_eq!(less + pressure.cores[0].peak, pressure.device);
}

/// Cores that pass `barriers` barriers, one function each, straight through.
fn straight(u: &mut testing::Unstructured<'_>) -> testing::Result<(Program, Plan)> {
    let barriers = u.int_in_range(0..=3)?;
    let mut functions = Vec::new();
    for _ in 0..u.int_in_range(1..=3)? {
        let mut f = Function::new("main");
        let mut locs = Vec::new();
        for i in 0..3u64 {
            for (prefix, space) in [("s", Space::Shared), ("l", Space::Local)] {
                let name = format!("{prefix}{i}");
                locs.push(f.add_memloc(&loc(&name, 1 + i, space)).unwrap());
            }
        }
        for k in 0..=barriers {
            for _ in 0..u.int_in_range(0..=4)? {
                let at = *u.choose(&locs)?;
                touch(&mut f, &[at], u.arbitrary()?);
            }
            if k < barriers {
                barrier(&mut f);
            }
        }
        functions.push(f);
    }
    Ok(program(functions))
}

/// The epoch of every instruction: how many barriers have come, its own included.
fn epochs(f: &Function) -> Vec<u32> {
    let mut epoch = 0;
    let mut of = |i: &crate::ir::Instruction| {
        epoch += u32::from(i.kind == Kind::Barrier);
        epoch
    };
    f.instructions().iter().map(&mut of).collect()
}

#[test]
fn the_device_holds_each_core_at_its_worst_between_two_barriers_and_shared_bytes_once() {
    let mut counted = 0;
    testing::for_each_seed(0..400, |u| {
        let (program, plan) = straight(u)?;
        let functions: Vec<&Function> = program
            .modules()
            .iter()
            .map(|m| &m.functions()[0])
            .collect();
        let planned: Vec<_> = plan
            .modules
            .iter()
            .map(|m| &m.functions[0].memlocs)
            .collect();
        let private = |core: usize, t: usize| -> u64 {
            let lives = planned[core]
                .iter()
                .filter(|l| !l.shared && l.address.is_some());
            let at = lives.filter(|l| {
                l.segments
                    .iter()
                    .any(|&(a, b)| (a..=b).contains(&(t as u32)))
            });
            at.map(|l| l.aligned).sum()
        };
        // A group lives from the first to the last epoch in which any core touches it.
        let mut lives: BTreeMap<&str, (u32, u32, u64)> = BTreeMap::new();
        for (f, planned) in functions.iter().zip(&planned) {
            for (t, epoch) in epochs(f).into_iter().enumerate() {
                let t = FlatIndex::new(t);
                for access in f.uses(t).iter().chain(f.defs(t)) {
                    let loc = &planned[access.loc.index()];
                    if loc.shared {
                        let life = lives
                            .entry(&loc.name)
                            .or_insert((epoch, epoch, loc.aligned));
                        *life = (life.0.min(epoch), life.1.max(epoch), life.2);
                    }
                }
            }
        }
        for (core, f) in functions.iter().enumerate() {
            let got = device_profile(&program, &plan, (core, 0), 0, None).unwrap();
            assert_eq!(got.len(), f.instructions().len());
            for (t, epoch) in epochs(f).into_iter().enumerate() {
                let others = (0..functions.len()).filter(|&o| o != core).map(|o| {
                    let there = epochs(functions[o]);
                    let there = there.iter().enumerate().filter(|&(_, &e)| e == epoch);
                    there.map(|(t, _)| private(o, t)).max().unwrap_or(0)
                });
                let want: u64 = private(core, t) + others.sum::<u64>();
                assert_eq!(got[t].of(Category::Private), want, "{program:#?}");
                let live = lives.values().filter(|l| l.0 <= epoch && epoch <= l.1);
                assert_eq!(got[t].of(Category::Shared), live.map(|l| l.2).sum::<u64>());
                counted += 1;
            }
        }
        Ok(())
    });
    assert!(counted > 1000, "{counted} instructions");
}
