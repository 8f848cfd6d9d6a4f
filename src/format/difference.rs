//! From the difference of two plans to its document: `dramalloc-difference`, version 1.
//!
//! It is written and never read; `schema/difference.schema.json` says what is in it, and
//! `docs/reports.md` what that means.

use std::io::{self, Write};

use super::explanation::write_step;
use super::json::JsonOut;
use super::plan::write_segments;
use crate::report::diff::{
    Cause, Difference, KindDifference, LocationDifference, PeakSite, Side, SpaceDifference, Spot,
};

/// Writes a difference, one location per line. Fails if `out` does.
pub fn write_difference(difference: &Difference, out: impl Write) -> io::Result<()> {
    let mut out = JsonOut::new(out);
    out.object(|out| {
        out.string_pair("format", "dramalloc-difference")?;
        out.number_pair("version", 1)?;
        for (key, side) in [("before", &difference.before), ("after", &difference.after)] {
            out.key(key)?;
            write_side(out, side)?;
        }
        out.key("spaces")?;
        out.lines(&difference.spaces, write_space)?;
        out.key("same")?;
        out.object(|out| {
            out.number_pair("locations", difference.same)?;
            out.number_pair("bytes", difference.same_bytes)
        })?;
        out.key("kinds")?;
        out.lines(&difference.kinds, write_kind)
    })?;
    out.finish()
}

fn write_side(out: &mut JsonOut<impl Write>, side: &Side) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("program", &side.program)?;
        out.string_pair("strategy", side.strategy.name())?;
        out.string_pair("status", side.status.name())?;
        out.number_pair("peak", side.peak)?;
        out.number_pair("lower_bound", side.lower_bound)
    })
}

fn write_space(out: &mut JsonOut<impl Write>, space: &SpaceDifference) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("space", space.space.name())?;
        out.number_or_null("core", space.core)?;
        for (key, site) in [("before", &space.before), ("after", &space.after)] {
            out.key(key)?;
            match site {
                Some(site) => write_site(out, site)?,
                None => out.null()?,
            }
        }
        for (key, change) in [
            ("peak_change", space.peak_change),
            ("locations_change", space.locations_change),
            ("in_place_change", space.in_place_change),
            ("floor_change", space.floor_change),
            ("fragmentation_change", space.fragmentation_change),
        ] {
            out.number_pair(key, change)?;
        }
        out.key("causes")?;
        out.lines(&space.causes, write_cause)?;
        out.number_pair("others", space.others)?;
        out.number_pair("other_change", space.other_change)
    })
}

fn write_site(out: &mut JsonOut<impl Write>, site: &PeakSite) -> io::Result<()> {
    out.object(|out| {
        out.number_pair("floor", site.floor)?;
        out.number_pair("peak", site.peak)?;
        out.number_pair("lower_bound", site.lower_bound)?;
        out.string_pair("status", site.status.name())?;
        out.number_pair("live", site.live)?;
        out.key("step")?;
        match &site.here {
            Some(step) => out.object(|out| write_step(out, step)),
            None => out.null(),
        }
    })
}

fn write_cause(out: &mut JsonOut<impl Write>, cause: &Cause) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("kind", cause.kind.name())?;
        out.number_pair("core", cause.core)?;
        out.string_pair("function", &cause.function)?;
        out.string_pair("name", &cause.name)?;
        out.number_pair("change", cause.change)?;
        out.bool_pair("in_both", cause.in_both)
    })
}

fn write_kind(out: &mut JsonOut<impl Write>, kind: &KindDifference) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("kind", kind.kind.name())?;
        out.number_pair("locations", kind.locations)?;
        out.number_pair("bytes", kind.bytes)?;
        out.key("largest")?;
        out.lines(&kind.largest, write_location)
    })
}

fn write_location(out: &mut JsonOut<impl Write>, location: &LocationDifference) -> io::Result<()> {
    out.object(|out| {
        out.number_pair("core", location.core)?;
        out.string_pair("function", &location.function)?;
        out.string_pair("name", &location.name)?;
        for (key, spot) in [("before", &location.before), ("after", &location.after)] {
            out.key(key)?;
            match spot {
                Some(spot) => write_spot(out, spot)?,
                None => out.null()?,
            }
        }
        Ok(())
    })
}

fn write_spot(out: &mut JsonOut<impl Write>, spot: &Spot) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("space", spot.space.name())?;
        out.number_pair("address", spot.address)?;
        out.number_pair("bytes", spot.bytes)?;
        out.number_pair("declared", spot.declared)?;
        out.key("segments")?;
        write_segments(out, &spot.segments)
    })
}
