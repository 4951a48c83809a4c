//! Watchdog timer (chapter 10).

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::basic_clock::{BasicClock, Source};
use crate::sfr::{self, Sfr};

const HOLD: u8 = 0x80;
const TMSEL: u8 = 0x10;
const CNTCL: u8 = 0x08;
const SSEL: u8 = 0x04;
const PASSWORD: u8 = 0x5a;

/// The watchdog.
#[derive(Clone, Debug, Default)]
pub struct Watchdog {
    control: u8,
    /// The source clock's tick at which the counter was zero; and the count while it is held.
    zero: u64,
    held_count: u64,
}

impl Watchdog {
    /// The stopped state, as a debugger that sets the program counter leaves it.
    pub fn held() -> Self {
        Self {
            control: HOLD,
            ..Self::default()
        }
    }

    /// Reset by a power-up clear (section 10.3): it runs, from zero.
    pub fn power_up_clear(&mut self, clock: &BasicClock, now: Cycles) {
        *self = Self {
            zero: clock.rate(Source::Smclk).ticks(now),
            ..Self::default()
        };
    }

    fn source(&self) -> Source {
        if self.control & SSEL != 0 {
            Source::Aclk
        } else {
            Source::Smclk
        }
    }

    fn interval(&self) -> u64 {
        [32768, 8192, 512, 64][usize::from(self.control & 3)]
    }

    fn count(&self, clock: &BasicClock, now: Cycles) -> u64 {
        if self.control & HOLD != 0 {
            self.held_count
        } else {
            clock.rate(self.source()).ticks(now).wrapping_sub(self.zero)
        }
    }

    /// WDTCTL: the high byte reads 0x69, and CNTCL reads 0 (section 10.3).
    pub fn wdtctl(&self) -> u16 {
        0x6900 | u16::from(self.control)
    }

    /// Write WDTCTL.
    ///
    /// # Errors
    /// The password is wrong: the chip resets (section 10.2).
    pub fn set_wdtctl(&mut self, value: u16, clock: &BasicClock, now: Cycles) -> Result<(), Fault> {
        if (value >> 8) as u8 != PASSWORD {
            return Err(Fault::new(
                FaultKind::Watchdog,
                format!(
                    "WDTCTL is written without its password: {value:#06x} does not begin with 0x5a; \
                     the chip resets"
                ),
            )
            .at(0x0120_u16));
        }
        let value = value as u8;
        let count = if value & CNTCL != 0 {
            0
        } else {
            self.count(clock, now)
        };
        self.control = value & !CNTCL;
        self.held_count = count;
        // A count carried over to another clock may put zero before that clock's tick 0: wrap.
        self.zero = clock.rate(self.source()).ticks(now).wrapping_sub(count);
        Ok(())
    }

    /// When the interval ends.
    pub fn next_event(&self, clock: &BasicClock) -> Cycles {
        if self.control & HOLD != 0 {
            return Cycles::NEVER;
        }
        clock
            .rate(self.source())
            .cycle_of(self.zero.wrapping_add(self.interval()))
    }

    /// End the interval if it is over.
    ///
    /// # Errors
    /// In watchdog mode, the watchdog resets the chip.
    pub fn advance(&mut self, clock: &BasicClock, sfr: &mut Sfr, now: Cycles) -> Result<(), Fault> {
        if self.next_event(clock) > now {
            return Ok(());
        }
        sfr.ifg[0] |= sfr::WDT;
        if self.control & TMSEL == 0 {
            return Err(Fault::new(
                FaultKind::Watchdog,
                format!(
                    "the watchdog resets the chip: {} clocks passed without a write to WDTCTL; stop \
                     it (WDTPW | WDTHOLD) or clear it in time",
                    self.interval()
                ),
            ));
        }
        let passed = clock.rate(self.source()).ticks(now).wrapping_sub(self.zero);
        self.zero = self.zero.wrapping_add(passed - passed % self.interval());
        Ok(())
    }
}
