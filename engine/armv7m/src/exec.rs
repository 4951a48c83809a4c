//! What each instruction does to registers and memory (ARM DDI 0403E.e, chapter A7).

use joulemark_kernel::{Fault, FaultKind};

use crate::bus::{Bus, Width};
use crate::core::{Core, Trap};
use crate::decode::{Kind, Op};
use crate::memory::Entry;
use crate::system::UsageFault;

/// What an instruction left to be done.
pub type Done = Result<(), Trap>;

const fn add_with_carry(x: u32, y: u32, carry: bool) -> (u32, bool, bool) {
    let wide = x as u64 + y as u64 + carry as u64;
    let sum = wide as u32;
    let overflow = ((x ^ sum) & (y ^ sum)) >> 31 != 0;
    (sum, wide >> 32 != 0, overflow)
}

/// `Shift_C` (A7.4.2); amounts from registers are up to 255.
const fn shift_c(value: u32, kind: u8, amount: u32, carry: bool) -> (u32, bool) {
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

impl<B: Bus> Core<B> {
    fn set_nz(&mut self, value: u32) {
        self.n = value >> 31 != 0;
        self.z = value == 0;
    }

    fn sets_flags(&self, op: &Op) -> bool {
        op.is(Op::S) || (op.is(Op::S_OUTSIDE_IT) && self.it_of_current == 0)
    }

    fn shifted(&self, op: &Op) -> (u32, bool) {
        shift_c(
            self.r[op.rm as usize],
            op.shift,
            u32::from(op.amount),
            self.c,
        )
    }

    fn constant(&self, op: &Op) -> (u32, bool) {
        let carry = if op.is(Op::SETS_CARRY) {
            op.is(Op::CARRY)
        } else {
            self.c
        };
        (op.imm, carry)
    }

    fn logical(&mut self, op: &Op, result: u32, carry: bool) {
        if self.sets_flags(op) {
            self.set_nz(result);
            self.c = carry;
        }
    }

    fn write_logical(&mut self, op: &Op, result: u32, carry: bool) {
        self.logical(op, result, carry);
        self.write_register(op.rd, result);
    }

    fn sum(&mut self, op: &Op, x: u32, y: u32, carry: bool) -> u32 {
        let (result, carry, overflow) = add_with_carry(x, y, carry);
        if self.sets_flags(op) {
            self.set_nz(result);
            self.c = carry;
            self.v = overflow;
        }
        result
    }

    fn write_sum(&mut self, op: &Op, x: u32, y: u32, carry: bool) {
        let result = self.sum(op, x, y, carry);
        self.write_register(op.rd, result);
    }

    /// Write a general register; SP keeps its low bits clear (B1.4.7).
    fn write_register(&mut self, register: u8, value: u32) {
        let value = if register == 13 { value & !3 } else { value };
        self.r[register as usize] = value;
    }

    fn address(&self, op: &Op) -> (u32, u32) {
        let base = self.r[op.rn as usize];
        let sum = base.wrapping_add(op.imm);
        (if op.is(Op::INDEX) { sum } else { base }, sum)
    }

    fn literal(&self, op: &Op) -> u32 {
        (self.r[15] & !3).wrapping_add(op.imm)
    }

    fn register_address(&self, op: &Op) -> u32 {
        self.r[op.rn as usize].wrapping_add(self.r[op.rm as usize] << op.amount)
    }

    /// `BranchTo` with the interworking bit checked: BX, BLX, and loads of PC.
    fn interworking(&mut self, target: u32) -> u32 {
        if target & 1 == 0 {
            self.thumb = false;
        }
        target & !1
    }

    fn take(&mut self, target: u32) {
        self.next_pc = target;
        self.pipe.issue();
        self.pipe.branches(true, target);
    }

    /// A branch that is not taken.
    fn pass_by(&mut self, target: u32) {
        self.pipe.issue();
        self.pipe.branches(false, target);
    }

    fn load_single(
        &mut self,
        entry: &Entry,
        address: u32,
        width: Width,
        signed: bool,
        back: u32,
    ) -> Done {
        let op = &entry.op;
        if op.rd == 15 {
            return self.load_pc(entry, address, back);
        }
        self.pipe.issue_access(&entry.traits, address);
        let value = self.load(address, width, op.is(Op::UNPRIVILEGED))?;
        let value = match (signed, width) {
            (true, Width::Byte) => value as u8 as i8 as u32,
            (true, Width::Half) => value as u16 as i16 as u32,
            _ => value,
        };
        if op.is(Op::WRITEBACK) {
            self.write_register(op.rn, back);
        }
        self.write_register(op.rd, value);
        Ok(())
    }

    #[cold]
    fn load_pc(&mut self, entry: &Entry, address: u32, back: u32) -> Done {
        let target = self.load(address, Width::Word, false)?;
        if entry.op.is(Op::WRITEBACK) {
            self.write_register(entry.op.rn, back);
        }
        self.branch_from_memory(entry, address, target)
    }

    fn branch_from_memory(&mut self, entry: &Entry, address: u32, target: u32) -> Done {
        let is_return = self.is_exception_return(target);
        let next = if is_return {
            target
        } else {
            self.interworking(target)
        };
        self.next_pc = next;
        self.pipe.issue_access(&entry.traits, address);
        self.pipe.branches(true, next);
        if is_return {
            return self.exception_return(target);
        }
        Ok(())
    }

    fn store_single(&mut self, entry: &Entry, address: u32, width: Width, back: u32) -> Done {
        let op = &entry.op;
        self.pipe.issue_access(&entry.traits, address);
        self.store(
            address,
            self.r[op.rd as usize],
            width,
            op.is(Op::UNPRIVILEGED),
        )?;
        if op.is(Op::WRITEBACK) {
            self.write_register(op.rn, back);
        }
        Ok(())
    }

    fn aligned(address: u32, to: u32) -> Done {
        if address & (to - 1) == 0 {
            Ok(())
        } else {
            Err(Trap::Usage(UsageFault::Unaligned))
        }
    }

    /// Run one instruction. Its time goes to the pipeline before its effect on devices.
    #[allow(clippy::cognitive_complexity)]
    pub(crate) fn execute(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        macro_rules! alu {
            () => {
                self.pipe.issue()
            };
        }
        macro_rules! rn {
            () => {
                self.r[op.rn as usize]
            };
        }
        macro_rules! rm {
            () => {
                self.r[op.rm as usize]
            };
        }
        match op.kind {
            Kind::AndImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, rn!() & imm, carry);
            }
            Kind::BicImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, rn!() & !imm, carry);
            }
            Kind::OrrImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, rn!() | imm, carry);
            }
            Kind::OrnImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, rn!() | !imm, carry);
            }
            Kind::EorImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, rn!() ^ imm, carry);
            }
            Kind::MovImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, imm, carry);
            }
            Kind::MvnImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.write_logical(op, !imm, carry);
            }
            Kind::TstImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.logical(op, rn!() & imm, carry);
            }
            Kind::TeqImm => {
                alu!();
                let (imm, carry) = self.constant(op);
                self.logical(op, rn!() ^ imm, carry);
            }
            Kind::AddImm => {
                alu!();
                self.write_sum(op, rn!(), op.imm, false);
            }
            Kind::AdcImm => {
                alu!();
                self.write_sum(op, rn!(), op.imm, self.c);
            }
            Kind::SbcImm => {
                alu!();
                self.write_sum(op, rn!(), !op.imm, self.c);
            }
            Kind::SubImm => {
                alu!();
                self.write_sum(op, rn!(), !op.imm, true);
            }
            Kind::RsbImm => {
                alu!();
                self.write_sum(op, !rn!(), op.imm, true);
            }
            Kind::CmnImm => {
                alu!();
                self.sum(op, rn!(), op.imm, false);
            }
            Kind::CmpImm => {
                alu!();
                self.sum(op, rn!(), !op.imm, true);
            }
            Kind::AndReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, rn!() & value, carry);
            }
            Kind::BicReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, rn!() & !value, carry);
            }
            Kind::OrrReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, rn!() | value, carry);
            }
            Kind::OrnReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, rn!() | !value, carry);
            }
            Kind::EorReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, rn!() ^ value, carry);
            }
            Kind::MovReg => {
                let (value, carry) = self.shifted(op);
                if op.rd == 15 {
                    self.take(value & !1);
                } else {
                    alu!();
                    self.write_logical(op, value, carry);
                }
            }
            Kind::MvnReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.write_logical(op, !value, carry);
            }
            Kind::TstReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.logical(op, rn!() & value, carry);
            }
            Kind::TeqReg => {
                alu!();
                let (value, carry) = self.shifted(op);
                self.logical(op, rn!() ^ value, carry);
            }
            Kind::AddReg => {
                let (value, _) = self.shifted(op);
                if op.rd == 15 {
                    self.take(rn!().wrapping_add(value) & !1);
                } else {
                    alu!();
                    self.write_sum(op, rn!(), value, false);
                }
            }
            Kind::AdcReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.write_sum(op, rn!(), value, self.c);
            }
            Kind::SbcReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.write_sum(op, rn!(), !value, self.c);
            }
            Kind::SubReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.write_sum(op, rn!(), !value, true);
            }
            Kind::RsbReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.write_sum(op, !rn!(), value, true);
            }
            Kind::CmnReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.sum(op, rn!(), value, false);
            }
            Kind::CmpReg => {
                alu!();
                let (value, _) = self.shifted(op);
                self.sum(op, rn!(), !value, true);
            }
            Kind::ShiftReg => {
                alu!();
                let (value, carry) = shift_c(rn!(), op.shift, rm!() & 255, self.c);
                self.write_logical(op, value, carry);
            }
            Kind::Movt => {
                alu!();
                let value = (self.r[op.rd as usize] & 0xffff) | op.imm << 16;
                self.write_register(op.rd, value);
            }
            Kind::Adr => {
                alu!();
                let value = self.literal(op);
                self.write_register(op.rd, value);
            }
            Kind::Bfi | Kind::Bfc => {
                alu!();
                let mask = (((1_u64 << op.amount) - 1) as u32) << op.imm;
                let source = if op.kind == Kind::Bfi { rn!() } else { 0 };
                let value = (self.r[op.rd as usize] & !mask) | ((source << op.imm) & mask);
                self.write_register(op.rd, value);
            }
            Kind::Ubfx => {
                alu!();
                let mask = ((1_u64 << op.amount) - 1) as u32;
                self.write_register(op.rd, (rn!() >> op.imm) & mask);
            }
            Kind::Sbfx => {
                alu!();
                let up = 32 - op.imm - u32::from(op.amount);
                let value = ((rn!() << up) as i32 >> (32 - u32::from(op.amount))) as u32;
                self.write_register(op.rd, value);
            }
            Kind::Ssat | Kind::Usat => {
                alu!();
                let (value, _) = shift_c(rn!(), op.shift, u32::from(op.amount), false);
                let value = i64::from(value as i32);
                let (low, high) = if op.kind == Kind::Ssat {
                    (-(1_i64 << (op.imm - 1)), (1_i64 << (op.imm - 1)) - 1)
                } else {
                    (0, (1_i64 << op.imm) - 1)
                };
                let result = value.clamp(low, high);
                self.q |= result != value;
                self.write_register(op.rd, result as u32);
            }
            Kind::Sxtb => {
                alu!();
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write_register(op.rd, value as i8 as u32);
            }
            Kind::Sxth => {
                alu!();
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write_register(op.rd, value as i16 as u32);
            }
            Kind::Uxtb => {
                alu!();
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write_register(op.rd, value & 0xff);
            }
            Kind::Uxth => {
                alu!();
                let value = rm!().rotate_right(u32::from(op.amount));
                self.write_register(op.rd, value & 0xffff);
            }
            Kind::Rev => {
                alu!();
                let value = rm!().swap_bytes();
                self.write_register(op.rd, value);
            }
            Kind::Rev16 => {
                alu!();
                let value = rm!().swap_bytes().rotate_right(16);
                self.write_register(op.rd, value);
            }
            Kind::Revsh => {
                alu!();
                let value = (rm!() as u16).swap_bytes() as i16 as u32;
                self.write_register(op.rd, value);
            }
            Kind::Rbit => {
                alu!();
                let value = rm!().reverse_bits();
                self.write_register(op.rd, value);
            }
            Kind::Clz => {
                alu!();
                let value = rm!().leading_zeros();
                self.write_register(op.rd, value);
            }
            Kind::Mul => {
                alu!();
                let value = rn!().wrapping_mul(rm!());
                if self.sets_flags(op) {
                    self.set_nz(value);
                }
                self.write_register(op.rd, value);
            }
            Kind::Mla => {
                self.pipe.issue_timed(self.timing.multiply_accumulate);
                let value = rn!()
                    .wrapping_mul(rm!())
                    .wrapping_add(self.r[op.ra as usize]);
                self.write_register(op.rd, value);
            }
            Kind::Mls => {
                self.pipe.issue_timed(self.timing.multiply_accumulate);
                let value = self.r[op.ra as usize].wrapping_sub(rn!().wrapping_mul(rm!()));
                self.write_register(op.rd, value);
            }
            Kind::Smull | Kind::Umull => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Smull;
                let cycles = if self.timing.long_multiply == 0 {
                    long_multiply_cycles(x, y, signed)
                } else {
                    self.timing.long_multiply
                };
                self.pipe.issue_timed(cycles);
                let product = if signed {
                    (i64::from(x as i32) * i64::from(y as i32)) as u64
                } else {
                    u64::from(x) * u64::from(y)
                };
                self.write_register(op.rd, product as u32);
                self.write_register(op.ra, (product >> 32) as u32);
            }
            Kind::Smlal | Kind::Umlal => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Smlal;
                let cycles = if self.timing.long_multiply == 0 {
                    long_accumulate_cycles(x, y, signed)
                } else {
                    self.timing.long_multiply
                };
                self.pipe.issue_timed(cycles);
                let product = if signed {
                    (i64::from(x as i32) * i64::from(y as i32)) as u64
                } else {
                    u64::from(x) * u64::from(y)
                };
                let addend =
                    u64::from(self.r[op.ra as usize]) << 32 | u64::from(self.r[op.rd as usize]);
                let sum = product.wrapping_add(addend);
                self.write_register(op.rd, sum as u32);
                self.write_register(op.ra, (sum >> 32) as u32);
            }
            Kind::Sdiv | Kind::Udiv => {
                let (x, y) = (rn!(), rm!());
                let signed = op.kind == Kind::Sdiv;
                self.pipe.issue_timed(divide_cycles(x, y, signed));
                if y == 0 && self.system.divide_by_zero_traps() {
                    return Err(Trap::Usage(UsageFault::DivideByZero));
                }
                let value = match (signed, y) {
                    (_, 0) => 0,
                    (true, _) => (x as i32).wrapping_div(y as i32) as u32,
                    _ => x / y,
                };
                self.write_register(op.rd, value);
            }
            Kind::LdrImm => {
                let (address, back) = self.address(op);
                return self.load_single(entry, address, Width::Word, false, back);
            }
            Kind::LdrbImm => {
                let (address, back) = self.address(op);
                return self.load_single(entry, address, Width::Byte, false, back);
            }
            Kind::LdrhImm => {
                let (address, back) = self.address(op);
                return self.load_single(entry, address, Width::Half, false, back);
            }
            Kind::LdrsbImm => {
                let (address, back) = self.address(op);
                return self.load_single(entry, address, Width::Byte, true, back);
            }
            Kind::LdrshImm => {
                let (address, back) = self.address(op);
                return self.load_single(entry, address, Width::Half, true, back);
            }
            Kind::LdrReg => {
                return self.load_single(entry, self.register_address(op), Width::Word, false, 0);
            }
            Kind::LdrbReg => {
                return self.load_single(entry, self.register_address(op), Width::Byte, false, 0);
            }
            Kind::LdrhReg => {
                return self.load_single(entry, self.register_address(op), Width::Half, false, 0);
            }
            Kind::LdrsbReg => {
                return self.load_single(entry, self.register_address(op), Width::Byte, true, 0);
            }
            Kind::LdrshReg => {
                return self.load_single(entry, self.register_address(op), Width::Half, true, 0);
            }
            Kind::LdrLit => {
                return self.load_single(entry, self.literal(op), Width::Word, false, 0);
            }
            Kind::LdrbLit => {
                return self.load_single(entry, self.literal(op), Width::Byte, false, 0);
            }
            Kind::LdrhLit => {
                return self.load_single(entry, self.literal(op), Width::Half, false, 0);
            }
            Kind::LdrsbLit => {
                return self.load_single(entry, self.literal(op), Width::Byte, true, 0);
            }
            Kind::LdrshLit => {
                return self.load_single(entry, self.literal(op), Width::Half, true, 0);
            }
            Kind::StrImm => {
                let (address, back) = self.address(op);
                return self.store_single(entry, address, Width::Word, back);
            }
            Kind::StrbImm => {
                let (address, back) = self.address(op);
                return self.store_single(entry, address, Width::Byte, back);
            }
            Kind::StrhImm => {
                let (address, back) = self.address(op);
                return self.store_single(entry, address, Width::Half, back);
            }
            Kind::StrReg => {
                return self.store_single(entry, self.register_address(op), Width::Word, 0);
            }
            Kind::StrbReg => {
                return self.store_single(entry, self.register_address(op), Width::Byte, 0);
            }
            Kind::StrhReg => {
                return self.store_single(entry, self.register_address(op), Width::Half, 0);
            }
            Kind::Ldrd | Kind::LdrdLit => {
                let (address, back) = if op.kind == Kind::Ldrd {
                    self.address(op)
                } else {
                    (self.literal(op), 0)
                };
                Self::aligned(address, 4)?;
                self.pipe.issue_access(&entry.traits, address);
                let first = self.load(address, Width::Word, false)?;
                let second = self.load(address.wrapping_add(4), Width::Word, false)?;
                if op.is(Op::WRITEBACK) {
                    self.write_register(op.rn, back);
                }
                self.write_register(op.rd, first);
                self.write_register(op.ra, second);
            }
            Kind::Strd => {
                let (address, back) = self.address(op);
                Self::aligned(address, 4)?;
                self.pipe.issue_access(&entry.traits, address);
                self.store(address, self.r[op.rd as usize], Width::Word, false)?;
                self.store(
                    address.wrapping_add(4),
                    self.r[op.ra as usize],
                    Width::Word,
                    false,
                )?;
                if op.is(Op::WRITEBACK) {
                    self.write_register(op.rn, back);
                }
            }
            Kind::Ldrex | Kind::Ldrexb | Kind::Ldrexh => {
                let (address, width) = match op.kind {
                    Kind::Ldrex => (rn!().wrapping_add(op.imm), Width::Word),
                    Kind::Ldrexb => (rn!(), Width::Byte),
                    _ => (rn!(), Width::Half),
                };
                Self::aligned(address, width.bytes())?;
                self.pipe.issue_access(&entry.traits, address);
                let value = self.load(address, width, false)?;
                self.exclusive = true;
                self.write_register(op.rd, value);
            }
            Kind::Strex | Kind::Strexb | Kind::Strexh => {
                let (address, width) = match op.kind {
                    Kind::Strex => (rn!().wrapping_add(op.imm), Width::Word),
                    Kind::Strexb => (rn!(), Width::Byte),
                    _ => (rn!(), Width::Half),
                };
                Self::aligned(address, width.bytes())?;
                self.pipe.issue_access(&entry.traits, address);
                let fails = !self.exclusive;
                if !fails {
                    self.store(address, self.r[op.rd as usize], width, false)?;
                }
                self.exclusive = false;
                self.write_register(op.ra, u32::from(fails));
            }
            Kind::Clrex => {
                alu!();
                self.exclusive = false;
            }
            Kind::Ldmia | Kind::Ldmdb => return self.load_multiple(entry),
            Kind::Stmia | Kind::Stmdb => return self.store_multiple(entry),
            Kind::Tbb | Kind::Tbh => {
                let (shift, width) = if op.kind == Kind::Tbb {
                    (0, Width::Byte)
                } else {
                    (1, Width::Half)
                };
                let address = rn!().wrapping_add(rm!() << shift);
                let offset = self.load(address, width, false)?;
                let target = self.r[15].wrapping_add(offset * 2);
                self.next_pc = target;
                self.pipe.issue_access(&entry.traits, address);
                self.pipe.branches(true, target);
            }
            Kind::B => self.take(self.r[15].wrapping_add(op.imm)),
            Kind::Bcond => {
                if self.condition(op.ra) {
                    self.take(self.r[15].wrapping_add(op.imm));
                } else {
                    self.pass_by(self.r[15].wrapping_add(op.imm));
                }
            }
            Kind::Bl => {
                let target = self.r[15].wrapping_add(op.imm);
                self.take(target);
                self.r[14] = self.fall_through | 1;
                self.called(target);
            }
            Kind::Bx | Kind::Blx => {
                let value = rm!();
                if op.kind == Kind::Bx && self.is_exception_return(value) {
                    self.take(value & !1);
                    return self.exception_return(value);
                }
                let target = self.interworking(value);
                self.take(target);
                if op.kind == Kind::Blx {
                    self.r[14] = self.fall_through | 1;
                    self.called(target);
                }
            }
            Kind::Cbz | Kind::Cbnz => {
                if (rn!() == 0) == (op.kind == Kind::Cbz) {
                    self.take(self.r[15].wrapping_add(op.imm));
                } else {
                    self.pass_by(self.fall_through);
                }
            }
            Kind::It => {
                alu!();
                self.it = op.imm as u8;
            }
            Kind::Nop => alu!(),
            Kind::Sev => {
                alu!();
                self.event = true;
            }
            Kind::Wfe => {
                alu!();
                if self.event {
                    self.event = false;
                } else {
                    self.wait(true);
                }
            }
            Kind::Wfi => {
                alu!();
                self.wait(false);
            }
            Kind::Cps => {
                let disable = op.ra != 0;
                let raises = disable
                    && ((op.imm & 2 != 0 && !self.primask) || (op.imm & 1 != 0 && !self.faultmask));
                // instructions/other/cps_it: one cycle more where the priority rises.
                self.pipe
                    .issue_timed(if raises && self.privileged() { 2 } else { 1 });
                if self.privileged() {
                    if op.imm & 2 != 0 {
                        self.primask = disable;
                    }
                    if op.imm & 1 != 0 && (!disable || self.faults_can_be_masked()) {
                        self.faultmask = disable;
                    }
                    self.recheck = true;
                }
            }
            Kind::Bkpt => {
                alu!();
                return Err(Trap::Stop(Box::new(Fault::new(
                    FaultKind::InvalidOpcode,
                    format!("BKPT #{} with no debugger attached", op.imm),
                ))));
            }
            Kind::Svc => {
                alu!();
                return Err(Trap::SupervisorCall);
            }
            Kind::Mrs => {
                alu!();
                let value = self.special_register(op.imm);
                self.write_register(op.rd, value);
            }
            Kind::Msr => self.write_special_register(entry),
            Kind::Dsb | Kind::Dmb => self.pipe.issue_timed(self.timing.barrier),
            Kind::Isb => self.take(self.fall_through),
            Kind::Coprocessor => {
                alu!();
                return Err(Trap::Usage(UsageFault::NoCoprocessor));
            }
            Kind::Undefined | Kind::Empty => {
                alu!();
                return Err(Trap::Usage(UsageFault::Undefined));
            }
        }
        Ok(())
    }

    fn load_multiple(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        let base = self.r[op.rn as usize];
        let bytes = 4 * op.imm.count_ones();
        let (mut address, back) = if op.kind == Kind::Ldmia {
            (base, base.wrapping_add(bytes))
        } else {
            (base.wrapping_sub(bytes), base.wrapping_sub(bytes))
        };
        Self::aligned(address, 4)?;
        let start = address;
        let branches = op.imm & 0x8000 != 0;
        if !branches {
            self.pipe.issue_access(&entry.traits, start);
        }
        let mut values = [0; 16];
        let mut list = op.imm;
        while list != 0 {
            let register = list.trailing_zeros();
            list &= list - 1;
            values[register as usize] = self.load(address, Width::Word, false)?;
            address = address.wrapping_add(4);
        }
        if op.is(Op::WRITEBACK) {
            self.write_register(op.rn, back);
        }
        let mut list = op.imm & 0x7fff;
        while list != 0 {
            let register = list.trailing_zeros();
            list &= list - 1;
            self.write_register(register as u8, values[register as usize]);
        }
        if branches {
            return self.branch_from_memory(entry, start, values[15]);
        }
        Ok(())
    }

    fn store_multiple(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        let base = self.r[op.rn as usize];
        let bytes = 4 * op.imm.count_ones();
        let (mut address, back) = if op.kind == Kind::Stmia {
            (base, base.wrapping_add(bytes))
        } else {
            (base.wrapping_sub(bytes), base.wrapping_sub(bytes))
        };
        Self::aligned(address, 4)?;
        self.pipe.issue_access(&entry.traits, address);
        let mut list = op.imm;
        while list != 0 {
            let register = list.trailing_zeros();
            list &= list - 1;
            self.store(address, self.r[register as usize], Width::Word, false)?;
            address = address.wrapping_add(4);
        }
        if op.is(Op::WRITEBACK) {
            self.write_register(op.rn, back);
        }
        Ok(())
    }

    /// MRS (B5.2.2).
    fn special_register(&self, number: u32) -> u32 {
        let privileged = self.privileged();
        match number {
            0..=7 => {
                let mut value = 0;
                if number & 4 == 0 {
                    value |= self.apsr();
                }
                if number & 1 != 0 {
                    value |= u32::from(self.ipsr);
                }
                value
            }
            8 if privileged => self.main_stack_pointer(),
            9 if privileged => self.process_stack_pointer(),
            16 if privileged => u32::from(self.primask),
            17 | 18 if privileged => u32::from(self.basepri),
            19 if privileged => u32::from(self.faultmask),
            20 => u32::from(self.control),
            _ => 0,
        }
    }

    /// MSR (B5.2.3).
    fn write_special_register(&mut self, entry: &Entry) {
        let op = &entry.op;
        let value = self.r[op.rn as usize];
        let privileged = self.privileged();
        let priority = value as u8;
        // The bits that a chip does not implement take part in the comparison
        // (other/msr_mrs_priority_boosters).
        let above_base = priority != 0 && (self.basepri == 0 || priority < self.basepri);
        let mut raises = false;
        match op.imm {
            0..=3 if op.ra & 2 != 0 => self.set_apsr(value),
            8 if privileged => self.set_main_stack_pointer(value),
            9 if privileged => self.set_process_stack_pointer(value),
            16 if privileged => {
                raises = value & 1 != 0 && !self.primask;
                self.primask = value & 1 != 0;
            }
            17 if privileged => {
                raises = above_base;
                self.basepri = priority & self.system.priority_mask();
            }
            18 if privileged && above_base => {
                raises = true;
                self.basepri = priority & self.system.priority_mask();
            }
            19 if privileged && (value & 1 == 0 || self.faults_can_be_masked()) => {
                raises = value & 1 != 0 && !self.faultmask;
                self.faultmask = value & 1 != 0;
            }
            20 if privileged => {
                raises = true;
                self.set_control(value as u8 & 3);
            }
            _ => {}
        }
        // One cycle more where the execution priority may rise (other/msr_mrs_priority_boosters,
        // other/cps_it), and for CONTROL (other/msr_mrs_control).
        self.pipe.issue_timed(1 + u8::from(raises));
        self.recheck = true;
    }
}
