//! Decoding of instruction words.

use crate::alu::{Double, Flags, Single};
use crate::timing::{self, Mode};

/// The location of a source operand. Operands relative to the program counter are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An immediate, a generated constant, or the program counter's value.
    Constant(u16),
    Register(u8),
    Indexed(u8, u16),
    Absolute(u16),
    /// `@Rn`.
    Indirect(u8),
    /// `@Rn+`, and the increment of `Rn`.
    Autoincrement(u8, u16),
}

/// The location of a result. R0 is the program counter after the whole instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Register(u8),
    Indexed(u8, u16),
    Absolute(u16),
}

/// A jump condition, in the order of encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Condition {
    NotZero,
    Zero,
    NoCarry,
    Carry,
    Negative,
    GreaterOrEqual,
    Less,
    Always,
}

impl Condition {
    pub const ALL: [Self; 8] = [
        Self::NotZero,
        Self::Zero,
        Self::NoCarry,
        Self::Carry,
        Self::Negative,
        Self::GreaterOrEqual,
        Self::Less,
        Self::Always,
    ];

    /// Whether the condition holds.
    pub const fn holds(self, flags: Flags) -> bool {
        match self {
            Self::NotZero => !flags.is_zero(),
            Self::Zero => flags.is_zero(),
            Self::NoCarry => flags.carry() == 0,
            Self::Carry => flags.carry() != 0,
            Self::Negative => flags.is_negative(),
            Self::GreaterOrEqual => !flags.is_less(),
            Self::Less => flags.is_less(),
            Self::Always => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Double(Double, Source, Destination),
    Single(Single, Source),
    Push(Source),
    Call(Source),
    Reti,
    Jump(Condition, u16),
}

impl Action {
    /// RET (SLAU049F, table 3-17).
    pub const RETURN: Self = Self::Double(
        Double::Mov,
        Source::Autoincrement(SP, 2),
        Destination::Register(PC),
    );

    /// Whether control may continue elsewhere than at the next instruction.
    pub const fn transfers(self) -> bool {
        match self {
            Self::Double(operation, _, Destination::Register(0)) => operation.writes(),
            Self::Jump(..) | Self::Call(_) | Self::Reti | Self::Single(_, Source::Register(0)) => {
                true
            }
            _ => false,
        }
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub action: Action,
    pub byte: bool,
    /// Length in bytes.
    pub length: u16,
    pub cycles: u8,
}

const PC: u8 = 0;
const SP: u8 = 1;
const SR: u8 = 2;
const CG: u8 = 3;

/// Reads the extension words of an instruction in order.
struct Words<F> {
    fetch: F,
    next: u16,
}

impl<F: FnMut(u16) -> u16> Words<F> {
    fn take(&mut self) -> (u16, u16) {
        let address = self.next;
        self.next = address.wrapping_add(2);
        (address, (self.fetch)(address))
    }

    fn source(&mut self, mode: u16, register: u8, byte: bool) -> (Source, Mode) {
        let mask = if byte { 0xff } else { 0xffff };
        let constant = |value: u16| (Source::Constant(value & mask), Mode::Register);
        match (mode, register) {
            (0, PC) => constant(self.next),
            (0 | 1, CG) => constant(mode),
            (0, _) => (Source::Register(register), Mode::Register),
            (1, PC) => {
                let (address, offset) = self.take();
                (
                    Source::Absolute(address.wrapping_add(offset)),
                    Mode::Indexed,
                )
            }
            (1, SR) => (Source::Absolute(self.take().1), Mode::Indexed),
            (1, _) => (Source::Indexed(register, self.take().1), Mode::Indexed),
            (2, PC) => (Source::Absolute(self.next), Mode::Indirect),
            (2, SR) => constant(4),
            (2, CG) => constant(2),
            (2, _) => (Source::Indirect(register), Mode::Indirect),
            (_, PC) => (Source::Constant(self.take().1 & mask), Mode::Immediate),
            (_, SR) => constant(8),
            (_, CG) => constant(0xffff),
            // The stack pointer stays even (SLAU049F, notes on pages 3-54 and 3-55).
            (_, _) => {
                let step = if byte && register != SP { 1 } else { 2 };
                (Source::Autoincrement(register, step), Mode::Autoincrement)
            }
        }
    }

    fn destination(&mut self, indexed: bool, register: u8) -> (Destination, Mode) {
        if !indexed {
            return (Destination::Register(register), Mode::Register);
        }
        let (address, offset) = self.take();
        let destination = match register {
            PC => Destination::Absolute(address.wrapping_add(offset)),
            SR | CG => Destination::Absolute(offset),
            _ => Destination::Indexed(register, offset),
        };
        (destination, Mode::Indexed)
    }
}

/// Return the length in bytes of the instruction with this first word, valid or not.
pub(crate) fn length(first: u16) -> u16 {
    let extends = |mode: u16, register: u16| {
        u16::from(mode == 1 && register != 3 || mode == 3 && register == 0)
    };
    let words = match first >> 12 {
        0 | 2 | 3 => 1,
        1 => 1 + extends(first >> 4 & 3, first & 0xf),
        _ => 1 + extends(first >> 4 & 3, first >> 8 & 0xf) + (first >> 7 & 1),
    };
    2 * words
}

/// Decode the instruction at `pc`; `None` if it is invalid.
pub(crate) fn decode(pc: u16, mut fetch: impl FnMut(u16) -> u16) -> Option<Instruction> {
    let first = fetch(pc);
    let mut words = Words {
        fetch,
        next: pc.wrapping_add(2),
    };
    let byte = first & 0x40 != 0;
    let mode = first >> 4 & 3;
    let (action, byte, cycles) = match first >> 12 {
        0 => return None,
        1 => {
            let (source, kind) = words.source(mode, (first & 0xf) as u8, byte);
            // A constant cannot take a result (SLAU049F, table 3-15, note on #N).
            let writable = !matches!(source, Source::Constant(_)) || mode == 0;
            let single = |operation| {
                writable.then_some((
                    Action::Single(operation, single_operand(first, source)),
                    byte,
                    timing::single(kind),
                ))
            };
            match first >> 7 & 0x1f {
                0 => single(Single::Rrc)?,
                1 if !byte => single(Single::Swpb)?,
                2 => single(Single::Rra)?,
                3 if !byte => single(Single::Sxt)?,
                4 => (Action::Push(source), byte, timing::push(kind)),
                5 if !byte => (Action::Call(source), byte, timing::call(kind)),
                6 if first == 0x1300 => (Action::Reti, byte, timing::RETI),
                _ => return None,
            }
        }
        2 | 3 => {
            let offset = (first << 6) as i16 >> 5;
            let target = words.next.wrapping_add_signed(offset);
            let condition = Condition::ALL[usize::from(first >> 10 & 7)];
            (Action::Jump(condition, target), false, timing::JUMP)
        }
        opcode => {
            let operation = Double::ALL[usize::from(opcode - 4)];
            let (source, from) = words.source(mode, (first >> 8 & 0xf) as u8, byte);
            let (destination, to) = words.destination(first & 0x80 != 0, (first & 0xf) as u8);
            let cycles = if destination == Destination::Register(PC) {
                timing::double_to_pc(from)
            } else {
                timing::double(from, to)
            };
            (Action::Double(operation, source, destination), byte, cycles)
        }
    };
    Some(Instruction {
        action,
        byte,
        length: words.next.wrapping_sub(pc),
        cycles,
    })
}

/// The operand of an instruction that modifies it in place: registers stay registers.
fn single_operand(first: u16, source: Source) -> Source {
    if first & 0x30 == 0 {
        Source::Register((first & 0xf) as u8)
    } else {
        source
    }
}
