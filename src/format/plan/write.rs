//! From a plan to the text of a plan file. // F
//!
//! Every key is written, so that a plan can be read without this program at hand; only
//! `dependences` and `straddlers` are left out when nobody asked for them.

use std::io::{self, Write};

use super::document::PlanFormat;
use crate::format::json::{Format, JsonOut};
use crate::ir::{Usage, UsageMask};
use crate::options::Options;
use crate::plan::{Dependence, FunctionPlan, MemLocPlan, Plan, Site, Straddler};

/// Writes a plan file: one location and one dependence per line. Fails if `out` does.
pub fn write_plan(plan: &Plan, out: impl Write) -> io::Result<()> {
    let mut out = JsonOut::new(out);
    out.object(|out| {
        out.string_pair("format", PlanFormat::WORD)?;
        out.number_pair("version", 1)?;
        out.key("options")?;
        write_options(out, &plan.options)?;
        out.string_pair("strategy", plan.strategy.name())?;
        out.string_pair("status", plan.status.name())?;
        out.string_pair("digest", &plan.digest)?;
        out.number_pair("peak", plan.peak)?;
        out.number_pair("lower_bound", plan.lower_bound)?;
        out.bool_pair("needs_dependences", plan.needs_dependences)?;
        out.key("spaces")?;
        out.lines(&plan.spaces, |out, space| {
            out.object(|out| {
                out.string_pair("space", space.space.name())?;
                out.number_or_null("core", space.core)?;
                out.number_or_null("capacity", space.capacity)?;
                out.number_pair("floor", space.floor)?;
                out.number_pair("peak", space.peak)?;
                out.number_pair("lower_bound", space.lower_bound)
            })
        })?;
        out.key("modules")?;
        out.lines(&plan.modules, |out, module| {
            out.object(|out| {
                out.string_pair("name", &module.name)?;
                out.number_pair("core", module.core)?;
                out.key("functions")?;
                out.lines(&module.functions, write_function)
            })
        })?;
        if let Some(dependences) = &plan.dependences {
            out.key("dependences")?;
            out.lines(dependences, write_dependence)?;
        }
        if let Some(straddlers) = &plan.straddlers {
            out.key("straddlers")?;
            out.lines(straddlers, write_straddler)?;
        }
        out.key("metrics")?;
        out.object(|out| {
            plan.metrics
                .iter()
                .try_for_each(|(name, &figure)| out.number_pair(name, figure))
        })?;
        out.key("notes")?;
        out.lines(&plan.notes, |out, note| out.string(note))
    })?;
    out.finish()
}

fn write_options(out: &mut JsonOut<impl Write>, options: &Options) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("strategy", options.strategy.name())?;
        out.number_or_null("capacity", options.capacity)?;
        out.string_pair("preset", options.preset.name())?;
        out.number_or_null("budget_ms", options.budget_ms)?;
        out.number_or_null("budget_steps", options.budget_steps)?;
        out.string_pair("floor", options.floor.name())?;
        out.number_or_null("align", options.align)?;
        out.bool_pair("packed", options.packed)?;
        out.bool_pair("reuse_io", options.reuse_io)?;
        out.bool_pair("strict", options.strict)?;
        out.number_pair("cc_limit", options.cc_limit)?;
        out.bool_pair("trim_cc", options.trim_cc)?;
        out.number_pair("runtime_page", options.runtime_page)?;
        out.string_pair("geometry", options.geometry.name())?;
        out.number_pair("shared_mib_per_core", options.shared_mib_per_core)?;
        out.bool_pair("separate_functions", options.separate_functions)?;
        out.number_pair("keep", options.keep)?;
        out.key("usage_mask")?;
        write_usages(out, options.usage_mask)?;
        out.key("regions")?;
        out.list(|out| {
            options.regions.iter().try_for_each(|region| {
                out.object(|out| {
                    out.string_pair("space", region.space.name())?;
                    out.number_pair("base", region.region.base)?;
                    out.number_pair("size", region.region.size)?;
                    out.key("usages")?;
                    write_usages(out, region.region.usages)
                })
            })
        })
    })
}

