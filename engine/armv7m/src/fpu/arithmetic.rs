//! Single-precision arithmetic as the extension does it, by integers: rounding modes, flush to zero, default
//! NaN, alternative half precision, and the cumulative exception bits (ARM DDI 0403E.e, A2.5 and the functions
//! of the appendix on pseudocode, whose names the comments give).

/// Bits of FPSCR (A2.5.3).
pub const AHP: u32 = 1 << 26;
pub const DN: u32 = 1 << 25;
pub const FZ: u32 = 1 << 24;
pub const IDC: u32 = 1 << 7;
pub const IXC: u32 = 1 << 4;
pub const UFC: u32 = 1 << 3;
pub const OFC: u32 = 1 << 2;
pub const DZC: u32 = 1 << 1;
pub const IOC: u32 = 1;

const SIGN: u32 = 1 << 31;
const QUIET: u32 = 1 << 22;
const INFINITY: u32 = 0x7f80_0000;
const DEFAULT_NAN: u32 = 0x7fc0_0000;
const HALF_SIGN: u32 = 1 << 15;
const HALF_INFINITY: u32 = 0x7c00;
const HALF_DEFAULT_NAN: u32 = 0x7e00;

/// `FPSCR.RMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Up,
    Down,
    Zero,
}

/// A format that results are rounded to.
struct Format {
    /// Bits of the fraction, without the leading 1.
    fraction: i32,
    bias: i32,
    /// The exponent field that stands for infinity, or one more than the greatest where there is none.
    beyond: i32,
}

const SINGLE: Format = Format {
    fraction: 23,
    bias: 127,
    beyond: 255,
};
const HALF: Format = Format {
    fraction: 10,
    bias: 15,
    beyond: 31,
};
/// Its greatest exponent is one of numbers.
const ALTERNATIVE_HALF: Format = Format { beyond: 32, ..HALF };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Nan,
    Infinity,
    Zero,
    Number,
}

/// A value: of a number, `significand` times 2 to the power of `exponent`.
#[derive(Clone, Copy, Debug)]
struct Value {
    class: Class,
    negative: bool,
    exponent: i32,
    significand: u64,
}

/// An operation under way: what FPSCR asks for, and the exceptions so far.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic {
    fpscr: u32,
}

/// The same value with the other sign (`FPNeg`).
pub const fn negated(value: u32) -> u32 {
    value ^ SIGN
}

const fn is_nan(value: u32) -> bool {
    value & !SIGN > INFINITY
}

const fn is_signaling(value: u32) -> bool {
    is_nan(value) && value & QUIET == 0
}

/// A shift to the right that keeps in bit 0 whether something was lost.
const fn shifted_sticky(value: u128, by: u32) -> u128 {
    if by >= 128 {
        return (value != 0) as u128;
    }
    let lost = value & ((1 << by) - 1);
    value >> by | (lost != 0) as u128
}

impl Arithmetic {
    /// With what FPSCR holds.
    pub const fn new(fpscr: u32) -> Self {
        Self { fpscr }
    }

    /// FPSCR with the exceptions that came.
    pub const fn fpscr(self) -> u32 {
        self.fpscr
    }

