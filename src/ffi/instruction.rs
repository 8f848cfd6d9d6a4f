//! Instructions: one at a time, or many as columns. // C9

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::function::dram_function;
use super::options::{code, flag, nonzero};
use super::status::dram_status;
use super::structs::{self, Out, Versioned};
use super::text::{dram_str, slice};
use crate::error::{Error, Fault, Result};
use crate::ir::{self, InstructionSpec, Kind, MemLocId, Operand, Symbol};

/// What an instruction is to the allocator.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum dram_kind {
    /// Anything without a rule of its own.
    Compute = 0,
    /// Copies its first use to its first def.
    DmaCopy = 1,
    /// A collective operation; its collective operands size the region.
    Collective = 2,
    /// Runs another function.
    Call = 3,
    /// The same moment on all cores.
    Barrier = 4,
}

/// Bytes of a memory location that an instruction reads or writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_operand {
    /// The location: a root or a view.
    pub memloc: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The first byte, from the start of the location.
    pub offset: u64,
    /// How many bytes; 0: to the end.
    pub bytes: u64,
}

/// A def that may take the bytes of a use that dies there, starting where it starts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_in_place {
    /// The location that is used.
    pub used: u32,
    /// The location that is defined.
    pub def: u32,
}

/// A caller's location bound to an input or output of the called function, by reference.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_argument {
    /// The name of the input or output in the called function.
    pub callee: dram_str,
    /// The location of the calling function.
    pub caller: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// What a host says of a new instruction. What it points at is read during the call only.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_instruction_desc {
    /// Set by the caller: `sizeof(dram_instruction_desc)`.
    pub struct_size: usize,
    /// The opcode; any text.
    pub op: dram_str,
    /// A name for messages; may be empty.
    pub name: dram_str,
    /// What it reads.
    pub uses: *const dram_operand,
    /// How many uses.
    pub use_count: usize,
    /// What it writes.
    pub defs: *const dram_operand,
    /// How many defs.
    pub def_count: usize,
    /// Pairs that may share their start; ineligible ones are ignored with a note.
    pub in_place: *const dram_in_place,
    /// How many pairs.
    pub in_place_count: usize,
    /// The called function's name; calls only.
    pub callee: dram_str,
    /// Bindings; calls only.
    pub args: *const dram_argument,
    /// How many bindings.
    pub arg_count: usize,
    /// The barrier's id, if `has_id` is 1; else 0.
    pub id: u64,
    /// 1 if the barrier has an id; else 0. Barriers only.
    pub has_id: u32,
    /// A `dram_kind`.
    pub kind: u32,
    /// The engine that runs it.
    pub engine: u32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: pointers, lengths and integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_instruction_desc {
    const FIRST_SIZE: usize = 144;
}

/// Many instructions as columns; a null column means its default for every row. What it points at
/// is read during the call only.
///
/// Lists of varying length are compressed rows: the operands of row `i` are
/// `[starts[i], starts[i + 1])`, so `starts` has `count + 1` entries, ascending from 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_instruction_columns {
    /// Set by the caller: `sizeof(dram_instruction_columns)`.
    pub struct_size: usize,
    /// How many instructions: the length of `ops`, `kinds` and `engines`.
    pub count: usize,
    /// The opcode texts that `ops` counts in; may be null if `ops` is.
    pub op_table: *const dram_str,
    /// How many opcode texts.
    pub op_table_count: usize,
    /// Each row's position in `op_table`. Null: no text.
    pub ops: *const u32,
    /// A `dram_kind` each; no calls, which have callees. Null: `compute`.
    pub kinds: *const u32,
    /// The engine of each. Null: 0.
    pub engines: *const u32,
    /// Where each row's uses begin in `uses`. Null: no uses.
    pub use_starts: *const u32,
    /// The locations read, whole.
    pub uses: *const u32,
    /// Where each row's defs begin in `defs`. Null: no defs.
    pub def_starts: *const u32,
    /// The locations written, whole.
    pub defs: *const u32,
    /// Where each row's pairs begin in `in_place`. Null: no pairs.
    pub in_place_starts: *const u32,
    /// Pairs that may share their start.
    pub in_place: *const dram_in_place,
    /// For each use, the first byte, from the start of its location. Null: 0.
    pub use_offsets: *const u64,
    /// For each use, how many bytes; 0: to the end. Null: to the end.
    pub use_bytes: *const u64,
    /// For each def, the first byte, from the start of its location. Null: 0.
    pub def_offsets: *const u64,
    /// For each def, how many bytes; 0: to the end. Null: to the end.
    pub def_bytes: *const u64,
}

