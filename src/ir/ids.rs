//! The newtypes that keep indices, times and cores apart.
//!
//! Every index is a position in a `Vec` of its owner and is never reused or renumbered.

use std::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the owner's `Vec`.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of position `index`.
            ///
            /// # Panics
            ///
            /// If `index` does not fit in 32 bits; the model refuses to grow that far.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("the model holds fewer than 2^32 of anything"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index! {
    /// A memory location of one function.
    MemLocId
}
index! {
    /// A basic block of one function; block 0 is the entry.
    BlockId
}
index! {
    /// An instruction, which is also the time at which it runs: instructions are numbered from 0
    /// in layout order. // L1
    FlatIndex
}
index! {
    /// A string that a function has interned: opcodes, instruction names, callees.
    Symbol
}
