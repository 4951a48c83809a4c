//! What the peripherals of nRF52 chips share (nRF52840 product specification, chapter Peripheral interface): tasks
//! that a store of 1 or the interconnect starts, events that tell, and interrupts from events. Events have one
//! number: it is the place of their register, from 0x100 on, and their bit in INTEN.

use joulemark_kernel::{Cycles, Fault};

/// Core cycles of a cycle of the 16 MHz that timers and bits are divided from.
pub const CYCLES_OF_16_MHZ: u64 = 4;

const SHORTS: u32 = 0x200;

/// Events of a peripheral, and which of them interrupt.
#[derive(Clone, Debug)]
pub struct NrfEvents {
    exist: u32,
    happened: u32,
    inten: u32,
    /// Since [`NrfEvents::take_new`]: what the interconnect has to see.
    new: u32,
}

impl NrfEvents {
    /// None has happened; `exist` has a bit for each that there is.
    pub const fn new(exist: u32) -> Self {
        Self {
            exist,
            happened: 0,
            inten: 0,
            new: 0,
        }
    }

    /// One happens.
    pub const fn happen(&mut self, number: u32) {
        self.happened |= 1 << number;
        self.new |= 1 << number;
    }

    /// What has happened since this was asked before, a bit each.
    pub const fn take_new(&mut self) -> u32 {
        let new = self.new;
        self.new = 0;
        new
    }

    /// What has happened and was not cleared.
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

    /// An event's register, or INTEN; `None` for others.
    pub fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            0x300 | 0x304 | 0x308 => Some(self.inten),
            _ => self
                .number(offset)
                .map(|number| self.happened >> number & 1),
        }
    }

    /// Write one of them; false for others. A program clears events, and may set them.
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

/// The first of a timer's or a counter's events that its compare registers make.
pub const COMPARE: u32 = 16;

/// CC: the compare registers of a timer or a counter.
#[derive(Clone, Debug)]
pub struct Compares {
    values: [u32; 6],
    count: usize,
}

impl Compares {
    /// So many.
    pub const fn new(count: usize) -> Self {
        Self {
            values: [0; 6],
            count,
        }
    }

    /// Their events, a bit each.
    pub const fn events(&self) -> u32 {
        ((1 << self.count) - 1) << COMPARE
    }

    /// What they are compared with.
    pub fn values(&self) -> &[u32] {
        &self.values[..self.count]
    }

    /// A channel's register; `None` where there is none.
    pub fn of(&mut self, channel: u32) -> Option<&mut u32> {
        self.values[..self.count].get_mut(channel as usize)
    }

    /// The register at an offset; `None` where there is none.
    pub fn at(&mut self, offset: u32) -> Option<&mut u32> {
        self.of(offset.checked_sub(0x540)? / 4)
    }
}

/// A peripheral of these chips.
pub trait Nrf: Send + Sync {
    /// Its events.
    fn events(&self) -> &NrfEvents;

    /// The same, to change them.
    fn events_mut(&mut self) -> &mut NrfEvents;

    /// Start the task whose register is at 4 times `number`; false where there is none.
    fn task(&mut self, number: u32, now: Cycles) -> bool;

    /// SHORTS, where there is one.
    fn shorts(&mut self) -> Option<&mut u32> {
        None
    }

    /// Read one of its own registers; `None` where there is none.
    fn own(&mut self, offset: u32, now: Cycles) -> Option<u32>;

    /// Write one of its own registers; false where there is none.
    ///
    /// # Errors
    /// Something that the emulation leaves out, or a byte that is lost.
    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault>;

    /// Let happen what is due up to `now`.
    ///
    /// # Errors
    /// The watchdog resets the chip.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let _ = now;
        Ok(())
    }

    /// When [`Nrf::advance`] has something to do.
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }

    /// Read any register; `None` where there is none. Tasks read as 0.
    fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        match offset {
            0..0x100 => Some(0),
            SHORTS => self.shorts().map(|shorts| *shorts),
            _ => self.events().read(offset).or_else(|| self.own(offset, now)),
        }
    }

    /// Write any register; false where there is none.
    ///
    /// # Errors
    /// Those of its own registers.
    fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            0..0x100 => Ok(value & 1 == 0 || self.task(offset / 4, now)),
            SHORTS => Ok(self.shorts().map(|shorts| *shorts = value).is_some()),
            _ => Ok(self.events_mut().write(offset, value) || self.set_own(offset, value, now)?),
        }
    }
}
