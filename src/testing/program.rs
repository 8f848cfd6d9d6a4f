//! What the cores have in common, and the modules that follow from it. // M4, M5

use super::flow::Barriers;
use super::function::{FunctionPlan, build};
use super::memlocs::{Formal, Locs, Pins, alignment, bytes};
use super::{Result, Shape, Unstructured, chance};
use crate::ir::{Function, Module, Program, Remote, Space, Usage};

/// Locations of several cores that are one.
#[derive(Clone, Debug)]
pub(super) struct Group {
    name: String,
    bytes: u64,
    align: Option<u64>,
    usage: Usage,
    escapes: bool,
    pin: Option<u64>,
    /// The cores with a member, ascending; the owner comes first if `links`.
    members: Vec<u32>,
    links: Links,
    /// Linked members may say `local`; the link makes them shared. // M1
    declared: Space,
    /// The cores that every member says reach it; none if it does not say.
    reach: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    /// One name on all cores.
    None,
    /// Every follower names the owner.
    Star,
    /// Every follower names the one before it.
    Chain,
}

impl Group {
    fn new(
        u: &mut Unstructured<'_>,
        shape: &Shape,
        pins: &mut Pins,
        cores: u32,
        number: usize,
    ) -> Result<Group> {
        let bytes = bytes(u, shape)?;
        let mut members = Vec::new();
        for core in 0..cores {
            if !chance(u, 4)? {
                members.push(core);
            }
        }
        let links = match u.int_in_range(0..=2)? {
            1 if shape.links && members.len() > 1 => Links::Star,
            2 if shape.links && members.len() > 1 => Links::Chain,
            _ => Links::None,
        };
        if links != Links::None {
            let owner = u.choose_index(members.len())?;
            members.swap(0, owner);
        }
        let declared = match links != Links::None && chance(u, 4)? {
            true => Space::Local,
            false => Space::Shared,
        };
        let mut reach = Vec::new();
        if shape.reach && chance(u, 8)? {
            reach.extend(0..cores);
            let keep = u.int_in_range(0..=1)? == 1;
            reach.retain(|core| keep || members.contains(core));
        }
        Ok(Group {
            name: format!("s{number}"),
            bytes,
            align: alignment(u, shape)?,
            usage: match shape.collectives && chance(u, 4)? {
                true => Usage::Collective,
                false => Usage::Internal,
            },
            escapes: shape.escapes && chance(u, 8)?,
            pin: match shape.pins && chance(u, 8)? {
                true => Some(pins.take(u, bytes)?),
                false => None,
            },
            members,
            links,
            declared,
            reach,
        })
    }

    /// Adds the member of `core`, if it has one.
    pub fn add_member(&self, locs: &mut Locs, core: u32) {
        let Some(position) = self.members.iter().position(|&member| member == core) else {
            return;
        };
        let name_on = |core: u32| match self.links {
            Links::None => self.name.clone(),
            Links::Star | Links::Chain => format!("{}_of_{core}", self.name),
        };
        let owner = match self.links {
            _ if position == 0 => None,
            Links::None => None,
            Links::Star => Some(self.members[0]),
            Links::Chain => Some(self.members[position - 1]),
        };
        let at = locs.add(name_on(core), self.bytes);
        let loc = &mut locs.all[at];
        loc.usage = self.usage;
        loc.space = self.declared;
        loc.align = self.align;
        loc.escapes = self.escapes;
        loc.pin = self.pin;
        loc.reach = self.reach.clone();
        loc.remote = owner.map(|core| Remote {
            core,
            name: name_on(core),
        });
    }
}

fn plans(
    u: &mut Unstructured<'_>,
    shape: &Shape,
    pins: &mut Pins,
    cores: u32,
) -> Result<Vec<FunctionPlan>> {
    let count = u.int_in_range(1..=shape.functions.max(1))? as usize;
    let mut plans: Vec<FunctionPlan> = (0..count)
        .map(|i| FunctionPlan {
            name: if i == 0 {
                "main".to_owned()
            } else {
                format!("f{i}")
            },
            ..FunctionPlan::default()
        })
        .collect();
    for callee in 1..if shape.calls { count } else { 1 } {
        // Callers come before their callees, so there is no cycle.
        for caller in 0..callee {
            if u.int_in_range(0..=2)? != 0 {
                plans[caller].callees.push(callee);
                plans[callee].called = true;
            }
        }
    }
    for plan in &mut plans {
        if shape.barriers && !plan.called && u.arbitrary()? {
            plan.barriers = Barriers::new(u, shape.branches)?;
        }
        if shape.shared {
            for number in 0..u.int_in_range(0..=3)? {
                plan.groups.push(Group::new(u, shape, pins, cores, number)?);
            }
        }
    }
    Ok(plans)
}

fn module(
    u: &mut Unstructured<'_>,
    shape: &Shape,
    plans: &[FunctionPlan],
    core: u32,
    pins: &mut Pins,
) -> Result<Module> {
    let mut built: Vec<Option<(Function, Vec<Formal>)>> = vec![None; plans.len()];
    for (i, plan) in plans.iter().enumerate().rev() {
        let callees: Vec<(&str, &[Formal])> = (plan.callees.iter())
            .map(|&callee| {
                let (function, formals) = built[callee]
                    .as_ref()
                    .expect("callees come after their callers");
                (function.name(), formals.as_slice())
            })
            .collect();
        let function = build(u, shape, plan, core, &callees, pins)?;
        built[i] = Some(function);
    }
    let mut module = Module::new(&format!("m{core}"), core);
    for (function, _) in built.into_iter().flatten() {
        module
            .add_function(function)
            .expect("the generator's functions have distinct names");
    }
    Ok(module)
}

pub(super) fn program(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Program> {
    let cores = u.int_in_range(1..=shape.cores.max(1))?;
    let mut pins = Pins::default();
    let plans = plans(u, shape, &mut pins, cores)?;
    let mut program = Program::new("random");
    for core in 0..cores {
        let module = module(u, shape, &plans, core, &mut pins)?;
        program
            .add_module(module)
            .expect("the generator gives each core one module");
    }
    Ok(program)
}

pub(super) fn lone_function(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Function> {
    let shape = Shape {
        functions: 1,
        ..shape.clone()
    };
    let mut pins = Pins::default();
    let mut plans = plans(u, &shape, &mut pins, 1)?;
    let plan = plans.pop().expect("there is always one");
    build(u, &shape, &plan, 0, &[], &mut pins).map(|(function, _)| function)
}
