//! One lane of a picture: what lies behind its rectangles, the rectangles, and the lines over them.

use std::fmt::Write as _;

use super::super::mosaic::{Mosaic, TILE};
use super::super::palette::{self, DARK, Fill};
use super::super::scene::{Block, Change, Lane, Scene, Slot};
use super::super::units::{Px, human, share, tick};
use super::paper::{COLLECTIVE, FAINT, PAPER, PINS, Svg, Words, escape};
use super::{LEFT, RIGHT, verdict};
use crate::ir::Usage;
use crate::sorting::CompactSort as _;

const BETWEEN: i64 = 280; // From function to function.
/// So many shapes are drawn one by one.
const MOST_SHAPES: usize = 5_000;

const GRID: &str = "#e4e7ec";
const PEAK: &str = "#b84300";
const BOUND: &str = "#00704f";

/// One lane on its part of the paper.
pub(super) struct Panel<'s, 'a> {
    scene: &'s Scene<'a>,
    lane: &'s Lane<'a>,
    right: i64,
    top: i64,
    bottom: i64,
    low: u64,
    high: u64,
    between: i64,
    band: i64,
}

/// A rectangle to be drawn.
#[derive(Clone, Copy)]
struct Shape {
    number: u32, // Of the box.
    x: (i64, i64),
    y: (i64, i64),
}

impl<'s, 'a> Panel<'s, 'a> {
    pub(super) fn new(
        scene: &'s Scene<'a>,
        lane: &'s Lane<'a>,
        width: i64,
        (top, bottom): (i64, i64),
        band: i64,
    ) -> Panel<'s, 'a> {
        let (low, mut high) = scene.placed_range(lane.space);
        let (_, end) = scene.reach(lane.space);
        // Pins above the peak belong to the picture, unless they would make everything else small.
        if end - low <= (high - low).saturating_mul(2) {
            high = high.max(end);
        }
        let room = width - LEFT - RIGHT;
        let gaps = scene.slots.len().saturating_sub(1).max(1) as i64;
        Panel {
            scene,
            lane,
            right: width - RIGHT,
            top,
            bottom,
            low,
            high: high.saturating_add((high - low) / 25),
            between: BETWEEN.min(room / 8 / gaps),
            band,
        }
    }

    /// Where an instant of a slot begins; `at` may be one past the slot's last.
    fn x(&self, slot: usize, at: u32) -> i64 {
        let gaps = self.scene.slots.len().saturating_sub(1) as i64;
        let room = self.right - LEFT - gaps * self.between;
        LEFT + slot as i64 * self.between + share(at.into(), self.scene.length.into(), room)
    }

    fn y(&self, address: u64) -> i64 {
        let address = address.clamp(self.low, self.high);
        self.bottom
            - share(
                address - self.low,
                self.high - self.low,
                self.bottom - self.top,
            )
    }

    pub(super) fn draw(&self, svg: &mut Svg) {
        self.ground(svg);
        let shapes = self.shapes(svg);
        for &shape in &shapes {
            self.shape(svg, shape);
        }
        self.load(svg);
        for &shape in &shapes {
            self.label(svg, shape); // Last, so that nothing runs through them.
        }
        self.pins_below(svg);
        self.levels(svg);
    }

    /// Names, grid, blocks and the regions that lie behind the rectangles.
    fn ground(&self, svg: &mut Svg) {
        let scene = self.scene;
        let (top, bottom) = (self.top, self.bottom);
        let step = tick(self.high - self.low, 9);
        let small = Words {
            size: 12,
            colour: FAINT,
            anchor: "end",
            ..Words::default()
        };
        let mut at = self.low;
        while at <= self.high {
            let y = self.y(at);
            svg.line((LEFT, y), (self.right, y), GRID, "");
            let name = match at - self.low {
                0 if self.low > 0 => "floor".to_owned(),
                offset if self.low > 0 => format!("+{}", human(offset)),
                offset => human(offset),
            };
            svg.text(LEFT - 80, y + 40, &name, &small);
            at = match at.checked_add(step) {
                Some(next) => next,
                None => break,
            };
        }
        if scene.lanes.len() > 1 {
            let mut label = self.lane.label();
            if scene.titles.len() > 1 {
                label = format!("{}: {label}", scene.titles[self.lane.picture]);
            }
            let height = human(self.lane.peak.saturating_sub(self.lane.floor));
            let words = Words {
                size: 14,
                weight: 700,
                ..Words::default()
            };
            svg.text(240, top - 300, &label, &words);
            let beside = 240 + 85 * label.chars().count() as i64 + 100;
            let faint = Words {
                size: 12,
                colour: FAINT,
                ..Words::default()
            };
            svg.text(
                beside,
                top - 300,
                &format!("peak {height}, {}", verdict(self.lane)),
                &faint,
            );
        }
        for (number, slot) in scene.slots.iter().enumerate() {
            self.slot(svg, number, slot);
        }
        for &(slot, floor, limit, used) in &self.lane.collective {
            let bounds = &scene.slots[slot as usize];
            let x = (
                self.x(slot as usize, bounds.start),
                self.x(slot as usize, bounds.start + bounds.length),
            );
            let y = (self.y(floor.saturating_add(used)), self.y(floor));
            let title = format!(
                "collective region: {} of {} used",
                human(used),
                human(limit)
            );
            svg.rect(x, y, COLLECTIVE, &title, "");
        }
        for (base, size, usages) in &self.lane.regions {
            for address in [*base, base.saturating_add(*size)] {
                if (self.low..=self.high).contains(&address) {
                    let y = self.y(address);
                    svg.line(
                        (LEFT, y),
                        (self.right, y),
                        FAINT,
                        " stroke-dasharray=\"2 3\"",
                    );
                }
            }
            if (self.low..self.high).contains(base) {
                let words = Words {
                    size: 11,
                    colour: FAINT,
                    ..Words::default()
                };
                svg.text(
                    LEFT + 40,
                    self.y(*base) - 40,
                    &format!("region for {usages}"),
                    &words,
                );
            }
        }
        svg.line(
            (LEFT, bottom),
            (self.right, bottom),
            DARK,
            " stroke-width=\"1.5\"",
        );
    }

