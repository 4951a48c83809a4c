//! Instructions, decoded: RISC-V ISA manual volume I (20240411); Zc* 1.0; Hazard3 manual, section
//! "Custom extensions".

/// What an instruction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[rustfmt::skip]
pub(crate) enum Kind {
    #[default]
    Undecoded,
    Illegal,
    // rd = rs1 op (rs2 + immediate), where one of the two is zero
    Add, Sub, Slt, Sltu, Xor, Or, And, Sll, Srl, Sra,
    Sh1add, Sh2add, Sh3add,
    Andn, Orn, Xnor, Clz, Ctz, Cpop, Max, Maxu, Min, Minu, OrcB, Rev8, Rol, Ror, SextB, SextH, ZextH,
    Bclr, Bset, Binv, Bext,
    Pack, Packh, Brev8, Zip, Unzip,
    Mul, Mulh, Mulhsu, Mulhu,
    Bextm, Auipc,
    Div, Divu, Rem, Remu,
    Lb, Lh, Lw, Lbu, Lhu,
    Sb, Sh, Sw,
    Lr, Sc,
    AmoSwap, AmoAdd, AmoXor, AmoAnd, AmoOr, AmoMin, AmoMax, AmoMinu, AmoMaxu,
    Jal, Jalr,
    Beq, Bne, Blt, Bge, Bltu, Bgeu,
    Csrrw, Csrrs, Csrrc, Csrrwi, Csrrsi, Csrrci,
    Fence, FenceI, Ecall, Ebreak, Mret, Wfi, Block, Unblock,
    Push, Pop, PopRet, PopRetZ, MvSa, MvAs,
}

/// Writes to register 0 go to this one, so that register 0 stays zero.
pub(crate) const SINK: u8 = 32;

/// A decoded instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Op {
    pub kind: Kind,
    /// The destination, [`SINK`] for none.
    pub rd: u8,
    /// Source fields as the core's hazard detection sees them: 0 where it ignores them. A CSR
    /// instruction's hold its immediate, and the low bits of the CSR's number.
    pub rs1: u8,
    pub rs2: u8,
    /// Halfwords.
    pub size: u8,
    /// It may jump, and FENCE.I is behind it.
    pub before_fence: bool,
    pub imm: i32,
}

fn bits(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

fn signed(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)) as i32 >> (32 - bits)
}

impl Kind {
    /// Whether an instruction is a plain load.
    pub fn loads(self) -> bool {
        self >= Self::Lb && self <= Self::Lhu
    }

    /// Whether an instruction is a plain store.
    pub fn stores(self) -> bool {
        self >= Self::Sb && self <= Self::Sw
    }

    /// Whether an instruction may jump.
    pub fn jumps(self) -> bool {
        self >= Self::Jal && self <= Self::Bgeu || self == Self::FenceI
    }
}

/// FENCE.I.
pub(crate) const FENCE_I: u32 = 0x0000_100f;

/// Decode the instruction that begins with these bits; a short one ignores the upper half.
pub(crate) fn decode(word: u32) -> Op {
    let mut op = if word & 3 == 3 {
        wide(word)
    } else {
        narrow(word & 0xffff)
    };
    op.size = if word & 3 == 3 { 2 } else { 1 };
    if op.kind == Kind::Illegal {
        (op.rd, op.rs1, op.rs2) = (0, 0, 0);
    }
    if op.rd == 0 {
        op.rd = SINK;
    }
    op
}

