//! What the whole device holds while one core is at an instruction. // M4, M8
//!
//! Other cores are then somewhere between the same two barriers, each at the worst instruction
//! that it may be at; what cores share is there once, whoever looks.

use super::pressure::{Category, LiveSize, core_profile, is_always_held, private_copies};
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Program, Segment};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::planner::CallGraph;
use crate::shared::{Group, Groups, Predicate, Timeline, home};

/// What the device holds at each instruction of a function that nothing calls. `extra` is added for
/// every core; `shared` is the predicate that the plan was made with.
///
/// # Errors
///
/// A function that others call, whose instructions are no moment of their own; what is wrong with
/// the program's calls, links and barriers.
///
/// # Panics
///
/// If the plan is not of this program.
pub fn device_profile(
    program: &Program,
    plan: &Plan,
    (module, function): (usize, usize),
    extra: u64,
    shared: Option<Predicate<'_>>,
) -> Result<Vec<LiveSize>> {
    let modules = program.modules();
    let groups = Groups::of(modules, plan.options.usage_mask, shared)?;
    let pace = &mut Pace::free();
    let calls = modules.iter().map(|module| CallGraph::of(module, pace));
    let calls: Vec<CallGraph> = calls.collect::<Result<_>>()?;
    let timeline = Timeline::of(modules, &calls, &groups, pace)?;
    let name = modules[module].functions()[function].name();
    if timeline.start(module, function).is_none() {
        let sentence = "other functions call it; only an entry function is a moment of the device";
        let error = Error::from(Fault::FailedPrecondition(sentence.into()));
        return Err(error.in_function(name).on_core(modules[module].core()));
    }
    let shared = shared_by_epoch(program, plan, &groups, &timeline);
    let mut others: Vec<Vec<LiveSize>> = Vec::new(); // By core, then epoch.
    let mut own = Vec::new();
    for (m, (there, planned)) in modules.iter().zip(&plan.modules).enumerate() {
        let entry = there.find_function(name);
        let entry = entry.filter(|&f| timeline.start(m, f).is_some());
        let profile = match entry {
            Some(f) => core_profile(
                there,
                planned,
                f,
                (extra, private_copies(plan, there.core())),
            ),
            None => Vec::new(),
        };
        let on_axis = |t: usize| {
            let epochs = timeline.on_axis(m, entry?, FlatIndex::new(t));
            Some((epochs?, profile[t].without_shared()))
        };
        let moments: Vec<(Segment, LiveSize)> = (0..profile.len()).filter_map(on_axis).collect();
        if m == module {
            own = moments;
        } else {
            let idle = core_idle(program, plan, m, extra);
            others.push(worst_by_epoch(&moments, idle, timeline.len()));
        }
    }
    // Instructions of one range of epochs see the same of the others.
    let mut beside: OrderedMap<(u32, u32), LiveSize> = OrderedMap::new();
    let mut at = |(epochs, own): &(Segment, LiveSize)| {
        let range = (epochs.first().0, epochs.last().0);
        *own + *beside.entry(range).or_insert_with(|| {
            let range = epochs.first().index()..=epochs.last().index();
            let others = others.iter().map(|core| worst(&core[range.clone()]));
            let mut live = others.fold(LiveSize::default(), |sum, other| sum + other);
            let shared = shared[range].iter().copied().max();
            live.put(Category::Shared, shared.unwrap_or(0));
            live
        })
    };
    Ok(own.iter().map(&mut at).collect())
}

/// What a core holds while nothing of it runs.
fn core_idle(program: &Program, plan: &Plan, m: usize, extra: u64) -> LiveSize {
    super::pressure::idle(
        &program.modules()[m],
        &plan.modules[m],
        (extra, private_copies(plan, program.modules()[m].core())),
    )
    .without_shared()
}

/// The largest of a core's moments in each epoch.
fn worst_by_epoch(moments: &[(Segment, LiveSize)], idle: LiveSize, epochs: u32) -> Vec<LiveSize> {
    // Instructions of one cycle have one range: few ranges, however many instructions.
    let mut by_range: OrderedMap<(u32, u32), LiveSize> = OrderedMap::new();
    for &(range, live) in moments {
        let worst = by_range
            .entry((range.first().0, range.last().0))
            .or_default();
        if live.total() > worst.total() {
            *worst = live;
        }
    }
    let mut by_epoch = vec![idle; epochs as usize];
    for ((first, last), live) in by_range {
        for worst in &mut by_epoch[first as usize..=last as usize] {
            if live.total() > worst.total() {
                *worst = live;
            }
        }
    }
    by_epoch
}

/// The largest; the first of equals.
fn worst(moments: &[LiveSize]) -> LiveSize {
    let first = LiveSize::default();
    let larger = |a: LiveSize, &b: &LiveSize| if b.total() > a.total() { b } else { a };
    moments.iter().fold(first, larger)
}

/// Bytes of the groups that live in each epoch.
fn shared_by_epoch(
    program: &Program,
    plan: &Plan,
    groups: &Groups,
    timeline: &Timeline,
) -> Vec<u64> {
    let epochs = timeline.len() as usize;
    let mut begins = vec![0u64; epochs];
    let mut ends = vec![0u64; epochs + 1];
    let everywhere = |group: &Group| {
        let function = home(program.modules(), group.owner).1;
        is_always_held(function, group.owner.loc)
    };
    for group in groups.placed() {
        let owner = group.owner;
        let planned = &plan.modules[owner.module as usize].functions[owner.function as usize];
        let planned = &planned.memlocs[owner.loc.index()];
        let (bytes, lives) = match everywhere(group) {
            true => (planned.bytes, vec![(0, epochs)]),
            false => {
                let lives = timeline.life(group);
                let lives = lives
                    .iter()
                    .map(|s| (s.first().index(), s.last().index() + 1));
                (planned.aligned, lives.collect())
            }
        };
        for (first, end) in lives {
            begins[first] = begins[first].saturating_add(bytes);
            ends[end] = ends[end].saturating_add(bytes);
        }
    }
    let mut live = 0u64;
    let steps = begins.iter().zip(&ends);
    steps
        .map(|(begin, end)| {
            live = live.saturating_add(*begin).saturating_sub(*end);
            live
        })
        .collect()
}
