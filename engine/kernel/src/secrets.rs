//! Secrets followed through a machine: which bits depend on a secret, and what those decide.
//!
//! A core that follows secrets keeps, beside each bit of its registers and memory, whether that bit
//! could be another one if a secret were another one while the program took the same path. Such a
//! bit is called secret here. The answer errs to one side: a bit that could differ is always secret.
//! It is exact for logic, shifts and moves, and for sums; of products and quotients it knows only
//! from where to where bits may differ.

use std::collections::BTreeMap;
use std::ops::Range;

/// The secrets that a value comes from: a bit each, see [`Piece`].
pub type Origins = u64;

/// Bytes that hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte's address.
    pub address: u32,
    /// How many.
    pub length: u32,
    /// The bit of these bytes in [`Origins`].
    pub origin: Origins,
}

/// What a secret decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decides {
    /// Whether a branch is taken.
    Branch,
    /// Which instructions behind it are executed, and which are skipped.
    Condition,
    /// The same, where it takes as long to skip them: which of two results there is.
    Select,
    /// Where a branch goes.
    Target,
    /// The address of data.
    Address,
    /// How long the instruction takes.
    Time,
    /// The address that a bus master other than the core reads or writes.
    Pointer,
    /// When or whether an exception or interrupt is taken, or where it goes.
    Exception,
    /// Which instruction is executed: its own bits are secret.
    Code,
}

impl Decides {
    /// The name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Condition => "condition",
            Self::Select => "select",
            Self::Target => "target",
            Self::Address => "address",
            Self::Time => "time",
            Self::Pointer => "pointer",
            Self::Exception => "exception",
            Self::Code => "code",
        }
    }
}

/// An instruction that uses a secret to decide something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// How often.
    pub times: u64,
    /// Which secrets, in all of those times.
    pub origins: Origins,
    /// Cycles between the longest and the shortest that it can take; `None` where that depends on
    /// what comes after it.
    pub extra_cycles: Option<u32>,
    /// Of an address: the lowest and the highest that it can be.
    pub span: (u32, u32),
    /// The instruction that set the flags which decide; otherwise the instruction itself.
    pub decided_at: u32,
    /// Return addresses of the calls that led to it the first time, outermost first.
    pub calls: Vec<u32>,
}

/// One time that a secret decides something; see [`Use`].
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Which secrets.
    pub origins: Origins,
    /// See [`Use::extra_cycles`].
    pub extra_cycles: Option<u32>,
    /// See [`Use::span`].
    pub span: (u32, u32),
    /// See [`Use::decided_at`].
    pub decided_at: u32,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// By the instruction's address.
    pub uses: BTreeMap<(u32, Decides), Use>,
    /// How many instructions were executed, each counted once.
    pub reached: usize,
    /// Conditional branches, and IT instructions, that went the same way every time: their address,
    /// and whether that was the taken way.
    pub one_way: Vec<(u32, bool)>,
    /// Device registers that secrets were written to, or that a device has read them by, with those
    /// secrets: what a device makes of them is not followed.
    pub devices: BTreeMap<u32, Origins>,
    /// Stores whose address depends on a secret so widely that not all of what they may change is
    /// marked.
    pub lost: Vec<u32>,
}

/// Bits of a value and, of each, whether it is secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The value.
    pub value: u32,
    /// A one for each bit that is secret.
    pub secret: u32,
}

/// A sum, with what leaves its top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The sum.
    pub sum: Word,
    /// The carry out of the top, and whether that is secret.
    pub carry: bool,
    /// See [`Sum::carry`].
    pub carry_is_secret: bool,
    /// Whether the overflow of numbers with a sign is secret.
    pub overflow_is_secret: bool,
}

// The names are the operations' names, and no operator carries what they need.
#[allow(clippy::should_implement_trait)]
impl Word {
    /// A value without a secret.
    pub const fn public(value: u32) -> Self {
        Self { value, secret: 0 }
    }

    /// A value.
    pub const fn new(value: u32, secret: u32) -> Self {
        Self { value, secret }
    }

    /// The lowest that it can be.
    pub const fn least(self) -> u32 {
        self.value & !self.secret
    }

    /// The highest that it can be.
    pub const fn most(self) -> u32 {
        self.value | self.secret
    }

