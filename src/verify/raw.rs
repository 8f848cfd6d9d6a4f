//! Raw problems: rows of lives and sizes, and one offset each. // C9, F
//!
//! Sizes are exact; pins are obstacles while they live, or lie below the floor. Times are
//! half-open in a raw problem; `[lower, upper)` becomes the closed `[lower, upper - 1]` here and nowhere else.

use std::collections::BTreeMap;

use super::bound::Loads;
use super::findings::{At, Findings, Violation};
use super::page_up;
use super::sweep::{Next, Rect, overlaps};
use crate::ir::Usage;
use crate::options::{Floor, Options, Strategy};
use crate::pace::Pace;
use crate::plan::Status;
use crate::raw::{RawPlan, RawProblem};
use crate::sorting::CompactSort as _;

/// Everything wrong with the offsets of a raw problem.
pub fn verify_raw(problem: &RawProblem, options: &Options, offsets: &[u64]) -> Vec<Violation> {
    let mut findings = Findings::default();
    rows(problem, options, offsets, &mut findings);
    findings.finish()
}

/// Everything wrong with the offsets and the figures of a raw plan.
pub fn verify_raw_plan(problem: &RawProblem, options: &Options, plan: &RawPlan) -> Vec<Violation> {
    let mut findings = Findings::default();
    if let Some(rows) = rows(problem, options, &plan.offsets, &mut findings) {
        figures(&rows, options, plan, &mut findings);
    }
    findings.finish()
}

/// The rows as boxes.
#[derive(Default)]
struct Rows {
    floor: u64,
    /// The candidates, then the pins.
    boxes: Vec<Rect>,
    /// How many are candidates.
    candidates: usize,
}

impl Rows {
    fn candidates(&self) -> &[Rect] {
        &self.boxes[..self.candidates]
    }

    fn pins(&self) -> &[Rect] {
        &self.boxes[self.candidates..]
    }
}

fn rows(
    problem: &RawProblem,
    options: &Options,
    offsets: &[u64],
    findings: &mut Findings,
) -> Option<Rows> {
    let n = problem.sizes.len();
    let at = At::default();
    let starts = &problem.starts;
    let shape = starts.len() == n + 1
        && starts.windows(2).all(|w| w[0] <= w[1])
        && starts[0] == 0
        && starts[n] as usize == problem.segments.len()
        && [
            problem.alignments.len(),
            problem.pins.len(),
            problem.labels.len(),
        ]
        .iter()
        .all(|&len| len == 0 || len == n)
        && problem.alignments.iter().all(|&a| a > 0)
        && problem.segments.iter().all(|s| s.0 <= s.1);
    if !shape {
        findings.say("bad_problem", at, || {
            "the lists of the problem do not fit together".to_owned()
        });
        return None;
    }
    if offsets.len() != n {
        let given = offsets.len();
        findings.say("missing", at, || format!("{given} offsets for {n} rows"));
        return None;
    }
    let label = |row: usize| match problem.labels.get(row) {
        Some(label) => label.to_owned(),
        None => format!("#{row}"),
    };
    let pinned = problem.pins.iter().zip(&problem.sizes).enumerate();
    let pinned = pinned.filter(|(row, (_, size))| **size > 0 && is_live(problem, *row));
    let end = pinned
        .filter_map(|(_, (pin, size))| Some((*pin)?.saturating_add(*size)))
        .max();
    let floor = match options.floor {
        Floor::Holes => 0,
        Floor::Hwm => u64::try_from(page_up(end.unwrap_or(0))).unwrap_or(u64::MAX), // P4
    };
    let mut rows = Rows {
        floor,
        boxes: Vec::with_capacity(problem.segments.len()),
        candidates: 0,
    };
    let (mut pins, mut lives) = (Vec::new(), Vec::new());
    for (row, (&start, &size)) in offsets.iter().zip(&problem.sizes).enumerate() {
        let mut say = |kind: &'static str, message: String| {
            findings.add(kind, at, || (vec![label(row)], message));
        };
        let pin = problem.pins.get(row).copied().flatten();
        if let Some(pin) = pin.filter(|&pin| pin != start) {
            say("moved_pin", format!("pinned at {pin}, moved to {start}"));
            continue;
        }
        let Some(end) = start.checked_add(size) else {
            say(
                "out_of_range",
                format!("{start} + {size} bytes end past 64 bits"),
            );
            continue;
        };
        lives_of(problem, row, &mut lives);
        if size == 0 || lives.is_empty() {
            let home = if lives.is_empty() { 0 } else { floor }; // L10
            if start != home && pin.is_none() {
                say(
                    "zero_bytes",
                    format!("it takes no bytes at any time and lies at {start}, not {home}"),
                );
            }
            continue;
        }
        let align = problem.alignments.get(row).copied();
        let align = align.or(options.align).unwrap_or(1);
        if pin.is_none() && start < floor {
            say("below_floor", format!("{start} is below the floor {floor}"));
        }
        if pin.is_none() && start % align != 0 {
            say(
                "misaligned",
                format!("{start} is not a multiple of {align}"),
            );
        }
        if options
            .core_capacity()
            .is_some_and(|capacity| end > capacity)
        {
            let capacity = options.core_capacity();
            say(
                "over_capacity",
                format!("it ends at {end}, the capacity is {capacity:?}"),
            );
        }
        let regions = &problem.regions;
        let inside = regions.iter().any(|r| {
            let to = r.base.saturating_add(r.size);
            r.usages.contains(Usage::Internal) && r.base <= start && end <= to
        });
        if pin.is_none() && !regions.is_empty() && !inside {
            say(
                "outside_region",
                format!("[{start}, {end}) is in no one region"),
            );
        }
        let list = if pin.is_some() {
            &mut pins
        } else {
            &mut rows.boxes
        };
        list.extend(lives.iter().map(|&(first, last)| Rect {
            first,
            last,
            start,
            end,
            owner: row as u32,
        }));
    }
    rows.candidates = rows.boxes.len();
    rows.boxes.append(&mut pins);
    overlaps(&rows.boxes, &mut Pace::free(), |a, b| {
        let both = a >= rows.candidates && b >= rows.candidates;
        let (a, b) = (&rows.boxes[a], &rows.boxes[b]);
        findings.add(if both { "pins_overlap" } else { "overlap" }, at, || {
            let names = vec![label(a.owner as usize), label(b.owner as usize)];
            let message = format!(
                "they lie in [{}, {}) and [{}, {}) while both are live",
                a.start, a.end, b.start, b.end
            );
            (names, message)
        });
        if findings.enough("overlap") {
            Next::Stop
        } else {
            Next::Continue
        }
    });
    Some(rows)
}

