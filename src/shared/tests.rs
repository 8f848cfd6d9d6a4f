//! Agreement over random programs: the spaces placed one by one and synced are the plan; whatever
//! breaks an agreement is found, by the verifier of cores and by the digests.

use super::*;
use crate::ir::{
    Bank, Extent, Function, InstructionSpec, Kind, MemLocSpec, Module, Operand, Placed, Program,
    Space, Usage, UsageMask,
};
use crate::options::Strategy;
use crate::testing::{self, Shape};
use crate::verify::lnc_verify;
use crate::{Control, Error, Options, apply, apply_space, plan, plan_space};

const MASK: UsageMask = UsageMask::CANDIDATES;

fn each(modules: &[Module]) -> Vec<&Module> {
    modules.iter().collect()
}

/// Places one space of modules and writes it.
fn place(modules: &mut [Module], space: Space) {
    let plan = plan_space(modules, space, &options(), &mut Control::default()).unwrap();
    for (m, module) in modules.iter_mut().enumerate() {
        apply_space(&plan, m, module, space);
    }
}

/// One way to place: over a whole plan, other strategies look whether a simpler one does better.
fn options() -> Options {
    Options {
        strategy: Strategy::Reference,
        ..Options::default()
    }
}

/// A program planned at once, and its modules.
fn planned(program: &Program) -> Vec<Module> {
    let mut program = program.clone();
    let plan = plan(&program, &options(), &mut Control::default()).unwrap();
    apply(&plan, &mut program);
    program.modules().to_vec()
}

#[test]
fn the_spaces_one_by_one_and_sync_are_the_plan_in_any_order_of_modules() {
    testing::for_each_seed(0..300, |u| {
        let backwards: bool = u.arbitrary()?;
        let program = testing::program(u, &Shape::many_cores())?;
        let mut want = planned(&program);
        let mut modules = program.modules().to_vec();
        if backwards {
            want.reverse();
            modules.reverse();
        }
        place(&mut modules, Space::Local);
        place(&mut modules, Space::Shared);
        let report = sync_shared_allocations(&mut modules, MASK, None).unwrap();
        place(&mut modules, Space::Debug);
        assert_eq!(modules, want);
        assert_eq!(lnc_verify(&each(&modules), MASK, None), []);
        let digests = core_digests(&each(&modules), MASK, None).unwrap();
        check_digests(digests.iter().map(|(c, d)| (*c, d.as_str()))).unwrap();
        if modules.len() > 1 {
            assert!(digests.iter().all(|(_, digest)| *digest == report.digest));
        }
        let again = sync_shared_allocations(&mut modules, MASK, None).unwrap();
        assert_eq!((again.assigned, again.groups), (0, report.groups));
        assert_eq!(modules, want, "a second time changes nothing");
        Ok(())
    });
}

#[test]
fn a_copy_that_disagrees_is_found_by_the_verifier_and_by_the_digests() {
    let mut broken = 0;
    testing::for_each_seed(0..300, |u| {
        let program = testing::program(u, &Shape::many_cores())?;
        let modules = planned(&program);
        let groups = Groups::of(&modules, MASK, None).unwrap();
        let free = |m: &Member| home(&modules, *m).1.memloc(m.loc).pin().is_none();
        let copies: Vec<Member> = (groups.placed().filter(|g| g.members.len() > 1))
            .flat_map(|g| g.members.iter().copied().filter(free))
            .collect();
        for &copy in &copies {
            let mut modules = modules.clone();
            let function = modules[copy.module as usize].function_mut(copy.function as usize);
            let placed = function.memloc(copy.loc).placed().unwrap();
            let moved = placed.address.map(|address| address + 4096);
            let moved = Placed {
                address: moved,
                ..placed
            };
            function.assign_one(copy.loc, moved);
            let found = lnc_verify(&each(&modules), MASK, None);
            assert!(
                found.iter().all(|v| v.kind == "copies_disagree"),
                "{found:?}"
            );
            assert!(!found.is_empty());
            let digests = core_digests(&each(&modules), MASK, None).unwrap();
            let digests = digests.iter().map(|(c, d)| (*c, d.as_str()));
            let error = check_digests(digests).unwrap_err().to_string();
            assert!(error.contains("different addresses"), "{error}");
            broken += 1;
        }
        Ok(())
    });
    assert!(broken > 100, "only {broken} copies were moved");
}

/// A module whose `main` has the given locations and one instruction that defines all of them.
fn module(core: u32, locs: &[MemLocSpec<'_>]) -> Module {
    let mut function = Function::new("main");
    let first = function.add_memlocs(locs).unwrap();
    let all: Vec<Operand> = (0..locs.len() as u32)
        .map(|i| crate::ir::MemLocId(first.0 + i).into())
        .collect();
    let touch = InstructionSpec {
        op: "x",
        kind: Kind::Compute,
        defs: &all,
        ..Default::default()
    };
    function.add_instruction(&touch).unwrap();
    let mut module = Module::new(&format!("m{core}"), core);
    module.add_function(function).unwrap();
    module
}

fn shared(name: &str, bytes: u64) -> MemLocSpec<'_> {
    MemLocSpec {
        name,
        extent: Some(Extent::Bytes(bytes)),
        space: Space::Shared,
        ..Default::default()
    }
}

fn follows<'a>(name: &'a str, bytes: u64, there: &'a str) -> MemLocSpec<'a> {
    MemLocSpec {
        remote: Some((0, there)),
        ..shared(name, bytes)
    }
}

fn error_of(modules: &mut [Module]) -> Error {
    let before = modules.to_vec();
    let error = sync_shared_allocations(modules, MASK, None).unwrap_err();
    assert_eq!(modules, before, "a failed sync writes nothing");
    error
}

