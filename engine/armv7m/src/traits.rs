//! Properties of an instruction that the pipeline needs before it runs.

use crate::fpu;
use crate::op::{Kind, Op, is_wide};

/// How an instruction occupies the execute stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// One cycle, or as many as the execution says.
    Alu,
    /// One load or store.
    Single,
    /// Several loads or stores: LDM, STM, PUSH, POP, LDRD, STRD.
    Multiple,
    /// TBB and TBH.
    Table,
    /// A branch whose target is an immediate: resolved while it is decoded.
    BranchImmediate,
    /// BX, BLX and MOV PC: resolved in execute, or while decoded where the register is LR.
    BranchRegister,
    /// CBZ and CBNZ.
    CompareBranch,
    /// ADD PC: a branch whose target comes late in the cycle.
    BranchLate,
    /// ISB: fetches again what follows.
    Barrier,
}

/// Properties of an instruction that the pipeline needs before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traits {
    /// How it occupies the execute stage.
    pub class: Class,
    /// Its length in halfwords.
    pub halves: u8,
    /// Transferred registers of loads and stores.
    pub transfers: u8,
    /// The transferred register of a [`Class::Single`], 16 where there is none.
    pub data: u8,
    /// Registers that it writes, the program counter included.
    pub writes: u16,
    /// Registers that make the address (or, of ADD PC, that the address unit waits for).
    pub address: u16,
    /// The constants of this type.
    pub flags: u32,
}

impl Traits {
    /// A store.
    pub const STORE: u32 = 1;
    /// Writes its base back.
    pub const WRITEBACK: u32 = 1 << 1;
    /// Base plus register.
    pub const REGISTER_OFFSET: u32 = 1 << 2;
    /// May take more than one cycle, so that the fetch unit holds its head while it executes.
    pub const HOLDS_HEAD: u32 = 1 << 3;
    /// Sets flags, or would outside an IT block.
    pub const FLAGS: u32 = 1 << 4;
    /// NOP and the hints that do nothing.
    pub const NOP: u32 = 1 << 5;
    /// A 16-bit multiply.
    pub const MULS: u32 = 1 << 6;
    /// An IT instruction may fold into it.
    pub const FOLDABLE: u32 = 1 << 7;
    /// The halfword after a 16-bit instruction looks like IT.
    pub const IT_FOLLOWS: u32 = 1 << 8;
    /// Conditional by its own encoding: B<cond>.
    pub const CONDITIONAL: u32 = 1 << 9;
    /// Writes LR and branches: BL and BLX.
    pub const LINK: u32 = 1 << 10;
    /// The branch register is LR.
    pub const FROM_LR: u32 = 1 << 11;
    /// LDM.N, which behaves as if it always wrote back.
    pub const NARROW_LDM: u32 = 1 << 12;
    /// Waits in decode for the address registers.
    pub const ADDRESS_UNIT: u32 = 1 << 13;
    /// UMULL or SMULL, into which an MLA may follow.
    pub const MULL: u32 = 1 << 14;
    /// MLA.
    pub const MLA: u32 = 1 << 15;
    /// Counts as a load or store for LSUCNT though it is none: ADD PC.
    pub const COUNTS_AS_LSU: u32 = 1 << 16;
    /// Is never skipped in an IT block: BKPT.
    pub const NEVER_SKIPPED: u32 = 1 << 17;

    /// A multiplication that takes more than a cycle on a Cortex-M3.
    pub const MULTIPLIES: u32 = 1 << 23;

    /// The same on cores of revision 1.
    pub const FOLDABLE_R1: u32 = 1 << 18;
    /// Its cycles in execute depend on more than the instruction.
    pub const TIMED: u32 = 1 << 19;
    /// Its address depends on nothing but where the instruction is.
    pub const LITERAL: u32 = 1 << 20;
    /// It changes more than registers and memory, so nothing is decoded ahead of it.
    pub const ENDS_BLOCK: u32 = 1 << 21;

