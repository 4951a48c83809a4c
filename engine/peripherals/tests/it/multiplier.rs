//! The multiplier against plain integers, over random sequences of operations.

use joulemark_kernel::Cycles;
use joulemark_peripherals::Multiplier;
use proptest::prelude::*;

const OP2: u16 = 0x0138;
const RESLO: u16 = 0x013a;
const RESHI: u16 = 0x013c;
const SUMEXT: u16 = 0x013e;

/// One multiplication: the address of the first operand selects the operation.
fn operation() -> impl Strategy<Value = (u16, u16, u16)> {
    let operand = prop_oneof![
        any::<u16>(),
        Just(0),
        Just(1),
        Just(0x7fff),
        Just(0x8000),
        Just(0xffff)
    ];
    (
        prop_oneof![Just(0x0130), Just(0x0132), Just(0x0134), Just(0x0136)],
        operand.clone(),
        operand,
    )
}

proptest! {
    #[test]
    fn every_mode_agrees_with_integers(
        start in any::<u32>(),
        operations in proptest::collection::vec(operation(), 1..20),
    ) {
        let mut multiplier = Multiplier::default();
        let mut now = Cycles(0);
        multiplier.write(RESLO, start as u16, now);
        multiplier.write(RESHI, (start >> 16) as u16, now);
        let mut sum = start;
        for (address, a, b) in operations {
            now += Cycles(10);
            multiplier.write(address, a, now);
            multiplier.write(OP2, b, now);
            let (a, b) = (i64::from(a), i64::from(b));
            let (signed_a, signed_b) = (i64::from(a as u16 as i16), i64::from(b as u16 as i16));
            let (exact, signed) = match address {
                0x0130 => (a * b, false),
                0x0132 => (signed_a * signed_b, true),
                0x0134 => (i64::from(sum) + a * b, false),
                _ => (i64::from(sum as i32) + signed_a * signed_b, true),
            };
            sum = exact as u32;
            // SLAU049F, table 7-3.
            let extension = match (address, signed) {
                (0x0130, _) => 0,
                (_, true) => if (sum as i32) < 0 { 0xffff } else { 0 },
                (_, false) => (exact >> 32) as u16,
            };
            prop_assert!(multiplier.read(RESLO, now + Cycles(2)).is_err());
            let read = |register| multiplier.read(register, now + Cycles(3)).expect("it is ready");
            prop_assert_eq!(read(RESLO), sum as u16);
            prop_assert_eq!(read(RESHI), (sum >> 16) as u16);
            prop_assert_eq!(read(SUMEXT), extension);
        }
    }
}
