//! The watchdog timer of `CC26x0` chips (SWCU117, chapter Watchdog Timer). Register offsets and
//! fields were compared with TI's header `hw_wdt.h`; the division of the core's clock by 32 is from
//! memory of the manual.

use joulemark_kernel::{Cycles, Fault, FaultKind};

const INTEN: u32 = 1;
const RESEN: u32 = 1 << 1;
const INTTYPE: u32 = 1 << 2;
const UNLOCK: u32 = 0x1acc_e551;
const CYCLES_PER_COUNT: u64 = 32;

/// The watchdog.
#[derive(Clone, Debug)]
pub struct TiWatchdog {
    load: u32,
    control: u32,
    timed_out: bool,
    locked: bool,
    /// When the counter was loaded, and its value then.
    since: u64,
    from: u32,
}

impl Default for TiWatchdog {
    fn default() -> Self {
        Self {
            load: u32::MAX,
            control: 0,
            timed_out: false,
            locked: false,
            since: 0,
            from: u32::MAX,
        }
    }
}

impl TiWatchdog {
    const fn is_running(&self) -> bool {
        self.control & INTEN != 0
    }

    const fn value(&self, now: Cycles) -> u32 {
        if !self.is_running() {
            return self.from;
        }
        let passed = (now.0 - self.since) / CYCLES_PER_COUNT;
        self.from.saturating_sub(if passed > u32::MAX as u64 {
            u32::MAX
        } else {
            passed as u32
        })
    }

    const fn reload(&mut self, now: Cycles) {
        (self.since, self.from) = (now.0, self.load);
    }

    /// When the counter next reaches zero.
    pub const fn next_event(&self) -> Cycles {
        if self.is_running() {
            Cycles(self.since + self.from as u64 * CYCLES_PER_COUNT)
        } else {
            Cycles::NEVER
        }
    }

    /// Bring the watchdog up to `now`.
    ///
    /// # Errors
    /// The counter reached zero a second time and the watchdog resets the chip.
    pub fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        while self.next_event() <= now {
            let at = self.next_event();
            if self.timed_out && self.control & RESEN != 0 {
                return Err(Fault::new(
                    FaultKind::Watchdog,
                    "the watchdog (WDT) came to zero a second time and resets the chip; write WDT.ICR in \
                     time",
                ));
            }
            self.timed_out = true;
            self.since = at.0.max(self.since + 1);
            self.from = self.load;
        }
        Ok(())
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.timed_out && self.is_running()
    }

    /// Read the register at an offset; `None` if there is none.
    pub const fn read(&self, offset: u32, now: Cycles) -> Option<u32> {
        Some(match offset {
            0x00 => self.load,
            0x04 => self.value(now),
            0x08 => self.control,
            0x10 => self.timed_out as u32,
            0x14 => self.is_pending() as u32,
            0xc00 => self.locked as u32,
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        if offset == 0xc00 {
            self.locked = value != UNLOCK;
            return Ok(true);
        }
        if !matches!(offset, 0x00 | 0x08 | 0x0c) {
            return Ok(false);
        }
        // ICR is not locked: inferred from Contiki-NG, which clears a locked watchdog successfully.
        if self.locked && offset != 0x0c {
            return Ok(true);
        }
        match offset {
            0x00 => {
                self.load = value;
                self.reload(now);
            }
            0x08 => {
                if value & INTTYPE != 0 {
                    return Err(Fault::new(
                        FaultKind::Absent,
                        "the emulation leaves out the watchdog's non-maskable interrupt (WDT.CTL.INTTYPE)",
                    ));
                }
                let was = self.is_running();
                // INTEN stays set until a reset.
                self.control = value & 7 | self.control & INTEN;
                if self.is_running() && !was {
                    self.reload(now);
                }
            }
            _ => {
                self.timed_out = false;
                self.reload(now);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_cleared_but_not_set_up_while_it_is_locked() {
        let mut watchdog = TiWatchdog::default();
        let mut write = |offset, value| watchdog.write(offset, value, Cycles(0)).unwrap();
        assert!(write(0x00, 100));
        assert!(write(0x08, INTEN));
        assert!(write(0xc00, 0));
        assert!(write(0x00, 200));
        assert!(write(0x08, INTEN | RESEN));
        assert_eq!(watchdog.read(0xc00, Cycles(0)), Some(1));
        assert_eq!(watchdog.read(0x00, Cycles(0)), Some(100));
        assert_eq!(watchdog.read(0x08, Cycles(0)), Some(INTEN));
        let late = Cycles(100 * CYCLES_PER_COUNT);
        watchdog.advance(late).unwrap();
        assert!(watchdog.is_pending());
        watchdog.write(0x0c, 1, late).unwrap();
        assert!(!watchdog.is_pending());
    }
}
