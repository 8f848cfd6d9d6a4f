//! A rectangle of time and memory, cut into pieces until there are enough of them.
//!
//! The pieces laid back where they were cut leave no byte unused at any time, so the lower bound
//! is reached, and hardly anything else reaches it: the instances of exact solvers are like this.
//! Most cuts are pinwheels, five pieces around a centre, which no sequence of straight cuts makes.

use std::ops::Range;

use super::{Buffer, PAGE, Random, buffer, sorted};

/// A piece: from one time to another, from one page to another.
struct Piece {
    time: Range<usize>,
    pages: Range<usize>,
}

impl Piece {
    fn area(&self) -> usize {
        self.time.len() * self.pages.len()
    }
}

pub(super) fn tight(n: usize) -> Vec<Buffer> {
    let mut random = Random::new(5 + n as u64);
    // Room for pieces of some dozen times and pages each.
    let side = (64..).find(|s| s * s >= 600 * n).expect("squares grow");
    let mut pieces = vec![Piece {
        time: 0..side,
        pages: 0..side,
    }];
    while pieces.len() < n {
        // The largest of a few, so that pieces differ in size, but not without limit.
        let tried = [(); 8].map(|()| random.below(pieces.len()));
        let largest = tried.into_iter().max_by_key(|&i| pieces[i].area());
        let piece = pieces.swap_remove(largest.expect("eight were tried"));
        let room = n - pieces.len();
        cut(piece, room, &mut random, &mut pieces);
    }
    let bytes = |p: Piece| buffer(p.time.start, p.time.end, PAGE * p.pages.len() as u64);
    sorted(pieces.into_iter().map(bytes).collect())
}

/// Cuts a piece into five, two or, where it is too small, one; at most `room`.
fn cut(piece: Piece, room: usize, random: &mut Random, into: &mut Vec<Piece>) {
    let Piece { time: t, pages: p } = piece;
    let mut put = |time: Range<usize>, pages: Range<usize>| into.push(Piece { time, pages });
    if room >= 5 && t.len() >= 3 && p.len() >= 3 && random.below(4) > 0 {
        let (t1, t2) = two_inside(&t, random);
        let (p1, p2) = two_inside(&p, random);
        put(t.start..t2, p.start..p1);
        put(t2..t.end, p.start..p2);
        put(t1..t.end, p2..p.end);
        put(t.start..t1, p1..p.end);
        put(t1..t2, p1..p2);
    } else if room >= 2 && t.len() >= 2 && (p.len() < 2 || random.below(2) == 0) {
        let at = t.start + 1 + random.below(t.len() - 1);
        put(t.start..at, p.clone());
        put(at..t.end, p);
    } else if room >= 2 && p.len() >= 2 {
        let at = p.start + 1 + random.below(p.len() - 1);
        put(t.clone(), p.start..at);
        put(t, at..p.end);
    } else {
        put(t, p);
    }
}

/// Two different points strictly inside, ascending.
fn two_inside(range: &Range<usize>, random: &mut Random) -> (usize, usize) {
    let first = range.start + 1 + random.below(range.len() - 2);
    (first, first + 1 + random.below(range.end - first - 1))
}
