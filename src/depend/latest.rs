//! Who touched these bytes last?
//!
//! For a run of cells the tree knows, per engine, the latest write that is still visible in some
//! cell, and the latest read that came after the cell's last write. Both a question and an update
//! take `O(engines * log cells)`, however many accesses the run is made of; so neither a thousand
//! slices under one reader nor a quarter of a million readers under one writer cost more than
//! their own number.
//!
//! It is a segment tree with delayed updates (Bentley 1977 and folklore): what covers a node as a
//! whole is kept there and handed to its children when someone looks below.
//!
//! Changes since a checkpoint can be taken back; each checkpoint remembers a node once.
//!
//! # Invariants
//!
//! * **summary**: a node's `writes` and `reads` are the greatest of its cells, delayed updates of
//!   the node included, those of its ancestors not;
//! * **delay**: a node's delayed reads are later than its delayed write.

use std::ops::Range;

/// A moment; later ones are greater, and 0 is never.
pub(super) type Time = u32;

pub(super) struct Latest {
    engines: usize,
    height: u32, // The leaves are the nodes `1 << height..`; the root is node 1.
    /// A record per node, in one piece because whoever looks at a node looks at most of it.
    nodes: Vec<Time>,
    /// Checkpoints: what nodes held before they were changed, oldest first, each record followed
    /// by its node.
    saved: Vec<Time>,
    saved_at: Vec<u32>, // By node: the checkpoint under which it was saved last.
    checkpoint: u32,    // 0: none, nothing is saved.
    checkpoints: u32,
}

// A record: three numbers, then three rows with one time per engine.
const DELAYED: usize = 0; // 1 if there is anything to hand on to the children.
const DELAYED_WRITE: usize = 1; // When, or 0.
const DELAYED_WRITER: usize = 2; // Which engine.
const ROWS: usize = 3; // Writes, reads, delayed reads.

/// A state to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint(usize);

impl Latest {
    pub(super) fn new(cells: u32, engines: usize) -> Latest {
        let leaves = (cells.max(1) as usize).next_power_of_two();
        Latest {
            engines,
            height: leaves.trailing_zeros(),
            nodes: vec![0; 2 * leaves * (ROWS + 3 * engines)],
            saved: Vec::new(),
            saved_at: Vec::new(),
            checkpoint: 0,
            checkpoints: 0,
        }
    }

    /// Forgets everything, checkpoints too.
    pub(super) fn clear(&mut self) {
        self.commit();
        self.nodes.fill(0);
    }

    /// Forgets the checkpoints; nothing can be taken back any more.
    pub(super) fn commit(&mut self) {
        self.saved.clear();
        self.checkpoint = 0;
    }

    /// Remembers the state as it is now.
    pub(super) fn checkpoint(&mut self) -> Checkpoint {
        if self.checkpoints == u32::MAX {
            self.saved_at.fill(0);
            self.checkpoints = 0;
        }
        self.checkpoints += 1;
        self.checkpoint = self.checkpoints;
        self.saved_at.resize(2 << self.height, 0);
        Checkpoint(self.saved.len())
    }

    /// Takes back what has changed since a checkpoint, which stays one.
    pub(super) fn roll_back(&mut self, to: Checkpoint) {
        while self.saved.len() > to.0 {
            let node = self.saved.pop().expect("longer than the checkpoint");
            let record = self.record(node as usize);
            let at = self.saved.len() - record.len();
            self.nodes[record].copy_from_slice(&self.saved[at..]);
            self.saved.truncate(at);
        }
        self.checkpoint();
    }

    /// Raises `writes` and `reads`, by engine, to the latest of the cells `[first, end)`.
    pub(super) fn raise(&mut self, first: u32, end: u32, writes: &mut [Time], reads: &mut [Time]) {
        self.hand_down(first, end);
        for_each_node(self.height, first, end, |node| {
            raise(writes, &self.nodes[self.row(node, 0)]);
            raise(reads, &self.nodes[self.row(node, 1)]);
        });
    }

    /// Raises `writes`, by engine, to the latest of the cells `[first, end)`.
    pub(super) fn raise_writes(&mut self, first: u32, end: u32, writes: &mut [Time]) {
        self.hand_down(first, end);
        for_each_node(self.height, first, end, |node| {
            raise(writes, &self.nodes[self.row(node, 0)]);
        });
    }

    /// Notes a write; all that was known of these cells is hidden by it.
    pub(super) fn write(&mut self, first: u32, end: u32, engine: usize, time: Time) {
        self.hand_down(first, end);
        for_each_node(self.height, first, end, |node| {
            self.write_node(node, engine, time);
        });
        self.sum_up(first, end);
    }

    /// Notes a read.
    pub(super) fn read(&mut self, first: u32, end: u32, engine: usize, time: Time) {
        self.hand_down(first, end);
        for_each_node(self.height, first, end, |node| {
            self.read_node(node, engine, time);
        });
        self.sum_up(first, end);
    }

    fn record(&self, node: usize) -> Range<usize> {
        let size = ROWS + 3 * self.engines;
        node * size..(node + 1) * size
    }

    /// A row of a node's record: its writes, reads or delayed reads.
    fn row(&self, node: usize, number: usize) -> Range<usize> {
        let start = self.record(node).start + ROWS + number * self.engines;
        start..start + self.engines
    }

    /// Called before a node changes; returns its record.
    fn change(&mut self, node: usize) -> &mut [Time] {
        let record = self.record(node);
        if self.checkpoint != 0 && self.saved_at[node] != self.checkpoint {
            self.saved_at[node] = self.checkpoint;
            self.saved.extend_from_slice(&self.nodes[record.clone()]);
            self.saved.push(node as Time);
        }
        &mut self.nodes[record]
    }

