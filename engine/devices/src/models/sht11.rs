//! Sensirion SHT11, a humidity and temperature sensor on two wires of its own.
//!
//! Commands, acknowledgments, checksums and the status register follow the data sheet (`SHT1x`,
//! version 4.3, chapter 3), conversions its chapter 4 with the coefficients for 3 V. Left out: the 11
//! ms after power-up, the heater, the end of the battery, and noise: a result is exact to its step.

use joulemark_kernel::{Picoseconds, Signal};

use crate::{Device, Figures, Lines, Model, PinRole};

const CLOCK: usize = 0;
/// The data line as the master drives it, and the device's pull-down: the same pin of the chip.
const DATA: usize = 1;
const PULL: usize = 2;
/// A pin that supplies the device, where a board has one.
const POWER: usize = 3;

const TEMPERATURE: &str = "temperature_c";
const HUMIDITY: &str = "humidity_percent";

const OFF: &str = "off";
const SLEEP: &str = "sleep";
const MEASURING: &str = "measuring";

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "sht11",
    protocol: None,
    pins: &[
        PinRole {
            name: "clock",
            is_output: false,
            is_needed: true,
        },
        PinRole {
            name: "data",
            is_output: false,
            is_needed: true,
        },
        PinRole {
            name: "pull",
            is_output: true,
            is_needed: true,
        },
        PinRole {
            name: "power",
            is_output: false,
            is_needed: false,
        },
    ],
    senses: &[TEMPERATURE, HUMIDITY],
    states: &[OFF, SLEEP, MEASURING],
    figures: include_str!("sht11.toml"),
    make: |figures| Box::new(Sht11::new(figures)),
};

/// Commands, behind three address bits of 0.
mod command {
    pub const MEASURE_TEMPERATURE: u8 = 0b00011;
    pub const MEASURE_HUMIDITY: u8 = 0b00101;
    pub const READ_STATUS: u8 = 0b00111;
    pub const WRITE_STATUS: u8 = 0b00110;
    pub const RESET: u8 = 0b11110;
}

/// Status register: 8 and 12 bits instead of 12 and 14; the bits that can be written.
const IS_COARSE: u8 = 1 << 0;
const WRITABLE: u8 = 0b111;

/// How far a transmission start has come: data falls, the clock falls and rises, data rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    None,
    DataFell,
    ClockFell,
    ClockRose,
}

/// What the next clocks mean.
#[derive(Clone, Copy, Debug)]
enum Clocks {
    /// Nothing until a transmission start.
    None,
    /// Bits to the device: of a command, or of the status register.
    Take { bits: u8, byte: u8, is_status: bool },
    /// The device acknowledges a byte that it took until the clock has fallen once more.
    Acknowledge { byte: u8, is_status: bool },
    /// Nothing until the measurement ends.
    Measure { is_humidity: bool },
    /// Bits from the device: so many of the byte of a number are out.
    Give { number: usize, bits: u8 },
    /// The master acknowledges the byte of a number, or ends the transmission.
    Await { number: usize, goes_on: bool },
}

/// The device.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is the level of a line, or the supply"
)]
pub struct Sht11 {
    temperature: Signal,
    humidity: Signal,
    is_on: bool,
    status: u8,
    clock: bool,
    data: bool,
    is_pulling: bool,
    start: Start,
    clocks: Clocks,
    /// Bytes that it gives, the checksum behind them.
    answer: Vec<u8>,
    measured: Picoseconds,
    bits_8: Picoseconds,
    bits_12: Picoseconds,
    bits_14: Picoseconds,
}

/// The checksum of a command and its answer: x^8 + x^5 + x^4 + 1, begun with the status register's
/// lower half reversed, and sent in reverse (Sensirion, application note on the CRC checksum).
fn check(status: u8, bytes: &[u8]) -> u8 {
    let begun = (status & 0xf).reverse_bits();
    let end = bytes.iter().fold(begun, |mut check, byte| {
        check ^= byte;
        for _ in 0..8 {
            check = check << 1 ^ if check & 0x80 != 0 { 0x31 } else { 0 };
        }
        check
    });
    end.reverse_bits()
}

