//! Secrets followed through the core: beside each bit of registers and memory, whether it depends on
//! a secret ([`joulemark_kernel::secrets`]).
//!
//! Before an instruction executes, its data flow is worked out here from the same decoded operation
//! and the same registers. What is followed is data: what a secret branch leads to is not, so that
//! behind a finding of a branch other findings can be missing.

mod compute;
#[cfg(test)]
mod tests;

use joulemark_kernel::Observer;
use joulemark_kernel::fault::Caller;
use joulemark_kernel::secrets::{
    Copies, Decides, Finds, Found, Origins, Piece, Report, Word, passed,
};
use joulemark_kernel::shadows::Shadows;

use crate::bus::Width;
use crate::compute::is_taken;
use crate::core::{Registers, SP};
use crate::decode::{Kind, Op, SINK};
use crate::memory::Memory;
use crate::step::{A0, A1, RA, saved};

const ZERO: Word = Word::public(0);
const ONE: Word = Word::public(1);

/// The only CSR of which the secret bits are kept.
const MSCRATCH: u32 = 0x340;
/// `mepc`, `mcause` and `mtval`: what they hold is followed where it is read or returned to.
const OF_TRAPS: [u32; 3] = [0x341, 0x342, 0x343];
/// Cycles by which a division of a negative number is longer (`step.rs`).
const SIGN_SPREAD: u32 = 1;

/// What the core holds before an instruction.
pub(crate) struct Before<'a> {
    pub registers: &'a Registers,
    pub memories: &'a [Memory],
    pub observer: &'a Observer,
    pub pc: u32,
    /// Whether SC would store.
    pub reserved: bool,
}

/// Bits that depend on secrets, and what was found.
pub(crate) struct Secrets {
    r: [u32; 32],
    from: [Origins; 32],
    copies: Copies<32>,
    shadows: Shadows,
    scratch: (u32, Origins),
    /// Of all that was written to other CSRs, which makes all of them secret.
    csrs: Origins,
    pub finds: Finds,
}

impl Secrets {
    /// Nothing is secret yet.
    pub fn new(memories: &[Memory]) -> Self {
        Self {
            r: [0; 32],
            from: [0; 32],
            copies: Copies::default(),
            shadows: Shadows::new(
                memories
                    .iter()
                    .map(|memory| (memory.start(), memory.bytes().len())),
            ),
            scratch: (0, 0),
            csrs: 0,
            finds: Finds::default(),
        }
    }

    /// Keep what was found earlier.
    pub fn keep(&mut self, earlier: Self) {
        self.finds = earlier.finds;
        self.finds.is_on = false;
        self.shadows.keep(earlier.shadows);
    }

    /// A reset clears the registers.
    pub fn reset(&mut self) {
        (self.r, self.scratch, self.csrs) = ([0; 32], (0, 0), 0);
    }

    /// These bytes are secret from here on, or public where they come from nothing. `Err` holds the
    /// first address that is no memory.
    pub fn mark(&mut self, piece: &Piece) -> Result<(), u32> {
        self.shadows.mark(piece)
    }

    /// What was found.
    pub fn report(&self) -> Report {
        self.finds.report(self.shadows.passed())
    }

    #[cfg(test)]
    pub fn of_register(&self, number: usize) -> u32 {
        self.r[number]
    }

    #[cfg(test)]
    pub fn set_register(&mut self, number: u8, secret: u32) {
        self.set(number, secret, 1);
    }

    #[cfg(test)]
    pub fn of_memory(&self, address: u32) -> u8 {
        self.shadows.byte(address)
    }

    #[cfg(test)]
    pub fn set_memory(&mut self, address: u32, secret: u8) {
        let set = self.shadows.set_byte(address, secret, 1);
        debug_assert_eq!(set, Ok(()), "it is memory");
    }

