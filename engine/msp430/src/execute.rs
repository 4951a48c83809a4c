//! The fast loop.

use joulemark_kernel::Fault;

use crate::bus::Bus;
use crate::core::Core;
use crate::memory::Memory;

/// Decoded instructions and breakpoints.
pub(crate) struct Code {
    breakpoints: Vec<u16>,
}

impl Code {
    pub fn new() -> Self {
        Self {
            breakpoints: Vec::new(),
        }
    }

    pub fn is_breakpoint(&self, address: u16) -> bool {
        self.breakpoints.contains(&address)
    }

    pub fn set_breakpoint(&mut self, address: u16, on: bool) {
        self.breakpoints.retain(|&other| other != address);
        if on {
            self.breakpoints.push(address);
        }
    }

    /// Undo the decoding of whatever instruction this byte is part of.
    pub fn forget(&mut self, address: u16, memory: &mut Memory) {
        memory.mark_decoded(address, false);
    }

    pub fn forget_all(&mut self, _memory: &mut Memory) {}
}

impl<B: Bus> Core<B> {
    /// Execute instructions until the cycle counter reaches `until` or the bus has to be asked.
    pub(crate) fn run_blocks(&mut self, until: u64) -> Result<(), Box<Fault>> {
        while self.cycles < until && !self.ask_bus && !self.code.is_breakpoint(self.registers[0]) {
            self.step()?;
        }
        Ok(())
    }
}
