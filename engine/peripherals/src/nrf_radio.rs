//! The radio of nRF52 chips in IEEE 802.15.4 mode and in Bluetooth LE's 1M mode (nRF52840 product
//! specification, chapter RADIO). Register offsets and fields were compared with Nordic's
//! `nrf52840.svd`.
//!
//! Times come from the product specification's electrical specification, partly entered from
//! memory and compared with that of the nRF5340, whose radio is its sibling. Latencies between the
//! air and events are not in it: they are those by which Nordic's own drivers correct.

use std::collections::VecDeque;
use std::mem;

use joulemark_kernel::{Cycles, Fault, FaultKind, Memories, Picoseconds};
use joulemark_radio::{Antenna, Figures, Phy, Radio, Reception, Start, gfsk_1m, oqpsk_2450};

use crate::nrf::{Nrf, NrfEvents};

const TXEN: u32 = 0;
const RXEN: u32 = 1;
const START: u32 = 2;
const STOP: u32 = 3;
const DISABLE: u32 = 4;
const RSSI_START: u32 = 5;
const RSSI_STOP: u32 = 6;
const BC_START: u32 = 7;
const BC_STOP: u32 = 8;
const ED_START: u32 = 9;
const ED_STOP: u32 = 10;
const CCA_START: u32 = 11;
const CCA_STOP: u32 = 12;

const READY: u32 = 0;
const ADDRESS: u32 = 1;
const PAYLOAD: u32 = 2;
const END: u32 = 3;
const DISABLED: u32 = 4;
const DEVMATCH: u32 = 5;
const DEVMISS: u32 = 6;
const RSSIEND: u32 = 7;
const BCMATCH: u32 = 10;
const CRCOK: u32 = 12;
const CRCERROR: u32 = 13;
const FRAMESTART: u32 = 14;
const EDEND: u32 = 15;
const EDSTOPPED: u32 = 16;
const CCAIDLE: u32 = 17;
const CCABUSY: u32 = 18;
const CCASTOPPED: u32 = 19;
const RATEBOOST: u32 = 20;
const TXREADY: u32 = 21;
const RXREADY: u32 = 22;
const MHRMATCH: u32 = 23;
const SYNC: u32 = 26;
const PHYEND: u32 = 27;
const EVENTS: u32 = 1 << READY
    | 1 << ADDRESS
    | 1 << PAYLOAD
    | 1 << END
    | 1 << DISABLED
    | 1 << DEVMATCH
    | 1 << DEVMISS
    | 1 << RSSIEND
    | 1 << BCMATCH
    | 1 << CRCOK
    | 1 << CRCERROR
    | 1 << FRAMESTART
    | 1 << EDEND
    | 1 << EDSTOPPED
    | 1 << CCAIDLE
    | 1 << CCABUSY
    | 1 << CCASTOPPED
    | 1 << RATEBOOST
    | 1 << TXREADY
    | 1 << RXREADY
    | 1 << MHRMATCH
    | 1 << SYNC
    | 1 << PHYEND;

/// SHORTS by bit: an event, and the task that it starts.
const SHORTS: [(u32, u32, u32); 19] = [
    (0, READY, START),
    (1, END, DISABLE),
    (2, DISABLED, TXEN),
    (3, DISABLED, RXEN),
    (4, ADDRESS, RSSI_START),
    (5, END, START),
    (6, ADDRESS, BC_START),
    (8, DISABLED, RSSI_STOP),
    (11, RXREADY, CCA_START),
    (12, CCAIDLE, TXEN),
    (13, CCABUSY, DISABLE),
    (14, FRAMESTART, BC_START),
    (15, READY, ED_START),
    (16, EDEND, DISABLE),
    (17, CCAIDLE, STOP),
    (18, TXREADY, START),
    (19, RXREADY, START),
    (20, PHYEND, DISABLE),
    (21, PHYEND, START),
];
const DISABLED_TXEN: u32 = 1 << 2;
const DISABLED_RXEN: u32 = 1 << 3;

/// Offsets of registers that only hold what is written, from 0x500 on.
const PACKETPTR: u32 = 0x504;
const FREQUENCY: u32 = 0x508;
const TXPOWER: u32 = 0x50c;
const MODE: u32 = 0x510;
const PCNF0: u32 = 0x514;
const PCNF1: u32 = 0x518;
const BASE0: u32 = 0x51c;
const PREFIX0: u32 = 0x524;
const TXADDRESS: u32 = 0x52c;
const RXADDRESSES: u32 = 0x530;
const CRCCNF: u32 = 0x534;
const CRCPOLY: u32 = 0x538;
const CRCINIT: u32 = 0x53c;
const TIFS: u32 = 0x544;
const DATAWHITEIV: u32 = 0x554;
const BCC: u32 = 0x560;
const DAB: u32 = 0x600;
const DAP: u32 = 0x620;
const DACNF: u32 = 0x640;
const MODECNF0: u32 = 0x650;
const SFD: u32 = 0x660;
const EDCNT: u32 = 0x664;
const CCACTRL: u32 = 0x66c;
/// Registers without documentation up to here, which Nordic's code writes for some errata.
const HELD_END: u32 = 0x800;
const POWER: u32 = 0xffc;

/// Reset values besides 0.
const RESET: [(u32, u32); 5] = [
    (FREQUENCY, 2),
    (DATAWHITEIV, 0x40),
    (MODECNF0, 0x200),
    (SFD, 0xa7),
    (CCACTRL, 0x052d_0000),
];

/// MODE.
const BLE_1M: u32 = 3;
const IEEE_802154: u32 = 15;

