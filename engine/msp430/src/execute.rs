//! The fast loop: predecoded instructions, specialised by operation and addressing modes.
//!
//! Every even address has a slot. When control first reaches one, the straight-line run of
//! instructions from there is decoded, and each of its slots records the cycles and instructions to
//! the run's end. A run is entered only if it ends no later than the next event, so nothing has to
//! be checked inside it. An access that is neither plain memory nor quiet ([`Bus::read_quietly`]),
//! and every rare instruction, is left to [`Core::step`], before the instruction has had any
//! effect.
#![allow(
    clippy::inline_always,
    reason = "constant arguments have to reach each specialised instruction"
)]

use joulemark_kernel::{Cycles, Fault};
use seq_macro::seq;

use crate::alu::{Double, Flags, Single};
use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::decode::{Condition, Instruction};
use crate::memory::State;
use crate::observe::{Call, Observer};
use crate::polling::Polls;
use crate::registers::{PC, SP, SR};
use crate::secrets::{Before, Secrets};
use crate::slots::{LONGEST_RUN, Regular, Rest, SLOTS, Slot, index, kind};
use crate::timing;

/// Why the fast loop ended.
enum Leave {
    /// Time is up: the next run would end after `until` or, in the exact loop, the next instruction
    /// would start at or after it.
    Until,
    /// [`Core::step`] must execute the next instruction.
    Slow,
    Undecoded,
    Breakpoint,
}

/// The fast loop's state.
struct Machine<'a, B> {
    state: &'a mut State,
    observer: &'a mut Observer,
    bus: &'a mut B,
    /// `None` where nothing may be skipped, because every instruction is observed.
    polls: Option<&'a mut Polls>,
}

/// The fast loop's position in time: the current slot, and the cycle counter at the end of its run,
/// or in the exact loop at the end of the instruction.
#[derive(Clone, Copy)]
struct Place<const EXACT: bool> {
    ip: usize,
    cycles: u64,
}

