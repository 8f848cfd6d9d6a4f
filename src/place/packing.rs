//! Items placed one at a time, each at the lowest bytes that are free over its life. // P1, L8
//!
//! Whoever searches holds a packing, clones it where it may want to come back, and places on.

use super::meter::Stop;
use super::prepared::{InPlace, Prepared, Straddling, Windows};
use crate::pace::Pace;
use dramalloc_engine::{Engine, Request};

/// What has been placed so far.
#[derive(Clone, Debug)]
pub(crate) struct Packing<'a> {
    prepared: &'a Prepared<'a>,
    engine: Engine,
    /// By item; `NOT_PLACED` if it is not.
    offsets: Vec<u64>,
    /// By claim: some def has it.
    claimed: Vec<bool>,
    peak: u64,
}

/// No item starts here: it has at least a byte, and bytes end at `u64::MAX`.
pub(crate) const NOT_PLACED: u64 = u64::MAX;

impl<'a> Packing<'a> {
    /// The pins alone.
    pub fn unless(
        prepared: &'a Prepared<'a>,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Packing<'a>, Stop> {
        let problem = prepared.problem;
        let mut engine = Engine::new(
            prepared.points(),
            prepared.unit(),
            problem.lives.all().len(),
        );
        for (i, pin) in problem.pins.iter().enumerate() {
            pace.work(1)?;
            if pin.end > problem.floor {
                engine.insert(prepared.pin_life(i), pin.start, pin.end);
            }
        }
        pace.work(problem.items.len())?;
        Ok(Packing {
            prepared,
            engine,
            offsets: vec![NOT_PLACED; problem.items.len()],
            claimed: vec![false; prepared.claim_count() as usize],
            peak: problem.floor,
        })
    }

    /// Places an item in its use's bytes if a pair allows it, else at the lowest free bytes of its
    /// windows, and returns where. `None`: no room, and nothing has changed.
    pub fn place(&mut self, item: u32, windows: &Windows) -> Option<u64> {
        let page = self.prepared.page_of(item);
        self.place_within(item, windows, page)
    }

    /// The same for an item that has found no room without straddling a page of the runtime, where
    /// that is allowed as a last resort. // P7
    pub fn place_astride(&mut self, item: u32, windows: &Windows) -> Option<u64> {
        if self.prepared.straddling != Straddling::LastResort {
            return None;
        }
        let page = self.prepared.problem.page_of(item, true);
        self.place_within(item, windows, page)
    }

    fn place_within(&mut self, item: u32, windows: &Windows, page: u64) -> Option<u64> {
        debug_assert_eq!(self.offsets[item as usize], NOT_PLACED);
        let prepared = self.prepared;
        let problem = prepared.problem;
        let of = &problem.items[item as usize];
        let request = |(low, high)| Request {
            size: of.size,
            align: of.align,
            page,
            low,
            high,
        };
        let windows = windows.of(problem.usage(item));
        let mut in_place = None;
        if !problem.pairs.is_empty() {
            let mut pairs = prepared.in_place(item);
            in_place = pairs.find(|pair| windows.iter().any(|&w| self.admits(pair, request(w))));
        }
        let start = match in_place {
            Some(pair) => self.offsets[pair.used as usize],
            None => {
                let life = prepared.life(item);
                let mut starts = windows
                    .iter()
                    .map(|&w| self.engine.lowest(life, &request(w)));
                starts.find_map(|start| start)?
            }
        };
        self.take(item, start, in_place);
        Some(start)
    }

    /// Places an item exactly there, beside everything or in its use's bytes, if its rules and
    /// what is placed admit that. `false`: nothing has changed.
    pub fn place_at(&mut self, item: u32, start: u64, windows: &Windows) -> bool {
        debug_assert_eq!(self.offsets[item as usize], NOT_PLACED);
        let prepared = self.prepared;
        let problem = prepared.problem;
        let of = &problem.items[item as usize];
        let Some(end) = start.checked_add(of.size) else {
            return false;
        };
        let mut windows = windows.of(problem.usage(item)).iter();
        let Some(&window) = windows.find(|w| w.0 <= start && end <= w.1) else {
            return false;
        };
        let request = prepared.request(item, window);
        let mut in_place = None;
        if !self.engine.is_free(prepared.life(item), start, &request) {
            let mut pairs = prepared.in_place(item);
            in_place = pairs.find(|pair| {
                self.offsets[pair.used as usize] == start && self.admits(pair, request)
            });
            if in_place.is_none() {
                return false;
            }
        }
        self.take(item, start, in_place);
        true
    }

    /// Takes bytes that have been seen to be free and to end below a window's end.
    fn take(&mut self, item: u32, start: u64, in_place: Option<InPlace<'_>>) {
        let prepared = self.prepared;
        let mut life = prepared.life(item);
        if let Some(pair) = in_place {
            for &claim in pair.claims {
                self.claimed[claim as usize] = true;
            }
            life = pair.shortened;
        }
        let end = start + prepared.problem.items[item as usize].size;
        self.engine.insert(life, start, end);
        self.offsets[item as usize] = start;
        self.peak = self.peak.max(end);
    }

    /// Reads what placing these items will read first, so that the processor waits for all of it at
    /// once and not for each piece in turn. Changes nothing.
    pub fn warm(&self, items: &[u32]) {
        let of = |item: u32| self.prepared.problem.items[item as usize].size;
        let offset = |item: u32| self.offsets[item as usize];
        let read = items.iter().fold(0, |read, &i| read ^ of(i) ^ offset(i));
        let first_runs = items.iter().filter_map(|&i| self.prepared.life(i).first());
        std::hint::black_box(read ^ self.engine.warm(&mut first_runs.copied()));
    }

    /// Whether the def of a pair may start where the use does, within the window of the request.
    fn admits(&mut self, pair: &InPlace<'_>, request: Request) -> bool {
        let start = self.offsets[pair.used as usize];
        // At the instructions of the pair the bytes are the use's, and those of a def that has
        // claimed them; everything else that lives there keeps out of them.
        start != NOT_PLACED
            && start >= request.low
            && pair
                .claims
                .iter()
                .all(|&claim| !self.claimed[claim as usize])
            && self.engine.is_free(pair.shortened, start, &request)
    }

    /// What is being placed, prepared.
    pub fn prepared(&self) -> &'a Prepared<'a> {
        self.prepared
    }

    /// Where an item lies, if it is placed.
    pub fn offset(&self, item: u32) -> Option<u64> {
        Some(self.offsets[item as usize]).filter(|&offset| offset != NOT_PLACED)
    }

    /// Where everything lies.
    pub fn offsets(&self) -> Vec<Option<u64>> {
        (0..self.offsets.len() as u32)
            .map(|item| self.offset(item))
            .collect()
    }

    /// The start of each item; `NOT_PLACED` if it has none.
    pub fn starts(&self) -> &[u64] {
        &self.offsets
    }

    /// The start of each item.
    ///
    /// # Panics
    ///
    /// If one is not placed.
    pub fn into_offsets(self) -> Vec<u64> {
        assert!(self.offsets.iter().all(|&offset| offset != NOT_PLACED));
        self.offsets
    }

    /// One past the highest byte of an item; the floor if none is placed.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}
