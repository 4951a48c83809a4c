//! The CC2538's RF core (SWRU319, chapter Radio): the radio of the `CC253x` (SWRU191C, chapter 23)
//! with its registers at other addresses. Register addresses and fields are those of Contiki-NG's
//! `dev/rfcore-*.h`; reset values are the `CC253x`'s.
//!
//! Section numbers are those of SWRU191C.

use joulemark_kernel::{Fault, FaultKind, FineHertz, Picoseconds};
use joulemark_radio::{Antenna, Figures, Radio, Start, oqpsk_2450::PHY};

mod csp;

use csp::Csp;

use crate::MacTimer;
use crate::ieee802154::Header;

/// Bytes of each FIFO.
const FIFO: usize = 128;

/// Registers from 0x400, one byte per word: the source address table, then results and addresses.
const SRCRESMASK0: usize = 0x60;
const SRCRESINDEX: usize = 0x63;
const SRCEXTPENDEN0: usize = 0x64;
const SRCSHORTPENDEN0: usize = 0x67;
const EXT_ADDR0: usize = 0x6a;
const PAN_ID0: usize = 0x72;
const SHORT_ADDR0: usize = 0x74;
const FFSM_BYTES: usize = 0x76;

/// Registers from 0x600, by number.
const FRMFILT0: usize = 0x00;
const FRMFILT1: usize = 0x01;
const SRCMATCH: usize = 0x02;
const SRCSHORTEN0: usize = 0x03;
const SRCEXTEN0: usize = 0x06;
const FRMCTRL0: usize = 0x09;
const FRMCTRL1: usize = 0x0a;
const RXENABLE: usize = 0x0b;
const RXMASKSET: usize = 0x0c;
const RXMASKCLR: usize = 0x0d;
const FREQCTRL: usize = 0x0f;
const TXPOWER: usize = 0x10;
const FSMSTAT0: usize = 0x12;
const FSMSTAT1: usize = 0x13;
const FIFOPCTRL: usize = 0x14;
const FSMCTRL: usize = 0x15;
const CCACTRL0: usize = 0x16;
const CCACTRL1: usize = 0x17;
const RSSI: usize = 0x18;
const RSSISTAT: usize = 0x19;
const RXFIRST: usize = 0x1a;
const RXFIFOCNT: usize = 0x1b;
const TXFIFOCNT: usize = 0x1c;
const RXFIRST_PTR: usize = 0x1d;
const RXLAST_PTR: usize = 0x1e;
const RXP1_PTR: usize = 0x1f;
const TXFIRST_PTR: usize = 0x21;
const TXLAST_PTR: usize = 0x22;
const RFIRQM0: usize = 0x23;
const RFIRQM1: usize = 0x24;
const RFERRM: usize = 0x25;
const RFRND: usize = 0x27;
const FREQEST: usize = 0x2a;
const CSPPROG0: usize = 0x40;
const CSPPROG23: usize = 0x57;
const XREG_WORDS: usize = 0x80;

/// Non-zero reset values: register number and value (23.15).
const RESET: [(usize, u32); 29] = [
    (FRMFILT0, 0x0d),
    (FRMFILT1, 0x78),
    (SRCMATCH, 0x07),
    (FRMCTRL0, 0x40),
    (FRMCTRL1, 0x01),
    (0x0e, 0x0f), // FREQTUNE
    (FREQCTRL, 0x0b),
    (TXPOWER, 0xf5),
    (0x11, 0x69), // TXCTRL
    (FIFOPCTRL, 0x40),
    (FSMCTRL, 0x01),
    (CCACTRL0, 0xe0),
    (CCACTRL1, 0x1a),
    (0x28, 0x75), // MDMCTRL0
    (0x29, 0x14), // MDMCTRL1
    (0x2b, 0x3f), // RXCTRL
    (0x2c, 0x5a), // FSCTRL
    (0x2e, 0x2b), // FSCAL1
    (0x2f, 0x20), // FSCAL2
    (0x30, 0x2a), // FSCAL3
    (0x31, 0x5f), // AGCCTRL0
    (0x32, 0x11), // AGCCTRL1
    (0x33, 0xfe), // AGCCTRL2
    (0x34, 0x2e), // AGCCTRL3
    (0x35, 0x10), // ADCTEST0
    (0x36, 0x0e), // ADCTEST1
    (0x37, 0x03), // ADCTEST2
    (0x38, 0x75), // MDMTEST0
    (0x39, 0x08), // MDMTEST1
];
/// TXFILTCFG.
const RESET_TXFILTCFG: (usize, u32) = (0x7a, 0x0f);

/// FRMFILT0.
const FRAME_FILTER_EN: u32 = 1;
const PAN_COORDINATOR: u32 = 1 << 1;
/// SRCMATCH.
const SRC_MATCH_EN: u32 = 1;
const AUTOPEND: u32 = 1 << 1;
const PEND_DATAREQ_ONLY: u32 = 1 << 2;
/// FRMCTRL0.
const TX_MODE: u32 = 3;
const RX_MODE: u32 = 3 << 2;
/// Bit 1 of `RX_MODE`: modes 2 and 3 are infinite reception and no symbol search.
const RX_MODE_OFF: u32 = 2 << 2;
const ENERGY_SCAN: u32 = 1 << 4;
const AUTOACK: u32 = 1 << 5;
const AUTOCRC: u32 = 1 << 6;
const APPEND_DATA_MODE: u32 = 1 << 7;
/// FRMCTRL1.
const SET_RXENMASK_ON_TX: u32 = 1;
const PENDING_OR: u32 = 1 << 2;
/// FSMCTRL.
const RX2RX_TIME_OFF: u32 = 1;
const SLOTTED_ACK: u32 = 1 << 1;
/// FSMSTAT1.
const FIFO_BIT: u32 = 1 << 7;
const FIFOP_BIT: u32 = 1 << 6;
const SFD_BIT: u32 = 1 << 5;
const CCA_BIT: u32 = 1 << 4;
const SAMPLED_CCA: u32 = 1 << 3;
const LOCK_STATUS: u32 = 1 << 2;
const TX_ACTIVE: u32 = 1 << 1;
const RX_ACTIVE: u32 = 1;
/// RFIRQF0.
const RXMASKZERO: u32 = 1 << 7;
const RXPKTDONE: u32 = 1 << 6;
const FRAME_ACCEPTED: u32 = 1 << 5;
const SRC_MATCH_FOUND: u32 = 1 << 4;
const SRC_MATCH_DONE: u32 = 1 << 3;
const FIFOP: u32 = 1 << 2;
const SFD: u32 = 1 << 1;
/// RFIRQF1.
const RFIDLE: u32 = 1 << 2;
const TXDONE: u32 = 1 << 1;
const TXACKDONE: u32 = 1;
/// RFERRF.
const STROBEERR: u32 = 1 << 6;
const TXUNDERF: u32 = 1 << 5;
const TXOVERF: u32 = 1 << 4;
const RXUNDERF: u32 = 1 << 3;
const RXOVERF: u32 = 1 << 2;
const RXABO: u32 = 1 << 1;