fn wide(w: u32) -> Op {
    let (rd, rs1, rs2) = (
        bits(w, 11, 7) as u8,
        bits(w, 19, 15) as u8,
        bits(w, 24, 20) as u8,
    );
    let (funct3, funct7) = (bits(w, 14, 12), bits(w, 31, 25));
    let imm_i = w as i32 >> 20;
    let of = |kind, rd, rs1, rs2, imm| Op {
        kind,
        rd,
        rs1,
        rs2,
        size: 2,
        before_fence: false,
        imm,
    };
    let illegal = of(Kind::Illegal, 0, 0, 0, 0);
    let immediate = |kind| of(kind, rd, rs1, 0, imm_i);
    let register = |kind| of(kind, rd, rs1, rs2, 0);
    let unary = |kind| of(kind, rd, rs1, 0, 0);
    let shift = |kind| of(kind, rd, rs1, 0, i32::from(rs2));
    match bits(w, 6, 0) {
        0x37 => of(Kind::Add, rd, 0, 0, (w & 0xffff_f000) as i32),
        0x17 => of(Kind::Auipc, rd, 0, 0, (w & 0xffff_f000) as i32),
        0x6f => {
            let imm = bits(w, 31, 31) << 20
                | bits(w, 19, 12) << 12
                | bits(w, 20, 20) << 11
                | bits(w, 30, 21) << 1;
            of(Kind::Jal, rd, 0, 0, signed(imm, 21))
        }
        0x67 if funct3 == 0 => of(Kind::Jalr, rd, rs1, 0, imm_i),
        0x63 => {
            let imm = bits(w, 31, 31) << 12
                | bits(w, 7, 7) << 11
                | bits(w, 30, 25) << 5
                | bits(w, 11, 8) << 1;
            let kind = match funct3 {
                0 => Kind::Beq,
                1 => Kind::Bne,
                4 => Kind::Blt,
                5 => Kind::Bge,
                6 => Kind::Bltu,
                7 => Kind::Bgeu,
                _ => return illegal,
            };
            of(kind, 0, rs1, rs2, signed(imm, 13))
        }
        0x03 => match funct3 {
            0 => immediate(Kind::Lb),
            1 => immediate(Kind::Lh),
            2 => immediate(Kind::Lw),
            4 => immediate(Kind::Lbu),
            5 => immediate(Kind::Lhu),
            _ => illegal,
        },
        0x23 => {
            let imm = signed(bits(w, 31, 25) << 5 | bits(w, 11, 7), 12);
            let kind = match funct3 {
                0 => Kind::Sb,
                1 => Kind::Sh,
                2 => Kind::Sw,
                _ => return illegal,
            };
            of(kind, 0, rs1, rs2, imm)
        }
        0x13 => match (funct3, funct7, rs2) {
            (0, ..) => immediate(Kind::Add),
            (2, ..) => immediate(Kind::Slt),
            (3, ..) => immediate(Kind::Sltu),
            (4, ..) => immediate(Kind::Xor),
            (6, ..) => immediate(Kind::Or),
            (7, ..) => immediate(Kind::And),
            (1, 0x00, _) => shift(Kind::Sll),
            (5, 0x00, _) => shift(Kind::Srl),
            (5, 0x20, _) => shift(Kind::Sra),
            (5, 0x30, _) => shift(Kind::Ror),
            (1, 0x30, 0) => unary(Kind::Clz),
            (1, 0x30, 1) => unary(Kind::Ctz),
            (1, 0x30, 2) => unary(Kind::Cpop),
            (1, 0x30, 4) => unary(Kind::SextB),
            (1, 0x30, 5) => unary(Kind::SextH),
            (5, 0x14, 7) => unary(Kind::OrcB),
            (5, 0x34, 24) => unary(Kind::Rev8),
            (5, 0x34, 7) => unary(Kind::Brev8),
            (1, 0x04, 15) => unary(Kind::Zip),
            (5, 0x04, 15) => unary(Kind::Unzip),
            (1, 0x24, _) => shift(Kind::Bclr),
            (5, 0x24, _) => shift(Kind::Bext),
            (1, 0x34, _) => shift(Kind::Binv),
            (1, 0x14, _) => shift(Kind::Bset),
            _ => illegal,
        },
        0x33 => {
            let kind = match (funct7, funct3) {
                (0x00, 0) => Kind::Add,
                (0x20, 0) => Kind::Sub,
                (0x00, 1) => Kind::Sll,
                // Hazard3's power management hints are SLT to register 0.
                (0x00, 2) if rd == 0 && rs1 == 0 && rs2 < 2 => {
                    let kind = if rs2 == 0 { Kind::Block } else { Kind::Unblock };
                    return register(kind);
                }
                (0x00, 2) => Kind::Slt,
                (0x00, 3) => Kind::Sltu,
                (0x00, 4) => Kind::Xor,
                (0x00, 5) => Kind::Srl,
                (0x20, 5) => Kind::Sra,
                (0x00, 6) => Kind::Or,
                (0x00, 7) => Kind::And,
                (0x01, 0) => Kind::Mul,
                (0x01, 1) => Kind::Mulh,
                (0x01, 2) => Kind::Mulhsu,
                (0x01, 3) => Kind::Mulhu,
                (0x01, 4) => Kind::Div,
                (0x01, 5) => Kind::Divu,
                (0x01, 6) => Kind::Rem,
                (0x01, 7) => Kind::Remu,
                (0x10, 2) => Kind::Sh1add,
                (0x10, 4) => Kind::Sh2add,
                (0x10, 6) => Kind::Sh3add,
                (0x20, 7) => Kind::Andn,
                (0x20, 6) => Kind::Orn,
                (0x20, 4) => Kind::Xnor,
                (0x05, 4) => Kind::Min,
                (0x05, 5) => Kind::Minu,
                (0x05, 6) => Kind::Max,
                (0x05, 7) => Kind::Maxu,
                (0x30, 1) => Kind::Rol,
                (0x30, 5) => Kind::Ror,
                (0x04, 4) if rs2 == 0 => return unary(Kind::ZextH),
                (0x04, 4) => Kind::Pack,
                (0x04, 7) => Kind::Packh,
                (0x24, 1) => Kind::Bclr,
                (0x24, 5) => Kind::Bext,
                (0x34, 1) => Kind::Binv,
                (0x14, 1) => Kind::Bset,
                _ => return illegal,
            };
            register(kind)
        }
        0x2f if funct3 == 2 => {
            let kind = match funct7 >> 2 {
                0x02 if rs2 == 0 => return unary(Kind::Lr),
                0x03 => Kind::Sc,
                0x01 => Kind::AmoSwap,
                0x00 => Kind::AmoAdd,
                0x04 => Kind::AmoXor,
                0x0c => Kind::AmoAnd,
                0x08 => Kind::AmoOr,
                0x10 => Kind::AmoMin,
                0x14 => Kind::AmoMax,
                0x18 => Kind::AmoMinu,
                0x1c => Kind::AmoMaxu,
                _ => return illegal,
            };
            register(kind)
        }
        // h3.bextm and h3.bextmi: the number of bits, less one, is in bits 28 to 26. It is kept
        // above the shift, of which only the low five bits count.
        0x0b if matches!(funct3, 0 | 4) && funct7 & 0x71 == 0 => {
            let width = ((funct7 >> 1 & 7) << 5) as i32;
            if funct3 == 0 {
                of(Kind::Bextm, rd, rs1, rs2, width)
            } else {
                of(Kind::Bextm, rd, rs1, 0, width | i32::from(rs2))
            }
        }
        0x0f if funct3 == 0 && rs1 == 0 && rd == 0 => of(Kind::Fence, 0, 0, 0, 0),
        0x0f if w == FENCE_I => of(Kind::FenceI, 0, 0, 0, 0),
        0x73 => {
            let kind = match (funct3, w) {
                (1, _) => Kind::Csrrw,
                (2, _) => Kind::Csrrs,
                (3, _) => Kind::Csrrc,
                (5, _) => Kind::Csrrwi,
                (6, _) => Kind::Csrrsi,
                (7, _) => Kind::Csrrci,
                (_, 0x0000_0073) => return of(Kind::Ecall, 0, 0, 0, 0),
                (_, 0x0010_0073) => return of(Kind::Ebreak, 0, 0, 0, 0),
                (_, 0x3020_0073) => return of(Kind::Mret, 0, 0, 0, 0),
                (_, 0x1050_0073) => return of(Kind::Wfi, 0, 0, 0, 0),
                _ => return illegal,
            };
            of(kind, rd, rs1, rs2, bits(w, 31, 20) as i32)
        }
        _ => illegal,
    }
}

