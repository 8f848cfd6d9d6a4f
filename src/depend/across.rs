//! Which meetings of different strands are implied on every path?
//!
//! A meeting (i, j) is needed iff on some path from i to j nothing in between orders the two:
//! neither another meeting, nor an engine, nor a fence. Whether two instructions meet does not
//! depend on the path, so the answer does not depend on which other edges were dropped, and the
//! set of needed edges is unique. A detour can only add instructions in between, so the *simple*
//! paths decide: those that run through no strand twice, but for the strand of both i and j.
//!
//! The question is NP-hard in general: with one diamond per variable and one three-armed branch
//! per clause, whose arms meet the complement of a literal and j, a path that orders nothing
//! spells out a satisfying assignment. So the work has a budget, in instructions scanned and in
//! strands visited. Sources are served cheapest first:
//!
//! * *exactly*, by scanning every simple path from the source to the strands that it meets;
//! * else *safely*, by scanning, for each strand met, the strands that every path to it runs
//!   through (its dominators in the graph as seen from the source, after Cooper, Harvey and
//!   Kennedy, *A Simple, Fast Dominance Algorithm*, 2001): what is ordered there is ordered on
//!   every path;
//! * else not at all, and its meetings stay.
//!
//! The first answer is D1's; the other two may keep an edge that is implied, never drop one that
//! is needed. // D1

use super::code::Code;
use super::reach::Meeting;
use super::scan::Scan;
use super::strands::Strands;

/// How much work may be spent on dropping meetings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Instructions scanned along simple paths.
    pub exact: u64,
    /// Instructions scanned along dominators.
    pub safe: u64,
    /// Strands visited while looking for paths.
    pub visits: u64,
}

impl Effort {
    /// A few times the work of scanning the function once, and enough for any small function.
    pub(super) fn of(instructions: usize) -> Effort {
        let instructions = instructions as u64;
        Effort {
            exact: 8 * instructions + (1 << 19),
            safe: 4 * instructions + (1 << 19),
            visits: 1 << 24,
        }
    }
}

/// The meetings that are needed, by the strand of what runs first.
pub(super) fn needed(
    code: &Code,
    strands: &Strands,
    scan: &mut Scan<'_>,
    mut meetings: Vec<Meeting>,
    mut effort: Effort,
) -> Vec<Meeting> {
    meetings.sort_unstable_by_key(|m| (strands.of(m.from), m.from, m.to));
    let mut sources: Vec<Source> = Vec::new();
    let mut rest: &[Meeting] = &meetings;
    while let Some(first) = rest.first() {
        let strand = strands.of(first.from);
        let count = rest.partition_point(|m| strands.of(m.from) == strand);
        let start = meetings.len() - rest.len();
        let mut targets: Vec<u32> = rest[..count].iter().map(|m| strands.of(m.to)).collect();
        targets.sort_unstable();
        targets.dedup();
        sources.push(Source {
            strand,
            meetings: start..start + count,
            targets,
        });
        rest = &rest[count..];
    }

    let mut keep = vec![false; meetings.len()];
    let mut paths = Paths::new(strands);
    // What is cheap goes first, so that one tangle does not eat up the effort for all others.
    let share = |visits: u64, left: usize| visits / left.max(1) as u64;
    let mut ways = Vec::new();
    for (done, source) in sources.iter().enumerate() {
        let mut visits = share(effort.visits, sources.len() - done);
        effort.visits -= visits;
        let mut cost = 0;
        let known = paths.simple(source, &mut visits, |path| {
            cost += paths_cost(strands, path);
            cost <= effort.exact
        });
        effort.visits += visits;
        ways.push((if known { cost } else { u64::MAX }, done));
    }
    ways.sort_unstable();
    let mut left = Vec::new();
    for (cost, number) in ways {
        let source = &sources[number];
        if cost > effort.exact {
            left.push(number);
            continue;
        }
        effort.exact -= cost;
        let mut unlimited = u64::MAX;
        let mut found = Marks::new(&meetings, source, &mut keep);
        paths.simple(source, &mut unlimited, |path| {
            found.scan(code, strands, scan, path);
            true
        });
    }
    for number in left {
        let source = &sources[number];
        let chains = paths.dominators(source, &mut effort.visits);
        let cost = chains
            .iter()
            .map(|path| paths_cost(strands, path))
            .sum::<u64>();
        if chains.is_empty() || cost > effort.safe {
            keep[source.meetings.clone()].fill(true);
            continue;
        }
        effort.safe -= cost;
        let mut found = Marks::new(&meetings, source, &mut keep);
        for path in &chains {
            found.scan(code, strands, scan, path);
        }
    }
    let mut keep = keep.into_iter();
    meetings.retain(|_| keep.next() == Some(true));
    meetings
}

