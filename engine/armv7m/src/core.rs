//! The core's state, exceptions, and the run loop.

use std::cell::RefCell;
use std::ops::Range;

use joulemark_kernel::observe;
use joulemark_kernel::secrets::{Piece, Report};
use joulemark_kernel::{Cycles, Fault, FaultKind, Memories};

use crate::bus::{Bus, Control, Width};
use crate::buses::is_bit_band_alias;
use crate::fpu::Fpu;
use crate::memo::{self, Block, Pipeline, is_it};
use crate::memory::{DeviceWait, Entry, Memory, Region};
use crate::mpu::Access;
use crate::op::{Kind, Op};
use crate::registers::{Registers, literal};
use crate::secrets::{Before, Masters, Secrets, Special};
use crate::stale::Stale;
use crate::system::{Events, Model, Request, System, UsageFault};
use crate::timing::Timing;
use crate::traits::{Class, Traits};

/// More cycles than any instruction waits to enter execute and then lasts: 32 accesses of 4 cycles.
const LONGEST_WAIT: u64 = 128;

/// Configuration of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Memories, none overlapping another.
    pub regions: Vec<Region>,
    /// External interrupt lines.
    pub interrupts: usize,
    /// Implemented bits of a priority.
    pub priority_bits: u8,
    /// The CPUID register.
    pub cpuid: u32,
    /// How long things take.
    pub timing: Timing,
    /// Registers that answer late.
    pub device_waits: Vec<DeviceWait>,
    /// `SysTick`'s calibration register (ARM DDI 0403E.e, B3.3.6).
    pub systick_calibration: u32,
    /// Regions of the memory protection unit; 0 where there is none.
    pub mpu_regions: usize,
    /// End the run where a fault exception would be taken, instead of taking it.
    pub stop_on_fault: bool,
}

/// When a run ends at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// End at the first instruction boundary where the cycle counter has reached this.
    pub until: Option<Cycles>,
    /// Never end before this many instructions, so that a run that starts on a breakpoint moves.
    pub step_first: bool,
}

/// Why a run ended. The program counter is at the next instruction, or at the one that faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The next instruction is at a breakpoint and has not been executed.
    Breakpoint(u32),
    /// [`Limits::until`] is reached.
    Cycles,
    /// The bus asked for it ([`Bus::take_stop`]).
    Stopped,
    /// The core sleeps and nothing is due that could wake it.
    Asleep,
    /// Something that silicon would have done silently and wrongly.
    Fault(Box<Fault>),
}

/// One call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The callee.
    pub target: u32,
    /// Where it returns to.
    pub return_address: u32,
    /// The stack pointer at the call.
    pub stack_pointer: u32,
    /// It is an exception handler.
    pub exception: bool,
}

/// Why an instruction did not complete.
#[derive(Clone, Debug)]
pub enum Trap {
    Usage(UsageFault),
    /// The instruction could not be fetched.
    Fetch,
    /// There is nothing at this address, or it may not be accessed so.
    Access(u32),
    /// The memory protection unit does not let the instruction be fetched.
    ProtectedFetch,
    /// It does not allow this access.
    Protected(u32),
    SupervisorCall,
    /// The run ends with this fault, which has no place yet.
    Stop(Box<Fault>),
    Exit(Box<Exit>),
}

impl From<Exit> for Trap {
    fn from(exit: Exit) -> Self {
        Self::Exit(Box::new(exit))
    }
}

/// An ARMv7-M core with its memories.
#[allow(clippy::struct_excessive_bools)]
pub struct Core<B: Bus> {
    /// The chip around it.
    pub bus: B,
    pub(crate) memory: Memory,
    pub(crate) pipe: Pipeline,
    pub(crate) system: System,
    pub(crate) timing: Timing,
    pub(crate) regs: Registers,
    pub(crate) fpu: Fpu,
    other_sp: u32,
    pub(crate) thumb: bool,
    /// ITSTATE for the next instruction, and of the one that executes.
    pub(crate) it: u8,
    pub(crate) it_of_current: u8,
    pub(crate) ipsr: u16,
    pub(crate) primask: bool,
    pub(crate) faultmask: bool,
    pub(crate) basepri: u8,
    pub(crate) control: u8,
    pub(crate) exclusive: bool,
    pub(crate) event: bool,
    pub(crate) recheck: bool,
    /// The cycle in which a store to LSUCNT, or one that turns it on, has its data on the bus.
    lsu_counter_written: Option<u64>,
    /// When something came to be pending last.
    pub(crate) pended_at: u64,
    /// From when on instructions make way for the exception that will be taken.
    pub(crate) noticed: Option<u64>,
    pub(crate) stale: Stale,
    /// Devices were let come to a cycle that the pipeline has not reached: what they set of the
    /// memories holds from the next instruction on.
    foreseen: bool,
    pub(crate) pc: u32,
    pub(crate) next_pc: u32,
    pub(crate) fall_through: u32,
    /// Something may have happened that other instructions must not run before.
    leave: bool,
    /// The number of the instruction that executes among those decoded.
    current: u32,
    pub(crate) asleep: Option<bool>,
    instructions: u64,
    pub(crate) sleep_cycles: u64,
    breakpoints: Vec<u32>,
    /// A bit for each value that the low bits of a breakpoint's address have.
    breakpoint_bits: u64,
    pub(crate) calls: Vec<Call>,
    pub(crate) stack_low: u32,
    pub(crate) stack_limit: u32,
    /// While the bus is told where control goes: the addresses that it need not be told of, and the
    /// lowest stack pointer since it was.
    watched: Option<Range<u32>>,
    pub(crate) watched_low: u32,
    pub(crate) stop_on_fault: bool,
    address_digest: Option<u64>,
    accesses: Option<Vec<u32>>,
    /// The digest that was ended last.
    ended_digest: u64,
    pub(crate) secrets: Option<Box<Secrets>>,
    /// Addresses are digested, or secrets followed: every instruction is looked at.
    is_observed: bool,
    config: Config,
}

