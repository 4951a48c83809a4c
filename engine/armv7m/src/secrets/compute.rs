//! Instructions that change nothing but registers and flags (ARM DDI 0403E.e, chapter A7).

use joulemark_kernel::secrets::{Decides, Origins, Word, sum_of_64};

use super::{Before, Secrets};
use crate::compute::{divide_cycles, long_accumulate_cycles, long_multiply_cycles};
use crate::memo::is_it;
use crate::op::{Kind, Op};
use crate::registers::{Registers, shift_c};

const ZERO: Word = Word::public(0);
const ONE: Word = Word::public(1);

impl Secrets {
    /// The second operand, and whether the carry out of its shift is secret.
    #[inline]
    fn shifted(&self, regs: &Registers, op: &Op) -> (Word, bool) {
        let word = self.word(regs, op.rm);
        if op.amount == 0 {
            return (word, self.flags.c);
        }
        let amount = u32::from(op.amount);
        let (value, _) = shift_c(word.value, op.shift, amount, regs.c);
        let (secret, carry) = shift_c(word.secret, op.shift, amount, self.flags.c);
        (Word::new(value, secret), carry)
    }

    fn carry(&self, regs: &Registers) -> Word {
        Word::new(u32::from(regs.c), u32::from(self.flags.c))
    }

    /// The registers that an instruction reads, as far as their numbers are in the usual fields.
    fn origins_of_two(&self, op: &Op) -> Origins {
        self.from[op.rn as usize & 15] | self.from[op.rm as usize & 15]
    }

