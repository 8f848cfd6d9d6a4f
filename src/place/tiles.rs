//! The items of an order, one stretch of time after the other.
//!
//! Where first fit lays an item depends only on those before it in the order that live when it
//! does. So items that never live together may change places, and nearly all items of one *tile* of
//! time may come before those of the next: then what a placement reads, of the items and of the
//! engine, is still in the processor's cache. In an order by size, the next item lies anywhere in
//! time instead.
//!
//! Each tile has a queue of the items that live in it, in their order. An item may come when it is
//! at the head of the queues of all its tiles. The tiles are emptied in turn; where one waits for an
//! item that lives in others too, these are emptied first, as far as that item.
//!
//! Measured on a million items, from file to file: a tenth to a sixth of the time of `fast` where
//! most lives are short, a twentieth where an order by size goes through time by itself. With up to
//! half as many, whose data the last level of a cache holds, nothing, or a tenth more.

use std::ops::RangeInclusive;

use super::meter::Stop;
use super::prepared::Prepared;
use super::timeline::Run;
use crate::pace::Pace;

/// With fewer items there are no tiles.
const MANY: usize = 1 << 19;

/// Items that begin in a tile, on average. Half as many, or twice, make no difference.
const ITEMS: usize = 1024;

/// Places in queues for each item, on average, and not more: tiles are made larger instead.
const PLACES: usize = 2;

/// The most items for which 32 bits tell a place, and leave one free beside an item.
const MOST: usize = u32::MAX as usize / PLACES;

/// The tiles in which an item lives: from the first to the last.
#[derive(Clone, Copy)]
struct Span {
    first: u16,
    last: u16,
}

impl Span {
    fn of(life: &[Run], width: u32) -> Span {
        let tile = |point: u32| (point / width) as u16;
        let (first, last) = (tile(life[0].first), tile(life[life.len() - 1].last));
        Span { first, last }
    }

    fn range(self) -> RangeInclusive<usize> {
        usize::from(self.first)..=usize::from(self.last)
    }
}

/// By tile: the items that live in it, in their order, less those that have been taken.
struct Queues {
    /// Of all tiles: twice an item, and 1 more if it lives in others too.
    entries: Vec<u32>,
    /// Where the head of each queue is, and one past its end.
    heads: Vec<u32>,
    ends: Vec<u32>,
}

impl Queues {
    fn new(
        spans: &[Span],
        order: &[u32],
        tiles: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Queues, Stop> {
        let mut ends = vec![0_u32; tiles];
        for span in spans {
            pace.work(1)?;
            ends[span.range()].iter_mut().for_each(|end| *end += 1);
        }
        let mut places = 0;
        for end in &mut ends {
            places += std::mem::replace(end, places);
        }
        let heads = ends.clone();
        let mut entries = vec![0; places as usize];
        for &item in order {
            pace.work(1)?;
            let span = spans[item as usize];
            for end in &mut ends[span.range()] {
                entries[*end as usize] = item << 1 | u32::from(span.first < span.last);
                *end += 1;
            }
        }
        Ok(Queues {
            entries,
            heads,
            ends,
        })
    }

    fn head(&self, tile: usize) -> Option<u32> {
        let head = self.heads[tile];
        (head < self.ends[tile]).then(|| self.entries[head as usize])
    }

    fn take(&mut self, tiles: RangeInclusive<usize>) {
        self.heads[tiles].iter_mut().for_each(|head| *head += 1);
    }
}

/// The items of an order as an iterator: those that live together come in the given order.
pub(super) struct Tiles<'a> {
    prepared: &'a Prepared<'a>,
    /// Points of a tile.
    width: u32,
    queues: Queues,
    /// Tiles that are being emptied, up to an entry for which the one before waits, or to the end.
    emptied: Vec<(u16, Option<u32>)>,
    /// The tile that is next.
    next: usize,
}

impl<'a> Tiles<'a> {
    /// The tiles of an order, which is one of all items. `None`: the items are too few for more
    /// than one, or too many of them live nearly always.
    pub fn of(
        prepared: &'a Prepared<'a>,
        order: &[u32],
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<Tiles<'a>>, Stop> {
        if order.len() < MANY {
            return Ok(None);
        }
        Tiles::with(prepared, order, order.len() / ITEMS, pace)
    }

