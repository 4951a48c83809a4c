//! SLAU049F, MSP430x1xx Family User's Guide, section 3.4.4 (pages 3-72 and 3-73): the tables of
//! instruction cycles and lengths as data.

/// The rows of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Rn or Rm; generated constants too (section 3.2.4).
    Rn,
    /// The program counter as a destination.
    Pc,
    /// @Rn
    Indirect,
    /// @Rn+
    Autoincrement,
    /// #N
    Immediate,
    /// x(Rn) or x(Rm)
    Indexed,
    /// EDE or TONI: symbolic, relative to PC
    Symbolic,
    /// &EDE or &TONI
    Absolute,
}

use Mode::{Absolute, Autoincrement, Immediate, Indexed, Indirect, Pc, Rn, Symbolic};

/// Table 3-14: cycles and words of RETI; cycles of an accepted interrupt.
pub const RETI: (u8, u8) = (5, 1);
pub const INTERRUPT: u64 = 6;

/// Section 3.4.4, "Format-III (Jump)": cycles and words of all jumps, taken or not.
pub const JUMP: (u8, u8) = (2, 1);

/// Table 3-15, format II: mode; cycles of RRA, RRC, SWPB, SXT; of PUSH; of CALL; words. RRA and
/// similar instructions have no cycles for #N, which the table's note forbids.
pub const FORMAT_II: [(Mode, Option<u8>, u8, u8, u8); 7] = [
    (Rn, Some(1), 3, 4, 1),
    (Indirect, Some(3), 4, 4, 1),
    (Autoincrement, Some(3), 5, 5, 1),
    (Immediate, None, 4, 5, 2),
    (Indexed, Some(4), 5, 5, 2),
    (Symbolic, Some(4), 5, 5, 2),
    (Absolute, Some(4), 5, 5, 2),
];

/// Table 3-16, format I: source, destination, cycles, words.
pub const FORMAT_I: [(Mode, Mode, u8, u8); 35] = [
    (Rn, Rn, 1, 1),
    (Rn, Pc, 2, 1),
    (Rn, Indexed, 4, 2),
    (Rn, Symbolic, 4, 2),
    (Rn, Absolute, 4, 2),
    (Indirect, Rn, 2, 1),
    (Indirect, Pc, 2, 1),
    (Indirect, Indexed, 5, 2),
    (Indirect, Symbolic, 5, 2),
    (Indirect, Absolute, 5, 2),
    (Autoincrement, Rn, 2, 1),
    (Autoincrement, Pc, 3, 1),
    (Autoincrement, Indexed, 5, 2),
    (Autoincrement, Symbolic, 5, 2),
    (Autoincrement, Absolute, 5, 2),
    (Immediate, Rn, 2, 2),
    (Immediate, Pc, 3, 2),
    (Immediate, Indexed, 5, 3),
    (Immediate, Symbolic, 5, 3),
    (Immediate, Absolute, 5, 3),
    (Indexed, Rn, 3, 2),
    (Indexed, Pc, 3, 2),
    (Indexed, Indexed, 6, 3),
    (Indexed, Symbolic, 6, 3),
    (Indexed, Absolute, 6, 3),
    (Symbolic, Rn, 3, 2),
    (Symbolic, Pc, 3, 2),
    (Symbolic, Indexed, 6, 3),
    (Symbolic, Symbolic, 6, 3),
    (Symbolic, Absolute, 6, 3),
    (Absolute, Rn, 3, 2),
    (Absolute, Pc, 3, 2),
    (Absolute, Indexed, 6, 3),
    (Absolute, Symbolic, 6, 3),
    (Absolute, Absolute, 6, 3),
];

/// The row of a source (or the only) operand, by As and register (section 3.3, table 3-3, and table
/// 3-2 for the constant generators).
pub fn source_mode(mode: u16, register: u16) -> Mode {
    match (mode, register) {
        (0, _) | (1..=3, 3) | (2 | 3, 2) => Rn,
        (1, 0) => Symbolic,
        (1, 2) => Absolute,
        (1, _) => Indexed,
        (2, _) => Indirect,
        (3, 0) => Immediate,
        _ => Autoincrement,
    }
}

/// The row of a destination operand, by Ad and register.
pub fn destination_mode(mode: u16, register: u16) -> Mode {
    match (mode, register) {
        (0, 0) => Pc,
        (0, _) => Rn,
        (_, 0) => Symbolic,
        (_, 2) => Absolute,
        _ => Indexed,
    }
}

/// The tables' entry for an instruction's first word: cycles and words; `None` if it is invalid.
pub fn cost(first: u16) -> Option<(u8, u8)> {
    let mode = first >> 4 & 3;
    let byte = first & 0x40 != 0;
    match first >> 12 {
        0 => None,
        1 => {
            let register = first & 0xf;
            let source = source_mode(mode, register);
            let constant = source == Rn && mode != 0;
            let row = FORMAT_II.iter().find(|row| row.0 == source)?;
            match first >> 7 & 0x1f {
                // The note under table 3-15: no immediate as a destination.
                0 | 2 if !constant => Some((row.1?, row.4)),
                1 | 3 if !constant && !byte => Some((row.1?, row.4)),
                4 => Some((row.2, row.4)),
                5 if !byte => Some((row.3, row.4)),
                6 if first == 0x1300 => Some(RETI),
                _ => None,
            }
        }
        2 | 3 => Some(JUMP),
        _ => {
            let source = source_mode(mode, first >> 8 & 0xf);
            let destination = destination_mode(first >> 7 & 1, first & 0xf);
            let row = FORMAT_I
                .iter()
                .find(|row| (row.0, row.1) == (source, destination))?;
            Some((row.2, row.3))
        }
    }
}
