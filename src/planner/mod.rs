//! The run over a program: from modules to a plan. // M3, G1, X5
//!
//! ```text
//! scene      lives, calls, pins, groups and final spaces of the whole program
//!   private  one space of one module: frame -> place, callers first
//!   joint    the shared space of all modules, over epochs; lanes of cores that look the same
//!   occupied what its groups hold on a core, where both have one range of addresses
//! attempts   every space, by the strategy and by those that it contains
//! shares     one deadline for many problems
//! runtime_page what straddling the runtime's pages costs
//! assemble   what was decided, as a plan
//! foreign    the plan of addresses that somebody else chose
//! ```
//!
//! Nothing is written until everything is placed: a run is a value, and `assign` is the one step
//! that stores it. A failed run changes nothing. // P9

mod assemble;
mod attempts;
mod calls;
mod engines;
mod foreign;
mod frame;
mod grounds;
mod hint;
mod inherit;
mod joint;
mod lanes;
mod occupied;
mod pins;
mod private;
mod ranges;
mod rotate;
mod runtime_page;
mod scene;
mod shares;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unified_tests;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::ir::{Module, Placed, Program, Space};
use crate::options::Options;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::{ModulePlan, Plan};
use crate::shared;
pub(crate) use assemble::space_metrics;
use attempts::Attempt;
pub(crate) use calls::CallGraph;
pub use foreign::plan_with_addresses;
pub(crate) use grounds::{Ground, Grounds, Holder, Line, Rule};
use joint::JointRun;
use occupied::Occupied;
use private::{Room, SpaceRun};
pub use rotate::Rotation;
use scene::Scene;
use shares::{Stage, all_stages};

/// Plans a whole program; changes nothing.
///
/// Private mode on every module, shared mode over all, then the debug space; a later space of a
/// core gets what the earlier ones leave of its capacity. In unified geometry local and shared
/// have one range of addresses, and shared mode comes first. // M7
///
/// # Errors
///
/// Options out of their domain, pins that overlap while both are live, recursion, links and
/// barriers that do not agree, sizes that overflow once rounded, no room within the capacity,
/// cancelled before a placement was found.
pub fn plan(program: &Program, options: &Options, control: &mut Control<'_>) -> Result<Plan> {
    control.look()?; // Who has cancelled before is told nothing.
    control.enter("liveness");
    let mut planning = Planning::new(program.modules(), options, control)?;
    planning.place_all(control)?;
    planning.sync()?;
    Ok(planning.assemble())
}

/// Bytes that a space may use; `None`: no limit.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    /// What the spaces before it, as they were placed, leave.
    left: Option<u64>,
    /// What they leave at most, however they are placed: what does not fit in that does not fit
    /// at all. // S3
    firm: Option<u64>,
}

/// A program on its way to a plan: what was analysed, and what was placed so far.
pub(crate) struct Planning<'a> {
    scene: Scene<'a>,
    /// How to place; as the host asks, but while a simpler way has its turn.
    attempt: Attempt,
    local: Vec<Option<SpaceRun>>,
    shared: Option<JointRun>,
    debug: Vec<Option<SpaceRun>>,
    /// Followers have their owners' addresses. // M5
    synced: bool,
    /// The other spaces stay as earlier runs have stored them.
    beside_stored: bool,
    /// What is to be placed, in order.
    stages: Vec<Stage>,
}

