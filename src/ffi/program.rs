//! `dram_program`: a whole program, one module per core, and who its children are. // C3
//!
//! The program's value lies behind one lock, shared by all of its children's handles, which hold
//! positions in it. A run takes a snapshot, which costs a reference count, and works without the
//! lock; a change that comes meanwhile is made to a copy.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};

use super::boundary::{Call, boundary};
use super::context::{Context, dram_context, dram_log_level};
use super::error::{DRAM_UNKNOWN, dram_error};
use super::function::{FunctionObject, dram_function};
use super::handle::{Handle, Object, Registry};
use super::module::{ModuleObject, dram_module};
use super::options::{dram_control, dram_options};
use super::plan::{PlanObject, dram_hbm_usage, dram_plan, dram_verdict};
use super::report::{self, dram_report, dram_verify_options};
use super::status::dram_status;
use super::structs::{self, Out, OutStruct};
use super::text::{Writer, dram_str, dram_write_fn, slice};
use super::{at, options};
use crate::control::Control;
use crate::depend;
use crate::error::{Error, Fault, Result};
use crate::format;
use crate::ir;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::report::{Category, Verdict, hbm_usage};
use crate::sorting::CompactSort as _;
use crate::verify::{Violation, verify_deep_with, verify_with};

/// A program under construction or planned: modules, one per core.
///
/// Threads: calls on a program, its modules and its functions may run at the same time, except
/// freeing it. Those that only read run side by side; a change waits its turn.
pub struct dram_program {
    _opaque: (),
}

static PROGRAMS: Registry<dram_program> = Registry::new();

impl Handle for dram_program {
    type Object = ProgramObject;
    const NAME: &'static str = "dram_program";
    const TAG: u8 = 0x84;
    fn registry() -> &'static Registry<dram_program> {
        &PROGRAMS
    }
}

/// What a `dram_program` handle stands for.
pub(super) struct ProgramObject {
    pub(super) context: Arc<Context>,
    value: RwLock<Value>,
    children: Mutex<Children>,
    /// One flag for the program and all of its children: they are one value.
    pub(super) poison: AtomicBool,
}

struct Value {
    program: Arc<ir::Program>,
    /// How often each module has changed; tells a run whether its module is still the same.
    changes: Vec<u64>,
}

/// The tokens handed out for modules and functions, by position.
#[derive(Default)]
struct Children {
    freed: bool,
    modules: Vec<Option<Child>>,
}

struct Child {
    address: usize,
    module: Arc<ModuleObject>,
    functions: Vec<Option<usize>>,
}

impl Object for ProgramObject {
    fn poison(&self) -> Option<&AtomicBool> {
        Some(&self.poison)
    }
}

impl ProgramObject {
    fn new(context: Arc<Context>, program: ir::Program) -> ProgramObject {
        ProgramObject {
            context,
            value: RwLock::new(Value {
                changes: vec![0; program.modules().len()],
                program: Arc::new(program),
            }),
            children: Mutex::new(Children::default()),
            poison: AtomicBool::new(false),
        }
    }

    /// The program as it is now; later changes do not reach it.
    pub(super) fn snapshot(&self) -> Arc<ir::Program> {
        Arc::clone(&self.value.read().program)
    }

    /// Looks at the program as it is.
    pub(super) fn read<T>(&self, body: impl FnOnce(&ir::Program) -> T) -> T {
        body(&self.value.read().program)
    }

    /// Changes a module in place.
    pub(super) fn change<T>(&self, module: usize, body: impl FnOnce(&mut ir::Module) -> T) -> T {
        let mut value = self.value.write();
        value.changes[module] += 1;
        body(Arc::make_mut(&mut value.program).module_mut(module))
    }

    /// The program as it is now, and how often a module had changed.
    pub(super) fn snapshot_for(&self, module: usize) -> (Arc<ir::Program>, u64) {
        let value = self.value.read();
        (Arc::clone(&value.program), value.changes[module])
    }

    /// The program as it is now, and how often each module had changed.
    pub(super) fn seen(self: &Arc<Self>) -> Seen {
        let value = self.value.read();
        Seen {
            program: Arc::clone(self),
            value: Arc::clone(&value.program),
            changes: value.changes.clone(),
        }
    }

    /// Writes the plan of a module that has not changed since.
    pub(super) fn apply_module(&self, module: usize, plan: &Plan, changes: u64) -> Result<()> {
        let mut value = self.value.write();
        if value.changes[module] != changes {
            return Err(changed_meanwhile());
        }
        value.changes[module] += 1;
        crate::apply_module(plan, module, Arc::make_mut(&mut value.program));
        Ok(())
    }

