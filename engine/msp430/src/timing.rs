//! Cycles: SLAU049F (MSP430x1xx Family User's Guide), section 3.4.4.

/// Operand modes, as the cycle tables distinguish them.
///
/// A generated constant costs as much as a register (SLAU049F, section 3.2.4: the constant
/// generators need no additional word and no memory access).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Register,
    Indirect,
    Autoincrement,
    Immediate,
    /// X(Rn), symbolic and absolute.
    Indexed,
}

/// Table 3-14: return from interrupt.
pub(crate) const RETI: u8 = 5;
/// Table 3-14 and section 2.2.3: from the acceptance of an interrupt to its first instruction.
pub(crate) const INTERRUPT: u64 = 6;
/// Section 3.4.4, format III: taken or not.
pub(crate) const JUMP: u8 = 2;

/// Cycles before the end of a format I instruction at which its source operand is read, *inferred*:
/// the last cycle writes, the one before it reads the value to be written back, and the source is
/// read as late as these allow.
pub(crate) const fn read_before_end(memory_destination: bool) -> u64 {
    if memory_destination { 4 } else { 1 }
}

/// Cycles before the instruction's end at which a destination operand to be written back is read.
pub(crate) const READ_BACK_BEFORE_END: u64 = 2;

/// Table 3-15: RRA, RRC, SWPB, SXT.
pub(crate) const fn single(mode: Mode) -> u8 {
    match mode {
        Mode::Register => 1,
        Mode::Indirect | Mode::Autoincrement | Mode::Immediate => 3,
        Mode::Indexed => 4,
    }
}

/// Table 3-15: PUSH.
pub(crate) const fn push(mode: Mode) -> u8 {
    match mode {
        Mode::Register => 3,
        Mode::Indirect | Mode::Immediate => 4,
        Mode::Autoincrement | Mode::Indexed => 5,
    }
}

/// Table 3-15: CALL.
pub(crate) const fn call(mode: Mode) -> u8 {
    match mode {
        Mode::Register | Mode::Indirect => 4,
        Mode::Autoincrement | Mode::Immediate | Mode::Indexed => 5,
    }
}

/// Table 3-16: format I, destination a register other than PC, or memory.
pub(crate) const fn double(source: Mode, destination: Mode) -> u8 {
    let from = match source {
        Mode::Register => 1,
        Mode::Indirect | Mode::Autoincrement | Mode::Immediate => 2,
        Mode::Indexed => 3,
    };
    match destination {
        Mode::Register => from,
        _ => from + 3,
    }
}

/// Table 3-16: format I, destination PC.
pub(crate) const fn double_to_pc(source: Mode) -> u8 {
    match source {
        Mode::Register | Mode::Indirect => 2,
        Mode::Autoincrement | Mode::Immediate | Mode::Indexed => 3,
    }
}