// SAFETY: pointers and lengths, without padding (asserted in `layout`).
unsafe impl Versioned for dram_instruction_columns {
    const FIRST_SIZE: usize = 136;
}

/// Appends an instruction to the last block.
///
/// `index_out`: receives its flat index. A location that does not exist and bytes past its end are
/// `DRAM_STATUS_OUT_OF_RANGE`; nothing is added then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_add_instruction(
    function: *mut dram_function,
    instruction: *const dram_instruction_desc,
    index_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let index_out = unsafe { Out::new(index_out, 0, "index_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameter says.
        let desc = unsafe { structs::read(instruction, "instruction")? };
        // SAFETY: as above, for what the struct points at.
        let parts = unsafe { Parts::read(&desc)? };
        let spec = InstructionSpec {
            op: parts.op,
            name: parts.name,
            kind: code("instruction.kind", desc.kind, Kind::from_code)?,
            engine: desc.engine,
            uses: &parts.uses,
            defs: &parts.defs,
            in_place: &parts.in_place,
            callee: (!parts.callee.is_empty()).then_some(parts.callee),
            args: &parts.args,
            id: parts.id,
        };
        index_out.set(function.change(|f| f.add_instruction(&spec))?.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The lists of one instruction, as the core has them.
struct Parts<'a> {
    op: &'a str,
    name: &'a str,
    uses: Vec<Operand>,
    defs: Vec<Operand>,
    in_place: Vec<(MemLocId, MemLocId)>,
    callee: &'a str,
    args: Vec<(MemLocId, &'a str)>,
    id: Option<u64>,
}

impl<'a> Parts<'a> {
    /// # Safety
    ///
    /// What the struct points at is readable during `'a`.
    unsafe fn read(desc: &dram_instruction_desc) -> Result<Parts<'a>> {
        let has_id = flag("instruction.has_id", desc.has_id)?;
        if desc.reserved != 0 || (desc.id != 0 && !has_id) {
            let reason = "has an id without has_id, or reserved bits";
            return Err(Error::invalid("instruction", reason));
        }
        // SAFETY: this function's contract.
        let (uses, defs, in_place, args) = unsafe {
            (
                slice(desc.uses, desc.use_count, "instruction.uses")?,
                slice(desc.defs, desc.def_count, "instruction.defs")?,
                slice(desc.in_place, desc.in_place_count, "instruction.in_place")?,
                slice(desc.args, desc.arg_count, "instruction.args")?,
            )
        };
        let argument = |given: &dram_argument| {
            if given.reserved != 0 {
                return Err(Error::invalid("instruction.args", "has reserved bits"));
            }
            // SAFETY: this function's contract.
            let callee = unsafe { given.callee.read("instruction.args")? };
            Ok((MemLocId(given.caller), callee))
        };
        // SAFETY: this function's contract.
        let (op, name, callee) = unsafe {
            (
                desc.op.read("instruction.op")?,
                desc.name.read("instruction.name")?,
                desc.callee.read("instruction.callee")?,
            )
        };
        Ok(Parts {
            op,
            name,
            uses: uses.iter().map(operand).collect::<Result<_>>()?,
            defs: defs.iter().map(operand).collect::<Result<_>>()?,
            in_place: in_place.iter().map(pair).collect(),
            callee,
            args: args.iter().map(argument).collect::<Result<_>>()?,
            id: has_id.then_some(desc.id),
        })
    }
}

fn operand(given: &dram_operand) -> Result<Operand> {
    if given.reserved != 0 {
        return Err(Error::invalid("operand", "has reserved bits"));
    }
    Ok(Operand {
        loc: MemLocId(given.memloc),
        offset: given.offset,
        bytes: (given.bytes != 0).then_some(given.bytes),
    })
}

fn pair(given: &dram_in_place) -> (MemLocId, MemLocId) {
    (MemLocId(given.used), MemLocId(given.def))
}

/// Appends instructions to the last block, all or none.
///
/// `first_out`: receives the flat index of the first; the others follow. A refused batch adds
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_function_add_instructions(
    function: *mut dram_function,
    instructions: *const dram_instruction_columns,
    first_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let first_out = unsafe { Out::new(first_out, 0, "first_out")? };
        let function = call.get(function, "function")?;
        // SAFETY: as this function's parameter says.
        let columns = unsafe { structs::read(instructions, "instructions")? };
        // SAFETY: as above, for what the struct points at.
        let columns = unsafe { Columns::read(&columns)? };
        let first = function.change(|f| {
            f.reserve(0, columns.count);
            f.all_or_no_instructions(|f| columns.add_to(f))
        })?;
        first_out.set(first.0);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Columns, checked: every row may be taken without further ado.
struct Columns<'a> {
    count: usize,
    op_table: Vec<&'a str>,
    ops: Option<&'a [u32]>,
    kinds: Option<Vec<Kind>>,
    engines: Option<&'a [u32]>,
    uses: Rows<'a, Operands<'a>>,
    defs: Rows<'a, Operands<'a>>,
    in_place: Rows<'a, &'a [dram_in_place]>,
}

/// Operands in columns; they are put together a row at a time, for a million of them would cost
/// more memory than the program.
struct Operands<'a> {
    locs: &'a [u32],
    offsets: Option<&'a [u64]>,
    bytes: Option<&'a [u64]>,
}

impl Operands<'_> {
    #[inline(always)] // Rows are short: a call would cost as much as what it does.
    fn append_to(&self, operands: &mut Vec<Operand>, range: std::ops::Range<usize>) {
        for at in range {
            operands.push(Operand {
                loc: MemLocId(self.locs[at]),
                offset: self.offsets.map_or(0, |offsets| offsets[at]),
                bytes: self.bytes.and_then(|bytes| nonzero(bytes[at])),
            });
        }
    }
}