    // Leaves have delayed updates too, which nobody ever hands on.

    fn write_node(&mut self, node: usize, engine: usize, time: Time) {
        let record = self.change(node);
        record[DELAYED] = 1;
        record[DELAYED_WRITE] = time;
        record[DELAYED_WRITER] = engine as Time;
        record[ROWS..].fill(0);
        record[ROWS + engine] = time;
    }

    fn read_node(&mut self, node: usize, engine: usize, time: Time) {
        let engines = self.engines;
        let record = self.change(node);
        record[DELAYED] = 1;
        record[ROWS + engines + engine] = time;
        record[ROWS + 2 * engines + engine] = time;
    }

    /// Hands delayed updates down to where `[first, end)` begins and ends.
    fn hand_down(&mut self, first: u32, end: u32) {
        debug_assert!(first < end, "an access has bytes");
        let (first, last) = self.leaves(first, end);
        for level in (1..=self.height).rev() {
            self.hand_on(first >> level);
            if last >> level != first >> level {
                self.hand_on(last >> level);
            }
        }
    }

    fn hand_on(&mut self, node: usize) {
        if self.nodes[self.record(node).start + DELAYED] == 0 {
            return;
        }
        let record = self.change(node);
        record[DELAYED] = 0;
        let time = std::mem::take(&mut record[DELAYED_WRITE]);
        let writer = record[DELAYED_WRITER] as usize;
        for child in [2 * node, 2 * node + 1] {
            if time != 0 {
                self.write_node(child, writer, time);
            }
            for engine in 0..self.engines {
                let time = self.nodes[self.row(node, 2).start + engine];
                if time != 0 {
                    self.read_node(child, engine, time);
                }
            }
        }
        let row = self.row(node, 2);
        self.nodes[row].fill(0);
    }

    /// Restores **summary** above `[first, end)`, after a change there.
    fn sum_up(&mut self, first: u32, end: u32) {
        let (first, last) = self.leaves(first, end);
        for level in 1..=self.height {
            self.sum(first >> level);
            if last >> level != first >> level {
                self.sum(last >> level);
            }
        }
    }

    fn sum(&mut self, node: usize) {
        if self.nodes[self.record(node).start + DELAYED] != 0 {
            return; // It lies within the change, which has summed it already.
        }
        let both = 2 * self.engines; // Writes and reads, one row after the other.
        let start = self.record(2 * node).start;
        self.change(node);
        let (above, below) = self.nodes.split_at_mut(start);
        let size = ROWS + 3 * self.engines;
        let mine = &mut above[node * size + ROWS..][..both];
        let (left, right) = (&below[ROWS..][..both], &below[size + ROWS..][..both]);
        for ((mine, left), right) in mine.iter_mut().zip(left).zip(right) {
            *mine = (*left).max(*right);
        }
    }

    fn leaves(&self, first: u32, end: u32) -> (usize, usize) {
        let leaf = |cell: u32| (1 << self.height) + cell as usize;
        (leaf(first), leaf(end - 1))
    }
}

fn raise(row: &mut [Time], with: &[Time]) {
    for (time, &other) in row.iter_mut().zip(with) {
        *time = (*time).max(other);
    }
}

/// The fewest nodes that make up the cells `[first, end)`.
fn for_each_node(height: u32, first: u32, end: u32, mut visit: impl FnMut(usize)) {
    let (mut left, mut right) = ((1 << height) + first as usize, (1 << height) + end as usize);
    while left < right {
        if left & 1 == 1 {
            visit(left);
            left += 1;
        }
        if right & 1 == 1 {
            right -= 1;
            visit(right);
        }
        left >>= 1;
        right >>= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_answers_what_a_row_of_cells_answers() {
        arbtest::arbtest(|u| {
            let cells = u.int_in_range(1..=9)?;
            let engines = u.int_in_range(1..=3)?;
            let mut tree = Latest::new(cells, engines);
            let mut row = vec![(vec![0; engines], vec![0; engines]); cells as usize];
            let mut checkpoints = Vec::new();
            for time in 1..=u.int_in_range(1..=20)? {
                let first = u.int_in_range(0..=cells - 1)?;
                let end = u.int_in_range(first + 1..=cells)?;
                let span = &mut row[first as usize..end as usize];
                let engine = u.choose_index(engines)?;
                match u.int_in_range(0..=4)? {
                    3 => {
                        checkpoints.push((tree.checkpoint(), row.clone()));
                    }
                    4 if !checkpoints.is_empty() => {
                        let to = u.choose_index(checkpoints.len())?;
                        checkpoints.truncate(to + 1);
                        tree.roll_back(checkpoints[to].0);
                        row = checkpoints[to].1.clone();
                    }
                    0 => {
                        tree.write(first, end, engine, time);
                        for (writes, reads) in span {
                            writes.fill(0);
                            reads.fill(0);
                            writes[engine] = time;
                        }
                    }
                    1 => {
                        tree.read(first, end, engine, time);
                        for (_, reads) in span {
                            reads[engine] = time;
                        }
                    }
                    _ => {
                        let (mut writes, mut reads) = (vec![0; engines], vec![0; engines]);
                        tree.raise(first, end, &mut writes, &mut reads);
                        let mut alone = vec![0; engines];
                        tree.raise_writes(first, end, &mut alone);
                        assert_eq!(writes, alone);
                        for e in 0..engines {
                            assert_eq!(Some(writes[e]), span.iter().map(|cell| cell.0[e]).max());
                            assert_eq!(Some(reads[e]), span.iter().map(|cell| cell.1[e]).max());
                        }
                    }
                }
            }
            Ok(())
        });
    }
}
