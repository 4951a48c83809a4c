//! Predecoded instructions, which the fast loop executes.

use bytemuck::Zeroable;

use crate::alu::Double;
use crate::decode::{Action, Condition, Destination, Instruction, Source};
use crate::registers::ZERO;

/// Number of slots: one per even address.
pub(crate) const SLOTS: usize = 0x8000;
/// The longest run in instructions.
pub(crate) const LONGEST_RUN: usize = 512;
/// The longest run in slots.
pub(crate) const REACH: usize = 3 * LONGEST_RUN;

/// A predecoded instruction.
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Slot {
    /// See [`kind`].
    pub kind: u16,
    /// Register.
    pub source: u8,
    /// Register.
    pub destination: u8,
    /// Source offset, immediate or jump target.
    pub a: u16,
    /// Destination offset or return address.
    pub b: u16,
}

/// Cycles and instructions from a slot to the end of its run.
#[derive(Clone, Copy, Default, Zeroable)]
pub(crate) struct Rest {
    pub cycles: u16,
    pub instructions: u16,
}

/// The parts of a double-operand instruction's kind.
#[derive(Clone, Copy)]
pub(crate) struct Regular {
    pub operation: Double,
    pub byte: bool,
    /// Source mode, of [`kind`].
    pub mode: usize,
    /// Whether the destination is in memory.
    pub memory: bool,
}

impl Regular {
    pub const fn of(number: usize) -> Self {
        Self {
            operation: Double::ALL[kind::operation(number)],
            byte: kind::byte(number),
            mode: kind::mode(number),
            memory: kind::memory(number),
        }
    }
}

/// Kinds of slots. The regular ones are numbered by their parts, so that a constant generic
/// parameter gives each its own specialised code.
pub(crate) mod kind {
    /// Source modes of double-operand instructions.
    pub const REGISTER: usize = 0;
    pub const CONSTANT: usize = 1;
    pub const IMMEDIATE: usize = 2;
    pub const INDEXED: usize = 3;
    pub const INDIRECT: usize = 4;
    pub const AUTOINCREMENT: usize = 5;
    /// SR, whose flags must be packed first.
    pub const STATUS: usize = 6;
    const MODES: usize = 7;

    /// Whether a source mode reads memory.
    pub const fn in_memory(mode: usize) -> bool {
        matches!(mode, INDEXED | INDIRECT | AUTOINCREMENT)
    }

    /// Double-operand instructions: operation, width, source mode, destination mode.
    pub const fn double(operation: usize, byte: bool, source: usize, memory: bool) -> usize {
        ((operation * 2 + byte as usize) * MODES + source) * 2 + memory as usize
    }

    /// Single-operand instructions on a register or in memory: operation, width, mode.
    pub const fn single(operation: usize, byte: bool, mode: usize) -> usize {
        SINGLE + (operation * 2 + byte as usize) * 3 + mode
    }

    /// The operation of a double-operand instruction; the functions after it return the other
    /// parts.
    pub const fn operation(kind: usize) -> usize {
        kind / (4 * MODES)
    }
    pub const fn byte(kind: usize) -> bool {
        kind / (2 * MODES) % 2 == 1
    }
    pub const fn mode(kind: usize) -> usize {
        kind / 2 % MODES
    }
    pub const fn memory(kind: usize) -> bool {
        kind % 2 == 1
    }

    /// The length of a double-operand instruction in words.
    pub const fn double_words(kind: usize) -> usize {
        let source = mode(kind);
        1 + (source == IMMEDIATE || source == INDEXED) as usize + memory(kind) as usize
    }

    /// The length of a single-operand instruction in words; only the indexed mode has a second
    /// word.
    pub const fn single_words(kind: usize) -> usize {
        1 + (kind % 3 == 1) as usize
    }

