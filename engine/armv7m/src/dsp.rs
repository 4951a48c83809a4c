//! The DSP instructions of a Cortex-M4 (ARM DDI 0403E.e, chapter A7; encodings of A5.3.11 to
//! A5.3.17).
//!
//! All of them are undefined on a Cortex-M3, and take one cycle (ARM DDI 0439B, table 3-1).

use crate::op::{Kind, Op};
use crate::registers::Registers;

/// Half of an operand: the upper one where set.
const TOP_N: u32 = 2;
const TOP_M: u32 = 1;
/// The halves of the second operand change places, or the product is rounded.
const SWAP_OR_ROUND: u32 = 1;

/// Decode what is undefined without these instructions.
pub fn decode(hw1: u32, hw2: u32) -> Option<Op> {
    match hw1 >> 4 & 0xff0 {
        0xea0 | 0xeb0 if hw1 & 0xfff0 == 0xeac0 && hw2 & 0x8010 == 0 => Some(pack(hw1, hw2)),
        0xf30 if hw2 & 0x8000 == 0 => saturate(hw1, hw2),
        0xfa0..=0xfaf if hw2 & 0xf000 == 0xf000 => shift_extend(hw1, hw2),
        0xfb0..=0xfbf if hw1 & 0x80 == 0 => multiply(hw1, hw2),
        0xfb0..=0xfbf => multiply_long(hw1, hw2),
        _ => None,
    }
}

fn op(kind: Kind, hw1: u32, hw2: u32) -> Op {
    let bad = |r: u32| r & 15 == 13 || r & 15 == 15;
    Op::of(kind, 4)
        .rd(hw2 >> 8)
        .rn(hw1)
        .rm(hw2)
        .set_if(bad(hw2 >> 8) || bad(hw2), Op::UNPREDICTABLE)
}

/// PKHBT and PKHTB.
fn pack(hw1: u32, hw2: u32) -> Op {
    let amount = hw2 >> 10 & 0x1c | hw2 >> 6 & 3;
    op(Kind::Pkh, hw1, hw2)
        .shifted(if hw2 & 0x20 == 0 { 0 } else { 2 }, amount)
        .set_if(matches!(hw1 & 15, 13 | 15), Op::UNPREDICTABLE)
}

/// SSAT16 and USAT16: where a shift by ASR #0 would be.
fn saturate(hw1: u32, hw2: u32) -> Option<Op> {
    let is_packed = hw2 & 0x70c0 == 0;
    let (kind, bits) = match hw1 >> 4 & 31 {
        18 if is_packed => (Kind::Ssat16, (hw2 & 15) + 1),
        26 if is_packed => (Kind::Usat16, hw2 & 15),
        _ => return None,
    };
    let bad = matches!(hw1 & 15, 13 | 15) || matches!(hw2 >> 8 & 15, 13 | 15);
    let stray = hw2 & 0x30 != 0 || hw1 & 0x400 != 0;
    let found = Op::of(kind, 4).rd(hw2 >> 8).rn(hw1).imm(bits);
    Some(found.set_if(bad || stray, Op::UNPREDICTABLE))
}

/// A5.3.12 to A5.3.15.
fn shift_extend(hw1: u32, hw2: u32) -> Option<Op> {
    let group = hw1 >> 4 & 15;
    if hw2 & 0x80 != 0 && group < 8 {
        let kind = match group {
            0 => Kind::Sxtah,
            1 => Kind::Uxtah,
            2 => Kind::Sxtab16,
            3 => Kind::Uxtab16,
            4 => Kind::Sxtab,
            5 => Kind::Uxtab,
            _ => return None,
        };
        let mut found = op(kind, hw1, hw2).set_if(hw1 & 15 == 13, Op::UNPREDICTABLE);
        found.amount = ((hw2 >> 4 & 3) * 8) as u8;
        return Some(found.set_if(hw2 & 0x40 != 0, Op::UNPREDICTABLE));
    }
    let found = |kind| op(kind, hw1, hw2).set_if(matches!(hw1 & 15, 13 | 15), Op::UNPREDICTABLE);
    if hw2 & 0x80 != 0 {
        let kind = match (group & 7, hw2 >> 4 & 7) {
            (0, 0) => Kind::Qadd,
            (0, 1) => Kind::Qdadd,
            (0, 2) => Kind::Qsub,
            (0, 3) => Kind::Qdsub,
            (2, 0) => Kind::Sel,
            _ => return None,
        };
        return Some(found(kind));
    }
    // Parallel additions: what is added how, and whether it wraps, saturates or is halved.
    let known = group > 7 && matches!(group & 7, 0 | 1 | 2 | 4..=6) && hw2 >> 4 & 3 != 3;
    known.then(|| found(Kind::Parallel).imm(group & 7 | hw2 >> 1 & 0x38))
}

