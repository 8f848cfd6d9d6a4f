//! What dramalloc is measured against: planners of our own, after published descriptions.
//!
//! Each takes buffers and returns one offset per buffer. They are written to be fair, not to lose:
//! none does work that its description does not ask for.

mod free_list;
mod neighbours;
mod time_order;

pub use free_list::free_list;
pub use neighbours::{neighbour_best_fit, neighbour_best_of_six};
pub use time_order::first_fit_all_pairs;
