//! The core: what lives where it is most crowded, ordered by the exact search.
//!
//! Near the bound everything depends on a few points whose loads are nearly the bound. Most of what
//! is live at one of them is live *through* all of them: weights, states, whatever waits for the
//! way back. It goes to the bottom, longest first, a stack without gaps. The others are few, and
//! the exact search mostly finds room for them above that at once. First fit in the order of their
//! addresses puts none of them higher:
//!
//! > By induction. What comes before an item lies no higher than in the placement, so the item's
//! > own start there is free, and so first fit takes it or a lower one.
//!
//! Whoever lives where it is less crowded comes after the core; promotion goes on from there.

use super::ACTS_PER_STEP;
use super::crowds::Crowds;
use super::profile::Profile;
use crate::ir::{FlatIndex, Segment};
use crate::place::Problem;
use crate::place::exact::{Outcome, decide};
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::{Prepared, Straddling};
use crate::place::steps::Steps;
use crate::place::timeline::Run;

/// With more items a core is no small problem.
const MOST: usize = 8000;

/// With more pins the exact search is not for it, either.
const MOST_PINS: usize = 256;

/// The most crowded items.
#[derive(Debug)]
pub(super) struct Core<'a> {
    prepared: &'a Prepared<'a>,
    /// With whether they are live through all points that are as crowded; ascending.
    items: Vec<(u32, bool)>,
}

impl<'a> Core<'a> {
    /// Whether the rules of a problem are all known here.
    pub(super) fn serves(prepared: &Prepared<'_>) -> bool {
        let problem = prepared.problem;
        problem.pins.len() <= MOST_PINS && !problem.has_region_of_collectives()
    }

    /// The largest union of crowds with at most `most` items that are not live through it, or the
    /// first; `None` if that is large already.
    pub(super) fn of(
        prepared: &'a Prepared<'a>,
        profile: &Profile<'_>,
        crowds: &Crowds,
        most: usize,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Core<'a>>, Stop> {
        let loads = prepared.loads(&mut meter.pace())?;
        let mut core = None;
        for union in crowds.unions().take_while(|union| union.len() <= MOST) {
            let last = union[union.len() - 1];
            let crowded = Crowded::unless(&loads, profile.load(last), meter)?;
            let mut items: Vec<(u32, bool)> = union
                .iter()
                .map(|&item| (item, crowded.within(prepared.life(item)) == crowded.all()))
                .collect();
            let others = items.iter().filter(|(_, through)| !through).count();
            if core.is_some() && others > most || others > MOST / 8 {
                break;
            }
            items.sort_unstable();
            core = Some(Core { prepared, items });
        }
        Ok(core)
    }

    /// The items that are live through the core on the bottom, and the others above them, as a
    /// problem with a ceiling.
    fn problem(&self, ceiling: u64) -> Problem {
        let whole = self.prepared.problem;
        let always = Run {
            first: 0,
            last: self.prepared.points() - 1,
        };
        let segments = |runs: &[Run]| -> Vec<Segment> {
            let segment = |run: &Run| Segment::new(FlatIndex(run.first), FlatIndex(run.last));
            let segments = runs.iter().map(segment);
            segments
                .map(|s| s.expect("a run does not end before it begins"))
                .collect()
        };
        let mut core = Problem {
            pins: whole.pins.clone(),
            floor: whole.floor,
            ceiling,
            regions: whole.regions.clone(),
            no_straddle: whole.no_straddle,
            runtime_page: whole.runtime_page,
            granule: whole.granule,
            ..Problem::default()
        };
        for &(item, through) in &self.items {
            core.items.push(whole.items[item as usize]);
            core.lives.push(match through {
                true => segments(&[always]),
                false => segments(self.prepared.life(item)),
            });
        }
        for pin in 0..whole.pins.len() {
            core.pin_lives.push(segments(self.prepared.pin_life(pin)));
        }
        core
    }

    /// The items in an order in which first fit stays below `cap`, if so many acts of the exact search
    /// find one.
    pub(super) fn order(
        &self,
        cap: u64,
        seed: u64,
        acts: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let problem = self.problem(cap);
        let mut core = Prepared::unless(&problem, &mut meter.pace())?;
        core.straddling = match &self.prepared.straddling {
            Straddling::Free => Straddling::Free,
            Straddling::Refused | Straddling::LastResort => Straddling::Refused,
            Straddling::Marked(marked) => {
                let marked = self.items.iter().map(|&(item, _)| marked[item as usize]);
                Straddling::Marked(marked.collect())
            }
        };
        let mut steps = Steps::new(acts, meter.control());
        let outcome = decide(&core, cap, seed, &mut steps);
        let used = acts - steps.left().min(acts);
        meter.charge((used + problem.items.len() as u64) / ACTS_PER_STEP)?;
        let Outcome::Placed(starts) = outcome else {
            return Ok(None);
        };
        let mut order: Vec<([u64; 2], u32)> = starts
            .into_iter()
            .zip(&self.items)
            .map(|(start, &(item, through))| match through {
                true => ([0, u64::MAX - self.prepared.length(item)], item),
                false => ([1, start], item),
            })
            .collect();
        order.sort_unstable();
        Ok(Some(order.into_iter().map(|(_, item)| item).collect()))
    }
}