    /// Work out what an instruction other than a push, a pop or a double move does with secrets.
    pub fn before(&mut self, core: &Before<'_>, op: Op) {
        if op.kind >= Kind::Csrrw && op.kind <= Kind::Csrrci {
            self.pass(core, op, 0);
            self.csr(core, op);
            return;
        }
        let a = self.word(core, op.rs1);
        let operand = self.word(core, op.rs2);
        match op.kind {
            Kind::Beq | Kind::Bne | Kind::Blt | Kind::Bge | Kind::Bltu | Kind::Bgeu => {
                let taken = is_taken(op.kind, a.value, operand.value);
                self.pass(
                    core,
                    op,
                    if taken {
                        passed::TAKEN
                    } else {
                        passed::NOT_TAKEN
                    },
                );
                if a.secret | operand.secret != 0 && compute::is_secret(op, a, operand) {
                    let from = self.origins_of_two(op);
                    self.find(core, Decides::Branch, from, None);
                    if self.finds.is_public(core.pc, core.pc) {
                        self.learn(op, a, operand);
                    }
                }
                return;
            }
            _ => self.pass(core, op, 0),
        }
        match op.kind {
            Kind::Lb | Kind::Lh | Kind::Lw | Kind::Lbu | Kind::Lhu => {
                let (width, signed) = match op.kind {
                    Kind::Lb => (Width::Byte, true),
                    Kind::Lbu => (Width::Byte, false),
                    Kind::Lh => (Width::Half, true),
                    Kind::Lhu => (Width::Half, false),
                    _ => (Width::Word, false),
                };
                let address = (further(a, op.imm as u32), self.of(op.rs1).1);
                if !is_aligned(address.0.value, width) {
                    self.misaligned(core, address, width);
                    return;
                }
                let (secret, from) = self.load(core, address, width);
                let secret = match (signed, width) {
                    (true, Width::Byte) => secret as u8 as i8 as u32,
                    (true, Width::Half) => secret as u16 as i16 as u32,
                    _ => secret,
                };
                self.set(op.rd, secret, from);
            }
            Kind::Sb | Kind::Sh | Kind::Sw => {
                let width = match op.kind {
                    Kind::Sb => Width::Byte,
                    Kind::Sh => Width::Half,
                    _ => Width::Word,
                };
                let address = (further(a, op.imm as u32), self.of(op.rs1).1);
                if is_aligned(address.0.value, width) {
                    self.store(core, address, self.of(op.rs2), width);
                } else {
                    self.misaligned(core, address, width);
                }
            }
            Kind::Lr => {
                let value = self.load(core, (a, self.of(op.rs1).1), Width::Word);
                self.set(op.rd, value.0, value.1);
            }
            Kind::Sc => {
                if core.reserved {
                    let address = (a, self.of(op.rs1).1);
                    self.store(core, address, self.of(op.rs2), Width::Word);
                }
                self.set(op.rd, 0, 0);
            }
            kind if kind >= Kind::AmoSwap && kind <= Kind::AmoMaxu => {
                self.atomic(core, op, a, operand);
            }
            Kind::Jal => self.set(op.rd, 0, 0),
            Kind::Jalr => {
                if a.secret != 0 {
                    self.find(core, Decides::Target, self.of(op.rs1).1, None);
                }
                self.set(op.rd, 0, 0);
            }
            Kind::Mret if self.csrs != 0 => self.find(core, Decides::Target, self.csrs, None),
            kind if kind >= Kind::Add && kind <= Kind::Remu => self.compute(core, op, a, operand),
            _ => {}
        }
    }

    fn pass(&mut self, core: &Before<'_>, op: Op, way: u8) {
        if self.finds.is_on {
            let from = self.shadows.pass(core.pc, 2 * op.size, passed::HERE | way);
            if from != 0 {
                self.find(core, Decides::Code, from, None);
            }
        }
    }

    /// A branch that may be known shows whether its operands are the same.
    fn learn(&mut self, op: Op, a: Word, b: Word) {
        if matches!(op.kind, Kind::Beq | Kind::Bne) {
            let equal = a.value == b.value;
            for (register, word, other) in [(op.rs1, a, b), (op.rs2, b, a)] {
                let secret = word.compared(other, equal);
                for number in self.copies.of(usize::from(register)) {
                    self.r[number] &= secret;
                }
            }
        }
    }

    /// The result of an instruction that computes.
    #[inline]
    fn compute(&mut self, core: &Before<'_>, op: Op, a: Word, operand: Word) {
        if a.secret | operand.secret == 0 {
            self.set(op.rd, 0, 0);
            return;
        }
        let from = self.origins_of_two(op);
        let b = Word::new(operand.value.wrapping_add(op.imm as u32), operand.secret);
        let is_itself = op.rs1 == op.rs2;
        // The other divisions, and all products, take as long whatever their operands are.
        if matches!(op.kind, Kind::Div | Kind::Rem) && a.secret >> 31 != 0 {
            self.find(core, Decides::Time, from, Some(SIGN_SPREAD));
        }
        let secret = compute::secret_of(op.kind, op.imm, a, b, is_itself);
        self.set(op.rd, secret, from);
        if op.kind == Kind::Add && op.imm == 0 && op.rd < SINK {
            let of = match (op.rs1, op.rs2) {
                (of, 0) | (0, of) if of != op.rd => of,
                _ => return,
            };
            self.copies.copy(usize::from(op.rd), usize::from(of));
        }
    }

