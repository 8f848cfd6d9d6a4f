//! Every placement that is measured is also checked.

use std::collections::BTreeMap;

use crate::workloads::Buffer;

/// One past the highest byte, or the first two buffers found to share bytes while both are live.
pub fn peak(buffers: &[Buffer], offsets: &[u64]) -> Result<u64, String> {
    if buffers.len() != offsets.len() {
        return Err(format!(
            "{} offsets for {} buffers",
            offsets.len(),
            buffers.len()
        ));
    }
    let mut events: Vec<(u32, bool, usize)> = Vec::with_capacity(2 * buffers.len());
    for (i, b) in buffers.iter().enumerate() {
        events.push((b.lower, true, i));
        events.push((b.upper, false, i));
    }
    events.sort_unstable(); // Ends before starts: lives are half-open.
    let mut live: BTreeMap<u64, (u64, usize)> = BTreeMap::new(); // start -> (end, buffer)
    let mut peak = 0;
    for (_, born, i) in events {
        let start = offsets[i];
        let end = start + buffers[i].size;
        if !born {
            live.remove(&start);
            continue;
        }
        // What is live is disjoint, so only the last one that starts below `end` can be in the way.
        if let Some((_, &(other_end, other))) = live.range(..end).next_back()
            && other_end > start
        {
            return Err(format!("buffers {other} and {i} share bytes"));
        }
        live.insert(start, (end, i));
        peak = peak.max(end);
    }
    Ok(peak)
}
