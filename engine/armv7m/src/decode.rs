//! Instruction decoding: halfwords to compact operations.
//!
//! Encodings: *ARMv7-M Architecture Reference Manual* (ARM DDI 0403E.e), chapter A5; each group
//! names its section.

use crate::op::{Kind, Op, is_wide};
use crate::timing::Timing;
use crate::{dsp, fpu};

const fn sign_extend(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

/// Extensions of the instruction set that a core has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    pub dsp: bool,
    pub float: bool,
}

impl From<Timing> for Extensions {
    fn from(timing: Timing) -> Self {
        Self {
            dsp: timing.cortex_m4,
            float: timing.float,
        }
    }
}

/// Decode one instruction; `second` is used only where the first halfword [`is_wide`].
pub fn decode(first: u16, second: u16, extensions: Extensions) -> Op {
    if !is_wide(first) {
        return decode_narrow(u32::from(first));
    }
    let (first, second) = (u32::from(first), u32::from(second));
    if extensions.float && fpu::is_float(first, second) {
        return fpu::decode(first, second);
    }
    let op = decode_wide(first, second);
    let more = (extensions.dsp && op.kind == Kind::Undefined).then(|| dsp::decode(first, second));
    more.flatten().unwrap_or(op)
}

/// 16-bit instructions (A5.2).
fn decode_narrow(hw: u32) -> Op {
    let low = |shift: u32| (hw >> shift) & 7;
    let op = |kind| Op::of(kind, 2);
    match hw >> 12 {
        // Shift, add, subtract, move and compare with immediates (A5.2.1).
        0 | 1 => match (hw >> 11) & 3 {
            3 => {
                let kind = match (hw >> 9) & 3 {
                    0 => Kind::AddReg,
                    1 => Kind::SubReg,
                    2 => Kind::AddImm,
                    _ => Kind::SubImm,
                };
                op(kind)
                    .rd(low(0))
                    .rn(low(3))
                    .rm(low(6))
                    .imm(low(6))
                    .set(Op::S_OUTSIDE_IT)
            }
            kind => {
                let amount = (hw >> 6) & 31;
                let move_only = kind == 0 && amount == 0;
                op(Kind::MovReg)
                    .rd(low(0))
                    .rm(low(3))
                    .shifted(kind, amount)
                    .set(if move_only { Op::S } else { Op::S_OUTSIDE_IT })
            }
        },
        2 | 3 => {
            let (kind, flags) = match (hw >> 11) & 3 {
                0 => (Kind::MovImm, Op::S_OUTSIDE_IT),
                1 => (Kind::CmpImm, Op::S),
                2 => (Kind::AddImm, Op::S_OUTSIDE_IT),
                _ => (Kind::SubImm, Op::S_OUTSIDE_IT),
            };
            op(kind).rd(low(8)).rn(low(8)).imm(hw & 255).set(flags)
        }
        4 if hw & 0x0c00 == 0 => data_processing_narrow(hw),
        4 if hw & 0x0c00 == 0x0400 => special_data_narrow(hw),
        4 => op(Kind::LdrLit)
            .rd(low(8))
            .rn(15)
            .imm((hw & 255) << 2)
            .set(Op::INDEX),
        5 => {
            let kind = match (hw >> 9) & 7 {
                0 => Kind::StrReg,
                1 => Kind::StrhReg,
                2 => Kind::StrbReg,
                3 => Kind::LdrsbReg,
                4 => Kind::LdrReg,
                5 => Kind::LdrhReg,
                6 => Kind::LdrbReg,
                _ => Kind::LdrshReg,
            };
            op(kind).rd(low(0)).rn(low(3)).rm(low(6)).set(Op::INDEX)
        }
        6..=8 => {
            let offset = (hw >> 6) & 31;
            let (kind, imm) = match (hw >> 11) & 31 {
                0b01100 => (Kind::StrImm, offset << 2),
                0b01101 => (Kind::LdrImm, offset << 2),
                0b01110 => (Kind::StrbImm, offset),
                0b01111 => (Kind::LdrbImm, offset),
                0b10000 => (Kind::StrhImm, offset << 1),
                _ => (Kind::LdrhImm, offset << 1),
            };
            op(kind).rd(low(0)).rn(low(3)).imm(imm).set(Op::INDEX)
        }
        9 => {
            let kind = if hw & 0x800 == 0 {
                Kind::StrImm
            } else {
                Kind::LdrImm
            };
            op(kind)
                .rd(low(8))
                .rn(13)
                .imm((hw & 255) << 2)
                .set(Op::INDEX)
        }
        10 => {
            let kind = if hw & 0x800 == 0 {
                Kind::Adr
            } else {
                Kind::AddImm
            };
            op(kind).rd(low(8)).rn(13).imm((hw & 255) << 2)
        }
        11 => miscellaneous_narrow(hw),
        12 => {
            let base = low(8);
            let list = hw & 255;
            let load = hw & 0x800 != 0;
            let writes_back = !load || list & (1 << base) == 0;
            op(if load { Kind::Ldmia } else { Kind::Stmia })
                .rn(base)
                .imm(list)
                .set_if(writes_back, Op::WRITEBACK)
                .set_if(list == 0, Op::UNPREDICTABLE)
        }
        13 => match (hw >> 8) & 15 {
            14 => op(Kind::Undefined).imm(hw & 255),
            15 => op(Kind::Svc).imm(hw & 255),
            condition => op(Kind::Bcond)
                .ra(condition)
                .imm(sign_extend((hw & 255) << 1, 9)),
        },
        _ => op(Kind::B).imm(sign_extend((hw & 0x7ff) << 1, 12)),
    }
}