    /// Bitwise AND: a bit that is zero for sure makes it zero.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            value: self.value & other.value,
            secret: self.secret & other.most() | other.secret & self.most(),
        }
    }

    /// Bitwise OR: a bit that is one for sure makes it one.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            value: self.value | other.value,
            secret: self.secret & !other.least() | other.secret & !self.least(),
        }
    }

    /// Bitwise exclusive OR.
    #[inline]
    #[must_use]
    pub const fn xor(self, other: Self) -> Self {
        Self {
            value: self.value ^ other.value,
            secret: self.secret | other.secret,
        }
    }

    /// All bits inverted.
    #[inline]
    #[must_use]
    pub const fn not(self) -> Self {
        Self {
            value: !self.value,
            secret: self.secret,
        }
    }

    /// The sum of numbers of up to 32 bits and a carry.
    ///
    /// A carry into a bit never falls when a bit of the summands rises. It can therefore differ only
    /// if it does between the lowest summands and the highest ones.
    #[inline]
    pub const fn add(self, other: Self, carry: Self, bits: u32) -> Sum {
        let mask = u32::MAX >> (32 - bits);
        let value = total(self.value, other.value, carry.value, mask);
        let least = total(self.least(), other.least(), carry.least(), mask);
        let most = total(self.most(), other.most(), carry.most(), mask);
        let below = mask >> 1;
        let into_top = (total(self.least(), other.least(), carry.least(), below)
            ^ total(self.most(), other.most(), carry.most(), below))
            >> (bits - 1)
            & 1;
        let carry_is_secret = (least ^ most) >> bits & 1 != 0;
        Sum {
            sum: Self {
                value: value as u32 & mask,
                secret: (self.secret | other.secret | (least ^ most) as u32) & mask,
            },
            carry: value >> bits & 1 != 0,
            carry_is_secret,
            overflow_is_secret: carry_is_secret || into_top != 0,
        }
    }

    /// Which bits of a product of 64 bits are secret.
    ///
    /// Below what the lowest secret bit is multiplied with, none is; and above the highest product,
    /// none if the factors have no sign.
    pub const fn product(self, other: Self, signed: bool) -> u64 {
        if self.secret | other.secret == 0 {
            return 0;
        }
        let (here, there) = (lowest(self, other), lowest(other, self));
        let from = if here < there { here } else { there };
        if from >= 64 {
            return 0;
        }
        let may_be_negative = signed && (self.most() | other.most()) >> 31 != 0;
        let top = if may_be_negative {
            64
        } else {
            64 - (self.most() as u64 * other.most() as u64).leading_zeros()
        };
        if top <= from {
            return 0;
        }
        (u64::MAX >> (64 - top)) & (u64::MAX << from)
    }

    /// Whether it depends on a secret that the value is zero.
    #[inline]
    pub const fn zero_is_secret(self) -> bool {
        self.secret != 0 && self.least() == 0
    }

    /// Which bits are still secret where it is known whether the value is the same as another.
    pub const fn compared(self, other: Self, equal: bool) -> u32 {
        let is_of_two = self.secret.is_power_of_two() && other.secret == 0;
        if equal {
            self.secret & other.secret
        } else if is_of_two && self.value ^ self.secret == other.value {
            // It is the other one of two values.
            0
        } else {
            self.secret
        }
    }

    /// Whether it depends on a secret that a number of 32 bits without sign is less than another.
    #[inline]
    pub const fn is_less_secret(self, other: Self) -> bool {
        let always = self.most() < other.least();
        let never = self.least() >= other.most();
        !always && !never
    }

    /// Which bits of the number of leading zeros are secret.
    pub const fn leading_zeros(self) -> u32 {
        let (least, most) = (self.most().leading_zeros(), self.least().leading_zeros());
        match least ^ most {
            0 => 0,
            differ => u32::MAX >> differ.leading_zeros(),
        }
    }
}

const fn total(x: u32, y: u32, carry: u32, mask: u32) -> u64 {
    (x & mask) as u64 + (y & mask) as u64 + (carry & 1) as u64
}

/// The lowest bit of a product that a secret bit of one factor changes; 64 where none does.
const fn lowest(of: Word, by: Word) -> u32 {
    if of.secret == 0 || by.most() == 0 {
        return 64;
    }
    of.secret.trailing_zeros() + by.most().trailing_zeros()
}