/// A5.3.16.
fn multiply(hw1: u32, hw2: u32) -> Option<Op> {
    let variant = hw2 >> 4 & 15;
    let (kind, most) = match hw1 >> 4 & 7 {
        1 => (Kind::Smla, 3),
        2 => (Kind::Smlad, 1),
        3 => (Kind::Smlaw, 1),
        4 => (Kind::Smlsd, 1),
        5 => (Kind::Smmla, 1),
        6 => (Kind::Smmls, 1),
        7 => (Kind::Usada8, 0),
        _ => return None,
    };
    let ra = hw2 >> 12 & 15;
    let bad = matches!(hw1 & 15, 13 | 15) || ra == 13 || (kind == Kind::Smmls && ra == 15);
    let found = op(kind, hw1, hw2).ra(ra).imm(variant);
    (variant <= most).then(|| found.set_if(bad, Op::UNPREDICTABLE))
}

/// A5.3.17.
fn multiply_long(hw1: u32, hw2: u32) -> Option<Op> {
    let variant = hw2 >> 4 & 15;
    let (kind, imm) = match (hw1 >> 4 & 7, variant) {
        (4, 8..=11) => (Kind::Smlalxy, variant & 3),
        (4, 12 | 13) => (Kind::Smlald, variant & 1),
        (5, 12 | 13) => (Kind::Smlsld, variant & 1),
        (6, 6) => (Kind::Umaal, 0),
        _ => return None,
    };
    let (low, high) = (hw2 >> 12 & 15, hw2 >> 8 & 15);
    let bad = matches!(hw1 & 15, 13 | 15) || matches!(low, 13 | 15) || low == high;
    let found = op(kind, hw1, hw2).rd(low).ra(high).imm(imm);
    Some(found.set_if(bad, Op::UNPREDICTABLE))
}

/// The lower half, or the upper one, with its sign.
const fn half(value: u32, top: bool) -> i64 {
    (if top { value >> 16 } else { value } as i16) as i64
}

const fn join(high: i64, low: i64) -> u32 {
    (high as u32) << 16 | low as u32 & 0xffff
}

impl Registers {
    /// A result that is limited to 32 bits with its sign; Q tells that it was.
    fn saturated(&mut self, value: i64) -> u32 {
        let limited = value.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        self.q |= limited != value;
        limited as u32
    }

    /// A result of which 32 bits are kept; Q tells that some were lost.
    fn wrapped(&mut self, value: i64) -> u32 {
        self.q |= i64::from(value as i32) != value;
        value as u32
    }

    /// Accumulator of a multiplication; none where the field holds 15.
    fn addend(&self, op: &Op) -> i64 {
        if op.ra == 15 {
            0
        } else {
            i64::from(self.read(op.ra) as i32)
        }
    }

    fn long_addend(&self, op: &Op) -> i64 {
        (u64::from(self.read(op.ra)) << 32 | u64::from(self.read(op.rd))) as i64
    }

    fn write_long(&mut self, op: &Op, value: i64) {
        self.write(op.rd, value as u32);
        self.write(op.ra, (value >> 32) as u32);
    }

    /// Products of the lower halves and of the upper ones.
    fn halves_products(&self, op: &Op) -> (i64, i64) {
        let (n, m) = (self.read(op.rn), self.read(op.rm));
        let m = if op.imm & SWAP_OR_ROUND == 0 {
            m
        } else {
            m.rotate_right(16)
        };
        (
            half(n, false) * half(m, false),
            half(n, true) * half(m, true),
        )
    }