/// A5.2.2.
fn data_processing_narrow(hw: u32) -> Op {
    let (rdn, rm) = (hw & 7, (hw >> 3) & 7);
    let (kind, flags) = match (hw >> 6) & 15 {
        0 => (Kind::AndReg, Op::S_OUTSIDE_IT),
        1 => (Kind::EorReg, Op::S_OUTSIDE_IT),
        shift @ (2 | 3 | 4 | 7) => {
            let mut op = Op::of(Kind::ShiftReg, 2)
                .rd(rdn)
                .rn(rdn)
                .rm(rm)
                .set(Op::S_OUTSIDE_IT);
            op.shift = if shift == 7 { 3 } else { (shift - 2) as u8 };
            return op;
        }
        5 => (Kind::AdcReg, Op::S_OUTSIDE_IT),
        6 => (Kind::SbcReg, Op::S_OUTSIDE_IT),
        8 => (Kind::TstReg, Op::S),
        9 => {
            return Op::of(Kind::RsbImm, 2).rd(rdn).rn(rm).set(Op::S_OUTSIDE_IT);
        }
        10 => (Kind::CmpReg, Op::S),
        11 => (Kind::CmnReg, Op::S),
        12 => (Kind::OrrReg, Op::S_OUTSIDE_IT),
        13 => {
            return Op::of(Kind::Mul, 2)
                .rd(rdn)
                .rn(rm)
                .rm(rdn)
                .set(Op::S_OUTSIDE_IT);
        }
        14 => (Kind::BicReg, Op::S_OUTSIDE_IT),
        _ => (Kind::MvnReg, Op::S_OUTSIDE_IT),
    };
    Op::of(kind, 2).rd(rdn).rn(rdn).rm(rm).set(flags)
}

/// A5.2.3.
fn special_data_narrow(hw: u32) -> Op {
    let rm = (hw >> 3) & 15;
    let rdn = (hw & 7) | ((hw >> 4) & 8);
    match (hw >> 8) & 3 {
        0 => Op::of(Kind::AddReg, 2)
            .rd(rdn)
            .rn(rdn)
            .rm(rm)
            .set_if(rdn == 15 && rm == 15, Op::UNPREDICTABLE),
        1 => Op::of(Kind::CmpReg, 2).rn(rdn).rm(rm).set(Op::S).set_if(
            (rdn < 8 && rm < 8) || rdn == 15 || rm == 15,
            Op::UNPREDICTABLE,
        ),
        2 => Op::of(Kind::MovReg, 2).rd(rdn).rm(rm),
        _ => {
            let link = hw & 0x80 != 0;
            Op::of(if link { Kind::Blx } else { Kind::Bx }, 2)
                .rm(rm)
                .set_if(hw & 7 != 0 || (link && rm == 15), Op::UNPREDICTABLE)
        }
    }
}

