//! Between programs and buffers in rows. // F
//!
//! The two formats say different things, so neither direction keeps everything; what is kept is
//! the placement problem of one address space.
//!
//! *Function to rows.* One row per root of device memory in the space `local` that an allocator
//! would place, and per pinned one of the same usages: exact bytes, the life with its holes, the
//! declared alignment, the pin. Weights, inputs, outputs, the other spaces, in-place pairs and
//! what callees need are left out; [`Projection::notes`] counts them.
//!
//! *Rows to a program.* The distinct times cut time into steps, and each step is one instruction
//! whose opcode tells when it begins. A row is defined whole by the first step of each of its lives
//! and used by the last one, so liveness finds exactly these lives, with steps for times: two rows
//! meet in the program iff they met in the file. A life of one step is a value that nobody uses,
//! which lives for that step; a row without any life is a location that is never touched. The
//! program's times are ranks, so going there and back renumbers times, once.
//!
//! Solvers place exact bytes around the pins wherever they fit; to solve the same problem, plan
//! the program with `--packed --floor holes`. Packing still keeps small locations on one page,
//! which rows do not ask for.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;

use crate::error::Result;
use crate::format::csv::CsvFile;
use crate::format::json::document_error;
use crate::format::program::name_in_file;
use crate::ir::{
    Extent, Function, InstructionSpec, Lives, MemLocId, MemLocSpec, MemoryType, Module, Operand,
    Program, Space, UsageMask,
};
use crate::sorting::CompactSort as _;

/// A function as rows, and what did not fit into them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// The text of a CSV file: `id,lower,upper,size`, and `alignment`, `gaps`, `offset` where
    /// some row has one.
    pub csv: String,
    /// What a person should know: kinds of things that were left out, with their numbers.
    pub notes: Vec<String>,
}

/// The rows of the only function of a program; `lives` says when its locations are live.
///
/// Several functions are an error that names them: their times have nothing to do with each
/// other. Choose one and call [`function_to_csv`].
pub fn program_to_csv(
    program: &Program,
    lives: impl FnOnce(&Function) -> Lives,
) -> Result<Projection> {
    let modules = program.modules().iter();
    let all: Vec<(u32, &Function)> = modules
        .flat_map(|m| m.functions().iter().map(|f| (m.core(), f)))
        .collect();
    match all[..] {
        [(_, function)] => Ok(function_to_csv(function, &lives(function))),
        [] => Err(document_error(
            "the program has no function, so there are no rows",
        )),
        _ => {
            let names = all
                .iter()
                .map(|(core, f)| format!("{} on core {core}", f.name()));
            let names = names.take(10).collect::<Vec<_>>().join(", ");
            let count = all.len();
            Err(document_error(format!(
                "rows hold the buffers of one function; the program has {count}: {names}"
            )))
        }
    }
}

/// The rows of one function whose locations live as `lives` says, by `MemLocId`.
///
/// # Panics
///
/// If `lives` has fewer entries than the function has locations.
pub fn function_to_csv(function: &Function, lives: &Lives) -> Projection {
    let mut rows: Vec<MemLocId> = Vec::new();
    let (mut owned, mut elsewhere) = (0, 0);
    for id in function.memloc_ids() {
        let loc = function.memloc(id);
        if loc.memory != MemoryType::Dram || loc.is_view() {
            continue;
        }
        match (UsageMask::CANDIDATES.contains(loc.usage), loc.space) {
            (true, Space::Local) => rows.push(id),
            (true, _) => elsewhere += 1,
            (false, _) => owned += usize::from(loc.pin().is_some()),
        }
    }
    let instructions = (0..function.instructions().len()).map(crate::ir::FlatIndex::new);
    let pairs: usize = instructions
        .clone()
        .map(|i| function.in_place(i).len())
        .sum();
    let calls = instructions
        .filter(|&i| function.callee(i).is_some())
        .count();
    let notes = [
        (
            owned,
            "pinned inputs, outputs, weights and constants are left out",
        ),
        (elsewhere, "locations of other spaces are left out"),
        (
            pairs,
            "in-place pairs are left out: their locations are rows that meet",
        ),
        (
            calls,
            "calls are left out: what the callee needs is not kept free",
        ),
        (
            rows.iter().filter(|&&id| is_renamed(function, id)).count(),
            "locations are renamed: rows hold no control characters, and no blanks around a name",
        ),
    ];
    Projection {
        csv: table(function, lives, &rows).expect("a Vec takes everything"),
        notes: notes
            .into_iter()
            .filter(|n| n.0 > 0)
            .map(|n| format!("{} {}", n.0, n.1))
            .collect(),
    }
}

/// Whether a character makes a file one that is no text.
fn is_no_text(c: char) -> bool {
    c < ' ' && !matches!(c, '\t' | '\n' | '\x0c' | '\r')
}

