//! Straight runs of plain instructions, decoded together with the cycles that they take: where memory
//! answers at once, only whether the branch at its end is taken decides that.

use crate::decode::{Kind, Op, PC, SP};
use crate::execute::ACCESS;
use crate::memory::Memory;

/// Instructions of a block at most.
const LONGEST: usize = 64;

/// A block.
#[derive(Clone, Copy)]
pub struct Block {
    /// Its instructions.
    pub first: u32,
    pub count: u32,
    /// What it takes if the branch at its end is not taken, and if it is.
    pub cycles: [u32; 2],
}

/// All blocks, by number.
#[derive(Default)]
pub struct Blocks {
    pub ops: Vec<Op>,
    pub list: Vec<Block>,
}

impl Blocks {
    /// Make the block that begins at an offset, with an instruction that can be in one.
    #[cold]
    pub fn add(&mut self, at: usize, memory: &mut Memory, multiply: u8, breakpoints: &[u32]) {
        let first = self.ops.len();
        let mut place = at;
        let mut cycles = [0; 2];
        while self.ops.len() - first < LONGEST {
            let address = memory.start.wrapping_add(place as u32);
            let Some(op) = memory.decode(place) else {
                break;
            };
            if !is_plain(op) || place != at && breakpoints.contains(&address) {
                break;
            }
            memory.keep(place, op);
            self.ops.push(op);
            cycles = [false, true].map(|taken| {
                let before: u32 = cycles[usize::from(taken)];
                before + takes(op, taken, multiply)
            });
            if op.jumps() {
                break;
            }
            place += usize::from(op.size);
        }
        self.list.push(Block {
            first: first as u32,
            count: (self.ops.len() - first) as u32,
            cycles,
        });
        memory.blocks[at / 2] = self.list.len() as u32;
    }

    /// Forget all blocks.
    #[cold]
    pub fn forget(&mut self, memories: &mut [Memory]) {
        *self = Self::default();
        for memory in memories {
            memory.blocks.fill(0);
        }
    }

    /// How many instructions of a block begin within so many cycles, and what those take that come
    /// before the last of them.
    pub fn beginning(&self, block: &Block, within: u64, multiply: u8) -> u32 {
        let mut passed = 0;
        let ops = &self.ops[block.first as usize..][..block.count as usize];
        let begins = ops.iter().take_while(|op| {
            let begin = passed;
            passed += u64::from(takes(**op, false, multiply));
            begin < within
        });
        begins.count() as u32
    }

    /// What the first instructions of a block take; none of them is a taken branch.
    pub fn cycles(&self, block: &Block, count: u32, multiply: u8) -> u64 {
        let ops = &self.ops[block.first as usize..][..count as usize];
        ops.iter()
            .map(|op| u64::from(takes(*op, false, multiply)))
            .sum()
    }
}

/// Whether an instruction can be in a block.
pub fn is_plain(op: Op) -> bool {
    match op.kind {
        Kind::AddAny => op.rd != PC && op.rn != PC,
        // The stack pointer's low bits stay 0.
        Kind::MovAny => op.rd != PC && op.rd != SP,
        kind => kind.computes() || kind >= Kind::Nop && kind <= Kind::Strb || op.jumps(),
    }
}

/// The cycles of such an instruction (ARM DDI 0484C, table 3-1).
fn takes(op: Op, taken: bool, multiply: u8) -> u32 {
    match op.kind {
        Kind::Mul => multiply.into(),
        Kind::BranchIf if !taken => 1,
        kind if kind >= Kind::Ldr && kind <= Kind::Strb => ACCESS as u32,
        _ => op.cycles.into(),
    }
}
