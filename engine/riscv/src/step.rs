//! Execution, cycle by cycle: one instruction is in the execution stage, and an access of an earlier
//! one may be in the memory stage.

use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::bus::{Bus, Width};
use crate::compute::{atomic, compute, is_taken};
use crate::core::{Core, Exit, Limits, SP};
use crate::csr::{Access, Change, INTERRUPT, Refusal};
use crate::decode::{Kind, Op, SINK};
use crate::pmp::For;

/// Causes of exceptions (RISC-V privileged architecture, table 14).
const FETCH_FAULT: u32 = 1;
const ILLEGAL: u32 = 2;
const BREAKPOINT: u32 = 3;
const LOAD_MISALIGNED: u32 = 4;
const LOAD_FAULT: u32 = 5;
const STORE_MISALIGNED: u32 = 6;
const STORE_FAULT: u32 = 7;
/// From user mode; from machine mode it is 3 more.
const ECALL: u32 = 8;

pub(crate) const RA: u8 = 1;
pub(crate) const A0: u8 = 10;
pub(crate) const A1: u8 = 11;

/// The register that a step of a push or a pop transfers: ra, s0, s1, s2, ...
pub(crate) fn saved(step: u8) -> u8 {
    [1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27][usize::from(step)]
}

/// Cycles of a division; one more for a negative dividend.
const DIVISION: u64 = 19;
/// Cycles after which the front end of a sleeping core has fetched all that it can.
const QUIET: u64 = 8;

type Done = Result<(), Box<Fault>>;

/// What an instruction does besides its result.
enum Outcome {
    Next,
    Jump(u32),
    Trap(u32),
    Return,
    /// An interrupt is due first.
    Abandoned,
}

impl<B: Bus> Core<B> {
    /// Run until a limit, a breakpoint, a fault, or what the bus asks for.
    pub fn run(&mut self, limits: Limits) -> Exit {
        let until = limits.until.map_or(u64::MAX, |cycles| cycles.0);
        let mut leave = limits.step_first;
        self.check = 0;
        loop {
            if self.asleep {
                match self.sleep_on(until) {
                    Ok(None) => {}
                    Ok(Some(exit)) => return exit,
                    Err(fault) => return self.failed(fault),
                }
            }
            if self.now >= until {
                return Exit::Cycles;
            }
            if !self.breakpoints.is_empty() && self.breakpoints.contains(&self.pc) && !leave {
                return Exit::Breakpoint(self.pc);
            }
            leave = false;
            let digesting = self.observer.digesting;
            let followed = self.observer.watching || self.secrets.is_some();
            if !followed && !self.is_protected {
                let before = self.instructions;
                if digesting {
                    self.run_plainly::<true>(until);
                } else {
                    self.run_plainly::<false>(until);
                }
                // It may have come to the end, or to a breakpoint.
                let has_moved = self.instructions != before;
                if self.now >= until || has_moved && !self.breakpoints.is_empty() {
                    continue;
                }
            }
            let done = if followed || digesting {
                self.step::<true>()
            } else {
                self.step::<false>()
            };
            if let Err(fault) = done {
                return self.failed(fault);
            }
            if self.check == 0 && self.bus.take_stop() {
                return Exit::Stopped;
            }
        }
    }

    fn failed(&self, mut fault: Box<Fault>) -> Exit {
        fault.pc = self.pc;
        fault.call_stack = self.observer.callers();
        Exit::Fault(fault)
    }

    /// Ask the bus for what is due in this cycle. `check` is then when to ask again.
    #[cold]
    fn ask(&mut self) -> Done {
        let mut event = self.bus.next_event().0;
        let mut stopped = false;
        while event <= self.now {
            self.bus.advance(Cycles(event)).map_err(Box::new)?;
            self.note_lines(event + 1);
            let next = self.bus.next_event().0;
            stopped = true;
            if next <= event {
                // It has work that only the passing of time can do.
                event = self.now + 1;
                break;
            }
            event = next;
        }
        while let Some(&(at, lines)) = self.changes.front()
            && at <= self.now
        {
            self.csrs.lines = lines;
            self.changes.pop_front();
        }
        let change = self.changes.front().map_or(u64::MAX, |change| change.0);
        self.check = if self.csrs.interrupt().is_some() {
            self.now
        } else {
            event.min(change)
        };
        if stopped {
            // A stop is looked for after this instruction.
            self.check = 0;
        }
        Ok(())
    }

    /// Note the lines, which the input registers have from a cycle on.
    fn note_lines(&mut self, from: u64) {
        let lines = self.bus.interrupts();
        let last = self
            .changes
            .back()
            .map_or(self.csrs.lines, |change| change.1);
        if lines != last {
            let from = self
                .changes
                .back()
                .map_or(from, |change| from.max(change.0));
            self.changes.push_back((from, lines));
        }
    }

