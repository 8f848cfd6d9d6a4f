//! What a space holds at one moment: who, how much, and what runs there.

use std::cmp::Reverse;

use super::need::{Need, Needs, pairs_at};
use crate::ir::{FlatIndex, Segment, Usage};
use crate::place::heaviest_matching;
use crate::planner::{Ground, Grounds, Holder, Rule};
use crate::sorting::CompactSort as _;

/// What one of the instructions of a moment has to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It calls what runs.
    Caller,
    /// The moment's own.
    Here,
    /// It runs under the call.
    Callee,
    /// It is of another entry function, which nothing separates from this one. // M4
    Beside,
}

impl Role {
    /// The word of reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::Caller => "caller",
            Role::Here => "here",
            Role::Callee => "callee",
            Role::Beside => "beside",
        }
    }
}

/// One of the instructions that run at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it has to do with the moment.
    pub role: Role,
    /// Its core; of an epoch, the lowest that may run it then.
    pub core: u32,
    /// The function's name.
    pub function: String,
    /// The flat index. // L1
    pub index: u32,
    /// The opcode.
    pub op: String,
    /// The epoch along the axis of the entry functions; `None` for a private space. // M4
    pub epoch: Option<u32>,
}

/// A location that has bytes at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// Its core; of a group its owner's.
    pub core: u32,
    /// The function's name.
    pub function: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub usage: Usage,
    /// The host gave its address.
    pub pinned: bool,
    /// It is there for several cores.
    pub shared: bool,
    /// Its address; `None` if the plan has none.
    pub address: Option<u64>,
    /// Its bytes as placed; exact for a pin.
    pub bytes: u64,
    /// Its declared bytes.
    pub declared: u64,
    /// The run of its life that contains the moment, closed: instructions, for what is shared
    /// epochs; `None` for what is there all the time.
    pub life: Option<(u32, u32)>,
}

/// The bytes of one usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageBytes {
    /// Which.
    pub usage: Usage,
    /// How many locations.
    pub locations: u64,
    /// Their bytes as placed; exact for pins.
    pub bytes: u64,
}

/// A moment of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What runs: callers first, then the moment's own instruction, then what it calls.
    pub steps: Vec<Step>,
    /// Bytes as placed of what was placed and is live, bytes of in-place pairs once.
    pub live: u64,
    /// The bytes that pairs save. // L8
    pub in_place: u64,
    /// Bytes of pins that are there.
    pub pinned: u64,
    /// The bytes by usage; they add up to `live + in_place + pinned`.
    pub usages: Vec<UsageBytes>,
    /// The largest occupants, pins included.
    pub occupants: Vec<Occupant>,
    /// How many more.
    pub others: u64,
    /// Their bytes.
    pub other_bytes: u64,
}

impl Moment {
    /// The moment's own instruction.
    pub fn here(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.role == Role::Here)
    }
}

/// A line of a space at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub line: usize,
    pub t: u32,
    pub role: Role,
}

/// A holder at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Present {
    pub holder: Holder,
    /// Which frame has it.
    pub frame: usize,
    /// The run of its life.
    pub life: Option<(u32, u32)>,
    /// It is a group beside a core's own locations. // M7
    pub beside: bool,
}

/// What is live at a moment.
pub(super) struct Live {
    pub frames: Vec<Frame>,
    /// Placed holders, then pins.
    pub holders: Vec<Present>,
}

impl Live {
    /// The largest first.
    pub fn occupants(&self) -> Vec<Present> {
        let mut occupants = self.holders.clone();
        occupants.sort_compact_by(|a, b| {
            let key = |o: &Present| (Reverse(o.holder.size), o.holder.member, o.holder.pinned);
            key(a).cmp(&key(b))
        });
        occupants
    }

    /// The moment's own frame.
    pub fn here(&self) -> Option<usize> {
        self.frames.iter().position(|f| f.role == Role::Here)
    }
}

