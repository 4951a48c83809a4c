//! Execution of one instruction at a time, with everything that can happen: the reference for what
//! instructions do. The fast loop hands over to it for any access other than to plain memory.

use joulemark_kernel::{Fault, FaultKind};

use crate::alu::{Double, Flags, Single};
use crate::bus::Bus;
use crate::core::{Core, misaligned};
use crate::decode::{self, Action, Destination, Instruction, Source};
use crate::memory::attribute;
use crate::registers::status::{CPUOFF, GIE};
use crate::registers::{CG, PC, SP, SR};
use crate::timing;

/// An operand that has been located and read. The address only matters for memory operands.
#[derive(Clone, Copy)]
struct Operand {
    address: u16,
    value: u16,
}

impl<B: Bus> Core<B> {
    /// Decode the instruction at `pc`, after checking that its words are executable.
    pub(crate) fn fetch(&self, pc: u16) -> Result<Instruction, Box<Fault>> {
        if pc & 1 != 0 {
            return Err(misaligned(pc, "an instruction is fetched").into());
        }
        self.check_executable(pc)?;
        let length = decode::length(self.state.word(pc));
        for offset in (2..length).step_by(2) {
            self.check_executable(pc.wrapping_add(offset))?;
        }
        decode::decode(pc, |address| self.state.word(address)).ok_or_else(|| {
            let word = self.state.word(pc);
            let message = format!("{word:#06x} is no instruction of the MSP430");
            Box::new(Fault::new(FaultKind::InvalidOpcode, message).at(pc))
        })
    }

    /// The same, remembered for those who follow secrets.
    fn fetch_next(&mut self, pc: u16) -> Result<Instruction, Box<Fault>> {
        let number = usize::from(pc >> 1);
        if let Some(secrets) = &self.secrets
            && pc & 1 == 0
            && let Some(instruction) = secrets.decoded[number]
        {
            return Ok(instruction);
        }
        let instruction = self.fetch(pc)?;
        if let Some(secrets) = &mut self.secrets {
            secrets.remember(number, instruction);
        }
        Ok(instruction)
    }

    fn check_executable(&self, address: u16) -> Result<(), Box<Fault>> {
        let all = |fact| self.state.has(address, fact) && self.state.has(address | 1, fact);
        let (kind, message) = if self.state.is_peripheral(address) {
            (FaultKind::ExecuteData, "a peripheral register is executed")
        } else if !self.state.is_flash(address) && !self.state.is_ram(address) {
            (
                FaultKind::Unmapped,
                "the chip has no memory to execute here",
            )
        } else if self.state.has(address, attribute::DATA) {
            (FaultKind::ExecuteData, "data is executed")
        } else if all(attribute::DEFINED) {
            return Ok(());
        } else if self.state.is_flash(address) {
            (
                FaultKind::Unprogrammed,
                "flash that was never programmed is executed",
            )
        } else {
            (
                FaultKind::ExecuteData,
                "RAM that was never written is executed",
            )
        };
        Err(Box::new(Fault::new(kind, message).at(address)))
    }

    /// Execute one instruction.
    pub(crate) fn step(&mut self) -> Result<(), Box<Fault>> {
        let pc = self.state.registers[PC];
        let sp = self.state.registers[SP];
        self.observer
            .at(pc, sp, self.active_cycles(), self.instructions);
        let instruction = self.fetch_next(pc)?;
        let before = self.state.registers[SR];
        let cycles = u64::from(instruction.cycles);
        self.state.registers[PC] = pc.wrapping_add(instruction.length);
        self.cycles += cycles;
        self.instructions += 1;
        self.follow(pc, |secrets, before| {
            if !std::mem::take(&mut secrets.is_ahead) {
                secrets.before(before, &instruction);
            }
        });
        if let Err(fault) = self.execute(instruction) {
            self.state.registers[PC] = pc;
            self.state.registers[SP] = sp;
            self.cycles -= cycles;
            self.instructions -= 1;
            return Err(fault);
        }
        if instruction.action.transfers() {
            self.observer.touch(self.state.registers[PC]);
        }
        // "The instruction following EINT is always executed, even if an interrupt service request
        // is pending" (SLAU049F, page 3-40), and DINT must be followed by a NOP (page 3-39): an
        // interrupt check after a write to SR still sees the old GIE. This does not apply to RETI,
        // or to a core that has gone to sleep.
        let after = self.state.registers[SR];
        let at_once = instruction.action == Action::Reti || after & CPUOFF != 0;
        self.interruptible = if at_once { after } else { before } & GIE != 0;
        Ok(())
    }

