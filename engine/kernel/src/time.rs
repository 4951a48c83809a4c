//! Units of time. All of them are integers, so that no result depends on rounding order.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A count of the core's clock cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycles(pub u64);

/// A clock frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hertz(pub u32);

/// A span of emulated time; 2^64 ps are 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picoseconds(pub u64);

impl Cycles {
    /// Later than anything that a machine reaches: "no event is due".
    pub const NEVER: Self = Self(u64::MAX);

    /// The time that this many cycles of a clock take, rounded down.
    pub const fn at(self, clock: Hertz) -> Picoseconds {
        Picoseconds((self.0 as u128 * 1_000_000_000_000 / clock.0 as u128) as u64)
    }
}

impl Picoseconds {
    /// The first cycle count of `clock` that is not before this time.
    pub const fn cycles(self, clock: Hertz) -> Cycles {
        Cycles((self.0 as u128 * clock.0 as u128).div_ceil(1_000_000_000_000) as u64)
    }
}

/// Turns a cycle counter whose clock changes into time, without drift.
#[derive(Clone, Debug)]
pub struct Timeline {
    clock: Hertz,
    base: Cycles,
    /// Time at `base`, in units of 2^-64 ps: each clock change rounds by less than one unit.
    elapsed: u128,
}

impl Timeline {
    /// Time starts at zero with this clock.
    pub const fn new(clock: Hertz) -> Self {
        Self {
            clock,
            base: Cycles(0),
            elapsed: 0,
        }
    }

    /// The clock now.
    pub const fn clock(&self) -> Hertz {
        self.clock
    }

    const fn exact(&self, now: Cycles) -> u128 {
        let clock = self.clock.0 as u128;
        let scaled = (now.0 - self.base.0) as u128 * 1_000_000_000_000;
        self.elapsed + ((scaled / clock) << 64) + ((scaled % clock) << 64) / clock
    }

    /// The time at a cycle that is not before the last clock change, rounded down.
    pub const fn at(&self, now: Cycles) -> Picoseconds {
        Picoseconds((self.exact(now) >> 64) as u64)
    }

    /// From this cycle on, cycles take as long as this clock says.
    pub const fn change_clock(&mut self, now: Cycles, clock: Hertz) {
        self.elapsed = self.exact(now);
        self.base = now;
        self.clock = clock;
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

    // Clocks and stretches whose sum stays within the 213 days that 64 bits of picoseconds hold.
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
