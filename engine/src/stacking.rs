//! Items that stand on each other, in many sections of time side by side.
//!
//! The sections of an item lie one after the other, so each of these loops runs over a few slices in
//! step. The exact search of the main crate spends most of its time here.

use crate::height::Height;

/// Sections at once. Whole groups are read before any is written, so that the compiler sees that
/// they are independent, and takes several in one instruction.
const GROUP: usize = 4;

/// An item over some sections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Its lowest start.
    pub head: Height,
    /// How high it is.
    pub size: Height,
    /// What may lie above its lowest start.
    pub room: Height,
}

/// What is known of some sections, one value for each.
#[derive(Debug)]
pub struct Stacks<'a> {
    /// The least top of all items so far.
    pub top: &'a mut [Height],
    /// The least top of those that leave room for everything over the section.
    pub least_top: &'a mut [Height],
    /// The least start of any.
    pub floor: &'a mut [Height],
    /// The size of everything over the section.
    pub rest: &'a [Height],
}

impl Stacks<'_> {
    /// Puts an item on the stacks, after all that start lower.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn put(self, layer: Layer) {
        let Stacks {
            top,
            least_top,
            floor,
            rest,
        } = self;
        assert!(least_top.len() == top.len() && floor.len() == top.len());
        assert!(rest.len() == top.len());
        let (tops, last_tops) = top.as_chunks_mut::<GROUP>();
        let (leasts, last_leasts) = least_top.as_chunks_mut::<GROUP>();
        let (floors, last_floors) = floor.as_chunks_mut::<GROUP>();
        let (rests, last_rests) = rest.as_chunks::<GROUP>();
        let groups = tops.iter_mut().zip(leasts).zip(floors).zip(rests);
        for (((top, least), floor), rest) in groups {
            let before = (*top, *least, *floor);
            *top = before.0.map(|top| layer.top(top));
            *least = std::array::from_fn(|i| layer.least_top(before.1[i], rest[i]));
            *floor = before.2.map(|floor| floor.min(layer.head));
        }
        let others = last_tops.iter_mut().zip(last_leasts).zip(last_floors);
        for (((top, least), floor), &rest) in others.zip(last_rests) {
            *top = layer.top(*top);
            *least = layer.least_top(*least, rest);
            *floor = floor.min(layer.head);
        }
    }
}

impl Layer {
    /// The least top with it, of what is stacked up to `top`.
    #[inline]
    fn top(self, top: Height) -> Height {
        top.max(self.head) + self.size
    }

    /// The least top with it, of those that leave room for the `rest`.
    #[inline]
    fn least_top(self, least: Height, rest: Height) -> Height {
        let own = if rest <= self.room {
            self.head + self.size
        } else {
            Height::INFINITE
        };
        least.min(own)
    }
}

/// The greatest of `head` and of the least tops where there is more than `room`.
///
/// # Panics
///
/// If the slices differ in length.
pub fn raised(head: Height, least_top: &[Height], rest: &[Height], room: Height) -> Height {
    assert!(least_top.len() == rest.len());
    let by = |least: Height, rest: Height| if rest > room { least } else { head };
    let (leasts, last_leasts) = least_top.as_chunks::<GROUP>();
    let (rests, last_rests) = rest.as_chunks::<GROUP>();
    let mut greatest = [head; GROUP];
    for (&least, &rest) in leasts.iter().zip(rests) {
        let raised: [Height; GROUP] = std::array::from_fn(|i| by(least[i], rest[i]));
        greatest = std::array::from_fn(|i| greatest[i].max(raised[i]));
    }
    let last = last_leasts.iter().zip(last_rests);
    let last = last.map(|(&least, &rest)| by(least, rest));
    greatest.into_iter().chain(last).fold(head, Height::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbtest::arbtest;

    #[test]
    fn many_sections_are_stacked_as_one_by_one() {
        arbtest(|u| {
            let count = u.int_in_range(0..=3 * GROUP)?;
            let mut number = || u.int_in_range(0..=20).map(Height::from_units);
            let mut column = || (0..count).map(|_| number()).collect::<Result<Vec<_>, _>>();
            let (mut top, mut least_top, mut floor) = (column()?, column()?, column()?);
            let rest = column()?;
            let (head, size, room) = (number()?, number()?, number()?);

            let over = (0..count).filter(|&i| rest[i] > room);
            let greatest = over.map(|i| least_top[i]).fold(head, Height::max);
            assert_eq!(raised(head, &least_top, &rest, room), greatest);

            let naive = (0..count).map(|i| {
                let fits = rest[i] <= room && head + size < least_top[i];
                let least = if fits { head + size } else { least_top[i] };
                let stands_on = if top[i] > head { top[i] } else { head };
                let lower = if floor[i] < head { floor[i] } else { head };
                (stands_on + size, least, lower)
            });
            let naive: Vec<_> = naive.collect();
            let stacks = Stacks {
                top: &mut top,
                least_top: &mut least_top,
                floor: &mut floor,
                rest: &rest,
            };
            stacks.put(Layer { head, size, room });
            let now = (0..count).map(|i| (top[i], least_top[i], floor[i]));
            assert!(now.eq(naive));
            Ok(())
        });
    }
}