    /// Sleep until an interrupt is pending, a limit, or a stop.
    fn sleep_on(&mut self, until: u64) -> Result<Option<Exit>, Box<Fault>> {
        loop {
            self.ask()?;
            if self.csrs.wakes() {
                self.access_until = self.now + 1;
                (self.loads, self.is_exclusive, self.is_in_flight) = (0, false, false);
                self.wake();
                // The instruction behind may have its cycles only after the one that slept.
                self.undisturbed = self.now;
                self.check = 0;
                return Ok(None);
            }
            if self.bus.take_stop() {
                return Ok(Some(Exit::Stopped));
            }
            if self.now >= until {
                return Ok(Some(Exit::Cycles));
            }
            let lines = self.changes.front().map_or(u64::MAX, |change| change.0);
            let due = self.bus.next_event().0.min(lines);
            if self.now < self.slept_since + QUIET {
                self.stalled_behind(None)?;
            } else if due == u64::MAX {
                return Ok(Some(Exit::Asleep));
            } else {
                self.now = due.max(self.now + 1).min(until);
            }
        }
    }

    /// A cycle in which the execution stage does nothing.
    #[inline]
    fn idle(&mut self) {
        self.prefetch.tick(0);
        self.now += 1;
    }

    /// The instruction at the program counter.
    #[inline]
    fn fetch(&mut self) -> Result<Op, Box<Fault>> {
        for memory in &mut self.memories {
            if let Some(at) = memory.offset(self.pc, 2)
                && memory.executes()
                && let Some(op) = memory.op(at)
            {
                return Ok(op);
            }
        }
        let message = "there is no memory to execute from";
        Err(Box::new(Fault::new(FaultKind::Unmapped, message)))
    }

    /// Execute one instruction, or enter a trap.
    fn step<const WATCHED: bool>(&mut self) -> Done {
        let op = self.fetch()?;
        self.wait_for_lines(op);
        if WATCHED && self.observer.digesting {
            self.observer.touch(self.pc);
        }
        loop {
            if self.now >= self.check {
                self.ask()?;
                let is_held = self.now == self.undisturbed || self.is_atomic(op);
                if let Some(cause) = self.csrs.interrupt()
                    && !is_held
                {
                    if self.now > self.access_until || !self.is_in_flight {
                        self.flush(self.pc);
                        self.trap(INTERRUPT | cause, self.pc);
                        self.finished::<WATCHED>();
                        return Ok(());
                    }
                    // The access in the memory stage must end first; nothing follows it.
                    self.refuse_lost_return(op)?;
                    self.abandon_unless_atomic(op);
                    self.idle();
                    continue;
                }
            }
            if self.prefetch.level() < op.size {
                self.idle();
                continue;
            }
            if self.waits(op)? {
                continue;
            }
            break;
        }
        let next = self.pc.wrapping_add(u32::from(op.size) * 2);
        let predicted = self.prefetch.predicted() & if op.size == 2 { 3 } else { 1 };
        if predicted != 0 && op.size == 2 && predicted != 3 {
            // Half of it was taken for part of the remembered branch: it is fetched again.
            self.prefetch.tick(op.size);
            self.prefetch.jump(self.pc, 0);
            self.now += 1;
            self.flushed += 1;
            return Ok(());
        }
        if self.is_protected && !self.lets_execute(op) {
            return self.refused::<WATCHED>(op, next, FETCH_FAULT);
        }
        if op.kind >= Kind::Push {
            return self.sequence::<WATCHED>(op, next);
        }
        let outcome = self.execute::<WATCHED>(op, next, predicted)?;
        let had_jumped = std::mem::take(&mut self.has_jumped);
        self.divided_at = 0;
        match outcome {
            Outcome::Next => {
                self.prefetch.tick(op.size);
                self.pc = if predicted != 0 {
                    self.prefetch.target()
                } else {
                    next
                };
                self.now += 1;
                self.instructions += 1;
            }
            Outcome::Jump(target) => {
                if had_jumped {
                    self.prefetch.tick(op.size);
                } else {
                    // FENCE.I stays in the decoder for a cycle, and forgets the remembered branch
                    // although it is not executed.
                    let is_flushed = op.before_fence && self.prefetch.level_behind(op.size) >= 2;
                    self.prefetch.jump(target, 0);
                    if is_flushed {
                        self.prefetch.forget_next();
                    }
                }
                self.pc = target;
                self.now += 1;
                self.instructions += 1;
            }
            Outcome::Trap(cause) => return self.refused::<WATCHED>(op, next, cause),
            Outcome::Abandoned => return Ok(()),
            Outcome::Return => {
                self.prefetch.tick(op.size);
                self.now += 1;
                self.instructions += 1;
                self.flush(next);
                self.return_from_trap();
            }
        }
        self.finished::<WATCHED>();
        Ok(())
    }

