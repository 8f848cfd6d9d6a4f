//! Raw problems: buffers without a program, as solvers exchange them. // C9, F
//!
//! Times are half-open here, `[lower, upper)`, as in the published instances. This file ranks
//! them, so that any 64-bit times become the closed segments of 32-bit indices that everything
//! else uses, and ranks the rows, so that their order in the input decides nothing but ties
//! between equal rows. // S4

use crate::control::Control;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Segment, Usage};
use crate::options::{Floor, Options};
use crate::place::{self, Hint, Item, Kept, Named, PAGE, Pin, Problem, Region, Unsolved};
use crate::plan::Status;
use crate::sorting::sort_unless;

/// Buffers in rows; every list but `regions` and `segments` has one entry per row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawProblem {
    /// Row `i` is live over `segments[starts[i]..starts[i + 1]]`; one entry more than rows.
    pub starts: Vec<u32>,
    /// Half-open `(lower, upper)`; empty ones count for nothing.
    pub segments: Vec<(i64, i64)>,
    /// Bytes.
    pub sizes: Vec<u64>,
    /// At least 1; not only powers of two. Empty: the option's, else 1.
    pub alignments: Vec<u64>,
    /// The host's own addresses. Empty: none.
    pub pins: Vec<Option<u64>>,
    /// Where the rows lay before: a warm start, not trusted. Empty: not known. // S2
    pub hints: Vec<Option<u64>>,
    /// How messages call the rows. Empty: by number.
    pub labels: Vec<String>,
    /// Windows of the address space. Empty: one without bounds.
    pub regions: Vec<Region>,
}

/// Where the rows of a raw problem lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawPlan {
    /// The first byte of each row.
    pub offsets: Vec<u64>,
    /// One past the highest byte placed, pins excluded; the floor if nothing was.
    pub peak: u64,
    /// No placement has a lower peak; with a runtime page: none with as few private bytes.
    pub bound: u64,
    /// Nothing was placed below.
    pub floor: u64,
    /// Whether the peak is proven; with a runtime page also that no other row need straddle less.
    pub status: Status,
    /// How many of the hints were kept; none if there are none.
    pub kept: Kept,
    /// Pages of the runtime that the rows reach into, pins included; 0 if the option is off. // P7
    pub runtime_pages: u64,
    /// Bytes of the copies that straddling costs. // P7
    pub private_bytes: u64,
    /// The rows that straddle a page of the runtime, ascending, pins among them. // P7
    pub straddlers: Vec<u32>,
}

