//! The DRAM allocator of an accelerator compiler's back end.
//!
//! A compiler describes its program; this crate gives every DRAM location an address, proves the
//! result and explains it. Data flows through the modules in this order:
//!
//! ```text
//! ir             what a compiler tells us, validated once
//!   liveness     when each location's bytes are taken        (rules L)
//!   interval_tree  which segments overlap this one?          (rules I)
//!   order        who goes first                              (rules O)
//!   place        the lowest free bytes, and searches         (rules P, S)
//!   planner      the run over a module, and the plan it yields
//! depend         what has to wait for what                 (rules D)
//! plan           the result, as plain data
//!   verify       a proof that shares only `ir` and `plan`    (rules V)
//!   format       program and plan files, CSV                 (rules F)
//!   ffi          the C ABI                                   (rules C)
//! ```
//!
//! Rule numbers such as `L4` or `P5` name the rules of the project's contract; ARCHITECTURE.md
//! lists them.

#![deny(unsafe_code)]

#[cfg(test)]
mod catalogue_tests;
mod control;
pub mod depend;
pub mod described;
mod digits;
mod error;
mod ffi;
pub mod format;
pub mod interval_tree;
pub mod ir;
mod labels;
pub mod liveness;
mod options;
pub mod order;
mod ordered_map;
mod pace;
pub mod pipeline;
mod place;
mod plan;
mod planner;
mod raw;
pub mod report;
pub mod shared;
mod sorting;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod verify;

pub use control::{Control, Progress};
pub use error::{Error, Fault, Place, Result};
pub use labels::Labels;
pub use options::{Floor, Geometry, Options, Preset, SpaceRegion, Strategy};
pub use place::{
    Hint, Holder, InPlacePair, Infeasible, Item, Kept, Member, NAMED_HOLDERS, Named, NoRoom, PAGE,
    Pin, Placement, Problem, Region, Solved, Unsolved, load_profile, lower_bound, place_in_order,
    solve,
};
pub use plan::{
    CollectivePlan, Dependence, DependenceKind, FunctionPlan, FunctionSpace, MemLocPlan,
    ModulePlan, Owner, Plan, Site, SpacePlan, Status, Straddler,
};
pub use planner::{
    Rotation, apply, apply_module, apply_space, plan, plan_module, plan_space, plan_with_addresses,
};
pub use raw::{RawPlan, RawProblem, solve_raw};