/// A5.2.5 and A5.2.6.
fn miscellaneous_narrow(hw: u32) -> Op {
    let op = |kind| Op::of(kind, 2);
    match (hw >> 8) & 15 {
        0 => op(if hw & 0x80 == 0 {
            Kind::AddImm
        } else {
            Kind::SubImm
        })
        .rd(13)
        .rn(13)
        .imm((hw & 0x7f) << 2),
        1 | 3 | 9 | 11 => op(if hw & 0x800 == 0 {
            Kind::Cbz
        } else {
            Kind::Cbnz
        })
        .rn(hw & 7)
        .imm(((hw >> 2) & 0x3e) | ((hw >> 3) & 0x40)),
        2 => {
            let kind = match (hw >> 6) & 3 {
                0 => Kind::Sxth,
                1 => Kind::Sxtb,
                2 => Kind::Uxth,
                _ => Kind::Uxtb,
            };
            op(kind).rd(hw & 7).rm((hw >> 3) & 7)
        }
        4 | 5 => {
            let list = (hw & 255) | ((hw & 0x100) << 6);
            op(Kind::Stmdb)
                .rn(13)
                .imm(list)
                .set(Op::WRITEBACK)
                .set_if(list == 0, Op::UNPREDICTABLE)
        }
        6 if hw & 0xe0 == 0x60 => op(Kind::Cps)
            .imm(hw & 3)
            .ra((hw >> 4) & 1)
            .set_if(hw & 0xc != 0 || hw.is_multiple_of(4), Op::UNPREDICTABLE),
        10 => {
            let kind = match (hw >> 6) & 3 {
                0 => Kind::Rev,
                1 => Kind::Rev16,
                3 => Kind::Revsh,
                _ => return op(Kind::Undefined),
            };
            op(kind).rd(hw & 7).rm((hw >> 3) & 7)
        }
        12 | 13 => {
            let list = (hw & 255) | ((hw & 0x100) << 7);
            op(Kind::Ldmia)
                .rn(13)
                .imm(list)
                .set(Op::WRITEBACK)
                .set_if(list == 0, Op::UNPREDICTABLE)
        }
        14 => op(Kind::Bkpt).imm(hw & 255),
        15 if hw & 15 != 0 => {
            let condition = (hw >> 4) & 15;
            let always = condition == 14 && (hw & 15).count_ones() != 1;
            op(Kind::It)
                .imm(hw & 255)
                .set_if(condition == 15 || always, Op::UNPREDICTABLE)
        }
        15 => op(match (hw >> 4) & 15 {
            2 => Kind::Wfe,
            3 => Kind::Wfi,
            4 => Kind::Sev,
            _ => Kind::Nop,
        }),
        _ => op(Kind::Undefined),
    }
}

/// 32-bit instructions (A5.3).
fn decode_wide(hw1: u32, hw2: u32) -> Op {
    match (hw1 >> 11) & 3 {
        1 => match (hw1 >> 9) & 3 {
            0 if hw1 & 0x40 == 0 => load_store_multiple(hw1, hw2),
            0 => dual_exclusive_table(hw1, hw2),
            1 => data_processing_register(hw1, hw2),
            _ => Op::of(Kind::Coprocessor, 4),
        },
        2 if hw2 & 0x8000 != 0 => branch_and_control(hw1, hw2),
        2 if hw1 & 0x200 == 0 => data_processing_modified(hw1, hw2),
        2 => data_processing_plain(hw1, hw2),
        _ => match (hw1 >> 8) & 7 {
            0 | 1 => load_store_single(hw1, hw2),
            2 => data_processing_shift_extend(hw1, hw2),
            3 if hw1 & 0x80 == 0 => multiply(hw1, hw2),
            3 => multiply_long(hw1, hw2),
            _ => Op::of(Kind::Coprocessor, 4),
        },
    }
}

/// A5.3.5.
fn load_store_multiple(hw1: u32, hw2: u32) -> Op {
    let load = hw1 & 0x10 != 0;
    let rn = hw1 & 15;
    let writeback = hw1 & 0x20 != 0;
    let kind = match ((hw1 >> 7) & 3, load) {
        (1, true) => Kind::Ldmia,
        (1, false) => Kind::Stmia,
        (2, true) => Kind::Ldmdb,
        (2, false) => Kind::Stmdb,
        _ => return Op::of(Kind::Undefined, 4),
    };
    let forbidden = if load { 0x2000 } else { 0xa000 };
    let unpredictable = rn == 15
        || hw2 & forbidden != 0
        || hw2.count_ones() < 2
        || (load && hw2 & 0xc000 == 0xc000)
        || (writeback && hw2 & (1 << rn) != 0);
    Op::of(kind, 4)
        .rn(rn)
        .imm(hw2 & !forbidden)
        .set_if(writeback, Op::WRITEBACK)
        .set_if(unpredictable, Op::UNPREDICTABLE)
}