    /// It only computes, or accesses memory with nothing else to be looked after: neither SP nor PC
    /// is written, and it cannot fault in itself.
    pub const PLAIN: u32 = 1 << 22;

    /// Of the floating-point extension.
    pub const FLOAT: u32 = 1 << 24;
    /// VDIV or VSQRT, during which other instructions go on.
    pub const DIVIDES: u32 = 1 << 25;
    /// Cycles in execute beside the first, where they depend on the code alone: from this bit on.
    const EXTRA_CYCLES: u32 = 28;

    /// Of nothing.
    pub const NONE: Self = Self {
        class: Class::Alu,
        halves: 1,
        transfers: 0,
        data: 16,
        writes: 0,
        address: 0,
        flags: 0,
    };

    /// Whether a flag of this type is set.
    pub const fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Cycles in execute, where they depend on the code alone.
    pub const fn cycles(&self) -> u8 {
        1 + (self.flags >> Self::EXTRA_CYCLES) as u8
    }

    /// It takes so many cycles more.
    pub const fn add_cycles(&mut self, cycles: u32) {
        self.flags += cycles << Self::EXTRA_CYCLES;
    }

    /// Whether it is executed by the load/store unit.
    pub const fn is_lsu(&self) -> bool {
        matches!(self.class, Class::Single | Class::Multiple | Class::Table)
    }

    /// Whether it writes the program counter.
    pub const fn is_branch(&self) -> bool {
        self.writes & 0x8000 != 0
    }

