//! The system control space: NVIC, SCB and `SysTick` (ARM DDI 0419E, chapter B3).

use joulemark_kernel::{Fault, FaultKind};

/// Exception numbers (B1.5.2).
pub const NMI: usize = 2;
pub const HARD_FAULT: usize = 3;
pub const SV_CALL: usize = 11;
pub const PEND_SV: usize = 14;
pub const SYS_TICK: usize = 15;
/// External interrupt 0.
pub const EXTERNAL: usize = 16;
/// Exceptions of a core with the most interrupts, 32.
const EXCEPTIONS: usize = 48;

/// The priority of thread mode, below all others.
pub const THREAD: i32 = 256;

/// SCR.
pub const SLEEPONEXIT: u32 = 1 << 1;
pub const SLEEPDEEP: u32 = 1 << 2;
const SEVONPEND: u32 = 1 << 4;

/// What a write asks of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Nothing but to look for exceptions.
    Recheck,
    /// A reset.
    Reset,
}

/// System control space. Sets of exceptions have a bit for each number.
pub struct System {
    pub interrupts: usize,
    pub cpuid: u32,
    pub calibration: u32,
    /// Divider of the core's clock for `SysTick`'s other clock; 0 where there is none.
    pub tick_divider: u32,
    pub pending: u64,
    pub active: u64,
    enabled: u64,
    levels: u64,
    pub pended_event: bool,
    priority: [u8; EXCEPTIONS],
    pub vtor: u32,
    pub scr: u32,
    tick_control: u32,
    tick_reload: u32,
    /// The cycle at which the counter was `tick_value`.
    tick_since: u64,
    tick_value: u32,
    tick_flag: bool,
    tick_is_paused: bool,
}

impl System {
    pub fn new(interrupts: usize, cpuid: u32, calibration: u32, tick_divider: u32) -> Self {
        Self {
            interrupts: interrupts.min(EXCEPTIONS - EXTERNAL),
            cpuid,
            calibration,
            tick_divider,
            pending: 0,
            active: 0,
            // Those of the core are always enabled.
            enabled: (1 << EXTERNAL) - 1,
            levels: 0,
            pended_event: false,
            priority: [0; EXCEPTIONS],
            vtor: 0,
            scr: 0,
            tick_control: 0,
            tick_reload: 0,
            tick_since: 0,
            tick_value: 0,
            tick_flag: false,
            tick_is_paused: false,
        }
    }

    pub fn reset(&mut self) {
        *self = Self::new(
            self.interrupts,
            self.cpuid,
            self.calibration,
            self.tick_divider,
        );
    }

    pub const fn priority_of(&self, number: usize) -> i32 {
        match number {
            NMI => -2,
            HARD_FAULT => -1,
            _ => self.priority[number] as i32,
        }
    }

    /// The priority of the handlers that have not returned (B1.5.4).
    pub fn active_priority(&self) -> i32 {
        let active = bits(self.active).map(|number| self.priority_of(number));
        active.min().unwrap_or(THREAD)
    }

    /// The pending exception that comes first, and its priority.
    pub fn first_pending(&self) -> Option<(usize, i32)> {
        let candidates = bits(self.pending & self.enabled);
        candidates
            .map(|number| (self.priority_of(number), number))
            .min()
            .map(|(priority, number)| (number, priority))
    }

    pub fn pend(&mut self, number: usize) {
        if self.pending >> number & 1 == 0 {
            self.pending |= 1 << number;
            self.pended_event |= self.scr & SEVONPEND != 0;
        }
    }

    /// External lines: a high level pends (B3.4.1); while its exception is active, only a rising edge
    /// does.
    pub fn lines(&mut self, levels: u64) {
        let levels = levels & ((1 << self.interrupts) - 1);
        let rising = levels & !self.levels;
        self.levels = levels;
        let idle = levels & !(self.active >> EXTERNAL);
        for line in bits(rising | idle) {
            self.pend(EXTERNAL + line);
        }
    }

    // SysTick (B3.3).

    const fn tick_cycles(&self) -> u64 {
        if self.tick_divider == 0 || self.tick_control & 4 != 0 {
            1
        } else {
            self.tick_divider as u64
        }
    }

    fn tick_now(&self, now: u64) -> u32 {
        if self.tick_control & 1 == 0 || self.tick_is_paused {
            return self.tick_value;
        }
        let passed = now.saturating_sub(self.tick_since) / self.tick_cycles();
        let (value, reload) = (u64::from(self.tick_value), u64::from(self.tick_reload));
        if passed <= value {
            return (value - passed) as u32;
        }
        if reload == 0 {
            return 0;
        }
        (reload - (passed - value - 1) % (reload + 1)) as u32
    }

    /// When the counter next comes to zero.
    pub fn next_tick(&self) -> u64 {
        if self.tick_control & 1 == 0 || self.tick_is_paused {
            return u64::MAX;
        }
        let counts = match (self.tick_value, self.tick_reload) {
            (0, 0) => return u64::MAX,
            (0, reload) => u64::from(reload) + 1,
            (value, _) => u64::from(value),
        };
        self.tick_since + counts * self.tick_cycles()
    }

    /// The counter came to zero, or not: set the flag, pend, and start again.
    pub fn advance_tick(&mut self, now: u64) {
        while self.next_tick() <= now {
            self.tick_since = self.next_tick();
            self.tick_value = 0;
            self.tick_flag = true;
            if self.tick_control & 2 != 0 {
                self.pend(SYS_TICK);
            }
        }
    }

