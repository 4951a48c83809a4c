//! Secrets followed through the core: beside each bit of registers and memory, whether it depends on
//! a secret ([`joulemark_kernel::secrets`]).
//!
//! Before an instruction executes, its data flow is worked out here from its decoded form and the
//! registers. What a secret branch leads to is not followed, so that behind a finding of a branch
//! other findings can be missing. Registers of peripherals hold what is written to them; only the
//! hardware multiplier's results follow from its operands.
//!
//! Most instructions are worked out the quick way, in the fast loop, by code that is specialised as
//! the instruction itself is there; [`Secrets::before`] is the reference for all of them.
#![allow(
    clippy::inline_always,
    reason = "constant arguments have to reach each specialised instruction"
)]

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use joulemark_kernel::secrets::{Decides, Finds, Found, Origins, Piece, Report, Word, passed};

use crate::alu::{Double, Flags, Single};
use crate::bus::{Flow, Transfer, Width};
use crate::decode::{Action, Condition, Destination, Instruction, Source};
use crate::memory::State;
use crate::observe::Call;
use crate::registers::{CG, PC, SP, SR, status};
use crate::slots::{Regular, SLOTS, Slot, kind};

const ZERO: Word = Word::public(0);
const ONE: Word = Word::public(1);
/// With how control passed a word: the instruction there is secret itself.
const CODE: u8 = 0x80;
const ARITHMETIC: u16 = status::C | status::Z | status::N | status::V;

/// An operand, with where its secret bits come from and where it is.
#[derive(Clone, Copy)]
struct Operand {
    word: Word,
    from: Origins,
    address: u16,
    /// The secret bits of the address.
    address_secret: u16,
}

/// Bits that depend on secrets, and what was found.
pub(crate) struct Secrets {
    /// Of SR only the arithmetic flags.
    r: [u16; 16],
    from: [Origins; 16],
    /// Of the rest of SR.
    status: (u16, Origins),
    /// The instruction that set the flags, and the one that is looked at.
    flags_at: u16,
    here: u16,
    /// The former, and the rest of SR, of what interrupts interrupted, by the place of SR on the
    /// stack.
    stacked: HashMap<u16, (u16, u16)>,
    /// A mask for each byte of the address space, and where it comes from; the latter counts only
    /// where the mask is not zero.
    bytes: Box<[u8; 0x10000]>,
    origins: Box<[Origins; 0x10000]>,
    /// What the hardware multiplier holds.
    multiplier: Multiplier,
    /// How control passed each word.
    passed: Box<[u8; SLOTS]>,
    /// Mirrors of memory: first address, size, first mirrored address.
    mirrors: Vec<(u16, u16, u16)>,
    /// Decoded instructions by address.
    pub decoded: Box<[Option<Instruction>; SLOTS]>,
    /// What the next instruction does is worked out already.
    pub is_ahead: bool,
    pub finds: Finds,
}

/// What is secret in the hardware multiplier (SLAU049F, chapter 7). Its products are secret as a
/// whole where a factor is.
#[derive(Default)]
struct Multiplier {
    accumulates: bool,
    signed: bool,
    op1: (bool, Origins),
    op2: (bool, Origins),
    /// RESHI and RESLO.
    result: (u32, Origins),
    sumext: (bool, Origins),
}

impl Multiplier {
    fn read(&self, address: u16) -> (u16, Origins) {
        let whole = |(is_secret, from): (bool, Origins)| {
            if is_secret { (0xffff, from) } else { (0, 0) }
        };
        match address & 0xe {
            0x0..=0x6 => whole(self.op1),
            0x8 => whole(self.op2),
            0xa => (self.result.0 as u16, self.result.1),
            0xc => ((self.result.0 >> 16) as u16, self.result.1),
            _ => whole(self.sumext),
        }
    }

    fn write(&mut self, address: u16, secret: u16, from: Origins) {
        let operand = (secret != 0, from);
        match address & 0xe {
            kind @ 0x0..=0x6 => {
                self.signed = kind & 2 != 0;
                self.accumulates = kind & 4 != 0;
                self.op1 = operand;
            }
            0x8 => {
                self.op2 = operand;
                self.multiply();
            }
            // A result can be written, to begin a sum with.
            0xa => self.put(0xffff_0000, secret.into(), from),
            0xc => self.put(0xffff, u32::from(secret) << 16, from),
            _ => {}
        }
    }

    fn put(&mut self, kept: u32, secret: u32, from: Origins) {
        let all = self.result.0 & kept | secret;
        self.result = (all, if all == 0 { 0 } else { self.result.1 | from });
    }

