//! What the RP2040 and the RP2350 share: the clocks and their sources, and the system timer (data
//! sheets, chapters Clocks, XOSC, PLL and Timer; registers from the Pico SDK's headers).

use joulemark_kernel::Cycles;

use crate::rate::Rate;

/// `PLL_PWR`: power-down of the VCO, the post-dividers and the PLL.
const PLL_DOWN: u32 = 0x29;
const PLL_VCO_DOWN: u32 = 0x21;
const PLL_LOCK: u32 = 1 << 31;
/// `XOSC_CTRL`: enabled, with a range of frequencies.
const XOSC_ENABLE: u32 = 0xfab << 12;
const XOSC_DISABLE: u32 = 0xd1e << 12;
const XOSC_ON: u32 = 1 << 31 | 1 << 12;

/// A 64-bit counter of a clock's periods.
pub struct Counter {
    /// The clock.
    pub rate: Rate,
    base: u64,
}

impl Counter {
    /// A counter that stands at 0.
    pub fn stopped() -> Self {
        Self {
            rate: Rate::new(0, 1),
            base: 0,
        }
    }

    /// Its value.
    pub fn at(&self, now: Cycles) -> u64 {
        self.base.wrapping_add(self.rate.ticks(now))
    }

    /// Set its value.
    pub fn set(&mut self, now: Cycles, value: u64) {
        self.base = value.wrapping_sub(self.rate.ticks(now));
    }

    /// The cycle in which it reaches a value, if that lies ahead.
    pub fn cycle_of(&self, value: u64) -> Cycles {
        self.rate.cycle_of(value.wrapping_sub(self.base))
    }
}

/// A system timer with four alarms.
pub struct SystemTimer {
    /// What it counts.
    pub counter: Counter,
    /// Where its interrupt registers begin; before them are LOCKED and SOURCE, if there are.
    interrupts: u32,
    /// The upper half as latched by a read of the lower one, and as written before it.
    latched: u32,
    written: u32,
    alarms: [u32; 4],
    armed: u32,
    raised: u32,
    enabled: u32,
    forced: u32,
}

const ARMED: u32 = 0x20;

impl SystemTimer {
    /// The state after reset of a timer whose register INTR has this offset.
    pub fn new(interrupts: u32) -> Self {
        Self {
            counter: Counter::stopped(),
            interrupts,
            latched: 0,
            written: 0,
            alarms: [0; 4],
            armed: 0,
            raised: 0,
            enabled: 0,
            forced: 0,
        }
    }

    /// When an armed alarm's value next equals the counter's lower half.
    fn due(&self, alarm: usize, now: Cycles) -> Cycles {
        if self.armed >> alarm & 1 == 0 {
            return Cycles::NEVER;
        }
        let count = self.counter.at(now);
        let ahead = self.alarms[alarm].wrapping_sub(count as u32);
        self.counter.cycle_of(count.wrapping_add(ahead.into()))
    }

    /// When the next alarm is due.
    pub fn next_event(&self, now: Cycles) -> Cycles {
        let alarms = (0..4).map(|alarm| self.due(alarm, now));
        alarms.min().unwrap_or(Cycles::NEVER)
    }

    /// Raise the alarms that were due.
    pub fn advance(&mut self, since: Cycles, now: Cycles) {
        for alarm in 0..4 {
            if self.due(alarm, since) <= now {
                self.armed &= !(1 << alarm);
                self.raised |= 1 << alarm;
            }
        }
    }