    /// Of a decoded instruction and its halfwords; `second` follows the first in memory.
    #[allow(clippy::match_same_arms)] // by kind of instruction
    pub fn of(op: &Op, first: u16, second: u16) -> Self {
        let mut t = Self {
            halves: op.length / 2,
            ..Self::NONE
        };
        let bit = |r: u8| 1_u16 << r;
        let setting = if op.is(Op::S | Op::S_OUTSIDE_IT) {
            Self::FLAGS
        } else {
            0
        };
        match op.kind {
            Kind::TstImm
            | Kind::TeqImm
            | Kind::CmnImm
            | Kind::CmpImm
            | Kind::TstReg
            | Kind::TeqReg
            | Kind::CmnReg
            | Kind::CmpReg => t.flags |= Self::FLAGS,
            Kind::AndImm
            | Kind::BicImm
            | Kind::OrrImm
            | Kind::OrnImm
            | Kind::EorImm
            | Kind::AddImm
            | Kind::AdcImm
            | Kind::SbcImm
            | Kind::SubImm
            | Kind::RsbImm
            | Kind::MovImm
            | Kind::MvnImm
            | Kind::AndReg
            | Kind::BicReg
            | Kind::OrrReg
            | Kind::OrnReg
            | Kind::EorReg
            | Kind::AdcReg
            | Kind::SbcReg
            | Kind::SubReg
            | Kind::RsbReg
            | Kind::MvnReg
            | Kind::ShiftReg
            | Kind::Movt
            | Kind::Adr
            | Kind::Bfi
            | Kind::Bfc
            | Kind::Ubfx
            | Kind::Sbfx
            | Kind::Ssat
            | Kind::Usat
            | Kind::Sxtb
            | Kind::Sxth
            | Kind::Uxtb
            | Kind::Uxth
            | Kind::Rev
            | Kind::Rev16
            | Kind::Revsh
            | Kind::Rbit
            | Kind::Clz => {
                t.writes = bit(op.rd);
                t.flags |= setting;
            }
            Kind::AddReg | Kind::MovReg if op.rd == 15 && op.length == 2 => {
                t.writes = bit(15);
                if op.kind == Kind::AddReg {
                    // misc ADD PC: waits for R0 as if it were an address
                    // (instructions/control_flow/add_pc).
                    t.class = Class::BranchLate;
                    t.address = bit(0);
                    t.flags |= Self::ADDRESS_UNIT | Self::COUNTS_AS_LSU;
                } else {
                    t.class = Class::BranchRegister;
                    if op.rm == 14 {
                        t.flags |= Self::FROM_LR;
                    }
                }
            }
            Kind::AddReg | Kind::MovReg => {
                t.writes = bit(op.rd);
                t.flags |= setting;
            }
            Kind::Mul => {
                t.writes = bit(op.rd);
                t.flags |= setting;
                if op.is(Op::S_OUTSIDE_IT) {
                    t.flags |= Self::MULS;
                }
            }
            Kind::Mla | Kind::Mls | Kind::Sdiv | Kind::Udiv => {
                t.writes = bit(op.rd);
                t.flags |= Self::HOLDS_HEAD;
                if matches!(op.kind, Kind::Mla | Kind::Mls) {
                    t.flags |= Self::MULTIPLIES;
                }
                if op.kind == Kind::Mla {
                    t.flags |= Self::MLA;
                }
            }
            Kind::Smlalxy | Kind::Smlald | Kind::Smlsld | Kind::Umaal => {
                t.writes = bit(op.rd) | bit(op.ra);
            }
            kind if kind.is_dsp() => t.writes = bit(op.rd),
            Kind::Smull | Kind::Umull | Kind::Smlal | Kind::Umlal => {
                t.writes = bit(op.rd) | bit(op.ra);
                t.flags |= Self::HOLDS_HEAD | Self::MULTIPLIES;
                if matches!(op.kind, Kind::Smull | Kind::Umull) {
                    t.flags |= Self::MULL;
                }
            }
            Kind::LdrImm
            | Kind::LdrbImm
            | Kind::LdrhImm
            | Kind::LdrsbImm
            | Kind::LdrshImm
            | Kind::LdrReg
            | Kind::LdrbReg
            | Kind::LdrhReg
            | Kind::LdrsbReg
            | Kind::LdrshReg
            | Kind::LdrLit
            | Kind::LdrbLit
            | Kind::LdrhLit
            | Kind::LdrsbLit
            | Kind::LdrshLit
            | Kind::StrImm
            | Kind::StrbImm
            | Kind::StrhImm
            | Kind::StrReg
            | Kind::StrbReg
            | Kind::StrhReg
            | Kind::Ldrex
            | Kind::Ldrexb
            | Kind::Ldrexh
            | Kind::Strex
            | Kind::Strexb
            | Kind::Strexh => t.single(op),
            Kind::Ldrd | Kind::LdrdLit | Kind::Strd => {
                t.class = Class::Multiple;
                t.transfers = 2;
                t.flags |= Self::HOLDS_HEAD | Self::ADDRESS_UNIT;
                t.address = bit(op.rn);
                if op.kind == Kind::Strd {
                    t.flags |= Self::STORE;
                } else {
                    t.writes = bit(op.rd) | bit(op.ra);
                }
                t.write_back(op);
            }
            Kind::Ldmia | Kind::Ldmdb | Kind::Stmia | Kind::Stmdb => {
                t.class = Class::Multiple;
                t.transfers = op.imm.count_ones() as u8;
                t.address = bit(op.rn);
                t.flags |= Self::HOLDS_HEAD | Self::ADDRESS_UNIT;
                // POP and PUSH of one register in the 32-bit encoding are single transfers.
                if matches!(op.kind, Kind::Stmia | Kind::Stmdb) {
                    t.flags |= Self::STORE;
                } else {
                    t.writes = op.imm as u16;
                    if op.length == 2 && op.rn != 13 {
                        t.flags |= Self::NARROW_LDM;
                    }
                }
                t.write_back(op);
            }
            Kind::Tbb | Kind::Tbh => {
                t.class = Class::Table;
                t.transfers = 1;
                t.data = 15;
                t.writes = bit(15);
                t.address = bit(op.rn) | bit(op.rm);
                t.flags |=
                    Self::HOLDS_HEAD | Self::ADDRESS_UNIT | Self::REGISTER_OFFSET | Self::WRITEBACK;
            }
            Kind::B | Kind::Bcond | Kind::Bl => {
                t.class = Class::BranchImmediate;
                t.writes = bit(15);
                match op.kind {
                    Kind::Bcond => t.flags |= Self::CONDITIONAL,
                    Kind::Bl => {
                        t.writes |= bit(14);
                        t.flags |= Self::LINK;
                    }
                    _ => {}
                }
            }
            Kind::Bx | Kind::Blx => {
                t.class = Class::BranchRegister;
                t.writes = bit(15);
                if op.kind == Kind::Blx {
                    t.writes |= bit(14);
                    t.flags |= Self::LINK;
                }
                if op.rm == 14 {
                    t.flags |= Self::FROM_LR;
                }
            }
            Kind::Cbz | Kind::Cbnz => {
                t.class = Class::CompareBranch;
                t.writes = bit(15);
                t.flags |= Self::HOLDS_HEAD;
            }
            Kind::Isb => t.class = Class::Barrier,
            Kind::Mrs => {
                t.writes = bit(op.rd);
                t.flags |= Self::HOLDS_HEAD;
            }
            Kind::Msr => {
                t.flags |= Self::HOLDS_HEAD;
                if op.imm < 4 {
                    t.flags |= Self::FLAGS;
                }
            }
            Kind::Nop => t.flags |= Self::NOP,
            kind if kind.is_float() => t.float(op),
            Kind::Bkpt => t.flags |= Self::NEVER_SKIPPED,
            _ => {}
        }
        if matches!(
            op.kind,
            Kind::Smull
                | Kind::Umull
                | Kind::Smlal
                | Kind::Umlal
                | Kind::Mla
                | Kind::Mls
                | Kind::Sdiv
                | Kind::Udiv
                | Kind::Cps
                | Kind::Msr
                | Kind::Dsb
                | Kind::Dmb
        ) {
            t.flags |= Self::TIMED;
        }
        if matches!(
            op.kind,
            Kind::LdrLit
                | Kind::LdrbLit
                | Kind::LdrhLit
                | Kind::LdrsbLit
                | Kind::LdrshLit
                | Kind::LdrdLit
        ) {
            t.flags |= Self::LITERAL;
        }
        if t.is_branch()
            || matches!(
                op.kind,
                Kind::Isb
                    | Kind::Svc
                    | Kind::Bkpt
                    | Kind::Wfe
                    | Kind::Wfi
                    | Kind::Cps
                    | Kind::Msr
                    | Kind::Coprocessor
                    | Kind::VUndefined
                    | Kind::Undefined
            )
        {
            t.flags |= Self::ENDS_BLOCK;
        }
        if !is_wide(first) {
            if looks_like_it(second) {
                t.flags |= Self::IT_FOLLOWS;
            }
            // What IT folds into (instructions/control_flow/it_fold): neither loads and stores,
            // nor branches, nor CPS, nor SVC (interrupts/it_curse_svc). From revision 2 on, not what writes SP or compares it as first
            // operand; before, not MULS.
            if !t.is_lsu() && !t.is_branch() && !matches!(op.kind, Kind::Cps | Kind::It | Kind::Svc)
            {
                let compares_sp = op.kind == Kind::CmpReg && op.rn == 13;
                if t.writes & bit(13) == 0 && !compares_sp {
                    t.flags |= Self::FOLDABLE;
                }
                if op.kind != Kind::Mul {
                    t.flags |= Self::FOLDABLE_R1;
                }
            }
        }
        if t.writes & (bit(13) | bit(15)) == 0 && is_plain(op) {
            t.flags |= Self::PLAIN;
        }
        t
    }