    /// A function: its name above, its blocks below.
    fn slot(&self, svg: &mut Svg, number: usize, slot: &Slot<'_>) {
        let (left, right) = (
            self.x(number, slot.start),
            self.x(number, slot.start + slot.length),
        );
        svg.rect(
            (left, right),
            (self.top, self.bottom),
            "#f5f7fa",
            "",
            " fill-opacity=\"0.6\"",
        );
        let boxes = self.scene.boxes(self.lane).iter();
        let placed = boxes
            .filter(|b| b.slot as usize == number && !b.planned.pinned)
            .count();
        let described = format!("{} instructions, {placed} locations", slot.length);
        let name = slot.name.chars().count() as i64;
        if right - left > 85 * name {
            let words = Words {
                size: 14,
                weight: 700,
                ..Words::default()
            };
            svg.text(left, self.top - 70, slot.name, &words);
            let room = right - left - 85 * name - 100;
            if room > 65 * described.len() as i64 {
                let faint = Words {
                    size: 12,
                    colour: FAINT,
                    ..Words::default()
                };
                svg.text(left + 85 * name + 100, self.top - 70, &described, &faint);
            }
        }
        let base = self.bottom + self.band;
        for &(name, first, end, loops) in &slot.blocks {
            let (left, right) = (
                self.x(number, slot.start + first),
                self.x(number, slot.start + end),
            );
            if right - left < 40 {
                continue; // Too narrow to tell apart.
            }
            for x in [left, right] {
                svg.line((x, base + 30), (x, base + 110), FAINT, "");
            }
            svg.line((left, base + 70), (right, base + 70), FAINT, "");
            let words = format!("{name}{}", if loops { " \u{21ba}" } else { "" });
            if right - left > 70 * words.chars().count() as i64 {
                let look = Words {
                    size: 12,
                    colour: if loops { DARK } else { FAINT },
                    anchor: "middle",
                    weight: if loops { 600 } else { 400 },
                    ..Words::default()
                };
                svg.text((left + right) / 2, base + 240, &words, &look);
            }
        }
    }