    fn multiply(&mut self) {
        let is_secret = self.op1.0 || self.op2.0;
        let from = [self.op1, self.op2]
            .into_iter()
            .filter(|&(is, _)| is)
            .fold(0, |all, (_, from)| all | from);
        let (sum, sum_from) = if self.accumulates {
            self.result
        } else {
            (0, 0)
        };
        self.result = match (is_secret, sum) {
            (true, _) => (u32::MAX, from | sum_from),
            (false, 0) => (0, 0),
            (false, secret) => (u32::MAX << secret.trailing_zeros(), sum_from),
        };
        // Of a product without sign it is 0.
        let depends = self.accumulates || self.signed;
        self.sumext = (depends && self.result.0 != 0, self.result.1);
    }
}

/// An array that is made where it stays.
#[allow(
    clippy::unnecessary_box_returns,
    reason = "it is too large for the stack"
)]
fn filled<T: Clone, const LENGTH: usize>(value: T) -> Box<[T; LENGTH]> {
    match vec![value; LENGTH].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it has this length"),
    }
}

/// The core before an instruction.
pub(crate) struct Before<'a> {
    pub state: &'a State,
    pub calls: &'a [Call],
    /// The flags; those in SR are older.
    pub flags: Flags,
    /// What becomes of a value that is written to a peripheral register.
    pub flow: &'a dyn Fn(u16) -> Flow,
    pub pc: u16,
}

impl Before<'_> {
    fn value(&self, number: usize) -> u16 {
        let value = self.state.registers[number];
        if number == SR {
            self.flags.into_status(value)
        } else {
            value
        }
    }
}

impl Secrets {
    /// Nothing is secret yet. Memory is mirrored where there is no region: first address, size,
    /// first mirrored address.
    pub fn new(mirrors: Vec<(u16, u16, u16)>) -> Self {
        Self {
            r: [0; 16],
            from: [0; 16],
            status: (0, 0),
            flags_at: 0,
            here: 0,
            stacked: HashMap::new(),
            bytes: filled(0),
            origins: filled(0),
            multiplier: Multiplier::default(),
            passed: filled(0),
            mirrors,
            decoded: filled(None),
            is_ahead: false,
            finds: Finds::default(),
        }
    }

    /// Keep what was found earlier.
    pub fn keep(&mut self, earlier: Self) {
        self.finds = earlier.finds;
        self.finds.is_on = false;
        self.passed = earlier.passed;
        self.decoded = earlier.decoded;
        // What is secret now may not be what was when they were decoded.
        for slot in 0..SLOTS {
            if let Some(instruction) = self.decoded[slot] {
                self.remember(slot, instruction);
            }
        }
    }

    /// An instruction is decoded, which may be secret itself.
    pub fn remember(&mut self, slot: usize, instruction: Instruction) {
        self.decoded[slot] = Some(instruction);
        let bytes = 2 * slot..(2 * slot + usize::from(instruction.length)).min(self.bytes.len());
        let is_secret = self.bytes[bytes].iter().any(|&mask| mask != 0);
        self.passed[slot] = self.passed[slot] & !CODE | if is_secret { CODE } else { 0 };
    }

    /// The address of the memory that is mirrored at an address.
    fn plain(&self, state: &State, address: u16) -> u16 {
        if state.is_ram(address) || state.is_flash(address) || state.is_peripheral(address) {
            return address;
        }
        let mirrored = self.mirrors.iter().find_map(|&(start, size, of)| {
            let offset = address.wrapping_sub(start);
            (offset < size).then(|| of.wrapping_add(offset))
        });
        mirrored.unwrap_or(address)
    }

    /// These bytes are secret from here on, or public where they come from nothing.
    pub fn mark(&mut self, piece: &Piece) {
        let mask = if piece.origin == 0 { 0 } else { 0xff };
        for address in (piece.address..).take(piece.length as usize) {
            self.bytes[address as usize & 0xffff] = mask;
            self.origins[address as usize & 0xffff] = piece.origin;
            self.forget_code(address as u16);
        }
    }

    /// A byte of code may be about to change.
    pub fn forget_code(&mut self, address: u16) {
        // An instruction has up to three words.
        for back in 0..3 {
            let word = usize::from(address >> 1).wrapping_sub(back) & 0x7fff;
            self.decoded[word] = None;
        }
    }

    /// What was found.
    pub fn report(&self) -> Report {
        let passed = self.passed.iter().enumerate();
        let places = passed.filter(|&(_, &passed)| passed != 0);
        self.finds
            .report(places.map(|(word, &passed)| (2 * word as u32, passed)))
    }

    #[cfg(test)]
    pub fn of_register(&self, number: usize) -> u16 {
        self.whole(number).0
    }

