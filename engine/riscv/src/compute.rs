//! Results of instructions on registers.

use crate::decode::Kind;

/// `rd` of an instruction on two operands; 0 for one that is none.
#[allow(clippy::inline_always)] // it is most of the loops that it is in
#[inline(always)]
pub(crate) fn compute(kind: Kind, a: u32, b: u32) -> u32 {
    match kind {
        Kind::Add => a.wrapping_add(b),
        Kind::Sub => a.wrapping_sub(b),
        Kind::Slt => u32::from((a as i32) < b as i32),
        Kind::Sltu => u32::from(a < b),
        Kind::Xor => a ^ b,
        Kind::Or => a | b,
        Kind::And => a & b,
        Kind::Sll => a.wrapping_shl(b),
        Kind::Srl => a.wrapping_shr(b),
        Kind::Sra => (a as i32).wrapping_shr(b) as u32,
        Kind::Sh1add => (a << 1).wrapping_add(b),
        Kind::Sh2add => (a << 2).wrapping_add(b),
        Kind::Sh3add => (a << 3).wrapping_add(b),
        Kind::Andn => a & !b,
        Kind::Orn => a | !b,
        Kind::Xnor => !(a ^ b),
        Kind::Clz => a.leading_zeros(),
        Kind::Ctz => a.trailing_zeros(),
        Kind::Cpop => a.count_ones(),
        Kind::Max => (a as i32).max(b as i32) as u32,
        Kind::Maxu => a.max(b),
        Kind::Min => (a as i32).min(b as i32) as u32,
        Kind::Minu => a.min(b),
        Kind::OrcB => {
            u32::from_le_bytes(a.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 255 }))
        }
        Kind::Rev8 => a.swap_bytes(),
        Kind::Rol => a.rotate_left(b & 31),
        Kind::Ror => a.rotate_right(b & 31),
        Kind::SextB => a as i8 as u32,
        Kind::SextH => a as i16 as u32,
        Kind::ZextH => a & 0xffff,
        Kind::Bclr => a & !1_u32.wrapping_shl(b),
        Kind::Bset => a | 1_u32.wrapping_shl(b),
        Kind::Binv => a ^ 1_u32.wrapping_shl(b),
        Kind::Bext => a.wrapping_shr(b) & 1,
        Kind::Pack => a & 0xffff | b << 16,
        Kind::Packh => a & 0xff | (b & 0xff) << 8,
        Kind::Brev8 => a.reverse_bits().swap_bytes(),
        Kind::Zip => spread(a & 0xffff) | spread(a >> 16) << 1,
        Kind::Unzip => gather(a) | gather(a >> 1) << 16,
        Kind::Mul => a.wrapping_mul(b),
        Kind::Mulh => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
        Kind::Mulhsu => ((i64::from(a as i32) * i64::from(b)) >> 32) as u32,
        Kind::Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        Kind::Div if b == 0 => u32::MAX,
        Kind::Div => (a as i32).wrapping_div(b as i32) as u32,
        Kind::Divu => a.checked_div(b).unwrap_or(u32::MAX),
        Kind::Rem if b == 0 => a,
        Kind::Rem => (a as i32).wrapping_rem(b as i32) as u32,
        Kind::Remu => a.checked_rem(b).unwrap_or(a),
        _ => 0,
    }
}

/// What an atomic operation stores, from memory's value and `rs2`.
pub(crate) fn atomic(kind: Kind, memory: u32, operand: u32) -> u32 {
    let kind = match kind {
        Kind::AmoAdd => Kind::Add,
        Kind::AmoXor => Kind::Xor,
        Kind::AmoAnd => Kind::And,
        Kind::AmoOr => Kind::Or,
        Kind::AmoMin => Kind::Min,
        Kind::AmoMax => Kind::Max,
        Kind::AmoMinu => Kind::Minu,
        Kind::AmoMaxu => Kind::Maxu,
        _ => return operand,
    };
    compute(kind, memory, operand)
}

/// Whether a branch is taken.
#[allow(clippy::inline_always)] // as above
#[inline(always)]
pub(crate) fn is_taken(kind: Kind, a: u32, b: u32) -> bool {
    match kind {
        Kind::Beq => a == b,
        Kind::Bne => a != b,
        Kind::Blt => (a as i32) < b as i32,
        Kind::Bge => (a as i32) >= b as i32,
        Kind::Bltu => a < b,
        _ => a >= b,
    }
}

/// Bits 0 to 15 to the even places.
fn spread(value: u32) -> u32 {
    (0..16).fold(0, |bits, bit| bits | (value >> bit & 1) << (2 * bit))
}

/// The even places' bits together.
fn gather(value: u32) -> u32 {
    (0..16).fold(0, |bits, bit| bits | (value >> (2 * bit) & 1) << bit)
}
