//! Values that TI's start-up code waits for and reads back.

use joulemark_peripherals::{AlwaysOn, AonBlock, Cc26x0Aon, Identity};

/// A block, and an offset in it.
type Place = (AonBlock, u32);

const PWRSTAT: Place = (AonBlock::WakeUp, 0x14);
const AUXCTL: Place = (AonBlock::WakeUp, 0x10);
const AUX_PWROFFREQ: Place = (AonBlock::AuxWakeUp, 4);
const CTL0: Place = (AonBlock::Oscillators, 0);
const STAT0: Place = (AonBlock::Oscillators, 0x34);
const ADI3: AonBlock = AonBlock::References(1);
const SEMAPHORE: Place = (AonBlock::Semaphores, 0);

fn read(aon: &mut Cc26x0Aon, (block, offset): Place) -> Option<u32> {
    aon.read(block, offset)
}

fn write(aon: &mut Cc26x0Aon, (block, offset): Place, value: u32) -> bool {
    aon.write(block, offset, value, 4)
}

fn aon() -> Cc26x0Aon {
    Cc26x0Aon::new(Identity {
        device_id: 0x8b99_a02f,
        user_id: 0x5678,
        number: 0x1234,
    })
}

#[test]
fn parts_of_registers_are_written_by_masks() {
    let mut aon = aon();
    let osc = AonBlock::Oscillators;
    // Register 11's low nibble by MASK4B, its high nibble by the byte after it; then by MASK8B.
    assert!(aon.write(ADI3, 0x40 + 22, 0xf7, 1));
    assert!(aon.write(ADI3, 0x40 + 23, 0x3f, 1));
    assert_eq!(aon.read(ADI3, 8), Some(0x3700_0000));
    assert!(aon.write(ADI3, 0x60 + 22, 0x0f05, 2));
    assert_eq!(aon.read(ADI3, 8), Some(0x3500_0000));
    // The oscillators' registers have 32 bits: set, clear, and CTL1's upper half by MASK16B.
    assert!(aon.write(osc, 0x40 + 4, 0x81, 4));
    assert!(aon.write(osc, 0x80 + 4, 0x01, 4));
    assert!(aon.write(osc, 0x200 + 2 * 4 + 4, 0x00ff_1234, 4));
    assert_eq!(aon.read(osc, 4), Some(0x0034_0080));
    assert!(!aon.write(osc, 0x280, 1, 4));
}

#[test]
fn clocks_and_domains_follow_their_controls() {
    let mut aon = aon();
    write(&mut aon, AUXCTL, 1);
    write(&mut aon, AUX_PWROFFREQ, 1);
    assert_ne!(read(&mut aon, PWRSTAT).unwrap() & 1 << 5, 0);
    write(&mut aon, AUXCTL, 0);
    assert_eq!(read(&mut aon, PWRSTAT).unwrap() & 1 << 5, 0);
    // The crystals: SCLK_HF_SRC_SEL and SCLK_LF_SRC_SEL.
    assert_eq!(read(&mut aon, STAT0).unwrap() >> 28, 0);
    write(&mut aon, CTL0, 0xd);
    assert_eq!(read(&mut aon, STAT0).unwrap() >> 28, 7);
    // A semaphore is taken by reading it.
    assert_eq!(
        [0, 1].map(|_| read(&mut aon, SEMAPHORE)),
        [Some(1), Some(0)]
    );
    write(&mut aon, SEMAPHORE, 1);
    assert_eq!(read(&mut aon, SEMAPHORE), Some(1));
}

#[test]
fn the_device_tells_who_it_is() {
    let mut aon = aon();
    let words = [0x2f0, 0x2f4, 0x318, 0x294].map(|offset| aon.read(AonBlock::Factory, offset));
    assert_eq!(
        words,
        [
            Some(0x1234),
            Some(0x0012_4b00),
            Some(0x8b99_a02f),
            Some(0x5678)
        ]
    );
    // An undocumented address.
    assert_eq!(aon.read(AonBlock::Factory, 0x340), None);
    assert_eq!(aon.read(AonBlock::Customer, 0xfac), Some(u32::MAX));
    aon.set_customer(&[[0; 4], [4, 3, 2, 1]].concat());
    assert_eq!(aon.read(AonBlock::Customer, 0xfac), Some(0x0102_0304));
}
