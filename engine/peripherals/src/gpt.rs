//! General-purpose timers of TI's Cortex-M chips: one-shot and periodic counting, in one of 32 bits or
//! two of 16 with prescalers (SWCU117 and SWRU319, chapters General-Purpose Timers). Register offsets
//! and fields were compared with TI's header `hw_gpt.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::rate::Rate;

/// TAMR.
const MODE: u32 = 3;
const ONE_SHOT: u32 = 1;
const UP: u32 = 1 << 4;
const MATCH_INTERRUPT: u32 = 1 << 5;
const NO_TIMEOUT_INTERRUPT: u32 = 1 << 12;
/// TAILD and TAMRSU say when values are taken over: here at once. TAPWMIE, which TI's driver library
/// always sets, is of PWM mode only (SWRU319, `GPTIMER_TAMR`).
const KNOWN: u32 = MODE | UP | MATCH_INTERRUPT | 1 << 8 | 1 << 9 | 1 << 10 | NO_TIMEOUT_INTERRUPT;

/// RIS of timer A; timer B's are 8 and 7 bits higher.
const TIMEOUT: u32 = 1;
const MATCH: u32 = 1 << 4;
const TIMEOUT_B: u32 = 1 << 8;
const MATCH_B: u32 = 1 << 11;

/// One counter. It makes a step every `prescale + 1` ticks and comes round after `load + 1` steps.
#[derive(Clone, Debug)]
struct Half {
    mode: u32,
    load: u32,
    matched: u32,
    prescale: u32,
    /// It is of 16 bits, and the prescaler counts: what is in its register stays with 32 bits.
    is_prescaled: bool,
    enabled: bool,
    /// The tick of its step 0.
    start: u64,
    /// The step where it stands while it is off.
    held: u64,
    /// Steps whose events have been looked at.
    seen: Option<u64>,
}

impl Half {
    const fn new(load: u32) -> Self {
        Self {
            mode: 0,
            load,
            matched: load,
            prescale: 0,
            is_prescaled: false,
            enabled: false,
            start: 0,
            held: 0,
            seen: None,
        }
    }

    const fn period(&self) -> u64 {
        self.load as u64 + 1
    }

    const fn step_ticks(&self) -> u64 {
        if self.is_prescaled {
            self.prescale as u64 + 1
        } else {
            1
        }
    }

    const fn step(&self, tick: u64) -> u64 {
        if self.enabled {
            (tick - self.start) / self.step_ticks()
        } else {
            self.held
        }
    }

    const fn value(&self, tick: u64) -> u32 {
        let into = self.step(tick) % self.period();
        if self.mode & UP == 0 {
            self.load - into as u32
        } else {
            into as u32
        }
    }

    /// The step of the first round in which the match is reached; none of it where it never is.
    const fn match_step(&self) -> u64 {
        if self.matched > self.load {
            self.period()
        } else if self.mode & UP == 0 {
            (self.load - self.matched) as u64
        } else {
            self.matched as u64
        }
    }

    /// The first step after those that were seen and at `at` of a round.
    const fn next(&self, at: u64) -> u64 {
        let Some(seen) = self.seen else { return at };
        if seen < at {
            return at;
        }
        at + (((seen - at) / self.period()) + 1) * self.period()
    }

    /// Start over at a tick.
    const fn restart(&mut self, tick: u64) {
        (self.start, self.held, self.seen) = (tick, 0, None);
    }

    /// The last step of a round is the time-out: counting down it is zero.
    fn advance(&mut self, tick: u64) -> (bool, bool) {
        if !self.enabled {
            return (false, false);
        }
        let one_shot = self.mode & MODE == ONE_SHOT;
        let step = self
            .step(tick)
            .min(if one_shot { self.load.into() } else { u64::MAX });
        let timeout = self.next(u64::from(self.load)) <= step;
        let at = self.match_step();
        let matched =
            self.mode & MATCH_INTERRUPT != 0 && at < self.period() && self.next(at) <= step;
        self.seen = Some(step);
        if timeout && one_shot {
            self.enabled = false;
            (self.held, self.seen) = (0, None);
        }
        (timeout && self.mode & NO_TIMEOUT_INTERRUPT == 0, matched)
    }

    fn enable(&mut self, on: bool, tick: u64) {
        if on == self.enabled {
            return;
        }
        if on {
            self.start = tick - (self.held * self.step_ticks()).min(tick);
        } else {
            self.held = self.step(tick) % self.period();
            self.seen = None;
        }
        self.enabled = on;
    }

    /// The tick of its next event of one kind.
    const fn tick_of(&self, at: u64) -> u64 {
        self.start + self.next(at) * self.step_ticks()
    }
}

/// A timer block.
#[derive(Clone, Debug)]
pub struct Gpt {
    clock: Rate,
    config: u32,
    control: u32,
    imr: u32,
    ris: u32,
    halves: [Half; 2],
}

