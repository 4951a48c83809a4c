//! General-purpose timers of TI's Cortex-M chips: one-shot and periodic counting, as one 32-bit
//! timer or two 16-bit timers with prescalers, and PWM without its pin (SWCU117 and SWRU319,
//! chapters General-Purpose Timers). Register offsets and fields were compared with TI's header
//! `hw_gpt.h`.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::rate::Rate;

/// TAMR.
const MODE: u32 = 3;
const ONE_SHOT: u32 = 1;
const PERIODIC: u32 = 2;
const PWM: u32 = 1 << 3;
const PWM_INTERRUPT: u32 = 1 << 9;
const UP: u32 = 1 << 4;
const MATCH_INTERRUPT: u32 = 1 << 5;
const NO_TIMEOUT_INTERRUPT: u32 = 1 << 12;
/// TAILD and TAMRSU select when new values take effect, which is at once here. TAPWMIE, which TI's
/// driver library always sets, matters only in PWM mode (SWRU319, `GPTIMER_TAMR`).
const KNOWN: u32 =
    MODE | PWM | UP | MATCH_INTERRUPT | 1 << 8 | PWM_INTERRUPT | 1 << 10 | NO_TIMEOUT_INTERRUPT;

/// CTL of timer A (timer B's fields are 8 bits higher): the PWM edges that interrupt (1: falling,
/// 3: both), and output inversion.
const EVENT: u32 = 3 << 2;
const FALLING: u32 = 1 << 2;
const BOTH: u32 = 3 << 2;
const INVERTED: u32 = 1 << 6;

/// CTL: timers A and B are enabled.
const ENABLES: [u32; 2] = [1, 1 << 8];

/// RIS of timers A and B: time-out, PWM edge, match.
const TIMEOUT: [u32; 2] = [1, 1 << 8];
const EDGE: [u32; 2] = [1 << 2, 1 << 10];
const MATCH: [u32; 2] = [1 << 4, 1 << 11];

/// One counter. It steps every `prescale + 1` ticks and wraps after `load + 1` steps.
#[derive(Clone, Debug)]
struct Half {
    mode: u32,
    load: u32,
    matched: u32,
    prescale: u32,
    prescale_match: u32,
    /// Whether the prescaler counts, because the counter has 16 bits; its register stays set with
    /// 32 bits.
    is_prescaled: bool,
    enabled: bool,
    /// The tick of step 0.
    start: u64,
    /// The current step while the counter is off.
    held: u64,
    /// The last step whose events were handled.
    seen: Option<u64>,
}

impl Half {
    const fn new(load: u32) -> Self {
        Self {
            mode: 0,
            load,
            matched: load,
            prescale: 0,
            prescale_match: 0,
            is_prescaled: false,
            enabled: false,
            start: 0,
            held: 0,
            seen: None,
        }
    }

    const fn is_pwm(&self) -> bool {
        self.mode & PWM != 0
    }

    /// The load value; in PWM mode, the prescaler supplies its upper bits.
    const fn last(&self) -> u32 {
        let upper = if self.is_pwm() { self.prescale } else { 0 };
        self.load | upper << 16
    }

    const fn matched(&self) -> u32 {
        let upper = if self.is_pwm() {
            self.prescale_match
        } else {
            0
        };
        self.matched | upper << 16
    }