    /// An instruction ends in an exception.
    fn refused<const WATCHED: bool>(&mut self, op: Op, next: u32, cause: u32) -> Done {
        (self.has_jumped, self.divided_at) = (false, 0);
        self.prefetch.tick(op.size);
        self.now += 1;
        if self.is_error(cause) {
            return Err(error(cause));
        }
        if cause < ECALL && cause != BREAKPOINT {
            let mut fault = error(cause);
            fault.message = format!("in the handler of an exception: {}", fault.message);
            fault.pc = self.pc;
            self.handled = Some(*fault);
        } else {
            self.instructions += 1;
        }
        self.flush(next);
        self.trap(cause, self.pc);
        self.finished::<WATCHED>();
        Ok(())
    }

    /// Whether memory protection lets an instruction be executed.
    fn lets_execute(&self, op: Op) -> bool {
        let csrs = &self.csrs;
        csrs.protection
            .lets_execute(self.pc, op.size, csrs.is_machine)
    }

    /// Whether memory protection lets an access be made.
    #[inline]
    fn lets_access(&self, address: u32, purpose: For) -> bool {
        !self.is_protected || {
            let csrs = &self.csrs;
            csrs.protection
                .lets_access(address, purpose, csrs.accesses_as_machine())
        }
    }

    /// Report control if it has left what was reported.
    fn finished<const WATCHED: bool>(&mut self) {
        let observer = &self.observer;
        if WATCHED
            && observer.watching
            && (!observer.range.contains(&self.pc) || observer.depth() != observer.reported_depth)
        {
            self.report();
        }
    }

    /// Whether the instruction is at a point at which no interrupt is taken.
    fn is_atomic(&self, op: Op) -> bool {
        match op.kind {
            Kind::Pop => self.step >= op.rs1,
            Kind::PopRet | Kind::PopRetZ => self.step > op.rs1,
            Kind::MvSa | Kind::MvAs => self.step == 1,
            _ => self.amo_phase & 1 != 0,
        }
    }

    /// An interrupt that waits for the last load of CM.POPRET finds that the jump has been made and
    /// the stack pointer has not: the core then returns to a wrong place.
    fn refuse_lost_return(&self, op: Op) -> Done {
        let jumps = op.kind == Kind::PopRet
            && self.step == op.rs1
            && self.prefetch.level() >= op.size
            && !self.sequence_is_behind(op);
        if jumps {
            let message = "an interrupt at the jump of CM.POPRET, after which this core goes wrong";
            return Err(Box::new(Fault::new(FaultKind::Lockup, message)));
        }
        Ok(())
    }

    fn abandon_unless_atomic(&mut self, op: Op) {
        // The unit that divides starts again; an atomic operation behind an access keeps its turn.
        self.divided_at = 0;
        if is_amo(op.kind) && self.prefetch.level() >= op.size {
            self.undisturbed = self.now + 1;
        }
    }

