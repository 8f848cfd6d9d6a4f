//! Random functions against the oracle, and one that is long.

use super::*;
use crate::testing;

#[test]
fn random_functions_live_as_the_rules_say() {
    let (mut segments, mut pairs) = (0, 0);
    testing::for_each_seed(0..4000, |u| {
        let f = testing::function(u, &testing::Shape::default())?;
        let got = liveness(&f);
        oracle::compare(&f, &got);
        segments += got.lives.all().len();
        pairs += got.pairs.len();
        Ok(())
    });
    assert!(
        segments > 10_000 && pairs > 1_000,
        "{segments} segments, {pairs} pairs"
    );
}

/// Small functions on random graphs without structure, where paths cross most.
#[test]
fn random_graphs_live_as_the_rules_say() {
    testing::for_each_seed(0..6000, |u| {
        let blocks = u.int_in_range(1..=6)?;
        let mut lines = Vec::new();
        for _ in 0..blocks {
            let mut line = Vec::new();
            for _ in 0..u.int_in_range(0..=3)? {
                let words = [
                    "", "a", "=a", "~a", "^a", "B", "=B", "~B", "a =B a>B", "B =a B>a",
                ];
                line.push(*u.choose(&words)?);
            }
            let mut line = line.join(";");
            line.push_str("->");
            for _ in 0..u.int_in_range(0..=2)? {
                line.push_str(&format!(" {}", u.int_in_range(0..=blocks - 1)?));
            }
            lines.push(line);
        }
        let f = parse(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        oracle::compare(&f, &liveness(&f));
        Ok(())
    });
}

/// Not a measurement: with work per block *and* root this would not end in anybody's patience.
#[test]
fn short_lives_in_a_long_function_cost_what_they_touch() {
    const BLOCKS: usize = 100_000;
    let mut f = Function::new("chain");
    f.reserve(2 * BLOCKS, 2 * BLOCKS);
    let locs: Vec<MemLocId> = (0..2 * BLOCKS)
        .map(|_| f.add_memloc(&bytes("")).unwrap())
        .collect();
    for b in 0..BLOCKS {
        let (whole, sliced) = (locs[2 * b], locs[2 * b + 1]);
        f.add_block("");
        run(&mut f, &[], &[whole.into(), slice(sliced, 0)]);
        if b > 0 {
            // Used in the next block, with another partial def before the use.
            let (whole, sliced) = (locs[2 * b - 2], locs[2 * b - 1]);
            run(
                &mut f,
                &[whole.into(), sliced.into()],
                &[slice(sliced, HALF)],
            );
        }
    }
    for b in 1..BLOCKS {
        f.set_successors(BlockId::new(b - 1), &[BlockId::new(b)])
            .unwrap();
    }
    let got = liveness(&f);
    assert_eq!(got.lives.all().len(), 2 * BLOCKS);
    assert_eq!(got.warnings, []);
}
