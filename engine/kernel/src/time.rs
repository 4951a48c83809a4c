//! Units of time. All are integers, so that no result depends on rounding order.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A count of the core's clock cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycles(pub u64);

/// A clock frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hertz(pub u32);

/// The frequency of a crystal with an error, in steps of 2^-14 Hz.
///
/// At 32,768 Hz a step is 2 parts in 10^9. The step is a power of two, so that integers can count
/// both periods and seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FineHertz {
    periods: u64,
    /// Base-2 logarithm of the seconds that the periods take.
    shift: u32,
}

/// A span of emulated time; 2^64 ps are 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picoseconds(pub u64);

impl FineHertz {
    const FINEST: u32 = 14;

    /// A nominal frequency plus `ppb` parts in 10^9.
    pub const fn new(nominal: Hertz, ppb: i32) -> Self {
        let billion = 1_000_000_000;
        let exact = ((nominal.0 as i128) << Self::FINEST) * (billion + ppb as i128);
        let steps = ((exact + billion / 2) / billion) as u64;
        let whole = steps.trailing_zeros();
        let common = if whole < Self::FINEST {
            whole
        } else {
            Self::FINEST
        };
        Self {
            periods: steps >> common,
            shift: Self::FINEST - common,
        }
    }

    /// Return whole periods, and the base-2 logarithm of the seconds that they take.
    pub const fn periods(self) -> (u64, u32) {
        (self.periods, self.shift)
    }
}

impl From<Hertz> for FineHertz {
    fn from(hz: Hertz) -> Self {
        Self::new(hz, 0)
    }
}

impl Cycles {
    /// Later than any time that a machine reaches: "no event is due".
    pub const NEVER: Self = Self(u64::MAX);

    /// Convert cycles of a clock to time, rounded down.
    pub const fn at(self, clock: Hertz) -> Picoseconds {
        Picoseconds((self.0 as u128 * 1_000_000_000_000 / clock.0 as u128) as u64)
    }
}

impl Picoseconds {
    /// Later than any time that a machine reaches: "no event is due".
    pub const NEVER: Self = Self(u64::MAX);

    /// Return the first cycle count of `clock` that is not before this time.
    pub const fn cycles(self, clock: Hertz) -> Cycles {
        Cycles((self.0 as u128 * clock.0 as u128).div_ceil(1_000_000_000_000) as u64)
    }
}

/// Return quotient and remainder, with the processor's native division if it is wide enough.
pub fn divide(dividend: u128, divisor: u64) -> (u128, u64) {
    if let Ok(dividend) = u64::try_from(dividend) {
        return (u128::from(dividend / divisor), dividend % divisor);
    }
    let divisor = u128::from(divisor);
    (dividend / divisor, (dividend % divisor) as u64)
}

/// How long a clock's cycles last, in grains: a unit of time so chosen that every cycle is a whole
/// number of them.
///
/// Cycles are counted from the machine's start. The clock may be divided from one whose periods
/// have two lengths, in a repeating pattern of 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Grains per second.
    grains_hz: u64,
    /// Length of a long period in grains.
    long: u64,
    /// Grains by which a short period is shorter.
    saved: u64,
    /// Bitmap of the short ones among 32 periods, from bit 0 on.
    short: u32,
    /// Base-2 logarithm of the periods in a cycle.
    shift: u32,
}

impl Pace {
    /// Periods in a pattern.
    pub const PATTERN: u64 = u32::BITS as u64;

    /// Every cycle lasts 2^`shift` periods of `hz`.
    pub const fn steady(hz: u32, shift: u32) -> Self {
        Self {
            grains_hz: hz as u64,
            long: 1,
            saved: 0,
            short: 0,
            shift,
        }
    }

    /// Every cycle lasts 2^`shift` periods of a crystal.
    pub const fn crystal(frequency: FineHertz, shift: u32) -> Self {
        let (periods, seconds) = frequency.periods();
        Self {
            grains_hz: periods,
            long: 1 << seconds,
            saved: 0,
            short: 0,
            shift,
        }
    }

    /// A cycle lasts 2^`shift` periods; of every 32 periods, those in `short` are of `fast_hz`, the
    /// others of `slow_hz`.
    pub const fn mixed(slow_hz: u32, fast_hz: u32, short: u32, shift: u32) -> Self {
        let (slow, fast) = (slow_hz as u64, fast_hz as u64);
        if short == 0 {
            return Self::steady(slow_hz, shift);
        }
        Self {
            grains_hz: slow * fast,
            long: fast,
            saved: fast - slow,
            short,
            shift,
        }
    }

