//! Secrets followed through the core: beside each bit of registers and memory, whether it depends on
//! a secret ([`joulemark_kernel::secrets`]).
//!
//! Before an instruction executes, its data flow is worked out here from the same decoded operation
//! and the same registers. What a secret branch leads to is not followed, so that behind a finding
//! of a branch other findings can be missing. No instruction of this core takes longer by its
//! operands (ARM DDI 0484C, table 3-1): it has no division, and its multiplier is of one cycle or
//! always of 32.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use joulemark_armv7m::{Flow, Width};
use joulemark_kernel::Observer;
use joulemark_kernel::fault::Caller;
use joulemark_kernel::secrets::{
    Copies, Decides, Finds, Found, Origins, Piece, Report, Word, passed,
};
use joulemark_kernel::shadows::Shadows;

use crate::core::{LR, PC, Registers, SP};
use crate::decode::{Kind, Op};
use crate::memory::Memory;
use crate::system::bits;

const ZERO: Word = Word::public(0);
const ONE: Word = Word::public(1);
/// Turns numbers with a sign into others in the same order.
const SIGN: u32 = 1 << 31;
const FRAME: [usize; 6] = [0, 1, 2, 3, 12, LR];
const FRAME_BYTES: u32 = 32;
/// Of a frame: its status says that it was aligned.
const ALIGNED: u32 = 1 << 9;
/// CONTROL: thread mode is unprivileged, and uses the process stack.
const NPRIV: u32 = 1;
const SPSEL: u32 = 2;

/// What the core holds before an instruction.
pub struct Before<'a> {
    pub r: &'a Registers,
    pub pc: u32,
    /// N, Z, C, V.
    pub flags: [bool; 4],
    pub control: u8,
    /// The stack pointer that R13 is not.
    pub other_sp: u32,
    pub in_handler: bool,
    pub observer: &'a Observer,
    /// What becomes of a value in a device's register.
    pub flow: &'a dyn Fn(u32) -> Flow,
}

/// Which flags are secret.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // one for each flip-flop
struct Flags {
    n: bool,
    z: bool,
    c: bool,
    v: bool,
    from: Origins,
    /// After a comparison, whether it depends on a secret that the first is higher, less, and
    /// greater: less than what the flags show one by one.
    order: Option<[bool; 3]>,
}

impl Flags {
    const fn any(&self) -> bool {
        self.n | self.z | self.c | self.v
    }
}

/// What the flags were set by, as long as the registers hold it.
#[derive(Clone, Copy)]
struct Compared {
    register: u8,
    /// Another register, or none.
    with: Option<u8>,
    imm: u32,
}

/// Bits that depend on secrets, and what was found.
pub struct Secrets {
    /// Of R0 to R14; the others stay public.
    r: [u32; 17],
    from: [Origins; 17],
    copies: Copies<17>,
    flags: Flags,
    /// The instruction that set them, and what it compared.
    flags_at: u32,
    compared: Option<Compared>,
    /// The instruction that is looked at.
    here: u32,
    /// `flags_at` and CONTROL of what exceptions interrupted, by the frame.
    stacked: HashMap<u32, (u32, (u32, Origins))>,
    primask: (u32, Origins),
    control: (u32, Origins),
    /// The stack pointer that R13 is not.
    other_sp: (u32, Origins),
    /// Of all that was written to the system control space, which makes all of it secret.
    system: Origins,
    /// Of what was written last to each register of devices that make other values of it.
    derived: HashMap<u32, Origins>,
    shadows: Shadows,
    pub finds: Finds,
}