/// A strand with the meetings that begin in it.
struct Source {
    strand: u32,
    meetings: std::ops::Range<usize>,
    targets: Vec<u32>,
}

fn paths_cost(strands: &Strands, path: &[u32]) -> u64 {
    path.iter()
        .map(|&strand| u64::from(strands.size(strand)))
        .sum()
}

/// The meetings of one source that were found to be needed.
struct Marks<'a> {
    meetings: &'a [Meeting],
    keep: &'a mut [bool],
    trace: Vec<u32>,
}

impl<'a> Marks<'a> {
    fn new(meetings: &'a [Meeting], source: &Source, keep: &'a mut [bool]) -> Marks<'a> {
        Marks {
            meetings: &meetings[source.meetings.clone()],
            keep: &mut keep[source.meetings.clone()],
            trace: Vec::new(),
        }
    }

    /// Marks the edges that the code along a path needs, from its first strand to its others.
    fn scan(&mut self, code: &Code, strands: &Strands, scan: &mut Scan<'_>, path: &[u32]) {
        let trace = &mut self.trace;
        trace.clear();
        let (source, rest) = path.split_first().expect("a path has a source");
        trace.extend(strands.instructions(*source));
        let fence = trace.iter().rposition(|&i| code.is_fence(i));
        trace.drain(..fence.map_or(0, |at| at + 1));
        let own = trace.len();
        for &strand in rest {
            // Only the last one may have a fence, and nothing after the fence matters.
            trace.extend(
                strands
                    .instructions(strand)
                    .take_while(|&i| !code.is_fence(i)),
            );
        }
        scan.run(trace, |link| {
            if link.from < own && own <= link.to {
                let pair = (trace[link.from], trace[link.to]);
                let at = self
                    .meetings
                    .binary_search_by_key(&pair, |m| (m.from, m.to));
                // Other strands on the path are no targets if what meets them is hidden first.
                if let Ok(at) = at {
                    self.keep[at] = true;
                }
            }
        });
    }
}

/// Finds paths; keeps its memory from one source to the next.
struct Paths<'a> {
    strands: &'a Strands,
    target: Vec<bool>, // By strand, for the source at hand.
    useful: Vec<bool>, // By strand: whether a target can be reached from it.
}

