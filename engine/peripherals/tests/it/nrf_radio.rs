//! The nRF52840's radio, its AES engine and `CryptoCell`, against the product specification's times
//! and published vectors.

use std::sync::Arc;

use crate::ieee802154::{Sent, US, arrive, take_sent, with_crc};
use crate::memory::Memory;
use joulemark_kernel::{Cycles, FaultKind, Memories, Picoseconds};
use joulemark_peripherals::{Nrf, NrfCryptoCell, NrfEcb, NrfRadio, NrfSaadc, NrfSerial};
use joulemark_radio::{Arrival, Figures, Radio, gfsk_1m, oqpsk_2450};

const CHAIN: u64 = 600_000;
const CYCLE: u64 = 15_625;
const BUFFER: u32 = 0x2000_0000;

// Tasks, events and registers.
const TXEN: u32 = 0x000;
const RXEN: u32 = 0x004;
const STOP: u32 = 0x00c;
const DISABLE: u32 = 0x010;
const RSSISTART: u32 = 0x014;
const EDSTART: u32 = 0x024;
const CCASTART: u32 = 0x02c;
const READY: u32 = 0x100;
const ADDRESS: u32 = 0x104;
const PAYLOAD: u32 = 0x108;
const END: u32 = 0x10c;
const DISABLED: u32 = 0x110;
const RSSIEND: u32 = 0x11c;
const BCMATCH: u32 = 0x128;
const CRCOK: u32 = 0x130;
const CRCERROR: u32 = 0x134;
const FRAMESTART: u32 = 0x138;
const EDEND: u32 = 0x13c;
const CCAIDLE: u32 = 0x144;
const CCABUSY: u32 = 0x148;
const TXREADY: u32 = 0x154;
const RXREADY: u32 = 0x158;
const PHYEND: u32 = 0x16c;
const SHORTS: u32 = 0x200;
const PACKETPTR: u32 = 0x504;
const STATE: u32 = 0x550;

fn figures() -> [Figures; 2] {
    [(&oqpsk_2450::PHY, -100.0), (&gfsk_1m::PHY, -95.0)].map(|(phy, sensitivity_dbm)| Figures {
        phy,
        sensitivity_dbm,
        capture_db: 3.0,
        turnaround: Picoseconds(CHAIN),
    })
}

fn ram() -> Memory {
    Memory {
        start: BUFFER,
        bytes: vec![0; 0x1000],
        is_flash: false,
    }
}

struct Board {
    radio: NrfRadio,
    memory: Memory,
    now: u64,
    /// Events with their times in picoseconds.
    seen: Vec<(u64, u32)>,
    sent: Vec<Sent>,
}

impl Board {
    fn new(settings: &[(u32, u32)]) -> Self {
        let mut radio = NrfRadio::new(figures(), 64_000_000);
        radio.antenna().attach();
        let mut board = Self {
            radio,
            memory: ram(),
            now: 1000 * US,
            seen: Vec::new(),
            sent: Vec::new(),
        };
        for &(register, value) in settings {
            board.set(register, value);
        }
        board
    }

    /// In IEEE 802.15.4's mode on channel 11, with fast ramp-up.
    fn ieee() -> Self {
        Self::new(&[
            (0x510, 15),
            (0x508, 5),
            (0x514, 2 << 24 | 1 << 26 | 8),
            (0x518, 127),
            (0x534, 2 << 8 | 2),
            (0x538, 0x11021),
            (0x650, 0x201),
            (PACKETPTR, BUFFER),
        ])
    }

    /// In Bluetooth LE's mode on advertising channel 37.
    fn ble() -> Self {
        Self::new(&[
            (0x510, 3),
            (0x508, 2),
            (0x514, 1 << 8 | 8),
            (0x518, 3 << 16 | 255 | 1 << 25),
            (0x51c, 0x89be_d600),
            (0x524, 0x8e),
            (0x530, 1),
            (0x534, 1 << 8 | 3),
            (0x538, 0x65b),
            (0x53c, 0x55_5555),
            (0x554, 37),
            (0x650, 1),
            (PACKETPTR, BUFFER),
        ])
    }

