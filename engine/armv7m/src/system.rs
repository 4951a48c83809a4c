//! The system control space: NVIC, SCB, `SysTick` and the DWT's counters (ARM DDI 0403E.e, B3 and
//! C1.8).

use joulemark_kernel::{Fault, FaultKind};

use crate::bus::Width;
use crate::fpu::FloatControl;
use crate::mpu::Mpu;

/// A usage fault's cause, as its bit in CFSR (B3.2.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UsageFault {
    Undefined = 16,
    InvalidState = 17,
    InvalidReturn = 18,
    NoCoprocessor = 19,
    Unaligned = 24,
    DivideByZero = 25,
}

/// Exception numbers (B1.5.2).
pub mod exception {
    #![allow(missing_docs)]
    pub const RESET: usize = 1;
    pub const NMI: usize = 2;
    pub const HARD_FAULT: usize = 3;
    pub const MEM_MANAGE: usize = 4;
    pub const BUS_FAULT: usize = 5;
    pub const USAGE_FAULT: usize = 6;
    pub const SV_CALL: usize = 11;
    pub const DEBUG_MONITOR: usize = 12;
    pub const PEND_SV: usize = 14;
    pub const SYS_TICK: usize = 15;
    /// External interrupt 0.
    pub const EXTERNAL: usize = 16;
}

/// A set of exception numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; 4]);

impl Set {
    pub const fn has(&self, number: usize) -> bool {
        self.0[number >> 6] >> (number & 63) & 1 != 0
    }

    pub const fn put(&mut self, number: usize, value: bool) {
        let bit = 1 << (number & 63);
        if value {
            self.0[number >> 6] |= bit;
        } else {
            self.0[number >> 6] &= !bit;
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        (0..4).flat_map(move |word| {
            let mut left = words[word];
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(word * 64 + bit)
            })
        })
    }
}

/// The DWT's counters (C1.8); CYCCNT is kept as the difference to the core's cycle counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dwt {
    pub control: u32,
    cycle_offset: u32,
    /// CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT: value minus the event total when it was written.
    offsets: [u8; 5],
}

/// Totals of the events that the DWT counts, from the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Cycles after an instruction's first that no load or store is to blame for.
    pub cpi: u64,
    /// Cycles of exception entry and return.
    pub exception: u64,
    /// Cycles asleep.
    pub sleep: u64,
    /// Cycles after an instruction's first, in loads and stores.
    pub lsu: u64,
    /// Folded IT instructions.
    pub fold: u64,
}

impl Events {
    const fn total(&self, counter: usize) -> u8 {
        (match counter {
            0 => self.cpi,
            1 => self.exception,
            2 => self.sleep,
            3 => self.lsu,
            _ => self.fold,
        }) as u8
    }
}

/// Requests of a write to the system control space to the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Look for exceptions to take.
    Recheck,
    Reset,
    /// The run ends: what was written would go wrong, or is not emulated.
    Refuse(Fault),
}

/// Differences between chips in the system control space.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// External interrupt lines.
    pub interrupts: usize,
    /// Implemented bits of a priority.
    pub priority_bits: u8,
    /// The CPUID register.
    pub cpuid: u32,
    /// `SysTick`'s calibration register.
    pub tick_calibration: u32,
    /// Regions of the memory protection unit; 0 where there is none.
    pub mpu_regions: usize,
    /// There is the floating-point extension.
    pub float: bool,
}

impl Model {
    const fn is_cortex_m4(&self) -> bool {
        self.cpuid >> 4 & 0xfff == 0xc24
    }

    /// Where a vector table may begin: multiples of the next power of two of its size (B3.2.5).
    pub const fn table_alignment(&self) -> u32 {
        let size = (4 * (exception::EXTERNAL + self.interrupts) as u32).next_power_of_two();
        if size < 0x80 { 0x80 } else { size }
    }
}