    /// Grains per second.
    pub const fn grains_hz(&self) -> u64 {
        self.grains_hz
    }

    /// Base-2 logarithm of the periods in a cycle.
    pub const fn shift(&self) -> u32 {
        self.shift
    }

    /// Grains in the first `count` periods of a pattern.
    const fn part(&self, count: u64) -> u64 {
        let short = self.short as u64 & ((1 << count) - 1);
        count * self.long - short.count_ones() as u64 * self.saved
    }

    /// Grains in a whole pattern.
    pub const fn pattern(&self) -> u64 {
        self.part(Self::PATTERN)
    }

    /// Return the whole patterns before the start of a cycle, and the grains since then.
    pub const fn patterns(&self, cycle: Cycles) -> (u64, u64) {
        let periods = (cycle.0 as u128) << self.shift;
        let pattern = Self::PATTERN as u128;
        let part = self.part((periods % pattern) as u64);
        ((periods / pattern) as u64, part)
    }

    /// Return the start of a cycle, in grains after `patterns` patterns.
    pub const fn grains_since(&self, cycle: Cycles, patterns: u64) -> u128 {
        let (passed, part) = self.patterns(cycle);
        (passed - patterns) as u128 * self.pattern() as u128 + part as u128
    }

    /// Return the start of a cycle, in grains.
    pub const fn grains(&self, cycle: Cycles) -> u128 {
        self.grains_since(cycle, 0)
    }

    /// Find the first cycle that begins no earlier than `grains` after `patterns` patterns.
    pub fn cycle(&self, patterns: u64, grains: u128) -> Cycles {
        let (whole, rest) = divide(grains, self.pattern());
        let Some(patterns) = u64::try_from(whole)
            .ok()
            .and_then(|whole| whole.checked_add(patterns))
        else {
            return Cycles::NEVER;
        };
        self.cycle_at(patterns, self.period_at(rest, self.least_periods(rest)))
    }

    /// Count the periods of a pattern until `grains` have passed, rounded up to a whole period.
    ///
    /// `least` is a known lower bound of the result, as from [`Pace::least_periods`].
    pub fn period_at(&self, grains: u64, least: u64) -> u64 {
        if self.long == 1 {
            return grains;
        }
        let (mut count, mut passed) = (least, self.part(least));
        while passed < grains {
            passed += self.long - (self.short as u64 >> count & 1) * self.saved;
            count += 1;
        }
        count
    }

    /// A lower bound of the periods in `grains`.
    pub const fn least_periods(&self, grains: u64) -> u64 {
        grains / self.long
    }

    /// Find the first cycle that begins no earlier than `periods` after `patterns` patterns.
    pub fn cycle_at(&self, patterns: u64, periods: u64) -> Cycles {
        let rounding = (1 << self.shift) - 1;
        patterns
            .checked_mul(Self::PATTERN)
            .and_then(|all| all.checked_add(periods + rounding))
            .map_or(Cycles::NEVER, |all| Cycles(all >> self.shift))
    }

    /// The mean frequency of the cycles, rounded.
    pub const fn mean(&self) -> Hertz {
        let periods = self.grains_hz * Self::PATTERN;
        let cycle = self.part(Self::PATTERN) << self.shift;
        Hertz(((periods + cycle / 2) / cycle) as u32)
    }
}

const PICOSECONDS: u64 = 1_000_000_000_000;

/// A ratio by which numbers are multiplied without a division, which takes longer.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    /// The ratio times 2^`shift`, rounded down.
    scaled: u64,
    shift: u32,
}

impl Ratio {
    const fn of(numerator: u64, denominator: u64) -> Self {
        // As many bits as fit.
        let shift = 63 + numerator.leading_zeros() - denominator.leading_zeros();
        let scaled = ((numerator as u128) << shift) / denominator as u128;
        Self {
            scaled: scaled as u64,
            shift,
        }
    }

    /// A number times the ratio; up to 1, and as much as the number over 2^`shift`, is missing.
    const fn about(self, number: u64) -> u128 {
        (number as u128 * self.scaled as u128) >> self.shift
    }
}

/// Converts a cycle counter whose clock changes to time, without drift.
#[derive(Clone, Debug)]
pub struct Timeline {
    pace: Pace,
    /// Picoseconds per grain, and grains per picosecond.
    per_grain: Ratio,
    per_picosecond: Ratio,
    clock: Hertz,
    /// When the pace began, in whole patterns and grains.
    base_patterns: u64,
    base_grains: u64,
    /// Time at the base, in units of 2^-64 ps: each clock change rounds by less than one unit.
    elapsed: u128,
}