    pub(super) fn compute(&mut self, core: &Before<'_>, pc: u32, op: &Op) {
        let regs = core.regs;
        let sets = op.is(Op::S) || op.is(Op::S_OUTSIDE_IT) && !is_it(core.it);
        let n = self.word(regs, op.rn);
        let carry_of_constant = if op.is(Op::SETS_CARRY) {
            false
        } else {
            self.flags.c
        };
        match op.kind {
            Kind::AndImm
            | Kind::BicImm
            | Kind::OrrImm
            | Kind::OrnImm
            | Kind::EorImm
            | Kind::MovImm
            | Kind::MvnImm
            | Kind::TstImm
            | Kind::TeqImm => {
                let result = logical(op.kind, n, Word::public(op.imm));
                let from = self.of(op.rn).1;
                self.finish(op, result, sets, carry_of_constant, from);
            }
            Kind::AndReg
            | Kind::BicReg
            | Kind::OrrReg
            | Kind::OrnReg
            | Kind::EorReg
            | Kind::MovReg
            | Kind::MvnReg
            | Kind::TstReg
            | Kind::TeqReg => {
                let (m, carry) = self.shifted(regs, op);
                let (n, m) = without_itself(op, n, m);
                let result = logical(op.kind, n, m);
                let from = match op.kind {
                    Kind::MovReg | Kind::MvnReg => self.of(op.rm).1,
                    _ => self.origins_of_two(op),
                };
                let from = if carry { from | self.flags.from } else { from };
                self.finish(op, result, sets, carry, from);
                let is_copy = op.kind == Kind::MovReg && op.amount == 0 && op.rd != op.rm;
                if is_copy && result.secret != 0 && self.doubt.is_none() {
                    self.copies.copy(op.rd as usize, op.rm as usize);
                }
            }
            Kind::AddImm
            | Kind::AdcImm
            | Kind::SbcImm
            | Kind::SubImm
            | Kind::RsbImm
            | Kind::CmnImm
            | Kind::CmpImm => {
                let from = self.of(op.rn).1;
                self.sum(core, op, n, Word::public(op.imm), sets, from);
            }
            Kind::AddReg
            | Kind::AdcReg
            | Kind::SbcReg
            | Kind::SubReg
            | Kind::RsbReg
            | Kind::CmnReg
            | Kind::CmpReg => {
                let (m, _) = self.shifted(regs, op);
                let (n, m) = without_itself(op, n, m);
                let from = self.origins_of_two(op);
                self.sum(core, op, n, m, sets, from);
            }
            Kind::ShiftReg => self.shift(core, op, n, sets),
            Kind::Movt => {
                let (secret, from) = self.of(op.rd);
                self.set(op.rd, secret & 0xffff, from);
            }
            Kind::Adr => self.set(op.rd, 0, 0),
            Kind::Bfi | Kind::Bfc => {
                let mask = (((1_u64 << op.amount) - 1) as u32) << op.imm;
                let (old, old_from) = self.of(op.rd);
                let (source, from) = if op.kind == Kind::Bfi {
                    (n.secret, self.of(op.rn).1)
                } else {
                    (0, 0)
                };
                let secret = old & !mask | source << op.imm & mask;
                self.set(op.rd, secret, old_from | from);
            }
            Kind::Ubfx => {
                let mask = ((1_u64 << op.amount) - 1) as u32;
                let from = self.of(op.rn).1;
                self.set(op.rd, n.secret >> op.imm & mask, from);
            }
            Kind::Sbfx => {
                let up = 32 - op.imm - u32::from(op.amount);
                let secret = ((n.secret << up) as i32 >> (32 - u32::from(op.amount))) as u32;
                let from = self.of(op.rn).1;
                self.set(op.rd, secret, from);
            }
            Kind::Ssat | Kind::Usat => {
                let amount = u32::from(op.amount);
                let (secret, _) = shift_c(n.secret, op.shift, amount, false);
                let from = self.of(op.rn).1;
                let all = match op.kind {
                    Kind::Usat => ((1_u64 << op.imm) - 1) as u32,
                    _ => u32::MAX,
                };
                self.saturated(op.rd, if secret == 0 { 0 } else { all }, from);
            }
            Kind::Sxtb => self.map(op, |x| x.rotate_right(u32::from(op.amount)) as i8 as u32),
            Kind::Sxth => self.map(op, |x| x.rotate_right(u32::from(op.amount)) as i16 as u32),
            Kind::Uxtb => self.extend(core, op, 0xff),
            Kind::Uxth => self.extend(core, op, 0xffff),
            Kind::Rev => self.map(op, u32::swap_bytes),
            Kind::Rev16 => self.map(op, |x| x.swap_bytes().rotate_right(16)),
            Kind::Revsh => self.map(op, |x| (x as u16).swap_bytes() as i16 as u32),
            Kind::Rbit => self.map(op, u32::reverse_bits),
            Kind::Clz => {
                let secret = self.word(regs, op.rm).leading_zeros();
                let from = self.of(op.rm).1;
                self.set(op.rd, secret, from);
            }
            Kind::Mul | Kind::Mla | Kind::Mls => self.multiply(core, op, n, sets),
            Kind::Smull | Kind::Umull | Kind::Smlal | Kind::Umlal | Kind::Umaal => {
                self.multiply_long(core, pc, op, n);
            }
            Kind::Sdiv | Kind::Udiv => self.divide(core, pc, op, n),
            _ => self.compute_dsp(core, op, n),
        }
    }

    /// A result of logic: to its register, and to flags.
    fn finish(&mut self, op: &Op, result: Word, sets: bool, carry: bool, from: Origins) {
        if sets {
            self.set_flags(result, Some(carry), None, from);
        }
        if !matches!(
            op.kind,
            Kind::TstImm | Kind::TeqImm | Kind::TstReg | Kind::TeqReg
        ) {
            self.set(op.rd, result.secret, from);
        }
    }