    fn single(&mut self, op: &Op) {
        let bit = |r: u8| 1_u16 << r;
        self.class = Class::Single;
        self.transfers = 1;
        self.data = op.rd;
        self.flags |= Self::HOLDS_HEAD | Self::ADDRESS_UNIT;
        self.address = bit(op.rn);
        match op.kind {
            Kind::StrImm | Kind::StrbImm | Kind::StrhImm => self.flags |= Self::STORE,
            Kind::StrReg | Kind::StrbReg | Kind::StrhReg => {
                self.flags |= Self::STORE | Self::REGISTER_OFFSET;
                self.address |= bit(op.rm);
            }
            Kind::Strex | Kind::Strexb | Kind::Strexh => {
                self.flags |= Self::STORE;
                self.writes = bit(op.ra);
            }
            Kind::LdrReg | Kind::LdrbReg | Kind::LdrhReg | Kind::LdrsbReg | Kind::LdrshReg => {
                self.flags |= Self::REGISTER_OFFSET;
                self.address |= bit(op.rm);
                self.writes = bit(op.rd);
            }
            _ => self.writes = bit(op.rd),
        }
        self.write_back(op);
    }

    fn float(&mut self, op: &Op) {
        let bit = |r: u8| 1_u16 << r;
        self.flags |= Self::FLOAT;
        match op.kind {
            Kind::Vldr | Kind::Vstr | Kind::Vldm | Kind::Vstm => {
                self.class = if op.amount == 1 {
                    Class::Single
                } else {
                    Class::Multiple
                };
                self.transfers = op.amount;
                self.flags |= Self::HOLDS_HEAD | Self::ADDRESS_UNIT;
                self.address = bit(op.rn);
                if matches!(op.kind, Kind::Vstr | Kind::Vstm) {
                    self.flags |= Self::STORE;
                } else if op.kind == Kind::Vldr && op.rn == 15 {
                    self.flags |= Self::LITERAL;
                }
                self.write_back(op);
            }
            Kind::VmovTwoToCore => self.writes = bit(op.rd) | bit(op.rn),
            Kind::Vmrs if op.rd == 15 => self.flags |= Self::FLAGS,
            Kind::VmovToCore | Kind::Vmrs => self.writes = bit(op.rd),
            Kind::Vdiv | Kind::Vsqrt => self.flags |= Self::DIVIDES,
            _ => {}
        }
        let extra = fpu::extra_cycles(op.kind);
        if extra != 0 {
            self.flags |= Self::HOLDS_HEAD;
        }
        self.add_cycles(extra);
    }

