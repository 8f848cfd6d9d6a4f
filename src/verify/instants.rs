//! Time, cut where something changes.
//!
//! Lives are closed runs of times of any size. Where they lie close together every time is an
//! instant of its own; otherwise an instant is all the time from one change to the next. What
//! holds at one time of an instant holds at all of them.

use crate::pace::Pace;

/// The instants of some lives, numbered from 0.
pub(super) struct Instants {
    /// The first of all times.
    start: u64,
    /// Where each instant begins; `None`: each time is one.
    cuts: Option<Vec<u64>>,
    len: usize,
}

/// Times per life up to which each is an instant.
const DENSE: u64 = 4;

impl Instants {
    /// The instants of these closed lives.
    pub fn of(
        lives: impl Iterator<Item = (u64, u64)> + Clone,
        pace: &mut Pace<'_, '_>,
    ) -> Instants {
        let (mut start, mut last, mut count) = (u64::MAX, 0, 0);
        for (from, to) in lives.clone() {
            if pace.over(1) {
                break;
            }
            (start, last, count) = (start.min(from), last.max(to), count + 1);
        }
        if count == 0 {
            return Instants {
                start: 0,
                cuts: None,
                len: 0,
            };
        }
        if (last - start) / DENSE <= count {
            return Instants {
                start,
                cuts: None,
                len: (last - start) as usize + 1,
            };
        }
        let changes = |(first, last): (u64, u64)| [Some(first), last.checked_add(1)];
        let mut cuts: Vec<u64> = lives.flat_map(changes).flatten().collect();
        cuts.sort_unstable();
        cuts.dedup();
        Instants {
            start,
            len: cuts.len(),
            cuts: Some(cuts),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The instants of a life, which is one of those that they were made from: the first, and one
    /// past the last.
    pub fn span(&self, (first, last): (u64, u64)) -> (usize, usize) {
        match &self.cuts {
            None => (
                (first - self.start) as usize,
                (last - self.start) as usize + 1,
            ),
            Some(cuts) => (
                cuts.partition_point(|&cut| cut < first),
                cuts.partition_point(|&cut| cut <= last),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lives_share_an_instant_iff_they_share_a_time() {
        arbtest::arbtest(|u| {
            let scale = *u.choose(&[1, 1_000, u64::MAX / 40])?;
            let mut lives = Vec::new();
            for _ in 0..u.int_in_range(1..=9)? {
                let first = u.int_in_range(0..=30)?;
                let last = first + u.int_in_range(0..=9)?;
                lives.push((first * scale, last * scale));
            }
            let instants = Instants::of(lives.iter().copied(), &mut Pace::free());
            for &a in &lives {
                let (from, to) = instants.span(a);
                assert!(from < to && to <= instants.len(), "{lives:?}");
                for &b in &lives {
                    let other = instants.span(b);
                    let shared = from.max(other.0) < to.min(other.1);
                    assert_eq!(shared, a.0.max(b.0) <= a.1.min(b.1), "{a:?} {b:?}");
                }
            }
            Ok(())
        });
    }
}
