//! The DS2411 with a master whose delays resemble those of drivers.

use joulemark_devices::ds2411::{Ds2411, MODEL};
use joulemark_devices::{Device, Lines};
use joulemark_kernel::Picoseconds;

const WIRE: usize = 0;
const US: u64 = 1_000_000;

/// A master on the wire, which is low if either side pulls it.
struct Master {
    device: Ds2411,
    now: u64,
    is_low: bool,
    is_answer_low: bool,
}

impl Master {
    fn new() -> Self {
        let figures = MODEL.figures().expect("the model's file is right");
        let mut master = Self {
            device: Ds2411::new(&figures),
            now: 0,
            is_low: false,
            is_answer_low: true,
        };
        master.with(Device::power_up);
        assert!(master.level(), "the resistor");
        master
    }

    fn level(&self) -> bool {
        !self.is_low && !self.is_answer_low
    }

    fn with(&mut self, act: impl FnOnce(&mut Ds2411, &mut Lines)) {
        let before = self.level();
        let mut lines = Lines::new(Picoseconds(self.now));
        act(&mut self.device, &mut lines);
        for (_, high) in lines.driven {
            self.is_answer_low = !high;
        }
        self.tell(before);
    }

    fn tell(&mut self, before: bool) {
        let level = self.level();
        if level != before {
            self.with(|device, lines| device.pin_changed(WIRE, level, lines));
        }
    }

    fn pull(&mut self, down: bool) {
        let before = self.level();
        self.is_low = down;
        self.tell(before);
    }

    fn wait(&mut self, us: u64) {
        let end = self.now + us * US;
        while self.device.next_event().0 <= end {
            self.now = self.device.next_event().0;
            self.with(Device::advance);
        }
        self.now = end;
    }

    fn reset(&mut self) -> bool {
        self.pull(true);
        self.wait(500);
        self.pull(false);
        self.wait(70);
        let is_there = !self.level();
        self.wait(400);
        assert!(self.level(), "the presence pulse has ended");
        is_there
    }

    fn write(&mut self, byte: u8) {
        for bit in 0..8 {
            let low = if byte >> bit & 1 != 0 { 6 } else { 60 };
            self.pull(true);
            self.wait(low);
            self.pull(false);
            self.wait(70 - low);
        }
    }

    fn read(&mut self) -> u8 {
        let bit = |bit: u32| {
            self.pull(true);
            self.wait(6);
            self.pull(false);
            self.wait(9);
            let level = u8::from(self.level());
            self.wait(55);
            level << bit
        };
        (0..8).map(bit).sum()
    }
}

#[test]
fn its_number_is_read_and_its_check_byte_is_right() {
    let mut master = Master::new();
    for serial in [0, 0x1234_5678_9abc, 0xffff_ffff_ffff] {
        master.device.set_serial(serial);
        assert!(master.reset());
        master.write(0x33);
        let bytes: Vec<u8> = (0..8).map(|_| master.read()).collect();
        assert_eq!(bytes, master.device.number());
        assert_eq!(bytes[0], 1);
        assert_eq!(bytes[1..7], serial.to_le_bytes()[..6]);
        // The CRC over all bytes is zero.
        let mut rest = 0_u8;
        for bit in (0..64).map(|bit| bytes[bit / 8] >> (bit % 8) & 1) {
            let feedback = (rest & 1) ^ bit;
            rest = rest >> 1 ^ if feedback != 0 { 0x8c } else { 0 };
        }
        assert_eq!(rest, 0);
        // After the number, it is silent.
        assert_eq!(master.read(), 0xff);
    }
}

#[test]
fn it_answers_nothing_but_what_it_knows() {
    let mut master = Master::new();
    assert_eq!(master.read(), 0xff, "not before a reset");
    assert!(master.reset());
    master.write(0xf0);
    assert_eq!(master.read(), 0xff);
    assert!(master.reset());
    master.write(0x33);
    assert_eq!(master.read(), 1);
}