/// Index for "no match" in the source address table (23.9.6).
const NO_SOURCE: u8 = 0x3f;
/// Offset from power in dBm to RSSI and the CCA threshold (SWRS096A: 73 dB).
const RSSI_OFFSET: f64 = 73.0;
/// RSSI before it is valid.
const RSSI_INVALID: i8 = -128;
/// RSSI averages over this time: 8 symbols (23.10.3).
const RSSI_SPAN: Picoseconds = PHY.span(4);
/// From a strobe until reception or transmission starts (23.8.2, 23.9.2): 192 us. Also the delay
/// from a frame to its acknowledgment (figure 23-17).
const TURNAROUND: Picoseconds = PHY.span(6);
/// Correlation of an error-free frame: about 110 for the best, says the guide (23.10.4).
const BEST_CORRELATION: f64 = 110.0;
const LEAST_CORRELATION: f64 = 50.0;

/// Output power by TXPOWER: values of `SmartRF` Studio 1.16 in Contiki-NG's driver. A value between
/// two entries has the lower entry's power.
const POWERS: [(u32, i8, &str); 14] = [
    (0xff, 7, "tx-plus-7dbm"),
    (0xed, 5, "tx-plus-5dbm"),
    (0xd5, 3, "tx-plus-3dbm"),
    (0xc5, 1, "tx-plus-1dbm"),
    (0xb6, 0, "tx-0dbm"),
    (0xb0, -1, "tx-1dbm"),
    (0xa1, -3, "tx-3dbm"),
    (0x91, -5, "tx-5dbm"),
    (0x88, -7, "tx-7dbm"),
    (0x72, -9, "tx-9dbm"),
    (0x62, -11, "tx-11dbm"),
    (0x58, -13, "tx-13dbm"),
    (0x42, -15, "tx-15dbm"),
    (0x00, -24, "tx-24dbm"),
];

/// The radio's states (table 23-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    RxCalibration,
    SfdWait,
    Rx,
    RxRxWait,
    RxOverflow,
    TxCalibration,
    Tx,
    AckDelay,
    Ack,
    TxUnderflow,
}

impl State {
    /// The state's number in FSMSTAT0; for a range, its first.
    const fn number(self) -> u32 {
        match self {
            Self::Idle => 0,
            Self::RxCalibration => 2,
            Self::SfdWait => 3,
            Self::Rx => 7,
            Self::RxRxWait => 14,
            Self::RxOverflow => 17,
            Self::TxCalibration => 32,
            Self::Tx => 34,
            Self::Ack => 49,
            Self::AckDelay => 55,
            Self::TxUnderflow => 56,
        }
    }

    const fn is_rx(self) -> bool {
        matches!(
            self,
            Self::RxCalibration | Self::SfdWait | Self::Rx | Self::RxRxWait
        )
    }

    const fn is_tx(self) -> bool {
        matches!(
            self,
            Self::TxCalibration | Self::Tx | Self::AckDelay | Self::Ack | Self::TxUnderflow
        )
    }
}

/// Filter result of a frame being received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Open,
    Accepted,
}

/// A frame being received.
#[derive(Clone, Debug)]
struct Reception {
    /// The end of its SFD, and the duration of a byte.
    delimiter: Picoseconds,
    byte: Picoseconds,
    /// Received bytes, starting with the length.
    bytes: Vec<u8>,
    verdict: Verdict,
    crc: u32,
    /// Pending SACK (false) or SACKPEND (true).
    acknowledge: Option<bool>,
    source: u8,
    matches_pending: bool,
}

impl Reception {
    fn length(&self) -> Option<usize> {
        Some(PHY.sent_bytes(&self.bytes)? - 1)
    }

    /// When the byte at an index has been received.
    const fn byte_end(&self, place: usize) -> Picoseconds {
        Picoseconds(self.delimiter.0 + self.byte.0 * (place as u64 + 1))
    }
}

/// A frame being sent.
#[derive(Clone, Debug)]
struct Transmission {
    /// The end of its SFD.
    delimiter: Picoseconds,
    /// How many of its bytes are known, including the length byte; and the total if known.
    known: usize,
    whole: Option<usize>,
    /// Whether its SFD has been sent.
    is_sfd: bool,
}

/// The RF core, including the MAC timer.
#[derive(Debug)]
pub struct Cc2538Rf {
    antenna: Antenna,
    timer: MacTimer,
    csp: Csp,
    xreg: [u32; XREG_WORDS],
    ffsm: [u8; FFSM_BYTES],
    state: State,
    /// When the state ends by itself.
    until: Picoseconds,
    /// When the receiver started to listen.
    hears_since: Picoseconds,
    frequency_mhz: u16,
    rx: [u8; FIFO],
    rx_first: usize,
    rx_count: usize,
    /// Sizes of the complete frames in the FIFO, oldest first.
    rx_frames: std::collections::VecDeque<usize>,
    /// Bytes read of the oldest complete frame.
    rx_read: usize,
    tx: [u8; FIFO],
    tx_count: usize,
    receiving: Option<Reception>,
    sending: Option<Transmission>,
    /// The level of FIFOP.
    is_fifop: bool,
    flags: [u32; 2],
    errors: u32,
    sampled_cca: bool,
    random: u64,
}

