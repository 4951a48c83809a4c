//! What the extension's instructions do that touch nothing but its registers (ARM DDI 0403E.e, A7.7).

use super::arithmetic::{Arithmetic, Rounding, negated};
use super::{CONDITIONS, Fpu};
use crate::op::{Kind, Op};

/// Of VCMP: a quiet NaN is invalid too. Of conversions of halves: the upper one.
const E_OR_TOP: u32 = 1;
/// Of conversions to integers and fixed point: signed; of 32 bits, or to integers rounding to zero.
const SIGNED: u32 = 1;
const WIDE_OR_TO_ZERO: u32 = 2;

const SIGN: u32 = 1 << 31;

impl Fpu {
    /// Run one of these instructions.
    pub fn compute(&mut self, op: &Op) {
        let mut unit = Arithmetic::new(self.fpscr);
        let (d, n, m) = (self.read(op.rd), self.read(op.rn), self.read(op.rm));
        let value = match op.kind {
            Kind::Vmla | Kind::Vmls | Kind::Vnmla | Kind::Vnmls => {
                let product = unit.multiply(n, m);
                let (addend, product) = match op.kind {
                    Kind::Vmla => (d, product),
                    Kind::Vmls => (d, negated(product)),
                    Kind::Vnmla => (negated(d), negated(product)),
                    _ => (negated(d), product),
                };
                unit.add(addend, product)
            }
            Kind::Vfma => unit.multiply_add(d, n, m),
            Kind::Vfms => unit.multiply_add(d, negated(n), m),
            Kind::Vfnma => unit.multiply_add(negated(d), negated(n), m),
            Kind::Vfnms => unit.multiply_add(negated(d), n, m),
            Kind::Vmul => unit.multiply(n, m),
            Kind::Vnmul => negated(unit.multiply(n, m)),
            Kind::Vadd => unit.add(n, m),
            Kind::Vsub => unit.subtract(n, m),
            Kind::Vdiv => unit.divide(n, m),
            Kind::Vsqrt => unit.square_root(m),
            Kind::VcvtFromInt => {
                let rounding = unit.rounding();
                unit.of_fixed_point(integer(m, op.imm & SIGNED != 0, 32), 0, rounding)
            }
            Kind::VcvtToInt => {
                let rounding = if op.imm & WIDE_OR_TO_ZERO == 0 {
                    unit.rounding()
                } else {
                    Rounding::Zero
                };
                unit.fixed_point(m, 0, range(op.imm & SIGNED != 0, 32), rounding) as u32
            }
            Kind::VcvtFromFixed => {
                let value = integer(d, op.imm & SIGNED != 0, width(op));
                unit.of_fixed_point(value, op.amount, Rounding::Nearest)
            }
            Kind::VcvtToFixed => {
                // Extended to the register by its sign.
                let range = range(op.imm & SIGNED != 0, width(op));
                unit.fixed_point(d, op.amount, range, Rounding::Zero) as u32
            }
            Kind::VcvtFromHalf => {
                let shift = if op.imm & E_OR_TOP == 0 { 0 } else { 16 };
                unit.of_half_precision(m >> shift & 0xffff)
            }
            Kind::VcvtToHalf => {
                let shift = if op.imm & E_OR_TOP == 0 { 0 } else { 16 };
                d & !(0xffff << shift) | unit.half_precision(m) << shift
            }
            Kind::Vcmp | Kind::VcmpZero => {
                let other = if op.kind == Kind::Vcmp { m } else { 0 };
                let conditions = unit.compare(d, other, op.imm & E_OR_TOP != 0);
                self.fpscr = unit.fpscr() & !CONDITIONS | conditions;
                return;
            }
            Kind::VmovImm => op.imm,
            Kind::Vabs => m & !SIGN,
            Kind::Vneg => negated(m),
            _ => m, // VMOV
        };
        self.write(op.rd, value);
        self.fpscr = unit.fpscr();
    }
}

const fn width(op: &Op) -> u32 {
    if op.imm & WIDE_OR_TO_ZERO == 0 {
        16
    } else {
        32
    }
}

/// The low bits of a word as an integer.
const fn integer(value: u32, signed: bool, bits: u32) -> i64 {
    let top = value << (32 - bits);
    if signed {
        (top as i32 >> (32 - bits)) as i64
    } else {
        (top >> (32 - bits)) as i64
    }
}

/// The integers of so many bits.
const fn range(signed: bool, bits: u32) -> (i64, i64) {
    if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_is_rounded_to_the_nearest_whatever_fpscr_says() {
        for mode in 0..4 {
            for value in [0x0100_0001_u32, 0x0100_0003, 0x7fff_ffbf, 0xfeff_ffff] {
                let mut fpu = Fpu::default();
                fpu.set_fpscr(mode << 22);
                fpu.write(1, value);
                fpu.compute(&Op {
                    rd: 1,
                    rm: 1,
                    ..Op::of(Kind::VcvtFromFixed, 4).imm(SIGNED | WIDE_OR_TO_ZERO)
                });
                #[allow(clippy::cast_precision_loss)] // what is compared
                let nearest = value.cast_signed() as f32;
                assert_eq!(fpu.read(1), nearest.to_bits(), "{value:x}, mode {mode}");
            }
        }
    }
}