    fn execute(&mut self, instruction: Instruction) -> Result<(), Box<Fault>> {
        let Instruction {
            action,
            byte,
            cycles,
            ..
        } = instruction;
        let mut flags = Flags::from_status(self.state.registers[SR]);
        // When the data accesses take place on the bus (see `timing`).
        let last = self.cycles - 1;
        let read_back = self.cycles.saturating_sub(timing::READ_BACK_BEFORE_END);
        let first = self.cycles - u64::from(cycles);
        match action {
            Action::Jump(condition, target) => {
                if condition.holds(flags) {
                    self.state.registers[PC] = target;
                }
            }
            Action::Double(operation, source, destination) => {
                let memory = !matches!(destination, Destination::Register(_));
                let read_at = self.cycles.saturating_sub(timing::read_before_end(memory));
                let operand = self.source(source, byte, read_at)?.value;
                let target = self.destination(operation, destination, byte, read_back)?;
                let (s, d) = (u32::from(operand), u32::from(target.value));
                let result = flags.double(operation, byte, s, d) as u16;
                if operation.sets_flags() {
                    self.state.registers[SR] = flags.into_status(self.state.registers[SR]);
                }
                if operation.writes() {
                    match destination {
                        Destination::Register(number) => {
                            self.set(number, result, operation == Double::Mov)?;
                        }
                        _ => self.write(target.address, result, byte, last)?,
                    }
                }
                if instruction.action == Action::RETURN {
                    self.observe_return();
                }
            }
            Action::Single(operation, source) => {
                let operand = self.source(source, byte, read_back.max(first))?;
                let result = flags.single(operation, byte, u32::from(operand.value)) as u16;
                if operation != Single::Swpb {
                    self.state.registers[SR] = flags.into_status(self.state.registers[SR]);
                }
                match source {
                    Source::Register(number) => self.set(number, result, false)?,
                    _ => self.write(operand.address, result, byte, last)?,
                }
            }
            Action::Push(source) => {
                let sp = self.make_room()?;
                let value = self.source(source, byte, first + 1)?.value;
                self.observer.touch(sp);
                self.write(sp, value, byte, last)?;
            }
            Action::Call(source) => {
                let return_address = self.state.registers[PC];
                let sp = self.make_room()?;
                let target = self.source(source, false, first + 1)?.value;
                self.observer.touch(sp);
                self.write(sp, return_address, false, last)?;
                self.state.registers[PC] = target;
                self.observe_call(target, return_address, sp);
            }
            Action::Reti => {
                let sp = self.state.registers[SP];
                let status = self.read(sp, false, first + 1)?;
                let pc = self.read(sp.wrapping_add(2), false, first + 2)?;
                self.state.registers[SP] = sp.wrapping_add(4);
                self.state.registers[PC] = pc;
                self.set_status(status);
                self.observe_return();
            }
        }
        Ok(())
    }

    /// Move the stack pointer for PUSH and CALL, before they locate their operand, so that SP as a
    /// register or as a base has its new value.
    ///
    /// PUSH SP: the value on the stack is SP as PUSH leaves it (SLAU049F, section 3.2.2, figure
    /// 3-5). x(SP): code that mspgcc made for the MSP430F1611 keeps a function pointer at 56(SP)
    /// and calls it by `CALL 58(SP)`, and passes on the eight bytes from 46(SP) by `PUSH 54(SP)`,
    /// four times (contiki-ng/mspsim, `firmware/sky/timertest.sky`, 0x4578 and 0x45e0, 0x494e and
    /// 0x4968); mspgcc's machine description adds 2 to an offset from SP in both (`msp430.md`, %N).
    /// The description of CALL, page 3-29, reads the operand first, which makes no difference for
    /// other operands. CALL SP, @SP and @SP+ are treated likewise, *inferred*: openMSP430 and
    /// `MSPSim` do the same.
    fn make_room(&mut self) -> Result<u16, Box<Fault>> {
        let sp = self.state.registers[SP].wrapping_sub(2);
        self.stack_grows(sp)?;
        self.state.registers[SP] = sp;
        Ok(sp)
    }

    /// Locate and read a source operand.
    fn source(&mut self, source: Source, byte: bool, now: u64) -> Result<Operand, Box<Fault>> {
        let registers = &self.state.registers;
        let register = |number: u8| registers[usize::from(number)];
        let address = match source {
            Source::Constant(value) => return Ok(Operand { address: 0, value }),
            Source::Register(number) => {
                let mask = if byte { 0xff } else { 0xffff };
                let value = register(number) & mask;
                return Ok(Operand { address: 0, value });
            }
            Source::Indexed(base, offset) => register(base).wrapping_add(offset),
            Source::Absolute(address) => address,
            Source::Indirect(base) | Source::Autoincrement(base, _) => register(base),
        };
        let value = self.read(address, byte, now)?;
        if let Source::Autoincrement(base, step) = source {
            self.state.registers[usize::from(base)] = address.wrapping_add(step);
        }
        Ok(Operand { address, value })
    }

    /// Locate a destination, and read it if the operation needs its value.
    fn destination(
        &mut self,
        operation: Double,
        destination: Destination,
        byte: bool,
        now: u64,
    ) -> Result<Operand, Box<Fault>> {
        let address = match destination {
            Destination::Register(number) => {
                let mask = if byte { 0xff } else { 0xffff };
                let value = self.state.registers[usize::from(number)] & mask;
                return Ok(Operand { address: 0, value });
            }
            Destination::Indexed(base, offset) => {
                self.state.registers[usize::from(base)].wrapping_add(offset)
            }
            Destination::Absolute(address) => address,
        };
        let value = if operation.reads_destination() {
            self.read(address, byte, now)?
        } else {
            self.observer.touch(address);
            0
        };
        Ok(Operand { address, value })
    }

    /// Write a result to a register.
    fn set(&mut self, number: u8, value: u16, load: bool) -> Result<(), Box<Fault>> {
        match usize::from(number) {
            SP => {
                if load {
                    self.observer.stack_set(value);
                } else {
                    self.stack_grows(value)?;
                }
                self.state.registers[SP] = value;
            }
            SR => self.set_status(value),
            CG => {}
            number => self.state.registers[number] = value,
        }
        Ok(())
    }

    fn observe_return(&mut self) {
        let sp = self.state.registers[SP];
        self.observer
            .returned(sp, self.active_cycles(), self.instructions);
    }
}
