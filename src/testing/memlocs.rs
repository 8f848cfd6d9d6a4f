//! Memory locations: roots, views of them, pins that keep apart.

use super::{Result, Shape, Unstructured, chance};
use crate::ir::{Extent, Function, MemLocId, MemLocSpec, MemoryType, Remote, Space, Usage};

const PAGE: u64 = 4096;

/// The next free address for a pin. One counter for all spaces and cores, so that pins keep apart
/// in every geometry.
#[derive(Default)]
pub(super) struct Pins {
    next: u64,
}

impl Pins {
    pub fn take(&mut self, u: &mut Unstructured<'_>, bytes: u64) -> Result<u64> {
        let gap = *u.choose(&[0, 0, PAGE, 1, 100, 5 * PAGE])?;
        let address = self.next + gap;
        self.next = address + bytes;
        Ok(address)
    }
}

/// An input or output of a called function that its callers bind. // L7
#[derive(Clone, Debug)]
pub(super) struct Formal {
    pub name: String,
    pub bytes: u64,
}

/// A location to be, with what the rest of the generator wants to know of it.
#[derive(Clone, Debug)]
pub(super) struct Loc {
    pub name: String,
    pub bytes: u64,
    pub root: usize,
    pub usage: Usage,
    pub space: Space,
    pub memory: MemoryType,
    pub pin: Option<u64>,
    pub align: Option<u64>,
    pub escapes: bool,
    pub remote: Option<Remote>,
    pub reach: Vec<u32>,
    /// Kept for a formal of its size, so its views are not bound instead.
    pub reserved: bool,
    extent: Option<Extent>,
    view: Option<(usize, u64)>,
    cookie: Option<u64>,
}

impl Loc {
    /// Whether instructions should write it.
    pub fn is_written(&self) -> bool {
        matches!(
            self.usage,
            Usage::Internal | Usage::Collective | Usage::Output
        )
    }
}

/// The locations of a function; a position is the id that it will have.
#[derive(Default)]
pub(super) struct Locs {
    pub all: Vec<Loc>,
}

impl Locs {
    /// Adds a plain local candidate and returns its position.
    pub fn add(&mut self, name: String, bytes: u64) -> usize {
        let root = self.all.len();
        self.all.push(Loc {
            name,
            bytes,
            root,
            usage: Usage::Internal,
            space: Space::Local,
            memory: MemoryType::Dram,
            pin: None,
            align: None,
            escapes: false,
            remote: None,
            reach: Vec::new(),
            reserved: false,
            extent: Some(Extent::Bytes(bytes)),
            view: None,
            cookie: None,
        });
        root
    }

    /// Roots of every kind. In a called function (`called`), inputs and outputs are pinned, since the
    /// others are formals, which [`formals`] adds.
    pub fn add_roots(
        &mut self,
        u: &mut Unstructured<'_>,
        shape: &Shape,
        pins: &mut Pins,
        called: bool,
    ) -> Result<()> {
        for i in 0..u.int_in_range(1..=shape.roots.max(1))? {
            let bytes = bytes(u, shape)?;
            let at = self.add(format!("r{i}"), bytes);
            let loc = &mut self.all[at];
            if bytes % 4 == 0 && chance(u, 4)? {
                loc.extent = Some(Extent::Elements {
                    count: bytes / 4,
                    size: 4,
                });
            }
            if chance(u, 8)? {
                loc.cookie = Some(u.arbitrary()?);
            }
            if shape.on_chip && chance(u, 12)? {
                loc.memory = *u.choose(&[MemoryType::Sbuf, MemoryType::Psum, MemoryType::Reg])?;
                continue;
            }
            loc.usage = match u.int_in_range(0..=11)? {
                6 if shape.collectives => Usage::Collective,
                7 if shape.caller_data => Usage::Input,
                8 if shape.caller_data => Usage::Output,
                9 if shape.caller_data => Usage::Weight,
                10 if shape.caller_data => Usage::Constant,
                _ => Usage::Internal,
            };
            if shape.debug && chance(u, 10)? {
                loc.space = Space::Debug;
            }
            loc.align = alignment(u, shape)?;
            loc.escapes = shape.escapes && chance(u, 8)?;
            let candidate = matches!(loc.usage, Usage::Internal | Usage::Collective);
            let pinned = shape.pins && chance(u, if candidate { 10 } else { 2 })?;
            let formal = called && matches!(loc.usage, Usage::Input | Usage::Output);
            match (pinned, formal) {
                (true, _) => loc.pin = Some(pins.take(u, bytes)?),
                (false, true) => loc.usage = Usage::Internal,
                (false, false) => {}
            }
        }
        Ok(())
    }

