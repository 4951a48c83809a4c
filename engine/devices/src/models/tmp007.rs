//! TI TMP007, an infrared temperature sensor on I2C.
//!
//! Addresses of registers and the bits that are there follow the data sheet, SBOS685C, section 7.5,
//! as far as Contiki's driver uses them (github.com/contiki-os/contiki,
//! platform/srf06-cc26xx/sensortag/tmp-007-sensor.c). A conversion averages nothing, whatever its
//! rate. Left out: conversions from power-up on, which a board's start-up ends before anything is
//! measured; the thermopile's voltage, limits, coefficients and their memory, the ALERT pin, and
//! noise: a result is exact to its step.

use joulemark_kernel::{I2c, Picoseconds, Signal};

use crate::{Device, Figures, Lines, Model, Protocol};

const DIE: &str = "temperature_c";
const OBJECT: &str = "object_temperature_c";

const ACTIVE: &str = "active";
const SHUTDOWN: &str = "shutdown";

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "tmp007",
    protocol: Some(Protocol::I2c),
    pins: &[],
    senses: &[DIE, OBJECT],
    states: &[SHUTDOWN, ACTIVE],
    figures: include_str!("tmp007.toml"),
    make: |figures| Box::new(Tmp007::new(figures)),
};

/// Addresses of registers.
mod register {
    pub const LOCAL_TEMPERATURE: u8 = 0x01;
    pub const CONFIGURATION: u8 = 0x02;
    pub const OBJECT_TEMPERATURE: u8 = 0x03;
    pub const STATUS: u8 = 0x04;
    pub const DEVICE_ID: u8 = 0x1f;
}

const DEVICE_ID: u16 = 0x0078;
/// 0x1440 in the data sheet, which converts.
const CONFIGURATION_AT_RESET: u16 = 0x0440;

/// Fields of the configuration register: software reset; conversions go on.
const RESET: u16 = 1 << 15;
const CONVERTING: u16 = 1 << 12;
/// Field of the status register: a conversion has ended since it was last read.
const READY: u16 = 1 << 14;

/// The device.
pub struct Tmp007 {
    die: Signal,
    object: Signal,
    pointer: u8,
    /// Bytes written since the start, and index of the byte that is read next.
    input: Vec<u8>,
    read: usize,
    local_temperature: u16,
    object_temperature: u16,
    configuration: u16,
    status: u16,
    /// The end of the conversion.
    converted: Picoseconds,
    conversion: Picoseconds,
}

impl Tmp007 {
    /// Make a device that is shut down, at 25 degrees Celsius as all around it.
    pub fn new(figures: &Figures) -> Self {
        Self {
            die: Signal::constant(25_000_000),
            object: Signal::constant(25_000_000),
            pointer: 0,
            input: Vec::new(),
            read: 0,
            local_temperature: 0,
            object_temperature: 0,
            configuration: CONFIGURATION_AT_RESET,
            status: 0,
            converted: Picoseconds::NEVER,
            conversion: figures.time("conversion"),
        }
    }

    fn register(&self) -> u16 {
        match self.pointer {
            register::LOCAL_TEMPERATURE => self.local_temperature,
            register::CONFIGURATION => self.configuration,
            register::OBJECT_TEMPERATURE => self.object_temperature,
            register::STATUS => self.status,
            register::DEVICE_ID => DEVICE_ID,
            _ => 0,
        }
    }

    fn configure(&mut self, value: u16, lines: &mut Lines) {
        if value & RESET != 0 {
            self.configuration = CONFIGURATION_AT_RESET;
            (self.local_temperature, self.object_temperature, self.status) = (0, 0, 0);
        } else {
            self.configuration = value;
        }
        if self.configuration & CONVERTING == 0 {
            self.converted = Picoseconds::NEVER;
            lines.enter(SHUTDOWN);
        } else if self.converted == Picoseconds::NEVER {
            self.begin(lines);
        }
    }

    fn begin(&mut self, lines: &mut Lines) {
        self.converted = lines.now() + self.conversion;
        lines.enter(ACTIVE);
    }
}

impl Device for Tmp007 {
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
                    [register::CONFIGURATION, high, low] => {
                        self.configure(u16::from_be_bytes([high, low]), lines);
                    }
                    _ => {}
                }
            }
            I2c::Read => {
                let byte = self.register().to_be_bytes()[self.read % 2];
                self.read += 1;
                if self.pointer == register::STATUS && self.read.is_multiple_of(2) {
                    self.status &= !READY;
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

    fn surround(&mut self, quantity: &str, signal: &Signal) {
        match quantity {
            OBJECT => self.object = signal.clone(),
            _ => self.die = signal.clone(),
        }
    }

    fn advance(&mut self, lines: &mut Lines) {
        // 14 bits with their sign, of 1/32 degree each, above two bits of 0 (section 7.3.7).
        let scaled = |signal: &Signal| {
            let steps = (signal.at(lines.now()) * 32).div_euclid(1_000_000);
            (steps.clamp(-0x2000, 0x1fff) << 2) as u16
        };
        self.local_temperature = scaled(&self.die);
        self.object_temperature = scaled(&self.object);
        self.status |= READY;
        self.begin(lines);
    }
}
