//! How much of a hint a placement keeps.

use std::fmt;

use super::Problem;

/// How much of a hint has been kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Hinted items that lie where the hint says.
    pub kept: u64,
    /// Their bytes as placed.
    pub kept_bytes: u64,
    /// Hinted items that lie elsewhere.
    pub moved: u64,
    /// Their bytes as placed.
    pub moved_bytes: u64,
}

impl Kept {
    /// How a placement compares to the hint of its problem.
    pub fn of(problem: &Problem, offsets: &[u64]) -> Kept {
        let mut kept = Kept::default();
        let hinted = problem.hint.starts.iter().zip(&problem.items).zip(offsets);
        for ((hint, item), offset) in hinted {
            let Some(hint) = hint else { continue };
            let (count, bytes) = if hint == offset {
                (&mut kept.kept, &mut kept.kept_bytes)
            } else {
                (&mut kept.moved, &mut kept.moved_bytes)
            };
            *count += 1;
            *bytes = bytes.saturating_add(item.size);
        }
        kept
    }

    /// Adds what was kept elsewhere.
    pub fn add(&mut self, other: Kept) {
        self.kept += other.kept;
        self.kept_bytes = self.kept_bytes.saturating_add(other.kept_bytes);
        self.moved += other.moved;
        self.moved_bytes = self.moved_bytes.saturating_add(other.moved_bytes);
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kept {
            kept,
            kept_bytes,
            moved,
            moved_bytes,
        } = self;
        write!(f, "{kept} locations with {kept_bytes} bytes kept, ")?;
        write!(f, "{moved} with {moved_bytes} bytes moved")
    }
}