impl<'a> Planning<'a> {
    /// Analyses modules; nothing is placed yet.
    pub(crate) fn new(
        modules: &'a [Module],
        options: &'a Options,
        control: &Control<'_>,
    ) -> Result<Planning<'a>> {
        options.validate()?;
        let scene = Scene::of(modules, options, control)?;
        let none = || modules.iter().map(|_| None).collect();
        let stages = all_stages(&scene);
        Ok(Planning {
            scene,
            attempt: Attempt::asked(options),
            local: none(),
            shared: None,
            debug: none(),
            synced: false,
            beside_stored: false,
            stages,
        })
    }

    /// Places what is to be placed.
    fn place_stages(&mut self, control: &mut Control<'_>) -> Result<()> {
        for (space, m) in self.stages.clone() {
            match space {
                Space::Local => self.place_local(m, control)?,
                Space::Shared => self.place_shared(control)?,
                Space::Debug => self.place_debug(m, control)?,
            }
        }
        Ok(())
    }

    /// Private mode: the local space of one module. In unified geometry it lies around what the
    /// cores share, which is placed first, whichever is asked for first. // M3, M7
    pub(crate) fn place_local(&mut self, m: usize, control: &mut Control<'_>) -> Result<()> {
        if self.scene.is_unified() {
            self.place_shared(control)?;
        }
        let run = self.place_private(m, Space::Local, control)?;
        self.local[m] = Some(run);
        Ok(())
    }

    /// Shared mode: every group of the program, once. // M3
    pub(crate) fn place_shared(&mut self, control: &mut Control<'_>) -> Result<()> {
        if self.shared.is_some() {
            return Ok(());
        }
        let cores = 0..self.scene.modules.len();
        let left = cores
            .map(|m| self.left(m, Space::Shared))
            .collect::<Result<Vec<_>>>()?;
        let firm = (0..self.scene.modules.len()).map(|m| self.firmly_left(m, Space::Shared));
        let capacity = Capacity {
            left: left.into_iter().flatten().min(),
            firm: firm.flatten().min(),
        };
        let later = self.later((Space::Shared, 0), control);
        let run = joint::run(&self.scene, self.attempt, capacity, later, control)?;
        self.shared = Some(run);
        Ok(())
    }

    /// The debug space of one module.
    pub(crate) fn place_debug(&mut self, m: usize, control: &mut Control<'_>) -> Result<()> {
        let run = self.place_private(m, Space::Debug, control)?;
        self.debug[m] = Some(run);
        Ok(())
    }

    /// Gives every follower its owner's address. // M5
    ///
    /// # Errors
    ///
    /// The shared space is not placed, and some group needs an address.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.shared.is_none()
            && let Some(group) = self.scene.groups.placed().next()
        {
            return Err(shared::nothing_placed(self.scene.modules, group));
        }
        self.synced = true;
        Ok(())
    }

    /// What was decided, as a plan; spaces that were not placed are left out.
    pub(crate) fn assemble(&self) -> Plan {
        assemble::assemble(self, &mut Pace::free())
    }

    /// The same, unless the host stops it: for a pipeline, which has more to do than this. // S2
    #[inline(never)] // Six passes ask for it.
    pub(crate) fn assemble_unless(&self, pace: &mut Pace<'_, '_>) -> Result<Plan> {
        let plan = assemble::assemble(self, pace);
        pace.end()?;
        Ok(plan)
    }

    fn place_private(&self, m: usize, space: Space, control: &mut Control<'_>) -> Result<SpaceRun> {
        let capacity = self.left(m, space)?;
        let around = self
            .shared
            .as_ref()
            .filter(|_| self.scene.is_unified() && space == Space::Local)
            .map(|run| Occupied::of(&self.scene, run, m));
        let room = Room {
            capacity: Capacity {
                left: capacity,
                firm: self.firmly_left(m, space),
            },
            around: around.as_ref(),
        };
        let later = self.later((space, m), control);
        private::run(&self.scene, m, space, self.attempt, room, later, control)
            .map_err(|e| e.on_core(self.scene.modules[m].core()))
    }

    /// How far earlier runs reach in a space of a core, by what they have stored there.
    fn stored_extent(&self, m: usize, space: Space) -> u64 {
        let modules = self.scene.modules;
        let seen = match space {
            Space::Shared => modules,
            Space::Local | Space::Debug => &modules[m..=m],
        };
        let locs = (seen.iter().flat_map(|m| m.functions())).flat_map(|f| f.memlocs());
        let ends = locs.filter(|loc| !loc.is_view()).filter_map(|loc| {
            let placed = loc.placed().filter(|p| p.space == space)?;
            let bytes = frame::rounded(loc.bytes, self.scene.options).unwrap_or(loc.bytes);
            Some(placed.address?.saturating_add(bytes))
        });
        ends.max().unwrap_or(0)
    }

    /// The bytes of a core that the spaces before `space` leave at most, however they are placed.
    fn firmly_left(&self, m: usize, space: Space) -> Option<u64> {
        let capacity = self.scene.options.core_capacity()?;
        let local = self.local[m].as_ref().map_or(0, SpaceRun::least_extent);
        let shared = self.shared.as_ref().map_or(0, JointRun::least_extent);
        Some(match space {
            Space::Local => capacity,
            _ if self.scene.is_unified() => capacity, // What is left has no simple form. // M7
            Space::Shared => capacity.saturating_sub(local),
            Space::Debug => capacity.saturating_sub(local.saturating_add(shared)),
        })
    }

    /// The bytes of a core that the spaces before `space` leave; `None`: no limit. // G1
    fn left(&self, m: usize, space: Space) -> Result<Option<u64>> {
        let Some(capacity) = self.scene.options.core_capacity() else {
            return Ok(None);
        };
        let pins = |space| self.scene.pins.end(m, space);
        let local = || {
            self.local[m]
                .as_ref()
                .map_or_else(|| pins(Space::Local), SpaceRun::extent)
        };
        let shared = || {
            self.shared
                .as_ref()
                .map_or_else(|| pins(Space::Shared), JointRun::extent)
        };
        let taken = match space {
            _ if self.beside_stored => (Space::ALL.iter())
                .filter(|&&other| other != space)
                .fold(0u64, |sum, &other| {
                    sum.saturating_add(pins(other).max(self.stored_extent(m, other)))
                }),
            Space::Local => 0,
            Space::Shared if self.scene.is_unified() => 0,
            Space::Shared => local(),
            // One range: how far it goes is not how far its parts go together. // M7
            Space::Debug if self.scene.is_unified() => {
                let groups = self.shared.as_ref().map_or(0, |run| run.ends[m]);
                local().max(groups).max(pins(Space::Shared))
            }
            Space::Debug => local().saturating_add(shared()),
        };
        let left = capacity
            .checked_sub(taken)
            .filter(|&left| pins(space) <= left);
        left.map(Some).ok_or_else(|| {
            let end = pins(space);
            let reason = format!(
                "{capacity} bytes hold neither the {taken} of the spaces before {space} \
                 nor its pins, which end at {end}"
            );
            Error::invalid("capacity", reason).on_core(self.scene.modules[m].core())
        })
    }
}

