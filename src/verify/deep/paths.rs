//! Walks through a function that leave no edge out.
//!
//! A walk goes by the shortest way to the nearest edge that is missing, again and again, and then
//! leaves by the shortest way; so it is bounded by the number of edges, whatever the loops. Where
//! no exit can be reached it ends when nothing is missing any more.
//!
//! Cores that run together have to pass the same barriers in the same order, also where loops
//! hold them. So a walk can be bound to a given sequence of barriers, its *score*: it moves through
//! states, pairs of a block and a position in the score, and enters only those from which the end
//! of both can be reached.

use std::collections::VecDeque;

use super::flow::{Beat, Flow};
use crate::ordered_map::OrderedMap;
use crate::pace::Pace;

/// The states of one function under one score.
pub(super) struct Paths {
    /// The block of each state.
    blocks: Vec<u32>,
    /// By state: `(edge, state)`, dead ends left out.
    steps: Vec<Vec<(u32, u32)>>,
    /// By state: the step that is on a shortest way out; `None` where a walk may end.
    out: Vec<Option<u32>>,
    /// Whether the function can be walked at all under the score.
    open: bool,
}

/// Random numbers from a seed (SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom
/// number generators*, 2014).
#[derive(Clone, Debug)]
pub(super) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn pick(&mut self, of: usize) -> usize {
        (self.roll() % of as u64) as usize
    }
}

