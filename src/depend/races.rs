//! Where the order of two cores is nobody's. // D3
//!
//! Nothing but barriers orders two cores, and barriers order everything; so no edge could help
//! here. Two questions are left, both about one epoch: do two different groups share bytes, which
//! is an error of whoever placed them, and do two cores touch the same bytes of one group, one of
//! them writing, which is a race of the program itself.
//!
//! Both are sweeps. Epochs are cut where a life or an access begins or ends; what lies over one
//! cut is then swept by address, `O(n log n)` for `n` lives or accesses, if these are short.

use std::collections::BTreeSet;
use std::fmt;

use crate::ir::Segment;
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;
use crate::plan::Site;
use crate::sorting::CompactSort as _;

/// Bytes that a group takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedGroup {
    /// How messages call it.
    pub name: String,
    /// The first address.
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// When it lives, in epochs.
    pub life: Vec<Segment>,
    /// The cores on which it takes these bytes, ascending; empty: all of them. // M7
    pub cores: Vec<u32>,
}

/// Bytes of a group that an instruction touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// The instruction.
    pub site: Site,
    /// The group, by number.
    pub group: u32,
    /// The first byte, from the start of the group.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Whether it writes them.
    pub writes: bool,
    /// The epochs in which it may run.
    pub epochs: Segment,
}

/// Two accesses of two cores that nothing orders; one per group and pair of cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The group, by number.
    pub group: u32,
    /// The first epoch in which both may run.
    pub epoch: u32,
    /// The accesses, that of the lower core first.
    pub accesses: [SharedAccess; 2],
}

impl Race {
    /// The bytes of the group that both touch.
    pub fn bytes(&self) -> (u64, u64) {
        let [a, b] = &self.accesses;
        (a.start.max(b.start), a.end.min(b.end))
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = self.bytes();
        let mut separator = "";
        for access in &self.accesses {
            let Site {
                core,
                function,
                index,
            } = &access.site;
            let does = if access.writes { "writes" } else { "reads" };
            write!(
                f,
                "{separator}core {core}, function {function}, instruction {index} {does}"
            )?;
            separator = " and ";
        }
        write!(
            f,
            " bytes {start} to {end} in epoch {}; no barrier orders them",
            self.epoch
        )
    }
}

/// Pairs of groups, by number, that share bytes on some core in some epoch.
///
/// Empty iff there is no such pair; where many groups lie over each other, not each pair is named.
pub fn groups_that_meet(groups: &[PlacedGroup]) -> Vec<(usize, usize)> {
    groups_that_meet_unless(groups, &mut Pace::free())
}

/// As [`groups_that_meet`], unless the host stops it. // S2
pub(super) fn groups_that_meet_unless(
    groups: &[PlacedGroup],
    pace: &mut Pace<'_, '_>,
) -> Vec<(usize, usize)> {
    let lives = |g: usize| groups[g].life.iter().copied();
    let mut pairs = BTreeSet::new();
    for_each_epoch(
        (0..groups.len()).flat_map(|g| lives(g).map(move |s| (s, g))),
        pace,
        |_, alive, pace| {
            alive.sort_compact_by_key(|&g| (groups[g].start, g));
            // On each core, what reaches furthest; `None` is a core that no group names.
            let mut furthest: OrderedMap<Option<u32>, usize> = OrderedMap::new();
            let named: BTreeSet<u32> = alive
                .iter()
                .flat_map(|&g| groups[g].cores.clone())
                .collect();
            for &g in alive.iter().filter(|&&g| groups[g].start < groups[g].end) {
                if pace.over(5) {
                    break;
                }
                let everywhere = groups[g].cores.is_empty();
                let cores: Vec<Option<u32>> = if everywhere {
                    named.iter().copied().map(Some).chain([None]).collect()
                } else {
                    groups[g].cores.iter().copied().map(Some).collect()
                };
                for core in cores {
                    let other = *furthest.entry(core).or_insert(g);
                    if other != g && groups[g].start < groups[other].end {
                        pairs.insert((other.min(g), other.max(g)));
                    }
                    if groups[g].end > groups[other].end {
                        furthest.insert(core, g);
                    }
                }
            }
        },
    );
    pairs.into_iter().collect()
}

