//! Colours for people with any eyes.
//!
//! The hues are those of Masataka Okabe and Kei Ito, *Color Universal Design* (2008), which stay
//! apart for every common kind of colour vision; each comes in three tints, so that neighbours of
//! one usage stay apart as well. The page gets them from here, so there is one list.

use super::scene::Change;
use crate::ir::Usage;

/// A hue in three tints, and what is legible on it.
pub(super) struct Fill {
    pub tints: [&'static str; 3],
    pub ink: &'static str,
}

pub(super) const DARK: &str = "#16202c";
const LIGHT: &str = "#ffffff";

const BLUE: Fill = fill(["#0072b2", "#2f8fc7", "#005f96"], LIGHT);
const ORANGE: Fill = fill(["#e69f00", "#f0b740", "#d08f00"], DARK);
const GREEN: Fill = fill(["#009e73", "#33b28f", "#008763"], LIGHT);
const PURPLE: Fill = fill(["#cc79a7", "#d996ba", "#b9678f"], DARK);
const SKY: Fill = fill(["#56b4e9", "#80c7ef", "#3fa0d6"], DARK);
const VERMILLION: Fill = fill(["#d55e00", "#e07d30", "#bb5200"], LIGHT);
const GREY: Fill = fill(["#9aa3ad", "#b1b8c0", "#87909a"], DARK);

const fn fill(tints: [&'static str; 3], ink: &'static str) -> Fill {
    Fill { tints, ink }
}

/// The colour of what bytes are for.
pub(super) fn usage(usage: Usage) -> &'static Fill {
    match usage {
        Usage::Internal => &BLUE,
        Usage::Collective => &ORANGE,
        Usage::Input => &GREEN,
        Usage::Output => &PURPLE,
        Usage::Weight => &SKY,
        Usage::Constant => &GREY,
    }
}

impl Change {
    pub const ALL: [Change; 6] = [
        Change::Same,
        Change::Moved,
        Change::Grown,
        Change::Shrunk,
        Change::New,
        Change::Gone,
    ];

    /// The words of legends.
    pub fn name(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Moved => "moved",
            Change::Grown => "grown",
            Change::Shrunk => "shrunk",
            Change::New => "new",
            Change::Gone => "gone",
        }
    }

    /// What did not change stays in the background.
    pub fn fill(self) -> &'static Fill {
        match self {
            Change::Same => &GREY,
            Change::Moved => &BLUE,
            Change::Grown => &VERMILLION,
            Change::Shrunk => &SKY,
            Change::New => &GREEN,
            Change::Gone => &PURPLE,
        }
    }
}