    fn run(&mut self, us: u64) {
        let until = self.now + us * US;
        while Radio::next_event(&self.radio).0 <= until {
            let at = Radio::next_event(&self.radio);
            Radio::advance(&mut self.radio, at);
            self.settle(at.0);
            assert!(Radio::next_event(&self.radio) > at, "it does not get on");
        }
        self.now = until;
        take_sent(self.radio.antenna(), &mut self.sent);
    }

    fn settle(&mut self, at: u64) {
        while self.radio.needs_memory() {
            self.radio.transfer(&mut self.memory).unwrap();
        }
        Nrf::advance(&mut self.radio, Cycles(at.div_ceil(CYCLE))).unwrap();
        let new = self.radio.events_mut().take_new();
        let new = (0..32).filter(|bit| new >> bit & 1 != 0);
        self.seen.extend(new.map(|bit| (at, 0x100 + 4 * bit)));
    }

    fn set(&mut self, register: u32, value: u32) {
        let now = Cycles(self.now.div_ceil(CYCLE));
        assert_eq!(self.radio.write(register, value, now), Ok(true));
        self.settle(self.now);
    }

    fn get(&mut self, register: u32) -> u32 {
        self.radio.read(register, Cycles(0)).unwrap()
    }

    /// The events since the last call, in tenths of a microsecond since a time.
    fn take(&mut self, since: u64) -> Vec<(u64, u32)> {
        let seen = self.seen.drain(..);
        seen.map(|(at, event)| ((at - since) / (US / 10), event))
            .collect()
    }

    fn has(&mut self, event: u32) -> bool {
        self.seen.drain(..).any(|(_, seen)| seen == event)
    }

    fn store(&mut self, bytes: &[u8]) {
        assert!(self.memory.write(BUFFER, bytes));
    }

    fn stored(&self, count: u32) -> Vec<u8> {
        self.memory.read(BUFFER, count).unwrap()
    }
}

#[test]
fn a_frame_of_ieee_802154_is_sent_in_the_times_of_the_specification() {
    let mut board = Board::ieee();
    let frame = [0x41, 0x88, 7, 0xcd, 0xab, 0xff, 0xff, 1, 0, 0x55];
    board.store(&[&[frame.len() as u8 + 2][..], &frame].concat());
    // TXREADY to START, PHYEND to DISABLE.
    board.set(SHORTS, 1 << 18 | 1 << 20);
    let since = board.now;
    board.set(TXEN, 1);
    assert_eq!(board.get(STATE), 9);
    board.run(41);
    assert_eq!(board.get(STATE), 11);
    assert_eq!(board.radio.state(), "tx-0dbm");
    board.run(1000);
    assert_eq!(
        board.take(since),
        [
            (400, READY),
            (400, TXREADY),
            (400 + 1600, ADDRESS),
            (400 + 1920, FRAMESTART),
            (400 + 1920 + 320 * 10, PAYLOAD),
            (400 + 1920 + 320 * 12, END),
            (400 + 1920 + 320 * 12 + 6, PHYEND),
            (400 + 1920 + 320 * 12 + 6 + 210, DISABLED),
        ]
    );
    assert_eq!(board.get(STATE), 0);
    let [(start, bytes, end)] = &board.sent[..] else {
        panic!("{:?}", board.sent);
    };
    assert_eq!(*bytes, with_crc(&frame));
    assert_eq!(start.begin.0, since + 40 * US + CHAIN);
    assert_eq!(end.0, start.begin.0 + (6 + 12) * 32 * US);
}

