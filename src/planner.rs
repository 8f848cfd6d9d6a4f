//! The run over a program: from modules to a plan. // M3, P, X5

use crate::control::Control;
use crate::error::Result;
use crate::ir::{Module, Program};
use crate::options::Options;
use crate::plan::Plan;

/// Plans a whole program; changes nothing.
pub fn plan(_program: &Program, _options: &Options, _control: &mut Control<'_>) -> Result<Plan> {
    todo!("private mode")
}

/// Plans one module and writes the addresses into it, all or none. // X5
///
/// The returned plan has that module alone.
pub fn allocate(
    _module: &mut Module,
    _options: &Options,
    _control: &mut Control<'_>,
) -> Result<Plan> {
    todo!("private mode")
}
