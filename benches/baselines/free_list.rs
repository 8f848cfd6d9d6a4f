//! A free list run over time: what a run-time allocator does.
//!
//! Buffers are allocated when they are born and freed when they die; a birth takes the smallest
//! free block that is large enough (best fit; Wilson et al., "Dynamic storage allocation: a survey
//! and critical review", 1995, 3.5), neighbouring free blocks merge, the heap grows at its top.
//! It never looks ahead. O(n log n).

use std::collections::{BTreeMap, BTreeSet};

use crate::workloads::Buffer;

/// Places buffers in order of time; at one time, deaths come first, then births as given.
pub fn free_list(buffers: &[Buffer]) -> Vec<u64> {
    let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(2 * buffers.len());
    for (i, b) in buffers.iter().enumerate() {
        events.push((b.lower, true, i as u32));
        events.push((b.upper, false, i as u32));
    }
    events.sort_unstable();
    let mut heap = Heap::default();
    let mut offsets = vec![0; buffers.len()];
    for (_, born, i) in events {
        let i = i as usize;
        if born {
            offsets[i] = heap.allocate(buffers[i].size);
        } else {
            heap.free(offsets[i], buffers[i].size);
        }
    }
    offsets
}

#[derive(Default)]
struct Heap {
    /// Everything at or above is free.
    top: u64,
    /// Free blocks below the top: start -> bytes; never adjacent, never touching the top.
    blocks: BTreeMap<u64, u64>,
    /// The same blocks as (bytes, start).
    by_size: BTreeSet<(u64, u64)>,
}

impl Heap {
    fn allocate(&mut self, size: u64) -> u64 {
        let found = self.by_size.range((size, 0)..).next().copied();
        let Some((bytes, start)) = found else {
            let start = self.top;
            self.top += size;
            return start;
        };
        self.remove(start, bytes);
        if bytes > size {
            self.insert(start + size, bytes - size);
        }
        start
    }

    fn free(&mut self, start: u64, size: u64) {
        let (mut start, mut end) = (start, start + size);
        if let Some((&before, &bytes)) = self.blocks.range(..start).next_back()
            && before + bytes == start
        {
            self.remove(before, bytes);
            start = before;
        }
        if let Some(&bytes) = self.blocks.get(&end) {
            self.remove(end, bytes);
            end += bytes;
        }
        if end == self.top {
            self.top = start;
        } else {
            self.insert(start, end - start);
        }
    }

    fn insert(&mut self, start: u64, bytes: u64) {
        self.blocks.insert(start, bytes);
        self.by_size.insert((bytes, start));
    }

    fn remove(&mut self, start: u64, bytes: u64) {
        self.blocks.remove(&start);
        self.by_size.remove(&(bytes, start));
    }
}