    pub const SINGLE: usize = 12 * 2 * MODES * 2;
    pub const JUMP: usize = SINGLE + 24;
    pub const SLOW: usize = JUMP + 8;
    pub const UNDECODED: usize = SLOW + 1;
    pub const BREAKPOINT: usize = SLOW + 2;
    /// Where time is up, within a run.
    pub const UNTIL: usize = SLOW + 3;
    pub const NOP: usize = SLOW + 4;
    pub const CLEAR_CARRY: usize = SLOW + 5;
    pub const SET_CARRY: usize = SLOW + 6;
    pub const RETURN: usize = SLOW + 7;
    pub const BRANCH_REGISTER: usize = SLOW + 8;
    pub const BRANCH_INDEXED: usize = SLOW + 9;
    pub const CALL: usize = SLOW + 10;
    pub const CALL_REGISTER: usize = SLOW + 11;
    pub const PUSH_REGISTER: usize = SLOW + 12;
    pub const PUSH_CONSTANT: usize = SLOW + 13;
    pub const PUSH_IMMEDIATE: usize = SLOW + 14;
    pub const PUSH_INDEXED: usize = SLOW + 15;
    pub const STACK_ADD: usize = SLOW + 16;
    pub const STACK_ADD_IMMEDIATE: usize = SLOW + 17;
    pub const STACK_SUB: usize = SLOW + 18;
    pub const STACK_SUB_IMMEDIATE: usize = SLOW + 19;
}

/// The slot index of an address.
pub(crate) const fn index(address: u16) -> usize {
    (address >> 1) as usize
}

impl Slot {
    pub const UNDECODED: Self = Self::new(kind::UNDECODED, 0, 0, 0, 0);
    pub const UNTIL: Self = Self::new(kind::UNTIL, 0, 0, 0, 0);

    pub const fn new(kind: usize, source: u8, destination: u8, a: u16, b: u16) -> Self {
        Self {
            kind: kind as u16,
            source,
            destination,
            a,
            b,
        }
    }

    pub const fn is_decoded(self) -> bool {
        self.kind as usize != kind::UNDECODED
    }

    /// The length in words of an instruction after which its run may go on.
    pub const fn words(self) -> usize {
        match self.kind as usize {
            kind if kind < kind::SINGLE => kind::double_words(kind),
            kind if kind < kind::JUMP => kind::single_words(kind),
            kind::PUSH_IMMEDIATE
            | kind::PUSH_INDEXED
            | kind::STACK_ADD_IMMEDIATE
            | kind::STACK_SUB_IMMEDIATE => 2,
            _ => 1,
        }
    }

    /// Whether a run always ends with this slot.
    pub const fn ends_run(self) -> bool {
        let kind = self.kind as usize;
        matches!(
            kind,
            kind::SLOW
                | kind::RETURN
                | kind::BRANCH_REGISTER
                | kind::BRANCH_INDEXED
                | kind::CALL
                | kind::CALL_REGISTER
        ) || (kind >= kind::JUMP && kind < kind::SLOW)
    }

    pub fn from_instruction(instruction: &Instruction, pc: u16) -> Self {
        const SLOW: Slot = Slot::new(kind::SLOW, 0, 0, 0, 0);
        let byte = instruction.byte;
        let next = pc.wrapping_add(instruction.length);
        match instruction.action {
            action if action == Action::RETURN && !byte => Self::new(kind::RETURN, 0, 0, 0, 0),
            Action::Jump(condition, target) => {
                Self::new(kind::JUMP + condition as usize, 0, 0, target, 0)
            }
            Action::Double(operation, source, destination) => {
                Self::from_double(operation, byte, source, destination, instruction.length)
                    .unwrap_or(SLOW)
            }
            Action::Single(operation, source) => {
                let (mode, register, offset) = match source {
                    Source::Register(number @ 4..) => (0, number, 0),
                    Source::Indexed(base, offset) => (1, base, offset),
                    Source::Absolute(address) if instruction.length == 4 => (1, ZERO, address),
                    Source::Indirect(base) => (2, base, 0),
                    _ => return SLOW,
                };
                let kind = kind::single(operation as usize, byte, mode);
                Self::new(kind, register, register, offset, 0)
            }
            Action::Push(source) if !byte => match source {
                Source::Register(number @ 4..) => Self::new(kind::PUSH_REGISTER, number, 0, 0, 0),
                Source::Constant(value) if instruction.length == 2 => {
                    Self::new(kind::PUSH_CONSTANT, 0, 0, value, 0)
                }
                Source::Constant(value) => Self::new(kind::PUSH_IMMEDIATE, 0, 0, value, 0),
                // The offset is relative to SP before the push.
                Source::Indexed(1, offset) => {
                    Self::new(kind::PUSH_INDEXED, 1, 0, offset.wrapping_sub(2), 0)
                }
                Source::Indexed(base, offset) => Self::new(kind::PUSH_INDEXED, base, 0, offset, 0),
                Source::Absolute(address) if instruction.length == 4 => {
                    Self::new(kind::PUSH_INDEXED, ZERO, 0, address, 0)
                }
                _ => SLOW,
            },
            Action::Call(Source::Constant(target))
                if target & 1 == 0 && instruction.length == 4 =>
            {
                Self::new(kind::CALL, 0, 0, target, next)
            }
            Action::Call(Source::Register(number @ 4..)) => {
                Self::new(kind::CALL_REGISTER, number, 0, 0, next)
            }
            _ => SLOW,
        }
    }

