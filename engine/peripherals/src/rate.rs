//! Counting one clock's edges in another clock's cycles, with integers and without drift.

use joulemark_kernel::{Cycles, FineHertz, Hertz, Pace, divide};

/// Fraction bits of an edge: a change of ratio may lose up to 2^-48 of an edge.
const FRACTION: u32 = 48;

/// A clock as seen from the core's cycle counter.
///
/// It counts rising and falling edges. Rising edges bring the count to an even number, so half the
/// count is the number of periods.
#[derive(Clone, Debug)]
pub struct Rate {
    /// The first cycle with this ratio; and the same in patterns of `pace` and grains.
    base: u64,
    base_patterns: u64,
    base_grains: u64,
    /// How long the core's cycles last; `None` if the ratio is to whole cycles.
    pace: Option<Pace>,
    edges: u64,
    phase: u64,
    /// Edges per `span` grains, or cycles, of the core; 0 while the clock is stopped.
    per: u64,
    span: u64,
}

impl Rate {
    /// Make a clock with `periods` periods in `cycles` core cycles.
    pub const fn new(periods: u64, cycles: u64) -> Self {
        Self {
            base: 0,
            base_patterns: 0,
            base_grains: 0,
            pace: None,
            edges: 0,
            phase: 0,
            per: 2 * periods,
            span: cycles,
        }
    }

    /// Make a crystal's clock, in a core with this clock.
    pub const fn crystal(frequency: FineHertz, core: Hertz) -> Self {
        let (periods, seconds) = frequency.periods();
        Self::new(periods, (core.0 as u64) << seconds)
    }

    /// Grains, or cycles, since the base.
    fn passed(&self, now: Cycles) -> u128 {
        match &self.pace {
            None => u128::from(now.0 - self.base),
            Some(pace) => pace.grains_since(now, self.base_patterns) - u128::from(self.base_grains),
        }
    }

    /// Whole edges since the base, and the remainder in units of `span` and fraction.
    fn since_base(&self, now: Cycles) -> (u64, u128) {
        let phase = u128::from(self.phase) * u128::from(self.span);
        let scaled = self.passed(now) * u128::from(self.per) + (phase >> FRACTION);
        let (whole, rest) = divide(scaled, self.span);
        let left = u128::from(rest) << FRACTION | phase & ((1 << FRACTION) - 1);
        (whole as u64, left)
    }

    /// The edges per core cycle if that is a constant whole number; `None` if not.
    pub fn per_cycle(&self) -> Option<u64> {
        (self.phase == 0 && self.span == 1 && self.pace.is_none()).then_some(self.per)
    }

    /// Rising and falling edges since the start.
    pub fn edges(&self, now: Cycles) -> u64 {
        match self.per_cycle() {
            Some(per) => self.edges + (now.0 - self.base) * per,
            None => self.edges + self.since_base(now).0,
        }
    }

    /// Whole periods since the start.
    pub fn ticks(&self, now: Cycles) -> u64 {
        self.edges(now) / 2
    }

    /// Whether the clock is high: each period starts high and ends low.
    pub fn is_high(&self, now: Cycles) -> bool {
        self.edges(now).is_multiple_of(2)
    }

    /// Find the first cycle by which this many edges have passed.
    pub fn cycle_of_edge(&self, edge: u64) -> Cycles {
        let Some(missing) = edge.checked_sub(self.edges).filter(|&missing| missing > 0) else {
            return Cycles(self.base);
        };
        if self.per == 0 {
            return Cycles::NEVER;
        }
        if let Some(per) = self.per_cycle() {
            return Cycles(self.base.saturating_add(missing.div_ceil(per)));
        }
        // The first grain by which `missing` edges less the phase have passed.
        let span = u128::from(self.span);
        let wanted = u128::from(missing) * span - ((u128::from(self.phase) * span) >> FRACTION);
        let (whole, rest) = divide(wanted, self.per);
        let delta = whole + u128::from(rest != 0);
        match &self.pace {
            None => Cycles(
                self.base
                    .saturating_add(u64::try_from(delta).unwrap_or(u64::MAX)),
            ),
            Some(pace) => pace.cycle(self.base_patterns, u128::from(self.base_grains) + delta),
        }
    }

    /// Find the first cycle by which this many periods have passed.
    pub fn cycle_of(&self, tick: u64) -> Cycles {
        self.cycle_of_edge(tick.saturating_mul(2))
    }

    /// Find the first cycle after `now` with an edge, and whether it rises.
    pub fn next_edge(&self, now: Cycles) -> (Cycles, bool) {
        let edge = self.edges(now) + 1;
        (self.cycle_of_edge(edge), edge.is_multiple_of(2))
    }

    /// From `now` on, the clock makes `periods` periods in `cycles` core cycles.
    pub fn change(&mut self, now: Cycles, periods: u64, cycles: u64) {
        self.change_ratio(now, periods, cycles, None);
    }

    /// From `now` on, the clock is a crystal's, in a core with this clock.
    pub fn change_crystal(&mut self, now: Cycles, frequency: FineHertz, core: Hertz) {
        let (periods, seconds) = frequency.periods();
        self.change(now, periods, u64::from(core.0) << seconds);
    }

    /// From `now` on, the clock makes `periods` periods in `grains` grains, in a core whose cycles
    /// last as long as `pace` says.
    pub fn change_paced(&mut self, now: Cycles, periods: u64, grains: u64, pace: &Pace) {
        self.change_ratio(now, periods, grains, Some(pace.clone()));
    }