/// A5.3.6.
fn dual_exclusive_table(hw1: u32, hw2: u32) -> Op {
    let rn = hw1 & 15;
    let (rt, rt2) = ((hw2 >> 12) & 15, (hw2 >> 8) & 15);
    let load = hw1 & 0x10 != 0;
    let bad = |r: u32| r == 13 || r == 15;
    if hw1 & 0x120 == 0 {
        // Exclusive, and table branches.
        if hw1 & 0x80 == 0 {
            let op = Op::of(if load { Kind::Ldrex } else { Kind::Strex }, 4)
                .rd(rt)
                .rn(rn)
                .ra(rt2)
                .imm((hw2 & 255) << 2);
            return if load {
                op.set_if(bad(rt) || rn == 15 || rt2 != 15, Op::UNPREDICTABLE)
            } else {
                op.set_if(
                    bad(rt) || bad(rt2) || rn == 15 || rt2 == rn || rt2 == rt,
                    Op::UNPREDICTABLE,
                )
            };
        }
        let rd = hw2 & 15;
        return match ((hw2 >> 4) & 15, load) {
            (0 | 1, true) => Op::of(
                if hw2 & 0x10 == 0 {
                    Kind::Tbb
                } else {
                    Kind::Tbh
                },
                4,
            )
            .rn(rn)
            .rm(rd)
            .set_if(
                rn == 13 || bad(rd) || hw2 & 0xff00 != 0xf000,
                Op::UNPREDICTABLE,
            ),
            (size @ (4 | 5), true) => Op::of(
                if size == 4 {
                    Kind::Ldrexb
                } else {
                    Kind::Ldrexh
                },
                4,
            )
            .rd(rt)
            .rn(rn)
            .set_if(
                bad(rt) || rn == 15 || rd != 15 || rt2 != 15,
                Op::UNPREDICTABLE,
            ),
            (size @ (4 | 5), false) => Op::of(
                if size == 4 {
                    Kind::Strexb
                } else {
                    Kind::Strexh
                },
                4,
            )
            .rd(rt)
            .rn(rn)
            .ra(rd)
            .set_if(
                bad(rt) || bad(rd) || rn == 15 || rd == rn || rd == rt || rt2 != 15,
                Op::UNPREDICTABLE,
            ),
            _ => Op::of(Kind::Undefined, 4),
        };
    }
    let writeback = hw1 & 0x20 != 0;
    let offset = (hw2 & 255) << 2;
    let offset = if hw1 & 0x80 == 0 {
        offset.wrapping_neg()
    } else {
        offset
    };
    let kind = match (load, rn == 15) {
        (true, true) => Kind::LdrdLit,
        (true, false) => Kind::Ldrd,
        _ => Kind::Strd,
    };
    let unpredictable = bad(rt)
        || bad(rt2)
        || (load && rt == rt2)
        || (writeback && (rn == rt || rn == rt2))
        || (rn == 15 && (writeback || !load));
    Op::of(kind, 4)
        .rd(rt)
        .ra(rt2)
        .rn(rn)
        .imm(offset)
        .set_if(hw1 & 0x100 != 0, Op::INDEX)
        .set_if(writeback, Op::WRITEBACK)
        .set_if(unpredictable, Op::UNPREDICTABLE)
}

/// A5.3.11.
fn data_processing_register(hw1: u32, hw2: u32) -> Op {
    let s = hw1 & 0x10 != 0;
    let (rn, rd, rm) = (hw1 & 15, (hw2 >> 8) & 15, hw2 & 15);
    let compare = rd == 15 && s;
    let bad = |r: u32| r == 13 || r == 15;
    let kind = match (hw1 >> 5) & 15 {
        0 if compare => Kind::TstReg,
        0 => Kind::AndReg,
        1 => Kind::BicReg,
        2 if rn == 15 => Kind::MovReg,
        2 => Kind::OrrReg,
        3 if rn == 15 => Kind::MvnReg,
        3 => Kind::OrnReg,
        4 if compare => Kind::TeqReg,
        4 => Kind::EorReg,
        8 if compare => Kind::CmnReg,
        8 => Kind::AddReg,
        10 => Kind::AdcReg,
        11 => Kind::SbcReg,
        13 if compare => Kind::CmpReg,
        13 => Kind::SubReg,
        14 => Kind::RsbReg,
        _ => return Op::of(Kind::Undefined, 4),
    };
    let (shift, amount) = ((hw2 >> 4) & 3, ((hw2 >> 10) & 0x1c) | ((hw2 >> 6) & 3));
    let plain_move = kind == Kind::MovReg && shift == 0 && amount == 0;
    let stack_add = matches!(
        kind,
        Kind::AddReg | Kind::SubReg | Kind::CmnReg | Kind::CmpReg
    );
    let unpredictable = hw2 & 0x8000 != 0
        || if plain_move {
            // MOV (register) T3: SP may be moved from or to, without flags.
            rd == 15 || rm == 15 || (s && bad(rd)) || (s && bad(rm)) || (rd == 13 && rm == 13)
        } else {
            let rd_bad = !matches!(
                kind,
                Kind::TstReg | Kind::TeqReg | Kind::CmnReg | Kind::CmpReg
            ) && (rd == 15
                || (rd == 13 && !(stack_add && rn == 13 && shift == 0 && amount < 4)));
            let rn_bad = !matches!(kind, Kind::MovReg | Kind::MvnReg)
                && (rn == 15 || (rn == 13 && !stack_add));
            rd_bad || rn_bad || bad(rm)
        };
    Op::of(kind, 4)
        .rd(rd)
        .rn(rn)
        .rm(rm)
        .shifted(shift, amount)
        .set_if(s, Op::S)
        .set_if(unpredictable, Op::UNPREDICTABLE)
}

