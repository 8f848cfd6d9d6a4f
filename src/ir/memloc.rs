//! Memory locations: what has bytes, where it may live, who owns its address. // T

use std::fmt;

use super::ids::MemLocId;

macro_rules! closed_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $code),+
        }

        impl $name {
            /// Every value, in the order of its number.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The word used in files and messages.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The value with this word.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)+ _ => None }
            }

            /// The value with this number in the C ABI.
            pub fn from_code(code: u32) -> Option<$name> {
                match code { $($code => Some($name::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use closed_set;

closed_set! {
    /// The kind of memory a location lives in. Only `dram` is placed.
    MemoryType {
        /// Device memory.
        #[default]
        Dram = 0 "dram",
        /// The on-chip state buffer.
        Sbuf = 1 "sbuf",
        /// The on-chip accumulation buffer.
        Psum = 2 "psum",
        /// Registers.
        Reg = 3 "reg",
    }
}

closed_set! {
    /// Which address space of device memory.
    Space {
        /// Private to a core.
        #[default]
        Local = 0 "local",
        /// One copy for all cores.
        Shared = 1 "shared",
        /// Debug output.
        Debug = 2 "debug",
    }
}

closed_set! {
    /// What the bytes are for.
    Usage {
        /// A temporary; a candidate for placement.
        #[default]
        Internal = 0 "internal",
        /// Staging for a collective operation; a candidate for the collective region.
        Collective = 1 "collective",
        /// Handed in by the caller.
        Input = 2 "input",
        /// Handed back to the caller; live to every exit.
        Output = 3 "output",
        /// Parameters of the model.
        Weight = 4 "weight",
        /// Constants of the program.
        Constant = 5 "constant",
    }
}

/// A set of usages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UsageMask(pub u32);

impl UsageMask {
    /// The usages that are candidates unless the host says otherwise. // T
    pub const CANDIDATES: UsageMask =
        UsageMask(1 << Usage::Internal as u32 | 1 << Usage::Collective as u32);
    /// The usages whose values are there when a function begins: the host, or a caller, puts them.
    pub const FILLED: UsageMask = UsageMask(
        1 << Usage::Input as u32 | 1 << Usage::Weight as u32 | 1 << Usage::Constant as u32,
    );
    /// Every usage there is.
    pub const ALL: UsageMask = UsageMask(0x3f);

    /// Whether `usage` is in the set.
    pub fn contains(self, usage: Usage) -> bool {
        self.0 & (1 << usage as u32) != 0
    }
}

impl Default for UsageMask {
    fn default() -> UsageMask {
        UsageMask::CANDIDATES
    }
}

/// The root whose storage a view names, and where in it the view starts. // L9
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// What `alias_of` named: a root or another view.
    pub parent: MemLocId,
    /// Bytes from the start of `parent`.
    pub offset: u64,
    /// The end of the chain: never a view.
    pub root: MemLocId,
    /// Bytes from the start of `root`.
    pub root_offset: u64,
}

/// How the host declared a size; kept so that a program is written as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A number of bytes.
    Bytes(u64),
    /// Elements times bytes each.
    Elements {
        /// How many elements.
        count: u64,
        /// Bytes of one element.
        size: u32,
    },
    /// A view to the end of what it names.
    Rest,
}

/// Another core's location in the same-named function. // M5
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The other core.
    pub core: u32,
    /// The location's name there.
    pub name: String,
}

/// Where in a banked memory a location lies: the first partition that it takes, and the bank. The
/// allocator does not choose it and carries it along: members of a group have their owner's. // M5
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bank {
    /// The first partition.
    pub partition: u32,
    /// The bank.
    pub bank: u32,
}

/// What a host says of a new location. `..Default::default()` fills what it does not say.
#[derive(Clone, Debug, Default)]
pub struct MemLocSpec<'a> {
    /// Unique in its function. Empty: unnamed, known by id and `cookie` only.
    pub name: &'a str,
    /// `None` is an unknown size, which is refused for anything but a view. // L10
    pub extent: Option<Extent>,
    /// Where it lives.
    pub memory: MemoryType,
    /// Which space of device memory.
    pub space: Space,
    /// What it is for.
    pub usage: Usage,
    /// A power of two; `None` is the default of the mode. // P2, P3
    pub align: Option<u64>,
    /// A pin: the host's own address, in bytes.
    pub address: Option<u64>,
    /// A view of an earlier location, `(parent, offset in bytes)`.
    pub view: Option<(MemLocId, u64)>,
    /// Live to every exit. // L6
    pub escapes: bool,
    /// The core and name of the owner's location, for a follower.
    pub remote: Option<(u32, &'a str)>,
    /// The cores that reach it; empty means not said.
    pub reach: &'a [u32],
    /// Its partition and bank.
    pub bank: Bank,
    /// Anything the host wants to find again.
    pub cookie: Option<u64>,
}

/// Why a candidate has no address. // P10
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Skipped {
    /// No def and no use. // L4
    Unreferenced,
    /// Not a candidate, and without a pin.
    CallerOwned,
    /// Lives in another memory.
    NotDram,
    /// The group's only user is another core. // M1
    FollowerUnused,
}

impl Skipped {
    /// The word used in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Skipped::Unreferenced => "unreferenced",
            Skipped::CallerOwned => "caller_owned",
            Skipped::NotDram => "not_dram",
            Skipped::FollowerUnused => "follower_unused",
        }
    }

    /// The value with this word.
    pub fn from_name(name: &str) -> Option<Skipped> {
        [
            Self::Unreferenced,
            Self::CallerOwned,
            Self::NotDram,
            Self::FollowerUnused,
        ]
        .into_iter()
        .find(|s| s.name() == name)
    }
}

