//! Secrets followed through the core: beside each bit of registers and memory, whether it depends on
//! a secret ([`joulemark_kernel::secrets`]).
//!
//! Before an instruction executes, its data flow is worked out here from the same decoded operation
//! and the same registers. What is followed is data: what a secret branch leads to is not, so that
//! behind a finding of a branch other findings can be missing.

mod compute;
mod float;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use joulemark_kernel::Memories;
use joulemark_kernel::secrets::{
    Copies, Decides, Finds, Found, Origins, Piece, Report, Word, passed,
};

use crate::bus::{Flow, Width};
use crate::core::{Call, bit_band};
use crate::memo::is_it;
use crate::memory::{Entry, Memory};
use crate::multiple::{registers, transfers};
use crate::op::{Kind, Op};
use crate::registers::{Registers, literal};
use crate::timing::Timing;
use crate::traits::{Class, Traits};

/// The widest span of addresses of a store that is marked as a whole, in bytes: a table of secrets.
const WIDEST_SPAN: u32 = 4096;

const PC: usize = 15;
const SP: u8 = 13;
/// CONTROL: thread mode uses the process stack.
const SPSEL: u32 = 2;
/// CONTROL: there is floating-point state.
const FPCA: u32 = 4;
/// Of a frame: its status says that it was aligned.
const ALIGNED: u32 = 1 << 9;
/// Bytes of a frame without floating-point state.
const FRAME_BYTES: u32 = 32;

/// What the core holds before an instruction.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    pub regs: &'a Registers,
    pub memory: &'a Memory,
    pub timing: Timing,
    pub calls: &'a [Call],
    /// ITSTATE.
    pub it: u8,
    pub special: Special,
    /// What becomes of a value in a device's register.
    pub flow: &'a dyn Fn(u32) -> Flow,
    /// Where floating-point state waits to be stacked.
    pub reserved: Option<u32>,
    /// A store that is exclusive would succeed.
    pub exclusive: bool,
}

/// Registers that MRS reads and MSR writes.
#[derive(Clone, Copy)]
pub struct Special {
    pub privileged: bool,
    /// PRIMASK and FAULTMASK.
    pub masks: [bool; 2],
    pub basepri: u8,
    /// The priority bits that there are.
    pub priority_mask: u8,
    pub control: u8,
    /// The stack pointer that R13 is not, and whether R13 is the process stack's.
    pub other_sp: u32,
    pub on_process_stack: bool,
    pub in_handler: bool,
}

/// Which flags are secret.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // one for each flip-flop
struct Flags {
    n: bool,
    z: bool,
    c: bool,
    v: bool,
    q: bool,
    ge: u8,
    from: Origins,
    /// After a comparison, what it depends on a secret: whether the first is higher, greater or the
    /// same, and greater. That is less than what the flags show one by one.
    order: Option<[bool; 3]>,
    /// What set them may not have been executed.
    in_doubt: bool,
}

impl Flags {
    const fn any(&self) -> bool {
        self.n | self.z | self.c | self.v | self.q || self.ge != 0
    }
}

/// Bits that depend on secrets, and what was found.
pub struct Secrets {
    r: [u32; 16],
    from: [Origins; 16],
    copies: Copies<16>,
    flags: Flags,
    /// The instruction that set them, and the one that is looked at.
    flags_at: u32,
    here: u32,
    /// The former, and CONTROL, of what exceptions interrupted, by the frame.
    stacked: HashMap<u32, (u32, (u32, Origins))>,
    /// PRIMASK, FAULTMASK, BASEPRI and CONTROL, and the stack pointer that R13 is not.
    primask: (u32, Origins),
    faultmask: (u32, Origins),
    basepri: (u32, Origins),
    control: (u32, Origins),
    other_sp: (u32, Origins),
    /// Of all that was written to the system control space, which makes all of it secret.
    system: Origins,
    s: [u32; 32],
    s_from: [Origins; 32],
    /// FPSCR.
    conditions: u32,
    conditions_from: Origins,
    /// A mask for each byte of memory, and where it comes from; the latter counts only where the
    /// mask is not zero.
    bytes: Vec<u8>,
    origins: Vec<Origins>,
    /// Of device registers that secrets were written to.
    devices: HashMap<u32, (u32, Origins)>,
    /// Of all that other bus masters read.
    masters: Origins,
    /// How control passed each halfword.
    passed: Vec<u8>,
    /// Whether the instruction executes depends on a secret: so does all that it writes.
    doubt: Option<Origins>,
    /// And it is not executed this time: its address may be anything.
    is_skipped: bool,
    /// Flags by which the last IT block may be known to be executed, by the instruction that set
    /// them.
    public_flags: Option<u32>,
    pub finds: Finds,
}

impl Secrets {
    /// Nothing is secret yet.
    pub fn new(memory: &Memory) -> Self {
        let size = memory.size();
        Self {
            r: [0; 16],
            from: [0; 16],
            copies: Copies::default(),
            flags: Flags::default(),
            flags_at: 0,
            here: 0,
            stacked: HashMap::new(),
            primask: (0, 0),
            faultmask: (0, 0),
            basepri: (0, 0),
            control: (0, 0),
            other_sp: (0, 0),
            system: 0,
            s: [0; 32],
            s_from: [0; 32],
            conditions: 0,
            conditions_from: 0,
            bytes: vec![0; size],
            origins: vec![0; size],
            devices: HashMap::new(),
            masters: 0,
            passed: vec![0; size / 2 + 1],
            doubt: None,
            is_skipped: false,
            public_flags: None,
            finds: Finds::default(),
        }
    }

    /// Keep what was found earlier.
    pub fn keep(&mut self, earlier: Self) {
        self.finds = earlier.finds;
        self.finds.is_on = false;
        self.passed = earlier.passed;
    }

    /// These bytes are secret from here on, or public where they come from nothing. `Err` holds the
    /// first address that is no memory.
    pub fn mark(&mut self, memory: &Memory, piece: &Piece) -> Result<(), u32> {
        let mask = if piece.origin == 0 { 0 } else { 0xff };
        for address in (piece.address..).take(piece.length as usize) {
            let at = memory.place(address).ok_or(address)?;
            self.bytes[at] = mask;
            self.origins[at] = piece.origin;
        }
        Ok(())
    }

