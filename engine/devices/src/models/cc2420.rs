//! TI CC2420, an IEEE 802.15.4 radio at 2.4 GHz with a security engine.
//!
//! Registers, strobes, FIFOs, pins and states follow the data sheet, SWRS041B (March 2007);
//! comments state what is done where it is silent. Left out: the test modes of MDMCTRL1 (serial
//! data, looping FIFOs), overrides (MANAND, MANOR), and test signals on pins other than lock and
//! oscillator.

use joulemark_kernel::Picoseconds;
use joulemark_radio::{Antenna, oqpsk_2450::PHY};

use crate::{Device, Figures, Lines, Model, PinRole, Protocol};

#[path = "cc2420/addresses.rs"]
mod addresses;
#[path = "cc2420/engine.rs"]
mod engine;
#[path = "cc2420/fifo.rs"]
mod fifo;
#[path = "cc2420/receiver.rs"]
mod receiver;
#[path = "cc2420/registers.rs"]
mod registers;
#[path = "cc2420/security.rs"]
mod security;
#[path = "cc2420/spi.rs"]
mod spi;
#[path = "cc2420/transmitter.rs"]
mod transmitter;

use engine::{Operation, Work};
use fifo::RxFifo;
use receiver::Incoming;
use registers::{MAIN, ram, strobe};
use spi::Access;
use transmitter::Outgoing;

const SELECT: usize = 0;
const REGULATOR: usize = 1;
const RESET: usize = 2;
const FIFO: usize = 3;
const FIFOP: usize = 4;
const SFD: usize = 5;
const CCA: usize = 6;

const OFF: &str = "off";
const POWER_DOWN: &str = "power-down";
const IDLE: &str = "idle";
const CALIBRATE: &str = "calibrate";
const RX: &str = "rx";

const fn pin(name: &'static str, is_output: bool) -> PinRole {
    PinRole {
        name,
        is_output,
        is_needed: !is_output,
    }
}

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "cc2420",
    protocol: Some(Protocol::Spi),
    pins: &[
        pin("select", false),
        pin("regulator", false),
        pin("reset", false),
        pin("fifo", true),
        pin("fifop", true),
        pin("sfd", true),
        pin("cca", true),
    ],
    senses: &[],
    states: &[
        OFF, POWER_DOWN, IDLE, CALIBRATE, RX, "tx-0dbm", "tx-1dbm", "tx-3dbm", "tx-5dbm",
        "tx-7dbm", "tx-10dbm", "tx-15dbm", "tx-25dbm",
    ],
    figures: include_str!("cc2420.toml"),
    make: |figures| Box::new(Cc2420::new(figures)),
};

/// The lowest `TXCTRL.PA_LEVEL`, the output power in dBm and the power state (table 9). A level
/// between two entries counts as the lower one.
const OUTPUT: [(u16, f64, &str); 8] = [
    (31, 0.0, "tx-0dbm"),
    (27, -1.0, "tx-1dbm"),
    (23, -3.0, "tx-3dbm"),
    (19, -5.0, "tx-5dbm"),
    (15, -7.0, "tx-7dbm"),
    (11, -10.0, "tx-10dbm"),
    (7, -15.0, "tx-15dbm"),
    (0, -25.0, "tx-25dbm"),
];

/// The receiver's figures: section 6.3, typical.
const ANTENNA: joulemark_radio::Figures = joulemark_radio::Figures {
    phy: &PHY,
    sensitivity_dbm: -95.0,
    capture_db: 3.0,
    // TXCTRL.TX_TURNAROUND = 0.
    turnaround: symbols(8),
};

/// Start-up time of synthesizer and receiver (figure 25).
const CALIBRATION: Picoseconds = symbols(12);
const fn symbols(number: u64) -> Picoseconds {
    Picoseconds(number * PHY.symbol().0)
}

fn bytes(number: usize) -> Picoseconds {
    PHY.span(number)
}

/// The radio's state (figure 25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The voltage regulator is off or still starting.
    Off,
    /// The crystal oscillator is off or not yet stable.
    PowerDown,
    Idle,
    /// After STXCAL: only the synthesizer runs. The figure does not show this state.
    Synthesizer,
    RxCalibrate,
    RxSearch,
    RxFrame,
    /// A rejected frame is passing.
    RxWait,
    RxOverflow,
    TxCalibrate,
    TxPreamble,
    TxFrame,
    AckCalibrate,
    AckPreamble,
    AckFrame,
}

impl State {
    /// `FSMSTATE`: the first of the figure's numbers for the state.
    const fn number(self) -> u16 {
        match self {
            Self::Off | Self::PowerDown => 0,
            Self::Idle | Self::Synthesizer => 1,
            Self::RxCalibrate => 2,
            Self::RxSearch => 3,
            Self::RxFrame => 16,
            Self::RxWait => 14,
            Self::RxOverflow => 17,
            Self::TxCalibrate => 32,
            Self::TxPreamble => 34,
            Self::TxFrame => 37,
            Self::AckCalibrate => 48,
            Self::AckPreamble => 49,
            Self::AckFrame => 52,
        }
    }

