//! Who lives when an item does: pins among them.
//!
//! Runs are kept by *class*, those whose lengths have equally many binary digits, and in a class by
//! first point. Who meets a run has begun by its end, and less than the greatest length of the
//! class before it begins: a stretch of the class, of which at least half do meet it if they lie
//! evenly. So a search reads some thirty stretches of neighbouring rows and follows no links.

use super::once;
use crate::place::Run;
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;
use crate::sorting::CompactSort as _;

/// Rows that are read in the time of one placement of first fit.
pub(super) const VISITS_PER_STEP: u64 = 64;

/// An index over the lives of a problem.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// By class, then by first point; with the item.
    rows: Vec<(Run, u32)>,
    /// Where each class that has rows ends, and the greatest distance from a first to a last point.
    classes: Vec<(usize, u32)>,
}

/// The class of a run.
fn class(run: Run) -> u32 {
    u32::BITS - (run.last - run.first).leading_zeros()
}

impl Neighbours {
    /// Builds the index. Pins count from the number of items on.
    pub(crate) fn new(
        prepared: &Prepared<'_>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Neighbours, Stop> {
        let mut pace = meter.pace();
        let items = prepared.problem.items.len();
        let life = |i: usize| match i.checked_sub(items) {
            None => prepared.life(i as u32),
            Some(pin) => prepared.pin_life(pin),
        };
        let all = 0..items + prepared.problem.pins.len();
        let mut starts = [0; u32::BITS as usize + 2];
        for i in all.clone() {
            pace.work(1)?;
            for &run in life(i) {
                starts[class(run) as usize + 1] += 1;
            }
        }
        let mut classes = Vec::new();
        for class in 0..=u32::BITS as usize {
            if starts[class + 1] > 0 {
                let most = (1_u64 << class) - 1;
                classes.push((starts[class] + starts[class + 1], most as u32));
            }
            starts[class + 1] += starts[class];
        }
        let none = Run { first: 0, last: 0 };
        let mut rows = vec![(none, 0); starts[u32::BITS as usize + 1]];
        for i in all {
            pace.work(1)?;
            for &run in life(i) {
                let at = &mut starts[class(run) as usize];
                rows[*at] = (run, i as u32);
                *at += 1;
            }
        }
        let mut start = 0;
        for &(end, _) in &classes {
            let class = &mut rows[start..end];
            pace.work(class.len())?;
            let key = |&(run, payload): &(Run, u32)| (run.first, payload);
            // Items mostly ascend by first point already.
            if !class.is_sorted_by_key(key) {
                class.sort_compact_by_key(key);
            }
            start = end;
        }
        Ok(Neighbours { rows, classes })
    }

    /// The index in `slot`, built when it is first needed.
    pub(crate) fn once<'n>(
        slot: &'n mut Option<Neighbours>,
        prepared: &Prepared<'_>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<&'n Neighbours, Stop> {
        once(slot, || Neighbours::new(prepared, meter))
    }

    /// Calls `visit` with every other item and every pin that is live when `item` is; with those
    /// that meet several of its runs several times. Returns how many rows that took.
    pub(crate) fn visit(
        &self,
        prepared: &Prepared<'_>,
        item: u32,
        mut visit: impl FnMut(u32),
    ) -> u64 {
        let mut visits = 0;
        for run in prepared.life(item) {
            for rows in self.stretches(*run) {
                for &(other, payload) in rows {
                    if other.first > run.last {
                        break;
                    }
                    visits += 1;
                    if other.last >= run.first && payload != item {
                        visit(payload);
                    }
                }
            }
        }
        visits
    }

    /// How many rows a visit takes.
    pub(crate) fn rows_to_visit(&self, prepared: &Prepared<'_>, item: u32) -> u64 {
        let mut visits = 0;
        for run in prepared.life(item) {
            for rows in self.stretches(*run) {
                visits += rows.partition_point(|row| row.0.first <= run.last) as u64;
            }
        }
        visits
    }

    /// By class: the rows from the first that may meet a run to the end of the class.
    #[inline]
    fn stretches(&self, run: Run) -> impl Iterator<Item = &[(Run, u32)]> {
        let mut start = 0;
        self.classes.iter().map(move |&(end, most)| {
            let rows = &self.rows[std::mem::replace(&mut start, end)..end];
            let earliest = run.first.saturating_sub(most);
            &rows[rows.partition_point(|row| row.0.first < earliest)..]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::testing;

    #[test]
    fn neighbours_are_those_that_share_a_point() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let prepared = Prepared::new(&problem);
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let index = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
            let items = problem.items.len();
            for item in 0..items as u32 {
                let mut got = Vec::new();
                let visits = index.visit(&prepared, item, |other| got.push(other));
                assert_eq!(index.rows_to_visit(&prepared, item), visits);
                got.sort_unstable();
                let mut want = Vec::new();
                for other in (0..items + problem.pins.len()).filter(|&o| o != item as usize) {
                    let life = match other.checked_sub(items) {
                        None => prepared.life(other as u32),
                        Some(pin) => prepared.pin_life(pin),
                    };
                    for a in prepared.life(item) {
                        let meets = |b: &&Run| a.first <= b.last && b.first <= a.last;
                        want.extend(life.iter().filter(meets).map(|_| other as u32));
                    }
                }
                assert_eq!(got, want, "{problem:?}");
            }
            Ok(())
        });
    }
}
