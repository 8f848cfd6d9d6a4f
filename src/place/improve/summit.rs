//! The summit: what lives where it is most crowded, ordered by the exact search.
//!
//! Near the bound everything depends on a few points whose loads are nearly the bound. Most of what
//! is live at one of them is live *through* all of them: weights, states, whatever waits for the
//! way back. It goes to the bottom, longest first, a stack without gaps, of which the exact search
//! need not know (see `exact::through`). The others are few, and it mostly finds room for them
//! above the stack at once. First fit in the order of their addresses puts none of them higher:
//!
//! > By induction. What comes before an item lies no higher than in the placement, so the item's
//! > own start there is free, and so first fit takes it or a lower one.
//!
//! Alignments, pages, pins and regions may leave gaps in the stack, and put it higher; promotion,
//! which goes on from there with those who live where it is less crowded, repairs that too.

use super::crowds::Crowds;
use super::profile::Profile;
use super::{ACTS_PER_STEP, with_acts};
use crate::ir::{FlatIndex, Segment};
use crate::place::Problem;
use crate::place::exact::{Outcome, decide};
#[cfg(test)]
use crate::place::lower_bound;
use crate::place::meter::{Meter, Stop};
use crate::place::prepared::{Prepared, Straddling};
use crate::place::steps::Steps;
use crate::place::timeline::Run;
use crate::sorting::CompactSort as _;

/// With more segments of items, or of those that are not live all through, a summit is no small
/// problem.
const MOST: usize = 8000;
const MOST_OTHERS: usize = 1000;

/// With more segments of pins the exact search is not for it, either.
const MOST_OF_PINS: usize = 256;

/// The most crowded items.
#[derive(Debug)]
pub(super) struct Summit<'a> {
    prepared: &'a Prepared<'a>,
    /// With whether they are live through all points that are as crowded; ascending.
    items: Vec<(u32, bool)>,
}

impl<'a> Summit<'a> {
    /// Whether the rules of a problem are all known here.
    pub(super) fn serves(prepared: &Prepared<'_>) -> bool {
        let problem = prepared.problem;
        problem.pin_lives.all().len() <= MOST_OF_PINS && !problem.has_region_of_collectives()
    }

    /// The largest set of the most crowded items of which at most `most` are not live all through
    /// it, but in any case more than `known` items; `None` if these are no small problem.
    ///
    /// A larger set has no fewer segments, and no fewer items that are not live all through it.
    pub(super) fn of(
        prepared: &'a Prepared<'a>,
        profile: &Profile<'_>,
        crowds: &Crowds,
        (known, most): (usize, usize),
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Summit<'a>>, Stop> {
        let mut with = |at: usize| {
            let members = crowds.as_crowded_as(profile, at);
            Summit::if_small(prepared, profile, crowds.loads(), members, meter)
        };
        let mut no = crowds.len();
        if known >= no {
            return Ok(None);
        }
        let Some(mut summit) = with(known)? else {
            return Ok(None);
        };
        // Those that are as crowded as its last member are members.
        let mut yes = summit.len() - 1;
        while no - yes > 1 && summit.others() <= most {
            let middle = yes + (no - yes) / 2;
            match with(middle)? {
                Some(larger) if larger.others() <= most => {
                    (yes, summit) = (larger.len() - 1, larger);
                }
                _ => no = middle,
            }
        }
        Ok(Some(summit))
    }

    /// These items, if they are a small problem.
    fn if_small(
        prepared: &'a Prepared<'a>,
        profile: &Profile<'_>,
        loads: &[u64],
        members: &[u32],
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Summit<'a>>, Stop> {
        let segments = members.iter().map(|&item| prepared.life(item).len());
        if members.len() > MOST || segments.sum::<usize>() > MOST {
            return Ok(None);
        }
        let least = profile.load(members[members.len() - 1]);
        let crowded = Crowded::unless(loads, least, meter)?;
        let mut items: Vec<(u32, bool)> = members
            .iter()
            .map(|&item| (item, crowded.within(prepared.life(item)) == crowded.all()))
            .collect();
        items.sort_compact();
        let summit = Summit { prepared, items };
        Ok((summit.others() <= MOST_OTHERS).then_some(summit))
    }

    /// How many items it has.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// How many of them are not live all through it.
    pub(super) fn others(&self) -> usize {
        self.items.iter().filter(|(_, through)| !through).count()
    }

