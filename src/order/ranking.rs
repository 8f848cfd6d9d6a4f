//! Sorting many items by a few numbers each.
//!
//! A sort spends its time waiting for what it compares. So the leading bits of an item's numbers,
//! as many as there are to tell, and its position go into one word, and words are sorted; only
//! runs of items that are still alike are sorted by the numbers themselves.

/// The numbers of an item, the greater ones first.
pub(crate) type Key = [u64; 4];

/// Sorts items, which ascend, by descending keys; equal ones stay ascending. // S4
pub(crate) fn sort_descending(items: &mut [u32], key: &dyn Fn(u32) -> Key) {
    let Some(position_bits) = items.len().checked_next_power_of_two().map(usize::ilog2) else {
        return;
    };
    let (mut least, mut most) = ([u64::MAX; 4], [0; 4]);
    for &item in &*items {
        for (i, &number) in key(item).iter().enumerate() {
            (least[i], most[i]) = (least[i].min(number), most[i].max(number));
        }
    }
    // Low bits that no number has say nothing.
    let mut some = [0; 4];
    for &item in &*items {
        for (i, &number) in key(item).iter().enumerate() {
            some[i] |= number.wrapping_sub(least[i]);
        }
    }
    let unit = some.map(|bits| bits.trailing_zeros() % 64);
    let width: [u32; 4] =
        std::array::from_fn(|i| 64 - (most[i].wrapping_sub(least[i]) >> unit[i]).leading_zeros());
    let key_bits = 64 - position_bits;
    let prefix = |item: u32| {
        let (mut prefix, mut left) = (0_u64, key_bits);
        for (i, &number) in key(item).iter().enumerate() {
            let taken = width[i].min(left);
            let number = (number - least[i]) >> unit[i];
            // A shift by all 64 bits leaves nothing.
            let high = number.checked_shr(width[i] - taken).unwrap_or(0);
            prefix = prefix.checked_shl(taken).unwrap_or(0) | high;
            left -= taken;
        }
        prefix
    };
    let exact = width.iter().sum::<u32>() <= key_bits;
    let mut words: Vec<u64> = (0..)
        .zip(&*items)
        .map(|(position, &item)| {
            let turned = !prefix(item) & (u64::MAX >> position_bits);
            turned.checked_shl(position_bits).unwrap_or(0) | position
        })
        .collect();
    words.sort_unstable();
    let position = |word: u64| (word & ((1 << position_bits) - 1)) as usize;
    let sorted: Vec<u32> = words.iter().map(|&word| items[position(word)]).collect();
    items.copy_from_slice(&sorted);
    if exact {
        return;
    }
    let mut rest = items;
    for alike in words.chunk_by(|a, b| a >> position_bits == b >> position_bits) {
        let (run, others) = rest.split_at_mut(alike.len());
        if run.len() > 1 {
            run.sort_by_key(|&item| (std::cmp::Reverse(key(item)), item));
        }
        rest = others;
    }
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
            for _ in 0..u.int_in_range(0..=40)? {
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
            sort_descending(&mut items, &|i| keys[i as usize]);
            assert_eq!(items, want, "{keys:?}");
            Ok(())
        });
    }
}