    pub const fn rounding(self) -> Rounding {
        match self.fpscr >> 22 & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::Zero,
        }
    }

    const fn is(self, bit: u32) -> bool {
        self.fpscr & bit != 0
    }

    fn invalid(&mut self) -> u32 {
        self.fpscr |= IOC;
        DEFAULT_NAN
    }

    /// `FPUnpack`: a denormal number is zero where FZ is set.
    fn unpack(&mut self, bits: u32) -> Value {
        let (exponent, fraction) = (bits >> 23 & 0xff, bits & 0x7f_ffff);
        let mut value = Value {
            class: Class::Number,
            negative: bits & SIGN != 0,
            exponent: exponent.max(1).cast_signed() - 150,
            significand: u64::from(fraction | u32::from(exponent != 0) << 23),
        };
        value.class = match (exponent, fraction) {
            (0, 0) => Class::Zero,
            (0, _) if self.is(FZ) => {
                self.fpscr |= IDC;
                Class::Zero
            }
            (255, 0) => Class::Infinity,
            (255, _) => Class::Nan,
            _ => Class::Number,
        };
        value
    }

    /// `FPProcessNaNs` and `FPProcessNaNs3`: the first signaling one, or the first quiet one.
    fn nan_of(&mut self, operands: &[u32]) -> Option<u32> {
        let signaling = operands.iter().find(|&&operand| is_signaling(operand));
        let found = signaling.or_else(|| operands.iter().find(|&&operand| is_nan(operand)))?;
        if signaling.is_some() {
            self.fpscr |= IOC;
        }
        Some(if self.is(DN) {
            DEFAULT_NAN
        } else {
            found | QUIET
        })
    }

    /// `FPRound`: the nearest value of a format to `significand` times 2 to the power of `exponent`, of which
    /// bit 0 may be sticky. Tininess is found before rounding.
    fn round(
        &mut self,
        format: &Format,
        negative: bool,
        exponent: i32,
        significand: u128,
        rounding: Rounding,
    ) -> u32 {
        let (least, width) = (1 - format.bias, format.fraction);
        let sign = u32::from(negative) << if format.bias == SINGLE.bias { 31 } else { 15 };
        let top = exponent + 127 - significand.leading_zeros().cast_signed();
        let is_tiny = top < least;
        if is_tiny && self.is(FZ) && format.bias == SINGLE.bias {
            self.fpscr |= UFC;
            return sign;
        }
        let mut unit = top.max(least) - width;
        let shift = unit - exponent;
        let (mut kept, rest) = if shift <= 0 {
            (significand << shift.unsigned_abs(), 0)
        } else {
            // A guard bit and a sticky one are left of what is below the unit.
            let left = shifted_sticky(significand << 2, shift.unsigned_abs());
            (left >> 2, left & 3)
        };
        let up = match rounding {
            Rounding::Nearest => rest > 2 || (rest == 2 && kept & 1 != 0),
            Rounding::Up => rest != 0 && !negative,
            Rounding::Down => rest != 0 && negative,
            Rounding::Zero => false,
        };
        kept += u128::from(up);
        if kept >> (width + 1) != 0 {
            kept >>= 1;
            unit += 1;
        }
        let is_normal = kept >> width != 0;
        let field = if is_normal {
            unit + width + format.bias
        } else {
            0
        };
        if field >= format.beyond {
            if format.beyond == ALTERNATIVE_HALF.beyond {
                self.fpscr |= IOC;
                return sign | 0x7fff;
            }
            self.fpscr |= OFC | IXC;
            let to_infinity = match rounding {
                Rounding::Nearest => true,
                Rounding::Up => !negative,
                Rounding::Down => negative,
                Rounding::Zero => false,
            };
            let infinity = format.beyond.cast_unsigned() << width;
            return sign | (infinity - u32::from(!to_infinity));
        }
        if rest != 0 {
            self.fpscr |= IXC | if is_tiny { UFC } else { 0 };
        }
        let fraction = kept as u32 & ((1 << width) - 1);
        sign | field.cast_unsigned() << width | fraction
    }

    fn round_single(&mut self, negative: bool, exponent: i32, significand: u128) -> u32 {
        let rounding = self.rounding();
        self.round(&SINGLE, negative, exponent, significand, rounding)
    }

    /// The sum of two numbers, of which each is no more than 48 bits.
    fn sum(&mut self, x: Value, y: Value) -> u32 {
        let (high, low) = if x.exponent >= y.exponent {
            (x, y)
        } else {
            (y, x)
        };
        let apart = (high.exponent - low.exponent).unsigned_abs();
        let up = apart.min(64);
        let signed = |value: u128, negative: bool| {
            let value = value.cast_signed();
            if negative { -value } else { value }
        };
        let sum = signed(u128::from(high.significand) << up, high.negative)
            + signed(
                shifted_sticky(u128::from(low.significand), apart - up),
                low.negative,
            );
        if sum == 0 {
            return u32::from(self.rounding() == Rounding::Down) << 31;
        }
        let exponent = high.exponent - up.cast_signed();
        self.round_single(sum < 0, exponent, sum.unsigned_abs())
    }

    /// `FPAdd`.
    pub fn add(&mut self, x: u32, y: u32) -> u32 {
        let (a, b) = (self.unpack(x), self.unpack(y));
        if let Some(nan) = self.nan_of(&[x, y]) {
            return nan;
        }
        self.add_values(a, b)
    }

    /// `FPSub`: of a NaN the sign stays.
    pub fn subtract(&mut self, x: u32, y: u32) -> u32 {
        self.add(x, if is_nan(y) { y } else { negated(y) })
    }

    fn add_values(&mut self, a: Value, b: Value) -> u32 {
        let infinity = |value: Value| INFINITY | u32::from(value.negative) << 31;
        match (a.class, b.class) {
            (Class::Infinity, Class::Infinity) if a.negative != b.negative => self.invalid(),
            (Class::Infinity, _) => infinity(a),
            (_, Class::Infinity) => infinity(b),
            (Class::Zero, Class::Zero) if a.negative == b.negative => u32::from(a.negative) << 31,
            (Class::Zero, Class::Zero) => u32::from(self.rounding() == Rounding::Down) << 31,
            (Class::Zero, _) => {
                self.round_single(b.negative, b.exponent, u128::from(b.significand))
            }
            (_, Class::Zero) => {
                self.round_single(a.negative, a.exponent, u128::from(a.significand))
            }
            _ => self.sum(a, b),
        }
    }

    /// `FPMul`.
    pub fn multiply(&mut self, x: u32, y: u32) -> u32 {
        let (a, b) = (self.unpack(x), self.unpack(y));
        if let Some(nan) = self.nan_of(&[x, y]) {
            return nan;
        }
        let sign = (x ^ y) & SIGN;
        match (a.class, b.class) {
            (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity) => self.invalid(),
            (Class::Infinity, _) | (_, Class::Infinity) => sign | INFINITY,
            (Class::Zero, _) | (_, Class::Zero) => sign,
            _ => {
                let product = u128::from(a.significand * b.significand);
                self.round_single(sign != 0, a.exponent + b.exponent, product)
            }
        }
    }

    /// `FPMulAdd`: the addend plus the product, rounded once.
    pub fn multiply_add(&mut self, addend: u32, x: u32, y: u32) -> u32 {
        let added = self.unpack(addend);
        let (a, b) = (self.unpack(x), self.unpack(y));
        let is_invalid = matches!(
            (a.class, b.class),
            (Class::Infinity, Class::Zero) | (Class::Zero, Class::Infinity)
        );
        let nan = self.nan_of(&[addend, x, y]);
        if is_invalid && (nan.is_none() || (is_nan(addend) && !is_signaling(addend))) {
            return self.invalid();
        }
        if let Some(nan) = nan {
            return nan;
        }
        let class = match (a.class, b.class) {
            (Class::Infinity, _) | (_, Class::Infinity) => Class::Infinity,
            (Class::Zero, _) | (_, Class::Zero) => Class::Zero,
            _ => Class::Number,
        };
        let product = Value {
            class,
            negative: a.negative != b.negative,
            exponent: a.exponent + b.exponent,
            significand: a.significand * b.significand,
        };
        self.add_values(added, product)
    }

    /// `FPDiv`.
    pub fn divide(&mut self, x: u32, y: u32) -> u32 {
        let (a, b) = (self.unpack(x), self.unpack(y));
        if let Some(nan) = self.nan_of(&[x, y]) {
            return nan;
        }
        let sign = (x ^ y) & SIGN;
        match (a.class, b.class) {
            (Class::Infinity, Class::Infinity) | (Class::Zero, Class::Zero) => self.invalid(),
            (Class::Infinity, _) => sign | INFINITY,
            (_, Class::Zero) => {
                self.fpscr |= DZC;
                sign | INFINITY
            }
            (Class::Zero, _) | (_, Class::Infinity) => sign,
            _ => {
                // With 80 bits more the quotient has at least 57 bits.
                let (above, below) = (u128::from(a.significand) << 80, u128::from(b.significand));
                let quotient = (above / below) | u128::from(!above.is_multiple_of(below));
                self.round_single(sign != 0, a.exponent - b.exponent - 80, quotient)
            }
        }
    }

    /// `FPSqrt`.
    pub fn square_root(&mut self, x: u32) -> u32 {
        let a = self.unpack(x);
        if let Some(nan) = self.nan_of(&[x]) {
            return nan;
        }
        match a.class {
            Class::Zero => x & SIGN,
            _ if a.negative => self.invalid(),
            Class::Infinity => INFINITY,
            _ => {
                let odd = a.exponent.rem_euclid(2);
                let square = u128::from(a.significand) << (80 + odd);
                let root = square.isqrt();
                let sticky = root | u128::from(root * root != square);
                self.round_single(false, (a.exponent - odd - 80) / 2, sticky)
            }
        }
    }

    /// `FPCompare`: N, Z, C and V, where FPSCR has them. A quiet NaN is invalid too where `signals`.
    pub fn compare(&mut self, x: u32, y: u32, signals: bool) -> u32 {
        let (a, b) = (self.unpack(x), self.unpack(y));
        if is_nan(x) || is_nan(y) {
            if signals || is_signaling(x) || is_signaling(y) {
                self.fpscr |= IOC;
            }
            return 0x3000_0000;
        }
        // Magnitudes are ordered as their bits are.
        let ordered = |value: Value, bits: u32| {
            let magnitude = if value.class == Class::Zero {
                0
            } else {
                (bits & !SIGN).cast_signed()
            };
            if value.negative {
                -magnitude
            } else {
                magnitude
            }
        };
        match ordered(a, x).cmp(&ordered(b, y)) {
            std::cmp::Ordering::Less => 0x8000_0000,
            std::cmp::Ordering::Equal => 0x6000_0000,
            std::cmp::Ordering::Greater => 0x2000_0000,
        }
    }

    /// `FixedToFP` of an integer with so many bits behind the point.
    pub fn of_fixed_point(&mut self, value: i64, fraction_bits: u8, rounding: Rounding) -> u32 {
        if value == 0 {
            return 0;
        }
        let magnitude = u128::from(value.unsigned_abs());
        let exponent = -i32::from(fraction_bits);
        self.round(&SINGLE, value < 0, exponent, magnitude, rounding)
    }

    /// `FPToFixed`: the nearest number with so many bits behind the point from `range`.
    pub fn fixed_point(
        &mut self,
        x: u32,
        fraction_bits: u8,
        range: (i64, i64),
        rounding: Rounding,
    ) -> i64 {
        let a = self.unpack(x);
        let beyond = if a.negative { range.0 } else { range.1 };
        match a.class {
            Class::Nan => {
                self.fpscr |= IOC;
                return 0;
            }
            Class::Infinity => {
                self.fpscr |= IOC;
                return beyond;
            }
            Class::Zero => return 0,
            Class::Number => {}
        }
        let exponent = a.exponent + i32::from(fraction_bits);
        // No integer of 33 bits or more is in a range.
        let scaled = u128::from(a.significand) << (2 + exponent.clamp(0, 38));
        let scaled = shifted_sticky(scaled, (-exponent).max(0).unsigned_abs());
        let (whole, rest) = ((scaled >> 2).cast_signed() as i64, scaled & 3);
        let up = match rounding {
            Rounding::Nearest => rest > 2 || (rest == 2 && whole & 1 != 0),
            Rounding::Up => rest != 0 && !a.negative,
            Rounding::Down => rest != 0 && a.negative,
            Rounding::Zero => false,
        };
        let magnitude = whole + i64::from(up);
        let value = if a.negative { -magnitude } else { magnitude };
        if exponent > 38 || !(range.0..=range.1).contains(&value) {
            self.fpscr |= IOC;
            return beyond;
        }
        if rest != 0 {
            self.fpscr |= IXC;
        }
        value
    }

    /// `FPHalfToSingle`.
    pub fn of_half_precision(&mut self, half: u32) -> u32 {
        let sign = (half & HALF_SIGN) << 16;
        let (exponent, fraction) = (half >> 10 & 31, half & 0x3ff);
        if exponent == 31 && !self.is(AHP) {
            if fraction == 0 {
                return sign | INFINITY;
            }
            if fraction & 0x200 == 0 {
                self.fpscr |= IOC;
            }
            return if self.is(DN) {
                DEFAULT_NAN
            } else {
                sign | DEFAULT_NAN | fraction << 13
            };
        }
        let significand = fraction | u32::from(exponent != 0) << 10;
        if significand == 0 {
            return sign;
        }
        let exponent = exponent.max(1).cast_signed() - 25;
        self.round_single(sign != 0, exponent, u128::from(significand))
    }

    /// `FPSingleToHalf`.
    pub fn half_precision(&mut self, x: u32) -> u32 {
        let a = self.unpack(x);
        let sign = x >> 16 & HALF_SIGN;
        let alternative = self.is(AHP);
        match a.class {
            Class::Nan => {
                if is_signaling(x) || alternative {
                    self.fpscr |= IOC;
                }
                if alternative {
                    sign
                } else if self.is(DN) {
                    HALF_DEFAULT_NAN
                } else {
                    sign | HALF_DEFAULT_NAN | x >> 13 & 0x1ff
                }
            }
            Class::Infinity if alternative => {
                self.fpscr |= IOC;
                sign | 0x7fff
            }
            Class::Infinity => sign | HALF_INFINITY,
            Class::Zero => sign,
            Class::Number => {
                let format = if alternative {
                    &ALTERNATIVE_HALF
                } else {
                    &HALF
                };
                let rounding = self.rounding();
                let significand = u128::from(a.significand);
                self.round(format, a.negative, a.exponent, significand, rounding)
            }
        }
    }
}