#[test]
fn a_received_frame_is_in_ram_with_its_quality_and_its_header_is_signalled() {
    let frame = with_crc(&[0x41, 0x88, 9, 0xcd, 0xab, 0xff, 0xff, 2, 0]);
    let mut board = Board::ieee();
    // RXREADY to START, ADDRESS to BCSTART: BCMATCH after the length and the frame control field.
    board.set(SHORTS, 1 << 19 | 1 << 6);
    board.set(0x560, 24);
    board.set(RXEN, 1);
    board.run(100);
    assert!(board.has(RXREADY));
    let arrival = arrive(board.radio.antenna(), board.now, &frame, -60.0);
    let air = arrival.start.delimiter.0;
    board.run(300);
    assert_eq!(board.stored(3), frame[..3], "so far");
    board.run(1000);
    let latency = 230;
    assert_eq!(
        board.take(air),
        [
            (latency, ADDRESS),
            (latency + 320, FRAMESTART),
            (latency + 960, BCMATCH),
            (latency + 320 * 10, PAYLOAD),
            (latency + 320 * 12, END),
            (latency + 320 * 12, CRCOK),
            (latency + 320 * 12, PHYEND),
        ]
    );
    // 32 above -92 dBm.
    let quality = board.stored(11)[10];
    assert_eq!(board.stored(10), frame[..10]);
    assert_eq!(quality, 32);
    assert_eq!((board.get(0x400), board.get(STATE)), (1, 2));

    let mut wrong = frame;
    wrong[5] ^= 1;
    board.set(0x008, 1);
    arrive(board.radio.antenna(), board.now, &wrong, -60.0);
    board.run(2000);
    assert!(board.has(CRCERROR));
    assert_eq!(board.get(0x400), 0);
}

#[test]
fn the_channel_is_assessed_and_its_energy_measured() {
    let frame = with_crc(&[0; 100]);
    let mut board = Board::ieee();
    board.set(RXEN, 1);
    board.run(100);
    // Energy above 20, -72 dBm.
    for (power_dbm, mode, event) in [
        (-60.0, 0, CCABUSY),
        (-80.0, 0, CCAIDLE),
        (-80.0, 1, CCABUSY),
        (-80.0, 2, CCAIDLE),
        (-80.0, 3, CCABUSY),
    ] {
        board.set(0x66c, 20 << 8 | mode);
        board.run(5000);
        board.seen.clear();
        board.set(CCASTART, 1);
        let since = board.now;
        board.run(200);
        assert_eq!(board.take(since), [(1280, CCAIDLE)], "nobody sends");
        arrive(board.radio.antenna(), board.now, &frame, power_dbm);
        board.run(500);
        board.set(CCASTART, 1);
        board.run(130);
        assert!(board.has(event), "{power_dbm} dBm in mode {mode}");
    }
    board.run(5000);
    arrive(board.radio.antenna(), board.now, &frame, -52.0);
    board.run(500);
    board.set(RSSISTART, 1);
    board.run(1);
    assert!(board.has(RSSIEND));
    assert_eq!(board.get(0x548), 52);
    board.seen.clear();
    board.set(0x664, 3);
    board.set(EDSTART, 1);
    let since = board.now;
    board.run(600);
    assert_eq!(board.take(since), [(4 * 1280, EDEND)]);
    assert_eq!(board.get(0x668), 40);
}

