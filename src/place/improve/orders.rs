//! Orders for first fit that begin with the peak.
//!
//! What is live at the point of greatest load, placed first, becomes a stack without gaps whose
//! height is that load: the least peak there is. From then on the bound is lost only if something
//! else is pushed over it. How the stack is sorted decides what room it leaves to its left and
//! right in time.
//!
//! The rule that leaves most is the *vee*: an item that reaches further to the right of the peak
//! than to the left goes to the bottom, those that reach furthest to the left lowest; the others
//! go to the top, those that reach furthest to the right highest. The items that are short on both
//! sides meet in the middle, so that on either side the free bytes are nearly one hole, which only
//! grows with the distance from the peak.

use super::profile::Profile;
use crate::sorting::CompactSort as _;
use std::cmp::Reverse;

/// How the stack is sorted, from the bottom up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackRule {
    /// No stack: all items are alike.
    None,
    /// As the module says.
    Vee,
    /// The same with left and right changed over.
    MirroredVee,
    /// Longest hull first.
    Long,
    /// Furthest to the left, or to the right, first.
    Left,
    Right,
    /// By the shorter, or the longer, of the two reaches.
    Shorter,
    Longer,
}

impl StackRule {
    /// The rules that make a stack, those first that succeed most often.
    pub(super) const STACKS: &[StackRule] = &[
        StackRule::Vee,
        StackRule::MirroredVee,
        StackRule::Long,
        StackRule::Left,
        StackRule::Right,
        StackRule::Shorter,
        StackRule::Longer,
    ];

    /// The key by which an item at the peak goes up the stack.
    fn key(self, left: u32, right: u32) -> (bool, i64) {
        let (l, r) = (i64::from(left), i64::from(right));
        match self {
            StackRule::None => (false, 0),
            StackRule::Vee if r >= l => (false, -l),
            StackRule::Vee => (true, r),
            StackRule::MirroredVee if l >= r => (false, -r),
            StackRule::MirroredVee => (true, l),
            StackRule::Long => (false, -(l + r)),
            StackRule::Left => (false, -l),
            StackRule::Right => (false, -r),
            StackRule::Shorter => (false, -l.min(r)),
            StackRule::Longer => (false, -l.max(r)),
        }
    }
}

/// How the items that are in no stack are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaseRule {
    /// Most bytes first; of equals the most crowded, then the longest.
    SizeLoad,
    /// The most crowded first, then most bytes.
    LoadSize,
    /// Bytes by the fourth root of the length.
    SizeLife,
    /// Four times as many bytes first; within such a class the longest.
    SizeClass,
    /// Longest first, then most bytes.
    Long,
    /// Most bytes first; of equals the latest.
    SizeLate,
}

impl BaseRule {
    /// Every rule, the best ones first.
    pub(super) const ALL: &[BaseRule] = &[
        BaseRule::SizeLoad,
        BaseRule::LoadSize,
        BaseRule::SizeLife,
        BaseRule::SizeClass,
        BaseRule::Long,
        BaseRule::SizeLate,
    ];

    /// The greater goes first.
    fn key(self, profile: &Profile, item: u32) -> (u64, u64, u64) {
        let i = item as usize;
        let (size, load) = (profile.size[i], profile.load[i]);
        let length = u64::from(profile.length[i]);
        match self {
            BaseRule::SizeLoad => (size, load, length),
            BaseRule::LoadSize => (load, size, length),
            BaseRule::SizeLife => {
                // Positive floats order like their bits; square roots are exact. // S4
                let weight = size as f64 * (length as f64).sqrt().sqrt();
                (weight.to_bits(), load, length)
            }
            BaseRule::SizeClass => (u64::from(size.ilog2() / 2), length, size),
            BaseRule::Long => (length, size, load),
            BaseRule::SizeLate => (size, u64::from(profile.first[i]), length),
        }
    }
}

/// An order whose first `stack` items are those of the peak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StackOrder {
    pub(super) items: Vec<u32>,
    pub(super) stack: usize,
}

/// The items in the order of the two rules.
pub(super) fn order(profile: &Profile, stack: StackRule, base: BaseRule) -> StackOrder {
    let mut at_peak = Vec::new();
    let mut rest = Vec::with_capacity(profile.size.len());
    for item in 0..profile.items() {
        match profile.reach[item as usize] {
            Some((left, right)) if stack != StackRule::None => {
                at_peak.push((stack.key(left, right), item));
            }
            _ => rest.push((base.key(profile, item), item)),
        }
    }
    let by_peak = |&(key, item): &(_, u32)| (key, Reverse(profile.size[item as usize]), item);
    at_peak.sort_compact_by(|a, b| by_peak(a).cmp(&by_peak(b)));
    rest.sort_compact_by(|(a, i), (b, j)| b.cmp(a).then(i.cmp(j)));
    let stack = at_peak.len();
    let items = at_peak.into_iter().map(|(_, item)| item);
    StackOrder {
        items: items
            .chain(rest.into_iter().map(|(_, item)| item))
            .collect(),
        stack,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::prepared::Prepared;
    use crate::place::{Problem, testing};

    #[test]
    fn every_order_is_a_permutation() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            if problem.items.is_empty() {
                return Ok(());
            }
            let profile = Profile::new(&Prepared::new(&problem));
            let stack = *u.choose(StackRule::STACKS)?;
            let base = *u.choose(BaseRule::ALL)?;
            for stack in [stack, StackRule::None] {
                let mut items = order(&profile, stack, base).items;
                items.sort_unstable();
                assert!(items.iter().copied().eq(0..profile.items()));
            }
            Ok(())
        });
    }

    #[test]
    fn short_lives_meet_in_the_middle_of_a_vee() {
        // All of them are live at instruction 10, the peak.
        let mut problem = Problem::default();
        for life in [(10, 10), (4, 10), (10, 16), (0, 25), (6, 13)] {
            testing::add_item(&mut problem, 4, &[life]);
        }
        // Short ones before and after cut time into points.
        for at in [1, 5, 7, 9, 12, 14, 17, 19, 22] {
            testing::add_item(&mut problem, 1, &[(at, at)]);
        }
        let profile = Profile::new(&Prepared::new(&problem));
        let order = order(&profile, StackRule::Vee, BaseRule::SizeLoad);
        assert_eq!(order.stack, 5);
        // To the right of the peak reach 3, 2 and 4, to the left 3, 1 and 4; 4 more to the left.
        assert_eq!(order.items[..5], [3, 0, 2, 1, 4]);
    }
}
