//! `lnc_split`: one module becomes one per core. // M9

use crate::error::{Error, Result};
use crate::ir::{Function, Module, Program, Remote, Space};
use crate::pace::Pace;

/// The program with its only module cloned to `cores` cores.
///
/// Roots of the `shared` space are linked to core 0's, by name; everything else is each core's
/// own. What earlier runs placed is forgotten.
///
/// # Errors
///
/// No core; a program that does not have exactly one module, or whose module is not core 0's; a
/// shared location without a name, which no link could find.
pub fn lnc_split(program: &Program, cores: u32) -> Result<Program> {
    lnc_split_unless(program, cores, &mut Pace::free())
}

/// As [`lnc_split`], unless the host stops it. // S2
pub(crate) fn lnc_split_unless(
    program: &Program,
    cores: u32,
    pace: &mut Pace<'_, '_>,
) -> Result<Program> {
    let [module] = program.modules() else {
        let reason = format!(
            "the program has {} modules, not one",
            program.modules().len()
        );
        return Err(Error::invalid("modules", reason));
    };
    if cores == 0 {
        return Err(Error::invalid("cores", "is at least 1"));
    }
    if module.core() != 0 {
        let reason = format!(
            "{} is core {}'s, not core 0's",
            module.name(),
            module.core()
        );
        return Err(Error::invalid("modules", reason));
    }
    let mut split = Program::new(&program.name);
    for core in 0..cores {
        let name = match core {
            0 => module.name().to_owned(),
            _ => format!("{}.{core}", module.name()),
        };
        let mut clone = Module::new(&name, core);
        for function in module.functions() {
            clone.add_function(follower(function, core, pace)?)?;
        }
        split.add_module(clone)?;
    }
    split.extensions.clone_from(&program.extensions);
    Ok(split)
}

/// A function as `core` sees it.
fn follower(function: &Function, core: u32, pace: &mut Pace<'_, '_>) -> Result<Function> {
    let mut clone = function.clone();
    clone.clear_placement();
    for id in function.memloc_ids() {
        pace.work(1)?;
        let loc = function.memloc(id);
        if core == 0 || loc.space != Space::Shared || loc.is_view() {
            continue;
        }
        let name = function.memloc_name(id);
        if name.is_empty() {
            let error = Error::invalid("name", "a shared location needs one to be linked by");
            return Err(error
                .in_function(function.name())
                .at_location(&function.label(id)));
        }
        if function.remote(id).is_none() {
            clone.set_remote(
                id,
                Some(Remote {
                    core: 0,
                    name: name.to_owned(),
                }),
            );
        }
    }
    Ok(clone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Extent, MemLocSpec};

    #[test]
    fn shared_locations_are_linked_to_core_0_and_nothing_else_is() {
        let mut function = Function::new("main");
        for (name, space) in [
            ("s", Space::Shared),
            ("l", Space::Local),
            ("d", Space::Debug),
        ] {
            let extent = Some(Extent::Bytes(8));
            function
                .add_memloc(&MemLocSpec {
                    name,
                    extent,
                    space,
                    ..Default::default()
                })
                .unwrap();
        }
        let mut module = Module::new("m", 0);
        module.add_function(function).unwrap();
        let mut program = Program::new("p");
        program.add_module(module).unwrap();
        let split = lnc_split(&program, 3).unwrap();
        assert_eq!(
            split.modules().iter().map(Module::core).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        for module in split.modules() {
            let function = &module.functions()[0];
            let links: Vec<_> = function
                .memloc_ids()
                .map(|id| function.remote(id).cloned())
                .collect();
            let link = (module.core() > 0).then(|| Remote {
                core: 0,
                name: "s".to_owned(),
            });
            assert_eq!(links, [link, None, None]);
        }
        assert!(lnc_split(&split, 2).is_err());
        assert!(lnc_split(&program, 0).is_err());
    }
}