impl Cc2538Rf {
    /// The state after reset; `seed` determines the random bits.
    pub fn new(figures: Figures, seed: u32) -> Self {
        let mut xreg = [0; XREG_WORDS];
        for (register, value) in RESET.into_iter().chain([RESET_TXFILTCFG]) {
            xreg[register] = value;
        }
        Self {
            antenna: Antenna::new(figures),
            timer: MacTimer::default(),
            csp: Csp::default(),
            xreg,
            ffsm: [0; FFSM_BYTES],
            state: State::Idle,
            until: Picoseconds::NEVER,
            hears_since: Picoseconds::NEVER,
            frequency_mhz: 2405,
            rx: [0; FIFO],
            rx_first: 0,
            rx_count: 0,
            rx_frames: std::collections::VecDeque::new(),
            rx_read: 0,
            tx: [0; FIFO],
            tx_count: 0,
            receiving: None,
            sending: None,
            is_fifop: false,
            flags: [0; 2],
            errors: 0,
            sampled_cca: false,
            random: u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15 | 1,
        }
    }

    /// Reset the chip: transmission and reception end, and everything but the random numbers
    /// returns to its power-up state.
    pub fn reset(&mut self, now: Picoseconds) {
        self.abort(now);
        let figures = *self.antenna.figures();
        let antenna = std::mem::replace(&mut self.antenna, Antenna::new(figures));
        *self = Self {
            antenna,
            random: self.random,
            ..Self::new(figures, 0)
        };
    }

    // ---- States.

    fn enter(&mut self, state: State, until: Picoseconds) {
        (self.state, self.until) = (state, until);
    }

    fn go_idle(&mut self) {
        if self.state != State::Idle {
            self.flags[1] |= RFIDLE;
        }
        self.enter(State::Idle, Picoseconds::NEVER);
    }

    /// Stop any reception or transmission.
    fn abort(&mut self, now: Picoseconds) {
        if self.receiving.is_some() {
            self.errors |= RXABO;
            self.drop_frame();
        }
        self.stop_sending(now);
        self.antenna.deafen(now);
        self.hears_since = Picoseconds::NEVER;
    }

    fn stop_sending(&mut self, now: Picoseconds) {
        if self.sending.take().is_some() {
            self.antenna.end(now);
        }
    }

    /// Remove the bytes of the frame being received from the FIFO.
    fn drop_frame(&mut self) {
        if let Some(frame) = self.receiving.take() {
            let unread = frame.bytes.len().min(self.rx_count);
            self.rx_count -= unread;
            self.rx_read -= (frame.bytes.len() - unread).min(self.rx_read);
        }
    }

    fn start_rx(&mut self, now: Picoseconds) {
        self.abort(now);
        self.tune();
        self.enter(State::RxCalibration, now + TURNAROUND);
    }

    /// FREQCTRL takes effect with a calibration.
    fn tune(&mut self) {
        self.frequency_mhz = 2394 + self.xreg[FREQCTRL].min(113) as u16;
    }

    fn listen(&mut self, now: Picoseconds) {
        if self.hears_since == Picoseconds::NEVER {
            self.hears_since = now;
        }
        self.antenna.listen(now, self.frequency_mhz);
        self.enter(State::SfdWait, Picoseconds::NEVER);
    }

    /// Continue after a received or sent frame as RXENABLE says.
    fn after_frame(&mut self, now: Picoseconds) {
        if self.xreg[RXENABLE] == 0 {
            self.abort(now);
            self.go_idle();
        } else if self.state.is_tx() {
            self.start_rx(now);
        } else if self.xreg[FSMCTRL] & RX2RX_TIME_OFF != 0 {
            self.antenna.deafen(now);
            self.enter(State::RxRxWait, now + TURNAROUND);
        } else {
            self.listen(now);
        }
    }

    fn power(&self) -> (i8, &'static str) {
        let mut powers = POWERS.iter();
        let found = powers.find(|(value, ..)| self.xreg[TXPOWER] >= *value);
        found.map_or((-24, "tx-24dbm"), |&(_, power, name)| (power, name))
    }

    fn start_tx(&mut self, now: Picoseconds) {
        self.abort(now);
        if self.xreg[FRMCTRL1] & SET_RXENMASK_ON_TX != 0 {
            self.xreg[RXENABLE] |= 1 << 6;
        }
        self.tune();
        let begin = now + TURNAROUND;
        self.enter(State::TxCalibration, begin);
        self.announce(now, begin);
        self.offer();
    }

    fn announce(&mut self, now: Picoseconds, begin: Picoseconds) {
        let start = Start::of_frame(&PHY, begin, self.frequency_mhz, self.power().0.into());
        self.antenna.transmit(now, start);
        self.sending = Some(Transmission {
            delimiter: start.delimiter,
            known: 0,
            whole: None,
            is_sfd: false,
        });
    }

    /// Put the frame's bytes in the FIFO on the air.
    fn offer(&mut self) {
        let Some(sending) = &mut self.sending else {
            return;
        };
        if self.tx_count == 0 {
            return;
        }
        let length = usize::from(self.tx[0] & PHY.length.mask);
        let adds_crc = self.xreg[FRMCTRL0] & AUTOCRC != 0;
        let needed = 1 + if adds_crc {
            length.saturating_sub(2)
        } else {
            length
        };
        let there = self.tx_count.min(needed);
        let mut bytes = self.tx[..there].to_vec();
        let is_whole = there == needed;
        if is_whole && adds_crc {
            bytes.extend(PHY.check.of(&bytes[1..]));
            bytes.truncate(1 + length);
        }
        if bytes.len() > sending.known {
            self.antenna.put(sending.known, &bytes[sending.known..]);
            sending.known = bytes.len();
        }
        if is_whole && sending.whole.is_none() {
            let whole = 1 + length;
            sending.whole = Some(whole);
            self.antenna.end(sending.delimiter + PHY.span(whole));
        }
    }

