//! An explanation as text for people: the highest space whole, the others a line each.

use std::fmt::Write as _;

use super::{Chain, Explanation, Moment, Occupant, Role, RuntimePage, SpaceExplanation, Step};
use crate::ir::Space;
use crate::report::columns::{Columns, Side, bytes, exact, printable, rough, signed};

use Side::{Left, Right};

/// The names of a chain that stand in its line.
const NAMES: usize = 5;

/// Other spaces that have a line.
const LINES: usize = 12;

/// An explanation as text, the first `whole` spaces in full.
pub fn explanation_text(explanation: &Explanation, whole: usize) -> String {
    let mut out = String::new();
    let Explanation {
        program,
        strategy,
        status,
        spaces,
        ..
    } = explanation;
    // Writing to a `String` cannot fail, here and below.
    let _ = writeln!(
        out,
        "{}: peak {}, lower bound {}, {status}, by {strategy}",
        printable(program),
        bytes(explanation.peak),
        bytes(explanation.lower_bound),
    );
    for space in spaces.iter().take(whole) {
        out.push('\n');
        write_space(space, &mut out);
    }
    if let Some(page) = &explanation.runtime_page {
        out.push('\n');
        write_runtime_page(page, &mut out);
    }
    let others = spaces.get(whole..).unwrap_or(&[]);
    if !others.is_empty() {
        out.push_str("\nthe other spaces\n");
        let mut columns = Columns::new(&[Left, Right, Right, Right, Left]);
        columns.row(["space", "peak", "bound", "fragmentation", "peak at"].map(str::to_owned));
        for space in others.iter().take(LINES) {
            let here = space.at_peak.as_ref().and_then(Moment::here);
            columns.row([
                space_name(space.space, space.core),
                exact(space.peak),
                exact(space.lower_bound),
                exact(space.gap.fragmentation),
                here.map_or_else(|| "nothing placed".to_owned(), site),
            ]);
        }
        columns.write(2, &mut out);
        if others.len() > LINES {
            let _ = writeln!(out, "  and {} more", others.len() - LINES);
        }
    }
    out
}

/// So many locations.
pub(in crate::report) fn locations(count: u64) -> String {
    let noun = if count == 1 { "location" } else { "locations" };
    format!("{} {noun}", exact(count))
}

/// How text calls a space.
pub(in crate::report) fn space_name(space: Space, core: Option<u32>) -> String {
    match core {
        Some(core) => format!("{space}, core {core}"),
        None => space.to_string(),
    }
}

fn write_space(space: &SpaceExplanation, out: &mut String) {
    let name = space_name(space.space, space.core);
    let _ = write!(out, "{name}: peak {}", bytes(space.peak));
    if let Some(capacity) = space.capacity {
        let _ = write!(out, " of {}", bytes(capacity));
    }
    out.push('\n');
    let mut columns = Columns::new(&[Left, Right, Right, Left]);
    for (part, size) in space.gap.parts() {
        if size > 0 {
            columns.row([
                part.to_owned(),
                exact(size),
                rough(size),
                meaning(part).to_owned(),
            ]);
        }
    }
    columns.row([
        "peak".to_owned(),
        exact(space.peak),
        rough(space.peak),
        format!("lower bound {}", exact(space.lower_bound)),
    ]);
    columns.write(2, out);
    if let Some(moment) = &space.at_peak {
        write_moment("the peak is at", moment, out);
    }
    if let Some(moment) = &space.at_bound {
        let here = moment.here().map_or_else(String::new, site);
        let _ = writeln!(
            out,
            "  the bound {} is at {here}: {} live",
            exact(space.load_bound),
            bytes(moment.live)
        );
    }
    write_savings(space, out);
    let chains = space.highest_chain.iter().chain(&space.longest_chains);
    for (i, chain) in chains.enumerate() {
        let what = match i {
            0 => "highest bytes",
            _ => "most reused",
        };
        write_chain(what, chain, out);
    }
}

/// What a part of a peak is, in a few words.
fn meaning(part: &str) -> &'static str {
    match part {
        "declared" => "live at the bound's instruction",
        "rounding" => "up to whole pages",
        "callers" => "held across calls",
        "agreement" => "held because cores must agree",
        "pins" => "the floor, or pins in the way",
        "regions" => "reserved for others",
        "proved" => "no placement does without, by search",
        "fragmentation" => "what a better placement might save",
        _ => "",
    }
}

fn site(step: &Step) -> String {
    let Step {
        core,
        function,
        index,
        op,
        ..
    } = step;
    let mut text = format!("instruction {index} of {}", printable(function));
    if !op.is_empty() {
        let _ = write!(text, " ({})", printable(op));
    }
    if let Some(epoch) = step.epoch {
        let _ = write!(text, " on core {core}, epoch {epoch}");
    }
    text
}