/// A5.3.1; the constant is expanded as in A5.3.2.
fn data_processing_modified(hw1: u32, hw2: u32) -> Op {
    let s = hw1 & 0x10 != 0;
    let (rn, rd) = (hw1 & 15, (hw2 >> 8) & 15);
    let compare = rd == 15 && s;
    let bad = |r: u32| r == 13 || r == 15;
    let kind = match (hw1 >> 5) & 15 {
        0 if compare => Kind::TstImm,
        0 => Kind::AndImm,
        1 => Kind::BicImm,
        2 if rn == 15 => Kind::MovImm,
        2 => Kind::OrrImm,
        3 if rn == 15 => Kind::MvnImm,
        3 => Kind::OrnImm,
        4 if compare => Kind::TeqImm,
        4 => Kind::EorImm,
        8 if compare => Kind::CmnImm,
        8 => Kind::AddImm,
        10 => Kind::AdcImm,
        11 => Kind::SbcImm,
        13 if compare => Kind::CmpImm,
        13 => Kind::SubImm,
        14 => Kind::RsbImm,
        _ => return Op::of(Kind::Undefined, 4),
    };
    let imm12 = ((hw1 & 0x400) << 1) | ((hw2 >> 4) & 0x700) | (hw2 & 255);
    let byte = imm12 & 255;
    let (imm, carry) = match imm12 >> 8 {
        0 => (byte, None),
        1 => (byte << 16 | byte, None),
        2 => (byte << 24 | byte << 8, None),
        3 => (byte << 24 | byte << 16 | byte << 8 | byte, None),
        _ => {
            let value = (0x80 | (imm12 & 0x7f)).rotate_right(imm12 >> 7);
            (value, Some(value >> 31 != 0))
        }
    };
    let stack_add = matches!(
        kind,
        Kind::AddImm | Kind::SubImm | Kind::CmnImm | Kind::CmpImm
    );
    let is_compare = matches!(
        kind,
        Kind::TstImm | Kind::TeqImm | Kind::CmnImm | Kind::CmpImm
    );
    let unpredictable = (!is_compare && (rd == 15 || (rd == 13 && !(stack_add && rn == 13))))
        || (!matches!(kind, Kind::MovImm | Kind::MvnImm) && (rn == 15 || (rn == 13 && !stack_add)))
        || (matches!(imm12 >> 8, 1..=3) && byte == 0)
        || (matches!(kind, Kind::MovImm | Kind::MvnImm) && bad(rd));
    Op::of(kind, 4)
        .rd(rd)
        .rn(rn)
        .imm(imm)
        .set_if(s, Op::S)
        .set_if(carry.is_some(), Op::SETS_CARRY)
        .set_if(carry == Some(true), Op::CARRY)
        .set_if(unpredictable, Op::UNPREDICTABLE)
}

