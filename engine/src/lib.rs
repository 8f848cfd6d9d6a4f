//! The lowest free bytes over a life, and taking them: what first fit is made of.
//!
//! This crate is the one part of dramalloc in which every instruction counts, so it is compiled for
//! speed where the rest is compiled for size. It knows points in time and addresses, and nothing of
//! programs.
//!
//! This file turns bytes into *units*, the largest power of two in which everything of a problem is
//! exact, and picks the width of addresses: 32 bits until something lies too high for them, then
//! 64, in which nothing may end at `u64::MAX` itself. `tree` holds what is taken; it never looks at
//! one location's neighbours, so that a placement takes microseconds however many are live at once,
//! and finds exactly the address that looking at all of them would. `height` and `stacking` are what
//! the exact search does most: items that stand on each other.

mod address;
mod arena;
mod arrangement;
mod gaps;
mod height;
mod stacking;
mod starts;
mod tree;

use address::Address;
pub use height::Height;
pub use stacking::{Layer, Stacks, raised};
pub use starts::WithinPage;
use starts::{All, Multiples};
use tree::Tree;

/// How many bytes a page has. Sizes and starts are rounded to it in page mode. // P2
pub const PAGE: u64 = 4096;

/// A closed run of points, or of any other time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The first point.
    pub first: u32,
    /// The last point.
    pub last: u32,
}

/// What a location asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes; at least 1.
    pub size: u64,
    /// The start is a multiple of this; at least 1.
    pub align: u64,
    /// The location lies within one page of so many bytes, which it has at most; 0: it may cross
    /// whatever it likes. // P3, P7
    pub page: u64,
    /// The start is this or higher.
    pub low: u64,
    /// The end is this or lower.
    pub high: u64,
}

impl Request {
    /// The lowest start at or above `start` that alignment and the page rule admit.
    pub fn admitted(&self, start: u64) -> Option<u64> {
        let Request {
            size, align, page, ..
        } = *self;
        if page > 0 {
            WithinPage { size, align, page }.next(start)
        } else {
            start.checked_next_multiple_of(align)
        }
    }
}

/// What is placed.
#[derive(Clone, Debug)]
pub struct Engine {
    unit: u32,
    tree: Width,
}

#[derive(Clone, Debug)]
enum Width {
    Narrow(Tree<u32>),
    Wide(Tree<u64>),
}

impl Engine {
    /// Nothing is placed yet, on this many points, in this `unit`. There is room for `runs` of
    /// points in all before anything has to move.
    pub fn new(points: u32, unit: u32, runs: usize) -> Engine {
        Engine {
            unit,
            tree: Width::Narrow(Tree::new(points, runs)),
        }
    }

    /// The lowest start that the request admits and at which nothing is in the way.
    pub fn lowest(&mut self, life: &[Run], request: &Request) -> Option<u64> {
        loop {
            let found = match &mut self.tree {
                Width::Narrow(tree) => search(tree, self.unit, life, request),
                Width::Wide(tree) => search(tree, self.unit, life, request),
            };
            match found {
                Found::At(start) => return Some(start << self.unit),
                Found::Nowhere => return None,
                Found::BeyondWidth => self.widen(),
            }
        }
    }

    /// Whether the request admits `start` and nothing is in the way there.
    pub fn is_free(&mut self, life: &[Run], start: u64, request: &Request) -> bool {
        let Some(end) = start.checked_add(request.size) else {
            return false;
        };
        let exactly = Request {
            low: start,
            high: end,
            ..*request
        };
        end <= request.high && self.lowest(life, &exactly) == Some(start)
    }

    /// Takes the bytes `start..end` over a life. Bytes that are taken already stay so.
    pub fn insert(&mut self, life: &[Run], start: u64, end: u64) {
        if start >= end {
            return; // Not even the unit around it is taken.
        }
        let unit = 1 << self.unit;
        // A host may pin the very last bytes of all; nothing can be placed there anyway.
        let end = end.div_ceil(unit).min(u64::END - 1);
        let start = (start >> self.unit).min(end);
        if start == end {
            return;
        }
        loop {
            match &mut self.tree {
                Width::Narrow(tree) => match (Address::new(start), Address::new(end)) {
                    (Some(start), Some(end)) => return tree.take(life, start, end),
                    _ => self.widen(),
                },
                Width::Wide(tree) => return tree.take(life, start, end),
            }
        }
    }

    /// Reads what searches for these runs will read; the result means nothing.
    pub fn warm(&self, runs: &mut dyn Iterator<Item = Run>) -> u64 {
        match &self.tree {
            Width::Narrow(tree) => tree.warm(runs),
            Width::Wide(tree) => tree.warm(runs),
        }
    }

    fn widen(&mut self) {
        if let Width::Narrow(tree) = &self.tree {
            let widen = |a: u32| if a == u32::END { u64::END } else { a.into() };
            self.tree = Width::Wide(tree.map(widen));
        }
    }
}

/// What a search in one width says.
enum Found {
    /// In units.
    At(u64),
    Nowhere,
    /// Perhaps higher than this width reaches.
    BeyondWidth,
}

