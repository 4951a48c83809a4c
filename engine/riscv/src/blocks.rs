//! Straight runs of plain instructions, and how long they take: simulated once for each state of the
//! pipeline that they are entered in, and looked up after that.
//!
//! A block's time depends on its code, on what the front end holds when it begins, and on what the
//! memory stage loads then. Memory answers at once, and operands decide nothing but where the block
//! goes on: so each of its two ways out leads to one state, and to one block in it.

use joulemark_kernel::numbers::NONE;
use joulemark_kernel::{Map, Numbers};

use crate::core::SP;
use crate::decode::{Kind, Op};
use crate::memory::Memory;
use crate::prefetch::Prefetch;

/// Instructions of a block at most.
const LONGEST: usize = 64;
/// Ways that are kept.
const WAYS: usize = 1 << 17;

/// An access in the memory stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    /// The register that it loads; 0 for none.
    pub loads: u8,
    pub is_exclusive: bool,
}

/// The pipeline between two instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub prefetch: Prefetch,
    /// The access that is in the memory stage in the next instruction's first cycle.
    pub access: Option<Access>,
}

impl State {
    /// The next instruction goes through the execution stage; says for how many cycles it is there or
    /// awaited. The front end is in the last of them. `None` if it is not run plainly, being taken for
    /// part of the remembered branch.
    fn pass(&mut self, op: &Op) -> Option<u32> {
        let mut cycles = 1;
        if let Some(Access { loads, .. }) = self.access.take()
            && loads != 0
            && (loads == op.rs1 || loads == op.rs2 && !op.kind.stores())
        {
            self.prefetch.tick(0);
            cycles += 1;
        }
        while self.prefetch.level() < op.size {
            self.prefetch.tick(0);
            cycles += 1;
        }
        match self.predicted(op) {
            0 => {}
            predicted if op.kind < Kind::Beq || op.size == 2 && predicted != 3 => return None,
            _ => {}
        }
        if op.kind.loads() || op.kind.stores() {
            self.access = Some(Access {
                loads: if op.kind.loads() { op.rd } else { 0 },
                is_exclusive: false,
            });
        }
        Some(cycles)
    }

    fn predicted(&self, op: &Op) -> u8 {
        self.prefetch.predicted() & if op.size == 2 { 3 } else { 1 }
    }

    /// The end of the last cycle of an instruction at an address; says where the next one is. A taken
    /// jump's target is given.
    fn end(&mut self, op: &Op, pc: u32, taken: Option<u32>) -> u32 {
        let next = pc.wrapping_add(2 * u32::from(op.size));
        let prefetch = &mut self.prefetch;
        let is_wide = op.size == 2;
        let was_predicted = prefetch.predicted() & if is_wide { 3 } else { 1 } != 0;
        if taken.is_some() == was_predicted {
            let at = if was_predicted {
                prefetch.target()
            } else {
                next
            };
            prefetch.tick(op.size);
            return at;
        }
        if was_predicted {
            prefetch.forget();
        }
        let at = taken.unwrap_or(next);
        if op.kind >= Kind::Beq && op.imm < 0 && taken.is_some() {
            prefetch.remember(pc, is_wide, at);
        }
        prefetch.jump(at, 0);
        at
    }
}

/// A block, in the order in which it is executed: addresses in it are absolute.
#[derive(Clone, Copy)]
struct Block {
    first: u32,
    count: u32,
}

/// How a block goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is cut off.
    Straight,
    /// To one place, or to one of two.
    Fixed,
    /// To a place that a register says.
    Free,
}

/// A block, entered in some state.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub pc: u32,
    pub state: u32,
    /// Its instructions, of which there may be none.
    pub first: u32,
    pub count: u32,
    pub cycles: u32,
    pub end: End,
    pub accesses: bool,
    /// Where it goes on, if not taken and if taken; of [`End::Free`] the last two.
    pub exits: [u32; 2],
}

/// All that is known of the code.
#[derive(Default)]
pub(crate) struct Blocks {
    pub ops: Vec<Op>,
    by_address: Map<u32, Block>,
    states: Numbers<State>,
    pub ways: Vec<Way>,
    by_entry: Map<(u32, u32), u32>,
    /// By way, and where it goes on.
    jumps: Map<(u32, u32), u32>,
}

impl Blocks {
    #[cold]
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// From now on no block has the instruction at this address.
    pub fn end_before(&mut self, address: u32) {
        let has = |(&start, block): (&u32, &Block)| {
            let ops = &self.ops[block.first as usize..][..block.count as usize];
            (start..start.wrapping_add(bytes(ops))).contains(&address)
        };
        if self.by_address.iter().any(has) {
            self.forget();
        }
    }

