//! The pass pipeline: builder, list by name, run. // X
//!
//! The gates are applied where the list is built, so a pass that is in the list runs. A run works
//! on a plan in the making and writes addresses, elided copies and edges into the program when
//! the last pass has succeeded: a failed run changes nothing, and its error names the pass.

mod copies;
mod passes;
mod run;
#[cfg(test)]
mod tests;

pub use passes::{Pass, PipelineOptions};
pub use run::{Outcome, PassReport, PipelineReport};

use crate::control::Control;
use crate::error::Result;
use crate::ir::Program;
use crate::options::Options;

/// A list of passes, ready to run.
#[derive(Clone, Debug)]
pub struct Pipeline {
    passes: Vec<Pass>,
    options: PipelineOptions,
}

impl Pipeline {
    /// The pipeline that the options describe. // X2
    ///
    /// # Errors
    ///
    /// Options out of their domain.
    pub fn new(options: &PipelineOptions) -> Result<Pipeline> {
        options.validate()?;
        Ok(Pipeline {
            passes: options.passes(),
            options: options.clone(),
        })
    }

    /// The passes in the order in which they run.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Runs the passes over a program and writes what they decided into it, all or nothing:
    /// [`Pipeline::decide`] and [`Outcome::store`] in one.
    ///
    /// # Errors
    ///
    /// As for [`Pipeline::decide`].
    pub fn run(
        &self,
        program: &mut Program,
        options: &Options,
        control: &mut Control<'_>,
    ) -> Result<PipelineReport> {
        Ok(self.decide(program, options, control)?.store(program))
    }

    /// Runs the passes over a program and changes nothing in it.
    ///
    /// The result does not depend on the order of the program's modules but for the order in
    /// which it lists them. // X6
    ///
    /// # Errors
    ///
    /// What a pass cannot do, in its words, after its name.
    pub fn decide(
        &self,
        program: &Program,
        options: &Options,
        control: &mut Control<'_>,
    ) -> Result<Outcome> {
        run::run(&self.passes, &self.options, program, options, control)
    }
}