    /// Reject a prescaler match outside PWM mode, whose effect is left out.
    fn check_prescaler(&self) -> Result<(), Fault> {
        if self.prescale_match == 0 || self.is_pwm() || self.mode & MODE == 0 {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Absent,
            "the emulation leaves out the prescaler's match of general-purpose timers (TAPMR, TBPMR) \
             but for PWM",
        ))
    }

    const fn period(&self) -> u64 {
        self.last() as u64 + 1
    }

    const fn step_ticks(&self) -> u64 {
        if self.is_prescaled && !self.is_pwm() {
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
            self.last() - into as u32
        } else {
            into as u32
        }
    }

    /// The step of a round at which the match occurs; if it never does, a step beyond the round.
    const fn match_step(&self) -> u64 {
        if self.matched() > self.last() {
            self.period()
        } else if self.mode & UP == 0 {
            (self.last() - self.matched()) as u64
        } else {
            self.matched() as u64
        }
    }

    /// The next unhandled step that is at `at` within a round.
    const fn next(&self, at: u64) -> u64 {
        let Some(seen) = self.seen else { return at };
        if seen < at {
            return at;
        }
        at + (((seen - at) / self.period()) + 1) * self.period()
    }

    /// Restart at a tick.
    const fn restart(&mut self, tick: u64) {
        (self.start, self.held, self.seen) = (tick, 0, None);
    }

    /// Flags, and the step of a round that sets each. Counting down, the time-out is at zero. PWM
    /// output is high from the first step and low from the match.
    fn events(&self, which: usize, control: u32) -> [(u32, u64); 2] {
        let match_step = self.match_step();
        let [first, second] = if self.is_pwm() {
            let event = control >> (8 * which) & EVENT;
            let inverted = control >> (8 * which) & INVERTED != 0;
            let enabled = self.mode & PWM_INTERRUPT != 0;
            let wanted = [event == FALLING, event != FALLING].map(|only| only || event == BOTH);
            let [falls, rises] =
                wanted.map(|wanted| if enabled && wanted { EDGE[which] } else { 0 });
            let [starts, ends] = if inverted {
                [falls, rises]
            } else {
                [rises, falls]
            };
            [(starts, 0), (ends, match_step)]
        } else {
            let timeout = self.mode & NO_TIMEOUT_INTERRUPT == 0;
            let matched = self.mode & MATCH_INTERRUPT != 0;
            [
                (if timeout { TIMEOUT[which] } else { 0 }, self.last().into()),
                (if matched { MATCH[which] } else { 0 }, match_step),
            ]
        };
        let of_round = |(flag, step)| {
            if step < self.period() {
                (flag, step)
            } else {
                (0, step)
            }
        };
        [of_round(first), of_round(second)]
    }

    /// Return the flags of the events up to a tick.
    fn advance(&mut self, tick: u64, which: usize, control: u32) -> u32 {
        if !self.enabled {
            return 0;
        }
        let one_shot = self.mode & MODE == ONE_SHOT;
        let last = u64::from(self.last());
        let step = self.step(tick).min(if one_shot { last } else { u64::MAX });
        let mut flags = 0;
        for (flag, at) in self.events(which, control) {
            if self.next(at) <= step {
                flags |= flag;
            }
        }
        let is_over = one_shot && self.next(last) <= step;
        self.seen = Some(step);
        if is_over {
            self.enabled = false;
            (self.held, self.seen) = (0, None);
        }
        flags
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

    /// The tick of the next event at `at` within a round.
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
    /// Set how many core cycles a tick takes.
    pub fn set_divider(&mut self, divider: u64, now: Cycles) {
        self.clock.change(now, 1, divider);
    }

    /// Set the flags of the events up to `now`.
    pub fn advance(&mut self, now: Cycles) {
        let tick = self.clock.ticks(now);
        for (which, half) in self.halves.iter_mut().enumerate() {
            self.ris |= half.advance(tick, which, self.control);
        }
        for (half, bit) in self.halves.iter().zip(ENABLES) {
            if !half.enabled && half.mode & MODE != 0 {
                self.control &= !bit;
            }
        }
    }

    /// Run the enabled timers that have a mode: RIOT enables a timer before it sets the mode.
    fn run(&mut self, tick: u64) {
        let is_wide = self.config == 0;
        for (which, (half, bit)) in self.halves.iter_mut().zip(ENABLES).enumerate() {
            let exists = which == 0 || !is_wide;
            half.enable(
                exists && half.mode & MODE != 0 && self.control & bit != 0,
                tick,
            );
        }
    }

    /// When the next interrupt occurs.
    pub fn next_event(&self) -> Cycles {
        let mut first = Cycles::NEVER;
        for (which, half) in self.halves.iter().enumerate() {
            for (flag, at) in half.events(which, self.control) {
                if half.enabled && flag & self.imr & !self.ris != 0 {
                    first = first.min(self.clock.cycle_of(half.tick_of(at)));
                }
            }
        }
        first
    }

    /// Whether the interrupt lines of A and B are asserted.
    pub const fn pending(&self) -> [bool; 2] {
        let active = self.ris & self.imr;
        [active & 0xff != 0, active & 0xff00 != 0]
    }

    /// Read the register at an offset; `None` if there is none.
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
            0x40 | 0x44 => half.prescale_match,
            0x48 | 0x4c | 0x50 | 0x54 => half.value(self.clock.ticks(now)),
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
                let is_pwm = value & PWM != 0;
                if value & MODE == 3
                    || value & !KNOWN != 0
                    || is_pwm && (wide || value & (MODE | UP) != PERIODIC)
                {
                    return absent("capture, triggers, snap-shots and pins (TAMR, TBMR)");
                }
                let half = &mut self.halves[offset as usize / 4 - 1];
                half.mode = value;
                half.check_prescaler()?;
                self.run(tick);
            }
            0x0c => {
                // Only TAEN, TBEN and PWM's edges and inversion matter; stalling has no effect
                // here.
                if value & (1 << 5 | 1 << 13) != 0 {
                    return absent("triggers (CTL.TAOTE, CTL.TBOTE)");
                }
                self.control = value & 0x4f4f;
                self.run(tick);
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
            0x40 | 0x44 => {
                half.prescale_match = value & 0xff;
                half.check_prescaler()?;
            }
            0x50 | 0x54 => {
                let into = if half.mode & UP == 0 {
                    half.last().saturating_sub(value)
                } else {
                    value.min(half.last())
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
