//! Control flow: blocks and edges, with the barriers already in place. // M4

use super::{Result, Shape, Unstructured, chance};

/// The barriers that every core passes in a function, in order, and where loops may hold them.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    pub steps: Vec<Step>,
}

/// Barriers, by their ids, on the way through a function.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Passed once; every arm of a branch passes all of them.
    Once(Vec<Option<u64>>),
    /// The body of a loop passes them, once each time.
    EachTime(Vec<Option<u64>>),
}

impl Barriers {
    /// At most four steps of at most two barriers each.
    pub fn new(u: &mut Unstructured<'_>, loops: bool) -> Result<Barriers> {
        let mut barriers = Barriers::default();
        let mut id = 0;
        for _ in 0..u.int_in_range(0..=4)? {
            let mut ids = Vec::new();
            for _ in 0..u.int_in_range(1..=2)? {
                id += u.int_in_range(1..=2)?;
                ids.push((!chance(u, 8)?).then_some(id));
            }
            let each_time = loops && chance(u, 6)?;
            barriers.steps.push(if each_time {
                Step::EachTime(ids)
            } else {
                Step::Once(ids)
            });
        }
        Ok(barriers)
    }
}

/// A block: where control goes after it, and the barriers it passes.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowBlock {
    pub succs: Vec<usize>,
    pub barriers: Vec<Option<u64>>,
}

/// The blocks of a function in layout order.
pub(super) struct Flow {
    pub blocks: Vec<FlowBlock>,
    limit: usize,
    branches: bool,
    tangles: bool,
    /// No path has to pass anything, so control may end, hang or never come.
    free: bool,
}

impl Flow {
    /// A graph in which every path from the entry to the end passes `barriers`.
    pub fn new(u: &mut Unstructured<'_>, shape: &Shape, barriers: &Barriers) -> Result<Flow> {
        let limit = u.int_in_range(1..=shape.blocks.max(1))? as usize;
        let mut flow = Flow {
            blocks: vec![FlowBlock::default()],
            limit,
            branches: shape.branches,
            tangles: shape.tangles,
            free: barriers.steps.is_empty(),
        };
        let mut at = flow.grow(u, 0, &[], 3)?;
        for step in &barriers.steps {
            at = match step {
                Step::Once(ids) => flow.grow(u, at, ids, 3)?,
                Step::EachTime(ids) => flow.round(u, at, ids)?,
            };
        }
        let end = flow.grow(u, at, &[], 3)?;
        if shape.tangles && flow.free && chance(u, 4)? {
            let to = u.choose_index(flow.blocks.len())?;
            flow.edge(end, to); // For ever, unless another exit is on the way.
        }
        if shape.tangles && chance(u, 4)? {
            flow.shuffle(u)?;
        }
        Ok(flow)
    }

    /// Appends a region after block `at`, in which every path passes `ids`; returns its last block.
    fn grow(
        &mut self,
        u: &mut Unstructured<'_>,
        at: usize,
        ids: &[Option<u64>],
        depth: u32,
    ) -> Result<usize> {
        let choice = match self.blocks.len() < self.limit && depth > 0 {
            true => u.int_in_range(0..=8)?,
            false => 0,
        };
        match choice {
            2..=4 if !self.branches => self.sequence(u, at, ids, depth - 1),
            5..=8 if !self.tangles => self.sequence(u, at, ids, depth - 1),
            1 => self.sequence(u, at, ids, depth - 1),
            2 | 3 => self.branch(u, at, ids, depth - 1),
            4 => {
                self.blocks[at].barriers.extend_from_slice(ids);
                self.while_loop(u, at, depth - 1)
            }
            5 => {
                self.blocks[at].barriers.extend_from_slice(ids);
                self.round(u, at, &[])
            }
            6 | 7 => {
                self.blocks[at].barriers.extend_from_slice(ids);
                self.tangle(u, at)
            }
            8 if self.free => self.leave(u, at, depth - 1),
            _ => {
                self.blocks[at].barriers.extend_from_slice(ids);
                Ok(at)
            }
        }
    }

