//! The synchronous serial interface: frames take the time of their bits.

use joulemark_kernel::{Cycles, Fault, FaultKind, Hertz};
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

/// An interface and what answers it.
struct Bus {
    ssi: Pl022,
    slave: fn(u8) -> Option<u8>,
    /// Bytes seen, and when.
    seen: Vec<(u8, u64)>,
}

impl Bus {
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        let (slave, seen) = (self.slave, &mut self.seen);
        self.ssi.advance(now, &mut |byte, at| {
            seen.push((byte, at.0));
            slave(byte)
        })
    }

    fn read(&mut self, offset: u32, now: Cycles) -> Option<u32> {
        self.advance(now).unwrap();
        self.ssi.read(offset, now)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        self.advance(now)?;
        self.ssi.write(offset, value, now)
    }
}

fn on(control: u32) -> Bus {
    let mut ssi = Bus {
        ssi: Pl022::default(),
        slave: |_| None,
        seen: Vec::new(),
    };
    for (offset, value) in [(CR0, 7 | 2 << 8), (CPSR, 4), (CR1, control)] {
        assert_eq!(ssi.write(offset, value, Cycles(0)), Ok(true));
    }
    ssi
}

#[test]
fn a_frame_takes_its_bits_and_reads_what_its_input_is_pulled_to() {
    let mut ssi = on(2);
    ssi.ssi.set_pull_up(true);
    assert_eq!(ssi.read(SR, Cycles(0)), Some(3), "empty");
    for byte in [0xab, 0xff] {
        ssi.write(DR, byte, Cycles(10)).unwrap();
    }
    assert_eq!(ssi.ssi.next_event(), Cycles(10 + FRAME));
    assert_eq!(ssi.read(SR, Cycles(9 + FRAME)), Some(1 << 4 | 2));
    assert_eq!(ssi.read(SR, Cycles(10 + FRAME)), Some(1 << 4 | 1 << 2 | 3));
    assert_eq!(ssi.read(SR, Cycles(10 + 2 * FRAME)), Some(1 << 2 | 3));
    assert_eq!(ssi.read(DR, Cycles(10 + 2 * FRAME)), Some(0xff));
    ssi.ssi.set_pull_up(false);
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
    ssi.advance(Cycles(4 * FRAME - 1)).unwrap();
    assert!(!ssi.ssi.is_pending());
    ssi.advance(Cycles(4 * FRAME)).unwrap();
    assert_eq!(ssi.read(MIS, Cycles(4 * FRAME)), Some(4));
    let late = Cycles(4 * FRAME + 32 * 12);
    assert_eq!(ssi.ssi.next_event(), late);
    assert_eq!(ssi.read(MIS, late), Some(6));
    ssi.write(ICR, 2, late).unwrap();
    for _ in 0..4 {
        ssi.read(DR, late);
    }
    assert!(!ssi.ssi.is_pending());
    // Nine unread frames: the last is lost.
    for frame in 0..9 {
        ssi.write(DR, 0, Cycles(10_000 + frame * FRAME)).unwrap();
    }
    assert_eq!(ssi.read(MIS, Cycles(10_000 + 9 * FRAME)), Some(5));
}

#[test]
fn what_is_lost_or_left_out_is_told() {
    let kind = |result: Result<bool, Fault>| result.unwrap_err().kind;
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

#[test]
fn a_slave_gets_each_byte_at_its_last_bit_and_drives_the_input() {
    let mut ssi = on(2);
    ssi.slave = |byte| Some(!byte);
    ssi.write(DR, 0xab, Cycles(10)).unwrap();
    assert_eq!(ssi.read(DR, Cycles(10 + FRAME)), Some(0x54));
    assert_eq!(ssi.seen, [(0xab, 10 + FRAME)]);
    // Sixteen bits are two bytes, the higher first; and the interface's clock may be slower.
    let mut ssi = on(2);
    ssi.slave = |byte| Some(!byte);
    ssi.write(CR0, 15 | 2 << 8 | 3 << 6, Cycles(0)).unwrap();
    ssi.ssi.set_clocks(Hertz(32_000_000), Hertz(16_000_000));
    ssi.write(DR, 0x1234, Cycles(0)).unwrap();
    assert_eq!(ssi.read(DR, Cycles(4 * FRAME)), Some(0xedcb));
    assert_eq!(ssi.seen, [(0x12, 2 * FRAME), (0x34, 4 * FRAME)]);
}

#[test]
fn a_slave_in_another_mode_is_left_out() {
    // SPI modes 1 and 2, TI's format, 9 bits.
    for control in [7 | 1 << 6, 7 | 1 << 7, 7 | 1 << 4, 8] {
        let mut ssi = on(2);
        ssi.write(CR0, control, Cycles(0)).unwrap();
        ssi.write(DR, 0xab, Cycles(0)).unwrap();
        assert_eq!(ssi.advance(Cycles(1000)), Ok(()), "nobody answers");
        ssi.slave = Some;
        ssi.write(DR, 0xab, Cycles(1000)).unwrap();
        let kind = ssi.advance(Cycles(2000)).unwrap_err().kind;
        assert_eq!(kind, FaultKind::Absent, "{control:#x}");
    }
}
