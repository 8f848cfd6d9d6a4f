//! One axis of epochs for all entry functions of a program. // M4
//!
//! Same-named entry functions run together on all cores, so they share a stretch of the axis; the
//! stretches of different entry functions follow each other. A group lives, without holes, from
//! the first to the last epoch in which any core accesses it, on each stretch that it meets.

use std::collections::BTreeMap;

use super::epochs::{BarrierPass, EpochRange, Epochs, epochs, show};
use super::groups::{Group, Groups, Member};
use super::moments::Moments;
use crate::error::{Error, Result};
use crate::ir::{FlatIndex, Module, Segment};
use crate::pace::Pace;
use crate::planner::CallGraph;
use crate::sorting::CompactSort as _;

/// The stretches of the axis, and where each group lies on it.
pub(crate) struct Timeline {
    stretches: Vec<Stretch>,
    /// By module position, then function position.
    epochs: Vec<Vec<Epochs>>,
    /// By module position.
    moments: Vec<Moments>,
}

/// The epochs of one entry function.
pub(crate) struct Stretch {
    /// The entry function's name.
    pub name: String,
    /// Its first epoch on the axis.
    pub start: u32,
    /// How many epochs it has.
    pub len: u32,
    /// By module position: the function's position, where the module has it.
    functions: Vec<Option<usize>>,
}

impl Stretch {
    /// Whether an epoch of the axis is one of its own.
    pub(crate) fn contains(&self, epoch: FlatIndex) -> bool {
        (self.start..self.start + self.len).contains(&epoch.0)
    }
}

