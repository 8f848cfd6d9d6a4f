//! Subsets of a few sizes, the cheapest first.
//!
//! With the sizes in ascending order a subset is followed by the one that has the next size as
//! well and by the one that has the next size instead of its last. This makes a tree of all
//! subsets that never descends in cost, and a heap walks it (Lawler, *A procedure for computing
//! the k best solutions to discrete optimization problems*, 1972).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The non-empty subsets of some sizes by ascending sum; of equal sums in a fixed order.
pub(super) struct Subsets<'s> {
    /// Ascending.
    sizes: &'s [u64],
    heap: BinaryHeap<Reverse<(u128, Vec<usize>)>>,
}

impl Subsets<'_> {
    /// Of sizes that ascend.
    pub(super) fn new(sizes: &[u64]) -> Subsets<'_> {
        debug_assert!(sizes.is_sorted());
        let first = sizes.first().map(|&size| Reverse((size.into(), vec![0])));
        Subsets {
            sizes,
            heap: first.into_iter().collect(),
        }
    }
}

impl Iterator for Subsets<'_> {
    /// The sum and the positions, ascending.
    type Item = (u128, Vec<usize>);

    fn next(&mut self) -> Option<(u128, Vec<usize>)> {
        let Reverse((sum, subset)) = self.heap.pop()?;
        let last = *subset.last().expect("subsets are not empty");
        if let Some(&next) = self.sizes.get(last + 1) {
            let mut instead = subset.clone();
            *instead.last_mut().expect("likewise") = last + 1;
            let without = sum - u128::from(self.sizes[last]);
            self.heap
                .push(Reverse((without + u128::from(next), instead)));
            let mut as_well = subset.clone();
            as_well.push(last + 1);
            self.heap.push(Reverse((sum + u128::from(next), as_well)));
        }
        Some((sum, subset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subset_comes_once_and_sums_ascend() {
        arbtest::arbtest(|u| {
            let mut sizes = Vec::new();
            for _ in 0..u.int_in_range(0..=8)? {
                sizes.push(u.int_in_range(1..=9)?);
            }
            sizes.sort_unstable();
            let all: Vec<(u128, Vec<usize>)> = Subsets::new(&sizes).collect();
            assert!(all.is_sorted_by_key(|(sum, _)| *sum));
            for (sum, subset) in &all {
                assert!(subset.is_sorted());
                let sizes = subset.iter().map(|&i| u128::from(sizes[i]));
                assert_eq!(*sum, sizes.sum::<u128>());
            }
            let mut subsets: Vec<&Vec<usize>> = all.iter().map(|(_, subset)| subset).collect();
            subsets.sort();
            subsets.dedup();
            assert_eq!(subsets.len(), (1 << sizes.len()) - 1);
            Ok(())
        });
    }
}
