//! Raw problems: buffers without a program, as solvers exchange them. // C9, F
//!
//! Times are half-open here, `[lower, upper)`, as in the published instances. This file ranks
//! them, so that any 64-bit times become the closed segments of 32-bit indices that everything
//! else uses, and ranks the rows, so that their order in the input decides nothing but ties
//! between equal rows. // S4

use crate::control::Control;
use crate::error::{Error, Fault, Result};
use crate::ir::{FlatIndex, Lives, Segment};
use crate::labels::Labels;
use crate::options::{Floor, Options};
use crate::pace::Pace;
use crate::place::{self, Hint, Item, Kept, Named, PAGE, Pin, Problem, Region, Unsolved};
use crate::plan::Status;
use crate::sorting::{CompactSort as _, sort_words};

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
    pub labels: Labels,
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
    #[inline]
    pub fn segments_of(&self, row: usize) -> &[(i64, i64)] {
        &self.segments[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Whether a row is live at any time.
    #[inline]
    pub(crate) fn is_live(&self, row: usize) -> bool {
        self.segments_of(row).iter().any(|s| s.0 < s.1)
    }

    /// The alignment of a row that declares none is `default`.
    #[inline]
    pub(crate) fn alignment(&self, row: usize, default: u64) -> u64 {
        self.alignments.get(row).copied().unwrap_or(default)
    }

    /// The pin of a row.
    #[inline]
    pub fn pin(&self, row: usize) -> Option<u64> {
        self.pins.get(row).copied().flatten()
    }

    /// How messages call a row.
    pub fn label(&self, row: usize) -> String {
        let label = self.labels.get(row).map(str::to_owned);
        label.unwrap_or_else(|| format!("#{row}"))
    }

    /// Refuses rows that mean nothing: wrong lengths, inverted or overlapping segments, pins past
    /// 64 bits, alignments of 0.
    pub fn validate(&self) -> Result<()> {
        self.validate_unless(&mut Pace::free())
    }

    /// The same, unless the host stops it. // S2
    fn validate_unless(&self, pace: &mut Pace<'_, '_>) -> Result<()> {
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
            pace.work(1)?;
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
    control.look()?;
    raw.validate_unless(&mut Pace::of(control))?;
    let ranked = Ranked::new(raw, options, control)?;
    ranked.check_pins()?;
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
                .unwrap_or(if raw.is_live(row) { floor } else { 0 })
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
        if size == 0 || !raw.is_live(row) {
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

/// A raw problem with its times and rows ranked.
struct Ranked {
    problem: Problem,
    /// The row of each item.
    rows: Vec<u32>,
    /// The row of each pin.
    pin_rows: Vec<u32>,
}

impl Ranked {
    /// Refuses a capacity that the pins alone exceed.
    fn check_pins(&self) -> Result<()> {
        let capacity = self.problem.ceiling;
        let rows = self.pin_rows.iter().zip(&self.problem.pins);
        match rows.max_by_key(|(_, pin)| pin.end) {
            Some((row, pin)) if pin.end > capacity => {
                let end = pin.end;
                let reason = format!(
                    "{capacity} bytes do not hold the pin of row {row}, which ends at {end}"
                );
                Err(Error::invalid("capacity", reason))
            }
            _ => Ok(()),
        }
    }

    fn new(raw: &RawProblem, options: &Options, control: &Control<'_>) -> Result<Ranked> {
        let mut pace = Pace::of(control);
        let rank = Ranks::new(raw, &mut pace)?;
        let default_align = options.align.unwrap_or(1);
        let (mut rows, mut pin_rows) = (Vec::with_capacity(raw.len()), Vec::new());
        for row in 0..raw.len() as u32 {
            pace.work(1)?;
            if raw.sizes[row as usize] == 0 || !raw.is_live(row as usize) {
                continue;
            }
            match raw.pin(row as usize) {
                None => rows.push(row),
                Some(_) => pin_rows.push(row),
            }
        }
        let mut problem = Problem {
            ceiling: options.core_capacity().unwrap_or(u64::MAX),
            regions: raw.regions.clone(),
            runtime_page: options.runtime_page_bytes(),
            granule: 1,
            ..Problem::default()
        };
        problem.regions.sort_compact_by_key(|r| r.base);
        let mut lives = Merged {
            raw,
            rank: &rank,
            runs: Vec::new(),
        };
        problem.items.reserve_exact(rows.len());
        problem.lives = Lives::with_capacity(rows.len(), raw.segments.len());
        let dense = |row: u32| Dense::of(raw, row, default_align);
        let mut add = |row: &Dense| {
            problem.items.push(Item {
                size: row.size,
                align: row.align,
            });
            lives.push(row.row, &mut problem.lives);
        };
        // Files often come in that order; if not, the first time decides nearly always.
        let mut is_sorted = true;
        for pair in rows.windows(2) {
            pace.work(1)?;
            is_sorted = is_sorted && dense(pair[0]) <= dense(pair[1]);
        }
        if is_sorted {
            for &row in &rows {
                pace.work(1)?;
                add(&dense(row));
            }
        } else {
            let lower = |row: u32| rank.of(raw.segments_of(row as usize)[0].0);
            let mut keys: Vec<u64> = Vec::with_capacity(rows.len());
            for &row in &rows {
                pace.work(1)?;
                keys.push(u64::from(lower(row)) << 32 | u64::from(row));
            }
            sort_words(&mut keys, 32, &mut pace)?;
            rows.clear();
            let mut block: Vec<Dense> = Vec::new();
            let mut left = &keys[..];
            while !left.is_empty() {
                // Whole runs of one first time, so that a row is still at hand when it is added.
                let mut end = left.len().min(BLOCK);
                while end < left.len() && left[end] >> 32 == left[end - 1] >> 32 {
                    end += 1;
                }
                pace.work(2 * end)?;
                block.clear();
                block.extend(left[..end].iter().map(|&key| dense(key as u32)));
                for same in block.chunk_by_mut(|a, b| a.lower == b.lower) {
                    if same.len() > 1 {
                        same.sort_compact_by(Dense::cmp);
                    }
                }
                rows.extend(block.iter().map(|row| row.row));
                block.iter().for_each(&mut add);
                left = &left[end..];
            }
        }
        if !raw.hints.is_empty() {
            problem.hint = Hint {
                starts: rows.iter().map(|&row| raw.hints[row as usize]).collect(),
                keep: options.keep,
                waste: 0,
            };
        }
        for &row in &pin_rows {
            pace.work(1)?;
            let start = raw.pin(row as usize).expect("partitioned by it");
            problem.pins.push(Pin {
                start,
                end: start + raw.sizes[row as usize],
            });
            lives.push(row, &mut problem.pin_lives);
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
            let times = times(raw);
            let time = |rank: i64| times[rank as usize];
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

/// Rows that are put in order together: few enough for a cache.
const BLOCK: usize = 1 << 9;

/// The dense id of a row, as far as its numbers say it; equal ones go by row. // T
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dense {
    lower: i64,
    upper: i64,
    size: u64,
    align: u64,
    row: u32,
}

impl Dense {
    /// Of a row that is live.
    #[inline]
    fn of(raw: &RawProblem, row: u32, default_align: u64) -> Dense {
        let live = raw.segments_of(row as usize);
        Dense {
            lower: live[0].0,
            upper: live[live.len() - 1].1,
            size: raw.sizes[row as usize],
            align: raw.alignment(row as usize, default_align),
            row,
        }
    }
}

/// Makes closed segments of ranks of the rows' half-open ones.
struct Merged<'r> {
    raw: &'r RawProblem,
    rank: &'r Ranks,
    /// Those of the row at hand.
    runs: Vec<Segment>,
}

impl Merged<'_> {
    /// Appends the life of a row.
    fn push(&mut self, row: u32, lives: &mut Lives) {
        let segments = self.raw.segments_of(row as usize);
        let closed = |lower, upper| {
            let (first, last) = (self.rank.of(lower), self.rank.of(upper) - 1);
            Segment::new(FlatIndex(first), FlatIndex(last)).expect("lower < upper")
        };
        if let &[(lower, upper)] = segments {
            return lives.push([closed(lower, upper)]);
        }
        // Touching runs are one: nothing can be placed between them.
        self.runs.clear();
        for &(lower, upper) in segments.iter().filter(|s| s.0 < s.1) {
            let mut run = closed(lower, upper);
            let touches = |last: &mut Segment| last.last().0 + 1 == run.first().0;
            if let Some(last) = self.runs.pop_if(touches) {
                run = Segment::new(last.first(), run.last()).expect("they ascend");
            }
            self.runs.push(run);
        }
        lives.push(self.runs.iter().copied());
    }
}

/// Every time of a problem, once.
fn times(raw: &RawProblem) -> Vec<i64> {
    let mut times: Vec<i64> = raw.segments.iter().flat_map(|&(l, u)| [l, u]).collect();
    times.sort_compact();
    times.dedup();
    times
}

/// Finds the rank of a time among all times.
enum Ranks {
    /// By distance from the first time.
    Dense(i64, Vec<u32>),
    /// By search.
    Sparse(Vec<i64>),
}

/// Times per segment up to which a table is smaller than the search is slow.
const DENSE_TIMES_PER_SEGMENT: u64 = 8;

impl Ranks {
    fn new(raw: &RawProblem, pace: &mut Pace<'_, '_>) -> Result<Ranks> {
        let first = raw.segments.iter().map(|s| s.0).min().unwrap_or(0);
        let last = raw.segments.iter().map(|s| s.1).max().unwrap_or(0);
        pace.work(raw.segments.len() / 4)?;
        let span = last.abs_diff(first);
        if span / DENSE_TIMES_PER_SEGMENT >= raw.segments.len() as u64 {
            return Ok(Ranks::Sparse(times(raw)));
        }
        let mut table = vec![0; span as usize + 1];
        for &(lower, upper) in &raw.segments {
            pace.work(1)?;
            table[lower.abs_diff(first) as usize] = 1;
            table[upper.abs_diff(first) as usize] = 1;
        }
        let mut rank = 0;
        pace.work(table.len() / 4)?;
        for entry in &mut table {
            let present = *entry;
            *entry = rank;
            rank += present;
        }
        Ok(Ranks::Dense(first, table))
    }

    #[inline]
    fn of(&self, time: i64) -> u32 {
        match self {
            Ranks::Dense(first, table) => table[time.abs_diff(*first) as usize],
            Ranks::Sparse(times) => {
                times.binary_search(&time).expect("every time was ranked") as u32
            }
        }
    }
}
