//! Who holds memory, at any instruction, on a core and on the device. // G2, M8
//!
//! A core always holds what its callers own and what the host has pinned; at an instruction it
//! also holds the locations that live there, and under a call whatever the callee holds at its
//! worst. Shared bytes count once on the device, whoever looks. Only the plan's own lives and
//! final spaces are read, so the figures are those of the plan and not of another analysis.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Add, Sub};

use crate::ir::{FlatIndex, Function, MemLocId, MemoryType, Module, Program, Usage};
use crate::ordered_map::OrderedMap;
use crate::pace::{Pace, SOME};
use crate::plan::{FunctionPlan, MemLocPlan, ModulePlan, Plan};
use crate::sorting::CompactSort as _;

/// What bytes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Inputs and outputs, pinned or the caller's.
    InputOutput,
    /// Weights and constants, pinned or the caller's.
    Weights,
    /// Placed for one core alone.
    Private,
    /// Placed once for several cores.
    Shared,
    /// Placed for the collective layer of one core.
    Collective,
    /// Bytes that only the host knows of, such as descriptors.
    Extra,
    /// The copies of what straddles a page of the runtime. // P7
    Copies,
}

impl Category {
    /// Every category, in the order of reports.
    pub const ALL: [Category; 7] = [
        Category::InputOutput,
        Category::Weights,
        Category::Private,
        Category::Shared,
        Category::Collective,
        Category::Extra,
        Category::Copies,
    ];

    /// The words of reports.
    pub fn name(self) -> &'static str {
        match self {
            Category::InputOutput => "input/output",
            Category::Weights => "weights",
            Category::Private => "private",
            Category::Shared => "shared",
            Category::Collective => "collective",
            Category::Extra => "extra",
            Category::Copies => "copies",
        }
    }
}

/// Bytes by category; sums and differences are taken part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveSize {
    bytes: [u64; Category::ALL.len()],
}

impl LiveSize {
    /// The bytes of one category.
    pub fn of(&self, category: Category) -> u64 {
        self.bytes[category as usize]
    }

    /// The bytes of all categories.
    pub fn total(&self) -> u64 {
        self.bytes
            .iter()
            .fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// The same without what other cores hold as well. // M2
    pub fn without_shared(mut self) -> LiveSize {
        self.bytes[Category::Shared as usize] = 0;
        self
    }

    /// Adds bytes to one category.
    pub fn put(&mut self, category: Category, bytes: u64) {
        let slot = &mut self.bytes[category as usize];
        *slot = slot.saturating_add(bytes);
    }
}

impl Add for LiveSize {
    type Output = LiveSize;

    fn add(mut self, other: LiveSize) -> LiveSize {
        Category::ALL.iter().for_each(|&c| self.put(c, other.of(c)));
        self
    }
}

impl Sub for LiveSize {
    type Output = LiveSize;

    fn sub(mut self, other: LiveSize) -> LiveSize {
        for (mine, theirs) in self.bytes.iter_mut().zip(other.bytes) {
            *mine = mine.saturating_sub(theirs);
        }
        self
    }
}

impl fmt::Display for LiveSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = Category::ALL.iter().filter(|c| self.of(**c) > 0);
        for (i, &category) in parts.enumerate() {
            let plus = if i == 0 { "" } else { " + " };
            write!(f, "{plus}{} {}", self.of(category), category.name())?;
        }
        if self.total() == 0 {
            f.write_str("0")?;
        }
        Ok(())
    }
}

/// The worst moment of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorePressure {
    /// The core.
    pub core: u32,
    /// What it holds there; the parts are values at that instruction, so they add up.
    pub peak: LiveSize,
    /// The entry function of the peak; empty if the module has no instruction.
    pub function: String,
    /// The instruction of the entry function, also when the peak lies in a callee.
    pub index: u32,
}

/// The pressure of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// By core, ascending.
    pub cores: Vec<CorePressure>,
    /// The sum of the cores' peaks, with every group that is live at one of them once. // M8
    pub device: LiveSize,
}

