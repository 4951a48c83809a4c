//! Instructions while nothing is watched, from memory that answers at once: what most take, out of the way of
//! what few need. What this does not do itself, `execute.rs` does.

use joulemark_armv7m::{Bus, Width};

use crate::core::{Core, LR, PC, SP};
use crate::decode::Kind;
use crate::execute::{ACCESS, Trap, no_code, no_thumb};

impl<B: Bus> Core<B> {
    /// Execute until a limit or until something is due.
    pub(crate) fn run_plainly(&mut self, limit: u64) -> Result<(), Trap> {
        let multiply_cycles = u64::from(self.config.multiply_cycles);
        let mut code = usize::MAX;
        let mut start = 0;
        // These are the core's again wherever anything else looks at it.
        let (mut pc, mut now, mut flags, mut count) = (self.pc, self.now, self.flags, 0);
        let mut until = limit.min(self.check);
        let mut late = self.late();
        macro_rules! hand_over {
            () => {
                (self.pc, self.now, self.flags) = (pc, now, flags);
                self.instructions += std::mem::take(&mut count);
            };
        }
        if !self.thumb {
            return Err(no_thumb());
        }
        while now < until {
            let offset = pc.wrapping_sub(start) as usize / 2;
            let found = self
                .memories
                .get(code)
                .and_then(|memory| memory.ops.get(offset));
            let Some(&op) = found else {
                let mut memories = self.memories.iter();
                let place = memories.position(|memory| memory.offset(pc, 2).is_some());
                let Some(place) = place else {
                    hand_over!();
                    return Err(no_code());
                };
                if place == late {
                    break;
                }
                self.memories[place].prepare();
                (code, start) = (place, self.memories[place].start);
                continue;
            };
            let a = self.r[usize::from(op.rn).min(16)];
            let b = self.r[usize::from(op.rm).min(16)].wrapping_add(op.imm);
            let rd = usize::from(op.rd & 15);
            let next = pc.wrapping_add(op.size.into());
            match op.kind {
                kind if kind.computes() => {
                    self.r[rd] = flags.compute(kind, self.r[rd], a, b);
                    now += if kind == Kind::Mul {
                        multiply_cycles
                    } else {
                        1
                    };
                    (pc, count) = (next, count + 1);
                    continue;
                }
                Kind::Ldr | Kind::Ldrb | Kind::Ldrh => {
                    let width = match op.kind {
                        Kind::Ldr => Width::Word,
                        Kind::Ldrh => Width::Half,
                        _ => Width::Byte,
                    };
                    if let Some(value) = self.peek(a.wrapping_add(b), width, late) {
                        self.r[rd] = value;
                        now += ACCESS;
                        (pc, count) = (next, count + 1);
                        continue;
                    }
                }
                Kind::Str | Kind::Strb | Kind::Strh => {
                    let width = match op.kind {
                        Kind::Str => Width::Word,
                        Kind::Strh => Width::Half,
                        _ => Width::Byte,
                    };
                    if self.poke(a.wrapping_add(b), self.r[rd], width) {
                        now += ACCESS;
                        (pc, count) = (next, count + 1);
                        continue;
                    }
                }
                Kind::MovAny if rd != PC && rd != SP => {
                    self.r[rd] = b;
                    now += 1;
                    (pc, count) = (next, count + 1);
                    continue;
                }
                Kind::AddAny if rd != PC && rd != SP && usize::from(op.rn) != PC => {
                    self.r[rd] = a.wrapping_add(b);
                    now += 1;
                    (pc, count) = (next, count + 1);
                    continue;
                }
                Kind::Nop => {
                    now += 1;
                    (pc, count) = (next, count + 1);
                    continue;
                }
                Kind::BranchIf => {
                    let taken = flags.hold(op.rd);
                    now += if taken { u64::from(op.cycles) } else { 1 };
                    pc = if taken { op.imm } else { next };
                    count += 1;
                    continue;
                }
                Kind::Branch => {
                    now += u64::from(op.cycles);
                    (pc, count) = (op.imm, count + 1);
                    continue;
                }
                Kind::BranchLink => {
                    now += u64::from(op.cycles);
                    self.r[LR] = next | 1;
                    self.observer.call(next, self.r[SP], false);
                    (pc, count) = (op.imm, count + 1);
                    continue;
                }
                _ => {}
            }
            hand_over!();
            if op.kind <= Kind::Breakpoint {
                self.decode(code, false)?;
                continue;
            }
            self.one::<false, true>(op)?;
            self.instructions += 1;
            if !self.thumb {
                return Ok(());
            }
            (pc, now, flags) = (self.pc, self.now, self.flags);
            (until, late) = (limit.min(self.check), self.late());
            if code == late {
                return Ok(());
            }
        }
        hand_over!();
        Ok(())
    }

    /// The number of the memory that answers late.
    fn late(&self) -> usize {
        let reader = self.reader.as_ref().filter(|reader| reader.is_slow());
        reader.map_or(usize::MAX, |_| self.late_memory)
    }

    /// Load from memory that answers at once.
    #[inline]
    fn peek(&self, address: u32, width: Width, late: usize) -> Option<u32> {
        if address & (width.bytes() - 1) != 0 {
            return None;
        }
        let mut memories = self.memories.iter().enumerate();
        memories.find_map(|(number, memory)| {
            let at = memory.offset(address, width.bytes())?;
            (number != late).then(|| memory.read(at, width))
        })
    }

    /// Store to RAM; false if there is none.
    #[inline]
    fn poke(&mut self, address: u32, value: u32, width: Width) -> bool {
        if address & (width.bytes() - 1) != 0 {
            return false;
        }
        for memory in &mut self.memories {
            if let Some(at) = memory.offset(address, width.bytes())
                && memory.is_ram()
            {
                memory.write(at, value, width);
                return true;
            }
        }
        false
    }
}