    fn atomic(&mut self, core: &Before<'_>, op: Op, a: Word, operand: Word) {
        let address = (a, self.of(op.rs1).1);
        if a.value & 3 != 0 {
            self.misaligned(core, address, Width::Word);
            return;
        }
        let (secret, from) = self.load(core, address, Width::Word);
        let value = core.memories.iter().find_map(|memory| {
            let at = memory.offset(a.value, 4)?;
            Some(memory.read(at, Width::Word))
        });
        let memory = Word::new(value.unwrap_or(0), secret);
        let stored = compute::secret_of_atomic(op.kind, memory, operand);
        let all = from | self.of(op.rs2).1;
        self.store(core, address, (stored, all), Width::Word);
        self.set(op.rd, secret, from);
    }

    fn csr(&mut self, core: &Before<'_>, op: Op) {
        let number = op.imm as u32;
        let (operand, by) = if op.kind >= Kind::Csrrwi {
            (0, 0)
        } else {
            self.of(op.rs1)
        };
        let old = match number {
            MSCRATCH => self.scratch,
            _ if self.csrs != 0 => (u32::MAX, self.csrs),
            _ => (0, 0),
        };
        self.set(op.rd, old.0, old.1);
        let writes = matches!(op.kind, Kind::Csrrw | Kind::Csrrwi) || op.rs1 != 0;
        if !writes {
            return;
        }
        if number == MSCRATCH {
            self.scratch = match op.kind {
                Kind::Csrrw | Kind::Csrrwi => (operand, by),
                _ => (old.0 | operand, old.1 | by),
            };
        } else if operand != 0 {
            self.csrs |= by;
            if decides_exceptions(number) {
                self.find(core, Decides::Exception, by, None);
            } else if !OF_TRAPS.contains(&number) {
                self.finds.note_device(number, by);
            }
        }
    }

    /// A step of a push, a pop or a double move.
    pub fn sequence(&mut self, core: &Before<'_>, op: Op, step: u8) {
        if step == 0 {
            self.pass(core, op, 0);
        }
        if matches!(op.kind, Kind::MvSa | Kind::MvAs) {
            let (rd, rs) = match (op.kind, step) {
                (Kind::MvSa, 0) => (op.rs1, A0),
                (Kind::MvSa, _) => (op.rs2, A1),
                (_, 0) => (A0, op.rs1),
                _ => (A1, op.rs2),
            };
            let (secret, from) = self.of(rs);
            self.set(rd, secret, from);
            return;
        }
        let count = op.rs1;
        let sp = (self.word(core, SP as u8), self.of(SP as u8).1);
        if step < count {
            let below = 0_u32.wrapping_sub(4 * u32::from(count - step));
            let is_push = op.kind == Kind::Push;
            let offset = if is_push {
                below
            } else {
                below.wrapping_add(op.imm as u32)
            };
            let address = (further(sp.0, offset), sp.1);
            if !is_aligned(address.0.value, Width::Word) {
                self.misaligned(core, address, Width::Word);
                return;
            }
            let register = saved(step);
            if is_push {
                self.store(core, address, self.of(register), Width::Word);
            } else {
                let (secret, from) = self.load(core, address, Width::Word);
                self.set(register, secret, from);
            }
            return;
        }
        let returns = matches!(op.kind, Kind::PopRet | Kind::PopRetZ);
        let jump = count + u8::from(op.kind == Kind::PopRetZ);
        if returns && step < jump {
            self.set(A0, 0, 0);
        } else if returns && step == jump {
            let (secret, from) = self.of(RA);
            if secret != 0 {
                self.find(core, Decides::Target, from, None);
            }
        } else if sp.0.secret != 0 {
            let adjustment = op.imm as u32;
            let offset = if op.kind == Kind::Push {
                adjustment.wrapping_neg()
            } else {
                adjustment
            };
            self.set(SP as u8, further(sp.0, offset).secret, sp.1);
        }
    }

    // What was found.

    #[cold]
    fn find(
        &mut self,
        core: &Before<'_>,
        decides: Decides,
        from: Origins,
        extra_cycles: Option<u32>,
    ) {
        self.find_over(core, decides, from, extra_cycles, (0, 0));
    }