    /// What is drawn one by one, the largest first; the rest is in the picture already.
    fn shapes(&self, svg: &mut Svg) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let mut small = Mosaic::new(self.right - LEFT, self.bottom - self.top);
        let mut small_shapes = Vec::new();
        for number in self.lane.boxes.clone() {
            let block = &self.scene.boxes[number];
            if block.end() <= self.low || block.address >= self.high {
                continue; // Folded, or above the picture.
            }
            for &(first, last) in self.scene.lives_of(block) {
                let slot = block.slot as usize;
                let shape = Shape {
                    number: number as u32,
                    x: (self.x(slot, first), self.x(slot, last + 1)),
                    y: (self.y(block.end()), self.y(block.address)),
                };
                let (width, height) = (shape.x.1 - shape.x.0, shape.y.1 - shape.y.0);
                match width >= 15 && height >= 8 {
                    true => shapes.push(shape),
                    false => small_shapes.push(shape),
                }
            }
        }
        let area = |s: &Shape| (s.x.1 - s.x.0) * (s.y.1 - s.y.0);
        shapes.sort_compact_by_key(|s| std::cmp::Reverse(area(s)));
        small_shapes.extend(shapes.drain(MOST_SHAPES.min(shapes.len())..));
        for shape in small_shapes {
            let colour = self.colour(shape.number);
            let (x, y) = (shape.x, shape.y);
            small.paint(
                colour,
                (x.0 - LEFT, x.1 - LEFT),
                (y.0 - self.top, y.1 - self.top),
            );
        }
        let mut patches = small.patches();
        patches.sort_compact_by_key(|p| (p.colour, p.y.0, p.x.0 as u32));
        for of_colour in patches.chunk_by(|a, b| a.colour == b.colour) {
            let mut d = String::new();
            for p in of_colour {
                let at = |tile: usize, origin: i64| Px(tile as i64 * TILE + origin);
                let (x, y) = (at(p.x.0, LEFT), at(p.y.0, self.top));
                let (across, down) = (at(p.x.1 - p.x.0, 0), at(p.y.1 - p.y.0, 0));
                let _ = write!(d, "M{x} {y}h{across}v{down}h-{across}z");
            }
            svg.path(
                &d,
                &format!(" fill=\"{}\"", mosaic_colour(of_colour[0].colour)),
            );
        }
        shapes
    }

    /// The number of a box's colour; see [`mosaic_colour`].
    fn colour(&self, number: u32) -> u8 {
        let block = &self.scene.boxes[number as usize];
        match self.scene.titles.len() {
            _ if block.collides => COLLIDES,
            1 => block.usage as u8,
            _ => CHANGES + block.change as u8,
        }
    }

    fn fill(&self, block: &Block<'_>) -> &'static Fill {
        match self.scene.titles.len() {
            1 => palette::usage(block.usage),
            _ => block.change.fill(),
        }
    }

    /// Three tints in turn, so that neighbours stay apart.
    fn tint(&self, shape: Shape) -> &'static str {
        let block = &self.scene.boxes[shape.number as usize];
        let turn = self.scene.lives_of(block)[0].0 / 3 + shape.number;
        self.fill(block).tints[turn as usize % 3]
    }

    fn shape(&self, svg: &mut Svg, shape: Shape) {
        let block = &self.scene.boxes[shape.number as usize];
        let slot = &self.scene.slots[block.slot as usize];
        let lives: Vec<String> = self
            .scene
            .lives_of(block)
            .iter()
            .take(8)
            .map(|&(first, last)| format!("[{}, {}]", first - slot.start, last - slot.start))
            .collect();
        let mut title = format!(
            "{}: {} at {}, live {}",
            block.planned.name,
            human(block.taken),
            place(block.address, self.low),
            lives.join(" ")
        );
        if self.scene.titles.len() > 1 {
            let _ = write!(title, ", {}", block.change.name());
        }
        let pinned = block.planned.pinned && self.scene.titles.len() == 1;
        let fill = if pinned { PINS } else { self.tint(shape) };
        let more = match block.collides {
            true => " stroke=\"#d00000\" stroke-width=\"2\" fill-opacity=\"0.7\"",
            false if shape.y.1 - shape.y.0 > 15 => " stroke=\"#ffffff\" stroke-width=\"0.7\"",
            false => "",
        };
        svg.rect(shape.x, shape.y, fill, &title, more);
    }

    /// The name, where the rectangle has room for it, lying or standing.
    fn label(&self, svg: &mut Svg, shape: Shape) {
        let block = &self.scene.boxes[shape.number as usize];
        let name = &block.planned.name;
        let (width, height) = (shape.x.1 - shape.x.0, shape.y.1 - shape.y.0);
        let long = 61 * name.chars().count() as i64 + 80;
        let lying = width >= long && height >= 130;
        let standing = height >= long && width >= 130;
        if !lying && !standing {
            return;
        }
        let pinned = block.planned.pinned && self.scene.titles.len() == 1;
        let look = Words {
            size: 11,
            colour: if pinned { DARK } else { self.fill(block).ink },
            anchor: "middle",
            weight: 600,
            standing: !lying,
            halo: if pinned { PAPER } else { self.tint(shape) },
        };
        let (x, y) = ((shape.x.0 + shape.x.1) / 2, (shape.y.0 + shape.y.1) / 2);
        match lying {
            true => svg.text(x, y + 40, name, &look),
            false => svg.text(x + 40, y, name, &look),
        }
    }

    /// The sum of live bytes, as a line; where several instants share half a pixel, their highest.
    fn load(&self, svg: &mut Svg) {
        let load = self.scene.load(self.lane);
        for (number, slot) in self.scene.slots.iter().enumerate() {
            let mut d = String::new();
            let (mut from, mut highest) = (None, 0);
            for at in slot.start..slot.start + slot.length {
                let left = *from.get_or_insert(self.x(number, at));
                let right = self.x(number, at + 1);
                highest = highest.max(load[at as usize]);
                if right - left >= 5 || at + 1 == slot.start + slot.length {
                    let y = Px(self.y(self.lane.floor.saturating_add(highest)));
                    match d.is_empty() {
                        true => _ = write!(d, "M{} {y}H{}", Px(left), Px(right)),
                        false => _ = write!(d, "V{y}H{}", Px(right)),
                    }
                    (from, highest) = (None, 0);
                }
            }
            if !d.is_empty() {
                let common = " fill=\"none\" stroke-linejoin=\"round\" stroke";
                svg.path(
                    &d,
                    &format!("{common}=\"{PAPER}\" stroke-width=\"3.2\" stroke-opacity=\"0.75\""),
                );
                svg.path(&d, &format!("{common}=\"{DARK}\" stroke-width=\"1.3\""));
            }
        }
        // The instant of the highest load, as a wedge at the top.
        let highest = load.iter().copied().max().unwrap_or(0);
        let at = load.iter().position(|&live| live == highest);
        if let Some(at) = at.filter(|_| highest > 0) {
            let of = |s: &&Slot<'_>| s.start as usize <= at && at < (s.start + s.length) as usize;
            let number = self.scene.slots.iter().position(|s| of(&s)).unwrap_or(0);
            let slot = &self.scene.slots[number];
            let (left, right) = (self.x(number, at as u32), self.x(number, at as u32 + 1));
            let (x, y) = ((left + right) / 2, self.top);
            let title = format!(
                "most is live at instruction {} of {}: {}",
                at - slot.start as usize,
                slot.name,
                human(highest)
            );
            let _ = writeln!(
                svg.text,
                "<path d=\"M{} {}h10l-5 8z\" fill=\"{PEAK}\"><title>{}</title></path>",
                Px(x - 50),
                Px(y),
                escape(&title)
            );
        }
    }

    /// What the host has pinned below what is drawn, as one band.
    fn pins_below(&self, svg: &mut Svg) {
        if self.low == 0 {
            return;
        }
        let (top, bottom) = (self.bottom, self.bottom + self.band);
        let below = self
            .scene
            .boxes(self.lane)
            .iter()
            .filter(|b| b.end() <= self.low)
            .count();
        svg.rect((LEFT, self.right), (top, bottom), PINS, "", "");
        let words = format!(
            "{below} pinned by the host below the floor, never moved: {}",
            human(self.low)
        );
        let look = Words {
            size: 12,
            anchor: "middle",
            halo: PAPER,
            ..Words::default()
        };
        svg.text(
            (LEFT + self.right) / 2,
            (top + bottom) / 2 + 50,
            &words,
            &look,
        );
        let small = Words {
            size: 12,
            colour: FAINT,
            anchor: "end",
            ..Words::default()
        };
        svg.text(LEFT - 80, bottom + 40, "0", &small);
    }

    /// The peak and the lower bound, as lines with their figures.
    fn levels(&self, svg: &mut Svg) {
        let (peak, bound) = (self.lane.peak, self.lane.bound);
        let mut level =
            |address: u64, words: &str, colour: &'static str, dash: &str, below: bool| {
                let y = self.y(address);
                svg.line(
                    (LEFT, y),
                    (self.right, y),
                    colour,
                    &format!(" stroke-width=\"1.8\"{dash}"),
                );
                // One above its line and one below, so that two close levels stay legible.
                let look = Words {
                    size: 12,
                    colour,
                    anchor: "end",
                    weight: 600,
                    halo: PAPER,
                    standing: false,
                };
                let at = if below { y + 160 } else { y - 60 };
                svg.text(
                    self.right,
                    at,
                    &format!("{words} {}", place(address, self.low)),
                    &look,
                );
            };
        if peak == bound {
            level(peak, "peak = lower bound", PEAK, "", false);
            return;
        }
        level(peak, "peak", PEAK, "", false);
        if bound > self.low {
            level(
                bound,
                "lower bound",
                BOUND,
                " stroke-dasharray=\"7 4\"",
                true,
            );
        }
    }
}

/// An address, counted from where the picture begins.
fn place(address: u64, low: u64) -> String {
    match address.checked_sub(low) {
        Some(offset) if low > 0 => format!("+{}", human(offset)),
        _ => human(address),
    }
}

/// The colour of a mosaic: usages, then changes, then what collides.
fn mosaic_colour(number: u8) -> &'static str {
    match number {
        COLLIDES => "#d00000",
        CHANGES.. => Change::ALL[usize::from(number - CHANGES)].fill().tints[0],
        _ => palette::usage(Usage::ALL[usize::from(number)]).tints[0],
    }
}

const CHANGES: u8 = Usage::ALL.len() as u8;
const COLLIDES: u8 = CHANGES + Change::ALL.len() as u8;
