//! Which instructions touch which root, and how: the verifier's own reading of a function.
//!
//! One row of touches per root, ascending in time, with the views resolved. An instruction that
//! names a root several times is one touch that says so. // L4, L9

use crate::ir::{FlatIndex, Function, MemLocId, Module, Usage};
use crate::pace::Pace;

/// What one instruction does to one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    /// The instruction.
    pub index: u32,
    /// It reads some of the bytes.
    pub used: bool,
    /// It writes some of the bytes.
    pub defined: bool,
    /// One access of it writes all of the bytes. // L4
    pub full: bool,
    /// It names the root, or a view of it, more than once.
    pub repeated: bool,
}

/// The touches of every root of a function.
pub(super) struct Accesses {
    starts: Vec<usize>,
    touches: Vec<Touch>,
}

/// One operand of an instruction, bindings of calls included.
#[derive(Clone, Copy, Debug)]
struct Operand {
    root: MemLocId,
    write: bool,
    full: bool,
}

impl Accesses {
    /// Reads a function of a module.
    pub fn of(function: &Function, module: &Module, pace: &mut Pace<'_, '_>) -> Accesses {
        let mut starts = vec![0; function.memlocs().len() + 1];
        for i in 0..function.instructions().len() {
            let index = FlatIndex::new(i);
            // What is read here is read again below.
            if pace.over(2 * (1 + function.uses(index).len() + function.defs(index).len())) {
                break;
            }
            operands(function, module, index, |o| starts[o.root.index() + 1] += 1);
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let blank = Touch {
            index: u32::MAX,
            used: false,
            defined: false,
            full: false,
            repeated: false,
        };
        let mut touches = vec![blank; starts[starts.len() - 1]];
        let mut ends = starts.clone();
        for i in 0..function.instructions().len() {
            let index = FlatIndex::new(i);
            if pace.over(1) {
                break;
            }
            operands(function, module, index, |o| {
                let root = o.root.index();
                let again = ends[root] > starts[root] && touches[ends[root] - 1].index == index.0;
                if !again {
                    touches[ends[root]].index = index.0;
                    ends[root] += 1;
                }
                let touch = &mut touches[ends[root] - 1];
                touch.repeated |= again;
                touch.used |= !o.write;
                touch.defined |= o.write;
                touch.full |= o.full;
            });
        }
        // Merged touches left gaps; close them.
        let mut packed = Vec::with_capacity(touches.len());
        let mut packed_starts = Vec::with_capacity(starts.len());
        for root in 0..starts.len() - 1 {
            if pace.over(1) {
                break;
            }
            packed_starts.push(packed.len());
            packed.extend_from_slice(&touches[starts[root]..ends[root]]);
        }
        packed_starts.resize(starts.len(), packed.len()); // Stopped or not, each root has a row.
        Accesses {
            starts: packed_starts,
            touches: packed,
        }
    }

    /// The touches of a root, ascending; empty for a view and for what is never named.
    pub fn of_root(&self, root: MemLocId) -> &[Touch] {
        &self.touches[self.starts[root.index()]..self.starts[root.index() + 1]]
    }

    /// Where a root's touches start in the numbering of all of them.
    pub fn first_number(&self, root: MemLocId) -> usize {
        self.starts[root.index()]
    }

    /// How many touches there are in all.
    pub fn len(&self) -> usize {
        self.touches.len()
    }

    /// The number of the touch of `root` at `index`, if there is one.
    pub fn find(&self, root: MemLocId, index: u32) -> Option<usize> {
        let touches = self.of_root(root);
        let at = touches.binary_search_by_key(&index, |t| t.index).ok()?;
        Some(self.first_number(root) + at)
    }

    /// The touch with a number.
    pub fn touch(&self, number: usize) -> Touch {
        self.touches[number]
    }
}

fn operands(function: &Function, module: &Module, index: FlatIndex, mut tell: impl FnMut(Operand)) {
    for access in function.uses(index) {
        tell(Operand {
            root: function.root(access.loc).0,
            write: false,
            full: false,
        });
    }
    for access in function.defs(index) {
        let (root, offset) = function.root(access.loc);
        let whole =
            offset == 0 && access.offset == 0 && access.bytes == function.memloc(root).bytes;
        tell(Operand {
            root,
            write: true,
            full: whole,
        });
    }
    for (caller, usage) in bindings(function, module, index) {
        let (root, offset) = function.root(caller);
        let whole = offset == 0 && function.memloc(caller).bytes == function.memloc(root).bytes;
        let write = usage == Usage::Output;
        tell(Operand {
            root,
            write,
            full: write && whole,
        });
    }
}

/// The caller's locations bound to inputs and outputs of the function that a call runs. // L7
pub(super) fn bindings<'a>(
    function: &'a Function,
    module: &'a Module,
    index: FlatIndex,
) -> impl Iterator<Item = (MemLocId, Usage)> + 'a {
    let callee = function
        .callee(index)
        .and_then(|symbol| module.find_function(function.symbol(symbol)))
        .map(|position| &module.functions()[position]);
    function.args(index).iter().filter_map(move |argument| {
        let callee = callee?;
        let formal = callee.find_memloc(function.symbol(argument.callee))?;
        let usage = callee.memloc(formal).usage;
        matches!(usage, Usage::Input | Usage::Output).then_some((argument.caller, usage))
    })
}
