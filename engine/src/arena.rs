//! Many short sorted tables in two long columns.
//!
//! A table has a block of the columns, of a size out of a few classes; a block that has become too
//! small is given back and the next table of its class takes it. Two columns instead of structs,
//! so that a search reads only what it compares.

/// Tables of rows with two fields.
#[derive(Clone, Debug)]
pub(super) struct Arena<X, Y> {
    xs: Vec<X>,
    ys: Vec<Y>,
    blocks: Vec<Block>,
    /// By class: where its free blocks start.
    free: Vec<Vec<u32>>,
}

/// Where a table lies.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    start: u32,
    rows: u32,
    /// 0: none yet.
    class: u8,
}

/// Rows of a block of class 1; each class has half as many again as the one before.
const FIRST_CLASS: u32 = 8;

fn capacity(class: u8) -> usize {
    match class {
        0 => 0,
        _ => {
            let halves = u32::from(class - 1);
            // 8, 12, 16, 24, 32, 48, ...
            let base = (FIRST_CLASS as usize) << (halves / 2);
            base + (halves as usize % 2) * base / 2
        }
    }
}

/// The smallest class whose blocks hold so many rows.
fn class(rows: usize) -> u8 {
    (0..=u8::MAX)
        .find(|&class| capacity(class) >= rows)
        .expect("the largest class is larger than any memory")
}

/// A column of so many rows, and room for a quarter more: to grow it takes it twice over for a
/// while, and room that nothing touches takes none.
fn with_room<X: Copy + Default>(rows: usize) -> Vec<X> {
    let mut column = vec![X::default(); rows + rows / 4];
    column.truncate(rows);
    column
}

impl<X: Copy + Default, Y: Copy + Default> Arena<X, Y> {
    /// No tables.
    pub fn new() -> Arena<X, Y> {
        Arena::with_blocks(0, 0)
    }

    /// So many tables without rows, each in a block with room for so many; the blocks lie in the
    /// order of the tables.
    pub fn with_blocks(tables: usize, rows: usize) -> Arena<X, Y> {
        let class = class(rows);
        let capacity = capacity(class);
        let blocks = (0..tables).map(|table| Block {
            start: u32::try_from(table * capacity).expect("fewer than 2^32 rows"),
            rows: 0,
            class,
        });
        Arena {
            xs: with_room(tables * capacity),
            ys: with_room(tables * capacity),
            blocks: blocks.collect(),
            free: Vec::new(),
        }
    }

    /// Adds tables without rows or blocks.
    pub fn add_tables(&mut self, count: usize) {
        let tables = self.blocks.len() + count;
        self.blocks.resize(tables, Block::default());
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.blocks.len()
    }

    /// Whether a table has no rows.
    pub fn is_empty(&self, table: u32) -> bool {
        self.blocks[table as usize].rows == 0
    }

    /// The columns of a table.
    pub fn rows(&self, table: u32) -> (&[X], &[Y]) {
        let Block { start, rows, .. } = self.blocks[table as usize];
        let (start, end) = (start as usize, start as usize + rows as usize);
        (&self.xs[start..end], &self.ys[start..end])
    }

    /// Reads one field per cache line of a table; the result means nothing.
    pub fn warm(&self, table: u32) -> u64
    where
        X: Into<u64>,
        Y: Into<u64>,
    {
        let (xs, ys) = self.rows(table);
        let mut read = 0;
        for &x in xs.iter().step_by(64 / size_of::<X>()) {
            read ^= x.into();
        }
        for &y in ys.iter().step_by(64 / size_of::<Y>()) {
            read ^= y.into();
        }
        read
    }

    /// The columns of a table, to change them in place.
    pub fn rows_mut(&mut self, table: u32) -> (&mut [X], &mut [Y]) {
        let Block { start, rows, .. } = self.blocks[table as usize];
        let (start, end) = (start as usize, start as usize + rows as usize);
        (&mut self.xs[start..end], &mut self.ys[start..end])
    }

