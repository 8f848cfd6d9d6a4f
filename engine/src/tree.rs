//! Time as a tree of wide nodes, each knowing which addresses are taken.
//!
//! Points are gathered in leaves of 64, leaves in nodes of `FAN_OUT`, and so on up to one root. A
//! life is a run of points; what it covers of the tree is parts of two leaves and, level by level
//! above them, some whole children of the nodes on the two paths up to where they meet. Three kinds
//! of tables hold what is taken:
//!
//! * a **leaf** has an arrangement by point, of the lives that begin or end inside the leaf;
//! * an inner node has a **union**, an arrangement by child, of what is taken at *some* point of the
//!   child by lives that begin or end in this node;
//! * a node that is not the root has a **cover**, a gap list, of what lives through the whole node,
//!   but not through the whole of its parent.
//!
//! A location that seeks a place asks the leaves at its ends, the union of each node on the paths
//! for the children that it covers, and the covers of all nodes on the paths: together these hold
//! exactly the lives that meet its own. The position is passed round them, and rises, until all
//! agree. A location that takes a place enters it into the leaves at its ends, into the covers of
//! the children that it covers, and into the unions above, as far up as the level below says that
//! some address was free of everything before. What is asked and entered are some four tables per
//! level, whose length depends on how fragmented memory is there, not on how many lives there are.
//!
//! The idea of gap lists and unions on a segment tree is folklore of interval stabbing (Bentley,
//! *Solutions to Klee's rectangle problems*, 1977, has the decomposition); wide nodes with masks
//! put a whole subtree of it into one table.
//!
//! # Invariants
//!
//! * **leaf**: as said above; **cover** likewise;
//! * **union**: bit `c` is set at an address iff some life that begins or ends inside the node takes
//!   that address at some point of child `c`.

use super::address::Address;
use super::arrangement::{self, Arrangements};
use super::gaps::{self, GapLists};
use super::starts::Starts;
use crate::Run;

/// Points of a leaf: the bits of a mask.
const LEAF: u32 = 64;

/// Children of an inner node: at most the bits of a mask.
const FAN_OUT: u32 = 32;

/// One level of nodes; level 0 are the leaves.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The number of its first node.
    first: u32,
    /// How many nodes it has.
    nodes: u32,
}

/// What is taken, in units.
#[derive(Clone, Debug)]
pub(super) struct Tree<A> {
    levels: Vec<Level>,
    /// By node: leaves and unions.
    arrangements: Arrangements<A>,
    /// The covers that exist.
    covers: GapLists<A>,
    /// By node: its cover, or `NO_COVER`.
    cover_of: Vec<u32>,
    scratch: Scratch<A>,
}

const NO_COVER: u32 = u32::MAX;

/// Room to work in, kept from call to call.
#[derive(Clone, Debug, Default)]
struct Scratch<A> {
    tables: Vec<Table>,
    intervals: Vec<(A, u64)>,
}

/// A table that a search asks, and how far it has come there.
#[derive(Clone, Copy, Debug)]
struct Table {
    /// Of an arrangement, or of a cover if the mask is 0.
    number: u32,
    cursor: u32,
    mask: u64,
}

/// The bits `from..=to`.
fn bits(from: u32, to: u32) -> u64 {
    (u64::MAX >> (63 - (to - from))) << from
}

impl<A: Address> Tree<A> {
    /// Nothing is taken at any of this many points; room for some `runs`.
    pub fn new(points: u32, runs: usize) -> Tree<A> {
        let mut levels = vec![Level {
            first: 0,
            nodes: points.div_ceil(LEAF).max(1),
        }];
        while let Some(&Level { first, nodes }) = levels.last()
            && nodes > 1
        {
            levels.push(Level {
                first: first + nodes,
                nodes: nodes.div_ceil(FAN_OUT),
            });
        }
        let root = levels[levels.len() - 1].first as usize;
        // Measured: a leaf ends with some five intervals to four runs. With room for them from the
        // start it never moves, and the leaves lie in the order of time.
        let leaves = levels[0].nodes as usize;
        let mut arrangements = Arrangements::with_blocks(leaves, runs / leaves * 5 / 4);
        arrangements.add_tables(root + 1 - leaves);
        Tree {
            levels,
            arrangements,
            covers: GapLists::new(),
            cover_of: vec![NO_COVER; root + 1],
            scratch: Scratch::default(),
        }
    }