/// A sum of 64 bits: which bits are secret.
pub const fn sum_of_64(x: (u64, u64), y: (u64, u64)) -> u64 {
    let least = (x.0 & !x.1).wrapping_add(y.0 & !y.1);
    let most = (x.0 | x.1).wrapping_add(y.0 | y.1);
    x.1 | y.1 | (least ^ most)
}

/// Which registers hold copies of a secret: what is known of one is known of the others.
#[derive(Clone, Copy, Debug)]
pub struct Copies<const REGISTERS: usize>([u32; REGISTERS]);

impl<const REGISTERS: usize> Default for Copies<REGISTERS> {
    fn default() -> Self {
        Self([0; REGISTERS])
    }
}

impl<const REGISTERS: usize> Copies<REGISTERS> {
    /// A register is written, and no copy of others any more.
    #[inline]
    pub fn write(&mut self, number: usize) {
        if self.0[number] != 0 {
            self.part(number);
        }
    }

    #[cold]
    fn part(&mut self, number: usize) {
        self.0[number] = 0;
        for others in &mut self.0 {
            *others &= !(1 << number);
        }
    }

    /// A register has become a copy of another one.
    #[cold]
    pub fn copy(&mut self, number: usize, of: usize) {
        let all = self.0[of] | 1 << of | 1 << number;
        for (number, others) in self.0.iter_mut().enumerate() {
            if all >> number & 1 != 0 {
                *others = all & !(1 << number);
            }
        }
    }

    /// A register, and its copies.
    pub fn of(&self, number: usize) -> impl Iterator<Item = usize> {
        let all = self.0[number] | 1 << number;
        (0..REGISTERS).filter(move |&number| all >> number & 1 != 0)
    }
}

/// What was found, while it is being found.
#[derive(Clone, Debug, Default)]
pub struct Finds {
    report: Report,
    /// Code whose decisions may be known, and what follows from them with them.
    public_code: Vec<Range<u32>>,
    /// Whether anything is kept: only within what is measured.
    pub is_on: bool,
}

impl Finds {
    /// What instructions in these ranges decide may be known.
    pub fn set_public_code(&mut self, ranges: &[Range<u32>]) {
        self.public_code = ranges.to_vec();
    }

    /// Whether it may be known what an instruction decides by flags that another has set.
    #[cold]
    pub fn is_public(&self, address: u32, decided_at: u32) -> bool {
        let mut ranges = self.public_code.iter();
        ranges.any(|range| range.contains(&address) || range.contains(&decided_at))
    }

    /// A secret decides something.
    #[cold]
    pub fn note(
        &mut self,
        address: u32,
        decides: Decides,
        now: Found,
        calls: impl FnOnce() -> Vec<u32>,
    ) {
        if !self.is_on {
            return;
        }
        let all = self.report.uses.entry((address, decides));
        let all = all.or_insert_with(|| Use {
            times: 0,
            origins: 0,
            extra_cycles: now.extra_cycles,
            span: now.span,
            decided_at: now.decided_at,
            calls: calls(),
        });
        all.times += 1;
        all.origins |= now.origins;
        // What depends on what comes after it may cost anything.
        all.extra_cycles = all
            .extra_cycles
            .zip(now.extra_cycles)
            .map(|(x, y)| x.max(y));
        all.span = (all.span.0.min(now.span.0), all.span.1.max(now.span.1));
    }

    /// A secret goes to a device's register.
    #[cold]
    pub fn note_device(&mut self, register: u32, origins: Origins) {
        if self.is_on {
            *self.report.devices.entry(register).or_default() |= origins;
        }
    }

    /// Not all of what a store may change can be marked.
    #[cold]
    pub fn note_lost(&mut self, address: u32) {
        if self.is_on && !self.report.lost.contains(&address) {
            self.report.lost.push(address);
        }
    }

    /// What was found, with what was reached of the code.
    pub fn report(&self, places: impl Iterator<Item = (u32, u8)>) -> Report {
        let mut report = self.report.clone();
        for (address, passed) in places {
            report.reached += usize::from(passed & passed::HERE != 0);
            match passed & (passed::TAKEN | passed::NOT_TAKEN) {
                passed::TAKEN => report.one_way.push((address, true)),
                passed::NOT_TAKEN => report.one_way.push((address, false)),
                _ => {}
            }
        }
        report.one_way.sort_unstable();
        report
    }
}