/// MODECNF0.RU: fast ramp-up.
const FAST: u32 = 1;
/// PCNF0.CRCINC.
const CRC_INCLUDED: u32 = 1 << 26;
/// Bluetooth LE's polynomial without its highest term, and IEEE 802.15.4's (Core Specification
/// 5.4, volume 6, part B, 3.1.1; IEEE Std 802.15.4-2006, 7.2.1.9).
const BLE_POLYNOMIAL: u32 = 0x65b;
const IEEE_POLYNOMIAL: u32 = 0x1021;

/// The access address of advertising (part B, 2.1.2).
const ADVERTISING: u32 = 0x8e89_bed6;

const fn us(tenths: u64) -> Picoseconds {
    Picoseconds(tenths * 100_000)
}

/// The shortest ramp-up: `tTXEN,FAST` and `tRXEN,FAST` of all modes.
const RAMP_UP_FAST: Picoseconds = us(400);
/// Eight symbols, in which energy is averaged (IEEE Std 802.15.4-2006, 6.9.7 and 6.9.9).
const ENERGY_SPAN: Picoseconds = us(1280);
/// `tRSSIPERIOD`, and the span over which a sample is averaged here.
const RSSI_TIME: Picoseconds = us(2);
const RSSI_SPAN: Picoseconds = us(10);
/// `ED_RSSIOFFS` in dBm (anomaly 236 of the nRF52840: the power is this and the hardware's value).
const ED_OFFSET: f64 = -92.0;
/// How much a transmission adds to noise of its own strength, in dB: the correlator's threshold
/// is taken to be a frame at the sensitivity.
const CARRIER_MARGIN_DB: f64 = 3.0;

/// Times that differ between modes.
#[derive(Debug)]
struct Mode {
    phy: &'static Phy,
    /// Index of its figures.
    number: usize,
    /// `tTXEN` and `tRXEN` without fast ramp-up, `tTXDIS` and `tRXDIS`.
    ramp_up: Picoseconds,
    tx_disable: Picoseconds,
    rx_disable: Picoseconds,
    /// From the air to an event of a received frame.
    latency: Picoseconds,
    has_phyend: bool,
    /// Bytes of the preamble in a mode that is none of the air's PHYs; what is sent is a carrier to
    /// others, and nothing is received.
    foreign_preamble: Option<usize>,
    byte: Picoseconds,
}

static IEEE: Mode = Mode {
    phy: &oqpsk_2450::PHY,
    number: 0,
    ramp_up: us(1300),
    tx_disable: us(210),
    rx_disable: us(5),
    // `EVENT_LAT`, the END event's latency, in Nordic's nRF-IEEE-802.15.4-radio-driver.
    latency: us(230),
    has_phyend: true,
    foreign_preamble: None,
    byte: oqpsk_2450::PHY.byte,
};

static BLE: Mode = Mode {
    phy: &gfsk_1m::PHY,
    number: 1,
    ramp_up: us(1400),
    tx_disable: us(60),
    rx_disable: us(0),
    // The receive chain delay by which Zephyr's Bluetooth controller corrects.
    latency: us(94),
    has_phyend: false,
    foreign_preamble: None,
    byte: gfsk_1m::PHY.byte,
};

/// Nordic's own mode at 1 Mb/s, and those at 2 Mb/s.
static NORDIC_1M: Mode = Mode {
    foreign_preamble: Some(1),
    ..copy(&BLE)
};

static AT_2M: Mode = Mode {
    foreign_preamble: Some(2),
    byte: us(40),
    tx_disable: us(40),
    ..copy(&BLE)
};

const fn copy(mode: &Mode) -> Mode {
    Mode { ..*mode }
}

/// States, by their numbers in STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Disabled = 0,
    RxRampUp = 1,
    RxIdle = 2,
    Rx = 3,
    RxDisable = 4,
    TxRampUp = 9,
    TxIdle = 10,
    Tx = 11,
    TxDisable = 12,
}

/// What follows in a frame that is being sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Address,
    FrameStart,
    Payload,
    End,
    PhyEnd,
}

/// A frame being received.
#[derive(Clone, Debug)]
struct Incoming {
    found: Reception,
    step: Step,
    /// Bytes after the synchronisation word.
    bytes: Vec<u8>,
    /// How many of the buffer's bytes were stored.
    stored: usize,
}

/// A frame being sent.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    /// When the synchronisation word ends, by the radio's events; on air it is later by the
    /// transmit chain's delay.
    delimiter: Picoseconds,
    step: Step,
    /// From the synchronisation word's end to those of payload and frame, once it was fetched.
    ends: Option<[Picoseconds; 2]>,
}

/// A wanted access to RAM.
#[derive(Clone, Debug)]
enum Wanted {
    /// Fetch the frame to send.
    Fetch,
    /// Store bytes at an address.
    Store(u32, Vec<u8>),
}

/// An energy detection.
#[derive(Clone, Copy, Debug)]
struct Energy {
    /// The end of the current span, and how many follow.
    span_end: Picoseconds,
    left: u32,
    strongest: u32,
}

/// The bit counter.
#[derive(Clone, Copy, Debug)]
struct BitCounter {
    since: Picoseconds,
    bit: Picoseconds,
    /// The count at which it last matched.
    matched: Option<u32>,
}

