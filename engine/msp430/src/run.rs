//! Running: alternate between code, events, interrupts and sleep.

use joulemark_kernel::{Caller, Cycles, Fault};

use crate::bus::{Bus, Transfer, Width};
use crate::core::Core;
use crate::registers::status::{CPUOFF, GIE};
use crate::registers::{PC, SP, SR};
use crate::secrets::Secrets;
use crate::timing;

/// When a run ends at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// End at the first instruction boundary with the cycle counter at or above this.
    pub until: Option<Cycles>,
    /// Execute the first instruction even if it has a breakpoint.
    pub leave_breakpoint: bool,
}

/// Why a run ended. The program counter is at the next instruction, or at the faulting one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The next instruction is at this breakpoint and has not been executed.
    Breakpoint(u16),
    /// [`Limits::until`] is reached.
    Cycles,
    /// The bus requested it ([`Bus::take_stop`]).
    Stopped,
    /// The core sleeps and nothing is due to wake it.
    Asleep,
    /// An error that silicon would let pass silently.
    Fault(Box<Fault>),
}

impl<B: Bus> Core<B> {
    /// Run until something in `limits` or in [`Exit`] ends the run.
    pub fn run(&mut self, limits: Limits) -> Exit {
        let until = limits.until.map_or(u64::MAX, |cycles| cycles.0);
        let first = limits.leave_breakpoint;
        match self.run_until(until, first) {
            Ok(exit) => exit,
            Err(mut fault) => {
                fault.pc = u32::from(self.state.registers[PC]);
                fault.call_stack = self
                    .calls()
                    .iter()
                    .rev()
                    .map(|call| Caller::Call(call.return_address.into()))
                    .collect();
                Exit::Fault(fault)
            }
        }
    }

    fn run_until(&mut self, until: u64, mut leave_breakpoint: bool) -> Result<Exit, Box<Fault>> {
        self.ask_bus = true;
        let mut event = 0;
        loop {
            if self.ask_bus || self.cycles >= event {
                while self.cycles >= self.bus.next_event().0 {
                    self.bus.advance(Cycles(self.cycles))?;
                }
                if self.bus.take_stop() {
                    return Ok(Exit::Stopped);
                }
                // Checked before interrupts, so that a run that continues from here finds the same
                // state.
                if self.cycles >= until {
                    return Ok(Exit::Cycles);
                }
                let is_asleep = self.state.registers[SR] & CPUOFF != 0;
                if let Some(transfer) = self.bus.next_transfer(is_asleep) {
                    self.transfer(transfer)?;
                    continue;
                }
                self.ask_bus = false;
                if let Some(vector) = self.bus.pending_interrupt(self.interruptible) {
                    self.accept(vector)?;
                    continue;
                }
                // One instruction after GIE is set, a pending interrupt is accepted.
                let enabled = self.state.registers[SR] & GIE != 0;
                self.ask_bus = self.interruptible != enabled;
                self.interruptible = enabled;
                event = self.bus.next_event().0;
            }
            if self.cycles >= until {
                return Ok(Exit::Cycles);
            }
            if self.state.registers[SR] & CPUOFF != 0 {
                let wake = event.min(until);
                if event == u64::MAX {
                    return Ok(Exit::Asleep);
                }
                self.sleep_cycles += wake - self.cycles;
                self.cycles = wake;
                continue;
            }
            let pc = self.state.registers[PC];
            if self.state.is_breakpoint(pc) && !leave_breakpoint {
                return Ok(Exit::Breakpoint(pc));
            }
            if self.ask_bus || leave_breakpoint {
                leave_breakpoint = false;
                self.step()?;
            } else {
                self.run_blocks(event.min(until))?;
            }
        }
    }

    /// Move a byte or a word while the core is stalled. A byte moved to a word clears the high byte
    /// (SLAU049F, section 8.2.1).
    fn transfer(&mut self, transfer: Transfer) -> Result<(), Box<Fault>> {
        let Transfer {
            source,
            destination,
            cycles,
        } = transfer;
        let pc = self.state.registers[PC];
        self.follow(pc, |secrets, before| secrets.transfer(before, &transfer));
        let value = self.read(source.0, source.1 == Width::Byte, self.cycles)?;
        let is_byte = destination.1 == Width::Byte;
        let value = if is_byte { value & 0xff } else { value };
        self.write(destination.0, value, is_byte, self.cycles)?;
        self.cycles += cycles.0;
        if self.state.registers[SR] & CPUOFF != 0 {
            self.sleep_cycles += cycles.0;
        }
        self.ask_bus = true;
        Ok(())
    }

    /// Accept an interrupt (SLAU049F, section 2.2.3).
    fn accept(&mut self, vector: u16) -> Result<(), Box<Fault>> {
        let (pc, status) = (self.state.registers[PC], self.state.registers[SR]);
        let target = self.read(vector, false, self.cycles)?;
        self.follow(pc, Secrets::accept);
        self.observer
            .charge(self.active_cycles(), self.instructions);
        self.push(pc)?;
        let slot = self.state.registers[SP];
        self.push(status)?;
        self.observe_call(target, pc, slot);
        self.observer.touch(target);
        self.cycles += timing::INTERRUPT;
        self.bus.acknowledge(vector, Cycles(self.cycles));
        // "The SR is cleared. This terminates any low-power mode."
        self.set_status(0);
        self.interruptible = false;
        self.state.registers[PC] = target;
        self.ask_bus = true;
        Ok(())
    }
}