    /// Acknowledge the frame that has just ended.
    fn start_ack(&mut self, now: Picoseconds, sequence: u8, pending: bool) {
        self.antenna.deafen(now);
        self.hears_since = Picoseconds::NEVER;
        let begin = now + TURNAROUND;
        self.enter(State::AckDelay, begin);
        self.announce(now, begin);
        let control = if pending { 0x12 } else { 0x02 };
        let mut bytes = vec![5, control, 0, sequence];
        bytes.extend(PHY.check.of(&bytes[1..]));
        self.antenna.put(0, &bytes);
        if let Some(sending) = &mut self.sending {
            (sending.known, sending.whole) = (bytes.len(), Some(bytes.len()));
            self.antenna.end(sending.delimiter + PHY.span(bytes.len()));
        }
    }

    /// The time of the next step of a transmission.
    fn next_of_sending(&self) -> Picoseconds {
        let Some(sending) = &self.sending else {
            return Picoseconds::NEVER;
        };
        if !sending.is_sfd {
            return sending.delimiter;
        }
        // The end of the frame, or its first missing byte.
        sending.delimiter + PHY.span(sending.whole.unwrap_or(sending.known))
    }

    fn advance_sending(&mut self, now: Picoseconds) {
        let Some(sending) = &mut self.sending else {
            return;
        };
        if !sending.is_sfd {
            sending.is_sfd = true;
            self.flags[0] |= SFD;
            self.timer.capture(now);
            if self.next_of_sending() > now {
                return;
            }
        }
        if self
            .sending
            .as_ref()
            .is_some_and(|sending| sending.whole.is_none())
        {
            self.stop_sending(now);
            self.errors |= TXUNDERF;
            self.enter(State::TxUnderflow, Picoseconds::NEVER);
            return;
        }
        self.sending = None;
        self.flags[1] |= if self.state == State::Ack {
            TXACKDONE
        } else {
            TXDONE
        };
        self.after_frame(now);
    }

    // ---- Reception.

    /// The next byte of the frame being received that changes something.
    fn next_place(&self, frame: &Reception) -> usize {
        let Some(length) = frame.length() else {
            return 0;
        };
        let mut place = length;
        let wants_source = || {
            self.xreg[SRCMATCH] & SRC_MATCH_EN != 0
                && (frame.bytes.len() < 3
                    || frame.bytes.len() < Header::of(&frame.bytes).source_ends())
        };
        let is_filtered = self.xreg[FRMFILT0] & FRAME_FILTER_EN != 0;
        if is_filtered && (frame.verdict == Verdict::Open || wants_source()) {
            // Filtering checks the header byte by byte.
            place = place.min(frame.bytes.len());
        }
        if !self.is_fifop && frame.verdict == Verdict::Accepted {
            let threshold = self.xreg[FIFOPCTRL] as usize;
            let missing = (threshold + 1).saturating_sub(self.rx_count).max(1);
            place = place.min(frame.bytes.len() + missing - 1);
        }
        let room = FIFO - self.rx_count;
        place.min(frame.bytes.len() + room)
    }

    fn next_of_receiving(&self) -> Picoseconds {
        let frame = self.receiving.as_ref();
        frame.map_or(Picoseconds::NEVER, |frame| {
            frame.byte_end(self.next_place(frame))
        })
    }

    /// Take the bytes of the frame received until now.
    fn take_bytes(&mut self, now: Picoseconds) {
        while let Some(frame) = &self.receiving {
            let place = frame.bytes.len();
            let at = frame.byte_end(place);
            if at > now || frame.length().is_some_and(|length| place > length) {
                return;
            }
            let byte = self.antenna.byte(place);
            self.take_byte(byte, at);
        }
    }

    fn take_byte(&mut self, byte: u8, now: Picoseconds) {
        if self.rx_count == FIFO {
            self.errors |= RXOVERF;
            self.receiving = None;
            self.is_fifop = true;
            self.flags[0] |= FIFOP;
            self.antenna.deafen(now);
            self.enter(State::RxOverflow, Picoseconds::NEVER);
            return;
        }
        let Some(frame) = &mut self.receiving else {
            return;
        };
        frame.bytes.push(byte);
        let last = (self.rx_first + self.rx_count) % FIFO;
        self.rx[last] = byte;
        self.rx_count += 1;
        let (count, length) = (frame.bytes.len(), frame.length().unwrap_or(0));
        if count > 1 && count + 1 < length + 1 {
            frame.crc = PHY.check.update(frame.crc, &[byte]);
        }
        if self.xreg[FRMFILT0] & FRAME_FILTER_EN != 0 {
            if !self.filter(now) {
                return;
            }
        } else if count == 1 {
            frame.verdict = Verdict::Accepted;
        }
        if count == length + 1 {
            self.end_frame(now);
        }
        self.watch_fifop();
    }

    /// Update FIFOP and flag its rising edge (23.10.1).
    fn watch_fifop(&mut self) {
        let partial = self
            .receiving
            .as_ref()
            .map_or(0, |frame| match frame.verdict {
                Verdict::Accepted => 0,
                Verdict::Open => frame.bytes.len(),
            });
        let counted = self.rx_count.saturating_sub(partial);
        let high = self.state == State::RxOverflow
            || !self.rx_frames.is_empty()
            || counted > self.xreg[FIFOPCTRL] as usize;
        if high && !self.is_fifop {
            self.flags[0] |= FIFOP;
        }
        self.is_fifop = high;
    }