/// The radio.
#[derive(Debug)]
pub struct NrfRadio {
    antenna: Antenna,
    /// Of the modes.
    figures: [Figures; 2],
    /// A cycle of the core's clock.
    cycle: Picoseconds,
    events: NrfEvents,
    /// Events that are not in `events` yet, with their times.
    told: VecDeque<(Picoseconds, u32)>,
    shorts: u32,
    held: Vec<u32>,
    is_powered: bool,
    state: State,
    /// When the state ends by itself.
    until: Picoseconds,
    /// The mode that RXEN or TXEN found.
    mode: &'static Mode,
    /// The buffer of the frame being sent or received.
    buffer: u32,
    incoming: Option<Incoming>,
    outgoing: Option<Outgoing>,
    wanted: VecDeque<(Picoseconds, Wanted)>,
    counter: Option<BitCounter>,
    clear: Option<Picoseconds>,
    energy: Option<Energy>,
    energy_sample: u32,
    rssi: Option<Picoseconds>,
    rssi_sample: u32,
    crc: u32,
    is_crc_right: bool,
    matched_address: u32,
    /// The end of the last frame on air, from which TIFS counts.
    last_end: Picoseconds,
    fault: Option<Fault>,
}

const fn index(offset: u32) -> usize {
    (offset - 0x500) as usize / 4
}

impl NrfRadio {
    /// The state after reset, with the receiver's figures in IEEE 802.15.4 and in Bluetooth LE's
    /// mode and the core's clock.
    pub fn new(figures: [Figures; 2], core_hz: u32) -> Self {
        let mut antenna = Antenna::new(figures[0]);
        antenna.needs(RAMP_UP_FAST);
        Self::with(antenna, figures, core_hz)
    }

    fn with(antenna: Antenna, figures: [Figures; 2], core_hz: u32) -> Self {
        let mut held = vec![0; index(HELD_END)];
        for (offset, value) in RESET {
            held[index(offset)] = value;
        }
        Self {
            antenna,
            figures,
            cycle: Picoseconds(1_000_000_000_000 / u64::from(core_hz.max(1))),
            events: NrfEvents::new(EVENTS),
            told: VecDeque::new(),
            shorts: 0,
            held,
            is_powered: true,
            state: State::Disabled,
            until: Picoseconds::NEVER,
            mode: &IEEE,
            buffer: 0,
            incoming: None,
            outgoing: None,
            wanted: VecDeque::new(),
            counter: None,
            clear: None,
            energy: None,
            energy_sample: 0,
            rssi: None,
            rssi_sample: 0,
            crc: 0,
            is_crc_right: false,
            matched_address: 0,
            last_end: Picoseconds(0),
            fault: None,
        }
    }

    /// Reset: what is on air ends.
    pub fn reset(&mut self, now: Picoseconds) {
        self.leave_air(now);
        let core_hz = (1_000_000_000_000 / self.cycle.0) as u32;
        let fresh = Antenna::new(self.figures[0]);
        let mut antenna = mem::replace(&mut self.antenna, fresh);
        antenna.needs(RAMP_UP_FAST);
        *self = Self::with(antenna, self.figures, core_hz);
    }

    fn register(&self, offset: u32) -> u32 {
        self.held[index(offset)]
    }

    fn time(&self, now: Cycles) -> Picoseconds {
        Picoseconds(now.0 * self.cycle.0)
    }

    fn cycle_of(&self, time: Picoseconds) -> Cycles {
        if time == Picoseconds::NEVER {
            return Cycles::NEVER;
        }
        Cycles(time.0.div_ceil(self.cycle.0))
    }

    fn refuse(&mut self, what: &str) {
        let what = format!("the emulation leaves out the nRF52 radio's {what}");
        self.fault
            .get_or_insert_with(|| Fault::new(FaultKind::Absent, what));
    }

    /// The delay of the transmit chain.
    const fn chain(&self) -> Picoseconds {
        self.antenna.figures().turnaround
    }

    // ---- Events and tasks.

    fn happen(&mut self, event: u32, now: Picoseconds) {
        self.told.push_back((now, event));
        for (bit, from, task) in SHORTS {
            if from == event && self.shorts >> bit & 1 != 0 {
                self.start_task(task, now);
            }
        }
    }

    fn start_task(&mut self, task: u32, now: Picoseconds) {
        match task {
            TXEN => self.ramp_up(true, now),
            RXEN => self.ramp_up(false, now),
            START => self.start(now),
            STOP => self.stop(now),
            DISABLE => self.disable(now),
            RSSI_START => self.rssi = Some(now + RSSI_TIME),
            RSSI_STOP => self.rssi = None,
            BC_START => {
                let byte = self.incoming.as_ref().map(|frame| frame.found.byte);
                let byte = byte.unwrap_or(self.mode.phy.byte);
                self.counter = Some(BitCounter {
                    since: now,
                    bit: Picoseconds(byte.0 / 8),
                    matched: None,
                });
            }
            BC_STOP => self.counter = None,
            ED_START => {
                self.energy = Some(Energy {
                    span_end: now + ENERGY_SPAN,
                    left: self.register(EDCNT) & 0x1f_ffff,
                    strongest: 0,
                });
            }
            ED_STOP => {
                self.energy = None;
                self.happen(EDSTOPPED, now);
            }
            CCA_START => self.clear = Some(now + ENERGY_SPAN),
            CCA_STOP => {
                self.clear = None;
                self.happen(CCASTOPPED, now);
            }
            _ => {}
        }
    }

    fn enter(&mut self, state: State, until: Picoseconds) {
        (self.state, self.until) = (state, until);
        // Whatever sends next has to ramp up first, but for what is ready to send.
        let is_ready = matches!(state, State::TxRampUp | State::TxIdle | State::Tx);
        self.antenna.needs(if is_ready {
            Picoseconds(0)
        } else {
            RAMP_UP_FAST
        });
    }

    /// Stop what is on air, and listening.
    fn leave_air(&mut self, now: Picoseconds) {
        if self.outgoing.take().is_some() && self.antenna.is_sending(now) {
            self.antenna.end(now);
        }
        self.incoming = None;
        self.counter = None;
        self.antenna.deafen(now);
        self.wanted
            .retain(|(_, wanted)| matches!(wanted, Wanted::Store(..)));
    }