/// How control passed an instruction.
pub mod passed {
    /// It was executed.
    pub const HERE: u8 = 1;
    /// It branched.
    pub const TAKEN: u8 = 2;
    /// It is conditional, and did not branch.
    pub const NOT_TAKEN: u8 = 4;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All words of so few bits, with all choices of secret bits: each operation's secret bits are
    /// those that differ between any two values that the operands can have.
    fn check_all(
        bits: u32,
        is_exact: bool,
        values: impl Fn(u32, u32) -> u64,
        secrets: impl Fn(Word, Word) -> u64,
    ) {
        let all = 1_u32 << bits;
        for (x, sx) in (0..all * all).map(|n| (n / all, n % all)) {
            for (y, sy) in (0..all * all).map(|n| (n / all, n % all)) {
                let (a, b) = (Word::new(x, sx), Word::new(y, sy));
                let first = values(x, y);
                let mut differ = 0;
                for p in (0..all).filter(|p| (p ^ x) & !sx == 0) {
                    for q in (0..all).filter(|q| (q ^ y) & !sy == 0) {
                        differ |= values(p, q) ^ first;
                    }
                }
                let said = secrets(a, b);
                assert_eq!(differ & !said, 0, "{a:?} {b:?}: {differ:b}, {said:b}");
                assert!(
                    !is_exact || said == differ,
                    "{a:?} {b:?}: {differ:b}, {said:b}"
                );
            }
        }
    }

    #[test]
    fn logic_is_exact() {
        let of = |word: Word| u64::from(word.secret & 7);
        check_all(3, true, |x, y| u64::from(x & y), |a, b| of(a.and(b)));
        check_all(3, true, |x, y| u64::from(x | y), |a, b| of(a.or(b)));
        check_all(3, true, |x, y| u64::from(x ^ y), |a, b| of(a.xor(b)));
    }

    #[test]
    fn sums_and_their_carries_are_exact() {
        for carry in [
            Word::new(0, 0),
            Word::new(1, 0),
            Word::new(0, 1),
            Word::new(1, 1),
        ] {
            let carries: &[u32] = match (carry.value, carry.secret) {
                (_, 1) => &[0, 1],
                (0, _) => &[0],
                _ => &[1],
            };
            check_all(
                3,
                carry.secret == 0,
                |x, y| u64::from(x + y + carries[0]),
                |a, b| {
                    let sum = a.add(b, carry, 3);
                    u64::from(sum.sum.secret) | u64::from(sum.carry_is_secret) << 3
                },
            );
            for &c in carries {
                let overflows = |x: u32, y: u32| {
                    let sum = x + y + c;
                    u64::from((x ^ sum) & (y ^ sum) & 4 != 0)
                };
                check_all(3, false, overflows, |a, b| {
                    u64::from(a.add(b, carry, 3).overflow_is_secret)
                });
            }
        }
        check_all(
            3,
            false,
            |x, y| u64::from(x + y).wrapping_add(1 << 63),
            |a, b| {
                let wide = |word: Word| (u64::from(word.value), u64::from(word.secret));
                sum_of_64(wide(a), wide(b))
            },
        );
    }

    #[test]
    fn orders_are_exact() {
        check_all(
            3,
            true,
            |x, y| u64::from(x < y),
            |a, b| u64::from(a.is_less_secret(b)),
        );
    }

    #[test]
    fn products_and_leading_zeros_err_to_the_safe_side() {
        check_all(
            3,
            false,
            |x, y| u64::from(x * y),
            |a, b| a.product(b, false),
        );
        let signed = |x: u32| i64::from((x << 29).cast_signed());
        check_all(
            3,
            false,
            |x, y| ((signed(x) * signed(y)) >> 58) as u64,
            |a, b| {
                let up = |word: Word| Word::new(word.value << 29, word.secret << 29);
                // Both factors are 2^29 times as much.
                let product = up(a).product(up(b), true) as i64;
                (product >> 58) as u64
            },
        );
        check_all(
            3,
            false,
            |x, _| u64::from(x.leading_zeros()),
            |a, _| u64::from(a.leading_zeros()),
        );
    }

    #[test]
    fn a_zero_is_public_where_a_public_bit_is_one() {
        assert!(Word::new(0, 1).zero_is_secret());
        assert!(Word::new(1, 1).zero_is_secret());
        assert!(!Word::new(2, 1).zero_is_secret());
        assert!(!Word::new(0, 0).zero_is_secret());
    }
}