    #[cold]
    fn find_over(
        &mut self,
        core: &Before<'_>,
        decides: Decides,
        from: Origins,
        extra_cycles: Option<u32>,
        span: (u32, u32),
    ) {
        let calls = || {
            let callers = core.observer.callers();
            let outermost_first = callers.iter().rev();
            outermost_first
                .map(|caller| match *caller {
                    Caller::Call(at) | Caller::Interrupted(at) => at,
                })
                .collect()
        };
        let found = Found {
            origins: from,
            extra_cycles,
            span,
            // This core has no flags: a branch compares.
            decided_at: core.pc,
        };
        self.finds.note(core.pc, decides, found, calls);
    }

    /// An address that depends on a secret is found. Memory has no wait states: it costs nothing
    /// where all that the address can be is in one memory, and aligned.
    #[cold]
    fn find_address(&mut self, core: &Before<'_>, address: Word, from: Origins, width: Width) {
        let span = (address.least(), address.most());
        let mut memories = core.memories.iter();
        let inside = memories.any(|memory| {
            memory.offset(span.0, 1).is_some() && memory.offset(span.1, width.bytes()).is_some()
        });
        let aligned = address.secret & (width.bytes() - 1) == 0;
        let cost = (inside && aligned).then_some(0);
        self.find_over(core, Decides::Address, from, cost, span);
    }

    // Registers.

    #[inline]
    fn of(&self, register: u8) -> (u32, Origins) {
        let number = usize::from(register & 31);
        (self.r[number], self.from[number])
    }

    #[inline]
    fn word(&self, core: &Before<'_>, register: u8) -> Word {
        let number = usize::from(register & 31);
        Word::new(core.registers[number], self.r[number])
    }

    fn origins_of_two(&self, op: Op) -> Origins {
        let of = |register| {
            let (secret, from) = self.of(register);
            if secret == 0 { 0 } else { from }
        };
        of(op.rs1) | of(op.rs2)
    }

    #[inline]
    fn set(&mut self, register: u8, secret: u32, from: Origins) {
        if register < SINK && register != 0 {
            let number = usize::from(register);
            self.r[number] = secret;
            self.from[number] = if secret == 0 { 0 } else { from };
            self.copies.write(number);
        }
    }

    // Memory.

    /// An access faults because of its address.
    #[cold]
    fn misaligned(&mut self, core: &Before<'_>, (address, from): (Word, Origins), width: Width) {
        if address.secret != 0 {
            self.find_address(core, address, from, width);
        }
    }

    /// Which bits of what is read are secret; an address that is secret makes them all so.
    fn load(
        &mut self,
        core: &Before<'_>,
        (address, from): (Word, Origins),
        width: Width,
    ) -> (u32, Origins) {
        let (secret, origins) = self.shadows.load(address.value, width.bytes());
        if address.secret == 0 {
            return (secret, origins);
        }
        self.find_address(core, address, from, width);
        (lanes(width), origins | from)
    }

    fn store(
        &mut self,
        core: &Before<'_>,
        (address, address_from): (Word, Origins),
        (secret, from): (u32, Origins),
        width: Width,
    ) {
        let (mut secret, mut from) = (secret, from);
        if address.secret != 0 {
            from |= address_from;
            secret = u32::MAX;
            self.find_address(core, address, address_from, width);
            if self.shadows.store_somewhere(address, from, width.bytes()) {
                self.finds.note_lost(core.pc);
            }
        }
        let bytes = width.bytes();
        if self.shadows.store(address.value, secret, from, bytes) {
            self.finds.note_device(address.value, from);
        }
    }
}

/// Whether a CSR decides when exceptions are taken, or where they go: `mstatus`, `mie`, `mtvec`,
/// `mip`, memory protection, and the interrupt controller's (Xh3irq).
const fn decides_exceptions(number: u32) -> bool {
    matches!(
        number,
        0x300 | 0x304 | 0x305 | 0x344 | 0x3a0..=0x3a3 | 0x3b0..=0x3bf | 0xbd0..=0xbe5
    )
}

const fn lanes(width: Width) -> u32 {
    u32::MAX >> (32 - 8 * width.bytes())
}

const fn is_aligned(address: u32, width: Width) -> bool {
    address & (width.bytes() - 1) == 0
}

/// An address so many bytes behind another.
#[inline]
fn further(address: Word, bytes: u32) -> Word {
    if address.secret == 0 {
        return Word::public(address.value.wrapping_add(bytes));
    }
    address.add(Word::public(bytes), ZERO, 32).sum
}
