//! The keys of a program file, as a table per object. // F

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::json::{Format, Number, Small, Tag, Text, Version1, Word, object, words};
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
pub(crate) enum OperandDoc<'de> {
    Whole(Text<'de>),
    Slice(SliceDoc<'de>),
}

impl<'de> Deserialize<'de> for OperandDoc<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrSlice;
        impl<'de> Visitor<'de> for NameOrSlice {
            type Value = OperandDoc<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a location's name or an object with loc, offset and bytes")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<OperandDoc<'de>, E> {
                Ok(OperandDoc::Whole(Text(name.into())))
            }

            fn visit_str<E>(self, name: &str) -> Result<OperandDoc<'de>, E> {
                Ok(OperandDoc::Whole(Text(name.to_owned().into())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OperandDoc<'de>, A::Error> {
                let object = MapAccessDeserializer::new(map);
                Deserialize::deserialize(object).map(OperandDoc::Slice)
            }
        }
        deserializer.deserialize_any(NameOrSlice)
    }
}