/// Races, sorted by group and cores; for each group and pair of cores the first one by epoch,
/// then byte.
pub fn races(accesses: &[SharedAccess]) -> Vec<Race> {
    races_unless(accesses, &mut Pace::free())
}

/// As [`races`], unless the host stops it. // S2
pub(super) fn races_unless(accesses: &[SharedAccess], pace: &mut Pace<'_, '_>) -> Vec<Race> {
    let mut by_group: OrderedMap<u32, Vec<usize>> = OrderedMap::new();
    for (n, access) in accesses.iter().enumerate() {
        // A map is asked.
        if pace.over(10) {
            break;
        }
        if access.start < access.end {
            by_group.entry(access.group).or_default().push(n);
        }
    }
    let mut found: OrderedMap<(u32, u32, u32), Race> = OrderedMap::new();
    for (group, members) in by_group {
        if !members.iter().any(|&n| accesses[n].writes) {
            continue;
        }
        for_each_epoch(
            members.iter().map(|&n| (accesses[n].epochs, n)),
            pace,
            |epoch, open, pace| {
                open.sort_compact_by(|&n, &m| {
                    let key = |n: usize| (accesses[n].start, &accesses[n].site, n);
                    key(n).cmp(&key(m))
                });
                // By core: the access that reaches furthest, of all and of the writing ones.
                let mut furthest: [OrderedMap<u32, usize>; 2] = Default::default();
                for &n in open.iter() {
                    if pace.over(5) {
                        break;
                    }
                    let access = &accesses[n];
                    let core = access.site.core;
                    for (&other, &m) in &furthest[usize::from(!access.writes)] {
                        let key = (group, core.min(other), core.max(other));
                        if other == core
                            || access.start >= accesses[m].end
                            || found.contains_key(&key)
                        {
                            continue;
                        }
                        let mut pair = [accesses[m].clone(), access.clone()];
                        pair.sort_compact_by(|a, b| a.site.core.cmp(&b.site.core));
                        let race = Race {
                            group,
                            epoch,
                            accesses: pair,
                        };
                        found.insert(key, race);
                    }
                    for (table, counts) in furthest.iter_mut().zip([true, access.writes]) {
                        let best = table.get(&core).map_or(0, |&m| accesses[m].end);
                        if counts && access.end > best {
                            table.insert(core, n);
                        }
                    }
                }
            },
        );
    }
    found.into_values().collect()
}

