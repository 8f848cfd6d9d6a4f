//! JSON documents: read strictly and in pieces, written one record per line.
//!
//! [`Reader`] knows the grammar, [`Part`] says where something is wrong, `values` are the types of
//! values, and `object!` turns a table of keys into an object that is read by it.

mod object;
mod out;
mod part;
mod reader;
mod values;

pub(crate) use object::{Extensions, Field, Foreign, object};
pub(crate) use out::JsonOut;
pub(crate) use part::{Part, document_error, error_at, missing, text};
pub(crate) use reader::{Read, Reader, Shape, Token, Value};
pub(crate) use values::{
    Format, Number, Raw, Signed, Small, Smalls, Tag, Text, Version1, Word, Words, words,
};