    #[cfg(test)]
    pub fn set_register(&mut self, number: usize, secret: u16) {
        self.set(number as u8, secret, 1, false);
    }

    #[cfg(test)]
    pub fn of_memory(&self, address: usize) -> u8 {
        self.bytes[address]
    }

    #[cfg(test)]
    pub fn set_memory(&mut self, address: usize, secret: u8) {
        self.bytes[address] = secret;
        self.origins[address] = 1;
    }

    /// Control passes an instruction.
    #[inline(always)]
    fn pass(&mut self, pc: u16, way: u8) {
        if self.finds.is_on {
            self.passed[usize::from(pc >> 1)] |= passed::HERE | way;
        }
    }

    /// The same as [`Secrets::before`] for a jump whose condition is public; false, with nothing
    /// done, for others.
    #[inline(always)]
    pub fn quick_jump(&mut self, pc: u16, condition: Condition, flags: Flags) -> bool {
        if self.is_secret(condition) || self.passed[usize::from(pc >> 1)] & CODE != 0 {
            return false;
        }
        let way = match condition {
            Condition::Always => 0,
            _ if condition.holds(flags) => passed::TAKEN,
            _ => passed::NOT_TAKEN,
        };
        self.pass(pc, way);
        true
    }

    /// The same as [`Secrets::before`] for a regular double-operand instruction, on registers, plain
    /// memory at public addresses, and moves from and to the multiplier; false, with nothing done,
    /// for others.
    #[inline(always)]
    pub fn quick_double(
        &mut self,
        Regular {
            operation,
            byte,
            mode,
            memory,
        }: Regular,
        state: &State,
        flow: impl Fn(u16) -> Flow,
        slot: Slot,
        flags: Flags,
        pc: u16,
    ) -> bool {
        let is_move = operation == Double::Mov;
        if mode == kind::STATUS || self.passed[usize::from(pc >> 1)] & CODE != 0 {
            return false;
        }
        let mask = if byte { 0xff } else { 0xffff };
        let number = usize::from(slot.source);
        let base = state.registers[number];
        let is_multiplier = |address: u16| {
            !byte && state.is_peripheral(address) && flow(address) == Flow::Multiplier
        };
        let (x, mut from) = match mode {
            kind::REGISTER => {
                let secret = self.r[number & 15] & mask;
                let word = Word::new(u32::from(base & mask), u32::from(secret));
                (word, self.from[number & 15])
            }
            kind::CONSTANT | kind::IMMEDIATE => (Word::public(u32::from(slot.a)), 0),
            _ => {
                let address = if mode == kind::INDEXED {
                    base.wrapping_add(slot.a)
                } else {
                    base
                };
                if self.of_base(number) != 0 {
                    return false;
                }
                if state.may(address, byte, false) {
                    let (secret, from) = self.load(address, byte);
                    let value = state.load(address, byte);
                    (Word::new(u32::from(value), u32::from(secret)), from)
                } else if is_move && is_multiplier(address) {
                    let (secret, from) = self.multiplier.read(address);
                    (Word::new(0, u32::from(secret)), from)
                } else {
                    return false;
                }
            }
        };
        let to_number = usize::from(slot.destination);
        let mut target = state.registers[to_number];
        if mode == kind::AUTOINCREMENT && number == to_number {
            target = target.wrapping_add(slot.a);
        }
        let (reads, writes) = (operation.reads_destination(), operation.writes());
        let mut to = 0;
        let mut to_multiplier = false;
        let y = if memory {
            to = target.wrapping_add(slot.b);
            if self.of_base(to_number) != 0 {
                return false;
            }
            if !state.may(to, byte, writes) {
                if !is_move || !is_multiplier(to) {
                    return false;
                }
                to_multiplier = true;
            }
            if reads {
                let (secret, more) = self.load(to, byte);
                from |= more;
                Word::new(u32::from(state.load(to, byte)), u32::from(secret))
            } else {
                ZERO
            }
        } else if reads {
            let secret = self.r[to_number & 15] & mask;
            if secret != 0 {
                from |= self.from[to_number & 15];
            }
            Word::new(u32::from(target & mask), u32::from(secret))
        } else {
            ZERO
        };
        self.here = pc;
        self.pass(pc, 0);
        let itself = mode == kind::REGISTER && !memory && number == to_number;
        let carried = self.carried(operation);
        let result = self.flow(flags.carry(), operation, byte, (x, y), from, itself);
        if !writes {
            return true;
        }
        let secret = result.secret as u16;
        let from = from | carried;
        if to_multiplier {
            self.multiplier.write(to, secret, from);
        }
        if memory {
            self.put(to, secret, from, byte);
        } else {
            let secret = secret & mask;
            self.r[to_number & 15] = secret;
            self.from[to_number & 15] = if secret == 0 { 0 } else { from };
        }
        true
    }

