//! A picture for a document: one SVG without anything from outside.
//!
//! Each lane shows what is placed, from its floor to its peak; what the host has pinned below the
//! floor is folded into one band. The dark line is the sum of live bytes on top of the floor:
//! whatever lies above it is lost to fragmentation. Shapes that are large enough are drawn one by
//! one, with their facts as a tooltip; the rest is a mosaic, so that the file stays small.

mod panel;
mod paper;

use std::io::{self, Write};

use super::Options;
use super::palette::{self, DARK};
use super::scene::{Change, Lane, Scene};
use super::units::{human, percent_above};
use crate::ir::Usage;
use panel::Panel;
pub(super) use paper::escape;
use paper::{FAINT, PINS, Svg, Words};

// All lengths are in tenths of a pixel.
const WIDTH: i64 = 12_800;
const HEADER: i64 = 760;
/// Above and below the rectangles of a lane: names of functions; blocks.
const ABOVE: i64 = 240;
/// The name of a lane among several.
const LABEL: i64 = 260;
const BELOW: i64 = 340;
/// The rectangles of the only lane, and of one among several.
const ALONE: i64 = 4_920;
const AMONG: i64 = 2_400;
const BAND: i64 = 300; // The folded pins.
const LEDGE: i64 = 40; // Where there are none.
const FOOTER: i64 = 260;
const LEFT: i64 = 920;
const RIGHT: i64 = 240;

/// Writes the picture.
pub(super) fn write(scene: &Scene<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let width = match options.width {
        0 => WIDTH,
        pixels => i64::from(pixels.max(MOST_NARROW)) * 10,
    };
    let lanes = scene.lanes.len().max(1) as i64;
    let label = if lanes > 1 { LABEL } else { 0 };
    let band = |lane: &Lane<'_>| match scene.placed_range(lane.space).0 {
        0 => LEDGE,
        _ => BAND,
    };
    let bands: i64 = scene.lanes.iter().map(band).sum();
    let around = lanes * (label + ABOVE + BELOW) + bands;
    let body = match options.height {
        0 if lanes == 1 => ALONE,
        0 => AMONG,
        pixels => ((i64::from(pixels) * 10 - HEADER - FOOTER - around) / lanes).max(LOWEST),
    };
    let height = HEADER + lanes * body + around + FOOTER;
    let mut svg = Svg::new(
        (width, height),
        &scene.titles.join(" beside "),
        &description(scene),
    );
    header(&mut svg, scene);
    let mut top = HEADER;
    for lane in &scene.lanes {
        top += label + ABOVE;
        Panel::new(scene, lane, width, (top, top + body), band(lane)).draw(&mut svg);
        top += body + band(lane) + BELOW;
    }
    if scene.lanes.is_empty() {
        svg.text(
            LEFT,
            HEADER + ABOVE,
            "nothing here has an address",
            &Words::default(),
        );
    }
    let end = Words {
        size: 12,
        colour: FAINT,
        anchor: "end",
        ..Words::default()
    };
    let words = "time: instructions in layout order \u{2192}";
    svg.text(width - RIGHT, height - 120, words, &end);
    svg.text.push_str("</svg>\n");
    out.write_all(svg.text.as_bytes())
}

/// Pixels across and tenths down that leave room for anything.
const MOST_NARROW: u32 = 320;
const LOWEST: i64 = 400;

/// The title, what there is to say of it, and the legend.
fn header(svg: &mut Svg, scene: &Scene<'_>) {
    let title = Words {
        size: 20,
        weight: 700,
        ..Words::default()
    };
    svg.text(240, 360, &scene.titles.join(" \u{2192} "), &title);
    let faint = Words {
        size: 14,
        colour: FAINT,
        ..Words::default()
    };
    svg.text(240, 580, &description(scene), &faint);
    // From the right to the left.
    let mut entries: Vec<(&str, &str)> = Vec::new();
    if scene.titles.len() > 1 {
        let there = |c: &&Change| scene.boxes.iter().any(|b| b.change == **c);
        let changes = Change::ALL.iter().filter(there);
        entries.extend(changes.map(|c| (c.fill().tints[0], c.name())));
    } else {
        let there = |u: &&Usage| {
            scene
                .boxes
                .iter()
                .any(|b| b.usage == **u && !b.planned.pinned)
        };
        let usages = Usage::ALL.iter().filter(there);
        entries.extend(usages.map(|&u| (palette::usage(u).tints[0], u.name())));
    }
    if scene.boxes.iter().any(|b| b.planned.pinned) {
        entries.push((PINS, "pinned"));
    }
    entries.push((DARK, "sum of live bytes"));
    let mut x = svg.width - RIGHT;
    for &(colour, words) in entries.iter().rev() {
        x -= 70 * words.chars().count() as i64;
        svg.text(x, 360, words, &Words::default());
        x -= 220;
        match words {
            "sum of live bytes" => {
                svg.line((x, 315), (x + 150, 315), colour, " stroke-width=\"1.6\"");
            }
            _ => svg.rect((x, x + 150), (250, 380), colour, "", " rx=\"2\""),
        }
        x -= 180;
    }
}

/// One sentence on the whole picture.
fn description(scene: &Scene<'_>) -> String {
    let count = |l: &Lane<'_>| scene.boxes(l).iter().filter(|b| !b.planned.pinned).count();
    match scene.lanes.as_slice() {
        [] => "nothing here has an address".to_owned(),
        [lane] => {
            let above = if lane.floor > 0 {
                " above the floor"
            } else {
                ""
            };
            let height = human(lane.peak.saturating_sub(lane.floor));
            format!(
                "{} locations placed in {height}{above}, {}",
                count(lane),
                verdict(lane)
            )
        }
        lanes => {
            let placed: usize = lanes.iter().map(count).sum();
            format!("{placed} locations placed, in {} lanes", lanes.len())
        }
    }
}

fn verdict(lane: &Lane<'_>) -> String {
    let (peak, bound) = (
        lane.peak - lane.floor.min(lane.peak),
        lane.bound.saturating_sub(lane.floor),
    );
    match lane.peak == lane.bound {
        true => "equal to the lower bound: optimal".to_owned(),
        false => format!("{} above the lower bound", percent_above(peak, bound)),
    }
}
