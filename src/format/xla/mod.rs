//! XLA's buffer assignment as a program, and XLA's own addresses for it.
//!
//! XLA plans memory as we do, and `--xla_dump_to=DIR --xla_dump_hlo_as_text` writes down what came of
//! it: real problems, each with an answer that can be verified and compared. The sections that are
//! read are those of the files `…-buffer-assignment.txt` (what lies where),
//! `…-live-range.txt` (when, in XLA's own flattened order of instructions) and, if it is there,
//! `…-buffer-assignment-values.txt` (who reads what); as one text, in any order.
//!
//! | XLA | here |
//! | --- | --- |
//! | the flattened sequence | the instructions of one function `main`, one block, and an `end` |
//! | `preallocated-temp` | the heap: each of its buffers is a location to be placed |
//! | `parameter`, `constant`, output | one location each, the caller's: not placed |
//! | `thread-local`, other memory spaces | left out, with a note |
//!
//! XLA's live ranges are closed: a value that an instruction reads last and one that it writes are
//! both live there, unless they are one buffer; and the end of time is a moment of its own, after the
//! last instruction, to which outputs live. So are ours (L2), with an `end` that reads the outputs.
//! Loops and branches were flattened by XLA, each body once, and the lives account for that.
//!
//! Several heaps (XLA splits them by size or space) lie one above the other in the plan. XLA aligns
//! buffers by device, which the dump does not name: the alignment is the largest power of two, up to
//! [`MOST_ALIGNED`], that all offsets are multiples of.

mod buffers;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use super::json::{document_error, text as text_of};
use crate::Result;
use crate::ir::{
    Extent, Function, InstructionSpec, MemLocId, MemLocSpec, Module, Operand, Program, Usage,
};
use buffers::{Buffer, Ranges};
use text::{Dump, Kind};

/// No device that XLA compiles for asks for more.
const MOST_ALIGNED: u64 = 256;

/// What is asked of a heap whose offsets say nothing: the CPU's.
const USUAL_ALIGNED: u64 = 64;

/// A dump as a program, and where XLA has put what is to be placed.
#[derive(Clone, Debug)]
pub struct XlaImport {
    /// One module with one function.
    pub program: Program,
    /// XLA's address of each location of that function; `None` for what is the caller's.
    pub addresses: Vec<Option<u64>>,
    /// The alignment of every location that is to be placed.
    pub align: u64,
    /// Bytes of XLA's heap.
    pub heap: u64,
    /// What a person should know: what was left out, what does not add up.
    pub notes: Vec<String>,
}

/// Whether a file looks like one of XLA's dumps of buffers.
pub fn is_xla_dump(bytes: &[u8]) -> bool {
    text_of(bytes).is_ok_and(text::is_dump)
}

/// Whether such a file says when values live, which XLA may have written into another one.
pub fn has_xla_live_ranges(bytes: &[u8]) -> bool {
    text_of(bytes).is_ok_and(text::has_live_ranges)
}

/// Reads a dump from texts that are one after the other; `name` becomes the program's. Every error is
/// one line, most with a line of a text, and with the text's own name if that is not empty.
pub fn read_xla(texts: &[(&str, &[u8])], name: &str) -> Result<XlaImport> {
    let dump = Dump::read(texts)?;
    check(&dump)?;
    let ranges = buffers::ranges(&dump)?;
    let buffers = buffers::buffers(&dump, &ranges);
    let mut import = Import::new(&dump, &ranges);
    import.notes();
    import.caller_owned()?;
    import.heap(&buffers)?;
    import.instructions()?;
    import.finish(name)
}

/// Refuses a dump of which a part is missing.
fn check(dump: &Dump<'_>) -> Result<()> {
    if dump.allocations.is_empty() {
        let missing = "there is no allocation; this is no buffer assignment of XLA's";
        return Err(document_error(missing));
    }
    let Some(end) = dump.end else {
        return Err(document_error(
            "there is no HloLiveRange, which XLA writes into the file that ends in \
             -live-range.txt: put both into one",
        ));
    };
    let instructions = dump.sequence.len() as u64;
    if instructions != end {
        return Err(document_error(format!(
            "HloLiveRange ends at {end}, and its sequence has {instructions} instructions: \
             a part of the dump is missing"
        )));
    }
    let late = dump.ranges.iter().find(|range| range.last > end);
    late.map_or(Ok(()), |range| {
        let (line, name) = (range.line, &range.name);
        Err(document_error(format!(
            "{line}: {name} lives past the end, {end}"
        )))
    })
}