    /// The handle of a module; the same one each time.
    pub(super) fn module(self: &Arc<Self>, position: usize) -> Result<*mut dram_module> {
        let mut children = self.children.lock();
        let child = self.child(&mut children, position)?;
        Ok(ptr::without_provenance_mut(child.address))
    }

    /// Keeps the figures of an allocation for a module.
    pub(super) fn set_module_metrics(
        self: &Arc<Self>,
        position: usize,
        metrics: BTreeMap<String, u64>,
    ) {
        let mut children = self.children.lock();
        // Of a program that was freed during the call nobody can ask for figures.
        if let Ok(child) = self.child(&mut children, position) {
            child.module.set_metrics(metrics);
        }
    }

    /// The handle of a function; the same one each time.
    pub(super) fn function(
        self: &Arc<Self>,
        module: usize,
        position: usize,
    ) -> Result<*mut dram_function> {
        let mut children = self.children.lock();
        let child = self.child(&mut children, module)?;
        if child.functions.len() <= position {
            child.functions.resize(position + 1, None);
        }
        let address = match child.functions[position] {
            Some(address) => address,
            None => {
                let name = self.read(|program| {
                    let functions = program.modules()[module].functions();
                    at(functions, position as u64, "function").map(|f| f.name().into())
                })?;
                let module = Arc::clone(&child.module);
                let object = FunctionObject {
                    module,
                    position,
                    name,
                };
                let address = dram_function::registry().insert(Arc::new(object)).addr();
                child.functions[position] = Some(address);
                address
            }
        };
        Ok(ptr::without_provenance_mut(address))
    }

    fn child<'a>(
        self: &Arc<Self>,
        children: &'a mut Children,
        position: usize,
    ) -> Result<&'a mut Child> {
        if children.freed {
            return Err(Error::invalid("program", "was freed during the call"));
        }
        if children.modules.len() <= position {
            children.modules.resize_with(position + 1, || None);
        }
        let child = &mut children.modules[position];
        if child.is_none() {
            let (name, core) = self.read(|program| {
                let module = at(program.modules(), position as u64, "module")?;
                Ok::<_, Error>((module.name().into(), module.core()))
            })?;
            let module = Arc::new(ModuleObject::new(Arc::clone(self), position, name, core));
            *child = Some(Child {
                address: dram_module::registry().insert(Arc::clone(&module)).addr(),
                module,
                functions: Vec::new(),
            });
        }
        Ok(child.as_mut().expect("just made"))
    }
}

/// A program as a call saw it when it began.
pub(super) struct Seen {
    pub(super) program: Arc<ProgramObject>,
    pub(super) value: Arc<ir::Program>,
    changes: Vec<u64>,
}

impl Seen {
    /// Changes the whole program, if nobody else has meanwhile.
    pub(super) fn change(self, body: impl FnOnce(&mut ir::Program)) -> Result<()> {
        let Seen {
            program,
            value,
            changes,
        } = self;
        drop(value); // So that the change is made in place.
        let mut value = program.value.write();
        if value.changes != changes {
            return Err(changed_meanwhile());
        }
        let Value { program, changes } = &mut *value;
        let program = Arc::make_mut(program);
        body(program);
        changes.resize(program.modules().len(), 0);
        changes.iter_mut().for_each(|changes| *changes += 1);
        Ok(())
    }
}

/// Changes modules of several programs, all or none: none if one of them has changed meanwhile.
///
/// `modules`: which program of `seen`, and the position there. `body` receives each with its place
/// in the list.
pub(super) fn change_modules(
    seen: Vec<Seen>,
    modules: &[(usize, usize)],
    mut body: impl FnMut(usize, &mut ir::Module),
) -> Result<()> {
    let programs: Vec<(Arc<ProgramObject>, Vec<u64>)> = seen
        .into_iter()
        .map(|seen| (seen.program, seen.changes)) // Without the values: changes are in place.
        .collect();
    // All threads take the locks in one order, so that no two wait for each other.
    let mut order: Vec<usize> = (0..programs.len()).collect();
    order.sort_compact_by_key(|&p| Arc::as_ptr(&programs[p].0).addr());
    let mut values: Vec<_> = programs.iter().map(|_| None).collect();
    for p in order {
        values[p] = Some(programs[p].0.value.write());
    }
    let changed = |&(p, m): &(usize, usize)| {
        let value = values[p].as_ref().expect("all are locked");
        value.changes.get(m) != programs[p].1.get(m)
    };
    if modules.iter().any(changed) {
        return Err(changed_meanwhile());
    }
    for (i, &(p, m)) in modules.iter().enumerate() {
        let value = values[p].as_mut().expect("all are locked");
        value.changes[m] += 1;
        body(i, Arc::make_mut(&mut value.program).module_mut(m));
    }
    Ok(())
}

