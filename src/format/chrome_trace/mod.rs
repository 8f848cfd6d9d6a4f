//! A plan as a Chrome trace: JSON that Perfetto and `chrome://tracing` open.
//!
//! Time is real: one microsecond is one instruction. A process is a core; its number is the core's
//! plus one, since viewers take process 0 for the idle one. Its first thread has the functions with
//! their instructions, the others are rows of lives. Two counters per space follow the bytes that are
//! taken and the highest of their addresses.
//!
//! *Why rows.* Events of one thread must nest: a viewer draws a slice that begins within another as
//! its child, and drops one that reaches out of it. Lives overlap in any way, so each goes to the
//! first row that is free when it begins; within a row nothing overlaps, and there are as many rows as
//! lives at the fullest moment. The alternative, one asynchronous track per life, is a list as long as
//! the program.
//!
//! The format is described by *Trace Event Format* (Chromium project); events used are `X` (complete),
//! `C` (counter) and `M` (metadata). Linear in what is written, after a sort.

mod rows;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use super::json::JsonOut;
use super::timeline::{Life, Timeline, Track, instruction_label};
use crate::error::Result;
use crate::ir::{Function, Module, Program};
use crate::plan::Plan;
use rows::rows;

/// The thread that has the functions and their instructions.
const INSTRUCTIONS: u64 = 1;

/// A plan as a Chrome trace. An error if the plan is not of this program; what a wrong plan of it holds
/// is shown as it is.
pub fn chrome_trace(program: &Program, plan: &Plan) -> Result<Vec<u8>> {
    let timeline = Timeline::of(program, plan)?;
    let mut bytes = Vec::new();
    let mut out = JsonOut::new(&mut bytes);
    write(program, plan, &timeline, &mut out)
        .and_then(|()| out.finish())
        .expect("memory takes every write");
    Ok(bytes)
}

fn write<W: Write>(
    program: &Program,
    plan: &Plan,
    timeline: &Timeline,
    out: &mut JsonOut<W>,
) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("displayTimeUnit", "ns")?;
        out.key("otherData")?;
        out.object(|out| {
            out.string_pair("program", &program.name)?;
            out.string_pair("time", "one microsecond is one instruction")?;
            out.string_pair("strategy", plan.strategy.name())?;
            out.string_pair("status", plan.status.name())?;
            out.number_pair("peak", plan.peak)?;
            out.number_pair("lower_bound", plan.lower_bound)
        })?;
        out.key("traceEvents")?;
        // The modules are the lines' groups; every event is an element of the one list.
        out.lines(0..program.modules().len(), |out, m| {
            let core = Core {
                program,
                plan,
                timeline,
                m,
            };
            core.write(out)
        })
    })
}

/// The events of one core.
struct Core<'a> {
    program: &'a Program,
    plan: &'a Plan,
    timeline: &'a Timeline,
    m: usize,
}

