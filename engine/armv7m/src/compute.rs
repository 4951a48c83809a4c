//! Instructions that change nothing but registers and flags (ARM DDI 0403E.e, chapter A7).

use crate::op::{Kind, Op};
use crate::registers::{Registers, literal, shift_c};
use crate::timing::Timing;

const fn add_with_carry(x: u32, y: u32, carry: bool) -> (u32, bool, bool) {
    let wide = x as u64 + y as u64 + carry as u64;
    let sum = wide as u32;
    let overflow = ((x ^ sum) & (y ^ sum)) >> 31 != 0;
    (sum, wide >> 32 != 0, overflow)
}

/// Cycles of UMULL and SMULL (ARM DDI 0337G, table 18-1: 3 to 5, early termination by operand).
///
/// Which operands end early is what `instructions/data_processing/smull_umull_timing` shows: the
/// multiplier works on 16-bit halves and leaves out partial products of zero halves.
pub fn long_multiply_cycles(x: u32, y: u32, signed: bool) -> u8 {
    let (xh, xl) = (x >> 16 != 0, x & 0xffff != 0);
    let (yh, yl) = (y >> 16 != 0, y & 0xffff != 0);
    let x_negative = signed && x >> 31 != 0;
    let y_negative = signed && y >> 31 != 0;
    let late = |condition: bool| u8::from(condition);
    match (xh, xl, yh, yl) {
        (_, _, false, false) | (false, false, _, _) => 3,
        (false, true, false, true) | (true, false, true, false) => {
            3 + late(x_negative || y_negative)
        }
        (true, true, true, true) => 5,
        (true, false, true, true) => 4,
        (true, true, true, false) => 4 + late(x_negative || y_negative),
        _ => 4 + late(y_negative),
    }
}

/// Cycles of UMLAL and SMLAL (ARM DDI 0337G, table 18-1: 4 to 7).
///
/// As [`long_multiply_cycles`], from `instructions/data_processing/smlal_umlal_timing`.
pub fn long_accumulate_cycles(x: u32, y: u32, signed: bool) -> u8 {
    let (xh, xl) = (x >> 16 != 0, x & 0xffff != 0);
    let (yh, yl) = (y >> 16 != 0, y & 0xffff != 0);
    let x_negative = signed && x >> 31 != 0;
    let y_negative = signed && y >> 31 != 0;
    let late = |condition: bool| u8::from(condition);
    match (xh, xl, yh, yl) {
        (_, _, false, false) | (false, false, _, _) | (false, true, false, true) => 3,
        (true, true, true, true) => 7,
        (true, false, true, true) => 6,
        (true, true, true, false) => 6 + late(x_negative || y_negative),
        (true, false, true, false) => 5 + late(x_negative || y_negative),
        _ => 5 + late(y_negative),
    }
}

/// Cycles of UDIV and SDIV (ARM DDI 0337G, table 18-1: 2 to 12).
///
/// Four quotient bits a cycle after normalisation, by magnitudes; the corrections for a negative
/// divisor are what `instructions/data_processing/sdiv_udiv_timing` and `sdiv_powers_of_two` show.
pub fn divide_cycles(x: u32, y: u32, signed: bool) -> u8 {
    if x == 0 || y == 0 {
        return 2;
    }
    let negative = signed && (y as i32) < 0;
    let (x, y) = if signed {
        ((x as i32).unsigned_abs(), (y as i32).unsigned_abs())
    } else {
        (x, y)
    };
    let mut bits = y.leading_zeros() as i32 - x.leading_zeros() as i32;
    if negative {
        let least = x == 0x8000_0000;
        if y.is_power_of_two() && !least {
            bits += 1;
        } else if !y.is_power_of_two() && least {
            bits -= 1;
        }
    }
    if bits < 0 { 3 } else { (bits / 4 + 5) as u8 }
}

impl Registers {
    fn set_nz(&mut self, value: u32) {
        self.n = value >> 31 != 0;
        self.z = value == 0;
    }

    fn constant(&self, op: &Op) -> (u32, bool) {
        let carry = if op.is(Op::SETS_CARRY) {
            op.is(Op::CARRY)
        } else {
            self.c
        };
        (op.imm, carry)
    }

    fn logical(&mut self, sets: bool, result: u32, carry: bool) {
        if sets {
            self.set_nz(result);
            self.c = carry;
        }
    }

    fn write_logical(&mut self, sets: bool, op: &Op, result: u32, carry: bool) {
        self.logical(sets, result, carry);
        self.write(op.rd, result);
    }

    fn sum(&mut self, sets: bool, x: u32, y: u32, carry: bool) -> u32 {
        let (result, carry, overflow) = add_with_carry(x, y, carry);
        if sets {
            self.set_nz(result);
            self.c = carry;
            self.v = overflow;
        }
        result
    }

