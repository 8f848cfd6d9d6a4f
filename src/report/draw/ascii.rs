//! A map for a terminal: a row is a range of addresses, a column a stretch of time.
//!
//! A cell has the letter of the location that takes most of it, `#` for one without a letter, `=` for
//! a pin without one, `.` where nothing lies, and `!` where two locations collide. The largest on the
//! map have letters, and a line in the legend. Of two pictures, a location has one letter in both.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::Options;
use super::scene::{Lane, NONE, Scene};
use super::units::{human, share};
use crate::sorting::CompactSort as _;

const COLUMNS: u32 = 80;
const ROWS: u32 = 24;
/// Fewer columns than this leave no room beside the addresses.
const MOST_NARROW: u32 = 40;
const MARGIN: usize = 12;
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Writes the map.
pub(super) fn write(scene: &Scene<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let or = |size: u32, usual: u32| if size == 0 { usual } else { size };
    let columns = or(options.width, COLUMNS).max(MOST_NARROW) as usize - MARGIN;
    let rows = or(options.height, ROWS).max(4) as usize;
    let grids: Vec<Grid<'_, '_>> = scene
        .lanes
        .iter()
        .map(|lane| Grid::new(scene, lane, columns, rows))
        .collect();
    let letters = letters(scene, &grids);
    let mut text = String::new();
    for grid in &grids {
        grid.write(&letters, &mut text);
    }
    if grids.is_empty() {
        text.push_str("nothing here has an address\n");
    }
    legend(scene, &letters, &mut text);
    out.write_all(text.as_bytes())
}

/// What became of each cell of a lane.
struct Grid<'s, 'a> {
    scene: &'s Scene<'a>,
    lane: &'s Lane<'a>,
    columns: usize,
    rows: usize,
    low: u64,
    high: u64,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    /// The box that takes most of it.
    number: u32,
    /// How much that is.
    most: u128,
    /// A box that collides with some other.
    colliding: u32,
    /// There are two of them.
    collision: bool,
}

impl<'s, 'a> Grid<'s, 'a> {
    fn new(scene: &'s Scene<'a>, lane: &'s Lane<'a>, columns: usize, rows: usize) -> Grid<'s, 'a> {
        let (low, high) = scene.placed_range(lane.space);
        let empty = Cell {
            number: NONE,
            most: 0,
            colliding: NONE,
            collision: false,
        };
        let mut grid = Grid {
            scene,
            lane,
            columns,
            rows,
            low,
            high,
            cells: vec![empty; columns * rows],
        };
        for number in lane.boxes.clone() {
            grid.paint(number as u32);
        }
        grid
    }

    /// The first address of a row, counted from below.
    fn address(&self, row: usize) -> u64 {
        let span = u128::from(self.high - self.low);
        self.low + (span * row as u128 / self.rows as u128) as u64
    }

    /// The first instant of a column.
    fn instant(&self, column: usize) -> u64 {
        u64::from(self.scene.length) * column as u64 / self.columns as u64
    }

    fn paint(&mut self, number: u32) {
        let block = &self.scene.boxes[number as usize];
        let (start, end) = (block.address.max(self.low), block.end().min(self.high));
        if start >= end {
            return;
        }
        let rows = Ruler::new(self.high - self.low, self.rows);
        let columns = Ruler::new(self.scene.length.into(), self.columns);
        for &(first, last) in self.scene.lives_of(block) {
            let (bytes, time) = (
                (start - self.low, end - self.low),
                (first.into(), u64::from(last) + 1),
            );
            for row in rows.touched(bytes) {
                for column in columns.touched(time) {
                    let much = rows.share(row, bytes) * columns.share(column, time);
                    let cell = &mut self.cells[row * self.columns + column];
                    if much > cell.most {
                        (cell.most, cell.number) = (much, number);
                    }
                    if block.collides {
                        cell.collision |= cell.colliding != NONE && cell.colliding != number;
                        cell.colliding = number;
                    }
                }
            }
        }
    }