    /// The lowest position from `low` on, in units, from which `size` units are free over the life
    /// and that end at `high` or before;  `starts` says where it may start.
    pub fn lowest(
        &mut self,
        life: &[Run],
        (low, high): (A, A),
        size: A,
        starts: impl Starts<A>,
    ) -> Option<A> {
        let mut tables = std::mem::take(&mut self.scratch.tables);
        tables.clear();
        for &run in life {
            self.tables_of(run, &mut tables);
        }
        let mut position = starts.admitted(low);
        let mut agreed = 0;
        let mut next = 0;
        let found = loop {
            if high.beyond(position) < size {
                break None;
            }
            if agreed == tables.len() {
                break Some(position);
            }
            let Table {
                number,
                cursor,
                mask,
            } = &mut tables[next];
            let risen = if *mask == 0 {
                gaps::climb(self.covers.rows(*number), cursor, position, size, starts)
            } else {
                let rows = self.arrangements.rows(*number);
                arrangement::climb(rows, cursor, *mask, position, size, starts)
            };
            let Some(risen) = risen else {
                break None;
            };
            // This one agrees now; if it had to raise the position, the others must be asked again.
            agreed = if risen == position { agreed + 1 } else { 1 };
            position = risen;
            next = if next + 1 == tables.len() {
                0
            } else {
                next + 1
            };
        };
        self.scratch.tables = tables;
        found
    }

    /// Reads the leaves at the ends of runs and their covers; the result means nothing.
    pub fn warm(&self, runs: &mut dyn Iterator<Item = Run>) -> u64 {
        // In two passes, so that the second waits for nothing that the first has not read.
        let mut leaves = [0; 64];
        let mut count = 0;
        for run in runs.take(leaves.len() / 2) {
            leaves[count] = run.first / LEAF;
            leaves[count + 1] = run.last / LEAF;
            count += 1 + usize::from(leaves[count] != leaves[count + 1]);
        }
        let leaves = &leaves[..count];
        let mut read = 0;
        for &leaf in leaves {
            read ^= u64::from(self.cover_of[leaf as usize]);
            read ^= u64::from(self.arrangements.is_empty(leaf));
        }
        for &leaf in leaves {
            read ^= self.arrangements.warm(leaf);
            let cover = self.cover_of[leaf as usize];
            if cover != NO_COVER {
                read ^= self.covers.warm(cover);
            }
        }
        read
    }

    /// The tables that hold everything that meets a run of points.
    fn tables_of(&self, run: Run, tables: &mut Vec<Table>) {
        let (mut x, mut y) = (run.first / LEAF, run.last / LEAF);
        let (from, to) = (run.first % LEAF, run.last % LEAF);
        let mut arrangement = |node: u32, mask: u64| {
            if !self.arrangements.is_empty(node) {
                tables.push(Table {
                    number: node,
                    cursor: 0,
                    mask,
                });
            }
        };
        if x == y {
            arrangement(x, bits(from, to));
        } else {
            arrangement(x, bits(from, LEAF - 1));
            arrangement(y, bits(0, to));
        }
        let mut covers = [NO_COVER; 2 * MOST_LEVELS];
        let mut count = 0;
        for levels in self.levels.windows(2) {
            let (below, level) = (levels[0], levels[1]);
            for node in [x, y] {
                let cover = self.cover_of[(below.first + node) as usize];
                if cover != NO_COVER && (node == x || x != y) {
                    covers[count] = cover;
                    count += 1;
                }
                if x == y {
                    break;
                }
            }
            let (up_x, up_y) = (x / FAN_OUT, y / FAN_OUT);
            let (from, to) = (x % FAN_OUT, y % FAN_OUT);
            if up_x == up_y {
                if from + 1 < to {
                    arrangement(level.first + up_x, bits(from + 1, to - 1));
                }
            } else {
                if from + 1 < FAN_OUT {
                    arrangement(level.first + up_x, bits(from + 1, FAN_OUT - 1));
                }
                if to > 0 {
                    arrangement(level.first + up_y, bits(0, to - 1));
                }
            }
            (x, y) = (up_x, up_y);
        }
        tables.extend(covers[..count].iter().map(|&number| Table {
            number,
            cursor: 0,
            mask: 0,
        }));
    }