    fn ramp_up(&mut self, sends: bool, now: Picoseconds) {
        // A radio that sends goes on: there is no such way in the specification's state diagram.
        if !self.is_powered || self.state == State::Tx {
            return;
        }
        self.leave_air(now);
        (self.clear, self.energy) = (None, None);
        self.mode = match self.register(MODE) & 15 {
            IEEE_802154 => &IEEE,
            BLE_1M => &BLE,
            0 => &NORDIC_1M,
            1 | 4 => &AT_2M,
            mode => {
                self.refuse(&format!(
                    "modes for long range and reserved ones (RADIO.MODE {mode})"
                ));
                return;
            }
        };
        self.antenna.set_figures(self.figures[self.mode.number]);
        let is_fast = self.register(MODECNF0) & FAST != 0;
        let time = if is_fast {
            RAMP_UP_FAST
        } else {
            self.mode.ramp_up
        };
        let mut until = now + time;
        // TIFS counts from the last frame, where a shortcut turns the radio around.
        let spacing = u64::from(self.register(TIFS) & 0x3ff);
        if spacing != 0 && self.shorts & (DISABLED_TXEN | DISABLED_RXEN) != 0 {
            let chain = if sends { self.chain() } else { Picoseconds(0) };
            let at = self.last_end.0 + spacing * 1_000_000;
            until = until.max(Picoseconds(at.saturating_sub(chain.0)));
        }
        let state = if sends {
            State::TxRampUp
        } else {
            State::RxRampUp
        };
        self.enter(state, until);
    }

    fn start(&mut self, now: Picoseconds) {
        match self.state {
            State::TxIdle => self.start_sending(now),
            State::RxIdle => {
                self.buffer = self.register(PACKETPTR);
                if let Some(what) = self.odd_format() {
                    self.refuse(&what);
                    return;
                }
                self.enter(State::Rx, Picoseconds::NEVER);
                self.antenna.listen(now, self.frequency_mhz());
            }
            // Without effect elsewhere.
            _ => {}
        }
    }

    fn stop(&mut self, now: Picoseconds) {
        match self.state {
            State::Rx => {
                self.incoming = None;
                self.counter = None;
                self.enter(State::RxIdle, Picoseconds::NEVER);
                self.antenna.listen(now, self.frequency_mhz());
            }
            State::Tx => {
                self.leave_air(now);
                self.enter(State::TxIdle, Picoseconds::NEVER);
            }
            _ => {}
        }
    }

    fn disable(&mut self, now: Picoseconds) {
        self.leave_air(now);
        (self.clear, self.energy) = (None, None);
        let (state, time) = match self.state {
            State::RxRampUp | State::RxIdle | State::Rx => (State::RxDisable, self.mode.rx_disable),
            State::TxRampUp | State::TxIdle | State::Tx => (State::TxDisable, self.mode.tx_disable),
            State::RxDisable | State::TxDisable => return,
            State::Disabled => (State::RxDisable, Picoseconds(0)),
        };
        self.enter(state, now + time);
    }

    // ---- Formats.

    fn frequency_mhz(&self) -> u16 {
        let frequency = self.register(FREQUENCY);
        let base = if frequency & 1 << 8 == 0 { 2400 } else { 2360 };
        base + (frequency & 0x7f).min(100) as u16
    }

    fn power_dbm(&self) -> i8 {
        self.register(TXPOWER) as u8 as i8
    }

    /// What of the packet's format is left out.
    fn odd_format(&self) -> Option<String> {
        if self.mode.foreign_preamble.is_some() {
            return None;
        }
        let (format, crc) = (self.register(PCNF0), self.register(CRCCNF) & 3);
        let polynomial = self.register(CRCPOLY);
        let (length, s0, s1) = (format & 15, format >> 8 & 1, format >> 16 & 15);
        if self.mode.number == IEEE.number {
            let is_usual = length == 8
                && s0 == 0
                && s1 == 0
                && format & CRC_INCLUDED != 0
                && crc == 2
                && polynomial & 0xffff == IEEE_POLYNOMIAL
                && self.register(CRCINIT) == 0
                && self.register(SFD) == 0xa7;
            return (!is_usual).then(|| {
                format!(
                    "packets of IEEE 802.15.4's mode with another length field, check sequence or \
                     delimiter than the standard's (PCNF0 {format:#x}, CRCCNF {crc}, CRCPOLY \
                     {polynomial:#x})"
                )
            });
        }
        let is_usual =
            s0 == 1 && length + s1 == 8 && crc == 3 && polynomial & 0xff_ffff == BLE_POLYNOMIAL;
        (!is_usual).then(|| {
            format!(
                "packets of Bluetooth LE's mode that are not Bluetooth's (PCNF0 {format:#x}, CRCCNF \
                 {crc}, CRCPOLY {polynomial:#x})"
            )
        })
    }

    /// Bytes of S1 in RAM.
    fn s1_bytes(&self) -> usize {
        let format = self.register(PCNF0);
        usize::from(
            self.mode.number == BLE.number && (format >> 16 & 15 != 0 || format >> 20 & 1 != 0),
        )
    }

    /// Bytes of a frame before its payload, on air.
    const fn header(&self) -> usize {
        if self.mode.number == IEEE.number {
            1
        } else {
            2
        }
    }

    fn longest(&self) -> usize {
        (self.register(PCNF1) & 0xff) as usize
    }