fn write_moment(what: &str, moment: &Moment, out: &mut String) {
    let here = moment.here().map_or_else(String::new, site);
    let _ = writeln!(out, "  {what} {here}");
    for step in moment.steps.iter().filter(|s| s.role != Role::Here) {
        let role = match step.role {
            Role::Caller => "called at",
            Role::Callee => "under it",
            Role::Here | Role::Beside => "beside it",
        };
        let _ = writeln!(out, "    {role} {}", site(step));
    }
    let _ = write!(out, "  live there: {}", bytes(moment.live));
    for (what, size) in [
        ("saved in place", moment.in_place),
        ("pinned", moment.pinned),
    ] {
        if size > 0 {
            let _ = write!(out, ", {} {what}", exact(size));
        }
    }
    out.push('\n');
    let mut columns = Columns::new(&[Left, Right, Right, Right]);
    for usage in &moment.usages {
        columns.row([
            usage.usage.to_string(),
            locations(usage.locations),
            exact(usage.bytes),
            rough(usage.bytes),
        ]);
    }
    columns.write(4, out);
    let mut columns = Columns::new(&[Left, Right, Right, Right, Right, Left]);
    let heads = ["largest", "bytes", "", "address", "live in", "usage"];
    columns.row(heads.map(str::to_owned));
    let home = moment.here().map_or("", |step| step.function.as_str());
    for occupant in &moment.occupants {
        columns.row([
            name(occupant, home),
            exact(occupant.bytes),
            rough(occupant.bytes),
            occupant.address.map_or_else(|| "none".to_owned(), exact),
            life(occupant),
            usage(occupant),
        ]);
    }
    if moment.others > 0 {
        columns.row([
            format!("and {} more", exact(moment.others)),
            exact(moment.other_bytes),
            rough(moment.other_bytes),
        ]);
    }
    columns.write(4, out);
}

fn life(occupant: &Occupant) -> String {
    let text = |(first, last): (u32, u32)| format!("[{first}, {last}]");
    occupant.life.map_or_else(|| "always".to_owned(), text)
}

fn usage(occupant: &Occupant) -> String {
    let mut text = occupant.usage.to_string();
    if occupant.pinned {
        text += ", pinned";
    }
    if occupant.shared {
        text += ", shared";
    }
    text
}

/// A location's name, with its function if that is not the one at hand.
fn name(occupant: &Occupant, home: &str) -> String {
    match occupant.function == home {
        true => occupant.name.clone(),
        false => format!("{}/{}", occupant.function, occupant.name),
    }
}

fn write_savings(space: &SpaceExplanation, out: &mut String) {
    let pays = |bound: u64| i128::from(bound) - i128::from(space.load_bound);
    let pay = space
        .savings
        .iter()
        .filter(|s| s.if_gone < space.load_bound);
    let pay: Vec<_> = pay.collect();
    let Some(_) = pay.first() else {
        if !space.savings.is_empty() {
            out.push_str("  no single location there holds the bound up alone\n");
        }
        return;
    };
    out.push_str("  what would change the bound\n");
    let mut columns = Columns::new(&[Left, Right, Right, Right, Right]);
    let heads = [
        "location",
        "bytes",
        "if gone",
        "if half",
        "if dead one use earlier",
    ];
    columns.row(heads.map(str::to_owned));
    let here = space.at_bound.as_ref().and_then(Moment::here);
    let home = here.map_or("", |step| step.function.as_str());
    for saving in &pay {
        columns.row([
            name(&saving.occupant, home),
            exact(saving.occupant.bytes),
            signed(pays(saving.if_gone)),
            signed(pays(saving.if_half)),
            signed(pays(saving.if_earlier)),
        ]);
    }
    columns.write(4, out);
    let rest = space.savings.len() - pay.len();
    if rest > 0 {
        let _ = writeln!(out, "    {rest} more would change nothing alone");
    }
}

fn write_chain(what: &str, chain: &Chain, out: &mut String) {
    let holders = chain.links.len() as u64 + chain.others;
    let _ = write!(
        out,
        "  {what} [{}, {}): {holders} in turn",
        exact(chain.start),
        exact(chain.end)
    );
    for (i, link) in chain.links.iter().take(NAMES).enumerate() {
        let arrow = if i == 0 { ":" } else { " ->" };
        let (first, last) = link.life;
        let _ = write!(out, "{arrow} {} [{first}, {last}]", printable(&link.name));
    }
    let more = holders - chain.links.len().min(NAMES) as u64;
    if more > 0 {
        let _ = write!(out, " -> {more} more");
    }
    out.push('\n');
}

fn write_runtime_page(page: &RuntimePage, out: &mut String) {
    let _ = write!(out, "runtime pages of {}: ", rough(page.page));
    if let Some(pages) = page.pages {
        let _ = write!(out, "{} in use, ", exact(pages));
    }
    let count = page.straddlers.len() as u64 + page.others;
    let _ = writeln!(
        out,
        "{} straddlers cost {} of copies, {} of them unavoidable",
        exact(count),
        bytes(page.private_bytes),
        exact(page.unavoidable_bytes)
    );
    let mut columns = Columns::new(&[Left, Left, Right, Right]);
    for s in &page.straddlers {
        columns.row([
            format!("{}/{}", s.function, s.name),
            space_name(s.space, Some(s.core)),
            exact(s.bytes),
            exact(s.address),
        ]);
    }
    if page.others > 0 {
        columns.row([
            format!("and {} more", exact(page.others)),
            String::new(),
            exact(page.other_bytes),
        ]);
    }
    columns.write(2, out);
}