fn changed_meanwhile() -> Error {
    let sentence = "a module was changed while its addresses were being worked out";
    Fault::FailedPrecondition(sentence.into()).into()
}

/// Registers a program as a child of its context.
fn hand_out(context: Arc<Context>, program: ir::Program) -> Result<*mut dram_program> {
    let handle = PROGRAMS.insert(Arc::new(ProgramObject::new(Arc::clone(&context), program)));
    context.adopt(handle.addr()).inspect_err(|_| free(handle))?;
    Ok(handle)
}

/// Ends a program's handle and its children's, if it is still there.
pub(super) fn free(program: *const dram_program) {
    let Ok(program) = PROGRAMS.remove(program, "program") else {
        return; // Another thread was faster.
    };
    let modules = {
        let mut children = program.children.lock();
        children.freed = true;
        std::mem::take(&mut children.modules)
    };
    for Child {
        address, functions, ..
    } in modules.into_iter().flatten()
    {
        for function in functions.into_iter().flatten() {
            let function = ptr::without_provenance(function);
            let _ = dram_function::registry().remove(function, "function");
        }
        let module = ptr::without_provenance(address);
        let _ = dram_module::registry().remove(module, "module");
    }
}

/// Makes an empty program, a child of `context`. Free it with `dram_program_free`; freeing the
/// context frees it too.
///
/// `name`: any text, copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_new(
    context: *mut dram_context,
    name: dram_str,
    program_out: *mut *mut dram_program,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let program_out = unsafe { Out::new(program_out, ptr::null_mut(), "program_out")? };
        let context = call.get(context, "context")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        program_out.set(hand_out(context, ir::Program::new(name))?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Reads a program file (JSON text), as a child of `context`.
///
/// `data`, `len`: the text. A mistake in it is `DRAM_STATUS_INVALID_ARGUMENT`, and the message has
/// the line or the path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_from_json(
    context: *mut dram_context,
    data: *const u8,
    len: usize,
    program_out: *mut *mut dram_program,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let program_out = unsafe { Out::new(program_out, ptr::null_mut(), "program_out")? };
        let context = call.get(context, "context")?;
        // SAFETY: as this function's parameter says.
        let text = unsafe { slice(data, len, "data")? };
        program_out.set(hand_out(context, format::read_program(text)?)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Writes the program as a file (JSON text), for a bug report or the command line.
///
/// `write`, `user`: receives the text in pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_to_json(
    program: *const dram_program,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let program = call.get(program, "program")?.snapshot();
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        writer.document(|sink| format::write_program(&program, sink))
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees a program with its modules and functions, whose handles become stale. Null is fine. A
/// plan of it stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_free(program: *mut dram_program) -> dram_status {
    let body = |_: &mut Call| {
        if program.is_null() {
            return Ok(());
        }
        let object = PROGRAMS.get(program, "program")?;
        object.context.disown(program.addr());
        free(program);
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(ptr::null_mut(), body) }
}

/// Adds a module, a child of the program: freed with it, and only so.
///
/// `name`: any text, copied. `core`: its core, `0..N-1`; a second module for one core is
/// `DRAM_STATUS_ALREADY_EXISTS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_add_module(
    program: *mut dram_program,
    name: dram_str,
    core: u32,
    module_out: *mut *mut dram_module,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let module_out = unsafe { Out::new(module_out, ptr::null_mut(), "module_out")? };
        let program = call.get(program, "program")?;
        // SAFETY: as this function's parameter says.
        let name = unsafe { name.read("name")? };
        let module = ir::Module::new(name, core);
        let position = {
            let mut value = program.value.write();
            let position = Arc::make_mut(&mut value.program).add_module(module)?;
            value.changes.push(0);
            position
        };
        module_out.set(program.module(position)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// How many modules there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_module_count(
    program: *const dram_program,
    count_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let count_out = unsafe { Out::new(count_out, 0, "count_out")? };
        let program = call.get(program, "program")?;
        count_out.set(program.read(|program| program.modules().len() as u32));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The module at a position, in the order in which they were added; the same handle each time.
/// Past the last one `DRAM_STATUS_OUT_OF_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_module(
    program: *const dram_program,
    position: u32,
    module_out: *mut *mut dram_module,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let module_out = unsafe { Out::new(module_out, ptr::null_mut(), "module_out")? };
        let program = call.get(program, "program")?;
        program.read(|program| at(program.modules(), position.into(), "module").map(drop))?;
        module_out.set(program.module(position as usize)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The module of a core; the same handle each time. `DRAM_STATUS_NOT_FOUND` if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_find_module(
    program: *const dram_program,
    core: u32,
    module_out: *mut *mut dram_module,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let module_out = unsafe { Out::new(module_out, ptr::null_mut(), "module_out")? };
        let program = call.get(program, "program")?;
        let position = program.read(|program| module_of(program, core))?;
        module_out.set(program.module(position)?);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Plans the whole program and changes nothing in it: the plan has the addresses. Free it with
/// `dram_plan_free`; it does not need the program any more.
///
/// `options`, `control`: null for the defaults. The run works on the program as it was when the
/// call began.
///
/// No placement: `DRAM_STATUS_RESOURCE_EXHAUSTED`, and the error has a `dram_no_room`; the budget
/// over with none found: `DRAM_STATUS_DEADLINE_EXCEEDED`; cancelled with none found:
/// `DRAM_STATUS_CANCELLED`. With a placement the call succeeds, and the plan's status says how
/// good it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_plan(
    program: *const dram_program,
    options: *const dram_options,
    control: *const dram_control,
    plan_out: *mut *mut dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let plan_out = unsafe { Out::new(plan_out, ptr::null_mut(), "plan_out")? };
        let program = call.get(program, "program")?;
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let snapshot = program.snapshot();
        let plan = watch.run(&options, |control| {
            crate::plan(&snapshot, &options, control)
        })?;
        log_plan(&program.context, &snapshot.name, &plan);
        plan_out.set(dram_plan::registry().insert(Arc::new(PlanObject::new(plan))));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Tells the host what a person should know about a new plan.
pub(super) fn log_plan(context: &Context, name: &str, plan: &crate::Plan) {
    for note in &plan.notes {
        context.log(dram_log_level::Warning, || note.clone());
    }
    context.log(dram_log_level::Info, || {
        let (peak, bound) = (plan.peak, plan.lower_bound);
        format!(
            "{name}: peak {peak} bytes, lower bound {bound} bytes, {}",
            plan.status
        )
    });
}

/// Writes a plan's addresses into the program, where `dram_function_addresses` finds them.
///
/// The plan must be of this program as it is: the same modules, functions, locations, sizes and
/// pins, else `DRAM_STATUS_FAILED_PRECONDITION`, and nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_apply(
    program: *mut dram_program,
    plan: *const dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let program = call.get(program, "program")?;
        let plan = call.get(plan, "plan")?;
        let mut value = program.value.write();
        plan.plan.check_is_of(&value.program)?;
        value.changes.iter_mut().for_each(|changes| *changes += 1);
        crate::apply(&plan.plan, Arc::make_mut(&mut value.program));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What a core needs of its memory under a plan, and what fills it. `DRAM_STATUS_NOT_FOUND` if the
/// program has no module for the core, `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not of the
/// program as it is.
///
/// `extra`: bytes that only the host knows of, such as descriptors. `usage_out`: set its
/// `struct_size`, the call fills the rest; all 0 on failure. Needing more than there is is no
/// failure here: see `verdict`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_hbm_usage(
    program: *const dram_program,
    plan: *const dram_plan,
    core: u32,
    extra: u64,
    usage_out: *mut dram_hbm_usage,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let usage_out = unsafe { OutStruct::new(usage_out, "usage_out")? };
        let program = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        let module = module_of(&program, core)?;
        plan.plan.check_is_of(&program)?;
        let usages = hbm_usage(&program, &plan.plan, extra);
        let usage = usages.iter().find(|usage| usage.core == core);
        let usage = usage.expect("there is one for each module");
        let function = program.modules()[module].find_function(&usage.function);
        let part = |category| usage.peak.of(category);
        usage_out.set(dram_hbm_usage {
            struct_size: 0,
            needed: usage.needed,
            capacity: usage.capacity.unwrap_or(u64::MAX),
            input_output: part(Category::InputOutput),
            weights: part(Category::Weights),
            private_bytes: part(Category::Private),
            shared: part(Category::Shared),
            collective: part(Category::Collective),
            extra: part(Category::Extra),
            unused: usage.unused,
            function: function.map_or(DRAM_UNKNOWN, |position| position as u32),
            instruction: usage.index,
            verdict: match usage.verdict() {
                Verdict::Fits => dram_verdict::Fits,
                Verdict::Slightly => dram_verdict::Slightly,
                Verdict::Over => dram_verdict::Over,
            } as u32,
            reserved: 0,
            copies: part(Category::Copies),
        });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The position of a core's module.
pub(super) fn module_of(program: &ir::Program, core: u32) -> Result<usize> {
    let position = program.modules().iter().position(|m| m.core() == core);
    position.ok_or_else(|| {
        let fault = Fault::UnknownName {
            what: "module for core",
            name: core.to_string(),
        };
        fault.into()
    })
}

/// Where the cores touch the same bytes of a shared location between the same two barriers, one of
/// them writing: nothing orders that, and it is the program's own race (kind `race`, the core and
/// the function of the lower core's access). Two groups on the same bytes at the same time would be
/// the allocator's mistake (kind `overlap`). `DRAM_STATUS_FAILED_PRECONDITION` if the plan is not of
/// the program as it is.
///
/// `control`: null, or says what else is shared, as when the plan was made. Succeeds also when
/// there are races: they stand in the report. Free it with `dram_report_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_races(
    program: *const dram_program,
    plan: *const dram_plan,
    control: *const dram_control,
    report_out: *mut *mut dram_report,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let report_out = unsafe { Out::new(report_out, ptr::null_mut(), "report_out")? };
        let program = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        // SAFETY: as this function's parameters say.
        let (_, watch) = unsafe { options::read(ptr::null(), control, call)? };
        plan.plan.check_is_of(&program)?;
        let found = watch.prove(|control| races(&program, &plan.plan, control))?;
        report_out.set(report::hand_out(found, Vec::new()));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

fn races(program: &ir::Program, plan: &Plan, control: &Control<'_>) -> Result<Vec<Violation>> {
    let pace = &mut Pace::until_cancelled(control);
    let shared = control.shared;
    let races = match depend::across_cores_unless(program, plan, &plan.options, shared, pace) {
        Ok(races) => races,
        Err(Error {
            fault: Fault::Violation(message),
            place,
        }) => {
            return Ok(vec![Violation {
                kind: "overlap",
                core: None,
                function: None,
                locations: place.location.into_iter().collect(),
                message,
            }]);
        }
        Err(error) => return Err(error),
    };
    let found = races.into_iter().map(|(name, race)| {
        let site = &race.accesses[0].site;
        Violation {
            kind: "race",
            core: Some(site.core),
            function: Some(site.function.to_string()),
            locations: vec![name],
            message: race.to_string(),
        }
    });
    Ok(found.collect())
}

/// Checks a plan against the program that it is for, sharing no code with the allocator.
///
/// Succeeds also when the plan is wrong: what is wrong stands in the report, which is empty for a
/// proven plan. Free it with `dram_report_free`; it needs neither plan nor program any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_verify(
    program: *const dram_program,
    plan: *const dram_plan,
    report_out: *mut *mut dram_report,
    error: *mut *mut dram_error,
) -> dram_status {
    // SAFETY: as this function's parameters say; null options are the defaults.
    unsafe { dram_program_verify_with(program, plan, ptr::null(), report_out, error) }
}

/// As `dram_program_verify`, with a choice of what to verify; `options` may be null.
///
/// A race of the program itself and what could not be covered are notes of the report, not
/// violations: see `dram_report_note`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_program_verify_with(
    program: *const dram_program,
    plan: *const dram_plan,
    options: *const dram_verify_options,
    report_out: *mut *mut dram_report,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let report_out = unsafe { Out::new(report_out, ptr::null_mut(), "report_out")? };
        let (deep, control) = if options.is_null() {
            (false, ptr::null())
        } else {
            // SAFETY: as this function's parameter says.
            let given = unsafe { structs::read(options, "options")? };
            (given.deep != 0, given.control)
        };
        let program = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        // SAFETY: as `dram_verify_options` says.
        let (_, watch) = unsafe { options::read(ptr::null(), control, call)? };
        let (violations, notes) = watch.prove(|control| {
            let mut violations = verify_with(&program, &plan.plan, control)?;
            let mut notes = Vec::new();
            if deep {
                let deep = verify_deep_with(&program, &plan.plan, control)?;
                violations.extend(deep.violations);
                notes.extend(deep.warnings.iter().map(|warning| warning.to_string()));
                notes.extend(deep.notes);
            }
            Ok((violations, notes))
        })?;
        report_out.set(report::hand_out(violations, notes));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