    /// The secret bits of a base register.
    #[inline(always)]
    fn of_base(&self, number: usize) -> u16 {
        // Of SR, which is 0 as a base, and of what absolute addresses have none are.
        if number < 16 { self.r[number] } else { 0 }
    }

    /// What becomes secret in memory, at an address that does not.
    #[inline(always)]
    fn put(&mut self, address: u16, secret: u16, from: Origins, byte: bool) {
        let at = usize::from(address);
        if byte {
            self.bytes[at] = secret as u8;
            if secret & 0xff != 0 {
                self.origins[at] = from;
            }
            return;
        }
        let low = at & 0xfffe;
        let [first, second] = secret.to_le_bytes();
        (self.bytes[low], self.bytes[low + 1]) = (first, second);
        if secret != 0 {
            (self.origins[low], self.origins[low + 1]) = (from, from);
        }
    }

    /// Work out what an instruction does with secrets.
    pub fn before(&mut self, core: &Before<'_>, instruction: &Instruction) {
        let byte = instruction.byte;
        self.here = core.pc;
        {
            let way = match instruction.action {
                Action::Jump(Condition::Always, _) => 0,
                Action::Jump(condition, _) => {
                    if condition.holds(core.flags) {
                        passed::TAKEN
                    } else {
                        passed::NOT_TAKEN
                    }
                }
                _ => 0,
            };
            self.pass(core.pc, way);
        }
        if self.passed[usize::from(core.pc >> 1)] & CODE != 0 {
            self.secret_code(core, instruction.length);
        }
        match instruction.action {
            Action::Jump(condition, _) => {
                if self.is_secret(condition) {
                    self.find(core, Decides::Branch, self.from[SR]);
                    let is_public = self.finds.is_public(core.pc.into(), self.flags_at.into());
                    if is_public && matches!(condition, Condition::Zero | Condition::NotZero) {
                        self.learn(core);
                    }
                }
            }
            Action::Double(operation, source, destination) => {
                self.double(core, operation, byte, source, destination);
            }
            Action::Single(operation, source) => self.single(core, operation, byte, source),
            Action::Push(source) => {
                let sp = self.make_room(core);
                let operand = self.source(core, source, byte, Some(sp));
                self.store(core, sp, 0, operand.word.secret, operand.from, byte);
            }
            Action::Call(source) => {
                let sp = self.make_room(core);
                let target = self.source(core, source, false, Some(sp));
                if target.word.secret != 0 {
                    self.find(core, Decides::Target, target.from);
                }
                self.store(core, sp, 0, 0, 0, false);
            }
            Action::Reti => {
                let sp = core.state.registers[SP];
                let (status, from) = self.load(sp, false);
                self.set(SR as u8, status, from, false);
                let (flags_at, kept) = self.stacked.remove(&sp).unwrap_or((self.here, 0));
                if self.status.0 & !kept != 0 {
                    self.decides_interrupts(core);
                }
                self.flags_at = flags_at;
                let (pc, from) = self.load(sp.wrapping_add(2), false);
                if pc != 0 {
                    self.find(core, Decides::Target, from);
                }
            }
        }
    }

    /// What is executed is secret itself.
    #[cold]
    fn secret_code(&mut self, core: &Before<'_>, length: u16) {
        let words = (core.pc..).step_by(2).take(usize::from(length) / 2);
        let from = words.fold(0, |all, at| all | self.load(at, false).1);
        self.find(core, Decides::Code, from);
    }

    /// A jump that may be known shows whether what the instruction before it compared is the same.
    #[cold]
    fn learn(&mut self, core: &Before<'_>) {
        let Some(before) = self.decoded[usize::from(self.flags_at >> 1)] else {
            return;
        };
        let Action::Double(operation, source, Destination::Register(number)) = before.action else {
            return;
        };
        if self.flags_at.wrapping_add(before.length) != core.pc || before.byte {
            return;
        }
        let other = match (operation, source) {
            (Double::Cmp, Source::Constant(value)) => Word::public(value.into()),
            (Double::Cmp, Source::Register(other)) => self.register(core, other, false).word,
            _ if operation.writes() => ZERO,
            _ => return,
        };
        let word = self.register(core, number, false).word;
        let secret = word.compared(other, core.flags.is_zero());
        self.r[usize::from(number)] = secret as u16;
    }