/// Counts cycles after the first of loads and stores (C1.8.12).
const LSUCNT: u32 = 0xe000_1014;

impl<B: Bus> Core<B> {
    /// A core whose memory is empty.
    pub fn new(bus: B, config: &Config) -> Self {
        let settings = bus.memory_settings();
        let mut pipe = Pipeline::new(&config.regions, &config.device_waits, config.timing);
        pipe.set_memory(settings);
        let mut memory = Memory::new(&config.regions, config.timing.into());
        memory.set_cache_ram(!bus.cache_ram_off());
        Self {
            bus,
            memory,
            pipe,
            system: System::new(Model {
                interrupts: config.interrupts,
                priority_bits: config.priority_bits,
                cpuid: config.cpuid,
                tick_calibration: config.systick_calibration,
                mpu_regions: config.mpu_regions,
                float: config.timing.float,
            }),
            timing: config.timing,
            regs: Registers::default(),
            fpu: Fpu::default(),
            other_sp: 0,
            thumb: true,
            it: 0,
            it_of_current: 0,
            ipsr: 0,
            primask: false,
            faultmask: false,
            basepri: 0,
            control: 0,
            exclusive: false,
            event: false,
            recheck: false,
            lsu_counter_written: None,
            pended_at: 0,
            noticed: None,
            stale: Stale::default(),
            foreseen: false,
            pc: 0,
            next_pc: 0,
            fall_through: 0,
            leave: false,
            current: 0,
            asleep: None,
            instructions: 0,
            sleep_cycles: 0,
            breakpoints: Vec::new(),
            breakpoint_bits: 0,
            calls: Vec::new(),
            stack_low: u32::MAX,
            stack_limit: 0,
            watched: None,
            watched_low: u32::MAX,
            stop_on_fault: config.stop_on_fault,
            address_digest: None,
            accesses: None,
            ended_digest: 0,
            secrets: None,
            is_observed: false,
            config: config.clone(),
        }
    }

    // What a machine does with it.

    /// Put part of an image into memory. `Err` holds the first address that is no memory.
    ///
    /// # Errors
    /// Part of the data lies outside memory.
    pub fn load_image(&mut self, address: u32, data: &[u8]) -> Result<(), u32> {
        self.memory.load(address, data)
    }

    /// Read memory without side effects and without time. `Err` holds the first address that is no
    /// memory.
    ///
    /// # Errors
    /// Part of the range lies outside memory.
    pub fn read_memory(&self, address: u32, length: u32) -> Result<Vec<u8>, u32> {
        self.memory.dump(address, length)
    }

    /// Addresses of double words of flash whose change was cut short.
    pub fn torn_flash(&self) -> Vec<u32> {
        self.memory.torn()
    }

    /// Let the change of a double word of flash be one that was cut short.
    pub fn tear_flash(&mut self, address: u32) {
        Memories::tear(&mut self.memory, address);
    }

    /// Reset: SP and PC from the vector table at `vectors` (B1.5.5).
    ///
    /// # Errors
    /// There is no vector table.
    pub fn reset(&mut self, vectors: u32) -> Result<(), u32> {
        let word = |at: u32| -> Result<u32, u32> {
            let bytes = self.memory.dump(at, 4)?;
            Ok(u32::from_le_bytes(bytes.try_into().unwrap_or([0; 4])))
        };
        let (sp, pc) = (word(vectors)?, word(vectors.wrapping_add(4))?);
        self.system.reset();
        self.regs.r = [0; 16];
        self.regs.r[13] = sp & !3;
        self.regs.r[14] = u32::MAX;
        self.other_sp = 0;
        self.set_apsr(0);
        (self.it, self.ipsr, self.control, self.basepri) = (0, 0, 0, 0);
        (self.primask, self.faultmask, self.exclusive, self.event) = (false, false, false, false);
        self.asleep = None;
        self.fpu = Fpu::default();
        (self.recheck, self.noticed, self.lsu_counter_written) = (false, None, None);
        // The memories may be set otherwise.
        self.foreseen = true;
        self.calls.clear();
        self.thumb = pc & 1 != 0;
        self.set_pc(pc & !1);
        Ok(())
    }

    /// Registers: 0 to 15 with the current stack pointer and the next instruction's address.
    pub fn register(&self, number: usize) -> u32 {
        if number == 15 {
            self.pc
        } else {
            self.regs.r[number]
        }
    }

    /// Set a register; see [`Core::register`].
    pub fn set_register(&mut self, number: usize, value: u32) {
        match number {
            15 => self.set_pc(value & !1),
            13 => self.regs.r[13] = value & !3,
            _ => self.regs.r[number] = value,
        }
    }

    /// The program status register: APSR, IPSR and EPSR together.
    pub fn xpsr(&self) -> u32 {
        self.apsr()
            | u32::from(self.ipsr)
            | u32::from(self.thumb) << 24
            | (u32::from(self.it) & 3) << 25
            | (u32::from(self.it) >> 2) << 10
    }

    /// Set the flags and the IT state from a program status register.
    pub fn set_xpsr(&mut self, value: u32) {
        self.set_apsr(value);
        self.it = ((value >> 25 & 3) | (value >> 10 & 0x3f) << 2) as u8;
        self.thumb = value >> 24 & 1 != 0;
    }

    fn set_pc(&mut self, pc: u32) {
        self.pc = pc;
        self.pipe.restart(pc, 0);
    }

    /// Cycles since the start.
    pub fn cycles(&self) -> Cycles {
        Cycles(self.pipe.now())
    }

    /// Cycles spent asleep.
    pub fn sleep_cycles(&self) -> Cycles {
        Cycles(self.sleep_cycles)
    }

    /// Instructions executed, those skipped in IT blocks included.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Stop before the instruction at this address.
    pub fn set_breakpoint(&mut self, address: u32) {
        if !self.breakpoints.contains(&address) {
            self.breakpoints.push(address);
            self.breakpoint_bits |= breakpoint_bit(address);
            self.pipe.forget_code(&mut self.memory);
        }
    }

