//! A problem as the exact search sees it: items over sections of time, heights in whole units.
//!
//! An item is one or several *parts*, runs of sections in each of which it takes some height; all
//! parts start at the same height. Pins are items too, whose start is given: the search places
//! them like the rest, which keeps its bounds aware of them.
//!
//! **Units.** In any placement items can be pushed down until each rests on another one, on a pin
//! or on the lowest start that its rules allow. The search looks only for placements of this kind,
//! and their starts are multiples of the greatest common divisor of sizes, alignments and edges.
//! So this *unit* loses nothing, and heights are small numbers.
//!
//! **Rules.** Alignment, pages, regions and pins leave each item a fixed set of starts.
//! [`Model::admit`] raises a start to the next one of them. It is monotone, all that the search
//! asks of it; which rules there are does not concern the search.

use std::ops::Range;

use super::sections::sections;
use crate::ir::Usage;
use crate::place::Problem;
use crate::place::prepared::Prepared;
use crate::sorting::CompactSort as _;
use dramalloc_engine::WithinPage;

/// No start is that high.
pub(super) const NOWHERE: u64 = u64::MAX;

/// A run of sections in which an item takes `size` units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) sections: Range<u32>,
    pub(super) size: u64,
}

impl Part {
    pub(super) fn run(&self) -> Range<usize> {
        self.sections.start as usize..self.sections.end as usize
    }
}

/// The rules on an item's start beside its neighbours.
#[derive(Clone, Debug, Default)]
struct Rules {
    /// The start, counted from address 0, is a multiple of this many units.
    align: u64,
    /// The item stays within one page of so many units; 0: it may cross whatever it likes.
    page: u64,
    /// Half-open ranges of refused starts; ascending and disjoint.
    refused: Vec<(u64, u64)>,
}

/// A problem in sections and units; heights count from `origin`.
#[derive(Debug)]
pub(super) struct Model {
    /// Bytes in a unit.
    pub(super) unit: u64,
    /// The address of height 0.
    pub(super) origin: u64,
    /// How many sections there are.
    pub(super) sections: usize,
    /// How many of the items are to be placed; pins follow.
    pub(super) movable: usize,
    /// The parts of item `i` are `parts[first_part[i]..first_part[i + 1]]`, ascending.
    pub(super) parts: Vec<Part>,
    pub(super) first_part: Vec<u32>,
    /// From the first to the last section of each item.
    pub(super) hull: Vec<Range<u32>>,
    /// The greatest and the least height of any part.
    pub(super) size: Vec<u64>,
    pub(super) least: Vec<u64>,
    /// How long each item lives, in instructions.
    pub(super) duration: Vec<u64>,
    /// The start of each pin, by item less `movable`.
    pub(super) pinned: Vec<u64>,
    /// Empty if every start is admitted to every item, so that items may swap their places.
    rules: Vec<Rules>,
    /// Height 0 in units from address 0, for the rules.
    lift: u64,
    /// A refutation here is one of the problem.
    pub(super) faithful: bool,
}