    /// The same with so many tiles, or fewer.
    pub fn with(
        prepared: &'a Prepared<'a>,
        order: &[u32],
        tiles: usize,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<Tiles<'a>>, Stop> {
        let (points, count) = (prepared.points(), order.len());
        if count > MOST {
            return Ok(None);
        }
        let mut tiles = tiles.min(u16::MAX.into()).min(points as usize);
        let mut spans: Vec<Span> = Vec::new();
        while tiles > 1 {
            let width = points.div_ceil(tiles as u32);
            let mut places = 0;
            spans.clear();
            spans.reserve_exact(count);
            for item in 0..count as u32 {
                pace.work(1)?;
                let span = Span::of(prepared.life(item), width);
                places += span.range().count();
                spans.push(span);
            }
            if places <= PLACES * count {
                return Ok(Some(Tiles {
                    prepared,
                    width,
                    queues: Queues::new(&spans, order, tiles, pace)?,
                    emptied: Vec::new(),
                    next: 0,
                }));
            }
            tiles /= 2;
        }
        Ok(None)
    }
}

impl Iterator for Tiles<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let Some(&(tile, until)) = self.emptied.last() else {
                if self.next == self.queues.heads.len() {
                    return None;
                }
                self.emptied.push((self.next as u16, None));
                self.next += 1;
                continue;
            };
            let tile = usize::from(tile);
            let head = self.queues.head(tile);
            let Some(entry) = head.filter(|_| head != until) else {
                self.emptied.pop();
                continue;
            };
            let item = entry >> 1;
            let tiles = if entry & 1 == 0 {
                tile..=tile
            } else {
                Span::of(self.prepared.life(item), self.width).range()
            };
            let mut elsewhere = tiles.clone();
            match elsewhere.find(|&tile| self.queues.head(tile) != Some(entry)) {
                Some(tile) => self.emptied.push((tile as u16, Some(entry))),
                None => {
                    self.queues.take(tiles);
                    return Some(item);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{Problem, testing};

    #[test]
    fn items_that_live_together_keep_their_order() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let (order, prepared) = (testing::order(u, &problem)?, Prepared::new(&problem));
            let tiles = u.int_in_range(0..=20)?;
            let tiles = Tiles::with(&prepared, &order, tiles, &mut Pace::free());
            let Some(tiles) = tiles.expect("nothing stops it") else {
                return Ok(());
            };
            let came: Vec<u32> = tiles.collect();
            let mut items = came.clone();
            items.sort_unstable();
            assert!(items.into_iter().eq(0..order.len() as u32));
            let mut rank = vec![0; order.len()];
            for (k, &item) in order.iter().enumerate() {
                rank[item as usize] = k;
            }
            for (k, &a) in came.iter().enumerate() {
                for &b in &came[k + 1..] {
                    let together = problem.lives.overlap(a as usize, b as usize);
                    assert!(!together || rank[a as usize] < rank[b as usize], "{a} {b}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn tiles_are_emptied_in_turn() {
        let mut problem = Problem::default();
        for at in 0..1000 {
            testing::add_item(&mut problem, 1, &[(at, at + 1)]);
        }
        let prepared = Prepared::new(&problem);
        // Whatever the order: here all even items come before all odd ones.
        let order: Vec<u32> = (0..1000).step_by(2).chain((1..1000).step_by(2)).collect();
        let tiles = Tiles::with(&prepared, &order, 10, &mut Pace::free());
        let came: Vec<u32> = tiles
            .expect("nothing stops it")
            .expect("all are short")
            .collect();
        let far = |pair: &&[u32]| pair[0].abs_diff(pair[1]) > 2;
        let changes = came.windows(2).filter(far).count();
        // Back to the start of a tile, and to and fro for each item on a border.
        assert!(changes <= 40, "{changes} changes");
        assert!(came.iter().take(90).all(|&item| item < 200), "{came:?}");
    }

    #[test]
    fn where_most_items_live_always_there_are_no_tiles() {
        let mut problem = Problem::default();
        for at in 0..100 {
            testing::add_item(&mut problem, 1, &[(at, 200)]);
        }
        let prepared = Prepared::new(&problem);
        let order: Vec<u32> = (0..100).collect();
        let tiles = Tiles::with(&prepared, &order, 50, &mut Pace::free());
        assert!(
            tiles
                .expect("nothing stops it")
                .is_none_or(|tiles| tiles.queues.heads.len() <= 3)
        );
    }
}
