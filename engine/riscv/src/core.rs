//! The core's state, and its interface to a machine.

use std::collections::VecDeque;
use std::ops::Range;

use joulemark_kernel::lines::{Lines as MemoryLines, Reader, Settings};
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Cycles, Fault, Observer};

use crate::blocks::Blocks;
use crate::bus::{Bus, Control, Lines};
use crate::csr::{Csrs, Identity};
use crate::memory::{Memory, Region};
use crate::prefetch::Prefetch;
use crate::secrets::{Before, Secrets};

/// Registers by number: 0 stays 0, and [`SINK`](crate::decode::SINK) takes what is written to it. There
/// are as many as a number of six bits can name.
pub(crate) type Registers = [u32; 64];

/// The stack pointer's number.
pub(crate) const SP: usize = 2;

/// What is constant in a core of a chip.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Its memories; they do not overlap.
    pub regions: Vec<Region>,
    /// The one that answers late.
    pub lines: Option<MemoryLines>,
    /// What it says of itself.
    pub identity: Identity,
    /// Exceptions that are errors of the program end the run, even if it has a handler.
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
#[derive(Debug)]
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

/// A Hazard3 core with its memories.
#[allow(clippy::struct_excessive_bools)] // one flip-flop each
pub struct Core<B: Bus> {
    /// The surrounding chip.
    pub bus: B,
    pub(crate) memories: Vec<Memory>,
    /// The memory that answers late, and its number.
    pub(crate) reader: Option<Box<Reader>>,
    pub(crate) late: usize,
    pub(crate) registers: Registers,
    pub(crate) pc: u32,
    /// The cycle in which the next instruction is in the execution stage at the earliest.
    pub(crate) now: u64,
    pub(crate) prefetch: Prefetch,
    pub(crate) blocks: Blocks,
    pub(crate) csrs: Csrs,
    pub(crate) stop_on_fault: bool,

    /// The last cycle in which the memory stage is taken, whether by an access to the bus, the
    /// register that this loads, and whether it is exclusive.
    pub(crate) access_until: u64,
    pub(crate) is_in_flight: bool,
    pub(crate) loads: u8,
    pub(crate) is_exclusive: bool,
    /// The address of LR is reserved.
    pub(crate) reserved: bool,

    /// Progress of the instruction in the execution stage: when a division is done; the phase of an
    /// atomic operation; the step of a sequence; whether it has jumped while it waits for the
    /// memory stage.
    pub(crate) divided_at: u64,
    pub(crate) amo_phase: u8,
    pub(crate) step: u8,
    pub(crate) has_jumped: bool,
    /// No interrupt is taken in this cycle.
    pub(crate) undisturbed: u64,

    /// The cycle at which the bus or the interrupts must be asked at the latest.
    pub(crate) check: u64,
    /// Lines that change, and when the core's input registers have them.
    pub(crate) changes: VecDeque<(u64, Lines)>,
    /// Memory protection has to be asked.
    pub(crate) is_protected: bool,
    pub(crate) asleep: bool,
    pub(crate) slept_since: u64,
    pub(crate) sleep_cycles: u64,
    pub(crate) instructions: u64,
    /// Instructions that were flushed, and that the core counts all the same.
    pub(crate) flushed: u64,
    pub(crate) breakpoints: Vec<u32>,
    pub(crate) observer: Observer,
    pub(crate) secrets: Option<Box<Secrets>>,
    /// The fault whose handler is running.
    pub(crate) handled: Option<Fault>,
}

impl<B: Bus> Core<B> {
    /// Make a core with empty memories.
    pub fn new(bus: B, config: &Config) -> Self {
        let lines = config.lines.as_ref();
        let is_late =
            |region: &Region| lines.is_some_and(|lines| lines.range.start == region.start);
        let late = config.regions.iter().position(is_late);
        Self {
            bus,
            reader: lines.map(|lines| Box::new(Reader::new(lines, Settings::default()))),
            late: late.unwrap_or(usize::MAX),
            memories: config
                .regions
                .iter()
                .map(|&region| Memory::new(region))
                .collect(),
            registers: [0; 64],
            pc: 0,
            now: 0,
            prefetch: Prefetch::default(),
            blocks: Blocks::default(),
            csrs: Csrs::new(config.identity),
            stop_on_fault: config.stop_on_fault,
            access_until: 0,
            is_in_flight: false,
            loads: 0,
            is_exclusive: false,
            reserved: false,
            divided_at: 0,
            amo_phase: 0,
            step: 0,
            has_jumped: false,
            undisturbed: u64::MAX,
            check: 0,
            changes: VecDeque::new(),
            is_protected: false,
            asleep: false,
            slept_since: 0,
            sleep_cycles: 0,
            instructions: 0,
            flushed: 0,
            breakpoints: Vec::new(),
            observer: Observer::default(),
            secrets: None,
            handled: None,
        }
    }

