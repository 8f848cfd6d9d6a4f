//! First fit: one order, each item at the lowest bytes that are free over its life. // P1
//!
//! Floor and ceiling bound the addresses; regions (P6) cut them into windows by usage; in the
//! collective region (P5) the collective items come first.

use super::meter::{Meter, Stop};
use super::packing::Packing;
use super::prepared::{Prepared, Straddling, Windows};
use super::tiles::Tiles;
use super::{PAGE, Placement};
use crate::ir::Usage;

/// Where items may lie that are no collective ones, or did not fit in the collective region. // P5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Above the region, and inside only if nothing above fits: strategy `reference`.
    Above,
    /// Wherever bytes are free.
    Anywhere,
}

/// What a first fit has placed.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    pub(crate) packing: Packing<'a>,
    /// What found no room, in the order.
    pub(crate) failed: Vec<u32>,
    collective_real: Option<u64>,
    outside_region: Vec<u32>,
    /// Whether it went through tiles, and so in another order.
    tiled: bool,
}

impl Pass<'_> {
    /// The placement, if everything found room; of an order that has all items.
    pub(crate) fn placement(self) -> Option<Placement> {
        self.failed.is_empty().then(|| Placement {
            peak: self.packing.peak(),
            collective_real: self.collective_real,
            outside_region: self.outside_region,
            offsets: self.packing.into_offsets(),
        })
    }

    /// Places what has failed at the end of the order, below another ceiling. Not for collective
    /// items with a region, which come first. // P5
    pub(crate) fn place_failed(
        &mut self,
        ceiling: u64,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let failed = std::mem::take(&mut self.failed);
        self.place_on(&failed, ceiling, usize::MAX, meter)
    }

    /// Places more items at the end of the order, below `ceiling`, as one pass with all of them
    /// would. Not for problems with a region of collectives, which come first. // P5
    pub(crate) fn place_on(
        &mut self,
        items: &[u32],
        ceiling: u64,
        patience: usize,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let prepared = self.packing.prepared();
        let everywhere = prepared.windows(prepared.problem.floor, ceiling);
        let items = &mut items.iter().copied();
        self.place(items, (&everywhere, None), patience, meter)
    }

    /// Places items as they come, in the first windows or else in the second, until there are more
    /// failures than `patience`. One step each.
    fn place(
        &mut self,
        items: &mut dyn Iterator<Item = u32>,
        (preferred, inside): (&Windows, Option<&Windows>),
        patience: usize,
        meter: &mut Meter<'_, '_>,
    ) -> Result<(), Stop> {
        let packing = &mut self.packing;
        let astride = packing.prepared().straddling == Straddling::LastResort;
        let mut some = Vec::with_capacity(WARM);
        while self.failed.len() <= patience {
            some.clear();
            some.extend((&mut *items).take(WARM));
            if some.is_empty() {
                break;
            }
            packing.warm(&some);
            for &item in &some {
                // Only collective items can be placed already.
                if self.collective_real.is_some() && packing.offset(item).is_some() {
                    continue;
                }
                meter.step()?;
                let mut placed = packing.place(item, preferred);
                if placed.is_none()
                    && let Some(inside) = inside
                {
                    placed = packing.place(item, inside);
                }
                // No straddling comes before any choice of where. // P7
                if placed.is_none() && astride {
                    let mut places = [Some(preferred), inside].into_iter().flatten();
                    placed = places.find_map(|windows| packing.place_astride(item, windows));
                }
                if placed.is_none() {
                    self.failed.push(item);
                    if self.failed.len() > patience {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Items whose data are fetched together. Measured on a million items: fetching halves the time,
/// and 8, 16 or 32 make no difference.
pub(super) const WARM: usize = 16;

/// Places the items in the given order, below `ceiling`, and goes on after failures until there are
/// more than `patience`.
///
/// `order` has each item at most once; what it does not have is not placed. One step per placement.
pub(crate) fn first_fit<'a>(
    prepared: &'a Prepared<'a>,
    order: &[u32],
    others: Others,
    ceiling: u64,
    patience: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Pass<'a>, Stop> {
    let items = &mut order.iter().copied();
    pass(prepared, (order, items), others, ceiling, patience, meter)
}

/// The same placement, sooner where items are many; see `tiles`. If it ends with more failures than
/// `patience`, these are some of those that there are, and what is placed by then is something else.
pub(crate) fn first_fit_in_tiles<'a>(
    prepared: &'a Prepared<'a>,
    order: &[u32],
    others: Others,
    ceiling: u64,
    patience: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Pass<'a>, Stop> {
    let Some(tiles) = Tiles::of(prepared, order, &mut meter.pace())? else {
        return first_fit(prepared, order, others, ceiling, patience, meter);
    };
    in_tiles(prepared, (order, tiles), others, ceiling, patience, meter)
}

fn in_tiles<'a>(
    prepared: &'a Prepared<'a>,
    (order, mut tiles): (&[u32], Tiles<'a>),
    others: Others,
    ceiling: u64,
    patience: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Pass<'a>, Stop> {
    let items = (order, &mut tiles as &mut dyn Iterator<Item = u32>);
    let mut pass = pass(prepared, items, others, ceiling, patience, meter)?;
    pass.tiled = true;
    if pass.failed.len() > 1 {
        let mut failed = vec![false; order.len()];
        pass.failed
            .iter()
            .for_each(|&item| failed[item as usize] = true);
        pass.failed.clear();
        let in_order = order.iter().filter(|&&item| failed[item as usize]);
        pass.failed.extend(in_order);
    }
    Ok(pass)
}

/// Places the items of an order as they come, those that live together in that order.
fn pass<'a>(
    prepared: &'a Prepared<'a>,
    (order, items): (&[u32], &mut dyn Iterator<Item = u32>),
    others: Others,
    ceiling: u64,
    patience: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Pass<'a>, Stop> {
    let problem = prepared.problem;
    let floor = problem.floor;
    let mut packing = Packing::unless(prepared, &mut meter.pace())?;
    let everywhere = prepared.windows(floor, ceiling);
    let (mut above, mut inside) = (None, None);
    let (mut collective_real, mut outside_region) = (None, Vec::new());
    if let Some(limit) = problem.collective_limit {
        let limit_end = floor.saturating_add(limit);
        let region = prepared.windows(floor, limit_end.min(ceiling));
        for &item in order {
            if problem.usage(item) == Usage::Collective {
                meter.step()?;
                let placed = packing.place(item, &region);
                let placed = placed.or_else(|| packing.place_astride(item, &region));
                if placed.is_none() {
                    outside_region.push(item);
                }
            }
        }
        // Nothing but collective items is placed yet.
        let real_end = match packing.peak() {
            peak if peak == floor => floor,
            peak => peak.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX),
        };
        collective_real = Some(real_end - floor);
        outside_region.sort_unstable();
        if others == Others::Above {
            let start = if problem.trim_collective {
                real_end
            } else {
                limit_end
            };
            above = Some(prepared.windows(start, ceiling));
            inside = Some(region);
        }
    }
    let mut pass = Pass {
        packing,
        failed: Vec::new(),
        collective_real,
        outside_region,
        tiled: false,
    };
    let preferred = above.as_ref().unwrap_or(&everywhere);
    pass.place(items, (preferred, inside.as_ref()), patience, meter)?;
    Ok(pass)
}

/// How an order fails below a ceiling: the first of its items that finds no room, and what lies where
/// by then. `pass` is what has come of it without patience.
pub(crate) fn failure(
    pass: Pass<'_>,
    order: &[u32],
    others: Others,
    ceiling: u64,
    meter: &mut Meter<'_, '_>,
) -> Result<(u32, Vec<Option<u64>>), Stop> {
    let mut pass = pass;
    if pass.tiled {
        let prepared = pass.packing.prepared();
        drop(pass); // The engines of two passes are large.
        pass = first_fit(prepared, order, others, ceiling, 0, meter)?;
    }
    Ok((pass.failed[0], pass.packing.offsets()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::ir::FlatIndex;
    use crate::pace::Pace;
    use crate::place::naive::Outcome;
    use crate::place::{InPlacePair, Problem, naive, testing};

    fn run(problem: &Problem, order: &[u32], others: Others, ceiling: u64) -> Outcome {
        run_on(&Prepared::new(problem), order, others, ceiling)
    }

    fn run_on(prepared: &Prepared<'_>, order: &[u32], others: Others, ceiling: u64) -> Outcome {
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let pass = first_fit(prepared, order, others, ceiling, 0, &mut meter);
        let pass = pass.expect("nothing stops it");
        match pass.failed.first() {
            Some(&item) => Outcome::NoRoom {
                item,
                offsets: pass.packing.offsets(),
            },
            None => Outcome::Placed(pass.placement().expect("nothing has failed")),
        }
    }

    #[test]
    fn what_failed_is_placed_as_if_it_came_last() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            if problem.has_region_of_collectives() {
                return Ok(());
            }
            let order = testing::order(u, &problem)?;
            let low = problem
                .ceiling
                .min(problem.floor + u.int_in_range(0..=200)?);
            let (prepared, mut control) = (Prepared::new(&problem), Control::default());
            let mut meter = Meter::new(&mut control, None);
            let patience = order.len();
            let pass = first_fit(
                &prepared,
                &order,
                Others::Anywhere,
                low,
                patience,
                &mut meter,
            );
            let mut pass = pass.expect("nothing stops it");
            let failed = pass.failed.clone();
            let done = pass.place_failed(problem.ceiling, &mut meter);
            done.expect("nothing stops it");
            if let Some(placement) = pass.placement() {
                assert_eq!(
                    testing::violations(&problem, &placement),
                    Vec::<String>::new()
                );
                for (item, (start, of)) in (0..).zip(placement.offsets.iter().zip(&problem.items)) {
                    let is_low = start + of.size <= low;
                    assert!(failed.contains(&item) || is_low, "{problem:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn what_comes_later_is_placed_as_if_it_had_been_in_the_order() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            if problem.has_region_of_collectives() {
                return Ok(());
            }
            let order = testing::order(u, &problem)?;
            let low = u.int_in_range(0..=200)?;
            let ceiling = problem.ceiling.min(problem.floor + low);
            let patience = u.int_in_range(0..=order.len())?;
            let mut prepared = Prepared::new(&problem);
            if u.arbitrary()? {
                prepared.straddling = Straddling::LastResort;
            }
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let mut pass = |order: &[u32]| {
                let anywhere = Others::Anywhere;
                let pass = first_fit(&prepared, order, anywhere, ceiling, patience, &mut meter);
                pass.expect("nothing stops it")
            };
            let whole = pass(&order);
            let (now, later) = order.split_at(u.int_in_range(0..=order.len())?);
            let mut pass = pass(now);
            let done = pass.place_on(later, ceiling, patience, &mut meter);
            done.expect("nothing stops it");
            assert_eq!(pass.failed, whole.failed, "{problem:?} {order:?}");
            assert_eq!(pass.packing.starts(), whole.packing.starts());
            assert_eq!(pass.packing.peak(), whole.packing.peak());
            Ok(())
        });
    }

    #[test]
    fn every_address_is_that_of_enumeration() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let order = testing::order(u, &problem)?;
            let others = *u.choose(&[Others::Above, Others::Anywhere])?;
            let (ceiling, free) = (problem.ceiling, Straddling::Free);
            let got = run(&problem, &order, others, ceiling);
            let want = naive::first_fit(&problem, &order, others, ceiling, &free);
            assert_eq!(got, want, "{problem:?} {order:?}");
            Ok(())
        })
        .budget_ms(2_000);
    }

    #[test]
    fn in_tiles_everything_lies_where_it_does_without_them() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let order = testing::order(u, &problem)?;
            let others = *u.choose(&[Others::Above, Others::Anywhere])?;
            let mut prepared = Prepared::new(&problem);
            if u.arbitrary()? {
                prepared.straddling = Straddling::LastResort;
            }
            let tiles = Tiles::with(
                &prepared,
                &order,
                u.int_in_range(2..=20)?,
                &mut Pace::free(),
            );
            let Some(tiles) = tiles.expect("nothing stops it") else {
                return Ok(());
            };
            let low = u.int_in_range(0..=400)?;
            let ceiling = problem.ceiling.min(problem.floor + low);
            let patience = order.len();
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let given = first_fit(&prepared, &order, others, ceiling, patience, &mut meter);
            let tiles = (&order[..], tiles);
            let tiled = in_tiles(&prepared, tiles, others, ceiling, patience, &mut meter);
            let (given, tiled) = (given.expect("nothing stops"), tiled.expect("nothing stops"));
            assert_eq!(tiled.failed, given.failed, "{problem:?} {order:?}");
            assert_eq!(tiled.packing.starts(), given.packing.starts());
            assert_eq!(tiled.packing.peak(), given.packing.peak());
            assert_eq!(tiled.collective_real, given.collective_real);
            assert_eq!(tiled.outside_region, given.outside_region);
            if !given.failed.is_empty() {
                let told = failure(tiled, &order, others, ceiling, &mut meter);
                let alone = first_fit(&prepared, &order, others, ceiling, 0, &mut meter);
                let alone = alone.expect("nothing stops it");
                assert_eq!(told, Ok((alone.failed[0], alone.packing.offsets())));
            }
            Ok(())
        })
        .budget_ms(1_000);
    }

    #[test]
    fn every_address_beside_the_pages_of_a_runtime_is_that_of_enumeration() {
        arbtest::arbtest(|u| {
            let mut problem = testing::problem(u)?;
            if problem.runtime_page == 0 {
                problem.runtime_page = PAGE * u.int_in_range(1..=9)?;
            }
            let order = testing::order(u, &problem)?;
            let others = *u.choose(&[Others::Above, Others::Anywhere])?;
            let mut marked = Vec::new();
            for _ in &problem.items {
                marked.push(u.arbitrary()?);
            }
            let straddling = match u.int_in_range(0..=3)? {
                0 => Straddling::Refused,
                1 => Straddling::Marked(marked),
                _ => Straddling::LastResort,
            };
            let mut prepared = Prepared::new(&problem);
            prepared.straddling = straddling.clone();
            let got = run_on(&prepared, &order, others, problem.ceiling);
            let want = naive::first_fit(&problem, &order, others, problem.ceiling, &straddling);
            assert_eq!(got, want, "{problem:?} {order:?} {straddling:?}");
            Ok(())
        })
        .budget_ms(2_000);
    }

    #[test]
    fn two_pins_and_a_hole_between_them() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 10, &[(0, 9)]);
        testing::add_item(&mut problem, 4, &[(0, 9)]);
        testing::add_pin(&mut problem, 3, 7, &[(0, 9)]);
        testing::add_pin(&mut problem, 11, 12, &[(5, 5)]);
        let Outcome::Placed(placement) = run(&problem, &[0, 1], Others::Anywhere, u64::MAX) else {
            panic!("there is room");
        };
        assert_eq!(placement.offsets, [12, 7]);
        assert_eq!(placement.peak, 22);
    }

    #[test]
    fn the_end_of_the_address_space_is_no_wall_to_climb_over() {
        let half = 1 << 63;
        let mut problem = Problem {
            ceiling: u64::MAX,
            ..Problem::default()
        };
        testing::add_item(&mut problem, half, &[(0, 1)]);
        testing::add_item(&mut problem, half - 2, &[(1, 1)]);
        let placed = run(&problem, &[0, 1], Others::Anywhere, u64::MAX);
        assert!(matches!(placed, Outcome::Placed(p) if p.offsets == [0, half]));
        problem.items[1].size = half - 1; // It would end at `u64::MAX`.
        let placed = run(&problem, &[0, 1], Others::Anywhere, u64::MAX);
        let offsets = vec![Some(0), None];
        assert_eq!(placed, Outcome::NoRoom { item: 1, offsets });
    }

    #[test]
    fn a_use_takes_one_def_and_stays_an_obstacle_to_the_next() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        testing::add_item(&mut problem, 8, &[(3, 5)]);
        testing::add_item(&mut problem, 4, &[(3, 5)]);
        let index = FlatIndex(3);
        problem.pairs = [1, 2]
            .map(|def| InPlacePair {
                index,
                used: 0,
                def,
            })
            .to_vec();
        for (order, want) in [
            ([0, 1, 2], [0, 0, 8]),
            ([0, 2, 1], [0, 8, 0]),
            ([1, 0, 2], [8, 0, 8]),
        ] {
            let Outcome::Placed(placement) = run(&problem, &order, Others::Anywhere, u64::MAX)
            else {
                panic!("there is room");
            };
            assert_eq!(placement.offsets, want, "{order:?}");
        }
    }
}