/// Compressed rows.
struct Rows<'a, T> {
    starts: &'a [u32],
    all: Option<T>,
}

impl<'a, T> Rows<'a, T> {
    /// Hands over the elements of a row: all that there are, and the positions of the row's.
    fn of(&self, row: usize, elements: impl FnOnce(&T, std::ops::Range<usize>)) {
        if let (Some(all), Some(&[start, end])) = (&self.all, self.starts.get(row..row + 2)) {
            elements(all, start as usize..end as usize);
        }
    }

    /// Checks the starts and hands `all` how many elements there are.
    ///
    /// # Safety
    ///
    /// `starts` is null or readable for `count + 1` elements during `'a`.
    unsafe fn read(
        starts: *const u32,
        count: usize,
        parameter: &'static str,
        all: impl FnOnce(usize) -> Result<T>,
    ) -> Result<Rows<'a, T>> {
        // SAFETY: this function's contract.
        let starts = unsafe { column(starts, count + 1, parameter)? };
        let Some(starts) = starts else {
            return Ok(Rows {
                starts: &[],
                all: None,
            });
        };
        if starts[0] != 0 || !starts.is_sorted() {
            return Err(Error::invalid(parameter, "does not ascend from 0"));
        }
        let all = Some(all(starts[count] as usize)?);
        Ok(Rows { starts, all })
    }
}

/// A column that may be missing.
///
/// # Safety
///
/// As for [`slice`].
unsafe fn column<'a, T>(
    data: *const T,
    len: usize,
    parameter: &'static str,
) -> Result<Option<&'a [T]>> {
    if data.is_null() {
        return Ok(None);
    }
    // SAFETY: this function's contract.
    unsafe { slice(data, len, parameter).map(Some) }
}

