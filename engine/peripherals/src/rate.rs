//! Counting one clock's edges in another clock's cycles, in integers and without drift.

use joulemark_kernel::Cycles;

/// Bits of a fraction of an edge: what a change of ratio may lose, 2^-48 of an edge.
const FRACTION: u32 = 48;

/// A clock, seen from the core's cycle counter.
///
/// Rising and falling edges are counted: an even count is reached with a rising edge, so half of
/// it is the number of periods.
#[derive(Clone, Debug)]
pub struct Rate {
    base: u64,
    edges: u64,
    phase: u64,
    /// Edges in `cycles` cycles of the core; 0 where the clock stands still.
    per: u64,
    cycles: u64,
}

impl Rate {
    /// A clock that makes `periods` periods in `cycles` cycles of the core.
    pub const fn new(periods: u64, cycles: u64) -> Self {
        Self {
            base: 0,
            edges: 0,
            phase: 0,
            per: 2 * periods,
            cycles,
        }
    }

    /// Edges so far, times `cycles` and scaled by the fraction.
    fn scaled(&self, now: Cycles) -> u128 {
        let delta = u128::from(now.0 - self.base);
        u128::from(self.phase) * u128::from(self.cycles)
            + ((delta * u128::from(self.per)) << FRACTION)
    }

    fn edges(&self, now: Cycles) -> u64 {
        let delta = now.0 - self.base;
        if self.phase == 0 && self.cycles == 1 {
            return self.edges + delta * self.per;
        }
        self.edges + (self.scaled(now) / (u128::from(self.cycles) << FRACTION)) as u64
    }

    /// Whole periods since the beginning.
    pub fn ticks(&self, now: Cycles) -> u64 {
        self.edges(now) / 2
    }

    /// Whether the clock is high after so many edges: the second half of a period is low.
    pub fn is_high(&self, now: Cycles) -> bool {
        self.edges(now).is_multiple_of(2)
    }

    /// The first cycle at which this many edges have passed.
    fn cycle_of_edge(&self, edge: u64) -> Cycles {
        let Some(missing) = edge.checked_sub(self.edges).filter(|&missing| missing > 0) else {
            return Cycles(self.base);
        };
        if self.per == 0 {
            return Cycles::NEVER;
        }
        if self.phase == 0 && self.cycles == 1 {
            return Cycles(self.base.saturating_add(missing.div_ceil(self.per)));
        }
        let wanted =
            ((u128::from(missing) << FRACTION) - u128::from(self.phase)) * u128::from(self.cycles);
        let delta = wanted.div_ceil(u128::from(self.per) << FRACTION);
        Cycles(
            self.base
                .saturating_add(u64::try_from(delta).unwrap_or(u64::MAX)),
        )
    }

    /// The first cycle at which this many periods have passed.
    pub fn cycle_of(&self, tick: u64) -> Cycles {
        self.cycle_of_edge(tick.saturating_mul(2))
    }

    /// The first cycle after `now` with an edge, and whether it rises.
    pub fn next_edge(&self, now: Cycles) -> (Cycles, bool) {
        let edge = self.edges(now) + 1;
        (self.cycle_of_edge(edge), edge.is_multiple_of(2))
    }

    /// From `now` on the clock makes `periods` periods in `cycles` cycles of the core.
    pub fn change(&mut self, now: Cycles, periods: u64, cycles: u64) {
        let scaled = self.scaled(now);
        let whole = u128::from(self.cycles) << FRACTION;
        self.edges += (scaled / whole) as u64;
        self.phase = (scaled % whole / u128::from(self.cycles)) as u64;
        self.base = now.0;
        self.per = 2 * periods;
        self.cycles = cycles;
        if self.per.is_multiple_of(self.cycles) {
            self.per /= self.cycles;
            self.cycles = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cycle_of_is_the_first_cycle_with_that_many_ticks(
            periods in 1_u64..100_000, cycles in 1_u64..10_000_000,
            changes in proptest::collection::vec((1_u64..1_000_000, 1_u64..100_000, 1_u64..10_000_000), 0..5),
            ahead in 0_u64..1_000_000,
        ) {
            let mut rate = Rate::new(periods, cycles);
            let mut now = Cycles(0);
            for (after, periods, cycles) in changes {
                now.0 += after;
                let before = rate.ticks(now);
                rate.change(now, periods, cycles);
                prop_assert_eq!(rate.ticks(now), before);
            }
            let tick = rate.ticks(now) + 1 + ahead;
            let at = rate.cycle_of(tick);
            prop_assert!(rate.ticks(at) >= tick);
            prop_assert!(at > now);
            prop_assert!(rate.ticks(Cycles(at.0 - 1)) < tick);
        }
    }

    #[test]
    fn a_million_clock_changes_do_not_drift() {
        // ACLK against a core that alternates between 4 MHz and 3.999 MHz every 1000 cycles.
        let mut rate = Rate::new(32_768, 4_000_000);
        let mut now = Cycles(0);
        for i in 0..1_000_000 {
            let hz = if i % 2 == 0 { 4_000_000 } else { 3_999_000 };
            rate.change(now, 32_768, hz);
            now.0 += 1000;
        }
        // Half of the cycles at each clock: 125 s and 500000 / 3999 s.
        let expected = 32_768 * 125 + 32_768 * 500_000 / 3999;
        assert!(rate.ticks(now).abs_diff(expected) <= 1);
    }
}