    fn write_back(&mut self, op: &Op) {
        if op.is(Op::WRITEBACK) {
            self.flags |= Self::WRITEBACK;
            self.writes |= 1 << op.rn;
        }
    }
}

/// Whether an instruction that computes has the program counter among its operands.
fn reads_pc(op: &Op) -> bool {
    match op.kind {
        Kind::Adr => true,
        Kind::MovImm | Kind::MvnImm | Kind::Movt | Kind::Bfc => false,
        Kind::MovReg | Kind::MvnReg | Kind::Sxtb | Kind::Sxth | Kind::Uxtb | Kind::Uxth => {
            op.rm == 15
        }
        _ => op.rn == 15 || op.rm == 15,
    }
}

fn is_plain(op: &Op) -> bool {
    match op.kind {
        Kind::Sdiv | Kind::Udiv => false,
        Kind::Nop | Kind::LdrLit => true,
        Kind::LdrImm
        | Kind::LdrbImm
        | Kind::LdrhImm
        | Kind::LdrsbImm
        | Kind::LdrshImm
        | Kind::StrImm
        | Kind::StrbImm
        | Kind::StrhImm => op.rn != 15 && !op.is(Op::UNPRIVILEGED),
        Kind::LdrReg
        | Kind::LdrbReg
        | Kind::LdrhReg
        | Kind::LdrsbReg
        | Kind::LdrshReg
        | Kind::StrReg
        | Kind::StrbReg
        | Kind::StrhReg => op.rn != 15,
        kind => kind.computes() && !reads_pc(op),
    }
}

/// Whether a halfword has the bits of an IT instruction (ARM DDI 0403E.e, A7.7.38).
pub const fn looks_like_it(halfword: u16) -> bool {
    halfword >> 8 == 0xbf && halfword & 15 != 0
}