#[test]
fn advertisements_go_from_radio_to_radio_and_another_address_hears_none() {
    let pdu = [&[0x42, 9][..], &[1, 2, 3, 4, 5, 0xc6], &[2, 1, 6]].concat();
    let mut sender = Board::ble();
    sender.store(&pdu);
    // READY to START, END to DISABLE.
    sender.set(SHORTS, 3);
    let since = sender.now;
    sender.set(TXEN, 1);
    sender.run(1000);
    let bits = 8 * (5 + pdu.len() as u64 + 3);
    assert_eq!(
        sender.take(since),
        [
            (400, READY),
            (400, TXREADY),
            (800, ADDRESS),
            (800 + 80 * 11, PAYLOAD),
            (400 + 10 * bits, END),
            (400 + 10 * bits + 60, DISABLED),
        ]
    );
    let (start, bytes, end) = &sender.sent[0];
    assert_eq!(bytes[..11], pdu);
    assert_eq!(bytes[11..], gfsk_1m::PHY.check.of(&pdu));
    assert_eq!((start.frequency_mhz, start.sync), (2402, 0));

    for (prefix, is_heard) in [(0x8e, true), (0x71, false)] {
        let mut receiver = Board::ble();
        receiver.set(0x524, prefix);
        receiver.set(SHORTS, 1);
        receiver.set(RXEN, 1);
        receiver.run(100);
        let delay = receiver.now + 10 * US - start.begin.0;
        let later = |time: Picoseconds| Picoseconds(time.0 + delay);
        let mut start = *start;
        (start.begin, start.delimiter) = (later(start.begin), later(start.delimiter));
        start.power_dbm = -60.0;
        receiver.radio.antenna().arrive(Arrival {
            id: 1,
            start,
            byte: gfsk_1m::PHY.byte,
            bytes: Arc::new(bytes.clone()),
            end: later(*end),
            is_lost: false,
            seed: 1,
        });
        receiver.run(1000);
        assert_eq!(receiver.has(CRCOK), is_heard);
        assert_eq!(receiver.stored(11) == pdu, is_heard);
    }
}

#[test]
fn what_is_sent_in_nordics_own_mode_is_a_carrier_to_others() {
    // Enhanced ShockBurst's format at 2 Mb/s: a preamble of two bytes here, an address of 5,
    // a length of 8 and S1 of 3 bits, 10 bytes, a check sequence of 2.
    let mut board = Board::new(&[
        (0x510, 1),
        (0x514, 3 << 16 | 8),
        (0x518, 4 << 16 | 32),
        (0x534, 2),
        (0x650, 1),
        (PACKETPTR, BUFFER),
        (SHORTS, 3),
    ]);
    board.store(&[10, 0, 1, 2, 3]);
    let since = board.now;
    board.set(TXEN, 1);
    board.run(1000);
    let bits = (2 + 5) * 8;
    let payload = bits + 8 + 3 + 80;
    assert_eq!(
        board.take(since),
        [
            (400, READY),
            (400, TXREADY),
            (400 + 5 * bits, ADDRESS),
            (400 + 5 * payload, PAYLOAD),
            (400 + 5 * (payload + 16), END),
            (400 + 5 * (payload + 16) + 40, DISABLED),
        ]
    );
    let (start, bytes, end) = &board.sent[0];
    assert_eq!((start.delimiter, bytes.len()), (Picoseconds::NEVER, 0));
    assert_eq!(end.0 - start.begin.0, (payload + 16) * US / 2);
}

