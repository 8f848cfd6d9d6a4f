//! From the text of a program file to the program. // F
//!
//! Locations are handed to the model in batches that end where every view's root is known, so
//! views may stand before their roots and a file of a million locations needs no second copy of
//! them. Instructions go over one by one. Nothing here judges the program: the model does, and
//! its objection is given the path of the value that caused it.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::json::{
    Extensions, Field, Format, Number, Part, Small, Tag, Text, Version1, Word, document_error,
    error_at, missing, object, text, words,
};
use crate::error::{Error, Fault, Result};
use crate::ir::{
    BlockId, Extension, ExtensionSite, Extent, Function, InstructionSpec, Kind, MemLocId,
    MemLocSpec, MemoryType, Module, Operand, Program, Remote, Space, Usage,
};

words!(Kind, MemoryType, Space, Usage);

/// The word in the key `format`.
pub(super) struct ProgramFormat;

impl Format for ProgramFormat {
    const WORD: &'static str = "dramalloc-program";
}

object! {
    ProgramDoc, "a program", Kept {
        format: Tag<ProgramFormat>,
        version: Version1,
        name: Text<'de>,
        cores: Small,
        modules: Vec<ModuleDoc<'de>>,
    }
}
object! {
    ModuleDoc, "a module", Kept {
        name: Text<'de>,
        core: Small,
        functions: Vec<FunctionDoc<'de>>,
    }
}
object! {
    FunctionDoc, "a function", Kept {
        name: Text<'de>,
        memlocs: &'de RawValue,
        blocks: &'de RawValue,
        instructions: &'de RawValue,
    }
}
object! {
    MemLocDoc, "a memloc", Kept {
        name: Text<'de>,
        bytes: Number,
        elem_count: Number,
        elem_size: Small,
        usage: Word<Usage>,
        space: Word<Space>,
        memory: Word<MemoryType>,
        align: Number,
        address: Number,
        alias_of: Text<'de>,
        offset: Number,
        escapes: bool,
        remote: Box<RemoteDoc<'de>>,
        reach: Vec<Small>,
    }
}
object! {
    RemoteDoc, "a remote", Refused {
        core: Small,
        name: Text<'de>,
    }
}
object! {
    BlockDoc, "a block", Kept {
        name: Text<'de>,
        succs: Vec<Small>,
        instructions: &'de RawValue,
    }
}
object! {
    InstructionDoc, "an instruction", Kept {
        op: Text<'de>,
        name: Text<'de>,
        kind: Word<Kind>,
        engine: Small,
        uses: Vec<OperandDoc<'de>>,
        defs: Vec<OperandDoc<'de>>,
        in_place: Vec<(Text<'de>, Text<'de>)>,
        callee: Text<'de>,
        args: Vec<(Text<'de>, Text<'de>)>,
        id: Number,
    }
}
object! {
    SliceDoc, "an operand", Refused {
        loc: Text<'de>,
        offset: Number,
        bytes: Number,
    }
}

/// An operand: the whole of a location by name, or some bytes of it.
enum OperandDoc<'de> {
    Whole(Text<'de>),
    Slice(SliceDoc<'de>),
}

impl<'de> serde::Deserialize<'de> for OperandDoc<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        struct NameOrSlice;
        impl<'de> serde::de::Visitor<'de> for NameOrSlice {
            type Value = OperandDoc<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a location's name or an object with loc, offset and bytes")
            }

            fn visit_borrowed_str<E>(
                self,
                name: &'de str,
            ) -> std::result::Result<OperandDoc<'de>, E> {
                Ok(OperandDoc::Whole(Text(name.into())))
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<OperandDoc<'de>, E> {
                Ok(OperandDoc::Whole(Text(name.to_owned().into())))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> std::result::Result<OperandDoc<'de>, A::Error> {
                let object = serde::de::value::MapAccessDeserializer::new(map);
                serde::Deserialize::deserialize(object).map(OperandDoc::Slice)
            }
        }
        deserializer.deserialize_any(NameOrSlice)
    }
}

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
    reader.extensions.sort_by_key(|extension| extension.site);
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
            sorted.sort_unstable();
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

