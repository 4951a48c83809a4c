//! The instruction set, as data: encodings (ARM DDI 0419E, chapter A5 and A6) and cycles (ARM DDI
//! 0484C, table 3-1).

/// What an instruction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It has not been decoded.
    #[default]
    Undecoded,
    /// A breakpoint is there.
    Breakpoint,
    Lsl,
    Lsr,
    Asr,
    Add,
    Sub,
    Mov,
    And,
    Eor,
    LslBy,
    LsrBy,
    AsrBy,
    Adc,
    Sbc,
    RorBy,
    Tst,
    Rsb,
    Cmp,
    Cmn,
    Orr,
    Mul,
    Bic,
    Mvn,
    /// Without flags: ADD and MOV of any registers, ADR, ADD of SP.
    AddAny,
    MovAny,
    Sxth,
    Sxtb,
    Uxth,
    Uxtb,
    Rev,
    Rev16,
    Revsh,
    Nop,
    Ldr,
    Ldrh,
    Ldrb,
    Ldrsh,
    Ldrsb,
    Str,
    Strh,
    Strb,
    Ldm,
    Stm,
    Push,
    Pop,
    BranchIf,
    Branch,
    BranchLink,
    Bx,
    Blx,
    Svc,
    Bkpt,
    Udf,
    Cps,
    Mrs,
    Msr,
    Wfi,
    Wfe,
    Sev,
    Barrier,
}

/// The register that is always 0, and the place of an immediate operand's.
pub const ZERO: u8 = 16;
pub const SP: u8 = 13;
pub const LR: u8 = 14;
pub const PC: u8 = 15;

/// A decoded instruction. Its operand is `r[rm] + imm`; an address is `r[rn] + r[rm] + imm`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Op {
    pub kind: Kind,
    /// Destination, or what is stored; a condition.
    pub rd: u8,
    pub rn: u8,
    pub rm: u8,
    /// Cycles of table 3-1; of a branch, if it is taken; without those of listed registers.
    pub cycles: u8,
    /// Bytes.
    pub size: u8,
    /// An immediate value, a target or an absolute address, a list of registers.
    pub imm: u32,
}

impl Kind {
    /// Whether it computes a register of registers and flags, and has no other effect; a comparison
    /// leaves the register as it is.
    #[inline]
    pub const fn computes(self) -> bool {
        let kind = self as u8;
        kind >= Self::Lsl as u8 && kind <= Self::Mvn as u8
            || kind >= Self::Sxth as u8 && kind <= Self::Revsh as u8
    }
}

impl Op {
    /// Whether control goes elsewhere behind it.
    pub const fn jumps(self) -> bool {
        self.kind as u8 >= Kind::BranchIf as u8 && self.kind as u8 <= Kind::Blx as u8
    }

    /// Whether it loads or stores a list of registers.
    pub const fn is_multiple(self) -> bool {
        matches!(self.kind, Kind::Ldm | Kind::Stm | Kind::Push | Kind::Pop)
    }
}

/// Where the fields of an encoding are.
#[derive(Clone, Copy)]
enum Form {
    /// Rd, Rm and a shift of 5 bits; 0 stands for 32.
    Shift,
    /// MOVS of two registers.
    Move,
    /// Rd, Rn, Rm, of 3 bits each.
    Three,
    /// Rd, Rn, and 3 bits.
    Small,
    /// Rd, which is Rn, and 8 bits.
    Immediate,
    /// Rd, which is Rn, and Rm, of 3 bits each.
    Two,
    /// MULS and RSBS: Rd is the other one.
    Swapped,
    /// Rd, which is Rn, of 4 bits in two places, and Rm of 4 bits.
    Any,
    /// Rm of 4 bits.
    Jump,
    /// Rd and PC's word plus 8 bits, in words: an address, or what is there.
    PcRelative,
    /// Rd and SP plus 8 bits, in words.
    SpRelative,
    /// SP plus or minus 7 bits, in words.
    MoveSp(bool),
    /// Rd, Rn and 5 bits, in units of so many bytes.
    Offset(u8),
    /// Rn and a list of 8 registers.
    List,
    /// A list of 8 registers, and another.
    Stack(u8),
    /// 8 bits.
    Number,
    /// A condition, and 8 bits to jump.
    Condition,
    /// 11 bits to jump.
    Jump11,
    /// PRIMASK.
    Mask,
    None,
}

