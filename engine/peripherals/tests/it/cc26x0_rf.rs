//! The RF core of `CC26x0` chips through its doorbell: commands and their errors, chains, frames in
//! and out, and invalid structures.

use crate::ieee802154::{Sent, US, arrive, take_sent, with_crc};
use joulemark_kernel::{FaultKind, Memories, Picoseconds};
use joulemark_peripherals::Cc26x0Rf;
use joulemark_radio::{Arrival, Figures, Radio, oqpsk_2450::PHY};
use proptest::prelude::*;

const FIGURES: Figures = Figures {
    phy: &PHY,
    sensitivity_dbm: -100.0,
    capture_db: 3.0,
    turnaround: Picoseconds(192 * US),
};

// Registers.
const PWMCLKEN: u32 = 0x0000;
const CMDR: u32 = 0x1000;
const CMDSTA: u32 = 0x1004;
const RFHWIFG: u32 = 0x1008;
const RFHWIEN: u32 = 0x100c;
const RFCPEIFG: u32 = 0x1010;
const RFCPEIEN: u32 = 0x1014;
const RFCPEISL: u32 = 0x1018;
const RFACKIFG: u32 = 0x101c;
const RATCNT: u32 = 0x3004;
// Interrupts.
const COMMAND_DONE: u32 = 1;
const LAST_COMMAND_DONE: u32 = 1 << 1;
const FG_COMMAND_DONE: u32 = 1 << 2;
const LAST_FG_COMMAND_DONE: u32 = 1 << 3;
const TX_DONE: u32 = 1 << 4;
const TX_ACK: u32 = 1 << 5;
const RX_OK: u32 = 1 << 16;
const RX_NOK: u32 = 1 << 17;
const RX_IGNORED: u32 = 1 << 18;
const RX_BUF_FULL: u32 = 1 << 22;
const RX_ENTRY_DONE: u32 = 1 << 23;
const BOOT_DONE: u32 = 1 << 30;
// Commands.
const CMD_NOP: u16 = 0x0801;
const CMD_RADIO_SETUP: u16 = 0x0802;
const CMD_FS: u16 = 0x0803;
const CMD_FS_POWERDOWN: u16 = 0x080d;
const CMD_SYNC_STOP_RAT: u16 = 0x0809;
const CMD_SYNC_START_RAT: u16 = 0x080a;
const CMD_COUNT: u16 = 0x080b;
const CMD_SCH_IMM: u16 = 0x0810;
const CMD_IEEE_RX: u16 = 0x2801;
const CMD_IEEE_ED_SCAN: u16 = 0x2802;
const CMD_IEEE_TX: u16 = 0x2c01;
const CMD_IEEE_CSMA: u16 = 0x2c02;
const CMD_IEEE_RX_ACK: u16 = 0x2c03;
const CMD_IEEE_ABORT_BG: u16 = 0x2c04;
const CMD_ABORT: u32 = 0x0401;
const CMD_STOP: u32 = 0x0402;
const CMD_GET_RSSI: u32 = 0x0403;
const CMD_TRIGGER: u32 = 0x0404;
const CMD_START_RAT: u32 = 0x0405;
const CMD_PING: u32 = 0x0406;
const CMD_IEEE_ABORT_FG: u32 = 0x2401;
// Condition rules.
const ALWAYS: u8 = 0;
const NEVER: u8 = 1;
const STOP_ON_FALSE: u8 = 2;

/// RAM: structures, and the data that they point to.
const RAM: u32 = 0x2000_0000;
const SETUP: u32 = RAM;
const RX: u32 = RAM + 0x100;
const TX: u32 = RAM + 0x200;
const OTHER: u32 = RAM + 0x280;
const THIRD: u32 = RAM + 0x2c0;
const QUEUE: u32 = RAM + 0x300;
const OUTPUT: u32 = RAM + 0x320;
const SOURCES: u32 = RAM + 0x340;
const PAYLOAD: u32 = RAM + 0x400;
const ENTRIES: u32 = RAM + 0x500;
const ENTRY: u32 = 0xa0;
const SIZE: usize = 0x1000;
/// Read-only memory.
const ROM: u32 = 0x1000_0000;

const PAN: u16 = 0xabcd;
const OWN: u16 = 0x1234;
const EXTENDED: u64 = 0xa7a6_a5a4_a3a2_a1a0;

struct Memory(Vec<u8>);

impl Memories for Memory {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        if address >= ROM && u64::from(address) + u64::from(length) <= u64::from(ROM) + 0x100 {
            return Some(vec![0; length as usize]);
        }
        let at = address.checked_sub(RAM)? as usize;
        self.0.get(at..at + length as usize).map(<[u8]>::to_vec)
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        let Some(at) = address.checked_sub(RAM) else {
            return false;
        };
        let place = self.0.get_mut(at as usize..at as usize + data.len());
        place.map(|place| place.copy_from_slice(data)).is_some()
    }
}

struct Chip {
    rf: Cc26x0Rf,
    memory: Memory,
    now: u64,
    rtc: u64,
    sent: Vec<Sent>,
}

impl Chip {
    /// A booted RF core.
    fn new() -> Self {
        let mut chip = Self::off();
        chip.rf.set_power(true, Picoseconds(chip.now));
        chip.set(PWMCLKEN, 0x7ff);
        chip.set(RFCPEIFG, 0);
        chip
    }

    fn off() -> Self {
        let mut rf = Cc26x0Rf::new(FIGURES);
        rf.antenna().attach();
        Self {
            rf,
            memory: Memory(vec![0; SIZE]),
            now: 1000 * US,
            rtc: 0,
            sent: Vec::new(),
        }
    }

    /// In IEEE mode, with the timer running.
    fn set_up() -> Self {
        let mut chip = Self::new();
        assert_eq!(chip.direct(CMD_START_RAT, 0), 1);
        chip.operation(SETUP, CMD_RADIO_SETUP, NEVER, 0);
        chip.put(SETUP + 14, &[1]);
        chip.put(SETUP + 18, &0x3161_u16.to_le_bytes());
        assert_eq!(chip.command(SETUP), 1);
        assert_eq!(chip.status(SETUP), 0x0400);
        chip.set(RFCPEIFG, 0);
        chip
    }

    /// With a listening receiver: filter, acknowledgments, four entries in a ring.
    fn receiving() -> Self {
        Self::receiving_with(|_| {})
    }

    fn receiving_with(change: impl FnOnce(&mut Self)) -> Self {
        let mut chip = Self::set_up();
        chip.operation(RX, CMD_IEEE_RX, NEVER, 0);
        chip.put(RX + 14, &[11, 0xb9]); // channel; all but the PHY header and source index
        chip.put(RX + 16, &QUEUE.to_le_bytes());
        chip.put(RX + 20, &OUTPUT.to_le_bytes());
        chip.put(RX + 24, &0x0207_u16.to_le_bytes()); // filter, stop, acknowledge; version 2
        chip.put(RX + 26, &[0x0f, 0x05, 0xc4]); // types; CCA by power and delimiter; -60 dBm
        chip.put(RX + 40, &EXTENDED.to_le_bytes());
        chip.put(RX + 48, &OWN.to_le_bytes());
        chip.put(RX + 50, &PAN.to_le_bytes());
        chip.put(RX + 55, &[1]);
        for number in 0..4 {
            let entry = ENTRIES + ENTRY * number;
            let next = ENTRIES + ENTRY * ((number + 1) % 4);
            chip.put(entry, &next.to_le_bytes());
            chip.put(entry + 4, &[0, 1 << 2, (ENTRY - 8) as u8, 0]);
        }
        chip.put(QUEUE, &ENTRIES.to_le_bytes());
        change(&mut chip);
        assert_eq!(chip.command(RX), 1);
        chip.run(200);
        chip
    }

