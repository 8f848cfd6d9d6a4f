//! A function: memory locations, blocks in layout order, instructions.
//!
//! Everything is validated when it is added, once; whatever holds a `Function` may trust it. A
//! batch that is refused leaves nothing behind.
//!
//! # Invariants
//!
//! * **roots**: `View::root` is never a view, and every view lies inside its root; // L9
//! * **layout**: instructions of one block are contiguous, blocks ascending; an instruction's
//!   position is its flat index; // L1
//! * **bounds**: every id and byte range held by an instruction exists.

use super::code::{Accesses, Code};
use super::ids::{BlockId, FlatIndex, MemLocId, Symbol};
use super::instruction::{Access, Argument, Instruction, InstructionSpec, Kind, Operand};
use super::memloc::{Bank, Extent, MemLoc, MemLocSpec, MemoryType, Placed, Remote, Space, View};
use super::names::Names;
use crate::error::{Error, Fault, Result};
use crate::ordered_map::OrderedMap;
use std::collections::BTreeSet;

/// A basic block: a run of instructions and where control goes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// For messages; may be empty.
    pub name: String,
    pub(super) first: u32,
    pub(super) succs: Vec<BlockId>,
}

/// One function of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    name: String,
    memlocs: Vec<MemLoc>,
    memloc_names: Names,
    memloc_of_name: Vec<MemLocId>, // By position in `memloc_names`; ascending.
    extents: Vec<(MemLocId, Extent)>, // Of what is not `Extent::Bytes`; ascending.
    remotes: OrderedMap<MemLocId, Remote>,
    reaches: OrderedMap<MemLocId, Vec<u32>>,
    /// Those that are not 0.
    banks: OrderedMap<MemLocId, Bank>,
    blocks: Vec<Block>,
    entry_opened: bool,
    code: Code,
    elided: BTreeSet<FlatIndex>,
}

impl Function {
    /// An empty function: one unnamed block without instructions.
    pub fn new(name: &str) -> Function {
        Function {
            name: name.to_owned(),
            memlocs: Vec::new(),
            memloc_names: Names::default(),
            memloc_of_name: Vec::new(),
            extents: Vec::new(),
            remotes: OrderedMap::new(),
            reaches: OrderedMap::new(),
            banks: OrderedMap::new(),
            blocks: vec![Block {
                name: String::new(),
                first: 0,
                succs: Vec::new(),
            }],
            entry_opened: false,
            code: Code::default(),
            elided: BTreeSet::new(),
        }
    }

    /// Its name, unique in its module.
    pub fn name(&self) -> &str {
        &self.name
    }

    // ---- memory locations ----

    /// Adds one memory location.
    pub fn add_memloc(&mut self, spec: &MemLocSpec<'_>) -> Result<MemLocId> {
        self.add_memlocs(std::slice::from_ref(spec))
    }

