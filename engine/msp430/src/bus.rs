//! What a core requires of the chip around it.

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

/// The result of a write to flash with the flash controller's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashOperation {
    /// Effect on the memory.
    pub effect: FlashEffect,
    /// How long the core stalls if it executes from flash; code in RAM continues (SLAU049F,
    /// sections 5.3.2 and 5.3.3).
    pub stall: Cycles,
}

/// What a write to flash does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEffect {
    /// The controller ignores the write.
    None,
    /// Program: bits can only go from 1 to 0.
    Program,
    /// Erase every byte of this range to 0xff.
    Erase {
        /// First address.
        start: u16,
        /// Bytes.
        size: u32,
    },
}

/// A byte or a word moved by DMA, without the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Source address and width.
    pub source: (u16, Width),
    /// Destination address and width.
    pub destination: (u16, Width),
    /// How long the core stalls.
    pub cycles: Cycles,
}

/// What becomes of a value in a peripheral register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It can be read there again.
    Register,
    /// It is an operand or a result of the hardware multiplier.
    Multiplier,
    /// It is an address that DMA reads or writes.
    Pointer,
}

/// How a peripheral register goes on if nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// What a read gives.
    pub value: u16,
    /// Whether reads before [`Forecast::until`] count up from there, by as much as
    /// [`Bus::counted`] says; else they give the same value.
    pub counts: bool,
    /// Until this cycle.
    pub until: Cycles,
}

/// Everything except flash and RAM: peripherals, interrupts, events.
///
/// `now` is the core's cycle counter, which never goes backwards.
pub trait Bus {
    /// Read a peripheral register.
    ///
    /// # Errors
    /// The chip has no register there, or it does not allow this read.
    fn read(&mut self, address: u16, width: Width, now: Cycles) -> Result<u16, Fault>;

    /// Write a peripheral register.
    ///
    /// # Errors
    /// The chip has no register there, or it does not allow this write.
    fn write(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> Result<(), Fault>;

    /// Read a peripheral register like [`Bus::read`], provided that this causes no event,
    /// interrupt, stop or fault. `None`: nothing was done, and [`Bus::read`] has to make the read.
    ///
    /// This suits polled registers, because the core continues at once.
    fn read_quietly(&mut self, address: u16, width: Width, now: Cycles) -> Option<u16> {
        let _ = (address, width, now);
        None
    }

    /// How a register goes on from `now`, which is before [`Bus::next_event`], for reads that
    /// [`Bus::read_quietly`] makes: they have no effect, so the core may leave them out. `None` if
    /// that is not known.
    fn forecast(&self, address: u16, width: Width, now: Cycles) -> Option<Forecast> {
        let _ = (address, width, now);
        None
    }

    /// By when, at the earliest, the register whose [`Forecast::counts`] has counted more than
    /// `counts` since `now`.
    fn counted(&self, address: u16, now: Cycles, counts: u64) -> Cycles {
        let _ = (address, counts);
        now
    }

    /// Write a peripheral register like [`Bus::write`], provided that this causes no event,
    /// interrupt, stop or fault. False: nothing was done, and [`Bus::write`] has to make the write.
    fn write_quietly(&mut self, address: u16, value: u16, width: Width, now: Cycles) -> bool {
        let _ = (address, value, width, now);
        false
    }

    /// Write to flash memory.
    ///
    /// # Errors
    /// The flash controller is not set up for the write.
    fn write_flash(
        &mut self,
        address: u16,
        value: u16,
        width: Width,
        now: Cycles,
    ) -> Result<FlashOperation, Fault>;

    /// Return when [`Bus::advance`] must next be called; [`Cycles::NEVER`] if nothing is due.
    ///
    /// The core asks again after each call of another method, except the quiet ones.
    fn next_event(&self) -> Cycles;

    /// Advance to `now`, which is at most one instruction past [`Bus::next_event`].
    ///
    /// # Errors
    /// A fatal event occurred, such as a watchdog reset.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault>;

    /// Return the vector address of the highest-priority pending interrupt.
    ///
    /// If `enabled` (GIE) is false, only of a non-maskable one.
    fn pending_interrupt(&self, enabled: bool) -> Option<u16>;

    /// Acknowledge the interrupt that the core accepts: clear single-source flags.
    fn acknowledge(&mut self, vector: u16, now: Cycles);

    /// Note a change of CPUOFF, OSCOFF, SCG0 or SCG1; `status` is the whole new status register.
    ///
    /// Return how long the core waits before it continues, for example for an oscillator to start.
    fn power_changed(&mut self, status: u16, now: Cycles) -> Cycles;

    /// Return a transfer that must be made before the next instruction.
    fn next_transfer(&mut self, is_asleep: bool) -> Option<Transfer> {
        let _ = is_asleep;
        None
    }

    /// What becomes of a value in the peripheral register at this address, for those who follow
    /// secrets.
    fn flow(&self, address: u16) -> Flow {
        let _ = address;
        Flow::Register
    }

    /// Whether the run is to end at this instruction boundary; this clears the request.
    fn take_stop(&mut self) -> bool;
}
