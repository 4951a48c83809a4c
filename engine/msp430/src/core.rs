//! The core's state, its memory and bus accesses, and its interface to a machine.

use std::ops::Range;

use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::alu::Flags;
use crate::bus::{Bus, FlashEffect, Width};
use crate::memory::{Region, State, attribute};
use crate::observe::{Call, Observer, Profile};
use crate::polling::Polls;
use crate::registers::status::{CPUOFF, GIE, POWER};
use crate::registers::{CG, PC, SP, SR};
use crate::secrets::{Before, Secrets};

/// Address of the reset vector (SLAU049F, table 2-1).
pub const RESET_VECTOR: u16 = 0xfffe;

/// An MSP430 core with its flash and RAM.
pub struct Core<B: Bus> {
    /// The surrounding chip.
    pub bus: B,
    pub(crate) state: Box<State>,
    pub(crate) cycles: u64,
    pub(crate) sleep_cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) observer: Observer,
    pub(crate) polls: Polls,
    /// GIE, as the next interrupt check sees it.
    pub(crate) interruptible: bool,
    /// Whether to ask the bus before the next instruction, because its answers may have changed.
    pub(crate) ask_bus: bool,
    /// Mirrors of memory: first address, size, first mirrored address.
    mirrors: Vec<(u16, u16, u16)>,
    pub(crate) secrets: Option<Box<Secrets>>,
}

impl<B: Bus> Core<B> {
    /// Make a core with empty memory. Regions must not overlap; addresses outside them do not
    /// exist.
    pub fn new(bus: B, regions: &[Region]) -> Self {
        Self {
            bus,
            state: State::new(regions),
            cycles: 0,
            sleep_cycles: 0,
            instructions: 0,
            observer: Observer::new(),
            polls: Polls::new(),
            interruptible: false,
            ask_bus: true,
            mirrors: Vec::new(),
            secrets: None,
        }
    }

    /// Mirror the memory at `of`, as data, where there is no region.
    pub fn mirror(&mut self, start: u16, size: u16, of: u16) {
        self.mirrors.push((start, size, of));
    }

    /// The mirrored address behind an address.
    fn mirrored(&self, address: u16) -> Option<u16> {
        self.mirrors.iter().find_map(|&(start, size, of)| {
            let offset = address.wrapping_sub(start);
            (offset < size).then(|| of.wrapping_add(offset))
        })
    }

    /// Load bytes into flash or RAM as a programmer does, in no emulated time and regardless of
    /// flash rules.
    ///
    /// # Errors
    /// The first address that is neither; nothing has been written.
    pub fn load(&mut self, address: u16, data: &[u8]) -> Result<(), u16> {
        self.check_memory(address, data.len())?;
        for (offset, &byte) in data.iter().enumerate() {
            let at = address.wrapping_add(offset as u16);
            self.forget_code(at);
            self.state.define(at, byte);
        }
        Ok(())
    }

    /// Read flash or RAM without side effects, in no emulated time.
    ///
    /// # Errors
    /// The first address that is neither flash nor RAM.
    pub fn read_memory(&self, address: u16, length: usize) -> Result<Vec<u8>, u16> {
        self.check_memory(address, length)?;
        let start = usize::from(address);
        Ok(self.state.bytes[start..start + length].to_vec())
    }

    fn check_memory(&self, address: u16, length: usize) -> Result<(), u16> {
        for at in usize::from(address)..usize::from(address) + length {
            let plain =
                u16::try_from(at).is_ok_and(|at| self.state.is_ram(at) || self.state.is_flash(at));
            if !plain {
                return Err(at as u16);
            }
        }
        Ok(())
    }

    /// Declare bytes to be data: executing them is a fault, whatever wrote them.
    pub fn deny_execution(&mut self, start: u16, size: usize) {
        for at in usize::from(start)..(usize::from(start) + size).min(0x10000) {
            self.forget_code(at as u16);
            self.state.mark_data(at as u16);
        }
    }

