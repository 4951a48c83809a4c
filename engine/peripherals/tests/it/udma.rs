//! The micro DMA controller: transfers requested by software, between memory and registers.

use crate::memory::Memory;
use joulemark_kernel::{Cycles, Memories};
use joulemark_peripherals::Udma;

const RAM: u32 = 0x2000_0000;
const TABLE: u32 = RAM + 0x400;
const FIFO: u32 = 0x4008_8828;

struct Chip {
    udma: Udma,
    memory: Memory,
    fifo: Vec<u32>,
    now: Cycles,
}

impl Chip {
    fn new() -> Self {
        let mut chip = Self {
            udma: Udma::default(),
            memory: Memory {
                start: RAM,
                bytes: (0..0x1000_u32).map(|byte| byte as u8).collect(),
                is_flash: false,
            },
            fifo: Vec::new(),
            now: Cycles(100),
        };
        chip.memory.bytes[0x400..0x800].fill(0);
        assert!(chip.udma.write(4, 1) && chip.udma.write(8, TABLE));
        chip
    }

    fn structure(&mut self, channel: u32, from: u32, to: u32, control: u32) {
        let words = [from, to, control].map(u32::to_le_bytes).concat();
        assert!(self.memory.write(TABLE + 16 * channel, &words));
    }

    fn control(&self, channel: u32) -> u32 {
        let bytes = self.memory.read(TABLE + 16 * channel + 8, 4).unwrap();
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    /// Request a channel, handle the consequences, and return how long they take.
    fn request(&mut self, channel: u32) -> u64 {
        self.udma.write(0x14, 1 << channel);
        let began = self.now;
        while self.udma.next_event() != Cycles::NEVER {
            self.now = self.now.max(self.udma.next_event());
            let fifo = &mut self.fifo;
            let mut registers = |address: u32, value: Option<u32>| match (address, value) {
                (FIFO, Some(value)) => {
                    fifo.push(value);
                    Some(0)
                }
                (FIFO, None) => (!fifo.is_empty()).then(|| fifo.remove(0)),
                _ => None,
            };
            let done = self
                .udma
                .transfer(&mut self.memory, &mut registers, self.now);
            assert!(done.unwrap());
        }
        self.now.0 - began.0
    }
}

/// Control word for bytes in auto mode; source and destination increment or stay.
const fn auto(items: u32, from_stands: bool, to_stands: bool) -> u32 {
    let from = if from_stands { 3 } else { 0 };
    let to = if to_stands { 3 } else { 0 };
    to << 30 | from << 26 | (items - 1) << 4 | 2
}

#[test]
fn a_frame_goes_into_the_fifo_and_out_of_it() {
    let mut chip = Chip::new();
    chip.structure(0, RAM + 0x14, FIFO, auto(5, false, true));
    chip.udma.write(0x28, 1);
    let short = chip.request(0);
    assert_eq!(chip.fifo, [0x10, 0x11, 0x12, 0x13, 0x14]);
    // Stopped, nothing left, disabled, and reported.
    assert_eq!(chip.control(0) & 0x3ff7, 0);
    assert_eq!(chip.udma.read(0x28), Some(0));
    assert_eq!(chip.udma.read(0x504), Some(1));
    assert_eq!(chip.udma.interrupts(), [true, false]);
    chip.udma.write(0x504, u32::MAX);
    assert_eq!(chip.udma.interrupts(), [false, false]);
    chip.structure(1, FIFO, RAM + 0x904, auto(5, true, false));
    chip.udma.write(0x28, 2);
    assert_eq!(chip.request(1), short);
    assert_eq!(
        chip.memory.bytes[0x900..0x905],
        [0x10, 0x11, 0x12, 0x13, 0x14]
    );
    chip.structure(0, RAM + 0x23, FIFO, auto(20, false, true));
    chip.udma.write(0x28, 1);
    assert!(chip.request(0) > short);
}

#[test]
fn words_are_copied_in_memory() {
    let mut chip = Chip::new();
    let words = 2 << 30 | 2 << 28 | 2 << 26 | 2 << 24;
    chip.structure(7, RAM + 0x1c, RAM + 0xa1c, words | 7 << 4 | 2);
    chip.udma.write(0x28, 1 << 7);
    chip.request(7);
    assert_eq!(
        chip.memory.bytes[0xa00..0xa20],
        chip.memory.bytes[..0x20].to_vec()
    );
}

#[test]
fn basic_mode_transfers_as_much_as_arbitration_lets_pass() {
    let mut chip = Chip::new();
    // Four items at a time, of ten.
    chip.structure(3, RAM + 0x19, RAM + 0xb09, 2 << 14 | 9 << 4 | 1);
    chip.udma.write(0x28, 1 << 3);
    chip.request(3);
    assert_eq!(chip.memory.bytes[0xb00..0xb04], [0x10, 0x11, 0x12, 0x13]);
    assert_eq!(chip.control(3) >> 4 & 0x3ff, 5);
    chip.request(3);
    chip.request(3);
    assert_eq!(
        chip.memory.bytes[0xb00..0xb0a],
        chip.memory.bytes[0x10..0x1a].to_vec()
    );
    assert_eq!(chip.udma.read(0x28), Some(0));
}

#[test]
fn what_is_not_there_is_a_bus_error() {
    let mut chip = Chip::new();
    chip.structure(0, 0x10, FIFO, auto(1, false, true));
    chip.udma.write(0x28, 1);
    chip.request(0);
    assert_eq!(chip.udma.interrupts(), [false, true]);
    assert_eq!(chip.udma.read(0x28), Some(0));
    chip.udma.write(0x4c, 1);
    assert_eq!(chip.udma.interrupts(), [false, false]);
    // A disabled channel does nothing.
    chip.structure(2, RAM, FIFO, auto(1, false, true));
    assert_eq!(chip.request(2), 0);
    assert_eq!(chip.fifo, []);
}

#[test]
fn modes_that_are_left_out_are_named() {
    let mut chip = Chip::new();
    chip.structure(0, RAM, FIFO, auto(1, false, true) | 1);
    chip.udma.write(0x28, 1);
    chip.udma.write(0x14, 1);
    let done = chip
        .udma
        .transfer(&mut chip.memory, &mut |_, _| None, chip.now);
    assert!(done.unwrap_err().message.contains("mode 3"));
}
