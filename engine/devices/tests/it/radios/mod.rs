//! CC2420s on a bench, and two of them on the same air.

use std::sync::Arc;

use joulemark_devices::cc2420::{Cc2420, MODEL};
use joulemark_devices::{Device, Lines};
use joulemark_kernel::Picoseconds;
use joulemark_radio::{Arrival, Emission, Start, oqpsk_2450::PHY};

pub const SELECT: usize = 0;
pub const REGULATOR: usize = 1;
pub const RESET: usize = 2;
pub const FIFO: usize = 3;
pub const FIFOP: usize = 4;
pub const SFD: usize = 5;
pub const CCA: usize = 6;

/// A microsecond in picoseconds.
pub const US: u64 = 1_000_000;

pub fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let digits = digits.map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// A radio with instantaneous bus transfers, and a record of its pins.
pub struct Radio {
    pub device: Cc2420,
    pub now: u64,
    pub state: &'static str,
    levels: [bool; 7],
    pub edges: Vec<(usize, bool, u64)>,
}

impl Radio {
    /// Without power, deselected, in reset.
    pub fn new() -> Self {
        let figures = MODEL.figures().expect("the model's file is right");
        let mut radio = Self {
            device: Cc2420::new(&figures),
            now: 0,
            state: MODEL.states[0],
            levels: [false; 7],
            edges: Vec::new(),
        };
        radio.pin(SELECT, true);
        radio
    }

    /// In power-down mode.
    pub fn powered() -> Self {
        let mut radio = Self::new();
        radio.regulator(true);
        radio.run(50 * US);
        radio.pin(RESET, true);
        radio
    }

    /// With its oscillator running.
    pub fn idle() -> Self {
        let mut radio = Self::powered();
        radio.command(&[1]);
        radio.run(1000 * US);
        assert_eq!(radio.status(), 0x40);
        radio.edges.clear();
        radio
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut Cc2420, &mut Lines) -> R) -> R {
        let mut lines = Lines::new(Picoseconds(self.now));
        let result = act(&mut self.device, &mut lines);
        self.state = lines.state.unwrap_or(self.state);
        for (pin, high) in lines.driven {
            assert_ne!(self.levels[pin], high, "pin {pin} is driven to where it is");
            self.levels[pin] = high;
            self.edges.push((pin, high, self.now));
        }
        result
    }

    pub fn pin(&mut self, pin: usize, high: bool) {
        self.with(|device, lines| device.pin_changed(pin, high, lines));
    }

    pub fn regulator(&mut self, on: bool) {
        self.pin(REGULATOR, on);
    }

    pub fn level(&self, pin: usize) -> bool {
        self.levels[pin]
    }

    pub fn next_event(&self) -> u64 {
        self.device.next_event().0
    }

    /// Handle everything due until a time.
    pub fn run_to(&mut self, time: u64) {
        while self.next_event() <= time {
            let due = self.next_event();
            assert!(
                due >= self.now,
                "something was due {} ps ago",
                self.now - due
            );
            self.now = due;
            self.with(Device::advance);
            assert!(self.next_event() > self.now, "it does not get on");
        }
        self.now = time;
    }

    pub fn run(&mut self, time: u64) {
        self.run_to(self.now + time);
    }

    /// Select, exchange, deselect; return the answers.
    pub fn try_command(&mut self, bytes: &[u8]) -> Vec<Option<u8>> {
        self.pin(SELECT, false);
        let exchange = |&byte| self.with(|device, lines| device.exchange(byte, lines));
        let answers = bytes.iter().map(exchange).collect();
        self.pin(SELECT, true);
        answers
    }

    pub fn command(&mut self, bytes: &[u8]) -> Vec<u8> {
        let answers = self.try_command(bytes).into_iter();
        answers
            .map(|answer| answer.expect("it is selected"))
            .collect()
    }

    pub fn status(&mut self) -> u8 {
        self.command(&[0])[0]
    }

    pub fn register(&mut self, address: u8) -> u16 {
        let answers = self.command(&[0x40 | address, 0, 0]);
        u16::from_be_bytes([answers[1], answers[2]])
    }

    pub fn write(&mut self, address: u8, value: u16) {
        let [high, low] = value.to_be_bytes();
        self.command(&[address, high, low]);
    }

    pub fn ram(&mut self, address: usize, count: usize) -> Vec<u8> {
        let mut bytes = vec![
            0x80 | address as u8 & 0x7f,
            (address >> 7 << 6) as u8 | 0x20,
        ];
        bytes.resize(2 + count, 0);
        self.command(&bytes).split_off(2)
    }

    pub fn write_ram(&mut self, address: usize, bytes: &[u8]) {
        let head = [0x80 | address as u8 & 0x7f, (address >> 7 << 6) as u8];
        self.command(&[&head, bytes].concat());
    }

    /// Write to the TXFIFO.
    pub fn load(&mut self, bytes: &[u8]) {
        self.command(&[&[0x3e], bytes].concat());
    }

    /// Write to the RXFIFO.
    pub fn write_fifo(&mut self, bytes: &[u8]) {
        self.command(&[&[0x3f], bytes].concat());
    }

    pub fn read_fifo(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0x7f];
        bytes.resize(1 + count, 0);
        self.command(&bytes).split_off(1)
    }
}

