//! Which values of XLA's heap are one buffer.
//!
//! XLA places buffers, and a buffer may hold several values: what a loop carries is one buffer in all
//! iterations, and an update in place writes into the buffer that it reads. The dump lists values
//! alone, so the buffers are found again. Two values at one offset, of one size, are one buffer if
//!
//! * they share a position: without phis, a value stands wherever it flows;
//! * one is a phi, and the other stands at the same place of some tuple: the phi's inputs do;
//! * one ends when the other begins: an instruction writes into the operand that it reads last.
//!
//! The second rule may unite more than is needed (two loops with a state of the same shape), which
//! costs some freedom and is never wrong: XLA has both at one offset. The third unites no two values
//! that meet for longer, so that a mistake of XLA's is not explained away; the verifier finds it.

use std::collections::BTreeMap;

use super::text::{Dump, Kind};
use crate::Result;
use crate::format::json::document_error;
use crate::sorting::CompactSort as _;

/// A buffer of the heap.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// Positions in the dump's values, by first time.
    pub(super) values: Vec<usize>,
    pub(super) allocation: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// When its bytes are taken: closed runs of times, ascending, no two of which meet.
    pub(super) lives: Vec<(u64, u64)>,
}

/// The life of each value that has one.
pub(super) type Ranges = Vec<Option<(u64, u64)>>;

/// The life of each value. An error names a life whose value no allocation holds: the text is cut.
pub(super) fn ranges(dump: &Dump<'_>) -> Result<Ranges> {
    let named = dump.values.iter().enumerate();
    let mut values: BTreeMap<&str, usize> = BTreeMap::new();
    values.extend(named.map(|(i, v)| (v.name.as_ref(), i)));
    let mut ranges = vec![None; dump.values.len()];
    for range in &dump.ranges {
        let Some(&value) = values.get(range.name.as_ref()) else {
            return Err(document_error(format!(
                "{}: no allocation holds {}: a part of the dump is missing",
                range.line, range.name
            )));
        };
        ranges[value] = Some((range.first, range.last));
    }
    Ok(ranges)
}

/// The buffers of the heap, by allocation and offset.
pub(super) fn buffers(dump: &Dump<'_>, ranges: &Ranges) -> Vec<Buffer> {
    let mut sets = Sets::new(dump.values.len());
    unite_positions(dump, &mut sets);
    unite_in_place(dump, ranges, &mut sets);
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for i in heap_values(dump) {
        members.entry(sets.find(i)).or_default().push(i);
    }
    let mut buffers: Vec<Buffer> = Vec::new();
    for mut values in members.into_values() {
        values.sort_compact_by(|&i, &j| (ranges[i], i).cmp(&(ranges[j], j)));
        let value = &dump.values[values[0]];
        let mut lives: Vec<(u64, u64)> = Vec::new();
        for (first, last) in values.iter().filter_map(|&i| ranges[i]) {
            match lives.last_mut() {
                Some(run) if first <= run.1 => run.1 = run.1.max(last),
                _ => lives.push((first, last)),
            }
        }
        buffers.push(Buffer {
            allocation: value.allocation,
            offset: value.offset,
            size: value.size,
            values,
            lives,
        });
    }
    let place = |b: &Buffer| (b.allocation, b.offset, b.values[0]);
    buffers.sort_compact_by(|a, b| place(a).cmp(&place(b)));
    buffers
}

fn heap_values(dump: &Dump<'_>) -> impl Iterator<Item = usize> {
    let values = dump.values.iter().enumerate();
    let in_heap =
        |v: &super::text::Value<'_>| dump.allocations[v.allocation].kind == Kind::Temporary;
    values.filter(move |(_, v)| in_heap(v)).map(|(i, _)| i)
}

/// Where a value lies; only values of one slot can be one buffer.
type Slot = (usize, u64, u64);

fn slot(dump: &Dump<'_>, value: usize) -> Slot {
    let value = &dump.values[value];
    (value.allocation, value.offset, value.size)
}

/// The place in a tuple: `{0}` of `while.6{0}`.
fn index(name: &str) -> &str {
    name.rfind('{').map_or("", |at| &name[at..])
}

fn unite_positions(dump: &Dump<'_>, sets: &mut Sets) {
    let named = dump.used.iter().map(|used| (used.name.as_ref(), used));
    let mut used: BTreeMap<&str, &super::text::Used<'_>> = BTreeMap::new();
    used.extend(named);
    let mut at_position: BTreeMap<(Slot, &str), usize> = BTreeMap::new();
    let mut at_index: BTreeMap<(Slot, &str), Vec<usize>> = BTreeMap::new();
    for i in heap_values(dump) {
        let name = dump.values[i].name.as_ref();
        // Its own name is a position, whether the section is there or not.
        let others = used.get(name).into_iter().flat_map(|used| &used.positions);
        for position in std::iter::once(name).chain(others.map(AsRef::as_ref)) {
            let first = *at_position.entry((slot(dump, i), position)).or_insert(i);
            sets.unite(first, i);
            at_index
                .entry((slot(dump, i), index(position)))
                .or_default()
                .push(i);
        }
    }
    for values in at_index.values() {
        if values.iter().any(|&i| dump.values[i].phi) {
            values.iter().for_each(|&i| sets.unite(values[0], i));
        }
    }
}

fn unite_in_place(dump: &Dump<'_>, ranges: &Ranges, sets: &mut Sets) {
    let mut ending: BTreeMap<(Slot, u64), Vec<usize>> = BTreeMap::new();
    for i in heap_values(dump) {
        if let Some((first, last)) = ranges[i]
            && first < last
        {
            ending.entry((slot(dump, i), last)).or_default().push(i);
        }
    }
    for i in heap_values(dump) {
        let Some((first, _)) = ranges[i] else {
            continue;
        };
        for &other in ending.get(&(slot(dump, i), first)).into_iter().flatten() {
            sets.unite(other, i);
        }
    }
}

/// Disjoint sets of positions.
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn new(count: usize) -> Sets {
        Sets {
            parent: (0..count).collect(),
        }
    }

    fn find(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]]; // Halves the way for the next one.
            i = self.parent[i];
        }
        i
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
