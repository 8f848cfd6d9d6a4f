//! A plan as a PyTorch memory snapshot: a pickle that memory_viz opens.
//!
//! PyTorch records what its caching allocator does; here the plan is replayed as such a record. A
//! *device* is one space of one core, in the order of the modules, for its addresses are its own. It
//! has one *segment*, from its lowest byte to its highest, and a *trace* of what happens to its bytes
//! in the order of time: `alloc`, then `free_requested` and `free_completed` at once. `time_us` is the
//! axis time, one per instruction. An event's frames are the location and the instruction at which
//! its life begins or ends; its category is the usage.
//!
//! At one instruction everything begins before anything ends (L2), but for an operand whose bytes
//! another location takes over in place (L8): it ends first, so that no two blocks ever overlap. What
//! is live at a core's last instruction is never freed: those are the segment's `blocks`.
//!
//! # What viewers need
//!
//! * the categories include `unknown`, or memory_viz fails: the segment's own event has it;
//! * both events of a free stand side by side, so that memory_viz shows one.

mod pickle;
#[cfg(test)]
mod tests;

use super::timeline::{Life, Timeline, Track, instruction_label};
use crate::error::Result;
use crate::ir::{Function, Module, Program};
use crate::ordered_map::OrderedMap;
use crate::plan::Plan;
use crate::sorting::CompactSort as _;
use pickle::{Pickler, Remembered};

/// A plan as a pickle. An error if the plan is not of this program; what a wrong plan of it holds is
/// told as it is.
pub fn memory_snapshot(program: &Program, plan: &Plan) -> Result<Vec<u8>> {
    let timeline = Timeline::of(program, plan)?;
    let devices: Vec<Device<'_>> = (timeline.tracks.iter().enumerate())
        .map(|(number, track)| Device::of(program, plan, &timeline, (number as u64, track)))
        .collect();
    let mut out = Pickler::new();
    out.dict(|out| {
        out.key("segments");
        out.list(&devices, |out, device| device.segment(out));
        out.key("device_traces");
        out.list(&devices, |out, device| device.trace(out));
        out.key("allocator_settings");
        out.dict(|out| {
            out.key("backend");
            out.text("dramalloc");
        });
    });
    Ok(out.finish())
}

/// One space of one core.
struct Device<'a> {
    number: u64,
    program: &'a Program,
    plan: &'a Plan,
    starts: &'a [u64],
    track: &'a Track,
    /// Its lowest byte, and one past its highest.
    range: (u64, u64),
    events: Vec<Event>,
}

/// A life begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    life: u32,
    begins: bool,
}

impl<'a> Device<'a> {
    fn of(
        program: &'a Program,
        plan: &'a Plan,
        timeline: &'a Timeline,
        (number, track): (u64, &'a Track),
    ) -> Device<'a> {
        let starts = &timeline.starts[track.module];
        let lowest = track.lives.iter().map(|life| life.address).min();
        let highest = track.lives.iter().map(|life| life.end()).max();
        let module = &program.modules()[track.module];
        Device {
            number,
            program,
            plan,
            starts,
            track,
            range: (lowest.unwrap_or(0), highest.unwrap_or(0)),
            events: events(track, end_of(module, starts)),
        }
    }

