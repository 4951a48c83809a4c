//! Plain instructions, while nothing is due: no interrupt, no access to the bus, no observation
//! but a digest of addresses.
//!
//! What this does is what `step.rs` does, a block at a time; it leaves to that all that it cannot do.

use joulemark_kernel::numbers::NONE;

use crate::blocks::{Access, End, State, Way, is_plain};
use crate::bus::{Bus, Width};
use crate::compute::{compute, is_taken};
use crate::core::{Core, SP};
use crate::decode::Kind;

const RA: u8 = 1;
/// Cycles for which it is not worth it to look a block up.
const FEW: u64 = 4;

/// What came of the instructions of a block.
struct Ran {
    /// So many of them.
    count: u32,
    /// The last one jumps to this address.
    taken: Option<u32>,
    /// The next one is not known any more, or needs more.
    stops: bool,
}

impl<B: Bus> Core<B> {
    /// Run plain instructions until a cycle or until something is due.
    pub(crate) fn run_plainly<const DIGESTING: bool>(&mut self, until: u64) {
        let limit = until.min(self.check);
        let is_idle = self.step == 0 && self.divided_at == 0 && !self.has_jumped;
        if !is_idle || self.now + FEW > limit || self.now < self.access_until {
            return;
        }
        let Some((code, mut number)) = self.enter() else {
            return;
        };
        loop {
            let way = self.blocks.ways[number as usize];
            if way.count == 0 {
                self.leave(number, 0, None);
                return;
            }
            if self.now + u64::from(way.cycles) > limit {
                let count = self.blocks.fitting(number, limit - self.now);
                let ran = self.run_block::<DIGESTING>(&Way { count, ..way });
                self.leave(number, ran.count, ran.taken);
                return;
            }
            let ran = self.run_block::<DIGESTING>(&way);
            if ran.stops {
                self.leave(number, ran.count, None);
                return;
            }
            let known = match ran.taken {
                Some(target) if way.end == End::Free => self.blocks.known_jump(number, target),
                taken => {
                    let exit = way.exits[usize::from(taken.is_some())];
                    (exit != NONE).then_some(exit)
                }
            };
            let Some(next) = known else {
                let (state, pc, _) = self.blocks.behind(number, way.count, ran.taken);
                let memory = &mut self.memories[code];
                if memory.offset(pc, 2).is_none() || memory.has_changed() {
                    self.leave(number, ran.count, ran.taken);
                    return;
                }
                let known = self.blocks.ways.len();
                let next = self.blocks.enter(pc, &state, memory);
                // Unless all was forgotten.
                if self.blocks.ways.len() >= known {
                    self.blocks.link(number, ran.taken, next);
                }
                self.go_through(&way);
                number = next;
                continue;
            };
            self.go_through(&way);
            number = next;
        }
    }

    #[inline]
    fn go_through(&mut self, way: &Way) {
        self.now += u64::from(way.cycles);
        self.instructions += u64::from(way.count);
        self.is_in_flight |= way.accesses;
    }

    /// The memory and the way of the block that begins here.
    fn enter(&mut self) -> Option<(usize, u32)> {
        for memory in &mut self.memories {
            if memory.take_changed() {
                self.blocks.forget();
            }
        }
        let runs_here = |memory: &crate::memory::Memory| {
            memory.executes() && memory.offset(self.pc, 2).is_some()
        };
        let code = self.memories.iter().position(runs_here)?;
        if code == self.late || !is_plain(&self.memories[code].decoded(self.pc)) {
            return None;
        }
        let access = (self.access_until == self.now).then_some(Access {
            loads: self.loads,
            is_exclusive: self.is_exclusive,
        });
        let state = State {
            prefetch: self.prefetch,
            access,
        };
        Some((
            code,
            self.blocks.enter(self.pc, &state, &mut self.memories[code]),
        ))
    }

    /// Go on instruction by instruction, behind so many of a way.
    #[cold]
    fn leave(&mut self, way: u32, count: u32, taken: Option<u32>) {
        let (state, pc, cycles) = self.blocks.behind(way, count, taken);
        self.pc = pc;
        self.now += u64::from(cycles);
        self.instructions += u64::from(count);
        self.prefetch = state.prefetch;
        if let Some(access) = state.access {
            self.access_until = self.now;
            (self.loads, self.is_exclusive) = (access.loads, access.is_exclusive);
        }
        let way = &self.blocks.ways[way as usize];
        let ops = &self.blocks.ops[way.first as usize..][..count as usize];
        self.is_in_flight |= ops.iter().any(|op| op.kind.loads() || op.kind.stores());
    }

