//! What a core requires of the chip around it.

use std::ops::Range;

use joulemark_kernel::{Cycles, Fault};

/// The size of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
}

impl Width {
    /// Its bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// The interrupt lines to a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// External interrupts, line 0 in bit 0.
    pub external: u64,
    /// The timer interrupt.
    pub timer: bool,
    /// The software interrupt.
    pub software: bool,
}

/// Where control has gone, and what has been counted until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The next instruction.
    pub pc: u32,
    /// Calls and traps that have not returned.
    pub depth: usize,
    /// Cycles that the core did not sleep through.
    pub busy_cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// The stack pointer now.
    pub stack_pointer: u32,
    /// The lowest stack pointer since the last time.
    pub stack_low: u32,
}

/// Everything that is not memory: peripherals, interrupt lines, events.
///
/// `now` is the core's cycle counter. For an access it is the cycle in which the data is on the bus.
pub trait Bus {
    /// Wait states of an access.
    fn waits(&self, address: u32, is_write: bool) -> u8 {
        let _ = (address, is_write);
        0
    }

    /// Read a register.
    ///
    /// # Errors
    /// The chip has nothing there, or it does not allow this read.
    fn read(&mut self, address: u32, width: Width, now: Cycles) -> Result<u32, Fault>;

    /// Write a register.
    ///
    /// # Errors
    /// The chip has nothing there, or it does not allow this write.
    fn write(&mut self, address: u32, value: u32, width: Width, now: Cycles) -> Result<(), Fault>;

    /// When [`Bus::advance`] must next be called; [`Cycles::NEVER`] if nothing is due.
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }

    /// Advance to `now`.
    ///
    /// # Errors
    /// Something fatal happened, such as a reset by a watchdog.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let _ = now;
        Ok(())
    }

    /// The lines that are asserted after the last access or advance.
    fn interrupts(&self) -> Lines {
        Lines::default()
    }

    /// The core goes to sleep or wakes.
    fn sleep(&mut self, asleep: bool, now: Cycles) {
        let _ = (asleep, now);
    }

    /// Control has gone elsewhere, or has left the addresses that this answered the last time.
    /// Called only while the core is watched ([`Core::watch`](crate::Core::watch)).
    fn control(&mut self, control: &Control) -> Range<u32> {
        let _ = control;
        0..u32::MAX
    }

    /// Whether the run is to end at this instruction boundary; this clears the request.
    fn take_stop(&mut self) -> bool {
        false
    }
}

impl<B: Bus + ?Sized> Bus for Box<B> {
    fn waits(&self, address: u32, is_write: bool) -> u8 {
        (**self).waits(address, is_write)
    }

    fn read(&mut self, address: u32, width: Width, now: Cycles) -> Result<u32, Fault> {
        (**self).read(address, width, now)
    }

    fn write(&mut self, address: u32, value: u32, width: Width, now: Cycles) -> Result<(), Fault> {
        (**self).write(address, value, width, now)
    }

    fn next_event(&self) -> Cycles {
        (**self).next_event()
    }

    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        (**self).advance(now)
    }

    fn interrupts(&self) -> Lines {
        (**self).interrupts()
    }

    fn sleep(&mut self, asleep: bool, now: Cycles) {
        (**self).sleep(asleep, now);
    }

    fn control(&mut self, control: &Control) -> Range<u32> {
        (**self).control(control)
    }

    fn take_stop(&mut self) -> bool {
        (**self).take_stop()
    }
}