impl Paths {
    /// The states that `score` admits, any barriers if there is none; `None` if they are more than
    /// `limit`.
    pub fn new(
        flow: &Flow,
        score: Option<&[Beat]>,
        limit: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Paths> {
        // The position in the score after a block, if it may be run at this one.
        let after = |block: u32, at: u32| {
            let Some(score) = score else { return Some(0) };
            let beats = flow.beats(block);
            let end = at as usize + beats.len();
            (score.get(at as usize..end)? == beats).then_some(end as u32)
        };
        let mut number: OrderedMap<(u32, u32), u32> = [((0, 0), 0)].into_iter().collect();
        let mut states = vec![(0, 0)];
        let mut steps: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut ends = Vec::new();
        while let Some(&(block, at)) = states.get(steps.len()) {
            // The state is met here, backwards, and when dead ends go.
            if pace.over(20) {
                return None;
            }
            let mut mine = Vec::new();
            let mut end = false;
            if let Some(next) = after(block, at) {
                end = flow.ends(block) && score.is_none_or(|s| s.len() == next as usize);
                for edge in flow.edges(block) {
                    let state = (flow.target(edge), next);
                    let to = *number.entry(state).or_insert_with(|| {
                        states.push(state);
                        states.len() as u32 - 1
                    });
                    mine.push((edge, to));
                }
            }
            steps.push(mine);
            ends.push(end);
            if states.len() > limit {
                return None;
            }
        }
        let mut preds: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
        for (from, steps) in (0..).zip(&steps) {
            steps.iter().for_each(|s| preds[s.1 as usize].push(from));
        }
        let mut alive = ends.clone();
        let mut out = vec![None; states.len()];
        let mut work: VecDeque<u32> = (0..states.len() as u32)
            .filter(|&s| ends[s as usize])
            .collect();
        while let Some(state) = work.pop_front() {
            for &pred in &preds[state as usize] {
                if !alive[pred as usize] {
                    alive[pred as usize] = true;
                    let step = steps[pred as usize].iter().position(|s| s.1 == state);
                    out[pred as usize] = step.map(|s| s as u32);
                    work.push_back(pred);
                }
            }
        }
        // Dead ends go, and the ways out are numbered anew.
        for (state, steps) in steps.iter_mut().enumerate() {
            let way = out[state].map(|s| steps[s as usize]);
            steps.retain(|s| alive[s.1 as usize]);
            let at = way.and_then(|way| steps.iter().position(|&s| s == way));
            out[state] = at.map(|at| at as u32);
        }
        Some(Paths {
            blocks: states.iter().map(|s| s.0).collect(),
            out,
            steps,
            open: alive[0],
        })
    }

    /// A walk, as blocks, over edges that are missing and through blocks that are `wanted`, as
    /// long as there are any within reach and `left` is not used up; `None` if there are none.
    pub fn cover(
        &self,
        flow: &mut Flow,
        wanted: impl Fn(u32) -> bool,
        left: &mut u64,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Vec<u32>> {
        if !self.open {
            return None;
        }
        let mut served = vec![false; flow.graph.len()];
        let mut walk = vec![self.blocks[0]];
        served[self.blocks[0] as usize] = true;
        let mut news = wanted(self.blocks[0]);
        let mut at = 0;
        let mut search = Search::new(self.blocks.len());
        loop {
            let goal = |flow: &Flow, (edge, to): (u32, u32)| {
                let block = self.blocks[to as usize];
                flow.misses(edge) || !served[block as usize] && wanted(block)
            };
            let way = search.nearest(self, at, left, |step| goal(flow, step), pace);
            let Some(way) = way else {
                break;
            };
            news = true;
            for (edge, to) in way {
                flow.take(edge);
                walk.push(self.blocks[to as usize]);
                served[self.blocks[to as usize] as usize] = true;
                at = to;
            }
        }
        self.leave(flow, at, &mut walk);
        news.then_some(walk)
    }

    /// A walk that takes any way for about `length` blocks, then the shortest out.
    pub fn wander(&self, flow: &mut Flow, dice: &mut Dice, length: usize) -> Option<Vec<u32>> {
        if !self.open {
            return None;
        }
        let mut walk = vec![self.blocks[0]];
        let mut at = 0u32;
        while walk.len() < length {
            let steps = &self.steps[at as usize];
            if steps.is_empty() {
                break;
            }
            let (edge, to) = steps[dice.pick(steps.len())];
            flow.take(edge);
            walk.push(self.blocks[to as usize]);
            at = to;
        }
        self.leave(flow, at, &mut walk);
        Some(walk)
    }

    /// The shortest walk, taking nothing.
    pub fn shortest(&self) -> Vec<u32> {
        let mut walk = vec![self.blocks[0]];
        let mut at = 0;
        while let Some(step) = self.out[at as usize] {
            at = self.steps[at as usize][step as usize].1;
            walk.push(self.blocks[at as usize]);
        }
        walk
    }

    /// The shortest way from here to where a walk may end.
    fn leave(&self, flow: &mut Flow, mut at: u32, walk: &mut Vec<u32>) {
        while let Some(step) = self.out[at as usize] {
            let (edge, to) = self.steps[at as usize][step as usize];
            flow.take(edge);
            walk.push(self.blocks[to as usize]);
            at = to;
        }
    }
}

/// The scratch memory of searches in breadth.
struct Search {
    round: u32,
    seen: Vec<u32>,
    from: Vec<(u32, u32)>, // The state before, and the edge from there.
}

impl Search {
    fn new(states: usize) -> Search {
        Search {
            round: 0,
            seen: vec![0; states],
            from: vec![(0, 0); states],
        }
    }

    /// The shortest way from a state over a step that is a goal, as steps.
    fn nearest(
        &mut self,
        paths: &Paths,
        start: u32,
        left: &mut u64,
        goal: impl Fn((u32, u32)) -> bool,
        pace: &mut Pace<'_, '_>,
    ) -> Option<Vec<(u32, u32)>> {
        self.round += 1;
        self.seen[start as usize] = self.round;
        let mut work = VecDeque::from([start]);
        while let Some(state) = work.pop_front() {
            *left = left.checked_sub(1)?;
            if pace.over(2) {
                break;
            }
            for &(edge, to) in &paths.steps[state as usize] {
                if goal((edge, to)) {
                    let mut way = vec![(edge, to)];
                    let mut at = state;
                    while at != start {
                        let (before, edge) = self.from[at as usize];
                        way.push((edge, at));
                        at = before;
                    }
                    way.reverse();
                    return Some(way);
                }
                if self.seen[to as usize] != self.round {
                    self.seen[to as usize] = self.round;
                    self.from[to as usize] = (state, edge);
                    work.push_back(to);
                }
            }
        }
        None
    }
}