    /// Do what the instructions of a block do, all but time, up to one that needs more.
    #[inline]
    fn run_block<const DIGESTING: bool>(&mut self, way: &Way) -> Ran {
        let Self {
            memories,
            registers,
            observer,
            blocks,
            late,
            ..
        } = self;
        let mut pc = way.pc;
        let mut taken = None;
        let ops = &blocks.ops[way.first as usize..][..way.count as usize];
        for (count, op) in (0..).zip(ops) {
            macro_rules! stop {
                () => {
                    return Ran {
                        count,
                        taken: None,
                        stops: true,
                    }
                };
            }
            let next = pc.wrapping_add(2 * u32::from(op.size));
            let a = registers[usize::from(op.rs1 & 63)];
            let b = registers[usize::from(op.rs2 & 63)];
            macro_rules! touch {
                () => {
                    if DIGESTING {
                        observer.touch(pc);
                    }
                };
            }
            macro_rules! place {
                ($width:expr) => {{
                    let address = a.wrapping_add(op.imm as u32);
                    let width: Width = $width;
                    if address & (width.bytes() - 1) != 0 {
                        stop!();
                    }
                    let mut number = 0;
                    let at = loop {
                        let Some(memory) = memories.get(number) else {
                            stop!();
                        };
                        if let Some(at) = memory.offset(address, width.bytes()) {
                            break at;
                        }
                        number += 1;
                    };
                    if number == *late || op.kind.stores() && !memories[number].is_ram() {
                        stop!();
                    }
                    touch!();
                    if DIGESTING {
                        observer.touch(address);
                    }
                    (number, at)
                }};
            }
            macro_rules! load {
                ($width:expr, $extend:ty) => {{
                    let (number, at) = place!($width);
                    let value = memories[number].read(at, $width);
                    registers[usize::from(op.rd & 63)] = value as $extend as u32;
                }};
            }
            macro_rules! store {
                ($width:expr) => {{
                    let (number, at) = place!($width);
                    let memory = &mut memories[number];
                    memory.write(at, b, $width);
                    if memory.has_changed() {
                        return Ran {
                            count: count + 1,
                            taken: None,
                            stops: true,
                        };
                    }
                }};
            }
            match op.kind {
                Kind::Lb => load!(Width::Byte, i8),
                Kind::Lh => load!(Width::Half, i16),
                Kind::Lw => load!(Width::Word, u32),
                Kind::Lbu => load!(Width::Byte, u32),
                Kind::Lhu => load!(Width::Half, u32),
                Kind::Sb => store!(Width::Byte),
                Kind::Sh => store!(Width::Half),
                Kind::Sw => store!(Width::Word),
                Kind::Jal | Kind::Jalr => {
                    touch!();
                    let base = if op.kind == Kind::Jal { pc } else { a };
                    let target = base.wrapping_add(op.imm as u32) & !1;
                    registers[usize::from(op.rd & 63)] = next;
                    if op.rd == RA {
                        observer.call(next, registers[SP], false);
                    } else if op.kind == Kind::Jalr && op.rs1 == RA {
                        observer.returned(target, false);
                    }
                    taken = Some(target);
                }
                Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                    touch!();
                    if is_taken(op.kind, a, b) {
                        taken = Some(pc.wrapping_add(op.imm as u32));
                    }
                }
                Kind::Bextm => {
                    touch!();
                    let mask = (2 << (op.imm >> 5)) - 1;
                    let by = b.wrapping_add(op.imm as u32);
                    registers[usize::from(op.rd & 63)] = a.wrapping_shr(by) & mask;
                }
                kind => {
                    let value = compute(kind, a, b.wrapping_add(op.imm as u32));
                    if usize::from(op.rd) == SP && !observer.moves_stack(registers[SP], value) {
                        stop!();
                    }
                    touch!();
                    registers[usize::from(op.rd & 63)] = value;
                }
            }
            pc = next;
        }
        Ran {
            count: way.count,
            taken,
            stops: false,
        }
    }
}