    fn change_ratio(&mut self, now: Cycles, periods: u64, span: u64, pace: Option<Pace>) {
        let (whole, left) = self.since_base(now);
        self.edges += whole;
        self.phase = (left / u128::from(self.span)) as u64;
        self.base = now.0;
        (self.base_patterns, self.base_grains) =
            pace.as_ref().map_or((0, 0), |pace| pace.patterns(now));
        self.pace = pace;
        self.per = 2 * periods;
        self.span = span;
        if self.per.is_multiple_of(self.span) {
            self.per /= self.span;
            self.span = 1;
        }
    }
}

/// Iterates over the cycles in which a clock's periods begin, with additions instead of the
/// divisions of [`Rate::cycle_of`].
#[derive(Clone, Debug)]
pub struct Ticks {
    rate: Rate,
    tick: u64,
    /// The position of the tick, and the length of a period.
    at: Place,
    period: Place,
    /// Periods of the pace's current pattern before the tick; and a lower bound of the periods from
    /// one tick to the next, beyond whole patterns.
    paced: u64,
    least_paced: u64,
}

/// A point in time, not always on a core cycle, counted from a [`Rate`]'s base.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    patterns: u64,
    /// Grains within the current pattern; without a pattern, cycles.
    grains: u64,
    /// The fraction of a grain, in units of 1/`per`.
    rest: u64,
}

impl Place {
    /// Grains, rounded up.
    fn whole_grains(&self) -> u64 {
        self.grains + u64::from(self.rest != 0)
    }
}

impl Ticks {
    /// Start at this tick; `None` if the clock is stopped, or the tick is past or too far away.
    pub fn new(rate: &Rate, tick: u64) -> Option<Self> {
        let missing = tick.checked_mul(2)?.checked_sub(rate.edges)?;
        let span = u128::from(rate.span);
        let wanted = u128::from(missing) * span;
        let wanted = wanted.checked_sub((u128::from(rate.phase) * span) >> FRACTION)?;
        let place = |parts: u128, grains: u64| {
            let (whole, rest) = divide(parts, rate.per);
            let whole = u64::try_from(whole).ok()?.checked_add(grains)?;
            let pattern = rate.pace.as_ref().map_or(u64::MAX, Pace::pattern);
            Some(Place {
                patterns: whole / pattern,
                grains: whole % pattern,
                rest,
            })
        };
        if rate.per == 0 {
            return None;
        }
        let mut ticks = Self {
            tick,
            at: place(wanted, rate.base_grains)?,
            period: place(2 * span, 0)?,
            paced: 0,
            least_paced: 0,
            rate: rate.clone(),
        };
        if let Some(pace) = &rate.pace {
            let grains = ticks.at.whole_grains();
            ticks.paced = pace.period_at(grains, pace.least_periods(ticks.at.grains));
            ticks.least_paced = pace.least_periods(ticks.period.grains);
        }
        Some(ticks)
    }

    /// The current tick.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The first cycle by which the current tick has passed.
    pub fn cycle(&self) -> Cycles {
        match &self.rate.pace {
            None => Cycles(self.rate.base.saturating_add(self.at.whole_grains())),
            Some(pace) => pace.cycle_at(self.rate.base_patterns + self.at.patterns, self.paced),
        }
    }

    /// Advance to the next tick.
    pub fn advance(&mut self) {
        self.tick += 1;
        let (at, period) = (&mut self.at, &self.period);
        at.rest += period.rest;
        let carry = at.rest >= self.rate.per;
        at.rest -= if carry { self.rate.per } else { 0 };
        at.grains += period.grains + u64::from(carry);
        at.patterns += period.patterns;
        if let Some(pace) = &self.rate.pace {
            let mut least = self.paced + self.least_paced;
            if at.grains >= pace.pattern() {
                at.grains -= pace.pattern();
                at.patterns += 1;
                least = least.saturating_sub(Pace::PATTERN);
            }
            self.paced = pace.period_at(at.whole_grains(), least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn follows_cycle_of(rate: &Rate, tick: u64) -> Result<(), TestCaseError> {
        let mut ticks = Ticks::new(rate, tick).expect("the clock runs");
        for tick in tick..tick + 100 {
            prop_assert_eq!(ticks.tick(), tick);
            prop_assert_eq!(ticks.cycle(), rate.cycle_of(tick));
            ticks.advance();
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_paced_clock_counts_edges_where_their_time_has_come(
            slow in 1_000_000_u32..4_000_000, more in 0_u32..500_000, short: u32, shift in 0_u32..4,
            hz in 1_u32..100_000, start in 0_u64..1 << 40, after in 0_u64..100_000,
        ) {
            let pace = Pace::mixed(slow, slow + more, short, shift);
            let mut rate = Rate::new(0, 1);
            rate.change_paced(Cycles(start), u64::from(hz), pace.grains_hz(), &pace);
            let now = Cycles(start + after);
            let grains = pace.grains(now) - pace.grains(Cycles(start));
            let edges = 2 * u128::from(hz) * grains / u128::from(pace.grains_hz());
            prop_assert_eq!(u128::from(rate.ticks(now)), edges / 2);
            let (next, rises) = rate.next_edge(now);
            prop_assert_eq!(rises, edges % 2 == 1);
            prop_assert!(next > now);
            let at = |cycle| pace.grains(cycle) - pace.grains(Cycles(start));
            let whole = |cycle| 2 * u128::from(hz) * at(cycle) / u128::from(pace.grains_hz());
            prop_assert!(whole(next) > edges);
            prop_assert_eq!(whole(Cycles(next.0 - 1)), edges);
            follows_cycle_of(&rate, rate.ticks(now) + 1)?;
        }

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
            follows_cycle_of(&rate, tick)?;
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
