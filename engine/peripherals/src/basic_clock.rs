//! Basic clock module (chapter 4): the clocks of the core and the peripherals, and when they run.

use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Cycles, FineHertz, Hertz, Pace, Picoseconds, Timeline};
use serde::Deserialize;

use crate::rate::Rate;

/// DCOCTL: the modulator is in bits 4 to 0, the tap in bits 7 to 5.
const MOD: u8 = 0x1f;
const XT2OFF: u8 = 0x80;
const XTS: u8 = 0x40;
const SELS: u8 = 0x08;
const DCOR: u8 = 0x01;
const RSEL: u8 = 0x07;

/// Bits of the core's status register that select a low-power mode (section 2.3).
const CPUOFF: u16 = 1 << 4;
const OSCOFF: u16 = 1 << 5;
const SCG0: u16 = 1 << 6;
const SCG1: u16 = 1 << 7;

/// A chip's module: section `basic_clock` of its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The watch crystal on LFXT1.
    pub lfxt1_hz: Constant,
    /// The highest system frequency.
    pub max_hz: Constant,
    /// DCO frequency with the internal resistor at tap 3, for RSEL 0 to 7, typical at 3 V.
    pub dco_tap3_hz: [Constant; 8],
    /// Ratio of neighbouring DCO taps.
    pub dco_tap_ratio: Constant,
    /// How much faster the DCO runs with the external 100 kilohm resistor (DCOR = 1).
    pub dco_rosc_ratio: Constant,
    /// Delay from the wake-up event to the first MCLK cycle if the DCO generator was off.
    pub dco_start_s: Constant,
}

/// A clock that a peripheral runs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Auxiliary clock.
    Aclk,
    /// Sub-system clock.
    Smclk,
    /// The core's clock.
    Mclk,
}

/// Oscillators that can drive the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oscillator {
    Dco,
    Lfxt1,
    Xt2,
}

/// Return the bitmap of the DCO periods, among 32, that use the upper tap (figure 4-7, left to
/// right).
///
/// The figure shows ten of the 32 settings; they match a rate multiplier: the highest bit of `MODx`
/// makes every odd period short, the next bit every second one of the others, and so on.
fn modulator_pattern(modulation: u8) -> u32 {
    (1..u32::BITS)
        .filter(|period| modulation >> (4 - period.trailing_zeros()) & 1 != 0)
        .fold(0, |pattern, period| pattern | 1 << period)
}

/// The basic clock module.
#[derive(Clone, Debug)]
pub struct BasicClock {
    parameters: Parameters,
    /// This specimen's watch crystal.
    lfxt1: FineHertz,
    xt2_hz: u32,
    trim_ppm: u32,
    dcoctl: u8,
    bcsctl1: u8,
    bcsctl2: u8,
    status: u16,
    aclk: Rate,
    smclk: Rate,
    mclk: Rate,
    timeline: Timeline,
}

impl BasicClock {
    /// The state after a power-up clear (section 4.3). `xt2_hz` is 0 without a crystal on XT2;
    /// `trim_ppm` is this specimen's DCO frequency in millionths of the typical one.
    pub fn new(parameters: Parameters, xt2_hz: u32, trim_ppm: u32) -> Self {
        let mut clock = Self {
            lfxt1: Hertz(parameters.lfxt1_hz.whole()).into(),
            parameters,
            xt2_hz,
            trim_ppm,
            dcoctl: 0x60,
            bcsctl1: 0x84,
            bcsctl2: 0x00,
            status: 0,
            aclk: Rate::new(0, 1),
            smclk: Rate::new(0, 1),
            mclk: Rate::new(1, 1),
            timeline: Timeline::new(Hertz(1)),
        };
        clock.apply(Cycles(0));
        clock
    }

    /// DCOCTL.
    pub fn dcoctl(&self) -> u8 {
        self.dcoctl
    }

    /// BCSCTL1.
    pub fn bcsctl1(&self) -> u8 {
        self.bcsctl1
    }

    /// BCSCTL2.
    pub fn bcsctl2(&self) -> u8 {
        self.bcsctl2
    }

    /// Write DCOCTL.
    pub fn set_dcoctl(&mut self, value: u8, now: Cycles) {
        self.dcoctl = value;
        self.apply(now);
    }

    /// Write BCSCTL1.
    pub fn set_bcsctl1(&mut self, value: u8, now: Cycles) {
        self.bcsctl1 = value;
        self.apply(now);
    }

    /// Write BCSCTL2.
    pub fn set_bcsctl2(&mut self, value: u8, now: Cycles) {
        self.bcsctl2 = value;
        self.apply(now);
    }

