//! `InvenSense` MPU-9250, a motion sensor on I2C: its gyroscope and accelerometer.
//!
//! Registers as far as Contiki's driver uses them (github.com/contiki-os/contiki,
//! platform/srf06-cc26xx/sensortag/mpu-9250-sensor.c); start-up as the product specification,
//! PS-MPU-9250A-01, sections 3.4.2 and 4.23. Left out: the magnetometer, FIFO, interrupts, low-power
//! and self-test modes, digital filters, rotation and noise: the sensor lies still.

use joulemark_kernel::{I2c, Picoseconds};

use crate::{Device, Figures, Lines, Model, PinRole, Protocol};

const POWER: usize = 0;

const OFF: &str = "off";
const SLEEP: &str = "sleep";
const STANDBY: &str = "standby";
const ACCELEROMETER: &str = "accelerometer";
const GYROSCOPE: &str = "gyroscope";
const BOTH: &str = "both";

/// The model, for board files.
pub static MODEL: Model = Model {
    name: "mpu9250",
    protocol: Some(Protocol::I2c),
    pins: &[PinRole {
        name: "power",
        is_output: false,
        is_needed: true,
    }],
    senses: &[],
    states: &[OFF, SLEEP, STANDBY, ACCELEROMETER, GYROSCOPE, BOTH],
    figures: include_str!("mpu9250.toml"),
    make: |figures| Box::new(Mpu9250::new(figures)),
};

/// Addresses of registers.
mod register {
    pub const INTERRUPT_STATUS: u8 = 0x3a;
    pub const ACCELERATION_Z: u8 = 0x3f;
    pub const FIRST_RESULT: u8 = 0x3b;
    pub const LAST_RESULT: u8 = 0x48;
    pub const ACCELEROMETER_CONFIGURATION: u8 = 0x1c;
    pub const POWER_1: u8 = 0x6b;
    pub const POWER_2: u8 = 0x6c;
    pub const WHO_AM_I: u8 = 0x75;
}

const WHO_AM_I: u8 = 0x71;
/// `PWR_MGMT_1`: reset, sleep; the clock that is best, which is also its value at power-up.
const RESET: u8 = 1 << 7;
const ASLEEP: u8 = 1 << 6;
const BEST_CLOCK: u8 = 1;
/// `PWR_MGMT_2`: axes that are off.
const NO_ACCELEROMETER: u8 = 0x38;
const NO_GYROSCOPE: u8 = 0x07;
/// `INT_STATUS`: new results.
const READY: u8 = 1;
/// One g at the range of 2 g, which is divided by two for each step of `ACCEL_FS_SEL`.
const GRAVITY: u16 = 1 << 14;

/// The device.
pub struct Mpu9250 {
    is_powered: bool,
    registers: [u8; 128],
    pointer: u8,
    /// Whether the next byte written is the pointer.
    is_addressed: bool,
    /// When registers can be accessed.
    answers: Picoseconds,
    /// When results are there next.
    due: Picoseconds,
    access: Picoseconds,
    gyroscope: Picoseconds,
    accelerometer: Picoseconds,
    sample: Picoseconds,
}

impl Mpu9250 {
    /// Make a device without power.
    pub fn new(figures: &Figures) -> Self {
        Self {
            is_powered: false,
            registers: [0; 128],
            pointer: 0,
            is_addressed: false,
            answers: Picoseconds::NEVER,
            due: Picoseconds::NEVER,
            access: figures.time("register_access"),
            gyroscope: figures.time("gyroscope_start"),
            accelerometer: figures.time("accelerometer_start"),
            sample: figures.time("sample"),
        }
    }

    fn at(&mut self, address: u8) -> &mut u8 {
        &mut self.registers[usize::from(address & 0x7f)]
    }

    fn reset(&mut self) {
        self.registers = [0; 128];
        *self.at(register::POWER_1) = BEST_CLOCK;
        *self.at(register::WHO_AM_I) = WHO_AM_I;
        self.pointer = 0;
    }

    fn state(&mut self) -> &'static str {
        let off = *self.at(register::POWER_2);
        let is_asleep = *self.at(register::POWER_1) & ASLEEP != 0;
        let accelerates = off & NO_ACCELEROMETER != NO_ACCELEROMETER;
        let turns = off & NO_GYROSCOPE != NO_GYROSCOPE;
        match (self.is_powered, is_asleep, accelerates, turns) {
            (false, ..) => OFF,
            (true, true, ..) => SLEEP,
            (true, false, false, false) => STANDBY,
            (true, false, true, false) => ACCELEROMETER,
            (true, false, false, true) => GYROSCOPE,
            (true, false, true, true) => BOTH,
        }
    }

    /// Begin anew in the state that the registers say: results come when its slowest part is there.
    fn begin(&mut self, before: &'static str, lines: &mut Lines) {
        let state = self.state();
        if state == before {
            return;
        }
        self.due = match state {
            GYROSCOPE | BOTH => lines.now() + self.gyroscope,
            ACCELEROMETER => lines.now() + self.accelerometer,
            _ => Picoseconds::NEVER,
        };
        lines.enter(state);
    }

    fn write(&mut self, byte: u8, lines: &mut Lines) {
        let (before, address) = (self.state(), self.pointer);
        match address {
            register::POWER_1 if byte & RESET != 0 => self.reset(),
            register::WHO_AM_I
            | register::INTERRUPT_STATUS
            | register::FIRST_RESULT..=register::LAST_RESULT => {}
            _ => *self.at(address) = byte,
        }
        self.begin(before, lines);
    }

    fn read(&mut self) -> u8 {
        let address = self.pointer;
        let value = *self.at(address);
        if address == register::INTERRUPT_STATUS {
            *self.at(address) = 0;
        }
        value
    }
}

impl Device for Mpu9250 {
    fn pin_changed(&mut self, pin: usize, high: bool, lines: &mut Lines) {
        if pin != POWER || high == self.is_powered {
            return;
        }
        let before = self.state();
        self.is_powered = high;
        self.reset();
        self.answers = if high {
            lines.now() + self.access
        } else {
            Picoseconds::NEVER
        };
        self.begin(before, lines);
    }

    fn i2c(&mut self, what: I2c, lines: &mut Lines) -> Option<u8> {
        if lines.now() < self.answers {
            return None;
        }
        match what {
            I2c::Start { is_read, .. } => self.is_addressed = !is_read,
            I2c::Write(byte) if self.is_addressed => {
                (self.pointer, self.is_addressed) = (byte, false);
            }
            I2c::Write(byte) => {
                self.write(byte, lines);
                self.pointer = self.pointer.wrapping_add(1);
            }
            I2c::Read => {
                let byte = self.read();
                self.pointer = self.pointer.wrapping_add(1);
                return Some(byte);
            }
            I2c::Stop => {}
        }
        Some(0)
    }

    fn next_event(&self) -> Picoseconds {
        self.due
    }

    fn advance(&mut self, lines: &mut Lines) {
        if matches!(self.state(), ACCELEROMETER | BOTH) {
            let range = *self.at(register::ACCELEROMETER_CONFIGURATION) >> 3 & 3;
            let [high, low] = (GRAVITY >> range).to_be_bytes();
            *self.at(register::ACCELERATION_Z) = high;
            *self.at(register::ACCELERATION_Z + 1) = low;
        }
        *self.at(register::INTERRUPT_STATUS) = READY;
        self.due = lines.now() + self.sample;
    }
}
