//! Which row a life is drawn in, so that no two of one row overlap.
//!
//! The first row that is free when the life begins: with lives in the order in which they begin, that
//! takes as many rows as there are lives at the fullest moment, which is the least (Gupta, Lee and
//! Leung, *An optimal solution for the channel-assignment problem*, 1979). `O(n log n)`.

use std::collections::BTreeMap;

use crate::format::timeline::Life;

/// The row of each life; they come by first time.
pub(super) fn rows(lives: &[Life]) -> Vec<u32> {
    let mut free: BTreeMap<u128, u32> = BTreeMap::new(); // Rows.
    let mut busy: BTreeMap<u128, u32> = BTreeMap::new(); // (last time, row), to the row.
    let mut count = 0;
    let mut rows = Vec::with_capacity(lives.len());
    for life in lives {
        while let Some(entry) = busy.first_entry()
            && (entry.key() >> 32) < u128::from(life.first)
        {
            let row = entry.remove();
            free.insert(row.into(), row);
        }
        let row = free.pop_first().map_or(count, |(_, row)| row);
        count = count.max(row + 1);
        busy.insert(u128::from(life.last) << 32 | u128::from(row), row);
        rows.push(row);
    }
    rows
}