/// System control space.
pub struct System {
    pub model: Model,
    pub pending: Set,
    pub active: Set,
    pub enabled: Set,
    /// The external lines when they were last looked at.
    levels: [u64; 4],
    /// Something has come to be pending with SEVONPEND set.
    pub pended_event: bool,
    priority: [u8; 256],
    pub vtor: u32,
    aircr_group: u8,
    pub scr: u32,
    pub ccr: u32,
    pub shcsr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
    pub actlr: u32,
    pub mpu: Mpu,
    pub float: FloatControl,
    demcr: u32,
    tick_control: u32,
    tick_reload: u32,
    /// The cycle at which the counter was `tick_value`.
    tick_since: u64,
    tick_value: u32,
    tick_flag: bool,
    /// The core's clock stands still.
    tick_is_paused: bool,
    /// Divider of the core's clock for `SysTick`'s other clock; 0 where there is none.
    pub tick_divider: u32,
    dwt: Dwt,
}

impl System {
    pub fn new(model: Model) -> Self {
        Self {
            model,
            tick_divider: 0,
            pending: Set::default(),
            active: Set::default(),
            enabled: Set::default(),
            levels: [0; 4],
            pended_event: false,
            priority: [0; 256],
            vtor: 0,
            aircr_group: 0,
            scr: 0,
            ccr: 0x200, // STKALIGN (ARM DDI 0337I, table 4-1: reset value)
            shcsr: 0,
            cfsr: 0,
            hfsr: 0,
            mmfar: 0,
            bfar: 0,
            actlr: 0,
            mpu: Mpu::new(model.mpu_regions),
            float: FloatControl::new(model.float),
            demcr: 0,
            tick_control: 0,
            tick_reload: 0,
            tick_since: 0,
            tick_value: 0,
            tick_flag: false,
            tick_is_paused: false,
            dwt: Dwt {
                control: 0x4000_0000,
                ..Dwt::default()
            },
        }
    }

    pub fn reset(&mut self) {
        *self = Self {
            tick_divider: self.tick_divider,
            ..Self::new(self.model)
        };
    }

    pub const fn divide_by_zero_traps(&self) -> bool {
        self.ccr & 0x10 != 0
    }

    pub const fn unaligned_traps(&self) -> bool {
        self.ccr & 8 != 0
    }

    /// Whether ACTLR turns the write buffer off (DISDEFWBUF).
    pub const fn write_buffer_disabled(&self) -> bool {
        self.actlr & 2 != 0
    }

    pub const fn folding_disabled(&self) -> bool {
        self.actlr & 4 != 0
    }

    /// The priority bits that this chip has.
    pub const fn priority_mask(&self) -> u8 {
        (0xff00_u16 >> self.model.priority_bits) as u8
    }

    /// The group part of a priority (B1.5.4).
    pub const fn group(&self, priority: u8) -> i32 {
        let sub = (2_u32 << self.aircr_group) - 1;
        (priority as u32 & !sub) as i32
    }

    pub const fn priority_of(&self, number: usize) -> i32 {
        match number {
            exception::RESET => -3,
            exception::NMI => -2,
            exception::HARD_FAULT => -1,
            _ => self.priority[number] as i32,
        }
    }

    pub const fn group_priority_of(&self, number: usize) -> i32 {
        if number <= 3 {
            self.priority_of(number)
        } else {
            self.group(self.priority[number])
        }
    }

    pub fn can_be_taken(&self, number: usize) -> bool {
        match number {
            exception::MEM_MANAGE => self.shcsr & 1 << 16 != 0,
            exception::BUS_FAULT => self.shcsr & 1 << 17 != 0,
            exception::USAGE_FAULT => self.shcsr & 1 << 18 != 0,
            0..=15 => true,
            _ => self.enabled.has(number),
        }
    }