impl<'a> Columns<'a> {
    /// # Safety
    ///
    /// What the struct points at is readable during `'a`.
    unsafe fn read(given: &dram_instruction_columns) -> Result<Columns<'a>> {
        let count = given.count;
        if count >= u32::MAX as usize {
            let reason = "a function holds fewer than 2^32";
            return Err(Error::invalid("instructions.count", reason));
        }
        // SAFETY: this function's contract.
        let (op_table, ops, kinds, engines) = unsafe {
            (
                slice(
                    given.op_table,
                    given.op_table_count,
                    "instructions.op_table",
                )?,
                column(given.ops, count, "instructions.ops")?,
                column(given.kinds, count, "instructions.kinds")?,
                column(given.engines, count, "instructions.engines")?,
            )
        };
        // SAFETY: this function's contract.
        let text = |text: &dram_str| unsafe { text.read("instructions.op_table") };
        let op_table: Vec<&str> = op_table.iter().map(text).collect::<Result<_>>()?;
        if let Some(&op) = ops.and_then(|ops| ops.iter().find(|&&op| op as usize >= op_table.len()))
        {
            return Err(Error::from(Fault::UnknownIndex {
                what: "opcode text",
                index: op.into(),
                count: op_table.len() as u64,
            }));
        }
        let kind = |&kind: &u32| match code("instructions.kinds", kind, Kind::from_code)? {
            Kind::Call => Err(Error::invalid(
                "instructions.kinds",
                "a call needs a callee",
            )),
            kind => Ok(kind),
        };
        let kinds = kinds.map(|kinds| kinds.iter().map(kind).collect::<Result<_>>());
        let list = |starts, locs, offsets, bytes, [of_starts, of_locs, of_bytes]: [_; 3]| {
            let all = |len| {
                // SAFETY: this function's contract.
                let locs = unsafe { slice(locs, len, of_locs)? };
                // SAFETY: this function's contract.
                let (offsets, bytes) = unsafe {
                    (
                        column(offsets, len, of_bytes)?,
                        column(bytes, len, of_bytes)?,
                    )
                };
                Ok(Operands {
                    locs,
                    offsets,
                    bytes,
                })
            };
            // SAFETY: this function's contract.
            unsafe { Rows::read(starts, count, of_starts, all) }
        };
        Ok(Columns {
            count,
            op_table,
            ops,
            kinds: kinds.transpose()?,
            engines,
            uses: list(
                given.use_starts,
                given.uses,
                given.use_offsets,
                given.use_bytes,
                [
                    "instructions.use_starts",
                    "instructions.uses",
                    "instructions.use_bytes",
                ],
            )?,
            defs: list(
                given.def_starts,
                given.defs,
                given.def_offsets,
                given.def_bytes,
                [
                    "instructions.def_starts",
                    "instructions.defs",
                    "instructions.def_bytes",
                ],
            )?,
            // SAFETY: this function's contract, as is the inner one.
            in_place: unsafe {
                Rows::read(
                    given.in_place_starts,
                    count,
                    "instructions.in_place_starts",
                    |len| slice(given.in_place, len, "instructions.in_place"),
                )?
            },
        })
    }

    fn add_to(&self, function: &mut ir::Function) -> Result<()> {
        let (mut operands, mut pairs) = (Vec::new(), Vec::new());
        let mut symbols: Vec<Option<Symbol>> = vec![None; self.op_table.len().max(1)];
        for row in 0..self.count {
            operands.clear();
            pairs.clear();
            self.uses
                .of(row, |all, range| all.append_to(&mut operands, range));
            let uses = operands.len();
            self.defs
                .of(row, |all, range| all.append_to(&mut operands, range));
            self.in_place
                .of(row, |all, range| pairs.extend(all[range].iter().map(pair)));
            let op = self.ops.map_or(0, |ops| ops[row] as usize);
            let op = *symbols[op]
                .get_or_insert_with(|| function.opcode(self.ops.map_or("", |_| self.op_table[op])));
            let spec = InstructionSpec {
                kind: self
                    .kinds
                    .as_ref()
                    .map_or(Kind::Compute, |kinds| kinds[row]),
                engine: self.engines.map_or(0, |engines| engines[row]),
                uses: &operands[..uses],
                defs: &operands[uses..],
                in_place: &pairs,
                ..InstructionSpec::default()
            };
            function.add_instruction_of(op, &spec)?;
        }
        Ok(())
    }
}
