//! TI HDC1000, a humidity and temperature sensor on I2C.
//!
//! Registers and conversions follow the data sheet, SNAS643C, sections 8.5 and 8.6. Left out: the
//! `DRDYn` pin, the heater's current, the low battery, the start-up time, and noise: a result is
//! exact to its step.

use joulemark_kernel::{I2c, Picoseconds, Signal};

use crate::{Device, Figures, Lines, Model, Protocol};

const TEMPERATURE: &str = "temperature_c";
const HUMIDITY: &str = "humidity_percent";

const SLEEP: &str = "sleep";
const MEASURING_TEMPERATURE: &str = "measuring-temperature";
const MEASURING_HUMIDITY: &str = "measuring-humidity";

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "hdc1000",
    protocol: Some(Protocol::I2c),
    pins: &[],
    senses: &[TEMPERATURE, HUMIDITY],
    states: &[SLEEP, MEASURING_TEMPERATURE, MEASURING_HUMIDITY],
    figures: include_str!("hdc1000.toml"),
    make: |figures| Box::new(Hdc1000::new(figures)),
};

/// Addresses of registers.
mod register {
    pub const TEMPERATURE: u8 = 0x00;
    pub const HUMIDITY: u8 = 0x01;
    pub const CONFIGURATION: u8 = 0x02;
    pub const MANUFACTURER_ID: u8 = 0xfe;
    pub const DEVICE_ID: u8 = 0xff;
}

const MANUFACTURER_ID: u16 = 0x5449;
const DEVICE_ID: u16 = 0x1000;

/// Fields of the configuration register: software reset; both quantities in sequence; resolutions.
const RESET: u16 = 1 << 15;
const BOTH: u16 = 1 << 12;
const COARSE_TEMPERATURE: u16 = 1 << 10;
const HUMIDITY_RESOLUTION: u16 = 3 << 8;
/// Heater, mode and resolutions.
const WRITABLE: u16 = 0x3700;

/// A result has 14 bits, however short its conversion.
const RESULT: u16 = 0xfffc;

/// A quantity, and whether the other is measured behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    Temperature { then_humidity: bool },
    Humidity,
}

/// The device.
pub struct Hdc1000 {
    temperature: Signal,
    humidity: Signal,
    pointer: u8,
    /// Bytes written since the start, and index of the byte that is read next.
    input: Vec<u8>,
    read: usize,
    results: [u16; 2],
    configuration: u16,
    conversion: Option<(Conversion, Picoseconds)>,
    temperature_times: [Picoseconds; 2],
    humidity_times: [Picoseconds; 3],
}

impl Hdc1000 {
    /// Make a device at 25 degrees Celsius and 50%, after power-up.
    pub fn new(figures: &Figures) -> Self {
        Self {
            temperature: Signal::constant(25_000_000),
            humidity: Signal::constant(50_000_000),
            pointer: register::TEMPERATURE,
            input: Vec::new(),
            read: 0,
            results: [0; 2],
            configuration: BOTH,
            conversion: None,
            temperature_times: ["temperature_14_bits", "temperature_11_bits"]
                .map(|name| figures.time(name)),
            humidity_times: ["humidity_14_bits", "humidity_11_bits", "humidity_8_bits"]
                .map(|name| figures.time(name)),
        }
    }

    fn register(&self, address: u8) -> u16 {
        match address {
            register::TEMPERATURE => self.results[0],
            register::HUMIDITY => self.results[1],
            register::CONFIGURATION => self.configuration,
            register::MANUFACTURER_ID => MANUFACTURER_ID,
            register::DEVICE_ID => DEVICE_ID,
            _ => 0,
        }
    }

    /// A pointer to a result begins a measurement (section 8.5.1).
    fn point(&mut self, address: u8, lines: &mut Lines) {
        self.pointer = address;
        let then_humidity = self.configuration & BOTH != 0;
        match address {
            register::TEMPERATURE => self.begin(Conversion::Temperature { then_humidity }, lines),
            register::HUMIDITY if then_humidity => {}
            register::HUMIDITY => self.begin(Conversion::Humidity, lines),
            _ => {}
        }
    }

    fn begin(&mut self, conversion: Conversion, lines: &mut Lines) {
        let (time, state) = match conversion {
            Conversion::Temperature { .. } => {
                let is_coarse = self.configuration & COARSE_TEMPERATURE != 0;
                (
                    self.temperature_times[usize::from(is_coarse)],
                    MEASURING_TEMPERATURE,
                )
            }
            Conversion::Humidity => {
                let resolution = usize::from((self.configuration & HUMIDITY_RESOLUTION) >> 8);
                (self.humidity_times[resolution.min(2)], MEASURING_HUMIDITY)
            }
        };
        self.conversion = Some((conversion, lines.now() + time));
        lines.enter(state);
    }

    fn configure(&mut self, value: u16, lines: &mut Lines) {
        if value & RESET != 0 {
            (self.configuration, self.results, self.conversion) = (BOTH, [0; 2], None);
            lines.enter(SLEEP);
        } else {
            self.configuration = value & WRITABLE;
        }
    }
}

impl Device for Hdc1000 {
    fn i2c(&mut self, what: I2c, lines: &mut Lines) -> Option<u8> {
        match what {
            // It acknowledges no read of a result before the measurement's end (figure 13).
            I2c::Start { is_read: true, .. }
                if self.conversion.is_some() && self.pointer <= register::HUMIDITY =>
            {
                return None;
            }
            I2c::Start { .. } => {
                self.input.clear();
                self.read = 0;
            }
            I2c::Write(byte) => {
                self.input.push(byte);
                match self.input[..] {
                    [address] => self.point(address, lines),
                    [register::CONFIGURATION, high, low] => {
                        self.configure(u16::from_be_bytes([high, low]), lines);
                    }
                    _ => {}
                }
            }
            I2c::Read => {
                // Behind the temperature, in the same transfer, comes the humidity (figure 14).
                let next = u8::from(self.pointer == register::TEMPERATURE && self.read >= 2);
                let byte = self.register(self.pointer + next).to_be_bytes()[self.read % 2];
                self.read += 1;
                return Some(byte);
            }
            I2c::Stop => {}
        }
        Some(0)
    }

    fn next_event(&self) -> Picoseconds {
        self.conversion.map_or(Picoseconds::NEVER, |(_, end)| end)
    }

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        match quantity {
            HUMIDITY => self.humidity = signal.clone(),
            _ => self.temperature = signal.clone(),
        }
    }

    fn advance(&mut self, lines: &mut Lines) {
        let Some((conversion, _)) = self.conversion.take() else {
            return;
        };
        // Fractions of 2^16 of 165 degrees above -40, and of 100% (section 8.6).
        let scaled = |micro: i64, whole: i64| {
            ((micro << 16) / (whole * 1_000_000)).clamp(0, 0xffff) as u16 & RESULT
        };
        match conversion {
            Conversion::Temperature { then_humidity } => {
                let micro = self.temperature.at(lines.now()) + 40_000_000;
                self.results[0] = scaled(micro, 165);
                if then_humidity {
                    self.begin(Conversion::Humidity, lines);
                    return;
                }
            }
            Conversion::Humidity => {
                self.results[1] = scaled(self.humidity.at(lines.now()), 100);
            }
        }
        lines.enter(SLEEP);
    }
}