    /// Whether the instruction does not get through the execution stage in this cycle, which is then
    /// over.
    #[inline]
    fn waits(&mut self, op: Op) -> Result<bool, Box<Fault>> {
        if self.now <= self.access_until {
            if self.is_behind(op) {
                if is_amo(op.kind) {
                    self.undisturbed = self.now + 1;
                }
                self.idle();
                return Ok(true);
            }
            if self.now < self.access_until {
                self.stalled_behind(Some(op))?;
                return Ok(true);
            }
        }
        if op.kind >= Kind::Div && op.kind <= Kind::Remu {
            if self.divided_at == 0 {
                self.start_division(op);
            }
            if self.now < self.divided_at {
                self.idle();
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn start_division(&mut self, op: Op) {
        let is_negative = matches!(op.kind, Kind::Div | Kind::Rem)
            && (self.registers[usize::from(op.rs1)] as i32) < 0;
        self.divided_at = self.now + DIVISION - 1 + u64::from(is_negative);
    }

    /// Whether the instruction needs what the memory stage does not have yet.
    #[inline]
    fn is_behind(&self, op: Op) -> bool {
        if op.kind >= Kind::Push {
            return self.sequence_is_behind(op);
        }
        // The value to store is needed only in the memory stage.
        let is_store = matches!(op.kind, Kind::Sb | Kind::Sh | Kind::Sw);
        let loads = self.loads;
        loads == op.rs1 && loads != 0
            || loads == op.rs2 && loads != 0 && !is_store
            || self.is_exclusive && op.kind >= Kind::Lr && op.kind <= Kind::AmoMaxu
    }

    /// A cycle behind a stalled memory stage: a jump is made, and a division goes on.
    fn stalled_behind(&mut self, op: Option<Op>) -> Done {
        let op = match op {
            Some(op) => op,
            None => self.fetch()?,
        };
        if self.prefetch.level() < op.size || self.has_jumped {
            self.idle();
            return Ok(());
        }
        match op.kind {
            kind if kind.jumps() => {
                let predicted = self.prefetch.predicted() & if op.size == 2 { 3 } else { 1 };
                let next = self.pc.wrapping_add(u32::from(op.size) * 2);
                if op.size == 2 && matches!(predicted, 1 | 2) {
                    self.idle();
                    return Ok(());
                }
                if let Some(target) = self.jump_target(op, next, predicted != 0) {
                    self.prefetch.jump(target, op.size);
                    self.has_jumped = true;
                    self.now += 1;
                    return Ok(());
                }
            }
            Kind::Div | Kind::Divu | Kind::Rem | Kind::Remu if self.divided_at == 0 => {
                self.start_division(op);
            }
            _ if self.is_in_flight && self.requests(op) => {
                // The request can no longer be taken back.
                self.undisturbed = self.now + 1;
            }
            _ => {}
        }
        self.idle();
        Ok(())
    }

    /// Where a jump goes, if it has to; the predictor learns from it.
    #[inline]
    fn jump_target(&mut self, op: Op, next: u32, was_predicted: bool) -> Option<u32> {
        let a = self.registers[usize::from(op.rs1)];
        let target = match op.kind {
            Kind::Jal => self.pc.wrapping_add(op.imm as u32),
            Kind::Jalr => a.wrapping_add(op.imm as u32) & !1,
            Kind::FenceI => {
                self.prefetch.forget();
                next
            }
            _ => {
                let taken = is_taken(op.kind, a, self.registers[usize::from(op.rs2)]);
                if taken == was_predicted {
                    return None;
                }
                if was_predicted {
                    self.prefetch.forget();
                    return Some(next);
                }
                let target = self.pc.wrapping_add(op.imm as u32);
                if op.imm < 0 {
                    self.prefetch.remember(self.pc, op.size == 2, target);
                }
                target
            }
        };
        Some(target)
    }

    /// Whether an access is to a misaligned address.
    fn is_misaligned(&self, op: Op) -> bool {
        let address = self.registers[usize::from(op.rs1 & 63)];
        let mask = match op.kind {
            Kind::Lh | Kind::Lhu | Kind::Sh => 1,
            Kind::Lw | Kind::Sw | Kind::Lr | Kind::Sc => 3,
            kind if is_amo(kind) => 3,
            _ => 0,
        };
        let offset = if op.kind >= Kind::Lr { 0 } else { op.imm };
        address.wrapping_add(offset as u32) & mask != 0
    }

    /// Whether the instruction, or its current step, requests an access.
    fn requests(&self, op: Op) -> bool {
        match op.kind {
            Kind::Sc if !self.reserved => false,
            kind if is_amo(kind) => true,
            kind if kind >= Kind::Lb && kind <= Kind::Sc => !self.is_misaligned(op),
            Kind::Push | Kind::Pop | Kind::PopRet | Kind::PopRetZ => {
                self.step < op.rs1 && self.registers[SP].is_multiple_of(4)
            }
            _ => false,
        }
    }

    /// The instruction that a trap flushes from the execution stage, at an address. The core counts
    /// it as retired, unless it would have stalled or trapped itself.
    fn flush(&mut self, pc: u32) {
        let at = std::mem::replace(&mut self.pc, pc);
        let op = self.fetch();
        self.pc = at;
        let Ok(op) = op else { return };
        let divides = op.kind >= Kind::Div && op.kind <= Kind::Remu && self.divided_at > self.now;
        let is_last = match op.kind {
            Kind::MvSa | Kind::MvAs => self.step == 1,
            Kind::Push => self.step == op.rs1,
            kind => kind < Kind::Push,
        };
        if self.prefetch.level() >= op.size
            && op.kind != Kind::Illegal
            && is_last
            && !self.is_misaligned(op)
            && !divides
        {
            self.flushed += 1;
        }
    }

    /// Enter a trap in this cycle.
    fn trap(&mut self, cause: u32, pc: u32) {
        let handler = self.csrs.enter(cause, pc);
        self.is_protected = self.csrs.is_protected();
        self.abandon();
        self.reserved = false;
        self.observer.call(pc, self.registers[SP], true);
        self.prefetch.forget();
        self.prefetch.jump(handler, 0);
        self.pc = handler;
        self.now += 1;
        self.check = 0;
    }

    fn return_from_trap(&mut self) {
        let target = self.csrs.leave();
        self.is_protected = self.csrs.is_protected();
        self.abandon();
        self.reserved = false;
        self.handled = None;
        self.observer.returned(target, true);
        self.prefetch.forget();
        self.prefetch.jump(target, 0);
        self.pc = target;
        self.now += 1;
        self.check = 0;
    }

    fn is_error(&self, cause: u32) -> bool {
        cause < ECALL && (self.stop_on_fault && cause != BREAKPOINT || self.csrs.mtvec == 0)
    }

    /// Set a register.
    #[inline]
    fn set(&mut self, rd: u8, value: u32) -> Done {
        if usize::from(rd) == SP {
            self.move_stack(value)?;
        }
        self.registers[usize::from(rd & 63)] = value;
        Ok(())
    }

    pub(crate) fn move_stack(&mut self, sp: u32) -> Done {
        if !self.observer.moves_stack(self.registers[SP], sp) {
            let limit = self.observer.stack_limit;
            let message = format!("the stack grows into data: it may use {limit:#010x} and up");
            return Err(Box::new(
                Fault::new(FaultKind::StackOverflow, message).at(sp),
            ));
        }
        Ok(())
    }

    #[inline]
    fn execute<const WATCHED: bool>(
        &mut self,
        op: Op,
        next: u32,
        predicted: u8,
    ) -> Result<Outcome, Box<Fault>> {
        // An atomic operation can be given up, and looks when it is done.
        if WATCHED && !is_amo(op.kind) {
            self.follow(|secrets, before| secrets.before(before, op));
        }
        let a = self.registers[usize::from(op.rs1 & 63)];
        let b = self.registers[usize::from(op.rs2 & 63)].wrapping_add(op.imm as u32);
        match op.kind {
            Kind::Undecoded | Kind::Illegal => return Ok(Outcome::Trap(ILLEGAL)),
            Kind::Auipc => self.set(op.rd, self.pc.wrapping_add(op.imm as u32))?,
            Kind::Bextm => {
                let mask = (2 << (op.imm >> 5)) - 1;
                self.set(op.rd, a.wrapping_shr(b) & mask)?;
            }
            Kind::Lb | Kind::Lh | Kind::Lw | Kind::Lbu | Kind::Lhu => {
                let width = match op.kind {
                    Kind::Lb | Kind::Lbu => Width::Byte,
                    Kind::Lh | Kind::Lhu => Width::Half,
                    _ => Width::Word,
                };
                let address = a.wrapping_add(op.imm as u32);
                if address & (width.bytes() - 1) != 0 {
                    return Ok(Outcome::Trap(LOAD_MISALIGNED));
                }
                if !self.lets_access(address, For::Reading) {
                    return Ok(Outcome::Trap(LOAD_FAULT));
                }
                let value = self.load_data::<WATCHED>(address, width)?;
                let value = match op.kind {
                    Kind::Lb => value as i8 as u32,
                    Kind::Lh => value as i16 as u32,
                    _ => value,
                };
                self.loads = op.rd;
                self.set(op.rd, value)?;
            }
            Kind::Sb | Kind::Sh | Kind::Sw => {
                let width = match op.kind {
                    Kind::Sb => Width::Byte,
                    Kind::Sh => Width::Half,
                    _ => Width::Word,
                };
                let address = a.wrapping_add(op.imm as u32);
                if address & (width.bytes() - 1) != 0 {
                    return Ok(Outcome::Trap(STORE_MISALIGNED));
                }
                if !self.lets_access(address, For::Writing) {
                    return Ok(Outcome::Trap(STORE_FAULT));
                }
                let value = self.registers[usize::from(op.rs2 & 63)];
                self.store_data::<WATCHED>(address, value, width)?;
            }
            Kind::Lr | Kind::Sc => return self.exclusive::<WATCHED>(op, a),
            Kind::AmoSwap
            | Kind::AmoAdd
            | Kind::AmoXor
            | Kind::AmoAnd
            | Kind::AmoOr
            | Kind::AmoMin
            | Kind::AmoMax
            | Kind::AmoMinu
            | Kind::AmoMaxu => return self.amo::<WATCHED>(op, a),
            Kind::Jal | Kind::Jalr => {
                let target = if op.kind == Kind::Jal {
                    self.pc.wrapping_add(op.imm as u32)
                } else {
                    a.wrapping_add(op.imm as u32) & !1
                };
                self.set(op.rd, next)?;
                if op.rd == RA {
                    self.observer.call(next, self.registers[SP], false);
                } else if op.kind == Kind::Jalr && op.rs1 == RA {
                    self.observer.returned(target, false);
                }
                return Ok(Outcome::Jump(target));
            }
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                let target = self.pc.wrapping_add(op.imm as u32);
                if self.has_jumped {
                    let taken = is_taken(op.kind, a, self.registers[usize::from(op.rs2 & 63)]);
                    return Ok(Outcome::Jump(if taken { target } else { next }));
                }
                if let Some(target) = self.jump_target(op, next, predicted != 0) {
                    return Ok(Outcome::Jump(target));
                }
            }
            Kind::Csrrw
            | Kind::Csrrs
            | Kind::Csrrc
            | Kind::Csrrwi
            | Kind::Csrrsi
            | Kind::Csrrci => return self.csr(op),
            Kind::FenceI => {
                if !self.has_jumped {
                    self.prefetch.forget();
                }
                return Ok(Outcome::Jump(next));
            }
            Kind::Fence | Kind::Unblock => {}
            Kind::Ecall => {
                let from_machine = 3 * u32::from(self.csrs.is_machine);
                return Ok(Outcome::Trap(ECALL + from_machine));
            }
            Kind::Ebreak => return Ok(Outcome::Trap(BREAKPOINT)),
            Kind::Mret if !self.csrs.is_machine => return Ok(Outcome::Trap(ILLEGAL)),
            Kind::Mret => return Ok(Outcome::Return),
            Kind::Wfi | Kind::Block if self.csrs.traps_wfi() => return Ok(Outcome::Trap(ILLEGAL)),
            Kind::Wfi | Kind::Block => {
                self.asleep = true;
                self.slept_since = self.now + 1;
                self.bus.sleep(true, Cycles(self.now + 1));
            }
            _ => self.set(op.rd, compute(op.kind, a, b))?,
        }
        Ok(Outcome::Next)
    }

    /// The memory stage is taken by an access with these wait states from the next cycle on.
    #[inline]
    fn accesses(&mut self, waits: u8) -> Cycles {
        self.access_until = self.now + 1 + u64::from(waits);
        self.loads = 0;
        self.is_exclusive = false;
        self.is_in_flight = true;
        Cycles(self.access_until)
    }

    /// Wait states of a load from memory.
    #[inline]
    fn waits_for_load(&mut self, number: usize, address: u32) -> u8 {
        match &mut self.reader {
            Some(reader) if number == self.late => reader.load(address, self.now) as u8,
            _ => 0,
        }
    }

    /// Wait for the lines of the instruction at the program counter. How far the core fetches ahead
    /// and what it executes meanwhile is left out.
    fn wait_for_lines(&mut self, op: Op) {
        if let Some(reader) = &mut self.reader {
            self.now += reader.fetch(self.pc, self.now);
            if op.size == 2 {
                self.now += reader.fetch(self.pc.wrapping_add(2), self.now);
            }
        }
    }

    #[inline]
    fn load_data<const WATCHED: bool>(
        &mut self,
        address: u32,
        width: Width,
    ) -> Result<u32, Box<Fault>> {
        if WATCHED && self.observer.digesting {
            self.observer.touch(address);
        }
        for (number, memory) in self.memories.iter().enumerate() {
            if let Some(at) = memory.offset(address, width.bytes()) {
                let value = memory.read(at, width);
                let waits = self.waits_for_load(number, address);
                self.accesses(waits);
                return Ok(value);
            }
        }
        let waits = self.bus.waits(address, false);
        let at = self.accesses(waits);
        let value = self.bus.read(address, width, at).map_err(Box::new)?;
        self.touched(at);
        Ok(value)
    }

    #[inline]
    fn store_data<const WATCHED: bool>(&mut self, address: u32, value: u32, width: Width) -> Done {
        if WATCHED && self.observer.digesting {
            self.observer.touch(address);
        }
        for memory in &mut self.memories {
            if let Some(at) = memory.offset(address, width.bytes()) {
                if !memory.is_ram() {
                    let message = "a store to memory that cannot be written so";
                    return Err(Box::new(
                        Fault::new(FaultKind::FlashWrite, message).at(address),
                    ));
                }
                memory.write(at, value, width);
                self.accesses(0);
                return Ok(());
            }
        }
        let waits = self.bus.waits(address, true);
        let at = self.accesses(waits);
        self.bus
            .write(address, value, width, at)
            .map_err(Box::new)?;
        self.touched(at);
        Ok(())
    }

    /// A register was accessed in a cycle: its effects show in the next one.
    fn touched(&mut self, at: Cycles) {
        self.note_lines(at.0 + 2);
        self.check = 0;
    }

    /// The word at an address that can be accessed exclusively.
    fn exclusive_word(&mut self, address: u32) -> Result<(usize, usize), Box<Fault>> {
        let mut memories = self.memories.iter().enumerate();
        let found = memories.find_map(|(number, memory)| {
            let at = memory.offset(address, 4).filter(|_| memory.is_ram())?;
            Some((number, at))
        });
        found.ok_or_else(|| {
            let message = "an atomic access to what is no RAM";
            Box::new(Fault::new(FaultKind::Absent, message).at(address))
        })
    }

    fn exclusive<const WATCHED: bool>(
        &mut self,
        op: Op,
        address: u32,
    ) -> Result<Outcome, Box<Fault>> {
        let is_load = op.kind == Kind::Lr;
        if address & 3 != 0 {
            let cause = if is_load {
                LOAD_MISALIGNED
            } else {
                STORE_MISALIGNED
            };
            return Ok(Outcome::Trap(cause));
        }
        if is_load && !self.lets_access(address, For::Reading) {
            return Ok(Outcome::Trap(LOAD_FAULT));
        }
        if !is_load && self.reserved && !self.lets_access(address, For::Writing) {
            return Ok(Outcome::Trap(STORE_FAULT));
        }
        if WATCHED && self.observer.digesting {
            self.observer.touch(address);
        }
        let (number, at) = self.exclusive_word(address)?;
        let memory = &mut self.memories[number];
        let value = if is_load {
            memory.read(at, Width::Word)
        } else {
            if self.reserved {
                memory.write(at, self.registers[usize::from(op.rs2)], Width::Word);
            }
            u32::from(!self.reserved)
        };
        self.reserved = is_load;
        self.accesses(0);
        (self.loads, self.is_exclusive) = (op.rd, true);
        self.set(op.rd, value)?;
        Ok(Outcome::Next)
    }

    /// An atomic operation reads and writes, for two cycles each, and can be interrupted between.
    fn amo<const WATCHED: bool>(&mut self, op: Op, address: u32) -> Result<Outcome, Box<Fault>> {
        if address & 3 != 0 {
            self.undisturbed = self.now + 1;
            self.idle();
            return Ok(Outcome::Trap(STORE_MISALIGNED));
        }
        if !self.lets_access(address, For::Reading) || !self.lets_access(address, For::Writing) {
            self.undisturbed = self.now + 1;
            self.idle();
            return Ok(Outcome::Trap(STORE_FAULT));
        }
        let (number, at) = self.exclusive_word(address)?;
        let value = self.memories[number].read(at, Width::Word);
        for phase in 1..4 {
            self.idle();
            self.amo_phase = phase;
            if self.now >= self.check {
                self.ask()?;
                if phase == 2 && self.csrs.interrupt().is_some() {
                    // It starts again when the handler returns.
                    self.amo_phase = 0;
                    return Ok(Outcome::Abandoned);
                }
            }
        }
        self.amo_phase = 0;
        self.reserved = false;
        if WATCHED {
            self.follow(|secrets, before| secrets.before(before, op));
            if self.observer.digesting {
                self.observer.touch(address);
            }
        }
        let operand = self.registers[usize::from(op.rs2)];
        self.memories[number].write(at, atomic(op.kind, value, operand), Width::Word);
        self.set(op.rd, value)?;
        Ok(Outcome::Next)
    }

    fn csr(&mut self, op: Op) -> Result<Outcome, Box<Fault>> {
        let is_immediate = op.kind >= Kind::Csrrwi;
        let operand = if is_immediate {
            u32::from(op.rs1)
        } else {
            self.registers[usize::from(op.rs1)]
        };
        let change = match op.kind {
            Kind::Csrrw | Kind::Csrrwi => Change::Write,
            Kind::Csrrs | Kind::Csrrsi => Change::Set,
            _ => Change::Clear,
        };
        let access = Access {
            number: op.imm as u32,
            operand,
            change,
            reads: change != Change::Write || op.rd != SINK,
            writes: change == Change::Write || op.rs1 != 0,
            now: self.now,
            retired: self.instructions + self.flushed,
        };
        match self.csrs.access(&access) {
            Ok(value) => {
                self.set(op.rd, value)?;
                self.check = 0;
                self.is_protected = self.csrs.is_protected();
                Ok(Outcome::Next)
            }
            Err(Refusal::Illegal) => Ok(Outcome::Trap(ILLEGAL)),
            Err(Refusal::Fault(fault)) => Err(Box::new(fault)),
        }
    }

    /// Whether a step of a sequence needs what the memory stage does not have yet.
    fn sequence_is_behind(&self, op: Op) -> bool {
        let (count, step) = (op.rs1, self.step);
        let needed = match op.kind {
            Kind::MvSa => A0 + step,
            Kind::MvAs if step == 0 => op.rs1,
            Kind::MvAs => op.rs2,
            Kind::PopRetZ if step == count => return false,
            Kind::PopRet if step == count => RA,
            Kind::PopRetZ if step == count + 1 => RA,
            _ => SP as u8,
        };
        self.loads == needed
    }

    /// A step of a push, a pop or a double move.
    fn sequence<const WATCHED: bool>(&mut self, op: Op, next: u32) -> Done {
        let step = self.step;
        if WATCHED {
            self.follow(|secrets, before| secrets.sequence(before, op, step));
        }
        self.step += 1;
        if matches!(op.kind, Kind::MvSa | Kind::MvAs) {
            let (rd, rs) = match (op.kind, step) {
                (Kind::MvSa, 0) => (op.rs1, A0),
                (Kind::MvSa, _) => (op.rs2, A1),
                (_, 0) => (A0, op.rs1),
                _ => (A1, op.rs2),
            };
            self.set(rd, self.registers[usize::from(rs)])?;
            if step == 0 {
                self.idle();
            } else {
                self.end_sequence::<WATCHED>(op, next);
            }
            return Ok(());
        }
        let (count, sp) = (op.rs1, self.registers[SP]);
        let below = 4 * u32::from(count - step.min(count));
        if step < count {
            let register = saved(step);
            let address = if op.kind == Kind::Push {
                sp.wrapping_sub(below)
            } else {
                sp.wrapping_add(op.imm as u32).wrapping_sub(below)
            };
            let (purpose, misaligned, refused) = if op.kind == Kind::Push {
                (For::Writing, STORE_MISALIGNED, STORE_FAULT)
            } else {
                (For::Reading, LOAD_MISALIGNED, LOAD_FAULT)
            };
            if address & 3 != 0 || !self.lets_access(address, purpose) {
                self.step = 0;
                self.prefetch.tick(0);
                self.now += 1;
                let cause = if address & 3 != 0 {
                    misaligned
                } else {
                    refused
                };
                if self.is_error(cause) {
                    return Err(error(cause));
                }
                self.handled = Some(*error(cause));
                self.trap(cause, self.pc);
                return Ok(());
            }
            if op.kind == Kind::Push {
                let value = self.registers[usize::from(register)];
                self.store_data::<WATCHED>(address, value, Width::Word)?;
            } else {
                let value = self.load_data::<WATCHED>(address, Width::Word)?;
                self.loads = register;
                self.set(register, value)?;
            }
            self.idle();
            return Ok(());
        }
        let jump = count + u8::from(op.kind == Kind::PopRetZ);
        if matches!(op.kind, Kind::PopRet | Kind::PopRetZ) && step <= jump {
            if step < jump {
                self.set(A0, 0)?;
                self.idle();
            } else {
                // The jump goes ahead of the last step, which keeps the instruction.
                let target = self.registers[usize::from(RA)] & !1;
                self.prefetch.jump(target, op.size);
                self.now += 1;
            }
            return Ok(());
        }
        let adjustment = op.imm as u32;
        let sp = if op.kind == Kind::Push {
            sp.wrapping_sub(adjustment)
        } else {
            sp.wrapping_add(adjustment)
        };
        self.set(SP as u8, sp)?;
        let next = if step > count {
            let target = self.registers[usize::from(RA)] & !1;
            self.observer.returned(target, false);
            target
        } else {
            next
        };
        self.end_sequence::<WATCHED>(op, next);
        Ok(())
    }

    fn end_sequence<const WATCHED: bool>(&mut self, op: Op, next: u32) {
        self.prefetch.tick(op.size);
        self.step = 0;
        self.pc = next;
        self.now += 1;
        self.instructions += 1;
        if WATCHED {
            self.finished::<true>();
        }
    }
}

/// The error that is an exception.
#[allow(clippy::unnecessary_box_returns)] // as all faults are here
fn error(cause: u32) -> Box<Fault> {
    let (kind, message) = match cause {
        ILLEGAL => (FaultKind::InvalidOpcode, "no instruction of this core"),
        BREAKPOINT => (FaultKind::InvalidOpcode, "EBREAK, which nothing handles"),
        FETCH_FAULT => (
            FaultKind::ExecuteData,
            "memory protection forbids executing this",
        ),
        LOAD_FAULT => (FaultKind::Unmapped, "memory protection forbids a load"),
        STORE_FAULT => (FaultKind::Unmapped, "memory protection forbids a store"),
        LOAD_MISALIGNED => (FaultKind::Misaligned, "a load from a misaligned address"),
        _ => (FaultKind::Misaligned, "a store to a misaligned address"),
    };
    Box::new(Fault::new(kind, message))
}

fn is_amo(kind: Kind) -> bool {
    kind >= Kind::AmoSwap && kind <= Kind::AmoMaxu
}