    /// Filter the header bytes received so far (23.9.5); false rejects the frame.
    fn filter(&mut self, now: Picoseconds) -> bool {
        let Some(frame) = &self.receiving else {
            return false;
        };
        if frame.verdict == Verdict::Open {
            match self.judge(&frame.bytes) {
                None => {}
                Some(true) => {
                    self.flags[0] |= FRAME_ACCEPTED;
                    if let Some(frame) = &mut self.receiving {
                        frame.verdict = Verdict::Accepted;
                    }
                }
                Some(false) => {
                    self.drop_frame();
                    self.watch_fifop();
                    self.antenna.release(now);
                    self.listen(now);
                    return false;
                }
            }
        }
        self.match_source();
        true
    }

    /// Whether a frame is for this device, once that is known; `bytes` starts with the length.
    fn judge(&self, bytes: &[u8]) -> Option<bool> {
        let length = PHY.sent_bytes(bytes)? - 1;
        if length < 3 + 2 {
            return Some(false);
        }
        if bytes.len() < 3 {
            return None;
        }
        let header = Header::of(bytes);
        let [filter0, filter1] = [self.xreg[FRMFILT0], self.xreg[FRMFILT1]];
        if u32::from(header.version) > filter0 >> 2 & 3 {
            return Some(false);
        }
        // MODIFY_FT_FILTER changes the upper bits of the type.
        let frame_type = match filter1 >> 1 & 3 {
            0 => header.frame_type,
            1 => header.frame_type ^ 4,
            2 => header.frame_type & 3,
            _ => header.frame_type | 4,
        };
        let accepts = match frame_type {
            kind @ 0..=3 => filter1 >> (3 + kind) & 1 != 0,
            // Reserved types.
            _ => filter1 >> 7 & 1 != 0,
        };
        if !accepts || header.to_mode == 1 || header.from_mode == 1 {
            return Some(false);
        }
        let source_ends = header.source_ends();
        let least = match frame_type {
            2 => return Some(length == 5),
            _ => source_ends - 1 + 2,
        };
        if length < least || length < 9 {
            return Some(false);
        }
        let is_ours = |at: usize| {
            let pan = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            pan == 0xffff || pan == u16::from_le_bytes([self.ffsm[PAN_ID0], self.ffsm[PAN_ID0 + 1]])
        };
        if header.to_mode >= 2 {
            let ends = header.to_ends();
            if bytes.len() < ends {
                return None;
            }
            let own: &[u8] = if header.to_mode == 2 {
                &self.ffsm[SHORT_ADDR0..SHORT_ADDR0 + 2]
            } else {
                &self.ffsm[EXT_ADDR0..EXT_ADDR0 + 8]
            };
            let address = &bytes[6..ends];
            let is_broadcast = header.to_mode == 2 && address == [0xff, 0xff];
            if !is_ours(4) || !(is_broadcast || address == own) {
                return Some(false);
            }
            // Beacons have no destination.
            return Some(frame_type != 0);
        }
        if header.from_mode == 0 {
            return Some(false);
        }
        if frame_type != 0 && filter0 & PAN_COORDINATOR == 0 {
            return Some(false);
        }
        if bytes.len() < 6 {
            return None;
        }
        let pan = [self.ffsm[PAN_ID0], self.ffsm[PAN_ID0 + 1]];
        // A device without a PAN accepts all beacons.
        let any = frame_type == 0 && pan == [0xff, 0xff];
        Some(any || is_ours(4) && (frame_type == 0 || bytes[4..6] == pan))
    }

    /// Look up the source in the table once it has been received (23.9.6).
    fn match_source(&mut self) {
        if self.xreg[SRCMATCH] & SRC_MATCH_EN == 0 {
            return;
        }
        let Some(frame) = &self.receiving else {
            return;
        };
        if frame.verdict != Verdict::Accepted || frame.bytes.len() < 4 {
            return;
        }
        let header = Header::of(&frame.bytes);
        let ends = header.source_ends();
        if header.from_mode < 2 || frame.bytes.len() != ends {
            return;
        }
        let is_short = header.from_mode == 2;
        let width = if is_short { 2 } else { 8 };
        let address = &frame.bytes[ends - width..];
        let pan_at = if header.has_source_pan() {
            ends - width - 2
        } else {
            4
        };
        let key: Vec<u8> = if is_short {
            [&frame.bytes[pan_at..pan_at + 2], address].concat()
        } else {
            address.to_vec()
        };
        let bits = |first: usize| {
            let word = &self.xreg[first..first + 3];
            word[0] | word[1] << 8 | word[2] << 16
        };
        let pends = |first: usize| {
            let bytes = &self.ffsm[first..first + 3];
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
        };
        let (entries, enabled, pending) = if is_short {
            (24, bits(SRCSHORTEN0), pends(SRCSHORTPENDEN0))
        } else {
            (12, bits(SRCEXTEN0), pends(SRCEXTPENDEN0))
        };
        let bit = |entry: usize| if is_short { entry } else { 2 * entry };
        let size = key.len();
        let found: Vec<usize> = (0..entries)
            .filter(|&entry| enabled >> bit(entry) & 1 != 0)
            .filter(|&entry| self.ffsm[entry * size..(entry + 1) * size] == key[..])
            .collect();
        let mut mask = 0_u32;
        for &entry in &found {
            mask |= if is_short {
                1 << entry
            } else {
                3 << (2 * entry)
            };
        }
        let is_pending = found.iter().any(|&entry| pending >> bit(entry) & 1 != 0);
        let index = match found.first() {
            Some(&entry) if is_short => entry as u8,
            Some(&entry) => entry as u8 | 0x20,
            None => NO_SOURCE,
        };
        self.ffsm[SRCRESMASK0..SRCRESMASK0 + 3].copy_from_slice(&mask.to_le_bytes()[..3]);
        self.ffsm[SRCRESINDEX] = index | u8::from(is_pending) << 6;
        self.flags[0] |= SRC_MATCH_DONE;
        if index != NO_SOURCE {
            self.flags[0] |= SRC_MATCH_FOUND;
        }
        if let Some(frame) = &mut self.receiving {
            frame.source = index;
            frame.matches_pending = is_pending;
        }
    }