/// Whether a row is live at any time.
fn is_live(problem: &RawProblem, row: usize) -> bool {
    let of_row = problem.starts[row] as usize..problem.starts[row + 1] as usize;
    problem.segments[of_row].iter().any(|s| s.0 < s.1)
}

/// When a row is live: the closed runs of its half-open segments, ascending, disjoint, without the
/// empty ones. The numbers of times keep their order and are never negative.
fn lives_of(problem: &RawProblem, row: usize, runs: &mut Vec<(u64, u64)>) {
    let of_row = problem.starts[row] as usize..problem.starts[row + 1] as usize;
    let number = |time: i64| (time as u64) ^ (1 << 63);
    let live = problem.segments[of_row].iter().filter(|s| s.0 < s.1);
    runs.clear();
    runs.extend(live.map(|&(lower, upper)| (number(lower), number(upper) - 1)));
    if runs.len() < 2 {
        return;
    }
    runs.sort_compact();
    runs.dedup_by(|next, kept| {
        let meets = next.0 <= kept.1;
        if meets {
            kept.1 = kept.1.max(next.1);
        }
        meets
    });
}

fn figures(rows: &Rows, options: &Options, plan: &RawPlan, findings: &mut Findings) {
    let at = At::default();
    let peak = rows
        .candidates()
        .iter()
        .map(|r| r.end)
        .max()
        .unwrap_or(rows.floor);
    if plan.floor != rows.floor {
        let (said, is) = (plan.floor, rows.floor);
        findings.say("wrong_floor", at, || {
            format!("the plan says {said}, it is {is}")
        });
    }
    if plan.peak != peak {
        findings.say("wrong_peak", at, || {
            format!("the plan says {}, it is {peak}", plan.peak)
        });
    }
    let loads = Loads {
        candidates: rows.candidates(),
        pairs: &[],
        pins: if options.floor == Floor::Hwm {
            &[]
        } else {
            rows.pins()
        },
    };
    let proven = loads.bound(&mut Pace::free()) + u128::from(rows.floor);
    let bound = u128::from(plan.bound);
    let searched = options.strategy == Strategy::Best;
    if bound < proven || bound > u128::from(peak) {
        findings.say("wrong_bound", at, || {
            format!("the plan says {bound}, the load proves {proven}")
        });
    } else if bound > proven && !searched {
        findings.say("unproven_bound", at, || {
            format!("the plan says {bound}, the load proves {proven}")
        });
    }
    let least_copies = runtime_pages(rows, options, plan, findings);
    let wrong = match plan.status {
        Status::Optimal => plan.peak != plan.bound || !least_copies,
        Status::Feasible => false,
        Status::Infeasible | Status::Unknown => true,
    };
    if wrong {
        findings.say("wrong_status", at, || {
            format!(
                "the plan says {} with peak {} and bound {bound}",
                plan.status, plan.peak
            )
        });
    }
}

/// The figures of a runtime with pages. Returns whether no row straddles one that need not. // P7
fn runtime_pages(rows: &Rows, options: &Options, plan: &RawPlan, findings: &mut Findings) -> bool {
    let page = options.runtime_page_bytes();
    let (mut pages, mut straddlers) = (0, BTreeMap::new());
    let candidates = rows.candidates().iter().map(|r| (r, false));
    let boxes = candidates.chain(rows.pins().iter().map(|r| (r, true)));
    for (r, pinned) in boxes.filter(|_| page > 0) {
        let last = (r.end - 1) / page;
        pages = pages.max(last + 1);
        if r.start / page != last {
            let unavoidable = pinned || r.end - r.start > page;
            straddlers.insert(r.owner, (r.end - r.start, unavoidable)); // One life of several.
        }
    }
    let bytes = straddlers.values().map(|&(bytes, _)| bytes);
    let private = bytes.fold(0, u64::saturating_add);
    let listed: Vec<u32> = straddlers.keys().copied().collect();
    if listed != plan.straddlers {
        findings.say("wrong_straddlers", At::default(), || {
            format!("the plan says {:?}, they are {listed:?}", plan.straddlers)
        });
    }
    if (plan.runtime_pages, plan.private_bytes) != (pages, private) {
        let told = (plan.runtime_pages, plan.private_bytes);
        findings.say("wrong_metric", At::default(), || {
            format!("the plan says {told:?} pages and private bytes, they are {pages}, {private}")
        });
    }
    straddlers.values().all(|&(_, unavoidable)| unavoidable)
}
