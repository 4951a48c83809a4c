//! The flags, and what sets them.

use crate::decode::Kind;

/// N is the top bit of `negative`, and Z says that `nonzero` is 0.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    pub negative: u32,
    pub nonzero: u32,
    pub carry: bool,
    pub overflow: bool,
}

impl Flags {
    /// The flags of a program status register.
    pub const fn of(status: u32) -> Self {
        Self {
            negative: status,
            nonzero: !status & 1 << 30,
            carry: status >> 29 & 1 != 0,
            overflow: status >> 28 & 1 != 0,
        }
    }

    pub const fn n(self) -> bool {
        self.negative >> 31 != 0
    }

    pub const fn z(self) -> bool {
        self.nonzero == 0
    }

    /// Their bits of a program status register.
    pub fn bits(self) -> u32 {
        u32::from(self.n()) << 31
            | u32::from(self.z()) << 30
            | u32::from(self.carry) << 29
            | u32::from(self.overflow) << 28
    }

    /// N and Z of a value, which is returned.
    #[inline]
    fn test(&mut self, value: u32) -> u32 {
        (self.negative, self.nonzero) = (value, value);
        value
    }

    /// The sum of two words and a carry, with all flags.
    #[inline]
    fn add(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let (part, first) = a.overflowing_add(b);
        let (sum, second) = part.overflowing_add(carry.into());
        self.carry = first || second;
        self.overflow = (a ^ sum) & (b ^ sum) & 1 << 31 != 0;
        self.test(sum)
    }

    /// A shift by 0 to 255.
    #[inline]
    fn shift(&mut self, kind: Kind, a: u32, by: u32) -> u32 {
        if by == 0 {
            return self.test(a);
        }
        let shifted = match kind {
            Kind::LslBy => {
                self.carry = by <= 32 && a >> (32 - by) & 1 != 0;
                a.checked_shl(by).unwrap_or(0)
            }
            Kind::LsrBy => {
                self.carry = by <= 32 && a >> (by - 1) & 1 != 0;
                a.checked_shr(by).unwrap_or(0)
            }
            Kind::AsrBy => {
                let by = by.min(32);
                self.carry = (a as i32 >> (by - 1)) & 1 != 0;
                (i64::from(a as i32) >> by) as u32
            }
            _ => {
                let rotated = a.rotate_right(by & 31);
                self.carry = rotated >> 31 != 0;
                rotated
            }
        };
        self.test(shifted)
    }

    #[inline]
    pub fn hold(self, condition: u8) -> bool {
        let (n, z) = (self.n(), self.z());
        let holds = match condition >> 1 {
            0 => z,
            1 => self.carry,
            2 => n,
            3 => self.overflow,
            4 => self.carry && !z,
            5 => n == self.overflow,
            6 => n == self.overflow && !z,
            _ => true,
        };
        holds != (condition & 1 != 0)
    }

    /// What an instruction with [`Kind::computes`] leaves in its destination, which holds `d`.
    #[inline]
    pub fn compute(&mut self, kind: Kind, d: u32, a: u32, b: u32) -> u32 {
        match kind {
            Kind::Lsl => self.shift(Kind::LslBy, a, b),
            Kind::Lsr => self.shift(Kind::LsrBy, a, b),
            Kind::Asr => self.shift(Kind::AsrBy, a, b),
            Kind::LslBy => self.shift(Kind::LslBy, d, b & 0xff),
            Kind::LsrBy => self.shift(Kind::LsrBy, d, b & 0xff),
            Kind::AsrBy => self.shift(Kind::AsrBy, d, b & 0xff),
            Kind::RorBy => self.shift(Kind::RorBy, d, b & 0xff),
            Kind::Add => self.add(a, b, false),
            Kind::Sub => self.add(a, !b, true),
            Kind::Adc => self.add(d, b, self.carry),
            Kind::Sbc => self.add(d, !b, self.carry),
            Kind::Rsb => self.add(!a, 0, true),
            Kind::Cmp => {
                self.add(a, !b, true);
                d
            }
            Kind::Cmn => {
                self.add(a, b, false);
                d
            }
            Kind::Tst => {
                self.test(d & b);
                d
            }
            Kind::Mov => self.test(b),
            Kind::And => self.test(d & b),
            Kind::Eor => self.test(d ^ b),
            Kind::Orr => self.test(d | b),
            Kind::Bic => self.test(d & !b),
            Kind::Mvn => self.test(!b),
            Kind::Mul => self.test(a.wrapping_mul(b)),
            Kind::Sxth => b as i16 as u32,
            Kind::Sxtb => b as i8 as u32,
            Kind::Uxth => b & 0xffff,
            Kind::Uxtb => b & 0xff,
            Kind::Rev => b.swap_bytes(),
            Kind::Rev16 => b.swap_bytes().rotate_right(16),
            Kind::Revsh => (b as u16).swap_bytes() as i16 as u32,
            _ => d,
        }
    }
}
