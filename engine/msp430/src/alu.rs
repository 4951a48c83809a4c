//! Arithmetic and flags.
#![allow(
    clippy::inline_always,
    reason = "constant arguments have to reach each specialised instruction"
)]

use crate::registers::status;

/// The four arithmetic flags, before they are packed into the status register.
///
/// Byte operations use the upper half of a word, so that both widths have their sign in bit 15 and
/// their carry in bit 16.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    /// Zero if the low 16 bits are zero, negative if bit 15 or 31 is set; bit 16 is the carry.
    result: u32,
    /// Bit 15.
    overflow: u32,
}

/// The carry in [`Flags::result`].
const CARRY: u32 = 1 << 16;

/// Double-operand operations, in the order of their opcodes from 4 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Double {
    Mov,
    Add,
    Addc,
    Subc,
    Sub,
    Cmp,
    Dadd,
    Bit,
    Bic,
    Bis,
    Xor,
    And,
}

impl Double {
    pub const ALL: [Self; 12] = [
        Self::Mov,
        Self::Add,
        Self::Addc,
        Self::Subc,
        Self::Sub,
        Self::Cmp,
        Self::Dadd,
        Self::Bit,
        Self::Bic,
        Self::Bis,
        Self::Xor,
        Self::And,
    ];

    pub const fn writes(self) -> bool {
        !matches!(self, Self::Cmp | Self::Bit)
    }

    pub const fn sets_flags(self) -> bool {
        !matches!(self, Self::Mov | Self::Bic | Self::Bis)
    }

    pub const fn reads_destination(self) -> bool {
        !matches!(self, Self::Mov)
    }
}

/// Single-operand operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Single {
    Rrc,
    Swpb,
    Rra,
    Sxt,
}

impl Flags {
    pub const fn from_status(word: u16) -> Self {
        let negative = word & status::N != 0;
        let zero = word & status::Z != 0;
        let carry = if word & status::C != 0 { CARRY } else { 0 };
        Self {
            result: carry
                | match (negative, zero) {
                    (false, false) => 1,
                    (false, true) => 0,
                    (true, false) => 0x8000,
                    // No result is both zero and negative, but a write to SR can set both.
                    (true, true) => 0x8000_0000,
                },
            overflow: ((word & status::V != 0) as u32) << 15,
        }
    }

    /// Return `word` with these flags.
    pub const fn into_status(self, word: u16) -> u16 {
        let rest = word & !(status::C | status::Z | status::N | status::V);
        rest | self.carry() as u16
            | if self.is_zero() { status::Z } else { 0 }
            | if self.is_negative() { status::N } else { 0 }
            | if self.overflow & 0x8000 != 0 {
                status::V
            } else {
                0
            }
    }

    /// The carry as 0 or 1.
    #[inline(always)]
    pub const fn carry(self) -> u32 {
        self.result >> 16 & 1
    }

    #[inline(always)]
    pub const fn set_carry(&mut self, carry: bool) {
        self.result = self.result & !CARRY | if carry { CARRY } else { 0 };
    }

    #[inline(always)]
    pub const fn is_zero(self) -> bool {
        self.result as u16 == 0
    }

    #[inline(always)]
    pub const fn is_negative(self) -> bool {
        self.result & 0x8000_8000 != 0
    }

    #[inline(always)]
    pub const fn is_less(self) -> bool {
        ((self.result | self.result >> 16) ^ self.overflow) & 0x8000 != 0
    }

    /// Set the flags for a result that cannot overflow; C is "not zero" (AND, BIT, XOR, SXT).
    #[inline(always)]
    fn logical(&mut self, result: u32, overflow: u32) {
        self.result = result | u32::from(result != 0) << 16;
        self.overflow = overflow;
    }

    #[inline(always)]
    fn add(&mut self, source: u32, destination: u32, carry: u32) -> u32 {
        let sum = source + destination + carry;
        self.result = sum;
        self.overflow = (source ^ sum) & (destination ^ sum);
        sum & 0xffff
    }

    /// Execute a double-operand operation; the operands have the given width.
    #[inline(always)]
    pub fn double(&mut self, operation: Double, byte: bool, source: u32, destination: u32) -> u32 {
        let shift = if byte { 8 } else { 0 };
        let mask = if byte { 0xff } else { 0xffff };
        let (s, d) = (source << shift, destination << shift);
        let inverse = (source ^ mask) << shift;
        let result = match operation {
            Double::Mov => return source,
            Double::Bic => return destination & !source,
            Double::Bis => return destination | source,
            Double::Add => self.add(s, d, 0),
            Double::Addc => self.add(s, d, self.carry() << shift),
            Double::Sub | Double::Cmp => self.add(inverse, d, 1 << shift),
            Double::Subc => self.add(inverse, d, self.carry() << shift),
            Double::Bit | Double::And => {
                self.logical(s & d, 0);
                s & d
            }
            Double::Xor => {
                self.logical(s ^ d, s & d);
                s ^ d
            }
            Double::Dadd => self.decimal_add(byte, source, destination) << shift,
        };
        result >> shift
    }

    /// DADD, including digits above 9, which the manual leaves undefined (SLAU049F, DADD). A
    /// digit's adder has one carry, so 6 is added to any sum above 9.
    fn decimal_add(&mut self, byte: bool, source: u32, destination: u32) -> u32 {
        let digits = if byte { 2 } else { 4 };
        let mut carry = self.carry();
        let mut result = 0;
        for digit in 0..digits {
            let at = 4 * digit;
            let mut sum = (source >> at & 0xf) + (destination >> at & 0xf) + carry;
            carry = u32::from(sum > 9);
            sum += 6 * carry;
            result |= (sum & 0xf) << at;
        }
        self.result = if byte { result << 8 } else { result } | carry << 16;
        self.overflow = 0;
        result
    }

    /// Execute a single-operand operation; the operand has the given width.
    #[inline(always)]
    pub fn single(&mut self, operation: Single, byte: bool, operand: u32) -> u32 {
        let shift = if byte { 8 } else { 0 };
        let sign = if byte { 0x80 } else { 0x8000 };
        match operation {
            Single::Swpb => (operand << 8 | operand >> 8) & 0xffff,
            Single::Sxt => {
                let result = u32::from(operand as u8 as i8 as u16);
                self.logical(result, 0);
                result
            }
            Single::Rra | Single::Rrc => {
                let top = if matches!(operation, Single::Rra) {
                    operand & sign
                } else {
                    self.carry() * sign
                };
                let result = operand >> 1 | top;
                self.result = result << shift | (operand & 1) << 16;
                self.overflow = 0;
                result
            }
        }
    }
}