    /// Read a register; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        let count = self.counter.at(now);
        Some(match offset {
            0x08 => self.latched,
            0x0c => {
                self.latched = (count >> 32) as u32;
                count as u32
            }
            0x10..=0x1c => self.alarms[(offset as usize - 0x10) / 4],
            ARMED => self.armed,
            0x24 => (count >> 32) as u32,
            0x28 => count as u32,
            0x2c => 7,
            0x30 => 0,
            _ => match offset.checked_sub(self.interrupts) {
                None if offset > 0x30 => 0,
                Some(0) => self.raised,
                Some(4) => self.enabled,
                Some(8) => self.forced,
                Some(12) => self.pending(),
                _ => return None,
            },
        })
    }

    /// Whether ones clear bits of a register. The view that clears bits clears these, as the Pico SDK's
    /// example `timer_lowlevel` does.
    pub fn is_cleared_by_ones(&self, offset: u32) -> bool {
        offset == ARMED || offset == self.interrupts
    }

    /// Write a register; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> bool {
        match offset {
            0x00 => self.written = value,
            0x04 => self
                .counter
                .set(now, u64::from(self.written) << 32 | u64::from(value)),
            0x10..=0x1c => {
                let alarm = (offset as usize - 0x10) / 4;
                self.alarms[alarm] = value;
                self.armed |= 1 << alarm;
            }
            ARMED => self.armed &= !value,
            0x2c => {}
            _ => match offset.checked_sub(self.interrupts) {
                Some(0) => self.raised &= !value,
                Some(4) => self.enabled = value & 15,
                Some(8) => self.forced = value & 15,
                _ => return false,
            },
        }
        true
    }

    /// Alarms that interrupt.
    pub fn pending(&self) -> u32 {
        self.raised & self.enabled | self.forced
    }
}

/// Clock generators: four outputs, then the reference, system and peripheral clock, and three of what
/// is not emulated.
const GENERATORS: usize = 10;
const REFERENCE: usize = 4;
const SYSTEM: usize = 5;
const PERIPHERAL: usize = 6;
/// CTRL, DIV and SELECTED of each.
const GENERATORS_END: u32 = 12 * GENERATORS as u32;

/// XOSC, the PLLs of the system and of USB, and what is made of them.
pub struct Clocks {
    /// Frequencies of the ring oscillator and of the crystal.
    rosc_hz: u32,
    crystal_hz: u32,
    /// Fraction bits of a divider, and whether CTRL shows that a clock is on.
    fraction: u32,
    shows_enabled: bool,
    /// RESETS holds a PLL in reset.
    pub pll_in_reset: [bool; 2],
    /// `CLK_SYS_RESUS_CTRL`, which is off.
    resus: u32,
    xosc: u32,
    xosc_startup: u32,
    /// CS, PWR, `FBDIV_INT` and PRIM.
    pll: [[u32; 4]; 2],
    /// CTRL and DIV.
    generators: [[u32; 2]; GENERATORS],
}

impl Clocks {
    /// The RP2040's, after reset.
    pub fn rp2040(rosc_hz: u32, crystal_hz: u32) -> Self {
        Self::new(rosc_hz, crystal_hz, 8, false, 0x78)
    }

    /// The RP2350's, after reset.
    pub fn rp2350(rosc_hz: u32, crystal_hz: u32) -> Self {
        Self::new(rosc_hz, crystal_hz, 16, true, 0x84)
    }

    fn new(rosc_hz: u32, crystal_hz: u32, fraction: u32, shows_enabled: bool, resus: u32) -> Self {
        let mut clocks = Self {
            rosc_hz,
            crystal_hz,
            fraction,
            shows_enabled,
            pll_in_reset: [true; 2],
            resus,
            xosc: 0,
            xosc_startup: 0,
            pll: [[0; 4]; 2],
            generators: [[0, 1 << fraction]; GENERATORS],
        };
        for number in 0..2 {
            clocks.reset_pll(number);
        }
        clocks
    }

    /// Return a PLL, the system's or USB's, to its state after reset.
    pub fn reset_pll(&mut self, number: usize) {
        self.pll[number] = [1, 0x2d, 0, 0x77000];
    }

    fn xosc_hz(&self) -> u32 {
        if self.xosc & 0xff_f000 == XOSC_ENABLE {
            self.crystal_hz
        } else {
            0
        }
    }

    fn pll_hz(&self, number: usize) -> u32 {
        let [cs, pwr, fbdiv, prim] = self.pll[number];
        let divisor = (cs & 63) * (prim >> 16 & 7) * (prim >> 12 & 7);
        if self.pll_in_reset[number] || pwr & PLL_DOWN != 0 || divisor == 0 {
            return 0;
        }
        (u64::from(self.xosc_hz()) * u64::from(fbdiv & 0xfff) / u64::from(divisor)) as u32
    }