    /// Adds memory locations, all or none, and returns the id of the first; the others follow.
    ///
    /// A view may name any location of the batch, before or after it.
    pub fn add_memlocs(&mut self, specs: &[MemLocSpec<'_>]) -> Result<MemLocId> {
        self.all_or_no_memlocs(specs.len(), |add| specs.iter().try_for_each(add))
    }

    /// Lets `body` add up to `count` memory locations, so that a million specs are never held at
    /// once; if it fails, none stays. Returns the id of the first.
    pub(crate) fn all_or_no_memlocs(
        &mut self,
        count: usize,
        body: impl FnOnce(&mut dyn FnMut(&MemLocSpec<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<MemLocId> {
        let first = self.memlocs.len();
        if u32::try_from(first + count).is_err() {
            return Err(self.here(Error::invalid(
                "memlocs",
                "a function holds fewer than 2^32",
            )));
        }
        let names = self.memloc_names.len();
        self.memlocs.reserve(count);
        let mut views = false;
        let mut add = |spec: &MemLocSpec<'_>| {
            views |= spec.view.is_some();
            self.push_memloc(spec)
        };
        let pushed = body(&mut add);
        let added = pushed.and_then(|()| match views {
            true => self.resolve_views(first),
            false => Ok(()),
        });
        if let Err(error) = added {
            self.memlocs.truncate(first);
            self.memloc_names.truncate(names);
            self.memloc_of_name.truncate(names);
            let first = MemLocId::new(first);
            let extents = self.extents.partition_point(|&(id, _)| id < first);
            self.extents.truncate(extents);
            self.remotes.retain(|&id, _| id < first);
            self.reaches.retain(|&id, _| id < first);
            self.banks.retain(|&id, _| id < first);
            return Err(self.here(error));
        }
        Ok(MemLocId::new(first))
    }

    /// Makes room for this many more locations and instructions.
    pub fn reserve(&mut self, memlocs: usize, instructions: usize) {
        self.memlocs.reserve(memlocs);
        self.memloc_names.reserve(memlocs);
        self.code.reserve(instructions);
    }

    fn push_memloc(&mut self, spec: &MemLocSpec<'_>) -> Result<()> {
        let id = MemLocId::new(self.memlocs.len());
        let named = |error: Error| {
            if spec.name.is_empty() {
                error
            } else {
                error.at_location(spec.name)
            }
        };
        let bytes = declared_bytes(spec).map_err(named)?;
        check_spec(spec, bytes).map_err(named)?;
        if !spec.name.is_empty() {
            let (_, new) = self.memloc_names.intern(spec.name);
            if !new {
                let name = spec.name.to_owned();
                return Err(Fault::DuplicateName {
                    what: "location",
                    name,
                }
                .into());
            }
            self.memloc_of_name.push(id);
        }
        // A view's root and size are settled by `resolve_views`, when the whole batch is there.
        let view = spec.view.map(|(parent, offset)| {
            Box::new(View {
                parent,
                offset,
                root: parent,
                root_offset: 0,
            })
        });
        self.memlocs.push(MemLoc::new(spec, bytes, view));
        match spec.extent {
            Some(Extent::Bytes(_)) => {}
            other => self.extents.push((id, other.unwrap_or(Extent::Rest))),
        }
        if let Some((core, name)) = spec.remote {
            let name = name.to_owned();
            self.remotes.insert(id, Remote { core, name });
        }
        if !spec.reach.is_empty() {
            self.reaches.insert(id, spec.reach.to_vec());
        }
        if spec.bank != Bank::default() {
            self.banks.insert(id, spec.bank);
        }
        Ok(())
    }

    /// Follows each chain of views from number `first` on to its root. // L9
    fn resolve_views(&mut self, first: usize) -> Result<()> {
        let mut resolved = vec![false; self.memlocs.len() - first];
        let mut chain = Vec::new();
        for start in first..self.memlocs.len() {
            let mut at = start;
            while at >= first && !resolved[at - first] {
                let Some(view) = self.memlocs[at].view() else {
                    break;
                };
                if chain.len() > resolved.len() {
                    let error = Error::invalid("alias_of", "the views form a cycle");
                    return Err(error.at_location(&self.label(MemLocId::new(start))));
                }
                chain.push(at);
                at = view.parent.index();
                if at >= self.memlocs.len() {
                    let fault = Fault::UnknownIndex {
                        what: "location",
                        index: at as u64,
                        count: self.memlocs.len() as u64,
                    };
                    return Err(Error::from(fault).at_location(&self.label(MemLocId::new(start))));
                }
            }
            while let Some(i) = chain.pop() {
                self.settle_view(i)
                    .map_err(|e| e.at_location(&self.label(MemLocId::new(i))))?;
                resolved[i - first] = true;
            }
        }
        Ok(())
    }

    fn settle_view(&mut self, i: usize) -> Result<()> {
        let mut view = self.memlocs[i].view().expect("chains hold views only");
        let parent = &self.memlocs[view.parent.index()];
        let within = |bytes: u64| {
            let end = u128::from(view.offset) + u128::from(bytes);
            if end > u128::from(parent.bytes) || parent.bytes == 0 {
                let of = self.label(view.parent);
                return Err(Fault::PastTheEnd {
                    offset: view.offset,
                    end,
                    of,
                    bytes: parent.bytes,
                });
            }
            Ok(())
        };
        let bytes = match self.extent(MemLocId::new(i)) {
            Extent::Rest => {
                within(0)?;
                parent.bytes - view.offset
            }
            _ => self.memlocs[i].bytes,
        };
        within(bytes)?;
        let (root, base) = match &parent.view {
            Some(up) => (up.root, up.root_offset),
            None => (view.parent, 0),
        };
        view.root = root;
        view.root_offset = base + view.offset; // Inside the root, so it cannot overflow.
        let (memory, space) = (parent.memory, parent.space);
        let loc = &mut self.memlocs[i];
        (loc.bytes, loc.memory, loc.space) = (bytes, memory, space);
        loc.view = Some(Box::new(view));
        Ok(())
    }

    /// Every memory location; a position is a `MemLocId`.
    pub fn memlocs(&self) -> &[MemLoc] {
        &self.memlocs
    }

    /// One memory location.
    ///
    /// # Panics
    ///
    /// If `id` is not of this function.
    pub fn memloc(&self, id: MemLocId) -> &MemLoc {
        &self.memlocs[id.index()]
    }

    /// Every id, ascending.
    pub fn memloc_ids(&self) -> impl ExactSizeIterator<Item = MemLocId> + use<> {
        (0..self.memlocs.len()).map(MemLocId::new)
    }

    /// The name of a location; empty if it has none.
    pub fn memloc_name(&self, id: MemLocId) -> &str {
        let number = match self.memloc_of_name.get(id.index()) {
            Some(&named) if named == id => id.index(), // All have names up to here.
            _ => match self.memloc_of_name.binary_search(&id) {
                Ok(number) => number,
                Err(_) => return "",
            },
        };
        self.memloc_names.get(number as u32)
    }

    /// How the host declared a location's size.
    pub fn extent(&self, id: MemLocId) -> Extent {
        match self.extents.binary_search_by_key(&id, |&(id, _)| id) {
            Ok(at) => self.extents[at].1,
            Err(_) => Extent::Bytes(self.memlocs[id.index()].bytes),
        }
    }

    /// How messages call a location: its name, else `#id` and its cookie.
    pub fn label(&self, id: MemLocId) -> String {
        match (self.memloc_name(id), self.memlocs[id.index()].cookie()) {
            ("", Some(cookie)) => format!("#{id} (cookie {cookie})"),
            ("", None) => format!("#{id}"),
            (name, _) => name.to_owned(),
        }
    }

    /// The location with this name.
    pub fn find_memloc(&self, name: &str) -> Option<MemLocId> {
        self.memloc_names
            .find(name)
            .map(|i| self.memloc_of_name[i as usize])
    }

    /// The root of a location and its byte offset there; a root is its own.
    pub fn root(&self, id: MemLocId) -> (MemLocId, u64) {
        self.memlocs[id.index()]
            .view
            .as_ref()
            .map_or((id, 0), |v| (v.root, v.root_offset))
    }

    /// The owner that a location points at.
    pub fn remote(&self, id: MemLocId) -> Option<&Remote> {
        self.remotes.get(&id)
    }

    /// Links a root to another core's location, or unlinks it.
    ///
    /// # Panics
    ///
    /// If `id` is a view, which is linked through its root.
    pub fn set_remote(&mut self, id: MemLocId, remote: Option<Remote>) {
        assert!(!self.memloc(id).is_view(), "links join roots");
        match remote {
            Some(remote) => self.remotes.insert(id, remote),
            None => self.remotes.remove(&id),
        };
    }

    /// The partition and bank of a location; a view's are its root's.
    pub fn bank(&self, id: MemLocId) -> Bank {
        let root = self.root(id).0;
        self.banks.get(&root).copied().unwrap_or_default()
    }

    /// Says where in its memory a location lies.
    pub(crate) fn set_bank(&mut self, id: MemLocId, bank: Bank) {
        match bank == Bank::default() {
            true => self.banks.remove(&id),
            false => self.banks.insert(id, bank),
        };
    }

    /// The cores that a location reaches; empty if not said.
    pub fn reach(&self, id: MemLocId) -> &[u32] {
        self.reaches.get(&id).map_or(&[], Vec::as_slice)
    }

    // ---- blocks and instructions ----

    /// Opens the next block in layout order; later instructions go there.
    ///
    /// The first call names the entry, unless instructions have come before it.
    pub fn add_block(&mut self, name: &str) -> BlockId {
        if !self.entry_opened && self.instructions().is_empty() {
            self.entry_opened = true;
            self.blocks[0].name = name.to_owned();
            return BlockId(0);
        }
        self.blocks.push(Block {
            name: name.to_owned(),
            first: self.instructions().len() as u32,
            succs: Vec::new(),
        });
        BlockId::new(self.blocks.len() - 1)
    }

    /// Says where control may go after `block`; replaces what was said before.
    pub fn set_successors(&mut self, block: BlockId, succs: &[BlockId]) -> Result<()> {
        for &id in std::iter::once(&block).chain(succs) {
            if id.index() >= self.blocks.len() {
                let fault = Fault::UnknownIndex {
                    what: if id == block {
                        "block"
                    } else {
                        "successor block"
                    },
                    index: id.0.into(),
                    count: self.blocks.len() as u64,
                };
                return Err(self.here(fault.into()));
            }
        }
        self.blocks[block.index()].succs = succs.to_vec();
        Ok(())
    }

    /// Appends an instruction to the last block.
    pub fn add_instruction(&mut self, spec: &InstructionSpec<'_>) -> Result<FlatIndex> {
        let index = self.instructions().len();
        self.push_instruction(None, spec)
            .map_err(|e| self.here(e.at_instruction(index as u32)))?;
        Ok(FlatIndex::new(index))
    }

    /// The symbol of an opcode that many instructions have.
    pub(crate) fn opcode(&mut self, text: &str) -> Symbol {
        self.code.symbol_of(text)
    }

    /// The same with the opcode's symbol; the text in `spec` is not looked at.
    pub(crate) fn add_instruction_of(
        &mut self,
        op: Symbol,
        spec: &InstructionSpec<'_>,
    ) -> Result<()> {
        let index = self.instructions().len() as u32;
        self.push_instruction(Some(op), spec)
            .map_err(|e| self.here(e.at_instruction(index)))
    }

    /// Appends instructions to the last block, all or none, and returns the index of the first.
    pub fn add_instructions<'a>(
        &mut self,
        specs: impl IntoIterator<Item = InstructionSpec<'a>>,
    ) -> Result<FlatIndex> {
        self.all_or_no_instructions(|function| {
            let mut specs = specs.into_iter();
            specs.try_for_each(|spec| function.add_instruction(&spec).map(drop))
        })
    }

    /// Lets `body` append instructions; if it fails, none stays. Returns the index of the first.
    pub(crate) fn all_or_no_instructions(
        &mut self,
        body: impl FnOnce(&mut Function) -> Result<()>,
    ) -> Result<FlatIndex> {
        let before = self.code.lengths();
        let first = self.instructions().len();
        if let Err(error) = body(self) {
            self.code.truncate(&before);
            return Err(error);
        }
        Ok(FlatIndex::new(first))
    }

    /// `op`: the symbol of the opcode, if it is known.
    fn push_instruction(&mut self, op: Option<Symbol>, spec: &InstructionSpec<'_>) -> Result<()> {
        self.check_instruction(spec)?;
        let block = BlockId::new(self.blocks.len() - 1);
        let pushed = self.code.push(&self.memlocs, block, op, spec);
        pushed.map_err(|operand| self.refuse(operand))
    }

    /// Everything but the operands.
    fn check_instruction(&self, spec: &InstructionSpec<'_>) -> Result<()> {
        for &(used, def) in spec.in_place {
            self.check_memloc(used)?;
            self.check_memloc(def)?;
        }
        for &(caller, _) in spec.args {
            self.check_memloc(caller)?;
        }
        if (spec.kind == Kind::Call) != spec.callee.is_some() {
            return Err(Error::invalid(
                "callee",
                "a call has one, nothing else does",
            ));
        }
        if spec.kind != Kind::Call && !spec.args.is_empty() {
            return Err(Error::invalid("args", "only a call has them"));
        }
        if spec.kind != Kind::Barrier && spec.id.is_some() {
            return Err(Error::invalid("id", "only a barrier has one"));
        }
        if !self.code.has_room(spec) {
            return Err(Error::invalid(
                "instructions",
                "fewer than 2^32 of them and of operands",
            ));
        }
        Ok(())
    }

    fn check_memloc(&self, loc: MemLocId) -> Result<()> {
        match loc.index() < self.memlocs.len() {
            true => Ok(()),
            false => Err(self.unknown_location(loc)),
        }
    }

    #[cold]
    fn unknown_location(&self, loc: MemLocId) -> Error {
        Error::from(Fault::UnknownIndex {
            what: "location",
            index: loc.0.into(),
            count: self.memlocs.len() as u64,
        })
    }

    /// What is wrong with an operand that touches what does not exist.
    #[cold]
    fn refuse(&self, operand: &Operand) -> Error {
        let &Operand { loc, offset, bytes } = operand;
        if let Err(error) = self.check_memloc(loc) {
            return error;
        }
        let of = self.label(loc);
        let fault = Fault::PastTheEnd {
            offset,
            end: u128::from(offset) + u128::from(bytes.unwrap_or(0)),
            of: of.clone(),
            bytes: self.memloc(loc).bytes,
        };
        Error::from(fault).at_location(&of)
    }

    /// The blocks in layout order; the first is the entry.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Where control may go after `block`.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.blocks[block.index()].succs
    }

    /// The flat indices of a block's instructions.
    pub fn block_range(&self, block: BlockId) -> std::ops::Range<u32> {
        let end = self
            .blocks
            .get(block.index() + 1)
            .map_or(self.instructions().len() as u32, |b| b.first);
        self.blocks[block.index()].first..end
    }

    /// Every instruction; a position is a flat index. // L1
    pub fn instructions(&self) -> &[Instruction] {
        self.code.instructions()
    }

    /// What an instruction reads.
    pub fn uses(&self, index: FlatIndex) -> Accesses<'_> {
        self.code.uses(&self.memlocs, index)
    }

