//! What several cores share: groups, epochs, agreement. // M
//!
//! ```text
//! groups     which locations of different cores are one buffer
//! epochs     between which barriers each access lies
//! moments    when each instruction may run, whoever calls its function
//! timeline   one axis of epochs for all entry functions
//! split      one module becomes one per core
//! sync       every member gets its owner's address
//! digest     the fingerprint of what was agreed
//! ```

mod digest;
mod epochs;
mod groups;
mod moments;
mod split;
mod sync;
#[cfg(test)]
mod tests;
mod timeline;

pub use digest::{Agreed, digest};
pub use epochs::{BarrierPass, EpochRange, Epochs};
pub(crate) use groups::home;
pub use groups::{Fate, Group, Groups, Member, Predicate};
pub use split::lnc_split;
pub(crate) use split::lnc_split_unless;
pub(crate) use sync::nothing_placed;
pub use sync::{
    Agreement, SyncReport, agree, check_digests, core_digests, sync_shared_allocations,
};
pub(crate) use timeline::Timeline;