    fn sum(
        &mut self,
        core: &Before<'_>,
        op: &Op,
        first: Word,
        second: Word,
        sets: bool,
        from: Origins,
    ) {
        let carry = self.carry(core.regs);
        let compared = (first, second);
        let (first, second, carry) = match op.kind {
            Kind::AddImm | Kind::AddReg | Kind::CmnImm | Kind::CmnReg => (first, second, ZERO),
            Kind::AdcImm | Kind::AdcReg => (first, second, carry),
            Kind::SbcImm | Kind::SbcReg => (first, second.not(), carry),
            Kind::RsbImm | Kind::RsbReg => (first.not(), second, ONE),
            _ => (first, second.not(), ONE),
        };
        if !sets && first.secret | second.secret | carry.secret == 0 {
            self.set(op.rd, 0, 0);
            return;
        }
        let sum = first.add(second, carry, 32);
        let from = if carry.secret == 0 {
            from
        } else {
            from | self.flags.from
        };
        if sets {
            let (carry, overflow) = (sum.carry_is_secret, sum.overflow_is_secret);
            self.set_flags(sum.sum, Some(carry), Some(overflow), from);
            let compares = matches!(
                op.kind,
                Kind::CmpImm | Kind::CmpReg | Kind::SubImm | Kind::SubReg
            );
            if compares && self.doubt.is_none() && first.secret | second.secret != 0 {
                let (first, second) = compared;
                let (upper, lower) = (signed(first), signed(second));
                self.flags.order = Some([
                    second.is_less_secret(first),
                    upper.is_less_secret(lower),
                    lower.is_less_secret(upper),
                ]);
            }
        }
        if !matches!(
            op.kind,
            Kind::CmnImm | Kind::CmpImm | Kind::CmnReg | Kind::CmpReg
        ) {
            self.set(op.rd, sum.sum.secret, from);
        }
    }

    /// A shift by a register. By a secret amount, each bit may come to any of several places.
    fn shift(&mut self, core: &Before<'_>, op: &Op, n: Word, sets: bool) {
        let by = self.word(core.regs, op.rm);
        let mut from = self.origins_of_two(op);
        let (result, carry) = if by.secret as u8 == 0 {
            let amount = by.value & 0xff;
            let (value, _) = shift_c(n.value, op.shift, amount, core.regs.c);
            let (secret, carry) = shift_c(n.secret, op.shift, amount, self.flags.c);
            (Word::new(value, secret), carry)
        } else {
            // Every bit of a result is a bit that was shifted there, or zero.
            let (mut least, mut most) = (u32::MAX, 0);
            let mut choice = by.secret & 0xff;
            loop {
                let amount = by.least() & 0xff | choice;
                least &= shift_c(n.least(), op.shift, amount, false).0;
                most |= shift_c(n.most(), op.shift, amount, false).0;
                if choice == 0 {
                    break;
                }
                choice = (choice - 1) & by.secret & 0xff;
            }
            let secret = most & !least;
            let (value, _) = shift_c(n.value, op.shift, by.value & 0xff, core.regs.c);
            (Word::new(value, secret), true)
        };
        if carry {
            from |= self.flags.from;
        }
        self.finish(op, result, sets, carry, from);
    }

    /// Bits that only move.
    fn map(&mut self, op: &Op, moves: impl FnOnce(u32) -> u32) {
        let (secret, from) = self.of(op.rm);
        self.set(op.rd, moves(secret), from);
    }

    /// Upper bits become zero; where they are zero for sure, the result is a copy.
    fn extend(&mut self, core: &Before<'_>, op: &Op, mask: u32) {
        let is_same = op.amount == 0 && self.word(core.regs, op.rm).most() & !mask == 0;
        let (secret, from) = self.of(op.rm);
        self.set(
            op.rd,
            secret.rotate_right(u32::from(op.amount)) & mask,
            from,
        );
        if is_same && op.rd != op.rm && secret != 0 && self.doubt.is_none() {
            self.copies.copy(op.rd as usize, op.rm as usize);
        }
    }

    /// A result that sets Q where it does not fit.
    fn saturated(&mut self, register: u8, secret: u32, from: Origins) {
        if secret != 0 || self.doubt.is_some() {
            self.flags.q = true;
            self.flags.from |= from | self.doubt.unwrap_or(0);
        }
        self.set(register, secret, from);
    }

    fn multiply(&mut self, core: &Before<'_>, op: &Op, n: Word, sets: bool) {
        let m = self.word(core.regs, op.rm);
        let product = Word::new(n.value.wrapping_mul(m.value), n.product(m, false) as u32);
        let mut from = self.origins_of_two(op);
        let mut result = product;
        if op.kind != Kind::Mul {
            let addend = self.word(core.regs, op.ra);
            from |= self.of(op.ra).1;
            result = if op.kind == Kind::Mla {
                addend.add(product, ZERO, 32).sum
            } else {
                addend.add(product.not(), ONE, 32).sum
            };
        }
        if sets {
            self.set_flags(result, None, None, from);
        }
        self.set(op.rd, result.secret, from);
    }