    fn run_to(&mut self, time: u64) {
        while self.rf.next_event().0 <= time {
            if self.rf.needs_memory() {
                self.rf.transfer(&mut self.memory, self.rtc).unwrap();
                continue;
            }
            let at = self.rf.next_event();
            self.rf.advance(at);
            assert!(
                self.rf.needs_memory() || self.rf.next_event() > at,
                "it does not get on"
            );
        }
        self.now = time;
        take_sent(self.rf.antenna(), &mut self.sent);
    }

    fn run(&mut self, us: u64) {
        self.run_to(self.now + us * US);
    }

    fn set(&mut self, register: u32, value: u32) {
        let now = Picoseconds(self.now);
        assert!(self.rf.write(register, value, now).unwrap());
    }

    fn get(&mut self, register: u32) -> u32 {
        let now = Picoseconds(self.now);
        self.rf.read(register, now).unwrap().unwrap()
    }

    fn put(&mut self, address: u32, bytes: &[u8]) {
        assert!(self.memory.write(address, bytes));
    }

    fn half(&self, address: u32) -> u16 {
        let bytes = self.memory.read(address, 2).unwrap();
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    fn word(&self, address: u32) -> u32 {
        u32::from(self.half(address)) | u32::from(self.half(address + 2)) << 16
    }

    fn status(&self, address: u32) -> u16 {
        self.half(address + 2)
    }

    /// Write a value to CMDR, and return CMDSTA.
    fn command(&mut self, value: u32) -> u32 {
        self.set(CMDR, value);
        assert_eq!((self.get(CMDR), self.get(CMDSTA)), (value, 0), "pending");
        self.run_to(self.now);
        assert_eq!((self.get(CMDR), self.get(RFACKIFG)), (0, 1));
        self.set(RFACKIFG, 0);
        self.get(CMDSTA)
    }

    fn direct(&mut self, number: u32, parameter: u32) -> u32 {
        self.command(number << 16 | parameter << 8 | 1)
    }

    /// Write the structure of an operation that starts at once.
    fn operation(&mut self, address: u32, number: u16, rule: u8, next: u32) {
        self.put(address, &[0; 32]);
        self.put(address, &number.to_le_bytes());
        self.put(address + 4, &next.to_le_bytes());
        self.put(address + 13, &[rule]);
    }

    fn transmission(&mut self, frame: &[u8]) {
        self.operation(TX, CMD_IEEE_TX, NEVER, 0);
        self.put(TX + 15, &[frame.len() as u8]);
        self.put(TX + 16, &PAYLOAD.to_le_bytes());
        self.put(PAYLOAD, frame);
    }

    /// Let a frame arrive, given its bytes with the length; it begins in 10 us.
    fn arrive(&mut self, bytes: &[u8], power_dbm: f64) -> Arrival {
        arrive(self.rf.antenna(), self.now, bytes, power_dbm)
    }

    /// Let a frame arrive, and run to its end.
    fn hear(&mut self, bytes: &[u8]) -> u64 {
        let end = self.arrive(bytes, -60.0).end.0;
        self.run_to(end);
        end
    }

    /// Take a finished entry's element, and free the entry.
    fn take(&mut self, number: u32) -> Option<Vec<u8>> {
        let entry = ENTRIES + ENTRY * number;
        let status = self.memory.read(entry + 4, 1).unwrap()[0];
        if status != 3 {
            return None;
        }
        self.put(entry + 4, &[0]);
        let length = self.memory.read(entry + 8, 1).unwrap()[0];
        self.memory.read(entry + 9, length.into())
    }
}

fn data(to: u16, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x61, 0x88, sequence];
    frame.extend(PAN.to_le_bytes());
    frame.extend(to.to_le_bytes());
    frame.extend([0x01, 0x00]);
    frame.extend(payload);
    frame
}

// ---- Doorbell and boot.

#[test]
fn without_power_it_cannot_be_touched() {
    let mut chip = Chip::off();
    assert_eq!(chip.rf.state(), "off");
    let now = Picoseconds(chip.now);
    let fault = chip.rf.read(CMDSTA, now).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Peripheral);
    assert!(fault.message.contains("PDCTL0RFC"), "{}", fault.message);
    assert!(chip.rf.write(CMDR, 1, now).is_err());
}

#[test]
fn a_command_waits_until_the_radio_cpu_has_booted() {
    let mut chip = Chip::off();
    chip.rf.set_power(true, Picoseconds(chip.now));
    assert_eq!(chip.rf.state(), "idle");
    chip.set(CMDR, CMD_PING << 16 | 1);
    chip.run(100);
    assert_eq!((chip.get(CMDR), chip.get(CMDSTA)), (CMD_PING << 16 | 1, 0));
    assert_eq!(chip.get(RFCPEIFG) & BOOT_DONE, 0);
    chip.set(PWMCLKEN, 0x7ff);
    chip.run(0);
    assert_eq!((chip.get(CMDR), chip.get(CMDSTA)), (0, 1));
    assert_eq!(chip.get(RFCPEIFG) & BOOT_DONE, BOOT_DONE);
    // A loss of power clears everything.
    chip.rf.set_power(false, Picoseconds(chip.now));
    chip.rf.set_power(true, Picoseconds(chip.now));
    assert_eq!((chip.get(CMDSTA), chip.get(PWMCLKEN)), (0, 1));
}

#[test]
fn the_doorbell_ignores_what_is_written_while_a_command_is_there() {
    let mut chip = Chip::new();
    chip.set(CMDR, CMD_PING << 16 | 1);
    chip.set(CMDR, 2);
    assert_eq!(chip.get(CMDR), CMD_PING << 16 | 1);
    chip.run(0);
    assert_eq!(chip.get(CMDSTA), 1);
    chip.set(CMDSTA, 0x55);
    chip.set(CMDR, 0);
    assert_eq!((chip.get(CMDR), chip.get(CMDSTA)), (0, 1));
}

