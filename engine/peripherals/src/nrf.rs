//! The common part of nRF52 peripherals (nRF52840 product specification, chapter Peripheral
//! interface): tasks, started by writing 1 or by the interconnect; events; and interrupts from
//! events. An event's number gives both its register, from 0x100 on, and its INTEN bit.

use joulemark_kernel::{Cycles, Fault};

/// Core cycles per 16-MHz cycle, from which timers and bit rates are divided.
pub const CYCLES_OF_16_MHZ: u64 = 4;

const SHORTS: u32 = 0x200;

/// A peripheral's events and their interrupts.
#[derive(Clone, Debug)]
pub struct NrfEvents {
    exist: u32,
    happened: u32,
    inten: u32,
    /// Events since [`NrfEvents::take_new`], for the interconnect.
    new: u32,
}

impl NrfEvents {
    /// No event has occurred; `exist` has a bit for each event of the peripheral.
    pub const fn new(exist: u32) -> Self {
        Self {
            exist,
            happened: 0,
            inten: 0,
            new: 0,
        }
    }

    /// Signal an event.
    pub const fn happen(&mut self, number: u32) {
        self.happened |= 1 << number;
        self.new |= 1 << number;
    }

    /// Take the events since the last call, one bit each.
    pub const fn take_new(&mut self) -> u32 {
        let new = self.new;
        self.new = 0;
        new
    }

    /// Events that have occurred and were not cleared.
    pub const fn happened(&self) -> u32 {
        self.happened
    }

    /// INTEN.
    pub const fn inten(&self) -> u32 {
        self.inten
    }

    /// Whether the interrupt line is asserted.
    pub const fn is_pending(&self) -> bool {
        self.happened & self.inten != 0
    }

    fn number(&self, offset: u32) -> Option<u32> {
        let number = offset.checked_sub(0x100)? / 4;
        (number < 32 && self.exist >> number & 1 != 0).then_some(number)
    }

    /// Read an event's register or INTEN; `None` for others.
    pub fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            0x300 | 0x304 | 0x308 => Some(self.inten),
            _ => self
                .number(offset)
                .map(|number| self.happened >> number & 1),
        }
    }

    /// Write one of these; false for others. A program may clear and set events.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x300 => self.inten = value & self.exist,
            0x304 => self.inten |= value & self.exist,
            0x308 => self.inten &= !value,
            _ => {
                let Some(number) = self.number(offset) else {
                    return false;
                };
                self.happened = self.happened & !(1 << number) | (value & 1) << number;
            }
        }
        true
    }
}

/// The number of the first compare event of a timer or a counter.
pub const COMPARE: u32 = 16;

/// The compare registers (CC) of a timer or a counter.
#[derive(Clone, Debug)]
pub struct Compares {
    values: [u32; 6],
    count: usize,
}

impl Compares {
    /// Make `count` compare registers.
    pub const fn new(count: usize) -> Self {
        Self {
            values: [0; 6],
            count,
        }
    }

    /// Their events, one bit each.
    pub const fn events(&self) -> u32 {
        ((1 << self.count) - 1) << COMPARE
    }

    /// The compare values.
    pub fn values(&self) -> &[u32] {
        &self.values[..self.count]
    }

    /// A channel's register; `None` if there is none.
    pub fn of(&mut self, channel: u32) -> Option<&mut u32> {
        self.values[..self.count].get_mut(channel as usize)
    }

    /// The register at an offset; `None` if there is none.
    pub fn at(&mut self, offset: u32) -> Option<&mut u32> {
        self.of(offset.checked_sub(0x540)? / 4)
    }
}

/// A peripheral of nRF52 chips.
pub trait Nrf: Send + Sync {
    /// Its events.
    fn events(&self) -> &NrfEvents;

    /// Its events, mutably.
    fn events_mut(&mut self) -> &mut NrfEvents;

    /// Start the task whose register is at 4 times `number`; false if there is none.
    fn task(&mut self, number: u32, now: Cycles) -> bool;

    /// SHORTS, if the peripheral has it.
    fn shorts(&mut self) -> Option<&mut u32> {
        None
    }

    /// Read one of the peripheral's own registers; `None` if there is none.
    fn own(&mut self, offset: u32, now: Cycles) -> Option<u32>;

    /// Write one of the peripheral's own registers; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out, or a byte is lost.
    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault>;

    /// Bring the peripheral up to `now`.
    ///
    /// # Errors
    /// The watchdog resets the chip.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let _ = now;
        Ok(())
    }

    /// When [`Nrf::advance`] has work to do.
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }

    /// Read any register; `None` if there is none. Tasks read as 0.
    fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        match offset {
            0..0x100 => Some(0),
            SHORTS => self.shorts().map(|shorts| *shorts),
            _ => self.events().read(offset).or_else(|| self.own(offset, now)),
        }
    }

    /// Write any register; false if there is none.
    ///
    /// # Errors
    /// As for its own registers.
    fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0..0x100 => Ok(value & 1 == 0 || self.task(offset / 4, now)),
            SHORTS => Ok(self.shorts().map(|shorts| *shorts = value).is_some()),
            _ => Ok(self.events_mut().write(offset, value) || self.set_own(offset, value, now)?),
        }
    }
}
