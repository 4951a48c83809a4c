//! Registers and flags, and the operands that instructions make of them (ARM DDI 0403E.e, chapter
//! A7).

use crate::op::Op;

/// Registers and flags.
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    /// R15 is the address of the instruction that executes, plus 4.
    pub r: [u32; 16],
    pub n: bool,
    pub z: bool,
    pub c: bool,
    pub v: bool,
    pub q: bool,
    /// GE, of the DSP extension.
    pub ge: u8,
}

/// `Shift_C` (A7.4.2); amounts from registers are up to 255.
pub const fn shift_c(value: u32, kind: u8, amount: u32, carry: bool) -> (u32, bool) {
    match kind {
        _ if amount == 0 => (value, carry),
        0 => match amount {
            1..=31 => (value << amount, value >> (32 - amount) & 1 != 0),
            32 => (0, value & 1 != 0),
            _ => (0, false),
        },
        1 => match amount {
            1..=31 => (value >> amount, value >> (amount - 1) & 1 != 0),
            32 => (0, value >> 31 != 0),
            _ => (0, false),
        },
        2 => {
            let signed = value as i32;
            if amount < 32 {
                ((signed >> amount) as u32, signed >> (amount - 1) & 1 != 0)
            } else {
                ((signed >> 31) as u32, signed < 0)
            }
        }
        3 => {
            let result = value.rotate_right(amount);
            (result, result >> 31 != 0)
        }
        _ => ((carry as u32) << 31 | value >> 1, value & 1 != 0),
    }
}

/// The address of a literal of the instruction at `pc`.
#[inline]
pub const fn literal(pc: u32, op: &Op) -> u32 {
    (pc.wrapping_add(4) & !3).wrapping_add(op.imm)
}

impl Registers {
    /// A register; the mask tells the compiler that there are 16.
    #[inline]
    pub fn read(&self, register: u8) -> u32 {
        self.r[register as usize & 15]
    }

    /// Whether a condition holds (A7.3).
    #[inline]
    pub const fn holds(&self, condition: u8) -> bool {
        let holds = match condition >> 1 {
            0 => self.z,
            1 => self.c,
            2 => self.n,
            3 => self.v,
            4 => self.c && !self.z,
            5 => self.n == self.v,
            6 => self.n == self.v && !self.z,
            _ => return true,
        };
        holds != (condition & 1 != 0)
    }

    /// The second operand and the carry that comes out of its shift.
    #[inline(always)]
    #[allow(clippy::inline_always)] // most have no shift
    pub fn shifted(&self, op: &Op) -> (u32, bool) {
        if op.amount == 0 {
            (self.read(op.rm), self.c)
        } else {
            self.shifted_by_amount(op)
        }
    }

    #[inline(never)]
    fn shifted_by_amount(&self, op: &Op) -> (u32, bool) {
        shift_c(self.read(op.rm), op.shift, u32::from(op.amount), self.c)
    }

    /// Write a general register; SP keeps its low bits clear (B1.4.7).
    #[inline]
    pub fn write(&mut self, register: u8, value: u32) {
        let value = if register == 13 { value & !3 } else { value };
        self.r[register as usize & 15] = value;
    }

    /// Where an access to a base and an immediate goes, and the base that is written back.
    #[inline]
    pub fn base_address(&self, op: &Op) -> (u32, u32) {
        let base = self.read(op.rn);
        let sum = base.wrapping_add(op.imm);
        (if op.is(Op::INDEX) { sum } else { base }, sum)
    }

    /// Where an access to a base and a register goes.
    #[inline]
    pub fn register_address(&self, op: &Op) -> u32 {
        self.read(op.rn).wrapping_add(self.read(op.rm) << op.amount)
    }
}