#[test]
fn interrupts_go_to_the_line_that_is_selected() {
    let mut chip = Chip::set_up();
    chip.set(RFCPEIEN, 0);
    assert_eq!(chip.rf.interrupts(), [false; 4]);
    chip.operation(OTHER, CMD_NOP, NEVER, 0);
    chip.set(CMDR, OTHER);
    chip.run(0);
    assert_eq!(chip.rf.interrupts(), [false, false, false, true]);
    chip.set(RFACKIFG, 0);
    chip.set(RFCPEIEN, COMMAND_DONE);
    assert_eq!(chip.rf.interrupts(), [true, false, false, false]);
    chip.set(RFCPEISL, COMMAND_DONE);
    assert_eq!(chip.rf.interrupts(), [false, true, false, false]);
    // Ones leave flags unchanged.
    chip.set(RFCPEIFG, COMMAND_DONE);
    assert_eq!(chip.get(RFCPEIFG), COMMAND_DONE);
    chip.set(RFCPEIFG, !COMMAND_DONE);
    assert_eq!(chip.rf.interrupts(), [false; 4]);
    assert_eq!(chip.rf.read(0x2000, Picoseconds(0)).unwrap(), None);
    assert!(!chip.rf.write(0x1024, 0, Picoseconds(0)).unwrap());
}

// ---- Command errors.

#[test]
fn what_is_no_command_is_answered_so() {
    let mut chip = Chip::new();
    // Misaligned, not memory, the end of memory.
    for pointer in [
        RAM + 2,
        RAM + 3,
        0x3000_0000,
        RAM + SIZE as u32,
        0xffff_fffc,
    ] {
        assert_eq!(chip.command(pointer), 0x81, "{pointer:#x}");
    }
    // A structure that is only partly in memory.
    let last = RAM + SIZE as u32 - 4;
    chip.put(last, &CMD_NOP.to_le_bytes());
    assert_eq!(chip.command(last), 0x81);
    for number in [0x0000_u16, 0x0003, 0x0815, 0x2804, 0x2c05, 0xffff] {
        chip.operation(OTHER, number, NEVER, 0);
        assert_eq!(chip.command(OTHER), 0x82, "{number:#x}");
    }
    for number in [0x0000, 0x0002, 0x0801, 0x2801, 0x7777] {
        assert_eq!(chip.direct(number, 0), 0x83, "{number:#x}");
    }
    assert_eq!(chip.get(RFCPEIFG), 0);
}

#[test]
fn an_operation_in_memory_that_cannot_be_written_is_refused() {
    struct Fixed(Memory);
    impl Memories for Fixed {
        fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
            self.0.read(address, length)
        }
        fn write(&mut self, _address: u32, _data: &[u8]) -> bool {
            false
        }
    }
    let mut chip = Chip::new();
    chip.operation(OTHER, CMD_NOP, NEVER, 0);
    let mut fixed = Fixed(chip.memory);
    let now = Picoseconds(chip.now);
    assert!(chip.rf.write(CMDR, OTHER, now).unwrap());
    chip.rf.transfer(&mut fixed, 0).unwrap();
    assert_eq!(chip.rf.read(CMDSTA, now).unwrap(), Some(0x81));
}

#[test]
fn commands_that_are_left_out_are_named() {
    for (number, name) in [
        (0x1803_u16, "CMD_BLE_ADV"),
        (0x3801, "CMD_PROP_TX"),
        (0x0808, "CMD_TX_TEST"),
        (0x0011, "CMD_UPDATE_FS"),
    ] {
        let mut chip = Chip::new();
        chip.operation(OTHER, number, NEVER, 0);
        chip.set(CMDR, OTHER);
        let fault = chip.rf.transfer(&mut chip.memory, 0).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Absent);
        assert!(fault.message.contains(name), "{}", fault.message);
    }
}

#[test]
fn operations_need_what_comes_before_them() {
    let mut chip = Chip::new();
    chip.operation(OTHER, CMD_FS, NEVER, 0);
    chip.put(OTHER + 14, &2405_u16.to_le_bytes());
    assert_eq!(chip.command(OTHER), 1);
    assert_eq!(chip.status(OTHER), 0x0807, "ERROR_NO_SETUP");
    chip.transmission(&data(OWN, 1, b"x"));
    assert_eq!(chip.command(TX), 1);
    assert_eq!(chip.status(TX), 0x2801, "IEEE_ERROR_NO_SETUP");
    // A mode that is not IEEE's.
    chip.operation(SETUP, CMD_RADIO_SETUP, NEVER, 0);
    chip.command(SETUP);
    assert_eq!(chip.status(SETUP), 0x0400);
    chip.command(TX);
    assert_eq!(chip.status(TX), 0x2801);
    chip.put(SETUP + 14, &[0x33]);
    chip.command(SETUP);
    assert_eq!(chip.status(SETUP), 0x0803, "ERROR_PAR");

    let mut chip = Chip::set_up();
    chip.transmission(&data(OWN, 1, b"x"));
    chip.command(TX);
    assert_eq!(chip.status(TX), 0x2802, "IEEE_ERROR_NO_FS");
    for number in [CMD_IEEE_CSMA, CMD_IEEE_RX_ACK] {
        chip.operation(OTHER, number, NEVER, 0);
        chip.command(OTHER);
        assert_eq!(chip.status(OTHER), 0x0806, "ERROR_WRONG_BG");
    }
    assert_eq!(chip.get(RFCPEIFG), FG_COMMAND_DONE | LAST_FG_COMMAND_DONE);
    for number in [0x2001_u16, 0x2002, 0x2003, 0x2403] {
        chip.operation(OTHER, number, NEVER, 0);
        assert_eq!(chip.command(OTHER), 0x85, "ContextError");
    }
    assert_eq!(chip.direct(CMD_GET_RSSI, 0), 0x85);
    assert_eq!(chip.direct(CMD_START_RAT, 0), 0x85);
    assert_eq!(chip.direct(CMD_ABORT, 0), 1);
    assert_eq!(chip.direct(CMD_IEEE_ABORT_FG, 0), 1);
}

#[test]
fn one_operation_of_a_level_runs_at_a_time() {
    let mut chip = Chip::receiving();
    chip.operation(OTHER, CMD_NOP, NEVER, 0);
    assert_eq!(chip.command(OTHER), 0x86, "SchedulingError");
    chip.transmission(&data(OWN, 1, b"x"));
    assert_eq!(chip.command(TX), 1);
    assert_eq!(chip.command(TX), 0x86);
    assert_eq!((chip.status(TX), chip.status(RX)), (2, 0x2001));
    chip.run(2000);
    assert_eq!((chip.status(TX), chip.status(RX)), (0x2400, 2));
}

#[test]
fn wrong_parameters_end_a_receiver() {
    for (at, bytes, status) in [
        (14, &[27_u8][..], 0x2800_u16),
        (14, &[0][..], 0x2802),
        (16, &0x2000_0301_u32.to_le_bytes()[..], 0x2800),
        (16, &0x4000_0000_u32.to_le_bytes()[..], 0x2800),
        (20, &(RAM + SIZE as u32 - 8).to_le_bytes()[..], 0x2800),
        (55, &[0][..], 0x2800),
        (13, &[6][..], 0x0802),
    ] {
        let chip = Chip::receiving_with(|chip| chip.put(RX + at, bytes));
        assert_eq!(chip.status(RX), status, "{at}: {bytes:?}");
    }
}

