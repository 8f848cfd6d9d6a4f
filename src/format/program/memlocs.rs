//! Locations on their way to the model, in batches.

use std::collections::HashMap;

use super::document::MemLocDoc;
use crate::error::{Error, Fault, Result};
use crate::format::json::{Field, Raw, Text, document_error, error_at, missing};
use crate::ir::{Bank, Extent, Function, MemLocId, MemLocSpec};

/// How many locations are handed to the model at a time.
const BATCH: usize = 1024;

pub(super) fn unknown_location(name: &str) -> Error {
    Fault::UnknownName {
        what: "location",
        name: name.to_owned(),
    }
    .into()
}

/// Whether a foreign key of a location is the host's cookie.
pub(super) fn is_cookie((key, json): &(Text<'_>, Raw<'_>)) -> bool {
    &**key == "x_cookie" && json.get().parse::<u64>().is_ok()
}

/// What the format asks of a location and the model cannot see: which keys are given together.
///
/// A view may say any usage, as producers do; beside `input` and `output`, which count for the
/// root, it is a remark.
///
/// An error comes with the key that it is about.
pub(super) fn check_memloc(doc: &MemLocDoc<'_>) -> std::result::Result<(), (&'static str, Error)> {
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
pub(super) struct Batch<'p, 'a> {
    path: &'p str,
    first: usize, // The position of the first one in its list.
    docs: Vec<MemLocDoc<'a>>,
    full: usize,
}

impl<'p, 'a> Batch<'p, 'a> {
    /// Nothing of the list at `path` yet.
    pub(super) fn new(path: &'p str) -> Batch<'p, 'a> {
        Batch {
            path,
            first: 0,
            docs: Vec::new(),
            full: BATCH,
        }
    }

    /// Appends the next one, and hands the batch over if it is time to.
    pub(super) fn push(&mut self, function: &mut Function, doc: MemLocDoc<'a>) -> Result<()> {
        self.docs.push(doc);
        if self.docs.len() < self.full {
            Ok(())
        } else {
            self.add_to(function, false)
        }
    }

    /// Hands over what is left.
    pub(super) fn finish(mut self, function: &mut Function) -> Result<()> {
        self.add_to(function, true)
    }

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
    pub(super) fn name(&self) -> &str {
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
        bank: Bank::default(), // No key of a file. // F
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
        remote: doc.remote.as_ref().map(|remote| {
            let core = remote.core.as_ref().map_or(0, |core| core.0);
            (core, remote.name.as_ref().map_or("", |name| name))
        }),
        reach: doc.reach.as_ref().map_or(&[], |reach| &reach.0),
        cookie: doc
            .extensions
            .first()
            .and_then(|(_, json)| json.get().parse().ok()),
    }
}
