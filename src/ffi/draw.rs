//! `dram_plan_draw`: what a plan looks like.

use std::ffi::c_void;

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::options::code;
use super::plan::dram_plan;
use super::program::dram_program;
use super::status::dram_status;
use super::structs::{self, Versioned};
use super::text::{Writer, dram_str, dram_write_fn};
use crate::error::{Error, Result};
use crate::ir::Space;
use crate::report::draw::{Format, Options, Picture, draw};

/// What a plan is drawn as.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_draw_format {
    /// One file that a browser shows without a network.
    Html = 0,
    /// A picture for documents.
    Svg = 1,
    /// A map for terminals, UTF-8.
    Ascii = 2,
}

/// How a plan is drawn. Zero is a page for a browser with everything in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_draw_options {
    /// `sizeof(dram_draw_options)`.
    pub struct_size: usize,
    /// What stands above the picture; empty: the program's name.
    pub title: dram_str,
    /// A second plan, drawn beside the first on the same scales, with what changed in colour; null: none.
    pub beside_plan: *const dram_plan,
    /// The program of the second plan; null: the same. Without a second plan it must be null.
    pub beside_program: *const dram_program,
    /// As `title`, of the second picture.
    pub beside_title: dram_str,
    /// A `dram_draw_format`.
    pub format: u32,
    /// Pixels across, or columns of a map, at most 20000; 0: as usual. A page fills its window.
    pub width: u32,
    /// Pixels down, or rows of each lane of a map, at most 20000; 0: as usual.
    pub height: u32,
    /// 1 + the one core that is drawn; 0: all.
    pub core: u32,
    /// 1 + the one `dram_space` that is drawn; 0: all.
    pub space: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: integers and pointers, without padding (asserted in `layout`); null pointers are valid.
unsafe impl Versioned for dram_draw_options {
    const FIRST_SIZE: usize = 80;
}

/// Draws a plan of a program: time to the right, addresses up, a rectangle for each location; the
/// same bytes for the same plan, wherever it is drawn.
///
/// `plan`: of the program as it is now, verified or not; of another program is
/// `DRAM_STATUS_FAILED_PRECONDITION`. What is not drawn (views, what has no address, other memories)
/// is counted in the picture. `options` may be null. `write`, `user`: receives the text in pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_plan_draw(
    program: *const dram_program,
    plan: *const dram_plan,
    options: *const dram_draw_options,
    write: dram_write_fn,
    user: *mut c_void,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let first = call.get(program, "program")?.snapshot();
        let plan = call.get(plan, "plan")?;
        plan.plan.check_is_of(&first)?;
        let asked = if options.is_null() {
            None
        } else {
            // SAFETY: as this function's parameter says.
            Some(unsafe { structs::read(options, "options")? })
        };
        // SAFETY: as this function's parameters say.
        let writer = unsafe { Writer::new(write, user)? };
        let Some(asked) = asked else {
            let picture = Picture {
                title: "",
                program: &first,
                plan: &plan.plan,
            };
            let html = Format::Html;
            return writer.document(|sink| draw(html, &[picture], &Options::default(), sink));
        };
        let (format, options) = read(&asked)?;
        // SAFETY: as this function's parameter says.
        let titles = unsafe {
            [
                asked.title.read("title")?,
                asked.beside_title.read("beside_title")?,
            ]
        };
        let picture = Picture {
            title: titles[0],
            program: &first,
            plan: &plan.plan,
        };
        if asked.beside_plan.is_null() {
            if !asked.beside_program.is_null() {
                return Err(Error::invalid("beside_program", "has no plan beside it"));
            }
            return writer.document(|sink| draw(format, &[picture], &options, sink));
        }
        let other = match asked.beside_program.is_null() {
            true => None,
            false => Some(call.get(asked.beside_program, "beside_program")?.snapshot()),
        };
        let beside = call.get(asked.beside_plan, "beside_plan")?;
        let second = other.as_ref().unwrap_or(&first);
        beside.plan.check_is_of(second)?;
        let beside = Picture {
            title: titles[1],
            program: second,
            plan: &beside.plan,
        };
        writer.document(|sink| draw(format, &[picture, beside], &options, sink))
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The format and the options that a struct asks for.
fn read(asked: &dram_draw_options) -> Result<(Format, Options)> {
    if asked.reserved != 0 {
        return Err(Error::invalid("options.reserved", "is not 0"));
    }
    let space = asked.space.checked_sub(1);
    let options = Options {
        width: asked.width,
        height: asked.height,
        core: asked.core.checked_sub(1),
        space: match space {
            None => None,
            Some(space) => Some(code("options.space", space, Space::from_code)?),
        },
    };
    options.validate()?;
    Ok((
        code("options.format", asked.format, Format::from_code)?,
        options,
    ))
}