    fn multiply_long(&mut self, core: &Before<'_>, pc: u32, op: &Op, n: Word) {
        let m = self.word(core.regs, op.rm);
        let signed = matches!(op.kind, Kind::Smull | Kind::Smlal);
        let mut from = self.origins_of_two(op);
        if (n.secret | m.secret) != 0
            && op.kind != Kind::Umaal
            && core.timing.long_multiply == 0
            && let Some(spread) = spread_of_product(op.kind, n, m, signed)
        {
            self.find(core, pc, Decides::Time, from, Some(spread));
        }
        let value = if signed {
            (i64::from(n.value as i32) * i64::from(m.value as i32)) as u64
        } else {
            u64::from(n.value) * u64::from(m.value)
        };
        let product = (value, n.product(m, signed));
        let (low, high) = (self.word(core.regs, op.rd), self.word(core.regs, op.ra));
        let addends = self.of(op.rd).1 | self.of(op.ra).1;
        let wide = |word: Word| (u64::from(word.value), u64::from(word.secret));
        let secret = match op.kind {
            Kind::Smull | Kind::Umull => product.1,
            Kind::Umaal => {
                from |= addends;
                let sum = (
                    wide(low).0.wrapping_add(product.0),
                    sum_of_64(wide(low), product),
                );
                sum_of_64(wide(high), sum)
            }
            _ => {
                from |= addends;
                let (low, high) = (wide(low), wide(high));
                sum_of_64((high.0 << 32 | low.0, high.1 << 32 | low.1), product)
            }
        };
        self.set(op.rd, secret as u32, from);
        self.set(op.ra, (secret >> 32) as u32, from);
    }

    /// The time of a division depends on where its operands' highest bits are.
    fn divide(&mut self, core: &Before<'_>, pc: u32, op: &Op, n: Word) {
        let m = self.word(core.regs, op.rm);
        let from = self.origins_of_two(op);
        if n.secret | m.secret == 0 {
            self.set(op.rd, 0, 0);
            return;
        }
        let signed = op.kind == Kind::Sdiv;
        let cycles = ends(n, signed)
            .into_iter()
            .flat_map(|x| ends(m, signed).map(move |y| divide_cycles(x, y, signed)));
        let (shortest, longest) = cycles.fold((u8::MAX, 0), |(low, high), cycles| {
            (low.min(cycles), high.max(cycles))
        });
        // A negative divisor that is a power of two may take a cycle more than those around it.
        let is_odd = signed && m.secret != 0 && m.most() >> 31 != 0;
        let spread = u32::from(longest - shortest) + u32::from(is_odd);
        if spread > 0 {
            self.find(core, pc, Decides::Time, from, Some(spread));
        }
        let secret = match (signed, n.most()) {
            (_, 0) => 0,
            (true, _) => u32::MAX,
            (false, most) => u32::MAX >> most.leading_zeros(),
        };
        self.set(op.rd, secret, from);
    }