    /// An interrupt is accepted: PC and SR go to the stack.
    pub fn accept(&mut self, core: &Before<'_>) {
        let sp = core.state.registers[SP];
        let (moves, by) = self.whole(SP);
        if moves != 0 {
            self.find_address(core, sp.wrapping_sub(2), moves, by);
        }
        self.store(core, sp.wrapping_sub(2), moves, 0, by, false);
        let (status, from) = self.whole(SR);
        let kept = (self.flags_at, self.status.0);
        self.stacked.insert(sp.wrapping_sub(4), kept);
        self.store(
            core,
            sp.wrapping_sub(4),
            moves,
            status.into(),
            from | by,
            false,
        );
        self.r[SR] = 0;
        self.status.0 &= status::SCG0;
    }

    /// A DMA transfer.
    pub fn transfer(&mut self, core: &Before<'_>, transfer: &Transfer) {
        let (source, width) = transfer.source;
        let source = self.plain(core.state, source);
        let (secret, from) =
            if core.state.is_peripheral(source) && (core.flow)(source) == Flow::Multiplier {
                self.multiplier.read(source)
            } else {
                self.load(source, width == Width::Byte)
            };
        let byte = transfer.destination.1 == Width::Byte;
        self.store(core, transfer.destination.0, 0, secret.into(), from, byte);
    }

    fn find(&mut self, core: &Before<'_>, decides: Decides, from: Origins) {
        self.find_over(core, decides, from, None, (0, 0));
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
        let calls = core.calls.iter();
        let calls = || calls.map(|call| call.return_address.into()).collect();
        let found = Found {
            origins: from,
            extra_cycles,
            span,
            decided_at: match decides {
                Decides::Branch => self.flags_at.into(),
                _ => core.pc.into(),
            },
        };
        self.finds.note(core.pc.into(), decides, found, calls);
    }

    /// Whether it depends on a secret that a condition holds.
    fn is_secret(&self, condition: Condition) -> bool {
        let bits = match condition {
            Condition::NotZero | Condition::Zero => status::Z,
            Condition::NoCarry | Condition::Carry => status::C,
            Condition::Negative => status::N,
            Condition::GreaterOrEqual | Condition::Less => status::N | status::V,
            Condition::Always => 0,
        };
        self.r[SR] & bits != 0
    }

    /// What SR says of interrupts, of the core and of clocks is written, and depends on a secret.
    fn decides_interrupts(&mut self, core: &Before<'_>) {
        if self.status.0 & (status::GIE | status::POWER) != 0 {
            self.find(core, Decides::Exception, self.status.1);
        }
    }

    // Registers and memory.

    /// The secret bits of a register, SR as a whole.
    fn whole(&self, number: usize) -> (u16, Origins) {
        let (secret, from) = (self.r[number], self.from[number]);
        if number == SR && self.status.0 != 0 {
            return (secret | self.status.0, from | self.status.1);
        }
        (secret, from)
    }

    fn register(&self, core: &Before<'_>, number: u8, byte: bool) -> Operand {
        let number = usize::from(number);
        let mask = if byte { 0xff } else { 0xffff };
        let (secret, from) = self.whole(number);
        Operand {
            word: Word::new(
                u32::from(core.value(number) & mask),
                u32::from(secret & mask),
            ),
            from,
            address: 0,
            address_secret: 0,
        }
    }

    /// A result in a register; an address in PC decides where control goes.
    fn set(&mut self, number: u8, secret: u16, from: Origins, byte: bool) {
        let number = usize::from(number);
        let secret = match number {
            PC | CG => 0,
            SR => {
                self.flags_at = self.here;
                let rest = secret & !ARITHMETIC & if byte { 0xff } else { 0xffff };
                self.status = (rest, if rest == 0 { 0 } else { from });
                secret & ARITHMETIC
            }
            _ if byte => secret & 0xff,
            _ => secret,
        };
        self.r[number] = secret;
        self.from[number] = if secret == 0 { 0 } else { from };
    }

    fn load(&self, address: u16, byte: bool) -> (u16, Origins) {
        let at = usize::from(address);
        if byte {
            let secret = self.bytes[at];
            return (
                secret.into(),
                if secret == 0 { 0 } else { self.origins[at] },
            );
        }
        let low = at & 0xfffe;
        let masks = [self.bytes[low], self.bytes[low + 1]];
        let secret = u16::from_le_bytes(masks);
        let mut from = 0;
        if secret != 0 {
            for (offset, mask) in masks.into_iter().enumerate() {
                if mask != 0 {
                    from |= self.origins[low + offset];
                }
            }
        }
        (secret, from)
    }

