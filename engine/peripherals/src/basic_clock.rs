//! Basic clock module (chapter 4): which clock the core and the peripherals run from, and when.

use joulemark_kernel::chip::BasicClock as Parameters;
use joulemark_kernel::{Cycles, Hertz, Picoseconds, Timeline};

use crate::rate::Rate;

/// DCOCTL: modulator (bits 4 to 0); the tap is in bits 7 to 5.
const MOD: u8 = 0x1f;
const XT2OFF: u8 = 0x80;
const XTS: u8 = 0x40;
const SELS: u8 = 0x08;
const DCOR: u8 = 0x01;
const RSEL: u8 = 0x07;

/// Bits of the core's status register that choose a low-power mode (section 2.3).
const CPUOFF: u16 = 1 << 4;
const OSCOFF: u16 = 1 << 5;
const SCG0: u16 = 1 << 6;
const SCG1: u16 = 1 << 7;

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

/// The basic clock module.
#[derive(Clone, Debug)]
pub struct BasicClock {
    parameters: Parameters,
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
    /// After a power-up clear (section 4.3). `xt2_hz` is 0 where no crystal is on XT2; `trim_ppm`
    /// is the DCO of this specimen in millionths of the typical one.
    pub fn new(parameters: Parameters, xt2_hz: u32, trim_ppm: u32) -> Self {
        let mut clock = Self {
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
        clock.timeline = Timeline::new(Hertz(clock.mclk_source_hz() >> clock.divm()));
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

    /// Whether BCSCTL1 asks for the high-frequency mode of LFXT1.
    pub fn is_high_frequency_lfxt1(&self) -> bool {
        self.bcsctl1 & XTS != 0
    }

    /// The DCO with these settings.
    ///
    /// Taps follow each other by a constant ratio from the frequency that the data sheet states for
    /// tap 3. The modulator mixes a tap with the next one so that 32 periods of the mixture last
    /// (32 - MOD) periods of the one and MOD of the other (section 4.2.5); here each period has that
    /// mean length.
    pub fn dco_hz(&self) -> u32 {
        let parameters = &self.parameters;
        let tap = i32::from(self.dcoctl >> 5);
        let ratio = parameters.dco_tap_ratio.value;
        let mut hz = parameters.dco_tap3_hz[usize::from(self.bcsctl1 & RSEL)].value
            * ratio.powi(tap - 3)
            * f64::from(self.trim_ppm)
            / 1e6;
        if self.bcsctl2 & DCOR != 0 {
            hz *= parameters.dco_rosc_ratio.value;
        }
        // There is no tap above 7 to mix with (section 4.2.5).
        if tap < 7 {
            let modulation = f64::from(self.dcoctl & MOD);
            hz *= 32.0 / (32.0 - modulation + modulation / ratio);
        }
        // A multiple of the largest divider keeps every derived clock a whole number of hertz.
        (hz / 8.0).round() as u32 * 8
    }

    fn divm(&self) -> u32 {
        u32::from(self.bcsctl2 >> 4 & 3)
    }

    fn has_xt2(&self) -> bool {
        self.xt2_hz != 0 && self.bcsctl1 & XT2OFF == 0
    }

    /// An oscillator that is wanted does not run (section 4.2.6): OFIFG cannot be cleared.
    pub fn is_oscillator_fault(&self) -> bool {
        self.bcsctl1 & XTS != 0 || self.bcsctl1 & XT2OFF == 0 && self.xt2_hz == 0
    }

    fn mclk_source_hz(&self) -> u32 {
        match self.bcsctl2 >> 6 {
            2 if self.has_xt2() => self.xt2_hz,
            3 if self.bcsctl1 & XTS == 0 => self.parameters.lfxt1_hz.whole(),
            // Also the fail-safe of section 4.2.6: without its crystal, MCLK comes from the DCO.
            _ => self.dco_hz(),
        }
    }

    fn smclk_source_hz(&self) -> u32 {
        if self.bcsctl2 & SELS == 0 {
            self.dco_hz()
        } else if self.has_xt2() {
            self.xt2_hz
        } else {
            0
        }
    }

    /// Derive everything from the registers and the low-power mode.
    fn apply(&mut self, now: Cycles) {
        let mclk_source = u64::from(self.mclk_source_hz());
        let mclk_divider = 1_u64 << self.divm();
        let derive = |rate: &mut Rate, source_hz: u32, divider: u8, runs: bool| {
            let periods = if runs { u64::from(source_hz) } else { 0 };
            let (mut a, mut b) = (periods * mclk_divider, mclk_source << divider);
            let divisor = greatest_common_divisor(a, b);
            (a, b) = (a / divisor, b / divisor);
            rate.change(now, a, b);
        };
        let smclk_source = self.smclk_source_hz();
        derive(
            &mut self.smclk,
            smclk_source,
            self.bcsctl2 >> 1 & 3,
            self.status & SCG1 == 0,
        );
        derive(
            &mut self.aclk,
            self.parameters.lfxt1_hz.whole(),
            self.bcsctl1 >> 4 & 3,
            self.status & OSCOFF == 0 && self.bcsctl1 & XTS == 0,
        );
        let clock = Hertz((mclk_source / mclk_divider) as u32);
        if clock != self.timeline.clock() {
            self.timeline.change_clock(now, clock);
        }
    }

    /// The low-power bits of the status register changed. Returns how long the core has to wait
    /// for the DCO to start before it goes on.
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

    /// The name of the power state (section 2.3, table 2-2).
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

    /// Time at a cycle.
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

    /// A clock's frequency as the registers have it now, running or not.
    pub fn hz(&self, source: Source) -> u32 {
        match source {
            Source::Aclk => self.parameters.lfxt1_hz.whole() >> (self.bcsctl1 >> 4 & 3),
            Source::Smclk => self.smclk_source_hz() >> (self.bcsctl2 >> 1 & 3),
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