    /// The synchronisation word of a logical address; 0 for the PHY's own.
    fn sync(&self, logical: u32) -> u32 {
        if self.mode.number == IEEE.number {
            return 0;
        }
        if self.mode.foreign_preamble.is_some() {
            return u32::MAX;
        }
        let base = self.register(BASE0 + if logical == 0 { 0 } else { 4 });
        let prefix = self.register(PREFIX0 + 4 * (logical / 4)) >> (logical % 4 * 8);
        let length = (self.register(PCNF1) >> 16 & 7).clamp(1, 4);
        let base = if length == 4 {
            base
        } else {
            base >> (32 - 8 * length)
        };
        match prefix << 24 | base & 0xff_ffff {
            ADVERTISING => 0,
            address => address,
        }
    }

    /// The check sequence's start, in the order of the PHY.
    fn check_of(&self, bytes: &[u8]) -> u32 {
        let check = &self.mode.phy.check;
        if self.mode.number == IEEE.number {
            return check.update(check.initial, &bytes[1..]);
        }
        let initial = (self.register(CRCINIT) & 0xff_ffff).reverse_bits() >> 8;
        check.update(initial, bytes)
    }

    // ---- Sending.

    fn start_sending(&mut self, now: Picoseconds) {
        self.buffer = self.register(PACKETPTR);
        if let Some(what) = self.odd_format() {
            self.refuse(&what);
            return;
        }
        let begin = now + self.chain();
        let phy = self.mode.phy;
        let mut start = Start::of_frame(phy, begin, self.frequency_mhz(), self.power_dbm().into());
        let mut synchronisation = phy.synchronisation();
        if let Some(preamble) = self.mode.foreign_preamble {
            start.delimiter = Picoseconds::NEVER;
            let address = (self.register(PCNF1) >> 16 & 7) as u64 + 1;
            synchronisation = Picoseconds(self.mode.byte.0 * (preamble as u64 + address));
        }
        start.sync = self.sync(self.register(TXADDRESS) & 7);
        self.enter(State::Tx, Picoseconds::NEVER);
        self.antenna.transmit(now, start);
        self.outgoing = Some(Outgoing {
            delimiter: now + synchronisation,
            step: Step::Address,
            ends: None,
        });
        self.wanted.push_back((now, Wanted::Fetch));
    }