    /// What an instruction reads there.
    fn read(
        &mut self,
        core: &Before<'_>,
        address: u16,
        address_secret: u16,
        address_from: Origins,
        byte: bool,
    ) -> Operand {
        let address = self.plain(core.state, address);
        let value = if byte {
            u16::from(core.state.bytes[usize::from(address)])
        } else {
            core.state.word(address)
        };
        let (mut secret, mut from) = self.load(address, byte);
        if core.state.is_peripheral(address) && (core.flow)(address) == Flow::Multiplier {
            (secret, from) = self.multiplier.read(address);
        }
        if address_secret != 0 {
            self.find_address(core, address, address_secret, address_from);
            (secret, from) = (0xffff, from | address_from);
        }
        let mask = if byte { 0xff } else { 0xffff };
        Operand {
            word: Word::new(u32::from(value), u32::from(secret & mask)),
            from,
            address,
            address_secret,
        }
    }

    /// All of this chip's memory takes as long.
    #[cold]
    fn find_address(&mut self, core: &Before<'_>, address: u16, secret: u16, from: Origins) {
        let span = (address & !secret, address | secret);
        let span = (u32::from(span.0), u32::from(span.1));
        self.find_over(core, Decides::Address, from, Some(0), span);
    }

    fn store(
        &mut self,
        core: &Before<'_>,
        address: u16,
        address_secret: u16,
        secret: u32,
        from: Origins,
        byte: bool,
    ) {
        let mut secret = secret;
        if address_secret != 0 {
            // Another run has stored elsewhere.
            let last = u32::from(address | address_secret) + u32::from(!byte);
            for at in u32::from(address & !address_secret)..=last.min(0xffff) {
                let at = self.plain(core.state, at as u16);
                if core.state.is_ram(at) {
                    let at = usize::from(at);
                    let before = if self.bytes[at] == 0 {
                        0
                    } else {
                        self.origins[at]
                    };
                    self.bytes[at] = 0xff;
                    self.origins[at] = before | from;
                }
            }
            secret = 0xffff;
        }
        let address = self.plain(core.state, address);
        if core.state.is_peripheral(address) {
            self.store_to_device(core, address, secret, from, byte);
        }
        self.put(address, secret as u16, from, byte);
    }

    #[cold]
    fn store_to_device(
        &mut self,
        core: &Before<'_>,
        address: u16,
        secret: u32,
        from: Origins,
        byte: bool,
    ) {
        let secret = if byte { secret & 0xff } else { secret };
        match (core.flow)(address) {
            Flow::Multiplier => self.multiplier.write(address, secret as u16, from),
            Flow::Pointer if secret != 0 => self.find(core, Decides::Pointer, from),
            _ if secret != 0 => self.finds.note_device(address.into(), from),
            _ => {}
        }
    }

    // Operands.

    /// Locate and read a source; `sp` is the stack pointer where the instruction has moved it first.
    fn source(
        &mut self,
        core: &Before<'_>,
        source: Source,
        byte: bool,
        sp: Option<u16>,
    ) -> Operand {
        let value = |number: u8| match sp {
            Some(sp) if usize::from(number) == SP => sp,
            _ => core.value(number.into()),
        };
        let (address, base) = match source {
            Source::Constant(value) => {
                return Operand {
                    word: Word::public(value.into()),
                    from: 0,
                    address: 0,
                    address_secret: 0,
                };
            }
            Source::Register(number) => return self.register(core, number, byte),
            Source::Absolute(address) => (address, None),
            Source::Indexed(base, offset) => (value(base).wrapping_add(offset), Some(base)),
            Source::Indirect(base) | Source::Autoincrement(base, _) => (value(base), Some(base)),
        };
        let (address_secret, from) = self.secret_address(core, base, address);
        let operand = self.read(core, address, address_secret, from, byte);
        if let Source::Autoincrement(base, step) = source {
            let before = Word::new(address.into(), address_secret.into());
            let after = before.add(Word::public(step.into()), ZERO, 16).sum;
            self.set(base, after.secret as u16, from, false);
        }
        operand
    }

    /// The secret bits of an address that is a base register and an offset.
    fn secret_address(&self, core: &Before<'_>, base: Option<u8>, address: u16) -> (u16, Origins) {
        let Some(base) = base.map(usize::from) else {
            return (0, 0);
        };
        if self.r[base] == 0 || base == SR {
            return (0, 0);
        }
        let value = core.state.registers[base];
        let offset = address.wrapping_sub(value);
        let sum = Word::new(value.into(), self.r[base].into());
        let sum = sum.add(Word::public(offset.into()), ZERO, 16).sum;
        (sum.secret as u16, self.from[base])
    }

