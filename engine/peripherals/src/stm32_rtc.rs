//! The real-time clock of STM32F1 chips (RM0041, chapter RTC). Register offsets and fields were
//! compared with ST's header `stm32f100xb.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz};

use crate::rate::Rate;

/// CRL and CRH.
const SECF: u32 = 1;
const ALRF: u32 = 1 << 1;
const OWF: u32 = 1 << 2;
const RSF: u32 = 1 << 3;
const CNF: u32 = 1 << 4;
const RTOFF: u32 = 1 << 5;

/// The real-time clock.
#[derive(Clone, Debug)]
pub struct Stm32Rtc {
    clock: Rate,
    is_clocked: bool,
    crh: u32,
    crl: u32,
    prl: u32,
    alarm: u32,
    /// The tick at which the counter was `count` with a full prescaler, while clocked.
    since: u64,
    count: u32,
    /// Steps since then whose flags were set.
    seen: u64,
    /// The alarm occurred since [`Stm32Rtc::take_alarm`].
    alarmed: bool,
}

impl Default for Stm32Rtc {
    fn default() -> Self {
        Self {
            clock: Rate::new(0, 1),
            is_clocked: false,
            crh: 0,
            crl: RTOFF | RSF,
            prl: 0x8000,
            alarm: u32::MAX,
            since: 0,
            count: 0,
            seen: 0,
            alarmed: false,
        }
    }
}

impl Stm32Rtc {
    /// Set its clock, if any, in a core with this clock.
    pub fn set_clock(&mut self, clock: Option<FineHertz>, core: Hertz, now: Cycles) {
        self.is_clocked = clock.is_some();
        match clock {
            Some(clock) => self.clock.change_crystal(now, clock, core),
            None => self.clock.change(now, 0, 1),
        }
    }

    const fn step_ticks(&self) -> u64 {
        self.prl as u64 + 1
    }

    fn steps(&self, now: Cycles) -> u64 {
        (self.clock.ticks(now) - self.since) / self.step_ticks()
    }

    fn counter(&self, now: Cycles) -> u32 {
        self.count.wrapping_add(self.steps(now) as u32)
    }

    /// Steps from `since` to the next unhandled step at which the counter reaches a value.
    const fn steps_to(&self, value: u32) -> u64 {
        let first = value.wrapping_sub(self.count) as u64;
        if first > self.seen {
            first
        } else {
            first + (1 << 32)
        }
    }

    /// Set the flags of the events up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        let steps = self.steps(now);
        if steps <= self.seen {
            return;
        }
        self.crl |= SECF;
        // The alarm flag is set when the counter leaves the alarm value (RM0041, RTC_CRL).
        if self.steps_to(self.alarm.wrapping_add(1)) <= steps {
            self.crl |= ALRF;
            self.alarmed = true;
        }
        if self.steps_to(0) <= steps {
            self.crl |= OWF;
        }
        self.seen = steps;
    }

    /// Whether the alarm occurred since the last call: it goes to EXTI regardless of `RTC_CRH`.
    pub fn take_alarm(&mut self) -> bool {
        std::mem::take(&mut self.alarmed)
    }

    /// When the next interrupt or alarm occurs.
    pub fn next_event(&self) -> Cycles {
        let wanted = self.crh & !self.crl | ALRF;
        let steps = [
            (SECF, self.seen + 1),
            (ALRF, self.steps_to(self.alarm.wrapping_add(1))),
            (OWF, self.steps_to(0)),
        ];
        let due = steps.into_iter().filter(|&(bit, _)| wanted & bit != 0);
        due.map(|(_, step)| self.clock.cycle_of(self.since + step * self.step_ticks()))
            .min()
            .unwrap_or(Cycles::NEVER)
    }

    /// Whether its global interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.crl & self.crh & 7 != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.advance(now);
        let halves = |value: u32| {
            if offset & 4 == 0 {
                value >> 16
            } else {
                value & 0xffff
            }
        };
        Some(match offset {
            0x00 => self.crh,
            0x04 => self.crl,
            0x10 | 0x14 => {
                let into = (self.clock.ticks(now) - self.since) % self.step_ticks();
                halves(self.prl - into as u32)
            }
            0x18 | 0x1c => halves(self.counter(now)),
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The clock is off, or a setting is written outside configuration mode.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.advance(now);
        if !self.is_clocked {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "the RTC is written while it has no clock (RCC_BDCR.RTCEN, RCC_BDCR.RTCSEL)",
            ));
        }
        let low = value & 0xffff;
        let merge = |old: u32| {
            if offset & 4 == 0 {
                old & 0xffff | low << 16
            } else {
                old & !0xffff | low
            }
        };
        if offset >= 0x08 && self.crl & CNF == 0 {
            return Err(Fault::new(
                FaultKind::Peripheral,
                "the RTC's prescaler, counter or alarm is written without RTC_CRL.CNF",
            ));
        }
        match offset {
            0x00 => self.crh = value & 7,
            // Flags are cleared by writing 0; RSF is set again at once.
            0x04 => self.crl = self.crl & value & 7 | RSF | RTOFF | value & CNF,
            0x08 | 0x0c => {
                let prl = merge(self.prl) & 0x000f_ffff;
                self.restart(self.counter(now), now);
                self.prl = prl;
            }
            0x18 | 0x1c => self.restart(merge(self.counter(now)), now),
            0x20 | 0x24 => self.alarm = merge(self.alarm),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn restart(&mut self, count: u32, now: Cycles) {
        (self.since, self.count, self.seen) = (self.clock.ticks(now), count, 0);
    }
}
