//! Exceptions: entry, return, faults, and sleep (ARM DDI 0419E, B1.5).

use joulemark_armv7m::Bus;
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::core::{Core, Exit, LR, SP, SPSEL};
use crate::execute::Trap;
use crate::system::{HARD_FAULT, NMI, SLEEPDEEP, SLEEPONEXIT, SV_CALL, THREAD};

/// Cycles from an interrupt's line to its handler's first instruction, at the most (ARM DDI 0484C,
/// 3.6.1); and of these, how many are left when the longest instruction that is not given up, of
/// three cycles, has ended.
const LATENCY: u64 = 15;
const ENTRY: u64 = LATENCY - 2;
/// Before its end, until when another exception can still be entered instead: the vector's load and the
/// fetch. Inferred.
const VECTOR: u64 = 4;
/// Cycles of a return: a POP of eight words with PC (ibid., table 3-1). Inferred.
const RETURN: u64 = 3 + 8;
/// Cycles from one handler's end to the next one's first instruction: an entry that does not store eight
/// words. Inferred.
const TAIL: u64 = 6;
const FRAME_BYTES: u32 = 32;

impl<B: Bus> Core<B> {
    /// The priority that something must be above to be taken (B1.5.4).
    fn execution_priority(&self) -> i32 {
        let active = self.system.active_priority();
        if self.primask { active.min(0) } else { active }
    }

    /// The exception to take now.
    fn candidate(&self) -> Option<usize> {
        if self.system.pending == 0 {
            return None;
        }
        let (number, priority) = self.system.first_pending()?;
        (priority < self.execution_priority()).then_some(number)
    }

    /// Bring the chip up to `now`, or to the first cycle in which there is something to take.
    pub(crate) fn advance(&mut self) -> Result<(), Exit> {
        loop {
            let bus = self.bus.next_event().0;
            let event = bus.min(self.system.next_tick());
            if event > self.now {
                break;
            }
            if bus == event {
                self.bus
                    .advance(Cycles(event))
                    .map_err(|fault| self.stop(fault))?;
            }
            self.system.advance_tick(event);
            self.note(event);
            if self.bus.next_event().0.min(self.system.next_tick()) <= event {
                // It has work that only the passing of time can do.
                break;
            }
        }
        self.note(self.now);
        Ok(())
    }

    /// Look at the lines, and whether something is to be taken since a cycle.
    fn note(&mut self, cycle: u64) {
        let [low, ..] = self.bus.interrupts();
        self.system.lines(low);
        if self.candidate().is_none() {
            self.noticed = None;
        } else if self.noticed.is_none() {
            self.noticed = Some(cycle);
        }
    }

    /// Advance, and enter what is to be taken; `check` is then when to do so again.
    #[cold]
    pub(crate) fn ask(&mut self) -> Result<(), Exit> {
        self.advance()?;
        if self.noticed.is_some() {
            self.interrupt()?;
        }
        let due = self.next_due();
        self.check = if due > self.now { due } else { self.now + 1 };
        Ok(())
    }

    pub(crate) fn next_due(&self) -> u64 {
        self.bus.next_event().0.min(self.system.next_tick())
    }

    /// Enter the pending exception.
    fn interrupt(&mut self) -> Result<(), Exit> {
        let noticed = self.noticed.take().unwrap_or(self.now);
        let start = (noticed + LATENCY).max(self.now + ENTRY);
        let pc = self.pc;
        self.stack(pc)?;
        // What comes meanwhile and is more urgent is entered instead (B1.5.10, late arrival).
        self.now = self.now.max(start - VECTOR);
        self.advance()?;
        let number = self.candidate().unwrap_or(NMI);
        self.noticed = None;
        self.now = start;
        self.vector(number)
    }

    /// Enter an exception that an instruction causes, after the cycles that it has taken.
    fn enter(&mut self, number: usize, return_address: u32) -> Result<(), Exit> {
        self.stack(return_address)?;
        self.now += LATENCY;
        self.vector(number)
    }

