//! From a program to the text of a program file. // F
//!
//! What is a default is not written. Reading the text gives an equal program, with these
//! exceptions, which only a program built by calls can have: a location without a name is written
//! as `#` and its number, an element count of a view becomes its bytes, and what an allocator run
//! has decided is left to the plan file.

use std::borrow::Cow;
use std::io::{self, Write};

use super::document::ProgramFormat;
use crate::format::json::{Format, JsonOut};
use crate::ir::{
    Access, BlockId, Extension, ExtensionSite, Extent, FlatIndex, Function, Kind, MemLocId,
    MemoryType, Module, Program, Space, Usage,
};
use crate::sorting::CompactSort as _;

/// Writes a program file: one location and one instruction per line.
///
/// Fails if `out` does, or if an extension of the program is no JSON.
pub fn write_program(program: &Program, out: impl Write) -> io::Result<()> {
    let mut out = JsonOut::new(out);
    let foreign = Foreign::of(program);
    out.object(|out| {
        out.string_pair("format", ProgramFormat::WORD)?;
        out.number_pair("version", 1)?;
        out.string_pair("name", &program.name)?;
        if cores_are_complete(program) {
            out.number_pair("cores", program.modules().len() as u64)?;
        }
        out.key("modules")?;
        out.lines((0..).zip(program.modules()), |out, (m, module)| {
            write_module(out, &foreign, m, module)
        })?;
        foreign.write(out, ExtensionSite::Program)
    })?;
    out.finish()
}

/// Whether the modules are those of cores `0..N`; a part of a program says no number of cores.
fn cores_are_complete(program: &Program) -> bool {
    let count = program.modules().len() as u64; // The model holds one module per core.
    program
        .modules()
        .iter()
        .all(|module| u64::from(module.core()) < count)
}

/// The host's own keys, by the object they stand in.
struct Foreign<'a>(Vec<&'a Extension>);

impl<'a> Foreign<'a> {
    fn of(program: &'a Program) -> Foreign<'a> {
        let mut all: Vec<&Extension> = program.extensions.iter().collect();
        all.sort_compact_by(|a, b| a.site.cmp(&b.site));
        Foreign(all)
    }

    fn at(&self, site: ExtensionSite) -> &[&'a Extension] {
        let start = self.0.partition_point(|extension| extension.site < site);
        let count = self.0[start..].partition_point(|extension| extension.site == site);
        &self.0[start..start + count]
    }

    fn write(&self, out: &mut JsonOut<impl Write>, site: ExtensionSite) -> io::Result<()> {
        self.at(site).iter().try_for_each(|extension| {
            out.key(&extension.key)?;
            out.json(&extension.json)
        })
    }
}

fn write_module(
    out: &mut JsonOut<impl Write>,
    foreign: &Foreign<'_>,
    m: u32,
    module: &Module,
) -> io::Result<()> {
    out.object(|out| {
        out.string_pair("name", module.name())?;
        out.number_pair("core", module.core())?;
        out.key("functions")?;
        out.lines((0..).zip(module.functions()), |out, (f, function)| {
            FunctionOut {
                function,
                foreign,
                m,
                f,
            }
            .write(out)
        })?;
        foreign.write(out, ExtensionSite::Module(m))
    })
}

/// The name of a location in a file: its own, or `#` and its number if it has none.
///
/// No two locations of a function have the same.
pub(crate) fn name_in_file(function: &Function, id: MemLocId) -> Cow<'_, str> {
    let name = function.memloc_name(id);
    if !name.is_empty() {
        return name.into();
    }
    let mut made = format!("#{id}");
    while function.find_memloc(&made).is_some() {
        made.push('_');
    }
    made.into()
}

/// Writes one function.
struct FunctionOut<'a> {
    function: &'a Function,
    foreign: &'a Foreign<'a>,
    m: u32,
    f: u32,
}

