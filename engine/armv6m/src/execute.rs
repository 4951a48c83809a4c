//! Execution.

use joulemark_armv7m::{Bus, Width};
use joulemark_kernel::{Cycles, Fault, FaultKind};

use crate::core::{Core, Exit, LR, Limits, NPRIV, PC, SP, SPSEL};
use crate::decode::{Kind, Op};
use crate::flags::Flags;
use crate::system::Request;

/// Why an instruction did not complete.
#[derive(Debug)]
pub enum Trap {
    /// A hard fault.
    Fault(Box<Fault>),
    SupervisorCall,
    /// The run ends with this.
    Stop(Box<Fault>),
    Exit(Exit),
}

impl Trap {
    pub fn fault(self) -> Fault {
        match self {
            Self::Fault(fault) | Self::Stop(fault) => *fault,
            Self::SupervisorCall | Self::Exit(_) => Fault::new(FaultKind::Lockup, "no access"),
        }
    }
}

/// Cycles of a load or a store of memory without wait states (ARM DDI 0484C, table 3-1).
pub const ACCESS: u64 = 2;

/// What is behind addresses of the private peripheral bus (ARM DDI 0419E, B3.1).
const PRIVATE: std::ops::Range<u32> = 0xe000_0000..0xe010_0000;

impl<B: Bus> Core<B> {
    /// Run until a limit, a breakpoint, a fault, or what the bus asks for.
    pub fn run(&mut self, limits: Limits) -> Exit {
        let until = limits.until.map_or(u64::MAX, |cycles| cycles.0);
        let mut leave = limits.step_first;
        self.check = 0;
        loop {
            match self.go_on(until, &mut leave) {
                Ok(()) => {}
                Err(exit) => return exit,
            }
        }
    }

    /// Run until something is due.
    fn go_on(&mut self, until: u64, leave: &mut bool) -> Result<(), Exit> {
        if let Some(for_event) = self.asleep {
            self.sleep_on(for_event, until)?;
        }
        if self.now >= until && !*leave {
            return Err(Exit::Cycles);
        }
        if self.now >= self.check {
            let first = self.pc;
            self.ask()?;
            // A handler has been entered before the first instruction.
            *leave &= self.pc == first;
            if self.bus.take_stop() {
                return Err(Exit::Stopped);
            }
            if self.now >= until && !*leave {
                return Err(Exit::Cycles);
            }
        }
        let limit = if *leave { self.now + 1 } else { until };
        let digesting = self.observer.digesting;
        let followed = self.observer.watching || self.secrets.is_some();
        let watched = followed || digesting;
        let pc = self.pc;
        let reader = self.reader.as_ref().filter(|reader| reader.is_slow());
        let late = reader.is_some_and(|reader| followed || *leave || reader.has(pc));
        let done = match (watched, late) {
            (_, false) if !followed && !*leave && digesting => self.run_plainly::<true>(limit),
            (_, false) if !followed && !*leave => self.run_plainly::<false>(limit),
            (false, false) => self.execute::<false, false>(limit, *leave),
            (false, true) => self.execute::<false, true>(limit, *leave),
            (true, false) => self.execute::<true, false>(limit, *leave),
            (true, true) => self.execute::<true, true>(limit, *leave),
        };
        *leave = false;
        match done {
            Ok(()) => Ok(()),
            Err(trap) => self.trapped(trap),
        }
    }

    /// Set the stack pointer.
    #[inline]
    pub(crate) fn move_sp(&mut self, value: u32) -> Result<(), Trap> {
        let value = value & !3;
        if !self.observer.moves_stack(self.r[SP], value) {
            let limit = self.observer.stack_limit;
            let what = format!("the stack grew to {value:#010x}, below its limit {limit:#010x}");
            return Err(Trap::Stop(Box::new(
                Fault::new(FaultKind::StackOverflow, what).at(value),
            )));
        }
        self.r[SP] = value;
        Ok(())
    }

    /// Load from memory or a register of the chip, so many cycles after `now`. Also return the cycles
    /// that it takes; the data comes in the last.
    #[inline]
    pub(crate) fn load<const LATE: bool>(
        &mut self,
        address: u32,
        width: Width,
        after: u64,
    ) -> Result<(u32, u64), Trap> {
        if address & (width.bytes() - 1) == 0 {
            for memory in &self.memories {
                if let Some(at) = memory.offset(address, width.bytes()) {
                    let mut cycles = ACCESS;
                    if LATE && let Some(reader) = &mut self.reader {
                        cycles += reader.load(address, self.now + after);
                    }
                    return Ok((memory.read(at, width), cycles));
                }
            }
        }
        self.load_elsewhere(address, width, after)
    }

