//! What is placed around an item, and what it would push away wherever it might start.

use super::improve::Neighbours;
use super::prepared::Prepared;
use dramalloc_engine::Request;

/// What pushing a pin away costs: more than all items together.
pub(super) const IMMOVABLE: u128 = 1 << 110;

/// By item: what pushing it away costs if nothing else is known of it. It is hard to find another
/// place for one that holds many bytes for long, but not as hard as its area is large: the square
/// roots are compared.
pub(super) fn weights(prepared: &Prepared<'_>) -> Vec<u32> {
    let items = &prepared.problem.items;
    let area = |i: u32| items[i as usize].size as f64 * prepared.length(i) as f64;
    let all = 0..items.len() as u32;
    let mean = all.clone().map(area).sum::<f64>() / items.len() as f64;
    // Square roots are exact on every host. // S4
    let weight = |i| 1 + (WEIGHT * (area(i) / mean).sqrt()) as u32;
    all.map(weight).collect()
}

/// The weight of an item of mean area.
const WEIGHT: f64 = 64.0;

/// Bytes that a neighbour holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    start: u64,
    /// The item; [`PIN`] for what cannot be moved.
    item: u32,
    end: u64,
}

const PIN: u32 = u32::MAX;

/// What is placed around one item.
#[derive(Default)]
pub(super) struct Around {
    /// Ascending.
    ranges: Vec<Range>,
    /// The ends of the ranges, ascending, and which ones they are.
    ends: Vec<(u64, u32)>,
    /// By range: what pushing it away costs.
    costs: Vec<u128>,
}

/// The lowest start beside ranges, which ascend.
pub(super) fn lowest_beside(
    request: Request,
    ranges: impl Iterator<Item = (u64, u64)>,
) -> Option<u64> {
    let mut start = request.admitted(request.low)?;
    for (other, end) in ranges {
        if other >= start.checked_add(request.size)? {
            break;
        }
        if end > start {
            start = request.admitted(end)?;
        }
    }
    (start.checked_add(request.size)? <= request.high).then_some(start)
}

impl Around {
    /// Looks around an item; returns how many looks that took.
    pub(super) fn look(
        &mut self,
        prepared: &Prepared<'_>,
        neighbours: &Neighbours,
        item: u32,
        start_of: impl Fn(u32) -> Option<u64>,
    ) -> u64 {
        let problem = prepared.problem;
        let (items, ranges) = (&problem.items, &mut self.ranges);
        ranges.clear();
        let seen = neighbours.visit(prepared, item, |other| {
            if other as usize >= items.len() {
                let pin = problem.pins[other as usize - items.len()];
                if pin.start < pin.end {
                    let (start, end, item) = (pin.start, pin.end, PIN);
                    ranges.push(Range { start, item, end });
                }
            } else if let Some(start) = start_of(other) {
                let end = start + items[other as usize].size;
                let item = other;
                ranges.push(Range { start, item, end });
            }
        });
        ranges.sort_unstable();
        ranges.dedup(); // Who meets several segments was seen several times.
        seen + 1
    }

    /// How many ranges there are.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The lowest free start.
    pub(super) fn lowest(&self, request: Request) -> Option<u64> {
        lowest_beside(
            request,
            self.ranges.iter().map(|range| (range.start, range.end)),
        )
    }

    /// Says what the items cost, before [`Around::each_start`]. Pins are immovable.
    pub(super) fn weigh(&mut self, cost: impl Fn(u32) -> u128) {
        let costs = self.ranges.iter().map(|range| match range.item {
            PIN => IMMOVABLE,
            item => cost(item),
        });
        self.costs.clear();
        self.costs.extend(costs);
        self.ends.clear();
        let ends = self.ranges.iter().map(|range| range.end);
        self.ends.extend(ends.zip(0..));
        self.ends.sort_unstable();
    }

    /// Gives every start worth a look, with the cost of what is in the way there: those at which
    /// the item rests on something, or leaves off where something begins. Some come twice.
    pub(super) fn each_start(&self, request: Request, mut give: impl FnMut(u128, u64)) {
        let Request {
            size,
            align,
            low,
            high,
            ..
        } = request;
        let Some(top) = high.checked_sub(size).map(|top| top - top % align) else {
            return;
        };
        let above = self.ends.iter().map(|&(end, _)| end);
        self.sweep(request, std::iter::once(low).chain(above), &mut give);
        let below = self.ranges.iter().map(|r| r.start.saturating_sub(size));
        let below = below.map(|at| at - at % align).take_while(|&at| at < top);
        self.sweep(request, below.chain([top]), &mut give);
    }

    /// Gives the first admitted start at or above each of `from`, which ascend.
    fn sweep(
        &self,
        request: Request,
        from: impl Iterator<Item = u64>,
        give: &mut impl FnMut(u128, u64),
    ) {
        let (mut begun, mut ended, mut cost) = (0, 0, 0);
        for from in from {
            let Some(start) = request.admitted(from.max(request.low)) else {
                return;
            };
            let Some(end) = start.checked_add(request.size) else {
                return;
            };
            if end > request.high {
                return;
            }
            while begun < self.ranges.len() && self.ranges[begun].start < end {
                cost += self.costs[begun];
                begun += 1;
            }
            while ended < self.ends.len() && self.ends[ended].0 <= start {
                cost -= self.costs[self.ends[ended].1 as usize];
                ended += 1;
            }
            give(cost, start);
        }
    }

