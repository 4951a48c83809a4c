//! LDM and STM, which make way for an exception in their midst and go on after it (ARM DDI 0403E.e,
//! B1.5.10; ARM DDI 0337I, section 3.9.1).
//!
//! ITSTATE then holds ICI instead: the number of the next register, times 16.

use crate::bus::{Bus, Width};
use crate::core::{Core, Trap};
use crate::exec::Done;
use crate::memo::is_it;
use crate::memory::Entry;
use crate::op::{Kind, Op};
use crate::registers::Registers;
use crate::system::UsageFault;
use crate::traits::Traits;

const PC: u32 = 1 << 15;

/// The registers of a list that are left to be transferred.
const fn left(list: u32, state: u8) -> u32 {
    if is_it(state) {
        list
    } else {
        list & (u32::MAX << (state >> 4))
    }
}

/// So many of the lowest registers of a list.
const fn lowest(mut list: u32, count: u32) -> u32 {
    let whole = list;
    let mut done = 0;
    while done < count {
        list &= list.wrapping_sub(1);
        done += 1;
    }
    whole & !list
}

/// Numbers of the registers of a list.
pub fn registers(mut list: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let register = list.trailing_zeros();
        list &= list.wrapping_sub(1);
        (register < 16).then_some(register as u8)
    })
}

/// An instruction that transfers only these registers of its list.
fn part(entry: &Entry, list: u32) -> Entry {
    let mut part = *entry;
    part.op.imm = list;
    part.traits.transfers = list.count_ones() as u8;
    part.traits.writes &= list as u16;
    let ends = list.leading_zeros() == entry.op.imm.leading_zeros();
    if !ends {
        part.traits.flags &= !Traits::WRITEBACK;
    }
    part
}

/// Where the lowest register of the list belongs, and the base that is written back.
///
/// Of an instruction that counts down the base is written first, so that an exception's frame
/// comes to lie below what was stored.
fn span(regs: &Registers, op: &Op, state: u8) -> (u32, u32) {
    let base = regs.read(op.rn);
    let bytes = 4 * op.imm.count_ones();
    let goes_on = state != 0 && !is_it(state);
    match op.kind {
        Kind::Ldmia | Kind::Stmia => (base, base.wrapping_add(bytes)),
        _ if goes_on && op.is(Op::WRITEBACK) => (base, base),
        _ => (base.wrapping_sub(bytes), base.wrapping_sub(bytes)),
    }
}

/// The registers that are left, the address of the first of them, and the base to write back.
pub fn transfers(regs: &Registers, op: &Op, state: u8) -> (u32, u32, u32) {
    let (start, back) = span(regs, op, state);
    let list = left(op.imm, state);
    let before = 4 * (op.imm & !list).count_ones();
    (list, start.wrapping_add(before), back)
}

impl<B: Bus> Core<B> {
    pub(crate) fn load_multiple(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        let (list, start, back) = transfers(&self.regs, op, self.it_of_current);
        Self::aligned(start, 4)?;
        let branches = list & PC != 0;
        if !branches {
            self.pipe.issue_access(entry, start);
        }
        let mut values = [0; 16];
        for (register, address) in registers(list).zip((start..).step_by(4)) {
            values[register as usize] = self.load(address, Width::Word, false)?;
        }
        if op.is(Op::WRITEBACK) {
            self.regs.write(op.rn, back);
        }
        for register in registers(list & !PC) {
            self.regs.write(register, values[register as usize]);
        }
        if branches {
            return self.branch_from_memory(entry, start, values[15]);
        }
        Ok(())
    }

    pub(crate) fn store_multiple(&mut self, entry: &Entry) -> Done {
        let op = &entry.op;
        let (list, start, back) = transfers(&self.regs, op, self.it_of_current);
        Self::aligned(start, 4)?;
        self.pipe.issue_access(entry, start);
        for (register, address) in registers(list).zip((start..).step_by(4)) {
            self.store(address, self.regs.read(register), Width::Word, false)?;
        }
        if op.is(Op::WRITEBACK) {
            self.regs.write(op.rn, back);
        }
        Ok(())
    }

    /// An exception has returned into the midst of this instruction: it is prepared to go on.
    pub(crate) fn resume(&mut self, entry: &Entry) -> Done {
        let Op { kind, imm, .. } = entry.op;
        let state = std::mem::take(&mut self.it);
        let list = left(imm, state);
        if !kind.is_multiple() || list == 0 {
            return Err(Trap::Usage(UsageFault::InvalidState));
        }
        self.pipe.begin_apart(self.pc, state, part(entry, list));
        Ok(())
    }

    /// When each transfer of an instruction has its address out, if an exception can come between
    /// them: all go to one memory.
    pub(crate) fn interruptible(&mut self, entry: &Entry) -> Option<Vec<u64>> {
        if !entry.op.kind.is_multiple() || self.system.mpu.is_on() {
            return None;
        }
        let (list, start, _) = transfers(&self.regs, &entry.op, self.it);
        let count = list.count_ones();
        let last = start.wrapping_add(4 * count.wrapping_sub(1));
        let place = |address| {
            if entry.traits.is(Traits::STORE) {
                self.memory.to_write(address, Width::Word)
            } else {
                self.memory.to_read(address, Width::Word)
            }
        };
        let in_one = place(start)
            .zip(place(last))
            .is_some_and(|(first, last)| last.wrapping_sub(first) == 4 * (count as usize - 1));
        if count < 2 || !start.is_multiple_of(4) || !in_one {
            return None;
        }
        let part = part(entry, list);
        let in_it = is_it(self.it);
        Some(self.pipe.presented(&part, in_it, start, &self.memory))
    }

    /// Run as much of the next instruction as has its addresses out two cycles before this one, when
    /// an exception is taken. False where that is nothing.
    pub(crate) fn run_part(&mut self, entry: &Entry, at: u64) -> bool {
        let Some(presented) = self.interruptible(entry) else {
            return false;
        };
        let op = &entry.op;
        let (list, start, back) = transfers(&self.regs, op, self.it);
        let mut count = presented.iter().filter(|&&cycle| cycle + 2 <= at).count() as u32;
        let loads = !entry.traits.is(Traits::STORE);
        if loads && list >> op.rn & 1 != 0 {
            // It goes on from before the load of its base.
            count = count.min((list & !(u32::MAX << op.rn)).count_ones());
        }
        if count == 0 {
            return false;
        }
        let done = lowest(list, count);
        if !is_it(self.it) {
            self.follow(|secrets, before| secrets.part(before, entry, done, start));
        }
        self.pipe.begin_apart(self.pc, self.it, part(entry, done));
        if is_it(self.it) {
            self.pipe.conditional(false);
        }
        self.pipe.issue_part(entry, start, count as u8);
        if is_it(self.it) {
            return true; // It starts again.
        }
        for (register, address) in registers(done).zip((start..).step_by(4)) {
            self.touch(address);
            if loads {
                if let Some(place) = self.memory.to_read(address, Width::Word) {
                    self.regs.write(register, self.memory.word(place));
                }
            } else if let Some(place) = self.memory.to_write(address, Width::Word) {
                let value = self.regs.read(register);
                self.memory.write(place, value, Width::Word);
            }
        }
        if op.is(Op::WRITEBACK) && matches!(op.kind, Kind::Ldmdb | Kind::Stmdb) {
            self.regs.write(op.rn, back);
        }
        self.it = ((list & !done).trailing_zeros() << 4) as u8;
        true
    }
}
