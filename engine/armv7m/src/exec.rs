//! Effects of instructions on registers and memory (ARM DDI 0403E.e, chapter A7).

use joulemark_kernel::{Fault, FaultKind};

use crate::bus::{Bus, Width};
use crate::core::{Core, Trap};
use crate::exec_float::FPCA;
use crate::memory::Entry;
use crate::op::{Kind, Op};
use crate::registers::literal;
use crate::system::UsageFault;
use crate::traits::Traits;

/// Work that an instruction leaves to be done.
pub type Done = Result<(), Trap>;

impl<B: Bus> Core<B> {
    /// `BranchTo` with the interworking bit checked: BX, BLX, and loads of PC.
    fn interworking(&mut self, target: u32) -> u32 {
        if target & 1 == 0 {
            self.thumb = false;
        }
        target & !1
    }

    fn take(&mut self, target: u32) {
        self.next_pc = target;
        self.pipe.issue();
        self.pipe.branches(true, target);
    }

    /// A branch to an address that the instruction holds.
    #[inline]
    pub(crate) fn branch(&mut self, op: &Op) {
        let target = self.regs.r[15].wrapping_add(op.imm);
        let zero = self.regs.read(op.rn) == 0;
        let (taken, otherwise) = match op.kind {
            Kind::Bcond => (self.condition(op.ra), target),
            Kind::Cbz => (zero, self.fall_through),
            Kind::Cbnz => (!zero, self.fall_through),
            _ => (true, target),
        };
        if taken {
            self.take(target);
        } else {
            self.pass_by(otherwise);
        }
    }

    /// A branch that is not taken.
    fn pass_by(&mut self, target: u32) {
        self.pipe.issue();
        self.pipe.branches(false, target);
    }

    fn load_single(
        &mut self,
        entry: &Entry,
        address: u32,
        width: Width,
        signed: bool,
        back: u32,
    ) -> Done {
        let op = &entry.op;
        if op.rd == 15 {
            return self.load_pc(entry, address, back);
        }
        self.pipe.issue_access(entry, address);
        let value = self.load(address, width, op.is(Op::UNPRIVILEGED))?;
        let value = match (signed, width) {
            (true, Width::Byte) => value as u8 as i8 as u32,
            (true, Width::Half) => value as u16 as i16 as u32,
            _ => value,
        };
        if op.is(Op::WRITEBACK) {
            self.regs.write(op.rn, back);
        }
        self.regs.write(op.rd, value);
        Ok(())
    }

    #[cold]
    fn load_pc(&mut self, entry: &Entry, address: u32, back: u32) -> Done {
        let target = self.load(address, Width::Word, false)?;
        if entry.op.is(Op::WRITEBACK) {
            self.regs.write(entry.op.rn, back);
        }
        self.branch_from_memory(entry, address, target)
    }

    pub(crate) fn branch_from_memory(&mut self, entry: &Entry, address: u32, target: u32) -> Done {
        let is_return = self.is_exception_return(target);
        let next = if is_return {
            target
        } else {
            self.interworking(target)
        };
        self.next_pc = next;
        self.pipe.issue_access(entry, address);
        self.pipe.branches(true, next);
        if is_return {
            return self.exception_return(target, true);
        }
        Ok(())
    }

    fn store_single(&mut self, entry: &Entry, address: u32, width: Width, back: u32) -> Done {
        let op = &entry.op;
        self.pipe.issue_access(entry, address);
        self.store(
            address,
            self.regs.r[op.rd as usize],
            width,
            op.is(Op::UNPRIVILEGED),
        )?;
        if op.is(Op::WRITEBACK) {
            self.regs.write(op.rn, back);
        }
        Ok(())
    }

    pub(crate) fn aligned(address: u32, to: u32) -> Done {
        if address & (to - 1) == 0 {
            Ok(())
        } else {
            Err(Trap::Usage(UsageFault::Unaligned))
        }
    }