    fn end_frame(&mut self, now: Picoseconds) {
        let margin_db = self.antenna.margin_db();
        let Some(frame) = self.receiving.take() else {
            return;
        };
        let count = frame.bytes.len();
        let end = self.rx_first + self.rx_count;
        let has_crc = count >= 3;
        let is_right = has_crc && frame.bytes[count - 2..] == frame.crc.to_le_bytes()[..2];
        if self.xreg[FRMCTRL0] & AUTOCRC != 0 && has_crc {
            let from = Picoseconds(frame.delimiter.0);
            let to = Picoseconds(from.0 + RSSI_SPAN.0);
            self.rx[(end - 2) % FIFO] = self.rssi_of(from, to) as u8;
            let low = if self.xreg[FRMCTRL0] & APPEND_DATA_MODE != 0 {
                self.ffsm[SRCRESINDEX]
            } else {
                correlation(margin_db)
            };
            self.rx[(end - 1) % FIFO] = low & 0x7f | u8::from(is_right) << 7;
        }
        self.rx_frames.push_back(count);
        self.flags[0] |= RXPKTDONE;
        self.antenna.release(now);
        let pending = self.acknowledge(&frame, is_right);
        match pending {
            Some(pending) => self.start_ack(now, frame.bytes[3], pending),
            None => self.after_frame(now),
        }
    }

    /// Whether to acknowledge a completed frame, and the pending bit if so (23.9.7).
    fn acknowledge(&self, frame: &Reception, is_right: bool) -> Option<bool> {
        if !is_right || frame.bytes.len() < 6 {
            return None;
        }
        let header = Header::of(&frame.bytes);
        let or = self.xreg[FRMCTRL1] & PENDING_OR != 0;
        if let Some(pending) = frame.acknowledge {
            return Some(pending || or);
        }
        let is_automatic = self.xreg[FRMCTRL0] & AUTOACK != 0
            && self.xreg[FRMFILT0] & FRAME_FILTER_EN != 0
            && header.wants_acknowledgment
            && matches!(header.frame_type, 1 | 3)
            && header.to_mode != 0;
        if !is_automatic {
            return None;
        }
        let settings = self.xreg[SRCMATCH];
        let is_request = header.frame_type == 3
            && !header.is_secured
            && frame.bytes.get(header.source_ends()) == Some(&4);
        let automatic = settings & (AUTOPEND | SRC_MATCH_EN) == AUTOPEND | SRC_MATCH_EN
            && frame.matches_pending
            && (settings & PEND_DATAREQ_ONLY == 0 || is_request);
        Some(or || automatic)
    }

    // ---- Channel power.

    fn rssi_of(&self, from: Picoseconds, to: Picoseconds) -> i8 {
        let power = self.antenna.power_dbm(self.frequency_mhz, from, to);
        (power + RSSI_OFFSET).round().clamp(-127.0, 127.0) as i8
    }

    fn is_rssi_valid(&self, now: Picoseconds) -> bool {
        self.hears_since != Picoseconds::NEVER && now >= self.hears_since + RSSI_SPAN
    }

    fn rssi(&self, now: Picoseconds) -> i8 {
        if self.is_rssi_valid(now) {
            self.rssi_of(Picoseconds(now.0 - RSSI_SPAN.0), now)
        } else {
            RSSI_INVALID
        }
    }

    /// Clear channel assessment (23.10.5). The hysteresis has no memory here.
    fn cca(&self, now: Picoseconds) -> bool {
        if !self.is_rssi_valid(now) {
            return false;
        }
        let hysteresis = (self.xreg[CCACTRL1] & 7) as i16;
        let threshold = i16::from(self.xreg[CCACTRL0] as u8 as i8);
        let is_quiet = i16::from(self.rssi(now)) < threshold - hysteresis;
        let is_free = self.receiving.is_none();
        match self.xreg[CCACTRL1] >> 3 & 3 {
            0 => true,
            1 => is_quiet,
            2 => is_free,
            _ => is_quiet && is_free,
        }
    }

    // ---- Strobes.

    fn strobe(&mut self, instruction: u32, now: Picoseconds) -> Result<(), Fault> {
        match instruction {
            // ISRXON
            0xe3 => {
                self.xreg[RXENABLE] |= 1 << 7;
                self.start_rx(now);
            }
            // ISRXMASKBITSET and ISRXMASKBITCLR
            0xe4 => self.set_rx_enable(self.xreg[RXENABLE] | 1 << 5, now),
            0xe5 => self.set_rx_enable(self.xreg[RXENABLE] & !(1 << 5), now),
            // ISACK, ISACKPEND, ISNACK
            0xe6..=0xe8 => match &mut self.receiving {
                Some(frame) => {
                    frame.acknowledge =
                        [Some(false), Some(true), None][instruction as usize - 0xe6];
                }
                None => self.errors |= STROBEERR,
            },
            // ISTXON
            0xe9 => self.start_tx(now),
            // ISTXONCCA
            0xea => {
                self.sampled_cca = self.cca(now);
                if self.sampled_cca {
                    self.start_tx(now);
                }
            }
            // ISSAMPLECCA
            0xeb => self.sampled_cca = self.cca(now),
            // ISFLUSHRX
            0xed => {
                let restarts = self.receiving.is_some() || self.state == State::RxOverflow;
                if self.receiving.is_some() {
                    self.errors |= RXABO;
                }
                self.receiving = None;
                (self.rx_first, self.rx_count, self.rx_read) = (0, 0, 0);
                self.rx_frames.clear();
                if restarts {
                    self.listen(now);
                }
                self.is_fifop = false;
            }
            // ISFLUSHTX
            0xee => {
                self.tx_count = 0;
                if self.state == State::TxUnderflow {
                    self.after_frame(now);
                }
            }
            // ISRFOFF
            0xef => {
                if self.state == State::Idle && self.xreg[RXENABLE] == 0 {
                    self.errors |= STROBEERR;
                }
                self.clear_rx_enable(0);
                self.abort(now);
                self.go_idle();
            }
            // ISSTART, ISSTOP and ISCLEAR
            0xe1 => self.start_program(now)?,
            0xe2 => self.stop_program(),
            0xff => self.clear_program(),
            _ => self.load_program(instruction)?,
        }
        Ok(())
    }