/// Finds and describes the moments of one space.
pub(super) struct Moments<'m, 'a> {
    pub grounds: &'m Grounds<'a>,
    pub ground: &'m Ground,
    pub needs: &'m Needs<'m>,
}

impl Moments<'_, '_> {
    /// The moment at which the load needs the most.
    pub fn at_bound(&self, need: &Need) -> Live {
        let before = match self.ground.rule {
            Rule::Frames { .. } => Role::Caller,
            Rule::Groups { .. } => Role::Beside,
        };
        let last = need.path.len().saturating_sub(1);
        let frames = need.path.iter().enumerate().map(|(i, &(line, t))| Frame {
            line,
            t,
            role: if i == last { Role::Here } else { before },
        });
        self.live(frames.collect(), need.beside)
    }

    /// The moment of the highest byte at which the most is live.
    pub fn at_peak(&self) -> Live {
        let ground = self.ground;
        let (most, above) = (self.needs.most(), self.needs.above());
        let (mut best, mut found) = (0, None);
        for (l, line) in ground.lines.iter().enumerate() {
            let mut below = vec![0u64; line.count];
            for &(t, callee) in &line.calls {
                below[t as usize] = below[t as usize].max(most[callee].0);
            }
            let high = |i: &usize| line.holders[*i].end() == Some(ground.peak);
            for i in (0..line.holders.len()).filter(high) {
                for segment in line.problem.lives.of(i) {
                    for t in segment.first().0..=segment.last().0 {
                        let live = self.needs.all(l, t).saturating_add(above[l].0);
                        let live = live.saturating_add(below.get(t as usize).map_or(0, |&b| b));
                        if found.is_none() || live > best {
                            (best, found) = (live, Some((l, t)));
                        }
                    }
                }
            }
        }
        let Some((l, t)) = found else {
            return self.live(Vec::new(), false);
        };
        let here = Frame {
            line: l,
            t,
            role: Role::Here,
        };
        let mut frames = vec![here];
        if let Rule::Groups { add } = ground.rule {
            let lane = ground.lines[l].lane;
            let beside = |o: &usize| add && *o != l && ground.lines[*o].lane == lane;
            let others = (0..ground.lines.len()).filter(beside);
            let others = others.filter(|&o| most[o].0 > 0).map(|line| Frame {
                line,
                t: most[line].1,
                role: Role::Beside,
            });
            frames.extend(others);
            frames.rotate_left(1);
            return self.live(frames, false);
        }
        while let Some((line, t)) = above[frames[0].line].1 {
            let role = Role::Caller;
            frames.insert(0, Frame { line, t, role });
        }
        let mut last = (l, t);
        loop {
            let calls = ground.lines[last.0].calls.iter().filter(|c| c.0 == last.1);
            // The first of those that hold the most.
            let callees = calls.map(|c| c.1);
            let Some(callee) = callees.reduce(|a, b| if most[b].0 > most[a].0 { b } else { a })
            else {
                break;
            };
            if most[callee].0 == 0 {
                break; // Nothing of this space is live there.
            }
            last = (callee, most[callee].1);
            frames.push(Frame {
                line: last.0,
                t: last.1,
                role: Role::Callee,
            });
        }
        self.live(frames, true)
    }

    /// What is live at some frames; with `groups`, those beside the moment's own.
    fn live(&self, frames: Vec<Frame>, groups: bool) -> Live {
        let mut holders = Vec::new();
        for (f, frame) in frames.iter().enumerate() {
            let line = &self.ground.lines[frame.line];
            let there = |life: &[Segment]| {
                let at = FlatIndex(frame.t);
                let run = life.iter().find(|s| s.contains(at))?;
                Some((run.first().0, run.last().0))
            };
            for (i, &holder) in line.holders.iter().enumerate() {
                if let Some(run) = there(line.problem.lives.of(i)) {
                    holders.push(Present {
                        holder,
                        frame: f,
                        life: Some(self.run(run)),
                        beside: false,
                    });
                }
            }
            if frame.role != Role::Here {
                continue;
            }
            for (holder, life) in line.groups.iter().filter(|_| groups) {
                if let Some(run) = there(life) {
                    holders.push(Present {
                        holder: *holder,
                        frame: f,
                        life: Some(run),
                        beside: true,
                    });
                }
            }
        }
        if let Some(here) = frames.iter().position(|f| f.role == Role::Here) {
            let line = &self.ground.lines[frames[here].line];
            let pins = self.grounds.pins(self.ground, line, frames[here].t);
            holders.extend(pins.into_iter().map(|holder| Present {
                holder,
                frame: here,
                life: None,
                beside: false,
            }));
        }
        Live { frames, holders }
    }