    /// Reset, and start at an address: the fetch of its instruction takes one cycle, and counters of
    /// the machine continue.
    pub fn reset(&mut self, pc: u32) {
        self.registers = [0; 64];
        self.csrs = Csrs::new(self.csrs.identity);
        self.is_protected = false;
        self.prefetch = Prefetch::default();
        self.prefetch.jump(pc, 0);
        self.pc = pc;
        self.now += 1;
        self.access_until = 0;
        (self.loads, self.is_exclusive, self.reserved) = (0, false, false);
        self.abandon();
        self.undisturbed = u64::MAX;
        self.changes.clear();
        if self.asleep {
            self.wake();
        }
        self.check = 0;
        self.observer.forget();
        if let Some(secrets) = &mut self.secrets {
            secrets.reset();
        }
        self.handled = None;
    }

    /// The instruction in the execution stage does not go on.
    pub(crate) fn abandon(&mut self) {
        (self.divided_at, self.amo_phase, self.step, self.has_jumped) = (0, 0, 0, false);
    }

    pub(crate) fn wake(&mut self) {
        self.sleep_cycles += self.now - self.slept_since;
        self.asleep = false;
        self.bus.sleep(false, Cycles(self.now));
    }

    /// Load bytes into memory as a programmer does, in no emulated time.
    ///
    /// # Errors
    /// The first address that is no memory; nothing has been written.
    pub fn load(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
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
        let inside = |memory: &&Memory| memory.offset(address, length as u32);
        if let Some(memory) = self.memories.iter().find(|memory| inside(memory).is_some()) {
            let at = memory.offset(address, length as u32).unwrap_or(0);
            return Ok(memory.bytes()[at..at + length].to_vec());
        }
        (0..length)
            .map(|offset| {
                let at = address.wrapping_add(offset as u32);
                let found = self
                    .memories
                    .iter()
                    .find_map(|memory| memory.offset(at, 1).map(|place| memory.bytes()[place]));
                found.ok_or(at)
            })
            .collect()
    }

    /// Read a register, x0 to x31.
    ///
    /// # Panics
    /// `number` is not below 32.
    pub fn register(&self, number: usize) -> u32 {
        assert!(number < 32, "x{number} does not exist");
        self.registers[number]
    }

    /// Set a register, x0 to x31; x0 stays 0.
    ///
    /// # Panics
    /// `number` is not below 32.
    pub fn set_register(&mut self, number: usize, value: u32) {
        assert!(number < 32, "x{number} does not exist");
        if number != 0 {
            self.registers[number] = value;
        }
    }

    /// The next instruction.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Go on at an address, as a debugger does.
    pub fn set_pc(&mut self, pc: u32) {
        self.pc = pc & !1;
        self.prefetch.forget();
        self.prefetch.jump(self.pc, 0);
        self.abandon();
    }

    /// Cycles since the core was made, including sleep.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.now)
    }

    /// The part of [`Core::cycles`] during which the core slept.
    pub fn sleep_cycles(&self) -> Cycles {
        let open = if self.asleep {
            self.now - self.slept_since
        } else {
            0
        };
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
            self.stop_at(address, true);
            self.blocks.end_before(address);
        }
    }

    /// Remove the breakpoint at this address.
    pub fn clear_breakpoint(&mut self, address: u32) {
        self.breakpoints.retain(|&at| at != address);
        self.stop_at(address, false);
    }

    fn stop_at(&mut self, address: u32, on: bool) {
        for memory in &mut self.memories {
            if let Some(at) = memory.offset(address, 2) {
                memory.stop_at(at, on);
            }
        }
    }

    /// Set the lowest address that the stack may use; growth past it from above is a fault.
    pub fn set_stack_limit(&mut self, lowest: u32) {
        self.observer.stack_limit = lowest;
    }

    /// The lowest stack pointer since [`Core::reset_stack_low`].
    pub fn stack_low(&self) -> u32 {
        self.observer.stack_low
    }

    /// Restart the stack's high-water mark.
    pub fn reset_stack_low(&mut self) {
        self.observer.stack_low = self.registers[SP];
        self.observer.control_low = self.registers[SP];
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
    ///
    /// # Errors
    /// The first address of a piece that is no memory; nothing has changed.
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
    /// The first address of the piece that is no memory.
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
    #[inline]
    pub(crate) fn follow(&mut self, look: impl FnOnce(&mut Secrets, &Before<'_>)) {
        if let Some(secrets) = &mut self.secrets {
            let before = Before {
                registers: &self.registers,
                memories: &self.memories,
                observer: &self.observer,
                pc: self.pc,
                reserved: self.reserved,
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
        let sp = self.registers[SP];
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

    /// When the next event is due; `None` if the core is awake.
    pub fn asleep_until(&self) -> Option<Cycles> {
        self.asleep.then(|| {
            let lines = self.changes.front().map_or(u64::MAX, |change| change.0);
            Cycles(self.bus.next_event().0.min(lines))
        })
    }

    /// Sleep until a cycle before which nothing is due.
    pub fn sleep_until(&mut self, cycle: Cycles) {
        self.now = self.now.max(cycle.0);
    }
}