    fn clear_rx_enable(&mut self, value: u32) {
        if self.xreg[RXENABLE] != 0 && value == 0 {
            self.flags[0] |= RXMASKZERO;
        }
        self.xreg[RXENABLE] = value;
    }

    fn set_rx_enable(&mut self, value: u32, now: Picoseconds) {
        let was_on = self.xreg[RXENABLE] != 0;
        self.clear_rx_enable(value);
        if !was_on && value != 0 && self.state == State::Idle {
            self.start_rx(now);
        } else if value == 0
            && (self.state.is_rx() || self.state == State::RxOverflow)
            && self.receiving.is_none()
        {
            // A frame being received is not aborted (23.9.1).
            self.abort(now);
            self.go_idle();
        }
    }

    // ---- Registers.

    fn read_fifo(&mut self) -> u32 {
        if self.rx_count == 0 {
            self.errors |= RXUNDERF;
            return 0;
        }
        let byte = self.rx[self.rx_first];
        self.rx_first = (self.rx_first + 1) % FIFO;
        self.rx_count -= 1;
        self.rx_read += 1;
        if self
            .rx_frames
            .front()
            .is_some_and(|&bytes| self.rx_read >= bytes)
        {
            self.rx_frames.pop_front();
            self.rx_read = 0;
        }
        // FIFOP falls, or rises again for the next frame.
        if !self.rx_frames.is_empty() && self.rx_read == 0 {
            self.is_fifop = false;
        }
        self.watch_fifop();
        byte.into()
    }

    fn write_fifo(&mut self, byte: u8) {
        if self.tx_count == FIFO {
            self.errors |= TXOVERF;
            return;
        }
        self.tx[self.tx_count] = byte;
        self.tx_count += 1;
        if matches!(self.state, State::TxCalibration | State::Tx) {
            self.offer();
        }
    }

    fn status(&self, now: Picoseconds) -> u32 {
        let is_overflow = self.state == State::RxOverflow;
        let mut status = 0;
        let mut set = |bit: u32, on: bool| status |= if on { bit } else { 0 };
        set(FIFO_BIT, self.rx_count > 0 && !is_overflow);
        set(FIFOP_BIT, self.is_fifop || is_overflow);
        let is_sending = self.sending.as_ref().is_some_and(|sending| sending.is_sfd);
        set(SFD_BIT, self.receiving.is_some() || is_sending);
        set(CCA_BIT, self.cca(now));
        set(SAMPLED_CCA, self.sampled_cca);
        set(LOCK_STATUS, self.state.is_tx() || self.state.is_rx());
        set(TX_ACTIVE, self.state.is_tx());
        set(RX_ACTIVE, self.state.is_rx());
        status
    }

    /// Read the register at an offset into the RF core; `None` if there is none.
    pub fn read(&mut self, offset: u32, now: Picoseconds) -> Option<u32> {
        self.take_bytes(now);
        let place = (offset & 0x1ff) as usize / 4;
        Some(match offset {
            0x000..=0x1ff => self.rx[place].into(),
            0x200..=0x3ff => self.tx[place].into(),
            0x400..=0x5d7 => self.ffsm[(offset as usize - 0x400) / 4].into(),
            0x600..=0x7ff => return self.read_xreg((offset as usize - 0x600) / 4, now),
            0x800..=0x824 => return self.timer.read(offset - 0x800, now),
            0x828 => self.read_fifo(),
            0x82c => self.errors,
            0x830 => self.flags[1],
            0x834 => self.flags[0],
            0x838 => 0xd0,
            _ => return None,
        })
    }

    fn read_xreg(&mut self, register: usize, now: Picoseconds) -> Option<u32> {
        Some(match register {
            RXMASKSET | RXMASKCLR | FREQEST | TXFIRST_PTR => 0,
            FSMSTAT0 => {
                let calibrated = !matches!(
                    self.state,
                    State::Idle | State::RxCalibration | State::TxCalibration
                );
                let calibrates = matches!(self.state, State::RxCalibration | State::TxCalibration);
                self.state.number() | u32::from(calibrates) << 6 | u32::from(calibrated) << 7
            }
            FSMSTAT1 => self.status(now),
            RSSI => u32::from(self.rssi(now) as u8),
            RSSISTAT => self.is_rssi_valid(now).into(),
            RXFIRST => self.rx[self.rx_first].into(),
            RXFIFOCNT => self.rx_count as u32,
            TXFIFOCNT | TXLAST_PTR => self.tx_count as u32,
            RXFIRST_PTR | RXP1_PTR => self.rx_first as u32,
            RXLAST_PTR => ((self.rx_first + self.rx_count) % FIFO) as u32,
            RFRND => self.draw() & 3,
            // Programs, and registers that the guide does not describe.
            0x00..=0x3f | CSPPROG0..=CSPPROG23 | 0x60..=0x68 | 0x6b..=0x6d | 0x7a => {
                self.xreg[register]
            }
            _ => return None,
        })
    }

