//! From the text of a program file to the program. // F
//!
//! Locations are handed to the model in batches that end where every view's root is known, so
//! views may stand before their roots and a file of a million locations needs no second copy of
//! them. Instructions go over one by one. Nothing here judges the program: the model does, and
//! its objection is given the path of the value that caused it.

use super::document::{
    BlockDoc, FunctionDoc, InstructionDoc, MemLocDoc, ModuleDoc, OperandDoc, ProgramDoc,
};
use super::memlocs::{Batch, check_memloc, is_cookie, unknown_location};
use crate::error::{Fault, Result};
use crate::format::json::{
    Extensions, Field, Part, Raw, Text, document_error, error_at, missing, text,
};
use crate::ir::{
    BlockId, Extension, ExtensionSite, Function, InstructionSpec, MemLocId, Module, Operand,
    Program,
};
use crate::sorting::CompactSort as _;

/// Reads a program file. Every error is one line with the path of what it is about.
///
/// The host's own keys (`x_...`) are kept in [`Program::extensions`], except `x_cookie` of a
/// location, which is its cookie if it is a whole number.
pub fn read_program(bytes: &[u8]) -> Result<Program> {
    let document = text(bytes)?;
    let doc: ProgramDoc<'_> = Part::whole(document).parse()?;
    doc.format.require("", "format")?;
    doc.version.require("", "version")?;
    let modules = doc.modules.require("", "modules")?;
    let mut reader = Reader {
        document,
        extensions: Vec::new(),
    };
    reader.keep("", ExtensionSite::Program, doc.extensions)?;

    let mut program = Program::new(doc.name.as_ref().map_or("", |name| name));
    let count = modules.len();
    for (position, module) in modules.into_iter().enumerate() {
        let path = format!("modules[{position}]");
        let module = reader.module(&path, position, module)?;
        program
            .add_module(module)
            .map_err(|e| error_at(&format!("{path}.core"), e))?;
    }
    if let Some(cores) = doc.cores.get() {
        check_cores(&program, cores.0, count)?;
    }
    // The order of keys in the file is not part of the program.
    reader
        .extensions
        .sort_compact_by(|a, b| a.site.cmp(&b.site));
    program.extensions = reader.extensions;
    Ok(program)
}

/// `cores` counts the modules, and each has one of that many cores.
fn check_cores(program: &Program, cores: u32, modules: usize) -> Result<()> {
    for (position, module) in program.modules().iter().enumerate() {
        if module.core() >= cores {
            let (name, core) = (module.name(), module.core());
            return Err(document_error(format!(
                "modules[{position}].core: module {name:?} is for core {core}, but cores says {cores}"
            )));
        }
    }
    if modules as u64 != u64::from(cores) {
        return Err(document_error(format!(
            "cores: it says {cores}, the modules are {modules}"
        )));
    }
    Ok(())
}

/// What is collected across modules.
struct Reader<'a> {
    document: &'a str,
    extensions: Vec<Extension>,
}

impl<'a> Reader<'a> {
    /// Keeps the foreign keys of one object.
    fn keep(&mut self, path: &str, site: ExtensionSite, keys: Extensions<'a>) -> Result<()> {
        if keys.len() > 1 {
            let mut sorted: Vec<&str> = keys.iter().map(|(key, _)| &**key).collect();
            sorted.sort_compact_by(Ord::cmp);
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let dot = if path.is_empty() { "" } else { "." };
                return Err(document_error(format!(
                    "{path}{dot}{}: the key stands twice",
                    pair[0]
                )));
            }
        }
        self.extensions
            .extend(keys.into_iter().map(|(key, json)| Extension {
                site,
                key: key.0.into_owned(),
                json: json.get().to_owned(),
            }));
        Ok(())
    }

    fn module(&mut self, path: &str, position: usize, doc: ModuleDoc<'a>) -> Result<Module> {
        let core = doc.core.get().map_or(position as u32, |core| core.0);
        let mut module = Module::new(doc.name.as_ref().map_or("", |name| name), core);
        self.keep(path, ExtensionSite::Module(position as u32), doc.extensions)?;
        let functions = doc
            .functions
            .require(path, "functions")
            .map_err(|e| e.on_core(core))?;
        for (f, doc) in functions.into_iter().enumerate() {
            let path = format!("{path}.functions[{f}]");
            let site = (position as u32, f as u32);
            let function = self
                .function(&path, site, doc)
                .map_err(|e| e.on_core(core))?;
            let added = module.add_function(function);
            added.map_err(|e| error_at(&format!("{path}.name"), e))?;
        }
        Ok(module)
    }

    fn function(&mut self, path: &str, site: (u32, u32), doc: FunctionDoc<'a>) -> Result<Function> {
        let name = required_name(doc.name, path)?;
        let mut reader = FunctionReader {
            path,
            site,
            function: Function::new(&name),
            operands: Vec::new(),
            pairs: Vec::new(),
            all: self,
        };
        reader.keep(
            path,
            ExtensionSite::Function(site.0, site.1),
            doc.extensions,
        )?;
        reader
            .body(doc.memlocs.get(), doc.blocks.get(), doc.instructions.get())
            .map_err(|e| e.in_function(&name))?;
        Ok(reader.function)
    }
}

