//! TI OPT3001, an ambient light sensor on I2C.
//!
//! Registers, ranges and conversions follow the data sheet, SBOS681C, section 7.6. Left out: the INT
//! pin, the flags FH and FL with their limits and the `SMBus` alert, high-speed mode, the general-call
//! reset, and noise: a result is exact to its range's step.

use joulemark_kernel::{I2c, Picoseconds, Signal};

use crate::{Device, Figures, Lines, Model, Protocol};

const LIGHT: &str = "light_lux";

const SHUTDOWN: &str = "shutdown";
const ACTIVE: &str = "active";

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "opt3001",
    protocol: Some(Protocol::I2c),
    pins: &[],
    senses: &[LIGHT],
    states: &[SHUTDOWN, ACTIVE],
    figures: include_str!("opt3001.toml"),
    make: |figures| Box::new(Opt3001::new(figures)),
};

/// Addresses of registers.
mod register {
    pub const RESULT: u8 = 0x00;
    pub const CONFIGURATION: u8 = 0x01;
    pub const LOW_LIMIT: u8 = 0x02;
    pub const HIGH_LIMIT: u8 = 0x03;
    pub const MANUFACTURER_ID: u8 = 0x7e;
    pub const DEVICE_ID: u8 = 0x7f;
}

const MANUFACTURER_ID: u16 = 0x5449;
const DEVICE_ID: u16 = 0x3001;

/// Fields of the configuration register: range, of which 12 is automatic; conversion time; mode, of
/// which 0 is shutdown and 1 a single conversion; overflow; conversion ready.
const RANGE: u16 = 12;
const AUTOMATIC: u16 = 12;
const LAST_RANGE: u16 = 11;
const LONG: u16 = 1 << 11;
const MODE: u16 = 3 << 9;
const SINGLE: u16 = 1 << 9;
const OVERFLOW: u16 = 1 << 8;
const READY: u16 = 1 << 7;
/// OVF, CRF, FH and FL are read-only.
const WRITABLE: u16 = !0x01e0;

/// The device.
pub struct Opt3001 {
    /// Light on the sensor.
    light: Signal,
    pointer: u8,
    /// Bytes written since the start, and index of the byte that is read next.
    input: Vec<u8>,
    read: usize,
    result: u16,
    configuration: u16,
    limits: [u16; 2],
    /// The end of the conversion.
    converted: Picoseconds,
    short: Picoseconds,
    long: Picoseconds,
}

impl Opt3001 {
    /// Make a device in the dark, after power-up.
    pub fn new(figures: &Figures) -> Self {
        Self {
            light: Signal::constant(0),
            pointer: 0,
            input: Vec::new(),
            read: 0,
            result: 0,
            configuration: 0xc810,
            // A heading says C0000h for the low limit; the fields below it are zeros.
            limits: [0, 0xbfff],
            converted: Picoseconds::NEVER,
            short: figures.time("short_conversion"),
            long: figures.time("long_conversion"),
        }
    }

    fn register(&self) -> u16 {
        match self.pointer {
            register::RESULT => self.result,
            register::CONFIGURATION => self.configuration,
            register::LOW_LIMIT => self.limits[0],
            register::HIGH_LIMIT => self.limits[1],
            register::MANUFACTURER_ID => MANUFACTURER_ID,
            register::DEVICE_ID => DEVICE_ID,
            _ => 0,
        }
    }

    fn write(&mut self, value: u16, lines: &mut Lines) {
        match self.pointer {
            register::CONFIGURATION => {
                self.configuration = value & WRITABLE | self.configuration & !WRITABLE;
                if value & MODE == 0 {
                    self.converted = Picoseconds::NEVER;
                    lines.enter(SHUTDOWN);
                } else {
                    self.configuration &= !READY;
                    self.begin(lines);
                }
            }
            register::LOW_LIMIT => self.limits[0] = value,
            register::HIGH_LIMIT => self.limits[1] = value,
            _ => {}
        }
    }

    fn begin(&mut self, lines: &mut Lines) {
        let is_long = self.configuration & LONG != 0;
        self.converted = lines.now() + if is_long { self.long } else { self.short };
        lines.enter(ACTIVE);
    }
}

impl Device for Opt3001 {
    fn i2c(&mut self, what: I2c, lines: &mut Lines) -> Option<u8> {
        match what {
            I2c::Start { .. } => {
                self.input.clear();
                self.read = 0;
            }
            I2c::Write(byte) => {
                self.input.push(byte);
                match self.input[..] {
                    [pointer] => self.pointer = pointer,
                    [_, high, low] => self.write(u16::from_be_bytes([high, low]), lines),
                    _ => {}
                }
            }
            I2c::Read => {
                let byte = self.register().to_be_bytes()[self.read % 2];
                self.read += 1;
                if self.pointer == register::CONFIGURATION && self.read.is_multiple_of(2) {
                    self.configuration &= !READY;
                }
                return Some(byte);
            }
            I2c::Stop => {}
        }
        Some(0)
    }

    fn next_event(&self) -> Picoseconds {
        self.converted
    }

    fn surround(&mut self, _quantity: &str, signal: &Signal) {
        self.light = signal.clone();
    }

    fn advance(&mut self, lines: &mut Lines) {
        // Hundredths of a lux, of the conversion's end.
        let centilux = (self.light.at(lines.now()).max(0) / 10_000) as u64;
        let range = match self.configuration >> RANGE {
            // The smallest that holds the light.
            AUTOMATIC.. => {
                let mut ranges = 0..LAST_RANGE;
                let holds = |&range: &u16| centilux >> range <= 0xfff;
                ranges.find(holds).unwrap_or(LAST_RANGE)
            }
            range => range,
        };
        let steps = centilux >> range;
        self.result = range << RANGE | steps.min(0xfff) as u16;
        self.configuration &= !OVERFLOW;
        if steps > 0xfff {
            self.configuration |= OVERFLOW;
        }
        self.configuration |= READY;
        if self.configuration & MODE == SINGLE {
            self.configuration &= !MODE;
            self.converted = Picoseconds::NEVER;
            lines.enter(SHUTDOWN);
        } else {
            self.begin(lines);
        }
    }
}
