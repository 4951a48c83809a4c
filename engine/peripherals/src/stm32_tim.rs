//! General-purpose and basic timers of STM32 chips, as in the STM32F1 (RM0041, chapters General-purpose timers TIM2
//! to TIM4 and Basic timers TIM6 and TIM7): up-counting, one-pulse mode, compare flags. Register
//! offsets and fields were compared with ST's header `stm32f100xb.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::rate::Rate;

/// CR1.
const CEN: u32 = 1;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const ARPE: u32 = 1 << 7;
/// SR and DIER; channels 1 to 4 are the bits above.
const UIF: u32 = 1;

/// A timer.
#[derive(Clone, Debug)]
pub struct Stm32Tim {
    clock: Rate,
    channels: usize,
    /// The highest count.
    most: u32,
    cr1: u32,
    cr2: u32,
    dier: u32,
    sr: u32,
    ccmr: [u32; 2],
    ccr: [u32; 4],
    /// Current values, and those that the next update loads.
    psc: u32,
    next_psc: u32,
    arr: u32,
    next_arr: u32,
    /// The tick at which the counter was `count` with a cleared prescaler, while it runs.
    since: u64,
    count: u32,
    /// Events before this tick have been handled.
    seen: u64,
}

impl Stm32Tim {
    /// Make a timer with this many compare channels; basic timers have none.
    pub const fn new(channels: usize) -> Self {
        Self::with(channels, 0xffff)
    }

    /// Make a timer of 32 bits.
    pub const fn wide(channels: usize) -> Self {
        Self::with(channels, u32::MAX)
    }

    const fn with(channels: usize, most: u32) -> Self {
        Self {
            clock: Rate::new(1, 1),
            channels,
            most,
            cr1: 0,
            cr2: 0,
            dier: 0,
            sr: 0,
            ccmr: [0; 2],
            ccr: [0; 4],
            psc: 0,
            next_psc: 0,
            arr: most,
            next_arr: most,
            since: 0,
            count: 0,
            seen: 0,
        }
    }

    /// Set the timer's clock to `periods` periods in `cycles` core cycles.
    pub fn set_clock(&mut self, periods: u64, cycles: u64, now: Cycles) {
        self.clock.change(now, periods, cycles);
    }

    const fn step_ticks(&self) -> u64 {
        self.psc as u64 + 1
    }

    /// With ARR at 0 the counter is stopped (RM0041, `TIMx_ARR`).
    const fn is_counting(&self) -> bool {
        self.cr1 & CEN != 0 && self.arr != 0
    }

    const fn counter(&self, tick: u64) -> u32 {
        if self.is_counting() {
            (self.count as u64 + (tick - self.since) / self.step_ticks()) as u32
        } else {
            self.count
        }
    }

    /// The tick of the next overflow: at ARR, or at the highest count if the counter is already beyond
    /// ARR.
    const fn overflow(&self) -> u64 {
        let top = if self.count > self.arr {
            self.most
        } else {
            self.arr
        };
        self.since + ((top - self.count) as u64 + 1) * self.step_ticks()
    }

    /// The tick at which the counter reaches a channel's value in this round.
    const fn match_tick(&self, channel: usize) -> Option<u64> {
        let value = self.ccr[channel];
        if value < self.count {
            return None;
        }
        Some(self.since + (value - self.count) as u64 * self.step_ticks())
    }

    const fn take_over(&mut self, tick: u64) {
        (self.psc, self.arr) = (self.next_psc, self.next_arr);
        (self.since, self.count, self.seen) = (tick, 0, tick);
    }