    fn from_double(
        operation: Double,
        byte: bool,
        source: Source,
        destination: Destination,
        length: u16,
    ) -> Option<Self> {
        let extended = length == 4;
        if let Destination::Register(number @ 0..=3) = destination {
            let slot = match (number, operation, source) {
                (0, Double::Mov, Source::Constant(target))
                    if !byte && target & 1 == 0 && extended =>
                {
                    Self::new(kind::JUMP + Condition::Always as usize, 0, 0, target, 0)
                }
                (0, Double::Mov, Source::Register(from @ 4..)) if !byte => {
                    Self::new(kind::BRANCH_REGISTER, from, 0, 0, 0)
                }
                (0, Double::Mov, Source::Indexed(base, offset)) if !byte => {
                    Self::new(kind::BRANCH_INDEXED, base, 0, offset, 0)
                }
                (1, Double::Add, Source::Constant(value)) if !byte => {
                    let kind = kind::STACK_ADD + usize::from(extended);
                    Self::new(kind, 0, 0, value, 0)
                }
                (1, Double::Sub, Source::Constant(value)) if !byte => {
                    let kind = kind::STACK_SUB + usize::from(extended);
                    Self::new(kind, 0, 0, value, 0)
                }
                (2, Double::Bic, Source::Constant(1)) => Self::new(kind::CLEAR_CARRY, 0, 0, 0, 0),
                (2, Double::Bis, Source::Constant(1)) => Self::new(kind::SET_CARRY, 0, 0, 0, 0),
                (3, Double::Mov, Source::Constant(_)) if !extended => {
                    Self::new(kind::NOP, 0, 0, 0, 0)
                }
                (1, Double::Cmp | Double::Bit, _) => {
                    return Self::regular(operation, byte, source, destination, length);
                }
                _ => return None,
            };
            // Only one-word instructions are carry operations: #1 as an immediate takes two words.
            let short = matches!(slot.kind as usize, kind::CLEAR_CARRY | kind::SET_CARRY);
            return (!short || length == 2).then_some(slot);
        }
        Self::regular(operation, byte, source, destination, length)
    }

    fn regular(
        operation: Double,
        byte: bool,
        source: Source,
        destination: Destination,
        length: u16,
    ) -> Option<Self> {
        let (to, memory, b) = match destination {
            Destination::Register(number) => (number, false, 0),
            Destination::Indexed(base, offset) => (base, true, offset),
            Destination::Absolute(address) => (ZERO, true, address),
        };
        // Whether the source has an extension word.
        let extended = length == if memory { 6 } else { 4 };
        let (mode, from, a) = match source {
            Source::Constant(value) if extended => (kind::IMMEDIATE, 0, value),
            Source::Constant(value) => (kind::CONSTANT, 0, value),
            Source::Register(2) => (kind::STATUS, 2, 0),
            Source::Register(number) => (kind::REGISTER, number, 0),
            Source::Indexed(base, offset) => (kind::INDEXED, base, offset),
            Source::Absolute(address) if extended => (kind::INDEXED, ZERO, address),
            Source::Absolute(_) => return None,
            Source::Indirect(base) => (kind::INDIRECT, base, 0),
            Source::Autoincrement(base, step) => (kind::AUTOINCREMENT, base, step),
        };
        let kind = kind::double(operation as usize, byte, mode, memory);
        Some(Self::new(kind, from, to, a, b))
    }
}