impl Timeline {
    /// Start at time zero with this clock.
    pub const fn new(clock: Hertz) -> Self {
        let pace = Pace::steady(clock.0, 0);
        Self {
            per_grain: Ratio::of(PICOSECONDS, pace.grains_hz),
            per_picosecond: Ratio::of(pace.grains_hz, PICOSECONDS),
            pace,
            clock,
            base_patterns: 0,
            base_grains: 0,
            elapsed: 0,
        }
    }

    /// The current clock: its cycles' mean frequency.
    pub const fn clock(&self) -> Hertz {
        self.clock
    }

    /// The current length of the clock's cycles.
    pub const fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Picoseconds since the base, rounded down, and the rest times the grains per second.
    const fn passed(&self, now: Cycles) -> (u128, u128) {
        let second = self.pace.grains_hz as u128;
        let grains = self.pace.grains_since(now, self.base_patterns) - self.base_grains as u128;
        let scaled = grains * PICOSECONDS as u128;
        if grains > u64::MAX as u128 {
            return (scaled / second, scaled % second);
        }
        let mut whole = self.per_grain.about(grains as u64);
        let mut rest = scaled - whole * second;
        while rest >= second {
            rest -= second;
            whole += 1;
        }
        (whole, rest)
    }

    const fn exact(&self, now: Cycles) -> u128 {
        let (whole, rest) = self.passed(now);
        self.elapsed + (whole << 64) + (rest << 64) / self.pace.grains_hz as u128
    }

    /// Return the time at a cycle that is not before the last clock change, rounded down.
    pub const fn at(&self, now: Cycles) -> Picoseconds {
        let (whole, rest) = self.passed(now);
        let fraction = self.elapsed as u64 as u128;
        // Whether the fractions of a picosecond make another one.
        let lacks = ((1 << 64) - fraction) * self.pace.grains_hz as u128;
        let carry = (fraction != 0 && rest << 64 >= lacks) as u64;
        let whole = (whole as u64).wrapping_add(carry);
        Picoseconds(((self.elapsed >> 64) as u64).wrapping_add(whole))
    }

    /// Return the time at a cycle, or of the last clock change if that is later: an instruction
    /// changes the clock at its end, but the core may be observed before then.
    pub fn at_or_change(&self, now: Cycles) -> Picoseconds {
        if self.pace.patterns(now) < (self.base_patterns, self.base_grains) {
            return Picoseconds((self.elapsed >> 64) as u64);
        }
        self.at(now)
    }

    /// Find the first cycle that is not before a time, assuming that the clock stays the same; at
    /// the earliest, the cycle of the last clock change.
    pub fn cycle_of(&self, time: Picoseconds) -> Cycles {
        if time == Picoseconds::NEVER {
            return Cycles::NEVER;
        }
        let missing = (u128::from(time.0) << 64).saturating_sub(self.elapsed) >> 64;
        let grains = self.per_picosecond.about(missing as u64);
        let mut cycle = self
            .pace
            .cycle(self.base_patterns, u128::from(self.base_grains) + grains);
        // Rounded down, the grains may fall short.
        while self.at(cycle) < time {
            cycle.0 += 1;
        }
        cycle
    }

    /// From this cycle on, use this clock.
    pub const fn change_clock(&mut self, now: Cycles, clock: Hertz) {
        self.change_pace(now, Pace::steady(clock.0, 0));
    }

    /// From this cycle on, use this pace.
    pub const fn change_pace(&mut self, now: Cycles, pace: Pace) {
        self.elapsed = self.exact(now);
        (self.base_patterns, self.base_grains) = pace.patterns(now);
        self.clock = pace.mean();
        self.per_grain = Ratio::of(PICOSECONDS, pace.grains_hz);
        self.per_picosecond = Ratio::of(pace.grains_hz, PICOSECONDS);
        self.pace = pace;
    }
}

macro_rules! arithmetic {
    ($unit:ty, $suffix:literal) => {
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, $suffix)
            }
        }
    };
}