#[test]
fn an_error_has_both_sides_and_writes_nothing() {
    let pinned = |spec: MemLocSpec<'static>, address| MemLocSpec {
        address: Some(address),
        ..spec
    };
    let cases: Vec<(&str, MemLocSpec<'_>, MemLocSpec<'_>, &str, &str, &str)> = vec![
        (
            "bytes",
            shared("s", 8),
            follows("t", 9, "s"),
            "t",
            "s",
            "8 and 9",
        ),
        (
            "nowhere",
            shared("s", 8),
            follows("t", 8, "u"),
            "t",
            "u",
            "no location",
        ),
        (
            "pins",
            pinned(shared("s", 8), 0),
            pinned(follows("t", 8, "s"), 4096),
            "t",
            "s",
            "pinned",
        ),
        (
            "unplaced",
            shared("s", 8),
            follows("t", 8, "s"),
            "s",
            "t",
            "was placed",
        ),
    ];
    for (name, a, b, here, there, says) in cases {
        let mut modules = [module(0, &[a]), module(1, &[b])];
        let error = error_of(&mut modules);
        let other = error
            .place
            .other
            .as_deref()
            .unwrap_or_else(|| panic!("{name}: {error}"));
        assert_eq!(error.place.location.as_deref(), Some(here), "{name}");
        assert_eq!(other.location.as_deref(), Some(there), "{name}");
        assert_eq!(other.function.as_deref(), Some("main"), "{name}");
        let cores = (error.place.core, other.core);
        assert!(
            [(Some(1), Some(0)), (Some(0), Some(1))].contains(&cores),
            "{name}"
        );
        let text = error.to_string();
        assert!(
            text.contains(says) && text.contains(there),
            "{name}: {text}"
        );
    }
    let far = MemLocSpec {
        remote: Some((7, "s")),
        ..shared("t", 8)
    };
    let error = error_of(&mut [module(0, &[shared("s", 8)]), module(1, &[far])]);
    assert!(
        error.to_string().contains("core 7 does not exist"),
        "{error}"
    );
    let twice = [shared("s", 8), shared("u", 8)];
    let error = error_of(&mut [module(0, &twice), module(0, &[shared("s", 8)])]);
    assert!(error.to_string().contains("of one core"), "{error}");
}

#[test]
fn followers_have_their_owners_partition_and_bank() {
    let bank = Bank {
        partition: 3,
        bank: 5,
    };
    let owner = MemLocSpec {
        bank,
        ..shared("s", 8)
    };
    let mut modules = [
        module(0, std::slice::from_ref(&owner)),
        module(1, &[follows("t", 8, "s")]),
    ];
    place(&mut modules, Space::Shared);
    sync_shared_allocations(&mut modules, MASK, None).unwrap();
    let of = |m: &Module| m.functions()[0].bank(crate::ir::MemLocId(0));
    assert_eq!((of(&modules[0]), of(&modules[1])), (bank, bank));
    assert_eq!(lnc_verify(&each(&modules), MASK, None), []);
    modules[1]
        .function_mut(0)
        .set_bank(crate::ir::MemLocId(0), Bank::default());
    let found = lnc_verify(&each(&modules), MASK, None);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, "banks_disagree");
    let again = sync_shared_allocations(&mut modules, MASK, None).unwrap();
    assert_eq!(again.assigned, 1);
    // A plan that is applied says the same as sync.
    let mut program = Program::new("p");
    for module in [module(0, &[owner]), module(1, &[follows("t", 8, "s")])] {
        program.add_module(module).unwrap();
    }
    assert_eq!(
        planned(&program).iter().map(of).collect::<Vec<_>>(),
        [bank, bank]
    );
}

#[test]
fn marks_that_are_missing_or_too_many_are_found() {
    let own = MemLocSpec {
        usage: Usage::Internal,
        space: Space::Local,
        ..shared("own", 8)
    };
    let make = |core, spec: MemLocSpec<'_>| module(core, &[spec, own.clone()]);
    let mut modules = [make(0, shared("s", 8)), make(1, follows("t", 8, "s"))];
    let kinds = |modules: &[Module]| -> Vec<&str> {
        let found = lnc_verify(&each(modules), MASK, None);
        found.into_iter().map(|v| v.kind).collect()
    };
    assert_eq!(kinds(&modules), ["unplaced"; 4]);
    place(&mut modules, Space::Local);
    assert_eq!(kinds(&modules), ["unplaced"; 2]);
    place(&mut modules, Space::Shared);
    assert_eq!(
        kinds(&modules),
        ["unmarked", "unplaced"][1..],
        "the follower"
    );
    sync_shared_allocations(&mut modules, MASK, None).unwrap();
    assert_eq!(kinds(&modules), [""; 0]);
    for (loc, want) in [(0, "unmarked"), (1, "wrongly_marked")] {
        let mut modules = modules.clone();
        let function = modules[1].function_mut(0);
        let id = crate::ir::MemLocId(loc);
        let placed = function.memloc(id).placed().unwrap();
        let is_shared_post_dram_alloc = !placed.is_shared_post_dram_alloc;
        function.assign_one(
            id,
            Placed {
                is_shared_post_dram_alloc,
                ..placed
            },
        );
        assert_eq!(kinds(&modules), [want]);
    }
}

#[test]
fn digests_that_differ_name_the_cores() {
    let held = |cores: &[(u32, &str)]| check_digests(cores.to_vec());
    assert!(held(&[]).is_ok());
    assert!(held(&[(3, "a")]).is_ok());
    assert!(held(&[(3, "a"), (1, "a")]).is_ok());
    let error = held(&[(2, "a"), (1, "b"), (0, "a"), (3, "b")]).unwrap_err();
    assert!(
        error.to_string().contains("a on 0, 2; b on 1, 3"),
        "{error}"
    );
}
