//! One order, neighbours enumerated: what today's tensor compilers do.
//!
//! For each buffer in turn, collect the placed buffers that are live with it, sort them by address,
//! take a gap. The methods differ in the order and in the gap:
//!
//! | method | order | gap |
//! | --- | --- | --- |
//! | XLA's global decreasing-size best-fit heap, spatial | size | smallest |
//! | the same, temporal | life | smallest |
//! | TensorFlow Lite's greedy planner (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020) | size | lowest |
//! | TVM's unified static memory planner, greedy by size | size | none: on top |
//!
//! The neighbours come from a search tree over the starts of lives, augmented with the latest end
//! of what is placed below each node, so finding k of them costs O(log n + k). The k itself is
//! what makes the methods slow: with thousands of long lives it is thousands per buffer.

use std::cmp::Reverse;

use crate::workloads::Buffer;

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Largest first; equal sizes go longest first, then as given.
    Size,
    /// Longest first; equal lives go largest first, then as given.
    Life,
    /// Most bytes times time first, then as given.
    Area,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 3] = [Order::Size, Order::Life, Order::Area];

    /// The numbers of the buffers in this order.
    pub fn of(self, buffers: &[Buffer]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..buffers.len() as u32).collect();
        order.sort_by_cached_key(|&i| {
            let b = &buffers[i as usize];
            let life = u64::from(b.upper - b.lower);
            Reverse(match self {
                Order::Size => (u128::from(b.size), life),
                Order::Life => (u128::from(life), b.size),
                Order::Area => (u128::from(life) * u128::from(b.size), 0),
            })
        });
        order
    }
}

/// Where in the gaps between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The smallest gap that is large enough, the lowest of equals.
    Smallest,
    /// The lowest gap that is large enough.
    Lowest,
    /// No gap: above all neighbours.
    OnTop,
}

/// Places buffers in an order, a permutation of their numbers.
pub fn place(buffers: &[Buffer], order: &[u32], fit: Fit) -> Vec<u64> {
    let mut placed = Placed::new(buffers);
    let mut taken = Vec::new();
    for &i in order {
        let buffer = &buffers[i as usize];
        taken.clear();
        placed.neighbours(buffer, &mut taken);
        let offset = match fit {
            Fit::OnTop => taken.iter().map(|t| t.1).max().unwrap_or(0),
            Fit::Smallest | Fit::Lowest => {
                taken.sort_unstable();
                in_a_gap(&taken, buffer.size, fit)
            }
        };
        placed.insert(i as usize, offset);
    }
    placed.offsets
}

/// XLA's heap, spatial: by size, the smallest gap.
pub fn by_size_best_fit(buffers: &[Buffer]) -> Vec<u64> {
    place(buffers, &Order::Size.of(buffers), Fit::Smallest)
}

/// TVM's planner: by size, on top of whatever is in the way.
pub fn by_size_on_top(buffers: &[Buffer]) -> Vec<u64> {
    place(buffers, &Order::Size.of(buffers), Fit::OnTop)
}

/// XLA's packing search: three orders, each with the smallest and with the lowest gap; the least
/// peak wins.
pub fn best_of_six(buffers: &[Buffer]) -> Vec<u64> {
    let tries = Order::ALL.into_iter().flat_map(|order| {
        let order = order.of(buffers);
        [Fit::Smallest, Fit::Lowest].map(|fit| place(buffers, &order, fit))
    });
    let peak = |offsets: &Vec<u64>| {
        let tops = offsets.iter().zip(buffers).map(|(o, b)| o + b.size);
        tops.max().unwrap_or(0)
    };
    tries.min_by_key(peak).expect("there are six")
}

/// The start of a gap of at least `size`; above everything if there is none.
fn in_a_gap(taken: &[(u64, u64)], size: u64, fit: Fit) -> u64 {
    let mut best: Option<(u64, u64)> = None; // (gap, start)
    let mut at = 0;
    for &(start, end) in taken {
        if at + size <= start && best.is_none_or(|(gap, _)| start - at < gap) {
            if fit == Fit::Lowest {
                return at;
            }
            best = Some((start - at, at));
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