    /// From now on, the watch crystal is `ppb` parts in 10^9 too fast.
    pub fn set_watch_crystal(&mut self, ppb: i32, now: Cycles) {
        self.lfxt1 = FineHertz::new(Hertz(self.parameters.lfxt1_hz.whole()), ppb);
        self.apply(now);
    }

    /// Whether BCSCTL1 selects the high-frequency mode of LFXT1.
    pub fn is_high_frequency_lfxt1(&self) -> bool {
        self.bcsctl1 & XTS != 0
    }

    /// Return the DCO frequency at a tap.
    ///
    /// It scales by a constant ratio per tap from the data sheet's frequency for tap 3.
    fn tap_hz(&self, tap: u8) -> u32 {
        let parameters = &self.parameters;
        let mut hz = parameters.dco_tap3_hz[usize::from(self.bcsctl1 & RSEL)].value
            * parameters.dco_tap_ratio.value.powi(i32::from(tap) - 3)
            * f64::from(self.trim_ppm)
            / 1e6;
        if self.bcsctl2 & DCOR != 0 {
            hz *= parameters.dco_rosc_ratio.value;
        }
        // A multiple of the largest divider keeps every derived clock a whole number of hertz.
        (hz / 8.0).round() as u32 * 8
    }

    /// Return the DCO's pace with these settings, in cycles of 2^`shift` periods.
    fn dco(&self, shift: u32) -> Pace {
        let tap = self.dcoctl >> 5;
        // Tap 7 has no upper neighbour to mix with (section 4.3, MODx).
        if tap == 7 {
            return Pace::steady(self.tap_hz(tap), shift);
        }
        let short = modulator_pattern(self.dcoctl & MOD);
        Pace::mixed(self.tap_hz(tap), self.tap_hz(tap + 1), short, shift)
    }

    /// The DCO's mean frequency with these settings.
    pub fn dco_hz(&self) -> u32 {
        self.dco(0).mean().0
    }

    fn divm(&self) -> u32 {
        u32::from(self.bcsctl2 >> 4 & 3)
    }

    fn has_xt2(&self) -> bool {
        self.xt2_hz != 0 && self.bcsctl1 & XT2OFF == 0
    }

    /// Whether a selected oscillator is not running (section 4.2.6), so that OFIFG cannot be
    /// cleared.
    pub fn is_oscillator_fault(&self) -> bool {
        self.bcsctl1 & XTS != 0 || self.bcsctl1 & XT2OFF == 0 && self.xt2_hz == 0
    }

    /// MCLK's source.
    fn mclk_source(&self) -> Oscillator {
        match self.bcsctl2 >> 6 {
            2 if self.has_xt2() => Oscillator::Xt2,
            3 if self.bcsctl1 & XTS == 0 => Oscillator::Lfxt1,
            // Includes the fail-safe of section 4.2.6: without its crystal, MCLK comes from the
            // DCO.
            _ => Oscillator::Dco,
        }
    }

    /// SMCLK's source; `None` if it is stopped.
    fn smclk_source(&self) -> Option<Oscillator> {
        if self.bcsctl2 & SELS == 0 {
            Some(Oscillator::Dco)
        } else {
            self.has_xt2().then_some(Oscillator::Xt2)
        }
    }

    /// An oscillator's frequency; for a modulated DCO, its mean.
    fn oscillator_hz(&self, oscillator: Oscillator) -> u32 {
        match oscillator {
            Oscillator::Dco => self.dco_hz(),
            Oscillator::Lfxt1 => self.parameters.lfxt1_hz.whole(),
            Oscillator::Xt2 => self.xt2_hz,
        }
    }

    /// An oscillator's frequency at full precision.
    fn frequency(&self, oscillator: Oscillator) -> FineHertz {
        match oscillator {
            Oscillator::Lfxt1 => self.lfxt1,
            other => Hertz(self.oscillator_hz(other)).into(),
        }
    }