    fn add(&mut self) -> usize {
        self.blocks.push(FlowBlock::default());
        self.blocks.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.blocks[from].succs.push(to);
    }

    fn sequence(
        &mut self,
        u: &mut Unstructured<'_>,
        at: usize,
        ids: &[Option<u64>],
        depth: u32,
    ) -> Result<usize> {
        let (first, second) = ids.split_at(u.int_in_range(0..=ids.len())?);
        let mut at = self.grow(u, at, first, depth)?;
        if u.arbitrary()? {
            let next = self.add();
            self.edge(at, next);
            at = next;
        }
        self.grow(u, at, second, depth)
    }

    /// Two arms, or one and none; a switch if the branch comes up again in an arm.
    fn branch(
        &mut self,
        u: &mut Unstructured<'_>,
        at: usize,
        ids: &[Option<u64>],
        depth: u32,
    ) -> Result<usize> {
        let mut ends = Vec::new();
        for _ in 0..if ids.is_empty() {
            u.int_in_range(1..=2)?
        } else {
            2
        } {
            let arm = self.add();
            self.edge(at, arm);
            ends.push(self.grow(u, arm, ids, depth)?);
        }
        let join = self.add();
        if ends.len() == 1 {
            self.edge(at, join);
        }
        for end in ends {
            self.edge(end, join);
        }
        Ok(join)
    }

    fn while_loop(&mut self, u: &mut Unstructured<'_>, at: usize, depth: u32) -> Result<usize> {
        let (header, body) = (self.add(), self.add());
        self.edge(at, header);
        self.edge(header, body);
        let end = self.grow(u, body, &[], depth)?;
        self.edge(end, header);
        let next = self.add();
        self.edge(header, next);
        Ok(next)
    }

    /// A loop that runs at least once and passes `ids` each time.
    fn round(&mut self, u: &mut Unstructured<'_>, at: usize, ids: &[Option<u64>]) -> Result<usize> {
        let body = self.add();
        self.edge(at, body);
        let mut end = self.grow(u, body, &[], 1)?;
        for &id in ids {
            self.blocks[end].barriers.push(id);
            end = self.grow(u, end, &[], 1)?;
        }
        self.edge(end, body);
        let next = self.add();
        self.edge(end, next);
        Ok(next)
    }

    /// A few blocks with any edges among them.
    fn tangle(&mut self, u: &mut Unstructured<'_>, at: usize) -> Result<usize> {
        let first = self.blocks.len();
        let count = u.int_in_range(2..=4)?;
        (0..count).for_each(|_| {
            self.add();
        });
        let next = self.add();
        self.edge(at, first);
        for _ in 0..u.int_in_range(0..=1)? {
            let into = u.int_in_range(first..=next)?;
            self.edge(at, into);
        }
        for block in first..next {
            if !self.free || !chance(u, 4)? {
                self.edge(block, block + 1); // So that some path leads on.
            }
            for _ in 0..u.int_in_range(0..=2)? {
                let to = u.int_in_range(first..=next)?;
                self.edge(block, to);
            }
        }
        Ok(next)
    }

    /// An arm that ends the function.
    fn leave(&mut self, u: &mut Unstructured<'_>, at: usize, depth: u32) -> Result<usize> {
        let arm = self.add();
        self.edge(at, arm);
        self.grow(u, arm, &[], depth)?;
        let next = self.add();
        self.edge(at, next);
        Ok(next)
    }

    /// Any layout order that keeps the entry first.
    fn shuffle(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let mut place: Vec<usize> = (0..self.blocks.len()).collect(); // New position of each.
        for i in (2..place.len()).rev() {
            place.swap(i, u.int_in_range(1..=i)?);
        }
        let mut moved = vec![FlowBlock::default(); self.blocks.len()];
        for (old, mut block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            block.succs.iter_mut().for_each(|succ| *succ = place[*succ]);
            moved[place[old]] = block;
        }
        self.blocks = moved;
        Ok(())
    }
}