fn search<A: Address>(tree: &mut Tree<A>, unit: u32, life: &[Run], request: &Request) -> Found {
    let in_units = |bytes: u64| bytes >> unit;
    let high = in_units(request.high);
    let last = A::END.get() - 1;
    let nowhere = if high > last && A::END.get() < u64::END {
        Found::BeyondWidth
    } else {
        Found::Nowhere
    };
    let low = request.low.div_ceil(1 << unit);
    let size = in_units(request.size);
    let (Some(low), Some(size)) = (A::new(low), A::new(size)) else {
        return nowhere;
    };
    let range = (low, A::new(high.min(last)).expect("it is before the end"));
    let align = in_units(request.align).max(1); // Below the unit: it divides every start.
    let found = if request.page > 0 {
        let (size_in_page, page) = (size.get(), in_units(request.page));
        let starts = WithinPage {
            size: size_in_page,
            align,
            page,
        };
        tree.lowest(life, range, size, starts)
    } else if align > 1 {
        tree.lowest(life, range, size, Multiples(align))
    } else {
        tree.lowest(life, range, size, All)
    };
    found.map_or(nowhere, |start| Found::At(start.get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbitrary::{Result, Unstructured};

    /// What is placed, in a list.
    #[derive(Default)]
    struct List(Vec<(Vec<Run>, u64, u64)>);

    impl List {
        fn lowest(&self, life: &[Run], request: &Request) -> Option<u64> {
            let meet = |runs: &[Run]| {
                let meet = |a: &Run, b: &Run| a.first <= b.last && b.first <= a.last;
                runs.iter().any(|a| life.iter().any(|b| meet(a, b)))
            };
            let in_the_way = self.0.iter().filter(|(runs, _, _)| meet(runs));
            let mut ranges: Vec<(u64, u64)> =
                in_the_way.map(|&(_, start, end)| (start, end)).collect();
            ranges.sort_unstable();
            let mut start = request.admitted(request.low)?;
            for (from, to) in ranges {
                if from >= start.checked_add(request.size)? {
                    break;
                }
                if to > start {
                    start = request.admitted(to)?;
                }
            }
            (start.checked_add(request.size)? <= request.high).then_some(start)
        }
    }

    /// A point on or beside the border of a leaf, of a node, or anywhere.
    fn point(u: &mut Unstructured<'_>, points: u32) -> Result<u32> {
        let step = *u.choose(&[1, 64, 64 * 32, 64 * 32 * 32])?;
        let border = u.int_in_range(0..=(points - 1) / step)? * step;
        let beside = u.int_in_range(0..=2)?;
        Ok((border + beside).saturating_sub(1).min(points - 1))
    }

    fn life(u: &mut Unstructured<'_>, points: u32) -> Result<Vec<Run>> {
        let mut ends = Vec::new();
        for _ in 0..2 * *u.choose(&[1, 1, 1, 2, 3])? {
            ends.push(point(u, points)?);
        }
        ends.sort_unstable();
        let runs = ends.chunks(2).map(|e| Run {
            first: e[0],
            last: e[1],
        });
        Ok(runs.collect())
    }

    #[test]
    fn the_tree_finds_what_a_list_finds_on_any_number_of_levels() {
        arbtest::arbtest(|u| {
            let points = *u.choose(&[1, 64, 65, 700, 64 * 32 + 1, 64 * 32 * 32 + 70])?;
            let unit = u.int_in_range(0..=13)?;
            let bytes = 1 << unit;
            let mut engine = Engine::new(points, unit, 0);
            let mut list = List::default();
            for _ in 0..u.int_in_range(0..=30)? {
                let life = life(u, points)?;
                if u.ratio(1, 8)? {
                    // A pin need not be a multiple of anything, and may lie on what is there.
                    let start = u.int_in_range(0..=100 * bytes)?;
                    let end = start + u.int_in_range(0..=5 * bytes)?;
                    engine.insert(&life, start, end);
                    if start == end {
                        continue;
                    }
                    let (start, end) = (start / bytes * bytes, end.next_multiple_of(bytes));
                    list.0.push((life, start, end));
                    continue;
                }
                let low = if u.ratio(1, 3)? {
                    u.int_in_range(0..=60)?
                } else {
                    0
                };
                let mut request = Request {
                    size: u.int_in_range(1..=10)? * bytes,
                    align: *u.choose(&[1, 1, 1, 2, 3, 8])? * bytes,
                    page: 0,
                    low: low * bytes,
                    high: u64::MAX - 1,
                };
                if u.ratio(1, 4)? {
                    request.page = bytes * u.int_in_range(10..=40)?;
                }
                if u.ratio(1, 16)? {
                    request.size = (u64::MAX / 4).next_multiple_of(bytes);
                    request.page = 0;
                }
                if u.ratio(1, 4)? {
                    request.high = u.int_in_range(0..=120)? * bytes;
                }
                let got = engine.lowest(&life, &request);
                assert_eq!(got, list.lowest(&life, &request), "{life:?} {request:?}");
                if let Some(start) = got {
                    assert!(engine.is_free(&life, start, &request));
                    engine.insert(&life, start, start + request.size);
                    assert!(!engine.is_free(&life, start, &request));
                    list.0.push((life, start, start + request.size));
                }
            }
            Ok(())
        })
        .budget_ms(1_500);
    }
}