/// A quantity in its unit, within 2,147 of 0.
fn number(signal: &Signal, now: Picoseconds) -> f64 {
    let (least, most) = (i32::MIN.into(), i32::MAX.into());
    f64::from(signal.at(now).clamp(least, most) as i32) * 1e-6
}

impl Sht11 {
    /// Make a device at 25 degrees Celsius and 50% of relative humidity.
    pub fn new(figures: &Figures) -> Self {
        Self {
            temperature: Signal::constant(25_000_000),
            humidity: Signal::constant(50_000_000),
            is_on: true,
            status: 0,
            clock: false,
            data: true,
            is_pulling: false,
            start: Start::None,
            clocks: Clocks::None,
            answer: Vec::new(),
            measured: Picoseconds::NEVER,
            bits_8: figures.time("bits_8"),
            bits_12: figures.time("bits_12"),
            bits_14: figures.time("bits_14"),
        }
    }

    fn pull(&mut self, down: bool, lines: &mut Lines) {
        if self.is_pulling != down {
            self.is_pulling = down;
            lines.drive(PULL, !down);
        }
    }

    const fn is_coarse(&self) -> bool {
        self.status & IS_COARSE != 0
    }

    /// The temperature's count: -39.6 degrees Celsius, and 0.01 a step (0.04 of 12 bits).
    fn temperature_count(&self, now: Picoseconds) -> u16 {
        let step = if self.is_coarse() { 40_000 } else { 10_000 };
        let count = (self.temperature.at(now) + 39_600_000 + step / 2).div_euclid(step);
        count.clamp(0, if self.is_coarse() { 0xfff } else { 0x3fff }) as u16
    }