impl<'a> Paths<'a> {
    fn new(strands: &'a Strands) -> Paths<'a> {
        Paths {
            strands,
            target: vec![false; strands.len()],
            useful: vec![false; strands.len()],
        }
    }

    /// Finds the strands between a source and its targets.
    ///
    /// A strand with a fence ends every path, and so does the source when it is met again.
    fn aim(&mut self, source: &Source, visits: &mut u64) -> bool {
        self.target.fill(false);
        self.useful.fill(false);
        let mut open = Vec::new();
        for &target in &source.targets {
            self.target[target as usize] = true;
            self.useful[target as usize] = true;
            open.push(target);
        }
        while let Some(strand) = open.pop() {
            for &pred in self.strands.preds(strand) {
                if !spend(visits) {
                    return false;
                }
                if pred != source.strand
                    && !self.useful[pred as usize]
                    && !self.strands.fenced(pred)
                {
                    self.useful[pred as usize] = true;
                    open.push(pred);
                }
            }
        }
        true
    }

    /// Visits simple paths from a source, so that every simple path to a target begins one.
    ///
    /// Returns whether these were all: neither did the visits run out nor did `visit` say stop.
    fn simple(
        &mut self,
        source: &Source,
        visits: &mut u64,
        mut visit: impl FnMut(&[u32]) -> bool,
    ) -> bool {
        if !self.aim(source, visits) {
            return false;
        }
        let mut path = vec![source.strand];
        let mut on_path = vec![false; self.strands.len()];
        // Per strand on the path: the next step to try, and whether one was taken.
        let mut steps = vec![(0, false)];
        while let Some((step, extended)) = steps.last_mut() {
            let at = *path.last().expect("as long as the steps");
            let ended = path.len() > 1 && (at == source.strand || self.strands.fenced(at));
            let next = self.strands.succs(at).get(*step).filter(|_| !ended);
            if let Some(next) = next {
                *step += 1;
                if !spend(visits) {
                    return false;
                }
                if self.useful[next.to as usize] && !on_path[next.to as usize] {
                    *extended = true;
                    on_path[next.to as usize] = true;
                    path.push(next.to);
                    steps.push((0, false));
                }
                continue;
            }
            if !*extended {
                let last = path.iter().rposition(|&s| self.target[s as usize]);
                if let Some(last) = last.filter(|&last| last > 0)
                    && !visit(&path[..=last])
                {
                    return false;
                }
            }
            on_path[at as usize] = false;
            path.pop();
            steps.pop();
        }
        true
    }

    /// For each target the strands that every path from the source to it runs through, unless the
    /// visits run out; chains that begin others are left out.
    fn dominators(&mut self, source: &Source, visits: &mut u64) -> Vec<Vec<u32>> {
        if !self.aim(source, visits) {
            return Vec::new();
        }
        // The source is met again as a node of its own, which comes after all strands.
        let again = self.strands.len() as u32;
        let Some(postorder) = self.postorder(source.strand, again, visits) else {
            return Vec::new();
        };
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; again as usize + 1];
        for (n, &node) in (0..).zip(&postorder) {
            number[node as usize] = n;
        }
        // Cooper, Harvey and Kennedy: nodes by postorder number, the source has the greatest.
        let root = postorder.len() as u32 - 1;
        let mut above = vec![NONE; postorder.len()];
        above[root as usize] = root;
        let mut changed = true;
        while changed {
            changed = false;
            for n in (0..root).rev() {
                let node = postorder[n as usize];
                let strand = if node == again { source.strand } else { node };
                let mut new = NONE;
                for &pred in self.strands.preds(strand) {
                    if !spend(visits) {
                        return Vec::new();
                    }
                    let fenced = self.strands.fenced(pred) && pred != source.strand;
                    let mut other = number[pred as usize];
                    if other == NONE || fenced || above[other as usize] == NONE {
                        continue;
                    }
                    while new != NONE && new != other {
                        if new < other {
                            new = above[new as usize];
                        } else {
                            other = above[other as usize];
                        }
                    }
                    new = other;
                }
                changed |= above[n as usize] != new;
                above[n as usize] = new;
            }
        }
        let chain = |mut n: u32| {
            let mut chain = vec![n];
            while n != root {
                n = above[n as usize];
                chain.push(n);
            }
            chain.reverse();
            chain
        };
        let ends = source.targets.iter().map(|&target| {
            let node = if target == source.strand {
                again
            } else {
                target
            };
            number[node as usize]
        });
        let mut inner = vec![false; postorder.len()]; // Begins the chain of another target.
        let chains: Vec<Vec<u32>> = ends.map(chain).collect();
        for chain in &chains {
            let above_end = chain[..chain.len() - 1].iter().rev();
            for &n in above_end.take_while(|&&n| n != root) {
                if std::mem::replace(&mut inner[n as usize], true) {
                    break;
                }
            }
        }
        let strand = |n: &u32| match postorder[*n as usize] {
            node if node == again => source.strand,
            node => node,
        };
        chains
            .iter()
            .filter(|chain| !inner[chain[chain.len() - 1] as usize])
            .map(|chain| chain.iter().map(strand).collect())
            .collect()
    }

    /// The useful strands in an order in which each comes after what is first reached from it;
    /// the source is the last.
    fn postorder(&self, source: u32, again: u32, visits: &mut u64) -> Option<Vec<u32>> {
        let mut seen = vec![false; again as usize + 1];
        seen[source as usize] = true;
        let mut path = vec![(source, 0)];
        let mut order = Vec::new();
        while let Some((at, step)) = path.last_mut() {
            let at = *at;
            let ended = at == again || (self.strands.fenced(at) && at != source);
            let next = if ended {
                None
            } else {
                self.strands.succs(at).get(*step)
            };
            let Some(next) = next else {
                order.push(at);
                path.pop();
                continue;
            };
            *step += 1;
            if !spend(visits) {
                return None;
            }
            let to = if next.to == source { again } else { next.to };
            if self.useful[next.to as usize] && !seen[to as usize] {
                seen[to as usize] = true;
                path.push((to, 0));
            }
        }
        Some(order)
    }
}

/// Takes one; whether there was one left.
fn spend(visits: &mut u64) -> bool {
    let left = visits.checked_sub(1);
    *visits = left.unwrap_or(0);
    left.is_some()
}
