//! Values that TI's start-up code waits for and reads back.

use joulemark_peripherals::{AlwaysOn, Cc26x0Aon};

const PWRSTAT: u32 = 0x4009_1014;
const AUXCTL: u32 = 0x4009_1010;
const AUX_PWROFFREQ: u32 = 0x400c_6004;
const DDI: u32 = 0x400c_a000;
const STAT0: u32 = DDI + 0x34;
const ADI3: u32 = 0x4008_6200;
const SEMAPHORE: u32 = 0x400c_8000;

fn aon() -> Cc26x0Aon {
    Cc26x0Aon::new(0x8b99_a02f, 0x1234)
}

#[test]
fn parts_of_registers_are_written_by_masks() {
    let mut aon = aon();
    let word = |aon: &mut Cc26x0Aon, address| aon.read(address).unwrap();
    // Register 11's low nibble by MASK4B, its high nibble by the byte after it; then by MASK8B.
    assert!(aon.write(ADI3 + 0x40 + 22, 0xf7, 1));
    assert!(aon.write(ADI3 + 0x40 + 23, 0x3f, 1));
    assert_eq!(word(&mut aon, ADI3 + 8), 0x3700_0000);
    assert!(aon.write(ADI3 + 0x60 + 22, 0x0f05, 2));
    assert_eq!(word(&mut aon, ADI3 + 8), 0x3500_0000);
    // The oscillators' registers have 32 bits: set, clear, and CTL1's upper half by MASK16B.
    assert!(aon.write(DDI + 0x40 + 4, 0x81, 4));
    assert!(aon.write(DDI + 0x80 + 4, 0x01, 4));
    assert!(aon.write(DDI + 0x200 + 2 * 4 + 4, 0x00ff_1234, 4));
    assert_eq!(word(&mut aon, DDI + 4), 0x0034_0080);
    assert!(!aon.write(DDI + 0x280, 1, 4));
}

#[test]
fn clocks_and_domains_follow_their_controls() {
    let mut aon = aon();
    aon.write(AUXCTL, 1, 4);
    aon.write(AUX_PWROFFREQ, 1, 4);
    assert_ne!(aon.read(PWRSTAT).unwrap() & 1 << 5, 0);
    aon.write(AUXCTL, 0, 4);
    assert_eq!(aon.read(PWRSTAT).unwrap() & 1 << 5, 0);
    // The crystals: SCLK_HF_SRC_SEL and SCLK_LF_SRC_SEL.
    assert_eq!(aon.read(STAT0).unwrap() >> 28, 0);
    aon.write(DDI, 0xd, 4);
    assert_eq!(aon.read(STAT0).unwrap() >> 28, 7);
    // A semaphore is taken by reading it.
    assert_eq!([0, 1].map(|_| aon.read(SEMAPHORE)), [Some(1), Some(0)]);
    aon.write(SEMAPHORE, 1, 4);
    assert_eq!(aon.read(SEMAPHORE), Some(1));
}

#[test]
fn the_device_tells_who_it_is() {
    let mut aon = aon();
    let words = [0x5000_12f0, 0x5000_12f4, 0x5000_1318].map(|address| aon.read(address));
    assert_eq!(words, [Some(0x1234), Some(0x0012_4b00), Some(0x8b99_a02f)]);
    // An undocumented address.
    assert_eq!(aon.read(0x5000_1340), None);
    assert_eq!(aon.read(0x5000_3fac), Some(u32::MAX));
    aon.set_customer(&[[0; 4], [4, 3, 2, 1]].concat());
    assert_eq!(aon.read(0x5000_3fac), Some(0x0102_0304));
}