    /// Do not stop there any more.
    pub fn clear_breakpoint(&mut self, address: u32) {
        self.breakpoints.retain(|&at| at != address);
        let bits = self.breakpoints.iter().map(|&at| breakpoint_bit(at));
        self.breakpoint_bits = bits.fold(0, |all, bit| all | bit);
    }

    /// Take over what an earlier core decoded and found out of how long it takes, where it is of the
    /// same configuration and ran nothing but code that is here too. No result depends on it.
    pub fn learn_from(&mut self, earlier: &mut Self) {
        earlier.pipe.flush(&earlier.memory);
        self.pipe.flush(&self.memory);
        if self.config == earlier.config
            && self.breakpoints == earlier.breakpoints
            && !earlier.stale.is_there()
            && self.memory.take_blocks(&mut earlier.memory)
        {
            self.pipe.learn_from(&mut earlier.pipe);
        }
    }

    /// `SysTick` counts the core's clock divided by this where CLKSOURCE is clear; without it,
    /// CLKSOURCE is always set.
    pub fn set_systick_divider(&mut self, divider: u32) {
        self.system.tick_divider = divider;
    }

    /// Fault where the stack grows below this.
    pub fn set_stack_limit(&mut self, lowest: u32) {
        self.stack_limit = lowest;
    }

    /// The stack pointer that is not in use: the process's or the main one (B1.4.1).
    pub fn other_stack_pointer(&self) -> u32 {
        self.other_sp
    }

    /// The lowest stack pointer since [`Core::reset_stack_low`].
    pub fn stack_low(&self) -> u32 {
        self.stack_low
    }

    /// Empty caches and line buffers, and begin their pseudo-random sequence anew.
    pub fn forget_memory(&mut self) {
        self.pipe.forget_memory();
    }

    /// Begin a new low-water mark.
    pub fn reset_stack_low(&mut self) {
        self.stack_low = self.regs.r[13];
    }

    /// From now on keep a digest of every address fetched, read and written; it starts anew.
    pub fn start_address_digest(&mut self) {
        self.address_digest = Some(0);
        self.is_observed = true;
    }

    /// Leave the digest as it is from here on.
    pub fn stop_address_digest(&mut self) {
        if let Some(digest) = self.address_digest.take() {
            self.ended_digest = digest;
        }
        self.is_observed = self.secrets.is_some();
    }

    /// Keep every address fetched, read and written, or stop; they are digested, too.
    pub fn keep_accesses(&mut self, on: bool) {
        if on {
            self.start_address_digest();
        } else {
            self.stop_address_digest();
        }
        self.accesses = on.then(Vec::new);
    }

    /// Take the addresses that were kept since the last call.
    pub fn take_accesses(&mut self) -> Vec<u32> {
        let kept = self.accesses.as_mut();
        kept.map(std::mem::take).unwrap_or_default()
    }

    /// Whether addresses are being digested.
    pub fn is_digesting(&self) -> bool {
        self.address_digest.is_some()
    }

    /// The digest since [`Core::start_address_digest`].
    pub fn address_digest(&self) -> u64 {
        self.address_digest.unwrap_or(self.ended_digest)
    }

    #[inline]
    pub(crate) fn touch(&mut self, address: u32) {
        if let Some(digest) = &mut self.address_digest {
            *digest = observe::mixed(*digest, address);
            if let Some(accesses) = &mut self.accesses {
                accesses.push(address);
            }
        }
    }

    /// From now on follow these secrets and no others; nothing is found until [`Core::find_uses`].
    /// What was found before is kept. `Err` holds the first address that is no memory.
    ///
    /// # Errors
    /// Part of a piece lies outside memory.
    pub fn follow_secrets(&mut self, pieces: &[Piece]) -> Result<(), u32> {
        let mut secrets = Box::new(Secrets::new(&self.memory));
        for piece in pieces {
            secrets.mark(&self.memory, piece)?;
        }
        if let Some(before) = self.secrets.take() {
            secrets.keep(*before);
        }
        self.secrets = Some(secrets);
        self.is_observed = true;
        Ok(())
    }

    /// Follow no secrets any more, and forget what was found.
    pub fn forget_secrets(&mut self) {
        self.secrets = None;
        self.is_observed = self.address_digest.is_some();
    }

    /// These bytes are public from here on, or come from these secrets. `Err` holds the first
    /// address that is no memory.
    ///
    /// # Errors
    /// Part of the piece lies outside memory.
    pub fn mark_secret(&mut self, piece: &Piece) -> Result<(), u32> {
        let secrets = self.secrets.as_mut();
        secrets.map_or(Ok(()), |secrets| secrets.mark(&self.memory, piece))
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
        let secrets = self.secrets.as_ref()?;
        Some(secrets.report(&self.memory))
    }

    #[cfg(test)]
    pub(crate) fn secrets_mut(&mut self) -> Option<&mut Secrets> {
        self.secrets.as_deref_mut()
    }