impl Model {
    /// The model of `problem`.
    ///
    /// In-place pairs and the collective region are not modelled in full: the placements found are
    /// valid, and a refutation proves nothing (`faithful` is false).
    pub(super) fn new(prepared: &Prepared<'_>) -> Model {
        let problem = prepared.problem;
        let pages: Vec<u64> = (0..problem.items.len() as u32)
            .map(|item| prepared.page_of(item))
            .collect();
        let origin = problem.floor;
        let grain = gcd_all(
            problem
                .items
                .iter()
                .flat_map(|item| [item.size, item.align]),
        );
        let pins = pins_above(problem, origin, grain);
        let windows = windows(problem, origin, grain);
        let unit = unit(problem, origin, &pages, &pins, &windows);

        let mut segments = problem.lives.all().to_vec();
        for &(pin, ..) in &pins {
            segments.extend(problem.pin_lives.of(pin));
        }
        let (runs, count) = sections(&segments);

        let mut model = Model {
            unit,
            origin,
            sections: count as usize,
            movable: problem.items.len(),
            parts: Vec::with_capacity(runs.len()),
            first_part: vec![0],
            hull: Vec::new(),
            size: Vec::new(),
            least: Vec::new(),
            duration: Vec::new(),
            pinned: Vec::new(),
            rules: Vec::new(),
            lift: origin / unit,
            faithful: problem.pairs.is_empty() && problem.collective_limit.is_none(),
        };
        let mut next = 0;
        for (i, item) in problem.items.iter().enumerate() {
            let lives = problem.lives.of(i);
            let duration = lives
                .iter()
                .map(|s| u64::from(s.last().0 - s.first().0) + 1);
            model.duration.push(duration.sum());
            model.push_item(&runs[next..next + lives.len()], item.size / unit);
            next += lives.len();
        }
        let mut rectangles = Vec::new();
        for &(pin, start, end) in &pins {
            for _ in problem.pin_lives.of(pin) {
                rectangles.push((runs[next].clone(), start / unit, end / unit));
                next += 1;
            }
        }
        for (run, start, end) in disjoint(rectangles) {
            model.pinned.push(start);
            model.duration.push(0);
            model.push_item(&[run], end - start);
        }
        model.set_rules(problem, &pages, &windows);
        model
    }

    /// How many items there are, pins among them.
    pub(super) fn items(&self) -> usize {
        self.size.len()
    }

    /// The parts of an item.
    pub(super) fn parts_of(&self, item: usize) -> &[Part] {
        &self.parts[self.first_part[item] as usize..self.first_part[item + 1] as usize]
    }

    /// Whether the item is a pin.
    pub(super) fn is_pin(&self, item: usize) -> bool {
        item >= self.movable
    }

    /// Whether every item may start anywhere and has one part: nothing but sizes and lives count.
    pub(super) fn is_plain(&self) -> bool {
        self.rules.is_empty() && self.pinned.is_empty() && self.parts.len() == self.items()
    }

