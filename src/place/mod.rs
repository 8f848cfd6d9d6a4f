//! From lives to addresses. // P

mod around;
mod bound;
mod eject;
mod exact;
mod first_fit;
mod improve;
mod in_order;
mod infeasible;
mod kept;
mod load;
mod meter;
#[cfg(test)]
mod naive;
mod no_room;
mod packing;
mod pins;
mod places;
mod prepared;
mod problem;
mod promising;
mod runtime_page;
mod search;
mod steps;
mod subsets;
#[cfg(test)]
pub(crate) mod testing;
mod tiles;
mod timeline;
mod unit;
mod unsolved;
mod warm;

pub(crate) use bound::bound_of_loads;
pub use bound::lower_bound;
pub(crate) use bound::lower_bound_unless;
pub use in_order::place_in_order;
pub use kept::Kept;
pub(crate) use load::heaviest_matching;
pub use load::load_profile;
pub use no_room::{Holder, Infeasible, Member, NAMED_HOLDERS, Named, NoRoom};
pub(crate) use pins::overlapping_pins;
pub(crate) use prepared::Windows;
pub use problem::{Hint, InPlacePair, Item, PAGE, Pin, Problem, Region};
pub(crate) use problem::{admitted, straddles};
pub use search::{Placement, Solved, Unsolved, solve};
pub(crate) use timeline::{Run, Timeline};
