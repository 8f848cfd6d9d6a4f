//! The lowest free bytes. (Simple first version: a list of what is placed.)

use super::timeline::Run;

/// What a location asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Bytes; at least 1.
    pub size: u64,
    /// The start is a multiple of this; at least 1.
    pub align: u64,
    /// A location of at most a page lies within one page. // P3
    pub no_straddle: bool,
    /// The start is this or higher.
    pub low: u64,
    /// The end is this or lower.
    pub high: u64,
}

impl Request {
    /// The lowest start at or above `start` that alignment and the page rule admit.
    pub fn admitted(&self, start: u64) -> Option<u64> {
        let page = super::PAGE;
        let mut start = start.checked_next_multiple_of(self.align)?;
        if self.no_straddle && self.size <= page {
            // Multiples of the alignment come by a page start within `page` turns.
            while start % page + self.size > page {
                start = start.checked_next_multiple_of(page)?;
                start = start.checked_next_multiple_of(self.align)?;
            }
        }
        Some(start)
    }
}

/// What is placed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Engine {
    placed: Vec<(Vec<Run>, u64, u64)>,
}

impl Engine {
    /// Nothing placed yet on this many points.
    pub fn new(_points: u32) -> Engine {
        Engine::default()
    }

    /// The lowest start that the request admits and at which nothing is in the way.
    pub fn lowest(&mut self, life: &[Run], request: &Request) -> Option<u64> {
        let meet = |runs: &[Run]| {
            let meet = |a: &Run, b: &Run| a.first <= b.last && b.first <= a.last;
            runs.iter().any(|a| life.iter().any(|b| meet(a, b)))
        };
        let in_the_way = self.placed.iter().filter(|(runs, _, _)| meet(runs));
        let mut ranges: Vec<(u64, u64)> = in_the_way.map(|&(_, start, end)| (start, end)).collect();
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
        if start < end {
            self.placed.push((life.to_vec(), start, end));
        }
    }
}
