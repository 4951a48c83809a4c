//! The CC2538's radio: two radios on the same air, and invalid frames.

use crate::ieee802154::{Sent, US, arrive, take_sent, with_crc};
use joulemark_kernel::Picoseconds;
use joulemark_peripherals::Cc2538Rf;
use joulemark_radio::{Arrival, Figures, Radio, oqpsk_2450::PHY};

const FIGURES: Figures = Figures {
    phy: &PHY,
    sensitivity_dbm: -97.0,
    capture_db: 3.0,
    turnaround: Picoseconds(192 * US),
};

// Registers.
const FRMFILT0: u32 = 0x600;
const FRMFILT1: u32 = 0x604;
const SRCMATCH: u32 = 0x608;
const SRCSHORTEN0: u32 = 0x60c;
const FRMCTRL0: u32 = 0x624;
const RXENABLE: u32 = 0x62c;
const RXMASKCLR: u32 = 0x634;
const FREQCTRL: u32 = 0x63c;
const TXPOWER: u32 = 0x640;
const FSMSTAT0: u32 = 0x648;
const FSMSTAT1: u32 = 0x64c;
const FIFOPCTRL: u32 = 0x650;
const RSSI: u32 = 0x660;
const RSSISTAT: u32 = 0x664;
const RXFIFOCNT: u32 = 0x66c;
const RFDATA: u32 = 0x828;
const RFERRF: u32 = 0x82c;
const RFIRQF1: u32 = 0x830;
const RFIRQF0: u32 = 0x834;
const RFST: u32 = 0x838;
// Strobes.
const ISRXON: u32 = 0xe3;
const ISACK: u32 = 0xe6;
const ISTXON: u32 = 0xe9;
const ISTXONCCA: u32 = 0xea;
const ISFLUSHRX: u32 = 0xed;
const ISFLUSHTX: u32 = 0xee;
const ISRFOFF: u32 = 0xef;

const PAN: u16 = 0xabcd;
const OWN: u16 = 0x1234;

/// One of two radios, and what the other would hear from it.
struct Mote {
    rf: Cc2538Rf,
    now: u64,
    sent: Vec<Sent>,
}

impl Mote {
    fn new() -> Self {
        let mut rf = Cc2538Rf::new(FIGURES, 1);
        rf.antenna().attach();
        let mut mote = Self {
            rf,
            now: 1000 * US,
            sent: Vec::new(),
        };
        for (register, value) in [
            (0x5c8, u32::from(PAN) & 0xff),
            (0x5cc, u32::from(PAN) >> 8),
            (0x5d0, u32::from(OWN) & 0xff),
            (0x5d4, u32::from(OWN) >> 8),
            (0x658, 0xf8),
        ] {
            mote.set(register, value);
        }
        for byte in 0..8 {
            mote.set(0x5a8 + 4 * byte, 0xa0 + byte);
        }
        mote
    }

    fn run_to(&mut self, time: u64) {
        while self.rf.next_event().0 <= time {
            let at = self.rf.next_event();
            self.rf.advance(at);
            assert!(self.rf.next_event() > at, "it does not get on");
        }
        self.now = time;
        take_sent(self.rf.antenna(), &mut self.sent);
    }

    fn run(&mut self, us: u64) {
        self.run_to(self.now + us * US);
    }

    fn set(&mut self, register: u32, value: u32) {
        assert!(
            self.rf
                .write(register, value, Picoseconds(self.now))
                .unwrap()
        );
    }

    fn get(&mut self, register: u32) -> u32 {
        self.rf.read(register, Picoseconds(self.now)).unwrap()
    }

    fn strobe(&mut self, strobe: u32) {
        self.set(RFST, strobe);
    }

    fn load(&mut self, frame: &[u8]) {
        self.strobe(ISFLUSHTX);
        self.set(RFDATA, frame.len() as u32 + 2);
        for &byte in frame {
            self.set(RFDATA, byte.into());
        }
    }

    /// Turn the receiver on and wait until it listens.
    fn listen(&mut self) {
        self.strobe(ISRXON);
        self.run(200);
    }

    /// Let a frame arrive, given its bytes with the length and its power; it begins in 10 us.
    fn arrive(&mut self, bytes: &[u8], power_dbm: f64) -> Arrival {
        arrive(self.rf.antenna(), self.now, bytes, power_dbm)
    }

    /// Let a frame arrive, and run to its end.
    fn hear(&mut self, bytes: &[u8]) -> u64 {
        let end = self.arrive(bytes, -60.0).end.0;
        self.run_to(end);
        end
    }