    pub(crate) fn load_word(&mut self, address: u32) -> Result<u32, Trap> {
        let (word, cycles) = self.load::<true>(address, Width::Word, 0)?;
        // Without wait states, the time is in that of the exception.
        self.now += cycles.saturating_sub(ACCESS);
        Ok(word)
    }

    #[inline]
    fn store(&mut self, address: u32, value: u32, width: Width, after: u64) -> Result<u64, Trap> {
        if address & (width.bytes() - 1) == 0 {
            for memory in &mut self.memories {
                if let Some(at) = memory.offset(address, width.bytes())
                    && memory.is_ram()
                {
                    memory.write(at, value, width);
                    return Ok(ACCESS);
                }
            }
        }
        self.store_elsewhere(address, value, width, after)
    }

    pub(crate) fn store_word(&mut self, address: u32, value: u32) -> Result<(), Trap> {
        self.store(address, value, Width::Word, 0).map(drop)
    }

    /// The cycles of an access to a register.
    fn access_cycles(&self, address: u32, is_store: bool) -> u64 {
        if self.config.io_port.contains(&address) {
            return 1;
        }
        let mut waits = self.config.waits.iter();
        let found = waits.find(|wait| wait.range.contains(&address));
        ACCESS + found.map_or(0, |wait| wait.states[usize::from(is_store)].into())
    }

    fn misaligned(address: u32, width: Width) -> Result<(), Trap> {
        if address & (width.bytes() - 1) == 0 {
            return Ok(());
        }
        let what = format!("an access to {} bytes is not aligned", width.bytes());
        Err(Trap::Fault(Box::new(
            Fault::new(FaultKind::Misaligned, what).at(address),
        )))
    }

    #[cold]
    fn load_elsewhere(
        &mut self,
        address: u32,
        width: Width,
        after: u64,
    ) -> Result<(u32, u64), Trap> {
        Self::misaligned(address, width)?;
        if PRIVATE.contains(&address) {
            self.check_private(address, width)?;
            self.check = 0;
            let at = self.now + after + ACCESS - 1;
            let value = self.system.read(address, at, self.ipsr);
            return value
                .map(|value| (value, ACCESS))
                .ok_or_else(|| left_out(address));
        }
        let cycles = self.access_cycles(address, false);
        self.check = 0;
        let at = Cycles(self.now + after + cycles - 1);
        let value = self.bus.read(address, width, at).map_err(refused)?;
        Ok((value, cycles))
    }

    #[cold]
    fn store_elsewhere(
        &mut self,
        address: u32,
        value: u32,
        width: Width,
        after: u64,
    ) -> Result<u64, Trap> {
        Self::misaligned(address, width)?;
        self.check = 0;
        if PRIVATE.contains(&address) {
            self.check_private(address, width)?;
            let at = self.now + after + ACCESS - 1;
            let done = self.system.write(address, value, at);
            let request = done.map_err(|fault| Trap::Stop(Box::new(fault)))?;
            return match request.ok_or_else(|| left_out(address))? {
                Request::Recheck => Ok(ACCESS),
                Request::Reset => {
                    let asked = self.bus.reset_requested(Cycles(self.now));
                    asked.map_err(|fault| Trap::Stop(Box::new(fault)))?;
                    Ok(ACCESS)
                }
            };
        }
        if self
            .memories
            .iter()
            .any(|memory| memory.offset(address, 1).is_some())
        {
            let fault = Fault::new(FaultKind::Unmapped, "a store to memory that is only read");
            return Err(Trap::Fault(Box::new(fault.at(address))));
        }
        let cycles = self.access_cycles(address, true);
        let at = Cycles(self.now + after + cycles - 1);
        self.bus.write(address, value, width, at).map_err(refused)?;
        self.take_line_settings();
        Ok(cycles)
    }

    /// Registers of the core: privileged, and in words (B3.1.1).
    fn check_private(&self, address: u32, width: Width) -> Result<(), Trap> {
        if self.is_unprivileged() {
            let what = "unprivileged code accesses a register of the core";
            let fault = Fault::new(FaultKind::Unmapped, what).at(address);
            return Err(Trap::Fault(Box::new(fault)));
        }
        if width != Width::Word {
            let what = "the core's registers are accessed in words";
            let fault = Fault::new(FaultKind::Peripheral, what).at(address);
            return Err(Trap::Stop(Box::new(fault)));
        }
        Ok(())
    }

    fn is_unprivileged(&self) -> bool {
        self.ipsr == 0 && self.control & NPRIV != 0
    }