    /// The way of a block in a memory that is entered in this state.
    #[cold]
    pub fn enter(&mut self, pc: u32, state: &State, memory: &mut Memory) -> u32 {
        if self.ways.len() == WAYS {
            self.forget();
        }
        let settled = State {
            prefetch: state.prefetch.settled(),
            ..*state
        };
        let number = self.states.number(&settled);
        if let Some(&way) = self.by_entry.get(&(pc, number)) {
            return way;
        }
        let block = match self.by_address.get(&pc) {
            Some(&block) => block,
            None => self.decode(pc, memory),
        };
        let way = self.ways.len() as u32;
        self.ways.push(self.simulate(pc, number, block));
        self.by_entry.insert((pc, number), way);
        way
    }

    fn decode(&mut self, pc: u32, memory: &mut Memory) -> Block {
        let first = self.ops.len();
        let mut at = pc;
        while self.ops.len() - first < LONGEST
            && let Some(place) = memory.offset(at, 2)
            && !memory.stops_at(place)
            && let Some(op) = memory.op(place)
            && is_plain(&op)
        {
            let mut absolute = op;
            if op.kind == Kind::Auipc {
                absolute.kind = Kind::Add;
                absolute.imm = at.wrapping_add(op.imm as u32) as i32;
            }
            self.ops.push(absolute);
            if op.kind.jumps() {
                break;
            }
            at = at.wrapping_add(2 * u32::from(op.size));
        }
        let block = Block {
            first: first as u32,
            count: (self.ops.len() - first) as u32,
        };
        self.by_address.insert(pc, block);
        block
    }

    fn simulate(&self, pc: u32, number: u32, block: Block) -> Way {
        let ops = &self.ops[block.first as usize..][..block.count as usize];
        let mut state = self.states.value(number);
        let (mut count, mut cycles, mut accesses) = (0, 0, false);
        let mut end = End::Straight;
        for op in ops {
            let Some(passed) = state.pass(op) else {
                break;
            };
            cycles += passed;
            count += 1;
            accesses |= state.access.is_some();
            end = match op.kind {
                Kind::Jalr => End::Free,
                kind if kind.jumps() => End::Fixed,
                _ => End::Straight,
            };
            if end == End::Straight {
                state.end(op, 0, None);
            }
        }
        Way {
            pc,
            state: number,
            first: block.first,
            count,
            cycles,
            end,
            accesses,
            exits: [NONE; 2],
        }
    }

    /// How many of a way's instructions end within so many cycles.
    #[cold]
    pub fn fitting(&self, way: u32, cycles: u64) -> u32 {
        let way = &self.ways[way as usize];
        let mut state = self.states.value(way.state);
        let mut left = cycles;
        let mut count = 0;
        for op in &self.ops[way.first as usize..][..way.count as usize] {
            let passed = state.pass(op).unwrap_or(u32::MAX);
            let Some(rest) = left.checked_sub(passed.into()) else {
                break;
            };
            left = rest;
            count += 1;
            if !op.kind.jumps() {
                state.end(op, 0, None);
            }
        }
        count
    }

    /// The pipeline behind so many instructions of a way, the last of which may have jumped to
    /// an address; with the next instruction's, and the cycles until then.
    #[cold]
    pub fn behind(&self, way: u32, count: u32, taken: Option<u32>) -> (State, u32, u32) {
        let way = &self.ways[way as usize];
        let mut state = self.states.value(way.state);
        let (mut pc, mut cycles) = (way.pc, 0);
        for op in &self.ops[way.first as usize..][..count as usize] {
            cycles += state.pass(op).unwrap_or(0);
            pc = state.end(op, pc, if op.kind.jumps() { taken } else { None });
        }
        (state, pc, cycles)
    }

    /// Where a way has gone on before, jumping to this address.
    #[inline]
    pub fn known_jump(&mut self, way: u32, target: u32) -> Option<u32> {
        let exits = self.ways[way as usize].exits;
        for exit in exits {
            if exit != NONE && self.ways[exit as usize].pc == target {
                return Some(exit);
            }
        }
        let &known = self.jumps.get(&(way, target))?;
        self.ways[way as usize].exits = [known, exits[0]];
        Some(known)
    }

    /// A way goes on in another from now on.
    pub fn link(&mut self, way: u32, taken: Option<u32>, next: u32) {
        let found = &mut self.ways[way as usize];
        match taken {
            Some(target) if found.end == End::Free => {
                found.exits = [next, found.exits[0]];
                self.jumps.insert((way, target), next);
            }
            _ => found.exits[usize::from(taken.is_some())] = next,
        }
    }
}

fn bytes(ops: &[Op]) -> u32 {
    ops.iter().map(|op| 2 * u32::from(op.size)).sum()
}

/// Whether an instruction can be in a block.
pub(crate) fn is_plain(op: &Op) -> bool {
    let moves_stack = usize::from(op.rd) == SP;
    match op.kind {
        Kind::Add | Kind::Auipc => true,
        kind if kind > Kind::Illegal && kind <= Kind::Bextm || kind.loads() => !moves_stack,
        kind if kind.stores() => true,
        kind if kind >= Kind::Jal && kind <= Kind::Bgeu => !op.before_fence && !moves_stack,
        _ => false,
    }
}
