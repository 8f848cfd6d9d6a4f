//! The accesses of a function, by root instead of by instruction.

use super::Binding;
use super::storage::Storage;
use crate::control::Stop;
use crate::ir::{FlatIndex, Function, MemLocId};
use crate::pace::Pace;

/// What one instruction does to one root, all its operands and views together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    /// The instruction.
    pub index: u32,
    flags: u8,
}

impl Touch {
    const USE: u8 = 1;
    const DEF: u8 = 2;
    const FULL: u8 = 4;
    const MANY: u8 = 8;

    /// It reads some of the bytes.
    pub fn is_use(self) -> bool {
        self.flags & Touch::USE != 0
    }

    /// It writes some of the bytes.
    pub fn is_def(self) -> bool {
        self.flags & Touch::DEF != 0
    }

    /// One of its operands writes all the bytes. // L4
    pub fn is_full(self) -> bool {
        self.flags & Touch::FULL != 0
    }

    /// Exactly one operand of the instruction is in this root.
    pub fn is_single(self) -> bool {
        self.flags & Touch::MANY == 0
    }
}

/// Compressed rows: root `i` is touched by `touches[starts[i]..ends[i]]`, ascending.
///
/// A row may be followed by slack, where an instruction has several operands in one root.
pub(super) struct Accesses {
    starts: Vec<u32>,
    ends: Vec<u32>,
    touches: Vec<Touch>,
}

impl Accesses {
    /// Two passes over the operands and bindings: count, then fill. The bindings ascend by index.
    pub fn unless(
        function: &Function,
        bindings: &[Binding],
        storage: &Storage<'_>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Accesses, Stop> {
        let indices = || (0..function.instructions().len()).map(FlatIndex::new);
        let mut starts = vec![0_u32; function.memlocs().len()];
        for index in indices() {
            let (uses, defs) = (function.uses(index), function.defs(index));
            pace.work(1 + uses.len() + defs.len())?;
            for access in uses.iter().chain(defs) {
                starts[storage.root(access.loc).index()] += 1;
            }
        }
        for binding in bindings {
            starts[storage.root(binding.loc).index()] += 1;
        }
        let mut total = 0; // Fits: a function holds fewer than 2^32 operands.
        pace.work(starts.len() / 4)?;
        for start in &mut starts {
            let count = *start;
            *start = total;
            total += count;
        }
        let empty = Touch { index: 0, flags: 0 };
        let mut accesses = Accesses {
            ends: starts.clone(),
            starts,
            touches: vec![empty; total as usize],
        };
        let mut bindings = bindings.iter().peekable();
        for index in indices() {
            let (uses, defs) = (function.uses(index), function.defs(index));
            pace.work(1 + uses.len() + defs.len())?;
            for access in uses {
                accesses.add(storage.root(access.loc), index, Touch::USE);
            }
            for access in defs {
                let full = if storage.covers_root(&access) {
                    Touch::FULL
                } else {
                    0
                };
                accesses.add(storage.root(access.loc), index, Touch::DEF | full);
            }
            while let Some(binding) = bindings.next_if(|binding| binding.index == index) {
                let flags = match storage.covers_root(&binding.access(function)) {
                    _ if !binding.is_def => Touch::USE,
                    true => Touch::DEF | Touch::FULL,
                    false => Touch::DEF,
                };
                accesses.add(storage.root(binding.loc), index, flags);
            }
        }
        Ok(accesses)
    }

    fn add(&mut self, root: MemLocId, index: FlatIndex, flags: u8) {
        let (start, end) = (self.starts[root.index()], &mut self.ends[root.index()]);
        if *end > start
            && let last = &mut self.touches[*end as usize - 1]
            && last.index == index.0
        {
            last.flags |= flags | Touch::MANY;
        } else {
            let index = index.0;
            self.touches[*end as usize] = Touch { index, flags };
            *end += 1;
        }
    }

    /// What touches a root, one entry per instruction, ascending; nothing for a view.
    pub fn of(&self, root: MemLocId) -> &[Touch] {
        let i = root.index();
        &self.touches[self.starts[i] as usize..self.ends[i] as usize]
    }

    /// What one instruction does to a root.
    pub fn at(&self, root: MemLocId, index: FlatIndex) -> Option<Touch> {
        let row = self.of(root);
        let i = row.binary_search_by_key(&index.0, |touch| touch.index);
        Some(row[i.ok()?])
    }
}