    fn module(&self) -> &'a Module {
        &self.program.modules()[self.track.module]
    }

    fn function(&self, life: &Life) -> &'a Function {
        &self.module().functions()[life.function as usize]
    }

    /// What all events of the device have in common.
    fn event(&self, out: &mut Pickler, action: &str, (address, size): (u64, u64), time: u64) {
        let pairs: [(&str, u64); 4] = [
            ("addr", address),
            ("size", size),
            ("stream", 0),
            ("time_us", time),
        ];
        out.key("action");
        out.text(action);
        for (key, number) in pairs {
            out.key(key);
            out.number(number);
        }
    }

    /// The device's name, which the format has no other place for.
    fn own_frames(&self, out: &mut Pickler) {
        let (core, space) = (self.module().core(), self.track.space.name());
        let frame = [(
            self.program.name.as_str(),
            0,
            format!("core {core}, {space}"),
        )];
        frames(out, &frame);
    }

    /// The location, and the instruction of one end of a life.
    fn frames(&self, out: &mut Pickler, life: &Life, time: u64) {
        let function = self.function(life);
        let index = time - self.starts[life.function as usize];
        let planned = &self.plan.modules[self.track.module].functions[life.function as usize];
        let name = planned.memlocs[life.loc.index()].name.clone();
        let instruction = instruction_label(function, index as usize).to_owned();
        let rows = [
            ("location", u64::from(life.loc.0), name),
            (function.name(), index, instruction),
        ];
        frames(out, &rows);
    }

    fn trace(&self, out: &mut Pickler) {
        let (lowest, highest) = self.range;
        // Frames of an end are written once and stand in two events.
        let mut remembered: OrderedMap<u32, Remembered> = OrderedMap::new();
        let steps = self.events.iter().flat_map(|event| {
            let actions: &[&str] = match event.begins {
                true => &["alloc"],
                false => &["free_requested", "free_completed"],
            };
            actions.iter().map(move |&action| Some((event, action)))
        });
        out.list(std::iter::once(None).chain(steps), |out, step| {
            let Some((event, action)) = step else {
                return out.dict(|out| {
                    self.event(out, "segment_alloc", (lowest, highest - lowest), 0);
                    out.key("category");
                    out.text("unknown");
                    out.key("frames");
                    self.own_frames(out);
                });
            };
            let life = &self.track.lives[event.life as usize];
            let time = if event.begins { life.first } else { life.last };
            out.dict(|out| {
                self.event(out, action, (life.address, life.size), time);
                out.key("category");
                out.text(self.function(life).memloc(life.loc).usage.name());
                out.key("frames");
                match remembered.get(&event.life).filter(|_| !event.begins) {
                    Some(&frames) => out.again(frames),
                    None => {
                        self.frames(out, life, time);
                        if !event.begins {
                            let frames = out.remember();
                            remembered.insert(event.life, frames);
                        }
                    }
                }
            });
        });
    }

    fn segment(&self, out: &mut Pickler) {
        let (lowest, highest) = self.range;
        let blocks = self.blocks();
        let live = blocks.iter().filter_map(|block| Some((block.2?, block.1)));
        let active: u64 = live.clone().map(|(_, size)| size).sum();
        let requested: u64 = live.map(|(life, size)| self.requested(life, size)).sum();
        out.dict(|out| {
            let pairs: [(&str, u64); 7] = [
                ("device", self.number),
                ("address", lowest),
                ("total_size", highest - lowest),
                ("allocated_size", active),
                ("active_size", active),
                ("requested_size", requested),
                ("stream", 0),
            ];
            for (key, number) in pairs {
                out.key(key);
                out.number(number);
            }
            out.key("segment_type");
            out.text("large");
            out.key("segment_pool_id");
            out.pair(0, 0);
            out.key("is_expandable");
            out.bool(false);
            out.key("frames");
            self.own_frames(out);
            out.key("blocks");
            out.list(blocks, |out, block| self.block(out, block));
        });
    }

    fn block(&self, out: &mut Pickler, (address, size, life): Block) {
        out.dict(|out| {
            out.key("address");
            out.number(address);
            out.key("size");
            out.number(size);
            out.key("requested_size");
            out.number(life.map_or(0, |life| self.requested(life, size)));
            out.key("state");
            out.text(life.map_or("inactive", |_| "active_allocated"));
            out.key("frames");
            match life.map(|life| &self.track.lives[life as usize]) {
                Some(life) => self.frames(out, life, life.first),
                None => out.list([(); 0], |_, ()| ()),
            }
        });
    }

    /// Bytes that the program asked for.
    fn requested(&self, life: u32, size: u64) -> u64 {
        let life = &self.track.lives[life as usize];
        self.function(life).memloc(life.loc).bytes.min(size)
    }

    /// What the device holds after its last event, with the gaps: the segment from end to end.
    fn blocks(&self) -> Vec<Block> {
        let mut live = vec![false; self.track.lives.len()];
        for event in &self.events {
            live[event.life as usize] = event.begins;
        }
        let mut held: Vec<u32> = (0..live.len() as u32)
            .filter(|&i| live[i as usize])
            .collect();
        held.sort_compact_by_key(|&i| self.track.lives[i as usize].address);
        let (mut at, end) = self.range;
        let mut blocks = Vec::new();
        for i in held {
            let life = &self.track.lives[i as usize];
            if life.address > at {
                blocks.push((at, life.address - at, None));
                at = life.address;
            }
            // Only a wrong plan has two there; blocks cannot overlap.
            if life.end() > at {
                blocks.push((at, life.end() - at, Some(i)));
                at = life.end();
            }
        }
        if end > at {
            blocks.push((at, end - at, None));
        }
        blocks
    }
}

/// First byte, bytes, and whose they are.
type Block = (u64, u64, Option<u32>);

/// A stack of calls: file, line, name.
fn frames(out: &mut Pickler, rows: &[(&str, u64, String)]) {
    out.list(rows, |out, (file, line, name)| {
        out.dict(|out| {
            out.key("filename");
            out.text(file);
            out.key("line");
            out.number(*line);
            out.key("name");
            out.text(name);
        });
    });
}

/// The axis time of a module's last instruction; none if it has none.
fn end_of(module: &Module, starts: &[u64]) -> Option<u64> {
    let functions = module.functions().iter().zip(starts);
    let ends = functions.map(|(f, start)| start + f.instructions().len() as u64);
    ends.max()?.checked_sub(1)
}

/// Begins and ends in the order of time; what lives to `end` does not end.
fn events(track: &Track, end: Option<u64>) -> Vec<Event> {
    let by_end = track.by_end();
    let mut events = Vec::with_capacity(2 * track.lives.len());
    let (mut begun, mut ended) = (0, 0);
    let event = |begins: bool| move |life: u32| Event { life, begins };
    while begun < track.lives.len() || ended < by_end.len() {
        let first = track.lives.get(begun).map(|life| life.first);
        let last = by_end.get(ended).map(|&i| track.lives[i as usize].last);
        let time = match (first, last) {
            (Some(first), Some(last)) => first.min(last),
            (first, last) => first.or(last).expect("one of them is left"),
        };
        let beginning = track.beginning(begun, time);
        let ending = by_end[ended..]
            .iter()
            .take_while(|&&i| track.lives[i as usize].last == time);
        let count = ending.clone().count();
        let given = |i: u32| track.lives[i as usize].given > 0;
        // In place: the operand's block is gone before the result's is there, also if it came only
        // for this instruction.
        let before = ending
            .clone()
            .filter(|&&i| given(i) && track.lives[i as usize].first < time);
        events.extend(before.copied().map(event(false)));
        let new = begun as u32..(begun + beginning.len()) as u32;
        for i in new
            .clone()
            .filter(|&i| given(i) && track.lives[i as usize].last == time)
        {
            events.extend([event(true)(i), event(false)(i)]);
        }
        let stay = new.filter(|&i| !given(i) || track.lives[i as usize].last > time);
        events.extend(stay.map(event(true)));
        if Some(time) != end {
            let others = ending.filter(|&&i| !given(i));
            events.extend(others.copied().map(event(false)));
        }
        begun += beginning.len();
        ended += count;
    }
    events
}