/// A name that has to be there and to hold something.
fn required_name<'a>(name: Field<Text<'a>>, path: &str) -> Result<Text<'a>> {
    let name = name.require(path, "name")?;
    if name.is_empty() {
        return Err(document_error(format!("{path}.name: it is empty")));
    }
    Ok(name)
}

/// Reads one function.
struct FunctionReader<'r, 'a> {
    path: &'r str,
    site: (u32, u32),
    function: Function,
    operands: Vec<Operand>, // Of the instruction at hand: uses, then defs.
    pairs: Vec<(MemLocId, MemLocId)>,
    all: &'r mut Reader<'a>,
}

impl<'a> FunctionReader<'_, 'a> {
    fn keep(&mut self, path: &str, site: ExtensionSite, keys: Extensions<'a>) -> Result<()> {
        if keys.is_empty() {
            Ok(())
        } else {
            self.all.keep(path, site, keys)
        }
    }

    fn body(
        &mut self,
        memlocs: Option<Raw<'a>>,
        blocks: Option<Raw<'a>>,
        instructions: Option<Raw<'a>>,
    ) -> Result<()> {
        if let Some(memlocs) = memlocs {
            self.memlocs(memlocs)?;
        }
        match (blocks, instructions) {
            (Some(_), Some(_)) => {
                let message = "a function has blocks or instructions, not both";
                Err(document_error(format!(
                    "{}.instructions: {message}",
                    self.path
                )))
            }
            (Some(blocks), None) => self.blocks(blocks),
            (None, instructions) => {
                self.function.add_block("");
                let path = self.path.to_owned();
                instructions.map_or(Ok(()), |list| self.instructions(&path, list))
            }
        }
    }

    /// Reads the locations; keys of their own go to `Program::extensions`.
    fn memlocs(&mut self, list: Raw<'a>) -> Result<()> {
        let path = format!("{}.memlocs", self.path);
        let part = Part {
            document: self.all.document,
            text: list.get(),
            path: &path,
        };
        let mut batch = Batch::new(&path);
        part.each(|i, mut doc: MemLocDoc<'a>| {
            if !doc.extensions.is_empty() {
                let site = ExtensionSite::MemLoc(self.site.0, self.site.1, i as u32);
                let keys = std::mem::take(&mut doc.extensions);
                let (cookie, others) = keys.into_iter().partition(is_cookie);
                doc.extensions = cookie;
                self.all.keep(&format!("{path}[{i}]"), site, others)?;
            }
            check_memloc(&doc).map_err(|(key, e)| {
                let error = error_at(&format!("{path}[{i}].{key}"), e);
                if doc.name().is_empty() {
                    error
                } else {
                    error.at_location(doc.name())
                }
            })?;
            batch.push(&mut self.function, doc)
        })?;
        batch.finish(&mut self.function)
    }

    fn blocks(&mut self, list: Raw<'a>) -> Result<()> {
        let path = format!("{}.blocks", self.path);
        let part = Part {
            document: self.all.document,
            text: list.get(),
            path: &path,
        };
        let mut successors: Vec<Vec<BlockId>> = Vec::new();
        part.each(|i, doc: BlockDoc<'a>| {
            let path = format!("{path}[{i}]");
            self.function
                .add_block(doc.name.as_ref().map_or("", |name| name));
            let site = ExtensionSite::Block(self.site.0, self.site.1, i as u32);
            self.keep(&path, site, doc.extensions)?;
            let succs = doc.succs.get().unwrap_or_default();
            successors.push(succs.into_iter().map(|succ| BlockId(succ.0)).collect());
            doc.instructions
                .get()
                .map_or(Ok(()), |list| self.instructions(&path, list))
        })?;
        if successors.is_empty() {
            self.function.add_block("");
        }
        for (i, succs) in successors.iter().enumerate() {
            self.function
                .set_successors(BlockId::new(i), succs)
                .map_err(|e| {
                    let count = successors.len();
                    let bad = succs
                        .iter()
                        .position(|succ| succ.index() >= count)
                        .unwrap_or(0);
                    error_at(&format!("{path}[{i}].succs[{bad}]"), e)
                })?;
        }
        Ok(())
    }

    fn instructions(&mut self, owner: &str, list: Raw<'a>) -> Result<()> {
        let path = format!("{owner}.instructions");
        let part = Part {
            document: self.all.document,
            text: list.get(),
            path: &path,
        };
        part.each(|i, doc| {
            let index = self.function.instructions().len() as u32;
            self.instruction(index, &|| format!("{path}[{i}]"), doc)
                .map_err(|e| e.at_instruction(index))
        })
    }

    fn instruction(
        &mut self,
        index: u32,
        path: &dyn Fn() -> String,
        doc: InstructionDoc<'a>,
    ) -> Result<()> {
        if !doc.extensions.is_empty() {
            let site = ExtensionSite::Instruction(self.site.0, self.site.1, index);
            self.all.keep(&path(), site, doc.extensions)?;
        }
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        let uses = doc.uses.get().unwrap_or_default();
        let defs = doc.defs.get().unwrap_or_default();
        for (key, list) in [("uses", &uses), ("defs", &defs)] {
            for (k, operand) in list.iter().enumerate() {
                let operand = self.operand(operand);
                operands.push(operand.map_err(|e| error_at(&format!("{}.{key}[{k}]", path()), e))?);
            }
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        for (k, (used, def)) in doc.in_place.get().unwrap_or_default().iter().enumerate() {
            let at = |part, e| error_at(&format!("{}.in_place[{k}][{part}]", path()), e);
            let used = self.find(used).map_err(|e| at(0, e))?;
            pairs.push((used, self.find(def).map_err(|e| at(1, e))?));
        }
        let args = doc.args.get().unwrap_or_default();
        let mut bindings = Vec::with_capacity(args.len());
        for (k, (caller, callee)) in args.iter().enumerate() {
            let at = |e| error_at(&format!("{}.args[{k}][0]", path()), e);
            bindings.push((self.find(caller).map_err(at)?, &**callee));
        }
        let spec = InstructionSpec {
            op: doc.op.as_ref().ok_or_else(|| missing(&path(), "op"))?,
            name: doc.name.as_ref().map_or("", |name| name),
            kind: doc.kind.get().unwrap_or_default().0,
            engine: doc.engine.get().map_or(0, |engine| engine.0),
            uses: &operands[..uses.len()],
            defs: &operands[uses.len()..],
            in_place: &pairs,
            callee: doc.callee.as_ref().map(|callee| &**callee),
            args: &bindings,
            id: doc.id.get().map(|id| id.0),
        };
        self.function.add_instruction(&spec).map_err(|e| {
            let mut path = path();
            if let Fault::PastTheEnd { .. } = e.fault {
                path.push_str(&self.operand_past_the_end(&operands, uses.len()));
            }
            error_at(&path, e)
        })?;
        (self.operands, self.pairs) = (operands, pairs);
        Ok(())
    }

    fn operand(&self, doc: &OperandDoc<'_>) -> Result<Operand> {
        match doc {
            OperandDoc::Whole(name) => Ok(self.find(name)?.into()),
            OperandDoc::Slice(slice) => {
                let name = slice.loc.as_ref().ok_or_else(|| missing("", "loc"))?;
                Ok(Operand {
                    loc: self.find(name)?,
                    offset: slice.offset.as_ref().map_or(0, |offset| offset.0),
                    bytes: slice.bytes.as_ref().map(|bytes| bytes.0),
                })
            }
        }
    }

    fn find(&self, name: &str) -> Result<MemLocId> {
        self.function
            .find_memloc(name)
            .ok_or_else(|| unknown_location(name))
    }

    /// The path of the first operand that the model has refused, from its instruction on.
    fn operand_past_the_end(&self, operands: &[Operand], uses: usize) -> String {
        let past = |operand: &Operand| {
            let size = self.function.memloc(operand.loc).bytes;
            operand
                .offset
                .checked_add(operand.bytes.unwrap_or(0))
                .is_none_or(|end| end > size)
        };
        match operands.iter().position(past) {
            Some(i) if i < uses => format!(".uses[{i}]"),
            Some(i) => format!(".defs[{}]", i - uses),
            None => String::new(),
        }
    }
}
