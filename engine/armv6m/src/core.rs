//! The core's state, and its interface to a machine.

use std::ops::Range;

use joulemark_armv7m::{Bus, Control};
use joulemark_kernel::lines::{Lines, Reader};
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Cycles, Fault, Observer};

use crate::blocks::Blocks;
use crate::flags::Flags;
use crate::memory::{Memory, Region};
use crate::secrets::{Before, Secrets};
use crate::system::System;

/// R0 to R14, and from place 15 on zeros; as many as five bits can number.
pub(crate) type Registers = [u32; 32];

pub(crate) const SP: usize = 13;
pub(crate) const LR: usize = 14;
pub(crate) const PC: usize = 15;
/// CONTROL (ARM DDI 0419E, B1.4.4).
pub(crate) const NPRIV: u8 = 1;
pub(crate) const SPSEL: u8 = 2;

/// Registers that answer late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Their addresses.
    pub range: Range<u32>,
    /// Wait states of a load and of a store.
    pub states: [u8; 2],
}

/// What is constant in a core of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its memories; they do not overlap.
    pub regions: Vec<Region>,
    /// The one that answers late, if there is one.
    pub lines: Option<Lines>,
    /// Addresses that the single-cycle I/O port answers.
    pub io_port: Range<u32>,
    /// Registers that answer late.
    pub waits: Vec<Wait>,
    /// External interrupt lines.
    pub interrupts: usize,
    /// The CPUID register.
    pub cpuid: u32,
    /// `SysTick`'s calibration register (ARM DDI 0419E, B3.3.6).
    pub systick_calibration: u32,
    /// Divider of the core's clock for `SysTick`'s other clock; 0 where there is none.
    pub systick_divider: u32,
    /// Cycles of MULS: 1 or 32.
    pub multiply_cycles: u8,
    /// End the run where a hard fault would be taken, instead of taking it.
    pub stop_on_fault: bool,
}

/// When a run ends at the latest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// End at the first instruction boundary with the cycle counter at or above this.
    pub until: Option<Cycles>,
    /// Execute the first instruction even if it has a breakpoint.
    pub step_first: bool,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The next instruction is at this breakpoint.
    Breakpoint(u32),
    /// [`Limits::until`] is reached.
    Cycles,
    /// The bus requested it.
    Stopped,
    /// The core sleeps, and nothing is due to wake it.
    Asleep,
    /// An error that silicon would let pass silently.
    Fault(Box<Fault>),
}

/// An ARMv6-M core with its memories.
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
pub struct Core<B: Bus> {
    /// The chip around it.
    pub bus: B,
    pub(crate) memories: Vec<Memory>,
    pub(crate) reader: Option<Box<Reader>>,
    /// The number of the memory that is read so.
    pub(crate) late_memory: usize,
    pub(crate) r: Registers,
    /// The stack pointer that is not in use.
    pub(crate) other_sp: u32,
    pub(crate) pc: u32,
    pub(crate) flags: Flags,
    pub(crate) thumb: bool,
    pub(crate) ipsr: u8,
    pub(crate) primask: bool,
    pub(crate) control: u8,
    pub(crate) event: bool,
    pub(crate) system: System,
    pub(crate) config: Config,

    /// The cycle in which the next instruction begins.
    pub(crate) now: u64,
    /// When the bus, the interrupts or the run's end must be looked at, at the latest.
    pub(crate) check: u64,
    /// Since when there is an exception to take.
    pub(crate) noticed: Option<u64>,
    /// WFE (true) or WFI sleeps, since a cycle.
    pub(crate) asleep: Option<bool>,
    pub(crate) slept_since: u64,
    pub(crate) sleep_cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) blocks: Blocks,
    pub(crate) breakpoints: Vec<u32>,
    pub(crate) observer: Observer,
    /// The fault whose handler is running.
    pub(crate) handled: Option<Fault>,
    pub(crate) secrets: Option<Box<Secrets>>,
}