    /// Store the frame (B1.5.6).
    fn stack(&mut self, return_address: u32) -> Result<(), Exit> {
        let before = self.r[SP];
        let frame = before.wrapping_sub(FRAME_BYTES) & !4;
        let status = self.xpsr() | (before >> 2 & 1) << 9;
        let is_thread = self.ipsr == 0;
        let is_process = self.control & SPSEL != 0;
        let [r0, r1, r2, r3] = [self.r[0], self.r[1], self.r[2], self.r[3]];
        let words = [
            r0,
            r1,
            r2,
            r3,
            self.r[12],
            self.r[LR],
            return_address,
            status,
        ];
        for (word, at) in words.into_iter().zip((frame..).step_by(4)) {
            if let Err(trap) = self.store_word(at, word) {
                let what = "a fault in storing the frame of an exception";
                return Err(self.lockup(what, trap.fault()));
            }
        }
        self.follow(|secrets, before| secrets.stack(before, frame));
        self.observer.call(return_address, before, true);
        self.move_sp(frame)
            .map_err(|trap| self.stop(trap.fault()))?;
        if is_process {
            self.switch_stack();
            self.control &= !SPSEL;
        }
        self.r[LR] = match (is_thread, is_process) {
            (false, _) => 0xffff_fff1,
            (true, false) => 0xffff_fff9,
            (true, true) => 0xffff_fffd,
        };
        Ok(())
    }

    /// Go to a handler (B1.5.6).
    fn vector(&mut self, number: usize) -> Result<(), Exit> {
        let at = self.system.vtor.wrapping_add(4 * number as u32);
        let Ok(vector) = self.load_word(at) else {
            let fault = Fault::new(
                FaultKind::Unmapped,
                "the exception's vector is in no memory",
            );
            return Err(self.lockup("a fault in loading a vector", fault.at(at)));
        };
        self.follow(|secrets, before| secrets.vector(before, at));
        self.ipsr = number as u8;
        self.system.pending &= !(1 << number);
        self.system.active |= 1 << number;
        self.thumb = vector & 1 != 0;
        self.pc = vector & !1;
        self.event = true;
        self.check = 0;
        Ok(())
    }

    /// Whether a jump to this address ends a handler.
    pub(crate) fn is_exception_return(&self, target: u32) -> bool {
        target >= 0xf000_0000 && self.ipsr != 0
    }

    /// End a handler (B1.5.8), after an instruction of so many cycles.
    pub(crate) fn exception_return(&mut self, value: u32, cycles: u64) -> Result<(), Trap> {
        let number = usize::from(self.ipsr);
        let nested = (self.system.active & !(1 << number)) != 0;
        let (to_thread, process) = match value & 0x0fff_ffff {
            0x0fff_fff1 if nested => (false, false),
            0x0fff_fff9 if !nested => (true, false),
            0x0fff_fffd if !nested => (true, true),
            _ => {
                let what = format!("a return from an exception with {value:#010x}");
                return Err(Trap::Fault(Box::new(Fault::new(
                    FaultKind::ExecuteData,
                    what,
                ))));
            }
        };
        self.system.active &= !(1 << number);
        if number == HARD_FAULT {
            self.handled = None;
        }
        self.observer.returned(0, true);
        self.now += cycles;
        self.check = 0;
        self.ipsr = 0;
        self.noticed = None;
        self.advance().map_err(Trap::Exit)?;
        if self.noticed.take().is_some()
            && let Some(next) = self.candidate()
        {
            // The frame stays where it is (tail-chaining).
            self.now += TAIL;
            self.observer.call(self.pc, self.r[SP], true);
            self.r[LR] = value;
            self.follow(|secrets, _| secrets.link());
            return self.vector(next).map_err(Trap::Exit);
        }
        self.now += RETURN - 2;
        if process {
            self.switch_stack();
            self.control |= SPSEL;
        }
        let frame = self.r[SP];
        let mut words = [0; 8];
        for (slot, at) in words.iter_mut().zip((frame..).step_by(4)) {
            *slot = self.load_word(at)?;
        }
        let [r0, r1, r2, r3, r12, lr, pc, status] = words;
        let restored = (status & 63) as u8;
        if (restored == 0) != to_thread {
            let what = "a return from an exception to another mode than its frame's";
            return Err(Trap::Fault(Box::new(Fault::new(
                FaultKind::ExecuteData,
                what,
            ))));
        }
        self.follow(|secrets, before| secrets.unstack(before, frame));
        [self.r[0], self.r[1], self.r[2], self.r[3]] = [r0, r1, r2, r3];
        (self.r[12], self.r[LR]) = (r12, lr);
        self.r[SP] = frame.wrapping_add(FRAME_BYTES) | (status >> 9 & 1) << 2;
        self.set_xpsr(status);
        self.ipsr = restored;
        self.pc = pc & !1;
        self.event = true;
        if to_thread && self.system.scr & SLEEPONEXIT != 0 {
            self.wait(false);
        }
        Ok(())
    }

