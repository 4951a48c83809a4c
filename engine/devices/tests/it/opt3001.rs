//! The OPT3001 by its registers: identification, single and continuous conversions, ranges.

use joulemark_devices::opt3001::{MODEL, Opt3001};
use joulemark_devices::{Device, Lines};
use joulemark_kernel::{I2c, Picoseconds, Signal};

const MS: u64 = 1_000_000_000;
const RESULT: u8 = 0;
const CONFIGURATION: u8 = 1;

struct Bench {
    sensor: Opt3001,
    now: Picoseconds,
    state: &'static str,
}

impl Bench {
    fn new() -> Self {
        let figures = MODEL.figures().expect("the model's file is right");
        Self {
            sensor: Opt3001::new(&figures),
            now: Picoseconds(0),
            state: MODEL.states[0],
        }
    }

    fn touch<R>(&mut self, act: impl FnOnce(&mut Opt3001, &mut Lines) -> R) -> R {
        let mut lines = Lines::new(self.now);
        let result = act(&mut self.sensor, &mut lines);
        self.state = lines.state.unwrap_or(self.state);
        result
    }

    fn light(&mut self, centilux: i64) {
        let signal = Signal::constant(centilux * 10_000);
        self.sensor.surround(MODEL.senses[0], &signal);
    }

    fn i2c(&mut self, what: I2c) -> u8 {
        self.touch(|sensor, lines| sensor.i2c(what, lines))
            .expect("it answers")
    }

    fn start(&mut self, is_read: bool) {
        self.i2c(I2c::Start {
            address: 0x45,
            is_read,
        });
    }

    fn write(&mut self, register: u8, value: u16) {
        self.start(false);
        let [high, low] = value.to_be_bytes();
        for byte in [register, high, low] {
            self.i2c(I2c::Write(byte));
        }
        self.i2c(I2c::Stop);
    }

    fn read(&mut self, register: u8) -> u16 {
        self.start(false);
        self.i2c(I2c::Write(register));
        self.start(true);
        let bytes = [self.i2c(I2c::Read), self.i2c(I2c::Read)];
        self.i2c(I2c::Stop);
        u16::from_be_bytes(bytes)
    }

    /// Let the next event happen, and return when.
    fn wait(&mut self) -> u64 {
        self.now = self.sensor.next_event();
        self.touch(Device::advance);
        self.now.0
    }
}

#[test]
fn registers_after_power_up_are_the_data_sheets() {
    let mut bench = Bench::new();
    let registers = [0x00, 0x01, 0x02, 0x03, 0x7e, 0x7f];
    let values = [0, 0xc810, 0, 0xbfff, 0x5449, 0x3001];
    assert_eq!(registers.map(|register| bench.read(register)), values);
    assert_eq!(bench.sensor.next_event(), Picoseconds::NEVER);
    // Identifications and results cannot be written; limits can.
    for register in registers {
        bench.write(register, 0x0123);
    }
    let values = [0, 0x0003, 0x0123, 0x0123, 0x5449, 0x3001];
    assert_eq!(registers.map(|register| bench.read(register)), values);
}

#[test]
fn a_single_conversion_takes_its_time_and_ends_in_shutdown() {
    for (configuration, takes) in [(0xca10, 800 * MS), (0xc210, 100 * MS)] {
        let mut bench = Bench::new();
        bench.light(12_345);
        bench.write(CONFIGURATION, configuration);
        assert_eq!(bench.state, "active");
        assert_eq!(bench.read(CONFIGURATION), configuration);
        assert_eq!(bench.wait(), takes);
        assert_eq!(bench.state, "shutdown");
        // Ready, until it is read.
        let shut_down = configuration & !0x0600;
        assert_eq!(bench.read(CONFIGURATION), shut_down | 0x80);
        assert_eq!(bench.read(CONFIGURATION), shut_down);
        // 123.45 lux are 3086 steps of 0.04 lux.
        assert_eq!(bench.read(RESULT), (2 << 12) + 3086);
        assert_eq!(bench.sensor.next_event(), Picoseconds::NEVER);
    }
}

#[test]
fn continuous_conversions_follow_each_other_until_shutdown() {
    let mut bench = Bench::new();
    bench.write(CONFIGURATION, 0xc410);
    assert_eq!([bench.wait(), bench.wait()], [100 * MS, 200 * MS]);
    assert_eq!(bench.state, "active");
    bench.write(CONFIGURATION, 0xc010);
    assert_eq!(
        (bench.state, bench.sensor.next_event()),
        ("shutdown", Picoseconds::NEVER)
    );
}

#[test]
fn a_fixed_range_overflows_and_the_automatic_one_holds_all() {
    // A range of 81.90 lux, then automatic.
    for (range, centilux, result, overflows) in [
        (1, 8191, 1 << 12 | 4095, false),
        (1, 8192, 1 << 12 | 4095, true),
        (12, 4095, 4095, false),
        (12, 4096, 1 << 12 | 2048, false),
        (12, 8_386_560, 11 << 12 | 4095, false),
        (12, 8_388_608, 11 << 12 | 4095, true),
    ] {
        let mut bench = Bench::new();
        bench.light(centilux);
        bench.write(CONFIGURATION, range << 12 | 0x0210);
        bench.wait();
        assert_eq!(bench.read(RESULT), result, "{centilux}");
        let is_over = bench.read(CONFIGURATION) & 0x100 != 0;
        assert_eq!(is_over, overflows, "{centilux}");
    }
}
