//! Which bits of results are secret (RISC-V ISA manual volume I; the operations are those of
//! `compute.rs`).

use joulemark_kernel::secrets::Word;

use super::{ONE, ZERO};
use crate::compute::compute;
use crate::decode::{Kind, Op};

/// Turns numbers with a sign into others in the same order.
const SIGN: u32 = 1 << 31;

/// Whether it depends on a secret that a branch is taken.
pub(super) fn is_secret(op: Op, a: Word, b: Word) -> bool {
    if op.rs1 == op.rs2 {
        return false;
    }
    match op.kind {
        Kind::Beq | Kind::Bne => a.xor(b).zero_is_secret(),
        Kind::Blt | Kind::Bge => signed(a).is_less_secret(signed(b)),
        _ => a.is_less_secret(b),
    }
}

fn signed(word: Word) -> Word {
    Word::new(word.value ^ SIGN, word.secret)
}

/// The secret bits of a result of two operands, at least one of which has some. `is_itself`: they
/// are the same register. `imm`: of h3.bextm, its field.
pub(super) fn secret_of(kind: Kind, imm: i32, a: Word, b: Word, is_itself: bool) -> u32 {
    if is_itself {
        match kind {
            Kind::Sub
            | Kind::Xor
            | Kind::Xnor
            | Kind::Andn
            | Kind::Orn
            | Kind::Slt
            | Kind::Sltu => return 0,
            _ => {}
        }
    }
    let moved = || compute(kind, a.secret, b.secret);
    match kind {
        Kind::Add => a.add(b, ZERO, 32).sum.secret,
        Kind::Sub => a.add(b.not(), ONE, 32).sum.secret,
        Kind::Sh1add | Kind::Sh2add | Kind::Sh3add => {
            let up = match kind {
                Kind::Sh1add => 1,
                Kind::Sh2add => 2,
                _ => 3,
            };
            let a = Word::new(a.value << up, a.secret << up);
            a.add(b, ZERO, 32).sum.secret
        }
        Kind::Slt => u32::from(signed(a).is_less_secret(signed(b))),
        Kind::Sltu => u32::from(a.is_less_secret(b)),
        Kind::And => a.and(b).secret,
        Kind::Andn => a.and(b.not()).secret,
        Kind::Or => a.or(b).secret,
        Kind::Orn => a.or(b.not()).secret,
        Kind::Xor | Kind::Xnor => a.xor(b).secret,
        Kind::Max | Kind::Min => either(signed(a).is_less_secret(signed(b)), kind, a, b),
        Kind::Maxu | Kind::Minu => either(a.is_less_secret(b), kind, a, b),
        Kind::Clz => a.leading_zeros(),
        Kind::Ctz => Word::new(a.value.reverse_bits(), a.secret.reverse_bits()).leading_zeros(),
        Kind::Cpop => up_to_where_they_differ(a.least().count_ones(), a.most().count_ones()),
        Kind::OrcB => compute(kind, a.most(), 0) & !compute(kind, a.least(), 0),
        Kind::Rev8
        | Kind::SextB
        | Kind::SextH
        | Kind::ZextH
        | Kind::Pack
        | Kind::Packh
        | Kind::Brev8
        | Kind::Zip
        | Kind::Unzip => moved(),
        Kind::Sll
        | Kind::Srl
        | Kind::Sra
        | Kind::Rol
        | Kind::Ror
        | Kind::Bclr
        | Kind::Bset
        | Kind::Bext => by_amount(a, b, |value, amount| compute(kind, value, amount)),
        Kind::Binv => a.secret | by_amount(ZERO, b, |_, amount| 1 << (amount & 31)),
        Kind::Bextm => {
            let mask = (2_u32 << (imm >> 5)) - 1;
            by_amount(a, b, |value, amount| value.wrapping_shr(amount) & mask)
        }
        Kind::Mul => a.product(b, false) as u32,
        Kind::Mulhu => (a.product(b, false) >> 32) as u32,
        Kind::Mulh | Kind::Mulhsu => (a.product(b, true) >> 32) as u32,
        // All bits where the divisor may be zero (table 11 in "M" Extension).
        Kind::Divu if b.least() != 0 => below(a.most()),
        Kind::Remu if b.least() != 0 => below(a.most()) & below(b.most()),
        Kind::Remu => below(a.most()),
        _ => u32::MAX,
    }
}

/// The secret bits of what an atomic operation stores.
pub(super) fn secret_of_atomic(kind: Kind, memory: Word, operand: Word) -> u32 {
    let kind = match kind {
        Kind::AmoAdd => Kind::Add,
        Kind::AmoXor => Kind::Xor,
        Kind::AmoAnd => Kind::And,
        Kind::AmoOr => Kind::Or,
        Kind::AmoMin => Kind::Min,
        Kind::AmoMax => Kind::Max,
        Kind::AmoMinu => Kind::Minu,
        Kind::AmoMaxu => Kind::Maxu,
        _ => return operand.secret,
    };
    secret_of(kind, 0, memory, operand, false)
}

/// The larger or the smaller of two.
fn either(which_is_secret: bool, kind: Kind, a: Word, b: Word) -> u32 {
    if which_is_secret {
        a.secret | b.secret | (a.value ^ b.value)
    } else if compute(kind, a.value, b.value) == a.value {
        a.secret
    } else {
        b.secret
    }
}

/// An operation by which each bit of a result is a bit of the first operand, or what the amount alone
/// says, and never falls when a bit of the first operand rises. By a secret amount, each bit may be
/// any of several.
fn by_amount(a: Word, by: Word, of: impl Fn(u32, u32) -> u32) -> u32 {
    let (mut least, mut most) = (u32::MAX, 0);
    let choices = by.secret & 31;
    let mut choice = choices;
    loop {
        let amount = by.least() & 31 | choice;
        least &= of(a.least(), amount);
        most |= of(a.most(), amount);
        if choice == 0 {
            break;
        }
        choice = (choice - 1) & choices;
    }
    most & !least
}

/// All bits of numbers up to one.
const fn below(most: u32) -> u32 {
    match most {
        0 => 0,
        _ => u32::MAX >> most.leading_zeros(),
    }
}

/// Bits in which numbers from one to another differ.
const fn up_to_where_they_differ(least: u32, most: u32) -> u32 {
    below(least ^ most)
}