impl<B: Bus> Machine<'_, B> {
    /// The cycle counter at the end of the instruction.
    fn end<const EXACT: bool>(&self, place: Place<EXACT>) -> u64 {
        if EXACT {
            place.cycles
        } else {
            let rest = u64::from(self.state.rests[place.ip].cycles);
            place.cycles - rest + u64::from(self.state.costs[place.ip])
        }
    }

    /// Read a peripheral register `before_end` cycles before the end of the instruction, if that
    /// has no other effect, and if no loop is to be rehearsed first.
    #[cold]
    #[inline(never)]
    fn read_bus<const EXACT: bool>(
        &mut self,
        address: u16,
        byte: bool,
        place: Place<EXACT>,
        before_end: u64,
    ) -> Option<u16> {
        if !self.state.is_peripheral(address) || !byte && address & 1 != 0 {
            return None;
        }
        if let Some(polls) = &mut self.polls
            && polls.visit(place.ip)
        {
            return None;
        }
        let now = Cycles(self.end(place).saturating_sub(before_end));
        self.bus.read_quietly(address, Width::of(byte), now)
    }

    /// Write a peripheral register in the instruction's last cycle, if that has no other effect.
    #[cold]
    #[inline(never)]
    fn write_bus<const EXACT: bool>(
        &mut self,
        address: u16,
        value: u16,
        byte: bool,
        place: Place<EXACT>,
    ) -> bool {
        if !self.state.is_peripheral(address) || !byte && address & 1 != 0 {
            return false;
        }
        let now = Cycles(self.end(place) - 1);
        self.bus.write_quietly(address, value, Width::of(byte), now)
    }

    #[inline(always)]
    fn register(&self, number: u8) -> u16 {
        self.state.registers[usize::from(number)]
    }

    /// Follow secrets through an instruction.
    #[inline(never)]
    fn follow(&self, secrets: &mut Secrets, instruction: &Instruction, ip: usize, flags: Flags) {
        let before = Before {
            state: self.state,
            calls: self.observer.calls(),
            flags,
            flow: &|address| self.bus.flow(address),
            pc: (ip << 1) as u16,
        };
        secrets.before(&before, instruction);
    }

    #[inline(always)]
    fn store(&mut self, address: u16, value: u16, byte: bool) {
        if byte {
            self.state.bytes[usize::from(address)] = value as u8;
        } else {
            let low = usize::from(address & 0xfffe);
            [self.state.bytes[low], self.state.bytes[low + 1]] = value.to_le_bytes();
        }
    }

    /// Execute a double-operand instruction; false, with nothing done, if it needs the slow way.
    #[inline(always)]
    fn double<const OBSERVE: bool, const EXACT: bool>(
        &mut self,
        Regular {
            operation,
            byte,
            mode,
            memory,
        }: Regular,
        slot: Slot,
        flags: &mut Flags,
        place: Place<EXACT>,
    ) -> bool {
        let base = self.register(slot.source);
        let (source, from) = match mode {
            kind::REGISTER if byte => (base & 0xff, 0),
            kind::REGISTER => (base, 0),
            kind::CONSTANT | kind::IMMEDIATE => (slot.a, 0),
            kind::STATUS => {
                let status = flags.into_status(self.state.registers[SR]);
                (if byte { status & 0xff } else { status }, 0)
            }
            _ => {
                let address = if mode == kind::INDEXED {
                    base.wrapping_add(slot.a)
                } else {
                    base
                };
                let value = if self.state.may(address, byte, false) {
                    self.state.load(address, byte)
                } else {
                    let before_end = timing::read_before_end(memory);
                    match self.read_bus(address, byte, place, before_end) {
                        Some(value) => value,
                        None => return false,
                    }
                };
                if mode == kind::AUTOINCREMENT {
                    self.state.registers[usize::from(slot.source)] = base.wrapping_add(slot.a);
                }
                (value, address)
            }
        };
        let (reads, writes) = (operation.reads_destination(), operation.writes());
        if memory {
            let to = self.register(slot.destination).wrapping_add(slot.b);
            let plain = self.state.may(to, byte, writes);
            let destination = if plain && reads {
                Some(self.state.load(to, byte))
            } else if !reads {
                Some(0)
            } else if writes {
                None
            } else {
                self.read_bus(to, byte, place, timing::READ_BACK_BEFORE_END)
            };
            let done = destination.is_some_and(|destination| {
                // Only MOV, which sets no flags, can fail from here on.
                let destination = u32::from(destination);
                let result = flags.double(operation, byte, u32::from(source), destination) as u16;
                if writes && plain {
                    self.store(to, result, byte);
                }
                !writes || plain || self.write_bus(to, result, byte, place)
            });
            if !done {
                if mode == kind::AUTOINCREMENT {
                    self.state.registers[usize::from(slot.source)] = base;
                }
                return false;
            }
            if OBSERVE {
                if kind::in_memory(mode) {
                    self.observer.touch(from);
                }
                self.observer.touch(to);
            }
        } else {
            let destination = if !reads {
                0
            } else if byte {
                self.register(slot.destination) & 0xff
            } else {
                self.register(slot.destination)
            };
            let result = flags.double(operation, byte, u32::from(source), u32::from(destination));
            if operation.writes() {
                self.state.registers[usize::from(slot.destination)] = result as u16;
            }
            if OBSERVE && kind::in_memory(mode) {
                self.observer.touch(from);
            }
        }
        true
    }

    /// Execute a single-operand instruction; false if it needs the slow way.
    #[inline(always)]
    fn single<const KIND: usize, const OBSERVE: bool>(
        &mut self,
        slot: Slot,
        flags: &mut Flags,
    ) -> bool {
        let operation = const {
            [Single::Rrc, Single::Swpb, Single::Rra, Single::Sxt][(KIND - kind::SINGLE) / 6]
        };
        let byte = const { KIND / 3 % 2 == 1 };
        let base = self.register(slot.source);
        if const { KIND.is_multiple_of(3) } {
            let operand = if byte { base & 0xff } else { base };
            let result = flags.single(operation, byte, u32::from(operand));
            self.state.registers[usize::from(slot.source)] = result as u16;
            return true;
        }
        let address = base.wrapping_add(slot.a);
        if !self.state.may(address, byte, true) {
            return false;
        }
        let operand = self.state.load(address, byte);
        let result = flags.single(operation, byte, u32::from(operand));
        self.store(address, result as u16, byte);
        if OBSERVE {
            self.observer.touch(address);
        }
        true
    }

    #[inline(always)]
    fn push<const OBSERVE: bool>(&mut self, value: u16) -> bool {
        let sp = self.state.registers[SP].wrapping_sub(2);
        if sp < self.observer.low() || !self.state.may(sp, false, true) {
            return false;
        }
        self.store(sp, value, false);
        self.state.registers[SP] = sp;
        if OBSERVE {
            self.observer.touch(sp);
        }
        true
    }
}