/// A transmission in progress.
struct OnAir {
    id: u64,
    sender: usize,
    bytes: Vec<u8>,
    end: Picoseconds,
}

/// Two radios that hear each other.
pub struct Air {
    pub radios: [Radio; 2],
    power_dbm: f64,
    sent: Vec<OnAir>,
}

impl Air {
    /// Both idle; each hears the other at this power when that sends with 0 dBm.
    pub fn new(power_dbm: f64) -> Self {
        let mut air = Self {
            radios: [Radio::idle(), Radio::idle()],
            power_dbm,
            sent: Vec::new(),
        };
        for radio in &mut air.radios {
            radio.device.antenna().expect("a radio").attach();
        }
        air
    }

    /// Forget the pins' edges.
    pub fn forget(&mut self) {
        for radio in &mut self.radios {
            radio.edges.clear();
        }
    }

    pub fn run(&mut self, time: u64) {
        let now = self.radios[0].now.max(self.radios[1].now);
        self.run_to(now + time);
    }

    pub fn run_to(&mut self, time: u64) {
        self.carry();
        loop {
            let next = self.radios[0].next_event().min(self.radios[1].next_event());
            if next > time {
                break;
            }
            for radio in &mut self.radios {
                radio.run_to(next);
            }
            self.carry();
        }
        for radio in &mut self.radios {
            radio.run_to(time);
        }
    }

    /// Deliver each radio's emissions to the other.
    fn carry(&mut self) {
        for sender in 0..2 {
            let antenna = self.radios[sender].device.antenna().expect("a radio");
            for emission in antenna.take_emissions() {
                let id = self.sent.len() as u64;
                match emission {
                    Emission::Start(start) => {
                        self.sent.push(OnAir {
                            id,
                            sender,
                            bytes: Vec::new(),
                            end: Picoseconds::NEVER,
                        });
                        let other = self.radios[1 - sender].device.antenna();
                        other.expect("a radio").arrive(Arrival {
                            id,
                            start: Start {
                                power_dbm: start.power_dbm + self.power_dbm,
                                ..start
                            },
                            byte: PHY.byte,
                            bytes: Arc::default(),
                            end: Picoseconds::NEVER,
                            is_lost: false,
                            seed: id,
                        });
                        continue;
                    }
                    Emission::Bytes(place, bytes) => {
                        let last = self.last(sender);
                        last.bytes.truncate(place);
                        last.bytes.extend(bytes);
                    }
                    Emission::End(end) => self.last(sender).end = end,
                }
                let last = self.last(sender);
                let (id, bytes, end) = (last.id, Arc::new(last.bytes.clone()), last.end);
                let other = self.radios[1 - sender].device.antenna();
                other.expect("a radio").amend(id, &bytes, end);
            }
            let now = Picoseconds(self.radios[sender].now);
            let antenna = self.radios[sender].device.antenna();
            antenna.expect("a radio").take_outcomes(now);
        }
    }

    fn last(&mut self, sender: usize) -> &mut OnAir {
        let mut all = self.sent.iter_mut().rev();
        all.find(|one| one.sender == sender).expect("it has begun")
    }
}