/// A5.3.3.
fn data_processing_plain(hw1: u32, hw2: u32) -> Op {
    let (rn, rd) = (hw1 & 15, (hw2 >> 8) & 15);
    let imm12 = ((hw1 & 0x400) << 1) | ((hw2 >> 4) & 0x700) | (hw2 & 255);
    let imm16 = (rn << 12) | imm12;
    let lsb = ((hw2 >> 10) & 0x1c) | ((hw2 >> 6) & 3);
    let field = hw2 & 31;
    let bad = |r: u32| r == 13 || r == 15;
    let stray = hw2 & 0x20 != 0 || hw1 & 0x400 != 0;
    match (hw1 >> 4) & 31 {
        kind @ (0 | 10) => {
            let subtract = kind == 10;
            if rn == 15 {
                let offset = if subtract {
                    imm12.wrapping_neg()
                } else {
                    imm12
                };
                return Op::of(Kind::Adr, 4)
                    .rd(rd)
                    .imm(offset)
                    .set_if(bad(rd), Op::UNPREDICTABLE);
            }
            Op::of(if subtract { Kind::SubImm } else { Kind::AddImm }, 4)
                .rd(rd)
                .rn(rn)
                .imm(imm12)
                .set_if(rd == 15 || (rd == 13 && rn != 13), Op::UNPREDICTABLE)
        }
        4 => Op::of(Kind::MovImm, 4)
            .rd(rd)
            .imm(imm16)
            .set_if(bad(rd), Op::UNPREDICTABLE),
        12 => Op::of(Kind::Movt, 4)
            .rd(rd)
            .imm(imm16)
            .set_if(bad(rd), Op::UNPREDICTABLE),
        saturate @ (16 | 18 | 24 | 26) => {
            // The shift of 0 with ASR is the packed form, which needs the DSP extension.
            let arithmetic = saturate & 2 != 0;
            if arithmetic && lsb == 0 {
                return Op::of(Kind::Undefined, 4);
            }
            let signed = saturate < 20;
            let mut op = Op::of(if signed { Kind::Ssat } else { Kind::Usat }, 4)
                .rd(rd)
                .rn(rn)
                .imm(if signed { field + 1 } else { field })
                .set_if(bad(rd) || bad(rn) || stray, Op::UNPREDICTABLE);
            op.shift = if arithmetic { 2 } else { 0 };
            op.amount = lsb as u8;
            op
        }
        extract @ (20 | 28) => {
            let mut op = Op::of(
                if extract == 20 {
                    Kind::Sbfx
                } else {
                    Kind::Ubfx
                },
                4,
            )
            .rd(rd)
            .rn(rn)
            .imm(lsb)
            .set_if(
                bad(rd) || bad(rn) || lsb + field > 31 || stray,
                Op::UNPREDICTABLE,
            );
            op.amount = (field + 1).min(32 - lsb) as u8;
            op
        }
        22 => {
            let mut op = Op::of(if rn == 15 { Kind::Bfc } else { Kind::Bfi }, 4)
                .rd(rd)
                .rn(rn)
                .imm(lsb)
                .set_if(
                    bad(rd) || rn == 13 || field < lsb || stray,
                    Op::UNPREDICTABLE,
                );
            op.amount = (field + 1).saturating_sub(lsb) as u8;
            op
        }
        _ => Op::of(Kind::Undefined, 4),
    }
}

/// A5.3.4.
fn branch_and_control(hw1: u32, hw2: u32) -> Op {
    let s = (hw1 >> 10) & 1;
    let (j1, j2) = ((hw2 >> 13) & 1, (hw2 >> 11) & 1);
    if hw2 & 0x1000 != 0 {
        let (i1, i2) = (1 ^ (j1 ^ s), 1 ^ (j2 ^ s));
        let offset = s << 24 | i1 << 23 | i2 << 22 | (hw1 & 0x3ff) << 12 | (hw2 & 0x7ff) << 1;
        let link = hw2 & 0x4000 != 0;
        return Op::of(if link { Kind::Bl } else { Kind::B }, 4).imm(sign_extend(offset, 25));
    }
    if hw2 & 0x4000 != 0 {
        return Op::of(Kind::Undefined, 4); // BLX to ARM state.
    }
    if (hw1 >> 7) & 7 != 7 {
        let offset = s << 20 | j2 << 19 | j1 << 18 | (hw1 & 0x3f) << 12 | (hw2 & 0x7ff) << 1;
        return Op::of(Kind::Bcond, 4)
            .ra((hw1 >> 6) & 15)
            .imm(sign_extend(offset, 21));
    }
    let bad = |r: u32| r == 13 || r == 15;
    match (hw1 >> 4) & 0x7f {
        0x38 | 0x39 => {
            let mask = (hw2 >> 10) & 3;
            let rn = hw1 & 15;
            Op::of(Kind::Msr, 4).rn(rn).ra(mask).imm(hw2 & 255).set_if(
                bad(rn)
                    || hw2 & 0x3300 != 0
                    || hw1 & 0x10 != 0
                    || special_register_unpredictable(hw2 & 255)
                    || mask == 0
                    || (mask != 2 && hw2 & 255 > 3)
                    || mask & 1 != 0,
                Op::UNPREDICTABLE,
            )
        }
        0x3a => {
            // Hints.
            if (hw2 >> 8) & 7 != 0 {
                return Op::of(Kind::Undefined, 4);
            }
            let kind = match hw2 & 255 {
                2 => Kind::Wfe,
                3 => Kind::Wfi,
                4 => Kind::Sev,
                _ => Kind::Nop,
            };
            Op::of(kind, 4).set_if(hw1 & 15 != 15 || hw2 & 0x2800 != 0, Op::UNPREDICTABLE)
        }
        0x3b => {
            let kind = match (hw2 >> 4) & 15 {
                2 => Kind::Clrex,
                4 => Kind::Dsb,
                5 => Kind::Dmb,
                6 => Kind::Isb,
                _ => return Op::of(Kind::Undefined, 4),
            };
            Op::of(kind, 4).set_if(
                hw1 & 15 != 15 || hw2 & 0x2f00 != 0x0f00 || (kind == Kind::Clrex && hw2 & 15 != 15),
                Op::UNPREDICTABLE,
            )
        }
        0x3e | 0x3f => {
            let rd = (hw2 >> 8) & 15;
            Op::of(Kind::Mrs, 4).rd(rd).imm(hw2 & 255).set_if(
                bad(rd)
                    || hw1 & 0x1f != 15
                    || hw2 & 0x2000 != 0
                    || special_register_unpredictable(hw2 & 255),
                Op::UNPREDICTABLE,
            )
        }
        _ => Op::of(Kind::Undefined, 4), // UDF.W and what is left.
    }
}