impl<B: Bus> Core<B> {
    /// Execute instructions until the cycle counter reaches `until`, the bus must be asked, or a
    /// breakpoint is next.
    pub(crate) fn run_blocks(&mut self, until: u64) -> Result<(), Box<Fault>> {
        while self.cycles < until && !self.ask_bus {
            let leave = if self.secrets.is_some() || self.observer.is_profiling() {
                self.execute_runs::<true, true>(until)
            } else if self.observer.is_digesting() {
                match self.execute_runs::<true, false>(until) {
                    Leave::Until => self.execute_start_of_run::<true>(until),
                    leave => leave,
                }
            } else {
                match self.execute_runs::<false, false>(until) {
                    Leave::Until => self.execute_start_of_run::<false>(until),
                    leave => leave,
                }
            };
            match leave {
                // Time is up: the next instruction must wait, whatever it is.
                _ if self.cycles >= until => {}
                Leave::Until => {}
                Leave::Slow if self.polls.is_due => self.skip_polling(until),
                Leave::Slow => self.step()?,
                Leave::Undecoded => self.decode_run(self.state.registers[PC])?,
                Leave::Breakpoint => return Ok(()),
            }
        }
        Ok(())
    }

    /// Decode the run of instructions from `pc` on.
    fn decode_run(&mut self, pc: u16) -> Result<(), Box<Fault>> {
        let mut run: Vec<usize> = Vec::new();
        let mut at = pc;
        let mut rest = Rest::default();
        loop {
            let slot = index(at);
            if run.len() == LONGEST_RUN || self.observer.function_starts(at) && !run.is_empty() {
                self.end_run_at_last(&mut run);
                break;
            }
            if self.state.breakpoints[slot] != 0 {
                self.state.slots[slot] = Slot::new(kind::BREAKPOINT, 0, 0, 0, 0);
                break;
            }
            let known = self.state.slots[slot];
            if known.is_decoded() {
                rest = self.state.rests[slot];
                if usize::from(rest.instructions) + run.len() > LONGEST_RUN {
                    rest = Rest::default();
                    self.end_run_at_last(&mut run);
                }
                break;
            }
            let instruction = match self.fetch(at) {
                Ok(instruction) => instruction,
                // It becomes a fault if control gets there.
                Err(_) if !run.is_empty() => break,
                Err(fault) => return Err(fault),
            };
            for offset in 0..instruction.length {
                self.state.mark_decoded(at.wrapping_add(offset), true);
            }
            if let Some(secrets) = &mut self.secrets {
                secrets.remember(slot, instruction);
            }
            let decoded = Slot::from_instruction(&instruction, at);
            self.state.slots[slot] = decoded;
            self.state.costs[slot] = instruction.cycles;
            if decoded.kind as usize == kind::SLOW {
                break;
            }
            run.push(slot);
            if decoded.ends_run() {
                break;
            }
            at = at.wrapping_add(instruction.length);
        }
        for &slot in run.iter().rev() {
            rest.cycles += u16::from(self.state.costs[slot]);
            rest.instructions += 1;
            self.state.rests[slot] = rest;
        }
        Ok(())
    }

    /// Send a run's last instruction the slow way, which can end a run.
    fn end_run_at_last(&mut self, run: &mut Vec<usize>) {
        if let Some(last) = run.pop() {
            self.state.slots[last] = Slot::new(kind::SLOW, 0, 0, 0, 0);
        }
    }

    /// Execute what starts before `until` of a run that ends after it: the first instruction that
    /// does not start before is hidden behind a slot that ends the loop.
    fn execute_start_of_run<const OBSERVE: bool>(&mut self, until: u64) -> Leave {
        let mut ip = index(self.state.registers[PC]);
        let mut at = self.cycles;
        let end = at + u64::from(self.state.rests[ip].cycles);
        while at < until {
            at += u64::from(self.state.costs[ip]);
            ip = (ip + self.state.slots[ip].words()) % SLOTS;
        }
        if at == end {
            return self.execute_runs::<OBSERVE, false>(end);
        }
        let hidden = std::mem::replace(&mut self.state.slots[ip], Slot::UNTIL);
        let leave = self.execute_runs::<OBSERVE, false>(end);
        self.state.slots[ip] = hidden;
        leave
    }