#[test]
fn masters_of_empty_buses_end_and_the_converter_reads_0_volts() {
    let mut memory = ram();
    let set = |block: &mut dyn Nrf, now: u64, values: &[(u32, u32)]| {
        for &(offset, value) in values {
            assert_eq!(
                block.write(offset, value, Cycles(now)),
                Ok(true),
                "{offset:#x}"
            );
        }
    };
    // SPIM at 8 MHz: 4 bytes.
    let mut spi = NrfSerial::default();
    set(
        &mut spi,
        0,
        &[
            (0x524, 0x8000_0000),
            (0x534, BUFFER),
            (0x538, 4),
            (0x548, 2),
            (0x500, 7),
        ],
    );
    set(&mut spi, 100, &[(0x010, 1)]);
    assert_eq!(spi.next_event(), Cycles(100 + 4 * 8 * 8));
    spi.advance(spi.next_event()).unwrap();
    assert_eq!(spi.transfer(&mut memory), Ok(true));
    assert_eq!(memory.read(BUFFER, 5).unwrap(), [0xff, 0xff, 0xff, 0xff, 0]);
    assert_eq!(
        (spi.read(0x118, Cycles(0)), spi.read(0x53c, Cycles(0))),
        (Some(1), Some(4))
    );
    // TWIM at 100 kHz: nobody acknowledges.
    let mut i2c = NrfSerial::default();
    set(
        &mut i2c,
        0,
        &[
            (0x524, 0x0198_0000),
            (0x588, 0x48),
            (0x548, 1),
            (0x500, 6),
            (0x008, 1),
        ],
    );
    assert!(
        i2c.next_event().0.abs_diff(10 * 640) < 40,
        "{:?}",
        i2c.next_event()
    );
    i2c.advance(i2c.next_event()).unwrap();
    assert_eq!(
        (i2c.read(0x124, Cycles(0)), i2c.read(0x4c4, Cycles(0))),
        (Some(1), Some(2))
    );
    set(&mut i2c, 9000, &[(0x014, 1), (0x4c4, 2)]);
    assert_eq!(
        (i2c.read(0x104, Cycles(0)), i2c.read(0x4c4, Cycles(0))),
        (Some(1), Some(0))
    );
    assert!(
        i2c.write(0x500, 9, Cycles(0))
            .unwrap_err()
            .message
            .contains("slaves")
    );
    // Two channels of 10 us.
    let mut adc = NrfSaadc::default();
    set(
        &mut adc,
        0,
        &[(0x510, 1), (0x518, 2 << 16), (0x520, 2), (0x528, 2 << 16)],
    );
    set(
        &mut adc,
        0,
        &[(0x62c, BUFFER), (0x630, 2), (0x000, 1), (0x004, 1)],
    );
    assert_eq!(adc.next_event(), Cycles(2 * 12 * 64));
    adc.advance(adc.next_event()).unwrap();
    assert_eq!(adc.transfer(&mut memory), Ok(true));
    assert_eq!(memory.read(BUFFER, 5).unwrap(), [0; 5]);
    assert_eq!(
        (adc.read(0x104, Cycles(0)), adc.read(0x634, Cycles(0))),
        (Some(1), Some(2))
    );
}

#[test]
fn what_the_radio_lacks_is_named_and_switching_it_off_silences_it() {
    for (register, value, named) in [
        (0x510, 5, "long range"),
        (0x514, 8, "length field"),
        (0x538, 0x8005, "CRCPOLY 0x8005"),
    ] {
        let mut board = Board::ieee();
        board.set(SHORTS, 1);
        board.set(register, value);
        let now = Cycles(board.now / CYCLE);
        board.radio.write(RXEN, 1, now).unwrap();
        let later = Picoseconds(board.now + 50 * US);
        Radio::advance(&mut board.radio, later);
        let fault = Nrf::advance(&mut board.radio, Cycles(later.0 / CYCLE)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Absent);
        assert!(fault.message.contains(named), "{}", fault.message);
    }
    let mut board = Board::ieee();
    board.store(&[5, 2, 0, 1]);
    board.set(SHORTS, 1);
    board.set(TXEN, 1);
    board.run(100);
    board.set(0xffc, 0);
    board.run(1000);
    assert_eq!(board.sent[0].2.0, 1100 * US, "cut off");
    assert_eq!((board.get(STATE), board.get(0x650)), (0, 0x200));
    board.set(STOP, 1);
    board.set(DISABLE, 1);
}

/// FIPS 197, appendix C.1, and NIST SP 800-38A, F.5.1.
const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[test]
fn the_aes_engine_encrypts_a_block_in_ram() {
    let mut memory = ram();
    let clear: Vec<u8> = (0..16).map(|byte| byte * 0x11).collect();
    memory.write(BUFFER, &[&KEY[..], &clear].concat());
    let mut ecb = NrfEcb::default();
    assert_eq!(ecb.write(0x504, BUFFER, Cycles(0)), Ok(true));
    assert_eq!(ecb.write(0x000, 1, Cycles(100)), Ok(true));
    let at = ecb.next_event();
    assert_eq!(at.0, 100 + 460, "7.2 us");
    ecb.advance(at).unwrap();
    assert_eq!(ecb.transfer(&mut memory), Ok(true));
    assert_eq!(ecb.read(0x100, at), Some(1));
    let cipher = memory.read(BUFFER + 32, 16).unwrap();
    let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128;
    assert_eq!(cipher, expected.to_be_bytes());
}