    /// Whether two items may stand for each other in every placement.
    pub(super) fn interchangeable(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.parts_of(a), self.parts_of(b));
        let alike = |rules: &[Rules]| {
            let (a, b) = (&rules[a], &rules[b]);
            a.align == b.align && a.page == b.page && a.refused == b.refused
        };
        x == y && (self.rules.is_empty() || alike(&self.rules))
    }

    /// The least start of `item`, at or above `height`, that its rules admit; [`NOWHERE`] if there
    /// is none. Monotone in `height`.
    pub(super) fn admit(&self, item: usize, height: u64) -> u64 {
        if self.rules.is_empty() || self.is_pin(item) || height == NOWHERE {
            return height;
        }
        let rules = &self.rules[item];
        let mut at = height;
        loop {
            let before = at;
            if rules.page > 0 {
                let (size, align, page) = (self.size[item], rules.align, rules.page);
                let starts = WithinPage { size, align, page }; // P3, P7
                let Some(next) = starts.next(self.lift + at) else {
                    return NOWHERE;
                };
                at = next - self.lift;
            } else {
                at = (self.lift + at).next_multiple_of(rules.align) - self.lift;
            }
            let next = rules.refused.partition_point(|&(_, end)| end <= at);
            if let Some(&(start, end)) = rules.refused.get(next)
                && start <= at
            {
                at = end;
            }
            if at == before || at == NOWHERE {
                return at;
            }
        }
    }

    /// Leaves the marked items of a plain model, which have one part each, above another origin.
    pub(super) fn retain(&mut self, stays: &[bool], origin: u64) {
        debug_assert!(self.is_plain());
        (self.origin, self.lift) = (origin, origin / self.unit);
        fn retain<T>(values: &mut Vec<T>, stays: &[bool]) {
            let mut stays = stays.iter();
            values.retain(|_| *stays.next().expect("one for each item"));
        }
        retain(&mut self.parts, stays);
        retain(&mut self.hull, stays);
        retain(&mut self.size, stays);
        retain(&mut self.least, stays);
        retain(&mut self.duration, stays);
        self.movable = self.parts.len();
        self.first_part.truncate(self.movable + 1); // One part each: 0, 1, 2 and so on.
    }

    fn push_item(&mut self, runs: &[Range<u32>], size: u64) {
        let start = self.parts.len();
        for run in runs {
            // A hole in which nobody is born leaves no trace in the sections.
            match self.parts[start..].last_mut() {
                Some(last) if last.sections.end == run.start => last.sections.end = run.end,
                _ => self.parts.push(Part {
                    sections: run.clone(),
                    size,
                }),
            }
        }
        self.first_part.push(self.parts.len() as u32);
        self.hull
            .push(runs[0].start..runs.last().expect("an item has a life").end); // I3
        self.size.push(size);
        self.least.push(size);
    }

    fn set_rules(&mut self, problem: &Problem, pages: &[u64], windows: &Windows) {
        let aligned = problem.items.iter().any(|item| {
            !self.unit.is_multiple_of(item.align) || !self.origin.is_multiple_of(item.align)
        });
        let paged = pages.iter().any(|&page| page > 0);
        if !aligned && !paged && self.pinned.is_empty() && windows.admit_everything() {
            return;
        }
        for (i, item) in problem.items.iter().enumerate() {
            let trivial =
                self.unit.is_multiple_of(item.align) && self.origin.is_multiple_of(item.align);
            let mut refused = windows.refused(problem.usage(i as u32), item.size, self);
            for (pin, &start) in self.pinned.iter().enumerate() {
                let pin = self.movable + pin;
                let run = &self.parts_of(pin)[0].sections;
                let meets =
                    |part: &&Part| part.sections.start < run.end && run.start < part.sections.end;
                let met = self.parts_of(i).iter().filter(meets).map(|part| part.size);
                if let Some(height) = met.max() {
                    refused.push(((start + 1).saturating_sub(height), start + self.size[pin]));
                }
            }
            self.rules.push(Rules {
                align: if trivial { 1 } else { item.align / self.unit },
                page: pages[i] / self.unit,
                refused: union(refused),
            });
        }
    }
}

/// The windows that admit each usage, in bytes above the origin. // P5, P6
struct Windows(Vec<(Usage, Vec<(u64, u64)>)>);

impl Windows {
    fn admit_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// The half-open ranges of starts, in units, at which an item would leave its windows.
    fn refused(&self, usage: Usage, size: u64, model: &Model) -> Vec<(u64, u64)> {
        let Some((_, windows)) = self.0.iter().find(|(of, _)| *of == usage) else {
            return Vec::new();
        };
        let mut refused = Vec::new();
        let mut from = 0; // One past the last start that the window before admits.
        for &(base, end) in windows {
            let Some(last) = end.checked_sub(size).filter(|last| *last >= base) else {
                continue;
            };
            refused.push((from, base / model.unit));
            from = last / model.unit + 1;
        }
        refused.push((from, NOWHERE));
        refused.retain(|&(from, to)| from < to);
        refused
    }
}

/// What each usage's windows are, rounded inward to `grain` bytes. // P5, P6
fn windows(problem: &Problem, origin: u64, grain: u64) -> Windows {
    let mut windows = Vec::new();
    let mut seen: Vec<Usage> = Vec::new();
    for item in 0..problem.items.len() as u32 {
        let usage = problem.usage(item);
        if seen.contains(&usage) {
            continue;
        }
        seen.push(usage);
        let mut of: Vec<(u64, u64)> = Vec::new();
        let round = |base: u64, end: u64| {
            let base = base.max(origin).checked_next_multiple_of(grain)?;
            let end = end / grain * grain;
            (base < end).then(|| (base - origin, end - origin))
        };
        // Collective items have a region of their own, within the others. // P5
        let own = problem
            .collective_limit
            .filter(|_| usage == Usage::Collective)
            .map(|limit| problem.floor.saturating_add(limit));
        let ceiling = own.map_or(problem.ceiling, |end| end.min(problem.ceiling));
        for region in &problem.regions {
            if region.usages.contains(usage) {
                let end = region.base.saturating_add(region.size);
                of.extend(round(region.base, end.min(ceiling)));
            }
        }
        if problem.regions.is_empty() {
            if own.is_none() {
                continue;
            }
            of.extend(round(origin, ceiling));
        }
        windows.push((usage, of));
    }
    Windows(windows)
}