    /// The items that have bytes between two addresses.
    pub(super) fn between(&self, start: u64, end: u64) -> impl Iterator<Item = u32> {
        let begun = self.ranges.partition_point(|range| range.start < end);
        let ranges = self.ranges[..begun].iter();
        let items = ranges.filter(move |range| range.end > start && range.item != PIN);
        items.map(|range| range.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::place::meter::Meter;
    use crate::place::testing;

    /// The starts that a request admits, with the items that have bytes there, by trying them all.
    fn naive(around: &Around, request: Request) -> Vec<(u64, Vec<Range>)> {
        let Request {
            size, low, high, ..
        } = request;
        let fits = |&start: &u64| start + size <= high && request.admitted(start) == Some(start);
        let starts = (low..high).filter(fits);
        let with = |start: u64| {
            let meets = |r: &&Range| r.start < start + size && start < r.end;
            (start, around.ranges.iter().filter(meets).copied().collect())
        };
        starts.map(with).collect()
    }

    #[test]
    fn the_lowest_and_the_cheapest_start_are_those_of_a_scan() {
        arbtest::arbtest(|u| {
            let mut around = Around::default();
            for _ in 0..u.int_in_range(0..=6)? {
                let start = u.int_in_range(0..=40)?;
                let end = start + u.int_in_range(1..=12)?;
                let item = *u.choose(&[0, 1, 2, 3, 4, PIN])?;
                around.ranges.push(Range { start, item, end });
            }
            around.ranges.sort_unstable();
            let prices: [u8; 5] = u.arbitrary()?;
            let low = u.int_in_range(0..=20)?;
            let request = Request {
                size: u.int_in_range(1..=12)?,
                align: *u.choose(&[1, 1, 2, 3, 8])?,
                page: *u.choose(&[0, 0, 16])?,
                low,
                high: low + u.int_in_range(0..=40)?,
            };
            let all = naive(&around, request);
            let free = all.iter().find(|(_, there)| there.is_empty());
            assert_eq!(around.lowest(request), free.map(|&(start, _)| start));

            let price = |item: u32| u128::from(prices[item as usize]);
            around.weigh(price);
            let cost = |there: &[Range]| -> u128 {
                let of = |r: &Range| match r.item {
                    PIN => IMMOVABLE,
                    item => price(item),
                };
                there.iter().map(of).sum()
            };
            let mut least: Option<u128> = None;
            around.each_start(request, |got, start| {
                let found = all.iter().find(|&&(at, _)| at == start);
                let (_, there) = found.expect("a start that is admitted");
                assert_eq!(got, cost(there));
                least = Some(least.map_or(got, |least| least.min(got)));
                let mut items: Vec<u32> = around.between(start, start + request.size).collect();
                let mut want: Vec<u32> = there.iter().map(|r| r.item).collect();
                want.retain(|&item| item != PIN);
                items.sort_unstable();
                want.sort_unstable();
                assert_eq!(items, want);
            });
            if request.page == 0 {
                // A page hides starts in the middle of nothing.
                assert_eq!(least, all.iter().map(|(_, there)| cost(there)).min());
            }
            Ok(())
        });
    }

    #[test]
    fn a_look_finds_whoever_is_placed_and_lives_at_the_same_time() {
        arbtest::arbtest(|u| {
            let problem = testing::problem(u)?;
            let prepared = Prepared::new(&problem);
            let mut control = Control::default();
            let mut meter = Meter::new(&mut control, None);
            let neighbours = Neighbours::new(&prepared, &mut meter).expect("nothing stops it");
            let mut starts: Vec<Option<u64>> = Vec::new();
            for _ in &problem.items {
                starts.push(u.arbitrary::<Option<u16>>()?.map(u64::from));
            }
            let mut around = Around::default();
            for item in 0..problem.items.len() {
                around.look(&prepared, &neighbours, item as u32, |o| starts[o as usize]);
                let life = problem.lives.of(item);
                let mut want = Vec::new();
                for (other, start) in starts.iter().enumerate().filter(|&(o, _)| o != item) {
                    let Some(start) = *start else { continue };
                    if crate::ir::overlap(life, problem.lives.of(other)) {
                        let end = start + problem.items[other].size;
                        let item = other as u32;
                        want.push(Range { start, item, end });
                    }
                }
                for (pin, of) in problem.pins.iter().enumerate() {
                    let (start, end, item) = (of.start, of.end, PIN);
                    if start < end && crate::ir::overlap(life, problem.pin_lives.of(pin)) {
                        want.push(Range { start, item, end });
                    }
                }
                want.sort_unstable();
                want.dedup();
                assert_eq!(around.ranges, want);
            }
            Ok(())
        });
    }
}