    /// Run one instruction. Its time goes to the pipeline before its effect on devices.
    #[allow(clippy::cognitive_complexity)]
    pub(crate) fn execute(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        macro_rules! alu {
            () => {
                self.pipe.issue()
            };
        }
        macro_rules! rn {
            () => {
                self.regs.r[op.rn as usize]
            };
        }
        macro_rules! rm {
            () => {
                self.regs.r[op.rm as usize]
            };
        }
        match op.kind {
            Kind::MovReg if op.rd == 15 => {
                let (value, _) = self.regs.shifted(op);
                self.take(value & !1);
            }
            Kind::AddReg if op.rd == 15 => {
                let (value, _) = self.regs.shifted(op);
                self.take(rn!().wrapping_add(value) & !1);
            }
            Kind::LdrImm => {
                let (address, back) = self.regs.base_address(op);
                return self.load_single(entry, address, Width::Word, false, back);
            }
            Kind::LdrbImm => {
                let (address, back) = self.regs.base_address(op);
                return self.load_single(entry, address, Width::Byte, false, back);
            }
            Kind::LdrhImm => {
                let (address, back) = self.regs.base_address(op);
                return self.load_single(entry, address, Width::Half, false, back);
            }
            Kind::LdrsbImm => {
                let (address, back) = self.regs.base_address(op);
                return self.load_single(entry, address, Width::Byte, true, back);
            }
            Kind::LdrshImm => {
                let (address, back) = self.regs.base_address(op);
                return self.load_single(entry, address, Width::Half, true, back);
            }
            Kind::LdrReg => {
                return self.load_single(
                    entry,
                    self.regs.register_address(op),
                    Width::Word,
                    false,
                    0,
                );
            }
            Kind::LdrbReg => {
                return self.load_single(
                    entry,
                    self.regs.register_address(op),
                    Width::Byte,
                    false,
                    0,
                );
            }
            Kind::LdrhReg => {
                return self.load_single(
                    entry,
                    self.regs.register_address(op),
                    Width::Half,
                    false,
                    0,
                );
            }
            Kind::LdrsbReg => {
                return self.load_single(
                    entry,
                    self.regs.register_address(op),
                    Width::Byte,
                    true,
                    0,
                );
            }
            Kind::LdrshReg => {
                return self.load_single(
                    entry,
                    self.regs.register_address(op),
                    Width::Half,
                    true,
                    0,
                );
            }
            Kind::LdrLit => {
                return self.load_single(entry, literal(self.pc, op), Width::Word, false, 0);
            }
            Kind::LdrbLit => {
                return self.load_single(entry, literal(self.pc, op), Width::Byte, false, 0);
            }
            Kind::LdrhLit => {
                return self.load_single(entry, literal(self.pc, op), Width::Half, false, 0);
            }
            Kind::LdrsbLit => {
                return self.load_single(entry, literal(self.pc, op), Width::Byte, true, 0);
            }
            Kind::LdrshLit => {
                return self.load_single(entry, literal(self.pc, op), Width::Half, true, 0);
            }
            Kind::StrImm => {
                let (address, back) = self.regs.base_address(op);
                return self.store_single(entry, address, Width::Word, back);
            }
            Kind::StrbImm => {
                let (address, back) = self.regs.base_address(op);
                return self.store_single(entry, address, Width::Byte, back);
            }
            Kind::StrhImm => {
                let (address, back) = self.regs.base_address(op);
                return self.store_single(entry, address, Width::Half, back);
            }
            Kind::StrReg => {
                return self.store_single(entry, self.regs.register_address(op), Width::Word, 0);
            }
            Kind::StrbReg => {
                return self.store_single(entry, self.regs.register_address(op), Width::Byte, 0);
            }
            Kind::StrhReg => {
                return self.store_single(entry, self.regs.register_address(op), Width::Half, 0);
            }
            Kind::Ldrd | Kind::LdrdLit => {
                let (address, back) = if op.kind == Kind::Ldrd {
                    self.regs.base_address(op)
                } else {
                    (literal(self.pc, op), 0)
                };
                Self::aligned(address, 4)?;
                self.pipe.issue_access(entry, address);
                let first = self.load(address, Width::Word, false)?;
                let second = self.load(address.wrapping_add(4), Width::Word, false)?;
                if op.is(Op::WRITEBACK) {
                    self.regs.write(op.rn, back);
                }
                self.regs.write(op.rd, first);
                self.regs.write(op.ra, second);
            }
            Kind::Strd => {
                let (address, back) = self.regs.base_address(op);
                Self::aligned(address, 4)?;
                self.pipe.issue_access(entry, address);
                self.store(address, self.regs.r[op.rd as usize], Width::Word, false)?;
                self.store(
                    address.wrapping_add(4),
                    self.regs.r[op.ra as usize],
                    Width::Word,
                    false,
                )?;
                if op.is(Op::WRITEBACK) {
                    self.regs.write(op.rn, back);
                }
            }
            Kind::Ldrex | Kind::Ldrexb | Kind::Ldrexh => {
                let (address, width) = match op.kind {
                    Kind::Ldrex => (rn!().wrapping_add(op.imm), Width::Word),
                    Kind::Ldrexb => (rn!(), Width::Byte),
                    _ => (rn!(), Width::Half),
                };
                Self::aligned(address, width.bytes())?;
                self.pipe.issue_access(entry, address);
                let value = self.load(address, width, false)?;
                self.exclusive = true;
                self.regs.write(op.rd, value);
            }
            Kind::Strex | Kind::Strexb | Kind::Strexh => {
                let (address, width) = match op.kind {
                    Kind::Strex => (rn!().wrapping_add(op.imm), Width::Word),
                    Kind::Strexb => (rn!(), Width::Byte),
                    _ => (rn!(), Width::Half),
                };
                Self::aligned(address, width.bytes())?;
                self.pipe.issue_access(entry, address);
                let fails = !self.exclusive;
                if !fails {
                    self.store(address, self.regs.r[op.rd as usize], width, false)?;
                }
                self.exclusive = false;
                self.regs.write(op.ra, u32::from(fails));
            }
            Kind::Clrex => {
                alu!();
                self.exclusive = false;
            }
            Kind::Ldmia | Kind::Ldmdb => return self.load_multiple(entry),
            Kind::Stmia | Kind::Stmdb => return self.store_multiple(entry),
            Kind::Tbb | Kind::Tbh => {
                let (shift, width) = if op.kind == Kind::Tbb {
                    (0, Width::Byte)
                } else {
                    (1, Width::Half)
                };
                let address = rn!().wrapping_add(rm!() << shift);
                let offset = self.load(address, width, false)?;
                let target = self.regs.r[15].wrapping_add(offset * 2);
                self.next_pc = target;
                self.pipe.issue_access(entry, address);
                self.pipe.branches(true, target);
            }
            Kind::B | Kind::Bcond | Kind::Cbz | Kind::Cbnz => self.branch(op),
            Kind::Bl => {
                let target = self.regs.r[15].wrapping_add(op.imm);
                self.take(target);
                self.regs.r[14] = self.fall_through | 1;
                self.called(target);
            }
            Kind::Bx | Kind::Blx => {
                let value = rm!();
                if op.kind == Kind::Bx && self.is_exception_return(value) {
                    self.take(value & !1);
                    return self.exception_return(value, false);
                }
                let target = self.interworking(value);
                self.take(target);
                if op.kind == Kind::Blx {
                    self.regs.r[14] = self.fall_through | 1;
                    self.called(target);
                }
            }
            Kind::It => {
                alu!();
                self.it = op.imm as u8;
            }
            Kind::Nop => alu!(),
            Kind::Sev => {
                alu!();
                self.event = true;
            }
            Kind::Wfe => {
                alu!();
                if self.event {
                    self.event = false;
                } else {
                    self.wait(true);
                }
            }
            Kind::Wfi => {
                alu!();
                self.wait(false);
            }
            Kind::Cps => {
                let disable = op.ra != 0;
                let raises = disable
                    && ((op.imm & 2 != 0 && !self.primask) || (op.imm & 1 != 0 && !self.faultmask));
                // instructions/other/cps_it: one cycle more where the priority rises.
                self.pipe
                    .issue_timed(if raises && self.privileged() { 2 } else { 1 });
                if self.privileged() {
                    if op.imm & 2 != 0 {
                        self.primask = disable;
                    }
                    if op.imm & 1 != 0 && (!disable || self.faults_can_be_masked()) {
                        self.faultmask = disable;
                    }
                    self.recheck = true;
                }
            }
            Kind::Bkpt => {
                alu!();
                return Err(Trap::Stop(Box::new(Fault::new(
                    FaultKind::InvalidOpcode,
                    format!("BKPT #{} with no debugger attached", op.imm),
                ))));
            }
            Kind::Svc => {
                alu!();
                return Err(Trap::SupervisorCall);
            }
            Kind::Mrs => {
                alu!();
                let value = self.special_register(op.imm);
                self.regs.write(op.rd, value);
            }
            Kind::Msr => self.write_special_register(entry),
            Kind::Dsb | Kind::Dmb => self.pipe.issue_timed(self.timing.barrier),
            Kind::Isb => self.take(self.fall_through),
            kind if kind.is_float() => return self.execute_float(entry),
            Kind::Coprocessor => {
                alu!();
                return Err(Trap::Usage(UsageFault::NoCoprocessor));
            }
            Kind::Undefined | Kind::Empty => {
                alu!();
                return Err(Trap::Usage(UsageFault::Undefined));
            }
            _ => {
                if entry.traits.is(Traits::TIMED) {
                    let cycles = self.regs.cycles(op, self.timing);
                    self.pipe.issue_timed(cycles);
                } else {
                    alu!();
                }
                if matches!(op.kind, Kind::Sdiv | Kind::Udiv)
                    && rm!() == 0
                    && self.system.divide_by_zero_traps()
                {
                    return Err(Trap::Usage(UsageFault::DivideByZero));
                }
                self.regs.compute(op, self.it_of_current == 0);
            }
        }
        Ok(())
    }

