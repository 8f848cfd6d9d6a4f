//! What dramalloc is measured against: planners of our own, after published descriptions.
//!
//! Each takes buffers and returns one offset per buffer. They are written to be fair, not to lose:
//! none does work that its description does not ask for.

mod canonical;
mod free_list;
mod neighbours;
mod time_order;

pub use canonical::canonical_search;
pub use free_list::free_list;
pub use neighbours::{Fit, Order, best_of_six, by_size_best_fit, by_size_on_top, place};
pub use time_order::first_fit_all_pairs;