    /// What an instruction writes.
    pub fn defs(&self, index: FlatIndex) -> Accesses<'_> {
        self.code.defs(&self.memlocs, index)
    }

    /// The pairs (use, def) that an instruction lists, in list order; not checked for eligibility.
    pub fn in_place(&self, index: FlatIndex) -> &[(MemLocId, MemLocId)] {
        self.code.in_place(index)
    }

    /// The bindings of a call.
    pub fn args(&self, index: FlatIndex) -> &[Argument] {
        self.code.args(index)
    }

    /// The name of an instruction, for messages.
    pub fn instruction_name(&self, index: FlatIndex) -> Option<Symbol> {
        self.code.name(index)
    }

    /// The name of the function that a call runs; nothing else has one.
    pub fn callee(&self, index: FlatIndex) -> Option<Symbol> {
        self.code.callee(index)
    }

    /// The id of a barrier, if it has one.
    pub fn barrier_id(&self, index: FlatIndex) -> Option<u64> {
        self.code.id(index)
    }

    /// The text of an opcode, instruction name or callee.
    pub fn symbol(&self, symbol: Symbol) -> &str {
        self.code.symbol(symbol)
    }

    /// Whether an access covers the whole root of its location. // L4
    pub fn covers_root(&self, access: &Access) -> bool {
        let (root, offset) = self.root(access.loc);
        offset + access.offset == 0 && access.bytes >= self.memlocs[root.index()].bytes
    }

    // ---- results ----

    /// Writes what a run decided; nothing else writes addresses.
    ///
    /// # Panics
    ///
    /// If there is not one entry per location, or if a pinned one would move.
    pub fn assign(&mut self, placed: &[Placed]) {
        assert_eq!(placed.len(), self.memlocs.len(), "one entry per location");
        for (loc, &new) in self.memlocs.iter_mut().zip(placed) {
            loc.set_placed(Some(new));
        }
    }

    /// Writes what was decided about one location.
    ///
    /// # Panics
    ///
    /// If it is pinned and would move.
    pub fn assign_one(&mut self, id: MemLocId, placed: Placed) {
        self.memlocs[id.index()].set_placed(Some(placed));
    }

    /// Forgets what runs decided; the host's pins stay. // T
    pub fn clear_placement(&mut self) {
        self.memlocs.iter_mut().for_each(|loc| loc.set_placed(None));
        self.elided.clear();
    }

    /// Marks the copies that move bytes onto themselves, and that must not run; replaces what was
    /// marked before. // X3
    pub fn set_elided(&mut self, copies: impl IntoIterator<Item = FlatIndex>) {
        self.elided = copies.into_iter().collect();
    }

    /// The copies marked as moving bytes onto themselves, ascending.
    pub fn elided(&self) -> impl ExactSizeIterator<Item = FlatIndex> {
        self.elided.iter().copied()
    }

    /// Whether a copy is marked as moving bytes onto themselves.
    pub fn is_elided(&self, index: FlatIndex) -> bool {
        self.elided.contains(&index)
    }

    fn here(&self, error: Error) -> Error {
        error.in_function(&self.name)
    }
}