/// The pressure of a program under a plan. `extra` is added to every core.
///
/// # Panics
///
/// If the plan is not of this program.
pub fn pressure(program: &Program, plan: &Plan, extra: u64) -> Pressure {
    pressure_unless(program, plan, extra, &mut Pace::free())
}

/// As [`pressure`], unless the host stops it. // S2
pub(crate) fn pressure_unless(
    program: &Program,
    plan: &Plan,
    extra: u64,
    pace: &mut Pace<'_, '_>,
) -> Pressure {
    let mut cores = Vec::new();
    let mut shared = BTreeMap::new();
    for (module, planned) in program.modules().iter().zip(&plan.modules) {
        let worst = WorstMoments::of(module, planned, pace);
        let core = core_pressure(
            module,
            planned,
            &worst,
            (extra, private_copies(plan, module.core())),
            pace,
        );
        if let Some(entry) = module.find_function(&core.function) {
            worst.shared_under(module, planned, (entry, core.index), &mut shared, pace);
        }
        always_shared(module, planned, &mut shared, pace);
        cores.push(core);
    }
    cores.sort_compact_by(|a: &CorePressure, b| a.core.cmp(&b.core));
    let mut device = LiveSize::default();
    for core in &cores {
        device = device + core.peak.without_shared();
    }
    for bytes in shared.into_values() {
        device.put(Category::Shared, bytes);
    }
    Pressure { cores, device }
}

/// Bytes by group: the function's name, the owner's core and name.
type SharedBytes<'a> = BTreeMap<(&'a str, u32, &'a str), u64>;

fn share<'a>(function: &'a Function, loc: &'a MemLocPlan, bytes: u64, into: &mut SharedBytes<'a>) {
    let owner = loc.owner.as_ref().filter(|_| loc.shared);
    if let Some(owner) = owner {
        into.insert((function.name(), owner.core, &owner.name), bytes);
    }
}

/// The groups that a module holds whatever runs.
fn always_shared<'a>(
    module: &'a Module,
    planned: &'a ModulePlan,
    into: &mut SharedBytes<'a>,
    pace: &mut Pace<'_, '_>,
) {
    for (function, planned) in module.functions().iter().zip(&planned.functions) {
        for (id, loc) in roots(function, planned) {
            if pace.over(1) {
                break;
            }
            if is_always_held(function, id) {
                share(function, loc, loc.bytes, into);
            }
        }
    }
}

/// What one function's own frame holds at each instruction: neither what its module always holds
/// nor what its callees hold.
///
/// # Panics
///
/// If the plan is not of this function.
pub fn frame_profile(function: &Function, planned: &FunctionPlan) -> Vec<LiveSize> {
    frame_profile_unless(function, planned, &mut Pace::free())
}

fn frame_profile_unless(
    function: &Function,
    planned: &FunctionPlan,
    pace: &mut Pace<'_, '_>,
) -> Vec<LiveSize> {
    let count = function.instructions().len();
    let mut begins = vec![LiveSize::default(); count];
    let mut ends = vec![LiveSize::default(); count + 1];
    for (id, loc) in roots(function, planned) {
        if pace.over(1 + loc.segments.len()) {
            break;
        }
        if loc.address.is_none() || is_always_held(function, id) {
            continue;
        }
        let category = category(function, id, loc);
        for &(first, last) in &loc.segments {
            begins[first as usize].put(category, loc.aligned);
            ends[last as usize + 1].put(category, loc.aligned); // Closed. // L2
        }
    }
    let mut live = LiveSize::default();
    let mut profile = Vec::with_capacity(count);
    for (begin, end) in begins.into_iter().zip(ends) {
        if pace.over(3) {
            break;
        }
        live = live + begin - end;
        profile.push(live);
    }
    profile
}

fn core_pressure(
    module: &Module,
    planned: &ModulePlan,
    worst: &WorstMoments,
    (extra, copies): (u64, u64),
    pace: &mut Pace<'_, '_>,
) -> CorePressure {
    let always = idle_unless(module, planned, (extra, copies), pace);
    let entry = worst
        .entries
        .iter()
        .max_by_key(|&&f| (worst.peak[f].0.total(), std::cmp::Reverse(f)));
    let (peak, index) = entry.map_or_else(Default::default, |&f| worst.peak[f]);
    CorePressure {
        core: module.core(),
        peak: always + peak,
        function: entry.map_or_else(String::new, |&f| module.functions()[f].name().to_owned()),
        index,
    }
}