#[test]
fn wrong_parameters_end_a_transmission() {
    let mut chip = Chip::receiving();
    chip.transmission(&data(OWN, 1, b"x"));
    for (at, bytes) in [
        (15, &[126_u8][..]),
        (16, &0x3000_0000_u32.to_le_bytes()[..]),
        (16, &0xffff_ffff_u32.to_le_bytes()[..]),
        (14, &[1, 0][..]),
    ] {
        chip.put(TX + 14, &[0, 10]);
        chip.put(TX + 16, &PAYLOAD.to_le_bytes());
        chip.put(TX + at, bytes);
        assert_eq!(chip.command(TX), 1);
        assert_eq!(chip.status(TX), 0x2800, "{at}: {bytes:?}");
    }
    assert_eq!(chip.sent.len(), 0);
    chip.put(TX + 14, &[0xf8, 10]);
    chip.set(CMDR, TX);
    let fault = chip.rf.transfer(&mut chip.memory, 0).unwrap_err();
    assert!(fault.message.contains("payloadLenMsb"), "{}", fault.message);
}

// ---- Chains and triggers.

#[test]
fn a_chain_goes_on_as_its_conditions_say() {
    let mut chip = Chip::set_up();
    chip.operation(OTHER, CMD_COUNT, STOP_ON_FALSE, THIRD);
    chip.put(OTHER + 14, &2_u16.to_le_bytes());
    chip.operation(THIRD, CMD_COUNT, ALWAYS, OTHER);
    chip.put(THIRD + 14, &100_u16.to_le_bytes());
    assert_eq!(chip.command(OTHER), 1);
    chip.run(10);
    // 2, 1: continue; 0: false.
    assert_eq!((chip.half(OTHER + 14), chip.half(THIRD + 14)), (0, 99));
    assert_eq!((chip.status(OTHER), chip.status(THIRD)), (0x0401, 0x0400));
    assert_eq!(chip.get(RFCPEIFG), COMMAND_DONE | LAST_COMMAND_DONE);
    // Skip one if true.
    chip.operation(OTHER, CMD_NOP, 5 | 2 << 4, THIRD);
    chip.operation(THIRD, CMD_NOP, ALWAYS, TX);
    chip.operation(TX, CMD_NOP, NEVER, 0);
    chip.command(OTHER);
    chip.run(10);
    let ended = [OTHER, THIRD, TX].map(|at| chip.status(at));
    assert_eq!(ended, [0x0400, 0x0003, 0x0400]);
}

#[test]
fn a_chain_to_nowhere_ends_with_an_error() {
    let mut chip = Chip::set_up();
    for (next, status) in [
        (0, 0x0804),
        (RAM + 1, 0x0804),
        (0x5000_0000, 0x0804),
        (PAYLOAD, 0x0805),
    ] {
        chip.operation(OTHER, CMD_NOP, ALWAYS, next);
        chip.command(OTHER);
        assert_eq!(chip.status(OTHER), status, "{next:#x}");
    }
    // To an operation of the other level.
    chip.transmission(&[]);
    chip.operation(OTHER, CMD_NOP, ALWAYS, TX);
    chip.command(OTHER);
    assert_eq!(chip.status(OTHER), 0x0805);
}

#[test]
fn a_chain_that_is_a_ring_can_be_aborted() {
    let mut chip = Chip::set_up();
    chip.operation(OTHER, CMD_NOP, ALWAYS, OTHER);
    chip.command(OTHER);
    chip.run(1000);
    assert_eq!(chip.direct(CMD_ABORT, 0), 1);
    assert_eq!(chip.status(OTHER), 0x0405);
    assert_eq!(chip.rf.next_event(), Picoseconds::NEVER);
}

#[test]
fn operations_start_at_their_triggers() {
    let mut chip = Chip::set_up();
    let start = |chip: &mut Chip, kind: u8, time: u32| {
        chip.operation(OTHER, CMD_NOP, NEVER, 0);
        chip.put(OTHER + 8, &time.to_le_bytes());
        chip.put(OTHER + 12, &[kind]);
        assert_eq!(chip.command(OTHER), 1);
    };
    // At an absolute time: 100 us are 400 ticks.
    let time = chip.get(RATCNT) + 400;
    start(&mut chip, 2, time);
    assert_eq!(chip.status(OTHER), 1);
    chip.run(99);
    assert_eq!(chip.status(OTHER), 1);
    chip.run(1);
    assert_eq!(chip.status(OTHER), 0x0400);
    // After submission.
    start(&mut chip, 3, 40);
    chip.run(9);
    assert_eq!(chip.status(OTHER), 1);
    chip.run(1);
    assert_eq!(chip.status(OTHER), 0x0400);
    // In the past.
    start(&mut chip, 2, time);
    assert_eq!(chip.status(OTHER), 0x0800);
    start(&mut chip, 0x82, time);
    assert_eq!(chip.status(OTHER), 0x0400);
    // Triggers not allowed for starts, or relative to something that has not happened.
    for kind in [4, 5, 6, 7, 11, 15] {
        start(&mut chip, kind, 0);
        assert_eq!(chip.status(OTHER), 0x0801, "{kind}");
    }
    // Never, except by a command.
    start(&mut chip, 1 | 0x10 | 2 << 5, 0);
    chip.run(100_000);
    assert_eq!(chip.direct(CMD_TRIGGER, 1), 0x85);
    assert_eq!(chip.direct(CMD_TRIGGER, 4), 0x87);
    assert_eq!(chip.direct(CMD_TRIGGER, 2), 1);
    chip.run(0);
    assert_eq!(chip.status(OTHER), 0x0400);
    // A waiting operation can be stopped.
    start(&mut chip, 1, 0);
    assert_eq!(chip.direct(CMD_STOP, 0), 1);
    assert_eq!(chip.status(OTHER), 0x0404);
    chip.operation(OTHER, CMD_NOP, NEVER, 0);
    chip.put(OTHER + 12, &[10]);
    chip.set(CMDR, OTHER);
    let fault = chip.rf.transfer(&mut chip.memory, 0).unwrap_err();
    assert!(fault.message.contains("types 8 to 10"), "{}", fault.message);
}

#[test]
fn the_radio_timer_keeps_time_over_stops_by_the_real_time_clock() {
    let mut chip = Chip::set_up();
    chip.rtc = 1 << 32;
    chip.run(1000);
    let before = chip.get(RATCNT);
    chip.operation(OTHER, CMD_SYNC_STOP_RAT, NEVER, 0);
    chip.command(OTHER);
    assert_eq!(chip.status(OTHER), 0x0400);
    let zero = chip.word(OTHER + 16);
    assert_eq!(zero, before.wrapping_sub(4_000_000));
    assert_eq!(chip.get(RATCNT), 0);
    // Half a second later.
    chip.rtc += 1 << 31;
    chip.operation(THIRD, CMD_SYNC_START_RAT, NEVER, 0);
    chip.put(THIRD + 16, &zero.to_le_bytes());
    chip.command(THIRD);
    assert_eq!(chip.get(RATCNT), before + 2_000_000);
}

