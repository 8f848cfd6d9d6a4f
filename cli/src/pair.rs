//! A program with a plan of it, from two files: what every command that looks at a plan begins with.
//!
//! Both are JSON, or both CSV. Rows become a program whose steps are the distinct times, and a plan
//! with the offsets as they stand in the second file; nothing is proven here.

use std::collections::BTreeMap;
use std::path::Path;

use dramalloc::format::{self, CsvFile};
use dramalloc::ir::{MemLocId, Program};
use dramalloc::{Control, Error, Floor, Options, Plan, plan_with_addresses};

use crate::failure::Failure;
use crate::input::{self, Input, is_standard};

/// What was read.
pub struct Pair {
    /// The program.
    pub program: Program,
    /// A plan that is of this program, location by location, but not proven to be right.
    pub plan: Plan,
}

/// Reads a program and its plan; `-` is stdin for one of them.
pub fn read(program: &Path, plan: &Path) -> Result<Pair, Failure> {
    let (subject, planned) = inputs(program, plan)?;
    if subject.is_json() {
        documents(&subject, &planned)
    } else {
        tables(&subject, &planned)
    }
}

/// Reads both files, of which one at most may be stdin, and which are both JSON or both not.
pub fn inputs(program: &Path, plan: &Path) -> Result<(Input, Input), Failure> {
    if is_standard(program) && is_standard(plan) {
        return Err(Failure::Bad(
            "only one of the two files can be stdin".to_owned(),
        ));
    }
    let (subject, planned) = (input::read(program)?, input::read(plan)?);
    let (wanted, found) = match (subject.is_json(), planned.is_json()) {
        (true, false) => ("JSON", "is not"),
        (false, true) => ("a CSV", "is JSON"),
        _ => return Ok((subject, planned)),
    };
    let line = format!("the plan of {} is {wanted}, and this {found}", subject.name);
    Err(Failure::file(&planned.name, line))
}

/// The offset of each row of a problem in its plan, which is the same file with every offset
/// filled in; rows are found by id.
pub fn offsets(problem: &CsvFile, placed: &CsvFile, name: &str) -> Result<Vec<u64>, Failure> {
    let (problem, placed) = (problem.problem(), placed.problem());
    let failed = |line: String| Failure::file(name, line);
    let row_of: BTreeMap<&str, usize> = placed.labels.iter().zip(0..).collect();
    let mut offsets = Vec::with_capacity(problem.len());
    for (row, label) in problem.labels.iter().enumerate() {
        let at = row_of.get(label).copied();
        let offset = at.and_then(|at| placed.pins.get(at).copied().flatten());
        let (Some(at), Some(offset)) = (at, offset) else {
            return Err(failed(format!("it has no offset for {label}")));
        };
        if placed.sizes[at] != problem.sizes[row]
            || placed.segments_of(at) != problem.segments_of(row)
        {
            let line = format!("{label} has another size or life there than in the problem");
            return Err(failed(line));
        }
        offsets.push(offset);
    }
    if placed.len() > problem.len() {
        let line = format!(
            "it has {} rows, the problem {}",
            placed.len(),
            problem.len()
        );
        return Err(failed(line));
    }
    Ok(offsets)
}

/// Reads a CSV file.
pub fn table(file: &Input) -> Result<CsvFile, Failure> {
    CsvFile::read(file.bytes.as_slice()).map_err(|e| Failure::library(&file.name, &e))
}

fn documents(subject: &Input, planned: &Input) -> Result<Pair, Failure> {
    let program = format::read_program(&subject.bytes);
    let program = program.map_err(|e| Failure::library(&subject.name, &e))?;
    let of_plan = |e: Error| Failure::library(&planned.name, &e);
    let plan = format::read_plan(&planned.bytes).map_err(of_plan)?;
    plan.check_is_of(&program).map_err(of_plan)?;
    Ok(Pair { program, plan })
}

fn tables(subject: &Input, planned: &Input) -> Result<Pair, Failure> {
    let (problem, placed) = (table(subject)?, table(planned)?);
    let offsets = offsets(&problem, &placed, &planned.name)?;
    let failed = |e: Error| Failure::library(&subject.name, &e);
    let program = format::csv_to_program(&problem, &subject.name).map_err(failed)?;
    // F: exact sizes, alignment 1, pins are obstacles.
    let options = Options {
        packed: true,
        floor: Floor::Holes,
        ..Options::default()
    };
    let address = |_: usize, id: MemLocId| offsets.get(id.index()).copied();
    let plan = plan_with_addresses(&program, &options, &address, &mut Control::default());
    let plan = plan.map_err(failed)?;
    Ok(Pair { program, plan })
}
