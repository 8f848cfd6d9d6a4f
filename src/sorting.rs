//! Sorting that can be stopped: a host that cancels does not wait for a million keys. // S2
//!
//! Pieces are sorted one by one and merged, with a question in between. Equal keys must be the same
//! key: callers add a rank to those that are not. Then the result is that of any other sort.

/// Keys between two questions whether to stop: a few milliseconds of sorting.
const PIECE: usize = 1 << 16;

/// Sorts `keys` ascending; `None` once `stop` says so, and the keys are in no particular order.
pub(crate) fn sort_unless<K: Ord + Copy>(
    keys: &mut Vec<K>,
    stop: &mut dyn FnMut() -> bool,
) -> Option<()> {
    sort_in_pieces(keys, PIECE, stop)
}

fn sort_in_pieces<K: Ord + Copy>(
    keys: &mut Vec<K>,
    piece: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Option<()> {
    for piece in keys.chunks_mut(piece) {
        piece.sort_unstable();
        if stop() {
            return None;
        }
    }
    let mut merged = Vec::with_capacity(if keys.len() > piece { keys.len() } else { 0 });
    let mut length = piece;
    while length < keys.len() {
        merged.clear();
        for both in keys.chunks(2 * length) {
            let (mut left, mut right) = both.split_at(length.min(both.len()));
            while let (Some(&l), Some(&r)) = (left.first(), right.first()) {
                let from = if l <= r { &mut left } else { &mut right };
                merged.push(from[0]);
                *from = &from[1..];
                if merged.len().is_multiple_of(piece) && stop() {
                    return None;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(keys, &mut merged);
        length *= 2;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_make_the_same_order() {
        arbtest::arbtest(|u| {
            let mut keys: Vec<u8> = u.arbitrary()?;
            let piece = u.int_in_range(1..=9)?;
            let mut want = keys.clone();
            want.sort_unstable();
            assert_eq!(sort_in_pieces(&mut keys, piece, &mut || false), Some(()));
            assert_eq!(keys, want);
            Ok(())
        });
    }

    #[test]
    fn every_piece_asks_whether_to_stop() {
        let sort = |most: usize| {
            let (mut keys, mut asked): (Vec<u32>, usize) = ((0..64).rev().collect(), 0);
            let stop = &mut || {
                asked += 1;
                asked > most
            };
            let done = sort_in_pieces(&mut keys, 8, stop);
            (done, asked)
        };
        let (done, asked) = sort(usize::MAX);
        assert!(done.is_some() && asked > 8 + 8);
        assert_eq!(sort(0), (None, 1));
        assert_eq!(sort(asked - 1), (None, asked));
    }
}