impl Secrets {
    /// Nothing is secret yet.
    pub fn new(memories: &[Memory]) -> Self {
        let places = memories.iter();
        Self {
            r: [0; 17],
            from: [0; 17],
            copies: Copies::default(),
            flags: Flags::default(),
            flags_at: 0,
            compared: None,
            here: 0,
            stacked: HashMap::new(),
            primask: (0, 0),
            control: (0, 0),
            other_sp: (0, 0),
            system: 0,
            derived: HashMap::new(),
            shadows: Shadows::new(places.map(|memory| (memory.start, memory.bytes().len()))),
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
        (self.r, self.flags, self.compared) = ([0; 17], Flags::default(), None);
        (self.primask, self.control, self.other_sp) = ((0, 0), (0, 0), (0, 0));
        self.system = 0;
        self.derived.clear();
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

    /// Work out what an instruction does with secrets.
    pub fn before(&mut self, core: &Before<'_>, op: Op) {
        self.here = core.pc;
        if self.finds.is_on {
            let way = match op.kind {
                Kind::BranchIf if holds(op.rd, core.flags) => passed::TAKEN,
                Kind::BranchIf => passed::NOT_TAKEN,
                _ => 0,
            };
            let from = self.shadows.pass(core.pc, op.size, passed::HERE | way);
            if from != 0 {
                self.find(core, Decides::Code, from, None);
            }
        }
        let a = self.word(core, op.rn);
        let b = self.word(core, op.rm);
        let b = further(b, op.imm);
        let d = self.word(core, op.rd & 15);
        let two = self.origins(op.rn) | self.origins(op.rm);
        let with_d = self.origins(op.rd) | self.origins(op.rm);
        let width = width_of(op.kind);
        // The same register twice: what it holds does not count.
        let itself = op.rn == op.rm && op.imm == 0;
        match op.kind {
            Kind::Lsl => self.shift(core, op.rd, Kind::LslBy, a, Word::public(op.imm), two),
            Kind::Lsr => self.shift(core, op.rd, Kind::LsrBy, a, Word::public(op.imm), two),
            Kind::Asr => self.shift(core, op.rd, Kind::AsrBy, a, Word::public(op.imm), two),
            Kind::LslBy | Kind::LsrBy | Kind::AsrBy | Kind::RorBy => {
                self.shift(core, op.rd, op.kind, d, b, with_d);
            }
            Kind::Add => self.sum(Some(op.rd), a, b, ZERO, two),
            Kind::Cmn => self.sum(None, a, b, ZERO, two),
            Kind::Sub if itself => self.sum(Some(op.rd), ZERO, ZERO.not(), ONE, 0),
            Kind::Sub => self.difference(core, Some(op.rd), op, a, b, two),
            Kind::Cmp if itself => self.sum(None, ZERO, ZERO.not(), ONE, 0),
            Kind::Cmp => self.difference(core, None, op, a, b, two),
            Kind::Rsb => self.sum(Some(op.rd), a.not(), ZERO, ONE, two),
            Kind::Adc => {
                let carry = self.carry(core);
                self.sum(Some(op.rd), d, b, carry, with_d | self.flags.from);
            }
            Kind::Sbc => {
                let carry = self.carry(core);
                let (d, b) = if op.rd == op.rm { (ZERO, ZERO) } else { (d, b) };
                self.sum(Some(op.rd), d, b.not(), carry, with_d | self.flags.from);
            }
            Kind::Mov => {
                self.logical(Some(op.rd), b, self.origins(op.rm));
                if op.rm < PC as u8 {
                    self.copied(op.rd, op.rm);
                }
            }
            Kind::Mvn => self.logical(Some(op.rd), b.not(), self.origins(op.rm)),
            Kind::And => self.logical(Some(op.rd), d.and(b), with_d),
            Kind::Tst => self.logical(None, d.and(b), with_d),
            Kind::Orr => self.logical(Some(op.rd), d.or(b), with_d),
            Kind::Eor | Kind::Bic if op.rd == op.rm => self.logical(Some(op.rd), ZERO, 0),
            Kind::Eor => self.logical(Some(op.rd), d.xor(b), with_d),
            Kind::Bic => self.logical(Some(op.rd), d.and(b.not()), with_d),
            Kind::Mul => {
                let product = a.product(b, false) as u32;
                let value = a.value.wrapping_mul(b.value);
                self.logical(Some(op.rd), Word::new(value, product), two);
            }
            Kind::AddAny | Kind::MovAny => {
                let (sum, from) = match op.kind {
                    Kind::AddAny if op.rn < PC as u8 => (a.add(b, ZERO, 32).sum, two),
                    _ => (b, self.origins(op.rm)),
                };
                if usize::from(op.rd) == PC {
                    if sum.secret != 0 {
                        self.find(core, Decides::Target, from, None);
                    }
                    return;
                }
                self.set(op.rd, sum.secret, from);
                if op.kind == Kind::MovAny && op.rm < PC as u8 {
                    self.copied(op.rd, op.rm);
                }
            }
            Kind::Sxth => self.map(op, |x| x as i16 as u32),
            Kind::Sxtb => self.map(op, |x| x as i8 as u32),
            Kind::Uxth => self.extend(core, op, 0xffff),
            Kind::Uxtb => self.extend(core, op, 0xff),
            Kind::Rev => self.map(op, u32::swap_bytes),
            Kind::Rev16 => self.map(op, |x| x.swap_bytes().rotate_right(16)),
            Kind::Revsh => self.map(op, |x| (x as u16).swap_bytes() as i16 as u32),
            Kind::Ldr | Kind::Ldrh | Kind::Ldrb | Kind::Ldrsh | Kind::Ldrsb => {
                let address = a.add(b, ZERO, 32).sum;
                if !is_aligned(address.value, width) {
                    self.misaligned(core, address, two, width);
                    return;
                }
                let (secret, from) = self.load(core, address, two, width);
                let secret = match op.kind {
                    Kind::Ldrsh => secret as i16 as u32,
                    Kind::Ldrsb => secret as i8 as u32,
                    _ => secret,
                };
                self.set(op.rd, secret, from);
            }
            Kind::Str | Kind::Strh | Kind::Strb => {
                let address = a.add(b, ZERO, 32).sum;
                if is_aligned(address.value, width) {
                    let value = (self.r[usize::from(op.rd)], self.origins(op.rd));
                    self.store(core, address, two, value, width);
                } else {
                    self.misaligned(core, address, two, width);
                }
            }
            Kind::Ldm | Kind::Stm | Kind::Push | Kind::Pop => self.multiple(core, op),
            Kind::BranchIf if self.is_secret(op.rd, core.flags) => {
                self.find(core, Decides::Branch, self.flags.from, None);
                if op.rd < 2 && self.finds.is_public(core.pc, self.flags_at) {
                    self.learn(core);
                }
            }
            Kind::BranchLink => self.set(LR as u8, 0, 0),
            Kind::Bx | Kind::Blx => {
                if b.secret != 0 {
                    self.find(core, Decides::Target, self.origins(op.rm), None);
                }
                if op.kind == Kind::Blx {
                    self.set(LR as u8, 0, 0);
                }
            }
            Kind::Mrs => {
                let (secret, from) = self.special_register(core, op.imm);
                self.set(op.rd, secret, from);
            }
            Kind::Msr if op.imm < 4 => self.write_status(a.secret, self.origins(op.rn)),
            Kind::Msr if !is_unprivileged(core) => self.write_special_register(core, op, a),
            Kind::Cps if !is_unprivileged(core) => self.primask = (0, 0),
            _ => {}
        }
    }

    // What a decision that may be known says of registers.

    /// It is known whether what set the flags is the same as another value, or 0.
    #[cold]
    fn learn(&mut self, core: &Before<'_>) {
        let Some(Compared {
            register,
            with,
            imm,
        }) = self.compared
        else {
            return;
        };
        let other = match with {
            Some(other) => self.word(core, other),
            None => Word::public(imm),
        };
        let word = self.word(core, register);
        let equal = core.flags[1];
        self.know(register, word.compared(other, equal));
        if let Some(number) = with {
            self.know(number, other.compared(word, equal));
        }
    }

    fn know(&mut self, register: u8, secret: u32) {
        for number in self.copies.of(usize::from(register)) {
            self.r[number] &= secret;
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
            decided_at: match decides {
                Decides::Branch => self.flags_at,
                _ => core.pc,
            },
        };
        self.finds.note(core.pc, decides, found, calls);
    }

    /// An address that depends on a secret is found. Memory has no wait states: it costs nothing
    /// where all that the address can be is in one memory, and aligned.
    #[cold]
    fn find_address(&mut self, core: &Before<'_>, address: Word, from: Origins, width: Width) {
        let span = (address.least(), address.most());
        let last = span.1.saturating_add(width.bytes() - 1);
        let aligned = address.secret & (width.bytes() - 1) == 0;
        let even = aligned && self.shadows.is_one_memory(span.0, last);
        self.find_over(core, Decides::Address, from, even.then_some(0), span);
    }

    // Registers and flags.

    fn word(&self, core: &Before<'_>, register: u8) -> Word {
        let number = usize::from(register).min(16);
        Word::new(core.r[number], self.r[number])
    }

    fn origins(&self, register: u8) -> Origins {
        let number = usize::from(register).min(16);
        if self.r[number] == 0 {
            0
        } else {
            self.from[number]
        }
    }

    fn set(&mut self, register: u8, secret: u32, from: Origins) {
        let number = usize::from(register);
        if number >= PC {
            return;
        }
        let secret = if number == SP { secret & !3 } else { secret };
        self.r[number] = secret;
        self.from[number] = if secret == 0 { 0 } else { from };
        self.copies.write(number);
        if let Some(compared) = self.compared
            && (compared.register == register || compared.with == Some(register))
        {
            self.compared = None;
        }
    }

    fn copied(&mut self, to: u8, of: u8) {
        if to != of && self.r[usize::from(of)] != 0 && usize::from(to) < PC {
            self.copies.copy(usize::from(to), usize::from(of));
        }
    }

    fn map(&mut self, op: Op, of: impl Fn(u32) -> u32) {
        let number = usize::from(op.rm);
        self.set(op.rd, of(self.r[number]), self.from[number]);
    }

    /// A copy, where nothing is lost.
    fn extend(&mut self, core: &Before<'_>, op: Op, mask: u32) {
        let fits = self.word(core, op.rm).most() <= mask;
        self.map(op, |x| x & mask);
        if fits {
            self.copied(op.rd, op.rm);
        }
    }

    fn carry(&self, core: &Before<'_>) -> Word {
        Word::new(core.flags[2].into(), self.flags.c.into())
    }

    /// Flags of a result: N and Z, and where they are given, C and V.
    fn set_flags(&mut self, result: Word, c: Option<bool>, v: Option<bool>, from: Origins) {
        self.flags_at = self.here;
        let flags = &mut self.flags;
        let kept = c.is_none() && flags.c || v.is_none() && flags.v;
        let before = if kept { flags.from } else { 0 };
        flags.order = None;
        flags.n = result.secret >> 31 != 0;
        flags.z = result.zero_is_secret();
        flags.c = c.unwrap_or(flags.c);
        flags.v = v.unwrap_or(flags.v);
        flags.from = if flags.any() { before | from } else { 0 };
    }

    /// The secret bits of the program status register.
    fn status(&self) -> u32 {
        let flags = &self.flags;
        u32::from(flags.n) << 31
            | u32::from(flags.z) << 30
            | u32::from(flags.c) << 29
            | u32::from(flags.v) << 28
    }

    fn write_status(&mut self, secret: u32, from: Origins) {
        let bit = |number: u32| secret >> number & 1 != 0;
        self.flags = Flags {
            n: bit(31),
            z: bit(30),
            c: bit(29),
            v: bit(28),
            from,
            order: None,
        };
        (self.flags_at, self.compared) = (self.here, None);
    }

    /// Whether it depends on a secret that a condition holds (ARM DDI 0419E, A6.3).
    fn is_secret(&self, condition: u8, [n, z, c, v]: [bool; 4]) -> bool {
        let flags = &self.flags;
        let signs = flags.n || flags.v;
        // Of two that must both hold, one that fails for sure decides alone.
        let both = |x: bool, x_is_secret: bool, y: bool, y_is_secret: bool| {
            x_is_secret && (y || y_is_secret) || y_is_secret && (x || x_is_secret)
        };
        match (condition >> 1, flags.order) {
            (4, Some([is_higher, _, _])) => is_higher,
            (5, Some([_, is_less, _])) => is_less,
            (6, Some([_, _, is_greater])) => is_greater,
            (0, _) => flags.z,
            (1, _) => flags.c,
            (2, _) => flags.n,
            (3, _) => flags.v,
            (4, _) => both(c, flags.c, !z, flags.z),
            (5, _) => signs,
            (6, _) => both(n == v, signs, !z, flags.z),
            _ => false,
        }
    }

    // Special registers (B4.2.2 and B4.2.3).

    fn special_register(&self, core: &Before<'_>, number: u32) -> (u32, Origins) {
        let now = (self.r[SP], self.from[SP]);
        let on_process_stack = u32::from(core.control) & SPSEL != 0;
        match number {
            0..=7 if number & 4 == 0 => (self.status(), self.flags.from),
            20 => self.control,
            _ if is_unprivileged(core) => (0, 0),
            8 | 9 if (number == 9) == on_process_stack => now,
            8 | 9 => self.other_sp,
            16 => self.primask,
            _ => (0, 0),
        }
    }

    /// MSR to all but the flags.
    #[cold]
    fn write_special_register(&mut self, core: &Before<'_>, op: Op, value: Word) {
        let from = self.origins(op.rn);
        let on_process_stack = u32::from(core.control) & SPSEL != 0;
        let of = |mask: u32| {
            let secret = value.secret & mask;
            (secret, if secret == 0 { 0 } else { from })
        };
        match op.imm {
            8 | 9 if (op.imm == 9) == on_process_stack => self.set(SP as u8, value.secret, from),
            8 | 9 => self.other_sp = of(!3),
            16 => {
                self.primask = of(1);
                if self.primask.0 != 0 {
                    self.find(core, Decides::Exception, from, None);
                }
            }
            20 => {
                self.control = of(if core.in_handler {
                    NPRIV
                } else {
                    NPRIV | SPSEL
                });
                if self.control.0 & SPSEL != 0 {
                    let pointers = [core.r[SP], core.other_sp];
                    let span = (pointers[0].min(pointers[1]), pointers[0].max(pointers[1]));
                    self.find_over(core, Decides::Address, from, None, span);
                    let differ = self.r[SP] | self.other_sp.0 | pointers[0] ^ pointers[1];
                    let all = from | self.from[SP] | self.other_sp.1;
                    self.set(SP as u8, differ, all);
                    self.other_sp = (differ, all);
                }
                // Whether accesses are allowed.
                if self.control.0 & NPRIV != 0 {
                    self.find(core, Decides::Exception, from, None);
                }
            }
            _ => {}
        }
    }

    /// R13 becomes the other stack pointer.
    pub fn switch_stack(&mut self) {
        let now = (self.r[SP], self.from[SP]);
        let (secret, from) = std::mem::replace(&mut self.other_sp, now);
        self.set(SP as u8, secret, from);
    }

    // Instructions that compute.

    fn logical(&mut self, to: Option<u8>, result: Word, from: Origins) {
        self.set_flags(result, None, None, from);
        self.result(to, result.secret, from);
    }

    /// A result, which the flags say of whether it is 0.
    fn result(&mut self, to: Option<u8>, secret: u32, from: Origins) {
        self.compared = None;
        if let Some(register) = to {
            self.set(register, secret, from);
            self.compared = Some(Compared {
                register,
                with: None,
                imm: 0,
            });
        }
    }

    fn sum(&mut self, to: Option<u8>, a: Word, b: Word, carry: Word, from: Origins) {
        let sum = a.add(b, carry, 32);
        let (c, v) = (sum.carry_is_secret, sum.overflow_is_secret);
        self.set_flags(sum.sum, Some(c), Some(v), from);
        self.result(to, sum.sum.secret, from);
    }

    fn difference(
        &mut self,
        core: &Before<'_>,
        to: Option<u8>,
        op: Op,
        a: Word,
        b: Word,
        from: Origins,
    ) {
        self.sum(to, a, b.not(), ONE, from);
        if a.secret | b.secret != 0 {
            let signed = |word: Word| Word::new(word.value ^ SIGN, word.secret);
            self.flags.order = Some([
                b.is_less_secret(a),
                signed(a).is_less_secret(signed(b)),
                signed(b).is_less_secret(signed(a)),
            ]);
        }
        if to.is_none() {
            let with = (usize::from(op.rm) < PC).then_some(op.rm);
            debug_assert!(with.is_none() || op.imm == 0, "{:#x}", core.pc);
            self.compared = Some(Compared {
                register: op.rn,
                with,
                imm: op.imm,
            });
        }
    }

    /// A shift or rotation by the low byte of an amount.
    fn shift(&mut self, core: &Before<'_>, to: u8, kind: Kind, a: Word, by: Word, from: Origins) {
        if by.secret & 0xff != 0 {
            // Of 0, shifted or rotated, nothing is secret but the carry, which may be an older one.
            let secret = if a.most() == 0 { 0 } else { u32::MAX };
            let result = Word::new(a.value, secret);
            let c = self.flags.c || core.flags[2] || a.most() != 0;
            self.set_flags(Word::new(0, secret), Some(c), None, from | self.flags.from);
            self.result(Some(to), result.secret, from);
            return;
        }
        let amount = by.value & 0xff;
        let shifted = |x: u32| match kind {
            Kind::LslBy => x.checked_shl(amount).unwrap_or(0),
            Kind::LsrBy => x.checked_shr(amount).unwrap_or(0),
            Kind::AsrBy => (i64::from(x as i32) >> amount.min(32)) as u32,
            _ => x.rotate_right(amount & 31),
        };
        let out = match kind {
            _ if amount == 0 => self.flags.c,
            Kind::LslBy => amount <= 32 && a.secret >> (32 - amount) & 1 != 0,
            Kind::LsrBy => amount <= 32 && a.secret >> (amount - 1) & 1 != 0,
            Kind::AsrBy => (a.secret as i32 >> (amount.min(32) - 1)) & 1 != 0,
            _ => shifted(a.secret) >> 31 != 0,
        };
        let result = Word::new(shifted(a.value), shifted(a.secret));
        let all = if amount == 0 {
            from | self.flags.from
        } else {
            from
        };
        self.set_flags(result, Some(out), None, all);
        self.result(Some(to), result.secret, from);
    }

    // Memory.

    /// An access faults because of its address.
    #[cold]
    fn misaligned(&mut self, core: &Before<'_>, address: Word, from: Origins, width: Width) {
        if address.secret != 0 {
            self.find_address(core, address, from, width);
        }
    }

    /// Which bits of what is read are secret; an address that is secret makes them all so.
    fn load(
        &mut self,
        core: &Before<'_>,
        address: Word,
        address_from: Origins,
        width: Width,
    ) -> (u32, Origins) {
        let all = u32::MAX >> (32 - 8 * width.bytes());
        let (secret, from) = if self.system != 0 && is_system(address.value) {
            (all, self.system)
        } else if !self.derived.is_empty() && (core.flow)(address.value) == Flow::Derived {
            let from = self.derived.values().fold(0, |all, from| all | from);
            (if from == 0 { 0 } else { all }, from)
        } else {
            self.shadows.load(address.value, width.bytes())
        };
        if address.secret == 0 {
            return (secret, from);
        }
        self.find_address(core, address, address_from, width);
        (all, from | address_from)
    }

    fn store(
        &mut self,
        core: &Before<'_>,
        address: Word,
        address_from: Origins,
        (secret, from): (u32, Origins),
        width: Width,
    ) {
        let (mut secret, mut from, bytes) = (secret, from, width.bytes());
        if address.secret != 0 {
            (secret, from) = (u32::MAX, from | address_from);
            self.find_address(core, address, address_from, width);
            if self.shadows.store_somewhere(address, from, bytes) {
                self.finds.note_lost(core.pc);
            }
        }
        let is_device = self.shadows.store(address.value, secret, from, bytes);
        let may_derive = is_device || !self.derived.is_empty();
        if may_derive && (core.flow)(address.value) == Flow::Derived {
            let from = if is_device { from } else { 0 };
            self.derived.insert(address.value, from);
        } else if is_device {
            self.finds.note_device(address.value, from);
            if is_system(address.value) {
                self.find(core, Decides::Exception, from, None);
                self.system |= from;
            }
        }
    }

    fn multiple(&mut self, core: &Before<'_>, op: Op) {
        let is_load = matches!(op.kind, Kind::Ldm | Kind::Pop);
        let base = match op.kind {
            Kind::Push | Kind::Pop => SP as u8,
            _ => op.rn & 15,
        };
        let bytes = 4 * op.imm.count_ones();
        let (word, by) = (self.word(core, base), self.origins(base));
        let end = further(word, bytes);
        let first = match op.kind {
            Kind::Push => further(word, bytes.wrapping_neg()),
            _ => word,
        };
        if !is_aligned(first.value, Width::Word) {
            self.misaligned(core, first, by, Width::Word);
            return;
        }
        let back = if op.kind == Kind::Push { first } else { end };
        let mut loaded = Vec::new();
        for (number, offset) in bits(op.imm.into()).zip((0_u32..).step_by(4)) {
            let address = further(first, offset);
            if is_load {
                loaded.push((number, self.load(core, address, by, Width::Word)));
            } else {
                let value = (self.r[number], self.origins(number as u8));
                self.store(core, address, by, value, Width::Word);
            }
        }
        if op.kind != Kind::Ldm || op.imm >> op.rn & 1 == 0 {
            self.set(base, back.secret, by);
        }
        for (number, (secret, from)) in loaded {
            if number == PC && secret != 0 {
                self.find(core, Decides::Target, from, None);
            }
            self.set(number as u8, secret, from);
        }
    }

    // Exceptions (ARM DDI 0419E, B1.5.6 and B1.5.8).

    /// The frame of an exception goes to the stack.
    pub fn stack(&mut self, core: &Before<'_>, frame: u32) {
        let sp = self.word(core, SP as u8);
        let aligns = sp.secret & 4;
        if sp.secret != 0 {
            let from = self.origins(SP as u8);
            let first = further(sp, frame.wrapping_sub(sp.value));
            self.find_address(core, first, from, Width::Word);
            if self.shadows.store_somewhere(first, from, FRAME_BYTES) {
                self.finds.note_lost(core.pc);
            }
            self.set(SP as u8, first.secret, from);
        }
        for (number, at) in FRAME.into_iter().zip((frame..).step_by(4)) {
            let from = self.origins(number as u8);
            self.shadows.store(at, self.r[number], from, 4);
        }
        self.shadows.store(frame.wrapping_add(24), 0, 0, 4);
        let status = self.status() | aligns << 7;
        let from = self.flags.from | self.origins(SP as u8);
        self.shadows.store(frame.wrapping_add(28), status, from, 4);
        self.stacked.insert(frame, (self.flags_at, self.control));
        self.compared = None;
        // Which stack it was shows in the value that returns.
        let (secret, from) = self.control;
        self.set(LR as u8, (secret & SPSEL) << 1, from);
        self.control.0 &= !SPSEL;
    }

    /// The handler is the one that a vector names.
    pub fn vector(&mut self, core: &Before<'_>, at: u32) {
        let (secret, from) = self.shadows.load(at, 4);
        if secret != 0 {
            self.find(core, Decides::Target, from, None);
        }
    }

    /// LR says how to return.
    pub fn link(&mut self) {
        self.set(LR as u8, 0, 0);
    }

    /// It comes back from there.
    pub fn unstack(&mut self, core: &Before<'_>, frame: u32) {
        for (number, at) in FRAME.into_iter().zip((frame..).step_by(4)) {
            let (secret, from) = self.shadows.load(at, 4);
            self.set(number as u8, secret, from);
        }
        // Where it goes on may have been changed in the frame.
        let (secret, from) = self.shadows.load(frame.wrapping_add(24), 4);
        if secret != 0 {
            self.find(core, Decides::Target, from, None);
        }
        let (secret, from) = self.shadows.load(frame.wrapping_add(28), 4);
        self.write_status(secret, from);
        let sp = Word::new(frame, self.r[SP]);
        if sp.secret | secret & ALIGNED != 0 {
            let after = further(sp, FRAME_BYTES).secret | (secret & ALIGNED) >> 7;
            self.set(SP as u8, after, from | self.from[SP]);
        }
        let before = self.stacked.remove(&frame);
        let (flags_at, control) = before.unwrap_or((self.here, (0, 0)));
        self.flags_at = flags_at;
        self.control.0 = self.control.0 & !SPSEL | control.0;
        self.control.1 |= control.1;
    }
}

/// Whether a condition holds, by N, Z, C and V.
fn holds(condition: u8, [n, z, c, v]: [bool; 4]) -> bool {
    let holds = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => true,
    };
    holds != (condition & 1 != 0)
}

const fn width_of(kind: Kind) -> Width {
    match kind {
        Kind::Ldrh | Kind::Ldrsh | Kind::Strh => Width::Half,
        Kind::Ldrb | Kind::Ldrsb | Kind::Strb => Width::Byte,
        _ => Width::Word,
    }
}

fn is_unprivileged(core: &Before<'_>) -> bool {
    !core.in_handler && u32::from(core.control) & NPRIV != 0
}

/// The system control space: exceptions, `SysTick`, the processor's settings (B3.2).
const fn is_system(address: u32) -> bool {
    address >> 12 == 0xe_000e
}

const fn is_aligned(address: u32, width: Width) -> bool {
    address & (width.bytes() - 1) == 0
}

/// An address so many bytes behind another.
fn further(address: Word, bytes: u32) -> Word {
    if address.secret == 0 {
        return Word::public(address.value.wrapping_add(bytes));
    }
    address.add(Word::public(bytes), ZERO, 32).sum
}
