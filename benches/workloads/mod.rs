//! Generated workloads: buffers as a compiler's back end meets them, from fixed seeds.
//!
//! | name | shape |
//! | --- | --- |
//! | short | temporaries that die soon: a few dozen live at once, whatever the size |
//! | mix | a training step: activations kept for the backward pass, state that lives for ever |
//! | layers | layer after layer of the same buffers, a residual stream, caches of whole-run life |
//! | decode | sequences that come and go, each with a cache that grows token by token |
//! | tight | a rectangle cut into pieces: some placement wastes nothing, and few do |
//!
//! Times are half-open, sizes are whole pages, in all but `tight` between 4 KiB and 16 MiB.

pub mod csv;
mod decode;
mod tight;

use dramalloc::PAGE;

/// One buffer: bytes that are needed from `lower` to before `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffer {
    /// The first time.
    pub lower: u32,
    /// One past the last time.
    pub upper: u32,
    /// Bytes.
    pub size: u64,
}

impl Buffer {
    /// Whether two buffers are ever needed at the same time.
    pub fn meets(&self, other: &Buffer) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }
}

/// A generator of workloads.
pub struct Workload {
    /// Its name in tables.
    pub name: &'static str,
    /// Makes `n` buffers, sorted, the same ones every time.
    pub make: fn(usize) -> Vec<Buffer>,
}

/// All workloads.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "short",
        make: short,
    },
    Workload {
        name: "mix",
        make: mix,
    },
    Workload {
        name: "layers",
        make: layers,
    },
    Workload {
        name: "decode",
        make: decode::decode,
    },
    Workload {
        name: "tight",
        make: tight::tight,
    },
];

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014: the mixer.
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`, which is below 2^32; the bias of the product is below 2^-32.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// At least 1, on average `mean`, at most twenty times that: a geometric life without
    /// logarithms, whose last digits differ between machines.
    fn life(&mut self, mean: usize) -> usize {
        let mut length = 1;
        while length < 20 * mean && self.below(mean) > 0 {
            length += 1;
        }
        length
    }

    /// Whole pages, 1 to 4096 of them, each power of two as likely as the next.
    fn size(&mut self) -> u64 {
        let power = 1_usize << self.below(12);
        PAGE * (power + self.below(power)) as u64
    }
}

fn buffer(lower: usize, upper: usize, size: u64) -> Buffer {
    Buffer {
        lower: lower as u32,
        upper: upper as u32,
        size,
    }
}

fn short(n: usize) -> Vec<Buffer> {
    let mut random = Random::new(1 + n as u64);
    let mut buffers = Vec::with_capacity(n);
    for _ in 0..n {
        let lower = random.below(n);
        buffers.push(buffer(lower, n.min(lower + random.life(24)), random.size()));
    }
    sorted(buffers)
}

fn mix(n: usize) -> Vec<Buffer> {
    let mut random = Random::new(2 + n as u64);
    let mut buffers = Vec::with_capacity(n);
    for _ in 0..(n / 500).clamp(4, 200) {
        buffers.push(buffer(0, n, random.size())); // Optimizer state.
    }
    for _ in 0..(n / 40).min(2000) {
        let forward = random.below(n / 2);
        buffers.push(buffer(forward, n - forward, random.size())); // Kept for the gradient.
    }
    for _ in 0..n / 16 {
        let lower = random.below(n);
        let length = random.life((n / 400).clamp(40, 400));
        buffers.push(buffer(lower, n.min(lower + length), random.size()));
    }
    while buffers.len() < n {
        let lower = random.below(n);
        buffers.push(buffer(lower, n.min(lower + random.life(24)), random.size()));
    }
    sorted(buffers)
}

/// What one layer keeps: (first time, one past the last, pages) within the layer.
const LAYER: &[(usize, usize, u64)] = &[
    (0, 2, 256),    // Normalised input.
    (1, 6, 384),    // Queries, keys and values.
    (2, 5, 256),    // Queries, turned.
    (3, 5, 96),     // Keys, transposed.
    (4, 7, 1024),   // Scores.
    (6, 9, 256),    // Context.
    (8, 10, 256),   // Projected.
    (9, 12, 256),   // Sent to the other cores.
    (10, 12, 256),  // Received.
    (11, 14, 256),  // Normalised again.
    (13, 17, 1792), // Gate and up.
    (15, 18, 896),  // Their product.
    (17, 20, 256),  // Projected.
    (18, 20, 256),  // Received.
];
const LAYER_TIME: usize = 20;

fn layers(n: usize) -> Vec<Buffer> {
    let mut random = Random::new(3 + n as u64);
    let layers = n.div_ceil(LAYER.len() + 2);
    let end = layers * LAYER_TIME + 1;
    let mut buffers = Vec::with_capacity(n + LAYER.len() + 2);
    for layer in 0..layers {
        let start = layer * LAYER_TIME;
        // The share of tokens that the layer works on differs a little, as batches do.
        let share = 12 + random.below(5) as u64;
        let pages = |full: u64| PAGE * (full * share).div_ceil(16);
        for &(lower, upper, full) in LAYER {
            buffers.push(buffer(start + lower, start + upper, pages(full)));
        }
        buffers.push(buffer(start, start + LAYER_TIME + 1, pages(256))); // The residual stream.
        // Weights come ahead of their layer; every sixteenth layer leaves a cache behind.
        let ahead = start.saturating_sub(LAYER_TIME / 2);
        let until = if layer % 16 == 0 && layer < 3200 {
            end
        } else {
            start + 16
        };
        buffers.push(buffer(ahead, until, pages(640)));
    }
    buffers.truncate(n);
    sorted(buffers)
}

fn sorted(mut buffers: Vec<Buffer>) -> Vec<Buffer> {
    buffers.sort_unstable();
    buffers
}

/// What the sum of live sizes says of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The greatest sum of live sizes: no placement has a lower peak.
    pub bytes: u64,
    /// The greatest number of live buffers.
    pub live: usize,
    /// Pairs of buffers that are live together, which neighbour enumeration meets one by one.
    pub pairs: u64,
}

/// `short_1e3` and the like; a size that is no power of ten is written out.
pub fn instance_name(workload: &str, n: usize) -> String {
    let digits = n.to_string();
    match digits.trim_end_matches('0') {
        "1" => format!("{workload}_1e{}", digits.len() - 1),
        _ => format!("{workload}_{n}"),
    }
}

/// Sweeps over time once.
pub fn load(buffers: &[Buffer]) -> Load {
    // Ends come before starts at the same time: lives are half-open.
    let mut events: Vec<(u32, bool, u64)> = Vec::with_capacity(2 * buffers.len());
    for b in buffers {
        events.push((b.lower, true, b.size));
        events.push((b.upper, false, b.size));
    }
    events.sort_unstable();
    let (mut load, mut bytes, mut live) = (Load::default(), 0, 0);
    for (_, starts, size) in events {
        if starts {
            load.pairs += live as u64;
            bytes += size;
            live += 1;
            load.bytes = load.bytes.max(bytes);
            load.live = load.live.max(live);
        } else {
            bytes -= size;
            live -= 1;
        }
    }
    load
}
