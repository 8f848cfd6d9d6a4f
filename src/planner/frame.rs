//! One function in one space as a problem: what wants a place, for how long, beside what.

use super::scene::FunctionScene;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Function, Kind, Lives, MemLocId, Space, Usage};
use crate::liveness::Liveness;
use crate::options::Options;
use crate::pace::Pace;
use crate::place::{InPlacePair, Item, PAGE, Problem};
use crate::sorting::CompactSort as _;
use crate::sorting::sort_words;

/// A problem and the location of each of its items.
#[derive(Default)]
pub(super) struct Frame {
    pub problem: Problem,
    pub items: Vec<MemLocId>,
    /// The item of each location; `u32::MAX` for one that is none.
    rank: Vec<u32>,
}

impl Frame {
    /// The item of a location, if it is one.
    pub(super) fn item(&self, id: MemLocId) -> Option<u32> {
        let rank = self.rank.get(id.index()).copied();
        rank.filter(|&rank| rank != u32::MAX)
    }
}

/// The items of a frame, without floor, ceiling and obstacles.
///
/// Items are ranked by first access, so that neither names nor listing order decide ties. // T, S4
pub(super) fn frame(
    function: &Function,
    FunctionScene {
        liveness,
        dense,
        spaces,
        ..
    }: &FunctionScene,
    space: Space,
    options: &Options,
    pace: &mut Pace<'_, '_>,
) -> Result<Frame> {
    let mut problem = Problem {
        ceiling: u64::MAX,
        no_straddle: options.packed,
        granule: if options.packed { 1 } else { PAGE },
        trim_collective: options.trim_cc,
        ..Problem::default()
    };
    let wants_place = |id: &MemLocId| {
        let loc = function.memloc(*id);
        spaces[id.index()] == space && loc.bytes > 0 && loc.is_candidate(options.usage_mask)
    };
    let mut items: Vec<MemLocId> = Vec::with_capacity(dense.len());
    for &id in dense {
        pace.work(1)?;
        if wants_place(&id) {
            items.push(id);
        }
    }
    problem.items.reserve_exact(items.len());
    problem.lives = Lives::with_capacity(items.len(), liveness.lives.all().len());
    let mut rank = vec![u32::MAX; function.memlocs().len()];
    for (i, &id) in items.iter().enumerate() {
        pace.work(1)?;
        let loc = function.memloc(id);
        rank[id.index()] = i as u32;
        problem.items.push(Item {
            size: rounded(loc.bytes, options).map_err(|e| e.at_location(&function.label(id)))?,
            align: alignment(loc.align(), options),
        });
        problem.set_usage(i as u32, loc.usage);
        problem
            .lives
            .push(liveness.lives.of(id.index()).iter().copied());
    }
    problem.pairs = pairs(&problem.items, &rank, liveness, pace)?;
    problem.collective_limit = collective_limit(function, &problem, &rank, options, pace)?;
    let regions = options.regions.iter().filter(|r| r.space == space);
    problem.regions = regions.map(|r| r.region).collect();
    problem.regions.sort_compact_by_key(|r| r.base);
    Ok(Frame {
        problem,
        items,
        rank,
    })
}

/// Bytes rounded up to a page in page mode, exact otherwise. // P2, P3, L10
pub(super) fn rounded(bytes: u64, options: &Options) -> Result<u64> {
    if options.packed {
        return Ok(bytes);
    }
    bytes.checked_next_multiple_of(PAGE).ok_or_else(|| {
        Fault::Overflow {
            what: format!("{bytes} bytes, rounded up to a page,"),
        }
        .into()
    })
}

/// What a start is a multiple of: the declared alignment, else the option's, and at least a page
/// in page mode. // P2, P8
pub(super) fn alignment(declared: Option<u64>, options: &Options) -> u64 {
    let mode = if options.packed { 1 } else { PAGE };
    declared.or(options.align).unwrap_or(mode).max(mode)
}

/// The pairs whose both ends are items here and whose def is not the larger. // L8
fn pairs(
    items: &[Item],
    rank: &[u32],
    liveness: &Liveness,
    pace: &mut Pace<'_, '_>,
) -> Result<Vec<InPlacePair>> {
    let mut pairs: Vec<InPlacePair> = Vec::new();
    let mut by_def: Vec<u64> = Vec::new();
    for pair in &liveness.pairs {
        pace.work(1)?;
        let (used, def) = (rank[pair.used.index()], rank[pair.def.index()]);
        let fits = used != u32::MAX
            && def != u32::MAX
            && items[def as usize].size <= items[used as usize].size;
        if fits {
            by_def.push(u64::from(def) << 32 | pairs.len() as u64);
            pairs.push(InPlacePair {
                index: pair.index,
                used,
                def,
            });
        }
    }
    sort_words(&mut by_def, 32, pace)?; // List order within one def.
    Ok(by_def
        .iter()
        .map(|&word| pairs[word as u32 as usize])
        .collect())
}

/// The byte limit of the collective region, if the frame has one. // P5
fn collective_limit(
    function: &Function,
    problem: &Problem,
    rank: &[u32],
    options: &Options,
    pace: &mut Pace<'_, '_>,
) -> Result<Option<u64>> {
    pace.work(problem.usages.len() / 4)?;
    if options.cc_limit == 0 || !problem.usages.contains(&Usage::Collective) {
        return Ok(None);
    }
    if options.cc_limit > 0 {
        return Ok(Some((options.cc_limit as u64) << 20)); // `Options::validate` bounds it.
    }
    let mut sum: u64 = 0;
    let collective = function
        .instructions()
        .iter()
        .enumerate()
        .filter(|(_, i)| i.kind == Kind::Collective);
    for (t, _) in collective {
        pace.work(1)?;
        let t = FlatIndex::new(t);
        for access in function.uses(t).iter().chain(function.defs(t)) {
            let item = rank[function.root(access.loc).0.index()];
            let collective = problem.usage(item) == Usage::Collective;
            if let Some(item) = problem.items.get(item as usize).filter(|_| collective) {
                sum = sum.checked_add(item.size).ok_or_else(region_overflow)?;
            }
        }
    }
    let limit = sum
        .checked_next_multiple_of(PAGE)
        .ok_or_else(region_overflow)?;
    Ok(Some(limit).filter(|&limit| limit > 0))
}

fn region_overflow() -> Error {
    Fault::Overflow {
        what: "the computed size of the collective region".to_owned(),
    }
    .into()
}
