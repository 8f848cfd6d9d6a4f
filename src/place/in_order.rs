//! First fit in an order that the caller brings. // P1

use super::bound::lower_bound;
use super::first_fit::{Others, failure, first_fit_in_tiles};
use super::meter::Meter;
use super::prepared::{Prepared, Straddling};
use super::{Placement, Problem, Unsolved};
use crate::control::Control;

/// Places each item in turn at the lowest bytes that are free over its life.
///
/// `order` is a permutation of the items. Collective items come first, in their region; the others
/// go wherever bytes are free. None straddles a page of the runtime where anything else is free. Takes near-linear time, however many items are live together: the
/// neighbours of an item are never listed.
///
/// # Panics
///
/// If `order` is not as long as there are items, or names one twice.
pub fn place_in_order(
    problem: &Problem,
    order: &[u32],
    control: &mut Control<'_>,
) -> Result<Placement, Unsolved> {
    let mut named = vec![false; problem.items.len()];
    for &item in order {
        let again = std::mem::replace(&mut named[item as usize], true);
        assert!(!again, "item {item} is in the order twice");
    }
    assert_eq!(order.len(), named.len(), "the order names every item");
    let mut meter = Meter::new(control, None);
    let mut prepared = Prepared::unless(problem, &mut meter.pace())?;
    if problem.runtime_page > 0 {
        prepared.straddling = Straddling::LastResort;
    }
    let ceiling = problem.ceiling;
    let pass = first_fit_in_tiles(&prepared, order, Others::Anywhere, ceiling, 0, &mut meter)?;
    if !pass.failed.is_empty() {
        let (item, offsets) = failure(pass, order, Others::Anywhere, ceiling, &mut meter)?;
        return Err(Unsolved::NoRoom {
            item,
            offsets,
            bound: lower_bound(problem),
        });
    }
    Ok(pass.placement().expect("nothing has failed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::naive::{self, Outcome};
    use crate::place::testing;

    #[test]
    fn any_order_gives_what_looking_at_all_pairs_gives() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let order = testing::order(u, &problem)?;
            let got = place_in_order(&problem, &order, &mut Control::default());
            let (others, straddling) = (Others::Anywhere, Straddling::LastResort);
            let want = naive::first_fit(&problem, &order, others, problem.ceiling, &straddling);
            match want {
                Outcome::Placed(placement) => assert_eq!(got, Ok(placement)),
                Outcome::NoRoom { item, offsets } => {
                    let bound = lower_bound(&problem);
                    let failure = Unsolved::NoRoom {
                        item,
                        offsets,
                        bound,
                    };
                    assert_eq!(got, Err(failure));
                }
            }
            Ok(())
        });
    }

    #[test]
    #[should_panic(expected = "item 0 is in the order twice")]
    fn an_order_that_names_an_item_twice_is_refused() {
        let mut problem = Problem {
            ceiling: u64::MAX,
            granule: 1,
            ..Problem::default()
        };
        testing::add_item(&mut problem, 8, &[(0, 3)]);
        testing::add_item(&mut problem, 8, &[(4, 9)]);
        let _ = place_in_order(&problem, &[0, 0], &mut Control::default());
    }
}
