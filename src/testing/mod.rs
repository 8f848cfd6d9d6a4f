//! Random programs that are valid, small, and likely to collide.
//!
//! One generator for every property test and fuzz target. It reads its choices from an
//! [`Unstructured`], so a fuzzer can steer it and a failing input can be made smaller; where the
//! bytes run out, it takes the simplest choice each time and ends. What it returns passes every
//! check of the model and keeps the rules that a plan presupposes: pins do not overlap, calls have
//! no cycle and bind every formal, members of a shared group agree, and every path through an entry
//! function passes the same barriers on every core. // L7, L9, M4, M5
//!
//! What it does not promise: uses may come before any def (likely not, but it happens), listed
//! in-place pairs may be ineligible, and cores may race within an epoch. A property has to hold
//! for these too.
//!
//! ```text
//! program   plans what the cores have in common: calls, barriers, shared groups
//!   function  for each core and function
//!     flow      blocks and edges, with the barriers in place
//!     memlocs   roots, views, pins
//!     code      instructions
//! properties  what has to hold of any input
//! ```

mod code;
mod flow;
mod function;
mod memlocs;
mod program;
pub mod properties;

#[cfg(test)]
mod tests;

use crate::ir::{Function, Program};
pub use arbitrary::{Result, Unstructured};

/// How large and how odd programs may be. Numbers are upper limits; each program draws its own.
///
/// `Shape::default()` has everything on one core. Switch off with struct update syntax:
/// `Shape { pins: false, ..Shape::default() }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Modules, one per core; at least 1.
    pub cores: u32,
    /// Functions per module; at least 1. Later ones are called by earlier ones, if `calls`.
    pub functions: u32,
    /// Blocks per function, about; at least 1.
    pub blocks: u32,
    /// Instructions per function, about, barriers and calls not counted.
    pub instructions: u32,
    /// Roots per function, formals, arguments and shared members not counted; at least 1.
    pub roots: u32,
    /// Pages of the largest location; at least 1.
    pub pages: u64,
    /// Engines; at least 1.
    pub engines: u32,
    /// Branches and loops that nest; without, one block after the other.
    pub branches: bool,
    /// Irreducible graphs, critical edges and blocks in any layout order; in functions without
    /// barriers also unreachable blocks, endless loops and several exits.
    pub tangles: bool,
    /// Views, and views of views.
    pub views: bool,
    /// Operands that name a part of a location.
    pub slices: bool,
    /// Sizes that are no whole number of pages, and 0.
    pub odd_sizes: bool,
    /// Declared alignments.
    pub alignments: bool,
    /// In-place pairs, most of them eligible.
    pub in_place: bool,
    /// Inputs, outputs, weights and constants; without, all roots are candidates.
    pub caller_data: bool,
    /// Locations that escape, candidates and views among them.
    pub escapes: bool,
    /// Addresses given by the host; no two overlap anywhere in the program.
    pub pins: bool,
    /// Collective locations and instructions.
    pub collectives: bool,
    /// Locations in the debug space.
    pub debug: bool,
    /// Locations in on-chip memories.
    pub on_chip: bool,
    /// Calls from earlier functions of a module to later ones.
    pub calls: bool,
    /// Barriers in the functions that nobody calls.
    pub barriers: bool,
    /// Locations in the shared space, of one core or of several.
    pub shared: bool,
    /// Shared groups held together by remote links instead of by name.
    pub links: bool,
    /// Members of a shared group that say which cores reach them. // M7
    pub reach: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            cores: 1,
            functions: 1,
            blocks: 8,
            instructions: 16,
            roots: 8,
            pages: 4,
            engines: 3,
            branches: true,
            tangles: true,
            views: true,
            slices: true,
            odd_sizes: true,
            alignments: true,
            in_place: true,
            caller_data: true,
            escapes: true,
            pins: true,
            collectives: true,
            debug: true,
            on_chip: true,
            calls: true,
            barriers: true,
            shared: true,
            links: true,
            reach: true,
        }
    }
}

impl Shape {
    /// One function of whole-page candidates, straight down: the raw problem.
    pub fn plain() -> Shape {
        Shape {
            branches: false,
            tangles: false,
            views: false,
            slices: false,
            odd_sizes: false,
            alignments: false,
            in_place: false,
            caller_data: false,
            escapes: false,
            pins: false,
            collectives: false,
            debug: false,
            on_chip: false,
            calls: false,
            barriers: false,
            shared: false,
            links: false,
            reach: false,
            ..Shape::default()
        }
    }

    /// Everything on one core, with calls.
    pub fn single_core() -> Shape {
        Shape {
            functions: 3,
            ..Shape::default()
        }
    }

    /// Everything on up to three cores.
    pub fn many_cores() -> Shape {
        Shape {
            cores: 3,
            functions: 2,
            instructions: 10,
            roots: 5,
            ..Shape::default()
        }
    }
}

/// A valid function that neither calls nor is called, for a program of one core.
pub fn function(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Function> {
    program::lone_function(u, shape)
}

/// A valid program.
pub fn program(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Program> {
    program::program(u, shape)
}

/// Runs a property on the random inputs of some seeds; a failure names its seed on stderr.
///
/// Unlike a search with a time budget, it does the same work on every machine. An input too short
/// for the property (an `Err`) counts as passed.
pub fn for_each_seed(
    seeds: std::ops::Range<u64>,
    mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>,
) {
    struct Named(u64);
    impl Drop for Named {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the property failed for seed {}", self.0);
            }
        }
    }
    for seed in seeds {
        let named = Named(seed);
        let bytes = random_bytes(seed);
        let _too_short = property(&mut Unstructured::new(&bytes));
        drop(named);
    }
}

/// Up to 4 KiB from a seed (SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom number
/// generators*, 2014); small seeds give short inputs too.
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let words = 8 << (next() % 7);
    (0..words).flat_map(|_| next().to_le_bytes()).collect()
}

/// True once in `of` times; never once the bytes have run out.
fn chance(u: &mut Unstructured<'_>, of: u32) -> Result<bool> {
    Ok(u.int_in_range(1..=of)? == of && of > 1)
}