    /// MRS (B5.2.2).
    fn special_register(&self, number: u32) -> u32 {
        let privileged = self.privileged();
        match number {
            0..=7 => {
                let mut value = 0;
                if number & 4 == 0 {
                    value |= self.apsr();
                }
                if number & 1 != 0 {
                    value |= u32::from(self.ipsr);
                }
                value
            }
            8 if privileged => self.main_stack_pointer(),
            9 if privileged => self.process_stack_pointer(),
            16 if privileged => u32::from(self.primask),
            17 | 18 if privileged => u32::from(self.basepri),
            19 if privileged => u32::from(self.faultmask),
            20 => u32::from(self.control),
            _ => 0,
        }
    }

    /// MSR (B5.2.3).
    fn write_special_register(&mut self, entry: &Entry) {
        let op = &entry.op;
        let value = self.regs.r[op.rn as usize];
        let privileged = self.privileged();
        let priority = value as u8;
        // The bits that a chip does not implement take part in the comparison
        // (other/msr_mrs_priority_boosters).
        let above_base = priority != 0 && (self.basepri == 0 || priority < self.basepri);
        let mut raises = false;
        match op.imm {
            0..=3 => {
                let ge = u32::from(self.regs.ge) << 16;
                if op.ra & 2 != 0 {
                    self.set_apsr(value & !0xf_0000 | ge);
                }
                if op.ra & 1 != 0 {
                    self.set_ge(value);
                }
            }
            8 if privileged => self.set_main_stack_pointer(value),
            9 if privileged => self.set_process_stack_pointer(value),
            16 if privileged => {
                raises = value & 1 != 0 && !self.primask;
                self.primask = value & 1 != 0;
            }
            17 if privileged => {
                raises = above_base;
                self.basepri = priority & self.system.priority_mask();
            }
            18 if privileged && above_base => {
                raises = true;
                self.basepri = priority & self.system.priority_mask();
            }
            19 if privileged && (value & 1 == 0 || self.faults_can_be_masked()) => {
                raises = value & 1 != 0 && !self.faultmask;
                self.faultmask = value & 1 != 0;
            }
            20 if privileged => {
                raises = true;
                let float = if self.timing.float { FPCA } else { 0 };
                self.set_control(value as u8 & (3 | float));
            }
            _ => {}
        }
        // One cycle more where the execution priority may rise (other/msr_mrs_priority_boosters,
        // other/cps_it), and for CONTROL (other/msr_mrs_control).
        self.pipe.issue_timed(1 + u8::from(raises));
        self.recheck = true;
    }
}
