//! The keys of a program file, as a table per object. // F

use crate::format::json::{
    Format, Number, Raw, Read, Reader, Small, Smalls, Tag, Text, Token, Value, Version1, Word,
    object, words,
};
use crate::ir::{Kind, MemoryType, Space, Usage};

words!(Kind, MemoryType, Space, Usage);

/// The word in the key `format`.
pub(crate) struct ProgramFormat;

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
        memlocs: Raw<'de>,
        blocks: Raw<'de>,
        instructions: Raw<'de>,
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
        reach: Smalls,
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
        instructions: Raw<'de>,
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
pub(crate) enum OperandDoc<'de> {
    Whole(Text<'de>),
    Slice(SliceDoc<'de>),
}

impl<'de> Value<'de> for OperandDoc<'de> {
    fn read(json: &mut Reader<'de>) -> Read<OperandDoc<'de>> {
        match json.token()? {
            Token::Text(name) => Ok(OperandDoc::Whole(Text(name))),
            Token::Object => SliceDoc::read(json).map(OperandDoc::Slice),
            other => {
                let wanted = "a location's name or an object with loc, offset and bytes";
                Err(json.not_of_type(&other, &wanted))
            }
        }
    }
}