/// B5.1.1: the registers that MRS and MSR know.
const fn special_register_unpredictable(number: u32) -> bool {
    !matches!(number, 0..=3 | 5..=9 | 16..=20)
}

/// A5.3.7 to A5.3.10.
fn load_store_single(hw1: u32, hw2: u32) -> Op {
    let (rn, rt) = (hw1 & 15, (hw2 >> 12) & 15);
    let load = hw1 & 0x10 != 0;
    let signed = hw1 & 0x100 != 0;
    let size = (hw1 >> 5) & 3;
    if size == 3 || (signed && !load) || (signed && size == 2) {
        return Op::of(Kind::Undefined, 4);
    }
    let bad = |r: u32| r == 13 || r == 15;
    let kinds: [Kind; 3] = match (load, signed, size) {
        (false, _, 0) => [Kind::StrbImm, Kind::StrbReg, Kind::Undefined],
        (false, _, 1) => [Kind::StrhImm, Kind::StrhReg, Kind::Undefined],
        (false, ..) => [Kind::StrImm, Kind::StrReg, Kind::Undefined],
        (true, false, 0) => [Kind::LdrbImm, Kind::LdrbReg, Kind::LdrbLit],
        (true, false, 1) => [Kind::LdrhImm, Kind::LdrhReg, Kind::LdrhLit],
        (true, false, _) => [Kind::LdrImm, Kind::LdrReg, Kind::LdrLit],
        (true, true, 0) => [Kind::LdrsbImm, Kind::LdrsbReg, Kind::LdrsbLit],
        (true, true, _) => [Kind::LdrshImm, Kind::LdrshReg, Kind::LdrshLit],
    };
    // Loads of bytes and halfwords to register 15 are preload hints: no operation here.
    let hint = load && rt == 15 && size != 2;
    let rt_bad = if size == 2 {
        rt == 15 && !load
    } else {
        rt == 13 || (!load && rt == 15)
    };
    if rn == 15 {
        if !load {
            return Op::of(Kind::Undefined, 4);
        }
        if hint {
            return Op::of(Kind::Nop, 4);
        }
        let offset = hw2 & 0xfff;
        let offset = if hw1 & 0x80 == 0 {
            offset.wrapping_neg()
        } else {
            offset
        };
        return Op::of(kinds[2], 4)
            .rd(rt)
            .rn(15)
            .imm(offset)
            .set(Op::INDEX)
            .set_if(rt_bad, Op::UNPREDICTABLE);
    }
    if hw1 & 0x80 != 0 {
        if hint {
            return Op::of(Kind::Nop, 4);
        }
        return Op::of(kinds[0], 4)
            .rd(rt)
            .rn(rn)
            .imm(hw2 & 0xfff)
            .set(Op::INDEX)
            .set_if(rt_bad, Op::UNPREDICTABLE);
    }
    if hw2 & 0x800 == 0 {
        if hw2 & 0x7c0 != 0 {
            return Op::of(Kind::Undefined, 4);
        }
        let rm = hw2 & 15;
        if hint {
            return Op::of(Kind::Nop, 4).set_if(bad(rm), Op::UNPREDICTABLE);
        }
        return Op::of(kinds[1], 4)
            .rd(rt)
            .rn(rn)
            .rm(rm)
            .shifted(0, (hw2 >> 4) & 3)
            .set(Op::INDEX)
            .set_if(rt_bad || bad(rm), Op::UNPREDICTABLE);
    }
    let (index, up, writeback) = (hw2 & 0x400 != 0, hw2 & 0x200 != 0, hw2 & 0x100 != 0);
    if !index && !writeback {
        return Op::of(Kind::Undefined, 4);
    }
    if hint && index && !up && !writeback {
        return Op::of(Kind::Nop, 4);
    }
    let unprivileged = index && up && !writeback;
    let offset = hw2 & 255;
    let offset = if up { offset } else { offset.wrapping_neg() };
    let unpredictable = rt_bad || hint || (writeback && rn == rt) || (unprivileged && bad(rt));
    Op::of(kinds[0], 4)
        .rd(rt)
        .rn(rn)
        .imm(offset)
        .set_if(index, Op::INDEX)
        .set_if(writeback, Op::WRITEBACK)
        .set_if(unprivileged, Op::UNPRIVILEGED)
        .set_if(unpredictable, Op::UNPREDICTABLE)
}

