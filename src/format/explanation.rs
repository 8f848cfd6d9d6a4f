//! From an explanation to its document: `dramalloc-explanation`, version 1.
//!
//! It is written and never read; `schema/explanation.schema.json` says what is in it, and
//! `docs/reports.md` what that means.

use std::io::{self, Write};

use super::json::JsonOut;
use super::plan::{write_segment, write_straddler};
use crate::report::explain::{
    Chain, Explanation, Moment, Occupant, RuntimePage, Saving, SpaceExplanation, Step,
};

/// Writes an explanation, one location per line. Fails if `out` does.
pub fn write_explanation(explanation: &Explanation, out: impl Write) -> io::Result<()> {
    let mut out = JsonOut::new(out);
    out.object(|out| {
        out.string_pair("format", "dramalloc-explanation")?;
        out.number_pair("version", 1)?;
        out.string_pair("program", &explanation.program)?;
        out.string_pair("strategy", explanation.strategy.name())?;
        out.string_pair("status", explanation.status.name())?;
        out.number_pair("peak", explanation.peak)?;
        out.number_pair("lower_bound", explanation.lower_bound)?;
        out.key("spaces")?;
        out.lines(&explanation.spaces, write_space)?;
        out.key("runtime_page")?;
        match &explanation.runtime_page {
            Some(page) => write_runtime_page(out, page),
            None => out.null(),
        }
    })?;
    out.finish()
}

fn write_space(out: &mut JsonOut<impl Write>, space: &SpaceExplanation) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("space", space.space.name())?;
        out.number_or_null("core", space.core)?;
        out.number_or_null("capacity", space.capacity)?;
        out.number_pair("floor", space.floor)?;
        out.number_pair("peak", space.peak)?;
        out.number_pair("lower_bound", space.lower_bound)?;
        out.number_pair("load_bound", space.load_bound)?;
        out.key("parts")?;
        out.object(|out| {
            let parts = space.gap.parts();
            (parts.iter()).try_for_each(|&(name, bytes)| out.number_pair(name, bytes))
        })?;
        for (key, moment) in [("at_peak", &space.at_peak), ("at_bound", &space.at_bound)] {
            out.key(key)?;
            match moment {
                Some(moment) => write_moment(out, moment)?,
                None => out.null()?,
            }
        }
        out.key("savings")?;
        out.lines(&space.savings, write_saving)?;
        out.key("highest_chain")?;
        match &space.highest_chain {
            Some(chain) => write_chain(out, chain)?,
            None => out.null()?,
        }
        out.key("longest_chains")?;
        out.lines(&space.longest_chains, write_chain)
    })
}

fn write_moment(out: &mut JsonOut<impl Write>, moment: &Moment) -> io::Result<()> {
    out.object(|out| {
        out.key("steps")?;
        out.lines(&moment.steps, |out, step| {
            out.object(|out| {
                out.string_pair("role", step.role.name())?;
                write_step(out, step)
            })
        })?;
        out.number_pair("live", moment.live)?;
        out.number_pair("in_place", moment.in_place)?;
        out.number_pair("pinned", moment.pinned)?;
        out.key("usages")?;
        out.lines(&moment.usages, |out, usage| {
            out.object(|out| {
                out.string_pair("usage", usage.usage.name())?;
                out.number_pair("locations", usage.locations)?;
                out.number_pair("bytes", usage.bytes)
            })
        })?;
        out.key("occupants")?;
        out.lines(&moment.occupants, |out, occupant| {
            out.object(|out| write_occupant(out, occupant))
        })?;
        out.number_pair("others", moment.others)?;
        out.number_pair("other_bytes", moment.other_bytes)
    })
}

/// The pairs of a step but for its role.
pub(super) fn write_step(out: &mut JsonOut<impl Write>, step: &Step) -> io::Result<()> {
    out.number_pair("core", step.core)?;
    out.string_pair("function", &step.function)?;
    out.number_pair("index", step.index)?;
    out.string_pair("op", &step.op)?;
    out.number_or_null("epoch", step.epoch)
}

/// The pairs of a location.
fn write_occupant(out: &mut JsonOut<impl Write>, occupant: &Occupant) -> io::Result<()> {
    out.number_pair("core", occupant.core)?;
    out.string_pair("function", &occupant.function)?;
    out.string_pair("name", &occupant.name)?;
    out.string_pair("usage", occupant.usage.name())?;
    out.bool_pair("pinned", occupant.pinned)?;
    out.bool_pair("shared", occupant.shared)?;
    out.number_or_null("address", occupant.address)?;
    out.number_pair("bytes", occupant.bytes)?;
    out.number_pair("declared", occupant.declared)?;
    out.key("life")?;
    match occupant.life {
        Some(life) => write_segment(out, life),
        None => out.null(),
    }
}

fn write_saving(out: &mut JsonOut<impl Write>, saving: &Saving) -> io::Result<()> {
    out.object(|out| {
        write_occupant(out, &saving.occupant)?;
        out.number_pair("if_gone", saving.if_gone)?;
        out.number_pair("if_half", saving.if_half)?;
        out.number_pair("if_earlier", saving.if_earlier)
    })
}

fn write_chain(out: &mut JsonOut<impl Write>, chain: &Chain) -> io::Result<()> {
    out.object(|out| {
        out.number_or_null("core", chain.core)?;
        out.string_pair("function", &chain.function)?;
        out.number_pair("start", chain.start)?;
        out.number_pair("end", chain.end)?;
        out.key("links")?;
        out.lines(&chain.links, |out, link| {
            out.object(|out| {
                out.number_pair("core", link.core)?;
                out.string_pair("name", &link.name)?;
                out.number_pair("address", link.address)?;
                out.number_pair("bytes", link.bytes)?;
                out.key("life")?;
                write_segment(out, link.life)
            })
        })?;
        out.number_pair("others", chain.others)
    })
}

fn write_runtime_page(out: &mut JsonOut<impl Write>, page: &RuntimePage) -> io::Result<()> {
    out.object(|out| {
        out.number_pair("page", page.page)?;
        out.number_or_null("pages", page.pages)?;
        out.number_pair("private_bytes", page.private_bytes)?;
        out.number_pair("unavoidable_bytes", page.unavoidable_bytes)?;
        out.key("straddlers")?;
        out.lines(&page.straddlers, write_straddler)?;
        out.number_pair("others", page.others)?;
        out.number_pair("other_bytes", page.other_bytes)
    })
}