    /// Find the instruction at the program counter, which has not been decoded.
    #[cold]
    pub(crate) fn decode(&mut self, number: usize, leave: bool) -> Result<Op, Trap> {
        let memory = &mut self.memories[number];
        let at = (self.pc - memory.start) as usize;
        let Some(op) = memory.decode(at) else {
            return Err(no_code());
        };
        if self.breakpoints.contains(&self.pc) {
            if !leave {
                return Err(Trap::Exit(Exit::Breakpoint(self.pc)));
            }
        } else {
            memory.keep(at, op);
        }
        Ok(op)
    }

    /// Execute until a limit or until something is due; `leave`: one instruction, even if a breakpoint
    /// is there.
    fn execute<const WATCHED: bool, const LATE: bool>(
        &mut self,
        limit: u64,
        leave: bool,
    ) -> Result<(), Trap> {
        let followed = self.observer.watching || self.secrets.is_some();
        let mut code = usize::MAX;
        let mut start = 0;
        while self.now < limit && (self.now < self.check || leave) {
            if !self.thumb {
                return Err(no_thumb());
            }
            let offset = self.pc.wrapping_sub(start) as usize / 2;
            let found = self
                .memories
                .get(code)
                .and_then(|memory| memory.ops.get(offset));
            let op = if let Some(&op) = found {
                op
            } else {
                let mut memories = self.memories.iter();
                let place = memories.position(|memory| memory.offset(self.pc, 2).is_some());
                code = place.ok_or_else(no_code)?;
                self.memories[code].prepare();
                start = self.memories[code].start;
                self.memories[code].ops[(self.pc - start) as usize / 2]
            };
            let op = if op.kind <= Kind::Breakpoint {
                self.decode(code, leave)?
            } else {
                op
            };
            if WATCHED {
                if self.observer.digesting {
                    self.observer.touch(self.pc);
                }
                // LDM and others like it may have to make way first.
                if !op.is_multiple() {
                    self.follow(|secrets, before| secrets.before(before, op));
                }
            }
            if LATE && let Some(reader) = &mut self.reader {
                self.now += reader.fetch(self.pc, self.now);
                if op.size == 4 {
                    self.now += reader.fetch(self.pc + 2, self.now);
                }
            }
            self.one::<WATCHED, LATE>(op)?;
            self.instructions += 1;
            if WATCHED
                && self.observer.watching
                && (!self.observer.range.contains(&self.pc)
                    || self.observer.depth() != self.observer.reported_depth)
            {
                self.report();
            }
            // Code of other memory is run plainly.
            let pc = self.pc;
            if leave
                || LATE && !followed && !self.reader.as_ref().is_some_and(|reader| reader.has(pc))
            {
                break;
            }
        }
        Ok(())
    }

    /// Execute an instruction.
    #[inline]
    pub(crate) fn one<const WATCHED: bool, const LATE: bool>(
        &mut self,
        op: Op,
    ) -> Result<(), Trap> {
        let rd = usize::from(op.rd & 15);
        let a = self.r[usize::from(op.rn & 31)];
        let b = self.r[usize::from(op.rm & 31)].wrapping_add(op.imm);
        let next = self.pc.wrapping_add(op.size.into());
        let mut cycles = u64::from(op.cycles);
        match op.kind {
            Kind::Undecoded | Kind::Breakpoint | Kind::Udf => {
                let what = "an instruction that this core does not define";
                return Err(Trap::Fault(Box::new(Fault::new(
                    FaultKind::InvalidOpcode,
                    what,
                ))));
            }
            kind if kind.computes() => {
                if kind == Kind::Mul {
                    cycles = self.config.multiply_cycles.into();
                }
                self.r[rd] = self.flags.compute(kind, self.r[rd], a, b);
            }
            Kind::AddAny | Kind::MovAny => {
                let value = if op.kind == Kind::AddAny {
                    let a = if op.rn == 15 {
                        self.pc.wrapping_add(4)
                    } else {
                        a
                    };
                    a.wrapping_add(b)
                } else {
                    b
                };
                match rd {
                    PC => {
                        self.now += cycles;
                        self.pc = value & !1;
                        return Ok(());
                    }
                    SP => self.move_sp(value)?,
                    _ => self.r[rd] = value,
                }
            }
            Kind::Nop | Kind::Barrier => {}
            Kind::Ldr | Kind::Ldrh | Kind::Ldrb | Kind::Ldrsh | Kind::Ldrsb => {
                let address = a.wrapping_add(b);
                self.touched::<WATCHED>(address);
                let width = match op.kind {
                    Kind::Ldr => Width::Word,
                    Kind::Ldrh | Kind::Ldrsh => Width::Half,
                    _ => Width::Byte,
                };
                let value;
                (value, cycles) = self.load::<LATE>(address, width, 0)?;
                self.r[rd] = match op.kind {
                    Kind::Ldrsh => value as i16 as u32,
                    Kind::Ldrsb => value as i8 as u32,
                    _ => value,
                };
            }
            Kind::Str | Kind::Strh | Kind::Strb => {
                let address = a.wrapping_add(b);
                self.touched::<WATCHED>(address);
                let width = match op.kind {
                    Kind::Str => Width::Word,
                    Kind::Strh => Width::Half,
                    _ => Width::Byte,
                };
                cycles = self.store(address, self.r[rd], width, 0)?;
            }
            Kind::BranchIf => {
                if self.flags.hold(op.rd) {
                    self.now += cycles;
                    self.pc = op.imm;
                    return Ok(());
                }
                cycles = 1;
            }
            Kind::Branch => {
                self.now += cycles;
                self.pc = op.imm;
                return Ok(());
            }
            Kind::BranchLink => {
                self.now += cycles;
                self.r[LR] = next | 1;
                self.observer.call(next, self.r[SP], false);
                self.pc = op.imm;
                return Ok(());
            }
            Kind::Bx | Kind::Blx => return self.jump(op, b, next),
            Kind::Ldm | Kind::Stm | Kind::Push | Kind::Pop => {
                return self.multiple::<WATCHED, LATE>(op, next);
            }
            _ => return self.special(op, next),
        }
        self.now += cycles;
        self.pc = next;
        Ok(())
    }

