//! Sets of cells, as disjoint runs.

use std::collections::BTreeMap;

/// A set of cells. Runs that touch are joined, so that a claim costs what it takes away.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover {
    runs: BTreeMap<u32, u32>, // First cell to one past the last; neither overlapping nor touching.
}

impl Cover {
    /// Adds `[first, end)` and reports the runs of it that were not there before, ascending.
    pub(super) fn claim(&mut self, first: u32, end: u32, mut new: impl FnMut(u32, u32)) {
        let (mut from, mut to) = (first, end);
        let mut at = first;
        // The run that begins at or before `first`, if it comes that far.
        if let Some((&start, &stop)) = self.runs.range(..=first).next_back()
            && stop >= first
        {
            if stop >= end {
                return;
            }
            self.runs.remove(&start);
            from = start;
            at = stop;
        }
        while at <= end
            && let Some((&start, &stop)) = self.runs.range(at..=end).next()
        {
            self.runs.remove(&start);
            if at < start {
                new(at, start);
            }
            at = stop;
            to = to.max(stop);
        }
        if at < end {
            new(at, end);
        }
        self.runs.insert(from, to);
    }

    /// Reports the runs of `[first, end)` that are not in the set, ascending.
    pub(super) fn missing(&self, first: u32, end: u32, mut report: impl FnMut(u32, u32)) {
        let before = self.runs.range(..=first).next_back();
        let mut at = before.map_or(first, |(_, &stop)| stop.max(first));
        while at < end {
            let next = self.runs.range(at..end).next();
            let stop = next.map_or(end, |(&start, _)| start);
            if at < stop {
                report(at, stop);
            }
            at = next.map_or(end, |(_, &stop)| stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_is_a_set_of_cells() {
        arbtest::arbtest(|u| {
            let mut cover = Cover::default();
            let mut cells = [false; 12];
            for _ in 0..u.int_in_range(1..=12)? {
                let first = u.int_in_range(0..=11)?;
                let end = u.int_in_range(first + 1..=12)?;
                let want: Vec<u32> = (first..end).filter(|&c| !cells[c as usize]).collect();
                let mut got = Vec::new();
                cover.missing(first, end, |a, b| got.extend(a..b));
                assert_eq!(got, want);
                if u.arbitrary()? {
                    let mut runs = Vec::new();
                    cover.claim(first, end, |a, b| runs.push((a, b)));
                    assert!(runs.windows(2).all(|w| w[0].1 < w[1].0), "{runs:?}");
                    let got: Vec<u32> = runs.iter().flat_map(|&(a, b)| a..b).collect();
                    assert_eq!(got, want);
                    cells[first as usize..end as usize].fill(true);
                    let runs: Vec<_> = cover.runs.iter().collect();
                    assert!(runs.windows(2).all(|w| w[0].1 < w[1].0), "joined: {runs:?}");
                }
            }
            Ok(())
        });
    }
}
