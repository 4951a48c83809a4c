//! The core's demands on the chip around it.

use std::ops::Range;

use joulemark_kernel::{Cycles, Fault, Memories, lines};

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

/// Settings of a chip's memory controller, as far as they change time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemorySettings {
    /// The flash line buffer is on.
    pub line_buffer: bool,
    /// The cache is on; its RAM is then no memory.
    pub cache: bool,
    /// Code comes from flash without wait states, as through a cache that never misses; loads take theirs.
    pub fetches_at_once: bool,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            line_buffer: true,
            cache: false,
            fetches_at_once: false,
        }
    }
}

/// Where control has gone, and what has been counted until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The next instruction.
    pub pc: u32,
    /// Calls and exceptions that have not returned.
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

/// What becomes of a value in a device's register, for those who follow secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It can be read there again.
    Register,
    /// It is an address that another bus master reads or writes.
    Pointer,
    /// What is read there is made of what is written to the device, and of what it reads by itself.
    Derived,
}

/// Everything that is neither memory nor part of the core: peripherals, interrupt lines, events.
///
/// `now` is the core's cycle counter, which never goes backwards. For a load or a store it is the
/// cycle in which the data is on the bus.
pub trait Bus {
    /// Read a peripheral register.
    ///
    /// # Errors
    /// The chip has nothing there, or it may not be read so. An [`Unmapped`] fault becomes a bus
    /// fault in the core; any other ends the run.
    ///
    /// [`Unmapped`]: joulemark_kernel::FaultKind::Unmapped
    fn read(&mut self, address: u32, width: Width, now: Cycles) -> Result<u32, Fault>;

    /// Write a peripheral register.
    ///
    /// # Errors
    /// As [`Bus::read`].
    fn write(&mut self, address: u32, value: u32, width: Width, now: Cycles) -> Result<(), Fault>;

    /// When [`Bus::advance`] has to be called next; [`Cycles::NEVER`] when nothing is due.
    fn next_event(&self) -> Cycles {
        Cycles::NEVER
    }

    /// Time has come to `now`, which is not before [`Bus::next_event`] by more than one
    /// instruction.
    ///
    /// # Errors
    /// Something fatal happened, such as the watchdog's bite.
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let _ = now;
        Ok(())
    }

    /// Transfers by bus masters other than the core to and from memory until `now`. Called after
    /// each access to a register, and after [`Bus::advance`].
    ///
    /// # Errors
    /// A transfer cannot be done.
    fn transfer(&mut self, memory: &mut dyn Memories, now: Cycles) -> Result<(), Fault> {
        let _ = (memory, now);
        Ok(())
    }

    /// The external interrupt lines that are asserted, line 0 in bit 0 of the first word.
    fn interrupts(&self) -> [u64; 4] {
        [0; 4]
    }

    /// Whether the non-maskable interrupt's line is asserted.
    fn nmi(&self) -> bool {
        false
    }

    /// The core reads a double word of flash whose error correction does not fit its bits.
    fn read_torn(&mut self, address: u32) {
        let _ = address;
    }

    /// Current settings of the memory controller. Asked after each write.
    fn memory_settings(&self) -> MemorySettings {
        MemorySettings::default()
    }

    /// Current settings of a memory that is read by lines, on cores that know such. Asked after each
    /// write.
    fn lines(&self) -> lines::Settings {
        lines::Settings::default()
    }

    /// Whether the cache's RAM is no memory now: it is the cache's, or off. Asked after each write.
    fn cache_ram_off(&self) -> bool {
        self.memory_settings().cache
    }

    /// Whether the flash controller takes stores of this width to flash, as if they were to
    /// registers.
    fn takes_flash_stores(&self, width: Width) -> bool {
        let _ = width;
        false
    }

    /// Whether flash cannot be read now, because its controller changes some of it. Asked after each
    /// write.
    fn flash_is_off(&self) -> bool {
        false
    }

    /// Until when a core that executes from flash or ROM stands still, because flash is being changed.
    fn held_until(&self) -> Cycles {
        Cycles(0)
    }

    /// The core goes to sleep (`SLEEPDEEP` is set where `deep`) or wakes.
    ///
    /// Returns how long the core waits before it goes on, such as for an oscillator to start.
    fn sleep(&mut self, asleep: bool, deep: bool, now: Cycles) -> Cycles {
        let _ = (asleep, deep, now);
        Cycles(0)
    }

    /// Whether the core's clock stops in this sleep, and `SysTick` with it.
    fn stops_clock(&self, deep: bool) -> bool {
        let _ = deep;
        false
    }

    /// Software asked for a reset (AIRCR.SYSRESETREQ).
    ///
    /// # Errors
    /// The reset ends the run.
    fn reset_requested(&mut self, now: Cycles) -> Result<(), Fault>;

    /// Control has gone to another place than the next instruction, or has left the addresses that
    /// this answered the last time. Asked only while the core is watched
    /// ([`Core::watch`](crate::Core::watch)).
    fn control(&mut self, control: &Control) -> Range<u32> {
        let _ = control;
        0..u32::MAX
    }

    /// What becomes of a value in the register at this address.
    fn flow(&self, address: u32) -> Flow {
        let _ = address;
        Flow::Register
    }

    /// Whether the run is to end at this instruction boundary; asking clears it.
    fn take_stop(&mut self) -> bool {
        false
    }
}
