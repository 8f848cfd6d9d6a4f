//! Instructions as they run: with the storages and addresses that their operands mean just then.

/// A value on some bytes: which execution wrote it, and where it began, so that a byte is told from
/// its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub token: u32,
    pub origin: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    /// Writes a value that nobody may read: what a callee will write, by reference. // L7
    Kill,
    Write,
}

/// Of a touch: no root of the function that runs has the bytes; their storage says whose they are.
pub(super) const FOREIGN: u32 = u32::MAX;

/// One access of one execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub does: Does,
    /// The root as the function calls it, or [`FOREIGN`].
    pub root: u32,
    pub storage: u32,
    /// Bytes of the storage.
    pub from: u64,
    pub to: u64,
    pub area: u32,
    /// Where byte `from` lies.
    pub address: u64,
    /// Nothing has written it since the function was entered, yet it has a value. // L6b
    pub given: bool,
    /// A read: its pieces, in the batch. A write: the token, twice.
    pub pieces: (u32, u32),
}

impl Touch {
    pub fn writes(&self) -> bool {
        self.does != Does::Read
    }

    /// One past the last address.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.to - self.from)
    }

    /// The address of byte 0 of the storage; it may lie below address 0.
    pub fn base(&self) -> u64 {
        self.address.wrapping_sub(self.from)
    }
}

/// What a read of addresses has to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub start: u64,
    pub end: u64,
    pub want: Want,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// What this execution wrote.
    Value(Value),
    /// Anything that was there before this token was used.
    Before(u32),
}

/// The engine of what all engines wait for.
pub(super) const FENCE: u32 = u32::MAX;

/// One execution of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub scope: u32,
    pub index: u32,
    /// By number on its core, or [`FENCE`].
    pub engine: u32,
    /// Its accesses: reads, then kills, then writes.
    pub touches: (u32, u32),
    /// The positions that it waits for.
    pub waits: (u32, u32),
    /// Some edge of the plan begins here.
    pub awaited: bool,
    pub role: Role,
}

/// What an execution stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Instruction,
    /// A copy of bytes onto themselves that is left out: it has a meaning, but never runs. // X3
    Elided,
    /// A function is entered: its own locations mean nothing yet.
    Enter,
    /// A function is left: what has to be there is read.
    Exit,
}

/// What one core runs until it meets the others, in program order.
#[derive(Default)]
pub(super) struct Batch {
    pub instances: Vec<Instance>,
    pub touches: Vec<Touch>,
    pub pieces: Vec<Piece>,
    pub waits: Vec<u32>,
}

impl Batch {
    pub fn clear(&mut self) {
        self.instances.clear();
        self.touches.clear();
        self.pieces.clear();
        self.waits.clear();
    }

    pub fn touches_of(&self, instance: &Instance) -> &[Touch] {
        &self.touches[instance.touches.0 as usize..instance.touches.1 as usize]
    }

    pub fn waits_of(&self, instance: &Instance) -> &[u32] {
        &self.waits[instance.waits.0 as usize..instance.waits.1 as usize]
    }
}