#[test]
fn cryptocell_starts_gives_random_numbers_and_computes_aes_and_sha_2() {
    let mut memory = ram();
    let mut cell = NrfCryptoCell::new(1);
    assert_eq!(cell.read(0x1a24, Cycles(0)), Some(0), "off");
    let set = |cell: &mut NrfCryptoCell, values: &[(u32, u32)]| {
        for &(offset, value) in values {
            assert_eq!(
                cell.write(offset, value, Cycles(0)),
                Ok(true),
                "{offset:#x}"
            );
        }
    };
    set(&mut cell, &[(0x500, 1)]);
    assert_eq!(cell.read(0x1a24, Cycles(0)), Some(0x20e0_0000));
    // Entropy of 192 bits, each after 1,000 cycles.
    set(&mut cell, &[(0x1130, 1000), (0x1138, 10), (0x112c, 1)]);
    assert_eq!(cell.next_event(), Cycles(192_000));
    cell.advance(Cycles(192_000));
    assert_eq!(cell.read(0x1110, Cycles(192_000)), Some(1));
    assert_ne!(
        cell.read(0x1114, Cycles(192_000)),
        cell.read(0x1118, Cycles(192_000))
    );

    // SHA-256 of "abc" (FIPS 180-4).
    memory.write(BUFFER, b"abc");
    let state = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    for (word, value) in (0..).zip(state) {
        set(&mut cell, &[(0x1640 + 4 * word, value)]);
    }
    set(&mut cell, &[(0x17c0, 2), (0x1684, 1), (0x1900, 7)]);
    set(&mut cell, &[(0x1c28, BUFFER), (0x1c2c, 3)]);
    assert_eq!(cell.transfer(&mut memory, Cycles(0)), Ok(true));
    assert_eq!(cell.read(0x191c, Cycles(0)), Some(1), "busy");
    cell.advance(Cycles(80));
    assert_eq!(cell.read(0x1a00, Cycles(80)).unwrap() & 1 << 6, 1 << 6);
    assert_eq!(cell.read(0x1640, Cycles(80)), Some(0xba78_16bf));
    assert_eq!(cell.read(0x165c, Cycles(80)), Some(0xf200_15ad));

    // AES-128 in counter mode (NIST SP 800-38A, F.5.1).
    let word = |value: u128, place: u32| (value.swap_bytes() >> (32 * place)) as u32;
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c;
    let counter = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff;
    for place in 0..4 {
        set(&mut cell, &[(0x1400 + 4 * place, word(key, place))]);
        set(&mut cell, &[(0x1460 + 4 * place, word(counter, place))]);
    }
    memory.write(
        BUFFER,
        &0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes(),
    );
    set(&mut cell, &[(0x14c0, 2 << 2), (0x1900, 1)]);
    set(&mut cell, &[(0x1d28, BUFFER + 64), (0x1d2c, 16)]);
    set(&mut cell, &[(0x1c28, BUFFER), (0x1c2c, 16)]);
    assert_eq!(cell.transfer(&mut memory, Cycles(100)), Ok(true));
    let expected = 0x874d_6191_b620_e326_1bef_6864_990d_b6ce_u128;
    assert_eq!(
        memory.read(BUFFER + 64, 16).unwrap(),
        expected.to_be_bytes()
    );
    assert_eq!(
        cell.read(0x146c, Cycles(100)),
        Some(0x00ff_fdfc),
        "incremented"
    );

    let refused = cell.write(0x1080, 0x2000_0000, Cycles(0)).unwrap_err();
    assert_eq!(refused.kind, FaultKind::Absent);
    assert!(refused.message.contains("PKA"));
}