arithmetic!(Cycles, "cycles");
arithmetic!(Picoseconds, "ps");

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_time_agree() {
        let clock = Hertz(8_000_000);
        assert_eq!(Cycles(8).at(clock), Picoseconds(1_000_000));
        assert_eq!(Picoseconds(1_000_000).cycles(clock), Cycles(8));
        assert_eq!(Picoseconds(1_000_001).cycles(clock), Cycles(9));
    }

    proptest::proptest! {
        #[test]
        fn a_pace_adds_up_its_periods_and_finds_them_again(
            slow in 1_u32..8_000_000, more in 1_u32..1_000_000, short: u32, shift in 0_u32..4,
            start in 0_u64..1 << 40,
        ) {
            let pace = Pace::mixed(slow, slow + more, short, shift);
            let mut grains = pace.grains(Cycles(start));
            for cycle in start..start + 40 {
                proptest::prop_assert_eq!(pace.cycle(0, grains), Cycles(cycle));
                let (patterns, part) = pace.patterns(Cycles(cycle));
                proptest::prop_assert_eq!(pace.cycle(patterns, part.into()), Cycles(cycle));
                let periods = cycle << shift..(cycle + 1) << shift;
                for period in periods {
                    let hz = if short >> (period % 32) & 1 == 0 { slow } else { slow + more };
                    grains += u128::from(pace.grains_hz / u64::from(hz));
                }
                proptest::prop_assert_eq!(pace.grains(Cycles(cycle + 1)), grains);
                proptest::prop_assert_eq!(pace.cycle(0, grains - 1), Cycles(cycle + 1));
            }
        }

        #[test]
        fn cycle_of_is_the_first_cycle_that_is_not_before_a_time(
            first_hz in 4096_u32..64_000_000, second_hz in 4096_u32..64_000_000,
            more in 1_u32..1_000_000, short: u32, shift in 0_u32..4,
            changed in 0_u64..1 << 40, ahead in 0_u64..1 << 40,
        ) {
            let mut timeline = Timeline::new(Hertz(first_hz));
            timeline.change_pace(
                Cycles(changed),
                Pace::mixed(second_hz, second_hz + more, short, shift),
            );
            let time = timeline.at(Cycles(changed)) + Picoseconds(ahead);
            let cycle = timeline.cycle_of(time);
            proptest::prop_assert!(timeline.at(cycle) >= time);
            proptest::prop_assert!(cycle.0 == changed || timeline.at(Cycles(cycle.0 - 1)) < time);
        }
    }

    #[test]
    fn a_crystal_that_is_right_is_a_steady_clock() {
        let right = FineHertz::new(Hertz(32_768), 0);
        assert_eq!(right.periods(), (32_768, 0));
        assert_eq!(Pace::crystal(right, 3), Pace::steady(32_768, 3));
    }

    proptest::proptest! {
        #[test]
        fn a_crystal_is_wrong_by_as_much_as_it_is_said_to_be(ppb in -1_000_000_i32..1_000_000) {
            let (periods, shift) = FineHertz::new(Hertz(32_768), ppb).periods();
            let hz = f64::from(u32::try_from(periods).unwrap()) / f64::from(1 << shift);
            proptest::prop_assert!((hz / 32_768.0 - 1.0 - f64::from(ppb) * 1e-9).abs() < 1e-9);
        }
    }

    #[test]
    fn the_mean_of_a_mixture_is_that_of_its_periods() {
        // Three periods of 125 ns and one of 62.5 ns: 4 in 437.5 ns.
        let pace = Pace::mixed(8_000_000, 16_000_000, 0x1111_1111, 0);
        assert_eq!(pace.mean(), Hertz(9_142_857));
        assert_eq!(Pace::steady(8_000_000, 3).mean(), Hertz(1_000_000));
    }

    #[test]
    fn never_is_no_cycle() {
        assert_eq!(
            Timeline::new(Hertz(1)).cycle_of(Picoseconds::NEVER),
            Cycles::NEVER
        );
    }

    // Clocks and durations whose sum stays within the 213 days that 64 bits of picoseconds hold.
    proptest::proptest! {
        #[test]
        fn time_adds_up_over_clock_changes(
            stretches in proptest::collection::vec((0_u64..1 << 30, 4096_u32..20_000_000), 1..50),
        ) {
            let mut timeline = Timeline::new(Hertz(stretches[0].1));
            let (mut now, mut whole, mut parts) = (Cycles(0), 0_u128, 0_f64);
            for (cycles, hz) in stretches {
                timeline.change_clock(now, Hertz(hz));
                now.0 += cycles;
                let scaled = u128::from(cycles) * 1_000_000_000_000;
                whole += scaled / u128::from(hz);
                parts += (scaled % u128::from(hz)) as u32 as f64 / f64::from(hz);
            }
            let time = u128::from(timeline.at(now).0);
            proptest::prop_assert!(time.abs_diff(whole + parts as u128) <= 1);
        }
    }
}
