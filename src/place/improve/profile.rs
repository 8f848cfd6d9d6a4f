//! What a search wants to know of every item: how long, how crowded, how far from the peak.

use crate::pace::Pace;
use crate::place::Run;
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;

/// Loads, in bytes or, if that makes them half as wide, in units of the problem.
#[derive(Debug)]
enum Loads {
    Narrow { unit: u32, units: Vec<u32> },
    Wide(Vec<u64>),
}

/// The profile of a problem.
#[derive(Debug)]
pub(in crate::place) struct Profile<'a> {
    prepared: &'a Prepared<'a>,
    /// By item: the greatest load over its life.
    load: Loads,
    /// The first point of greatest load.
    peak: u32,
}

impl<'a> Profile<'a> {
    /// The profile of a problem.
    pub(super) fn of(
        prepared: &'a Prepared<'a>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Profile<'a>, Stop> {
        let loads = prepared.loads(&mut meter.pace())?;
        Profile::new(prepared, loads, meter)
    }

    /// The profile of a problem with these loads at its points.
    pub(in crate::place) fn new(
        prepared: &'a Prepared<'a>,
        loads: Vec<u64>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Profile<'a>, Stop> {
        let mut pace = meter.pace();
        let items = &prepared.problem.items;
        let greatest = Greatest::unless(loads.into_iter(), &mut pace)?;
        let (count, unit) = (items.len(), prepared.unit());
        let mut load = if u32::try_from(greatest.most() >> unit).is_ok() {
            let units = Vec::with_capacity(count);
            Loads::Narrow { unit, units }
        } else {
            Loads::Wide(Vec::with_capacity(count))
        };
        for item in 0..count {
            pace.work(1)?;
            let mut most = 0;
            for run in prepared.life(item as u32) {
                most = most.max(greatest.within(run.first as usize, run.last as usize));
            }
            match &mut load {
                Loads::Narrow { unit, units } => units.push((most >> *unit) as u32),
                Loads::Wide(bytes) => bytes.push(most),
            }
        }
        Ok(Profile {
            load,
            peak: greatest.first_greatest() as u32,
            prepared,
        })
    }

    /// How many items there are.
    pub(super) fn items(&self) -> u32 {
        self.prepared.problem.items.len() as u32
    }

    /// The bytes of an item.
    #[inline]
    pub(super) fn size(&self, item: u32) -> u64 {
        self.prepared.problem.items[item as usize].size
    }

    /// How many points an item covers.
    #[inline]
    pub(super) fn length(&self, item: u32) -> u64 {
        self.prepared.length(item)
    }

    /// How many instructions an item is live at, whether or not anything changes there.
    #[inline]
    pub(super) fn lasts(&self, item: u32) -> u64 {
        let life = self.prepared.problem.lives.of(item as usize).iter();
        life.map(|s| u64::from(s.last().0 - s.first().0) + 1).sum()
    }

    /// The greatest load over the life of an item, in bytes.
    #[inline]
    pub(super) fn load(&self, item: u32) -> u64 {
        match &self.load {
            Loads::Narrow { unit, units } => u64::from(units[item as usize]) << unit,
            Loads::Wide(bytes) => bytes[item as usize],
        }
    }

    /// The first point of an item.
    pub(super) fn first(&self, item: u32) -> u64 {
        self.prepared.life(item)[0].first.into()
    }

    /// How many points the hull of an item reaches to the left and to the right of the peak, if it
    /// is live there.
    #[inline]
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

    /// The greatest of all values.
    fn most(&self) -> u64 {
        self.nodes.get(1).copied().unwrap_or(0)
    }

    fn first_greatest(&self) -> usize {
        let (values, most) = (&self.nodes[self.leaves..], self.most());
        let first = values.iter().position(|&value| value == most);
        first.unwrap_or(0)
    }

    /// The greatest of the values from `first` to `last`.
    #[inline]
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
        let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
        assert_eq!([0, 1, 2].map(|item| profile.load(item)), [12, 12, 6]);
        // The points: {0, 1}, {1, 2}, {2}.
        let reach = [0, 1, 2].map(|item| profile.reach(item));
        assert_eq!(reach, [Some((0, 0)), Some((0, 1)), None]);
        assert_eq!([0, 1, 2].map(|item| profile.length(item)), [1, 2, 2]);
    }
}
