//! The simpler peripherals of nRF52 chips: random numbers, temperature, watchdog,
//! software-triggered events and the interconnect (nRF52840 product specification, chapters RNG,
//! TEMP, WDT, EGU and PPI). Register offsets and fields were compared with Nordic's `nrf52840.svd`.

use joulemark_kernel::{Cycles, Fault, FaultKind, FineHertz, Hertz};

use crate::nrf::{CYCLES_OF_16_MHZ, Nrf, NrfEvents};
use crate::rate::Rate;

const START: u32 = 0;
const STOP: u32 = 1;

/// Core cycles per microsecond.
const MICROSECOND: u64 = 16 * CYCLES_OF_16_MHZ;

/// The random number generator, with a reproducible source.
#[derive(Clone, Debug)]
pub struct NrfRng {
    events: NrfEvents,
    shorts: u32,
    config: u32,
    value: u8,
    random: u64,
    due: Cycles,
}

impl NrfRng {
    /// Start with this seed, which determines the numbers.
    pub const fn new(seed: u32) -> Self {
        Self {
            events: NrfEvents::new(1),
            shorts: 0,
            config: 0,
            value: 0,
            // Non-zero, because xorshift never leaves zero.
            random: (seed as u64 ^ 0x9e37_79b9_7f4a_7c15) | 1,
            due: Cycles::NEVER,
        }
    }

    /// The state after a later reset: the random sequence continues.
    #[must_use]
    pub fn after_reset(&self) -> Self {
        Self {
            random: self.random,
            ..Self::new(0)
        }
    }

    /// Cycles of a byte: about 30 microseconds, or 120 with bias correction (specification, RNG,
    /// electrical specification; entered from memory).
    const fn byte_cycles(&self) -> u64 {
        (if self.config & 1 != 0 { 120 } else { 30 }) * MICROSECOND
    }
}

impl Nrf for NrfRng {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START if self.due == Cycles::NEVER => self.due = Cycles(now.0 + self.byte_cycles()),
            START => {}
            STOP => self.due = Cycles::NEVER,
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x504 => Some(self.config),
            0x508 => Some(self.value.into()),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        if offset == 0x504 {
            self.config = value & 1;
        }
        Ok(offset == 0x504)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        while self.due <= now {
            // xorshift64 (G. Marsaglia, Xorshift RNGs, 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.value = (self.random >> 32) as u8;
            self.events.happen(0);
            self.due = if self.shorts & 1 != 0 {
                Cycles::NEVER
            } else {
                Cycles(self.due.0 + self.byte_cycles())
            };
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// The temperature sensor, which always reads 25 degrees.
#[derive(Clone, Debug)]
pub struct NrfTemp {
    events: NrfEvents,
    due: Cycles,
    /// Registers of the piecewise linear function, from 0x520 on.
    line: [u32; 21],
}

impl Default for NrfTemp {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(1),
            due: Cycles::NEVER,
            line: [0; 21],
        }
    }
}

impl NrfTemp {
    /// The temperature in quarters of a degree.
    const VALUE: u32 = 25 * 4;
    /// A measurement takes about 36 microseconds (specification, TEMP; entered from memory).
    const CYCLES: u64 = 36 * MICROSECOND;
}