    /// Whether it is one of the figure's "RX states".
    const fn is_rx(self) -> bool {
        self.is_hearing() || matches!(self, Self::RxCalibrate)
    }

    /// Whether the receiver is on.
    const fn is_hearing(self) -> bool {
        matches!(
            self,
            Self::RxSearch | Self::RxFrame | Self::RxWait | Self::RxOverflow
        )
    }

    const fn is_tx(self) -> bool {
        matches!(
            self,
            Self::TxCalibrate
                | Self::TxPreamble
                | Self::TxFrame
                | Self::AckCalibrate
                | Self::AckPreamble
                | Self::AckFrame
        )
    }

    const fn is_calibrating(self) -> bool {
        matches!(
            self,
            Self::RxCalibrate | Self::TxCalibrate | Self::AckCalibrate | Self::Synthesizer
        )
    }
}

/// The device.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the radio's own"
)]
pub struct Cc2420 {
    antenna: Antenna,
    regulator_start: Picoseconds,
    crystal_start: Picoseconds,
    latency: Picoseconds,
    block: Picoseconds,
    /// Levels of the inputs.
    inputs: [bool; 3],
    /// Levels last driven on the outputs, by pin.
    shown: [bool; 7],
    registers: [u16; registers::RESET.len()],
    memory: [u8; ram::BYTES],
    access: Access,
    state: State,
    /// When the state began, and when it ends by itself.
    since: Picoseconds,
    due: Picoseconds,
    fifo: RxFifo,
    /// RXFIFO overflow, which only SFLUSHRX ends.
    is_overflown: bool,
    incoming: Option<Incoming>,
    /// When the receiver was last turned on.
    rx_since: Picoseconds,
    is_clear: bool,
    /// The last frame's sequence number, if its FCS was correct.
    acknowledgeable: Option<u8>,
    is_pending: bool,
    /// Bytes written to the TXFIFO.
    tx_bytes: usize,
    /// Whether these bytes were sent, so that the next one starts a new frame.
    is_sent: bool,
    is_underflown: bool,
    outgoing: Option<Outgoing>,
    operation: Option<Operation>,
    is_sfd: bool,
    /// When everything was last brought up to date.
    updated: Picoseconds,
}

impl Cc2420 {
    /// Make a radio without power.
    pub fn new(figures: &Figures) -> Self {
        let mut antenna = Antenna::new(ANTENNA);
        antenna.needs(figures.time("crystal_start"));
        Self {
            antenna,
            regulator_start: figures.time("regulator_start"),
            crystal_start: figures.time("crystal_start"),
            latency: figures.time("latency"),
            block: figures.time("block"),
            inputs: [false; 3],
            shown: [false; 7],
            registers: registers::RESET,
            memory: [0; ram::BYTES],
            access: Access::Address,
            state: State::Off,
            since: Picoseconds(0),
            due: Picoseconds::NEVER,
            fifo: RxFifo::new(),
            is_overflown: false,
            incoming: None,
            rx_since: Picoseconds::NEVER,
            is_clear: false,
            acknowledgeable: None,
            is_pending: false,
            tx_bytes: 0,
            is_sent: false,
            is_underflown: false,
            outgoing: None,
            operation: None,
            is_sfd: false,
            updated: Picoseconds(0),
        }
    }

    const fn register(&self, address: u8) -> u16 {
        self.registers[(address - MAIN) as usize]
    }

    const fn has(&self, address: u8, bits: u16) -> bool {
        self.register(address) & bits != 0
    }

    const fn frequency_mhz(&self) -> u16 {
        2048 + (self.register(registers::FSCTRL) & 0x3ff)
    }

    const fn threshold(&self) -> usize {
        (self.register(registers::IOCFG0) & 0x7f) as usize
    }

    const fn is_crystal_stable(&self) -> bool {
        !matches!(self.state, State::Off | State::PowerDown)
    }

    const fn is_locked(&self) -> bool {
        self.state.is_hearing()
            || self.state.is_tx() && !self.state.is_calibrating()
            || matches!(self.state, State::Synthesizer) && self.due.0 == Picoseconds::NEVER.0
    }

    /// The output power, and its power state.
    fn output(&self) -> (f64, &'static str) {
        let level = self.register(registers::TXCTRL) & 0x1f;
        let found = OUTPUT.iter().find(|&&(least, ..)| level >= least);
        found.map_or((OUTPUT[7].1, OUTPUT[7].2), |&(_, dbm, state)| (dbm, state))
    }