    /// The pending exception that would be taken first, with its group priority.
    pub fn first_pending(&self) -> Option<(usize, i32)> {
        if self.pending.is_empty() {
            return None;
        }
        self.pending
            .iter()
            .filter(|&number| self.can_be_taken(number))
            .min_by_key(|&number| (self.priority_of(number), number))
            .map(|number| (number, self.group_priority_of(number)))
    }

    /// An exception comes to be pending.
    pub const fn pend(&mut self, number: usize) {
        if !self.pending.has(number) {
            self.pending.put(number, true);
            self.pended_event |= self.scr & 0x10 != 0; // SEVONPEND
        }
    }

    /// External lines: a high level pends (B3.4.1); while its exception is active, only a rising
    /// edge does. True where something came to be pending.
    pub fn lines(&mut self, levels: [u64; 4]) -> bool {
        let mut changed = false;
        for (word, level) in levels.into_iter().enumerate() {
            let rising = level & !self.levels[word];
            self.levels[word] = level;
            let mut bits = level;
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let number = exception::EXTERNAL + word * 64 + bit;
                if number < 256
                    && !self.pending.has(number)
                    && (rising >> bit & 1 != 0 || !self.active.has(number))
                {
                    self.pend(number);
                    changed = true;
                }
            }
        }
        changed
    }

    /// The line of the non-maskable interrupt: a high level pends unless its handler runs. True where
    /// it came to be pending.
    pub const fn nmi(&mut self, level: bool) -> bool {
        let number = exception::NMI;
        let pends = level && !self.pending.has(number) && !self.active.has(number);
        if pends {
            self.pend(number);
        }
        pends
    }

    // SysTick (B3.3).

    /// Cycles of a count (CLKSOURCE; without another clock it reads as 1).
    const fn tick_cycles(&self) -> u64 {
        if self.tick_divider == 0 || self.tick_control & 4 != 0 {
            1
        } else {
            self.tick_divider as u64
        }
    }

    fn tick_now(&self, now: u64) -> u32 {
        if self.tick_control & 1 == 0 {
            return self.tick_value;
        }
        // A debugger may look in the cycle of the write.
        let passed = now.saturating_sub(self.tick_since) / self.tick_cycles();
        if passed <= u64::from(self.tick_value) {
            return self.tick_value - passed as u32;
        }
        if self.tick_reload == 0 {
            return 0;
        }
        let period = u64::from(self.tick_reload) + 1;
        let into = (passed - u64::from(self.tick_value) - 1) % period;
        self.tick_reload - into as u32
    }

    /// When the counter next comes to zero.
    pub fn next_tick(&self) -> u64 {
        if self.tick_control & 1 == 0 || self.tick_is_paused {
            return u64::MAX;
        }
        if self.tick_value == 0 {
            if self.tick_reload == 0 {
                return u64::MAX;
            }
            return self.tick_since + (1 + u64::from(self.tick_reload)) * self.tick_cycles();
        }
        self.tick_since + u64::from(self.tick_value) * self.tick_cycles()
    }

    /// The core's clock stops: the counter keeps its value.
    pub fn pause_tick(&mut self, now: u64) {
        self.tick_value = self.tick_now(now);
        self.tick_since = now;
        self.tick_is_paused = true;
    }

    /// The core's clock runs: the counter goes on.
    pub fn resume_tick(&mut self, now: u64) {
        if std::mem::take(&mut self.tick_is_paused) {
            self.tick_since = now;
        }
    }

    /// The counter came to zero: set the flag, pend, and start again. True where it pends.
    pub fn advance_tick(&mut self, now: u64) -> bool {
        let mut pends = false;
        while self.next_tick() <= now {
            self.tick_since = self.next_tick();
            self.tick_value = 0;
            self.tick_flag = true;
            if self.tick_control & 2 != 0 {
                self.pend(exception::SYS_TICK);
                pends = true;
            }
        }
        pends
    }

    // Register access.

    /// Read a word at an address in the private peripheral bus; `None` where there is nothing.
    #[allow(clippy::match_same_arms)] // in the order of the addresses
    pub fn read(&mut self, address: u32, now: u64, events: &Events, ipsr: u16) -> Option<u32> {
        let word = ((address & 0x7c) / 4) as usize;
        Some(match address {
            0xe000_1000 => self.dwt.control,
            0xe000_1004 => self.cycle_count(now),
            0xe000_1008..=0xe000_1018 => {
                let counter = ((address - 0xe000_1008) / 4) as usize;
                u32::from(self.event_count(counter, events))
            }
            0xe000_101c | 0xe000_1020..=0xe000_105c => 0,
            0xe000_e004 => (self.model.interrupts as u32)
                .div_ceil(32)
                .saturating_sub(1),
            0xe000_e008 => self.actlr,
            0xe000_e010 => {
                let only = u32::from(self.tick_divider == 0) << 2;
                let value = self.tick_control | only | u32::from(self.tick_flag) << 16;
                self.tick_flag = false;
                value
            }
            0xe000_e014 => self.tick_reload,
            0xe000_e018 => self.tick_now(now),
            0xe000_e01c => self.model.tick_calibration,
            0xe000_e100..=0xe000_e11c | 0xe000_e180..=0xe000_e19c => {
                Self::bits(&self.enabled, word)
            }
            0xe000_e200..=0xe000_e21c | 0xe000_e280..=0xe000_e29c => {
                Self::bits(&self.pending, word)
            }
            0xe000_e300..=0xe000_e31c => Self::bits(&self.active, word),
            0xe000_e400..=0xe000_e4ec => {
                let first = exception::EXTERNAL + (address - 0xe000_e400) as usize;
                u32::from_le_bytes(std::array::from_fn(|i| {
                    if first + i < exception::EXTERNAL + self.model.interrupts {
                        self.priority[first + i]
                    } else {
                        0
                    }
                }))
            }
            0xe000_ed00 => self.model.cpuid,
            0xe000_ed04 => {
                let pending = self.first_pending().map_or(0, |(number, _)| number);
                // RETTOBASE is 0 in thread mode (interrupts/scb_registers).
                let alone = self.active.iter().count() == 1;
                let external = self.pending.iter().any(|n| n >= exception::EXTERNAL);
                u32::from(ipsr)
                    | u32::from(alone) << 11
                    | (pending as u32) << 12
                    | u32::from(external) << 22
                    | u32::from(self.pending.has(exception::SYS_TICK)) << 26
                    | u32::from(self.pending.has(exception::PEND_SV)) << 28
                    | u32::from(self.pending.has(exception::NMI)) << 31
            }
            0xe000_ed08 => self.vtor,
            0xe000_ed0c => 0xfa05_0000 | u32::from(self.aircr_group) << 8,
            0xe000_ed10 => self.scr,
            0xe000_ed14 => self.ccr,
            0xe000_ed18..=0xe000_ed20 => {
                let first = 4 + (address - 0xe000_ed18) as usize;
                u32::from_le_bytes(std::array::from_fn(|i| self.priority[first + i]))
            }
            0xe000_ed24 => self.handler_control(),
            0xe000_ed28 => self.cfsr,
            0xe000_ed2c => self.hfsr,
            0xe000_ed30 | 0xe000_ed3c => 0,
            0xe000_ed34 => self.mmfar,
            0xe000_ed38 => self.bfar,
            // ARM DDI 0337I, table 4-1, and what a CC2650 and a CC2652R read
            // (misc/system_control_block_and_interrupts_related_registers).
            0xe000_ed40 => 0x0000_0030,
            0xe000_ed44 => 0x0000_0200,
            0xe000_ed48 => 0x0010_0000,
            0xe000_ed4c | 0xe000_ed54 | 0xe000_ed5c => 0,
            0xe000_ed50 => 0x0010_0030,
            0xe000_ed58 => 0x0100_0000,
            0xe000_ed60 => 0x0110_1110,
            0xe000_ed64 if self.model.is_cortex_m4() => 0x0211_2000,
            0xe000_ed64 => 0x0211_1000,
            0xe000_ed68 if self.model.is_cortex_m4() => 0x2123_2231,
            0xe000_ed68 => 0x2111_2231,
            0xe000_ed6c if self.model.is_cortex_m4() => 0x0111_1131,
            0xe000_ed6c => 0x0111_1110,
            0xe000_ed70 => 0x0131_0132,
            // Of caches and coprocessors that are not there.
            0xe000_ed74..=0xe000_ed84 | 0xe000_ed8c | 0xe000_ef00 => 0,
            0xe000_ed88 if !self.model.float => 0,
            0xe000_ed90..=0xe000_edb8 => self.mpu.read(address),
            0xe000_ed88 | 0xe000_ef34..=0xe000_ef44 => return self.float.read(address),
            0xe000_edf0 | 0xe000_edf4 | 0xe000_edf8 => 0,
            0xe000_edfc => self.demcr,
            0xe000_0000..=0xe000_0fff | 0xe000_2000..=0xe000_2fff | 0xe004_0000..=0xe004_1fff => 0,
            _ => return None,
        })
    }

    /// Write a word; `None` where there is nothing.
    #[allow(clippy::match_same_arms)] // in the order of the addresses
    pub fn write(
        &mut self,
        address: u32,
        value: u32,
        now: u64,
        events: &Events,
    ) -> Option<Request> {
        let word = ((address & 0x7c) / 4) as usize;
        // CYCCNT is as written in the cycle after the data phase, and counts from there
        // (misc/dwt/ldr_str_cnt, ldr_str_ctrl_cnt); so is SysTick (interrupts/systick).
        let written = now + 1;
        match address {
            0xe000_1000 => {
                let cycles = self.cycle_count(written);
                let counts: [u8; 5] = std::array::from_fn(|i| self.event_count(i, events));
                let before = self.dwt.control;
                self.dwt.control = (value & 0x007f_1fff) | 0x4000_0000;
                self.set_cycle_count(cycles, written);
                for (counter, (bit, count)) in [17, 18, 19, 20, 21].iter().zip(counts).enumerate() {
                    let on = self.dwt.control >> bit & 1 != 0;
                    let was_on = before >> bit & 1 != 0;
                    let start = if on && !was_on { 0 } else { count };
                    self.set_event_count(counter, start, events);
                }
            }
            0xe000_1004 => self.set_cycle_count(value, written),
            0xe000_1008..=0xe000_1018 => {
                let counter = ((address - 0xe000_1008) / 4) as usize;
                self.set_event_count(counter, value as u8, events);
            }
            0xe000_101c..=0xe000_105c => {}
            0xe000_e008 => self.actlr = value & 7,
            0xe000_e010 => {
                // What is counted in the cycle of the write still counts (interrupts/systick).
                self.advance_tick(written);
                self.tick_value = self.tick_now(written);
                self.tick_since = written;
                self.tick_control = value & 7;
            }
            0xe000_e014 => {
                self.advance_tick(written);
                self.tick_value = self.tick_now(written);
                self.tick_since = written;
                self.tick_reload = value & 0x00ff_ffff;
            }
            0xe000_e018 => {
                self.tick_value = 0;
                self.tick_since = written;
                self.tick_flag = false;
            }
            0xe000_e100..=0xe000_e11c => self.change(word, value, |s| &mut s.enabled, true),
            0xe000_e180..=0xe000_e19c => self.change(word, value, |s| &mut s.enabled, false),
            0xe000_e200..=0xe000_e21c => {
                let before = self.pending;
                self.change(word, value, |s| &mut s.pending, true);
                self.pended_event |= self.pending != before && self.scr & 0x10 != 0;
            }
            0xe000_e280..=0xe000_e29c => self.change(word, value, |s| &mut s.pending, false),
            0xe000_e300..=0xe000_e31c => {}
            0xe000_e400..=0xe000_e4ec => {
                let first = exception::EXTERNAL + (address - 0xe000_e400) as usize;
                for (i, byte) in value.to_le_bytes().iter().enumerate() {
                    if first + i < exception::EXTERNAL + self.model.interrupts {
                        self.priority[first + i] = byte & self.priority_mask();
                    }
                }
            }
            0xe000_ed04 => {
                if value & 1 << 31 != 0 {
                    self.pend(exception::NMI);
                }
                for (number, clear) in [(exception::PEND_SV, 27), (exception::SYS_TICK, 25)] {
                    if value >> clear & 1 != 0 {
                        self.pending.put(number, false);
                    }
                    if value >> clear & 2 != 0 {
                        self.pend(number);
                    }
                }
            }
            // The lowest seven bits are not there
            // (misc/system_control_block_and_interrupts_related_registers).
            0xe000_ed08 => self.vtor = value & !0x7f,
            0xe000_ed94 if value & 1 != 0 && self.model.mpu_regions == 0 => {
                let fault = Fault::new(
                    FaultKind::Absent,
                    "MPU_CTRL.ENABLE is set, and this chip's file names no memory protection unit \
                     (cortex_m.mpu_regions)",
                );
                return Some(Request::Refuse(fault.at(address)));
            }
            0xe000_ed90..=0xe000_edb8 => self.mpu.write(address, value),
            0xe000_ed88 | 0xe000_ef34..=0xe000_ef44 if self.model.float => {
                self.float.write(address, value);
            }
            0xe000_ed0c => {
                if value >> 16 == 0x05fa {
                    self.aircr_group = (value >> 8) as u8 & 7;
                    if value & 5 != 0 {
                        return Some(Request::Reset);
                    }
                }
            }
            0xe000_ed10 => self.scr = value & 0x16,
            0xe000_ed14 => self.ccr = value & 0x31b,
            0xe000_ed18..=0xe000_ed20 => {
                let first = 4 + (address - 0xe000_ed18) as usize;
                for (i, byte) in value.to_le_bytes().iter().enumerate() {
                    let exists = matches!(first + i, 4 | 5 | 6 | 11 | 12 | 14 | 15);
                    if exists {
                        self.priority[first + i] = byte & self.priority_mask();
                    }
                }
            }
            0xe000_ed24 => self.set_handler_control(value),
            0xe000_ed28 => self.cfsr &= !value,
            0xe000_ed2c => self.hfsr &= !value,
            0xe000_ed34 => self.mmfar = value,
            0xe000_ed38 => self.bfar = value,
            0xe000_ef00 => {
                let number = exception::EXTERNAL + (value & 0x1ff) as usize;
                if number < exception::EXTERNAL + self.model.interrupts {
                    self.pend(number);
                }
            }
            0xe000_edfc => self.demcr = value,
            0xe000_e004
            | 0xe000_e01c
            | 0xe000_ed00
            | 0xe000_ed30
            | 0xe000_ed3c..=0xe000_ed8c
            | 0xe000_edf0..=0xe000_edf8 => {}
            0xe000_0000..=0xe000_0fff | 0xe000_2000..=0xe000_2fff | 0xe004_0000..=0xe004_1fff => {}
            _ => return None,
        }
        Some(Request::Recheck)
    }

    /// The registers that may be accessed in bytes and halfwords: priorities and fault status.
    pub const fn narrow_allowed(address: u32) -> bool {
        matches!(
            address,
            0xe000_e400..=0xe000_e4ef | 0xe000_ed18..=0xe000_ed23 | 0xe000_ed28..=0xe000_ed2b
                | 0xe000_0000..=0xe000_00ff
        )
    }

    /// Merge a byte or halfword into the word of a register.
    pub const fn merge(old: u32, address: u32, value: u32, width: Width) -> u32 {
        let shift = (address & 3) * 8;
        let mask = match width {
            Width::Byte => 0xff,
            Width::Half => 0xffff,
            Width::Word => u32::MAX,
        };
        old & !(mask << shift) | (value & mask) << shift
    }

    fn bits(set: &Set, word: usize) -> u32 {
        (0..32).fold(0, |bits, bit| {
            let number = exception::EXTERNAL + word * 32 + bit;
            bits | u32::from(number < 256 && set.has(number)) << bit
        })
    }

    fn change(&mut self, word: usize, value: u32, field: impl Fn(&mut Self) -> &mut Set, to: bool) {
        for bit in 0..32 {
            let line = word * 32 + bit;
            if value >> bit & 1 != 0 && line < self.model.interrupts {
                field(self).put(exception::EXTERNAL + line, to);
            }
        }
    }

    /// SHCSR (B3.2.13): enables, pending and active bits.
    fn handler_control(&self) -> u32 {
        HANDLER_BITS
            .iter()
            .fold(self.shcsr & 7 << 16, |value, &(number, active, pending)| {
                let pending = pending.map_or(0, |bit| u32::from(self.pending.has(number)) << bit);
                value | u32::from(self.active.has(number)) << active | pending
            })
    }

    fn set_handler_control(&mut self, value: u32) {
        self.shcsr = value & 7 << 16;
        for &(number, active, pending) in &HANDLER_BITS {
            self.active.put(number, value >> active & 1 != 0);
            if let Some(bit) = pending {
                self.pending.put(number, value >> bit & 1 != 0);
            }
        }
    }

    // Counters.

    fn cycle_count(&self, now: u64) -> u32 {
        if self.dwt.control & 1 == 0 {
            self.dwt.cycle_offset
        } else {
            (now as u32).wrapping_add(self.dwt.cycle_offset)
        }
    }

    fn set_cycle_count(&mut self, value: u32, now: u64) {
        self.dwt.cycle_offset = if self.dwt.control & 1 == 0 {
            value
        } else {
            value.wrapping_sub(now as u32)
        };
    }

    fn event_count(&self, counter: usize, events: &Events) -> u8 {
        if self.dwt.control >> (17 + counter) & 1 == 0 {
            self.dwt.offsets[counter]
        } else {
            events
                .total(counter)
                .wrapping_add(self.dwt.offsets[counter])
        }
    }

    /// LSUCNT is on.
    pub const fn counts_lsu_cycles(&self) -> bool {
        self.dwt.control >> 20 & 1 != 0
    }

    /// One cycle that comes does not count for LSUCNT.
    pub const fn leave_out_lsu_cycle(&mut self) {
        self.dwt.offsets[3] = self.dwt.offsets[3].wrapping_sub(1);
    }

    fn set_event_count(&mut self, counter: usize, value: u8, events: &Events) {
        self.dwt.offsets[counter] = if self.dwt.control >> (17 + counter) & 1 == 0 {
            value
        } else {
            value.wrapping_sub(events.total(counter))
        };
    }
}

/// Exception, its active bit and its pending bit in SHCSR.
const HANDLER_BITS: [(usize, u32, Option<u32>); 7] = [
    (exception::MEM_MANAGE, 0, Some(13)),
    (exception::BUS_FAULT, 1, Some(14)),
    (exception::USAGE_FAULT, 3, Some(12)),
    (exception::SV_CALL, 7, Some(15)),
    (exception::DEBUG_MONITOR, 8, None),
    (exception::PEND_SV, 10, None),
    (exception::SYS_TICK, 11, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_names_its_members_in_order() {
        let members = [0, 1, 63, 64, 127, 128, 200, 255];
        let mut set = Set::default();
        for member in members.into_iter().rev() {
            set.put(member, true);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), members);
        assert!(Set::default().iter().next().is_none());
    }
}