impl Core<'_> {
    fn module(&self) -> &Module {
        &self.program.modules()[self.m]
    }

    fn pid(&self) -> u64 {
        u64::from(self.module().core()) + 1
    }

    fn write<W: Write>(&self, out: &mut JsonOut<W>) -> io::Result<()> {
        let (core, name) = (self.module().core(), self.module().name());
        self.label(out, "process_name", 0, &format!("core {core} ({name})"))?;
        self.instructions(out)?;
        let mut next = INSTRUCTIONS + 1;
        for track in self.timeline.tracks.iter().filter(|t| t.module == self.m) {
            let rows = rows(&track.lives);
            let count = rows.iter().max().map_or(0, |&last| u64::from(last) + 1);
            for row in 0..count {
                let name = format!("{} {}", track.space.name(), row + 1);
                self.label(out, "thread_name", next + row, &name)?;
                self.sort_index(out, next + row)?;
            }
            for (life, &row) in track.lives.iter().zip(&rows) {
                self.life(out, track, life, next + u64::from(row))?;
            }
            self.counters(out, track)?;
            next += count;
        }
        Ok(())
    }

    /// The pairs that every event has.
    fn event<W: Write>(
        &self,
        out: &mut JsonOut<W>,
        (phase, name): (&str, &str),
        body: impl FnOnce(&mut JsonOut<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        out.element(|out| {
            out.object(|out| {
                out.string_pair("ph", phase)?;
                out.string_pair("name", name)?;
                out.number_pair("pid", self.pid())?;
                body(out)
            })
        })
    }

    /// Names a process or a thread.
    fn label<W: Write>(
        &self,
        out: &mut JsonOut<W>,
        what: &str,
        thread: u64,
        name: &str,
    ) -> io::Result<()> {
        self.event(out, ("M", what), |out| {
            out.number_pair("tid", thread)?;
            out.key("args")?;
            out.object(|out| out.string_pair("name", name))
        })
    }

    /// Viewers list threads by this number.
    fn sort_index<W: Write>(&self, out: &mut JsonOut<W>, thread: u64) -> io::Result<()> {
        self.event(out, ("M", "thread_sort_index"), |out| {
            out.number_pair("tid", thread)?;
            out.key("args")?;
            out.object(|out| out.number_pair("sort_index", thread))
        })
    }

    /// A slice; `last` is part of it.
    fn slice<W: Write>(
        &self,
        out: &mut JsonOut<W>,
        (name, category, thread): (&str, &str, u64),
        (first, last): (u64, u64),
        args: impl FnOnce(&mut JsonOut<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.event(out, ("X", name), |out| {
            out.string_pair("cat", category)?;
            out.number_pair("tid", thread)?;
            out.number_pair("ts", first)?;
            out.number_pair("dur", last - first + 1)?; // Closed. // L2
            out.key("args")?;
            out.object(args)
        })
    }

    fn instructions<W: Write>(&self, out: &mut JsonOut<W>) -> io::Result<()> {
        self.label(out, "thread_name", INSTRUCTIONS, "instructions")?;
        self.sort_index(out, INSTRUCTIONS)?;
        let functions = self.module().functions().iter();
        for (function, &start) in functions.zip(&self.timeline.starts[self.m]) {
            let count = function.instructions().len() as u64;
            if count == 0 {
                continue;
            }
            let name = (function.name(), "function", INSTRUCTIONS);
            self.slice(out, name, (start, start + count - 1), |out| {
                out.number_pair("instructions", count)?;
                out.number_pair("locations", function.memlocs().len() as u64)
            })?;
            for (i, instruction) in function.instructions().iter().enumerate() {
                let label = instruction_label(function, i);
                let at = start + i as u64;
                self.slice(out, (label, "instruction", INSTRUCTIONS), (at, at), |out| {
                    out.number_pair("index", i as u64)?;
                    out.string_pair("op", function.symbol(instruction.op))?;
                    out.string_pair("kind", instruction.kind.name())?;
                    out.number_pair("engine", instruction.engine)
                })?;
            }
        }
        Ok(())
    }

    fn life<W: Write>(
        &self,
        out: &mut JsonOut<W>,
        track: &Track,
        life: &Life,
        thread: u64,
    ) -> io::Result<()> {
        let function: &Function = &self.module().functions()[life.function as usize];
        let planned = &self.plan.modules[self.m].functions[life.function as usize];
        let planned = &planned.memlocs[life.loc.index()];
        let usage = function.memloc(life.loc).usage.name();
        let name = (planned.name.as_str(), usage, thread);
        self.slice(out, name, (life.first, life.last), |out| {
            out.number_pair("address", life.address)?;
            out.number_pair("end", life.end())?;
            out.number_pair("bytes", planned.bytes)?;
            out.number_pair("bytes_as_placed", life.size)?;
            out.string_pair("usage", usage)?;
            out.string_pair("space", track.space.name())?;
            out.string_pair("function", function.name())?;
            out.bool_pair("pinned", planned.pinned)?;
            out.bool_pair("shared", planned.shared)
        })
    }

    fn counters<W: Write>(&self, out: &mut JsonOut<W>, track: &Track) -> io::Result<()> {
        let load = format!("{} load", track.space.name());
        let highest = format!("{} highest address", track.space.name());
        let mut before = (None, None);
        for held in track.profile() {
            if before.0 != Some(held.bytes) {
                self.counter(out, &load, held.time, held.bytes)?;
            }
            if before.1 != Some(held.end) {
                self.counter(out, &highest, held.time, held.end)?;
            }
            before = (Some(held.bytes), Some(held.end));
        }
        Ok(())
    }

    fn counter<W: Write>(
        &self,
        out: &mut JsonOut<W>,
        name: &str,
        time: u64,
        bytes: u64,
    ) -> io::Result<()> {
        self.event(out, ("C", name), |out| {
            out.number_pair("ts", time)?;
            out.key("args")?;
            out.object(|out| out.number_pair("bytes", bytes))
        })
    }
}