    /// Let what follows secrets look at the core.
    #[inline]
    pub(crate) fn follow(&mut self, look: impl FnOnce(&mut Secrets, &Before<'_>)) {
        let Some(mut secrets) = self.secrets.take() else {
            return;
        };
        let bus = &self.bus;
        let before = Before {
            regs: &self.regs,
            memory: &self.memory,
            timing: self.timing,
            calls: &self.calls,
            it: self.it,
            special: Special {
                privileged: self.privileged(),
                masks: [self.primask, self.faultmask],
                basepri: self.basepri,
                priority_mask: self.system.priority_mask(),
                control: self.control,
                other_sp: self.other_sp,
                on_process_stack: self.uses_process_stack(),
                in_handler: self.ipsr != 0,
            },
            flow: &|address| bus.flow(address),
            reserved: self.system.float.reserved(),
            exclusive: self.exclusive,
        };
        look(&mut secrets, &before);
        self.secrets = Some(secrets);
    }

    /// Calls that have not returned, outermost first.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// From now on tell the bus where control goes, beginning with where it is.
    pub fn watch(&mut self) {
        let stack_pointer = self.regs.r[13];
        let control = Control {
            pc: self.pc,
            depth: self.calls.len(),
            busy_cycles: self.pipe.now() - self.sleep_cycles,
            instructions: self.instructions,
            stack_pointer,
            stack_low: self.watched_low.min(stack_pointer),
        };
        self.watched_low = stack_pointer;
        self.watched = Some(self.bus.control(&control));
    }

    pub(crate) fn watch_entry(&mut self) {
        if self.watched.is_some() {
            self.watch();
        }
    }

    /// Write a word as a debugger would: to memory, to the system control space or to a device.
    /// `Err` holds the address where nothing takes it.
    ///
    /// # Errors
    /// Nothing is there.
    pub fn debug_write(&mut self, address: u32, value: u32) -> Result<(), u32> {
        if self.memory.load(address, &value.to_le_bytes()).is_ok() {
            return Ok(());
        }
        let privileged = std::mem::take(&mut self.control);
        let done = self.store_elsewhere(address, value, Width::Word, false);
        self.control = privileged;
        done.map_err(|_| address)
    }

    /// Counters of the DWT.
    #[cfg(test)]
    pub(crate) fn debug_counters(&self) -> Events {
        self.pipe.events()
    }

    /// Read a register of the system control space as a debugger would. `Err` holds the address
    /// where there is none.
    ///
    /// # Errors
    /// Nothing is there.
    pub fn debug_read(&mut self, address: u32) -> Result<u32, u32> {
        let (now, events) = self.access();
        self.system
            .read(address, now, &events, self.ipsr)
            .ok_or(address)
    }

    /// Whether the core sleeps.
    pub fn is_asleep(&self) -> bool {
        self.asleep.is_some()
    }

    /// Run until a limit, a breakpoint or something else of [`Exit`].
    pub fn run(&mut self, limits: Limits) -> Exit {
        let until = limits.until.map_or(u64::MAX, |limit| limit.0);
        let mut first = limits.step_first;
        loop {
            if !first {
                if self.breakpoint_bits & breakpoint_bit(self.pc) != 0
                    && self.breakpoints.contains(&self.pc)
                {
                    return Exit::Breakpoint(self.pc);
                }
                if self.pipe.now() >= until {
                    return Exit::Cycles;
                }
            }
            first = false;
            if let Err(exit) = self.turn(until) {
                return exit;
            }
        }
    }

    /// One block of instructions, or one instruction where something is due soon, or one step of
    /// sleep.
    fn turn(&mut self, until: u64) -> Result<(), Exit> {
        let mut due = self.next_due();
        if self.pipe.now() >= due {
            self.advance_devices(self.pipe.now())?;
            due = self.next_due();
        }
        if std::mem::take(&mut self.foreseen) {
            self.take_memory_settings();
        }
        if self.asleep.is_some() {
            return self.doze(until);
        }
        let now = self.pipe.now();
        let still = self.bus.held_until().0.min(due).min(until);
        if now < still && self.memory.is_read_only(self.pc) {
            self.pipe.pass_time(still - now);
            return Ok(());
        }
        if !self.recheck && due < self.pipe.now() + LONGEST_WAIT {
            due = self.foresee(due)?;
        }
        let one_more = self.recheck && self.take_exceptions()?;
        let most = if !one_more && self.pipe.now() + memo::MOST_CYCLES < due.min(until) {
            u32::MAX
        } else {
            1
        };
        let done = self.run_block(most);
        self.pipe.flush(&self.memory);
        if let Err(trap) = done {
            self.trapped(trap)?;
        }
        if let Some(written) = self.lsu_counter_written.take() {
            self.leave_out_lsu_cycle(written);
        }
        if let Some(range) = &self.watched
            && (self.pc != self.fall_through || !range.contains(&self.pc))
        {
            self.watch();
        }
        if self.bus.take_stop() {
            return Err(Exit::Stopped);
        }
        Ok(())
    }

    /// LSUCNT is as written in the cycle after the data phase: that of the data phase does not count,
    /// where nothing enters execute in it (`misc/dwt/ldr_str_cnt`, `ldr_str_ctrl_cnt`).
    #[cold]
    fn leave_out_lsu_cycle(&mut self, written: u64) {
        let Some(entry) = self.next_entry() else {
            return;
        };
        let skipped = self.next_is_skipped();
        let coming = self
            .pipe
            .coming(&entry, is_it(self.it), skipped, &self.memory);
        if coming.enters > written {
            self.system.leave_out_lsu_cycle();
        }
    }

    /// Let devices come to where they are at this cycle.
    pub(crate) fn advance_devices(&mut self, now: u64) -> Result<(), Exit> {
        let due = self.next_due();
        self.advance_tick(now);
        if self.bus.next_event().0 <= now {
            self.bus
                .advance(Cycles(now))
                .and_then(|()| self.transfer_by_masters(now))
                .map_err(|fault| self.stop(fault))?;
            if now > self.pipe.now() {
                self.foreseen = true;
            } else {
                self.take_memory_settings();
            }
        }
        if self.take_lines() {
            self.recheck = true;
            self.pended_at = due.min(now);
        }
        Ok(())
    }

    /// Let asserted interrupt lines pend; true where something came to be pending.
    pub(crate) fn take_lines(&mut self) -> bool {
        self.system.lines(self.bus.interrupts()) | self.system.nmi(self.bus.nmi())
    }

    fn transfer_by_masters(&mut self, now: u64) -> Result<(), Fault> {
        let Some(secrets) = &mut self.secrets else {
            return self.bus.transfer(&mut self.memory, Cycles(now));
        };
        let mut memories = Masters {
            memory: &mut self.memory,
            secrets,
            last: RefCell::default(),
        };
        self.bus.transfer(&mut memories, Cycles(now))
    }

    /// The instruction that would run next, where there is one.
    pub(crate) fn next_entry(&mut self) -> Option<Entry> {
        if self.memory.code_changed {
            self.pipe.forget_code(&mut self.memory);
        }
        let breakpoints = &self.breakpoints;
        let is_end = |at| breakpoints.contains(&at);
        let block = self.pipe.block(self.pc, &mut self.memory, is_end)?;
        Some(self.pipe.entry(block.first))
    }

    /// Refuse to run a block of which the change was cut short.
    #[cold]
    fn check_code(&self, block: Block) -> Result<(), Trap> {
        let last = self.pipe.entry(block.first + block.count - 1);
        let bytes = last.address + u32::from(last.op.length) - self.pc;
        let torn = self.memory.first_torn(self.pc, bytes);
        torn.map_or(Ok(()), |torn| {
            let what = "code is executed whose programming or erasing was cut short";
            Err(Trap::Stop(Box::new(
                Fault::new(FaultKind::Unprogrammed, what).at(torn),
            )))
        })
    }

    /// Run up to `most` instructions, to the end of the block at most.
    fn run_block(&mut self, most: u32) -> Result<(), Trap> {
        if self.memory.code_changed {
            self.code_was_overwritten();
        }
        if !self.thumb {
            return Err(Trap::Usage(UsageFault::InvalidState));
        }
        if self.stale.is_there()
            && let Some(entry) = self.stale_entry()
        {
            return self.run_stale(&entry);
        }
        let breakpoints = &self.breakpoints;
        let is_end = |at| breakpoints.contains(&at);
        let Some(block) = self.pipe.block(self.pc, &mut self.memory, is_end) else {
            return Err(Trap::Fetch);
        };
        if self.memory.is_flash_off(self.pc) {
            return Err(flash_is_off("executed", self.pc));
        }
        if self.memory.has_torn() {
            self.check_code(block)?;
        }
        self.pipe.begin(self.pc, self.it, block.first);
        self.leave = false;
        let mut number = block.first;
        let mut end = block.first + block.count.min(most);
        // Where functions are told apart, a block ends where one does.
        if let Some(range) = &self.watched {
            while end > number + 1 && self.pipe.entry(end - 1).address >= range.end {
                end -= 1;
            }
        }
        while number < end && !self.leave && !self.memory.code_changed {
            if self.it == 0 {
                let plain = if self.is_observed || self.system.mpu.is_on() {
                    self.run_plain_observed(number, end)
                } else {
                    self.run_plain::<false>(number, end)
                };
                number += plain;
                if number == end || self.memory.code_changed {
                    break;
                }
            }
            let entry = self.pipe.entry(number);
            self.current = number;
            if self.system.mpu.is_on() && !self.may_execute(&entry) {
                self.it_of_current = self.it;
                self.fall_through = self.pc;
                return Err(Trap::ProtectedFetch);
            }
            self.step(&entry)?;
            number += 1;
        }
        Ok(())
    }

    /// Run plain instructions where addresses may be digested; what else looks at each instruction
    /// is left to [`Core::step`].
    #[inline(never)]
    fn run_plain_observed(&mut self, first: u32, end: u32) -> u32 {
        if self.secrets.is_some() || self.accesses.is_some() || self.system.mpu.is_on() {
            return 0;
        }
        self.run_plain::<true>(first, end)
    }

    /// Run the plain instructions up to `end`, with all but `end`'s preconditions met; says how
    /// many.
    ///
    /// They are those that only compute and those that access memory without side effects.
    #[inline(always)]
    #[allow(clippy::inline_always)] // of its two callers one matters, and it is most of it
    fn run_plain<const DIGESTING: bool>(&mut self, first: u32, end: u32) -> u32 {
        let mut digest = self.address_digest.unwrap_or_default();
        let (entries, mut notes) = self.pipe.running(first, end);
        let mut ran = 0;
        for entry in entries {
            let op = &entry.op;
            if !entry.traits.is(Traits::PLAIN) {
                break;
            }
            macro_rules! touch {
                ($address:expr) => {
                    if DIGESTING {
                        digest = observe::mixed(digest, $address);
                    }
                };
            }
            macro_rules! load {
                ($address:expr, $width:ty) => {{
                    let address: u32 = $address;
                    let kind = notes.kind(address);
                    let Some(at) = self.memory.to_read_in(kind, address) else {
                        break;
                    };
                    if !address.is_multiple_of(size_of::<$width>() as u32) {
                        break;
                    }
                    touch!(entry.address);
                    touch!(address);
                    if op.kind != Kind::LdrLit {
                        notes.access(kind, address, 0);
                    }
                    if op.is(Op::WRITEBACK) {
                        self.regs.r[op.rn as usize] =
                            self.regs.r[op.rn as usize].wrapping_add(op.imm);
                    }
                    let value = self.memory.word(at) as $width as u32;
                    self.regs.write(op.rd, value);
                }};
            }
            macro_rules! store {
                ($address:expr, $width:expr) => {{
                    let address: u32 = $address;
                    let kind = notes.kind(address);
                    let Some(at) = self.memory.to_write_in(kind, address) else {
                        break;
                    };
                    if !address.is_multiple_of($width.bytes()) {
                        break;
                    }
                    touch!(entry.address);
                    touch!(address);
                    notes.access(kind, address, 0);
                    self.memory.write(at, self.regs.read(op.rd), $width);
                    if op.is(Op::WRITEBACK) {
                        self.regs.r[op.rn as usize] =
                            self.regs.r[op.rn as usize].wrapping_add(op.imm);
                    }
                    if self.memory.code_changed {
                        ran += 1;
                        break;
                    }
                }};
            }
            if op.kind.computes() {
                touch!(entry.address);
                if entry.traits.is(Traits::TIMED) {
                    notes.time(self.regs.cycles(op, self.timing));
                }
                self.regs.compute(op, true);
                ran += 1;
                continue;
            }
            match op.kind {
                Kind::LdrImm => load!(self.regs.base_address(op).0, u32),
                Kind::LdrbImm => load!(self.regs.base_address(op).0, u8),
                Kind::LdrhImm => load!(self.regs.base_address(op).0, u16),
                Kind::LdrsbImm => load!(self.regs.base_address(op).0, i8),
                Kind::LdrshImm => load!(self.regs.base_address(op).0, i16),
                Kind::LdrReg => load!(self.regs.register_address(op), u32),
                Kind::LdrbReg => load!(self.regs.register_address(op), u8),
                Kind::LdrhReg => load!(self.regs.register_address(op), u16),
                Kind::LdrsbReg => load!(self.regs.register_address(op), i8),
                Kind::LdrshReg => load!(self.regs.register_address(op), i16),
                Kind::LdrLit => load!(literal(entry.address, op), u32),
                Kind::StrImm => store!(self.regs.base_address(op).0, Width::Word),
                Kind::StrbImm => store!(self.regs.base_address(op).0, Width::Byte),
                Kind::StrhImm => store!(self.regs.base_address(op).0, Width::Half),
                Kind::StrReg => store!(self.regs.register_address(op), Width::Word),
                Kind::StrbReg => store!(self.regs.register_address(op), Width::Byte),
                Kind::StrhReg => store!(self.regs.register_address(op), Width::Half),
                _ => touch!(entry.address), // NOP
            }
            ran += 1;
        }
        if DIGESTING {
            self.address_digest = Some(digest);
        }
        if let Some(last) = entries[..ran].last() {
            self.pc = last.address.wrapping_add(u32::from(last.op.length));
            self.fall_through = self.pc;
            self.it_of_current = 0;
            self.instructions += ran as u64;
            notes.issued(ran as u32);
        }
        ran as u32
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // of its two callers only one matters
    pub(crate) fn step(&mut self, entry: &Entry) -> Result<(), Trap> {
        let pc = self.pc;
        self.regs.r[15] = pc.wrapping_add(4);
        if self.is_observed {
            self.observe(entry);
        }
        self.fall_through = pc.wrapping_add(u32::from(entry.op.length));
        self.next_pc = self.fall_through;
        self.it_of_current = self.it;
        self.instructions += 1;
        if is_it(self.it) {
            let condition = self.it >> 4;
            self.it = memo::advance_it(self.it);
            let skipped = !self.condition(condition) && !entry.traits.is(Traits::NEVER_SKIPPED);
            self.pipe.conditional(skipped);
            if skipped {
                self.skip(entry);
                self.pc = self.next_pc;
                return Ok(());
            }
        } else if self.it != 0 {
            self.resume(entry)?;
            self.leave = true;
        }
        if matches!(
            entry.op.kind,
            Kind::B | Kind::Bcond | Kind::Cbz | Kind::Cbnz
        ) {
            // Half of all blocks end so, and nothing else can happen.
            self.branch(&entry.op);
            if !self.calls.is_empty() {
                self.returned();
            }
            self.pc = self.next_pc;
            return Ok(());
        }
        let sp = self.regs.r[13];
        self.execute(entry)?;
        if entry.traits.writes & 1 << 13 != 0 {
            self.stack_moved(sp, entry.op.rn == 13 && !entry.traits.is_branch())?;
        }
        if entry.traits.is_branch() && !self.calls.is_empty() {
            self.returned();
        }
        self.pc = self.next_pc;
        Ok(())
    }

    #[inline(never)]
    fn observe(&mut self, entry: &Entry) {
        self.touch(self.pc);
        self.follow(|secrets, before| secrets.before(before, entry));
    }

    fn skip(&mut self, entry: &Entry) {
        self.pipe.issue();
        // Decode may go where a skipped branch would have gone.
        if entry.traits.class == Class::BranchImmediate {
            self.pipe
                .branches(false, self.regs.r[15].wrapping_add(entry.op.imm));
        } else if entry.traits.is(Traits::FROM_LR) {
            self.pipe.branches(false, self.regs.r[14] & !1);
        }
    }

    /// The stack pointer was `before`, and was counted down from there or loaded with something
    /// else, such as another thread's stack, which may be anywhere.
    pub(crate) fn stack_moved(&mut self, before: u32, counted: bool) -> Result<(), Trap> {
        let sp = self.regs.r[13];
        if sp >= self.stack_limit {
            self.stack_low = self.stack_low.min(sp);
            self.watched_low = self.watched_low.min(sp);
        } else if counted && before >= self.stack_limit {
            return Err(Trap::Stop(Box::new(
                Fault::new(
                    FaultKind::StackOverflow,
                    format!(
                        "the stack grows into data: it may use {:#010x} and up",
                        self.stack_limit
                    ),
                )
                .at(sp),
            )));
        }
        Ok(())
    }

    pub(crate) fn called(&mut self, target: u32) {
        if self.calls.len() < 4096 {
            self.calls.push(Call {
                target,
                return_address: self.fall_through,
                stack_pointer: self.regs.r[13],
                exception: false,
            });
        }
    }

    fn returned(&mut self) {
        let (next, sp) = (self.next_pc, self.regs.r[13]);
        if let Some(index) = self
            .calls
            .iter()
            .rposition(|call| call.return_address == next && sp >= call.stack_pointer)
        {
            self.calls.truncate(index);
        }
    }

    pub(crate) fn condition(&self, condition: u8) -> bool {
        self.regs.holds(condition)
    }

    // Registers with views.

    pub(crate) fn apsr(&self) -> u32 {
        u32::from(self.regs.n) << 31
            | u32::from(self.regs.z) << 30
            | u32::from(self.regs.c) << 29
            | u32::from(self.regs.v) << 28
            | u32::from(self.regs.q) << 27
            | u32::from(self.regs.ge) << 16
    }

    pub(crate) fn set_apsr(&mut self, value: u32) {
        self.regs.n = value >> 31 & 1 != 0;
        self.regs.z = value >> 30 & 1 != 0;
        self.regs.c = value >> 29 & 1 != 0;
        self.regs.v = value >> 28 & 1 != 0;
        self.regs.q = value >> 27 & 1 != 0;
        self.set_ge(value);
    }

    /// GE is there with the DSP extension.
    pub(crate) fn set_ge(&mut self, value: u32) {
        if self.timing.cortex_m4 {
            self.regs.ge = (value >> 16 & 15) as u8;
        }
    }

    pub(crate) fn privileged(&self) -> bool {
        self.ipsr != 0 || self.control & 1 == 0
    }

    fn uses_process_stack(&self) -> bool {
        self.ipsr == 0 && self.control & 2 != 0
    }

    pub(crate) fn main_stack_pointer(&self) -> u32 {
        if self.uses_process_stack() {
            self.other_sp
        } else {
            self.regs.r[13]
        }
    }

    pub(crate) fn process_stack_pointer(&self) -> u32 {
        if self.uses_process_stack() {
            self.regs.r[13]
        } else {
            self.other_sp
        }
    }

    pub(crate) fn set_main_stack_pointer(&mut self, value: u32) {
        if self.uses_process_stack() {
            self.other_sp = value & !3;
        } else {
            self.regs.r[13] = value & !3;
        }
    }

    pub(crate) fn set_process_stack_pointer(&mut self, value: u32) {
        if self.uses_process_stack() {
            self.regs.r[13] = value & !3;
        } else {
            self.other_sp = value & !3;
        }
    }

    /// The stack follows CONTROL.SPSEL in thread mode only (B1.4.4).
    pub(crate) fn set_control(&mut self, value: u8) {
        let new = if self.ipsr == 0 {
            value
        } else {
            value & !2 | self.control & 2
        };
        self.switch_stack(|core| core.control = new);
    }

    pub(crate) fn switch_stack(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.uses_process_stack();
        change(self);
        if self.uses_process_stack() != before {
            std::mem::swap(&mut self.regs.r[13], &mut self.other_sp);
            if let Some(secrets) = &mut self.secrets {
                secrets.switch_stack();
            }
        }
    }

    // Memory.

    fn may_execute(&self, entry: &Entry) -> bool {
        let last = entry.address.wrapping_add(u32::from(entry.op.length) - 1);
        self.is_allowed(entry.address, last, Access::Execute, false)
    }

    /// Whether the memory protection unit allows an access from the first to the last byte.
    fn is_allowed(&self, first: u32, last: u32, access: Access, user: bool) -> bool {
        let privileged = !user && self.privileged();
        let negative = self.execution_priority() < 0;
        let allows = |at| self.system.mpu.allows(at, access, privileged, negative);
        allows(first) && (last == first || allows(last))
    }

    #[inline]
    fn protect(&self, address: u32, width: Width, access: Access, user: bool) -> Result<(), Trap> {
        let last = address.wrapping_add(width.bytes() - 1);
        if self.system.mpu.is_on() && !self.is_allowed(address, last, access, user) {
            return Err(Trap::Protected(address));
        }
        Ok(())
    }

    /// Read for an instruction.
    #[inline]
    pub(crate) fn load(&mut self, address: u32, width: Width, user: bool) -> Result<u32, Trap> {
        self.touch(address);
        if address & (width.bytes() - 1) != 0 && self.system.unaligned_traps() {
            return Err(Trap::Usage(UsageFault::Unaligned));
        }
        self.protect(address, width, Access::Read, user)?;
        self.load_allowed(address, width, user)
    }

    #[inline]
    fn load_allowed(&mut self, address: u32, width: Width, user: bool) -> Result<u32, Trap> {
        if let Some(at) = self.memory.to_read(address, width) {
            return Ok(self.memory.read(at, width));
        }
        self.load_elsewhere(address, width, user)
    }

    #[cold]
    fn load_elsewhere(&mut self, address: u32, width: Width, user: bool) -> Result<u32, Trap> {
        if let Some((word, bit)) = bit_band(address) {
            self.touch(word);
            let value = self.load_allowed(word, Width::Word, user)?;
            return Ok(value >> bit & 1);
        }
        if self.memory.has_torn()
            && let Some(at) = self.memory.to_read_torn(address, width)
        {
            if let Some(torn) = self.memory.first_torn(address, width.bytes()) {
                let (now, _) = self.access();
                self.bus.read_torn(torn);
                if self.take_lines() {
                    self.recheck = true;
                    self.pended_at = now;
                }
            }
            return Ok(self.memory.read(at, width));
        }
        let (now, events) = self.access();
        if address >> 20 == 0xe00 {
            if user || !self.privileged() {
                return Err(Trap::Access(address));
            }
            let whole = width == Width::Word || System::narrow_allowed(address);
            return self
                .system
                .read(address & !3, now, &events, self.ipsr)
                .filter(|_| whole)
                .map(|word| word >> ((address & 3) * 8) & (u32::MAX >> (32 - 8 * width.bytes())))
                .ok_or(Trap::Access(address));
        }
        if address & (width.bytes() - 1) != 0 {
            // Unaligned, and not inside one memory: device memory faults (A3.2.1).
            return Err(Trap::Usage(UsageFault::Unaligned));
        }
        if self.memory.is_flash_off(address) {
            return Err(flash_is_off("read", address));
        }
        // What comes due in the access itself may be gone by the next instruction: a line that is
        // high for a cycle.
        let is_due = self.bus.next_event().0 <= now;
        let value = self.bus.read(address, width, Cycles(now));
        let value = value.map_err(|fault| bus_trap(fault, address))?;
        self.transfer(now)?;
        if self.memory.has_flash_off() {
            self.take_memory_settings();
        }
        if is_due && self.take_lines() {
            self.recheck = true;
            self.pended_at = now;
        }
        Ok(value)
    }

    /// Let other bus masters see what an access has done.
    fn transfer(&mut self, now: u64) -> Result<(), Trap> {
        let done = self.transfer_by_masters(now);
        done.map_err(|fault| Trap::Stop(Box::new(fault)))
    }

    /// Write for an instruction.
    #[inline]
    pub(crate) fn store(
        &mut self,
        address: u32,
        value: u32,
        width: Width,
        user: bool,
    ) -> Result<(), Trap> {
        self.touch(address);
        if address & (width.bytes() - 1) != 0 && self.system.unaligned_traps() {
            return Err(Trap::Usage(UsageFault::Unaligned));
        }
        self.protect(address, width, Access::Write, user)?;
        self.store_allowed(address, value, width, user)
    }

    #[inline]
    fn store_allowed(
        &mut self,
        address: u32,
        value: u32,
        width: Width,
        user: bool,
    ) -> Result<(), Trap> {
        if let Some(at) = self.memory.to_write(address, width) {
            self.memory.write(at, value, width);
            return Ok(());
        }
        self.store_elsewhere(address, value, width, user)
    }

    #[cold]
    fn store_elsewhere(
        &mut self,
        address: u32,
        value: u32,
        width: Width,
        user: bool,
    ) -> Result<(), Trap> {
        if let Some((word, bit)) = bit_band(address) {
            self.touch(word);
            let old = self.load_allowed(word, Width::Word, user)?;
            let new = old & !(1 << bit) | (value & 1) << bit;
            self.touch(word);
            return self.store_allowed(word, new, Width::Word, user);
        }
        let (now, events) = self.access();
        if address >> 20 == 0xe00 {
            return self.store_system(address, value, width, user, now, &events);
        }
        if self.memory.is_read_only(address) && !self.bus.takes_flash_stores(width) {
            return Err(Trap::Stop(Box::new(
                Fault::new(
                    FaultKind::FlashWrite,
                    "a store to memory that cannot be written",
                )
                .at(address),
            )));
        }
        if address & (width.bytes() - 1) != 0 {
            return Err(Trap::Usage(UsageFault::Unaligned));
        }
        self.bus
            .write(address, value, width, Cycles(now))
            .map_err(|fault| bus_trap(fault, address))?;
        self.transfer(now)?;
        self.take_memory_settings();
        if self.take_lines() {
            self.recheck = true;
            self.pended_at = now;
        }
        Ok(())
    }

    /// Settings of the memory controller may have changed.
    fn take_memory_settings(&mut self) {
        self.pipe.set_memory(self.bus.memory_settings());
        self.memory.set_cache_ram(!self.bus.cache_ram_off());
        self.memory.set_flash(!self.bus.flash_is_off());
    }

    fn store_system(
        &mut self,
        address: u32,
        value: u32,
        width: Width,
        user: bool,
        now: u64,
        events: &Events,
    ) -> Result<(), Trap> {
        let refused = Trap::Access(address);
        let software_trigger = address == 0xe000_ef00 && self.system.ccr & 2 != 0;
        if (user || !self.privileged()) && !software_trigger {
            return Err(refused);
        }
        let value = if width == Width::Word {
            value
        } else {
            if !System::narrow_allowed(address) {
                return Err(refused);
            }
            let clears = address & !3 == 0xe000_ed28;
            let old = if clears {
                0
            } else {
                self.system
                    .read(address & !3, now, events, self.ipsr)
                    .unwrap_or(0)
            };
            System::merge(old, address, value, width)
        };
        let counted = self.system.counts_lsu_cycles();
        let written = self.system.write(address & !3, value, now, events);
        let begins = address & !3 == LSUCNT || !counted;
        if begins && self.system.counts_lsu_cycles() && self.timing.revision >= 2 {
            self.lsu_counter_written = Some(now);
        }
        match written {
            None => return Err(refused),
            Some(Request::Refuse(fault)) => return Err(Trap::Stop(Box::new(fault))),
            Some(Request::Reset) => {
                self.bus
                    .reset_requested(Cycles(now))
                    .map_err(|fault| Trap::Stop(Box::new(fault)))?;
            }
            Some(Request::Recheck) => {
                // A line that is still high pends again at once.
                self.take_lines();
                self.recheck = true;
                self.pended_at = now;
                if self.timing.revision >= 2 {
                    self.pipe
                        .set_write_buffer(!self.system.write_buffer_disabled());
                    self.pipe.set_folding(!self.system.folding_disabled());
                }
            }
        }
        Ok(())
    }

    /// `SysTick` comes to where it is now.
    pub(crate) fn advance_tick(&mut self, now: u64) {
        let due = self.system.next_tick();
        if self.system.advance_tick(now) {
            self.recheck = true;
            self.pended_at = due;
        }
    }

    /// The instruction that executes comes so many cycles later.
    pub(crate) fn hold_up(&mut self, cycles: u64) {
        self.pipe.flush(&self.memory);
        self.pipe.pass_time(cycles);
        self.pipe.begin(self.pc, self.it_of_current, self.current);
        if self.it_of_current != 0 {
            self.pipe.conditional(false);
        }
    }

    /// When the load or store that executes is on the bus, and the events counted until then.
    fn access(&mut self) -> (u64, Events) {
        self.leave = true;
        let (now, events) = self.pipe.access(&self.memory);
        self.advance_tick(now);
        // A branch to what is loaded is issued once that is known.
        self.pipe.begin(self.pc, self.it_of_current, self.current);
        if is_it(self.it_of_current) {
            self.pipe.conditional(false);
        }
        (
            now,
            Events {
                sleep: self.sleep_cycles,
                ..events
            },
        )
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

const fn breakpoint_bit(address: u32) -> u64 {
    1 << (address >> 1 & 63)
}

#[cold]
fn flash_is_off(what: &str, address: u32) -> Trap {
    Trap::Stop(Box::new(
        Fault::new(
            FaultKind::Peripheral,
            format!(
                "flash is {what} while its controller changes some of it; wait for the controller in \
                 RAM or ROM, with interrupts off"
            ),
        )
        .at(address),
    ))
}

fn bus_trap(fault: Fault, address: u32) -> Trap {
    if fault.kind == FaultKind::Unmapped {
        Trap::Access(address)
    } else {
        Trap::Stop(Box::new(fault))
    }
}

/// The word and the bit that a bit-band alias address stands for (B3.1, Cortex-M3 TRM section 3.7).
pub const fn bit_band(address: u32) -> Option<(u32, u32)> {
    if !is_bit_band_alias(address) {
        return None;
    }
    let bit = (address & 0x01ff_ffff) >> 2;
    let base = address & 0xf000_0000;
    Some((base + (bit >> 5 << 2), bit & 31))
}
