//! From lives to addresses. // P

mod bound;
mod engine;
#[allow(dead_code, reason = "the dispatcher of strategies is to call it")]
mod exact;
mod first_fit;
#[allow(dead_code, reason = "the dispatcher of strategies is to call it")]
mod improve;
mod load;
mod meter;
#[cfg(test)]
mod naive;
mod no_room;
mod packing;
mod prepared;
mod problem;
mod search;
#[allow(dead_code, reason = "the dispatcher of strategies is to call it")]
mod steps;
#[cfg(test)]
pub(crate) mod testing;
mod timeline;

pub use bound::lower_bound;
pub use load::load_profile;
pub(crate) use load::peak_index;
pub use no_room::{Holder, NAMED_HOLDERS, Named, NoRoom, no_room};
pub use problem::{InPlacePair, Item, PAGE, Pin, Problem, Region};
pub use search::{Placement, Solved, Unsolved, solve};
pub(crate) use timeline::{Run, Timeline};
