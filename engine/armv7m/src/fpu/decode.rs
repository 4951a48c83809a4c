//! Encodings of the single-precision floating-point extension, FPv4-SP (ARM DDI 0403E.e, A6.4 to A6.7).
//!
//! In an [`Op`] of these `rd`, `rn` and `rm` are numbers of single-precision registers, but `rn` is a base in
//! loads and stores, and `rd` and `rn` are core registers in transfers; a double is the first of its two.

use crate::op::{Kind, Op};

/// Whether halfwords are in the space of coprocessors 10 and 11, which the extension has.
pub const fn is_float(hw1: u32, hw2: u32) -> bool {
    hw1 >> 10 & 0x3b == 0x3b && hw2 >> 9 & 7 == 5 && hw1 >> 8 & 15 != 15
}

/// Decode an instruction of which [`is_float`].
pub fn decode(hw1: u32, hw2: u32) -> Op {
    let found = match (hw1 >> 8 & 15, hw2 >> 4 & 1) {
        // 0xfe and 0xfc are instructions of later extensions.
        _ if hw1 >> 12 == 15 => None,
        (14, 0) => compute(hw1, hw2),
        (14, 1) => transfer(hw1, hw2),
        _ if hw1 & 0x1e0 == 0x040 => transfer_two(hw1, hw2),
        _ => memory(hw1, hw2),
    };
    found.unwrap_or(Op::of(Kind::VUndefined, 4))
}

/// A register's four bits and its fifth, which is the lowest of a single's number.
const fn single(four: u32, fifth: u32) -> u8 {
    ((four & 15) << 1 | fifth & 1) as u8
}

/// The first single of a double; there are 16 doubles.
fn double(four: u32, fifth: u32) -> Option<u8> {
    (fifth & 1 == 0).then_some(((four & 15) * 2) as u8)
}

fn of(kind: Kind, rd: u8, rn: u8, rm: u8) -> Op {
    Op {
        rd,
        rn,
        rm,
        ..Op::of(kind, 4)
    }
}

/// A6.4.
fn compute(hw1: u32, hw2: u32) -> Option<Op> {
    if hw2 & 0x100 != 0 {
        return None; // double precision
    }
    let rd = single(hw2 >> 12, hw1 >> 6);
    let rn = single(hw1, hw2 >> 7);
    let rm = single(hw2, hw2 >> 5);
    let second = hw2 & 0x40 != 0;
    let choose = |clear, set| if second { set } else { clear };
    let kind = match hw1 >> 4 & 0xb {
        0 => choose(Kind::Vmla, Kind::Vmls),
        1 => choose(Kind::Vnmls, Kind::Vnmla),
        2 => choose(Kind::Vmul, Kind::Vnmul),
        3 => choose(Kind::Vadd, Kind::Vsub),
        8 if !second => Kind::Vdiv,
        9 => choose(Kind::Vfnms, Kind::Vfnma),
        10 => choose(Kind::Vfma, Kind::Vfms),
        11 if !second => {
            let constant = expand(hw1 << 4 & 0xf0 | hw2 & 15);
            let stray = hw2 & 0xa0 != 0;
            let found = of(Kind::VmovImm, rd, 0, 0).imm(constant);
            return Some(found.set_if(stray, Op::UNPREDICTABLE));
        }
        11 => return other(hw1, hw2, rd, rm),
        _ => return None,
    };
    Some(of(kind, rd, rn, rm))
}

/// `VFPExpandImm`.
const fn expand(imm8: u32) -> u32 {
    let top = if imm8 & 0x40 == 0 { 0x80 } else { 0x7c };
    (imm8 >> 7) << 31 | (top | imm8 >> 4 & 3) << 23 | (imm8 & 15) << 19
}

/// Instructions of two operands: those with opc1 1x11 (A6.4, table A6-5).
fn other(hw1: u32, hw2: u32, rd: u8, rm: u8) -> Option<Op> {
    let top = hw2 & 0x80 != 0;
    let details = u32::from(top);
    Some(match hw1 & 15 {
        0 => of(if top { Kind::Vabs } else { Kind::Vmov }, rd, 0, rm),
        1 => of(if top { Kind::Vsqrt } else { Kind::Vneg }, rd, 0, rm),
        2 => of(Kind::VcvtFromHalf, rd, 0, rm).imm(details),
        3 => of(Kind::VcvtToHalf, rd, 0, rm).imm(details),
        4 => of(Kind::Vcmp, rd, 0, rm).imm(details),
        // With zero, for which no register is read.
        5 => of(Kind::VcmpZero, rd, 0, 0)
            .imm(details)
            .set_if(hw2 & 0x2f != 0, Op::UNPREDICTABLE),
        // The immediate says signed, and for the other way that the rounding is to zero.
        8 => of(Kind::VcvtFromInt, rd, 0, rm).imm(details),
        opc2 @ (12 | 13) => of(Kind::VcvtToInt, rd, 0, rm).imm(opc2 & 1 | details << 1),
        opc2 @ (10 | 11 | 14 | 15) => {
            // To fixed point and from it: signed, and 32 bits instead of 16.
            let size = if top { 32 } else { 16 };
            let fraction = size - (hw2 << 1 & 0x1e | hw2 >> 5 & 1).cast_signed();
            let kind = if opc2 & 4 == 0 {
                Kind::VcvtFromFixed
            } else {
                Kind::VcvtToFixed
            };
            let mut found = of(kind, rd, 0, rd).imm(u32::from(opc2 & 1 == 0) | details << 1);
            found.amount = fraction.max(0) as u8;
            found.set_if(fraction < 0, Op::UNPREDICTABLE)
        }
        _ => return None,
    })
}