    /// Which bits of memory are secret.
    #[cfg(test)]
    pub fn of_memory(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// Which bits of a register are secret.
    #[cfg(test)]
    pub const fn of_register(&self, number: usize) -> u32 {
        self.r[number]
    }

    /// Which bits of the program status register are secret.
    #[cfg(test)]
    pub fn of_status(&self) -> u32 {
        self.status()
    }

    /// Which bits of a floating-point register, or of FPSCR, are secret.
    #[cfg(test)]
    pub const fn of_float(&self, number: usize) -> u32 {
        if number < 32 {
            self.s[number]
        } else {
            self.conditions
        }
    }

    #[cfg(test)]
    pub fn set_memory(&mut self, at: usize, secret: u8) {
        self.bytes[at] = secret;
        self.origins[at] = 1;
    }

    #[cfg(test)]
    pub fn set_register(&mut self, number: u8, secret: u32) {
        self.set(number, secret, 1);
    }

    #[cfg(test)]
    pub fn set_status(&mut self, secret: u32) {
        self.write_status(secret, 1, u32::MAX);
    }

    /// PRIMASK, FAULTMASK, BASEPRI, CONTROL, and the stack pointer that R13 is not.
    #[cfg(test)]
    pub const fn of_special(&self) -> [u32; 5] {
        [
            self.primask.0,
            self.faultmask.0,
            self.basepri.0,
            self.control.0,
            self.other_sp.0,
        ]
    }

    #[cfg(test)]
    pub fn set_special(&mut self, secret: [u32; 5]) {
        let [primask, faultmask, basepri, control, other_sp] = secret.map(|bits| (bits, 1));
        (self.primask, self.faultmask) = (primask, faultmask);
        (self.basepri, self.control, self.other_sp) = (basepri, control, other_sp);
    }

    #[cfg(test)]
    pub fn set_float(&mut self, number: u8, secret: u32) {
        if number < 32 {
            self.set_single(number, secret, 1);
        } else {
            self.conditions = secret;
            self.conditions_from = 1;
        }
    }

    /// What was found.
    pub fn report(&self, memory: &Memory) -> Report {
        let passed = self.passed.iter().enumerate();
        let places = passed
            .filter(|&(_, &passed)| passed != 0)
            .filter_map(|(half, &passed)| Some((memory.address_of(2 * half)?, passed)));
        self.finds.report(places)
    }

    /// Work out what the instruction that comes next does with secrets.
    pub fn before(&mut self, core: &Before<'_>, entry: &Entry) {
        let op = &entry.op;
        self.here = entry.address;
        if self.finds.is_on
            && let Some(at) = core.memory.place(entry.address)
        {
            self.passed[at / 2] |= passed::HERE | way(core.regs, op);
            self.check_code(core, entry.address, at, op.length.into());
        }
        if is_it(core.it) {
            let holds = core.regs.holds(core.it >> 4);
            let is_public = self.public_flags == Some(self.flags_at);
            if !is_public && self.condition_is_secret(core.it >> 4, core.regs) {
                if entry.traits.is_branch() {
                    // Where it does not go, nothing of it is done, and where it does, all.
                    self.find(core, entry.address, Decides::Branch, self.flags.from, None);
                    if !holds && !entry.traits.is(Traits::NEVER_SKIPPED) {
                        return;
                    }
                } else {
                    self.doubt = Some(self.flags.from);
                    self.is_skipped = !holds;
                }
            } else if !holds && !entry.traits.is(Traits::NEVER_SKIPPED) {
                return;
            }
        }
        self.flow(core, entry);
        (self.doubt, self.is_skipped) = (None, false);
    }

    fn flow(&mut self, core: &Before<'_>, entry: &Entry) {
        let op = &entry.op;
        let pc = entry.address;
        match op.kind {
            Kind::MovReg | Kind::AddReg if op.rd == 15 => {
                let from = self.from[op.rm as usize] | self.from[op.rn as usize];
                let secret = self.r[op.rm as usize]
                    | if op.kind == Kind::AddReg {
                        self.r[op.rn as usize]
                    } else {
                        0
                    };
                if secret != 0 {
                    self.find(core, pc, Decides::Target, from, None);
                }
            }
            kind if kind.computes() => self.compute(core, pc, op),
            Kind::LdrImm => self.load_single(core, pc, op, Width::Word, false),
            Kind::LdrbImm => self.load_single(core, pc, op, Width::Byte, false),
            Kind::LdrhImm => self.load_single(core, pc, op, Width::Half, false),
            Kind::LdrsbImm => self.load_single(core, pc, op, Width::Byte, true),
            Kind::LdrshImm => self.load_single(core, pc, op, Width::Half, true),
            Kind::LdrReg => self.load_indexed(core, pc, op, Width::Word, false),
            Kind::LdrbReg => self.load_indexed(core, pc, op, Width::Byte, false),
            Kind::LdrhReg => self.load_indexed(core, pc, op, Width::Half, false),
            Kind::LdrsbReg => self.load_indexed(core, pc, op, Width::Byte, true),
            Kind::LdrshReg => self.load_indexed(core, pc, op, Width::Half, true),
            Kind::LdrLit | Kind::LdrbLit | Kind::LdrhLit => {
                self.load_literal(core, pc, op, op.kind.width(), false);
            }
            Kind::LdrsbLit | Kind::LdrshLit => {
                self.load_literal(core, pc, op, op.kind.width(), true);
            }
            Kind::StrImm | Kind::StrbImm | Kind::StrhImm => {
                let (address, back) = self.base(core, op);
                let (secret, from) = self.of(op.rd);
                self.store(core, pc, address, secret, from, op.kind.width());
                self.write_back(op, back);
            }
            Kind::StrReg | Kind::StrbReg | Kind::StrhReg => {
                let address = self.indexed(core, op);
                let (secret, from) = self.of(op.rd);
                self.store(core, pc, address, secret, from, op.kind.width());
            }
            Kind::Ldrd | Kind::LdrdLit | Kind::Strd => self.double(core, pc, op),
            Kind::Ldrex | Kind::Ldrexb | Kind::Ldrexh => {
                let address = self.exclusive(core, op);
                let (secret, from) = self.load(core, pc, address, op.kind.width());
                self.set(op.rd, secret, from);
            }
            Kind::Strex | Kind::Strexb | Kind::Strexh => {
                let address = self.exclusive(core, op);
                let (secret, from) = self.of(op.rd);
                if core.exclusive {
                    self.store(core, pc, address, secret, from, op.kind.width());
                } else if address.0.secret != 0 {
                    self.find_address(core, pc, address.0, address.1, op.kind.width());
                }
                self.set(op.ra, 0, 0);
            }
            Kind::Ldmia | Kind::Ldmdb | Kind::Stmia | Kind::Stmdb => {
                let state = if is_it(core.it) { 0 } else { core.it };
                let (list, start, back) = transfers(core.regs, op, state);
                self.multiple(core, pc, op, list, start, Some(back));
            }
            Kind::Tbb | Kind::Tbh => {
                let shift = u32::from(op.kind == Kind::Tbh);
                let address = self.sum_of_registers(core, op.rn, op.rm, shift);
                let (secret, from) = self.load_from(core, address.0.value, op.kind.width());
                let all = if secret == 0 {
                    address.1
                } else {
                    address.1 | from
                };
                if address.0.secret | secret != 0 {
                    self.find(core, pc, Decides::Target, all, None);
                }
            }
            Kind::Bcond if self.condition_is_secret(op.ra, core.regs) => {
                self.find(core, pc, Decides::Branch, self.flags.from, None);
                if op.ra < 2 && self.finds.is_public(pc, self.flags_at) {
                    self.learn(core, pc, core.regs.z);
                }
            }
            Kind::It if self.condition_is_secret((op.imm >> 4) as u8, core.regs) => {
                let from = self.flags.from;
                let is_public = self.finds.is_public(pc, self.flags_at);
                self.public_flags = is_public.then_some(self.flags_at);
                if skipping_takes_as_long(core, pc, op) {
                    self.find(core, pc, Decides::Select, from, Some(0));
                } else {
                    self.find(core, pc, Decides::Condition, from, None);
                }
            }
            Kind::Cbz | Kind::Cbnz if self.word(core.regs, op.rn).zero_is_secret() => {
                let from = self.from[op.rn as usize];
                let flags_at = std::mem::replace(&mut self.flags_at, pc);
                self.find(core, pc, Decides::Branch, from, None);
                self.flags_at = flags_at;
                if self.finds.is_public(pc, pc) {
                    let equal = core.regs.read(op.rn) == 0;
                    self.learn_of(core, op.rn, Word::public(0), equal);
                }
            }
            Kind::Bx | Kind::Blx => {
                let (secret, from) = self.of(op.rm);
                if secret != 0 {
                    self.find(core, pc, Decides::Target, from, None);
                }
                if op.kind == Kind::Blx {
                    self.set(14, 0, 0);
                }
            }
            Kind::Bl => self.set(14, 0, 0),
            Kind::Mrs => {
                let (secret, from) = self.special_register(core, op.imm);
                self.set(op.rd, secret, from);
            }
            Kind::Msr if op.imm < 4 => {
                let (secret, from) = self.of(op.rn);
                let mask = if op.ra & 2 != 0 { 0xf800_0000 } else { 0 }
                    | if op.ra & 1 != 0 { 0xf_0000 } else { 0 };
                self.write_status(secret, from, mask);
            }
            Kind::Msr if core.special.privileged => self.write_special_register(core, op),
            Kind::Cps if core.special.privileged => {
                let now = u32::from(op.ra != 0);
                if op.imm & 2 != 0 {
                    self.mask(core, 0, Word::public(now), 0);
                }
                if op.imm & 1 != 0 {
                    self.mask(core, 1, Word::public(now), 0);
                }
            }
            kind if kind.is_float() => self.float(core, pc, op),
            _ => {}
        }
    }

    // What a decision that may be known says of registers.

    /// The flags show whether what was compared is the same. Only registers that have not changed
    /// since are looked at.
    #[cold]
    fn learn(&mut self, core: &Before<'_>, pc: u32, equal: bool) {
        let looked_at = core.memory.look(self.flags_at);
        let Some((op, traits)) = looked_at.filter(|_| !self.flags.in_doubt) else {
            return;
        };
        let mut at = self.flags_at.wrapping_add(u32::from(op.length));
        let mut written = 0;
        while at != pc {
            match core.memory.look(at) {
                Some((next, between)) if at < pc && !between.is_branch() => {
                    written |= between.writes;
                    at = at.wrapping_add(u32::from(next.length));
                }
                _ => return,
            }
        }
        let still = |register: u8| written >> register & 1 == 0;
        match op.kind {
            Kind::CmpImm if still(op.rn) => {
                self.learn_of(core, op.rn, Word::public(op.imm), equal);
            }
            Kind::CmpReg if op.amount == 0 && still(op.rn) && still(op.rm) => {
                let (n, m) = (self.word(core.regs, op.rn), self.word(core.regs, op.rm));
                self.learn_of(core, op.rn, m, equal);
                self.learn_of(core, op.rm, n, equal);
            }
            kind if kind.computes() && traits.writes == 1 << op.rd && still(op.rd) => {
                self.learn_of(core, op.rd, Word::public(0), equal);
            }
            _ => {}
        }
    }

    /// It is known whether a register holds the same as another value.
    fn learn_of(&mut self, core: &Before<'_>, register: u8, other: Word, equal: bool) {
        let secret = self.word(core.regs, register).compared(other, equal);
        for number in self.copies.of(register as usize & 15) {
            self.r[number] &= secret;
        }
    }

    // What was found.

    #[cold]
    fn find(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        decides: Decides,
        from: Origins,
        extra_cycles: Option<u32>,
    ) {
        self.find_over(core, pc, decides, from, extra_cycles, (0, 0));
    }

    #[cold]
    fn find_over(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        decides: Decides,
        from: Origins,
        extra_cycles: Option<u32>,
        span: (u32, u32),
    ) {
        let calls = || core.calls.iter().map(|call| call.return_address).collect();
        let found = Found {
            origins: from,
            extra_cycles,
            span,
            decided_at: match decides {
                Decides::Branch | Decides::Condition | Decides::Select => self.flags_at,
                _ => pc,
            },
        };
        self.finds.note(pc, decides, found, calls);
    }

    /// What is executed may be secret itself.
    #[inline]
    fn check_code(&mut self, core: &Before<'_>, pc: u32, at: usize, length: usize) {
        let end = self.bytes.len().min(at + length);
        if self.bytes[at..end].iter().all(|&mask| mask == 0) {
            return;
        }
        let secret = self.bytes[at..end].iter().zip(&self.origins[at..end]);
        let from = secret.filter(|&(&mask, _)| mask != 0);
        let from = from.fold(0, |all, (_, origins)| all | origins);
        self.find(core, pc, Decides::Code, from, None);
    }

    // Registers and flags.

    #[inline]
    fn of(&self, register: u8) -> (u32, Origins) {
        let number = register as usize & 15;
        (self.r[number], self.from[number])
    }

    #[inline]
    fn word(&self, regs: &Registers, register: u8) -> Word {
        Word::new(regs.read(register), self.r[register as usize & 15])
    }

    #[inline]
    fn set(&mut self, register: u8, secret: u32, from: Origins) {
        let (mut secret, mut from) = (secret, from);
        if let Some(doubt) = self.doubt {
            (secret, from) = (u32::MAX, from | doubt | self.of(register).1);
        }
        if register == SP {
            secret &= !3;
        }
        let number = register as usize & 15;
        if number != PC {
            self.r[number] = secret;
            self.from[number] = if secret == 0 { 0 } else { from };
            self.copies.write(number);
        }
    }

    /// Flags of a result: N and Z, and where they are given, C and V.
    #[inline]
    fn set_flags(&mut self, result: Word, c: Option<bool>, v: Option<bool>, from: Origins) {
        self.flags_at = self.here;
        let flags = &mut self.flags;
        flags.order = None;
        flags.in_doubt = self.doubt.is_some();
        let kept = flags.q || flags.ge != 0 || c.is_none() && flags.c || v.is_none() && flags.v;
        let before = if kept { flags.from } else { 0 };
        flags.n = result.secret >> 31 != 0;
        flags.z = result.zero_is_secret();
        flags.c = c.unwrap_or(flags.c);
        flags.v = v.unwrap_or(flags.v);
        flags.from = before | from;
        if let Some(doubt) = self.doubt {
            (flags.n, flags.z, flags.c, flags.v) = (true, true, true, true);
            flags.from |= doubt;
        }
        if !self.flags.any() {
            self.flags.from = 0;
        }
    }

    /// The secret bits of the program status register.
    fn status(&self) -> u32 {
        let flags = &self.flags;
        u32::from(flags.n) << 31
            | u32::from(flags.z) << 30
            | u32::from(flags.c) << 29
            | u32::from(flags.v) << 28
            | u32::from(flags.q) << 27
            | u32::from(flags.ge) << 16
    }

    fn write_status(&mut self, secret: u32, from: Origins, mask: u32) {
        self.flags_at = self.here;
        let all = if self.doubt.is_some() {
            u32::MAX
        } else {
            secret
        };
        let status = self.status() & !mask | all & mask;
        let bit = |number: u32| status >> number & 1 != 0;
        self.flags = Flags {
            n: bit(31),
            z: bit(30),
            c: bit(29),
            v: bit(28),
            q: bit(27),
            ge: (status >> 16 & 15) as u8,
            from: self.flags.from | from | self.doubt.unwrap_or(0),
            order: None,
            in_doubt: true,
        };
        if !self.flags.any() {
            self.flags.from = 0;
        }
    }

    /// Whether it depends on a secret that a condition holds (A7.3).
    fn condition_is_secret(&self, condition: u8, regs: &Registers) -> bool {
        let flags = &self.flags;
        let signs = flags.n || flags.v;
        // Of two that must both hold, one that fails for sure decides alone.
        let both = |x: bool, x_is_secret: bool, y: bool, y_is_secret: bool| {
            x_is_secret && (y || y_is_secret) || y_is_secret && (x || x_is_secret)
        };
        match (condition >> 1, flags.order) {
            (4, Some([is_higher, _, _])) => is_higher,
            (5, Some([_, is_no_less, _])) => is_no_less,
            (6, Some([_, _, is_greater])) => is_greater,
            (0, _) => flags.z,
            (1, _) => flags.c,
            (2, _) => flags.n,
            (3, _) => flags.v,
            (4, _) => both(regs.c, flags.c, !regs.z, flags.z),
            (5, _) => signs,
            (6, _) => both(regs.n == regs.v, signs, !regs.z, flags.z),
            _ => false,
        }
    }

    // Addresses.

    /// Where an access to a base and an immediate goes, and the base that is written back.
    fn base(&self, core: &Before<'_>, op: &Op) -> ((Word, Origins), u32) {
        let base = self.word(core.regs, op.rn);
        let from = self.from[op.rn as usize];
        if base.secret == 0 {
            return ((Word::public(core.regs.base_address(op).0), 0), 0);
        }
        let sum = further(base, op.imm);
        let address = if op.is(Op::INDEX) { sum } else { base };
        ((address, from), sum.secret)
    }

    fn write_back(&mut self, op: &Op, secret: u32) {
        if op.is(Op::WRITEBACK) {
            self.set(op.rn, secret, self.from[op.rn as usize]);
        }
    }

    fn indexed(&self, core: &Before<'_>, op: &Op) -> (Word, Origins) {
        self.sum_of_registers(core, op.rn, op.rm, u32::from(op.amount))
    }

    fn sum_of_registers(&self, core: &Before<'_>, rn: u8, rm: u8, shift: u32) -> (Word, Origins) {
        let (base, index) = (self.word(core.regs, rn), self.word(core.regs, rm));
        let index = Word::new(index.value << shift, index.secret << shift);
        if base.secret | index.secret == 0 {
            return (Word::public(base.value.wrapping_add(index.value)), 0);
        }
        let from = self.of(rn).1 | self.of(rm).1;
        (base.add(index, Word::public(0), 32).sum, from)
    }

    fn exclusive(&self, core: &Before<'_>, op: &Op) -> (Word, Origins) {
        let base = self.word(core.regs, op.rn);
        let offset = if matches!(op.kind, Kind::Ldrex | Kind::Strex) {
            op.imm
        } else {
            0
        };
        let sum = base.add(Word::public(offset), Word::public(0), 32).sum;
        (sum, self.from[op.rn as usize])
    }

    /// An address that depends on a secret is found. It costs nothing where all that it can be is
    /// one memory that takes as long everywhere.
    #[cold]
    fn find_address(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        address: Word,
        from: Origins,
        width: Width,
    ) {
        if self.doubt.is_some() {
            // That the access may not happen at all is found already.
            return;
        }
        let span = (address.least(), address.most());
        let aligned = address.secret & (width.bytes() - 1) == 0;
        let even = aligned && core.memory.takes_as_long(span.0, span.1);
        let cost = even.then_some(0);
        self.find_over(core, pc, Decides::Address, from, cost, span);
    }

    // Memory.

    /// Which bits of what is read are secret; an address that is secret makes them all so.
    fn load(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        (address, from): (Word, Origins),
        width: Width,
    ) -> (u32, Origins) {
        let (secret, origins) = self.load_from(core, address.value, width);
        if address.secret == 0 {
            return (secret, origins);
        }
        self.find_address(core, pc, address, from, width);
        (u32::MAX >> (32 - 8 * width.bytes()), origins | from)
    }

    #[inline]
    fn load_from(&self, core: &Before<'_>, address: u32, width: Width) -> (u32, Origins) {
        match core.memory.to_read(address, width) {
            Some(at) => self.load_at(at, width),
            None => self.load_elsewhere(core, address, width),
        }
    }

    #[inline]
    fn load_at(&self, at: usize, width: Width) -> (u32, Origins) {
        let size = width.bytes() as usize;
        let bytes = &self.bytes[at..at + size];
        let secret = match width {
            Width::Byte => u32::from(bytes[0]),
            Width::Half => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Width::Word => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        };
        if secret == 0 {
            return (0, 0);
        }
        let origins = bytes.iter().zip(&self.origins[at..at + size]);
        let from = origins.filter(|&(&mask, _)| mask != 0);
        (secret, from.fold(0, |all, (_, origins)| all | origins))
    }

    #[cold]
    fn load_elsewhere(&self, core: &Before<'_>, address: u32, width: Width) -> (u32, Origins) {
        if let Some((word, bit)) = bit_band(address) {
            let (secret, from) = self.load_from(core, word, Width::Word);
            return (secret >> bit & 1, from);
        }
        let all = u32::MAX >> (32 - 8 * width.bytes());
        if self.system != 0 && is_system(address) {
            return (all, self.system);
        }
        if self.masters != 0 && (core.flow)(address) == Flow::Derived {
            return (all, self.masters);
        }
        let register = self.devices.get(&(address & !3));
        let (secret, from) = register.copied().unwrap_or_default();
        let lane = secret >> (8 * (address & 3));
        (lane & all, from)
    }

    fn store(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        (address, address_from): (Word, Origins),
        secret: u32,
        from: Origins,
        width: Width,
    ) {
        let mut value = (secret, from);
        if let Some(doubt) = self.doubt {
            value = (u32::MAX, from | doubt);
        }
        if address.secret != 0 {
            self.find_address(core, pc, address, address_from, width);
            self.store_somewhere(core, pc, address, value.1 | address_from, width.bytes());
            value = (u32::MAX, value.1 | address_from);
            if self.is_skipped {
                return;
            }
        }
        self.store_to(core, pc, address.value, value.0, value.1, width);
    }

    #[inline]
    fn store_to(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        address: u32,
        secret: u32,
        from: Origins,
        width: Width,
    ) {
        match core.memory.to_write(address, width) {
            Some(at) => self.store_at(at, secret, from, width),
            None => self.store_elsewhere(core, pc, address, secret, from, width),
        }
    }

    #[inline]
    fn store_at(&mut self, at: usize, secret: u32, from: Origins, width: Width) {
        let size = width.bytes() as usize;
        let masks = secret.to_le_bytes();
        self.bytes[at..at + size].copy_from_slice(&masks[..size]);
        if secret != 0 {
            self.origins[at..at + size].fill(from);
        }
    }

    /// What a store may go to is secret as a whole: another run has stored elsewhere.
    #[cold]
    fn store_somewhere(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        address: Word,
        from: Origins,
        bytes: u32,
    ) {
        let (first, last) = (address.least(), address.most());
        if last - first >= WIDEST_SPAN {
            self.finds.note_lost(pc);
            return;
        }
        for address in first..=last.saturating_add(bytes - 1) {
            let aliased = bit_band(address).map(|(word, bit)| word + bit / 8);
            let address = aliased.unwrap_or(address);
            if let Some(at) = core.memory.to_write(address, Width::Byte) {
                let before = if self.bytes[at] == 0 {
                    0
                } else {
                    self.origins[at]
                };
                self.bytes[at] = 0xff;
                self.origins[at] = before | from;
            }
        }
    }

    #[cold]
    fn store_elsewhere(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        address: u32,
        secret: u32,
        from: Origins,
        width: Width,
    ) {
        if let Some((word, bit)) = bit_band(address) {
            let (old, old_from) = self.load_from(core, word, Width::Word);
            let new = old & !(1 << bit) | (secret & 1) << bit;
            self.store_to(core, pc, word, new, old_from | from, Width::Word);
            return;
        }
        let lanes = u32::MAX >> (32 - 8 * width.bytes());
        let up = 8 * (address & 3);
        if self.store_to_flash(core, address, secret & lanes, from, width) {
            return;
        }
        if secret & lanes != 0 && is_system(address) {
            self.finds.note_device(address, from);
            self.find(core, self.here, Decides::Exception, from, None);
            self.system |= from;
        } else if secret & lanes != 0 {
            match (core.flow)(address) {
                Flow::Register => self.finds.note_device(address, from),
                Flow::Pointer => self.find(core, pc, Decides::Pointer, from, None),
                Flow::Derived => self.masters |= from,
            }
        }
        let register = self.devices.entry(address & !3).or_default();
        register.0 = register.0 & !(lanes << up) | (secret & lanes) << up;
        register.1 = if register.0 == 0 {
            0
        } else {
            register.1 | from
        };
    }

    /// What is programmed into flash is there from now on, beside what was: until it is erased, of
    /// which nothing is known here.
    #[cold]
    fn store_to_flash(
        &mut self,
        core: &Before<'_>,
        address: u32,
        secret: u32,
        from: Origins,
        width: Width,
    ) -> bool {
        let Some(at) = core.memory.place(address) else {
            return false;
        };
        for (place, mask) in (at..)
            .zip(secret.to_le_bytes())
            .take(width.bytes() as usize)
        {
            if mask != 0 {
                let before = if self.bytes[place] == 0 {
                    0
                } else {
                    self.origins[place]
                };
                self.bytes[place] |= mask;
                self.origins[place] = before | from;
            }
        }
        true
    }

    // Loads and stores.

    fn loaded(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        op: &Op,
        (secret, from): (u32, Origins),
        width: Width,
        signed: bool,
    ) {
        let secret = match (signed, width) {
            (true, Width::Byte) => secret as u8 as i8 as u32,
            (true, Width::Half) => secret as u16 as i16 as u32,
            _ => secret,
        };
        if op.rd == 15 {
            if secret != 0 {
                self.find(core, pc, Decides::Target, from, None);
            }
            return;
        }
        self.set(op.rd, secret, from);
    }

    fn load_single(&mut self, core: &Before<'_>, pc: u32, op: &Op, width: Width, signed: bool) {
        let (address, back) = self.base(core, op);
        let value = self.load(core, pc, address, width);
        self.write_back(op, back);
        self.loaded(core, pc, op, value, width, signed);
    }

    fn load_indexed(&mut self, core: &Before<'_>, pc: u32, op: &Op, width: Width, signed: bool) {
        let address = self.indexed(core, op);
        let value = self.load(core, pc, address, width);
        self.loaded(core, pc, op, value, width, signed);
    }

    fn load_literal(&mut self, core: &Before<'_>, pc: u32, op: &Op, width: Width, signed: bool) {
        let value = self.load_from(core, literal(pc, op), width);
        self.loaded(core, pc, op, value, width, signed);
    }

    /// LDRD and STRD.
    fn double(&mut self, core: &Before<'_>, pc: u32, op: &Op) {
        let (address, back) = if op.kind == Kind::LdrdLit {
            ((Word::public(literal(pc, op)), 0), 0)
        } else {
            self.base(core, op)
        };
        let next = (further(address.0, 4), address.1);
        if op.kind == Kind::Strd {
            let (first, second) = (self.of(op.rd), self.of(op.ra));
            self.store(core, pc, address, first.0, first.1, Width::Word);
            self.store(core, pc, next, second.0, second.1, Width::Word);
            self.write_back(op, back);
            return;
        }
        let first = self.load(core, pc, address, Width::Word);
        let second = self.load(core, pc, next, Width::Word);
        self.write_back(op, back);
        self.set(op.rd, first.0, first.1);
        self.set(op.ra, second.0, second.1);
    }

    /// LDM and STM of some registers; `back` is the base where all of the instruction is done.
    fn multiple(
        &mut self,
        core: &Before<'_>,
        pc: u32,
        op: &Op,
        list: u32,
        start: u32,
        back: Option<u32>,
    ) {
        let base = self.of(op.rn);
        let loads = matches!(op.kind, Kind::Ldmia | Kind::Ldmdb);
        if base.0 != 0 {
            let value = core.regs.read(op.rn);
            let offset = Word::public(start.wrapping_sub(value));
            let first = Word::new(value, base.0).add(offset, Word::public(0), 32);
            self.find_address(core, pc, first.sum, base.1, Width::Word);
            if !loads {
                let from = registers(list).fold(base.1, |all, r| all | self.of(r).1);
                self.store_somewhere(core, pc, first.sum, from, 4 * list.count_ones());
            }
        }
        let mut values = [(0, 0); 16];
        for (register, address) in registers(list).zip(words_from(start)) {
            if loads {
                let (secret, from) = self.load_from(core, address, Width::Word);
                values[register as usize] = if base.0 == 0 {
                    (secret, from)
                } else {
                    (u32::MAX, from | base.1)
                };
            } else {
                let (secret, from) = self.of(register);
                let doubt = self.doubt.unwrap_or(0);
                let all = base.0 != 0 || self.doubt.is_some();
                let secret = if all { u32::MAX } else { secret };
                self.store_to(
                    core,
                    pc,
                    address,
                    secret,
                    from | base.1 | doubt,
                    Width::Word,
                );
            }
        }
        if back.is_some() && op.is(Op::WRITEBACK) && (base.0 != 0 || self.doubt.is_some()) {
            let sum = Word::new(core.regs.read(op.rn), base.0)
                .add(Word::public(64), Word::public(0), 32)
                .sum;
            // Upwards or downwards by less than 64.
            self.set(op.rn, sum.secret | u32::MAX << 2, base.1);
        }
        if !loads {
            return;
        }
        for register in registers(list) {
            let (secret, from) = values[register as usize];
            if register as usize != PC {
                self.set(register, secret, from);
            } else if secret != 0 {
                self.find(core, pc, Decides::Target, from, None);
            }
        }
    }

    /// Some registers of an LDM or STM were transferred before an exception.
    pub fn part(&mut self, core: &Before<'_>, entry: &Entry, list: u32, start: u32) {
        self.multiple(core, entry.address, &entry.op, list, start, None);
    }

    // Special registers (B5.2.2 and B5.2.3).

    fn special_register(&self, core: &Before<'_>, number: u32) -> (u32, Origins) {
        let [main, process] = self.stack_pointers(core);
        match number {
            0..=7 if number & 4 == 0 => (self.status(), self.flags.from),
            20 => self.control,
            _ if !core.special.privileged => (0, 0),
            8 => main,
            9 => process,
            16 => self.primask,
            17 | 18 => self.basepri,
            19 => self.faultmask,
            _ => (0, 0),
        }
    }

    /// The main one and the process's.
    fn stack_pointers(&self, core: &Before<'_>) -> [(u32, Origins); 2] {
        let now = self.of(SP);
        if core.special.on_process_stack {
            [self.other_sp, now]
        } else {
            [now, self.other_sp]
        }
    }

    /// MSR to all but the flags.
    #[cold]
    fn write_special_register(&mut self, core: &Before<'_>, op: &Op) {
        let (value, from) = (self.word(core.regs, op.rn), self.of(op.rn).1);
        match op.imm {
            8 | 9 if (op.imm == 9) == core.special.on_process_stack => {
                self.set(SP, value.secret, from);
            }
            8 | 9 => {
                let now = Word::new(core.special.other_sp, self.other_sp.0);
                self.other_sp = self.in_doubt(now, self.other_sp.1, value, from, !3);
            }
            16 => self.mask(core, 0, value, from),
            19 => self.mask(core, 1, value, from),
            17 | 18 => {
                let mask = u32::from(core.special.priority_mask);
                let now = Word::new(core.special.basepri.into(), self.basepri.0);
                let (mut new, all) = (value.and(Word::public(mask)), from | self.basepri.1);
                let depends = now.secret != 0 || value.secret & 0xff != 0;
                if op.imm == 18 && depends {
                    // Whether it is written depends on both.
                    new.secret |= now.secret | now.value ^ new.value;
                }
                self.basepri = self.in_doubt(now, self.basepri.1, new, all, mask);
                self.decides_exceptions(core, self.basepri);
            }
            20 => self.write_control(core, value, from),
            _ => {}
        }
    }

    /// PRIMASK or FAULTMASK is set.
    fn mask(&mut self, core: &Before<'_>, number: usize, value: Word, from: Origins) {
        let old = [self.primask, self.faultmask][number];
        let now = Word::new(core.special.masks[number].into(), old.0);
        let mut value = value;
        if number == 1 && value.most() & 1 != 0 {
            // In some handlers it can only be cleared, and stays what it is.
            value.secret |= now.secret;
        }
        let new = self.in_doubt(now, old.1, value, from, 1);
        if number == 0 {
            self.primask = new;
        } else {
            self.faultmask = new;
        }
        self.decides_exceptions(core, new);
    }

    /// What is written to a register; it may stay what it is where it is in doubt whether that
    /// happens.
    fn in_doubt(
        &self,
        now: Word,
        now_from: Origins,
        new: Word,
        from: Origins,
        mask: u32,
    ) -> (u32, Origins) {
        let (mut secret, mut from) = (new.secret & mask, from);
        if let Some(doubt) = self.doubt {
            secret = (new.secret | now.secret | now.value ^ new.value) & mask;
            from |= now_from | doubt;
        }
        (secret, if secret == 0 { 0 } else { from })
    }

    fn decides_exceptions(&mut self, core: &Before<'_>, (secret, from): (u32, Origins)) {
        if secret != 0 {
            self.find(core, self.here, Decides::Exception, from, None);
        }
    }

    /// CONTROL decides which stack is used, whether accesses are privileged, and whether
    /// floating-point state is stacked.
    fn write_control(&mut self, core: &Before<'_>, value: Word, from: Origins) {
        let now = Word::new(core.special.control.into(), self.control.0);
        let mut value = value;
        if core.special.in_handler {
            value.secret &= !SPSEL;
        }
        self.control = self.in_doubt(now, self.control.1, value, from, 7);
        let (secret, from) = self.control;
        if secret & SPSEL != 0 {
            let span = (core.special.other_sp, core.regs.r[13]);
            let span = (span.0.min(span.1), span.0.max(span.1));
            self.find_over(core, self.here, Decides::Address, from, None, span);
            let (one, other) = (self.of(SP), self.other_sp);
            let differ = one.0 | other.0 | core.regs.r[13] ^ core.special.other_sp;
            let all = (differ, from | one.1 | other.1);
            self.set(SP, all.0, all.1);
            self.other_sp = all;
        }
        self.decides_exceptions(core, (secret & !SPSEL, from));
    }

    /// R13 becomes the other stack pointer.
    pub fn switch_stack(&mut self) {
        let now = self.of(SP);
        let (secret, from) = std::mem::replace(&mut self.other_sp, now);
        self.r[SP as usize] = secret;
        self.from[SP as usize] = from;
        self.copies.write(SP as usize);
    }

    // Exceptions (B1.5.6 to B1.5.8).

    /// The frame of an exception goes to the stack.
    pub fn stack(&mut self, core: &Before<'_>, frame: u32) {
        let sp = self.word(core.regs, SP);
        let aligns = sp.secret & 4;
        if sp.secret != 0 {
            let from = self.of(SP).1;
            let first = further(sp, frame.wrapping_sub(sp.value));
            self.find_address(core, self.here, first, from, Width::Word);
            self.store_somewhere(core, self.here, first, from, FRAME_BYTES);
            self.set(SP, first.secret, from);
        }
        let places = words_from(frame);
        for (register, at) in [0, 1, 2, 3, 12, 14].into_iter().zip(places) {
            let (secret, from) = self.of(register);
            self.store_to(core, 0, at, secret, from, Width::Word);
        }
        self.store_to(core, 0, frame.wrapping_add(24), 0, 0, Width::Word);
        let status = self.status() | aligns << 7;
        let at = frame.wrapping_add(28);
        let from = self.flags.from | self.of(SP).1;
        self.store_to(core, 0, at, status, from, Width::Word);
        self.stacked.insert(frame, (self.flags_at, self.control));
        // What it selects shows in the value that returns.
        let (secret, from) = self.control;
        self.set(14, (secret & SPSEL) << 1 | (secret & FPCA) << 2, from);
        self.control.0 &= !(SPSEL | FPCA);
    }

    /// The handler is the one that a vector names.
    pub fn vector(&mut self, core: &Before<'_>, vector: u32) {
        let (secret, from) = self.load_from(core, vector, Width::Word);
        if secret != 0 {
            self.find(core, self.here, Decides::Target, from, None);
        }
    }

    /// It comes back from there, and the stack pointer comes to be `top`.
    pub fn unstack(&mut self, core: &Before<'_>, frame: u32, top: u32, process: bool) {
        let places = words_from(frame);
        for (register, at) in [0, 1, 2, 3, 12, 14].into_iter().zip(places) {
            let (secret, from) = self.load_from(core, at, Width::Word);
            self.set(register, secret, from);
        }
        // Where it goes on may have been changed in the frame.
        let (secret, from) = self.load_from(core, frame.wrapping_add(24), Width::Word);
        if secret != 0 {
            self.find(core, self.here, Decides::Target, from, None);
        }
        let (secret, from) = self.load_from(core, frame.wrapping_add(28), Width::Word);
        self.write_status(secret, from, u32::MAX);
        let pointer = if process { self.other_sp } else { self.of(SP) };
        if pointer.0 | secret & ALIGNED != 0 {
            let sum = further(Word::new(frame, pointer.0), top.wrapping_sub(frame));
            let new = (sum.secret | (secret & ALIGNED) >> 7, pointer.1 | from);
            if process {
                self.other_sp = new;
            } else {
                self.set(SP, new.0, new.1);
            }
        }
        let before = self.stacked.remove(&frame);
        let (flags_at, control) = before.unwrap_or((self.here, (0, 0)));
        self.flags_at = flags_at;
        self.control.0 &= !(SPSEL | FPCA);
        self.control.0 |= control.0;
        self.control.1 |= control.1;
    }

    /// FAULTMASK is cleared by a return.
    pub fn unmask_faults(&mut self) {
        self.faultmask = (0, 0);
    }
}

/// Whether the instructions of an IT block take as long to skip as to execute: each computes in a
/// cycle, whatever comes next, which does not wait for what they write.
#[cold]
fn skipping_takes_as_long(core: &Before<'_>, pc: u32, op: &Op) -> bool {
    let count = 4 - (op.imm & 15).trailing_zeros();
    let mut at = pc.wrapping_add(2);
    let mut written = 0;
    for number in 0..=count {
        let Some((next, traits)) = core.memory.look(at) else {
            return false;
        };
        if number == count {
            // An address unit that waits would not have to, nor decode for the link register.
            let returns = traits.is(Traits::FROM_LR) && written & 1 << 14 != 0;
            return traits.address & written == 0 && !returns && next.kind != Kind::It;
        }
        let plain = traits.class == Class::Alu
            && !traits.is(Traits::HOLDS_HEAD | Traits::TIMED | Traits::NOP | Traits::MULS)
            && !traits.is(Traits::FLOAT)
            && next.kind.computes()
            && traits.writes & (1 << 13 | 1 << 15) == 0;
        if !plain {
            return false;
        }
        written |= traits.writes;
        at = at.wrapping_add(u32::from(next.length));
    }
    false
}

/// The system control space: exceptions, `SysTick`, the processor's settings (B3.2).
fn is_system(address: u32) -> bool {
    address >> 12 == 0xe_000e
}

/// An address so many bytes behind another.
fn further(address: Word, bytes: u32) -> Word {
    address.add(Word::public(bytes), Word::public(0), 32).sum
}

/// Addresses of words, one behind the other.
fn words_from(start: u32) -> impl Iterator<Item = u32> {
    (0..).map(move |number: u32| start.wrapping_add(4 * number))
}

/// Which way a conditional instruction goes.
fn way(regs: &Registers, op: &Op) -> u8 {
    let holds = match op.kind {
        Kind::Bcond => regs.holds(op.ra),
        Kind::It => regs.holds((op.imm >> 4) as u8),
        Kind::Cbz => regs.read(op.rn) == 0,
        Kind::Cbnz => regs.read(op.rn) != 0,
        _ => return 0,
    };
    if holds {
        passed::TAKEN
    } else {
        passed::NOT_TAKEN
    }
}

/// Memory as other bus masters see it: what they copy is as secret as its source, and what they
/// make of secrets is secret as a whole.
pub struct Masters<'a> {
    pub memory: &'a mut Memory,
    pub secrets: &'a mut Secrets,
    /// What was read last, with its secret bits.
    pub last: std::cell::RefCell<Read>,
}