/// Whether the name of a location, as it is in files, does not come back out of a row.
fn is_renamed(function: &Function, id: MemLocId) -> bool {
    let name = function.memloc_name(id);
    name.trim() != name || name.contains(is_no_text)
}

/// The name of a location in a row: that in a file, or one made of it where it does not come back.
/// No two locations of a function have the same.
fn name_in_row(function: &Function, id: MemLocId) -> Cow<'_, str> {
    if !is_renamed(function, id) {
        return name_in_file(function, id);
    }
    let name = function.memloc_name(id).trim();
    let mut made = name.replace(is_no_text, "\u{fffd}");
    // As a location without a name is called, so that the number tells any two apart.
    made.push_str(&format!("#{id}"));
    while function.find_memloc(&made).is_some() {
        made.push('_');
    }
    made.into()
}

fn table(function: &Function, lives: &Lives, rows: &[MemLocId]) -> io::Result<String> {
    let has = |wanted: &dyn Fn(MemLocId) -> bool| rows.iter().any(|&id| wanted(id));
    let align = |id| function.memloc(id).align().unwrap_or(1);
    let aligned = has(&|id| align(id) > 1);
    let gaps = has(&|id: MemLocId| lives.of(id.index()).len() > 1);
    let pinned = has(&|id| function.memloc(id).pin().is_some());

    let mut out = csv::Writer::from_writer(Vec::new());
    let optional = [(aligned, "alignment"), (gaps, "gaps"), (pinned, "offset")];
    let optional = optional
        .iter()
        .filter(|column| column.0)
        .map(|column| column.1);
    out.write_record(["id", "lower", "upper", "size"].into_iter().chain(optional))?;
    for &id in rows {
        let life = lives.of(id.index());
        // A life that is empty is written as one that is.
        let lower = life
            .first()
            .map_or(0, |segment| u64::from(segment.first().0));
        let upper = life
            .last()
            .map_or(0, |segment| u64::from(segment.last().0) + 1);
        let bytes = function.memloc(id).bytes;
        out.write_field(name_in_row(function, id).as_ref())?;
        for number in [lower, upper, bytes] {
            out.write_field(number.to_string())?;
        }
        if aligned {
            out.write_field(align(id).to_string())?;
        }
        if gaps {
            let holes = life
                .windows(2)
                .map(|w| format!("{}-{}", w[0].last().0 + 1, w[1].first()));
            out.write_field(holes.collect::<Vec<_>>().join(" "))?;
        }
        if pinned {
            let pin = function
                .memloc(id)
                .pin()
                .map(|pin| Cow::Owned(pin.to_string()));
            out.write_field(pin.unwrap_or(Cow::Borrowed("")).as_ref())?;
        }
        out.write_record(None::<&[u8]>)?;
    }
    let bytes = out.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8(bytes).expect("made of text"))
}

/// A program of one function, `main`, that poses the problem of a file.
///
/// Fails for an alignment that is no power of two, which a program cannot ask for, and for what
/// the program model refuses: a pin whose end is past 64 bits.
pub fn csv_to_program(file: &CsvFile, name: &str) -> Result<Program> {
    let problem = file.problem();
    let mut function = Function::new("main");
    function.add_block("");
    for i in 0..problem.len() {
        let label = &problem.labels[i];
        function.add_memloc(&MemLocSpec {
            name: label,
            extent: Some(Extent::Bytes(problem.sizes[i])),
            align: Some(problem.alignments.get(i).copied().unwrap_or(1)),
            address: problem.pins.get(i).copied().flatten(),
            ..MemLocSpec::default()
        })?;
    }
    let mut times: Vec<i64> = problem
        .segments
        .iter()
        .flat_map(|&(lower, upper)| [lower, upper])
        .collect();
    times.sort_compact();
    times.dedup();
    let step = |time: i64| {
        times
            .binary_search(&time)
            .expect("every time is in the list")
    };
    let steps = times.len().saturating_sub(1);
    let (mut defs, mut uses) = (vec![Vec::new(); steps], vec![Vec::new(); steps]);
    for i in 0..problem.len() {
        for &(lower, upper) in problem.segments_of(i) {
            let (first, last) = (step(lower), step(upper) - 1);
            defs[first].push(Operand::from(MemLocId::new(i)));
            if last > first {
                uses[last].push(Operand::from(MemLocId::new(i)));
            }
        }
    }
    for ((uses, defs), time) in uses.iter().zip(&defs).zip(&times) {
        function.add_instruction(&InstructionSpec {
            op: &format!("time {time}"),
            uses,
            defs,
            ..InstructionSpec::default()
        })?;
    }
    let mut module = Module::new("m0", 0);
    module.add_function(function)?;
    let mut program = Program::new(name);
    program.add_module(module)?;
    Ok(program)
}
