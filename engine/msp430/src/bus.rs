//! A core's demands on the chip around it.

use joulemark_kernel::{Cycles, Fault};

/// The size of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits, at an even address.
    Word,
}

impl Width {
    /// The width of an instruction with or without the byte suffix.
    pub(crate) const fn of(byte: bool) -> Self {
        if byte { Self::Byte } else { Self::Word }
    }
}

/// Effect of a write to flash under the flash controller's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashOperation {
    /// Effect on the memory.
    pub effect: FlashEffect,
    /// How long the core is held when it executes from flash; code in RAM goes on (SLAU049F,
    /// sections 5.3.2 and 5.3.3).
    pub stall: Cycles,
}

/// Effect of a write to flash on the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEffect {
    /// The controller ignores the write.
    None,
    /// Program: bits go from 1 to 0 only.
    Program,
    /// Erase every byte of this range to 0xff.
    Erase {
        /// First address.
        start: u16,
        /// Bytes.
        size: u32,
    },
}

/// A byte or a word that is moved without the core, by direct memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where from, and how much.
    pub source: (u16, Width),
    /// Where to, and how much.
    pub destination: (u16, Width),
    /// How long the core is held.
    pub cycles: Cycles,
}

/// Everything that is neither flash nor RAM: peripherals, interrupts, events.
///
/// `now` is the core's cycle counter, which never goes backwards.
pub trait Bus {
    /// Read a peripheral register.
    ///
    /// # Errors
    /// The chip has nothing there, or it may not be read so.
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault>;

    /// Write a peripheral register.
    ///
    /// # Errors
    /// The chip has nothing there, or it may not be written so.
    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault>;

    /// Read a peripheral register as [`Bus::read`] does, if no event, interrupt or stop comes of it
    /// and it is no fault. `None`: nothing was done, [`Bus::read`] has to do it.
    ///
    /// Polled registers are best read so: the core goes on at once.
    fn read_quietly(&mut self, address: u16, width: Width, now: Cycles) -> Option<u16> {
        let _ = (address, width, now);
        None
    }

    /// Write a peripheral register as [`Bus::write`] does, if no event, interrupt or stop comes of
    /// it and it is no fault. False: nothing was done, [`Bus::write`] has to do it.
    fn write_quietly(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> bool {
        let _ = (address, value, width, now);
        false
    }

    /// A write to flash memory.
    ///
    /// # Errors
    /// The flash controller is not set up for it.
    fn write_flash(
        &mut self,
        address: u16,
        value: u16,
        width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault>;

    /// When [`Bus::advance`] has to be called next; [`Cycles::NEVER`] when nothing is due.
    ///
    /// Asked again after each call of another method, but for the quiet ones.
    fn next_event(&self) -> Cycles;

    /// Time has come to `now`, which is not before [`Bus::next_event`] by more than one
    /// instruction.
    ///
    /// # Errors
    /// Something fatal happened, such as the watchdog's bite.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault>;

    /// The address of the vector of the pending interrupt with the highest priority.
    ///
    /// Where `enabled` (GIE) is false, only a non-maskable one.
    fn pending_interrupt(&self, enabled: bool) -> Option<u16>;

    /// The core accepts the interrupt with this vector: single-source flags clear themselves.
    fn acknowledge(&mut self, vector: u16, now: Cycles);

    /// One of CPUOFF, OSCOFF, SCG0 and SCG1 changed; `status` is the whole new status register.
    ///
    /// Returns how long the core waits before it goes on, such as for an oscillator to start.
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles;

    /// A transfer that has to be made before the next instruction.
    fn next_transfer(&mut self, is_asleep: bool) -> Option<Transfer> {
        let _ = is_asleep;
        None
    }

    /// Whether the run is to end at this instruction boundary; asking clears it.
    fn take_stop(&mut self) -> bool;
}