impl Timeline {
    /// The axis of a program, and where its groups lie on it.
    ///
    /// # Errors
    ///
    /// Cores that pass different barriers in same-named entry functions; names the first. The host
    /// stops it.
    pub(crate) fn of(
        modules: &[Module],
        calls: &[CallGraph],
        groups: &Groups,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Timeline> {
        let each = modules.iter().zip(calls).enumerate();
        let epochs: Vec<Vec<Epochs>> = each
            .map(|(m, (module, calls))| {
                let is_grouped = |f, root| groups.position(Member::new(m, f, root)).is_some();
                epochs(module, calls, &is_grouped, pace)
            })
            .collect::<Result<_>>()?;
        let mut order: Vec<usize> = (0..modules.len()).collect();
        order.sort_compact_by_key(|&m| modules[m].core());
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        for &m in &order {
            for (f, function) in modules[m].functions().iter().enumerate() {
                if !calls[m].is_entry(f) {
                    continue;
                }
                let s = *by_name.entry(function.name()).or_insert_with(|| {
                    stretches.push(Stretch {
                        name: function.name().to_owned(),
                        start: 0,
                        len: epochs[m][f].barriers.len() as u32 + 1,
                        functions: vec![None; modules.len()],
                    });
                    stretches.len() - 1
                });
                let first = order
                    .iter()
                    .find_map(|&o| Some((o, stretches[s].functions[o]?)));
                if let Some((o, g)) = first {
                    let (ours, theirs) = (&epochs[m][f].barriers, &epochs[o][g].barriers);
                    same_barriers((&modules[o], theirs), (&modules[m], ours))
                        .map_err(|e| e.in_function(function.name()).on_core(modules[m].core()))?;
                }
                stretches[s].functions[m] = Some(f);
            }
        }
        let mut start = 0;
        for stretch in &mut stretches {
            stretch.start = start;
            start += stretch.len;
        }
        let mut timeline = Timeline {
            stretches,
            epochs,
            moments: Vec::new(),
        };
        let moments = calls.iter().enumerate();
        let moments = moments
            .map(|(m, calls)| Moments::of(calls, &timeline.epochs[m], |f| timeline.start(m, f)));
        timeline.moments = moments.collect();
        Ok(timeline)
    }

    /// The stretches, ascending along the axis.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// How many epochs the axis has.
    pub(crate) fn len(&self) -> u32 {
        self.stretches.last().map_or(0, |s| s.start + s.len)
    }

    /// When a group lives, on the axis; at most one segment per stretch.
    pub(crate) fn life(&self, group: &Group) -> Vec<Segment> {
        let lives = self.stretches.iter().filter_map(|stretch| {
            let touched = group
                .members
                .iter()
                .filter_map(|member| self.touched(stretch, member));
            let range = touched.reduce(EpochRange::hull)?;
            let range = match group.escapes {
                true => EpochRange {
                    first: 0,
                    last: stretch.len - 1,
                },
                false => range,
            };
            let at = |epoch: u32| FlatIndex(stretch.start + epoch);
            Segment::new(at(range.first), at(range.last))
        });
        lives.collect()
    }

    /// The life of a group as others must see it on a core: what other entry functions run may
    /// meet it at any moment, unless the host says that a device-wide barrier separates them. // M7
    pub(crate) fn held(&self, life: &[Segment], separate_functions: bool) -> Vec<Segment> {
        let (Some(first), false) = (life.first(), separate_functions) else {
            return life.to_vec();
        };
        let axis =
            |from: u32, past: u32| Segment::new(FlatIndex(from), FlatIndex(past.checked_sub(1)?));
        let own = self.stretches.iter().find(|s| s.contains(first.first()));
        let own = own.expect("lives lie on stretches");
        match life {
            [alone] => [
                axis(0, own.start),
                Some(*alone),
                axis(own.start + own.len, self.len()),
            ]
            .into_iter()
            .flatten()
            .collect(),
            _ => axis(0, self.len()).into_iter().collect(),
        }
    }

    /// The instructions of a function that may run within a life on the axis, callees' too. // M4
    pub(crate) fn indices(&self, module: usize, function: usize, life: &[Segment]) -> Vec<Segment> {
        self.moments[module].indices(function, life)
    }

    /// The epochs in which some instructions of a function may run, on the axis. // M4
    pub(crate) fn epochs_of(
        &self,
        module: usize,
        function: usize,
        indices: &[Segment],
    ) -> Vec<Segment> {
        self.moments[module].epochs(function, indices)
    }

    /// When an instruction of an entry function may run, on the axis; `None` for what is called.
    pub(crate) fn on_axis(&self, module: usize, function: usize, t: FlatIndex) -> Option<Segment> {
        let start = self.start(module, function)?;
        let range = self.epochs[module][function].of_instruction[t.index()];
        let at = |epoch: u32| FlatIndex(start + epoch);
        Segment::new(at(range.first), at(range.last))
    }

    /// The first epoch of an entry function on the axis; `None` for what is called.
    pub(crate) fn start(&self, module: usize, function: usize) -> Option<u32> {
        let on = |stretch: &&Stretch| stretch.functions[module] == Some(function);
        self.stretches.iter().find(on).map(|stretch| stretch.start)
    }

    /// The epochs of a function, from its own entry.
    pub(crate) fn epochs(&self, module: usize, function: usize) -> &Epochs {
        &self.epochs[module][function]
    }

    fn touched(&self, stretch: &Stretch, member: &Member) -> Option<EpochRange> {
        let entry = stretch.functions[member.module as usize]?;
        let of_root = &self.epochs[member.module as usize][entry].of_root;
        of_root
            .get(&(member.function as usize, member.loc))
            .copied()
    }
}

fn same_barriers(
    (a, a_passes): (&Module, &[BarrierPass]),
    (b, b_passes): (&Module, &[BarrierPass]),
) -> Result<()> {
    let at = |module: &Module, pass: &BarrierPass| {
        let function = module.functions()[pass.function].name();
        format!(
            "{} at instruction {} of {function}",
            show(pass.id),
            pass.index
        )
    };
    for (k, (x, y)) in a_passes.iter().zip(b_passes).enumerate() {
        if x.id != y.id {
            let reason = format!(
                "barrier {k} is {} on core {} and {} on core {}",
                at(a, x),
                a.core(),
                at(b, y),
                b.core()
            );
            return Err(Error::invalid("barriers", reason));
        }
    }
    if a_passes.len() == b_passes.len() {
        return Ok(());
    }
    let (more, passes, less) = match a_passes.len() > b_passes.len() {
        true => (a, a_passes, b),
        false => (b, b_passes, a),
    };
    let k = a_passes.len().min(b_passes.len());
    let reason = format!(
        "barrier {k}, {}, is on core {} alone: core {} passes {k}, core {} passes {}",
        at(more, &passes[k]),
        more.core(),
        less.core(),
        more.core(),
        passes.len()
    );
    Err(Error::invalid("barriers", reason))
}