    /// PUSH and CALL move the stack pointer first.
    fn make_room(&mut self, core: &Before<'_>) -> u16 {
        let sp = core.state.registers[SP].wrapping_sub(2);
        let secret = self.r[SP];
        if secret != 0 {
            self.find_address(core, sp, secret, self.from[SP]);
        }
        sp
    }

    // Instructions.

    /// Arithmetic flags of a result of so many bits.
    #[inline(always)]
    fn set_flags(&mut self, result: Word, carry: bool, overflow: bool, bits: u32, from: Origins) {
        let bit = |is: bool, flag: u16| if is { flag } else { 0 };
        let secret = bit(carry, status::C)
            | bit(overflow, status::V)
            | bit(result.zero_is_secret(), status::Z)
            | bit(result.secret >> (bits - 1) & 1 != 0, status::N);
        self.r[SR] = secret;
        self.from[SR] = if secret == 0 { 0 } else { from };
        self.flags_at = self.here;
    }

    fn double(
        &mut self,
        core: &Before<'_>,
        operation: Double,
        byte: bool,
        source: Source,
        destination: Destination,
    ) {
        let s = self.source(core, source, byte, None);
        // A source that counts up has done so.
        let moved = match source {
            Source::Autoincrement(base, step) => Some((base, step)),
            _ => None,
        };
        let register = |number: u8| {
            let value = core.value(number.into());
            match moved {
                Some((base, step)) if base == number => value.wrapping_add(step),
                _ => value,
            }
        };
        let d = match destination {
            Destination::Register(number) => {
                let mask = if byte { 0xff } else { 0xffff };
                let (secret, from) = self.whole(number.into());
                Operand {
                    word: Word::new(u32::from(register(number) & mask), u32::from(secret & mask)),
                    from,
                    address: 0,
                    address_secret: 0,
                }
            }
            Destination::Indexed(base, offset) => {
                let value = register(base);
                let address = value.wrapping_add(offset);
                let number = usize::from(base);
                let base = Word::new(value.into(), self.r[number].into());
                let sum = base.add(Word::public(offset.into()), ZERO, 16).sum;
                let (secret, from) = (sum.secret as u16, self.from[number]);
                if operation.reads_destination() {
                    let mut operand = self.read(core, address, secret, from, byte);
                    operand.from |= from;
                    operand
                } else {
                    if secret != 0 {
                        self.find_address(core, address, secret, from);
                    }
                    Operand {
                        word: ZERO,
                        from,
                        address,
                        address_secret: secret,
                    }
                }
            }
            Destination::Absolute(address) => {
                if operation.reads_destination() {
                    self.read(core, address, 0, 0, byte)
                } else {
                    Operand {
                        word: ZERO,
                        from: 0,
                        address,
                        address_secret: 0,
                    }
                }
            }
        };
        let is_memory = !matches!(destination, Destination::Register(_));
        // What a peripheral register holds is not known here.
        let from_memory = !matches!(source, Source::Constant(_) | Source::Register(_));
        let unknown = from_memory && core.state.is_peripheral(s.address)
            || is_memory && operation.reads_destination() && core.state.is_peripheral(d.address);
        let (x, y) = (s.word, d.word);
        let from = s.from
            | if operation.reads_destination() {
                d.from
            } else {
                0
            };
        // The same register twice: what it holds does not count.
        let itself = match (source, destination) {
            (Source::Register(one), Destination::Register(other)) => one == other,
            _ => false,
        };
        let carry = match operation {
            Double::Addc | Double::Subc | Double::Dadd => u32::from(self.r[SR] & status::C),
            _ => 0,
        };
        let depends = (x.secret | y.secret | carry) != 0;
        let result = if unknown && depends && operation != Double::Mov {
            self.all_secret(operation, byte, from)
        } else {
            let carry = core.flags.carry();
            self.flow(carry, operation, byte, (x, y), from, itself)
        };
        if !operation.writes() {
            return;
        }
        let from = if result.secret == 0 {
            0
        } else {
            from | self.carried(operation)
        };
        match destination {
            Destination::Register(number) if usize::from(number) == PC => {
                if result.secret != 0 {
                    self.find(core, Decides::Target, from);
                }
            }
            Destination::Register(number) => {
                self.set(number, result.secret as u16, from, byte);
                // Otherwise they stay what they are.
                if usize::from(number) == SR && x.secret != 0 {
                    self.decides_interrupts(core);
                }
            }
            _ => {
                let from = from | d.from;
                self.store(core, d.address, d.address_secret, result.secret, from, byte);
            }
        }
    }

    /// What a carry adds to where a result comes from.
    fn carried(&self, operation: Double) -> Origins {
        match operation {
            Double::Addc | Double::Subc | Double::Dadd => self.from[SR],
            _ => 0,
        }
    }

