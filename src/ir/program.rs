//! Modules and programs: one module per core. // T

use super::function::Function;
use super::names::Names;
use crate::error::{Fault, Result};

/// One core's copy of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    name: String,
    core: u32,
    functions: Vec<Function>,
    function_names: Names,
}

impl Module {
    /// An empty module.
    pub fn new(name: &str, core: u32) -> Module {
        Module {
            name: name.to_owned(),
            core,
            functions: Vec::new(),
            function_names: Names::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its core, `0..N`.
    pub fn core(&self) -> u32 {
        self.core
    }

    /// Appends a function and returns its position.
    pub fn add_function(&mut self, function: Function) -> Result<usize> {
        let (position, new) = self.function_names.intern(function.name());
        if !new {
            let name = function.name().to_owned();
            let error = crate::Error::from(Fault::DuplicateName {
                what: "function",
                name,
            });
            return Err(error.on_core(self.core));
        }
        self.functions.push(function);
        Ok(position as usize)
    }

    /// The functions, in the order in which they were added.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function at a position.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn function_mut(&mut self, position: usize) -> &mut Function {
        &mut self.functions[position]
    }

    /// The position of the function with this name.
    pub fn find_function(&self, name: &str) -> Option<usize> {
        self.function_names.find(name).map(|i| i as usize)
    }
}

/// A whole program: one module per core.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Its name.
    pub name: String,
    modules: Vec<Module>,
    /// What a file carried under `x_` keys, kept so that writing it back loses nothing. // F
    pub extensions: Vec<Extension>,
}

impl Program {
    /// An empty program.
    pub fn new(name: &str) -> Program {
        Program {
            name: name.to_owned(),
            ..Program::default()
        }
    }

    /// Appends a module and returns its position.
    pub fn add_module(&mut self, module: Module) -> Result<usize> {
        if let Some(other) = self.modules.iter().find(|m| m.core == module.core) {
            let (core, module) = (module.core, other.name.clone());
            return Err(Fault::DuplicateCore { core, module }.into());
        }
        self.modules.push(module);
        Ok(self.modules.len() - 1)
    }

    /// The modules, in the order in which they were added.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The module at a position.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn module_mut(&mut self, position: usize) -> &mut Module {
        &mut self.modules[position]
    }
}

/// The object that an extension key stood in; positions in their owners' lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExtensionSite {
    /// The program.
    Program,
    /// `(module)`.
    Module(u32),
    /// `(module, function)`.
    Function(u32, u32),
    /// `(module, function, location)`.
    MemLoc(u32, u32, u32),
    /// `(module, function, block)`.
    Block(u32, u32, u32),
    /// `(module, function, instruction)`.
    Instruction(u32, u32, u32),
}

/// One `x_` key of a program file with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Where it stood.
    pub site: ExtensionSite,
    /// The key, `x_` included.
    pub key: String,
    /// The value, as JSON text.
    pub json: String,
}