    /// The items that are live through the summit at all times, hence at the bottom, and the others
    /// above them, as a problem with a ceiling.
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
        let mut summit = Problem {
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
            summit.push_of(whole, item);
            summit.lives.push(match through {
                true => segments(&[always]),
                false => segments(self.prepared.life(item)),
            });
        }
        for pin in 0..whole.pins.len() {
            summit.pin_lives.push(segments(self.prepared.pin_life(pin)));
        }
        summit
    }

    /// Which of the items may straddle a page of the runtime. // P7
    fn straddling(&self) -> Straddling {
        match &self.prepared.straddling {
            Straddling::Free => Straddling::Free,
            Straddling::Refused | Straddling::LastResort => Straddling::Refused,
            Straddling::Marked(marked) => {
                let marked = self.items.iter().map(|&(item, _)| marked[item as usize]);
                Straddling::Marked(marked.collect())
            }
        }
    }

    /// The items in an order in which first fit mostly stays below `cap`, if so many acts of the
    /// exact search find a placement there. Another seed may find another one.
    pub(super) fn order(
        &self,
        cap: u64,
        acts: u64,
        seed: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<Option<Vec<u32>>, Stop> {
        let problem = self.problem(cap);
        let mut prepared = Prepared::unless(&problem, &mut meter.pace())?;
        prepared.straddling = self.straddling();
        let search = |steps: &mut Steps<'_, '_>| decide(&prepared, cap, seed, steps);
        let (outcome, used) = with_acts(acts, meter, search);
        meter.charge((used + problem.items.len() as u64) / ACTS_PER_STEP)?;
        let Outcome::Placed(starts) = outcome else {
            return Ok(None);
        };
        let mut order: Vec<((u8, u64), u32)> = starts
            .into_iter()
            .zip(&self.items)
            .map(|(start, &(item, through))| match through {
                true => ((0, u64::MAX - self.prepared.length(item)), item),
                false => ((1, start), item),
            })
            .collect();
        order.sort_compact();
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

/// A summit of a problem, in order if the exact search finds one at the bound.
#[cfg(test)]
pub(crate) fn ordered_summit(
    prepared: &Prepared<'_>,
    most: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Option<Vec<u32>>, Stop> {
    let profile = Profile::of(prepared, meter)?;
    let mut slot = None;
    let crowds = Crowds::once(&mut slot, prepared, &profile, meter)?;
    match Summit::of(prepared, &profile, crowds, (0, most), meter)? {
        Some(summit) => summit.order(lower_bound(prepared.problem), 1 << 20, 0, meter),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::options::Strategy;
    use crate::pace::Pace;
    use crate::place::first_fit::{Others, first_fit};
    use crate::place::{solve, testing};

    fn summit<'a>(prepared: &'a Prepared<'a>, sizes: (usize, usize)) -> Option<Summit<'a>> {
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let profile = Profile::of(prepared, &mut meter).expect("nothing stops it");
        let mut slot = None;
        let crowds =
            Crowds::once(&mut slot, prepared, &profile, &mut meter).expect("nothing stops it");
        let summit = Summit::of(prepared, &profile, crowds, sizes, &mut meter);
        summit.expect("nothing stops it")
    }

    /// The summit of a problem, and its order below `cap`.
    fn ordered(problem: &Problem, most: usize, cap: u64) -> (Vec<(u32, bool)>, Option<Vec<u32>>) {
        let prepared = Prepared::new(problem);
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let summit = summit(&prepared, (0, most)).expect("items are few");
        let order = summit
            .order(cap, 1 << 20, 0, &mut meter)
            .expect("nothing stops it");
        (summit.items, order)
    }

    #[test]
    fn where_every_start_is_admitted_first_fit_in_its_order_stays_below_the_cap() {
        let mut found = 0;
        crate::testing::for_each_seed(0..400, |u| {
            let mut problem = Problem {
                collective_limit: None,
                runtime_page: 0,
                no_straddle: false,
                regions: Vec::new(),
                ..testing::problem(u)?
            };
            problem = problem.beside_pins(0, u64::MAX);
            problem.items.iter_mut().for_each(|item| item.align = 1);
            for _ in 0..u.int_in_range(0..=3)? {
                testing::add_item(&mut problem, 8, &[(0, 1_000)]);
            }
            if problem.items.is_empty() {
                return Ok(());
            }
            let (best, budget) = (Strategy::Best, Some(2_000));
            let reached = solve(&problem, best, budget, &mut Control::default());
            let cap = reached.expect("there is no ceiling").placement.peak;
            let (items, order) = ordered(&problem, 4, cap);
            let Some(order) = order else { return Ok(()) };
            let through = items.iter().filter(|(_, through)| *through).count();
            found += usize::from(0 < through && through < items.len());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(items.iter().map(|&(item, _)| item).eq(sorted));
            let prepared = Prepared::new(&problem);
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let pass = first_fit(&prepared, &order, Others::Anywhere, cap, 0, &mut meter);
            let pass = pass.expect("nothing stops it");
            assert_eq!(pass.failed, [0; 0], "{problem:?}");
            Ok(())
        });
        assert!(found > 100, "{found}");
    }

    #[test]
    fn it_is_the_largest_set_with_so_few_that_are_not_live_all_through() {
        let mut grown = 0;
        crate::testing::for_each_seed(0..300, |u| {
            let problem = testing::problem(u)?;
            if problem.items.is_empty() {
                return Ok(());
            }
            let prepared = Prepared::new(&problem);
            // For each load: those who meet it, and with each whether it is live at all such points.
            let loads = prepared.loads(&mut Pace::free()).expect("nothing stops it");
            let items = 0..problem.items.len() as u32;
            let load = |item: u32| {
                let runs = prepared.life(item).iter();
                let met = runs.flat_map(|run| &loads[run.first as usize..=run.last as usize]);
                *met.max().expect("it is live somewhere")
            };
            let mut sets: Vec<Vec<(u32, bool)>> = Vec::new();
            for item in items.clone() {
                let least = load(item);
                let crowded: Vec<u32> = (0..)
                    .zip(&loads)
                    .filter(|&(_, &load)| load >= least)
                    .map(|(point, _)| point)
                    .collect();
                let lives = |item: u32, point: u32| {
                    let mut life = prepared.life(item).iter();
                    life.any(|run| run.first <= point && point <= run.last)
                };
                let members = items.clone().filter(|&other| load(other) >= least);
                let through = |item| crowded.iter().all(|&point| lives(item, point));
                sets.push(members.map(|item| (item, through(item))).collect());
            }
            sets.sort_by_key(Vec::len);
            let others = |set: &[(u32, bool)]| set.iter().filter(|(_, through)| !through).count();
            let (known, most) = (u.int_in_range(0..=4)?, u.int_in_range(0..=6)?);
            let mut larger = sets.into_iter().filter(|set| set.len() > known);
            let smallest = larger.next();
            let few = larger
                .filter(|set| others(set) <= most)
                .max_by_key(Vec::len);
            grown += usize::from(few.is_some() && known > 0);
            let summit = summit(&prepared, (known, most));
            assert_eq!(summit.map(|summit| summit.items), few.or(smallest));
            Ok(())
        });
        assert!(grown > 50, "{grown}");
    }

    #[test]
    fn however_many_are_asked_for_it_stays_a_small_problem() {
        let mut problem = Problem::default();
        for at in 0..1_500 {
            testing::add_item(&mut problem, u64::from(at) + 1, &[(at, at)]);
        }
        let (items, _) = ordered(&problem, 1_400, u64::MAX);
        assert_eq!(items.len(), MOST_OTHERS);
    }

    #[test]
    fn what_the_exact_search_places_there_keeps_every_rule_of_the_problem() {
        let mut marked_some = 0;
        crate::testing::for_each_seed(0..400, |u| {
            let problem = Problem {
                collective_limit: None,
                ..testing::problem(u)?
            };
            if problem.items.is_empty() {
                return Ok(());
            }
            let mut prepared = Prepared::new(&problem);
            let marked: Vec<bool> = problem
                .items
                .iter()
                .map(|item| item.size.is_multiple_of(3))
                .collect();
            prepared.straddling = Straddling::Marked(marked);
            let summit = summit(&prepared, (0, 4)).expect("items are few");
            let own = summit.problem(problem.ceiling);
            let of_own = summit.straddling();
            for (at, &(item, _)) in summit.items.iter().enumerate() {
                assert_eq!(own.items[at], problem.items[item as usize]);
                let Straddling::Marked(marked) = &of_own else {
                    panic!("{of_own:?}");
                };
                assert_eq!(
                    marked[at],
                    problem.items[item as usize].size.is_multiple_of(3)
                );
                marked_some += usize::from(marked[at]);
            }
            assert_eq!((&own.pins, &own.regions), (&problem.pins, &problem.regions));
            Ok(())
        });
        assert!(marked_some > 100);
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
        assert_eq!(items.len(), 2 + 60);
        assert_eq!(order.expect("it fits")[..2], [1, 0]);
    }
}