    /// An operation on what is not known.
    fn all_secret(&mut self, operation: Double, byte: bool, from: Origins) -> Word {
        if operation.sets_flags() {
            self.flags_at = self.here;
            self.r[SR] = ARITHMETIC;
            self.from[SR] |= from;
        }
        Word::new(0, if byte { 0xff } else { 0xffff })
    }

    #[inline(always)]
    fn flow(
        &mut self,
        carry: u32,
        operation: Double,
        byte: bool,
        (x, y): (Word, Word),
        from: Origins,
        itself: bool,
    ) -> Word {
        let bits = if byte { 8 } else { 16 };
        let carry = Word::new(carry, u32::from(self.r[SR] & status::C));
        // V of XOR: both are negative.
        let signs = x.and(y).secret >> (bits - 1) & 1 != 0;
        let (x, y) = match operation {
            Double::Sub | Double::Subc | Double::Cmp | Double::Xor | Double::Bic if itself => {
                (Word::public(x.value), Word::public(y.value))
            }
            _ => (x, y),
        };
        let with_carry = |from: Origins, by: Origins| {
            if carry.secret == 0 { from } else { from | by }
        };
        let sum = match operation {
            Double::Mov => return x,
            Double::Bic => return y.and(x.not()),
            Double::Bis => return y.or(x),
            Double::Add => (x.add(y, ZERO, bits), from),
            Double::Addc => (x.add(y, carry, bits), with_carry(from, self.from[SR])),
            Double::Sub | Double::Cmp => (x.not().add(y, ONE, bits), from),
            Double::Subc => (x.not().add(y, carry, bits), with_carry(from, self.from[SR])),
            Double::Bit | Double::And => {
                let result = x.and(y);
                self.set_flags(result, result.zero_is_secret(), false, bits, from);
                return result;
            }
            Double::Xor => {
                let result = x.xor(y);
                self.set_flags(result, result.zero_is_secret(), signs, bits, from);
                return result;
            }
            Double::Dadd => {
                // From the first digit that is secret on.
                let secret = x.secret | y.secret | carry.secret;
                let all = if byte { 0xff } else { 0xffff };
                let result = match secret {
                    0 => 0,
                    _ => all & u32::MAX << (secret.trailing_zeros() & !3),
                };
                let from = with_carry(from, self.from[SR]);
                let is_secret = secret != 0;
                self.set_flags(Word::new(0, result), is_secret, false, bits, from);
                return Word::new(0, result);
            }
        };
        let (sum, from) = sum;
        let (carry, overflow) = (sum.carry_is_secret, sum.overflow_is_secret);
        self.set_flags(sum.sum, carry, overflow, bits, from);
        sum.sum
    }

    fn single(&mut self, core: &Before<'_>, operation: Single, byte: bool, source: Source) {
        let operand = self.source(core, source, byte, None);
        let word = operand.word;
        let is_register = matches!(source, Source::Register(_));
        let bits = if byte { 8 } else { 16 };
        let top = 1 << (bits - 1);
        let (value, secret) = (word.value, word.secret);
        let mut from = operand.from;
        let result = match operation {
            Single::Swpb => {
                let swap = |x: u32| (x << 8 | x >> 8) & 0xffff;
                Word::new(swap(value), swap(secret))
            }
            Single::Sxt => {
                let extend = |x: u32| u32::from(x as u8 as i8 as u16);
                let result = Word::new(extend(value), extend(secret));
                self.set_flags(result, result.zero_is_secret(), false, bits, from);
                result
            }
            Single::Rra | Single::Rrc => {
                let (high, high_secret) = if operation == Single::Rra {
                    (value & top, secret & top)
                } else {
                    let flag = |is: bool| if is { top } else { 0 };
                    if self.r[SR] & status::C != 0 {
                        from |= self.from[SR];
                    }
                    (
                        flag(core.flags.carry() != 0),
                        flag(self.r[SR] & status::C != 0),
                    )
                };
                let result = Word::new(value >> 1 | high, secret >> 1 | high_secret);
                self.set_flags(result, secret & 1 != 0, false, bits, from);
                result
            }
        };
        if is_register {
            let Source::Register(number) = source else {
                return;
            };
            if usize::from(number) == PC && result.secret != 0 {
                self.find(core, Decides::Target, from);
            }
            self.set(number, result.secret as u16, from, byte);
            if usize::from(number) == SR {
                self.decides_interrupts(core);
            }
        } else {
            let Operand {
                address,
                address_secret,
                ..
            } = operand;
            self.store(core, address, address_secret, result.secret, from, byte);
        }
    }
}