/// Calls `visit` with every run of epochs over which the same things are open: its first epoch
/// and the things.
fn for_each_epoch(
    things: impl Iterator<Item = (Segment, usize)>,
    pace: &mut Pace<'_, '_>,
    mut visit: impl FnMut(u32, &mut Vec<usize>, &mut Pace<'_, '_>),
) {
    let mut events = Vec::new();
    for (segment, thing) in things {
        events.push((u64::from(segment.first().0), true, thing));
        events.push((u64::from(segment.last().0) + 1, false, thing));
    }
    events.sort_compact_by(Ord::cmp);
    let mut open = BTreeSet::new();
    let mut list = Vec::new();
    for at in events.chunk_by(|a, b| a.0 == b.0) {
        // One thing may end and begin at once: two segments that touch.
        let mut new = false;
        for &(_, begins, thing) in at {
            if pace.over(5) {
                break;
            }
            if begins {
                new |= open.insert(thing);
            } else {
                open.remove(&thing);
            }
        }
        if new {
            list.clear();
            list.extend(open.iter().copied());
            if pace.over(5 * list.len()) {
                break;
            }
            visit(at[0].0 as u32, &mut list, pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use arbitrary::{Result, Unstructured};

    use super::*;
    use crate::ir::FlatIndex;
    use std::collections::BTreeMap;

    fn segment(u: &mut Unstructured<'_>) -> Result<Segment> {
        let first = u.int_in_range(0..=4)?;
        let last = first + u.int_in_range(0..=2)?;
        Ok(Segment::new(FlatIndex(first), FlatIndex(last)).expect("not inverted"))
    }

    fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
        a.0.max(b.0) < a.1.min(b.1)
    }

    #[test]
    fn groups_meet_iff_some_core_has_both_on_one_byte_in_one_epoch() {
        arbtest::arbtest(|u| {
            let mut groups = Vec::new();
            for n in 0..u.int_in_range(0..=5)? {
                let start = u.int_in_range(0..=9)?;
                let first = segment(u)?;
                let mut life = vec![first];
                if u.arbitrary()? {
                    let at = FlatIndex(first.last().0 + u.int_in_range(2..=3)?);
                    life.push(Segment::new(at, at).expect("one epoch"));
                }
                let mut cores: Vec<u32> = u
                    .arbitrary::<[bool; 3]>()?
                    .iter()
                    .zip(0..)
                    .filter_map(|(&reaches, core)| reaches.then_some(core))
                    .collect();
                if u.arbitrary()? {
                    cores.clear();
                }
                groups.push(PlacedGroup {
                    name: format!("g{n}"),
                    start,
                    end: start + u.int_in_range(0..=4)?,
                    life,
                    cores,
                });
            }
            let meet = |a: &PlacedGroup, b: &PlacedGroup| {
                let core = a.cores.is_empty()
                    || b.cores.is_empty()
                    || a.cores.iter().any(|core| b.cores.contains(core));
                core && overlap((a.start, a.end), (b.start, b.end))
                    && crate::ir::overlap(&a.life, &b.life)
            };
            let found = groups_that_meet(&groups);
            for &(a, b) in &found {
                assert!(
                    a < b && meet(&groups[a], &groups[b]),
                    "{a} {b} of {groups:?}"
                );
            }
            for b in 0..groups.len() {
                let met = (0..groups.len()).any(|a| a != b && meet(&groups[a], &groups[b]));
                if met && found.is_empty() {
                    panic!("{b} meets another of {groups:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn a_race_is_found_for_each_group_and_pair_of_cores_that_has_one() {
        arbtest::arbtest(|u| {
            let mut accesses = Vec::new();
            for index in 0..u.int_in_range(0..=6)? {
                let start = u.int_in_range(0..=6)?;
                accesses.push(SharedAccess {
                    site: Site {
                        core: u.int_in_range(0..=2)?,
                        function: "main".into(),
                        index,
                    },
                    group: u.int_in_range(0..=1)?,
                    start,
                    end: start + u.int_in_range(0..=3)?,
                    writes: u.ratio(1, 3)?,
                    epochs: segment(u)?,
                });
            }
            let is_race = |a: &SharedAccess, b: &SharedAccess| {
                a.site.core < b.site.core
                    && a.group == b.group
                    && (a.writes || b.writes)
                    && overlap((a.start, a.end), (b.start, b.end))
                    && a.epochs.overlaps(b.epochs)
            };
            let mut want = BTreeMap::new();
            for a in &accesses {
                for b in accesses.iter().filter(|b| is_race(a, b)) {
                    let epoch = a.epochs.first().max(b.epochs.first()).0;
                    let key = (a.group, a.site.core, b.site.core);
                    let first = want.entry(key).or_insert(epoch);
                    *first = epoch.min(*first);
                }
            }
            let found = races(&accesses);
            for race in &found {
                let [a, b] = &race.accesses;
                assert!(is_race(a, b), "{race}");
            }
            let got: BTreeMap<_, _> = found
                .iter()
                .map(|r| {
                    let [a, b] = &r.accesses;
                    ((r.group, a.site.core, b.site.core), r.epoch)
                })
                .collect();
            assert_eq!(got, want, "{accesses:?}");
            Ok(())
        });
    }
}
