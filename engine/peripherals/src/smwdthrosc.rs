//! Sleep timer and watchdog of the CC2538 (SWRU319, chapters Sleep Timer and Watchdog Timer), both
//! on the 32-kHz clock. Register addresses and fields were compared with those in Contiki's port,
//! which TI wrote; the watchdog's intervals and the sleep timer's rules are from memory of the
//! guide.

use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz};

use crate::rate::Rate;

/// WDCTL.
const EN: u32 = 1 << 3;
const INTERVALS: [u64; 4] = [32768, 8192, 512, 64];
/// A compare value closer than this is missed.
const NEAREST: u32 = 5;

/// Sleep timer and watchdog.
#[derive(Clone, Debug)]
pub struct Smwdthrosc {
    clock: Rate,
    /// The tick at which the sleep timer was 0.
    zero: u64,
    /// The counter latched by a read of ST0; the upper bytes of a compare value before ST0 is
    /// written.
    latched: u32,
    upper: u32,
    /// The tick of the compare match.
    compare: Option<u64>,
    /// When the sleep timer's interrupt line rose; it falls one cycle later.
    rose: Option<Cycles>,
    watchdog: u32,
    clear: u32,
    fed: u64,
}

impl Smwdthrosc {
    /// The state after reset, in a core with this clock.
    pub const fn new(core: Hertz, low: FineHertz) -> Self {
        Self::counting(Rate::crystal(low, core))
    }

    const fn counting(clock: Rate) -> Self {
        Self {
            clock,
            zero: 0,
            latched: 0,
            upper: 0,
            compare: None,
            rose: None,
            watchdog: 0,
            clear: 0,
            fed: 0,
        }
    }

    /// Reset: the sleep timer restarts from zero, and the watchdog is off.
    pub fn reset(&mut self, now: Cycles) {
        *self = Self {
            zero: self.clock.ticks(now),
            ..Self::counting(self.clock.clone())
        };
    }

    /// Note that the core's or the crystal's clock changed.
    pub fn set_clocks(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.clock.change_crystal(now, low, core);
    }

    /// Whether the 32-kHz clock is high.
    pub fn is_clock_high(&self, now: Cycles) -> bool {
        self.clock.is_high(now)
    }

    const fn bite(&self) -> Option<u64> {
        if self.watchdog & EN == 0 {
            return None;
        }
        Some(self.fed + INTERVALS[(self.watchdog & 3) as usize])
    }

    /// When [`Smwdthrosc::advance`] has work to do.
    pub fn next_event(&self) -> Cycles {
        let ticks = [self.compare, self.bite()];
        let cycles = ticks.into_iter().flatten();
        cycles
            .map(|tick| self.clock.cycle_of(tick))
            .chain(self.rose.map(|at| at + Cycles(1)))
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    /// Bring both up to `now`.
    ///
    /// # Errors
    /// The watchdog resets the chip.
    pub fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let tick = self.clock.ticks(now);
        if self.bite().is_some_and(|bite| bite <= tick) {
            return Err(Fault::new(
                FaultKind::Watchdog,
                "the watchdog was not cleared in time and resets the chip; write 0xa and 0x5 to WDCTL.CLR",
            ));
        }
        if self.compare.is_some_and(|compare| compare <= tick) {
            (self.compare, self.rose) = (None, Some(now));
        } else if self.rose.is_some_and(|at| at < now) {
            self.rose = None;
        }
        Ok(())
    }

    /// Whether the sleep timer's interrupt line is asserted; it stays so for one cycle.
    pub const fn is_pending(&self) -> bool {
        self.rose.is_some()
    }

    fn count(&self, now: Cycles) -> u32 {
        (self.clock.ticks(now) - self.zero) as u32
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 => self.watchdog,
            0x40 => {
                self.latched = self.count(now);
                self.latched & 0xff
            }
            0x44..=0x4c => self.latched >> ((offset - 0x40) * 2) & 0xff,
            0x50 => 1,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x00 => {
                if value & 4 != 0 {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out the watchdog's timer mode (WDCTL.MODE)",
                    ));
                }
                let (clear, tick) = (value >> 4 & 15, self.clock.ticks(now));
                if self.clear == 0xa && clear == 5 {
                    self.fed = tick;
                }
                self.clear = clear;
                // Once enabled, the watchdog cannot be disabled or its interval changed.
                if self.watchdog & EN == 0 {
                    self.watchdog = value & 0xb;
                    self.fed = tick;
                }
            }
            0x40 => {
                let wanted = self.upper | value & 0xff;
                let count = self.count(now);
                let mut away = u64::from(wanted.wrapping_sub(count));
                if wanted.wrapping_sub(count) < NEAREST {
                    away += 1 << 32;
                }
                self.compare = Some(self.clock.ticks(now) + away);
            }
            0x44..=0x4c => {
                let shift = (offset - 0x40) * 2;
                self.upper = self.upper & !(0xff << shift) | (value & 0xff) << shift;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