    /// Fetch the frame to send.
    fn fetch(&mut self, memory: &dyn Memories) -> Result<(), Fault> {
        let Some(outgoing) = &self.outgoing else {
            return Ok(());
        };
        let delimiter = outgoing.delimiter + self.chain();
        let at = self.buffer;
        let missing = || {
            let what = "the radio's DMA (RADIO.PACKETPTR) reaches RAM only";
            Fault::new(FaultKind::Peripheral, what).at(at)
        };
        let read = |from: u32, length: usize| {
            let bytes = memory.read(at.wrapping_add(from), length as u32);
            memory.leaves_by(PACKETPTR);
            bytes.filter(|_| at >= 0x2000_0000).ok_or_else(missing)
        };
        if self.mode.foreign_preamble.is_some() {
            let ends = self.foreign_ends(&read)?;
            if let Some(outgoing) = &mut self.outgoing {
                outgoing.ends = Some(ends);
            }
            self.antenna.end(delimiter + ends[1]);
            return Ok(());
        }
        let header = self.header();
        let gap = self.s1_bytes();
        let mut bytes = read(0, header + gap)?;
        let payload = if self.mode.number == IEEE.number {
            bytes[0] &= self.mode.phy.length.mask;
            usize::from(bytes[0]).saturating_sub(2)
        } else {
            let bits = self.register(PCNF0) & 15;
            let length = u32::from(bytes[1]) & ((1 << bits) - 1);
            let s1 = bytes.get(2).map_or(0, |&s1| u32::from(s1));
            bytes[1] = (length | s1 << bits) as u8;
            bytes.truncate(2);
            length as usize
        };
        let payload = payload.min(self.longest());
        bytes.extend(read((header + gap) as u32, payload)?);
        let check = self.mode.phy.check.bytes;
        let crc = self.check_of(&bytes);
        bytes.extend(&crc.to_le_bytes()[..check]);
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.ends =
                Some([bytes.len() - check, bytes.len()].map(|end| self.mode.phy.span(end)));
        }
        self.antenna.put(0, &bytes);
        self.antenna
            .end(delimiter + self.mode.phy.span(bytes.len()));
        Ok(())
    }

    /// Where payload and packet end in a mode that is none of the air's PHYs.
    fn foreign_ends(
        &self,
        read: &dyn Fn(u32, usize) -> Result<Vec<u8>, Fault>,
    ) -> Result<[Picoseconds; 2], Fault> {
        let (format, limits) = (self.register(PCNF0), self.register(PCNF1));
        let (length_bits, s0, s1_bits) = (format & 15, format >> 8 & 1, format >> 16 & 15);
        let length = if length_bits == 0 {
            0
        } else {
            u32::from(read(s0, 1)?[0]) & ((1 << length_bits) - 1)
        };
        let payload = length.min(limits & 0xff) + (limits >> 8 & 0xff);
        // Nothing becomes of it here, but that it is read.
        let fields = s0 + u32::from(length_bits > 0) + u32::from(s1_bits > 0);
        let _ = read(0, (fields + payload) as usize);
        let bits = u64::from(8 * s0 + length_bits + s1_bits + 8 * payload);
        let check = u64::from(self.register(CRCCNF) & 3);
        let bit = self.mode.byte.0 / 8;
        Ok([bits, bits + 8 * check].map(|bits| Picoseconds(bits * bit)))
    }

    fn next_of_outgoing(&self) -> Picoseconds {
        let Some(outgoing) = &self.outgoing else {
            return Picoseconds::NEVER;
        };
        let (phy, from) = (self.mode.phy, outgoing.delimiter);
        match (outgoing.step, outgoing.ends) {
            (Step::Address, _) => from,
            (Step::FrameStart, _) => from + phy.byte,
            (Step::Payload, Some([payload, _])) => from + payload,
            (Step::End, Some([_, end])) => from + end,
            (Step::PhyEnd, Some([_, end])) => from + end + self.chain(),
            (_, None) => Picoseconds::NEVER,
        }
    }

    fn advance_outgoing(&mut self, now: Picoseconds) {
        let is_ieee = self.mode.has_phyend;
        let Some(outgoing) = &mut self.outgoing else {
            return;
        };
        let step = outgoing.step;
        outgoing.step = match step {
            Step::Address if is_ieee => Step::FrameStart,
            Step::Address | Step::FrameStart => Step::Payload,
            Step::Payload => Step::End,
            Step::End | Step::PhyEnd => Step::PhyEnd,
        };
        match step {
            Step::Address => self.happen(ADDRESS, now),
            Step::FrameStart => self.happen(FRAMESTART, now),
            Step::Payload => self.happen(PAYLOAD, now),
            Step::End => {
                self.last_end = now + self.chain();
                self.counter = None;
                if !is_ieee {
                    self.outgoing = None;
                    self.enter(State::TxIdle, Picoseconds::NEVER);
                }
                self.happen(END, now);
            }
            Step::PhyEnd => {
                self.outgoing = None;
                self.enter(State::TxIdle, Picoseconds::NEVER);
                self.happen(PHYEND, now);
            }
        }
    }

    // ---- Receiving.

    fn next_of_incoming(&self) -> Picoseconds {
        let Some(frame) = &self.incoming else {
            return Picoseconds::NEVER;
        };
        let latency = self.mode.latency;
        let phy = self.mode.phy;
        let whole = || phy.sent_bytes(&frame.bytes).unwrap_or(self.header());
        latency
            + match frame.step {
                Step::Address => frame.found.delimiter,
                Step::FrameStart => frame.found.byte_end(self.header() - 1),
                Step::Payload => frame
                    .found
                    .byte_end(whole().max(phy.check.bytes + 1) - phy.check.bytes - 1),
                Step::End | Step::PhyEnd => frame.found.byte_end(whole() - 1),
            }
    }

    /// Take the bytes that have arrived by a time, without the latency.
    fn take_bytes(&mut self, now: Picoseconds) {
        let phy = self.mode.phy;
        let Some(frame) = &mut self.incoming else {
            return;
        };
        let arrived = Picoseconds(now.0.saturating_sub(self.mode.latency.0));
        loop {
            let place = frame.bytes.len();
            let is_over = phy
                .sent_bytes(&frame.bytes)
                .is_some_and(|whole| place >= whole);
            if is_over || frame.found.byte_end(place) > arrived {
                return;
            }
            frame.bytes.push(self.antenna.byte(place));
        }
    }

    /// Put what has arrived into the buffer.
    fn store(&mut self, now: Picoseconds) {
        let (header, gap, longest) = (self.header(), self.s1_bytes(), self.longest());
        let bits = self.register(PCNF0) & 15;
        let is_ieee = self.mode.number == IEEE.number;
        let phy = self.mode.phy;
        let at = self.buffer;
        let Some(frame) = &mut self.incoming else {
            return;
        };
        let whole = phy.sent_bytes(&frame.bytes);
        let body = whole.map_or(0, |whole| whole.saturating_sub(phy.check.bytes).max(header));
        let mut bytes = frame.bytes[..frame.bytes.len().min(body.max(header))].to_vec();
        if bytes.len() < header {
            return;
        }
        bytes.truncate(header + longest);
        if !is_ieee {
            let second = u32::from(bytes[1]);
            bytes[1] = (second & ((1 << bits) - 1)) as u8;
            if gap != 0 {
                bytes.insert(2, (second >> bits) as u8);
            }
        }
        let new = bytes.split_off(frame.stored.min(bytes.len()));
        if !new.is_empty() {
            let place = at.wrapping_add(frame.stored as u32);
            frame.stored += new.len();
            self.wanted.push_back((now, Wanted::Store(place, new)));
        }
    }

    fn advance_incoming(&mut self, now: Picoseconds) {
        self.take_bytes(now);
        let is_ieee = self.mode.has_phyend;
        let Some(frame) = &mut self.incoming else {
            return;
        };
        let step = frame.step;
        frame.step = match step {
            Step::Address => Step::FrameStart,
            Step::FrameStart => Step::Payload,
            _ => Step::End,
        };
        match step {
            Step::Address => self.happen(ADDRESS, now),
            Step::FrameStart => {
                self.store(now);
                if is_ieee {
                    self.happen(FRAMESTART, now);
                }
            }
            Step::Payload => self.happen(PAYLOAD, now),
            Step::End | Step::PhyEnd => self.end_frame(now),
        }
    }

    fn end_frame(&mut self, now: Picoseconds) {
        self.store(now);
        let is_ieee = self.mode.has_phyend;
        let Some(frame) = self.incoming.take() else {
            return;
        };
        let check = self.mode.phy.check.bytes;
        let bytes = &frame.bytes;
        let split = bytes.len().saturating_sub(check).max(1).min(bytes.len());
        let (body, received) = bytes.split_at(split);
        let expected = self.check_of(body).to_le_bytes();
        self.is_crc_right = received.len() == check && received == &expected[..check];
        self.crc = received
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte));
        if is_ieee && !received.is_empty() {
            // The link quality is where the check sequence begins, in the hardware's units.
            let from = frame.found.delimiter;
            let power = self.antenna.power_dbm(
                self.frequency_mhz(),
                from,
                Picoseconds(from.0 + ENERGY_SPAN.0),
            );
            let quality = energy_level(power) as u8;
            let place = self.buffer.wrapping_add(frame.stored as u32);
            self.wanted
                .push_back((now, Wanted::Store(place, vec![quality])));
        }
        self.last_end = Picoseconds(now.0 - self.mode.latency.0);
        self.antenna.release(now);
        self.counter = None;
        self.enter(State::RxIdle, Picoseconds::NEVER);
        self.antenna.listen(now, self.frequency_mhz());
        if !is_ieee {
            self.match_device(body, now);
        }
        self.happen(if self.is_crc_right { CRCOK } else { CRCERROR }, now);
        self.happen(END, now);
        if is_ieee {
            self.happen(PHYEND, now);
        }
    }

    /// Compare a packet's first address with those of DAB and DAP.
    fn match_device(&mut self, body: &[u8], now: Picoseconds) {
        let settings = self.register(DACNF);
        if settings.trailing_zeros() >= 8 {
            return;
        }
        let is_random = body.first().is_some_and(|&first| first >> 6 & 1 != 0);
        let found = (0..8_u32).find(|&entry| {
            let low = self.register(DAB + 4 * entry).to_le_bytes();
            let high = self.register(DAP + 4 * entry).to_le_bytes();
            settings >> entry & 1 != 0
                && (settings >> (8 + entry) & 1 != 0) == is_random
                && body.get(2..8) == Some(&[&low[..], &high[..2]].concat()[..])
        });
        self.matched_address = found.unwrap_or(0);
        self.happen(if found.is_some() { DEVMATCH } else { DEVMISS }, now);
    }

    // ---- Power on the channel.

    fn power_before(&self, span: Picoseconds, now: Picoseconds) -> f64 {
        let from = Picoseconds(now.0.saturating_sub(span.0));
        self.antenna.power_dbm(self.frequency_mhz(), from, now)
    }

    fn is_busy(&self, now: Picoseconds) -> bool {
        let settings = self.register(CCACTRL);
        let power = self.power_before(ENERGY_SPAN, now);
        let is_loud = energy_level(power) >= settings >> 8 & 0xff;
        let sensitivity = self.antenna.figures().sensitivity_dbm;
        let is_carrier = self.incoming.is_some() || power >= sensitivity + CARRIER_MARGIN_DB;
        match settings & 7 {
            0 => is_loud,
            1 => is_carrier,
            2 => is_carrier && is_loud,
            _ => is_carrier || is_loud,
        }
    }

    /// When the bit counter matches.
    fn next_match(&self) -> Picoseconds {
        let wanted = self.register(BCC);
        match self.counter {
            Some(counter) if wanted != 0 && counter.matched.is_none_or(|last| last < wanted) => {
                Picoseconds(counter.since.0 + counter.bit.0 * u64::from(wanted))
            }
            _ => Picoseconds::NEVER,
        }
    }

    fn is_receiving(&self) -> bool {
        matches!(self.state, State::Rx | State::RxIdle)
    }

    /// Satisfy the accesses to RAM; return whether there were any.
    ///
    /// # Errors
    /// A buffer is not in RAM.
    pub fn transfer(&mut self, memory: &mut dyn Memories) -> Result<bool, Fault> {
        let mut is_done = false;
        while let Some((_, wanted)) = self.wanted.pop_front() {
            is_done = true;
            match wanted {
                Wanted::Fetch => self.fetch(memory)?,
                Wanted::Store(at, bytes) => {
                    if !memory.write(at, &bytes) {
                        let what = "the radio's DMA (RADIO.PACKETPTR) reaches RAM only";
                        return Err(Fault::new(FaultKind::Peripheral, what).at(at));
                    }
                }
            }
        }
        Ok(is_done)
    }
}

