//! Sorting many items by a few numbers each.
//!
//! A sort spends its time waiting for what it compares. So the leading bits of an item's numbers,
//! as many as there are to tell, and its position go into one word, and words are sorted; runs of
//! items that are still alike are sorted in the same way by what is left to tell of their numbers,
//! short ones by the numbers themselves.

use crate::control::Stop;
use crate::pace::{Pace, SOME};
use crate::sorting::{CompactSort as _, sort_words};

/// Up to so many items that are alike so far are sorted by comparison.
const SHORT: usize = 16;

/// The numbers of an item, the greater ones first.
pub(crate) type Key = [u64; 4];

/// Sorts items, which ascend, by descending keys; equal ones stay ascending. Where the host stops
/// it, leaves them in any order. // S4
pub(crate) fn sort_descending(
    items: &mut [u32],
    key: &dyn Fn(u32) -> Key,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stop> {
    let Some(position_bits) = items.len().checked_next_power_of_two().map(usize::ilog2) else {
        return Ok(());
    };
    // Low bits in which no two numbers differ say nothing: there all are like the first.
    let first = items.first().map_or([0; 4], |&item| key(item));
    let (mut least, mut most, mut differ) = (first, first, [0; 4]);
    for some in items.chunks(SOME) {
        pace.work(some.len())?;
        for &item in some {
            for (i, &number) in key(item).iter().enumerate() {
                (least[i], most[i]) = (least[i].min(number), most[i].max(number));
                differ[i] |= number ^ first[i];
            }
        }
    }
    let unit = differ.map(|bits| bits.trailing_zeros() % 64);
    let width: [u32; 4] =
        std::array::from_fn(|i| 64 - (most[i].wrapping_sub(least[i]) >> unit[i]).leading_zeros());
    let key_bits = 64 - position_bits;
    // Of each number the highest bits that there is room for, below those of the one before.
    let mut left = key_bits;
    let parts = [0, 1, 2, 3].map(|i| {
        let taken = width[i].min(left);
        left -= taken;
        (i, unit[i] + width[i] - taken, left, taken)
    });
    let spare = left;
    let prefix = |item: u32| {
        let (key, mut prefix) = (key(item), 0);
        for &(i, down, up, taken) in &parts {
            if taken > 0 {
                prefix |= (key[i] - least[i]) >> down << (up - spare);
            }
        }
        prefix
    };
    let exact = width.iter().sum::<u32>() <= key_bits;
    let mut words: Vec<u64> = Vec::with_capacity(items.len());
    for some in items.chunks(SOME) {
        pace.work(some.len())?;
        words.extend((words.len() as u64..).zip(some).map(|(position, &item)| {
            let turned = !prefix(item) & (u64::MAX >> position_bits);
            turned.checked_shl(position_bits).unwrap_or(0) | position
        }));
    }
    sort_words(&mut words, position_bits, pace)?;
    let position = |word: u64| (word & ((1 << position_bits) - 1)) as usize;
    let mut sorted: Vec<u32> = Vec::with_capacity(items.len());
    for some in words.chunks(SOME) {
        pace.work(some.len())?;
        sorted.extend(some.iter().map(|&word| items[position(word)]));
    }
    items.copy_from_slice(&sorted);
    if exact {
        return Ok(());
    }
    let mut rest = items;
    for alike in words.chunk_by(|a, b| a >> position_bits == b >> position_bits) {
        let (run, others) = rest.split_at_mut(alike.len());
        if run.len() > SHORT {
            sort_descending(run, key, pace)?; // Less is left to tell of these than of all.
        } else if run.len() > 1 {
            pace.work(run.len())?;
            run.sort_compact_by(|&a, &b| key(b).cmp(&key(a)).then(a.cmp(&b)));
        }
        rest = others;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    #[test]
    fn items_go_by_their_keys_whatever_the_widths() {
        arbtest::arbtest(|u| {
            let shifts: [u32; 4] = std::array::from_fn(|_| u.int_in_range(0..=62).unwrap_or(0));
            let most = *u.choose(&[1, 3, 300])?;
            let mut keys: Vec<Key> = Vec::new();
            for _ in 0..u.int_in_range(0..=10 * SHORT)? {
                let mut key = [0; 4];
                for (number, shift) in key.iter_mut().zip(shifts) {
                    *number = match u.int_in_range(0..=20)? {
                        0 => u64::MAX,
                        _ => u.int_in_range(0..=most)? << shift,
                    };
                }
                keys.push(key);
            }
            let mut items: Vec<u32> = (0..keys.len() as u32).filter(|i| i % 5 != 3).collect();
            let mut want = items.clone();
            want.sort_by_key(|&i| (Reverse(keys[i as usize]), i));
            let sorted = sort_descending(&mut items, &|i| keys[i as usize], &mut Pace::free());
            assert_eq!(sorted, Ok(()));
            assert_eq!(items, want, "{keys:?}");
            Ok(())
        });
    }
}