#[test]
fn channels_of_the_radio_timer_compare() {
    let mut chip = Chip::set_up();
    chip.set(RFHWIEN, 1 << 17);
    chip.put(OTHER, &[0x0a, 0x00, 5, 0]);
    let time = chip.get(RATCNT) + 40;
    chip.put(OTHER + 4, &time.to_le_bytes());
    assert_eq!(chip.command(OTHER), 1);
    chip.run(9);
    assert_eq!(chip.get(RFHWIFG), 0);
    chip.run(1);
    assert_eq!(chip.get(RFHWIFG), 1 << 17);
    assert!(chip.rf.interrupts()[2]);
    chip.set(RFHWIFG, 0);
    chip.put(OTHER + 2, &[2]);
    assert_eq!(chip.command(OTHER), 0x87);
    assert_eq!(chip.direct(0x0408, 9), 0x87);
    chip.put(OTHER + 2, &[6]);
    chip.command(OTHER);
    assert_eq!(chip.direct(0x0408, 6), 1);
    assert_eq!(chip.rf.next_event(), Picoseconds::NEVER);
}

#[test]
fn an_immediate_command_can_be_a_link_of_a_chain() {
    let mut chip = Chip::set_up();
    chip.operation(OTHER, CMD_SCH_IMM, NEVER, 0);
    chip.put(OTHER + 16, &(CMD_PING << 16 | 1).to_le_bytes());
    chip.command(OTHER);
    assert_eq!((chip.status(OTHER), chip.word(OTHER + 20)), (0x0400, 1));
    for (value, answer) in [(OTHER, 0x86), (0x7777_0001, 0x83), (RAM + 2, 0x81)] {
        chip.put(OTHER + 16, &value.to_le_bytes());
        chip.command(OTHER);
        assert_eq!(
            (chip.status(OTHER), chip.word(OTHER + 20)),
            (0x0406, answer)
        );
    }
}

// ---- Transmission.

#[test]
fn a_frame_leaves_after_the_turnaround_and_lasts_its_bytes() {
    let mut chip = Chip::receiving();
    assert_eq!(chip.rf.state(), "rx-differential");
    chip.transmission(&data(OWN, 7, b"hello"));
    chip.put(TX + 12, &[2]);
    let start = chip.get(RATCNT) + 400;
    chip.put(TX + 8, &start.to_le_bytes());
    assert_eq!(chip.command(TX), 1);
    let begun = chip.now + 100 * US;
    chip.run_to(begun - 1);
    assert_eq!((chip.status(TX), chip.rf.state()), (1, "rx-differential"));
    chip.run_to(begun);
    assert_eq!((chip.status(TX), chip.rf.state()), (2, "calibrate"));
    assert_eq!(chip.status(RX), 0x2001, "IEEE_SUSPENDED");
    chip.run_to(begun + 192 * US);
    assert_eq!(chip.rf.state(), "tx-0dbm");
    let end = begun + 352 * US + 17 * PHY.byte.0;
    chip.run_to(end - 1);
    assert_eq!(chip.get(RFCPEIFG), 0);
    chip.run_to(end);
    let done = TX_DONE | FG_COMMAND_DONE | LAST_FG_COMMAND_DONE;
    assert_eq!((chip.status(TX), chip.get(RFCPEIFG)), (0x2400, done));
    assert_eq!(chip.word(TX + 20), start + 4 * 352);
    assert_eq!((chip.status(RX), chip.rf.state()), (2, "calibrate"));
    let (start, bytes, ended) = &chip.sent[0];
    assert_eq!((start.power_dbm, start.frequency_mhz), (0.0, 2405));
    assert_eq!(start.begin.0, begun + 192 * US);
    assert_eq!(*bytes, with_crc(&data(OWN, 7, b"hello")));
    assert_eq!(ended.0, end);
    chip.run(192);
    assert_eq!(chip.rf.state(), "rx-differential");
}

#[test]
fn the_header_and_the_check_sequence_may_come_from_memory() {
    let mut chip = Chip::set_up();
    chip.operation(OTHER, CMD_FS, NEVER, 0);
    chip.put(OTHER + 14, &2480_u16.to_le_bytes());
    chip.command(OTHER);
    assert_eq!((chip.status(OTHER), chip.rf.state()), (2, "calibrate"));
    chip.run(192);
    assert_eq!(chip.status(OTHER), 0x0400);
    let bytes = [6, 1, 2, 3, 4, 5, 6];
    chip.transmission(&bytes);
    chip.put(TX + 14, &[3]);
    chip.put(OTHER, &[0x10, 0x00, 0x30, 0x93]); // CMD_SET_TX_POWER
    assert_eq!(chip.command(OTHER), 1);
    chip.command(TX);
    chip.run(1000);
    assert_eq!(chip.sent[0].1, bytes);
    assert!((chip.sent[0].0.power_dbm - 5.0).abs() < 1e-9);
    assert_eq!(chip.sent[0].0.frequency_mhz, 2480);
    // Without a receiver, the synthesizer stays on.
    assert_eq!(chip.rf.state(), "calibrate");
    chip.operation(OTHER, CMD_FS_POWERDOWN, NEVER, 0);
    chip.command(OTHER);
    assert_eq!(chip.rf.state(), "idle");
    chip.command(TX);
    assert_eq!(chip.status(TX), 0x2802);
}

#[test]
fn a_transmission_that_is_aborted_ends_then() {
    let mut chip = Chip::receiving();
    chip.transmission(&data(OWN, 7, &[0; 100]));
    chip.command(TX);
    chip.run(1000);
    let now = chip.now;
    assert_eq!(chip.direct(CMD_IEEE_ABORT_FG, 0), 1);
    chip.run(0);
    assert_eq!((chip.status(TX), chip.status(RX)), (0x2407, 2));
    assert_eq!(chip.sent[0].2.0, now);
    // After a stop, it is still sent completely.
    chip.command(TX);
    chip.run(1000);
    assert_eq!(chip.direct(0x2402, 0), 1);
    assert_eq!(chip.status(TX), 2);
    chip.run(5000);
    assert_eq!(chip.status(TX), 0x2400);
}

// ---- Reception.

#[test]
fn a_frame_is_put_into_the_queue_and_acknowledged() {
    let mut chip = Chip::receiving();
    let frame = data(OWN, 0x42, b"hello");
    let begin = chip.get(RATCNT) + 4 * 170;
    let end = chip.arrive(&with_crc(&frame), -60.0).end.0;
    chip.run_to(end - 1);
    assert_eq!(chip.get(RFCPEIFG), 0);
    chip.run_to(end);
    assert_eq!(chip.get(RFCPEIFG), RX_OK | RX_ENTRY_DONE);
    assert_eq!(chip.word(QUEUE), ENTRIES + ENTRY, "the next entry");
    let element = chip.take(0).unwrap();
    assert_eq!(element[..16], with_crc(&frame)[1..]);
    assert_eq!(element[16] as i8, -60);
    assert_eq!(element[17], 63, "correlation; CRC right, not ignored");
    assert_eq!(element[18..], begin.to_le_bytes());
    chip.run(1000);
    let (start, bytes, _) = &chip.sent[0];
    assert_eq!(start.begin.0, end + 192 * US);
    assert_eq!(*bytes, with_crc(&[0x02, 0x00, 0x42]));
    assert_eq!(chip.get(RFCPEIFG) & TX_ACK, TX_ACK);
    assert_eq!(
        chip.memory.read(OUTPUT, 11).unwrap(),
        [1, 0, 1, 0, 0, 0, 0, 0, 0, 196, 196]
    );
    // Ready for the next frame.
    chip.hear(&with_crc(&data(OWN, 0x43, b"y")));
    assert_eq!(chip.take(1).unwrap()[..3], [0x61, 0x88, 0x43]);
}