/// The size a spec declares; 0 for a view that takes the rest. // L10
fn declared_bytes(spec: &MemLocSpec<'_>) -> Result<u64> {
    match spec.extent {
        Some(Extent::Bytes(bytes)) => Ok(bytes),
        Some(Extent::Elements { count, size }) => count.checked_mul(size.into()).ok_or_else(|| {
            Fault::Overflow {
                what: format!("{count} elements of {size} bytes"),
            }
            .into()
        }),
        Some(Extent::Rest) | None if spec.view.is_some() => Ok(0),
        Some(Extent::Rest) | None => Err(Fault::UnknownSize.into()),
    }
}

fn check_spec(spec: &MemLocSpec<'_>, bytes: u64) -> Result<()> {
    if let Some(align) = spec.align
        && !align.is_power_of_two()
    {
        return Err(Error::invalid(
            "align",
            format!("{align} is not a power of two"),
        ));
    }
    if let Some(address) = spec.address {
        if spec.memory != MemoryType::Dram {
            return Err(Error::invalid("address", "only device memory is pinned"));
        }
        if address.checked_add(bytes).is_none() {
            let what = format!("its pinned address {address} + {bytes} bytes");
            return Err(Fault::Overflow { what }.into());
        }
    }
    let plain = spec.align.is_none()
        && spec.address.is_none()
        && spec.remote.is_none()
        && spec.reach.is_empty()
        && spec.bank == Bank::default()
        && spec.space == Space::Local
        && spec.memory == MemoryType::Dram;
    if spec.view.is_some() && !plain {
        return Err(Error::invalid(
            "alias_of",
            "a view takes its memory, space, alignment, address and links from its root",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Usage;

    fn bytes(name: &str, bytes: u64) -> MemLocSpec<'_> {
        MemLocSpec {
            name,
            extent: Some(Extent::Bytes(bytes)),
            ..Default::default()
        }
    }

    fn view<'a>(name: &'a str, parent: u32, offset: u64, size: Option<u64>) -> MemLocSpec<'a> {
        MemLocSpec {
            name,
            extent: size.map(Extent::Bytes),
            view: Some((MemLocId(parent), offset)),
            ..Default::default()
        }
    }

    #[test]
    fn a_view_of_a_view_resolves_to_the_root_whatever_the_order() {
        let mut f = Function::new("main");
        f.add_memlocs(&[
            view("vv", 1, 5, None),
            view("v", 2, 10, Some(20)),
            bytes("r", 100),
        ])
        .unwrap();
        assert_eq!(f.root(MemLocId(0)), (MemLocId(2), 15));
        assert_eq!(f.memloc(MemLocId(0)).bytes, 15);
        assert_eq!(f.root(MemLocId(2)), (MemLocId(2), 0));
    }

    #[test]
    fn a_refused_batch_leaves_nothing_behind() {
        let good = bytes("good", 8);
        let bad: [(&str, Vec<MemLocSpec<'_>>, &str); 9] = [
            (
                "duplicate",
                vec![bytes("a", 8)],
                "already is a location named \"a\"",
            ),
            (
                "unknown size",
                vec![MemLocSpec {
                    name: "n",
                    ..Default::default()
                }],
                "size is unknown",
            ),
            (
                "product",
                vec![MemLocSpec {
                    name: "p",
                    extent: Some(Extent::Elements {
                        count: 1 << 62,
                        size: 8,
                    }),
                    ..Default::default()
                }],
                "overflows 64 bits",
            ),
            (
                "align",
                vec![MemLocSpec {
                    align: Some(3),
                    ..bytes("n", 8)
                }],
                "power of two",
            ),
            (
                "zero align",
                vec![MemLocSpec {
                    align: Some(0),
                    ..bytes("n", 8)
                }],
                "power of two",
            ),
            (
                "pin",
                vec![MemLocSpec {
                    address: Some(u64::MAX - 3),
                    ..bytes("n", 8)
                }],
                "overflows 64 bits",
            ),
            (
                "cycle",
                vec![view("x", 3, 0, None), view("y", 2, 0, None)],
                "cycle",
            ),
            (
                "past the end",
                vec![view("x", 0, 4, Some(5))],
                "past the end of a",
            ),
            ("no parent", vec![view("x", 77, 0, None)], "no location 77"),
        ];
        for (name, specs, message) in bad {
            let mut f = Function::new("main");
            f.add_memloc(&bytes("a", 8)).unwrap();
            let before = f.clone();
            let mut batch = vec![good.clone()];
            batch.extend(specs);
            let error = f.add_memlocs(&batch).expect_err(name);
            assert!(error.to_string().contains(message), "{name}: {error}");
            assert_eq!(error.place.function.as_deref(), Some("main"), "{name}");
            assert_eq!(f, before, "{name}");
        }
    }

    #[test]
    fn a_refused_instruction_leaves_nothing_behind() {
        let mut f = Function::new("main");
        let a = f.add_memloc(&bytes("a", 8)).unwrap();
        let before = f.clone();
        let past = [Operand {
            loc: a,
            offset: 4,
            bytes: Some(5),
        }];
        let unknown = [Operand::from(MemLocId(9))];
        let base = InstructionSpec {
            op: "new",
            ..Default::default()
        };
        for (name, spec) in [
            (
                "past the end",
                InstructionSpec {
                    uses: &past,
                    ..base
                },
            ),
            (
                "unknown",
                InstructionSpec {
                    defs: &unknown,
                    ..base
                },
            ),
            (
                "pair",
                InstructionSpec {
                    in_place: &[(MemLocId(0), MemLocId(4))],
                    ..base
                },
            ),
            (
                "callee",
                InstructionSpec {
                    callee: Some("f"),
                    ..base
                },
            ),
            (
                "no callee",
                InstructionSpec {
                    kind: Kind::Call,
                    ..base
                },
            ),
            (
                "id",
                InstructionSpec {
                    id: Some(1),
                    ..base
                },
            ),
        ] {
            let good = InstructionSpec {
                op: "good",
                ..Default::default()
            };
            f.add_instructions([good, spec]).expect_err(name);
            assert_eq!(f, before, "{name}");
        }
    }

    #[test]
    fn the_first_block_is_the_entry_even_if_it_is_unnamed() {
        let mut f = Function::new("main");
        assert_eq!(f.add_block(""), BlockId(0));
        assert_eq!(f.add_block("next"), BlockId(1));
        f.add_instruction(&InstructionSpec {
            op: "x",
            ..Default::default()
        })
        .unwrap();
        assert_eq!(f.block_range(BlockId(0)), 0..0);
        assert_eq!(f.block_range(BlockId(1)), 0..1);
        assert!(f.set_successors(BlockId(0), &[BlockId(2)]).is_err());
        f.set_successors(BlockId(0), &[BlockId(1)]).unwrap();
        assert_eq!(f.successors(BlockId(0)), &[BlockId(1)]);
    }

    #[test]
    fn candidates_are_unpinned_dram_roots_of_the_mask() {
        let mut f = Function::new("main");
        f.add_memlocs(&[
            bytes("a", 8),
            MemLocSpec {
                usage: Usage::Input,
                ..bytes("i", 8)
            },
            MemLocSpec {
                address: Some(0),
                ..bytes("p", 8)
            },
            MemLocSpec {
                memory: MemoryType::Sbuf,
                ..bytes("s", 8)
            },
            view("v", 0, 0, None),
        ])
        .unwrap();
        let mask = crate::ir::UsageMask::CANDIDATES;
        let got: Vec<bool> = f.memlocs().iter().map(|m| m.is_candidate(mask)).collect();
        assert_eq!(got, [true, false, false, false, false]);
    }
}