    fn compute_dsp(&mut self, core: &Before<'_>, op: &Op, n: Word) {
        let m = self.word(core.regs, op.rm);
        let mut from = self.origins_of_two(op);
        let is_secret = n.secret | m.secret != 0;
        let all = |is_secret: bool| if is_secret { u32::MAX } else { 0 };
        match op.kind {
            Kind::Pkh => {
                let (shifted, _) = self.shifted(core.regs, op);
                let (low, high) = if op.shift == 0 {
                    (n, shifted)
                } else {
                    (shifted, n)
                };
                let secret = high.secret & 0xffff_0000 | low.secret & 0xffff;
                self.set(op.rd, secret, from);
            }
            Kind::Ssat16 | Kind::Usat16 => {
                let halves =
                    [0xffff_0000, 0xffff].map(|half| if n.secret & half == 0 { 0 } else { half });
                let from = self.of(op.rn).1;
                self.saturated(op.rd, halves[0] | halves[1], from);
            }
            Kind::Sxtab
            | Kind::Uxtab
            | Kind::Sxtah
            | Kind::Uxtah
            | Kind::Sxtab16
            | Kind::Uxtab16 => {
                let secret = extended(op, n, m);
                self.set(op.rd, secret, from);
            }
            Kind::Qadd | Kind::Qsub | Kind::Qdadd | Kind::Qdsub => {
                self.saturated(op.rd, all(is_secret), from);
            }
            Kind::Sel => {
                let mut secret = 0;
                for lane in 0..4 {
                    let mask = 0xff_u32 << (8 * lane);
                    secret |= mask
                        & if self.flags.ge >> lane & 1 != 0 {
                            from |= self.flags.from;
                            n.secret | m.secret | (n.value ^ m.value)
                        } else if core.regs.ge >> lane & 1 != 0 {
                            n.secret
                        } else {
                            m.secret
                        };
                }
                self.set(op.rd, secret, from);
            }
            Kind::Parallel => self.parallel(op, n, m, from),
            Kind::Smla | Kind::Smlaw | Kind::Smlad | Kind::Smlsd => {
                let (addend, addend_from) = self.addend(op);
                let secret = all(is_secret || addend != 0);
                self.saturated(op.rd, secret, from | addend_from);
            }
            Kind::Smmla | Kind::Smmls | Kind::Usada8 => {
                let (addend, addend_from) = self.addend(op);
                self.set(op.rd, all(is_secret || addend != 0), from | addend_from);
            }
            _ => {
                // SMLALxy and its kin.
                let (low, high) = (self.of(op.rd), self.of(op.ra));
                let secret = all(is_secret || low.0 | high.0 != 0);
                from |= low.1 | high.1;
                self.set(op.rd, secret, from);
                self.set(op.ra, secret, from);
            }
        }
    }

    fn addend(&self, op: &Op) -> (u32, Origins) {
        if op.ra == 15 { (0, 0) } else { self.of(op.ra) }
    }

    /// Additions and subtractions of bytes or halves.
    fn parallel(&mut self, op: &Op, n: Word, m: Word, from: Origins) {
        let wraps = op.imm & 0x18 == 0;
        let bits: u32 = if matches!(op.imm & 7, 0 | 4) { 8 } else { 16 };
        let lanes = 32 / bits;
        let mask = u32::MAX >> (32 - bits);
        let (mut secret, mut ge) = (0, 0);
        for number in 0..lanes {
            let other = if matches!(op.imm & 7, 2 | 6) {
                lanes - 1 - number
            } else {
                number
            };
            let subtracts = match op.imm & 7 {
                2 => number == 0,
                6 => number == 1,
                kind => kind & 4 != 0,
            };
            let lane = |word: Word, number: u32| {
                let down = bits * number;
                Word::new(word.value >> down & mask, word.secret >> down & mask)
            };
            let (x, y) = (lane(n, number), lane(m, other));
            let is_secret = x.secret | y.secret != 0;
            let sum = if subtracts {
                x.add(y.not(), ONE, bits)
            } else {
                x.add(y, ZERO, bits)
            };
            let result = match (wraps, is_secret) {
                (true, _) => sum.sum.secret,
                (false, true) => mask,
                (false, false) => 0,
            };
            secret |= (result & mask) << (bits * number);
            if is_secret {
                ge |= if bits == 8 { 1 } else { 3 } << (number * bits / 8);
            }
        }
        if wraps {
            self.flags.ge = if self.doubt.is_some() { 15 } else { ge };
            self.flags.from |= from;
        }
        self.set(op.rd, secret, from);
    }
}

/// SXTAB and its kin.
fn extended(op: &Op, base: Word, m: Word) -> u32 {
    let base = if op.rn == 15 { ZERO } else { base };
    let by = u32::from(op.amount);
    let (value, secret) = (m.value.rotate_right(by), m.secret.rotate_right(by));
    let whole = |of: fn(u32) -> u32| {
        base.add(Word::new(of(value), of(secret)), ZERO, 32)
            .sum
            .secret
    };
    let pair = |of: fn(u32) -> u32| {
        let half = |up: u32| {
            let base = Word::new(base.value >> up, base.secret >> up);
            let other = Word::new(of(value >> up), of(secret >> up));
            base.add(other, ZERO, 16).sum.secret << up
        };
        half(0) | half(16)
    };
    match op.kind {
        Kind::Sxtab => whole(|x| x as i8 as u32),
        Kind::Uxtab => whole(|x| x & 0xff),
        Kind::Sxtah => whole(|x| x as i16 as u32),
        Kind::Uxtah => whole(|x| x & 0xffff),
        Kind::Sxtab16 => pair(|x| x as i8 as u32),
        _ => pair(|x| x & 0xff),
    }
}