impl<B: Bus> Core<B> {
    /// Make a core with empty memories.
    pub fn new(bus: B, config: &Config) -> Self {
        let regions = config.regions.iter();
        let settings = bus.lines();
        let reader = config.lines.as_ref();
        let is_late =
            |region: &Region| reader.is_some_and(|lines| lines.range.start == region.start);
        let late_memory = config.regions.iter().position(is_late);
        Self {
            reader: reader.map(|lines| Box::new(Reader::new(lines, settings))),
            late_memory: late_memory.unwrap_or(usize::MAX),
            bus,
            memories: regions.map(|&region| Memory::new(region)).collect(),
            r: [0; 32],
            other_sp: 0,
            pc: 0,
            flags: Flags::of(0),
            thumb: true,
            ipsr: 0,
            primask: false,
            control: 0,
            event: false,
            system: System::new(
                config.interrupts,
                config.cpuid,
                config.systick_calibration,
                config.systick_divider,
            ),
            config: config.clone(),
            now: 0,
            check: 0,
            noticed: None,
            asleep: None,
            slept_since: 0,
            sleep_cycles: 0,
            instructions: 0,
            blocks: Blocks::default(),
            breakpoints: Vec::new(),
            observer: Observer::default(),
            handled: None,
            secrets: None,
        }
    }

    /// Reset, and start with a stack pointer and an entry, whose lowest bit selects Thumb state, the
    /// only one (B1.5.5). Counters of the machine continue.
    pub fn reset(&mut self, vectors: u32, stack_pointer: u32, entry: u32) {
        self.system.reset();
        self.system.vtor = vectors;
        self.r = [0; 32];
        self.r[SP] = stack_pointer & !3;
        self.r[LR] = u32::MAX;
        self.other_sp = 0;
        self.set_xpsr(0);
        (self.ipsr, self.control, self.primask, self.event) = (0, 0, false, false);
        self.thumb = entry & 1 != 0;
        self.pc = entry & !1;
        if self.asleep.take().is_some() {
            self.sleep_cycles += self.now - self.slept_since;
        }
        (self.noticed, self.handled, self.check) = (None, None, 0);
        self.observer.forget();
        self.take_line_settings();
        if let Some(secrets) = &mut self.secrets {
            secrets.reset();
        }
    }

