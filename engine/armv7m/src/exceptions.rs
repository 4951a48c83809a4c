//! Exceptions: entry, return, faults, lockup, and sleep until one comes (ARM DDI 0403E.e, B1.5).

use joulemark_kernel::{Caller, Cycles, Fault, FaultKind};

use crate::bus::{Bus, Width};
use crate::core::{Call, Core, Exit, Trap};
use crate::exec_float::{FLOAT_FRAME_BYTES, FPCA};
use crate::memo::is_it;
use crate::pipeline::Exchange;
use crate::system::{UsageFault, exception};
use crate::traits::Traits;

/// CFSR (B3.2.15): bit, the manual's name, what it means.
const CFSR: [(u32, &str, &str); 17] = [
    (0, "IACCVIOL", "execution where execution is not allowed"),
    (1, "DACCVIOL", "data access that is not allowed"),
    (3, "MUNSTKERR", "unstacking from where it is not allowed"),
    (4, "MSTKERR", "stacking to where it is not allowed"),
    (7, "MMARVALID", ""),
    (8, "IBUSERR", "instruction fetch where there is no memory"),
    (
        9,
        "PRECISERR",
        "data access where there is nothing or that is not allowed",
    ),
    (10, "IMPRECISERR", "late data access error"),
    (11, "UNSTKERR", "unstacking from where there is no memory"),
    (12, "STKERR", "stacking to where there is no memory"),
    (15, "BFARVALID", ""),
    (16, "UNDEFINSTR", "undefined instruction"),
    (17, "INVSTATE", "branch to an even address (not Thumb)"),
    (18, "INVPC", "bad exception return"),
    (19, "NOCP", "coprocessor instruction and no coprocessor"),
    (24, "UNALIGNED", "unaligned access"),
    (25, "DIVBYZERO", "division by zero"),
];
/// HFSR (B3.2.16).
const HFSR: [(u32, &str, &str); 3] = [
    (1, "VECTTBL", "the vector table cannot be read"),
    (30, "FORCED", ""),
    (31, "DEBUGEVT", ""),
];
const VECTTBL: u32 = 1 << 1;
const FORCED: u32 = 1 << 30;
const MMARVALID: u32 = 1 << 7;
const BFARVALID: u32 = 1 << 15;
const MUNSTKERR: u32 = 1 << 3;
const MSTKERR: u32 = 1 << 4;
const UNSTKERR: u32 = 1 << 11;
const STKERR: u32 = 1 << 12;

/// SCR and CCR.
const SLEEPONEXIT: u32 = 1 << 1;
const SLEEPDEEP: u32 = 1 << 2;
const NONBASETHRDENA: u32 = 1;
const BFHFNMIGN: u32 = 1 << 8;
const STKALIGN: u32 = 1 << 9;

/// Bytes of a frame without the floating-point extension's state.
const FRAME_BYTES: u32 = 0x20;
/// `EXC_RETURN`: the frame is one without that state (B1.5.8).
const NO_FLOATS: u32 = 1 << 4;

/// Cycles from the data phase of a store that makes an exception pending, or from a device's
/// signal, until instructions enter execute no more (`interrupts/interrupt_handler_latencies`,
/// `systick_exc`).
const NOTICE: u64 = 3;

fn names(register: &str, value: u32, bits: &[(u32, &str, &str)]) -> String {
    let set: Vec<&str> = bits
        .iter()
        .filter(|&&(bit, ..)| value >> bit & 1 != 0)
        .map(|&(_, name, _)| name)
        .collect();
    let space = if set.is_empty() { "" } else { " " };
    format!("{register} {value:#010x}{space}{}", set.join("+"))
}

impl<B: Bus> Core<B> {
    /// B1.5.4.
    pub(crate) fn execution_priority(&self) -> i32 {
        let priority = self.priority_without_primask();
        if self.primask {
            priority.min(0)
        } else {
            priority
        }
    }

