//! What a search wants to know of every item: how long, how crowded, how far from the peak.

use crate::pace::Pace;
use crate::place::Run;
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;

/// The profile of a problem.
#[derive(Debug)]
pub(super) struct Profile<'a> {
    prepared: &'a Prepared<'a>,
    /// By item: the greatest load over its life, in bytes.
    load: Vec<u64>,
    /// The first point of greatest load.
    peak: u32,
}

impl<'a> Profile<'a> {
    /// The profile of a problem.
    pub(super) fn new(
        prepared: &'a Prepared<'a>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Profile<'a>, Stop> {
        let mut pace = meter.pace();
        let items = &prepared.problem.items;
        let points = prepared.points() as usize;
        let mut change = vec![0_u64; points + 1];
        for (i, item) in items.iter().enumerate() {
            pace.work(1)?;
            for run in prepared.life(i as u32) {
                let (first, past) = (run.first as usize, run.last as usize + 1);
                // Wrapping: the running sum is what counts, and it is never negative.
                change[first] = change[first].wrapping_add(item.size);
                change[past] = change[past].wrapping_sub(item.size);
            }
        }
        let mut load = 0_u64;
        let loads = change[..points].iter().map(|change| {
            load = load.wrapping_add(*change);
            load
        });
        let greatest = Greatest::unless(loads, &mut pace)?;
        let mut load = Vec::with_capacity(items.len());
        for item in 0..items.len() {
            pace.work(1)?;
            let runs = prepared.life(item as u32).iter();
            let most = runs.map(|run| greatest.within(run.first as usize, run.last as usize));
            load.push(most.max().unwrap_or(0));
        }
        Ok(Profile {
            load,
            peak: greatest.first_greatest() as u32,
            prepared,
        })
    }

    /// How many items there are.
    pub(super) fn items(&self) -> u32 {
        self.load.len() as u32
    }

    /// The bytes of an item.
    pub(super) fn size(&self, item: u32) -> u64 {
        self.prepared.problem.items[item as usize].size
    }

    /// How many points an item covers.
    pub(super) fn length(&self, item: u32) -> u64 {
        let runs = self.prepared.life(item).iter();
        runs.map(|run| u64::from(run.last - run.first) + 1).sum()
    }

    /// How many instructions an item is live at, whether or not anything changes there.
    pub(super) fn lasts(&self, item: u32) -> u64 {
        let life = self.prepared.problem.lives.of(item as usize).iter();
        life.map(|s| u64::from(s.last().0 - s.first().0) + 1).sum()
    }

    /// The greatest load over the life of an item, in bytes.
    pub(super) fn load(&self, item: u32) -> u64 {
        self.load[item as usize]
    }

    /// The first point of an item.
    pub(super) fn first(&self, item: u32) -> u64 {
        self.prepared.life(item)[0].first.into()
    }

    /// How many points the hull of an item reaches to the left and to the right of the peak, if it
    /// is live there.
    pub(super) fn reach(&self, item: u32) -> Option<(u32, u32)> {
        let life = self.prepared.life(item);
        let at_peak = |run: &Run| run.first <= self.peak && self.peak <= run.last;
        let (first, last) = (life[0].first, life[life.len() - 1].last);
        let live = life.iter().any(at_peak);
        live.then(|| (self.peak - first, last - self.peak))
    }
}

/// Range maxima over an array: a complete binary tree, the root at 1.
struct Greatest {
    nodes: Vec<u64>,
    leaves: usize,
}

impl Greatest {
    fn unless(
        values: impl ExactSizeIterator<Item = u64>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Greatest, Stop> {
        let leaves = values.len();
        let mut nodes = vec![0; 2 * leaves];
        for (node, value) in nodes[leaves..].iter_mut().zip(values) {
            pace.work(1)?;
            *node = value;
        }
        for at in (1..leaves).rev() {
            pace.work(1)?;
            nodes[at] = nodes[2 * at].max(nodes[2 * at + 1]);
        }
        Ok(Greatest { nodes, leaves })
    }

    fn first_greatest(&self) -> usize {
        let values = &self.nodes[self.leaves..];
        let most = values.iter().max();
        most.and_then(|most| values.iter().position(|value| value == most))
            .unwrap_or(0)
    }

    /// The greatest of the values from `first` to `last`.
    fn within(&self, first: usize, last: usize) -> u64 {
        let (mut lo, mut hi) = (first + self.leaves, last + self.leaves + 1);
        let mut most = 0;
        while lo < hi {
            if lo % 2 == 1 {
                most = most.max(self.nodes[lo]);
                lo += 1;
            }
            if hi % 2 == 1 {
                hi -= 1;
                most = most.max(self.nodes[hi]);
            }
            (lo, hi) = (lo / 2, hi / 2);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::{Problem, testing};

    #[test]
    fn range_maxima_are_those_of_a_scan() {
        arbtest::arbtest(|u| {
            let values: Vec<u64> = u.arbitrary()?;
            let greatest = Greatest::unless(values.iter().copied(), &mut Pace::free());
            let greatest = greatest.expect("nothing stops it");
            if values.is_empty() {
                return Ok(());
            }
            let last = u.int_in_range(0..=values.len() - 1)?;
            let first = u.int_in_range(0..=last)?;
            let want = values[first..=last].iter().max().copied();
            assert_eq!(Some(greatest.within(first, last)), want);
            let most = values.iter().max();
            let want = values.iter().position(|v| Some(v) == most);
            assert_eq!(Some(greatest.first_greatest()), want);
            Ok(())
        });
    }

    #[test]
    fn the_peak_divides_the_lives() {
        let mut problem = Problem::default();
        testing::add_item(&mut problem, 8, &[(0, 4)]);
        testing::add_item(&mut problem, 4, &[(3, 9)]);
        testing::add_item(&mut problem, 2, &[(6, 7), (12, 13)]);
        let prepared = Prepared::new(&problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let profile = Profile::new(&prepared, &mut meter).expect("nothing stops it");
        assert_eq!([0, 1, 2].map(|item| profile.load(item)), [12, 12, 6]);
        // The points: {0, 1}, {1, 2}, {2}.
        let reach = [0, 1, 2].map(|item| profile.reach(item));
        assert_eq!(reach, [Some((0, 0)), Some((0, 1)), None]);
        assert_eq!([0, 1, 2].map(|item| profile.length(item)), [1, 2, 2]);
    }
}
