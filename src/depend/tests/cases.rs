//! Small functions that collide a lot.

use arbitrary::{Result, Unstructured};

use super::oracle::Places;
use crate::depend::Layout;
use crate::ir::{
    Access, Accesses, BlockId, Extent, FlatIndex, Function, InstructionSpec, Kind, MemLocId,
    MemLocSpec, Operand, Space,
};

/// A small function that collides a lot, and where its roots lie.
pub(super) fn function(
    u: &mut Unstructured<'_>,
    blocks: u32,
    instructions: u32,
) -> Result<(Function, Places)> {
    let mut f = Function::new("main");
    let mut places = Places::new();
    for number in 0..u.int_in_range(1..=5)? {
        let bytes = u.int_in_range(0..=4)?;
        let mut spec = MemLocSpec {
            extent: Some(Extent::Bytes(bytes)),
            ..Default::default()
        };
        let mut place = None;
        if number > 0 && u.ratio(1, 4)? {
            let parent = MemLocId(u.int_in_range(0..=number - 1)?);
            let room = f.memloc(parent).bytes;
            if room > 0 {
                let offset = u.int_in_range(0..=room - 1)?;
                spec.view = Some((parent, offset));
                spec.extent = None;
            }
        }
        if spec.view.is_none() && u.ratio(3, 4)? {
            let space = if u.ratio(1, 6)? {
                Space::Shared
            } else {
                Space::Local
            };
            place = Some((space, u.int_in_range(0..=6)?));
        }
        f.add_memloc(&spec).expect("valid");
        places.push(place);
    }
    let engines = u.int_in_range(1..=3)?;
    for _ in 0..blocks {
        f.add_block("");
        for _ in 0..u.int_in_range(0..=instructions)? {
            instruction(u, &mut f, engines)?;
        }
    }
    for block in (0..blocks).map(BlockId) {
        let mut succs = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            succs.push(BlockId(u.int_in_range(0..=blocks - 1)?));
        }
        f.set_successors(block, &succs).expect("valid");
    }
    Ok((f, places))
}

pub(super) fn instruction(u: &mut Unstructured<'_>, f: &mut Function, engines: u32) -> Result<()> {
    let fence = u.ratio(1, 12)?;
    let mut operands = |most: usize| -> Result<Vec<Operand>> {
        let mut list = Vec::new();
        for _ in 0..u.int_in_range(0..=most)? {
            let loc = MemLocId(u.choose_index(f.memlocs().len())? as u32);
            let size = f.memloc(loc).bytes;
            let mut operand = Operand::from(loc);
            if u.ratio(1, 3)? {
                operand.offset = u.int_in_range(0..=size)?;
                operand.bytes = Some(u.int_in_range(0..=size - operand.offset)?);
            }
            list.push(operand);
        }
        Ok(list)
    };
    let (uses, defs) = (operands(2)?, operands(1)?);
    let spec = InstructionSpec {
        op: "x",
        kind: if fence { Kind::Barrier } else { Kind::Compute },
        engine: u.int_in_range(0..=engines - 1)?,
        uses: &uses,
        defs: &defs,
        ..Default::default()
    };
    f.add_instruction(&spec).expect("valid");
    Ok(())
}

pub(super) fn layout(f: &Function, places: &Places) -> Layout {
    Layout::new(f, |id| places[id.index()]).expect("small addresses")
}

pub(super) fn show(f: &Function, places: &Places) -> String {
    let mut text = format!("{places:?}\n");
    for block in (0..f.blocks().len()).map(BlockId::new) {
        text += &format!("{block}: -> {:?}\n", f.successors(block));
        for i in f.block_range(block) {
            let index = FlatIndex(i);
            let instruction = &f.instructions()[i as usize];
            let bytes = |accesses: Accesses<'_>| -> Vec<String> {
                let each = |a: Access| {
                    let (root, base) = f.root(a.loc);
                    let first = base + a.offset;
                    format!("{root}[{first}..{}]", first + a.bytes)
                };
                accesses.iter().map(each).collect()
            };
            text += &format!(
                "  {i}: {} e{} uses {:?} defs {:?}\n",
                instruction.kind,
                instruction.engine,
                bytes(f.uses(index)),
                bytes(f.defs(index)),
            );
        }
    }
    text
}