/// What is secret as a whole where it comes from any secret.
const fn whole(from: Origins) -> (u8, Origins) {
    (if from == 0 { 0 } else { 0xff }, from)
}

/// Bytes that a bus master read.
#[derive(Default)]
pub struct Read {
    bytes: Vec<u8>,
    secret: Vec<u8>,
    origins: Vec<Origins>,
    /// Of what was read last, which may go to a device, and of all before it.
    latest: Origins,
    all: Origins,
    /// Of what says where a transfer goes and how much it moves.
    directing: Origins,
    /// What has gone to a device, by its register.
    left: Vec<(u32, Origins)>,
}

impl Memories for Masters<'_> {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        let bytes = Memories::read(self.memory, address, length)?;
        let mut last = self.last.borrow_mut();
        let places = (address..).take(bytes.len());
        let places: Vec<usize> = places.filter_map(|at| self.memory.place(at)).collect();
        last.secret = places.iter().map(|&at| self.secrets.bytes[at]).collect();
        last.origins = places.iter().map(|&at| self.secrets.origins[at]).collect();
        let secret = last.secret.iter().zip(&last.origins);
        let from = secret.filter(|&(&mask, _)| mask != 0);
        let all = from.fold(0, |all, (_, origins)| all | origins);
        let before = std::mem::replace(&mut last.latest, all);
        last.all |= before;
        last.bytes.clone_from(&bytes);
        Some(bytes)
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        if !Memories::write(self.memory, address, data) {
            return false;
        }
        let last = self.last.borrow();
        let all = self.secrets.masters | last.all | last.latest;
        let is_copy = data == last.bytes && last.directing == 0;
        let made = whole(all | last.directing);
        for (offset, at) in (address..).take(data.len()).enumerate() {
            if let Some(at) = self.memory.place(at) {
                let (mask, from) = if is_copy {
                    (last.secret[offset], last.origins[offset])
                } else {
                    made
                };
                self.secrets.bytes[at] = mask;
                self.secrets.origins[at] = from;
            }
        }
        true
    }

    fn directs(&self) {
        let mut last = self.last.borrow_mut();
        last.directing |= std::mem::take(&mut last.latest);
    }

    fn write_made(&mut self, address: u32, data: &[u8]) -> bool {
        if !Memories::write(self.memory, address, data) {
            return false;
        }
        let (mask, from) = whole(std::mem::take(&mut self.last.get_mut().latest));
        for at in (address..).take(data.len()) {
            if let Some(at) = self.memory.place(at) {
                self.secrets.bytes[at] = mask;
                self.secrets.origins[at] = from;
            }
        }
        true
    }

    fn leaves_by(&self, register: u32) {
        let mut last = self.last.borrow_mut();
        let from = std::mem::take(&mut last.latest);
        if from != 0 {
            last.left.push((register, from));
        }
    }

    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.memory.write_flash(address, data)
    }

    fn tear(&mut self, address: u32) {
        self.memory.tear(address);
    }
}

impl Drop for Masters<'_> {
    fn drop(&mut self) {
        let last = self.last.get_mut();
        self.secrets.masters |= last.all | last.latest;
        if last.directing != 0 {
            let here = self.secrets.here;
            let found = Found {
                origins: last.directing,
                extra_cycles: None,
                span: (0, 0),
                decided_at: here,
            };
            let finds = &mut self.secrets.finds;
            finds.note(here, Decides::Pointer, found, Vec::new);
            finds.note_lost(here);
        }
        for (register, from) in last.left.drain(..) {
            self.secrets.finds.note_device(register, from);
        }
    }
}