    #[inline]
    fn touched<const WATCHED: bool>(&mut self, address: u32) {
        if WATCHED && self.observer.digesting {
            self.observer.touch(address);
        }
    }

    fn jump(&mut self, op: Op, target: u32, next: u32) -> Result<(), Trap> {
        let cycles = u64::from(op.cycles);
        if op.kind == Kind::Blx {
            self.r[LR] = next | 1;
            self.observer.call(next, self.r[SP], false);
        } else if self.is_exception_return(target) {
            return self.exception_return(target, cycles);
        } else if usize::from(op.rm) == LR {
            self.observer.returned(target & !1, false);
        }
        self.now += cycles;
        self.thumb = target & 1 != 0;
        self.pc = target & !1;
        Ok(())
    }

    /// LDM, STM, PUSH and POP, which make way for an exception that comes meanwhile (ARM DDI 0484C,
    /// 3.6.1).
    fn multiple<const WATCHED: bool, const LATE: bool>(
        &mut self,
        op: Op,
        next: u32,
    ) -> Result<(), Trap> {
        let count = op.imm.count_ones();
        let mut cycles = u64::from(op.cycles) + u64::from(count);
        let begun = self.now;
        if begun + cycles > self.check {
            self.now = self.check.min(begun + cycles - 1).max(begun);
            self.advance().map_err(Trap::Exit)?;
            if self.was_noticed() {
                // The instructions counted do not include one that was given up.
                self.instructions = self.instructions.wrapping_sub(1);
                self.check = 0;
                return Ok(());
            }
            self.now = begun;
            self.check = 0;
        }
        if WATCHED {
            self.follow(|secrets, before| secrets.before(before, op));
        }
        let base = match op.kind {
            Kind::Push | Kind::Pop => self.r[SP],
            _ => self.r[usize::from(op.rn & 15)],
        };
        let first = if op.kind == Kind::Push {
            base.wrapping_sub(4 * count)
        } else {
            base
        };
        let end = first.wrapping_add(4 * count);
        let is_load = matches!(op.kind, Kind::Ldm | Kind::Pop);
        let mut address = first;
        let mut target = None;
        let mut loaded = self.r;
        let mut passed = 0;
        for number in crate::system::bits(op.imm.into()) {
            self.touched::<WATCHED>(address);
            let taken = if is_load {
                let (value, taken) = self.load::<LATE>(address, Width::Word, passed)?;
                if number == PC {
                    target = Some(value);
                } else {
                    loaded[number] = value;
                }
                taken
            } else {
                self.store(address, self.r[number], Width::Word, passed)?
            };
            // The next one's address is on the bus in the cycle of this one's data. Through the I/O
            // port, which the table does not list: the same.
            passed += (taken - 1).max(1);
            address = address.wrapping_add(4);
        }
        cycles += passed - u64::from(count);
        if is_load {
            self.r = loaded;
        }
        match op.kind {
            Kind::Push => self.move_sp(first)?,
            Kind::Pop => self.move_sp(end)?,
            Kind::Ldm if op.imm >> op.rn & 1 != 0 => {}
            _ => self.r[usize::from(op.rn & 15)] = end,
        }
        let Some(target) = target else {
            self.now += cycles;
            self.pc = next;
            return Ok(());
        };
        if self.is_exception_return(target) {
            return self.exception_return(target, cycles);
        }
        self.now += cycles;
        self.observer.returned(target & !1, false);
        self.thumb = target & 1 != 0;
        self.pc = target & !1;
        Ok(())
    }

