//! Whose turn comes when: an order in which single items move.
//!
//! An item has a key, and turns go by keys. At first keys lie far apart, and an item that moves gets
//! one between two others. Few ever move, so those that have not are told by their place in the
//! order alone.

use crate::pace::Pace;
use crate::place::meter::Stop;
use crate::sorting::CompactSort as _;

/// A key, and for ties the item.
pub(super) type Turn = (u64, u32);

/// The bit of a place that says: the item has moved, and the rest is where among those.
const MOVED: u32 = 1 << 31;

/// The turns of all items.
pub(super) struct Turns {
    /// The difference of neighbouring keys at first.
    gap: u64,
    /// By item.
    places: Vec<u32>,
    /// The turns of those that have moved.
    moved: Vec<Turn>,
}

impl Turns {
    /// The most items that can be told apart.
    pub(super) const MOST: usize = MOVED as usize;

    /// The turns of an order.
    pub(super) fn new(order: &[u32], pace: &mut Pace<'_, '_>) -> Result<Turns, Stop> {
        let mut places = vec![0; order.len()];
        for (place, &item) in (0..).zip(order) {
            pace.work(1)?;
            places[item as usize] = place;
        }
        Ok(Turns {
            gap: u64::MAX / (order.len() as u64 + 1),
            places,
            moved: Vec::new(),
        })
    }

    /// The turn of an item.
    #[inline]
    pub(super) fn of(&self, item: u32) -> Turn {
        let place = self.places[item as usize];
        if place & MOVED == 0 {
            (self.first_key(place), item)
        } else {
            self.moved[(place & !MOVED) as usize]
        }
    }

    /// The key of a place that nobody has left.
    #[inline]
    fn first_key(&self, place: u32) -> u64 {
        (u64::from(place) + 1) * self.gap
    }

    /// Gives an item another key.
    pub(super) fn set(&mut self, item: u32, key: u64) {
        let place = &mut self.places[item as usize];
        if *place & MOVED == 0 {
            *place = MOVED | self.moved.len() as u32;
            self.moved.push((key, item));
        } else {
            self.moved[(*place & !MOVED) as usize].0 = key;
        }
    }

    /// Makes room between the keys, without a change of the order. Where the host stops it, the turns
    /// are none any more.
    pub(super) fn spread(&mut self, pace: &mut Pace<'_, '_>) -> Result<(), Stop> {
        const NOBODY: u32 = u32::MAX;
        // Each list goes before the next one comes: this is where a run needs the most memory.
        let places = std::mem::take(&mut self.places);
        let mut stayed = vec![NOBODY; places.len()];
        for (item, place) in (0..).zip(places) {
            pace.work(1)?;
            if place & MOVED == 0 {
                stayed[place as usize] = item;
            }
        }
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_compact();
        let mut moved = moved.into_iter().peekable();
        let mut order = Vec::with_capacity(stayed.len());
        for (place, item) in (0..).zip(stayed) {
            pace.work(1)?;
            if item == NOBODY {
                continue;
            }
            let turn = (self.first_key(place), item);
            while let Some((_, earlier)) = moved.next_if(|&other| other < turn) {
                order.push(earlier);
            }
            order.push(item);
        }
        order.extend(moved.map(|(_, item)| item));
        *self = Turns::new(&order, pace)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_those_of_a_list_of_keys() {
        arbtest::arbtest(|u| {
            let mut order: Vec<u32> = (0..u.int_in_range(1..=12)?).collect();
            for i in 1..order.len() {
                order.swap(i, u.int_in_range(0..=i)?);
            }
            let turns = Turns::new(&order, &mut Pace::free());
            let mut turns = turns.expect("nothing stops it");
            let keys = |turns: &Turns| (0..order.len() as u32).map(|i| turns.of(i)).collect();
            let mut naive: Vec<Turn> = keys(&turns);
            let in_turn = |naive: &[Turn]| {
                let mut sorted = naive.to_vec();
                sorted.sort_unstable();
                sorted
                    .into_iter()
                    .map(|(_, item)| item)
                    .collect::<Vec<u32>>()
            };
            assert_eq!(in_turn(&naive), order);
            for _ in 0..u.int_in_range(0..=20)? {
                if u.ratio(1, 5)? {
                    turns.spread(&mut Pace::free()).expect("nothing stops it");
                    let spread: Vec<Turn> = keys(&turns);
                    assert_eq!(in_turn(&spread), in_turn(&naive));
                    let mut apart: Vec<u64> = spread.iter().map(|turn| turn.0).collect();
                    apart.sort_unstable();
                    assert!(apart.windows(2).all(|w| w[1] - w[0] > 1 << 32));
                    naive = spread;
                } else {
                    let item = u.int_in_range(0..=order.len() as u32 - 1)?;
                    // Beside another, or as it is: then the items decide.
                    let (beside, _) = turns.of(*u.choose(&order)?);
                    let key = beside - u.int_in_range(0..=1)?;
                    turns.set(item, key);
                    naive[item as usize] = (key, item);
                }
                assert_eq!(keys(&turns), naive);
            }
            Ok(())
        });
    }
}
