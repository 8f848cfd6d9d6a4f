//! Who is responsible for the change of a peak; `diff` says what adds up.

use super::Planned;
use crate::error::Result;
use crate::ir::Space;
use crate::ordered_map::OrderedMap;
use crate::plan::Status;
use crate::planner::Grounds;
use crate::report::explain::{PeakLoad, Step, peak_load};
use crate::shared::Member;
use crate::sorting::CompactSort as _;

/// One space of both plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceDifference {
    /// Which space.
    pub space: Space,
    /// Whose; `None` for the shared one.
    pub core: Option<u32>,
    /// In the first plan, if it has it.
    pub before: Option<PeakSite>,
    /// In the second.
    pub after: Option<PeakSite>,
    /// The change of the peak: the sum of the next four.
    pub peak_change: i128,
    /// What the locations that are live at either peak add up to.
    pub locations_change: i128,
    /// What pairs save less, or more if below zero. // L8
    pub in_place_change: i128,
    /// The change of the floor.
    pub floor_change: i128,
    /// What remains.
    pub fragmentation_change: i128,
    /// The locations with the greatest changes.
    pub causes: Vec<Cause>,
    /// How many more changed.
    pub others: u64,
    /// What they add up to.
    pub other_change: i128,
}

/// The figures of a space in one plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakSite {
    /// Nothing was placed below.
    pub floor: u64,
    /// One past the highest byte placed.
    pub peak: u64,
    /// No placement has a lower peak.
    pub lower_bound: u64,
    /// What is known about the peak: that of the space alone.
    pub status: Status,
    /// Bytes as placed that are live at the peak's instruction, in-place pairs once.
    pub live: u64,
    /// The peak's instruction; `None` if nothing was placed.
    pub here: Option<Step>,
}

/// How a location changed a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// It is live at the second peak only.
    Came,
    /// It is live at the first peak only.
    Went,
    /// It has more bytes.
    Grew,
    /// It has fewer bytes.
    Shrank,
}

impl CauseKind {
    /// The word of reports.
    pub fn name(self) -> &'static str {
        match self {
            CauseKind::Came => "came",
            CauseKind::Went => "went",
            CauseKind::Grew => "grew",
            CauseKind::Shrank => "shrank",
        }
    }
}

/// A location that changed a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// How.
    pub kind: CauseKind,
    /// Its core; of a group its owner's.
    pub core: u32,
    /// The function's name.
    pub function: String,
    /// Its name.
    pub name: String,
    /// By how many bytes as placed.
    pub change: i128,
    /// Whether the other plan has it too, live at another moment.
    pub in_both: bool,
}

type Key = (Space, Option<u32>);

/// A space of one plan at its peak.
type Seen = (PeakSite, PeakLoad);

/// Every space of either plan.
pub(super) fn spaces(
    before: Planned<'_>,
    after: Planned<'_>,
    top: usize,
) -> Result<Vec<SpaceDifference>> {
    let (first, second) = (
        Grounds::of(before.program, before.plan)?,
        Grounds::of(after.program, after.plan)?,
    );
    let mut keys: Vec<Key> = Vec::new();
    for ground in first.list.iter().chain(&second.list) {
        let key = (ground.told.space, ground.told.core);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut spaces = Vec::with_capacity(keys.len());
    for key in keys {
        let (a, b) = (load_of(&first, key), load_of(&second, key));
        spaces.push(space((before, after), key, (a, b), top));
    }
    spaces.sort_compact_by(|a, b| {
        let most = |s: &SpaceDifference| s.peak_change.unsigned_abs();
        most(b).cmp(&most(a))
    });
    Ok(spaces)
}

fn load_of(grounds: &Grounds<'_>, key: Key) -> Option<Seen> {
    let mut list = grounds.list.iter();
    let ground = list.find(|g| (g.told.space, g.told.core) == key)?;
    let load = peak_load(grounds, ground);
    let site = PeakSite {
        floor: ground.floor,
        peak: ground.peak,
        lower_bound: ground.told.lower_bound,
        status: match ground.peak == ground.told.lower_bound {
            true => Status::Optimal,
            false => Status::Feasible,
        },
        live: load.live,
        here: load.here.clone(),
    };
    Some((site, load))
}

fn space(
    (before, after): (Planned<'_>, Planned<'_>),
    (space, core): Key,
    (a, b): (Option<Seen>, Option<Seen>),
    top: usize,
) -> SpaceDifference {
    let figure = |side: &Option<Seen>, of: fn(&Seen) -> u64| {
        side.as_ref().map_or(0, |side| i128::from(of(side)))
    };
    let change = |of: fn(&Seen) -> u64| figure(&b, of) - figure(&a, of);
    let peak_change = change(|s| s.0.peak);
    let floor_change = change(|s| s.0.floor);
    let in_place_change = -change(|s| s.1.in_place);
    let none = OrderedMap::new;
    let held = |side: &Option<Seen>| side.as_ref().map_or_else(none, |side| side.1.held.clone());
    let mut causes = causes((before, held(&a)), (after, held(&b)));
    let sum = |causes: &[Cause]| causes.iter().map(|cause| cause.change).sum::<i128>();
    let locations_change = sum(&causes);
    causes.sort_compact_by(|x, y| y.change.unsigned_abs().cmp(&x.change.unsigned_abs()));
    let rest = causes.split_off(top.min(causes.len()));
    SpaceDifference {
        space,
        core,
        before: a.map(|a| a.0),
        after: b.map(|b| b.0),
        peak_change,
        locations_change,
        in_place_change,
        floor_change,
        fragmentation_change: peak_change - floor_change - locations_change - in_place_change,
        causes,
        others: rest.len() as u64,
        other_change: sum(&rest),
    }
}

/// What is live at a peak, by location.
type Held = OrderedMap<Member, u64>;

/// The locations whose bytes at the two peaks differ, those of the second plan first.
fn causes((before, was): (Planned<'_>, Held), (after, is): (Planned<'_>, Held)) -> Vec<Cause> {
    let at = |m: Member| (m.module as usize, m.function as usize);
    let member = |row: super::Row<'_>| Member {
        module: row.at.0 as u32,
        function: row.at.1 as u32,
        loc: row.id,
    };
    let cause = |planned: Planned<'_>, m: Member, change: i128, other: bool, kind: CauseKind| {
        let (module, function) = planned.function(at(m));
        let row = &planned.plan.modules[at(m).0].functions[at(m).1].memlocs[m.loc.index()];
        Cause {
            kind,
            core: module.core(),
            function: function.name().to_owned(),
            name: row.name.clone(),
            change,
            in_both: other,
        }
    };
    let mut causes = Vec::new();
    for (&m, &bytes) in &is {
        let other = before.counterpart(after, at(m), m.loc);
        let then = other.and_then(|row| was.get(&member(row)).copied());
        let change = i128::from(bytes) - i128::from(then.unwrap_or(0));
        let kind = match then {
            None => CauseKind::Came,
            Some(then) if then < bytes => CauseKind::Grew,
            Some(_) => CauseKind::Shrank,
        };
        if change != 0 {
            causes.push(cause(after, m, change, other.is_some(), kind));
        }
    }
    for (&m, &bytes) in &was {
        let other = after.counterpart(before, at(m), m.loc);
        if other.is_none_or(|row| is.get(&member(row)).is_none()) && bytes > 0 {
            let change = -i128::from(bytes);
            causes.push(cause(before, m, change, other.is_some(), CauseKind::Went));
        }
    }
    causes
}