/// A row of the table: encodings that match, and what they are.
struct Row {
    mask: u16,
    value: u16,
    kind: Kind,
    form: Form,
    cycles: u8,
}

const fn row(mask: u16, value: u16, kind: Kind, form: Form, cycles: u8) -> Row {
    Row {
        mask,
        value,
        kind,
        form,
        cycles,
    }
}

/// 16-bit encodings; the first that matches counts.
#[rustfmt::skip]
static NARROW: [Row; 75] = [
    row(0xffc0, 0x0000, Kind::Mov, Form::Move, 1),
    row(0xf800, 0x0000, Kind::Lsl, Form::Shift, 1),
    row(0xf800, 0x0800, Kind::Lsr, Form::Shift, 1),
    row(0xf800, 0x1000, Kind::Asr, Form::Shift, 1),
    row(0xfe00, 0x1800, Kind::Add, Form::Three, 1),
    row(0xfe00, 0x1a00, Kind::Sub, Form::Three, 1),
    row(0xfe00, 0x1c00, Kind::Add, Form::Small, 1),
    row(0xfe00, 0x1e00, Kind::Sub, Form::Small, 1),
    row(0xf800, 0x2000, Kind::Mov, Form::Immediate, 1),
    row(0xf800, 0x2800, Kind::Cmp, Form::Immediate, 1),
    row(0xf800, 0x3000, Kind::Add, Form::Immediate, 1),
    row(0xf800, 0x3800, Kind::Sub, Form::Immediate, 1),
    row(0xffc0, 0x4000, Kind::And, Form::Two, 1),
    row(0xffc0, 0x4040, Kind::Eor, Form::Two, 1),
    row(0xffc0, 0x4080, Kind::LslBy, Form::Two, 1),
    row(0xffc0, 0x40c0, Kind::LsrBy, Form::Two, 1),
    row(0xffc0, 0x4100, Kind::AsrBy, Form::Two, 1),
    row(0xffc0, 0x4140, Kind::Adc, Form::Two, 1),
    row(0xffc0, 0x4180, Kind::Sbc, Form::Two, 1),
    row(0xffc0, 0x41c0, Kind::RorBy, Form::Two, 1),
    row(0xffc0, 0x4200, Kind::Tst, Form::Two, 1),
    row(0xffc0, 0x4240, Kind::Rsb, Form::Swapped, 1),
    row(0xffc0, 0x4280, Kind::Cmp, Form::Two, 1),
    row(0xffc0, 0x42c0, Kind::Cmn, Form::Two, 1),
    row(0xffc0, 0x4300, Kind::Orr, Form::Two, 1),
    row(0xffc0, 0x4340, Kind::Mul, Form::Swapped, 1),
    row(0xffc0, 0x4380, Kind::Bic, Form::Two, 1),
    row(0xffc0, 0x43c0, Kind::Mvn, Form::Two, 1),
    row(0xff00, 0x4400, Kind::AddAny, Form::Any, 1),
    row(0xff00, 0x4500, Kind::Cmp, Form::Any, 1),
    row(0xff00, 0x4600, Kind::MovAny, Form::Any, 1),
    row(0xff87, 0x4700, Kind::Bx, Form::Jump, 2),
    row(0xff87, 0x4780, Kind::Blx, Form::Jump, 2),
    row(0xf800, 0x4800, Kind::Ldr, Form::PcRelative, 2),
    row(0xfe00, 0x5000, Kind::Str, Form::Three, 2),
    row(0xfe00, 0x5200, Kind::Strh, Form::Three, 2),
    row(0xfe00, 0x5400, Kind::Strb, Form::Three, 2),
    row(0xfe00, 0x5600, Kind::Ldrsb, Form::Three, 2),
    row(0xfe00, 0x5800, Kind::Ldr, Form::Three, 2),
    row(0xfe00, 0x5a00, Kind::Ldrh, Form::Three, 2),
    row(0xfe00, 0x5c00, Kind::Ldrb, Form::Three, 2),
    row(0xfe00, 0x5e00, Kind::Ldrsh, Form::Three, 2),
    row(0xf800, 0x6000, Kind::Str, Form::Offset(4), 2),
    row(0xf800, 0x6800, Kind::Ldr, Form::Offset(4), 2),
    row(0xf800, 0x7000, Kind::Strb, Form::Offset(1), 2),
    row(0xf800, 0x7800, Kind::Ldrb, Form::Offset(1), 2),
    row(0xf800, 0x8000, Kind::Strh, Form::Offset(2), 2),
    row(0xf800, 0x8800, Kind::Ldrh, Form::Offset(2), 2),
    row(0xf800, 0x9000, Kind::Str, Form::SpRelative, 2),
    row(0xf800, 0x9800, Kind::Ldr, Form::SpRelative, 2),
    row(0xf800, 0xa000, Kind::MovAny, Form::PcRelative, 1),
    row(0xf800, 0xa800, Kind::AddAny, Form::SpRelative, 1),
    row(0xff80, 0xb000, Kind::AddAny, Form::MoveSp(false), 1),
    row(0xff80, 0xb080, Kind::AddAny, Form::MoveSp(true), 1),
    row(0xffc0, 0xb200, Kind::Sxth, Form::Two, 1),
    row(0xffc0, 0xb240, Kind::Sxtb, Form::Two, 1),
    row(0xffc0, 0xb280, Kind::Uxth, Form::Two, 1),
    row(0xffc0, 0xb2c0, Kind::Uxtb, Form::Two, 1),
    row(0xfe00, 0xb400, Kind::Push, Form::Stack(LR), 1),
    row(0xffef, 0xb662, Kind::Cps, Form::Mask, 1),
    row(0xffc0, 0xba00, Kind::Rev, Form::Two, 1),
    row(0xffc0, 0xba40, Kind::Rev16, Form::Two, 1),
    row(0xffc0, 0xbac0, Kind::Revsh, Form::Two, 1),
    row(0xfe00, 0xbc00, Kind::Pop, Form::Stack(PC), 1),
    row(0xff00, 0xbe00, Kind::Bkpt, Form::Number, 1),
    row(0xffff, 0xbf20, Kind::Wfe, Form::None, 2),
    row(0xffff, 0xbf30, Kind::Wfi, Form::None, 2),
    row(0xffff, 0xbf40, Kind::Sev, Form::None, 1),
    row(0xff0f, 0xbf00, Kind::Nop, Form::None, 1), // NOP, YIELD, and hints that are reserved
    row(0xf800, 0xc000, Kind::Stm, Form::List, 1),
    row(0xf800, 0xc800, Kind::Ldm, Form::List, 1),
    row(0xff00, 0xde00, Kind::Udf, Form::Number, 1),
    row(0xff00, 0xdf00, Kind::Svc, Form::Number, 1),
    row(0xf000, 0xd000, Kind::BranchIf, Form::Condition, 2),
    row(0xf800, 0xe000, Kind::Branch, Form::Jump11, 2),
];

