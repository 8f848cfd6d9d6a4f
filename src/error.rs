//! What a caller can do wrong, where, and the status it becomes.
//!
//! An error is a fault and a place. The fault has fields, not sentences; `Display` writes the
//! sentence. Mistakes of our own are panics, which the C border turns into `INTERNAL`.

use std::fmt;

use crate::pipeline::Pass;
use crate::place::NoRoom;
use crate::report::HbmUsage;

/// The result of everything that a caller can get wrong.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in the program it went wrong; what is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The core of the module.
    pub core: Option<u32>,
    /// The function's name.
    pub function: Option<String>,
    /// The memory location's name.
    pub location: Option<String>,
    /// The instruction's flat index.
    pub instruction: Option<u32>,
    /// The pass of the pipeline.
    pub pass: Option<Pass>,
    /// The other side, where two locations do not agree; the sentence names it. // M5
    pub other: Option<Box<Place>>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part = |f: &mut fmt::Formatter<'_>, what: &str, which: &dyn fmt::Display| {
            let written = write!(f, "{separator}{what} {which}");
            separator = ", ";
            written
        };
        if let Some(pass) = &self.pass {
            part(f, "pass", pass)?;
        }
        if let Some(core) = &self.core {
            part(f, "core", core)?;
        }
        if let Some(function) = &self.function {
            part(f, "function", function)?;
        }
        if let Some(location) = &self.location {
            part(f, "location", location)?;
        }
        if let Some(instruction) = &self.instruction {
            part(f, "instruction", instruction)?;
        }
        Ok(())
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An argument is outside its documented domain.
    InvalidArgument {
        /// The argument's name.
        parameter: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A name that nothing has.
    UnknownName {
        /// What was looked for: `location`, `function`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A number that nothing has.
    UnknownIndex {
        /// What was looked for.
        what: &'static str,
        /// The number.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// A core that has a module already.
    DuplicateCore {
        /// The core.
        core: u32,
        /// The name of its module.
        module: String,
    },
    /// A name that something else has already.
    DuplicateName {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The size is not known at compile time. // L10
    UnknownSize,
    /// A product or sum does not fit in 64 bits. // L10
    Overflow {
        /// The computation, with its numbers.
        what: String,
    },
    /// Bytes past the end of what they are part of. // L9
    PastTheEnd {
        /// The first byte.
        offset: u64,
        /// One past the last byte; wide, for it may not fit.
        end: u128,
        /// What has too few bytes.
        of: String,
        /// How many it has.
        bytes: u64,
    },
    /// Two pinned locations share bytes while both are live.
    PinsOverlap {
        /// The first byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// The other location's name.
        other: String,
        /// Its first byte.
        other_start: u64,
        /// One past its last byte.
        other_end: u64,
    },
    /// A life whose end is before its start.
    Inverted {
        /// The start.
        lower: i64,
        /// The end.
        upper: i64,
    },
    /// A use may read bytes that no def has written; strict mode only. // L5
    UninitializedUse,
    /// A file or text is not what it should be; the sentence has the line or the path.
    Document(String),
    /// No address exists within the capacity. // P9
    NoRoom(Box<NoRoom>),
    /// A core needs more memory than it has. // G2
    OverBudget(Box<HbmUsage>),
    /// What was decided breaks a rule; the verifier's sentence. Nothing was stored.
    Violation(String),
    /// The capability exists in the contract but not yet in this version.
    Unimplemented(&'static str),
    /// The order of calls is wrong.
    FailedPrecondition(String),
    /// The host's cancel flag was seen before any placement was found.
    Cancelled,
    /// The budget ran out before any placement was found.
    DeadlineExceeded,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::InvalidArgument { parameter, reason } => write!(f, "{parameter}: {reason}"),
            Fault::UnknownName { what, name } => write!(f, "there is no {what} named {name:?}"),
            Fault::UnknownIndex { what, index, count } => {
                write!(f, "there is no {what} {index}, only {count}")
            }
            Fault::DuplicateCore { core, module } => {
                write!(f, "core {core} has a module already, {module:?}")
            }
            Fault::DuplicateName { what, name } => {
                write!(f, "there already is a {what} named {name:?}")
            }
            Fault::UnknownSize => {
                f.write_str("its size is unknown; a static plan needs every size")
            }
            Fault::Overflow { what } => write!(f, "{what} overflows 64 bits"),
            Fault::PastTheEnd {
                offset,
                end,
                of,
                bytes,
            } => write!(
                f,
                "bytes {offset} to {end} lie past the end of {of}, which has {bytes} bytes"
            ),
            Fault::PinsOverlap {
                start,
                end,
                other,
                other_start,
                other_end,
            } => write!(
                f,
                "it is pinned at {start} to {end} while {other} holds {other_start} to {other_end} \
                 at the same time"
            ),
            Fault::Inverted { lower, upper } => {
                write!(f, "its life ends at {upper}, before it starts at {lower}")
            }
            Fault::UninitializedUse => {
                f.write_str("a use may read it before any def has written it")
            }
            Fault::NoRoom(no_room) => no_room.fmt(f),
            Fault::OverBudget(usage) => usage.fmt(f),
            Fault::Document(sentence)
            | Fault::Violation(sentence)
            | Fault::FailedPrecondition(sentence) => f.write_str(sentence),
            Fault::Unimplemented(what) => write!(f, "{what} is not supported in this version"),
            Fault::Cancelled => f.write_str("cancelled before there was a result"),
            Fault::DeadlineExceeded => {
                f.write_str("the budget ran out before a placement was found")
            }
        }
    }
}

impl std::error::Error for Fault {}

/// A fault and its place.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub fault: Fault,
    /// Where; boxed, so that a `Result` stays small.
    pub place: Box<Place>,
}

impl Error {
    /// An argument outside its domain.
    pub fn invalid(parameter: &'static str, reason: impl Into<String>) -> Error {
        Fault::InvalidArgument {
            parameter,
            reason: reason.into(),
        }
        .into()
    }

    /// Adds the pass, unless one is known already.
    pub fn in_pass(mut self, pass: Pass) -> Error {
        self.place.pass.get_or_insert(pass);
        self
    }

    /// Adds the core, unless one is known already.
    pub fn on_core(mut self, core: u32) -> Error {
        self.place.core.get_or_insert(core);
        self
    }

    /// Adds the function, unless one is known already.
    pub fn in_function(mut self, name: &str) -> Error {
        self.place.function.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the location, unless one is known already.
    pub fn at_location(mut self, name: &str) -> Error {
        self.place.location.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the place of the other side.
    pub fn beside(mut self, other: Place) -> Error {
        self.place.other.get_or_insert_with(|| Box::new(other));
        self
    }

    /// Adds the instruction, unless one is known already.
    pub fn at_instruction(mut self, index: u32) -> Error {
        self.place.instruction.get_or_insert(index);
        self
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error {
            fault,
            place: Box::default(),
        }
    }
}

/// The sentence: what a broken promise shows. A form of its own, with all that an error can hold,
/// would be in the library for that alone.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self.place != Place::default() {
            write!(f, "{}: ", self.place)?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for Error {}
