//! Who follows whom in the same bytes.
//!
//! The bytes of a line of time are cut where a location begins or ends. Within one range all bytes
//! have the same holders, one after the other; a sweep over the cuts counts them, and only the
//! ranges that are told are looked at one by one.

use crate::planner::{Ground, Grounds, Holder, Line};
use crate::sorting::CompactSort as _;

/// The successive holders of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The core; `None` for what is shared.
    pub core: Option<u32>,
    /// The function whose time it is; of shared bytes an entry function.
    pub function: String,
    /// The first of the bytes.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// The holders, in the order of time.
    pub links: Vec<Link>,
    /// How many more follow.
    pub others: u64,
}

/// One holder in a chain, for one run of its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its core; of a group its owner's.
    pub core: u32,
    /// The location's name.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// Its bytes as placed.
    pub bytes: u64,
    /// From when to when, closed; epochs, for what is shared.
    pub life: (u32, u32),
}

/// How many of the longest chains are told.
const LONGEST: usize = 3;

/// Candidates that are looked at for each chain that is told.
const TRIED: usize = 8;

/// Bytes with the same holders.
#[derive(Clone, Copy)]
struct Range {
    line: usize,
    start: u64,
    end: u64,
    /// How many runs of lives.
    runs: u32,
}

/// The chain of the highest bytes, and those with the most holders, `top` links of each.
pub(super) fn chains(
    grounds: &Grounds<'_>,
    ground: &Ground,
    top: usize,
) -> (Option<Chain>, Vec<Chain>) {
    let mut ranges = Vec::new();
    for (l, line) in ground.lines.iter().enumerate() {
        ranges.extend(cut(l, line));
    }
    let highest = ranges.iter().filter(|r| r.end == ground.peak);
    let highest = highest.reduce(|a, b| if b.runs > a.runs { b } else { a });
    let highest = highest.map(|range| chain(grounds, ground, range, top));
    ranges.retain(|range| range.runs > 1);
    ranges.sort_compact_by(|a, b| {
        let key = |r: &Range| {
            (
                std::cmp::Reverse((r.runs, r.end - r.start)),
                r.line,
                r.start,
            )
        };
        key(a).cmp(&key(b))
    });
    let mut told: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut longest = Vec::new();
    for range in ranges.iter().take(TRIED * LONGEST) {
        if longest.len() == LONGEST.min(top) {
            break;
        }
        let holders = holders(&ground.lines[range.line], range);
        // Bytes beside each other mostly have the same holders.
        let same = |(line, known): &(usize, Vec<usize>)| {
            let common = holders.iter().filter(|h| known.binary_search(h).is_ok());
            let common = common.count();
            *line == range.line && 2 * common > holders.len()
        };
        if !told.iter().any(same) {
            longest.push(chain(grounds, ground, range, top));
            told.push((range.line, holders));
        }
    }
    (highest, longest)
}

/// The ranges of a line.
fn cut(l: usize, line: &Line) -> Vec<Range> {
    let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * line.holders.len());
    for (i, holder) in line.holders.iter().enumerate() {
        if let (Some(start), Some(end)) = (holder.address, holder.end()) {
            let runs = line.problem.lives.of(i).len() as u32;
            events.extend([(start, true, runs), (end, false, runs)]);
        }
    }
    events.sort_compact_by_key(|&(at, begins, _)| (at, begins));
    let (mut ranges, mut runs, mut from) = (Vec::new(), 0u32, 0);
    for at in events.chunk_by(|a, b| a.0 == b.0) {
        let to = at[0].0;
        if runs > 0 {
            ranges.push(Range {
                line: l,
                start: from,
                end: to,
                runs,
            });
        }
        from = to;
        for &(_, begins, of) in at {
            runs = if begins { runs + of } else { runs - of };
        }
    }
    ranges
}

/// The items that have all of a range, ascending.
fn holders(line: &Line, range: &Range) -> Vec<usize> {
    let covers = |i: &usize| {
        let holder = &line.holders[*i];
        let there = holder.address.zip(holder.end());
        there.is_some_and(|(from, to)| from <= range.start && range.end <= to)
    };
    (0..line.holders.len()).filter(covers).collect()
}

fn chain(grounds: &Grounds<'_>, ground: &Ground, range: &Range, top: usize) -> Chain {
    let line = &ground.lines[range.line];
    let shared = ground.told.core.is_none();
    let mut runs: Vec<((u32, u32), &Holder)> = Vec::new();
    for i in holders(line, range) {
        let (life, holder) = (line.problem.lives.of(i).iter(), &line.holders[i]);
        runs.extend(life.map(|s| ((s.first().0, s.last().0), holder)));
    }
    runs.sort_compact_by_key(|&(run, holder)| (run, holder.member.loc));
    let others = runs.len().saturating_sub(top);
    let links = runs.iter().take(top).map(|&((first, last), holder)| {
        let (core, _, name) = grounds.names(holder);
        Link {
            core,
            name: name.to_owned(),
            address: holder.address.unwrap_or(0),
            bytes: holder.size,
            life: match shared {
                true => (grounds.epoch(first), grounds.epoch(last)),
                false => (first, last),
            },
        }
    });
    let function = match shared {
        true => grounds.stretch(line),
        false => {
            let site = grounds.site(ground, line, 0);
            site.map_or("", |(_, function, _)| function.name())
        }
    };
    Chain {
        core: ground.told.core,
        function: function.to_owned(),
        start: range.start,
        end: range.end,
        links: links.collect(),
        others: others as u64,
    }
}