    fn was_noticed(&self) -> bool {
        self.noticed.is_some()
    }

    /// Instructions of the system.
    #[cold]
    fn special(&mut self, op: Op, next: u32) -> Result<(), Trap> {
        match op.kind {
            Kind::Svc => return Err(Trap::SupervisorCall),
            Kind::Bkpt => {
                let what = "BKPT, and no debugger is attached";
                return Err(Trap::Fault(Box::new(Fault::new(
                    FaultKind::InvalidOpcode,
                    what,
                ))));
            }
            Kind::Cps if !self.is_unprivileged() => self.primask = op.imm != 0,
            Kind::Mrs => self.r[usize::from(op.rd)] = self.special_register(op.imm),
            Kind::Msr => self.set_special_register(op.imm, self.r[usize::from(op.rn)])?,
            Kind::Sev => self.event = true,
            _ => {}
        }
        self.now += u64::from(op.cycles);
        self.pc = next;
        self.check = 0;
        match op.kind {
            Kind::Wfi => self.wait(false),
            Kind::Wfe => self.wait(true),
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn switch_stack(&mut self) {
        std::mem::swap(&mut self.r[SP], &mut self.other_sp);
        if let Some(secrets) = &mut self.secrets {
            secrets.switch_stack();
        }
    }

    /// The stack pointers, the main one first.
    fn stack_pointers(&mut self) -> [&mut u32; 2] {
        if self.control & SPSEL == 0 {
            [&mut self.r[SP], &mut self.other_sp]
        } else {
            [&mut self.other_sp, &mut self.r[SP]]
        }
    }

    /// MRS (B4.2.2).
    fn special_register(&mut self, number: u32) -> u32 {
        let is_unprivileged = self.is_unprivileged();
        match number {
            0..=7 => {
                let flags = if number & 4 == 0 { 0xf000_0000 } else { 0 };
                let exception = if number & 1 != 0 { 63 } else { 0 };
                self.xpsr() & (flags | exception)
            }
            8 | 9 if !is_unprivileged => *self.stack_pointers()[number as usize - 8],
            16 if !is_unprivileged => self.primask.into(),
            20 => self.control.into(),
            _ => 0,
        }
    }

    /// MSR (B4.2.3).
    fn set_special_register(&mut self, number: u32, value: u32) -> Result<(), Trap> {
        if number & !3 == 0 {
            self.flags = Flags::of(value);
            return Ok(());
        }
        if self.is_unprivileged() {
            return Ok(());
        }
        match number {
            8 | 9 => {
                let is_current = (number == 9) == (self.control & SPSEL != 0);
                if is_current {
                    self.move_sp(value)?;
                } else {
                    self.other_sp = value & !3;
                }
            }
            16 => self.primask = value & 1 != 0,
            20 => {
                // Handlers have the main stack (B1.4.4).
                let wanted = if self.ipsr == 0 {
                    value as u8 & 3
                } else {
                    value as u8 & NPRIV
                };
                if (wanted ^ self.control) & SPSEL != 0 {
                    self.switch_stack();
                }
                self.control = wanted;
            }
            _ => {}
        }
        Ok(())
    }
}

pub fn no_thumb() -> Trap {
    let what = "the core is not in Thumb state, the only one that it has";
    Trap::Fault(Box::new(Fault::new(FaultKind::InvalidOpcode, what)))
}

pub fn no_code() -> Trap {
    let what = "there is no memory to execute from";
    Trap::Fault(Box::new(Fault::new(FaultKind::Unmapped, what)))
}

fn left_out(address: u32) -> Trap {
    let what = "the emulation has no register of the core there";
    Trap::Stop(Box::new(Fault::new(FaultKind::Absent, what).at(address)))
}

/// What a chip refuses because there is nothing is a hard fault; other refusals end the run.
fn refused(fault: Fault) -> Trap {
    if fault.kind == FaultKind::Unmapped {
        Trap::Fault(Box::new(fault))
    } else {
        Trap::Stop(Box::new(fault))
    }
}