/// Operands of which the result does not depend on what they are, because both are one register.
fn without_itself(op: &Op, n: Word, m: Word) -> (Word, Word) {
    let cancels = matches!(
        op.kind,
        Kind::EorReg
            | Kind::BicReg
            | Kind::OrnReg
            | Kind::TeqReg
            | Kind::SubReg
            | Kind::SbcReg
            | Kind::RsbReg
            | Kind::CmpReg
    );
    if cancels && op.rn == op.rm && op.amount == 0 {
        (Word::public(n.value), Word::public(m.value))
    } else {
        (n, m)
    }
}

/// The lowest that a word can be that is not zero, unless it is zero for sure.
const fn least_but_zero(word: Word) -> u32 {
    match word.least() {
        0 if word.secret != 0 => 1 << word.secret.trailing_zeros(),
        least => least,
    }
}

/// Values of a word between whose sizes all others are, those without their sign where it has one.
const fn ends(word: Word, signed: bool) -> [u32; 5] {
    const SIGN: u32 = 1 << 31;
    let (least, most) = (word.least(), word.most());
    if !signed || most & SIGN == 0 {
        return [least, least_but_zero(word), most, most, most];
    }
    if least & SIGN != 0 {
        return [least, most, most, most, most];
    }
    let up = Word::new(word.value & !SIGN, word.secret & !SIGN);
    let (least, most) = (up.least(), up.most());
    [least, least_but_zero(up), most, least | SIGN, most | SIGN]
}

#[inline]
fn logical(kind: Kind, n: Word, m: Word) -> Word {
    match kind {
        Kind::AndImm | Kind::AndReg | Kind::TstImm | Kind::TstReg => n.and(m),
        Kind::BicImm | Kind::BicReg => n.and(m.not()),
        Kind::OrrImm | Kind::OrrReg => n.or(m),
        Kind::OrnImm | Kind::OrnReg => n.or(m.not()),
        Kind::EorImm | Kind::EorReg | Kind::TeqImm | Kind::TeqReg => n.xor(m),
        Kind::MvnImm | Kind::MvnReg => m.not(),
        _ => m,
    }
}

/// Turns a number with a sign into one without, in the same order.
const fn signed(word: Word) -> Word {
    Word::new(word.value ^ 1 << 31, word.secret)
}

/// Values that stand for all that a factor can be: what counts is whether its halves are zero, and
/// its sign.
fn kinds_of(word: Word) -> [u32; 6] {
    let (least, most) = (word.least(), word.most());
    let unsigned = if word.secret >> 31 == 0 {
        most
    } else {
        most & 0x7fff_ffff
    };
    let [low, high] = [least, most].map(|x| x & 0xffff);
    let upper = |x: u32| x & 0xffff_0000;
    [
        upper(least) | low,
        upper(least) | high,
        upper(unsigned) | low,
        upper(unsigned) | high,
        upper(most) | low,
        upper(most) | high,
    ]
}

/// Cycles between the shortest and the longest that a product can take; `None` where they are the
/// same.
#[cold]
fn spread_of_product(kind: Kind, n: Word, m: Word, signed: bool) -> Option<u32> {
    let cycles = |x, y| match kind {
        Kind::Smull | Kind::Umull => long_multiply_cycles(x, y, signed),
        _ => long_accumulate_cycles(x, y, signed),
    };
    let (mut shortest, mut longest) = (u8::MAX, 0);
    for x in kinds_of(n) {
        for y in kinds_of(m) {
            let cycles = cycles(x, y);
            (shortest, longest) = (shortest.min(cycles), longest.max(cycles));
        }
    }
    (longest > shortest).then(|| u32::from(longest - shortest))
}
