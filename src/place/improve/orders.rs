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
use crate::order::{Key, sort_descending};
use crate::place::meter::{Meter, Stop};

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
    /// Most bytes first.
    Large,
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
        StackRule::Large,
    ];

    /// The part of the stack that an item at the peak belongs to, and its turn there: the greater
    /// goes first.
    fn key(self, left: u32, right: u32) -> [u64; 2] {
        let (l, r) = (u64::from(left), u64::from(right));
        let short = |reach: u64| u64::from(u32::MAX) - reach;
        match self {
            StackRule::None | StackRule::Large => [0, 0], // By the bytes that follow.
            StackRule::Vee if r >= l => [1, l],
            StackRule::Vee => [0, short(r)],
            StackRule::MirroredVee if l >= r => [1, r],
            StackRule::MirroredVee => [0, short(l)],
            StackRule::Long => [0, l + r],
            StackRule::Left => [0, l],
            StackRule::Right => [0, r],
            StackRule::Shorter => [0, l.min(r)],
            StackRule::Longer => [0, l.max(r)],
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
    /// Most bytes first; of equals the longest.
    SizeLong,
    /// Most bytes times length first.
    Area,
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
        BaseRule::SizeLong,
        BaseRule::Area,
    ];

    /// The greater goes first.
    fn key(self, profile: &Profile<'_>, item: u32) -> Key {
        let size = profile.size(item);
        let load = || profile.load(item);
        let length = || profile.length(item);
        match self {
            BaseRule::SizeLoad => [size, load(), length(), 0],
            BaseRule::LoadSize => [load(), size, length(), 0],
            BaseRule::SizeLife => {
                // Positive floats order like their bits; square roots are exact. // S4
                let weight = size as f64 * (length() as f64).sqrt().sqrt();
                [weight.to_bits(), load(), length(), 0]
            }
            BaseRule::SizeClass => [u64::from(size.ilog2() / 2), length(), size, 0],
            BaseRule::Long => [length(), size, load(), 0],
            BaseRule::SizeLate => [size, profile.first(item), length(), 0],
            BaseRule::SizeLong => [size, profile.lasts(item), 0, 0],
            BaseRule::Area => {
                let area = u128::from(size) * u128::from(profile.lasts(item));
                [(area >> 64) as u64, area as u64, size, 0]
            }
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
pub(super) fn order(
    profile: &Profile<'_>,
    stack: StackRule,
    base: BaseRule,
    meter: &mut Meter<'_, '_>,
) -> Result<StackOrder, Stop> {
    meter.poll()?;
    let mut pace = meter.pace();
    let (mut items, mut rest) = (Vec::with_capacity(profile.items() as usize), Vec::new());
    for item in 0..profile.items() {
        pace.work(1)?;
        if stack != StackRule::None && profile.reach(item).is_some() {
            items.push(item);
        } else {
            rest.push(item);
        }
    }
    let in_stack = |item| {
        let (left, right) = profile.reach(item).expect("the stack is what has a reach");
        let [part, turn] = stack.key(left, right);
        [part, turn, profile.size(item), 0]
    };
    sort_descending(&mut items, &in_stack, &mut pace)?;
    sort_descending(&mut rest, &|item| base.key(profile, item), &mut pace)?;
    let stack = items.len();
    items.append(&mut rest);
    Ok(StackOrder { items, stack })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::prepared::Prepared;
    use crate::place::{Problem, testing};

    #[test]
    fn every_order_is_a_permutation() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            if problem.items.is_empty() {
                return Ok(());
            }
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let prepared = Prepared::new(&problem);
            let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
            let stack = *u.choose(StackRule::STACKS)?;
            let base = *u.choose(BaseRule::ALL)?;
            for stack in [stack, StackRule::None] {
                let order = order(&profile, stack, base, &mut meter);
                let mut items = order.expect("nothing stops it").items;
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
        let mut control = Control::default();
        let mut meter = Meter::new(&mut control, None);
        let prepared = Prepared::new(&problem);
        let profile = Profile::of(&prepared, &mut meter).expect("nothing stops it");
        let order = order(&profile, StackRule::Vee, BaseRule::SizeLoad, &mut meter);
        let order = order.expect("nothing stops it");
        assert_eq!(order.stack, 5);
        // To the right of the peak reach 3, 2 and 4, to the left 3, 1 and 4; 4 more to the left.
        assert_eq!(order.items[..5], [3, 0, 2, 1, 4]);
    }
}