/// The hardware's value of a power, as in EDSAMPLE and CCACTRL.
fn energy_level(power_dbm: f64) -> u32 {
    (power_dbm - ED_OFFSET).round().clamp(0.0, 127.0) as u32
}

impl Nrf for NrfRadio {
    fn events(&self) -> &NrfEvents {
        &self.events
    }

    fn events_mut(&mut self) -> &mut NrfEvents {
        &mut self.events
    }

    fn shorts(&mut self) -> Option<&mut u32> {
        Some(&mut self.shorts)
    }

    fn task(&mut self, number: u32, now: Cycles) -> bool {
        if number > CCA_STOP {
            return false;
        }
        self.start_task(number, self.time(now));
        true
    }

    fn own(&mut self, offset: u32, _now: Cycles) -> Option<u32> {
        Some(match offset {
            0x400 => self.is_crc_right.into(),
            // RXMATCH, of the first logical address, and PDUSTAT.
            0x408 | 0x414 => 0,
            0x40c => self.crc,
            0x410 => self.matched_address,
            0x548 => self.rssi_sample,
            0x550 => self.state as u32,
            0x668 => self.energy_sample,
            POWER => self.is_powered.into(),
            0x500..HELD_END if offset.is_multiple_of(4) => self.register(offset),
            _ => return None,
        })
    }