    /// Derive the clocks from the registers and the low-power mode.
    ///
    /// A clock from MCLK's oscillator keeps an integer ratio of cycles to it. Any other clock is
    /// counted in MCLK cycles, whose lengths vary if a modulated DCO drives MCLK. If a crystal
    /// drives MCLK, a modulated DCO counts as steady, because its periods are the shorter ones.
    fn apply(&mut self, now: Cycles) {
        let source = self.mclk_source();
        let pace = match source {
            Oscillator::Dco => self.dco(self.divm()),
            crystal => Pace::crystal(self.frequency(crystal), self.divm()),
        };
        let running = |oscillator: Option<Oscillator>, runs: bool| oscillator.filter(|_| runs);
        let smclk = running(self.smclk_source(), self.status & SCG1 == 0);
        let aclk_runs = self.status & OSCOFF == 0 && self.bcsctl1 & XTS == 0;
        let aclk = running(Some(Oscillator::Lfxt1), aclk_runs);
        let [of_smclk, of_aclk] =
            [smclk, aclk].map(|driver| driver.map(|oscillator| self.frequency(oscillator)));
        let derive = |rate: &mut Rate,
                      driver: Option<Oscillator>,
                      frequency: Option<FineHertz>,
                      divider: u8| {
            let is_same = driver == Some(source);
            // Periods of this clock, and the cycles or grains of MCLK that they take.
            let (mut periods, mut span) = if is_same {
                (1 << pace.shift(), 1 << divider)
            } else {
                let (periods, seconds) = frequency.map_or((0, 0), FineHertz::periods);
                (periods, pace.grains_hz() << (u32::from(divider) + seconds))
            };
            let divisor = greatest_common_divisor(periods, span);
            (periods, span) = (periods / divisor, span / divisor);
            if is_same {
                rate.change(now, periods, span);
            } else {
                rate.change_paced(now, periods, span, &pace);
            }
        };
        derive(&mut self.smclk, smclk, of_smclk, self.bcsctl2 >> 1 & 3);
        derive(&mut self.aclk, aclk, of_aclk, self.bcsctl1 >> 4 & 3);
        if pace != *self.timeline.pace() {
            self.timeline.change_pace(now, pace);
        }
    }

    /// Apply the low-power bits of the status register, and return how long the core waits for the
    /// DCO to start.
    pub fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles {
        let old = self.status;
        self.status = status & (CPUOFF | OSCOFF | SCG0 | SCG1);
        self.apply(now);
        let was_off =
            old & CPUOFF != 0 && (old & (SCG0 | SCG1) == SCG0 | SCG1 || old & OSCOFF != 0);
        let from_dco = self.bcsctl2 >> 6 < 2;
        if was_off && self.status & CPUOFF == 0 && from_dco {
            let start_s = self.parameters.dco_start_s.value;
            Cycles((start_s * f64::from(self.mclk_hz().0)).ceil() as u64)
        } else {
            Cycles(0)
        }
    }

    /// The power state's name (section 2.3, table 2-2).
    pub fn power_state(&self) -> &'static str {
        if self.status & CPUOFF == 0 {
            "active"
        } else if self.status & OSCOFF != 0 {
            "lpm4"
        } else {
            match (self.status & SCG1 != 0, self.status & SCG0 != 0) {
                (true, true) => "lpm3",
                (true, false) => "lpm2",
                (false, true) => "lpm1",
                (false, false) => "lpm0",
            }
        }
    }

    /// The core's clock.
    pub fn mclk_hz(&self) -> Hertz {
        self.timeline.clock()
    }

    /// The core's clock over time.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The time at a cycle.
    pub fn time(&self, now: Cycles) -> Picoseconds {
        self.timeline.at(now)
    }

    /// A clock as peripherals see it.
    pub fn rate(&self, source: Source) -> &Rate {
        match source {
            Source::Aclk => &self.aclk,
            Source::Smclk => &self.smclk,
            Source::Mclk => &self.mclk,
        }
    }

    /// A clock's frequency according to the registers, whether or not it runs.
    pub fn hz(&self, source: Source) -> u32 {
        match source {
            Source::Aclk => self.parameters.lfxt1_hz.whole() >> (self.bcsctl1 >> 4 & 3),
            Source::Smclk => {
                let hz = self
                    .smclk_source()
                    .map_or(0, |source| self.oscillator_hz(source));
                hz >> (self.bcsctl2 >> 1 & 3)
            }
            Source::Mclk => self.mclk_hz().0,
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modulator_makes_the_patterns_of_the_figure() {
        // SLAU049F, figure 4-7; the line is high during the upper tap.
        let figure = [
            (31, ".###############################"),
            (24, ".###.###.###.###.###.###.###.###"),
            (16, ".#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#"),
            (15, "..#.#.#.#.#.#.#.#.#.#.#.#.#.#.#."),
            (5, "....#.......#...#...#.......#..."),
            (4, "....#.......#.......#.......#..."),
            (3, "........#.......#.......#......."),
            (2, "........#...............#......."),
            (1, "................#..............."),
            (0, "................................"),
        ];
        for (modulation, row) in figure {
            let pattern = modulator_pattern(modulation);
            let drawn: String = (0..32)
                .map(|period| if pattern >> period & 1 != 0 { '#' } else { '.' })
                .collect();
            assert_eq!(drawn, row, "MODx = {modulation}");
        }
    }

    #[test]
    fn modx_of_32_periods_are_of_the_upper_tap() {
        for modulation in 0..32 {
            assert_eq!(
                modulator_pattern(modulation).count_ones(),
                u32::from(modulation)
            );
        }
    }
}