    /// The reference clock.
    pub fn reference_hz(&self) -> u32 {
        let [ctrl, div] = self.generators[REFERENCE];
        let hz = match ctrl & 3 {
            0 => self.rosc_hz,
            2 => self.xosc_hz(),
            _ => 0,
        };
        hz / (div >> self.fraction & 255).max(1)
    }

    /// The system clock; 0 if what is selected does not run, or is not emulated.
    pub fn system_hz(&self) -> u32 {
        let [ctrl, div] = self.generators[SYSTEM];
        let hz = match (ctrl & 1, ctrl >> 5 & 7) {
            (0, _) => self.reference_hz(),
            (_, 0) => self.pll_hz(0),
            (_, 1) => self.pll_hz(1),
            (_, 2) => self.rosc_hz,
            (_, 3) => self.xosc_hz(),
            _ => 0,
        };
        ((u64::from(hz) << self.fraction) / u64::from(div.max(1))) as u32
    }

    /// The peripheral clock.
    pub fn peripheral_hz(&self) -> u32 {
        let [ctrl, div] = self.generators[PERIPHERAL];
        let hz = match ctrl >> 5 & 7 {
            0 => self.system_hz(),
            1 => self.pll_hz(0),
            2 => self.pll_hz(1),
            3 => self.rosc_hz,
            4 => self.xosc_hz(),
            _ => 0,
        };
        let is_on = ctrl >> 11 & 1 != 0;
        if is_on {
            hz / (div >> self.fraction & 3).max(1)
        } else {
            0
        }
    }

    /// Read a register of CLOCKS; `None` if there is none.
    pub fn read_clocks(&self, offset: u32) -> Option<u32> {
        if offset == self.resus {
            return Some(0);
        }
        if offset >= GENERATORS_END {
            return None;
        }
        let word = offset as usize / 4;
        let (clock, field) = (word / 3, word % 3);
        let [ctrl, div] = self.generators[clock];
        Some(match field {
            0 if self.shows_enabled => ctrl | (ctrl >> 11 & 1) << 28,
            0 => ctrl,
            1 => div,
            // Selections take effect at once.
            _ if clock == REFERENCE => 1 << (ctrl & 3),
            _ if clock == SYSTEM => 1 << (ctrl & 1),
            _ => 1,
        })
    }

    /// Write a register of CLOCKS; false if there is none.
    pub fn write_clocks(&mut self, offset: u32, value: u32) -> bool {
        let word = offset as usize / 4;
        let is_there = offset < GENERATORS_END && word % 3 < 2;
        if is_there {
            self.generators[word / 3][word % 3] = value;
        }
        is_there || offset == self.resus && value == 0
    }

    /// Read a register of XOSC; `None` if there is none.
    pub fn read_xosc(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0 => self.xosc,
            4 if self.xosc_hz() != 0 => XOSC_ON,
            4 => 0,
            0xc => self.xosc_startup,
            _ => return None,
        })
    }

    /// Write a register of XOSC; false if there is none.
    pub fn write_xosc(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0 if matches!(value & 0xff_f000, XOSC_ENABLE | XOSC_DISABLE | 0) => {
                self.xosc = value & 0xff_ffff;
            }
            0xc => self.xosc_startup = value,
            _ => return false,
        }
        true
    }

    /// Read a register of a PLL; `None` if there is none.
    pub fn read_pll(&self, number: usize, offset: u32) -> Option<u32> {
        let value = *self.pll[number].get(offset as usize / 4)?;
        // It locks before the post-dividers have power.
        let [cs, pwr, fbdiv, _] = self.pll[number];
        let is_on = !self.pll_in_reset[number] && pwr & PLL_VCO_DOWN == 0 && self.xosc_hz() != 0;
        let has_lock = offset == 0 && is_on && cs & 63 != 0 && fbdiv != 0;
        Some(if has_lock { value | PLL_LOCK } else { value })
    }

    /// Write a register of a PLL; false if there is none.
    pub fn write_pll(&mut self, number: usize, offset: u32, value: u32) -> bool {
        let register = self.pll[number].get_mut(offset as usize / 4);
        register.map(|register| *register = value).is_some()
    }
}
