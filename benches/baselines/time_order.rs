//! First fit in order of birth, all pairs: what one writes first.
//!
//! The static version of Knuth's first fit (*The Art of Computer Programming*, volume 1, 2.5): each
//! buffer looks at every buffer placed before it and takes the lowest gap. O(n^2).

use crate::workloads::Buffer;

/// Places buffers in their given order.
pub fn first_fit_all_pairs(buffers: &[Buffer]) -> Vec<u64> {
    let mut offsets: Vec<u64> = Vec::with_capacity(buffers.len());
    let mut taken = Vec::new();
    for buffer in buffers {
        taken.clear();
        for (placed, &offset) in buffers.iter().zip(&offsets) {
            if placed.meets(buffer) {
                taken.push((offset, offset + placed.size));
            }
        }
        taken.sort_unstable();
        let mut at = 0;
        for &(start, end) in &taken {
            if at + buffer.size <= start {
                break;
            }
            at = at.max(end);
        }
        offsets.push(at);
    }
    offsets
}