/// A memory location, as declared and as placed.
///
/// Small: a program has millions. What few locations have (links, sizes in elements) lies aside in
/// the function, and so do names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemLoc {
    /// Resolved size in bytes.
    pub bytes: u64,
    address: u64, // The pin, or what a run assigned; counts if `marks` says so.
    cookie: u64,  // Likewise.
    pub(super) view: Option<Box<View>>,
    /// Where it lives.
    pub memory: MemoryType,
    /// The declared space.
    pub space: Space,
    /// What it is for.
    pub usage: Usage,
    align: u8, // The logarithm, or `NO_ALIGN`.
    marks: u8, // Bits of `PIN` to `SHARED`.
    space_placed: Space,
    skipped: Option<Skipped>,
}

const _: () = assert!(size_of::<MemLoc>() == 40, "a program has millions");
const NO_ALIGN: u8 = 64;
const PIN: u8 = 1;
const COOKIE: u8 = 2;
const ESCAPES: u8 = 4;
/// A run has decided about it.
const PLACED: u8 = 8;
/// It has decided on an address.
const ADDRESSED: u8 = 16;
/// The shared run has. // M2
const SHARED: u8 = 32;

impl MemLoc {
    /// What a checked spec declares; `view` is settled later.
    pub(super) fn new(spec: &MemLocSpec<'_>, bytes: u64, view: Option<Box<View>>) -> MemLoc {
        MemLoc {
            bytes,
            address: spec.address.unwrap_or(0),
            cookie: spec.cookie.unwrap_or(0),
            view,
            memory: spec.memory,
            space: spec.space,
            usage: spec.usage,
            align: spec.align.map_or(NO_ALIGN, |align| align.ilog2() as u8),
            marks: bit(PIN, spec.address.is_some())
                | bit(COOKIE, spec.cookie.is_some())
                | bit(ESCAPES, spec.escapes),
            space_placed: Space::Local,
            skipped: None,
        }
    }

    /// The declared alignment.
    pub fn align(&self) -> Option<u64> {
        (self.align != NO_ALIGN).then(|| 1 << self.align)
    }

    /// The host's address.
    pub fn pin(&self) -> Option<u64> {
        self.is_marked(PIN).then_some(self.address)
    }

    /// The host's cookie.
    pub fn cookie(&self) -> Option<u64> {
        self.is_marked(COOKIE).then_some(self.cookie)
    }

    /// Whether it is live to every exit.
    pub fn escapes(&self) -> bool {
        self.is_marked(ESCAPES)
    }

    /// Set iff it is a view.
    pub fn view(&self) -> Option<View> {
        self.view.as_deref().copied()
    }

    /// Whether it is a view.
    pub fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// The address: the pin, or what a run assigned.
    pub fn address(&self) -> Option<u64> {
        self.is_marked(PIN | ADDRESSED).then_some(self.address)
    }

    /// What the last run decided, if one did.
    pub fn placed(&self) -> Option<Placed> {
        self.is_marked(PLACED).then_some(Placed {
            address: self.is_marked(ADDRESSED).then_some(self.address),
            space: self.space_placed,
            skipped: self.skipped,
            is_shared_post_dram_alloc: self.is_marked(SHARED),
        })
    }

    /// Writes what a run decided, or forgets it; only a `Function` does.
    ///
    /// # Panics
    ///
    /// If it is pinned and would move.
    pub(super) fn set_placed(&mut self, placed: Option<Placed>) {
        let pin = self.pin();
        let address = placed.and_then(|placed| placed.address);
        assert!(
            pin.is_none() || placed.is_none() || pin == address,
            "pins never move"
        );
        self.address = pin.or(address).unwrap_or(0);
        self.marks &= PIN | COOKIE | ESCAPES;
        self.marks |= bit(PLACED, placed.is_some())
            | bit(ADDRESSED, address.is_some())
            | bit(SHARED, placed.is_some_and(|p| p.is_shared_post_dram_alloc));
        self.space_placed = placed.map_or(Space::Local, |placed| placed.space);
        self.skipped = placed.and_then(|placed| placed.skipped);
    }

    fn is_marked(&self, any: u8) -> bool {
        self.marks & any != 0
    }

    /// Whether an allocator with this usage mask gives it an address. // T
    pub fn is_candidate(&self, candidates: UsageMask) -> bool {
        self.memory == MemoryType::Dram
            && !self.is_view()
            && self.pin().is_none()
            && candidates.contains(self.usage)
    }
}

/// A mark, if what it says is so.
#[inline]
fn bit(mark: u8, is_so: bool) -> u8 {
    if is_so { mark } else { 0 }
}

/// What an allocator run decided about a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The address in bytes, unless skipped.
    pub address: Option<u64>,
    /// The final space. // M1
    pub space: Space,
    /// Why there is no address.
    pub skipped: Option<Skipped>,
    /// Set by the shared run and by sync, and nowhere else. // M2
    pub is_shared_post_dram_alloc: bool,
}