/// How many locations are handed to the model at a time.
const BATCH: usize = 1024;

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
        memlocs: Option<&'a RawValue>,
        blocks: Option<&'a RawValue>,
        instructions: Option<&'a RawValue>,
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
    fn memlocs(&mut self, list: &'a RawValue) -> Result<()> {
        let path = format!("{}.memlocs", self.path);
        let part = Part {
            document: self.all.document,
            text: list.get(),
            path: &path,
        };
        let mut batch = Batch {
            path: &path,
            first: 0,
            docs: Vec::new(),
            full: BATCH,
        };
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
            batch.docs.push(doc);
            if batch.docs.len() < batch.full {
                return Ok(());
            }
            batch.add_to(&mut self.function, false)
        })?;
        batch.add_to(&mut self.function, true)
    }

    fn blocks(&mut self, list: &'a RawValue) -> Result<()> {
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

    fn instructions(&mut self, owner: &str, list: &'a RawValue) -> Result<()> {
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

fn unknown_location(name: &str) -> Error {
    Fault::UnknownName {
        what: "location",
        name: name.to_owned(),
    }
    .into()
}

/// Whether a foreign key of a location is the host's cookie.
fn is_cookie((key, json): &(Text<'_>, &RawValue)) -> bool {
    &**key == "x_cookie" && json.get().parse::<u64>().is_ok()
}

/// What the format asks of a location and the model cannot see: which keys are given together.
///
/// A view may say any usage, as producers do; beside `input` and `output`, which count for the
/// root, it is a remark.
///
/// An error comes with the key that it is about.
fn check_memloc(doc: &MemLocDoc<'_>) -> std::result::Result<(), (&'static str, Error)> {
    let refuse = |key, message: &str| Err((key, document_error(message)));
    match doc.name.as_ref() {
        None => return refuse("name", "missing; it has no default"),
        Some(name) if name.is_empty() => return refuse("name", "it is empty"),
        Some(_) => {}
    }
    if let Some(remote) = doc.remote.as_ref() {
        for (key, given) in [
            ("core", remote.core.is_given()),
            ("name", remote.name.is_given()),
        ] {
            if !given {
                return Err(("remote", missing("", key)));
            }
        }
    }
    if doc.bytes == Field::Null {
        return Err(("bytes", Fault::UnknownSize.into()));
    }
    if doc.alias_of.is_given() {
        let of_the_root = [
            ("elem_count", doc.elem_count.is_given()),
            ("elem_size", doc.elem_size.is_given()),
            ("space", doc.space.is_given()),
            ("memory", doc.memory.is_given()),
            ("align", doc.align.is_given()),
            ("address", doc.address.is_given()),
            ("remote", doc.remote.is_given()),
            ("reach", doc.reach.is_given()),
        ];
        if let Some((key, _)) = of_the_root.into_iter().find(|&(_, given)| given) {
            return refuse(key, "a view has bytes at most; the rest is its root's");
        }
        return Ok(());
    }
    if doc.offset.is_given() {
        return refuse("offset", "only a view (alias_of) has one");
    }
    let (bytes, count, size) = (
        doc.bytes.as_ref(),
        doc.elem_count.as_ref(),
        doc.elem_size.as_ref(),
    );
    match (bytes, count, size) {
        (Some(_), None, None) | (None, Some(_), Some(_)) => Ok(()),
        (Some(_), _, _) => refuse(
            "bytes",
            "either bytes or elem_count and elem_size, not both",
        ),
        (None, Some(_), None) => refuse("elem_size", "missing beside elem_count"),
        (None, None, Some(_)) => refuse("elem_count", "missing beside elem_size"),
        (None, None, None) => refuse("bytes", "missing, and so are elem_count and elem_size"),
    }
}

/// Locations that wait to be handed to the model together.
struct Batch<'p, 'a> {
    path: &'p str,
    first: usize, // The position of the first one in its list.
    docs: Vec<MemLocDoc<'a>>,
    full: usize,
}

impl Batch<'_, '_> {
    /// Hands the batch over, unless it holds a view whose root may still come.
    fn add_to(&mut self, function: &mut Function, last: bool) -> Result<()> {
        let views = match self.parents(function) {
            Ok(views) => views,
            Err(error) if last => return Err(error.in_function(function.name())),
            Err(_) => {
                self.full *= 2; // So that all the searches together stay linear.
                return Ok(());
            }
        };
        let mut specs: Vec<MemLocSpec<'_>> = self.docs.iter().map(spec).collect();
        for (i, view) in views {
            specs[i].view = Some(view);
        }
        let added = function.add_memlocs(&specs);
        added.map_err(|error| self.blame(function, error))?;
        self.first += self.docs.len();
        self.docs.clear();
        Ok(())
    }

    /// The views of the batch with what they are views of.
    fn parents(&self, function: &Function) -> Result<Vec<(usize, (MemLocId, u64))>> {
        let mut views = Vec::new();
        let mut names = HashMap::new();
        for (i, doc) in self.docs.iter().enumerate() {
            let Some(parent) = doc.alias_of.as_ref() else {
                continue;
            };
            if names.is_empty() {
                let ids = (self.first..).map(MemLocId::new);
                names.extend(self.docs.iter().map(MemLocDoc::name).zip(ids));
            }
            let known = function
                .find_memloc(parent)
                .or_else(|| names.get(&**parent).copied());
            let Some(id) = known else {
                let path = format!("{}[{}].alias_of", self.path, self.first + i);
                let error = error_at(&path, unknown_location(parent));
                return Err(error.at_location(doc.name()));
            };
            views.push((i, (id, doc.offset.as_ref().map_or(0, |offset| offset.0))));
        }
        Ok(views)
    }

    /// Gives an error of the model the path of the location, and of its key if that is clear.
    fn blame(&self, function: &Function, error: Error) -> Error {
        let positions = |name: &str| {
            let name = name.to_owned();
            (0..self.docs.len()).filter(move |&i| self.docs[i].name() == name)
        };
        let position = match (&error.fault, &error.place.location) {
            // The first one of that name may be in an earlier batch; the next one is refused.
            (Fault::DuplicateName { name, .. }, _) => {
                positions(name).nth(usize::from(function.find_memloc(name).is_none()))
            }
            (_, Some(name)) => positions(name).next(),
            _ => None,
        };
        let Some(position) = position else {
            return error_at(self.path, error);
        };
        let doc = &self.docs[position];
        let key = match &error.fault {
            Fault::DuplicateName { .. } => ".name",
            Fault::PastTheEnd { .. } if doc.bytes.is_given() => ".bytes",
            Fault::PastTheEnd { .. } => ".offset",
            Fault::Overflow { .. } if doc.address.is_given() => ".address",
            Fault::Overflow { .. } => ".elem_count",
            _ => "", // The model's word for an argument is the key, and `error_at` appends it.
        };
        error_at(
            &format!("{}[{}]{key}", self.path, self.first + position),
            error,
        )
        .at_location(doc.name())
    }
}

impl MemLocDoc<'_> {
    /// The name, which `check_memloc` has found to be there.
    fn name(&self) -> &str {
        self.name.as_ref().map_or("", |name| name)
    }
}

/// What a location's object says, but for what it is a view of.
fn spec<'s>(doc: &'s MemLocDoc<'_>) -> MemLocSpec<'s> {
    let elements = doc.elem_count.as_ref().zip(doc.elem_size.as_ref());
    let elements = elements.map(|(count, size)| Extent::Elements {
        count: count.0,
        size: size.0,
    });
    MemLocSpec {
        name: doc.name(),
        extent: doc
            .bytes
            .as_ref()
            .map(|bytes| Extent::Bytes(bytes.0))
            .or(elements),
        memory: doc.memory.as_ref().copied().unwrap_or_default().0,
        space: doc.space.as_ref().copied().unwrap_or_default().0,
        usage: doc.usage.as_ref().copied().unwrap_or_default().0,
        align: doc.align.as_ref().map(|align| align.0),
        address: doc.address.as_ref().map(|address| address.0),
        view: None,
        escapes: doc.escapes.as_ref().copied().unwrap_or_default(),
        remote: doc.remote.as_ref().map(|remote| Remote {
            core: remote.core.as_ref().map_or(0, |core| core.0),
            name: remote
                .name
                .as_ref()
                .map_or_else(String::new, |name| name.to_string()),
        }),
        reach: doc
            .reach
            .as_ref()
            .map_or_else(Vec::new, |r| r.iter().map(|c| c.0).collect()),
        cookie: doc
            .extensions
            .first()
            .and_then(|(_, json)| json.get().parse().ok()),
    }
}
