//! The independent and window watchdogs of STM32F1 chips (RM0041, chapters IWDG and WWDG). Register
//! offsets and fields were compared with ST's header `stm32f100xb.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::rate::Rate;

fn bites(message: &str) -> Fault {
    Fault::new(FaultKind::Watchdog, message)
}

/// The independent watchdog, clocked by the low-speed RC oscillator.
#[derive(Clone, Debug)]
pub struct Iwdg {
    clock: Rate,
    unlocked: bool,
    running: bool,
    pr: u32,
    rlr: u32,
    since: u64,
}

impl Iwdg {
    /// Stopped, in a core with this clock.
    pub const fn new(core_hz: u32, low_hz: u32) -> Self {
        Self {
            clock: Rate::new(low_hz as u64, core_hz as u64),
            unlocked: false,
            running: false,
            pr: 0,
            rlr: 0xfff,
            since: 0,
        }
    }

    /// Note that the core's clock changed.
    pub fn set_core_hz(&mut self, core_hz: u32, low_hz: u32, now: Cycles) {
        self.clock.change(now, low_hz.into(), core_hz.into());
    }

    /// When the watchdog resets the chip.
    pub fn next_event(&self) -> Cycles {
        if !self.running {
            return Cycles::NEVER;
        }
        // The prescaler divides by 4 to 256 (RM0041, IWDG_PR).
        let prescaler = 4_u64 << self.pr.min(6);
        let ticks = u64::from(self.rlr + 1) * prescaler;
        self.clock.cycle_of(self.since + ticks)
    }

    /// Bring the watchdog up to `now`.
    ///
    /// # Errors
    /// The watchdog resets the chip.
    pub fn advance(&self, now: Cycles) -> Result<(), Fault> {
        if self.next_event() <= now {
            return Err(bites(
                "the independent watchdog was not reloaded in time and resets the chip; write 0xaaaa to \
                 IWDG_KR",
            ));
        }
        Ok(())
    }

    /// Read the register at an offset; `None` if there is none.
    pub const fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 | 0x0c => 0,
            0x04 => self.pr,
            0x08 => self.rlr,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// A setting is written without the key.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let tick = self.clock.ticks(now);
        match offset {
            0x00 => {
                self.unlocked = value == 0x5555;
                match value {
                    0xcccc if !self.running => (self.running, self.since) = (true, tick),
                    0xaaaa => self.since = tick,
                    _ => {}
                }
            }
            0x04 | 0x08 if !self.unlocked => {
                return Err(Fault::new(
                    FaultKind::Peripheral,
                    "IWDG_PR or IWDG_RLR is written without 0x5555 in IWDG_KR, and nothing happens",
                ));
            }
            0x04 => self.pr = value & 7,
            0x08 => self.rlr = value & 0xfff,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// `WWDG_CR` and `WWDG_CFR`.
const WDGA: u32 = 1 << 7;
const EWI: u32 = 1 << 9;

/// The window watchdog, clocked by the peripheral clock.
#[derive(Clone, Debug)]
pub struct Wwdg {
    clock: Rate,
    running: bool,
    cfr: u32,
    early: bool,
    /// The tick of the peripheral clock at which the counter was `count`.
    since: u64,
    count: u32,
}

impl Default for Wwdg {
    fn default() -> Self {
        Self {
            clock: Rate::new(1, 1),
            running: false,
            cfr: 0x7f,
            early: false,
            since: 0,
            count: 0x7f,
        }
    }
}

impl Wwdg {
    /// Set the peripheral clock to `periods` periods in `cycles` core cycles.
    pub fn set_clock(&mut self, periods: u64, cycles: u64, now: Cycles) {
        self.clock.change(now, periods, cycles);
    }

    /// The counter's clock is the peripheral clock divided by 4096 and by WDGTB (RM0041,
    /// `WWDG_CFR`).
    const fn step_ticks(&self) -> u64 {
        4096 << (self.cfr >> 7 & 3)
    }

    fn counter(&self, tick: u64) -> u32 {
        let steps = (tick - self.since) / self.step_ticks();
        self.count.saturating_sub(steps as u32)
    }

    /// When the counter reaches a value.
    fn cycle_of(&self, value: u32) -> Cycles {
        let steps = u64::from(self.count.saturating_sub(value));
        self.clock.cycle_of(self.since + steps * self.step_ticks())
    }

    /// When the watchdog warns or resets the chip.
    pub fn next_event(&self) -> Cycles {
        if !self.running {
            Cycles::NEVER
        } else if self.early {
            self.cycle_of(0x3f)
        } else {
            self.cycle_of(0x40)
        }
    }

    /// Bring the watchdog up to `now`.
    ///
    /// # Errors
    /// The watchdog resets the chip.
    pub fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.running && self.cycle_of(0x40) <= now {
            self.early = true;
        }
        if self.running && self.cycle_of(0x3f) <= now {
            return Err(bites(
                "the window watchdog was not reloaded in time and resets the chip; write WWDG_CR",
            ));
        }
        Ok(())
    }

    /// Whether its early wake-up interrupt is asserted.
    pub const fn is_pending(&self) -> bool {
        self.early && self.cfr & EWI != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 if self.running => WDGA | self.counter(self.clock.ticks(now)),
            0x00 => self.count,
            0x04 => self.cfr,
            0x08 => self.early.into(),
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The watchdog resets the chip: the counter is written too early, or with a value that resets
    /// at once.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        let tick = self.clock.ticks(now);
        match offset {
            0x00 => {
                let count = value & 0x7f;
                if self.running && self.counter(tick) > self.cfr & 0x7f {
                    return Err(bites(
                        "the window watchdog was reloaded before its window and resets the chip",
                    ));
                }
                self.running |= value & WDGA != 0;
                if self.running && count < 0x40 {
                    return Err(bites(
                        "WWDG_CR.T is written with bit 6 clear, and the watchdog resets the chip",
                    ));
                }
                (self.since, self.count) = (tick, count);
            }
            0x04 => {
                let count = self.counter(tick);
                (self.since, self.count) = (tick, if self.running { count } else { self.count });
                self.cfr = value & 0x3ff;
            }
            0x08 => self.early &= value & 1 != 0,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
