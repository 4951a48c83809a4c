//! Plain instructions, while nothing is due: no interrupt, no access to the bus, no observation
//! but a digest of addresses.
//!
//! What this does is what `step.rs` does; it leaves to that all that it cannot do.

use joulemark_kernel::Fault;

use crate::bus::{Bus, Width};
use crate::compute::{compute, is_taken};
use crate::core::{Core, SP};
use crate::decode::Kind;

const RA: u8 = 1;

impl<B: Bus> Core<B> {
    /// Run plain instructions until a cycle or until something is due.
    pub(crate) fn run_plainly<const DIGESTING: bool>(
        &mut self,
        until: u64,
    ) -> Result<(), Box<Fault>> {
        let limit = until.min(self.check);
        let is_idle = self.step == 0 && self.divided_at == 0 && !self.has_jumped;
        let code = self
            .memories
            .iter()
            .position(|memory| memory.executes() && memory.offset(self.pc, 2).is_some())
            .filter(|&code| code != self.late);
        let Some(code) = code.filter(|_| is_idle && self.now < limit) else {
            return Ok(());
        };
        let mut instructions = 0;
        let done = self.run_in::<DIGESTING>(code, limit, &mut instructions);
        self.instructions += instructions;
        done
    }

    fn run_in<const DIGESTING: bool>(
        &mut self,
        code: usize,
        limit: u64,
        count: &mut u64,
    ) -> Result<(), Box<Fault>> {
        while self.now < limit {
            let op = self.memories[code].decoded(self.pc);
            if op.kind > Kind::Bgeu || op.kind <= Kind::Illegal {
                return Ok(());
            }
            let is_store = op.kind >= Kind::Sb && op.kind <= Kind::Sw;
            if self.now <= self.access_until {
                let loads = self.loads;
                if self.now < self.access_until {
                    return Ok(());
                }
                if loads != 0 && (loads == op.rs1 || loads == op.rs2 && !is_store) {
                    self.prefetch.tick(0);
                    self.now += 1;
                    continue;
                }
            }
            if self.prefetch.level() < op.size {
                self.prefetch.tick(0);
                self.now += 1;
                continue;
            }
            macro_rules! touch {
                ($address:expr) => {
                    if DIGESTING {
                        self.observer.touch($address);
                    }
                };
            }
            let is_wide = op.size == 2;
            let predicted = self.prefetch.predicted() & if is_wide { 3 } else { 1 };
            let is_predicted = predicted != 0;
            if is_predicted && (is_wide && predicted != 3 || op.kind < Kind::Beq) {
                return Ok(());
            }
            let a = self.registers[usize::from(op.rs1 & 31)];
            let b = self.registers[usize::from(op.rs2 & 31)];
            let next = self.pc.wrapping_add(u32::from(op.size) * 2);
            if op.kind <= Kind::Mulhu {
                touch!(self.pc);
                let value = compute(op.kind, a, b.wrapping_add(op.imm as u32));
                if usize::from(op.rd) == SP {
                    self.move_stack(value)?;
                }
                self.registers[usize::from(op.rd & 63).min(32)] = value;
            } else if op.kind >= Kind::Lb && op.kind <= Kind::Sw {
                let address = a.wrapping_add(op.imm as u32);
                let width = match op.kind {
                    Kind::Lb | Kind::Lbu | Kind::Sb => Width::Byte,
                    Kind::Lh | Kind::Lhu | Kind::Sh => Width::Half,
                    _ => Width::Word,
                };
                let found = self
                    .memories
                    .iter()
                    .enumerate()
                    .find_map(|(number, memory)| {
                        let at = memory.offset(address, width.bytes())?;
                        Some((number, at))
                    });
                let Some((number, at)) = found.filter(|&(number, _)| number != self.late) else {
                    return Ok(());
                };
                let memory = &mut self.memories[number];
                if address & (width.bytes() - 1) != 0 || is_store && !memory.is_ram() {
                    return Ok(());
                }
                touch!(self.pc);
                touch!(address);
                self.access_until = self.now + 1;
                self.is_exclusive = false;
                self.is_in_flight = true;
                if is_store {
                    self.loads = 0;
                    memory.write(at, b, width);
                } else {
                    let value = memory.read(at, width);
                    let value = match op.kind {
                        Kind::Lb => value as i8 as u32,
                        Kind::Lh => value as i16 as u32,
                        _ => value,
                    };
                    self.loads = op.rd;
                    if usize::from(op.rd) == SP {
                        self.move_stack(value)?;
                    }
                    self.registers[usize::from(op.rd & 63).min(32)] = value;
                }
            } else if op.kind >= Kind::Beq {
                if is_taken(op.kind, a, b) == is_predicted {
                    touch!(self.pc);
                    self.pc = if is_predicted {
                        self.prefetch.target()
                    } else {
                        next
                    };
                } else {
                    if op.before_fence {
                        return Ok(());
                    }
                    touch!(self.pc);
                    if is_predicted {
                        self.prefetch.forget();
                        self.pc = next;
                    } else {
                        let target = self.pc.wrapping_add(op.imm as u32);
                        if op.imm < 0 {
                            self.prefetch.remember(self.pc, is_wide, target);
                        }
                        self.pc = target;
                    }
                    self.prefetch.jump(self.pc, 0);
                    self.now += 1;
                    *count += 1;
                    if self.memories[code].offset(self.pc, 2).is_none() {
                        return Ok(());
                    }
                    continue;
                }
                self.prefetch.tick(op.size);
                self.now += 1;
                *count += 1;
                continue;
            } else if op.kind == Kind::Auipc && usize::from(op.rd) != SP {
                touch!(self.pc);
                let value = self.pc.wrapping_add(op.imm as u32);
                self.registers[usize::from(op.rd & 63).min(32)] = value;
            } else if op.kind == Kind::Jal || op.kind == Kind::Jalr {
                if op.before_fence || usize::from(op.rd) == SP {
                    return Ok(());
                }
                touch!(self.pc);
                let base = if op.kind == Kind::Jal { self.pc } else { a };
                let target = base.wrapping_add(op.imm as u32) & !1;
                self.registers[usize::from(op.rd & 63).min(32)] = next;
                if op.rd == RA {
                    self.observer.call(next, self.registers[SP], false);
                } else if op.kind == Kind::Jalr && op.rs1 == RA {
                    self.observer.returned(target, false);
                }
                self.prefetch.jump(target, 0);
                self.pc = target;
                self.now += 1;
                *count += 1;
                if self.memories[code].offset(target, 2).is_none() {
                    return Ok(());
                }
                continue;
            } else {
                return Ok(());
            }
            self.prefetch.tick(op.size);
            self.pc = next;
            self.now += 1;
            *count += 1;
        }
        Ok(())
    }
}
