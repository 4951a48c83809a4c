//! Operations: what an instruction is decoded to.

use crate::bus::Width;

/// Operations. Operand forms are part of the kind, so that execution needs one dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the manual's mnemonics
pub enum Kind {
    Undefined,
    // Data processing with an immediate (A5.3.1); the carry out of the immediate is in `flags`.
    AndImm,
    BicImm,
    OrrImm,
    OrnImm,
    EorImm,
    AddImm,
    AdcImm,
    SbcImm,
    SubImm,
    RsbImm,
    MovImm,
    MvnImm,
    TstImm,
    TeqImm,
    CmnImm,
    CmpImm,
    // Data processing with a register shifted by an immediate (A5.3.11).
    AndReg,
    BicReg,
    OrrReg,
    OrnReg,
    EorReg,
    AddReg,
    AdcReg,
    SbcReg,
    SubReg,
    RsbReg,
    MovReg,
    MvnReg,
    TstReg,
    TeqReg,
    CmnReg,
    CmpReg,
    /// Shift by a register.
    ShiftReg,
    Movt,
    Adr,
    Bfi,
    Bfc,
    Ubfx,
    Sbfx,
    Ssat,
    Usat,
    Sxtb,
    Sxth,
    Uxtb,
    Uxth,
    Rev,
    Rev16,
    Revsh,
    Rbit,
    Clz,
    Mul,
    Mla,
    Mls,
    Smull,
    Umull,
    Smlal,
    Umlal,
    // The DSP extension: see `dsp`.
    Pkh,
    Ssat16,
    Usat16,
    Sxtab,
    Uxtab,
    Sxtah,
    Uxtah,
    Sxtab16,
    Uxtab16,
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
    Sel,
    /// Parallel addition and subtraction, of which the immediate holds which.
    Parallel,
    Smla,
    Smlaw,
    Smlad,
    Smlsd,
    Smmla,
    Smmls,
    Usada8,
    Smlalxy,
    Smlald,
    Smlsld,
    Umaal,
    Sdiv,
    Udiv,
    // Loads and stores: base plus immediate, base plus shifted register, literal.
    LdrImm,
    LdrbImm,
    LdrhImm,
    LdrsbImm,
    LdrshImm,
    StrImm,
    StrbImm,
    StrhImm,
    LdrReg,
    LdrbReg,
    LdrhReg,
    LdrsbReg,
    LdrshReg,
    StrReg,
    StrbReg,
    StrhReg,
    LdrLit,
    LdrbLit,
    LdrhLit,
    LdrsbLit,
    LdrshLit,
    Ldrd,
    LdrdLit,
    Strd,
    Ldrex,
    Ldrexb,
    Ldrexh,
    Strex,
    Strexb,
    Strexh,
    Clrex,
    Ldmia,
    Ldmdb,
    Stmia,
    Stmdb,
    Tbb,
    Tbh,
    B,
    Bcond,
    Bl,
    Bx,
    Blx,
    Cbz,
    Cbnz,
    It,
    Nop,
    Wfe,
    Wfi,
    Sev,
    Cps,
    Bkpt,
    Svc,
    Mrs,
    Msr,
    Dsb,
    Dmb,
    Isb,
    // The floating-point extension: see `fpu`.
    Vmla,
    Vmls,
    Vnmla,
    Vnmls,
    Vfma,
    Vfms,
    Vfnma,
    Vfnms,
    Vmul,
    Vnmul,
    Vadd,
    Vsub,
    Vdiv,
    Vsqrt,
    VcvtFromInt,
    VcvtToInt,
    VcvtFromFixed,
    VcvtToFixed,
    VcvtFromHalf,
    VcvtToHalf,
    Vcmp,
    VcmpZero,
    VmovImm,
    Vmov,
    Vabs,
    Vneg,
    VmovToCore,
    VmovFromCore,
    VmovTwoToCore,
    VmovTwoFromCore,
    Vmrs,
    Vmsr,
    Vldr,
    Vstr,
    Vldm,
    Vstm,
    /// No instruction of the extension, in its space.
    VUndefined,
    /// A coprocessor instruction: there is none.
    Coprocessor,
    /// Not decoded yet.
    Empty,
}

impl Kind {
    /// Whether it changes nothing but registers and flags, unless it writes the program counter.
    pub const fn computes(self) -> bool {
        (self as u8) >= Self::AndImm as u8 && (self as u8) <= Self::Udiv as u8
    }

    /// Whether it is LDM or STM.
    pub const fn is_multiple(self) -> bool {
        matches!(self, Self::Ldmia | Self::Ldmdb | Self::Stmia | Self::Stmdb)
    }

