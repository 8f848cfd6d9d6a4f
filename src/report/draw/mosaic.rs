//! What is too small to be a shape of its own, as a mosaic.
//!
//! A picture of a hundred thousand locations has more of them than pixels. What is smaller than a
//! tile paints the tiles that it touches; tiles of one colour are joined along rows and then down, so
//! that the picture's size is bounded by its area, whatever the program.

/// The side of a tile, in tenths of a pixel.
pub(super) const TILE: i64 = 10;

/// No colour.
const BLANK: u8 = u8::MAX;

/// Tiles of colours.
pub(super) struct Mosaic {
    columns: usize,
    tiles: Vec<u8>,
}

/// Tiles of one colour: columns from and to, rows from and to, ends excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub colour: u8,
    pub x: (usize, usize),
    pub y: (usize, usize),
}

impl Mosaic {
    /// For an area in tenths of a pixel.
    pub fn new(width: i64, height: i64) -> Mosaic {
        let count = |length: i64| (length.max(0) / TILE + 1) as usize;
        Mosaic {
            columns: count(width),
            tiles: vec![BLANK; count(width) * count(height)],
        }
    }

    /// Paints what a rectangle touches; the ends are excluded.
    pub fn paint(&mut self, colour: u8, x: (i64, i64), y: (i64, i64)) {
        let tiles = |(from, to): (i64, i64), count: usize| {
            let from = (from.max(0) / TILE) as usize;
            let to = (to.max(0) as usize).div_ceil(TILE as usize);
            from.min(count - 1)..to.clamp(from + 1, count.max(from + 1)).min(count)
        };
        let rows = self.tiles.len() / self.columns;
        let across = tiles(x, self.columns);
        for row in tiles(y, rows) {
            let start = row * self.columns;
            self.tiles[start + across.start..start + across.end].fill(colour);
        }
    }

    /// The patches, each tile in one of them.
    pub fn patches(&self) -> Vec<Patch> {
        let mut done: Vec<Patch> = Vec::new();
        let mut open: Vec<Patch> = Vec::new(); // Those of the row above, by column.
        for (row, tiles) in self.tiles.chunks(self.columns).enumerate() {
            let mut next = Vec::new();
            let mut above = open.iter().copied().peekable();
            let mut column = 0;
            while column < tiles.len() {
                let colour = tiles[column];
                let same = tiles[column..].iter().take_while(|&&t| t == colour).count();
                let x = (column, column + same);
                column += same;
                if colour == BLANK {
                    continue;
                }
                while let Some(patch) = above.next_if(|p| p.x.0 < x.0) {
                    done.push(patch);
                }
                let joined = above.next_if(|p| p.x == x && p.colour == colour);
                next.push(match joined {
                    Some(patch) => Patch {
                        y: (patch.y.0, row + 1),
                        ..patch
                    },
                    None => Patch {
                        colour,
                        x,
                        y: (row, row + 1),
                    },
                });
            }
            done.extend(above);
            open = next;
        }
        done.extend(open);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_is_in_one_patch_of_its_colour() {
        arbtest::arbtest(|u| {
            let mut mosaic = Mosaic::new(120, 80);
            for _ in 0..u.int_in_range(0..=12)? {
                let mut span = || -> arbitrary::Result<(i64, i64)> {
                    let from = u.int_in_range(-10..=140)?;
                    Ok((from, from + u.int_in_range(0..=60)?))
                };
                let (x, y) = (span()?, span()?);
                mosaic.paint(u.int_in_range(0..=2)?, x, y);
            }
            let mut again = vec![BLANK; mosaic.tiles.len()];
            for patch in mosaic.patches() {
                for row in patch.y.0..patch.y.1 {
                    for tile in &mut again[row * mosaic.columns..][patch.x.0..patch.x.1] {
                        assert_eq!(*tile, BLANK, "a tile in two patches");
                        *tile = patch.colour;
                    }
                }
            }
            assert_eq!(again, mosaic.tiles);
            Ok(())
        });
    }

    #[test]
    fn a_rectangle_is_one_patch() {
        let mut mosaic = Mosaic::new(100, 100);
        mosaic.paint(1, (15, 35), (20, 50));
        let patch = Patch {
            colour: 1,
            x: (1, 4),
            y: (2, 5),
        };
        assert_eq!(mosaic.patches(), [patch]);
    }
}
