//! The floating-point extension: moves are followed bit by bit, arithmetic as a whole (ARM DDI
//! 0403E.e, A7.7).

use joulemark_kernel::secrets::{Origins, Word};

use super::{Before, Secrets, further, words_from};
use crate::bus::Width;
use crate::fpu::CONDITIONS;
use crate::op::{Kind, Op};
use crate::registers::literal;

/// Flags of FPSCR that arithmetic sets and nothing but VMSR clears (A2.5.3).
const EXCEPTIONS: u32 = 0x9f;
/// Where an exception's frame has S0, and how many words follow with FPSCR.
const STATE_OFFSET: u32 = 0x20;
const STATE_SINGLES: u8 = 16;

impl Secrets {
    fn single(&self, number: u8) -> (u32, Origins) {
        let number = number as usize & 31;
        (self.s[number], self.s_from[number])
    }

    pub(super) fn set_single(&mut self, number: u8, secret: u32, from: Origins) {
        let (mut secret, mut from) = (secret, from);
        if let Some(doubt) = self.doubt {
            (secret, from) = (u32::MAX, from | doubt);
        }
        let number = number as usize & 31;
        self.s[number] = secret;
        self.s_from[number] = if secret == 0 { 0 } else { from };
    }

    pub(super) fn float(&mut self, core: &Before<'_>, pc: u32, op: &Op) {
        if let Some(at) = core.reserved {
            self.stack_float(core, at);
        }
        match op.kind {
            Kind::Vldr | Kind::Vldm | Kind::Vstr | Kind::Vstm => self.move_floats(core, pc, op),
            Kind::VmovToCore => {
                let (secret, from) = self.single(op.rm);
                self.set(op.rd, secret, from);
            }
            Kind::VmovFromCore => {
                let (secret, from) = self.of(op.rd);
                self.set_single(op.rm, secret, from);
            }
            Kind::VmovTwoToCore => {
                let (first, second) = (self.single(op.rm), self.single(op.rm + 1));
                self.set(op.rd, first.0, first.1);
                self.set(op.rn, second.0, second.1);
            }
            Kind::VmovTwoFromCore => {
                let (first, second) = (self.of(op.rd), self.of(op.rn));
                self.set_single(op.rm, first.0, first.1);
                self.set_single(op.rm + 1, second.0, second.1);
            }
            Kind::Vmrs if op.rd == 15 => {
                self.write_status(self.conditions, self.conditions_from, CONDITIONS);
            }
            Kind::Vmrs => self.set(op.rd, self.conditions, self.conditions_from),
            Kind::Vmsr => {
                (self.conditions, self.conditions_from) = self.of(op.rd);
                if let Some(doubt) = self.doubt {
                    self.conditions = u32::MAX;
                    self.conditions_from |= doubt;
                }
            }
            Kind::VmovImm => self.set_single(op.rd, 0, 0),
            Kind::Vmov | Kind::Vneg => {
                let (secret, from) = self.single(op.rm);
                self.set_single(op.rd, secret, from);
            }
            Kind::Vabs => {
                let (secret, from) = self.single(op.rm);
                self.set_single(op.rd, secret & u32::MAX >> 1, from);
            }
            Kind::VUndefined => {}
            _ => self.arithmetic(op),
        }
    }

    fn arithmetic(&mut self, op: &Op) {
        let has_n = matches!(
            op.kind,
            Kind::Vmla
                | Kind::Vmls
                | Kind::Vnmla
                | Kind::Vnmls
                | Kind::Vfma
                | Kind::Vfms
                | Kind::Vfnma
                | Kind::Vfnms
                | Kind::Vmul
                | Kind::Vnmul
                | Kind::Vadd
                | Kind::Vsub
                | Kind::Vdiv
        );
        let has_d = matches!(
            op.kind,
            Kind::Vmla
                | Kind::Vmls
                | Kind::Vnmla
                | Kind::Vnmls
                | Kind::Vfma
                | Kind::Vfms
                | Kind::Vfnma
                | Kind::Vfnms
                | Kind::Vcmp
                | Kind::VcmpZero
                | Kind::VcvtFromFixed
                | Kind::VcvtToFixed
                | Kind::VcvtToHalf
        );
        let has_m = op.kind != Kind::VcmpZero;
        let mut read = (self.conditions & !(CONDITIONS | EXCEPTIONS), 0);
        if read.0 != 0 {
            read.1 = self.conditions_from;
        }
        for (reads, number) in [(has_n, op.rn), (has_m, op.rm), (has_d, op.rd)] {
            if reads {
                let (secret, from) = self.single(number);
                read = (read.0 | secret, read.1 | from);
            }
        }
        let is_secret = read.0 != 0 || self.doubt.is_some();
        let from = read.1 | self.doubt.unwrap_or(0);
        if matches!(op.kind, Kind::Vcmp | Kind::VcmpZero) {
            self.conditions &= !CONDITIONS;
            if is_secret {
                self.conditions |= CONDITIONS;
            }
        } else {
            self.set_single(op.rd, if is_secret { u32::MAX } else { 0 }, from);
        }
        if is_secret {
            self.conditions |= EXCEPTIONS;
            self.conditions_from |= from;
        } else if self.conditions == 0 {
            self.conditions_from = 0;
        }
    }

    /// VLDR, VSTR, VLDM and VSTM.
    fn move_floats(&mut self, core: &Before<'_>, pc: u32, op: &Op) {
        let (start, back) = if op.kind == Kind::Vldr && op.rn == 15 {
            ((Word::public(literal(pc, op)), 0), 0)
        } else {
            let base = self.word(core.regs, op.rn);
            let from = self.of(op.rn).1;
            let sum = further(base, op.imm);
            let to_sum = matches!(op.kind, Kind::Vldr | Kind::Vstr) || op.is(Op::INDEX);
            ((if to_sum { sum } else { base }, from), sum.secret)
        };
        for offset in 0..op.amount {
            let at = (further(start.0, 4 * u32::from(offset)), start.1);
            let register = op.rd + offset;
            if matches!(op.kind, Kind::Vldr | Kind::Vldm) {
                let (secret, from) = self.load(core, pc, at, Width::Word);
                self.set_single(register, secret, from);
            } else {
                let (secret, from) = self.single(register);
                self.store(core, pc, at, secret, from, Width::Word);
            }
        }
        self.write_back(op, back);
    }

    /// State of interrupted code goes to its frame.
    pub fn stack_float(&mut self, core: &Before<'_>, at: u32) {
        for (number, at) in (0..STATE_SINGLES).zip(words_from(at)) {
            let (secret, from) = self.single(number);
            self.store_to(core, 0, at, secret, from, Width::Word);
        }
        let at = at.wrapping_add(4 * u32::from(STATE_SINGLES));
        let (secret, from) = (self.conditions, self.conditions_from);
        self.store_to(core, 0, at, secret, from, Width::Word);
    }

    /// It comes back from a frame.
    pub fn unstack_float(&mut self, core: &Before<'_>, frame: u32) {
        let at = frame.wrapping_add(STATE_OFFSET);
        for (number, at) in (0..STATE_SINGLES).zip(words_from(at)) {
            let (secret, from) = self.load_from(core, at, Width::Word);
            self.set_single(number, secret, from);
        }
        let at = at.wrapping_add(4 * u32::from(STATE_SINGLES));
        (self.conditions, self.conditions_from) = self.load_from(core, at, Width::Word);
    }
}