    /// Learn what the chip has set of the memory that answers late.
    pub(crate) fn take_line_settings(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.set(self.bus.lines());
        }
    }

    /// Load bytes into memory as a programmer does, in no emulated time.
    ///
    /// # Errors
    /// The first address that is no memory; nothing has been written.
    pub fn load_image(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.read_memory(address, data.len())?;
        for (offset, byte) in (0..).zip(data) {
            let at = address.wrapping_add(offset);
            for memory in &mut self.memories {
                if let Some(place) = memory.offset(at, 1) {
                    memory.load(place, &[*byte]);
                }
            }
        }
        Ok(())
    }

    /// Read memory, in no emulated time.
    ///
    /// # Errors
    /// The first address that is no memory.
    pub fn read_memory(&self, address: u32, length: usize) -> Result<Vec<u8>, u32> {
        let inside = |memory: &Memory| memory.offset(address, length as u32);
        let whole = self.memories.iter().find_map(|memory| {
            let at = inside(memory)?;
            Some(memory.bytes()[at..at + length].to_vec())
        });
        if let Some(bytes) = whole {
            return Ok(bytes);
        }
        let byte = |at: u32| {
            let mut memories = self.memories.iter();
            memories.find_map(|memory| memory.offset(at, 1).map(|place| memory.bytes()[place]))
        };
        (0..length as u32)
            .map(|offset| address.wrapping_add(offset))
            .map(|at| byte(at).ok_or(at))
            .collect()
    }

    /// Read a register: R0 to R14, and 15 for the next instruction's address.
    pub fn register(&self, number: usize) -> u32 {
        if number == PC {
            self.pc
        } else {
            self.r[number]
        }
    }

    /// Set a register; see [`Core::register`].
    pub fn set_register(&mut self, number: usize, value: u32) {
        match number {
            PC => self.pc = value & !1,
            SP => self.r[SP] = value & !3,
            _ => self.r[number] = value,
        }
    }

    /// The program status register: APSR, IPSR and EPSR together.
    pub fn xpsr(&self) -> u32 {
        self.flags.bits() | u32::from(self.thumb) << 24 | u32::from(self.ipsr)
    }

    /// Set the flags and the Thumb bit from a program status register.
    pub fn set_xpsr(&mut self, value: u32) {
        self.flags = Flags::of(value);
        self.thumb = value >> 24 & 1 != 0;
    }

    /// Cycles since the core was made, including sleep.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.now)
    }

    /// The part of [`Core::cycles`] during which the core slept.
    pub fn sleep_cycles(&self) -> Cycles {
        let open = self.asleep.map_or(0, |_| self.now - self.slept_since);
        Cycles(self.sleep_cycles + open)
    }

    /// Instructions executed since the core was made.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Stop before the instruction at this address.
    pub fn set_breakpoint(&mut self, address: u32) {
        if !self.breakpoints.contains(&address) {
            self.breakpoints.push(address);
            self.forget_code(address);
        }
    }

    /// Remove the breakpoint at this address.
    pub fn clear_breakpoint(&mut self, address: u32) {
        self.breakpoints.retain(|&at| at != address);
        self.forget_code(address);
    }

    fn forget_code(&mut self, address: u32) {
        for memory in &mut self.memories {
            if let Some(at) = memory.offset(address, 2) {
                memory.forget(at, 2);
            }
        }
    }

    /// Set the lowest address that the stack may use; growth past it from above is a fault.
    pub fn set_stack_limit(&mut self, lowest: u32) {
        self.observer.stack_limit = lowest;
    }

    /// The stack pointer that is not in use: the process's or the main one (B1.4.1).
    pub fn other_stack_pointer(&self) -> u32 {
        self.other_sp
    }

    /// The lowest stack pointer since [`Core::reset_stack_low`].
    pub fn stack_low(&self) -> u32 {
        self.observer.stack_low
    }

    /// Restart the stack's high-water mark.
    pub fn reset_stack_low(&mut self) {
        self.observer.stack_low = self.r[SP];
        self.observer.control_low = self.r[SP];
    }

    /// Start a new digest of the addresses of instructions and data.
    pub fn start_address_digest(&mut self) {
        (self.observer.digesting, self.observer.digest) = (true, 0);
    }

    /// Keep the addresses of instructions and data, or stop; they are digested, too.
    pub fn keep_accesses(&mut self, on: bool) {
        self.observer.digesting = on;
        self.observer.accesses = on.then(Vec::new);
    }

    /// Take the addresses that were kept since the last call.
    pub fn take_accesses(&mut self) -> Vec<u32> {
        let kept = self.observer.accesses.as_mut();
        kept.map(std::mem::take).unwrap_or_default()
    }

    /// Stop the digest, and keep it.
    pub fn stop_address_digest(&mut self) {
        self.observer.digesting = false;
    }

    /// Whether addresses are digested.
    pub fn is_digesting(&self) -> bool {
        self.observer.digesting
    }

    /// The digest.
    pub fn address_digest(&self) -> u64 {
        self.observer.digest
    }

    /// From now on follow these secrets and no others; nothing is found until [`Core::find_uses`].
    /// What was found before is kept.
    ///
    /// # Errors
    /// The first address that is no memory.
    pub fn follow_secrets(&mut self, pieces: &[Piece]) -> Result<(), u32> {
        let mut secrets = Box::new(Secrets::new(&self.memories));
        for piece in pieces {
            secrets.mark(piece)?;
        }
        if let Some(before) = self.secrets.take() {
            secrets.keep(*before);
        }
        self.secrets = Some(secrets);
        Ok(())
    }

    /// Follow no secrets any more, and forget what was found.
    pub fn forget_secrets(&mut self) {
        self.secrets = None;
    }

    /// These bytes are public from here on, or come from these secrets.
    ///
    /// # Errors
    /// The first address that is no memory.
    pub fn mark_secret(&mut self, piece: &Piece) -> Result<(), u32> {
        let secrets = self.secrets.as_mut();
        secrets.map_or(Ok(()), |secrets| secrets.mark(piece))
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
    pub(crate) fn follow(&mut self, look: impl FnOnce(&mut Secrets, &Before<'_>)) {
        if let Some(secrets) = &mut self.secrets {
            let bus = &self.bus;
            let before = Before {
                r: &self.r,
                pc: self.pc,
                flags: [
                    self.flags.n(),
                    self.flags.z(),
                    self.flags.carry,
                    self.flags.overflow,
                ],
                control: self.control,
                other_sp: self.other_sp,
                in_handler: self.ipsr != 0,
                observer: &self.observer,
                flow: &|address| bus.flow(address),
            };
            look(secrets, &before);
        }
    }

    /// Report control to the bus from now on, and now.
    pub fn watch(&mut self) {
        self.observer.watching = true;
        self.report();
    }

    pub(crate) fn report(&mut self) {
        let sp = self.r[SP];
        let control = Control {
            pc: self.pc,
            depth: self.observer.depth(),
            busy_cycles: self.now - self.sleep_cycles().0,
            instructions: self.instructions,
            stack_pointer: sp,
            stack_low: self.observer.control_low.min(sp),
        };
        self.observer.control_low = sp;
        self.observer.reported_depth = control.depth;
        self.observer.range = self.bus.control(&control);
    }

    /// The fault whose handler is running.
    pub fn handled_fault(&self) -> Option<Fault> {
        self.handled.clone()
    }
}