/// What a core holds at each instruction of a function that nothing calls, callees included as
/// their worst; of a callee, what it adds to what its callers hold. `extra` is what
/// is added to each: the host's bytes and [`private_copies`].
///
/// # Panics
///
/// If the plan is not of this module.
pub fn core_profile(
    module: &Module,
    planned: &ModulePlan,
    function: usize,
    extra: (u64, u64),
) -> Vec<LiveSize> {
    let always = idle(module, planned, extra);
    let pace = &mut Pace::free();
    let worst = WorstMoments::of(module, planned, pace);
    let moments = worst.moments(
        &module.functions()[function],
        &planned.functions[function],
        &worst.callees[function],
        pace,
    );
    moments.map(|live| always + live).collect()
}

/// What a core holds while nothing of it runs.
pub(super) fn idle(module: &Module, planned: &ModulePlan, extra: (u64, u64)) -> LiveSize {
    idle_unless(module, planned, extra, &mut Pace::free())
}

fn idle_unless(
    module: &Module,
    planned: &ModulePlan,
    (extra, copies): (u64, u64),
    pace: &mut Pace<'_, '_>,
) -> LiveSize {
    let mut held = always_held(module, planned, pace);
    held.put(Category::Extra, extra);
    held.put(Category::Copies, copies);
    held
}

/// The bytes of the copies that a core holds, all the time, for what straddles a page of the
/// runtime. They have no addresses in a space. // P7
pub fn private_copies(plan: &Plan, core: u32) -> u64 {
    let straddlers = plan.straddlers.iter().flatten();
    let here = straddlers.filter(|straddler| straddler.core == core);
    here.fold(0, |sum, straddler| sum.saturating_add(straddler.bytes))
}

/// What a module holds whatever runs: each storage once, whichever functions name it. // L6b
fn always_held(module: &Module, planned: &ModulePlan, pace: &mut Pace<'_, '_>) -> LiveSize {
    let mut held = LiveSize::default();
    let mut seen = BTreeSet::new();
    for (function, planned) in module.functions().iter().zip(&planned.functions) {
        for (id, loc) in roots(function, planned) {
            if pace.over(1) {
                break;
            }
            if !is_always_held(function, id) {
                continue;
            }
            if pace.over(10) {
                break;
            }
            // A storage without an address is known by its name alone.
            if seen.insert((loc.address, loc.bytes, loc.name.as_str())) {
                held.put(category(function, id, loc), loc.bytes);
            }
        }
    }
    held
}

/// The DRAM roots of a function with their plans.
fn roots<'a>(
    function: &'a Function,
    planned: &'a FunctionPlan,
) -> impl Iterator<Item = (MemLocId, &'a MemLocPlan)> {
    assert_eq!(
        function.memlocs().len(),
        planned.memlocs.len(),
        "a plan of this function"
    );
    let is_root = |id: &MemLocId| {
        let loc = function.memloc(*id);
        !loc.is_view() && loc.memory == MemoryType::Dram
    };
    function
        .memloc_ids()
        .zip(&planned.memlocs)
        .filter(move |(id, _)| is_root(id))
}

/// Whether a location takes memory for the whole run: what callers own, and what is pinned that
/// is no candidate.
pub(super) fn is_always_held(function: &Function, id: MemLocId) -> bool {
    let loc = function.memloc(id);
    let owned = !matches!(loc.usage, Usage::Internal | Usage::Collective);
    owned
        && loc
            .placed()
            .is_none_or(|placed| loc.pin().is_some() || placed.address.is_none())
}

fn category(function: &Function, id: MemLocId, planned: &MemLocPlan) -> Category {
    match function.memloc(id).usage {
        _ if planned.shared => Category::Shared,
        Usage::Input | Usage::Output => Category::InputOutput,
        Usage::Weight | Usage::Constant => Category::Weights,
        Usage::Collective => Category::Collective,
        Usage::Internal => Category::Private,
    }
}