fn narrow(w: u32) -> Op {
    let of = |kind, rd, rs1, rs2, imm| Op {
        kind,
        rd,
        rs1,
        rs2,
        size: 1,
        before_fence: false,
        imm,
    };
    let illegal = of(Kind::Illegal, 0, 0, 0, 0);
    let full = bits(w, 11, 7) as u8;
    let full2 = bits(w, 6, 2) as u8;
    let high = 8 + bits(w, 9, 7) as u8;
    let low = 8 + bits(w, 4, 2) as u8;
    let imm6 = signed(bits(w, 12, 12) << 5 | bits(w, 6, 2), 6);
    let word_offset = (bits(w, 5, 5) << 6 | bits(w, 12, 10) << 3 | bits(w, 6, 6) << 2) as i32;
    let byte_offset = (bits(w, 5, 5) << 1 | bits(w, 6, 6)) as i32;
    let half_offset = (bits(w, 5, 5) << 1) as i32;
    let jump = signed(
        bits(w, 12, 12) << 11
            | bits(w, 8, 8) << 10
            | bits(w, 10, 9) << 8
            | bits(w, 6, 6) << 7
            | bits(w, 7, 7) << 6
            | bits(w, 2, 2) << 5
            | bits(w, 11, 11) << 4
            | bits(w, 5, 3) << 1,
        12,
    );
    let branch = signed(
        bits(w, 12, 12) << 8
            | bits(w, 6, 5) << 6
            | bits(w, 2, 2) << 5
            | bits(w, 11, 10) << 3
            | bits(w, 4, 3) << 1,
        9,
    );
    match (w & 3, bits(w, 15, 13)) {
        (0, 0) => {
            let imm = bits(w, 10, 7) << 6
                | bits(w, 12, 11) << 4
                | bits(w, 5, 5) << 3
                | bits(w, 6, 6) << 2;
            if bits(w, 12, 2) == 0 {
                return illegal;
            }
            of(Kind::Add, low, 2, 0, imm as i32)
        }
        (0, 2) => of(Kind::Lw, low, high, 0, word_offset),
        (0, 6) => of(Kind::Sw, 0, high, low, word_offset),
        (0, 4) => match (bits(w, 12, 10), bits(w, 6, 6)) {
            (0, _) => of(Kind::Lbu, low, high, 0, byte_offset),
            (1, 0) => of(Kind::Lhu, low, high, 0, half_offset),
            (1, 1) => of(Kind::Lh, low, high, 0, half_offset),
            (2, _) => of(Kind::Sb, 0, high, low, byte_offset),
            (3, 0) => of(Kind::Sh, 0, high, low, half_offset),
            _ => illegal,
        },
        (1, 0) => of(Kind::Add, full, full, 0, imm6),
        (1, 1) => of(Kind::Jal, 1, 0, 0, jump),
        (1, 5) => of(Kind::Jal, 0, 0, 0, jump),
        (1, 2) => of(Kind::Add, full, 0, 0, imm6),
        (1, 3) if imm6 == 0 => illegal,
        (1, 3) if full == 2 => {
            let imm = bits(w, 12, 12) << 9
                | bits(w, 4, 3) << 7
                | bits(w, 5, 5) << 6
                | bits(w, 2, 2) << 5
                | bits(w, 6, 6) << 4;
            of(Kind::Add, 2, 2, 0, signed(imm, 10))
        }
        (1, 3) => of(Kind::Add, full, 0, 0, imm6 << 12),
        (1, 4) => match (bits(w, 12, 10), bits(w, 6, 5), bits(w, 4, 2)) {
            (0, ..) => of(Kind::Srl, high, high, 0, i32::from(full2)),
            (1, ..) => of(Kind::Sra, high, high, 0, i32::from(full2)),
            (2 | 6, ..) => of(Kind::And, high, high, 0, imm6),
            (3, 0, _) => of(Kind::Sub, high, high, low, 0),
            (3, 1, _) => of(Kind::Xor, high, high, low, 0),
            (3, 2, _) => of(Kind::Or, high, high, low, 0),
            (3, 3, _) => of(Kind::And, high, high, low, 0),
            (7, 2, _) => of(Kind::Mul, high, high, low, 0),
            (7, 3, 0) => of(Kind::And, high, high, 0, 0xff),
            (7, 3, 1) => of(Kind::SextB, high, high, 0, 0),
            (7, 3, 2) => of(Kind::ZextH, high, high, 0, 0),
            (7, 3, 3) => of(Kind::SextH, high, high, 0, 0),
            (7, 3, 5) => of(Kind::Xor, high, high, 0, -1),
            _ => illegal,
        },
        (1, 6) => of(Kind::Beq, 0, high, 0, branch),
        (1, 7) => of(Kind::Bne, 0, high, 0, branch),
        (2, 0) if bits(w, 12, 12) == 0 => of(Kind::Sll, full, full, 0, i32::from(full2)),
        (2, 2) if full != 0 => {
            let imm = bits(w, 3, 2) << 6 | bits(w, 12, 12) << 5 | bits(w, 6, 4) << 2;
            of(Kind::Lw, full, 2, 0, imm as i32)
        }
        (2, 6) => {
            let imm = bits(w, 8, 7) << 6 | bits(w, 12, 9) << 2;
            of(Kind::Sw, 0, 2, full2, imm as i32)
        }
        (2, 4) => match (bits(w, 12, 12), full, full2) {
            (0, 0, 0) => illegal,
            (0, rs1, 0) => of(Kind::Jalr, 0, rs1, 0, 0),
            (0, rd, rs2) => of(Kind::Add, rd, 0, rs2, 0),
            (_, 0, 0) => of(Kind::Ebreak, 0, 0, 0, 0),
            (_, rs1, 0) => of(Kind::Jalr, 1, rs1, 0, 0),
            (_, rd, rs2) => of(Kind::Add, rd, rd, rs2, 0),
        },
        (2, 5) => zcmp(w),
        _ => illegal,
    }
}