    fn read_frame(&mut self) -> Vec<u8> {
        let length = self.get(RFDATA);
        (0..length).map(|_| self.get(RFDATA) as u8).collect()
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

#[test]
fn a_frame_leaves_352_us_after_its_strobe_and_lasts_its_bytes() {
    let mut mote = Mote::new();
    mote.set(TXPOWER, 0xd5);
    mote.load(&data(OWN, 7, b"hello"));
    mote.strobe(ISTXON);
    let strobed = mote.now;
    assert_eq!(mote.get(FSMSTAT0) & 0x7f, 32 | 0x40);
    mote.run_to(strobed + 352 * US - 1);
    assert_eq!(mote.get(FSMSTAT1) & 0x22, 0x02);
    mote.run_to(strobed + 352 * US);
    assert_eq!(mote.get(FSMSTAT1) & 0x22, 0x22);
    assert_eq!(mote.get(RFIRQF0), 0x02);
    assert_eq!(mote.rf.state(), "tx-plus-3dbm");
    // Length byte, 14 bytes of frame, 2 of FCS.
    mote.run_to(strobed + 352 * US + 17 * PHY.byte.0 - 1);
    assert_eq!(mote.get(RFIRQF1), 0);
    mote.run(1);
    assert_eq!(mote.get(RFIRQF1), 0x02);
    let (start, bytes, end) = &mote.sent[0];
    assert_eq!((start.power_dbm, start.frequency_mhz), (3.0, 2405));
    assert_eq!(start.begin.0, strobed + 192 * US);
    assert_eq!(*bytes, with_crc(&data(OWN, 7, b"hello")));
    assert_eq!(end.0, strobed + 352 * US + 17 * PHY.byte.0);
    // SET_RXENMASK_ON_TX: the receiver follows.
    assert_eq!(mote.get(RXENABLE), 1 << 6);
    assert_eq!(mote.get(FSMSTAT1) & 3, 1);
    // The frame can be sent again.
    mote.strobe(ISTXON);
    mote.run(2000);
    assert_eq!(mote.sent[1].1, mote.sent[0].1);
}

#[test]
fn a_frame_is_received_byte_by_byte() {
    let mut mote = Mote::new();
    mote.listen();
    let frame = data(OWN, 7, b"hello");
    let start = mote.arrive(&with_crc(&frame), -60.0).start;
    mote.run_to(start.delimiter.0);
    assert_eq!(mote.get(RFIRQF0), 0x02);
    assert_eq!(mote.get(FSMSTAT1) & 0xe1, 0x21);
    mote.run_to(start.delimiter.0 + PHY.byte.0);
    assert_eq!(mote.get(FSMSTAT1) & 0xc0, 0x80, "FIFO with the length byte");
    // Length, control, sequence, PAN, address: the eighth byte decides.
    mote.run_to(start.delimiter.0 + 8 * PHY.byte.0 - 1);
    assert_eq!(mote.get(RFIRQF0), 0x02);
    mote.run(1);
    assert_eq!(mote.get(RFIRQF0) & 0x20, 0x20);
    assert_eq!(mote.get(RXFIFOCNT), 8);
    mote.run_to(start.delimiter.0 + 17 * PHY.byte.0 - 1);
    assert_eq!(mote.get(RFIRQF0) & 0x44, 0);
    mote.run(1);
    assert_eq!(mote.get(RFIRQF0) & 0x44, 0x44, "FIFOP and RXPKTDONE");
    assert_eq!(mote.get(RXFIFOCNT), 17);
    assert_ne!(mote.get(FSMSTAT1) & 0x40, 0);
    let read = mote.read_frame();
    assert_eq!(read[..14], frame);
    assert_eq!(read[14] as i8, -60 + 73);
    assert_eq!(read[15], 0x80 + 110);
    assert_eq!(mote.get(FSMSTAT1) & 0xc0, 0);
    assert_eq!(mote.get(RFERRF), 0);
    assert_eq!(mote.get(RFDATA), 0);
    assert_eq!(mote.get(RFERRF), 0x08, "RXUNDERF");
}

#[test]
fn a_frame_with_a_wrong_check_sequence_stays_and_is_not_acknowledged() {
    let mut mote = Mote::new();
    mote.set(FRMCTRL0, 0x60);
    mote.listen();
    let mut bytes = with_crc(&data(OWN, 7, b"hello"));
    bytes[12] ^= 1;
    mote.hear(&bytes);
    mote.run(1000);
    assert_eq!(mote.sent.len(), 0);
    assert_eq!(mote.read_frame()[15] & 0x80, 0);
}

#[test]
fn an_acknowledgment_follows_after_12_symbols() {
    let mut mote = Mote::new();
    mote.set(FRMCTRL0, 0x60);
    mote.listen();
    let end = mote.hear(&with_crc(&data(OWN, 0x42, b"x")));
    assert_eq!(mote.get(FSMSTAT1) & 3, 2);
    mote.run(1000);
    let (start, bytes, _) = &mote.sent[0];
    assert_eq!(start.begin.0, end + 192 * US);
    assert_eq!(*bytes, with_crc(&[0x02, 0x00, 0x42]));
    assert_eq!(mote.get(RFIRQF1), 0x01, "TXACKDONE");
    // Ready for the next one, 192 us after the acknowledgment.
    mote.hear(&with_crc(&data(OWN, 0x43, b"y")));
    assert_eq!(mote.read_frame().len(), 12);
    assert_eq!(mote.read_frame().len(), 12);
}

#[test]
fn frames_are_acknowledged_by_strobe_and_with_the_pending_bit_of_the_table() {
    let mut mote = Mote::new();
    mote.set(FRMCTRL0, 0x40);
    mote.listen();
    let start = mote.arrive(&with_crc(&data(OWN, 1, b"x")), -60.0).start;
    mote.run_to(start.delimiter.0 + 5 * PHY.byte.0);
    mote.strobe(ISACK);
    mote.run(2000);
    assert_eq!(mote.sent[0].1, with_crc(&[0x02, 0x00, 1]));
    mote.strobe(ISACK);
    assert_eq!(mote.get(RFERRF), 0x40, "STROBEERR");
    // Entry 3: the sender's PAN and address.
    mote.set(FRMCTRL0, 0x60);
    mote.set(SRCMATCH, 3);
    for (byte, value) in [0xcd, 0xab, 0x01, 0x00].into_iter().enumerate() {
        mote.set(0x400 + 4 * (12 + byte as u32), value);
    }
    mote.set(SRCSHORTEN0, 1 << 3);
    mote.set(0x59c, 1 << 3);
    mote.set(RFIRQF0, 0);
    mote.hear(&with_crc(&data(OWN, 2, b"x")));
    assert_eq!(mote.get(RFIRQF0) & 0x18, 0x18);
    assert_eq!((mote.get(0x58c), mote.get(0x580)), (0x43, 1 << 3));
    mote.run(2000);
    assert_eq!(mote.sent[1].1, with_crc(&[0x12, 0x00, 2]));
}

#[test]
fn frames_for_others_leave_nothing() {
    let mut frames = vec![
        data(0x9999, 1, b"another's address"),
        // Another network.
        [
            &[0x61, 0x88, 1, 0x11, 0x11],
            &OWN.to_le_bytes()[..],
            &[1, 0, 1, 2, 3],
        ]
        .concat(),
        // A reserved type, and a reserved addressing mode.
        [&[0x65, 0x88, 1], &data(OWN, 1, b"x")[3..]].concat(),
        [&[0x61, 0x84, 1], &data(OWN, 1, b"x")[3..]].concat(),
        // Too short.
        vec![0x61, 0x88],
        // No destination, and this device is not a coordinator.
        vec![0x01, 0x80, 1, 0xcd, 0xab, 1, 0, 9, 9, 9],
    ];
    let mut mote = Mote::new();
    mote.listen();
    for frame in frames.drain(..) {
        mote.hear(&with_crc(&frame));
        mote.run(10);
        assert_eq!(mote.get(RXFIFOCNT), 0, "{frame:02x?}");
        assert_eq!(mote.get(RFIRQF0) & 0x64, 0, "{frame:02x?}");
        mote.run(200);
    }
    let broadcast = data(0xffff, 1, b"all");
    let extended = [
        &[0x61, 0x8c, 1, 0xcd, 0xab],
        &[0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7][..],
        &[1, 0, 5],
    ]
    .concat();
    let acknowledgment = vec![2, 0, 9];
    let beacon = vec![0x00, 0x80, 1, 0xcd, 0xab, 1, 0, 0xff, 0xcf, 0, 0];
    for frame in [broadcast, extended, acknowledgment, beacon] {
        mote.hear(&with_crc(&frame));
        mote.run(300);
        assert_eq!(mote.read_frame()[..frame.len()], frame);
    }
    // The frame type can be rejected.
    mote.set(FRMFILT1, 0x68);
    mote.hear(&with_crc(&data(OWN, 1, b"x")));
    assert_eq!(mote.get(RXFIFOCNT), 0);
    // Without the filter everything is accepted.
    mote.run(300);
    mote.set(FRMFILT0, 0x0c);
    mote.hear(&with_crc(&data(0x9999, 1, b"x")));
    assert_eq!(mote.read_frame().len(), 12);
}

#[test]
fn a_full_fifo_stops_reception_until_it_is_flushed() {
    let mut mote = Mote::new();
    mote.listen();
    let frame = with_crc(&data(OWN, 1, &[0; 60]));
    mote.hear(&frame);
    mote.run(300);
    mote.hear(&frame);
    assert_eq!(mote.get(RFERRF) & 4, 4, "RXOVERF");
    assert_eq!(
        mote.get(FSMSTAT1) & 0xc3,
        0x40,
        "FIFOP without FIFO, neither RX nor TX"
    );
    assert_eq!(mote.get(FSMSTAT0) & 0x3f, 17);
    mote.strobe(ISFLUSHRX);
    assert_eq!((mote.get(RXFIFOCNT), mote.get(FSMSTAT1) & 1), (0, 1));
    mote.run(100);
    mote.hear(&with_crc(&data(OWN, 1, b"x")));
    assert_eq!(mote.read_frame().len(), 12);
}

#[test]
fn a_threshold_tells_of_a_frame_before_its_end() {
    let mut mote = Mote::new();
    mote.set(FIFOPCTRL, 9);
    mote.listen();
    let start = mote
        .arrive(&with_crc(&data(OWN, 1, b"long enough")), -60.0)
        .start;
    mote.run_to(start.delimiter.0 + 10 * PHY.byte.0 - 1);
    assert_eq!(mote.get(RFIRQF0) & 4, 0);
    mote.run(1);
    assert_eq!(mote.get(RFIRQF0) & 4, 4);
}

#[test]
fn an_empty_fifo_ends_a_transmission() {
    let mut mote = Mote::new();
    mote.strobe(ISFLUSHTX);
    mote.set(RFDATA, 20);
    mote.set(RFDATA, 1);
    mote.strobe(ISTXON);
    mote.run(352 + 64);
    assert_eq!(mote.get(RFERRF), 0x20, "TXUNDERF");
    assert_eq!(mote.get(FSMSTAT0) & 0x3f, 56);
    assert_eq!(mote.sent[0].2.0, mote.now);
    mote.strobe(ISFLUSHTX);
    assert_eq!(mote.get(FSMSTAT1) & 3, 1);
    // Bytes may follow in time.
    mote.set(RFERRF, 0);
    mote.set(RFDATA, 5);
    mote.strobe(ISTXON);
    mote.run(360);
    for byte in [1, 2, 3] {
        mote.set(RFDATA, byte);
    }
    mote.run(300);
    assert_eq!(mote.sent[1].1, with_crc(&[1, 2, 3]));
    assert_eq!(mote.get(RFERRF), 0);
    mote.strobe(ISTXON);
    mote.run(10);
    for _ in 0..200 {
        mote.set(RFDATA, 0);
    }
    assert_eq!(mote.get(RFERRF), 0x10, "TXOVERF");
}

#[test]
fn a_receiver_that_is_switched_off_hears_nothing() {
    let mut mote = Mote::new();
    mote.listen();
    let start = mote.arrive(&with_crc(&data(OWN, 1, b"hello")), -60.0).start;
    mote.run_to(start.delimiter.0 + 3 * PHY.byte.0);
    mote.strobe(ISRFOFF);
    assert_eq!(mote.get(RFERRF), 2, "RXABO");
    assert_eq!(mote.get(RFIRQF0) & 0x80, 0x80, "RXMASKZERO");
    assert_eq!(mote.get(RFIRQF1) & 4, 4, "RFIDLE");
    assert_eq!((mote.get(RXFIFOCNT), mote.get(FSMSTAT0) & 0x3f), (0, 0));
    assert_eq!(mote.rf.state(), "idle");
    mote.set(RFERRF, 0);
    mote.strobe(ISRFOFF);
    assert_eq!(mote.get(RFERRF), 0x40, "STROBEERR");
    // RXMASKCLR lets the current frame finish.
    mote.run(500);
    mote.listen();
    let arrival = mote.arrive(&with_crc(&data(OWN, 1, b"hello")), -60.0);
    mote.run_to(arrival.start.delimiter.0 + 3 * PHY.byte.0);
    mote.set(RXMASKCLR, 0xff);
    mote.run_to(arrival.end.0);
    assert_eq!(mote.get(RXFIFOCNT), 17);
    assert_eq!(mote.get(FSMSTAT0) & 0x3f, 0);
}

#[test]
fn power_on_the_channel_is_the_mean_of_eight_symbols() {
    let mut mote = Mote::new();
    mote.listen();
    assert_eq!(mote.get(RSSISTAT), 0);
    assert_eq!(mote.get(RSSI), 0x80);
    mote.run(120);
    assert_eq!(mote.get(RSSISTAT), 1);
    assert!((mote.get(RSSI) as u8 as i8) < -20, "noise");
    assert_ne!(mote.get(FSMSTAT1) & 0x10, 0, "clear");
    mote.arrive(&with_crc(&data(0x9999, 1, &[0; 80])), -50.0);
    mote.run(10 + 128);
    assert_eq!(mote.get(RSSI) as u8 as i8, 23);
    assert_eq!(mote.get(FSMSTAT1) & 0x10, 0, "busy");
    mote.strobe(ISTXONCCA);
    assert_eq!(mote.get(FSMSTAT1) & 0x0a, 0);
    mote.run(5000);
    mote.load(&data(OWN, 1, b"x"));
    mote.strobe(ISTXONCCA);
    assert_eq!(mote.get(FSMSTAT1) & 0x0a, 0x0a);
}

#[test]
fn the_mac_timer_captures_delimiters() {
    let mut mote = Mote::new();
    mote.set(0x804, 1);
    let started = mote.now;
    mote.load(&data(OWN, 1, b"x"));
    mote.run(5);
    mote.strobe(ISTXON);
    mote.run(400);
    mote.set(0x810, 0x11);
    let captured = mote.get(0x814) | mote.get(0x818) << 8;
    assert_eq!(u64::from(captured), (5 + 352) * 32);
    assert_eq!(mote.now - started, 405 * US);
}

#[test]
fn another_frequency_takes_effect_with_the_next_calibration() {
    let mut mote = Mote::new();
    mote.listen();
    mote.set(FREQCTRL, 16);
    let frame = with_crc(&data(OWN, 1, b"x"));
    mote.hear(&frame);
    assert_eq!(mote.get(RXFIFOCNT), 13);
    mote.run(300);
    mote.strobe(ISFLUSHRX);
    mote.listen();
    mote.hear(&frame);
    assert_eq!(mote.get(RXFIFOCNT), 0);
}

#[test]
fn whatever_comes_is_survived() {
    let mut random = 1_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 24) as u32
    };
    for _ in 0..2000 {
        let mut mote = Mote::new();
        mote.set(FRMCTRL0, [0x40, 0x60, 0x20, 0xe0][next() as usize % 4]);
        mote.set(FRMFILT0, 0x0c | next() & 3);
        mote.set(SRCMATCH, next() & 7);
        mote.set(SRCSHORTEN0, next());
        mote.listen();
        for _ in 0..4 {
            let length = next() as usize % 130;
            let mut bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
            if next() % 2 == 0 {
                bytes = with_crc(&bytes[..length.min(125)]);
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
            mote.arrive(&bytes, -40.0 - f64::from(next() % 60));
            mote.run(u64::from(next() % 5000));
            for _ in 0..next() % 40 {
                mote.get(RFDATA);
            }
            if next() % 4 == 0 {
                let strobes = [
                    ISRXON, ISTXON, ISTXONCCA, ISFLUSHRX, ISFLUSHTX, ISRFOFF, 0xe4, 0xe5, ISACK,
                ];
                mote.strobe(strobes[next() as usize % strobes.len()]);
            }
            assert!(mote.get(RXFIFOCNT) <= 128);
        }
        mote.run(100_000);
        mote.strobe(ISRFOFF);
        mote.run(1000);
        mote.strobe(ISFLUSHRX);
        mote.listen();
        mote.hear(&with_crc(&data(OWN, 1, b"x")));
        assert_eq!(mote.get(RXFIFOCNT), 13);
    }
}

#[test]
fn what_is_left_out_is_named() {
    let mut mote = Mote::new();
    for (register, value, what) in [
        (RFST, 0xb8, "command strobe processor"),
        (FRMCTRL0, 0x42, "test transmissions"),
        (FRMCTRL0, 0x44, "serial reception"),
        (FRMCTRL0, 0x50, "energy scan"),
        (0x654, 2, "slotted"),
    ] {
        let fault = mote
            .rf
            .write(register, value, Picoseconds(mote.now))
            .unwrap_err();
        assert!(fault.message.contains(what), "{fault}");
    }
}

// Registers and flags of the command strobe processor, and the MAC timer's backoff.
const CSPX: u32 = 0x788;
const CSPY: u32 = 0x78c;
const CSPZ: u32 = 0x790;
const CSP_STOP: u32 = 1 << 4;
const BACKOFF_US: u64 = 320;

/// Unslotted CSMA-CA: wait until RSSI is valid, then back off up to `z` times.
fn load_csma(mote: &mut Mote, z: u32) {
    // The MAC timer's period is a backoff of 20 symbols: 10,240 periods of 32 MHz.
    for (register, value) in [
        (0x810, 2),
        (0x814, 0x00),
        (0x818, 0x28),
        (0x810, 0),
        (0x804, 1),
    ] {
        mote.set(register, value);
    }
    mote.set(RFST, ISRXON);
    mote.set(RFST, 0xff);
    // SKIP 0 if no RSSI; LABEL; RANDXY; WAITX; SKIP 1 if not clear; SSTOP; DECZ; INCMAXY 5;
    // RPT if Z is not 0; SSTOP
    for instruction in [0x0f, 0xbb, 0xbd, 0xbc, 0x18, 0xd2, 0xc5, 0xcd, 0xae, 0xd2] {
        mote.set(RFST, instruction);
    }
    for (register, value) in [(CSPX, 0), (CSPY, 3), (CSPZ, z)] {
        mote.set(register, value);
    }
    mote.set(RFIRQF1, 0);
    mote.set(RFST, 0xe1);
}

#[test]
fn a_program_backs_off_and_stops_where_the_channel_is_clear() {
    let mut mote = Mote::new();
    let start = mote.now;
    load_csma(&mut mote, 4);
    let mut stopped = None;
    for us in 0..4000 {
        mote.run_to(start + us * US);
        if stopped.is_none() && mote.get(RFIRQF1) & CSP_STOP != 0 {
            stopped = Some(us);
        }
    }
    // The receiver's 192 us and 128 us for RSSI, then up to seven backoffs, each ending with the
    // timer's period.
    let stopped = stopped.unwrap();
    assert!((320..=320 + 7 * BACKOFF_US).contains(&stopped), "{stopped}");
    assert!(stopped == 320 || stopped % BACKOFF_US <= 1, "{stopped}");
    assert_eq!(mote.get(CSPZ), 4);
    // It stays loaded, and does the same again.
    mote.set(RFIRQF1, 0);
    mote.set(RFST, 0xe1);
    mote.run(7 * BACKOFF_US + 1);
    assert_ne!(mote.get(RFIRQF1) & CSP_STOP, 0);
}

#[test]
fn a_program_gives_up_where_the_channel_never_is_clear() {
    let mut mote = Mote::new();
    // A threshold below any noise.
    mote.set(0x658, 0x80);
    load_csma(&mut mote, 3);
    mote.run(320 + (7 + 15 + 31) * BACKOFF_US);
    assert_ne!(mote.get(RFIRQF1) & CSP_STOP, 0);
    assert_eq!((mote.get(CSPZ), mote.get(CSPY)), (0, 5));
}

#[test]
fn a_program_is_stopped_cleared_and_as_long_as_there_is_room() {
    let mut mote = Mote::new();
    mote.set(RFST, 0xff);
    // An endless loop of DECZ, which is stopped from outside.
    for instruction in [0xc2, 0xaa] {
        mote.set(RFST, instruction);
    }
    mote.set(RFST, 0xe1);
    mote.run(100);
    mote.set(RFST, 0xe2);
    let counted = mote.get(CSPZ);
    mote.run(100);
    assert_eq!(mote.get(CSPZ), counted);
    mote.set(RFST, 0xff);
    for _ in 0..24 {
        mote.set(RFST, 0xd0);
    }
    let now = Picoseconds(mote.now);
    assert!(mote.rf.write(RFST, 0xd0, now).is_err(), "24 bytes");
    mote.set(RFST, 0xff);
    assert!(
        mote.rf.write(RFST, 0xb8, now).is_err(),
        "WEVENT1 is left out"
    );
}