    /// A run of a life as it is told: epochs without the lane.
    fn run(&self, (first, last): (u32, u32)) -> (u32, u32) {
        match self.ground.rule {
            Rule::Frames { .. } => (first, last),
            Rule::Groups { .. } => (self.grounds.epoch(first), self.grounds.epoch(last)),
        }
    }

    /// The bytes that pairs save in a frame: as placed, or as declared.
    pub fn saved(&self, frame: Frame, declared: bool) -> u64 {
        let line = &self.ground.lines[frame.line];
        let placed = |i: u32| line.problem.items[i as usize].size;
        let pairs = pairs_at(line, frame.t, placed);
        let weight = |i: u32| match declared {
            true => line.holders[i as usize].declared,
            false => placed(i),
        };
        heaviest_matching(&pairs, weight) as u64
    }

    /// A holder in words.
    pub fn tell(&self, live: &Present) -> Occupant {
        let holder = &live.holder;
        let (core, function, name) = self.grounds.names(holder);
        Occupant {
            core,
            function: function.to_owned(),
            name: name.to_owned(),
            usage: holder.usage,
            pinned: holder.pinned,
            shared: holder.group.is_some(),
            address: holder.address,
            bytes: holder.size,
            declared: holder.declared,
            life: live.life,
        }
    }

    /// A moment in words.
    pub fn describe(&self, live: &Live, top: usize) -> Moment {
        let steps = live.frames.iter().filter_map(|frame| {
            let line = &self.ground.lines[frame.line];
            let (core, function, index) = self.grounds.site(self.ground, line, frame.t)?;
            let op = function.instructions().get(index as usize);
            Some(Step {
                role: frame.role,
                core,
                function: function.name().to_owned(),
                index,
                op: op.map_or_else(String::new, |i| function.symbol(i.op).to_owned()),
                epoch: match self.ground.rule {
                    Rule::Frames { .. } => None,
                    Rule::Groups { .. } => Some(self.grounds.epoch(frame.t)),
                },
            })
        });
        let mut usages: Vec<UsageBytes> = Vec::new();
        for &usage in Usage::ALL {
            let of = || live.holders.iter().filter(|l| l.holder.usage == usage);
            let locations = of().count() as u64;
            if locations > 0 {
                usages.push(UsageBytes {
                    usage,
                    locations,
                    bytes: sum(of()),
                });
            }
        }
        let in_place = live.frames.iter().map(|&frame| self.saved(frame, false));
        let in_place = in_place.sum();
        let placed = sum(live.holders.iter().filter(|l| !l.holder.pinned));
        let mut occupants = live.occupants();
        let rest = occupants.split_off(top.min(occupants.len()));
        Moment {
            steps: steps.collect(),
            live: placed.saturating_sub(in_place),
            in_place,
            pinned: sum(live.holders.iter().filter(|l| l.holder.pinned)),
            usages,
            occupants: occupants.iter().map(|o| self.tell(o)).collect(),
            others: rest.len() as u64,
            other_bytes: sum(rest.iter()),
        }
    }
}

/// The bytes of some holders.
pub(super) fn sum<'l>(holders: impl Iterator<Item = &'l Present>) -> u64 {
    holders.fold(0, |sum, live| sum.saturating_add(live.holder.size))
}