    /// The inputs and outputs of a called function.
    pub fn add_formals(&mut self, u: &mut Unstructured<'_>, shape: &Shape) -> Result<Vec<Formal>> {
        let mut formals = Vec::new();
        for (prefix, usage) in [("in", Usage::Input), ("out", Usage::Output)] {
            for i in 0..u.int_in_range(0..=2)? {
                let (name, bytes) = (format!("{prefix}{i}"), bytes(u, shape)?);
                let at = self.add(name.clone(), bytes);
                self.all[at].usage = usage;
                formals.push(Formal { name, bytes });
            }
        }
        Ok(formals)
    }

    /// Views of anything that has bytes, other views included. // L9
    pub fn add_views(&mut self, u: &mut Unstructured<'_>, shape: &Shape) -> Result<()> {
        if !shape.views {
            return Ok(());
        }
        for i in 0..u.int_in_range(0..=self.all.len().min(5))? {
            let parent = u.choose_index(self.all.len())?;
            let of = self.all[parent].clone();
            if of.bytes == 0 {
                continue;
            }
            let (offset, size) = part(u, of.bytes)?;
            let at = self.add(format!("v{i}"), size.unwrap_or(of.bytes - offset));
            let loc = &mut self.all[at];
            loc.root = of.root;
            (loc.space, loc.memory, loc.pin) = (of.space, of.memory, of.pin);
            loc.usage = of.usage;
            loc.extent = size.map(Extent::Bytes);
            loc.view = Some((parent, offset));
            loc.escapes = shape.escapes && chance(u, 8)?;
        }
        Ok(())
    }

    /// Adds them all to a function.
    pub fn declare(&self, function: &mut Function) {
        let specs: Vec<MemLocSpec<'_>> = self.all.iter().map(Loc::spec).collect();
        function
            .add_memlocs(&specs)
            .expect("the generator declares valid locations");
    }
}

impl Loc {
    fn spec(&self) -> MemLocSpec<'_> {
        let common = MemLocSpec {
            name: &self.name,
            extent: self.extent,
            escapes: self.escapes,
            cookie: self.cookie,
            ..MemLocSpec::default()
        };
        if let Some((parent, offset)) = self.view {
            return MemLocSpec {
                view: Some((MemLocId::new(parent), offset)),
                ..common
            };
        }
        MemLocSpec {
            memory: self.memory,
            space: self.space,
            usage: self.usage,
            align: self.align,
            address: self.pin,
            remote: self.remote.as_ref().map(|r| (r.core, r.name.as_str())),
            reach: &self.reach,
            ..common
        }
    }
}

/// A size: mostly a few pages, so that sizes are often equal.
pub(super) fn bytes(u: &mut Unstructured<'_>, shape: &Shape) -> Result<u64> {
    let pages = u.int_in_range(1..=shape.pages.max(1))?;
    if !shape.odd_sizes {
        return Ok(pages * PAGE);
    }
    match u.int_in_range(0..=11)? {
        8 => Ok(pages * PAGE - 1),
        9 => Ok(pages * PAGE + 1),
        10 => u.int_in_range(1..=pages * PAGE),
        11 if chance(u, 2)? => Ok(0),
        _ => Ok(pages * PAGE),
    }
}

/// A declared alignment, if any.
pub(super) fn alignment(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Option<u64>> {
    if shape.alignments && chance(u, 6)? {
        return u
            .choose(&[1, 64, PAGE, 2 * PAGE, 8 * PAGE])
            .copied()
            .map(Some);
    }
    Ok(None)
}

/// An offset and a size inside `bytes`, which is not 0; no size is to the end. Often all of it.
pub(super) fn part(u: &mut Unstructured<'_>, bytes: u64) -> Result<(u64, Option<u64>)> {
    let offset = match u.int_in_range(0..=3)? {
        2 => bytes / 2,
        3 => u.int_in_range(0..=bytes - 1)?,
        _ => 0,
    };
    let rest = bytes - offset;
    let size = match u.int_in_range(0..=3)? {
        1 => Some(rest),
        2 => Some(rest.div_ceil(2)),
        3 => Some(u.int_in_range(1..=rest)?),
        _ => None,
    };
    Ok((offset, size))
}