    /// Run one of these instructions.
    pub fn compute_dsp(&mut self, op: &Op) {
        let (n, m) = (self.read(op.rn), self.read(op.rm));
        let product = || half(n, op.imm & TOP_N != 0) * half(m, op.imm & TOP_M != 0);
        let value = match op.kind {
            Kind::Pkh => {
                let (shifted, _) = self.shifted(op);
                if op.shift == 0 {
                    shifted & 0xffff_0000 | n & 0xffff
                } else {
                    n & 0xffff_0000 | shifted & 0xffff
                }
            }
            Kind::Ssat16 | Kind::Usat16 => {
                let (low, high) = if op.kind == Kind::Ssat16 {
                    (-(1 << (op.imm - 1)), (1 << (op.imm - 1)) - 1)
                } else {
                    (0, (1 << op.imm) - 1)
                };
                let halves = [true, false].map(|top| half(n, top));
                let limited = halves.map(|value| value.clamp(low, high));
                self.q |= limited != halves;
                join(limited[0], limited[1])
            }
            Kind::Sxtab
            | Kind::Uxtab
            | Kind::Sxtah
            | Kind::Uxtah
            | Kind::Sxtab16
            | Kind::Uxtab16 => extended(op, if op.rn == 15 { 0 } else { n }, m),
            Kind::Qadd | Kind::Qsub | Kind::Qdadd | Kind::Qdsub => {
                let mut other = i64::from(n as i32);
                if matches!(op.kind, Kind::Qdadd | Kind::Qdsub) {
                    other = i64::from(self.saturated(2 * other) as i32);
                }
                let first = i64::from(m as i32);
                let subtracts = matches!(op.kind, Kind::Qsub | Kind::Qdsub);
                self.saturated(if subtracts {
                    first - other
                } else {
                    first + other
                })
            }
            Kind::Sel => (0..4).fold(0, |all, lane| {
                let from = if self.ge >> lane & 1 != 0 { n } else { m };
                all | from & 0xff << (8 * lane)
            }),
            Kind::Parallel => self.parallel(op, n, m),
            Kind::Smla => self.wrapped(product() + self.addend(op)),
            Kind::Smlaw => {
                let product = i64::from(n as i32) * half(m, op.imm & TOP_M != 0);
                self.wrapped((product >> 16) + self.addend(op))
            }
            Kind::Smlad | Kind::Smlsd => {
                let (low, high) = self.halves_products(op);
                let high = if op.kind == Kind::Smlad { high } else { -high };
                self.wrapped(low + high + self.addend(op))
            }
            Kind::Smmla | Kind::Smmls => {
                let product = i64::from(n as i32) * i64::from(m as i32);
                let addend = self.addend(op) << 32;
                let sum = if op.kind == Kind::Smmla {
                    addend.wrapping_add(product)
                } else {
                    addend.wrapping_sub(product)
                };
                let round = i64::from(op.imm & SWAP_OR_ROUND) << 31;
                (sum.wrapping_add(round) >> 32) as u32
            }
            Kind::Usada8 => {
                let lanes = n.to_le_bytes().into_iter().zip(m.to_le_bytes());
                let sum: u32 = lanes.map(|(n, m)| u32::from(n.abs_diff(m))).sum();
                sum.wrapping_add(self.addend(op) as u32)
            }
            Kind::Smlalxy => {
                let sum = self.long_addend(op).wrapping_add(product());
                return self.write_long(op, sum);
            }
            Kind::Smlald | Kind::Smlsld => {
                let (low, high) = self.halves_products(op);
                let high = if op.kind == Kind::Smlald { high } else { -high };
                let sum = self.long_addend(op).wrapping_add(low + high);
                return self.write_long(op, sum);
            }
            _ => {
                // UMAAL, which cannot overflow.
                let addends = u64::from(self.read(op.rd)) + u64::from(self.read(op.ra));
                let sum = u64::from(n) * u64::from(m) + addends;
                return self.write_long(op, sum as i64);
            }
        };
        self.write(op.rd, value);
    }

    /// Additions and subtractions of bytes or halves; GE tells which did not borrow or carried.
    fn parallel(&mut self, op: &Op, n: u32, m: u32) -> u32 {
        let unsigned = op.imm & 0x20 != 0;
        let (saturates, halves) = (op.imm & 8 != 0, op.imm & 16 != 0);
        let bytes = matches!(op.imm & 7, 0 | 4);
        let bits = if bytes { 8 } else { 16 };
        let lane = |value: u32, number: u32| {
            let up = value << (32 - bits * (number + 1));
            if unsigned {
                i64::from(up >> (32 - bits))
            } else {
                i64::from(up as i32 >> (32 - bits))
            }
        };
        let lanes = 32 / bits;
        let (mut result, mut ge) = (0, 0);
        for number in 0..lanes {
            // ASX and SAX exchange the halves of the second operand, and do one of each.
            let exchanges = matches!(op.imm & 7, 2 | 6);
            let other = if exchanges {
                lanes - 1 - number
            } else {
                number
            };
            let subtracts = match op.imm & 7 {
                2 => number == 0,
                6 => number == 1,
                kind => kind & 4 != 0,
            };
            let (x, y) = (lane(n, number), lane(m, other));
            let value = if subtracts { x - y } else { x + y };
            let holds = if unsigned && !subtracts {
                value >> bits != 0
            } else {
                value >= 0
            };
            let flags = if bytes { 1 } else { 3 } << (number * bits / 8);
            ge |= u8::from(holds) * flags;
            let value = if saturates {
                let least = if unsigned { 0 } else { -(1 << (bits - 1)) };
                value.clamp(least, least + (1 << bits) - 1)
            } else if halves {
                value >> 1
            } else {
                value
            };
            result |= (value as u32 & u32::MAX >> (32 - bits)) << (number * bits);
        }
        if !saturates && !halves {
            self.ge = ge;
        }
        result
    }
}

/// SXTAB and its kin.
fn extended(op: &Op, base: u32, value: u32) -> u32 {
    let value = value.rotate_right(u32::from(op.amount));
    let pair = |low: u16, high: u16| {
        let low = (base as u16).wrapping_add(low);
        let high = ((base >> 16) as u16).wrapping_add(high);
        u32::from(high) << 16 | u32::from(low)
    };
    let [first, _, third, _] = value.to_le_bytes();
    match op.kind {
        Kind::Sxtab => base.wrapping_add(value as i8 as u32),
        Kind::Uxtab => base.wrapping_add(value & 0xff),
        Kind::Sxtah => base.wrapping_add(value as i16 as u32),
        Kind::Uxtah => base.wrapping_add(value & 0xffff),
        Kind::Sxtab16 => pair(first as i8 as u16, third as i8 as u16),
        _ => pair(u16::from(first), u16::from(third)),
    }
}
