//! Neighbours enumerated: what today's tensor compilers do.
//!
//! The method of XLA's global decreasing-size best-fit heap and, first fit instead of best, of
//! TensorFlow Lite's greedy planner (Pisarchyk and Lee, "Efficient memory management for deep
//! neural net inference", 2020): sort, by size mostly, then for each buffer collect the placed
//! buffers that are live with it, sort them by address, take a gap that is large enough. XLA's
//! packing search makes six placements, by size, by life and by area, each into the smallest gap
//! and into the lowest, and keeps the best of them.
//!
//! The neighbours come from a search tree over the starts of lives, augmented with the latest end
//! of what is placed below each node, so finding k of them costs O(log n + k). The k itself is
//! what makes the method slow: with thousands of long lives it is thousands per buffer.

use std::cmp::Reverse;

use crate::workloads::Buffer;

/// Who is placed first; of equals the larger, then the longer, then in the given order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Most bytes.
    Size,
    /// Longest life.
    Life,
    /// Most bytes times time.
    Area,
}

/// Which gap is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The smallest that is large enough, the lowest of equals.
    Best,
    /// The lowest that is large enough.
    Lowest,
}

/// Places buffers, largest first, each into the smallest gap.
pub fn neighbour_best_fit(buffers: &[Buffer]) -> Vec<u64> {
    neighbour_placement(buffers, By::Size, Fit::Best)
}

/// The best of the six placements; the first of equals.
pub fn neighbour_best_of_six(buffers: &[Buffer]) -> Vec<u64> {
    let all = [By::Size, By::Life, By::Area].map(|by| [(by, Fit::Best), (by, Fit::Lowest)]);
    let placements = all.into_iter().flatten();
    let placements = placements.map(|(by, fit)| neighbour_placement(buffers, by, fit));
    let peak = |offsets: &Vec<u64>| {
        let ends = offsets
            .iter()
            .zip(buffers)
            .map(|(&start, b)| start + b.size);
        ends.max()
    };
    placements.min_by_key(peak).unwrap_or_default()
}

/// One placement.
fn neighbour_placement(buffers: &[Buffer], by: By, fit: Fit) -> Vec<u64> {
    let mut order: Vec<u32> = (0..buffers.len() as u32).collect();
    order.sort_by_key(|&i| {
        let b = &buffers[i as usize];
        let length = u64::from(b.upper - b.lower);
        let first = match by {
            By::Size => 0,
            By::Life => length.into(),
            By::Area => u128::from(b.size) * u128::from(length),
        };
        (Reverse(first), Reverse(b.size), Reverse(length), i)
    });
    let mut placed = Placed::new(buffers);
    let mut taken = Vec::new();
    for i in order {
        let buffer = &buffers[i as usize];
        taken.clear();
        placed.neighbours(buffer, &mut taken);
        taken.sort_unstable();
        placed.insert(i as usize, start(&taken, buffer.size, fit));
    }
    placed.offsets
}

/// The start of the gap of at least `size` that is taken; above everything if there is none.
fn start(taken: &[(u64, u64)], size: u64, fit: Fit) -> u64 {
    let mut best: Option<(u64, u64)> = None; // (gap, start)
    let mut at = 0;
    for &(start, end) in taken {
        if at + size <= start {
            if fit == Fit::Lowest {
                return at;
            }
            if best.is_none_or(|(gap, _)| start - at < gap) {
                best = Some((start - at, at));
            }
        }
        at = at.max(end);
    }
    best.map_or(at, |(_, start)| start)
}

/// Buffers in order of start, read as a balanced tree by midpoints.
struct Placed<'a> {
    buffers: &'a [Buffer],
    /// By start: numbers of buffers.
    sorted: Vec<u32>,
    /// The position of each buffer in `sorted`.
    position: Vec<u32>,
    /// The latest end of what is placed in the subtree whose root is at this position; 0 if nothing.
    latest: Vec<u32>,
    /// By number of buffer.
    offsets: Vec<u64>,
    is_placed: Vec<bool>, // By position.
}

impl Placed<'_> {
    fn new(buffers: &[Buffer]) -> Placed<'_> {
        let mut sorted: Vec<u32> = (0..buffers.len() as u32).collect();
        sorted.sort_by_key(|&i| (buffers[i as usize].lower, i));
        let mut position = vec![0; buffers.len()];
        for (at, &i) in sorted.iter().enumerate() {
            position[i as usize] = at as u32;
        }
        Placed {
            buffers,
            sorted,
            position,
            latest: vec![0; buffers.len()],
            offsets: vec![0; buffers.len()],
            is_placed: vec![false; buffers.len()],
        }
    }

    fn insert(&mut self, i: usize, offset: u64) {
        self.offsets[i] = offset;
        let at = self.position[i] as usize;
        self.is_placed[at] = true;
        let (mut lo, mut hi) = (0, self.sorted.len());
        loop {
            let mid = lo + (hi - lo) / 2;
            self.latest[mid] = self.latest[mid].max(self.buffers[i].upper);
            match at.cmp(&mid) {
                std::cmp::Ordering::Less => hi = mid,
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Greater => lo = mid + 1,
            }
        }
    }

    fn neighbours(&self, buffer: &Buffer, taken: &mut Vec<(u64, u64)>) {
        self.collect(0, self.sorted.len(), buffer, taken);
    }

    fn collect(&self, lo: usize, hi: usize, buffer: &Buffer, taken: &mut Vec<(u64, u64)>) {
        if lo >= hi {
            return;
        }
        let mid = lo + (hi - lo) / 2;
        if self.latest[mid] <= buffer.lower {
            return; // Everything placed below ends before the buffer starts.
        }
        self.collect(lo, mid, buffer, taken);
        let i = self.sorted[mid] as usize;
        if self.buffers[i].lower >= buffer.upper {
            return; // This one and everything to the right starts after the buffer ends.
        }
        if self.is_placed[mid] && self.buffers[i].meets(buffer) {
            taken.push((self.offsets[i], self.offsets[i] + self.buffers[i].size));
        }
        self.collect(mid + 1, hi, buffer, taken);
    }
}