#[test]
fn a_wrong_check_sequence_is_flushed_or_kept() {
    let mut bytes = with_crc(&data(OWN, 7, b"hello"));
    bytes[12] ^= 1;
    let mut chip = Chip::receiving();
    chip.hear(&bytes);
    chip.run(1000);
    assert_eq!(chip.get(RFCPEIFG), RX_NOK);
    assert_eq!((chip.take(0), chip.sent.len()), (None, 0));
    let mut chip = Chip::receiving_with(|chip| chip.put(RX + 15, &[0xb8]));
    chip.hear(&bytes);
    chip.run(1000);
    assert_eq!(chip.get(RFCPEIFG), RX_NOK | RX_ENTRY_DONE);
    assert_eq!(chip.take(0).unwrap()[17] & 0x80, 0x80);
    assert_eq!(chip.sent.len(), 0);
}

#[test]
fn frames_for_others_are_dropped_or_marked() {
    let others = [
        data(0x9999, 1, b"another's address"),
        [
            &[0x61, 0x88, 1, 0x11, 0x11][..],
            &OWN.to_le_bytes(),
            &[1, 0, 9],
        ]
        .concat(),
        [
            &[0x41, 0xb8, 1][..],
            &PAN.to_le_bytes(),
            &OWN.to_le_bytes(),
            &[1, 0, 9],
        ]
        .concat(),
        vec![0x04, 0x00, 1, 2, 3],
        vec![0x41, 0x88, 1],
    ];
    for frame in &others {
        let mut chip = Chip::receiving();
        chip.hear(&with_crc(frame));
        chip.run(1000);
        assert_eq!(chip.get(RFCPEIFG), 0, "{frame:?}");
        assert_eq!((chip.take(0), chip.sent.len()), (None, 0));
        // Received to the end: ignored, and marked so.
        let mut chip = Chip::receiving_with(|chip| chip.put(RX + 24, &[0x05]));
        chip.hear(&with_crc(frame));
        chip.run(1000);
        assert_eq!(chip.get(RFCPEIFG), RX_IGNORED | RX_ENTRY_DONE, "{frame:?}");
        let element = chip.take(0).unwrap();
        assert_eq!(element[element.len() - 5] & 0xc0, 0x40);
        assert_eq!(chip.sent.len(), 0);
    }
}

#[test]
fn a_full_queue_is_said_and_nothing_is_acknowledged() {
    let mut chip = Chip::receiving();
    for sequence in 0..5 {
        chip.hear(&with_crc(&data(OWN, sequence, b"x")));
        chip.run(1000);
    }
    assert_eq!(chip.sent.len(), 4);
    assert_ne!(chip.get(RFCPEIFG) & RX_BUF_FULL, 0);
    assert_eq!(chip.memory.read(OUTPUT + 8, 1).unwrap(), [1]);
    chip.take(0).unwrap();
    chip.hear(&with_crc(&data(OWN, 9, b"x")));
    assert_eq!(chip.take(0).unwrap()[2], 9);
}

#[test]
fn entries_hold_several_elements_or_point_to_a_buffer() {
    // Two elements, each with a two-byte length, and no room for a third.
    let mut chip = Chip::receiving_with(|chip| {
        chip.put(RX + 15, &[0x03]);
        chip.put(ENTRIES + 4, &[0, 1 | 2 << 2, 30, 0]);
        chip.put(ENTRIES + ENTRY + 4, &[0, 2 | 1 << 2, 40, 0]);
        chip.put(ENTRIES + ENTRY + 8, &PAYLOAD.to_le_bytes());
    });
    for sequence in 1..=3 {
        chip.hear(&with_crc(&data(OWN, sequence, b"x")));
        chip.run(1000);
    }
    let entry = ENTRIES + 8;
    assert_eq!((chip.half(entry), chip.half(entry + 2)), (2, 24));
    assert_eq!((chip.half(entry + 4), chip.half(entry + 16)), (10, 10));
    assert_eq!(chip.memory.read(entry + 8, 1).unwrap(), [1]);
    assert_eq!(chip.memory.read(entry + 20, 1).unwrap(), [2]);
    assert_eq!(chip.memory.read(ENTRIES + 4, 1).unwrap(), [3], "finished");
    assert_eq!(chip.memory.read(PAYLOAD, 4).unwrap(), [10, 0x61, 0x88, 3]);
    // CMD_CLEAR_RX.
    chip.put(OTHER, &[0x08, 0, 0, 0]);
    chip.put(OTHER + 4, &QUEUE.to_le_bytes());
    assert_eq!(chip.command(OTHER), 1);
    chip.put(OTHER + 4, &0x1234_0000_u32.to_le_bytes());
    assert_eq!(chip.command(OTHER), 0x87);
}

#[test]
fn entries_for_partial_reads_are_refused() {
    let mut chip = Chip::receiving_with(|chip| chip.put(ENTRIES + 5, &[3 | 1 << 2]));
    let end = chip.arrive(&with_crc(&data(OWN, 1, b"x")), -60.0).end;
    while !chip.rf.needs_memory() {
        let at = chip.rf.next_event();
        assert!(at <= end);
        chip.rf.advance(at);
    }
    let fault = chip.rf.transfer(&mut chip.memory, 0).unwrap_err();
    assert!(fault.message.contains("partial"), "{}", fault.message);
}

#[test]
fn queues_take_entries_and_give_them_back() {
    let mut chip = Chip::set_up();
    let (first, second) = (ENTRIES, ENTRIES + ENTRY);
    chip.put(OTHER, &[0x05, 0, 0, 0]);
    chip.put(OTHER + 4, &QUEUE.to_le_bytes());
    for entry in [first, second] {
        chip.put(OTHER + 8, &entry.to_le_bytes());
        assert_eq!(chip.command(OTHER), 1);
    }
    assert_eq!((chip.word(QUEUE), chip.word(QUEUE + 4)), (first, second));
    assert_eq!(chip.word(first), second);
    chip.put(OTHER + 8, &(RAM + 1).to_le_bytes());
    assert_eq!(chip.command(OTHER), 0x87);
    chip.put(OTHER, &[0x07]);
    assert_eq!(chip.command(OTHER), 1);
    assert_eq!((chip.word(OTHER + 8), chip.word(QUEUE)), (first, 0));
    // A ring has no end to append to.
    chip.put(QUEUE, &first.to_le_bytes());
    chip.put(OTHER, &[0x05]);
    chip.put(OTHER + 8, &second.to_le_bytes());
    assert_eq!(chip.command(OTHER), 0x88);
}