    // ---- States.

    fn enter(&mut self, state: State, now: Picoseconds) {
        let was_hearing = self.state.is_hearing();
        self.state = state;
        self.since = now;
        self.due = Picoseconds::NEVER;
        self.antenna.needs(match state {
            State::Off | State::PowerDown => self.crystal_start,
            _ => Picoseconds(0),
        });
        if state.is_hearing() && !was_hearing {
            self.rx_since = now;
        }
    }

    /// Stop any transmission or reception.
    fn leave_air(&mut self, now: Picoseconds) {
        if self.outgoing.take().is_some() {
            self.antenna.end(now);
        }
        self.antenna.deafen(now);
        self.incoming = None;
        self.is_sfd = false;
    }

    /// Reset, except for MAIN and the RAM (section 37).
    fn reset(&mut self, now: Picoseconds) {
        self.leave_air(now);
        let main = self.register(MAIN);
        self.registers = registers::RESET;
        self.registers[0] = main;
        self.fifo = RxFifo::new();
        self.is_overflown = false;
        self.acknowledgeable = None;
        self.is_pending = false;
        self.tx_bytes = 0;
        self.is_sent = false;
        self.is_underflown = false;
        self.operation = None;
        self.enter(State::PowerDown, now);
    }

    /// Handle the regulator's start: registers and RAM are cleared.
    fn power_on(&mut self, now: Picoseconds) {
        self.memory = [0; ram::BYTES];
        self.registers = registers::RESET;
        self.access = Access::Address;
        self.reset(now);
    }

    /// Execute a strobe (table 11 and figure 25).
    fn strobe(&mut self, code: u8, now: Picoseconds) {
        if code == strobe::SXOSCON && self.state == State::PowerDown {
            if self.due == Picoseconds::NEVER && self.has(MAIN, registers::RESET_N) {
                self.due = now + self.crystal_start;
                self.antenna.needs(Picoseconds(0));
            }
            return;
        }
        if !self.is_crystal_stable() {
            return;
        }
        let may_send = self.state.is_rx() || matches!(self.state, State::Idle | State::Synthesizer);
        match code {
            strobe::STXCAL => {
                self.leave_air(now);
                self.enter(State::Synthesizer, now);
                self.due = now + CALIBRATION;
            }
            strobe::SRXON if matches!(self.state, State::Idle | State::Synthesizer) => {
                self.calibrate_rx(now);
            }
            strobe::STXON if may_send => self.transmit(now),
            strobe::STXONCCA if self.state.is_hearing() => {
                self.assess(now);
                if self.is_clear {
                    self.transmit(now);
                }
            }
            strobe::SRFOFF => {
                self.leave_air(now);
                self.enter(State::Idle, now);
            }
            strobe::SXOSCOFF => {
                self.leave_air(now);
                self.operation = None;
                self.enter(State::PowerDown, now);
            }
            strobe::SFLUSHRX => {
                self.fifo = RxFifo::new();
                self.is_overflown = false;
                if self.state.is_hearing() {
                    self.search(now);
                }
            }
            strobe::SFLUSHTX => {
                self.tx_bytes = 0;
                self.is_sent = false;
                self.is_underflown = false;
                self.refresh(now);
            }
            strobe::SACK | strobe::SACKPEND => {
                self.is_pending = code == strobe::SACKPEND;
                match (&mut self.incoming, self.state) {
                    (Some(incoming), State::RxFrame) => incoming.is_acknowledged = true,
                    (_, State::RxSearch) => self.acknowledge(now),
                    _ => {}
                }
            }
            strobe::SRXDEC => self.start_operation(now, false),
            strobe::STXENC => self.start_operation(now, true),
            strobe::SAES if self.operation.is_none() => {
                let select = self.register(registers::SECCTRL0) >> 7 & 1;
                let work = Work::Block(security::key(&self.memory, select));
                self.operation = Some(Operation::new(work, now, now + self.block));
            }
            _ => {}
        }
    }

    /// Leave a state whose time is over.
    fn pass(&mut self, now: Picoseconds) {
        match self.state {
            State::Off => self.power_on(now),
            State::PowerDown => self.enter(State::Idle, now),
            State::RxCalibrate | State::RxWait => self.search(now),
            State::TxCalibrate | State::AckCalibrate => {
                let next = if self.state == State::TxCalibrate {
                    State::TxPreamble
                } else {
                    State::AckPreamble
                };
                self.enter(next, now);
                let outgoing = self.outgoing.as_ref();
                self.due = outgoing.map_or(now, |outgoing| outgoing.delimiter);
            }
            State::TxPreamble | State::AckPreamble => {
                let next = if self.state == State::TxPreamble {
                    State::TxFrame
                } else {
                    State::AckFrame
                };
                self.enter(next, now);
                self.is_sfd = true;
                let outgoing = self.outgoing.as_ref();
                self.due = outgoing.map_or(now, Outgoing::end);
            }
            State::TxFrame | State::AckFrame => self.finish_sending(now),
            _ => self.due = Picoseconds::NEVER,
        }
    }