/// A6.5: loads and stores.
fn memory(hw1: u32, hw2: u32) -> Option<Op> {
    let [pre, up, back, loads] = [8, 7, 5, 4].map(|bit| hw1 >> bit & 1 != 0);
    let (base, words) = (hw1 & 15, hw2 & 0xff);
    let doubles = hw2 & 0x100 != 0;
    let (four, fifth) = (hw2 >> 12, hw1 >> 6);
    let rd = if doubles {
        double(four, fifth)?
    } else {
        single(four, fifth)
    };
    let offset = if up {
        4 * words
    } else {
        (4 * words).wrapping_neg()
    };
    if pre && !back {
        let kind = if loads { Kind::Vldr } else { Kind::Vstr };
        let found = of(kind, rd, base as u8, 0).imm(offset);
        let found = found.set_if(!loads && base == 15, Op::UNPREDICTABLE);
        return Some(Op {
            amount: 1 + u8::from(doubles),
            ..found
        });
    }
    if pre == up {
        return None;
    }
    let kind = if loads { Kind::Vldm } else { Kind::Vstm };
    // An odd number of words of doubles is what a deprecated format takes.
    let odd = doubles && words & 1 != 0;
    let count = if odd { words - 1 } else { words };
    let fits = count != 0 && u32::from(rd) + count <= 32;
    let found = of(kind, rd, base as u8, 0)
        .imm(offset)
        .set_if(back, Op::WRITEBACK)
        .set_if(!up, Op::INDEX)
        .set_if(
            !fits || odd || (base == 15 && (back || !loads)),
            Op::UNPREDICTABLE,
        );
    Some(Op {
        amount: count.min(32 - u32::from(rd)) as u8,
        ..found
    })
}

/// A6.6: of one word, between the core and the extension.
fn transfer(hw1: u32, hw2: u32) -> Option<Op> {
    let rt = (hw2 >> 12 & 15) as u8;
    let to_core = hw1 & 0x10 != 0;
    let kind = if to_core {
        Kind::VmovToCore
    } else {
        Kind::VmovFromCore
    };
    let bad = rt == 13 || rt == 15;
    let stray = hw2 & 0xf != 0;
    let (what, is_word) = (hw1 >> 5 & 7, hw2 & 0x60 == 0);
    if hw2 & 0x100 != 0 {
        // Half of a double.
        let rm = double(hw1, hw2 >> 7)? + (what & 1) as u8;
        let found = of(kind, rt, 0, rm).set_if(bad || stray, Op::UNPREDICTABLE);
        return (what < 2 && is_word).then_some(found);
    }
    match what {
        0 => {
            let rm = single(hw1, hw2 >> 7);
            let stray = stray || !is_word;
            Some(of(kind, rt, 0, rm).set_if(bad || stray, Op::UNPREDICTABLE))
        }
        7 if hw1 & 15 == 1 => {
            let kind = if to_core { Kind::Vmrs } else { Kind::Vmsr };
            let bad = rt == 13 || (rt == 15 && !to_core);
            let stray = stray || !is_word || hw2 & 0x80 != 0;
            Some(of(kind, rt, 0, 0).set_if(bad || stray, Op::UNPREDICTABLE))
        }
        _ => None,
    }
}

/// A6.7: of two words.
fn transfer_two(hw1: u32, hw2: u32) -> Option<Op> {
    if hw2 & 0xd0 != 0x10 {
        return None;
    }
    let (rt, rt2) = ((hw2 >> 12 & 15) as u8, (hw1 & 15) as u8);
    let rm = if hw2 & 0x100 != 0 {
        double(hw2, hw2 >> 5)?
    } else {
        single(hw2, hw2 >> 5)
    };
    let to_core = hw1 & 0x10 != 0;
    let kind = if to_core {
        Kind::VmovTwoToCore
    } else {
        Kind::VmovTwoFromCore
    };
    let bad = |register: u8| register == 13 || register == 15;
    let alike = to_core && rt == rt2;
    let found = of(kind, rt, rt2, rm);
    Some(found.set_if(bad(rt) || bad(rt2) || alike || rm == 31, Op::UNPREDICTABLE))
}