impl FunctionOut<'_> {
    fn write(&self, out: &mut JsonOut<impl Write>) -> io::Result<()> {
        out.object(|out| {
            out.string_pair("name", self.function.name())?;
            out.key("memlocs")?;
            out.lines(self.function.memloc_ids(), |out, id| self.memloc(out, id))?;
            if self.is_one_plain_block() {
                self.instructions(out, BlockId(0))?;
            } else {
                out.key("blocks")?;
                let blocks = (0..self.function.blocks().len()).map(BlockId::new);
                out.lines(blocks, |out, id| self.block(out, id))?;
            }
            self.foreign
                .write(out, ExtensionSite::Function(self.m, self.f))
        })
    }

    fn name_of(&self, id: MemLocId) -> Cow<'_, str> {
        name_in_file(self.function, id)
    }

    fn memloc(&self, out: &mut JsonOut<impl Write>, id: MemLocId) -> io::Result<()> {
        let loc = self.function.memloc(id);
        out.object(|out| {
            out.string_pair("name", &self.name_of(id))?;
            if let Some(view) = loc.view() {
                out.string_pair("alias_of", &self.name_of(view.parent))?;
                if view.offset != 0 {
                    out.number_pair("offset", view.offset)?;
                }
            }
            match self.function.extent(id) {
                Extent::Rest => {}
                Extent::Elements { count, size } if !loc.is_view() => {
                    out.number_pair("elem_count", count)?;
                    out.number_pair("elem_size", size)?;
                }
                Extent::Bytes(_) | Extent::Elements { .. } => {
                    out.number_pair("bytes", loc.bytes)?;
                }
            }
            if loc.usage != Usage::default() {
                out.string_pair("usage", loc.usage.name())?;
            }
            if !loc.is_view() {
                self.own_keys_of_a_root(out, id)?;
            }
            if loc.escapes() {
                out.key("escapes")?;
                out.bool(true)?;
            }
            if let Some(cookie) = loc.cookie() {
                out.number_pair("x_cookie", cookie)?;
            }
            self.foreign
                .write(out, ExtensionSite::MemLoc(self.m, self.f, id.0))
        })
    }

    fn own_keys_of_a_root(&self, out: &mut JsonOut<impl Write>, id: MemLocId) -> io::Result<()> {
        let loc = self.function.memloc(id);
        if loc.space != Space::default() {
            out.string_pair("space", loc.space.name())?;
        }
        if loc.memory != MemoryType::default() {
            out.string_pair("memory", loc.memory.name())?;
        }
        if let Some(align) = loc.align() {
            out.number_pair("align", align)?;
        }
        if let Some(address) = loc.pin() {
            out.number_pair("address", address)?;
        }
        if let Some(remote) = self.function.remote(id) {
            out.key("remote")?;
            out.object(|out| {
                out.number_pair("core", remote.core)?;
                out.string_pair("name", &remote.name)
            })?;
        }
        let reach = self.function.reach(id);
        if !reach.is_empty() {
            out.key("reach")?;
            out.list(|out| reach.iter().try_for_each(|&core| out.number(core)))?;
        }
        Ok(())
    }

    /// Whether `instructions` says all there is to say of the blocks.
    fn is_one_plain_block(&self) -> bool {
        let [block] = self.function.blocks() else {
            return false;
        };
        block.name.is_empty()
            && self.function.successors(BlockId(0)).is_empty()
            && self
                .foreign
                .at(ExtensionSite::Block(self.m, self.f, 0))
                .is_empty()
    }

    fn block(&self, out: &mut JsonOut<impl Write>, id: BlockId) -> io::Result<()> {
        out.object(|out| {
            out.string_pair("name", &self.function.blocks()[id.index()].name)?;
            out.key("succs")?;
            let succs = self.function.successors(id);
            out.list(|out| succs.iter().try_for_each(|succ| out.number(succ.0)))?;
            self.instructions(out, id)?;
            self.foreign
                .write(out, ExtensionSite::Block(self.m, self.f, id.0))
        })
    }

    fn instructions(&self, out: &mut JsonOut<impl Write>, block: BlockId) -> io::Result<()> {
        out.key("instructions")?;
        let indices = self.function.block_range(block).map(FlatIndex);
        out.lines(indices, |out, index| self.instruction(out, index))
    }

    fn instruction(&self, out: &mut JsonOut<impl Write>, index: FlatIndex) -> io::Result<()> {
        let function = self.function;
        let instruction = &function.instructions()[index.index()];
        out.object(|out| {
            out.string_pair("op", function.symbol(instruction.op))?;
            if let Some(name) = function.instruction_name(index) {
                out.string_pair("name", function.symbol(name))?;
            }
            if instruction.kind != Kind::default() {
                out.string_pair("kind", instruction.kind.name())?;
            }
            if instruction.engine != 0 {
                out.number_pair("engine", instruction.engine)?;
            }
            for (key, list) in [
                ("uses", function.uses(index)),
                ("defs", function.defs(index)),
            ] {
                if !list.is_empty() {
                    out.key(key)?;
                    out.list(|out| list.iter().try_for_each(|access| self.operand(out, access)))?;
                }
            }
            let pairs = function.in_place(index);
            if !pairs.is_empty() {
                out.key("in_place")?;
                out.list(|out| {
                    pairs.iter().try_for_each(|&(used, def)| {
                        pair(out, &self.name_of(used), &self.name_of(def))
                    })
                })?;
            }
            if let Some(callee) = function.callee(index) {
                out.string_pair("callee", function.symbol(callee))?;
            }
            let args = function.args(index);
            if !args.is_empty() {
                out.key("args")?;
                out.list(|out| {
                    args.iter().try_for_each(|arg| {
                        pair(out, &self.name_of(arg.caller), function.symbol(arg.callee))
                    })
                })?;
            }
            if let Some(id) = function.barrier_id(index) {
                out.number_pair("id", id)?;
            }
            let site = ExtensionSite::Instruction(self.m, self.f, index.0);
            self.foreign.write(out, site)
        })
    }

    fn operand(&self, out: &mut JsonOut<impl Write>, access: Access) -> io::Result<()> {
        let name = self.name_of(access.loc);
        if access.offset == 0 && access.bytes == self.function.memloc(access.loc).bytes {
            return out.string(&name);
        }
        out.object(|out| {
            out.string_pair("loc", &name)?;
            out.number_pair("offset", access.offset)?;
            out.number_pair("bytes", access.bytes)
        })
    }
}

fn pair(out: &mut JsonOut<impl Write>, first: &str, second: &str) -> io::Result<()> {
    out.list(|out| {
        out.string(first)?;
        out.string(second)
    })
}