impl Default for Gpt {
    fn default() -> Self {
        Self {
            clock: Rate::new(1, 1),
            config: 0,
            control: 0,
            imr: 0,
            ris: 0,
            halves: [Half::new(u32::MAX), Half::new(0xffff)],
        }
    }
}

impl Gpt {
    /// The core's clock, divided.
    pub fn set_divider(&mut self, divider: u64, now: Cycles) {
        self.clock.change(now, 1, divider);
    }

    /// Set flags for what has happened up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        let tick = self.clock.ticks(now);
        for (half, timeout, matched) in [(0, TIMEOUT, MATCH), (1, TIMEOUT_B, MATCH_B)] {
            let events = self.halves[half].advance(tick);
            self.ris |= if events.0 { timeout } else { 0 } | if events.1 { matched } else { 0 };
        }
        for (half, bit) in [(0, 1), (1, 1 << 8)] {
            if !self.halves[half].enabled {
                self.control &= !bit;
            }
        }
    }

    /// When an interrupt comes.
    pub fn next_event(&self) -> Cycles {
        let mut first = Cycles::NEVER;
        for (half, timeout, matched) in [
            (&self.halves[0], TIMEOUT, MATCH),
            (&self.halves[1], TIMEOUT_B, MATCH_B),
        ] {
            let wanted = self.imr & !self.ris;
            if half.enabled && wanted & timeout != 0 && half.mode & NO_TIMEOUT_INTERRUPT == 0 {
                first = first.min(self.clock.cycle_of(half.tick_of(u64::from(half.load))));
            }
            let at = half.match_step();
            if half.enabled
                && wanted & matched != 0
                && half.mode & MATCH_INTERRUPT != 0
                && at < half.period()
            {
                first = first.min(self.clock.cycle_of(half.tick_of(at)));
            }
        }
        first
    }

    /// Whether the interrupt lines of A and B are asserted.
    pub const fn pending(&self) -> [bool; 2] {
        let active = self.ris & self.imr;
        [active & 0xff != 0, active & 0xff00 != 0]
    }

    /// Read the register at an offset; `None` where there is none.
    pub fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.advance(now);
        let half = &self.halves[(offset as usize >> 2) & 1];
        Some(match offset {
            0x00 => self.config,
            0x04 => self.halves[0].mode,
            0x08 => self.halves[1].mode,
            0x0c => self.control,
            0x18 => self.imr,
            0x1c => self.ris,
            0x20 => self.ris & self.imr,
            0x28 | 0x2c => half.load,
            0x30 | 0x34 => half.matched,
            0x38 | 0x3c => half.prescale,
            0x48 | 0x4c | 0x50 | 0x54 => half.value(self.clock.ticks(now)),
            _ => return None,
        })
    }

    /// Write the register at an offset; false where there is none.
    ///
    /// # Errors
    /// Something that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.advance(now);
        let tick = self.clock.ticks(now);
        let wide = self.config == 0;
        let half = &mut self.halves[(offset as usize >> 2) & 1];
        let absent = |what: &str| {
            let message = format!("the emulation leaves out {what} of general-purpose timers");
            Err(Fault::new(FaultKind::Absent, message))
        };
        match offset {
            0x00 => match value & 7 {
                0 | 4 => {
                    self.config = value & 7;
                    for half in &mut self.halves {
                        half.is_prescaled = self.config != 0;
                        half.held = 0;
                        half.restart(tick);
                    }
                }
                _ => return absent("the RTC and reserved configurations (CFG)"),
            },
            0x04 | 0x08 => {
                if value & MODE == 3 || value & !KNOWN != 0 {
                    return absent("capture, PWM, triggers, snap-shots and pins (TAMR, TBMR)");
                }
                self.halves[offset as usize / 4 - 1].mode = value;
            }
            0x0c => {
                // TAEN and TBEN; stalling and the events of pins change nothing here.
                if value & (1 << 5 | 1 << 13) != 0 {
                    return absent("triggers (CTL.TAOTE, CTL.TBOTE)");
                }
                self.control = value & 0x4f4f;
                if self.halves[0].mode & MODE == 0 && value & 1 != 0 {
                    return absent("running without a mode (TAMR.TAMR is 0)");
                }
                self.halves[0].enable(value & 1 != 0, tick);
                self.halves[1].enable(!wide && value & 1 << 8 != 0, tick);
            }
            0x18 => self.imr = value & 0x2f37,
            0x24 => self.ris &= !value,
            0x28 | 0x2c => {
                half.load = if wide { value } else { value & 0xffff };
                half.restart(tick);
            }
            0x30 | 0x34 => half.matched = if wide { value } else { value & 0xffff },
            0x38 | 0x3c => {
                half.held = 0;
                half.prescale = value & 0xff;
                half.restart(tick);
            }
            0x50 | 0x54 => {
                let into = if half.mode & UP == 0 {
                    half.load.saturating_sub(value)
                } else {
                    value.min(half.load)
                };
                half.held = u64::from(into);
                half.start = tick.saturating_sub(half.held * half.step_ticks());
                half.seen = Some(half.held);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
