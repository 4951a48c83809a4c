//! Effects of the floating-point extension's instructions on the core: who may run them, loads and stores,
//! transfers, and state that waits to be stacked (ARM DDI 0403E.e, A7.7, B1.5.7 and B1.4.7).

use crate::bus::{Bus, Width};
use crate::core::{Core, Trap};
use crate::fpu::CONDITIONS;
use crate::memory::Entry;
use crate::op::{Kind, Op};
use crate::registers::literal;
use crate::system::UsageFault;

/// CONTROL.FPCA: the extension is in use.
pub const FPCA: u8 = 4;
/// Bytes of a frame with the extension's state, and the offset of that.
pub const FLOAT_FRAME_BYTES: u32 = 0x68;
const STATE_OFFSET: u32 = 0x20;
/// S0 to S15 and FPSCR.
pub const STATE_WORDS: u8 = 17;
/// What reserved state takes when it is stacked: inferred, as STM of so many words.
const STATE_CYCLES: u64 = 1 + STATE_WORDS as u64;

impl<B: Bus> Core<B> {
    /// Run one of these instructions.
    pub(crate) fn execute_float(&mut self, entry: &Entry) -> Result<(), Trap> {
        let op = &entry.op;
        if !self.system.float.is_allowed(self.privileged()) {
            self.pipe.issue();
            return Err(Trap::Usage(UsageFault::NoCoprocessor));
        }
        if op.kind == Kind::VUndefined {
            self.pipe.issue();
            return Err(Trap::Usage(UsageFault::Undefined));
        }
        self.use_float()?;
        match op.kind {
            Kind::Vldr | Kind::Vldm | Kind::Vstr | Kind::Vstm => {
                return self.move_floats(entry);
            }
            Kind::VmovToCore => self.regs.write(op.rd, self.fpu.read(op.rm)),
            Kind::VmovFromCore => self.fpu.write(op.rm, self.regs.read(op.rd)),
            Kind::VmovTwoToCore => {
                let pair = [self.fpu.read(op.rm), self.fpu.read(op.rm + 1)];
                self.regs.write(op.rd, pair[0]);
                self.regs.write(op.rn, pair[1]);
            }
            Kind::VmovTwoFromCore => {
                self.fpu.write(op.rm, self.regs.read(op.rd));
                self.fpu.write(op.rm + 1, self.regs.read(op.rn));
            }
            Kind::Vmrs if op.rd == 15 => {
                let others = self.apsr() & !CONDITIONS;
                self.set_apsr(others | self.fpu.fpscr() & CONDITIONS);
            }
            Kind::Vmrs => self.regs.write(op.rd, self.fpu.fpscr()),
            Kind::Vmsr => self.fpu.set_fpscr(self.regs.read(op.rd)),
            _ => self.fpu.compute(op),
        }
        self.pipe.issue();
        Ok(())
    }

    /// Registers of the extension, where there is one: S0 to S31, and FPSCR. They are as instructions would
    /// see them, whether or not those may.
    pub fn float_registers(&self) -> Option<([u32; 32], u32)> {
        let is_there = self.system.float.is_there();
        is_there.then(|| (self.fpu.s, self.fpu.fpscr()))
    }

    /// Set S0 to S31, or what follows them, FPSCR. False where there is no such register.
    pub fn set_float_register(&mut self, number: usize, value: u32) -> bool {
        if !self.system.float.is_there() || number > 32 {
            return false;
        }
        match self.fpu.s.get_mut(number) {
            Some(register) => *register = value,
            None => self.fpu.set_fpscr(value),
        }
        true
    }

    /// `ExecuteFPCheck`: state of interrupted code goes to its frame, and a new context begins.
    fn use_float(&mut self) -> Result<(), Trap> {
        if let Some((at, user)) = self.system.float.take_reserved() {
            self.store_float_state(at, user).map_err(|(_, trap)| trap)?;
            self.hold_up(STATE_CYCLES);
        }
        if self.system.float.is_automatic() && self.control & FPCA == 0 {
            self.fpu.begin_context(self.system.float.default_status());
            self.control |= FPCA;
        }
        Ok(())
    }