/// Plans one space of modules that need not be of one program, and of which no two are of one core;
/// changes nothing: private mode on each for `local` and `debug`, shared mode over all of them for
/// `shared`. // M3
///
/// What the modules link to must be among them. The other spaces have no addresses in the plan and
/// stay as they are; a core's capacity is what they leave of it. [`apply_space`] writes what the
/// plan holds, followers of a group get their owner's address by
/// [`crate::shared::sync_shared_allocations`].
///
/// # Errors
///
/// As for [`plan`].
pub fn plan_space(
    modules: &[Module],
    space: Space,
    options: &Options,
    control: &mut Control<'_>,
) -> Result<Plan> {
    let mut planning = Planning::new(modules, options, control)?;
    planning.beside_stored = true;
    planning.stages.retain(|stage| stage.0 == space);
    planning.place_stages(control)?;
    Ok(planning.assemble())
}

/// Writes one space of a plan into the module at a position of it.
///
/// # Panics
///
/// If the plan is not of this module, location by location.
pub fn apply_space(plan: &Plan, position: usize, module: &mut Module, space: Space) {
    assign(&plan.modules[position], module, space);
}

/// Private mode on one module of a program: plans its `local` space; changes nothing. What the
/// cores share is left to shared mode. // M3
///
/// In the returned plan the other spaces and modules have no addresses, but in unified geometry
/// for the owners of shared groups, around which the module is planned. [`apply_module`] writes
/// what is local. // M7
///
/// # Errors
///
/// As for [`plan`].
pub fn plan_module(
    program: &Program,
    module: usize,
    options: &Options,
    control: &mut Control<'_>,
) -> Result<Plan> {
    let mut planning = Planning::new(program.modules(), options, control)?;
    let unified = planning.scene.is_unified();
    let wanted = |&(space, m): &Stage| match space {
        Space::Local => m == module,
        Space::Shared => unified,
        Space::Debug => false,
    };
    planning.stages.retain(wanted);
    // Cores that are planned one by one must all lie around the same groups, so these are placed by
    // the strategy asked for, whichever is best for the module. // M7
    if unified {
        planning.place_shared(control)?;
    }
    let agreed = planning.shared.take();
    planning.place_well(control, |planning, control| {
        planning.shared.clone_from(&agreed);
        planning.place_local(module, control)
    })?;
    Ok(planning.assemble())
}