    fn write(&self, letters: &[u8], text: &mut String) {
        let (scene, lane) = (self.scene, self.lane);
        let title = printable(scene.titles[lane.picture]);
        let label = lane.label().replace('\u{b7}', "-");
        let height = human(lane.peak.saturating_sub(lane.floor));
        let above = if lane.floor > 0 {
            " above the floor"
        } else {
            ""
        };
        let bound = human(lane.bound.saturating_sub(lane.floor));
        let _ = writeln!(
            text,
            "{title}: {label}: peak {height}{above}, lower bound {bound}"
        );
        for row in (0..self.rows).rev() {
            let address = self.address(row);
            let offset = match lane.floor {
                0 => human(address),
                _ => format!("+{}", human(address - self.low)),
            };
            let _ = write!(text, "{offset:>10} |");
            for cell in &self.cells[row * self.columns..][..self.columns] {
                text.push(match cell {
                    Cell {
                        collision: true, ..
                    } => '!',
                    Cell { number: NONE, .. } => '.',
                    cell => letters[cell.number as usize].into(),
                });
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{:>10} |{}", "load", self.load());
        let _ = writeln!(text, "{:>10} +{}\n", "", self.axis());
    }

    /// The highest sum of live bytes in each column, in ninths of the peak.
    fn load(&self) -> String {
        let load = self.scene.load(self.lane);
        let most = load.iter().copied().max().unwrap_or(0);
        let column = |column: usize| {
            let first = (self.instant(column) as usize).min(load.len() - 1);
            let end = (self.instant(column + 1) as usize).clamp(first + 1, load.len());
            let highest = load[first..end].iter().copied().max().unwrap_or(0);
            char::from(b'0' + share(highest, most, 9) as u8)
        };
        (0..self.columns).map(column).collect()
    }

    /// Where functions begin, with as much of their names as there is room for.
    fn axis(&self) -> String {
        let mut line = vec!['-'; self.columns];
        for slot in &self.scene.slots {
            let at =
                |t: u32| share(t.into(), self.scene.length.into(), self.columns as i64) as usize;
            let (from, to) = (at(slot.start), at(slot.start + slot.length));
            for (cell, c) in line[from..to].iter_mut().zip(printable(slot.name).chars()) {
                *cell = c;
            }
            if from > 0 && from < to {
                line[from - 1] = '+';
            }
        }
        line.into_iter().collect()
    }
}

/// A length in cells of equal width, which need not be whole: all is counted in parts of which a cell
/// has as many as the length, so that nothing is rounded.
struct Ruler {
    whole: u128,
    cells: u128,
}

impl Ruler {
    fn new(whole: u64, cells: usize) -> Ruler {
        Ruler {
            whole: whole.max(1).into(),
            cells: cells as u128,
        }
    }

    /// The cells that a range touches, which is not empty and within the length.
    fn touched(&self, (from, to): (u64, u64)) -> std::ops::Range<usize> {
        let parts = |at: u64| u128::from(at) * self.cells;
        (parts(from) / self.whole) as usize..parts(to).div_ceil(self.whole) as usize
    }

    /// How many parts of a cell a range has.
    fn share(&self, cell: usize, (from, to): (u64, u64)) -> u128 {
        let (left, right) = (cell as u128 * self.whole, (cell as u128 + 1) * self.whole);
        let (from, to) = (u128::from(from) * self.cells, u128::from(to) * self.cells);
        to.min(right).saturating_sub(from.max(left))
    }
}

/// What stands for each box: letters for those that take the most cells, the same for partners.
fn letters(scene: &Scene<'_>, grids: &[Grid<'_, '_>]) -> Vec<u8> {
    let first_of_pair = |number: u32| match scene.boxes[number as usize].partner {
        NONE => number,
        partner => number.min(partner),
    };
    let mut cells = vec![0u32; scene.boxes.len()];
    for cell in grids.iter().flat_map(|grid| &grid.cells) {
        if cell.number != NONE {
            cells[first_of_pair(cell.number) as usize] += 1;
        }
    }
    let mut seen: Vec<u32> = (0..cells.len() as u32)
        .filter(|&i| cells[i as usize] > 0)
        .collect();
    seen.sort_compact_by_key(|&i| (std::cmp::Reverse(cells[i as usize]), i));
    seen.truncate(LETTERS.len());
    seen.sort_compact(); // In the order of time.
    let other = |b: &super::scene::Block<'_>| if b.planned.pinned { b'=' } else { b'#' };
    let mut letters: Vec<u8> = scene.boxes.iter().map(other).collect();
    for (&number, &letter) in seen.iter().zip(LETTERS) {
        letters[number as usize] = letter;
        if let Some(partner) = letters.get_mut(scene.boxes[number as usize].partner as usize) {
            *partner = letter;
        }
    }
    letters
}

fn legend(scene: &Scene<'_>, letters: &[u8], text: &mut String) {
    for &letter in LETTERS {
        let of = letters.iter().position(|&l| l == letter);
        let Some(number) = of else { break };
        let block = &scene.boxes[number];
        let slot = &scene.slots[block.slot as usize];
        let lives: Vec<String> = scene
            .lives_of(block)
            .iter()
            .take(3)
            .map(|&(first, last)| format!("[{}, {}]", first - slot.start, last - slot.start))
            .collect();
        let more = if scene.lives_of(block).len() > 3 {
            " ..."
        } else {
            ""
        };
        let _ = write!(
            text,
            "{} {}: {}, {} at {}, live {}{more} in {}",
            char::from(letter),
            printable(&block.planned.name),
            block.usage,
            human(block.taken),
            block.address,
            lives.join(" "),
            printable(slot.name)
        );
        if scene.titles.len() > 1 {
            let _ = write!(text, ", {}", block.change.name());
        }
        text.push('\n');
    }
    let stands = |mark: u8| letters.contains(&mark);
    if stands(b'#') {
        text.push_str("# others\n");
    }
    if stands(b'=') {
        text.push_str("= other pins\n");
    }
    if scene.boxes.iter().any(|b| b.collides) {
        text.push_str("! bytes that two locations have at once\n");
    }
}

/// Names come from files; a terminal must not act on them.
fn printable(text: &str) -> String {
    let safe = |c: char| if c.is_control() { '?' } else { c };
    text.chars().map(safe).collect()
}