    /// Replaces the rows `from..to` of a table.
    pub fn splice(&mut self, table: u32, from: usize, to: usize, with: &[(X, Y)]) {
        let block = self.blocks[table as usize];
        let (start, rows) = (block.start as usize, block.rows as usize);
        let tail = from + with.len();
        let new_rows = tail + (rows - to);
        if new_rows <= capacity(block.class) {
            if tail != to {
                let moved = start + to..start + rows;
                self.xs.copy_within(moved.clone(), start + tail);
                self.ys.copy_within(moved, start + tail);
            }
            self.blocks[table as usize].rows = new_rows as u32;
        } else {
            let new = self.allocate(new_rows);
            let at = new.start as usize;
            for (kept, to) in [(0..from, 0), (to..rows, tail)] {
                let kept = start + kept.start..start + kept.end;
                self.xs.copy_within(kept.clone(), at + to);
                self.ys.copy_within(kept, at + to);
            }
            if block.class > 0 {
                self.free_of(block.class).push(block.start);
            }
            self.blocks[table as usize] = new;
        }
        let at = self.blocks[table as usize].start as usize + from;
        for (i, &(x, y)) in with.iter().enumerate() {
            (self.xs[at + i], self.ys[at + i]) = (x, y);
        }
    }

    fn allocate(&mut self, rows: usize) -> Block {
        let class = class(rows);
        let start = self.free_of(class).pop().unwrap_or_else(|| {
            let start = u32::try_from(self.xs.len()).expect("fewer than 2^32 rows");
            let end = self.xs.len() + capacity(class);
            self.xs.resize(end, X::default());
            self.ys.resize(end, Y::default());
            start
        });
        Block {
            start,
            rows: rows as u32,
            class,
        }
    }

    fn free_of(&mut self, class: u8) -> &mut Vec<u32> {
        if self.free.len() <= class as usize {
            self.free.resize(class as usize + 1, Vec::new());
        }
        &mut self.free[class as usize]
    }

    /// The same tables with other fields.
    pub fn map<V: Copy, W: Copy>(&self, x: impl Fn(X) -> V, y: impl Fn(Y) -> W) -> Arena<V, W> {
        Arena {
            xs: self.xs.iter().map(|&v| x(v)).collect(),
            ys: self.ys.iter().map(|&v| y(v)).collect(),
            blocks: self.blocks.clone(),
            free: self.free.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_what_vectors_would_be() {
        arbtest::arbtest(|u| {
            let room = u.int_in_range(0..=20)?;
            let mut arena = Arena::with_blocks(2, room);
            arena.add_tables(1);
            let mut tables: [Vec<(u32, u64)>; 3] = Default::default();
            for step in 0..u.int_in_range(0..=40)? {
                let table = u.choose_index(3)?;
                let rows = tables[table].len();
                let from = u.int_in_range(0..=rows)?;
                let to = u.int_in_range(from..=rows)?;
                let with: Vec<(u32, u64)> = (0..u.int_in_range(0..=9)?)
                    .map(|i| (step * 100 + i, u64::from(i)))
                    .collect();
                arena.splice(table as u32, from, to, &with);
                tables[table].splice(from..to, with);
                for (i, want) in tables.iter().enumerate() {
                    let (xs, ys) = arena.rows(i as u32);
                    let got: Vec<(u32, u64)> = xs.iter().copied().zip(ys.iter().copied()).collect();
                    assert_eq!(&got, want);
                    assert_eq!(arena.is_empty(i as u32), want.is_empty());
                }
            }
            Ok(())
        });
    }

    #[test]
    fn blocks_grow_by_half() {
        let capacities: Vec<usize> = (0..7).map(capacity).collect();
        assert_eq!(capacities, [0, 8, 12, 16, 24, 32, 48]);
    }
}