/// A5.3.12 to A5.3.15.
fn data_processing_shift_extend(hw1: u32, hw2: u32) -> Op {
    let (rn, rd, rm) = (hw1 & 15, (hw2 >> 8) & 15, hw2 & 15);
    let bad = |r: u32| r == 13 || r == 15;
    if hw2 & 0xf000 != 0xf000 {
        return Op::of(Kind::Undefined, 4);
    }
    let group = (hw1 >> 4) & 15;
    if hw2 & 0x80 == 0 {
        if group > 7 || hw2 & 0x70 != 0 {
            return Op::of(Kind::Undefined, 4);
        }
        let mut op = Op::of(Kind::ShiftReg, 4)
            .rd(rd)
            .rn(rn)
            .rm(rm)
            .set_if(group & 1 != 0, Op::S)
            .set_if(bad(rd) || bad(rn) || bad(rm), Op::UNPREDICTABLE);
        op.shift = (group >> 1) as u8;
        return op;
    }
    if group < 8 {
        let kind = match group {
            0 if rn == 15 => Kind::Sxth,
            1 if rn == 15 => Kind::Uxth,
            4 if rn == 15 => Kind::Sxtb,
            5 if rn == 15 => Kind::Uxtb,
            _ => return Op::of(Kind::Undefined, 4),
        };
        let mut op = Op::of(kind, 4)
            .rd(rd)
            .rm(rm)
            .set_if(bad(rd) || bad(rm) || hw2 & 0x40 != 0, Op::UNPREDICTABLE);
        op.amount = (((hw2 >> 4) & 3) * 8) as u8;
        return op;
    }
    let kind = match (group & 7, (hw2 >> 4) & 7) {
        (1, 0) => Kind::Rev,
        (1, 1) => Kind::Rev16,
        (1, 2) => Kind::Rbit,
        (1, 3) => Kind::Revsh,
        (3, 0) => Kind::Clz,
        _ => return Op::of(Kind::Undefined, 4),
    };
    Op::of(kind, 4)
        .rd(rd)
        .rm(rm)
        .set_if(bad(rd) || bad(rm) || rn != rm, Op::UNPREDICTABLE)
}

/// A5.3.16.
fn multiply(hw1: u32, hw2: u32) -> Op {
    let (rn, ra, rd, rm) = (hw1 & 15, (hw2 >> 12) & 15, (hw2 >> 8) & 15, hw2 & 15);
    let bad = |r: u32| r == 13 || r == 15;
    let kind = match ((hw1 >> 4) & 7, (hw2 >> 4) & 15) {
        (0, 0) if ra == 15 => Kind::Mul,
        (0, 0) => Kind::Mla,
        (0, 1) => Kind::Mls,
        _ => return Op::of(Kind::Undefined, 4),
    };
    Op::of(kind, 4).rd(rd).rn(rn).rm(rm).ra(ra).set_if(
        bad(rd) || bad(rn) || bad(rm) || (kind != Kind::Mul && bad(ra)),
        Op::UNPREDICTABLE,
    )
}

/// A5.3.17.
fn multiply_long(hw1: u32, hw2: u32) -> Op {
    let (rn, low, high, rm) = (hw1 & 15, (hw2 >> 12) & 15, (hw2 >> 8) & 15, hw2 & 15);
    let bad = |r: u32| r == 13 || r == 15;
    let (kind, divide) = match ((hw1 >> 4) & 7, (hw2 >> 4) & 15) {
        (0, 0) => (Kind::Smull, false),
        (1, 15) => (Kind::Sdiv, true),
        (2, 0) => (Kind::Umull, false),
        (3, 15) => (Kind::Udiv, true),
        (4, 0) => (Kind::Smlal, false),
        (6, 0) => (Kind::Umlal, false),
        _ => return Op::of(Kind::Undefined, 4),
    };
    if divide {
        return Op::of(kind, 4).rd(high).rn(rn).rm(rm).set_if(
            bad(high) || bad(rn) || bad(rm) || low != 15,
            Op::UNPREDICTABLE,
        );
    }
    Op::of(kind, 4).rd(low).ra(high).rn(rn).rm(rm).set_if(
        bad(low) || bad(high) || bad(rn) || bad(rm) || low == high,
        Op::UNPREDICTABLE,
    )
}