/// A 32-bit encoding's row: masks of both halfwords.
struct Wide {
    mask: [u16; 2],
    value: [u16; 2],
    kind: Kind,
    cycles: u8,
}

/// 32-bit encodings (section A5.3).
#[rustfmt::skip]
static WIDE: [Wide; 6] = [
    Wide { mask: [0xf800, 0xd000], value: [0xf000, 0xd000], kind: Kind::BranchLink, cycles: 3 },
    Wide { mask: [0xffe0, 0xd000], value: [0xf380, 0x8000], kind: Kind::Msr, cycles: 3 },
    Wide { mask: [0xfff0, 0xd0f0], value: [0xf3b0, 0x8040], kind: Kind::Barrier, cycles: 3 }, // DSB
    Wide { mask: [0xfff0, 0xd0f0], value: [0xf3b0, 0x8050], kind: Kind::Barrier, cycles: 3 }, // DMB
    Wide { mask: [0xfff0, 0xd0f0], value: [0xf3b0, 0x8060], kind: Kind::Barrier, cycles: 3 }, // ISB
    Wide { mask: [0xffe0, 0xd000], value: [0xf3e0, 0x8000], kind: Kind::Mrs, cycles: 3 },
];

/// Whether an instruction has a second halfword (section A5.1).
pub const fn is_wide(half: u16) -> bool {
    half >= 0xe800
}