    // ---- Pins and power state.

    /// Drive the pins that changed, and report the power state.
    fn show(&mut self, lines: &mut Lines) {
        let is_on = self.state != State::Off;
        // The next byte to read has not undergone the operation.
        let read = self.fifo.places()[1];
        let is_decrypting = self
            .operation
            .as_ref()
            .is_some_and(|operation| operation.receives() && operation.stream.done <= read);
        let polarity = self.register(registers::IOCFG0);
        let mux = self.register(registers::IOCFG1);
        let test = |select: u16, normal| match select & 0x1f {
            0 => normal,
            3 => self.is_locked(),
            24 => self.is_crystal_stable(),
            31 => true,
            _ => false,
        };
        let is_fifo = self.fifo.unread() > 0 && !self.is_overflown && !is_decrypting;
        let is_fifop = self.is_overflown || self.fifo.is_ready(self.threshold()) && !is_decrypting;
        let levels = [
            (FIFO, is_fifo, registers::FIFO_POLARITY),
            (FIFOP, is_fifop, registers::FIFOP_POLARITY),
            (SFD, test(mux >> 5, self.is_sfd), registers::SFD_POLARITY),
            (CCA, test(mux, self.is_clear), registers::CCA_POLARITY),
        ];
        for (pin, is_active, inverted) in levels {
            let high = is_on && is_active != (polarity & inverted != 0);
            if self.shown[pin] != high {
                self.shown[pin] = high;
                lines.drive(pin, high);
            }
        }
        lines.enter(match self.state {
            State::Off => OFF,
            State::PowerDown => POWER_DOWN,
            State::Idle => IDLE,
            state if state.is_calibrating() => CALIBRATE,
            state if state.is_tx() => self.output().1,
            _ => RX,
        });
    }

    /// Handle what is due.
    fn step(&mut self, now: Picoseconds) {
        self.update(now);
        if self.due <= now {
            self.pass(now);
        }
        let operation = self.operation.as_ref();
        if operation.is_some_and(|operation| operation.ends <= now) {
            self.finish_operation(now);
        } else if operation.is_some_and(|operation| operation.stream.next <= now) {
            self.poll_stream(now);
        }
        if self.state == State::RxSearch {
            let incoming = self.incoming.as_ref();
            if incoming.is_some_and(|incoming| incoming.delimiter <= now) {
                self.begin_frame(now);
            } else if self.antenna.next_event() <= now {
                self.find_delimiter(now);
            }
        }
        self.update(now);
    }

    /// Bring up to date everything that has no event of its own.
    fn update(&mut self, now: Picoseconds) {
        self.take_bytes(now);
        self.assess(now);
        self.updated = now;
    }
}

impl Device for Cc2420 {
    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        let now = lines.now();
        let was = std::mem::replace(&mut self.inputs[pin], high);
        self.update(now);
        match pin {
            SELECT => self.access = Access::Address,
            REGULATOR if high && !was => {
                self.enter(State::Off, now);
                self.due = now + self.regulator_start;
            }
            REGULATOR if !high && was => {
                self.power_on(now);
                self.enter(State::Off, now);
            }
            RESET if !high && self.state != State::Off => {
                self.registers[0] = registers::RESET[0];
                self.reset(now);
            }
            _ => {}
        }
        self.update(now);
        self.show(lines);
    }

    fn exchange(&mut self, byte: u8, lines: &mut Lines) -> Option<u8> {
        if self.inputs[SELECT] || !self.inputs[RESET] || self.state == State::Off {
            return None;
        }
        let now = lines.now();
        self.update(now);
        let answer = self.access(byte, now);
        self.update(now);
        self.show(lines);
        Some(answer)
    }

    fn next_event(&self) -> Picoseconds {
        if self.state == State::Off {
            return self.due;
        }
        let operation = self.operation.as_ref();
        let operation = operation.map_or(Picoseconds::NEVER, |operation| {
            operation.ends.min(operation.stream.next)
        });
        let mut next = self.due.min(operation);
        if self.state.is_hearing() {
            next = next
                .min(self.next_byte())
                .min(self.antenna.next_event())
                .min(self.next_assessment(self.updated));
        }
        next
    }

    fn advance(&mut self, lines: &mut Lines) {
        let now = lines.now();
        // An ending may start something that ends at once, such as a frame without bytes.
        while self.next_event() <= now {
            self.step(now);
        }
        self.show(lines);
    }

    fn antenna(&mut self) -> Option<&mut Antenna> {
        Some(&mut self.antenna)
    }
}
