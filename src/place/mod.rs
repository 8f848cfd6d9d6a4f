//! From lives to addresses. // P

mod no_room;
mod problem;
mod search;

pub use no_room::{Holder, NAMED_HOLDERS, NoRoom};
pub use problem::{InPlacePair, Item, PAGE, Pin, Problem, Region};
pub use search::{Placement, Solved, Unsolved, solve};