#[test]
fn sources_are_matched_and_their_pending_bit_is_sent() {
    let mut chip = Chip::receiving_with(|chip| {
        chip.put(RX + 15, &[0x40]); // the index alone
        chip.put(RX + 24, &0x0217_u16.to_le_bytes()); // auto-pend
        chip.put(RX + 31, &[3]);
        chip.put(RX + 36, &SOURCES.to_le_bytes());
        chip.put(SOURCES, &[0b110, 0, 0, 0, 0b100, 0, 0, 0]);
        chip.put(SOURCES + 8 + 8, &[0x01, 0x00, 0xcd, 0xab]);
    });
    chip.hear(&with_crc(&data(OWN, 1, b"x")));
    chip.run(1000);
    assert_eq!(*chip.take(0).unwrap().last().unwrap(), 2);
    assert_eq!(chip.sent[0].1, with_crc(&[0x12, 0x00, 1]));
    // CMD_IEEE_MOD_SRC_MATCH: short entry 2 enabled but no longer pending; then disabled.
    chip.put(OTHER, &[0x03, 0x20, 0b101, 2]);
    assert_eq!(chip.command(OTHER), 1);
    chip.hear(&with_crc(&data(OWN, 2, b"x")));
    chip.run(1000);
    assert_eq!(chip.sent[1].1, with_crc(&[0x02, 0x00, 2]));
    chip.put(OTHER + 2, &[0b100, 2]);
    assert_eq!(chip.command(OTHER), 1);
    chip.hear(&with_crc(&data(OWN, 3, b"x")));
    assert_eq!(*chip.take(2).unwrap().last().unwrap(), 0xff);
    chip.put(OTHER + 2, &[0b101, 3]);
    assert_eq!(chip.command(OTHER), 0x87);
    chip.put(OTHER + 2, &[0b001, 0]);
    assert_eq!(chip.command(OTHER), 0x87, "there are no extended addresses");
}

#[test]
fn filter_and_assessment_change_while_it_receives() {
    let mut chip = Chip::receiving();
    chip.put(OTHER, &[0x02, 0x20, 0x00, 0x00, 0xff]); // CMD_IEEE_MOD_FILT: takes all
    assert_eq!(chip.command(OTHER), 1);
    chip.hear(&with_crc(&data(0x9999, 1, b"x")));
    chip.run(1000);
    assert!(chip.take(0).is_some());
    assert_eq!(chip.sent.len(), 0);
    // CMD_IEEE_CCA_REQ, quiet and busy.
    let request = |chip: &mut Chip| {
        chip.put(OTHER, &[0x03, 0x24, 0, 0, 0]);
        assert_eq!(chip.command(OTHER), 1);
        chip.memory.read(OTHER + 2, 3).unwrap()
    };
    let quiet = request(&mut chip);
    assert!((quiet[0] as i8) <= -95, "{}", quiet[0] as i8);
    assert_eq!((quiet[1] as i8, quiet[2]), (-60, 0));
    chip.arrive(&with_crc(&data(OWN, 1, &[0; 50])), -50.0);
    chip.run(500);
    let busy = request(&mut chip);
    assert_eq!((busy[0] as i8, busy[2]), (-50, 0b101_0101));
    assert_eq!(chip.direct(CMD_GET_RSSI, 0), 1 | 206 << 16);
    // CMD_IEEE_MOD_CCA: -40 dBm, by power alone.
    chip.put(THIRD, &[0x01, 0x20, 1, 216]);
    assert_eq!(chip.command(THIRD), 1);
    assert_eq!(request(&mut chip)[2] & 3, 0);
    // Contiki-NG's driver detects a transmission by this.
    chip.transmission(&data(OWN, 1, b"x"));
    chip.command(TX);
    let sending = request(&mut chip);
    assert_eq!((sending[0], sending[2] >> 2 & 3), (0x80, 1));
    chip.run(1000);
    assert_eq!(
        request(&mut chip)[2] & 3,
        2,
        "invalid: it does not hear yet"
    );
}

#[test]
fn a_receiver_ends_by_its_trigger_and_by_command() {
    let until = |chip: &mut Chip, ticks: u32| {
        let time = chip.get(RATCNT) + ticks;
        chip.put(RX + 55, &[2]);
        chip.put(RX + 56, &time.to_le_bytes());
    };
    let mut chip = Chip::receiving_with(|chip| until(chip, 4000));
    chip.run(799);
    assert_eq!(chip.status(RX), 2);
    chip.run(1);
    assert_eq!(chip.status(RX), 0x2405);
    assert_eq!(chip.get(RFCPEIFG), COMMAND_DONE | LAST_COMMAND_DONE);
    // In a frame: after the frame and its acknowledgment.
    let mut chip = Chip::receiving_with(|chip| until(chip, 4000));
    chip.run(500);
    chip.hear(&with_crc(&data(OWN, 1, &[0; 20])));
    assert_eq!(chip.status(RX), 2);
    chip.run(1000);
    assert_eq!((chip.status(RX), chip.sent.len()), (0x2405, 1));
    for (command, status) in [(CMD_ABORT, 0x2407), (CMD_STOP, 0x2402)] {
        let mut chip = Chip::receiving();
        assert_eq!(chip.direct(command, 0), 1);
        assert_eq!(chip.status(RX), status);
        assert_eq!(chip.rf.next_event(), Picoseconds::NEVER);
    }
    let mut chip = Chip::receiving();
    chip.operation(OTHER, CMD_IEEE_ABORT_BG, NEVER, 0);
    chip.command(OTHER);
    assert_eq!((chip.status(OTHER), chip.status(RX)), (0x2400, 0x2407));
}

#[test]
fn an_acknowledgment_is_awaited() {
    for (control, status) in [(0x02, 0x2403_u16), (0x12, 0x2404)] {
        // Frame filtering rejects acknowledgments; CMD_IEEE_RX_ACK still gets them.
        let mut chip = Chip::receiving_with(|chip| chip.put(RX + 26, &[0x0b]));
        chip.transmission(&data(0x9999, 7, b"x"));
        chip.put(TX + 4, &OTHER.to_le_bytes());
        chip.put(TX + 13, &[STOP_ON_FALSE]);
        chip.operation(OTHER, CMD_IEEE_RX_ACK, NEVER, 0);
        chip.put(OTHER + 14, &[7, 4]);
        chip.put(OTHER + 16, &4000_u32.to_le_bytes());
        chip.command(TX);
        chip.run(900);
        assert_eq!((chip.status(TX), chip.status(OTHER)), (0x2400, 2));
        chip.hear(&with_crc(&[control, 0x00, 8]));
        assert_eq!(chip.status(OTHER), 2, "another's");
        chip.hear(&with_crc(&[control, 0x00, 7]));
        assert_eq!(chip.status(OTHER), status);
        assert_eq!(chip.take(0), None);
    }
    let mut chip = Chip::receiving();
    chip.operation(OTHER, CMD_IEEE_RX_ACK, NEVER, 0);
    chip.put(OTHER + 14, &[7, 4]);
    chip.put(OTHER + 16, &400_u32.to_le_bytes());
    chip.command(OTHER);
    chip.run(99);
    assert_eq!(chip.status(OTHER), 2);
    chip.run(1);
    assert_eq!(chip.status(OTHER), 0x2405);
    chip.put(OTHER + 14, &[7, 1]);
    chip.command(OTHER);
    chip.direct(CMD_IEEE_ABORT_FG, 0);
    assert_eq!(chip.status(OTHER), 0x2407);
    // Its receiver ends.
    chip.command(OTHER);
    chip.operation(THIRD, CMD_NOP, NEVER, 0);
    chip.direct(CMD_IEEE_ABORT_FG, 0);
    chip.operation(OTHER, CMD_IEEE_CSMA, NEVER, 0);
    chip.put(OTHER + 16, &[5, 4, 1, 0, 3, 200]);
    chip.put(OTHER + 23, &[1]);
    chip.command(OTHER);
    assert_eq!(chip.status(OTHER), 2);
    chip.direct(CMD_STOP, 0);
    assert_eq!(chip.status(OTHER), 0x2402);
}