impl RawProblem {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The half-open segments of a row.
    ///
    /// # Panics
    ///
    /// If the problem is not well formed; see [`RawProblem::validate`].
    pub fn segments_of(&self, row: usize) -> &[(i64, i64)] {
        &self.segments[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The alignment of a row that declares none is `default`.
    pub(crate) fn alignment(&self, row: usize, default: u64) -> u64 {
        self.alignments.get(row).copied().unwrap_or(default)
    }

    /// The pin of a row.
    pub fn pin(&self, row: usize) -> Option<u64> {
        self.pins.get(row).copied().flatten()
    }

    /// How messages call a row.
    pub fn label(&self, row: usize) -> String {
        self.labels
            .get(row)
            .cloned()
            .unwrap_or_else(|| format!("#{row}"))
    }

    /// Refuses rows that mean nothing: wrong lengths, inverted or overlapping segments, pins past
    /// 64 bits, alignments of 0.
    pub fn validate(&self) -> Result<()> {
        let rows = self.sizes.len();
        let fits = |len: usize| len == rows || len == 0;
        if self.starts.len() != rows + 1
            || self.starts[0] != 0
            || self.starts[rows] as usize != self.segments.len()
            || self.starts.windows(2).any(|w| w[0] > w[1])
        {
            return Err(Error::invalid(
                "starts",
                "ascends from 0 to the number of segments",
            ));
        }
        if !fits(self.alignments.len())
            || !fits(self.pins.len())
            || !fits(self.hints.len())
            || !fits(self.labels.len())
        {
            return Err(Error::invalid(
                "rows",
                "every list has one entry per row, or none",
            ));
        }
        (0..rows).try_for_each(|row| {
            self.validate_row(row)
                .map_err(|e| e.at_location(&self.label(row)))
        })
    }

    fn validate_row(&self, row: usize) -> Result<()> {
        let mut last = i64::MIN;
        for &(lower, upper) in self.segments_of(row) {
            if lower > upper {
                return Err(Fault::Inverted { lower, upper }.into());
            }
            if lower < last {
                return Err(Error::invalid(
                    "segments",
                    "those of one row ascend and are disjoint",
                ));
            }
            last = upper;
        }
        if self.alignment(row, 1) == 0 {
            return Err(Error::invalid("alignment", "is at least 1"));
        }
        if let Some(address) = self.pin(row)
            && address.checked_add(self.sizes[row]).is_none()
        {
            let what = format!("its pinned address {address} + {} bytes", self.sizes[row]);
            return Err(Fault::Overflow { what }.into());
        }
        Ok(())
    }
}

/// Places a raw problem: exact bytes, pins as obstacles (`floor: holes`) or below everything.
///
/// Of the options it reads `strategy`, `capacity`, `preset`, `budget_*`, `floor`, `align` and
/// `keep` and `runtime_page`.
/// A row of no bytes lies at the floor, a row without a life at 0.
pub fn solve_raw(
    raw: &RawProblem,
    options: &Options,
    control: &mut Control<'_>,
) -> Result<RawPlan> {
    options.validate()?;
    raw.validate()?;
    control.check()?;
    let ranked = Ranked::new(raw, options, control)?;
    let solved = place::solve(
        &ranked.problem,
        options.strategy,
        options.budget_steps,
        control,
    )
    .map_err(|unsolved| ranked.explain(raw, unsolved, control))?;
    let floor = ranked.problem.floor;
    let mut offsets: Vec<u64> = (0..raw.len())
        .map(|row| {
            raw.pin(row)
                .unwrap_or(if raw.segments_of(row).iter().all(|s| s.0 == s.1) {
                    0
                } else {
                    floor
                })
        })
        .collect();
    for (&row, &offset) in ranked.rows.iter().zip(&solved.placement.offsets) {
        offsets[row as usize] = offset;
    }
    let kept = Kept::of(&ranked.problem, &solved.placement.offsets);
    let mut plan = RawPlan {
        offsets,
        peak: solved.placement.peak,
        bound: solved.bound,
        floor,
        status: solved.status,
        kept,
        ..RawPlan::default()
    };
    if options.runtime_page > 0 {
        add_runtime_pages(&mut plan, raw, options.runtime_page_bytes());
    }
    Ok(plan)
}

/// What the plan costs a runtime with pages of so many bytes. // P7
fn add_runtime_pages(plan: &mut RawPlan, raw: &RawProblem, page: u64) {
    for row in 0..raw.len() {
        let (start, size) = (plan.offsets[row], raw.sizes[row]);
        let is_live = raw.segments_of(row).iter().any(|s| s.0 < s.1);
        if size == 0 || !is_live {
            continue; // It has no bytes at any time.
        }
        let end = start.saturating_add(size);
        plan.runtime_pages = plan.runtime_pages.max(end.div_ceil(page));
        if place::straddles(start, size, page) {
            plan.private_bytes = plan.private_bytes.saturating_add(size);
            plan.straddlers.push(row as u32);
        }
    }
}

/// Rows taken in between two looks at the host's flag and clock.
const ROWS_PER_CHECK: usize = 1 << 14;

/// A raw problem with its times and rows ranked.
struct Ranked {
    problem: Problem,
    /// The row of each item.
    rows: Vec<u32>,
    /// The row of each pin.
    pin_rows: Vec<u32>,
    /// The time of each rank.
    times: Vec<i64>,
}

impl Ranked {
    fn new(raw: &RawProblem, options: &Options, control: &Control<'_>) -> Result<Ranked> {
        let mut times: Vec<i64> = raw.segments.iter().flat_map(|&(l, u)| [l, u]).collect();
        control.check()?;
        control.unless_stopped(|stop| sort_unless(&mut times, stop))?;
        times.dedup();
        let rank = Ranks::new(&times);
        control.check()?;
        let segments = |row: u32| {
            let live = raw.segments_of(row as usize).iter().filter(|s| s.0 < s.1);
            // Touching runs are one: nothing can be placed between them.
            let mut merged: Vec<(u32, u32)> = Vec::new();
            for &(lower, upper) in live {
                let (first, last) = (rank.of(lower), rank.of(upper) - 1);
                match merged.last_mut() {
                    Some(run) if run.1 + 1 == first => run.1 = last,
                    _ => merged.push((first, last)),
                }
            }
            merged.into_iter().map(|(first, last)| {
                Segment::new(FlatIndex(first), FlatIndex(last)).expect("lower < upper")
            })
        };
        let default_align = options.align.unwrap_or(1);
        let live = |&row: &u32| {
            raw.sizes[row as usize] > 0 && raw.segments_of(row as usize).iter().any(|s| s.0 < s.1)
        };
        let (mut rows, pin_rows): (Vec<u32>, Vec<u32>) = (0..raw.len() as u32)
            .filter(live)
            .partition(|&row| raw.pin(row as usize).is_none());
        control.check()?;
        // The dense id of raw problems. // T
        let key = |row: u32| {
            let live = raw.segments_of(row as usize);
            let (lower, upper) = (live[0].0, live[live.len() - 1].1);
            let align = raw.alignment(row as usize, default_align);
            (lower, upper, raw.sizes[row as usize], align, row)
        };
        let mut keys: Vec<_> = rows.iter().map(|&row| key(row)).collect();
        control.check()?;
        control.unless_stopped(|stop| sort_unless(&mut keys, stop))?;
        rows = keys.into_iter().map(|key| key.4).collect();
        let mut problem = Problem {
            ceiling: options.core_capacity().unwrap_or(u64::MAX),
            regions: raw.regions.clone(),
            runtime_page: options.runtime_page_bytes(),
            granule: 1,
            ..Problem::default()
        };
        problem.regions.sort_by_key(|r| r.base);
        if !raw.hints.is_empty() {
            problem.hint = Hint {
                starts: rows.iter().map(|&row| raw.hints[row as usize]).collect(),
                keep: options.keep,
            };
        }
        for (i, &row) in rows.iter().enumerate() {
            if i % ROWS_PER_CHECK == 0 {
                control.check()?;
            }
            problem.items.push(Item {
                size: raw.sizes[row as usize],
                align: raw.alignment(row as usize, default_align),
                usage: Usage::Internal,
            });
            problem.lives.push(segments(row));
        }
        for &row in &pin_rows {
            let start = raw.pin(row as usize).expect("partitioned by it");
            problem.pins.push(Pin {
                start,
                end: start + raw.sizes[row as usize],
            });
            problem.pin_lives.push(segments(row));
        }
        if let Some((a, b)) = place::overlapping_pins(&problem.pins, &problem.pin_lives) {
            let (a, b) = (a.min(b), a.max(b));
            let other = raw.label(pin_rows[a] as usize);
            let fault = Fault::PinsOverlap {
                start: problem.pins[b].start,
                end: problem.pins[b].end,
                other,
                other_start: problem.pins[a].start,
                other_end: problem.pins[a].end,
            };
            return Err(Error::from(fault).at_location(&raw.label(pin_rows[b] as usize)));
        }
        if options.floor == Floor::Hwm {
            let end = problem.pins.iter().map(|pin| pin.end).max().unwrap_or(0);
            problem.floor = end.checked_next_multiple_of(PAGE).ok_or_else(|| {
                Error::from(Fault::Overflow {
                    what: format!("the pins' end {end}, page-rounded,"),
                })
            })?;
        }
        Ok(Ranked {
            problem,
            rows,
            pin_rows,
            times,
        })
    }

    /// The error of an unsolved problem, in the host's own rows and times.
    fn explain(&self, raw: &RawProblem, unsolved: Unsolved, control: &mut Control<'_>) -> Error {
        let mut error = unsolved.explain(&self.problem, None, control, |named| {
            let row = match named {
                Named::Item(item) => self.rows[item as usize],
                Named::Pin(pin) => self.pin_rows[pin],
            };
            (raw.label(row as usize), row)
        });
        if let Fault::NoRoom(report) = &mut error.fault {
            let time = |rank: i64| self.times[rank as usize];
            let closed = |(first, last)| (time(first), time(last + 1) - 1); // As everywhere. // L2
            report.index = time(report.index);
            for holder in &mut report.holders {
                holder.life = closed(holder.life);
            }
            if let Some(proof) = &mut report.infeasible {
                proof.index = time(proof.index);
                for member in &mut proof.set {
                    member.life = closed(member.life);
                }
            }
        }
        error
    }
}

/// Finds the rank of a time: a table when the times are dense, else binary search.
struct Ranks<'a> {
    times: &'a [i64],
    table: Vec<u32>,
}

impl Ranks<'_> {
    fn new(times: &[i64]) -> Ranks<'_> {
        let span = match times {
            [first, .., last] => last.abs_diff(*first),
            _ => 0,
        };
        let mut table = Vec::new();
        if span / 8 < times.len() as u64 {
            table.resize(span as usize + 1, 0);
            for (rank, &time) in times.iter().enumerate() {
                table[time.abs_diff(times[0]) as usize] = rank as u32;
            }
        }
        Ranks { times, table }
    }

    fn of(&self, time: i64) -> u32 {
        match self.table.get(time.abs_diff(self.times[0]) as usize) {
            Some(&rank) => rank,
            None => self
                .times
                .binary_search(&time)
                .expect("every time was ranked") as u32,
        }
    }
}