    /// Reset by a power-up clear: SR is zero and PC comes from the reset vector (SLAU049F, section
    /// 2.1.3). Other registers keep their values, and counters continue.
    pub fn reset(&mut self) {
        self.state.registers[SR] = 0;
        self.state.registers[PC] = self.state.word(RESET_VECTOR);
        self.interruptible = false;
        self.ask_bus = true;
        self.observer
            .forget_calls(self.active_cycles(), self.instructions);
    }

    /// Read a register, R0 to R15.
    ///
    /// # Panics
    /// `number` is not below 16.
    pub fn register(&self, number: usize) -> u16 {
        assert!(number < 16, "R{number} does not exist");
        self.state.registers[number]
    }

    /// Set a register, R0 to R15; R3 stays 0.
    ///
    /// # Panics
    /// `number` is not below 16.
    pub fn set_register(&mut self, number: usize, value: u16) {
        assert!(number < 16, "R{number} does not exist");
        match number {
            CG => {}
            SR => self.set_status(value),
            _ => self.state.registers[number] = value,
        }
        self.interruptible = self.state.registers[SR] & GIE != 0;
    }

    /// Cycles since the core was made, including sleep.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.cycles)
    }

    /// The part of [`Core::cycles`] during which CPUOFF was set.
    pub fn sleep_cycles(&self) -> Cycles {
        Cycles(self.sleep_cycles)
    }

    /// Instructions executed since the core was made.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Stop before the instruction at this address.
    pub fn set_breakpoint(&mut self, address: u16) {
        self.state.set_breakpoint(address, true);
        self.forget_code(address);
    }

    /// Remove the breakpoint at this address.
    pub fn clear_breakpoint(&mut self, address: u16) {
        // Forget the code first: only the breakpoint itself marks its slot.
        self.forget_code(address);
        self.state.set_breakpoint(address, false);
    }

    /// Set the lowest address that the stack may use; growth past it is a fault.
    ///
    /// Only a stack that was above the limit can grow past it. A stack that the program moved below
    /// the limit, as a scheduler with several stacks does, is not checked.
    pub fn set_stack_limit(&mut self, lowest: u16) {
        self.observer.stack_limit = lowest;
    }

    /// The lowest stack pointer since [`Core::reset_stack_low`].
    pub fn stack_low(&self) -> u16 {
        self.observer.stack_low()
    }

    /// Restart the stack's high-water mark.
    pub fn reset_stack_low(&mut self) {
        self.observer.reset_stack_low(self.state.registers[SP]);
    }

    /// Calls and interrupts without a return yet, outermost first.
    pub fn calls(&self) -> &[Call] {
        self.observer.calls()
    }

    /// Start a new digest of all addresses.
    pub fn start_address_digest(&mut self) {
        self.observer.start_digest();
    }

    /// Keep the addresses of jumps and data, or stop; they are digested, too.
    pub fn keep_accesses(&mut self, on: bool) {
        self.observer.keep_accesses(on);
    }

    /// Take the addresses that were kept since the last call.
    pub fn take_accesses(&mut self) -> Vec<u32> {
        self.observer.take_accesses()
    }

    /// Whether addresses are being digested.
    pub fn is_digesting(&self) -> bool {
        self.observer.is_digesting()
    }

    /// Stop digesting; the digest keeps its value.
    pub fn stop_address_digest(&mut self) {
        self.observer.stop_digest();
    }

    /// The digest of all jump targets and all data addresses, in order of access. Two runs with the
    /// same digest took the same path and accessed the same memory.
    pub fn address_digest(&self) -> u64 {
        self.observer.digest()
    }

    /// From now on follow these secrets and no others; nothing is found until
    /// [`Core::find_uses`]. What was found before is kept.
    pub fn follow_secrets(&mut self, pieces: &[Piece]) {
        let mut secrets = Box::new(Secrets::new(self.mirrors.clone()));
        for piece in pieces {
            secrets.mark(piece);
        }
        if let Some(before) = self.secrets.take() {
            secrets.keep(*before);
        }
        self.secrets = Some(secrets);
    }

    /// Follow no secrets any more, and forget what was found.
    pub fn forget_secrets(&mut self) {
        self.secrets = None;
    }

    /// These bytes are public from here on, or come from these secrets.
    pub fn mark_secret(&mut self, piece: &Piece) {
        if let Some(secrets) = &mut self.secrets {
            secrets.mark(piece);
        }
    }

    /// What instructions in these ranges decide by a secret may be known.
    pub fn set_public_code(&mut self, ranges: &[Range<u32>]) {
        if let Some(secrets) = &mut self.secrets {
            secrets.finds.set_public_code(ranges);
        }
    }

    /// Begin to find what secrets decide, or leave off; they are followed all the same.
    pub fn find_uses(&mut self, on: bool) {
        if let Some(secrets) = &mut self.secrets {
            secrets.finds.is_on = on;
        }
    }

    /// What secrets decided; `None` where none are followed.
    pub fn secrets(&self) -> Option<Report> {
        self.secrets.as_ref().map(|secrets| secrets.report())
    }

    /// Let what follows secrets look at the core.
    pub(crate) fn follow(&mut self, pc: u16, look: impl FnOnce(&mut Secrets, &Before<'_>)) {
        if let Some(secrets) = &mut self.secrets {
            let bus = &self.bus;
            let before = Before {
                state: &self.state,
                calls: self.observer.calls(),
                flags: Flags::from_status(self.state.registers[SR]),
                flow: &|address| bus.flow(address),
                pc,
            };
            look(secrets, &before);
        }
    }

    /// Start to count cycles by function. `functions` maps each even address (index: address / 2;
    /// length 32768) to a function number of the caller's choice.
    pub fn start_profile(&mut self, functions: Box<[u16; 0x8000]>) {
        self.observer.start_profile(
            functions,
            self.active_cycles(),
            self.instructions,
            self.state.registers[SP],
        );
        self.state.forget_all();
    }

    /// The profile's current node; `None` if no profile was started.
    pub fn profile_node(&self) -> Option<usize> {
        self.observer.profile_node()
    }

    /// The profile so far; `None` if none was started.
    pub fn profile(&mut self) -> Option<&Profile> {
        self.observer
            .profile(self.active_cycles(), self.instructions)
    }

    /// Whether the core sleeps and no pending interrupt wakes it.
    pub fn is_asleep(&self) -> bool {
        let status = self.state.registers[SR];
        status & CPUOFF != 0 && self.bus.pending_interrupt(status & GIE != 0).is_none()
    }

    /// Continue the sleep after [`Exit::Asleep`] until a cycle before which nothing is due.
    pub fn sleep_until(&mut self, cycle: Cycles) {
        debug_assert!(self.is_asleep() && self.bus.next_event() >= cycle);
        self.sleep_cycles += cycle.0 - self.cycles;
        self.cycles = cycle.0;
    }

    /// Cycles without sleep, which is the cost of code.
    pub(crate) fn active_cycles(&self) -> u64 {
        self.cycles - self.sleep_cycles
    }

    pub(crate) fn observe_call(&mut self, target: u16, return_address: u16, slot: u16) {
        let call = Call {
            target,
            return_address,
            stack_pointer: slot,
        };
        self.observer
            .call(call, self.active_cycles(), self.instructions);
    }

    /// Write SR, and report a change of the low-power mode to the bus.
    pub(crate) fn set_status(&mut self, value: u16) {
        let old = self.state.registers[SR];
        self.state.registers[SR] = value;
        if (old ^ value) & POWER != 0 {
            self.cycles += self.bus.power_changed(value, Cycles(self.cycles)).0;
            self.ask_bus = true;
        }
        if (old ^ value) & GIE != 0 {
            self.ask_bus = true;
        }
    }

    /// Undo the decoding of the instruction that contains this byte.
    pub(crate) fn forget_code(&mut self, address: u16) {
        if let Some(secrets) = &mut self.secrets {
            secrets.forget_code(address);
        }
        if self.state.has(address, attribute::DECODED) || self.state.is_breakpoint(address) {
            self.state.forget(address);
        }
    }

    /// Read data.
    pub(crate) fn read(&mut self, address: u16, byte: bool, now: u64) -> Result<u16, Box<Fault>> {
        self.observer.touch(address);
        let direct = if byte {
            attribute::READ_BYTE
        } else {
            attribute::READ_WORD
        };
        if self.state.has(address, direct) {
            return Ok(if byte {
                u16::from(self.state.bytes[usize::from(address)])
            } else {
                self.state.word(address)
            });
        }
        if !byte && address & 1 != 0 {
            return Err(misaligned(address, "a word is read").into());
        }
        if self.state.is_peripheral(address) {
            self.ask_bus = true;
            return Ok(self.bus.read(address, Width::of(byte), Cycles(now))?);
        }
        if let Some(address) = self.mirrored(address) {
            return self.read(address, byte, now);
        }
        Err(self.no_memory(address, byte, "read").into())
    }

    /// Write data.
    pub(crate) fn write(
        &mut self,
        address: u16,
        value: u16,
        byte: bool,
        now: u64,
    ) -> Result<(), Box<Fault>> {
        if !byte && address & 1 != 0 {
            return Err(misaligned(address, "a word is written").into());
        }
        let width = Width::of(byte);
        let bytes = value.to_le_bytes();
        let bytes = if byte { &bytes[..1] } else { &bytes[..] };
        if self.state.is_peripheral(address) {
            self.ask_bus = true;
            return Ok(self.bus.write(address, value, width, Cycles(now))?);
        }
        if self.state.is_ram(address) {
            for (offset, &byte) in bytes.iter().enumerate() {
                let at = address + offset as u16;
                self.forget_code(at);
                self.state.define(at, byte);
            }
            return Ok(());
        }
        if self.state.is_flash(address) {
            self.ask_bus = true;
            let operation = self.bus.write_flash(address, value, width, Cycles(now))?;
            match operation.effect {
                FlashEffect::None => {}
                FlashEffect::Program => {
                    for (offset, &byte) in bytes.iter().enumerate() {
                        let at = address + offset as u16;
                        self.forget_code(at);
                        let old = self.state.bytes[usize::from(at)];
                        self.state.define(at, old & byte);
                    }
                }
                FlashEffect::Erase { start, size } => {
                    for at in u32::from(start)..(u32::from(start) + size).min(0x10000) {
                        if self.state.is_flash(at as u16) {
                            self.forget_code(at as u16);
                            self.state.undefine(at as u16);
                        }
                    }
                }
            }
            if self.state.is_flash(self.state.registers[PC]) {
                self.cycles += operation.stall.0;
            }
            return Ok(());
        }
        if let Some(address) = self.mirrored(address) {
            return self.write(address, value, byte, now);
        }
        Err(self.no_memory(address, byte, "written").into())
    }

    fn no_memory(&self, address: u16, byte: bool, verb: &str) -> Fault {
        let what = if byte { "a byte" } else { "a word" };
        if self.state.is_flash(address) {
            let message = format!("{what} of flash that was never programmed is {verb}");
            Fault::new(FaultKind::Unprogrammed, message).at(address)
        } else {
            let message = format!("{what} is {verb} where the chip has no memory");
            Fault::new(FaultKind::Unmapped, message).at(address)
        }
    }

    /// Push a word.
    pub(crate) fn push(&mut self, value: u16) -> Result<(), Box<Fault>> {
        let sp = self.state.registers[SP].wrapping_sub(2);
        self.stack_grows(sp)?;
        self.observer.touch(sp);
        self.write(sp, value, false, self.cycles)?;
        self.state.registers[SP] = sp;
        Ok(())
    }

    /// Lower the stack pointer to `sp`, by a push, a call, an interrupt or arithmetic.
    pub(crate) fn stack_grows(&mut self, sp: u16) -> Result<(), Box<Fault>> {
        self.observer.stack_grows(self.state.registers[SP], sp)
    }
}

pub(crate) fn misaligned(address: u16, what: &str) -> Fault {
    let message = format!("{what} at an odd address; silicon drops bit 0 without a word");
    Fault::new(FaultKind::Misaligned, message).at(address)
}