/// A program in the making.
struct Import<'d> {
    dump: &'d Dump<'d>,
    ranges: &'d Ranges,
    /// The time of each instruction.
    times: BTreeMap<&'d str, u64>,
    /// Who reads each value.
    readers: BTreeMap<&'d str, &'d [&'d str]>,
    function: Function,
    addresses: Vec<Option<u64>>,
    align: u64,
    heap: u64,
    /// By time: (location, whether it is a use). `end` is a time.
    accesses: Vec<Vec<(MemLocId, bool)>>,
    notes: Vec<String>,
}

impl<'d> Import<'d> {
    fn new(dump: &'d Dump<'d>, ranges: &'d Ranges) -> Import<'d> {
        let mut function = Function::new("main");
        function.add_block("");
        let used = dump.used.iter();
        Import {
            dump,
            ranges,
            times: (dump.sequence.iter().copied()).zip(0..).collect(),
            readers: used.map(|u| (u.name.as_ref(), u.uses.as_slice())).collect(),
            function,
            addresses: Vec::new(),
            align: USUAL_ALIGNED,
            heap: 0,
            accesses: vec![Vec::new(); dump.sequence.len() + 1],
            notes: Vec::new(),
        }
    }

    fn is_placed(&self, allocation: usize) -> bool {
        let allocation = &self.dump.allocations[allocation];
        allocation.kind == Kind::Temporary && allocation.color == 0
    }

    /// Counts what has no place in a program.
    fn notes(&mut self) {
        let (mut thread_local, mut elsewhere) = (0, 0);
        for allocation in &self.dump.allocations {
            if allocation.kind == Kind::ThreadLocal {
                thread_local += 1;
            } else if allocation.color != 0 {
                elsewhere += 1;
            }
        }
        for (count, what) in [
            (thread_local, "thread-local allocations are left out"),
            (elsewhere, "allocations of other memory spaces are left out"),
        ] {
            if count > 0 {
                self.notes.push(format!("{count} {what}"));
            }
        }
    }

    fn add(&mut self, spec: &MemLocSpec<'_>, address: Option<u64>) -> Result<MemLocId> {
        self.addresses.push(address);
        self.function.add_memloc(spec)
    }

    /// One location per allocation that is the caller's, with the accesses of its values.
    fn caller_owned(&mut self) -> Result<()> {
        let mut values = vec![Vec::new(); self.dump.allocations.len()];
        for (i, value) in self.dump.values.iter().enumerate() {
            values[value.allocation].push(i);
        }
        for (allocation, values) in self.dump.allocations.iter().zip(values) {
            let usage = match allocation.kind {
                Kind::Parameter => Usage::Input,
                Kind::Constant => Usage::Constant,
                Kind::Output => Usage::Output,
                Kind::ThreadLocal | Kind::Temporary => continue,
            };
            if allocation.color != 0 {
                continue;
            }
            let name = match &values[..] {
                [value] => plain(&self.dump.values[*value].name).to_owned(),
                _ => format!("allocation {}", allocation.number),
            };
            let spec = MemLocSpec {
                name: &name,
                extent: Some(Extent::Bytes(allocation.size)),
                usage,
                ..MemLocSpec::default()
            };
            let id = self.add(&spec, None)?;
            for value in values {
                let Some((first, last)) = self.ranges[value] else {
                    continue;
                };
                // What is there from the start is nobody's result.
                let is_result = first > 0 && usage == Usage::Input;
                if usage == Usage::Output || is_result {
                    self.access(id, first, false);
                }
                self.reads(id, value, (first, last));
                if usage == Usage::Output && last == self.dump.sequence.len() as u64 {
                    self.access(id, last, true);
                }
            }
        }
        Ok(())
    }

    fn access(&mut self, id: MemLocId, time: u64, is_use: bool) {
        self.accesses[time as usize].push((id, is_use));
    }

    /// The uses of a value within its life.
    fn reads(&mut self, id: MemLocId, value: usize, (first, last): (u64, u64)) {
        let readers = self.readers.get(self.dump.values[value].name.as_ref());
        for reader in readers.copied().into_iter().flatten() {
            if let Some(&time) = self.times.get(reader)
                && first < time
                && time <= last
            {
                self.access(id, time, true);
            }
        }
    }

    /// One location per buffer, at its place in its heap, the heaps one above the other.
    fn heap(&mut self, buffers: &[Buffer]) -> Result<()> {
        let placed = || {
            buffers
                .iter()
                .filter(|b| self.dump.allocations[b.allocation].color == 0)
        };
        let offsets = placed().fold(0, |all, b| all | b.offset);
        if offsets > 0 {
            self.align = (1 << offsets.trailing_zeros().min(63)).min(MOST_ALIGNED);
        }
        let too_large = || document_error("the heaps do not fit into 64 bits");
        let mut bases = BTreeMap::new();
        for (i, allocation) in self.dump.allocations.iter().enumerate() {
            if self.is_placed(i) {
                let base = self.heap.checked_next_multiple_of(self.align);
                let base = base.ok_or_else(too_large)?;
                bases.insert(i, base);
                self.heap = base.checked_add(allocation.size).ok_or_else(too_large)?;
            }
        }
        if bases.len() > 1 {
            let line = format!("{} heaps lie one above the other", bases.len());
            self.notes.push(line);
        }
        for buffer in buffers {
            let Some(base) = bases.get(&buffer.allocation) else {
                continue;
            };
            let value = &self.dump.values[buffer.values[0]];
            let heap = &self.dump.allocations[buffer.allocation];
            let line = value.line;
            let end = buffer.offset.checked_add(buffer.size);
            if end.is_none_or(|end| end > heap.size) {
                return Err(document_error(format!(
                    "{line}: {} ends past the {} bytes of allocation {}",
                    plain(&value.name),
                    heap.size,
                    heap.number
                )));
            }
            if buffer.lives.is_empty() {
                return Err(document_error(format!(
                    "{line}: {} has no live range: a part of the dump is missing",
                    plain(&value.name)
                )));
            }
            let spec = MemLocSpec {
                name: plain(&value.name),
                extent: Some(Extent::Bytes(buffer.size)),
                align: Some(self.align),
                ..MemLocSpec::default()
            };
            let id = self.add(&spec, Some(base + buffer.offset))?;
            self.buffer_accesses(id, buffer);
        }
        let ends = buffers
            .iter()
            .filter_map(|b| Some(bases.get(&b.allocation)? + b.offset + b.size));
        let end = ends.max().unwrap_or(0);
        if end != self.heap {
            self.notes.push(format!(
                "the heap has {} bytes, of which the last buffer ends at {end}",
                self.heap
            ));
        }
        Ok(())
    }

    /// Accesses that make a buffer live exactly when XLA says so.
    fn buffer_accesses(&mut self, id: MemLocId, buffer: &Buffer) {
        for &(first, last) in &buffer.lives {
            self.access(id, first, false);
            if last > first {
                self.access(id, last, true);
            }
        }
        for &value in &buffer.values {
            let Some((first, last)) = self.ranges[value] else {
                continue;
            };
            self.reads(id, value, (first, last));
            // A value in the midst of a run takes the bytes over from the one before: the
            // instruction reads them and writes them.
            if buffer
                .lives
                .iter()
                .any(|run| run.0 < first && first <= run.1)
            {
                self.access(id, first, true);
                self.access(id, first, false);
            }
        }
    }

    fn instructions(&mut self) -> Result<()> {
        let accesses = std::mem::take(&mut self.accesses);
        for (time, mut accesses) in accesses.into_iter().enumerate() {
            accesses.sort_unstable();
            accesses.dedup();
            let of = |wanted: bool| -> Vec<Operand> {
                let of_kind = accesses.iter().filter(|&&(_, is_use)| is_use == wanted);
                of_kind.map(|&(id, _)| id.into()).collect()
            };
            let (uses, defs) = (of(true), of(false));
            let name = self.dump.sequence.get(time).copied();
            self.function.add_instruction(&InstructionSpec {
                op: name.map_or("end", opcode),
                name: name.unwrap_or(""),
                uses: &uses,
                defs: &defs,
                ..InstructionSpec::default()
            })?;
        }
        Ok(())
    }

    fn finish(self, name: &str) -> Result<XlaImport> {
        let mut module = Module::new("m0", 0);
        module.add_function(self.function)?;
        let mut program = Program::new(name);
        program.add_module(module)?;
        Ok(XlaImport {
            program,
            addresses: self.addresses,
            align: self.align,
            heap: self.heap,
            notes: self.notes,
        })
    }
}

/// A value's name without its place, if that is the whole of it.
fn plain(name: &str) -> &str {
    name.strip_suffix("{}").unwrap_or(name)
}

/// What XLA has made a name of: `copy` of `copy.12`.
fn opcode(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((op, number)) if number.bytes().all(|b| b.is_ascii_digit()) => op,
        _ => name,
    }
}