fn write_usages(out: &mut JsonOut<impl Write>, mask: UsageMask) -> io::Result<()> {
    let mut usages = Usage::ALL.iter().filter(|&&usage| mask.contains(usage));
    out.list(|out| usages.try_for_each(|usage| out.string(usage.name())))
}

fn write_function(out: &mut JsonOut<impl Write>, function: &FunctionPlan) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("name", &function.name)?;
        out.key("spaces")?;
        out.lines(&function.spaces, |out, space| {
            out.object(|out| {
                out.string_pair("space", space.space.name())?;
                out.number_pair("floor", space.floor)?;
                out.number_pair("hwm", space.hwm)?;
                out.key("cc")?;
                let Some(cc) = space.cc else {
                    return out.null();
                };
                out.object(|out| {
                    out.number_pair("limit", cc.limit)?;
                    out.number_pair("real", cc.real)?;
                    out.number_pair("hwm", cc.hwm)
                })
            })
        })?;
        out.key("memlocs")?;
        out.lines(&function.memlocs, write_memloc)
    })
}

fn write_memloc(out: &mut JsonOut<impl Write>, loc: &MemLocPlan) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("name", &loc.name)?;
        out.string_pair("space", loc.space.name())?;
        out.number_or_null("address", loc.address)?;
        out.number_pair("bytes", loc.bytes)?;
        out.number_pair("aligned", loc.aligned)?;
        out.bool_pair("pinned", loc.pinned)?;
        out.bool_pair("shared", loc.shared)?;
        out.key("owner")?;
        match &loc.owner {
            None => out.null()?,
            Some(owner) => out.object(|out| {
                out.number_pair("core", owner.core)?;
                out.string_pair("name", &owner.name)
            })?,
        }
        out.key("skipped")?;
        match loc.skipped {
            None => out.null()?,
            Some(reason) => out.string(reason.name())?,
        }
        out.key("segments")?;
        write_segments(out, &loc.segments)
    })
}

pub(in crate::format) fn write_segments(
    out: &mut JsonOut<impl Write>,
    segments: &[(u32, u32)],
) -> io::Result<()> {
    out.list(|out| (segments.iter()).try_for_each(|&segment| write_segment(out, segment)))
}

pub(in crate::format) fn write_segment(
    out: &mut JsonOut<impl Write>,
    (first, last): (u32, u32),
) -> io::Result<()> {
    out.list(|out| {
        out.number(first)?;
        out.number(last)
    })
}

fn write_dependence(out: &mut JsonOut<impl Write>, dependence: &Dependence) -> io::Result<()> {
    out.object(|out| {
        write_site(out, "from", &dependence.from)?;
        write_site(out, "to", &dependence.to)?;
        out.string_pair("kind", dependence.kind.name())?;
        out.number_pair("distance", dependence.distance)?;
        out.number_or_null("header", dependence.header)
    })
}

pub(in crate::format) fn write_straddler(
    out: &mut JsonOut<impl Write>,
    straddler: &Straddler,
) -> io::Result<()> {
    out.object(|out| {
        out.number_pair("core", straddler.core)?;
        out.string_pair("function", &straddler.function)?;
        out.string_pair("name", &straddler.name)?;
        out.string_pair("space", straddler.space.name())?;
        out.number_pair("address", straddler.address)?;
        out.number_pair("bytes", straddler.bytes)?;
        out.bool_pair("pinned", straddler.pinned)
    })
}

fn write_site(out: &mut JsonOut<impl Write>, key: &str, site: &Site) -> io::Result<()> {
    out.key(key)?;
    out.object(|out| {
        out.number_pair("core", site.core)?;
        out.string_pair("function", &site.function)?;
        out.number_pair("index", site.index)
    })
}