    /// An instruction did not complete; its cycles have passed.
    pub(crate) fn trapped(&mut self, trap: Trap) -> Result<(), Exit> {
        let (fault, address) = match trap {
            Trap::Exit(exit) => return Err(exit),
            Trap::Stop(fault) => return Err(self.stop(*fault)),
            Trap::SupervisorCall
                if self.system.priority_of(SV_CALL) < self.execution_priority() =>
            {
                let next = self.pc.wrapping_add(2);
                self.now += 1;
                return self.enter(SV_CALL, next);
            }
            // Its exception may not be taken now: a hard fault (B1.5.11).
            Trap::SupervisorCall => {
                let what = "SVC where its priority does not let it be taken";
                (Fault::new(FaultKind::InvalidOpcode, what), self.pc)
            }
            Trap::Fault(fault) => (*fault, self.pc),
        };
        if self.system.active_priority() < 0 {
            return Err(self.lockup("a fault in the handler of a hard fault or NMI", fault));
        }
        if self.config.stop_on_fault {
            let message = format!("hard fault: {}", fault.message);
            return Err(self.stop(Fault { message, ..fault }));
        }
        let message = format!("in the handler of a hard fault: {}", fault.message);
        let mut handled = Fault { message, ..fault };
        handled.pc = self.pc;
        self.handled = Some(handled);
        self.now += 1;
        self.enter(HARD_FAULT, address)
    }

    fn lockup(&self, why: &str, fault: Fault) -> Exit {
        let message = format!("{why}: {}", fault.message);
        let kind = FaultKind::Lockup;
        self.stop(Fault {
            kind,
            message,
            ..fault
        })
    }

    pub(crate) fn stop(&self, mut fault: Fault) -> Exit {
        fault.pc = self.pc;
        fault.call_stack = self.observer.callers();
        Exit::Fault(Box::new(fault))
    }

    // Sleep.

    /// WFI and WFE, and a return with SLEEPONEXIT.
    pub(crate) fn wait(&mut self, for_event: bool) {
        self.check = 0;
        if self.wakes(for_event) {
            return;
        }
        (self.asleep, self.slept_since) = (Some(for_event), self.now);
        let deep = self.system.scr & SLEEPDEEP != 0;
        self.bus.sleep(true, deep, Cycles(self.now));
        if self.bus.stops_clock(deep) {
            self.system.advance_tick(self.now);
            self.system.pause_tick(self.now);
        }
    }

    /// Whether something that PRIMASK does not count for ends the sleep (B1.5.13 and B1.5.14).
    fn would_wake(&self, for_event: bool) -> bool {
        let pending = self.system.first_pending();
        for_event && (self.event || self.system.pended_event)
            || pending
                .is_some_and(|(_, priority)| priority < self.system.active_priority().min(THREAD))
    }

    fn wakes(&mut self, for_event: bool) -> bool {
        let wakes = self.would_wake(for_event);
        self.event |= std::mem::take(&mut self.system.pended_event);
        if for_event {
            self.event = false;
        }
        wakes
    }

    /// When something is due that may wake the core; `None` if it is awake, or about to wake.
    pub fn asleep_until(&self) -> Option<Cycles> {
        let for_event = self.asleep?;
        (!self.would_wake(for_event)).then(|| Cycles(self.next_due()))
    }

    /// Sleep until a cycle before which nothing is due.
    pub fn sleep_until(&mut self, cycle: Cycles) {
        self.now = self.now.max(cycle.0);
    }

    /// Sleep until something wakes the core, a limit, or a stop.
    pub(crate) fn sleep_on(&mut self, for_event: bool, until: u64) -> Result<(), Exit> {
        loop {
            self.advance()?;
            if self.wakes(for_event) {
                self.asleep = None;
                self.sleep_cycles += self.now - self.slept_since;
                let deep = self.system.scr & SLEEPDEEP != 0;
                let wait = self.bus.sleep(false, deep, Cycles(self.now)).0;
                self.sleep_cycles += wait;
                self.now += wait;
                self.system.resume_tick(self.now);
                self.check = 0;
                return Ok(());
            }
            if self.bus.take_stop() {
                return Err(Exit::Stopped);
            }
            if self.now >= until {
                return Err(Exit::Cycles);
            }
            let due = self.next_due();
            if due == u64::MAX {
                return Err(Exit::Asleep);
            }
            self.now = due.max(self.now + 1).min(until);
        }
    }
}