    /// The core's clock stops: the counter keeps its value.
    pub fn pause_tick(&mut self, now: u64) {
        self.tick_value = self.tick_now(now);
        self.tick_since = now;
        self.tick_is_paused = true;
    }

    pub fn resume_tick(&mut self, now: u64) {
        if std::mem::take(&mut self.tick_is_paused) {
            self.tick_since = now;
        }
    }

    // Registers.

    /// Read a word; `None` where there is none, or none that is emulated.
    pub fn read(&mut self, address: u32, now: u64, ipsr: u8) -> Option<u32> {
        self.advance_tick(now);
        let has = |number: usize| (self.pending >> number & 1) as u32;
        Some(match address {
            0xe000_e008 => 0, // ACTLR has no bit
            0xe000_e010 => {
                let only = u32::from(self.tick_divider == 0) << 2;
                let flag = std::mem::take(&mut self.tick_flag);
                self.tick_control | only | u32::from(flag) << 16
            }
            0xe000_e014 => self.tick_reload,
            0xe000_e018 => self.tick_now(now),
            0xe000_e01c => self.calibration,
            0xe000_e100 | 0xe000_e180 => (self.enabled >> EXTERNAL) as u32,
            0xe000_e200 | 0xe000_e280 => (self.pending >> EXTERNAL) as u32,
            0xe000_e400..=0xe000_e41c => self.priorities(EXTERNAL + (address & 0x1f) as usize),
            0xe000_ed00 => self.cpuid,
            0xe000_ed04 => {
                let first = self.first_pending().map_or(0, |(number, _)| number as u32);
                let external = u32::from(self.pending >> EXTERNAL != 0);
                u32::from(ipsr)
                    | first << 12
                    | external << 22
                    | has(SYS_TICK) << 26
                    | has(PEND_SV) << 28
                    | has(NMI) << 31
            }
            0xe000_ed08 => self.vtor,
            0xe000_ed0c => 0xfa05_0000,
            0xe000_ed10 => self.scr,
            0xe000_ed14 => 0x208, // STKALIGN and UNALIGN_TRP, which are fixed
            0xe000_ed1c => self.priorities(8),
            0xe000_ed20 => self.priorities(12),
            0xe000_ed24 => has(SV_CALL) << 15,
            _ => return None,
        })
    }

    fn priorities(&self, first: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|byte| self.priority[first + byte]))
    }

    fn set_priorities(&mut self, first: usize, value: u32) {
        for (byte, value) in value.to_le_bytes().into_iter().enumerate() {
            let number = first + byte;
            if matches!(number, SV_CALL | PEND_SV | SYS_TICK)
                || (EXTERNAL..EXTERNAL + self.interrupts).contains(&number)
            {
                self.priority[number] = value & 0xc0;
            }
        }
    }

    /// Write a word; `None` where there is no register that is emulated.
    ///
    /// # Errors
    /// What is written has an effect that is not emulated.
    pub fn write(&mut self, address: u32, value: u32, now: u64) -> Result<Option<Request>, Fault> {
        self.advance_tick(now);
        let all = ((1_u64 << self.interrupts) - 1) << EXTERNAL;
        let external = u64::from(value) << EXTERNAL & all;
        match address {
            0xe000_e008 | 0xe000_e01c | 0xe000_ed00 | 0xe000_ed14 | 0xe000_ed24 => {}
            0xe000_e010 => {
                let counter = self.tick_now(now);
                (self.tick_value, self.tick_since) = (counter, now);
                self.tick_control = value & 7;
            }
            0xe000_e014 => {
                // What the counter has counted is with the reload value that it had.
                (self.tick_value, self.tick_since) = (self.tick_now(now), now);
                self.tick_reload = value & 0xff_ffff;
            }
            0xe000_e018 => {
                (self.tick_value, self.tick_since, self.tick_flag) = (0, now, false);
            }
            0xe000_e100 => self.enabled |= external,
            0xe000_e180 => self.enabled &= !external,
            0xe000_e200 => {
                for number in bits(external) {
                    self.pend(number);
                }
            }
            0xe000_e280 => {
                // A line that is still high pends again.
                self.pending &= !external;
                self.lines(self.levels);
            }
            0xe000_e400..=0xe000_e41c => {
                self.set_priorities(EXTERNAL + (address & 0x1f) as usize, value);
            }
            0xe000_ed04 => {
                for (bit, number) in [(31, NMI), (28, PEND_SV), (26, SYS_TICK)] {
                    if value >> bit & 1 != 0 {
                        self.pend(number);
                    }
                }
                for (bit, number) in [(27, PEND_SV), (25, SYS_TICK)] {
                    if value >> bit & 1 != 0 {
                        self.pending &= !(1 << number);
                    }
                }
            }
            0xe000_ed08 => self.vtor = value & !0xff,
            0xe000_ed0c if value >> 16 != 0x05fa => {}
            0xe000_ed0c => {
                if value & 4 != 0 {
                    return Ok(Some(Request::Reset));
                }
            }
            0xe000_ed10 => self.scr = value & (SLEEPONEXIT | SLEEPDEEP | SEVONPEND),
            0xe000_ed1c => self.set_priorities(8, value),
            0xe000_ed20 => self.set_priorities(12, value),
            // MPU_CTRL: off, as it is.
            0xe000_ed94 if value & 1 == 0 => {}
            0xe000_ed94 => {
                let what = "the emulation leaves out the memory protection unit (MPU_CTRL)";
                return Err(Fault::new(FaultKind::Absent, what).at(address));
            }
            _ => return Ok(None),
        }
        Ok(Some(Request::Recheck))
    }
}

/// The numbers of the bits that are set.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}
