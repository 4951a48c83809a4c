//! Instructions while nothing is followed, from memory that answers at once: what most take, in
//! blocks, out of the way of what few need. What this does not do itself, `execute.rs` does.

use joulemark_armv7m::{Bus, Width};

use crate::blocks::{Block, is_plain};
use crate::core::{Core, LR, SP};
use crate::decode::Kind;
use crate::execute::{Trap, no_code, no_thumb};
use crate::flags::Flags;

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
    /// Execute until a limit or until something is due.
    pub(crate) fn run_plainly<const DIGESTING: bool>(&mut self, limit: u64) -> Result<(), Trap> {
        let multiply = self.config.multiply_cycles;
        let mut code = usize::MAX;
        let mut start = 0;
        if !self.thumb {
            return Err(no_thumb());
        }
        self.forget_changed();
        let mut until = limit.min(self.check);
        let mut late = self.late();
        while self.now < until {
            let offset = self.pc.wrapping_sub(start) as usize / 2;
            let found = self.memories.get(code);
            let Some(&number) = found.and_then(|memory| memory.blocks.get(offset)) else {
                let mut memories = self.memories.iter();
                let place = memories.position(|memory| memory.offset(self.pc, 2).is_some());
                let Some(place) = place else {
                    return Err(no_code());
                };
                if place == late {
                    break;
                }
                self.memories[place].prepare();
                (code, start) = (place, self.memories[place].start);
                continue;
            };
            if number != 0 {
                let block = self.blocks.list[number as usize - 1];
                let fits = self.now + u64::from(block.cycles[1]) <= until;
                let count = if fits {
                    block.count
                } else {
                    self.blocks.beginning(&block, until - self.now, multiply)
                };
                let ran = self.run_block::<DIGESTING>(&Block { count, ..block }, late);
                self.now += if ran.count == block.count {
                    u64::from(block.cycles[usize::from(ran.taken.is_some())])
                } else {
                    self.blocks.cycles(&block, ran.count, multiply)
                };
                self.instructions += u64::from(ran.count);
                if !ran.stops {
                    continue;
                }
                if self.forget_changed() {
                    continue;
                }
            }
            let offset = self.pc.wrapping_sub(start) as usize / 2;
            let op = self.memories[code].ops[offset];
            if op.kind <= Kind::Breakpoint {
                self.decode(code, false)?;
                continue;
            }
            if number == 0 && is_plain(op) {
                let memory = &mut self.memories[code];
                self.blocks
                    .add(2 * offset, memory, multiply, &self.breakpoints);
                continue;
            }
            if DIGESTING {
                self.observer.touch(self.pc);
            }
            self.one::<DIGESTING, true>(op)?;
            self.instructions += 1;
            self.forget_changed();
            if !self.thumb {
                return Ok(());
            }
            (until, late) = (limit.min(self.check), self.late());
            if code == late {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Forget blocks of code that has changed; says whether any has.
    fn forget_changed(&mut self) -> bool {
        let mut has_changed = false;
        for memory in &mut self.memories {
            has_changed |= memory.take_changed();
        }
        if has_changed {
            self.blocks.forget(&mut self.memories);
        }
        has_changed
    }

    /// The number of the memory that answers late.
    fn late(&self) -> usize {
        let reader = self.reader.as_ref().filter(|reader| reader.is_slow());
        reader.map_or(usize::MAX, |_| self.late_memory)
    }

    /// Do what the instructions of a block do, all but time, up to one that needs more; the program
    /// counter is then behind them.
    #[inline]
    fn run_block<const DIGESTING: bool>(&mut self, block: &Block, late: usize) -> Ran {
        let is_handler = self.ipsr != 0;
        let Self {
            memories,
            r,
            observer,
            blocks,
            ..
        } = self;
        let mut flags: Flags = self.flags;
        let mut pc = self.pc;
        let (mut taken, mut stops) = (None, false);
        let mut done = 0;
        for op in &blocks.ops[block.first as usize..][..block.count as usize] {
            let next = pc.wrapping_add(op.size.into());
            let a = r[usize::from(op.rn & 31)];
            let b = r[usize::from(op.rm & 31)].wrapping_add(op.imm);
            let rd = usize::from(op.rd & 15);
            macro_rules! stop {
                () => {{
                    stops = true;
                    break;
                }};
            }
            macro_rules! touch {
                ($address:expr) => {
                    if DIGESTING {
                        observer.touch($address);
                    }
                };
            }
            macro_rules! place {
                ($width:expr, $fits:expr) => {{
                    let address = a.wrapping_add(b);
                    let width: Width = $width;
                    let mut found = None;
                    for (number, memory) in memories.iter().enumerate() {
                        if let Some(at) = memory.offset(address, width.bytes()) {
                            found = Some((number, at));
                            break;
                        }
                    }
                    let Some((number, at)) = found else {
                        stop!();
                    };
                    if address & (width.bytes() - 1) != 0 || !$fits(number) {
                        stop!();
                    }
                    touch!(pc);
                    touch!(address);
                    (number, at)
                }};
            }
            macro_rules! load {
                ($width:expr, $extend:ty) => {{
                    let (number, at) = place!($width, |number| number != late);
                    r[rd] = memories[number].read(at, $width) as $extend as u32;
                }};
            }
            macro_rules! store {
                ($width:expr) => {{
                    let (number, at) = place!($width, |number: usize| memories[number].is_ram());
                    let memory = &mut memories[number];
                    memory.write(at, r[rd], $width);
                    stops = memory.has_changed();
                }};
            }
            match op.kind {
                kind if kind.computes() => {
                    touch!(pc);
                    r[rd] = flags.compute(kind, r[rd], a, b);
                }
                Kind::Ldr => load!(Width::Word, u32),
                Kind::Ldrh => load!(Width::Half, u32),
                Kind::Ldrb => load!(Width::Byte, u32),
                Kind::Ldrsh => load!(Width::Half, i16),
                Kind::Ldrsb => load!(Width::Byte, i8),
                Kind::Str => store!(Width::Word),
                Kind::Strh => store!(Width::Half),
                Kind::Strb => store!(Width::Byte),
                Kind::AddAny if rd == SP => {
                    let value = a.wrapping_add(b) & !3;
                    if !observer.moves_stack(r[SP], value) {
                        stop!();
                    }
                    touch!(pc);
                    r[SP] = value;
                }
                Kind::AddAny => {
                    touch!(pc);
                    r[rd] = a.wrapping_add(b);
                }
                Kind::MovAny => {
                    touch!(pc);
                    r[rd] = b;
                }
                Kind::BranchIf => {
                    touch!(pc);
                    taken = flags.hold(op.rd).then_some(op.imm);
                }
                Kind::Branch => {
                    touch!(pc);
                    taken = Some(op.imm);
                }
                Kind::BranchLink => {
                    touch!(pc);
                    r[LR] = next | 1;
                    observer.call(next, r[SP], false);
                    taken = Some(op.imm);
                }
                Kind::Bx | Kind::Blx => {
                    let is_call = op.kind == Kind::Blx;
                    if b & 1 == 0 || !is_call && is_handler && b >= 0xf000_0000 {
                        stop!();
                    }
                    touch!(pc);
                    let target = b & !1;
                    if is_call {
                        r[LR] = next | 1;
                        observer.call(next, r[SP], false);
                    } else if usize::from(op.rm) == LR {
                        observer.returned(target, false);
                    }
                    taken = Some(target);
                }
                _ => touch!(pc), // NOP
            }
            pc = next;
            done += 1;
            if stops {
                break;
            }
        }
        (self.pc, self.flags) = (taken.unwrap_or(pc), flags);
        Ran {
            count: done,
            taken,
            stops,
        }
    }
}