/// Pushes and pops: `rs1` is the number of registers, and the immediate the stack adjustment.
/// Moves: `rs1` and `rs2` are the two saved registers.
fn zcmp(w: u32) -> Op {
    let of = |kind, rs1, rs2, imm| Op {
        kind,
        rd: 0,
        rs1,
        rs2,
        size: 1,
        before_fence: false,
        imm,
    };
    let kind = match (bits(w, 12, 8), bits(w, 6, 5)) {
        (0x18, _) => Kind::Push,
        (0x1a, _) => Kind::Pop,
        (0x1c, _) => Kind::PopRetZ,
        (0x1e, _) => Kind::PopRet,
        (0x0c..=0x0f, 1) => Kind::MvSa,
        (0x0c..=0x0f, 3) => Kind::MvAs,
        _ => Kind::Illegal,
    };
    if matches!(kind, Kind::MvSa | Kind::MvAs) {
        // s0, s1, s2, ...: x8, x9, x18, ...
        let saved = |number: u32| if number < 2 { 8 + number } else { 16 + number } as u8;
        return of(kind, saved(bits(w, 9, 7)), saved(bits(w, 4, 2)), 0);
    }
    let list = bits(w, 7, 4);
    if kind == Kind::Illegal || list < 4 {
        return of(Kind::Illegal, 0, 0, 0);
    }
    let count = if list == 15 { 13 } else { list - 3 };
    let base = match list {
        15 => 64,
        12..=14 => 48,
        8..=11 => 32,
        _ => 16,
    };
    of(kind, count as u8, 0, (base + 16 * bits(w, 3, 2)) as i32)
}