impl Nrf for NrfTemp {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        match number {
            START => self.due = Cycles(now.0 + Self::CYCLES),
            STOP => self.due = Cycles::NEVER,
            _ => return false,
        }
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        match offset {
            0x508 => Some(Self::VALUE),
            0x520..=0x570 => Some(self.line[(offset as usize - 0x520) / 4]),
            _ => None,
        }
    }

    fn set_own(&mut self, offset: u32, value: u32, _now: Cycles) -> Result<bool, Fault> {
        match offset {
            0x520..=0x570 => self.line[(offset as usize - 0x520) / 4] = value,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due <= now {
            self.due = Cycles::NEVER;
            self.events.happen(0);
        }
        Ok(())
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// The watchdog. It starts the low-frequency clock by itself.
#[derive(Clone, Debug)]
pub struct NrfWatchdog {
    events: NrfEvents,
    low: Rate,
    is_running: bool,
    counter_reload: u32,
    /// RREN, and the reload registers that still await a reload.
    enabled: u32,
    waiting: u32,
    config: u32,
    due: Cycles,
}

impl NrfWatchdog {
    const RELOAD: u32 = 0x6e52_4635;

    /// In a core with this clock.
    pub const fn new(core: Hertz, low: FineHertz) -> Self {
        Self {
            events: NrfEvents::new(1),
            low: Rate::crystal(low, core),
            is_running: false,
            counter_reload: u32::MAX,
            enabled: 1,
            waiting: 1,
            config: 1,
            due: Cycles::NEVER,
        }
    }

    /// Note that the crystal of the low-frequency clock changed.
    pub fn set_crystal(&mut self, core: Hertz, low: FineHertz, now: Cycles) {
        self.low.change_crystal(now, low, core);
    }

    fn reload(&mut self, now: Cycles) {
        let ticks = u64::from(self.counter_reload) + 1;
        self.due = self.low.cycle_of(self.low.ticks(now) + ticks);
        self.waiting = self.enabled;
    }
}

impl Nrf for NrfWatchdog {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        if number == START && !self.is_running {
            self.is_running = true;
            self.reload(now);
        }
        number == START
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x400 => self.is_running.into(),
            0x404 => self.waiting,
            0x504 => self.counter_reload,
            0x508 => self.enabled,
            0x50c => self.config,
            0x600..=0x61c => 0,
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            // The configuration is locked while the watchdog runs.
            0x504 | 0x508 | 0x50c if self.is_running => {}
            0x504 => self.counter_reload = value,
            0x508 => self.enabled = value & 0xff,
            0x50c => self.config = value & 9,
            0x600..=0x61c => {
                if value == Self::RELOAD {
                    self.waiting &= !(1 << ((offset - 0x600) / 4));
                }
                if self.is_running && self.waiting == 0 {
                    self.reload(now);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        if self.due > now {
            return Ok(());
        }
        self.due = Cycles::NEVER;
        self.events.happen(0);
        Err(Fault::new(
            FaultKind::Watchdog,
            "the watchdog (WDT) was not reloaded in time and resets the chip; write 0x6e524635 to WDT.RR",
        ))
    }

    fn next_event(&self) -> Cycles {
        self.due
    }
}

/// An event generator unit: each task triggers an event.
#[derive(Clone, Debug)]
pub struct NrfEgu {
    events: NrfEvents,
}

impl Default for NrfEgu {
    fn default() -> Self {
        Self {
            events: NrfEvents::new(0xffff),
        }
    }
}

impl Nrf for NrfEgu {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn task(&mut self, number: u32, _now: Cycles) -> bool {
        if number < 16 {
            self.events.happen(number);
        }
        number < 16
    }

    fn own(&mut self, _offset: u32, _now: Cycles) -> Option<u32> {
        None
    }

    fn set_own(&mut self, _offset: u32, _value: u32, _now: Cycles) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// The programmable peripheral interconnect: channels from events to tasks.
#[derive(Clone, Debug, Default)]
pub struct NrfPpi {
    enabled: u32,
    wired: [(u32, [u32; 2]); 2],
    /// Event and task addresses of each programmable channel.
    channels: [[u32; 2]; 20],
    /// A second task for each channel.
    forks: [u32; 32],
    groups: [u32; 6],
}

impl NrfPpi {
    /// Preprogrammed channels 30 and 31: a compare event of real-time counter 0 clears and starts
    /// timer 0. Those of the radio and its AES engines are missing because these are left out.
    pub fn new(counter_base: u32, timer_base: u32) -> Self {
        let event = counter_base + 0x140;
        Self {
            wired: [(30, [event, timer_base + 0x00c]), (31, [event, timer_base])],
            ..Self::default()
        }
    }

    /// The tasks that an event starts, by address.
    pub fn tasks(&self, event: u32) -> Vec<u32> {
        if self.enabled == 0 {
            return Vec::new();
        }
        let channels = (0..).zip(self.channels).chain(self.wired);
        let started = channels
            .filter(|&(number, [from, _])| self.enabled >> number & 1 != 0 && from == event);
        started
            .flat_map(|(number, [_, task])| [task, self.forks[number as usize]])
            .filter(|&task| task != 0)
            .collect()
    }

    /// Run a task that enables or disables a channel group.
    pub fn task(&mut self, number: u32) {
        let Some(&group) = self.groups.get(number as usize / 2) else {
            return;
        };
        if number.is_multiple_of(2) {
            self.enabled |= group;
        } else {
            self.enabled &= !group;
        }
    }

    /// Read the register at an offset; `None` if there is none.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x500 | 0x504 | 0x508 => self.enabled,
            0x000..=0x02c => 0,
            _ => *self.place(offset)?,
        })
    }

    /// Write the register at an offset; false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x000..=0x02c if value & 1 != 0 => self.task(offset / 4),
            0x000..=0x02c => {}
            0x500 => self.enabled = value,
            0x504 => self.enabled |= value,
            0x508 => self.enabled &= !value,
            _ => match self.place(offset) {
                Some(place) => *place = value,
                None => return false,
            },
        }
        true
    }

    fn place(&mut self, offset: u32) -> Option<&mut u32> {
        let index = |first: u32| (offset - first) as usize / 4;
        match offset {
            0x510..=0x5ac => Some(&mut self.channels[index(0x510) / 2][index(0x510) % 2]),
            0x800..=0x814 => Some(&mut self.groups[index(0x800)]),
            0x910..=0x98c => Some(&mut self.forks[index(0x910)]),
            _ => None,
        }
    }
}
