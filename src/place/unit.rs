//! The unit in which the engine counts.

use super::{PAGE, Problem};

/// The binary logarithm of the unit of a problem.
///
/// Sizes are multiples of the unit, and so is every start that an item may get: its alignment is a
/// multiple of it, or divides it and all that a start can rest on is a multiple. So the range of a
/// pin may be widened, and that of a window narrowed, to whole units without a difference.
pub(crate) fn unit(problem: &Problem) -> u32 {
    let mut all = problem.items.iter().fold(0, |all, item| all | item.size);
    let unit_of_sizes = all.trailing_zeros();
    let mut rests = false;
    for item in &problem.items {
        if item.align.is_power_of_two() && item.align.trailing_zeros() < unit_of_sizes {
            rests = true;
        } else {
            all |= item.align;
        }
    }
    if rests {
        all |= problem.floor | PAGE; // Pages matter to straddling and to the collective region.
        all |= problem.collective_limit.unwrap_or(0);
        all |= problem.pins.iter().fold(0, |all, pin| all | pin.end);
        all |= problem.regions.iter().fold(0, |all, r| all | r.base);
    }
    all |= problem.runtime_page; // Its borders are where a start comes to rest. // P7
    all.trailing_zeros().min(63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_divides_whatever_a_start_can_rest_on() {
        let problem = |sizes: &[u64], align: u64| {
            let mut problem = Problem::default();
            for &size in sizes {
                crate::place::testing::add_item(&mut problem, size, &[(0, 0)]);
                problem.items.last_mut().expect("just added").align = align;
            }
            problem
        };
        assert_eq!(unit(&problem(&[64, 192], 1)), 6);
        assert_eq!(unit(&problem(&[64, 192], 3)), 0);
        assert_eq!(unit(&problem(&[64, 192], 24)), 3);
        assert_eq!(unit(&problem(&[64, 192], 128)), 6);
        assert_eq!(unit(&Problem::default()), 63);
        let mut paged = problem(&[64, 192], 64);
        paged.runtime_page = 48 * 5;
        assert_eq!(unit(&paged), 4);
        let mut on_a_pin = problem(&[64, 192], 1);
        crate::place::testing::add_pin(&mut on_a_pin, 3, 20, &[(0, 0)]);
        assert_eq!(unit(&on_a_pin), 2);
        let mut aligned = problem(&[64, 192], 64);
        crate::place::testing::add_pin(&mut aligned, 3, 20, &[(0, 0)]);
        assert_eq!(unit(&aligned), 6);
    }
}
