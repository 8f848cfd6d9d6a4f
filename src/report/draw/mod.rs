//! What does a plan look like?
//!
//! Time runs to the right, addresses run up, and a location is a rectangle: as wide as its life, as
//! high as its bytes. One lane for each core and space; two pictures stand lane by lane above each
//! other, on the same scales, and what differs is coloured.
//!
//! ```text
//! scene     programs and plans become lanes of boxes; nothing about looks
//!   palette   the colours of every picture, for people with any eyes
//!   units     bytes and coordinates as short text
//!   html      one file to look at in a browser, from what is in `page/`
//!   svg       a picture for a document; `mosaic` bounds its size
//!   ascii     a map for a terminal
//! ```
//!
//! All of them cost about as much as reading the plan.

mod ascii;
mod html;
mod mosaic;
mod palette;
mod scene;
mod svg;
#[cfg(test)]
mod tests;
mod units;

use std::io::{self, Write};

use crate::error::{Error, Result};
use crate::ir::{Program, Space, closed_set};
use crate::plan::Plan;
use scene::Scene;
use std::fmt;

closed_set! {
    /// How a plan is drawn.
    Format {
        /// One file that a browser shows without a network.
        #[default]
        Html = 0 "html",
        /// A picture for documents.
        Svg = 1 "svg",
        /// A map for terminals.
        Ascii = 2 "ascii",
    }
}

/// A plan and what it is a plan of.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// What stands above it; if empty, the program's name.
    pub title: &'a str,
    /// The program.
    pub program: &'a Program,
    /// Its plan.
    pub plan: &'a Plan,
}

/// How large, and how much of it. The default draws everything in the usual size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Pixels across, or columns; 0: as usual. A page fills its window, whatever this says.
    pub width: u32,
    /// Pixels down, or rows of each lane; 0: as usual.
    pub height: u32,
    /// The one core that is drawn.
    pub core: Option<u32>,
    /// The one space that is drawn.
    pub space: Option<Space>,
}

/// No picture is wider or higher: pixels of an SVG, columns and rows of a map.
const LARGEST: u32 = 20_000;

impl Options {
    /// Refuses what no picture could honour.
    pub fn validate(&self) -> Result<()> {
        for (parameter, size) in [("width", self.width), ("height", self.height)] {
            if size > LARGEST {
                let reason = format!("is at most {LARGEST}, not {size}");
                return Err(Error::invalid(parameter, reason));
            }
        }
        Ok(())
    }
}

/// Draws one plan, or two beside each other. Fails if `out` does.
///
/// # Panics
///
/// If there is no picture or more than two, or a plan is not of its program.
pub fn draw(
    format: Format,
    pictures: &[Picture<'_>],
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let scene = Scene::new(pictures, options);
    match format {
        Format::Html => html::write(&scene, out),
        Format::Svg => svg::write(&scene, options, out),
        Format::Ascii => ascii::write(&scene, options, out),
    }
}

/// As [`draw`], a page for a browser.
pub fn html(pictures: &[Picture<'_>], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    draw(Format::Html, pictures, options, out)
}

/// As [`draw`], a picture for documents.
pub fn svg(pictures: &[Picture<'_>], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    draw(Format::Svg, pictures, options, out)
}

/// As [`draw`], a map for terminals.
pub fn ascii(pictures: &[Picture<'_>], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    draw(Format::Ascii, pictures, options, out)
}
