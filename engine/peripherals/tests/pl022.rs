//! The synchronous serial interface: frames take the time of their bits, and no slave answers.

use joulemark_kernel::{Cycles, FaultKind};
use joulemark_peripherals::Pl022;

const CR0: u32 = 0x00;
const CR1: u32 = 0x04;
const DR: u32 = 0x08;
const SR: u32 = 0x0c;
const CPSR: u32 = 0x10;
const IMSC: u32 = 0x14;
const MIS: u32 = 0x1c;
const ICR: u32 = 0x20;

/// 8 bits of 4 cycles, times 3.
const FRAME: u64 = 8 * 4 * 3;

fn on(control: u32) -> Pl022 {
    let mut ssi = Pl022::default();
    for (offset, value) in [(CR0, 7 | 2 << 8), (CPSR, 4), (CR1, control)] {
        assert_eq!(ssi.write(offset, value, Cycles(0)), Ok(true));
    }
    ssi
}

#[test]
fn a_frame_takes_its_bits_and_reads_what_its_input_is_pulled_to() {
    let mut ssi = on(2);
    ssi.set_pull_up(true);
    assert_eq!(ssi.read(SR, Cycles(0)), Some(3), "empty");
    for byte in [0xab, 0xff] {
        ssi.write(DR, byte, Cycles(10)).unwrap();
    }
    assert_eq!(ssi.next_event(), Cycles(10 + FRAME));
    assert_eq!(ssi.read(SR, Cycles(9 + FRAME)), Some(1 << 4 | 2));
    assert_eq!(ssi.read(SR, Cycles(10 + FRAME)), Some(1 << 4 | 1 << 2 | 3));
    assert_eq!(ssi.read(SR, Cycles(10 + 2 * FRAME)), Some(1 << 2 | 3));
    assert_eq!(ssi.read(DR, Cycles(10 + 2 * FRAME)), Some(0xff));
    ssi.set_pull_up(false);
    let after = 10 + 3 * FRAME;
    ssi.read(DR, Cycles(after));
    ssi.write(DR, 0xff, Cycles(after)).unwrap();
    assert_eq!(ssi.read(DR, Cycles(after + FRAME)), Some(0));
    // Loopback returns what was sent.
    let mut ssi = on(3);
    ssi.write(DR, 0xab, Cycles(0)).unwrap();
    assert_eq!(ssi.read(DR, Cycles(FRAME)), Some(0xab));
}

#[test]
fn it_interrupts_when_fifos_are_half_and_when_what_came_waits() {
    let mut ssi = on(2);
    ssi.write(IMSC, 7, Cycles(0)).unwrap();
    for _ in 0..4 {
        ssi.write(DR, 0, Cycles(0)).unwrap();
    }
    ssi.advance(Cycles(4 * FRAME - 1));
    assert!(!ssi.is_pending());
    ssi.advance(Cycles(4 * FRAME));
    assert_eq!(ssi.read(MIS, Cycles(4 * FRAME)), Some(4));
    let late = Cycles(4 * FRAME + 32 * 12);
    assert_eq!(ssi.next_event(), late);
    assert_eq!(ssi.read(MIS, late), Some(6));
    ssi.write(ICR, 2, late).unwrap();
    for _ in 0..4 {
        ssi.read(DR, late);
    }
    assert!(!ssi.is_pending());
    // Nine unread frames: the last is lost.
    for frame in 0..9 {
        ssi.write(DR, 0, Cycles(10_000 + frame * FRAME)).unwrap();
    }
    assert_eq!(ssi.read(MIS, Cycles(10_000 + 9 * FRAME)), Some(5));
}

#[test]
fn what_is_lost_or_left_out_is_told() {
    let kind = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().kind;
    let mut ssi = on(0);
    for _ in 0..8 {
        ssi.write(DR, 0, Cycles(0)).unwrap();
    }
    assert_eq!(kind(ssi.write(DR, 0, Cycles(0))), FaultKind::Peripheral);
    assert_eq!(kind(ssi.write(CR1, 6, Cycles(0))), FaultKind::Absent);
    assert_eq!(kind(ssi.write(0x24, 1, Cycles(0))), FaultKind::Absent);
    assert_eq!(kind(ssi.write(CR0, 2, Cycles(0))), FaultKind::Peripheral);
    assert_eq!(ssi.write(0x28, 0, Cycles(0)), Ok(false));
}