#[test]
fn csma_waits_its_periods_and_looks_at_the_channel() {
    let csma = |chip: &mut Chip, exponent: u8, remaining: u8| {
        chip.operation(OTHER, CMD_IEEE_CSMA, NEVER, 0);
        chip.put(OTHER + 14, &[1, 0, exponent, 4, 1, 0, exponent, remaining]);
        chip.put(OTHER + 23, &[1]);
        assert_eq!(chip.command(OTHER), 1);
    };
    let mut chip = Chip::receiving();
    chip.run(200);
    csma(&mut chip, 3, 2);
    chip.run(639);
    assert_eq!(chip.status(OTHER), 2);
    chip.run(1);
    assert_eq!(chip.status(OTHER), 0x2400);
    assert!((chip.memory.read(OTHER + 22, 1).unwrap()[0] as i8) < -95);
    // A channel that stays busy: five checks.
    let mut frame = vec![127];
    frame.resize(128, 0);
    chip.arrive(&frame, -40.0);
    chip.run(400);
    csma(&mut chip, 0, 0);
    chip.run(0);
    assert_eq!(chip.status(OTHER), 0x2401);
    assert_eq!(chip.memory.read(OTHER + 19, 1).unwrap(), [5]);
    chip.put(OTHER + 18, &[0]);
    chip.command(OTHER);
    assert_eq!(chip.status(OTHER), 0x2800, "a window of 0");
}

#[test]
fn a_scan_finds_the_strongest_power() {
    let mut chip = Chip::set_up();
    chip.operation(OTHER, CMD_IEEE_ED_SCAN, NEVER, 0);
    chip.put(OTHER + 14, &[11, 1, 0xc4]);
    chip.put(OTHER + 19, &[4]);
    chip.put(OTHER + 20, &20_000_u32.to_le_bytes());
    assert_eq!(chip.command(OTHER), 1);
    chip.run(1000);
    chip.arrive(&with_crc(&data(OWN, 1, &[0; 30])), -47.0);
    chip.run(3999);
    assert_eq!(chip.status(OTHER), 2);
    chip.run(1);
    assert_eq!(chip.status(OTHER), 0x2400);
    assert_eq!(chip.memory.read(OTHER + 18, 1).unwrap()[0] as i8, -47);
}

// ---- Invalid structures.

/// Bytes of structures, in which command numbers and pointers are more likely than by chance.
fn structure() -> impl Strategy<Value = Vec<u8>> {
    let number = prop::sample::select(vec![
        0x0801_u16, 0x0802, 0x0803, 0x0804, 0x0809, 0x080a, 0x080b, 0x080c, 0x080d, 0x0810, 0x2801,
        0x2802, 0x2c01, 0x2c02, 0x2c03, 0x2c04, 0x0001, 0x0002, 0x0005, 0x0007, 0x0008, 0x000a,
        0x0010, 0x2001, 0x2002, 0x2003, 0x2403, 0x0404,
    ]);
    let pointer = prop_oneof![
        3 => prop::sample::select(vec![RX, TX, OTHER, QUEUE, ENTRIES, OUTPUT, SOURCES, PAYLOAD]),
        1 => any::<u32>(),
    ];
    let pointers = prop::collection::vec((0_usize..14, pointer), 0..6);
    (number, prop::collection::vec(any::<u8>(), 60), pointers).prop_map(
        |(number, mut bytes, pointers)| {
            for (word, pointer) in pointers {
                bytes[4 + 4 * word..8 + 4 * word].copy_from_slice(&pointer.to_le_bytes());
            }
            bytes[..2].copy_from_slice(&number.to_le_bytes());
            // Often at once, without an end.
            if bytes[12] & 0x60 == 0 {
                bytes[12] = 0;
            }
            if bytes[55] & 0x60 == 0 {
                bytes[55] = 1;
            }
            bytes
        },
    )
}

#[derive(Clone, Debug)]
enum Deed {
    Structure(u32, Vec<u8>),
    Command(u32),
    Hear(Vec<u8>),
    Run(u64),
    Power,
}

fn deed() -> impl Strategy<Value = Deed> {
    let place = prop::sample::select(vec![RX, TX, OTHER, QUEUE, ENTRIES]);
    let places = prop::sample::select(vec![RX, TX, OTHER, SETUP]);
    prop_oneof![
        4 => (place, structure()).prop_map(|(at, bytes)| Deed::Structure(at, bytes)),
        6 => places.prop_map(Deed::Command),
        1 => any::<u32>().prop_map(Deed::Command),
        1 => (0_u32..0x3000).prop_map(|number| Deed::Command(number << 16 | 1)),
        2 => prop::collection::vec(any::<u8>(), 1..130).prop_map(Deed::Hear),
        4 => (0_u64..6000).prop_map(Deed::Run),
        1 => Just(Deed::Power),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Whatever memory holds, the RF core answers each command or refuses it by name, and
    /// continues.
    #[test]
    fn any_structure_is_answered_or_refused(deeds in prop::collection::vec(deed(), 1..40)) {
        let mut chip = Chip::receiving();
        'deeds: for deed in deeds {
            let mut until = chip.now;
            match deed {
                Deed::Structure(at, bytes) => chip.put(at, &bytes),
                Deed::Command(value) => {
                    chip.set(CMDR, value);
                }
                Deed::Hear(bytes) => until = chip.arrive(&bytes, -70.0).end.0,
                Deed::Run(us) => until += us * US,
                Deed::Power => {
                    chip.rf.set_power(false, Picoseconds(chip.now));
                    chip.rf.set_power(true, Picoseconds(chip.now));
                    chip.set(PWMCLKEN, 0x7ff);
                    chip.put(SETUP, &CMD_RADIO_SETUP.to_le_bytes());
                }
            }
            let mut steps = 0;
            while chip.rf.next_event().0 <= until {
                let at = chip.rf.next_event();
                if chip.rf.needs_memory() {
                    if let Err(fault) = chip.rf.transfer(&mut chip.memory, 0) {
                        prop_assert_eq!(fault.kind, FaultKind::Absent);
                        break 'deeds;
                    }
                } else {
                    chip.rf.advance(at);
                    prop_assert!(chip.rf.needs_memory() || chip.rf.next_event() > at);
                }
                steps += 1;
                prop_assert!(steps < 200_000, "it does not get on");
            }
            chip.now = until;
            prop_assert_eq!(chip.get(CMDR), 0);
            chip.rf.antenna().take_emissions();
        }
    }
}
