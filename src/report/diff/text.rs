//! A difference as text for people.

use std::fmt::Write as _;

use super::{Difference, Kind, KindDifference, LocationDifference, SpaceDifference, Spot};
use crate::plan::Status;
use crate::report::columns::{Columns, Side, bytes, exact, printable, signed};
use crate::report::explain::{locations, space_name};

use Side::{Left, Right};

/// Spaces that have a line.
const LINES: usize = 12;

/// A difference as text, with the causes of the first `whole` spaces.
pub fn difference_text(difference: &Difference, whole: usize) -> String {
    let mut out = String::new();
    let (a, b) = (&difference.before, &difference.after);
    // Writing to a `String` cannot fail, here and below.
    let _ = writeln!(
        out,
        "{} ({}, {}) -> {} ({}, {})",
        printable(&a.program),
        a.strategy,
        a.status,
        printable(&b.program),
        b.strategy,
        b.status
    );
    let _ = writeln!(
        out,
        "peak {} -> {}, {}; lower bound {} -> {}",
        bytes(a.peak),
        bytes(b.peak),
        change(i128::from(b.peak) - i128::from(a.peak)),
        exact(a.lower_bound),
        exact(b.lower_bound)
    );
    write_spaces(&difference.spaces, &mut out);
    let changed = difference.spaces.iter().filter(|s| differs(s));
    for space in changed.take(whole) {
        write_causes(space, &mut out);
    }
    let _ = writeln!(
        out,
        "\nas before: {}, {}",
        locations(difference.same),
        bytes(difference.same_bytes)
    );
    for kind in difference.kinds.iter().filter(|kind| kind.locations > 0) {
        write_kind(kind, &mut out);
    }
    out
}

/// What is known about a peak, and what was.
fn status(before: Option<Status>, after: Option<Status>) -> String {
    match (before, after) {
        (Some(a), Some(b)) if a != b => format!("{a} -> {b}"),
        _ => after.or(before).map_or_else(String::new, |s| s.to_string()),
    }
}

/// A difference in words where there is none.
fn change(bytes: i128) -> String {
    match bytes {
        0 => "unchanged".to_owned(),
        bytes => signed(bytes),
    }
}

/// Whether there is anything to say of a space.
fn differs(space: &SpaceDifference) -> bool {
    space.peak_change != 0 || !space.causes.is_empty()
}

fn write_spaces(spaces: &[SpaceDifference], out: &mut String) {
    let mut columns = Columns::new(&[Left, Right, Right, Right, Right, Right, Left]);
    let heads = ["space", "peak", "now", "change", "bound", "now", "status"];
    columns.row(heads.map(str::to_owned));
    for space in spaces.iter().take(LINES) {
        let none = || "none".to_owned();
        let (a, b) = (space.before.as_ref(), space.after.as_ref());
        columns.row([
            space_name(space.space, space.core),
            a.map_or_else(none, |a| exact(a.peak)),
            b.map_or_else(none, |b| exact(b.peak)),
            signed(space.peak_change),
            a.map_or_else(none, |a| exact(a.lower_bound)),
            b.map_or_else(none, |b| exact(b.lower_bound)),
            status(a.map(|a| a.status), b.map(|b| b.status)),
        ]);
    }
    columns.write(2, out);
    if spaces.len() > LINES {
        let _ = writeln!(out, "  and {} more", spaces.len() - LINES);
    }
}

fn write_causes(space: &SpaceDifference, out: &mut String) {
    let name = space_name(space.space, space.core);
    let _ = writeln!(out, "\n{name}: peak {}", change(space.peak_change));
    let sites = [("before", &space.before), ("after", &space.after)];
    for (when, site) in sites {
        if let Some(step) = site.as_ref().and_then(|site| site.here.as_ref()) {
            let function = printable(&step.function);
            let _ = writeln!(out, "  {when}: instruction {} of {function}", step.index);
        }
    }
    let mut columns = Columns::new(&[Left, Right]);
    for (what, change) in [
        ("locations live at the peak", space.locations_change),
        ("saved in place", space.in_place_change),
        ("floor", space.floor_change),
        ("fragmentation", space.fragmentation_change),
    ] {
        if change != 0 {
            columns.row([what.to_owned(), signed(change)]);
        }
    }
    columns.write(2, out);
    let mut columns = Columns::new(&[Left, Left, Right, Left]);
    for cause in &space.causes {
        let other = match cause.in_both {
            true => "live at another moment in the other plan",
            false => "only in this plan",
        };
        let came = matches!(cause.kind.name(), "came" | "went");
        columns.row([
            cause.kind.name().to_owned(),
            format!("{}/{}", cause.function, cause.name),
            signed(cause.change),
            if came {
                other.to_owned()
            } else {
                String::new()
            },
        ]);
    }
    if space.others > 0 {
        columns.row([
            String::new(),
            format!("and {} more", exact(space.others)),
            signed(space.other_change),
        ]);
    }
    columns.write(4, out);
}

fn write_kind(kind: &KindDifference, out: &mut String) {
    let _ = writeln!(
        out,
        "{}: {}, {}",
        kind.kind.name(),
        locations(kind.locations),
        bytes(kind.bytes)
    );
    let mut columns = Columns::new(&[Left, Right, Left]);
    for location in &kind.largest {
        columns.row([
            format!(
                "{}/{} of core {}",
                location.function, location.name, location.core
            ),
            exact(location.bytes()),
            what(kind.kind, location),
        ]);
    }
    let rest = kind.locations - kind.largest.len() as u64;
    if rest > 0 {
        let told: u64 = kind.largest.iter().map(LocationDifference::bytes).sum();
        let more = format!("and {} more", exact(rest));
        columns.row([more, exact(kind.bytes.saturating_sub(told))]);
    }
    columns.write(2, out);
}

/// What is different about a location, in a few words.
fn what(kind: Kind, location: &LocationDifference) -> String {
    let (Some(a), Some(b)) = (&location.before, &location.after) else {
        let spot = location.after.as_ref().or(location.before.as_ref());
        return spot.map_or_else(String::new, |spot| {
            format!(
                "{} at {}, live in {}",
                spot.space,
                exact(spot.address),
                runs(spot)
            )
        });
    };
    match kind {
        Kind::Grown | Kind::Shrunk => {
            format!("{} -> {} bytes", exact(a.declared), exact(b.declared))
        }
        Kind::Moved => format!("{} -> {}", exact(a.address), exact(b.address)),
        Kind::Lives => format!("{} -> {}", runs(a), runs(b)),
        Kind::Space => format!("{} -> {}", a.space, b.space),
        Kind::New | Kind::Gone => String::new(),
    }
}

/// The first runs of a life.
fn runs(spot: &Spot) -> String {
    let first = spot.segments.iter().take(2);
    let mut text: Vec<String> = first.map(|(a, z)| format!("[{a}, {z}]")).collect();
    if spot.segments.len() > 2 {
        text.push(format!("and {} more", spot.segments.len() - 2));
    }
    text.join(" ")
}