    fn write_sum(&mut self, sets: bool, op: &Op, x: u32, y: u32, carry: bool) {
        let result = self.sum(sets, x, y, carry);
        self.write(op.rd, result);
    }

    /// Cycles in execute of what takes more than one, whatever else there is.
    #[inline]
    pub fn cycles(&self, op: &Op, timing: Timing) -> u8 {
        let (x, y) = (self.read(op.rn), self.read(op.rm));
        match op.kind {
            Kind::Mla | Kind::Mls => timing.multiply_accumulate,
            Kind::Sdiv | Kind::Udiv => divide_cycles(x, y, op.kind == Kind::Sdiv),
            _ if timing.long_multiply != 0 => timing.long_multiply,
            Kind::Smull | Kind::Umull => long_multiply_cycles(x, y, op.kind == Kind::Smull),
            _ => long_accumulate_cycles(x, y, op.kind == Kind::Smlal),
        }
    }

    /// Run an instruction of which [`Kind::computes`] and which writes no program counter.
    ///
    /// Sets flags where `outside`: instructions that set them only outside IT blocks.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the loop that it is most of has no other calls
    pub fn compute(&mut self, op: &Op, outside: bool) {
        macro_rules! sets {
            () => {
                op.is(Op::S) || (op.is(Op::S_OUTSIDE_IT) && outside)
            };
        }
        macro_rules! rn {
            () => {
                self.read(op.rn)
            };
        }
        macro_rules! rm {
            () => {
                self.read(op.rm)
            };
        }
        match op.kind {
            Kind::AndImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, rn!() & imm, carry);
            }
            Kind::BicImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, rn!() & !imm, carry);
            }
            Kind::OrrImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, rn!() | imm, carry);
            }
            Kind::OrnImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, rn!() | !imm, carry);
            }
            Kind::EorImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, rn!() ^ imm, carry);
            }
            Kind::MovImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, imm, carry);
            }
            Kind::MvnImm => {
                let (imm, carry) = self.constant(op);
                self.write_logical(sets!(), op, !imm, carry);
            }
            Kind::TstImm => {
                let (imm, carry) = self.constant(op);
                self.logical(sets!(), rn!() & imm, carry);
            }
            Kind::TeqImm => {
                let (imm, carry) = self.constant(op);
                self.logical(sets!(), rn!() ^ imm, carry);
            }
            Kind::AddImm => {
                self.write_sum(sets!(), op, rn!(), op.imm, false);
            }
            Kind::AdcImm => {
                self.write_sum(sets!(), op, rn!(), op.imm, self.c);
            }
            Kind::SbcImm => {
                self.write_sum(sets!(), op, rn!(), !op.imm, self.c);
            }
            Kind::SubImm => {
                self.write_sum(sets!(), op, rn!(), !op.imm, true);
            }
            Kind::RsbImm => {
                self.write_sum(sets!(), op, !rn!(), op.imm, true);
            }
            Kind::CmnImm => {
                self.sum(sets!(), rn!(), op.imm, false);
            }
            Kind::CmpImm => {
                self.sum(sets!(), rn!(), !op.imm, true);
            }
            Kind::AndReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, rn!() & value, carry);
            }
            Kind::BicReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, rn!() & !value, carry);
            }
            Kind::OrrReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, rn!() | value, carry);
            }
            Kind::OrnReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, rn!() | !value, carry);
            }
            Kind::EorReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, rn!() ^ value, carry);
            }
            Kind::MovReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, value, carry);
            }
            Kind::MvnReg => {
                let (value, carry) = self.shifted(op);
                self.write_logical(sets!(), op, !value, carry);
            }
            Kind::TstReg => {
                let (value, carry) = self.shifted(op);
                self.logical(sets!(), rn!() & value, carry);
            }
            Kind::TeqReg => {
                let (value, carry) = self.shifted(op);
                self.logical(sets!(), rn!() ^ value, carry);
            }
            Kind::AddReg => {
                let (value, _) = self.shifted(op);
                self.write_sum(sets!(), op, rn!(), value, false);
            }
            Kind::AdcReg => {
                let (value, _) = self.shifted(op);
                self.write_sum(sets!(), op, rn!(), value, self.c);
            }
            Kind::SbcReg => {
                let (value, _) = self.shifted(op);
                self.write_sum(sets!(), op, rn!(), !value, self.c);
            }
            Kind::SubReg => {
                let (value, _) = self.shifted(op);
                self.write_sum(sets!(), op, rn!(), !value, true);
            }
            Kind::RsbReg => {
                let (value, _) = self.shifted(op);
                self.write_sum(sets!(), op, !rn!(), value, true);
            }
            Kind::CmnReg => {
                let (value, _) = self.shifted(op);
                self.sum(sets!(), rn!(), value, false);
            }
            Kind::CmpReg => {
                let (value, _) = self.shifted(op);
                self.sum(sets!(), rn!(), !value, true);
            }
            Kind::ShiftReg => {
                let (value, carry) = shift_c(rn!(), op.shift, rm!() & 255, self.c);
                self.write_logical(sets!(), op, value, carry);
            }
            Kind::Movt => {
                let value = (self.read(op.rd) & 0xffff) | op.imm << 16;
                self.write(op.rd, value);
            }
            Kind::Adr => {
                let value = literal(self.r[15].wrapping_sub(4), op);
                self.write(op.rd, value);
            }
            Kind::Bfi | Kind::Bfc => {
                let mask = (((1_u64 << op.amount) - 1) as u32) << op.imm;
                let source = if op.kind == Kind::Bfi { rn!() } else { 0 };
                let value = (self.read(op.rd) & !mask) | ((source << op.imm) & mask);
                self.write(op.rd, value);
            }
            Kind::Ubfx => {
                let mask = ((1_u64 << op.amount) - 1) as u32;
                self.write(op.rd, (rn!() >> op.imm) & mask);
            }
            Kind::Sbfx => {
                let up = 32 - op.imm - u32::from(op.amount);
                let value = ((rn!() << up) as i32 >> (32 - u32::from(op.amount))) as u32;
                self.write(op.rd, value);
            }
            Kind::Ssat | Kind::Usat => {
                let (value, _) = shift_c(rn!(), op.shift, u32::from(op.amount), false);
                let value = i64::from(value as i32);
                let (low, high) = if op.kind == Kind::Ssat {
                    (-(1_i64 << (op.imm - 1)), (1_i64 << (op.imm - 1)) - 1)
                } else {
                    (0, (1_i64 << op.imm) - 1)
                };
                let result = value.clamp(low, high);
                self.q |= result != value;
                self.write(op.rd, result as u32);
            }
            Kind::Sxtb => {
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write(op.rd, value as i8 as u32);
            }
            Kind::Sxth => {
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write(op.rd, value as i16 as u32);
            }
            Kind::Uxtb => {
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write(op.rd, value & 0xff);
            }
            Kind::Uxth => {
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write(op.rd, value & 0xffff);
            }
            Kind::Rev => {
                let value = rm!().swap_bytes();
                self.write(op.rd, value);
            }
            Kind::Rev16 => {
                let value = rm!().swap_bytes().rotate_right(16);
                self.write(op.rd, value);
            }
            Kind::Revsh => {
                let value = (rm!() as u16).swap_bytes() as i16 as u32;
                self.write(op.rd, value);
            }
            Kind::Rbit => {
                let value = rm!().reverse_bits();
                self.write(op.rd, value);
            }
            Kind::Clz => {
                let value = rm!().leading_zeros();
                self.write(op.rd, value);
            }
            Kind::Mul => {
                let value = rn!().wrapping_mul(rm!());
                if sets!() {
                    self.set_nz(value);
                }
                self.write(op.rd, value);
            }
            Kind::Mla => {
                let value = rn!().wrapping_mul(rm!()).wrapping_add(self.read(op.ra));
                self.write(op.rd, value);
            }
            Kind::Mls => {
                let value = self.read(op.ra).wrapping_sub(rn!().wrapping_mul(rm!()));
                self.write(op.rd, value);
            }
            Kind::Smull | Kind::Umull => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Smull;
                let product = if signed {
                    (i64::from(x as i32) * i64::from(y as i32)) as u64
                } else {
                    u64::from(x) * u64::from(y)
                };
                self.write(op.rd, product as u32);
                self.write(op.ra, (product >> 32) as u32);
            }
            Kind::Smlal | Kind::Umlal => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Smlal;
                let product = if signed {
                    (i64::from(x as i32) * i64::from(y as i32)) as u64
                } else {
                    u64::from(x) * u64::from(y)
                };
                let addend = u64::from(self.read(op.ra)) << 32 | u64::from(self.read(op.rd));
                let sum = product.wrapping_add(addend);
                self.write(op.rd, sum as u32);
                self.write(op.ra, (sum >> 32) as u32);
            }
            kind if kind.is_dsp() => self.compute_dsp(op),
            Kind::Sdiv | Kind::Udiv => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Sdiv;
                let value = match (signed, y) {
                    (_, 0) => 0,
                    (true, _) => (x as i32).wrapping_div(y as i32) as u32,
                    _ => x / y,
                };
                self.write(op.rd, value);
            }
            _ => debug_assert!(false, "{:?} computes nothing", op.kind),
        }
    }
}