    fn set_own(&mut self, offset: u32, value: u32, now: Cycles) -> Result<bool, Fault> {
        match offset {
            POWER if value & 1 == 0 => {
                self.reset(self.time(now));
                self.is_powered = false;
            }
            POWER => self.is_powered = true,
            0x400..0x500 | 0x548 | 0x550 | 0x668 => return Ok(false),
            0x500..HELD_END if offset.is_multiple_of(4) => self.held[index(offset)] = value,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Signal the events until now; the radio itself advances by [`Radio::advance`].
    fn advance(&mut self, now: Cycles) -> Result<(), Fault> {
        while self
            .told
            .front()
            .is_some_and(|&(time, _)| self.cycle_of(time) <= now)
        {
            if let Some((_, event)) = self.told.pop_front() {
                self.events.happen(event);
            }
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    fn next_event(&self) -> Cycles {
        if self.fault.is_some() {
            return Cycles(0);
        }
        let first = self.told.front();
        first.map_or(Cycles::NEVER, |&(time, _)| self.cycle_of(time))
    }
}

impl Radio for NrfRadio {
    fn antenna(&mut self) -> &mut Antenna {
        &mut self.antenna
    }

    fn next_event(&self) -> Picoseconds {
        if let Some(&(time, _)) = self.wanted.front() {
            return time;
        }
        if self.state == State::Disabled {
            return self.rssi.unwrap_or(Picoseconds::NEVER);
        }
        let found = if self.is_receiving() {
            self.antenna.next_event()
        } else {
            Picoseconds::NEVER
        };
        let energy = self
            .energy
            .map_or(Picoseconds::NEVER, |energy| energy.span_end);
        [
            self.until,
            found,
            self.next_of_incoming(),
            self.next_of_outgoing(),
            self.next_match(),
            self.clear.unwrap_or(Picoseconds::NEVER),
            self.rssi.unwrap_or(Picoseconds::NEVER),
            energy,
        ]
        .into_iter()
        .min()
        .unwrap_or(Picoseconds::NEVER)
    }

    fn advance(&mut self, now: Picoseconds) {
        if !self.wanted.is_empty() {
            return;
        }
        if self.until <= now {
            self.until = Picoseconds::NEVER;
            match self.state {
                State::RxRampUp => {
                    self.enter(State::RxIdle, Picoseconds::NEVER);
                    self.antenna.listen(now, self.frequency_mhz());
                    let addresses = self.register(RXADDRESSES);
                    let logical = addresses.trailing_zeros().min(7);
                    self.antenna.set_sync(self.sync(logical));
                    self.happen(READY, now);
                    self.happen(RXREADY, now);
                }
                State::TxRampUp => {
                    self.enter(State::TxIdle, Picoseconds::NEVER);
                    self.happen(READY, now);
                    self.happen(TXREADY, now);
                }
                State::RxDisable | State::TxDisable => {
                    self.enter(State::Disabled, Picoseconds::NEVER);
                    self.happen(DISABLED, now);
                }
                _ => {}
            }
        }
        if self.rssi.is_some_and(|end| end <= now) {
            self.rssi = None;
            let power = self.power_before(RSSI_SPAN, now);
            self.rssi_sample = (-power).round().clamp(0.0, 127.0) as u32;
            self.happen(RSSIEND, now);
        }
        if self.clear.is_some_and(|end| end <= now) {
            self.clear = None;
            let event = if self.is_busy(now) { CCABUSY } else { CCAIDLE };
            self.happen(event, now);
        }
        if let Some(energy) = self.energy.filter(|energy| energy.span_end <= now) {
            let level = energy_level(self.power_before(ENERGY_SPAN, now));
            let strongest = energy.strongest.max(level);
            self.energy = (energy.left > 0).then(|| Energy {
                span_end: energy.span_end + ENERGY_SPAN,
                left: energy.left - 1,
                strongest,
            });
            if self.energy.is_none() {
                self.energy_sample = strongest;
                self.happen(EDEND, now);
            }
        }
        if self.next_match() <= now {
            let wanted = self.register(BCC);
            if let Some(counter) = &mut self.counter {
                counter.matched = Some(wanted);
            }
            self.take_bytes(now);
            self.store(now);
            self.happen(BCMATCH, now);
        }
        if self.is_receiving()
            && self.antenna.next_event() <= now
            && let Some(found) = self.antenna.advance(now)
        {
            if self.state == State::Rx {
                self.incoming = Some(Incoming {
                    found,
                    step: Step::Address,
                    bytes: Vec::new(),
                    stored: 0,
                });
            } else {
                self.antenna.release(now);
            }
        }
        while self.next_of_incoming() <= now {
            self.advance_incoming(now);
        }
        while self.next_of_outgoing() <= now {
            self.advance_outgoing(now);
        }
    }

    fn needs_memory(&self) -> bool {
        !self.wanted.is_empty()
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Disabled | State::RxDisable => "idle",
            State::Rx | State::RxIdle if self.mode.number == BLE.number => "rx-1m",
            State::Rx | State::RxIdle => "rx",
            State::Tx => {
                let mut powers = POWERS.iter();
                let found = powers.find(|&&(dbm, _)| self.power_dbm() >= dbm);
                found.map_or("tx-40dbm", |&(_, name)| name)
            }
            State::RxRampUp | State::TxRampUp | State::TxIdle | State::TxDisable => "ramp-up",
        }
    }
}

/// Power states by the least output power (TXPOWER).
const POWERS: [(i8, &str); 15] = [
    (8, "tx-plus-8dbm"),
    (7, "tx-plus-7dbm"),
    (6, "tx-plus-6dbm"),
    (5, "tx-plus-5dbm"),
    (4, "tx-plus-4dbm"),
    (3, "tx-plus-3dbm"),
    (2, "tx-plus-2dbm"),
    (0, "tx-0dbm"),
    (-4, "tx-4dbm"),
    (-8, "tx-8dbm"),
    (-12, "tx-12dbm"),
    (-16, "tx-16dbm"),
    (-20, "tx-20dbm"),
    (-30, "tx-30dbm"),
    (-40, "tx-40dbm"),
];