    /// Store S0 to S15 and FPSCR. `Err` holds the address that failed.
    fn store_float_state(&mut self, at: u32, user: bool) -> Result<(), (u32, Trap)> {
        let fpscr = self.fpu.fpscr();
        let values: Vec<u32> = self.fpu.s[..16].iter().copied().chain([fpscr]).collect();
        for (value, at) in values.into_iter().zip((at..).step_by(4)) {
            self.store(at, value, Width::Word, user)
                .map_err(|trap| (at, trap))?;
        }
        Ok(())
    }

    /// The extension's part of an exception's entry. Says how many words go to the frame now.
    ///
    /// # Errors
    /// The address that could not be stored to.
    pub(crate) fn stack_float(&mut self, frame: u32) -> Result<u8, (u32, Trap)> {
        if self.control & FPCA == 0 {
            return Ok(0);
        }
        let at = frame.wrapping_add(STATE_OFFSET);
        if self.system.float.is_lazy() {
            let (thread, privileged) = (self.ipsr == 0, self.privileged());
            self.system.float.reserve(at, thread, privileged);
            return Ok(0);
        }
        self.follow(|secrets, before| secrets.stack_float(before, at));
        self.store_float_state(at, false)?;
        Ok(STATE_WORDS)
    }

    /// Words that a return to code which used the extension loads beside the others.
    pub(crate) fn float_words_of_return(&self) -> u8 {
        if self.system.float.is_reserved() {
            0
        } else {
            STATE_WORDS
        }
    }

    /// The extension's part of a return: its state comes from the frame, unless it never went there.
    pub(crate) fn unstack_float(&mut self, frame: u32, user: bool) -> Result<(), Trap> {
        if self.system.float.take_reserved().is_some() {
            return Ok(());
        }
        let mut values = [0; STATE_WORDS as usize];
        let at = frame.wrapping_add(STATE_OFFSET);
        for (value, at) in values.iter_mut().zip((at..).step_by(4)) {
            *value = self.load(at, Width::Word, user)?;
        }
        self.follow(|secrets, before| secrets.unstack_float(before, frame));
        self.fpu.s[..16].copy_from_slice(&values[..16]);
        self.fpu.set_fpscr(values[16]);
        Ok(())
    }

    /// VLDR, VSTR, VLDM and VSTM.
    fn move_floats(&mut self, entry: &Entry) -> Result<(), Trap> {
        let op = &entry.op;
        let (start, back) = self.float_address(op);
        Self::aligned(start, 4)?;
        self.pipe.issue_access(entry, start);
        let words = usize::from(op.amount);
        let places = (op.rd..).zip((start..).step_by(4)).take(words);
        if matches!(op.kind, Kind::Vldr | Kind::Vldm) {
            let mut values = [0; 32];
            for ((_, at), value) in places.clone().zip(&mut values) {
                *value = self.load(at, Width::Word, false)?;
            }
            for ((register, _), value) in places.zip(values) {
                self.fpu.write(register, value);
            }
        } else {
            for (register, at) in places {
                self.store(at, self.fpu.read(register), Width::Word, false)?;
            }
        }
        if op.is(Op::WRITEBACK) {
            self.regs.write(op.rn, back);
        }
        Ok(())
    }

    /// Where an access goes, and the base that is written back.
    fn float_address(&self, op: &Op) -> (u32, u32) {
        if op.kind == Kind::Vldr && op.rn == 15 {
            return (literal(self.pc, op), 0);
        }
        let base = self.regs.read(op.rn);
        let sum = base.wrapping_add(op.imm);
        let to_sum = matches!(op.kind, Kind::Vldr | Kind::Vstr) || op.is(Op::INDEX);
        (if to_sum { sum } else { base }, sum)
    }
}