    /// The humidity's count, at which the data sheet's formulas give what surrounds the device.
    fn humidity_count(&self, now: Picoseconds) -> u16 {
        let celsius = number(&self.temperature, now);
        let wanted = number(&self.humidity, now);
        let ([c1, c2, c3], t2, most) = if self.is_coarse() {
            ([-2.0468, 0.5872, -4.0845e-4], 0.00128, 0xff)
        } else {
            ([-2.0468, 0.0367, -1.5955e-6], 0.00008, 0xfff)
        };
        let percent = |count: u16| {
            let count = f64::from(count);
            (celsius - 25.0) * (0.01 + t2 * count) + c1 + c2 * count + c3 * count * count
        };
        // They rise all the way, so the nearest is beside the first that is not below.
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = u16::midpoint(low, high);
            if percent(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let below = low.saturating_sub(1);
        if wanted - percent(below) < percent(low) - wanted {
            below
        } else {
            low
        }
    }

    /// Act on a command that was acknowledged.
    fn obey(&mut self, command: u8, lines: &mut Lines) {
        self.clocks = match command {
            command::MEASURE_TEMPERATURE | command::MEASURE_HUMIDITY => {
                let is_humidity = command == command::MEASURE_HUMIDITY;
                let takes = match (is_humidity, self.is_coarse()) {
                    (true, true) => self.bits_8,
                    (false, false) => self.bits_14,
                    _ => self.bits_12,
                };
                self.measured = lines.now() + takes;
                lines.enter(MEASURING);
                Clocks::Measure { is_humidity }
            }
            command::READ_STATUS => {
                self.answer = vec![self.status, check(self.status, &[command, self.status])];
                self.give(0, lines)
            }
            command::WRITE_STATUS => Clocks::Take {
                bits: 0,
                byte: 0,
                is_status: true,
            },
            command::RESET => {
                self.status = 0;
                Clocks::None
            }
            _ => Clocks::None,
        };
    }

    /// Put the first bit of a byte of the answer on the line.
    fn give(&mut self, number: usize, lines: &mut Lines) -> Clocks {
        let Some(byte) = self.answer.get(number) else {
            return Clocks::None;
        };
        self.pull(byte & 0x80 == 0, lines);
        Clocks::Give { number, bits: 1 }
    }

    fn clock_rose(&mut self) {
        self.start = match self.start {
            Start::ClockFell => Start::ClockRose,
            _ => Start::None,
        };
        match &mut self.clocks {
            Clocks::Take { bits, byte, .. } => {
                *byte = *byte << 1 | u8::from(self.data);
                *bits += 1;
            }
            Clocks::Await { goes_on, .. } => *goes_on = !self.data,
            _ => {}
        }
    }

    fn clock_fell(&mut self, lines: &mut Lines) {
        self.start = match self.start {
            Start::DataFell => Start::ClockFell,
            _ => Start::None,
        };
        match self.clocks {
            Clocks::Take {
                bits: 8,
                byte,
                is_status,
            } => {
                // Three bits of address, which are 0.
                let is_ours = is_status || byte >> 5 == 0;
                self.pull(is_ours, lines);
                self.clocks = if is_ours {
                    Clocks::Acknowledge { byte, is_status }
                } else {
                    Clocks::None
                };
            }
            Clocks::Acknowledge { byte, is_status } => {
                self.pull(false, lines);
                if is_status {
                    self.status = byte & WRITABLE;
                    self.clocks = Clocks::None;
                } else {
                    self.obey(byte, lines);
                }
            }
            Clocks::Give { number, bits: 8 } => {
                self.pull(false, lines);
                self.clocks = Clocks::Await {
                    number,
                    goes_on: false,
                };
            }
            Clocks::Give { number, bits } => {
                self.pull(self.answer[number] << bits & 0x80 == 0, lines);
                self.clocks = Clocks::Give {
                    number,
                    bits: bits + 1,
                };
            }
            Clocks::Await { number, goes_on } => {
                self.clocks = if goes_on {
                    self.give(number + 1, lines)
                } else {
                    Clocks::None
                };
            }
            _ => {}
        }
    }

    fn data_changed(&mut self, lines: &mut Lines) {
        match (self.data, self.start) {
            (false, _) if self.clock => self.start = Start::DataFell,
            (true, Start::ClockRose) if self.clock => {
                self.start = Start::None;
                self.measured = Picoseconds::NEVER;
                lines.enter(SLEEP);
                self.clocks = Clocks::Take {
                    bits: 0,
                    byte: 0,
                    is_status: false,
                };
            }
            _ => {}
        }
    }

    fn power_changed(&mut self, is_on: bool, lines: &mut Lines) {
        self.is_on = is_on;
        self.status = 0;
        self.start = Start::None;
        self.clocks = Clocks::None;
        self.measured = Picoseconds::NEVER;
        self.pull(false, lines);
        lines.enter(if is_on { SLEEP } else { OFF });
    }
}

impl Device for Sht11 {
    fn power_up(&mut self, lines: &mut Lines) {
        // A resistor pulls the line high. Without a pin that supplies it, it is always on.
        lines.drive(PULL, true);
        lines.enter(SLEEP);
    }

    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        match pin {
            POWER => self.power_changed(high, lines),
            CLOCK if high != self.clock => {
                self.clock = high;
                match (self.is_on, high) {
                    (true, true) => self.clock_rose(),
                    (true, false) => self.clock_fell(lines),
                    (false, _) => {}
                }
            }
            // The device's own edges are not the master's.
            DATA if high != self.data && !self.is_pulling => {
                self.data = high;
                if self.is_on {
                    self.data_changed(lines);
                }
            }
            _ => {}
        }
    }

    fn next_event(&self) -> Picoseconds {
        self.measured
    }

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        match quantity {
            TEMPERATURE => self.temperature = signal.clone(),
            _ => self.humidity = signal.clone(),
        }
    }

    fn advance(&mut self, lines: &mut Lines) {
        self.measured = Picoseconds::NEVER;
        let Clocks::Measure { is_humidity } = self.clocks else {
            return;
        };
        lines.enter(SLEEP);
        let (command, count) = if is_humidity {
            let count = self.humidity_count(lines.now());
            (command::MEASURE_HUMIDITY, count)
        } else {
            let count = self.temperature_count(lines.now());
            (command::MEASURE_TEMPERATURE, count)
        };
        let [high, low] = count.to_be_bytes();
        self.answer = vec![high, low, check(self.status, &[command, high, low])];
        // Its first bit is a 0, which says that the measurement has ended.
        self.clocks = self.give(0, lines);
    }
}