/// Writes the `local` addresses of a plan of [`plan_module`] into its module.
///
/// # Panics
///
/// If the plan is not of this program, location by location.
pub fn apply_module(plan: &Plan, module: usize, program: &mut Program) {
    apply_space(plan, module, program.module_mut(module), Space::Local);
}

/// Writes a plan's addresses into the program it was made for. // M2
///
/// # Panics
///
/// If the plan is not of this program, location by location.
pub fn apply(plan: &Plan, program: &mut Program) {
    assert_eq!(
        plan.modules.len(),
        program.modules().len(),
        "a plan of this program"
    );
    for (m, planned) in plan.modules.iter().enumerate() {
        for &space in Space::ALL {
            assign(planned, program.module_mut(m), space);
        }
    }
    share_banks(plan, program);
}

/// Gives followers their owners' partitions and banks, as sync does. // M5
fn share_banks(plan: &Plan, program: &mut Program) {
    let by_core: OrderedMap<u32, usize> = (program.modules().iter().enumerate())
        .map(|(m, module)| (module.core(), m))
        .collect();
    let mut writes = Vec::new();
    for (m, module) in program.modules().iter().enumerate() {
        for (f, function) in module.functions().iter().enumerate() {
            let planned = &plan.modules[m].functions[f].memlocs;
            for (id, planned) in function.memloc_ids().zip(planned) {
                let Some(owner) = planned.owner.as_ref().filter(|o| o.core != module.core()) else {
                    continue;
                };
                let there = by_core.get(&owner.core).map(|&o| &program.modules()[o]);
                let there =
                    there.and_then(|o| Some(&o.functions()[o.find_function(function.name())?]));
                let bank = there.and_then(|f| Some(f.bank(f.find_memloc(&owner.name)?)));
                if let Some(bank) = bank.filter(|&bank| bank != function.bank(id)) {
                    writes.push((m, f, function.root(id).0, bank));
                }
            }
        }
    }
    for (m, f, id, bank) in writes {
        program.module_mut(m).function_mut(f).set_bank(id, bank);
    }
}

/// Writes the locations of one final space.
pub(crate) fn assign(plan: &ModulePlan, module: &mut Module, space: Space) {
    assert_eq!(
        plan.functions.len(),
        module.functions().len(),
        "a plan of this module"
    );
    for (f, planned) in plan.functions.iter().enumerate() {
        let function = module.function_mut(f);
        assert_eq!(
            planned.memlocs.len(),
            function.memlocs().len(),
            "a plan of this function"
        );
        for (id, loc) in function.memloc_ids().zip(&planned.memlocs) {
            if loc.space == space {
                let placed = Placed {
                    address: loc.address,
                    space: loc.space,
                    skipped: loc.skipped,
                    is_shared_post_dram_alloc: loc.shared,
                };
                function.assign_one(id, placed);
            }
        }
    }
}