    fn priority_without_primask(&self) -> i32 {
        let mut priority = 256;
        if !self.system.active.is_empty() {
            for number in self.system.active.iter() {
                priority = priority.min(self.system.group_priority_of(number));
            }
        }
        if self.basepri != 0 {
            priority = priority.min(self.system.group(self.basepri));
        }
        if self.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    /// FAULTMASK cannot be set in the handlers of NMI and hard faults (B1.4.3).
    pub(crate) fn faults_can_be_masked(&self) -> bool {
        !self.system.active.has(exception::NMI) && !self.system.active.has(exception::HARD_FAULT)
    }

    /// The pending exception that would be taken at this priority.
    fn candidate(&self, priority: i32) -> Option<usize> {
        self.system
            .first_pending()
            .filter(|&(_, pending)| pending < priority)
            .map(|(number, _)| number)
    }

    /// Take what is pending, once the core has noticed it. True where one instruction more comes
    /// first.
    pub(crate) fn take_exceptions(&mut self) -> Result<bool, Exit> {
        let Some(number) = self.candidate(self.execution_priority()) else {
            self.recheck = false;
            self.noticed = None;
            return Ok(false);
        };
        let at = *self.noticed.get_or_insert(self.pended_at + NOTICE);
        if self.comes_before(at) {
            return Ok(true);
        }
        self.recheck = false;
        self.noticed = None;
        self.system.pending.put(number, false);
        let next = self.next_entry();
        let (in_it, skipped) = (is_it(self.it), self.next_is_skipped());
        if next.is_some_and(|entry| !skipped && self.run_part(&entry, at)) {
            self.pipe.drain(at, &self.memory);
        } else {
            let next = next.as_ref().map(|entry| (entry, in_it, skipped));
            self.pipe.make_way(at, next, &self.memory);
        }
        self.enter(number, self.pc)?;
        self.watch_entry();
        Ok(false)
    }

    /// Whether the next instruction enters execute before this cycle, and is not a division or a
    /// long product that would be given up for the exception (`interrupts/interrupt_multicycle`).
    fn comes_before(&mut self, at: u64) -> bool {
        if self.pipe.now() + 1 >= at {
            return self.pipe.it_is_folded(&self.memory);
        }
        self.next_is_kept_from().is_none_or(|kept| kept <= at)
    }

    pub(crate) fn next_is_skipped(&self) -> bool {
        is_it(self.it) && !self.condition(self.it >> 4)
    }

    /// What comes to be pending before this cycle, less [`NOTICE`], is taken before the next
    /// instruction; `None` where there is none.
    fn next_is_kept_from(&mut self) -> Option<u64> {
        if self.pipe.it_is_folded(&self.memory) {
            return Some(0);
        }
        let entry = self.next_entry()?;
        let skipped = self.next_is_skipped();
        let coming = self
            .pipe
            .coming(&entry, is_it(self.it), skipped, &self.memory);
        if coming.paired && skipped {
            // It goes along with the load or store before it; behind an unaligned one only where
            // decode was done with it (`memory_tests/pipelining_it_skipped_lsu`).
            return Some(if coming.behind_unaligned {
                (coming.decoded + 2).min(coming.enters + 1)
            } else {
                0
            });
        }
        if !skipped && let Some(presented) = self.interruptible(&entry) {
            return presented.last().map(|last| last + 2);
        }
        let gives_up = entry.op.kind.computes() && entry.traits.is(Traits::TIMED) && !skipped;
        let busy = if gives_up {
            u64::from(self.regs.cycles(&entry.op, self.timing))
        } else if entry.traits.is_lsu() && !skipped {
            2
        } else {
            1
        };
        Some(coming.enters + busy)
    }

    /// Something is due at `due`: what makes an exception pending while the next instruction still
    /// waits to enter execute, or can be given up, comes before it. Says what is due then.
    pub(crate) fn foresee(&mut self, mut due: u64) -> Result<u64, Exit> {
        if let Some(kept) = self.next_is_kept_from() {
            while !self.recheck && due.saturating_add(NOTICE) < kept {
                self.advance_devices(due)?;
                due = self.next_due();
            }
        }
        Ok(due)
    }

    /// Exception entry (B1.5.6, B1.5.7).
    fn enter(&mut self, number: usize, return_address: u32) -> Result<(), Exit> {
        if self.stop_on_fault && (exception::HARD_FAULT..=exception::USAGE_FAULT).contains(&number)
        {
            return Err(self.fault_exit(number));
        }
        let floats = self.control & FPCA != 0;
        let aligns = (self.system.ccr & STKALIGN != 0 || floats) && self.regs.r[13] & 4 != 0;
        let frame = self.regs.r[13]
            .wrapping_sub(if aligns { 4 } else { 0 })
            .wrapping_sub(if floats {
                FLOAT_FRAME_BYTES
            } else {
                FRAME_BYTES
            });
        let status = self.xpsr() | u32::from(aligns) << 9;
        let values = [
            self.regs.r[0],
            self.regs.r[1],
            self.regs.r[2],
            self.regs.r[3],
            self.regs.r[12],
            self.regs.r[14],
            return_address,
            status,
        ];
        self.follow(|secrets, before| secrets.stack(before, frame));
        let mut failed = None;
        for (value, at) in values.into_iter().zip((frame..).step_by(4)) {
            match self.store(at, value, Width::Word, false) {
                Ok(()) => {}
                Err(Trap::Stop(fault)) => return Err(self.stop(*fault)),
                Err(trap) => failed = failed.or(Some((at, matches!(trap, Trap::Protected(_))))),
            }
        }
        let float_words = match self.stack_float(frame) {
            Ok(words) => words,
            Err((_, Trap::Stop(fault))) => return Err(self.stop(*fault)),
            Err((at, trap)) => {
                failed = failed.or(Some((at, matches!(trap, Trap::Protected(_)))));
                0
            }
        };
        let mut taken = number;
        if let Some((at, protected)) = failed {
            let (bit, fault) = if protected {
                (MSTKERR, exception::MEM_MANAGE)
            } else {
                (STKERR, exception::BUS_FAULT)
            };
            self.system.cfsr |= bit;
            if number == exception::NMI || number == exception::HARD_FAULT {
                return Err(self.lockup("stacking failed on entry to NMI or hard fault", Some(at)));
            }
            // The derived exception comes late, or stays pending behind the first (B1.5.11).
            let derived = self.escalated(fault, self.execution_priority());
            if self.system.group_priority_of(derived) <= self.system.group_priority_of(number) {
                if self.stop_on_fault {
                    return Err(self.fault_exit(derived));
                }
                self.system.pend(number);
                taken = derived;
            } else {
                self.system.pend(derived);
            }
        }
        self.regs.r[13] = frame;
        if frame >= self.stack_limit {
            self.stack_low = self.stack_low.min(frame);
            self.watched_low = self.watched_low.min(frame);
        }
        let back = if self.ipsr != 0 {
            0xffff_fff1
        } else if self.control & 2 != 0 {
            0xffff_fffd
        } else {
            0xffff_fff9
        };
        self.switch_stack(|core| core.ipsr = taken as u16);
        self.control &= !(2 | FPCA);
        self.regs.r[14] = if floats { back & !NO_FLOATS } else { back };
        self.calls.push(Call {
            target: 0,
            return_address,
            stack_pointer: frame,
            exception: true,
        });
        self.begin_handler(taken, Some((frame, float_words)))
    }

    /// The frame is on the stack, or comes there meanwhile: go to the handler (`ExceptionTaken`).
    fn begin_handler(&mut self, number: usize, frame: Option<(u32, u8)>) -> Result<(), Exit> {
        let alignment = self.system.model.table_alignment();
        if !self.system.vtor.is_multiple_of(alignment) {
            let fault = Fault::new(
                FaultKind::Misaligned,
                format!(
                    "VTOR is {:#010x} when exception {number} is taken, where no vector table may begin: \
                     this core's is aligned to {alignment:#x} bytes",
                    self.system.vtor
                ),
            );
            return Err(self.stop(fault.at(self.vector_of(number))));
        }
        let mut number = self.exchange(number, frame)?;
        let handler = loop {
            let vector = self.system.vtor.wrapping_add(4 * number as u32);
            if let Ok(bytes) = self.memory.dump(vector, 4) {
                self.follow(|secrets, before| secrets.vector(before, vector));
                break u32::from_le_bytes(bytes.try_into().unwrap_or([0; 4]));
            }
            self.system.hfsr |= VECTTBL;
            if number == exception::HARD_FAULT || number == exception::NMI {
                let why = format!(
                    "the vector of exception {number} cannot be read (VTOR {:#010x})",
                    self.system.vtor
                );
                return Err(self.lockup(&why, Some(vector)));
            }
            self.system.pend(number);
            number = exception::HARD_FAULT;
            if self.stop_on_fault {
                return Err(self.fault_exit(number));
            }
        };
        self.ipsr = number as u16;
        self.it = 0;
        self.exclusive = false;
        self.event = true;
        self.system.active.put(number, true);
        self.recheck = true;
        self.thumb = handler & 1 != 0;
        self.pc = handler & !1;
        if let Some(call) = self.calls.last_mut() {
            call.target = self.pc;
        }
        Ok(())
    }

    fn vector_of(&self, number: usize) -> u32 {
        self.system.vtor.wrapping_add(4 * number as u32)
    }

    /// The handler that an exception's vector leads to; 0 where it cannot be read.
    fn handler_of(&self, number: usize) -> u32 {
        let vector = self.memory.dump(self.vector_of(number), 4).ok();
        let vector = vector.and_then(|bytes| bytes.try_into().ok());
        vector.map_or(0, u32::from_le_bytes) & !1
    }

    /// The cycles of an entry: the frame is stored while the vector is fetched, and then the
    /// handler. An exception of higher priority that comes meanwhile is taken instead, without
    /// stacking again (Cortex-M3 TRM, late arrival); its vector is fetched anew.
    fn exchange(&mut self, first: usize, frame: Option<(u32, u8)>) -> Result<usize, Exit> {
        let mut number = first;
        self.pipe.begin_exchange(true, &self.memory);
        let mut exchange = Exchange::entry(frame, self.vector_of(number));
        let mut ends = false;
        while !ends {
            if self.pipe.now() >= self.next_due() {
                self.advance_devices(self.pipe.now())?;
                let priority = self.system.group_priority_of(number);
                if let Some(late) = self.candidate(priority.min(self.execution_priority())) {
                    self.system.pend(number);
                    self.system.pending.put(late, false);
                    number = late;
                    let vector = self.vector_of(number);
                    self.pipe.change_vector(&mut exchange, vector);
                }
            }
            let cycle = self.pipe.exchange_cycle(&mut exchange, &self.memory);
            if cycle.vector {
                self.pipe.fetch_from(self.handler_of(number));
            }
            ends = cycle.ends;
        }
        self.advance_tick(self.pipe.now());
        // What pends again meanwhile is the same exception still (`interrupts/systick_exc`).
        self.system.pending.put(number, false);
        Ok(number)
    }

    pub(crate) fn next_due(&self) -> u64 {
        self.bus.next_event().0.min(self.system.next_tick())
    }

    pub(crate) fn is_exception_return(&self, value: u32) -> bool {
        self.ipsr != 0 && value >> 28 == 15
    }

    /// Exception return (B1.5.8).
    pub(crate) fn exception_return(&mut self, value: u32, loads: bool) -> Result<(), Trap> {
        // The branch is done, or the load of the program counter.
        self.pipe.flush(&self.memory);
        let entered = self.pipe.now();
        self.pipe.drain(entered + 1, &self.memory);
        if loads {
            // What came last is looked at in a cycle of its own (`interrupts/interrupt_handler_latencies`).
            self.pipe.pass_time(1);
        }
        let number = self.ipsr as usize;
        let nested = self.system.active.iter().count() > 1;
        let floats = self.timing.float && value & NO_FLOATS == 0;
        let plain = if floats { value | NO_FLOATS } else { value };
        let (to_thread, process) = match plain {
            0xffff_fff1 => (false, false),
            0xffff_fff9 => (true, false),
            0xffff_fffd => (true, true),
            _ => return self.refuse_return(number, value),
        };
        let base = !nested || self.system.ccr & NONBASETHRDENA != 0;
        if !self.system.active.has(number) || (to_thread && !base) {
            return self.refuse_return(number, value);
        }
        self.deactivate(number);
        // A pending exception is taken without unstacking (tail-chaining).
        if let Some(next) = self.candidate(self.execution_priority()) {
            self.system.pending.put(next, false);
            return self.tail_chain(next, value);
        }
        let frame = if process {
            self.process_stack_pointer()
        } else {
            self.main_stack_pointer()
        };
        let float_words = if floats {
            self.float_words_of_return()
        } else {
            0
        };
        if let Some(next) = self.unstack(frame, float_words)? {
            self.system.pending.put(next, false);
            return self.tail_chain(next, value);
        }
        let mut values = [0; 8];
        // With the privilege of what is returned to.
        let user = to_thread && self.control & 1 != 0;
        for (slot, at) in values.iter_mut().zip((frame..).step_by(4)) {
            match self.load(at, Width::Word, user) {
                Ok(word) => *slot = word,
                Err(Trap::Stop(fault)) => return Err(Trap::Stop(fault)),
                Err(Trap::Protected(_)) => {
                    self.system.cfsr |= MUNSTKERR;
                    return self.fault_in_return(exception::MEM_MANAGE, value);
                }
                Err(_) => {
                    self.system.cfsr |= UNSTKERR;
                    return self.fault_in_return(exception::BUS_FAULT, value);
                }
            }
        }
        if floats {
            match self.unstack_float(frame, user) {
                Ok(()) => {}
                Err(Trap::Stop(fault)) => return Err(Trap::Stop(fault)),
                Err(trap) => {
                    let (bit, number) = if matches!(trap, Trap::Protected(_)) {
                        (MUNSTKERR, exception::MEM_MANAGE)
                    } else {
                        (UNSTKERR, exception::BUS_FAULT)
                    };
                    self.system.cfsr |= bit;
                    return self.fault_in_return(number, value);
                }
            }
        }
        let [r0, r1, r2, r3, r12, lr, pc, status] = values;
        let restored = (status & 0x1ff) as u16;
        if (restored == 0) != to_thread {
            self.system.cfsr |= 1 << UsageFault::InvalidReturn as u32;
            return self.fault_in_return(exception::USAGE_FAULT, value);
        }
        [
            self.regs.r[0],
            self.regs.r[1],
            self.regs.r[2],
            self.regs.r[3],
        ] = [r0, r1, r2, r3];
        [self.regs.r[12], self.regs.r[14]] = [r12, lr];
        let bytes = if floats {
            FLOAT_FRAME_BYTES
        } else {
            FRAME_BYTES
        };
        let top = frame.wrapping_add(bytes) | ((status >> 9 & 1) << 2);
        self.follow(|secrets, before| secrets.unstack(before, frame, top, process));
        if process {
            self.set_process_stack_pointer(top);
        } else {
            self.set_main_stack_pointer(top);
        }
        self.switch_stack(|core| {
            core.ipsr = restored;
            if to_thread {
                core.control = (core.control & 1) | if process { 2 } else { 0 };
            }
        });
        self.control = self.control & !FPCA | if floats { FPCA } else { 0 };
        self.set_xpsr(status);
        self.next_pc = pc & !1;
        self.pc = self.next_pc;
        self.exclusive = false;
        self.event = true;
        if let Some(index) = self.calls.iter().rposition(|call| call.exception) {
            self.calls.truncate(index);
        }
        if to_thread && self.system.active.is_empty() && self.system.scr & SLEEPONEXIT != 0 {
            self.wait(false);
        }
        Ok(())
    }

    /// The cycles of a return: the frame is loaded, the program counter first, and fetched from
    /// there. An exception that comes meanwhile is taken instead (pop pre-emption).
    fn unstack(&mut self, frame: u32, float_words: u8) -> Result<Option<usize>, Trap> {
        self.pipe.begin_exchange(false, &self.memory);
        let mut exchange = Exchange::exit(frame, float_words);
        let mut ends = false;
        loop {
            if self.pipe.now() >= self.next_due() {
                self.advance_devices(self.pipe.now()).map_err(Trap::from)?;
                if let Some(next) = self.candidate(self.execution_priority()) {
                    return Ok(Some(next));
                }
            }
            if ends {
                return Ok(None);
            }
            let cycle = self.pipe.exchange_cycle(&mut exchange, &self.memory);
            if cycle.transferred && exchange.done() == 1 {
                let pc = self.memory.dump(frame.wrapping_add(24), 4).ok();
                let pc = pc.and_then(|bytes| bytes.try_into().ok());
                self.pipe.fetch_from(pc.map_or(0, u32::from_le_bytes) & !1);
            }
            ends = cycle.ends;
        }
    }

    fn deactivate(&mut self, number: usize) {
        self.system.active.put(number, false);
        if number != exception::NMI {
            self.faultmask = false;
            if let Some(secrets) = &mut self.secrets {
                secrets.unmask_faults();
            }
        }
        // A line that is still high pends again.
        self.take_lines();
        self.recheck = true;
    }

    /// The frame stays where it is, and another handler runs.
    fn tail_chain(&mut self, next: usize, value: u32) -> Result<(), Trap> {
        self.regs.r[14] = value;
        self.begin_handler(next, None)?;
        self.next_pc = self.pc;
        Ok(())
    }

    fn refuse_return(&mut self, number: usize, value: u32) -> Result<(), Trap> {
        self.deactivate(number);
        self.system.cfsr |= 1 << UsageFault::InvalidReturn as u32;
        self.fault_in_return(exception::USAGE_FAULT, value)
    }

    fn fault_in_return(&mut self, number: usize, value: u32) -> Result<(), Trap> {
        let priority = self.execution_priority();
        if priority <= -1 {
            return Err(self
                .lockup("a fault in the return from an exception", None)
                .into());
        }
        let number = self.escalated(number, priority);
        if self.stop_on_fault {
            return Err(self.fault_exit(number).into());
        }
        self.tail_chain(number, value | 0xf000_0000)
    }

    /// The exception itself, or a hard fault where it is disabled or may not preempt (B1.5.14).
    fn escalated(&mut self, number: usize, priority: i32) -> usize {
        let enabled = number == exception::SV_CALL || self.system.can_be_taken(number);
        if enabled && self.system.group_priority_of(number) < priority {
            return number;
        }
        self.system.hfsr |= FORCED;
        exception::HARD_FAULT
    }

    /// An instruction did not complete.
    pub(crate) fn trapped(&mut self, trap: Trap) -> Result<(), Exit> {
        let priority = self.execution_priority();
        let number = match trap {
            Trap::Stop(fault) => return Err(self.stop(*fault)),
            Trap::Exit(exit) => return Err(*exit),
            Trap::SupervisorCall => exception::SV_CALL,
            Trap::Usage(cause) => {
                self.system.cfsr |= 1 << cause as u32;
                exception::USAGE_FAULT
            }
            Trap::Fetch => {
                // Devices and the system's own space cannot be executed (B3.1).
                if matches!(self.pc, 0x4000_0000..=0x5fff_ffff | 0xa000_0000..) {
                    self.system.cfsr |= 1;
                    exception::MEM_MANAGE
                } else {
                    self.system.cfsr |= 1 << 8;
                    exception::BUS_FAULT
                }
            }
            Trap::ProtectedFetch => {
                self.system.cfsr |= 1;
                exception::MEM_MANAGE
            }
            Trap::Protected(address) => {
                self.system.mmfar = address;
                self.system.cfsr |= 1 << 1 | MMARVALID;
                exception::MEM_MANAGE
            }
            Trap::Access(address) => {
                self.system.bfar = address;
                self.system.cfsr |= 1 << 9 | BFARVALID;
                if priority <= -1 && self.system.ccr & BFHFNMIGN != 0 {
                    self.pc = self.fall_through;
                    self.pipe.restart(self.pc, 0);
                    return Ok(());
                }
                exception::BUS_FAULT
            }
        };
        let return_address = if number == exception::SV_CALL {
            self.fall_through
        } else {
            // It is executed again after the handler.
            self.it = self.it_of_current;
            self.pc
        };
        if priority <= -1 {
            self.system.hfsr |= FORCED;
            let handler = if self.faultmask && self.faults_can_be_masked() {
                "while FAULTMASK is set"
            } else {
                "inside the handler of a hard fault or NMI"
            };
            return Err(self.lockup(&format!("a fault {handler}"), None));
        }
        let number = self.escalated(number, priority);
        self.pipe.drain(self.pipe.now() + NOTICE, &self.memory);
        self.enter(number, return_address)
    }

    pub(crate) fn stop(&self, mut fault: Fault) -> Exit {
        fault.pc = self.pc;
        fault.call_stack = self
            .calls
            .iter()
            .rev()
            .map(|call| {
                if call.exception {
                    Caller::Interrupted(call.return_address)
                } else {
                    Caller::Call(call.return_address)
                }
            })
            .collect();
        Exit::Fault(Box::new(fault))
    }

    /// Contents of the fault registers, in words and by name.
    fn fault_registers(&self) -> (String, String) {
        let (cfsr, hfsr) = (self.system.cfsr, self.system.hfsr);
        let meanings: Vec<&str> = CFSR
            .iter()
            .filter(|&&(bit, _, meaning)| cfsr >> bit & 1 != 0 && !meaning.is_empty())
            .chain(
                HFSR.iter()
                    .filter(|&&(bit, ..)| bit == 1 && hfsr & VECTTBL != 0),
            )
            .map(|&(_, _, meaning)| meaning)
            .collect();
        let mut registers = vec![names("CFSR", cfsr, &CFSR), names("HFSR", hfsr, &HFSR)];
        if cfsr & MMARVALID != 0 {
            registers.push(format!("MMFAR {:#010x}", self.system.mmfar));
        }
        if cfsr & BFARVALID != 0 {
            registers.push(format!("BFAR {:#010x}", self.system.bfar));
        }
        (meanings.join("; "), registers.join(", "))
    }

    /// The fault whose handler has not returned.
    pub fn handled_fault(&self) -> Option<Fault> {
        let mut faults = exception::HARD_FAULT..=exception::USAGE_FAULT;
        let number = faults.find(|&number| self.system.active.has(number))?;
        match self.fault_exit(number) {
            Exit::Fault(mut fault) => {
                fault.message = format!("in the handler of a {}", fault.message);
                Some(*fault)
            }
            _ => None,
        }
    }

    fn fault_exit(&self, number: usize) -> Exit {
        let cfsr = self.system.cfsr;
        let has = |bits: u32| cfsr & bits != 0;
        let kind = if has(1 << 16 | 1 << 19) {
            FaultKind::InvalidOpcode
        } else if has(1 << 24) {
            FaultKind::Misaligned
        } else if has(1 << 17 | 1) {
            FaultKind::ExecuteData
        } else {
            FaultKind::Unmapped
        };
        let name = match number {
            exception::HARD_FAULT => "hard fault",
            exception::MEM_MANAGE => "memory management fault",
            exception::BUS_FAULT => "bus fault",
            _ => "usage fault",
        };
        let (meaning, registers) = self.fault_registers();
        let colon = if meaning.is_empty() { "" } else { ": " };
        let mut fault = Fault::new(kind, format!("{name}{colon}{meaning} ({registers})"));
        if has(BFARVALID) {
            fault = fault.at(self.system.bfar);
        } else if has(MMARVALID) {
            fault = fault.at(self.system.mmfar);
        }
        self.stop(fault)
    }

    fn lockup(&self, why: &str, address: Option<u32>) -> Exit {
        let (meaning, registers) = self.fault_registers();
        let colon = if meaning.is_empty() { "" } else { ": " };
        let mut fault = Fault::new(
            FaultKind::Lockup,
            format!("{why}{colon}{meaning} ({registers})"),
        );
        if let Some(address) = address {
            fault = fault.at(address);
        }
        self.stop(fault)
    }

    // Sleep.

    /// WFI and WFE, and a return with SLEEPONEXIT.
    pub(crate) fn wait(&mut self, for_event: bool) {
        self.pipe.flush(&self.memory);
        if self.wakes(for_event) {
            return;
        }
        self.asleep = Some(for_event);
        let deep = self.system.scr & SLEEPDEEP != 0;
        let now = Cycles(self.pipe.now());
        self.bus.sleep(true, deep, now);
        if self.bus.stops_clock(deep) {
            self.advance_tick(now.0);
            self.system.pause_tick(now.0);
        }
    }

    /// Whether something ends the sleep (B1.5.17 to B1.5.19): PRIMASK does not count.
    fn wakes(&mut self, for_event: bool) -> bool {
        self.event |= std::mem::take(&mut self.system.pended_event);
        if for_event && std::mem::take(&mut self.event) {
            return true;
        }
        self.candidate(self.priority_without_primask()).is_some()
    }

    /// When something is due that may wake the core; `None` where it does not sleep, or is about to
    /// wake.
    pub fn asleep_until(&self) -> Option<Cycles> {
        let for_event = self.asleep?;
        let wakes = for_event && (self.event || self.system.pended_event)
            || self.candidate(self.priority_without_primask()).is_some();
        (!wakes).then(|| Cycles(self.next_due()))
    }

    /// Sleep on until a cycle before which nothing is due: where [`Exit::Asleep`] ended a run.
    pub fn sleep_until(&mut self, cycle: Cycles) {
        debug_assert!(self.asleep_until().is_some_and(|due| due >= cycle));
        let wait = cycle.0 - self.pipe.now();
        self.sleep_cycles += wait;
        self.pipe.pass_time(wait);
    }

    pub(crate) fn doze(&mut self, until: u64) -> Result<(), Exit> {
        if self.wakes(self.asleep == Some(true)) {
            self.asleep = None;
            // What woke the core was noticed asleep.
            self.recheck = true;
            self.pended_at = 0;
            self.noticed = None;
            let deep = self.system.scr & SLEEPDEEP != 0;
            let wait = self.bus.sleep(false, deep, Cycles(self.pipe.now())).0;
            self.sleep_cycles += wait;
            self.pipe.pass_time(wait);
            self.system.resume_tick(self.pipe.now());
            return Ok(());
        }
        let due = self.next_due();
        if due == u64::MAX {
            return Err(Exit::Asleep);
        }
        let next = due.min(until);
        let wait = next.saturating_sub(self.pipe.now());
        if wait == 0 && next < due {
            return Err(Exit::Cycles);
        }
        self.sleep_cycles += wait;
        self.pipe.pass_time(wait);
        if self.pipe.now() >= due {
            self.advance_devices(self.pipe.now())?;
        }
        if self.bus.take_stop() {
            return Err(Exit::Stopped);
        }
        if self.pipe.now() >= until {
            return Err(Exit::Cycles);
        }
        Ok(())
    }
}