/// The points at which a load is met.
struct Crowded {
    /// By point: how many of them come before; one entry more than points.
    before: Vec<u32>,
}

impl Crowded {
    fn unless(loads: &[u64], least: u64, meter: &mut Meter<'_, '_>) -> Result<Crowded, Stop> {
        let mut pace = meter.pace();
        let mut before = Vec::with_capacity(loads.len() + 1);
        let mut all = 0;
        before.push(all);
        for &load in loads {
            pace.work(1)?;
            all += u32::from(load >= least);
            before.push(all);
        }
        Ok(Crowded { before })
    }

    fn all(&self) -> u32 {
        self.before[self.before.len() - 1]
    }

    /// How many of the points a life covers.
    fn within(&self, life: &[Run]) -> u32 {
        let at = |point: u32| self.before[point as usize];
        life.iter()
            .map(|run| at(run.last + 1) - at(run.first))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::place::first_fit::{Others, first_fit};
    use crate::place::{lower_bound, solve, testing};

    /// The core of a problem, and its order below `cap`.
    fn ordered(problem: &Problem, most: usize, cap: u64) -> (Vec<(u32, bool)>, Option<Vec<u32>>) {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
        let mut slot = None;
        let crowds = Crowds::once(&mut slot, &profile, &mut meter).expect("nothing stops it");
        let core = Core::of(&prepared, &profile, crowds, most, &mut meter);
        let core = core.expect("nothing stops it").expect("items are few");
        let order = core
            .order(cap, 0, 1 << 20, &mut meter)
            .expect("nothing stops it");
        (core.items, order)
    }

    #[test]
    fn first_fit_in_its_order_stays_below_the_cap() {
        let mut found = 0;
        crate::testing::for_each_seed(0..400, |u| {
            let mut problem = testing::problem(u)?;
            problem.collective_limit = None;
            problem.runtime_page = 0;
            // With alignments of all kinds a stack may have gaps.
            problem.items.iter_mut().for_each(|item| item.align = 1);
            problem.no_straddle = false;
            if problem.items.is_empty() {
                return Ok(());
            }
            let reached = solve(
                &problem,
                Strategy::Best,
                Some(2_000),
                &mut Control::default(),
            );
            let Ok(reached) = reached else { return Ok(()) };
            let (items, order) = ordered(&problem, 4, reached.placement.peak);
            let Some(order) = order else { return Ok(()) };
            found += 1;
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(items.iter().map(|&(item, _)| item).eq(sorted));
            if !problem.pins.is_empty() {
                return Ok(()); // Something may lie under what is live through.
            }
            let prepared = Prepared::new(&problem);
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let (anywhere, cap) = (Others::Anywhere, reached.placement.peak);
            let pass = first_fit(&prepared, &order, anywhere, cap, 0, &mut meter);
            let pass = pass.expect("nothing stops it");
            assert_eq!(pass.failed, [0; 0], "{problem:?}");
            Ok(())
        });
        assert!(found > 100, "{found}");
    }

    #[test]
    fn what_is_live_wherever_it_is_crowded_comes_first_the_longest_before_all() {
        // 1 |---------------------------
        // 0 |       ---------------
        //   |  - -    - - ... - -
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        for (size, life) in [(5_000, (100, 300)), (7_000, (0, 400))] {
            testing::add_item(&mut problem, size, &[life]);
        }
        for i in 0..90 {
            let at = 110 + 2 * i;
            testing::add_item(&mut problem, 1_000 + u64::from(i), &[(at, at)]);
        }
        for at in 50..60 {
            testing::add_item(&mut problem, 10, &[(at, at)]);
        }
        let cap = lower_bound(&problem);
        let (items, order) = ordered(&problem, 60, cap);
        let through: Vec<u32> = items.iter().filter(|i| i.1).map(|i| i.0).collect();
        assert_eq!((cap, through), (13_089, vec![0, 1]));
        assert_eq!(items.len(), 52); // The peak, and the half of what else there is.
        assert_eq!(order.expect("it fits")[..2], [1, 0]);
    }
}
