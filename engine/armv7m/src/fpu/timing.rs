//! How long instructions of the extension take (ARM DDI 0439B, table 7-1).
//!
//! Loads, stores and transfers of two words follow from their words. An arithmetic result is there a cycle
//! later for the instruction behind it, but not as the addend of a sum of products (the notes of that table).
//! VDIV and VSQRT take 14 cycles from the next instruction of the extension, and none from others
//! (the same notes; GCC's description of this pipeline, gcc/config/arm/cortex-m4-fpu.md, has it so too).

use crate::op::{Kind, Op};

/// Cycles after which VDIV and VSQRT let the next instruction of the extension come.
pub const DIVISION_CYCLES: u8 = 14;

/// Cycles in execute beside the first.
pub const fn extra_cycles(kind: Kind) -> u32 {
    match kind {
        Kind::Vmla
        | Kind::Vmls
        | Kind::Vnmla
        | Kind::Vnmls
        | Kind::Vfma
        | Kind::Vfms
        | Kind::Vfnma
        | Kind::Vfnms => 2,
        Kind::VmovTwoToCore | Kind::VmovTwoFromCore => 1,
        _ => 0,
    }
}

const fn is_arithmetic(kind: Kind) -> bool {
    (kind as u8) >= Kind::Vmla as u8 && (kind as u8) <= Kind::VcvtToHalf as u8
}

const fn accumulates(kind: Kind) -> bool {
    (kind as u8) >= Kind::Vmla as u8 && (kind as u8) <= Kind::Vfnms as u8
}

/// Whether the instruction behind has to wait a cycle for this one's result.
pub fn feeds(op: &Op, next: &Op) -> bool {
    if !is_arithmetic(op.kind) || !next.kind.is_float() {
        return false;
    }
    let among = |first: u8, count: u8| (first..first + count).contains(&op.rd);
    match next.kind {
        Kind::VmovImm
        | Kind::VmovFromCore
        | Kind::VmovTwoFromCore
        | Kind::Vmrs
        | Kind::Vmsr
        | Kind::Vldr
        | Kind::Vldm
        | Kind::VUndefined => false,
        Kind::Vstr | Kind::Vstm => among(next.rd, next.amount),
        Kind::VmovTwoToCore => among(next.rm, 2),
        Kind::VcmpZero => op.rd == next.rd,
        // Of VCVTB and VCVTT the other half of the register stays.
        Kind::Vcmp | Kind::VcvtToHalf => op.rd == next.rd || op.rd == next.rm,
        kind if accumulates(kind) || reads_two(kind) => op.rd == next.rn || op.rd == next.rm,
        _ => op.rd == next.rm,
    }
}

const fn reads_two(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Vmul | Kind::Vnmul | Kind::Vadd | Kind::Vsub | Kind::Vdiv
    )
}