/// Decode the instruction at an address.
pub fn decode(first: u16, second: u16, at: u32) -> Op {
    let pc = at.wrapping_add(4);
    if is_wide(first) {
        return wide(first, second, pc);
    }
    let found = NARROW.iter().find(|row| first & row.mask == row.value);
    let Some(row) = found else {
        return undefined(2);
    };
    let half = u32::from(first);
    let low = |shift: u32| (half >> shift & 7) as u8;
    let eight = half & 0xff;
    let mut op = Op {
        kind: row.kind,
        rd: low(0),
        rn: low(0),
        rm: ZERO,
        cycles: row.cycles,
        size: 2,
        imm: 0,
    };
    match row.form {
        Form::Shift => {
            (op.rn, op.imm) = (low(3), half >> 6 & 31);
            if op.imm == 0 {
                op.imm = 32;
            }
        }
        Form::Move | Form::Two => op.rm = low(3),
        Form::Three => (op.rn, op.rm) = (low(3), low(6)),
        Form::Small => (op.rn, op.imm) = (low(3), half >> 6 & 7),
        Form::Immediate => (op.rd, op.rn, op.imm) = (low(8), low(8), eight),
        Form::Swapped => (op.rn, op.rm) = (low(3), low(0)),
        Form::Any => {
            let rd = low(0) | (half >> 4 & 8) as u8;
            (op.rd, op.rn, op.rm) = (rd, rd, (half >> 3 & 15) as u8);
            if op.rd == PC && op.kind != Kind::Cmp {
                op.cycles = 2;
            }
        }
        Form::Jump => op.rm = (half >> 3 & 15) as u8,
        Form::PcRelative => {
            (op.rd, op.rn) = (low(8), ZERO);
            op.imm = (pc & !3).wrapping_add(4 * eight);
        }
        Form::SpRelative => (op.rd, op.rn, op.imm) = (low(8), SP, 4 * eight),
        Form::MoveSp(is_down) => {
            let bytes = 4 * (half & 0x7f);
            (op.rd, op.rn) = (SP, SP);
            op.imm = if is_down { bytes.wrapping_neg() } else { bytes };
        }
        Form::Offset(unit) => (op.rn, op.imm) = (low(3), (half >> 6 & 31) * u32::from(unit)),
        Form::List => (op.rn, op.imm) = (low(8), eight),
        Form::Stack(other) => {
            op.imm = eight | (half >> 8 & 1) << other;
            if op.kind == Kind::Pop && op.imm >> PC != 0 {
                op.cycles = 3;
            }
        }
        Form::Number => op.imm = eight,
        Form::Condition => {
            op.rd = (half >> 8 & 15) as u8;
            op.imm = pc.wrapping_add(((half << 24) as i32 >> 23) as u32);
        }
        Form::Jump11 => op.imm = pc.wrapping_add(((half << 21) as i32 >> 20) as u32),
        Form::Mask => op.imm = half >> 4 & 1,
        Form::None => {}
    }
    // The operand of ADD and CMP is what PC reads as (section A5.1.2).
    if op.rm == PC && matches!(op.kind, Kind::AddAny | Kind::MovAny | Kind::Cmp) {
        (op.rm, op.imm) = (ZERO, pc);
    }
    op
}

fn wide(first: u16, second: u16, pc: u32) -> Op {
    let found = WIDE
        .iter()
        .find(|row| first & row.mask[0] == row.value[0] && second & row.mask[1] == row.value[1]);
    let Some(row) = found else {
        return undefined(4);
    };
    let (high, low) = (u32::from(first), u32::from(second));
    let imm = match row.kind {
        Kind::BranchLink => {
            let sign = high >> 10 & 1;
            let bit = |shift: u32| !(low >> shift ^ sign) & 1;
            let offset = sign << 24
                | bit(13) << 23
                | bit(11) << 22
                | (high & 0x3ff) << 12
                | (low & 0x7ff) << 1;
            pc.wrapping_add(((offset << 7) as i32 >> 7) as u32)
        }
        _ => low & 0xff,
    };
    Op {
        kind: row.kind,
        rd: (low >> 8 & 15) as u8,
        rn: (high & 15) as u8,
        rm: ZERO,
        cycles: row.cycles,
        size: 4,
        imm,
    }
}

const fn undefined(size: u8) -> Op {
    Op {
        kind: Kind::Udf,
        rd: 0,
        rn: 0,
        rm: ZERO,
        cycles: 1,
        size,
        imm: 0,
    }
}