/// The worst instruction of each function, with what its callees hold under it.
struct WorstMoments {
    peak: Vec<(LiveSize, u32)>,
    /// By function: the calls with their callees.
    callees: Vec<OrderedMap<u32, usize>>,
    /// Functions that nothing calls.
    entries: Vec<usize>,
}

impl WorstMoments {
    fn of(module: &Module, planned: &ModulePlan, pace: &mut Pace<'_, '_>) -> WorstMoments {
        let functions = module.functions();
        let mut callees: Vec<OrderedMap<u32, usize>> = Vec::new();
        let mut called = vec![false; functions.len()];
        for function in functions {
            let mut sites: OrderedMap<u32, usize> = OrderedMap::new();
            for t in 0..function.instructions().len() as u32 {
                if t % SOME as u32 == 0 && pace.over(SOME) {
                    break;
                }
                let callee = function
                    .callee(FlatIndex(t))
                    .map(|callee| function.symbol(callee));
                if let Some(callee) = callee.and_then(|name| module.find_function(name)) {
                    sites.insert(t, callee);
                }
            }
            sites.values().for_each(|&f| called[f] = true);
            callees.push(sites);
        }
        let mut moments = WorstMoments {
            peak: vec![Default::default(); functions.len()],
            callees: Vec::new(),
            entries: (0..functions.len()).filter(|&f| !called[f]).collect(),
        };
        // Callees first; a plan exists, so there is no recursion. // L7
        let mut done = vec![false; functions.len()];
        for start in 0..functions.len() {
            let mut open = vec![start];
            while let Some(&f) = open.last() {
                let waiting = callees[f].values().copied().find(|&g| !done[g]);
                if let Some(callee) = waiting.filter(|_| !done[f]) {
                    open.push(callee);
                    continue;
                }
                open.pop();
                if !done[f] {
                    done[f] = true;
                    let (function, planned) = (&functions[f], &planned.functions[f]);
                    moments.peak[f] = moments.worst(function, planned, &callees[f], pace);
                }
            }
        }
        moments.callees = callees;
        moments
    }

    fn worst(
        &self,
        function: &Function,
        planned: &FunctionPlan,
        callees: &OrderedMap<u32, usize>,
        pace: &mut Pace<'_, '_>,
    ) -> (LiveSize, u32) {
        let moments = self.moments(function, planned, callees, pace);
        let (mut worst, mut most) = Default::default();
        for (t, size) in moments.enumerate() {
            if pace.over(1) {
                break;
            }
            let total = size.total();
            // The first of equals.
            if t == 0 || total > most {
                (worst, most) = ((size, t as u32), total);
            }
        }
        worst
    }

    /// What a function holds at each instruction, with what its callees hold under it.
    fn moments<'a>(
        &'a self,
        function: &Function,
        planned: &FunctionPlan,
        callees: &'a OrderedMap<u32, usize>,
        pace: &mut Pace<'_, '_>,
    ) -> impl Iterator<Item = LiveSize> + use<'a> {
        let own = frame_profile_unless(function, planned, pace);
        let own = own.into_iter().enumerate();
        own.map(move |(t, own)| {
            let callee = callees.get(&FlatIndex::new(t).0);
            own + callee.map_or_else(LiveSize::default, |&f| self.peak[f].0)
        })
    }

    /// The groups that are live at an instruction, and under a call at the callee's worst.
    fn shared_under<'a>(
        &self,
        module: &'a Module,
        planned: &'a ModulePlan,
        (mut f, mut t): (usize, u32),
        into: &mut SharedBytes<'a>,
        pace: &mut Pace<'_, '_>,
    ) {
        loop {
            let function = &module.functions()[f];
            for (_, loc) in roots(function, &planned.functions[f]) {
                if pace.over(1 + loc.segments.len()) {
                    break;
                }
                if loc
                    .segments
                    .iter()
                    .any(|&(first, last)| first <= t && t <= last)
                {
                    share(function, loc, loc.aligned, into);
                }
            }
            let Some(&callee) = self.callees[f].get(&t) else {
                return;
            };
            (f, t) = (callee, self.peak[callee].1);
        }
    }
}