    /// The loop itself. With `EXACT`, it counts instructions one by one and stops at `until`, and
    /// secrets are followed if they are to be; otherwise it counts whole runs and does not enter one
    /// that would pass `until`.
    fn execute_runs<const OBSERVE: bool, const EXACT: bool>(&mut self, until: u64) -> Leave {
        let pc = self.state.registers[PC];
        if pc & 1 != 0 {
            return Leave::Slow;
        }
        let mut secrets = if EXACT { self.secrets.take() } else { None };
        let mut machine = Machine {
            state: &mut self.state,
            observer: &mut self.observer,
            bus: &mut self.bus,
            polls: if OBSERVE { None } else { Some(&mut self.polls) },
        };
        let mut ip = index(pc);
        let mut flags = Flags::from_status(machine.state.registers[SR]);
        let mut cycles = self.cycles;
        let mut instructions = self.instructions;
        let sleep_cycles = self.sleep_cycles;

        let leave = 'runs: loop {
            if !EXACT {
                let rest = machine.state.rests[ip];
                let end = cycles + u64::from(rest.cycles);
                if end > until {
                    break 'runs Leave::Until;
                }
                cycles = end;
                instructions += u64::from(rest.instructions);
            }
            loop {
                if EXACT {
                    if let Some(secrets) = &mut secrets {
                        secrets.is_ahead = false;
                    }
                    if cycles >= until {
                        break 'runs Leave::Until;
                    }
                    if OBSERVE {
                        let pc = (ip << 1) as u16;
                        let sp = machine.state.registers[SP];
                        machine
                            .observer
                            .at(pc, sp, cycles - sleep_cycles, instructions);
                    }
                    cycles += u64::from(machine.state.costs[ip]);
                    instructions += 1;
                }
                let slot = machine.state.slots[ip];
                // Leave before this instruction, and undo what was counted for it and the rest of
                // its run.
                macro_rules! leave {
                    ($why:expr) => {{
                        if EXACT {
                            cycles -= u64::from(machine.state.costs[ip]);
                            instructions -= 1;
                        } else {
                            cycles -= u64::from(machine.state.rests[ip].cycles);
                            instructions -= u64::from(machine.state.rests[ip].instructions);
                        }
                        break 'runs $why;
                    }};
                }
                // Follow secrets through this instruction: the quick way, or the one for all.
                macro_rules! follow {
                    ($quick:expr) => {{
                        if EXACT && let Some(secrets) = &mut secrets {
                            // Where it was decoded before, the slow way decodes it again.
                            let Some(instruction) = secrets.decoded[ip] else {
                                leave!(Leave::Slow);
                            };
                            if !$quick(&mut **secrets, &machine, (ip << 1) as u16) {
                                machine.follow(secrets, &instruction, ip, flags);
                            }
                            secrets.is_ahead = true;
                        }
                    }};
                }
                if EXACT && usize::from(slot.kind) > kind::UNTIL {
                    follow!(|_: &mut Secrets, _: &Machine<'_, B>, _| false);
                }
                // Continue with the next instruction of the run.
                macro_rules! advance {
                    ($words:expr) => {{
                        ip = (ip + $words) % SLOTS;
                    }};
                }
                // End the run, and continue at an even address.
                macro_rules! jump {
                    ($target:expr) => {{
                        let target: u16 = $target;
                        if OBSERVE {
                            machine.observer.touch(target);
                        }
                        ip = index(target);
                        continue 'runs;
                    }};
                }
                macro_rules! call {
                    ($target:expr) => {{
                        let target: u16 = $target;
                        if target & 1 != 0 || !machine.push::<OBSERVE>(slot.b) {
                            leave!(Leave::Slow);
                        }
                        let call = Call {
                            target,
                            return_address: slot.b,
                            stack_pointer: machine.state.registers[SP],
                        };
                        machine
                            .observer
                            .call(call, cycles - sleep_cycles, instructions);
                        jump!(target);
                    }};
                }
                macro_rules! push {
                    ($words:expr, $value:expr) => {{
                        let value = $value;
                        if !machine.push::<OBSERVE>(value) {
                            leave!(Leave::Slow);
                        }
                        advance!($words);
                    }};
                }
                macro_rules! stack {
                    ($operation:expr, $words:expr) => {{
                        let old = machine.state.registers[SP];
                        let mut after = flags;
                        let new =
                            after.double($operation, false, u32::from(slot.a), u32::from(old));
                        let new = new as u16;
                        if new < machine.observer.low() {
                            leave!(Leave::Slow);
                        }
                        flags = after;
                        machine.state.registers[SP] = new;
                        advance!($words);
                    }};
                }
                let number = usize::from(slot.kind);
                if number < kind::SINGLE {
                    seq! { N in 0..336 {
                        match number {
                            #(
                                N => {
                                    follow!(|secrets: &mut Secrets, machine: &Machine<'_, B>, pc| {
                                        let flow = |address| machine.bus.flow(address);
                                        secrets.quick_double(
                                            const { Regular::of(N) },
                                            machine.state, flow, slot, flags, pc,
                                        )
                                    });
                                    let place = Place { ip, cycles };
                                    if !machine.double::<OBSERVE, EXACT>(const { Regular::of(N) }, slot, &mut flags, place)
                                    {
                                        leave!(Leave::Slow);
                                    }
                                    advance!(const { kind::double_words(N) });
                                }
                            )*
                            _ => unreachable!("not one of two operands"),
                        }
                    } }
                    continue;
                }
                if number < kind::JUMP {
                    follow!(|_: &mut Secrets, _: &Machine<'_, B>, _| false);
                    seq! { N in 336..360 {
                        match number {
                            #(
                                N => {
                                    if !machine.single::<N, OBSERVE>(slot, &mut flags) {
                                        leave!(Leave::Slow);
                                    }
                                    advance!(const { kind::single_words(N) });
                                }
                            )*
                            _ => unreachable!("not one of one operand"),
                        }
                    } }
                    continue;
                }
                if number < kind::SLOW {
                    let condition = Condition::ALL[number - kind::JUMP];
                    follow!(|secrets: &mut Secrets, _: &Machine<'_, B>, pc| {
                        secrets.quick_jump(pc, condition, flags)
                    });
                    if condition.holds(flags) {
                        jump!(slot.a);
                    }
                    jump!(((ip << 1) as u16).wrapping_add(2));
                }
                match number {
                    kind::SLOW => leave!(Leave::Slow),
                    kind::UNDECODED => leave!(Leave::Undecoded),
                    kind::BREAKPOINT => leave!(Leave::Breakpoint),
                    kind::UNTIL => leave!(Leave::Until),
                    kind::NOP => advance!(1),
                    kind::CLEAR_CARRY => {
                        flags.set_carry(false);
                        advance!(1);
                    }
                    kind::SET_CARRY => {
                        flags.set_carry(true);
                        advance!(1);
                    }
                    kind::RETURN => {
                        let sp = machine.state.registers[SP];
                        if !machine.state.may(sp, false, false) {
                            leave!(Leave::Slow);
                        }
                        let target = machine.state.load(sp, false);
                        if target & 1 != 0 {
                            leave!(Leave::Slow);
                        }
                        if OBSERVE {
                            machine.observer.touch(sp);
                        }
                        let sp = sp.wrapping_add(2);
                        machine.state.registers[SP] = sp;
                        machine
                            .observer
                            .returned(sp, cycles - sleep_cycles, instructions);
                        jump!(target);
                    }
                    kind::BRANCH_REGISTER => {
                        let target = machine.register(slot.source);
                        if target & 1 != 0 {
                            leave!(Leave::Slow);
                        }
                        jump!(target);
                    }
                    kind::BRANCH_INDEXED => {
                        let address = machine.register(slot.source).wrapping_add(slot.a);
                        if !machine.state.may(address, false, false) {
                            leave!(Leave::Slow);
                        }
                        let target = machine.state.load(address, false);
                        if target & 1 != 0 {
                            leave!(Leave::Slow);
                        }
                        if OBSERVE {
                            machine.observer.touch(address);
                        }
                        jump!(target);
                    }
                    kind::CALL => call!(slot.a),
                    kind::CALL_REGISTER => call!(machine.register(slot.source)),
                    kind::PUSH_REGISTER => push!(1, machine.register(slot.source)),
                    kind::PUSH_CONSTANT => push!(1, slot.a),
                    kind::PUSH_IMMEDIATE => push!(2, slot.a),
                    kind::PUSH_INDEXED => {
                        let address = machine.register(slot.source).wrapping_add(slot.a);
                        if !machine.state.may(address, false, false) {
                            leave!(Leave::Slow);
                        }
                        if OBSERVE {
                            machine.observer.touch(address);
                        }
                        push!(2, machine.state.load(address, false));
                    }
                    kind::STACK_ADD => stack!(Double::Add, 1),
                    kind::STACK_ADD_IMMEDIATE => stack!(Double::Add, 2),
                    kind::STACK_SUB => stack!(Double::Sub, 1),
                    kind::STACK_SUB_IMMEDIATE => stack!(Double::Sub, 2),
                    _ => unreachable!("no such kind of slot"),
                }
            }
        };
        machine.state.registers[PC] = (ip << 1) as u16;
        machine.state.registers[SR] = flags.into_status(machine.state.registers[SR]);
        self.cycles = cycles;
        self.instructions = instructions;
        if EXACT {
            self.secrets = secrets;
        }
        leave
    }
}