    /// Takes the units `start..end` over a life, free or not.
    pub fn take(&mut self, life: &[Run], start: A, end: A) {
        for &run in life {
            self.take_run(run, (start, end));
        }
    }

    fn take_run(&mut self, run: Run, range: (A, A)) {
        let (mut x, mut y) = (run.first / LEAF, run.last / LEAF);
        let (from, to) = (run.first % LEAF, run.last % LEAF);
        // Whether the nodes on the paths have an address more than before that is taken.
        let (mut more_x, mut more_y);
        if x == y {
            more_x = self.take_bits(x, bits(from, to), range);
            more_y = more_x;
        } else {
            more_x = self.take_bits(x, bits(from, LEAF - 1), range);
            more_y = self.take_bits(y, bits(0, to), range);
        }
        for depth in 1..self.levels.len() {
            let (below, level) = (self.levels[depth - 1], self.levels[depth]);
            let (up_x, up_y) = (x / FAN_OUT, y / FAN_OUT);
            let (from, to) = (x % FAN_OUT, y % FAN_OUT);
            let bit = |more: bool, child: u32| u64::from(more) << child;
            if up_x == up_y {
                let mut mask = bit(more_x, from) | bit(more_y, to);
                if from + 1 < to {
                    mask |= bits(from + 1, to - 1);
                    self.cover(below.first + x + 1..below.first + y, range);
                }
                if mask == 0 {
                    return; // Union: every node above has these addresses already.
                }
                more_x = self.take_bits(level.first + up_x, mask, range);
                more_y = more_x;
            } else {
                let mut mask = bit(more_x, from);
                if from + 1 < FAN_OUT {
                    mask |= bits(from + 1, FAN_OUT - 1);
                    let end = below.first + (up_x + 1) * FAN_OUT;
                    self.cover(below.first + x + 1..end, range);
                }
                more_x = mask != 0 && self.take_bits(level.first + up_x, mask, range);
                let mut mask = bit(more_y, to);
                if to > 0 {
                    mask |= bits(0, to - 1);
                    self.cover(below.first + up_y * FAN_OUT..below.first + y, range);
                }
                more_y = mask != 0 && self.take_bits(level.first + up_y, mask, range);
            }
            (x, y) = (up_x, up_y);
        }
    }

    fn take_bits(&mut self, node: u32, mask: u64, range: (A, A)) -> bool {
        let scratch = &mut self.scratch.intervals;
        arrangement::take(&mut self.arrangements, node, mask, range, scratch)
    }

    fn cover(&mut self, nodes: std::ops::Range<u32>, range: (A, A)) {
        for cover in &mut self.cover_of[nodes.start as usize..nodes.end as usize] {
            if *cover == NO_COVER {
                *cover = self.covers.tables() as u32;
                self.covers.add_tables(1);
            }
            gaps::take(&mut self.covers, *cover, range);
        }
    }

    /// The same in another width; `None` stands for the end.
    pub fn map<B: Address>(&self, address: impl Fn(A) -> B + Copy) -> Tree<B> {
        Tree {
            levels: self.levels.clone(),
            arrangements: self.arrangements.map(address, |mask| mask),
            covers: self.covers.map(address, address),
            cover_of: self.cover_of.clone(),
            scratch: Scratch::default(),
        }
    }
}

/// 2^32 points make 2^26 leaves, and `FAN_OUT` divides them to one in so many levels at most.
const MOST_LEVELS: usize = 8;
const _: () = assert!((FAN_OUT as u64).pow(MOST_LEVELS as u32 - 1) >= (1 << 32) / LEAF as u64);