    /// Set the flags of the events up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        let tick = self.clock.ticks(now);
        while self.is_counting() {
            let overflow = self.overflow();
            let until = tick.min(overflow - 1);
            for channel in 0..self.channels {
                if let Some(at) = self.match_tick(channel)
                    && (self.seen..=until).contains(&at)
                {
                    self.sr |= 2 << channel;
                }
            }
            self.seen = self.seen.max(until + 1);
            if overflow > tick {
                break;
            }
            if self.cr1 & UDIS == 0 {
                self.sr |= UIF;
                self.take_over(overflow);
            } else {
                (self.since, self.count, self.seen) = (overflow, 0, overflow);
            }
            if self.cr1 & OPM != 0 {
                self.cr1 &= !CEN;
            }
        }
    }

    /// When the next interrupt occurs.
    pub fn next_event(&self) -> Cycles {
        if !self.is_counting() {
            return Cycles::NEVER;
        }
        let wanted = self.dier & !self.sr;
        let overflow = self.overflow();
        let mut first = u64::MAX;
        if wanted & UIF != 0 && self.cr1 & UDIS == 0 {
            first = overflow;
        }
        for channel in 0..self.channels {
            if wanted & 2 << channel != 0 && self.ccr[channel] <= self.arr {
                // In this round or, if too late, at the overflow.
                let this = self.match_tick(channel).filter(|&at| at >= self.seen);
                first = first.min(this.unwrap_or(overflow));
            }
        }
        if first == u64::MAX {
            Cycles::NEVER
        } else {
            self.clock.cycle_of(first)
        }
    }

    /// Whether its interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.sr & self.dier & 0x1f != 0
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.advance(now);
        Some(match offset {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x0c => self.dier,
            0x10 => self.sr,
            0x14 => 0,
            0x24 => self.counter(self.clock.ticks(now)),
            0x28 => self.next_psc,
            0x2c => self.next_arr,
            0x08 | 0x20 if self.channels > 0 => 0,
            0x18 | 0x1c if self.channels > 0 => self.ccmr[(offset as usize - 0x18) / 4],
            0x34..=0x40 if self.channels > 0 => self.ccr[(offset as usize - 0x34) / 4],
            _ => return None,
        })
    }

    /// Write the register at an offset; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.advance(now);
        let tick = self.clock.ticks(now);
        let absent = |what: &str| {
            let message = format!("the emulation leaves out {what} of timers");
            Err(Fault::new(FaultKind::Absent, message))
        };
        match offset {
            0x00 => {
                if value & 0x370 != 0 {
                    return absent("counting down, centre-aligned counting and CKD (CR1)");
                }
                let count = self.counter(tick);
                if (value ^ self.cr1) & CEN != 0 {
                    (self.since, self.count, self.seen) = (tick, count, tick);
                }
                self.cr1 = value & 0x8f;
            }
            0x04 => self.cr2 = value & 0x70,
            0x0c => {
                if value & !(if self.channels > 0 { 0x1f } else { 1 }) != 0 {
                    return absent("DMA requests and triggers (DIER)");
                }
                self.dier = value;
            }
            // Flags are cleared by writing 0.
            0x10 => self.sr &= value,
            0x14 => {
                if value & 0x40 != 0 {
                    return absent("triggers (EGR.TG)");
                }
                if value & 1 != 0 {
                    if self.cr1 & URS == 0 && self.cr1 & UDIS == 0 {
                        self.sr |= UIF;
                    }
                    self.take_over(tick);
                }
                self.sr |= value & 0x1e & ((2 << self.channels) - 2);
            }
            0x24 => (self.since, self.count, self.seen) = (tick, value & self.most, tick),
            0x28 => self.next_psc = value & 0xffff,
            0x2c => {
                self.next_arr = value & self.most;
                if self.cr1 & ARPE == 0 {
                    self.rebase(tick);
                    self.arr = self.next_arr;
                }
            }
            0x08 if self.channels > 0 => {
                if value != 0 {
                    return absent("slave modes and external clocks (SMCR)");
                }
            }
            0x20 if self.channels > 0 => {
                if value != 0 {
                    return absent("pins (CCER)");
                }
            }
            0x18 | 0x1c if self.channels > 0 => {
                // CCxS selects an input; OCxPE preloads compare values until an update.
                if value & 0x0b0b != 0 {
                    return absent("captures and preloaded compare values (CCMR)");
                }
                self.ccmr[(offset as usize - 0x18) / 4] = value & 0xffff;
            }
            0x34..=0x40 if self.channels > 0 => {
                self.ccr[(offset as usize - 0x34) / 4] = value & self.most;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Move the base to this tick, without losing the prescaler's count.
    const fn rebase(&mut self, tick: u64) {
        let steps = (tick - self.since) / self.step_ticks();
        if self.is_counting() {
            self.count = (self.count as u64 + steps) as u32;
            self.since += steps * self.step_ticks();
        }
    }
}