/// The pins that reach above the origin: number, start and end in bytes above it, rounded outward
/// to `grain` bytes, which no item can tell from the exact ones: it divides all starts and sizes.
fn pins_above(problem: &Problem, origin: u64, grain: u64) -> Vec<(usize, u64, u64)> {
    let mut pins = Vec::new();
    for (i, pin) in problem.pins.iter().enumerate() {
        let start = (pin.start / grain * grain).max(origin);
        let end = pin.end.checked_next_multiple_of(grain).unwrap_or(pin.end);
        if start < end && pin.start < pin.end && !problem.pin_lives.of(i).is_empty() {
            pins.push((i, start - origin, end - origin));
        }
    }
    pins
}

/// The largest unit that loses no placement worth having.
fn unit(
    problem: &Problem,
    origin: u64,
    pages: &[u64],
    pins: &[(usize, u64, u64)],
    windows: &Windows,
) -> u64 {
    let mut unit = gcd_all(problem.items.iter().map(|item| item.size));
    for &(_, start, end) in pins {
        unit = gcd(gcd(unit, start), end);
    }
    for &(base, end) in windows.0.iter().flat_map(|(_, windows)| windows) {
        unit = gcd(gcd(unit, base), end);
    }
    for &page in pages.iter().filter(|&&page| page > 0) {
        unit = gcd(gcd(unit, page), origin);
    }
    // An alignment that divides the unit and the origin is met by itself. One that does not must
    // be a whole number of units; this makes the unit smaller, and others may stop dividing it.
    loop {
        let before = unit;
        for item in &problem.items {
            if !unit.is_multiple_of(item.align) || !origin.is_multiple_of(item.align) {
                unit = gcd(gcd(unit, item.align), origin);
            }
        }
        if unit == before {
            return unit.max(1);
        }
    }
}

/// Cuts rectangles of (sections, start, end) so that no two of them overlap, and joins what
/// touches: hosts may pin several things to the same bytes.
fn disjoint(rectangles: Vec<(Range<u32>, u64, u64)>) -> Vec<(Range<u32>, u64, u64)> {
    let mut edges: Vec<u32> = rectangles
        .iter()
        .flat_map(|(run, ..)| [run.start, run.end])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut done = Vec::new();
    let mut open: Vec<(Range<u32>, u64, u64)> = Vec::new();
    for edge in edges.windows(2) {
        let alive = rectangles
            .iter()
            .filter(|(run, ..)| run.start <= edge[0] && edge[1] <= run.end);
        let heights = alive.map(|&(_, start, end)| (start, end)).collect();
        let mut now = Vec::new();
        for (start, end) in union(heights) {
            let same = |old: &(Range<u32>, u64, u64)| {
                old.0.end == edge[0] && (old.1, old.2) == (start, end)
            };
            let from = match open.iter().position(same) {
                Some(i) => open.swap_remove(i).0.start,
                None => edge[0],
            };
            now.push((from..edge[1], start, end));
        }
        done.append(&mut open);
        open = now;
    }
    done.append(&mut open);
    done.sort_compact_by(|(a, at, _), (b, bt, _)| (a.start, at).cmp(&(b.start, bt)));
    done
}

/// The union of half-open ranges, as disjoint ones that do not touch.
fn union(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_compact();
    let mut result: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match result.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => result.push((start, end)),
        }
    }
    result
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn gcd_all(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, gcd)
}
