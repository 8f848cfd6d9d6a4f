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

/// A moment; later ones are greater, and 0 is never.
pub(super) type Time = u32;

pub(super) struct Latest {
    engines: usize,
    height: u32,       // The leaves are the nodes `1 << height..`; the root is node 1.
    writes: Vec<Time>, // By node and engine.
    reads: Vec<Time>,
    delayed_write: Vec<(Time, u32)>, // By inner node: when and by which engine.
    delayed_reads: Vec<Time>,        // By inner node and engine.
    delayed: Vec<bool>,              // By inner node: whether there is anything to hand on.
    // Checkpoints: what nodes held before they were changed, oldest first.
    saved: Vec<Saved>,
    saved_rows: Vec<Time>,
    saved_at: Vec<u32>, // By node: the checkpoint under which it was saved last.
    checkpoint: u32,    // 0: none, nothing is saved.
    checkpoints: u32,
}

struct Saved {
    node: u32,
    delayed_write: (Time, u32),
    delayed: bool,
}

/// A state to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint(usize);

impl Latest {
    pub(super) fn new(cells: u32, engines: usize) -> Latest {
        let leaves = cells.max(1).next_power_of_two() as usize;
        Latest {
            engines,
            height: leaves.trailing_zeros(),
            writes: vec![0; 2 * leaves * engines],
            reads: vec![0; 2 * leaves * engines],
            delayed_write: vec![(0, 0); leaves],
            delayed_reads: vec![0; leaves * engines],
            delayed: vec![false; leaves],
            saved: Vec::new(),
            saved_rows: Vec::new(),
            saved_at: Vec::new(),
            checkpoint: 0,
            checkpoints: 0,
        }
    }

    /// Forgets everything, checkpoints too.
    pub(super) fn clear(&mut self) {
        self.commit();
        self.writes.fill(0);
        self.reads.fill(0);
        self.delayed_write.fill((0, 0));
        self.delayed_reads.fill(0);
        self.delayed.fill(false);
    }

    /// Forgets the checkpoints; nothing can be taken back any more.
    pub(super) fn commit(&mut self) {
        self.saved.clear();
        self.saved_rows.clear();
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
        self.saved_at
            .resize(self.writes.len() / self.engines.max(1), 0);
        Checkpoint(self.saved.len())
    }

    /// Takes back what has changed since a checkpoint, which stays one.
    pub(super) fn roll_back(&mut self, to: Checkpoint) {
        let engines = self.engines;
        while self.saved.len() > to.0 {
            let saved = self.saved.pop().expect("longer than the checkpoint");
            let node = saved.node as usize;
            let row = node * engines..(node + 1) * engines;
            let inner = node < self.delayed.len();
            let mut take = |table: &mut [Time]| {
                let at = self.saved_rows.len() - engines;
                table.copy_from_slice(&self.saved_rows[at..]);
                self.saved_rows.truncate(at);
            };
            if inner {
                take(&mut self.delayed_reads[row.clone()]);
                self.delayed_write[node] = saved.delayed_write;
                self.delayed[node] = saved.delayed;
            }
            take(&mut self.reads[row.clone()]);
            take(&mut self.writes[row]);
        }
        self.checkpoint();
    }

    /// Called before a node changes.
    fn save(&mut self, node: usize) {
        if self.checkpoint == 0 || self.saved_at[node] == self.checkpoint {
            return;
        }
        self.saved_at[node] = self.checkpoint;
        let row = node * self.engines..(node + 1) * self.engines;
        let inner = node < self.delayed.len();
        self.saved_rows.extend_from_slice(&self.writes[row.clone()]);
        self.saved_rows.extend_from_slice(&self.reads[row.clone()]);
        if inner {
            self.saved_rows.extend_from_slice(&self.delayed_reads[row]);
        }
        self.saved.push(Saved {
            node: node as u32,
            delayed_write: if inner {
                self.delayed_write[node]
            } else {
                (0, 0)
            },
            delayed: inner && self.delayed[node],
        });
    }

    /// Raises `writes` and `reads`, by engine, to the latest of the cells `[first, end)`.
    pub(super) fn raise(&mut self, first: u32, end: u32, writes: &mut [Time], reads: &mut [Time]) {
        self.hand_down(first, end);
        let engines = self.engines;
        let (from_writes, from_reads) = (&self.writes, &self.reads);
        for_each_node(self.height, first, end, |node| {
            let row = node * engines..(node + 1) * engines;
            raise(writes, &from_writes[row.clone()]);
            raise(reads, &from_reads[row]);
        });
    }

    /// Raises `writes`, by engine, to the latest of the cells `[first, end)`.
    pub(super) fn raise_writes(&mut self, first: u32, end: u32, writes: &mut [Time]) {
        self.hand_down(first, end);
        let engines = self.engines;
        let from = &self.writes;
        for_each_node(self.height, first, end, |node| {
            raise(writes, &from[node * engines..(node + 1) * engines]);
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

    fn write_node(&mut self, node: usize, engine: usize, time: Time) {
        self.save(node);
        let row = node * self.engines..(node + 1) * self.engines;
        self.writes[row.clone()].fill(0);
        self.writes[row.start + engine] = time;
        self.reads[row.clone()].fill(0);
        if node < self.delayed.len() {
            self.delayed_write[node] = (time, engine as u32);
            self.delayed_reads[row].fill(0);
            self.delayed[node] = true;
        }
    }

    fn read_node(&mut self, node: usize, engine: usize, time: Time) {
        self.save(node);
        self.reads[node * self.engines + engine] = time;
        if node < self.delayed.len() {
            self.delayed_reads[node * self.engines + engine] = time;
            self.delayed[node] = true;
        }
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
        if !self.delayed[node] {
            return;
        }
        self.save(node);
        self.delayed[node] = false;
        let (time, engine) = std::mem::take(&mut self.delayed_write[node]);
        for child in [2 * node, 2 * node + 1] {
            if time != 0 {
                self.write_node(child, engine as usize, time);
            }
            for engine in 0..self.engines {
                let time = self.delayed_reads[node * self.engines + engine];
                if time != 0 {
                    self.read_node(child, engine, time);
                }
            }
        }
        self.delayed_reads[node * self.engines..(node + 1) * self.engines].fill(0);
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
        if self.delayed[node] {
            return; // It lies within the change, which has summed it already.
        }
        self.save(node);
        let engines = self.engines;
        for table in [&mut self.writes, &mut self.reads] {
            let (above, below) = table.split_at_mut(2 * node * engines);
            let row = &mut above[node * engines..(node + 1) * engines];
            let (left, right) = below[..2 * engines].split_at(engines);
            for engine in 0..engines {
                row[engine] = left[engine].max(right[engine]);
            }
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
                        let most = |pick: fn(&(Vec<Time>, Vec<Time>)) -> &Vec<Time>| {
                            let of = |e: usize| span.iter().map(|cell| pick(cell)[e]).max();
                            (0..engines).map(|e| of(e).unwrap()).collect::<Vec<_>>()
                        };
                        assert_eq!(writes, most(|cell| &cell.0));
                        assert_eq!(reads, most(|cell| &cell.1));
                    }
                }
            }
            Ok(())
        });
    }
}