    /// Whether it is of the DSP extension.
    pub const fn is_dsp(self) -> bool {
        (self as u8) >= Self::Pkh as u8 && (self as u8) <= Self::Umaal as u8
    }

    /// Whether it is of the floating-point extension.
    pub const fn is_float(self) -> bool {
        (self as u8) >= Self::Vmla as u8 && (self as u8) <= Self::VUndefined as u8
    }

    /// The size of each access of a load or store.
    pub const fn width(self) -> Width {
        match self {
            Self::LdrbImm
            | Self::LdrsbImm
            | Self::StrbImm
            | Self::LdrbReg
            | Self::LdrsbReg
            | Self::StrbReg
            | Self::LdrbLit
            | Self::LdrsbLit
            | Self::Ldrexb
            | Self::Strexb
            | Self::Tbb => Width::Byte,
            Self::LdrhImm
            | Self::LdrshImm
            | Self::StrhImm
            | Self::LdrhReg
            | Self::LdrshReg
            | Self::StrhReg
            | Self::LdrhLit
            | Self::LdrshLit
            | Self::Ldrexh
            | Self::Strexh
            | Self::Tbh => Width::Half,
            _ => Width::Word,
        }
    }
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// Its operation.
    pub kind: Kind,
    /// Its length in bytes.
    pub length: u8,
    /// Destination (`Rt` of loads and stores).
    pub rd: u8,
    /// First operand or base.
    pub rn: u8,
    /// Second operand or offset.
    pub rm: u8,
    /// Accumulator, high destination, second transfer register, condition, or status register.
    pub ra: u8,
    /// Shift kind of `rm`: 0 LSL, 1 LSR, 2 ASR, 3 ROR, 4 RRX.
    pub shift: u8,
    /// Shift amount of `rm`, 0 to 32; width of bit fields.
    pub amount: u8,
    /// Immediate, offset or register list.
    pub imm: u32,
    /// See the constants of this type.
    pub flags: u16,
}

impl Op {
    /// Sets the flags.
    pub const S: u16 = 1;
    /// Sets the flags outside an IT block (the 16-bit data-processing instructions).
    pub const S_OUTSIDE_IT: u16 = 2;
    /// Writes the base back.
    pub const WRITEBACK: u16 = 4;
    /// The address is base plus offset; otherwise base.
    pub const INDEX: u16 = 8;
    /// The immediate sets the carry flag to [`Op::CARRY`] (a rotated constant).
    pub const SETS_CARRY: u16 = 16;
    /// See [`Op::SETS_CARRY`].
    pub const CARRY: u16 = 32;
    /// The manual calls the encoding UNPREDICTABLE; what is done is what the fields say.
    pub const UNPREDICTABLE: u16 = 64;
    /// An unprivileged access (LDRT and its kin).
    pub const UNPRIVILEGED: u16 = 128;

    /// The operation of a halfword that was not decoded yet.
    pub const EMPTY: Self = Self {
        kind: Kind::Empty,
        length: 2,
        rd: 0,
        rn: 0,
        rm: 0,
        ra: 0,
        shift: 0,
        amount: 0,
        imm: 0,
        flags: 0,
    };

    /// Whether a flag of this type is set.
    pub const fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub const fn of(kind: Kind, length: u8) -> Self {
        Self {
            kind,
            length,
            ..Self::EMPTY
        }
    }

    pub const fn rd(mut self, r: u32) -> Self {
        self.rd = (r & 15) as u8;
        self
    }

    pub const fn rn(mut self, r: u32) -> Self {
        self.rn = (r & 15) as u8;
        self
    }

    pub const fn rm(mut self, r: u32) -> Self {
        self.rm = (r & 15) as u8;
        self
    }

    pub const fn ra(mut self, r: u32) -> Self {
        self.ra = (r & 15) as u8;
        self
    }

    pub const fn imm(mut self, value: u32) -> Self {
        self.imm = value;
        self
    }

    pub const fn set(mut self, flags: u16) -> Self {
        self.flags |= flags;
        self
    }

    pub const fn set_if(self, condition: bool, flags: u16) -> Self {
        if condition { self.set(flags) } else { self }
    }

    /// `DecodeImmShift` (A7.4.2).
    pub const fn shifted(mut self, kind: u32, amount: u32) -> Self {
        let (kind, amount) = match (kind, amount) {
            (1 | 2, 0) => (kind, 32),
            (3, 0) => (4, 1),
            _ => (kind, amount),
        };
        self.shift = kind as u8;
        self.amount = amount as u8;
        self
    }
}

/// Whether a halfword is the first of a 32-bit instruction (A5.1).
pub const fn is_wide(halfword: u16) -> bool {
    halfword >> 11 >= 0b11101
}