    /// Write the register at an offset into the RF core; false if there is none.
    ///
    /// # Errors
    /// The value uses a feature that the emulation leaves out.
    pub fn write(&mut self, offset: u32, value: u32, now: Picoseconds) -> Result<bool, Fault> {
        self.take_bytes(now);
        let place = (offset & 0x1ff) as usize / 4;
        let byte = value as u8;
        match offset {
            0x000..=0x1ff => self.rx[place] = byte,
            0x200..=0x3ff => self.tx[place] = byte,
            0x400..=0x5d7 => {
                let place = (offset as usize - 0x400) / 4;
                let is_extended = (SRCEXTPENDEN0..SRCEXTPENDEN0 + 3).contains(&place);
                self.ffsm[place] = if is_extended { byte & 0x55 } else { byte };
            }
            0x600..=0x7ff => return self.write_xreg((offset as usize - 0x600) / 4, value, now),
            0x800..=0x824 => return self.timer.write(offset - 0x800, value, now),
            0x828 => self.write_fifo(byte),
            // Flags are cleared by writing 0; ones leave them unchanged.
            0x82c => self.errors &= value,
            0x830 => self.flags[1] &= value,
            0x834 => self.flags[0] &= value,
            0x838 => self.strobe(value & 0xff, now)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn write_xreg(&mut self, register: usize, value: u32, now: Picoseconds) -> Result<bool, Fault> {
        let refused = |what: &str| {
            let what = format!("the emulation leaves out the CC2538 radio's {what}");
            Err(Fault::new(FaultKind::Absent, what))
        };
        let value = value & 0xff;
        match register {
            RXENABLE => self.set_rx_enable(value, now),
            RXMASKSET => self.set_rx_enable(self.xreg[RXENABLE] | value, now),
            RXMASKCLR => self.set_rx_enable(self.xreg[RXENABLE] & !value, now),
            FSMSTAT0 | FSMSTAT1 | RSSI..=TXLAST_PTR | FREQEST => {}
            FRMCTRL0 if value & TX_MODE != 0 => {
                return refused("test transmissions (FRMCTRL0.TX_MODE)");
            }
            FRMCTRL0 if value & RX_MODE == 1 << 2 => {
                return refused("serial reception (FRMCTRL0.RX_MODE of 1)");
            }
            FRMCTRL0 if value & ENERGY_SCAN != 0 => {
                return refused("energy scan (FRMCTRL0.ENERGY_SCAN)");
            }
            FSMCTRL if value & SLOTTED_ACK != 0 => {
                return refused("slotted acknowledgments (FSMCTRL.SLOTTED_ACK)");
            }
            SRCEXTEN0..=0x08 => self.xreg[register] = value & 0x55,
            FREQCTRL | RFERRM => self.xreg[register] = value & 0x7f,
            FIFOPCTRL => {
                self.xreg[register] = value & 0x7f;
                self.watch_fifop();
            }
            RFIRQM1 => self.xreg[register] = value & 0x3f,
            0x00..=0x3f | CSPPROG0..=CSPPROG23 | 0x60..=0x68 | 0x6b..=0x6d | 0x7a => {
                self.xreg[register] = value;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Return random bits.
    const fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) as u32
    }

    /// Note that the 32-kHz clock changed.
    pub fn set_low_clock(&mut self, low: FineHertz, now: Picoseconds) {
        self.timer.set_low_clock(low, now);
    }

    /// Interrupt lines: radio, radio errors, MAC timer.
    pub const fn interrupts(&self) -> [bool; 3] {
        [
            self.flags[0] & self.xreg[RFIRQM0] != 0 || self.flags[1] & self.xreg[RFIRQM1] != 0,
            self.errors & self.xreg[RFERRM] != 0,
            self.timer.is_pending(),
        ]
    }

    /// Whether the SFD search (`FRMCTRL0.RX_MODE` 3) or framing (2) is off.
    const fn is_search_off(&self) -> bool {
        self.xreg[FRMCTRL0] & RX_MODE_OFF != 0
    }
}

impl Radio for Cc2538Rf {
    fn antenna(&mut self) -> &mut Antenna {
        &mut self.antenna
    }

    fn next_event(&self) -> Picoseconds {
        let own = match self.state {
            State::SfdWait => self.antenna.next_event(),
            State::Rx => self.next_of_receiving(),
            State::Tx | State::Ack => self.next_of_sending(),
            _ => self.until,
        };
        own.min(self.timer.next_event()).min(self.csp.wakes)
    }

    fn advance(&mut self, now: Picoseconds) {
        self.timer.advance(now);
        // Its strobes were checked when it was loaded.
        if self.csp.wakes <= now && self.run_program(now).is_err() {
            self.stop_program();
        }
        match self.state {
            State::SfdWait if self.antenna.next_event() <= now => {
                let Some(found) = self.antenna.advance(now) else {
                    return;
                };
                if self.is_search_off() {
                    self.antenna.release(now);
                    return;
                }
                self.receiving = Some(Reception {
                    delimiter: found.delimiter,
                    byte: found.byte,
                    bytes: Vec::with_capacity(FIFO),
                    verdict: Verdict::Open,
                    crc: 0,
                    acknowledge: None,
                    source: NO_SOURCE,
                    matches_pending: false,
                });
                self.ffsm[SRCRESINDEX] = NO_SOURCE;
                self.flags[0] |= SFD;
                self.timer.capture(now);
                self.enter(State::Rx, Picoseconds::NEVER);
            }
            State::Rx => self.take_bytes(now),
            State::Tx | State::Ack if self.next_of_sending() <= now => self.advance_sending(now),
            State::RxCalibration | State::RxRxWait if self.until <= now => self.listen(now),
            State::TxCalibration if self.until <= now => {
                self.enter(State::Tx, Picoseconds::NEVER);
            }
            State::AckDelay if self.until <= now => self.enter(State::Ack, Picoseconds::NEVER),
            _ => {}
        }
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Idle => "idle",
            State::RxCalibration | State::TxCalibration | State::AckDelay => "calibrate",
            State::Tx | State::Ack | State::TxUnderflow => self.power().1,
            _ => "rx",
        }
    }
}

/// Correlation for the LQI: about 110 for the best frames and 50 for the worst, says the guide
/// (23.10.4); interpolated linearly over an assumed 10 dB above sensitivity.
fn correlation(margin_db: f64) -> u8 {
    let share = (margin_db / 10.0).clamp(0.0, 1.0);
    (LEAST_CORRELATION + share * (BEST_CORRELATION - LEAST_CORRELATION)).round() as u8
}
