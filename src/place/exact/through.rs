//! Items that are live all through.
//!
//! Nobody else ever has bytes where such an item lies, so it can be taken out and whatever lies
//! above moved down; put back under everything else, it raises them by as much again. Hence some
//! lowest placement has all of these items at the bottom, and a search need not know them. In
//! programs they are weights and states, often many. Only where every start is admitted to every
//! item: in a plain model.

use super::model::Model;

/// The items at the bottom, by number, and their addresses.
pub(super) type Bottom = Vec<(u32, u64)>;

/// Takes the items that are live all through out of a plain model, unless there are no others.
pub(super) fn take_through(model: &mut Model) -> Bottom {
    let all = 0..model.sections as u32;
    if !model.is_plain() || model.hull.iter().all(|hull| *hull == all) {
        return Bottom::new();
    }
    let stays: Vec<bool> = model.hull.iter().map(|hull| *hull != all).collect();
    let (mut bottom, mut top) = (Bottom::new(), model.origin);
    for (item, _) in stays.iter().enumerate().filter(|(_, stays)| !**stays) {
        bottom.push((item as u32, top));
        let size = model.size[item] * model.unit;
        match top.checked_add(size) {
            Some(end) => top = end,
            None => return Bottom::new(), // No placement at all.
        }
    }
    if !bottom.is_empty() {
        model.retain(&stays, top);
    }
    bottom
}

/// The addresses of all items: those at the bottom, and the others, which come in order.
pub(super) fn put_back(bottom: &Bottom, others: impl ExactSizeIterator<Item = u64>) -> Vec<u64> {
    let mut addresses = Vec::with_capacity(bottom.len() + others.len());
    let mut bottom = bottom.iter().peekable();
    for other in others {
        while let Some((_, at)) = bottom.next_if(|(item, _)| *item as usize == addresses.len()) {
            addresses.push(*at);
        }
        addresses.push(other);
    }
    addresses.extend(bottom.map(|(_, at)| at));
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::prepared::Prepared;
    use crate::place::{Problem, testing};

    /// Three items that are live all through, and two that are not.
    fn problem(align: u64) -> Problem {
        let mut problem = Problem {
            floor: 8,
            ..Problem::default()
        };
        for (size, life) in [
            (4, (0, 9)),
            (6, (0, 3)),
            (2, (0, 9)),
            (6, (5, 9)),
            (8, (0, 9)),
        ] {
            testing::add_item(&mut problem, size, &[life]);
        }
        problem.items[1].align = align;
        problem
    }

    #[test]
    fn they_lie_at_the_bottom_and_the_others_above_them() {
        let problem = problem(2);
        let mut model = Model::new(&Prepared::new(&problem));
        let bottom = take_through(&mut model);
        assert_eq!(bottom, [(0, 8), (2, 12), (4, 14)]);
        assert_eq!((model.origin, model.items()), (22, 2));
        assert_eq!(model.parts_of(1)[0].size, 3); // In units of two bytes.
        let all = put_back(&bottom, [22, 28].into_iter());
        assert_eq!(all, [8, 22, 12, 28, 14]); // In the order of the items.
    }

    #[test]
    fn where_not_every_start_is_admitted_they_stay() {
        let problem = problem(64);
        let mut model = Model::new(&Prepared::new(&problem));
        assert_eq!(take_through(&mut model), Bottom::new());
        assert_eq!(model.items(), 5);
    }

    #[test]
    fn somebody_is_left() {
        let mut problem = Problem::default();
        testing::add_item(&mut problem, 4, &[(0, 9)]);
        let mut model = Model::new(&Prepared::new(&problem));
        assert_eq!(take_through(&mut model), Bottom::new());
    }
}
