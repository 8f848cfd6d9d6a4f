//! Items by how crowded it is where they live.
//!
//! Whether an order stays below a cap near the bound is decided where the loads are near the bound,
//! often by a small part of all items. First fit puts an item where it does whatever comes after
//! it. So the items that meet the highest loads can be placed, and their order repaired, by
//! themselves; whoever lives where it is less crowded comes after them, finds more room than is
//! needed, and seldom fails at all.

use super::once;
use super::profile::Profile;
use crate::order::sort_descending;
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::Prepared;

/// How many items the first crowd has beside those at the peak, at least.
const FEWEST: usize = 32;

/// The items, the most crowded first, and where each crowd ends.
#[derive(Debug)]
pub(super) struct Crowds {
    /// By point, in bytes.
    loads: Vec<u64>,
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Crowds {
    /// Those who meet the peak are in the first crowd; from there on each crowd doubles the number,
    /// if not too many meet the same load.
    fn unless(
        prepared: &Prepared<'_>,
        profile: &Profile<'_>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Crowds, Stop> {
        meter.poll()?;
        let loads = prepared.loads(&mut meter.pace())?;
        let mut items: Vec<u32> = (0..profile.items()).collect();
        let load = |item| profile.load(item);
        sort_descending(&mut items, &|item| [load(item), 0, 0, 0], &mut meter.pace())?;
        let with = |least: u64| meeting(&items, profile, least);
        let at_peak = with(load(items[0]));
        let others = items.len() - at_peak;
        let parts = (0..usize::BITS).map(|by| others >> by);
        let parts = parts.take_while(|&part| part >= FEWEST);
        let mut ends: Vec<usize> = parts
            .map(|part| with(load(items[at_peak + part - 1])))
            .collect();
        ends.reverse();
        if ends.last() != Some(&items.len()) {
            ends.push(items.len());
        }
        ends.dedup();
        Ok(Crowds { loads, items, ends })
    }

    /// The crowds in `slot`, worked out when they are first needed.
    pub(super) fn once<'c>(
        slot: &'c mut Option<Crowds>,
        prepared: &Prepared<'_>,
        profile: &Profile<'_>,
        meter: &mut Meter<'_, '_>,
    ) -> Result<&'c Crowds, Stop> {
        once(slot, || Crowds::unless(prepared, profile, meter))
    }

    /// The load at each point, in bytes.
    pub(super) fn loads(&self) -> &[u64] {
        &self.loads
    }

    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Those as crowded as the one at this place, from the most crowded on, or more.
    pub(super) fn as_crowded_as(&self, profile: &Profile<'_>, at: usize) -> &[u32] {
        let least = profile.load(self.items[at]);
        &self.items[..meeting(&self.items, profile, least)]
    }

    /// The members of the first crowds, for ever more crowds.
    fn unions(&self) -> impl Iterator<Item = &[u32]> {
        self.ends.iter().map(|&end| &self.items[..end])
    }

    /// Some items by crowd, each crowd in the order in which they come.
    pub(super) fn split(
        &self,
        profile: &Profile<'_>,
        items: &[u32],
        meter: &mut Meter<'_, '_>,
    ) -> Result<Vec<Vec<u32>>, Stop> {
        let mut pace = meter.pace();
        let mut crowds = vec![Vec::new(); self.ends.len()];
        let least: Vec<u64> = self
            .unions()
            .map(|union| profile.load(union[union.len() - 1]))
            .collect();
        for &item in items {
            pace.work(1)?;
            let load = profile.load(item);
            crowds[least.partition_point(|&least| least > load)].push(item);
        }
        crowds.retain(|crowd| !crowd.is_empty());
        Ok(crowds)
    }
}

/// How many of the items, the most crowded of which come first, meet such a load.
fn meeting(items: &[u32], profile: &Profile<'_>, least: u64) -> usize {
    items.partition_point(|&item| profile.load(item) >= least)
}

#[cfg(test)]
mod tests {
    use super::super::orders::{BaseRule, StackRule, order};
    use super::*;
    use crate::control::Control;
    use crate::place::{Problem, testing};

    /// What follows the stack of an order of `problem`, by crowd.
    fn split(problem: &Problem, stack: StackRule) -> Vec<Vec<u32>> {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
        let crowds = Crowds::unless(&prepared, &profile, &mut meter).expect("nothing stops it");
        let order = order(&profile, stack, BaseRule::SizeLoad, &mut meter);
        let order = order.expect("nothing stops it");
        let split = crowds.split(&profile, &order.items[order.stack..], &mut meter);
        let split = split.expect("nothing stops it");
        for pair in split.windows(2) {
            let loads = |at: usize| pair[at].iter().map(|&item| profile.load(item));
            assert!(loads(0).min() > loads(1).max());
        }
        let rank = |item| order.items.iter().position(|&other| other == item);
        for crowd in &split {
            assert!(crowd.is_sorted_by_key(|&item| rank(item)));
        }
        let mut all = split.concat();
        all.extend(&order.items[..order.stack]);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..profile.items()));
        split
    }

    #[test]
    fn crowds_hold_every_item_once_the_most_crowded_first() {
        crate::testing::for_each_seed(0..40, |u| {
            let mut problem = Problem::default();
            for _ in 0..u.int_in_range(1..=300)? {
                let first = u.int_in_range(0..=60)?;
                let last = u.int_in_range(first..=70)?;
                testing::add_item(&mut problem, u.int_in_range(1..=30)?, &[(first, last)]);
            }
            for stack in [StackRule::None, StackRule::Vee] {
                split(&problem, stack);
            }
            Ok(())
        });
    }

    #[test]
    fn where_all_meet_one_load_there_is_one_crowd() {
        for count in [1, 2, 100] {
            let mut problem = Problem::default();
            for at in 0..count {
                testing::add_item(&mut problem, 8, &[(at, at)]);
            }
            testing::add_item(&mut problem, 1, &[(0, count)]);
            assert_eq!(split(&problem, StackRule::None).len(), 1);
        }
    }

    #[test]
    fn each_crowd_doubles_those_before_it() {
        // One live at a time, each with more bytes: one is the peak.
        let mut problem = Problem::default();
        for i in 0..2049 {
            testing::add_item(&mut problem, u64::from(i) + 1, &[(i, i)]);
        }
        let sizes: Vec<usize> = split(&problem, StackRule::None)
            .iter()
            .map(Vec::len)
            .collect();
        assert_eq!(sizes, [33, 32, 64, 128, 256, 512, 1024]);
    }
}
